/*
 * step.c
 *		One transition of a branch: take a stimulus, and call the state's handler.
 *
 * The handlers have one file per state type.  They use what the files below
 * them give: effects and events (step_event.c), the data flow (dataflow.c),
 * and the ways out of a state (step_end.c).
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "transition/state/map_state.h"

/* Append the event of an iteration that begins. */
static void
begin_iteration(SfStep *step)
{
	const SfProgram *program = step->program;
	const SfState *state = step->state;
	int			owner = program->scopes[step->branch->scope].owner_state;

	if (owner == SF_NO_STATE || program->states[owner].type != SF_STATE_MAP)
		return;
	step->state = &program->states[owner];
	sf_step_event(step, SF_HISTORY_EVENT_MAP_ITERATION_STARTED, NULL, NULL);
	step->state = state;
}

/* Is this the first step of its execution? */
static bool
is_first(const SfStep *step)
{
	return step->branch->key.branch_no == SF_BRANCH_ROOT &&
		step->execution_started_at == DT_NOBEGIN;
}

/* Enter the branch's state: its event, and fresh counters. */
static void
enter_state(SfStep *step)
{
	SfBranch   *branch = step->branch;

	if (is_first(step))
		sf_step_begin_execution(step, sf_branch_input(branch));
	else if (sf_branch_has_parent(branch) && branch->entered_at == DT_NOBEGIN)
		begin_iteration(step);

	step->entered_previous = branch->last_event;
	branch->entered_event =
		sf_step_event(step, sf_history_event_type_of_state(step->state->type, SF_MEANS_ENTERED),
					  sf_branch_input(branch), NULL);
	branch->payload_event = sf_step_event_storing(step, sf_branch_input(branch));
	(void) sf_step_effect(step, SF_EFFECT_COUNT_TRANSITION);
	branch->entered_at = step->now;
	/* a redrive has left what the branch was at when it ended */
	sf_step_forget_retries(branch);
	sf_step_forget_attempt(branch);
	branch->phase = SF_PHASE_RUN;
}

/* Count a transition; false with an error when there were too many. */
static bool
count_transition(SfStep *step, SfError *error)
{
	int			max = step->loaded->max_transitions;

	if (max != SF_UNLIMITED && step->branch->transitions >= max)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The execution reached the maximum number of state transitions (%d), sfflow.max_transitions.",
							max);
	step->branch->transitions++;
	return true;
}

/* Do the work of the branch's state. */
static SfStepNext
run_state(SfStep *step)
{
	switch (step->state->type)
	{
		case SF_STATE_PASS:
			return sf_pass_enter(step);
		case SF_STATE_TASK:
			return sf_task_state_enter(step);
		case SF_STATE_CHOICE:
			return sf_choice_enter(step);
		case SF_STATE_WAIT:
			return sf_wait_enter(step);
		case SF_STATE_SUCCEED:
			return sf_succeed_enter(step);
		case SF_STATE_FAIL:
			return sf_fail_enter(step);
		case SF_STATE_PARALLEL:
			return sf_parallel_enter(step);
		case SF_STATE_MAP:
			return sf_state_is_distributed(step->state) ?
				sf_distributed_enter(step) : sf_map_enter(step);
		case SF_STATE_JOBNET:
			return sf_net_enter(step);
	}
	elog(ERROR, "unknown state type %d", (int) step->state->type);
}

/*
 * Handle the stimulus DUE: enter the state, run it again, or continue a Wait state
 * or a join.
 */
static SfStepNext
handle_due(SfStep *step)
{
	SfBranch   *branch = step->branch;
	SfStepNext	next;
	SfError		error;

	switch (branch->phase)
	{
		case SF_PHASE_ENTER:
			if (!sf_net_may_begin(step, &next))
				return next;
			enter_state(step);
			if (!count_transition(step, &error))
				return sf_step_fail(step, &error);
			return run_state(step);
		case SF_PHASE_RUN:
			return run_state(step);
		case SF_PHASE_NET:
			return sf_net_continue(step);
		case SF_PHASE_MAP_WRITE:
			return sf_distributed_write(step);
		case SF_PHASE_WAIT:
			return sf_wait_resume(step);
		case SF_PHASE_JOIN:
			if (step->state->type == SF_STATE_JOBNET)
			{
				branch->due_at = DT_NOEND;
				return SF_STEP_REST;
			}
			return sf_branch_has_map_run(branch) ?
				sf_distributed_continue(step) : sf_map_continue(step);
		case SF_PHASE_ANNOUNCED:
		case SF_PHASE_ANSWERED:
		case SF_PHASE_MAP_ANSWERED:
		case SF_PHASE_EXTERNAL:
		case SF_PHASE_DONE:
		case SF_PHASE_FAILED:
		case SF_PHASE_ABORTED:
		case SF_PHASE_KEPT:
		case SF_PHASE_TIMEOUT:
		case SF_PHASE_STOP:
			break;
	}
	elog(ERROR, "branch " INT64_FORMAT " of execution \"%s\" is due in phase %d",
		 branch->key.branch_no, step->loaded->execution->execution_id,
		 (int) branch->phase);
}

