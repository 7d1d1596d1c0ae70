/*
 * parser.c
 *		The grammar of JSONata: a top-down operator precedence (Pratt) parser.
 *
 * A token begins an expression (parse_prefix) or follows a complete left side
 * (parse_infix).  The binding power of the token decides how far its right side
 * reaches.  The tree has the shape of the reference implementation's, including
 * its quirks: "and", "or" and "in" are names where an operand is expected.  Names,
 * paths and predicates get their final form in process.c.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "jsonata/syntax/ast.h"
#include "jsonata/value/fail.h"

#define MAX_PARSE_DEPTH 5000

static SfJnNode *parse_expression(SfJnCompile *compile, int power);

/* Append to a list of nodes. */
void
sf_jn_list_add(SfJnCompile *compile, SfJnNodeList *list, SfJnNode *item)
{
	if (list->n >= list->cap)
	{
		list->cap = list->cap == 0 ? 4 : list->cap * 2;
		list->at = sf_jn_grow(compile->arena, list->at, list->n, list->cap, sizeof(SfJnNode *));
	}
	list->at[list->n++] = item;
}

/* Throw an error about a node, which is its token, and a value. */
static void pg_attribute_noreturn()
fail_node(SfJnCompile *compile, SfJnErrorCode code, const SfJnNode *node, SfJnValue *value)
{
	sf_jn_throw_error(compile->thrower, node->position, code, .value = value,
					  .token = node->name.str, .token_len = node->name.len,
					  .token_raw = node->type == SF_JN_NODE_NUMBER ||
					  node->type == SF_JN_NODE_CONSTANT);
}

/* Throw S0202 or S0203: something else was expected here. */
static void pg_attribute_noreturn()
fail_expected(SfJnCompile *compile, SfJnOp op)
{
	fail_node(compile, compile->node->type == SF_JN_NODE_END ? SF_JN_ERROR_S0203 : SF_JN_ERROR_S0202, compile->node,
			  sf_jn_cstring(compile->arena, sf_jn_operator_text[op]));
}

/* Go to the next token; it must be a symbol of the language. */
static void
next(SfJnCompile *compile, bool infix)
{
	if (compile->node != NULL && compile->node->type == SF_JN_NODE_END)
		return;
	sf_jn_next_token(compile, infix);
	if (compile->token == SF_JN_OP_BANG || compile->token == SF_JN_OP_TILDE)
		fail_node(compile, SF_JN_ERROR_S0204, compile->node, NULL);
}

/* Require an operator and go past it. */
static void
expect(SfJnCompile *compile, SfJnOp op, bool infix)
{
	if (compile->token != op)
		fail_expected(compile, op);
	next(compile, infix);
}

/* Go past an operator if it is the current token. */
static bool
accept(SfJnCompile *compile, SfJnOp op)
{
	if (compile->token != op)
		return false;
	next(compile, false);
	return true;
}

/* Parse the arguments of a call up to the closing parenthesis. */
static void
parse_arguments(SfJnCompile *compile, SfJnNode *call)
{
	if (compile->token != SF_JN_OP_RPAREN)
	{
		do
		{
			SfJnNode   *hole = compile->node;

			if (accept(compile, SF_JN_OP_QUESTION))
			{
				hole->type = SF_JN_NODE_PLACEHOLDER;
				call->type = SF_JN_NODE_PARTIAL;
				sf_jn_list_add(compile, &call->items, hole);
			}
			else
				sf_jn_list_add(compile, &call->items, parse_expression(compile, 0));
		} while (accept(compile, SF_JN_OP_COMMA));
	}
	expect(compile, SF_JN_OP_RPAREN, true);
}

