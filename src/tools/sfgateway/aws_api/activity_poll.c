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
 * Each role may notify sf_activity, without a task.  So when workers of an activity were woken IN_VAIN
 * times and found none, further notifications of it wake one every PAUSE, until one finds a task.
 *
 * With several nodes a worker asks one after the other, each time beginning with another one, until one has a task.
 * Each node notifies by itself, and is asked then.  A node that does not answer is left out; it is asked when it is
 * there again.  Only if none has answered the worker gets an error.
 *
 * A worker may wait for longer than its key is good.  So before it asks again its
 * key is looked up, unless that was done a moment ago.
 */
#include "postgres_fe.h"

#include <poll.h>

#include "port/pg_bitutils.h"

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/client/sqlstate.h"
#include "tools/sfgateway/aws_api/aws_api.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"

/* Clients give up after 60 seconds. */
#define LONGEST 55000

/* Milliseconds until a worker asks again when the queue of calls was full */
#define RETRY 1000

/*
 * How often workers of an activity are woken without a task before they are woken less often; milliseconds between
 * then
 */
#define IN_VAIN 10
#define PAUSE	200

/* An activity for which workers wait */
typedef struct Topic
{
	char	   *activity;
	int			workers;
	int			in_vain;		/* times that workers were woken and found no task, one after the other */
	int64_t		woken_at;
	SfcTimer	timer;			/* armed: a notification waits for it */
	uint64		notified;		/* nodes whose notifications wait for it */
	dlist_node	node;
} Topic;

/* A worker that waits */
typedef struct Waiter
{
	SfgRequest *request;
	Topic	   *topic;
	char	   *role;
	const char *key_id;			/* of its request */
	SfgCall    *call;			/* while it asks, or its key is looked up */
	int			node_index;		/* the node that it asks, or has asked last */
	uint64		round;			/* nodes that it has still to ask in this round */
	uint64		again;			/* nodes to ask because of a notification, if there was no task */
	uint64		later;			/* nodes that gave no answer, to ask after RETRY */
	bool		was_heard;		/* a node has answered since it came */
	bool		over;			/* it has waited long enough */
	bool		woken;			/* it asks because of a notification */
	SfcTimer	timer;
	dlist_node	node;
} Waiter;

static dlist_head waiters = DLIST_STATIC_INIT(waiters);
static dlist_head topics = DLIST_STATIC_INIT(topics);
static SfcTimer retry_timer;

/* Find an activity for which workers wait, or NULL. */
static Topic *
find_topic(const char *activity)
{
	dlist_iter	iter;

	dlist_foreach(iter, &topics)
	{
		Topic	   *topic = dlist_container(Topic, node, iter.cur);

		if (strcmp(topic->activity, activity) == 0)
			return topic;
	}
	return NULL;
}

/* Have one more worker wait for an activity. */
static Topic *
join_topic(const char *activity)
{
	Topic	   *topic = find_topic(activity);

	if (topic == NULL)
	{
		topic = pg_malloc0(sizeof(Topic));
		topic->activity = pg_strdup(activity);
		dlist_push_tail(&topics, &topic->node);
	}
	topic->workers++;
	return topic;
}

/* A worker does not wait for an activity any more. */
static void
leave_topic(Topic *topic)
{
	if (--topic->workers > 0)
		return;
	sfc_timer_clear(&topic->timer);
	dlist_delete(&topic->node);
	free(topic->activity);
	free(topic);
}

