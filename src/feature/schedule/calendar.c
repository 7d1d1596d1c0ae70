/*
 * calendar.c
 *		Rows of _sfflow.calendar; which days are open in a calendar, and which are picked.
 *
 * The days that a schedule runs on are found in this order.  Each object of the
 * calendar's days picks days, without those in its Except.  A picked day that is
 * closed is skipped, or the next or previous open day takes its place (on_closed).
 * Then the day is moved by Plus open days.  What several objects pick is one day.
 *
 * So a day may come from a pick that lies before or after it.  A day is moved by at
 * most MAX_SHIFT days; a pick from which no open day is that near picks nothing.
 * Therefore a stretch of days is computed from the picks of a longer one, and these
 * from the open days of a still longer one.  Where no day is moved, both are that stretch
 * and its months.
 *
 * The work of a day is a step for each pick and each day in an Except, whatever they are:
 * open days are counted once, before.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/datetime.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "feature/schedule/calendar.h"
#include "store/feature.h"
#include "store/role/owner.h"

#define MAX_SHIFT		731

/* A sweep has this time for the days of the calendars of one row */
#define SEARCH_MS		10000

#define ROW SfCalendarRow
SF_ROW_TYPE(row_type, SF_CALENDAR_COLUMNS, calendar, 1);

/* --- rows --- */

/* Read a calendar. */
static void
read_calendar(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfCalendarRow **calendar = arg;

	*calendar = palloc0(sizeof(SfCalendarRow));
	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, *calendar);
}

/*
 * Find a calendar by name, as it is now: a transaction that keeps an old snapshot takes its lock after that, and uses
 * no calendar that was dropped meanwhile.  A parallel query only reads, with the snapshot that it has.
 */
SfCalendarRow *
sf_calendar_read(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_CALENDAR_COLUMNS(SF_SELECT) "1 FROM _sfflow.calendar c"
		" WHERE c.name = $1");
	SfCalendarRow *calendar = NULL;

	if (IsolationUsesXactSnapshot() && !IsInParallelMode())
		sf_snapshot_read_now(&plan, read_calendar, &calendar, SF_TEXT(name));
	else
		sf_db_read(&plan, read_calendar, &calendar, SF_TEXT(name));
	return calendar;
}

/* Find a calendar by name, or raise. */
SfCalendarRow *
sf_calendar_require(const char *name)
{
	SfCalendarRow *calendar = sf_calendar_read(name);

	if (calendar == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("calendar \"%s\" does not exist", name),
				 errhint("The view sf_calendars lists those that there are.")));
	return calendar;
}

/*
 * Until the end of the transaction, keep other sessions from changing and dropping
 * calendars and, with exclusive, from making schedules and calendars that use one.
 */
void
sf_calendar_lock(bool exclusive)
{
	LockRelationOid(sf_db_relation("calendar"),
					exclusive ? ShareRowExclusiveLock : RowExclusiveLock);
}

/* Insert a calendar, or put it in the place of the one with its name. */
void
sf_calendar_write(const SfCalendarRow *calendar)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.calendar AS c (name, owner, rule, days, changed_at, created_at)"
		" VALUES ($1, $2, $3, $4, pg_catalog.clock_timestamp(), pg_catalog.now())"
		" ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, rule = excluded.rule,"
		" days = excluded.days, changed_at = excluded.changed_at");

	sf_db_execute(&plan, SF_TEXT(calendar->name), SF_ROLE(calendar->owner), SF_JSONB(calendar->rule),
				  SF_JSONB(calendar->days));
	SF_TELL(on_object_changed, SF_OBJECT_CALENDAR, calendar->name);
}

/* Delete a calendar. */
void
sf_calendar_delete(const char *name)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.calendar c WHERE c.name = $1");

	sf_db_execute(&plan, SF_TEXT(name));
}

/* Describe what uses a calendar now; NULL: nothing does. */
const char *
sf_calendar_user(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.format('calendar \"%s\"', c.name) FROM _sfflow.calendar c"
		" WHERE c.rule ->> 'Extends' = $1"
		" UNION ALL SELECT 'a schedule' FROM _sfflow.schedule s WHERE s.calendar = $1"
		" LIMIT 1");
	List	   *users = NIL;

	sf_snapshot_read_now(&plan, sf_row_append_text, &users, SF_TEXT(name));
	return users != NIL ? linitial(users) : sf_feature_use_of(SF_OBJECT_CALENDAR, name);
}

