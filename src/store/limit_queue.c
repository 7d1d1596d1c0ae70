/*
 * limit_queue.c
 *		Which queues of limits may have something that waits, and how much may begin now:
 *		hints in shared memory.
 *
 * What waits is in the table held.  A transaction that gives a slot back looks here whether its queue
 * may have something that waits, and tells the workers of it.  So where nothing waits, a
 * limit makes no worker look.  No wake-up is lost: one that finds no slot notes the queue here
 * and tries once more before it waits; one that gives a slot back looks here afterwards.  What
 * waits also tells the workers after its commit, since they do not see it before.
 *
 * A queue is noted with exactly its key.  If there are too many of them, every queue of the
 * server may have something that waits, until they are fewer.
 *
 * Rates: a bucket per queue, as the time at which the next one may begin (GCRA).  A token
 * is drawn as user code begins, and not given back if the transaction fails, so that no
 * more begin than the limit allows.  After a start of the server all buckets are empty:
 * what began before it is not known.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "base/settings.h"
#include "base/shmem.h"
#include "base/timing.h"
#include "store/limit_queue.h"

/* Queues that are noted, buckets that are kept, databases with buckets */
#define QUEUES		1024
#define BUCKETS		4096
#define DATABASES	64

/* Queues of which the workers are told at once */
#define MAX_READY	64

/* A queue that may have something that waits */
typedef struct NotedQueue
{
	Oid			database;
	Oid			owner;			/* of what waits, as a worker was told last */
	SfQueue		queue;
	bool		rung;			/* its key is in the ring, or with a worker */
	SfTick		ready_at;		/* the workers are to be told then, for something may begin */
} NotedQueue;

/* A bucket */
typedef struct Bucket
{
	Oid			database;
	SfQueue		queue;
	SfTick		next;			/* the next one may begin then */
	SfTick		full_at;		/* ... and the bucket is full then */
} Bucket;

/* Since when the buckets of a database are known */
typedef struct Beginning
{
	Oid			database;
	SfTick		tick;
	TimestampTz time;
} Beginning;

typedef struct Hints
{
	int			nqueues;
	SfTick		exhausted_until;	/* there were too many queues */
	NotedQueue	queues[QUEUES];
	int			nbuckets;
	Bucket		buckets[BUCKETS];
	Beginning	beginnings[DATABASES];
} Hints;

static Hints local;
/* In this process nothing waits for a token. */
static bool is_waived = false;

static SfShmem area = {"sfflow_limits", sizeof(Hints), &local, NULL, NULL};

#define HINTS	((Hints *) area.memory)

/* Ask for the shared memory; from _PG_init while preloading. */
void
sf_limit_queue_init(void)
{
	sf_shmem_add(&area);
}

/* --- what waits --- */

/* Find a queue that is noted. */
static NotedQueue *
find_queue(SfQueue queue)
{
	for (int i = 0; i < HINTS->nqueues; i++)
	{
		NotedQueue *q = &HINTS->queues[i];

		if (q->queue.hash == queue.hash && q->queue.limit_no == queue.limit_no &&
			q->database == MyDatabaseId)
			return q;
	}
	return NULL;
}

/* Note that something waits in a queue, or is going to if it finds no slot now. */
void
sf_limit_queue_note_waiting(SfQueue queue, Oid owner)
{
	NotedQueue *q;

	sf_shmem_lock(&area, LW_EXCLUSIVE);
	q = find_queue(queue);
	if (q == NULL && HINTS->nqueues < QUEUES)
	{
		q = &HINTS->queues[HINTS->nqueues++];
		*q = (NotedQueue) {MyDatabaseId, owner, queue, false, SF_TICK_NEVER};
	}
	else if (q == NULL)
		/* the next looks at all that is due note it, or are exhausted again */
		HINTS->exhausted_until = sf_tick_plus_ms(sf_tick_now(), 2000 * sf_setting_poll_interval);
	else if (OidIsValid(owner))
		q->owner = owner;
	sf_shmem_unlock(&area);
}

/* May something wait in a queue? */
bool
sf_limit_queue_may_wait(SfQueue queue)
{
	bool		may;

	if (area.lock == NULL)
		return true;
	if (HINTS->nqueues == 0)
		return false;
	sf_shmem_lock(&area, LW_SHARED);
	may = find_queue(queue) != NULL || HINTS->exhausted_until > sf_tick_now();
	sf_shmem_unlock(&area);
	return may;
}

