/*
 * step_end.c
 *		The ways out of a state: next state, retry, catch; and how a branch ends.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "transition/state/map_state.h"

/* Forget the error of a branch, of its task or of its children. */
void
sf_step_clear_branch_error(SfBranch *branch)
{
	branch->error = branch->cause = branch->sqlstate = NULL;
	branch->outcome_failed = false;
	sf_join_forget_course(branch);
	branch->failed_event = SF_NO_EVENT;
}

/* End a branch in a phase, for good unless a redrive goes on from it: it is no join any more. */
static void
end_in(SfBranch *branch, SfPhase phase)
{
	branch->phase = phase;
	sf_join_forget_course(branch);
	branch->due_at = DT_NOEND;
}

/* Forget the run of a Distributed Map: if the state begins again, it begins another one. */
void
sf_step_forget_map_run(SfBranch *branch)
{
	branch->map_run_no = SF_NO_MAP_RUN;
	branch->items_unread = false;
}

/* Forget what the present attempt at a state came to, if it is over: a new one begins without all this. */
void
sf_step_forget_attempt(SfBranch *branch)
{
	branch->join_input = NULL;
	sf_step_clear_branch_error(branch);
	sf_branch_wait_for_none(branch);
	branch->total = branch->next_index = 0;
	sf_step_forget_map_run(branch);
	branch->njob_ends = 0;
	branch->started_at = DT_NOBEGIN;
	branch->deadline = DT_NOEND;
}

/* Forget which attempts were made: all retries of the state are to come. */
void
sf_step_forget_retries(SfBranch *branch)
{
	branch->attempt = 0;
	branch->nretry_counts = 0;
	branch->retry_counts = NULL;
}

/* --- the error in a branch's row --- */

/* The error with which a branch, its task or its children failed. */
SfError
sf_step_branch_error(const SfBranch *branch)
{
	SfError		error = sf_error_make(branch->error, branch->cause);

	error.sqlstate = branch->sqlstate;
	return error;
}

/* Put an error, its own or that of its task or of its children, into a branch. */
void
sf_step_set_branch_error(SfBranch *branch, const SfError *error)
{
	branch->error = error->name ? pstrdup(error->name) : NULL;
	branch->cause = error->cause ? pstrdup(error->cause) : NULL;
}

/* --- the end of a branch --- */

/* Tell the parent that a branch has ended. */
static SfParentDelta *
count_end(SfStep *step)
{
	SfParentDelta *delta = palloc0(sizeof(SfParentDelta));

	delta->branch_no = step->branch->parent_no;
	delta->ended = 1;
	delta->index = step->branch->branch_index;
	delta->end = SF_NET_JOB_END_SUCCESS;
	delta->transitions = step->branch->transitions;
	sf_step_effect(step, SF_EFFECT_COUNT_END)->count_end = delta;
	return delta;
}

/* End the execution, in a state of its root branch (SF_NO_STATE: not known). */
static SfStepNext
end_execution(SfStep *step, SfStatus status, int state, Jsonb *output,
			  const SfError *error)
{
	SfExecutionEnd *end = palloc0(sizeof(SfExecutionEnd));

	end->status = status;
	end->state = state;
	end->output = output;
	end->error = *error;
	end->map_run_knows = sf_stimulus_is_known_to_map_run(step->stimulus);
	sf_step_effect(step, SF_EFFECT_END_EXECUTION)->end_execution = end;
	return SF_STEP_ENDED;
}

