/*
 * observe.h
 *		Rules watch changes of statuses: which changes they want, and the deliveries
 *		that a change makes.
 */
#ifndef SF_RULE_OBSERVE_H
#define SF_RULE_OBSERVE_H

#include "base/errors.h"
#include "store/execution.h"

/* The detail-type of alerts */
#define SF_ALERT_DETAIL_TYPE	"sfflow Alert Status Change"

/* What a change is of: symbol, source and detail-type of its event */
#define SF_CHANGE_LIST(X) \
	X(EXECUTION, "aws.states", "Step Functions Execution Status Change") \
	X(JOB, "sfflow.jobs", "sfflow Job Status Change")	/* an attempt of a Task state */ \
	X(DEADLINE, "sfflow.deadlines", "sfflow Deadline Status Change") \
	X(ALERT, "sfflow.alerts", SF_ALERT_DETAIL_TYPE) \
	X(RUN, "sfflow.schedules", "sfflow Schedule Run Status Change")

#define SF_CHANGE_ENUM(sym, source, detail_type) SF_CHANGE_##sym,
typedef enum SfChangeKind
{
	SF_CHANGE_LIST(SF_CHANGE_ENUM)
} SfChangeKind;

/* A status has changed */
typedef struct SfChange
{
	SfChangeKind kind;
	SfStatus	status;
	TimestampTz at;
	/* JOB */
	const char *job;			/* name of the state */
	int			attempt;		/* $$.State.RetryCount */
	TimestampTz began;
	const SfError *error;		/* NULL: it succeeded */
} SfChange;

/* A change of what may have no execution, with the detail of its event */
typedef struct SfNotice
{
	SfChangeKind kind;
	TimestampTz at;
	const char *resource;		/* public name of what it is of */
	const char *machine;		/* name; NULL: it is gone */
	Oid			machine_owner;
	Oid			owner;			/* whose members may know of it, too; InvalidOid: none */
	const SfExecution *execution;	/* or NULL */
	Jsonb	   *detail;
} SfNotice;

/* A chain of rules ends with the delivery of this one */
#define SF_MAX_CHAIN	10

/* What an execution that is started now comes from */
typedef struct SfOrigin
{
	int			depth;			/* a target runs: rules that led to it; 0: none runs */
	int64		execution_no;	/* a task of this execution runs; 0: none does */
} SfOrigin;

extern SfOrigin sf_observe_origin;

extern bool sf_observe_wants(SfChangeKind kind, const SfExecution *execution);
extern void sf_observe_changes(const SfExecution *execution, const List *changes);
extern void sf_observe_notice(const SfNotice *notice);
extern void sf_observe_start(const SfExecution *execution);

#endif							/* SF_RULE_OBSERVE_H */
