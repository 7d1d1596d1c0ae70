/*
 * control_many_functions.c
 *		sf_redrive_many(), sf_stop_many().
 *
 * The snapshot of the call tells which executions there are.  They are taken in the
 * order of their numbers, each locked if that is possible at once: so two calls never
 * wait for each other, and none takes what the other one has.  An execution that has
 * changed since the snapshot is left alone: it may have been redriven and have failed
 * again.  What is left out is in the result, with the reason.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "api/columns.h"
#include "api/execution/labelled.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "quota/quota.h"
#include "run/execution/lifecycle.h"
#include "run/execution/redrive_items.h"
#include "run/slice/dispatch.h"
#include "store/audit/audit.h"
#include "store/execution/bulk.h"
#include "store/execution/execution.h"
#include "store/execution/execution_list.h"

/* Arguments; sf_stop_many has the first six */
enum
{
	ARG_STATE_MACHINE, ARG_STATUS, ARG_ERROR, ARG_SINCE, ARG_MAX, ARG_COMMENT, ARG_MAP_RUN
};

/* A call */
typedef struct Call
{
	FunctionCallInfo fcinfo;
	SfBulkFilter filter;
	bool		stops;			/* else it redrives */
	const char *comment;		/* for the audit; of a stop, its cause */
	int			max;			/* how many to take, at most */
	int			taken;
	MemoryContext context;		/* of one execution */
	SfBulkList	list;
	Oid			refused_owner;	/* whose quota is reached */
	const char *refusal;
} Call;

/* What comes of an execution: the column outcome */
#define OUTCOME_LIST(X) \
	X(REDRIVEN, "redriven") \
	X(STOPPED, "stopped") \
	X(BUSY, "busy") \
	X(CHANGED, "changed") \
	X(REFUSED, "refused")

#define OUTCOME_ENUM(sym, word) MANY_##sym,
typedef enum Outcome
{
	OUTCOME_LIST(OUTCOME_ENUM)
} Outcome;

/* Put what came of one execution into the result. */
static void
put(Call *call, const char *execution_id, Outcome outcome, const char *reason)
{
#define OUTCOME_WORD(sym, word) [MANY_##sym] = word,
	static const char *const words[] = {OUTCOME_LIST(OUTCOME_WORD)};
	SfColumns	row = {0};

	sf_columns_text(&row, execution_id);
	sf_columns_text(&row, words[outcome]);
	sf_columns_text(&row, reason);
	sf_columns_put(call->fcinfo, &row);
}

/* Read the argument status into a filter; null: any that an execution without success may have. */
static void
read_status(const char *text, bool running, SfBulkFilter *filter)
{
	const char *names[SF_STATUS_ABORTED + 1];
	SfStatus	statuses[SF_STATUS_ABORTED + 1];
	int			n = 0;

	filter->has_status = text != NULL;
	if (text == NULL)
		return;
	for (SfStatus status = SF_STATUS_RUNNING; status <= SF_STATUS_ABORTED; status++)
	{
		if (status == SF_STATUS_SUCCEEDED || (status == SF_STATUS_RUNNING) != running)
			continue;
		names[n] = sf_status_name(status);
		statuses[n++] = status;
	}
	filter->status = statuses[sf_argument_word("status", text, names, n)];
}

/* Choose the machine that is named, or all on which the caller has a right. */
static void
choose_machines(const char *machine, SfRight needed, SfBulkFilter *filter)
{
	int			only = machine == NULL ? SF_ALL_MACHINES : sf_arg_machine(machine, needed)->machine_no;

	filter->machines = sf_object_machines(only, InvalidOid, needed, &filter->nmachines);
}

