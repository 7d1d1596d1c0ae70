/*
 * intrinsic_data.c
 *		Intrinsic functions over JSON data and over numbers.
 */
#include "postgres.h"

#include "common/int.h"
#include "common/pg_prng.h"

#include "base/java_random.h"
#include "expr/intrinsic.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"

/* States.JsonMerge(a, b, false): the members of b over those of a. */
bool
sf_intrinsic_json_merge(SfIntrinsicCall *call)
{
	if (call->args[2].type != jbvBool || call->args[2].val.boolean)
		return sf_intrinsic_invalid(call, NULL);
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
		return sf_env_make(call->env, SIZE_MAX, call->err);
	sf_json_value_string(call->result, buf.data, buf.len);
	return true;
}

/* States.StringToJson(string): what the text says; null for a blank one. */
bool
sf_intrinsic_string_to_json(SfIntrinsicCall *call)
{
	const JsonbValue *arg = &call->args[0];
	Jsonb	   *doc;
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
	if (!sf_json_parse(arg->val.string.val, arg->val.string.len, &doc))
		return sf_intrinsic_invalid(call, NULL);
	sf_json_root(doc, call->result);
	return true;
}

/* States.MathAdd(a, b): the sum of both, each rounded half up first. */
bool
sf_intrinsic_math_add(SfIntrinsicCall *call)
{
	int64		sum;

	if (pg_add_s64_overflow(call->integers[0], call->integers[1], &sum))
		return sf_intrinsic_invalid(call, NULL);
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
		return sf_intrinsic_invalid(call, NULL);
	sf_json_value_int(call->result, (int64)
					  (from + (call->nargs > 2 ? java_random(call->integers[2], range) :
							   pg_prng_uint64_range(&pg_global_prng_state, 0, range - 1))));
	return true;
}
