/*
 * process.c
 *		Transform the parser's tree into the one that is evaluated.
 *
 * Paths: a.b.c is a tree of dots in the parser's tree.  It becomes one PATH with a
 * list of steps; predicates, sorts and bindings belong to the step they follow.
 *
 * Parents: each % seeks an ancestor, which has a label and a level, the number of steps to
 * go back.  The step at which the level reaches zero binds its input to the label
 * when it is evaluated, and its path carries tuples of such bindings.
 * Ancestors that a path does not find are passed up to the enclosing path.
 *
 * Tail calls: a call in tail position of a lambda's body is wrapped into a
 * lambda without parameters (thunk), which the loop in sf_jn_apply() runs.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "jsonata/syntax/ast.h"
#include "jsonata/value/fail.h"

/* Append to the ancestors that a node leaves for its surroundings to find. */
static void
add_seeking(SfJnCompile *compile, SfJnNode *node, SfJnAncestor *sought)
{
	if (node->nseeking >= node->seeking_cap)
	{
		node->seeking_cap = Max(node->nseeking * 2, 1);
		node->seeking = sf_jn_grow(compile->arena, node->seeking, node->nseeking,
								   node->seeking_cap, sizeof(SfJnAncestor *));
	}
	node->seeking[node->nseeking++] = sought;
}

/* Pass the ancestors that a part has not found up to the whole. */
static void
push_ancestry(SfJnCompile *compile, SfJnNode *whole, const SfJnNode *part)
{
	if (part == NULL)
		return;
	if (whole->nseeking == 0)
	{
		/* Nothing is appended to the list of a part any more. */
		whole->seeking = part->seeking;
		whole->nseeking = part->nseeking;
		whole->seeking_cap = part->seeking_cap;
	}
	else
	{
		for (int i = 0; i < part->nseeking; i++)
			add_seeking(compile, whole, part->seeking[i]);
	}
	if (part->type == SF_JN_NODE_PARENT)
		add_seeking(compile, whole, part->sought);
}

/* Walk back over one step in search of an ancestor. */
static void
seek_parent(SfJnCompile *compile, SfJnNode *node, SfJnAncestor *sought)
{
	int			i;

	switch (node->type)
	{
		case SF_JN_NODE_NAME:
		case SF_JN_NODE_WILDCARD:
			if (--sought->level == 0)
			{
				if (node->ancestor == NULL)
					node->ancestor = sought;
				else
				{
					/* The step has a label already: share it. */
					compile->ancestry[sought->index]->sought->label = node->ancestor->label;
					node->ancestor = sought;
				}
				node->tuple = true;
			}
			break;
		case SF_JN_NODE_PARENT:
			sought->level++;
			break;
		case SF_JN_NODE_BLOCK:
			if (node->items.n > 0)
			{
				node->tuple = true;
				seek_parent(compile, node->items.at[node->items.n - 1], sought);
			}
			break;
		case SF_JN_NODE_PATH:
			node->tuple = true;
			i = node->items.n - 1;
			seek_parent(compile, node->items.at[i--], sought);
			while (sought->level > 0 && i >= 0)
				seek_parent(compile, node->items.at[i--], sought);
			break;
		default:
			sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0217, node->position,
						   sf_jn_node_name[node->type]);
	}
}

/* Find the ancestors of a path's last step among the steps before it. */
static void
resolve_ancestry(SfJnCompile *compile, SfJnNode *path)
{
	SfJnNode  **steps = path->items.at;
	SfJnNode   *last = steps[path->items.n - 1];
	int			nsought = last->nseeking + (last->type == SF_JN_NODE_PARENT);

	for (int k = 0; k < nsought; k++)
	{
		SfJnAncestor *sought = k < last->nseeking ? last->seeking[k] : last->sought;
		int			i = path->items.n - 2;

		while (sought->level > 0)
		{
			SfJnNode   *step;

			if (i < 0)
			{
				add_seeking(compile, path, sought);
				break;
			}
			step = steps[i--];
			/* Steps that bind the focus do not move: skip a run of them. */
			while (i >= 0 && step->focus.str != NULL && steps[i]->focus.str != NULL)
				step = steps[i--];
			seek_parent(compile, step, sought);
		}
	}
}

/* Append a stage to a list of them. */
static SfJnStage *
add_stage(SfJnCompile *compile, SfJnStages *stages)
{
	stages->at = sf_jn_grow(compile->arena, stages->at, stages->n, stages->n + 1,
							sizeof(SfJnStage));
	memset(&stages->at[stages->n], 0, sizeof(SfJnStage));
	return &stages->at[stages->n++];
}

