/*
 * apply_effects.h
 *		Effects that apply.c has carried out in other files.  Private to
 *		src/run/apply*.c.
 *
 * Each function gets the run, the branch with its new value, and the member of
 * the effect.
 */
#ifndef SF_RUN_APPLY_EFFECTS_H
#define SF_RUN_APPLY_EFFECTS_H

#include "run/apply.h"

/* --- apply_lock.c --- */

extern void sf_runs_lock(List *runs, const SfRun *last, TimestampTz now);
extern bool sf_run_branch_rests(const SfBranch *branch, TimestampTz now);

/* --- apply_task.c --- */

extern void apply_hand_out(SfRun *run, const SfBranch *branch, SfTask *task);
extern void apply_task_changed(SfRun *run, const SfBranch *branch, SfTask *task);
extern void apply_settle(SfRun *run, const SfBranch *branch, SfTask *task);
extern void apply_stop_children(SfRun *run, const SfBranch *branch, SfNoValue none);
extern void sf_apply_tasks(SfRun *run);

/* --- apply_map_run.c --- */

extern void apply_begin_map_run(SfRun *run, const SfBranch *branch, SfMapRunBegin begin);
extern void apply_child(SfRun *run, const SfBranch *branch, SfMapChild *child);
extern void apply_end_map_run(SfRun *run, const SfBranch *branch, SfMapRunEnd end);
extern void apply_map_children(SfRun *run, const SfBranch *branch);

#endif							/* SF_RUN_APPLY_EFFECTS_H */
