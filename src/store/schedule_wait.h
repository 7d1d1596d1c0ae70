/*
 * schedule_wait.h
 *		Rows of _sfflow.schedule_wait: runs that wait for others to end.
 */
#ifndef SF_STORE_SCHEDULE_WAIT_H
#define SF_STORE_SCHEDULE_WAIT_H

#include "store/row.h"

/* Columns of _sfflow.schedule_wait; see sql/parts/10-tables.sql. */
#define SF_SCHEDULE_WAIT_COLUMNS(X) \
	X(char *, schedule, TEXT, NOT_NULL) \
	X(TimestampTz, scheduled_for, TIMESTAMPTZ, NOT_NULL) \
	X(int, max_running, INT4, NULL_IS(0))	/* 0: not of sf_backfill */ \
	X(char *, execution_id, TEXT, NULLABLE)

typedef struct SfScheduleWait
{
	SF_SCHEDULE_WAIT_COLUMNS(SF_FIELD)
} SfScheduleWait;

extern bool sf_schedule_wait_add(const char *schedule, TimestampTz scheduled_for, int max_running);
extern int	sf_schedule_wait_count(const char *schedule);
extern List *sf_schedule_wait_read(const char *schedule);
extern void sf_schedule_wait_started(const SfScheduleWait *wait, const char *execution_id);
extern void sf_schedule_wait_delete(const SfScheduleWait *wait);
extern bool sf_schedule_wait_any(void);

#endif							/* SF_STORE_SCHEDULE_WAIT_H */
