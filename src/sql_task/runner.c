/*
 * runner.c
 *		Running a SQL task: as the owner, in a subtransaction, within its time.
 *
 * An error of the task is returned as its outcome.  A query cancel is raised again,
 * except that the cancel by the task's own time limit is the outcome
 * States.Timeout.  After a deadlock the task is retried at once: rolling the
 * subtransaction back has released its locks.  If earlier tasks of the slice may
 * hold locks, too, the same deadlock would come back; then the outcome asks the
 * caller to roll back the whole slice.  At most one task of an owner is retried at a
 * time, with a longer deadlock_timeout, so that other sessions detect a deadlock
 * first and are rolled back.
 */
#include "postgres.h"

#include <limits.h>

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "base/error/errors.h"
#include "base/settings.h"
#include "base/time/clock.h"
#include "base/time/timing.h"
#include "base/value/random.h"
#include "db/direct.h"
#include "db/lock_tag.h"
#include "sql_task/identity/guest.h"
#include "sql_task/sql_task.h"
#include "sql_task/sql_task_internal.h"

/* One try of a task */
typedef struct Try
{
	const SfTaskCall *call;
	SfTaskOutcome *out;
	SfTimer    *timer;
	SfIdentity	identity;
	int			attempt;		/* 0: the first */
	SfTick		began;
	int64		took_ms;		/* the try before it */
} Try;

