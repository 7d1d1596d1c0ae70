/*
 * running_list.h
 *		The longest running executions of each machine, and how many run.
 */
#ifndef SF_STORE_RUNNING_LIST_H
#define SF_STORE_RUNNING_LIST_H

#include "store/table.h"

typedef struct SfRunningExecution
{
	char	   *execution_id;
	TimestampTz requested_at;	/* both without the time between ends and redrives */
	TimestampTz started_at;		/* DT_NOBEGIN: not yet */
	int64		running;		/* executions of its machine, SF_RUNNING_MAX at most */
} SfRunningExecution;

/* Running executions of a machine are counted up to this */
#define SF_RUNNING_MAX	1000

extern List *sf_running_list(const int *machines, int nmachines, int most);
extern int	sf_running_starts(int machine_no, TimestampTz since, TimestampTz until, int most);

#endif							/* SF_STORE_RUNNING_LIST_H */