/* Parse the signature <…> of a lambda. */
static void
parse_signature(SfJnCompile *compile, SfJnNode *lambda)
{
	int			position = compile->node->position;
	Size		start = compile->pos - 1;
	int			depth = 1;
	char	   *text;
	Size		len = 0;

	while (depth > 0 && compile->token != SF_JN_OP_LBRACE && compile->node->type != SF_JN_NODE_END)
	{
		next(compile, false);
		if (compile->token == SF_JN_OP_GT)
			depth--;
		else if (compile->token == SF_JN_OP_LT)
			depth++;
	}
	if (compile->token != SF_JN_OP_GT)
		fail_expected(compile, SF_JN_OP_GT);
	text = sf_jn_alloc(compile->arena, compile->pos - start + 1);
	for (Size i = start; i < compile->pos; i++)
	{
		if (strchr(" \t\n\r\v", compile->text[i]) == NULL)
			text[len++] = compile->text[i];
	}
	text[len] = '\0';
	next(compile, false);
	lambda->signature = sf_jn_signature_parse(compile->arena, compile->thrower, text, position);
}

/*
 * Parse what follows the left side of an opening parenthesis: a call, a
 * partial application or, after "function" or λ, a lambda.
 */
static SfJnNode *
parse_call(SfJnCompile *compile, SfJnNode *node, SfJnNode *left)
{
	node->type = SF_JN_NODE_FUNCTION;
	parse_arguments(compile, node);

	if (left->type != SF_JN_NODE_NAME ||
		!((left->name.len == 8 && memcmp(left->name.str, "function", 8) == 0) ||
		  (left->name.len == 2 && memcmp(left->name.str, "\xce\xbb", 2) == 0)))
		return node;

	for (int i = 0; i < node->items.n; i++)
	{
		SfJnNode   *param = node->items.at[i];

		if (param->type != SF_JN_NODE_VARIABLE)
			sf_jn_throw_error(compile->thrower, param->position, SF_JN_ERROR_S0208,
							  .token = param->name.str, .token_len = param->name.len,
							  .value = sf_jn_number(compile->arena, i + 1));
	}
	node->type = SF_JN_NODE_LAMBDA;
	node->lhs = NULL;
	if (compile->token == SF_JN_OP_LT)
		parse_signature(compile, node);
	expect(compile, SF_JN_OP_LBRACE, false);
	node->rhs = parse_expression(compile, 0);
	expect(compile, SF_JN_OP_RBRACE, false);
	return node;
}

/* Parse the expressions of a block. */
static SfJnNode *
parse_block(SfJnCompile *compile, SfJnNode *node)
{
	node->type = SF_JN_NODE_BLOCK;
	while (compile->token != SF_JN_OP_RPAREN)
	{
		sf_jn_list_add(compile, &node->items, parse_expression(compile, 0));
		if (!accept(compile, SF_JN_OP_SEMICOLON))
			break;
	}
	expect(compile, SF_JN_OP_RPAREN, true);
	return node;
}

/* Parse the elements of an array constructor. */
static SfJnNode *
parse_array(SfJnCompile *compile, SfJnNode *node)
{
	node->type = SF_JN_NODE_ARRAY;
	if (compile->token != SF_JN_OP_RBRACKET)
	{
		do
		{
			SfJnNode   *item = parse_expression(compile, 0);
			SfJnNode   *range = compile->node;

			if (accept(compile, SF_JN_OP_RANGE))
			{
				range->type = SF_JN_NODE_BINARY;
				range->lhs = item;
				range->rhs = parse_expression(compile, 0);
				item = range;
			}
			sf_jn_list_add(compile, &node->items, item);
		} while (accept(compile, SF_JN_OP_COMMA));
	}
	expect(compile, SF_JN_OP_RBRACKET, true);
	return node;
}

/* Parse the pairs of an object constructor or of a grouping. */
static void
parse_pairs(SfJnCompile *compile, SfJnNode *node)
{
	if (compile->token != SF_JN_OP_RBRACE)
	{
		do
		{
			sf_jn_list_add(compile, &node->items, parse_expression(compile, 0));
			expect(compile, SF_JN_OP_COLON, false);
			sf_jn_list_add(compile, &node->items, parse_expression(compile, 0));
		} while (accept(compile, SF_JN_OP_COMMA));
	}
	expect(compile, SF_JN_OP_RBRACE, true);
}

