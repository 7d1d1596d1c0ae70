/*
 * compile_fields.c
 *		Single fields: strings, numbers, paths, templates.
 *
 * Each function takes the object and the field's name; an absent field is an
 * absent value.  Where ASL has a second field for the same thing ("Seconds"
 * and "SecondsPath"), both are looked for under the first one's name.
 */
#include "postgres.h"

#include "asl/compile/compile.h"
#include "base/error/debug_point.h"

/* A string of the program's own; NULL when absent. */
const char *
sf_compile_string(SfCompiler *compiler, const SfTreeNode *object, const char *name)
{
	const char *string = sf_tree_member_string(object, name);

	return string ? pstrdup(string) : NULL;
}

/* Compile a literal number, or its default. */
double
sf_compile_double(SfCompiler *compiler, const SfTreeNode *object, const char *name,
				  double def)
{
	const SfTreeNode *value = sf_tree_member(object, name);

	return value ? sf_tree_number(value) : def;
}

/* Compile an expression of JSONPath mode. */
SfExpr *
sf_compile_expr(SfCompiler *compiler, const SfTreeNode *value, int allowed)
{
	SfError		error;
	SfExpr	   *expr = sf_expr_compile(pstrdup(value->string), allowed, &error);

	if (expr == NULL)
		elog(ERROR, "expression \"%s\" does not compile: %s", value->string,
			 error.cause);
	compiler->context_use |= sf_expr_context_use(expr);
	return expr;
}

/* Compile a path that may be null. */
SfPathField
sf_compile_path(SfCompiler *compiler, const SfTreeNode *object, const char *name,
				int allowed)
{
	const SfTreeNode *value = sf_tree_member(object, name);
	SfPathField field = {SF_FIELD_ABSENT, NULL, NULL};

	if (value == NULL)
		return field;
	if (value->kind == SF_TREE_NULL)
	{
		field.kind = SF_FIELD_NULL;
		return field;
	}
	field.kind = SF_FIELD_PATH;
	field.expr = sf_compile_expr(compiler, value, allowed);
	field.text = pstrdup(value->string);
	return field;
}

/* Find the …Path form of a field; NULL when absent. */
static SfTreeNode *
path_member(const SfTreeNode *object, const char *name)
{
	char		path_name[64];

	snprintf(path_name, sizeof(path_name), "%sPath", name);
	return sf_tree_member(object, path_name);
}

/*
 * The text of a JSONata expression as causes quote it, without {% %} and the
 * blanks around it; NULL if the value is no expression.
 */
const char *
sf_compile_expression_text(SfCompiler *compiler, const SfTreeNode *value)
{
	const char *start;
	const char *end;

	if (value == NULL || !sf_asl_is_jsonata(value, compiler->language))
		return NULL;
	start = value->string + 2;
	end = value->string + strlen(value->string) - 2;
	while (start < end && strchr(" \t\r\n", *start) != NULL)
		start++;
	while (start < end && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	return pnstrdup(start, end - start);
}

/* Compile a number or a string: literal, JSONata, or the …Path form. */
SfValueField
sf_compile_value(SfCompiler *compiler, const SfTreeNode *object, const char *name,
				 int allowed)
{
	const SfTreeNode *value = sf_tree_member(object, name);
	const SfTreeNode *path = path_member(object, name);
	SfValueField field = {.kind = SF_FIELD_ABSENT};

	if (value && sf_asl_is_jsonata(value, compiler->language))
	{
		field.kind = SF_FIELD_JSONATA;
		field.tmpl = sf_compile_template_value(compiler, value);
		field.text = sf_compile_expression_text(compiler, value);
	}
	else if (value)
	{
		field.kind = SF_FIELD_LITERAL;
		if (value->kind == SF_TREE_NUMBER)
			field.literal = (SfLiteral) {.kind = SF_LITERAL_NUMBER,.number = sf_tree_number(value)};
		else
			field.literal = (SfLiteral) {.kind = SF_LITERAL_STRING,.string = pstrdup(value->string)};
	}
	else if (path)
	{
		field.kind = SF_FIELD_PATH;
		field.expr = sf_compile_expr(compiler, path, allowed);
		field.text = pstrdup(path->string);
	}
	return field;
}

/* Raise an error: the validator has accepted the template. */
static void
refuse_report(void *arg, const char *code, const char *location,
			  const char *message)
{
	elog(ERROR, "template does not compile: %s: %s at %s", code, message,
		 location ? location : "/");
}

/* Compile a payload template. */
SfTemplate *
sf_compile_template_value(SfCompiler *compiler, const SfTreeNode *value)
{
	SfTemplate *tmpl = sf_template_compile(sf_tree_to_jsonb(value, compiler->text),
										   compiler->language, refuse_report, NULL);

	compiler->context_use |= sf_template_context_use(tmpl);
	return tmpl;
}

/* Compile the payload template of a member; NULL when absent. */
SfTemplate *
sf_compile_template(SfCompiler *compiler, const SfTreeNode *object, const char *name)
{
	const SfTreeNode *value = sf_tree_member(object, name);

	return value ? sf_compile_template_value(compiler, value) : NULL;
}

/* Copy a value as it is written; NULL when absent. */
Jsonb *
sf_compile_jsonb(SfCompiler *compiler, const SfTreeNode *object, const char *name)
{
	const SfTreeNode *value = sf_tree_member(object, name);

	return value ? sf_tree_to_jsonb(value, compiler->text) : NULL;
}

/* Read FailureMode, or take its default. */
SfFailureMode
sf_compile_failure_mode(const SfTreeNode *object, SfFailureMode def)
{
	const char *mode = sf_tree_member_string(object, "FailureMode");

	if (mode == NULL)
		return def;
	return strcmp(mode, "DRAIN") == 0 && !SF_DEBUG_MUTATION("failure_mode") ?
		SF_FAILURE_DRAIN : SF_FAILURE_ABORT;
}

/* Find the number of a next state in the current scope; -1 when there is none. */
int
sf_compile_target(SfCompiler *compiler, const char *name)
{
	const SfTreeNode *state;

	if (name == NULL)
		return SF_NO_STATE;
	state = sf_tree_search_members(compiler->names.sorted, compiler->names.count, name);
	return state ? state->number : SF_NO_STATE;
}
