/*
 * deadline.c
 *		Rows of _sfflow.deadline and _sfflow.lateness.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "feature/deadline/deadline.h"
#include "store/execution/execution_list.h"
#include "store/role/owner.h"

#define ROW SfDeadline
SF_ROW_TYPE(deadline_type, SF_DEADLINE_COLUMNS, deadline, 1);
#undef ROW
/* The words of a lateness */
#define WORD(sym, word) word,
static const char *const due_by_words[] = {SF_DUE_BY_LIST(WORD)};
static const char *const finding_words[] = {SF_FINDING_LIST(WORD)};

#define ROW SfLateness
SF_ROW_TYPE(lateness_type, SF_LATENESS_COLUMNS, lateness, 4);

/* Executions of a page: all, and those that are not done */
#define PAGE_ROWS		"10000"
#define PAGE_NUMBERS	"1000"

/* --- deadlines --- */

/* Find the deadline of a target. */
SfDeadline *
sf_deadline_read(const char *target, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		"SELECT " SF_DEADLINE_COLUMNS(SF_SELECT) "1 FROM _sfflow.deadline d"
		" WHERE d.target = $1");

	return sf_db_row(&plans[lock], &deadline_type, SF_TEXT(target));
}

/* No walk goes on */
#define NO_WALK \
	"walk_step = NULL, walk_now = NULL, walk_at = NULL, walk_late_no = NULL, walk_found = NULL"

/* Insert a deadline, or put it in the place of the one of its target. */
void
sf_deadline_write(const SfDeadline *deadline)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.deadline AS d (target, kind, schedule, machine_no, job, start_minute,"
		" end_minute, timezone, calendar, checked_until, next_at, set_at, set_by)"
		" VALUES ($1, $11, $2, $3, $4, $5, $6, $7, $8, $9, $9, $9, $10)"
		" ON CONFLICT (target) DO UPDATE SET kind = excluded.kind, schedule = excluded.schedule,"
		" machine_no = excluded.machine_no, job = excluded.job,"
		" start_minute = excluded.start_minute, end_minute = excluded.end_minute,"
		" timezone = excluded.timezone, calendar = excluded.calendar,"
		" checked_until = excluded.checked_until, next_at = excluded.next_at, " NO_WALK ","
		" set_at = excluded.set_at, set_by = excluded.set_by");

	sf_db_execute(&plan, SF_TEXT(deadline->target), SF_TEXT(deadline->schedule),
				  sf_query_arg(INT4OID, Int32GetDatum(deadline->machine_no), deadline->machine_no == SF_NO_MACHINE),
				  SF_TEXT(deadline->job),
				  sf_query_arg(INT4OID, Int32GetDatum(deadline->start_minute), deadline->start_minute == SF_NO_MINUTE),
				  sf_query_arg(INT4OID, Int32GetDatum(deadline->end_minute), deadline->end_minute == SF_NO_MINUTE),
				  SF_TEXT(deadline->timezone), SF_TEXT(deadline->calendar), SF_TIME(deadline->set_at),
				  SF_TEXT(deadline->set_by), SF_INT2(deadline->kind));
	sf_hooks.scan_at(deadline->set_at);
}

/* Delete the deadline of a target, and what was late of it; false: there is none. */
bool
sf_deadline_delete(const char *target)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.deadline d WHERE d.target = $1");
	static SfPlan late = SF_PLAN("DELETE FROM _sfflow.lateness l WHERE l.target = $1");
	bool		deleted = sf_db_execute(&plan, SF_TEXT(target)) > 0;

	/* after the lock of the row: a sweep may just have raised something */
	sf_db_execute(&late, SF_TEXT(target));
	return deleted;
}

/* Delete the deadlines of a machine that is dropped. */
void
sf_deadline_delete_of_machine(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.target FROM _sfflow.deadline d WHERE d.machine_no = $1");
	ListCell   *lc;

	foreach(lc, sf_db_texts(&plan, SF_INT4(machine_no)))
		(void) sf_deadline_delete(lfirst(lc));
}

/* When deadlines are to be checked next; DT_NOEND: there are none. */
TimestampTz
sf_deadline_next(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.next_at FROM _sfflow.deadline d ORDER BY d.next_at LIMIT 1");

	return sf_db_number(&plan, DT_NOEND);
}

