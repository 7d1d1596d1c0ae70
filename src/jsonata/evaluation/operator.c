/*
 * operator.c
 *		Infix operators, and the conversions that they share with functions.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "jsonata/evaluation/eval.h"
#include "jsonata/value/jsonata_print.h"

#define MAX_RANGE 1e7

/* Tell whether a value is a number; one that is infinite is an error. */
bool
sf_jn_is_numeric(SfJnEval *ev, SfJnValue *value)
{
	if (!SF_JN_IS_NUMBER(value) || isnan(value->u.number))
		return false;
	if (isinf(value->u.number))
		sf_jn_fail(ev, SF_JN_ERROR_D1001, .value = value);
	return true;
}

/* Tell whether a value is an array of numbers (one without elements is). */
bool
sf_jn_is_all_numeric(SfJnEval *ev, SfJnValue *value)
{
	if (!SF_JN_IS_ARRAY(value))
		return false;
	for (uint32 i = 0; i < value->len; i++)
	{
		if (!sf_jn_is_numeric(ev, value->u.items[i]))
			return false;
	}
	return true;
}

/* Cast a value to a boolean; undefined is false. */
bool
sf_jn_is_true(SfJnEval *ev, SfJnValue *value)
{
	if (value == NULL)
		return false;
	switch ((SfJnType) value->type)
	{
		case SF_JN_TYPE_BOOL:
			return value->u.boolean;
		case SF_JN_TYPE_NUMBER:
			return sf_jn_is_numeric(ev, value) && value->u.number != 0;
		case SF_JN_TYPE_STRING:
		case SF_JN_TYPE_OBJECT:
			return value->len > 0;
		case SF_JN_TYPE_ARRAY:
			sf_jn_check_stack(ev);
			for (uint32 i = 0; i < value->len; i++)
			{
				if (sf_jn_is_true(ev, value->u.items[i]))
					return true;
			}
			return false;
		case SF_JN_TYPE_NULL:
		case SF_JN_TYPE_FUNCTION:
			return false;
	}
	return false;
}

/* Refuse values nested too deeply, and if told so infinite numbers. */
static void
check_value(SfJnEval *ev, const SfJnValue *value, bool finite, int depth)
{
	if (value == NULL)
		return;
	if (value->type == SF_JN_TYPE_ARRAY || value->type == SF_JN_TYPE_OBJECT)
	{
		if (depth > SF_JN_MAX_NESTING || stack_is_too_deep())
			sf_jn_fail(ev, SF_JN_ERROR_U1003,
					   .value = sf_jn_cstring(&ev->arena, "Values are nested too deeply"));
		/* parts that are shared are walked through once for each occurrence */
		sf_jn_check(ev);
		for (uint32 i = 0; i < value->len; i++)
			check_value(ev, value->type == SF_JN_TYPE_ARRAY ? value->u.items[i] : value->u.members[i].value,
						finite, depth + 1);
	}
	else if (finite && value->type == SF_JN_TYPE_NUMBER)
		(void) sf_jn_is_numeric(ev, (SfJnValue *) value);
}

/*
 * Refuse a value nested more deeply than recursive functions can go; to be
 * called before they do.
 */
void
sf_jn_check_nesting(SfJnEval *ev, const SfJnValue *value)
{
	check_value(ev, value, false, 0);
}

/* Cast a value to a string as $string does; undefined stays so. */
SfJnValue *
sf_jn_to_string(SfJnEval *ev, SfJnValue *value, bool pretty)
{
	StringInfoData buf;

	if (value == NULL || value->type == SF_JN_TYPE_STRING)
		return value;
	if (value->type == SF_JN_TYPE_FUNCTION)
		return sf_jn_string(&ev->arena, "", 0);
	if (value->type == SF_JN_TYPE_NUMBER)
	{
		char	   *text = sf_jn_alloc(&ev->arena, SF_JN_NUMBER_LEN);

		if (!isfinite(value->u.number))
			sf_jn_fail(ev, SF_JN_ERROR_D3001, .value = value);
		if ((value->flags & SF_JN_EXACT) != 0)
			return sf_jn_string(&ev->arena, text,
								sprintf(text, INT64_FORMAT, ((SfJnExact *) value)->exact));
		return sf_jn_string(&ev->arena, text,
							sf_jn_print_number(sf_jn_round15(value->u.number), text));
	}
	value = sf_jn_unwrap(value);
	check_value(ev, value, true, 0);
	initStringInfo(&buf);
	sf_jn_print(&buf, value, SF_JN_PRINT_STRING | (pretty ? SF_JN_PRINT_PRETTY : 0));
	return sf_jn_string_of(&ev->arena, &buf);
}

