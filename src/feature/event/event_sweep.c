/*
 * event_sweep.c
 *		Sweeps: which keys of events have their turns (event_by_key.h), and what has expired.
 *
 * A sweep sees the transactions that have committed when it has its lock.  A transaction that keeps one snapshot
 * (REPEATABLE READ) would not, so in a session it gives nothing.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/settings.h"
#include "base/time/clock.h"
#include "base/version/compat.h"
#include "db/direct.h"
#include "feature/event/event_by_key.h"
#include "store/role/named_lock.h"
#include "store/role/owner.h"
#include "store/role/privilege.h"

/* A sweep tries again after this if others begin to wait for a key */
#define SWEEP_RETRY_MS			300
/* A key that an error has come of is passed over so long, by this process */
#define PUT_OFF_MS				10000
/* Events that have expired are looked for so often, at most */
#define EXPIRED_SWEEP_MS		60000
/* Longest time that a session takes for keys that its execution waits for: workers go on */
#define SESSION_MS				2000

/* Keys that a sweep goes through, also of one owner, and answers that it gives, at most */
#define MAX_KEYS		64
#define MAX_KEYS_OF_OWNER	32
#define MAX_GIVEN		1000

/* Types that a sweep looks for keys of, and sweeps that follow each other at once if none has changed anything */
#define MAX_TYPES		1000
#define MAX_FRUITLESS	4

/* Keys that a process remembers as put off */
#define MAX_PUT_OFF		100

/* --- keys that an error came of --- */

/* A key that is passed over for a time */
typedef struct PutOff
{
	SfEventKey	event_key;
	SfTick		until;
} PutOff;

/* They, of this process */
static List *put_off_keys = NIL;

/* Is a key passed over now? */
static bool
is_put_off(const SfEventKey *event_key)
{
	foreach_ptr(const PutOff, put_off, put_off_keys)
		if (sf_event_key_compare(&put_off->event_key, event_key) == 0)
			return sf_tick_now() < put_off->until;
	return false;
}

/* Forget keys that are passed over no more, and one for which there is no room. */
static void
forget_put_off(void)
{
	ListCell   *lc;

	foreach(lc, put_off_keys)
	{
		PutOff	   *put_off = lfirst(lc);

		if (sf_tick_now() >= put_off->until || list_length(put_off_keys) >= MAX_PUT_OFF)
		{
			put_off_keys = foreach_delete_current(put_off_keys, lc);
			pfree(put_off->event_key.key);
			pfree(put_off);
		}
	}
}

/* Log why a key cannot be swept, and pass over it for a time: others have their turns. */
static void
put_off_key(const SfEventKey *event_key, const char *type_name, const ErrorData *error)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	PutOff	   *put_off;

	forget_put_off();
	put_off = palloc(sizeof(PutOff));
	put_off->event_key = (SfEventKey) {event_key->event_type_no, pstrdup(event_key->key)};
	put_off->until = sf_tick_plus_ms(sf_tick_now(), PUT_OFF_MS);
	put_off_keys = lappend(put_off_keys, put_off);
	MemoryContextSwitchTo(old);
	ereport(LOG,
			(errmsg("sfflow cannot give events \"%s\" with key \"%s\": %s", type_name, event_key->key, error->message)));
	sf_hooks.scan_at(TimestampTzPlusMilliseconds(GetCurrentTimestamp(), PUT_OFF_MS));
}

/* --- keys --- */

/* A table with keys, and where it has them */
typedef struct KeySource
{
	SfIndex		index;			/* over the type and the key */
	int			column;			/* of the type; that of the key follows */
	SfEventKey	next;			/* the first key that was not listed */
	bool		is_any;			/* there is one */
} KeySource;

/* Read a key. */
static void
read_key(HeapTuple tuple, TupleDesc desc, void *arg)
{
	KeySource  *source = arg;

	source->next.event_type_no = sf_row_number(tuple, desc, source->column, 0);
	source->next.key = sf_row_text(tuple, desc, source->column + 1);
}

/* Find a type whose events are given now; NULL: it is gone, or held. */
static const SfEventType *
find_type(int event_type_no)
{
	const SfEventType *type = sf_event_type_by_number(event_type_no);

	return type == NULL || sf_feature_is_held(SF_OBJECT_EVENT, type->name) ? NULL : type;
}

