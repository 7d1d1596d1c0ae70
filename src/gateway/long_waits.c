/*
 * long_waits.c
 *		Roles whose requests wait for long.
 *
 * A request that waits for a task, for a change or for the end of an execution
 * keeps a connection for up to minutes.  A quarter of all connections is never
 * used so.  A role has at most waits-per-client of them, over all its keys, sessions
 * and addresses, and fewer where others wait, too: no more than are free.  So
 * one role leaves half of what there is, two leave a third, and so on: the next
 * role finds some.
 */
#include "postgres_fe.h"

#include "gateway/gateway_config.h"
#include "gateway/long_waits.h"

/* A role with requests that wait */
struct SfgWaiting
{
	char	   *role;
	int			n;				/* requests */
	dlist_node	node;
};

static dlist_head roles = DLIST_STATIC_INIT(roles);
static int	n_waiting;			/* requests of all roles */

/* Find a role, or make it known. */
static SfgWaiting *
find(const char *role)
{
	dlist_iter	iter;
	SfgWaiting *waiting;

	dlist_foreach(iter, &roles)
	{
		waiting = dlist_container(SfgWaiting, node, iter.cur);
		if (strcmp(waiting->role, role) == 0)
			return waiting;
	}
	waiting = pg_malloc0(sizeof(SfgWaiting));
	waiting->role = pg_strdup(role);
	dlist_push_tail(&roles, &waiting->node);
	return waiting;
}

/* Forget a role without requests that wait. */
static void
forget_if_none(SfgWaiting *waiting)
{
	if (waiting->n > 0)
		return;
	dlist_delete(&waiting->node);
	free(waiting->role);
	free(waiting);
}

/* Count one more request of a role; NULL: it has too many already. */
SfgWaiting *
sfg_waiting_begin(const char *role)
{
	SfgWaiting *waiting = find(role);
	int			places = sfg_config.connections - sfg_config.connections / 4;

	if (waiting->n >= Min(sfg_config.waits_per_client, places - n_waiting))
	{
		forget_if_none(waiting);
		return NULL;
	}
	waiting->n++;
	n_waiting++;
	return waiting;
}

/* A request of a role has ended; NULL: it was not counted. */
void
sfg_waiting_end(SfgWaiting *waiting)
{
	if (waiting == NULL)
		return;
	waiting->n--;
	n_waiting--;
	forget_if_none(waiting);
}
