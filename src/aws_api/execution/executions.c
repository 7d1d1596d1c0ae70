/*
 * executions.c
 *		Start, describe, list, stop and redrive executions.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "api/execution/executions.h"
#include "api/sql_arguments.h"
#include "aws_api/operations.h"
#include "aws_api/request/call.h"
#include "base/name/name.h"
#include "base/value/random.h"
#include "base/version/compat.h"
#include "store/execution/execution_list.h"
#include "store/state_machine/aws_resource.h"

/* --- start --- */

/* Prepare the start of the machine, version or alias in the request. */
static SfStart
prepare(SfCall *call)
{
	const char *id = sf_request_id(call, "stateMachineArn", SF_NAME_STATE_MACHINE);

	if (strchr(id, '/') != NULL)
		(void) sf_address_read(call, "stateMachineArn", SF_RIGHT_START,
							  SF_QUALIFIERS_ANY);
	return sf_start_prepare(id, 0, SF_IF_EXISTS_ERROR, true);
}

/* Tell whether a machine is of type EXPRESS. */
static bool
is_express(const SfMachine *machine)
{
	return strcmp(sf_configuration_type(machine), "EXPRESS") == 0;
}

/*
 * Start the execution that a request asks for; it may be there already.  The names of
 * executions of a machine of type EXPRESS need not be unique in the service: here the
 * execution has a new one, and the one that is given stands in the answer alone.
 */
static SfExecution *
start_one(SfCall *call, const SfStart *start)
{
	Jsonb	   *input = sf_request_payload(call, "input", SF_REFUSAL_INVALID_EXECUTION_INPUT);
	char	   *name = sf_request_text(call, "name");
	bool		has_new_name = is_express(start->machine);
	SfExecution *execution;
	SfStartOutcome outcome;

	call->subject = name;
	if (has_new_name && name != NULL)
		sf_name_check(name, "execution name");
	execution = sf_start_form(start, input, has_new_name ? sf_uuid_v7() : name);
	execution->start.has_new_uuid |= has_new_name;
	execution->trace_header = sf_request_text(call, "traceHeader");
	call->subject = sf_public_name(SF_NAME_EXECUTION, execution->execution_id);
	sf_start_all(start, &execution, 1, &outcome);
	if (outcome != SF_START_OUTCOME_STARTED)
		execution = sf_execution_find(execution->execution_id, SF_LOCK_NONE);
	return execution;
}

/* Refuse what the type of a machine does not have. */
static void pg_attribute_noreturn()
refuse_type(void)
{
	sf_refusal_raise(SF_REFUSAL_STATE_MACHINE_TYPE_NOT_SUPPORTED,
					 "This operation is not supported by this type of state machine");
}

/* The name that an execution has in the answer to its start: the one that the request gave. */
static const char *
given_name(const SfCall *call, const SfExecution *execution)
{
	char	   *name = sf_request_text(call, "name");

	return name != NULL ? name : sf_execution_name(execution);
}

/*
 * The ARN of an execution of a machine of type EXPRESS, which no other operation takes.
 * It ends with the name that the execution has here.
 */
static char *
express_arn(const SfCall *call, const SfExecution *execution)
{
	char	   *arn = sf_public_name(SF_NAME_EXECUTION, execution->execution_id);
	const char *type = strstr(arn, ":execution:");

	return psprintf("%.*s:express:%.*s:%s:%s", (int) (type - arn), arn,
					(int) strcspn(execution->execution_id, ":"), execution->execution_id,
					given_name(call, execution), sf_execution_name(execution));
}

/* StartExecution: again with the same name and input, while it runs, it changes nothing. */
void
sf_operation_start(SfCall *call)
{
	SfStart		start = prepare(call);
	SfExecution *execution = start_one(call, &start);

	sf_json_add_string(&call->answer, "executionArn",
					   is_express(start.machine) ? express_arn(call, execution) : call->subject);
	sf_answer_time(call, "startDate", execution->requested_at);
}

/* --- describe --- */

/* Add whether an execution can be redriven, and why not. */
static void
answer_redrive_status(SfCall *call, const SfExecution *execution)
{
	bool		can = execution->status != SF_STATUS_RUNNING && execution->status != SF_STATUS_SUCCEEDED;

	if (can && sf_execution_is_of_item(execution))
		sf_json_add_string(&call->answer, "redriveStatus", "REDRIVABLE_BY_MAP_RUN");
	else
		sf_json_add_string(&call->answer, "redriveStatus", can ? "REDRIVABLE" : "NOT_REDRIVABLE");
	if (!can)
		sf_json_add_string(&call->answer, "redriveStatusReason",
						   psprintf("Execution is %s and cannot be redriven",
									sf_status_name(execution->status)));
}

