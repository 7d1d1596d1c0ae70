/*
 * schedule.h (store)
 *		Rows of _sfflow.schedule.
 */
#ifndef SF_STORE_SCHEDULE_H
#define SF_STORE_SCHEDULE_H

#include "json/json.h"

typedef struct SfSchedule
{
	char	   *name;
	Oid			owner;
	char	   *schedule;		/* cron expression as given */
	char	   *state_machine;	/* "machine" or "machine/version" */
	Jsonb	   *input;			/* with placeholders */
	char	   *timezone;		/* or NULL: pg_cron's */
	int64		job_id;			/* of pg_cron */
} SfSchedule;

/* A schedule by name; NULL when there is none. */
extern SfSchedule *sf_schedule_read(const char *name);

/* Insert a schedule, or put it in the place of the one with its name. */
extern void sf_schedule_write(const SfSchedule *schedule);

extern void sf_schedule_delete(const char *name);

/* Note the execution that a schedule started last. */
extern void sf_schedule_note_run(const char *name, const char *execution_id);

#endif							/* SF_STORE_SCHEDULE_H */