/* A queue was found empty.  The caller looks once more afterwards. */
void
sf_limit_queue_note_empty(SfQueue queue)
{
	NotedQueue *q;

	sf_shmem_lock(&area, LW_EXCLUSIVE);
	q = find_queue(queue);
	if (q != NULL)
		*q = HINTS->queues[--HINTS->nqueues];
	sf_shmem_unlock(&area);
}

/* A look at all queues begins: what became of keys that were in the ring is not known. */
void
sf_limit_queue_note_look(void)
{
	sf_shmem_lock(&area, LW_EXCLUSIVE);
	for (int i = 0; i < HINTS->nqueues; i++)
		if (HINTS->queues[i].database == MyDatabaseId)
			HINTS->queues[i].rung = false;
	sf_shmem_unlock(&area);
}

/* A process comes to a queue: from here on others may tell of it again. */
void
sf_limit_queue_note_taken(SfQueue queue)
{
	NotedQueue *q;

	sf_shmem_lock(&area, LW_EXCLUSIVE);
	q = find_queue(queue);
	if (q != NULL)
	{
		q->rung = false;
		q->ready_at = SF_TICK_NEVER;
	}
	sf_shmem_unlock(&area);
}

/*
 * Tell the workers, at once, that a queue may have room for what waits, unless nothing
 * waits or they know.  The owner may be InvalidOid: then it is that of what waits.  Of a
 * queue that there was no room to note that is not known: any role does, for who comes to
 * the queue passes it on to the owner.
 */
void
sf_limit_queue_ring_if_waiting(SfQueue queue, Oid owner)
{
	NotedQueue *q;
	bool		ring;

	if (area.lock == NULL || (HINTS->nqueues == 0 && HINTS->exhausted_until == 0))
		return;
	sf_shmem_lock(&area, LW_EXCLUSIVE);
	q = find_queue(queue);
	ring = q == NULL ? HINTS->exhausted_until > sf_tick_now() : !q->rung;
	if (q == NULL && !OidIsValid(owner))
		owner = GetUserId();
	else if (q != NULL)
	{
		if (!OidIsValid(owner))
			owner = q->owner;
		/* without an owner there is no key in the ring, but a look at all queues */
		q->rung = OidIsValid(owner);
	}
	sf_shmem_unlock(&area);
	if (ring)
		sf_hooks.queue_due(sf_limit_queue_key(queue), owner);
}

/* If something may wait in a queue, have the workers told of it at a time. */
void
sf_limit_queue_ring_later(SfQueue queue, SfTick at)
{
	NotedQueue *q;
	bool		noted;

	if (area.lock == NULL || HINTS->nqueues == 0)
		return;
	sf_shmem_lock(&area, LW_EXCLUSIVE);
	q = find_queue(queue);
	noted = q != NULL;
	if (noted)
		q->ready_at = Min(q->ready_at, at);
	sf_shmem_unlock(&area);
	if (noted)
		sf_hooks.queue_later(at);
}

/*
 * Tell the workers of the queues whose time has come, as many as there is room for; returns
 * when to tell them of others.
 */
SfTick
sf_limit_queue_ring_ready(SfTick now)
{
	SfQueue		ready[MAX_READY];
	int			n = 0;
	SfTick		next = SF_TICK_NEVER;

	sf_shmem_lock(&area, LW_EXCLUSIVE);
	for (int i = 0; i < HINTS->nqueues; i++)
	{
		NotedQueue *q = &HINTS->queues[i];

		if (q->database != MyDatabaseId)
			continue;
		if (q->ready_at > now || n == MAX_READY)
			next = Min(next, q->ready_at);
		else
		{
			ready[n++] = q->queue;
			q->ready_at = SF_TICK_NEVER;
		}
	}
	sf_shmem_unlock(&area);
	for (int i = 0; i < n; i++)
		sf_limit_queue_ring_if_waiting(ready[i], InvalidOid);
	return next;
}

/* --- rates --- */

/* Are rates counted for all sessions?  Without preloading they cannot be. */
bool
sf_limit_rate_is_shared(void)
{
	return area.lock != NULL;
}

