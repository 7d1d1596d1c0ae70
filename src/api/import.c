/*
 * import.c
 *		sf_import(): a definition with placeholders becomes a state machine.
 *
 * A placeholder is ${Name}, as the DefinitionSubstitutions of SAM and CDK replace
 * it, anywhere in the text.  In the middle of a string its value is put there as
 * text.  Where it is a whole value, in quotes or without, the value stands in its
 * place as it is: a number stays a number.  What a value brings is not looked
 * through again.  An escape of JSON is the character that it stands for, so that
 * \u0024{Name} is a placeholder, too.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/json.h"

#include "api/import.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "asl/cloud_template.h"
#include "base/errors.h"

/* Bytes of the list of placeholders without a substitution, after which none is added */
#define MISSING_LENGTH	4000

PG_FUNCTION_INFO_V1(sfflow_sf_import);

/* The characters of the names of placeholders */
#define OF_NAMES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-"

/* Find the character of a placeholder that an escape at p stands for; 0: it is none. */
static char
escaped_character(const char *p)
{
	int			c;

	if (strncmp(p, "\\u00", 4) != 0 || strspn(p + 4, "0123456789abcdefABCDEF") < 2)
		return 0;
	c = strtol(pnstrdup(p + 4, 2), NULL, 16);
	return c != 0 && strchr(OF_NAMES "${}", c) != NULL ? c : 0;
}

/* Write the characters that placeholders consist of as themselves. */
static const char *
unescape(const char *text)
{
	StringInfoData buf;

	if (strstr(text, "\\u00") == NULL)
		return text;
	initStringInfo(&buf);
	while (*text != '\0')
	{
		char		c = escaped_character(text);
		int			length = c != 0 ? 6 : text[0] == '\\' && text[1] != '\0' ? 2 : 1;

		CHECK_FOR_INTERRUPTS();
		appendBinaryStringInfo(&buf, c != 0 ? &c : text, c != 0 ? 1 : length);
		text += length;
	}
	return buf.data;
}

/* Tell how many bytes the placeholder at p has; 0: there is none. */
static int
placeholder_length(const char *p)
{
	int			n;

	if (p[0] != '$' || p[1] != '{')
		return 0;
	n = strspn(p + 2, OF_NAMES);
	return n > 0 && p[2 + n] == '}' ? n + 3 : 0;
}

/* Copy the name out of a placeholder. */
static char *
placeholder_name(const char *p, int length)
{
	return pnstrdup(p + 2, length - 3);
}

/* Tell whether the text after a string makes it the name of a member. */
static bool
is_member_name(const char *after)
{
	return after[strspn(after, " \t\r\n")] == ':';
}

/*
 * Tell how many bytes at p, outside of any string, are a value that is one
 * placeholder, with its quotes; *placeholder is set to its beginning.  0: none.
 */
static int
whole_value(const char *p, const char **placeholder)
{
	bool		quoted = *p == '"';
	int			length = placeholder_length(p + quoted);

	*placeholder = p + quoted;
	if (length == 0 || !quoted)
		return length;
	if (p[1 + length] != '"' || is_member_name(p + length + 2))
		return 0;
	return length + 2;
}

/* Append the value of a placeholder that is a whole value. */
static void
append_value(StringInfo buf, const Jsonb *substitutions, const char *name)
{
	if (substitutions == NULL)
		appendStringInfo(buf, "\"${%s}\"", name);
	else
		appendStringInfoString(buf, sf_json_to_cstring(sf_json_get(substitutions, name)));
}

/* Append the value of a placeholder that is part of a string. */
static void
append_text(StringInfo buf, const Jsonb *substitutions, const char *name)
{
	const Jsonb *value = sf_json_get(substitutions, name);
	const char *text = sf_json_get_cstring(substitutions, name);
	StringInfoData quoted;
	JsonbValue	root;

	sf_json_root(value, &root);
	if (root.type == jbvBinary || root.type == jbvNull)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("the substitution for \"%s\" must be a string, a number or a boolean", name),
				 errdetail("In the definition ${%s} is part of a longer string.", name)));
	initStringInfo(&quoted);
	escape_json(&quoted, text != NULL ? text : sf_json_to_cstring(value));
	appendBinaryStringInfo(buf, quoted.data + 1, quoted.len - 2);
}

/*
 * Replace the placeholders of a text by their values.  Without substitutions keep
 * them, and put those that stand where a value is to be into quotes.
 */
