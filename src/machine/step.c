/*
 * step.c
 *		One transition of a branch: enter a state, resume it, leave it, fail it.
 *
 * The state handlers (one file a type) are called from sf_step_advance() and
 * come back through sf_step_exit(), sf_step_fail() or a resting place.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/debug_point.h"
#include "base/settings.h"
#include "machine/map_state.h"

/* Tell whether a history level keeps an event. */
static bool
history_keeps(SfHistoryLevel level, SfEventType type)
{
	if (level == SF_HISTORY_ALL)
		return true;
	if (level == SF_HISTORY_NONE)
		return false;
	return sf_event_type_is_of_execution(type) || sf_event_type_is_of_task(type);
}

/* Two documents with the same bytes. */
static bool
same_document(const Jsonb *a, const Jsonb *b)
{
	return a == b ||
		(VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0);
}

/* The event that holds a payload already, 0 when none does. */
static int
event_holding(const SfStep *step, const Jsonb *payload)
{
	const SfBranch *branch = step->branch;

	for (int i = 0; i < step->nheld; i++)
		if (same_document(step->held[i].payload, payload))
			return step->held[i].event;
	if (branch->payload_event != 0 && branch->payload != NULL &&
		same_document(branch->payload, payload))
		return branch->payload_event;
	return 0;
}

/* Remember that an event of this step holds a payload. */
static void
hold(SfStep *step, Jsonb *payload, int event)
{
	int			slot = step->nheld;

	if (slot == lengthof(step->held))
		slot = lengthof(step->held) - 1;
	else
		step->nheld++;
	step->held[slot].payload = payload;
	step->held[slot].event = event;
}

/* Append an event without moving the branch's chain. */
int
sf_step_side_event(SfStep *step, SfEventType type, Jsonb *payload,
				   Jsonb *extra, int previous)
{
	SfRun	   *run = step->run;
	SfBranch   *branch = step->branch;
	SfEvent    *event;

	if (!history_keeps(run->history, type))
		return 0;
	event = palloc0(sizeof(SfEvent));
	event->type = type;
	event->id = -(list_length(run->events) + 1);
	event->previous_id = previous == SF_CHAIN ? branch->last_event : previous;
	event->state = step->state == NULL ? -1 : step->state->number;
	event->at = step->now;
	event->niterations = branch->niterations;
	event->iterations = branch->iterations;
	event->payload = payload;
	event->extra = extra;
	if (payload != NULL)
	{
		event->payload_from = event_holding(step, payload);
		if (event->payload_from == 0)
			hold(step, payload, event->id);
	}
	run->events = lappend(run->events, event);
	return event->id;
}

/* Append an event to the branch's chain. */
int
sf_step_event(SfStep *step, SfEventType type, Jsonb *payload, Jsonb *extra)
{
	int			id = sf_step_side_event(step, type, payload, extra, SF_CHAIN);

	if (id != 0)
		step->branch->last_event = id;
	return id;
}

/* Make the branch's payload a new document. */
static void
set_payload(SfStep *step, Jsonb *payload)
{
	SfBranch   *branch = step->branch;

	branch->payload_event = event_holding(step, payload);
	branch->payload = payload;
}

/* Append the events of an execution that begins. */
static void
begin_execution(SfStep *step)
{
	SfExecution *execution = step->run->execution;
	const SfState *state = step->state;

	execution->started_at = step->now;
	step->run->began = true;
	step->state = NULL;
	step->branch->payload_event = 0;
	step->branch->payload_event =
		sf_step_side_event(step, SF_EVENT_EXECUTION_STARTED,
						   step->branch->payload, NULL, 0);
	step->state = state;
}

/* Append the event of an iteration that begins. */
static void
begin_iteration(SfStep *step)
{
	const SfProgram *program = step->program;
	const SfState *state = step->state;
	int			owner = program->scopes[step->branch->scope].owner_state;

	if (owner < 0 || program->states[owner].type != SF_STATE_MAP)
		return;
	step->state = &program->states[owner];
	sf_step_event(step, SF_EVENT_MAP_ITERATION_STARTED, NULL, NULL);
	step->state = state;
}

