/*
 * schedule_run.h
 *		What the runs of a schedule are: when, under which name, with which input.
 */
#ifndef SF_SCHEDULE_SCHEDULE_RUN_H
#define SF_SCHEDULE_SCHEDULE_RUN_H

#include "schedule/cron.h"
#include "store/schedule.h"

/* Parse an expression, or raise SF025. */
extern void sf_schedule_parse(const char *text, SfCron *cron);

/* Load a time zone (NULL: pg_cron's), or raise SF012. */
extern pg_tz *sf_schedule_zone(const char *name);

/* Raise when the schedule's expression, zone or input cannot be used. */
extern void sf_schedule_check(const SfSchedule *s, SfCron *cron);

/* Return the expression of the pg_cron job, in pg_cron's zone. */
extern const char *sf_schedule_job_expression(const SfSchedule *s,
											  const SfCron *cron);

/* Make the pg_cron job of a schedule, as its owner; returns the job's number. */
extern int64 sf_schedule_add_job(const SfSchedule *s, const SfCron *cron);

/*
 * Find the match that a run at this time is for.  False when pg_cron calls for a
 * time that the expression, in its own zone, does not match.
 */
extern bool sf_schedule_find_match(const SfSchedule *s, TimestampTz *scheduled);

/*
 * Start the execution of a run as the schedule's owner; returns its id.  Its
 * name comes from its input or says the time of the run.
 */
extern char *sf_schedule_start(const SfSchedule *s, TimestampTz scheduled,
							   bool name_from_input);

/* Whether a schedule's runs come, as the view sf_schedules shows it */
typedef struct SfScheduleStatus
{
	const char *state;
	const char *problem;		/* NULL: none */
	TimestampTz missed_at;		/* DT_NOBEGIN: none */
} SfScheduleStatus;

extern SfScheduleStatus sf_schedule_status(const SfSchedule *s);

#endif							/* SF_SCHEDULE_SCHEDULE_RUN_H */
