/*
 * activity_poll.c
 *		GetActivityTask: workers that wait for tasks.
 *
 * A worker is answered when there is a task for it, or after LONGEST with {}.
 * sf_aws_api_as() says at once whether there is one:
 *
 *		asking -> answered
 *		 ^  |
 *		 |  v	no task
 *		waiting
 *
 * The database notifies sf_activity with the name of the activity when it has a
 * new task.  That wakes one worker that waits for it, which asks again; when it
 * got a task, or an error, or has left, the next one asks, because one commit
 * sends equal notifications once.  A notification for an activity whose workers
 * all ask has one of them ask again.  So a worker that waits causes no query.
 * When the connection that listens was lost all ask again.
 *
 * A worker may wait for longer than its key is good.  So before it asks again its
 * key is looked up, unless that was done a moment ago.
 */
#include "postgres_fe.h"

#include <poll.h>

#include "client/json_text.h"
#include "gateway/activity_poll.h"
#include "gateway/aws_answer.h"
#include "gateway/aws_call.h"
#include "gateway/call_error.h"
#include "gateway/changes.h"
#include "gateway/database.h"
#include "gateway/key_lookup.h"

/* Clients give up after 60 seconds. */
#define LONGEST 55000

/* Milliseconds until a worker asks again when the queue of calls was full */
#define RETRY 1000

/* A worker that waits */
typedef struct Waiter
{
	SfgRequest *request;
	char	   *activity;
	char	   *role;
	const char *key_id;			/* of its request */
	SfgCall    *call;			/* while it asks, or its key is looked up */
	bool		again;			/* ask again if there was no task */
	bool		over;			/* it has waited long enough */
	SfwTimer	timer;
	dlist_node	node;
} Waiter;

static dlist_head waiters = DLIST_STATIC_INIT(waiters);
static SfwTimer retry_timer;

/* Forget a worker. */
static void
forget(Waiter *waiter)
{
	if (waiter->call != NULL)
		sfg_call_forget(waiter->call);
	waiter->request->gone = NULL;
	sfw_timer_clear(&waiter->timer);
	dlist_delete(&waiter->node);
	free(waiter->activity);
	free(waiter->role);
	free(waiter);
}

/* Tell whether the client of a worker has left. */
static bool
has_left(const Waiter *waiter)
{
	struct pollfd connection = {
		.fd = MHD_get_connection_info(waiter->request->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
		.events = POLLRDHUP,
	};

	return poll(&connection, 1, 0) > 0;
}

/* Tell whether the client of a worker is there when its call is about to be sent. */
static bool
is_wanted(void *arg)
{
	return !has_left(arg);
}

static void answered(const PGresult *result, void *arg);
static void key_known(const PGresult *result, void *arg);
static void retry(void *arg);

/* Have a worker ask for a task; false: its client has left, which the loop will notice. */
static bool
ask(Waiter *waiter)
{
	const char *values[3] = {waiter->role, waiter->request->what, waiter->request->body.data};

	waiter->again = false;
	if (has_left(waiter))
		return false;
	if (sfg_access_key_is_known(waiter->key_id))
		waiter->call = sfg_pool_call(&sfg_api_pool, SFG_AWS_CALL, 3, values, answered, waiter);
	else
		waiter->call = sfg_access_key_ask(waiter->key_id, key_known, waiter);
	if (waiter->call != NULL)
		waiter->call->wanted = is_wanted;
	else
	{
		waiter->again = true;
		sfw_timer_set(&retry_timer, RETRY, retry, NULL);
	}
	return true;
}

/* An activity has a new task: have one worker ask. */
void
sfg_activity_notified(const char *activity)
{
	Waiter	   *asking = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &waiters)
	{
		Waiter	   *waiter = dlist_container(Waiter, node, iter.cur);

		if (strcmp(waiter->activity, activity) != 0)
			continue;
		if (waiter->call == NULL && ask(waiter))
			return;
		if (asking == NULL && waiter->call != NULL)
			asking = waiter;
	}
	if (asking != NULL)
		asking->again = true;
}

