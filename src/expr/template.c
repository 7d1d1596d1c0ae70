/*
 * template.c
 *		Payload templates: values of a definition in which some parts are
 *		computed.
 *
 * JSONPath mode (Parameters, ResultSelector, ItemSelector, Assign …): a member
 * "name.$" holds a path or an intrinsic function, whose result becomes the
 * member "name".  JSONata mode (Arguments, Output, Assign …): any string
 * "{% … %}" is an expression.  All else is literal.
 *
 * A template is compiled to a tree of which every part without an expression
 * is one node, pointing into the template's own copy of the text; a template
 * without any expression is that copy, and is handed out as it is.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "expr/intrinsic.h"
#include "jsonata/jsonata.h"

typedef enum NodeKind
{
	NODE_CONSTANT,
	NODE_EXPR,					/* JSONPath mode */
	NODE_JSONATA,
	NODE_OBJECT,
	NODE_ARRAY
} NodeKind;

typedef struct TemplateNode
{
	NodeKind	kind;
	const struct TemplateNode *parent;	/* NULL: the root */
	JsonbValue	key;			/* name as a member of an object */
	JsonbValue	constant;		/* CONSTANT */
	SfExpr	   *expr;			/* EXPR */
	const char *field;			/* EXPR: the name with its ".$" */
	SfJsonata  *jsonata;		/* JSONATA */
	const char *text;			/* JSONATA: the expression, trimmed */
	int			nchildren;		/* OBJECT, ARRAY */
	struct TemplateNode *children;
} TemplateNode;

struct SfTemplate
{
	Jsonb	   *doc;			/* copy of the value, under all constants */
	TemplateNode root;
	int			context_use;	/* SF_CONTEXT_… of all expressions */
};

/* State of a compilation */
typedef struct Compiler
{
	SfQueryLanguage language;
	SfTemplateReport report;
	void	   *arg;
	bool		failed;
	int			context_use;	/* SF_CONTEXT_… of the expressions so far */
	bool		check;			/* what expressions refer to, too */
	bool		in_catcher;
	StringInfoData location;	/* of the node at hand: "/a/b[0]" */
} Compiler;

static void compile_node(Compiler *compiler, const JsonbValue *value, TemplateNode *node);

/* --- compilation --- */

/* Report a problem of the node at hand. */
static void
report_problem(Compiler *compiler, const char *code, const char *message)
{
	compiler->failed = true;
	if (compiler->report != NULL)
		compiler->report(compiler->arg, code, compiler->location.data, message);
}

/* Tell whether a member holds an expression: its name ends in ".$". */
static bool
is_expression_key(const Compiler *compiler, const JsonbValue *key)
{
	return compiler->language == SF_QL_JSONPATH && key->val.string.len >= 2 &&
		memcmp(key->val.string.val + key->val.string.len - 2, ".$", 2) == 0;
}

/* Compile a member "name.$". */
static void
compile_expression(Compiler *compiler, const JsonbValue *key, const JsonbValue *value,
				   TemplateNode *node)
{
	SfError		error;

	node->kind = NODE_EXPR;
	node->field = pnstrdup(key->val.string.val, key->val.string.len);
	node->key.val.string.len -= 2;
	if (value->type == jbvString)
		node->expr = sf_expr_compile(pnstrdup(value->val.string.val, value->val.string.len),
									 SF_EXPR_ANY, &error);
	if (node->expr == NULL)
		report_problem(compiler, "SCHEMA_VALIDATION_FAILED",
					   psprintf("The value for the field '%s' must be a valid JSONPath or a valid intrinsic function call",
								node->field));
	else
		compiler->context_use |= sf_expr_context_use(node->expr);
}

/* Take over what is wrong with a reference of a JSONata expression. */
static void
report_reference(void *arg, const char *message)
{
	report_problem(arg, "UNSUPPORTED_JSONATA_EXPRESSION", message);
}

