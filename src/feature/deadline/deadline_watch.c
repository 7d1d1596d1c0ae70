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
	TimestampTz next_at;
	int			step;			/* that comes next */
	bool		is_cut;			/* a step has more pages: the rest is for the next sweep */
} Check;

/* A moment of a night */
typedef struct Moment
{
	SfDueBy		due_by;
	const SfCron *cron;
	TimestampTz at;
	TimestampTz base_at;		/* the run, or when the night began */
} Moment;

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
before(const Check *c, const SfCron *cron, TimestampTz at)
{
	TimestampTz found;

	return sf_cron_latest(cron, at - 1, c->zone, &found) ? found : at - USECS_PER_DAY;
}

/* Does the calendar have the local day of a time? */
static bool
is_picked(const Check *c, TimestampTz at)
{
	int			day;
	SfDays	   *days;
	bool		picked;

	if (c->calendar == NULL)
		return true;
	day = sf_cron_local_day(at, c->zone);
	days = sf_calendar_days(c->calendar, day, day, SF_ON_CLOSED_SKIP, NULL, NULL);
	picked = sf_days_marked(days, day);
	sf_days_free(days);
	return picked;
}

/* Find the run of the schedule that a moment is about; false: it is about none. */
static bool
find_run(Check *c, Moment *m)
{
	return sf_time_search_latest(&c->search, m->at - 1, &m->base_at) &&
		m->base_at >= before(c, m->cron, m->at) && is_picked(c, m->base_at);
}

/* Find when the night of a moment began; false: it is no night of the calendar. */
static bool
find_night(const Check *c, Moment *m)
{
	bool		has_start = c->deadline->start_minute != SF_NO_MINUTE;
	TimestampTz start = !has_start || m->cron == &c->start ? m->at : before(c, &c->start, m->at);

	m->base_at = has_start ? start - HALF_NIGHT : before(c, m->cron, m->at);
	return is_picked(c, start);
}

/*
 * Find what a moment is about; false: nothing.  That counts as a step, too: whether the
 * calendar has the day may change until the next sweep goes on.
 */
static bool
find_base(Check *c, Moment *m)
{
	bool		found = c->deadline->kind == SF_DEADLINE_OF_SCHEDULE ? find_run(c, m) : find_night(c, m);

	if (!found)
		c->step++;
	return found;
}

/* --- judging --- */

/* Note that a deadline has to be checked by a time. */
static void
check_by(Check *c, TimestampTz at)
{
	c->next_at = Min(c->next_at, at);
}

/* Raise what is late, if it was not raised before; execution_no may be SF_NOTHING_STARTED. */
static void
raise_late(Check *c, const Moment *m, SfFinding finding, int64 execution_no, TimestampTz expected_at)
{
	SfLateness	late = {
		.target = c->deadline->target,
		.deadline_at = m->at,
		.due_by = m->due_by,
		.finding = finding,
		.base_at = m->base_at,
		.execution_no = execution_no,
		.expected_at = expected_at,
		.raised_at = c->now
	};

	/* an end that comes to nothing, as the start did, is no news */
	if (finding == SF_FINDING_NEVER_STARTED && sf_lateness_is_raised(late.target, late.base_at, finding))
		return;
	if (!sf_lateness_insert(&late))
		return;
	sf_deadline_notice(c->deadline, &late, false, c->now);
	sf_deadline_notice_alert(&late, SF_ALERT_OPENED, c->now);
	check_by(c, c->now + RECHECK);
}

/* Did the sweep before end within a step, which this one goes on with? */
static bool
goes_on_at(const SfDeadline *d, int step)
{
	return sf_deadline_is_walking(d) && step == d->walk_step;
}

/*
 * Read the next page of a step: of the executions of a night that were requested until
 * a time, those that were not done by another.  False: an earlier sweep has dealt with the
 * step, or a later one will.
 */
static bool
read_page(Check *c, const Moment *m, TimestampTz until, TimestampTz done_by, SfDeadlinePage *page)
{
	const SfDeadline *d = c->deadline;
	int			step = c->step++;
	bool		goes_on = goes_on_at(d, step);

	if (c->is_cut || (sf_deadline_is_walking(d) && step < d->walk_step))
		return false;
	*page = sf_deadline_items(&c->target, m->base_at, goes_on ? d->walk_at : DT_NOBEGIN, until,
							  done_by);
	page->found = page->found || (goes_on && d->walk_found);
	return true;
}

/* The first late execution that earlier pages of the step have had that reads its next page, or SF_NOTHING_LATE. */
static int64
late_before(const Check *c)
{
	return goes_on_at(c->deadline, c->step - 1) ? c->deadline->walk_late_no : SF_NOTHING_LATE;
}

/* End a sweep after a page of a step, if more pages follow. */
static bool
cut_after(Check *c, const SfDeadlinePage *page, int64 late_no)
{
	SfDeadline *d = c->deadline;

	if (page->last_at == DT_NOEND)
		return false;
	c->is_cut = true;
	d->walk_step = c->step - 1;
	d->walk_now = c->now;
	d->walk_at = page->last_at;
	d->walk_late_no = late_no;
	d->walk_found = page->found;
	return true;
}