/* Enter the branch's state: its event, and fresh counters. */
static void
enter_state(SfStep *step)
{
	SfBranch   *branch = step->branch;

	if (branch->key.branch_no == SF_BRANCH_ROOT &&
		step->run->execution->started_at == DT_NOBEGIN)
		begin_execution(step);
	else if (branch->parent_no >= 0 && branch->entered_at == DT_NOBEGIN)
		begin_iteration(step);

	step->entered_previous = branch->last_event;
	branch->entered_event =
		sf_step_event(step, sf_event_type_of_state(step->state->type, SF_MEANS_ENTERED),
					  branch->payload, NULL);
	branch->payload_event = event_holding(step, branch->payload);
	branch->entered_at = step->now;
	branch->attempt = 0;
	branch->nretries = 0;
	branch->retry_counts = NULL;
	branch->error = branch->cause = NULL;
	branch->result = NULL;
	branch->map_run_no = 0;
	branch->phase = SF_PHASE_RUN;
}

/* Count a transition; false with an error when there were too many. */
static bool
count_transition(SfStep *step, SfError *error)
{
	int			max = step->run->max_transitions;

	if (max > 0 && step->branch->transitions >= max)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The execution reached the maximum number of state transitions (%d), sfflow.max_transitions.",
							max);
	step->branch->transitions++;
	return true;
}

/* Do the work of the branch's state. */
static SfStepOutcome
run_state(SfStep *step)
{
	switch (step->state->type)
	{
		case SF_STATE_PASS:
			return sf_pass_enter(step);
		case SF_STATE_TASK:
			return sf_task_enter(step);
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
			return sf_map_enter(step);
	}
	elog(ERROR, "unknown state type %d", (int) step->state->type);
}

/* Go on after a task: a Distributed Map has tasks, too. */
static SfStepOutcome
resume_task(SfStep *step)
{
	return step->state->type == SF_STATE_MAP ?
		sf_distributed_resume(step) : sf_task_resume(step);
}

/* Fill in a step without doing anything yet. */
void
sf_step_init(SfStep *step, SfRun *run, SfBranch *branch,
			 const SfStimulus *stimulus, TimestampTz now)
{
	memset(step, 0, sizeof(*step));
	step->run = run;
	step->program = run->program;
	step->branch = branch;
	step->stimulus = stimulus;
	step->now = now;
	step->map_index = -1;
	step->entered_previous = SF_CHAIN;
	if (branch->state < 0 || branch->state >= run->program->nstates)
		elog(ERROR, "branch " INT64_FORMAT " of execution \"%s\" is in state %d, which its machine does not have",
			 branch->key.branch_no, run->execution->execution_id, branch->state);
	step->state = &run->program->states[branch->state];
	step->env.input = branch->payload;
	step->env.variables = branch->variables;
	step->env.make_context = sf_context_make;
	step->env.context_arg = step;
}

/* Advance a branch by one transition. */
SfStepOutcome
sf_step_advance(SfRun *run, SfBranch *branch, const SfStimulus *stimulus,
				TimestampTz now, SfStep *step)
{
	SfError		error;

	sf_step_init(step, run, branch, stimulus, now);
	switch (branch->phase)
	{
		case SF_PHASE_ENTER:
			enter_state(step);
			if (!count_transition(step, &error))
				return sf_step_fail(step, &error);
			return run_state(step);
		case SF_PHASE_RUN:
			if (stimulus->kind == SF_STIMULUS_SUBMITTED)
				return sf_task_submitted(step);
			return stimulus->kind == SF_STIMULUS_TASK ?
				resume_task(step) : run_state(step);
		case SF_PHASE_WAIT:
			return sf_wait_resume(step);
		case SF_PHASE_JOIN:
			return stimulus->kind == SF_STIMULUS_JOINED ?
				sf_join_resume(step) : sf_map_continue(step);
		case SF_PHASE_ANNOUNCED:
		case SF_PHASE_ANSWERED:
		case SF_PHASE_EXTERNAL:
			return stimulus->kind == SF_STIMULUS_SUBMITTED ?
				sf_task_submitted(step) : resume_task(step);
		case SF_PHASE_DONE:
		case SF_PHASE_FAILED:
		case SF_PHASE_ABORTED:
		case SF_PHASE_DEADLINE:
		case SF_PHASE_STOP:
			break;
	}
	elog(ERROR, "branch " INT64_FORMAT " of execution \"%s\" is due in phase %d",
		 branch->key.branch_no, run->execution->execution_id, (int) branch->phase);
}

