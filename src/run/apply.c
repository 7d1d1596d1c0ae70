/*
 * apply.c
 *		Carry the effects of transitions out.
 *
 * While a slice runs, SfRun collects its effects: events with provisional ids
 * (-1, -2 … in the order in which they happened), branches, ends of children, and
 * the end of the execution.  All of it is written at the end of the slice.  Only
 * then are shared rows locked, always in the same order.  So no user code runs
 * while they are locked, and two slices never wait for each other:
 *
 *		1. execution rows, by number
 *		2. event ids are assigned: last_event_id + 1, + 2 …
 *		3. parent branches, by number, take their children's ends into account
 *		4. branches, events, execution rows are written
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/debug_point.h"
#include "base/errors.h"
#include "base/hooks.h"
#include "base/settings.h"
#include "base/timing.h"
#include "machine/join.h"
#include "run/apply_effects.h"
#include "run/slice_internal.h"
#include "store/due.h"
#include "store/owner.h"
#include "store/program_cache.h"
#include "store/quota.h"

/* Make a run for an execution. */
SfRun *
sf_run_make(SfExecution *execution)
{
	SfCachedProgram *cached = sf_program_cached(execution->machine_no,
												execution->version);
	SfRun	   *run = palloc0(sizeof(SfRun));

	run->execution = execution;
	run->program = cached->program;
	run->loaded.execution = execution;
	run->loaded.program = cached->program;
	run->loaded.history = cached->history;
	run->loaded.max_transitions = sf_quota_of(execution->owner)->transitions;
	run->item_of = -1;
	return run;
}

/* Make a run of an execution whose row the caller has locked. */
SfRun *
sf_run_make_locked(SfExecution *execution)
{
	SfRun	   *run = sf_run_make(execution);

	run->administered = true;
	run->locked = true;
	run->base_event_id = execution->last_event_id;
	return run;
}

/* Append an event of the execution as a whole, after its last one. */
void
sf_run_add_event(SfRun *run, SfEventType type, Jsonb *extra, TimestampTz at)
{
	int			n = list_length(run->events);
	SfEvent    *event;

	if (run->loaded.history == SF_HISTORY_NONE)
		return;
	event = palloc0(sizeof(SfEvent));
	event->type = type;
	event->id = -n - 1;
	event->previous_id = n == 0 ? run->base_event_id : -n;
	event->state = -1;
	event->at = at;
	event->extra = extra;
	run->events = lappend(run->events, event);
}

static int64 locked_out = 0;

/* The execution that could not be locked when ERRCODE_SF_EXECUTION_LOCKED came. */
int64
sf_slice_locked_out(void)
{
	return locked_out;
}

/* Lock an execution's row, a worker within SF_ROW_LOCK_MS. */
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

/* Is an execution, as it is now, in the run in which the slice has read it? */
static bool
is_as_read(const SfExecution *read, const SfExecution *now, bool began)
{
	return now->status == SF_STATUS_RUNNING &&
		now->redrive_count == read->redrive_count &&
		now->version == read->version &&
		(now->started_at != DT_NOBEGIN || began || read->started_at == DT_NOBEGIN);
}

