/*
 * compile_errors.c
 *		Retriers and catchers.
 */
#include "postgres.h"

#include "asl/compile.h"

/* Copy ErrorEquals. */
static const char **
compile_error_names(const SfNode *owner, int *count)
{
	const SfNode *names = sf_node_member(owner, "ErrorEquals");
	const char **result = palloc(sizeof(char *) * names->nchildren);
	SfNode	   *name;
	int			i = 0;

	SF_NODE_FOREACH(name, names)
		result[i++] = pstrdup(name->string);
	*count = i;
	return result;
}

/* Compile Retry; the defaults are those of the specification. */
void
sf_compile_retry(SfCompiler *c, const SfNode *node, SfState *state)
{
	const SfNode *array = sf_node_member(node, "Retry");
	SfNode	   *element;

	if (array == NULL)
		return;
	state->retriers = palloc0(sizeof(SfRetrier) * Max(array->nchildren, 1));
	SF_NODE_FOREACH(element, array)
	{
		SfRetrier  *retrier = &state->retriers[state->nretriers++];
		const char *jitter = sf_node_member_string(element, "JitterStrategy");

		retrier->errors = compile_error_names(element, &retrier->nerrors);
		retrier->interval_seconds =
			sf_compile_double(c, element, "IntervalSeconds", 1);
		retrier->max_attempts = sf_compile_double(c, element, "MaxAttempts", 3);
		retrier->backoff_rate = sf_compile_double(c, element, "BackoffRate", 2.0);
		retrier->max_delay_seconds =
			sf_compile_double(c, element, "MaxDelaySeconds", 0);
		retrier->jitter = jitter && strcmp(jitter, "FULL") == 0
			? SF_JITTER_FULL : SF_JITTER_NONE;
	}
}

/* Compile Catch. */
void
sf_compile_catch(SfCompiler *c, const SfNode *node, SfState *state)
{
	const SfNode *array = sf_node_member(node, "Catch");
	SfNode	   *element;

	if (array == NULL)
		return;
	state->catchers = palloc0(sizeof(SfCatcher) * Max(array->nchildren, 1));
	SF_NODE_FOREACH(element, array)
	{
		SfCatcher  *catcher = &state->catchers[state->ncatchers++];

		catcher->errors = compile_error_names(element, &catcher->nerrors);
		catcher->next_name = sf_compile_string(c, element, "Next");
		catcher->next = sf_compile_target(c, catcher->next_name);
		catcher->result_path = sf_compile_path(c, element, "ResultPath",
											   SF_EXPR_REFERENCE);
		catcher->output = sf_compile_template(c, element, "Output");
		catcher->assign = sf_compile_template(c, element, "Assign");
	}
}
