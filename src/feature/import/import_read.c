/*
 * import_read.c
 *		The texts that sf_import() takes: a definition, the answer of
 *		DescribeStateMachine, or a template of CloudFormation, SAM or CDK with any number
 *		of machines (src/cloud/); in JSON or YAML.  And the placeholders in them.
 *
 * A placeholder is ${Name}, as the DefinitionSubstitutions of SAM and CDK replace
 * it, anywhere in the text.  In the middle of a string its value is put there as
 * text.  Where it is a whole value, in quotes or without, the value stands in its
 * place as it is: a number stays a number.  What a value brings is not looked
 * through again.  An escape of JSON is the character that it stands for, so that
 * \u0024{Name} is a placeholder, too.  What a template has for a placeholder replaces
 * it as the service does: as text, also where it is a whole value.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/json.h"

#include "base/error/errors.h"
#include "feature/import/import.h"

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
int
sf_import_placeholder(const char *p)
{
	int			n;

	if (p[0] != '$' || p[1] != '{')
		return 0;
	n = strspn(p + 2, OF_NAMES);
	return n > 0 && p[2 + n] == '}' ? n + 3 : 0;
}

/* Copy the name out of a placeholder. */
char *
sf_import_placeholder_name(const char *p, int length)
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
	int			length = sf_import_placeholder(p + quoted);

	*placeholder = p + quoted;
	if (length == 0 || !quoted)
		return length;
	if (p[1 + length] != '"' || is_member_name(p + length + 2))
		return 0;
	return length + 2;
}

/* The values of placeholders; one that has none is kept */
typedef struct Values
{
	const Jsonb *given;			/* by the caller: values of any kind; or NULL */
	const Jsonb *filled;		/* by the template: texts; or NULL */
} Values;

/*
 * Append the value of a placeholder that is a whole value.  Without one the placeholder
 * is kept, in quotes.
 */
static void
append_value(StringInfo buf, const Values *values, const char *name, bool quoted)
{
	const Jsonb *value = values->given == NULL ? NULL : sf_json_get(values->given, name);
	const char *text = values->filled == NULL ? NULL : sf_json_get_cstring(values->filled, name);
	Jsonb	   *parsed;

	if (value != NULL)
		appendStringInfoString(buf, sf_json_to_cstring(value));
	else if (text != NULL && !quoted && sf_json_parse(text, strlen(text), &parsed))
		appendStringInfoString(buf, text);
	else
		escape_json(buf, text != NULL ? text : psprintf("${%s}", name));
}

/* Find the text of a placeholder that is part of a string. */
static const char *
text_of(const Values *values, const char *name)
{
	const Jsonb *value = values->given == NULL ? NULL : sf_json_get(values->given, name);
	const char *text;
	JsonbValue	root;

	if (value == NULL)
	{
		text = values->filled == NULL ? NULL : sf_json_get_cstring(values->filled, name);
		return text != NULL ? text : psprintf("${%s}", name);
	}
	sf_json_root(value, &root);
	if (root.type == jbvBinary || root.type == jbvNull)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("the substitution for \"%s\" must be a string, a number or a boolean", name),
				 errdetail("In the definition ${%s} is part of a longer string.", name)));
	text = sf_json_get_cstring(values->given, name);
	return text != NULL ? text : sf_json_to_cstring(value);
}

/* Append the value of a placeholder that is part of a string. */
static void
append_text(StringInfo buf, const Values *values, const char *name)
{
	StringInfoData quoted;

	initStringInfo(&quoted);
	escape_json(&quoted, text_of(values, name));
	appendBinaryStringInfo(buf, quoted.data + 1, quoted.len - 2);
}

/*
 * Replace the placeholders of a text by their values.  Keep those that have none, and
 * put those of them that stand where a value is to be into quotes.
 */
char *
sf_import_substitute(const char *text, const Jsonb *given, const Jsonb *filled)
{
	Values		values = {given, filled};
	const char *placeholder;
	bool		in_string = false;
	StringInfoData buf;
	int			length;

	initStringInfo(&buf);
	for (const char *p = text; *p != '\0';)
	{
		CHECK_FOR_INTERRUPTS();
		if (!in_string && (length = whole_value(p, &placeholder)) > 0)
			append_value(&buf, &values, sf_import_placeholder_name(placeholder, sf_import_placeholder(placeholder)), *p == '"');
		else if (in_string && (length = sf_import_placeholder(p)) > 0)
			append_text(&buf, &values, sf_import_placeholder_name(p, length));
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

/* Convert a text that is YAML; one that is not, or is no mapping, is given back as it is. */
static const char *
as_json(const char *text)
{
	const char *first = text + strspn(text, " \t\r\n");
	const char *json;

	if (*first == '\0' || strchr("{[\"", *first) != NULL)
		return text;
	json = sf_yaml_to_json(text);
	return *json == '{' ? json : text;
}

/* Parse the text of a definition, or of what has one in it; its placeholders are kept. */
static void
parse(SfImport *import, const char *text)
{
	SfParseError error = {0};
	char	   *quoted;

	import->text = unescape(as_json(text));
	quoted = sf_import_substitute(import->text, NULL, NULL);
	import->root = sf_tree_parse(quoted, strlen(quoted), &error);
	if (import->root == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("the definition is not JSON: %s", error.message),
				 import->id == NULL ? errdetail("It is at line %d, column %d.", error.line, error.column) :
				 errdetail("It is at line %d, column %d of the definition at %s.", error.line, error.column, import->location)));
}

/* Make what is to be imported out of a machine of a template. */
static SfImport *
import_machine(const SfCloudMachine *machine)
{
	SfImport   *import = palloc0(sizeof(SfImport));

	import->id = machine->id;
	import->name = machine->name;
	import->is_express = machine->is_express;
	import->location = machine->location;
	import->file = machine->file;
	if (machine->text != NULL)
	{
		parse(import, machine->text);
		parse(import, sf_import_substitute(import->text, NULL, machine->substitutions));
	}
	return import;
}

/*
 * Read a text: a definition; what DescribeStateMachine answers, which has the
 * definition as a string, and the name; or a template with any number of them, whose
 * references may get values from given.  *template is set to the template, or to NULL.
 * The result is a list of SfImport.
 */
List *
sf_import_read(const char *text, const Jsonb *given, SfCloud **template)
{
	SfImport   *import = palloc0(sizeof(SfImport));
	const char *inner;
	List	   *imports = NIL;

	*template = NULL;
	import->location = "";
	parse(import, text);
	if (sf_asl_is_cloud_template(import->root))
	{
		*template = palloc0(sizeof(SfCloud));
		(*template)->root = import->root;
		(*template)->given = given;
		foreach_ptr(const SfCloudMachine, machine, sf_cloud_machines(*template))
			imports = lappend(imports, import_machine(machine));
		return imports;
	}
	inner = sf_tree_member_string(import->root, "definition");
	if (inner != NULL && sf_tree_member(import->root, "States") == NULL)
	{
		import->name = sf_tree_member_string(import->root, "name");
		parse(import, inner);
	}
	return list_make1(import);
}
