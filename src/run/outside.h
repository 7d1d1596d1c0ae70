/*
 * outside.h
 *		Tasks that programs outside the database answer: activities, task
 *		tokens, child executions.
 */
#ifndef SF_RUN_OUTSIDE_H
#define SF_RUN_OUTSIDE_H

#include "run/apply.h"

/* Make a task for a branch, with a fresh secret. */
extern SfTask *sf_outside_make_task(const SfBranch *branch);

/* Queue a task of an activity; *stimulus says that it waits, or why it cannot. */
extern void sf_outside_queue(SfRun *run, const SfBranch *branch,
							 const SfResource *resource,
							 const SfTaskRequest *request, SfStimulus *stimulus);

/* Make a task one that is answered by its token. */
extern void sf_outside_await_token(SfTask *task, const SfTaskRequest *request);

/* Until when to wait for the answer to a token that is handed out now. */
extern TimestampTz sf_outside_timer(const SfBranch *branch,
									const SfTaskRequest *request);

/* Work out what has happened to a branch in phase ANSWERED or EXTERNAL. */
extern void sf_outside_stimulus(SfRun *run, const SfBranch *branch,
								SfStimulus *stimulus);

/* --- child_execution.c: child executions --- */

/*
 * Start a child execution, whose end answers that generation of the branch.
 * True: it was started (or is there already); then *output is what the request
 * returns.  False: *error.
 */
extern bool sf_child_start(const SfRun *run, const SfBranch *branch, int generation,
						   const SfResource *resource, Jsonb *payload,
						   Jsonb **output, SfError *error);

/* What a .sync task gets from a child that has succeeded, or its cause. */
extern Jsonb *sf_child_output(const SfExecution *child, const SfResource *resource);
extern char *sf_child_failure(const SfExecution *child);

/* Have the children that a branch (-1: any) waits for stopped. */
extern void sf_child_stop(const SfExecution *parent, int64 branch_no);

#endif							/* SF_RUN_OUTSIDE_H */
