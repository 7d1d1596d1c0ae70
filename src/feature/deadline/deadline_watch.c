/*
 * deadline_watch.c
 *		Watching deadlines: what is late, will be late, or has never started.
 *
 * A deadline is a time of day in a zone: each night has one moment by which its target
 * is to have started, and one by which it is to have ended.  What a moment is about:
 *
 *	schedule	the latest run before the moment, if no earlier moment lies between them
 *	machine		executions that were requested in the HALF_NIGHT before the start, or
 *				without a start in the day before the end, and later up to the moment
 *	job			that job in these executions
 *
 * A calendar leaves out nights by their day: that of the run, else that of the moment
 * of the start, or without one of the end.
 *
 * next_at in the deadline's row says when to check it again: at the next moment, or earlier
 * when, by then, too little time would be left (will_be_late).  A worker that scans for
 * everything due sweeps what is due here, and has its next scan at the earliest
 * next_at.  So a sweep locks the row, raises what is late, once, since its key in
 * _sfflow.lateness is unique, and sets next_at, in one transaction.
 *
 * One process sweeps at a time, and not for long (store/bounded_sweep.c).  A deadline whose calendars take much longer
 * is put off.
 *
 * What was raised is checked again, once a RECHECK, until it has happened.
 *
 * A night may have more executions than one sweep can read.  A sweep is a sequence of
 * steps: one for each moment that has come, also of a day that the calendar leaves out, one
 * for the end to come, one for each row of what is late.  Each step goes through the
 * executions of a night page by page, and only the first step that is not over reads a
 * page.  If more follow, the deadline's row takes the step and the position (walk_…), the
 * deadline is due again at once, and the next sweep goes on there, with the time of the
 * sweep that began.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "feature/deadline/deadline.h"
#include "store/bounded_sweep.h"

/* Deadlines of one sweep, each in a subtransaction: more would make snapshots overflow */
#define MAX_CHECKED		50

/* An execution that was requested that long before the start belongs to the night */
#define HALF_NIGHT		(12 * USECS_PER_HOUR)

/* Moments longer ago than this are not checked: the server was down that long */
#define LOOK_BACK		(24 * USECS_PER_HOUR)

/* What is late, and what is near to it, is checked that often */
#define RECHECK		USECS_PER_MINUTE

/* What does not run now, and may go on, is checked that often */
#define RECHECK_IDLE		(10 * USECS_PER_MINUTE)

/* A deadline that cannot be dealt with is checked again after this */
#define AFTER_ERROR		USECS_PER_HOUR

/* The check of one deadline */
typedef struct Check
{
	TimestampTz now;
	SfDeadline *deadline;
	SfDeadlineTarget target;
	pg_tz	   *zone;
	SfCron		start;
	SfCron		end;
	SfTimeSearch search;		/* of a schedule */
	SfCalendar *calendar;		/* or NULL */
	SfDays	   *days;			/* some days of it; NULL: none so far */
	TimestampTz next_at;
	SfSearchTime time;			/* that is left for the days of both calendars */
	int			step;			/* that comes next */
	bool		is_cut;			/* a step has more pages: the rest is for the next sweep */
} Check;

/* The moment of a night by which the target is to have started, or ended */
typedef struct Occurrence
{
	SfDueBy		due_by;
	const SfCron *cron;
	TimestampTz at;
	TimestampTz base_at;		/* the run, or when the night began */
} Occurrence;

/* --- moments --- */

/* The expression that matches each day at a minute of it. */
static SfCron
daily(int minute)
{
	SfCron		cron;
	char	   *problem;

	if (!sf_cron_parse(psprintf("%d %d * * *", minute % 60, minute / 60 % 24), &cron, &problem))
		elog(ERROR, "invalid minute of a day: %d", minute);
	return cron;
}

/* The moment of a day before another one. */
static TimestampTz
before(const Check *check, const SfCron *cron, TimestampTz at)
{
	TimestampTz found;

	return sf_cron_latest(cron, at - 1, check->zone, &found) ? found : at - USECS_PER_DAY;
}

