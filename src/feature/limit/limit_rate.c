/*
 * limit_rate.c
 *		How much may begin now in the queues of limits with a rate.
 *
 * A queue has a bucket, as the time at which the next one may begin (GCRA).  A token is drawn
 * as user code begins, and not given back if the transaction fails, so that no more begin than
 * the limit allows.  After a start of the server all buckets are empty: what began before it is
 * not known.
 *
 * Buckets are in shared memory.  One that is full again says nothing and gives its entry up; so do
 * those of a limit, a database or an extension that is dropped.  Owners share the entries fairly
 * (base/memory/shmem.h).
 *
 * An owner that gets no entry draws its tokens in the table rate_token: a row per token, with the
 * time at which the next one may begin after it.  The greatest time counts, also of a transaction that
 * has not ended; if it is rolled back, the token is given back with what it was drawn for.  So no
 * transaction waits for another one.  It costs one more insert for what begins.
 *
 * A bucket is never in both.  Who finds none in shared memory locks the queue, without waiting,
 * until it has made one, or drawn in the table.  A bucket that is made takes over the time of the
 * table.  Order of locks: that of the queue (a heavyweight one), then that of the hash table.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "base/settings.h"
#include "base/time/timing.h"
#include "db/direct.h"
#include "feature/limit/limit_rate.h"
#include "store/branch/noted_queue.h"

/* If no bucket of a rate can be kept, try again after this */
#define RATE_RECHECK_MS			1000

/* Limits whose buckets one scan of a worker compares with the table */
#define MAX_REAPED	1000

/* A bucket */
typedef struct Bucket
{
	SfHashEntry entry;
	SfTick		next;			/* the next one may begin then */
	SfTick		full_at;		/* ... and the bucket is full then */
} Bucket;

/* Since when all that begins on this server draws tokens; 0: not yet */
typedef struct Beginning
{
	SfTick		tick;
	TimestampTz time;
} Beginning;

static SfHash buckets;

#define BEGINNING	((Beginning *) sf_hash_extra(&buckets))

/* In this process nothing waits for a token. */
static bool is_waived = false;

/* Ask for the shared memory; from _PG_init. */
void
sf_limit_rate_init(void)
{
	sf_hash_init(&buckets, "sfflow_rates", sf_setting_max_limit_keys, sizeof(Bucket),
				 sizeof(Beginning));
}

/* Are rates counted for all sessions?  Without preloading they cannot be. */
bool
sf_limit_rate_is_shared(void)
{
	return sf_hash_is_shared(&buckets);
}

/*
 * Since when tokens are drawn: from now on, if this is the first scan.  A standby that is promoted
 * has its first scan after that; what began on its primary is not known here.
 */
static Beginning
beginning(void)
{
	Beginning  *b = BEGINNING;

	if (b->tick == 0)
		*b = (Beginning) {sf_tick_now(), GetCurrentTimestamp()};
	return *b;
}

/* A rate is set from now on: what begins is known since then, or earlier. */
void
sf_limit_rate_begin(void)
{
	sf_hash_lock(&buckets, LW_EXCLUSIVE);
	(void) beginning();
	sf_hash_unlock(&buckets);
}

/* --- a bucket --- */

/* How long after one the next may begin, on average: microseconds.  Release 1.0 set slower rates, too. */
static int64
interval_of(const SfLimit *limit)
{
	return Max(1, (int64) ceil(Min(limit->per / limit->rate, SF_LIMIT_MAX_INTERVAL)));
}

/* How many may begin at once, as a time: one less than the burst. */
static int64
tolerance_of(const SfLimit *limit)
{
	return limit->rate <= 1 ? 0 : interval_of(limit) * ((int64) limit->rate - 1);
}

/* The time of a bucket of which nothing is known: full if the limit is new, else empty. */
static SfTick
unknown_time(const SfLimit *limit, SfTick now)
{
	Beginning	since = beginning();

	return limit->set_at > since.time ? now - tolerance_of(limit) :
		since.tick + interval_of(limit);
}

/* Is a bucket full again? */
static bool
is_full(const void *entry, SfTick now)
{
	return ((const Bucket *) entry)->full_at <= now;
}

/* Draw a token of a bucket, or only look whether there is one; false: *ready tells when there may be one. */
static bool
draw_from(Bucket *bucket, const SfLimit *limit, SfTick now, bool take, SfTick *ready)
{
	bool		drawn;

	/* the rate may be higher now than when the last token was drawn */
	bucket->next = Min(bucket->next, now + interval_of(limit));
	drawn = bucket->next <= now;
	if (!drawn)
		*ready = bucket->next;
	else if (take)
		bucket->next = Max(bucket->next, now - tolerance_of(limit)) + interval_of(limit);
	bucket->full_at = bucket->next + tolerance_of(limit);
	return drawn;
}