/* List the calendars of an owner that extend a calendar now, by their names, also those that extend one that does. */
List *
sf_calendar_heirs(const char *name, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE heir AS ("
		" SELECT c.name, c.owner FROM _sfflow.calendar c WHERE c.rule ->> 'Extends' = $1"
		" UNION SELECT c.name, c.owner FROM heir h JOIN _sfflow.calendar c ON c.rule ->> 'Extends' = h.name)"
		" SELECT h.name FROM heir h WHERE h.owner = $2 ORDER BY h.name");
	List	   *heirs = NIL;

	sf_snapshot_read_now(&plan, sf_row_append_text, &heirs, SF_TEXT(name), SF_ROLE(owner));
	return heirs;
}

/* --- loading --- */

/* Inherit from one more calendar what has not been said before. */
static void
inherit(SfCalendar *calendar, SfCalendarRule *rule, const Jsonb *days)
{
	bool		weekdays_said = false;
	bool		month_said = calendar->month_start != SF_NO_MONTH_START;
	ListCell   *lc;

	foreach(lc, calendar->rules)
		weekdays_said |= ((SfCalendarRule *) lfirst(lc))->has_weekdays;
	if (!weekdays_said && rule->has_weekdays)
		calendar->weekdays = rule->weekdays;
	if (!month_said)
		calendar->month_start = rule->month_start;
	if (!calendar->has_days && days != NULL)
	{
		calendar->days = sf_calendar_days_parse(days);
		calendar->has_days = true;
	}
	calendar->rules = lappend(calendar->rules, rule);
}

/* Raise if a calendar is among those that extend it. */
static void
refuse_circle(const List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
		if (strcmp(lfirst(lc), name) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_CALENDAR),
					 errmsg("invalid calendar: rule at \"/Extends\""),
					 errdetail("Calendar \"%s\" would extend itself.", name)));
}

/* Make a calendar of a rule and of what it extends, or raise. */
SfCalendar *
sf_calendar_make(const char *name, const Jsonb *rule, const Jsonb *days)
{
	SfCalendar *calendar = palloc0(sizeof(SfCalendar));
	List	   *names = list_make1(pstrdup(name));

	calendar->weekdays = SF_EVERY_WEEKDAY;
	calendar->changed_at = DT_NOBEGIN;
	for (;;)
	{
		SfCalendarRule *own = sf_calendar_rule_parse(rule);
		SfCalendarRow *row;

		inherit(calendar, own, days);
		if (own->extends == NULL)
			break;
		refuse_circle(names, own->extends);
		names = lappend(names, own->extends);
		row = sf_calendar_require(own->extends);
		calendar->changed_at = Max(calendar->changed_at, row->changed_at);
		rule = row->rule;
		days = row->days;
	}
	if (calendar->month_start == SF_NO_MONTH_START)
		calendar->month_start = 1;
	return calendar;
}

/* Load a calendar with what it extends; raise if it is not there. */
SfCalendar *
sf_calendar_load(const char *name)
{
	SfCalendarRow *row = sf_calendar_require(name);
	SfCalendar *calendar = sf_calendar_make(name, row->rule, row->days);

	calendar->changed_at = Max(calendar->changed_at, row->changed_at);
	return calendar;
}

/* --- open days --- */

/* The weekday of a day as a bit. */
static uint32
weekday_bit(int day)
{
	return 1U << j2day(day);
}

/* What a rule says of a day itself */
typedef enum Said
{
	SAID_NOTHING,
	SAID_OPEN,
	SAID_CLOSED
} Said;

/* Look for what a rule says of a day itself. */
static Said
says(const SfCalendarRule *rule, int day)
{
	for (int i = list_length(rule->exceptions) - 1; i >= 0; i--)
	{
		const SfCalendarException *exception = list_nth(rule->exceptions, i);

		if (day >= exception->from && day <= exception->to && (exception->weekdays & weekday_bit(day)) != 0)
			return exception->open ? SAID_OPEN : SAID_CLOSED;
	}
	if (sf_date_set_has(&rule->open, day))
		return SAID_OPEN;
	return sf_date_set_has(&rule->closed, day) ? SAID_CLOSED : SAID_NOTHING;
}

/* Tell whether a day is open: what the calendar says before what it extends. */
static bool
compute_open(const SfCalendar *calendar, int day)
{
	ListCell   *lc;

	foreach(lc, calendar->rules)
	{
		Said		said = says(lfirst(lc), day);

		if (said != SAID_NOTHING)
			return said == SAID_OPEN;
	}
	return (calendar->weekdays & weekday_bit(day)) != 0;
}

/*
 * Go on to the n-th open day after a day, or back to that before it (negative); false when it is more than
 * MAX_SHIFT days away.
 */