/* Does the calendar have the local day of a time? */
static bool
is_picked(Check *check, TimestampTz at)
{
	int			day;

	if (check->calendar == NULL)
		return true;
	day = sf_cron_local_day(at, check->zone);
	if (check->days == NULL || day < check->days->first || day > check->days->last)
	{
		if (check->days != NULL)
			sf_days_free(check->days);
		/* the moments of a sweep lie near to each other */
		check->days = sf_calendar_days(check->calendar, day - 1, day + 2, SF_ON_CLOSED_SKIP, NULL, NULL);
	}
	return sf_days_marked(check->days, day);
}

/* Find the run of the schedule that a moment is about; false: it is about none. */
static bool
find_run(Check *check, Occurrence *occurrence)
{
	return sf_time_search_latest(&check->search, occurrence->at - 1, &occurrence->base_at) &&
		occurrence->base_at >= before(check, occurrence->cron, occurrence->at) && is_picked(check, occurrence->base_at);
}

/* Find when the night of a moment began; false: it is no night of the calendar. */
static bool
find_night(Check *check, Occurrence *occurrence)
{
	bool		has_start = check->deadline->start_minute != SF_NO_MINUTE;
	TimestampTz start = !has_start || occurrence->cron == &check->start ? occurrence->at :
		before(check, &check->start, occurrence->at);

	occurrence->base_at = has_start ? start - HALF_NIGHT : before(check, occurrence->cron, occurrence->at);
	return is_picked(check, start);
}

/*
 * Find what a moment is about; false: nothing.  That counts as a step, too: whether the
 * calendar has the day may change until the next sweep goes on.
 */
static bool
find_base(Check *check, Occurrence *occurrence)
{
	bool		found = check->deadline->kind == SF_DEADLINE_KIND_SCHEDULE ? find_run(check, occurrence) :
		find_night(check, occurrence);

	if (!found)
		check->step++;
	return found;
}

/* --- judging --- */

/* Note that a deadline has to be checked by a time. */
static void
check_by(Check *check, TimestampTz at)
{
	check->next_at = Min(check->next_at, at);
}

/* Raise what is late, if it was not raised before; execution_no may be SF_NOTHING_STARTED. */
static void
raise_late(Check *check, const Occurrence *occurrence, SfFinding finding, int64 execution_no, TimestampTz expected_at)
{
	SfLateness	lateness = {
		.target = check->deadline->target,
		.deadline_at = occurrence->at,
		.due_by = occurrence->due_by,
		.finding = finding,
		.base_at = occurrence->base_at,
		.execution_no = execution_no,
		.expected_at = expected_at,
		.raised_at = check->now
	};

	/* an end that comes to nothing, as the start did, is no news */
	if (finding == SF_FINDING_NEVER_STARTED && sf_lateness_is_raised(lateness.target, lateness.base_at, finding))
		return;
	if (!sf_lateness_insert(&lateness))
		return;
	sf_deadline_notice(check->deadline, &lateness, false, check->now);
	sf_deadline_notice_alert(&lateness, SF_ALERT_OPENED, check->now);
	check_by(check, check->now + RECHECK);
}

/* Did the sweep before end within a step, which this one goes on with? */
static bool
goes_on_at(const SfDeadline *deadline, int step)
{
	return sf_deadline_is_walking(deadline) && step == deadline->walk_step;
}

/*
 * Read the next page of a step: of the executions of a night that were requested until
 * a time, those that were not done by another.  False: an earlier sweep has dealt with the
 * step, or a later one will.
 */
static bool
read_page(Check *check, const Occurrence *occurrence, TimestampTz until, TimestampTz done_by, SfDeadlinePage *page)
{
	const SfDeadline *deadline = check->deadline;
	int			step = check->step++;
	bool		goes_on = goes_on_at(deadline, step);

	if (check->is_cut || (sf_deadline_is_walking(deadline) && step < deadline->walk_step))
		return false;
	*page = sf_deadline_items(&check->target, occurrence->base_at, goes_on ? deadline->walk_at : DT_NOBEGIN, until,
							  done_by);
	page->found = page->found || (goes_on && deadline->walk_found);
	return true;
}

/* The first late execution that earlier pages of the step have had that reads its next page, or SF_NOTHING_LATE. */
static int64
late_before(const Check *check)
{
	return goes_on_at(check->deadline, check->step - 1) ? check->deadline->walk_late_no : SF_NOTHING_LATE;
}

