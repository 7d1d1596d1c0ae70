/*
 * apply_draft.c
 *		SfDraft: an execution in the memory of a slice, or of a session.
 *
 * A draft collects the effects of transitions (apply.c) until sf_drafts_write()
 * (apply_write.c) writes them.  This file also has the functions that write a single
 * row at once.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "quota/quota.h"
#include "run/apply/apply.h"
#include "store/alert/alert.h"
#include "store/branch/due.h"
#include "store/feature.h"
#include "store/role/owner.h"
#include "store/state_machine/program_cache.h"

/* Make a draft: an execution as a slice works on it. */
SfDraft *
sf_draft_make(SfExecution *execution)
{
	SfCachedProgram *cached = sf_program_cache_find(execution->machine_no,
													execution->version);
	SfDraft	   *draft = palloc0(sizeof(SfDraft));

	draft->execution = execution;
	draft->at = DT_NOBEGIN;
	draft->program = cached->program;
	draft->compiled = cached->compiled;
	draft->loaded.execution = execution;
	draft->loaded.program = cached->program;
	draft->loaded.history = cached->history;
	draft->loaded.max_transitions = sf_quota_of(execution->owner)->transitions;
	draft->tally.machine_no = execution->machine_no;
	draft->tally.version = execution->version;
	return draft;
}

/*
 * Note a status that an execution gets, if rules want to know of it.  The executions of
 * a Distributed Map are part of their parent.
 */
void
sf_draft_note_status(SfDraft *draft, SfStatus status, TimestampTz at)
{
	SfChange   *change;

	if (sf_execution_is_of_item(draft->execution) || !sf_feature_wants_notice(SF_CHANGE_EXECUTION, draft->execution))
		return;
	change = palloc0(sizeof(SfChange));
	change->kind = SF_CHANGE_EXECUTION;
	change->status = status;
	change->at = at;
	draft->changes = lappend(draft->changes, change);
}

/* Make a draft of an execution whose row the caller has locked. */
SfDraft *
sf_draft_make_locked(SfExecution *execution)
{
	SfDraft	   *draft = sf_draft_make(execution);

	draft->by = SF_DRAFT_BY_OPERATION;
	draft->locked = true;
	draft->base_event_id = execution->last_event_id;
	return draft;
}

/* Append an event of the execution as a whole, after its last one. */
void
sf_draft_add_event(SfDraft *draft, SfHistoryEventType type, Jsonb *extra, TimestampTz at)
{
	int			n = list_length(draft->events);
	SfHistoryEvent *event;

	if (draft->loaded.history == SF_HISTORY_LEVEL_NONE)
		return;
	event = palloc0(sizeof(SfHistoryEvent));
	event->type = type;
	event->id = sf_event_provisional_id(n);
	event->previous_id = n == 0 ? draft->base_event_id : sf_event_provisional_id(n - 1);
	event->state = SF_NO_STATE;
	event->at = at;
	event->extra = extra;
	draft->events = lappend(draft->events, event);
}

/* The event that was added last is about the state of a branch. */
void
sf_draft_event_is_of(SfDraft *draft, const SfBranch *branch)
{
	SfHistoryEvent *event;

	if (draft->loaded.history == SF_HISTORY_LEVEL_NONE)
		return;
	event = llast(draft->events);
	event->state = branch->state;
	event->niterations = branch->niterations;
	event->iterations = branch->iterations;
}

/* Note that a branch has changed (or is new): it is written with the draft. */
void
sf_draft_add_branch(SfDraft *draft, SfBranch *branch)
{
	if (branch->work.in_draft)
		return;
	branch->work.in_draft = true;
	draft->branches = lappend(draft->branches, branch);
}

/*
 * Add the machine's timeout, if it has one, as a branch of its own: counted
 * from when the execution last began.
 */
void
sf_draft_add_timeout(SfDraft *draft)
{
	const SfExecution *execution = draft->execution;
	TimestampTz begin = execution->last_redriven_at != DT_NOBEGIN ?
		execution->last_redriven_at : execution->started_at;

	if (draft->program->timeout_seconds == SF_NO_TIMEOUT || sf_execution_is_of_item(execution))
		return;
	draft->branches = lappend(draft->branches,
							  sf_branch_make_timeout(execution->execution_no, execution->owner,
													 begin + draft->program->timeout_seconds * USECS_PER_SEC));
}

/* Has a child branch failed among the effects that wait to be written? */
bool
sf_draft_has_failure(const SfDraft *draft)
{
	ListCell   *lc;

	foreach(lc, draft->deltas)
	{
		if (sf_delta_is_failure(lfirst(lc)))
			return true;
	}
	return false;
}

/* Delete every branch of an execution, and the items of its Maps, at once. */
void
sf_apply_delete_all(const SfExecution *execution)
{
	sf_branch_delete_all(execution->execution_no);
	sf_map_item_delete_all(execution->execution_no);
}

/*
 * Has the join above a branch given up, so that the branch has to end?  That of a
 * branch that this slice began has not, or the slice would not run the branch.
 */
bool
sf_draft_is_aborted(const SfDraft *draft, const SfBranch *branch)
{
	SfBranchKey key = {branch->key.execution_no, branch->parent_no};
	SfBranch   *parent;

	if (!sf_branch_has_parent(branch) || !branch->row.stored)
		return false;
	parent = sf_branch_read_join(key, SF_LOCK_NONE);
	if (parent == NULL)
		return true;
	return parent->aborting || parent->phase != SF_PHASE_JOIN ||
		(parent->failing &&
		 draft->program->states[parent->state].failure_mode == SF_FAILURE_ABORT);
}

