/*
 * jsonata_json.c
 *		Convert JSON text and jsonb to values, and values to jsonb.
 */
#include "postgres.h"

#include <math.h>

#include "common/jsonapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "base/version/compat.h"
#include "jsonata/value/jsonata_print.h"

#define INTERN_SIZE 256			/* keys remembered, to be stored once */

/* A container under construction, with its surroundings */
typedef struct Level
{
	SfJnValue  *container;
	SfJnMember	field;			/* of an object: the key that comes next */
	struct Level *outer;
} Level;

typedef struct Builder
{
	SfJnArena  *arena;
	Level	   *level;
	SfJnValue  *root;
	bool		strict;
	bool		failed;			/* strict: a duplicate key or a huge number */
	SfJnMember	interned[INTERN_SIZE];
} Builder;

/* Put a finished value where it belongs. */
static void
put(Builder *builder, SfJnValue *value)
{
	Level	   *level = builder->level;

	CHECK_FOR_INTERRUPTS();
	if (level == NULL)
		builder->root = value;
	else if (level->container->type == SF_JN_TYPE_ARRAY)
		sf_jn_push(builder->arena, level->container, value);
	else
	{
		if (builder->strict && sf_jn_find(level->container, level->field.key,
										  level->field.keylen, level->field.hash) != NULL)
			builder->failed = true;
		sf_jn_set_hashed(builder->arena, level->container, level->field.key,
						 level->field.keylen, level->field.hash, value);
	}
}

/* Begin a container inside the current one. */
static SF_JSON_ACTION_RESULT
open_container(Builder *builder, SfJnValue *container)
{
	Level	   *level = sf_jn_alloc(builder->arena, sizeof(Level));

	level->container = container;
	level->outer = builder->level;
	builder->level = level;
	SF_JSON_ACTION_RETURN;
}

/* Action of the parser: an object begins. */
static SF_JSON_ACTION_RESULT
on_object_start(void *state)
{
	Builder    *builder = state;

	return open_container(builder, sf_jn_object(builder->arena, 4));
}

/* Action of the parser: an array begins. */
static SF_JSON_ACTION_RESULT
on_array_start(void *state)
{
	Builder    *builder = state;

	return open_container(builder, sf_jn_array(builder->arena, 4));
}

/* Action of the parser: an object or array ends. */
static SF_JSON_ACTION_RESULT
on_container_end(void *state)
{
	Builder    *builder = state;
	SfJnValue  *container = builder->level->container;

	builder->level = builder->level->outer;
	put(builder, container);
	SF_JSON_ACTION_RETURN;
}

/* Note a key.  Documents repeat their keys, so each is stored once. */
static SF_JSON_ACTION_RESULT
on_field(void *state, char *fname, bool isnull)
{
	Builder    *builder = state;
	uint32		len = (uint32) strlen(fname);
	uint32		hash = sf_jn_hash(fname, len);
	SfJnMember *known = &builder->interned[hash % INTERN_SIZE];

	if (known->key == NULL || known->hash != hash || known->keylen != len ||
		memcmp(known->key, fname, len) != 0)
	{
		known->key = sf_jn_grow(builder->arena, fname, len, len, 1);
		known->keylen = len;
		known->hash = hash;
	}
	builder->level->field = *known;
	pfree(fname);
	SF_JSON_ACTION_RETURN;
}

/* Action of the parser: a scalar. */
static SF_JSON_ACTION_RESULT
on_scalar(void *state, char *token, JsonTokenType type)
{
	Builder    *builder = state;
	SfJnValue  *value = sf_jn_null();
	double		d;

	switch (type)
	{
		case JSON_TOKEN_STRING:
			value = sf_jn_string_copy(builder->arena, token, strlen(token));
			break;
		case JSON_TOKEN_NUMBER:
			d = sf_jn_parse_number(token, strlen(token));
			if (builder->strict && isinf(d))
				builder->failed = true;
			value = sf_jn_number(builder->arena, d);
			break;
		case JSON_TOKEN_TRUE:
		case JSON_TOKEN_FALSE:
			value = sf_jn_bool(type == JSON_TOKEN_TRUE);
			break;
		default:
			break;
	}
	put(builder, value);
	pfree(token);
	SF_JSON_ACTION_RETURN;
}

