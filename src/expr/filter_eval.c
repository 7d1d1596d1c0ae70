/*
 * filter_eval.c
 *		Evaluate the filters of a JSONPath for an element.
 *
 * A path in a filter that finds nothing is undefined.  Every test on undefined
 * fails except !=, !==, nin and noneof.  Strings are compared by their bytes.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "regex/regex.h"
#include "utils/memutils.h"

#include "base/time/watch.h"
#include "expr/path.h"

/* Evaluate an operand; false when it is undefined. */
bool
sf_operand_eval(const SfFilterOperand *operand, SfPathEnv *penv, JsonbValue *result)
{
	if (operand->kind == SF_FILTER_OPERAND_PATH)
		return sf_path_eval(operand->path, penv, result, NULL) == SF_PATH_STATUS_FOUND;
	*result = operand->literal;
	return operand->kind == SF_FILTER_OPERAND_LITERAL;
}

/* Tell whether a string is the text of a number that equals another. */
static bool
string_equals_number(const JsonbValue *string, const JsonbValue *number)
{
	/* two sets are compared a million times */
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow number in a string",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SfScanner	scanner;
	JsonbValue	parsed;
	bool		equal;

	sf_cursor_init(&scanner, pnstrdup(string->val.string.val, string->val.string.len), NULL);
	equal = sf_cursor_number(&scanner, &parsed) && scanner.p == scanner.end &&
		sf_json_order(&parsed, number) == 0;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return equal;
}

/* Tell whether two values are equal; a number equals its own text. */
static bool
values_equal(const JsonbValue *a, const JsonbValue *b)
{
	if (a->type == jbvString && b->type == jbvNumeric)
		return string_equals_number(a, b);
	if (a->type == jbvNumeric && b->type == jbvString)
		return string_equals_number(b, a);
	return sf_json_value_is_equal(a, b);
}

/* Test an order; only numbers have one, and strings. */
static bool
test_order(SfFilterOperator op, const JsonbValue *a, const JsonbValue *b)
{
	int			cmp;

	if (a->type != b->type || (a->type != jbvNumeric && a->type != jbvString))
		return false;
	cmp = sf_json_order(a, b);
	switch (op)
	{
		case SF_FILTER_OPERATOR_LT:
			return cmp < 0;
		case SF_FILTER_OPERATOR_LE:
			return cmp <= 0;
		case SF_FILTER_OPERATOR_GT:
			return cmp > 0;
		default:
			return cmp >= 0;
	}
}

/* Tell whether an array has an element that equals a value. */
static bool
array_has(SfPathEnv *penv, const JsonbValue *array, const JsonbValue *value)
{
	JsonbIterator *it = sf_json_elements(array);
	JsonbValue	element;

	while (sf_json_next(&it, &element) && !sf_env_is_late(penv->env, 1))
	{
		if (values_equal(&element, value))
			return true;
	}
	return false;
}

/* Count the elements of an array that another array has, or has not. */
static int
count_shared(SfPathEnv *penv, const JsonbValue *a, const JsonbValue *b)
{
	JsonbIterator *it = sf_json_elements(a);
	JsonbValue	element;
	int			shared = 0;

	while (sf_json_next(&it, &element) && !sf_env_is_late(penv->env, 1))
		shared += array_has(penv, b, &element);
	return shared;
}

/* Test two arrays as sets. */
static bool
test_sets(SfFilterOperator op, SfPathEnv *penv, const JsonbValue *a, const JsonbValue *b)
{
	int			shared;

	if (!sf_json_is_array(a) || !sf_json_is_array(b))
		return false;
	shared = count_shared(penv, a, b);
	switch (op)
	{
		case SF_FILTER_OPERATOR_SUBSETOF:
			return shared == sf_json_count(a);
		case SF_FILTER_OPERATOR_ANYOF:
			return shared > 0;
		default:
			return shared == 0;
	}
}

/* Measure a string in characters, an array or object in children; false: it is neither. */
bool
sf_value_size(const JsonbValue *value, int *size)
{
	*size = value->type == jbvString ? pg_mbstrlen_with_len(value->val.string.val, value->val.string.len) : sf_json_count(value);
	return *size != SF_JSON_NO_COUNT;
}

/* Tell whether a string contains another, or an array a value. */
static bool
test_contains(SfPathEnv *penv, const JsonbValue *a, const JsonbValue *b)
{
	if (a->type == jbvString && b->type == jbvString)
		return b->val.string.len == 0 ||
			memmem(a->val.string.val, a->val.string.len,
				   b->val.string.val, b->val.string.len) != NULL;
	return array_has(penv, a, b);
}

/* Bytes in which a search is over soon enough */
#define CHEAP_LEN	5000

/* A match of a string against a regular expression */
typedef struct RegexCall
{
	const SfFilterOperand *regex;
	const JsonbValue *string;
	bool		matches;
} RegexCall;

/* Match. */
static void
call_regex(void *arg)
{
	RegexCall  *call = arg;

	call->matches = RE_compile_and_execute(call->regex->regex, call->string->val.string.val,
										   call->string->val.string.len, call->regex->regex_flags,
										   C_COLLATION_OID, 0, NULL);
}

/* Match a string against a regular expression, as long as there is time. */
static bool
string_matches_regex(SfPathEnv *penv, const SfFilterOperand *regex, const JsonbValue *string)
{
	SfTimeLimit *limit = &penv->env->limit;
	RegexCall	call = {regex, string, false};

	if (limit->deadline == SF_TICK_UNSET || (string->val.string.len < CHEAP_LEN && !regex->regex_is_costly))
		call_regex(&call);
	else if (!sf_watch_run(limit->deadline, call_regex, &call))
		limit->is_over = true;
	return call.matches;
}

