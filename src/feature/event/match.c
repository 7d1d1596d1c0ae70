/*
 * match.c
 *		Looks: give events to the branches that wait for them (event_by_key.h).
 *
 * A look sees the transactions that have committed when it has its lock.  A transaction that keeps one snapshot (REPEATABLE
 * READ) would not, so in a session it gives nothing.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/debug_point.h"
#include "base/timing.h"
#include "db/direct.h"
#include "feature/event/event_by_key.h"
#include "feature/rule/pattern.h"
#include "store/owner.h"
#include "store/privilege.h"

/* Keys that a look goes through, and answers that it gives, at most */
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
	Jsonb	   *filter;
} Wait;

/* An event that this look has given to an execution */
typedef struct Given
{
	int64		execution_no;
	int64		event_no;
} Given;

/* A look at a key */
typedef struct Match
{
	const SfTopic *topic;
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
} Match;

/* --- events for a wait --- */

/* Read more events of the key; false: there are none. */
static bool
read_more(Match *m)
{
	List	   *more = NIL;

	while (more == NIL && !m->complete)
	{
		CHECK_FOR_INTERRUPTS();
		more = sf_emission_read(m->topic, m->key, &m->read_to, m->now, EVENTS, &m->complete);
	}
	m->events = list_concat(m->events, more);
	return more != NIL;
}

/* Have the events in memory begin behind a number, or before that. */
static void
begin_behind(Match *m, int64 floor)
{
	if (m->events != NIL && floor >= m->after)
		return;
	m->events = NIL;
	m->after = floor;
	m->read_to = floor;
	m->complete = false;
}

/* Has this look given an event to an execution? */
static bool
is_given(const Match *m, int64 execution_no, int64 event_no)
{
	Given		given = {execution_no, event_no};

	return hash_search(m->given, &given, HASH_FIND, NULL) != NULL;
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

/* List the oldest events that a wait may have, as many as it takes; *passed: received ones before the last of them. */
static List *
find_events(Match *m, const Wait *wait, int *passed)
{
	int64		execution_no = wait->key.execution_no;
	int64		floor = sf_emission_floor(execution_no, m->topic, m->key);
	const SfPattern *pattern = wait->filter == NULL ? NULL : sf_pattern_compile(wait->filter);
	List	   *found = NIL;

	*passed = 0;
	begin_behind(m, floor);
	for (int i = 0; list_length(found) < Max(wait->max_events, 1); i++)
	{
		SfEmission *event;

		CHECK_FOR_INTERRUPTS();
		if (i >= list_length(m->events) && !read_more(m))
			break;
		event = list_nth(m->events, i);
		if (event->event_no <= floor || event->gone)
			continue;
		if (sf_emission_is_received(execution_no, event->event_no) || is_given(m, execution_no, event->event_no))
			(*passed)++;
		else if (matches(pattern, event))
			found = lappend(found, event);
	}
	return found;
}

/* What a wait gets of an event. */
static Jsonb *
result_of(const Match *m, SfEmission *event)
{
	SfJsonBuilder b;

	if (event->result != NULL)
		return event->result;
	sf_json_begin_object(&b);
	sf_json_add_string(&b, "Name", m->topic->name);
	sf_json_add_string(&b, "Key", m->key);
	sf_json_add_string(&b, "Id", event->id);
	sf_json_add_string(&b, "Time", sf_timestamp_print(event->emitted_at));
	if (event->payload == NULL)
		sf_json_add_null(&b, "Payload");
	else
		sf_json_add(&b, "Payload", event->payload);
	event->result = sf_json_finish(&b);
	return event->result;
}

/* Make the result of a wait: an event, or (it may take several) an array of them. */
static Jsonb *
make_result(const Match *m, const Wait *wait, const List *events)
{
	JsonbValue *values;
	ListCell   *lc;

	if (wait->max_events == 0)
		return result_of(m, linitial(events));
	values = palloc(sizeof(JsonbValue) * list_length(events));
	foreach(lc, events)
		sf_json_root(result_of(m, lfirst(lc)), &values[foreach_current_index(lc)]);
	return sf_json_array_of(values, list_length(events));
}

/* --- waits --- */

/* Waits for a key, in the order in which they began */
static const SfIndex waits_by_key = {"event_wait", "event_wait_key"};

/* Append a wait to a list. */
static void
read_wait(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **waits = arg;
	Wait	   *wait = palloc(sizeof(Wait));

	wait->key.execution_no = sf_row_number(tuple, desc, 1, 0);
	wait->key.branch_no = sf_row_number(tuple, desc, 2, 0);
	wait->generation = sf_row_number(tuple, desc, 5, 0);
	wait->ripe = sf_row_number(tuple, desc, 6, 0) != 0;
	wait->since = sf_row_number(tuple, desc, 7, 0);
	wait->max_events = sf_row_number(tuple, desc, 8, 0);
	wait->filter = sf_row_jsonb(tuple, desc, 9);
	*waits = lappend(*waits, wait);
}

/* List the waits for the key behind one (NULL: from the first), those that began first first. */
static List *
read_waits(const Match *m, const Wait *after)
{
	SfArg		key[] = {SF_INT4(m->topic->event_type_no), SF_TEXT(m->key), {0}, {0}, {0}};
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
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.event_wait d USING (SELECT w.execution_no, w.branch_no, w.event_type_no"
		"  FROM _sfflow.event_wait w WHERE w.execution_no = $1 AND w.branch_no = $2 AND w.generation = $3"
		"  FOR UPDATE SKIP LOCKED) w WHERE d.execution_no = w.execution_no AND d.branch_no = w.branch_no"
		" AND d.event_type_no = w.event_type_no");
	const SfBranch *branch = sf_branch_read(wait->key, SF_LOCK_NONE);

	if (branch != NULL && branch->phase == SF_PHASE_EXTERNAL && branch->generation == wait->generation)
		return true;
	sf_store_execute(&plan, SF_KEY(wait->key), SF_INT4(wait->generation));
	return false;
}

/* Waits that got nothing are not ripe any more; those that others end just now are passed over. */
static void
clear_ripe(const Match *m)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.event_wait u SET ripe = false FROM (SELECT w.execution_no, w.branch_no FROM _sfflow.event_wait w"
		"  WHERE w.execution_no = $1 AND w.branch_no = $2 AND w.event_type_no = $3 AND w.generation = $4 AND w.ripe"
		"  FOR UPDATE SKIP LOCKED) w"
		" WHERE u.execution_no = w.execution_no AND u.branch_no = w.branch_no AND u.event_type_no = $3");

	foreach_ptr(const Wait, wait, m->unripe)
		sf_store_execute(&plan, SF_KEY(wait->key), SF_INT4(m->topic->event_type_no), SF_INT4(wait->generation));
}

