/*
 * debug.c
 *		A SQL task without a state machine around it, for tests.
 *
 * No SQL function of the extension refers to it: a test declares it, which
 * takes a superuser.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "base/version/schema.h"
#include "json/json.h"
#include "sql_task/sql_task.h"
#include "sql_task/sql_task_internal.h"

/* Print an outcome as JSON, without what differs from run to run. */
static Jsonb *
print_outcome(const SfTaskOutcome *outcome)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_bool(&json, "ok", outcome->ok);
	sf_json_add_bool(&json, "xid", outcome->assigned_xid);
	if (outcome->ok)
		sf_json_add(&json, "output", outcome->output);
	else
	{
		sf_json_add_string(&json, "error", outcome->error.name);
		sf_json_add_string(&json, "cause", outcome->error.cause);
		sf_json_add_string(&json, "sqlstate", outcome->error.sqlstate);
		if (outcome->serialization_failure)
			sf_json_add_bool(&json, "serialization_failure", true);
	}
	return sf_json_end(&json);
}

/*
 * debug_run_task(resource text, payload jsonb, owner oid, timeout_ms integer,
 * as_worker boolean) → jsonb: run a task in this session, as sf_run does or as
 * a worker does.
 */
SF_SQL_FUNCTION(sfflow_debug_run_task)
{
	SfResource	resource;
	SfTaskCall	call;
	SfTaskOutcome outcome;
	bool		as_worker = PG_GETARG_BOOL(4);

	memset(&call, 0, sizeof(call));
	sf_resource_parse(text_to_cstring(PG_GETARG_TEXT_PP(0)), &resource);
	call.execution_id = "test:1";
	call.resource = &resource;
	call.payload = PG_GETARG_JSONB_P(1);
	call.owner = PG_GETARG_OID(2);
	call.timeout_ms = PG_GETARG_INT32(3);
	call.in_session = !as_worker;
	if (as_worker)
	{
		sf_identity_private_session();
		sf_task_runner.assume_identity(call.owner);
	}
	sf_task_runner.run(&call, &outcome);
	if (as_worker)
		sf_identity_drop();
	PG_RETURN_JSONB_P(print_outcome(&outcome));
}

/*
 * debug_resolve_resource(resource text, owner oid) → text: what runs in place
 * of a resource, NULL: nothing.  A suffix that was kept follows in brackets.
 */
SF_SQL_FUNCTION(sfflow_debug_resolve_resource)
{
	SfResource	resource;
	SfResource	found;
	const char *kept;

	sf_resource_parse(text_to_cstring(PG_GETARG_TEXT_PP(0)), &resource);
	if (!sf_task_runner.resolve(&resource, PG_GETARG_OID(1), &found))
		PG_RETURN_NULL();
	kept = found.integration == SF_INTEGRATION_WAIT_FOR_TASK_TOKEN ? " (waitForTaskToken)" :
		found.integration == SF_INTEGRATION_REQUEST_RESPONSE ? "" : " (sync)";
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s%s", found.text, kept)));
}
