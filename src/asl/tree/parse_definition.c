/*
 * parse_definition.c
 *		Parse JSON text to a tree of nodes, with PostgreSQL's JSON parser.
 *
 * The parser calls back at the start and end of each value.  The position of a value
 * in the text is recorded at two moments.  Its start is taken at the start of the
 * member or element, when the current token is the first one of the value.  Its
 * end is the end of the previous token when the value is reported, because the
 * parser has then read one token more.
 */
#include "postgres.h"

#include "common/jsonapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "asl/tree/tree.h"
#include "base/version/compat.h"
#include "json/json.h"

/* Levels of objects and arrays; far less than the stack could take */
#define SF_DEFINITION_DEPTH_MAX 1000

/* Digits and exponent of a number that numeric surely can hold */
#define SF_NUMBER_DIGITS_MAX 8000

typedef struct SfTreeBuilder
{
	JsonLexContext *lex;
	const char *text;
	SfTreeNode *root;
	SfTreeNode *container;		/* innermost object or array that is open */
	const char *key;			/* name of the member whose value comes next */
	int			depth;			/* of container */
	int			start;			/* offset of the value that comes next */
	const SfTreeNode *bad_number; /* first number that is out of range */
} SfTreeBuilder;

/* Append a node to the container that is open. */
static SfTreeNode *
builder_add(SfTreeBuilder *builder, SfTreeNodeKind kind)
{
	SfTreeNode *node = palloc0(sizeof(SfTreeNode));

	node->kind = kind;
	node->number = SF_TREE_NO_NUMBER;
	node->key = builder->key;
	node->start = builder->start;
	node->parent = builder->container;
	builder->key = NULL;

	if (builder->container == NULL)
		builder->root = node;
	else
	{
		node->index = builder->container->nchildren++;
		if (builder->container->last)
			builder->container->last->next = node;
		else
			builder->container->first = node;
		builder->container->last = node;
	}
	return node;
}

/* Open a container. */
static void
builder_open(SfTreeBuilder *builder, SfTreeNodeKind kind)
{
	CHECK_FOR_INTERRUPTS();
	builder->container = builder_add(builder, kind);
	if (++builder->depth > SF_DEFINITION_DEPTH_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
				 errmsg("definition is nested too deeply"),
				 errdetail("There are more than %d levels of objects and arrays at line %d, column %d.",
						   SF_DEFINITION_DEPTH_MAX, builder->lex->line_number,
						   (int) (builder->lex->token_start - builder->lex->line_start) + 1)));
}

/* Close the container that is open. */
static void
builder_close(SfTreeBuilder *builder)
{
	builder->container->end = builder->lex->prev_token_terminator - builder->text;
	builder->container = builder->container->parent;
	builder->depth--;
}

/* Open an object. */
static SF_JSON_ACTION_RESULT
on_object_start(void *state)
{
	builder_open(state, SF_TREE_OBJECT);
	SF_JSON_ACTION_RETURN;
}

/* Open an array. */
static SF_JSON_ACTION_RESULT
on_array_start(void *state)
{
	builder_open(state, SF_TREE_ARRAY);
	SF_JSON_ACTION_RETURN;
}

/* Close an object or array. */
static SF_JSON_ACTION_RESULT
on_container_end(void *state)
{
	builder_close(state);
	SF_JSON_ACTION_RETURN;
}

/* Note name and start of the member that follows. */
static SF_JSON_ACTION_RESULT
on_field_start(void *state, char *name, bool isnull)
{
	SfTreeBuilder *builder = state;

	builder->key = name;
	builder->start = builder->lex->token_start - builder->text;
	SF_JSON_ACTION_RETURN;
}

/* Note the start of the element that follows. */
static SF_JSON_ACTION_RESULT
on_element_start(void *state, bool isnull)
{
	SfTreeBuilder *builder = state;

	CHECK_FOR_INTERRUPTS();
	builder->start = builder->lex->token_start - builder->text;
	SF_JSON_ACTION_RETURN;
}

/* Tell whether numeric can hold a number, without asking it to try. */
static bool
number_in_range(const char *token)
{
	const char *exponent = strpbrk(token, "eE");
	long		value = exponent ? strtol(exponent + 1, NULL, 10) : 0;

	return strlen(token) <= SF_NUMBER_DIGITS_MAX &&
		value <= SF_NUMBER_DIGITS_MAX && value >= -SF_NUMBER_DIGITS_MAX;
}

/* Add a scalar. */
static SF_JSON_ACTION_RESULT
on_scalar(void *state, char *token, JsonTokenType type)
{
	SfTreeBuilder *builder = state;
	SfTreeNode *node;

	switch (type)
	{
		case JSON_TOKEN_STRING:
			node = builder_add(builder, SF_TREE_STRING);
			node->string = token;
			break;
		case JSON_TOKEN_NUMBER:
			node = builder_add(builder, SF_TREE_NUMBER);
			node->string = token;
			if (builder->bad_number == NULL && !number_in_range(token))
				builder->bad_number = node;
			break;
		case JSON_TOKEN_TRUE:
		case JSON_TOKEN_FALSE:
			node = builder_add(builder, SF_TREE_BOOLEAN);
			node->boolean = type == JSON_TOKEN_TRUE;
			break;
		default:
			node = builder_add(builder, SF_TREE_NULL);
			break;
	}
	node->end = builder->lex->prev_token_terminator - builder->text;
	SF_JSON_ACTION_RETURN;
}

/* Note line and column of an offset. */
static void
locate_offset(const char *text, int offset, SfParseError *error)
{
	error->line = 1;
	error->column = 1;
	for (int i = 0; i < offset; i += pg_mblen(text + i))
	{
		error->column++;
		if (text[i] == '\n')
		{
			error->line++;
			error->column = 1;
		}
	}
}

