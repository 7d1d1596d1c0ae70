/*
 * noted_queue.h
 *		Which queues may have something that waits: notes in shared memory.
 */
#ifndef SF_STORE_NOTED_QUEUE_H
#define SF_STORE_NOTED_QUEUE_H

#include "base/memory/shmem.h"
#include "store/branch/park.h"

extern void sf_queue_init(const char *name, int size);
extern void sf_queue_note_waiting(SfQueue queue, Oid owner);
extern bool sf_queue_may_wait(SfQueue queue);
extern void sf_queue_note_empty(SfQueue queue);
extern void sf_queue_note_scan(void);
extern void sf_queue_note_taken(SfQueue queue);
extern void sf_queue_wake_if_waiting(SfQueue queue, Oid owner);
extern void sf_queue_wake_later(SfQueue queue, SfTick at);
extern SfTick sf_queue_wake_ready(SfTick now);
extern void sf_queue_forget(Oid database, int64 object_no);
extern int	sf_queue_list(int64 *numbers, int size, int *from);
extern SfHashUse sf_queue_use(void);

#endif							/* SF_STORE_NOTED_QUEUE_H */
