/*
 * ring.c
 *		Keys of due branches, and of queues of limits, that wait for a worker: one queue per owner.
 *
 * Owners take turns: after each slice, an owner with ten thousand keys waits for
 * each owner with one.  The queues share the positions for keys, so a single owner
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
	ring->count = ring->nqueues = 0;
	ring->used = ring->free = 0;
}

/* Find the queue of an owner, or NULL. */
static SfRingQueue *
find_queue(SfRing *ring, Oid owner)
{
	/* the one that was served last, or made last, is asked for most */
	for (int i = ring->nqueues - 1; i >= 0; i--)
	{
		if (ring->queues[i].owner == owner)
			return &ring->queues[i];
	}
	return NULL;
}

/* Find the queue of an owner, or make it the last one; NULL: there are too many. */
static SfRingQueue *
get_queue(SfRing *ring, Oid owner)
{
	SfRingQueue *queue = find_queue(ring, owner);

	if (queue != NULL || ring->nqueues == SF_RING_OWNERS)
		return queue;
	queue = &ring->queues[ring->nqueues++];
	memset(queue, 0, sizeof(*queue));
	queue->owner = owner;
	return queue;
}

/* Take a queue out of the order of turns. */
static void
remove_queue(SfRing *ring, SfRingQueue *queue)
{
	SfRingQueue *end = ring->queues + --ring->nqueues;

	memmove(queue, queue + 1, (end - queue) * sizeof(*queue));
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

/* Take the key at a position out of its queue, which may be empty then. */
static SfWorkKey
take_out(SfRing *ring, SfRingQueue *queue, uint16 at)
{
	uint16		next = ring->next[at - 1];
	uint16		previous = ring->previous[at - 1];

	if (next != 0)
		ring->previous[next - 1] = previous;
	else
		queue->last = previous;
	if (previous != 0)
		ring->next[previous - 1] = next;
	else
		queue->first = next;
	queue->count--;
	ring->count--;
	ring->next[at - 1] = ring->free;
	ring->free = at;
	return (SfWorkKey) {ring->kinds[at - 1], ring->subjects[at - 1]};
}

/* Make room for a key of an owner that has fewer keys than another one. */
static bool
make_room(SfRing *ring, Oid owner)
{
	const SfRingQueue *mine = find_queue(ring, owner);
	SfRingQueue *longest = &ring->queues[0];

	for (int i = 1; i < ring->nqueues; i++)
	{
		if (ring->queues[i].count > longest->count)
			longest = &ring->queues[i];
	}
	/* the owner that loses a key keeps at least as many as the other one gets */
	if ((mine == NULL ? 0 : mine->count) + 1 >= longest->count)
		return false;
	(void) take_out(ring, longest, longest->last);
	return true;
}

/* Put a key at an end of its owner's queue. */
static SfRingRoom
put(SfRing *ring, SfWorkKey key, Oid owner, bool front)
{
	bool		room = ring->count < SF_RING_SIZE;
	SfRingQueue *queue;
	uint16		at;

	if (!room && !make_room(ring, owner))
		return SF_RING_NO_ROOM;
	queue = get_queue(ring, owner);
	if (queue == NULL)
		return room ? SF_RING_NO_ROOM : SF_RING_LOST_ANOTHER;
	at = get_position(ring);
	ring->kinds[at - 1] = key.kind;
	ring->subjects[at - 1] = key.of;
	ring->next[at - 1] = front ? queue->first : 0;
	ring->previous[at - 1] = front ? 0 : queue->last;
	if (ring->next[at - 1] != 0)
		ring->previous[ring->next[at - 1] - 1] = at;
	else
		queue->last = at;
	if (ring->previous[at - 1] != 0)
		ring->next[ring->previous[at - 1] - 1] = at;
	else
		queue->first = at;
	queue->count++;
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

/* Take keys of the owner of a queue, which is the last one then. */
int
sf_ring_take_from(SfRing *ring, int at, SfWorkKey *keys, int size)
{
	SfRingQueue queue = ring->queues[at];
	int			n = 0;

	while (n < size && queue.count > 0)
		keys[n++] = take_out(ring, &queue, queue.first);
	remove_queue(ring, &ring->queues[at]);
	if (queue.count > 0)
		ring->queues[ring->nqueues++] = queue;
	return n;
}

/* Take keys of the owner whose turn it is; then it is the next one's turn. */
int
sf_ring_take(SfRing *ring, SfWorkKey *keys, int size, Oid *owner)
{
	if (ring->nqueues == 0 || size <= 0)
		return 0;
	*owner = ring->queues[0].owner;
	return sf_ring_take_from(ring, 0, keys, size);
}

/* Tell whether owners other than one have keys here. */
bool
sf_ring_has_others(const SfRing *ring, Oid owner)
{
	return ring->nqueues > 1 ||
		(ring->nqueues == 1 && ring->queues[0].owner != owner);
}
