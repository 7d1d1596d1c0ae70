/*
 * calendar.h
 *		Rows of _sfflow.calendar.
 */
#ifndef SF_STORE_CALENDAR_H
#define SF_STORE_CALENDAR_H

#include "store/row.h"

/* Columns of _sfflow.calendar; see sql/parts/10-tables.sql. */
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
extern SfCalendarRow *sf_calendar_row_read(const char *name);
extern SfCalendarRow *sf_calendar_row_require(const char *name);

extern void sf_calendar_row_lock(bool exclusive);
extern void sf_calendar_row_write(const SfCalendarRow *calendar);
extern void sf_calendar_row_delete(const char *name);
extern const char *sf_calendar_row_user(const char *name);

#endif							/* SF_STORE_CALENDAR_H */
