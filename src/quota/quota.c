/*
 * quota.c
 *		How much an owner of state machines may have running, and start.
 *
 * Starts: a token bucket that holds one minute's starts and fills evenly.  It is
 * refilled only when it is empty, so that most starts read no clock.
 *
 * Running executions: the number at the last count in the tables, plus all starts
 * since then.  When that sum reaches the quota, the executions are counted again,
 * by an index on the root branches; those that have ended meanwhile make room.
 * So an owner with few running executions is counted at its first start after a
 * restart of the server, which empties the shared memory, and then once per as
 * many starts as the quota allows.  An owner that stays at its quota is counted
 * at each start; but an expensive count is trusted for twenty times as long as it
 * took.
 *
 * The use of an owner who has started nothing for a minute says nothing: its bucket is
 * full again, and its executions can be counted anew.  So its entry is free for another
 * owner.  If none is, the use of the owner who has started nothing for longest is
 * forgotten.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/hsearch.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/memory/shmem.h"
#include "base/role/role.h"
#include "base/time/clock.h"
#include "quota/quota.h"
#include "store/branch/branch.h"
#include "store/execution/status.h"

/* Owners whose use is counted, in all databases */
#define OWNERS			8192

/* A use says nothing any more after that, microseconds */
#define IDLE			USECS_PER_MINUTE

/* A count is trusted for that many times as long as it took, */
#define TRUST			20

/* ... unless it took less than that, microseconds */
#define CHEAP			5000

/* Values of an owner are read again in a transaction that began that much later */
#define VALUES_AGE		1000000

/* More than any quota: executions may run from before the server was started */
#define NOT_COUNTED		PG_INT32_MAX

/* In place of its capacity: the bucket of an owner without a quota of starts, whose starts are no tokens */
#define NO_BUCKET		(-1)

/* sf_health names refusals of the last minutes, microseconds */
#define RECENT			(5 * USECS_PER_MINUTE)

/* What an owner uses of its quotas in a database */
typedef struct Use
{
	SfHashEntry entry;
	TimestampTz used_at;		/* when the transaction began */
	SfTick		filled_at;
	double		tokens;			/* starts that were left then, less those since */
	int			capacity;		/* the quota then, or NO_BUCKET */
	int64		known;			/* running executions at the last count, */
								/* or NOT_COUNTED */
	int64		started;		/* since then */
	SfTick		counted_at;
	int64		count_took;		/* microseconds */
	SfQuotaKind refused_kind;
	int64		refused;		/* starts, of that kind; 0: none in the last minutes */
	TimestampTz refused_at;		/* the last of them */
} Use;

static SfHash uses;

/* Ask for the shared memory; from _PG_init. */
void
sf_quota_init(void)
{
	sf_hash_init(&uses, "sfflow_quota", OWNERS, sizeof(Use), 0);
}

/* Lock the uses. */
static void
lock_uses(void)
{
	sf_hash_lock(&uses, LW_EXCLUSIVE);
}

/* Unlock them. */
static void
unlock_uses(void)
{
	sf_hash_unlock(&uses);
}

/* --- the values of an owner --- */

/* Values that this backend has read */
typedef struct Values
{
	Oid			owner;			/* hash key: must be first */
	SfQuotas	quotas;
	TimestampTz read_at;
} Values;

/* Read a value, if it is a number that the setting may have. */
static void
parse_value(int *quota, const char *value, int unit)
{
	int			number;

	if (parse_int(value, &number, unit, NULL) && number >= 0)
		*quota = number;
}

/* Take a setting over that is one of the quotas. */
static void
read_value(const char *name, const char *value, void *arg)
{
	SfQuotas   *quotas = arg;

	if (pg_strcasecmp(name, "sfflow.max_executions_per_owner") == 0)
		parse_value(&quotas->executions, value, 0);
	else if (pg_strcasecmp(name, "sfflow.max_starts_per_owner") == 0)
		parse_value(&quotas->starts, value, 0);
	else if (pg_strcasecmp(name, "sfflow.max_rules_per_owner") == 0)
		parse_value(&quotas->rules, value, 0);
	else if (pg_strcasecmp(name, "sfflow.max_rule_bytes_per_owner") == 0)
		parse_value(&quotas->rule_bytes, value, GUC_UNIT_BYTE);
	else if (pg_strcasecmp(name, "sfflow.max_transitions") == 0)
		parse_value(&quotas->transitions, value, 0);
}

