/*
 * path.c
 *		Paths: steps over a sequence of contexts.
 *
 * Each step maps every item of the previous sequence to a value and concatenates
 * the results: arrays lose one level, unless an array constructor made them.  From
 * the first step on that binds a variable (@, #) or is the ancestor of a %, the
 * path carries tuples instead of items.  A tuple is an object with the context
 * under "@" and the bindings under their names.
 */
#include "postgres.h"

#include <math.h>

#include "jsonata/evaluation/eval.h"

/* Look up a member of an object, or of every object in an array. */
SfJnValue *
sf_jn_lookup_member(SfJnEval *ev, const SfJnValue *input, const SfJnName *name)
{
	SfJnValue  *result;
	SfJnMember *member;

	if (input == NULL)
		return NULL;
	if (input->type == SF_JN_TYPE_OBJECT)
	{
		member = sf_jn_find(input, name->str, name->len, name->hash);
		return member == NULL ? NULL : member->value;
	}
	if (input->type != SF_JN_TYPE_ARRAY)
		return NULL;

	sf_jn_check_stack(ev);
	result = sf_jn_sequence(&ev->arena, input->len);
	for (uint32 i = 0; i < input->len; i++)
	{
		SfJnValue  *value = sf_jn_lookup_member(ev, input->u.items[i], name);

		if (SF_JN_IS_ARRAY(value))
			sf_jn_push_all(&ev->arena, result, value);
		else if (value != NULL)
			sf_jn_push(&ev->arena, result, value);
	}
	return result;
}

/* Keep the items that a predicate selects: by number, or by truth. */
SfJnValue *
sf_jn_eval_filter(SfJnEval *ev, const SfJnNode *predicate, SfJnValue *input,
				  SfJnFrame *env)
{
	SfJnValue  *result = sf_jn_sequence(&ev->arena, 4);
	SfJnValue **items;
	uint32		n = sf_jn_items(&input, &items);
	bool		tuples = SF_JN_IS_ARRAY(input) && (input->flags & SF_JN_TUPLES) != 0;

	if (tuples)
		result->flags |= SF_JN_TUPLES;

	if (predicate->type == SF_JN_NODE_NUMBER && predicate->predicates.n == 0)
	{
		double		at = floor(predicate->value->u.number);

		if (at < 0)
			at += n;
		if (at >= 0 && at < n)
		{
			SfJnValue  *item = items[(uint32) at];

			if (SF_JN_IS_ARRAY(item))
				return item;
			if (item != NULL)
				sf_jn_push(&ev->arena, result, item);
		}
		return result;
	}

	for (uint32 i = 0; i < n; i++)
	{
		SfJnValue  *item = items[i];
		SfJnValue  *res = sf_jn_eval_item(ev, predicate, item, tuples, env);

		if (SF_JN_IS_NUMBER(res) ? sf_jn_is_numeric(ev, res) : sf_jn_is_all_numeric(ev, res))
		{
			SfJnValue **numbers;
			uint32		count = sf_jn_items(&res, &numbers);

			for (uint32 k = 0; k < count; k++)
			{
				double		at = floor(numbers[k]->u.number);

				if ((at < 0 ? at + n : at) == i)
					sf_jn_push(&ev->arena, result, item);
			}
		}
		else if (sf_jn_is_true(ev, res))
			sf_jn_push(&ev->arena, result, item);
	}
	return result;
}

/* Bind a name in a tuple. */
static void
set_name(SfJnEval *ev, SfJnValue *tuple, const SfJnName *name, SfJnValue *value)
{
	sf_jn_set_hashed(&ev->arena, tuple, name->str, name->len, name->hash, value);
}

/* Apply the stages of a step: filters, and bindings of the position. */
static SfJnValue *
eval_stages(SfJnEval *ev, const SfJnStages *stages, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *result = input;

	for (int i = 0; i < stages->n; i++)
	{
		const SfJnStage *stage = &stages->at[i];

		if (stage->expr != NULL)
			result = sf_jn_eval_filter(ev, stage->expr, result, env);
		else if (SF_JN_IS_ARRAY(result))
		{
			for (uint32 k = 0; k < result->len; k++)
			{
				if (SF_JN_IS_OBJECT(result->u.items[k]))
					set_name(ev, result->u.items[k], &stage->index,
							 sf_jn_number(&ev->arena, k));
			}
		}
	}
	return result;
}