static char *
substitute(const char *text, const Jsonb *substitutions)
{
	const char *placeholder;
	bool		in_string = false;
	StringInfoData buf;
	int			length;

	initStringInfo(&buf);
	for (const char *p = text; *p != '\0';)
	{
		CHECK_FOR_INTERRUPTS();
		if (!in_string && (length = whole_value(p, &placeholder)) > 0)
			append_value(&buf, substitutions,
						 placeholder_name(placeholder, placeholder_length(placeholder)));
		else if (in_string && substitutions != NULL && (length = placeholder_length(p)) > 0)
			append_text(&buf, substitutions, placeholder_name(p, length));
		else
		{
			/* an escaped quote does not end a string */
			length = in_string && p[0] == '\\' && p[1] != '\0' ? 2 : 1;
			in_string ^= *p == '"';
			appendBinaryStringInfo(&buf, p, length);
		}
		p += length;
	}
	return buf.data;
}

/* Refuse a template that has definitions in it: which of them is meant is not known. */
static void
refuse_template(const SfNode *root)
{
	SfCloudTemplate template;

	if (sf_asl_read_cloud_template(root, &template))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("%s", template.message),
				 errdetail("%s", template.detail),
				 template.hint != NULL ? errhint("%s", template.hint) : 0));
}

/* Parse a text, whose placeholders are kept. */
static SfNode *
parse(const char *text)
{
	SfParseError error = {0};
	char	   *quoted = substitute(text, NULL);
	SfNode	   *root = sf_node_parse(quoted, strlen(quoted), &error);

	if (root == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("the definition is not JSON: %s", error.message),
				 errdetail("It is at line %d, column %d.", error.line, error.column),
				 errhint("Convert YAML to JSON first.")));
	refuse_template(root);
	return root;
}

/*
 * Read a text: a definition, or what DescribeStateMachine answers, which has the
 * definition as a string, and the name.
 */
void
sf_import_read(const char *text, SfImport *import)
{
	const char *inner;

	import->name = NULL;
	import->text = unescape(text);
	import->root = parse(import->text);
	inner = sf_node_member_string(import->root, "definition");
	if (inner == NULL || sf_node_member(import->root, "States") != NULL)
		return;
	import->name = sf_node_member_string(import->root, "name");
	import->text = unescape(inner);
	import->root = parse(import->text);
}

/* Add the placeholders of a string without a substitution to a list, with their place. */
static void
list_missing(StringInfo list, const SfNode *node, const char *string, const Jsonb *substitutions)
{
	for (const char *p = strchr(string, '$'); p != NULL; p = strchr(p + 1, '$'))
	{
		int			length = placeholder_length(p);

		if (list->len > MISSING_LENGTH)
			return;
		if (length > 0 && sf_json_get(substitutions, placeholder_name(p, length)) == NULL)
			appendStringInfo(list, "%s%.*s at %s", list->len > 0 ? ", " : "", length, p,
							 sf_node_location(node));
	}
}

/* Do that for all strings of a tree, those that are names of members included. */
static void
list_all_missing(StringInfo list, const SfNode *node, const Jsonb *substitutions)
{
	const SfNode *child;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node->key != NULL)
		list_missing(list, node, node->key, substitutions);
	if (node->kind == SF_NODE_STRING)
		list_missing(list, node, node->string, substitutions);
	SF_NODE_FOREACH(child, node)
		list_all_missing(list, child, substitutions);
}

/* Refuse substitutions that are no object, or that lack a placeholder. */
static void
check_substitutions(const SfImport *import, const Jsonb *substitutions)
{
	StringInfoData missing;

	if (!JB_ROOT_IS_OBJECT(substitutions))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument substitutions must be a JSON object")));
	initStringInfo(&missing);
	list_all_missing(&missing, import->root, substitutions);
	if (missing.len > 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("placeholders without a substitution: %s", missing.data),
				 errhint("Give each a value in the argument substitutions; {\"Name\": \"${Name}\"} keeps the text as it is.")));
}

/*
 * sf_import(definition, substitutions, name): replace the placeholders, and create
 * or replace the state machine; the version.
 */
Datum
sfflow_sf_import(PG_FUNCTION_ARGS)
{
	char	   *text = sf_arg_text(fcinfo, 0, "definition");
	Jsonb	   *substitutions = sf_arg_jsonb(fcinfo, 1, "substitutions");
	char	   *name = sf_arg_text_or_null(fcinfo, 2);
	SfMachine	machine = {0};
	SfImport	import;

	sf_import_read(text, &import);
	check_substitutions(&import, substitutions);
	machine.name = name != NULL ? name : unconstify(char *, import.name);
	if (machine.name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument name must not be null"),
				 errdetail("A definition does not name its state machine.")));
	machine.definition = substitute(import.text, substitutions);
	machine.options = sf_json_empty_object();
	sf_object_create_machine(&machine, true);
	PG_RETURN_INT32(machine.version);
}