/* Parse with a builder; the error code of the parser comes back. */
static JsonParseErrorType
run_parser(Builder *builder, JsonLexContext *lex)
{
	JsonSemAction actions;

	memset(&actions, 0, sizeof(actions));
	actions.semstate = builder;
	actions.object_start = on_object_start;
	actions.object_end = on_container_end;
	actions.array_start = on_array_start;
	actions.array_end = on_container_end;
	actions.object_field_start = on_field;
	actions.scalar = on_scalar;
	return pg_parse_json(lex, &actions);
}

/* Parse JSON text. */
SfJnValue *
sf_jn_parse_json(SfJnArena *arena, const char *text, int len)
{
	Builder    *builder = palloc0(sizeof(Builder));
	JsonLexContext *lex = sf_json_lex_context(text, len);
	JsonParseErrorType code;

	builder->arena = arena;
	code = run_parser(builder, lex);
	if (code != JSON_SUCCESS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input for a JSONata expression"),
				 errdetail_internal("%s", json_errdetail(code, lex))));
	return builder->root;
}

/* Parse JSON text that an expression made; NULL when it is not strictly JSON. */
SfJnValue *
sf_jn_parse_json_strict(SfJnArena *arena, const char *text, int len)
{
	Builder    *builder = palloc0(sizeof(Builder));

	builder->arena = arena;
	builder->strict = true;
	if (len == 0 || memchr(text, '\0', len) != NULL ||
		run_parser(builder, sf_json_lex_context(text, len)) != JSON_SUCCESS || builder->failed)
		return NULL;
	return builder->root;
}

/*
 * Make a number from a numeric: exact where it is an integer of 64 bits that
 * a double cannot hold.
 */
static SfJnValue *
from_numeric(SfJnArena *arena, Numeric n)
{
	char	   *text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(n)));
	double		d = sf_jn_parse_number(text, strlen(text));
	char	   *end;
	int64		exact;

	if (isfinite(d) && fabs(d) >= 9007199254740992.0 && fabs(d) < 9.3e18 &&
		strchr(text, '.') == NULL)
	{
		errno = 0;
		exact = strtoll(text, &end, 10);
		if (errno == 0 && *end == '\0')
			return sf_jn_exact(arena, exact);
	}
	return sf_jn_number(arena, d);
}