/* Step to the first key of a table that a type has behind one. */
static void
step_behind(KeySource *source, const SfEventKey *after)
{
	source->is_any = sf_rows_read_behind(&source->index, 1, read_key, source, SF_INT4(after->event_type_no),
										 SF_TEXT(after->key)) > 0;
}

/* The number of the first type behind one that has keys in either table; 0: there is none. */
static int
next_type(KeySource *a, KeySource *b, int after)
{
	a->is_any = sf_rows_read_behind(&a->index, 1, read_key, a, SF_INT4(after)) > 0;
	b->is_any = sf_rows_read_behind(&b->index, 1, read_key, b, SF_INT4(after)) > 0;
	if (!a->is_any || !b->is_any)
		return a->is_any ? a->next.event_type_no : b->is_any ? b->next.event_type_no : 0;
	return Min(a->next.event_type_no, b->next.event_type_no);
}

/* Where sweeps of this process go on: behind the keys, one of a type, and behind the type */
static List *positions = NIL;
static int	types_after = 0;

/* The key of a type behind which a sweep goes on; NULL: it begins. */
static SfEventKey *
position_of(int event_type_no)
{
	foreach_ptr(SfEventKey, position, positions)
		if (position->event_type_no == event_type_no)
			return position;
	return NULL;
}

/* Have sweeps go on behind a key. */
static void
go_on_behind(const SfEventKey *last)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	SfEventKey   *position = position_of(last->event_type_no);

	if (position == NULL)
	{
		position = palloc(sizeof(SfEventKey));
		position->event_type_no = last->event_type_no;
		positions = lappend(positions, position);
	}
	else
		pfree(position->key);
	position->key = pstrdup(last->key);
	MemoryContextSwitchTo(old);
}

/* Have sweeps begin with the first keys. */
static void
begin_with_first(void)
{
	types_after = 0;
	foreach_ptr(SfEventKey, position, positions)
		pfree(position->key);
	list_free_deep(positions);
	positions = NIL;
}

/* Keys that a sweep is to go through */
typedef struct KeyList
{
	KeySource	fresh;
	KeySource	ripe;
	List	   *keys;			/* SfEventKey */
	List	   *owners;			/* of the keys, one for each */
	bool		cut;			/* there are more */
} KeyList;

/* How many keys of an owner are in a list */
static int
count_of_owner(const KeyList *list, Oid owner)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, list->owners)
		n += lfirst_oid(lc) == owner;
	return n;
}

/* Append keys of a type to a list, behind one and up to one (NULL: all); false: there is no room for more. */
static bool
append_keys(KeyList *list, Oid owner, const SfEventKey *after, const SfEventKey *last)
{
	int			room = Min(MAX_KEYS - list_length(list->keys), MAX_KEYS_OF_OWNER - count_of_owner(list, owner));

	step_behind(&list->fresh, after);
	step_behind(&list->ripe, after);
	while (list->fresh.is_any || list->ripe.is_any)
	{
		int			order = !list->fresh.is_any ? 1 : !list->ripe.is_any ? -1 :
			sf_event_key_compare(&list->fresh.next, &list->ripe.next);
		SfEventKey   *found = palloc(sizeof(SfEventKey));

		*found = order <= 0 ? list->fresh.next : list->ripe.next;
		if (last != NULL && sf_event_key_compare(found, last) > 0)
			break;
		if (room-- <= 0)
			return false;
		list->keys = lappend(list->keys, found);
		list->owners = lappend_oid(list->owners, owner);
		if (order <= 0)
			step_behind(&list->fresh, found);
		if (order >= 0)
			step_behind(&list->ripe, found);
	}
	return true;
}

/* Append the keys of a type to a list, from where sweeps go on; false: there are more. */
static bool
append_type(KeyList *list, const SfEventType *type)
{
	SfEventKey	first = {type->event_type_no, ""};
	const SfEventKey *position = position_of(type->event_type_no);
	Oid			owner = type->owner;

	if (position == NULL)
		return append_keys(list, owner, &first, NULL);
	return append_keys(list, owner, position, NULL) && append_keys(list, owner, &first, position);
}

/*
 * List keys that have fresh events or ripe waits; of a key with many of them only the first is read.  An owner has at
 * most half of them.  Types follow each other in turns: the next sweep begins with the first one that has had no room.
 */
