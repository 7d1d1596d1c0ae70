/*
 * schedule.c
 *		Rows of _sfflow.schedule.
 */
#include "postgres.h"

#include "store/schedule.h"

#define ROW SfSchedule
SF_ROW_TYPE(row_type, SF_SCHEDULE_COLUMNS, schedule, 1);

/* Find a schedule by name. */
SfSchedule *
sf_schedule_row_read(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_SCHEDULE_COLUMNS(SF_SELECT) "1 FROM _sfflow.schedule s"
		" WHERE s.name" SF_EQ "$1");

	return sf_store_row(&plan, &row_type, SF_TEXT(name));
}

/* Insert a schedule, or put it in the place of the one with its name. */
void
sf_schedule_row_write(const SfSchedule *s)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.schedule AS s"
		" (name, owner, schedule, state_machine, input, timezone, job_id, changed_at, created_at)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, pg_catalog.clock_timestamp(), pg_catalog.now())"
		" ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,"
		" schedule = excluded.schedule, state_machine = excluded.state_machine,"
		" input = excluded.input, timezone = excluded.timezone, job_id = excluded.job_id,"
		" changed_at = excluded.changed_at, last_run_for = NULL");

	sf_store_execute(&plan, SF_TEXT(s->name), SF_ROLE(s->owner), SF_TEXT(s->schedule),
					 SF_TEXT(s->state_machine), SF_JSONB(s->input), SF_TEXT(s->timezone),
					 SF_INT8(s->job_id));
}

/* Delete a schedule. */
void
sf_schedule_row_delete(const char *name)
{
	static SfPlan runs = SF_PLAN(
		"DELETE FROM _sfflow.schedule_run r WHERE r.schedule" SF_EQ "$1");
	static SfPlan schedule = SF_PLAN(
		"DELETE FROM _sfflow.schedule s WHERE s.name" SF_EQ "$1");

	sf_store_execute(&runs, SF_TEXT(name));
	sf_store_execute(&schedule, SF_TEXT(name));
}

/* Add a row to the runs of a schedule; of the older ones a thousand stay. */
static void
add_run(const char *name, SfArg execution_id, SfArg scheduled_for)
{
	static SfPlan insert = SF_PLAN(
		"INSERT INTO _sfflow.schedule_run (schedule, run_at, pid, execution_id, scheduled_for)"
		" VALUES ($1, pg_catalog.clock_timestamp(), pg_catalog.pg_backend_pid(), $2, $3)"
		" ON CONFLICT DO NOTHING");
	static SfPlan trim = SF_PLAN(
		"DELETE FROM _sfflow.schedule_run r WHERE r.schedule" SF_EQ "$1"
		" AND r.run_at" SF_LE "(SELECT o.run_at FROM _sfflow.schedule_run o"
		"  WHERE o.schedule" SF_EQ "$1 ORDER BY o.run_at DESC OFFSET 1000 LIMIT 1)");

	sf_store_execute(&insert, SF_TEXT(name), execution_id, scheduled_for);
	sf_store_execute(&trim, SF_TEXT(name));
}

/* Note a run and the execution that it started. */
void
sf_schedule_row_note_run(const char *name, TimestampTz scheduled_for,
						 const char *execution_id)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.schedule SET last_execution_id = $2, last_run_for = $3"
		" WHERE name" SF_EQ "$1");

	sf_store_execute(&plan, SF_TEXT(name), SF_TEXT(execution_id), SF_TIME(scheduled_for));
	add_run(name, SF_TEXT(execution_id), SF_TIME(scheduled_for));
}

/* Note a call for a time at which the schedule, in its own zone, has no run. */
void
sf_schedule_row_note_skip(const char *name)
{
	add_run(name, SF_NULL(TEXTOID), SF_NULL(TIMESTAMPTZOID));
}
