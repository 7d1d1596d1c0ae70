/*
 * environment.c
 *		The context object of an evaluation, and the limits of its memory and time.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/settings.h"
#include "json/environment.h"

/* Compare a name that ends at a length with a text. */
static bool
is_name(const char *name, int len, const char *text)
{
	return (size_t) len == strlen(text) && memcmp(name, text, len) == 0;
}

/*
 * Tell what a path looks at that begins at the context object with these two names;
 * NULL: no name, but for example a filter, or the end of the path.
 */
int
sf_env_context_use(const char *first, int first_len, const char *second, int second_len)
{
	if (first == NULL)
		return SF_CONTEXT_ALL;
	if (is_name(first, first_len, "Map"))
		return SF_CONTEXT_ANY | SF_CONTEXT_ITEM;
	if (is_name(first, first_len, "Jobs"))
		return SF_CONTEXT_ANY | SF_CONTEXT_JOBS;
	if (is_name(first, first_len, "Task"))
		return SF_CONTEXT_ANY | SF_CONTEXT_TOKEN;
	if (is_name(first, first_len, "Execution") &&
		(second == NULL || is_name(second, second_len, "Input")))
		return SF_CONTEXT_ANY | SF_CONTEXT_INPUT;
	return SF_CONTEXT_ANY;
}

/* Give the context object, built on first use; NULL when there is none. */
Jsonb *
sf_env_context(SfEnv *env)
{
	if (env->context == NULL && env->make_context != NULL)
	{
		env->context = env->make_context(env->context_arg);
		env->make_context = NULL;
	}
	return env->context;
}

/* Begin an evaluation. */
void
sf_env_begin(SfEnv *env)
{
	env->made = 0;
	env->limit = sf_time_limit_begin(sf_setting_evaluation_timeout_ms);
}

/* How many pieces of work it is to read a value once, beside the one that every value is. */
uint32
sf_env_work_of(const JsonbValue *value)
{
	if (value->type == jbvString)
		return value->val.string.len / 1024;
	return value->type == jbvBinary ? value->val.binary.len / 1024 : 0;
}

/* Say that the time of an evaluation is up; returns false. */
bool
sf_env_refuse_late(const SfEnv *env, SfError *error)
{
	Assert(env->limit.is_over);
	return sf_error_set(error, SF_ERR_QUERY_EVALUATION_ERROR,
						"The evaluation takes longer than %d ms, the limit that sfflow.evaluation_timeout sets.",
						sf_setting_evaluation_timeout_ms);
}

/* Bytes that an evaluation may still make. */
Size
sf_env_may_make(const SfEnv *env)
{
	Size		limit = Min((Size) sf_setting_max_payload_bytes * SF_EVALUATION_PAYLOADS,
						MaxAllocSize / 2);

	return env->made < limit ? limit - env->made : 0;
}

/* Count bytes that an evaluation has made; false when they are too many. */
bool
sf_env_make(SfEnv *env, Size bytes, SfError *error)
{
	bool		fits = bytes <= sf_env_may_make(env);

	env->made = fits ? env->made + bytes : SIZE_MAX;
	if (!fits)
		sf_error_set(error, SF_ERR_DATA_LIMIT_EXCEEDED,
					 "The evaluation makes more than %d times the maximum number of bytes of a payload (%d).",
					 SF_EVALUATION_PAYLOADS, sf_setting_max_payload_bytes);
	return fits;
}

/*
 * Count a value that an evaluation has made, one of whose containers is in
 * memory of its own; false when it is too much.
 */
bool
sf_env_make_value(SfEnv *env, const JsonbValue *value, SfError *error)
{
	Size		bytes = 0;

	if (value->type == jbvString)
		bytes = value->val.string.len;
	else if (value->type == jbvBinary)
		bytes = value->val.binary.len;
	return sf_env_make(env, bytes, error);
}