/* Lock an execution and learn its last event id. */
void
sf_run_lock(SfRun *run)
{
	SfExecution *now;

	if (run->locked)
		return;

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

/* Note that a branch has changed. */
void
sf_run_add_branch(SfRun *run, SfBranch *branch)
{
	if (run->administered)
		run->branches = lappend(run->branches, branch); /* each comes once */
	else if (run->branches == NIL || llast(run->branches) != branch)
		run->branches = list_append_unique_ptr(run->branches, branch);
}

/* Forget what waits to be written of the descendants of a branch. */
static void
forget_children(SfRun *run, int64 parent_no)
{
	ListCell   *lc;

	check_stack_depth();
	foreach(lc, run->branches)
	{
		SfBranch   *branch = lfirst(lc);

		if (branch->parent_no != parent_no || branch->gone)
			continue;
		branch->gone = true;
		branch->stored = false;
		forget_children(run, branch->key.branch_no);
	}
}

/* --- effects --- */

/* The execution starts. */
static void
apply_begin_execution(SfRun *run, const SfBranch *branch, TimestampTz at)
{
	run->execution->started_at = at;
	run->began = true;
}

/* An event happened: it is written with the run. */
static void
apply_event(SfRun *run, const SfBranch *branch, SfEvent *event)
{
	run->events = lappend(run->events, event);
}

/* A child begins. */
static void
apply_spawn(SfRun *run, const SfBranch *branch, SfBranch *child)
{
	child->key.branch_no = sf_branch_next_no();
	run->branches = lappend(run->branches, child);
}

/* The children of a branch are not needed any more. */
static void
apply_drop_children(SfRun *run, const SfBranch *branch, SfNoValue none)
{
	forget_children(run, branch->key.branch_no);
	sf_branch_delete_children(branch->key);
}

/* Children of a branch have ended: counted when the run is written. */
static void
apply_ended(SfRun *run, const SfBranch *branch, SfParentDelta *delta)
{
	run->deltas = lappend(run->deltas, delta);
}

/* The execution ends. */
static void
apply_finish(SfRun *run, const SfBranch *branch, SfFinish *finish)
{
	run->finish = finish;
}

/* Carry a transition out: the branch's new value, then the effects in order. */
void
sf_apply(SfRun *run, SfBranch *branch, const SfTransition *t)
{
	*branch = t->branch;
	sf_run_add_branch(run, branch);
	for (int i = 0; i < t->neffects; i++)
	{
		const SfEffect *effect = &t->effects[i];

		switch (effect->kind)
		{
#define APPLY(sym, member, type) \
			case SF_EFFECT_##sym: \
				apply_##member(run, branch, effect->member); \
				break;
				SF_EFFECT_LIST(APPLY)
		}
	}
	if (run->map_children != NIL)
		apply_map_children(run, branch);
}

/* Delete every branch of a run's execution, and the items of its Maps. */
void
sf_run_drop_all(SfRun *run)
{
	sf_branch_delete_all(run->execution->execution_no);
	sf_map_items_delete_all(run->execution->execution_no);
}

/* --- single rows --- */

/* Insert an execution; false when its id is taken. */
bool
sf_apply_insert(SfExecution *execution)
{
	return sf_execution_insert(execution);
}

/* Write one branch. */
void
sf_apply_branch(SfBranch *branch)
{
	sf_branch_write(list_make1(branch));
}

/* Note a call of sf_start that found the execution. */
void
sf_apply_request(const SfExecution *execution, const char *outcome,
				 bool input_differs)
{
	sf_execution_note_request(execution, outcome, input_differs);
}

/* Delete a branch, unless it is locked, whose execution went with its machine. */
void
sf_apply_orphan(SfBranchKey key)
{
	sf_branch_delete_orphan(key);
}

/* Put a branch into the queue of the role that owns its machine now. */
bool
sf_apply_requeue(SfBranchKey key, Oid from, Oid to)
{
	return sf_owner_requeue(key, from, to);
}

/* Have an owner's work be due that the wall clock, set back, shows as ahead. */
void
sf_apply_set_back(Oid owner, TimestampTz now, int64 by)
{
	sf_branch_set_back(owner, now, by);
}

/* Make a branch due later. */
void
sf_slice_put_off(SfBranchKey key, int ms)
{
	PushActiveSnapshot(GetTransactionSnapshot());
	sf_branch_put_off(key, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms));
	PopActiveSnapshot();
}

/* --- writing a slice --- */

/* Replace a provisional event id. */
static inline void
fix_id(const SfRun *run, int *id)
{
	if (*id < 0)
		*id = run->base_event_id - *id;
}