/* The quotas of an owner; a change is seen within a second. */
const SfQuotas *
sf_quota_of(Oid owner)
{
	static HTAB *cache = NULL;
	TimestampTz now = GetCurrentTransactionStartTimestamp();
	Values	   *values;
	bool		found;

	if (cache == NULL)
	{
		HASHCTL		control = {.keysize = sizeof(Oid),.entrysize = sizeof(Values)};

		cache = hash_create("sfflow quotas of owners", 16, &control,
							HASH_ELEM | HASH_BLOBS);
	}
	values = hash_search(cache, &owner, HASH_ENTER, &found);
	if (!found || now - values->read_at > VALUES_AGE || now < values->read_at)
	{
		SfQuotas	quotas = sf_server_quotas;

		values->read_at = 0;
		sf_role_settings_read(owner, read_value, &quotas);
		values->quotas = quotas;
		values->read_at = now;
	}
	return &values->quotas;
}

/* --- what an owner uses --- */

/* Does a use say no more than a new one would? */
static bool
is_idle(const void *entry, SfTick now)
{
	const Use  *use = entry;
	TimestampTz at = GetCurrentTransactionStartTimestamp();

	return at - use->used_at > (use->refused == 0 ? IDLE : RECENT);
}

/* Forget the oldest use of this database; if it has none, that of another one. */
static void
forget_oldest(void)
{
	Use		   *oldest = NULL;

	for (int i = 1; i <= sf_hash_end(&uses); i++)
	{
		Use		   *use = sf_hash_at(&uses, i);
		bool		mine = use->entry.key.database == MyDatabaseId;
		bool		oldest_is_mine = oldest != NULL && oldest->entry.key.database == MyDatabaseId;

		if (OidIsValid(use->entry.key.database) &&
			(oldest == NULL || mine > oldest_is_mine ||
			 (mine == oldest_is_mine && use->used_at < oldest->used_at)))
			oldest = use;
	}
	Assert(oldest != NULL);
	sf_hash_remove(&uses, oldest);
}

/* Find the use of an owner in this database, or make it. */
static Use *
find_use(Oid owner)
{
	SfHashKey	key = {MyDatabaseId, owner, 0};
	Use		   *use = sf_hash_find(&uses, key);

	while (use == NULL)
	{
		/* an owner needs one entry in a database: databases share the entries */
		use = sf_hash_add(&uses, key, MyDatabaseId, is_idle);
		if (use == NULL)
			forget_oldest();
		else
		{
			use->capacity = NO_BUCKET;
			use->known = NOT_COUNTED;
		}
	}
	use->used_at = GetCurrentTransactionStartTimestamp();
	return use;
}

/* Let time fill the bucket of a quota (0: there is none), if it is empty; a new quota begins with a full one. */
static void
fill(Use *use, int starts)
{
	SfTick		now;

	if (starts == 0)
	{
		use->capacity = NO_BUCKET;
		return;
	}
	if (starts == use->capacity && use->tokens >= 1)
		return;
	now = sf_tick_now();
	use->tokens += (double) (now - use->filled_at) * starts / USECS_PER_MINUTE;
	use->tokens = starts != use->capacity ? starts : Min(use->tokens, starts);
	use->capacity = starts;
	use->filled_at = now;
}

/* May the running executions be counted again? */
static bool
may_count(const Use *use)
{
	return use->count_took < CHEAP ||
		sf_tick_now() - use->counted_at >= use->count_took * TRUST;
}

/*
 * Count the running executions of an owner, no further than to its quota: those of
 * now, because all sessions use the count, whatever the snapshot of this one.
 */
