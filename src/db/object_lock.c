/*
 * object_lock.c
 *		Locks by which transactions keep objects from being dropped.
 *
 * One that names thousands of objects, as by a grant on each, would fill the server's lock table.  So beyond the number
 * of locks that the server has for a transaction it locks all objects of the kind at once: those who drop one wait.
 */
#include "postgres.h"

#include "access/xact.h"

#include "db/object_lock.h"

/* Who keeps all objects of a kind waits for those who drop one, and these wait for him; neither waits for its like */
#define KEEP_ALL	ShareLock
#define DROP_ONE	RowExclusiveLock

/* Take a lock; false: others have it, and it does not wait. */
static bool
acquire(const LOCKTAG *tag, LOCKMODE mode, bool waits)
{
	return LockAcquire(tag, mode, false, !waits) != LOCKACQUIRE_NOT_AVAIL;
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
		return acquire(&lock->all, KEEP_ALL, waits);
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
	return acquire(&lock->one, mode, waits) && acquire(&lock->all, DROP_ONE, waits);
}