/* Make a path of one step. */
static SfJnNode *
make_path(SfJnCompile *compile, SfJnNode *step)
{
	SfJnNode   *path = sf_jn_node(compile, SF_JN_NODE_PATH, step->position);

	sf_jn_list_add(compile, &path->items, step);
	return path;
}

/* Let the predicates of a node that becomes a step be its stages. */
static void
predicates_to_stages(SfJnNode *node)
{
	if (node->predicates.n == 0)
		return;
	node->stages = node->predicates;
	memset(&node->predicates, 0, sizeof(SfJnStages));
}

/* Process left.right into one path. */
static SfJnNode *
process_dot(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *left = sf_jn_process(compile, node->lhs);
	SfJnNode   *path = left->type == SF_JN_NODE_PATH ? left : make_path(compile, left);
	SfJnNode   *right;

	if (left->type == SF_JN_NODE_PARENT)
		add_seeking(compile, path, left->sought);
	right = sf_jn_process(compile, node->rhs);
	if (right->type == SF_JN_NODE_PATH)
	{
		for (int i = 0; i < right->items.n; i++)
			sf_jn_list_add(compile, &path->items, right->items.at[i]);
	}
	else
	{
		predicates_to_stages(right);
		sf_jn_list_add(compile, &path->items, right);
	}

	for (int i = 0; i < path->items.n; i++)
	{
		SfJnNode   *step = path->items.at[i];

		if (step->type == SF_JN_NODE_NUMBER || step->type == SF_JN_NODE_CONSTANT)
			sf_jn_throw_error(compile->thrower, step->position, SF_JN_ERROR_S0213, .value = step->value);
		if (step->type == SF_JN_NODE_STRING)
			step->type = SF_JN_NODE_NAME;
		if (step->keep_array)
			path->keep_singleton = true;
	}
	/* Array constructors at either end of a path do not flatten. */
	if (path->items.at[0]->type == SF_JN_NODE_ARRAY)
		path->items.at[0]->cons = true;
	if (path->items.at[path->items.n - 1]->type == SF_JN_NODE_ARRAY)
		path->items.at[path->items.n - 1]->cons = true;
	resolve_ancestry(compile, path);
	return path;
}

/* The last step of a path, or the node itself. */
static SfJnNode *
last_step(SfJnNode *node)
{
	return node->type == SF_JN_NODE_PATH ? node->items.at[node->items.n - 1] : node;
}

/* Process left[predicate]. */
static SfJnNode *
process_predicate(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *result = sf_jn_process(compile, node->lhs);
	SfJnNode   *step = last_step(result);
	SfJnNode   *predicate;
	SfJnStage  *stage;

	if (step->group != NULL)
		sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0209, node->position, NULL);
	predicate = sf_jn_process(compile, node->rhs);
	if (predicate->nseeking > 0)
	{
		for (int i = 0; i < predicate->nseeking; i++)
		{
			if (predicate->seeking[i]->level == 1)
				seek_parent(compile, step, predicate->seeking[i]);
			else
				predicate->seeking[i]->level--;
		}
		push_ancestry(compile, step, predicate);
	}
	stage = add_stage(compile, step != result ? &step->stages : &step->predicates);
	stage->expr = predicate;
	stage->position = node->position;
	return result;
}

/* Process a part of a node, or NULL, and pass the ancestors that it has not found up to the node. */
static SfJnNode *
process_part(SfJnCompile *compile, SfJnNode *whole, SfJnNode *node)
{
	SfJnNode   *part = node == NULL ? NULL : sf_jn_process(compile, node);

	push_ancestry(compile, whole, part);
	return part;
}

/* Process the members of an object constructor or of a grouping. */
static void
process_list(SfJnCompile *compile, SfJnNode *whole, const SfJnNodeList *from,
			 SfJnNodeList *to, bool ancestry)
{
	SfJnNodeList list = {0};

	for (int i = 0; i < from->n; i++)
		sf_jn_list_add(compile, &list, ancestry ? process_part(compile, whole, from->at[i]) :
					   sf_jn_process(compile, from->at[i]));
	*to = list;
}

/* Process left{key: value}. */
static SfJnNode *
process_group(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *result = sf_jn_process(compile, node->lhs);

	if (result->group != NULL)
		sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0210, node->position, NULL);
	result->group = sf_jn_alloc(compile->arena, sizeof(SfJnGroup));
	process_list(compile, result, &node->items, &result->group->pairs, false);
	result->group->position = node->position;
	return result;
}