/* End a sweep after a page of a step, if more pages follow. */
static bool
cut_after(Check *check, const SfDeadlinePage *page, int64 late_no)
{
	SfDeadline *deadline = check->deadline;

	if (page->last_at == DT_NOEND)
		return false;
	check->is_cut = true;
	deadline->walk_step = check->step - 1;
	deadline->walk_now = check->now;
	deadline->walk_at = page->last_at;
	deadline->walk_late_no = late_no;
	deadline->walk_found = page->found;
	return true;
}

/* What has happened when: the start of an item, or its end. */
static TimestampTz
happened_at(const Occurrence *occurrence, const SfDeadlineItem *item)
{
	return occurrence->due_by == SF_DUE_BY_START ? item->begun_at : item->done_at;
}

/* What a step has found */
typedef enum StepResult
{
	RESULT_UNKNOWN,				/* the step is for another sweep */
	RESULT_IN_TIME,
	RESULT_LATE,
	RESULT_NEVER_STARTED
} StepResult;

/*
 * Find what of a night, requested until a time, had not happened by another: nothing has
 * started, or an execution is late, the first of which is *late_no.  One that has started in
 * time is enough for a start; all have to have ended.
 */
static StepResult
find_late(Check *check, const Occurrence *occurrence, TimestampTz until, TimestampTz by, int64 *late_no)
{
	bool		is_start = occurrence->due_by == SF_DUE_BY_START;
	SfDeadlinePage page;

	if (!read_page(check, occurrence, until, is_start ? DT_NOBEGIN : by, &page))
		return RESULT_UNKNOWN;
	*late_no = late_before(check);
	foreach_ptr(const SfDeadlineItem, item, page.items)
	{
		bool		happened = happened_at(occurrence, item) <= by;

		if (happened && is_start)
			return RESULT_IN_TIME;
		if (!happened && *late_no == SF_NOTHING_LATE)
			*late_no = item->execution->execution_no;
	}
	if (*late_no != SF_NOTHING_LATE && !is_start)
		return RESULT_LATE;
	if (cut_after(check, &page, *late_no))
		return RESULT_UNKNOWN;
	return *late_no != SF_NOTHING_LATE ? RESULT_LATE : page.found ? RESULT_IN_TIME : RESULT_NEVER_STARTED;
}

/* Judge a moment that has come. */
static void
judge(Check *check, Occurrence *occurrence)
{
	int64		late_no;

	if (!find_base(check, occurrence))
		return;
	switch (find_late(check, occurrence, occurrence->at, occurrence->at, &late_no))
	{
		case RESULT_LATE:
			raise_late(check, occurrence, SF_FINDING_LATE, late_no, DT_NOEND);
			break;
		case RESULT_NEVER_STARTED:
			raise_late(check, occurrence, SF_FINDING_NEVER_STARTED, SF_NOTHING_STARTED, DT_NOEND);
			break;
		case RESULT_UNKNOWN:
		case RESULT_IN_TIME:
			break;
	}
}

/* When the last of some executions of a night is expected to be done; DT_NOEND: not known. */
static TimestampTz
expect_last(const Check *check, List *items, int64 *last_no)
{
	TimestampTz latest = DT_NOBEGIN;

	foreach_ptr(const SfDeadlineItem, item, items)
	{
		TimestampTz expected = item->done_at != DT_NOEND ? DT_NOEND :
			sf_deadline_expect(&check->target, item, check->now);

		if (expected == DT_NOEND || expected <= latest)
			continue;
		latest = expected;
		*last_no = item->execution->execution_no;
	}
	return latest == DT_NOBEGIN ? DT_NOEND : latest;
}

/* Is one of some executions not done? */
static bool
has_undone(List *items)
{
	foreach_ptr(const SfDeadlineItem, item, items)
		if (item->done_at == DT_NOEND)
			return true;
	return false;
}

/* Check again when an end is near that is expected then if all begins now; it will be late from then on. */
static void
check_before(Check *check, const Occurrence *occurrence, TimestampTz begin, TimestampTz expected)
{
	check_by(check, Min(occurrence->at, begin + Max(occurrence->at - expected + 1, RECHECK)));
}