/* Forget a worker. */
static void
forget(Waiter *waiter)
{
	if (waiter->call != NULL)
		sfg_call_forget(waiter->call);
	waiter->request->gone = NULL;
	sfc_timer_clear(&waiter->timer);
	dlist_delete(&waiter->node);
	leave_topic(waiter->topic);
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

/* Take the next of some nodes out of those that a worker has to ask; SFG_NO_NODE: none of them answers. */
static int
take_node(Waiter *waiter, uint64 node_set)
{
	for (int i = 1; i <= SFG_MOST_NODES && node_set != 0; i++)
	{
		int			node_index = (waiter->node_index + i) % SFG_MOST_NODES;

		if ((node_set & SFG_NODE_BIT(node_index)) == 0)
			continue;
		node_set &= ~SFG_NODE_BIT(node_index);
		waiter->round &= ~SFG_NODE_BIT(node_index);
		waiter->again &= ~SFG_NODE_BIT(node_index);
		if (!sfg_config.nodes || !sfg_node_is_silent(node_index))
			return node_index;
	}
	return SFG_NO_NODE;
}

/* Have a worker ask the next node that answers; false: its client has left, which the loop will notice. */
static bool
ask(Waiter *waiter)
{
	const char *values[] = {waiter->role, waiter->request->what, waiter->request->body.data};
	uint64		again = waiter->again;
	uint64		round = waiter->round;
	int			node_index;

	if (has_left(waiter))
	{
		waiter->again = 0;
		return false;
	}
	node_index = take_node(waiter, again);
	if (node_index == SFG_NO_NODE)
		node_index = take_node(waiter, round);
	if (node_index == SFG_NO_NODE)
		return true;
	waiter->node_index = node_index;
	if (!sfg_access_key_is_known(waiter->key_id))
	{
		/* It asks when its key is known. */
		waiter->again = again;
		waiter->round = round;
		waiter->call = sfg_access_key_ask(waiter->key_id, key_known, waiter);
	}
	else if (node_index == SFG_HERE)
		waiter->call = sfg_pool_call(&sfg_api_pool, SFG_AWS_CALL, lengthof(values), values, answered, waiter);
	else
		waiter->call = sfg_node_call(node_index, SFG_NODE_CALL, SFG_AWS_CALL, lengthof(values), values, answered, waiter);
	if (waiter->call != NULL)
		waiter->call->wanted = is_wanted;
	else
	{
		waiter->later |= SFG_NODE_BIT(node_index);
		sfc_timer_set(&retry_timer, RETRY, retry, NULL);
	}
	return true;
}

/* Have one worker of an activity ask some nodes; if all do, have one ask again. */
static void
wake(Topic *topic, uint64 node_set)
{
	Waiter	   *asking = NULL;
	dlist_iter	iter;

	topic->woken_at = sfc_now();
	dlist_foreach(iter, &waiters)
	{
		Waiter	   *waiter = dlist_container(Waiter, node, iter.cur);

		if (waiter->topic != topic)
			continue;
		if (waiter->call == NULL)
		{
			waiter->again |= node_set;
			if (ask(waiter))
			{
				waiter->woken = true;
				return;
			}
		}
		if (asking == NULL && waiter->call != NULL)
			asking = waiter;
	}
	if (asking != NULL)
		asking->again |= node_set;
}

/* The pause of an activity is over. */
static void
pause_over(void *arg)
{
	Topic	   *topic = arg;
	uint64		node_set = topic->notified;

	topic->notified = 0;
	wake(topic, node_set);
}

/* Some nodes have a new task of an activity, or a role has said so: have one worker ask, now or after a pause. */
static void
notified(Topic *topic, uint64 node_set)
{
	if (topic->in_vain < IN_VAIN && !topic->timer.armed)
	{
		wake(topic, node_set);
		return;
	}
	topic->notified |= node_set;
	if (!topic->timer.armed)
		sfc_timer_set(&topic->timer, Max(topic->woken_at + PAUSE - sfc_now(), 0), pause_over, topic);
}

/* A node has a new task of an activity, or a role has said so. */
void
sfg_activity_notified(const char *activity, int node_index)
{
	Topic	   *topic = find_topic(activity);

	if (topic != NULL)
		notified(topic, SFG_NODE_BIT(node_index));
}

/* A worker that was woken has found a task, or none. */
static void
note_found(Waiter *waiter, bool found)
{
	if (found)
		waiter->topic->in_vain = 0;
	else if (waiter->woken)
		waiter->topic->in_vain++;
	waiter->woken = false;
}

/* Have workers ask for which the queue of calls had no room. */
static void
retry(void *arg)
{
	dlist_iter	iter;

	dlist_foreach(iter, &waiters)
	{
		Waiter	   *waiter = dlist_container(Waiter, node, iter.cur);

		uint64		again = waiter->again | waiter->later;

		waiter->again = again;
		waiter->later = 0;
		if (waiter->call == NULL && again != 0 && !ask(waiter))
			wake(waiter->topic, again);
	}
}

/* Forget a worker that ends otherwise than by {}; a notification may have been for it, so that the next one asks. */
static void
pass_on(Waiter *waiter)
{
	Topic	   *topic = waiter->topic;
	uint64		node_set = waiter->again | waiter->later | SFG_NODE_BIT(waiter->node_index);
	bool		last = topic->workers == 1;

	forget(waiter);
	if (!last)
		wake(topic, node_set);
}

/* Have a worker ask on, because it was notified or its round is not over, or another one if its client has left. */
static void
ask_or_wake(Waiter *waiter)
{
	uint64		again = waiter->again;

	if (ask(waiter))
		waiter->woken = again != 0;
	else if (again != 0)
		wake(waiter->topic, again);
}

/* The client has left, or waited too long. */
static void
gone(SfgRequest *request)
{
	Waiter	   *waiter = request->route_data;

	if (waiter->call != NULL || (waiter->again | waiter->later) != 0)
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
	SfgAccessKeyStatus status = sfg_access_key_status(result);

	waiter->call = NULL;
	if (status == SFG_ACCESS_KEY_GOOD)
	{
		ask_or_wake(waiter);
		return;
	}
	pass_on(waiter);
	if (status == SFG_ACCESS_KEY_GONE)
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

/* A node gave a worker no task: have the worker ask the next one, or wait; it gets an error if no node has answered. */
static void
ask_on(Waiter *waiter)
{
	SfgRequest *request = waiter->request;

	if (waiter->again != 0 && waiter->topic->in_vain >= IN_VAIN)
	{
		uint64		node_set = waiter->again;

		waiter->again = 0;
		notified(waiter->topic, node_set);
	}
	if (waiter->again != 0 || waiter->round != 0)
		ask_or_wake(waiter);
	if (waiter->call == NULL && (waiter->again | waiter->later) == 0 && !waiter->was_heard)
	{
		forget(waiter);
		sfg_aws_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException", "no node has answered");
	}
}

/*
 * Tell whether a worker goes on to other nodes after an answer that is neither a task nor that there is none.
 * Definitions are the coordinator's, and so is its error; one that does not answer, or another node that lacks the
 * activity, is left out.
 */
static bool
is_left_out(Waiter *waiter, const PGresult *result)
{
	if (!sfg_config.nodes || has_left(waiter))
		return false;
	if (result == NULL)
	{
		/* It may have a task when it was only too busy. */
		if (!sfg_node_is_silent(waiter->node_index))
		{
			waiter->later |= SFG_NODE_BIT(waiter->node_index);
			sfc_timer_set(&retry_timer, RETRY, retry, NULL);
		}
		return true;
	}
	if (!sfc_sqlstate_is(sfc_sqlstate(result), SFC_SQLSTATE(ACTIVITY_DOES_NOT_EXIST)))
		sfg_node_log_error(waiter->request, waiter->node_index, "a node gives no tasks", result);
	return waiter->node_index != SFG_HERE || sfg_aws_is_down(result);
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
	waiter->was_heard |= has_value;
	note_found(waiter, has_value && !empty);
	if (!empty && !has_value)
		empty = is_left_out(waiter, result);
	if (empty && waiter->over)
		answer_none(waiter);
	else if (empty)
		ask_on(waiter);
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
	SfcJson		body;
	SfcJson		arn;
	char	   *text;
	char	   *name;

	if (!sfc_json_parse(request->body.data, request->body.len, &body) || !sfc_json_get(body, "activityArn", &arn))
		return pg_strdup("");
	text = sfc_json_text(arn);
	name = strrchr(text, ':');
	name = pg_strdup(name != NULL ? name + 1 : text);
	free(text);
	return name;
}

/* Answer a worker when there is a task for it; the request keeps the id of its key. */
void
sfg_activity_poll(SfgRequest *request, const char *role, const char *key_id)
{
	static unsigned turn = 0;
	Waiter	   *waiter = pg_malloc0(sizeof(Waiter));
	char	   *activity = read_activity(request);

	waiter->request = request;
	waiter->topic = join_topic(activity);
	free(activity);
	waiter->role = pg_strdup(role);
	waiter->key_id = key_id;
	waiter->round = sfg_nodes_all();
	/* The one before the first that it asks */
	waiter->node_index = (int) (turn++ % pg_popcount64(waiter->round) + SFG_MOST_NODES - 1) % SFG_MOST_NODES;
	dlist_push_tail(&waiters, &waiter->node);
	sfc_timer_set(&waiter->timer, LONGEST, time_over, waiter);
	request->route_data = waiter;
	request->gone = gone;
	request->until = sfc_now() + 2 * LONGEST;
	ask(waiter);
}

/* Have all workers ask a node: its notifications may have been lost. */
void
sfg_activity_ask(int node_index)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &waiters)
	{
		Waiter	   *waiter = dlist_container(Waiter, node, iter.cur);

		waiter->round |= SFG_NODE_BIT(node_index);
		if (waiter->call == NULL)
			ask(waiter);
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
