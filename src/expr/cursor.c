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
sf_cursor_init(SfScanner *scanner, const char *text, SfError *error)
{
	scanner->text = text;
	scanner->p = text;
	scanner->end = text + strlen(text);
	scanner->error = error;
	scanner->depth = 0;
	scanner->context_use = 0;
}

/* Report what is wrong at the cursor; always returns false. */
bool
sf_cursor_fail(SfScanner *scanner, const char *fmt,...)
{
	va_list		args;

	if (scanner->error == NULL)
		return false;
	va_start(args, fmt);
	sf_error_set_va(scanner->error, SF_ERR_RUNTIME, fmt, args);
	va_end(args);
	scanner->error->position = (int) (scanner->p - scanner->text);
	return false;
}

/* Look at the next byte; '\0' at the end. */
char
sf_cursor_peek(const SfScanner *scanner)
{
	return scanner->p < scanner->end ? *scanner->p : '\0';
}

/* Skip blanks. */
void
sf_cursor_space(SfScanner *scanner)
{
	while (scanner->p < scanner->end && strchr(" \t\r\n", *scanner->p) != NULL)
		scanner->p++;
}

/* Skip a text that comes next; false, without an error, when it does not. */
bool
sf_cursor_accept(SfScanner *scanner, const char *token)
{
	size_t		len = strlen(token);

	if ((size_t) (scanner->end - scanner->p) < len || memcmp(scanner->p, token, len) != 0)
		return false;
	scanner->p += len;
	return true;
}

/* Skip a text that has to come next. */
bool
sf_cursor_expect(SfScanner *scanner, const char *token)
{
	if (sf_cursor_accept(scanner, token))
		return true;
	return sf_cursor_fail(scanner, "expected \"%s\" at offset %d", token,
						  (int) (scanner->p - scanner->text));
}

/* Tell whether a byte belongs to a word; all of non-ASCII does. */
bool
sf_cursor_is_word(char c)
{
	return isalnum((unsigned char) c) || c == '_' || IS_HIGHBIT_SET(c);
}

/* Read true, false or null; false, without an error, where none comes next. */
bool
sf_cursor_constant(SfScanner *scanner, JsonbValue *out)
{
	static const char *const words[] = {"true", "false", "null"};

	for (size_t i = 0; i < lengthof(words); i++)
	{
		if (sf_cursor_accept(scanner, words[i]))
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
sf_cursor_quoted(SfScanner *scanner, char **str, int *len)
{
	char		quote = sf_cursor_peek(scanner);
	StringInfoData buf;

	if (quote != '\'' && quote != '"')
		return sf_cursor_fail(scanner, "expected a quoted name at offset %d",
							  (int) (scanner->p - scanner->text));
	initStringInfo(&buf);
	for (scanner->p++; scanner->p < scanner->end && *scanner->p != quote; scanner->p++)
	{
		if (*scanner->p == '\\' && scanner->p + 1 < scanner->end &&
			(scanner->p[1] == quote || scanner->p[1] == '\\'))
			scanner->p++;
		appendStringInfoChar(&buf, *scanner->p);
	}
	if (scanner->p >= scanner->end)
		return sf_cursor_fail(scanner, "string is not closed");
	scanner->p++;
	*str = buf.data;
	*len = buf.len;
	return true;
}

/* Read an integer with an optional sign. */
bool
sf_cursor_integer(SfScanner *scanner, int64 *out)
{
	const char *start = scanner->p;
	char		digits[24];

	if (sf_cursor_peek(scanner) == '-')
		scanner->p++;
	while (scanner->p < scanner->end && isdigit((unsigned char) *scanner->p))
		scanner->p++;
	if (scanner->p == start || !isdigit((unsigned char) scanner->p[-1]))
		return sf_cursor_fail(scanner, "expected an integer at offset %d",
							  (int) (start - scanner->text));
	/* 18 digits always fit; no array has an index beyond them */
	if (scanner->p - start > 18)
		return sf_cursor_fail(scanner, "integer at offset %d is out of range",
							  (int) (start - scanner->text));
	memcpy(digits, start, scanner->p - start);
	digits[scanner->p - start] = '\0';
	*out = strtoll(digits, NULL, 10);
	return true;
}

/* Read a JSON number; the zero before a decimal point may be missing. */
bool
sf_cursor_number(SfScanner *scanner, JsonbValue *out)
{
	int			at = (int) (scanner->p - scanner->text);
	const char *number = scanner->p;
	int			len;
	Jsonb	   *document;

	while (scanner->p < scanner->end &&
		   (isdigit((unsigned char) *scanner->p) || strchr("+-.eE", *scanner->p) != NULL))
		scanner->p++;
	len = (int) (scanner->p - number);
	if (*number == '.')
		number = psprintf("0%.*s", len++, number);
	if (!IsValidJsonNumber(number, len) || !sf_json_parse(number, len, &document))
		return sf_cursor_fail(scanner, "invalid number at offset %d", at);
	sf_json_root(document, out);
	return true;
}