/* Say what was expected at an offset, in the words of the service. */
static const char *
expected_at(const SfTreeBuilder *builder, JsonParseErrorType result, int offset)
{
	bool		in_object = builder->container && builder->container->kind == SF_TREE_OBJECT;
	char		before = '\0';

	if (result == JSON_EXPECTED_COLON)
		return "was expecting a colon to separate field name and value";
	while (offset > 0 && strchr(" \t\r\n", builder->text[offset - 1]) != NULL)
		offset--;
	if (offset > 0)
		before = builder->text[offset - 1];

	if (before == '{' || (before == ',' && in_object))
		return "was expecting double-quote to start field name";
	if (before == '\0' || before == ',' || before == ':' || before == '[')
		return "expected a valid value (JSON String, Number, Array, Object or token 'null', 'true' or 'false')";
	if (builder->container == NULL)
		return "expected end of input";
	return in_object ? "was expecting comma to separate Object entries"
		: "was expecting comma to separate Array entries";
}

/* Describe where the text ends although it should not. */
static const char *
describe_end(const SfTreeBuilder *builder)
{
	if (builder->container == NULL)
		return "Unexpected end-of-input";
	return psprintf("Unexpected end-of-input: expected close marker for %s",
					builder->container->kind == SF_TREE_OBJECT ? "Object" : "Array");
}

/* Describe a token that should not be where it is; *end is set behind it. */
static const char *
describe_token(const SfTreeBuilder *builder, JsonParseErrorType result, int start,
			   int *end)
{
	const char *token = builder->text + start;
	const char *expected = expected_at(builder, result, start);
	bool		is_name = strstr(expected, "double-quote") != NULL;
	int			len = 0;

	if (result == JSON_INVALID_TOKEN && *token == '"')
	{
		*end = builder->lex->input_length;
		return "Unexpected end-of-input: was expecting closing quote for a string value";
	}
	if (result == JSON_INVALID_TOKEN && (*token == '-' || isdigit((unsigned char) *token)))
		return "Invalid numeric value";

	while (start + len < (int) builder->lex->input_length && !is_name &&
		   (isalnum((unsigned char) token[len]) || token[len] == '_' ||
			IS_HIGHBIT_SET(token[len])))
		len++;
	if (len > 0 && !isdigit((unsigned char) *token))
	{
		*end = start + len;
		return psprintf("Unrecognized token '%.*s': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')",
						len, token);
	}

	len = pg_mblen(token);
	*end = start + len;
	if (len > 1)
		return psprintf("Unexpected character ('%.*s'): %s", len, token, expected);
	return psprintf("Unexpected character ('%c' (code %d)): %s", *token, *token,
					expected);
}

/*
 * Describe why the parser gave up, in the words of the service as far as it
 * can be told, with the position after what was unexpected.
 */
static void
describe_error(SfTreeBuilder *builder, JsonParseErrorType result, int len,
			   SfParseError *error)
{
	const char *text = builder->text;
	int			start = builder->lex->token_start ? builder->lex->token_start - text : len;
	int			end = start;

	switch (result)
	{
		case JSON_ESCAPING_INVALID:
		case JSON_ESCAPING_REQUIRED:
		case JSON_UNICODE_CODE_POINT_ZERO:
		case JSON_UNICODE_ESCAPE_FORMAT:
		case JSON_UNICODE_HIGH_ESCAPE:
		case JSON_UNICODE_HIGH_SURROGATE:
		case JSON_UNICODE_LOW_SURROGATE:
			error->message = pstrdup(json_errdetail(result, builder->lex));
			break;
		default:
			if (start >= len)
				error->message = describe_end(builder);
			else
				error->message = describe_token(builder, result, start, &end);
			break;
	}
	locate_offset(text, Min(end, len), error);
}

/* Mark members whose name an earlier member of the same object has. */
static void
flag_duplicates(SfTreeNode *node)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();

	if (node->kind == SF_TREE_OBJECT && node->nchildren > 1)
	{
		SfTreeNode **sorted = sf_tree_sort_members(node);

		for (int i = 1; i < node->nchildren; i++)
			if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
				sorted[i]->is_duplicate = true;
		pfree(sorted);
	}
	SF_TREE_FOREACH(child, node)
	{
		if (child->nchildren > 0)
			flag_duplicates(child);
	}
}

/*
 * Parse len bytes of JSON text into a tree in the current memory context.
 * NULL with *error when it is malformed; ereports 54001 when it is nested too
 * deeply.
 */
SfTreeNode *
sf_tree_parse(const char *text, int len, SfParseError *error)
{
	SfTreeBuilder builder = {0};
	JsonSemAction sem = {0};
	JsonParseErrorType result;

	builder.text = text;
	builder.lex = sf_json_lex_context(text, len);
	while (builder.start < len && strchr(" \t\r\n", text[builder.start]) != NULL)
		builder.start++;

	sem.semstate = &builder;
	sem.object_start = on_object_start;
	sem.object_end = on_container_end;
	sem.array_start = on_array_start;
	sem.array_end = on_container_end;
	sem.object_field_start = on_field_start;
	sem.array_element_start = on_element_start;
	sem.scalar = on_scalar;

	result = pg_parse_json(builder.lex, &sem);
	if (result != JSON_SUCCESS)
	{
		describe_error(&builder, result, len, error);
		return NULL;
	}
	if (builder.bad_number != NULL)
	{
		error->message = "Numeric value is out of range.";
		locate_offset(text, builder.bad_number->start, error);
		return NULL;
	}
	flag_duplicates(builder.root);
	return builder.root;
}
