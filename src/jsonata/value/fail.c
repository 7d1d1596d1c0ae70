/*
 * fail.c
 *		Throwing errors of JSONata and putting their messages into words.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "jsonata/value/fail.h"
#include "jsonata/value/jsonata_print.h"

#define CODE_TEXT(code, message) #code,
const char *const sf_jn_error_code_text[] = {
	SF_JN_ERROR_LIST(CODE_TEXT)
};

#define CODE_MESSAGE(code, message) message,
static const char *const error_template[] = {
	SF_JN_ERROR_LIST(CODE_MESSAGE)
};

/* Leave for the innermost SF_JN_TRY. */
void
sf_jn_throw(SfJnThrow *thrown)
{
	siglongjmp(*thrown->jump, 1);
}

/* Begin and throw an error with a position and a token (NULL: none). */
void
sf_jn_throw_at(SfJnThrow *thrown, SfJnErrorCode code, int position, const char *token)
{
	sf_jn_throw_error(thrown, position, code, .token = token,
					  .token_len = token == NULL ? 0 : strlen(token));
}

/* Append a quoted string of an error. */
static void
append_quoted(StringInfo buf, const char *str, Size len)
{
	SfJnValue	value = {.type = SF_JN_TYPE_STRING,.len = (uint32) len,.u.str = str};

	sf_jn_print(buf, &value, 0);
}

/* Append what a placeholder stands for; raw means without JSON's quotes. */
static void
append_field(StringInfo buf, const SfJnError *error, const char *name, Size len,
			 bool raw)
{
#define IS(s) (len == strlen(s) && memcmp(name, s, len) == 0)
	if (IS("token"))
	{
		if (error->token == NULL)
			appendStringInfoString(buf, "undefined");
		else if (raw || error->token_raw)
			appendBinaryStringInfo(buf, error->token, (int) error->token_len);
		else
			append_quoted(buf, error->token, error->token_len);
	}
	else if (IS("value"))
		sf_jn_print_limited(buf, error->value);
	else if (IS("value2") || IS("exp"))
		sf_jn_print_limited(buf, error->value2);
	else if (IS("index"))
		appendStringInfo(buf, "%d", error->index);
	else if (IS("message"))
		appendBinaryStringInfo(buf, error->value->u.str, (int) error->value->len);
	else if (error->type == NULL)
		appendStringInfoString(buf, "undefined");
	else if (raw)
		appendStringInfoString(buf, error->type);
	else
		append_quoted(buf, error->type, strlen(error->type));
#undef IS
}

/* Fill the template of an error: {{x}} as JSON, {{{x}}} as it is. */
char *
sf_jn_error_message(SfJnArena *arena, const SfJnError *error)
{
	const char *p = error_template[error->code];
	StringInfoData buf;

	initStringInfo(&buf);
	while (*p != '\0')
	{
		if (p[0] == '{' && p[1] == '{')
		{
			bool		raw = p[2] == '{';
			const char *name = p + (raw ? 3 : 2);
			const char *end = strchr(name, '}');

			append_field(&buf, error, name, end - name, raw);
			p = end + (raw ? 3 : 2);
		}
		else
			appendStringInfoChar(&buf, *p++);
	}
	return buf.data;
}
