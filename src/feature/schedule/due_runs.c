/*
 * due_runs.c
 *		Starting the runs of schedules: when they are due, missed, or have waited.
 *
 * pg_cron calls a schedule when a run is due.  handled_until in the schedule's row is
 * the latest time that was dealt with: later times up to now were missed, because the
 * server was down or pg_cron did not work.  The call deals with them before its own
 * run, which is the one that makes up for them if one is to (run_once).  A worker, or sf_run_due, looks at all schedules now and then: it deals with
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
#include "feature/schedule/pg_cron.h"
#include "feature/schedule/schedule.h"
#include "run/gate.h"
#include "store/execution.h"

/* A run that has not come after that time was missed: pg_cron may be late by some seconds */
#define CATCH_UP_MS		(2 * 60 * 1000)

/* Runs of a schedule that wait at once */
#define MAX_WAITING		1000

/*
 * Starts of a schedule that a look tries, each in a subtransaction: more would make the
 * snapshots of other sessions overflow.
 */
#define MAX_STARTS		50

/* --- one run --- */

/* Tell whether an execution runs. */
static bool
runs(const char *execution_id)
{
	SfExecution *execution = execution_id == NULL ? NULL :
		sf_execution_find(execution_id, SF_LOCK_NONE);

	return execution != NULL && execution->status == SF_STATUS_RUNNING;
}

/* What the outcome of a run is in an event; NULL: the call was for no run. */
static const char *
run_status(const char *outcome)
{
	static const char *const statuses[][2] = {
		{SF_RUN_STARTED, "STARTED"},
		{SF_RUN_OVERLAPPED, "SKIPPED"},
		{SF_RUN_QUEUED, "QUEUED"},
		{SF_RUN_MISSED, "MISSED"},
		{SF_RUN_FAILED, "FAILED"},
	};

	for (size_t i = 0; i < lengthof(statuses); i++)
		if (strcmp(statuses[i][0], outcome) == 0)
			return statuses[i][1];
	return NULL;
}

/* A run of a schedule has started, or has not. */
static void
tell_run(const SfSchedule *s, const char *outcome, TimestampTz scheduled_for,
		 const char *execution_id, const char *error)
{
	SfNotice	n = {.kind = SF_CHANGE_RUN,.at = GetCurrentTimestamp()};
	const char *status = run_status(outcome);
	SfJsonBuilder b;

	if (status == NULL)
		return;
	sf_schedules_notice(&n, s->name);
	if (execution_id != NULL)
		n.execution = sf_execution_find(execution_id, SF_LOCK_NONE);
	sf_notice_begin_detail(&b, &n);
	sf_json_add_string(&b, "schedule", s->name);
	sf_json_add_string(&b, "status", status);
	sf_notice_add_date(&b, "scheduledDate", scheduled_for);
	sf_notice_add_text(&b, "error", error);
	sf_notice_tell(&n, &b);
}

/* Note what became of a run, and tell of it, once. */
static void
note_run(const SfSchedule *s, const char *outcome, TimestampTz scheduled_for,
		 const char *execution_id, const char *error)
{
	bool		is_news = sf_feature_wants_notice(SF_CHANGE_RUN, NULL) &&
		(scheduled_for == DT_NOBEGIN || !sf_schedule_row_is_noted(s->name, outcome, scheduled_for));

	sf_schedule_row_note(s->name, outcome, scheduled_for, execution_id, error);
	if (is_news)
		tell_run(s, outcome, scheduled_for, execution_id, error);
}

/* Start a run of the schedule itself; returns the id of its execution. */
static char *
start(SfSchedule *s, TimestampTz scheduled)
{
	s->last_execution_id = sf_schedule_start(s, scheduled);
	SF_TELL(scheduled, s->name, s->last_execution_id);
	sf_schedule_row_set_last(s->name, s->last_execution_id);
	note_run(s, SF_RUN_STARTED, scheduled, s->last_execution_id, NULL);
	return s->last_execution_id;
}

/* Tell whether a run starts at once, though others may run or wait. */
static bool
starts_now(const SfSchedule *s, TimestampTz scheduled, SfOverlap overlap, int waiting)
{
	/* a run that is delivered twice gets the execution of the first */
	return overlap == SF_OVERLAP_PARALLEL ||
		sf_schedule_row_is_noted(s->name, SF_RUN_STARTED, scheduled) ||
		(waiting == 0 && !runs(s->last_execution_id));
}

