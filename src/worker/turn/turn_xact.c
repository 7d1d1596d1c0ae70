/*
 * turn_xact.c
 *		One transaction of a worker's turn: begin, work, commit; what an error
 *		means.
 *
 * sf_turn_xact_run() catches an error and classifies it; turn.c decides what follows.
 * Only what an administrator should see goes to the log.  If user code ran, the
 * user id stays the owner's during the commit; sf_turn_xact_run() restores the worker's
 * own after it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/role/role.h"
#include "base/settings.h"
#include "base/time/clock.h"
#include "base/version/compat.h"
#include "copy/instance.h"
#include "db/direct.h"
#include "run/apply/apply.h"
#include "run/gate/gate.h"
#include "run/slice/dispatch.h"
#include "sql_task/sql_task.h"
#include "store/branch/due.h"
#include "store/execution/execution.h"
#include "store/feature.h"
#include "worker/fault/fault.h"
#include "worker/process/process.h"
#include "worker/shared_memory/shared.h"
#include "worker/turn/turn.h"
#include "worker/turn/turn_xact.h"

/* Settings of the database are read again after that */
#define SETTINGS_AGE_MS		1000

/* What a commit of this process takes on average, microseconds */
static int	commit_us = 0;

/* Take over what a database or a role sets for the largest payload (SfRoleSettingReader). */
static void
read_payload_limit(const char *name, const char *value, void *arg)
{
	if (strcmp(name, "sfflow.max_payload_bytes") == 0)
		(void) parse_int(value, arg, GUC_UNIT_BYTE, NULL);
}

/*
 * Have sfflow.max_payload_bytes be what ALTER DATABASE says by now: a process takes its
 * settings when it connects, and this one may live long.  Looked at once a second.
 */
static void
renew_payload_limit(void)
{
	static SfTick next = 0;
	int			bytes = sf_shared->max_payload_bytes;

	if (sf_tick_now() < next || bytes == 0)
		return;
	next = sf_tick_plus_ms(sf_tick_now(), SETTINGS_AGE_MS);
	sf_role_settings_read(GetUserId(), read_payload_limit, &bytes);
	if (bytes != sf_setting_max_payload_bytes)
		SetConfigOption("sfflow.max_payload_bytes", psprintf("%d", bytes), PGC_SUSET, PGC_S_SESSION);
}

/* Begin a transaction. */
static void
begin(const char *activity)
{
	sf_yield();
	SetCurrentStatementStartTimestamp();
	pgstat_report_activity(STATE_RUNNING, activity);
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	renew_payload_limit();
}

/* Commit it. */
static void
commit(void)
{
	SfTick		began;

	PopActiveSnapshot();
	sf_yield();
	began = sf_tick_now();
	CommitTransactionCommand();
	commit_us = (commit_us * 7 + (int) Min(sf_tick_now() - began, 1000000)) / 8;
}

/* What a commit takes lately, on average, microseconds. */
int
sf_turn_xact_commit_us(void)
{
	return commit_us;
}

/* Find what is due of an owner, up to a number of keys. */
static void
scan_owner(SfDueScan *scan, Oid owner, TimestampTz now, int share)
{
	SfBranchKey task;
	MemoryContext old;
	int			n = sf_branch_due_of(owner, scan->from, now, scan->keys + scan->nkeys,
									 scan->dues + scan->nkeys, share);

	for (int i = 0; i < n; i++)
		scan->owners[scan->nkeys++] = owner;
	if (n == share)
		scan->more_from = Min(scan->more_from, scan->dues[scan->nkeys - 1]);
	if (sf_branch_announced(owner, scan->from, now, &task, NULL, 1) > 0)
	{
		old = MemoryContextSwitchTo(scan->context);
		scan->announcers = lappend_oid(scan->announcers, owner);
		MemoryContextSwitchTo(old);
	}
	scan->next_due = Min(scan->next_due, sf_branch_next_due(owner, now));
}

/*
 * Find what is due of owners, and when the next timer is.  All queries use the same time:
 * else what becomes due in between would be missed.
 */
