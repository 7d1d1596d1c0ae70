/*
 * expr_functions.c
 *		sf_jsonpath() and sf_intrinsic(): the expressions of JSONPath mode by
 *		themselves.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "expr/expr.h"
#include "jsonata/jsonata.h"

/* Raise the error of the expression of a call: it does not parse, or it failed, maybe since it took too long. */
static void
raise_error(FunctionCallInfo fcinfo, const char *problem, const char *kind, const SfError *error)
{
	ereport(ERROR,
			(errcode(sf_error_is(error, SF_ERR_QUERY_EVALUATION_ERROR) ? ERRCODE_SF_EVALUATION_LIMIT :
					 ERRCODE_SF_EXPRESSION_ERROR),
			 errmsg("%s %s \"%s\"", problem, kind, sf_arg_text(fcinfo, 0, "expression")),
			 errdetail("%s", error->cause)));
}

/* Evaluate the expression of a call; null if a path has no match. */
static Datum
evaluate(FunctionCallInfo fcinfo, int allowed, const char *kind)
{
	SfCompiled *compiled;
	SfEnv		env = {0};
	SfError		error;
	Jsonb	   *result;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	compiled = sf_arg_compiled(fcinfo, 0);
	if (compiled->result == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(compiled->context);

		compiled->result = sf_expr_compile(text_to_cstring(compiled->source), allowed, &error);
		MemoryContextSwitchTo(old);
		if (compiled->result == NULL)
			raise_error(fcinfo, "invalid", kind, &error);
	}
	env.input = PG_GETARG_JSONB_P(1);
	env.context = sf_arg_jsonb_or_null(fcinfo, 2);
	switch (sf_expr_eval(compiled->result, &env, &result, &error))
	{
		case SF_EVAL_OK:
			PG_RETURN_JSONB_P(result);
		case SF_EVAL_NOT_FOUND:
			break;
		case SF_EVAL_ERROR:
			raise_error(fcinfo, "could not evaluate", kind, &error);
	}
	PG_RETURN_NULL();
}

/*
 * Evaluate a JSONPath.  The result is its value, an array of all matches if it
 * can have several, or NULL if it has no match.
 */
SF_SQL_FUNCTION(sfflow_sf_jsonpath)
{
	return evaluate(fcinfo, SF_EXPR_PATH, "path");
}

/* Evaluate a call of an intrinsic function. */
SF_SQL_FUNCTION(sfflow_sf_intrinsic)
{
	return evaluate(fcinfo, SF_EXPR_INTRINSIC, "intrinsic function");
}

/* --- sf_jsonata(): the JSONata language by itself --- */

/*
 * Raise the error of an expression: the message is that of the reference
 * implementation; the detail has code, position and token.
 */
static void
raise_failure(const SfJsonataFailure *failure)
{
	StringInfoData detail;

	initStringInfo(&detail);
	appendStringInfo(&detail, "Code %s", failure->code);
	if (failure->position != SF_NO_POSITION)
		appendStringInfo(&detail, ", position %d", failure->position);
	if (failure->token != NULL)
		appendStringInfo(&detail, ", token \"%s\"", failure->token);
	appendStringInfoChar(&detail, '.');
	ereport(ERROR,
			(errcode(failure->ran_out ? ERRCODE_SF_EVALUATION_LIMIT :
					 ERRCODE_SF_JSONATA_ERROR),
			 errmsg("%s", failure->message),
			 errdetail_internal("%s", detail.data),
			 failure->hint != NULL ? errhint("%s", failure->hint) : 0));
}

/* Evaluate a JSONata expression over JSON text; NULL where it is undefined. */
SF_SQL_FUNCTION(sfflow_sf_jsonata)
{
	SfJsonataFailure failure;
	SfCompiled *compiled;
	text	   *result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	compiled = sf_arg_compiled(fcinfo, 0);
	if (compiled->result == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(compiled->context);

		compiled->result = sf_jsonata_prepare(VARDATA_ANY(compiled->source),
											  (int) VARSIZE_ANY_EXHDR(compiled->source), &failure);
		MemoryContextSwitchTo(old);
		if (compiled->result == NULL)
			raise_failure(&failure);
	}
	if (!sf_jsonata_query(compiled->result,
						  PG_ARGISNULL(1) ? NULL : PG_GETARG_TEXT_PP(1),
						  PG_ARGISNULL(2) ? NULL : PG_GETARG_TEXT_PP(2),
						  &result, &failure))
		raise_failure(&failure);
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(result);
}