/* Look ahead to an end that has not come: will it be late? */
static void
check_next(Check *check, Occurrence *occurrence)
{
	bool		is_schedule = check->deadline->kind == SF_DEADLINE_KIND_SCHEDULE;
	TimestampTz begin = check->now;
	int64		last_no = SF_NOTHING_STARTED;
	TimestampTz expected,
				fresh = DT_NOEND;
	SfDeadlinePage page;

	if (!find_base(check, occurrence) || !read_page(check, occurrence, check->now, check->now, &page))
		return;
	if (is_schedule)
		begin = Max(begin, occurrence->base_at);
	if (!page.found || !is_schedule)
		fresh = sf_deadline_expect_new(&check->target, begin);
	expected = page.found ? expect_last(check, page.items, &last_no) : fresh;
	if (expected != DT_NOEND && expected > occurrence->at && begin >= occurrence->base_at)
	{
		raise_late(check, occurrence, SF_FINDING_WILL_BE_LATE, last_no, expected);
		return;
	}
	if (cut_after(check, &page, 0))
		return;
	if (expected != DT_NOEND)
		check_before(check, occurrence, begin, expected);
	else if (has_undone(page.items))
		check_by(check, check->now + RECHECK_IDLE);
	/* another execution of the night may begin */
	if (page.found && fresh != DT_NOEND)
		check_before(check, occurrence, begin, fresh);
}

/* Deal with the moments that have come since the last sweep, and with the next one. */
static void
check_occurrences(Check *check, SfDueBy due_by, const SfCron *cron)
{
	Occurrence	occurrence = {.due_by = due_by,.cron = cron};
	TimestampTz from = Max(check->deadline->checked_until, check->now - LOOK_BACK);

	while (sf_cron_next(cron, from, check->zone, &occurrence.at) && occurrence.at <= check->now)
	{
		judge(check, &occurrence);
		from = occurrence.at;
	}
	if (occurrence.at <= check->now)
		return;
	check_by(check, occurrence.at);
	if (due_by == SF_DUE_BY_END)
		check_next(check, &occurrence);
}

/* --- what is late already --- */

/* Was something worse raised of the same moment? */
static bool
is_superseded(const SfLateness *lateness, List *all)
{
	if (lateness->finding != SF_FINDING_WILL_BE_LATE)
		return false;
	foreach_ptr(const SfLateness, other, all)
		if (other->deadline_at == lateness->deadline_at && other->due_by == lateness->due_by &&
			other->finding != SF_FINDING_WILL_BE_LATE)
			return true;
	return false;
}

/* What was late is so no more; false: that is to be noted later. */
static bool
clear(Check *check, const SfLateness *lateness)
{
	if (!sf_lateness_clear(lateness, check->now))
	{
		check_by(check, check->now + RECHECK);
		return false;
	}
	if (lateness->acknowledged_at == DT_NOEND)
		sf_deadline_notice_alert(lateness, SF_ALERT_CLEARED, check->now);
	return true;
}

/* Until when what makes good for something late may have been requested. */
static TimestampTz
good_until(const SfLateness *lateness)
{
	/* what was to begin by then may begin later */
	return lateness->due_by == SF_DUE_BY_START || lateness->finding == SF_FINDING_NEVER_STARTED ?
		lateness->deadline_at + HALF_NIGHT : lateness->deadline_at;
}

/* See whether what is late has happened. */
static void
check_late(Check *check, const SfLateness *lateness, List *all)
{
	Occurrence	occurrence = {.due_by = lateness->due_by,.at = lateness->deadline_at,.base_at = lateness->base_at};
	StepResult		result;
	int64		late_no;

	if (is_superseded(lateness, all))
	{
		if (lateness->cleared_at == DT_NOEND)
			(void) clear(check, lateness);
		return;
	}
	if (lateness->cleared_at != DT_NOEND)
	{
		check->step++;
		return;
	}
	result = find_late(check, &occurrence, good_until(lateness), check->now, &late_no);
	if (result == RESULT_IN_TIME)
	{
		if (clear(check, lateness))
			sf_deadline_notice(check->deadline, lateness, true, check->now);
	}
	else if (result != RESULT_UNKNOWN && lateness->deadline_at > check->now - LOOK_BACK)
		check_by(check, check->now + RECHECK);
}

/*
 * See whether what is late of a deadline has happened.  What this sweep has cleared before it
 * went on keeps its step.
 */
