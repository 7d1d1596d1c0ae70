/*
 * outside.h
 *		Tasks that programs outside the database answer: activities and task
 *		tokens.
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

#endif							/* SF_RUN_OUTSIDE_H */
