/*
 * object_functions.c
 *		The library: objects.
 */
#include "postgres.h"

#include "jsonata/functions.h"
#include "miscadmin.h"

/*
 * Collect the keys of an object, or of all objects in an array, as members of
 * another.
 */
static void
collect_keys(SfJnEval *ev, const SfJnValue *v, SfJnValue *keys)
{
	uint32		i;

	if (SF_JN_IS_ARRAY(v))
	{
		sf_jn_check_stack(ev);
		for (i = 0; i < v->len; i++)
			collect_keys(ev, v->u.items[i], keys);
	}
	else if (SF_JN_IS_OBJECT(v))
	{
		for (i = 0; i < v->len; i++)
			sf_jn_set_member(&ev->arena, keys, &v->u.members[i], NULL);
	}
}

/* $keys(object) */
SF_JN_LIBRARY_FUNCTION(keys)
{
	SfJnValue  *keys = sf_jn_object(&ev->arena, 4);
	SfJnValue  *result;
	uint32		i;

	collect_keys(ev, args[0], keys);
	result = sf_jn_sequence(&ev->arena, keys->len);
	for (i = 0; i < keys->len; i++)
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
spread_value(SfJnEval *ev, SfJnValue *v, SfJnValue *result)
{
	uint32		i;

	if (SF_JN_IS_ARRAY(v))
	{
		sf_jn_check_stack(ev);
		for (i = 0; i < v->len; i++)
			spread_value(ev, v->u.items[i], result);
	}
	else if (SF_JN_IS_OBJECT(v))
	{
		for (i = 0; i < v->len; i++)
		{
			SfJnValue  *object = sf_jn_object(&ev->arena, 1);

			sf_jn_set_member(&ev->arena, object, &v->u.members[i], v->u.members[i].value);
			sf_jn_push(&ev->arena, result, object);
		}
	}
	else if (v != NULL)
		sf_jn_push(&ev->arena, result, v);
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
	uint32		i;

	for (i = 0; i < args[0]->len; i++)
		sf_jn_set_all(&ev->arena, result, args[0]->u.items[i]);
	return result;
}

/* Call a function with the value of a member, its key, and the object. */
static SfJnValue *
call_with_member(SfJnEval *ev, SfJnValue *function, SfJnValue *object, const SfJnMember *m)
{
	return sf_jn_call_back(ev, function, m->value,
						   sf_jn_string(&ev->arena, m->key, m->keylen), object);
}

/* $each(object, function) */
SF_JN_LIBRARY_FUNCTION(each)
{
	SfJnValue  *object = args[0];
	SfJnValue  *result = sf_jn_sequence(&ev->arena, 4);
	uint32		i;

	for (i = 0; object != NULL && i < object->len; i++)
	{
		SfJnValue  *v = call_with_member(ev, args[1], object, &object->u.members[i]);

		if (v != NULL)
			sf_jn_push(&ev->arena, result, v);
	}
	return result;
}

/* $sift(object, function) */
SF_JN_LIBRARY_FUNCTION(sift)
{
	SfJnValue  *object = args[0];
	SfJnValue  *result = sf_jn_object(&ev->arena, 4);
	uint32		i;

	for (i = 0; object != NULL && args[1] != NULL && i < object->len; i++)
	{
		SfJnMember *m = &object->u.members[i];

		if (sf_jn_truth(ev, call_with_member(ev, args[1], object, m)))
			sf_jn_set_member(&ev->arena, result, m, m->value);
	}
	return result->len > 0 ? result : NULL;
}