/* End the execution: it is stopped, timed out, or its Distributed Map is over. */
SfStepNext
sf_step_stop(SfStep *step)
{
	const SfStopped *stopped = sf_stimulus_stopped(step->stimulus);
	SfError		error = stopped->error;
	bool		timed_out = step->stimulus->kind == SF_STIMULUS_TIMED_OUT;

	step->branch->row.gone = true;
	if (step->stimulus->kind == SF_STIMULUS_STOPPED &&
		step->execution_started_at == DT_NOBEGIN)
	{
		/* it ends before a worker took it: its history begins all the same */
		sf_step_begin_execution(step, stopped->input);
	}
	step->state = NULL;
	if (timed_out)
		error.name = SF_ERR_TIMEOUT;
	sf_step_side_event(step, timed_out ? SF_HISTORY_EVENT_EXECUTION_TIMED_OUT :
					   SF_HISTORY_EVENT_EXECUTION_ABORTED, NULL,
					   sf_history_event_type_failure(error.name, error.cause), stopped->after_event);
	/* the status tells: only the event of a timeout has an error */
	return end_execution(step, timed_out ? SF_STATUS_TIMED_OUT : SF_STATUS_ABORTED,
						 stopped->state, NULL, &stopped->error);
}

/*
 * The Parallel, Map or JobNet state that a branch is part of; NULL for the root, also
 * for that of an item execution, which is an execution of its own.
 */
static const SfState *
owner_state(const SfStep *step)
{
	int			owner = step->program->scopes[step->branch->scope].owner_state;

	if (step->branch->key.branch_no == SF_BRANCH_ROOT)
		return NULL;
	return owner == SF_NO_STATE ? NULL : &step->program->states[owner];
}

/* End the branch with an output. */
static SfStepNext
end_branch(SfStep *step, Jsonb *output)
{
	SfBranch   *branch = step->branch;
	const SfState *owner = owner_state(step);

	branch->due_at = DT_NOEND;
	if (owner == NULL)
	{
		SfError		none = sf_error_make(NULL, NULL);

		step->state = NULL;
		sf_step_event(step, SF_HISTORY_EVENT_EXECUTION_SUCCEEDED, output, NULL);
		branch->row.gone = true;
		return end_execution(step, SF_STATUS_SUCCEEDED, branch->state, output, &none);
	}

	branch->last_inner_event = branch->last_event;
	if (owner->type == SF_STATE_MAP)
	{
		step->state = owner;
		sf_step_event(step, SF_HISTORY_EVENT_MAP_ITERATION_SUCCEEDED, NULL, NULL);
	}
	branch->phase = SF_PHASE_DONE;
	branch->item = NULL;
	(void) count_end(step);
	return SF_STEP_ENDED;
}

/* End a job that is not to run; it needs no row. */
SfStepNext
sf_step_skip_net_job(SfStep *step)
{
	SfBranch   *branch = step->branch;

	branch->due_at = DT_NOEND;
	branch->phase = SF_PHASE_DONE;
	branch->row.gone = true;
	count_end(step)->end = SF_NET_JOB_END_SKIP;
	step->transition->name = SF_TRANSITION_SKIPPED;
	return SF_STEP_ENDED;
}

/* True where a join above the branch waits for siblings of a failed one. */
static bool
inside_drain(const SfStep *step)
{
	int			scope = step->branch->scope;

	for (;;)
	{
		int			owner = step->program->scopes[scope].owner_state;

		if (owner == SF_NO_STATE || sf_state_is_distributed(&step->program->states[owner]))
			return false;
		if (step->program->states[owner].failure_mode == SF_FAILURE_DRAIN)
			return true;
		scope = step->program->states[owner].scope;
	}
}

/* Show an error in the inspection of a test. */
static void
show_error(SfStep *step, const SfError *error)
{
	if (step->loaded->inspection == NULL)
		return;
	step->loaded->inspection->failed = true;
	step->loaded->inspection->error = *error;
}

/* Tell of the iteration that the branch is: its events name the Map. */
static void
iteration_event(SfStep *step, const SfState *map, SfHistoryEventType type, int cause)
{
	const SfState *state = step->state;

	step->state = map;
	sf_step_side_event(step, type, NULL, NULL, cause);
	step->state = state;
}

