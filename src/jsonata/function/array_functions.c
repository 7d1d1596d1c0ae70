/*
 * array_functions.c
 *		The library: arrays, and functions that call a function per item.
 */
#include "postgres.h"

#include "common/pg_prng.h"

#include "jsonata/function/functions.h"

/* $append(x, y) */
SF_JN_LIBRARY_FUNCTION(append)
{
	return sf_jn_append(&ev->arena, args[0], args[1]);
}

/* $reverse(array) */
SF_JN_LIBRARY_FUNCTION(reverse)
{
	SfJnValue  *result;

	if (args[0]->len <= 1)
		return args[0];
	result = sf_jn_array(&ev->arena, args[0]->len);
	for (uint32 i = args[0]->len; i > 0; i--)
		sf_jn_push(&ev->arena, result, args[0]->u.items[i - 1]);
	return result;
}

/* $shuffle(array) */
SF_JN_LIBRARY_FUNCTION(shuffle)
{
	SfJnValue  *result;

	if (args[0]->len <= 1)
		return args[0];
	result = sf_jn_array(&ev->arena, args[0]->len);
	sf_jn_push_all(&ev->arena, result, args[0]);
	for (uint32 i = result->len - 1; i > 0; i--)
	{
		uint32		k = (uint32) pg_prng_uint64_range(&pg_global_prng_state, 0, i);
		SfJnValue  *swap = result->u.items[i];

		result->u.items[i] = result->u.items[k];
		result->u.items[k] = swap;
	}
	return result;
}

/* Values inside a value that its hash looks at, about */
#define HASH_BUDGET 512

static uint32 hash_value(const SfJnValue *value, int budget);

/* Tell whether a value has values inside. */
static bool
is_container(const SfJnValue *value)
{
	return value != NULL && (value->type == SF_JN_TYPE_ARRAY || value->type == SF_JN_TYPE_OBJECT);
}

/* Hash a part of a container; of a container in it without a budget, only the length. */
static uint32
hash_part(const SfJnValue *value, int budget)
{
	return is_container(value) && budget <= 0 ? value->len : hash_value(value, budget);
}

/* Divide what a budget leaves beside the scalars of a container among the containers in it. */
static int
share_budget(int budget, int parts, int containers)
{
	return containers == 0 ? 0 : (budget - parts) / containers;
}

/* Find the i-th of n elements of an array, half of which are the last ones. */
static const SfJnValue *
hashed_element(const SfJnValue *array, uint32 n, uint32 i)
{
	return array->u.items[i < (n + 1) / 2 ? i : array->len - n + i];
}

/* Hash an array: as many elements as the budget has, half of them from the end. */
static uint32
hash_array(const SfJnValue *array, uint32 h, int budget)
{
	uint32		n = Min(array->len, (uint32) Max(budget, 8));
	int			containers = 0;
	int			share;

	for (uint32 i = 0; i < n; i++)
		containers += is_container(hashed_element(array, n, i));
	share = share_budget(budget, (int) n, containers);
	for (uint32 i = 0; i < n; i++)
		h = h * 31 + hash_part(hashed_element(array, n, i), share);
	return h + array->len;
}

/* Hash an object, all of its members, in whatever order they are. */
static uint32
hash_object(const SfJnValue *object, uint32 h, int budget)
{
	int			containers = 0;
	int			share;

	for (uint32 i = 0; i < object->len; i++)
		containers += is_container(object->u.members[i].value);
	share = share_budget(budget, (int) Min(object->len, HASH_BUDGET), containers);
	for (uint32 i = 0; i < object->len; i++)
	{
		const SfJnMember *member = &object->u.members[i];

		/* multiplied, so that two members that change places change the sum */
		h += (member->hash | 1) * (hash_part(member->value, share) + 31);
	}
	return h + object->len;
}

/* Hash a value so that equal values hash alike. */
static uint32
hash_value(const SfJnValue *value, int budget)
{
	uint32		h;

	if (value == NULL)
		return 0;
	h = value->type * 2654435761u;
	switch ((SfJnType) value->type)
	{
		case SF_JN_TYPE_NULL:
			return h;
		case SF_JN_TYPE_BOOL:
			return h + value->u.boolean;
		case SF_JN_TYPE_NUMBER:
			{
				double		d = value->u.number == 0 ? 0 : value->u.number;

				return h ^ sf_jn_hash((const char *) &d, sizeof(d));
			}
		case SF_JN_TYPE_STRING:
			return h ^ sf_jn_hash(value->u.str, value->len);
		case SF_JN_TYPE_ARRAY:
			return hash_array(value, h, budget);
		case SF_JN_TYPE_OBJECT:
			return hash_object(value, h, budget);
		case SF_JN_TYPE_FUNCTION:
			return h;
	}
	return h;
}

/* $distinct(array) */
SF_JN_LIBRARY_FUNCTION(distinct)
{
	SfJnValue  *list = args[0];
	SfJnValue  *result;
	uint32	   *table;
	uint32		size = 16;

	if (!SF_JN_IS_ARRAY(list) || list->len <= 1)
		return list;
	sf_jn_check_nesting(ev, list);
	while (size < list->len * 2)
		size *= 2;
	table = sf_jn_alloc(&ev->arena, size * sizeof(uint32));
	memset(table, 0, size * sizeof(uint32));
	result = SF_JN_IS_SEQUENCE(list) ? sf_jn_sequence(&ev->arena, 4) :
		sf_jn_array(&ev->arena, 4);
	for (uint32 i = 0; i < list->len; i++)
	{
		SfJnValue  *value = list->u.items[i];
		uint32		slot = hash_value(value, HASH_BUDGET) & (size - 1);

		sf_jn_check(ev);
		while (table[slot] != 0 && !sf_jn_is_equal(ev, result->u.items[table[slot] - 1], value))
			slot = (slot + 1) & (size - 1);
		if (table[slot] != 0)
			continue;
		sf_jn_push(&ev->arena, result, value);
		table[slot] = result->len;
	}
	return result;
}

