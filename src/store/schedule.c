/*
 * schedule.c
 *		Rows of _sfflow.schedule.
 */
#include "postgres.h"

#include "store/feature.h"
#include "store/owner.h"
#include "store/schedule.h"

#define ROW SfSchedule
SF_ROW_TYPE(row_type, SF_SCHEDULE_COLUMNS, schedule, 1);

/* Find a schedule by name. */
SfSchedule *
sf_schedule_row_read(const char *name, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		"SELECT " SF_SCHEDULE_COLUMNS(SF_SELECT) "1 FROM _sfflow.schedule s"
		" WHERE s.name" SF_EQ "$1");

	return sf_store_row(&plans[lock], &row_type, SF_TEXT(name));
}

/* Insert a schedule, or put it in the place of the one with its name. */
void
sf_schedule_row_write(const SfSchedule *s)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.schedule AS s"
		" (name, owner, schedule, state_machine, input, timezone, calendar, on_closed, starts,"
		" ends, missed, overlap, job_id, changed_at, created_at)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,"
		" pg_catalog.clock_timestamp(), pg_catalog.now())"
		" ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,"
		" schedule = excluded.schedule, state_machine = excluded.state_machine,"
		" input = excluded.input, timezone = excluded.timezone,"
		" calendar = excluded.calendar, on_closed = excluded.on_closed,"
		" starts = excluded.starts, ends = excluded.ends, missed = excluded.missed,"
		" overlap = excluded.overlap, job_id = excluded.job_id,"
		" changed_at = excluded.changed_at, handled_until = NULL, missed_at = NULL");

	sf_store_execute(&plan, SF_TEXT(s->name), SF_ROLE(s->owner), SF_TEXT(s->schedule),
					 SF_TEXT(s->state_machine), SF_JSONB(s->input), SF_TEXT(s->timezone),
					 SF_TEXT(s->calendar), SF_TEXT(s->on_closed),
					 SF_TIME_OR_NULL(s->starts, DT_NOBEGIN), SF_TIME_OR_NULL(s->ends, DT_NOEND),
					 SF_TEXT(s->missed), SF_TEXT(s->overlap), SF_INT8(s->job_id));
	SF_TELL(object_changed, SF_OBJECT_SCHEDULE, s->name);
}

/* Delete a schedule. */
void
sf_schedule_row_delete(const char *name)
{
	static SfPlan plans[] = {
		SF_PLAN("DELETE FROM _sfflow.schedule_run r WHERE r.schedule" SF_EQ "$1"),
		SF_PLAN("DELETE FROM _sfflow.schedule_wait w WHERE w.schedule" SF_EQ "$1"),
		SF_PLAN("DELETE FROM _sfflow.schedule s WHERE s.name" SF_EQ "$1")
	};

	for (size_t i = 0; i < lengthof(plans); i++)
		sf_store_execute(&plans[i], SF_TEXT(name));
}

/* List the names of all schedules. */
List *
sf_schedule_row_names(void)
{
	static SfPlan plan = SF_PLAN("SELECT s.name FROM _sfflow.schedule s ORDER BY s.name");

	return sf_store_list(&plan, sf_row_append_text, NULL, 0);
}

/* Tell whether there are schedules. */
bool
sf_schedule_row_any(void)
{
	static SfPlan plan = SF_PLAN("SELECT 1 FROM _sfflow.schedule LIMIT 1");

	return sf_scan_run(&plan, NULL, NULL, NULL, 0) > 0;
}

/* Add to the runs of a schedule; of the older ones a thousand stay. */
void
sf_schedule_row_note(const char *name, const char *outcome, TimestampTz scheduled_for,
					 const char *execution_id, const char *message)
{
	static SfPlan insert = SF_PLAN(
		"INSERT INTO _sfflow.schedule_run (schedule, run_at, pid, scheduled_for, execution_id,"
		" outcome, message)"
		" VALUES ($1, pg_catalog.clock_timestamp(), pg_catalog.pg_backend_pid(), $2, $3, $4, $5)"
		" ON CONFLICT DO NOTHING");
	static SfPlan trim = SF_PLAN(
		"DELETE FROM _sfflow.schedule_run r WHERE r.schedule" SF_EQ "$1"
		" AND r.run_at" SF_LE "(SELECT o.run_at FROM _sfflow.schedule_run o"
		"  WHERE o.schedule" SF_EQ "$1 ORDER BY o.run_at DESC OFFSET 1000 LIMIT 1)");

	sf_store_execute(&insert, SF_TEXT(name), SF_TIME_OR_NULL(scheduled_for, DT_NOBEGIN),
					 SF_TEXT(execution_id), SF_TEXT(outcome), SF_TEXT(message));
	sf_store_execute(&trim, SF_TEXT(name));
}