/* List the targets of some deadlines that are to be checked. */
List *
sf_deadline_due(TimestampTz now, int max_rows)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.target FROM _sfflow.deadline d WHERE d.next_at <= $1"
		" ORDER BY d.next_at LIMIT $2");

	return sf_db_texts(&plan, SF_TIME(now), SF_INT8(max_rows));
}

/*
 * Have deadlines checked anew whose calendar or schedule (by the kind of the object) has
 * changed, so that what is expected, and which nights count, may be otherwise: deadlines of
 * that schedule; those that have the calendar, or one that extends it, and those of schedules
 * that do.  No other deadline waits for the caller's transaction.
 */
void
sf_deadline_recheck(SfObjectKind kind, const char *name)
{
	/* locked in one order, as by a session that changes another calendar */
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE c AS (SELECT $1 COLLATE pg_catalog.\"C\" AS name"
		"  UNION SELECT o.name FROM _sfflow.calendar o JOIN c"
		"  ON o.rule ->> 'Extends' = c.name),"
		" named AS MATERIALIZED (SELECT d.target FROM _sfflow.deadline d WHERE d.schedule = $2"
		"  UNION SELECT d.target FROM c JOIN _sfflow.deadline d ON d.calendar = c.name"
		"  UNION SELECT d.target FROM c JOIN _sfflow.schedule s ON s.calendar = c.name"
		"  JOIN _sfflow.deadline d ON d.schedule = s.name),"
		" of AS (SELECT d.target FROM named n JOIN _sfflow.deadline d ON d.target = n.target"
		"  ORDER BY d.target FOR UPDATE OF d)"
		" UPDATE _sfflow.deadline d SET next_at = pg_catalog.now() FROM of"
		" WHERE d.target = of.target AND d.next_at > pg_catalog.now()");

	sf_db_execute(&plan, SF_TEXT(kind == SF_OBJECT_CALENDAR ? name : NULL),
				  SF_TEXT(kind == SF_OBJECT_SCHEDULE ? name : NULL));
}

/* Tell whether a deadline has a calendar now. */
bool
sf_deadline_uses_calendar(const char *name)
{
	static SfPlan plan = SF_PLAN("SELECT 1 FROM _sfflow.deadline d WHERE d.calendar = $1 LIMIT 1");

	return sf_snapshot_number_now(&plan, 0, SF_TEXT(name)) != 0;
}

/* Note how far a deadline was dealt with, and when to check it again. */
void
sf_deadline_set_checked(const SfDeadline *deadline, TimestampTz until, TimestampTz next_at)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.deadline d SET checked_until = $2, next_at = $3, " NO_WALK
		" WHERE d.target = $1");

	sf_db_execute(&plan, SF_TEXT(deadline->target), SF_TIME(until), SF_TIME(next_at));
}

/* Note where a sweep is to go on that is not over. */
void
sf_deadline_set_walk(const SfDeadline *deadline)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.deadline d SET next_at = $2, walk_step = $3, walk_now = $4, walk_at = $5,"
		" walk_late_no = $6, walk_found = $7 WHERE d.target = $1");

	sf_db_execute(&plan, SF_TEXT(deadline->target), SF_TIME(deadline->next_at), SF_INT4(deadline->walk_step),
				  SF_TIME(deadline->walk_now), SF_TIME(deadline->walk_at),
				  sf_query_arg(INT8OID, Int64GetDatum(deadline->walk_late_no),
							   deadline->walk_late_no == SF_NOTHING_LATE),
				  SF_BOOL(deadline->walk_found));
}

/* --- what was late --- */

/* Say what is to have happened by a moment. */
const char *
sf_lateness_due_name(SfDueBy due_by)
{
	return due_by_words[due_by];
}

/* Say what was raised. */
const char *
sf_lateness_finding_name(SfFinding finding)
{
	return finding_words[finding];
}

