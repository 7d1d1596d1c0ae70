/*
 * limit_slot_lock.c
 *		The locks of limits: of slots by number, of counts and of occupants; and which slots have rows.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/resowner.h"

#include "db/direct.h"
#include "db/lock_tag.h"
#include "feature/limit/limit_slot_lock.h"

static const SfIndex by_slot = {"limit_slot", "limit_slot_pkey"};

/*
 * The tag of a lock, as an advisory one.  Its second field is a hash of the queue or of the occupant.  The third has
 * the number of the slot in 20 bits, and the low 12 bits of the limit's number.  The fourth has a bit that SQL's
 * advisory locks do not have, what the lock is of (SfLimitLockKind) in 2 bits, and 13 more bits of the limit's number.
 * The view limit_lock reads the same.
 */
#define SLOT_BITS		20
#define LOW_BITS		12
#define HIGH_BITS		13
#define MASK(bits)		((1 << (bits)) - 1)
#define LOW_PART(limit_no)	((uint32) ((limit_no) & MASK(LOW_BITS)))
#define FOURTH(kind, limit_no) \
	((uint16) (SF_LOCK_OF_LIMIT | (kind) << HIGH_BITS | (((limit_no) >> LOW_BITS) & MASK(HIGH_BITS))))

/* The 32 bits of a hash that a lock has */
static uint32
short_hash(int64 hash)
{
	return (uint32) hash ^ (uint32) ((uint64) hash >> 32);
}

/* What a lock has of the hash of a queue. */
uint32
sf_limit_slot_lock_hash(SfQueue queue)
{
	return short_hash(queue.hash);
}

/* Make the tag of a lock; slot: of a SLOT. */
static void
make_tag(LOCKTAG *tag, SfLimitLockKind kind, int64 limit_no, int64 hash, int slot)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, short_hash(hash), (uint32) slot | LOW_PART(limit_no) << SLOT_BITS,
						 FOURTH(kind, limit_no));
}

/* Is a lock one of a slot of a limit? */
static bool
is_slot_of(const LOCKTAG *tag, int64 limit_no)
{
	return tag->locktag_type == LOCKTAG_ADVISORY && tag->locktag_field1 == MyDatabaseId &&
		tag->locktag_field4 == FOURTH(SF_LIMIT_LOCK_SLOT, limit_no) &&
		tag->locktag_field3 >> SLOT_BITS == LOW_PART(limit_no);
}

/* Release a lock that the transaction as a whole has. */
static void
release(const LOCKTAG *tag)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = TopTransactionResourceOwner;
	(void) LockRelease(tag, ExclusiveLock, false);
	CurrentResourceOwner = owner;
}

/* Try to take a lock for the transaction as a whole, which has each lock once. */
static LockAcquireResult
acquire(const LOCKTAG *tag)
{
	ResourceOwner owner = CurrentResourceOwner;
	LockAcquireResult result;

	CurrentResourceOwner = TopTransactionResourceOwner;
	result = LockAcquire(tag, ExclusiveLock, false, true);
	if (result == LOCKACQUIRE_ALREADY_HELD)
		(void) LockRelease(tag, ExclusiveLock, false);
	CurrentResourceOwner = owner;
	return result;
}

/* Release the lock of a slot. */
void
sf_limit_slot_lock_release(SfQueue queue, int slot)
{
	LOCKTAG		tag;

	make_tag(&tag, SF_LIMIT_LOCK_SLOT, queue.object_no, queue.hash, slot);
	release(&tag);
}

/* Lock a slot that neither this transaction nor another one has locked; false: one has. */
bool
sf_limit_slot_lock_try(SfQueue queue, int slot)
{
	LOCKTAG		tag;

	make_tag(&tag, SF_LIMIT_LOCK_SLOT, queue.object_no, queue.hash, slot);
	return acquire(&tag) == LOCKACQUIRE_OK;
}

/* Begin to count the slots of a queue; false: another transaction does so. */
bool
sf_limit_slot_lock_count(SfQueue queue)
{
	LOCKTAG		tag;

	make_tag(&tag, SF_LIMIT_LOCK_COUNT, queue.object_no, queue.hash, 0);
	return acquire(&tag) == LOCKACQUIRE_OK;
}

/* End to count the slots of a queue. */
void
sf_limit_slot_lock_end_count(SfQueue queue)
{
	LOCKTAG		tag;

	make_tag(&tag, SF_LIMIT_LOCK_COUNT, queue.object_no, queue.hash, 0);
	release(&tag);
}

/*
 * Until the transaction ends, no other one takes a slot of a limit for an occupant (sf_branch_key_of_execution: for an
 * execution as a whole); false: another one may be taking it.
 */
bool
sf_limit_slot_lock_occupant(SfBranchKey occupant, int64 limit_no)
{
	LOCKTAG		tag;

	make_tag(&tag, SF_LIMIT_LOCK_OCCUPANT, limit_no, occupant.execution_no ^ (int64) ((uint64) occupant.branch_no << 40), 0);
	return acquire(&tag) != LOCKACQUIRE_NOT_AVAIL;
}

/* Is there a row of a slot, maybe one that is not committed? */
bool
sf_limit_slot_has_row(SfQueue queue, int slot)
{
	return sf_rows_read_dirty(&by_slot, 1, NULL, NULL, SF_INT8(queue.object_no),
							  SF_INT8(queue.hash), SF_INT4(slot)) > 0;
}

/* Lock a slot if it is free. */
bool
sf_limit_slot_lock_free(SfQueue queue, int slot)
{
	if (!sf_limit_slot_lock_try(queue, slot))
		return false;
	if (!sf_limit_slot_has_row(queue, slot))
		return true;
	sf_limit_slot_lock_release(queue, slot);
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
sf_limit_slot_rows(SfQueue queue)
{
	Bitmapset  *slots = NULL;

	(void) sf_rows_read_dirty(&by_slot, PG_INT32_MAX, add_row, &slots, SF_INT8(queue.object_no),
							  SF_INT8(queue.hash));
	return slots;
}

/* List the slots of a limit above a number that are locked, of all queues, from a copy of the server's lock table. */
SfLockedSlot *
sf_limit_slot_lock_list(int64 limit_no, int above, int *n)
{
	LockData   *locks = GetLockStatusData();
	SfLockedSlot *slots = NULL;

	*n = 0;
	for (int i = 0; i < locks->nelements; i++)
	{
		const LOCKTAG *tag = &locks->locks[i].locktag;
		int			slot = tag->locktag_field3 & MASK(SLOT_BITS);

		if (!is_slot_of(tag, limit_no) || slot <= above)
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
sf_limit_slot_rows_of(int64 limit_no)
{
	Bitmapset  *slots = NULL;

	(void) sf_rows_read_dirty(&by_slot, PG_INT32_MAX, add_row, &slots, SF_INT8(limit_no));
	return slots;
}
