/*
 * status_event.c
 *		The events of EventBridge that tell of changes of statuses.
 *
 * Those of executions have the form that Step Functions gives them; those of jobs,
 * which it does not have, a similar one.  docs/rules.md lists the fields.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/name/name.h"
#include "base/settings.h"
#include "feature/rule/watcher.h"
#include "store/state_machine/aws_resource.h"
#include "store/state_machine/machine.h"

/* Input and output together are left out where they are longer than this, as in Step Functions */
#define MAX_PAYLOAD		(248 * 1024)

/* Add a document as a string of JSON text, and whether it is there. */
static void
add_payload(SfJsonBuilder *json, const char *key, const char *details, const char *text, bool included)
{
	sf_notice_add_text(json, key, included ? text : NULL);
	if (text == NULL)
	{
		sf_json_add_null(json, details);
		return;
	}
	sf_json_open_object(json, details);
	sf_json_add_bool(json, "included", included);
	sf_json_close_object(json);
}

/* Add input and output. */
static void
add_payloads(SfJsonBuilder *json, const SfChange *change, const SfExecution *execution)
{
	const char *input = execution->input == NULL ? NULL : sf_json_to_cstring(execution->input);
	const char *output = change->status != SF_STATUS_SUCCEEDED || execution->output == NULL ? NULL :
		sf_json_to_cstring(execution->output);
	bool		included = (input == NULL ? 0 : strlen(input)) +
		(output == NULL ? 0 : strlen(output)) <= MAX_PAYLOAD;

	add_payload(json, "input", "inputDetails", input, included);
	add_payload(json, "output", "outputDetails", output, included);
}

/* Add how the execution can be redriven. */
static void
add_redrive(SfJsonBuilder *json, const SfChange *change, const SfExecution *execution)
{
	bool		redrivable = change->status != SF_STATUS_RUNNING &&
		change->status != SF_STATUS_SUCCEEDED;

	sf_json_add_int(json, "redriveCount", execution->redrive_count);
	sf_notice_add_date(json, "redriveDate", execution->last_redriven_at);
	sf_json_add_string(json, "redriveStatus", redrivable ? "REDRIVABLE" : "NOT_REDRIVABLE");
	sf_notice_add_text(json, "redriveStatusReason", redrivable ? NULL :
			 psprintf("Execution is %s and cannot be redriven", sf_status_name(change->status)));
}

/* The ARN of the alias that an execution was started by; NULL: by none. */
static char *
find_alias(const SfExecution *execution)
{
	return execution->qualifier == NULL || sf_alias_is_number(execution->qualifier) ? NULL :
		sf_public_name(SF_NAME_STATE_MACHINE, psprintf("%s:%s", execution->machine_name, execution->qualifier));
}

/* Add the detail of a change of an execution. */
static void
add_execution(SfJsonBuilder *json, const SfChange *change, const SfExecution *execution, bool with_payload)
{
	bool		over = change->status != SF_STATUS_RUNNING;
	int			number = sf_publication_number(execution->machine_no, execution->version);

	sf_json_add_string(json, "status", sf_status_name(change->status));
	sf_notice_add_date(json, "startDate", execution->started_at);
	sf_notice_add_date(json, "stopDate", over ? change->at : DT_NOEND);
	sf_notice_add_text(json, "stateMachineVersionArn", number == 0 ? NULL :
						sf_public_name(SF_NAME_STATE_MACHINE, psprintf("%s:%d", execution->machine_name, number)));
	sf_notice_add_text(json, "stateMachineAliasArn", find_alias(execution));
	add_redrive(json, change, execution);
	if (with_payload)
		add_payloads(json, change, execution);
	sf_notice_add_text(json, "error", over ? execution->error : NULL);
	sf_notice_add_text(json, "cause", over ? execution->cause : NULL);
}

