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
#include "aws/dynamodb.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* An action with its value */
typedef struct Action
{
	SfDynamodbOp op;
	const List *path;
	Jsonb	   *value;			/* NULL: remove */
} Action;

static bool sum_value(const SfDynamodbNode *node, const Jsonb *item,
					  Jsonb **value, SfError *error);

/* Report that a document path leads nowhere. */
static bool
bad_path(SfError *error)
{
	return sf_dynamodb_fail(error, "The document path provided in the update expression is invalid for update");
}

/* Report an operand of a type that the operation does not take. */
static bool
bad_operand(SfError *error, const char *operation, const char *type)
{
	return sf_dynamodb_fail(error, "Invalid UpdateExpression: Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
							operation, type);
}

/* Tell whether a value is of a type; *inner gets its content. */
static bool
is_type(const Jsonb *value, const char *type, JsonbValue *inner)
{
	const char *actual;

	return sf_dynamodb_type(value, &actual, inner) && strcmp(actual, type) == 0;
}

/* Name the type of a value in messages. */
static const char *
type_name(const Jsonb *value)
{
	const char *type;
	JsonbValue	inner;

	return sf_dynamodb_type(value, &type, &inner) ? type : "?";
}

/* a + b or a - b; numbers are written without trailing zeros. */
static bool
add_numbers(const Jsonb *a, const Jsonb *b, bool minus, Jsonb **value, SfError *error)
{
	JsonbValue	x,
				y;
	Datum		sum;

	if (!is_type(a, "N", &x) || !is_type(b, "N", &y))
		return bad_operand(error, minus ? "-" : "+",
						   type_name(is_type(a, "N", &x) ? b : a));
	sum = DirectFunctionCall2(minus ? numeric_sub : numeric_add,
							  sf_dynamodb_number(&x), sf_dynamodb_number(&y));
	sum = DirectFunctionCall1(numeric_trim_scale, sum);
	*value = sf_dynamodb_typed("N", sf_json_string(DatumGetCString(DirectFunctionCall1(numeric_out, sum))));
	return true;
}

/* Append the elements of an array to a builder's. */
static void
add_elements(SfJsonBuilder *b, const JsonbValue *array)
{
	int			n = sf_json_count(array);
	JsonbValue	element;

	for (int i = 0; i < n; i++)
		if (sf_json_element(array, i, &element))
			sf_json_add_value(b, NULL, &element);
}

/* list_append(a, b) */
static bool
append_lists(const Jsonb *a, const Jsonb *b, Jsonb **value, SfError *error)
{
	JsonbValue	x,
				y;
	SfJsonBuilder builder;

	if (!is_type(a, "L", &x) || !is_type(b, "L", &y))
		return bad_operand(error, "list_append",
						   type_name(is_type(a, "L", &x) ? b : a));
	sf_json_begin_array(&builder);
	add_elements(&builder, &x);
	add_elements(&builder, &y);
	*value = sf_dynamodb_typed("L", sf_json_finish(&builder));
	return true;
}

/* Report an operand that the item lacks. */
static bool
missing_operand(SfError *error)
{
	return sf_dynamodb_fail(error, "The provided expression refers to an attribute that does not exist in the item");
}

/* Find the values of two operands, which must exist. */
static bool
two_values(const List *args, const Jsonb *item, Jsonb **a, Jsonb **b, SfError *error)
{
	if (!sum_value(linitial(args), item, a, error) ||
		!sum_value(lsecond(args), item, b, error))
		return false;
	return (*a != NULL && *b != NULL) || missing_operand(error);
}

/* Compute the value that SET assigns; NULL: there is none. */
static bool
sum_value(const SfDynamodbNode *node, const Jsonb *item, Jsonb **value,
		  SfError *error)
{
	Jsonb	   *a,
			   *b;

	check_stack_depth();
	switch (node->op)
	{
		case SF_DDB_PLUS:
		case SF_DDB_MINUS:
			return two_values(node->args, item, &a, &b, error) &&
				add_numbers(a, b, node->op == SF_DDB_MINUS, value, error);
		case SF_DDB_LIST_APPEND:
			return two_values(node->args, item, &a, &b, error) &&
				append_lists(a, b, value, error);
		case SF_DDB_IF_NOT_EXISTS:
			if (!sf_dynamodb_operand(linitial(node->args), item, value, error))
				return false;
			return *value != NULL || sum_value(lsecond(node->args), item, value, error);
		default:
			return sf_dynamodb_operand(node, item, value, error);
	}
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
	return count == 0 ? NULL : sf_dynamodb_typed(type, sf_json_finish(&builder));
}

/* Compute what ADD or DELETE makes of an attribute; NULL: it is removed. */
static bool
add_value(SfDynamodbOp op, Jsonb *old, Jsonb *operand, Jsonb **value, SfError *error)
{
	const char *type,
			   *old_type;
	JsonbValue	x,
				y;
	bool		set;

	sf_dynamodb_type(operand, &type, &y);
	set = type[1] == 'S' && type[2] == '\0';
	if (!set && !(op == SF_DDB_ADD && strcmp(type, "N") == 0))
		return bad_operand(error, op == SF_DDB_ADD ? "ADD" : "DELETE", type);
	if (old == NULL)
	{
		*value = op == SF_DDB_ADD ? operand : NULL;
		return true;
	}
	if (!sf_dynamodb_type(old, &old_type, &x) || old_type != type)
		return sf_dynamodb_fail(error, "An operand in the update expression has an incorrect data type");
	if (!set)
		return add_numbers(old, operand, false, value, error);
	*value = combine_sets(type, &x, &y, op == SF_DDB_DELETE);
	return true;
}

