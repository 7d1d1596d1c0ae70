/*
 * group.c
 *		Grouping {key: value}, which also constructs objects, and sorting.
 *
 * A grouping first evaluates the key of every item and collects the items of
 * each key.  Then it evaluates the value once per key, with the items as context.
 * An object constructor is a grouping whose only item is the current context.
 */
#include "postgres.h"

#include "jsonata/evaluation/eval.h"

typedef struct Group
{
	SfJnValue  *data;			/* its items: one value, or an array of several */
	int			pair;
	bool		listed;			/* data is an array that we made */
} Group;

/* Open a scope with the bindings of a tuple. */
static SfJnFrame *
tuple_frame(SfJnEval *ev, SfJnFrame *env, const SfJnValue *tuple)
{
	SfJnFrame  *frame = sf_jn_frame(ev, env);

	frame->tuple = SF_JN_IS_OBJECT(tuple) ? tuple : NULL;
	return frame;
}

/* Evaluate a node with an item of a sequence, or of a stream of tuples. */
SfJnValue *
sf_jn_eval_item(SfJnEval *ev, const SfJnNode *node, SfJnValue *item, bool tuples,
				SfJnFrame *env)
{
	if (tuples)
		return sf_jn_eval(ev, node, sf_jn_get(item, "@"),
						  tuple_frame(ev, env, item));
	return sf_jn_eval(ev, node, item, env);
}

/* Add one more item to a group. */
static void
add_to_group(SfJnEval *ev, Group *group, SfJnValue *item)
{
	if (item == NULL)
		return;
	if (!group->listed)
	{
		group->data = sf_jn_append(&ev->arena, group->data, item);
		/* Only an array of our own making may be extended in place. */
		group->listed = group->data != item;
	}
	else if (SF_JN_IS_ARRAY(item))
		sf_jn_push_all(&ev->arena, group->data, item);
	else
		sf_jn_push(&ev->arena, group->data, item);
}

/* Fold a group's tuples into one whose bindings hold the values of all. */
static SfJnValue *
reduce_tuples(SfJnEval *ev, SfJnValue *data)
{
	SfJnValue  *result;
	Group	   *columns;
	uint32		ncolumns;

	if (!SF_JN_IS_ARRAY(data))
		return data;
	result = sf_jn_object(&ev->arena, 4);
	for (uint32 i = 0; i < data->len; i++)
	{
		SfJnValue  *tuple = data->u.items[i];

		for (uint32 k = 0; i == 0 && k < tuple->len; k++)
			sf_jn_set_member(&ev->arena, result, &tuple->u.members[k], NULL);
	}
	ncolumns = result->len;
	columns = sf_jn_alloc(&ev->arena, (ncolumns + 1) * sizeof(Group));
	memset(columns, 0, (ncolumns + 1) * sizeof(Group));
	for (uint32 i = 0; i < data->len; i++)
	{
		SfJnValue  *tuple = data->u.items[i];

		for (uint32 k = 0; k < tuple->len; k++)
		{
			SfJnMember *member = &tuple->u.members[k];
			SfJnMember *r = sf_jn_find(result, member->key, member->keylen, member->hash);

			if (r != NULL && i == 0)
				columns[r - result->u.members].data = member->value;
			else if (r != NULL)
				add_to_group(ev, &columns[r - result->u.members], member->value);
		}
	}
	for (uint32 k = 0; k < ncolumns; k++)
		result->u.members[k].value = columns[k].data;
	return result;
}

/*
 * Collect the items by key.  Returns an object with the keys, in order; the
 * groups stand in *groups by member number.
 */
static SfJnValue *
collect_groups(SfJnEval *ev, const SfJnNodeList *pairs, int position,
			   SfJnValue **items, uint32 n, bool tuples, SfJnFrame *env,
			   Group **groups)
{
	SfJnValue  *keys = sf_jn_object(&ev->arena, pairs->n / 2);
	Group	   *list = NULL;
	uint32		cap = 0;

	for (uint32 i = 0; i < n; i++)
	{
		SfJnValue  *item = items[i];
		SfJnFrame  *frame = tuples ? tuple_frame(ev, env, item) : env;
		SfJnValue  *context = tuples ? sf_jn_get(item, "@") : item;

		for (int pair = 0; pair < pairs->n; pair += 2)
		{
			SfJnValue  *key = sf_jn_eval(ev, pairs->at[pair], context, frame);
			SfJnMember *member;
			uint32		hash;

			if (key == NULL)
				continue;
			if (key->type != SF_JN_TYPE_STRING)
				sf_jn_fail_at(ev, position, SF_JN_ERROR_T1003, .value = key);
			hash = sf_jn_hash(key->u.str, key->len);
			member = sf_jn_find(keys, key->u.str, key->len, hash);
			if (member != NULL)
			{
				Group	   *group = &list[member - keys->u.members];

				if (group->pair != pair)
					sf_jn_fail_at(ev, position, SF_JN_ERROR_D1009, .value = key);
				add_to_group(ev, group, item);
				continue;
			}
			if (keys->len >= cap)
			{
				list = sf_jn_grow(&ev->arena, list, cap, Max(cap * 2, 4), sizeof(Group));
				cap = Max(cap * 2, 4);
			}
			list[keys->len].data = item;
			list[keys->len].pair = pair;
			list[keys->len].listed = false;
			sf_jn_set_hashed(&ev->arena, keys, key->u.str, key->len, hash, key);
		}
	}
	*groups = list;
	return keys;
}