/* Process left^(terms): a step of its own. */
static SfJnNode *
process_sort(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *path = sf_jn_process(compile, node->lhs);
	SfJnNode   *sort = sf_jn_node(compile, SF_JN_NODE_SORT, node->position);

	if (path->type != SF_JN_NODE_PATH)
		path = make_path(compile, path);
	process_list(compile, sort, &node->items, &sort->items, true);
	for (int i = 0; i < sort->items.n; i++)
		sort->items.at[i]->descending = node->items.at[i]->descending;
	sf_jn_list_add(compile, &path->items, sort);
	resolve_ancestry(compile, path);
	return path;
}

/* Process left@$name. */
static SfJnNode *
process_focus(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *result = sf_jn_process(compile, node->lhs);
	SfJnNode   *step = last_step(result);

	if (step->stages.n > 0 || step->predicates.n > 0)
		sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0215, node->position, NULL);
	if (step->type == SF_JN_NODE_SORT)
		sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0216, node->position, NULL);
	if (node->keep_array)
		step->keep_array = true;
	step->focus = node->rhs->name;
	step->tuple = true;
	return result;
}

/* Process left#$name. */
static SfJnNode *
process_index(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *result = sf_jn_process(compile, node->lhs);
	SfJnNode   *step = last_step(result);

	if (step == result)
	{
		result = make_path(compile, result);
		predicates_to_stages(step);
	}
	if (step->stages.n == 0)
		step->index = node->rhs->name;
	else
	{
		SfJnStage  *stage = add_stage(compile, &step->stages);

		stage->index = node->rhs->name;
		stage->position = node->position;
	}
	step->tuple = true;
	return result;
}

/* Process a node with an infix operator. */
static SfJnNode *
process_binary(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *result;

	switch (node->op)
	{
		case SF_JN_OP_DOT:
			return process_dot(compile, node);
		case SF_JN_OP_LBRACKET:
			return process_predicate(compile, node);
		case SF_JN_OP_LBRACE:
			return process_group(compile, node);
		case SF_JN_OP_CARET:
			return process_sort(compile, node);
		case SF_JN_OP_AT:
			return process_focus(compile, node);
		case SF_JN_OP_HASH:
			return process_index(compile, node);
		case SF_JN_OP_ASSIGN:
			result = sf_jn_node(compile, SF_JN_NODE_BIND, node->position);
			result->name = node->lhs->name;
			result->rhs = process_part(compile, result, node->rhs);
			return result;
		case SF_JN_OP_CHAIN:
			result = sf_jn_node(compile, SF_JN_NODE_APPLY, node->position);
			result->lhs = sf_jn_process(compile, node->lhs);
			result->rhs = sf_jn_process(compile, node->rhs);
			result->keep_array = result->lhs->keep_array || result->rhs->keep_array;
			return result;
		default:
			result = sf_jn_node(compile, SF_JN_NODE_BINARY, node->position);
			result->op = node->op;
			result->lhs = process_part(compile, result, node->lhs);
			result->rhs = process_part(compile, result, node->rhs);
			return result;
	}
}

/* Process a minus sign; before a number it is part of it. */
static SfJnNode *
process_negate(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *operand = sf_jn_process(compile, node->lhs);

	if (operand->type == SF_JN_NODE_NUMBER)
	{
		operand->value = sf_jn_number(compile->arena, -operand->value->u.number);
		return operand;
	}
	node->lhs = operand;
	push_ancestry(compile, node, operand);
	return node;
}

/* Wrap calls in tail position into thunks. */
static SfJnNode *
optimize_tail(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *thunk;

	if (node->type == SF_JN_NODE_FUNCTION && node->predicates.n == 0)
	{
		thunk = sf_jn_node(compile, SF_JN_NODE_LAMBDA, node->position);
		thunk->thunk = true;
		thunk->rhs = node;
		return thunk;
	}
	if (node->type == SF_JN_NODE_CONDITION)
	{
		/* what is tested too has to give its value there */
		if (!SF_JN_TESTS_VALUE(node))
			node->rhs = optimize_tail(compile, node->rhs);
		if (node->third != NULL)
			node->third = optimize_tail(compile, node->third);
	}
	else if (node->type == SF_JN_NODE_BLOCK && node->items.n > 0)
	{
		SfJnNode  **last = &node->items.at[node->items.n - 1];

		*last = optimize_tail(compile, *last);
	}
	return node;
}

/*
 * Process a condition.  The operands of ?? and ?: stand in it twice and are
 * processed once.
 */
