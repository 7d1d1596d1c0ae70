/*
 * schedule.h
 *		Schedules: their rows, the times at which they run, and their runs.
 */
#ifndef SF_FEATURE_SCHEDULE_H
#define SF_FEATURE_SCHEDULE_H

#include "feature/schedule/calendar.h"
#include "feature/schedule/cron.h"
#include "json/json.h"
#include "store/feature.h"
#include "store/role/named_lock.h"

/* --- options that are words --- */

/* What becomes of runs that were due and did not come */
#define SF_MISSED_LIST(X) \
	X(RUN_ONCE, "run_once")		/* the latest one runs */ \
	X(RUN_ALL, "run_all")		/* they run, one after the other */ \
	X(SKIP, "skip")

/* What becomes of a run that is due while the one before still runs */
#define SF_OVERLAP_LIST(X) \
	X(SKIP, "skip") \
	X(QUEUE, "queue")			/* it waits */ \
	X(PARALLEL, "parallel")

#define SF_MISSED_ENUM(sym, name) SF_MISSED_##sym,
typedef enum SfMissed
{
	SF_MISSED_LIST(SF_MISSED_ENUM)
} SfMissed;

#define SF_OVERLAP_ENUM(sym, name) SF_OVERLAP_##sym,
typedef enum SfOverlap
{
	SF_OVERLAP_LIST(SF_OVERLAP_ENUM)
} SfOverlap;

extern const char *sf_on_closed_name(SfOnClosed on_closed);
extern SfOnClosed sf_option_on_closed(const char *text);
extern SfMissed sf_option_missed(const char *text);
extern SfOverlap sf_option_overlap(const char *text);

/* --- rows --- */

/* cron_job_id: its row has not been given one yet */
#define SF_NO_CRON_JOB	0

/* Columns of _sfflow.schedule; see sql/parts/feature/schedule.sql. */
#define SF_SCHEDULE_COLUMNS(X) \
	X(char *, name, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL) \
	X(char *, cron, TEXT, NOT_NULL)	/* expression as given */ \
	X(char *, state_machine, TEXT, NOT_NULL)	/* its name, or "name/version" */ \
	X(Jsonb *, input, JSONB, NOT_NULL)	/* with placeholders */ \
	X(char *, timezone, TEXT, NULLABLE)	/* pg_cron's */ \
	X(char *, calendar, TEXT, NULLABLE) \
	X(SfOnClosed, on_closed, WORD, WORDS(on_closed_words)) \
	X(TimestampTz, starts, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, ends, TIMESTAMPTZ, NULL_IS(DT_NOEND)) \
	X(SfMissed, missed, WORD, WORDS(missed_words)) \
	X(SfOverlap, overlap, WORD, WORDS(overlap_words)) \
	X(int64, cron_job_id, INT8, NULL_IS(SF_NO_CRON_JOB))	/* of pg_cron */ \
	X(char *, last_execution_id, TEXT, NULLABLE) \
	X(TimestampTz, handled_until, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, missed_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, changed_at, TIMESTAMPTZ, NOT_NULL)	/* by sf_schedule, last */ \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL)

typedef struct SfSchedule
{
	SF_SCHEDULE_COLUMNS(SF_FIELD)
} SfSchedule;

/* What a sweep of all schedules leaves */
typedef enum SfRunsLeft
{
	SF_RUNS_LEFT_NONE,
	SF_RUNS_LEFT_WAIT,			/* runs that wait for executions to end */
	SF_RUNS_LEFT_DUE			/* runs that could start now: the next sweep should be soon */
} SfRunsLeft;

/* A schedule by name; NULL when there is none, or it is locked. */
extern SfSchedule *sf_schedule_read(const char *name, SfLock lock);

extern void sf_schedule_write(const SfSchedule *schedule);
extern void sf_schedule_write_owner(const SfSchedule *schedule);

extern void sf_schedule_delete(const char *name);

extern List *sf_schedule_names(void);
extern bool sf_schedule_is_any(void);

/* --- the times at which a schedule runs --- */

/* A search for the times of a schedule */
typedef struct SfTimeSearch
{
	SfCron		cron;			/* its days: those of a window that moves on */
	pg_tz	   *zone;
	SfCalendar *calendar;		/* NULL: none */
	SfOnClosed	on_closed;
	TimestampTz starts;
	TimestampTz ends;
} SfTimeSearch;

