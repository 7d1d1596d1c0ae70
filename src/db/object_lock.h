/*
 * object_lock.h
 *		Locks by which transactions keep objects from being dropped.
 */
#ifndef SF_DB_OBJECT_LOCK_H
#define SF_DB_OBJECT_LOCK_H

#include "storage/lock.h"

/* The lock of an object, and that of all objects of its kind */
typedef struct SfObjectLock
{
	LOCKTAG		one;
	LOCKTAG		all;
} SfObjectLock;

extern bool sf_lock_to_keep(const SfObjectLock *lock, LOCKMODE mode, bool waits);
extern bool sf_lock_to_drop(const SfObjectLock *lock, LOCKMODE mode, bool waits);

#endif							/* SF_DB_OBJECT_LOCK_H */
