/*
 * long_waits.c
 *		Clients whose requests wait for long.
 *
 * A request that waits for a task, for a change or for the end of an execution
 * keeps a connection for up to minutes.  The setting waits-per-client says how
 * many of them a client has at the same time, so that one client cannot use all
 * connections.
 */
#include "postgres_fe.h"

#include "gateway/gateway_config.h"
#include "gateway/long_waits.h"

/* A client with requests that wait */
struct SfgWaiting
{
	char	   *client;			/* an access key, or the name of a session */
	int			n;				/* requests */
	dlist_node	node;
};

static dlist_head clients = DLIST_STATIC_INIT(clients);

/* Find a client, or NULL. */
static SfgWaiting *
find(const char *client)
{
	dlist_iter	iter;

	dlist_foreach(iter, &clients)
	{
		SfgWaiting *waiting = dlist_container(SfgWaiting, node, iter.cur);

		if (strcmp(waiting->client, client) == 0)
			return waiting;
	}
	return NULL;
}

/* Count one more request of a client; NULL: it has too many already. */
SfgWaiting *
sfg_waiting_begin(const char *client)
{
	SfgWaiting *waiting = find(client);

	if (waiting == NULL)
	{
		waiting = pg_malloc0(sizeof(SfgWaiting));
		waiting->client = pg_strdup(client);
		dlist_push_tail(&clients, &waiting->node);
	}
	else if (waiting->n >= sfg_config.waits_per_client)
		return NULL;
	waiting->n++;
	return waiting;
}

/* A request of a client has ended; NULL: it was not counted. */
void
sfg_waiting_end(SfgWaiting *waiting)
{
	if (waiting == NULL || --waiting->n > 0)
		return;
	dlist_delete(&waiting->node);
	free(waiting->client);
	free(waiting);
}