/* Add a payload, and that it is all there. */
static void
answer_payload(SfCall *call, const char *key, const char *details, const Jsonb *payload)
{
	if (payload == NULL)
		return;
	sf_answer_payload(call, key, payload);
	sf_json_open_object(&call->answer, details);
	sf_json_add_bool(&call->answer, "included", true);
	sf_json_close_object(&call->answer);
}

/* Add what answers about an execution have, but for its ARN. */
static void
answer_head(SfCall *call, const char *execution_id, const char *name, SfStatus status,
			TimestampTz requested_at, TimestampTz stopped_at)
{
	sf_answer_arn(call, "stateMachineArn", SF_NAME_STATE_MACHINE,
				  pnstrdup(execution_id, strcspn(execution_id, ":")));
	sf_json_add_string(&call->answer, "name", name);
	sf_json_add_string(&call->answer, "status", sf_status_name(status));
	sf_answer_time(call, "startDate", requested_at);
	sf_answer_time(call, "stopDate", stopped_at);
}

/* DescribeExecution. */
void
sf_operation_describe_execution(SfCall *call)
{
	const char *id = sf_request_id(call, "executionArn", SF_NAME_EXECUTION);
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_NONE, SF_RIGHT_READ);
	char	   *included = sf_request_text(call, "includedData");

	sf_answer_arn(call, "executionArn", SF_NAME_EXECUTION, execution->execution_id);
	answer_head(call, execution->execution_id, sf_execution_name(execution), execution->status, execution->requested_at,
				execution->stopped_at);
	if (included == NULL || strcmp(included, "METADATA_ONLY") != 0)
	{
		answer_payload(call, "input", "inputDetails", execution->input);
		answer_payload(call, "output", "outputDetails", execution->output);
	}
	sf_json_add_string(&call->answer, "error", execution->error);
	sf_json_add_string(&call->answer, "cause", execution->cause);
	sf_json_add_string(&call->answer, "traceHeader", execution->trace_header);
	sf_address_answer_qualifier(&call->answer, execution);
	sf_mapped_answer_arn(call, execution);
	sf_json_add_int(&call->answer, "redriveCount", execution->redrive_count);
	sf_answer_time(call, "redriveDate", execution->last_redriven_at);
	answer_redrive_status(call, execution);
}

/* DescribeStateMachineForExecution: the machine in the version that the execution runs. */
void
sf_operation_describe_machine_of(SfCall *call)
{
	const char *id = sf_request_id(call, "executionArn", SF_NAME_EXECUTION);
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_NONE, SF_RIGHT_READ);
	SfMachine  *machine = sf_machine_read(execution->machine_name, execution->version, true);

	sf_configuration_answer(call, machine);
	sf_answer_arn(call, "stateMachineArn", SF_NAME_STATE_MACHINE, machine->name);
	sf_answer_time(call, "updateDate", sf_publication_made(machine->machine_no, machine->version));
	sf_mapped_answer_label(call, execution);
	sf_mapped_answer_arn(call, execution);
}

/* --- list --- */

