/*
 * match.c
 *		Sweeps: give events to the branches that wait for them (event_by_key.h).
 *
 * A sweep sees the transactions that have committed when it has its lock.  A transaction that keeps one snapshot
 * (REPEATABLE READ) would not, so in a session it gives nothing.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "db/direct.h"
#include "feature/event/event_by_key.h"
#include "feature/rule/pattern.h"
#include "store/role/named_lock.h"
#include "store/role/owner.h"
#include "store/role/privilege.h"

/* A sweep tries again after this if others begin to wait for a key, or if another transaction has such a wait */
#define SWEEP_RETRY_MS			300
#define LOCKED_RETRY_MS			5000
/* Events that have expired are looked for so often, at most */
#define EXPIRED_SWEEP_MS		60000

/* Keys that a sweep goes through, and answers that it gives, at most */
#define MAX_KEYS		32
#define MAX_GIVEN		1000

/* Waits, and events, that are read at once */
#define WAITS			500
#define EVENTS			16

/* An execution that has passed over so many receipts has its floor raised */
#define PASSED			32

/* A wait, as it was read */
typedef struct Wait
{
	SfBranchKey key;
	int			generation;
	bool		ripe;
	TimestampTz since;
	int			max_events;
	bool		gives_array;
	Jsonb	   *filter;
} Wait;

/* An event that this sweep has given to an execution */
typedef struct Given
{
	int64		execution_no;
	int64		event_no;
} Given;

/* A sweep of a key */
typedef struct Match
{
	const SfEventType *type;
	const char *key;
	TimestampTz now;

	List	   *events;			/* SfEmission that may be given, behind the number "after" */
	int64		after;
	int64		read_to;		/* number of the last one that was read, behind "after" */
	bool		complete;		/* there are no more */

	HTAB	   *given;
	List	   *receipts;		/* SfReceipt, to be written */
	List	   *raise;			/* executions whose floors are to be raised */
	List	   *unripe;			/* waits that got nothing, and were ripe */
	int			budget;			/* answers that may still be given */
	bool		skipped;		/* a wait was passed over, or not come to */
	bool		locked;			/* ... because another transaction has it */
} Match;

/* --- events for a wait --- */

/* Read more events of the key; false: there are none. */
static bool
read_more(Match *match)
{
	List	   *more = NIL;

	while (more == NIL && !match->complete)
	{
		CHECK_FOR_INTERRUPTS();
		more = sf_emission_read(match->type, match->key, &match->read_to, match->now, EVENTS, &match->complete);
	}
	match->events = list_concat(match->events, more);
	return more != NIL;
}

/* Have the events in memory begin behind a number, or before that. */
static void
begin_behind(Match *match, int64 floor)
{
	if (match->events != NIL && floor >= match->after)
		return;
	match->events = NIL;
	match->after = floor;
	match->read_to = floor;
	match->complete = false;
}

/* Has this sweep given an event to an execution? */
static bool
is_given(const Match *match, int64 execution_no, int64 event_no)
{
	Given		given = {execution_no, event_no};

	return hash_search(match->given, &given, HASH_FIND, NULL) != NULL;
}

/* Does a payload match a pattern? */
static bool
matches(const SfPattern *pattern, const SfEmission *event)
{
	JsonbValue	root;

	if (pattern == NULL)
		return true;
	if (event->payload == NULL)
		return false;
	sf_json_root(event->payload, &root);
	return sf_json_is_object(&root) && sf_pattern_matches(pattern, &root);
}

/*
 * List the oldest events that a wait may have and whose payload matches a pattern (NULL: any), as many as it takes;
 * *passed: received ones before the last of them.
 */
