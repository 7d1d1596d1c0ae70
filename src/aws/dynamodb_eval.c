/*
 * dynamodb_eval.c
 *		DynamoDB's conditions over an item.
 *
 * A comparison of values of two types is false; so is one of an attribute that
 * the item lacks, but for "<>".
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "aws/dynamodb.h"

static const char *const types[] = {
	"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"
};

/* The type of a typed value and what it holds; false: it is none. */
bool
sf_dynamodb_type(const Jsonb *value, const char **type, JsonbValue *inner)
{
	JsonbValue	root;

	sf_json_root(value, &root);
	if (!sf_json_is_object(&root) || sf_json_count(&root) != 1)
		return false;
	for (int i = 0; i < (int) lengthof(types); i++)
		if (sf_json_member(&root, types[i], strlen(types[i]), inner))
		{
			*type = types[i];
			return true;
		}
	return false;
}

/* {type: inner} */
Jsonb *
sf_dynamodb_typed(const char *type, const Jsonb *inner)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add(&json, type, inner);
	return sf_json_end(&json);
}

/* Copy a string, or a number that is written as JSON number, as C string. */
static char *
text_of(const JsonbValue *value)
{
	if (value->type == jbvString)
		return pnstrdup(value->val.string.val, value->val.string.len);
	if (value->type == jbvNumeric)
		return DatumGetCString(DirectFunctionCall1(numeric_out,
												   NumericGetDatum(value->val.numeric)));
	return pstrdup("");
}

/* Decode the bytes of a binary value. */
static bytea *
bytes_of(const JsonbValue *value)
{
	return DatumGetByteaPP(DirectFunctionCall2(binary_decode,
											   CStringGetTextDatum(text_of(value)),
											   CStringGetTextDatum("base64")));
}

/* Convert a value of type N to numeric. */
Datum
sf_dynamodb_number(const JsonbValue *value)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text_of(value)),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* Compare bytes as memcmp does, the shorter first. */
static int
compare_bytes(const char *a, size_t alen, const char *b, size_t blen)
{
	int			cmp = memcmp(a, b, Min(alen, blen));

	return cmp != 0 ? cmp : alen < blen ? -1 : alen > blen;
}

/* Order two values of one type; false: it has no order. */
static bool
compare(const char *type, const JsonbValue *a, const JsonbValue *b, int *cmp)
{
	if (strcmp(type, "S") == 0)
	{
		char	   *x = text_of(a);
		char	   *y = text_of(b);

		*cmp = compare_bytes(x, strlen(x), y, strlen(y));
	}
	else if (strcmp(type, "N") == 0)
		*cmp = DatumGetInt32(DirectFunctionCall2(numeric_cmp, sf_dynamodb_number(a), sf_dynamodb_number(b)));
	else if (strcmp(type, "B") == 0)
	{
		bytea	   *x = bytes_of(a);
		bytea	   *y = bytes_of(b);

		*cmp = compare_bytes(VARDATA_ANY(x), VARSIZE_ANY_EXHDR(x),
							 VARDATA_ANY(y), VARSIZE_ANY_EXHDR(y));
	}
	else
		return false;
	return true;
}

/* Tell whether a set of some type ("NS") has an element of its type ("N"). */
bool
sf_dynamodb_set_contains(const JsonbValue *set, const char *type, const JsonbValue *element)
{
	int			n = sf_json_count(set);
	int			cmp;

	for (int i = 0; i < n; i++)
	{
		JsonbValue	member;

		if (sf_json_element(set, i, &member) &&
			compare(type, &member, element, &cmp) && cmp == 0)
			return true;
	}
	return false;
}

/* Return the type of a set's elements. */
static const char *
element_type(const char *set_type)
{
	return set_type[0] == 'S' ? "S" : set_type[0] == 'N' ? "N" : "B";
}

/* Tell whether a type is one of sets. */
bool
sf_dynamodb_is_set(const char *type)
{
	return type[1] == 'S' && type[2] == '\0';
}