/* Since when the buckets of this database are known: from now on, if it is the first look. */
static const Beginning *
beginning(void)
{
	Beginning  *b = HINTS->beginnings;

	while (b < HINTS->beginnings + DATABASES - 1 && OidIsValid(b->database) &&
		   b->database != MyDatabaseId)
		b++;
	if (b->database != MyDatabaseId)
		*b = (Beginning) {MyDatabaseId, sf_tick_now(), GetCurrentTimestamp()};
	return b;
}

/* A rate is set from now on: what begins in this database is known since then, or earlier. */
void
sf_limit_rate_begin(void)
{
	sf_shmem_lock(&area, LW_EXCLUSIVE);
	(void) beginning();
	sf_shmem_unlock(&area);
}

/* How long after one the next may begin, on average: microseconds. */
static int64
interval_of(const SfLimit *limit)
{
	return Max(1, (int64) ceil(limit->per / limit->rate));
}

/* How many may begin at once, as a time: one less than the burst. */
static int64
tolerance_of(const SfLimit *limit)
{
	return limit->rate <= 1 ? 0 : interval_of(limit) * ((int64) limit->rate - 1);
}

/* Find a place for a bucket: a free one, or that of one that is full again. */
static Bucket *
place_for_bucket(SfTick now)
{
	if (HINTS->nbuckets < BUCKETS)
		return &HINTS->buckets[HINTS->nbuckets++];
	for (int i = 0; i < BUCKETS; i++)
		if (HINTS->buckets[i].full_at <= now)
			return &HINTS->buckets[i];
	return NULL;
}

/* Find the bucket of a queue, or make it: full if the limit is new, else empty; NULL: no room. */
static Bucket *
get_bucket(const SfLimit *limit, SfQueue queue, SfTick now)
{
	const Beginning *since = beginning();
	Bucket	   *bucket;

	for (int i = 0; i < HINTS->nbuckets; i++)
	{
		bucket = &HINTS->buckets[i];
		if (bucket->queue.hash == queue.hash && bucket->queue.limit_no == queue.limit_no &&
			bucket->database == MyDatabaseId)
			return bucket;
	}
	bucket = place_for_bucket(now);
	if (bucket != NULL)
		*bucket = (Bucket) {MyDatabaseId, queue,
							limit->set_at > since->time ? now - tolerance_of(limit) :
							since->tick + interval_of(limit), 0};
	return bucket;
}

/* Draw a token, or only look whether there is one; false: *ready tells when there may be one. */
static bool
draw(const SfLimit *limit, SfQueue queue, bool take, SfTick *ready)
{
	SfTick		now = sf_tick_now();
	Bucket	   *bucket;
	bool		drawn = false;

	*ready = sf_tick_plus_ms(now, SF_RATE_LOOK_MS);
	if (is_waived)
		return true;
	if (area.lock == NULL)
		return false;
	sf_shmem_lock(&area, LW_EXCLUSIVE);
	bucket = get_bucket(limit, queue, now);
	/* the rate may be higher now than when the last token was drawn */
	if (bucket != NULL)
		bucket->next = Min(bucket->next, now + interval_of(limit));
	if (bucket != NULL && bucket->next <= now)
	{
		drawn = true;
		if (take)
			bucket->next = Max(bucket->next, now - tolerance_of(limit)) + interval_of(limit);
		bucket->full_at = bucket->next + tolerance_of(limit);
	}
	else if (bucket != NULL)
		*ready = bucket->next;
	sf_shmem_unlock(&area);
	return drawn;
}

/* Have nothing in this process wait for a token from now on. */
void
sf_limit_rate_waive(void)
{
	is_waived = true;
}

/* Draw a token for what begins now; false: *ready tells when to try again. */
bool
sf_limit_rate_draw(const SfLimit *limit, SfQueue queue, SfTick *ready)
{
	return draw(limit, queue, true, ready);
}

/* Look whether there is a token. */
bool
sf_limit_rate_has_token(const SfLimit *limit, SfQueue queue, SfTick *ready)
{
	return draw(limit, queue, false, ready);
}

/* Give a token back that was drawn for what does not begin. */
void
sf_limit_rate_give_back(const SfLimit *limit, SfQueue queue)
{
	Bucket	   *bucket;

	if (is_waived)
		return;
	sf_shmem_lock(&area, LW_EXCLUSIVE);
	bucket = get_bucket(limit, queue, sf_tick_now());
	if (bucket != NULL)
		bucket->next -= interval_of(limit);
	sf_shmem_unlock(&area);
}
