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

/* Fill in the machine of a notice, by its name or by "name/version". */
void
sf_notice_set_machine(SfNotice *notice, const char *name)
{
	const SfMachine *machine = sf_machine_read(pnstrdup(name, strcspn(name, "/")), SF_NO_VERSION, false);

	if (machine == NULL)
		return;
	notice->machine = machine->name;
	notice->machine_owner = machine->owner;
}

/* Fill in the execution of a notice. */
void
sf_notice_set_execution(SfNotice *notice, const SfExecution *execution)
{
	if (execution == NULL)
		return;
	notice->execution = execution;
	notice->machine = execution->machine_name;
	notice->machine_owner = execution->owner;
	notice->resource = sf_public_name(SF_NAME_EXECUTION, execution->execution_id);
}

/* --- details --- */

/* Milliseconds since 1970, as the dates in the detail of an event. */
static int64
milliseconds(TimestampTz at)
{
	return at / 1000 + (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * 1000;
}

/* Add a date, or null. */
void
sf_notice_add_date(SfJsonBuilder *json, const char *key, TimestampTz at)
{
	if (TIMESTAMP_NOT_FINITE(at))
		sf_json_add_null(json, key);
	else
		sf_json_add_int(json, key, milliseconds(at));
}

/* Add a string, or null. */
void
sf_notice_add_text(SfJsonBuilder *json, const char *key, const char *text)
{
	if (text == NULL)
		sf_json_add_null(json, key);
	else
		sf_json_add_string(json, key, text);
}

/* Begin the detail of a notice: execution and machine. */
void
sf_notice_begin_detail(SfJsonBuilder *json, const SfNotice *notice)
{
	const SfExecution *execution = notice->execution;

	sf_json_begin_object(json);
	sf_notice_add_text(json, "executionArn",
						execution == NULL ? NULL : sf_public_name(SF_NAME_EXECUTION, execution->execution_id));
	sf_notice_add_text(json, "stateMachineArn", notice->machine == NULL ? NULL :
						sf_public_name(SF_NAME_STATE_MACHINE, notice->machine));
	sf_notice_add_text(json, "name", execution == NULL ? NULL : sf_execution_name(execution));
}

/* --- telling --- */

/* Tell features of a notice with its detail. */
void
sf_notice_tell(SfNotice *notice, SfJsonBuilder *detail)
{
	notice->detail = sf_json_end(detail);
	SF_TELL_PROVIDER(notices, on_notice, notice);
}

/* Tell features of an alert. */
void
sf_notice_tell_alert(SfNotice *notice, const SfAlertDetail *detail)
{
	SfJsonBuilder json;

	sf_notice_begin_detail(&json, notice);
	sf_json_add_string(&json, "alert", detail->kind);
	sf_json_add_string(&json, "status", detail->status);
	sf_notice_add_text(&json, "target", detail->target);
	sf_notice_add_date(&json, "sinceDate", detail->since);
	sf_notice_add_text(&json, "comment", detail->comment);
	sf_notice_tell(notice, &json);
}

/* An alert of an execution was opened, acknowledged or cleared. */
void
sf_notice_alert(const SfExecution *execution, const char *kind, const char *status,
				TimestampTz since, const char *comment)
{
	SfNotice	notice = {.kind = SF_CHANGE_ALERT,.at = GetCurrentTimestamp()};
	SfAlertDetail detail = {kind, status, since, NULL, comment};

	if (execution == NULL || !sf_feature_wants_notice(SF_CHANGE_ALERT, execution))
		return;
	sf_notice_set_execution(&notice, execution);
	sf_notice_tell_alert(&notice, &detail);
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
