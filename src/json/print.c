/*
 * print.c
 *		Compact JSON text, as the service prints it, and its length.
 *
 * One walk over the document feeds a sink, which either appends to a buffer or
 * only counts bytes.  So a payload's size is computed without building its text.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "json/json.h"

typedef struct TextSink
{
	StringInfo	buf;			/* NULL: only count */
	Size		size;
	Size		max;			/* bytes after which the walk ends */
} TextSink;

/* Bytes of a document that a message shows, as many as the service keeps of a cause */
#define EXCERPT_BYTES	32768

/* Write bytes, as long as they fit. */
static void
sink_bytes(TextSink *sink, const char *bytes, Size len)
{
	sink->size += len;
	if (sink->buf != NULL && sink->size <= sink->max)
		appendBinaryStringInfo(sink->buf, bytes, len);
}

/* Write the escape sequence of a character that must be escaped. */
static void
sink_escape(TextSink *sink, unsigned char c)
{
	static const char from[] = "\"\\\b\f\n\r\t";
	static const char to[] = "\"\\bfnrt";
	const char *found = strchr(from, c);
	char		escape[8];

	if (c != '\0' && found != NULL)
	{
		escape[0] = '\\';
		escape[1] = to[found - from];
		sink_bytes(sink, escape, 2);
		return;
	}
	snprintf(escape, sizeof(escape), "\\u%04X", c);
	sink_bytes(sink, escape, 6);
}

/* Write a quoted string, in runs between the characters to escape. */
static void
sink_string(TextSink *sink, const char *s, int len)
{
	int			start = 0;

	sink_bytes(sink, "\"", 1);
	for (int i = 0; i < len; i++)
	{
		unsigned char c = (unsigned char) s[i];

		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		sink_bytes(sink, s + start, i - start);
		sink_escape(sink, c);
		start = i + 1;
	}
	sink_bytes(sink, s + start, len - start);
	sink_bytes(sink, "\"", 1);
}

/* Write a scalar. */
static void
sink_scalar(TextSink *sink, const JsonbValue *value)
{
	char	   *text;

	switch (value->type)
	{
		case jbvNull:
			sink_bytes(sink, "null", 4);
			break;
		case jbvBool:
			if (value->val.boolean)
				sink_bytes(sink, "true", 4);
			else
				sink_bytes(sink, "false", 5);
			break;
		case jbvString:
			sink_string(sink, value->val.string.val, value->val.string.len);
			break;
		case jbvNumeric:
			text = DatumGetCString(DirectFunctionCall1(numeric_out,
													   NumericGetDatum(value->val.numeric)));
			sink_bytes(sink, text, strlen(text));
			pfree(text);
			break;
		default:
			elog(ERROR, "unexpected jsonb value of type %d", (int) value->type);
	}
}

/* Write an array or object with all that is in it. */
static void
sink_container(TextSink *sink, JsonbContainer *container)
{
	JsonbIterator *it = JsonbIteratorInit(container);
	JsonbIteratorToken token;
	JsonbValue	value;
	bool		raw_scalar = JsonContainerIsScalar(container);
	bool		first = true;	/* no comma before the next value */

	while (sink->size <= sink->max &&
		   (token = JsonbIteratorNext(&it, &value, false)) != WJB_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (token == WJB_END_ARRAY || token == WJB_END_OBJECT)
		{
			if (!raw_scalar)
				sink_bytes(sink, token == WJB_END_ARRAY ? "]" : "}", 1);
			first = false;
			continue;
		}
		if (!first && token != WJB_VALUE)
			sink_bytes(sink, ",", 1);
		first = false;
		switch (token)
		{
			case WJB_BEGIN_ARRAY:
				if (!raw_scalar)
					sink_bytes(sink, "[", 1);
				first = true;
				break;
			case WJB_BEGIN_OBJECT:
				sink_bytes(sink, "{", 1);
				first = true;
				break;
			case WJB_KEY:
				sink_string(sink, value.val.string.val, value.val.string.len);
				sink_bytes(sink, ":", 1);
				/* A container that is this member's value gets no comma. */
				first = true;
				break;
			default:
				sink_scalar(sink, &value);
				break;
		}
	}
}

/* Write any value. */
static void
sink_value(TextSink *sink, const JsonbValue *value)
{
	if (value->type == jbvBinary)
		sink_container(sink, value->val.binary.data);
	else if (value->type == jbvArray || value->type == jbvObject)
		sink_container(sink, &sf_json_make(value)->root);
	else
		sink_scalar(sink, value);
}

/* Append a value's compact JSON text to a buffer. */
void
sf_json_append_text(StringInfo buf, const JsonbValue *value)
{
	TextSink	sink = {buf, 0, SIZE_MAX};

	sink_value(&sink, value);
}

/*
 * Append a value's compact JSON text to a buffer up to max bytes; false when
 * it would be larger, and the text is cut.
 */
bool
sf_json_append_text_within(StringInfo buf, const JsonbValue *value, Size max)
{
	TextSink	sink = {buf, buf->len, max};

	sink_value(&sink, value);
	return sink.size <= max;
}

/* Print a document up to max bytes, and dots for what is behind. */
static char *
print_document(const Jsonb *document, Size max)
{
	StringInfoData buf;
	TextSink	sink = {&buf, 0, max};

	initStringInfo(&buf);
	sink_container(&sink, (JsonbContainer *) &document->root);
	if (sink.size > max)
		appendStringInfoString(&buf, "...");
	return buf.data;
}

/* Print the beginning of a document, for a message. */
char *
sf_json_excerpt(const Jsonb *document)
{
	return print_document(document, EXCERPT_BYTES);
}

/* Print a document as compact JSON text: no blanks after : and , */
char *
sf_json_to_cstring(const Jsonb *document)
{
	return print_document(document, SIZE_MAX);
}

/*
 * Count the bytes of a document's compact JSON text (for payload limits),
 * without building it.
 */
Size
sf_json_text_size(const Jsonb *document)
{
	TextSink	sink = {NULL, 0, SIZE_MAX};

	sink_container(&sink, (JsonbContainer *) &document->root);
	return sink.size;
}
