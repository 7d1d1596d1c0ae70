/*
 * json_scan.c
 *		JSON that is known to be valid, read once from its beginning to its end.
 *
 * tools/client/json_text.c reads with PostgreSQL's lexer, each level of a document anew, which
 * takes ten times as long for spans.  A value that jsonb has printed needs no lexer.  Of a text
 * that is no JSON nothing is read beyond its end.
 */
#include "postgres_fe.h"

#include "tools/sfgateway/otlp/otlp_internal.h"

/* Begin to read a text. */
SfgScan
sfg_scan_begin(const char *text, size_t len)
{
	return (SfgScan) {text, text + len};
}

/* Tell with which character the next value or bracket begins; NUL: the text is at its end. */
char
sfg_scan_peek(SfgScan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
		scan->at++;
	return scan->at < scan->end ? *scan->at : '\0';
}

/* Read the opening bracket of a container, { or [; false: the next value is no such container, and is not read. */
bool
sfg_scan_enter(SfgScan *scan, char bracket)
{
	if (sfg_scan_peek(scan) != bracket)
		return false;
	scan->at++;
	return true;
}

/* Read to the end of a string whose opening quote was read. */
static void
read_string(SfgScan *scan)
{
	while (scan->at < scan->end && *scan->at != '"')
		scan->at += *scan->at == '\\' && scan->end - scan->at > 1 ? 2 : 1;
	if (scan->at < scan->end)
		scan->at++;
}

/* Read the rest of a value up to the bracket that closes it. */
static void
read_container(SfgScan *scan)
{
	int			depth = 0;

	while (scan->at < scan->end)
	{
		char		c = *scan->at++;

		if (c == '"')
			read_string(scan);
		else if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return;
	}
}

/* Read a value. */
SfcJson
sfg_scan_value(SfgScan *scan)
{
	char		first = sfg_scan_peek(scan);
	const char *start = scan->at;

	if (first == '{' || first == '[')
		read_container(scan);
	else if (first == '"')
	{
		scan->at++;
		read_string(scan);
	}
	else
	{
		while (scan->at < scan->end && strchr(",]} \n\t\r", *scan->at) == NULL)
			scan->at++;
	}
	return (SfcJson) {start, (size_t) (scan->at - start)};
}

/*
 * Go to the next element of an array (key is NULL) or the value of the next member
 * of an object, which is to be read then; false: there is none, and the closing bracket was read.
 */
bool
sfg_scan_next(SfgScan *scan, SfcJson *key)
{
	char		first = sfg_scan_peek(scan);

	if (first == ',')
	{
		scan->at++;
		first = sfg_scan_peek(scan);
	}
	if (first == '}' || first == ']' || first == ':' || first == '\0')
	{
		scan->at += first != '\0';
		return false;
	}
	if (key == NULL)
		return true;
	*key = sfg_scan_value(scan);
	if (sfg_scan_peek(scan) == ':')
		scan->at++;
	return sfg_scan_peek(scan) != '\0';
}
