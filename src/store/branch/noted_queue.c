/*
 * noted_queue.c
 *		Which queues may have something that waits: notes in shared memory.
 *
 * What waits is in the table parked.  A transaction that makes room in a queue looks here whether this
 * may have something that waits, and tells the workers of it.  So where nothing waits, no worker
 * tries.  No wake-up is lost: one that finds no room notes the queue here
 * and tries once more before it waits; one that makes room looks here afterwards.  What
 * waits also tells the workers after its commit, since they do not see it before.
 *
 * A queue is noted with exactly its key, if there is an entry for the owner of what waits
 * (base/memory/shmem.h).  If not, it is noted that queues of its object may have something that waits, for
 * two poll intervals.  Objects share such a note by their hash: queues of one in a thousand others
 * are told in vain meanwhile.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "base/memory/shmem.h"
#include "base/settings.h"
#include "store/branch/noted_queue.h"

/* Queues of which the workers are told at once */
#define MAX_READY	64

/* Notes of objects that have queues for which there was no entry */
#define UNNOTED		1024

/* A queue that may have something that waits */
typedef struct NotedQueue
{
	SfHashEntry entry;
	Oid			owner;			/* of what waits, as a worker was told last */
	bool		in_ring;		/* its key is there, or with a worker */
} NotedQueue;

/* What is known besides */
typedef struct Times
{
	SfTick		last;			/* the greatest of those that follow; 0: there was always an entry */
	SfTick		unnoted_until[UNNOTED]; /* by the hash of the object */
	SfTick		ready_at[FLEXIBLE_ARRAY_MEMBER];	/* of a queue, by its number: the workers are to
													 * be told then, for something may begin */
} Times;

static SfHash queues;

#define TIMES	((Times *) sf_hash_extra(&queues))

/* Ask for the shared memory of as many queues; the feature that has queues does, from its init. */
void
sf_queue_init(const char *name, int size)
{
	sf_hash_init(&queues, name, size, sizeof(NotedQueue), offsetof(Times, ready_at) + sizeof(SfTick) * size);
}

/* The key of a queue in the table. */
static SfHashKey
key_of(SfQueue queue)
{
	return (SfHashKey) {MyDatabaseId, queue.object_no, queue.hash};
}

/* Until when queues of an object may have something that waits, although they are not noted. */
static SfTick *
unnoted(SfQueue queue)
{
	uint32		h = hash_combine(murmurhash32(MyDatabaseId), murmurhash32((uint32) queue.object_no));

	return &TIMES->unnoted_until[h % UNNOTED];
}

/* When the workers are to be told of a queue. */
static SfTick *
ready_at(const NotedQueue *noted_queue)
{
	return &TIMES->ready_at[sf_hash_number(&queues, noted_queue) - 1];
}

/* Note that something waits in a queue, or is going to if it finds no room now. */
void
sf_queue_note_waiting(SfQueue queue, Oid owner)
{
	NotedQueue *noted_queue;

	if (!sf_hash_is_shared(&queues))
		return;
	sf_hash_lock(&queues, LW_EXCLUSIVE);
	noted_queue = sf_hash_find(&queues, key_of(queue));
	if (noted_queue != NULL && OidIsValid(owner))
		noted_queue->owner = owner;
	else if (noted_queue == NULL && (noted_queue = sf_hash_add(&queues, key_of(queue), owner, NULL)) != NULL)
	{
		noted_queue->owner = owner;
		*ready_at(noted_queue) = SF_TICK_NEVER;
	}
	else if (noted_queue == NULL)
	{
		/* the next scans for everything due note it, or find no entry again */
		*unnoted(queue) = sf_tick_plus_ms(sf_tick_now(), 2000 * sf_setting_poll_interval);
		TIMES->last = Max(TIMES->last, *unnoted(queue));
	}
	sf_hash_unlock(&queues);
}

/* May nothing wait in any queue?  Without the lock. */
static bool
nothing_waits(void)
{
	return sf_hash_is_empty(&queues) && TIMES->last == 0;
}

/* May something wait in a queue? */
bool
sf_queue_may_wait(SfQueue queue)
{
	bool		may;

	if (!sf_hash_is_shared(&queues))
		return true;
	if (nothing_waits())
		return false;
	sf_hash_lock(&queues, LW_SHARED);
	may = sf_hash_find(&queues, key_of(queue)) != NULL || *unnoted(queue) > sf_tick_now();
	sf_hash_unlock(&queues);
	return may;
}

/* A queue was found empty.  The caller looks once more afterwards. */
void
sf_queue_note_empty(SfQueue queue)
{
	NotedQueue *noted_queue;

	if (!sf_hash_is_shared(&queues))
		return;
	sf_hash_lock(&queues, LW_EXCLUSIVE);
	noted_queue = sf_hash_find(&queues, key_of(queue));
	if (noted_queue != NULL)
	{
		*ready_at(noted_queue) = SF_TICK_NEVER;
		sf_hash_remove(&queues, noted_queue);
	}
	sf_hash_unlock(&queues);
}

