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
 * --- kinds of alerts that name an execution: symbol, the word that is stored and shown ---
 *
 * A feature lists its own (SfFeatureAlerts.kinds).
 */
#define SF_EXECUTION_ALERT_LIST(X) \
	X(FAILED, "failed") \
	X(TIMED_OUT, "timed_out") \
	X(FAILED_AGAIN, "failed_again") \
	X(SLOW_TASK, "slow_task") \
	X(DEAD_LETTER, "dead_letter") \
	X(OVERDUE, "overdue")

#define SF_EXECUTION_ALERT_ENUM(sym, word) SF_EXECUTION_ALERT_##sym,
typedef enum SfExecutionAlert
{
	SF_EXECUTION_ALERT_LIST(SF_EXECUTION_ALERT_ENUM)
} SfExecutionAlert;

#define SF_EXECUTION_ALERT_WORD(sym, word) word,

extern const char *sf_alert_kind(SfExecutionAlert alert);

#endif							/* SF_STORE_ALERT_H */
