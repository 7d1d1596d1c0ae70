/*
 * limit_queue.h
 *		Which queues of limits may have something that waits, and how much may begin now:
 *		hints in shared memory.
 */
#ifndef SF_STORE_LIMIT_QUEUE_H
#define SF_STORE_LIMIT_QUEUE_H

#include "base/clock.h"
#include "store/limit.h"

extern void sf_limit_queue_init(void);

/* --- what waits --- */

extern void sf_limit_queue_note_waiting(SfQueue queue, Oid owner);
extern bool sf_limit_queue_may_wait(SfQueue queue);
extern void sf_limit_queue_note_empty(SfQueue queue);
extern void sf_limit_queue_note_look(void);
extern void sf_limit_queue_note_taken(SfQueue queue);
extern void sf_limit_queue_ring_if_waiting(SfQueue queue, Oid owner);
extern void sf_limit_queue_ring_later(SfQueue queue, SfTick at);
extern SfTick sf_limit_queue_ring_ready(SfTick now);

/* The key of a queue in the ring, in place of that of a branch */
static inline SfBranchKey
sf_limit_queue_key(SfQueue queue)
{
	return (SfBranchKey) {-queue.limit_no, queue.hash};
}

/* Is a key that of a queue? */
static inline bool
sf_limit_queue_is_key(SfBranchKey key)
{
	return key.execution_no < 0;
}

/* The queue of such a key. */
static inline SfQueue
sf_limit_queue_of_key(SfBranchKey key)
{
	return (SfQueue) {-key.execution_no, key.branch_no};
}

/* --- rates --- */

extern bool sf_limit_rate_is_shared(void);
extern void sf_limit_rate_begin(void);
extern void sf_limit_rate_waive(void);
extern bool sf_limit_rate_draw(const SfLimit *limit, SfQueue queue, SfTick *ready);
extern bool sf_limit_rate_has_token(const SfLimit *limit, SfQueue queue, SfTick *ready);
extern void sf_limit_rate_give_back(const SfLimit *limit, SfQueue queue);

#endif							/* SF_STORE_LIMIT_QUEUE_H */
