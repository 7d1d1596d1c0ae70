/*
 * intrinsic_parse.c
 *		Parse the call of an intrinsic function.
 *
 *		call     := "States." word "(" (argument ("," argument)*)? ")"
 *		argument := call | path | "'" string "'" | number | true | false | null
 *
 * In a string \' \{ \} and \\ stand for the character behind the backslash;
 * any other backslash is an error.
 */
#include "postgres.h"

#include <ctype.h>

#include "expr/intrinsic.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"

/* Parse a string literal; the cursor is at its opening quote. */
static bool
parse_string(SfScanner *s, SfArgument *arg)
{
	const char *start = ++s->p;
	StringInfoData buf;

	initStringInfo(&buf);
	for (; s->p < s->end && *s->p != '\''; s->p++)
	{
		if (*s->p == '\\')
		{
			s->p++;
			if (s->p >= s->end || strchr("'{}\\", *s->p) == NULL)
				return sf_cursor_fail(s, "invalid escape at offset %d",
									  (int) (s->p - 1 - s->text));
		}
		appendStringInfoChar(&buf, *s->p);
	}
	if (s->p >= s->end)
		return sf_cursor_fail(s, "string is not closed");
	arg->kind = SF_ARGUMENT_LITERAL;
	sf_json_value_string(&arg->literal, buf.data, buf.len);
	arg->raw = pnstrdup(start, s->p - start);
	s->p++;
	return true;
}

/* Parse true, false, null or a number. */
static bool
parse_scalar(SfScanner *s, SfArgument *arg)
{
	arg->kind = SF_ARGUMENT_LITERAL;
	if (sf_cursor_constant(s, &arg->literal))
		return true;
	if (sf_cursor_peek(s) == '-' || isdigit((unsigned char) sf_cursor_peek(s)))
		return sf_cursor_number(s, &arg->literal);
	return sf_cursor_fail(s, "expected an argument at offset %d",
						  (int) (s->p - s->text));
}

/* Parse one argument. */
static bool
parse_argument(SfScanner *s, SfArgument *arg)
{
	const char *start = s->p;

	memset(arg, 0, sizeof(SfArgument));
	switch (sf_cursor_peek(s))
	{
		case '\'':
			return parse_string(s, arg);
		case '$':
			arg->kind = SF_ARGUMENT_PATH;
			if (!sf_path_parse(s, SF_PLACE_ARGUMENT, &arg->path))
				return false;
			arg->path_text = pnstrdup(start, s->p - start);
			return true;
		case 'S':
			arg->kind = SF_ARGUMENT_CALL;
			return sf_intrinsic_parse(s, &arg->call);
		default:
			return parse_scalar(s, arg);
	}
}

/* Parse a call at the cursor. */
bool
sf_intrinsic_parse(SfScanner *s, SfIntrinsic **out)
{
	SfIntrinsic *call = palloc0(sizeof(SfIntrinsic));
	const char *name = s->p;
	int			allocated = 4;

	if (++s->depth > SF_INTRINSIC_DEPTH)
		return sf_cursor_fail(s, "intrinsic functions are nested deeper than %d levels",
							  SF_INTRINSIC_DEPTH);
	while (s->p < s->end && (sf_cursor_is_word(*s->p) || *s->p == '.'))
		s->p++;
	call->function = sf_intrinsic_find(name, s->p - name);
	if (call->function == NULL)
		return sf_cursor_fail(s, "function \"%.*s\" does not exist",
							  (int) (s->p - name), name);
	sf_cursor_space(s);
	if (!sf_cursor_expect(s, "("))
		return false;

	call->args = palloc(sizeof(SfArgument) * allocated);
	sf_cursor_space(s);
	while (!sf_cursor_accept(s, ")"))
	{
		CHECK_FOR_INTERRUPTS();
		if (call->nargs > 0 && !sf_cursor_expect(s, ","))
			return false;
		sf_cursor_space(s);
		if (call->nargs == allocated)
		{
			allocated *= 2;
			call->args = repalloc(call->args, sizeof(SfArgument) * allocated);
		}
		if (!parse_argument(s, &call->args[call->nargs++]))
			return false;
		sf_cursor_space(s);
	}
	if (call->nargs < call->function->min_args || call->nargs > call->function->max_args)
		return sf_cursor_fail(s, "wrong number of arguments for %s",
							  call->function->name);
	s->depth--;
	*out = call;
	return true;
}
