/*
 * eval.c
 *		Evaluate one node with an input in a scope.
 *
 * A node that can have several values yields a sequence.  At the end of the node
 * (sf_jn_eval) a sequence of one element is replaced by the element, and an empty
 * one by undefined, unless [] after the node keeps it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "jsonata/evaluation/eval.h"
#include "jsonata/function/functions.h"

#define CHECK_EVERY 256			/* evaluations between looks at the clock */

/*
 * Fill in what an error lacks from the calls under way, and throw it.  As in
 * the reference implementation the outermost call names the position.
 */
void
sf_jn_raise(SfJnEval *ev)
{
	SfJnError  *e = &ev->thrower.error;

	if (ev->outermost != NULL)
		e->position = ev->outermost->position;
	if (e->token == NULL && ev->call != NULL)
	{
		e->token = ev->call->token;
		e->token_len = ev->call->token_len;
	}
	sf_jn_throw(&ev->thrower);
}

/* Refuse to recurse further when the stack is full; then as sf_jn_check. */
void
sf_jn_check_stack(SfJnEval *ev)
{
	if (stack_is_too_deep())
		sf_jn_fail(ev, SF_JN_ERROR_U1001);
	sf_jn_check(ev);
}

/* Look for a cancel request; at every CHECK_EVERY-th call also at the clock. */
void
sf_jn_check(SfJnEval *ev)
{
	CHECK_FOR_INTERRUPTS();
	if (++ev->ticks % CHECK_EVERY == 0 && ev->deadline > 0 &&
		sf_tick_now() > ev->deadline)
		sf_jn_fail(ev, SF_JN_ERROR_U1002);
}

/* Open a scope. */
SfJnFrame *
sf_jn_frame(SfJnEval *ev, SfJnFrame *parent)
{
	SfJnFrame  *frame = sf_jn_alloc(&ev->arena, sizeof(SfJnFrame));

	frame->parent = parent;
	frame->bindings = NULL;
	frame->tuple = NULL;
	return frame;
}

/* Bind a variable in a scope. */
void
sf_jn_bind(SfJnEval *ev, SfJnFrame *frame, const SfJnName *name, SfJnValue *value)
{
	SfJnBinding *b;

	for (b = frame->bindings; b != NULL; b = b->next)
	{
		if (b->name.hash == name->hash && b->name.len == name->len &&
			memcmp(b->name.str, name->str, name->len) == 0)
		{
			b->value = value;
			return;
		}
	}
	b = sf_jn_alloc(&ev->arena, sizeof(SfJnBinding));
	b->name = *name;
	b->value = value;
	b->next = frame->bindings;
	frame->bindings = b;
}

/*
 * Look a variable up: scopes from the inside out, then what is bound outside
 * the expression, then the library.
 */
SfJnValue *
sf_jn_lookup(SfJnEval *ev, SfJnFrame *frame, const SfJnName *name)
{
	bool		found = false;
	SfJnValue  *value;

	for (; frame != NULL; frame = frame->parent)
	{
		SfJnBinding *b;

		for (b = frame->bindings; b != NULL; b = b->next)
		{
			if (b->name.hash == name->hash && b->name.len == name->len &&
				memcmp(b->name.str, name->str, name->len) == 0)
				return b->value;
		}
		if (frame->tuple != NULL)
		{
			SfJnMember *m = sf_jn_find(frame->tuple, name->str, name->len, name->hash);

			if (m != NULL)
				return m->value;
		}
	}
	if (ev->lookup != NULL)
	{
		value = ev->lookup(ev, name, &found);
		if (found)
			return value;
	}
	return sf_jn_library_function(name, ev->mode);
}

/* Replace a sequence of one element by the element, an empty one by undefined. */
static SfJnValue *
collapse(SfJnValue *v)
{
	if (!SF_JN_IS_SEQUENCE(v) || (v->flags & SF_JN_TUPLES) != 0)
		return v;
	if (v->len == 0)
		return NULL;
	if (v->len == 1 && (v->flags & SF_JN_KEEP) == 0)
		return v->u.items[0];
	return v;
}

/* Make a sequence of one item. */
SfJnValue *
sf_jn_sequence_of(SfJnEval *ev, SfJnValue *item)
{
	SfJnValue  *sequence = sf_jn_sequence(&ev->arena, 1);

	sf_jn_push(&ev->arena, sequence, item);
	return sequence;
}

