/*
 * expr.c
 *		The expressions of JSONPath mode: a text is compiled to a path or to a
 *		call of an intrinsic function, and evaluated.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "expr/intrinsic.h"

/* Compile a path and see whether it is of the kind that is allowed. */
static bool
compile_path(SfScanner *scanner, int allowed, SfPath **path)
{
	if (!(allowed & (SF_EXPR_PATH | SF_EXPR_REFERENCE)))
		return sf_cursor_fail(scanner, "a path is not allowed here");
	if (!sf_path_parse(scanner, SF_PATH_CONTEXT_ALONE, path))
		return false;
	if (!(allowed & SF_EXPR_PATH) && !(*path)->is_reference)
		return sf_cursor_fail(scanner, "a reference path has members and indexes only");
	if ((allowed & SF_EXPR_INPUT) && (*path)->root != SF_PATH_ROOT_INPUT)
		return sf_cursor_fail(scanner, "the path has to begin with \"$.\" or \"$[\"");
	return true;
}

/* Compile a call. */
static bool
compile_call(SfScanner *scanner, int allowed, SfIntrinsic **call)
{
	if (!(allowed & SF_EXPR_INTRINSIC))
		return sf_cursor_fail(scanner, "an intrinsic function is not allowed here");
	if (!sf_intrinsic_parse(scanner, call))
		return false;
	if ((allowed & SF_EXPR_TEXT) && !(*call)->function->gives_text)
		return sf_cursor_fail(scanner, "%s gives no string", (*call)->function->name);
	sf_cursor_space(scanner);
	if (scanner->p < scanner->end)
		return sf_cursor_fail(scanner, "unexpected \"%.*s\" at offset %d",
							  pg_mblen(scanner->p), scanner->p, (int) (scanner->p - scanner->text));
	return true;
}

/* Name a function of an expression that has a literal that never fits; NULL: there is none. */
const char *
sf_expr_misused_literal(const SfExpr *expr)
{
	return expr->call == NULL ? NULL : sf_intrinsic_misused_literal(expr->call);
}

/*
 * Compile an expression of JSONPath mode; NULL with *error (a message that says
 * what is wrong at which offset) when it is none of the allowed kinds.
 */
SfExpr *
sf_expr_compile(const char *text, int allowed, SfError *error)
{
	SfExpr	   *expr = palloc0(sizeof(SfExpr));
	SfScanner	scanner;
	bool		ok;

	sf_cursor_init(&scanner, text, error);
	expr->text = pstrdup(text);
	if (strncmp(text, "States.", 7) == 0)
		ok = compile_call(&scanner, allowed, &expr->call);
	else
		ok = compile_path(&scanner, allowed, &expr->path);
	expr->context_use = scanner.context_use;
	return ok ? expr : NULL;
}

/* Tell what an expression looks at of the context object. */
int
sf_expr_context_use(const SfExpr *expr)
{
	return expr->context_use;
}

/* The text that an expression was compiled from. */
const char *
sf_expr_text(const SfExpr *expr)
{
	return expr->text;
}

/*
 * Evaluate without making a document.  Unlike sf_expr_eval it distinguishes
 * SF_PATH_STATUS_PAST_END from SF_PATH_STATUS_MISSING.  SF_PATH_STATUS_FAILED: error has name and cause.
 */
SfPathStatus
sf_compiled_eval(const SfExpr *expr, SfEnv *env, JsonbValue *result,
				 SfError *error)
{
	SfPathEnv	penv = {env, NULL};
	SfPathStatus status;

	if (expr->call != NULL)
		return sf_intrinsic_eval(expr->call, expr->text, env, result, error) ?
			SF_PATH_STATUS_FOUND : SF_PATH_STATUS_FAILED;
	status = sf_path_eval(expr->path, &penv, result, error);
	if (status == SF_PATH_STATUS_FAILED && error != NULL)
		sf_error_set(error, error->name, "Invalid path '%s' : %s",
					 expr->text, error->cause);
	return status;
}

/*
 * Evaluate without making a document: *result points into the documents of
 * the environment or into fresh memory.  For Choice.
 */
SfEvalStatus
sf_expr_eval_value(const SfExpr *expr, SfEnv *env, JsonbValue *result,
				   SfError *error)
{
	sf_env_begin(env);
	switch (sf_compiled_eval(expr, env, result, error))
	{
		case SF_PATH_STATUS_FOUND:
			return SF_EVAL_OK;
		case SF_PATH_STATUS_FAILED:
			return SF_EVAL_ERROR;
		default:
			return SF_EVAL_NOT_FOUND;
	}
}

/*
 * Evaluate.  An indefinite path yields an array of its matches (maybe empty).
 */
SfEvalStatus
sf_expr_eval(const SfExpr *expr, SfEnv *env, Jsonb **result, SfError *error)
{
	JsonbValue	value;
	SfEvalStatus status = sf_expr_eval_value(expr, env, &value, error);

	if (status == SF_EVAL_OK)
		*result = sf_json_make(&value);
	return status;
}