/* --- giving --- */

/* Have an execution receive an event; false: none may any more. */
static bool
receive(Match *m, int64 execution_no, SfEmission *event)
{
	Given		given = {execution_no, event->event_no};
	SfReceipt  *receipt;

	if (event->for_one && !sf_emission_take(event->event_no, m->now))
	{
		event->gone = true;
		return false;
	}
	event->gone = event->for_one;
	(void) hash_search(m->given, &given, HASH_ENTER, NULL);
	receipt = palloc(sizeof(SfReceipt));
	*receipt = (SfReceipt) {execution_no, event->event_no, event->depth};
	m->receipts = lappend(m->receipts, receipt);
	return true;
}

/* Give a wait, whose branch is locked, events; returns whether it got some. */
static bool
give(Match *m, const Wait *wait, const List *events)
{
	List	   *received = NIL;

	foreach_ptr(SfEmission, event, events)
		if (receive(m, wait->key.execution_no, event))
			received = lappend(received, event);
	if (received == NIL)
		return false;
	sf_apply_answer_branch(wait->key, true, make_result(m, wait, received), NULL, NULL);
	m->budget--;
	return true;
}

/* Lock a wait and its branch; false: others have one of them, or it is over.  A look waits for no row. */
static bool
lock_wait(const Wait *wait)
{
	if (!sf_branch_lock_outside(wait->key, wait->generation))
		return false;
	SF_DEBUG_POINT("event_give");
	return sf_awaited_lock(wait->key);
}

/* Look at a wait: give it what there is for it. */
static void
look_at_wait(Match *m, Wait *wait)
{
	int			passed;
	List	   *events = find_events(m, wait, &passed);

	if (events == NIL)
	{
		if (wait->ripe)
			m->unripe = lappend(m->unripe, wait);
		return;
	}
	if (!lock_wait(wait))
	{
		if (still_waits(wait) && !SF_DEBUG_MUTATION("event_mark_skipped"))
			m->skipped = true;
		return;
	}
	if (!give(m, wait, events))
		m->skipped = true;
	else if (passed >= PASSED)
		m->raise = lappend(m->raise, &wait->key);
}

