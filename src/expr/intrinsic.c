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

typedef struct IntrinsicEntry
{
	const char *name;
	int			min_args;
	int			max_args;
	bool		(*call) (SfIntrinsicCall *call);
} IntrinsicEntry;

#define INTRINSIC_ENTRY(sym, name, min, max) {name, min, max, sf_intrinsic_##sym},
static const IntrinsicEntry intrinsics[] = {
	SF_INTRINSIC_LIST(INTRINSIC_ENTRY)
};

/* Find a function by its name; -1 when there is none. */
int
sf_intrinsic_find(const char *name, int len)
{
	int			i;

	for (i = 0; i < (int) lengthof(intrinsics); i++)
	{
		if ((int) strlen(intrinsics[i].name) == len &&
			memcmp(intrinsics[i].name, name, len) == 0)
			return i;
	}
	return -1;
}

/* Tell a function's name. */
const char *
sf_intrinsic_name(int function)
{
	return intrinsics[function].name;
}

/* Tell whether a function takes that many arguments. */
bool
sf_intrinsic_accepts(int function, int nargs)
{
	return nargs >= intrinsics[function].min_args &&
		nargs <= intrinsics[function].max_args;
}

/* Report invalid arguments, with a detail or NULL; always returns false. */
bool
sf_intrinsic_invalid(SfIntrinsicCall *call, const char *detail)
{
	const char *name = sf_intrinsic_name(call->node->function);

	if (detail == NULL)
		return sf_error_set(call->err, SF_ERR_RUNTIME,
							"Invalid arguments in %s", name);
	return sf_error_set(call->err, SF_ERR_RUNTIME,
						"Invalid arguments in %s: %s", name, detail);
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

/* Read an argument as integer, rounded half up; false when it is no number. */
bool
sf_intrinsic_integer(const SfIntrinsicCall *call, int arg, int64 *out)
{
	return round_half_up(&call->args[arg], out);
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
	return intrinsics[node->function].call(&call) &&
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