/* The key of the bucket of a queue. */
static SfHashKey
key_of(SfQueue queue)
{
	return (SfHashKey) {MyDatabaseId, queue.object_no, queue.hash};
}

/* --- tokens in the table --- */

static const SfIndex by_time = {"rate_token", "rate_token_time"};

/* The last token of a queue */
typedef struct Token
{
	SfTick		drawn;
	SfTick		next;			/* as of a bucket */
	bool		mine;			/* of this transaction */
} Token;

/* Read a token. */
static void
read_token(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_limit_no = 1, COL_queue, COL_drawn_tick, COL_next_tick};
	Token	   *token = arg;

	token->drawn = sf_row_number(tuple, desc, COL_drawn_tick, 0);
	token->next = sf_row_number(tuple, desc, COL_next_tick, 0);
	token->mine = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
}

/* Find the last token of a queue in the table, committed or not; before all times if there is none. */
static Token
last_token(SfQueue queue)
{
	Token		token = {.next = PG_INT64_MIN};

	(void) sf_row_read_dirty_last(&by_time, read_token, &token, SF_INT8(queue.object_no),
								  SF_INT8(queue.hash));
	return token;
}

/* Insert a token. */
static void
insert_token(SfQueue queue, SfTick drawn, const Bucket *bucket)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.rate_token (limit_no, queue, drawn_tick, next_tick, full_tick)"
		" VALUES ($1, $2, $3, $4, $5)");

	sf_db_execute(&plan, SF_INT8(queue.object_no), SF_INT8(queue.hash), SF_INT8(drawn),
				  SF_INT8(bucket->next), SF_INT8(bucket->full_at));
}

/* Delete the last token of a queue, if this transaction has drawn it; else it is lost. */
static void
delete_token(SfQueue queue)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.rate_token t WHERE t.limit_no = $1 AND t.queue = $2"
		" AND t.next_tick = $3");
	Token		token = last_token(queue);

	if (token.mine)
		sf_db_execute(&plan, SF_INT8(queue.object_no), SF_INT8(queue.hash), SF_INT8(token.next));
}

/* The lock of a queue: differs from SQL's advisory locks, and from those of slots. */
static void
queue_tag(LOCKTAG *tag, SfQueue queue)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId,
						 (uint32) queue.hash ^ (uint32) ((uint64) queue.hash >> 32),
						 (uint32) queue.object_no, 0);
	tag->locktag_type = LOCKTAG_USERLOCK;
}

/* Find the bucket of a queue in the table, or one of which nothing is known. */
static Bucket
stored_bucket(const SfRate *rate)
{
	Token		token = last_token(rate->queue);
	SfTick		now = sf_tick_now();
	Bucket		bucket = {0};

	sf_hash_lock(&buckets, LW_EXCLUSIVE);
	bucket.next = unknown_time(rate->limit, now);
	sf_hash_unlock(&buckets);
	/* one that was drawn later than now is from before the machine was started */
	if (token.next != PG_INT64_MIN && token.drawn <= now)
		/* the rate may be higher now than when it was drawn */
		bucket.next = Max(bucket.next, Min(token.next, token.drawn + interval_of(rate->limit)));
	return bucket;
}

/* Draw a token of a queue whose lock the caller has, from a bucket that is made now if there is room. */
static bool
draw_locked(const SfRate *rate, SfTick *ready)
{
	Bucket		stored = stored_bucket(rate);
	SfTick		now = sf_tick_now();
	Bucket	   *bucket;
	bool		drawn;

	sf_hash_lock(&buckets, LW_EXCLUSIVE);
	bucket = sf_hash_find(&buckets, key_of(rate->queue));
	if (bucket == NULL)
	{
		bucket = sf_hash_add(&buckets, key_of(rate->queue), rate->owner, is_full);
		if (bucket != NULL)
			bucket->next = stored.next;
	}
	drawn = draw_from(bucket != NULL ? bucket : &stored, rate->limit, now, true, ready);
	sf_hash_unlock(&buckets);
	if (bucket == NULL && drawn)
		insert_token(rate->queue, now, &stored);
	return drawn;
}

