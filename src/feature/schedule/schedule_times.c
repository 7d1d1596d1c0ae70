/*
 * schedule_times.c
 *		sf_schedule_preview(), sf_backfill(): the times of a schedule.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/hooks.h"
#include "base/version/schema.h"
#include "feature/schedule/noted_runs.h"
#include "feature/schedule/pg_cron.h"
#include "feature/schedule/schedule.h"
#include "store/audit/audit.h"
#include "store/role/owner.h"

/* Runs that one call lists */
#define MAX_LISTED	100000

/* A time from which, or up to which, to list runs. */
static TimestampTz
time_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n) || TIMESTAMP_NOT_FINITE(PG_GETARG_TIMESTAMPTZ(n)))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument %s must be a time", name)));
	return PG_GETARG_TIMESTAMPTZ(n);
}

/*
 * List the times of a schedule from one time to another, the arguments 1 and 2; both
 * included.  Raises when they are too far apart, or there are too many.
 */
static List *
list_runs(FunctionCallInfo fcinfo, const SfSchedule *schedule)
{
	TimestampTz from = time_argument(fcinfo, 1, "from_time");
	TimestampTz to = time_argument(fcinfo, 2, "to_time");
	SfTimeSearch search = sf_time_search_begin(schedule);
	TimestampTz at = from - 1;
	List	   *times = NIL;

	if (from < to - SF_CALENDAR_YEARS * 366 * USECS_PER_DAY)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("from_time and to_time must not be more than %d years apart",
						SF_CALENDAR_YEARS)));
	while (sf_time_search_next(&search, at, &at) && at <= to)
	{
		TimestampTz *time = palloc(sizeof(TimestampTz));

		CHECK_FOR_INTERRUPTS();
		if (list_length(times) == MAX_LISTED)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_OPTION),
					 errmsg("schedule \"%s\" has more than %d runs from from_time to to_time",
							schedule->name, MAX_LISTED)));
		*time = at;
		times = lappend(times, time);
	}
	return times;
}

/* sf_schedule_preview(name, from_time, to_time): the runs of a schedule, whether they come or not. */
SF_SQL_FUNCTION(sfflow_sf_schedule_preview)
{
	SfSchedule *schedule = sf_schedule_find_visible(sf_arg_text(fcinfo, 0, "name"));
	List	   *times = list_runs(fcinfo, schedule);
	pg_tz	   *zone = sf_schedule_zone(schedule->timezone);
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, times)
	{
		TimestampTz at = *(TimestampTz *) lfirst(lc);
		SfColumns	row = {0};

		sf_columns_time(&row, at);
		sf_columns_add(&row, TimestampGetDatum(sf_cron_local_time(at, zone)), false);
		sf_columns_text(&row, sf_schedule_run_name(at));
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* Tell whether a run has started: by the name of its execution, or by what was noted. */
static bool
has_started(const SfSchedule *schedule, TimestampTz at)
{
	char	   *id = psprintf("%.*s:%s", (int) strcspn(schedule->state_machine, "/"), schedule->state_machine,
							  sf_schedule_run_name(at));

	return sf_execution_find(id, SF_LOCK_NONE) != NULL ||
		sf_schedule_is_noted(schedule->name, SF_RUN_OUTCOME_SUCCEEDED, at);
}

/*
 * sf_backfill(schedule, from_time, to_time, max_running): have the runs of a time that
 * is over start, some at once, the earliest first; the number of those that had not
 * been asked for and had no execution yet.
 */
SF_SQL_FUNCTION(sfflow_sf_backfill)
{
	SfSchedule *schedule = sf_schedule_lock_own(sf_arg_text(fcinfo, 0, "schedule"), SF_NAMED_LOCK_KEEP);
	int			max_running = sf_arg_count(fcinfo, 3, "max_running", 1, 1);
	TimestampTz now = GetCurrentTimestamp();
	int64		added = 0;
	ListCell   *lc;

	foreach(lc, list_runs(fcinfo, schedule))
	{
		TimestampTz at = *(TimestampTz *) lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (at <= now && !has_started(schedule, at) &&
			sf_pending_run_backfill(schedule->name, at, max_running))
			added++;
	}
	if (added > 0)
	{
		sf_audit_note("backfill", SF_OBJECT_SCHEDULE, schedule->name, psprintf("schedule:%s", schedule->name),
					  NULL, NULL);
		sf_hooks.runs_wait();
	}
	PG_RETURN_INT64(added);
}

/* --- the status of a schedule, the runs that pg_cron has recorded, and its next run --- */

/* Read the schedule that an argument names; NULL when the caller sees none. */
static SfSchedule *
visible_schedule(FunctionCallInfo fcinfo)
{
	SfSchedule *schedule = sf_schedule_read(text_to_cstring(PG_GETARG_TEXT_PP(0)), SF_LOCK_NONE);

	return schedule != NULL && sf_schedule_is_visible(schedule) ? schedule : NULL;
}

/*
 * _sfflow.schedule_status(name): status, problem, missed_at, is_alert, since; nulls when
 * the caller sees no such schedule.
 */
SF_SQL_FUNCTION(sfflow_schedule_status)
{
	SfSchedule *schedule = visible_schedule(fcinfo);
	SfScheduleHealth health = {.missed_at = DT_NOBEGIN,.since = DT_NOBEGIN};
	SfColumns row = {0};

	if (schedule != NULL)
		health = sf_schedule_health(schedule);
	sf_columns_text(&row, schedule == NULL ? NULL : sf_schedule_status_name(health.status));
	sf_columns_text(&row, health.problem);
	sf_columns_time(&row, health.missed_at);
	sf_columns_add(&row, BoolGetDatum(health.is_alert), schedule == NULL);
	sf_columns_time(&row, health.since);
	PG_RETURN_DATUM(sf_columns_datum(fcinfo, &row));
}

/*
 * _sfflow.schedule_next_run(name, after): the first time after a time; null if there
 * is none or the caller sees no such schedule.
 */
SF_SQL_FUNCTION(sfflow_schedule_next_run)
{
	SfSchedule *schedule = visible_schedule(fcinfo);
	SfTimeSearch search;
	TimestampTz next;

	if (schedule == NULL || sf_schedule_unusable(schedule) != NULL)
		PG_RETURN_NULL();
	search = sf_time_search_begin(schedule);
	if (!sf_time_search_next(&search, PG_GETARG_TIMESTAMPTZ(1), &next))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(next);
}

/* Copy a run that pg_cron has recorded. */
static void
put_run(HeapTuple tuple, TupleDesc desc, void *arg)
{
	ReturnSetInfo *rsinfo = arg;
	Datum		values[6];
	bool		nulls[6];

	heap_deform_tuple(tuple, desc, values, nulls);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* _sfflow.cron_runs(name): the runs of its job that pg_cron has recorded. */
SF_SQL_FUNCTION(sfflow_cron_runs)
{
	SfSchedule *schedule = visible_schedule(fcinfo);

	InitMaterializedSRF(fcinfo, 0);
	if (schedule != NULL)
		sf_pg_cron_read_runs(schedule->cron_job_id, put_run, fcinfo->resultinfo);
	return (Datum) 0;
}