/* Wrap an input that is an array, so that it counts as one input. */
SfJnValue *
sf_jn_wrap_input(SfJnEval *ev, SfJnValue *input)
{
	SfJnValue  *wrapper;

	if (!SF_JN_IS_ARRAY(input) || SF_JN_IS_SEQUENCE(input))
		return input;
	wrapper = sf_jn_sequence_of(ev, input);
	wrapper->flags |= SF_JN_OUTER;
	return wrapper;
}

/* Make a function value whose details the caller fills in. */
SfJnValue *
sf_jn_function_value(SfJnArena *a, SfJnFunctionKind kind)
{
	SfJnValue  *v = sf_jn_alloc(a, sizeof(SfJnValue));
	SfJnFunction *f = sf_jn_alloc(a, sizeof(SfJnFunction));

	memset(f, 0, sizeof(*f));
	f->kind = kind;
	v->type = SF_JN_TYPE_FUNCTION;
	v->flags = 0;
	v->len = 0;
	v->u.function = f;
	return v;
}

/* Negate a number. */
static SfJnValue *
eval_negate(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *v = sf_jn_eval(ev, node->lhs, input, env);

	if (v == NULL)
		return NULL;
	if (!sf_jn_is_numeric(ev, v))
		sf_jn_fail_at(ev, node->position, SF_JN_ERROR_D1002, .value = v,
					  .token = "-", .token_len = 1);
	return sf_jn_number(&ev->arena, -v->u.number);
}

/*
 * Construct an array: values that are arrays themselves are spliced in,
 * unless they are written as constructors.
 */
static SfJnValue *
eval_array(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *result = sf_jn_array(&ev->arena, node->items.n);

	for (int i = 0; i < node->items.n; i++)
	{
		const SfJnNode *item = node->items.at[i];
		SfJnValue  *v = sf_jn_eval(ev, item, input, env);

		if (v == NULL)
			continue;
		if (SF_JN_IS_ARRAY(v) && item->type != SF_JN_NODE_ARRAY)
		{
			/* The only part of a constructor needs no copy of its elements. */
			if (node->items.n == 1)
			{
				result->u.items = v->u.items;
				result->len = ((SfJnContainer *) result)->cap = v->len;
			}
			else
				sf_jn_push_all(&ev->arena, result, v);
		}
		else
			sf_jn_push(&ev->arena, result, v);
	}
	if (node->cons)
		result->flags |= SF_JN_CONS;
	return result;
}

/* Append a value to a flat list, taking arrays apart at any depth. */
static void
flatten(SfJnEval *ev, SfJnValue *list, SfJnValue *v)
{
	if (!SF_JN_IS_ARRAY(v))
	{
		sf_jn_push(&ev->arena, list, v);
		return;
	}
	sf_jn_check_stack(ev);
	for (uint32 i = 0; i < v->len; i++)
		flatten(ev, list, v->u.items[i]);
}

/* Collect the values of all members. */
static SfJnValue *
eval_wildcard(SfJnEval *ev, SfJnValue *input)
{
	SfJnValue  *result = sf_jn_sequence(&ev->arena, 4);
	bool		plain = false;

	input = sf_jn_unwrap(input);
	if (SF_JN_IS_OBJECT(input) || SF_JN_IS_ARRAY(input))
	{
		for (uint32 i = 0; i < input->len; i++)
		{
			SfJnValue  *v = SF_JN_IS_OBJECT(input) ?
				input->u.members[i].value : input->u.items[i];

			if (SF_JN_IS_ARRAY(v))
			{
				flatten(ev, result, v);
				plain = true;
			}
			else
				sf_jn_push(&ev->arena, result, v);
		}
	}
	/* Once arrays were appended it is an array like any other. */
	if (plain)
		result->flags = 0;
	return result;
}

/* Collect a value and everything below it; arrays are passed through. */
static void
collect_descendants(SfJnEval *ev, SfJnValue *v, SfJnValue *result)
{
	sf_jn_check_stack(ev);
	if (!SF_JN_IS_ARRAY(v))
		sf_jn_push(&ev->arena, result, v);
	if (SF_JN_IS_ARRAY(v))
	{
		for (uint32 i = 0; i < v->len; i++)
			collect_descendants(ev, v->u.items[i], result);
	}
	else if (SF_JN_IS_OBJECT(v))
	{
		for (uint32 i = 0; i < v->len; i++)
			collect_descendants(ev, v->u.members[i].value, result);
	}
}

/* Evaluate the parts of a block in a scope of their own. */
static SfJnValue *
eval_block(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnFrame  *frame = sf_jn_frame(ev, env);
	SfJnValue  *result = NULL;

	for (int i = 0; i < node->items.n; i++)
		result = sf_jn_eval(ev, node->items.at[i], input, frame);
	return result;
}

