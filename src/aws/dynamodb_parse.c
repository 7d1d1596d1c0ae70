/*
 * dynamodb_parse.c
 *		DynamoDB's expressions: text to tree, by recursive descent.
 *
 *		condition  = conjunction { "OR" conjunction }
 *		conjunction = negation { "AND" negation }
 *		negation   = "NOT" negation | "(" condition ")" | predicate
 *		predicate  = function | operand comparator operand
 *				   | operand "BETWEEN" operand "AND" operand
 *				   | operand "IN" "(" operand { "," operand } ")"
 *		operand    = path | ":value" | "size" "(" path ")"
 *		path       = name { "." name | "[" index "]" }
 *		name       = identifier | "#name"
 *
 *		update     = { "SET" path "=" sum , … | "REMOVE" path , …
 *					 | "ADD" path operand , … | "DELETE" path operand , … }
 *		sum        = term [ ( "+" | "-" ) term ]
 *		term       = operand | "if_not_exists" "(" path "," sum ")"
 *				   | "list_append" "(" sum "," sum ")" | "(" sum ")"
 *
 * Keywords are taken in any case, functions only as written.  Unlike the
 * service, reserved words may be names.
 */
#include "postgres.h"

#include <ctype.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "aws/dynamodb.h"
#include "base/version/compat.h"

/* Bytes of an expression, as in the service */
#define MAX_EXPRESSION	4096

typedef enum TokenKind
{
	TOKEN_END, TOKEN_NAME, TOKEN_PLACEHOLDER, TOKEN_VALUE, TOKEN_NUMBER,
	TOKEN_SIGN, TOKEN_BAD
} TokenKind;

typedef struct Parser
{
	const SfDynamodb *x;
	const char *at;				/* behind the token */
	const char *start;			/* of the token */
	TokenKind	kind;
	char	   *token;			/* its text */
} Parser;

/* A function of conditions: how many arguments, and is the first a path? */
typedef struct Function
{
	const char *name;
	SfDynamodbOp op;
	int			nargs;
	bool		in_condition;	/* a predicate by itself */
	bool		in_update;
} Function;

static const Function functions[] = {
	{"attribute_exists", SF_DDB_ATTRIBUTE_EXISTS, 1, true, false},
	{"attribute_not_exists", SF_DDB_ATTRIBUTE_NOT_EXISTS, 1, true, false},
	{"attribute_type", SF_DDB_ATTRIBUTE_TYPE, 2, true, false},
	{"begins_with", SF_DDB_BEGINS_WITH, 2, true, false},
	{"contains", SF_DDB_CONTAINS, 2, true, false},
	{"size", SF_DDB_SIZE, 1, false, false},
	{"if_not_exists", SF_DDB_IF_NOT_EXISTS, 2, false, true},
	{"list_append", SF_DDB_LIST_APPEND, 2, false, true},
};

static SfDynamodbNode *parse_or(Parser *p);
static SfDynamodbNode *parse_operand(Parser *p);
static SfDynamodbNode *parse_sum(Parser *p);

/* Raise SF014 with the text of a ValidationException. */
void
sf_dynamodb_fail(const char *fmt,...)
{
	va_list		args;
	char	   *message;

	va_start(args, fmt);
	message = sf_error_format(fmt, args);
	va_end(args);
	ereport(ERROR,
			(errcode(ERRCODE_SF_EXPRESSION_ERROR),
			 errmsg_internal("%s", message)));
}

