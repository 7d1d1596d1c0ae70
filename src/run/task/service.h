/*
 * service.h
 *		What the APIs of outside services add to tasks.
 *
 * A Resource such as arn:aws:states:::lambda:invoke names the API of a service.
 * sfflow runs a SQL function or an activity in its place, which the resource
 * map names.  Some APIs wrap what they are given and what they return; the
 * layer aws/ knows how and registers that here at load.  By default a resource
 * is looked up in the map as it is, and payloads and results stay as they are.
 */
#ifndef SF_RUN_SERVICE_H
#define SF_RUN_SERVICE_H

#include "run/task/task_runner.h"

struct SfItemReader;
struct SfResultWriter;

/* What is wrong with a mocked result */
typedef struct SfMockProblem
{
	const char *message;		/* as the service words it; NULL: nothing is wrong */
	const char *detail;			/* where, and what is expected */
} SfMockProblem;

typedef struct SfService
{
	/*
	 * Find what carries a mapped resource out in an owner's machine.  *payload
	 * is the request, and becomes what the target is given.  False with *error;
	 * its name stays NULL when the map has nothing for the resource.
	 */
	bool		(*resolve) (const SfResource *resource, Oid owner,
							SfResource *target, Jsonb **payload, SfError *error);

	/* Does the request's FunctionName decide what carries the resource out? */
	bool		(*is_named_by_request) (const SfResource *resource);

	/* List further names by which the map may know a resource. */
	List	   *(*other_names) (const SfResource *resource);

	/* Give the outcome of a SQL task the shape of the API's. */
	void		(*shape_outcome) (const SfResource *resource, SfTaskOutcome *outcome);

	/* Give the result of an activity the shape of the API's. */
	Jsonb	   *(*shape_result) (const SfResource *resource, Jsonb *result);

	/*
	 * Compare a mocked result with what the API returns; all_members: members
	 * that it always returns must be there.
	 */
	SfMockProblem (*check_result) (const SfResource *resource, const Jsonb *result,
								   bool all_members);

	/* Tell why the service has no such resource, or NULL (SfResourceKnown). */
	char	   *(*is_known) (const SfResource *resource, bool for_items, bool all);

	/* Name what a payload reads in error messages: "Object: 'bucket/key'." */
	char	   *(*describe_source) (const SfResource *resource, const Jsonb *payload);

	/*
	 * Read the contents that a Map's first content lists; *ok: without an error.
	 * False: that content is itself the items.
	 */
	bool		(*read_listed) (struct SfItemReader *reader, const SfState *state,
								const Jsonb *content, bool *ok);

	/* Write a Map's results as files; the result is ResultWriterDetails.  NULL: only SQL writes results. */
	Jsonb	   *(*write_files) (struct SfResultWriter *writer);
} SfService;

/* The one registered service, or the defaults */
extern SfService sf_service;

extern bool sf_service_find(const SfResource *resource, Oid owner,
							   SfResource *target, Jsonb **payload,
							   SfError *error);
extern bool sf_service_resolve(const SfResource *resource, Oid owner,
							   SfResource *target, Jsonb **payload,
							   SfError *error);
extern bool sf_service_refuse_unmapped(const char *resource, SfError *error);
extern bool sf_service_is_sql(const SfResource *resource);

#endif							/* SF_RUN_SERVICE_H */