/* End the branch with an error. */
SfStepNext
sf_step_fail_branch(SfStep *step, const SfError *error)
{
	SfBranch   *branch = step->branch;
	const SfState *owner = owner_state(step);
	bool		uncatchable = sf_error_is(error, SF_ERR_RUNTIME);
	int			failed_event = branch->last_event;
	SfParentDelta *delta;

	show_error(step, error);
	end_in(branch, SF_PHASE_FAILED);
	sf_step_set_branch_error(branch, error);
	if (owner == NULL || (uncatchable && !inside_drain(step)))
	{
		step->state = NULL;
		sf_step_event(step, SF_HISTORY_EVENT_EXECUTION_FAILED, NULL,
					  sf_history_event_type_failure(error->name, error->cause));
		return end_execution(step, SF_STATUS_FAILED,
							 branch->key.branch_no == SF_BRANCH_ROOT ? branch->state : SF_NO_STATE,
							 NULL, error);
	}

	if (owner->type == SF_STATE_MAP && !uncatchable)
		iteration_event(step, owner, SF_HISTORY_EVENT_MAP_ITERATION_FAILED, failed_event);
	/* the task counts as aborted as those of the siblings do */
	if (!uncatchable && owner->failure_mode == SF_FAILURE_ABORT &&
		step->state->type == SF_STATE_TASK && branch->started_at != DT_NOBEGIN)
		sf_step_side_event(step, SF_HISTORY_EVENT_TASK_STATE_ABORTED, NULL, NULL,
						   failed_event);
	delta = count_end(step);
	delta->end = SF_NET_JOB_END_FAILURE;
	delta->failed_event = failed_event;
	delta->error = *error;
	return SF_STEP_ENDED;
}

/* --- leaving a state --- */

/* {"assignedVariables": …, "assignedVariablesDetails": …}, NULL for none. */
static Jsonb *
assigned_extra(Jsonb *assigned)
{
	SfJsonBuilder json;

	if (assigned == NULL || JB_ROOT_COUNT(assigned) == 0)
		return NULL;
	sf_json_begin_object(&json);
	sf_json_add(&json, "assignedVariables", assigned);
	sf_json_open_object(&json, "assignedVariablesDetails");
	sf_json_add_bool(&json, "truncated", false);
	sf_json_close_object(&json);
	return sf_json_end(&json);
}

/*
 * Leave the state with an output: append StateExited, then put the branch into the
 * state next, in phase ENTER; SF_NO_STATE ends the branch.
 */
SfStepNext
sf_step_exit(SfStep *step, Jsonb *output, int next, Jsonb *assigned)
{
	SfBranch   *branch = step->branch;

	sf_step_event(step, sf_history_event_type_of_state(step->state->type, SF_MEANS_EXITED),
				  output, assigned_extra(assigned));
	sf_branch_carry(branch, output, sf_step_event_storing(step, output));
	branch->max_concurrency = SF_UNLIMITED;
	sf_step_forget_retries(branch);
	sf_step_forget_attempt(branch);

	if (next == SF_NO_STATE)
		return end_branch(step, output);
	branch->state = next;
	branch->phase = SF_PHASE_ENTER;
	branch->due_at = step->now;
	return SF_STEP_GO_ON;
}

/* Leave the state with a result: its output, Assign, then as sf_step_exit(). */
SfStepNext
sf_step_succeed(SfStep *step, Jsonb *result)
{
	const SfState *state = step->state;
	Jsonb	   *output,
			   *assigned;
	SfError		error;

	if (!sf_flow_output(step, result, &output, &error) ||
		!sf_flow_assign(step, state->assign, "Assign", &assigned, &error))
		return sf_step_fail(step, &error);
	step->transition->name = SF_TRANSITION_SUCCEEDED;
	return sf_step_exit(step, output, state->next, assigned);
}

/* --- the failure of a state --- */

