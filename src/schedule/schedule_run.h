/*
 * schedule_run.h
 *		What the runs of a schedule are: when, under which name, with which input.
 */
#ifndef SF_SCHEDULE_SCHEDULE_RUN_H
#define SF_SCHEDULE_SCHEDULE_RUN_H

#include "json/json.h"
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

/* --- placeholders for facts about a run in a schedule's input: <aws.scheduler.…> and <sfflow.…> --- */

/* Placeholders of Amazon EventBridge Scheduler, and sfflow's own: symbol, name */
#define SF_PLACEHOLDER_LIST(X) \
	X(EXECUTION_ID, "aws.scheduler.execution-id") \
	X(SCHEDULED_TIME, "aws.scheduler.scheduled-time") \
	X(SCHEDULE_ARN, "aws.scheduler.schedule-arn") \
	X(ATTEMPT_NUMBER, "aws.scheduler.attempt-number") \
	X(LOCAL_TIME, "sfflow.scheduled-time") \
	X(LOCAL_DATE, "sfflow.scheduled-date")

#define SF_PLACEHOLDER_ENUM(sym, name) SF_PLACEHOLDER_##sym,
typedef enum SfPlaceholder
{
	SF_PLACEHOLDER_LIST(SF_PLACEHOLDER_ENUM)
	SF_PLACEHOLDER_COUNT
} SfPlaceholder;


/* --- the runs of a schedule that have no execution: those to come, and those that did not start --- */

/* A run without an execution */
typedef struct SfPlannedRun
{
	TimestampTz at;				/* DT_NOEND: the schedule has none */
	const char *state;			/* as sf_night shows it */
	const char *problem;		/* NULL: none */
} SfPlannedRun;

extern List *sf_planned_runs(const SfSchedule *s, TimestampTz since, TimestampTz until,
							 TimestampTz now);

/* --- starting the runs of schedules: when they are due, missed, or have waited --- */

extern char *sf_due_run_called(SfSchedule *schedule, TimestampTz now);
extern SfRunsLeft sf_due_runs_look(TimestampTz now);

#endif							/* SF_SCHEDULE_SCHEDULE_RUN_H */
