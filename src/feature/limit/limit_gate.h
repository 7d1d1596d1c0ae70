/*
 * limit_gate.h
 *		Which limits apply to a step, and whether they let it begin.
 */
#ifndef SF_FEATURE_LIMIT_GATE_H
#define SF_FEATURE_LIMIT_GATE_H

#include "feature/limit/limit.h"
#include "run/gate/gate.h"

/* --- limit_find.c --- */

/* A limit that applies to a step */
typedef struct SfStepLimit
{
	SfLimit		limit;
	SfQueue		queue;
	SfBranchKey join;			/* for which the slot is, around the step: it goes on without one.  No execution: the
								 * slot is for the step itself */
} SfStepLimit;

/* Is the slot that a step is to take for a join around it? */
static inline bool
sf_limit_is_for_join(const SfStepLimit *wanted)
{
	return wanted->join.execution_no != SF_NO_EXECUTION;
}

extern bool sf_limit_find_queue(const SfLimit *limit, const SfDraft *draft, const SfBranch *branch,
								SfQueue *queue);
extern bool sf_limit_is_of_task(const SfLimit *limit, Oid owner, const SfState *state);
extern List *sf_limit_find_all(const SfDraft *draft, const SfBranch *branch, bool *busy);
extern List *sf_limit_list_queues(const SfDraft *draft, const SfBranch *branch);

/* --- limit_gate.c --- */

/* What the steps of a draft have taken of limits (SfDraft.taken, which is NULL before the first one has) */
typedef struct SfLimitTaken
{
	List	   *drawn;			/* SfStepLimit: of these the step has drawn tokens */
} SfLimitTaken;

extern SfGateVerdict sf_limit_admit(SfDraft *draft, SfBranch *branch, SfError *error);
extern bool sf_limit_shares(const SfExecution *execution, SfQueue queue);
extern void sf_limit_return_tokens(SfDraft *draft);
extern void sf_limit_store_slots(void);
extern void sf_limit_beginning(const SfExecution *execution, SfBranch *root);
extern bool sf_limit_take_first(SfQueue queue, const SfQueuedBranch *first);

/* --- limit_count.c --- */

extern void sf_limit_set(const SfLimit *limit);
extern SfTick sf_limit_count_uncounted(void);
extern void sf_limit_states_changed(SfDraft *draft);
extern void sf_limit_uses_changed(int machine_no, Oid owner);
extern void sf_limit_count_arrived(void);
extern void sf_limit_set_defined(int machine_no, const char *machine, const SfProgram *program);

#endif							/* SF_FEATURE_LIMIT_GATE_H */
