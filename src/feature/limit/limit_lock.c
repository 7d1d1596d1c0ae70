/*
 * limit_lock.c
 *		The locks of slots of limits, by number; and which slots have rows.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/resowner.h"

#include "db/direct.h"
#include "feature/limit/limit_lock.h"

static const SfIndex by_slot = {"limit_slot", "limit_slot_pkey"};

/*
 * The lock of a slot: 20 bits of the slot's number, 27 of the limit's, 32 of the queue's.  The
 * highest bit of the fourth field makes it differ from SQL's advisory locks.  The view
 * slot_lock reads the same.
 */
#define LOW_BITS		12
#define SLOT_LOCK		0x8000
#define LOW_PART(limit_no)	((uint32) ((limit_no) & ((1 << LOW_BITS) - 1)))
#define HIGH_PART(limit_no)	((uint16) (SLOT_LOCK | (((limit_no) >> LOW_BITS) & (SLOT_LOCK - 1))))

/* Make the tag of a slot's lock. */
void
sf_limit_lock_tag(LOCKTAG *tag, SfQueue queue, int slot)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId,
						 (uint32) queue.hash ^ (uint32) ((uint64) queue.hash >> 32),
						 (uint32) slot | LOW_PART(queue.limit_no) << SF_SLOT_BITS,
						 HIGH_PART(queue.limit_no));
}

/* Is a lock one of a slot of a limit? */
static bool
is_of(const LOCKTAG *tag, int64 limit_no)
{
	return tag->locktag_type == LOCKTAG_ADVISORY && tag->locktag_field1 == MyDatabaseId &&
		tag->locktag_field4 == HIGH_PART(limit_no) &&
		tag->locktag_field3 >> SF_SLOT_BITS == LOW_PART(limit_no);
}

/* Release the lock of a slot; the transaction as a whole has it. */
void
sf_limit_lock_release(SfQueue queue, int slot)
{
	ResourceOwner owner = CurrentResourceOwner;
	LOCKTAG		tag;

	sf_limit_lock_tag(&tag, queue, slot);
	CurrentResourceOwner = TopTransactionResourceOwner;
	(void) LockRelease(&tag, ExclusiveLock, false);
	CurrentResourceOwner = owner;
}

/* Try to lock a slot, for the transaction as a whole; it has each lock once. */
LockAcquireResult
sf_limit_lock_acquire(SfQueue queue, int slot)
{
	ResourceOwner owner = CurrentResourceOwner;
	LOCKTAG		tag;
	LockAcquireResult result;

	sf_limit_lock_tag(&tag, queue, slot);
	CurrentResourceOwner = TopTransactionResourceOwner;
	result = LockAcquire(&tag, ExclusiveLock, false, true);
	if (result == LOCKACQUIRE_ALREADY_HELD)
		(void) LockRelease(&tag, ExclusiveLock, false);
	CurrentResourceOwner = owner;
	return result;
}

/* Lock a slot that neither this transaction nor another one has locked; false: one has. */
bool
sf_limit_lock_try(SfQueue queue, int slot)
{
	return sf_limit_lock_acquire(queue, slot) == LOCKACQUIRE_OK;
}

/* Is there a row of a slot, maybe one that is not committed? */
bool
sf_limit_lock_has_row(SfQueue queue, int slot)
{
	return sf_rows_read_dirty(&by_slot, 1, NULL, NULL, SF_INT8(queue.limit_no),
							  SF_INT8(queue.hash), SF_INT4(slot)) > 0;
}

/* Lock a slot if it is free. */
bool
sf_limit_lock_free(SfQueue queue, int slot)
{
	if (!sf_limit_lock_try(queue, slot))
		return false;
	if (!sf_limit_lock_has_row(queue, slot))
		return true;
	sf_limit_lock_release(queue, slot);
	return false;
}

/* Add the slot of a row to a set. */
static void
add_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_limit_no = 1, COL_queue, COL_slot};
	Bitmapset **slots = arg;

	*slots = bms_add_member(*slots, sf_row_number(tuple, desc, COL_slot, 0));
}

/* Find the slots of a queue that have rows. */
Bitmapset *
sf_limit_lock_rows(SfQueue queue)
{
	Bitmapset  *slots = NULL;

	(void) sf_rows_read_dirty(&by_slot, PG_INT32_MAX, add_row, &slots, SF_INT8(queue.limit_no),
							  SF_INT8(queue.hash));
	return slots;
}

/* List the slots of a limit above a number that are locked, of all queues, from a copy of the server's lock table. */
SfLockedSlot *
sf_limit_lock_list(int64 limit_no, int above, int *n)
{
	LockData   *locks = GetLockStatusData();
	SfLockedSlot *slots = NULL;

	*n = 0;
	for (int i = 0; i < locks->nelements; i++)
	{
		const LOCKTAG *tag = &locks->locks[i].locktag;
		int			slot = tag->locktag_field3 & SF_SLOT_MASK;

		if (!is_of(tag, limit_no) || slot <= above)
			continue;
		slots = slots == NULL ? palloc(sizeof(SfLockedSlot)) : repalloc(slots, sizeof(SfLockedSlot) * (*n + 1));
		slots[(*n)++] = (SfLockedSlot) {tag->locktag_field2, slot};
	}
	pfree(locks->locks);
	pfree(locks);
	return slots;
}

/* Find the slots of a limit that have rows, of all queues. */
Bitmapset *
sf_limit_lock_rows_of(int64 limit_no)
{
	Bitmapset  *slots = NULL;

	(void) sf_rows_read_dirty(&by_slot, PG_INT32_MAX, add_row, &slots, SF_INT8(limit_no));
	return slots;
}