/* Read the arguments that both functions share. */
static Call *
begin_call(FunctionCallInfo fcinfo, bool stops, const Jsonb *labels)
{
	Call	   *call = palloc0(sizeof(Call));

	call->fcinfo = fcinfo;
	call->stops = stops;
	read_status(sf_arg_text_or_null(fcinfo, ARG_STATUS), stops, &call->filter);
	call->filter.error = sf_arg_text_or_null(fcinfo, ARG_ERROR);
	call->filter.labels = labels;
	call->filter.since = PG_ARGISNULL(ARG_SINCE) ? DT_NOBEGIN : PG_GETARG_TIMESTAMPTZ(ARG_SINCE);
	call->max = sf_arg_count(fcinfo, ARG_MAX, "max", 0, PG_INT32_MAX);
	call->comment = sf_arg_text_or_null(fcinfo, ARG_COMMENT);
	choose_machines(sf_arg_text_or_null(fcinfo, ARG_STATE_MACHINE),
					stops ? SF_RIGHT_OPERATE : SF_RIGHT_REDRIVE, &call->filter);
	call->context = AllocSetContextCreate(CurrentMemoryContext, "sfflow execution of many",
										  ALLOCSET_DEFAULT_SIZES);
	InitMaterializedSRF(fcinfo, 0);
	return call;
}

/*
 * Lock an execution of the list, as it was seen; NULL, with a row in the result: another
 * session has it, or it has changed.  An execution that was purged has no row.
 */
static SfExecution *
lock_item(Call *call, const SfBulkItem *item)
{
	SfExecution *execution = sf_execution_read(item->execution_no, SF_LOCK_SKIP,
											   call->stops);

	if (execution == NULL)
	{
		execution = sf_execution_read(item->execution_no, SF_LOCK_NONE, false);
		if (execution != NULL)
			put(call, execution->execution_id, MANY_BUSY, "another session has locked it");
		return NULL;
	}
	if (execution->stopped_at == item->stopped_at)
		return execution;
	put(call, execution->execution_id, MANY_CHANGED,
		psprintf("it is %s since", sf_status_name(execution->status)));
	return NULL;
}

/* Take an execution into its owner's quota; false, with a row in the result: it is reached. */
static bool
take_quota(Call *call, const SfExecution *execution)
{
	SfQuotaKind kind;

	if (call->refusal == NULL || call->refused_owner != execution->owner)
	{
		kind = sf_quota_take(execution->owner);
		if (kind == SF_QUOTA_NONE)
			return true;
		call->refused_owner = execution->owner;
		call->refusal = MemoryContextStrdup(GetMemoryChunkContext(call),
											psprintf("%s is reached", sf_quota_describe(kind, execution->owner)));
	}
	sf_throttled_note(execution->machine_no, execution->owner);
	put(call, execution->execution_id, MANY_REFUSED, call->refusal);
	return false;
}

/* Redrive an execution that is locked; true: it goes on. */
static bool
redrive(Call *call, SfExecution *execution)
{
	SfRedriven	redriven;
	const char *frozen_by;

	if (!take_quota(call, execution))
		return false;
	redriven = sf_lifecycle_try_redrive(execution, &frozen_by);
	if (redriven != SF_REDRIVE_DONE)
	{
		sf_quota_give_back(execution->owner);
		put(call, execution->execution_id,
			redriven == SF_REDRIVE_BUSY ? MANY_BUSY : MANY_REFUSED,
			redriven == SF_REDRIVE_BUSY ? "a task of it has not stopped yet" :
			redriven == SF_REDRIVE_FROZEN ? psprintf("it is being %s", frozen_by) :
			"it has nothing left to go on from");
		return false;
	}
	sf_audit_note_execution(execution, "redrive", call->comment, NULL);
	put(call, execution->execution_id, MANY_REDRIVEN, NULL);
	call->taken++;
	return true;
}

/* Stop an execution that is locked. */
static void
stop(Call *call, SfExecution *execution)
{
	sf_dispatch_refuse_own_stop(execution);
	sf_lifecycle_stop(execution, NULL, call->comment);
	sf_audit_note_execution(execution, "stop", call->comment, NULL);
	put(call, execution->execution_id, MANY_STOPPED, NULL);
	call->taken++;
}

