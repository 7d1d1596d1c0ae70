/*
 * task_state.c
 *		Task: what it is given, and what its outcome leads to.
 *
 * sf_task_state_enter() asks for the task to be carried out; run/slice/dispatch.c decides how.
 * sf_task_state_resume() gets the outcome, in the same slice or much later.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "transition/step.h"

/* What the events of a task are about, by its resource. */
static SfHistoryEventSubject
event_subject(const SfResource *resource)
{
	if (resource->kind == SF_RESOURCE_ACTIVITY)
		return SF_SUBJECT_ACTIVITY;
	if (strncmp(resource->text, "arn:aws:lambda:", 15) == 0)
		return SF_SUBJECT_LAMBDA_FUNCTION;
	return SF_SUBJECT_TASK;
}

/* TimeoutSeconds or HeartbeatSeconds in milliseconds; 0 where there is none. */
static bool
seconds_field(SfStep *step, const SfValueField *field, const char *name,
			  int64 *ms, SfError *error)
{
	int64		seconds;

	if (!sf_flow_integer(step, field, name, 1, &seconds, error))
		return false;
	*ms = Min(seconds, PG_INT32_MAX) * 1000;
	return true;
}

/* The role of Credentials, which is shown and not taken on; NULL for none. */
static bool
credentials_role(SfStep *step, const char **role, SfError *error)
{
	const SfTemplate *tmpl = sf_state_task(step->state)->credentials;
	Jsonb	   *credentials;

	*role = NULL;
	if (tmpl == NULL)
		return true;
	if (!sf_template_eval(tmpl, &step->env, "Credentials", &credentials, error))
		return false;
	*role = sf_json_get_cstring(credentials, "RoleArn");
	return true;
}

/* What TaskScheduled says besides resource and parameters. */
static Jsonb *
scheduled_extra(const SfTaskRequest *task, const char *role)
{
	bool		activity = task->resource->kind == SF_RESOURCE_ACTIVITY;
	SfJsonBuilder json;

	if (task->timeout_ms == SF_NO_TIMEOUT && task->heartbeat_ms == SF_NO_TIMEOUT && !activity && role == NULL)
		return NULL;
	sf_json_begin_object(&json);
	if (activity)
		sf_json_add_string(&json, "resource", task->resource->text);
	if (role != NULL)
	{
		sf_json_open_object(&json, "taskCredentials");
		sf_json_add_string(&json, "roleArn", role);
		sf_json_close_object(&json);
	}
	if (task->timeout_ms != SF_NO_TIMEOUT)
		sf_json_add_int(&json, "timeoutInSeconds", task->timeout_ms / 1000);
	if (task->heartbeat_ms != SF_NO_TIMEOUT)
		sf_json_add_int(&json, "heartbeatInSeconds", task->heartbeat_ms / 1000);
	return sf_json_end(&json);
}

/* Task: work out its payload and ask for it to be carried out. */
SfStepNext
sf_task_state_enter(SfStep *step)
{
	const SfTaskState *state = sf_state_task(step->state);
	SfHistoryEventSubject subject = event_subject(&state->resource);
	SfTaskRequest *task = palloc0(sizeof(SfTaskRequest));
	const char *role;
	SfError		error;

	task->resource = &state->resource;
	if (!sf_flow_input(step, &error) ||
		!seconds_field(step, &state->timeout, "TimeoutSeconds",
					   &task->timeout_ms, &error) ||
		!seconds_field(step, &state->heartbeat, "HeartbeatSeconds",
					   &task->heartbeat_ms, &error) ||
		!sf_flow_parameters(step, &task->payload, &error) ||
		!credentials_role(step, &role, &error))
		return sf_step_fail(step, &error);

	if (state->resource.kind != SF_RESOURCE_ACTIVITY)
	{
		sf_step_event(step, sf_history_event_type_find(subject, SF_MEANS_SCHEDULED),
					  task->payload, scheduled_extra(task, role));
		sf_step_event(step, sf_history_event_type_find(subject, SF_MEANS_STARTED), NULL, NULL);
	}
	step->transition->task = task;
	step->branch->started_at = step->now;
	step->branch->deadline = task->timeout_ms == SF_NO_TIMEOUT ? DT_NOEND :
		step->now + task->timeout_ms * 1000;
	return SF_STEP_TASK;
}

