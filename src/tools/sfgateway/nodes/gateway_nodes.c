/*
 * gateway_nodes.c
 *		The databases of sf_nodes: which there are, the connections to each, and whether it answers.
 *
 * The coordinator says where they are: at the start, every EVERY milliseconds, and when one has fallen silent.  The
 * gateway logs in there under its own name, and acts for roles by sf_aws_api_as(), as it does on the coordinator.
 *
 * A node has pools of its own, so its calls take no connection of others.  One of its connections listens for new
 * tasks, and is asked whether the node is there (presence.c), also when a call has been under way for half of
 * the coordinator's sfflow.node_timeout.  It is silent when the answer takes another half, or when that connection is
 * lost and cannot be made again.  Then its calls end without a result, and new ones are not made until it is connected
 * again.
 */
#include "postgres_fe.h"

#include <time.h>

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/sfgateway/aws_api/aws_api.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"

/* Milliseconds between questions which nodes there are; when the coordinator did not say; between two at least */
#define EVERY		60000
#define RETRY		1000
#define APART		5000

/* Milliseconds between attempts to connect to a node that is silent, at most */
#define LONGEST_DELAY 2000

/* Calls that wait for a connection of a node */
#define MOST_QUEUED 1000

/* A node other than the coordinator */
typedef struct Node
{
	int			number;
	char	   *name;
	char	   *address;		/* where it is, as the coordinator has it */
	char	   *dsn;			/* as the gateway connects to it */
	SfgPool		api;
	SfgPool		sync;			/* without connections until it is needed */
	SfgPool		listen;
	SfgPresence presence;		/* by the connection that listens; UNWATCHED: it is none of sf_nodes any more */
} Node;

static Node *nodes[SFG_MOST_NODES]; /* by their indexes; that of the coordinator is NULL */
static bool are_known;
static int	own_number = SFG_NO_NODE_NUMBER;	/* of the coordinator */
static char *own_name;
static int64_t node_timeout = 1500;
static int64_t refreshed_at = INT64_MIN / 2;
static SfcTimer refresh_timer;

static void refresh(void *arg);

/* Half of the time that a node has to answer. */
static int64_t
half(void)
{
	return Max(node_timeout / 2, 1);
}

/* --- whether a node answers --- */

/* The index of a node. */
static int
index_of(const Node *node)
{
	int			node_index = 1;

	while (nodes[node_index] != node)
		node_index++;
	return node_index;
}

/* Tell whether a node is one of sf_nodes. */
static bool
is_served(const Node *node)
{
	return node->presence.status != SFG_PRESENCE_UNWATCHED;
}

/* Tell whether a node has calls to answer. */
static bool
is_busy(void *arg)
{
	const Node *node = arg;

	return !sfg_pool_is_idle(&node->api) || !sfg_pool_is_idle(&node->sync);
}

/* End the calls of a node, which does not answer, and make none. */
static void
fall_silent(void *arg, const char *why)
{
	Node	   *node = arg;
	char		number[12];

	if (node->presence.status == SFG_PRESENCE_SILENT)
		return;
	node->presence.status = SFG_PRESENCE_SILENT;
	snprintf(number, sizeof(number), "%d", node->number);
	sfc_log(SFC_LOG_WARNING, "a node does not answer", "node", number, "name", node->name, "reason", why, NULL);
	sfg_pool_give_up(&node->listen, why);
	sfg_pool_give_up(&node->api, why);
	sfg_pool_give_up(&node->sync, why);
	/* It may be elsewhere now. */
	sfc_timer_set(&refresh_timer, Max(refreshed_at + APART - sfc_now(), 0), refresh, NULL);
}

/* The connection that listens is there: notifications sent before are lost. */
static void
listening(SfgPool *pool)
{
	Node	   *node = pool->arg;

	if (node->presence.status == SFG_PRESENCE_SILENT)
		sfc_log(SFC_LOG_INFO, "a node answers again", "name", node->name, NULL);
	sfg_presence_made(&node->presence);
	sfg_pool_hurry(&node->api);
	sfg_pool_hurry(&node->sync);
	sfg_activity_ask(index_of(node));
}

