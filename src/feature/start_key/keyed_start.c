/*
 * keyed_start.c
 *		Rows of _sfflow.start_key and _sfflow.keyed_start: what stands in the lines of keys.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "base/error/debug_point.h"
#include "db/direct.h"
#include "feature/start_key/start_key.h"
#include "run/apply/apply.h"
#include "store/branch/park.h"

static const SfIndex by_key = {"start_key", "start_key_pkey"};
static const SfIndex by_number = {"keyed_start", "keyed_start_pkey"};

/* Lock the row of a key, which is made if it is not there: waits for other starts, and for a worker that begins one. */
void
sf_start_key_lock(int machine_no, const char *key)
{
	static SfPlan insert = SF_PLAN(
		"INSERT INTO _sfflow.start_key (machine_no, key, last_entered_at) VALUES ($1, $2, '-infinity')"
		" ON CONFLICT DO NOTHING");

	/* one that was there may be gone once the lock is free */
	while (sf_db_execute(&insert, SF_INT4(machine_no), SF_TEXT(key)) == 0 &&
		   !sf_row_fetch(&by_key, SF_LOCK_WAIT, NULL, NULL, NULL, SF_INT4(machine_no), SF_TEXT(key)))
		CHECK_FOR_INTERRUPTS();
}

/* The same without waiting; false: another session has it. */
bool
sf_start_key_try_lock(int machine_no, const char *key)
{
	return sf_row_fetch(&by_key, SF_LOCK_SKIP, NULL, NULL, NULL, SF_INT4(machine_no), SF_TEXT(key));
}

/* Read a row. */
static void
read_keyed(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_machine_no, COL_key, COL_entered_at, COL_place};
	SfKeyedStart    *keyed = arg;

	keyed->execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	keyed->machine_no = (int) sf_row_number(tuple, desc, COL_machine_no, 0);
	keyed->key = sf_row_text(tuple, desc, COL_key);
	keyed->entered_at = sf_row_number(tuple, desc, COL_entered_at, 0);
	keyed->place = (SfLinePlace) sf_row_number(tuple, desc, COL_place, 0);
}

/* Find the key and the place of an execution; NULL: it was started without a key. */
SfKeyedStart *
sf_start_key_find(int64 execution_no)
{
	SfKeyedStart *keyed = palloc(sizeof(SfKeyedStart));

	return sf_row_fetch(&by_number, SF_LOCK_NONE, NULL, read_keyed, keyed, SF_INT8(execution_no)) ? keyed : NULL;
}

/* Find the execution of a key that waits and may be replaced; 0: none. */
int64
sf_start_key_find_waiting(int machine_no, const char *key)
{
	static SfPlan plan = SF_PLAN(
		"SELECT k.execution_no FROM _sfflow.waiting_start k"
		" WHERE k.machine_no = $1 AND k.key = $2 AND k.place = $3 ORDER BY k.entered_at DESC LIMIT 1");

	return sf_db_number(&plan, 0, SF_INT4(machine_no), SF_TEXT(key), SF_INT2(SF_LINE_PLACE_WAITS));
}

/* Does nothing of a key run, or keep others from running, and does nothing wait that has entered its line earlier? */
bool
sf_start_key_is_free(int machine_no, const char *key, TimestampTz entered_at)
{
	static SfPlan plan = SF_PLAN(
		"SELECT 1 WHERE EXISTS (SELECT FROM _sfflow.blocking_start k WHERE k.machine_no = $1 AND k.key = $2)"
		" OR EXISTS (SELECT FROM _sfflow.waiting_start k WHERE k.machine_no = $1 AND k.key = $2 AND k.entered_at < $3)");

	return sf_db_number(&plan, 0, SF_INT4(machine_no), SF_TEXT(key), SF_TIME(entered_at)) == 0;
}

/* Does nothing stand in the line of a key? */
bool
sf_start_key_is_empty(int machine_no, const char *key)
{
	static SfPlan plan = SF_PLAN(
		"SELECT 1 WHERE EXISTS (SELECT FROM _sfflow.standing_start k WHERE k.machine_no = $1 AND k.key = $2)"
		" OR EXISTS (SELECT FROM _sfflow.waiting_start k WHERE k.machine_no = $1 AND k.key = $2)");

	return sf_db_number(&plan, 0, SF_INT4(machine_no), SF_TEXT(key)) == 0;
}

