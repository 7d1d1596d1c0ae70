/*
 * intrinsic.c
 *		Evaluation of intrinsic functions: the table, arguments, errors.
 *
 * Appendix B of the Amazon States Language.  A failure is States.Runtime, as
 * the service reports it, and its cause names the whole expression.
 */
#include "postgres.h"

#include "expr/intrinsic.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#define INTRINSIC_FUNCTION(sym, name, min, max, kinds, gives_text) \
	{name, min, max, kinds, gives_text, sf_intrinsic_##sym},
static const SfIntrinsicFunction functions[] = {
	SF_INTRINSIC_LIST(INTRINSIC_FUNCTION)
};

/* Find a function by its name; NULL when there is none. */
const SfIntrinsicFunction *
sf_intrinsic_find(const char *name, int len)
{
	for (size_t i = 0; i < lengthof(functions); i++)
	{
		if ((int) strlen(functions[i].name) == len &&
			memcmp(functions[i].name, name, len) == 0)
			return &functions[i];
	}
	return NULL;
}

/* Report invalid arguments, with a detail or NULL; always returns false. */
bool
sf_intrinsic_invalid(SfIntrinsicCall *call, const char *detail)
{
	return sf_error_set(call->err, SF_ERR_RUNTIME, "Invalid arguments in %s%s%s",
						call->node->function->name, detail == NULL ? "" : ": ",
						detail == NULL ? "" : detail);
}

/* Round a number half up, towards +infinity; false when it does not fit. */
static bool
round_half_up(const JsonbValue *v, int64 *out)
{
	JsonbValue	rounded;
	Datum		half;

	if (sf_json_to_int64(v, out))
		return true;
	if (v->type != jbvNumeric)
		return false;
	half = DirectFunctionCall2(numeric_div, NumericGetDatum(int64_to_numeric(1)),
							   NumericGetDatum(int64_to_numeric(2)));
	rounded.type = jbvNumeric;
	rounded.val.numeric =
		DatumGetNumeric(DirectFunctionCall1(numeric_floor,
											DirectFunctionCall2(numeric_add,
																NumericGetDatum(v->val.numeric),
																half)));
	return sf_json_to_int64(&rounded, out);
}

/* Tell whether an argument is of a kind of SF_INTRINSIC_LIST. */
static bool
is_of_kind(SfIntrinsicCall *call, int arg, char kind)
{
	const JsonbValue *v = &call->args[arg];

	return kind == 's' ? v->type == jbvString :
		kind == 'a' ? sf_json_is_array(v) :
		kind == 'o' ? sf_json_is_object(v) :
		kind == 'n' ? round_half_up(v, &call->integers[arg]) : true;
}

/* Say that an argument's path leads nowhere. */
static bool
argument_missing(const SfArgument *arg, SfEnv *env, SfError *err)
{
	if (err == NULL)
		return false;
	return sf_error_set(err, SF_ERR_RUNTIME,
						"The JsonPath argument for the field '%s' could not be found in the input '%s'",
						arg->path_text,
						env->input == NULL ? "" : sf_json_excerpt(env->input));
}

static bool eval_call(const SfIntrinsic *node, SfEnv *env, JsonbValue *result,
					  SfError *err);

/* Evaluate one argument. */
static bool
eval_argument(const SfArgument *arg, SfEnv *env, JsonbValue *result,
			  SfError *err)
{
	SfPathEnv	penv = {env, NULL};

	switch (arg->kind)
	{
		case SF_ARGUMENT_LITERAL:
			*result = arg->literal;
			return true;
		case SF_ARGUMENT_CALL:
			return eval_call(arg->call, env, result, err);
		case SF_ARGUMENT_PATH:
			switch (sf_path_eval(arg->path, &penv, result, err))
			{
				case SF_PATH_FOUND:
					return true;
				case SF_PATH_FAILED:
					return false;
				default:
					return argument_missing(arg, env, err);
			}
	}
	return false;
}

/* Evaluate the arguments of a call, then the call. */
static bool
eval_call(const SfIntrinsic *node, SfEnv *env, JsonbValue *result,
		  SfError *err)
{
	SfIntrinsicCall call;
	const char *kinds = node->function->kinds;
	int			i;

	check_stack_depth();
	call.node = node;
	call.env = env;
	call.nargs = node->nargs;
	call.args = palloc(sizeof(JsonbValue) * Max(node->nargs, 1));
	call.result = result;
	call.err = err;
	for (i = 0; i < node->nargs; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!eval_argument(&node->args[i], env, &call.args[i], err))
			return false;
	}
	for (i = 0; i < node->nargs && kinds[i] != '\0'; i++)
	{
		if (!is_of_kind(&call, i, kinds[i]))
			return sf_intrinsic_invalid(&call, NULL);
	}
	return node->function->call(&call) &&
		sf_env_make_value(env, result, err);
}

/* Evaluate an expression; an error's cause names its whole text. */
bool
sf_intrinsic_eval(const SfIntrinsic *node, const char *text, SfEnv *env,
				  JsonbValue *result, SfError *err)
{
	SfError		inner;

	if (eval_call(node, env, result, err == NULL ? NULL : &inner))
		return true;
	if (err == NULL)
		return false;
	return sf_error_set(err, inner.name,
						"The function '%s' had the following error: %s",
						text, inner.cause);
}