/* Evaluate one branch of a condition. */
static SfJnValue *
eval_condition(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *condition = sf_jn_eval(ev, node->lhs, input, env);

	if (sf_jn_truth(ev, condition))
		return sf_jn_eval(ev, node->rhs, input, env);
	if (node->third != NULL)
		return sf_jn_eval(ev, node->third, input, env);
	return NULL;
}

/* Evaluate a node by its type. */
static SfJnValue *
eval_node(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *v;

	switch (node->type)
	{
		case SF_JN_NODE_PATH:
			return sf_jn_eval_path(ev, node, input, env);
		case SF_JN_NODE_BINARY:
			return sf_jn_eval_binary(ev, node, input, env);
		case SF_JN_NODE_NEGATE:
			return eval_negate(ev, node, input, env);
		case SF_JN_NODE_ARRAY:
			return eval_array(ev, node, input, env);
		case SF_JN_NODE_OBJECT:
			return sf_jn_eval_group(ev, &node->items, node->position, input, env);
		case SF_JN_NODE_NAME:
			return sf_jn_lookup_member(ev, input, &node->name);
		case SF_JN_NODE_STRING:
		case SF_JN_NODE_NUMBER:
		case SF_JN_NODE_CONSTANT:
			return node->value;
		case SF_JN_NODE_WILDCARD:
			return eval_wildcard(ev, input);
		case SF_JN_NODE_DESCENDANT:
			if (input == NULL)
				return NULL;
			v = sf_jn_sequence(&ev->arena, 16);
			collect_descendants(ev, input, v);
			return v;
		case SF_JN_NODE_PARENT:
			return sf_jn_lookup(ev, env, &node->sought->label);
		case SF_JN_NODE_CONDITION:
			return eval_condition(ev, node, input, env);
		case SF_JN_NODE_BLOCK:
			return eval_block(ev, node, input, env);
		case SF_JN_NODE_BIND:
			v = sf_jn_eval(ev, node->rhs, input, env);
			sf_jn_bind(ev, env, &node->name, v);
			return v;
		case SF_JN_NODE_REGEX:
			v = sf_jn_function_value(&ev->arena, SF_JN_FUNCTION_REGEX);
			v->u.function->regex = node->regex;
			return v;
		case SF_JN_NODE_FUNCTION:
			return sf_jn_eval_call(ev, node, input, env, NULL);
		case SF_JN_NODE_VARIABLE:
			if (node->name.len > 0)
				return sf_jn_lookup(ev, env, &node->name);
			return sf_jn_unwrap(input);
		case SF_JN_NODE_LAMBDA:
			return sf_jn_eval_lambda(ev, node, input, env);
		case SF_JN_NODE_PARTIAL:
			return sf_jn_eval_partial(ev, node, input, env);
		case SF_JN_NODE_APPLY:
			return sf_jn_eval_apply(ev, node, input, env);
		case SF_JN_NODE_TRANSFORM:
			v = sf_jn_function_value(&ev->arena, SF_JN_FUNCTION_TRANSFORM);
			v->u.function->node = node;
			v->u.function->env = env;
			return v;
		case SF_JN_NODE_SORT:
		case SF_JN_NODE_PLACEHOLDER:
		case SF_JN_NODE_OPERATOR:
		case SF_JN_NODE_END:
			break;
	}
	sf_jn_fail_at(ev, node->position, SF_JN_ERROR_S0206,
				  .token = sf_jn_node_name[node->type],
				  .token_len = strlen(sf_jn_node_name[node->type]));
}

/* Evaluate a node with an input (NULL: undefined) in a scope. */
SfJnValue *
sf_jn_eval(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *v;

	sf_jn_check(ev);
	if (++ev->depth > ev->max_depth || stack_is_too_deep())
		sf_jn_fail(ev, SF_JN_ERROR_U1001);

	v = eval_node(ev, node, input, env);
	for (int i = 0; i < node->predicates.n; i++)
		v = sf_jn_eval_filter(ev, node->predicates.at[i].expr, v, env);
	if (node->group != NULL && node->type != SF_JN_NODE_PATH)
		v = sf_jn_eval_group(ev, &node->group->pairs, node->group->position, v, env);

	ev->depth--;
	if (SF_JN_IS_SEQUENCE(v) && (v->flags & SF_JN_TUPLES) == 0)
	{
		if (node->keep_array)
			v->flags |= SF_JN_KEEP;
		return collapse(v);
	}
	return v;
}