/*
 * Append ActivityStarted, with the time at which a client took the task; do
 * nothing if the task is of no activity or was never taken.
 */
static void
taken_event(SfStep *step, const SfTask *task)
{
	TimestampTz now = step->now;
	SfJsonBuilder json;

	if (task == NULL || task->activity_no == SF_NO_ACTIVITY || task->receives == 0)
		return;
	sf_json_begin_object(&json);
	sf_json_add_string(&json, "workerName", task->worker);
	if (task->started_at != DT_NOBEGIN)
		step->now = task->started_at;
	sf_step_event(step, SF_HISTORY_EVENT_ACTIVITY_STARTED, NULL, sf_json_end(&json));
	step->now = now;
}

/* Rest until the task is answered; its row, if it has one, goes with the branch. */
static SfStepNext
await_answer(SfStep *step, const SfTaskWait *wait, SfPhase phase, Jsonb *task_payload)
{
	SfBranch   *branch = step->branch;

	if (wait->task != NULL && branch->phase == SF_PHASE_EXTERNAL)
		sf_step_effect(step, SF_EFFECT_UPDATE_TASK)->update_task = wait->task;
	else if (wait->task != NULL)
		sf_step_effect(step, SF_EFFECT_HAND_OUT_TASK)->hand_out_task = wait->task;
	branch->phase = phase;
	branch->task_payload = task_payload;
	branch->due_at = wait->due;
	return SF_STEP_REST;
}

/* Task: it is announced as long, with its payload in the branch. */
SfStepNext
sf_task_state_announced(SfStep *step)
{
	const SfAnnouncement *announced = sf_stimulus_announced(step->stimulus);

	return await_answer(step, &announced->wait, SF_PHASE_ANNOUNCED, announced->payload);
}

/* Append ActivityScheduled, if the task of the state is written as one of an activity. */
static void
scheduled_event(SfStep *step, const SfTask *task)
{
	SfTaskRequest request = {
		.resource = &sf_state_task(step->state)->resource,
		.timeout_ms = task->timeout_ms,
		.heartbeat_ms = task->heartbeat_ms
	};

	if (request.resource->kind == SF_RESOURCE_ACTIVITY)
		sf_step_event(step, SF_HISTORY_EVENT_ACTIVITY_SCHEDULED, task->input, scheduled_extra(&request, NULL));
}

/* Task: it waits in the queue of its activity, which is there: so it is scheduled. */
SfStepNext
sf_task_state_handed_out(SfStep *step)
{
	const SfTaskWait *handed_out = sf_stimulus_handed_out(step->stimulus);

	/* the history of a Map has no events of how its items are read */
	if (step->state->type == SF_STATE_TASK)
		scheduled_event(step, handed_out->task);
	return await_answer(step, handed_out, SF_PHASE_EXTERNAL, NULL);
}

/* Task: it is asked for; the answer comes with its token, its nested execution, from a person or with an event. */
SfStepNext
sf_task_state_waits(SfStep *step)
{
	const SfAnswerWait *waits = sf_stimulus_waits(step->stimulus);

	sf_step_event(step, SF_HISTORY_EVENT_TASK_SUBMITTED, waits->output, NULL);
	step->transition->name = SF_TRANSITION_WAITING;
	return await_answer(step, &waits->wait, SF_PHASE_EXTERNAL, NULL);
}

/*
 * Keep the outcome of a long task in the branch's row (run/slice/long_task.c); the next
 * slice reads it there.
 */
SfStepNext
sf_task_state_store_outcome(SfStep *step)
{
	const SfOutcome *outcome = sf_stimulus_outcome(step->stimulus);
	SfBranch   *branch = step->branch;

	branch->phase = sf_branch_answered_phase(branch);
	branch->due_at = step->now;
	branch->outcome = outcome->ok ? outcome->output : NULL;
	sf_step_clear_branch_error(branch);
	if (!outcome->ok)
	{
		branch->outcome_failed = true;
		branch->error = unconstify(char *, outcome->error.name);
		branch->cause = unconstify(char *, outcome->error.cause);
		branch->sqlstate = unconstify(char *, outcome->error.sqlstate);
	}
	if (outcome->task != NULL)
	{
		/* only its request was made; the answer comes with its token */
		sf_step_effect(step, SF_EFFECT_UPDATE_TASK)->update_task = outcome->task;
		branch->phase = SF_PHASE_EXTERNAL;
	}
	return SF_STEP_REST;
}