/* {"assignedVariables": …, "assignedVariablesDetails": …}, NULL for none. */
static Jsonb *
assigned_extra(Jsonb *assigned)
{
	SfJsonBuilder b;

	if (assigned == NULL || JB_ROOT_COUNT(assigned) == 0)
		return NULL;
	sf_json_begin_object(&b);
	sf_json_add(&b, "assignedVariables", assigned);
	sf_json_open_object(&b, "assignedVariablesDetails");
	sf_json_add_bool(&b, "truncated", false);
	sf_json_close_object(&b);
	return sf_json_finish(&b);
}

/* Forget what the present attempt at a state came to. */
static void
forget_attempt(SfBranch *branch)
{
	branch->result = NULL;
	branch->error = branch->cause = NULL;
	branch->failing = branch->aborting = branch->uncatchable = false;
	branch->failed_event = 0;
	branch->pending = branch->total = branch->next_index = 0;
	branch->map_run_no = 0;
	branch->started_at = DT_NOBEGIN;
	branch->deadline = DT_NOEND;
}

/* Leave the state with an output. */
SfStepOutcome
sf_step_exit(SfStep *step, Jsonb *output, int next, Jsonb *assigned)
{
	SfBranch   *branch = step->branch;

	sf_step_event(step, sf_event_type_of_state(step->state->type, SF_MEANS_EXITED),
				  output, assigned_extra(assigned));
	set_payload(step, output);
	branch->attempt = 0;
	branch->nretries = 0;
	branch->retry_counts = NULL;
	branch->max_concurrency = 0;
	forget_attempt(branch);

	if (next < 0)
		return sf_step_end_branch(step, output);
	branch->state = next;
	branch->phase = SF_PHASE_ENTER;
	branch->due_at = step->now;
	return SF_STEP_GO_ON;
}

/* Leave the state with a result. */
SfStepOutcome
sf_step_succeed(SfStep *step, Jsonb *result)
{
	const SfState *state = step->state;
	Jsonb	   *output,
			   *assigned;
	SfError		error;

	if (!sf_flow_output(step, result, &output, &error) ||
		!sf_flow_assign(step, state->assign, "Assign", &assigned, &error))
		return sf_step_fail(step, &error);
	step->outcome_name = "succeeded";
	return sf_step_exit(step, output, state->next, assigned);
}

/* Tell the parent that a branch has ended. */
static SfParentDelta *
add_delta(SfStep *step)
{
	SfParentDelta *delta = palloc0(sizeof(SfParentDelta));

	delta->branch_no = step->branch->parent_no;
	delta->ended = 1;
	delta->transitions = step->branch->transitions;
	step->run->deltas = lappend(step->run->deltas, delta);
	return delta;
}

/*
 * The Parallel or Map state that a branch is part of; NULL for the root, also
 * for that of a Distributed Map's child, which is an execution of its own.
 */
static const SfState *
owner_state(const SfStep *step)
{
	int			owner = step->program->scopes[step->branch->scope].owner_state;

	if (step->branch->key.branch_no == SF_BRANCH_ROOT)
		return NULL;
	return owner < 0 ? NULL : &step->program->states[owner];
}

/* End the branch with an output. */
SfStepOutcome
sf_step_end_branch(SfStep *step, Jsonb *output)
{
	SfBranch   *branch = step->branch;
	const SfState *owner = owner_state(step);

	branch->due_at = DT_NOEND;
	if (owner == NULL)
	{
		SfFinish   *finish = palloc0(sizeof(SfFinish));

		step->state = NULL;
		sf_step_event(step, SF_EVENT_EXECUTION_SUCCEEDED, output, NULL);
		finish->status = SF_STATUS_SUCCEEDED;
		finish->output = output;
		step->run->finish = finish;
		branch->gone = true;
		return SF_STEP_ENDED;
	}

	/* An ended iteration keeps its last inner event where nobody else looks. */
	branch->entered_event = branch->last_event;
	if (owner->type == SF_STATE_MAP)
	{
		step->state = owner;
		sf_step_event(step, SF_EVENT_MAP_ITERATION_SUCCEEDED, NULL, NULL);
	}
	branch->phase = SF_PHASE_DONE;
	branch->payload = output;
	(void) add_delta(step);
	return SF_STEP_ENDED;
}

/* End the whole execution as FAILED, whatever else it is doing. */
static SfStepOutcome
fail_execution(SfStep *step, const SfError *error)
{
	SfFinish   *finish = palloc0(sizeof(SfFinish));

	step->state = NULL;
	sf_step_event(step, SF_EVENT_EXECUTION_FAILED, NULL,
				  sf_event_error(error->name, error->cause));
	finish->status = SF_STATUS_FAILED;
	finish->error = error->name;
	finish->cause = error->cause;
	step->run->finish = finish;
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

		if (owner < 0 || sf_state_distributed(&step->program->states[owner]) != NULL)
			return false;
		if (step->program->states[owner].failure_mode == SF_FAILURE_DRAIN)
			return true;
		scope = step->program->states[owner].scope;
	}
}

