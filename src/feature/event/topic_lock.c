/*
 * topic_lock.c
 *		Locks of keys of events, by which waits and looks follow each other.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "utils/guc.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/timing.h"
#include "feature/event/event_by_key.h"

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

/* Wait for a lock until lock_timeout, which is set to a time; false: it is over. */
static bool
wait_within(const LOCKTAG *tag, LOCKMODE mode, const char *timeout)
{
	Wanted		wanted = {tag, mode};
	int			nest = NewGUCNestLevel();
	ErrorData  *error;

	(void) set_config_option("lock_timeout", timeout, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	error = sf_subtransaction_run(wait_for, NULL, &wanted);
	AtEOXact_GUC(false, nest);
	if (error != NULL && error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE &&
		error->sqlerrcode != ERRCODE_T_R_DEADLOCK_DETECTED)
		ReThrowError(error);
	return error == NULL;
}

/*
 * Lock a key of a type of events until the end of the transaction; two keys may have the same lock.  False: others
 * have it, and a look is to try it again later.
 */
bool
sf_topic_lock_key(int event_type_no, const char *key, SfKeyLock how)
{
	LOCKMODE	mode = how == SF_KEY_SHARED ? ShareLock : ExclusiveLock;
	uint32		hash = hash_bytes((const unsigned char *) key, (int) strlen(key));
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, sf_store_relation("event_wait"),
						 hash_combine(hash, (uint32) event_type_no), 4);
	if (LockAcquire(&tag, mode, false, true) != LOCKACQUIRE_NOT_AVAIL)
		return true;
	if (how == SF_KEY_ALONE_NOW)
		return false;
	if (how == SF_KEY_ALONE)
		return wait_within(&tag, mode, SF_EVENT_LOCK_MS);
	(void) LockAcquire(&tag, mode, false, false);
	return true;
}