/* Append EvaluationFailed for a failed JSONata expression. */
static void
evaluation_failed(SfStep *step, const SfError *error)
{
	SfJsonBuilder json;
	int			previous = SF_CHAIN;
	int			id;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "error", error->name);
	sf_json_add_string(&json, "cause", error->cause);
	sf_json_add_string(&json, "location", error->location);
	sf_json_add_string(&json, "state", step->state->name);

	/* a sibling of the event that entered the state, but for Wait */
	if (step->state->type != SF_STATE_WAIT &&
		step->branch->last_event == step->branch->entered_event)
		previous = step->entered_previous;
	id = sf_step_side_event(step, SF_HISTORY_EVENT_EVALUATION_FAILED, NULL,
							sf_json_end(&json), previous);
	if (id != SF_NO_EVENT)
		step->branch->last_event = id;
}

/*
 * Make the error output that a catcher gets: {"Error": …, "Cause": …}.  What has timed out
 * has an empty cause there, although its event has none.
 */
static Jsonb *
error_output(const SfError *error)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	if (error->name != NULL)
		sf_json_add_string(&json, "Error", error->name);
	else
		sf_json_add_null(&json, "Error");
	if (error->cause != NULL || sf_error_is(error, SF_ERR_TIMEOUT))
		sf_json_add_string(&json, "Cause", error->cause != NULL ? error->cause : "");
	else
		sf_json_add_null(&json, "Cause");
	return sf_json_end(&json);
}

/* Leave the state through a catcher. */
static SfStepNext
catch_error(SfStep *step, const SfCatcher *catcher, const SfError *error)
{
	int			number = catcher - step->state->catchers;
	Jsonb	   *caught = error_output(error);
	Jsonb	   *output = caught;
	Jsonb	   *assigned = NULL;
	SfError		nested;
	bool		ok = true;

	(void) sf_step_effect(step, SF_EFFECT_DROP_CHILDREN);
	step->env.input = sf_branch_input(step->branch);
	step->env.error_output = caught;
	if (step->state->language == SF_QL_JSONATA)
	{
		if (catcher->output != NULL)
			ok = sf_template_eval(catcher->output, &step->env,
								  psprintf("Catch[%d]/Output", number),
								  &output, &nested);
	}
	else
	{
		if (catcher->result_path.kind == SF_FIELD_NULL)
			output = sf_branch_input(step->branch);
		else if (catcher->result_path.kind == SF_FIELD_PATH)
			ok = sf_expr_set(catcher->result_path.expr, sf_branch_input(step->branch),
							 caught, &output, &nested);
		step->env.input = caught;
	}
	if (ok)
		ok = sf_flow_check_size(step, output, &nested);
	if (ok)
		ok = sf_flow_assign(step, catcher->assign,
							psprintf("Catch[%d]/Assign", number), &assigned, &nested);
	if (!ok)
	{
		sf_step_prefix(step, &nested);
		if (sf_error_is(&nested, SF_ERR_QUERY_EVALUATION_ERROR))
			evaluation_failed(step, &nested);
		return sf_step_fail_branch(step, &nested);
	}
	step->transition->name = SF_TRANSITION_CAUGHT;
	return sf_step_exit(step, output, catcher->next, assigned);
}

/* Retry the state after a delay (microseconds). */
static SfStepNext
retry(SfStep *step, const SfError *error, int64 delay)
{
	SfBranch   *branch = step->branch;

	(void) sf_step_effect(step, SF_EFFECT_DROP_CHILDREN);
	sf_step_effect(step, SF_EFFECT_COUNT_RETRY)->count_retry = error->name;
	step->transition->name = SF_TRANSITION_RETRIED;
	branch->attempt++;
	branch->phase = SF_PHASE_RUN;
	branch->due_at = step->now + delay;
	sf_step_forget_attempt(branch);
	return delay == 0 ? SF_STEP_GO_ON : SF_STEP_REST;
}

/*
 * Fail the state with an error: retry it, or leave it through a catcher, or fail the
 * branch.  States.Runtime always fails the branch.  Append EvaluationFailed for an
 * expression of this state, and the Failed event of a Parallel or Map state that is
 * not retried.  error->cause gets the prefix that names the state (sf_step_prefix).
 */