/* Compile a string "{% … %}" of JSONata mode; false when it is a plain one. */
static bool
compile_jsonata(Compiler *compiler, const JsonbValue *value, TemplateNode *node)
{
	const char *start = value->val.string.val + 2;
	const char *end = value->val.string.val + value->val.string.len - 2;
	SfError		error;

	if (compiler->language != SF_QL_JSONATA || value->val.string.len < 2 ||
		memcmp(value->val.string.val, "{%", 2) != 0)
		return false;
	if (value->val.string.len < 4 || memcmp(end, "%}", 2) != 0)
	{
		if (compiler->check)
			report_problem(compiler, "SCHEMA_VALIDATION_FAILED",
						   "JSONata string must start with {% and end with %}");
		return false;
	}
	while (start < end && strchr(" \t\r\n", *start) != NULL)
		start++;
	while (start < end && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	node->kind = NODE_JSONATA;
	node->text = pnstrdup(start, end - start);
	node->jsonata = sf_jsonata_compile(node->text, end - start, &error);
	if (node->jsonata == NULL)
	{
		report_problem(compiler, error.name, error.cause);
		return true;
	}
	if (compiler->check)
		sf_jsonata_check(node->jsonata, compiler->in_catcher, report_reference, compiler);
	compiler->context_use |= sf_jsonata_context_use(node->jsonata);
	return true;
}

/* Compile the members of an object. */
static void
compile_object(Compiler *compiler, const JsonbValue *value, TemplateNode *node)
{
	JsonbIterator *it = JsonbIteratorInit(value->val.binary.data);
	JsonbIteratorToken token;
	JsonbValue	child;
	JsonbValue	key;
	int			mark = compiler->location.len;

	node->kind = NODE_OBJECT;
	while ((token = JsonbIteratorNext(&it, &child, true)) != WJB_DONE)
	{
		TemplateNode *member = &node->children[node->nchildren];

		if (token == WJB_KEY)
			key = child;
		if (token != WJB_VALUE)
			continue;
		node->nchildren++;
		member->parent = node;
		member->key = key;
		if (is_expression_key(compiler, &key))
			compile_expression(compiler, &key, &child, member);
		else
		{
			appendStringInfoChar(&compiler->location, '/');
			appendBinaryStringInfo(&compiler->location, key.val.string.val,
								   key.val.string.len);
			compile_node(compiler, &child, member);
			compiler->location.len = mark;
			compiler->location.data[mark] = '\0';
		}
	}
}

/* Compile the elements of an array. */
static void
compile_array(Compiler *compiler, const JsonbValue *value, TemplateNode *node)
{
	JsonbIterator *it = sf_json_elements(value);
	JsonbValue	child;
	int			mark = compiler->location.len;

	node->kind = NODE_ARRAY;
	while (sf_json_next(&it, &child))
	{
		appendStringInfo(&compiler->location, "[%d]", node->nchildren);
		node->children[node->nchildren].parent = node;
		compile_node(compiler, &child, &node->children[node->nchildren++]);
		compiler->location.len = mark;
		compiler->location.data[mark] = '\0';
	}
}

/* Compile a value; what holds no expression becomes one constant. */
static void
compile_node(Compiler *compiler, const JsonbValue *value, TemplateNode *node)
{
	bool		constant = true;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (value->type == jbvString && compile_jsonata(compiler, value, node))
		return;
	if (value->type == jbvBinary)
	{
		node->children = palloc0(sizeof(TemplateNode) * Max(sf_json_count(value), 1));
		if (sf_json_is_object(value))
			compile_object(compiler, value, node);
		else
			compile_array(compiler, value, node);
		for (int i = 0; i < node->nchildren; i++)
			constant = constant && node->children[i].kind == NODE_CONSTANT;
		if (!constant)
			return;
		pfree(node->children);
		node->children = NULL;
		node->nchildren = 0;
	}
	node->kind = NODE_CONSTANT;
	node->constant = *value;
}

/* Compile a value with what is set in the compiler. */
static SfTemplate *
compile_value(Compiler *compiler, const Jsonb *value)
{
	SfTemplate *tmpl = palloc0(sizeof(SfTemplate));
	JsonbValue	root;

	initStringInfo(&compiler->location);
	tmpl->doc = palloc(VARSIZE(value));
	memcpy(tmpl->doc, value, VARSIZE(value));
	sf_json_root(tmpl->doc, &root);
	compile_node(compiler, &root, &tmpl->root);
	pfree(compiler->location.data);
	tmpl->context_use = compiler->context_use;
	return compiler->failed ? NULL : tmpl;
}

/* Tell what a template looks at of the context object. */
int
sf_template_context_use(const SfTemplate *tmpl)
{
	return tmpl->context_use;
}

/*
 * Compile a value of the definition.  JSONPath: members whose name ends in
 * ".$" are paths or intrinsics, all else is literal; the location of a bad one
 * is that of the object around it.  JSONata: strings "{% … %}" are
 * expressions, at any depth.  NULL when report was called.
 */
SfTemplate *
sf_template_compile(const Jsonb *value, SfQueryLanguage language,
					SfTemplateReport report, void *arg)
{
	Compiler	compiler = {.language = language, .report = report, .arg = arg};

	return compile_value(&compiler, value);
}

/*
 * Report all problems of a value as a template: expressions that do not compile,
 * and JSONata references that state machines do not have.  in_catcher:
 * $states.errorOutput is in scope.
 */
void
sf_template_check(const Jsonb *value, SfQueryLanguage language,
				  bool in_catcher, SfTemplateReport report, void *arg)
{
	Compiler	compiler = {.language = language, .report = report, .arg = arg};

	compiler.check = true;
	compiler.in_catcher = in_catcher;
	(void) compile_value(&compiler, value);
}

/* --- evaluation --- */

/* Append where a node stands in its template: "/a/b[0]", nothing for the root. */
static void
append_location(StringInfo buf, const TemplateNode *node)
{
	const TemplateNode *parent = node->parent;

	check_stack_depth();
	if (parent == NULL)
		return;
	append_location(buf, parent);
	if (parent->kind == NODE_ARRAY)
		appendStringInfo(buf, "[%d]", (int) (node - parent->children));
	else
		appendStringInfo(buf, "/%.*s", node->key.val.string.len, node->key.val.string.val);
}

/* Say where a node stands, with the field that the template is: "Output/a/b[0]". */
static char *
location_of(const TemplateNode *node, const char *field)
{
	StringInfoData location;

	initStringInfo(&location);
	appendStringInfoString(&location, field);
	append_location(&location, node);
	return location.data;
}

/* Evaluate a path or an intrinsic function; field is where the template stands. */
static bool
eval_expression(const TemplateNode *node, SfEnv *env, const char *field,
				JsonbValue *result, SfError *error)
{
	switch (sf_compiled_eval(node->expr, env, result, error))
	{
		case SF_PATH_STATUS_FOUND:
			/* a call has counted what it made */
			return node->expr->call != NULL ||
				sf_env_make_value(env, result, error);
		case SF_PATH_STATUS_PAST_END:
			result->type = jbvNull;
			return true;
		case SF_PATH_STATUS_FAILED:
			if (error != NULL && env->limit.is_over)
				error->location = location_of(node, field);
			return false;
		case SF_PATH_STATUS_MISSING:
			break;
	}
	return sf_error_set(error, SF_ERR_RUNTIME,
						"The JSONPath '%s' specified for the field '%s' could not be found in the input '%s'",
						sf_expr_text(node->expr), node->field,
						env->input == NULL ? "" : sf_json_excerpt(env->input));
}

/* Evaluate a JSONata expression; field is where the template stands. */
static bool
eval_jsonata(const TemplateNode *node, SfEnv *env, const char *field,
			 Jsonb **result, SfError *error)
{
	SfError		inner = sf_error_make(NULL, NULL);
	char	   *location;
	char	   *what;

	switch (sf_jsonata_eval(node->jsonata, env, result, &inner))
	{
		case SF_EVAL_OK:
			return true;
		case SF_EVAL_NOT_FOUND:
			what = "returned nothing (undefined).";
			break;
		default:
			if (inner.name == SF_ERR_DATA_LIMIT_EXCEEDED)
				return sf_error_set(error, inner.name, "%s", inner.cause);
			if (inner.code != NULL)
				what = psprintf("threw an error during evaluation. %s: %s",
								inner.code, inner.cause);
			else if (strncmp(inner.cause, "returned ", 9) == 0)
				what = pstrdup(inner.cause);
			else
				what = psprintf("threw an error during evaluation: %s",
								inner.cause);
			break;
	}
	if (error == NULL)
		return false;
	location = location_of(node, field);
	sf_error_set(error, SF_ERR_QUERY_EVALUATION_ERROR,
				 "The JSONata expression '%s' specified for the field '%s' %s",
				 node->text, location, what);
	error->location = location;
	error->code = inner.code;
	error->position = inner.position;
	return false;
}

static bool eval_node(const TemplateNode *node, SfEnv *env, const char *field,
					  JsonbValue *result, SfError *error);

/* Free the documents of children, which their parent has copied. */
static void
free_child(const TemplateNode *child, const JsonbValue *value)
{
	if (child->kind == NODE_OBJECT || child->kind == NODE_ARRAY)
		pfree((char *) value->val.binary.data - offsetof(Jsonb, root));
}

/* Evaluate an object. */
static bool
eval_object(const TemplateNode *node, SfEnv *env, const char *field,
			JsonbValue *result, SfError *error)
{
	SfJsonMember *members = palloc(sizeof(SfJsonMember) * node->nchildren);

	for (int i = 0; i < node->nchildren; i++)
	{
		members[i].key = node->children[i].key;
		if (!eval_node(&node->children[i], env, field, &members[i].value, error))
			return false;
	}
	sf_json_root(sf_json_object_of(members, node->nchildren), result);
	/* sorting noted where each member came from */
	for (int i = 0; i < sf_json_count(result); i++)
		free_child(&node->children[members[i].order], &members[i].value);
	pfree(members);
	return true;
}

/* Evaluate an array. */
static bool
eval_array(const TemplateNode *node, SfEnv *env, const char *field,
		   JsonbValue *result, SfError *error)
{
	JsonbValue *elements = palloc(sizeof(JsonbValue) * node->nchildren);

	for (int i = 0; i < node->nchildren; i++)
	{
		if (!eval_node(&node->children[i], env, field, &elements[i], error))
			return false;
	}
	sf_json_root(sf_json_array_of(elements, node->nchildren), result);
	for (int i = 0; i < node->nchildren; i++)
		free_child(&node->children[i], &elements[i]);
	pfree(elements);
	return true;
}

/* Evaluate a node; an object or array is a document in fresh memory. */
static bool
eval_node(const TemplateNode *node, SfEnv *env, const char *field,
		  JsonbValue *result, SfError *error)
{
	Jsonb	   *document;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (node->kind)
	{
		case NODE_CONSTANT:
			*result = node->constant;
			return true;
		case NODE_EXPR:
			return eval_expression(node, env, field, result, error);
		case NODE_JSONATA:
			if (!eval_jsonata(node, env, field, &document, error))
				return false;
			sf_json_root(document, result);
			return true;
		case NODE_OBJECT:
			return eval_object(node, env, field, result, error);
		case NODE_ARRAY:
			return eval_array(node, env, field, result, error);
	}
	return false;
}

/*
 * Evaluate.  field ("Parameters", "Output", …) is where it stands, for the
 * error's text and location.
 */
bool
sf_template_eval(const SfTemplate *tmpl, SfEnv *env, const char *field,
				 Jsonb **result, SfError *error)
{
	JsonbValue	value;

	if (tmpl->root.kind == NODE_CONSTANT)
	{
		*result = tmpl->doc;
		return true;
	}
	sf_env_begin(env);
	if (tmpl->root.kind == NODE_JSONATA)
		return eval_jsonata(&tmpl->root, env, field, result, error);
	if (!eval_node(&tmpl->root, env, field, &value, error))
		return false;
	/* the root is an object or array, and so a document by itself */
	*result = (Jsonb *) ((char *) value.val.binary.data - offsetof(Jsonb, root));
	return true;
}
