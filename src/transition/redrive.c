/*
 * redrive.c
 *		A redrive: which branches run again, and from where (3.3 of the design).
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "transition/state/join.h"

/* Put a branch without children back to work. */
static void
redrive_alone(SfStep *step)
{
	SfBranch   *branch = step->branch;
	Jsonb	   *input = sf_stimulus_redriven(step->stimulus)->input;

	sf_branch_wait_for_none(branch);
	if (input != NULL)
	{
		/* a Fail state would only fail again; what led there may not */
		branch->state = step->program->scopes[branch->scope].start;
		sf_branch_carry(branch, input, SF_NO_EVENT);
	}
	/* an outcome that was committed while it was stopped stays, a failure does not */
	if (sf_branch_has_outcome(branch) && !sf_branch_outcome_failed(branch) && !SF_DEBUG_MUTATION("redrive"))
		branch->phase = sf_branch_answered_phase(branch);
	else
	{
		branch->phase = SF_PHASE_ENTER;
		sf_step_clear_branch_error(branch);
		sf_step_forget_map_run(branch);
	}
	branch->due_at = step->now;
}

/* Make a Parallel, Map or JobNet state wait for its children again; its retries are all to come. */
static void
redrive_join(SfStep *step)
{
	SfBranch   *join = step->branch;

	join->phase = SF_PHASE_JOIN;
	sf_branch_set_children_left(join, sf_stimulus_children_left(step->stimulus));
	sf_step_forget_retries(join);
	sf_step_clear_branch_error(join);
	join->due_at = sf_join_is_ready(join, step->state) ?
		step->now : DT_NOEND;
}

/* Have the branch run again, unless what it is at has succeeded: redrive.c. */
SfStepNext
sf_step_redrive(SfStep *step)
{
	step->branch->transitions = 0;
	step->branch->generation++;
	if (sf_stimulus_is_of_join(step->stimulus))
		redrive_join(step);
	else
		redrive_alone(step);
	return SF_STEP_REST;
}