/* Convert a document path, with types, to the array that jsonb's functions take. */
static Datum
path_array(const List *path)
{
	Datum	   *elements = palloc(sizeof(Datum) * 2 * list_length(path));
	int			n = 0;
	const ListCell *lc;

	foreach(lc, path)
	{
		const SfDynamodbPathStep *step = lfirst(lc);

		if (n > 0)
			elements[n++] = CStringGetTextDatum(step->name ? "M" : "L");
		elements[n++] = CStringGetTextDatum(step->name ? step->name :
											psprintf("%d", step->index));
	}
	return PointerGetDatum(construct_array(elements, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Tell whether the container of a path's last step exists. */
static bool
parent_exists(const List *path, const Jsonb *item, SfError *error)
{
	const SfDynamodbPathStep *last = llast(path);
	SfDynamodbNode parent = {.op = SF_DDB_PATH};
	Jsonb	   *value;
	JsonbValue	inner;

	if (list_length(path) == 1)
		return true;
	parent.path = list_truncate(list_copy(path), list_length(path) - 1);
	if (!sf_dynamodb_operand(&parent, item, &value, error))
		return false;
	return (value != NULL && is_type(value, last->name ? "M" : "L", &inner)) ||
		bad_path(error);
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

/* Tell whether two paths name the same place, or one a part of the other. */
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

/* Refuse two actions on the same place. */
static bool
check_overlap(const List *actions, SfError *error)
{
	for (int i = 0; i < list_length(actions); i++)
		for (int j = 0; j < i; j++)
		{
			const Action *a = list_nth(actions, j);
			const Action *b = list_nth(actions, i);

			if (overlap(a->path, b->path))
				return sf_dynamodb_fail(error, "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [%s], path two: [%s]",
										((SfDynamodbPathStep *) linitial(a->path))->name,
										((SfDynamodbPathStep *) linitial(b->path))->name);
		}
	return true;
}

/* Work out what an action does, over the item as it was. */
static bool
prepare(const SfDynamodbNode *node, const Jsonb *item, Action *action, SfError *error)
{
	const SfDynamodbNode *path = linitial(node->args);
	Jsonb	   *old;

	action->op = node->op;
	action->path = path->path;
	action->value = NULL;
	if (node->op == SF_DDB_REMOVE)
		return true;
	if (node->op == SF_DDB_SET)
		return parent_exists(path->path, item, error) &&
			sum_value(lsecond(node->args), item, &action->value, error) &&
			(action->value != NULL || missing_operand(error));
	return sf_dynamodb_operand(path, item, &old, error) &&
		(node->op == SF_DDB_DELETE || parent_exists(path->path, item, error)) &&
		add_value(node->op, old, ((SfDynamodbNode *) lsecond(node->args))->value,
				  &action->value, error);
}

/* {"Item", "Attributes"} */
static Jsonb *
make_result(const Jsonb *item, const List *actions)
{
	SfJsonBuilder b;
	const ListCell *lc;

	sf_json_begin_object(&b);
	sf_json_add(&b, "Item", item);
	sf_json_open_array(&b, "Attributes");
	foreach(lc, actions)
	{
		const SfDynamodbPathStep *first = linitial(((Action *) lfirst(lc))->path);

		sf_json_add_string(&b, NULL, first->name);
	}
	sf_json_close_array(&b);
	return sf_json_finish(&b);
}

/* Carry an update out: {"Item": the new item, "Attributes": [changed names]}. */
bool
sf_dynamodb_update(const SfDynamodb *x, Jsonb *item, Jsonb **result, SfError *error)
{
	List	   *nodes,
			   *actions = NIL,
			   *removals = NIL;
	ListCell   *lc;

	if (!sf_dynamodb_parse_update(x, &nodes, error))
		return false;
	foreach(lc, nodes)
	{
		Action	   *action = palloc(sizeof(Action));

		CHECK_FOR_INTERRUPTS();
		if (!prepare(lfirst(lc), item, action, error))
			return false;
		actions = lappend(actions, action);
		if (action->value == NULL)
			removals = lappend(removals, action);
	}
	if (!check_overlap(actions, error))
		return false;
	foreach(lc, actions)
	{
		const Action *action = lfirst(lc);

		if (action->value != NULL)
			item = set_at(item, action->path, action->value);
	}
	list_sort(removals, compare_removals);
	foreach(lc, removals)
	{
		const Action *action = lfirst(lc);

		item = DatumGetJsonbP(DirectFunctionCall2(jsonb_delete_path, JsonbPGetDatum(item),
												  path_array(action->path)));
	}
	*result = make_result(item, actions);
	return true;
}
