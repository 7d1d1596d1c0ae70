/*
 * dispatch.h
 *		Tasks of the branches of a slice: run in it, announced as long, or handed out.
 */
#ifndef SF_RUN_TASK_DISPATCH_H
#define SF_RUN_TASK_DISPATCH_H

#include "run/apply/apply.h"
#include "run/task/driver.h"

struct SfSlice;

extern void sf_dispatch(struct SfSlice *slice, SfDraft *draft, const SfBranch *branch,
						const SfTaskRequest *task, SfStimulus *stimulus);
extern void sf_dispatch_offer(struct SfSlice *slice, const SfDraft *draft,
							  const SfBranch *branch);
extern bool sf_dispatch_announced(struct SfSlice *slice, SfDraft *draft,
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

#endif							/* SF_RUN_TASK_DISPATCH_H */