/* Sleep until a time, but not through interrupts. */
static void
sleep_until(SfTick until)
{
	int64		left;

	while ((left = until - sf_tick_now()) > 0)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 (long) ((left + 999) / 1000), PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Wait until no other task of the owner is being retried after a deadlock, at most
 * SF_RETRY_TURN_LIMIT_MS.  Tasks that want the same rows and are retried at the same
 * time would deadlock again.  The lock lasts until the transaction ends.
 */
static void
wait_for_other_retries(Oid owner)
{
	SfTick		limit = sf_tick_plus_ms(sf_tick_now(), SF_RETRY_TURN_LIMIT_MS);
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, AuthIdRelationId, owner, SF_LOCK_OF_RETRIES);
	while (LockAcquire(&tag, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL &&
		   sf_tick_now() < limit)
		sleep_until(sf_tick_plus_ms(sf_tick_now(), SF_RETRY_TURN_RECHECK_MS));
}

/* Wait before the nth further try; the last one has taken so many milliseconds. */
static void
back_off(Oid owner, int n, int64 took_ms)
{
	int			base = (int) Max(SF_DEADLOCK_MIN_PAUSE_MS, Min(took_ms, SF_DEADLOCK_MAX_PAUSE_MS));

	sleep_until(sf_tick_plus_ms(sf_tick_now(),
								sf_backoff_ms(n, base, SF_DEADLOCK_LIMIT_MS)));
	wait_for_other_retries(owner);
	/* What the latch was set for otherwise is still to be looked at. */
	SetLatch(MyLatch);
}

/* Do what the resource says, as the owner; the result is in SPI's memory. */
static Jsonb *
run_resource(const SfTaskCall *call)
{
	switch (call->resource->kind)
	{
		case SF_RESOURCE_SQL_FUNCTION:
			return sf_function_call(call);
		case SF_RESOURCE_SQL_QUERY:
			return sf_sql_query_run(call);
		default:
			elog(ERROR, "resource \"%s\" is no SQL task", call->resource->text);
	}
}

/*
 * Have other sessions lose the next deadlock against this task: the one that
 * checks for it first is rolled back.
 */
static void
raise_deadlock_timeout(int attempt)
{
	int			ms = (int) Min((int64) DeadlockTimeout * (1 + attempt), INT_MAX);

	if (attempt > 0)
		(void) set_config_option("deadlock_timeout", psprintf("%d", ms), PGC_SUSET,
								 PGC_S_SESSION, GUC_ACTION_SET, true, DEBUG1, false);
}

/* Have what the task starts be part of its trace. */
static void
pass_trace_on(const char *trace)
{
	if (trace != NULL)
		(void) set_config_option("sfflow.traceparent", trace, PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SET, true, DEBUG1, false);
}

/* Run the task inside the subtransaction. */
static Jsonb *
run_as_owner(Try *try)
{
	Datum		output;

	PushActiveSnapshot(GetTransactionSnapshot());
	sf_identity_enter(&try->identity, try->call->owner);
	raise_deadlock_timeout(try->attempt);
	pass_trace_on(try->call->trace);
	/* with the owner's settings, now */
	sf_timer_set_default(try->timer, (int64) sf_setting_default_task_timeout * 1000);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	output = SPI_datumTransfer(JsonbPGetDatum(run_resource(try->call)), false, -1);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	sf_identity_leave(&try->identity);
	PopActiveSnapshot();
	return DatumGetJsonbP(output);
}

/*
 * Turn a caught error into the outcome, or raise it again.  After a requested cancel
 * raise ERRCODE_SF_TASK_ABORTED.  If the timer has fired, the outcome is
 * States.Timeout, whatever the error.  Raise any other query cancel again.
 */
static void
set_failure(const ErrorData *edata, SfTimer *timer, SfTaskOutcome *out)
{
	bool		canceled = edata->sqlerrcode == ERRCODE_QUERY_CANCELED;

	/* sf_start in the task drew a number that is in use: not the task's error */
	if (edata->sqlerrcode == ERRCODE_UNIQUE_VIOLATION && sf_table_has_collided())
		ReThrowError((ErrorData *) edata);
	if (canceled && sf_hooks.cancel_requested())
		ereport(ERROR,
				(errcode(ERRCODE_SF_TASK_ABORTED),
				 errmsg("task was aborted")));
	if (canceled && sf_timer_is_over(timer))
		timer->fired = true;
	if (canceled && !timer->fired)
		ReThrowError((ErrorData *) edata);

	out->ok = false;
	out->serialization_failure = false;
	if (!timer->fired)
	{
		out->serialization_failure =
			edata->sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE;
		sf_failure_describe(edata, &out->error);
		return;
	}
	sf_timer_withdraw_cancel(timer);
	out->error = sf_error_make(SF_ERR_TIMEOUT, NULL);
	if (timer->default_ms > 0)
		out->error.cause = psprintf("The task has no TimeoutSeconds and took longer than sfflow.default_task_timeout, " INT64_FORMAT " s.",
									timer->default_ms / 1000);
	out->error.sqlstate = pstrdup(unpack_sql_state(ERRCODE_QUERY_CANCELED));
}

/* Try inside the subtransaction. */
static bool
run_in_subtransaction(void *arg)
{
	Try		   *try = arg;

	error_context_stack = NULL; /* the caller's context is not the task's */
	sf_timer_start(try->timer);
	if (try->attempt > 0)
	{
		back_off(try->call->owner, try->attempt, try->took_ms);
		try->began = sf_tick_now();
	}
	try->out->output = run_as_owner(try);
	sf_timer_stop(try->timer);
	sf_timer_check(try->timer);
	return true;
}

/* Finish a try, whether it raised an error or not. */
static void
end_try(void *arg)
{
	Try		   *try = arg;

	sf_timer_stop(try->timer);
	sf_guest_end(&try->identity.guest);
	if (TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
		try->out->assigned_xid = true;
}

/* Try once; returns the SQLSTATE of the error, 0 when it went well. */
static int
try_once(Try *try)
{
	int			depth = sf_identity_depth();
	ErrorData  *edata;

	try->began = sf_tick_now();
	memset(&try->identity, 0, sizeof(try->identity));
	edata = sf_subtransaction_run(run_in_subtransaction, end_try, try);
	try->out->ok = edata == NULL;
	if (edata == NULL)
		return 0;
	sf_identity_abandon(depth);
	try->took_ms = (sf_tick_now() - try->began) / 1000;
	set_failure(edata, try->timer, try->out);
	return try->timer->fired ? ERRCODE_QUERY_CANCELED : edata->sqlerrcode;
}

/* Run a SQL task (SfTaskRunner of run/task/task_runner.h). */
static void
run_task(const SfTaskCall *call, SfTaskOutcome *out)
{
	SfTimer		timer;
	SfTick		start = sf_tick_now();
	Try			try = {.call = call,.out = out,.timer = &timer};
	bool		in_session = sf_identity_is_in_session();

	memset(out, 0, sizeof(*out));
	if (in_session)
		sf_constraints_check();
	sf_timer_set(&timer, call->timeout_ms);
	for (; try.attempt <= SF_DEADLOCK_RETRIES; try.attempt++)
	{
		if (try_once(&try) != ERRCODE_T_R_DEADLOCK_DETECTED)
			break;
		if (call->not_first)
		{
			out->serialization_failure = true;
			break;
		}
		ereport(DEBUG1,
				(errmsg_internal("deadlock in state \"%s\" of execution \"%s\", try %d",
								 call->state != NULL ? call->state->name : "?",
								 call->execution_id != NULL ? call->execution_id : "?",
								 try.attempt + 1)));
	}
	if (in_session)
		sf_constraints_reset();
	out->elapsed_us = sf_tick_now() - start;
}

/* Fill in the runner of run/task/task_runner.h; from _PG_init. */
void
sf_sql_task_init(void)
{
	sf_task_runner.run = run_task;
	sf_task_runner.assume_identity = sf_identity_assume_owner;
	sf_task_runner.resolve = sf_resource_mapping_resolve;
	sf_fatal_settings_init(sf_identity_is_task);
	sf_temp_schema_init();
}
