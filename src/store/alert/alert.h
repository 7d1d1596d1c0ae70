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

/*
 * --- kinds of alerts that name an execution, as they are stored and shown ---
 *
 * A feature lists its own (SfFeature.alert_kinds).
 */

#define SF_ALERT_KIND_FAILED			"failed"
#define SF_ALERT_KIND_TIMED_OUT		"timed_out"
#define SF_ALERT_KIND_FAILED_AGAIN	"failed_again"
#define SF_ALERT_KIND_SLOW_TASK		"slow_task"
#define SF_ALERT_KIND_DEAD_LETTER	"dead_letter"
#define SF_ALERT_KIND_OVERDUE		"overdue"

#endif							/* SF_STORE_ALERT_H */