static KeyList
list_keys(void)
{
	KeyList		list = {.fresh = {.index = {"emission", "emission_fresh"},.column = 2},
	.ripe = {.index = {"awaited_event", "awaited_event_ripe"},.column = 3}};
	int			start = types_after;
	int			type_no = start;
	bool		wrapped = start == 0;
	int			left_out = -1;

	for (int n = 0; n < MAX_TYPES; n++)
	{
		int			before = type_no;
		const SfEventType *type;

		type_no = next_type(&list.fresh, &list.ripe, before);
		if (type_no == 0 && !wrapped)
		{
			wrapped = true;
			type_no = next_type(&list.fresh, &list.ripe, 0);
		}
		if (type_no == 0 || (wrapped && start != 0 && type_no > start))
		{
			types_after = Max(left_out, 0);
			return list;
		}
		type = find_type(type_no);
		if (type == NULL || append_type(&list, type))
			continue;
		list.cut = true;
		if (left_out < 0)
			left_out = type_no - 1;
	}
	list.cut = true;
	types_after = left_out >= 0 ? left_out : type_no;
	return list;
}

/* Lock a key alone: no transaction that begins to wait for it is open, nor one that drops its type. */
static bool
lock_alone(const SfEventType *type, const char *key, bool may_wait)
{
	if (SF_DEBUG_MUTATION("event_no_lock"))
		return true;
	return sf_named_try_lock(SF_OBJECT_EVENT, type->name, SF_NAMED_LOCK_KEEP) &&
		sf_event_key_lock(type->event_type_no, key, may_wait ? SF_EVENT_KEY_LOCK_ALONE : SF_EVENT_KEY_LOCK_ALONE_NOW);
}

/* A key that a sweep comes to */
typedef struct Visit
{
	const SfEventKey *event_key;
	const char *type_name;
	TimestampTz now;
	SfTick		until;
	bool		may_wait;
	bool		has_lock;
	SfMatchResult *result;
} Visit;

/* Sweep a key, in a subtransaction: an error is of this key. */
static bool
visit_key(void *arg)
{
	Visit	   *visit = arg;
	const SfEventType *type = find_type(visit->event_key->event_type_no);

	if (type == NULL)
		return true;
	visit->type_name = pstrdup(type->name);
	visit->has_lock = lock_alone(type, visit->event_key->key, visit->may_wait);
	type = visit->has_lock ? find_type(visit->event_key->event_type_no) : NULL;
	if (type != NULL)
		sf_match_key(type, visit->event_key->key, visit->now, visit->until, visit->result);
	else if (!visit->has_lock)
		visit->result->locked = true;
	return true;
}

/* Come to a key; an error has it passed over for a time. */
static void
come_to_key(Visit *visit)
{
	SfMatchResult before = *visit->result;
	ErrorData  *error;

	if (is_put_off(visit->event_key))
		return;
	error = sf_subtransaction_run(visit_key, NULL, visit);
	if (error == NULL)
		return;
	sf_event_pass_forget_of(visit->event_key);
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED ||
		ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION ||
		ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES)
		ReThrowError(error);
	*visit->result = before;
	put_off_key(visit->event_key, visit->type_name == NULL ? "?" : visit->type_name, error);
}

/* Time that an owner's keys have had in a sweep */
typedef struct Share
{
	Oid			owner;
	int64		used;			/* microseconds */
} Share;

/* The share of an owner, which may be a new one. */
static Share *
share_of(List **shares, Oid owner)
{
	Share	   *share;

	foreach_ptr(Share, there, *shares)
		if (there->owner == owner)
			return there;
	share = palloc0(sizeof(Share));
	share->owner = owner;
	*shares = lappend(*shares, share);
	return share;
}

/* Match keys until as many answers were given.  Each owner has the same part of the time, and at least one key. */
static SfMatchResult
match_keys(const KeyList *list, TimestampTz now, int ms, int answers)
{
	SfMatchResult result = {.budget = answers};
	bool		may_wait = true;
	bool		left_out = false;
	List	   *shares = NIL;
	int64		time;
	ListCell   *lk,
			   *lo;

	foreach(lo, list->owners)
		(void) share_of(&shares, lfirst_oid(lo));
	time = ms * INT64CONST(1000) / Max(list_length(shares), 1);
	forboth(lk, list->keys, lo, list->owners)
	{
		Share	   *share = share_of(&shares, lfirst_oid(lo));
		int			usual_after = types_after;
		SfTick		began = sf_tick_now();
		Visit		visit = {.event_key = lfirst(lk),.now = now,.until = began + time - share->used,.may_wait = may_wait,
		.result = &result};

		CHECK_FOR_INTERRUPTS();
		if (share->used >= time || result.budget <= 0)
		{
			/* the next sweep begins with the first one */
			if (!left_out)
				types_after = visit.event_key->event_type_no - 1;
			left_out = result.left_out = true;
			continue;
		}
		/* an error that ends the sweep has the next one begin behind the key */
		types_after = visit.event_key->event_type_no;
		go_on_behind(visit.event_key);
		come_to_key(&visit);
		types_after = usual_after;
		/* with a lock of a key it waits for no other */
		may_wait &= !visit.has_lock;
		share->used += Max(sf_tick_now() - began, 1);
	}
	return result;
}

