/*
 * schedule.h
 *		Rows of _sfflow.schedule.
 */
#ifndef SF_STORE_SCHEDULE_H
#define SF_STORE_SCHEDULE_H

#include "store/row.h"

/* Columns of _sfflow.schedule; see sql/parts/10-tables.sql. */
#define SF_SCHEDULE_COLUMNS(X) \
	X(char *, name, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL) \
	X(char *, schedule, TEXT, NOT_NULL)	/* cron expression as given */ \
	X(char *, state_machine, TEXT, NOT_NULL)	/* "machine" or "machine/version" */ \
	X(Jsonb *, input, JSONB, NOT_NULL)	/* with placeholders */ \
	X(char *, timezone, TEXT, NULLABLE)	/* pg_cron's */ \
	X(char *, calendar, TEXT, NULLABLE) \
	X(char *, on_closed, TEXT, NOT_NULL) \
	X(TimestampTz, starts, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, ends, TIMESTAMPTZ, NULL_IS(DT_NOEND)) \
	X(char *, missed, TEXT, NOT_NULL) \
	X(char *, overlap, TEXT, NOT_NULL) \
	X(int64, job_id, INT8, NULL_IS(0))	/* of pg_cron */ \
	X(char *, last_execution_id, TEXT, NULLABLE) \
	X(TimestampTz, handled_until, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, missed_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, changed_at, TIMESTAMPTZ, NOT_NULL)	/* by sf_schedule, last */ \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL)

typedef struct SfSchedule
{
	SF_SCHEDULE_COLUMNS(SF_FIELD)
} SfSchedule;

/* What a look at all schedules leaves */
typedef enum SfRunsLeft
{
	SF_RUNS_NONE,
	SF_RUNS_WAIT,				/* runs that wait for executions to end */
	SF_RUNS_DUE					/* runs that could start now: the next look should be soon */
} SfRunsLeft;

/* A schedule by name; NULL when there is none, or it is locked. */
extern SfSchedule *sf_schedule_row_read(const char *name, SfLock lock);

extern void sf_schedule_row_write(const SfSchedule *schedule);

extern void sf_schedule_row_delete(const char *name);

/* Outcomes of runs: one that has started its execution, or found it there, and others */
#define SF_RUN_STARTED		"succeeded"
#define SF_RUN_NO_MATCH		"skipped"
#define SF_RUN_OVERLAPPED	"overlap"
#define SF_RUN_QUEUED		"queued"
#define SF_RUN_MISSED		"missed"
#define SF_RUN_FAILED		"failed"

/* A run that was noted and did not start */
typedef struct SfUnstartedRun
{
	TimestampTz at;				/* it was for, or else when it was noted */
	char	   *outcome;
	char	   *message;		/* of an error; NULL: none */
} SfUnstartedRun;

extern List *sf_schedule_row_names(void);
extern bool sf_schedule_row_any(void);
extern void sf_schedule_row_note(const char *name, const char *outcome,
								 TimestampTz scheduled_for, const char *execution_id,
								 const char *message);
extern bool sf_schedule_row_is_noted(const char *name, const char *outcome,
									 TimestampTz scheduled_for);
extern List *sf_schedule_row_unstarted(const char *name, TimestampTz since, TimestampTz until);
extern char *sf_schedule_row_last_failure(const char *name);
extern TimestampTz sf_schedule_row_last_success(const char *name);
extern void sf_schedule_row_set_last(const char *name, const char *execution_id);
extern void sf_schedule_row_set_handled(const char *name, TimestampTz until,
										TimestampTz missed_at);

#endif							/* SF_STORE_SCHEDULE_H */
