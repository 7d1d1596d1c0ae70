/*
 * expr_functions.c
 *		sf_jsonpath() and sf_intrinsic(): the expressions of JSONPath mode by
 *		themselves.
 */
#include "postgres.h"

#include "expr/expr.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(sfflow_sf_jsonpath);
PG_FUNCTION_INFO_V1(sfflow_sf_intrinsic);

/* The expression that a call site compiled last */
typedef struct CachedExpr
{
	MemoryContext context;		/* of expr */
	SfExpr	   *expr;
} CachedExpr;

/* Raise the error of an expression: it does not parse, or it failed. */
static void
raise_error(const char *message, const char *text, const SfError *err)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_EXPRESSION_ERROR),
			 errmsg("%s \"%s\"", message, text),
			 errdetail("%s", err->cause)));
}

/* Compile an expression, unless it is the one of the call before. */
static SfExpr *
compile_cached(FunctionCallInfo fcinfo, const char *text, int allowed,
			   const char *kind)
{
	CachedExpr *cache = fcinfo->flinfo->fn_extra;
	MemoryContext old;
	SfError		err;

	if (cache == NULL)
	{
		cache = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(CachedExpr));
		/* lives as long as the call site */
		cache->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt,
											   "sfflow expression of a call",
											   ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = cache;
	}
	if (cache->expr != NULL && strcmp(sf_expr_text(cache->expr), text) == 0)
		return cache->expr;

	cache->expr = NULL;
	MemoryContextReset(cache->context);
	old = MemoryContextSwitchTo(cache->context);
	cache->expr = sf_expr_compile(text, allowed, &err);
	MemoryContextSwitchTo(old);
	if (cache->expr == NULL)
		raise_error(psprintf("invalid %s", kind), text, &err);
	return cache->expr;
}

/* Evaluate the expression of a call; NULL if a path has no match. */
static Jsonb *
evaluate(FunctionCallInfo fcinfo, int allowed, const char *kind)
{
	char	   *expression;
	SfEnv		env;
	SfError		err;
	Jsonb	   *result;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return NULL;
	expression = text_to_cstring(PG_GETARG_TEXT_PP(0));
	memset(&env, 0, sizeof(env));
	env.input = PG_GETARG_JSONB_P(1);
	env.context = PG_ARGISNULL(2) ? NULL : PG_GETARG_JSONB_P(2);
	switch (sf_expr_eval(compile_cached(fcinfo, expression, allowed, kind),
						 &env, &result, &err))
	{
		case SF_EVAL_OK:
			return result;
		case SF_EVAL_NOT_FOUND:
			return NULL;
		case SF_EVAL_ERROR:
			break;
	}
	raise_error(psprintf("could not evaluate %s", kind), expression, &err);
	return NULL;
}

/*
 * Evaluate a JSONPath.  The result is its value, an array of all matches if it
 * can have several, or NULL if it has no match.
 */
Datum
sfflow_sf_jsonpath(PG_FUNCTION_ARGS)
{
	Jsonb	   *result = evaluate(fcinfo, SF_EXPR_PATH, "path");

	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(result);
}

/* Evaluate a call of an intrinsic function. */
Datum
sfflow_sf_intrinsic(PG_FUNCTION_ARGS)
{
	Jsonb	   *result = evaluate(fcinfo, SF_EXPR_INTRINSIC, "intrinsic function");

	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(result);
}
