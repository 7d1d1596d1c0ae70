/*
 * crowd.c
 *		Who has the connections, and which of them ends when they become few.
 *
 * A connection costs a client nothing, and the gateway has so many (the setting
 * connections).  So that clients which only connect cannot keep others out, an
 * eighth of them is kept free: when fewer are left, each new connection ends an
 * old one.  Only connections end whose client has to do something, that is, to
 * send a request or the rest of one, or to take an answer.  There are two kinds:
 *
 *		strangers	no request of theirs had a good signature or session
 *		others		a role has signed in; the connection counts for this role
 *
 * Each kind is sure of a quarter of the connections.  Strangers above theirs go
 * first, so that what they keep is not missing for those who sign in.  Of a kind
 * the connection ends that has done nothing for the longest time, of the address
 * or of the role with the most.  A client that sends a usual request does so within
 * milliseconds, and is never the oldest.
 *
 * Answers that are not taken need memory.  Of that a role has no more than is free,
 * but always room for one answer.
 *
 * Besides, an address may have no more than connections-per-address.  Networks of
 * IPv6 count as one address: a client has 2^64 of it.
 */
#include "postgres_fe.h"

#include <netinet/in.h>

#include "common/hashfn.h"

#include "tools/client/loop.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/http/http_request.h"
#include "tools/sfgateway/http/listener.h"

/* Parts of all connections: what is kept free, and what each kind is sure of */
#define FREE_PART	8
#define SURE_PART	4

#define BUCKETS		1024

/* Milliseconds that a client has to take an answer before its connection may end */
#define SLOW_ANSWER	2000

/* Bytes of answers that clients have not taken; one of no more than so many costs nothing */
#define MOST_UNTAKEN	((size_t) 256 * 1024 * 1024)
#define SMALL_ANSWER ((size_t) 64 * 1024)

/* An address, or a role, with connections */
typedef struct SfgCrowdGroup
{
	char	   *name;
	int			n;				/* connections */
	size_t		untaken;		/* bytes of answers that their clients have not taken */
	dlist_node	node;
} SfgCrowdGroup;

static dlist_head groups[BUCKETS];	/* zeroed lists are empty */
static dlist_head members = DLIST_STATIC_INIT(members);
static int	n_members;			/* without those that were told to end */
static size_t untaken;			/* bytes of answers, of all groups */

/* Find a group in its bucket, or NULL. */
static SfgCrowdGroup *
find(dlist_head *bucket, const char *name)
{
	dlist_iter	iter;

	if (bucket->head.next == NULL)
		dlist_init(bucket);
	dlist_foreach(iter, bucket)
	{
		SfgCrowdGroup *group = dlist_container(SfgCrowdGroup, node, iter.cur);

		if (strcmp(group->name, name) == 0)
			return group;
	}
	return NULL;
}

/* The bucket of a name. */
static dlist_head *
bucket_of(const char *name)
{
	return &groups[hash_bytes((const unsigned char *) name, (int) strlen(name)) % BUCKETS];
}

/* Count a connection for a group. */
static SfgCrowdGroup *
count(const char *name)
{
	dlist_head *bucket = bucket_of(name);
	SfgCrowdGroup *group = find(bucket, name);

	if (group == NULL)
	{
		group = pg_malloc0(sizeof(SfgCrowdGroup));
		group->name = pg_strdup(name);
		dlist_push_tail(bucket, &group->node);
	}
	group->n++;
	return group;
}

/* Count a connection no longer. */
static void
discount(SfgCrowdGroup *group)
{
	if (group == NULL || --group->n > 0)
		return;
	dlist_delete(&group->node);
	free(group->name);
	free(group);
}

/* The most connections of an address: what the setting says, or half of all for one beyond this machine. */
static int
most_of(const struct sockaddr *address)
{
	if (sfg_config.connections_per_address > 0)
		return sfg_config.connections_per_address;
	if (sfg_config.behind_proxy || sfg_address_is_loopback(address))
		return sfg_config.connections;
	return Max(sfg_config.connections / 2, 1);
}

/* Tell whether an address may have one more connection. */
bool
sfg_crowd_admits(const struct sockaddr *address)
{
	char		name[64];
	const SfgCrowdGroup *group;

	sfg_address_print_network(address, name, sizeof(name));
	group = find(bucket_of(name), name);
	return group == NULL || group->n < most_of(address);
}

