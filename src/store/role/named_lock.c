/*
 * named_lock.c
 *		Locks of objects by their names.
 *
 * Rights, holds, limits, tags and deadlines name their object.  Who stores such a row has the object kept by a lock of
 * its name, so that no row stays behind an object that is dropped meanwhile, for one that gets the name later.  Who
 * gives or drops an object locks the name likewise.  Each looks again after the lock, with a snapshot of now: the
 * object may have been dropped, or have got another owner, before.
 *
 * A state machine is locked by its number (store/state_machine/machine.c).
 */
#include "postgres.h"

#include <limits.h>

#include "storage/proc.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "base/error/errors.h"
#include "db/lock_tag.h"
#include "db/object_lock.h"
#include "db/table.h"
#include "store/feature_tables.h"
#include "store/role/named_lock.h"

/* Lock the name of an object until the end of the transaction; false: others have it locked, and it does not wait. */
static bool
lock_name(SfObjectKind kind, const char *name, SfNamedLock how, bool waits)
{
	/* KEEP goes with KEEP and CHANGE; DROP with none */
	static const LOCKMODE modes[] = {
		[SF_NAMED_LOCK_KEEP] = RowShareLock,
		[SF_NAMED_LOCK_CHANGE] = ShareUpdateExclusiveLock,
		[SF_NAMED_LOCK_DROP] = ExclusiveLock
	};
	SfObjectLock lock = {
		.one = sf_lock_tag_of_text(SF_LOCK_OF_NAME, (uint32) kind, name),
		.all = sf_lock_tag_of_kind((char) kind)
	};

	return how == SF_NAMED_LOCK_DROP ? sf_lock_to_drop(&lock, modes[how], waits) :
		how == SF_NAMED_LOCK_KEEP ? sf_lock_to_keep(&lock, modes[how], waits) :
		LockAcquire(&lock.one, modes[how], false, !waits) != LOCKACQUIRE_NOT_AVAIL;
}

/* Lock the name of an object until the end of the transaction, and take in what others have changed of it. */
void
sf_named_lock(SfObjectKind kind, const char *name, SfNamedLock how)
{
	(void) lock_name(kind, name, how, true);
	AcceptInvalidationMessages();
}

/* A lock that is waited for */
typedef struct Wanted
{
	SfObjectKind kind;
	const char *name;
	SfNamedLock how;
} Wanted;

/* Wait for a lock, in a subtransaction. */
static bool
wait_for(void *arg)
{
	const Wanted *wanted = arg;

	return lock_name(wanted->kind, wanted->name, wanted->how, true);
}

/* Lock it, and wait so long at most; false: others have it locked still. */
bool
sf_named_lock_within(SfObjectKind kind, const char *name, SfNamedLock how, int timeout_ms)
{
	Wanted		wanted = {kind, name, how};
	ErrorData  *error = NULL;

	if (!lock_name(kind, name, how, false))
		error = sf_subtransaction_run_within(LockTimeout > 0 ? Min(LockTimeout, timeout_ms) : timeout_ms, wait_for, &wanted);
	if (error != NULL && error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
		ReThrowError(error);
	AcceptInvalidationMessages();
	return error == NULL;
}

/* Lock it without waiting; false: others have it locked.  What the caller has from caches stays there. */
bool
sf_named_try_lock(SfObjectKind kind, const char *name, SfNamedLock how)
{
	return lock_name(kind, name, how, false);
}

/* The table that has the objects of a kind, by their names. */
static const char *
table_of(SfObjectKind kind)
{
	SF_OBJECTS(object)
		if (object->kind == kind)
			return object->table;
	return kind == SF_OBJECT_ACTIVITY ? "activity" : "state_machine";
}

/* The owner of an object as it is now, whatever the snapshot of the transaction; InvalidOid: there is none. */
Oid
sf_named_owner_now(SfObjectKind kind, const char *name)
{
	static SfPlan plans[CHAR_MAX + 1];	/* by the letter of a kind */
	SfPlan	   *plan = &plans[kind];

	if (plan->query == NULL)
		plan->query = MemoryContextStrdup(TopMemoryContext, psprintf(
			"SELECT o.owner FROM _sfflow.%s o WHERE o.name = $1", table_of(kind)));
	return sf_snapshot_number_now(plan, InvalidOid, SF_TEXT(name));
}
