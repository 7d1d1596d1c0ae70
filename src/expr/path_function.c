/*
 * path_function.c
 *		Functions that a JSONPath may end in: $.prices.sum(), $.a.length().
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "expr/path.h"

/* Running totals of the numbers that a function looks at */
typedef struct Totals
{
	SfPathFunction function;	/* which of the totals are wanted */
	int64		count;
	Numeric		value;			/* smallest, largest, or sum; own memory */
	Numeric		sum_of_squares;
} Totals;

#define CALL1(fn, a) \
	DatumGetNumeric(DirectFunctionCall1(fn, NumericGetDatum(a)))
#define CALL2(fn, a, b) \
	DatumGetNumeric(DirectFunctionCall2(fn, NumericGetDatum(a), NumericGetDatum(b)))

/* Add a number to a total, which is in its own memory or NULL. */
static Numeric
add_to(Numeric total, Numeric n)
{
	Numeric		sum;

	if (total == NULL)
		return DatumGetNumericCopy(NumericGetDatum(n));
	sum = CALL2(numeric_add, total, n);
	pfree(total);
	return sum;
}

/* Take a number into the totals. */
static void
add_number(Totals *t, Numeric n)
{
	t->count++;
	if (t->function == SF_PATH_FUNCTION_MIN || t->function == SF_PATH_FUNCTION_MAX)
	{
		t->value = t->value == NULL ? n : t->function == SF_PATH_FUNCTION_MIN ?
			CALL2(numeric_smaller, t->value, n) : CALL2(numeric_larger, t->value, n);
		return;
	}
	t->value = add_to(t->value, n);
	if (t->function == SF_PATH_FUNCTION_STDDEV)
	{
		Numeric		square = CALL2(numeric_mul, n, n);

		t->sum_of_squares = add_to(t->sum_of_squares, square);
		pfree(square);
	}
}

/* Take the numbers of an array, or a number by itself, into the totals. */
static void
add_numbers(Totals *t, const JsonbValue *v)
{
	JsonbIterator *it = sf_json_elements(v);
	JsonbValue	element;

	if (v->type == jbvNumeric)
		add_number(t, v->val.numeric);
	while (sf_json_next(&it, &element))
	{
		if (element.type == jbvNumeric)
			add_number(t, element.val.numeric);
	}
}

/* Compute the standard deviation of the whole population. */
static Numeric
standard_deviation(const Totals *t)
{
	Numeric		count = int64_to_numeric(t->count);
	Numeric		mean = CALL2(numeric_div, t->value, count);
	Numeric		variance = CALL2(numeric_sub,
								 CALL2(numeric_div, t->sum_of_squares, count),
								 CALL2(numeric_mul, mean, mean));
	Numeric		zero = int64_to_numeric(0);

	/* Rounding may leave a hair below zero, of which there is no root. */
	return CALL1(numeric_sqrt, CALL2(numeric_larger, variance, zero));
}

/* Aggregate the numbers of the subject and of the arguments. */
static bool
call_aggregate(const SfPathStep *step, SfPathEnv *penv, const JsonbValue *subject,
			   JsonbValue *result, SfError *err)
{
	Totals		t;
	Numeric		value;
	JsonbValue	v;

	memset(&t, 0, sizeof(t));
	t.function = step->function;
	if (sf_json_is_array(subject))
		add_numbers(&t, subject);
	for (int i = 0; i < step->nargs; i++)
	{
		if (sf_operand_eval(&step->args[i], penv, &v))
			add_numbers(&t, &v);
	}
	if (t.count == 0)
		return sf_error_set(err, SF_ERR_RUNTIME,
							"Aggregation function attempted to calculate value using empty array");
	value = t.value;
	if (step->function == SF_PATH_FUNCTION_AVG)
		value = CALL2(numeric_div, t.value, int64_to_numeric(t.count));
	else if (step->function == SF_PATH_FUNCTION_STDDEV)
		value = standard_deviation(&t);
	result->type = jbvNumeric;
	result->val.numeric = CALL1(numeric_trim_scale, value);
	return true;
}

