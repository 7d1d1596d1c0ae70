/*
 * outside.c
 *		Tasks that somebody outside the database answers.
 *
 * Handing out is part of the slice: the row of _sfflow.task and the branch in
 * phase EXTERNAL commit together, so nobody holds a token for work that did
 * not commit.  The answer (api/activity.c) goes into the branch's row alone,
 * phase ANSWERED, as that of a long SQL task; the next slice writes history.
 * Events of what happened in between (ActivityStarted, TaskSubmitted) are
 * written then, too: a worker that takes a task waits for no execution's lock.
 *
 * Locks: branch, then task.  Who takes tasks locks both, and skips those that
 * anybody else has.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/errors.h"
#include "run/apply.h"
#include "run/outside.h"
#include "run/service.h"
#include "store/privilege.h"

/* Make a task for a branch. */
SfTask *
sf_outside_make_task(SfRun *run, const SfBranch *branch)
{
	SfTask	   *task = palloc0(sizeof(SfTask));

	task->key = branch->key;
	task->generation = branch->generation + 1;
	task->state = branch->state;
	task->attempt = branch->attempt;
	task->started_at = DT_NOBEGIN;
	task->heartbeat_at = DT_NOBEGIN;
	task->lease_until = DT_NOEND;
	if (!pg_strong_random(task->secret, sizeof(task->secret)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	return task;
}

/* Has a role, whose machine wants to use an activity, a privilege on it? */
static bool
may_use(Oid role, const SfActivity *activity, SfPrivilege p)
{
	return sf_privilege_check_role(role, SF_OBJECT_ACTIVITY, activity->name,
								   activity->owner, p);
}

/* Hand a branch out: it rests until somebody answers, or time is up. */
static void
hand_out(SfRun *run, SfBranch *branch, const SfTaskRequest *request,
		 SfTask *task)
{
	task->timeout_ms = request->timeout_ms;
	task->heartbeat_ms = request->heartbeat_ms;
	branch->generation = task->generation;
	run->tasks = lappend(run->tasks, task);
}

/* Queue a task of an activity. */
bool
sf_outside_queue(SfRun *run, SfBranch *branch, const SfResource *resource,
				 const SfTaskRequest *request, SfTask *task, SfError *error)
{
	SfActivity *activity = sf_activity_read(resource->name);

	/* what the owner has no right at all on does not exist for it */
	if (activity == NULL ||
		!may_use(run->execution->owner, activity, SF_PRIVILEGE_ANY))
	{
		sf_error_set(error, SF_ERR_RUNTIME,
					 "The activity ARN does not exist. Activity: '%s'.",
					 resource->name);
		return true;
	}
	if (!may_use(run->execution->owner, activity, SF_PRIVILEGE_WORK))
	{
		sf_error_set(error, SF_ERR_PERMISSIONS,
					 "The owner of state machine '%s' has no right to give work to activity '%s'.",
					 run->execution->machine_name, activity->name);
		error->prefixed = false;
		return true;
	}

	if (task == NULL)
		task = sf_outside_make_task(run, branch);
	task->activity_no = activity->activity_no;
	task->status = SF_TASK_QUEUED;
	task->input = request->payload;
	hand_out(run, branch, request, task);
	branch->phase = SF_PHASE_EXTERNAL;
	branch->due_at = DT_NOEND;
	sf_activity_notify(activity);
	return false;
}

/* Put a task whose token is handed out among those to be written. */
void
sf_outside_await_token(SfRun *run, SfBranch *branch,
					   const SfTaskRequest *request, SfTask *task)
{
	task->status = SF_TASK_TOKEN;
	hand_out(run, branch, request, task);
}

/* When nobody has answered a token that is handed out now. */
TimestampTz
sf_outside_timer(const SfBranch *branch, const SfTaskRequest *request)
{
	TimestampTz due = branch->deadline;

	if (request->heartbeat_ms > 0)
		due = Min(due, branch->started_at + request->heartbeat_ms * 1000);
	return due;
}

/* Put a failure into a stimulus. */
static void
fail_stimulus(SfStimulus *stimulus, const char *name, const char *cause)
{
	stimulus->kind = SF_STIMULUS_TASK;
	stimulus->ok = false;
	stimulus->error.name = name;
	stimulus->error.cause = cause;
	stimulus->error.position = -1;
}

/* Remember that a task is over. */
static void
settle_task(SfRun *run, SfTask *task)
{
	run->settled = lappend(run->settled, task);
}

/* Tell whether an answer is the result of an activity, rather than of a token. */
static bool
is_activity_result(const SfState *state, const SfTask *task)
{
	return task != NULL && task->activity_no != 0 && !sf_state_awaits_token(state);
}

/* The outcome that was put into the row: by T2, or by whoever answered. */
static void
answered(SfRun *run, SfBranch *branch, SfTask *task, SfStimulus *stimulus)
{
	const SfState *state = &run->program->states[branch->state];

	stimulus->kind = SF_STIMULUS_TASK;
	stimulus->ok = !branch->failing;
	stimulus->output = branch->result ? branch->result : sf_json_null();
	if (stimulus->ok && is_activity_result(state, task))
		stimulus->output = sf_service.shape_result(&sf_state_task(state)->resource,
												   stimulus->output);
	stimulus->task = task;
	if (!stimulus->ok)
	{
		stimulus->error.name = branch->error;
		stimulus->error.cause = branch->cause;
		stimulus->error.position = -1;
		stimulus->error.sqlstate = branch->result == NULL ? NULL :
			sf_json_get_cstring(branch->result, "sqlstate");
	}
	branch->failing = false;
	branch->error = branch->cause = NULL;
	if (task != NULL)
		settle_task(run, task);
}

/* The lease of a task is over: back into the queue, or given up. */
static bool
lease_is_over(SfRun *run, SfBranch *branch, SfTask *task, SfStimulus *stimulus)
{
	SfActivity *activity = sf_activity_read_no(task->activity_no);

	if (activity == NULL || (activity->max_receive_count > 0 &&
							 task->receives >= activity->max_receive_count))
	{
		fail_stimulus(stimulus, "Sfflow.MaxReceiveCount",
					  psprintf("The task of state '%s' in activity '%s' was handed out %d %s and never answered.",
							   run->program->states[task->state].name,
							   activity ? activity->name : "", task->receives,
							   task->receives == 1 ? "time" : "times"));
		task->used_up = true;
		return true;
	}
	task->status = SF_TASK_QUEUED;
	task->started_at = DT_NOBEGIN;
	task->heartbeat_at = DT_NOBEGIN;
	task->lease_until = DT_NOEND;
	sf_task_update(task);
	sf_activity_notify(activity);
	branch->due_at = DT_NOEND;
	return false;
}

/* Nobody has answered, and a timer rang. */
static bool
timer_rang(SfRun *run, SfBranch *branch, SfTask *task, SfStimulus *stimulus)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz heard = task->heartbeat_at == DT_NOBEGIN ? task->started_at :
		task->heartbeat_at;

	if (task->submitted != NULL)
	{
		/* T2 of a request that is answered by its token */
		stimulus->kind = SF_STIMULUS_SUBMITTED;
		stimulus->output = task->submitted;
		task->submitted = NULL;
		sf_task_update(task);
		branch->due_at = sf_task_timer(task);
		return true;
	}
	if (task->timeout_ms > 0 && now >= task->started_at + task->timeout_ms * 1000)
		fail_stimulus(stimulus, SF_ERR_TIMEOUT, NULL);
	else if (task->heartbeat_ms > 0 && now >= heard + task->heartbeat_ms * 1000)
	{
		fail_stimulus(stimulus, SF_ERR_TIMEOUT, NULL);
		stimulus->error.heartbeat = true;
	}
	else if (now >= task->lease_until)
	{
		if (!lease_is_over(run, branch, task, stimulus))
			return false;
	}
	else
	{
		branch->due_at = sf_task_timer(task);
		return false;
	}
	stimulus->task = task;
	settle_task(run, task);
	return true;
}

/* A branch waits for a child execution, and its time is up, or not. */
static bool
child_timer_rang(SfRun *run, SfBranch *branch, SfStimulus *stimulus)
{
	if (GetCurrentTimestamp() < branch->deadline)
	{
		branch->due_at = branch->deadline;
		return false;
	}
	/* one at a time asks a child to stop: whoever holds the parent */
	sf_run_lock(run);
	sf_child_stop(run->execution, branch->key.branch_no);
	fail_stimulus(stimulus, SF_ERR_TIMEOUT, NULL);
	return true;
}

/* May a state's task have a row in _sfflow.task? */
static bool
may_have_task(const SfState *state)
{
	SfResourceKind kind;

	if (state->type != SF_STATE_TASK)
		return false;
	kind = sf_state_task(state)->resource.kind;
	return sf_state_awaits_token(state) || kind == SF_RESOURCE_ACTIVITY ||
		kind == SF_RESOURCE_MAPPED;
}

/* Work out what a branch that was handed out is told. */
bool
sf_outside_stimulus(SfRun *run, SfBranch *branch, SfStimulus *stimulus)
{
	const SfState *state = &run->program->states[branch->state];
	SfTask	   *task = may_have_task(state) ?
		sf_task_read(branch->key, SF_LOCK_WAIT) : NULL;

	if (task != NULL && task->generation != branch->generation)
		task = NULL;
	if (branch->phase == SF_PHASE_ANSWERED)
	{
		answered(run, branch, task, stimulus);
		return true;
	}
	if (task == NULL)
		return child_timer_rang(run, branch, stimulus);
	return timer_rang(run, branch, task, stimulus);
}

/*
 * A task is over: forget it, unless it is a dead letter.  That is one whose
 * receives are used up and whose own failure ended the branch: not one that
 * was answered, nor one whose failure was caught, however the branch ended
 * later in the slice.
 */
static void
write_settled(SfRun *run, SfTask *task)
{
	ListCell   *lc;

	foreach(lc, run->branches)
	{
		const SfBranch *branch = lfirst(lc);

		if (branch->key.branch_no == task->key.branch_no &&
			branch->phase == SF_PHASE_FAILED && branch->state == task->state &&
			task->used_up)
		{
			task->status = SF_TASK_DEAD;
			sf_task_update(task);
			return;
		}
	}
	sf_task_delete(task->key);
}

/* Write and settle the tasks of a run. */
void
sf_outside_write(SfRun *run)
{
	ListCell   *lc;

	foreach(lc, run->settled)
		write_settled(run, lfirst(lc));
	foreach(lc, run->tasks)
		sf_task_write(lfirst(lc));

	/* a child execution that a branch waited for ends with the branch */
	foreach(lc, run->branches)
	{
		const SfBranch *branch = lfirst(lc);
		const SfState *state;

		if (branch->phase != SF_PHASE_ABORTED || branch->state < 0)
			continue;
		state = &run->program->states[branch->state];
		if (state->type == SF_STATE_TASK &&
			sf_state_task(state)->resource.kind == SF_RESOURCE_START_EXECUTION)
			sf_child_stop(run->execution, branch->key.branch_no);
	}
}