/* Leave a Task state as an operator has said, without its task. */
static SfStepNext
handle_mark(SfStep *step)
{
	const SfMarked *mark = sf_stimulus_marked(step->stimulus);
	SfError		error;

	if (step->branch->phase == SF_PHASE_ENTER)
	{
		enter_state(step);
		if (!count_transition(step, &error))
			return sf_step_fail(step, &error);
	}
	sf_step_event(step, SF_HISTORY_EVENT_TASK_STATE_MARKED, NULL, mark->details);
	switch (mark->kind)
	{
		case SF_MARKED_ERROR:
			error = mark->error;
			return sf_step_fail(step, &error);
		case SF_MARKED_OUTPUT:
			return sf_step_succeed(step, mark->output);
		case SF_MARKED_PASS:
			break;
	}
	step->transition->name = SF_TRANSITION_SKIPPED;
	return sf_step_exit(step, sf_branch_input(step->branch), step->state->next, NULL);
}

/* Fail a state that a feature does not let begin. */
static SfStepNext
handle_throttled(SfStep *step)
{
	SfError		error = *sf_stimulus_error(step->stimulus);

	if (step->branch->phase == SF_PHASE_ENTER)
	{
		SfError		too_many;

		enter_state(step);
		if (!count_transition(step, &too_many))
			return sf_step_fail(step, &too_many);
	}
	return sf_step_fail(step, &error);
}

/* The execution has ended: the branch rests where it is. */
static SfStepNext
end_with_execution(SfBranch *branch)
{
	if (sf_phase_is_of_execution(branch->phase))
		branch->row.gone = true;
	else
		branch->phase = sf_phase_at_end(branch->phase);
	if (branch->phase != SF_PHASE_JOIN)
		sf_join_forget_course(branch);
	branch->due_at = DT_NOEND;
	branch->generation++;
	return SF_STEP_ENDED;
}

/* Nothing has happened: a join waits for its children, a task for its answer. */
static SfStepNext
recheck(SfStep *step)
{
	const SfNotYet *not_yet = sf_stimulus_not_yet(step->stimulus);

	if (not_yet->task != NULL)
		sf_step_effect(step, SF_EFFECT_UPDATE_TASK)->update_task = not_yet->task;
	step->branch->due_at = not_yet->due;
	if (not_yet->aborting)
		sf_join_set_course(step->branch, SF_JOIN_ABORTING);
	return SF_STEP_REST;
}

/* Call the function that handles the stimulus. */
static SfStepNext
handle_stimulus(SfStep *step)
{
	const SfStimulus *stimulus = step->stimulus;

	switch (stimulus->kind)
	{
		case SF_STIMULUS_DUE:
			return handle_due(step);
		case SF_STIMULUS_MARKED:
			return handle_mark(step);
		case SF_STIMULUS_THROTTLED:
			return handle_throttled(step);
		case SF_STIMULUS_TASK:
			sf_step_clear_branch_error(step->branch);
			/* a Distributed Map has tasks, too */
			return step->state->type == SF_STATE_MAP ?
				sf_distributed_resume(step) : sf_task_state_resume(step);
		case SF_STIMULUS_STORED_OUTCOME:
			return sf_task_state_store_outcome(step);
		case SF_STIMULUS_ANNOUNCED:
			return sf_task_state_announced(step);
		case SF_STIMULUS_HANDED_OUT:
			return sf_task_state_handed_out(step);
		case SF_STIMULUS_WAITS:
			return sf_task_state_waits(step);
		case SF_STIMULUS_JOINED:
			return sf_branch_has_map_run(step->branch) ?
				sf_distributed_joined(step) : sf_join_resume(step);
		case SF_STIMULUS_NOT_YET:
			return recheck(step);
		case SF_STIMULUS_ABORTED:
			return sf_step_abort(step);
		case SF_STIMULUS_CONDEMNED:
			/* its history begins all the same, and it is counted */
			if (is_first(step))
				sf_step_begin_execution(step, sf_branch_input(step->branch));
			return sf_step_fail_branch(step, sf_stimulus_error(stimulus));
		case SF_STIMULUS_OVER:
			return end_with_execution(step->branch);
		case SF_STIMULUS_REDRIVEN:
			return sf_step_redrive(step);
		case SF_STIMULUS_STOPPED:
		case SF_STIMULUS_ORPHANED:
		case SF_STIMULUS_TIMED_OUT:
			return sf_step_stop(step);
	}
	elog(ERROR, "unknown stimulus %d", (int) stimulus->kind);
}

/*
 * Fill in a step without doing anything yet; the transition's branch is its
 * new value from here on.
 */