static void
check_all_late(Check *check)
{
	List	   *all = sf_lateness_uncleared(check->deadline->target, check->now);

	foreach_ptr(const SfLateness, late, all)
		check_late(check, late, all);
}

/* --- sweeps --- */

/* A deadline that a sweep is at */
typedef struct SweptDeadline
{
	const char *target;
	TimestampTz now;
} SweptDeadline;

/* Load the calendar of a deadline and that of its schedule, which both have to be searched in time. */
static void
load_calendars(Check *check)
{
	const SfDeadline *deadline = check->deadline;

	check->time = sf_search_time();
	if (deadline->calendar != NULL)
	{
		check->calendar = sf_calendar_load(deadline->calendar);
		check->calendar->time = &check->time;
	}
	if (deadline->kind == SF_DEADLINE_KIND_SCHEDULE)
		check->search = sf_time_search_begin(check->target.schedule);
	sf_time_search_limit(&check->search, &check->time);
}

/* Check a deadline that is due. */
static bool
sweep_one(void *arg)
{
	const SweptDeadline *sweep = arg;
	SfDeadline *deadline = sf_deadline_read(sweep->target, SF_LOCK_SKIP);
	Check		check = {.now = sweep->now,.deadline = deadline};
	bool		goes_on;

	if (deadline == NULL || deadline->next_at > sweep->now)
		return true;			/* another process is at it, or was */
	goes_on = sf_deadline_is_walking(deadline);
	if (goes_on)
		check.now = deadline->walk_now;
	check.next_at = check.now + LOOK_BACK;
	if (!sf_deadline_find_target(deadline, &check.target))
	{
		sf_deadline_set_checked(deadline, sweep->now, check.next_at);
		return true;
	}
	check.zone = sf_schedule_zone(deadline->timezone);
	load_calendars(&check);
	if (deadline->start_minute != SF_NO_MINUTE)
	{
		check.start = daily(deadline->start_minute);
		check_occurrences(&check, SF_DUE_BY_START, &check.start);
	}
	if (deadline->end_minute != SF_NO_MINUTE)
	{
		check.end = daily(deadline->end_minute);
		check_occurrences(&check, SF_DUE_BY_END, &check.end);
	}
	check_all_late(&check);
	if (check.is_cut)
	{
		deadline->next_at = sweep->now;
		sf_deadline_set_walk(deadline);
		return true;
	}
	/* what earlier sweeps have found to be checked next is not known any more */
	if (goes_on)
		check_by(&check, sweep->now + RECHECK);
	sf_deadline_set_checked(deadline, check.now, check.next_at);
	return true;
}

/* Log why a deadline cannot be dealt with, and put it off. */
static void
put_off(const SweptDeadline *sweep, const ErrorData *error)
{
	SfDeadline *deadline = sf_deadline_read(sweep->target, SF_LOCK_SKIP);

	ereport(LOG,
			(errmsg("sfflow cannot watch the deadline of \"%s\": %s", sweep->target,
					error->message)));
	if (deadline != NULL)
		sf_deadline_set_checked(deadline, deadline->checked_until, sweep->now + AFTER_ERROR);
}

/* Sweep the deadlines that are due, some of them. */
static void
sweep_due(SfBoundedSweep *bounds, TimestampTz now)
{
	foreach_ptr(const char, target, sf_deadline_due(now, MAX_CHECKED))
	{
		SweptDeadline sweep = {.target = target,.now = now};
		ErrorData  *error;

		CHECK_FOR_INTERRUPTS();
		if (!sf_bounded_sweep_goes_on(bounds))
			break;
		error = sf_subtransaction_run(sweep_one, NULL, &sweep);
		if (error == NULL)
			continue;
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED ||
			ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION)
			ReThrowError(error);
		put_off(&sweep, error);
	}
}

/*
 * Sweep the deadlines that are due, some of them, while no other process does.  Returns when to sweep again;
 * DT_NOEND: there are none.
 */
TimestampTz
sf_deadline_watch(TimestampTz now)
{
	SfBoundedSweep bounds;

	if (!sf_bounded_sweep_begin(&bounds, "deadline"))
		return TimestampTzPlusMilliseconds(GetCurrentTimestamp(), SF_SWEEP_LOOK_AGAIN_MS);
	sweep_due(&bounds, now);
	sf_bounded_sweep_end(&bounds);
	return sf_deadline_next();
}