static bool values_equal(const Jsonb *a, const Jsonb *b);

/* Equality of two lists, maps, or sets of one type. */
static bool
containers_equal(const char *type, const JsonbValue *a, const JsonbValue *b)
{
	int			n = sf_json_count(a);
	JsonbValue	x,
				y;

	if (n == SF_JSON_NO_COUNT || n != sf_json_count(b))
		return false;
	if (strcmp(type, "M") == 0)
	{
		SfJsonMember *members = palloc(sizeof(SfJsonMember) * Max(n, 1));

		sf_json_list_members(a, members);
		for (int i = 0; i < n; i++)
			if (!sf_json_member(b, members[i].key.val.string.val,
								members[i].key.val.string.len, &y) ||
				!values_equal(sf_json_make(&members[i].value), sf_json_make(&y)))
				return false;
		return true;
	}
	for (int i = 0; i < n; i++)
	{
		if (!sf_json_element(a, i, &x) || !sf_json_element(b, i, &y))
			return false;
		if (sf_dynamodb_is_set(type) ? !sf_dynamodb_set_contains(b, element_type(type), &x) :
			!values_equal(sf_json_make(&x), sf_json_make(&y)))
			return false;
	}
	return true;
}

/* Equality of typed values: numbers as numbers, sets in any order. */
static bool
values_equal(const Jsonb *a, const Jsonb *b)
{
	const char *type_a,
			   *type_b;
	JsonbValue	x,
				y;
	int			cmp;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (!sf_dynamodb_type(a, &type_a, &x) || !sf_dynamodb_type(b, &type_b, &y) ||
		type_a != type_b)
		return false;
	if (compare(type_a, &x, &y, &cmp))
		return cmp == 0;
	if (sf_dynamodb_is_set(type_a) || type_a[1] == '\0')	/* SS, NS, BS, M, L */
		return containers_equal(type_a, &x, &y);
	return sf_json_value_is_equal(&x, &y);
}

/* Follow a path into an item; NULL: it leads nowhere. */
static Jsonb *
follow_path(const List *path, const Jsonb *item)
{
	JsonbValue	value,
				inner;
	bool		first = true;

	sf_json_root(item, &value);
	foreach_ptr(const SfDynamodbPathStep, step, path)
	{
		inner = value;
		if (!first && !sf_json_member(&value, step->name ? "M" : "L", 1, &inner))
			return NULL;
		if (step->name ? !sf_json_member(&inner, step->name, strlen(step->name), &value) :
			!sf_json_element(&inner, step->index, &value))
			return NULL;
		first = false;
	}
	return sf_json_make(&value);
}

/* Compute size(); NULL: the value has no size. */
static Jsonb *
size_of(const Jsonb *value)
{
	const char *type;
	JsonbValue	inner;
	int			size;

	if (value == NULL || !sf_dynamodb_type(value, &type, &inner))
		return NULL;
	if (strcmp(type, "S") == 0)
		size = pg_mbstrlen(text_of(&inner));
	else if (strcmp(type, "B") == 0)
		size = VARSIZE_ANY_EXHDR(bytes_of(&inner));
	else
		size = sf_json_count(&inner);
	return size == SF_JSON_NO_COUNT ? NULL :
		sf_dynamodb_typed("N", sf_json_string(psprintf("%d", size)));
}

/* Find an operand's value; NULL when the item has none. */
Jsonb *
sf_dynamodb_operand(const SfDynamodbNode *node, const Jsonb *item)
{
	switch (node->op)
	{
		case SF_DDB_VALUE:
			return node->value;
		case SF_DDB_PATH:
			return follow_path(node->path, item);
		case SF_DDB_SIZE:
			return size_of(follow_path(((SfDynamodbNode *) linitial(node->args))->path, item));
		default:
			sf_dynamodb_fail("Invalid expression: an operand is not allowed here");
	}
}