/* Insert what is late, and forget what was long ago; false: it was raised before. */
bool
sf_lateness_insert(const SfLateness *lateness)
{
	static SfPlan insert = SF_PLAN(
		"INSERT INTO _sfflow.lateness (target, deadline_at, due_by, finding, base_at, execution_no,"
		" expected_at, raised_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING");
	static SfPlan trim = SF_PLAN(
		"DELETE FROM _sfflow.lateness l WHERE l.target = $1 AND l.deadline_at <"
		" ($2 - '400 days'::pg_catalog.interval)");

	sf_db_execute(&trim, SF_TEXT(lateness->target), SF_TIME(lateness->raised_at));
	return sf_db_execute(&insert, SF_TEXT(lateness->target), SF_TIME(lateness->deadline_at),
						 SF_TEXT(due_by_words[lateness->due_by]), SF_TEXT(finding_words[lateness->finding]),
						 SF_TIME(lateness->base_at),
						 sf_query_arg(INT8OID, Int64GetDatum(lateness->execution_no),
									  lateness->execution_no == SF_NOTHING_STARTED),
						 SF_TIME_OR_NULL(lateness->expected_at, DT_NOEND), SF_TIME(lateness->raised_at)) > 0;
}

/* Was something raised of a run of the schedule, or of a night that began then? */
bool
sf_lateness_is_raised(const char *target, TimestampTz base_at, SfFinding finding)
{
	static SfPlan plan = SF_PLAN(
		"SELECT 1 FROM _sfflow.lateness l WHERE l.target = $1 AND l.base_at = $2"
		" AND l.finding = $3 LIMIT 1");

	return sf_db_number(&plan, 0, SF_TEXT(target), SF_TIME(base_at), SF_TEXT(finding_words[finding])) == 1;
}

#define SELECT_LATENESS \
	"SELECT " SF_LATENESS_COLUMNS(SF_SELECT) "1 FROM _sfflow.lateness l"

/* List what is late of a target, as SfLateness: also what was cleared at a time. */
List *
sf_lateness_uncleared(const char *target, TimestampTz cleared_at)
{
	static SfPlan plan = SF_PLAN(
		SELECT_LATENESS " WHERE l.target = $1 AND (l.cleared_at IS NULL OR l.cleared_at = $2)"
		" ORDER BY l.deadline_at, l.due_by, l.finding");

	return sf_db_rows(&plan, &lateness_type, SF_TEXT(target), SF_TIME(cleared_at));
}

/*
 * Note that what was late has happened, or that something worse took its place.  False: a session that acknowledges it
 * has its row locked, for which no worker waits.
 */
bool
sf_lateness_clear(const SfLateness *lateness, TimestampTz at)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS MATERIALIZED (SELECT l.target, l.deadline_at, l.due_by, l.finding FROM _sfflow.lateness l"
		"  WHERE l.target = $1 AND l.deadline_at = $2 AND l.due_by = $3 AND l.finding = $4 FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.lateness l SET cleared_at = $5 FROM free f WHERE l.target = f.target"
		" AND l.deadline_at = f.deadline_at AND l.due_by = f.due_by AND l.finding = f.finding");

	return sf_db_execute(&plan, SF_TEXT(lateness->target), SF_TIME(lateness->deadline_at),
						 SF_TEXT(due_by_words[lateness->due_by]), SF_TEXT(finding_words[lateness->finding]),
						 SF_TIME(at)) > 0;
}

/* Acknowledge what is late.  Returns what was acknowledged, as SfLateness. */
List *
sf_lateness_acknowledge(const SfAcknowledge *what)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.lateness l SET acknowledged_at = pg_catalog.clock_timestamp(),"
		" acknowledged_by_name = $6, comment = $7"
		" WHERE l.cleared_at IS NULL AND l.acknowledged_at IS NULL AND l.raised_at <= $5"
		" AND ($1 IS NULL OR l.target = $1) AND ($2 IS NULL OR l.execution_no = $2)"
		" AND ($3 IS NULL OR l.target = ANY (SELECT d.target FROM _sfflow.deadline d"
		"  WHERE d.machine_no = $3))"
		" AND ($4 IS NULL OR l.finding = $4) RETURNING " SF_LATENESS_COLUMNS(SF_SELECT) "1");

	return sf_db_rows(&plan, &lateness_type,
					  what->of == SF_ALERTS_OF_TARGET ? SF_TEXT(sf_acknowledge_target(what)) : SF_NULL(TEXTOID),
					  what->of == SF_ALERTS_OF_EXECUTION ? SF_INT8(sf_acknowledge_execution_no(what)) : SF_NULL(INT8OID),
					  what->of == SF_ALERTS_OF_MACHINE ? SF_INT4(sf_acknowledge_machine_no(what)) : SF_NULL(INT4OID),
					  SF_TEXT(what->kind), SF_TIME(what->until),
					  SF_TEXT(GetUserNameFromId(GetUserId(), false)), SF_TEXT(what->comment));
}

