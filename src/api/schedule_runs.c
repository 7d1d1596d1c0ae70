/*
 * schedule_runs.c
 *		Whether the runs of a schedule come, and what became of them.
 *
 * pg_cron notes the runs that it begins, sfflow those that came to their end.
 * A run of which there is neither was missed: the server was down, or pg_cron
 * does not work.  Only the expression tells that it was due.
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/cron.h"
#include "api/schedule_functions.h"
#include "api/scheduler.h"
#include "base/compat.h"
#include "store/instance.h"

PG_FUNCTION_INFO_V1(sfflow_schedule_status);
PG_FUNCTION_INFO_V1(sfflow_cron_runs);

/* A run that is due may come so much later */
#define GRACE_MS		(5 * 60 * 1000)

/* Read the schedule that a function is about; NULL when the caller sees none of that name. */
static SfSchedule *
visible_schedule(FunctionCallInfo fcinfo)
{
	SfSchedule *s = sf_schedule_read(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	return s != NULL && sf_schedule_is_visible(s) ? s : NULL;
}

/*
 * When a run of a schedule was due last, the grace given, of which there is no
 * note; DT_NOBEGIN when there is none.  A time that clocks skip is none; before
 * sf_schedule was called, nothing was due.
 */
static TimestampTz
missed_run(const SfSchedule *s, pg_tz *zone)
{
	SfCron		cron;
	char	   *problem;
	TimestampTz due;

	if (!sf_cron_parse(s->schedule, &cron, &problem) ||
		!sf_cron_latest(&cron, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), -GRACE_MS),
						zone, &due))
		return DT_NOBEGIN;
	return due > s->changed_at && due > s->last_run_for ? due : DT_NOBEGIN;
}

/* How a schedule is doing */
typedef struct Status
{
	const char *state;
	const char *problem;		/* NULL: none */
	TimestampTz missed_at;		/* DT_NOBEGIN: none */
} Status;

/* Find out about a schedule that should run: does it? */
static Status
running_status(const SfSchedule *s, bool job_is_there)
{
	pg_tz	   *zone = s->timezone ? pg_tzset(s->timezone) : sf_scheduler_zone();
	Status		status = {"active", NULL, DT_NOBEGIN};

	if (zone != NULL)
		status.missed_at = missed_run(s, zone);
	if (!job_is_there)
	{
		status.state = "gone";
		status.problem = "its pg_cron job does not exist";
	}
	else if (zone == NULL)
	{
		status.state = "failing";
		status.problem = psprintf("time zone \"%s\" not recognized", s->timezone);
	}
	else if ((status.problem = sf_scheduler_last_failure(s->job_id)) != NULL)
		status.state = "failing";
	else if (status.missed_at != DT_NOBEGIN)
	{
		status.state = "missed";
		status.problem = "pg_cron has not called it";
	}
	return status;
}

/* Find out how a schedule is doing. */
static Status
find_status(const SfSchedule *s)
{
	SfJobState	job = sf_scheduler_job_state(s->job_id);
	Status		status = {"inactive", NULL, DT_NOBEGIN};

	if (job == SF_JOB_INACTIVE)
		return status;
	if (!sf_instance_takes_work())
	{
		status.state = "not driven";
		status.problem = "a run starts nothing in a database that is not driven";
		return status;
	}
	return running_status(s, job == SF_JOB_ACTIVE);
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
		Status		status = find_status(s);

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
		sf_scheduler_read_runs(s->job_id, put_run, fcinfo->resultinfo);
	return (Datum) 0;
}