/* Compare two values that may be missing. */
static bool
holds(SfDynamodbOp op, const Jsonb *a, const Jsonb *b)
{
	const char *type_a,
			   *type_b;
	JsonbValue	x,
				y;
	int			cmp;

	if (op == SF_DDB_EQ || op == SF_DDB_NE)
		return (a != NULL && b != NULL && values_equal(a, b)) == (op == SF_DDB_EQ);
	if (a == NULL || b == NULL || !sf_dynamodb_type(a, &type_a, &x) ||
		!sf_dynamodb_type(b, &type_b, &y) || type_a != type_b ||
		!compare(type_a, &x, &y, &cmp))
		return false;
	return op == SF_DDB_LT ? cmp < 0 : op == SF_DDB_LE ? cmp <= 0 :
		op == SF_DDB_GT ? cmp > 0 : cmp >= 0;
}

/* begins_with(a, b) */
static bool
begins_with(const char *type, const JsonbValue *a, const JsonbValue *b)
{
	if (strcmp(type, "S") == 0)
		return strncmp(text_of(a), text_of(b), strlen(text_of(b))) == 0;
	if (strcmp(type, "B") == 0)
	{
		bytea	   *x = bytes_of(a);
		bytea	   *y = bytes_of(b);

		return VARSIZE_ANY_EXHDR(x) >= VARSIZE_ANY_EXHDR(y) &&
			memcmp(VARDATA_ANY(x), VARDATA_ANY(y), VARSIZE_ANY_EXHDR(y)) == 0;
	}
	return false;
}

/* contains(a, b): a substring, an element of a set, an element of a list */
static bool
contains(const Jsonb *a, const Jsonb *b)
{
	const char *type_a,
			   *type_b;
	JsonbValue	x,
				y;

	if (!sf_dynamodb_type(a, &type_a, &x) || !sf_dynamodb_type(b, &type_b, &y))
		return false;
	if (strcmp(type_a, "S") == 0)
		return type_a == type_b && strstr(text_of(&x), text_of(&y)) != NULL;
	if (sf_dynamodb_is_set(type_a))
		return strcmp(element_type(type_a), type_b) == 0 && sf_dynamodb_set_contains(&x, type_b, &y);
	if (strcmp(type_a, "L") == 0)
	{
		int			n = sf_json_count(&x);
		JsonbValue	element;

		for (int i = 0; i < n; i++)
			if (sf_json_element(&x, i, &element) &&
				values_equal(sf_json_make(&element), b))
				return true;
	}
	return false;
}

/* Evaluate a function of an attribute and another value. */
static bool
function_holds(SfDynamodbOp op, const Jsonb *a, const Jsonb *b)
{
	const char *type_a,
			   *type_b;
	JsonbValue	x,
				y;

	if (a == NULL || b == NULL || !sf_dynamodb_type(a, &type_a, &x) ||
		!sf_dynamodb_type(b, &type_b, &y))
		return false;
	if (op == SF_DDB_ATTRIBUTE_TYPE)
		return strcmp(type_a, text_of(&y)) == 0;
	if (op == SF_DDB_CONTAINS)
		return contains(a, b);
	return type_a == type_b && begins_with(type_a, &x, &y);
}

