/*
 * alert.h
 *		Rows of _sfflow.failure, _sfflow.acknowledgement and _sfflow.told_alert:
 *		executions that have failed, the alerts that an operator has acknowledged, and
 *		those that rules were told of.
 */
#ifndef SF_STORE_ALERT_H
#define SF_STORE_ALERT_H

#include "store/execution.h"

/* An alert that was acknowledged */
typedef struct SfAcknowledged
{
	int64		execution_no;
	char	   *kind;
	TimestampTz since;
} SfAcknowledged;

/* An alert that time has opened, or cleared */
typedef struct SfTimeAlert
{
	char	   *kind;
	char	   *object;			/* its execution, activity, schedule or machine */
	TimestampTz since;			/* DT_NOBEGIN: not known */
	int64		execution_no;	/* 0: it is of none */
	int			machine_no;		/* cleared: what it was of when it was opened; 0: none */
	Oid			owner;			/* ... and whose */
	bool		is_open;		/* else cleared */
} SfTimeAlert;

/* Alerts that one look tells of */
#define SF_TIME_ALERTS_MAX	1000

extern int	sf_alert_note(const SfExecution *execution);
extern int	sf_alert_close(int64 execution_no);
extern bool sf_alert_lock_look(void);
extern List *sf_alert_look(void);
extern void sf_alert_note_told(const SfTimeAlert *alert, int machine_no, Oid owner);
extern List *sf_alert_acknowledge(int64 execution_no, const char *kind, const char *comment);
extern List *sf_alert_acknowledge_all(int machine_no, TimestampTz until, const char *comment);

#endif							/* SF_STORE_ALERT_H */
