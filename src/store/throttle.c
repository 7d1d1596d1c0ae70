/*
 * throttle.c
 *		Starts that a quota refused, until a fold counts them.
 *
 * The transaction of such a start rolls back, so it can write no increment.  The
 * number is kept in shared memory, or without preloading in this backend, until a
 * transaction that folds writes it.  A crash of the server forgets the starts that
 * were refused since.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "base/shmem.h"
#include "store/metric.h"
#include "store/throttle.h"

/* State machines whose refused starts are kept; those of more are not counted */
#define MACHINES	256

typedef struct Refused
{
	Oid			database;		/* InvalidOid: free */
	int			machine_no;
	int64		starts;
	int64		taken;			/* of these, by the transaction that folds */
} Refused;

static Refused local[MACHINES];
static SfShmem area = {"sfflow_throttle", sizeof(local), local, NULL, NULL};

#define REFUSED	((Refused *) area.memory)

/* Has this transaction taken some? */
static bool has_taken = false;

/* Ask for the shared memory; from _PG_init while preloading. */
void
sf_throttle_init(void)
{
	sf_shmem_add(&area);
}

/* Note that a quota refuses to start an execution. */
void
sf_throttle_note(int machine_no)
{
	Refused    *free = NULL;
	Refused    *found = NULL;

	sf_shmem_lock(&area, LW_EXCLUSIVE);
	for (int i = 0; i < MACHINES && found == NULL; i++)
	{
		Refused    *r = &REFUSED[i];

		if (r->database == MyDatabaseId && r->machine_no == machine_no)
			found = r;
		else if (r->database == InvalidOid && free == NULL)
			free = r;
	}
	if (found == NULL && free != NULL)
	{
		*free = (Refused) {MyDatabaseId, machine_no, 0, 0};
		found = free;
	}
	if (found != NULL)
		found->starts++;
	sf_shmem_unlock(&area);
}

/* Are there refused starts of this database? */
bool
sf_throttle_is_there(void)
{
	bool		found = false;

	sf_shmem_lock(&area, LW_SHARED);
	for (int i = 0; i < MACHINES && !found; i++)
		found = REFUSED[i].database == MyDatabaseId;
	sf_shmem_unlock(&area);
	return found;
}

/* Forget what this transaction has written, or (undo) that it has taken any. */
static void
give_up_taken(bool undo)
{
	sf_shmem_lock(&area, LW_EXCLUSIVE);
	for (int i = 0; i < MACHINES; i++)
	{
		Refused    *r = &REFUSED[i];

		if (r->database != MyDatabaseId)
			continue;
		if (!undo)
			r->starts -= r->taken;
		r->taken = 0;
		if (r->starts == 0)
			r->database = InvalidOid;
	}
	sf_shmem_unlock(&area);
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

	if (!registered)
		RegisterXactCallback(on_transaction, NULL);
	registered = true;
	sf_shmem_lock(&area, LW_EXCLUSIVE);
	for (int i = 0; i < MACHINES; i++)
	{
		Refused    *r = &REFUSED[i];

		if (r->database != MyDatabaseId)
			continue;
		/* one that another transaction has just committed is forgotten in a moment */
		tallies[i].machine_no = r->machine_no;
		tallies[i].throttled = (int) Min(r->starts - r->taken, PG_INT32_MAX);
		r->taken += tallies[i].throttled;
		has_taken = true;
	}
	sf_shmem_unlock(&area);
	for (int i = 0; i < MACHINES; i++)
		if (tallies[i].throttled > 0)
			taken = lappend(taken, &tallies[i]);
	return taken;
}
