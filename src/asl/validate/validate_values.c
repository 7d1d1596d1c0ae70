/*
 * validate_values.c
 *		Checks of values that are no objects with fields of their own: scalars,
 *		paths, templates.  The kinds of values are in fields.h.
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/varlena.h"

#include "asl/validate/validate.h"
#include "json/json.h"

/* Accept whatever JSON. */
void
sf_validate_any(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
}

/* Expect a scalar of the kind that the kind of value says. */
void
sf_validate_scalar(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	sf_validate_kind(validator, value, sf_validate_values[field->value].expected);
}

/* Tell whether a word stands in a list "A, B, C". */
static bool
word_in_list(const char *word, const char *list)
{
	size_t		len = strlen(word);

	while (list != NULL)
	{
		size_t		item = strcspn(list, ",");

		if (item == len && strncmp(list, word, len) == 0)
			return true;
		list = strchr(list, ',');
		if (list != NULL)
			list += 2;
	}
	return false;
}

/* Check a string that has to be one of some words. */
static void
check_words(SfValidator *validator, const SfTreeNode *value, const char *words)
{
	if (sf_validate_kind(validator, value, SF_TREE_STRING) &&
		!word_in_list(value->string, words))
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Value should be one of the following: [%s]", words);
}

/* Expect one of the field's words. */
void
sf_validate_word(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	check_words(validator, value, field->words);
}

/* QueryLanguage: a machine in JSONata has no states in JSONPath. */
void
sf_validate_query_language(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	check_words(validator, value, "JSONPath, JSONata");
	if (field->shape == SF_SHAPE_STATE &&
		validator->machine_language == SF_QL_JSONATA && validator->language == SF_QL_JSONPATH)
		sf_validate_error(validator, value->parent, SF_CODE_SCHEMA,
						  "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine");
}

/* --- numbers --- */

/* Report a number outside its range. */
static void
check_range(SfValidator *validator, const SfTreeNode *value, double min, double max)
{
	double		number = sf_tree_number(value);

	if (number < min)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Minimum value is %g", min);
	else if (number > max)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Maximum value is %.0f", max);
}

/* Expect a number without a fraction. */
void
sf_validate_integer(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (value->kind != SF_TREE_NUMBER ||
		floor(sf_tree_number(value)) != sf_tree_number(value))
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Expected value of type Integer");
	else
		check_range(validator, value, field->min, field->max);
}

/* Expect a number. */
void
sf_validate_number(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (sf_validate_kind(validator, value, SF_TREE_NUMBER))
		check_range(validator, value, field->min, field->max);
}

/* --- templates and JSONata --- */

typedef struct SfTemplateCheck
{
	SfValidator *check;
	const SfTreeNode *node;
} SfTemplateCheck;

/* Take over a diagnostic of the template compiler. */
static void
report_template(void *arg, const char *code, const char *location,
				const char *message)
{
	SfTemplateCheck *check = arg;

	sf_validate_error_at(check->check, check->node, location, code, message);
}

/*
 * Report members of a payload template that would be one member of its result:
 * a name that stands twice, or with and without ".$".
 */
static void
check_template_names(SfValidator *validator, const SfTreeNode *value)
{
	SfTreeNode **sorted;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (value->nchildren == 0)
		return;
	SF_TREE_FOREACH(child, value)
		check_template_names(validator, child);
	if (value->kind != SF_TREE_OBJECT)
		return;

	sorted = sf_tree_sort_members(value);
	SF_TREE_FOREACH(child, value)
	{
		int			len = strlen(child->key);
		char	   *plain;

		if (child->is_duplicate)
			sf_validate_error(validator, child, SF_CODE_SCHEMA, "Duplicate field '%s'",
							  child->key);
		if (validator->language != SF_QL_JSONPATH || len < 2 ||
			strcmp(child->key + len - 2, ".$") != 0)
			continue;
		plain = pnstrdup(child->key, len - 2);
		if (sf_tree_search_members(sorted, value->nchildren, plain) != NULL)
			sf_validate_error(validator, child, SF_CODE_SCHEMA,
							  "Duplicate field '%s': there are both '%s' and '%s'",
							  plain, plain, child->key);
		pfree(plain);
	}
	pfree(sorted);
}

