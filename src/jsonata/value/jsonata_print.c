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
print_number(StringInfo buf, const SfJnValue *value, int flags)
{
	char		text[SF_JN_NUMBER_LEN];
	double		d = value->u.number;

	if (!isfinite(d))
		appendStringInfoString(buf, "null");
	else if ((value->flags & SF_JN_EXACT) != 0)
		appendStringInfo(buf, INT64_FORMAT, ((const SfJnExact *) value)->exact);
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

static void print_value(StringInfo buf, const SfJnValue *value, int flags, int indent);

/* Tell whether a text is already longer than a string, or the value of a message, may be. */
static bool
is_too_long(const StringInfoData *buf, int flags)
{
	return ((flags & SF_JN_PRINT_STRING) != 0 && buf->len > SF_JN_MAX_STRING) ||
		((flags & SF_JN_PRINT_LIMITED) != 0 && buf->len > LIMITED_LEN);
}

/* Append an array; undefined elements and functions are null. */
static void
print_array(StringInfo buf, const SfJnValue *value, int flags, int indent)
{
	appendStringInfoChar(buf, '[');
	for (uint32 i = 0; i < value->len && !is_too_long(buf, flags); i++)
	{
		const SfJnValue *item = value->u.items[i];

		if (i > 0)
			appendStringInfoChar(buf, ',');
		new_line(buf, flags, indent + 1);
		if (item == NULL ||
			(item->type == SF_JN_TYPE_FUNCTION && (flags & SF_JN_PRINT_STRING) == 0))
			appendStringInfoString(buf, "null");
		else
			print_value(buf, item, flags, indent + 1);
	}
	if (value->len > 0)
		new_line(buf, flags, indent);
	appendStringInfoChar(buf, ']');
}

/* Append an object, without members that are undefined or functions. */
static void
print_object(StringInfo buf, const SfJnValue *value, int flags, int indent)
{
	bool		first = true;

	appendStringInfoChar(buf, '{');
	for (uint32 i = 0; i < value->len && !is_too_long(buf, flags); i++)
	{
		const SfJnMember *member = &value->u.members[i];

		if (member->value == NULL ||
			(member->value->type == SF_JN_TYPE_FUNCTION && (flags & SF_JN_PRINT_STRING) == 0))
			continue;
		if (!first)
			appendStringInfoChar(buf, ',');
		first = false;
		new_line(buf, flags, indent + 1);
		print_string(buf, member->key, member->keylen);
		appendStringInfoChar(buf, ':');
		if ((flags & SF_JN_PRINT_PRETTY) != 0)
			appendStringInfoChar(buf, ' ');
		print_value(buf, member->value, flags, indent + 1);
	}
	if (!first)
		new_line(buf, flags, indent);
	appendStringInfoChar(buf, '}');
}

/* Append a value at some depth of pretty text. */
static void
print_value(StringInfo buf, const SfJnValue *value, int flags, int indent)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch ((SfJnType) value->type)
	{
		case SF_JN_TYPE_NULL:
			appendStringInfoString(buf, "null");
			break;
		case SF_JN_TYPE_BOOL:
			appendStringInfoString(buf, value->u.boolean ? "true" : "false");
			break;
		case SF_JN_TYPE_NUMBER:
			print_number(buf, value, flags);
			break;
		case SF_JN_TYPE_STRING:
			print_string(buf, value->u.str, value->len);
			break;
		case SF_JN_TYPE_ARRAY:
			print_array(buf, value, flags, indent);
			break;
		case SF_JN_TYPE_OBJECT:
			print_object(buf, value, flags, indent);
			break;
		case SF_JN_TYPE_FUNCTION:
			appendStringInfoString(buf, "\"\"");
			break;
	}
}

/* Append a value as JSON text, as JSON.stringify would. */
void
sf_jn_print(StringInfo buf, const SfJnValue *value, int flags)
{
	print_value(buf, value, flags, 0);
}

/*
 * Count the least bytes that a value takes as jsonb, and stop beyond max: a value
 * that refers to the same part many times can be far larger than memory.
 */
void
sf_jn_measure(const SfJnValue *value, Size max, Size *size)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	*size += MEASURED_BYTES;
	if (value->type == SF_JN_TYPE_STRING)
		*size += value->len;
	for (uint32 i = 0; value->type == SF_JN_TYPE_ARRAY && i < value->len && *size <= max; i++)
	{
		if (value->u.items[i] != NULL)
			sf_jn_measure(value->u.items[i], max, size);
	}
	for (uint32 i = 0; value->type == SF_JN_TYPE_OBJECT && i < value->len && *size <= max; i++)
	{
		*size += value->u.members[i].keylen;
		if (value->u.members[i].value != NULL)
			sf_jn_measure(value->u.members[i].value, max, size);
	}
}

/* Append a value for a message: undefined is a word, and long text is cut. */
void
sf_jn_print_limited(StringInfo buf, const SfJnValue *value)
{
	StringInfoData text;
	int			len;

	if (value == NULL)
	{
		appendStringInfoString(buf, "undefined");
		return;
	}
	if (SF_JN_IS_NUMBER(value) && !isfinite(value->u.number))
	{
		appendStringInfoString(buf, "null");
		return;
	}
	initStringInfo(&text);
	sf_jn_print(&text, value, SF_JN_PRINT_LIMITED);
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
sf_jn_clone(SfJnArena *arena, const SfJnValue *value)
{
	SfJnValue  *copy;

	if (value->type == SF_JN_TYPE_FUNCTION)
		return sf_jn_string(arena, "", 0);
	if (value->type != SF_JN_TYPE_ARRAY && value->type != SF_JN_TYPE_OBJECT)
		return (SfJnValue *) value;
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if ((value->flags & SF_JN_OUTER) != 0)
		return sf_jn_clone(arena, value->u.items[0]);
	copy = value->type == SF_JN_TYPE_ARRAY ? sf_jn_array(arena, value->len) : sf_jn_object(arena, value->len);
	for (uint32 i = 0; i < value->len; i++)
	{
		if (value->type == SF_JN_TYPE_ARRAY)
			sf_jn_push(arena, copy, value->u.items[i] == NULL ? sf_jn_null() :
					   sf_jn_clone(arena, value->u.items[i]));
		else if (value->u.members[i].value != NULL)
			sf_jn_set_member(arena, copy, &value->u.members[i],
							 sf_jn_clone(arena, value->u.members[i].value));
	}
	return copy;
}