static bool
shift(const SfDays *days, int *day, int n)
{
	int			direction = n < 0 ? -1 : 1;
	int			left = abs(n);

	for (int moved = 0; left > 0; moved++)
	{
		if (moved == MAX_SHIFT)
			return false;
		*day += direction;
		left -= sf_days_open(days, *day) ? 1 : 0;
	}
	return true;
}

/* --- picking --- */

/* A month, which may begin on another day than the first */
typedef struct Month
{
	int			number;			/* from 1 */
	int			begin;
	int			end;			/* its last day */
} Month;

/* The day on which the month after some months begins. */
static int
month_begin(int year, int month, int start)
{
	return date2j(year + (month - 1) / 12, (month - 1) % 12 + 1, start);
}

/* Find the month of a day: the one in which it begins gives it its number. */
static Month
month_of(const SfCalendar *calendar, int day)
{
	Month		month;
	int			year;
	int			mday;

	j2date(day, &year, &month.number, &mday);
	if (mday < calendar->month_start && --month.number == 0)
	{
		month.number = 12;
		year--;
	}
	month.begin = month_begin(year, month.number, calendar->month_start);
	month.end = month_begin(year, month.number + 1, calendar->month_start) - 1;
	return month;
}

/* A day that may be picked */
typedef struct Day
{
	int			number;			/* Julian */
	Month		month;
} Day;

/* Count the days from one to another that are open, or closed. */
static int
count_days(const SfDays *days, int from, int to, bool open)
{
	int			n = days->open_before[to + 1 - days->open_from] - days->open_before[from - days->open_from];

	return open ? n : to - from + 1 - n;
}

/* Tell whether one of some ordinals is a day's, counted from the begin or the end. */
static bool
has_ordinal(uint32 ordinals, uint32 ordinals_back, int n, int n_back)
{
	return ((ordinals >> n) & 1) != 0 || ((ordinals_back >> n_back) & 1) != 0;
}

/* Tell whether a day is the one of its month that a pick of open or closed days means. */
static bool
is_counted_day(const SfDays *days, const SfPick *pick, const Day *day)
{
	bool		open = pick->kind == SF_PICK_OPEN_DAYS;

	return sf_days_open(days, day->number) == open &&
		has_ordinal(pick->ordinals, pick->ordinals_back,
					count_days(days, day->month.begin, day->number, open),
					count_days(days, day->number, day->month.end, open));
}

/* Tell whether a pick picks a day, whatever it excepts. */
static bool
picks(const SfDays *days, const SfPick *pick, const Day *day)
{
	const Month *month = &day->month;
	int			number = day->number;

	if (((pick->months >> month->number) & 1) == 0)
		return false;
	switch (pick->kind)
	{
		case SF_PICK_EVERY:
			return number >= pick->from && (number - pick->from) % pick->every == 0;
		case SF_PICK_WEEKDAYS:
			return (pick->weekdays & weekday_bit(number)) != 0 &&
				(!sf_pick_has_nth(pick) ||
				 has_ordinal(pick->nth, pick->nth_back, (number - month->begin) / 7 + 1,
							 (month->end - number) / 7 + 1));
		case SF_PICK_MONTH_DAYS:
			return has_ordinal(pick->ordinals, pick->ordinals_back, number - month->begin + 1, month->end - number + 1);
		case SF_PICK_OPEN_DAYS:
		case SF_PICK_CLOSED_DAYS:
			return is_counted_day(days, pick, day);
		case SF_PICK_DATES:
			return sf_date_set_has(&pick->dates, number);
		case SF_PICK_NONE:
			break;
	}
	return false;
}

/* Tell whether one of a list of picks picks a day. */
static bool
any_picks(const SfDays *days, const List *list, const Day *day)
{
	ListCell   *lc;

	foreach(lc, list)
		if (picks(days, lfirst(lc), day))
			return true;
	return false;
}

/* Tell whether an object of the list that only takes away takes a day away. */
static bool
is_taken_away(const SfDays *days, const Day *day)
{
	ListCell   *lc;

	foreach(lc, days->calendar->days)
	{
		const SfPick *pick = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (pick->kind == SF_PICK_NONE && any_picks(days, pick->except, day))
			return true;
	}
	return false;
}

/* Mark what becomes of a picked day. */
static void
set_day(SfDays *days, int day, SfOnClosed on_closed, int plus)
{
	if (!sf_days_open(days, day))
	{
		if (on_closed == SF_ON_CLOSED_SKIP)
			return;
		if (on_closed != SF_ON_CLOSED_RUN && !shift(days, &day, on_closed == SF_ON_CLOSED_NEXT ? 1 : -1))
			return;
	}
	if (plus != 0 && !shift(days, &day, plus))
		return;
	if (day >= days->first && day <= days->last)
		days->marks[day - days->first] = true;
}

