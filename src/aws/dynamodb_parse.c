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

static SfDynamodbNode *parse_or(Parser *parser);
static SfDynamodbNode *parse_operand(Parser *parser);
static SfDynamodbNode *parse_sum(Parser *parser);

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
next_token(Parser *parser)
{
	const char *s = parser->at;

	while (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')
		s++;
	parser->start = s;
	if (*s == '\0')
		parser->kind = TOKEN_END;
	else if (*s == '#' || *s == ':' || isalpha((unsigned char) *s) || *s == '_')
	{
		parser->kind = *s == '#' ? TOKEN_PLACEHOLDER : *s == ':' ? TOKEN_VALUE : TOKEN_NAME;
		for (s++; isalnum((unsigned char) *s) || *s == '_';)
			s++;
	}
	else if (isdigit((unsigned char) *s))
	{
		parser->kind = TOKEN_NUMBER;
		while (isdigit((unsigned char) *s))
			s++;
	}
	else if (strchr("()[],.=+-", *s) != NULL)
	{
		parser->kind = TOKEN_SIGN;
		s++;
	}
	else if (*s == '<' || *s == '>')
	{
		parser->kind = TOKEN_SIGN;
		s += s[1] == '=' || (*s == '<' && s[1] == '>') ? 2 : 1;
	}
	else
	{
		parser->kind = TOKEN_BAD;
		s += pg_mblen(s);
	}
	parser->token = pnstrdup(parser->start, s - parser->start);
	parser->at = s;
}

/* Raise that the token cannot stand where it stands. */
static void pg_attribute_noreturn()
syntax_error(const Parser *parser)
{
	const char *from = parser->start - Min(parser->start - parser->x->text, 16);

	sf_dynamodb_fail("Invalid %s: Syntax error; token: \"%s\", near: \"%s\"",
					 parser->x->field, parser->kind == TOKEN_END ? "<EOF>" : parser->token,
					 pnstrdup(from, parser->at - from));
}

/* Tell whether the token is a keyword. */
static bool
is_keyword(const Parser *parser, const char *keyword)
{
	return parser->kind == TOKEN_NAME && pg_strcasecmp(parser->token, keyword) == 0;
}

/* Tell whether the token is a sign. */
static bool
is_sign(const Parser *parser, const char *sign)
{
	return parser->kind == TOKEN_SIGN && strcmp(parser->token, sign) == 0;
}

/* Go past the token; raise if it is not what has to be there. */
static void
expect(Parser *parser, bool is_right)
{
	if (!is_right)
		syntax_error(parser);
	next_token(parser);
}

/* Go past a sign if it is there. */
static bool
accept_sign(Parser *parser, const char *sign)
{
	if (!is_sign(parser, sign))
		return false;
	next_token(parser);
	return true;
}

/* Go past a keyword if it is there. */
static bool
accept_keyword(Parser *parser, const char *keyword)
{
	if (!is_keyword(parser, keyword))
		return false;
	next_token(parser);
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
attribute_name(Parser *parser)
{
	char	   *name = parser->token;

	if (parser->kind == TOKEN_PLACEHOLDER)
	{
		name = parser->x->names ? sf_json_get_cstring(parser->x->names, parser->token) : NULL;
		if (name == NULL)
			sf_dynamodb_fail("Invalid %s: An expression attribute name used in the document path is not defined; attribute name: %s",
							 parser->x->field, parser->token);
	}
	expect(parser, parser->kind == TOKEN_PLACEHOLDER || parser->kind == TOKEN_NAME);
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
parse_path(Parser *parser)
{
	SfDynamodbNode *node = make_node(SF_DDB_PATH, NULL, NULL);

	append_step(node, attribute_name(parser), 0);
	for (;;)
	{
		if (accept_sign(parser, "."))
			append_step(node, attribute_name(parser), 0);
		else if (accept_sign(parser, "["))
		{
			const char *index = parser->token;

			expect(parser, parser->kind == TOKEN_NUMBER && strlen(index) <= 9);
			append_step(node, NULL, atoi(index));
			expect(parser, is_sign(parser, "]"));
		}
		else
			return node;
	}
}

/* Read a value placeholder. */
static SfDynamodbNode *
parse_value(Parser *parser)
{
	SfDynamodbNode *node = make_node(SF_DDB_VALUE, NULL, NULL);
	const char *type;
	JsonbValue	inner;

	if (parser->kind != TOKEN_VALUE)
		syntax_error(parser);
	node->value = parser->x->values ? sf_json_get(parser->x->values, parser->token) : NULL;
	if (node->value == NULL)
		sf_dynamodb_fail("Invalid %s: An expression attribute value used in expression is not defined; attribute value: %s",
						 parser->x->field, parser->token);
	if (!sf_dynamodb_type(node->value, &type, &inner))
		sf_dynamodb_fail("ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key %s",
						 parser->token);
	next_token(parser);
	return node;
}

/* Tell whether "(" follows the token. */
static bool
opens_list(const Parser *parser)
{
	return parser->at[strspn(parser->at, " \t\r\n")] == '(';
}

/* Find the function that the token names, if "(" follows; else NULL. */
static const Function *
find_function(const Parser *parser)
{
	if (parser->kind != TOKEN_NAME || !opens_list(parser))
		return NULL;
	for (int i = 0; i < (int) lengthof(functions); i++)
		if (strcmp(functions[i].name, parser->token) == 0)
			return &functions[i];
	return NULL;
}

/* Read the arguments of a function and its closing parenthesis. */
static SfDynamodbNode *
parse_call(Parser *parser, const Function *function)
{
	SfDynamodbNode *node = make_node(function->op, NULL, NULL);

	next_token(parser);
	for (int i = 0; i < function->nargs; i++)
	{
		SfDynamodbNode *arg;

		expect(parser, i == 0 || is_sign(parser, ","));	/* "(" is there */
		if (function->in_update && (i > 0 || function->op == SF_DDB_LIST_APPEND))
			arg = parse_sum(parser);
		else
			arg = i == 0 ? parse_path(parser) : parse_operand(parser);
		node->args = lappend(node->args, arg);
	}
	expect(parser, is_sign(parser, ")"));
	return node;
}

/* Read a path, a value, or size(path). */
static SfDynamodbNode *
parse_operand(Parser *parser)
{
	const Function *function = find_function(parser);

	if (parser->kind == TOKEN_VALUE)
		return parse_value(parser);
	if (function == NULL)
		return parse_path(parser);
	if (function->op != SF_DDB_SIZE)
		syntax_error(parser);
	return parse_call(parser, function);
}

/* Read the list of IN, whose "(" is the next token. */
static SfDynamodbNode *
parse_in(Parser *parser, SfDynamodbNode *left)
{
	SfDynamodbNode *node = make_node(SF_DDB_IN, left, NULL);

	next_token(parser);
	do
	{
		next_token(parser);		/* "(" or "," */
		node->args = lappend(node->args, parse_operand(parser));
	} while (is_sign(parser, ","));
	expect(parser, is_sign(parser, ")"));
	return node;
}

/* Find the comparison that the token means; false: none. */
static bool
comparator(const Parser *parser, SfDynamodbOp *op)
{
	static const char *const signs[] = {"=", "<>", "<", "<=", ">", ">="};

	for (int i = 0; i < (int) lengthof(signs); i++)
		if (is_sign(parser, signs[i]))
		{
			*op = SF_DDB_EQ + i;
			return true;
		}
	return false;
}

/* Read a comparison or a function that is a condition by itself. */
static SfDynamodbNode *
parse_predicate(Parser *parser)
{
	const Function *function = find_function(parser);
	SfDynamodbNode *left;
	SfDynamodbOp op;

	if (function != NULL && function->in_condition)
		return parse_call(parser, function);
	left = parse_operand(parser);
	if (comparator(parser, &op))
	{
		next_token(parser);
		return make_node(op, left, parse_operand(parser));
	}
	if (is_keyword(parser, "IN") && opens_list(parser))
		return parse_in(parser, left);
	if (accept_keyword(parser, "IN"))
		syntax_error(parser);
	expect(parser, is_keyword(parser, "BETWEEN"));
	left = make_node(SF_DDB_BETWEEN, left, parse_operand(parser));
	expect(parser, is_keyword(parser, "AND"));
	left->args = lappend(left->args, parse_operand(parser));
	return left;
}

/* Read NOT, parentheses, or a predicate. */
static SfDynamodbNode *
parse_not(Parser *parser)
{
	SfDynamodbNode *node;

	check_stack_depth();
	if (accept_keyword(parser, "NOT"))
		return make_node(SF_DDB_NOT, parse_not(parser), NULL);
	if (!accept_sign(parser, "("))
		return parse_predicate(parser);
	node = parse_or(parser);
	expect(parser, is_sign(parser, ")"));
	return node;
}

/* Read a conjunction. */
static SfDynamodbNode *
parse_and(Parser *parser)
{
	SfDynamodbNode *node = parse_not(parser);

	while (accept_keyword(parser, "AND"))
		node = make_node(SF_DDB_AND, node, parse_not(parser));
	return node;
}

/* Read a condition. */
static SfDynamodbNode *
parse_or(Parser *parser)
{
	SfDynamodbNode *node = parse_and(parser);

	while (accept_keyword(parser, "OR"))
		node = make_node(SF_DDB_OR, node, parse_and(parser));
	return node;
}

/* Read a term of an update's value. */
static SfDynamodbNode *
parse_term(Parser *parser)
{
	const Function *function = find_function(parser);
	SfDynamodbNode *node;

	check_stack_depth();
	if (function != NULL && function->in_update)
		return parse_call(parser, function);
	if (!accept_sign(parser, "("))
		return parse_operand(parser);
	node = parse_sum(parser);
	expect(parser, is_sign(parser, ")"));
	return node;
}

/* Read a sum or difference. */
static SfDynamodbNode *
parse_sum(Parser *parser)
{
	SfDynamodbNode *left = parse_term(parser);

	if (accept_sign(parser, "+"))
		return make_node(SF_DDB_PLUS, left, parse_term(parser));
	if (accept_sign(parser, "-"))
		return make_node(SF_DDB_MINUS, left, parse_term(parser));
	return left;
}

/* Read one action of a clause. */
static SfDynamodbNode *
parse_action(Parser *parser, SfDynamodbOp op)
{
	SfDynamodbNode *path = parse_path(parser);

	if (op == SF_DDB_REMOVE)
		return make_node(op, path, NULL);
	if (op != SF_DDB_SET)
		return make_node(op, path, parse_value(parser));
	expect(parser, is_sign(parser, "="));
	return make_node(op, path, parse_sum(parser));
}

/* Find the clause that the token begins. */
static SfDynamodbOp
clause(const Parser *parser)
{
	static const char *const keywords[] = {"SET", "REMOVE", "ADD", "DELETE"};

	for (int i = 0; i < (int) lengthof(keywords); i++)
		if (is_keyword(parser, keywords[i]))
			return SF_DDB_SET + i;
	syntax_error(parser);
}

/* Begin to read an expression. */
static Parser
begin(const SfDynamodb *dynamodb)
{
	Parser		parser = {.x = dynamodb, .at = dynamodb->text};

	if (strlen(dynamodb->text) > MAX_EXPRESSION)
		sf_dynamodb_fail("Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %zu",
						 dynamodb->field, strlen(dynamodb->text));
	next_token(&parser);
	if (parser.kind == TOKEN_END)
		sf_dynamodb_fail("Invalid %s: The expression can not be empty;", dynamodb->field);
	return parser;
}

/* Parse a condition, filter or key condition. */
SfDynamodbNode *
sf_dynamodb_parse_condition(const SfDynamodb *dynamodb)
{
	Parser		parser = begin(dynamodb);
	SfDynamodbNode *condition = parse_or(&parser);

	if (parser.kind != TOKEN_END)
		syntax_error(&parser);
	return condition;
}

/* Parse an update into its actions. */
List *
sf_dynamodb_parse_update(const SfDynamodb *dynamodb)
{
	Parser		parser = begin(dynamodb);
	List	   *actions = NIL;
	int			seen = 0;

	while (parser.kind != TOKEN_END)
	{
		SfDynamodbOp op = clause(&parser);

		if (seen & (1 << op))
			sf_dynamodb_fail("Invalid %s: The \"%s\" section can only be used once in an update expression;",
							 dynamodb->field, parser.token);
		seen |= 1 << op;
		do
		{
			next_token(&parser);
			actions = lappend(actions, parse_action(&parser, op));
		} while (is_sign(&parser, ","));
	}
	return actions;
}

/* Parse a list of paths. */
List *
sf_dynamodb_parse_paths(const SfDynamodb *dynamodb)
{
	Parser		parser = begin(dynamodb);
	List	   *paths = NIL;

	do
		paths = lappend(paths, parse_path(&parser));
	while (accept_sign(&parser, ","));
	if (parser.kind != TOKEN_END)
		syntax_error(&parser);
	return paths;
}
