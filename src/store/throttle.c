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
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "store/metric.h"
#include "store/throttle.h"

#define TRANCHE		"sfflow_throttle"

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
static Refused *refused = local;
static LWLock *lock = NULL;		/* NULL: it is this backend's own */

/* Has this transaction taken some? */
static bool has_taken = false;

static shmem_request_hook_type previous_request_hook = NULL;
static shmem_startup_hook_type previous_startup_hook = NULL;

/* Ask for the area and its lock. */
static void
request_area(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(sizeof(local));
	RequestNamedLWLockTranche(TRANCHE, 1);
}

/* Make the area. */
static void
startup_area(void)
{
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	refused = ShmemInitStruct("sfflow refused starts", sizeof(local), &found);
	lock = &GetNamedLWLockTranche(TRANCHE)->lock;
	if (!found)
		memset(refused, 0, sizeof(local));
	LWLockRelease(AddinShmemInitLock);
}

/* Ask for the shared memory; from _PG_init while preloading. */
void
sf_throttle_init(void)
{
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_area;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_area;
}

/* Lock the area. */
static void
lock_area(LWLockMode mode)
{
	if (lock != NULL)
		LWLockAcquire(lock, mode);
}

/* Unlock it. */
static void
unlock_area(void)
{
	if (lock != NULL)
		LWLockRelease(lock);
}

/* Note that a quota refuses to start an execution. */
void
sf_throttle_note(int machine_no)
{
	Refused    *free = NULL;
	Refused    *found = NULL;

	lock_area(LW_EXCLUSIVE);
	for (int i = 0; i < MACHINES && found == NULL; i++)
	{
		Refused    *r = &refused[i];

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
	unlock_area();
}

/* Are there refused starts of this database? */
bool
sf_throttle_is_there(void)
{
	bool		found = false;

	lock_area(LW_SHARED);
	for (int i = 0; i < MACHINES && !found; i++)
		found = refused[i].database == MyDatabaseId;
	unlock_area();
	return found;
}

/* Forget what this transaction has written, or (undo) that it has taken any. */
static void
give_up_taken(bool undo)
{
	lock_area(LW_EXCLUSIVE);
	for (int i = 0; i < MACHINES; i++)
	{
		Refused    *r = &refused[i];

		if (r->database != MyDatabaseId)
			continue;
		if (!undo)
			r->starts -= r->taken;
		r->taken = 0;
		if (r->starts == 0)
			r->database = InvalidOid;
	}
	unlock_area();
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
	lock_area(LW_EXCLUSIVE);
	for (int i = 0; i < MACHINES; i++)
	{
		Refused    *r = &refused[i];

		if (r->database != MyDatabaseId)
			continue;
		/* one that another transaction has just committed is forgotten in a moment */
		tallies[i].machine_no = r->machine_no;
		tallies[i].throttled = (int) Min(r->starts - r->taken, PG_INT32_MAX);
		r->taken += tallies[i].throttled;
		has_taken = true;
	}
	unlock_area();
	for (int i = 0; i < MACHINES; i++)
		if (tallies[i].throttled > 0)
			taken = lappend(taken, &tallies[i]);
	return taken;
}
