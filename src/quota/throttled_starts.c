/*
 * throttled_starts.c
 *		Starts that were throttled: refused by a quota or a limit, until a fold counts them.
 *
 * The transaction of such a start rolls back, so it can write no increment.  The
 * number is kept in shared memory, or without preloading in this backend, until a
 * transaction that folds writes it.  That transaction does nothing else, so what it takes is written when it ends:
 * a fold is no part of a transaction block, which could be prepared or roll back a part (locks_counters,
 * store/feature.h).  A crash of the server forgets the starts that were throttled since.  Owners share the entries for
 * machines fairly (base/memory/shmem.h); starts of a machine for which its owner has no entry are not counted.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "base/memory/shmem.h"
#include "quota/quota.h"
#include "store/statistics/tally.h"

/* State machines whose throttled starts are kept, of all owners */
#define MACHINES	2048

typedef struct Throttled
{
	SfHashEntry entry;
	int64		starts;
	int64		taken;			/* of these, by the transaction that folds */
	int			taken_by;		/* ... of this process; 0: none */
} Throttled;

static SfHash throttled;

/* Has this transaction taken some? */
static bool has_taken = false;

/* Ask for the shared memory; from _PG_init. */
void
sf_throttled_init(void)
{
	sf_hash_init(&throttled, "sfflow_throttled_starts", MACHINES, sizeof(Throttled), 0);
}

/* Note that a quota, or a limit, refuses to start an execution of an owner's machine. */
void
sf_throttled_note(int machine_no, Oid owner)
{
	SfHashKey	key = {MyDatabaseId, machine_no, 0};
	Throttled  *row;

	sf_hash_lock(&throttled, LW_EXCLUSIVE);
	row = sf_hash_find(&throttled, key);
	if (row == NULL)
		row = sf_hash_add(&throttled, key, owner, NULL);
	if (row != NULL)
		row->starts++;
	sf_hash_unlock(&throttled);
}

/* Find the throttled starts of the next machine of this database, behind a number; NULL: there are no more. */
static Throttled *
next_throttled(int *at)
{
	while (++(*at) <= sf_hash_end(&throttled))
	{
		Throttled  *row = sf_hash_at(&throttled, *at);

		if (row->entry.key.database == MyDatabaseId)
			return row;
	}
	return NULL;
}

/* Are there throttled starts of this database? */
bool
sf_throttled_is_there(void)
{
	int			at = 0;
	bool		found;

	sf_hash_lock(&throttled, LW_SHARED);
	found = next_throttled(&at) != NULL;
	sf_hash_unlock(&throttled);
	return found;
}

/* Forget what this transaction has written, or (undo) that it has taken any. */
static void
give_up_taken(bool undo)
{
	int			at = 0;
	Throttled  *row;

	sf_hash_lock(&throttled, LW_EXCLUSIVE);
	while ((row = next_throttled(&at)) != NULL)
	{
		if (row->taken_by != MyProcPid)
			continue;
		if (!undo)
			row->starts -= row->taken;
		row->taken = row->taken_by = 0;
		if (row->starts == 0)
			sf_hash_remove(&throttled, row);
	}
	sf_hash_unlock(&throttled);
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
 * Take the throttled starts of this database, for the transaction that has locked the
 * counters to write them: a List of SfTally.  They are forgotten when it commits.
 */
List *
sf_throttled_take(void)
{
	static bool registered = false;
	SfTally    *tallies = palloc0(sizeof(SfTally) * MACHINES);
	List	   *taken = NIL;
	int			n = 0;
	int			at = 0;
	Throttled  *row;

	if (!registered)
		RegisterXactCallback(on_transaction, NULL);
	registered = true;
	sf_hash_lock(&throttled, LW_EXCLUSIVE);
	while ((row = next_throttled(&at)) != NULL)
	{
		/* another transaction, which has just ended, says in a moment what becomes of those that it has taken */
		if (row->taken_by != 0 && row->taken_by != MyProcPid)
			continue;
		tallies[n].machine_no = (int) row->entry.key.first;
		tallies[n].throttled = (int) Min(row->starts - row->taken, PG_INT32_MAX);
		row->taken += tallies[n++].throttled;
		row->taken_by = MyProcPid;
		has_taken = true;
	}
	sf_hash_unlock(&throttled);
	for (int i = 0; i < n; i++)
		if (tallies[i].throttled > 0)
			taken = lappend(taken, &tallies[i]);
	return taken;
}

/* Forget what is kept of a database that is gone. */
void
sf_throttled_forget(Oid database)
{
	sf_hash_lock(&throttled, LW_EXCLUSIVE);
	sf_hash_remove_all(&throttled, database, SF_HASH_ANY);
	sf_hash_unlock(&throttled);
}
