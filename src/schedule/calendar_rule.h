/*
 * calendar_rule.h
 *		The rule and the days of a calendar, as they are written.
 *
 * Days are Julian days, as date2j() counts them.
 */
#ifndef SF_SCHEDULE_CALENDAR_RULE_H
#define SF_SCHEDULE_CALENDAR_RULE_H

#include "json/json.h"
#include "nodes/pg_list.h"

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

/* What a calendar says itself */
typedef struct SfCalendarRule
{
	char	   *extends;		/* or NULL */
	bool		has_weekdays;
	uint32		weekdays;		/* that are open */
	int			month_start;	/* 0: not said */
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

/* Days that are picked: one object of the days of a calendar */
typedef struct SfPick
{
	SfPickKind	kind;
	int			every;			/* EVERY: that many days from a day on */
	int			from;
	uint32		weekdays;		/* WEEKDAYS */
	int			nth;			/* ... of the month, or from its end; 0: all */
	uint32		ordinals;		/* MONTH_DAYS, OPEN_DAYS, CLOSED_DAYS: a bit for each */
	uint32		ordinals_back;	/* ... from the end of the month */
	SfDateSet	dates;			/* DATES */
	uint32		months;			/* bits 1 to 12 */
	int			plus;			/* moved by that many open days */
	List	   *except;			/* of SfPick: days that are not picked */
} SfPick;

extern SfCalendarRule *sf_calendar_rule_parse(const Jsonb *rule);
extern List *sf_calendar_days_parse(const Jsonb *days);
extern bool sf_date_set_has(const SfDateSet *set, int day);

#endif							/* SF_SCHEDULE_CALENDAR_RULE_H */
