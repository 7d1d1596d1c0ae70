/*
 * due_runs.c
 *		Starting the runs of schedules: when they are due, missed, or have waited.
 *
 * pg_cron calls a schedule when a run is due.  handled_until in the schedule's row is
 * the latest time that was dealt with: later times up to now were missed, because the
 * server was down or pg_cron did not work.  The call deals with them before its own
 * run, which is the one that makes up for them if one is to (run_once).  A worker, or sf_run_due, sweeps all
 * schedules now and then: it deals with times that were due SWEPT_AFTER_MS ago, and starts runs that waited.
 *
 * A call and a sweep may find the same time.  Both lock the schedule's row, and the
 * name of the execution says the time, so a run starts once.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/hooks.h"
#include "base/time/timing.h"
#include "feature/schedule/noted_runs.h"
#include "feature/schedule/pg_cron.h"
#include "feature/schedule/schedule.h"
#include "run/gate/gate.h"
#include "store/bounded_sweep.h"
#include "store/execution/execution.h"

/* Sweeps deal with what was due so long ago: before, pg_cron may still call, late by some seconds */
#define SWEPT_AFTER_MS		(2 * 60 * 1000)

/* Runs of a schedule that wait at once */
#define MAX_PENDING		1000

/*
 * Subtransactions that write in one transaction: starts of runs, and the schedules that a sweep locks.  More would make
 * the snapshots of other sessions overflow (above PGPROC_MAX_CACHED_SUBXIDS).
 */
#define MAX_WRITING		50

/* --- one run --- */

/* Tell whether an execution runs. */
static bool
runs(const char *execution_id)
{
	SfExecution *execution = execution_id == NULL ? NULL :
		sf_execution_find(execution_id, SF_LOCK_NONE);

	return execution != NULL && execution->status == SF_STATUS_RUNNING;
}

/* A run of a schedule has started, or has not. */
static void
tell_run(const SfSchedule *schedule, SfRunOutcome outcome, TimestampTz scheduled_for,
		 const char *execution_id, const char *error)
{
	SfNotice	notice = {.kind = SF_CHANGE_SCHEDULE_RUN,.at = GetCurrentTimestamp()};
	const char *status = sf_schedule_outcome_in_event(outcome);
	SfJsonBuilder json;

	if (status == NULL)
		return;
	sf_schedule_notice(&notice, schedule->name);
	if (execution_id != NULL)
		notice.execution = sf_execution_find(execution_id, SF_LOCK_NONE);
	sf_notice_begin_detail(&json, &notice);
	sf_json_add_string(&json, "schedule", schedule->name);
	sf_json_add_string(&json, "status", status);
	sf_notice_add_date(&json, "scheduledDate", scheduled_for);
	sf_notice_add_text(&json, "error", error);
	sf_notice_tell(&notice, &json);
}

/* Note what became of a run, and tell of it, once. */
static void
note_run(const SfSchedule *schedule, SfRunOutcome outcome, TimestampTz scheduled_for,
		 const char *execution_id, const char *error)
{
	bool		is_news = sf_feature_wants_notice(SF_CHANGE_SCHEDULE_RUN, NULL) &&
		(scheduled_for == DT_NOBEGIN || !sf_schedule_is_noted(schedule->name, outcome, scheduled_for));

	sf_schedule_note(schedule->name, outcome, scheduled_for, execution_id, error);
	if (is_news)
		tell_run(schedule, outcome, scheduled_for, execution_id, error);
}

/* Start a run of the schedule itself; returns the id of its execution. */
static char *
start(SfSchedule *schedule, TimestampTz scheduled)
{
	schedule->last_execution_id = sf_schedule_start(schedule, scheduled);
	SF_TELL_PROVIDER(holds, on_scheduled, schedule->name, schedule->last_execution_id);
	sf_schedule_set_last(schedule->name, schedule->last_execution_id);
	note_run(schedule, SF_RUN_OUTCOME_SUCCEEDED, scheduled, schedule->last_execution_id, NULL);
	return schedule->last_execution_id;
}