/* Evaluate one step over the items of a sequence. */
static SfJnValue *
eval_step(SfJnEval *ev, const SfJnNode *step, const SfJnValue *input,
		  SfJnFrame *env, bool last)
{
	SfJnValue  *result;
	bool		only_items = true;

	if (step->type == SF_JN_NODE_SORT)
	{
		result = sf_jn_eval_sort(ev, step, (SfJnValue *) input, env);
		return eval_stages(ev, &step->stages, result, env);
	}

	result = sf_jn_sequence(&ev->arena, input->len);
	for (uint32 i = 0; i < input->len; i++)
	{
		SfJnValue  *value = sf_jn_eval(ev, step, input->u.items[i], env);

		for (int k = 0; k < step->stages.n; k++)
			value = sf_jn_eval_filter(ev, step->stages.at[k].expr, value, env);
		if (value != NULL)
		{
			sf_jn_push(&ev->arena, result, value);
			if (value->type == SF_JN_TYPE_ARRAY)
				only_items = false;
		}
	}
	if (only_items)
		return result;
	if (last && result->len == 1 && !SF_JN_IS_SEQUENCE(result->u.items[0]))
		return result->u.items[0];
	else
	{
		SfJnValue  *flat = sf_jn_sequence(&ev->arena, result->len);

		for (uint32 i = 0; i < result->len; i++)
		{
			SfJnValue  *value = result->u.items[i];

			if (value->type == SF_JN_TYPE_ARRAY && (value->flags & SF_JN_CONS) == 0)
				sf_jn_push_all(&ev->arena, flat, value);
			else
				sf_jn_push(&ev->arena, flat, value);
		}
		return flat;
	}
}

/* Make the tuples of one value that a step gave for one tuple. */
static void
push_tuples(SfJnEval *ev, const SfJnNode *step, SfJnValue *tuple, SfJnValue *value,
			SfJnValue *result)
{
	SfJnValue  *context = sf_jn_get(tuple, "@");
	bool		tuples = SF_JN_IS_ARRAY(value) && (value->flags & SF_JN_TUPLES) != 0;
	SfJnValue **items;
	uint32		n = sf_jn_items(&value, &items);

	for (uint32 i = 0; i < n; i++)
	{
		SfJnValue  *item = items[i];
		SfJnValue  *out = sf_jn_object(&ev->arena, tuple->len + 2);

		sf_jn_set_all(ev, out, tuple);
		if (tuples)
			sf_jn_set_all(ev, out, item);
		else
		{
			if (step->focus.str != NULL)
				set_name(ev, out, &step->focus, item);
			else
				sf_jn_set_c(&ev->arena, out, "@", item);
			if (step->index.str != NULL)
				set_name(ev, out, &step->index, sf_jn_number(&ev->arena, i));
			if (step->ancestor != NULL)
				set_name(ev, out, &step->ancestor->label, context);
		}
		sf_jn_push(&ev->arena, result, out);
	}
}

/* Make a stream of tuples whose only binding is the context. */
static SfJnValue *
tuples_of(SfJnEval *ev, const SfJnValue *input, const SfJnName *index)
{
	SfJnValue  *result = sf_jn_sequence(&ev->arena, input->len);

	result->flags |= SF_JN_TUPLES;
	for (uint32 i = 0; i < input->len; i++)
	{
		SfJnValue  *tuple = sf_jn_object(&ev->arena, 2);

		sf_jn_set_c(&ev->arena, tuple, "@", input->u.items[i]);
		if (index != NULL && index->str != NULL)
			set_name(ev, tuple, index, sf_jn_number(&ev->arena, i));
		sf_jn_push(&ev->arena, result, tuple);
	}
	return result;
}

