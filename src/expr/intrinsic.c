/*
 * intrinsic.c
 *		Evaluation of intrinsic functions: the table, arguments, errors.
 *
 * Appendix B of the Amazon States Language.  A failure is States.Runtime, as
 * the service reports it, and its cause names the whole expression.
 */
#include "postgres.h"

#include <ctype.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "expr/intrinsic.h"

#define INTRINSIC_FUNCTION(sym, name, min, max, kinds, gives_text) \
	{name, min, max, kinds, gives_text, sf_intrinsic_##sym},
static const SfIntrinsicFunction functions[] = {
	SF_INTRINSIC_LIST(INTRINSIC_FUNCTION)
};

/* Find a function by its name; NULL when there is none. */
static const SfIntrinsicFunction *
find_function(const char *name, int len)
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
sf_intrinsic_refuse(SfIntrinsicCall *call, const char *detail)
{
	return sf_error_set(call->error, SF_ERR_RUNTIME, "Invalid arguments in %s%s%s",
						call->node->function->name, detail == NULL ? "" : ": ",
						detail == NULL ? "" : detail);
}

/* Round a number half up, towards +infinity; false when it does not fit. */
static bool
round_half_up(const JsonbValue *value, int64 *out)
{
	JsonbValue	rounded;
	Datum		half;

	if (sf_json_to_int64(value, out))
		return true;
	if (value->type != jbvNumeric)
		return false;
	half = DirectFunctionCall2(numeric_div, NumericGetDatum(int64_to_numeric(1)),
							   NumericGetDatum(int64_to_numeric(2)));
	rounded.type = jbvNumeric;
	rounded.val.numeric =
		DatumGetNumeric(DirectFunctionCall1(numeric_floor,
											DirectFunctionCall2(numeric_add,
																NumericGetDatum(value->val.numeric),
																half)));
	return sf_json_to_int64(&rounded, out);
}

/* Tell whether an argument is of a kind of SF_INTRINSIC_LIST. */
static bool
is_of_kind(SfIntrinsicCall *call, int arg, char kind)
{
	const JsonbValue *value = &call->args[arg];

	return kind == 's' ? value->type == jbvString :
		kind == 'a' ? sf_json_is_array(value) :
		kind == 'o' ? sf_json_is_object(value) :
		kind == 'n' ? round_half_up(value, &call->integers[arg]) : true;
}

/*
 * Name a function that a call has a string in quotes for where it takes a number, an
 * array or an object; NULL: there is none.
 */
const char *
sf_intrinsic_misused_literal(const SfIntrinsic *node)
{
	const char *misused = NULL;

	check_stack_depth();
	for (int i = 0; misused == NULL && i < node->nargs; i++)
	{
		const SfArgument *arg = &node->args[i];
		char		kind = i < (int) strlen(node->function->kinds) ? node->function->kinds[i] : '*';

		if (arg->kind == SF_ARGUMENT_CALL)
			misused = sf_intrinsic_misused_literal(arg->call);
		else if (arg->kind == SF_ARGUMENT_LITERAL && arg->literal.type == jbvString && strchr("nao", kind) != NULL)
			misused = node->function->name;
	}
	return misused;
}

/* Say that an argument's path leads nowhere. */
static bool
argument_missing(const SfArgument *arg, SfEnv *env, SfError *error)
{
	if (error == NULL)
		return false;
	return sf_error_set(error, SF_ERR_RUNTIME,
						"The JsonPath argument for the field '%s' could not be found in the input '%s'",
						arg->path_text,
						env->input == NULL ? "" : sf_json_excerpt(env->input));
}

static bool eval_call(const SfIntrinsic *node, SfEnv *env, JsonbValue *result,
					  SfError *error);

/* Evaluate one argument. */
static bool
eval_argument(const SfArgument *arg, SfEnv *env, JsonbValue *result,
			  SfError *error)
{
	SfPathEnv	penv = {env, NULL};

	switch (arg->kind)
	{
		case SF_ARGUMENT_LITERAL:
			*result = arg->literal;
			return true;
		case SF_ARGUMENT_CALL:
			return eval_call(arg->call, env, result, error);
		case SF_ARGUMENT_PATH:
			switch (sf_path_eval(arg->path, &penv, result, error))
			{
				case SF_PATH_STATUS_FOUND:
					return true;
				case SF_PATH_STATUS_FAILED:
					return false;
				default:
					return argument_missing(arg, env, error);
			}
	}
	return false;
}

/* Evaluate the arguments of a call, then the call. */
static bool
eval_call(const SfIntrinsic *node, SfEnv *env, JsonbValue *result,
		  SfError *error)
{
	SfIntrinsicCall call;
	const char *kinds = node->function->kinds;

	check_stack_depth();
	if (sf_env_is_late(env, 1))
		return sf_env_refuse_late(env, error);
	call.node = node;
	call.env = env;
	call.nargs = node->nargs;
	call.args = palloc(sizeof(JsonbValue) * Max(node->nargs, 1));
	call.result = result;
	call.error = error;
	for (int i = 0; i < node->nargs; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!eval_argument(&node->args[i], env, &call.args[i], error))
			return false;
		if (sf_env_is_late(env, 1 + sf_env_work_of(&call.args[i])))
			return sf_env_refuse_late(env, error);
	}
	for (int i = 0; i < node->nargs && kinds[i] != '\0'; i++)
	{
		if (!is_of_kind(&call, i, kinds[i]))
			return sf_intrinsic_refuse(&call, NULL);
	}
	if (!node->function->call(&call))
		return env->limit.is_over ? sf_env_refuse_late(env, error) : false;
	return sf_env_make_value(env, result, error);
}

