/*
 * gate.c
 *		Whether a step may begin, or waits for the end of a hold; and what becomes of a
 *		job that an operator has settled.
 *
 * A branch that waits is not due, and costs no queries.  Its row and the note in the
 * table held commit together.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/timing.h"
#include "report/label.h"
#include "run/gate.h"
#include "store/hold.h"
#include "store/mark.h"

/* Have a branch wait for the end of a hold, if there is one. */
static SfGate
check_holds(SfDraft *draft, SfBranch *branch)
{
	int64		hold_no;
	int64		shared = 0;

	for (;;)
	{
		hold_no = sf_gate_find_hold(draft, branch);
		if (hold_no == 0)
			return SF_GATE_OPEN;
		if (hold_no == shared)
			break;
		if (!sf_hold_share(hold_no))
		{
			branch->due_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
														 SF_RELEASE_LOOK_MS);
			sf_draft_add_branch(draft, branch);
			return SF_GATE_LATER;
		}
		/* it may have been released before: look once more if something has changed */
		if (sf_hold_is_current)
			break;
		shared = hold_no;
	}
	branch->due_at = DT_NOEND;
	sf_draft_add_branch(draft, branch);
	sf_hold_park(branch->key, hold_no);
	return SF_GATE_HELD;
}

/*
 * Tell whether a branch that is about to begin a step may do so.  If not, it is changed
 * to wait, and the caller has it written; or a limit has its state fail, with *error.
 */
SfGate
sf_gate_check(SfDraft *draft, SfBranch *branch, SfError *error)
{
	SfGate		gate = sf_hold_may_be() ? check_holds(draft, branch) : SF_GATE_OPEN;

	if (gate != SF_GATE_OPEN || !sf_limit_may_be())
		return gate;
	return sf_gate_check_limits(draft, branch, error);
}

/*
 * Tell whether an operator has settled the job that a branch is about to begin; then make
 * the stimulus of it.  Called after sf_gate_check, which has taken in what changed.
 */
bool
sf_gate_takes_mark(const SfDraft *draft, const SfBranch *branch, SfStimulus *stimulus)
{
	const SfState *state = &draft->program->states[branch->state];
	SfMark		mark;

	if (!sf_mark_may_be() || state->type != SF_STATE_TASK ||
		!sf_mark_take(branch->key.execution_no,
					  sf_label_job(draft->program, branch->state, branch->iterations,
								   branch->niterations), &mark))
		return false;
	memset(stimulus, 0, sizeof(*stimulus));
	stimulus->kind = SF_STIMULUS_MARKED;
	stimulus->ok = mark.outcome != SF_MARK_FAILURE;
	stimulus->output = mark.output;
	stimulus->details = mark.details;
	stimulus->error = sf_error_make("Sfflow.Marked", sf_json_get_cstring(mark.details, "reason"));
	return true;
}

/*
 * Have an execution that a schedule has started in this transaction wait, if the schedule
 * is held.
 */
void
sf_gate_park_start(const char *schedule, const char *execution_id)
{
	const SfHold *hold = sf_hold_of(SF_HOLD_SCHEDULE, schedule);
	int64		hold_no = hold == NULL ? 0 : hold->hold_no;
	SfExecution *execution;
	SfBranch   *root;

	if (hold_no == 0 || !sf_hold_share(hold_no))
		return;
	hold = sf_hold_of(SF_HOLD_SCHEDULE, schedule);
	if (hold == NULL || hold->hold_no != hold_no)
		return;
	execution = sf_execution_find(execution_id, SF_LOCK_NONE);
	if (execution == NULL || execution->status != SF_STATUS_RUNNING ||
		execution->started_at != DT_NOBEGIN)
		return;
	root = sf_branch_read((SfBranchKey) {execution->execution_no, SF_BRANCH_ROOT}, SF_LOCK_SKIP);
	if (root == NULL || root->phase != SF_PHASE_ENTER || root->due_at == DT_NOEND)
		return;
	root->due_at = DT_NOEND;
	sf_apply_branch(root);
	sf_hold_park(root->key, hold_no);
}
