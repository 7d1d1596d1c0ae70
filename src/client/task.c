/*
 * task.c
 *		The life of a task in this worker.
 *
 *		claimed -> runs -> over -> answered
 *		             |       ^
 *		             +-stop--+      TERM, and KILL when that is not enough
 *
 * A task is stopped for one of three reasons, and that decides what becomes of
 * its answer: its own TimeoutSeconds gives States.Timeout; a token that nobody
 * waits for any more gives none; a worker that must leave at once gives
 * Worker.Stopped, which Retry may name.
 */
#include "task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "log.h"
#include "queue.h"

/* Step Functions takes so many bytes of an error name and of a cause */
#define ERROR_MAX	256
#define CAUSE_MAX	32000

SfwTask    *sfw_tasks;
int			sfw_tasks_running;

/* Find a kind by its name. */
const SfwKind *
sfw_kind_find(const char *name)
{
	static const SfwKind *const kinds[] = {&sfw_kind_shell, &sfw_kind_http, &sfw_kind_sql};

	for (int i = 0; i < 3; i++)
	{
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	}
	return NULL;
}

/* Write a line about a task; never its token, which is a bearer's right. */
void
sfw_task_log(const SfwTask *task, int level, const char *message, const char *key, const char *value)
{
	sfw_log((SfwLevel) level, message, "kind", task->kind->name, "execution", task->execution_id,
			"state", task->state, "attempt", task->attempt,
			key != NULL ? key : "detail", key != NULL ? value : NULL, NULL);
}

/* A heartbeat is due. */
static void
heartbeat(void *arg)
{
	SfwTask    *task = arg;

	task->heartbeat_due = true;
	sfw_timer_set(&task->heartbeat_timer, task->heartbeat, heartbeat, task);
	sfw_queue_pump();
}

/* The payload's own time limit is over. */
static void
timed_out(void *arg)
{
	sfw_task_stop(arg, SFW_STOP_TIMEOUT);
}

/* The database has given the task up by now. */
static void
deadline_over(void *arg)
{
	sfw_task_stop(arg, SFW_STOP_REFUSED);
}

/* What was asked to end has not. */
static void
kill_hard(void *arg)
{
	SfwTask    *task = arg;

	sfw_task_log(task, SFW_WARNING, "killing what does not end by itself", NULL, NULL);
	task->kind->stop(task, true);
}

/* Fail with what fail_soon noted. */
static void
fail_now(void *arg)
{
	SfwTask    *task = arg;
	char	   *error = task->error;
	char	   *cause = task->cause;

	task->error = task->cause = NULL;
	sfw_task_failed(task, error, cause);
}

/* Read the payload and its time limit; gives what is wrong with them, or NULL. */
static char *
read_payload(SfwTask *task)
{
	SfwJson		seconds;
	double		limit;

	if (!sfw_json_parse(task->input, strlen(task->input), &task->payload) ||
		sfw_json_type(task->payload) != '{')
		return sfw_strdup("the payload must be an object");
	if (sfw_json_get(task->payload, "TimeoutSeconds", &seconds))
	{
		if (!sfw_json_number(seconds, &limit) || !(limit > 0))
			return sfw_strdup("TimeoutSeconds must be a positive number");
		if (limit < 1e9)
			sfw_timer_set(&task->timeout_timer, (int64_t) (limit * 1000), timed_out, task);
	}
	return NULL;
}

/* Begin a task that was claimed. */
void
sfw_task_begin(const SfwKind *kind, const SfwClaim *claim)
{
	SfwTask    *task = sfw_alloc(sizeof(SfwTask));
	char	   *problem;

	task->kind = kind;
	task->token = sfw_strdup(claim->token);
	task->input = sfw_strdup(claim->input);
	task->execution_id = sfw_strdup(claim->execution_id);
	task->state = sfw_strdup(claim->state);
	task->attempt = sfw_strdup(claim->attempt);
	task->began = sfw_now();
	task->next = sfw_tasks;
	sfw_tasks = task;
	sfw_tasks_running++;
	if (claim->heartbeat > 0)
	{
		task->heartbeat = (int64_t) (claim->heartbeat * 1000 / 3);
		if (task->heartbeat < 100)
			task->heartbeat = 100;
		sfw_timer_set(&task->heartbeat_timer, task->heartbeat, heartbeat, task);
	}
	if (claim->time_left >= 0)
		sfw_timer_set(&task->deadline_timer, (int64_t) (claim->time_left * 1000), deadline_over, task);
	problem = read_payload(task);
	if (problem != NULL)
	{
		sfw_task_reject(task, problem);
		return;
	}
	sfw_task_log(task, SFW_INFO, "task begins", NULL, NULL);
	kind->start(task);
}