/* Append the text of a scalar, or of the scalars of an array. */
static void
append_scalars(StringInfo buf, const JsonbValue *v)
{
	JsonbIterator *it = sf_json_elements(v);
	JsonbValue	element;

	if (v->type == jbvString)
		appendBinaryStringInfo(buf, v->val.string.val, v->val.string.len);
	else if (v->type == jbvNumeric || v->type == jbvBool)
		sf_json_append_text(buf, v);
	while (sf_json_next(&it, &element))
	{
		if (element.type != jbvBinary)
			append_scalars(buf, &element);
	}
}

/* Join texts: those of the subject when it is an array, then the arguments. */
static bool
call_concat(const SfPathStep *step, SfPathEnv *penv, const JsonbValue *subject,
			JsonbValue *result, SfError *err)
{
	StringInfoData buf;
	JsonbValue	v;

	initStringInfo(&buf);
	if (sf_json_is_array(subject))
		append_scalars(&buf, subject);
	for (int i = 0; i < step->nargs; i++)
	{
		if (sf_operand_eval(&step->args[i], penv, &v))
			append_scalars(&buf, &v);
	}
	sf_json_value_string(result, buf.data, buf.len);
	return true;
}

/* Measure an array, an object or a string (in characters). */
static bool
call_length(const SfPathStep *step, SfPathEnv *penv, const JsonbValue *subject,
			JsonbValue *result, SfError *err)
{
	JsonbValue	v = *subject;
	int			length;

	if (step->nargs > 0 && !sf_operand_eval(&step->args[0], penv, &v))
		return sf_error_set(err, SF_ERR_RUNTIME, "length() of nothing");
	if (!sf_value_size(&v, &length))
		return sf_error_set(err, SF_ERR_RUNTIME, "length() of a %s",
							sf_json_type_name(&v));
	sf_json_value_int(result, length);
	return true;
}

/* List the names of an object's members. */
static bool
call_keys(const SfPathStep *step, SfPathEnv *penv, const JsonbValue *subject,
		  JsonbValue *result, SfError *err)
{
	SfJsonBuilder b;
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	v;

	if (!sf_json_is_object(subject))
		return sf_error_set(err, SF_ERR_RUNTIME, "keys() of a %s",
							sf_json_type_name(subject));
	sf_json_begin_array(&b);
	it = JsonbIteratorInit(subject->val.binary.data);
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (token == WJB_KEY)
			sf_json_add_value(&b, NULL, &v);
	}
	sf_json_root(sf_json_finish(&b), result);
	return true;
}

/* Take one element of an array. */
static bool
call_element(const SfPathStep *step, SfPathEnv *penv, const JsonbValue *subject,
			 JsonbValue *result, SfError *err)
{
	int64		index = step->function == SF_PATH_FUNCTION_LAST ? -1 : 0;
	JsonbValue	v;

	if (!sf_json_is_array(subject))
		return sf_error_set(err, SF_ERR_RUNTIME, "element of a %s",
							sf_json_type_name(subject));
	if (step->function == SF_PATH_FUNCTION_INDEX &&
		(!sf_operand_eval(&step->args[0], penv, &v) ||
		 !sf_json_to_int64(&v, &index)))
		return sf_error_set(err, SF_ERR_RUNTIME, "index() needs an integer");
	if (index < 0)
		index += sf_json_count(subject);
	if (!sf_json_element(subject, index, result))
		return sf_error_set(err, SF_ERR_RUNTIME,
							"element " INT64_FORMAT " is out of bounds", index);
	return true;
}

#define FUNCTION(sym, name, min, max, call) call,
static bool (*const functions[]) (const SfPathStep *step, SfPathEnv *penv,
								  const JsonbValue *subject, JsonbValue *result,
								  SfError *err) =
{
	SF_PATH_FUNCTION_LIST(FUNCTION)
};

/* Apply a function to a value; false with the reason where it can't be. */
bool
sf_path_function_call(const SfPathStep *step, SfPathEnv *penv,
					  const JsonbValue *subject, JsonbValue *result,
					  SfError *err)
{
	return functions[step->function] (step, penv, subject, result, err);
}