static void
step_init(SfStep *step, const SfLoaded *loaded, const SfStimulus *stimulus,
		  TimestampTz now, SfTransition *transition)
{
	SfBranch   *branch = &transition->branch;

	memset(step, 0, sizeof(*step));
	step->loaded = loaded;
	step->program = loaded->program;
	step->transition = transition;
	step->branch = branch;
	step->stimulus = stimulus;
	step->now = now;
	step->execution_started_at = loaded->execution->started_at;
	step->nevents = loaded->nevents;
	step->map_index = SF_NO_MAP_INDEX;
	step->entered_previous = SF_CHAIN;
	if (sf_phase_is_of_execution(branch->phase))
		return;					/* it is in no state */
	if (!sf_program_has_state(loaded->program, branch->state))
		elog(ERROR, "branch " INT64_FORMAT " of execution \"%s\" is in state %d, which its machine does not have",
			 branch->key.branch_no, loaded->execution->execution_id, branch->state);
	step->state = &loaded->program->states[branch->state];
	step->env.input = sf_branch_input(branch);
	step->env.variables = branch->variables;
	step->env.make_context = sf_context_make;
	step->env.context_arg = step;
}

/* A transition that is not void has to leave a branch in a phase that may follow, or without its row. */
static bool
is_in_order(const SfBranch *before, const SfTransition *transition)
{
	return transition->needs != 0 || transition->branch.row.gone ||
		sf_phase_may_follow(before->phase, transition->branch.phase);
}

/* Forget what a branch has in one phase alone, and has left: constraints of the table say the same of its row. */
static void
forget_left_phase(SfBranch *branch)
{
	if (branch->phase != SF_PHASE_ANNOUNCED)
		branch->task_payload = NULL;
	if (!sf_branch_has_outcome(branch))
	{
		branch->outcome = NULL;
		branch->outcome_failed = false;
		branch->sqlstate = NULL;
	}
}

/* The word of sf_step for a transition; NULL: it has no name. */
const char *
sf_transition_name(SfTransitionName name)
{
#define TRANSITION_WORD(sym, word) [SF_TRANSITION_##sym] = word,
	static const char *const words[] = {SF_TRANSITION_NAME_LIST(TRANSITION_WORD)};

	return words[name];
}

/*
 * Compute the transition that a stimulus causes.  If *t holds an earlier transition,
 * its array of effects is reused.
 */
void
sf_transition(const SfLoaded *loaded, const SfBranch *branch,
			  const SfStimulus *stimulus, TimestampTz now, SfTransition *transition)
{
	SfStep		step;

	transition->needs = 0;
	transition->task = NULL;
	transition->name = SF_TRANSITION_UNNAMED;
	transition->neffects = 0;
	transition->branch = *branch;
	transition->branch.place = SF_BRANCH_PLACE_NONE;
	if (sf_stimulus_is_of_join(stimulus) && stimulus->kind != SF_STIMULUS_REDRIVEN)
		sf_branch_set_children_left(&transition->branch, sf_stimulus_children_left(stimulus));
	if (stimulus->begins_generation)
		transition->branch.generation++;
	step_init(&step, loaded, stimulus, now, transition);
	transition->next = handle_stimulus(&step);
	forget_left_phase(&transition->branch);
	Assert(is_in_order(branch, transition));
	if (SF_DEBUG_POINTS_ARE_ON && !is_in_order(branch, transition))
		elog(ERROR, "branch " INT64_FORMAT " of execution \"%s\" goes from phase %d to phase %d, which does not follow",
			 branch->key.branch_no, loaded->execution->execution_id, (int) branch->phase,
			 (int) transition->branch.phase);
}

/* What a transition of a branch needs, as far as its program tells. */
uint32
sf_transition_needs(const SfProgram *program, const SfBranch *branch,
					const SfStimulus *stimulus)
{
	const SfState *state = &program->states[branch->state];

	switch (stimulus->kind)
	{
		case SF_STIMULUS_DUE:
			if (SF_IS_ONE_OF(branch->phase, SF_PHASE_ENTER, SF_PHASE_RUN, SF_PHASE_MAP_WRITE))
				return state->needs.enter;
			return branch->phase == SF_PHASE_JOIN ? state->needs.proceed : state->needs.leave;
		case SF_STIMULUS_MARKED:
		case SF_STIMULUS_THROTTLED:
			return (state->needs.enter | state->needs.leave) & ~SF_NEED_TOKEN;
		case SF_STIMULUS_TASK:
		case SF_STIMULUS_JOINED:
			return state->needs.leave;
		case SF_STIMULUS_STOPPED:
		case SF_STIMULUS_ORPHANED:
		case SF_STIMULUS_TIMED_OUT:
		case SF_STIMULUS_STORED_OUTCOME:
		case SF_STIMULUS_ANNOUNCED:
		case SF_STIMULUS_HANDED_OUT:
		case SF_STIMULUS_WAITS:
		case SF_STIMULUS_NOT_YET:
		case SF_STIMULUS_ABORTED:
		case SF_STIMULUS_CONDEMNED:
		case SF_STIMULUS_OVER:
		case SF_STIMULUS_REDRIVEN:
			return 0;
	}
	return 0;
}
