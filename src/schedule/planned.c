/*
 * planned.c
 *		The runs of a schedule that have no execution: those to come, and those that
 *		did not start.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "schedule/planned.h"
#include "store/hold.h"
#include "store/schedule_wait.h"

/* Runs to come that are listed of one schedule */
#define MAX_TO_COME		10

/* Append a run. */
static List *
append_run(List *runs, TimestampTz at, const char *state, const char *problem)
{
	SfPlannedRun *run = palloc(sizeof(SfPlannedRun));

	run->at = at;
	run->state = state;
	run->problem = problem;
	return lappend(runs, run);
}

/* How the outcome of a run that did not start is shown. */
static const char *
shown_outcome(const char *outcome)
{
	return strcmp(outcome, SF_RUN_OVERLAPPED) == 0 ? "SKIPPED" :
		strcmp(outcome, SF_RUN_MISSED) == 0 ? "MISSED" : "FAILED";
}

/* Append the runs that were noted as ones that did not start. */
static List *
append_unstarted(List *runs, const SfSchedule *s, TimestampTz since, TimestampTz until)
{
	foreach_ptr(const SfUnstartedRun, run, sf_schedule_row_unstarted(s->name, since, until))
		runs = append_run(runs, run->at, shown_outcome(run->outcome), run->message);
	return runs;
}

/* Append the runs that wait for earlier ones. */
static List *
append_waiting(List *runs, const SfSchedule *s, TimestampTz since, TimestampTz until)
{
	foreach_ptr(const SfScheduleWait, wait, sf_schedule_wait_read(s->name))
		if (wait->execution_id == NULL && wait->scheduled_for >= since && wait->scheduled_for < until)
			runs = append_run(runs, wait->scheduled_for, "QUEUED", "waits for an earlier run to end");
	return runs;
}

/* Is a run in the list? */
static bool
is_listed(List *runs, TimestampTz at)
{
	foreach_ptr(const SfPlannedRun, run, runs)
		if (run->at == at)
			return true;
	return false;
}

/* Append the runs to come. */
static List *
append_to_come(List *runs, const SfSchedule *s, TimestampTz from, TimestampTz until,
			   const char *problem)
{
	SfMoments	moments = sf_moments_begin(s);
	TimestampTz at = from;

	if (sf_hold_of(SF_HOLD_SCHEDULE, s->name) != NULL)
		problem = "held";
	for (int n = 0; n < MAX_TO_COME && sf_moments_next(&moments, at, &at) && at < until; n++)
		if (!is_listed(runs, at))
			runs = append_run(runs, at, "DUE", problem);
	return runs;
}

/*
 * List the runs of a schedule without an execution from one time up to another, as
 * SfPlannedRun: at most ten of those to come.  A schedule that does not run has one of
 * no time, which says why.
 */
List *
sf_planned_runs(const SfSchedule *s, TimestampTz since, TimestampTz until, TimestampTz now)
{
	SfScheduleStatus status = sf_schedule_status(s);
	List	   *runs = append_unstarted(NIL, s, since, until);

	runs = append_waiting(runs, s, since, until);
	if (status.missed_at >= since && status.missed_at < until && !is_listed(runs, status.missed_at))
		runs = append_run(runs, status.missed_at, "MISSED", status.problem);
	if (strcmp(status.state, "inactive") == 0)
		return append_run(runs, DT_NOEND, "INACTIVE", "its pg_cron job is switched off");
	if (strcmp(status.state, "gone") == 0 || strcmp(status.state, "not driven") == 0 ||
		sf_schedule_unusable(s) != NULL)
		return append_run(runs, DT_NOEND, "FAILING", status.problem);
	return append_to_come(runs, s, Max(now, since - 1), until,
						  strcmp(status.state, "failing") == 0 ? status.problem : NULL);
}