/* A connection begins, of a stranger. */
void
sfg_crowd_join(SfgClient *client, const struct sockaddr *address)
{
	sfg_address_print_network(address, client->network, sizeof(client->network));
	client->standing.address = count(client->network);
	dlist_push_tail(&members, &client->member);
	n_members++;
}

/* The client of a connection has shown that it is a role. */
void
sfg_crowd_sign_in(SfgClient *client, const char *role)
{
	char	   *name = psprintf("role %s", role);
	SfgCrowdGroup *before = client->standing.role;

	client->standing.role = count(name);
	discount(before);
	free(name);
}

/* A connection has ended. */
void
sfg_crowd_leave(SfgClient *client)
{
	if (!client->standing.ends)
		n_members--;
	dlist_delete(&client->member);
	discount(client->standing.address);
	discount(client->standing.role);
}

/* The group that a connection counts for; NULL: none, it came by the listener for health. */
static SfgCrowdGroup *
group_of(const SfgClient *client)
{
	return client->standing.role != NULL ? client->standing.role : client->standing.address;
}

/* Note that an answer waits for its client; false: there is no room for it. */
bool
sfg_crowd_add_answer(SfgClient *client, size_t bytes)
{
	SfgCrowdGroup *group = group_of(client);

	if (bytes <= SMALL_ANSWER || group == NULL)
		return true;
	if (group->untaken > 0 && group->untaken + untaken + bytes > MOST_UNTAKEN)
		return false;
	group->untaken += bytes;
	untaken += bytes;
	return true;
}

/* An answer for which there was room is sent, or its client has left. */
void
sfg_crowd_drop_answer(SfgClient *client, size_t bytes)
{
	SfgCrowdGroup *group = group_of(client);

	if (bytes <= SMALL_ANSWER || group == NULL)
		return;
	group->untaken -= bytes;
	untaken -= bytes;
}

/* Tell whether a connection waits for its client to send something, or to take an answer. */
static bool
may_end(const SfgClient *client)
{
	const SfgRequest *request = client->request;

	if (client->standing.ends)
		return false;
	if (request == NULL || request->phase == SFG_REQUEST_READING)
		return true;
	return request->phase == SFG_REQUEST_ANSWERED && sfc_now() - client->since > SLOW_ANSWER;
}

/* Tell whether a connection is one to end rather than another one of its kind. */
static bool
goes_before(const SfgClient *a, const SfgClient *b)
{
	const SfgCrowdGroup *x = group_of(a);
	const SfgCrowdGroup *y = group_of(b);

	return x->n != y->n ? x->n > y->n : a->since < b->since;
}

/*
 * Choose a connection that is to end because another one has begun; NULL: there is room, or none may
 * end.  The caller ends it.
 */
SfgClient *
sfg_crowd_choose(const SfgClient *newest)
{
	SfgClient  *chosen[2] = {NULL, NULL};	/* a stranger, another one */
	int			strangers = 0;
	dlist_iter	iter;
	SfgClient  *client;

	if (n_members <= sfg_config.connections - sfg_config.connections / FREE_PART)
		return NULL;
	dlist_foreach(iter, &members)
	{
		SfgClient **best;

		client = dlist_container(SfgClient, member, iter.cur);
		if (client == newest || !may_end(client))
			continue;
		strangers += client->standing.role == NULL;
		best = &chosen[client->standing.role != NULL];
		if (*best == NULL || goes_before(client, *best))
			*best = client;
	}
	client = chosen[0];
	if (chosen[1] != NULL && strangers <= sfg_config.connections / SURE_PART)
		client = chosen[1];
	if (client == NULL)
		return NULL;
	client->standing.ends = true;
	n_members--;
	return client;
}

/*
 * Roles whose requests wait for long.
 *
 * A request that waits for a task, for a change or for the end of an execution
 * keeps a connection for up to minutes.  A quarter of all connections is never
 * used so.  A role has at most waits-per-client of them, over all its keys, sessions
 * and addresses, and fewer where others wait, too: no more than are free.  So
 * one role leaves half of what there is, two leave a third, and so on: the next
 * role finds some.
 */

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
find_waiting(const char *role)
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
	SfgWaiting *waiting = find_waiting(role);
	int			room = sfg_config.connections - sfg_config.connections / 4;

	if (waiting->n >= Min(sfg_config.waits_per_client, room - n_waiting))
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
