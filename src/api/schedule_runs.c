/*
 * schedule_runs.c
 *		The status of a schedule and the runs that pg_cron has recorded.
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"

#include "api/schedule_functions.h"
#include "base/compat.h"
#include "schedule/pg_cron.h"
#include "schedule/schedule_run.h"

PG_FUNCTION_INFO_V1(sfflow_schedule_status);
PG_FUNCTION_INFO_V1(sfflow_cron_runs);

/* Read the schedule that a function is about; NULL when the caller sees none of that name. */
static SfSchedule *
visible_schedule(FunctionCallInfo fcinfo)
{
	SfSchedule *s = sf_schedule_read(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	return s != NULL && sf_schedule_is_visible(s) ? s : NULL;
}

/* _sfflow.schedule_status(name): state, problem, missed_at; nulls where the caller sees no such schedule. */
Datum
sfflow_schedule_status(PG_FUNCTION_ARGS)
{
	SfSchedule *s = visible_schedule(fcinfo);
	Datum		values[3] = {0};
	bool		nulls[3] = {true, true, true};
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (s != NULL)
	{
		SfScheduleStatus status = sf_schedule_status(s);

		values[0] = CStringGetTextDatum(status.state);
		nulls[0] = false;
		if ((nulls[1] = status.problem == NULL) == false)
			values[1] = CStringGetTextDatum(status.problem);
		values[2] = TimestampTzGetDatum(status.missed_at);
		nulls[2] = status.missed_at == DT_NOBEGIN;
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/* Copy a run that pg_cron has noted. */
static void
put_run(HeapTuple tuple, TupleDesc desc, void *arg)
{
	ReturnSetInfo *rsinfo = arg;
	Datum		values[6];
	bool		nulls[6];

	heap_deform_tuple(tuple, desc, values, nulls);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* _sfflow.cron_runs(name): the runs of its job that pg_cron has noted. */
Datum
sfflow_cron_runs(PG_FUNCTION_ARGS)
{
	SfSchedule *s = visible_schedule(fcinfo);

	InitMaterializedSRF(fcinfo, 0);
	if (s != NULL)
		sf_pg_cron_read_runs(s->job_id, put_run, fcinfo->resultinfo);
	return (Datum) 0;
}