/* Give the events of a run their ids, and all that refers to them. */
static void
assign_event_ids(SfRun *run)
{
	ListCell   *lc;

	foreach(lc, run->events)
	{
		SfEvent    *event = lfirst(lc);

		event->execution_no = run->execution->execution_no;
		fix_id(run, &event->id);
		fix_id(run, &event->previous_id);
		fix_id(run, &event->payload_from);
	}
	foreach(lc, run->branches)
	{
		SfBranch   *branch = lfirst(lc);

		fix_id(run, &branch->entered_event);
		fix_id(run, &branch->last_event);
		fix_id(run, &branch->payload_event);
		fix_id(run, &branch->failed_event);
	}
	foreach(lc, run->deltas)
	{
		SfParentDelta *delta = lfirst(lc);

		fix_id(run, &delta->failed_event);
	}
}

/* Sort deltas by parent. */
static int
compare_deltas(const ListCell *a, const ListCell *b)
{
	const SfParentDelta *x = lfirst(a);
	const SfParentDelta *y = lfirst(b);

	return (x->branch_no > y->branch_no) - (x->branch_no < y->branch_no);
}

/* Find a branch among those that the run changes. */
static SfBranch *
find_branch(const SfRun *run, int64 branch_no)
{
	ListCell   *lc;

	foreach(lc, run->branches)
	{
		SfBranch   *branch = lfirst(lc);

		if (branch->key.branch_no == branch_no)
			return branch;
	}
	return NULL;
}

/* Write the counters of a join. */
static void
flush_join(SfBranch *join)
{
	if (join != NULL)
		sf_branch_update_join(join);
}

/* Let parents take the ends of their children into account. */
static void
apply_deltas(SfRun *run, TimestampTz now)
{
	SfBranch   *parent = NULL;
	SfBranch   *join = NULL;	/* parent, where only its counters were read */
	ListCell   *lc;

	if (SF_DEBUG_MUTATION("count_end"))
		return;
	list_sort(run->deltas, compare_deltas);
	foreach(lc, run->deltas)
	{
		SfParentDelta *delta = lfirst(lc);
		SfBranchKey key = {run->execution->execution_no, delta->branch_no};

		if (parent == NULL || parent->key.branch_no != delta->branch_no)
		{
			flush_join(join);
			join = NULL;
			parent = find_branch(run, delta->branch_no);
			if (parent == NULL)
				parent = join = sf_branch_read_join(key, SF_LOCK_WAIT);
			if (parent == NULL)
				elog(ERROR, "a branch of execution \"%s\" has lost its parent " INT64_FORMAT,
					 run->execution->execution_id, delta->branch_no);
		}
		sf_join_count(parent, delta,
					  run->program->states[parent->state].failure_mode, now);
	}
	flush_join(join);
}

/* Add the machine's deadline. */
void
sf_run_add_deadline(SfRun *run)
{
	const SfExecution *execution = run->execution;
	TimestampTz begin = execution->last_redriven_at != DT_NOBEGIN ?
		execution->last_redriven_at : execution->started_at;
	SfBranch   *deadline;

	if (run->program->timeout_seconds <= 0 || execution->map_run_no != 0)
		return;
	deadline = sf_branch_make(execution->execution_no, execution->owner,
							  SF_BRANCH_DEADLINE);
	deadline->phase = SF_PHASE_DEADLINE;
	deadline->due_at = begin + run->program->timeout_seconds * USECS_PER_SEC;
	run->branches = lappend(run->branches, deadline);
}

/* Has a branch of this run failed since it was last written? */
bool
sf_run_has_failure(const SfRun *run)
{
	ListCell   *lc;

	foreach(lc, run->deltas)
	{
		if (((SfParentDelta *) lfirst(lc))->failed)
			return true;
	}
	return false;
}

/*
 * Refuse a history that grows without end.  What says that a branch fails is
 * let in, or it could never end.
 */