/* Put an execution at the end of the line of a key, whose row the caller has locked. */
void
sf_start_key_put(int64 execution_no, int machine_no, const char *key, SfLinePlace place)
{
	static SfPlan plan = SF_PLAN(
		"WITH r AS (UPDATE _sfflow.start_key s SET last_entered_at = greatest(pg_catalog.clock_timestamp(),"
		"   s.last_entered_at + interval '1 microsecond') WHERE s.machine_no = $2 AND s.key = $3"
		"   RETURNING s.last_entered_at)"
		" INSERT INTO _sfflow.keyed_start AS k (execution_no, machine_no, key, entered_at, place)"
		" SELECT $1, $2, $3, r.last_entered_at, $4 FROM r ON CONFLICT (execution_no) DO UPDATE"
		" SET key = excluded.key, entered_at = excluded.entered_at, place = excluded.place");

	sf_db_execute(&plan, SF_INT8(execution_no), SF_INT4(machine_no), SF_TEXT(key), SF_INT2(place));
}

/* Give an execution another place. */
void
sf_start_key_set_place(int64 execution_no, SfLinePlace place)
{
	static SfPlan plan = SF_PLAN("UPDATE _sfflow.keyed_start k SET place = $2 WHERE k.execution_no = $1");

	sf_db_execute(&plan, SF_INT8(execution_no), SF_INT2(place));
}

/* Find the first execution of a key that waits; 0: none. */
static int64
find_first(int machine_no, const char *key)
{
	static SfPlan plan = SF_PLAN(
		"SELECT k.execution_no FROM _sfflow.waiting_start k"
		" WHERE k.machine_no = $1 AND k.key = $2 ORDER BY k.entered_at LIMIT 1");

	return sf_db_number(&plan, 0, SF_INT4(machine_no), SF_TEXT(key));
}

/*
 * The caller has locked the row of a key, and may have taken an execution out of its line.  Make the first one due that
 * waits, unless one runs; delete the row of a key that nothing needs.  False: a session works on what waits.
 */
bool
sf_start_key_advance(int machine_no, const char *key)
{
	/* a redrive does not lock the key: since the look at what waits, one that was over may wait */
	static SfPlan forget = SF_PLAN(
		"DELETE FROM _sfflow.start_key s WHERE s.machine_no = $1 AND s.key = $2"
		" AND NOT EXISTS (SELECT FROM _sfflow.begun_start k WHERE k.machine_no = $1 AND k.key = $2)"
		" AND NOT EXISTS (SELECT FROM _sfflow.waiting_start k WHERE k.machine_no = $1 AND k.key = $2)");
	int64		first = find_first(machine_no, key);

	if (first != 0)
		return !sf_start_key_is_free(machine_no, key, DT_NOBEGIN) || sf_apply_unpark_next("start_key", first);
	SF_DEBUG_POINT("start-key-forget");
	sf_db_execute(&forget, SF_INT4(machine_no), SF_TEXT(key));
	return true;
}

/* The same, but wait for sessions that work on what waits. */
void
sf_start_key_advance_now(int machine_no, const char *key)
{
	while (!sf_start_key_advance(machine_no, key))
	{
		CHECK_FOR_INTERRUPTS();
		foreach_ptr(const SfParked, parked, sf_park_list(find_first(machine_no, key)))
			(void) sf_branch_read(parked->key, SF_LOCK_WAIT);
	}
}

/* Append a row to a list. */
static void
append_keyed(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfKeyedStart *keyed = palloc(sizeof(SfKeyedStart));

	read_keyed(tuple, desc, keyed);
	*(List **) arg = lappend(*(List **) arg, keyed);
}

/*
 * Lock executions that have ended, and of which the next ones have not been told, with the rows of their keys: those
 * with a higher number than one, of which no other session has the one or the other.  A List of SfKeyedStart.
 */
List *
sf_start_key_lock_ended(int64 after, int max_rows)
{
	static SfPlan plan = SF_PLAN(
		"SELECT k.execution_no, k.machine_no, k.key, k.entered_at, k.place FROM _sfflow.ended_start k"
		" JOIN _sfflow.start_key s ON s.machine_no = k.machine_no AND s.key = k.key"
		" WHERE k.execution_no > $1 ORDER BY k.execution_no LIMIT $2 FOR UPDATE SKIP LOCKED");

	return sf_db_list(&plan, append_keyed, SF_ARGS(SF_INT8(after), SF_INT4(max_rows)));
}

/* Has one ended of which the next one has not been told? */
bool
sf_start_key_is_any_ended(void)
{
	static SfPlan plan = SF_PLAN("SELECT 1 FROM _sfflow.ended_start k LIMIT 1");

	return sf_db_number(&plan, 0) == 1;
}