/* It is lost, or cannot be made. */
static void
not_listening(SfgPool *pool)
{
	Node	   *node = pool->arg;

	if (sfg_presence_after_loss(&node->presence) == SFG_PRESENCE_SILENT)
		fall_silent(node, "it cannot be connected");
	else
		node->presence.status = SFG_PRESENCE_LOST;
}

/* A node has a new task of an activity. */
static void
notified(SfcDb *db, const PGnotify *notify)
{
	sfg_activity_notified(notify->extra, index_of(((SfgConnection *) db->arg)->pool->arg));
}

/* --- which nodes there are --- */

/* Close the connections of a node. */
static void
stop(Node *node)
{
	sfg_presence_end(&node->presence);	/* no call is made by those that end now */
	sfg_pool_stop(&node->api);
	sfg_pool_stop(&node->sync);
	sfg_pool_stop(&node->listen);
	sfg_pool_free(&node->api);
	sfg_pool_free(&node->sync);
	sfg_pool_free(&node->listen);
}

/* Connect to a node. */
static void
start(Node *node)
{
	SfgPool		pool = {
		.dsn = node->dsn, .statement_timeout = sfg_config.statement_timeout, .connect_timeout = node_timeout,
		/* A node that is slow is waited for; the calls of one that is silent have ended before. */
		.patience = sfg_config.statement_timeout, .most_queued = MOST_QUEUED, .by_role = true, .arg = node
	};

	node->presence = (SfgPresence) {
		.pool = &node->listen, .within = half(), .late = fall_silent, .is_busy = is_busy, .arg = node
	};
	sfg_presence_begin(&node->presence);
	node->api = node->sync = node->listen = pool;
	node->sync.statement_timeout = sfg_config.sync_timeout;
	node->listen.statement_timeout = 1000;
	node->listen.by_role = false;
	node->listen.listen = "LISTEN sf_activity";
	node->listen.longest_delay = LONGEST_DELAY;
	node->listen.notified = notified;
	node->listen.connected = listening;
	node->listen.failing = not_listening;
	sfg_pool_start(&node->listen, 1);
	sfg_pool_start(&node->api, sfg_config.database_connections);
}

/* Find the node of a number, which need not be there any more, or a new one; NULL: there are too many. */
static Node *
find_or_add(int number)
{
	for (int node_index = 1; node_index < SFG_MOST_NODES; node_index++)
	{
		if (nodes[node_index] == NULL)
		{
			nodes[node_index] = pg_malloc0(sizeof(Node));
			nodes[node_index]->number = number;
			return nodes[node_index];
		}
		if (nodes[node_index]->number == number)
			return nodes[node_index];
	}
	sfc_log(SFC_LOG_WARNING, "there are too many nodes", NULL);
	return NULL;
}

/* Set a node as the coordinator has it: connect to one that is new, or somewhere else now. */
static void
set_node(Node *node, const char *name, const char *address, const char *dbname)
{
	char	   *dsn = sfg_dsn_of_node(sfg_config.dsn, address, dbname);

	if (is_served(node) && dsn != NULL && strcmp(node->dsn, dsn) == 0 && strcmp(node->name, name) == 0)
	{
		free(dsn);
		return;
	}
	if (is_served(node))
		stop(node);
	free(node->dsn);
	free(node->name);
	node->dsn = dsn;
	node->name = pg_strdup(name);
	if (dsn != NULL)
		start(node);
	else
		sfc_log(SFC_LOG_ERROR, "the address of a node is no connection string", "name", name, NULL);
}

/* Set the nodes of an answer, and leave those that it does not have. */
static void
set_nodes(const PGresult *result)
{
	bool		found[SFG_MOST_NODES] = {false};

	own_number = SFG_NO_NODE_NUMBER;
	for (int i = 0; i < PQntuples(result); i++)
	{
		int			number = atoi(PQgetvalue(result, i, 0));
		Node	   *node;

		node_timeout = atoi(PQgetvalue(result, i, 4));
		if (PQgetisnull(result, i, 2))
		{
			own_number = number;
			free(own_name);
			own_name = pg_strdup(PQgetvalue(result, i, 1));
			continue;
		}
		node = find_or_add(number);
		if (node == NULL)
			continue;
		node->presence.within = half();
		set_node(node, PQgetvalue(result, i, 1), PQgetvalue(result, i, 2), PQgetvalue(result, i, 3));
		found[index_of(node)] = true;
	}
	for (int node_index = 1; node_index < SFG_MOST_NODES; node_index++)
	{
		if (nodes[node_index] == NULL || !is_served(nodes[node_index]) || found[node_index])
			continue;
		stop(nodes[node_index]);
	}
}