/* Make a value from jsonb; integers keep all their digits. */
SfJnValue *
sf_jn_from_jsonb(SfJnArena *arena, const JsonbValue *value)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	item;
	SfJnValue  *result;
	const char *key = NULL;
	uint32		keylen = 0;

	switch (value->type)
	{
		case jbvString:
			return sf_jn_string_copy(arena, value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return from_numeric(arena, value->val.numeric);
		case jbvBool:
			return sf_jn_bool(value->val.boolean);
		case jbvBinary:
			break;
		default:
			return sf_jn_null();
	}

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	it = JsonbIteratorInit(value->val.binary.data);
	token = JsonbIteratorNext(&it, &item, true);
	result = token == WJB_BEGIN_OBJECT ? sf_jn_object(arena, item.val.object.nPairs) :
		sf_jn_array(arena, item.val.array.nElems);
	while ((token = JsonbIteratorNext(&it, &item, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			keylen = item.val.string.len;
			key = sf_jn_grow(arena, item.val.string.val, keylen, keylen, 1);
		}
		else if (token == WJB_VALUE)
			sf_jn_set(arena, result, key, keylen, sf_jn_from_jsonb(arena, &item));
		else if (token == WJB_ELEM)
			sf_jn_push(arena, result, sf_jn_from_jsonb(arena, &item));
	}
	return result;
}

/* Make a jsonb scalar of a number. */
static void
number_to_jsonb(const SfJnValue *value, JsonbValue *out)
{
	char		text[SF_JN_NUMBER_LEN];
	int			len;

	if (!isfinite(value->u.number))
	{
		len = sf_jn_print_number(value->u.number, text);
		sf_json_value_string(out, pnstrdup(text, len), len);
		return;
	}
	out->type = jbvNumeric;
	if ((value->flags & SF_JN_EXACT) != 0)
	{
		out->val.numeric = int64_to_numeric(((const SfJnExact *) value)->exact);
		return;
	}
	if (fabs(value->u.number) < 1e15 && value->u.number == (double) (int64) value->u.number)
	{
		out->val.numeric = int64_to_numeric((int64) value->u.number);
		return;
	}
	sf_jn_print_number(value->u.number, text);
	out->val.numeric = DatumGetNumeric(DirectFunctionCall3(numeric_in,
														   CStringGetDatum(text),
														   ObjectIdGetDatum(InvalidOid),
														   Int32GetDatum(-1)));
}

/*
 * Make a jsonb string, of text that a database can hold: characters that it
 * cannot, NUL and lone surrogates, become U+FFFD.
 */
static void
string_to_jsonb(const char *str, uint32 len, JsonbValue *out)
{
	static const char replacement[] = "\xef\xbf\xbd";
	uint32		nuls = 0;
	char	   *text;
	char	   *p;

	for (uint32 i = 0; i < len; i++)
		nuls += str[i] == '\0';
	p = text = palloc((Size) len + nuls * 2 + 1);
	for (uint32 i = 0; i < len; i++)
	{
		bool		surrogate = (unsigned char) str[i] == 0xed && i + 2 < len &&
			(unsigned char) str[i + 1] >= 0xa0;

		if (str[i] == '\0' || surrogate)
		{
			memcpy(p, replacement, 3);
			p += 3;
			i += surrogate ? 2 : 0;
		}
		else
			*p++ = str[i];
	}
	sf_json_value_string(out, text, (int) (p - text));
}

/* Make a jsonb scalar; undefined is null.  False for functions and containers. */
static bool
scalar_to_jsonb(const SfJnValue *value, JsonbValue *out)
{
	switch (value == NULL ? SF_JN_TYPE_NULL : (SfJnType) value->type)
	{
		case SF_JN_TYPE_NULL:
			out->type = jbvNull;
			return true;
		case SF_JN_TYPE_BOOL:
			out->type = jbvBool;
			out->val.boolean = value->u.boolean;
			return true;
		case SF_JN_TYPE_NUMBER:
			number_to_jsonb(value, out);
			return true;
		case SF_JN_TYPE_STRING:
			string_to_jsonb(value->u.str, value->len, out);
			return true;
		default:
			return false;
	}
}

/* Push a value onto a jsonb under construction; false when it is a function. */
static bool
push_jsonb(SfJsonbBuild *build, JsonbIteratorToken as, const SfJnValue *value,
		   JsonbValue **pushed)
{
	JsonbValue	out;
	bool		object;

	if (scalar_to_jsonb(value, &out))
	{
		*pushed = sf_jsonb_push(build, as, &out);
		return true;
	}
	if (value->type == SF_JN_TYPE_FUNCTION)
		return false;
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	object = value->type == SF_JN_TYPE_OBJECT;
	(void) sf_jsonb_push(build, object ? WJB_BEGIN_OBJECT : WJB_BEGIN_ARRAY, NULL);
	for (uint32 i = 0; i < value->len; i++)
	{
		const SfJnValue *item = object ? value->u.members[i].value : value->u.items[i];

		if (object)
		{
			if (item == NULL)
				continue;
			string_to_jsonb(value->u.members[i].key, value->u.members[i].keylen, &out);
			(void) sf_jsonb_push(build, WJB_KEY, &out);
		}
		if (!push_jsonb(build, object ? WJB_VALUE : WJB_ELEM, item, pushed))
			return false;
	}
	*pushed = sf_jsonb_push(build, object ? WJB_END_OBJECT : WJB_END_ARRAY, NULL);
	return true;
}

/*
 * Make a jsonb from a value; NULL with *unsupported when it holds a function.
 * Numbers that JSON cannot represent become strings ("Infinity").
 */
Jsonb *
sf_jn_to_jsonb(const SfJnValue *value, bool *unsupported)
{
	SfJsonbBuild build = {0};
	JsonbValue *pushed;
	JsonbValue	scalar;

	*unsupported = false;
	if (scalar_to_jsonb(value, &scalar))
		return JsonbValueToJsonb(&scalar);
	if (push_jsonb(&build, WJB_VALUE, value, &pushed))
		return JsonbValueToJsonb(pushed);
	*unsupported = true;
	return NULL;
}
