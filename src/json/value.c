/*
 * value.c
 *		Reading jsonb: members, elements, types, and equality.
 *
 * Nothing here copies a payload.  A JsonbValue is a scalar or jbvBinary, and
 * points into the document that it was taken from.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "json/json.h"

/* Look a member up in an object; false when absent or when v is no object. */
bool
sf_json_member(const JsonbValue *value, const char *key, int keylen,
			   JsonbValue *out)
{
	return sf_json_is_object(value) &&
		getKeyJsonValueFromContainer(value->val.binary.data, key, keylen, out) != NULL;
}

/* Take an element of an array, 0-based; false when it is out of range. */
bool
sf_json_element(const JsonbValue *value, int64 index, JsonbValue *out)
{
	JsonbValue *found;

	if (!sf_json_is_array(value) || index < 0 || index >= sf_json_count(value))
		return false;
	found = getIthJsonbValueFromContainer(value->val.binary.data, (uint32) index);
	*out = *found;
	pfree(found);
	return true;
}

/* Begin to walk over the elements of an array. */
JsonbIterator *
sf_json_elements(const JsonbValue *value)
{
	return sf_json_is_array(value) ? JsonbIteratorInit(value->val.binary.data) : NULL;
}

/* Begin to walk over the elements or values of a container. */
JsonbIterator *
sf_json_children(const JsonbValue *value)
{
	return value->type == jbvBinary ? JsonbIteratorInit(value->val.binary.data) : NULL;
}

/* Get the next element or value. */
bool
sf_json_next(JsonbIterator **it, JsonbValue *child)
{
	JsonbIteratorToken token;

	CHECK_FOR_INTERRUPTS();
	do
		token = JsonbIteratorNext(it, child, true);
	while (token != WJB_ELEM && token != WJB_VALUE && token != WJB_DONE);
	return token != WJB_DONE;
}

/*
 * Name the type of a value as JSON does: "string", "number", "boolean",
 * "null", "object", "array".
 */
const char *
sf_json_type_name(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
			return "null";
		case jbvString:
			return "string";
		case jbvNumeric:
			return "number";
		case jbvBool:
			return "boolean";
		case jbvArray:
			return "array";
		case jbvObject:
			return "object";
		default:
			return sf_json_is_array(value) ? "array" : "object";
	}
}

/* Look a member of a document up; false when absent. */
static bool
document_member(const Jsonb *document, const char *key, JsonbValue *out)
{
	JsonbValue	root;

	sf_json_root(document, &root);
	return sf_json_member(&root, key, strlen(key), out);
}

/* Copy a string member of a document; NULL when absent or no string. */
char *
sf_json_get_cstring(const Jsonb *document, const char *key)
{
	JsonbValue	value;

	if (!document_member(document, key, &value) || value.type != jbvString)
		return NULL;
	return pnstrdup(value.val.string.val, value.val.string.len);
}

/* Copy a member of a document into a document; NULL when absent. */
Jsonb *
sf_json_get(const Jsonb *document, const char *key)
{
	JsonbValue	value;

	if (!document_member(document, key, &value))
		return NULL;
	return sf_json_make(&value);
}

/*
 * Convert a number that is an integer of 64 bits (1.0 is one); false for
 * every other value.
 */
bool
sf_json_to_int64(const JsonbValue *value, int64 *out)
{
	char	   *text;
	char	   *end;
	long long	parsed;
	bool		ok;

	if (value->type != jbvNumeric)
		return false;
	text = numeric_normalize(value->val.numeric);
	errno = 0;
	parsed = strtoll(text, &end, 10);
	ok = errno == 0 && end != text && *end == '\0';
	pfree(text);
	if (ok)
		*out = parsed;
	return ok;
}

/* Order two numbers, or two strings by their bytes. */
int
sf_json_order(const JsonbValue *a, const JsonbValue *b)
{
	int			cmp;

	if (a->type == jbvNumeric)
		return DatumGetInt32(DirectFunctionCall2(numeric_cmp,
												 NumericGetDatum(a->val.numeric),
												 NumericGetDatum(b->val.numeric)));
	cmp = memcmp(a->val.string.val, b->val.string.val,
				 Min(a->val.string.len, b->val.string.len));
	return cmp != 0 ? cmp : a->val.string.len - b->val.string.len;
}

/* Compare two values that are no arrays or objects. */
static bool
scalars_equal(const JsonbValue *a, const JsonbValue *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type)
	{
		case jbvNull:
			return true;
		case jbvString:
		case jbvNumeric:
			return sf_json_order(a, b) == 0;
		case jbvBool:
			return a->val.boolean == b->val.boolean;
		default:
			elog(ERROR, "unexpected jsonb value of type %d", (int) a->type);
	}
}

/*
 * Compare two arrays or objects.  jsonb's own function gives an order, too, and so
 * needs the collation of the database.
 */
static bool
containers_equal(JsonbContainer *a, JsonbContainer *b)
{
	JsonbIterator *left = JsonbIteratorInit(a);
	JsonbIterator *right = JsonbIteratorInit(b);
	JsonbIteratorToken token;
	JsonbValue	x,
				y;

	do
	{
		token = JsonbIteratorNext(&left, &x, false);
		if (token != JsonbIteratorNext(&right, &y, false))
			return false;
		if ((token == WJB_BEGIN_ARRAY &&
			 (x.val.array.nElems != y.val.array.nElems ||
			  x.val.array.rawScalar != y.val.array.rawScalar)) ||
			(token == WJB_BEGIN_OBJECT && x.val.object.nPairs != y.val.object.nPairs) ||
			((token == WJB_KEY || token == WJB_VALUE || token == WJB_ELEM) &&
			 !scalars_equal(&x, &y)))
			return false;
	} while (token != WJB_DONE);
	return true;
}

/* Compare two documents by meaning, as jsonb's own = does. */
bool
sf_json_is_equal(const Jsonb *a, const Jsonb *b)
{
	return a == b ||
		containers_equal((JsonbContainer *) &a->root, (JsonbContainer *) &b->root);
}

/* Bring a value that is still under construction into its compact form. */
static JsonbValue
compact_value(const JsonbValue *value)
{
	JsonbValue	result = *value;

	if (value->type == jbvArray || value->type == jbvObject)
		sf_json_root(sf_json_make(value), &result);
	return result;
}

/* Compare two values by meaning: 1 equals 1.0, members have no order. */
bool
sf_json_value_is_equal(const JsonbValue *a, const JsonbValue *b)
{
	JsonbValue	left = compact_value(a);
	JsonbValue	right = compact_value(b);

	if (left.type == jbvBinary && right.type == jbvBinary)
		return containers_equal(left.val.binary.data, right.val.binary.data);
	return scalars_equal(&left, &right);
}
