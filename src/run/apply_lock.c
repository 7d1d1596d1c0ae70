/*
 * apply_lock.c
 *		Lock the executions of runs.
 *
 * A slice locks its executions when its rows are written, all at once, by number.
 * Some transitions need the lock earlier: for the id of an event, or to stop child
 * executions.  Then the executions with lower numbers that the slice has effects of
 * are locked, too, so that every slice takes its locks in the same order.
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/timestamp.h"

#include "base/debug_point.h"
#include "base/errors.h"
#include "base/timing.h"
#include "run/apply_effects.h"
#include "run/slice_internal.h"

static int64 locked_out = 0;

/* Number of the execution for which ERRCODE_SF_EXECUTION_LOCKED was raised last. */
int64
sf_slice_locked_out(void)
{
	return locked_out;
}

/*
 * Lock an execution's row.  A worker waits at most SF_ROW_LOCK_MS, then raises
 * ERRCODE_SF_EXECUTION_LOCKED.
 */
static SfExecution *
lock_execution(const SfRun *run)
{
	int64		no = run->execution->execution_no;
	MemoryContext context = CurrentMemoryContext;
	int			nest;
	SfExecution *volatile now = NULL;

	if (!run->bounded_lock_wait)
		return sf_execution_read(no, SF_LOCK_WAIT, false);
	nest = NewGUCNestLevel();
	(void) set_config_option("lock_timeout", SF_ROW_LOCK_MS, PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	PG_TRY();
	{
		now = sf_execution_read(no, SF_LOCK_WAIT, false);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		/* one error in place of the other: the transaction ends all the same */
		MemoryContextSwitchTo(context);
		FlushErrorState();
		locked_out = no;
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_LOCKED),
				 errmsg("execution \"%s\" is locked by another transaction",
						run->execution->execution_id)));
	}
	PG_END_TRY();
	AtEOXact_GUC(false, nest);
	return now;
}

/* Is an execution RUNNING, and not redriven or restarted since the slice read it? */
static bool
is_as_read(const SfExecution *read, const SfExecution *now, bool began)
{
	return now->status == SF_STATUS_RUNNING &&
		now->redrive_count == read->redrive_count &&
		now->version == read->version &&
		(now->started_at != DT_NOBEGIN || began || read->started_at == DT_NOBEGIN);
}

/*
 * Lock the row of a run's execution and read its last event id.
 * Raises ERRCODE_SF_EXECUTION_CHANGED if, since the slice read the row, the
 * execution has ended, was redriven or restarted, or has another version.
 */
static void
lock_run(SfRun *run)
{
	SfExecution *now;

	SF_DEBUG_POINT("slice_lock");

	/*
	 * Never wait for the lock of an execution that has ended: a session that
	 * redrives it holds the lock, and waits until we release its branches.
	 */
	now = sf_execution_read(run->execution->execution_no,
							SF_DEBUG_MUTATION("slice_lock") ? SF_LOCK_WAIT : SF_LOCK_SKIP,
							false);
	if (now == NULL)
	{
		now = sf_execution_read(run->execution->execution_no, SF_LOCK_NONE, false);
		if (now != NULL && now->status == SF_STATUS_RUNNING)
			now = lock_execution(run);
	}
	if (now == NULL ||
		(!is_as_read(run->execution, now, run->began) &&
		 !SF_DEBUG_MUTATION("slice_status")))
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("execution \"%s\" was stopped while it was advanced",
						run->execution->execution_id)));
	if (now->started_at != DT_NOBEGIN)
		run->execution->started_at = now->started_at;
	run->base_event_id = now->last_event_id;
	run->locked = true;
}

/*
 * Will a branch wait, for its children, an answer or a time?  Then the transaction
 * that ends its execution or its parent has to end it, too.
 */
bool
sf_run_branch_rests(const SfBranch *branch, TimestampTz now)
{
	switch (branch->phase)
	{
		case SF_PHASE_JOIN:
		case SF_PHASE_EXTERNAL:
			return true;
		case SF_PHASE_RUN:
		case SF_PHASE_WAIT:
			return branch->due_at > now;
		default:
			return false;
	}
}

/*
 * Does a run have to lock its execution before its rows are written?  A
 * transaction that ends the execution, or aborts the children of a join, skips the
 * branches that we have locked.  So a branch that waits, or a new one, must not be
 * committed without the lock: nothing would end it.
 */
static bool
needs_lock(const SfRun *run, TimestampTz now)
{
	ListCell   *lc;

	if (run->events != NIL || run->deltas != NIL || run->finish != NULL ||
		run->began)
		return true;
	foreach(lc, run->branches)
	{
		const SfBranch *branch = lfirst(lc);

		if (!branch->gone && (!branch->stored || sf_run_branch_rests(branch, now)))
			return true;
	}
	return false;
}

/* Sort runs by the number of their execution. */
static int
compare_runs(const ListCell *a, const ListCell *b)
{
	const SfRun *x = lfirst(a);
	const SfRun *y = lfirst(b);

	return (x->execution->execution_no > y->execution->execution_no) -
		(x->execution->execution_no < y->execution->execution_no);
}

/*
 * Lock the executions of runs that need it, by number; if last is given, only those
 * with a lower number than its execution.
 */
void
sf_runs_lock(List *runs, const SfRun *last, TimestampTz now)
{
	ListCell   *lc;

	list_sort(runs, compare_runs);
	foreach(lc, runs)
	{
		SfRun	   *run = lfirst(lc);

		if (last != NULL && run->execution->execution_no >= last->execution->execution_no)
			break;
		if (!run->locked && run->execution->status == SF_STATUS_RUNNING &&
			needs_lock(run, now))
			lock_run(run);
	}
}

/* Lock the execution of a run before its slice is written. */
void
sf_run_lock(SfRun *run)
{
	if (run->locked)
		return;
	if (run->slice_runs != NULL)
		sf_runs_lock(*run->slice_runs, run, GetCurrentTimestamp());
	lock_run(run);
}