static int64
count_running(Oid owner, int limit)
{
	/* executions that have begun, and those whose root waits for its first step, or a hold */
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM ((SELECT 1 FROM _sfflow.state_machine s"
		"  JOIN _sfflow.open_execution o ON o.machine_no = s.machine_no"
		"  WHERE s.owner = $1 AND o.status = $3)"
		" UNION ALL (SELECT 1 FROM _sfflow.branch b"
		"  JOIN _sfflow.execution e ON e.execution_no = b.execution_no"
		"  WHERE b.owner = $1 AND b.due_at IS NOT NULL AND b.branch_no = " SF_BRANCH_ROOT_TEXT
		"  AND e.started_at IS NULL AND e.status = $3)"
		" UNION ALL (SELECT 1 FROM _sfflow.parked w JOIN _sfflow.branch b"
		"  ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no"
		"  JOIN _sfflow.execution e ON e.execution_no = w.execution_no"
		"  WHERE w.branch_no = " SF_BRANCH_ROOT_TEXT " AND b.owner = $1 AND b.place = $4"
		"  AND e.started_at IS NULL AND e.status = $3) LIMIT $2) r");

	return sf_snapshot_number_now(&plan, 0, SF_ROLE(owner), SF_INT8(limit), SF_INT2(SF_STATUS_RUNNING),
								  SF_INT2(SF_BRANCH_PLACE_PARKED));
}

/* A count of running executions */
typedef struct Count
{
	int64		running;
	SfTick		at;
	int64		took;
} Count;

/* Count the running executions. */
static Count
count_again(Oid owner, int limit)
{
	SfTick		began = sf_tick_now();
	Count		count = {.running = count_running(owner, limit)};

	count.at = sf_tick_now();
	count.took = count.at - began;
	return count;
}

/*
 * Find the use of an owner, and note what was counted (NULL: nothing was).  Both under one lock:
 * between two of them the use may be forgotten.
 */
static Use *
find_counted(Oid owner, const Count *count)
{
	Use		   *use = find_use(owner);

	if (count != NULL)
	{
		use->known = count->running;
		use->started = 0;
		use->counted_at = count->at;
		use->count_took = count->took;
	}
	return use;
}

/*
 * Look whether an owner has room for one more running execution; *stale: it
 * has not, as of a count that may be made again.
 */
static bool
has_room(const Use *use, int limit, bool *stale)
{
	*stale = false;
	if (limit == 0 || use->known + use->started < limit)
		return true;
	*stale = may_count(use);
	return false;
}

/* Note a refusal; those of long ago are forgotten. */
static void
note_refusal(Use *use, SfQuotaKind kind)
{
	TimestampTz now = GetCurrentTimestamp();

	if (use->refused_kind != kind || now - use->refused_at > RECENT)
		use->refused = 0;
	use->refused_kind = kind;
	use->refused_at = now;
	use->refused++;
}

/*
 * Try to count a start, with what was just counted (NULL: nothing was); *stale as has_room() has
 * it, after a count false.
 */
static SfQuotaKind
try_take(Oid owner, const SfQuotas *quotas, const Count *count, bool *stale)
{
	bool		may_count_again = false;
	SfQuotaKind kind = SF_QUOTA_NONE;
	Use		   *use;

	lock_uses();
	use = find_counted(owner, count);
	fill(use, quotas->starts);
	if (use->capacity != NO_BUCKET && use->tokens < 1)
		kind = SF_QUOTA_STARTS;
	else if (!has_room(use, quotas->executions, &may_count_again))
		kind = SF_QUOTA_EXECUTIONS;
	if (kind == SF_QUOTA_NONE)
	{
		if (use->capacity != NO_BUCKET)
			use->tokens -= 1;
		use->started++;
	}
	*stale = may_count_again && count == NULL;
	if (kind != SF_QUOTA_NONE && !*stale)
		note_refusal(use, kind);
	unlock_uses();
	return kind;
}

/* Count a start, unless a quota of the owner is used up: then which. */
SfQuotaKind
sf_quota_take(Oid owner)
{
	const SfQuotas *quotas = sf_quota_of(owner);
	bool		stale;
	SfQuotaKind kind = try_take(owner, quotas, NULL, &stale);
	Count		count;

	if (!stale)
		return kind;
	count = count_again(owner, quotas->executions);
	SF_DEBUG_POINT("quota-counted");
	return try_take(owner, quotas, &count, &stale);
}

/* The setting of a quota. */
static const char *
quota_name(SfQuotaKind kind)
{
	return kind == SF_QUOTA_STARTS ? "sfflow.max_starts_per_owner" :
		"sfflow.max_executions_per_owner";
}

/* The value of a quota of an owner. */
static int
quota_value(SfQuotaKind kind, Oid owner)
{
	const SfQuotas *quotas = sf_quota_of(owner);

	return kind == SF_QUOTA_STARTS ? quotas->starts : quotas->executions;
}

/* Name a quota, its value and its owner. */
char *
sf_quota_describe(SfQuotaKind kind, Oid owner)
{
	char	   *role = GetUserNameFromId(owner, true);

	return psprintf("%s (%d) of role \"%s\"", quota_name(kind),
					quota_value(kind, owner),
					role == NULL ? psprintf("%u", owner) : role);
}

/* Raise the error for a quota that is used up. */
void
sf_quota_raise(SfQuotaKind kind, Oid owner, int machine_no, const char *machine)
{
	bool		starts = kind == SF_QUOTA_STARTS;

	sf_throttled_note(machine_no, owner);
	ereport(ERROR,
			(errcode(ERRCODE_SF_QUOTA_EXCEEDED),
			 errmsg("no more executions of state machine \"%s\" can be started now", machine),
			 errdetail("%s is reached: so many executions %s.",
					   sf_quota_describe(kind, owner),
					   starts ? "may be started per minute" : "may run at once"),
			 errhint("Try again later. A superuser can raise it: ALTER ROLE %s SET %s = %d.",
					 quote_identifier(GetUserNameFromId(owner, false)),
					 quota_name(kind), 2 * Min(quota_value(kind, owner), PG_INT32_MAX / 2))));
}

/* Count what continues an ended execution as a start, or raise. */
void
sf_quota_require(Oid owner, int machine_no, const char *machine)
{
	SfQuotaKind kind = sf_quota_take(owner);

	if (kind != SF_QUOTA_NONE)
		sf_quota_raise(kind, owner, machine_no, machine);
}

/* Take back the count of some starts. */
static void
give_back(Oid owner, int starts)
{
	Use		   *use;

	lock_uses();
	use = find_use(owner);
	if (use->capacity != NO_BUCKET)
		use->tokens += starts;
	use->started = Max(use->started - starts, 0);
	unlock_uses();
}

/* Take back the count of a start that found its execution there. */
void
sf_quota_give_back(Oid owner)
{
	give_back(owner, 1);
}

/* Begin starts that were counted; after an error they count no more. */
void
sf_quota_begin(Oid owner, int starts, void (*begin) (void *arg), void *arg)
{
	PG_TRY();
	{
		begin(arg);
	}
	PG_CATCH();
	{
		give_back(owner, starts);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* Whether another item execution may begin. */
bool
sf_quota_has_room(Oid owner)
{
	int			limit = sf_quota_of(owner)->executions;
	bool		room,
				stale;
	Count		count;

	lock_uses();
	room = has_room(find_use(owner), limit, &stale);
	unlock_uses();
	if (room || !stale)
		return room;
	count = count_again(owner, limit);
	lock_uses();
	room = has_room(find_counted(owner, &count), limit, &stale);
	unlock_uses();
	return room;
}

/* An item execution begins. */
void
sf_quota_note_item(Oid owner)
{
	lock_uses();
	find_use(owner)->started++;
	unlock_uses();
}

/* Copy at most size of them; returns how many there are. */
int
sf_quota_refusals(SfQuotaRefusal *refusals, int size)
{
	TimestampTz since = GetCurrentTimestamp() - RECENT;
	int			n = 0;

	lock_uses();
	for (int i = 1; i <= sf_hash_end(&uses) && n < size; i++)
	{
		const Use  *use = sf_hash_at(&uses, i);

		if (use->entry.key.database != MyDatabaseId || use->refused == 0 || use->refused_at <= since)
			continue;
		refusals[n].owner = (Oid) use->entry.key.first;
		refusals[n].kind = use->refused_kind;
		refusals[n].refused = use->refused;
		refusals[n++].last = use->refused_at;
	}
	unlock_uses();
	return n;
}

/* Forget the uses of a database that is gone. */
void
sf_quota_forget(Oid database)
{
	lock_uses();
	sf_hash_remove_all(&uses, database, SF_HASH_ANY);
	unlock_uses();
}