#define NODES_QUERY \
	"SELECT p.node, p.name, p.dsn, pg_catalog.current_database(), s.setting" \
	" FROM @.sf_node_addresses() AS p, pg_catalog.pg_settings AS s" \
	" WHERE s.name OPERATOR(pg_catalog.=) 'sfflow.node_timeout' ORDER BY p.node"

/* The coordinator has said which nodes there are. */
static void
nodes_come(const PGresult *result, void *arg)
{
	bool		ok = result != NULL && PQresultStatus(result) == PGRES_TUPLES_OK;

	if (ok)
	{
		set_nodes(result);
		are_known = true;
	}
	else if (result != NULL)
		sfc_log(SFC_LOG_WARNING, "cannot read which nodes there are, may the gateway's role execute sf_node_addresses()?",
				"reason", PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), NULL);
	sfc_timer_set(&refresh_timer, ok ? EVERY : RETRY, refresh, NULL);
}

/* It is time to ask again. */
static void
refresh(void *arg)
{
	sfg_nodes_refresh();
}

/* Ask the coordinator which nodes there are, if others than itself are served. */
void
sfg_nodes_refresh(void)
{
	if (!sfg_config.nodes)
		return;
	refreshed_at = sfc_now();
	sfc_timer_set(&refresh_timer, EVERY, refresh, NULL);
	(void) sfg_pool_call(&sfg_keys_pool, NODES_QUERY, 0, NULL, nodes_come, NULL);
}

/* Close the connections of all nodes. */
void
sfg_nodes_stop(void)
{
	sfc_timer_clear(&refresh_timer);
	for (int node_index = 1; node_index < SFG_MOST_NODES; node_index++)
	{
		if (nodes[node_index] == NULL || !is_served(nodes[node_index]))
			continue;
		stop(nodes[node_index]);
	}
}

/* --- what others ask of nodes --- */

/* Tell whether the coordinator has said which nodes there are. */
bool
sfg_nodes_are_known(void)
{
	return are_known;
}

/* The set of all nodes, with the coordinator, whether they answer or not. */
uint64
sfg_nodes_all(void)
{
	uint64		all = SFG_NODE_BIT(SFG_HERE);

	for (int node_index = 1; node_index < SFG_MOST_NODES && nodes[node_index] != NULL; node_index++)
		if (is_served(nodes[node_index]))
			all |= SFG_NODE_BIT(node_index);
	return all;
}

/* Find the index of a node by its number; -1: there is none. */
int
sfg_node_find(int number)
{
	for (int node_index = 1; node_index < SFG_MOST_NODES && nodes[node_index] != NULL; node_index++)
		if (is_served(nodes[node_index]) && nodes[node_index]->number == number)
			return node_index;
	return number != SFG_NO_NODE_NUMBER && number == own_number ? SFG_HERE : SFG_NO_NODE;
}

/* Tell whether a node does not answer, so that it need not be asked. */
bool
sfg_node_is_silent(int node_index)
{
	if (node_index == SFG_HERE)
		return sfg_availability_down_since() != NULL;
	return nodes[node_index] == NULL || !is_served(nodes[node_index]) || nodes[node_index]->presence.status == SFG_PRESENCE_SILENT;
}

/* Write the number and the name of a node, as people read them. */
static const char *
name_of(int node_index, char *text, size_t size)
{
	if (node_index != SFG_HERE)
		snprintf(text, size, "node %d (%s)", nodes[node_index]->number, nodes[node_index]->name);
	else if (own_number != SFG_NO_NODE_NUMBER)
		snprintf(text, size, "node %d (%s)", own_number, own_name);
	else
		strlcpy(text, "the coordinator", size);
	return text;
}

