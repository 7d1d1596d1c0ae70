/*
 * alert.h
 *		Rows of _sfflow.failure and _sfflow.acknowledgement: executions that have failed, and the alerts that an
 *		operator has acknowledged.
 */
#ifndef SF_STORE_ALERT_H
#define SF_STORE_ALERT_H

#include "store/execution/execution.h"

/* An alert that was acknowledged */
typedef struct SfAcknowledged
{
	int64		execution_no;
	char	   *kind;
	TimestampTz since;
} SfAcknowledged;

extern int	sf_alert_note(const SfExecution *execution);
extern int	sf_alert_close(int64 execution_no);
extern List *sf_alert_acknowledge(int64 execution_no, const char *kind, const char *comment);
extern List *sf_alert_list_executions(int machine_no, TimestampTz until);
extern List *sf_alert_acknowledge_all(const List *executions, TimestampTz until, const char *comment);

#endif							/* SF_STORE_ALERT_H */
