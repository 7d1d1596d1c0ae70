/*
 * calendar.h
 *		Calendars: their rows, their rules, which days are open, and which are picked.
 */
#ifndef SF_FEATURE_CALENDAR_H
#define SF_FEATURE_CALENDAR_H

#include "nodes/pg_list.h"

#include "base/time/clock.h"
#include "db/row.h"
#include "json/json.h"

/* --- rows --- */

/* Columns of _sfflow.calendar; see sql/parts/feature/schedule.sql. */
#define SF_CALENDAR_COLUMNS(X) \
	X(char *, name, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL) \
	X(Jsonb *, rule, JSONB, NOT_NULL) \
	X(Jsonb *, days, JSONB, NULLABLE) \
	X(TimestampTz, changed_at, TIMESTAMPTZ, NOT_NULL)	/* by sf_create_calendar, last */ \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL)

typedef struct SfCalendarRow
{
	SF_CALENDAR_COLUMNS(SF_FIELD)
} SfCalendarRow;

/* A calendar by name; NULL when there is none, or 42704. */
extern SfCalendarRow *sf_calendar_read(const char *name);
extern SfCalendarRow *sf_calendar_require(const char *name);

extern void sf_calendar_lock(bool exclusive);
extern void sf_calendar_write(const SfCalendarRow *calendar);
extern void sf_calendar_delete(const char *name);
extern const char *sf_calendar_user(const char *name);
extern List *sf_calendar_heirs(const char *name, Oid owner);

/* --- rules --- */

#define SF_EVERY_WEEKDAY	0x7F
#define SF_EVERY_MONTH		0x1FFE

/* Dates of a year each, and days of every year */
typedef struct SfDateSet
{
	int			ndates;
	int		   *dates;			/* sorted */
	uint32		yearly[13];		/* by month: a bit for each day */
} SfDateSet;

/* A stretch of time for which other things hold */
typedef struct SfCalendarException
{
	int			from;
	int			to;
	bool		open;			/* else closed: */
	uint32		weekdays;		/* ... on these; bit 0 is Sunday */
} SfCalendarException;

/* Where the day on which months begin may stand: it is not said */
#define SF_NO_MONTH_START	0

/* What a calendar says itself */
typedef struct SfCalendarRule
{
	char	   *extends;		/* or NULL */
	bool		has_weekdays;
	uint32		weekdays;		/* that are open */
	int			month_start;	/* or SF_NO_MONTH_START */
	SfDateSet	open;
	SfDateSet	closed;
	List	   *exceptions;		/* of SfCalendarException; the last one that fits holds */
} SfCalendarRule;

/* Ways to pick days: symbol, field that says it */
#define SF_PICK_LIST(X) \
	X(EVERY, "Every") \
	X(WEEKDAYS, "Weekdays") \
	X(MONTH_DAYS, "MonthDays") \
	X(OPEN_DAYS, "OpenDays") \
	X(CLOSED_DAYS, "ClosedDays") \
	X(DATES, "Dates")

#define SF_PICK_ENUM(sym, name) SF_PICK_##sym,
typedef enum SfPickKind
{
	SF_PICK_LIST(SF_PICK_ENUM)
	SF_PICK_NONE				/* only takes days away from the others */
} SfPickKind;

/* Where the first day of an interval may stand: it is not said */
#define SF_NO_FIRST_DAY		0

/* Days that are picked: one object of the days of a calendar */
typedef struct SfPick
{
	SfPickKind	kind;
	int			every;			/* EVERY: that many days from a day on */
	int			from;			/* ... which is this one, or SF_NO_FIRST_DAY */
	uint32		weekdays;		/* WEEKDAYS */
	uint32		nth;			/* ... which ones of the month: a bit for each, */
	uint32		nth_back;		/* ... from its end; no bit in either: all */
	uint32		ordinals;		/* MONTH_DAYS, OPEN_DAYS, CLOSED_DAYS: a bit for each */
	uint32		ordinals_back;	/* ... from the end of the month */
	SfDateSet	dates;			/* DATES */
	uint32		months;			/* bits 1 to 12 */
	int			plus;			/* moved by that many open days */
	List	   *except;			/* of SfPick: days that are not picked */
} SfPick;

/* Does a pick say which ones of a weekday in a month it picks? */
static inline bool
sf_pick_has_nth(const SfPick *pick)
{
	return pick->nth != 0 || pick->nth_back != 0;
}

extern SfCalendarRule *sf_calendar_rule_parse(const Jsonb *rule);
extern List *sf_calendar_days_parse(const Jsonb *days);
extern bool sf_date_set_has(const SfDateSet *set, int day);

/* --- days --- */

/* What becomes of a picked day that is closed */
#define SF_ON_CLOSED_LIST(X) \
	X(SKIP, "skip") \
	X(PREVIOUS, "previous")		/* the last open day before it */ \
	X(NEXT, "next")				/* the first open day after it */ \
	X(RUN, "run")

#define SF_ON_CLOSED_ENUM(sym, name) SF_ON_CLOSED_##sym,
typedef enum SfOnClosed
{
	SF_ON_CLOSED_LIST(SF_ON_CLOSED_ENUM)
} SfOnClosed;

/* Years that a search looks ahead, or back, at most */
#define SF_CALENDAR_YEARS	10

/*
 * Objects that pick days, with those in Except, and exceptions, with those of the calendars that it extends, of a
 * calendar that is made, at most.  What comes to a calendar later counts for those of its owner that extend it.
 */
#define SF_CALENDAR_MAX_PARTS	2000

/* How long some searches for days may take, all together */
typedef struct SfSearchTime
{
	int64		left;			/* microseconds */
} SfSearchTime;

/* A calendar with all that it inherits */
typedef struct SfCalendar
{
	List	   *rules;			/* of SfCalendarRule: its own first, then the one extended … */
	uint32		weekdays;
	int			month_start;
	bool		has_days;
	List	   *days;			/* of SfPick */
	TimestampTz changed_at;		/* the last one of these */
	SfSearchTime *time;			/* a search for days that takes longer is given up, by an error; NULL: none is */
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
	int		   *open_before;	/* how many of these are open before each day of it, and in all */
};

/* Tell whether a day is a candidate: by other rules than those of the calendar. */
typedef bool (*SfDayTest) (int day, const void *arg);

extern SfCalendar *sf_calendar_load(const char *name);
extern SfCalendar *sf_calendar_make(const char *name, const Jsonb *rule, const Jsonb *days);
extern SfDays *sf_calendar_days(const SfCalendar *calendar, int first, int last,
								SfOnClosed on_closed, SfDayTest test, const void *arg);

extern SfSearchTime sf_search_time(void);
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

extern Oid	sf_calendars_set_owner(const char *name, Oid owner);

#endif							/* SF_FEATURE_CALENDAR_H */
