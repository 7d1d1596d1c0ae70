/*
 * object_lock.c
 *		Locks by which transactions keep objects from being dropped.
 *
 * One that names thousands of objects, as by a grant on each, would fill the server's lock table.  So beyond the number
 * of locks that the server has for a transaction it locks all objects of the kind at once: those who drop one wait.
 * As that concerns objects of others, too, they wait for ALL_MS at most.
 *
 * Two transactions that keep all and then drop one wait for each other: one of them ends by a deadlock.
 */
#include "postgres.h"

#include "access/xact.h"
#include "storage/proc.h"

#include "base/error/errors.h"
#include "db/object_lock.h"

/* Longest time for which one waits for the lock of all objects of a kind */
#define ALL_MS		10000

/* Who keeps all objects of a kind waits for those who drop one, and these wait for him; neither waits for its like */
#define KEEP_ALL	ShareLock
#define DROP_ONE	RowExclusiveLock

/* Take a lock; false: others have it, and it does not wait. */
static bool
acquire(const LOCKTAG *tag, LOCKMODE mode, bool waits)
{
	return LockAcquire(tag, mode, false, !waits) != LOCKACQUIRE_NOT_AVAIL;
}

/* A lock that is waited for */
typedef struct Wanted
{
	const LOCKTAG *tag;
	LOCKMODE	mode;
} Wanted;

/* Wait for a lock. */
static void
wait_for(void *arg)
{
	const Wanted *wanted = arg;

	(void) acquire(wanted->tag, wanted->mode, true);
}

/* Wait for the lock of all objects of a kind, or raise that it has not come. */
static void
wait_for_all(const LOCKTAG *tag, LOCKMODE mode)
{
	Wanted		wanted = {tag, mode};

	if (!sf_brief_locks_run(LockTimeout > 0 ? Min(LockTimeout, ALL_MS) : ALL_MS, wait_for, &wanted))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not lock all objects of a kind in time"),
				 mode == DROP_ONE ?
				 errdetail("Another transaction, which is open, has named so many of them that it keeps all.") :
				 errdetail("Another transaction, which is open, is dropping one of them."),
				 errhint("Try again when it has ended.")));
}

/* Take the lock of all objects of a kind; false: others have it, and it does not wait. */
static bool
acquire_all(const LOCKTAG *tag, LOCKMODE mode, bool waits)
{
	if (acquire(tag, mode, false))
		return true;
	if (waits)
		wait_for_all(tag, mode);
	return waits;
}

/* Keep an object until the end of the transaction, by a mode that who drops it waits for; false: others have it. */
bool
sf_lock_to_keep(const SfObjectLock *lock, LOCKMODE mode, bool waits)
{
	static TimestampTz counted_in = 0;
	static int	n = 0;			/* objects that the transaction has locked one by one, or more */
	LockAcquireResult result;

	if (counted_in != GetCurrentTransactionStartTimestamp())
	{
		counted_in = GetCurrentTransactionStartTimestamp();
		n = 0;
	}
	if (n >= max_locks_per_xact)
		return acquire_all(&lock->all, KEEP_ALL, waits);
	result = LockAcquire(&lock->one, mode, false, !waits);
	if (result == LOCKACQUIRE_OK)
		n++;
	return result != LOCKACQUIRE_NOT_AVAIL;
}

/*
 * Lock an object that is to be dropped until the end of the transaction, by a mode that who keeps it waits for.  Its
 * own lock is the first: who keeps it, and will keep all, need not wait.
 */
bool
sf_lock_to_drop(const SfObjectLock *lock, LOCKMODE mode, bool waits)
{
	return acquire(&lock->one, mode, waits) && acquire_all(&lock->all, DROP_ONE, waits);
}