/* Ask what runs to end, and have it killed when it does not. */
void
sfw_task_stop(SfwTask *task, SfwStop why)
{
	static const char *const reasons[] = {
		NULL, "its time is over", "nobody waits for it any more", "the worker leaves"};

	if (task->over || (task->stopped != SFW_NOT_STOPPED && why != SFW_STOP_REFUSED))
		return;
	if (task->stopped == SFW_NOT_STOPPED)
	{
		sfw_task_log(task, SFW_WARNING, "stopping a task", "reason", reasons[why]);
		sfw_timer_set(&task->kill_timer, sfw_config.kill_after, kill_hard, task);
		task->stopped = why;
		task->kind->stop(task, false);
	}
	else
		task->stopped = why;
}

/* Release a task that was answered. */
void
sfw_task_free(SfwTask *task)
{
	free(task->token);
	free(task->input);
	free(task->execution_id);
	free(task->state);
	free(task->attempt);
	free(task->output);
	free(task->error);
	free(task->cause);
	free(task);
}

/* Cut a text to so many bytes at a character's end; NULL stays NULL. */
static char *
clip(char *text, size_t max)
{
	if (text != NULL && strlen(text) > max)
		text[sfw_utf8_clip(text, max)] = '\0';
	return text;
}

/* Take a task from those that run, and have its answer sent when one is wanted. */
static void
end(SfwTask *task)
{
	SfwTask   **link = &sfw_tasks;
	char		elapsed[32];

	while (*link != task)
		link = &(*link)->next;
	*link = task->next;
	task->next = NULL;
	sfw_tasks_running--;
	task->over = true;
	task->heartbeat_due = false;
	sfw_timer_clear(&task->heartbeat_timer);
	sfw_timer_clear(&task->timeout_timer);
	sfw_timer_clear(&task->deadline_timer);
	sfw_timer_clear(&task->kill_timer);

	snprintf(elapsed, sizeof(elapsed), "%lld", (long long) (sfw_now() - task->began));
	sfw_log(SFW_INFO, task->success ? "task succeeded" : "task failed",
			"kind", task->kind->name, "execution", task->execution_id, "state", task->state,
			"attempt", task->attempt, "ms", elapsed,
			task->success || task->error == NULL ? "answered" : "error",
			task->stopped == SFW_STOP_REFUSED ? "no" : task->error, NULL);
	if (task->stopped == SFW_STOP_REFUSED)
	{
		sfw_task_free(task);
		sfw_queue_pump();
	}
	else
		sfw_queue_answer(task);
}

/* Note that a task has succeeded with a JSON text. */
void
sfw_task_succeeded(SfwTask *task, char *output)
{
	task->success = true;
	task->output = output;
	end(task);
}

/* Note that a task has failed; the reason for which it was stopped comes first. */
void
sfw_task_failed(SfwTask *task, char *error, char *cause)
{
	if (task->stopped == SFW_STOP_TIMEOUT)
	{
		free(error);
		error = sfw_strdup("States.Timeout");
	}
	else if (task->stopped == SFW_STOP_LEAVING)
	{
		free(error);
		error = sfw_strdup("Worker.Stopped");
	}
	task->success = false;
	task->error = clip(error, ERROR_MAX);
	task->cause = clip(cause, CAUSE_MAX);
	end(task);
}

/* Fail in a moment: what start may do. */
void
sfw_task_fail_soon(SfwTask *task, char *error, char *cause)
{
	task->error = error;
	task->cause = cause;
	sfw_timer_set(&task->timeout_timer, 0, fail_now, task);
}

/* Fail in a moment, because the payload cannot be carried out as it is: nothing was begun. */
void
sfw_task_reject(SfwTask *task, char *cause)
{
	sfw_task_fail_soon(task, sfw_format("%s.InvalidParameters", task->kind->error_prefix), cause);
}
