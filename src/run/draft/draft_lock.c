/*
 * draft_lock.c
 *		Lock the executions of drafts.
 *
 * A slice locks its executions when its rows are written, all at once, by number.
 * Some transitions need the lock earlier: for the id of an event, or to stop nested
 * executions.  Then the executions with lower numbers that the slice has effects of
 * are locked, too, so that every slice takes its locks in the same order.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/time/timing.h"
#include "base/version/compat.h"
#include "run/draft/draft.h"

static int64 locked_out = 0;

/* Number of the execution whose row was locked when ERRCODE_SF_EXECUTION_LOCKED was raised last; 0: no row was. */
int64
sf_draft_locked_out(void)
{
	return locked_out;
}

/*
 * Do what may have to wait for other transactions.  A worker waits for the time that the draft has, then raises
 * ERRCODE_SF_EXECUTION_LOCKED, with what the execution is; row: it is its row that is locked.  Of a draft that is ended
 * by another one it is the execution of that one, which the worker has claimed.
 */
static void
wait_within(const SfDraft *draft, void (*work) (void *arg), void *arg, bool row, const char *problem)
{
	while (draft->ended_by != NULL)
		draft = draft->ended_by;
	if (!sf_draft_is_by_worker(draft))
		work(arg);
	else if (!sf_brief_locks_run(sf_draft_lock_wait_ms(draft), work, arg))
	{
		locked_out = row ? draft->execution->execution_no : 0;
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_LOCKED),
				 errmsg("execution \"%s\" %s", draft->execution->execution_id, problem)));
	}
}

/* The same for a step of a branch; others of the execution need not wait. */
void
sf_draft_wait_briefly(const SfDraft *draft, void (*work) (void *arg), void *arg)
{
	wait_within(draft, work, arg, false, "needs what another transaction has locked");
}

/* Reads a row that has two numbers, the second of which a row of _sfflow.execution lacks (0), and locks it. */
typedef void *(*ReadRow) (int64 execution_no, int64 number, SfLock lock);

/* A row that is waited for */
typedef struct Locking
{
	ReadRow		read;
	int64		execution_no;
	int64		number;
	void	   *row;			/* set; NULL: it is not there */
} Locking;

/* Read a row of _sfflow.execution. */
static void *
read_execution(int64 execution_no, int64 none, SfLock lock)
{
	return sf_execution_read(execution_no, lock, false);
}

/* Read a row of _sfflow.branch. */
static void *
read_branch(int64 execution_no, int64 branch_no, SfLock lock)
{
	return sf_branch_read((SfBranchKey) {execution_no, branch_no}, lock);
}

/* Read a row of _sfflow.branch without its documents. */
static void *
read_join(int64 execution_no, int64 branch_no, SfLock lock)
{
	return sf_branch_read_join((SfBranchKey) {execution_no, branch_no}, lock);
}

/* Read a row of _sfflow.map_run. */
static void *
read_map_run(int64 execution_no, int64 map_run_no, SfLock lock)
{
	return sf_map_run_read(execution_no, map_run_no, lock);
}

/* Wait for a row. */
static void
wait_for_row(void *arg)
{
	Locking    *locking = arg;

	locking->row = locking->read(locking->execution_no, locking->number, SF_LOCK_WAIT);
}

/* Lock a row for a draft, whose execution is put off while another transaction has it; NULL: it is not there. */
static void *
lock_row(const SfDraft *draft, ReadRow read, int64 execution_no, int64 number, const char *problem)
{
	Locking		locking = {.read = read,.execution_no = execution_no,.number = number};

	locking.row = read(execution_no, number, SF_LOCK_SKIP);
	if (locking.row == NULL)
		wait_within(draft, wait_for_row, &locking, true, problem);
	return locking.row;
}

/* Lock an execution's row, which another transaction has. */
static SfExecution *
lock_execution(const SfDraft *draft)
{
	Locking		locking = {.read = read_execution,.execution_no = draft->execution->execution_no};

	wait_within(draft, wait_for_row, &locking, true, "is locked by another transaction");
	return locking.row;
}

/* Lock a branch to which a draft's execution reports; NULL: it is not there. */
SfBranch *
sf_draft_lock_branch(const SfDraft *draft, SfBranchKey key)
{
	return lock_row(draft, read_branch, key.execution_no, key.branch_no,
					"reports to a branch that another transaction has locked");
}

/* The same of a join, which is read without documents. */
SfBranch *
sf_draft_lock_join(const SfDraft *draft, SfBranchKey key)
{
	return lock_row(draft, read_join, key.execution_no, key.branch_no,
					"reports to a branch that another transaction has locked");
}

/* The same of a Map run. */
SfMapRun *
sf_draft_lock_map_run(const SfDraft *draft, int64 execution_no, int64 map_run_no)
{
	return lock_row(draft, read_map_run, execution_no, map_run_no,
					"has to do with a Map run that another transaction has locked");
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

/* Raise the error for an execution that the slice has read and that is another one now. */
static void pg_attribute_noreturn()
raise_changed(const SfDraft *draft)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_EXECUTION_CHANGED),
			 errmsg("execution \"%s\" was stopped while it was advanced",
					draft->execution->execution_id)));
}

