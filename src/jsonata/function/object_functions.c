/*
 * object_functions.c
 *		The library: objects.
 */
#include "postgres.h"

#include <math.h>

#include "base/value/encoding.h"
#include "base/value/random.h"
#include "jsonata/function/functions.h"
#include "jsonata/value/jsonata_print.h"

/*
 * Collect the keys of an object, or of all objects in an array, as members of
 * another.
 */
static void
collect_keys(SfJnEval *ev, const SfJnValue *value, SfJnValue *keys)
{
	if (SF_JN_IS_ARRAY(value))
	{
		sf_jn_check_stack(ev);
		for (uint32 i = 0; i < value->len; i++)
			collect_keys(ev, value->u.items[i], keys);
	}
	else if (SF_JN_IS_OBJECT(value))
	{
		sf_jn_check(ev);
		for (uint32 i = 0; i < value->len; i++)
		{
			sf_jn_check(ev);
			sf_jn_set_member(&ev->arena, keys, &value->u.members[i], NULL);
		}
	}
}

/* $keys(object) */
SF_JN_LIBRARY_FUNCTION(keys)
{
	SfJnValue  *keys = sf_jn_object(&ev->arena, 4);
	SfJnValue  *result;

	collect_keys(ev, args[0], keys);
	result = sf_jn_sequence(&ev->arena, keys->len);
	for (uint32 i = 0; i < keys->len; i++)
		sf_jn_push(&ev->arena, result,
				   sf_jn_string(&ev->arena, keys->u.members[i].key,
								keys->u.members[i].keylen));
	return result;
}

/* $lookup(object, key) */
SF_JN_LIBRARY_FUNCTION(lookup)
{
	SfJnName	name = sf_jn_name(args[1]->u.str, args[1]->len);

	return sf_jn_lookup_member(ev, args[0], &name);
}

/* Append one object for each member of v. */
static void
spread_value(SfJnEval *ev, SfJnValue *value, SfJnValue *result)
{
	if (SF_JN_IS_ARRAY(value))
	{
		sf_jn_check_stack(ev);
		for (uint32 i = 0; i < value->len; i++)
			spread_value(ev, value->u.items[i], result);
	}
	else if (SF_JN_IS_OBJECT(value))
	{
		for (uint32 i = 0; i < value->len; i++)
		{
			SfJnValue  *object = sf_jn_object(&ev->arena, 1);

			sf_jn_set_member(&ev->arena, object, &value->u.members[i], value->u.members[i].value);
			sf_jn_push(&ev->arena, result, object);
		}
	}
	else if (value != NULL)
		sf_jn_push(&ev->arena, result, value);
}

/* $spread(object) */
SF_JN_LIBRARY_FUNCTION(spread)
{
	SfJnValue  *result;

	if (!SF_JN_IS_ARRAY(args[0]) && !SF_JN_IS_OBJECT(args[0]))
		return args[0];
	result = sf_jn_sequence(&ev->arena, 4);
	spread_value(ev, args[0], result);
	if (SF_JN_IS_ARRAY(args[0]) && args[0]->len > 0)
		result->flags = 0;
	return result;
}

/* $merge(array) */
SF_JN_LIBRARY_FUNCTION(merge)
{
	SfJnValue  *result = sf_jn_object(&ev->arena, 4);

	for (uint32 i = 0; i < args[0]->len; i++)
	{
		sf_jn_check(ev);
		sf_jn_set_all(ev, result, args[0]->u.items[i]);
	}
	return result;
}

/* Call a function with the value of a member, its key, and the object. */
static SfJnValue *
call_with_member(SfJnEval *ev, SfJnValue *function, SfJnValue *object, const SfJnMember *member)
{
	return sf_jn_call_back(ev, function, member->value,
						   sf_jn_string(&ev->arena, member->key, member->keylen), object);
}

/* $each(object, function) */
SF_JN_LIBRARY_FUNCTION(each)
{
	SfJnValue  *object = args[0];
	SfJnValue  *result = sf_jn_sequence(&ev->arena, 4);

	for (uint32 i = 0; object != NULL && i < object->len; i++)
	{
		SfJnValue  *value = call_with_member(ev, args[1], object, &object->u.members[i]);

		if (value != NULL)
			sf_jn_push(&ev->arena, result, value);
	}
	return result;
}