static SfJnNode *
process_condition(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *result = sf_jn_node(compile, SF_JN_NODE_CONDITION, node->position);

	if (node->op == SF_JN_OP_ELVIS)
		result->lhs = result->rhs = sf_jn_process(compile, node->lhs);
	else if (node->op == SF_JN_OP_COALESCE)
	{
		result->rhs = sf_jn_process(compile, node->rhs);
		node->lhs->items.at[0] = result->rhs;
		push_ancestry(compile, node->lhs, result->rhs);
		result->lhs = node->lhs;
	}
	else
	{
		result->lhs = sf_jn_process(compile, node->lhs);
		result->rhs = sf_jn_process(compile, node->rhs);
	}
	result->op = node->op;
	push_ancestry(compile, result, result->lhs);
	if (!SF_JN_TESTS_VALUE(result))
		push_ancestry(compile, result, result->rhs);
	result->third = process_part(compile, result, node->third);
	return result;
}

/* Process a block; it ends in an array constructor if its last part does. */
static SfJnNode *
process_block(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *result = sf_jn_node(compile, SF_JN_NODE_BLOCK, node->position);

	process_list(compile, result, &node->items, &result->items, true);
	for (int i = 0; i < result->items.n; i++)
	{
		SfJnNode   *part = result->items.at[i];

		if (part->cons || (part->type == SF_JN_NODE_PATH && part->items.at[0]->cons))
			result->cons = true;
	}
	return result;
}

/* Give a parent operator the ancestor that it seeks. */
static SfJnNode *
process_parent(SfJnCompile *compile, SfJnNode *node)
{
	SfJnAncestor *sought = sf_jn_alloc(compile->arena, sizeof(SfJnAncestor));
	char	   *label = sf_jn_alloc(compile->arena, 16);
	int			n = snprintf(label, 16, "!%d", compile->nancestry);

	if (compile->nancestry >= compile->ancestry_cap)
	{
		compile->ancestry_cap = compile->ancestry_cap == 0 ? 8 : compile->ancestry_cap * 2;
		compile->ancestry = sf_jn_grow(compile->arena, compile->ancestry, compile->nancestry,
									   compile->ancestry_cap, sizeof(SfJnNode *));
	}
	sought->label = sf_jn_name(label, n);
	sought->level = 1;
	sought->index = compile->nancestry;
	node->sought = sought;
	compile->ancestry[compile->nancestry++] = node;
	return node;
}

/* Process a call or a partial application. */
static SfJnNode *
process_call(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *result = sf_jn_node(compile, node->type, node->position);

	process_list(compile, result, &node->items, &result->items, true);
	result->lhs = sf_jn_process(compile, node->lhs);
	return result;
}

/* Process a node of any kind but the keep_array that every kind has. */
static SfJnNode *
process_node(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *result;

	switch (node->type)
	{
		case SF_JN_NODE_BINARY:
			return process_binary(compile, node);
		case SF_JN_NODE_NEGATE:
			return process_negate(compile, node);
		case SF_JN_NODE_ARRAY:
		case SF_JN_NODE_OBJECT:
			process_list(compile, node, &node->items, &node->items, true);
			return node;
		case SF_JN_NODE_FUNCTION:
		case SF_JN_NODE_PARTIAL:
			return process_call(compile, node);
		case SF_JN_NODE_LAMBDA:
			node->rhs = optimize_tail(compile, sf_jn_process(compile, node->rhs));
			return node;
		case SF_JN_NODE_CONDITION:
			return process_condition(compile, node);
		case SF_JN_NODE_TRANSFORM:
			node->lhs = sf_jn_process(compile, node->lhs);
			node->rhs = sf_jn_process(compile, node->rhs);
			if (node->third != NULL)
				node->third = sf_jn_process(compile, node->third);
			return node;
		case SF_JN_NODE_BLOCK:
			return process_block(compile, node);
		case SF_JN_NODE_NAME:
			result = make_path(compile, node);
			if (node->keep_array)
				result->keep_singleton = true;
			return result;
		case SF_JN_NODE_PARENT:
			return process_parent(compile, node);
		case SF_JN_NODE_END:
			sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0207, node->position, sf_jn_node_name[node->type]);
		default:
			return node;
	}
}

/* Process a node. */
SfJnNode *
sf_jn_process(SfJnCompile *compile, SfJnNode *node)
{
	SfJnNode   *result;

	if (stack_is_too_deep())
		sf_jn_throw_at(compile->thrower, SF_JN_ERROR_U1001, node->position, NULL);
	CHECK_FOR_INTERRUPTS();
	result = process_node(compile, node);
	if (node->keep_array)
		result->keep_array = true;
	return result;
}