/* Throw an error of an operator about a value. */
static void pg_attribute_noreturn()
fail_operator(SfJnEval *ev, const SfJnNode *node, SfJnErrorCode code,
			  SfJnValue *value, SfJnValue *value2)
{
	const char *text = sf_jn_operator_text[node->op];

	sf_jn_fail_at(ev, node->position, code, .value = value, .value2 = value2,
				  .token = node->name.str != NULL ? node->name.str : text,
				  .token_len = strlen(text));
}

/* Tell whether an operand is a number, naming the operator when it is infinite. */
static bool
operand_is_numeric(SfJnEval *ev, const SfJnNode *node, SfJnValue *value)
{
	if (!SF_JN_IS_NUMBER(value) || isnan(value->u.number))
		return false;
	if (isinf(value->u.number))
		fail_operator(ev, node, SF_JN_ERROR_D1001, value, NULL);
	return true;
}

/* Calculate. */
static SfJnValue *
eval_arithmetic(SfJnEval *ev, const SfJnNode *node, SfJnValue *x, SfJnValue *y)
{
	double		result = 0;

	if (x != NULL && !operand_is_numeric(ev, node, x))
		fail_operator(ev, node, SF_JN_ERROR_T2001, x, NULL);
	if (y != NULL && !operand_is_numeric(ev, node, y))
		fail_operator(ev, node, SF_JN_ERROR_T2002, y, NULL);
	if (x == NULL || y == NULL)
		return NULL;
	switch (node->op)
	{
		case SF_JN_OP_PLUS:
			result = x->u.number + y->u.number;
			break;
		case SF_JN_OP_MINUS:
			result = x->u.number - y->u.number;
			break;
		case SF_JN_OP_STAR:
			result = x->u.number * y->u.number;
			break;
		case SF_JN_OP_SLASH:
			result = x->u.number / y->u.number;
			break;
		default:
			result = fmod(x->u.number, y->u.number);
			break;
	}
	return sf_jn_number(&ev->arena, result);
}

/* Compare for order. */
static SfJnValue *
eval_comparison(SfJnEval *ev, const SfJnNode *node, SfJnValue *x, SfJnValue *y)
{
	bool		result;

	if (x != NULL && x->type != SF_JN_TYPE_STRING && x->type != SF_JN_TYPE_NUMBER)
		fail_operator(ev, node, SF_JN_ERROR_T2010, x, NULL);
	if (y != NULL && y->type != SF_JN_TYPE_STRING && y->type != SF_JN_TYPE_NUMBER)
		fail_operator(ev, node, SF_JN_ERROR_T2010, y, NULL);
	if (x == NULL || y == NULL)
		return NULL;
	if (x->type != y->type)
		fail_operator(ev, node, SF_JN_ERROR_T2009, x, y);

	if (x->type == SF_JN_TYPE_STRING)
	{
		int			c = sf_jn_compare_strings(x, y);

		result = node->op == SF_JN_OP_LT ? c < 0 :
			node->op == SF_JN_OP_LE ? c <= 0 :
			node->op == SF_JN_OP_GT ? c > 0 : c >= 0;
	}
	else
	{
		double		a = x->u.number;
		double		b = y->u.number;

		result = node->op == SF_JN_OP_LT ? a < b :
			node->op == SF_JN_OP_LE ? a <= b :
			node->op == SF_JN_OP_GT ? a > b : a >= b;
	}
	return sf_jn_bool(result);
}

/* Concatenate two strings. */
static SfJnValue *
eval_concat(SfJnEval *ev, SfJnValue *x, SfJnValue *y)
{
	x = sf_jn_to_string(ev, x, false);
	y = sf_jn_to_string(ev, y, false);
	if (x == NULL && y == NULL)
		return sf_jn_string(&ev->arena, "", 0);
	if (x == NULL || y == NULL)
		return x == NULL ? y : x;
	return sf_jn_concat(&ev->arena, x, y);
}

/* Tell whether a value is an integer, as JavaScript understands it. */
static bool
is_integer(const SfJnValue *value)
{
	return SF_JN_IS_NUMBER(value) && isfinite(value->u.number) &&
		floor(value->u.number) == value->u.number;
}