/* Evaluate one step over a stream of tuples; bindings NULL: it begins here. */
static SfJnValue *
eval_tuple_step(SfJnEval *ev, const SfJnNode *step, SfJnValue *input,
				SfJnValue *bindings, SfJnFrame *env)
{
	SfJnValue  *result;

	if (step->type == SF_JN_NODE_SORT)
	{
		if (bindings != NULL)
		{
			result = sf_jn_eval_sort(ev, step, bindings, env);
			result->flags |= SF_JN_SEQUENCE | SF_JN_TUPLES;
		}
		else
			result = tuples_of(ev, sf_jn_eval_sort(ev, step, input, env), &step->index);
		return eval_stages(ev, &step->stages, result, env);
	}

	if (bindings == NULL)
		bindings = tuples_of(ev, input, NULL);
	result = sf_jn_sequence(&ev->arena, bindings->len);
	result->flags |= SF_JN_TUPLES;
	for (uint32 i = 0; i < bindings->len; i++)
	{
		SfJnValue  *tuple = bindings->u.items[i];
		SfJnValue  *value = sf_jn_eval_item(ev, step, tuple, true, env);

		if (value != NULL)
			push_tuples(ev, step, tuple, value, result);
	}
	return eval_stages(ev, &step->stages, result, env);
}

/*
 * Evaluate the path of one plain name, by far the most frequent; false where
 * the general way is needed.
 */
static bool
eval_simple_path(SfJnEval *ev, const SfJnNode *node, SfJnValue *input,
				 SfJnValue **result)
{
	const SfJnNode *step = node->items.at[0];
	SfJnMember *member;

	if (node->items.n != 1 || step->type != SF_JN_NODE_NAME || step->tuple ||
		step->stages.n > 0 || step->predicates.n > 0 || step->group != NULL ||
		node->keep_singleton || node->group != NULL ||
		SF_JN_IS_ARRAY(input))
		return false;
	*result = NULL;
	if (!SF_JN_IS_OBJECT(input))
		return true;
	member = sf_jn_find(input, step->name.str, step->name.len, step->name.hash);
	if (member == NULL)
		return true;
	if (SF_JN_IS_SEQUENCE(member->value))
		return false;
	*result = member->value;
	return true;
}

/* Take the contexts out of a stream of tuples. */
static SfJnValue *
contexts_of(SfJnEval *ev, const SfJnValue *tuples)
{
	SfJnValue  *result = sf_jn_sequence(&ev->arena, tuples->len);

	for (uint32 i = 0; i < tuples->len; i++)
		sf_jn_push(&ev->arena, result, sf_jn_get(tuples->u.items[i], "@"));
	return result;
}

/* Evaluate a path. */
SfJnValue *
sf_jn_eval_path(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *sequence;
	SfJnValue  *result = NULL;
	SfJnValue  *tuples = NULL;
	bool		streaming = false;

	if (eval_simple_path(ev, node, input, &result))
		return result;

	if (SF_JN_IS_ARRAY(input) && node->items.at[0]->type != SF_JN_NODE_VARIABLE)
		sequence = input;
	else
		sequence = sf_jn_sequence_of(ev, input);

	for (int i = 0; i < node->items.n; i++)
	{
		const SfJnNode *step = node->items.at[i];

		streaming |= step->tuple;
		if (i == 0 && step->cons)
			result = sf_jn_eval(ev, step, sequence, env);
		else if (streaming)
			tuples = eval_tuple_step(ev, step, sequence, tuples, env);
		else
			result = eval_step(ev, step, sequence, env, i == node->items.n - 1);
		if (!streaming)
		{
			if (result == NULL || (SF_JN_IS_ARRAY(result) && result->len == 0))
				break;
			if (!SF_JN_IS_ARRAY(result))
				result = sf_jn_sequence_of(ev, result);
			if (step->focus.str == NULL)
				sequence = result;
		}
	}

	if (streaming)
		result = node->tuple ? tuples : contexts_of(ev, tuples);
	if (node->keep_singleton && result != NULL)
	{
		if (SF_JN_IS_ARRAY(result) && (result->flags & SF_JN_CONS) != 0 &&
			(result->flags & SF_JN_SEQUENCE) == 0)
			result = sf_jn_sequence_of(ev, result);
		result->flags |= SF_JN_KEEP;
	}
	if (node->group != NULL)
		result = sf_jn_eval_group(ev, &node->group->pairs, node->group->position,
								  streaming ? tuples : result, env);
	return result;
}
