/*
 * due_runs.c
 *		Starting the runs of schedules: when they are due, missed, or have waited.
 *
 * pg_cron calls a schedule when a run is due.  handled_until in the schedule's row is
 * the latest time that was dealt with: later times up to now were missed, because the
 * server was down or pg_cron did not work.  The call deals with them before its own
 * run.  A worker, or sf_run_due, looks at all schedules now and then: it deals with
 * times that were due CATCH_UP_MS ago, and starts runs that waited.
 *
 * A call and a look may find the same time.  Both lock the schedule's row, and the
 * name of the execution says the time, so a run starts once.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/errors.h"
#include "base/hooks.h"
#include "base/subtransaction.h"
#include "run/gate.h"
#include "schedule/due_runs.h"
#include "schedule/pg_cron.h"
#include "store/execution.h"
#include "store/schedule_wait.h"

/* A run that has not come after that time was missed: pg_cron may be late by some seconds */
#define CATCH_UP_MS		(2 * 60 * 1000)

/* Runs of a schedule that wait at once, and missed ones that a look deals with */
#define MAX_WAITING		1000

/* Names of outcomes in _sfflow.schedule_run, and in the view */
#define NO_MATCH	"skipped"
#define OVERLAP		"overlap"
#define QUEUED		"queued"
#define MISSED		"missed"
#define FAILED		"failed"

/* --- one run --- */

/* Tell whether an execution runs. */
static bool
runs(const char *execution_id)
{
	SfExecution *execution = execution_id == NULL ? NULL :
		sf_execution_find(execution_id, SF_LOCK_NONE);

	return execution != NULL && execution->status == SF_STATUS_RUNNING;
}

/* Start a run of the schedule itself; returns the id of its execution. */
static char *
start(SfSchedule *s, TimestampTz scheduled)
{
	s->last_execution_id = sf_schedule_start(s, scheduled);
	sf_gate_park_start(s->name, s->last_execution_id);
	sf_schedule_row_set_last(s->name, s->last_execution_id);
	sf_schedule_row_note(s->name, SF_RUN_STARTED, scheduled, s->last_execution_id, NULL);
	return s->last_execution_id;
}

/* Start a run, or have it wait or left out if the one before still runs: NULL. */
static char *
run(SfSchedule *s, TimestampTz scheduled, SfOverlap overlap)
{
	int			waiting;

	/* a run that is delivered twice gets the execution of the first */
	if (overlap == SF_OVERLAP_PARALLEL ||
		sf_schedule_row_is_noted(s->name, SF_RUN_STARTED, scheduled))
		return start(s, scheduled);
	waiting = sf_schedule_wait_count(s->name);
	if (waiting == 0 && !runs(s->last_execution_id))
		return start(s, scheduled);
	if (overlap == SF_OVERLAP_SKIP || waiting >= MAX_WAITING)
		sf_schedule_row_note(s->name, OVERLAP, scheduled, NULL, NULL);
	else if (sf_schedule_wait_add(s->name, scheduled, 0))
		sf_schedule_row_note(s->name, QUEUED, scheduled, NULL, NULL);
	return NULL;
}

/* --- missed runs --- */

/* Run all that was missed, one after the other unless the schedule runs them in parallel; the last time. */
static TimestampTz
run_all(SfSchedule *s, SfMoments *moments, TimestampTz from, TimestampTz last)
{
	SfOverlap	overlap = sf_option_overlap(s->overlap);
	TimestampTz t = from;

	for (int n = 0; n < MAX_WAITING && sf_moments_next(moments, t, &t); n++)
	{
		CHECK_FOR_INTERRUPTS();
		(void) run(s, t, overlap == SF_OVERLAP_PARALLEL ? overlap : SF_OVERLAP_QUEUE);
		if (t == last)
			break;
	}
	return t;
}

/* Find the latest run that was due up to a time and did not come; false: there is none. */
static bool
find_missed(const SfSchedule *s, SfMoments *moments, TimestampTz until, TimestampTz *last)
{
	return sf_moments_latest(moments, until, last) &&
		*last > sf_schedule_expected_from(s, moments);
}

/* Deal with the runs that were due up to a time and did not come, as the schedule says. */
static void
handle_missed(SfSchedule *s, SfMoments *moments, TimestampTz until)
{
	TimestampTz missed_at = DT_NOBEGIN;
	TimestampTz last;

	if (!find_missed(s, moments, until, &last))
		return;
	switch (sf_option_missed(s->missed))
	{
		case SF_MISSED_RUN_ONCE:
			(void) run(s, last, sf_option_overlap(s->overlap));
			break;
		case SF_MISSED_RUN_ALL:
			last = run_all(s, moments, sf_schedule_expected_from(s, moments), last);
			break;
		case SF_MISSED_SKIP:
			sf_schedule_row_note(s->name, MISSED, last, NULL, NULL);
			missed_at = last;
			break;
	}
	s->handled_until = last;
	sf_schedule_row_set_handled(s->name, last, missed_at);
}

