/*
 * observe.h
 *		Rules watch changes of statuses: which changes they want, and the deliveries
 *		that a change makes.
 */
#ifndef SF_RULE_OBSERVE_H
#define SF_RULE_OBSERVE_H

#include "base/errors.h"
#include "store/notice.h"

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
