/*
 * calendar_functions.c
 *		sf_create_calendar(), sf_drop_calendar(), sf_calendar_days().
 *
 * Calendars hold no secrets: every role may look at one and use it.  Only its owner
 * changes it.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/compat.h"
#include "base/version/schema.h"
#include "feature/schedule/schedule.h"
#include "store/audit/audit.h"
#include "store/role/owner.h"

/* Raise unless the current user owns a calendar. */
static void
require_calendar_owner(const SfCalendarRow *calendar)
{
	if (!sf_privilege_is_owner(calendar->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of calendar \"%s\"", calendar->name)));
}

/* Record a change of a calendar. */
static void
note_calendar(const char *action, SfObjectKind kind, const char *object, const SfCalendarRow *calendar)
{
	sf_audit_note(action, kind, object, psprintf("calendar:%s", calendar->name), NULL, NULL);
}

/* How many objects that pick days a calendar has, with those in Except. */
static int
count_picks(const SfCalendar *calendar)
{
	int			n = list_length(calendar->days);

	foreach_ptr(const SfPick, pick, calendar->days)
		n += list_length(pick->except);
	return n;
}

/* How many exceptions hold in a calendar, its own and those of the calendars that it extends. */
static int
count_exceptions(const SfCalendar *calendar)
{
	int			n = 0;

	foreach_ptr(const SfCalendarRule, rule, calendar->rules)
		n += list_length(rule->exceptions);
	return n;
}

/* Raise that a calendar has too many parts. */
static void pg_attribute_noreturn()
refuse_size(const char *where, const char *what, int n)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_CALENDAR),
			 errmsg("invalid calendar: %s", where),
			 errdetail("It has %d %s; at most %d are possible.", n, what, SF_CALENDAR_MAX_PARTS)));
}

/*
 * Raise if a calendar has too many parts for those that look for its days.  One that takes the place of another (NULL:
 * of none) may have as many as that, which an earlier version has let through.
 */
static void
check_parts(const SfCalendar *calendar, const SfCalendarRow *old)
{
	int			picks = count_picks(calendar);
	int			exceptions = count_exceptions(calendar);
	const SfCalendar *before;

	if (picks <= SF_CALENDAR_MAX_PARTS && exceptions <= SF_CALENDAR_MAX_PARTS)
		return;
	before = old == NULL ? NULL : sf_calendar_make(old->name, old->rule, old->days);
	if (picks > Max(SF_CALENDAR_MAX_PARTS, before == NULL ? 0 : count_picks(before)))
		refuse_size("days at \"\"", "objects that pick days, with those in Except", picks);
	if (exceptions > Max(SF_CALENDAR_MAX_PARTS, before == NULL ? 0 : count_exceptions(before)))
		refuse_size("rule at \"/Exceptions\"", "exceptions, with those of the calendars that it extends", exceptions);
}

/*
 * Raise if a calendar of the same owner that extends this one would have too many exceptions by what comes to this one.
 * Those of other owners do not count: who has extended a calendar must not keep its owner from changing it.
 */
static void
check_heirs(const SfCalendarRow *calendar, int added)
{
	if (added <= 0)
		return;
	foreach_ptr(const char, heir, sf_calendar_heirs(calendar->name, calendar->owner))
	{
		int			exceptions = count_exceptions(sf_calendar_load(heir)) + added;

		if (exceptions > SF_CALENDAR_MAX_PARTS)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_CALENDAR),
					 errmsg("invalid calendar: rule at \"/Exceptions\""),
					 errdetail("Calendar \"%s\", which extends it, would have %d exceptions, with those of the calendars that it extends; at most %d are possible.",
							   heir, exceptions, SF_CALENDAR_MAX_PARTS)));
	}
}