/* Count a task that is over, with its error or NULL; one of an activity began when a client took it. */
static void
count_task(SfStep *step, const SfError *error)
{
	const SfTask *task = sf_stimulus_outcome(step->stimulus)->task;
	TimestampTz began = step->branch->started_at;

	if (task != NULL && task->activity_no != SF_NO_ACTIVITY && task->started_at != DT_NOBEGIN)
		began = task->started_at;
	sf_step_effect(step, SF_EFFECT_COUNT_TASK)->count_task =
		(SfTaskOver) {step->state->number, step->branch->attempt, Max(step->now - began, 0), error};
}

/*
 * A task was not answered: are the nested executions that the branch waits for to end with it?  This is the rule; who
 * asks is the transition of a task that has timed out (effect STOP_NESTED), and what writes branches that were
 * aborted (sf_apply_tasks).  When an execution ends without success all of its branches are aborted, most of them
 * unread: clear_rows (run/apply/apply_write.c) then stops the nested executions of all.
 */
bool
sf_task_state_stops_nested(const SfState *state, SfUnanswered unanswered)
{
	if (state->type != SF_STATE_TASK ||
		sf_state_task(state)->resource.kind != SF_RESOURCE_START_EXECUTION)
		return false;
	/* a token, not the nested execution, is what has not come */
	return unanswered == SF_UNANSWERED_ABORTED || !sf_state_awaits_token(state);
}

/*
 * Append TaskFailed or TaskTimedOut (of an activity: ActivityFailed …) and fail the
 * state.
 */
static SfStepNext
task_failed(SfStep *step, SfHistoryEventSubject subject, SfError *error)
{
	SfHistoryEventType type = sf_history_event_type_find(subject, sf_error_is(error, SF_ERR_TIMEOUT) ?
														 SF_MEANS_TIMED_OUT : SF_MEANS_FAILED);
	bool		never_queued = subject == SF_SUBJECT_ACTIVITY && sf_stimulus_outcome(step->stimulus)->task == NULL;

	if (never_queued)
		type = SF_HISTORY_EVENT_ACTIVITY_SCHEDULE_FAILED;
	if (sf_error_is(error, SF_ERR_TIMEOUT) &&
		sf_task_state_stops_nested(step->state, SF_UNANSWERED_TIMED_OUT))
		(void) sf_step_effect(step, SF_EFFECT_STOP_NESTED);
	count_task(step, memcpy(palloc(sizeof(SfError)), error, sizeof(SfError)));
	sf_step_prefix(step, error);
	/* an activity that does not exist is an error of the state, of which no task tells */
	if (!never_queued || !sf_error_is(error, SF_ERR_RUNTIME))
		sf_step_event(step, type, NULL, sf_history_event_type_failure(error->name, error->cause));
	return sf_step_fail(step, error);
}

/* Take the outcome of the task: append its events; leave the state, or fail it. */
SfStepNext
sf_task_state_resume(SfStep *step)
{
	SfHistoryEventSubject subject = event_subject(&sf_state_task(step->state)->resource);
	const SfOutcome *outcome = sf_stimulus_outcome(step->stimulus);
	SfError		error = outcome->error;

	if (outcome->task != NULL)
		sf_step_effect(step, SF_EFFECT_CLOSE_TASK)->close_task = outcome->task;
	taken_event(step, outcome->task);
	if (outcome->task != NULL && outcome->task->submitted != NULL)
		sf_step_event(step, SF_HISTORY_EVENT_TASK_SUBMITTED, outcome->task->submitted,
					  NULL);
	if (!outcome->ok)
		return task_failed(step, subject, &error);
	if (!sf_flow_check_size(step, outcome->output, &error))
		return task_failed(step, subject, &error);

	count_task(step, NULL);
	sf_step_event(step, sf_history_event_type_find(subject, SF_MEANS_SUCCEEDED),
				  outcome->output, NULL);
	return sf_step_succeed(step, outcome->output);
}
