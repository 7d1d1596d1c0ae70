/*
 * claimed_task.c
 *		The life of a task that this worker has claimed.
 *
 *		RUNS --> OVER --> READY <--> SENT --> answered, and released
 *		 |        ^         ^          |
 *		 +--stop--+         +-- HELD <-+
 *
 * A stop is TERM, and KILL when that is not enough.  What is from READY on, and the
 * heartbeats until the task is answered, are queue.c's.
 *
 * A task is stopped for one of three reasons, which determines its answer:
 * after its own TimeoutSeconds it fails with States.Timeout; one whose token the
 * database refuses is not answered; when the worker has to exit at once it
 * fails with Worker.Stopped, which Retry may name.
 */
#include "postgres_fe.h"

#include "tools/sfworker/config.h"
#include "tools/sfworker/task/claimed_task.h"
#include "tools/sfworker/task/queue.h"

/* Bytes of an error name and of a cause that are kept; the database takes 256 and 32768 */
#define ERROR_MAX	256
#define CAUSE_MAX	32000

dlist_head	sfw_tasks = DLIST_STATIC_INIT(sfw_tasks);

/* Find a kind by its name. */
const SfwKind *
sfw_kind_find(const char *name)
{
	static const SfwKind *const kinds[] = {&sfw_kind_shell, &sfw_kind_http, &sfw_kind_sql, &sfw_kind_program,
	&sfw_kind_archive};

	for (size_t i = 0; i < lengthof(kinds); i++)
	{
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	}
	return NULL;
}

/* Log a line about a task; never its token, which gives the right to answer the task. */
void
sfw_task_log(const SfwTask *task, SfcLevel level, const char *message, const char *key, const char *value)
{
	sfc_log(level, message, "kind", task->kind->name, "execution", task->execution_id,
			"state", task->state, "attempt", task->attempt,
			key != NULL ? key : "detail", key != NULL ? value : NULL, NULL);
}

/* A heartbeat is due. */
static void
heartbeat(void *arg)
{
	SfwTask    *task = arg;

	task->heartbeat_due = sfc_now();
	sfw_task_beat_after(task, task->heartbeat);
	sfw_queue_pump();
}

/* Have a heartbeat sent after a delay in milliseconds, and regularly from then on. */
void
sfw_task_beat_after(SfwTask *task, int64_t delay)
{
	sfc_timer_set(&task->heartbeat_timer, delay, heartbeat, task);
}

/* The time limit of the payload has expired. */
static void
timed_out(void *arg)
{
	sfw_task_stop(arg, SFW_STOP_TIMEOUT);
}

/* The deadline has passed, after which the database refuses any answer. */
static void
deadline_over(void *arg)
{
	sfw_task_stop(arg, SFW_STOP_REFUSED);
}

/* The task did not end when it was asked to. */
static void
kill_hard(void *arg)
{
	SfwTask    *task = arg;

	sfw_task_log(task, SFC_LOG_WARNING, "killing what does not end by itself", NULL, NULL);
	task->kind->stop(task, true);
}

/* Read the payload and its time limit; gives what is wrong with it, or NULL. */
static char *
read_payload(SfwTask *task)
{
	SfcJson		seconds;
	double		limit;

	if (task->input == NULL || !sfc_json_parse(task->input, strlen(task->input), &task->payload))
		return pg_strdup("the payload is missing, or nested too deep");
	if (sfc_json_type(task->payload) != '{')
		return pg_strdup("the payload must be an object");
	if (!task->kind->foreign_payload && sfc_json_get(task->payload, "TimeoutSeconds", &seconds))
	{
		/* strtod stops at the end of the number: a comma, bracket or blank follows. */
		limit = sfc_json_type(seconds) == '0' ? strtod(seconds.text, NULL) : 0;
		if (!(limit > 0))
			return pg_strdup("TimeoutSeconds must be a positive number");
		if (limit < 1e9)
			sfc_timer_set(&task->timeout_timer, (int64_t) (limit * 1000), timed_out, task);
	}
	return NULL;
}

/* Copy a text of a claim; NULL for null. */
static char *
text_at(const PGresult *claim, int row, int column)
{
	return PQgetisnull(claim, row, column) ? NULL : pg_strdup(PQgetvalue(claim, row, column));
}

/*
 * Begin a task that was claimed: a row with SFW_CLAIM_COLUMNS.  It fails if its texts cannot be read: unreadable says
 * why not, or is NULL.
 */
void
sfw_task_begin(const SfwKind *kind, const PGresult *claim, int row, const char *unreadable)
{
	SfwTask    *task = pg_malloc0(sizeof(SfwTask));
	double		heartbeat_time = strtod(PQgetvalue(claim, row, 5), NULL);
	double		time_left = strtod(PQgetvalue(claim, row, 6), NULL);
	char	   *problem;

	task->kind = kind;
	task->token = pg_strdup(PQgetvalue(claim, row, 0));
	task->input = text_at(claim, row, 1);
	task->execution_id = text_at(claim, row, 2);
	task->state = text_at(claim, row, 3);
	task->attempt = text_at(claim, row, 4);
	task->resource = text_at(claim, row, 7);
	task->traceparent = text_at(claim, row, 8);
	task->tracestate = text_at(claim, row, 9);
	task->began = sfc_now();
	dlist_push_tail(&sfw_tasks, &task->node);
	if (heartbeat_time > 0)
	{
		task->heartbeat = Max((int64_t) (heartbeat_time * 1000 / 3), 100);
		sfw_task_beat_after(task, task->heartbeat);
	}
	if (!PQgetisnull(claim, row, 6))
		sfc_timer_set(&task->deadline_timer, (int64_t) (time_left * 1000), deadline_over, task);
	problem = unreadable != NULL ? pg_strdup(unreadable) : read_payload(task);
	if (problem != NULL)
	{
		sfw_task_reject(task, problem);
		return;
	}
	sfw_task_log(task, SFC_LOG_INFO, "task begins", NULL, NULL);
	kind->start(task);
}