/* sf_create_calendar(name, rule, days): make a calendar, or replace the caller's own. */
SF_SQL_FUNCTION(sfflow_sf_create_calendar)
{
	SfCalendarRow calendar = {
		.name = sf_arg_text(fcinfo, 0, "name"),
		.owner = GetUserId(),
		.rule = sf_arg_jsonb(fcinfo, 1, "rule"),
		.days = sf_arg_jsonb_or_null(fcinfo, 2)
	};
	SfCalendarRow *old;
	const SfCalendar *made;

	sf_name_check(calendar.name, "calendar name");
	sf_arg_check_size(calendar.rule, "rule");
	if (calendar.days != NULL)
		sf_arg_check_size(calendar.days, "days");
	sf_calendar_lock(true);
	old = sf_calendar_read(calendar.name);
	if (old != NULL)
	{
		require_calendar_owner(old);
		calendar.owner = old->owner;
	}
	else if (!sf_privilege_may_create())
		sf_deny_create();
	made = sf_calendar_make(calendar.name, calendar.rule, calendar.days);
	check_parts(made, old);
	if (old != NULL)
		check_heirs(&calendar, count_exceptions(made) -
					count_exceptions(sf_calendar_make(old->name, old->rule, old->days)));
	sf_privilege_anchor(calendar.owner);
	sf_calendar_write(&calendar);
	note_calendar(old == NULL ? "create" : "replace", SF_OBJECT_CALENDAR, calendar.name, &calendar);
	PG_RETURN_VOID();
}

/* sf_drop_calendar(name): remove a calendar that is not used. */
SF_SQL_FUNCTION(sfflow_sf_drop_calendar)
{
	const char *name = sf_arg_text(fcinfo, 0, "name");
	SfCalendarRow *calendar;
	const char *user;

	sf_calendar_lock(true);
	calendar = sf_calendar_require(name);
	require_calendar_owner(calendar);
	user = sf_calendar_user(calendar->name);
	if (user != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("calendar \"%s\" is in use", calendar->name),
				 errdetail("It is used by %s.", user)));
	sf_calendar_delete(calendar->name);
	sf_audit_delete_of_object(SF_OBJECT_CALENDAR, calendar->name);
	note_calendar("drop", SF_OBJECT_ALL, "*", calendar);
	sf_privilege_unanchor(calendar->owner);
	PG_RETURN_VOID();
}

/* Give a calendar that the caller owns to another role; returns the previous owner. */
Oid
sf_calendars_set_owner(const char *name, Oid owner)
{
	SfCalendarRow *calendar;
	Oid			before;

	sf_calendar_lock(true);
	calendar = sf_calendar_require(name);
	require_calendar_owner(calendar);
	before = calendar->owner;
	calendar->owner = owner;
	sf_calendar_write(calendar);
	return before;
}

/* Read an argument that is a date, as a Julian day. */
static int
day_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n) || DATE_NOT_FINITE(PG_GETARG_DATEADT(n)) ||
		PG_GETARG_DATEADT(n) < date2j(1, 1, 1) - POSTGRES_EPOCH_JDATE ||
		PG_GETARG_DATEADT(n) > date2j(9999, 12, 31) - POSTGRES_EPOCH_JDATE)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument %s must be a date of the years 1 to 9999", name)));
	return PG_GETARG_DATEADT(n) + POSTGRES_EPOCH_JDATE;
}

/*
 * sf_calendar_days(calendar, from_day, to_day, on_closed): each day from one to
 * another, whether it is open, and whether the calendar picks it.
 */
SF_SQL_FUNCTION(sfflow_sf_calendar_days)
{
	SfCalendar *calendar = sf_calendar_load(sf_arg_text(fcinfo, 0, "calendar"));
	int			from = day_argument(fcinfo, 1, "from_day");
	int			to = day_argument(fcinfo, 2, "to_day");
	SfOnClosed	on_closed = sf_option_on_closed(sf_arg_text(fcinfo, 3, "on_closed"));
	SfDays	   *days;

	InitMaterializedSRF(fcinfo, 0);
	if (to - from > SF_CALENDAR_YEARS * 366)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("from_day and to_day must not be more than %d years apart",
						SF_CALENDAR_YEARS)));
	if (to < from)
		return (Datum) 0;
	days = sf_calendar_days(calendar, from, to, on_closed, NULL, NULL);
	for (int day = from; day <= to; day++)
	{
		SfColumns	row = {0};

		sf_columns_add(&row, DateADTGetDatum(day - POSTGRES_EPOCH_JDATE), false);
		sf_columns_add(&row, BoolGetDatum(sf_days_open(days, day)), false);
		sf_columns_add(&row, BoolGetDatum(sf_days_marked(days, day)), false);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}
