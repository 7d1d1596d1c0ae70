/*
 * jsonata_print.c
 *		Values as JSON text, and copies of them.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "jsonata/evaluation/eval.h"
#include "jsonata/value/jsonata_print.h"

#define LIMITED_LEN 500			/* bytes of a value in a message */
#define MEASURED_BYTES 12		/* of a value, with its number but without its text */

static const char hex_digits[] = "0123456789abcdef";

/* Append a string with JSON's quotes and escapes. */
static void
print_string(StringInfo buf, const char *s, uint32 len)
{
	uint32		start = 0;

	enlargeStringInfo(buf, (int) Min(len, MaxAllocSize / 2) + 2);
	appendStringInfoCharMacro(buf, '"');
	for (uint32 i = 0; i < len; i++)
	{
		unsigned char c = (unsigned char) s[i];
		const char *escape;

		if (c >= 0x20 && c != '"' && c != '\\' &&
			!(c == 0xed && i + 2 < len && (unsigned char) s[i + 1] >= 0xa0))
			continue;
		appendBinaryStringInfo(buf, s + start, (int) (i - start));
		start = i + 1;
		if (c == 0xed)
		{
			/* A lone surrogate is nothing that text may hold. */
			appendBinaryStringInfo(buf, "\xef\xbf\xbd", 3);
			i += 2;
			start = i + 1;
			continue;
		}
		escape = strchr("\"\"\\\\\bb\ff\nn\rr\tt", c);
		appendStringInfoChar(buf, '\\');
		if (c != '\0' && escape != NULL)
			appendStringInfoChar(buf, c == '"' || c == '\\' ? (char) c : escape[1]);
		else
		{
			appendStringInfoString(buf, "u00");
			appendStringInfoChar(buf, hex_digits[c >> 4]);
			appendStringInfoChar(buf, hex_digits[c & 15]);
		}
	}
	appendBinaryStringInfo(buf, s + start, (int) (len - start));
	appendStringInfoChar(buf, '"');
}

/* Append a number; what is not finite is null in JSON. */
static void
print_number(StringInfo buf, const SfJnValue *v, int flags)
{
	char		text[SF_JN_NUMBER_LEN];
	double		d = v->u.number;

	if (!isfinite(d))
		appendStringInfoString(buf, "null");
	else if ((v->flags & SF_JN_EXACT) != 0)
		appendStringInfo(buf, INT64_FORMAT, ((const SfJnExact *) v)->exact);
	else
	{
		if ((flags & SF_JN_PRINT_STRING) != 0)
			d = sf_jn_round15(d);
		appendBinaryStringInfo(buf, text, sf_jn_print_number(d, text));
	}
}

/* Start a new line of pretty text. */
static void
new_line(StringInfo buf, int flags, int indent)
{
	if ((flags & SF_JN_PRINT_PRETTY) != 0)
		appendStringInfo(buf, "\n%*s", indent * 2, "");
}

static void print_value(StringInfo buf, const SfJnValue *v, int flags, int indent);

/* Tell whether a text is already longer than a string, or the value of a message, may be. */
static bool
is_too_long(const StringInfoData *buf, int flags)
{
	return ((flags & SF_JN_PRINT_STRING) != 0 && buf->len > SF_JN_MAX_STRING) ||
		((flags & SF_JN_PRINT_LIMITED) != 0 && buf->len > LIMITED_LEN);
}

/* Append an array; undefined elements and functions are null. */
static void
print_array(StringInfo buf, const SfJnValue *v, int flags, int indent)
{
	appendStringInfoChar(buf, '[');
	for (uint32 i = 0; i < v->len && !is_too_long(buf, flags); i++)
	{
		const SfJnValue *item = v->u.items[i];

		if (i > 0)
			appendStringInfoChar(buf, ',');
		new_line(buf, flags, indent + 1);
		if (item == NULL ||
			(item->type == SF_JN_TYPE_FUNCTION && (flags & SF_JN_PRINT_STRING) == 0))
			appendStringInfoString(buf, "null");
		else
			print_value(buf, item, flags, indent + 1);
	}
	if (v->len > 0)
		new_line(buf, flags, indent);
	appendStringInfoChar(buf, ']');
}