/* $sift(object, function) */
SF_JN_LIBRARY_FUNCTION(sift)
{
	SfJnValue  *object = args[0];
	SfJnValue  *result = sf_jn_object(&ev->arena, 4);

	for (uint32 i = 0; object != NULL && args[1] != NULL && i < object->len; i++)
	{
		SfJnMember *member = &object->u.members[i];

		if (sf_jn_is_true(ev, call_with_member(ev, args[1], object, member)))
			sf_jn_set_member(&ev->arena, result, member, member->value);
	}
	return result->len > 0 ? result : NULL;
}

/* --- the functions that Step Functions adds to the library --- */

#define MAX_RANGE 1e7

/*
 * $partition(array, size): chunks of so many elements; without a size one
 * chunk.
 */
SF_JN_LIBRARY_FUNCTION(partition)
{
	SfJnValue  *list = args[0];
	SfJnValue  *result;
	double		size;

	if (list->len == 0)
		return NULL;
	size = args[1] == NULL ? list->len : floor(args[1]->u.number);
	if (size < 0)
		sf_jn_fail(ev, SF_JN_ERROR_D3137, .value =
				   sf_jn_cstring(&ev->arena, "Second argument must be zero or greater"));
	if (!(size >= 1))
		return NULL;
	result = sf_jn_sequence(&ev->arena, 4);
	for (uint32 i = 0; i < list->len; i++)
	{
		if (fmod(i, size) == 0)
			sf_jn_push(&ev->arena, result, sf_jn_array(&ev->arena, 4));
		sf_jn_push(&ev->arena, result->u.items[result->len - 1], list->u.items[i]);
	}
	/* One chunk stays an array of chunks. */
	result->flags |= SF_JN_KEEP;
	return result;
}

/*
 * $range(first, last, step): the numbers from first to last.  No step, or one
 * that leads away, gives undefined.
 */
SF_JN_LIBRARY_FUNCTION(range)
{
	double		first = args[0]->u.number;
	double		step = args[2]->u.number;
	double		count = floor((args[1]->u.number - first) / step) + 1;
	SfJnValue  *result;

	if (!(count >= 1) || step == 0)
		return NULL;
	if (count > MAX_RANGE)
		sf_jn_fail(ev, SF_JN_ERROR_D2014, .value = sf_jn_number(&ev->arena, count));
	result = sf_jn_sequence(&ev->arena, (uint32) count);
	for (uint32 i = 0; i < (uint32) count; i++)
		sf_jn_push(&ev->arena, result, sf_jn_number(&ev->arena, first + i * step));
	return result;
}

/* $hash(str, algorithm): hex digits */
SF_JN_LIBRARY_FUNCTION(hash)
{
	char	   *digest = sf_digest_hex(args[1]->u.str, args[1]->len,
									   args[0]->u.str, args[0]->len);

	if (digest == NULL)
		sf_jn_fail(ev, SF_JN_ERROR_D3137, .value =
				   sf_jn_cstring(&ev->arena,
								 psprintf("Hash algorithm '%.*s' must be one of SHA-1, SHA-384, SHA-256, SHA-512, MD5",
										  (int) Min(args[1]->len, 100), args[1]->u.str)));
	return sf_jn_cstring(&ev->arena, digest);
}

/* $uuid(): random, version 4 */
SF_JN_LIBRARY_FUNCTION(uuid)
{
	return sf_jn_cstring(&ev->arena, sf_uuid_v4());
}

/* $parse(str): a JSON text */
SF_JN_LIBRARY_FUNCTION(parse)
{
	SfJnValue  *result = sf_jn_parse_json_strict(&ev->arena, args[0]->u.str,
												 (int) args[0]->len);

	if (result == NULL)
		sf_jn_fail(ev, SF_JN_ERROR_D3137, .value = sf_jn_cstring(&ev->arena, "Invalid JSON"));
	return result;
}