/* Take over what others may have changed of a draft's execution: now is its row as it is read anew. */
void
sf_draft_refresh(SfDraft *draft, const SfExecution *now)
{
	SfExecution *execution = draft->execution;

	/* the table does not know yet that it began in this draft */
	if (now->started_at != DT_NOBEGIN)
		execution->started_at = now->started_at;
	execution->labels = now->labels;
	execution->row.is_open = now->row.is_open;
	execution->row.open_status = now->row.open_status;
	execution->row.tid = now->row.tid;
}

/*
 * Lock the row of a draft's execution and read its last event id.
 * Raises ERRCODE_SF_EXECUTION_CHANGED if, since the slice read the row, the
 * execution has ended, was redriven or restarted, or has another version.
 */
static void
lock_draft(SfDraft *draft)
{
	SfExecution *now;

	SF_DEBUG_POINT("slice_lock");

	/*
	 * Never wait for the lock of an execution that has ended: a session that
	 * redrives it holds the lock, and waits until we release its branches.
	 */
	now = sf_execution_read(draft->execution->execution_no,
							SF_DEBUG_MUTATION("slice_lock") ? SF_LOCK_WAIT : SF_LOCK_SKIP,
							false);
	if (now == NULL)
	{
		now = sf_execution_read(draft->execution->execution_no, SF_LOCK_NONE, false);
		if (now != NULL && now->status == SF_STATUS_RUNNING)
			now = lock_execution(draft);
	}
	if (now == NULL ||
		(!is_as_read(draft->execution, now, draft->began) &&
		 !SF_DEBUG_MUTATION("slice_status")))
		raise_changed(draft);
	sf_draft_refresh(draft, now);
	draft->base_event_id = now->last_event_id;
	draft->locked = true;
}

/*
 * Will a branch wait, for its children, an answer or a time?  Then the transaction
 * that ends its execution or its parent has to end it, too.
 */
bool
sf_draft_branch_rests(const SfBranch *branch, TimestampTz now)
{
	switch (branch->phase)
	{
		case SF_PHASE_JOIN:
		case SF_PHASE_EXTERNAL:
			return true;
		case SF_PHASE_RUN:
		case SF_PHASE_NET:
		case SF_PHASE_MAP_WRITE:
		case SF_PHASE_WAIT:
			return branch->due_at > now;
		case SF_PHASE_ENTER:
		case SF_PHASE_ANNOUNCED:
			return branch->due_at == DT_NOEND;
		case SF_PHASE_ANSWERED:
		case SF_PHASE_MAP_ANSWERED:
		case SF_PHASE_DONE:
		case SF_PHASE_FAILED:
		case SF_PHASE_ABORTED:
		case SF_PHASE_KEPT:
		case SF_PHASE_TIMEOUT:
		case SF_PHASE_STOP:
			return false;
	}
	return false;
}

/*
 * Does a draft have to lock its execution before its rows are written?  A
 * transaction that ends the execution, or aborts the children of a join, skips the
 * branches that we have locked.  So a branch that waits, or a new one, must not be
 * committed without the lock: nothing would end it.
 */
static bool
needs_lock(const SfDraft *draft, TimestampTz now)
{
	if (draft->events != NIL || draft->deltas != NIL || draft->execution_end != NULL ||
		draft->began)
		return true;
	foreach_ptr(const SfBranch, branch, draft->branches)
	{
		if (!branch->row.gone && (!branch->row.stored || sf_draft_branch_rests(branch, now)))
			return true;
	}
	return false;
}

/*
 * Raise if an execution that need not be locked has another version than the slice has
 * advanced it by: it was migrated between our look at it and our claim of its branch.  As long
 * as we have the branch it is not migrated.
 */
static void
check_version(const SfDraft *draft)
{
	const SfExecution *now = sf_execution_read(draft->execution->execution_no, SF_LOCK_NONE,
											   false);

	if (now != NULL && now->version != draft->execution->version)
		raise_changed(draft);
}

/* Sort drafts by the number of their execution. */
static int
compare_drafts(const ListCell *a, const ListCell *b)
{
	const SfDraft *x = lfirst(a);
	const SfDraft *y = lfirst(b);

	return (x->execution->execution_no > y->execution->execution_no) -
		(x->execution->execution_no < y->execution->execution_no);
}

/*
 * Lock the executions of drafts that need it, by number; if last is given, only those
 * with a lower number than its execution.
 */
void
sf_drafts_lock(List *drafts, const SfDraft *last, TimestampTz now)
{
	list_sort(drafts, compare_drafts);
	foreach_ptr(SfDraft, draft, drafts)
	{
		if (last != NULL && draft->execution->execution_no >= last->execution->execution_no)
			break;
		if (draft->locked || draft->execution->status != SF_STATUS_RUNNING)
			continue;
		if (needs_lock(draft, now))
			lock_draft(draft);
		else if (last == NULL && draft->branches != NIL)
			check_version(draft);
	}
}

/* Lock the execution of a draft before its slice is written. */
void
sf_draft_lock(SfDraft *draft)
{
	if (draft->locked)
		return;
	if (draft->slice_drafts != NULL)
		sf_drafts_lock(*draft->slice_drafts, draft, GetCurrentTimestamp());
	lock_draft(draft);
}
