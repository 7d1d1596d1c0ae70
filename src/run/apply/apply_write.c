/*
 * apply_write.c
 *		Write the rows that a slice has changed.  If an execution has ended, also
 *		end its branches and its nested executions, answer the branch that waits
 *		for it, and count it in its map run.
 *
 * An execution that ends without success aborts the item executions of its Distributed Maps.
 * Each of them has an SfDraft of its own, so sf_drafts_write() calls itself.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/hooks.h"
#include "base/settings.h"
#include "run/apply/apply_internal.h"
#include "run/apply/draft_advance.h"
#include "run/join/children.h"
#include "store/alert/alert.h"
#include "store/feature.h"
#include "store/state_machine/program_cache.h"

/* --- rows --- */

/* Replace a provisional event id. */
static inline void
fix_id(const SfDraft *draft, int *id)
{
	*id = sf_event_final_id(*id, draft->base_event_id);
}

/* Replace the provisional event ids in a draft's events, branches and deltas. */
static void
assign_event_ids(SfDraft *draft)
{
	foreach_ptr(SfHistoryEvent, event, draft->events)
	{
		event->execution_no = draft->execution->execution_no;
		event->version = draft->execution->version;
		fix_id(draft, &event->id);
		fix_id(draft, &event->previous_id);
		fix_id(draft, &event->payload_from);
	}
	foreach_ptr(SfBranch, branch, draft->branches)
	{
		fix_id(draft, &branch->entered_event);
		fix_id(draft, &branch->last_event);
		fix_id(draft, &branch->payload_event);
		fix_id(draft, &branch->failed_event);
		fix_id(draft, &branch->last_inner_event);
	}
	foreach_ptr(SfParentDelta, delta, draft->deltas)
		fix_id(draft, &delta->failed_event);
}

/* Sort deltas by parent; the first failure first. */
static int
compare_deltas(const ListCell *a, const ListCell *b)
{
	const SfParentDelta *x = lfirst(a);
	const SfParentDelta *y = lfirst(b);

	if (x->branch_no != y->branch_no)
		return x->branch_no > y->branch_no ? 1 : -1;
	return (x->failed_event > y->failed_event) - (x->failed_event < y->failed_event);
}

/* Find a branch among those that the draft changes. */
static SfBranch *
find_branch(const SfDraft *draft, int64 branch_no)
{
	foreach_ptr(SfBranch, branch, draft->branches)
	{
		if (branch->key.branch_no == branch_no)
			return branch;
	}
	return NULL;
}

/* Count ended children of one parent; lock it, if it is not in the draft. */
static void
apply_ends(SfDraft *draft, const List *deltas, TimestampTz now)
{
	const SfParentDelta *first = linitial(deltas);
	SfBranchKey key = {draft->execution->execution_no, first->branch_no};
	SfBranch   *parent = find_branch(draft, first->branch_no);
	SfBranch   *join = NULL;	/* parent, where only its counters were read */

	if (parent == NULL)
		parent = join = sf_draft_lock_join(draft, key);
	if (parent == NULL)
		elog(ERROR, "a branch of execution \"%s\" has lost its parent " INT64_FORMAT,
			 draft->execution->execution_id, first->branch_no);
	sf_dependents_count(draft, parent, deltas, now);
	if (join != NULL)
		sf_branch_update_join(join);
}

/* Count ended children in their parents. */
static void
apply_deltas(SfDraft *draft, TimestampTz now)
{
	List	   *of_parent = NIL;
	ListCell   *lc;

	if (SF_DEBUG_MUTATION("count_end"))
		return;
	list_sort(draft->deltas, compare_deltas);
	foreach(lc, draft->deltas)
	{
		SfParentDelta *delta = lfirst(lc);
		ListCell   *next = lnext(draft->deltas, lc);

		of_parent = lappend(of_parent, delta);
		if (next != NULL && ((SfParentDelta *) lfirst(next))->branch_no == delta->branch_no)
			continue;
		apply_ends(draft, of_parent, now);
		list_free(of_parent);
		of_parent = NIL;
	}
}

/*
 * Raise an error if the history has more than max_history_events events, unless a
 * branch fails, or the execution ends or is stopped or redriven: an execution must
 * be able to end.
 */
