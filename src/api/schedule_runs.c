/*
 * schedule_runs.c
 *		The status of a schedule, the runs that pg_cron has recorded, and its next run.
 */
#include "postgres.h"

#include "api/columns.h"
#include "api/schedule_functions.h"
#include "schedule/pg_cron.h"
#include "schedule/schedule_run.h"

PG_FUNCTION_INFO_V1(sfflow_schedule_status);
PG_FUNCTION_INFO_V1(sfflow_cron_runs);
PG_FUNCTION_INFO_V1(sfflow_schedule_next_run);

/* Read the schedule that an argument names; NULL when the caller sees none. */
static SfSchedule *
visible_schedule(FunctionCallInfo fcinfo)
{
	SfSchedule *s = sf_schedule_row_read(text_to_cstring(PG_GETARG_TEXT_PP(0)), SF_LOCK_NONE);

	return s != NULL && sf_schedules_is_visible(s) ? s : NULL;
}

/*
 * _sfflow.schedule_status(name): state, problem, missed_at, is_alert, since; nulls when
 * the caller sees no such schedule.
 */
Datum
sfflow_schedule_status(PG_FUNCTION_ARGS)
{
	SfSchedule *s = visible_schedule(fcinfo);
	SfScheduleStatus status = {NULL, NULL, DT_NOBEGIN, false, DT_NOBEGIN};
	SfColumns row = {0};

	if (s != NULL)
		status = sf_schedule_status(s);
	sf_columns_text(&row, status.state);
	sf_columns_text(&row, status.problem);
	sf_columns_time(&row, status.missed_at);
	sf_columns_add(&row, BoolGetDatum(status.is_alert), s == NULL);
	sf_columns_time(&row, status.since);
	PG_RETURN_DATUM(sf_columns_datum(fcinfo, &row));
}

/*
 * _sfflow.schedule_next_run(name, after): the first time after a time; null if there
 * is none or the caller sees no such schedule.
 */
Datum
sfflow_schedule_next_run(PG_FUNCTION_ARGS)
{
	SfSchedule *s = visible_schedule(fcinfo);
	SfMoments	moments;
	TimestampTz next;

	if (s == NULL || sf_schedule_unusable(s) != NULL)
		PG_RETURN_NULL();
	moments = sf_moments_begin(s);
	if (!sf_moments_next(&moments, PG_GETARG_TIMESTAMPTZ(1), &next))
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
Datum
sfflow_cron_runs(PG_FUNCTION_ARGS)
{
	SfSchedule *s = visible_schedule(fcinfo);

	InitMaterializedSRF(fcinfo, 0);
	if (s != NULL)
		sf_pg_cron_read_runs(s->job_id, put_run, fcinfo->resultinfo);
	return (Datum) 0;
}
