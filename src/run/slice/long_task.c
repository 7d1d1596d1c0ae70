/*
 * long_task.c
 *		A long SQL task in a transaction of its own: T2, the second of three
 *		commits (README.md).
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/hooks.h"
#include "base/time/timing.h"
#include "run/apply/apply.h"
#include "run/apply/draft_advance.h"
#include "run/gate/gate.h"
#include "run/slice/dispatch.h"
#include "run/slice/slice_run.h"
#include "store/task/task.h"

/*
 * The row of a task that is answered by its token, where the outcome is only
 * that of its request; NULL: the outcome is the task's.
 */
static SfTask *
submitted_task(const SfState *state, const SfBranch *branch,
			   const SfTaskOutcome *outcome)
{
	SfTask	   *task = outcome->ok && sf_state_awaits_token(state) ?
		sf_task_read(branch->key, SF_LOCK_WAIT) : NULL;

	if (task == NULL || task->generation != branch->generation ||
		task->status != SF_TASK_STATUS_TOKEN)
		return NULL;
	task->submitted = outcome->output ? outcome->output : sf_json_null();
	return task;
}

/* Put the outcome of a long task into its branch's row, and nothing else. */
static void
store_outcome(SfDraft *draft, SfBranch *branch, const SfTaskOutcome *outcome)
{
	SfStimulus	stimulus;

	sf_dispatch_stimulus(outcome, &stimulus);
	stimulus.kind = SF_STIMULUS_STORED_OUTCOME;
	stimulus.outcome.task = submitted_task(&draft->program->states[branch->state], branch, outcome);
	(void) sf_draft_advance(draft, branch, &stimulus);
	if (!SF_DEBUG_MUTATION("T2_commit"))
		sf_apply_branch(branch);
}

/* Run the task of a branch that is claimed, if it still may run; error, last_try, result: as in sf_long_task_run. */
static void
run_claimed(SfExecution *execution, SfBranch *branch, bool last_try, const SfError *error, SfSliceResult *result)
{
	SfDraft	   *draft = sf_draft_make(execution);
	SfTaskOutcome outcome;
	SfError		throttled = sf_error_make(NULL, NULL);
	SfGateVerdict gate = SF_GATE_OPEN;

	sf_draft_give_to_worker(draft, SF_ROW_LOCK_MS);
	/* the slice that claims it next ends it */
	if (sf_draft_is_orphan(draft, branch) || sf_draft_is_aborted(draft, branch))
		return;
	if (error == NULL && !sf_gate_lets_pass(gate = sf_gate_admit(draft, branch, &throttled)))
	{
		sf_drafts_write(list_make1(draft));
		result->left_unrun = true;
		return;
	}
	memset(&outcome, 0, sizeof(outcome));
	if (error != NULL)
		outcome.error = *error;
	else if (gate == SF_GATE_THROTTLED)
		outcome.error = throttled;
	else
	{
		sf_dispatch_refuse_condemned(branch->key);
		sf_dispatch_alone(draft, branch, last_try, &outcome);
	}
	store_outcome(draft, branch, &outcome);
	result->end = SF_SLICE_END_WORKED;
}

/*
 * Run an announced task and keep its outcome in the branch's row.  If error is not NULL, an
 * earlier commit of the task raised it: do not run the task, keep that error.
 */
void
sf_long_task_run(SfBranchKey key, int generation, bool last_try,
				 const SfError *error, SfSliceResult *result)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "sfflow long task",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SfExecution *execution;
	SfBranch   *branch;

	memset(result, 0, sizeof(*result));
	sf_claim_forget();
	SF_DEBUG_POINT("T2_claim");
	PushActiveSnapshot(GetTransactionSnapshot());
	/* before the look at the status: a stop either shows there or cancels */
	sf_hooks.task_begins(key, InvalidOid, "");
	branch = sf_branch_claim(key, SF_DEBUG_MUTATION("T2_claim") ? SF_LOCK_NONE : SF_LOCK_SKIP,
							 DT_NOEND, SF_CLAIM_DUE_ALONE);
	/* after the claim, which keeps the execution from migrating to another version */
	execution = sf_execution_read(key.execution_no, SF_LOCK_NONE, false);
	if (execution != NULL && branch != NULL &&
		branch->phase == SF_PHASE_ANNOUNCED &&
		(branch->generation == generation || SF_DEBUG_MUTATION("T2_generation")) &&
		execution->status == SF_STATUS_RUNNING)
	{
		sf_claim_remember(key);
		run_claimed(execution, branch, last_try, error, result);
	}
	SF_DEBUG_POINT("T2_commit");
	PopActiveSnapshot();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