/*
 * Must an execution stay, whose row the purge has locked: since it keeps its place, or another session has the row
 * of its key?  The row of a key goes with the last execution that may be redriven.
 */
bool
sf_start_key_retains(int64 execution_no)
{
	const SfKeyedStart *keyed = sf_start_key_find(execution_no);

	if (keyed == NULL || keyed->place == SF_LINE_PLACE_LEFT_FOR_GOOD)
		return false;
	if (keyed->place != SF_LINE_PLACE_LEFT || IsolationUsesXactSnapshot() ||
		!sf_start_key_try_lock(keyed->machine_no, keyed->key))
		return true;
	/* others of the batch may be of the same line */
	sf_start_key_set_place(execution_no, SF_LINE_PLACE_LEFT_FOR_GOOD);
	(void) sf_start_key_advance(keyed->machine_no, keyed->key);
	return false;
}

/* --- moves between nodes --- */

/* List those of some executions that stand in lines, or may again: SfKeyedStart, line by line. */
List *
sf_start_key_list_tied(SfArg numbers)
{
	static SfPlan plan = SF_PLAN(
		"SELECT k.execution_no, k.machine_no, k.key, k.entered_at, k.place FROM _sfflow.keyed_start k"
		" WHERE k.execution_no = ANY ($1) AND k.place <> $2 ORDER BY k.machine_no, k.key, k.entered_at");

	return sf_db_list(&plan, append_keyed, SF_ARGS(numbers, SF_INT2(SF_LINE_PLACE_LEFT_FOR_GOOD)));
}

/* Read a tie. */
static void
append_tie(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_line = 1, COL_execution_no, COL_is_busy};
	SfTie	   *tie = palloc(sizeof(SfTie));

	tie->line = sf_row_number(tuple, desc, COL_line, 0);
	tie->execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	tie->is_busy = sf_row_number(tuple, desc, COL_is_busy, false);
	*(List **) arg = lappend(*(List **) arg, tie);
}

/*
 * List all that stands, or may stand again, in the lines of some executions, as SfTie; of the numbers in busy another
 * session has the row of the key.
 */
List *
sf_start_key_ties(SfArg numbers, const List *busy)
{
	static SfPlan plan = SF_PLAN(
		"WITH line AS MATERIALIZED (SELECT k.machine_no, k.key, pg_catalog.row_number() OVER () AS n"
		"  FROM _sfflow.keyed_start k WHERE k.execution_no = ANY ($1) AND k.place <> $2 GROUP BY k.machine_no, k.key)"
		" SELECT l.n AS line, o.execution_no, o.execution_no = ANY ($3) AS is_busy FROM line l CROSS JOIN LATERAL ("
		"  SELECT w.execution_no FROM _sfflow.waiting_start w WHERE w.machine_no = l.machine_no AND w.key = l.key"
		"  UNION ALL"
		"  SELECT b.execution_no FROM _sfflow.begun_start b WHERE b.machine_no = l.machine_no AND b.key = l.key) o");

	return sf_db_list(&plan, append_tie,
					  SF_ARGS(numbers, SF_INT2(SF_LINE_PLACE_LEFT_FOR_GOOD), sf_query_int8s(busy)));
}

/* Executions that are about to be deleted leave their lines for good. */
void
sf_start_key_depart(SfArg numbers)
{
	static SfPlan plan = SF_PLAN("UPDATE _sfflow.keyed_start k SET place = $2 WHERE k.execution_no = ANY ($1)");

	sf_db_execute(&plan, numbers, SF_INT2(SF_LINE_PLACE_LEFT_FOR_GOOD));
}

/* Executions have come from another node: their keys have rows, and what enters the lines comes behind them. */
void
sf_start_key_arrive(SfArg numbers)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.start_key AS s (machine_no, key, last_entered_at)"
		" SELECT k.machine_no, k.key, pg_catalog.max(k.entered_at) FROM _sfflow.keyed_start k"
		" WHERE k.execution_no = ANY ($1) AND k.place <> $2 GROUP BY k.machine_no, k.key ORDER BY k.machine_no, k.key"
		" ON CONFLICT (machine_no, key) DO UPDATE"
		" SET last_entered_at = greatest(s.last_entered_at, EXCLUDED.last_entered_at)");

	sf_db_execute(&plan, numbers, SF_INT2(SF_LINE_PLACE_LEFT_FOR_GOOD));
}
