/*
 * match.c
 *		Give the events of a key to the branches that wait for them (event_by_key.h), in passes.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/settings.h"
#include "db/direct.h"
#include "feature/event/event_by_key.h"
#include "feature/event/event_pass.h"
#include "feature/rule/pattern.h"
#include "store/role/named_lock.h"
#include "store/role/owner.h"
#include "store/role/privilege.h"

/* A sweep tries again after this if another transaction has a wait of a key */
#define LOCKED_RETRY_MS			5000
/* Waits, and events, that are read at once */
#define WAITS			100
#define EVENTS			16

/* Bytes of payloads of fresh events that a sweep has in memory, or so */
#define FRESH_BYTES		(16 * 1024 * 1024)

/* The time is looked at with each so many events and waits, and behind a payload of so many bytes */
#define LOOKED			16
#define LARGE_PAYLOAD	8192

/* Steps that a filter takes for an event, at most */
#define MAX_STEPS		100000000

/* An execution that has passed over so many receipts has its floor raised */
#define PASSED			32

/* An event that this sweep has given to an execution, or (0), since it is for one, to any */
typedef struct Given
{
	int64		execution_no;
	int64		event_no;
} Given;

/* A sweep of a key, as long as it has time */
typedef struct Match
{
	const SfEventType *type;
	const char *key;
	TimestampTz now;
	SfTick		until;
	SfEventPass *pass;

	List	   *fresh;			/* SfEmission: those that are fresh, and of the pass */
	List	   *events;			/* SfEmission that may be given, behind the number "after" */
	int64		after;
	int64		read_to;		/* number of the last one that was read, behind "after" */
	bool		complete;		/* there are no more */

	HTAB	   *given;
	List	   *receipts;		/* SfReceipt, to be written */
	List	   *raise;			/* executions whose floors are to be raised */
	List	   *unripe;			/* waits that got nothing, and were ripe */
	int			budget;			/* answers that may still be given */
	int			looked;			/* events and waits that were looked at */
	bool		was_large;		/* the last event was large */
	bool		cut;			/* the time or the budget is used up */
	bool		locked;			/* another transaction has a wait that was passed over */
} Match;

/* Is the time over?  Something is looked at in any case. */
static bool
is_over(Match *match)
{
	if ((++match->looked % LOOKED == 0 || match->was_large) && sf_tick_now() >= match->until)
		match->cut = true;
	match->was_large = false;
	return match->cut;
}

/* --- events for a wait --- */

