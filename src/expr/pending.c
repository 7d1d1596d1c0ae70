/*
 * pending.c
 *		Weak stand-ins, so that the library loads before the evaluators are in.
 */
#include "postgres.h"

#include "expr/expr.h"

__attribute__((weak)) SfExpr *
sf_expr_compile(const char *text, int allowed, SfError *err)
{
	sf_error_set(err, SF_ERR_RUNTIME, "expressions are not supported yet");
	return NULL;
}

__attribute__((weak)) SfTemplate *
sf_template_compile(const Jsonb *value, SfQueryLanguage language,
					SfTemplateReport report, void *arg)
{
	report(arg, "SCHEMA_VALIDATION_FAILED", "",
		   "payload templates are not supported yet");
	return NULL;
}

/* Give the text of an expression: nothing has one. */
__attribute__((weak)) const char *
sf_expr_text(const SfExpr *expr)
{
	return "";
}
