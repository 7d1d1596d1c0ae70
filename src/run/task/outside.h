/*
 * outside.h
 *		Tasks that programs outside the database answer: activities, task
 *		tokens, child executions.
 */
#ifndef SF_RUN_OUTSIDE_H
#define SF_RUN_OUTSIDE_H

#include "run/apply/apply.h"

extern SfTask *sf_outside_make_task(const SfBranch *branch);
extern void sf_outside_queue(SfDraft *draft, const SfBranch *branch,
							 const SfResource *resource,
							 const SfTaskRequest *request, SfStimulus *stimulus);
extern void sf_outside_await_token(SfTask *task, const SfTaskRequest *request);
extern TimestampTz sf_outside_timer(const SfBranch *branch,
									const SfTaskRequest *request);
extern void sf_outside_stimulus(SfDraft *draft, const SfBranch *branch,
								SfStimulus *stimulus);

/* --- child_execution.c: child executions --- */

extern bool sf_child_start(const SfDraft *draft, const SfBranch *branch, int generation,
						   const SfResource *resource, Jsonb *payload,
						   Jsonb **output, SfError *error);

/* What a .sync task gets from a child that has succeeded, or its cause. */
extern Jsonb *sf_child_output(const SfExecution *child, const SfResource *resource);
extern char *sf_child_failure(const SfExecution *child);

extern void sf_child_stop(const SfExecution *parent, int64 branch_no);

#endif							/* SF_RUN_OUTSIDE_H */
