/*
 * otlp_message.c
 *		Requests and answers of the OpenTelemetry protocol, as JSON and as protobuf.
 *
 * A request is made as JSON, the encoding in which the database gives its spans,
 * and turned into protobuf by the tables below: for each message the members of
 * its JSON object with the number and the type of their field
 * (opentelemetry/proto/collector/trace/v1, trace/v1, common/v1, resource/v1).
 * OTLP/JSON differs from the JSON of protobuf: ids are hexadecimal, and an enum is
 * its number.  A number may be a text, as 64 bits do not fit into JSON's.
 *
 * A field in protobuf is a varint, its number and how its value is written:
 *
 *		0	a varint: 7 bits per byte, the lowest first
 *		1	8 bytes, the lowest first
 *		2	a length as a varint, and so many bytes: text, bytes, a message
 *		5	4 bytes, the lowest first
 *
 * That is all of protobuf that is needed, and less code than to call a library for it:
 * docs/decisions/otlp-encoder.md.
 */
#include "postgres_fe.h"

#include "tools/sfgateway/otlp/otlp_internal.h"

/* How a value is written: the wire type of protobuf */
#define WIRE_VARINT		0
#define WIRE_FIXED64	1
#define WIRE_BYTES		2
#define WIRE_FIXED32	5

/* Messages within messages; collectors refuse more than a hundred */
#define DEEPEST 64

/* Bytes of a varint of 64 bits */
#define VARINT_MAX 10

typedef enum FieldType
{
	FIELD_TEXT,
	FIELD_HEX,					/* bytes, in JSON as hexadecimal digits */
	FIELD_INTEGER,				/* int64, uint32, an enum */
	FIELD_BOOL,
	FIELD_DOUBLE,
	FIELD_FIXED64,
	FIELD_FIXED32,
	FIELD_MESSAGE
} FieldType;

typedef struct Message Message;

/* A member of a JSON object; an array is a repeated field. */
typedef struct Field
{
	const char *key;
	int			number;
	FieldType	type;
	const Message *message;
} Field;

struct Message
{
	const Field *fields;		/* up to one without a key */
};

static const Message any_value;

static const Field array_value_fields[] = {
	{"values", 1, FIELD_MESSAGE, &any_value}, {0}
};
static const Message array_value = {array_value_fields};

static const Field key_value_fields[] = {
	{"key", 1, FIELD_TEXT, NULL}, {"value", 2, FIELD_MESSAGE, &any_value}, {0}
};
static const Message key_value = {key_value_fields};

static const Field key_value_list_fields[] = {
	{"values", 1, FIELD_MESSAGE, &key_value}, {0}
};
static const Message key_value_list = {key_value_list_fields};

/* One of these; there are no bytesValues in what sfflow says. */
static const Field any_value_fields[] = {
	{"stringValue", 1, FIELD_TEXT, NULL}, {"boolValue", 2, FIELD_BOOL, NULL},
	{"intValue", 3, FIELD_INTEGER, NULL}, {"doubleValue", 4, FIELD_DOUBLE, NULL},
	{"arrayValue", 5, FIELD_MESSAGE, &array_value}, {"kvlistValue", 6, FIELD_MESSAGE, &key_value_list}, {0}
};
static const Message any_value = {any_value_fields};

static const Field event_fields[] = {
	{"timeUnixNano", 1, FIELD_FIXED64, NULL}, {"name", 2, FIELD_TEXT, NULL},
	{"attributes", 3, FIELD_MESSAGE, &key_value}, {"droppedAttributesCount", 4, FIELD_INTEGER, NULL}, {0}
};
static const Message event = {event_fields};

static const Field link_fields[] = {
	{"traceId", 1, FIELD_HEX, NULL}, {"spanId", 2, FIELD_HEX, NULL}, {"traceState", 3, FIELD_TEXT, NULL},
	{"attributes", 4, FIELD_MESSAGE, &key_value}, {"droppedAttributesCount", 5, FIELD_INTEGER, NULL},
	{"flags", 6, FIELD_FIXED32, NULL}, {0}
};
static const Message span_link = {link_fields};

static const Field status_fields[] = {
	{"message", 2, FIELD_TEXT, NULL}, {"code", 3, FIELD_INTEGER, NULL}, {0}
};
static const Message status = {status_fields};