/* Tell whether a run starts at once, though others may run or wait. */
static bool
starts_now(const SfSchedule *schedule, TimestampTz scheduled, SfOverlap overlap, int pending)
{
	/* a run that is delivered twice gets the execution of the first */
	return overlap == SF_OVERLAP_PARALLEL ||
		sf_schedule_is_noted(schedule->name, SF_RUN_OUTCOME_SUCCEEDED, scheduled) ||
		(pending == 0 && !runs(schedule->last_execution_id));
}

/* Have a run wait. */
static void
enqueue(const SfSchedule *schedule, TimestampTz scheduled)
{
	if (sf_pending_run_queue(schedule->name, scheduled))
		note_run(schedule, SF_RUN_OUTCOME_QUEUED, scheduled, NULL, NULL);
}

/* Start a run, or have it wait or left out if the one before still runs: NULL. */
static char *
run(SfSchedule *schedule, TimestampTz scheduled, SfOverlap overlap)
{
	int			pending = sf_pending_run_count(schedule->name);

	if (starts_now(schedule, scheduled, overlap, pending))
		return start(schedule, scheduled);
	if (overlap == SF_OVERLAP_SKIP || pending >= MAX_PENDING)
		note_run(schedule, SF_RUN_OUTCOME_OVERLAPPED, scheduled, NULL, NULL);
	else
		enqueue(schedule, scheduled);
	return NULL;
}

/* --- starts that may fail --- */

/* How far the starts of a transaction have come */
typedef struct Starts
{
	int			left;			/* subtransactions that may still write in this transaction */
	int			started;		/* runs */
	bool		more;			/* runs are left that could start now */
	bool		put_off;		/* one is left that needs what another transaction has */
} Starts;

/* What is done for one schedule in a transaction */
typedef struct ScheduleSweep
{
	SfSchedule *s;
	SfTimeSearch search;
	Starts		starts;
} ScheduleSweep;

/* A start that is tried */
typedef struct Try
{
	SfSchedule *s;
	TimestampTz scheduled;
	SfOverlap	overlap;
	const SfPendingRun *pending;	/* of a run that has waited; NULL: it has not */
	bool		running;		/* set: a run of sf_backfill runs now */
} Try;

/* Tell whether a sweep may try one more start; if not, a later one does. */
static bool
may_try(ScheduleSweep *sweep)
{
	if (sweep->starts.left > 0)
		return true;
	/* with nothing started the next sweep would try the same ones */
	sweep->starts.more = sweep->starts.started > 0;
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
	char	   *last = sf_schedule_last_failure(schedule);

	if (last != NULL && strcmp(last, error->message) == 0)
		return false;
	ereport(LOG,
			(errmsg("sfflow cannot start a run of schedule \"%s\": %s", schedule,
					error->message)));
	return true;
}

/*
 * Try a start in a subtransaction: if it fails, that is noted, and other runs go on.  What another transaction has for
 * longer than a moment, such as the row of a start key, is no failure: a later sweep tries again.
 */
