/*
 * notice.c
 *		Telling features of alerts, and of what may have no execution.
 *
 * The transaction that writes the change also tells of it.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/name/name.h"
#include "store/alert/alert.h"
#include "store/alert/notice.h"
#include "store/feature.h"
#include "store/state_machine/machine.h"

/* --- what it is of --- */

/* Fill in the machine of a notice, by a name that may be "machine/version". */
void
sf_notice_set_machine(SfNotice *n, const char *name)
{
	const SfMachine *machine = sf_machine_read(pnstrdup(name, strcspn(name, "/")), SF_NO_VERSION, false);

	if (machine == NULL)
		return;
	n->machine = machine->name;
	n->machine_owner = machine->owner;
}

/* Fill in the execution of a notice. */
void
sf_notice_set_execution(SfNotice *n, const SfExecution *execution)
{
	if (execution == NULL)
		return;
	n->execution = execution;
	n->machine = execution->machine_name;
	n->machine_owner = execution->owner;
	n->resource = sf_public_name(SF_NAME_EXECUTION, execution->execution_id);
}

/* --- details --- */

/* Milliseconds since 1970, as the dates in the detail of an event. */
static int64
milliseconds(TimestampTz t)
{
	return t / 1000 + (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000;
}

/* Add a date, or null. */
void
sf_notice_add_date(SfJsonBuilder *b, const char *key, TimestampTz t)
{
	if (TIMESTAMP_NOT_FINITE(t))
		sf_json_add_null(b, key);
	else
		sf_json_add_int(b, key, milliseconds(t));
}

/* Add a string, or null. */
void
sf_notice_add_text(SfJsonBuilder *b, const char *key, const char *text)
{
	if (text == NULL)
		sf_json_add_null(b, key);
	else
		sf_json_add_string(b, key, text);
}

/* Begin the detail of a notice: execution and machine. */
void
sf_notice_begin_detail(SfJsonBuilder *b, const SfNotice *n)
{
	const SfExecution *e = n->execution;

	sf_json_begin_object(b);
	sf_notice_add_text(b, "executionArn",
						e == NULL ? NULL : sf_public_name(SF_NAME_EXECUTION, e->execution_id));
	sf_notice_add_text(b, "stateMachineArn", n->machine == NULL ? NULL :
						sf_public_name(SF_NAME_STATE_MACHINE, n->machine));
	sf_notice_add_text(b, "name", e == NULL ? NULL : sf_execution_name(e));
}

/* --- telling --- */

/* Tell features of a notice with its detail. */
void
sf_notice_tell(SfNotice *n, SfJsonBuilder *detail)
{
	n->detail = sf_json_finish(detail);
	SF_TELL(noticed, n);
}

/* Tell features of an alert. */
void
sf_notice_tell_alert(SfNotice *n, const SfAlertDetail *a)
{
	SfJsonBuilder b;

	sf_notice_begin_detail(&b, n);
	sf_json_add_string(&b, "alert", a->kind);
	sf_json_add_string(&b, "status", a->status);
	sf_notice_add_text(&b, "target", a->target);
	sf_notice_add_date(&b, "sinceDate", a->since);
	sf_notice_add_text(&b, "comment", a->comment);
	sf_notice_tell(n, &b);
}

/* An alert of an execution was opened, acknowledged or cleared. */
void
sf_notice_alert(const SfExecution *execution, const char *kind, const char *status,
				TimestampTz since, const char *comment)
{
	SfNotice	n = {.kind = SF_CHANGE_ALERT,.at = GetCurrentTimestamp()};
	SfAlertDetail detail = {kind, status, since, NULL, comment};

	if (execution == NULL || !sf_feature_wants_notice(SF_CHANGE_ALERT, execution))
		return;
	sf_notice_set_execution(&n, execution);
	sf_notice_tell_alert(&n, &detail);
}

/* The same of the alerts that an execution has failed, that often by now. */
void
sf_notice_failure(const SfExecution *execution, int times, const char *status)
{
	SfExecutionAlert alert = execution->status == SF_STATUS_TIMED_OUT ? SF_EXECUTION_ALERT_TIMED_OUT :
		SF_EXECUTION_ALERT_FAILED;

	sf_notice_alert(execution, sf_alert_kind(alert), status, execution->stopped_at, NULL);
	if (times > 1)
		sf_notice_alert(execution, sf_alert_kind(SF_EXECUTION_ALERT_FAILED_AGAIN), status, execution->stopped_at, NULL);
}