/* Have a run wait. */
static void
enqueue(const SfSchedule *s, TimestampTz scheduled)
{
	if (sf_schedule_wait_add(s->name, scheduled, 0))
		note_run(s, SF_RUN_QUEUED, scheduled, NULL, NULL);
}

/* Start a run, or have it wait or left out if the one before still runs: NULL. */
static char *
run(SfSchedule *s, TimestampTz scheduled, SfOverlap overlap)
{
	int			waiting = sf_schedule_wait_count(s->name);

	if (starts_now(s, scheduled, overlap, waiting))
		return start(s, scheduled);
	if (overlap == SF_OVERLAP_SKIP || waiting >= MAX_WAITING)
		note_run(s, SF_RUN_OVERLAPPED, scheduled, NULL, NULL);
	else
		enqueue(s, scheduled);
	return NULL;
}

/* --- starts that may fail --- */

/* What is done for one schedule in a transaction */
typedef struct Look
{
	SfSchedule *s;
	SfMoments	moments;
	int			tried;			/* starts */
	int			started;
	bool		more;			/* runs are left that could start now */
} Look;

/* A start that is tried */
typedef struct Try
{
	SfSchedule *s;
	TimestampTz scheduled;
	SfOverlap	overlap;
	const SfScheduleWait *wait; /* of a run that has waited; NULL: it has not */
	bool		running;		/* set: a run of sf_backfill runs now */
} Try;

/* Tell whether a look may try one more start; if not, a later one does. */
static bool
may_try(Look *look)
{
	if (look->tried < MAX_STARTS)
		return true;
	/* with nothing started the next look would try the same ones */
	look->more = look->started > 0;
	return false;
}

/* Raise an error again if it is no failure of what was tried. */
static void
rethrow_cancel(ErrorData *error)
{
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED ||
		ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION)
		ReThrowError(error);
}

/* Log why a schedule starts no run, unless that is known. */
static bool
log_failure(const char *schedule, const ErrorData *error)
{
	char	   *last = sf_schedule_row_last_failure(schedule);

	if (last != NULL && strcmp(last, error->message) == 0)
		return false;
	ereport(LOG,
			(errmsg("sfflow cannot start a run of schedule \"%s\": %s", schedule,
					error->message)));
	return true;
}

/* Try a start in a subtransaction: if it fails, that is noted, and other runs go on. */
static bool
try_start(Look *look, bool (*work) (void *arg), Try *try)
{
	SfSchedule *s = look->s;
	char	   *last_execution_id = s->last_execution_id;
	ErrorData  *error;

	look->tried++;
	try->s = s;
	error = sf_subtransaction_run(work, NULL, try);
	if (error == NULL)
	{
		look->started++;
		return true;
	}
	rethrow_cancel(error);
	s->last_execution_id = last_execution_id;
	(void) log_failure(s->name, error);
	if (!sf_schedule_row_is_noted(s->name, SF_RUN_FAILED, try->scheduled))
		note_run(s, SF_RUN_FAILED, try->scheduled, NULL, error->message);
	return false;
}

/* --- missed runs --- */

/* Do run() for a run that was missed. */
static bool
run_missed(void *arg)
{
	Try		   *try = arg;

	(void) run(try->s, try->scheduled, try->overlap);
	return true;
}

/* Run one of all runs that were missed, or have it wait; false: a later look has to. */
static bool
run_one_of_all(Look *look, TimestampTz scheduled, SfOverlap overlap)
{
	SfSchedule *s = look->s;
	int			waiting = sf_schedule_wait_count(s->name);

	if (starts_now(s, scheduled, overlap, waiting))
	{
		Try			try = {.scheduled = scheduled,.overlap = overlap};

		if (!may_try(look))
			return false;
		/* later looks try again, with those that wait */
		if (!try_start(look, run_missed, &try))
			(void) sf_schedule_wait_add(s->name, scheduled, 0);
		return true;
	}
	if (waiting >= MAX_WAITING)
		return false;
	enqueue(s, scheduled);
	return true;
}

/*
 * Run all that was missed, one after the other unless the schedule runs them in
 * parallel; the time up to which that was done.  Later looks do the rest.
 */