/* Tell whether a text ends with something. */
static bool
ends_with(const char *text, const char *end)
{
	return strcmp(text + Max((int) strlen(text) - (int) strlen(end), 0), end) == 0;
}

/*
 * Report strings that compile, but are hardly meant: a call of a function with a literal
 * that never fits, an expression of JSONata without its beginning.
 */
static void
check_meant(SfValidator *validator, const SfTreeNode *value)
{
	SfExpr	   *expr = NULL;
	SfError		error;
	const char *misused;

	check_stack_depth();
	SF_TREE_FOREACH(child, value)
		check_meant(validator, child);
	if (value->kind != SF_TREE_STRING)
		return;
	if (validator->language == SF_QL_JSONATA && ends_with(value->string, "%}") && strncmp(value->string, "{%", 2) != 0)
		sf_validate_strictly(validator, value, SF_CODE_SCHEMA, "%s",
							 "JSONata string must start with {% and end with %}");
	if (validator->language == SF_QL_JSONPATH && value->key != NULL && ends_with(value->key, ".$") &&
		strncmp(value->string, "States.", 7) == 0)
		expr = sf_expr_compile(value->string, SF_EXPR_ANY, &error);
	misused = expr == NULL ? NULL : sf_expr_misused_literal(expr);
	if (misused != NULL)
		sf_validate_strictly(validator, value, SF_CODE_SCHEMA,
							 "Invalid arguments in %s: a string in quotes is given where it never fits", misused);
}

/* Expect a payload template that compiles. */
void
sf_validate_template(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	SfTemplateCheck check = {validator, value};

	check_template_names(validator, value);
	check_meant(validator, value);
	sf_template_check(sf_tree_to_jsonb(value, validator->text), validator->language,
					  field->shape == SF_SHAPE_CATCHER || field->shape == SF_SHAPE_JOB_CATCHER, report_template,
					  &check);
}

/* Expect a string, which may look like an expression in a state of JSONata. */
void
sf_validate_text(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (sf_validate_kind(validator, value, SF_TREE_STRING) && validator->language == SF_QL_JSONATA)
		sf_validate_template(validator, value, field);
}

/* Expect a timestamp. */
void
sf_validate_timestamp(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	TimestampTz time;

	if (sf_validate_kind(validator, value, SF_TREE_STRING) &&
		!sf_timestamp_parse(value->string, strlen(value->string), &time))
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "String does not match RFC3339 timestamp");
}

/* Items is an array or an object. */
void
sf_validate_items(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (value->kind != SF_TREE_ARRAY && value->kind != SF_TREE_OBJECT)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Expected value of type [ARRAY, OBJECT] or a JSONata expression");
	else
		sf_validate_template(validator, value, field);
}

/* Condition is a boolean. */
void
sf_validate_condition(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (value->kind != SF_TREE_BOOLEAN)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Expected value of type [BOOLEAN] or a JSONata expression");
}

/* Tell whether a name can be that of a variable: a Unicode identifier. */
static bool
is_variable_name(const char *name, int len)
{
	for (int i = 0; i < len; i++)
	{
		unsigned char ch = name[i];

		if (IS_HIGHBIT_SET(ch) || isalpha(ch) ||
			(i > 0 && (isdigit(ch) || ch == '_')))
			continue;
		return false;
	}
	return len > 0;
}

/* Assign: an object whose members' names are those of variables. */
void
sf_validate_assign(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (!sf_validate_kind(validator, value, SF_TREE_OBJECT))
		return;
	SF_TREE_FOREACH(member, value)
	{
		int			len = strlen(member->key);

		if (validator->language == SF_QL_JSONPATH && len > 2 &&
			strcmp(member->key + len - 2, ".$") == 0)
			len -= 2;
		if (len == 6 && strncmp(member->key, "states", 6) == 0)
			sf_validate_error(validator, member, SF_CODE_RESERVED_VARIABLE,
							  "Cannot assign to reserved variable '$states'.");
		else if (pg_mbstrlen_with_len(member->key, len) > SF_NAME_LENGTH_MAX)
			sf_validate_error(validator, member, SF_CODE_VARIABLE,
							  "Invalid variable name '%.*s': the variable name exceeds the %d-character limit.",
							  len, member->key, SF_NAME_LENGTH_MAX);
		else if (!is_variable_name(member->key, len))
			sf_validate_error(validator, member, SF_CODE_VARIABLE,
							  "Invalid variable name '%.*s': the variable name contains invalid characters.",
							  len, member->key);
	}
	sf_validate_template(validator, value, field);
}

