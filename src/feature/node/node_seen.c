/*
 * node_seen.c
 *		When each node has answered last, in shared memory: a list of nodes that is only read writes nothing.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "base/shmem.h"
#include "feature/node/node.h"

/* Places: one database has half of them at most */
#define PLACES	1024

typedef struct Place
{
	SfHashEntry entry;			/* first: the number of the node, and one */
	SfPeerSeen	seen;
} Place;

static SfHash places;

/* Ask for the shared memory; from _PG_init. */
void
sf_nodes_seen_init(void)
{
	sf_hash_init(&places, "sfflow_nodes", PLACES, sizeof(Place), 0);
}

/* The key of a node; a number of 0 would stand for all of a database. */
static SfHashKey
key_of(Oid database, int number)
{
	return (SfHashKey) {.database = database,.first = number + 1};
}

/* No place is given up: what it says has no other place. */
static bool
is_never_idle(const void *entry, SfTick now)
{
	return false;
}

/* Note that a node has answered, or (error not NULL) has not. */
void
sf_nodes_note(int number, const char *error)
{
	SfHashKey	key = key_of(MyDatabaseId, number);
	TimestampTz now = GetCurrentTimestamp();
	Place	   *place;

	sf_hash_lock(&places, LW_EXCLUSIVE);
	place = sf_hash_find(&places, key);
	if (place == NULL)
	{
		place = sf_hash_add(&places, key, MyDatabaseId, is_never_idle);
		if (place != NULL)
			memset(&place->seen, 0, sizeof(place->seen));
	}
	if (place != NULL && error == NULL)
		place->seen.answered_at = now;
	else if (place != NULL)
	{
		int			len = pg_mbcliplen(error, (int) strlen(error), (int) sizeof(place->seen.error) - 1);

		place->seen.failed_at = now;
		memcpy(place->seen.error, error, (size_t) len);
		place->seen.error[len] = '\0';
	}
	sf_hash_unlock(&places);
}

/* When a node has answered last, and when it has not. */
SfPeerSeen
sf_nodes_seen(int number)
{
	SfPeerSeen	seen = {0};
	Place	   *place;

	sf_hash_lock(&places, LW_SHARED);
	place = sf_hash_find(&places, key_of(MyDatabaseId, number));
	if (place != NULL)
		seen = place->seen;
	sf_hash_unlock(&places);
	return seen;
}

/* Forget a node of a database, or (number -1) all of its. */
void
sf_nodes_forget(Oid database, int number)
{
	sf_hash_lock(&places, LW_EXCLUSIVE);
	sf_hash_remove_all(&places, database, number + 1);
	sf_hash_unlock(&places);
}
