/*
 * apply.c
 *		Carry the effects of transitions out.
 *
 * While a slice runs, SfRun collects the effects of its transitions: events with
 * provisional ids (-1, -2 … in the order in which they happened), branches, tasks,
 * ends of children, and the end of the execution.  sf_runs_write() (apply_write.c)
 * writes them when the slice ends.  Six effects write rows at once: DROP_CHILDREN,
 * UPDATE_TASK, STOP_CHILDREN, BEGIN_MAP_RUN, BEGIN_CHILD and END_MAP_RUN.
 *
 * sf_runs_write() takes its locks after the last task of the slice has run, and
 * always in the same order, so that slices do not deadlock:
 *
 *		1. lock the execution rows (FOR UPDATE), by number (apply_lock.c)
 *		2. for each execution: assign event ids (last_event_id + 1, + 2 …); then
 *		   lock the parent branches, by number, and count their ended children
 *		3. write branches, then tasks, then events, then executions
 *		4. for each execution that has ended: end or delete its branches, answer
 *		   the branch that waits for it, count it in its map run
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

