/*
 * pg_cron.h
 *		The jobs of pg_cron that run schedules.
 */
#ifndef SF_FEATURE_PG_CRON_H
#define SF_FEATURE_PG_CRON_H

#include "pgtime.h"

#include "db/table.h"

extern void sf_pg_cron_require(const char *name, const char *cron,
								 const char *command);
extern bool sf_pg_cron_is_here(void);
extern bool sf_pg_cron_has_seconds(void);

/* The zone in which it reads its schedules. */
extern const char *sf_pg_cron_zone_name(void);
extern pg_tz *sf_pg_cron_zone(void);

extern int64 sf_pg_cron_schedule(Oid role, const char *name, const char *cron,
								 const char *command);
extern void sf_pg_cron_unschedule(int64 job_id, Oid role);
extern void sf_pg_cron_check_login(Oid role);

typedef enum SfCronJobStatus
{
	SF_CRON_JOB_GONE,
	SF_CRON_JOB_INACTIVE,
	SF_CRON_JOB_ACTIVE
} SfCronJobStatus;

extern SfCronJobStatus sf_pg_cron_job_status(int64 job_id);
extern char *sf_pg_cron_last_failure(int64 job_id);
extern TimestampTz sf_pg_cron_last_success(int64 job_id);
extern void sf_pg_cron_read_runs(int64 job_id, SfRowReader reader, void *arg);

#endif							/* SF_FEATURE_PG_CRON_H */