/* Delete what has expired, if it is time for this process to look for that; true: there is more, for the next sweep. */
static bool
delete_expired(TimestampTz now)
{
	static SfTick next = 0;

	if (sf_tick_now() < next)
		return false;
	/* also after an error */
	next = sf_tick_plus_ms(sf_tick_now(), EXPIRED_SWEEP_MS);
	if (!sf_emission_delete_expired(now))
		return false;
	next = 0;
	return true;
}

/*
 * Give events that are there to branches that wait for them.
 *
 * What is more than a sweep has time for takes several, one at once after the other, in turns: owners have the same
 * part of the time of each.  Keys that others have locked stay as they are: when some sweeps have changed nothing, no
 * other one follows at once.
 */
SfSweepResult
sf_event_sweep(TimestampTz now)
{
	static int	fruitless = 0;	/* sweeps that have changed nothing, one after the other */
	SfSweepResult left = {.next = DT_NOEND};
	SfMatchResult	result;
	KeyList		list;

	if (IsolationUsesXactSnapshot() || !sf_keyed_cache_is_any(&sf_event_type_cache))
		return left;
	left.more = delete_expired(now);
	list = list_keys();
	result = match_keys(&list, now, sf_setting_slice_ms, SF_DEBUG_MS("event_answers", MAX_GIVEN));
	list.cut |= result.left_out;
	fruitless = result.made_progress || !list.cut ? 0 : fruitless + 1;
	if (!list.cut)
		begin_with_first();
	else if (fruitless < MAX_FRUITLESS)
		left.more = true;
	else
	{
		fruitless = 0;
		result.locked = true;
	}
	if (left.more)
		sf_hooks.sweep_soon();
	if (result.locked)
		sf_hooks.scan_at(TimestampTzPlusMilliseconds(GetCurrentTimestamp(), SWEEP_RETRY_MS));
	return left;
}

/* Append the key of a wait to a list. */
static void
append_key(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_event_type_no, COL_key};
	List	  **keys = arg;
	SfEventKey   *event_key = palloc(sizeof(SfEventKey));

	event_key->event_type_no = sf_row_number(tuple, desc, COL_event_type_no, 0);
	event_key->key = sf_row_text(tuple, desc, COL_key);
	*keys = lappend(*keys, event_key);
}

/* Compare two keys in a list. */
static int
compare_cells(const ListCell *a, const ListCell *b)
{
	return sf_event_key_compare(lfirst(a), lfirst(b));
}

/* List the keys that an execution waits for, each once. */
static KeyList
list_awaited(int64 execution_no)
{
	static const SfIndex by_branch = {"awaited_event", "awaited_event_pkey"};
	List	   *all = NIL;
	KeyList		list = {0};

	(void) sf_rows_read_now(&by_branch, PG_INT32_MAX, append_key, &all, SF_INT8(execution_no));
	list_sort(all, compare_cells);
	foreach_ptr(SfEventKey, event_key, all)
		if (list.keys == NIL || sf_event_key_compare(llast(list.keys), event_key) != 0)
		{
			list.keys = lappend(list.keys, event_key);
			list.owners = lappend_oid(list.owners, InvalidOid);
		}
	return list;
}

/* Give an execution, which a session advances, what it waits for; true: it, or another one, got something. */
bool
sf_event_sweep_execution(int64 execution_no)
{
	KeyList		list;
	SfMatchResult result;

	if (!sf_event_type_may_be() || IsolationUsesXactSnapshot() || !sf_keyed_cache_is_any(&sf_event_type_cache))
		return false;
	list = list_awaited(execution_no);
	result = match_keys(&list, GetCurrentTimestamp(), SESSION_MS, MAX_GIVEN);
	begin_with_first();
	if (result.left_out)
		sf_hooks.sweep_soon();
	return result.budget < MAX_GIVEN;
}