static void
scan_due(SfDueScan *scan)
{
	TimestampTz now = GetCurrentTimestamp();
	List	   *owners = sf_branch_owners(&scan->turns, scan->max_owners);
	int			n = list_length(owners);
	int			share = Max(scan->room / Max(n, 1), SF_TURN_KEYS);
	MemoryContext old;
	ListCell   *lc;

	old = MemoryContextSwitchTo(scan->context);
	scan->keys = palloc(sizeof(SfBranchKey) * share * n);
	scan->dues = palloc(sizeof(TimestampTz) * share * n);
	scan->owners = palloc(sizeof(Oid) * share * n);
	scan->owners_found = list_copy(owners);
	MemoryContextSwitchTo(old);
	scan->more_owners = n == scan->max_owners;
	scan->next_due = scan->more_from = DT_NOEND;
	scan->next_tend = scan->everything ? sf_gate_wake_queues() : SF_TICK_NEVER;
	foreach(lc, owners)
	{
		CHECK_FOR_INTERRUPTS();
		if (scan->set_back)
			sf_apply_set_back(lfirst_oid(lc), now, scan->set_back_by);
		scan_owner(scan, lfirst_oid(lc), now, share);
	}
}

/*
 * Forget suspects whose executions have ended, or are gone, without a word to this server's
 * shared memory: after a crash, by COMMIT PREPARED, or because they were deleted.
 */
static void
forget_suspects(void)
{
	SfSuspect  *suspects;
	int			n = sf_poison_list_released(MyDatabaseId, &suspects);

	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!sf_execution_is_running(suspects[i].key.execution_no))
			sf_poison_forget(&suspects[i]);
	}
}

/* Ask the features when they want to sweep. */
static void
ask_features(SfDueScan *scan)
{
	SF_FEATURES(sweep, feature)
		scan->next_sweeps[sf_feature_sweep_number(feature)] = feature->sweep->next_time != NULL ?
			feature->sweep->next_time() : feature->sweep->has_work() ? GetCurrentTimestamp() : DT_NOEND;
}

/* Scan for what is due. */
static void
scan(SfDueScan *s)
{
	scan_due(s);
	s->next_delivery = DT_NOEND;
	if (!s->everything)
		return;
	ask_features(s);
	if (SF_PROVIDER(deliverer) != NULL)
		s->next_delivery = SF_PROVIDER(deliverer)->deliverer->next_due();
	forget_suspects();
}

/* Run a slice. */
static void
run_slice(SfTurnXact *xact, const SfSliceRequest *request)
{
	sf_slice_run(request, &xact->result);
	if (xact->result.end == SF_SLICE_END_LONG_TASK)
		sf_my_process_runs_next(sf_slice_long_task(&xact->result).key);
	else if (request->mode != SF_SLICE_MODE_BRANCH)
		sf_my_process_takes_keys_next();
}

/* Run a long task. */
static void
run_task(SfTurnXact *xact, const SfTaskXact *task)
{
	sf_long_task_run(task->key, task->generation, task->last_try, task->commit_error, &xact->result);
	/* its branch is the first that this process runs then, unless it is a suspect */
	if (!xact->alone)
		sf_my_process_runs_next(task->key);
}

/* Make a branch fail. */
static void
fail_branch(const SfFailXact *fail)
{
	SfSliceRequest request = {.mode = SF_SLICE_MODE_BRANCH,.take.branch = fail->key};

	sf_slice_fail_branch(&request, fail->cause);
}

/* Do what a transaction of a turn is for, in it. */
static void
run_in_xact(SfTurnXact *xact)
{
	switch (xact->kind)
	{
		case SF_TURN_XACT_SCAN:
			scan(*sf_turn_xact_scan(xact));
			/* rows loaded since the verdict were seen, but not yet the mark of the load */
			xact->verdict = sf_verdict();
			break;
		case SF_TURN_XACT_SLICE:
			run_slice(xact, sf_turn_xact_slice(xact));
			break;
		case SF_TURN_XACT_TASK:
			run_task(xact, sf_turn_xact_task(xact));
			break;
		case SF_TURN_XACT_FAIL:
			fail_branch(sf_turn_xact_fail(xact));
			break;
		case SF_TURN_XACT_PUT_OFF:
			sf_apply_put_off(sf_turn_xact_put_off(xact)->key, sf_turn_xact_put_off(xact)->ms);
			sf_my_process_takes_keys_next();
			break;
		case SF_TURN_XACT_PURGE:
			xact->purge.more = sf_retention_batch(sf_turn_xact_purge(xact)->sweep);
			sf_my_process_takes_keys_next();
			break;
		case SF_TURN_XACT_SWEEP:
			xact->sweep.left = sf_turn_xact_sweep(xact)->feature->sweep->run(GetCurrentTimestamp());
			sf_my_process_takes_keys_next();
			break;
		case SF_TURN_XACT_CLAIM:
			xact->delivery.claimed = SF_PROVIDER(deliverer)->deliverer->claim(sf_turn_xact_delivery(xact)->batch);
			break;
		case SF_TURN_XACT_DELIVER:
			xact->delivery.left = SF_PROVIDER(deliverer)->deliverer->run(sf_turn_xact_delivery(xact)->batch);
			break;
		case SF_TURN_XACT_UNDELIVERED:
			SF_PROVIDER(deliverer)->deliverer->note_failure(sf_turn_xact_delivery(xact)->batch, sf_turn_xact_delivery(xact)->cause);
			break;
	}
}

