/*
 * apply_nested.c
 *		What the end of a nested execution tells its parent, and how it stops with it.
 *		Nested executions start in run/execution/nested_execution.c.
 */
#include "postgres.h"

#include "utils/json.h"
#include "utils/timestamp.h"

#include "base/name/name.h"
#include "run/apply/apply.h"

/* Milliseconds since 1970, as the descriptions of nested executions have times. */
int64
sf_nested_epoch_ms(TimestampTz at)
{
	return (at + (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY) / 1000;
}

/* A member of the description, as text or parsed. */
static void
add_payload(SfJsonBuilder *json, const char *key, const Jsonb *value, bool parsed)
{
	char	   *details = psprintf("%sDetails", key);

	if (value == NULL)
		return;
	if (parsed)
		sf_json_add(json, key, value);
	else
		sf_json_add_string(json, key, sf_json_to_cstring(value));
	sf_json_open_object(json, details);
	sf_json_add_bool(json, "Included", true);
	sf_json_close_object(json);
}

/* Can a redrive go on with an execution that ended so? */
static bool
is_redrivable(const SfExecution *nested)
{
	return nested->status != SF_STATUS_SUCCEEDED;
}

/* The nested execution's description, as .sync returns it. */
Jsonb *
sf_nested_output(const SfExecution *nested, const SfResource *resource)
{
	bool		parsed = resource->integration == SF_INTEGRATION_SYNC2;
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "ExecutionArn", sf_public_name(SF_NAME_EXECUTION, nested->execution_id));
	add_payload(&json, "Input", nested->input, parsed);
	sf_json_add_string(&json, "Name", sf_execution_name(nested));
	add_payload(&json, "Output", nested->output, parsed);
	sf_json_add_int(&json, "RedriveCount", nested->redrive_count);
	sf_json_add_string(&json, "RedriveStatus",
					   is_redrivable(nested) ? "REDRIVABLE" : "NOT_REDRIVABLE");
	if (!is_redrivable(nested))
		sf_json_add_string(&json, "RedriveStatusReason",
						   "Execution is SUCCEEDED and cannot be redriven");
	sf_json_add_int(&json, "StartDate", sf_nested_epoch_ms(nested->started_at));
	sf_json_add_string(&json, "StateMachineArn",
					   sf_public_name(SF_NAME_STATE_MACHINE, nested->machine_name));
	sf_json_add_string(&json, "Status", sf_status_name(nested->status));
	sf_json_add_int(&json, "StopDate", sf_nested_epoch_ms(nested->stopped_at));
	return sf_json_end(&json);
}

/* Append "key":"value" to compact JSON text. */
static void
append_member(StringInfo buf, const char *key, const char *value)
{
	if (value == NULL)
		return;
	if (buf->len > 1)
		appendStringInfoChar(buf, ',');
	escape_json(buf, key);
	appendStringInfoChar(buf, ':');
	escape_json(buf, value);
}

/* The cause of a failed .sync task: compact, keys in alphabetical order. */
char *
sf_nested_failure(const SfExecution *nested)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	append_member(&buf, "Cause", nested->cause);
	append_member(&buf, "Error", nested->error);
	append_member(&buf, "ExecutionArn", sf_public_name(SF_NAME_EXECUTION, nested->execution_id));
	append_member(&buf, "Input", sf_json_to_cstring(nested->input));
	appendStringInfoString(&buf, ",\"InputDetails\":{\"Included\":true}");
	append_member(&buf, "Name", sf_execution_name(nested));
	appendStringInfo(&buf, ",\"RedriveCount\":%d,\"RedriveStatus\":\"%s\",\"StartDate\":" INT64_FORMAT,
					 nested->redrive_count,
					 is_redrivable(nested) ? "REDRIVABLE" : "NOT_REDRIVABLE",
					 sf_nested_epoch_ms(nested->started_at));
	append_member(&buf, "StateMachineArn",
				  sf_public_name(SF_NAME_STATE_MACHINE, nested->machine_name));
	append_member(&buf, "Status", sf_status_name(nested->status));
	appendStringInfo(&buf, ",\"StopDate\":" INT64_FORMAT "}",
					 sf_nested_epoch_ms(nested->stopped_at));
	return buf.data;
}

/* Have the nested executions that a branch (SF_WHOLE_EXECUTION: any) waits for stopped. */
void
sf_nested_stop(const SfExecution *parent, int64 branch_no)
{
	List	   *nested_executions = sf_execution_waited_for(parent->execution_no, branch_no);

	foreach_ptr(const SfExecution, nested, nested_executions)
	{
		/* before all that is due there */
		sf_apply_stop_request(nested->execution_no, nested->owner, nested->requested_at,
							  psprintf("The Task state in AWS Step Functions execution [%s] which was managing this resource was aborted",
									   sf_public_name(SF_NAME_EXECUTION, parent->execution_id)));
	}
}