/* Read the filter on the status into a query; without it, any.  False: nothing has that status here. */
static bool
read_status(SfCall *call, SfListQuery *query)
{
	char	   *text = sf_request_text(call, "statusFilter");

	query->has_status = text != NULL;
	if (text == NULL)
		return true;
#define MATCH_STATUS(sym, number) \
	if (strcmp(text, #sym) == 0) \
	{ \
		query->status = SF_STATUS_##sym; \
		return true; \
	}
	SF_STATUS_LIST(MATCH_STATUS)
	return false;
}

/* Where a page begins. */
static SfListPosition
read_begin(SfCall *call)
{
	char	   *text = sf_answer_token_key(call);
	SfListPosition key = {DT_NOEND, 0};

	if (text != NULL &&
		sscanf(text, INT64_FORMAT "." INT64_FORMAT, &key.requested_at, &key.execution_no) != 2)
		sf_refusal_raise(SF_REFUSAL_INVALID_TOKEN, "Invalid token");
	return key;
}

/* The key of an entry of a list. */
static char *
key_of(const SfListedExecution *listed)
{
	return psprintf(INT64_FORMAT "." INT64_FORMAT, listed->requested_at, listed->execution_no);
}

/* Add one execution of a list. */
static void
answer_listed(SfCall *call, const SfListedExecution *listed)
{
	SfExecution *execution = sf_execution_read(listed->execution_no, SF_LOCK_NONE, false);

	sf_json_open_object(&call->answer, NULL);
	sf_answer_arn(call, "executionArn", SF_NAME_EXECUTION, listed->execution_id);
	answer_head(call, listed->execution_id, strchr(listed->execution_id, ':') + 1, listed->status, listed->requested_at, listed->stopped_at);
	if (execution != NULL)
	{
		sf_address_answer_qualifier(&call->answer, execution);
		sf_json_add_int(&call->answer, "redriveCount", execution->redrive_count);
		sf_answer_time(call, "redriveDate", execution->last_redriven_at);
	}
	if (execution != NULL && sf_request_text(call, "mapRunArn") != NULL)
	{
		sf_mapped_answer_arn(call, execution);
		sf_json_add_int(&call->answer, "itemCount", execution->map_items);
	}
	sf_answer_key(call, key_of(listed));
	sf_json_close_object(&call->answer);
}

/* Add a page of executions, and the token of the next one. */
static void
answer_list(SfCall *call, List *list, int max_results)
{
	if (list_length(list) > max_results)
	{
		sf_answer_next(call, key_of(list_nth(list, max_results - 1)));
		list = list_truncate(list, max_results);
	}
	sf_json_open_array(&call->answer, "executions");
	foreach_ptr(const SfListedExecution, listed, list)
		answer_listed(call, listed);
	sf_json_close_array(&call->answer);
}

/*
 * Limit a list to a machine, or to the executions that were started by the version or the alias in its ARN.
 * Executions of a Map run are in the list of that run alone.
 */
static void
ask_for_machine(SfCall *call, SfListQuery *query)
{
	SfAddress	address = sf_address_read(call, "stateMachineArn", SF_RIGHT_READ,
										  SF_QUALIFIERS_ANY);

	if (is_express(address.machine))
		refuse_type();
	query->machines = &address.machine->machine_no;
	query->without_items = true;
	query->qualifier = address.kind == SF_ADDRESS_VERSION ? psprintf("%d", sf_address_version(&address)) :
		sf_address_alias(&address);
}

/* Limit a list to the executions of a Map run. */
static void
ask_for_map_run(SfCall *call, SfListQuery *query)
{
	SfExecution *execution;
	SfMapRun   *map_run = sf_mapped_run_read(call, SF_RIGHT_READ, &execution);
	char	   *redriven = sf_request_text(call, "redriveFilter");

	query->machines = &execution->machine_no;
	query->parent_execution_no = map_run->execution_no;
	query->map_run_no = map_run->map_run_no;
	if (redriven != NULL)
		query->redriven = strcmp(redriven, "REDRIVEN") == 0 ? SF_LIST_REDRIVEN : SF_LIST_NOT_REDRIVEN;
}

/* ListExecutions: of a machine, a version, an alias or a Map run; the newest first. */
void
sf_operation_list_executions(SfCall *call)
{
	bool		of_map_run = sf_request_text(call, "mapRunArn") != NULL;
	char	   *status = sf_request_text(call, "statusFilter");
	int			max_results = sf_request_max_results(call);
	SfListQuery query = {.nmachines = 1,.from = DT_NOBEGIN,.max_rows = max_results + 1};

	if (of_map_run == (sf_request_text(call, "stateMachineArn") != NULL))
		sf_refusal_raise(SF_REFUSAL_VALIDATION, "Must specify exactly one of stateMachineArn or mapRunArn");
	if (!of_map_run && sf_request_text(call, "redriveFilter") != NULL)
		sf_refusal_raise(SF_REFUSAL_VALIDATION, "redriveFilter can be specified with mapRunArn only");
	if (!of_map_run && status != NULL && strcmp(status, "PENDING_REDRIVE") == 0)
		sf_refusal_raise(SF_REFUSAL_VALIDATION, "statusFilter PENDING_REDRIVE can be specified with mapRunArn only");
	if (of_map_run)
		ask_for_map_run(call, &query);
	else
		ask_for_machine(call, &query);
	query.before = read_begin(call);
	answer_list(call, read_status(call, &query) ? sf_execution_list(&query) : NIL, max_results);
}

/* --- stop, redrive --- */

/* StopExecution: an execution that has ended stays as it is. */
void
sf_operation_stop(SfCall *call)
{
	const char *id = sf_request_id(call, "executionArn", SF_NAME_EXECUTION);
	char	   *error = sf_request_text(call, "error");
	char	   *cause = sf_request_text(call, "cause");

	(void) sf_arg_call(sfflow_sf_stop, SF_ARGS(SF_TEXT(id), SF_TEXT(error), SF_TEXT(cause)));
	sf_answer_time(call, "stopDate", sf_execution_find(id, SF_LOCK_NONE)->stopped_at);
}

/* RedriveExecution: from the states that did not succeed; with a token that was sent before, it changes nothing. */
void
sf_operation_redrive(SfCall *call)
{
	const char *id = sf_request_id(call, "executionArn", SF_NAME_EXECUTION);
	const char *token = sf_request_text(call, "clientToken");

	sf_answer_time(call, "redriveDate", sf_control_redrive_once(id, token));
}

/* --- synchronous executions --- */

/* Longest time of a synchronous execution, as in the service */
#define SYNC_SECONDS	300

/* Sleep until a time, which may be past. */
static void
sleep_until(TimestampTz until)
{
	for (;;)
	{
		long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), until);

		CHECK_FOR_INTERRUPTS();
		if (left <= 0)
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/* Run an execution in this transaction until it has ended, or cannot go on within its time. */
static const SfExecution *
run_in_time(const SfExecution *execution)
{
	const char *id = execution->execution_id;
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), SYNC_SECONDS * 1000);

	for (;;)
	{
		TimestampTz due;

		sf_start_run(id);
		execution = sf_execution_find(id, SF_LOCK_NONE);
		if (execution->status != SF_STATUS_RUNNING)
			return execution;
		due = sf_branch_first_due(execution->execution_no);
		if (due >= end)
			return execution;
		sleep_until(due);
	}
}

