/*
 * start_key_feature.c
 *		What keys of starts ask and tell at the moments of the engine: when an execution may begin, and what its end does.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/timestamp.h"

#include "base/debug_point.h"
#include "base/hooks.h"
#include "feature/start_key/start_key.h"
#include "run/gate.h"
#include "store/program_cache.h"

/* When a branch comes again whose key another session has locked */
#define BUSY_MS			100

/* Ended executions that a look settles, and when the next one comes if sessions have the locks */
#define LOOK_SIZE		100
#define LOOK_PAUSE_MS	200

static const SfFeatureTable tables[] = {
	{"keyed_start",.of_execution = true,.of_machine = true},
	{"start_key",.of_machine = true},
	{NULL}
};

static const char *const options[] = {"start_key", NULL};

/* Have a branch come again in a moment. */
static SfGate
put_off(SfDraft *draft, SfBranch *branch)
{
	branch->due_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), BUSY_MS);
	sf_draft_add_branch(draft, branch);
	return SF_GATE_LATER;
}

/* Have a branch wait for its turn; the row of its key is locked. */
static SfGate
park(SfDraft *draft, SfBranch *branch)
{
	sf_park_branch(branch->key, "start_key", 0);
	branch->due_at = DT_NOEND;
	sf_draft_add_branch(draft, branch);
	return SF_GATE_QUEUED;
}

/* What the version of an execution says of keys of starts; NULL: nothing. */
static const SfKeyOption *
option_of(const SfDraft *draft)
{
	return draft->execution->map_run_no == 0 ? draft->compiled[sf_startkey_option] : NULL;
}

/*
 * Tell whether an execution with a key may begin, or go on after a redrive.  The row of the key stays locked until the
 * slice has committed; what the key says of the execution is written with the slice.
 */
static SfGate
may_begin(SfDraft *draft, SfBranch *branch, SfError *error)
{
	const SfKeyOption *option = option_of(draft);
	const SfKeyed *keyed;

	if (option == NULL || draft->goes_on ||
		(draft->execution->started_at != DT_NOBEGIN && draft->execution->redrive_count == 0))
		return SF_GATE_OPEN;
	keyed = sf_startkey_find(draft->execution->execution_no);
	if (keyed == NULL || (keyed->place != SF_LINE_WAITS && keyed->place != SF_LINE_AGAIN))
		return SF_GATE_OPEN;
	/* an old snapshot does not show what runs */
	if (option->mode != SF_STARTKEY_DEBOUNCE && IsolationUsesXactSnapshot())
		return put_off(draft, branch);
	if (!sf_startkey_try_lock(keyed->machine_no, keyed->key))
		return put_off(draft, branch);
	if (option->mode != SF_STARTKEY_DEBOUNCE && !sf_startkey_is_free(keyed->machine_no, keyed->key, keyed->rank) &&
		!SF_DEBUG_MUTATION("start-key-order"))
		return park(draft, branch);
	draft->goes_on = draft->execution->started_at != DT_NOBEGIN;
	return SF_GATE_OPEN;
}

/* Tell whether a parked branch still waits for its turn. */
static SfKept
keeps(const SfDraft *draft, const SfBranch *branch, const SfParked *parked)
{
	const SfKeyed *keyed = option_of(draft) == NULL ? NULL : sf_startkey_find(draft->execution->execution_no);

	return keyed != NULL && keyed->place <= SF_LINE_AGAIN ? SF_KEPT_YES : SF_KEPT_NO;
}

/*
 * An execution leaves its line: the next one is due, if the row of the key is free, or that is put off.  Nothing is told
 * from under an old snapshot, which does not show what waits.
 */
static void
leave(const SfKeyed *keyed, SfLinePlace place)
{
	if (!IsolationUsesXactSnapshot() && !SF_DEBUG_MUTATION("start-key-busy") &&
		sf_startkey_try_lock(keyed->machine_no, keyed->key))
	{
		sf_startkey_set_place(keyed->execution_no, place);
		if (sf_startkey_settle(keyed->machine_no, keyed->key))
			return;
	}
	sf_startkey_set_place(keyed->execution_no, SF_LINE_ENDED);
	sf_hooks.look_soon();
}

/* An execution has begun, or goes on after a redrive. */
static void
begun(const SfExecution *execution, const void *compiled)
{
	const SfKeyOption *option = compiled;
	const SfKeyed *keyed = sf_startkey_find(execution->execution_no);

	if (keyed == NULL || keyed->place > SF_LINE_AGAIN)
		return;
	if (option->mode == SF_STARTKEY_DEBOUNCE)
		leave(keyed, SF_LINE_DONE);
	else
		sf_startkey_set_place(keyed->execution_no, SF_LINE_RUNS);
}

/* An execution has ended: those behind it may run, unless it keeps its place. */
static void
ended(const SfExecution *execution, bool began_here)
{
	const SfKeyOption *option = execution->map_run_no != 0 ? NULL :
		sf_program_cache_find(execution->machine_no, execution->version)->compiled[sf_startkey_option];
	const SfKeyed *keyed = option == NULL ? NULL : sf_startkey_find(execution->execution_no);

	if (keyed == NULL || keyed->place >= SF_LINE_STAYS)
		return;
	if (execution->status == SF_STATUS_SUCCEEDED)
		leave(keyed, SF_LINE_DONE);
	else if (option->stops && keyed->place != SF_LINE_WAITS)
		sf_startkey_set_place(keyed->execution_no, SF_LINE_STAYS);
	else
		leave(keyed, SF_LINE_OVER);
}

