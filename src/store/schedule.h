/*
 * schedule.h
 *		Rows of _sfflow.schedule.
 */
#ifndef SF_STORE_SCHEDULE_H
#define SF_STORE_SCHEDULE_H

#include "json/json.h"
#include "utils/timestamp.h"

typedef struct SfSchedule
{
	char	   *name;
	Oid			owner;
	char	   *schedule;		/* cron expression as given */
	char	   *state_machine;	/* "machine" or "machine/version" */
	Jsonb	   *input;			/* with placeholders */
	char	   *timezone;		/* or NULL: pg_cron's */
	int64		job_id;			/* of pg_cron */
	TimestampTz changed_at;		/* by sf_schedule, last */
	TimestampTz last_run_for;	/* latest match that a run was for; DT_NOBEGIN: none */
} SfSchedule;

/* A schedule by name; NULL when there is none. */
extern SfSchedule *sf_schedule_read(const char *name);

/* Insert a schedule, or put it in the place of the one with its name. */
extern void sf_schedule_write(const SfSchedule *schedule);

extern void sf_schedule_delete(const char *name);

/* Note a run and the execution that it started. */
extern void sf_schedule_note_run(const char *name, TimestampTz scheduled_for,
								 const char *execution_id);

/* Note a call for a time at which the schedule, in its own zone, has no run. */
extern void sf_schedule_note_skip(const char *name);

#endif							/* SF_STORE_SCHEDULE_H */