/* Draw a token of a queue without a bucket in shared memory. */
static bool
draw_unknown(const SfRate *rate, SfTick *ready)
{
	LOCKTAG		tag;
	bool		drawn;

	queue_tag(&tag, rate->queue);
	if (LockAcquire(&tag, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
	{
		*ready = sf_tick_plus_ms(sf_tick_now(), SF_RATE_GATHER_MS);
		return false;
	}
	drawn = draw_locked(rate, ready);
	(void) LockRelease(&tag, ExclusiveLock, false);
	return drawn;
}

/* --- for those who begin something --- */

/* Draw a token, or only look whether there is one; false: *ready tells when there may be one. */
static bool
draw(const SfRate *rate, bool take, SfTick *ready)
{
	SfTick		now = sf_tick_now();
	Bucket		stored;
	Bucket	   *bucket;
	bool		drawn = false;

	*ready = sf_tick_plus_ms(now, RATE_RECHECK_MS);
	if (is_waived)
		return true;
	if (!sf_limit_rate_is_shared())
		return false;
	sf_hash_lock(&buckets, LW_EXCLUSIVE);
	bucket = sf_hash_find(&buckets, key_of(rate->queue));
	if (bucket != NULL)
		drawn = draw_from(bucket, rate->limit, now, take, ready);
	sf_hash_unlock(&buckets);
	if (bucket != NULL)
		return drawn;
	if (take)
		return draw_unknown(rate, ready);
	stored = stored_bucket(rate);
	return draw_from(&stored, rate->limit, sf_tick_now(), false, ready);
}

/* Have nothing in this process wait for a token from now on. */
void
sf_limit_rate_waive(void)
{
	is_waived = true;
}

/* Draw a token for what begins now; false: *ready tells when to try again. */
bool
sf_limit_rate_draw(const SfRate *rate, SfTick *ready)
{
	return draw(rate, true, ready);
}

/* Look whether there is a token. */
bool
sf_limit_rate_has_token(const SfRate *rate, SfTick *ready)
{
	return draw(rate, false, ready);
}

/* Give a token back that was drawn for what does not begin. */
void
sf_limit_rate_return(const SfLimit *limit, SfQueue queue)
{
	Bucket	   *bucket;

	if (is_waived)
		return;
	sf_hash_lock(&buckets, LW_EXCLUSIVE);
	bucket = sf_hash_find(&buckets, key_of(queue));
	if (bucket != NULL)
	{
		bucket->next -= interval_of(limit);
		bucket->full_at -= interval_of(limit);
	}
	sf_hash_unlock(&buckets);
	if (bucket == NULL)
		delete_token(queue);
}

/* --- what is gone --- */

/* Forget the buckets of a limit that is gone, or (0) of a database. */
void
sf_limit_rate_forget(Oid database, int64 limit_no)
{
	if (!sf_limit_rate_is_shared())
		return;
	sf_hash_lock(&buckets, LW_EXCLUSIVE);
	sf_hash_remove_all(&buckets, database, limit_no);
	sf_hash_unlock(&buckets);
}

/* Compare numbers of limits. */
static int
compare_numbers(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/*
 * Forget the buckets and the queues of limits that are not in the table any more.  A limit that
 * another transaction is setting, or dropping, is there.
 */
static void
forget_dropped(void)
{
	static const SfIndex by_number = {"run_limit", "run_limit_pkey"};
	static int	from[2] = {1, 1};
	int64	   *numbers = palloc(sizeof(int64) * MAX_REAPED * 2);
	int			n = sf_hash_list(&buckets, MyDatabaseId, numbers, MAX_REAPED, &from[0]);

	n += sf_queue_list(numbers + n, MAX_REAPED, &from[1]);
	qsort(numbers, n, sizeof(int64), compare_numbers);
	for (int i = 0; i < n; i++)
	{
		if ((i > 0 && numbers[i] == numbers[i - 1]) ||
			sf_rows_read_dirty(&by_number, 1, NULL, NULL, SF_INT8(numbers[i])) > 0)
			continue;
		sf_limit_rate_forget(MyDatabaseId, numbers[i]);
		sf_queue_forget(MyDatabaseId, numbers[i]);
	}
	pfree(numbers);
}

/*
 * With each scan for everything due: forget the buckets of limits that were dropped, and delete
 * tokens that say nothing any more: the bucket is full again, a later token is there, or the limit
 * is gone.
 */
void
sf_limit_rate_reap(void)
{
	static SfPlan plan = SF_PLAN(
		"WITH old AS MATERIALIZED (SELECT t.ctid FROM _sfflow.rate_token t WHERE t.full_tick <= $1"
		"  OR EXISTS (SELECT FROM _sfflow.rate_token n WHERE n.limit_no = t.limit_no"
		"   AND n.queue = t.queue AND n.next_tick > t.next_tick)"
		"  OR NOT EXISTS (SELECT FROM _sfflow.run_limit l WHERE l.limit_no = t.limit_no)"
		" LIMIT 10000 FOR UPDATE OF t SKIP LOCKED)"
		" DELETE FROM _sfflow.rate_token t USING old o WHERE t.ctid = o.ctid");

	if (sf_limit_rate_is_shared())
		forget_dropped();
	if (sf_rows_read_dirty_by(&by_time, 1, NULL, NULL, NULL, 0) > 0)
		sf_db_execute(&plan, SF_INT8(sf_tick_now()));
}

/* How full the table of buckets is. */
SfHashUse
sf_limit_rate_use(void)
{
	return sf_hash_use(&buckets);
}
