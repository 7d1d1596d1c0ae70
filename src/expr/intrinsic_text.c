/*
 * intrinsic_text.c
 *		Intrinsic functions over strings: format, split, base64, hashes, UUIDs.
 */
#include "postgres.h"

#include "common/base64.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "base/value/encoding.h"
#include "base/value/random.h"
#include "expr/intrinsic.h"

/* Return a text as the result. */
static bool
return_string(SfIntrinsicCall *call, const char *text, int len)
{
	sf_json_value_string(call->result, text, len);
	return true;
}

/* --- States.Format --- */

/*
 * Append a value as the service does inside a string: strings bare, objects
 * {a=1, b=[x, y]}.  False when the buffer comes to more bytes than max.
 */
static bool
append_display(StringInfo buf, const JsonbValue *value, Size max)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	child;
	bool		first = true;

	check_stack_depth();
	if (value->type == jbvString)
	{
		if (buf->len + (Size) value->val.string.len > max)
			return false;
		appendBinaryStringInfo(buf, value->val.string.val, value->val.string.len);
		return true;
	}
	if (value->type != jbvBinary)
		return sf_json_append_text_within(buf, value, max);
	it = JsonbIteratorInit(value->val.binary.data);
	appendStringInfoChar(buf, sf_json_is_object(value) ? '{' : '[');
	while ((token = JsonbIteratorNext(&it, &child, true)) != WJB_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (token != WJB_ELEM && token != WJB_KEY && token != WJB_VALUE)
			continue;
		if (token == WJB_VALUE)
			appendStringInfoChar(buf, '=');
		else if (!first)
			appendStringInfoString(buf, ", ");
		first = false;
		if (!append_display(buf, &child, max))
			return false;
	}
	appendStringInfoChar(buf, sf_json_is_object(value) ? '}' : ']');
	return true;
}

/*
 * States.Format(template, v, …): the template with each {} replaced.  In the
 * template \{ and \} are braces; a literal one knows \' and \\ as well.
 */
bool
sf_intrinsic_format(SfIntrinsicCall *call)
{
	const char *raw = call->node->args[0].raw;
	const char *escapes = raw != NULL ? "'{}\\" : "{}";
	const char *p;
	const char *end;
	int			next = 1;
	StringInfoData buf;

	p = raw != NULL ? raw : call->args[0].val.string.val;
	end = p + (raw != NULL ? (int) strlen(raw) : call->args[0].val.string.len);

	initStringInfo(&buf);
	for (; p < end; p++)
	{
		if (*p == '\\' && p + 1 < end && strchr(escapes, p[1]) != NULL)
			appendStringInfoChar(&buf, *++p);
		else if (*p == '{' && p + 1 < end && p[1] == '}')
		{
			CHECK_FOR_INTERRUPTS();
			if (next < call->nargs &&
				!append_display(&buf, &call->args[next], sf_env_may_make(call->env)))
				return sf_env_make(call->env, SIZE_MAX, call->error);
			next++;
			p++;
		}
		else
			appendStringInfoChar(&buf, *p);
	}
	if (next != call->nargs)
		return sf_intrinsic_refuse(call,
								   "number of arguments do not match the occurrences of {}.");
	return return_string(call, buf.data, buf.len);
}

/* --- States.StringSplit --- */

/* Tell whether a character is one of a set. */
static bool
is_delimiter(const char *c, int len, const JsonbValue *set)
{
	const char *p = set->val.string.val;
	const char *end = p + set->val.string.len;

	for (; p < end; p += pg_mblen(p))
	{
		if (end - p >= len && pg_mblen(p) == len && memcmp(p, c, len) == 0)
			return true;
	}
	return false;
}

/*
 * States.StringSplit(string, delimiters): the pieces between characters of
 * the second argument, empty ones left out.
 */
bool
sf_intrinsic_string_split(SfIntrinsicCall *call)
{
	SfJsonBuilder json;
	JsonbValue	piece;
	const char *p;
	const char *end;
	const char *start;

	start = p = call->args[0].val.string.val;
	end = p + call->args[0].val.string.len;

	sf_json_begin_array(&json);
	for (;;)
	{
		int			len = p < end ? pg_mblen(p) : 0;

		CHECK_FOR_INTERRUPTS();
		if (p >= end || is_delimiter(p, len, &call->args[1]))
		{
			sf_json_value_string(&piece, start, p - start);
			if (p > start)
				sf_json_add_value(&json, NULL, &piece);
			start = p + len;
		}
		if (p >= end)
			break;
		p += len;
	}
	sf_json_root(sf_json_end(&json), call->result);
	return true;
}

/* --- States.Base64Encode, States.Base64Decode --- */

/* States.Base64Encode(string). */
bool
sf_intrinsic_base64_encode(SfIntrinsicCall *call)
{
	const JsonbValue *arg = &call->args[0];
	char	   *encoded = sf_base64_encode(arg->val.string.val, arg->val.string.len);

	return return_string(call, encoded, strlen(encoded));
}

/*
 * States.Base64Decode(string): padding may be left out; what comes out has to
 * be text.
 */
bool
sf_intrinsic_base64_decode(SfIntrinsicCall *call)
{
	const JsonbValue *arg = &call->args[0];
	StringInfoData padded;
	int			size;
	void	   *decoded;

	initStringInfo(&padded);
	appendBinaryStringInfo(&padded, arg->val.string.val, arg->val.string.len);
	while (padded.len % 4 != 0)
		appendStringInfoChar(&padded, '=');
	size = pg_b64_dec_len(padded.len);
	decoded = palloc(size + 1);
	size = pg_b64_decode(padded.data, padded.len, SF_B64_DST(decoded), size);
	if (size < 0 || !pg_verify_mbstr(PG_UTF8, decoded, size, true))
		return sf_intrinsic_refuse(call, NULL);
	if (GetDatabaseEncoding() != PG_UTF8)
	{
		decoded = pg_any_to_server(decoded, size, PG_UTF8);
		size = strlen(decoded);
	}
	return return_string(call, decoded, size);
}

/* --- States.Hash, States.UUID --- */

/* States.Hash(string, algorithm): the digest in hexadecimal. */
bool
sf_intrinsic_hash(SfIntrinsicCall *call)
{
	const JsonbValue *data = &call->args[0];
	const JsonbValue *algorithm = &call->args[1];
	char	   *digest;

	digest = sf_digest_hex(algorithm->val.string.val, algorithm->val.string.len,
						   data->val.string.val, data->val.string.len);
	if (digest == NULL)
		return sf_intrinsic_refuse(call, NULL);
	return return_string(call, digest, strlen(digest));
}

/* States.UUID(): a random one (version 4). */
bool
sf_intrinsic_uuid(SfIntrinsicCall *call)
{
	char	   *uuid = sf_uuid_v4();

	return return_string(call, uuid, strlen(uuid));
}
