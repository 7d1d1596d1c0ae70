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
sf_time_search_begin(const SfSchedule *schedule)
{
	SfTimeSearch search = {.starts = schedule->starts,.ends = schedule->ends};

	sf_schedule_parse(schedule->cron, &search.cron);
	search.zone = sf_schedule_zone(schedule->timezone);
	search.on_closed = schedule->on_closed;
	if (schedule->calendar != NULL && search.cron.kind == SF_CRON_KIND_INTERVAL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_SCHEDULE),
				 errmsg("a schedule of seconds cannot have a calendar")));
	if (schedule->calendar != NULL)
		search.calendar = sf_calendar_load(schedule->calendar);
	return search;
}

/* Find the days of a window. */
static void
set_window(SfTimeSearch *search, int first, int last)
{
	SfCronFields *fields = &search->cron.fields;
	SfDays	   *old = unconstify(SfDays *, fields->days_marked);

	if (old != NULL)
		sf_days_free(old);
	fields->days_marked = sf_calendar_days(search->calendar, first, last, search->on_closed, sf_cron_fits_day, fields);
}

/* Have the window hold a day and those after it, or before it. */
static void
cover_day(SfTimeSearch *search, int day, SfSearchDirection direction, int length)
{
	const SfDays *days = sf_cron_fields(&search->cron)->days_marked;

	/* a day more on both sides: the local day at a time is found from this one */
	if (days != NULL && day - 1 >= days->first && day + 1 <= days->last)
		return;
	set_window(search, day - (direction == SF_SEARCH_BACKWARD ? length : 2),
			   day + (direction == SF_SEARCH_FORWARD ? length : 2));
}

/* When a day begins in UTC. */
static TimestampTz
utc_midnight(int day)
{
	return (TimestampTz) (day - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY;
}

/*
 * Search in a direction on the days of the calendar.  The last day of a window is searched again in the next one: it
 * begins up to 14 hours after the local day, or 12 hours before it, in UTC.  No search comes back behind its begin.
 */
static bool
search_windows(SfTimeSearch *search, TimestampTz at, SfSearchDirection direction, TimestampTz *out)
{
	int			day = sf_cron_local_day(at, search->zone);
	int			limit = day + direction * SF_CALENDAR_YEARS * 366;
	int			length = NEAR_DAYS;

	for (;;)
	{
		const SfDays *days;
		bool		found;

		cover_day(search, day, direction, length);
		found = direction == SF_SEARCH_FORWARD ? sf_cron_next(&search->cron, at, search->zone, out) :
			sf_cron_latest(&search->cron, at, search->zone, out);
		if (found)
			return true;
		days = sf_cron_fields(&search->cron)->days_marked;
		day = direction == SF_SEARCH_FORWARD ? days->last : days->first;
		if (direction == SF_SEARCH_FORWARD ? day > limit : day < limit)
			return false;
		length = FAR_DAYS;
		at = direction == SF_SEARCH_FORWARD ? Max(at, utc_midnight(day)) : Min(at, utc_midnight(day + 1));
	}
}

/* Find the first time after a time. */
bool
sf_time_search_next(SfTimeSearch *search, TimestampTz after, TimestampTz *out)
{
	bool		found;

	if (search->starts != DT_NOBEGIN)
		after = Max(after, search->starts - 1);
	found = search->calendar == NULL ? sf_cron_next(&search->cron, after, search->zone, out) :
		search_windows(search, after, SF_SEARCH_FORWARD, out);
	return found && *out <= search->ends;
}

/* Find the latest time at or before a time. */
bool
sf_time_search_latest(SfTimeSearch *search, TimestampTz at, TimestampTz *out)
{
	bool		found;

	at = Min(at, search->ends);
	found = search->calendar == NULL ? sf_cron_latest(&search->cron, at, search->zone, out) :
		search_windows(search, at, SF_SEARCH_BACKWARD, out);
	return found && *out >= search->starts;
}