static TimestampTz
run_all(Look *look, TimestampTz from, TimestampTz last)
{
	SfOverlap	overlap = sf_option_overlap(look->s->overlap);
	TimestampTz done = from;
	TimestampTz t = from;

	if (overlap == SF_OVERLAP_SKIP)
		overlap = SF_OVERLAP_QUEUE;
	while (done != last && sf_moments_next(&look->moments, t, &t) &&
		   run_one_of_all(look, t, overlap))
	{
		CHECK_FOR_INTERRUPTS();
		done = t;
	}
	return done;
}

/* Run the latest run that was missed; false: it could not start. */
static bool
run_latest(Look *look, TimestampTz last)
{
	Try			try = {.scheduled = last,.overlap = sf_option_overlap(look->s->overlap)};

	return try_start(look, run_missed, &try);
}

/* Find the latest run that was due up to a time and did not come; false: there is none. */
static bool
find_missed(const SfSchedule *s, SfMoments *moments, TimestampTz until, TimestampTz *last)
{
	return sf_moments_latest(moments, until, last) &&
		*last > sf_schedule_expected_from(s, moments);
}

/*
 * Deal with the runs that were due up to a time and did not come, as the schedule
 * says; false: some are left to later looks.  now: the time of the look.
 */
static bool
handle_missed(Look *look, TimestampTz until, TimestampTz now)
{
	SfSchedule *s = look->s;
	TimestampTz missed_at = DT_NOBEGIN;
	TimestampTz last;
	TimestampTz done;

	if (!find_missed(s, &look->moments, until, &last))
		return true;
	done = last;
	switch (sf_option_missed(s->missed))
	{
		case SF_MISSED_RUN_ONCE:
			/* those that were due since then are of the same downtime; should one come late, it is the same run */
			(void) sf_moments_latest(&look->moments, now, &last);
			done = last;
			if (!run_latest(look, last))
				return false;
			break;
		case SF_MISSED_RUN_ALL:
			done = run_all(look, sf_schedule_expected_from(s, &look->moments), last);
			break;
		case SF_MISSED_SKIP:
			note_run(s, SF_RUN_MISSED, last, NULL, NULL);
			missed_at = last;
			break;
	}
	s->handled_until = done;
	sf_schedule_row_set_handled(s->name, done, missed_at);
	return done == last;
}

/* Tell whether a run has to be left to later looks, which lose none: the queue before it is full. */
static bool
is_left_to_looks(const Look *look, bool caught_up)
{
	const SfSchedule *s = look->s;

	return sf_option_missed(s->missed) == SF_MISSED_RUN_ALL &&
		(!caught_up || (sf_option_overlap(s->overlap) == SF_OVERLAP_QUEUE &&
						sf_schedule_wait_count(s->name) >= MAX_WAITING));
}

/*
 * Start the run for which pg_cron calls a schedule, whose row is locked.  Returns
 * the id of the execution; NULL if none starts now.
 */
char *
sf_due_run_called(SfSchedule *s, TimestampTz now)
{
	Look		look = {.s = s,.moments = sf_moments_begin(s)};
	TimestampTz scheduled;
	char	   *execution_id = NULL;
	bool		caught_up = true;

	if (!sf_schedule_find_match(s, &look.moments, now, &scheduled))
	{
		note_run(s, SF_RUN_NO_MATCH, DT_NOBEGIN, NULL, NULL);
		return NULL;
	}
	/* where one run makes up for all that was missed, this is the one */
	if (sf_option_missed(s->missed) != SF_MISSED_RUN_ONCE)
		caught_up = handle_missed(&look, scheduled - 1, now);
	if (is_left_to_looks(&look, caught_up))
		note_run(s, SF_RUN_QUEUED, scheduled, NULL, NULL);
	else
	{
		execution_id = run(s, scheduled, sf_option_overlap(s->overlap));
		sf_schedule_row_set_handled(s->name, scheduled, DT_NOBEGIN);
	}
	if (look.more || sf_schedule_wait_any())
		sf_hooks.runs_wait();
	return execution_id;
}

/* --- runs that have waited --- */

