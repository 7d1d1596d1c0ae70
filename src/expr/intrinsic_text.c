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

/* The characters between pieces: bits of those of ASCII, the others in order */
typedef struct Delimiters
{
	bool		ascii[128];
	uint32	   *others;
	int			nothers;
} Delimiters;

/* Pack the bytes of a character, of which there are four at most, into a number. */
static uint32
pack_character(const char *c, int len)
{
	uint32		packed = 0;

	for (int i = 0; i < len; i++)
		packed = packed << 8 | (unsigned char) c[i];
	return packed;
}

/* Order two packed characters. */
static int
compare_packed(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;

	return (x > y) - (x < y);
}

/* Length of the character at p, which ends before end. */
static int
character_length(const char *p, const char *end)
{
	return Min(pg_mblen(p), (int) (end - p));
}

/* Read a set of characters. */
static Delimiters
read_delimiters(const JsonbValue *set)
{
	Delimiters	delimiters = {.nothers = 0};
	const char *p = set->val.string.val;
	const char *end = p + set->val.string.len;

	delimiters.others = palloc(sizeof(uint32) * (set->val.string.len + 1));
	for (int len; p < end; p += len)
	{
		len = character_length(p, end);
		if (len == 1 && (unsigned char) *p < lengthof(delimiters.ascii))
			delimiters.ascii[(unsigned char) *p] = true;
		else
			delimiters.others[delimiters.nothers++] = pack_character(p, len);
	}
	qsort(delimiters.others, delimiters.nothers, sizeof(uint32), compare_packed);
	return delimiters;
}

/* Tell whether a character is one of a set. */
static bool
is_delimiter(const Delimiters *delimiters, const char *c, int len)
{
	uint32		packed;

	if (len == 1 && (unsigned char) *c < lengthof(delimiters->ascii))
		return delimiters->ascii[(unsigned char) *c];
	if (delimiters->nothers == 0)
		return false;
	packed = pack_character(c, len);
	return bsearch(&packed, delimiters->others, delimiters->nothers, sizeof(uint32), compare_packed) != NULL;
}

/*
 * States.StringSplit(string, delimiters): the pieces between characters of
 * the second argument, empty ones left out.
 */
bool
sf_intrinsic_string_split(SfIntrinsicCall *call)
{
	Delimiters	delimiters = read_delimiters(&call->args[1]);
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
		int			len = p < end ? character_length(p, end) : 0;

		CHECK_FOR_INTERRUPTS();
		if (sf_env_is_late(call->env, 1))
			return false;
		if (p >= end || is_delimiter(&delimiters, p, len))
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
	pfree(delimiters.others);
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
