/*
 * ring.c
 *		Keys of due branches, and of queues, that wait for a worker: one list per owner.
 *
 * Owners take turns: after each slice, an owner with ten thousand keys waits for
 * each owner with one.  The lists share the positions for keys, so a single owner
 * can use them all.  When all are used, a key of an owner with few replaces the
 * youngest key of the owner with most; a further key of that owner is dropped.
 * Dropped keys are still in the tables.
 */
#include "postgres.h"

#include "worker/shared_memory/ring.h"

/* Forget all keys. */
void
sf_ring_clear(SfRing *ring)
{
	ring->count = ring->nlists = 0;
	ring->used = ring->free = 0;
}

/* Find the list of an owner, or NULL. */
static SfRingList *
find_list(SfRing *ring, Oid owner)
{
	/* the one that was served last, or made last, is asked for most */
	for (int i = ring->nlists - 1; i >= 0; i--)
	{
		if (ring->lists[i].owner == owner)
			return &ring->lists[i];
	}
	return NULL;
}

/* Find the list of an owner, or make it the last one; NULL: there are too many. */
static SfRingList *
get_list(SfRing *ring, Oid owner)
{
	SfRingList *list = find_list(ring, owner);

	if (list != NULL || ring->nlists == SF_RING_OWNERS)
		return list;
	list = &ring->lists[ring->nlists++];
	memset(list, 0, sizeof(*list));
	list->owner = owner;
	return list;
}

/* Take a list out of the order of turns. */
static void
remove_list(SfRing *ring, SfRingList *list)
{
	SfRingList *end = ring->lists + --ring->nlists;

	memmove(list, list + 1, (end - list) * sizeof(*list));
}

/* Find a free position; 0: there is none. */
static uint16
get_position(SfRing *ring)
{
	uint16		at = ring->free;

	if (at != 0)
		ring->free = ring->next[at - 1];
	else if (ring->used < SF_RING_SIZE)
		at = ++ring->used;
	return at;
}

/* Take the key at a position out of its list, which may be empty then. */
static SfWorkKey
take_out(SfRing *ring, SfRingList *list, uint16 at)
{
	uint16		next = ring->next[at - 1];
	uint16		previous = ring->previous[at - 1];

	if (next != 0)
		ring->previous[next - 1] = previous;
	else
		list->last = previous;
	if (previous != 0)
		ring->next[previous - 1] = next;
	else
		list->first = next;
	list->count--;
	ring->count--;
	ring->next[at - 1] = ring->free;
	ring->free = at;
	return (SfWorkKey) {ring->kinds[at - 1], ring->subjects[at - 1]};
}

/* Make room for a key of an owner that has fewer keys than another one. */
static bool
make_room(SfRing *ring, Oid owner)
{
	const SfRingList *mine = find_list(ring, owner);
	SfRingList *longest = &ring->lists[0];

	for (int i = 1; i < ring->nlists; i++)
	{
		if (ring->lists[i].count > longest->count)
			longest = &ring->lists[i];
	}
	/* the owner that loses a key keeps at least as many as the other one gets */
	if ((mine == NULL ? 0 : mine->count) + 1 >= longest->count)
		return false;
	(void) take_out(ring, longest, longest->last);
	return true;
}

/* Put a key at an end of its owner's list. */
static SfRingRoom
put(SfRing *ring, SfWorkKey key, Oid owner, bool front)
{
	bool		room = ring->count < SF_RING_SIZE;
	SfRingList *list;
	uint16		at;

	if (!room && !make_room(ring, owner))
		return SF_RING_NO_ROOM;
	list = get_list(ring, owner);
	if (list == NULL)
		return room ? SF_RING_NO_ROOM : SF_RING_LOST_ANOTHER;
	at = get_position(ring);
	ring->kinds[at - 1] = key.kind;
	ring->subjects[at - 1] = key.of;
	ring->next[at - 1] = front ? list->first : 0;
	ring->previous[at - 1] = front ? 0 : list->last;
	if (ring->next[at - 1] != 0)
		ring->previous[ring->next[at - 1] - 1] = at;
	else
		list->last = at;
	if (ring->previous[at - 1] != 0)
		ring->next[ring->previous[at - 1] - 1] = at;
	else
		list->first = at;
	list->count++;
	ring->count++;
	return room ? SF_RING_ROOM : SF_RING_LOST_ANOTHER;
}

/* Put a key behind the others of its owner. */
SfRingRoom
sf_ring_push(SfRing *ring, SfWorkKey key, Oid owner)
{
	return put(ring, key, owner, false);
}

/* The same, before the others of its owner: a key that was taken too early. */
SfRingRoom
sf_ring_put_back(SfRing *ring, SfWorkKey key, Oid owner)
{
	return put(ring, key, owner, true);
}

/* Take keys of the owner of a list, which is the last one then. */
int
sf_ring_take_from(SfRing *ring, int at, SfWorkKey *keys, int size)
{
	SfRingList list = ring->lists[at];
	int			n = 0;

	while (n < size && list.count > 0)
		keys[n++] = take_out(ring, &list, list.first);
	remove_list(ring, &ring->lists[at]);
	if (list.count > 0)
		ring->lists[ring->nlists++] = list;
	return n;
}

/* Take keys of the owner whose turn it is; then it is the next one's turn. */
int
sf_ring_take(SfRing *ring, SfWorkKey *keys, int size, Oid *owner)
{
	if (ring->nlists == 0 || size <= 0)
		return 0;
	*owner = ring->lists[0].owner;
	return sf_ring_take_from(ring, 0, keys, size);
}

/* Tell whether owners other than one have keys here. */
bool
sf_ring_has_others(const SfRing *ring, Oid owner)
{
	return ring->nlists > 1 ||
		(ring->nlists == 1 && ring->lists[0].owner != owner);
}
