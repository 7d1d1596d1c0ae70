/*
 * limit_slot_lock.h
 *		The locks of limits: of slots by number, of counts and of occupants; and which slots have rows.
 */
#ifndef SF_FEATURE_LIMIT_SLOT_LOCK_H
#define SF_FEATURE_LIMIT_SLOT_LOCK_H

#include "nodes/bitmapset.h"
#include "storage/lock.h"

#include "feature/limit/limit.h"

/*
 * What a lock is of.  The view _sfflow.limit_lock has the numbers.
 *
 *	SLOT	one slot of a queue, by its number
 *	COUNT	the slots of a queue, which one transaction at a time counts (limit_lowered.c)
 *	OCCUPANT	a branch, or an execution as a whole, for which one transaction at a time takes a slot of a limit
 */
#define SF_LIMIT_LOCK_LIST(X) \
	X(SLOT, 0) \
	X(COUNT, 1) \
	X(OCCUPANT, 2)

#define SF_LIMIT_LOCK_ENUM(sym, number) SF_LIMIT_LOCK_##sym = number,
typedef enum SfLimitLockKind
{
	SF_LIMIT_LOCK_LIST(SF_LIMIT_LOCK_ENUM)
} SfLimitLockKind;

/* A slot that is locked */
typedef struct SfLockedSlot
{
	uint32		hash;			/* of its queue, as the lock has it */
	int			slot;
} SfLockedSlot;

extern uint32 sf_limit_slot_lock_hash(SfQueue queue);
extern void sf_limit_slot_lock_release(SfQueue queue, int slot);
extern bool sf_limit_slot_lock_try(SfQueue queue, int slot);
extern bool sf_limit_slot_has_row(SfQueue queue, int slot);
extern bool sf_limit_slot_lock_free(SfQueue queue, int slot);
extern Bitmapset *sf_limit_slot_rows(SfQueue queue);
extern Bitmapset *sf_limit_slot_rows_of(int64 limit_no);
extern bool sf_limit_slot_lock_count(SfQueue queue);
extern void sf_limit_slot_lock_end_count(SfQueue queue);
extern bool sf_limit_slot_lock_occupant(SfBranchKey occupant, int64 limit_no);
extern SfLockedSlot *sf_limit_slot_lock_list(int64 limit_no, int above, int *n);

/* --- limit_lowered.c --- */

extern int	sf_limit_slot_lock_counting(const SfLimit *limit, SfQueue queue);

#endif							/* SF_FEATURE_LIMIT_SLOT_LOCK_H */
