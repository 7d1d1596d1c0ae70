/*
 * mcp_functions.c
 *		sf_mcp_as(): what agents ask by the Model Context Protocol, with the rights of a role.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"

#include "api/sql_arguments.h"
#include "base/version/schema.h"
#include "sql_task/sql_task.h"

/* A request, and its answer */
typedef struct McpCall
{
	const char *method;
	const Jsonb *params;
	Datum		writing;		/* an array of names of tools */
	Jsonb	   *answer;			/* NULL: there is no such method or tool */
} McpCall;

/* Tell whether a request needs a transaction that can write: of a tool that writes, or tries and takes back. */
static bool
may_write(const McpCall *call)
{
	static const char *const writing[] = {"hold", "redrive", "release", "start", "stop", "what_would_redrive_run"};
	char	   *tool = sf_json_get_cstring(call->params, "name");

	for (size_t i = 0; i < lengthof(writing) && tool != NULL; i++)
	{
		if (strcmp(writing[i], tool) == 0)
			return true;
	}
	return false;
}

/* Find the function of the private schema that answers. */
static Oid
find_function(void)
{
	static const Oid types[] = {TEXTOID, JSONBOID, TEXTARRAYOID};

	return LookupFuncName(list_make2(makeString("_sfflow"), makeString("mcp")), lengthof(types), types, false);
}

/* Answer a request as the role of the moment. */
static void
answer(void *arg)
{
	McpCall    *call = arg;
	LOCAL_FCINFO(fcinfo, 3);
	FmgrInfo	function;
	Datum		result;

	fmgr_info(find_function(), &function);
	InitFunctionCallInfoData(*fcinfo, &function, 3, InvalidOid, NULL, NULL);
	fcinfo->args[0] = (NullableDatum) {.value = CStringGetTextDatum(call->method)};
	fcinfo->args[1] = (NullableDatum) {.value = JsonbPGetDatum(call->params)};
	fcinfo->args[2] = (NullableDatum) {.value = call->writing};
	result = FunctionCallInvoke(fcinfo);
	call->answer = fcinfo->isnull ? NULL : DatumGetJsonbP(result);
}

/* sf_mcp_as(role, method, params, writing): the result of a request, with the rights of a role; NULL: there is none. */
SF_SQL_FUNCTION(sfflow_sf_mcp_as)
{
	McpCall		call = {
		.method = sf_arg_text(fcinfo, 1, "method"),
		.params = sf_arg_jsonb(fcinfo, 2, "params")
	};

	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument writing must not be null")));
	call.writing = PG_GETARG_DATUM(3);
	sf_identity_work_as(sf_arg_session_role(fcinfo, 0, "sf_mcp_as"), !may_write(&call), answer, &call);
	if (call.answer == NULL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(call.answer);
}
