/*
 * start_key_feature.c
 *		What keys of starts ask and tell at the moments of the engine: when an execution may begin, and what its end
 *		does.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "base/error/debug_point.h"
#include "base/hooks.h"
#include "feature/start_key/start_key.h"
#include "run/gate/gate.h"
#include "store/state_machine/program_cache.h"

/* When a branch comes again whose key another session has locked */
#define BUSY_MS			100

/* Ended executions that a sweep looks at together, and when the next one comes if sessions have the locks */
#define LOOK_SIZE		100
#define SWEEP_PAUSE_MS	200

static const SfFeatureTable tables[] = {
	{"keyed_start",.of_execution = SF_ROWS_GO_ALONG,.of_machine = true},
	{"start_key",.of_machine = true},
	{NULL}
};

static const char *const options[] = {"start_key", NULL};

/* Have a branch wait for its turn; the row of its key is locked. */
static SfGateVerdict
park(SfDraft *draft, SfBranch *branch)
{
	sf_park_in_line(branch, "start_key");
	sf_draft_add_branch(draft, branch);
	return SF_GATE_WAITS;
}

/* What the version of an execution says of keys of starts; NULL: nothing. */
static const SfStartKeyOption *
option_of(const SfDraft *draft)
{
	return !sf_execution_is_of_item(draft->execution) ? draft->compiled[sf_start_key_option] : NULL;
}

/* Does this slice have another execution of a key begin or go on?  Its row says so when the slice is written. */
static bool
slice_has_another(const SfDraft *draft, const char *key)
{
	if (draft->slice_drafts == NULL)
		return false;
	foreach_ptr(const SfDraft, other, *draft->slice_drafts)
		if (other != draft && other->line != NULL && (other->began || other->redrive_allowed) &&
			other->execution->machine_no == draft->execution->machine_no && strcmp(other->line, key) == 0)
			return true;
	return false;
}

/*
 * Tell whether an execution with a key may begin, or go on after a redrive.  The row of the key stays locked until the
 * slice has committed; what the key says of the execution is written with the slice.
 */
static SfGateVerdict
admit(SfDraft *draft, SfBranch *branch, SfError *error)
{
	const SfStartKeyOption *option = option_of(draft);
	const SfKeyedStart *keyed;

	if (option == NULL || draft->redrive_allowed ||
		(draft->execution->started_at != DT_NOBEGIN && draft->execution->redrive_count == 0))
		return SF_GATE_OPEN;
	keyed = sf_start_key_find(draft->execution->execution_no);
	if (keyed == NULL || !sf_start_key_place_waits(keyed->place))
		return SF_GATE_OPEN;
	/* an old snapshot does not show what runs */
	if (option->mode != SF_START_KEY_DEBOUNCE && IsolationUsesXactSnapshot())
		return sf_gate_put_off(draft, branch, BUSY_MS);
	if (!sf_start_key_try_lock(keyed->machine_no, keyed->key))
		return sf_gate_put_off(draft, branch, BUSY_MS);
	if (option->mode != SF_START_KEY_DEBOUNCE && !SF_DEBUG_MUTATION("start-key-order"))
	{
		if (slice_has_another(draft, keyed->key))
			return park(draft, branch);
		/* the first one may have been parked because this one was before its redrive */
		if (!sf_start_key_is_free(keyed->machine_no, keyed->key, keyed->entered_at))
			return sf_start_key_advance(keyed->machine_no, keyed->key) ? park(draft, branch) :
				sf_gate_put_off(draft, branch, BUSY_MS);
		draft->line = MemoryContextStrdup(draft->context, keyed->key);
	}
	draft->redrive_allowed = draft->execution->started_at != DT_NOBEGIN;
	return SF_GATE_OPEN;
}

/* Tell whether a parked branch still waits for its turn. */
static SfParking
still_parks(const SfDraft *draft, const SfBranch *branch, const SfParked *parked)
{
	const SfKeyedStart *keyed = option_of(draft) == NULL ? NULL : sf_start_key_find(draft->execution->execution_no);

	return keyed != NULL && sf_start_key_place_waits(keyed->place) ? SF_PARKING_APPLIES : SF_PARKING_OVER;
}