/* Make the integers from x to y. */
static SfJnValue *
eval_range(SfJnEval *ev, const SfJnNode *node, SfJnValue *x, SfJnValue *y)
{
	SfJnValue  *result;
	SfJnValue  *numbers;
	double		size;

	if (x != NULL && !is_integer(x))
		fail_operator(ev, node, SF_JN_ERROR_T2003, x, NULL);
	if (y != NULL && !is_integer(y))
		fail_operator(ev, node, SF_JN_ERROR_T2004, y, NULL);
	if (x == NULL || y == NULL || x->u.number > y->u.number)
		return NULL;
	size = y->u.number - x->u.number + 1;
	if (size > MAX_RANGE)
		fail_operator(ev, node, SF_JN_ERROR_D2014, sf_jn_number(&ev->arena, size), NULL);

	result = sf_jn_sequence(&ev->arena, (uint32) size);
	numbers = sf_jn_alloc(&ev->arena, (Size) size * sizeof(SfJnValue));
	memset(numbers, 0, (Size) size * sizeof(SfJnValue));
	for (uint32 i = 0; i < (uint32) size; i++)
	{
		numbers[i].type = SF_JN_TYPE_NUMBER;
		numbers[i].u.number = x->u.number + i;
		result->u.items[i] = &numbers[i];
	}
	result->len = (uint32) size;
	return result;
}

/* Set all members of one object in another. */
void
sf_jn_set_all(SfJnEval *ev, SfJnValue *object, const SfJnValue *from)
{
	for (uint32 i = 0; i < from->len; i++)
	{
		sf_jn_check(ev);
		sf_jn_set_member(&ev->arena, object, &from->u.members[i], from->u.members[i].value);
	}
}

/* Compare the bytes of two strings for equality. */
static bool
same_string(const SfJnValue *x, const SfJnValue *y)
{
	return x->len == y->len && memcmp(x->u.str, y->u.str, x->len) == 0;
}

/* Compare two values deeply; functions are equal to themselves only. */
bool
sf_jn_is_equal(SfJnEval *ev, const SfJnValue *x, const SfJnValue *y)
{
	if (x == y)
		return !(SF_JN_IS_NUMBER(x) && x->u.number != x->u.number);
	if (x == NULL || y == NULL || x->type != y->type)
		return false;

	switch ((SfJnType) x->type)
	{
		case SF_JN_TYPE_NULL:
			return true;
		case SF_JN_TYPE_BOOL:
			return x->u.boolean == y->u.boolean;
		case SF_JN_TYPE_NUMBER:
			if ((x->flags & y->flags & SF_JN_EXACT) != 0)
				return ((const SfJnExact *) x)->exact ==
					((const SfJnExact *) y)->exact;
			return x->u.number == y->u.number;
		case SF_JN_TYPE_STRING:
			return same_string(x, y);
		case SF_JN_TYPE_ARRAY:
			if (x->len != y->len)
				return false;
			sf_jn_check_stack(ev);
			for (uint32 i = 0; i < x->len; i++)
			{
				sf_jn_check(ev);
				if (!sf_jn_is_equal(ev, x->u.items[i], y->u.items[i]) &&
					(x->u.items[i] != NULL || y->u.items[i] != NULL))
					return false;
			}
			return true;
		case SF_JN_TYPE_OBJECT:
			if (x->len != y->len)
				return false;
			sf_jn_check_stack(ev);
			for (uint32 i = 0; i < x->len; i++)
			{
				const SfJnMember *member = &x->u.members[i];
				const SfJnMember *n = sf_jn_find(y, member->key, member->keylen, member->hash);

				sf_jn_check(ev);
				if (n == NULL || !sf_jn_is_equal(ev, member->value, n->value))
					return false;
			}
			return true;
		case SF_JN_TYPE_FUNCTION:
			return x->u.function == y->u.function;
	}
	return false;
}

/* Tell whether two values are the same without looking into containers. */
static bool
is_identical(SfJnEval *ev, const SfJnValue *x, const SfJnValue *y)
{
	if (x == NULL || y == NULL || x->type != y->type)
		return x == y;
	if (x->type == SF_JN_TYPE_ARRAY || x->type == SF_JN_TYPE_OBJECT)
		return x == y;
	return sf_jn_is_equal(ev, x, y);
}

/* Tell whether x is among the elements of y. */
static SfJnValue *
eval_in(SfJnEval *ev, SfJnValue *x, SfJnValue *y)
{
	if (x == NULL || y == NULL)
		return sf_jn_bool(false);
	if (!SF_JN_IS_ARRAY(y))
		return sf_jn_bool(is_identical(ev, x, y));
	for (uint32 i = 0; i < y->len; i++)
	{
		sf_jn_check(ev);
		if (is_identical(ev, x, y->u.items[i]))
			return sf_jn_bool(true);
	}
	return sf_jn_bool(false);
}

/*
 * Evaluate the right side of "and" and "or" as a boolean.  Its errors carry
 * the position and token of the operator, as in the reference implementation.
 */