/* Match a string, or any string of an array, against a regular expression. */
static bool
test_match(SfPathEnv *penv, const SfFilterOperand *regex, const JsonbValue *value)
{
	JsonbIterator *it = sf_json_elements(value);
	JsonbValue	element;

	if (sf_env_is_late(penv->env, 1 + sf_env_work_of(value)))
		return false;
	if (value->type == jbvString)
		return string_matches_regex(penv, regex, value);
	while (sf_json_next(&it, &element) && !penv->env->limit.is_over)
	{
		if (element.type == jbvString && test_match(penv, regex, &element))
			return true;
	}
	return false;
}

/* Apply the operator of a test. */
static bool
test_accepts(const SfFilter *test, SfPathEnv *penv)
{
	JsonbValue	a;
	JsonbValue	b;
	bool		has_a;
	bool		has_b;
	int			size;

	if (test->op == SF_FILTER_OPERATOR_MATCH)
	{
		bool		left = test->a.kind == SF_FILTER_OPERAND_REGEX;

		return sf_operand_eval(left ? &test->b : &test->a, penv, &a) &&
			test_match(penv, left ? &test->a : &test->b, &a);
	}
	has_a = sf_operand_eval(&test->a, penv, &a);
	has_b = sf_operand_eval(&test->b, penv, &b);
	if (!has_a || !has_b)
		return test->op == SF_FILTER_OPERATOR_NE || test->op == SF_FILTER_OPERATOR_NOT_SAME ||
			test->op == SF_FILTER_OPERATOR_NIN || test->op == SF_FILTER_OPERATOR_NONEOF;

	if (sf_env_is_late(penv->env, sf_env_work_of(&a) + sf_env_work_of(&b)))
		return false;
	switch (test->op)
	{
		case SF_FILTER_OPERATOR_SAME:
			return sf_json_value_is_equal(&a, &b);
		case SF_FILTER_OPERATOR_NOT_SAME:
			return !sf_json_value_is_equal(&a, &b);
		case SF_FILTER_OPERATOR_EQ:
			return values_equal(&a, &b);
		case SF_FILTER_OPERATOR_NE:
			return !values_equal(&a, &b);
		case SF_FILTER_OPERATOR_LT:
		case SF_FILTER_OPERATOR_LE:
		case SF_FILTER_OPERATOR_GT:
		case SF_FILTER_OPERATOR_GE:
			return test_order(test->op, &a, &b);
		case SF_FILTER_OPERATOR_IN:
			return array_has(penv, &b, &a);
		case SF_FILTER_OPERATOR_NIN:
			return !array_has(penv, &b, &a);
		case SF_FILTER_OPERATOR_ALL:
			return test_sets(SF_FILTER_OPERATOR_SUBSETOF, penv, &b, &a);
		case SF_FILTER_OPERATOR_SUBSETOF:
		case SF_FILTER_OPERATOR_ANYOF:
		case SF_FILTER_OPERATOR_NONEOF:
			return test_sets(test->op, penv, &a, &b);
		case SF_FILTER_OPERATOR_SIZE:
			{
				int64		wanted;

				return sf_json_to_int64(&b, &wanted) && sf_value_size(&a, &size) && size == wanted;
			}
		case SF_FILTER_OPERATOR_EMPTY:
			return b.type == jbvBool && sf_value_size(&a, &size) && (size == 0) == b.val.boolean;
		case SF_FILTER_OPERATOR_CONTAINS:
			return test_contains(penv, &a, &b);
		case SF_FILTER_OPERATOR_MATCH:
			break;
	}
	return false;
}

/*
 * Tell whether an operand that stands by itself exists: it leads somewhere,
 * to something else than null; an indefinite path has a match.  A literal is
 * taken at its word.
 */
static bool
operand_exists(const SfFilterOperand *operand, SfPathEnv *penv)
{
	JsonbValue	value;

	if (!sf_operand_eval(operand, penv, &value) || value.type == jbvNull)
		return false;
	if (operand->kind == SF_FILTER_OPERAND_PATH)
		return operand->path->definite || sf_json_count(&value) > 0;
	return value.type != jbvBool || value.val.boolean;
}

/* Evaluate a filter's tree. */
static bool
filter_accepts(const SfFilter *filter, SfPathEnv *penv)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (sf_env_is_late(penv->env, 1))
		return false;
	switch (filter->kind)
	{
		case SF_FILTER_KIND_OR:
			return filter_accepts(filter->left, penv) ||
				filter_accepts(filter->right, penv);
		case SF_FILTER_KIND_AND:
			return filter_accepts(filter->left, penv) &&
				filter_accepts(filter->right, penv);
		case SF_FILTER_KIND_NOT:
			return !filter_accepts(filter->left, penv);
		case SF_FILTER_KIND_EXISTS:
			return operand_exists(&filter->a, penv);
		case SF_FILTER_KIND_TEST:
			return test_accepts(filter, penv);
	}
	return false;
}

/* Tell whether a node passes a filter. */
bool
sf_filter_accepts(const SfFilter *filter, SfPathEnv *penv,
				  const JsonbValue *node)
{
	SfPathEnv	inner = *penv;

	inner.current = node;
	return filter_accepts(filter, &inner);
}