static void
check_history_size(const SfRun *run)
{
	if (run->execution->last_event_id <= sf_setting_max_history_events ||
		run->finish != NULL || run->administered || sf_run_has_failure(run))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SF_EVALUATION_LIMIT),
			 errmsg("The execution reached the maximum number of history events (%d).",
					sf_setting_max_history_events)));
}

/* Will a branch rest, so that it has to be told when what it is part of ends? */
static bool
rests(const SfBranch *branch, TimestampTz now)
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
 * Does a run have to lock its execution before it is written?  A transaction that
 * stops the execution, or aborts a part of it, skips the branches that we hold.
 * So we must not commit one that rests, or that has children, without the lock.
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

		if (!branch->gone && (!branch->stored || rests(branch, now)))
			return true;
	}
	return false;
}

/*
 * Make branches due that are about to rest although the join above them has given
 * up: the join skipped them because we held them.
 */
static void
recall_aborted(SfRun *run, TimestampTz now)
{
	ListCell   *lc;

	foreach(lc, run->branches)
	{
		SfBranch   *branch = lfirst(lc);

		if (branch->stored && !branch->gone && branch->parent_no >= 0 &&
			rests(branch, now) && find_branch(run, branch->parent_no) == NULL &&
			sf_claim_is_aborted(run, branch) && !SF_DEBUG_MUTATION("recall"))
			branch->due_at = now;
	}
}

/*
 * Work out what a run's rows are to be.  A run that is not locked has only
 * branches that no other transaction looks at.
 */
static void
settle_run(SfRun *run, TimestampTz now)
{
	SfExecution *execution = run->execution;

	if (!run->locked)
		return;
	assign_event_ids(run);
	if (!run->administered)
		recall_aborted(run, now);
	apply_deltas(run, now);
	if (run->began && run->finish == NULL)
		sf_run_add_deadline(run);
	execution->last_event_id = run->base_event_id + list_length(run->events);
	check_history_size(run);
	if (run->finish == NULL)
		return;
	if (run->finish->state < 0 && find_branch(run, SF_BRANCH_ROOT) != NULL)
		run->finish->state = find_branch(run, SF_BRANCH_ROOT)->state;
	sf_apply_finish(run, now);
}

/* Does a run change the row of its execution? */
static bool
changes_execution(const SfRun *run)
{
	return run->locked &&
		(run->finish != NULL || run->events != NIL || run->began || run->administered);
}

/* Append what is in a list to another one, and leave the first as it is. */
static List *
collect(List *all, const List *more)
{
	return all == NIL ? list_copy(more) : list_concat(all, more);
}

/* Write the rows of runs, each table at once. */
static void
write_rows(const List *runs)
{
	List	   *branches = NIL;
	List	   *events = NIL;
	List	   *executions = NIL;
	ListCell   *lc;

	foreach(lc, runs)
	{
		SfRun	   *run = lfirst(lc);

		branches = collect(branches, run->branches);
		if (run->locked)
		{
			branches = collect(branches, run->children);
			events = collect(events, run->events);
		}
		if (changes_execution(run))
			executions = lappend(executions, run->execution);
	}
	sf_branch_write(branches);
	foreach(lc, runs)
		sf_apply_tasks(lfirst(lc));
	sf_event_write(events);
	sf_execution_update_all(executions);
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

/* Write everything that is pending in these runs. */
void
sf_runs_write(List *runs)
{
	TimestampTz now = GetCurrentTimestamp();
	ListCell   *lc;

	list_sort(runs, compare_runs);
	foreach(lc, runs)
	{
		SfRun	   *run = lfirst(lc);

		if (run->execution->status == SF_STATUS_RUNNING && needs_lock(run, now))
			sf_run_lock(run);
	}
	foreach(lc, runs)
		settle_run(lfirst(lc), now);
	write_rows(runs);
	sf_apply_after_ends(runs);
}
