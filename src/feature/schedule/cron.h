/*
 * cron.h
 *		Cron expressions as pg_cron takes them: when they match, in any time zone.
 */
#ifndef SF_FEATURE_CRON_H
#define SF_FEATURE_CRON_H

#include "datatype/timestamp.h"
#include "pgtime.h"

struct SfDays;

/* In which direction times are searched: a factor of what is added */
typedef enum SfSearchDirection
{
	SF_SEARCH_BACKWARD = -1,
	SF_SEARCH_FORWARD = 1
} SfSearchDirection;

/* The fields of an expression */
typedef struct SfCronFields
{
	uint64		minutes;		/* bit sets: 0-59 … */
	uint32		hours;			/* 0-23 */
	uint32		days;			/* 1-31 */
	uint32		months;			/* 1-12 */
	uint32		weekdays;		/* 0-6, Sunday is 0 */
	bool		any_hour;		/* the field begins with "*" */
	bool		any_day;
	bool		any_weekday;
	bool		last_day;		/* "$": the last day of the month */
	const struct SfDays *days_marked;	/* match on these days alone; NULL: on those
										 * of the fields */
} SfCronFields;

typedef enum SfCronKind
{
	SF_CRON_KIND_FIELDS,		/* "minute hour day month weekday", or a nickname of such */
	SF_CRON_KIND_INTERVAL		/* "N seconds" */
} SfCronKind;

/* An expression: read what its kind has by sf_cron_fields and sf_cron_seconds */
typedef struct SfCron
{
	SfCronKind	kind;
	union
	{
		SfCronFields fields;	/* FIELDS */
		int			seconds;	/* INTERVAL */
	};
} SfCron;

/* The fields of an expression that has some. */
static inline const SfCronFields *
sf_cron_fields(const SfCron *cron)
{
	Assert(cron->kind == SF_CRON_KIND_FIELDS);
	return &cron->fields;
}

/* The seconds of an interval. */
static inline int
sf_cron_seconds(const SfCron *cron)
{
	Assert(cron->kind == SF_CRON_KIND_INTERVAL);
	return cron->seconds;
}

extern bool sf_cron_parse(const char *text, SfCron *out, char **problem);

/*
 * Find the latest match at or before a time, or the first one after it; false when
 * there is none within 40 years, or on the days.  Unless the hour is "*", a local
 * time that clocks skip matches once, as PostgreSQL reads it (02:30 at 03:30), and one
 * that occurs twice matches the first time.  Intervals of seconds count from
 * 1970-01-01 00:00 UTC.
 */
extern bool sf_cron_latest(const SfCron *cron, TimestampTz now, pg_tz *zone,
						   TimestampTz *out);
extern bool sf_cron_next(const SfCron *cron, TimestampTz after, pg_tz *zone,
						 TimestampTz *out);

extern bool sf_cron_fits_day(int day, const void *cron);
extern Timestamp sf_cron_local_time(TimestampTz at, pg_tz *zone);
extern int	sf_cron_local_day(TimestampTz at, pg_tz *zone);
extern char *sf_cron_cover(const SfCronFields *cron, pg_tz *zone, pg_tz *in_zone,
						   TimestampTz now);

#endif							/* SF_FEATURE_CRON_H */