static List *
find_matching(Match *match, const Wait *wait, const SfPattern *pattern, int *passed)
{
	int64		execution_no = wait->key.execution_no;
	int64		floor = sf_emission_floor(execution_no, match->type, match->key);
	List	   *found = NIL;

	*passed = 0;
	begin_behind(match, floor);
	for (int i = 0; list_length(found) < wait->max_events; i++)
	{
		SfEmission *event;

		CHECK_FOR_INTERRUPTS();
		if (i >= list_length(match->events) && !read_more(match))
			break;
		event = list_nth(match->events, i);
		if (event->event_no <= floor || event->gone)
			continue;
		if (sf_emission_is_received(execution_no, event->event_no) || is_given(match, execution_no, event->event_no))
			(*passed)++;
		else if (matches(pattern, event))
			found = lappend(found, event);
	}
	return found;
}

/* List the oldest events that a wait may have; the pattern of its filter is freed, since a key may have many waits. */
static List *
find_events(Match *match, const Wait *wait, int *passed)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context;
	const SfPattern *pattern;
	List	   *found;

	if (wait->filter == NULL)
		return find_matching(match, wait, NULL, passed);
	context = AllocSetContextCreate(outer, "sfflow filter", ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(context);
	pattern = sf_pattern_compile(wait->filter);
	MemoryContextSwitchTo(outer);
	found = find_matching(match, wait, pattern, passed);
	MemoryContextDelete(context);
	return found;
}

/* What a wait gets of an event. */
static Jsonb *
result_of(const Match *match, SfEmission *event)
{
	SfJsonBuilder json;

	if (event->result != NULL)
		return event->result;
	sf_json_begin_object(&json);
	sf_json_add_string(&json, "Name", match->type->name);
	sf_json_add_string(&json, "Key", match->key);
	sf_json_add_string(&json, "Id", event->id);
	sf_json_add_string(&json, "Time", sf_timestamp_print(event->emitted_at));
	if (event->payload == NULL)
		sf_json_add_null(&json, "Payload");
	else
		sf_json_add(&json, "Payload", event->payload);
	event->result = sf_json_end(&json);
	return event->result;
}

/* Make the result of a wait: an event, or (it gives an array) an array of them. */
static Jsonb *
make_result(const Match *match, const Wait *wait, const List *events)
{
	JsonbValue *values;
	ListCell   *lc;

	if (!wait->gives_array)
		return result_of(match, linitial(events));
	values = palloc(sizeof(JsonbValue) * list_length(events));
	foreach(lc, events)
		sf_json_root(result_of(match, lfirst(lc)), &values[foreach_current_index(lc)]);
	return sf_json_array_of(values, list_length(events));
}

/* --- waits --- */

/* Waits for a key, in the order in which they began */
static const SfIndex waits_by_key = {"awaited_event", "awaited_event_key"};

/* Columns of awaited_event */
enum {COL_execution_no = 1, COL_branch_no, COL_event_type_no, COL_key, COL_generation, COL_ripe, COL_since,
	COL_max_events, COL_gives_array, COL_filter};

/* Append a wait to a list. */
static void
read_wait(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **waits = arg;
	Wait	   *wait = palloc(sizeof(Wait));

	wait->key.execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	wait->key.branch_no = sf_row_number(tuple, desc, COL_branch_no, 0);
	wait->generation = sf_row_number(tuple, desc, COL_generation, 0);
	wait->ripe = sf_row_number(tuple, desc, COL_ripe, 0) != 0;
	wait->since = sf_row_number(tuple, desc, COL_since, 0);
	wait->max_events = sf_row_number(tuple, desc, COL_max_events, 1);
	wait->gives_array = sf_row_number(tuple, desc, COL_gives_array, 0) != 0;
	wait->filter = sf_row_jsonb(tuple, desc, COL_filter);
	*waits = lappend(*waits, wait);
}