/* Read the next token. */
static void
next_token(Parser *p)
{
	const char *s = p->at;

	while (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')
		s++;
	p->start = s;
	if (*s == '\0')
		p->kind = TOKEN_END;
	else if (*s == '#' || *s == ':' || isalpha((unsigned char) *s) || *s == '_')
	{
		p->kind = *s == '#' ? TOKEN_PLACEHOLDER : *s == ':' ? TOKEN_VALUE : TOKEN_NAME;
		for (s++; isalnum((unsigned char) *s) || *s == '_';)
			s++;
	}
	else if (isdigit((unsigned char) *s))
	{
		p->kind = TOKEN_NUMBER;
		while (isdigit((unsigned char) *s))
			s++;
	}
	else if (strchr("()[],.=+-", *s) != NULL)
	{
		p->kind = TOKEN_SIGN;
		s++;
	}
	else if (*s == '<' || *s == '>')
	{
		p->kind = TOKEN_SIGN;
		s += s[1] == '=' || (*s == '<' && s[1] == '>') ? 2 : 1;
	}
	else
	{
		p->kind = TOKEN_BAD;
		s += pg_mblen(s);
	}
	p->token = pnstrdup(p->start, s - p->start);
	p->at = s;
}

/* Raise that the token cannot stand where it stands. */
static void pg_attribute_noreturn()
syntax_error(const Parser *p)
{
	const char *from = p->start - Min(p->start - p->x->text, 16);

	sf_dynamodb_fail("Invalid %s: Syntax error; token: \"%s\", near: \"%s\"",
					 p->x->field, p->kind == TOKEN_END ? "<EOF>" : p->token,
					 pnstrdup(from, p->at - from));
}

/* Tell whether the token is a keyword. */
static bool
is_keyword(const Parser *p, const char *keyword)
{
	return p->kind == TOKEN_NAME && pg_strcasecmp(p->token, keyword) == 0;
}

/* Tell whether the token is a sign. */
static bool
is_sign(const Parser *p, const char *sign)
{
	return p->kind == TOKEN_SIGN && strcmp(p->token, sign) == 0;
}

/* Go past the token; raise if it is not what has to be there. */
static void
expect(Parser *p, bool is_right)
{
	if (!is_right)
		syntax_error(p);
	next_token(p);
}

/* Go past a sign if it is there. */
static bool
accept_sign(Parser *p, const char *sign)
{
	if (!is_sign(p, sign))
		return false;
	next_token(p);
	return true;
}

/* Go past a keyword if it is there. */
static bool
accept_keyword(Parser *p, const char *keyword)
{
	if (!is_keyword(p, keyword))
		return false;
	next_token(p);
	return true;
}

/* Make a node with up to two arguments. */
static SfDynamodbNode *
make_node(SfDynamodbOp op, SfDynamodbNode *a, SfDynamodbNode *b)
{
	SfDynamodbNode *node = palloc0(sizeof(SfDynamodbNode));

	node->op = op;
	if (a != NULL)
		node->args = lappend(node->args, a);
	if (b != NULL)
		node->args = lappend(node->args, b);
	return node;
}

/* Read the attribute name that the token means. */
static const char *
attribute_name(Parser *p)
{
	char	   *name = p->token;

	if (p->kind == TOKEN_PLACEHOLDER)
	{
		name = p->x->names ? sf_json_get_cstring(p->x->names, p->token) : NULL;
		if (name == NULL)
			sf_dynamodb_fail("Invalid %s: An expression attribute name used in the document path is not defined; attribute name: %s",
							 p->x->field, p->token);
	}
	expect(p, p->kind == TOKEN_PLACEHOLDER || p->kind == TOKEN_NAME);
	return name;
}

/* Append a step to a path. */
static void
append_step(SfDynamodbNode *node, const char *name, int index)
{
	SfDynamodbPathStep *step = palloc(sizeof(SfDynamodbPathStep));

	step->name = name;
	step->index = index;
	node->path = lappend(node->path, step);
}

/* Read a document path. */
static SfDynamodbNode *
parse_path(Parser *p)
{
	SfDynamodbNode *node = make_node(SF_DDB_PATH, NULL, NULL);

	append_step(node, attribute_name(p), 0);
	for (;;)
	{
		if (accept_sign(p, "."))
			append_step(node, attribute_name(p), 0);
		else if (accept_sign(p, "["))
		{
			const char *index = p->token;

			expect(p, p->kind == TOKEN_NUMBER && strlen(index) <= 9);
			append_step(node, NULL, atoi(index));
			expect(p, is_sign(p, "]"));
		}
		else
			return node;
	}
}

/* Read a value placeholder. */
static SfDynamodbNode *
parse_value(Parser *p)
{
	SfDynamodbNode *node = make_node(SF_DDB_VALUE, NULL, NULL);
	const char *type;
	JsonbValue	inner;

	if (p->kind != TOKEN_VALUE)
		syntax_error(p);
	node->value = p->x->values ? sf_json_get(p->x->values, p->token) : NULL;
	if (node->value == NULL)
		sf_dynamodb_fail("Invalid %s: An expression attribute value used in expression is not defined; attribute value: %s",
						 p->x->field, p->token);
	if (!sf_dynamodb_type(node->value, &type, &inner))
		sf_dynamodb_fail("ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key %s",
						 p->token);
	next_token(p);
	return node;
}

/* Tell whether "(" follows the token. */
static bool
opens_list(const Parser *p)
{
	return p->at[strspn(p->at, " \t\r\n")] == '(';
}

/* Find the function that the token names, if "(" follows; else NULL. */
static const Function *
find_function(const Parser *p)
{
	if (p->kind != TOKEN_NAME || !opens_list(p))
		return NULL;
	for (int i = 0; i < (int) lengthof(functions); i++)
		if (strcmp(functions[i].name, p->token) == 0)
			return &functions[i];
	return NULL;
}

/* Read the arguments of a function and its closing parenthesis. */
static SfDynamodbNode *
parse_call(Parser *p, const Function *function)
{
	SfDynamodbNode *node = make_node(function->op, NULL, NULL);

	next_token(p);
	for (int i = 0; i < function->nargs; i++)
	{
		SfDynamodbNode *arg;

		expect(p, i == 0 || is_sign(p, ","));	/* "(" is there */
		if (function->in_update && (i > 0 || function->op == SF_DDB_LIST_APPEND))
			arg = parse_sum(p);
		else
			arg = i == 0 ? parse_path(p) : parse_operand(p);
		node->args = lappend(node->args, arg);
	}
	expect(p, is_sign(p, ")"));
	return node;
}

/* Read a path, a value, or size(path). */
static SfDynamodbNode *
parse_operand(Parser *p)
{
	const Function *function = find_function(p);

	if (p->kind == TOKEN_VALUE)
		return parse_value(p);
	if (function == NULL)
		return parse_path(p);
	if (function->op != SF_DDB_SIZE)
		syntax_error(p);
	return parse_call(p, function);
}

/* Read the list of IN, whose "(" is the next token. */
static SfDynamodbNode *
parse_in(Parser *p, SfDynamodbNode *left)
{
	SfDynamodbNode *node = make_node(SF_DDB_IN, left, NULL);

	next_token(p);
	do
	{
		next_token(p);			/* "(" or "," */
		node->args = lappend(node->args, parse_operand(p));
	} while (is_sign(p, ","));
	expect(p, is_sign(p, ")"));
	return node;
}

/* Find the comparison that the token means; false: none. */
static bool
comparator(const Parser *p, SfDynamodbOp *op)
{
	static const char *const signs[] = {"=", "<>", "<", "<=", ">", ">="};

	for (int i = 0; i < (int) lengthof(signs); i++)
		if (is_sign(p, signs[i]))
		{
			*op = SF_DDB_EQ + i;
			return true;
		}
	return false;
}

/* Read a comparison or a function that is a condition by itself. */
static SfDynamodbNode *
parse_predicate(Parser *p)
{
	const Function *function = find_function(p);
	SfDynamodbNode *left;
	SfDynamodbOp op;

	if (function != NULL && function->in_condition)
		return parse_call(p, function);
	left = parse_operand(p);
	if (comparator(p, &op))
	{
		next_token(p);
		return make_node(op, left, parse_operand(p));
	}
	if (is_keyword(p, "IN") && opens_list(p))
		return parse_in(p, left);
	if (accept_keyword(p, "IN"))
		syntax_error(p);
	expect(p, is_keyword(p, "BETWEEN"));
	left = make_node(SF_DDB_BETWEEN, left, parse_operand(p));
	expect(p, is_keyword(p, "AND"));
	left->args = lappend(left->args, parse_operand(p));
	return left;
}

/* Read NOT, parentheses, or a predicate. */
static SfDynamodbNode *
parse_not(Parser *p)
{
	SfDynamodbNode *node;

	check_stack_depth();
	if (accept_keyword(p, "NOT"))
		return make_node(SF_DDB_NOT, parse_not(p), NULL);
	if (!accept_sign(p, "("))
		return parse_predicate(p);
	node = parse_or(p);
	expect(p, is_sign(p, ")"));
	return node;
}

/* Read a conjunction. */
static SfDynamodbNode *
parse_and(Parser *p)
{
	SfDynamodbNode *node = parse_not(p);

	while (accept_keyword(p, "AND"))
		node = make_node(SF_DDB_AND, node, parse_not(p));
	return node;
}

/* Read a condition. */
static SfDynamodbNode *
parse_or(Parser *p)
{
	SfDynamodbNode *node = parse_and(p);

	while (accept_keyword(p, "OR"))
		node = make_node(SF_DDB_OR, node, parse_and(p));
	return node;
}

/* Read a term of an update's value. */
static SfDynamodbNode *
parse_term(Parser *p)
{
	const Function *function = find_function(p);
	SfDynamodbNode *node;

	check_stack_depth();
	if (function != NULL && function->in_update)
		return parse_call(p, function);
	if (!accept_sign(p, "("))
		return parse_operand(p);
	node = parse_sum(p);
	expect(p, is_sign(p, ")"));
	return node;
}

/* Read a sum or difference. */
static SfDynamodbNode *
parse_sum(Parser *p)
{
	SfDynamodbNode *left = parse_term(p);

	if (accept_sign(p, "+"))
		return make_node(SF_DDB_PLUS, left, parse_term(p));
	if (accept_sign(p, "-"))
		return make_node(SF_DDB_MINUS, left, parse_term(p));
	return left;
}

/* Read one action of a clause. */
static SfDynamodbNode *
parse_action(Parser *p, SfDynamodbOp op)
{
	SfDynamodbNode *path = parse_path(p);

	if (op == SF_DDB_REMOVE)
		return make_node(op, path, NULL);
	if (op != SF_DDB_SET)
		return make_node(op, path, parse_value(p));
	expect(p, is_sign(p, "="));
	return make_node(op, path, parse_sum(p));
}

/* Find the clause that the token begins. */
static SfDynamodbOp
clause(const Parser *p)
{
	static const char *const keywords[] = {"SET", "REMOVE", "ADD", "DELETE"};

	for (int i = 0; i < (int) lengthof(keywords); i++)
		if (is_keyword(p, keywords[i]))
			return SF_DDB_SET + i;
	syntax_error(p);
}

/* Begin to read an expression. */
static Parser
begin(const SfDynamodb *x)
{
	Parser		p = {.x = x, .at = x->text};

	if (strlen(x->text) > MAX_EXPRESSION)
		sf_dynamodb_fail("Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %zu",
						 x->field, strlen(x->text));
	next_token(&p);
	if (p.kind == TOKEN_END)
		sf_dynamodb_fail("Invalid %s: The expression can not be empty;", x->field);
	return p;
}

/* Parse a condition, filter or key condition. */
SfDynamodbNode *
sf_dynamodb_parse_condition(const SfDynamodb *x)
{
	Parser		p = begin(x);
	SfDynamodbNode *condition = parse_or(&p);

	if (p.kind != TOKEN_END)
		syntax_error(&p);
	return condition;
}

/* Parse an update into its actions. */
List *
sf_dynamodb_parse_update(const SfDynamodb *x)
{
	Parser		p = begin(x);
	List	   *actions = NIL;
	int			seen = 0;

	while (p.kind != TOKEN_END)
	{
		SfDynamodbOp op = clause(&p);

		if (seen & (1 << op))
			sf_dynamodb_fail("Invalid %s: The \"%s\" section can only be used once in an update expression;",
							 x->field, p.token);
		seen |= 1 << op;
		do
		{
			next_token(&p);
			actions = lappend(actions, parse_action(&p, op));
		} while (is_sign(&p, ","));
	}
	return actions;
}

/* Parse a list of paths. */
List *
sf_dynamodb_parse_paths(const SfDynamodb *x)
{
	Parser		p = begin(x);
	List	   *paths = NIL;

	do
		paths = lappend(paths, parse_path(&p));
	while (accept_sign(&p, ","));
	if (p.kind != TOKEN_END)
		syntax_error(&p);
	return paths;
}