/* Show a value to whoever looks on. */
void
sf_step_trace(SfStep *step, SfTraceField field, Jsonb *value)
{
	if (step->run->trace != NULL)
		step->run->trace->values[field] = value;
}

/* Show an error to whoever looks on. */
static void
trace_error(SfStep *step, const SfError *error)
{
	if (step->run->trace == NULL)
		return;
	step->run->trace->failed = true;
	step->run->trace->error = *error;
}

/* Tell of the iteration that the branch is: its events name the Map. */
static void
iteration_event(SfStep *step, const SfState *map, SfEventType type, int cause)
{
	const SfState *state = step->state;

	step->state = map;
	sf_step_side_event(step, type, NULL, NULL, cause);
	step->state = state;
}

/* End the branch with an error. */
SfStepOutcome
sf_step_fail_branch(SfStep *step, const SfError *error)
{
	SfBranch   *branch = step->branch;
	const SfState *owner = owner_state(step);
	bool		uncatchable = error->name != NULL &&
		strcmp(error->name, SF_ERR_RUNTIME) == 0;
	int			failed_event = branch->last_event;
	SfParentDelta *delta;

	trace_error(step, error);
	branch->phase = SF_PHASE_FAILED;
	branch->due_at = DT_NOEND;
	branch->error = error->name ? pstrdup(error->name) : NULL;
	branch->cause = error->cause ? pstrdup(error->cause) : NULL;
	if (owner == NULL || (uncatchable && !inside_drain(step)))
		return fail_execution(step, error);

	if (owner->type == SF_STATE_MAP && !uncatchable)
		iteration_event(step, owner, SF_EVENT_MAP_ITERATION_FAILED, failed_event);
	/* the task counts as aborted as those of the siblings do */
	if (!uncatchable && owner->failure_mode == SF_FAILURE_ABORT &&
		step->state->type == SF_STATE_TASK && branch->started_at != DT_NOBEGIN)
		sf_step_side_event(step, SF_EVENT_TASK_STATE_ABORTED, NULL, NULL,
						   failed_event);
	delta = add_delta(step);
	delta->failed = true;
	delta->failed_event = failed_event;
	delta->error = branch->error;
	delta->cause = branch->cause;
	delta->uncatchable = uncatchable;
	return SF_STEP_ENDED;
}

/* Put "An error occurred while executing the state …" before a cause. */
void
sf_step_prefix(SfStep *step, SfError *error)
{
	SfRun	   *run = step->run;
	int			id = step->branch->entered_event;

	if (!error->prefixed || error->cause == NULL || run->trace != NULL)
		return;
	if (id < 0)
		id = run->event_id ? run->event_id(run, id) : 0;
	error->cause = psprintf("An error occurred while executing the state '%s'"
							" (entered at the event id #%d). %s",
							step->state->name, id, error->cause);
	error->prefixed = false;
}

/* Append EvaluationFailed for a failed JSONata expression. */
static void
evaluation_failed(SfStep *step, const SfError *error)
{
	SfJsonBuilder b;
	int			previous = SF_CHAIN;
	int			id;

	sf_json_begin_object(&b);
	sf_json_add_string(&b, "error", error->name);
	sf_json_add_string(&b, "cause", error->cause);
	sf_json_add_string(&b, "location", error->location);
	sf_json_add_string(&b, "state", step->state->name);

	/* a sibling of the event that entered the state, but for Wait */
	if (step->state->type != SF_STATE_WAIT &&
		step->branch->last_event == step->branch->entered_event)
		previous = step->entered_previous;
	id = sf_step_side_event(step, SF_EVENT_EVALUATION_FAILED, NULL,
							sf_json_finish(&b), previous);
	if (id != 0)
		step->branch->last_event = id;
}

/* What a catcher's path is applied to: {"Error": …, "Cause": …}. */
static Jsonb *
error_output(const SfError *error)
{
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	if (error->name != NULL)
		sf_json_add_string(&b, "Error", error->name);
	else
		sf_json_add_null(&b, "Error");
	if (error->cause != NULL)
		sf_json_add_string(&b, "Cause", error->cause);
	else
		sf_json_add_null(&b, "Cause");
	return sf_json_finish(&b);
}

