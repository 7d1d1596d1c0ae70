/*
 * calendar_days.h
 *		Which days are open in a calendar, and which are picked.
 */
#ifndef SF_SCHEDULE_CALENDAR_DAYS_H
#define SF_SCHEDULE_CALENDAR_DAYS_H

#include "schedule/calendar_rule.h"
#include "schedule/options.h"

/* Years that a search looks ahead, or back, at most */
#define SF_CALENDAR_YEARS	10

/* A calendar with all that it inherits */
typedef struct SfCalendar
{
	List	   *rules;			/* of SfCalendarRule: its own first, then the one extended … */
	uint32		weekdays;
	int			month_start;
	bool		has_days;
	List	   *days;			/* of SfPick */
	TimestampTz changed_at;		/* the last one of these */
} SfCalendar;

typedef struct SfDays SfDays;

/* The days of a calendar from one to another: which are open, and which were marked */
struct SfDays
{
	const SfCalendar *calendar;
	int			first;
	int			last;
	bool	   *marks;			/* from first to last */
	int			open_from;
	int			open_to;
	bool	   *open;			/* of a longer stretch */
};

/* Tell whether a day is a candidate: by other rules than those of the calendar. */
typedef bool (*SfDayTest) (int day, const void *arg);

extern SfCalendar *sf_calendar_load(const char *name);
extern SfCalendar *sf_calendar_make(const char *name, const Jsonb *rule, const Jsonb *days);
extern SfDays *sf_calendar_days(const SfCalendar *calendar, int first, int last,
								SfOnClosed on_closed, SfDayTest test, const void *arg);

extern void sf_days_free(SfDays *days);

/* Tell whether a day between first and last was marked. */
static inline bool
sf_days_marked(const SfDays *days, int day)
{
	return day >= days->first && day <= days->last && days->marks[day - days->first];
}

/* Tell whether a day is open. */
static inline bool
sf_days_open(const SfDays *days, int day)
{
	Assert(day >= days->open_from && day <= days->open_to);
	return days->open[day - days->open_from];
}

#endif							/* SF_SCHEDULE_CALENDAR_DAYS_H */
