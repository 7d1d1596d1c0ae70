/*
 * time_search.c
 *		The times at which a schedule runs.
 *
 * They are the matches of its expression.  With a calendar, days that the fields of
 * the expression fit and that the calendar picks become others by on_closed and
 * Plus; the hours and minutes then match on these.  The days are computed for a
 * window of time.  A search that finds nothing there goes on in the next one.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "feature/schedule/pg_cron.h"
#include "feature/schedule/schedule.h"

/* Days of the first window of a search, and of the others */
#define NEAR_DAYS	40
#define FAR_DAYS	1000

/* Parse an expression or raise. */
void
sf_schedule_parse(const char *text, SfCron *cron)
{
	char	   *problem = NULL;

	if (!sf_cron_parse(text, cron, &problem))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_SCHEDULE),
				 errmsg("invalid schedule: \"%s\"", text),
				 problem == NULL ? 0 : errdetail("%s", problem),
				 errhint("A schedule is \"minute hour day month weekday\", @daily and the like, or \"N seconds\".")));
}

/* Load a time zone (NULL: pg_cron's), or raise SF012. */
pg_tz *
sf_schedule_zone(const char *name)
{
	pg_tz	   *zone = name == NULL ? sf_pg_cron_zone() : pg_tzset(name);

	if (zone == NULL || !pg_tz_acceptable(zone))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("time zone \"%s\" not recognized", name)));
	return zone;
}

/* Begin to search, or raise when the expression, the zone or the calendar cannot be used. */
SfTimeSearch
sf_time_search_begin(const SfSchedule *s)
{
	SfTimeSearch m = {.starts = s->starts,.ends = s->ends};

	sf_schedule_parse(s->cron, &m.cron);
	m.zone = sf_schedule_zone(s->timezone);
	m.on_closed = s->on_closed;
	if (s->calendar != NULL && m.cron.seconds > 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_SCHEDULE),
				 errmsg("a schedule of seconds cannot have a calendar")));
	if (s->calendar != NULL)
		m.calendar = sf_calendar_load(s->calendar);
	return m;
}

/* Find the days of a window. */
static void
set_window(SfTimeSearch *m, int first, int last)
{
	SfDays	   *old = unconstify(SfDays *, m->cron.days_marked);

	if (old != NULL)
		sf_days_free(old);
	m->cron.days_marked = sf_calendar_days(m->calendar, first, last, m->on_closed,
										   sf_cron_fits_day, &m->cron);
}

/* Have the window hold a day and those after it, or before it. */
static void
cover_day(SfTimeSearch *m, int day, SfSearchDirection direction, int length)
{
	const SfDays *days = m->cron.days_marked;

	/* a day more on both sides: the local day at a time is found from this one */
	if (days != NULL && day - 1 >= days->first && day + 1 <= days->last)
		return;
	set_window(m, day - (direction == SF_SEARCH_BACKWARD ? length : 2), day + (direction == SF_SEARCH_FORWARD ? length : 2));
}

/* Search in a direction on the days of the calendar. */
static bool
search_windows(SfTimeSearch *m, TimestampTz t, SfSearchDirection direction, TimestampTz *out)
{
	int			day = sf_cron_local_day(t, m->zone);
	int			limit = day + direction * SF_CALENDAR_YEARS * 366;
	int			length = NEAR_DAYS;

	for (;;)
	{
		bool		found;

		cover_day(m, day, direction, length);
		found = direction == SF_SEARCH_FORWARD ? sf_cron_next(&m->cron, t, m->zone, out) :
			sf_cron_latest(&m->cron, t, m->zone, out);
		if (found)
			return true;
		day = direction == SF_SEARCH_FORWARD ? m->cron.days_marked->last : m->cron.days_marked->first;
		if (direction == SF_SEARCH_FORWARD ? day > limit : day < limit)
			return false;
		length = FAR_DAYS;
		t = (TimestampTz) (day - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY;
	}
}

/* Find the first time after a time. */
bool
sf_time_search_next(SfTimeSearch *m, TimestampTz after, TimestampTz *out)
{
	bool		found;

	if (m->starts != DT_NOBEGIN)
		after = Max(after, m->starts - 1);
	found = m->calendar == NULL ? sf_cron_next(&m->cron, after, m->zone, out) :
		search_windows(m, after, SF_SEARCH_FORWARD, out);
	return found && *out <= m->ends;
}

/* Find the latest time at or before a time. */
bool
sf_time_search_latest(SfTimeSearch *m, TimestampTz at, TimestampTz *out)
{
	bool		found;

	at = Min(at, m->ends);
	found = m->calendar == NULL ? sf_cron_latest(&m->cron, at, m->zone, out) :
		search_windows(m, at, SF_SEARCH_BACKWARD, out);
	return found && *out >= m->starts;
}
