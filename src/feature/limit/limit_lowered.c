/*
 * limit_lowered.c
 *		Taking a slot of a limit while slots above it may be in use: limit_slot.c.
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "utils/memutils.h"

#include "feature/limit/limit_slot_lock.h"

/* Limits that were lowered of which a process knows at a time what is locked above them */
#define MAX_ABOVES	16

/*
 * The slots above a limit that were locked when this process first counted under it.  None is
 * locked later: who locks one after the limit was lowered notices that, and releases it; or
 * it inserts the slot's row at once, for what runs already.
 */
typedef struct Above
{
	int64		limit_no;
	TimestampTz set_at;			/* which time that it was set */
	int			max_running;
	int			nslots;
	SfLockedSlot *slots;		/* in TopMemoryContext; NULL: none */
} Above;

static Above aboves[MAX_ABOVES];

/* Look which slots above a limit are locked, in the lock table of the server. */
static void
read_above(Above *above, const SfLimit *limit)
{
	Above		now = {.limit_no = limit->limit_no,.set_at = limit->set_at,.max_running = limit->max_running};
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	/* raises if memory ends: then nothing is known of this limit */
	now.slots = sf_limit_slot_lock_list(limit->limit_no, limit->max_running, &now.nslots);
	MemoryContextSwitchTo(old);
	if (above->slots != NULL)
		pfree(above->slots);
	*above = now;
}

/* Find what is known of the slots above a limit; the lock table is copied once each time that it is set. */
static Above *
get_above(const SfLimit *limit)
{
	static int	next = 0;
	Above	   *above;

	for (int i = 0; i < MAX_ABOVES; i++)
		if (aboves[i].limit_no == limit->limit_no && aboves[i].set_at == limit->set_at &&
			aboves[i].max_running == limit->max_running)
			return &aboves[i];
	above = &aboves[next++ % MAX_ABOVES];
	read_above(above, limit);
	return above;
}

/* Has this transaction, or another one, locked a slot? */
static bool
is_locked(SfQueue queue, int slot)
{
	if (!sf_limit_slot_lock_try(queue, slot))
		return true;
	sf_limit_slot_lock_release(queue, slot);
	return false;
}

/* Find the slots of a queue above its limit that are still locked. */
static Bitmapset *
find_locked_above(const SfLimit *limit, SfQueue queue)
{
	Above	   *above = get_above(limit);
	Bitmapset  *slots = NULL;

	for (int i = above->nslots - 1; i >= 0; i--)
	{
		SfLockedSlot slot = above->slots[i];

		if (slot.hash != sf_limit_slot_lock_hash(queue))
			continue;
		if (is_locked(queue, slot.slot))
			slots = bms_add_member(slots, slot.slot);
		else
			above->slots[i] = above->slots[--above->nslots];
	}
	return slots;
}

/* Count the slots of two sets that are above a number. */
static int
count_above(const Bitmapset *a, const Bitmapset *b, int max)
{
	Bitmapset  *both = bms_union(a, b);
	int			count = 0;

	for (int slot = max; (slot = bms_next_member(both, slot)) >= 0;)
		count++;
	bms_free(both);
	return count;
}

/* Find slots up to a limit that nothing has locked, and that have no rows, as many as are wanted. */
static Bitmapset *
find_unlocked(SfQueue queue, int max, const Bitmapset *rows, int wanted)
{
	int			first = pg_prng_uint64_range(&pg_global_prng_state, 0, max - 1);
	Bitmapset  *slots = NULL;

	for (int i = 0; i < max && wanted > 0; i++)
	{
		int			slot = (first + i) % max + 1;

		if (bms_is_member(slot, rows) || is_locked(queue, slot))
			continue;
		slots = bms_add_member(slots, slot);
		wanted--;
	}
	return slots;
}

/*
 * Lock a free slot up to a limit, if more of them are free than are in use above it: then fewer than
 * max_running are in use in all.  0: not so.  The caller counts (sf_limit_slot_lock_count).
 */
static int
lock_below(const SfLimit *limit, SfQueue queue)
{
	int			max = limit->max_running;
	Bitmapset  *above = find_locked_above(limit, queue);
	Bitmapset  *rows = sf_limit_slot_rows(queue);
	int			nabove = count_above(above, rows, max);
	Bitmapset  *unlocked = nabove >= max ? NULL : find_unlocked(queue, max, rows, nabove + 1);
	int			slot = -1;

	/* the locks first: what was given up for a row meanwhile is found as a row */
	bms_free(rows);
	rows = sf_limit_slot_rows(queue);
	unlocked = bms_del_members(unlocked, rows);
	if (bms_num_members(unlocked) > count_above(above, rows, max))
		while ((slot = bms_next_member(unlocked, slot)) >= 0 && !sf_limit_slot_lock_free(queue, slot))
			;
	bms_free(rows);
	bms_free(above);
	bms_free(unlocked);
	return Max(slot, 0);
}

/* Lock a slot while slots above the limit may be in use; 0: there are enough. */
int
sf_limit_slot_lock_counting(const SfLimit *limit, SfQueue queue)
{
	int			slot;

	/* the transaction that counts just now tells the queue when it ends */
	if (!sf_limit_slot_lock_count(queue))
		return 0;
	slot = lock_below(limit, queue);
	sf_limit_slot_lock_end_count(queue);
	return slot;
}
