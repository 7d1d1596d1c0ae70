/*
 * ring.h
 *		Keys of due branches, and of queues, that wait for a worker: one list per owner.
 *
 * Part of the shared area: fixed size, no pointers, all zeros when empty.  The
 * caller holds its lock.
 */
#ifndef SF_WORKER_RING_H
#define SF_WORKER_RING_H

#include "base/name/work_key.h"

#define SF_RING_SIZE		4096
#define SF_RING_OWNERS		256

/* The keys of an owner, in order; positions in SfRing, counted from 1 */
typedef struct SfRingList
{
	Oid			owner;
	uint16		first;
	uint16		last;
	uint16		count;
} SfRingList;

typedef struct SfRing
{
	int			count;			/* keys in all lists */
	int			nlists;			/* none of them is empty */
	uint16		used;			/* positions that have ever held a key */
	uint16		free;			/* first free one among them, 0: none */
	SfRingList lists[SF_RING_OWNERS]; /* whose turn it is comes first */
	uint16		next[SF_RING_SIZE];
	uint16		previous[SF_RING_SIZE];
	uint8		kinds[SF_RING_SIZE];	/* the keys: each an SfWorkKeyKind */
	SfWorkSubject subjects[SF_RING_SIZE];
} SfRing;

/* Did a key that was put into the ring find room? */
typedef enum SfRingRoom
{
	SF_RING_ROOM,
	SF_RING_NO_ROOM,			/* it is not in the ring */
	SF_RING_LOST_ANOTHER		/* a key of the owner with most is gone */
} SfRingRoom;

extern void sf_ring_clear(SfRing *ring);
extern SfRingRoom sf_ring_push(SfRing *ring, SfWorkKey key, Oid owner);
extern SfRingRoom sf_ring_put_back(SfRing *ring, SfWorkKey key, Oid owner);
extern int	sf_ring_take(SfRing *ring, SfWorkKey *keys, int size, Oid *owner);
extern int	sf_ring_take_from(SfRing *ring, int list, SfWorkKey *keys, int size);
extern bool sf_ring_has_others(const SfRing *ring, Oid owner);

#endif							/* SF_WORKER_RING_H */