/* Tell whether a run was noted with an outcome. */
bool
sf_schedule_row_is_noted(const char *name, const char *outcome, TimestampTz scheduled_for)
{
	static SfPlan plan = SF_PLAN(
		"SELECT 1 FROM _sfflow.schedule_run r WHERE r.schedule" SF_EQ "$1"
		" AND r.scheduled_for" SF_EQ "$2 AND r.outcome" SF_EQ "$3 LIMIT 1");

	return sf_store_number(&plan, 0, SF_TEXT(name), SF_TIME(scheduled_for), SF_TEXT(outcome)) != 0;
}

/* Read a run that did not start. */
static void
append_unstarted(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfUnstartedRun *run = palloc(sizeof(SfUnstartedRun));

	run->at = sf_row_number(tuple, desc, 1, DT_NOEND);
	run->outcome = sf_row_text(tuple, desc, 2);
	run->message = sf_row_text(tuple, desc, 3);
	*(List **) arg = lappend(*(List **) arg, run);
}

/*
 * List the runs that were noted from one time up to another and have not started, as
 * SfUnstartedRun, but for those that wait.
 */
List *
sf_schedule_row_unstarted(const char *name, TimestampTz since, TimestampTz until)
{
	static SfPlan plan = SF_PLAN(
		"SELECT COALESCE(r.scheduled_for, r.run_at), r.outcome, r.message"
		" FROM _sfflow.schedule_run r WHERE r.schedule" SF_EQ "$1"
		" AND r.run_at" SF_GE "$2 AND r.run_at" SF_LT "$3"
		" AND r.outcome" SF_EQ "ANY (ARRAY[$4, $5, $6])"
		" AND NOT EXISTS (SELECT FROM _sfflow.schedule_run l WHERE l.schedule" SF_EQ "$1"
		"  AND l.run_at" SF_GT "r.run_at AND l.scheduled_for" SF_EQ "r.scheduled_for"
		"  AND l.outcome" SF_EQ "$7) ORDER BY r.run_at");
	List	   *runs = NIL;

	sf_scan(&plan, append_unstarted, &runs, SF_TEXT(name), SF_TIME(since), SF_TIME(until),
			SF_TEXT(SF_RUN_OVERLAPPED), SF_TEXT(SF_RUN_MISSED), SF_TEXT(SF_RUN_FAILED),
			SF_TEXT(SF_RUN_STARTED));
	return runs;
}

/* Find the error of the latest run that was noted; NULL: it did not fail. */
char *
sf_schedule_row_last_failure(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.message FROM _sfflow.schedule_run r WHERE r.schedule" SF_EQ "$1"
		" ORDER BY r.run_at DESC LIMIT 1");
	List	   *messages = sf_store_texts(&plan, SF_TEXT(name));

	return sf_list_first(messages);
}

/* Find when the latest run was noted that did not fail; DT_NOBEGIN: none. */
TimestampTz
sf_schedule_row_last_success(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.max(r.run_at) FROM _sfflow.schedule_run r WHERE r.schedule" SF_EQ "$1"
		" AND r.message IS NULL");

	return sf_store_number(&plan, DT_NOBEGIN, SF_TEXT(name));
}

/* Note the execution that a schedule has started last. */
void
sf_schedule_row_set_last(const char *name, const char *execution_id)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.schedule SET last_execution_id = $2 WHERE name" SF_EQ "$1");

	sf_store_execute(&plan, SF_TEXT(name), SF_TEXT(execution_id));
}

/* Note that runs up to a time need no more care, and which one was given up. */
void
sf_schedule_row_set_handled(const char *name, TimestampTz until, TimestampTz missed_at)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.schedule"
		" SET handled_until = GREATEST(handled_until, $2), missed_at = $3 WHERE name" SF_EQ "$1");

	sf_store_execute(&plan, SF_TEXT(name), SF_TIME(until),
					 SF_TIME_OR_NULL(missed_at, DT_NOBEGIN));
}
