/*
 * scheduler.h
 *		pg_cron, as far as sfflow needs it.
 */
#ifndef SF_API_SCHEDULER_H
#define SF_API_SCHEDULER_H

#include "pgtime.h"

/*
 * Raise SF024 unless pg_cron is installed in this database.  Where it lives in
 * another one, the hint is the call to make there for this schedule.
 */
extern void sf_scheduler_require(const char *name, const char *schedule,
								 const char *command);

/* Whether pg_cron is installed in this database. */
extern bool sf_scheduler_is_here(void);

/* Whether it takes schedules of less than a minute ("30 seconds"). */
extern bool sf_scheduler_has_seconds(void);

/* The zone in which it reads its schedules. */
extern const char *sf_scheduler_zone_name(void);
extern pg_tz *sf_scheduler_zone(void);

/*
 * Schedule a command as the current user, in a job "sfflow:name"; one of that
 * name and role is replaced.  Returns the number of the job.
 */
extern int64 sf_scheduler_add(const char *name, const char *schedule,
							  const char *command);

/* Remove a job of a role, if it is still there. */
extern void sf_scheduler_remove(int64 job_id, Oid role);

/* Whether a job is there and active. */
extern bool sf_scheduler_is_active(int64 job_id);

#endif							/* SF_API_SCHEDULER_H */
