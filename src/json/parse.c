/*
 * parse.c
 *		JSON text to jsonb; malformed text is a result and no error.
 *
 * jsonb's input function reports malformed text by ereport, which an evaluator
 * could catch in a subtransaction only.  PostgreSQL's parser underneath
 * returns a code.  This file feeds its events into the builder of jsonb.
 */
#include "postgres.h"

#include "common/jsonapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "base/version/compat.h"
#include "json/json.h"

/* Numbers beyond these are refused, well inside what numeric can hold. */
#define MAX_NUMBER_LENGTH	16000
#define MAX_EXPONENT		16000

typedef struct ParseState
{
	SfJsonbBuild build;
	JsonbValue *root;			/* array or object that was closed last */
	JsonbValue	scalar;			/* document that is a scalar */
	bool		is_scalar;
	bool		bad_number;
} ParseState;

/* Define the action for the beginning or end of a container. */
#define CONTAINER_ACTION(name, token) \
	static SF_JSON_ACTION_RESULT \
	name(void *arg) \
	{ \
		ParseState *ps = arg; \
		ps->root = sf_jsonb_push(&ps->build, token, NULL); \
		SF_JSON_ACTION_RETURN; \
	}

CONTAINER_ACTION(parse_object_start, WJB_BEGIN_OBJECT)
CONTAINER_ACTION(parse_object_end, WJB_END_OBJECT)
CONTAINER_ACTION(parse_array_start, WJB_BEGIN_ARRAY)
CONTAINER_ACTION(parse_array_end, WJB_END_ARRAY)

/* Begin a member. */
static SF_JSON_ACTION_RESULT
parse_member_start(void *arg, char *name, bool isnull)
{
	ParseState *ps = arg;
	JsonbValue	key;

	sf_json_value_cstring(&key, name);
	ps->root = sf_jsonb_push(&ps->build, WJB_KEY, &key);
	SF_JSON_ACTION_RETURN;
}

/* Tell whether a number that is valid JSON is one that numeric can hold. */
static bool
number_is_holdable(const char *token)
{
	const char *exponent = strpbrk(token, "eE");

	if (strlen(token) > MAX_NUMBER_LENGTH)
		return false;
	/* atol saturates for our purpose: a long exponent is out of bounds anyway */
	return exponent == NULL ||
		(strlen(exponent) < 10 && labs(atol(exponent + 1)) <= MAX_EXPONENT);
}

/* Take a scalar. */
static SF_JSON_ACTION_RESULT
parse_scalar(void *arg, char *token, JsonTokenType type)
{
	ParseState *ps = arg;
	JsonbValue	value;

	value.type = jbvNull;
	switch (type)
	{
		case JSON_TOKEN_STRING:
			sf_json_value_cstring(&value, token);
			break;
		case JSON_TOKEN_NUMBER:
			if (!number_is_holdable(token))
			{
				ps->bad_number = true;
				break;
			}
			value.type = jbvNumeric;
			value.val.numeric = DatumGetNumeric(DirectFunctionCall3(numeric_in,
																	CStringGetDatum(token),
																	ObjectIdGetDatum(InvalidOid),
																	Int32GetDatum(-1)));
			break;
		case JSON_TOKEN_TRUE:
		case JSON_TOKEN_FALSE:
			value.type = jbvBool;
			value.val.boolean = type == JSON_TOKEN_TRUE;
			break;
		default:
			break;
	}
	if (SF_JSONB_STACK(&ps->build) == NULL)
	{
		ps->scalar = value;
		ps->is_scalar = true;
	}
	else
		ps->root = sf_jsonb_push(&ps->build,
								  SF_JSONB_STACK(&ps->build)->contVal.type == jbvObject ?
								  WJB_VALUE : WJB_ELEM, &value);
	SF_JSON_ACTION_RETURN;
}

/*
 * Parse JSON text; false when it is malformed, or holds what jsonb can't
 * (\u0000, a number of tens of thousands of digits).
 */
bool
sf_json_parse(const char *text, int len, Jsonb **out)
{
	JsonLexContext *lex;
	JsonSemAction sem;
	ParseState	ps;

	memset(&ps, 0, sizeof(ps));
	memset(&sem, 0, sizeof(sem));
	sem.semstate = &ps;
	sem.object_start = parse_object_start;
	sem.object_end = parse_object_end;
	sem.array_start = parse_array_start;
	sem.array_end = parse_array_end;
	sem.object_field_start = parse_member_start;
	sem.scalar = parse_scalar;

	lex = sf_json_lex_context(text, len);
	if (pg_parse_json(lex, &sem) != JSON_SUCCESS || ps.bad_number)
		return false;
	*out = sf_json_make(ps.is_scalar ? &ps.scalar : ps.root);
	return true;
}