/*
 * Run an execution to its end in this transaction.  One that takes too long is stopped,
 * and so is one that waits for a client, which cannot see it before the commit.
 */
static const SfExecution *
run_to_end(const SfExecution *execution)
{
	const char *id = execution->execution_id;

	execution = run_in_time(execution);
	if (execution->status != SF_STATUS_RUNNING)
		return execution;
	(void) sf_arg_call(sfflow_sf_stop, SF_ARGS(SF_TEXT(id), SF_TEXT("States.Timeout"), SF_NULL(TEXTOID)));
	return sf_execution_find(id, SF_LOCK_NONE);
}

/* Add what the service bills: the time in steps of 100 ms, and its least memory. */
static void
answer_billing(SfCall *call, const SfExecution *ended)
{
	int64		ms = TimestampDifferenceMilliseconds(ended->requested_at, ended->stopped_at);

	sf_json_open_object(&call->answer, "billingDetails");
	sf_json_add_int(&call->answer, "billedDurationInMilliseconds", (ms + 99) / 100 * 100);
	sf_json_add_int(&call->answer, "billedMemoryUsedInMB", 64);
	sf_json_close_object(&call->answer);
}

/* StartSyncExecution: of a machine of type EXPRESS, by its owner. */
void
sf_operation_start_sync(SfCall *call)
{
	SfStart		start = prepare(call);
	SfExecution *execution;
	const SfExecution *ended;
	char	   *included = sf_request_text(call, "includedData");

	if (!is_express(start.machine))
		refuse_type();
	execution = start_one(call, &start);
	ended = run_to_end(execution);
	sf_json_add_string(&call->answer, "executionArn", express_arn(call, ended));
	answer_head(call, ended->execution_id, given_name(call, ended),
				ended->status == SF_STATUS_ABORTED ? SF_STATUS_TIMED_OUT : ended->status,
				ended->requested_at, ended->stopped_at);
	if (included == NULL || strcmp(included, "METADATA_ONLY") != 0)
	{
		answer_payload(call, "input", "inputDetails", ended->input);
		answer_payload(call, "output", "outputDetails", ended->output);
	}
	sf_json_add_string(&call->answer, "error", ended->error);
	sf_json_add_string(&call->answer, "cause", ended->cause);
	sf_json_add_string(&call->answer, "traceHeader", sf_request_text(call, "traceHeader"));
	answer_billing(call, ended);
}