/* List the waits for the key behind one (NULL: from the first), those that began first first. */
static List *
read_waits(const Match *match, const Wait *after)
{
	SfArg		key[] = {SF_INT4(match->type->event_type_no), SF_TEXT(match->key), {0}, {0}, {0}};
	List	   *waits = NIL;
	int			n = 0;

	if (after == NULL)
	{
		(void) sf_rows_read_now_by(&waits_by_key, WAITS, read_wait, &waits, key, 2);
		return waits;
	}
	key[2] = SF_TIME(after->since);
	key[3] = SF_INT8(after->key.execution_no);
	key[4] = SF_INT8(after->key.branch_no);
	/* those that differ in the last column, then in the one before it, then in the time */
	for (int columns = lengthof(key); columns >= 3 && n < WAITS; columns--)
		n += sf_rows_read_behind_by(&waits_by_key, WAITS - n, read_wait, &waits, key, columns);
	return waits;
}

/* Does the branch of a wait still wait?  A row that was left behind is deleted. */
static bool
still_waits(const Wait *wait)
{
	const SfBranch *branch = sf_branch_read(wait->key, SF_LOCK_NONE);

	if (branch != NULL && branch->phase == SF_PHASE_EXTERNAL && branch->generation == wait->generation)
		return true;
	sf_awaited_delete_left(wait->key, wait->generation);
	return false;
}

/* Waits that got nothing are not ripe any more; those that others end just now are passed over. */
static void
clear_ripe(const Match *match)
{
	foreach_ptr(const Wait, wait, match->unripe)
		sf_awaited_clear_ripe(wait->key, match->type->event_type_no, wait->generation);
}

/* --- giving --- */

/* Have an execution receive an event; false: none may any more. */
static bool
receive(Match *match, int64 execution_no, SfEmission *event)
{
	Given		given = {execution_no, event->event_no};
	SfReceipt  *receipt;

	if (event->for_one && !sf_emission_take(event->event_no, match->now))
	{
		event->gone = true;
		return false;
	}
	event->gone = event->for_one;
	(void) hash_search(match->given, &given, HASH_ENTER, NULL);
	receipt = palloc(sizeof(SfReceipt));
	*receipt = (SfReceipt) {execution_no, event->event_no, event->depth};
	match->receipts = lappend(match->receipts, receipt);
	return true;
}

/* Give a wait, whose branch is locked, events; returns whether it got some. */
static bool
deliver_events(Match *match, const Wait *wait, const List *events)
{
	List	   *received = NIL;

	foreach_ptr(SfEmission, event, events)
		if (receive(match, wait->key.execution_no, event))
			received = lappend(received, event);
	if (received == NIL)
		return false;
	sf_apply_answer_branch(wait->key, true, make_result(match, wait, received), NULL, NULL);
	match->budget--;
	return true;
}

/* Lock a wait and its branch; false: others have one of them, or it is over.  A sweep waits for no row. */
static bool
lock_wait(const Wait *wait)
{
	if (!sf_branch_lock_outside(wait->key, wait->generation))
		return false;
	SF_DEBUG_POINT("event_give");
	return sf_awaited_lock(wait->key);
}

/* Match a wait: give it what there is for it. */
static void
match_wait(Match *match, Wait *wait)
{
	int			passed;
	List	   *events = find_events(match, wait, &passed);

	if (events == NIL)
	{
		if (wait->ripe)
			match->unripe = lappend(match->unripe, wait);
		return;
	}
	if (!lock_wait(wait))
	{
		if (still_waits(wait) && !SF_DEBUG_MUTATION("event_mark_skipped"))
			match->skipped = match->locked = true;
		return;
	}
	if (!deliver_events(match, wait, events))
		match->skipped = true;
	else if (passed >= PASSED)
		match->raise = lappend(match->raise, &wait->key);
}

/* Match the waits for the key, until the budget is used up. */
static void
match_waits(Match *match)
{
	const Wait *last = NULL;
	List	   *waits;

	do
	{
		waits = read_waits(match, last);
		foreach_ptr(Wait, wait, waits)
		{
			CHECK_FOR_INTERRUPTS();
			if (match->budget <= 0)
			{
				match->skipped = true;
				return;
			}
			match_wait(match, wait);
			last = wait;
		}
	} while (list_length(waits) == WAITS);
}