static void
check_history_size(const SfDraft *draft)
{
	if (draft->execution->last_event_id <= sf_setting_max_history_events ||
		draft->execution_end != NULL || sf_draft_is_by_operation(draft) || sf_draft_has_failure(draft))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SF_EVALUATION_LIMIT),
			 errmsg("The execution reached the maximum number of history events (%d).",
					sf_setting_max_history_events)));
}

/*
 * Make waiting branches due whose join is aborting its children: the join skipped
 * them because we had locked them.  The next slice that claims them ends them.
 */
static void
recall_aborted(SfDraft *draft, TimestampTz now)
{
	foreach_ptr(SfBranch, branch, draft->branches)
	{
		if (branch->row.stored && !branch->row.gone && sf_branch_has_parent(branch) &&
			sf_draft_branch_rests(branch, now) && find_branch(draft, branch->parent_no) == NULL &&
			sf_draft_is_aborted(draft, branch) && !SF_DEBUG_MUTATION("recall"))
			sf_branch_come_at(branch, now);
	}
}

/*
 * Complete the rows of a draft: event ids, counts of parents, timeout, end of the
 * execution.  Nothing to do if the execution is not locked: then the draft has only
 * branches (see needs_lock).
 */
static void
prepare_rows(SfDraft *draft, TimestampTz now)
{
	SfExecution *execution = draft->execution;

	if (!draft->locked)
		return;
	assign_event_ids(draft);
	if (!sf_draft_is_by_operation(draft))
		recall_aborted(draft, now);
	apply_deltas(draft, now);
	if (draft->began && draft->execution_end == NULL)
		sf_draft_add_timeout(draft);
	sf_transition_execution_add_events(execution, draft->base_event_id + list_length(draft->events));
	check_history_size(draft);
	if (draft->execution_end == NULL)
		return;
	if (draft->execution_end->state == SF_NO_STATE && find_branch(draft, SF_BRANCH_ROOT) != NULL)
		draft->execution_end->state = find_branch(draft, SF_BRANCH_ROOT)->state;
	sf_transition_execution_end(execution, draft->execution_end, now);
	sf_draft_note_status(draft, execution->status, now);
	if (!sf_execution_is_of_item(execution) && execution->started_at != DT_NOBEGIN)
		sf_tally_end(&draft->tally, execution->status,
					 now - execution->started_at - execution->idle_us);
}

/* Does a draft change the row of its execution? */
static bool
changes_execution(const SfDraft *draft)
{
	return draft->locked &&
		(draft->execution_end != NULL || draft->events != NIL || draft->began ||
		 sf_draft_is_by_operation(draft));
}

/* Append a list to another one; the appended list is not changed. */
static List *
collect(List *all, const List *more)
{
	return all == NIL ? list_copy(more) : list_concat(all, more);
}

/* Does a branch of a draft still wait, when its rows are written? */
static bool
still_waits(const SfDraft *draft, const SfFeatureWait *wait)
{
	foreach_ptr(const SfBranch, branch, draft->branches)
		if (branch->key.branch_no == wait->key.branch_no)
			return !branch->row.gone && branch->phase == SF_PHASE_EXTERNAL && branch->generation == wait->generation;
	return false;
}

/* Write a wait. */
static void
write_wait(void *arg)
{
	const SfFeatureWait *wait = arg;

	SF_FEATURES(resource, feature)
		if (feature->resource->kind == wait->kind)
			feature->resource->write_wait(wait);
}

/*
 * Write what the branches of a draft, which were written, wait for.  A session may have that locked, as one that drops
 * an event.
 */
static void
write_waits(SfDraft *draft)
{
	foreach_ptr(SfFeatureWait, wait, draft->waits)
		if (still_waits(draft, wait))
			sf_draft_wait_briefly(draft, write_wait, wait);
	draft->waits = NIL;
}

/* Write the rows of drafts: branches, tasks, events, executions, and what is counted. */
static void
write_rows(const List *drafts, TimestampTz now)
{
	List	   *branches = NIL;
	List	   *events = NIL;
	List	   *executions = NIL;
	List	   *tallies = NIL;
	ListCell   *lc;

	foreach_ptr(SfDraft, draft, drafts)
	{
		tallies = lappend(tallies, &draft->tally);

		branches = collect(branches, draft->branches);
		if (draft->locked)
		{
			branches = collect(branches, draft->item_roots);
			events = collect(events, draft->events);
		}
		if (changes_execution(draft))
			executions = lappend(executions, draft->execution);
	}
	sf_branch_write(branches);
	foreach(lc, drafts)
		sf_apply_tasks(lfirst(lc));
	foreach_ptr(SfDraft, draft, drafts)
		write_waits(draft);
	sf_history_event_write(events);
	sf_execution_update_all(executions);
	sf_tally_write(tallies, now);
}

