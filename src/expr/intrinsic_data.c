/*
 * intrinsic_data.c
 *		Intrinsic functions on arrays, JSON and numbers.
 */
#include "postgres.h"

#include "common/int.h"
#include "common/pg_prng.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "base/value/random.h"
#include "expr/intrinsic.h"

/* Elements that States.ArrayRange makes at most; the service stops at 1,000. */
#define MAX_RANGE	1000000

/* Give an array under construction as the result. */
static bool
return_array(SfIntrinsicCall *call, SfJsonBuilder *json)
{
	sf_json_root(sf_json_end(json), call->result);
	return true;
}

/* States.Array(v, …): its arguments as an array. */
bool
sf_intrinsic_array(SfIntrinsicCall *call)
{
	sf_json_root(sf_json_array_of(call->args, call->nargs), call->result);
	return true;
}

/* States.ArrayContains(array, v): is there an element that equals v? */
bool
sf_intrinsic_array_contains(SfIntrinsicCall *call)
{
	JsonbIterator *it = sf_json_elements(&call->args[0]);
	JsonbValue	element;
	bool		found = false;

	while (!found && sf_json_next(&it, &element))
	{
		if (sf_env_is_late(call->env, 1))
			return false;
		found = sf_json_value_is_equal(&element, &call->args[1]);
	}
	call->result->type = jbvBool;
	call->result->val.boolean = found;
	return true;
}

/* States.ArrayGetItem(array, index): the element, counted from 0. */
bool
sf_intrinsic_array_get_item(SfIntrinsicCall *call)
{
	int64		index;

	if (!sf_json_to_int64(&call->args[1], &index) ||
		!sf_json_element(&call->args[0], index, call->result))
		return sf_intrinsic_refuse(call, NULL);
	return true;
}

/* States.ArrayLength(array). */
bool
sf_intrinsic_array_length(SfIntrinsicCall *call)
{
	sf_json_value_int(call->result, sf_json_count(&call->args[0]));
	return true;
}

/* States.ArrayPartition(array, n): arrays of n elements, the last of the rest. */
bool
sf_intrinsic_array_partition(SfIntrinsicCall *call)
{
	SfJsonBuilder json;
	JsonbIterator *it = sf_json_elements(&call->args[0]);
	JsonbValue	element;
	int64		n = 0;

	if (call->integers[1] <= 0)
		return sf_intrinsic_refuse(call, NULL);
	sf_json_begin_array(&json);
	while (sf_json_next(&it, &element))
	{
		if (n == 0)
			sf_json_open_array(&json, NULL);
		sf_json_add_value(&json, NULL, &element);
		if (++n == call->integers[1])
		{
			sf_json_close_array(&json);
			n = 0;
		}
	}
	if (n > 0)
		sf_json_close_array(&json);
	return return_array(call, &json);
}

/* States.ArrayRange(first, last, step): the numbers, both ends included. */
bool
sf_intrinsic_array_range(SfIntrinsicCall *call)
{
	SfJsonBuilder json;
	int64		first = call->integers[0];
	int64		last = call->integers[1];
	int64		step = call->integers[2];

	if (step == 0)
		return sf_intrinsic_refuse(call, NULL);
	/* in double: the difference of two int64 may overflow */
	if (((double) last - (double) first) / (double) step >= MAX_RANGE)
		return sf_intrinsic_refuse(call, "too many elements");
	sf_json_begin_array(&json);
	while (step > 0 ? first <= last : first >= last)
	{
		CHECK_FOR_INTERRUPTS();
		sf_json_add_int(&json, NULL, first);
		if (pg_add_s64_overflow(first, step, &first))
			break;
	}
	return return_array(call, &json);
}

/* One element that was met, in a chain of those with the same hash */
typedef struct SeenElement
{
	JsonbValue	value;
	struct SeenElement *next;
} SeenElement;

/* Hash a value so that equal ones (1 and 1.0) hash alike. */
static uint32
hash_value(const JsonbValue *value)
{
	Jsonb	   *document = sf_json_make(value);
	uint32		hash = DatumGetUInt32(DirectFunctionCall1(jsonb_hash,
														  JsonbPGetDatum(document)));

	pfree(document);
	return hash;
}