/* Go through the list, until as many are taken as are wanted. */
static void
control_list(Call *call)
{
	MemoryContext old = MemoryContextSwitchTo(call->context);

	for (int i = 0; i < call->list.n && call->taken < call->max; i++)
	{
		SfExecution *execution;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(call->context);
		execution = lock_item(call, &call->list.items[i]);
		if (execution == NULL)
			continue;
		if (call->stops)
			stop(call, execution);
		else
			(void) redrive(call, execution);
	}
	MemoryContextSwitchTo(old);
}

/* Lock and redrive the i-th item execution of a Map run (SfRedriveItem). */
static const SfExecution *
redrive_item(int i, SfStatus *before, void *arg)
{
	Call	   *call = arg;
	MemoryContext old;
	SfExecution *execution;

	if (call->taken >= call->max)
		return NULL;
	CHECK_FOR_INTERRUPTS();
	MemoryContextReset(call->context);
	old = MemoryContextSwitchTo(call->context);
	execution = lock_item(call, &call->list.items[i]);
	if (execution != NULL)
	{
		*before = execution->status;
		if (!redrive(call, execution))
			execution = NULL;
	}
	MemoryContextSwitchTo(old);
	return execution;
}

/* Redrive the items of a Map run that did not succeed. */
static void
redrive_map_run(Call *call, const char *text)
{
	SfExecution *parent,
			   *seen;

	sf_arg_map_run(text, SF_RIGHT_REDRIVE, &call->filter.map_run_of, &call->filter.map_run_no);
	call->list = sf_bulk_ended(&call->filter);
	parent = sf_execution_read(call->filter.map_run_of, SF_LOCK_SKIP, true);
	if (parent != NULL && parent->status == SF_STATUS_SUCCEEDED)
	{
		(void) sf_redrive_items(parent, call->filter.map_run_no, call->list.n, redrive_item, call);
		return;
	}
	seen = parent != NULL ? parent : sf_execution_read(call->filter.map_run_of, SF_LOCK_NONE, false);
	if (seen == NULL)
		sf_arg_map_run_missing(text);
	if (parent == NULL || parent->status == SF_STATUS_RUNNING)
		put(call, seen->execution_id, MANY_BUSY,
			parent == NULL ? "another session has locked it" : "it is RUNNING: its items go on with it");
	else
		put(call, parent->execution_id, MANY_REFUSED,
			psprintf("it is %s: sf_redrive('%s') runs all of its items again that did not succeed",
					 sf_status_name(parent->status), parent->execution_id));
}

/* Redrive executions with labels (NULL: any, or none), and put what came of each into the result. */
void
sf_labelled_redrive(FunctionCallInfo fcinfo, const Jsonb *labels)
{
	Call	   *call = begin_call(fcinfo, false, labels);
	char	   *map_run = sf_arg_text_or_null(fcinfo, ARG_MAP_RUN);

	if (map_run != NULL)
		redrive_map_run(call, map_run);
	else
	{
		call->list = sf_bulk_ended(&call->filter);
		control_list(call);
	}
}

/* Stop executions with labels (NULL: any, or none), likewise. */
void
sf_labelled_stop(FunctionCallInfo fcinfo, const Jsonb *labels)
{
	Call	   *call = begin_call(fcinfo, true, labels);

	call->list = sf_bulk_running(&call->filter);
	control_list(call);
}

/*
 * sf_redrive_many(state_machine, status, error, since, max, comment, map_run): the executions,
 * and what came of each.
 */
SF_SQL_FUNCTION(sfflow_sf_redrive_many)
{
	sf_labelled_redrive(fcinfo, NULL);
	return (Datum) 0;
}

/* sf_stop_many(state_machine, status, error, since, max, cause): likewise. */
SF_SQL_FUNCTION(sfflow_sf_stop_many)
{
	sf_labelled_stop(fcinfo, NULL);
	return (Datum) 0;
}
