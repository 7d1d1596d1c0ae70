/*
 * dispatch.h
 *		Tasks of the branches of a slice: run in it, announced as long, or handed out.
 */
#ifndef SF_RUN_DISPATCH_H
#define SF_RUN_DISPATCH_H

#include "run/draft/draft.h"
#include "run/slice/slice.h"
#include "run/task/task_runner.h"

struct SfSlice;

extern void sf_dispatch(struct SfSlice *slice, SfDraft *draft, const SfBranch *branch,
						const SfTaskRequest *task, SfStimulus *stimulus);
extern void sf_dispatch_offer(struct SfSlice *slice, const SfDraft *draft,
							  const SfBranch *branch);
extern bool sf_dispatch_run_announced(struct SfSlice *slice, SfDraft *draft,
									  const SfBranch *branch, SfStimulus *stimulus);
extern void sf_dispatch_refuse_condemned(SfBranchKey key);
extern void sf_dispatch_alone(const SfDraft *draft, const SfBranch *branch,
							  bool last_try, SfTaskOutcome *outcome);
extern void sf_dispatch_stimulus(const SfTaskOutcome *outcome,
								 SfStimulus *stimulus);
extern bool sf_dispatch_is_for_us(struct SfSlice *slice, const SfDraft *draft,
								  const SfBranch *branch);

/* What a session may not do while it runs a task. */
extern void sf_dispatch_refuse_in_task(const char *function);
extern bool sf_dispatch_is_in_task_of(int64 execution_no);
extern void sf_dispatch_refuse_own_stop(const SfExecution *execution);

/* --- long_task.c: A long SQL task, in a transaction of its own --- */

extern void sf_long_task_run(SfBranchKey key, int generation, bool last_try,
							 const SfError *error, SfSliceResult *result);

/* --- outside.c: activities and task tokens --- */

extern void sf_outside_queue(SfDraft *draft, const SfBranch *branch,
							 const SfResource *resource,
							 const SfTaskRequest *request, SfStimulus *stimulus);
extern void sf_outside_await_token(SfTask *task, const SfTaskRequest *request);
extern TimestampTz sf_outside_timer(const SfBranch *branch,
									const SfTaskRequest *request);
extern void sf_outside_stimulus(SfDraft *draft, const SfBranch *branch,
								SfStimulus *stimulus);

#endif							/* SF_RUN_DISPATCH_H */
