/*
 * jsonata_missing.c
 *		Stand-ins for JSONata where it is not built in: the real functions
 *		replace them when the library is linked.
 */
#include "postgres.h"

#include "expr/jsonata/jsonata.h"

/* Refuse every expression. */
__attribute__((weak)) SfJsonata *
sf_jsonata_compile(const char *text, int len, SfError *err)
{
	sf_error_set(err, "INVALID_JSONATA_EXPRESSION", "JSONata is not available");
	return NULL;
}

/* Fail; there is nothing to evaluate. */
__attribute__((weak)) SfEvalStatus
sf_jsonata_eval(const SfJsonata *expr, SfEnv *env, Jsonb **result, SfError *err)
{
	sf_error_set(err, SF_ERR_QUERY_EVALUATION_ERROR, "JSONata is not available");
	return SF_EVAL_ERROR;
}