/* A scan of all queues begins: what became of keys that were in the ring is not known. */
void
sf_queue_note_scan(void)
{
	if (!sf_hash_is_shared(&queues))
		return;
	sf_hash_lock(&queues, LW_EXCLUSIVE);
	for (int i = 1; i <= sf_hash_end(&queues); i++)
	{
		NotedQueue *noted_queue = sf_hash_at(&queues, i);

		if (noted_queue->entry.key.database == MyDatabaseId)
			noted_queue->in_ring = false;
	}
	sf_hash_unlock(&queues);
}

/* A process comes to a queue: from here on others may tell of it again. */
void
sf_queue_note_taken(SfQueue queue)
{
	NotedQueue *noted_queue;

	if (!sf_hash_is_shared(&queues))
		return;
	sf_hash_lock(&queues, LW_EXCLUSIVE);
	noted_queue = sf_hash_find(&queues, key_of(queue));
	if (noted_queue != NULL)
	{
		noted_queue->in_ring = false;
		*ready_at(noted_queue) = SF_TICK_NEVER;
	}
	sf_hash_unlock(&queues);
}

/*
 * Tell the workers, at once, that a queue may have room for what waits, unless nothing
 * waits or they know.  The owner may be InvalidOid: then it is that of what waits.  Of a
 * queue that there was no entry to note that is not known: any role does, for who comes to
 * the queue passes it on to the owner.
 */
void
sf_queue_wake_if_waiting(SfQueue queue, Oid owner)
{
	NotedQueue *noted_queue;
	bool		wake;

	if (!sf_hash_is_shared(&queues) || nothing_waits())
		return;
	sf_hash_lock(&queues, LW_EXCLUSIVE);
	noted_queue = sf_hash_find(&queues, key_of(queue));
	wake = noted_queue == NULL ? *unnoted(queue) > sf_tick_now() : !noted_queue->in_ring;
	if (noted_queue == NULL && !OidIsValid(owner))
		owner = GetUserId();
	else if (noted_queue != NULL)
	{
		if (!OidIsValid(owner))
			owner = noted_queue->owner;
		/* without an owner there is no key in the ring, but a scan of all queues */
		noted_queue->in_ring = OidIsValid(owner);
	}
	sf_hash_unlock(&queues);
	if (wake)
		sf_hooks.queue_due(queue, owner);
}

/* If something may wait in a queue, have the workers told of it at a time. */
void
sf_queue_wake_later(SfQueue queue, SfTick at)
{
	NotedQueue *noted_queue;
	bool		noted;

	if (!sf_hash_is_shared(&queues) || sf_hash_is_empty(&queues))
		return;
	sf_hash_lock(&queues, LW_EXCLUSIVE);
	noted_queue = sf_hash_find(&queues, key_of(queue));
	noted = noted_queue != NULL;
	if (noted)
		*ready_at(noted_queue) = Min(*ready_at(noted_queue), at);
	sf_hash_unlock(&queues);
	if (noted)
		sf_hooks.queue_later(at);
}

/*
 * Tell the workers of the queues whose time has come, as many as there is room for; returns
 * when to tell them of others.
 */
SfTick
sf_queue_wake_ready(SfTick now)
{
	SfQueue		ready[MAX_READY];
	int			n = 0;
	SfTick		next = SF_TICK_NEVER;

	if (!sf_hash_is_shared(&queues))
		return next;
	sf_hash_lock(&queues, LW_EXCLUSIVE);
	/* the times lie beside each other: to look at them all takes some microseconds */
	for (int i = 1; i <= sf_hash_end(&queues); i++)
	{
		SfTick		at = TIMES->ready_at[i - 1];
		const NotedQueue *noted_queue;

		if (at >= next)
			continue;
		noted_queue = sf_hash_at(&queues, i);
		if (noted_queue->entry.key.database != MyDatabaseId)
			continue;
		if (at > now || n == MAX_READY)
			next = at;
		else
		{
			ready[n++] = (SfQueue) {noted_queue->entry.key.first, noted_queue->entry.key.second};
			TIMES->ready_at[i - 1] = SF_TICK_NEVER;
		}
	}
	sf_hash_unlock(&queues);
	for (int i = 0; i < n; i++)
		sf_queue_wake_if_waiting(ready[i], InvalidOid);
	return next;
}

/* Forget the queues of an object that is gone, or (SF_HASH_ANY) of a database. */
void
sf_queue_forget(Oid database, int64 object_no)
{
	if (!sf_hash_is_shared(&queues))
		return;
	sf_hash_lock(&queues, LW_EXCLUSIVE);
	sf_hash_remove_all(&queues, database, object_no);
	sf_hash_unlock(&queues);
}

/* List objects of this database that have queues, as sf_hash_list does. */
int
sf_queue_list(int64 *numbers, int size, int *from)
{
	return sf_hash_list(&queues, MyDatabaseId, numbers, size, from);
}

/* How full the table is. */
SfHashUse
sf_queue_use(void)
{
	return sf_hash_use(&queues);
}
