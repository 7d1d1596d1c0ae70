/*
 * calendar.c
 *		Rows of _sfflow.calendar.
 */
#include "postgres.h"

#include "storage/lmgr.h"

#include "store/calendar.h"
#include "store/feature.h"
#include "store/owner.h"

#define ROW SfCalendarRow
SF_ROW_TYPE(row_type, SF_CALENDAR_COLUMNS, calendar, 1);

/* Find a calendar by name. */
SfCalendarRow *
sf_calendar_row_read(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_CALENDAR_COLUMNS(SF_SELECT) "1 FROM _sfflow.calendar c"
		" WHERE c.name" SF_EQ "$1");

	return sf_store_row(&plan, &row_type, SF_TEXT(name));
}

/* Find a calendar by name, or raise. */
SfCalendarRow *
sf_calendar_row_require(const char *name)
{
	SfCalendarRow *row = sf_calendar_row_read(name);

	if (row == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("calendar \"%s\" does not exist", name),
				 errhint("The view sf_calendars lists those that there are.")));
	return row;
}

/*
 * Until the end of the transaction, keep other sessions from changing and dropping
 * calendars and, with exclusive, from making schedules and calendars that use one.
 */
void
sf_calendar_row_lock(bool exclusive)
{
	LockRelationOid(sf_store_relation("calendar"),
					exclusive ? ShareRowExclusiveLock : RowExclusiveLock);
}

/* Insert a calendar, or put it in the place of the one with its name. */
void
sf_calendar_row_write(const SfCalendarRow *c)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.calendar AS c (name, owner, rule, days, changed_at, created_at)"
		" VALUES ($1, $2, $3, $4, pg_catalog.clock_timestamp(), pg_catalog.now())"
		" ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, rule = excluded.rule,"
		" days = excluded.days, changed_at = excluded.changed_at");

	sf_store_execute(&plan, SF_TEXT(c->name), SF_ROLE(c->owner), SF_JSONB(c->rule),
					 SF_JSONB(c->days));
	SF_TELL(object_changed, SF_OBJECT_CALENDAR, c->name);
}

/* Delete a calendar. */
void
sf_calendar_row_delete(const char *name)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.calendar c WHERE c.name" SF_EQ "$1");

	sf_store_execute(&plan, SF_TEXT(name));
}

/* Describe what uses a calendar; NULL: nothing does. */
const char *
sf_calendar_row_user(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.format('calendar \"%s\"', c.name) FROM _sfflow.calendar c"
		" WHERE c.rule OPERATOR(pg_catalog.->>) 'Extends'" SF_EQ "$1"
		" UNION ALL SELECT 'a schedule' FROM _sfflow.schedule s WHERE s.calendar" SF_EQ "$1"
		" LIMIT 1");

	char	   *user = sf_list_first(sf_store_texts(&plan, SF_TEXT(name)));

	return user != NULL ? user : sf_feature_use_of(SF_OBJECT_CALENDAR, name);
}
