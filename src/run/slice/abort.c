/*
 * abort.c
 *		Abort the children of a Parallel or Map state that gives up.
 *
 * Children whose rows are free end here, with their events, in the order of
 * their index.  If another worker holds a child, that worker is asked to stop:
 * its process gets a cancel request when this transaction commits.  The worker
 * rolls back, claims the branch again, sees that the join above it has given
 * up, and ends it.  The join stays in phase JOIN until the last child has ended,
 * so no transaction waits for a running task.
 *
 * A session that has taken a child's task and not committed yet holds the child,
 * too.  Such a child is not due, so no worker claims it later; the join looks
 * for it again.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/hooks.h"
#include "base/time/timing.h"
#include "run/apply/apply.h"
#include "run/apply/draft_advance.h"
#include "run/slice/slice_run.h"

/*
 * When a join that has given up is due again.  The children of a Distributed
 * Map that are locked are executions: no transaction of theirs ends them.
 */
TimestampTz
sf_abort_recheck_at(const SfBranch *join, bool child_locked)
{
	if ((!sf_branch_has_map_run(join) && !child_locked) || SF_DEBUG_MUTATION("look_again"))
		return DT_NOEND;
	return TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
									   sf_branch_has_map_run(join) ? SF_ABORT_RECHECK_MS : SF_ABORT_LOCKED_RECHECK_MS);
}

static int	abort_children(SfDraft *draft, SfBranch *parent, int after_event, bool *child_locked);

/* End one free child; returns how many ends it still owes its parent. */
static int
abort_child(SfDraft *draft, SfBranch *child, int after_event)
{
	/* the parent counts for itself here */
	SfAborted	aborted = {.after_event = after_event,.join_knows = true};
	SfStimulus	stimulus = {.kind = SF_STIMULUS_ABORTED,.aborted = aborted};
	bool		child_locked = false;

	check_stack_depth();
	if (sf_branch_has_ended(child))
		return 0;
	if (child->phase == SF_PHASE_JOIN)
	{
		sf_stimulus_set_children_left(&stimulus, abort_children(draft, child, after_event, &child_locked));
		stimulus.aborted.due = sf_abort_recheck_at(child, child_locked);
	}
	return sf_draft_advance(draft, child, &stimulus)->next == SF_STEP_ENDED ? 0 : 1;
}

/* Ask the worker that runs a child to stop. */
static void
cancel_child(const SfBranch *child)
{
	if (!SF_DEBUG_MUTATION("cancel_child"))
		sf_hooks.cancel(child->key);
}

/* Abort the children of a parent; what they did last follows an event. */
static int
abort_children(SfDraft *draft, SfBranch *parent, int after_event, bool *child_locked)
{
	List	   *all;
	List	   *free;
	ListCell   *next_free;
	int			pending = 0;

	if (sf_branch_has_map_run(parent))
		return sf_apply_abort_items(draft, parent->key, parent->map_run_no);
	all = sf_branch_children(parent->key, SF_LOCK_NONE);
	free = sf_branch_children(parent->key, SF_LOCK_SKIP);
	next_free = list_head(free);
	foreach_ptr(SfBranch, child, all)
	{
		SfBranch   *mine = next_free ? lfirst(next_free) : NULL;

		if (mine != NULL && mine->key.branch_no == child->key.branch_no)
		{
			next_free = lnext(free, next_free);
			pending += abort_child(draft, mine, after_event);
		}
		else if (!sf_branch_has_ended(child))
		{
			cancel_child(child);
			if (child->due_at > GetCurrentTimestamp())
				*child_locked = true;
			if (!SF_DEBUG_MUTATION("give_up"))
				pending++;
		}
	}
	return pending;
}

/*
 * Abort the children of a parent; what they did last follows its failure.  End each
 * child whose row is free, and ask the workers that hold the others to stop.  Return
 * how many are still to end; *child_locked: a session holds one that rests.  The caller
 * holds the lock of the execution.
 */
int
sf_abort_children(SfDraft *draft, SfBranch *parent, bool *child_locked)
{
	return abort_children(draft, parent, parent->failed_event != SF_NO_EVENT ?
						  parent->failed_event : SF_CHAIN, child_locked);
}