/* How far on_closed may move a day. */
static int
reach_of_closed(SfOnClosed on_closed)
{
	return on_closed == SF_ON_CLOSED_PREVIOUS || on_closed == SF_ON_CLOSED_NEXT ? MAX_SHIFT : 0;
}

/* How far a day of a pick may be moved. */
static int
reach_of(const SfPick *pick, SfOnClosed on_closed)
{
	return reach_of_closed(on_closed) + (pick->plus == 0 ? 0 : MAX_SHIFT);
}

/* How far a day of a calendar may be moved. */
static int
reach_of_all(const SfCalendar *calendar, SfOnClosed on_closed)
{
	int			reach = reach_of_closed(on_closed);
	ListCell   *lc;

	foreach(lc, calendar->days)
		reach = Max(reach, reach_of(lfirst(lc), on_closed));
	return reach;
}

/* Mark what becomes of a day if it is picked, by the picks that may move it to one of those asked for. */
static void
pick_day(SfDays *days, int number, SfOnClosed on_closed)
{
	const Day	day = {number, month_of(days->calendar, number)};
	int			distance = Max(0, Max(days->first - number, number - days->last));
	bool		is_left = false;
	ListCell   *lc;

	foreach(lc, days->calendar->days)
	{
		const SfPick *pick = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (reach_of(pick, on_closed) < distance || !picks(days, pick, &day) || any_picks(days, pick->except, &day))
			continue;
		if (!is_left && is_taken_away(days, &day))
			return;
		is_left = true;
		set_day(days, number, on_closed, pick->plus);
	}
}

/* The time that a sweep has for the searches of one row. */
SfSearchTime
sf_search_time(void)
{
	return (SfSearchTime) {.left = SF_DEBUG_MS("calendar_budget", SEARCH_MS) * INT64CONST(1000)};
}

/* Raise if a search takes longer than the caller has time for; until: SF_TICK_NEVER if that is not limited. */
static void
check_time(SfTick until)
{
	CHECK_FOR_INTERRUPTS();
	if (until != SF_TICK_NEVER && sf_tick_now() >= until)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("finding the days of its calendars takes too long")));
}

/* Make room for a stretch of days, whose picks lie up to a reach away, and find out which are open. */
static SfDays *
make_days(const SfCalendar *calendar, int first, int last, int reach, SfTick until)
{
	SfDays	   *days = palloc(sizeof(SfDays));
	int			n = last - first + 1;

	days->calendar = calendar;
	days->first = first;
	days->last = last;
	days->marks = palloc0(sizeof(bool) * n);
	/* what is picked lies a reach away, its open days another one, and then up to a month */
	days->open_from = first - 2 * reach - 31;
	days->open_to = last + 2 * reach + 31;
	n = days->open_to - days->open_from + 1;
	days->open = palloc(sizeof(bool) * n);
	days->open_before = palloc(sizeof(int) * (n + 1));
	days->open_before[0] = 0;
	for (int i = 0; i < n; i++)
	{
		check_time(until);
		days->open[i] = compute_open(calendar, days->open_from + i);
		days->open_before[i + 1] = days->open_before[i] + (days->open[i] ? 1 : 0);
	}
	return days;
}

/*
 * Find the days of a calendar from one to another: which are open, and, marked,
 * which are picked among those that pass a test (NULL: all).  A calendar without
 * days picks all that do.
 */
SfDays *
sf_calendar_days(const SfCalendar *calendar, int first, int last, SfOnClosed on_closed,
				 SfDayTest test, const void *arg)
{
	int			reach = reach_of_all(calendar, on_closed);
	SfTick		began = calendar->time == NULL ? SF_TICK_UNSET : sf_tick_now();
	SfTick		until = calendar->time == NULL ? SF_TICK_NEVER : began + calendar->time->left;
	SfDays	   *days = make_days(calendar, first, last, reach, until);

	for (int day = first - reach; day <= last + reach; day++)
	{
		check_time(until);
		if (test != NULL && !test(day, arg))
			continue;
		if (calendar->has_days)
			pick_day(days, day, on_closed);
		else
			set_day(days, day, on_closed, 0);
	}
	if (calendar->time != NULL)
		calendar->time->left -= sf_tick_now() - began;
	return days;
}

/* Free what sf_calendar_days made. */
void
sf_days_free(SfDays *days)
{
	pfree(days->marks);
	pfree(days->open);
	pfree(days->open_before);
	pfree(days);
}
