/*
 * alert.h
 *		Rows of _sfflow.failure and _sfflow.acknowledgement: executions that have
 *		failed, and the alerts that an operator has acknowledged.
 */
#ifndef SF_STORE_ALERT_H
#define SF_STORE_ALERT_H

#include "store/execution.h"

extern void sf_alert_note(const SfExecution *execution);
extern void sf_alert_close(int64 execution_no);
extern int64 sf_alert_acknowledge(int64 execution_no, const char *kind, const char *comment);
extern int64 sf_alert_acknowledge_all(int machine_no, TimestampTz until, const char *comment);

#endif							/* SF_STORE_ALERT_H */
