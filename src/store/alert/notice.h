/*
 * notice.h
 *		What a feature may want to know of: changes of statuses, and notices of what may have no execution.
 *
 * Without a feature that wants a notice (SfFeatureNotices.wants), nothing is read or made for it.
 */
#ifndef SF_STORE_NOTICE_H
#define SF_STORE_NOTICE_H

#include "base/error/errors.h"
#include "json/json.h"
#include "store/execution/execution.h"

/* The detail-type of alerts */
#define SF_ALERT_DETAIL_TYPE	"sfflow Alert Status Change"

/* What a change is of: symbol, source and detail-type of its event (NULL: the notice says it) */
#define SF_CHANGE_LIST(X) \
	X(EXECUTION, "aws.states", "Step Functions Execution Status Change") \
	X(JOB, "sfflow.jobs", "sfflow Job Status Change")	/* an attempt of a Task state */ \
	X(DEADLINE, "sfflow.deadlines", "sfflow Deadline Status Change") \
	X(ALERT, "sfflow.alerts", SF_ALERT_DETAIL_TYPE) \
	X(SCHEDULE_RUN, "sfflow.schedules", "sfflow Schedule Run Status Change") \
	X(HUMAN_TASK, "sfflow.tasks", "sfflow Human Task Status Change") \
	X(EMISSION, "sfflow.events", NULL)	/* an event was emitted: the name of its type */

#define SF_CHANGE_ENUM(sym, source, detail_type) SF_CHANGE_##sym,
typedef enum SfChangeKind
{
	SF_CHANGE_LIST(SF_CHANGE_ENUM)
} SfChangeKind;

/* JOB: an attempt of a job is over */
typedef struct SfJobChange
{
	const char *name;			/* of the state */
	int			attempt;		/* $$.State.RetryCount */
	TimestampTz began;
	const SfError *error;		/* NULL: it succeeded */
} SfJobChange;

/* A status has changed, of an execution or of a job */
typedef struct SfChange
{
	SfChangeKind kind;
	SfStatus	status;
	TimestampTz at;
	SfJobChange job;			/* JOB: sf_change_job(change) */
} SfChange;

/* The attempt of a job that is over. */
static inline const SfJobChange *
sf_change_job(const SfChange *change)
{
	Assert(change->kind == SF_CHANGE_JOB);
	return &change->job;
}

/* A change of what may have no execution, with the detail of its event */
typedef struct SfNotice
{
	SfChangeKind kind;
	TimestampTz at;
	const char *resource;		/* public name of what it is of; or NULL */
	const char *machine;		/* name; NULL: it is gone */
	Oid			machine_owner;
	Oid			owner;			/* whose members may know of it, too; InvalidOid: none */
	const char *event_type;		/* EMISSION: those who may RECEIVE it may know of it, too */
	const SfExecution *execution;	/* or NULL */
	Jsonb	   *detail;
} SfNotice;

/* What became of an alert */
#define SF_ALERT_OPENED			"OPENED"
#define SF_ALERT_ACKNOWLEDGED	"ACKNOWLEDGED"
#define SF_ALERT_CLEARED		"CLEARED"

/* What the event of an alert tells besides what it is of */
typedef struct SfAlertDetail
{
	const char *kind;			/* as sf_alerts has it */
	const char *status;			/* SF_ALERT_… */
	TimestampTz since;
	const char *target;			/* if it is of no execution; NULL: none */
	const char *comment;		/* or NULL */
} SfAlertDetail;

extern void sf_notice_alert(const SfExecution *execution, const char *kind, const char *status,
							TimestampTz since, const char *comment);
extern void sf_notice_failure(const SfExecution *execution, int times, const char *status);

/* --- for those who make notices --- */

extern void sf_notice_set_machine(SfNotice *notice, const char *name);
extern void sf_notice_set_execution(SfNotice *notice, const SfExecution *execution);
extern void sf_notice_begin_detail(SfJsonBuilder *json, const SfNotice *notice);
extern void sf_notice_add_date(SfJsonBuilder *json, const char *key, TimestampTz at);
extern void sf_notice_add_text(SfJsonBuilder *json, const char *key, const char *text);
extern void sf_notice_tell(SfNotice *notice, SfJsonBuilder *detail);
extern void sf_notice_tell_alert(SfNotice *notice, const SfAlertDetail *detail);

#endif							/* SF_STORE_NOTICE_H */
