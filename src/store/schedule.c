/*
 * schedule.c
 *		Rows of _sfflow.schedule.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "store/schedule.h"
#include "store/table.h"

#define EQUALS " OPERATOR(pg_catalog.=) "

static SfPlan read_plan = SF_PLAN(
	"SELECT name, owner, schedule, state_machine, input, timezone, job_id,"
	" changed_at, last_run_for"
	" FROM _sfflow.schedule WHERE name" EQUALS "$1",
	1, TEXTOID);

static SfPlan write_plan = SF_PLAN(
	"INSERT INTO _sfflow.schedule AS s"
	" (name, owner, schedule, state_machine, input, timezone, job_id, changed_at, created_at)"
	" VALUES ($1, $2, $3, $4, $5, $6, $7, pg_catalog.clock_timestamp(), pg_catalog.now())"
	" ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,"
	" schedule = excluded.schedule, state_machine = excluded.state_machine,"
	" input = excluded.input, timezone = excluded.timezone, job_id = excluded.job_id,"
	" changed_at = excluded.changed_at, last_run_for = NULL",
	7, TEXTOID, REGROLEOID, TEXTOID, TEXTOID, JSONBOID, TEXTOID, INT8OID);

static SfPlan delete_plan = SF_PLAN(
	"DELETE FROM _sfflow.schedule WHERE name" EQUALS "$1",
	1, TEXTOID);

static SfPlan delete_runs_plan = SF_PLAN(
	"DELETE FROM _sfflow.schedule_run r WHERE r.schedule" EQUALS "$1",
	1, TEXTOID);

static SfPlan note_plan = SF_PLAN(
	"UPDATE _sfflow.schedule SET last_execution_id = $2, last_run_for = $3"
	" WHERE name" EQUALS "$1",
	3, TEXTOID, TEXTOID, TIMESTAMPTZOID);

static SfPlan insert_run_plan = SF_PLAN(
	"INSERT INTO _sfflow.schedule_run (schedule, run_at, pid, execution_id, scheduled_for)"
	" VALUES ($1, pg_catalog.clock_timestamp(), pg_catalog.pg_backend_pid(), $2, $3)"
	" ON CONFLICT DO NOTHING",
	3, TEXTOID, TEXTOID, TIMESTAMPTZOID);

/* The last thousand stay. */
static SfPlan trim_runs_plan = SF_PLAN(
	"DELETE FROM _sfflow.schedule_run r WHERE r.schedule" EQUALS "$1"
	" AND r.run_at OPERATOR(pg_catalog.<=) (SELECT o.run_at FROM _sfflow.schedule_run o"
	"  WHERE o.schedule" EQUALS "$1 ORDER BY o.run_at DESC OFFSET 1000 LIMIT 1)",
	1, TEXTOID);

/* Make a schedule of a row. */
static void
read_schedule(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfSchedule **out = arg;
	SfSchedule *s = palloc0(sizeof(SfSchedule));
	bool		isnull;

	s->name = sf_row_text(tuple, desc, 1);
	s->owner = DatumGetObjectId(heap_getattr(tuple, 2, desc, &isnull));
	s->schedule = sf_row_text(tuple, desc, 3);
	s->state_machine = sf_row_text(tuple, desc, 4);
	s->input = sf_row_jsonb(tuple, desc, 5);
	s->timezone = sf_row_text(tuple, desc, 6);
	s->job_id = sf_row_int64(tuple, desc, 7);
	s->changed_at = sf_row_time(tuple, desc, 8, DT_NOBEGIN);
	s->last_run_for = sf_row_time(tuple, desc, 9, DT_NOBEGIN);
	*out = s;
}

/* Find a schedule by name. */
SfSchedule *
sf_schedule_read(const char *name)
{
	Datum		arg = CStringGetTextDatum(name);
	SfSchedule *schedule = NULL;

	sf_store_query(&read_plan, &arg, NULL, 1, read_schedule, &schedule);
	return schedule;
}

/* Insert a schedule, or put it in the place of the one with its name. */
void
sf_schedule_write(const SfSchedule *s)
{
	Datum		args[7];
	char		nulls[8] = "       ";

	args[0] = CStringGetTextDatum(s->name);
	args[1] = ObjectIdGetDatum(s->owner);
	args[2] = CStringGetTextDatum(s->schedule);
	args[3] = CStringGetTextDatum(s->state_machine);
	args[4] = JsonbPGetDatum(s->input);
	args[5] = s->timezone == NULL ? (Datum) 0 : CStringGetTextDatum(s->timezone);
	nulls[5] = s->timezone == NULL ? 'n' : ' ';
	args[6] = Int64GetDatum(s->job_id);
	sf_store_query(&write_plan, args, nulls, 0, NULL, NULL);
}

/* Delete a schedule. */
void
sf_schedule_delete(const char *name)
{
	Datum		arg = CStringGetTextDatum(name);

	sf_store_query(&delete_runs_plan, &arg, NULL, 0, NULL, NULL);
	sf_store_query(&delete_plan, &arg, NULL, 0, NULL, NULL);
}

/* Add a row to the runs of a schedule and delete old ones. */
static void
add_run(Datum *args, const char *nulls)
{
	sf_store_query(&insert_run_plan, args, nulls, 0, NULL, NULL);
	sf_store_query(&trim_runs_plan, args, NULL, 0, NULL, NULL);
}

/* Note a run and the execution that it started. */
void
sf_schedule_note_run(const char *name, TimestampTz scheduled_for,
					 const char *execution_id)
{
	Datum		args[3] = {CStringGetTextDatum(name), CStringGetTextDatum(execution_id),
	TimestampTzGetDatum(scheduled_for)};

	sf_store_query(&note_plan, args, NULL, 0, NULL, NULL);
	add_run(args, NULL);
}

/* Note a call for a time at which the schedule, in its own zone, has no run. */
void
sf_schedule_note_skip(const char *name)
{
	Datum		args[3] = {CStringGetTextDatum(name), (Datum) 0, (Datum) 0};

	add_run(args, " nn");
}