/*
 * Start the run for which pg_cron calls a schedule, whose row is locked.  Returns
 * the id of the execution; NULL if none starts now.
 */
char *
sf_due_run_called(SfSchedule *s, TimestampTz now)
{
	SfMoments	moments = sf_moments_begin(s);
	TimestampTz scheduled;
	char	   *execution_id;

	if (!sf_schedule_find_match(s, &moments, now, &scheduled))
	{
		sf_schedule_row_note(s->name, NO_MATCH, DT_NOBEGIN, NULL, NULL);
		return NULL;
	}
	handle_missed(s, &moments, scheduled - 1);
	execution_id = run(s, scheduled, sf_option_overlap(s->overlap));
	sf_schedule_row_set_handled(s->name, scheduled, DT_NOBEGIN);
	if (sf_schedule_wait_any())
		sf_hooks.runs_wait();
	return execution_id;
}

/* --- runs that have waited --- */

/* Start a run of sf_backfill; tells whether it runs now. */
static bool
start_backfill(const SfSchedule *s, const SfScheduleWait *wait)
{
	char	   *execution_id = sf_schedule_start(s, wait->scheduled_for);

	sf_gate_park_start(s->name, execution_id);
	sf_schedule_row_note(s->name, SF_RUN_STARTED, wait->scheduled_for, execution_id, NULL);
	if (runs(execution_id))
	{
		sf_schedule_wait_started(wait, execution_id);
		return true;
	}
	sf_schedule_wait_delete(wait);
	return false;
}

/* Start runs that have waited and need wait no more. */
static void
start_waiting(SfSchedule *s)
{
	bool		parallel = sf_option_overlap(s->overlap) == SF_OVERLAP_PARALLEL;
	int			running = 0;
	ListCell   *lc;

	foreach(lc, sf_schedule_wait_read(s->name))
	{
		const SfScheduleWait *wait = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (wait->execution_id != NULL)
		{
			if (runs(wait->execution_id))
				running++;
			else
				sf_schedule_wait_delete(wait);
		}
		else if (wait->max_running > 0)
		{
			if (running < wait->max_running)
				running += start_backfill(s, wait) ? 1 : 0;
		}
		else if (parallel || !runs(s->last_execution_id))
		{
			(void) start(s, wait->scheduled_for);
			sf_schedule_wait_delete(wait);
		}
	}
}

/* --- looking at all schedules --- */

/* A look at one schedule */
typedef struct Look
{
	const char *name;
	TimestampTz now;
} Look;

/* Deal with what a schedule has missed, and with its runs that wait. */
static bool
look_at(void *arg)
{
	const Look *look = arg;
	TimestampTz until = TimestampTzPlusMilliseconds(look->now, -CATCH_UP_MS);
	SfSchedule *s = sf_schedule_row_read(look->name, SF_LOCK_SKIP);
	SfMoments	moments;
	TimestampTz last;

	if (s == NULL)
		return true;
	start_waiting(s);
	moments = sf_moments_begin(s);
	switch (sf_pg_cron_job_state(s->job_id))
	{
		case SF_CRON_JOB_ACTIVE:
			handle_missed(s, &moments, until);
			break;
		case SF_CRON_JOB_INACTIVE:
			/* runs of a time when the job was switched off are not missed */
			if (find_missed(s, &moments, until, &last))
				sf_schedule_row_set_handled(s->name, last, DT_NOBEGIN);
			break;
		case SF_CRON_JOB_GONE:
			break;
	}
	return true;
}

/* Note that a schedule cannot be dealt with; the next look tries again. */
static void
note_failure(const Look *look, const ErrorData *error)
{
	char	   *last = sf_schedule_row_last_failure(look->name);

	if (last != NULL && strcmp(last, error->message) == 0)
		return;
	ereport(LOG,
			(errmsg("sfflow cannot start a run of schedule \"%s\": %s", look->name,
					error->message)));
	sf_schedule_row_note(look->name, FAILED, DT_NOBEGIN, NULL, error->message);
}

/*
 * Look at all schedules: start runs that were missed or have waited.  Tells whether
 * runs still wait.
 */
bool
sf_due_runs_look(TimestampTz now)
{
	ListCell   *lc;

	foreach(lc, sf_schedule_row_names())
	{
		Look		look = {lfirst(lc), now};
		ErrorData  *error;

		CHECK_FOR_INTERRUPTS();
		error = sf_subtransaction_run(look_at, NULL, &look);
		if (error == NULL)
			continue;
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED ||
			ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION)
			ReThrowError(error);
		note_failure(&look, error);
	}
	return sf_schedule_wait_any();
}
