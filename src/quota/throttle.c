/*
 * throttle.c
 *		Starts that a quota refused, until a fold counts them.
 *
 * The transaction of such a start rolls back, so it can write no increment.  The
 * number is kept in shared memory, or without preloading in this backend, until a
 * transaction that folds writes it.  A crash of the server forgets the starts that
 * were refused since.  Owners share the places for machines fairly (base/shmem.h); starts
 * of a machine for which its owner has no place are not counted.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "base/shmem.h"
#include "quota/throttle.h"
#include "store/tally.h"

/* State machines whose refused starts are kept, of all owners */
#define MACHINES	2048

typedef struct Refused
{
	SfHashEntry entry;
	int64		starts;
	int64		taken;			/* of these, by the transaction that folds */
} Refused;

static SfHash refused;

/* Has this transaction taken some? */
static bool has_taken = false;

/* Ask for the shared memory; from _PG_init. */
void
sf_throttle_init(void)
{
	sf_hash_init(&refused, "sfflow_throttle", MACHINES, sizeof(Refused), 0);
}

/* Note that a quota, or a limit, refuses to start an execution of an owner's machine. */
void
sf_throttle_note(int machine_no, Oid owner)
{
	SfHashKey	key = {MyDatabaseId, machine_no, 0};
	Refused    *r;

	sf_hash_lock(&refused, LW_EXCLUSIVE);
	r = sf_hash_find(&refused, key);
	if (r == NULL)
		r = sf_hash_add(&refused, key, owner, NULL);
	if (r != NULL)
		r->starts++;
	sf_hash_unlock(&refused);
}

/* Find the refused starts of the next machine of this database, behind a place; NULL: there are no more. */
static Refused *
next_refused(int *at)
{
	while (++(*at) <= sf_hash_end(&refused))
	{
		Refused    *r = sf_hash_at(&refused, *at);

		if (r->entry.key.database == MyDatabaseId)
			return r;
	}
	return NULL;
}

/* Are there refused starts of this database? */
bool
sf_throttle_is_there(void)
{
	int			at = 0;
	bool		found;

	sf_hash_lock(&refused, LW_SHARED);
	found = next_refused(&at) != NULL;
	sf_hash_unlock(&refused);
	return found;
}

/* Forget what this transaction has written, or (undo) that it has taken any. */
static void
give_up_taken(bool undo)
{
	int			at = 0;
	Refused    *r;

	sf_hash_lock(&refused, LW_EXCLUSIVE);
	while ((r = next_refused(&at)) != NULL)
	{
		if (!undo)
			r->starts -= r->taken;
		r->taken = 0;
		if (r->starts == 0)
			sf_hash_remove(&refused, r);
	}
	sf_hash_unlock(&refused);
	has_taken = false;
}

/* At the end of the transaction that has taken some. */
static void
on_transaction(XactEvent event, void *arg)
{
	if (!has_taken)
		return;
	if (event == XACT_EVENT_COMMIT)
		give_up_taken(false);
	else if (event == XACT_EVENT_ABORT)
		give_up_taken(true);
}

/*
 * Take the refused starts of this database, for the transaction that has locked the
 * counters to write them: a List of SfTally.  They are forgotten when it commits.
 */
List *
sf_throttle_take(void)
{
	static bool registered = false;
	SfTally    *tallies = palloc0(sizeof(SfTally) * MACHINES);
	List	   *taken = NIL;
	int			n = 0;
	int			at = 0;
	Refused    *r;

	if (!registered)
		RegisterXactCallback(on_transaction, NULL);
	registered = true;
	sf_hash_lock(&refused, LW_EXCLUSIVE);
	while ((r = next_refused(&at)) != NULL)
	{
		/* one that another transaction has just committed is forgotten in a moment */
		tallies[n].machine_no = (int) r->entry.key.first;
		tallies[n].throttled = (int) Min(r->starts - r->taken, PG_INT32_MAX);
		r->taken += tallies[n++].throttled;
		has_taken = true;
	}
	sf_hash_unlock(&refused);
	for (int i = 0; i < n; i++)
		if (tallies[i].throttled > 0)
			taken = lappend(taken, &tallies[i]);
	return taken;
}

/* Forget what is kept of a database that is gone. */
void
sf_throttle_forget(Oid database)
{
	sf_hash_lock(&refused, LW_EXCLUSIVE);
	sf_hash_remove_all(&refused, database, 0);
	sf_hash_unlock(&refused);
}