/*
 * An execution leaves its line: the next one is due, if the row of the key is free, or that is put off.  Nothing is
 * told from under an old snapshot, which does not show what waits.
 */
static void
leave(const SfKeyedStart *keyed, SfLinePlace place)
{
	if (!IsolationUsesXactSnapshot() && !SF_DEBUG_MUTATION("start-key-busy") &&
		sf_start_key_try_lock(keyed->machine_no, keyed->key))
	{
		sf_start_key_set_place(keyed->execution_no, place);
		if (sf_start_key_advance(keyed->machine_no, keyed->key))
			return;
	}
	sf_start_key_set_place(keyed->execution_no, SF_LINE_PLACE_ENDED);
	sf_hooks.sweep_soon();
}

/* An execution has begun, or goes on after a redrive. */
static void
begun(const SfExecution *execution, const void *compiled)
{
	const SfStartKeyOption *option = compiled;
	const SfKeyedStart *keyed = sf_start_key_find(execution->execution_no);

	if (keyed == NULL || !sf_start_key_place_waits(keyed->place))
		return;
	if (option->mode == SF_START_KEY_DEBOUNCE)
		leave(keyed, SF_LINE_PLACE_LEFT_FOR_GOOD);
	else
		sf_start_key_set_place(keyed->execution_no, SF_LINE_PLACE_RUNS);
}

/* An execution has ended: those behind it may run, unless it keeps its place. */
static void
ended(const SfExecution *execution, bool began_here)
{
	const SfStartKeyOption *option = sf_start_key_option_of(execution);
	const SfKeyedStart *keyed = option == NULL ? NULL : sf_start_key_find(execution->execution_no);

	if (keyed == NULL || (keyed->place != SF_LINE_PLACE_RUNS && !sf_start_key_place_waits(keyed->place)))
		return;
	if (execution->status == SF_STATUS_SUCCEEDED)
		leave(keyed, SF_LINE_PLACE_LEFT_FOR_GOOD);
	else if (sf_start_key_stops_at_failure(option) && keyed->place != SF_LINE_PLACE_WAITS)
		sf_start_key_set_place(keyed->execution_no, SF_LINE_PLACE_BLOCKS);
	else
		leave(keyed, SF_LINE_PLACE_LEFT);
}

/* An execution goes on after its end: it waits for its turn, behind those that entered the line before it. */
static void
redriven(const SfExecution *execution)
{
	const SfStartKeyOption *option = sf_start_key_option_of(execution);
	const SfKeyedStart *keyed = option == NULL || option->mode == SF_START_KEY_DEBOUNCE ? NULL :
		sf_start_key_find(execution->execution_no);

	if (keyed == NULL)
		return;
	/* the row of the key went with the last of its line that may be redriven, and this one had succeeded */
	if (keyed->place == SF_LINE_PLACE_LEFT_FOR_GOOD)
		sf_start_key_lock(keyed->machine_no, keyed->key);
	sf_start_key_set_place(keyed->execution_no, SF_LINE_PLACE_WAITS_AGAIN);
}

/* An execution is of another version: if that knows no keys, it leaves its line. */
static void
leave_without_option(const SfExecution *execution)
{
	const SfKeyedStart *keyed = sf_start_key_option_of(execution) != NULL ? NULL :
		sf_start_key_find(execution->execution_no);

	if (keyed != NULL && keyed->place != SF_LINE_PLACE_ENDED && !sf_start_key_place_is_left(keyed->place))
		leave(keyed, SF_LINE_PLACE_LEFT_FOR_GOOD);
}

/* An execution has been migrated. */
static void
migrated(const SfExecution *execution, int before)
{
	if (sf_program_cache_find(execution->machine_no, before)->compiled[sf_start_key_option] != NULL)
		leave_without_option(execution);
}

/* A start has replaced an execution, maybe under another version; one that restarts it has left its line before. */
static void
begun_anew(const SfExecution *execution, SfAnew how)
{
	if (how == SF_ANEW_REPLACED)
		leave_without_option(execution);
}

/* Are two executions of one line? */
static bool
is_same_line(const SfKeyedStart *one, const SfKeyedStart *other)
{
	return one != NULL && one->machine_no == other->machine_no && strcmp(one->key, other->key) == 0;
}