/* What became of some keys */
typedef struct MatchResult
{
	int			budget;			/* answers that may still be given */
	bool		locked;			/* others have some of the keys */
	bool		made_progress;	/* something was given, or a key is done with */
} MatchResult;

/* Match a key that is locked alone. */
static void
match_key(const SfEventType *type, const char *key, TimestampTz now, MatchResult *result)
{
	HASHCTL		ctl = {.keysize = sizeof(Given),.entrysize = sizeof(Given),.hcxt = CurrentMemoryContext};
	Match		match = {.type = type,.key = key,.now = now,.budget = result->budget};
	List	   *fresh = sf_emission_fresh(type, key);

	match.given = hash_create("sfflow events given", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	match_waits(&match);
	SF_DEBUG_POINT("event_look");
	if (SF_DEBUG_MUTATION("event_mark_all"))
		fresh = sf_emission_fresh(type, key);
	sf_emission_note_receipts(type, match.receipts);
	foreach_ptr(const SfBranchKey, branch, match.raise)
		sf_emission_raise_floor(branch->execution_no, type, key, now);
	clear_ripe(&match);
	sf_emission_note_swept(fresh, now, !match.skipped);
	if (match.locked)
		sf_hooks.scan_at(TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LOCKED_RETRY_MS));
	result->made_progress |= !match.skipped || match.budget < result->budget;
	result->budget = match.budget;
}

/* --- keys --- */

/* A key of a type of events */
typedef struct EventKey
{
	int			event_type_no;
	char	   *key;
} EventKey;