/* Ask a task to end, and have it killed when it does not. */
void
sfw_task_stop(SfwTask *task, SfwStop reason)
{
	static const char *const reasons[] = {
		NULL, "its time is over", "nobody waits for it any more", "the worker leaves"};

	if (task->phase != SFW_PHASE_RUNS || (task->stopped != SFW_STOP_NONE && reason != SFW_STOP_REFUSED))
		return;
	if (task->stopped == SFW_STOP_NONE)
	{
		sfw_task_log(task, SFC_LOG_WARNING, "stopping a task", "reason", reasons[reason]);
		sfc_timer_set(&task->kill_timer, sfw_config.kill_after, kill_hard, task);
		task->stopped = reason;
		task->kind->stop(task, false);
	}
	else
		task->stopped = reason;
}

/* Release an outcome; there is none then. */
static void
clear_outcome(SfwOutcome *outcome)
{
	if (outcome->succeeded)
		free(outcome->output);
	else
	{
		free(outcome->failure.error);
		free(outcome->failure.cause);
	}
	*outcome = (SfwOutcome) {0};
}

/* Copy a text as the database takes it: no byte that is no character, no half of one, and no more than max bytes. */
static char *
clipped(const char *text, size_t max)
{
	char	   *copy = sfc_utf8_repair(text, strlen(text));

	if (strlen(copy) > max)
		copy[sfc_utf8_clip(copy, max)] = '\0';
	return copy;
}

/* Make a failure the outcome of a task, in place of what was; cause is handed over. */
void
sfw_task_set_failure(SfwTask *task, char *cause, const char *error)
{
	clear_outcome(&task->outcome);
	task->outcome.failure.error = clipped(error, ERROR_MAX);
	task->outcome.failure.cause = clipped(cause, CAUSE_MAX);
	free(cause);
}

/* Release a task that was answered, or is not to be answered. */
void
sfw_task_free(SfwTask *task)
{
	dlist_delete(&task->node);
	sfc_timer_clear(&task->heartbeat_timer);
	sfc_timer_clear(&task->retry_timer);
	free(task->token);
	free(task->input);
	free(task->execution_id);
	free(task->state);
	free(task->attempt);
	free(task->resource);
	free(task->traceparent);
	free(task->tracestate);
	clear_outcome(&task->outcome);
	free(task);
}

/* End a task, and have it answered unless the database would refuse that. */
static void
end(void *arg)
{
	SfwTask    *task = arg;
	bool		succeeded = task->outcome.succeeded;
	bool		refused = task->stopped == SFW_STOP_REFUSED;
	char		elapsed[32];

	snprintf(elapsed, sizeof(elapsed), "%lld", (long long) (sfc_now() - task->began));
	sfc_log(SFC_LOG_INFO, succeeded ? "task succeeded" : "task failed",
			"kind", task->kind->name, "execution", task->execution_id, "state", task->state,
			"attempt", task->attempt, "ms", elapsed, succeeded ? "answered" : "error",
			refused ? "no" : succeeded ? NULL : task->outcome.failure.error, NULL);
	if (refused)
	{
		sfw_task_free(task);
		sfw_queue_pump();
	}
	else
		sfw_queue_answer(task);
}

/* Note that a task has an outcome: nothing limits its time any more, and it ends with this turn of the loop. */
static void
be_over(SfwTask *task)
{
	task->phase = SFW_PHASE_OVER;
	sfc_timer_clear(&task->timeout_timer);
	sfc_timer_clear(&task->deadline_timer);
	sfc_timer_clear(&task->kill_timer);
	sfc_timer_set(&task->end_timer, 0, end, task);
}

/* Report that a task has succeeded with a JSON text, unless that is larger than a database ever takes. */
void
sfw_task_succeeded(SfwTask *task, char *output)
{
	if (strlen(output) > SFW_OUTPUT_MAX)
	{
		sfw_task_failed(task, psprintf("the output has %zu bytes, and the database takes %d at most", strlen(output),
									   SFW_OUTPUT_MAX), "States.DataLimitExceeded");
		free(output);
		return;
	}
	task->outcome = (SfwOutcome) {.succeeded = true,.output = output};
	be_over(task);
}

/* Report that a task has failed; the reason for which it was stopped comes first. */
void
sfw_task_failed(SfwTask *task, char *cause, const char *error,...)
{
	char	   *text;
	va_list		args;

	va_start(args, error);
	if (vasprintf(&text, error, args) < 0)
		sfc_out_of_memory();
	va_end(args);
	sfw_task_set_failure(task, cause, task->stopped == SFW_STOP_TIMEOUT ? "States.Timeout" :
						 task->stopped == SFW_STOP_LEAVING ? "Worker.Stopped" : text);
	free(text);
	be_over(task);
}

/* Report that the payload cannot be carried out; nothing was begun. */
void
sfw_task_reject(SfwTask *task, char *cause)
{
	sfw_task_failed(task, cause, "%s.InvalidParameters", task->kind->error_prefix);
}
