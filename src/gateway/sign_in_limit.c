/*
 * sign_in_limit.c
 *		How often one may try to sign in.
 *
 * Tries are counted before the database is asked: at most MOST_TRIES within
 * WINDOW for a role from an address, so that one client cannot keep a role from
 * signing in elsewhere, and at most MOST_ALONE for a role from all addresses, and
 * from an address for all roles.  One that succeeds does not count.  The table
 * has a fixed size; the oldest entry makes room.
 */
#include "postgres_fe.h"

#include "client/loop.h"
#include "gateway/hashing.h"
#include "gateway/sign_in_limit.h"

#define MOST_TRIES	10
#define MOST_ALONE	100
#define WINDOW		60000
#define ENTRIES		2048

/* The tries of a role, from an address, or of both together */
typedef struct Entry
{
	unsigned char key[SFG_DIGEST_SIZE]; /* a digest: names have any length */
	int64_t		since;			/* 0: the entry is free */
	int			tries;
} Entry;

static Entry entries[ENTRIES];

/* Find the entry of a name, or make one. */
static Entry *
find(char kind, const char *name)
{
	char	   *text = psprintf("%c%s", kind, name);
	unsigned char key[SFG_DIGEST_SIZE];
	Entry	   *oldest = &entries[0];
	int64_t		now = sfw_now();

	sfg_sha256(text, strlen(text), key);
	free(text);
	for (Entry *entry = entries; entry < entries + ENTRIES; entry++)
	{
		if (entry->since != 0 && now - entry->since >= WINDOW)
			entry->since = 0;
		if (entry->since != 0 && memcmp(entry->key, key, sizeof(key)) == 0)
			return entry;
		if (entry->since < oldest->since)
			oldest = entry;
	}
	memcpy(oldest->key, key, sizeof(key));
	oldest->since = now;
	oldest->tries = 0;
	return oldest;
}

/* Count a try more or less, if no number has reached its limit; false: one has. */
static bool
count(const char *role, const char *address, int n)
{
	char	   *both = psprintf("%s %s", address, role);
	const struct
	{
		char		kind;
		const char *name;
		int			most;
	}			limits[] = {{'b', both, MOST_TRIES}, {'a', address, MOST_ALONE}, {'r', role, MOST_ALONE}};
	bool		allowed = true;

	for (size_t i = 0; i < lengthof(limits) && n > 0 && allowed; i++)
		allowed = find(limits[i].kind, limits[i].name)->tries < limits[i].most;
	for (size_t i = 0; i < lengthof(limits) && allowed; i++)
	{
		Entry	   *entry = find(limits[i].kind, limits[i].name);

		entry->tries = Max(entry->tries + n, 0);
	}
	free(both);
	return allowed;
}

/* Count a try; false: there were too many. */
bool
sfg_sign_in_try(const char *role, const char *address)
{
	return count(role, address, 1);
}

/* A try was good: do not count it. */
void
sfg_sign_in_succeeded(const char *role, const char *address)
{
	count(role, address, -1);
}