/* What stands in the lines of some executions; see feature.h. */
static List *
ties_of(SfArg numbers, bool locked)
{
	List	   *busy = NIL;
	const SfKeyedStart *last = NULL;

	/* a worker has the row of a key while it runs the first slice of an execution: a move does not wait for that */
	if (locked)
		foreach_ptr(SfKeyedStart, keyed, sf_start_key_list_tied(numbers))
		{
			if (!is_same_line(last, keyed) && !sf_start_key_try_lock(keyed->machine_no, keyed->key))
				busy = lappend(busy, &keyed->execution_no);
			last = keyed;
		}
	return sf_start_key_ties(numbers, busy);
}

/* Executions leave this node: those of other home keys that are behind them in their lines may run. */
static void
departing(SfArg numbers)
{
	List	   *tied = sf_start_key_list_tied(numbers);
	const SfKeyedStart *last = NULL;

	foreach_ptr(const SfKeyedStart, keyed, tied)
		sf_start_key_lock(keyed->machine_no, keyed->key);
	sf_start_key_depart(numbers);
	foreach_ptr(const SfKeyedStart, keyed, tied)
	{
		/* with the row of the execution goes what would tell a sweep of it */
		if (!is_same_line(last, keyed))
			sf_start_key_advance_now(keyed->machine_no, keyed->key);
		last = keyed;
	}
}

/* Executions have come from another node: they are in the lines of their keys here. */
static void
arrived(SfArg numbers, int from_node)
{
	sf_start_key_arrive(numbers);
}

/* An execution has not entered the line of its key, whose row may be a new one. */
static void
give_up(const SfExecution *execution)
{
	const char *key = SF_OF_START(execution, sf_start_key_option);

	if (key != NULL)
		(void) sf_start_key_advance(execution->machine_no, key);
}

/* Have those go on that come after what has ended, where no other session has the row of the key by now. */
static SfSweepResult
sweep(TimestampTz now)
{
	List	   *all;
	int64		after = 0;
	int			told = 0;

	/* an old snapshot does not show what waits */
	if (IsolationUsesXactSnapshot())
		return (SfSweepResult) {.next = DT_NOEND};
	do
	{
		all = sf_start_key_lock_ended(after, LOOK_SIZE);
		foreach_ptr(const SfKeyedStart, keyed, all)
		{
			CHECK_FOR_INTERRUPTS();
			after = keyed->execution_no;
			sf_start_key_set_place(keyed->execution_no, SF_LINE_PLACE_LEFT);
			if (sf_start_key_advance(keyed->machine_no, keyed->key))
				told++;
			else
				sf_start_key_set_place(keyed->execution_no, SF_LINE_PLACE_ENDED);
		}
	} while (list_length(all) == LOOK_SIZE && told < LOOK_SIZE);
	return (SfSweepResult) {.more = sf_start_key_is_any_ended(),.next = DT_NOEND};
}

static const SfFeatureOptions machine_options = {
	.names = options,
	.number = &sf_start_key_option,
	.compile = sf_start_key_compile,
};

static const SfFeatureGate gate = {
	.waiting_word = "start key",
	.admit = admit,
	.still_parks = still_parks,
};

static const SfFeatureSweep sweeps = {
	.name = "keys of starts",
	.run = sweep,
	.has_work = sf_start_key_is_any_ended,
	.pause_ms = SWEEP_PAUSE_MS,
	.when_told = true,
};

static const SfFeatureLine line = {
	.start_option = "start_key",
	.enter = sf_start_key_enter_line,
	.give_up = give_up,
	.reenter = sf_start_key_reenter_line,
	.on_begun = begun,
};

const SfFeature sf_start_key_feature = {
	.name = "start_key",
	.tables = tables,
	.start_options = options,
	.machine_options = &machine_options,
	.gate = &gate,
	.sweep = &sweeps,
	.line = &line,
	.on_beginning = sf_start_key_begins,
	.on_ended = ended,
	.on_redriven = redriven,
	.on_migrated = migrated,
	.on_begun_anew = begun_anew,
	.ties_of = ties_of,
	.on_departing = departing,
	.on_arrived = arrived,
	.retains = sf_start_key_retains,
};