/* What has happened when: the start of an item, or its end. */
static TimestampTz
happened_at(const Moment *m, const SfDeadlineItem *item)
{
	return m->due_by == SF_DUE_START ? item->begun_at : item->done_at;
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
find_late(Check *c, const Moment *m, TimestampTz until, TimestampTz by, int64 *late_no)
{
	bool		is_start = m->due_by == SF_DUE_START;
	SfDeadlinePage page;

	if (!read_page(c, m, until, is_start ? DT_NOBEGIN : by, &page))
		return RESULT_UNKNOWN;
	*late_no = late_before(c);
	foreach_ptr(const SfDeadlineItem, item, page.items)
	{
		bool		happened = happened_at(m, item) <= by;

		if (happened && is_start)
			return RESULT_IN_TIME;
		if (!happened && *late_no == SF_NOTHING_LATE)
			*late_no = item->execution->execution_no;
	}
	if (*late_no != SF_NOTHING_LATE && !is_start)
		return RESULT_LATE;
	if (cut_after(c, &page, *late_no))
		return RESULT_UNKNOWN;
	return *late_no != SF_NOTHING_LATE ? RESULT_LATE : page.found ? RESULT_IN_TIME : RESULT_NEVER_STARTED;
}

/* Judge a moment that has come. */
static void
judge(Check *c, Moment *m)
{
	int64		late_no;

	if (!find_base(c, m))
		return;
	switch (find_late(c, m, m->at, m->at, &late_no))
	{
		case RESULT_LATE:
			raise_late(c, m, SF_FINDING_LATE, late_no, DT_NOEND);
			break;
		case RESULT_NEVER_STARTED:
			raise_late(c, m, SF_FINDING_NEVER_STARTED, SF_NOTHING_STARTED, DT_NOEND);
			break;
		case RESULT_UNKNOWN:
		case RESULT_IN_TIME:
			break;
	}
}

/* When the last of some executions of a night is expected to be done; DT_NOEND: not known. */
static TimestampTz
expect_last(const Check *c, List *items, int64 *last_no)
{
	TimestampTz latest = DT_NOBEGIN;

	foreach_ptr(const SfDeadlineItem, item, items)
	{
		TimestampTz expected = item->done_at != DT_NOEND ? DT_NOEND :
			sf_deadline_expect(&c->target, item, c->now);

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
check_before(Check *c, const Moment *m, TimestampTz begin, TimestampTz expected)
{
	check_by(c, Min(m->at, begin + Max(m->at - expected + 1, RECHECK)));
}

/* Look ahead to an end that has not come: will it be late? */
static void
check_next(Check *c, Moment *m)
{
	bool		is_schedule = c->deadline->kind == SF_DEADLINE_OF_SCHEDULE;
	TimestampTz begin = c->now;
	int64		last_no = SF_NOTHING_STARTED;
	TimestampTz expected,
				fresh = DT_NOEND;
	SfDeadlinePage page;

	if (!find_base(c, m) || !read_page(c, m, c->now, c->now, &page))
		return;
	if (is_schedule)
		begin = Max(begin, m->base_at);
	if (!page.found || !is_schedule)
		fresh = sf_deadline_expect_new(&c->target, begin);
	expected = page.found ? expect_last(c, page.items, &last_no) : fresh;
	if (expected != DT_NOEND && expected > m->at && begin >= m->base_at)
	{
		raise_late(c, m, SF_FINDING_WILL_BE_LATE, last_no, expected);
		return;
	}
	if (cut_after(c, &page, 0))
		return;
	if (expected != DT_NOEND)
		check_before(c, m, begin, expected);
	else if (has_undone(page.items))
		check_by(c, c->now + RECHECK_IDLE);
	/* another execution of the night may begin */
	if (page.found && fresh != DT_NOEND)
		check_before(c, m, begin, fresh);
}

/* Deal with the moments that have come since the last sweep, and with the next one. */
static void
check_moments(Check *c, SfDueBy due_by, const SfCron *cron)
{
	Moment		m = {.due_by = due_by,.cron = cron};
	TimestampTz from = Max(c->deadline->checked_until, c->now - LOOK_BACK);

	while (sf_cron_next(cron, from, c->zone, &m.at) && m.at <= c->now)
	{
		judge(c, &m);
		from = m.at;
	}
	if (m.at <= c->now)
		return;
	check_by(c, m.at);
	if (due_by == SF_DUE_END)
		check_next(c, &m);
}

/* --- what is late already --- */

/* Was something worse raised of the same moment? */
static bool
is_superseded(const SfLateness *l, List *all)
{
	if (l->finding != SF_FINDING_WILL_BE_LATE)
		return false;
	foreach_ptr(const SfLateness, other, all)
		if (other->deadline_at == l->deadline_at && other->due_by == l->due_by &&
			other->finding != SF_FINDING_WILL_BE_LATE)
			return true;
	return false;
}

/* What was late is so no more; false: that is to be noted later. */
static bool
clear(Check *c, const SfLateness *l)
{
	if (!sf_lateness_clear(l, c->now))
	{
		check_by(c, c->now + RECHECK);
		return false;
	}
	if (l->acknowledged_at == DT_NOEND)
		sf_deadline_notice_alert(l, SF_ALERT_CLEARED, c->now);
	return true;
}

/* Until when what makes good for something late may have been requested. */
static TimestampTz
good_until(const SfLateness *l)
{
	/* what was to begin by then may begin later */
	return l->due_by == SF_DUE_START || l->finding == SF_FINDING_NEVER_STARTED ?
		l->deadline_at + HALF_NIGHT : l->deadline_at;
}

/* See whether what is late has happened. */
static void
check_late(Check *c, const SfLateness *l, List *all)
{
	Moment		m = {.due_by = l->due_by,.at = l->deadline_at,.base_at = l->base_at};
	StepResult		result;
	int64		late_no;

	if (is_superseded(l, all))
	{
		if (l->cleared_at == DT_NOEND)
			(void) clear(c, l);
		return;
	}
	if (l->cleared_at != DT_NOEND)
	{
		c->step++;
		return;
	}
	result = find_late(c, &m, good_until(l), c->now, &late_no);
	if (result == RESULT_IN_TIME)
	{
		if (clear(c, l))
			sf_deadline_notice(c->deadline, l, true, c->now);
	}
	else if (result != RESULT_UNKNOWN && l->deadline_at > c->now - LOOK_BACK)
		check_by(c, c->now + RECHECK);
}

/*
 * See whether what is late of a deadline has happened.  What this sweep has cleared before it
 * went on keeps its step.
 */
static void
check_all_late(Check *c)
{
	List	   *all = sf_lateness_open(c->deadline->target, c->now);

	foreach_ptr(const SfLateness, late, all)
		check_late(c, late, all);
}

/* --- sweeps --- */

/* A deadline that a sweep is at */
typedef struct SweptDeadline
{
	const char *target;
	TimestampTz now;
} SweptDeadline;

/* Check a deadline that is due. */
static bool
sweep_one(void *arg)
{
	const SweptDeadline *sweep = arg;
	SfDeadline *d = sf_deadline_read(sweep->target, SF_LOCK_SKIP);
	Check		c = {.now = sweep->now,.deadline = d};
	bool		goes_on;

	if (d == NULL || d->next_at > sweep->now)
		return true;			/* another process is at it, or was */
	goes_on = sf_deadline_is_walking(d);
	if (goes_on)
		c.now = d->walk_now;
	c.next_at = c.now + LOOK_BACK;
	if (!sf_deadline_find_target(d, &c.target))
	{
		sf_deadline_set_checked(d, sweep->now, c.next_at);
		return true;
	}
	c.zone = sf_schedule_zone(d->timezone);
	if (d->calendar != NULL)
		c.calendar = sf_calendar_load(d->calendar);
	if (d->kind == SF_DEADLINE_OF_SCHEDULE)
		c.search = sf_time_search_begin(c.target.schedule);
	if (d->start_minute != SF_NO_MINUTE)
	{
		c.start = daily(d->start_minute);
		check_moments(&c, SF_DUE_START, &c.start);
	}
	if (d->end_minute != SF_NO_MINUTE)
	{
		c.end = daily(d->end_minute);
		check_moments(&c, SF_DUE_END, &c.end);
	}
	check_all_late(&c);
	if (c.is_cut)
	{
		d->next_at = sweep->now;
		sf_deadline_set_walk(d);
		return true;
	}
	/* what earlier sweeps have found to be checked next is not known any more */
	if (goes_on)
		check_by(&c, sweep->now + RECHECK);
	sf_deadline_set_checked(d, c.now, c.next_at);
	return true;
}

/* Log why a deadline cannot be dealt with, and put it off. */
static void
put_off(const SweptDeadline *sweep, const ErrorData *error)
{
	SfDeadline *d = sf_deadline_read(sweep->target, SF_LOCK_SKIP);

	ereport(LOG,
			(errmsg("sfflow cannot watch the deadline of \"%s\": %s", sweep->target,
					error->message)));
	if (d != NULL)
		sf_deadline_set_checked(d, d->checked_until, sweep->now + AFTER_ERROR);
}

/*
 * Sweep the deadlines that are due, some of them.  Returns when to sweep again;
 * DT_NOEND: there are none.
 */
TimestampTz
sf_deadline_watch(TimestampTz now)
{
	ListCell   *lc;

	foreach(lc, sf_deadline_due(now, MAX_CHECKED))
	{
		SweptDeadline sweep = {.target = lfirst(lc),.now = now};
		ErrorData  *error;

		CHECK_FOR_INTERRUPTS();
		error = sf_subtransaction_run(sweep_one, NULL, &sweep);
		if (error == NULL)
			continue;
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED ||
			ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION)
			ReThrowError(error);
		put_off(&sweep, error);
	}
	return sf_deadline_next();
}