/* Evaluate a condition. */
static bool
evaluate(const SfDynamodbNode *node, const Jsonb *item)
{
	Jsonb	   *operands[3] = {NULL, NULL, NULL};
	bool		found = false;
	int			i = 0;

	check_stack_depth();
	switch (node->op)
	{
		case SF_DDB_AND:
			return evaluate(linitial(node->args), item) && evaluate(lsecond(node->args), item);
		case SF_DDB_OR:
			return evaluate(linitial(node->args), item) || evaluate(lsecond(node->args), item);
		case SF_DDB_NOT:
			return !evaluate(linitial(node->args), item);
		case SF_DDB_IN:
			foreach_ptr(const SfDynamodbNode, arg, node->args)
			{
				operands[Min(i, 1)] = sf_dynamodb_operand(arg, item);
				if (i++ > 0 && holds(SF_DDB_EQ, operands[0], operands[1]))
					found = true;
			}
			return found;
		default:
			break;
	}
	foreach_ptr(const SfDynamodbNode, arg, node->args)
		operands[i++] = sf_dynamodb_operand(arg, item);
	switch (node->op)
	{
		case SF_DDB_ATTRIBUTE_EXISTS:
			return operands[0] != NULL;
		case SF_DDB_ATTRIBUTE_NOT_EXISTS:
			return operands[0] == NULL;
		case SF_DDB_BETWEEN:
			return holds(SF_DDB_GE, operands[0], operands[1]) &&
				holds(SF_DDB_LE, operands[0], operands[2]);
		case SF_DDB_ATTRIBUTE_TYPE:
		case SF_DDB_BEGINS_WITH:
		case SF_DDB_CONTAINS:
			return function_holds(node->op, operands[0], operands[1]);
		default:
			return holds(node->op, operands[0], operands[1]);
	}
}

/* Condition, filter and key condition expressions: does the item satisfy it? */
bool
sf_dynamodb_condition(const SfDynamodb *dynamodb, const Jsonb *item)
{
	return evaluate(sf_dynamodb_parse_condition(dynamodb), item);
}

/* Return the attribute that a path of one step names; NULL: it has more steps. */
static const char *
plain_name(const SfDynamodbNode *node)
{
	if (node->op != SF_DDB_PATH || list_length(node->path) != 1)
		return NULL;
	return ((SfDynamodbPathStep *) linitial(node->path))->name;
}

/* Sort the comparisons of a key condition into equalities and others. */
static void
key_terms(const SfDynamodb *dynamodb, const SfDynamodbNode *node, SfJsonBuilder *equal,
		  List **others)
{
	const SfDynamodbNode *left = linitial(node->args);
	const SfDynamodbNode *right;
	const char *name = plain_name(left);

	check_stack_depth();
	if (node->op == SF_DDB_AND)
	{
		key_terms(dynamodb, left, equal, others);
		key_terms(dynamodb, lsecond(node->args), equal, others);
		return;
	}
	right = list_length(node->args) < 2 ? NULL : lsecond(node->args);
	if (name == NULL || node->op == SF_DDB_OR || node->op == SF_DDB_NOT ||
		node->op == SF_DDB_NE || node->op == SF_DDB_IN ||
		right == NULL || right->op != SF_DDB_VALUE)
		sf_dynamodb_fail("Invalid %s: Invalid operator used in %s", dynamodb->field, dynamodb->field);
	if (node->op == SF_DDB_EQ)
		sf_json_add(equal, name, right->value);
	else
		*others = lappend(*others, pstrdup(name));
}

/*
 * List the attributes that a key condition compares: {"Equal": {name: value},
 * "Others": [names]}; Others are compared otherwise than by "=".
 */
Jsonb *
sf_dynamodb_key(const SfDynamodb *dynamodb)
{
	SfJsonBuilder json;
	List	   *others = NIL;

	sf_json_begin_object(&json);
	sf_json_open_object(&json, "Equal");
	key_terms(dynamodb, sf_dynamodb_parse_condition(dynamodb), &json, &others);
	sf_json_close_object(&json);
	sf_json_open_array(&json, "Others");
	foreach_ptr(const char, name, others)
		sf_json_add_string(&json, NULL, name);
	sf_json_close_array(&json);
	return sf_json_end(&json);
}

/* Copy the attributes of an item that a projection names. */
Jsonb *
sf_dynamodb_project(const SfDynamodb *dynamodb, const Jsonb *item)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	foreach_ptr(const SfDynamodbNode, path, sf_dynamodb_parse_paths(dynamodb))
	{
		const char *name = plain_name(path);

		if (name == NULL)
			sf_dynamodb_fail("Invalid %s: paths into attributes are not supported", dynamodb->field);
		sf_json_add(&json, name, sf_json_get(item, name));
	}
	return sf_json_end(&json);
}
