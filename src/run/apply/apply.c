/*
 * apply.c
 *		Carry the effects of transitions out.
 *
 * While a slice runs, SfDraft collects the effects of its transitions: events with
 * provisional ids (store/history/history_event.h), branches, tasks, ends of children, and the
 * end of the execution.  sf_drafts_write() (apply_write.c) writes them when the slice
 * ends, but for those that SF_EFFECT_LIST has as AT_ONCE.
 *
 * sf_drafts_write() takes its locks after the last task of the slice has run, and
 * always in the same order, so that slices do not deadlock:
 *
 *		1. lock the execution rows (FOR UPDATE), by number (draft_lock.c)
 *		2. for each execution: assign event ids (last_event_id + 1, + 2 …); then
 *		   lock the parent branches, by number, and count their ended children
 *		3. write branches, then tasks, then what branches wait for, then events, then executions, then
 *		   what is counted; then tell the features which executions have begun and what has changed,
 *		   such as rules, which write deliveries
 *		4. for each execution that has ended: end or delete its branches; have the features clear
 *		   their rows of it, in the order of their list (feature/features.c); answer the
 *		   branch that waits for it, count it in its map run
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "run/apply/apply_internal.h"

/* Have what waits to be written of the descendants of a branch not be written. */
static void
void_children(SfDraft *draft, int64 parent_no)
{
	check_stack_depth();
	foreach_ptr(SfBranch, branch, draft->branches)
	{
		if (branch->parent_no != parent_no || branch->row.gone)
			continue;
		branch->row.gone = true;
		branch->row.stored = false;
		/* the joins of one that is done have dropped its own */
		if (branch->phase != SF_PHASE_DONE)
			void_children(draft, branch->key.branch_no);
	}
}

/* Forget the descendants of a branch; those that are the last of the draft take no more room. */
static void
forget_children(SfDraft *draft, int64 parent_no)
{
	void_children(draft, parent_no);
	while (draft->branches != NIL)
	{
		const SfBranch *last = llast(draft->branches);

		if (!last->row.gone || last->row.stored)
			break;
		draft->branches = list_delete_last(draft->branches);
	}
}

/* --- effects --- */

/* The execution starts. */
static void
sf_effect_begin_execution(SfDraft *draft, const SfBranch *branch, TimestampTz at)
{
	sf_transition_execution_begin(draft->execution, at);
	draft->began = true;
	/* the executions of a Distributed Map are part of their parent */
	if (!sf_execution_is_of_item(draft->execution))
		draft->tally.started++;
	sf_draft_note_status(draft, SF_STATUS_RUNNING, at);
}

/* An event happened: it is written with the draft. */
static void
sf_effect_append_event(SfDraft *draft, const SfBranch *branch, SfHistoryEvent *event)
{
	draft->events = lappend(draft->events, event);
}

/* A child begins. */
static void
sf_effect_spawn_branch(SfDraft *draft, const SfBranch *branch, SfBranch *child)
{
	child->key.branch_no = sf_branch_next_no();
	child->work.join = unconstify(SfBranch *, branch);
	sf_draft_add_branch(draft, child);
}

/* The children of a branch are not needed any more. */
static void
sf_effect_drop_children(SfDraft *draft, const SfBranch *branch, SfNoValue none)
{
	forget_children(draft, branch->key.branch_no);
	draft->net_branch = NULL;
	if (branch->work.children != SF_CHILDREN_NEW)
		sf_branch_delete_children(branch->key);
}

/* Children of a branch have ended: counted when the draft is written. */
static void
sf_effect_count_end(SfDraft *draft, const SfBranch *branch, SfParentDelta *delta)
{
	draft->deltas = lappend(draft->deltas, delta);
}

/* The branch has entered a state. */
static void
sf_effect_count_transition(SfDraft *draft, const SfBranch *branch, SfNoValue none)
{
	draft->tally.transitions++;
}

/* Note an attempt of a job for rules. */
static void
note_job(SfDraft *draft, SfTaskOver over)
{
	SfChange   *change = palloc0(sizeof(SfChange));

	change->kind = SF_CHANGE_JOB;
	change->status = over.error == NULL ? SF_STATUS_SUCCEEDED :
		sf_error_is(over.error, SF_ERR_TIMEOUT) ? SF_STATUS_TIMED_OUT : SF_STATUS_FAILED;
	change->at = GetCurrentTimestamp();
	change->job = (SfJobChange) {
		.name = draft->program->states[over.state].name,
		.attempt = over.attempt,
		.began = change->at - over.us,
		.error = over.error
	};
	draft->changes = lappend(draft->changes, change);
}

/* A task of a state is over. */
static void
sf_effect_count_task(SfDraft *draft, const SfBranch *branch, SfTaskOver over)
{
	if (over.error == NULL)
		sf_tally_task(&draft->tally, over.state, over.us);
	else
		sf_tally_failed_task(&draft->tally, over.state);
	if (sf_feature_wants_notice(SF_CHANGE_JOB, draft->execution))
		note_job(draft, over);
}

/* The branch's state is retried. */
static void
sf_effect_count_retry(SfDraft *draft, const SfBranch *branch, const char *error)
{
	sf_tally_retry(&draft->tally, branch->state, error);
}

/* The execution ends. */
static void
sf_effect_end_execution(SfDraft *draft, const SfBranch *branch, SfExecutionEnd *end)
{
	draft->execution_end = end;
}

/* Carry a transition out: the branch's new value, then the effects in order. */
void
sf_apply(SfDraft *draft, SfBranch *branch, const SfTransition *transition)
{
	*branch = transition->branch;
	sf_draft_add_branch(draft, branch);
	for (int i = 0; i < transition->neffects; i++)
	{
		const SfEffect *effect = &transition->effects[i];

		switch (effect->kind)
		{
#define APPLY(sym, member, type, when) \
			case SF_EFFECT_##sym: \
				sf_effect_##member(draft, branch, effect->member); \
				break;
				SF_EFFECT_LIST(APPLY)
		}
	}
	if (draft->item_executions != NIL)
		sf_apply_item_executions(draft, branch);
}

