/*
 * noted_runs.h
 *		What became of runs of schedules, and those that wait.
 */
#ifndef SF_FEATURE_NOTED_RUNS_H
#define SF_FEATURE_NOTED_RUNS_H

#include "nodes/pg_list.h"

#include "db/row.h"

/*
 * What became of a run: symbol, the word in sf_schedule_runs and in rows, the word in events and in sf_night.
 * The words differ where a run was left out since the one before still ran: it is SKIPPED in events.
 */
#define SF_RUN_OUTCOME_LIST(X) \
	X(SUCCEEDED, "succeeded", "STARTED")	/* it has started its execution, or found it there */ \
	X(NO_MATCH, "skipped", NULL)	/* a call at a time that is none of the schedule */ \
	X(OVERLAPPED, "overlap", "SKIPPED")	/* the one before still ran */ \
	X(QUEUED, "queued", "QUEUED") \
	X(GIVEN_UP, "missed", "MISSED")	/* it was missed, and missed => skip */ \
	X(FAILED, "failed", "FAILED")

#define SF_RUN_OUTCOME_ENUM(sym, word, event_word) SF_RUN_OUTCOME_##sym,
typedef enum SfRunOutcome
{
	SF_RUN_OUTCOME_LIST(SF_RUN_OUTCOME_ENUM)
} SfRunOutcome;

extern const char *sf_schedule_outcome_in_event(SfRunOutcome outcome);

/* A run that was noted and did not start */
typedef struct SfUnstartedRun
{
	TimestampTz at;				/* it was for, or else when it was noted */
	SfRunOutcome outcome;
	char	   *message;		/* of an error; NULL: none */
} SfUnstartedRun;

extern void sf_schedule_note(const char *name, SfRunOutcome outcome,
								 TimestampTz scheduled_for, const char *execution_id,
								 const char *message);
extern bool sf_schedule_is_noted(const char *name, SfRunOutcome outcome,
									 TimestampTz scheduled_for);
extern List *sf_schedule_unstarted(const char *name, TimestampTz since, TimestampTz until);
extern char *sf_schedule_last_failure(const char *name);
extern TimestampTz sf_schedule_last_success(const char *name);
extern void sf_schedule_set_last(const char *name, const char *execution_id);
extern void sf_schedule_set_handled(const char *name, TimestampTz until,
										TimestampTz missed_at);

/* --- runs that wait --- */

/*
 * What a row of _sfflow.pending_run is of; the numbers are stored:
 *
 *	RUNNING		a run of sf_backfill that has started: the row is there until its execution has ended
 *	QUEUED		a run of the schedule itself, which waits for the one before
 *	BACKFILL	a run of sf_backfill that has not started
 */
#define SF_PENDING_RUN_LIST(X) \
	X(RUNNING, 0) \
	X(QUEUED, 1) \
	X(BACKFILL, 2)

#define SF_PENDING_RUN_ENUM(sym, number) SF_PENDING_RUN_##sym = number,
typedef enum SfPendingRunKind
{
	SF_PENDING_RUN_LIST(SF_PENDING_RUN_ENUM)
} SfPendingRunKind;

/* The order in which a sweep deals with those of a schedule */
#define SF_PENDING_RUNS_IN_TURN	SF_PENDING_RUN_RUNNING, SF_PENDING_RUN_QUEUED, SF_PENDING_RUN_BACKFILL

/* max_running: QUEUED has none */
#define SF_NO_MAX_RUNNING	0

/* Columns of _sfflow.pending_run; see sql/parts/feature/schedule.sql. */
#define SF_PENDING_RUN_COLUMNS(X) \
	X(char *, schedule, TEXT, NOT_NULL) \
	X(TimestampTz, scheduled_for, TIMESTAMPTZ, NOT_NULL) \
	X(int, max_running, INT4, NULL_IS(SF_NO_MAX_RUNNING))	/* RUNNING, BACKFILL: executions that run at once */ \
	X(char *, execution_id, TEXT, NULLABLE)	/* RUNNING */ \
	X(SfPendingRunKind, kind, INT2, NOT_NULL)

typedef struct SfPendingRun
{
	SF_PENDING_RUN_COLUMNS(SF_FIELD)
} SfPendingRun;

extern bool sf_pending_run_queue(const char *schedule, TimestampTz scheduled_for);
extern bool sf_pending_run_backfill(const char *schedule, TimestampTz scheduled_for, int max_running);
extern int	sf_pending_run_count(const char *schedule);
extern List *sf_pending_run_read(const char *schedule);
extern void sf_pending_run_started(const SfPendingRun *pending, const char *execution_id);
extern void sf_pending_run_delete(const SfPendingRun *pending);
extern bool sf_pending_run_is_any(void);

#endif							/* SF_FEATURE_NOTED_RUNS_H */