/* Have workers ask for which the queue of calls had no room. */
static void
retry(void *arg)
{
	dlist_iter	iter;

	dlist_foreach(iter, &waiters)
	{
		Waiter	   *waiter = dlist_container(Waiter, node, iter.cur);

		if (waiter->call == NULL && waiter->again && !ask(waiter))
			sfg_activity_notified(waiter->activity);
	}
}

/* Forget a worker that ends otherwise than by {}; a notification may have been for it, so that the next one asks. */
static void
pass_on(Waiter *waiter)
{
	char	   *activity = pg_strdup(waiter->activity);

	forget(waiter);
	sfg_activity_notified(activity);
	free(activity);
}

/* The client has left, or waited too long. */
static void
gone(SfgRequest *request)
{
	Waiter	   *waiter = request->state;

	if (waiter->call != NULL || waiter->again)
		pass_on(waiter);
	else
		forget(waiter);
}

/* The key of a worker was looked up again: have it ask, or refuse it, so that the next one asks. */
static void
key_known(const PGresult *result, void *arg)
{
	Waiter	   *waiter = arg;
	SfgRequest *request = waiter->request;
	bool		again = waiter->again;
	SfgKeyState state = sfg_access_key_state(result);

	waiter->call = NULL;
	if (state == SFG_KEY_GOOD)
	{
		if (!ask(waiter))
			sfg_activity_notified(waiter->activity);
		else
			waiter->again |= again;
		return;
	}
	pass_on(waiter);
	if (state == SFG_KEY_GONE)
		sfg_aws_refuse_key(request);
	else
		sfg_aws_result(request, result);
}

/* Answer a worker that there is no task. */
static void
answer_none(Waiter *waiter)
{
	SfgRequest *request = waiter->request;

	gone(request);
	sfg_aws_answer(request, MHD_HTTP_OK, "{}", 2);
}

/* A worker has got its answer. */
static void
answered(const PGresult *result, void *arg)
{
	Waiter	   *waiter = arg;
	SfgRequest *request = waiter->request;
	bool		has_value = sfg_call_has_value(result);
	bool		empty = has_value && strcmp(PQgetvalue(result, 0, 0), "{}") == 0;

	waiter->call = NULL;
	if (empty && waiter->over)
		answer_none(waiter);
	else if (empty && waiter->again && !ask(waiter))
		sfg_activity_notified(waiter->activity);
	if (empty)
		return;
	pass_on(waiter);
	sfg_aws_result(request, result);
	if (has_value)
		sfg_changes_note();
}

/* A worker has waited long enough. */
static void
time_over(void *arg)
{
	Waiter	   *waiter = arg;

	waiter->over = true;
	if (waiter->call == NULL)
		answer_none(waiter);
}

/* Read the name of the activity from a request that was checked, or "". */
static char *
read_activity(const SfgRequest *request)
{
	SfwJson		body;
	SfwJson		arn;
	char	   *text;
	char	   *name;

	if (!sfw_json_parse(request->body.data, request->body.len, &body) || !sfw_json_get(body, "activityArn", &arn))
		return pg_strdup("");
	text = sfw_json_text(arn);
	name = strrchr(text, ':');
	name = pg_strdup(name != NULL ? name + 1 : text);
	free(text);
	return name;
}

/* Answer a worker when there is a task for it; the request keeps the id of its key. */
void
sfg_activity_poll(SfgRequest *request, const char *role, const char *key_id)
{
	Waiter	   *waiter = pg_malloc0(sizeof(Waiter));

	waiter->request = request;
	waiter->activity = read_activity(request);
	waiter->role = pg_strdup(role);
	waiter->key_id = key_id;
	dlist_push_tail(&waiters, &waiter->node);
	sfw_timer_set(&waiter->timer, LONGEST, time_over, waiter);
	request->state = waiter;
	request->gone = gone;
	request->until = sfw_now() + 2 * LONGEST;
	ask(waiter);
}

/* Have all workers ask: notifications may have been lost. */
void
sfg_activity_ask_all(void)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &waiters)
	{
		Waiter	   *waiter = dlist_container(Waiter, node, iter.cur);

		if (waiter->call == NULL)
			ask(waiter);
		else
			waiter->again = true;
	}
}

/* Answer all workers, because the gateway leaves. */
void
sfg_activity_drain(void)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &waiters)
		time_over(dlist_container(Waiter, node, iter.cur));
}
