/*
 * functions.c
 *		The table of the library, and functions about values in general.
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "jsonata/function/functions.h"
#include "jsonata/picture/picture.h"
#include "jsonata/value/jsonata_print.h"

#define NATIVE(name, signature, arity, given, modes) \
	{#name, sf_jn_fn_##name, signature, arity, given, modes},
static const SfJnNative natives[] = {
	SF_JN_FUNCTION_LIST(NATIVE)
};

/* The functions by name; made once a backend */
static SfJnValue *library = NULL;

/* Build the table of the library. */
static void
build_library(void)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext,
												  "sfflow JSONata library",
												  ALLOCSET_SMALL_SIZES);
	SfJnArena	arena;
	SfJnThrow	thrower = {0};
	SfJnValue  *object;

	sf_jn_arena_init(&arena, context);
	object = sf_jn_object(&arena, 4);
	for (size_t i = 0; i < lengthof(natives); i++)
	{
		SfJnValue  *value = sf_jn_function_value(&arena, SF_JN_FUNCTION_NATIVE);

		value->u.function->native = &natives[i];
		value->u.function->signature = sf_jn_signature_parse(&arena, &thrower,
															 natives[i].signature, 0);
		sf_jn_set_c(&arena, object, natives[i].name, value);
	}
	library = object;
}

/* Find a function of the library that exists in a mode. */
SfJnValue *
sf_jn_library_function(const SfJnName *name, SfJnMode mode)
{
	SfJnMember *member;

	if (library == NULL)
		build_library();
	member = sf_jn_find(library, name->str, name->len, name->hash);
	return member != NULL && (member->value->u.function->native->modes & mode) != 0 ?
		member->value : NULL;
}

/* $type(value) */
SF_JN_LIBRARY_FUNCTION(type)
{
	static const char *const names[] = {
		[SF_JN_TYPE_NULL] = "null", [SF_JN_TYPE_BOOL] = "boolean", [SF_JN_TYPE_NUMBER] = "number",
		[SF_JN_TYPE_STRING] = "string", [SF_JN_TYPE_ARRAY] = "array", [SF_JN_TYPE_OBJECT] = "object",
		[SF_JN_TYPE_FUNCTION] = "function"
	};

	return sf_jn_cstring(&ev->arena, names[args[0]->type]);
}

/* $exists(value) */
SF_JN_LIBRARY_FUNCTION(exists)
{
	return sf_jn_bool(args[0] != NULL);
}

/* $boolean(value) */
SF_JN_LIBRARY_FUNCTION(boolean)
{
	return sf_jn_bool(sf_jn_is_true(ev, args[0]));
}

/* $not(value) */
SF_JN_LIBRARY_FUNCTION(not)
{
	return sf_jn_bool(!sf_jn_is_true(ev, args[0]));
}

/* $string(value, prettify) */
SF_JN_LIBRARY_FUNCTION(string)
{
	return sf_jn_to_string(ev, args[0], sf_jn_is_true(ev, args[1]));
}

/* $clone(value) */
SF_JN_LIBRARY_FUNCTION(clone)
{
	sf_jn_check_nesting(ev, args[0]);
	return sf_jn_clone(&ev->arena, args[0]);
}

/* Throw an error whose message the expression gives. */
static void pg_attribute_noreturn()
fail_with(SfJnEval *ev, SfJnErrorCode code, SfJnValue *message, const char *fallback)
{
	sf_jn_fail(ev, code, .value = SF_JN_IS_STRING(message) && message->len > 0 ?
			   message : sf_jn_cstring(&ev->arena, fallback));
}

/* $error(message) */
SF_JN_LIBRARY_FUNCTION(error)
{
	fail_with(ev, SF_JN_ERROR_D3137, args[0], "$error() function evaluated");
}

/* $assert(condition, message) */
SF_JN_LIBRARY_FUNCTION(assert)
{
	if (!sf_jn_is_true(ev, args[0]))
		fail_with(ev, SF_JN_ERROR_D3141, args[1], "$assert() statement failed");
	return NULL;
}

/* Run an expression given as text; its errors become those of $eval. */
static SfJnValue *
eval_text(SfJnEval *ev, SfJnValue *text, SfJnValue *input)
{
	SfJnCall   *call = ev->call;
	SfJnCall   *outermost = ev->outermost;
	SfJnFrame  *env = ev->focus_env;
	int			depth = ev->depth;
	SfJnNode   *volatile root = NULL;
	SfJnValue  *volatile result = NULL;

	SF_JN_TRY(&ev->thrower);
	{
		SfJnNode   *node = sf_jn_parse(&ev->arena, &ev->thrower, text->u.str, text->len);

		root = node;
		ev->call = NULL;
		ev->outermost = NULL;
		result = sf_jn_eval(ev, node, input, env);
		ev->call = call;
		ev->outermost = outermost;
	}
	SF_JN_CATCH(&ev->thrower);
	{
		SfJnErrorCode code = ev->thrower.error.code;
		char	   *message;

		ev->call = call;
		ev->outermost = outermost;
		ev->depth = depth;
		/* What is out of bounds stays so. */
		if (code == SF_JN_ERROR_U1001 || code == SF_JN_ERROR_U1002 || code == SF_JN_ERROR_U1003)
			sf_jn_raise(ev);
		message = sf_jn_error_message(&ev->arena, &ev->thrower.error);
		sf_jn_fail(ev, root == NULL ? SF_JN_ERROR_D3120 : SF_JN_ERROR_D3121,
				   .value = sf_jn_string_copy(&ev->arena, message, strlen(message)));
	}
	SF_JN_END(&ev->thrower);
	return result;
}

/* $eval(expression, context) */
SF_JN_LIBRARY_FUNCTION(eval)
{
	return eval_text(ev, args[0],
					 args[1] == NULL ? ev->focus : sf_jn_wrap_input(ev, args[1]));
}

/* Unix time in milliseconds, the same throughout an evaluation. */
int64
sf_jn_now(SfJnEval *ev)
{
	if (!ev->now_known)
	{
		ev->now_ms = GetCurrentTimestamp() / 1000 +
			(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) 86400000;
		ev->now_known = true;
	}
	return ev->now_ms;
}

/* $millis() */
SF_JN_LIBRARY_FUNCTION(millis)
{
	return sf_jn_number(&ev->arena, sf_jn_now(ev));
}

/* $now(picture, timezone) */
SF_JN_LIBRARY_FUNCTION(now)
{
	return sf_jn_format_datetime(ev, sf_jn_now(ev), args[0], args[1]);
}

/* $fromMillis(number, picture, timezone) */
SF_JN_LIBRARY_FUNCTION(fromMillis)
{
	return sf_jn_format_datetime(ev, args[0]->u.number, args[1], args[2]);
}

/* $toMillis(timestamp, picture) */
SF_JN_LIBRARY_FUNCTION(toMillis)
{
	return sf_jn_parse_datetime(ev, args[0], args[1]);
}