/* Append since when a node does not answer, behind a word for it. */
void
sfg_node_put_reason(PQExpBuffer text, int node_index)
{
	const char *since = node_index == SFG_HERE ? sfg_availability_down_since() : NULL;
	char		at[32];
	struct tm	utc;

	if (node_index != SFG_HERE && nodes[node_index]->presence.status == SFG_PRESENCE_SILENT)
	{
		strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&nodes[node_index]->presence.answered_at, &utc));
		since = at;
	}
	if (since != NULL)
		appendPQExpBuffer(text, " has not answered since %s", since);
	else
		appendPQExpBufferStr(text, " gave no answer");
}

/* Append the names of nodes to an empty text, each with since when it does not answer if that is to be said. */
void
sfg_nodes_put(PQExpBuffer text, uint64 node_set, bool with_reasons)
{
	for (int node_index = 0; node_index < SFG_MOST_NODES; node_index++)
	{
		char		name[128];

		if ((node_set & SFG_NODE_BIT(node_index)) == 0)
			continue;
		appendPQExpBuffer(text, "%s%s", text->len > 0 ? ", " : "", name_of(node_index, name, sizeof(name)));
		if (with_reasons)
			sfg_node_put_reason(text, node_index);
	}
}

/* Append the number and the name of a node other than the coordinator, as members of an object. */
void
sfg_node_put_json(PQExpBuffer json, int node_index)
{
	sfc_json_put_key(json, "node");
	appendPQExpBuffer(json, "%d", nodes[node_index]->number);
	sfc_json_put_key(json, "name");
	sfc_json_put_string(json, nodes[node_index]->name);
}

/* Log the error of a node that is not the answer to a request. */
void
sfg_node_log_error(const SfgRequest *request, int node_index, const char *what, const PGresult *result)
{
	char		name[128];
	char	   *message = sfc_primary_message(result);

	sfc_log(SFC_LOG_WARNING, what, "id", request->id, "node", name_of(node_index, name, sizeof(name)),
			"sqlstate", sfc_sqlstate(result), "reason", message, NULL);
	free(message);
}

/* Append which nodes answer, in Prometheus' text format. */
void
sfg_nodes_put_metrics(PQExpBuffer text)
{
	if (!are_known)
		return;
	appendPQExpBufferStr(text, "# HELP sfgateway_node_up Whether a node of sf_nodes answers the gateway.\n"
						 "# TYPE sfgateway_node_up gauge\n");
	for (int node_index = 1; node_index < SFG_MOST_NODES && nodes[node_index] != NULL; node_index++)
		if (is_served(nodes[node_index]))
			appendPQExpBuffer(text, "sfgateway_node_up{node=\"%d\"} %d\n", nodes[node_index]->number,
							  nodes[node_index]->presence.status != SFG_PRESENCE_SILENT);
}

/* The pool of a node for calls that last; it is connected when it is needed first. */
static SfgPool *
sync_pool(Node *node)
{
	if (node->sync.connections == NULL)
		sfg_pool_start(&node->sync, sfg_config.sync_connections);
	return &node->sync;
}

/* Make a call on a node, with a role as its first value; NULL: it does not answer, or too many calls wait for it. */
SfgCall *
sfg_node_call(int node_index, SfgNodeUse use, const char *statement, int n, const char *const *values, SfcDbDone done,
			  void *arg)
{
	Node	   *node = nodes[node_index];

	if (sfg_node_is_silent(node_index))
		return NULL;
	if (node_index == SFG_HERE)
		return sfg_pool_call(use == SFG_NODE_SYNC ? &sfg_sync_pool : &sfg_api_pool, statement, n, values, done, arg);
	sfg_presence_ask_soon(&node->presence);
	return sfg_pool_call(use == SFG_NODE_SYNC ? sync_pool(node) : &node->api, statement, n, values, done, arg);
}

/* Make a call on a node whose result answers a request; done gets the request, and NULL if the node does not answer. */
void
sfg_node_request_call(SfgRequest *request, int node_index, const char *statement, int n, const char *const *values,
					  SfcDbDone done)
{
	if (!sfg_call_wait(request, sfg_node_call(node_index, SFG_NODE_CALL, statement, n, values, done, request)))
		done(NULL, request);
}