/* Start a run of sf_backfill; sets whether it runs now. */
static bool
start_backfill(void *arg)
{
	Try		   *try = arg;
	const SfScheduleWait *wait = try->wait;
	char	   *execution_id = sf_schedule_start(try->s, wait->scheduled_for);

	SF_TELL(scheduled, wait->schedule, execution_id);
	note_run(try->s, SF_RUN_STARTED, wait->scheduled_for, execution_id, NULL);
	try->running = runs(execution_id);
	if (try->running)
		sf_schedule_wait_started(wait, execution_id);
	else
		sf_schedule_wait_delete(wait);
	return true;
}

/* Start a run of the schedule itself that has waited. */
static bool
start_queued(void *arg)
{
	Try		   *try = arg;

	(void) start(try->s, try->scheduled);
	sf_schedule_wait_delete(try->wait);
	return true;
}

/* Start a run that has waited, if it needs wait no more; tells whether a run of sf_backfill runs now. */
static bool
start_waiting(Look *look, const SfScheduleWait *wait, int running)
{
	SfSchedule *s = look->s;
	Try			try = {.scheduled = wait->scheduled_for,.wait = wait};

	if (wait->execution_id != NULL)
	{
		if (runs(wait->execution_id))
			return true;
		sf_schedule_wait_delete(wait);
	}
	else if (wait->max_running > 0)
	{
		if (running < wait->max_running && may_try(look))
			(void) try_start(look, start_backfill, &try);
	}
	else if ((sf_option_overlap(s->overlap) == SF_OVERLAP_PARALLEL ||
			  !runs(s->last_execution_id)) && may_try(look))
		(void) try_start(look, start_queued, &try);
	return try.running;
}

/* Start runs that have waited and need wait no more. */
static void
start_all_waiting(Look *look)
{
	int			running = 0;
	ListCell   *lc;

	foreach(lc, sf_schedule_wait_read(look->s->name))
	{
		CHECK_FOR_INTERRUPTS();
		if (start_waiting(look, lfirst(lc), running))
			running++;
	}
}

/* --- looking at all schedules --- */

/* A look at one schedule by its name */
typedef struct NamedLook
{
	const char *name;
	TimestampTz now;
	bool		more;			/* set: runs are left that could start now */
} NamedLook;

/* Deal with what a schedule has missed, and with its runs that wait. */
static bool
look_at(void *arg)
{
	NamedLook  *named = arg;
	TimestampTz until = TimestampTzPlusMilliseconds(named->now, -CATCH_UP_MS);
	Look		look = {.s = sf_schedule_row_read(named->name, SF_LOCK_SKIP)};
	TimestampTz last;

	if (look.s == NULL)
		return true;
	start_all_waiting(&look);
	look.moments = sf_moments_begin(look.s);
	switch (sf_pg_cron_job_state(look.s->job_id))
	{
		case SF_CRON_JOB_ACTIVE:
			(void) handle_missed(&look, until, named->now);
			break;
		case SF_CRON_JOB_INACTIVE:
			/* runs of a time when the job was switched off are not missed */
			if (find_missed(look.s, &look.moments, until, &last))
				sf_schedule_row_set_handled(named->name, last, DT_NOBEGIN);
			break;
		case SF_CRON_JOB_GONE:
			break;
	}
	named->more = look.more;
	return true;
}

/* Note that a schedule cannot be dealt with. */
static void
note_failed_look(const char *name, const char *error)
{
	const SfSchedule *s = sf_schedule_row_read(name, SF_LOCK_NONE);

	if (s != NULL)
		note_run(s, SF_RUN_FAILED, DT_NOBEGIN, NULL, error);
}

/*
 * Look at all schedules: start runs that were missed or have waited.  Tells what is
 * left.
 */
SfRunsLeft
sf_due_runs_look(TimestampTz now)
{
	bool		more = false;
	ListCell   *lc;

	foreach(lc, sf_schedule_row_names())
	{
		NamedLook	look = {.name = lfirst(lc),.now = now};
		ErrorData  *error;

		CHECK_FOR_INTERRUPTS();
		error = sf_subtransaction_run(look_at, NULL, &look);
		if (error != NULL)
		{
			rethrow_cancel(error);
			/* the next look tries again */
			if (log_failure(look.name, error))
				note_failed_look(look.name, error->message);
		}
		else if (look.more)
			more = true;
	}
	return more ? SF_RUNS_DUE : sf_schedule_wait_any() ? SF_RUNS_WAIT : SF_RUNS_NONE;
}