/* Evaluate an expression; an error's cause names its whole text. */
bool
sf_intrinsic_eval(const SfIntrinsic *node, const char *text, SfEnv *env,
				  JsonbValue *result, SfError *error)
{
	SfError		inner;

	if (eval_call(node, env, result, error == NULL ? NULL : &inner))
		return true;
	if (error == NULL)
		return false;
	return sf_error_set(error, inner.name,
						"The function '%s' had the following error: %s",
						text, inner.cause);
}

/*
 * Parse the call of an intrinsic function.
 *
 * call     := "States." word "(" (argument ("," argument)*)? ")"
 * argument := call | path | "'" string "'" | number | true | false | null
 *
 * In a string \' \{ \} and \\ stand for the character behind the backslash;
 * any other backslash is an error.
 */

/* Parse a string literal; the cursor is at its opening quote. */
static bool
parse_string(SfScanner *scanner, SfArgument *arg)
{
	const char *start = ++scanner->p;
	StringInfoData buf;

	initStringInfo(&buf);
	for (; scanner->p < scanner->end && *scanner->p != '\''; scanner->p++)
	{
		if (*scanner->p == '\\')
		{
			scanner->p++;
			if (scanner->p >= scanner->end || strchr("'{}\\", *scanner->p) == NULL)
				return sf_cursor_fail(scanner, "invalid escape at offset %d",
									  (int) (scanner->p - 1 - scanner->text));
		}
		appendStringInfoChar(&buf, *scanner->p);
	}
	if (scanner->p >= scanner->end)
		return sf_cursor_fail(scanner, "string is not closed");
	arg->kind = SF_ARGUMENT_LITERAL;
	sf_json_value_string(&arg->literal, buf.data, buf.len);
	arg->raw = pnstrdup(start, scanner->p - start);
	scanner->p++;
	return true;
}

/* Parse true, false, null or a number. */
static bool
parse_scalar(SfScanner *scanner, SfArgument *arg)
{
	arg->kind = SF_ARGUMENT_LITERAL;
	if (sf_cursor_constant(scanner, &arg->literal))
		return true;
	if (sf_cursor_peek(scanner) == '-' || isdigit((unsigned char) sf_cursor_peek(scanner)))
		return sf_cursor_number(scanner, &arg->literal);
	return sf_cursor_fail(scanner, "expected an argument at offset %d",
						  (int) (scanner->p - scanner->text));
}

/* Parse one argument. */
static bool
parse_argument(SfScanner *scanner, SfArgument *arg)
{
	const char *start = scanner->p;

	memset(arg, 0, sizeof(SfArgument));
	switch (sf_cursor_peek(scanner))
	{
		case '\'':
			return parse_string(scanner, arg);
		case '$':
			arg->kind = SF_ARGUMENT_PATH;
			if (!sf_path_parse(scanner, SF_PATH_CONTEXT_IN_ARGUMENT, &arg->path))
				return false;
			arg->path_text = pnstrdup(start, scanner->p - start);
			return true;
		case 'S':
			arg->kind = SF_ARGUMENT_CALL;
			return sf_intrinsic_parse(scanner, &arg->call);
		default:
			return parse_scalar(scanner, arg);
	}
}

/* Parse a call at the cursor. */
bool
sf_intrinsic_parse(SfScanner *scanner, SfIntrinsic **out)
{
	SfIntrinsic *call = palloc0(sizeof(SfIntrinsic));
	const char *name = scanner->p;
	int			allocated = 4;

	if (++scanner->depth > SF_INTRINSIC_DEPTH)
		return sf_cursor_fail(scanner, "intrinsic functions are nested deeper than %d levels",
							  SF_INTRINSIC_DEPTH);
	while (scanner->p < scanner->end && (sf_cursor_is_word(*scanner->p) || *scanner->p == '.'))
		scanner->p++;
	call->function = find_function(name, scanner->p - name);
	if (call->function == NULL)
		return sf_cursor_fail(scanner, "function \"%.*s\" does not exist",
							  (int) (scanner->p - name), name);
	sf_cursor_space(scanner);
	if (!sf_cursor_expect(scanner, "("))
		return false;

	call->args = palloc(sizeof(SfArgument) * allocated);
	sf_cursor_space(scanner);
	while (!sf_cursor_accept(scanner, ")"))
	{
		CHECK_FOR_INTERRUPTS();
		if (call->nargs > 0 && !sf_cursor_expect(scanner, ","))
			return false;
		sf_cursor_space(scanner);
		if (call->nargs == allocated)
		{
			allocated *= 2;
			call->args = repalloc(call->args, sizeof(SfArgument) * allocated);
		}
		if (!parse_argument(scanner, &call->args[call->nargs++]))
			return false;
		sf_cursor_space(scanner);
	}
	if (call->nargs < call->function->min_args || call->nargs > call->function->max_args)
		return sf_cursor_fail(scanner, "wrong number of arguments for %s",
							  call->function->name);
	scanner->depth--;
	*out = call;
	return true;
}