SfStepNext
sf_step_fail(SfStep *step, SfError *error)
{
	SfInspection *inspection = step->loaded->inspection;
	const SfCatcher *catcher;
	bool		of_evaluation = error->needs_prefix;
	SfHistoryEventType failed;	/* of a Parallel or Map state */
	int64		delay;
	int			retrier;

	sf_step_prefix(step, error);
	show_error(step, error);
	step->env.error_output = NULL;
	step->transition->name = SF_TRANSITION_FAILED;
	if (sf_error_is(error, SF_ERR_RUNTIME))
		return sf_step_fail_branch(step, error);
	/* an error of a child branch or of a task gets no EvaluationFailed here */
	if (of_evaluation && sf_error_is(error, SF_ERR_QUERY_EVALUATION_ERROR))
		evaluation_failed(step, error);

	/* what an operator has marked is not tried again */
	retrier = SF_NO_RETRIER;
	delay = step->stimulus->kind == SF_STIMULUS_MARKED ? SF_NO_RETRY :
		sf_retry_next(step->state, step->branch, error, step->loaded->random, &retrier);
	if (inspection != NULL)
	{
		inspection->retrier = retrier;
		inspection->delay_us = delay;
	}
	if (delay != SF_NO_RETRY)
		return retry(step, error, delay);

	failed = sf_history_event_type_of_state(step->state->type, SF_MEANS_FAILED);
	if (failed != SF_HISTORY_EVENT_TYPE_COUNT)
		sf_step_event(step, failed, NULL, NULL);
	catcher = sf_catch_find(step->state, error);
	if (catcher == NULL)
		return sf_step_fail_branch(step, error);
	if (inspection != NULL)
	{
		inspection->catcher = catcher - step->state->catchers;
		inspection->next_name = catcher->next_name;
	}
	return catch_error(step, catcher, error);
}

/* --- abort --- */

/* End the branch because a sibling failed, or a parent aborts (SfAborted). */
SfStepNext
sf_step_abort(SfStep *step)
{
	SfBranch   *branch = step->branch;
	const SfState *owner = owner_state(step);
	SfHistoryEventType type = sf_history_event_type_of_state(step->state->type, SF_MEANS_ABORTED);
	const SfAborted *aborted = sf_stimulus_aborted(step->stimulus);

	if (sf_stimulus_is_of_join(step->stimulus) && sf_stimulus_children_left(step->stimulus) > 0)
	{
		/* a join, which ends when the last of its own children has */
		sf_join_set_course(branch, SF_JOIN_ABORTING);
		branch->due_at = aborted->due;
		return SF_STEP_REST;
	}
	branch->generation++;
	if (sf_branch_has_map_run(branch))
		sf_step_effect(step, SF_EFFECT_END_MAP_RUN)->end_map_run =
			(SfMapRunEnd) {branch->map_run_no, SF_STATUS_ABORTED};
	if (owner != NULL && owner->type == SF_STATE_MAP &&
		branch->entered_at != DT_NOBEGIN)
		iteration_event(step, owner, SF_HISTORY_EVENT_MAP_ITERATION_ABORTED, aborted->after_event);
	/* an outcome that was committed stays, for a redrive to go on from */
	if (SF_IS_ONE_OF(branch->phase, SF_PHASES_ANSWERED) && !SF_DEBUG_MUTATION("abort"))
		end_in(branch, SF_PHASE_KEPT);
	else
	{
		if (branch->phase != SF_PHASE_ENTER && type != SF_HISTORY_EVENT_TYPE_COUNT)
			sf_step_side_event(step, type, NULL, NULL, aborted->after_event);
		end_in(branch, SF_PHASE_ABORTED);
	}
	if (owner != NULL && !aborted->join_knows)
		(void) count_end(step);
	return SF_STEP_ENDED;
}
