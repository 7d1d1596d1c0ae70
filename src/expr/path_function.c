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
	SfEnv	   *env;			/* whose time it takes */
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

/* Estimate the work of an operation on a number: as the square of its length, that of a product. */
static uint32
work_on(Numeric n)
{
	uint32		length = VARSIZE_ANY(n) / 256;

	return length * length;
}

/* Take a number into the totals. */
static void
add_number(Totals *totals, Numeric n)
{
	if (sf_env_is_late(totals->env, work_on(n) + (totals->value == NULL ? 0 : work_on(totals->value))))
		return;
	totals->count++;
	if (totals->function == SF_PATH_FUNCTION_MIN || totals->function == SF_PATH_FUNCTION_MAX)
	{
		totals->value = totals->value == NULL ? n : totals->function == SF_PATH_FUNCTION_MIN ?
			CALL2(numeric_smaller, totals->value, n) : CALL2(numeric_larger, totals->value, n);
		return;
	}
	totals->value = add_to(totals->value, n);
	if (totals->function == SF_PATH_FUNCTION_STDDEV)
	{
		Numeric		square = CALL2(numeric_mul, n, n);

		totals->sum_of_squares = add_to(totals->sum_of_squares, square);
		pfree(square);
	}
}

/* Take the numbers of an array, or a number by itself, into the totals. */
static void
add_numbers(Totals *totals, const JsonbValue *value)
{
	JsonbIterator *it = sf_json_elements(value);
	JsonbValue	element;

	if (value->type == jbvNumeric)
		add_number(totals, value->val.numeric);
	while (sf_json_next(&it, &element) && !sf_env_is_late(totals->env, 1))
	{
		if (element.type == jbvNumeric)
			add_number(totals, element.val.numeric);
	}
}

/* Compute the standard deviation of the whole population. */
static Numeric
standard_deviation(const Totals *totals)
{
	Numeric		count = int64_to_numeric(totals->count);
	Numeric		mean = CALL2(numeric_div, totals->value, count);
	Numeric		variance = CALL2(numeric_sub,
								 CALL2(numeric_div, totals->sum_of_squares, count),
								 CALL2(numeric_mul, mean, mean));
	Numeric		zero = int64_to_numeric(0);

	/* Rounding may leave a hair below zero, of which there is no root. */
	return CALL1(numeric_sqrt, CALL2(numeric_larger, variance, zero));
}

/* Aggregate the numbers of the subject and of the arguments. */
static bool
call_aggregate(const SfPathStep *step, SfPathEnv *penv, const JsonbValue *subject,
			   JsonbValue *result, SfError *error)
{
	Totals		totals;
	Numeric		value;
	JsonbValue	v;

	memset(&totals, 0, sizeof(totals));
	totals.function = step->function;
	totals.env = penv->env;
	if (sf_json_is_array(subject))
		add_numbers(&totals, subject);
	for (int i = 0; i < step->nargs; i++)
	{
		if (sf_operand_eval(&step->args[i], penv, &v))
			add_numbers(&totals, &v);
	}
	if (totals.count == 0)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"Aggregation function attempted to calculate value using empty array");
	value = totals.value;
	if (step->function == SF_PATH_FUNCTION_AVG)
		value = CALL2(numeric_div, totals.value, int64_to_numeric(totals.count));
	else if (step->function == SF_PATH_FUNCTION_STDDEV)
		value = standard_deviation(&totals);
	result->type = jbvNumeric;
	result->val.numeric = CALL1(numeric_trim_scale, value);
	return true;
}

/* Append the text of a scalar, or of the scalars of an array. */
static void
append_scalars(StringInfo buf, SfPathEnv *penv, const JsonbValue *value)
{
	JsonbIterator *it = sf_json_elements(value);
	JsonbValue	element;

	if (sf_env_is_late(penv->env, 1 + (value->type == jbvString ? sf_env_work_of(value) : 0)))
		return;
	if (value->type == jbvString)
		appendBinaryStringInfo(buf, value->val.string.val, value->val.string.len);
	else if (value->type == jbvNumeric || value->type == jbvBool)
		sf_json_append_text(buf, value);
	while (sf_json_next(&it, &element))
	{
		if (element.type != jbvBinary)
			append_scalars(buf, penv, &element);
	}
}