/* Parse a transform: | pattern | update, delete | */
static SfJnNode *
parse_transform(SfJnCompile *compile, SfJnNode *node)
{
	node->type = SF_JN_NODE_TRANSFORM;
	node->lhs = parse_expression(compile, 0);
	expect(compile, SF_JN_OP_PIPE, false);
	node->rhs = parse_expression(compile, 0);
	if (accept(compile, SF_JN_OP_COMMA))
		node->third = parse_expression(compile, 0);
	expect(compile, SF_JN_OP_PIPE, false);
	return node;
}

/* Parse the terms of an order-by clause; the caret was read. */
static void
parse_sort(SfJnCompile *compile, SfJnNode *node)
{
	expect(compile, SF_JN_OP_LPAREN, false);
	do
	{
		bool		descending = accept(compile, SF_JN_OP_GT);
		SfJnNode   *term;

		if (!descending)
			(void) accept(compile, SF_JN_OP_LT);
		term = parse_expression(compile, 0);
		term->descending = descending;
		sf_jn_list_add(compile, &node->items, term);
	} while (accept(compile, SF_JN_OP_COMMA));
	expect(compile, SF_JN_OP_RPAREN, false);
}

/*
 * Parse a token that stands at the beginning of an expression.
 *
 * The end of the text counts as an operand.  An unclosed bracket is then reported
 * first; process.c reports a missing operand.
 */
static SfJnNode *
parse_prefix(SfJnCompile *compile, SfJnNode *node)
{
	if (node->type != SF_JN_NODE_OPERATOR)
		return node;
	switch (node->op)
	{
		case SF_JN_OP_AND:
		case SF_JN_OP_OR:
		case SF_JN_OP_IN:
			node->type = SF_JN_NODE_NAME;
			return node;
		case SF_JN_OP_MINUS:
			node->type = SF_JN_NODE_NEGATE;
			node->lhs = parse_expression(compile, 70);
			return node;
		case SF_JN_OP_STAR:
			node->type = SF_JN_NODE_WILDCARD;
			return node;
		case SF_JN_OP_DESCEND:
			node->type = SF_JN_NODE_DESCENDANT;
			return node;
		case SF_JN_OP_PERCENT:
			node->type = SF_JN_NODE_PARENT;
			return node;
		case SF_JN_OP_LPAREN:
			return parse_block(compile, node);
		case SF_JN_OP_LBRACKET:
			return parse_array(compile, node);
		case SF_JN_OP_LBRACE:
			parse_pairs(compile, node);
			node->type = SF_JN_NODE_OBJECT;
			return node;
		case SF_JN_OP_PIPE:
			return parse_transform(compile, node);
		default:
			fail_node(compile, SF_JN_ERROR_S0211, node, NULL);
	}
	return NULL;				/* not reached */
}

/*
 * Parse the opening bracket after a left side: a predicate, or [] which keeps
 * singleton arrays.
 */
static SfJnNode *
parse_bracket(SfJnCompile *compile, SfJnNode *node, SfJnNode *left)
{
	if (accept(compile, SF_JN_OP_RBRACKET))
	{
		SfJnNode   *step = left;

		while (step->type == SF_JN_NODE_BINARY && step->op == SF_JN_OP_LBRACKET)
			step = step->lhs;
		step->keep_array = true;
		return left;
	}
	node->rhs = parse_expression(compile, 0);
	expect(compile, SF_JN_OP_RBRACKET, true);
	return node;
}

