/*
 * function_call.c
 *		sql:schema.function: call the function that fits.
 *
 * A call is a saved SPI plan of "SELECT to_jsonb($1)", where a parser hook puts
 * the call of that very function in the place of $1: nothing is quoted, nothing
 * resolved twice, defaults are the planner's business.  There is one plan for
 * each function and set of arguments given, valid as long as the function's
 * row in pg_proc is the same.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "parser/parse_node.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "json/json.h"
#include "sql_task/function/function.h"

/* Make the expression of a parameter of the plan. */
static Param *
make_param(int number, Oid type)
{
	Param	   *param = makeNode(Param);

	param->paramkind = PARAM_EXTERN;
	param->paramid = number;
	param->paramtype = type;
	param->paramtypmod = -1;
	param->paramcollid = get_typcollation(type);
	param->location = -1;
	return param;
}

/* Parser hook: what stands in the place of $1 is the call of the function. */
static Node *
put_call(ParseState *pstate, ParamRef *pref)
{
	SfFunctionCall	   *call = (SfFunctionCall *) pstate->p_ref_hook_state;
	SfFunction   *function = call->function;
	List	   *args = NIL;
	FuncExpr   *expr;

	for (int i = 0; i < call->ngiven; i++)
	{
		const SfParameter *parameter = &function->parameters[call->indexes[i]];
		NamedArgExpr *arg;

		if (function->takes == SF_TAKES_PAYLOAD)
		{
			args = list_make1(make_param(1, parameter->type));
			break;
		}
		arg = makeNode(NamedArgExpr);
		arg->arg = (Expr *) make_param(i + 1, parameter->type);
		arg->name = pstrdup(parameter->name);
		arg->argnumber = call->indexes[i];
		arg->location = -1;
		args = lappend(args, arg);
	}
	expr = makeFuncExpr(function->oid, function->result_type, args,
						InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	expr->funcretset = function->returns_set;
	expr->funcvariadic = function->variadic;
	if (function->returns_set)
		pstate->p_hasTargetSRFs = true;
	return (Node *) expr;
}

/* Parser setup: have $1 replaced. */
static void
setup_parser(ParseState *pstate, void *arg)
{
	pstate->p_paramref_hook = put_call;
	pstate->p_ref_hook_state = arg;
}

/* Note which parameters are given, and how their members become values. */
static void
init_arguments(SfFunctionCall *call)
{
	SfFunction   *function = call->function;
	const char *names[FUNC_MAX_ARGS];
	Oid			types[FUNC_MAX_ARGS];

	call->indexes = MemoryContextAlloc(call->context, sizeof(int) * Max(function->nparameters, 1));
	for (int i = 0; i < function->nparameters; i++)
	{
		if (function->takes != SF_TAKES_PAYLOAD &&
			!sf_function_is_given(&call->given, i))
			continue;
		names[call->ngiven] = function->parameters[i].name;
		types[call->ngiven] = function->parameters[i].type;
		call->indexes[call->ngiven++] = i;
	}
	if (function->takes != SF_TAKES_PAYLOAD)
		sf_converter_init(&call->converter, call->context, call->ngiven, names, types);
}

/* Plan the call of a function with a set of arguments, or find the plan. */
static SfFunctionCall *
get_call(SfFunction *function, const SfArgumentSet *given)
{
	SfFunctionCall *call = sf_function_find_call(function, given);
	MemoryContext context;
	bool		plain;

	if (call != NULL)
		return call;
	/* Until it is kept it goes away with SPI's memory. */
	context = AllocSetContextCreate(CurrentMemoryContext, "sfflow function call",
									ALLOCSET_SMALL_SIZES);
	call = MemoryContextAllocZero(context, sizeof(SfFunctionCall));
	call->context = context;
	call->function = function;
	call->given = *given;
	init_arguments(call);
	plain = function->result_type == VOIDOID || function->result_type == JSONBOID;
	call->plan = SPI_prepare_params(plain ? SF_CALL_PLAIN : SF_CALL_STATEMENT,
									setup_parser, call, CURSOR_OPT_GENERIC_PLAN);
	if (call->plan == NULL)
		elog(ERROR, "SPI_prepare_params failed: %s", SPI_result_code_string(SPI_result));
	sf_function_cache_call(call);
	return call;
}

/* Set an argument that is not null. */
static void
set_argument(ParamExternData *param, Oid type, Datum value)
{
	param->value = value;
	param->isnull = false;
	param->pflags = PARAM_FLAG_CONST;
	param->ptype = type;
}

/*
 * The payload as the first argument, of type json or jsonb, and for a function
 * that takes it the name of the resource that it runs in place of.
 */
static ParamListInfo
whole_payload(const SfFunction *function, Jsonb *payload, const char *resource)
{
	ParamListInfo params = makeParamList(function->nparameters);
	Oid			type = function->parameters[0].type;

	set_argument(&params->params[0], type, type == JSONBOID ? JsonbPGetDatum(payload) :
				 CStringGetTextDatum(sf_json_to_cstring(payload)));
	if (function->takes == SF_TAKES_RESOURCE)
		set_argument(&params->params[1], TEXTOID, CStringGetTextDatum(resource));
	return params;
}

/* Error context: which payload could not be turned into arguments. */
static void
converting(void *arg)
{
	errcontext("arguments of %s", ((SfFunction *) arg)->signature);
}

/* The arguments of a call, from the task's payload. */
static ParamListInfo
make_arguments(SfFunctionCall *call, const SfTaskCall *task)
{
	const char *requested = task->resource->requested;
	ErrorContextCallback callback;
	ParamListInfo params;

	if (call->function->takes == SF_TAKES_PAYLOAD ||
		(requested != NULL && call->function->takes == SF_TAKES_RESOURCE))
		return whole_payload(call->function, task->payload, requested);
	callback.previous = error_context_stack;
	callback.callback = converting;
	callback.arg = call->function;
	error_context_stack = &callback;
	params = sf_converter_run(&call->converter, task->payload);
	error_context_stack = callback.previous;
	return params;
}

/* Run the plan of a call; rows go to result. */
static void
execute(SfFunctionCall *call, ParamListInfo params, SfResult *result)
{
	SPIExecuteOptions options;
	int			rc;

	memset(&options, 0, sizeof(options));
	options.params = params;
	options.dest = &result->receiver;
	rc = SPI_execute_plan_extended(call->plan, &options);
	if (rc != SPI_OK_SELECT)
		elog(ERROR, "calling function %s: %s", call->function->name,
			 SPI_result_code_string(rc));
}

/* Call a function with the arguments that the payload gives. */
static Jsonb *
call_function(const SfTaskCall *task, SfFunction *function, const SfArgumentSet *given)
{
	SfFunctionCall	   *call = get_call(function, given);
	ParamListInfo params = make_arguments(call, task);
	SfResult	result;

	sf_sql_result_init(&result, task->resource->text, function->returns_set ? task->sink : NULL);
	result.single = !function->returns_set;
	result.is_void = function->result_type == VOIDOID;
	if (!result.single)
		sf_json_begin_array(&result.builder);
	execute(call, params, &result);
	sf_sql_result_end(&result);
	if (!result.single)
		return sf_json_end(&result.builder);
	if (result.value == NULL)
		elog(ERROR, "function %s gave no row", function->name);
	return result.value;
}

/*
 * Call the function that a task names with the task's payload.  The current
 * user is the owner, SPI is connected; the result is in SPI's memory.
 */
Jsonb *
sf_function_call(const SfTaskCall *task)
{
	SfArgumentSet given;
	SfFunction *function;
	Jsonb	   *volatile result = NULL;

	sf_function_make_room();
	function = sf_function_resolve(task->resource, task->payload, task->owner, &given);
	function->running++;		/* what is known of it stays meanwhile */
	PG_TRY();
	{
		result = call_function(task, function, &given);
	}
	PG_FINALLY();
	{
		function->running--;
	}
	PG_END_TRY();
	return result;
}
