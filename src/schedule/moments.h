/*
 * moments.h
 *		The times at which a schedule runs.
 */
#ifndef SF_SCHEDULE_MOMENTS_H
#define SF_SCHEDULE_MOMENTS_H

#include "schedule/calendar_days.h"
#include "schedule/cron.h"
#include "store/schedule.h"

/* A search for the times of a schedule */
typedef struct SfMoments
{
	SfCron		cron;			/* its days: those of a window that moves on */
	pg_tz	   *zone;
	SfCalendar *calendar;		/* NULL: none */
	SfOnClosed	on_closed;
	TimestampTz starts;
	TimestampTz ends;
} SfMoments;

extern void sf_schedule_parse(const char *text, SfCron *cron);
extern pg_tz *sf_schedule_zone(const char *name);
extern SfMoments sf_moments_begin(const SfSchedule *schedule);

/*
 * Find the latest time at or before a time, or the first one after it; false when
 * there is none, or with a calendar none within ten years.
 */
extern bool sf_moments_latest(SfMoments *moments, TimestampTz at, TimestampTz *out);
extern bool sf_moments_next(SfMoments *moments, TimestampTz after, TimestampTz *out);

#endif							/* SF_SCHEDULE_MOMENTS_H */
