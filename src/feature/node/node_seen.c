/*
 * node_seen.c
 *		When each node has answered last, in shared memory: a list of nodes that is only read writes nothing.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "base/memory/shmem.h"
#include "feature/node/node.h"

/* Entries: one database has half of them at most */
#define ENTRIES	1024

typedef struct Entry
{
	SfHashEntry entry;			/* first: the number of the node, and one */
	SfNodeSeen	seen;
} Entry;

static SfHash entries;

/* A node of which nothing is known */
static const SfNodeSeen never = {.answered_at = DT_NOBEGIN,.failed_at = DT_NOBEGIN};

/* Ask for the shared memory; from _PG_init. */
void
sf_node_seen_init(void)
{
	sf_hash_init(&entries, "sfflow_nodes", ENTRIES, sizeof(Entry), 0);
}

/* The key of a node; a number of 0 would stand for all of a database. */
static SfHashKey
key_of(Oid database, int number)
{
	return (SfHashKey) {.database = database,.first = number + 1};
}

/* No entry is given up: what it says has no other room. */
static bool
is_never_idle(const void *entry, SfTick now)
{
	return false;
}

/* Note that a node has answered, or (error not NULL) has not. */
void
sf_node_note(int number, const char *error)
{
	SfHashKey	key = key_of(MyDatabaseId, number);
	TimestampTz now = GetCurrentTimestamp();
	Entry	   *entry;

	sf_hash_lock(&entries, LW_EXCLUSIVE);
	entry = sf_hash_find(&entries, key);
	if (entry == NULL)
	{
		entry = sf_hash_add(&entries, key, MyDatabaseId, is_never_idle);
		if (entry != NULL)
			entry->seen = never;
	}
	if (entry != NULL && error == NULL)
		entry->seen.answered_at = now;
	else if (entry != NULL)
	{
		int			len = pg_mbcliplen(error, (int) strlen(error), (int) sizeof(entry->seen.error) - 1);

		entry->seen.failed_at = now;
		memcpy(entry->seen.error, error, (size_t) len);
		entry->seen.error[len] = '\0';
	}
	sf_hash_unlock(&entries);
}

/* When a node has answered last, and when it has not. */
SfNodeSeen
sf_node_seen(int number)
{
	SfNodeSeen	seen = never;
	Entry	   *entry;

	sf_hash_lock(&entries, LW_SHARED);
	entry = sf_hash_find(&entries, key_of(MyDatabaseId, number));
	if (entry != NULL)
		seen = entry->seen;
	sf_hash_unlock(&entries);
	return seen;
}

/* Forget entries of a database: those of a key's first number, or (SF_HASH_ANY) all. */
static void
forget(Oid database, int64 first)
{
	sf_hash_lock(&entries, LW_EXCLUSIVE);
	sf_hash_remove_all(&entries, database, first);
	sf_hash_unlock(&entries);
}

/* Forget a node of this database. */
void
sf_node_forget(int number)
{
	forget(MyDatabaseId, key_of(MyDatabaseId, number).first);
}

/* Forget all nodes of a database. */
void
sf_node_forget_all(Oid database)
{
	forget(database, SF_HASH_ANY);
}