/* Add the detail of an attempt of a job. */
static void
add_job(SfJsonBuilder *json, const SfChange *change)
{
	const SfJobChange *job = sf_change_job(change);

	sf_json_add_string(json, "job", job->name);
	sf_json_add_string(json, "status", sf_status_name(change->status));
	sf_json_add_int(json, "attempt", job->attempt);
	sf_notice_add_date(json, "startDate", job->began);
	sf_notice_add_date(json, "stopDate", change->at);
	sf_notice_add_text(json, "error", job->error == NULL ? NULL : job->error->name);
	sf_notice_add_text(json, "cause", job->error == NULL ? NULL : job->error->cause);
}

/* "2025-02-05T02:00:00Z" */
static char *
print_time(TimestampTz at)
{
	char	   *time = sf_timestamp_print(at);
	char	   *fraction = strchr(time, '.');

	if (fraction != NULL)
		strcpy(fraction, "Z");
	return time;
}

/* Begin an event, up to its detail. */
static void
begin_event(SfJsonBuilder *json, SfChangeKind kind, const char *detail_type, const char *id, TimestampTz at,
			const char *arn)
{
	static const struct
	{
		const char *source;
		const char *detail_type;
	}			forms[] = {
#define FORM(sym, source, detail_type) {source, detail_type},
		SF_CHANGE_LIST(FORM)
	};

	sf_json_begin_object(json);
	sf_json_add_string(json, "version", "0");
	sf_json_add_string(json, "id", id);
	sf_json_add_string(json, "detail-type", detail_type == NULL ? forms[kind].detail_type : detail_type);
	sf_json_add_string(json, "source", forms[kind].source);
	sf_json_add_string(json, "account", sf_setting_account_id);
	sf_json_add_string(json, "time", print_time(at));
	sf_json_add_string(json, "region", sf_setting_region);
	sf_json_open_array(json, "resources");
	if (arn != NULL)
		sf_json_add_string(json, NULL, arn);
	sf_json_close_array(json);
}

/* Make the event that tells of a change of an execution, or of a job of it. */
Jsonb *
sf_watcher_event(const SfChange *change, const SfExecution *execution, const char *id,
				bool with_payload)
{
	const char *arn = sf_public_name(SF_NAME_EXECUTION, execution->execution_id);
	SfJsonBuilder json;

	begin_event(&json, change->kind, NULL, id, change->at, arn);
	sf_json_open_object(&json, "detail");
	sf_json_add_string(&json, "executionArn", arn);
	sf_json_add_string(&json, "stateMachineArn",
					   sf_public_name(SF_NAME_STATE_MACHINE, execution->machine_name));
	sf_json_add_string(&json, "name", sf_execution_name(execution));
	sf_json_add(&json, "labels", execution->labels);
	if (change->kind == SF_CHANGE_EXECUTION)
		add_execution(&json, change, execution, with_payload);
	else
		add_job(&json, change);
	sf_json_close_object(&json);
	return sf_json_end(&json);
}

/* Make the event that tells of a change of what may have no execution. */
Jsonb *
sf_watcher_notice_event(const SfNotice *notice, const char *id)
{
	SfJsonBuilder json;

	begin_event(&json, notice->kind, notice->event_type, id, notice->at, notice->resource);
	sf_json_add(&json, "detail", notice->detail);
	return sf_json_end(&json);
}

/* An event of an execution without input and output. */
Jsonb *
sf_watcher_event_cut(const Jsonb *event)
{
	static const char *const payloads[][2] = {{"input", "inputDetails"}, {"output", "outputDetails"}};
	Jsonb	   *detail = sf_json_get(event, "detail");
	SfJsonBuilder json;
	SfJsonBuilder whole;

	if (detail == NULL)
		return unconstify(Jsonb *, event);
	sf_json_begin_object(&json);
	for (size_t i = 0; i < lengthof(payloads); i++)
		if (sf_json_get_cstring(detail, payloads[i][0]) != NULL)
			add_payload(&json, payloads[i][0], payloads[i][1], "", false);
	sf_json_begin_object(&whole);
	sf_json_add(&whole, "detail", sf_json_merge(detail, sf_json_end(&json)));
	return sf_json_merge(event, sf_json_end(&whole));
}