static const Field span_fields[] = {
	{"traceId", 1, FIELD_HEX, NULL}, {"spanId", 2, FIELD_HEX, NULL}, {"traceState", 3, FIELD_TEXT, NULL},
	{"parentSpanId", 4, FIELD_HEX, NULL}, {"name", 5, FIELD_TEXT, NULL}, {"kind", 6, FIELD_INTEGER, NULL},
	{"startTimeUnixNano", 7, FIELD_FIXED64, NULL}, {"endTimeUnixNano", 8, FIELD_FIXED64, NULL},
	{"attributes", 9, FIELD_MESSAGE, &key_value}, {"droppedAttributesCount", 10, FIELD_INTEGER, NULL},
	{"events", 11, FIELD_MESSAGE, &event}, {"droppedEventsCount", 12, FIELD_INTEGER, NULL},
	{"links", 13, FIELD_MESSAGE, &span_link}, {"droppedLinksCount", 14, FIELD_INTEGER, NULL},
	{"status", 15, FIELD_MESSAGE, &status}, {"flags", 16, FIELD_FIXED32, NULL}, {0}
};
static const Message span = {span_fields};

static const Field scope_fields[] = {
	{"name", 1, FIELD_TEXT, NULL}, {"version", 2, FIELD_TEXT, NULL}, {0}
};
static const Message scope = {scope_fields};

static const Field resource_fields[] = {
	{"attributes", 1, FIELD_MESSAGE, &key_value}, {0}
};
static const Message resource = {resource_fields};

static const Field scope_spans_fields[] = {
	{"scope", 1, FIELD_MESSAGE, &scope}, {"spans", 2, FIELD_MESSAGE, &span}, {"schemaUrl", 3, FIELD_TEXT, NULL}, {0}
};
static const Message scope_spans = {scope_spans_fields};

static const Field resource_spans_fields[] = {
	{"resource", 1, FIELD_MESSAGE, &resource}, {"scopeSpans", 2, FIELD_MESSAGE, &scope_spans},
	{"schemaUrl", 3, FIELD_TEXT, NULL}, {0}
};
static const Message resource_spans = {resource_spans_fields};

static const Field request_fields[] = {
	{"resourceSpans", 1, FIELD_MESSAGE, &resource_spans}, {0}
};
static const Message request_message = {request_fields};

/* ---------------------------------------------------------------- writing */

/* Write a varint; gives its length. */
static size_t
write_varint(unsigned char bytes[VARINT_MAX], uint64 value)
{
	size_t		n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (unsigned char) (value | 0x80);
	bytes[n++] = (unsigned char) value;
	return n;
}

/* Append a varint. */
static void
put_varint(PQExpBuffer buf, uint64 value)
{
	unsigned char bytes[VARINT_MAX];

	appendBinaryPQExpBuffer(buf, (const char *) bytes, write_varint(bytes, value));
}

/* Append the number of a field and how its value is written. */
static void
put_tag(PQExpBuffer buf, int number, int wire)
{
	put_varint(buf, (uint64) number << 3 | (uint64) wire);
}

/* Append the lowest bytes of a number, the lowest first. */
static void
put_fixed(PQExpBuffer buf, uint64 value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		appendPQExpBufferChar(buf, (char) (value >> (8 * i)));
}

/* Put the length of what the buffer holds from an offset on before it. */
static void
put_length_before(PQExpBuffer buf, size_t start)
{
	unsigned char bytes[VARINT_MAX];
	size_t		len = buf->len - start;
	size_t		n = write_varint(bytes, len);

	if (!enlargePQExpBuffer(buf, n))
		return;
	memmove(buf->data + start + n, buf->data + start, len);
	memcpy(buf->data + start, bytes, n);
	buf->len += n;
	buf->data[buf->len] = '\0';
}

/* Append what a JSON string holds. */
static void
put_text(PQExpBuffer buf, SfcJson value)
{
	char	   *text;

	if (sfc_json_type(value) == '"' && memchr(value.text, '\\', value.len) == NULL)
	{
		appendBinaryPQExpBuffer(buf, value.text + 1, value.len - 2);
		return;
	}
	text = sfc_json_text(value);
	appendPQExpBufferStr(buf, text);
	free(text);
}

/* The value of a hexadecimal digit; 0 of anything else. */
static int
digit_value(char c)
{
	const char *digits = "0123456789abcdef";
	const char *found = c != '\0' ? strchr(digits, pg_ascii_tolower((unsigned char) c)) : NULL;

	return found != NULL ? (int) (found - digits) : 0;
}

/* Append the bytes that a JSON string has as hexadecimal digits. */
static void
put_hex(PQExpBuffer buf, SfcJson value)
{
	for (size_t i = 1; i + 2 < value.len; i += 2)
		appendPQExpBufferChar(buf, (char) (digit_value(value.text[i]) << 4 | digit_value(value.text[i + 1])));
}