/* Join texts: those of the subject when it is an array, then the arguments. */
static bool
call_concat(const SfPathStep *step, SfPathEnv *penv, const JsonbValue *subject,
			JsonbValue *result, SfError *error)
{
	StringInfoData buf;
	JsonbValue	value;

	initStringInfo(&buf);
	if (sf_json_is_array(subject))
		append_scalars(&buf, penv, subject);
	for (int i = 0; i < step->nargs; i++)
	{
		if (sf_operand_eval(&step->args[i], penv, &value))
			append_scalars(&buf, penv, &value);
	}
	sf_json_value_string(result, buf.data, buf.len);
	return true;
}

/* Measure an array, an object or a string (in characters). */
static bool
call_length(const SfPathStep *step, SfPathEnv *penv, const JsonbValue *subject,
			JsonbValue *result, SfError *error)
{
	JsonbValue	value = *subject;
	int			length;

	if (step->nargs > 0 && !sf_operand_eval(&step->args[0], penv, &value))
		return sf_error_set(error, SF_ERR_RUNTIME, "length() of nothing");
	if (!sf_value_size(&value, &length))
		return sf_error_set(error, SF_ERR_RUNTIME, "length() of a %s",
							sf_json_type_name(&value));
	sf_json_value_int(result, length);
	return true;
}

/* List the names of an object's members. */
static bool
call_keys(const SfPathStep *step, SfPathEnv *penv, const JsonbValue *subject,
		  JsonbValue *result, SfError *error)
{
	SfJsonBuilder json;
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	value;

	if (!sf_json_is_object(subject))
		return sf_error_set(error, SF_ERR_RUNTIME, "keys() of a %s",
							sf_json_type_name(subject));
	sf_json_begin_array(&json);
	it = JsonbIteratorInit(subject->val.binary.data);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (token == WJB_KEY)
			sf_json_add_value(&json, NULL, &value);
	}
	sf_json_root(sf_json_end(&json), result);
	return true;
}

/* Take one element of an array. */
static bool
call_element(const SfPathStep *step, SfPathEnv *penv, const JsonbValue *subject,
			 JsonbValue *result, SfError *error)
{
	int64		index = step->function == SF_PATH_FUNCTION_LAST ? -1 : 0;
	JsonbValue	value;

	if (!sf_json_is_array(subject))
		return sf_error_set(error, SF_ERR_RUNTIME, "element of a %s",
							sf_json_type_name(subject));
	if (step->function == SF_PATH_FUNCTION_INDEX &&
		(!sf_operand_eval(&step->args[0], penv, &value) ||
		 !sf_json_to_int64(&value, &index)))
		return sf_error_set(error, SF_ERR_RUNTIME, "index() needs an integer");
	if (index < 0)
		index += sf_json_count(subject);
	if (!sf_json_element(subject, index, result))
		return sf_error_set(error, SF_ERR_RUNTIME,
							"element " INT64_FORMAT " is out of bounds", index);
	return true;
}

#define FUNCTION(sym, name, min, max, call) call,
static bool (*const functions[]) (const SfPathStep *step, SfPathEnv *penv,
								  const JsonbValue *subject, JsonbValue *result,
								  SfError *error) =
{
	SF_PATH_FUNCTION_LIST(FUNCTION)
};

/* Apply a function to a value; false with the reason where it can't be. */
bool
sf_path_function_call(const SfPathStep *step, SfPathEnv *penv,
					  const JsonbValue *subject, JsonbValue *result,
					  SfError *error)
{
	return functions[step->function] (step, penv, subject, result, error);
}