/* $zip(array, …) */
SF_JN_LIBRARY_FUNCTION(zip)
{
	SfJnValue  *result = sf_jn_array(&ev->arena, 4);
	uint32		shortest = PG_UINT32_MAX;

	for (int k = 0; k < nargs; k++)
		shortest = Min(shortest, SF_JN_IS_ARRAY(args[k]) ? args[k]->len : 0);
	for (uint32 i = 0; nargs > 0 && i < shortest; i++)
	{
		SfJnValue  *tuple = sf_jn_array(&ev->arena, nargs);

		for (int k = 0; k < nargs; k++)
			sf_jn_push(&ev->arena, tuple, args[k]->u.items[i]);
		sf_jn_push(&ev->arena, result, tuple);
	}
	return result;
}

/* Default order of $sort. */
static bool
default_swap(SfJnEval *ev, void *arg, SfJnValue *a, SfJnValue *b)
{
	if (a->type == SF_JN_TYPE_NUMBER)
		return a->u.number > b->u.number;
	return sf_jn_compare_strings(a, b) > 0;
}

/* Order of $sort with a function: JavaScript's truth of what it returns. */
static bool
function_swap(SfJnEval *ev, void *arg, SfJnValue *a, SfJnValue *b)
{
	SfJnValue  *args[2] = {a, b};
	SfJnValue  *value;

	sf_jn_check(ev);
	value = sf_jn_apply(ev, arg, args, 2, NULL, ev->focus_env);
	if (value == NULL || value->type == SF_JN_TYPE_NULL)
		return false;
	if (value->type == SF_JN_TYPE_BOOL)
		return value->u.boolean;
	if (value->type == SF_JN_TYPE_NUMBER)
		return value->u.number != 0 && value->u.number == value->u.number;
	return value->type != SF_JN_TYPE_STRING || value->len > 0;
}

/* $sort(array, function) */
SF_JN_LIBRARY_FUNCTION(sort)
{
	SfJnValue  *list = args[0];
	bool		strings = true;

	if (list->len <= 1)
		return list;
	if (SF_JN_IS_FUNCTION(args[1]))
		return sf_jn_merge_sort(ev, list, function_swap, args[1]);
	for (uint32 i = 0; strings && i < list->len; i++)
		strings = SF_JN_IS_STRING(list->u.items[i]);
	if (!strings && !sf_jn_is_all_numeric(ev, list))
		sf_jn_fail(ev, SF_JN_ERROR_D3070, .value = list, .index = 1);
	return sf_jn_merge_sort(ev, list, default_swap, NULL);
}

/* Call a function with an element of an array, its index, and the array. */
static SfJnValue *
call_with_item(SfJnEval *ev, SfJnValue *function, SfJnValue *list, uint32 i)
{
	return sf_jn_call_back(ev, function, list->u.items[i],
						   sf_jn_number(&ev->arena, i), list);
}

/* $map(array, function) */
SF_JN_LIBRARY_FUNCTION(map)
{
	SfJnValue  *list = args[0];
	SfJnValue  *result = sf_jn_sequence(&ev->arena, list->len);

	for (uint32 i = 0; i < list->len; i++)
	{
		SfJnValue  *value = call_with_item(ev, args[1], list, i);

		if (value != NULL)
			sf_jn_push(&ev->arena, result, value);
	}
	return result;
}

/* $filter(array, function) */
SF_JN_LIBRARY_FUNCTION(filter)
{
	SfJnValue  *list = args[0];
	SfJnValue  *result = sf_jn_sequence(&ev->arena, 4);

	for (uint32 i = 0; i < list->len; i++)
	{
		if (sf_jn_is_true(ev, call_with_item(ev, args[1], list, i)))
			sf_jn_push(&ev->arena, result, list->u.items[i]);
	}
	return result;
}

/* $single(array, function) */
SF_JN_LIBRARY_FUNCTION(single)
{
	SfJnValue  *list = args[0];
	SfJnValue  *result = NULL;
	bool		found = false;

	for (uint32 i = 0; i < list->len; i++)
	{
		if (args[1] != NULL && !sf_jn_is_true(ev, call_with_item(ev, args[1], list, i)))
			continue;
		if (found)
			sf_jn_fail(ev, SF_JN_ERROR_D3138, .value = NULL, .index = i);
		found = true;
		result = list->u.items[i];
	}
	if (!found)
		sf_jn_fail(ev, SF_JN_ERROR_D3139);
	return result;
}

/* $reduce(array, function, init) */
SF_JN_LIBRARY_FUNCTION(reduce)
{
	SfJnValue  *list = args[0];
	SfJnValue  *result = args[2];
	int			arity = sf_jn_arity(args[1]);
	uint32		i = 0;

	if (arity < 2)
		sf_jn_fail(ev, SF_JN_ERROR_D3050, .value = NULL, .index = 1);
	if (result == NULL && list->len > 0)
		result = list->u.items[i++];
	for (; i < list->len; i++)
	{
		SfJnValue  *call[4] = {result, list->u.items[i]};

		sf_jn_check(ev);
		if (arity >= 3)
			call[2] = sf_jn_number(&ev->arena, i);
		call[3] = list;
		result = sf_jn_apply(ev, args[1], call, Min(arity, 4), NULL, ev->focus_env);
	}
	return result;
}
