/*
 * outside.c
 *		Tasks that clients answer; and the stimulus of any
 *		branch whose outcome is in its row (sf_outside_stimulus).
 *
 * Handing out is part of the slice: the row of _sfflow.task and the branch in
 * phase EXTERNAL commit together, so a token exists only for work that has
 * committed.  The answer (api/execution/activity_functions.c) goes into the branch's row alone,
 * phase ANSWERED or MAP_ANSWERED, as that of a long SQL task; the next slice writes history.
 * Events of what happened in between (ActivityStarted, TaskSubmitted) are
 * written then, too: a session that takes a task waits for no execution's lock.
 *
 * Locks: branch, then task.  A session that takes tasks locks both, and skips
 * those that another transaction holds.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "run/apply/apply.h"
#include "run/distributed_map/item_reader.h"
#include "run/slice/dispatch.h"
#include "run/task/service.h"
#include "store/role/privilege.h"

/* Has a role, whose machine wants to use an activity, a right on it? */
static bool
may_use(Oid role, const SfActivity *activity, SfRight needed)
{
	return sf_privilege_check_role(role, SF_OBJECT_ACTIVITY, activity->name,
								   activity->owner, needed);
}

/*
 * Name what a task asks for, when that is not the Resource of its state but a
 * function that the request names; else NULL.
 */
static char *
asked_for(const SfResource *resource, const SfTaskRequest *request)
{
	if (resource->requested == NULL || strcmp(resource->requested, request->resource->text) == 0)
		return NULL;
	return unconstify(char *, resource->requested);
}

/* An activity that is to get a task */
typedef struct Giving
{
	const char *name;
	SfActivity *activity;		/* set; NULL: there is none */
} Giving;

/* Find it, and keep it from being dropped. */
static void
find_and_keep(void *arg)
{
	Giving	   *giving = arg;

	giving->activity = sf_activity_read(giving->name);
	if (giving->activity != NULL && !sf_activity_keep(giving->activity))
		giving->activity = NULL;
}

/* Queue a task of an activity; *stimulus says that it waits, or why it cannot. */
void
sf_outside_queue(SfDraft *draft, const SfBranch *branch, const SfResource *resource,
				 const SfTaskRequest *request, SfStimulus *stimulus)
{
	Giving		giving = {.name = resource->name};
	SfActivity *activity;
	SfTask	   *task;

	sf_draft_wait_briefly(draft, find_and_keep, &giving);
	activity = giving.activity;
	memset(stimulus, 0, sizeof(*stimulus));
	stimulus->kind = SF_STIMULUS_TASK;
	/* what the owner has no right at all on does not exist for it */
	if (activity == NULL ||
		!may_use(draft->execution->owner, activity, SF_RIGHT_ANY))
	{
		sf_error_set(&stimulus->outcome.error, SF_ERR_RUNTIME, "The activity ARN does not exist.");
		return;
	}
	if (!may_use(draft->execution->owner, activity, SF_RIGHT_WORK))
	{
		sf_error_set(&stimulus->outcome.error, SF_ERR_PERMISSIONS,
					 "The owner of state machine '%s' has no right to give work to activity '%s'.",
					 draft->execution->machine_name, activity->name);
		stimulus->outcome.error.needs_prefix = false;
		return;
	}

	task = draft->token_task != NULL ? draft->token_task : sf_task_make(branch);
	task->activity_no = activity->activity_no;
	task->status = SF_TASK_STATUS_QUEUED;
	task->input = request->payload;
	task->resource = asked_for(resource, request);
	task->timeout_ms = request->timeout_ms;
	task->heartbeat_ms = request->heartbeat_ms;
	sf_activity_notify(activity);
	*stimulus = (SfStimulus) {.kind = SF_STIMULUS_HANDED_OUT,.begins_generation = true,.handed_out = {task, DT_NOEND}};
}

/* Make a task one that is answered by its token. */
void
sf_outside_await_token(SfTask *task, const SfTaskRequest *request)
{
	task->status = SF_TASK_STATUS_TOKEN;
	task->timeout_ms = request->timeout_ms;
	task->heartbeat_ms = request->heartbeat_ms;
}

/* Until when to wait for the answer to a token that is handed out now. */
TimestampTz
sf_outside_timer(const SfBranch *branch, const SfTaskRequest *request)
{
	TimestampTz due = branch->deadline;

	if (request->heartbeat_ms != SF_NO_TIMEOUT)
		due = Min(due, branch->started_at + request->heartbeat_ms * 1000);
	return due;
}

/* The task has failed. */
static void
fail_stimulus(SfStimulus *stimulus, SfTask *task, const char *name, const char *cause)
{
	stimulus->kind = SF_STIMULUS_TASK;
	stimulus->outcome = (SfOutcome) {.error = sf_error_make(name, cause),.task = task};
}

/* Nothing has happened yet; task: what has changed of it, or NULL. */
static void
wait_until(SfStimulus *stimulus, TimestampTz due, SfTask *task)
{
	stimulus->kind = SF_STIMULUS_NOT_YET;
	stimulus->not_yet = (SfNotYet) {.task = task,.due = due};
}