/* An execution goes on after its end: it waits for its turn, with its rank. */
static void
redriven(const SfExecution *execution)
{
	const SfKeyOption *option = execution->map_run_no != 0 ? NULL :
		sf_program_cache_find(execution->machine_no, execution->version)->compiled[sf_startkey_option];
	const SfKeyed *keyed = option == NULL || option->mode == SF_STARTKEY_DEBOUNCE ? NULL :
		sf_startkey_find(execution->execution_no);

	if (keyed == NULL)
		return;
	/* the row of the key went with the last of its line that may be redriven, and this one had succeeded */
	if (keyed->place == SF_LINE_DONE)
		sf_startkey_lock(keyed->machine_no, keyed->key);
	sf_startkey_set_place(keyed->execution_no, SF_LINE_AGAIN);
}

/* An execution is of another version: if that knows no keys, it leaves its line. */
static void
migrated(const SfExecution *execution, int before)
{
	const SfKeyed *keyed;

	if (sf_program_cache_find(execution->machine_no, before)->compiled[sf_startkey_option] == NULL ||
		sf_program_cache_find(execution->machine_no, execution->version)->compiled[sf_startkey_option] != NULL)
		return;
	keyed = sf_startkey_find(execution->execution_no);
	if (keyed != NULL && keyed->place != SF_LINE_ENDED && keyed->place < SF_LINE_OVER)
		leave(keyed, SF_LINE_DONE);
}

/* List those of some executions that have keys of starts. */
static List *
keyed_of(SfArg numbers)
{
	static SfPlan plan = SF_PLAN(
		"SELECT k.execution_no FROM _sfflow.keyed_start k WHERE k.execution_no = ANY ($1) ORDER BY k.machine_no, k.key, k.rank");

	return sf_store_numbers(&plan, numbers);
}

/* Executions leave this node: those behind them in their lines may run. */
static void
departs(SfArg numbers)
{
	foreach_ptr(const int64, execution_no, keyed_of(numbers))
	{
		const SfKeyed *keyed = sf_startkey_find(*execution_no);

		sf_startkey_lock(keyed->machine_no, keyed->key);
		sf_startkey_set_place(keyed->execution_no, SF_LINE_DONE);
		(void) sf_startkey_settle(keyed->machine_no, keyed->key);
	}
}

/* Executions have come from another node: they are in the lines of their keys here. */
static void
arrives(SfArg numbers)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.start_key AS s (machine_no, key, last_rank)"
		" SELECT k.machine_no, k.key, pg_catalog.max(k.rank) FROM _sfflow.keyed_start k"
		" WHERE k.execution_no = ANY ($1) AND k.place < $2 GROUP BY k.machine_no, k.key ORDER BY k.machine_no, k.key"
		" ON CONFLICT (machine_no, key) DO UPDATE SET last_rank = greatest(s.last_rank, EXCLUDED.last_rank)");

	sf_store_execute(&plan, numbers, SF_INT2(SF_LINE_DONE));
}

/* An execution has not joined the line of its key, whose row may be a new one. */
static void
unjoins(const SfExecution *execution)
{
	const char *key = SF_OF_START(execution, sf_startkey_option);

	if (key != NULL)
		(void) sf_startkey_settle(execution->machine_no, key);
}

/* Have those go on that come after what has ended, where the row of the key is free by now. */
static SfLook
look(TimestampTz now)
{
	List	   *all = sf_startkey_list_ended(LOOK_SIZE);
	bool		busy = false;

	foreach_ptr(const SfKeyed, keyed, all)
	{
		CHECK_FOR_INTERRUPTS();
		if (!sf_startkey_try_lock(keyed->machine_no, keyed->key))
		{
			busy = true;
			continue;
		}
		/* a redrive may have been quicker */
		if (!sf_startkey_move(keyed->execution_no, SF_LINE_ENDED, SF_LINE_OVER) ||
			sf_startkey_settle(keyed->machine_no, keyed->key))
			continue;
		sf_startkey_set_place(keyed->execution_no, SF_LINE_ENDED);
		busy = true;
	}
	return (SfLook) {.more = busy || list_length(all) == LOOK_SIZE,.next = DT_NOEND};
}

const SfFeature sf_start_key_feature = {
	.name = "start_key",
	.tables = tables,
	.waiting_word = "start key",
	.start_options = options,
	.machine_options = options,
	.option = &sf_startkey_option,
	.joins_option = "start_key",
	.compiles_options = sf_startkey_compile,
	.joins = sf_startkey_join,
	.unjoins = unjoins,
	.rejoins = sf_startkey_rejoin,
	.may_begin = may_begin,
	.keeps = keeps,
	.begins = sf_startkey_begins,
	.begun = begun,
	.ended = ended,
	.redriven = redriven,
	.migrated = migrated,
	.departs = departs,
	.arrives = arrives,
	.keeps_from_purge = sf_startkey_keeps,
	.looks_at = "keys of starts",
	.looks_if = sf_startkey_any_ended,
	.look = look,
	.look_pause_ms = LOOK_PAUSE_MS,
	.looks_when_told = true,
};
