/*
 * cloud.h
 *		Templates of CloudFormation, SAM and CDK: values, state machines, proposals.
 */
#ifndef SF_CLOUD_CLOUD_H
#define SF_CLOUD_CLOUD_H

#include "asl/tree/tree.h"
#include "base/version/compat.h"

/* A template, and what was found out about it */
typedef struct SfCloud
{
	const SfTreeNode *root;
	const Jsonb *given;			/* values by name: parameters, references, exports; or NULL */
	List	   *known;			/* SfCloudKnown: conditions and names that were looked up */
	int64		spent;			/* 64 bytes each of what evaluating it has made so far, about */
	int			nunknown;		/* references without a value so far */
	const char *unknown;		/* the name in the last one */
} SfCloud;

/* A state machine of a template */
typedef struct SfCloudMachine
{
	const char *id;				/* its logical id, the member of Resources */
	const char *name;
	bool		is_express;		/* of type EXPRESS */
	const char *location;		/* of its definition in the template */
	const char *text;			/* the definition, with placeholders; NULL: it is elsewhere */
	const char *file;			/* where it is; NULL: it has none */
	const Jsonb *substitutions; /* text of each placeholder that the template fills in */
} SfCloudMachine;

/* Something else of a template that belongs to its state machines */
typedef struct SfCloudProposal
{
	const char *kind;			/* "activity", "alias", "schedule", "rule", "event" */
	const char *name;			/* of what the statement makes; NULL: it makes nothing */
	const char *resource;		/* type and logical id */
	const char *location;
	const char *sql;			/* a statement, or a comment that says what there is to do */
} SfCloudProposal;

extern void sf_cloud_fail(const SfTreeNode *at, const char *fmt,...) pg_attribute_printf(2, 3) pg_attribute_noreturn();

/* --- values: NULL is AWS::NoValue --- */

extern SfTreeNode *sf_cloud_value(SfCloud *template, const SfTreeNode *node);
extern SfTreeNode *sf_cloud_member(SfCloud *template, const SfTreeNode *object, const char *name);
extern char *sf_cloud_text(SfCloud *template, const SfTreeNode *node);
extern char *sf_cloud_json(const SfTreeNode *node);
extern SfTreeNode *sf_cloud_string(const SfTreeNode *at, const char *string);
extern SfTreeNode *sf_cloud_reference(SfCloud *template, const SfTreeNode *at, const char *name);
extern SfTreeNode *sf_cloud_unknown(SfCloud *template, const SfTreeNode *at, const char *name);
extern const SfTreeNode *sf_cloud_argument(const SfTreeNode *function, int n, int least, int most);
extern bool sf_cloud_is_true(SfCloud *template, const char *condition, const SfTreeNode *at);
extern bool sf_cloud_recall(SfCloud *template, const char *kind, const char *name, const SfTreeNode *at, void **value);
extern void sf_cloud_remember(SfCloud *template, const char *kind, const char *name, void *value);

/* --- resources --- */

extern bool sf_cloud_is_there(SfCloud *template, const SfTreeNode *resource);
extern bool sf_cloud_is_type(const SfTreeNode *resource, const char *type);
extern bool sf_cloud_is_machine(const SfTreeNode *resource);
extern char *sf_cloud_name(SfCloud *template, const SfTreeNode *resource);
extern char *sf_cloud_arn(SfCloud *template, const SfTreeNode *resource);
extern SfTreeNode *sf_cloud_resource(SfCloud *template, const SfTreeNode *at, const SfTreeNode *resource);
extern SfTreeNode *sf_cloud_attribute(SfCloud *template, const SfTreeNode *at, const char *id, const char *attribute);

/* --- what a template has --- */

extern List *sf_cloud_machines(SfCloud *template);
extern List *sf_cloud_proposals(SfCloud *template);
extern char *sf_cloud_propose_definition(const char *id, const char *file);

/* The times of a schedule, as sf_schedule takes them */
typedef struct SfCloudTimes
{
	List	   *schedules;		/* texts: crons that run at these times together */
	const char *days;			/* JSON: the days of a calendar; NULL: it needs none */
	const char *rule;			/* JSON: its rule */
	const char *starts;			/* local times; NULL: none */
	const char *ends;
	const char *problem;		/* why there are no such times; NULL: there are */
} SfCloudTimes;

extern void sf_cloud_read_times(const char *expression, SfCloudTimes *times);

#endif							/* SF_CLOUD_CLOUD_H */