/* Credentials: an object that names a role. */
void
sf_validate_credentials(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	const SfTreeNode *role;

	if (!sf_validate_kind(validator, value, SF_TREE_OBJECT))
		return;
	role = sf_tree_member(value, "RoleArn");
	if (role != NULL)
		sf_validate_kind(validator, role, SF_TREE_STRING);
	else if (sf_tree_member(value, "RoleArn.$") == NULL)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "The field 'RoleArn' is required but was missing");
	sf_validate_template(validator, value, field);
}

/* --- paths --- */

/*
 * Tell what is wrong with an expression of JSONPath mode; NULL: nothing, or it
 * is no string and that is reported.
 */
static const char *
expression_problem(SfValidator *validator, const SfTreeNode *value, int allowed)
{
	SfError		error;

	if (!sf_validate_kind(validator, value, SF_TREE_STRING) ||
		sf_expr_compile(value->string, allowed, &error) != NULL)
		return NULL;
	return error.cause ? error.cause : value->string;
}

/* Tell whether a string begins as paths do. */
static bool
has_dollar(const SfTreeNode *value)
{
	return value->string[0] == '$';
}

/* Report that a string is no path. */
static void
refuse_path(SfValidator *validator, const SfTreeNode *value, const char *problem)
{
	if (has_dollar(value))
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Value must be a valid JSONPath. (%s)", problem);
	else
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Value must be a valid JSONPath.");
}

/* Report that a path names more than one node, or none where it may. */
static void
refuse_reference(SfValidator *validator, const SfTreeNode *value, const char *problem)
{
	sf_validate_error(validator, value, SF_CODE_SCHEMA, "Value is not a Reference Path: %s",
					  problem);
}

/* Expect a path. */
void
sf_validate_path(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	const char *problem = expression_problem(validator, value, SF_EXPR_PATH);

	if (problem != NULL)
		refuse_path(validator, value, problem);
}

/* Expect a path or null. */
void
sf_validate_path_or_null(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (value->kind != SF_TREE_NULL)
		sf_validate_path(validator, value, field);
}

/* Expect a path, or an intrinsic function that gives a string. */
void
sf_validate_path_or_intrinsic(SfValidator *validator, const SfTreeNode *value,
							  const SfField *field)
{
	const char *problem = expression_problem(validator, value, SF_EXPR_ANY | SF_EXPR_TEXT);

	if (problem != NULL)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Value is not a valid JSONPath or intrinsic function call: %s",
						  problem);
}

/* Check a path that names one node. */
static void
check_reference(SfValidator *validator, const SfTreeNode *value, int allowed)
{
	const char *problem = expression_problem(validator, value, allowed);

	if (problem == NULL)
		return;
	if (has_dollar(value))
		refuse_reference(validator, value, problem);
	else
		refuse_path(validator, value, problem);
}

/* Expect a path that names one node. */
void
sf_validate_reference(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	check_reference(validator, value, SF_EXPR_REFERENCE);
}

/* ResultPath: a node of the state's input, not in the context object. */
void
sf_validate_input_reference_or_null(SfValidator *validator, const SfTreeNode *value,
									const SfField *field)
{
	if (value->kind != SF_TREE_NULL)
		check_reference(validator, value, SF_EXPR_REFERENCE | SF_EXPR_INPUT);
}

/* Variable, and what it is compared with: a path that names one node. */
void
sf_validate_compared(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	const char *problem = expression_problem(validator, value, SF_EXPR_REFERENCE);

	if (problem != NULL)
		refuse_reference(validator, value, has_dollar(value) ? problem :
						 "Reference path didn't start with '$'");
}

/* --- other strings --- */

/* Tell whether a text is the name of a function, with or without a schema. */
static bool
is_function_name(const char *text)
{
	List	   *names;

	return SplitIdentifierString(pstrdup(text), '.', &names) &&
		list_length(names) >= 1 && list_length(names) <= 2;
}

