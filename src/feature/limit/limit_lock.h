/*
 * limit_lock.h
 *		The locks of slots of limits, by number; and which slots have rows.
 */
#ifndef SF_FEATURE_LIMIT_LOCK_H
#define SF_FEATURE_LIMIT_LOCK_H

#include "nodes/bitmapset.h"
#include "storage/lock.h"

#include "feature/limit/limit.h"

/* The number of a slot in its lock */
#define SF_SLOT_BITS	20
#define SF_SLOT_MASK	((1 << SF_SLOT_BITS) - 1)

/* A slot that is locked */
typedef struct SfLockedSlot
{
	uint32		hash;			/* of its queue, as the lock has it */
	int			slot;
} SfLockedSlot;

extern void sf_limit_lock_tag(LOCKTAG *tag, SfQueue queue, int slot);
extern void sf_limit_lock_release(SfQueue queue, int slot);
extern LockAcquireResult sf_limit_lock_acquire(SfQueue queue, int slot);
extern bool sf_limit_lock_try(SfQueue queue, int slot);
extern bool sf_limit_lock_has_row(SfQueue queue, int slot);
extern bool sf_limit_lock_free(SfQueue queue, int slot);
extern Bitmapset *sf_limit_lock_rows(SfQueue queue);
extern Bitmapset *sf_limit_lock_rows_of(int64 limit_no);
extern SfLockedSlot *sf_limit_lock_list(int64 limit_no, int above, int *n);

/* --- limit_lowered.c --- */

extern int	sf_limit_lock_counting(const SfLimit *limit, SfQueue queue);

#endif							/* SF_FEATURE_LIMIT_LOCK_H */