/* Look at the waits for the key, until the budget is used up. */
static void
look_at_waits(Match *m)
{
	const Wait *last = NULL;
	List	   *waits;

	do
	{
		waits = read_waits(m, last);
		foreach_ptr(Wait, wait, waits)
		{
			CHECK_FOR_INTERRUPTS();
			if (m->budget <= 0)
			{
				m->skipped = true;
				return;
			}
			look_at_wait(m, wait);
			last = wait;
		}
	} while (list_length(waits) == WAITS);
}

/* Look at a key that is locked alone; returns how many answers may still be given. */
static int
look_at_key(const SfTopic *topic, const char *key, TimestampTz now, int budget)
{
	HASHCTL		ctl = {.keysize = sizeof(Given),.entrysize = sizeof(Given),.hcxt = CurrentMemoryContext};
	Match		m = {.topic = topic,.key = key,.now = now,.budget = budget};
	List	   *fresh = sf_emission_fresh(topic, key);

	m.given = hash_create("sfflow events given", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	look_at_waits(&m);
	SF_DEBUG_POINT("event_look");
	if (SF_DEBUG_MUTATION("event_mark_all"))
		fresh = sf_emission_fresh(topic, key);
	sf_emission_note_receipts(topic, m.receipts);
	foreach_ptr(const SfBranchKey, branch, m.raise)
		sf_emission_raise_floor(branch->execution_no, topic, key, now);
	clear_ripe(&m);
	sf_emission_looked_at(fresh, now, !m.skipped);
	return m.budget;
}

/* --- keys --- */

/* A key of a type of events */
typedef struct Marked
{
	int			event_type_no;
	char	   *key;
} Marked;

/* A table with keys, and where it has them */
typedef struct Marks
{
	SfIndex		index;			/* over the type and the key */
	int			column;			/* of the type; that of the key follows */
	Marked		next;			/* the first key that was not listed */
	bool		is_any;			/* there is one */
} Marks;

/* Read a key. */
static void
read_key(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Marks	   *marks = arg;

	marks->next.event_type_no = sf_row_number(tuple, desc, marks->column, 0);
	marks->next.key = sf_row_text(tuple, desc, marks->column + 1);
}

/* Step to the first key of a table behind one. */
static void
step_behind(Marks *marks, const Marked *after)
{
	marks->is_any =
		sf_rows_read_behind(&marks->index, 1, read_key, marks, SF_INT4(after->event_type_no), SF_TEXT(after->key)) > 0 ||
		sf_rows_read_behind(&marks->index, 1, read_key, marks, SF_INT4(after->event_type_no)) > 0;
}

/* Compare two keys. */
static int
compare_marked(const Marked *a, const Marked *b)
{
	return a->event_type_no != b->event_type_no ? (a->event_type_no < b->event_type_no ? -1 : 1) : strcmp(a->key, b->key);
}

/* List keys that have fresh events or ripe waits, behind one; of a key with many of them only the first is read. */
static List *
list_marked(const Marked *after)
{
	Marks		fresh = {.index = {"emitted_event", "emitted_event_fresh"},.column = 2};
	Marks		ripe = {.index = {"event_wait", "event_wait_ripe"},.column = 3};
	List	   *keys = NIL;

	step_behind(&fresh, after);
	step_behind(&ripe, after);
	while ((fresh.is_any || ripe.is_any) && list_length(keys) < MAX_KEYS)
	{
		int			order = !fresh.is_any ? 1 : !ripe.is_any ? -1 : compare_marked(&fresh.next, &ripe.next);
		Marked	   *found = palloc(sizeof(Marked));

		*found = order <= 0 ? fresh.next : ripe.next;
		keys = lappend(keys, found);
		if (order <= 0)
			step_behind(&fresh, found);
		if (order >= 0)
			step_behind(&ripe, found);
	}
	return keys;
}

/* Where the next look of this process begins: behind that key */
static Marked next_after = {0, NULL};

/* Have the next look begin behind a key; NULL: with the first. */
static void
go_on_behind(const Marked *last)
{
	if (next_after.key != NULL)
		pfree(next_after.key);
	next_after.event_type_no = last == NULL ? 0 : last->event_type_no;
	next_after.key = MemoryContextStrdup(TopMemoryContext, last == NULL ? "" : last->key);
}

/* Lock a key alone: no transaction that begins to wait for it is open. */
static bool
lock_alone(const SfTopic *topic, const char *key, bool may_wait)
{
	return SF_DEBUG_MUTATION("event_no_lock") ||
		sf_topic_lock_key(topic->event_type_no, key, may_wait ? SF_KEY_ALONE : SF_KEY_ALONE_NOW);
}

/* Look at keys until the budget is used up; *locked: others have some of them. */
static int
look_at_keys(const List *keys, TimestampTz now, int budget, bool *locked)
{
	bool		may_wait = true;

	foreach_ptr(const Marked, marked, keys)
	{
		const SfTopic *topic = sf_topic_by_number(marked->event_type_no);

		CHECK_FOR_INTERRUPTS();
		if (topic == NULL || sf_feature_keeps_back(SF_OBJECT_EVENT, topic->name))
			continue;
		/* with a lock of a key it waits for no other */
		if (!lock_alone(topic, marked->key, may_wait))
		{
			*locked = true;
			continue;
		}
		may_wait = false;
		budget = look_at_key(topic, marked->key, now, budget);
		if (budget <= 0)
			break;
	}
	return budget;
}

/* Is it time for this process to look for what has expired? */
static bool
is_time_to_sweep(void)
{
	static SfTick next = 0;

	if (sf_tick_now() < next)
		return false;
	next = sf_tick_plus_ms(sf_tick_now(), SF_EVENT_SWEEP_MS);
	return true;
}

/* Give events that are there to branches that wait for them. */
SfLook
sf_match_look(TimestampTz now)
{
	SfLook		left = {.next = DT_NOEND};
	bool		locked = false;
	List	   *keys;

	if (IsolationUsesXactSnapshot() || !sf_keyed_copy_is_any(&sf_topic_copy))
		return left;
	if (is_time_to_sweep())
		left.more = sf_emission_sweep(now);
	if (next_after.key == NULL)
		go_on_behind(NULL);
	keys = list_marked(&next_after);
	if (keys == NIL && next_after.key[0] != '\0')
	{
		go_on_behind(NULL);
		keys = list_marked(&next_after);
	}
	if (look_at_keys(keys, now, MAX_GIVEN, &locked) <= 0)
		left.more = true;
	else
	{
		left.more |= list_length(keys) == MAX_KEYS || (keys != NIL && next_after.key[0] != '\0');
		go_on_behind(list_length(keys) == MAX_KEYS ? llast(keys) : NULL);
	}
	if (left.more)
		sf_hooks.look_soon();
	if (locked)
		sf_hooks.look(TimestampTzPlusMilliseconds(GetCurrentTimestamp(), SF_EVENT_LOOK_AGAIN_MS));
	return left;
}

/* Append the key of a wait to a list. */
static void
append_key(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **keys = arg;
	Marked	   *marked = palloc(sizeof(Marked));

	marked->event_type_no = sf_row_number(tuple, desc, 3, 0);
	marked->key = sf_row_text(tuple, desc, 4);
	*keys = lappend(*keys, marked);
}

/* Compare two keys in a list. */
static int
compare_cells(const ListCell *a, const ListCell *b)
{
	return compare_marked(lfirst(a), lfirst(b));
}

/* List the keys that an execution waits for, each once. */
static List *
list_awaited(int64 execution_no)
{
	static const SfIndex by_branch = {"event_wait", "event_wait_pkey"};
	List	   *all = NIL;
	List	   *keys = NIL;

	(void) sf_rows_read_now(&by_branch, PG_INT32_MAX, append_key, &all, SF_INT8(execution_no));
	list_sort(all, compare_cells);
	foreach_ptr(Marked, marked, all)
		if (keys == NIL || compare_marked(llast(keys), marked) != 0)
			keys = lappend(keys, marked);
	return keys;
}

/* Give an execution, which a session advances, what it waits for; true: it, or another one, got something. */
bool
sf_match_execution(int64 execution_no)
{
	bool		locked = false;

	if (!sf_topic_may_be() || IsolationUsesXactSnapshot() || !sf_keyed_copy_is_any(&sf_topic_copy))
		return false;
	return look_at_keys(list_awaited(execution_no),
						GetCurrentTimestamp(), MAX_GIVEN, &locked) < MAX_GIVEN;
}