/* Evaluate a grouping, or construct an object. */
SfJnValue *
sf_jn_eval_group(SfJnEval *ev, const SfJnNodeList *pairs, int position,
				 SfJnValue *input, SfJnFrame *env)
{
	bool		tuples = SF_JN_IS_ARRAY(input) && (input->flags & SF_JN_TUPLES) != 0;
	SfJnValue  *single[1] = {input};
	bool		is_list = SF_JN_IS_ARRAY(input) && (input->len > 0 || tuples);
	SfJnValue  *keys;
	SfJnValue  *result;
	Group	   *groups;

	if (SF_JN_IS_ARRAY(input) && input->len == 0)
		single[0] = NULL;
	keys = collect_groups(ev, pairs, position, is_list ? input->u.items : single,
						  is_list ? input->len : 1, tuples, env, &groups);
	result = sf_jn_object(&ev->arena, keys->len);
	for (uint32 i = 0; i < keys->len; i++)
	{
		SfJnValue  *item = tuples ? reduce_tuples(ev, groups[i].data) : groups[i].data;
		SfJnValue  *value = sf_jn_eval_item(ev, pairs->at[groups[i].pair + 1], item,
											tuples, env);

		if (value != NULL)
			sf_jn_set_member(&ev->arena, result, &keys->u.members[i], value);
	}
	return result;
}

/* Merge two sorted halves of from into to. */
static void
merge_halves(SfJnEval *ev, SfJnValue **from, SfJnValue **to, uint32 low,
			 uint32 middle, uint32 high, SfJnSwap swap, void *arg)
{
	uint32		left = low;
	uint32		right = middle;

	for (uint32 out = low; out < high; out++)
	{
		sf_jn_check(ev);
		if (right >= high ||
			(left < middle && !swap(ev, arg, from[left], from[right])))
			to[out] = from[left++];
		else
			to[out] = from[right++];
	}
}

/* Sort a range of items; other holds a copy and is scratch. */
static void
sort_range(SfJnEval *ev, SfJnValue **items, SfJnValue **other, uint32 low,
		   uint32 high, SfJnSwap swap, void *arg)
{
	uint32		middle = low + (high - low) / 2;

	if (high - low < 2)
		return;
	sf_jn_check(ev);
	sort_range(ev, other, items, low, middle, swap, arg);
	sort_range(ev, other, items, middle, high, swap, arg);
	merge_halves(ev, other, items, low, middle, high, swap, arg);
}

/* Sort the elements of an array into a new one. */
SfJnValue *
sf_jn_merge_sort(SfJnEval *ev, const SfJnValue *array, SfJnSwap swap, void *arg)
{
	SfJnValue  *result = sf_jn_array(&ev->arena, array->len);
	SfJnValue  *other = sf_jn_array(&ev->arena, array->len);

	sf_jn_push_all(&ev->arena, result, array);
	sf_jn_push_all(&ev->arena, other, array);
	sort_range(ev, result->u.items, other->u.items, 0, array->len, swap, arg);
	return result;
}

typedef struct SortState
{
	const SfJnNode *node;
	SfJnFrame  *env;
	bool		tuples;
} SortState;

/* Tell whether the first item must come after the second. */
static bool
terms_swap(SfJnEval *ev, void *arg, SfJnValue *a, SfJnValue *b)
{
	SortState  *state = arg;
	int			comp = 0;

	for (int i = 0; i < state->node->items.n && comp == 0; i++)
	{
		const SfJnNode *term = state->node->items.at[i];
		SfJnValue  *x = sf_jn_eval_item(ev, term, a, state->tuples, state->env);
		SfJnValue  *y = sf_jn_eval_item(ev, term, b, state->tuples, state->env);

		/* What is undefined goes last, in either direction. */
		if (x == NULL || y == NULL)
		{
			comp = x == NULL ? (y == NULL ? 0 : 1) : -1;
			continue;
		}
		if ((x->type != SF_JN_TYPE_STRING && x->type != SF_JN_TYPE_NUMBER) ||
			(y->type != SF_JN_TYPE_STRING && y->type != SF_JN_TYPE_NUMBER) ||
			x->type != y->type)
		{
			bool		bad_x = x->type != SF_JN_TYPE_STRING && x->type != SF_JN_TYPE_NUMBER;
			bool		bad_y = y->type != SF_JN_TYPE_STRING && y->type != SF_JN_TYPE_NUMBER;

			sf_jn_fail_at(ev, state->node->position,
						  bad_x || bad_y ? SF_JN_ERROR_T2008 : SF_JN_ERROR_T2007,
						  .value = bad_y && !bad_x ? y : x, .value2 = y);
		}
		if (x->type == SF_JN_TYPE_STRING)
			comp = sf_jn_compare_strings(x, y);
		else
			comp = x->u.number < y->u.number ? -1 : (x->u.number == y->u.number ? 0 : 1);
		if (term->descending)
			comp = -comp;
	}
	return comp == 1;
}

/* Evaluate an order-by clause. */
SfJnValue *
sf_jn_eval_sort(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SortState	state = {node, env, (input->flags & SF_JN_TUPLES) != 0};

	return input->len <= 1 ? input : sf_jn_merge_sort(ev, input, terms_swap, &state);
}