static bool
eval_right_truth(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	volatile bool result = false;
	SfJnCall   *call = ev->call;
	SfJnCall   *outermost = ev->outermost;

	SF_JN_TRY(&ev->thrower);
	{
		result = sf_jn_is_true(ev, sf_jn_eval(ev, node->rhs, input, env));
	}
	SF_JN_CATCH(&ev->thrower);
	{
		SfJnError  *error = &ev->thrower.error;

		ev->call = call;
		ev->outermost = outermost;
		error->position = node->position;
		error->token = sf_jn_operator_text[node->op];
		error->token_len = strlen(error->token);
		sf_jn_raise(ev);
	}
	SF_JN_END(&ev->thrower);
	return result;
}

/* Evaluate a node with an infix operator. */
SfJnValue *
sf_jn_eval_binary(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *x = sf_jn_eval(ev, node->lhs, input, env);
	SfJnValue  *y;

	if (node->op == SF_JN_OP_AND)
		return sf_jn_bool(sf_jn_is_true(ev, x) && eval_right_truth(ev, node, input, env));
	if (node->op == SF_JN_OP_OR)
		return sf_jn_bool(sf_jn_is_true(ev, x) || eval_right_truth(ev, node, input, env));

	y = sf_jn_eval(ev, node->rhs, input, env);
	switch (node->op)
	{
		case SF_JN_OP_EQ:
		case SF_JN_OP_NE:
			sf_jn_check_nesting(ev, x);
			if (node->op == SF_JN_OP_NE)
				return sf_jn_bool(x != NULL && y != NULL && !sf_jn_is_equal(ev, x, y));
			return sf_jn_bool(x != NULL && y != NULL && sf_jn_is_equal(ev, x, y));
		case SF_JN_OP_LT:
		case SF_JN_OP_LE:
		case SF_JN_OP_GT:
		case SF_JN_OP_GE:
			return eval_comparison(ev, node, x, y);
		case SF_JN_OP_CONCAT:
			return eval_concat(ev, x, y);
		case SF_JN_OP_RANGE:
			return eval_range(ev, node, x, y);
		case SF_JN_OP_IN:
			return eval_in(ev, x, y);
		default:
			return eval_arithmetic(ev, node, x, y);
	}
}

/* --- the transform operator: a clone of the input, edited in place --- */

/* Merge the update of one match into it. */
static void
update_match(SfJnEval *ev, const SfJnFunction *function, SfJnValue *match)
{
	SfJnValue  *update = sf_jn_eval(ev, function->node->rhs, match, function->env);

	if (update == NULL)
		return;
	if (update->type != SF_JN_TYPE_OBJECT)
		sf_jn_fail_at(ev, function->node->rhs->position, SF_JN_ERROR_T2011, .value = update);
	if (SF_JN_IS_OBJECT(match))
		sf_jn_set_all(ev, match, update);
}

/* Remove what the delete clause names from one match. */
static void
delete_from_match(SfJnEval *ev, const SfJnFunction *function, SfJnValue *match)
{
	SfJnValue  *names = sf_jn_eval(ev, function->node->third, match, function->env);
	SfJnValue **items;
	uint32		n = sf_jn_items(&names, &items);

	if (names == NULL)
		return;
	for (uint32 i = 0; i < n; i++)
	{
		if (!SF_JN_IS_STRING(items[i]))
			sf_jn_fail_at(ev, function->node->third->position, SF_JN_ERROR_T2012, .value = names);
	}
	if (SF_JN_IS_OBJECT(match))
		sf_jn_delete(&ev->arena, match, items, n);
}

/* Apply a transform to an object or array. */
SfJnValue *
sf_jn_apply_transform(SfJnEval *ev, const SfJnFunction *function, SfJnValue *object)
{
	static SfJnName name = {NULL};
	SfJnValue  *clone;
	SfJnValue  *result;
	SfJnValue  *matches;
	SfJnValue **items;
	uint32		n;

	if (object == NULL)
		return NULL;
	if (object->type != SF_JN_TYPE_OBJECT && object->type != SF_JN_TYPE_ARRAY)
		sf_jn_fail(ev, SF_JN_ERROR_T0410, .value = object, .index = 1);
	if (name.str == NULL)
		name = sf_jn_name("clone", 5);
	clone = sf_jn_lookup(ev, function->env, &name);
	if (!SF_JN_IS_FUNCTION(clone))
		sf_jn_fail_at(ev, function->node->position, SF_JN_ERROR_T2013);
	result = sf_jn_apply(ev, clone, &object, 1, NULL, function->env);
	matches = sf_jn_eval(ev, function->node->lhs, result, function->env);
	if (matches == NULL)
		return result;
	n = sf_jn_items(&matches, &items);
	for (uint32 i = 0; i < n; i++)
	{
		sf_jn_check(ev);
		update_match(ev, function, items[i]);
		if (function->node->third != NULL)
			delete_from_match(ev, function, items[i]);
	}
	return result;
}
