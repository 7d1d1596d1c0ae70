/*
 * cursor.c
 *		A cursor over the text of an expression, shared by the parsers.
 */
#include "postgres.h"

#include <ctype.h>

#include "common/jsonapi.h"
#include "lib/stringinfo.h"

#include "expr/path.h"

/* Begin to scan a text. */
void
sf_cursor_init(SfScanner *s, const char *text, SfError *err)
{
	s->text = text;
	s->p = text;
	s->end = text + strlen(text);
	s->err = err;
	s->depth = 0;
	s->context_use = 0;
}

/* Report what is wrong at the cursor; always returns false. */
bool
sf_cursor_fail(SfScanner *s, const char *fmt,...)
{
	va_list		args;

	if (s->err == NULL)
		return false;
	va_start(args, fmt);
	sf_error_set_va(s->err, SF_ERR_RUNTIME, fmt, args);
	va_end(args);
	s->err->position = (int) (s->p - s->text);
	return false;
}

/* Look at the next byte; '\0' at the end. */
char
sf_cursor_peek(const SfScanner *s)
{
	return s->p < s->end ? *s->p : '\0';
}

/* Skip blanks. */
void
sf_cursor_space(SfScanner *s)
{
	while (s->p < s->end && strchr(" \t\r\n", *s->p) != NULL)
		s->p++;
}

/* Skip a text that comes next; false, without an error, when it does not. */
bool
sf_cursor_accept(SfScanner *s, const char *token)
{
	size_t		len = strlen(token);

	if ((size_t) (s->end - s->p) < len || memcmp(s->p, token, len) != 0)
		return false;
	s->p += len;
	return true;
}

/* Skip a text that has to come next. */
bool
sf_cursor_expect(SfScanner *s, const char *token)
{
	if (sf_cursor_accept(s, token))
		return true;
	return sf_cursor_fail(s, "expected \"%s\" at offset %d", token,
						  (int) (s->p - s->text));
}

/* Tell whether a byte belongs to a word; all of non-ASCII does. */
bool
sf_cursor_is_word(char c)
{
	return isalnum((unsigned char) c) || c == '_' || IS_HIGHBIT_SET(c);
}

/* Read true, false or null; false, without an error, where none comes next. */
bool
sf_cursor_constant(SfScanner *s, JsonbValue *out)
{
	static const char *const words[] = {"true", "false", "null"};

	for (size_t i = 0; i < lengthof(words); i++)
	{
		if (sf_cursor_accept(s, words[i]))
		{
			out->type = words[i][0] == 'n' ? jbvNull : jbvBool;
			out->val.boolean = words[i][0] == 't';
			return true;
		}
	}
	return false;
}

/*
 * Read a quoted name or string.  A backslash escapes the quote and itself; before
 * any other character it is an ordinary character.
 */
bool
sf_cursor_quoted(SfScanner *s, char **str, int *len)
{
	char		quote = sf_cursor_peek(s);
	StringInfoData buf;

	if (quote != '\'' && quote != '"')
		return sf_cursor_fail(s, "expected a quoted name at offset %d",
							  (int) (s->p - s->text));
	initStringInfo(&buf);
	for (s->p++; s->p < s->end && *s->p != quote; s->p++)
	{
		if (*s->p == '\\' && s->p + 1 < s->end &&
			(s->p[1] == quote || s->p[1] == '\\'))
			s->p++;
		appendStringInfoChar(&buf, *s->p);
	}
	if (s->p >= s->end)
		return sf_cursor_fail(s, "string is not closed");
	s->p++;
	*str = buf.data;
	*len = buf.len;
	return true;
}

/* Read an integer with an optional sign. */
bool
sf_cursor_integer(SfScanner *s, int64 *out)
{
	const char *start = s->p;
	char		digits[24];

	if (sf_cursor_peek(s) == '-')
		s->p++;
	while (s->p < s->end && isdigit((unsigned char) *s->p))
		s->p++;
	if (s->p == start || !isdigit((unsigned char) s->p[-1]))
		return sf_cursor_fail(s, "expected an integer at offset %d",
							  (int) (start - s->text));
	/* 18 digits always fit; no array has an index beyond them */
	if (s->p - start > 18)
		return sf_cursor_fail(s, "integer at offset %d is out of range",
							  (int) (start - s->text));
	memcpy(digits, start, s->p - start);
	digits[s->p - start] = '\0';
	*out = strtoll(digits, NULL, 10);
	return true;
}

/* Read a JSON number; the zero before a decimal point may be missing. */
bool
sf_cursor_number(SfScanner *s, JsonbValue *out)
{
	int			at = (int) (s->p - s->text);
	const char *number = s->p;
	int			len;
	Jsonb	   *doc;

	while (s->p < s->end &&
		   (isdigit((unsigned char) *s->p) || strchr("+-.eE", *s->p) != NULL))
		s->p++;
	len = (int) (s->p - number);
	if (*number == '.')
		number = psprintf("0%.*s", len++, number);
	if (!IsValidJsonNumber(number, len) || !sf_json_parse(number, len, &doc))
		return sf_cursor_fail(s, "invalid number at offset %d", at);
	sf_json_root(doc, out);
	return true;
}
