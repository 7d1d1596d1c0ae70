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

#include "aws/dynamodb.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

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
	SfError    *error;
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
static SfDynamodbNode *parse_sum(Parser *p);

/* Fill *error with a ValidationException. */
bool
sf_dynamodb_fail(SfError *error, const char *fmt,...)
{
	va_list		args;

	va_start(args, fmt);
	sf_error_set_va(error, "ValidationException", fmt, args);
	va_end(args);
	return false;
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

/* Report that the token cannot stand where it stands; returns NULL. */
static void *
syntax_error(Parser *p)
{
	const char *text = p->x->text;
	const char *from = p->start - Min(p->start - text, 16);

	if (p->error->name == NULL)
		sf_dynamodb_fail(p->error, "Invalid %s: Syntax error; token: \"%s\", near: \"%s\"",
						 p->x->field, p->kind == TOKEN_END ? "<EOF>" : p->token,
						 pnstrdup(from, p->at - from));
	return NULL;
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

/* Go past a sign that must be there. */
static bool
expect_sign(Parser *p, const char *sign)
{
	if (!is_sign(p, sign))
	{
		syntax_error(p);
		return false;
	}
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

/* Return the attribute name that the token means; NULL: an error. */
static const char *
attribute_name(Parser *p)
{
	char	   *name = p->token;

	if (p->kind == TOKEN_PLACEHOLDER)
	{
		name = p->x->names ? sf_json_get_cstring(p->x->names, p->token) : NULL;
		if (name == NULL)
		{
			sf_dynamodb_fail(p->error, "Invalid %s: An expression attribute name used in the document path is not defined; attribute name: %s",
							 p->x->field, p->token);
			return NULL;
		}
	}
	else if (p->kind != TOKEN_NAME)
		return syntax_error(p);
	next_token(p);
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
	const char *name = attribute_name(p);

	if (name == NULL)
		return NULL;
	append_step(node, name, 0);
	for (;;)
	{
		if (is_sign(p, "."))
		{
			next_token(p);
			if ((name = attribute_name(p)) == NULL)
				return NULL;
			append_step(node, name, 0);
		}
		else if (is_sign(p, "["))
		{
			next_token(p);
			if (p->kind != TOKEN_NUMBER || strlen(p->token) > 9)
				return syntax_error(p);
			append_step(node, NULL, atoi(p->token));
			next_token(p);
			if (!expect_sign(p, "]"))
				return NULL;
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
		return syntax_error(p);
	node->value = p->x->values ? sf_json_get(p->x->values, p->token) : NULL;
	if (node->value == NULL)
	{
		sf_dynamodb_fail(p->error, "Invalid %s: An expression attribute value used in expression is not defined; attribute value: %s",
						 p->x->field, p->token);
		return NULL;
	}
	if (!sf_dynamodb_type(node->value, &type, &inner))
	{
		sf_dynamodb_fail(p->error, "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key %s",
						 p->token);
		return NULL;
	}
	next_token(p);
	return node;
}

/* Find the function that the token names, if "(" follows; else NULL. */
static const Function *
find_function(const Parser *p)
{
	const char *s = p->at;

	if (p->kind != TOKEN_NAME)
		return NULL;
	while (*s == ' ')
		s++;
	if (*s != '(')
		return NULL;
	for (int i = 0; i < (int) lengthof(functions); i++)
		if (strcmp(functions[i].name, p->token) == 0)
			return &functions[i];
	return NULL;
}

/* Read a path, a value, or size(path). */
static SfDynamodbNode *
parse_operand(Parser *p)
{
	const Function *function = find_function(p);
	SfDynamodbNode *path;

	if (p->kind == TOKEN_VALUE)
		return parse_value(p);
	if (function == NULL)
		return parse_path(p);
	if (function->op != SF_DDB_SIZE)
		return syntax_error(p);
	next_token(p);
	next_token(p);
	path = parse_path(p);
	if (path == NULL || !expect_sign(p, ")"))
		return NULL;
	return make_node(SF_DDB_SIZE, path, NULL);
}

/* Read the arguments of a function and its closing parenthesis. */
static SfDynamodbNode *
parse_call(Parser *p, const Function *function)
{
	SfDynamodbNode *node = make_node(function->op, NULL, NULL);

	next_token(p);
	next_token(p);
	for (int i = 0; i < function->nargs; i++)
	{
		SfDynamodbNode *arg;

		if (i > 0 && !expect_sign(p, ","))
			return NULL;
		if (function->in_update && (i > 0 || function->op == SF_DDB_LIST_APPEND))
			arg = parse_sum(p);
		else
			arg = i == 0 ? parse_path(p) : parse_operand(p);
		if (arg == NULL)
			return NULL;
		node->args = lappend(node->args, arg);
	}
	return expect_sign(p, ")") ? node : NULL;
}

/* Read the list of IN. */
static SfDynamodbNode *
parse_in(Parser *p, SfDynamodbNode *left)
{
	SfDynamodbNode *node = make_node(SF_DDB_IN, left, NULL);

	next_token(p);
	do
	{
		SfDynamodbNode *operand;

		next_token(p);			/* "(" or "," */
		if ((operand = parse_operand(p)) == NULL)
			return NULL;
		node->args = lappend(node->args, operand);
	} while (is_sign(p, ","));
	return expect_sign(p, ")") ? node : NULL;
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
	SfDynamodbNode *left,
			   *low,
			   *high;
	SfDynamodbOp op;

	if (function != NULL && function->in_condition)
		return parse_call(p, function);
	if ((left = parse_operand(p)) == NULL)
		return NULL;
	if (comparator(p, &op))
	{
		next_token(p);
		high = parse_operand(p);
		return high == NULL ? NULL : make_node(op, left, high);
	}
	if (is_keyword(p, "IN"))
	{
		const char *s = p->at;

		while (*s == ' ')
			s++;
		if (*s != '(')
			next_token(p);
		return *s == '(' ? parse_in(p, left) : syntax_error(p);
	}
	if (!is_keyword(p, "BETWEEN"))
		return syntax_error(p);
	next_token(p);
	if ((low = parse_operand(p)) == NULL)
		return NULL;
	if (!is_keyword(p, "AND"))
		return syntax_error(p);
	next_token(p);
	if ((high = parse_operand(p)) == NULL)
		return NULL;
	left = make_node(SF_DDB_BETWEEN, left, low);
	left->args = lappend(left->args, high);
	return left;
}

/* Read NOT, parentheses, or a predicate. */
static SfDynamodbNode *
parse_not(Parser *p)
{
	SfDynamodbNode *node;

	check_stack_depth();
	if (is_keyword(p, "NOT"))
	{
		next_token(p);
		node = parse_not(p);
		return node == NULL ? NULL : make_node(SF_DDB_NOT, node, NULL);
	}
	if (!is_sign(p, "("))
		return parse_predicate(p);
	next_token(p);
	node = parse_or(p);
	return node != NULL && expect_sign(p, ")") ? node : NULL;
}

/* Read parts between which a keyword stands, which is an operator. */
static SfDynamodbNode *
parse_chain(Parser *p, const char *keyword, SfDynamodbOp op,
			SfDynamodbNode *(*parse_part) (Parser *p))
{
	SfDynamodbNode *node = parse_part(p);

	while (node != NULL && is_keyword(p, keyword))
	{
		SfDynamodbNode *right;

		next_token(p);
		right = parse_part(p);
		node = right == NULL ? NULL : make_node(op, node, right);
	}
	return node;
}

/* Read a conjunction. */
static SfDynamodbNode *
parse_and(Parser *p)
{
	return parse_chain(p, "AND", SF_DDB_AND, parse_not);
}

/* Read a condition. */
static SfDynamodbNode *
parse_or(Parser *p)
{
	return parse_chain(p, "OR", SF_DDB_OR, parse_and);
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
	if (!is_sign(p, "("))
		return parse_operand(p);
	next_token(p);
	node = parse_sum(p);
	return node != NULL && expect_sign(p, ")") ? node : NULL;
}

/* Read a sum or difference. */
static SfDynamodbNode *
parse_sum(Parser *p)
{
	SfDynamodbNode *left = parse_term(p);
	SfDynamodbNode *right;
	SfDynamodbOp op;

	if (left == NULL || (!is_sign(p, "+") && !is_sign(p, "-")))
		return left;
	op = is_sign(p, "+") ? SF_DDB_PLUS : SF_DDB_MINUS;
	next_token(p);
	right = parse_term(p);
	return right == NULL ? NULL : make_node(op, left, right);
}

/* Read one action of a clause. */
static SfDynamodbNode *
parse_action(Parser *p, SfDynamodbOp op)
{
	SfDynamodbNode *path = parse_path(p);
	SfDynamodbNode *value = NULL;

	if (path == NULL)
		return NULL;
	if (op == SF_DDB_SET)
	{
		if (!expect_sign(p, "=") || (value = parse_sum(p)) == NULL)
			return NULL;
	}
	else if (op != SF_DDB_REMOVE && (value = parse_value(p)) == NULL)
		return NULL;
	return make_node(op, path, value);
}

/* Find the clause that the token begins; false: none. */
static bool
clause(const Parser *p, SfDynamodbOp *op)
{
	static const char *const keywords[] = {"SET", "REMOVE", "ADD", "DELETE"};

	for (int i = 0; i < (int) lengthof(keywords); i++)
		if (is_keyword(p, keywords[i]))
		{
			*op = SF_DDB_SET + i;
			return true;
		}
	return false;
}

/* Begin to read an expression; false when it cannot be one. */
static bool
begin(Parser *p, const SfDynamodb *x, SfError *error)
{
	memset(p, 0, sizeof(*p));
	*error = sf_error_make(NULL, NULL);
	p->x = x;
	p->at = x->text;
	p->error = error;
	if (strlen(x->text) > MAX_EXPRESSION)
		return sf_dynamodb_fail(error, "Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %zu",
								x->field, strlen(x->text));
	next_token(p);
	if (p->kind == TOKEN_END)
		return sf_dynamodb_fail(error, "Invalid %s: The expression can not be empty;", x->field);
	return true;
}

/* Parse a condition, filter or key condition. */
bool
sf_dynamodb_parse_condition(const SfDynamodb *x, SfDynamodbNode **out,
							SfError *error)
{
	Parser		p;

	if (!begin(&p, x, error))
		return false;
	*out = parse_or(&p);
	if (*out != NULL && p.kind != TOKEN_END)
		syntax_error(&p);
	return error->name == NULL;
}

/* Parse an update into its actions. */
bool
sf_dynamodb_parse_update(const SfDynamodb *x, List **actions, SfError *error)
{
	Parser		p;
	SfDynamodbOp op;
	int			seen = 0;

	*actions = NIL;
	if (!begin(&p, x, error))
		return false;
	while (p.kind != TOKEN_END)
	{
		if (!clause(&p, &op))
		{
			syntax_error(&p);
			return false;
		}
		if (seen & (1 << op))
			return sf_dynamodb_fail(error, "Invalid %s: The \"%s\" section can only be used once in an update expression;",
									x->field, p.token);
		seen |= 1 << op;
		do
		{
			SfDynamodbNode *action;

			next_token(&p);
			if ((action = parse_action(&p, op)) == NULL)
				return false;
			*actions = lappend(*actions, action);
		} while (is_sign(&p, ","));
	}
	return true;
}

/* Parse a list of paths. */
bool
sf_dynamodb_parse_paths(const SfDynamodb *x, List **paths, SfError *error)
{
	Parser		p;
	SfDynamodbNode *path;

	*paths = NIL;
	if (!begin(&p, x, error))
		return false;
	for (;;)
	{
		if ((path = parse_path(&p)) == NULL)
			return false;
		*paths = lappend(*paths, path);
		if (!is_sign(&p, ","))
			break;
		next_token(&p);
	}
	if (p.kind != TOKEN_END)
		syntax_error(&p);
	return error->name == NULL;
}
