/*
 * aws_api_functions.c
 *		sf_aws_api(), sf_aws_api_as(), sf_aws_list_as(): find the operation, check the request, answer.
 */
#include "postgres.h"

#include "api/sql_arguments.h"
#include "aws_api/operations.h"
#include "base/version/schema.h"
#include "sql_task/sql_task.h"

static const SfOperation operations[] = {
#define OPERATION(action, function, members) {action, members, sf_operation_##function},
	SF_OPERATION_LIST(OPERATION)
};

/* Find an operation by its name. */
static const SfOperation *
find_operation(const char *action)
{
	for (size_t i = 0; i < lengthof(operations); i++)
		if (strcmp(operations[i].action, action) == 0)
			return &operations[i];
	sf_refusal_raise(SF_REFUSAL_UNKNOWN_OPERATION, "The API has no operation %s.", action);
}

/* Check the request of a call, and answer it. */
static void
answer(SfCall *call)
{
	sf_request_check(call);
	sf_json_begin_object(&call->answer);
	call->operation->answer(call);
}

/*
 * Answer an operation.  Errors leave it as errors of SQL; those of sfflow get the
 * name that AWS has for them on their way.
 */
static Jsonb *
run_call(const char *action, const Jsonb *request, bool is_merged)
{
	SfCall		call = {.operation = find_operation(action),.is_merged = is_merged};
	MemoryContext context = CurrentMemoryContext;

	sf_json_root(request, &call.request);
	if (!sf_json_is_object(&call.request))
		sf_refusal_raise(SF_REFUSAL_SERIALIZATION, "The request must be a JSON object");
	PG_TRY();
	{
		answer(&call);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		sf_refusal_name(error, &call);
		ReThrowError(error);
	}
	PG_END_TRY();
	return sf_json_end(&call.answer);
}

/* sf_aws_api(action, request): the answer. */
SF_SQL_FUNCTION(sfflow_sf_aws_api)
{
	PG_RETURN_JSONB_P(run_call(sf_arg_text(fcinfo, 0, "action"), sf_arg_jsonb(fcinfo, 1, "request"), false));
}

/* Tell whether an operation only reads. */
static bool
only_reads(const char *action)
{
	static const char *const reading[] = {
		"Describe", "List", "GetExecutionHistory", "ValidateStateMachineDefinition"
	};

	for (size_t i = 0; i < lengthof(reading); i++)
		if (strncmp(action, reading[i], strlen(reading[i])) == 0)
			return true;
	return false;
}

/* A call for another role */
typedef struct CallAs
{
	const char *action;
	const Jsonb *request;
	bool		is_merged;
	Jsonb	   *answer;
} CallAs;

/* Answer a call as the role of the moment. */
static void
run_call_as(void *arg)
{
	CallAs	   *call = arg;

	call->answer = run_call(call->action, call->request, call->is_merged);
}

/* sf_aws_api_as(role, action, request): the answer, with the rights of a role. */
SF_SQL_FUNCTION(sfflow_sf_aws_api_as)
{
	CallAs		call = {
		.action = sf_arg_text(fcinfo, 1, "action"),
		.request = sf_arg_jsonb(fcinfo, 2, "request")
	};

	sf_identity_work_as(sf_arg_session_role(fcinfo, 0, "sf_aws_api_as"), only_reads(call.action), run_call_as, &call);
	PG_RETURN_JSONB_P(call.answer);
}

/*
 * sf_aws_list_as(role, request): the answer to ListExecutions with the rights of a role; its entries have their
 * keys.
 */
SF_SQL_FUNCTION(sfflow_sf_aws_list_as)
{
	CallAs		call = {
		.action = "ListExecutions",
		.request = sf_arg_jsonb(fcinfo, 1, "request"),
		.is_merged = true
	};

	sf_identity_work_as(sf_arg_session_role(fcinfo, 0, "sf_aws_list_as"), true, run_call_as, &call);
	PG_RETURN_JSONB_P(call.answer);
}
