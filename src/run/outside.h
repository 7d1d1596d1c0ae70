/*
 * outside.h
 *		Tasks that somebody outside the database answers: activities, task
 *		tokens, child executions.
 */
#ifndef SF_RUN_OUTSIDE_H
#define SF_RUN_OUTSIDE_H

#include "machine/step.h"

/* Make a task for a branch, with a fresh secret; for SfRun.make_task. */
extern SfTask *sf_outside_make_task(SfRun *run, const SfBranch *branch);

/*
 * Queue a task of an activity.  True: it cannot be, *error says why; false:
 * the branch waits for its answer.
 */
extern bool sf_outside_queue(SfRun *run, SfBranch *branch,
							 const SfResource *resource,
							 const SfTaskRequest *request, SfTask *task,
							 SfError *error);

/* Put a task whose token somebody is given among those to be written. */
extern void sf_outside_await_token(SfRun *run, SfBranch *branch,
								   const SfTaskRequest *request, SfTask *task);

/* When nobody has answered a token that is handed out now. */
extern TimestampTz sf_outside_timer(const SfBranch *branch,
									const SfTaskRequest *request);

/*
 * Work out what a branch in phase ANSWERED or EXTERNAL is told.  False:
 * nothing yet (the branch says when to look again).
 */
extern bool sf_outside_stimulus(SfRun *run, SfBranch *branch,
								SfStimulus *stimulus);

/* Write and settle the tasks of a run, after its branches. */
extern void sf_outside_write(SfRun *run);

/* --- child_execution.c: child executions --- */

/*
 * Start a child execution.  True: it was started (or is there already); then
 * *output is what the request returns, and the branch waits if it is to.
 * False: *error.
 */
extern bool sf_child_start(SfRun *run, SfBranch *branch,
						   const SfResource *resource, Jsonb *payload,
						   Jsonb **output, SfError *error);

/* An execution has ended: answer the branch that waits for it, if one does. */
extern void sf_child_report(const SfExecution *execution);

/* Have the children that a branch (-1: any) waits for stopped. */
extern void sf_child_stop(const SfExecution *parent, int64 branch_no);

#endif							/* SF_RUN_OUTSIDE_H */