/* States.ArrayUnique(array): without what equals an earlier element. */
bool
sf_intrinsic_array_unique(SfIntrinsicCall *call)
{
	SfJsonBuilder json;
	JsonbIterator *it = sf_json_elements(&call->args[0]);
	JsonbValue	element;
	SeenElement **table;
	Size		nbuckets = 64;

	while (nbuckets < (Size) sf_json_count(&call->args[0]))
		nbuckets *= 2;
	table = MemoryContextAllocHuge(CurrentMemoryContext, nbuckets * sizeof(SeenElement *));
	memset(table, 0, nbuckets * sizeof(SeenElement *));

	sf_json_begin_array(&json);
	while (sf_json_next(&it, &element))
	{
		SeenElement **bucket = &table[hash_value(&element) & (nbuckets - 1)];
		SeenElement *seen;

		for (seen = *bucket; seen != NULL; seen = seen->next)
		{
			if (sf_env_is_late(call->env, 1 + sf_env_work_of(&element)))
				return false;
			if (sf_json_value_is_equal(&seen->value, &element))
				break;
		}
		if (seen != NULL)
			continue;
		seen = palloc(sizeof(SeenElement));
		seen->value = element;
		seen->next = *bucket;
		*bucket = seen;
		sf_json_add_value(&json, NULL, &element);
	}
	return return_array(call, &json);
}

/* --- intrinsic functions over JSON data and over numbers --- */

/* States.JsonMerge(a, b, false): the members of b over those of a. */
bool
sf_intrinsic_json_merge(SfIntrinsicCall *call)
{
	if (call->args[2].type != jbvBool || call->args[2].val.boolean)
		return sf_intrinsic_refuse(call, NULL);
	sf_json_root(sf_json_merge(sf_json_make(&call->args[0]),
							   sf_json_make(&call->args[1])),
				 call->result);
	return true;
}

/* States.JsonToString(v): compact JSON text. */
bool
sf_intrinsic_json_to_string(SfIntrinsicCall *call)
{
	StringInfoData buf;

	initStringInfo(&buf);
	if (!sf_json_append_text_within(&buf, &call->args[0], sf_env_may_make(call->env)))
		return sf_env_make(call->env, SIZE_MAX, call->error);
	sf_json_value_string(call->result, buf.data, buf.len);
	return true;
}

/* States.StringToJson(string): what the text says; null for a blank one. */
bool
sf_intrinsic_string_to_json(SfIntrinsicCall *call)
{
	const JsonbValue *arg = &call->args[0];
	Jsonb	   *document;
	int			i;

	for (i = 0; i < arg->val.string.len; i++)
	{
		if (strchr(" \t\r\n", arg->val.string.val[i]) == NULL)
			break;
	}
	if (i == arg->val.string.len)
	{
		call->result->type = jbvNull;
		return true;
	}
	if (!sf_json_parse(arg->val.string.val, arg->val.string.len, &document))
		return sf_intrinsic_refuse(call, NULL);
	sf_json_root(document, call->result);
	return true;
}

/* States.MathAdd(a, b): the sum of both, each rounded half up first. */
bool
sf_intrinsic_math_add(SfIntrinsicCall *call)
{
	int64		sum;

	if (pg_add_s64_overflow(call->integers[0], call->integers[1], &sum))
		return sf_intrinsic_refuse(call, NULL);
	sf_json_value_int(call->result, sum);
	return true;
}

/* Draw a number below a bound from a seed, as java.util.Random.nextInt does. */
static uint64
java_random(int64 seed, uint64 bound)
{
	uint64		state = sf_java_random_seed(seed);

	if (bound > PG_INT32_MAX)
	{
		uint64		high = sf_java_random_bits(&state, 32);

		return (high << 32 | sf_java_random_bits(&state, 32)) % bound;
	}
	if ((bound & (bound - 1)) == 0)
		return (bound * (uint64) sf_java_random_bits(&state, 31)) >> 31;
	for (;;)
	{
		int32		bits = (int32) sf_java_random_bits(&state, 31);
		int32		value = bits % (int32) bound;

		/* the last, incomplete run of values would favour small ones */
		if ((int64) bits - value + (int64) bound - 1 <= PG_INT32_MAX)
			return (uint64) value;
	}
}

/*
 * States.MathRandom(from, to [, seed]): a random integer, from included and
 * to excluded.
 */
bool
sf_intrinsic_math_random(SfIntrinsicCall *call)
{
	uint64		from = (uint64) call->integers[0];
	uint64		range = (uint64) call->integers[1] - from;

	if (call->integers[0] >= call->integers[1])
		return sf_intrinsic_refuse(call, NULL);
	sf_json_value_int(call->result, (int64)
					  (from + (call->nargs > 2 ? java_random(call->integers[2], range) :
							   pg_prng_uint64_range(&pg_global_prng_state, 0, range - 1))));
	return true;
}
