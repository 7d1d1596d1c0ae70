/*
 * schedule_run.h
 *		What the runs of a schedule are: when, under which name, with which input.
 */
#ifndef SF_SCHEDULE_SCHEDULE_RUN_H
#define SF_SCHEDULE_SCHEDULE_RUN_H

#include "schedule/moments.h"

extern void sf_schedule_check(const SfSchedule *s, SfCron *cron);
extern const char *sf_schedule_job_expression(const SfSchedule *s,
											  const SfCron *cron);
extern int64 sf_schedule_add_job(const SfSchedule *s, const SfCron *cron);
extern bool sf_schedule_find_match(const SfSchedule *s, SfMoments *moments, TimestampTz now,
								   TimestampTz *scheduled);
extern TimestampTz sf_schedule_expected_from(const SfSchedule *s, const SfMoments *moments);
extern char *sf_schedule_run_name(TimestampTz scheduled);
extern char *sf_schedule_start(const SfSchedule *s, TimestampTz scheduled);

/* Whether a schedule's runs come, as the view sf_schedules shows it */
typedef struct SfScheduleStatus
{
	const char *state;
	const char *problem;		/* NULL: none */
	TimestampTz missed_at;		/* DT_NOBEGIN: none */
	bool		is_alert;		/* its runs do not happen as they should */
	TimestampTz since;			/* that they do not; DT_NOBEGIN: not known */
} SfScheduleStatus;

extern char *sf_schedule_unusable(const SfSchedule *s);
extern SfScheduleStatus sf_schedule_status(const SfSchedule *s);

#endif							/* SF_SCHEDULE_SCHEDULE_RUN_H */