/* Tell features with options in their versions of executions that have begun, or go on. */
static void
tell_begun(const List *drafts)
{
	const SfFeature *feature = SF_PROVIDER(line);

	if (feature == NULL)
		return;
	foreach_ptr(const SfDraft, draft, drafts)
	{
		if (sf_execution_is_of_item(draft->execution) || !(draft->began || draft->redrive_allowed))
			continue;
		if (SF_COMPILED(feature, draft->compiled) != NULL)
			feature->line->on_begun(draft->execution, SF_COMPILED(feature, draft->compiled));
	}
}

/* Tell features what has changed. */
static void
show_changes(const List *drafts)
{
	foreach_ptr(SfDraft, draft, drafts)
	{
		if (draft->changes == NIL)
			continue;
		SF_TELL_PROVIDER(notices, on_changes, draft->execution, draft->changes);
		draft->changes = NIL;
	}
}

/* --- ends of executions --- */

/* End item executions, which a draft has locked, and count them in their map run. */
static void
abort_item_executions(const SfDraft *draft, List *numbers)
{
	SfError		none = sf_error_make(NULL, NULL);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow aborted item", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	foreach_ptr(const int64, number, numbers)
	{
		SfExecution *item_execution = sf_execution_read(*number, SF_LOCK_NONE, false);
		SfDraft	   *ended;
		SfMapRun   *map_run;

		CHECK_FOR_INTERRUPTS();
		ended = sf_draft_make_locked(item_execution);
		ended->ended_by = draft;
		sf_draft_end_execution(ended, SF_STIMULUS_ORPHANED, &none);
		sf_drafts_write(list_make1(ended));
		map_run = sf_draft_lock_map_run(draft, item_execution->parent_execution_no, item_execution->map_run_no);
		if (map_run != NULL)
		{
			sf_map_run_count_end(map_run, item_execution->status, item_execution->map_items);
			sf_map_run_update(map_run);
		}
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* End the running item executions of all runs of an execution. */
static void
abort_map_runs(const SfDraft *draft)
{
	const SfExecution *execution = draft->execution;
	int64		no = execution->execution_no;
	ListCell   *lc;

	check_stack_depth();
	if (sf_map_run_stop_all(no) == 0)
		return;
	abort_item_executions(draft, sf_map_run_running(no, SF_NO_MAP_RUN, SF_LOCK_SKIP));
	foreach(lc, sf_map_run_running(no, SF_NO_MAP_RUN, SF_LOCK_NONE))
		sf_apply_stop_request(*(int64 *) lfirst(lc), execution->owner,
							  GetCurrentTimestamp(), NULL);
}

/* Does a program have a Distributed Map? */
static bool
has_distributed(const SfProgram *program)
{
	for (int i = 0; i < program->nstates; i++)
		if (sf_state_is_distributed(&program->states[i]))
			return true;
	return false;
}

/*
 * Delete or end the rows that an ended execution does not need, and tell features that it has ended: each end comes
 * here, by a transition, by sf_stop(), with its parent, or by a timeout.
 */
static void
clear_rows(const SfDraft *draft)
{
	const SfExecution *execution = draft->execution;
	bool		distributed = has_distributed(draft->program);

	if (execution->status != SF_STATUS_SUCCEEDED)
	{
		sf_branch_quiesce(execution->execution_no);
		SF_TELL(on_ended, execution, draft->began);
		if (distributed)
			abort_map_runs(draft);
		sf_nested_stop(execution, SF_WHOLE_EXECUTION);
		return;
	}
	SF_TELL(on_ended, execution, draft->began);
	if (draft->program->timeout_seconds != SF_NO_TIMEOUT)
		sf_branch_delete_all(execution->execution_no);
	if (distributed)
		sf_map_item_delete_all(execution->execution_no);
}

/* Put the outcome of a nested execution into the branch that waits for it. */
static void
answer_parent(const SfDraft *draft)
{
	const SfExecution *execution = draft->execution;
	SfBranchKey key = {execution->parent_execution_no, execution->parent_branch_no};
	SfBranch   *branch;
	SfExecution *parent,
			   *nested;
	const SfProgram *program;

	if (!sf_execution_is_waited_for(execution))
		return;
	branch = sf_draft_lock_branch(draft, key);
	if (branch == NULL || branch->phase != SF_PHASE_EXTERNAL ||
		branch->generation != execution->parent_generation)
		return;
	parent = sf_execution_read(key.execution_no, SF_LOCK_NONE, false);
	nested = sf_execution_read(execution->execution_no, SF_LOCK_NONE, true);
	if (parent == NULL || nested == NULL)
		return;
	program = sf_program_cache_get(parent->machine_no, parent->version);
	if (nested->status == SF_STATUS_SUCCEEDED)
		sf_branch_answer(key, true,
						 sf_nested_output(nested,
										  &sf_state_task(&program->states[branch->state])->resource),
						 NULL, NULL);
	else
		sf_branch_answer(key, false, NULL, SF_ERR_TASK_FAILED,
						 sf_nested_failure(nested));
}

/* Has an execution ended in a way that an operator should know of? */
static bool
has_failed(const SfExecution *execution)
{
	return execution->status == SF_STATUS_FAILED || execution->status == SF_STATUS_TIMED_OUT;
}

/*
 * Note for the commit: sessions in sf_await are to be woken, running tasks of an
 * unsuccessful execution cancelled, and a failure logged.
 */
static void
note_end(const SfDraft *draft)
{
	const SfExecution *execution = draft->execution;
	int			state = draft->execution_end->state;

	if (execution->status != SF_STATUS_SUCCEEDED)
		sf_hooks.cancel(sf_branch_key_of_execution(execution->execution_no));
	sf_hooks.execution_ended(execution->execution_no);
	if (has_failed(execution))
		sf_hooks.execution_failed(execution->execution_id,
								  state != SF_NO_STATE ? draft->program->states[state].name : NULL,
								  execution->error,
								  execution->status == SF_STATUS_TIMED_OUT);
}

/* Open the alert that an execution has failed, if it is one. */
static void
open_alert(const SfExecution *execution)
{
	int			times = sf_alert_note(execution);

	if (times > 0)
		sf_notice_failure(execution, times, SF_ALERT_OPENED);
}

/*
 * For each execution that has ended: end or delete its branches, answer the branch
 * that waits for it, and count it in its map run.
 */
static void
after_ends(List *drafts)
{
	List	   *ends = NIL;

	foreach_ptr(const SfDraft, draft, drafts)
	{
		if (draft->execution_end == NULL || !draft->locked)
			continue;
		clear_rows(draft);
		if (has_failed(draft->execution))
			open_alert(draft->execution);
		answer_parent(draft);
		note_end(draft);
		if (sf_execution_is_of_item(draft->execution) && !draft->execution_end->map_run_knows)
			ends = lappend(ends, sf_apply_make_item_end(draft));
	}
	sf_apply_count_item_ends(ends);
}

/*
 * Lock the executions of drafts, assign event ids, and write all rows that the drafts
 * have collected.  The caller commits.  The order is at the head of apply.c.
 */
void
sf_drafts_write(List *drafts)
{
	TimestampTz now = GetCurrentTimestamp();
	ListCell   *lc;

	sf_drafts_lock(drafts, NULL, now);
	foreach(lc, drafts)
		prepare_rows(lfirst(lc), now);
	write_rows(drafts, now);
	tell_begun(drafts);
	show_changes(drafts);
	after_ends(drafts);
	sf_hooks.executions_change();
}

/*
 * End the running item executions of a Distributed Map as ABORTED; returns the
 * number of those that were skipped because another transaction has them locked.
 */
int
sf_apply_abort_items(const SfDraft *draft, SfBranchKey parent, int64 map_run_no)
{
	check_stack_depth();
	abort_item_executions(draft, sf_map_run_running(parent.execution_no, map_run_no, SF_LOCK_SKIP));
	return list_length(sf_map_run_running(parent.execution_no, map_run_no, SF_LOCK_NONE));
}