/* Tell what caused an error. */
static SfFault
classify(int sqlstate)
{
	switch (sqlstate)
	{
		case ERRCODE_T_R_SERIALIZATION_FAILURE:
		case ERRCODE_T_R_DEADLOCK_DETECTED:
		case ERRCODE_LOCK_NOT_AVAILABLE:
		case ERRCODE_QUERY_CANCELED:
		case ERRCODE_SF_EXECUTION_CHANGED:
		case ERRCODE_SF_TASK_ABORTED:
			return SF_FAULT_PASSING;
		case ERRCODE_SF_EXECUTION_LOCKED:
			return SF_FAULT_LOCKED;
		case ERRCODE_READ_ONLY_SQL_TRANSACTION:
		case ERRCODE_DISK_FULL:
		case ERRCODE_TOO_MANY_CONNECTIONS:
			return SF_FAULT_ENVIRONMENT;
	}
	switch (ERRCODE_TO_CATEGORY(sqlstate))
	{
		case MAKE_SQLSTATE('5', '3', '0', '0', '0'):	/* insufficient resources */
			return SF_FAULT_SHORTAGE;
		case MAKE_SQLSTATE('5', '7', '0', '0', '0'):	/* operator intervention */
		case MAKE_SQLSTATE('5', '8', '0', '0', '0'):	/* system error */
			return SF_FAULT_ENVIRONMENT;
	}
	return SF_FAULT_BRANCH;
}

/* Tell whether a transaction failed for want of memory, disk or the like. */
bool
sf_turn_xact_met_shortage(const SfTurnXact *xact)
{
	return xact->fault == SF_FAULT_ENVIRONMENT || xact->fault == SF_FAULT_SHORTAGE;
}

/* Classify an error, keep its message, and roll the transaction back. */
static void
handle_error(SfTurnXact *xact, MemoryContext context)
{
	ErrorData  *edata;

	HOLD_INTERRUPTS();
	disable_all_timeouts(false);
	QueryCancelPending = false;
	MemoryContextSwitchTo(context);
	edata = CopyErrorData();
	xact->message = edata->message ? edata->message : pstrdup("unknown error");
	xact->sqlstate = edata->sqlerrcode;
	xact->fault = classify(xact->sqlstate);
	if (xact->stage == SF_TURN_STAGE_COMMITTING)
		sf_failure_describe(edata, &xact->failure);
	xact->ntouched = sf_claim_touched(xact->touched, SF_MAX_TOUCHED);
	xact->ntouched = Min(xact->ntouched, SF_MAX_TOUCHED);
	xact->collided = sf_table_has_collided();
	if (xact->kind == SF_TURN_XACT_SCAN ||
		/* one that met a lock passes over the machine: nothing is wrong */
		(xact->kind == SF_TURN_XACT_PURGE && xact->sqlstate != ERRCODE_LOCK_NOT_AVAILABLE) ||
		xact->kind == SF_TURN_XACT_SWEEP || xact->kind == SF_TURN_XACT_CLAIM || xact->collided ||
		(xact->fault == SF_FAULT_BRANCH && xact->kind == SF_TURN_XACT_SLICE && xact->ntouched == 0))
		xact->fault = SF_FAULT_ENVIRONMENT;

	if (sf_turn_xact_met_shortage(xact) || xact->kind == SF_TURN_XACT_FAIL ||
		ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_INTERNAL_ERROR)
		EmitErrorReport();
	AbortOutOfAnyTransaction();
	LWLockReleaseAll();
	FlushErrorState();
	MemoryContextSwitchTo(context);
	RESUME_INTERRUPTS();
}