/* Parse left ?? right: the left side unless it is undefined. */
static void
parse_coalesce(SfJnCompile *compile, SfJnNode *node, SfJnNode *left)
{
	SfJnNode   *call = sf_jn_node(compile, SF_JN_NODE_FUNCTION, node->position);

	call->lhs = sf_jn_node(compile, SF_JN_NODE_VARIABLE, node->position);
	call->lhs->name = sf_jn_name("exists", 6);
	sf_jn_list_add(compile, &call->items, left);
	node->type = SF_JN_NODE_CONDITION;
	node->lhs = call;
	node->rhs = left;
	node->third = parse_expression(compile, 0);
}

/* Parse an operator that follows a left side; c stands after it. */
static SfJnNode *
parse_infix(SfJnCompile *compile, SfJnNode *node, SfJnNode *left)
{
	int			power = sf_jn_operator_power[node->op];

	node->type = SF_JN_NODE_BINARY;
	node->lhs = left;
	switch (node->op)
	{
		case SF_JN_OP_LPAREN:
			return parse_call(compile, node, left);
		case SF_JN_OP_LBRACKET:
			return parse_bracket(compile, node, left);
		case SF_JN_OP_LBRACE:
			parse_pairs(compile, node);
			break;
		case SF_JN_OP_CARET:
			parse_sort(compile, node);
			break;
		case SF_JN_OP_AT:
		case SF_JN_OP_HASH:
			node->rhs = parse_expression(compile, power);
			if (node->rhs->type != SF_JN_NODE_VARIABLE)
				sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0214, node->rhs->position,
							   sf_jn_operator_text[node->op]);
			break;
		case SF_JN_OP_COALESCE:
			parse_coalesce(compile, node, left);
			break;
		case SF_JN_OP_ELVIS:
			node->type = SF_JN_NODE_CONDITION;
			node->rhs = left;
			node->third = parse_expression(compile, 0);
			break;
		case SF_JN_OP_QUESTION:
			node->type = SF_JN_NODE_CONDITION;
			node->rhs = parse_expression(compile, 0);
			if (accept(compile, SF_JN_OP_COLON))
				node->third = parse_expression(compile, 0);
			break;
		case SF_JN_OP_ASSIGN:
			if (left->type != SF_JN_NODE_VARIABLE)
				fail_node(compile, SF_JN_ERROR_S0212, left, NULL);
			node->rhs = parse_expression(compile, power - 1);
			break;
		default:
			node->rhs = parse_expression(compile, power);
			break;
	}
	return node;
}

/* Parse an expression whose operators bind stronger than power. */
static SfJnNode *
parse_expression(SfJnCompile *compile, int power)
{
	SfJnNode   *token = compile->node;
	SfJnNode   *left;

	CHECK_FOR_INTERRUPTS();
	if (++compile->depth > MAX_PARSE_DEPTH || stack_is_too_deep())
		sf_jn_throw_at(compile->thrower, SF_JN_ERROR_U1001, token->position, NULL);
	next(compile, true);
	left = parse_prefix(compile, token);
	while (power < sf_jn_operator_power[compile->token])
	{
		token = compile->node;
		next(compile, false);
		left = parse_infix(compile, token, left);
	}
	compile->depth--;
	return left;
}

/* Parse a whole expression. */
SfJnNode *
sf_jn_parse(SfJnArena *arena, struct SfJnThrow *thrower, const char *text, Size len)
{
	SfJnCompile compile;
	SfJnNode   *root;

	memset(&compile, 0, sizeof(compile));
	compile.arena = arena;
	compile.thrower = thrower;
	compile.text = text;
	compile.len = len;
	next(&compile, false);
	root = parse_expression(&compile, 0);
	if (compile.node->type != SF_JN_NODE_END)
		fail_node(&compile, SF_JN_ERROR_S0201, compile.node, NULL);
	root = sf_jn_process(&compile, root);
	if (root->type == SF_JN_NODE_PARENT || root->nseeking > 0)
		sf_jn_throw_at(thrower, SF_JN_ERROR_S0217, SF_NO_POSITION, sf_jn_node_name[root->type]);
	return root;
}