/* Read an integer, which may be negative, from a JSON number or a string. */
static uint64
read_integer(SfcJson value)
{
	char	   *text = sfc_json_text(value);
	uint64		number = *text == '-' ? (uint64) strtoll(text, NULL, 10) : strtoull(text, NULL, 10);

	free(text);
	return number;
}

/* Read a number with a fraction, and give its bits. */
static uint64
read_double(SfcJson value)
{
	char	   *text = sfc_json_text(value);
	double		number = strtod(text, NULL);
	uint64		bits;

	free(text);
	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static void put_message(PQExpBuffer buf, const Message *message, SfgScan *scan, int depth);

/* Append a field that is one number. */
static void
put_number(PQExpBuffer buf, const Field *field, SfcJson value)
{
	switch (field->type)
	{
		case FIELD_BOOL:
			put_tag(buf, field->number, WIRE_VARINT);
			put_varint(buf, sfc_json_type(value) == 't');
			break;
		case FIELD_DOUBLE:
			put_tag(buf, field->number, WIRE_FIXED64);
			put_fixed(buf, read_double(value), 8);
			break;
		case FIELD_FIXED64:
			put_tag(buf, field->number, WIRE_FIXED64);
			put_fixed(buf, read_integer(value), 8);
			break;
		case FIELD_FIXED32:
			put_tag(buf, field->number, WIRE_FIXED32);
			put_fixed(buf, read_integer(value), 4);
			break;
		default:
			put_tag(buf, field->number, WIRE_VARINT);
			put_varint(buf, read_integer(value));
			break;
	}
}

/* Append a field with the value that is read next. */
static void
put_field(PQExpBuffer buf, const Field *field, SfgScan *scan, int depth)
{
	size_t		start;

	if (field->type != FIELD_TEXT && field->type != FIELD_HEX && field->type != FIELD_MESSAGE)
	{
		put_number(buf, field, sfg_scan_value(scan));
		return;
	}
	put_tag(buf, field->number, WIRE_BYTES);
	start = buf->len;
	if (field->type == FIELD_TEXT)
		put_text(buf, sfg_scan_value(scan));
	else if (field->type == FIELD_HEX)
		put_hex(buf, sfg_scan_value(scan));
	else
		put_message(buf, field->message, scan, depth + 1);
	put_length_before(buf, start);
}

/* Find the field for a member of an object, or NULL. */
static const Field *
find_field(const Message *message, SfcJson key)
{
	for (const Field *field = message->fields; field->key != NULL; field++)
	{
		if (strlen(field->key) + 2 == key.len && memcmp(field->key, key.text + 1, key.len - 2) == 0)
			return field;
	}
	return NULL;
}

/* Append the fields of a message; members that it does not know, nulls, and what is nested too deep are left out. */
static void
put_message(PQExpBuffer buf, const Message *message, SfgScan *scan, int depth)
{
	SfcJson		key;

	if (depth >= DEEPEST || !sfg_scan_enter(scan, '{'))
	{
		sfg_scan_value(scan);
		return;
	}
	while (sfg_scan_next(scan, &key))
	{
		const Field *field = find_field(message, key);

		if (field == NULL || sfg_scan_peek(scan) == 'n')
			sfg_scan_value(scan);
		else if (!sfg_scan_enter(scan, '['))
			put_field(buf, field, scan, depth);
		else
		{
			while (sfg_scan_next(scan, NULL))
				put_field(buf, field, scan, depth);
		}
	}
}

/* Append a request, given as valid OTLP/JSON, as protobuf. */
void
sfg_otlp_encode(PQExpBuffer protobuf, SfcJson request)
{
	SfgScan		scan = sfg_scan_begin(request.text, request.len);

	put_message(protobuf, &request_message, &scan, 0);
}

/* ---------------------------------------------------------------- reading */

/* Bytes of a message in protobuf that are not read yet */
typedef struct Reader
{
	const unsigned char *at;
	const unsigned char *end;
} Reader;

/* A field that was read: a varint, or bytes */
typedef struct FieldRead
{
	int			number;
	int			wire;
	uint64		varint;
	Reader		bytes;
} FieldRead;

/* Read a varint; false: there is none. */
static bool
read_varint(Reader *reader, uint64 *value)
{
	*value = 0;
	for (int shift = 0; shift < 64 && reader->at < reader->end; shift += 7)
	{
		unsigned char byte = *reader->at++;

		*value |= (uint64) (byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return true;
	}
	return false;
}

/* Read the next field; false: there is none, or the rest is no protobuf. */
static bool
read_field(Reader *reader, FieldRead *field)
{
	uint64		tag;
	uint64		len = 0;

	if (!read_varint(reader, &tag))
		return false;
	field->number = (int) (tag >> 3);
	field->wire = (int) (tag & 7);
	if (field->wire == WIRE_VARINT)
		return read_varint(reader, &field->varint);
	if (field->wire == WIRE_BYTES && !read_varint(reader, &len))
		return false;
	if (field->wire == WIRE_FIXED64)
		len = 8;
	else if (field->wire == WIRE_FIXED32)
		len = 4;
	else if (field->wire != WIRE_BYTES)
		return false;
	if (len > (uint64) (reader->end - reader->at))
		return false;
	field->bytes = (Reader) {reader->at, reader->at + len};
	reader->at += len;
	return true;
}

/* Keep a text of an answer, unless it is empty. */
static void
set_message(SfgOtlpSaid *said, const char *text, size_t len)
{
	if (len == 0)
		return;
	free(said->message);
	said->message = sfc_utf8_repair(text, len);
}

/* Keep the text that a field of protobuf holds. */
static void
set_message_of_field(SfgOtlpSaid *said, const FieldRead *field)
{
	set_message(said, (const char *) field->bytes.at, (size_t) (field->bytes.end - field->bytes.at));
}

/* Keep the text of a member of an object. */
static void
set_message_of_member(SfgOtlpSaid *said, SfcJson object, const char *key)
{
	SfcJson		value;
	char	   *text;

	if (!sfc_json_get(object, key, &value))
		return;
	text = sfc_json_text(value);
	set_message(said, text, strlen(text));
	free(text);
}

/* Read ExportTraceServiceResponse: partial_success = 1 with rejected_spans = 1 and error_message = 2. */
static void
read_partial_success(Reader reader, SfgOtlpSaid *said)
{
	FieldRead	field;

	while (read_field(&reader, &field))
	{
		Reader		inner = field.bytes;

		if (field.number != 1 || field.wire != WIRE_BYTES)
			continue;
		while (read_field(&inner, &field))
		{
			if (field.number == 1 && field.wire == WIRE_VARINT)
				said->rejected = (int64_t) field.varint;
			else if (field.number == 2 && field.wire == WIRE_BYTES)
				set_message_of_field(said, &field);
		}
	}
}

/* Tell whether a content type, which may have parameters, is the one. */
static bool
is_type(const char *type, const char *wanted)
{
	size_t		len = strlen(wanted);

	return pg_strncasecmp(type, wanted, len) == 0 && (type[len] == '\0' || type[len] == ';' || type[len] == ' ');
}

/* Read the body of an answer that says success; release the message. */
SfgOtlpSaid
sfg_otlp_read_success(const char *body, size_t len, const char *type)
{
	SfgOtlpSaid said = {0};
	SfcJson		document;
	SfcJson		partial;
	SfcJson		rejected;

	if (is_type(type, SFG_OTLP_PROTOBUF))
		read_partial_success((Reader) {(const unsigned char *) body, (const unsigned char *) body + len}, &said);
	else if (is_type(type, SFG_OTLP_JSON) && sfc_json_parse(body, len, &document) &&
			 sfc_json_get(document, "partialSuccess", &partial))
	{
		if (sfc_json_get(partial, "rejectedSpans", &rejected))
			said.rejected = (int64_t) read_integer(rejected);
		set_message_of_member(&said, partial, "errorMessage");
	}
	said.rejected = Max(said.rejected, 0);
	return said;
}

/* Read the body of a refusal, google.rpc.Status with message = 2, or a text; release the message. */
SfgOtlpSaid
sfg_otlp_read_refusal(const char *body, size_t len, const char *type)
{
	SfgOtlpSaid said = {0};
	Reader		reader = {(const unsigned char *) body, (const unsigned char *) body + len};
	FieldRead	field;
	SfcJson		document;

	if (is_type(type, SFG_OTLP_PROTOBUF))
	{
		while (read_field(&reader, &field))
		{
			if (field.number == 2 && field.wire == WIRE_BYTES)
				set_message_of_field(&said, &field);
		}
	}
	else if (is_type(type, SFG_OTLP_JSON) && sfc_json_parse(body, len, &document))
		set_message_of_member(&said, document, "message");
	else
		set_message(&said, body, len);
	return said;
}