extern void sf_schedule_parse(const char *text, SfCron *cron);
extern pg_tz *sf_schedule_zone(const char *name);
extern SfTimeSearch sf_time_search_begin(const SfSchedule *schedule);

/* Give a search, with others, a limited time for the days of its calendar. */
static inline void
sf_time_search_limit(SfTimeSearch *search, SfSearchTime *time)
{
	if (search->calendar != NULL)
		search->calendar->time = time;
}

/*
 * Find the latest time at or before a time, or the first one after it; false when
 * there is none, or with a calendar none within ten years.
 */
extern bool sf_time_search_latest(SfTimeSearch *search, TimestampTz at, TimestampTz *out);
extern bool sf_time_search_next(SfTimeSearch *search, TimestampTz after, TimestampTz *out);

/* --- what the runs of a schedule are: when, under which name, with which input --- */

extern void sf_schedule_check(const SfSchedule *schedule, SfCron *cron);
extern const char *sf_schedule_job_expression(const SfSchedule *schedule,
											  const SfCron *cron);
extern int64 sf_schedule_add_job(const SfSchedule *schedule, const SfCron *cron);
extern bool sf_schedule_find_match(const SfSchedule *schedule, SfTimeSearch *search, TimestampTz now,
								   TimestampTz *scheduled);
extern TimestampTz sf_schedule_expected_from(const SfSchedule *schedule, const SfTimeSearch *search);
extern bool sf_schedule_find_missed(const SfSchedule *schedule, SfTimeSearch *search, TimestampTz until,
									TimestampTz *last);
extern char *sf_schedule_run_name(TimestampTz scheduled);
extern char *sf_schedule_start(const SfSchedule *schedule, TimestampTz scheduled);

/* Do a schedule's runs come: symbol, the word in sf_schedules */
#define SF_SCHEDULE_STATUS_LIST(X) \
	X(ACTIVE, "active") \
	X(INACTIVE, "inactive")		/* its job is switched off */ \
	X(NOT_DRIVEN, "not driven") /* as the database */ \
	X(GONE, "gone")				/* its job is not there */ \
	X(FAILING, "failing") \
	X(MISSED, "missed")

#define SF_SCHEDULE_STATUS_ENUM(sym, word) SF_SCHEDULE_##sym,
typedef enum SfScheduleStatus
{
	SF_SCHEDULE_STATUS_LIST(SF_SCHEDULE_STATUS_ENUM)
} SfScheduleStatus;

/* ... as the view sf_schedules shows it */
typedef struct SfScheduleHealth
{
	SfScheduleStatus status;
	const char *problem;		/* NULL: none */
	TimestampTz missed_at;		/* DT_NOBEGIN: none */
	bool		is_alert;		/* its runs do not happen as they should */
	TimestampTz since;			/* that they do not; DT_NOBEGIN: not known */
} SfScheduleHealth;

extern char *sf_schedule_unusable(const SfSchedule *schedule);
extern const char *sf_schedule_status_name(SfScheduleStatus status);
extern SfScheduleHealth sf_schedule_health(const SfSchedule *schedule);

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

extern List *sf_planned_runs(const SfSchedule *schedule, TimestampTz since, TimestampTz until,
							 TimestampTz now);

/* --- starting the runs of schedules: when they are due, missed, or have waited --- */

extern char *sf_due_run_called(SfSchedule *schedule, TimestampTz now);
extern SfRunsLeft sf_due_runs_sweep(TimestampTz now, TimestampTz *next);

/* --- the order in which sweeps deal with schedules --- */

/* A schedule that a sweep comes to */
typedef struct SfScheduleTurn
{
	char	   *name;
	Oid			owner;
	int			rank;			/* how many the owner has before it */
} SfScheduleTurn;

extern List *sf_schedule_turns(void);
extern bool sf_schedule_turns_taken(List *turns, int n);

/* --- schedules as functions of SQL name them --- */

extern bool sf_schedule_is_visible(const SfSchedule *schedule);
extern SfSchedule *sf_schedule_find_visible(const char *name);
extern SfSchedule *sf_schedule_lock_own(const char *name, SfNamedLock how);
extern Oid	sf_schedule_require_own(const char *name);
extern Oid	sf_schedule_set_owner(const char *name, Oid owner);
extern void sf_schedule_notice(SfNotice *notice, const char *name);

#endif							/* SF_FEATURE_SCHEDULE_H */
