/*
 * scheduler.h
 *		pg_cron, as far as sfflow needs it.
 */
#ifndef SF_API_SCHEDULER_H
#define SF_API_SCHEDULER_H

#include "pgtime.h"
#include "store/table.h"

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

/*
 * Raise SF024 when pg_cron cannot run a job of a role, as far as that can be
 * known; warn of what cannot.
 */
extern void sf_scheduler_check_login(Oid role);

typedef enum SfJobState
{
	SF_JOB_GONE,
	SF_JOB_INACTIVE,
	SF_JOB_ACTIVE
} SfJobState;

/* What state a job is in. */
extern SfJobState sf_scheduler_job_state(int64 job_id);

/*
 * Why the last run of a job that has ended failed; NULL: it did not, or none
 * has ended.
 */
extern char *sf_scheduler_last_failure(int64 job_id);

/* Have the runs of a job that pg_cron has noted read. */
extern void sf_scheduler_read_runs(int64 job_id, SfRowReader reader, void *arg);

#endif							/* SF_API_SCHEDULER_H */
