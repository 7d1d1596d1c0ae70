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

/*
 * Fill in what an error lacks from the calls under way, and throw it.  As in
 * the reference implementation the outermost call names the position.
 */
void
sf_jn_raise(SfJnEval *ev)
{
	SfJnError  *error = &ev->thrower.error;

	if (ev->outermost != NULL)
		error->position = ev->outermost->position;
	if (error->token == NULL && ev->call != NULL)
	{
		error->token = ev->call->token;
		error->token_len = ev->call->token_len;
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

/* Look for a cancel request, and now and then at the clock. */
void
sf_jn_check(SfJnEval *ev)
{
	CHECK_FOR_INTERRUPTS();
	if (sf_time_limit_spend(&ev->limit, 1))
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
	SfJnBinding *binding;

	for (binding = frame->bindings; binding != NULL; binding = binding->next)
	{
		if (binding->name.hash == name->hash && binding->name.len == name->len &&
			memcmp(binding->name.str, name->str, name->len) == 0)
		{
			binding->value = value;
			return;
		}
	}
	binding = sf_jn_alloc(&ev->arena, sizeof(SfJnBinding));
	binding->name = *name;
	binding->value = value;
	binding->next = frame->bindings;
	frame->bindings = binding;
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
		SfJnBinding *binding;

		for (binding = frame->bindings; binding != NULL; binding = binding->next)
		{
			if (binding->name.hash == name->hash && binding->name.len == name->len &&
				memcmp(binding->name.str, name->str, name->len) == 0)
				return binding->value;
		}
		if (frame->tuple != NULL)
		{
			SfJnMember *member = sf_jn_find(frame->tuple, name->str, name->len, name->hash);

			if (member != NULL)
				return member->value;
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
collapse(SfJnValue *value)
{
	if (!SF_JN_IS_SEQUENCE(value) || (value->flags & SF_JN_TUPLES) != 0)
		return value;
	if (value->len == 0)
		return NULL;
	if (value->len == 1 && (value->flags & SF_JN_KEEP) == 0)
		return value->u.items[0];
	return value;
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
sf_jn_function_value(SfJnArena *arena, SfJnFunctionKind kind)
{
	SfJnValue  *value = sf_jn_alloc(arena, sizeof(SfJnValue));
	SfJnFunction *function = sf_jn_alloc(arena, sizeof(SfJnFunction));

	memset(function, 0, sizeof(*function));
	function->kind = kind;
	value->type = SF_JN_TYPE_FUNCTION;
	value->flags = 0;
	value->len = 0;
	value->u.function = function;
	return value;
}

/* Negate a number. */
static SfJnValue *
eval_negate(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *value = sf_jn_eval(ev, node->lhs, input, env);

	if (value == NULL)
		return NULL;
	if (!sf_jn_is_numeric(ev, value))
		sf_jn_fail_at(ev, node->position, SF_JN_ERROR_D1002, .value = value,
					  .token = "-", .token_len = 1);
	return sf_jn_number(&ev->arena, -value->u.number);
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
		SfJnValue  *value = sf_jn_eval(ev, item, input, env);

		if (value == NULL)
			continue;
		if (SF_JN_IS_ARRAY(value) && item->type != SF_JN_NODE_ARRAY)
		{
			/* The only part of a constructor needs no copy of its elements. */
			if (node->items.n == 1)
			{
				result->u.items = value->u.items;
				result->len = ((SfJnContainer *) result)->cap = value->len;
			}
			else
				sf_jn_push_all(&ev->arena, result, value);
		}
		else
			sf_jn_push(&ev->arena, result, value);
	}
	if (node->cons)
		result->flags |= SF_JN_CONS;
	return result;
}

/* Append a value to a flat list, taking arrays apart at any depth. */
static void
flatten(SfJnEval *ev, SfJnValue *list, SfJnValue *value)
{
	if (!SF_JN_IS_ARRAY(value))
	{
		sf_jn_push(&ev->arena, list, value);
		return;
	}
	sf_jn_check_stack(ev);
	for (uint32 i = 0; i < value->len; i++)
		flatten(ev, list, value->u.items[i]);
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
			SfJnValue  *value = SF_JN_IS_OBJECT(input) ?
				input->u.members[i].value : input->u.items[i];

			if (SF_JN_IS_ARRAY(value))
			{
				flatten(ev, result, value);
				plain = true;
			}
			else
				sf_jn_push(&ev->arena, result, value);
		}
	}
	/* Once arrays were appended it is an array like any other. */
	if (plain)
		result->flags = 0;
	return result;
}

/* Collect a value and everything below it; arrays are passed through. */
static void
collect_descendants(SfJnEval *ev, SfJnValue *value, SfJnValue *result)
{
	sf_jn_check_stack(ev);
	if (!SF_JN_IS_ARRAY(value))
		sf_jn_push(&ev->arena, result, value);
	if (SF_JN_IS_ARRAY(value))
	{
		for (uint32 i = 0; i < value->len; i++)
			collect_descendants(ev, value->u.items[i], result);
	}
	else if (SF_JN_IS_OBJECT(value))
	{
		for (uint32 i = 0; i < value->len; i++)
			collect_descendants(ev, value->u.members[i].value, result);
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

	if (sf_jn_is_true(ev, condition))
		return sf_jn_eval(ev, node->rhs, input, env);
	if (node->third != NULL)
		return sf_jn_eval(ev, node->third, input, env);
	return NULL;
}

/* Evaluate a node by its type. */
static SfJnValue *
eval_node(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *value;

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
			value = sf_jn_sequence(&ev->arena, 16);
			collect_descendants(ev, input, value);
			return value;
		case SF_JN_NODE_PARENT:
			return sf_jn_lookup(ev, env, &node->sought->label);
		case SF_JN_NODE_CONDITION:
			return eval_condition(ev, node, input, env);
		case SF_JN_NODE_BLOCK:
			return eval_block(ev, node, input, env);
		case SF_JN_NODE_BIND:
			value = sf_jn_eval(ev, node->rhs, input, env);
			sf_jn_bind(ev, env, &node->name, value);
			return value;
		case SF_JN_NODE_REGEX:
			value = sf_jn_function_value(&ev->arena, SF_JN_FUNCTION_REGEX);
			value->u.function->regex = node->regex;
			return value;
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
			value = sf_jn_function_value(&ev->arena, SF_JN_FUNCTION_TRANSFORM);
			value->u.function->node = node;
			value->u.function->env = env;
			return value;
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
	SfJnValue  *value;

	sf_jn_check(ev);
	if (++ev->depth > ev->max_depth || stack_is_too_deep())
		sf_jn_fail(ev, SF_JN_ERROR_U1001);

	value = eval_node(ev, node, input, env);
	for (int i = 0; i < node->predicates.n; i++)
		value = sf_jn_eval_filter(ev, node->predicates.at[i].expr, value, env);
	if (node->group != NULL && node->type != SF_JN_NODE_PATH)
		value = sf_jn_eval_group(ev, &node->group->pairs, node->group->position, value, env);

	ev->depth--;
	if (SF_JN_IS_SEQUENCE(value) && (value->flags & SF_JN_TUPLES) == 0)
	{
		if (node->keep_array)
			value->flags |= SF_JN_KEEP;
		return collapse(value);
	}
	return value;
}