/* Leave the state through a catcher. */
static SfStepOutcome
catch_error(SfStep *step, const SfCatcher *catcher, const SfError *error)
{
	int			number = catcher - step->state->catchers;
	Jsonb	   *caught = error_output(error);
	Jsonb	   *output = caught;
	Jsonb	   *assigned = NULL;
	SfError		nested;
	bool		ok = true;

	step->drop_children = true;
	step->env.input = step->branch->payload;
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
			output = step->branch->payload;
		else if (catcher->result_path.kind == SF_FIELD_PATH)
			ok = sf_expr_set(catcher->result_path.expr, step->branch->payload,
							 caught, &output, &nested);
		step->env.input = caught;
	}
	if (ok)
		ok = sf_flow_assign(step, catcher->assign,
							psprintf("Catch[%d]/Assign", number), &assigned, &nested);
	if (!ok)
	{
		sf_step_prefix(step, &nested);
		if (strcmp(nested.name, SF_ERR_QUERY_EVALUATION_ERROR) == 0)
			evaluation_failed(step, &nested);
		return sf_step_fail_branch(step, &nested);
	}
	step->outcome_name = "caught";
	return sf_step_exit(step, output, catcher->next, assigned);
}

/* Have the state done again after a delay. */
static SfStepOutcome
retry(SfStep *step, int64 delay)
{
	SfBranch   *branch = step->branch;

	step->drop_children = true;
	step->outcome_name = "retried";
	branch->attempt++;
	branch->phase = SF_PHASE_RUN;
	branch->due_at = step->now + delay;
	forget_attempt(branch);
	return delay == 0 ? SF_STEP_GO_ON : SF_STEP_REST;
}

/* Fail the state: retry it, catch the error, or fail the branch. */
SfStepOutcome
sf_step_fail(SfStep *step, const SfError *original)
{
	SfTrace    *trace = step->run->trace;
	SfError		error = *original;
	const SfCatcher *catcher;
	SfEventType failed;			/* of a Parallel or Map state */
	int64		delay;
	int			retrier;

	sf_step_prefix(step, &error);
	trace_error(step, &error);
	step->env.error_output = NULL;
	step->outcome_name = "failed";
	if (error.name != NULL && strcmp(error.name, SF_ERR_RUNTIME) == 0)
		return sf_step_fail_branch(step, &error);
	/* not again for one that comes out of a branch, an iteration or a task */
	if (original->prefixed &&
		strcmp(error.name, SF_ERR_QUERY_EVALUATION_ERROR) == 0)
		evaluation_failed(step, &error);

	delay = sf_retry_next(step->state, step->branch, &error, &retrier);
	if (trace != NULL)
	{
		trace->retrier = retrier;
		trace->delay_us = delay;
	}
	if (delay >= 0)
		return retry(step, delay);

	failed = sf_event_type_of_state(step->state->type, SF_MEANS_FAILED);
	if (failed != SF_EVENT_TYPE_COUNT)
		sf_step_event(step, failed, NULL, NULL);
	catcher = sf_catch_find(step->state, &error);
	if (catcher == NULL)
		return sf_step_fail_branch(step, &error);
	if (trace != NULL)
	{
		trace->catcher = catcher - step->state->catchers;
		trace->next_name = catcher->next_name;
	}
	return catch_error(step, catcher, &error);
}

/* End a branch because a sibling failed or a parent aborts. */
void
sf_step_abort(SfStep *step, int cause)
{
	SfBranch   *branch = step->branch;
	const SfState *owner = owner_state(step);
	SfEventType type = sf_event_type_of_state(step->state->type, SF_MEANS_ABORTED);

	branch->due_at = DT_NOEND;
	branch->generation++;
	if (owner != NULL && owner->type == SF_STATE_MAP &&
		branch->entered_at != DT_NOBEGIN)
		iteration_event(step, owner, SF_EVENT_MAP_ITERATION_ABORTED, cause);
	/* an outcome that was committed stays, for a redrive to go on from */
	if (branch->phase != SF_PHASE_ANSWERED || SF_DEBUG_MUTATION("abort"))
	{
		if (branch->phase != SF_PHASE_ENTER && type != SF_EVENT_TYPE_COUNT)
			sf_step_side_event(step, type, NULL, NULL, cause);
		branch->phase = SF_PHASE_ABORTED;
	}
	if (owner != NULL)
		(void) add_delta(step);
}