/* --- what is to be in time --- */

/* What a query of a page reads */
typedef struct PageRead
{
	List	   *executions;		/* their numbers, int64 * */
	SfDeadlinePage *page;
} PageRead;

/* Read an execution of a page, or (the last row) what the page tells besides. */
static void
read_page(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_requested_at, COL_found};
	PageRead   *read = arg;

	if (sf_row_number(tuple, desc, COL_execution_no, SF_NO_EXECUTION) != SF_NO_EXECUTION)
	{
		sf_row_append_number(tuple, desc, &read->executions);
		return;
	}
	read->page->last_at = sf_row_number(tuple, desc, COL_requested_at, DT_NOEND);
	read->page->found = sf_row_number(tuple, desc, COL_found, false);
}

/*
 * Read the executions of a machine that were requested after one time and until
 * another, a page of them, the earliest first.  Not among them are those that have
 * succeeded or were stopped by a time (DT_NOBEGIN: all are among them), and items of
 * Distributed Maps.  Returns their numbers, as int64 *; *page gets all but the items.
 */
List *
sf_deadline_page(int machine_no, TimestampTz after, TimestampTz until, TimestampTz done_by, SfDeadlinePage *page)
{
	static SfPlan plan = SF_PLAN(
		"WITH s AS MATERIALIZED (SELECT e.execution_no, e.requested_at, e.map_run_no,"
		"  e.status = ANY ($5) AND e.stopped_at <= $4 AS is_done"
		"  FROM _sfflow.execution e WHERE e.machine_no = $1"
		"  AND e.requested_at > $2 AND e.requested_at <= $3"
		"  ORDER BY e.requested_at FETCH FIRST " PAGE_ROWS " ROWS WITH TIES),"
		" u AS MATERIALIZED (SELECT s.execution_no, s.requested_at FROM s"
		"  WHERE s.map_run_no IS NULL AND s.is_done IS NOT TRUE"
		"  ORDER BY s.requested_at FETCH FIRST " PAGE_NUMBERS " ROWS WITH TIES)"
		" SELECT u.execution_no, u.requested_at, NULL::pg_catalog.bool AS found FROM u"
		" UNION ALL SELECT NULL, CASE WHEN c.u >= " PAGE_NUMBERS " THEN c.u_at"
		"  WHEN c.s >= " PAGE_ROWS " THEN c.s_at END, c.found"
		" FROM (SELECT (SELECT pg_catalog.count(*) FROM u) AS u,"
		"  (SELECT pg_catalog.max(u.requested_at) FROM u) AS u_at,"
		"  pg_catalog.count(*) AS s, pg_catalog.max(s.requested_at) AS s_at,"
		"  pg_catalog.bool_or(s.map_run_no IS NULL) AS found FROM s) c");
	PageRead	read = {NIL, page};
	int			level = sf_execution_list_plans_begin();

	*page = (SfDeadlinePage) {.last_at = DT_NOEND};
	sf_db_read(&plan, read_page, &read, SF_INT4(machine_no), SF_TIME(after), SF_TIME(until),
			   SF_TIME(done_by), SF_INT2S(SF_STATUS_SUCCEEDED, SF_STATUS_ABORTED));
	sf_execution_list_plans_end(level);
	return read.executions;
}

/* Find the execution of a run of a schedule, by its id; NULL: it has not started. */
char *
sf_deadline_run(const char *schedule, TimestampTz scheduled_for)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.execution_id FROM _sfflow.schedule_run r WHERE r.schedule = $1"
		" AND r.scheduled_for = $2 AND r.execution_id IS NOT NULL ORDER BY r.run_at LIMIT 1");

	return sf_list_first(sf_db_texts(&plan, SF_TEXT(schedule), SF_TIME(scheduled_for)));
}