/* A table with keys, and where it has them */
typedef struct KeySource
{
	SfIndex		index;			/* over the type and the key */
	int			column;			/* of the type; that of the key follows */
	EventKey	next;			/* the first key that was not listed */
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

/* Step to the first key of a table behind one whose events are given now. */
static void
step_behind(KeySource *source, const EventKey *after)
{
	source->is_any =
		sf_rows_read_behind(&source->index, 1, read_key, source, SF_INT4(after->event_type_no), SF_TEXT(after->key)) > 0 ||
		sf_rows_read_behind(&source->index, 1, read_key, source, SF_INT4(after->event_type_no)) > 0;
	while (source->is_any && find_type(source->next.event_type_no) == NULL)
		source->is_any =
			sf_rows_read_behind(&source->index, 1, read_key, source, SF_INT4(source->next.event_type_no)) > 0;
}

/* Compare two keys. */
static int
compare_keys(const EventKey *a, const EventKey *b)
{
	return a->event_type_no != b->event_type_no ? (a->event_type_no < b->event_type_no ? -1 : 1) : strcmp(a->key, b->key);
}

/* List keys that have fresh events or ripe waits, behind one; of a key with many of them only the first is read. */
static List *
list_keys(const EventKey *after)
{
	KeySource	fresh = {.index = {"emission", "emission_fresh"},.column = 2};
	KeySource	ripe = {.index = {"awaited_event", "awaited_event_ripe"},.column = 3};
	List	   *keys = NIL;

	step_behind(&fresh, after);
	step_behind(&ripe, after);
	while ((fresh.is_any || ripe.is_any) && list_length(keys) < MAX_KEYS)
	{
		int			order = !fresh.is_any ? 1 : !ripe.is_any ? -1 : compare_keys(&fresh.next, &ripe.next);
		EventKey   *found = palloc(sizeof(EventKey));

		*found = order <= 0 ? fresh.next : ripe.next;
		keys = lappend(keys, found);
		if (order <= 0)
			step_behind(&fresh, found);
		if (order >= 0)
			step_behind(&ripe, found);
	}
	return keys;
}

/* Where the next sweep of this process begins: behind that key */
static EventKey next_after = {0, NULL};

/* Have the next sweep begin behind a key; NULL: with the first. */
static void
go_on_behind(const EventKey *last)
{
	if (next_after.key != NULL)
		pfree(next_after.key);
	next_after.event_type_no = last == NULL ? 0 : last->event_type_no;
	next_after.key = MemoryContextStrdup(TopMemoryContext, last == NULL ? "" : last->key);
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

/* Match keys until the budget is used up. */
static MatchResult
match_keys(const List *keys, TimestampTz now)
{
	MatchResult	result = {.budget = MAX_GIVEN};
	bool		may_wait = true;

	foreach_ptr(const EventKey, event_key, keys)
	{
		const SfEventType *type = find_type(event_key->event_type_no);

		CHECK_FOR_INTERRUPTS();
		if (type == NULL)
			continue;
		/* with a lock of a key it waits for no other */
		if (!lock_alone(type, event_key->key, may_wait))
		{
			result.locked = true;
			continue;
		}
		may_wait = false;
		match_key(type, event_key->key, now, &result);
		if (result.budget <= 0)
			break;
	}
	return result;
}

/* Is it time for this process to look for what has expired? */
static bool
is_time_to_sweep(void)
{
	static SfTick next = 0;

	if (sf_tick_now() < next)
		return false;
	next = sf_tick_plus_ms(sf_tick_now(), EXPIRED_SWEEP_MS);
	return true;
}

/*
 * Give events that are there to branches that wait for them.
 *
 * Keys that are more than a sweep goes through take a round of sweeps, one at once after the other, and then another
 * round, since events may have come for a key that the round had passed.  Keys that others have locked stay as they
 * are: a round that has changed nothing is not followed by another one at once.
 */
SfSweepResult
sf_match_sweep(TimestampTz now)
{
	static bool progress = false;	/* of this round */
	SfSweepResult left = {.next = DT_NOEND};
	MatchResult	result;
	List	   *keys;

	if (IsolationUsesXactSnapshot() || !sf_keyed_cache_is_any(&sf_event_type_cache))
		return left;
	if (is_time_to_sweep())
		left.more = sf_emission_delete_expired(now);
	if (next_after.key == NULL)
		go_on_behind(NULL);
	keys = list_keys(&next_after);
	if (keys == NIL && next_after.key[0] != '\0' && progress)
	{
		go_on_behind(NULL);
		progress = false;
		keys = list_keys(&next_after);
	}
	result = match_keys(keys, now);
	progress |= result.made_progress;
	if (result.budget <= 0)
		left.more = true;
	else if (list_length(keys) == MAX_KEYS)
	{
		left.more = true;
		go_on_behind(llast(keys));
	}
	else
	{
		if (next_after.key[0] != '\0')
		{
			left.more |= progress;
			result.locked |= !progress;
		}
		go_on_behind(NULL);
		progress = false;
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
	List	  **keys = arg;
	EventKey   *event_key = palloc(sizeof(EventKey));

	event_key->event_type_no = sf_row_number(tuple, desc, COL_event_type_no, 0);
	event_key->key = sf_row_text(tuple, desc, COL_key);
	*keys = lappend(*keys, event_key);
}

/* Compare two keys in a list. */
static int
compare_cells(const ListCell *a, const ListCell *b)
{
	return compare_keys(lfirst(a), lfirst(b));
}

/* List the keys that an execution waits for, each once. */
static List *
list_awaited(int64 execution_no)
{
	static const SfIndex by_branch = {"awaited_event", "awaited_event_pkey"};
	List	   *all = NIL;
	List	   *keys = NIL;

	(void) sf_rows_read_now(&by_branch, PG_INT32_MAX, append_key, &all, SF_INT8(execution_no));
	list_sort(all, compare_cells);
	foreach_ptr(EventKey, event_key, all)
		if (keys == NIL || compare_keys(llast(keys), event_key) != 0)
			keys = lappend(keys, event_key);
	return keys;
}

/* Give an execution, which a session advances, what it waits for; true: it, or another one, got something. */
bool
sf_match_execution(int64 execution_no)
{
	if (!sf_event_type_may_be() || IsolationUsesXactSnapshot() || !sf_keyed_cache_is_any(&sf_event_type_cache))
		return false;
	return match_keys(list_awaited(execution_no), GetCurrentTimestamp()).budget < MAX_GIVEN;
}