static bool
try_start(ScheduleSweep *sweep, bool (*work) (void *arg), Try *try)
{
	SfSchedule *schedule = sweep->s;
	char	   *last_execution_id = schedule->last_execution_id;
	ErrorData  *error;

	sweep->starts.left--;
	try->s = schedule;
	error = sf_subtransaction_run_within(SF_NEXT_ROW_LOCK_MS, work, try);
	if (error == NULL)
	{
		sweep->starts.started++;
		return true;
	}
	rethrow_cancel(error);
	schedule->last_execution_id = last_execution_id;
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
	{
		sweep->starts.put_off = true;
		return false;
	}
	(void) log_failure(schedule->name, error);
	if (!sf_schedule_is_noted(schedule->name, SF_RUN_OUTCOME_FAILED, try->scheduled))
		note_run(schedule, SF_RUN_OUTCOME_FAILED, try->scheduled, NULL, error->message);
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

/* Run one of all runs that were missed, or have it wait; false: a later sweep has to. */
static bool
run_one_of_all(ScheduleSweep *sweep, TimestampTz scheduled, SfOverlap overlap)
{
	SfSchedule *schedule = sweep->s;
	int			pending = sf_pending_run_count(schedule->name);

	if (starts_now(schedule, scheduled, overlap, pending))
	{
		Try			try = {.scheduled = scheduled,.overlap = overlap};

		if (!may_try(sweep))
			return false;
		/* later sweeps try again, with those that wait */
		if (!try_start(sweep, run_missed, &try))
			(void) sf_pending_run_queue(schedule->name, scheduled);
		return true;
	}
	if (pending >= MAX_PENDING)
		return false;
	enqueue(schedule, scheduled);
	return true;
}

/*
 * Run all that was missed, one after the other unless the schedule runs them in
 * parallel; the time up to which that was done.  Later sweeps do the rest.
 */
static TimestampTz
run_all(ScheduleSweep *sweep, TimestampTz from, TimestampTz last)
{
	SfOverlap	overlap = sweep->s->overlap;
	TimestampTz done = from;
	TimestampTz at = from;

	if (overlap == SF_OVERLAP_SKIP)
		overlap = SF_OVERLAP_QUEUE;
	while (done != last && sf_time_search_next(&sweep->search, at, &at) &&
		   run_one_of_all(sweep, at, overlap))
	{
		CHECK_FOR_INTERRUPTS();
		done = at;
	}
	return done;
}

/* Run the latest run that was missed; false: it could not start. */
static bool
run_latest(ScheduleSweep *sweep, TimestampTz last)
{
	Try			try = {.scheduled = last,.overlap = sweep->s->overlap};

	return try_start(sweep, run_missed, &try);
}

/*
 * Deal with the runs that were due up to a time and did not come, as the schedule
 * says; false: some are left to later sweeps.  now: the time of the sweep.
 */
static bool
handle_missed(ScheduleSweep *sweep, TimestampTz until, TimestampTz now)
{
	SfSchedule *schedule = sweep->s;
	TimestampTz missed_at = DT_NOBEGIN;
	TimestampTz last;
	TimestampTz done;

	if (!sf_schedule_find_missed(schedule, &sweep->search, until, &last))
		return true;
	done = last;
	switch (schedule->missed)
	{
		case SF_MISSED_RUN_ONCE:
			/* those that were due since then are of the same downtime; should one come late, it is the same run */
			(void) sf_time_search_latest(&sweep->search, now, &last);
			done = last;
			if (!run_latest(sweep, last))
				return false;
			break;
		case SF_MISSED_RUN_ALL:
			done = run_all(sweep, sf_schedule_expected_from(schedule, &sweep->search), last);
			break;
		case SF_MISSED_SKIP:
			note_run(schedule, SF_RUN_OUTCOME_GIVEN_UP, last, NULL, NULL);
			missed_at = last;
			break;
	}
	schedule->handled_until = done;
	sf_schedule_set_handled(schedule->name, done, missed_at);
	return done == last;
}

/* Tell whether a run has to be left to later sweeps, which lose none: the queue before it is full. */
static bool
is_left_to_sweeps(const ScheduleSweep *sweep, bool caught_up)
{
	const SfSchedule *schedule = sweep->s;

	return schedule->missed == SF_MISSED_RUN_ALL &&
		(!caught_up || (schedule->overlap == SF_OVERLAP_QUEUE &&
						sf_pending_run_count(schedule->name) >= MAX_PENDING));
}

/*
 * Start the run for which pg_cron calls a schedule, whose row is locked.  Returns
 * the id of the execution; NULL if none starts now.
 */
char *
sf_due_run_called(SfSchedule *schedule, TimestampTz now)
{
	ScheduleSweep sweep = {.s = schedule,.search = sf_time_search_begin(schedule),.starts.left = MAX_WRITING};
	TimestampTz scheduled;
	char	   *execution_id = NULL;
	bool		caught_up = true;

	if (!sf_schedule_find_match(schedule, &sweep.search, now, &scheduled))
	{
		note_run(schedule, SF_RUN_OUTCOME_NO_MATCH, DT_NOBEGIN, NULL, NULL);
		return NULL;
	}
	/* where one run makes up for all that was missed, this is the one */
	if (schedule->missed != SF_MISSED_RUN_ONCE)
		caught_up = handle_missed(&sweep, scheduled - 1, now);
	if (is_left_to_sweeps(&sweep, caught_up))
		note_run(schedule, SF_RUN_OUTCOME_QUEUED, scheduled, NULL, NULL);
	else
	{
		execution_id = run(schedule, scheduled, schedule->overlap);
		sf_schedule_set_handled(schedule->name, scheduled, DT_NOBEGIN);
	}
	if (sweep.starts.more || sf_pending_run_is_any())
		sf_hooks.runs_wait();
	return execution_id;
}

/* --- runs that have waited --- */

/* Start a run of sf_backfill; sets whether it runs now. */
static bool
start_backfill(void *arg)
{
	Try		   *try = arg;
	const SfPendingRun *pending = try->pending;
	char	   *execution_id = sf_schedule_start(try->s, pending->scheduled_for);

	SF_TELL_PROVIDER(holds, on_scheduled, pending->schedule, execution_id);
	note_run(try->s, SF_RUN_OUTCOME_SUCCEEDED, pending->scheduled_for, execution_id, NULL);
	try->running = runs(execution_id);
	if (try->running)
		sf_pending_run_started(pending, execution_id);
	else
		sf_pending_run_delete(pending);
	return true;
}

/* Start a run of the schedule itself that has waited. */
static bool
start_queued(void *arg)
{
	Try		   *try = arg;

	(void) start(try->s, try->scheduled);
	sf_pending_run_delete(try->pending);
	return true;
}

/* Start a run that has waited, if it needs wait no more; tells whether a run of sf_backfill runs now. */
static bool
start_pending(ScheduleSweep *sweep, const SfPendingRun *pending, int running)
{
	SfSchedule *schedule = sweep->s;
	Try			try = {.scheduled = pending->scheduled_for,.pending = pending};

	switch (pending->kind)
	{
		case SF_PENDING_RUN_RUNNING:
			if (runs(pending->execution_id))
				return true;
			sf_pending_run_delete(pending);
			break;
		case SF_PENDING_RUN_BACKFILL:
			if (running < pending->max_running && may_try(sweep))
				(void) try_start(sweep, start_backfill, &try);
			break;
		case SF_PENDING_RUN_QUEUED:
			if ((schedule->overlap == SF_OVERLAP_PARALLEL ||
				 !runs(schedule->last_execution_id)) && may_try(sweep))
				(void) try_start(sweep, start_queued, &try);
			break;
	}
	return try.running;
}

/* Start runs that have waited and need wait no more. */
static void
start_all_pending(ScheduleSweep *sweep)
{
	int			running = 0;
	ListCell   *lc;

	foreach(lc, sf_pending_run_read(sweep->s->name))
	{
		CHECK_FOR_INTERRUPTS();
		if (start_pending(sweep, lfirst(lc), running))
			running++;
	}
}

/* --- sweeping all schedules --- */

/* A sweep of all schedules, which is at one of them */
typedef struct AllSweep
{
	const char *name;
	TimestampTz now;
	Starts		starts;			/* of this schedule; left and put_off of all so far */
	bool		more;			/* one of those so far has started runs, and has more that could start */
} AllSweep;

/* Is there something to do for a schedule?  This locks nothing, so its subtransaction gets no number. */
static bool
is_due(const SfSchedule *schedule, TimestampTz until, SfSearchTime *time)
{
	SfTimeSearch search;
	TimestampTz last;

	if (sf_pending_run_read(schedule->name) != NIL)
		return true;
	if (sf_pg_cron_job_status(schedule->cron_job_id) == SF_CRON_JOB_GONE)
		return false;
	search = sf_time_search_begin(schedule);
	sf_time_search_limit(&search, time);
	return sf_schedule_find_missed(schedule, &search, until, &last);
}

/* Deal with what a schedule, whose row is locked, has missed, and with its runs that wait. */
static void
sweep_locked(ScheduleSweep *sweep, TimestampTz until, TimestampTz now, SfSearchTime *time)
{
	TimestampTz last;

	start_all_pending(sweep);
	sweep->search = sf_time_search_begin(sweep->s);
	sf_time_search_limit(&sweep->search, time);
	switch (sf_pg_cron_job_status(sweep->s->cron_job_id))
	{
		case SF_CRON_JOB_ACTIVE:
			(void) handle_missed(sweep, until, now);
			break;
		case SF_CRON_JOB_INACTIVE:
			/* runs of a time when the job was switched off are not missed */
			if (sf_schedule_find_missed(sweep->s, &sweep->search, until, &last))
				sf_schedule_set_handled(sweep->s->name, last, DT_NOBEGIN);
			break;
		case SF_CRON_JOB_GONE:
			break;
	}
}

/* Sweep a schedule. */
static bool
sweep_one(void *arg)
{
	AllSweep   *all = arg;
	TimestampTz until = TimestampTzPlusMilliseconds(all->now, -SWEPT_AFTER_MS);
	const SfSchedule *seen = sf_schedule_read(all->name, SF_LOCK_NONE);
	SfSearchTime time = sf_search_time();
	ScheduleSweep sweep = {0};

	if (seen == NULL || !is_due(seen, until, &time))
		return true;
	all->starts.left--;
	sweep.starts = all->starts;
	sweep.s = sf_schedule_read(all->name, SF_LOCK_SKIP);
	if (sweep.s == NULL)
		return true;
	sweep_locked(&sweep, until, all->now, &time);
	all->starts = sweep.starts;
	return true;
}

/* Note that a schedule cannot be dealt with. */
static void
note_failed_sweep(const char *name, const char *error)
{
	const SfSchedule *schedule = sf_schedule_read(name, SF_LOCK_NONE);

	if (schedule != NULL)
		note_run(schedule, SF_RUN_OUTCOME_FAILED, DT_NOBEGIN, NULL, error);
}

/* Sweep a schedule; what cannot be done is noted, and the next sweep tries again. */
static void
try_sweep(AllSweep *sweep)
{
	ErrorData  *error = sf_subtransaction_run(sweep_one, NULL, sweep);

	if (error == NULL)
		return;
	rethrow_cancel(error);
	sweep->starts.started = 0;
	sweep->starts.more = false;
	if (log_failure(sweep->name, error))
		note_failed_sweep(sweep->name, error->message);
}

/* Sweep the schedules that a round has still to deal with, some of them; returns how many. */
static int
sweep_turns(SfBoundedSweep *bounds, AllSweep *sweep, List *turns)
{
	foreach_ptr(const SfScheduleTurn, turn, turns)
	{
		/* for the schedule and a run of it */
		if (sweep->starts.left < 2 || !sf_bounded_sweep_goes_on(bounds))
			return foreach_current_index(turn);
		CHECK_FOR_INTERRUPTS();
		sweep->name = turn->name;
		sweep->starts.started = 0;
		sweep->starts.more = false;
		try_sweep(sweep);
		sweep->more |= sweep->starts.more;
	}
	return list_length(turns);
}

/*
 * Sweep all schedules: start runs that were missed or have waited, while no other process does.  A sweep that has
 * written as much as one transaction should, or has taken long, ends before it has come to all of them, and the next
 * one goes on with the round.  Once that is over, there is no hurry unless it has started runs and left some that could
 * start.  Tells what is left; *next: when to sweep again, also for starts that need what another transaction has.
 */
SfRunsLeft
sf_due_runs_sweep(TimestampTz now, TimestampTz *next)
{
	static bool round_leaves_more = false;
	AllSweep	sweep = {.now = now,.starts.left = MAX_WRITING};
	SfBoundedSweep bounds;
	List	   *turns;
	bool		more;

	*next = DT_NOEND;
	if (!sf_bounded_sweep_begin(&bounds, "schedule"))
	{
		*next = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), SF_SWEEP_LOOK_AGAIN_MS);
		return sf_pending_run_is_any() ? SF_RUNS_LEFT_WAIT : SF_RUNS_LEFT_NONE;
	}
	turns = sf_schedule_turns();
	more = !sf_schedule_turns_taken(turns, sweep_turns(&bounds, &sweep, turns));
	sf_bounded_sweep_end(&bounds);
	round_leaves_more |= sweep.more;
	if (!more)
	{
		more = round_leaves_more;
		round_leaves_more = false;
	}
	if (sweep.starts.put_off)
		*next = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), SF_LOCKED_PUT_OFF_MS);
	return more ? SF_RUNS_LEFT_DUE : sf_pending_run_is_any() ? SF_RUNS_LEFT_WAIT : SF_RUNS_LEFT_NONE;
}
