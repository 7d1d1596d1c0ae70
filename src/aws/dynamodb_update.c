/*
 * dynamodb_update.c
 *		DynamoDB's update expressions.
 *
 * All values are worked out over the item as it was; then the actions are
 * carried out, those of REMOVE last and in descending order, so that indexes
 * into lists mean the old lists.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "api/sql_arguments.h"
#include "aws/dynamodb.h"
#include "base/error/errors.h"
#include "base/version/compat.h"
#include "base/version/schema.h"

/* An action with its value */
typedef struct Action
{
	const List *path;
	Jsonb	   *value;			/* NULL: remove */
} Action;

static Jsonb *sum_value(const SfDynamodbNode *node, const Jsonb *item);

/* Raise that the operation does not take an operand of a type. */
static void pg_attribute_noreturn()
bad_operand(const char *operation, const char *type)
{
	sf_dynamodb_fail("Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
					 operation, type);
}

/* Get what an operand of an operation holds, which must be of a type. */
static JsonbValue
require_type(const Jsonb *value, const char *type, const char *operation)
{
	const char *actual = "?";
	JsonbValue	inner;

	if (!sf_dynamodb_type(value, &actual, &inner) || strcmp(actual, type) != 0)
		bad_operand(operation, actual);
	return inner;
}

/* a + b or a - b; numbers are written without trailing zeros. */
static Jsonb *
add_numbers(const Jsonb *a, const Jsonb *b, bool minus)
{
	JsonbValue	x = require_type(a, "N", minus ? "-" : "+");
	JsonbValue	y = require_type(b, "N", minus ? "-" : "+");
	Datum		sum = DirectFunctionCall2(minus ? numeric_sub : numeric_add,
										  sf_dynamodb_number(&x), sf_dynamodb_number(&y));

	sum = DirectFunctionCall1(numeric_trim_scale, sum);
	return sf_dynamodb_typed("N", sf_json_string(DatumGetCString(DirectFunctionCall1(numeric_out, sum))));
}

/* Append the elements of an array to a builder's. */
static void
add_elements(SfJsonBuilder *json, const JsonbValue *array)
{
	int			n = sf_json_count(array);
	JsonbValue	element;

	for (int i = 0; i < n; i++)
		if (sf_json_element(array, i, &element))
			sf_json_add_value(json, NULL, &element);
}

/* list_append(a, b) */
static Jsonb *
append_lists(const Jsonb *a, const Jsonb *b)
{
	JsonbValue	x = require_type(a, "L", "list_append");
	JsonbValue	y = require_type(b, "L", "list_append");
	SfJsonBuilder builder;

	sf_json_begin_array(&builder);
	add_elements(&builder, &x);
	add_elements(&builder, &y);
	return sf_dynamodb_typed("L", sf_json_end(&builder));
}

/* Raise unless there is a value. */
static void
require_value(const Jsonb *value)
{
	if (value == NULL)
		sf_dynamodb_fail("The provided expression refers to an attribute that does not exist in the item");
}

/* Compute the value that SET assigns; NULL: there is none. */
static Jsonb *
sum_value(const SfDynamodbNode *node, const Jsonb *item)
{
	Jsonb	   *a,
			   *b;

	check_stack_depth();
	if (node->op == SF_DDB_IF_NOT_EXISTS)
	{
		a = sf_dynamodb_operand(linitial(node->args), item);
		return a != NULL ? a : sum_value(lsecond(node->args), item);
	}
	if (node->op != SF_DDB_PLUS && node->op != SF_DDB_MINUS && node->op != SF_DDB_LIST_APPEND)
		return sf_dynamodb_operand(node, item);
	a = sum_value(linitial(node->args), item);
	b = sum_value(lsecond(node->args), item);
	require_value(a);
	require_value(b);
	return node->op == SF_DDB_LIST_APPEND ? append_lists(a, b) :
		add_numbers(a, b, node->op == SF_DDB_MINUS);
}

/* Unite two sets, or subtract the second; NULL when the result is empty. */
static Jsonb *
combine_sets(const char *type, const JsonbValue *a, const JsonbValue *b, bool remove)
{
	char	   *element_type = pnstrdup(type, 1);
	SfJsonBuilder builder;
	JsonbValue	element;
	int			count = 0;

	sf_json_begin_array(&builder);
	for (int i = 0; i < sf_json_count(a); i++)
		if (sf_json_element(a, i, &element) &&
			!(remove && sf_dynamodb_set_contains(b, element_type, &element)))
		{
			sf_json_add_value(&builder, NULL, &element);
			count++;
		}
	for (int i = 0; !remove && i < sf_json_count(b); i++)
		if (sf_json_element(b, i, &element) && !sf_dynamodb_set_contains(a, element_type, &element))
		{
			sf_json_add_value(&builder, NULL, &element);
			count++;
		}
	return count == 0 ? NULL : sf_dynamodb_typed(type, sf_json_end(&builder));
}

