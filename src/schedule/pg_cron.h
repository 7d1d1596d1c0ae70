/*
 * pg_cron.h
 *		The jobs of pg_cron that run schedules.
 */
#ifndef SF_SCHEDULE_PG_CRON_H
#define SF_SCHEDULE_PG_CRON_H

#include "pgtime.h"
#include "store/table.h"

/*
 * Raise SF024 unless pg_cron is installed in this database.  When it is in
 * another one, the hint is the call to make there for this schedule.
 */
extern void sf_pg_cron_require(const char *name, const char *schedule,
								 const char *command);

/* Tell whether pg_cron is installed in this database. */
extern bool sf_pg_cron_is_here(void);

/* Tell whether it takes schedules of less than a minute ("30 seconds"). */
extern bool sf_pg_cron_has_seconds(void);

/* The zone in which it reads its schedules. */
extern const char *sf_pg_cron_zone_name(void);
extern pg_tz *sf_pg_cron_zone(void);

/*
 * Schedule a command as a role, in a job "sfflow:name", which replaces the
 * role's job of that name.  Returns the number of the job.
 */
extern int64 sf_pg_cron_add(Oid role, const char *name, const char *schedule,
							const char *command);

/* Remove a job of a role, if it is still there. */
extern void sf_pg_cron_remove(int64 job_id, Oid role);

/*
 * Raise SF024 when pg_cron certainly cannot run a job of a role; warn of what
 * cannot be checked from here.
 */
extern void sf_pg_cron_check_login(Oid role);

typedef enum SfJobState
{
	SF_JOB_GONE,
	SF_JOB_INACTIVE,
	SF_JOB_ACTIVE
} SfJobState;

/* Find the state of a job. */
extern SfJobState sf_pg_cron_job_state(int64 job_id);

/* Find why the last finished run of a job failed; NULL: it did not, or there is none. */
extern char *sf_pg_cron_last_failure(int64 job_id);

/* Read the runs of a job that pg_cron has recorded. */
extern void sf_pg_cron_read_runs(int64 job_id, SfRowReader reader, void *arg);

#endif							/* SF_SCHEDULE_PG_CRON_H */
