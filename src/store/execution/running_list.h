/*
 * running_list.h
 *		The longest running executions of each machine, and how many run.
 */
#ifndef SF_STORE_RUNNING_LIST_H
#define SF_STORE_RUNNING_LIST_H

#include "db/row.h"

/*
 * An execution that runs; its times are without that between ends and redrives, running is how
 * many of its machine do, SF_RUNNING_MAX at most
 */
#define SF_RUNNING_FIELDS(X) \
	X(char *, execution_id, TEXT, NOT_NULL) \
	X(TimestampTz, requested_at, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, started_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(int64, running, INT8, NOT_NULL)

typedef struct SfRunningExecution
{
	SF_RUNNING_FIELDS(SF_FIELD)
} SfRunningExecution;

/* Running executions of a machine are counted up to this */
#define SF_RUNNING_MAX	1000

extern List *sf_running_list(const int *machines, int nmachines, int most);
extern int	sf_running_starts(int machine_no, TimestampTz since, TimestampTz until, int most);

#endif							/* SF_STORE_RUNNING_LIST_H */
