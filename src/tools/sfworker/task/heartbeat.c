/*
 * heartbeat.c
 *		Heartbeats of tasks.
 */
#include "postgres_fe.h"

#include "tools/client/session.h"
#include "tools/sfworker/task/answer.h"
#include "tools/sfworker/task/heartbeat.h"
#include "tools/sfworker/task/queue.h"

/* Milliseconds before a heartbeat is sent again whose task is locked */
#define LOCKED_RETRY 1000

static char *heartbeat_token;	/* of the task whose heartbeat is under way */
static bool waited;				/* the last heartbeat has waited for a lock in vain */

/* The task of a token; NULL: it was released. */
static SfwTask *
task_of_token(const char *token)
{
	dlist_iter	iter;

	dlist_foreach(iter, &sfw_tasks)
	{
		SfwTask    *task = dlist_container(SfwTask, node, iter.cur);

		if (strcmp(task->token, token) == 0)
			return task;
	}
	return NULL;
}

/* Handle a heartbeat that has failed: a task whose token is refused is stopped, or not answered any more. */
static void
heartbeat_failed(SfwTask *task, const char *sqlstate, const char *message)
{
	bool		refused = sfw_answer_is_refused(sqlstate);

	task->locked = sfw_answer_is_locked(sqlstate);
	if (task->locked)
	{
		sfw_task_log(task, SFC_LOG_DEBUG, "the task is locked, its heartbeat is tried again", NULL, NULL);
		sfw_task_beat_after(task, Min(task->heartbeat, LOCKED_RETRY));
		return;
	}
	if (refused && task->phase == SFW_PHASE_HELD)
	{
		sfw_queue_give_up(task, message);
		return;
	}
	/* That the database takes no answer now is known of one that is held. */
	sfw_task_log(task, task->phase == SFW_PHASE_HELD ? SFC_LOG_DEBUG : SFC_LOG_WARNING,
				 "a heartbeat is refused", "reason", message);
	if (refused)
		sfw_task_stop(task, SFW_STOP_REFUSED);
}

/* Handle the result of a heartbeat. */
static void
heartbeat_done(const PGresult *result, void *arg)
{
	SfwTask    *task = task_of_token(heartbeat_token);

	free(heartbeat_token);
	heartbeat_token = NULL;
	waited = result != NULL && sfw_answer_is_locked(sfc_sqlstate(result));
	if (task == NULL)
		return;
	if (result == NULL)
		task->heartbeat_due = sfc_now();
	else if (PQresultStatus(result) != PGRES_TUPLES_OK)
	{
		char	   *message = sfc_primary_message(result);

		heartbeat_failed(task, sfc_sqlstate(result), message);
		free(message);
	}
	else
		task->locked = false;
}

/* Tell whether a heartbeat has waited for a lock in vain, since this was asked last. */
bool
sfw_heartbeat_has_waited(void)
{
	bool		has_waited = waited;

	waited = false;
	return has_waited;
}

/* Tell whether the heartbeat of a task is more urgent than that of another one: it may not be locked, or is older. */
static bool
comes_before(const SfwTask *task, const SfwTask *other)
{
	return task->locked != other->locked ? other->locked : task->heartbeat_due < other->heartbeat_due;
}

/* Find the task that wants a heartbeat most; NULL: none does.  Those whose answers are about to be sent do not. */
static SfwTask *
task_with_heartbeat_due(void)
{
	SfwTask    *first = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &sfw_tasks)
	{
		SfwTask    *task = dlist_container(SfwTask, node, iter.cur);

		if (task->heartbeat_due > 0 && (task->phase == SFW_PHASE_RUNS || task->phase == SFW_PHASE_HELD) &&
			(first == NULL || comes_before(task, first)))
			first = task;
	}
	return first;
}

/* Send a heartbeat if one is due. */
bool
sfw_heartbeat_send(void)
{
	SfwTask    *task = task_with_heartbeat_due();
	const char *values[1];
	char	   *statement;

	if (task == NULL)
		return false;
	task->heartbeat_due = 0;
	values[0] = heartbeat_token = pg_strdup(task->token);
	statement = psprintf("SELECT %s.sf_send_task_heartbeat($1::pg_catalog.text)", sfw_workflows.schema);
	sfc_db_send(&sfw_workflows, statement, 1, values, heartbeat_done, NULL);
	free(statement);
	return true;
}