/* Compute what ADD or DELETE makes of an attribute; NULL: it is removed. */
static Jsonb *
add_value(SfDynamodbOp op, Jsonb *old, Jsonb *operand)
{
	const char *type,
			   *old_type;
	JsonbValue	x,
				y;
	bool		set;

	sf_dynamodb_type(operand, &type, &y);
	set = sf_dynamodb_is_set(type);
	if (!set && !(op == SF_DDB_ADD && strcmp(type, "N") == 0))
		bad_operand(op == SF_DDB_ADD ? "ADD" : "DELETE", type);
	if (old == NULL)
		return op == SF_DDB_ADD ? operand : NULL;
	if (!sf_dynamodb_type(old, &old_type, &x) || old_type != type)
		sf_dynamodb_fail("An operand in the update expression has an incorrect data type");
	return set ? combine_sets(type, &x, &y, op == SF_DDB_DELETE) :
		add_numbers(old, operand, false);
}

/* Convert a document path, with types, to the array that jsonb's functions take. */
static Datum
path_array(const List *path)
{
	Datum	   *elements = palloc(sizeof(Datum) * 2 * list_length(path));
	int			n = 0;

	foreach_ptr(const SfDynamodbPathStep, step, path)
	{
		if (n > 0)
			elements[n++] = CStringGetTextDatum(step->name ? "M" : "L");
		elements[n++] = CStringGetTextDatum(step->name ? step->name :
											psprintf("%d", step->index));
	}
	return PointerGetDatum(construct_array(elements, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Raise unless the container of a path's last step exists. */
static void
check_parent(const List *path, const Jsonb *item)
{
	const SfDynamodbPathStep *last = llast(path);
	SfDynamodbNode parent = {.op = SF_DDB_PATH};
	const char *type;
	Jsonb	   *value;
	JsonbValue	inner;

	if (list_length(path) == 1)
		return;
	parent.path = list_truncate(list_copy(path), list_length(path) - 1);
	value = sf_dynamodb_operand(&parent, item);
	if (value == NULL || !sf_dynamodb_type(value, &type, &inner) ||
		strcmp(type, last->name ? "M" : "L") != 0)
		sf_dynamodb_fail("The document path provided in the update expression is invalid for update");
}

/* Put a value at a path. */
static Jsonb *
set_at(Jsonb *item, const List *path, const Jsonb *value)
{
	return DatumGetJsonbP(DirectFunctionCall4(jsonb_set, JsonbPGetDatum(item),
											  path_array(path),
											  JsonbPGetDatum(value), BoolGetDatum(true)));
}

/* Order paths so that higher indexes of a list come first. */
static int
compare_removals(const ListCell *a, const ListCell *b)
{
	const List *x = ((Action *) lfirst(a))->path;
	const List *y = ((Action *) lfirst(b))->path;

	for (int i = 0; i < Min(list_length(x), list_length(y)); i++)
	{
		const SfDynamodbPathStep *p = list_nth(x, i);
		const SfDynamodbPathStep *q = list_nth(y, i);
		int			cmp;

		if (p->name == NULL || q->name == NULL)
			cmp = q->index - p->index;
		else
			cmp = strcmp(p->name, q->name);
		if (cmp != 0)
			return cmp;
	}
	return list_length(y) - list_length(x);
}

/* Tell whether two paths name the same attribute, or one a part of the other. */
static bool
overlap(const List *a, const List *b)
{
	for (int i = 0; i < Min(list_length(a), list_length(b)); i++)
	{
		const SfDynamodbPathStep *p = list_nth(a, i);
		const SfDynamodbPathStep *q = list_nth(b, i);

		if ((p->name == NULL) != (q->name == NULL) ||
			(p->name ? strcmp(p->name, q->name) != 0 : p->index != q->index))
			return false;
	}
	return true;
}

/* Refuse two actions on the same path. */
static void
check_overlap(const List *actions)
{
	for (int i = 0; i < list_length(actions); i++)
		for (int j = 0; j < i; j++)
		{
			const Action *a = list_nth(actions, j);
			const Action *b = list_nth(actions, i);

			if (overlap(a->path, b->path))
				sf_dynamodb_fail("Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [%s], path two: [%s]",
								 ((SfDynamodbPathStep *) linitial(a->path))->name,
								 ((SfDynamodbPathStep *) linitial(b->path))->name);
		}
}

/* Work out what an action does, over the item as it was. */
static Action *
prepare(const SfDynamodbNode *node, const Jsonb *item)
{
	const SfDynamodbNode *path = linitial(node->args);
	const SfDynamodbNode *operand = node->op == SF_DDB_REMOVE ? NULL : lsecond(node->args);
	Action	   *action = palloc0(sizeof(Action));

	action->path = path->path;
	if (node->op == SF_DDB_SET || node->op == SF_DDB_ADD)
		check_parent(path->path, item);
	if (node->op == SF_DDB_SET)
	{
		action->value = sum_value(operand, item);
		require_value(action->value);
	}
	else if (node->op != SF_DDB_REMOVE)
		action->value = add_value(node->op, sf_dynamodb_operand(path, item), operand->value);
	return action;
}

/* {"Item", "Attributes"} */
static Jsonb *
make_result(const Jsonb *item, const List *actions)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add(&json, "Item", item);
	sf_json_open_array(&json, "Attributes");
	foreach_ptr(const Action, action, actions)
	{
		const SfDynamodbPathStep *first = linitial(action->path);

		sf_json_add_string(&json, NULL, first->name);
	}
	sf_json_close_array(&json);
	return sf_json_end(&json);
}

/* Carry an update out: {"Item": the new item, "Attributes": [changed names]}. */
static Jsonb *
update_item(const SfDynamodb *dynamodb, Jsonb *item)
{
	List	   *actions = NIL;
	List	   *removals = NIL;

	foreach_ptr(const SfDynamodbNode, node, sf_dynamodb_parse_update(dynamodb))
	{
		Action	   *action = prepare(node, item);

		CHECK_FOR_INTERRUPTS();
		actions = lappend(actions, action);
		if (action->value == NULL)
			removals = lappend(removals, action);
	}
	check_overlap(actions);
	foreach_ptr(const Action, action, actions)
	{
		if (action->value != NULL)
			item = set_at(item, action->path, action->value);
	}
	list_sort(removals, compare_removals);
	foreach_ptr(const Action, action, removals)
	{
		item = DatumGetJsonbP(DirectFunctionCall2(jsonb_delete_path, JsonbPGetDatum(item),
												  path_array(action->path)));
	}
	return make_result(item, actions);
}

/*
 * sf_dynamodb_condition() and its kin: DynamoDB's expressions by themselves.
 *
 * The handlers that sf_aws_install() makes are written with them.  An
 * expression that is malformed, or does not fit the item, raises SF014 with
 * the text of the service's ValidationException.
 */

/* Fetch the expression, its names (argument n) and its values (n + 1). */
static SfDynamodb
get_expression(FunctionCallInfo fcinfo, const char *field, int n)
{
	return (SfDynamodb)
	{
		.field = field,
		.text = sf_arg_text(fcinfo, 0, "expression"),
		.names = sf_arg_jsonb_or_null(fcinfo, n),
		.values = n + 1 < PG_NARGS() ? sf_arg_jsonb_or_null(fcinfo, n + 1) : NULL
	};
}

/* Fetch the argument that is an item. */
static Jsonb *
get_item(FunctionCallInfo fcinfo)
{
	Jsonb	   *item = sf_arg_jsonb(fcinfo, 1, "item");

	if (!JB_ROOT_IS_OBJECT(item))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument item must be an object")));
	return item;
}

/* sf_dynamodb_condition(expression, item, names, values, field) */
SF_SQL_FUNCTION(sfflow_sf_dynamodb_condition)
{
	SfDynamodb	dynamodb = get_expression(fcinfo, sf_arg_text(fcinfo, 4, "field"), 2);

	PG_RETURN_BOOL(sf_dynamodb_condition(&dynamodb, get_item(fcinfo)));
}

/* sf_dynamodb_key(expression, names, values) */
SF_SQL_FUNCTION(sfflow_sf_dynamodb_key)
{
	SfDynamodb	dynamodb = get_expression(fcinfo, "KeyConditionExpression", 1);

	PG_RETURN_JSONB_P(sf_dynamodb_key(&dynamodb));
}

/* update_item(expression, item, names, values) */
SF_SQL_FUNCTION(sfflow_sf_dynamodb_update)
{
	SfDynamodb	dynamodb = get_expression(fcinfo, "UpdateExpression", 2);

	PG_RETURN_JSONB_P(update_item(&dynamodb, get_item(fcinfo)));
}

/* sf_dynamodb_project(expression, item, names) */
SF_SQL_FUNCTION(sfflow_sf_dynamodb_project)
{
	SfDynamodb	dynamodb = get_expression(fcinfo, "ProjectionExpression", 2);

	PG_RETURN_JSONB_P(sf_dynamodb_project(&dynamodb, get_item(fcinfo)));
}
