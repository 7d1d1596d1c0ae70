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
add_payload(SfJsonBuilder *b, const char *key, const char *details, const char *text, bool included)
{
	sf_notice_add_text(b, key, included ? text : NULL);
	if (text == NULL)
	{
		sf_json_add_null(b, details);
		return;
	}
	sf_json_open_object(b, details);
	sf_json_add_bool(b, "included", included);
	sf_json_close_object(b);
}

/* Add input and output. */
static void
add_payloads(SfJsonBuilder *b, const SfChange *change, const SfExecution *e)
{
	const char *input = e->input == NULL ? NULL : sf_json_to_cstring(e->input);
	const char *output = change->status != SF_STATUS_SUCCEEDED || e->output == NULL ? NULL :
		sf_json_to_cstring(e->output);
	bool		included = (input == NULL ? 0 : strlen(input)) +
		(output == NULL ? 0 : strlen(output)) <= MAX_PAYLOAD;

	add_payload(b, "input", "inputDetails", input, included);
	add_payload(b, "output", "outputDetails", output, included);
}

/* Add how the execution can be redriven. */
static void
add_redrive(SfJsonBuilder *b, const SfChange *change, const SfExecution *e)
{
	bool		redrivable = change->status != SF_STATUS_RUNNING &&
		change->status != SF_STATUS_SUCCEEDED;

	sf_json_add_int(b, "redriveCount", e->redrive_count);
	sf_notice_add_date(b, "redriveDate", e->last_redriven_at);
	sf_json_add_string(b, "redriveStatus", redrivable ? "REDRIVABLE" : "NOT_REDRIVABLE");
	sf_notice_add_text(b, "redriveStatusReason", redrivable ? NULL :
			 psprintf("Execution is %s and cannot be redriven", sf_status_name(change->status)));
}

/* The ARN of the alias that an execution was started by; NULL: by none. */
static char *
find_alias(const SfExecution *e)
{
	return e->qualifier == NULL || sf_alias_is_number(e->qualifier) ? NULL :
		sf_public_name(SF_NAME_STATE_MACHINE, psprintf("%s:%s", e->machine_name, e->qualifier));
}

/* Add the detail of a change of an execution. */
static void
add_execution(SfJsonBuilder *b, const SfChange *change, const SfExecution *e, bool with_payload)
{
	bool		over = change->status != SF_STATUS_RUNNING;
	int			number = sf_publication_number(e->machine_no, e->version);

	sf_json_add_string(b, "status", sf_status_name(change->status));
	sf_notice_add_date(b, "startDate", e->started_at);
	sf_notice_add_date(b, "stopDate", over ? change->at : DT_NOEND);
	sf_notice_add_text(b, "stateMachineVersionArn", number == 0 ? NULL :
						sf_public_name(SF_NAME_STATE_MACHINE, psprintf("%s:%d", e->machine_name, number)));
	sf_notice_add_text(b, "stateMachineAliasArn", find_alias(e));
	add_redrive(b, change, e);
	if (with_payload)
		add_payloads(b, change, e);
	sf_notice_add_text(b, "error", over ? e->error : NULL);
	sf_notice_add_text(b, "cause", over ? e->cause : NULL);
}

/* Add the detail of an attempt of a job. */
static void
add_job(SfJsonBuilder *b, const SfChange *change)
{
	sf_json_add_string(b, "job", change->job);
	sf_json_add_string(b, "status", sf_status_name(change->status));
	sf_json_add_int(b, "attempt", change->attempt);
	sf_notice_add_date(b, "startDate", change->began);
	sf_notice_add_date(b, "stopDate", change->at);
	sf_notice_add_text(b, "error", change->error == NULL ? NULL : change->error->name);
	sf_notice_add_text(b, "cause", change->error == NULL ? NULL : change->error->cause);
}

/* "2025-02-05T02:00:00Z" */
static char *
print_time(TimestampTz t)
{
	char	   *time = sf_timestamp_print(t);
	char	   *fraction = strchr(time, '.');

	if (fraction != NULL)
		strcpy(fraction, "Z");
	return time;
}

/* Begin an event, up to its detail. */
static void
begin_event(SfJsonBuilder *b, SfChangeKind kind, const char *detail_type, const char *id, TimestampTz at,
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

	sf_json_begin_object(b);
	sf_json_add_string(b, "version", "0");
	sf_json_add_string(b, "id", id);
	sf_json_add_string(b, "detail-type", detail_type == NULL ? forms[kind].detail_type : detail_type);
	sf_json_add_string(b, "source", forms[kind].source);
	sf_json_add_string(b, "account", sf_setting_account_id);
	sf_json_add_string(b, "time", print_time(at));
	sf_json_add_string(b, "region", sf_setting_region);
	sf_json_open_array(b, "resources");
	if (arn != NULL)
		sf_json_add_string(b, NULL, arn);
	sf_json_close_array(b);
}

/* Make the event that tells of a change of an execution, or of a job of it. */
Jsonb *
sf_watcher_event(const SfChange *change, const SfExecution *execution, const char *id,
				bool with_payload)
{
	const char *arn = sf_public_name(SF_NAME_EXECUTION, execution->execution_id);
	SfJsonBuilder b;

	begin_event(&b, change->kind, NULL, id, change->at, arn);
	sf_json_open_object(&b, "detail");
	sf_json_add_string(&b, "executionArn", arn);
	sf_json_add_string(&b, "stateMachineArn",
					   sf_public_name(SF_NAME_STATE_MACHINE, execution->machine_name));
	sf_json_add_string(&b, "name", sf_execution_name(execution));
	sf_json_add(&b, "labels", execution->labels);
	if (change->kind == SF_CHANGE_EXECUTION)
		add_execution(&b, change, execution, with_payload);
	else
		add_job(&b, change);
	sf_json_close_object(&b);
	return sf_json_finish(&b);
}

/* Make the event that tells of a change of what may have no execution. */
Jsonb *
sf_watcher_notice_event(const SfNotice *notice, const char *id)
{
	SfJsonBuilder b;

	begin_event(&b, notice->kind, notice->event_type, id, notice->at, notice->resource);
	sf_json_add(&b, "detail", notice->detail);
	return sf_json_finish(&b);
}

/* An event of an execution without input and output. */
Jsonb *
sf_watcher_event_cut(const Jsonb *event)
{
	static const char *const payloads[][2] = {{"input", "inputDetails"}, {"output", "outputDetails"}};
	Jsonb	   *detail = sf_json_get(event, "detail");
	SfJsonBuilder b;
	SfJsonBuilder whole;

	if (detail == NULL)
		return unconstify(Jsonb *, event);
	sf_json_begin_object(&b);
	for (size_t i = 0; i < lengthof(payloads); i++)
		if (sf_json_get_cstring(detail, payloads[i][0]) != NULL)
			add_payload(&b, payloads[i][0], payloads[i][1], "", false);
	sf_json_begin_object(&whole);
	sf_json_add(&whole, "detail", sf_json_merge(detail, sf_json_finish(&b)));
	return sf_json_merge(event, sf_json_finish(&whole));
}
