/*
 * expr_functions.c
 *		sf_jsonpath() and sf_intrinsic(): the expressions of JSONPath mode by
 *		themselves.
 */
#include "postgres.h"

#include "api/sql_arguments.h"
#include "expr/expr.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(sfflow_sf_jsonpath);
PG_FUNCTION_INFO_V1(sfflow_sf_intrinsic);

/* Raise the error of the expression of a call: it does not parse, or it failed. */
static void
raise_error(FunctionCallInfo fcinfo, const char *problem, const char *kind, const SfError *err)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_EXPRESSION_ERROR),
			 errmsg("%s %s \"%s\"", problem, kind, sf_arg_text(fcinfo, 0, "expression")),
			 errdetail("%s", err->cause)));
}

/* Evaluate the expression of a call; null if a path has no match. */
static Datum
evaluate(FunctionCallInfo fcinfo, int allowed, const char *kind)
{
	SfCompiled *compiled;
	SfEnv		env = {0};
	SfError		err;
	Jsonb	   *result;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	compiled = sf_arg_compiled(fcinfo, 0);
	if (compiled->result == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(compiled->context);

		compiled->result = sf_expr_compile(text_to_cstring(compiled->source), allowed, &err);
		MemoryContextSwitchTo(old);
		if (compiled->result == NULL)
			raise_error(fcinfo, "invalid", kind, &err);
	}
	env.input = PG_GETARG_JSONB_P(1);
	env.context = sf_arg_jsonb_or_null(fcinfo, 2);
	switch (sf_expr_eval(compiled->result, &env, &result, &err))
	{
		case SF_EVAL_OK:
			PG_RETURN_JSONB_P(result);
		case SF_EVAL_NOT_FOUND:
			break;
		case SF_EVAL_ERROR:
			raise_error(fcinfo, "could not evaluate", kind, &err);
	}
	PG_RETURN_NULL();
}

/*
 * Evaluate a JSONPath.  The result is its value, an array of all matches if it
 * can have several, or NULL if it has no match.
 */
Datum
sfflow_sf_jsonpath(PG_FUNCTION_ARGS)
{
	return evaluate(fcinfo, SF_EXPR_PATH, "path");
}

/* Evaluate a call of an intrinsic function. */
Datum
sfflow_sf_intrinsic(PG_FUNCTION_ARGS)
{
	return evaluate(fcinfo, SF_EXPR_INTRINSIC, "intrinsic function");
}
