/*
 * draft.c
 *		SfDraft: an execution in the memory of a slice, or of a session.
 *
 * A draft collects the effects of transitions (run/apply/apply.c) until sf_drafts_write()
 * (run/apply/apply_write.c) writes them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "quota/quota.h"
#include "run/draft/draft.h"
#include "store/alert/notice.h"
#include "store/feature.h"
#include "store/state_machine/program_cache.h"

/* Make a draft: an execution as a slice works on it. */
SfDraft *
sf_draft_make(SfExecution *execution)
{
	SfCachedProgram *cached = sf_program_cache_find(execution->machine_no,
													execution->version);
	SfDraft	   *draft = palloc0(sizeof(SfDraft));

	draft->context = CurrentMemoryContext;
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
	return parent->phase != SF_PHASE_JOIN ||
		sf_join_gives_up(parent, draft->program->states[parent->state].failure_mode);
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
	draft->dropped_tasks = lappend(draft->dropped_tasks, &branch->key.branch_no);
	sf_draft_add_branch(draft, branch);
}