/* Find where the parameters name a function literally, or NULL. */
static const SfTreeNode *
named_function(SfValidator *validator, const SfTreeNode *owner)
{
	const SfTreeNode *parameters = sf_tree_member(owner, validator->language == SF_QL_JSONATA ?
												  "Arguments" : "Parameters");
	const SfTreeNode *name = parameters ? sf_tree_member(parameters, "FunctionName") : NULL;

	if (name == NULL || name->kind != SF_TREE_STRING ||
		sf_asl_is_jsonata(name, validator->language))
		return NULL;
	return name;
}

/*
 * Tell whether the name or the ARN of a Lambda function ends in a qualifier that is none: a version,
 * an alias or $LATEST.  A placeholder that a deployment fills in can be anything.
 */
static bool
has_bad_qualifier(const char *function)
{
	const char *name = strstr(function, "function:");
	const char *colon = strchr(name == NULL ? function : name + strlen("function:"), ':');
	const char *qualifier = colon == NULL ? NULL : colon + 1;

	if (qualifier == NULL || strstr(function, "${") != NULL || (name == NULL && strncmp(function, "arn:", 4) == 0))
		return false;
	if (*qualifier == '$')
		return strcmp(qualifier, "$LATEST") != 0 && strcmp(qualifier, "$LATEST.PUBLISHED") != 0;
	for (const char *p = qualifier; *p != '\0'; p++)
		if (!isalnum((unsigned char) *p) && *p != '-' && *p != '_')
			return true;
	return *qualifier == '\0';
}

/* Check the function that a resource names, or that its request does. */
static void
check_function(SfValidator *validator, const SfTreeNode *value, const SfResource *resource)
{
	const SfTreeNode *name = named_function(validator, value->parent);

	if (strncmp(value->string, "arn:", 4) == 0 && strcmp(resource->service, "lambda") == 0 &&
		strstr(value->string, ":states:::") == NULL && has_bad_qualifier(value->string))
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Value is not a valid resource ARN");
	if (name != NULL && strstr(resource->text, "lambda:invoke") != NULL && has_bad_qualifier(name->string))
		sf_validate_error(validator, name, SF_CODE_SCHEMA,
						  "FunctionName '%s' ends in a qualifier that no Lambda function can have", name->string);
}

/* Report a placeholder that does not end. */
static void
check_placeholders(SfValidator *validator, const SfTreeNode *value)
{
	for (const char *p = strstr(value->string, "${"); p != NULL; p = strstr(p + 2, "${"))
		if (p[2 + strcspn(p + 2, "}$")] != '}')
		{
			sf_validate_strictly(validator, value, SF_CODE_SCHEMA, "The placeholder at '%s' has no end", p);
			return;
		}
}

/* Tell whether a problem of a resource is new, and remember it. */
static bool
is_new_problem(SfValidator *validator, char *problem)
{
	foreach_ptr(const char, known, validator->problems)
	{
		if (strcmp(known, problem) == 0)
			return false;
	}
	validator->problems = lappend(validator->problems, problem);
	return true;
}

/*
 * Warn of a resource that stands at a node and cannot run, if that is known
 * beforehand; once, in however many states it stands.  A service's resource that
 * the service does not have is told of besides.
 */
void
sf_validate_runs(SfValidator *validator, const SfTreeNode *at, const SfResource *resource,
				 bool for_items)
{
	const SfTreeNode *function = named_function(validator, at->parent);
	char	   *problem = validator->how.probe == NULL ? NULL
		: validator->how.probe(resource, function == NULL ? NULL : function->string, for_items);
	char	   *unknown = validator->how.is_known == NULL ? NULL
		: validator->how.is_known(resource, for_items, validator->how.strict);

	if (problem != NULL && is_new_problem(validator, problem))
		sf_validate_warning(validator, at, SF_CODE_RESOURCE, "%s", problem);
	if (unknown != NULL && (validator->how.strict || is_new_problem(validator, unknown)))
		sf_validate_strictly(validator, at, validator->how.strict ? SF_CODE_SCHEMA : SF_CODE_RESOURCE, "%s", unknown);
}