/* Append an object, without members that are undefined or functions. */
static void
print_object(StringInfo buf, const SfJnValue *v, int flags, int indent)
{
	bool		first = true;

	appendStringInfoChar(buf, '{');
	for (uint32 i = 0; i < v->len && !is_too_long(buf, flags); i++)
	{
		const SfJnMember *m = &v->u.members[i];

		if (m->value == NULL ||
			(m->value->type == SF_JN_TYPE_FUNCTION && (flags & SF_JN_PRINT_STRING) == 0))
			continue;
		if (!first)
			appendStringInfoChar(buf, ',');
		first = false;
		new_line(buf, flags, indent + 1);
		print_string(buf, m->key, m->keylen);
		appendStringInfoChar(buf, ':');
		if ((flags & SF_JN_PRINT_PRETTY) != 0)
			appendStringInfoChar(buf, ' ');
		print_value(buf, m->value, flags, indent + 1);
	}
	if (!first)
		new_line(buf, flags, indent);
	appendStringInfoChar(buf, '}');
}

/* Append a value at some depth of pretty text. */
static void
print_value(StringInfo buf, const SfJnValue *v, int flags, int indent)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch ((SfJnType) v->type)
	{
		case SF_JN_TYPE_NULL:
			appendStringInfoString(buf, "null");
			break;
		case SF_JN_TYPE_BOOL:
			appendStringInfoString(buf, v->u.boolean ? "true" : "false");
			break;
		case SF_JN_TYPE_NUMBER:
			print_number(buf, v, flags);
			break;
		case SF_JN_TYPE_STRING:
			print_string(buf, v->u.str, v->len);
			break;
		case SF_JN_TYPE_ARRAY:
			print_array(buf, v, flags, indent);
			break;
		case SF_JN_TYPE_OBJECT:
			print_object(buf, v, flags, indent);
			break;
		case SF_JN_TYPE_FUNCTION:
			appendStringInfoString(buf, "\"\"");
			break;
	}
}

/* Append a value as JSON text, as JSON.stringify would. */
void
sf_jn_print(StringInfo buf, const SfJnValue *v, int flags)
{
	print_value(buf, v, flags, 0);
}

/*
 * Count the least bytes that a value takes as jsonb, and stop beyond max: a value
 * that refers to the same part many times can be far larger than memory.
 */
void
sf_jn_measure(const SfJnValue *v, Size max, Size *size)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	*size += MEASURED_BYTES;
	if (v->type == SF_JN_TYPE_STRING)
		*size += v->len;
	for (uint32 i = 0; v->type == SF_JN_TYPE_ARRAY && i < v->len && *size <= max; i++)
	{
		if (v->u.items[i] != NULL)
			sf_jn_measure(v->u.items[i], max, size);
	}
	for (uint32 i = 0; v->type == SF_JN_TYPE_OBJECT && i < v->len && *size <= max; i++)
	{
		*size += v->u.members[i].keylen;
		if (v->u.members[i].value != NULL)
			sf_jn_measure(v->u.members[i].value, max, size);
	}
}

/* Append a value for a message: undefined is a word, and long text is cut. */
void
sf_jn_print_limited(StringInfo buf, const SfJnValue *v)
{
	StringInfoData text;
	int			len;

	if (v == NULL)
	{
		appendStringInfoString(buf, "undefined");
		return;
	}
	if (SF_JN_IS_NUMBER(v) && !isfinite(v->u.number))
	{
		appendStringInfoString(buf, "null");
		return;
	}
	initStringInfo(&text);
	sf_jn_print(&text, v, SF_JN_PRINT_LIMITED);
	len = text.len;
	if (len > LIMITED_LEN)
	{
		len = LIMITED_LEN;
		while (len > 0 && (((unsigned char) text.data[len]) & 0xc0) == 0x80)
			len--;
	}
	appendBinaryStringInfo(buf, text.data, len);
	if (len < text.len)
		appendStringInfoString(buf, "...");
	pfree(text.data);
}

/* Make a deep copy that shares no container with v ($clone); functions are "". */
SfJnValue *
sf_jn_clone(SfJnArena *a, const SfJnValue *v)
{
	SfJnValue  *copy;

	if (v->type == SF_JN_TYPE_FUNCTION)
		return sf_jn_string(a, "", 0);
	if (v->type != SF_JN_TYPE_ARRAY && v->type != SF_JN_TYPE_OBJECT)
		return (SfJnValue *) v;
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if ((v->flags & SF_JN_OUTER) != 0)
		return sf_jn_clone(a, v->u.items[0]);
	copy = v->type == SF_JN_TYPE_ARRAY ? sf_jn_array(a, v->len) : sf_jn_object(a, v->len);
	for (uint32 i = 0; i < v->len; i++)
	{
		if (v->type == SF_JN_TYPE_ARRAY)
			sf_jn_push(a, copy, v->u.items[i] == NULL ? sf_jn_null() :
					   sf_jn_clone(a, v->u.items[i]));
		else if (v->u.members[i].value != NULL)
			sf_jn_set_member(a, copy, &v->u.members[i],
							 sf_jn_clone(a, v->u.members[i].value));
	}
	return copy;
}