/* Read more events of the key; false: there are none, or the time is over. */
static bool
read_more(Match *match)
{
	List	   *more = NIL;

	while (more == NIL && !match->complete)
	{
		CHECK_FOR_INTERRUPTS();
		/* there may be any number that have expired */
		if (match->read_to != match->after && sf_tick_now() >= match->until)
		{
			match->cut = true;
			break;
		}
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

/* An event by its place, of the fresh ones or of all; NULL: there is none, or the time is over. */
static SfEmission *
event_at(Match *match, bool fresh, int i)
{
	if (fresh)
		return i < list_length(match->fresh) ? list_nth(match->fresh, i) : NULL;
	if (i >= list_length(match->events) && !read_more(match))
		return NULL;
	return list_nth(match->events, i);
}

/* Has this sweep given an event to an execution? */
static bool
is_given(const Match *match, int64 execution_no, int64 event_no)
{
	Given		given = {execution_no, event_no};

	return hash_search(match->given, &given, HASH_FIND, NULL) != NULL;
}

/* Does a payload match a pattern?  Where that takes too many steps to find out, it does not, as the log says once. */
static bool
matches(Match *match, const SfPattern *pattern, const SfEmission *event)
{
	int64		steps = SF_DEBUG_MS("event_steps", MAX_STEPS);
	JsonbValue	root;
	SfFit		fits;

	if (pattern == NULL)
		return true;
	if (event->payload == NULL)
		return false;
	sf_json_root(event->payload, &root);
	if (!sf_json_is_object(&root))
		return false;
	match->was_large = VARSIZE(event->payload) > LARGE_PAYLOAD;
	fits = sf_pattern_matches_within(pattern, &root, &steps);
	if (fits == SF_FIT_UNKNOWN && !match->pass->told)
	{
		match->pass->told = true;
		ereport(LOG,
				(errmsg("sfflow does not give event \"%s\" with key \"%s\" to a wait whose filter takes too long to match",
						match->type->name, match->key)));
	}
	return fits == SF_FIT_YES;
}

/* Are they the same wait? */
static bool
is_same(const SfEventWait *a, const SfEventWait *b)
{
	return a->key.execution_no == b->key.execution_no && a->key.branch_no == b->key.branch_no &&
		a->generation == b->generation;
}

/* The number of an event up to which those for a wait were looked at; that of its floor, or above. */
static int64
looked_to(const Match *match, const SfEventWait *wait)
{
	int64		floor = sf_emission_floor(wait->key.execution_no, match->type, match->key);

	return match->pass->is_within && is_same(&match->pass->within, wait) ? Max(floor, match->pass->looked_to) : floor;
}

/* The time is over within a wait. */
static void
note_within(Match *match, const SfEventWait *wait, int64 event_no)
{
	match->pass->is_within = true;
	match->pass->within = *wait;
	match->pass->looked_to = event_no;
}

/*
 * List the oldest events, the fresh ones or all, that a wait may have and whose payload matches a pattern (NULL: any),
 * as many as it takes; *passed: received ones before the last of them.  If the time is over, those found so far.
 */
static List *
find_matching(Match *match, const SfEventWait *wait, const SfPattern *pattern, bool fresh, int *passed)
{
	int64		execution_no = wait->key.execution_no;
	int64		behind = looked_to(match, wait);
	List	   *found = NIL;

	*passed = 0;
	if (!fresh)
		begin_behind(match, behind);
	for (int i = 0; list_length(found) < wait->max_events; i++)
	{
		SfEmission *event = event_at(match, fresh, i);

		CHECK_FOR_INTERRUPTS();
		if (event == NULL)
		{
			if (match->cut)
				behind = match->read_to;
			break;
		}
		if (event->event_no <= behind || (event->for_one && is_given(match, 0, event->event_no)))
			continue;
		if (is_over(match))
			break;
		behind = event->event_no;
		if (sf_emission_is_received(execution_no, event->event_no) || is_given(match, execution_no, event->event_no))
			(*passed)++;
		else if (matches(match, pattern, event))
			found = lappend(found, event);
	}
	if (match->cut)
		note_within(match, wait, behind);
	return found;
}

/* The same, of the events that the pass matches with the wait. */
static List *
find_by_pattern(Match *match, const SfEventWait *wait, const SfPattern *pattern, int *passed)
{
	List	   *found = find_matching(match, wait, pattern, !wait->ripe, passed);

	/* what comes with the first one need not be of this pass */
	if (wait->ripe || found == NIL || match->cut || list_length(found) == wait->max_events)
		return found;
	return find_matching(match, wait, pattern, false, passed);
}

/* List the oldest events that a wait may have; the pattern of its filter is freed, since a key may have many waits. */
static List *
find_events(Match *match, const SfEventWait *wait, int *passed)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context;
	const SfPattern *pattern;
	List	   *found;

	if (wait->filter == NULL)
		return find_by_pattern(match, wait, NULL, passed);
	context = AllocSetContextCreate(outer, "sfflow filter", ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(context);
	pattern = sf_pattern_compile(wait->filter);
	MemoryContextSwitchTo(outer);
	found = find_by_pattern(match, wait, pattern, passed);
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
make_result(const Match *match, const SfEventWait *wait, const List *events)
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

/* Waits for a key, in the order in which they began, and those of them that are ripe */
static const SfIndex waits_by_key = {"awaited_event", "awaited_event_key"};
static const SfIndex ripe_waits_by_key = {"awaited_event", "awaited_event_ripe"};

/* Columns of awaited_event */
enum {COL_execution_no = 1, COL_branch_no, COL_event_type_no, COL_key, COL_generation, COL_ripe, COL_since,
	COL_max_events, COL_gives_array, COL_filter};

/* Append a wait to a list. */
static void
read_wait(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **waits = arg;
	SfEventWait *wait = palloc(sizeof(SfEventWait));

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

/* List waits that the pass comes to next, those that began first first; without fresh events these are ripe ones. */
static List *
read_waits(const SfEventPass *pass)
{
	const SfIndex *index = pass->fresh == NIL ? &ripe_waits_by_key : &waits_by_key;
	SfArg		key[] = {SF_INT4(pass->event_key.event_type_no), SF_TEXT(pass->event_key.key), {0}, {0}, {0}};
	List	   *waits = NIL;
	int			n = 0;

	if (!pass->is_begun)
	{
		(void) sf_rows_read_now_by(index, WAITS, read_wait, &waits, key, 2);
		return waits;
	}
	key[2] = SF_TIME(pass->last.since);
	key[3] = SF_INT8(pass->last.key.execution_no);
	key[4] = SF_INT8(pass->last.key.branch_no);
	/* those that differ in the last column, then in the one before it, then in the time */
	for (int columns = lengthof(key); columns >= 3 && n < WAITS; columns--)
		n += sf_rows_read_behind_by(index, WAITS - n, read_wait, &waits, key, columns);
	return waits;
}

/* Does the branch of a wait still wait?  A row that was left behind is deleted. */
static bool
still_waits(const SfEventWait *wait)
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
	foreach_ptr(const SfEventWait, wait, match->unripe)
		sf_awaited_clear_ripe(wait->key, match->type->event_type_no, wait->generation);
}

/* --- giving --- */

/* Have an execution receive an event; false: none may any more. */
static bool
receive(Match *match, int64 execution_no, SfEmission *event)
{
	Given		given = {execution_no, event->event_no};
	SfReceipt  *receipt;

	if (event->for_one)
	{
		Given		to_any = {0, event->event_no};

		(void) hash_search(match->given, &to_any, HASH_ENTER, NULL);
		if (!sf_emission_take(event->event_no, match->now))
			return false;
	}
	(void) hash_search(match->given, &given, HASH_ENTER, NULL);
	receipt = palloc(sizeof(SfReceipt));
	*receipt = (SfReceipt) {execution_no, event->event_no, event->depth};
	match->receipts = lappend(match->receipts, receipt);
	return true;
}

/* Give a wait, whose branch is locked, events; returns whether it got some. */
static bool
deliver_events(Match *match, const SfEventWait *wait, const List *events)
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
lock_wait(const SfEventWait *wait)
{
	if (!sf_branch_lock_outside(wait->key, wait->generation))
		return false;
	SF_DEBUG_POINT("event_give");
	return sf_awaited_lock(wait->key);
}

/* Match a wait: give it what there is for it.  False: the time was over before it was matched with all. */
static bool
match_wait(Match *match, SfEventWait *wait)
{
	int			passed;
	List	   *events = find_events(match, wait, &passed);

	if (events == NIL)
	{
		if (match->cut)
			return false;
		if (wait->ripe)
			match->unripe = lappend(match->unripe, wait);
		return true;
	}
	if (!lock_wait(wait))
	{
		if (still_waits(wait) && !SF_DEBUG_MUTATION("event_mark_skipped"))
			match->pass->skipped = match->locked = true;
		return true;
	}
	if (!deliver_events(match, wait, events))
		match->pass->skipped = true;
	else if (passed >= PASSED)
		match->raise = lappend(match->raise, &wait->key);
	return true;
}

/* A wait was gone through: the pass goes on behind it. */
static void
note_gone_through(SfEventPass *pass, const SfEventWait *wait)
{
	pass->is_begun = true;
	pass->last = *wait;
	pass->last.filter = NULL;
	pass->is_within = false;
}

/* Match the waits that the pass comes to, until the time or the budget is used up. */
static void
match_waits(Match *match)
{
	List	   *waits;

	do
	{
		waits = read_waits(match->pass);
		foreach_ptr(SfEventWait, wait, waits)
		{
			CHECK_FOR_INTERRUPTS();
			match->cut |= match->budget <= 0;
			if (is_over(match) || !match_wait(match, wait))
				return;
			note_gone_through(match->pass, wait);
			if (match->cut)
				return;
		}
	} while (list_length(waits) == WAITS);
}

/* --- passes --- */

/*
 * Read the fresh events of the pass; those that are too large to be in memory together are left to another pass.  Late
 * ones, which have committed since the pass began, may be among them, but none before the first one of the pass.
 */
static void
read_fresh(Match *match)
{
	SfEventPass *pass = match->pass;
	int64		behind = pass->fresh == NIL ? 0 : *(int64 *) linitial(pass->fresh) - 1;
	Size		bytes = 0;

	while (pass->fresh != NIL && behind < *(int64 *) llast(pass->fresh))
	{
		int64		before = behind;
		List	   *more;

		CHECK_FOR_INTERRUPTS();
		if (bytes > FRESH_BYTES)
		{
			/* the first one was read: it stays */
			while (*(int64 *) llast(pass->fresh) > behind)
				pass->fresh = list_delete_last(pass->fresh);
			pass->more_fresh = true;
			break;
		}
		more = sf_emission_read_fresh(match->type, match->key, &behind, match->now, EVENTS);
		if (behind == before)
			break;
		foreach_ptr(const SfEmission, event, more)
			bytes += event->payload == NULL ? 0 : VARSIZE(event->payload);
		match->fresh = list_concat(match->fresh, more);
	}
}

/* The pass is over, or cut: write down what it has come to. */
static void
end_pass(Match *match, SfMatchResult *result)
{
	SfEventPass *pass = match->pass;
	bool		done = !match->cut && !pass->skipped;

	if (SF_DEBUG_MUTATION("event_mark_all"))
	{
		list_free(pass->fresh);
		pass->fresh = NIL;
		sf_event_pass_note_fresh(pass, sf_emission_fresh(match->type, match->key, 0, PG_INT32_MAX));
	}
	sf_emission_note_swept(pass->fresh, match->now, done);
	result->made_progress |= done || match->cut || match->budget < result->budget;
	result->left_out |= match->cut || pass->more_fresh;
	if (TransactionIdIsValid(GetCurrentTransactionIdIfAny()))
		pass->xid = GetCurrentTransactionIdIfAny();
	pass->at = sf_tick_now();
	if (match->cut)
		return;
	if (!pass->more_fresh)
	{
		/* who emitted them since the pass began has told a sweep, which has gone on with the pass instead */
		if (pass->is_old && sf_emission_any_new(match->type, match->key))
			result->made_progress = result->left_out = true;
		sf_event_pass_forget(pass);
		return;
	}
	/* what is left of it says where the next one begins */
	result->made_progress = true;
	pass->fresh_from = *(int64 *) llast(pass->fresh);
	pass->fresh = NIL;
	pass->is_begun = pass->is_within = pass->more_fresh = false;
}

/* Raise floors, one at least, as long as there is time: a later sweep may raise the others. */
static void
raise_floors(const Match *match)
{
	foreach_ptr(const SfBranchKey, branch, match->raise)
	{
		sf_emission_raise_floor(branch->execution_no, match->type, match->key, match->now);
		if (sf_tick_now() >= match->until)
			break;
	}
}

/* Match a key that is locked alone, until the time or the budget is used up. */
void
sf_match_key(const SfEventType *type, const char *key, TimestampTz now, SfTick until, SfMatchResult *result)
{
	HASHCTL		ctl = {.keysize = sizeof(Given),.entrysize = sizeof(Given),.hcxt = CurrentMemoryContext};
	Match		match = {.type = type,.key = key,.now = now,.until = until,.budget = result->budget};

	match.pass = sf_event_pass_take(type, key);
	read_fresh(&match);
	match.given = hash_create("sfflow events given", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	match_waits(&match);
	SF_DEBUG_POINT("event_look");
	sf_emission_note_receipts(type, match.receipts);
	raise_floors(&match);
	clear_ripe(&match);
	end_pass(&match, result);
	if (match.locked)
		sf_hooks.scan_at(TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LOCKED_RETRY_MS));
	result->budget = match.budget;
}
