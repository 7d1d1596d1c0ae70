/*
 * apply.c
 *		Carry the effects of transitions out.
 *
 * While a slice runs, SfRun collects its effects: events with provisional ids
 * (-1, -2 … in the order in which they happened), branches, ends of children, and
 * the end of the execution.  All of it is written at the end of the slice, by
 * apply_write.c.  Only then are shared rows locked, always in the same order.  So
 * no user code runs while they are locked, and two slices never wait for each
 * other:
 *
 *		1. execution rows, by number
 *		2. event ids are assigned: last_event_id + 1, + 2 …
 *		3. parent branches, by number, take their children's ends into account
 *		4. branches, events, execution rows are written
 */
#include "postgres.h"

#include "miscadmin.h"

#include "run/apply_effects.h"
#include "run/slice_internal.h"

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