/* Is its execution one of an item of a Distributed Map that is over? */
bool
sf_draft_is_orphan(const SfDraft *draft, const SfBranch *branch)
{
	int			scope = branch->scope;
	int			owner;

	if (!sf_execution_is_of_item(draft->execution))
		return false;
	/* up to the Distributed Map: nearest first, and only one counts */
	while ((owner = draft->program->scopes[scope].owner_state) != SF_NO_STATE &&
		   !sf_state_is_distributed(&draft->program->states[owner]))
		scope = draft->program->states[owner].scope;
	return sf_map_run_is_over(draft->execution, owner != SF_NO_STATE &&
							  draft->program->states[owner].failure_mode == SF_FAILURE_DRAIN);
}

/* Have a branch and its task be deleted with the draft. */
void
sf_draft_delete_branch(SfDraft *draft, SfBranch *branch)
{
	branch->row.gone = true;
	sf_task_delete(branch->key);
	sf_draft_add_branch(draft, branch);
}

/* --- single rows --- */

/* Insert an execution; false when its id is taken. */
bool
sf_apply_insert(SfExecution *execution)
{
	return sf_execution_insert(execution);
}

/* Insert executions of one machine; inserted tells which ids were not taken. */
void
sf_apply_insert_all(SfExecution *const *executions, int n, bool *inserted)
{
	sf_execution_insert_all(executions, n, inserted);
}

/* Write one branch. */
void
sf_apply_branch(SfBranch *branch)
{
	sf_branch_write(list_make1(branch));
}

/* Write branches. */
void
sf_apply_branches(List *branches)
{
	sf_branch_write(branches);
}

/* Note a call of sf_start that found the execution. */
void
sf_apply_request(const SfExecution *execution, SfStartOutcome outcome,
				 bool input_differs)
{
	sf_execution_note_request(execution, outcome, input_differs);
}

/* Give an execution, whose row the caller has locked, other labels. */
void
sf_apply_labels(SfExecution *execution, Jsonb *labels)
{
	sf_transition_execution_relabel(execution, labels);
	sf_execution_write_labels(execution);
}

/* Note that an execution that has failed goes on. */
void
sf_apply_note_resumed(const SfExecution *execution)
{
	int			times = sf_alert_close(execution->execution_no);

	if (times > 0)
		sf_notice_failure(execution, times, SF_ALERT_CLEARED);
}

/* Delete a branch, unless it is locked, whose execution went with its machine. */
void
sf_apply_orphan(SfBranchKey key)
{
	sf_branch_delete_orphan(key);
}

/* Give a branch to the role that owns its machine now. */
bool
sf_apply_set_owner(SfBranchKey key, Oid from, Oid to)
{
	return sf_owner_set_branch(key, from, to);
}

/* Have an owner's work be due that the wall clock, set back, shows as ahead. */
void
sf_apply_set_back(Oid owner, TimestampTz now, int64 by)
{
	sf_branch_set_back(owner, now, by);
}

/* Make due what an object that is gone has parked in no queue; returns how many branches. */
int64
sf_apply_unpark_object(const char *feature, int64 object_no)
{
	return sf_park_unpark_object(feature, object_no);
}

/* Make due what is in the queues of an object that is gone. */
void
sf_apply_unpark_queues(const char *feature, int64 object_no)
{
	sf_park_unpark_queues(feature, object_no);
}

/* Make due what a feature has parked of an execution; false: not all, since a session works on some of it. */
bool
sf_apply_unpark_next(const char *feature, int64 execution_no)
{
	int64		parked = sf_park_count(feature, execution_no);

	return parked == 0 || sf_park_unpark_next(feature, execution_no) == parked;
}

/* Make due what waits in a queue for what an execution, or its parent, has by now. */
void
sf_apply_unpark_within(SfQueue queue, int64 execution_no)
{
	sf_park_unpark_within(queue, execution_no);
}

/* Make due what children of an execution's Distributed Maps wait for in queues, which the Map may have. */
void
sf_apply_unpark_items(int64 execution_no)
{
	sf_park_unpark_items(execution_no);
}

/* Branches that have come from another node are of the owners of their machines here, and ask anew what parks them. */
void
sf_apply_arrived(SfArg executions, const Jsonb *parked)
{
	sf_park_unpark_arrived(parked);
	sf_owner_set_of(executions);
}

/* Make a branch due that waits in a queue, if it does; false: another session has it locked. */
bool
sf_apply_recall(SfBranchKey key)
{
	SfBranch   *branch = sf_branch_read(key, SF_LOCK_SKIP);

	if (branch != NULL && sf_branch_is_parked(branch) && sf_park_leave_queue(branch))
	{
		sf_branch_come_at(branch, GetCurrentTimestamp());
		sf_apply_branch(branch);
	}
	return branch != NULL;
}

/* Make a branch due later. */
void
sf_apply_put_off(SfBranchKey key, int ms)
{
	PushActiveSnapshot(GetTransactionSnapshot());
	sf_branch_put_off(key, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms));
	PopActiveSnapshot();
}

/*
 * Ask for the end of an execution as ABORTED: the slice that claims its STOP
 * branch ends it.  This waits for no lock.
 */
void
sf_apply_stop_request(int64 execution_no, Oid owner, TimestampTz due, char *cause)
{
	SfBranch   *stop = sf_branch_make_stop(execution_no, owner, due, cause);

	if (sf_branch_read(stop->key, SF_LOCK_NONE) == NULL)
		sf_branch_write(list_make1(stop));
}

/* Take such requests back; waits for a worker that is about to carry one out. */
void
sf_apply_take_back_stops(const List *executions)
{
	sf_branch_delete_stops(executions);
}
