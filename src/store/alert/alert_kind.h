/*
 * alert_kind.h
 *		Kinds of alerts that name an execution, as they are stored and shown.  A feature lists its own
 *		(SfFeature.alert_kinds).
 */
#ifndef SF_STORE_ALERT_KIND_H
#define SF_STORE_ALERT_KIND_H

#define SF_ALERT_KIND_FAILED			"failed"
#define SF_ALERT_KIND_TIMED_OUT		"timed_out"
#define SF_ALERT_KIND_FAILED_AGAIN	"failed_again"
#define SF_ALERT_KIND_SLOW_TASK		"slow_task"
#define SF_ALERT_KIND_DEAD_LETTER	"dead_letter"
#define SF_ALERT_KIND_OVERDUE		"overdue"

#endif							/* SF_STORE_ALERT_KIND_H */