/* Stop driving this database: to go on would make sound branches fail. */
static void
stop_driving(const char *message)
{
	ereport(LOG,
			(errmsg("sfflow stops driving database %u: a number of its sequences was drawn twice",
					MyDatabaseId),
			 errhint("sf_check() tells which sequence is behind; sf_enable() sets it right and goes on.")));
	begin("sfflow: stop");
	sf_instance_stop(psprintf("a number of its sequences was drawn twice (%s)", message));
	commit();
	pgstat_report_activity(STATE_IDLE, NULL);
}

/* What pg_stat_activity shows during a transaction. */
static const char *
activity_of(const SfTurnXact *xact)
{
	switch (xact->kind)
	{
		case SF_TURN_XACT_TASK:
			return "sfflow: long task";
		case SF_TURN_XACT_SWEEP:
			return psprintf("sfflow: %s", xact->sweep.feature->sweep->name);
		case SF_TURN_XACT_CLAIM:
		case SF_TURN_XACT_DELIVER:
		case SF_TURN_XACT_UNDELIVERED:
			return "sfflow: rules";
		case SF_TURN_XACT_SCAN:
		case SF_TURN_XACT_SLICE:
		case SF_TURN_XACT_FAIL:
		case SF_TURN_XACT_PUT_OFF:
		case SF_TURN_XACT_PURGE:
			break;
	}
	return "sfflow: slice";
}

/* Carry a transaction of a turn out; false: it was rolled back, and fault says why. */
bool
sf_turn_xact_run(SfTurnXact *xact)
{
	MemoryContext context = CurrentMemoryContext;
	SfRoleSwitch own = sf_role_current();
	bool		committed;

	xact->stage = SF_TURN_STAGE_WORKING;
	xact->verdict = SF_VERDICT_MAY_WORK;
	memset(&xact->result, 0, sizeof(xact->result));
	xact->ntouched = 0;
	xact->collided = false;
	sf_table_forget_collision();
	sf_poison_turn_begin(sf_my_process_number(), MyDatabaseId, xact->alone);
	sf_my_process_attempt_begins();

	PG_TRY();
	{
		begin(activity_of(xact));
		xact->verdict = sf_verdict();
		if (xact->verdict == SF_VERDICT_MAY_WORK)
			run_in_xact(xact);
		SF_DEBUG_POINT("commit");
		xact->stage = SF_TURN_STAGE_COMMITTING;
		commit();
		SF_DEBUG_POINT("committed");
		xact->stage = SF_TURN_STAGE_COMMITTED;
		if (xact->kind == SF_TURN_XACT_SLICE && xact->result.end == SF_SLICE_END_WORKED)
			sf_shortage_note_success();
	}
	PG_CATCH();
	{
		handle_error(xact, context);
	}
	PG_END_TRY();

	committed = xact->stage == SF_TURN_STAGE_COMMITTED;
	MemoryContextSwitchTo(context);
	sf_my_process_xact_ends();
	sf_my_process_task_over();
	sf_identity_drop();
	sf_role_restore(own);
	sf_poison_turn_end(sf_my_process_number(),
					   committed && xact->result.end != SF_SLICE_END_LONG_TASK &&
					   !xact->result.left_unrun);
	if (!committed && sf_turn_xact_met_shortage(xact))
		sf_last_error_note(xact->sqlstate, xact->message);
	pgstat_report_stat(false);
	pgstat_report_activity(STATE_IDLE, NULL);
	if (!committed && xact->collided)
		stop_driving(xact->message);
	return committed;
}

/*
 * Decide whether to work here; in a transaction of its own.  *prepared: if the
 * database was to be taken over or marked as a copy, that has been done.
 */
SfVerdict
sf_turn_xact_check(bool *prepared)
{
	SfVerdict verdict;

	begin("sfflow: check");
	*prepared = sf_verdict_prepare();
	verdict = sf_verdict();
	commit();
	pgstat_report_activity(STATE_IDLE, NULL);
	return verdict;
}
