/*
 * notice.h
 *		Telling rules of deadlines, of alerts and of runs of schedules.
 */
#ifndef SF_RULE_NOTICE_H
#define SF_RULE_NOTICE_H

#include "rule/observe.h"
#include "store/deadline.h"
#include "store/schedule.h"

/* What became of an alert */
#define SF_ALERT_OPENED			"OPENED"
#define SF_ALERT_ACKNOWLEDGED	"ACKNOWLEDGED"
#define SF_ALERT_CLEARED		"CLEARED"

extern void sf_notice_alert(const SfExecution *execution, const char *kind, const char *status,
							TimestampTz since, const char *comment);
extern void sf_notice_failure(const SfExecution *execution, int times, const char *status);
extern bool sf_notice_time_alerts(void);
extern void sf_notice_late_alert(const SfLateness *late, const char *status, TimestampTz at);
extern void sf_notice_deadline(const SfDeadline *deadline, const SfLateness *late, bool is_over,
							   TimestampTz at);
extern void sf_notice_run(const SfSchedule *schedule, const char *outcome, TimestampTz scheduled_for,
						  const char *execution_id, const char *error);

#endif							/* SF_RULE_NOTICE_H */