/* Is a text a list of names, none of which is empty? */
static bool
are_event_names(const char *text)
{
	return text[0] != '\0' && text[0] != ',' && text[strlen(text) - 1] != ',' && strstr(text, ",,") == NULL;
}

/*
 * Resource: any text, as far as it is not for sfflow itself.  What cannot run
 * now may when it is its turn, so that is worth a warning only.
 */
void
sf_validate_resource(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	SfResource	resource;

	if (!sf_validate_kind(validator, value, SF_TREE_STRING))
		return;
	if (value->string[0] == '\0')
	{
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Minimum length is 1");
		return;
	}
	sf_resource_parse(value->string, &resource);
	if (resource.kind == SF_RESOURCE_SQL_FUNCTION &&
		!is_function_name(resource.name))
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Resource should be 'sql:query' or 'sql:' and the name of a function");
	else if (resource.kind == SF_RESOURCE_ACTIVITY && resource.name[0] == '\0')
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Resource should be 'activity:' and the name of an activity");
	else if (resource.kind == SF_RESOURCE_EVENT && !are_event_names(resource.name))
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Resource should be 'event:' and the names of events, with commas between them");
	else if (resource.kind == SF_RESOURCE_EVENT && resource.integration != SF_INTEGRATION_REQUEST_RESPONSE)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "A wait for an event has no task token");
	else if (resource.kind == SF_RESOURCE_HUMAN && resource.name[0] == '\0')
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Resource should be 'human:' and the name of a worklist");
	else if (resource.kind == SF_RESOURCE_HUMAN && resource.integration != SF_INTEGRATION_REQUEST_RESPONSE)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "A task of people has no task token");
	else
	{
		const SfTreeNode *config = sf_tree_member(value->parent, "ReaderConfig");

		if (field->shape == SF_SHAPE_ITEM_READER)
			sf_resource_reads(&resource, sf_tree_member_string(config, "InputType"),
							  sf_tree_member_string(config, "ManifestType"));
		check_function(validator, value, &resource);
		check_placeholders(validator, value);
		sf_validate_runs(validator, value, &resource, field->shape != SF_SHAPE_STATE);
	}
}

/* Tell whether a label may hold the character at p, of len bytes. */
static bool
is_label_character(const char *p, int len)
{
	unsigned char ch = *p;

	if (ch <= ' ' || ch == 0x7f ||
		(len == 1 && strchr("?*<>{}[]:;,\\|^~$#%&`\"", ch) != NULL))
		return false;
	/* the control characters U+0080 to U+009F, in UTF-8 */
	return !(GetDatabaseEncoding() == PG_UTF8 && ch == 0xc2 &&
			 (unsigned char) p[1] < 0xa0);
}

/* Label: part of a name, so without special characters, and unique. */
void
sf_validate_label(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	const char *p;

	if (!sf_validate_kind(validator, value, SF_TREE_STRING))
		return;
	if (value->string[0] == '\0')
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Minimum length is 1");
	if (pg_mbstrlen(value->string) > SF_LABEL_LENGTH_MAX)
		sf_validate_error(validator, value, SF_CODE_LABEL,
						  "Invalid Label name: '%s' exceeds the %d-character limit allowed by the service",
						  value->string, SF_LABEL_LENGTH_MAX);
	for (p = value->string; *p != '\0'; p += pg_mblen(p))
	{
		if (!is_label_character(p, pg_mblen(p)))
		{
			sf_validate_error(validator, value, SF_CODE_LABEL,
							  "Invalid Label name: it must not contain white space, wildcards, brackets, special or control characters");
			break;
		}
	}
	foreach_ptr(const SfTreeNode, label, validator->labels)
	{
		if (strcmp(label->string, value->string) == 0)
		{
			sf_validate_error(validator, value, SF_CODE_DUPLICATE_LABEL,
							  "Duplicate Label name: %s", value->string);
			return;
		}
	}
	validator->labels = lappend(validator->labels, (void *) value);
}

/* Check an array of strings. */
void
sf_validate_strings(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (!sf_validate_kind(validator, value, SF_TREE_ARRAY))
		return;
	SF_TREE_FOREACH(element, value)
		sf_validate_kind(validator, element, SF_TREE_STRING);
}
