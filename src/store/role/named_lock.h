/*
 * named_lock.h
 *		Locks of objects by their names.
 */
#ifndef SF_STORE_NAMED_LOCK_H
#define SF_STORE_NAMED_LOCK_H

#include "store/role/object_kind.h"

/* For what an object is locked until the end of the transaction */
typedef enum SfNamedLock
{
	SF_NAMED_LOCK_KEEP,		/* by who stores its name: no other session drops it */
	SF_NAMED_LOCK_CHANGE,		/* by its owner, also to give it away: nor do others any of this */
	SF_NAMED_LOCK_DROP			/* by its owner: nor do others store its name */
} SfNamedLock;

extern void sf_named_lock(SfObjectKind kind, const char *name, SfNamedLock how);
extern bool sf_named_lock_within(SfObjectKind kind, const char *name, SfNamedLock how, int timeout_ms);
extern bool sf_named_try_lock(SfObjectKind kind, const char *name, SfNamedLock how);
extern Oid	sf_named_owner_now(SfObjectKind kind, const char *name);

#endif							/* SF_STORE_NAMED_LOCK_H */