/* Tell whether an answer is the result of an activity, rather than of a token. */
static bool
is_activity_result(const SfState *state, const SfTask *task)
{
	return task != NULL && task->activity_no != SF_NO_ACTIVITY && !sf_state_awaits_token(state);
}

/* The outcome that was put into the row: by a long task, or by an answer. */
static void
answered(const SfDraft *draft, const SfBranch *branch, SfTask *task, SfStimulus *stimulus)
{
	const SfState *state = &draft->program->states[branch->state];
	SfOutcome  *outcome = &stimulus->outcome;

	stimulus->kind = SF_STIMULUS_TASK;
	outcome->ok = !sf_branch_outcome_failed(branch);
	outcome->output = sf_json_null();
	if (outcome->ok && sf_branch_outcome(branch) != NULL)
		outcome->output = sf_branch_outcome(branch);
	if (task != NULL && state->type == SF_STATE_MAP && outcome->ok)
		outcome->ok = sf_item_reader_read_answer(branch, &outcome->output, &outcome->error);
	else if (outcome->ok && is_activity_result(state, task))
		outcome->output = sf_service.shape_result(&sf_state_task(state)->resource, outcome->output);
	outcome->task = task;
	if (sf_branch_outcome_failed(branch))
		outcome->error = sf_step_branch_error(branch);
}

/* The lease of a task is over: back into the queue, or given up. */
static void
lease_is_over(const SfDraft *draft, SfTask *task, SfStimulus *stimulus)
{
	SfActivity *activity = sf_activity_read_no(task->activity_no);

	if (activity == NULL || (activity->max_receive_count != SF_UNLIMITED &&
							 task->receives >= activity->max_receive_count))
	{
		task->used_up = true;
		fail_stimulus(stimulus, task, "Sfflow.MaxReceiveCount",
					  psprintf("The task of state '%s' in activity '%s' was handed out %d %s and never answered.",
							   draft->program->states[task->state].name,
							   activity ? activity->name : "", task->receives,
							   task->receives == 1 ? "time" : "times"));
		return;
	}
	task->status = SF_TASK_STATUS_QUEUED;
	task->started_at = DT_NOBEGIN;
	task->heartbeat_at = DT_NOBEGIN;
	task->lease_until = DT_NOEND;
	sf_activity_notify(activity);
	wait_until(stimulus, DT_NOEND, task);
}

/* A timer of a task that was not answered has come. */
static void
timer_rang(const SfDraft *draft, SfTask *task, SfStimulus *stimulus)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz heard = task->heartbeat_at == DT_NOBEGIN ? task->started_at :
		task->heartbeat_at;

	if (task->submitted != NULL)
	{
		/* by the long task of a request that is answered by its token */
		stimulus->kind = SF_STIMULUS_WAITS;
		stimulus->waits = (SfAnswerWait) {{task, sf_task_timer(task)}, task->submitted};
		task->submitted = NULL;
	}
	else if (task->timeout_ms != SF_NO_TIMEOUT && now >= task->started_at + task->timeout_ms * 1000)
		fail_stimulus(stimulus, task, SF_ERR_TIMEOUT, NULL);
	else if (task->heartbeat_ms != SF_NO_TIMEOUT && now >= heard + task->heartbeat_ms * 1000)
	{
		fail_stimulus(stimulus, task, SF_ERR_TIMEOUT, NULL);
		stimulus->outcome.error.is_heartbeat = true;
	}
	else if (now >= task->lease_until)
		lease_is_over(draft, task, stimulus);
	else
		wait_until(stimulus, sf_task_timer(task), NULL);
}

/* May a state's task have a row in _sfflow.task? */
static bool
may_have_task(const SfState *state)
{
	SfResourceKind kind;

	if (state->type != SF_STATE_TASK)
		return sf_state_is_distributed(state);
	kind = sf_state_task(state)->resource.kind;
	return (state->needs.enter & SF_NEED_TOKEN) != 0 || kind == SF_RESOURCE_ACTIVITY ||
		kind == SF_RESOURCE_MAPPED;
}

/*
 * Make the stimulus of a branch in phase ANSWERED or MAP_ANSWERED (the outcome of a long SQL
 * task, of a client or of a nested execution) or EXTERNAL (a timer of the task).
 */
void
sf_outside_stimulus(SfDraft *draft, const SfBranch *branch, SfStimulus *stimulus)
{
	const SfState *state = &draft->program->states[branch->state];
	SfTask	   *task = may_have_task(state) ?
		sf_task_read(branch->key, SF_LOCK_WAIT) : NULL;

	if (task != NULL && task->generation != branch->generation)
		task = NULL;
	if (SF_IS_ONE_OF(branch->phase, SF_PHASES_ANSWERED))
		answered(draft, branch, task, stimulus);
	else if (task != NULL)
		timer_rang(draft, task, stimulus);
	else if (GetCurrentTimestamp() < branch->deadline)
		wait_until(stimulus, branch->deadline, NULL);	/* a nested execution */
	else
		fail_stimulus(stimulus, NULL, SF_ERR_TIMEOUT, NULL);
}
