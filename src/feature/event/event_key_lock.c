/*
 * event_key_lock.c
 *		Locks of keys of events, by which waits and sweeps follow each other.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "db/lock_tag.h"
#include "feature/event/event_by_key.h"

/* A sweep waits that long for those who begin to wait for a key */
#define SWEEP_LOCK_MS			300

/* A lock that is waited for */
typedef struct Wanted
{
	const LOCKTAG *tag;
	LOCKMODE	mode;
} Wanted;

/* Wait for a lock, in a subtransaction. */
static bool
wait_for(void *arg)
{
	const Wanted *wanted = arg;

	(void) LockAcquire(wanted->tag, wanted->mode, false, false);
	return true;
}

/* Wait for a lock for a time; false: it is over. */
static bool
wait_within(const LOCKTAG *tag, LOCKMODE mode, int timeout_ms)
{
	Wanted		wanted = {tag, mode};
	ErrorData  *error = sf_subtransaction_run_within(timeout_ms, wait_for, &wanted);

	if (error != NULL && error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE &&
		error->sqlerrcode != ERRCODE_T_R_DEADLOCK_DETECTED)
		ReThrowError(error);
	return error == NULL;
}

/*
 * Lock a key of a type of events until the end of the transaction.  False: others have it, and a sweep is to try
 * it again later.
 */
bool
sf_event_key_lock(int event_type_no, const char *key, SfEventKeyLock how)
{
	LOCKMODE	mode = how == SF_EVENT_KEY_LOCK_SHARED ? ShareLock : ExclusiveLock;
	LOCKTAG		tag = sf_lock_tag_of_text(SF_LOCK_OF_EVENT_KEY, (uint32) event_type_no, key);

	if (LockAcquire(&tag, mode, false, true) != LOCKACQUIRE_NOT_AVAIL)
		return true;
	if (how == SF_EVENT_KEY_LOCK_ALONE_NOW)
		return false;
	if (how == SF_EVENT_KEY_LOCK_ALONE)
		return wait_within(&tag, mode, SWEEP_LOCK_MS);
	(void) LockAcquire(&tag, mode, false, false);
	return true;
}
