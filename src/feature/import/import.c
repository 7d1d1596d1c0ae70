/*
 * import.c
 *		sf_import(): definitions with placeholders (import_read.c) become state machines.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/definition/definitions.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "feature/import/import.h"

/* Bytes of a list in an error, such as that of placeholders without a substitution, after which none is added */
#define MISSING_LENGTH	4000

/* Add the placeholders of a string that get no value to a list, with their path. */
static void
list_missing(StringInfo list, const SfImport *import, const SfTreeNode *node, const char *string,
			 const Jsonb *substitutions)
{
	for (const char *p = strchr(string, '$'); p != NULL; p = strchr(p + 1, '$'))
	{
		int			length = sf_import_placeholder(p);

		if (list->len > MISSING_LENGTH)
			return;
		if (length > 0 && sf_json_get(substitutions, sf_import_placeholder_name(p, length)) == NULL)
			appendStringInfo(list, "%s%.*s at %s%s", list->len > 0 ? ", " : "", length, p,
							 import->location, sf_tree_location(node));
	}
}

/* Do that for all strings of a tree, those that are names of members included. */
static void
list_all_missing(StringInfo list, const SfImport *import, const SfTreeNode *node, const Jsonb *substitutions)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node->key != NULL)
		list_missing(list, import, node, node->key, substitutions);
	if (node->kind == SF_TREE_STRING)
		list_missing(list, import, node, node->string, substitutions);
	SF_TREE_FOREACH(child, node)
		list_all_missing(list, import, child, substitutions);
}

/* Refuse substitutions that lack a placeholder of a definition. */
static void
check_substitutions(const List *imports, const Jsonb *substitutions)
{
	StringInfoData missing;

	initStringInfo(&missing);
	foreach_ptr(const SfImport, import, imports)
		list_all_missing(&missing, import, import->root, substitutions);
	if (missing.len > 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("placeholders without a substitution: %s", missing.data),
				 errhint("Give each a value in the argument substitutions; {\"Name\": \"${Name}\"} keeps the text as it is.")));
}

/* --- machines of a template --- */

/* Refuse machines whose definition is elsewhere, that have the same name, or one that is not known. */
static void
check_machines(const List *imports, const char *name)
{
	foreach_ptr(const SfImport, import, imports)
	{
		CHECK_FOR_INTERRUPTS();
		if (name == NULL && strstr(import->name, "${") != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_DEFINITION),
					 errmsg("the name of state machine \"%s\" depends on what has no value: %s", import->id, import->name),
					 errdetail("It is at %s.", import->location),
					 errhint("Give a value in the argument substitutions, or the argument name.")));
		if (import->text == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_DEFINITION),
					 import->file == NULL ? errmsg("state machine \"%s\" of the template has no definition", import->name) :
					 errmsg("the definition of state machine \"%s\" is in another file: %s", import->name, import->file),
					 errdetail("It is at %s.", import->location),
					 errhint("Give its text in the argument substitutions: {\"%s.Definition\": \"{...}\"}.", import->id)));
		foreach_ptr(const SfImport, other, imports)
		{
			if (other != import && strcmp(other->name, import->name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_SF_INVALID_DEFINITION),
						 errmsg("two state machines of the template have the name \"%s\"", import->name),
						 errdetail("They are at %s and %s.", import->location, other->location)));
		}
	}
}

/* Pick those machines of a template that name says: all without it, and the only one in any case. */
static List *
pick_machines(List *imports, const char *name)
{
	StringInfoData names;

	if (imports == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("the template has no state machine")));
	if (name == NULL || list_length(imports) == 1)
		return imports;
	initStringInfo(&names);
	foreach_ptr(SfImport, import, imports)
	{
		if (strcmp(import->id, name) == 0 || strcmp(import->name, name) == 0)
			return list_make1(import);
		if (names.len < MISSING_LENGTH)
			appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", import->id);
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_DEFINITION),
			 errmsg("the template has no state machine \"%s\"", name),
			 errdetail("It has %s.", names.data)));
}

/* Say that a template has more than machines. */
static void
tell_proposals(SfCloud *template)
{
	int			n = list_length(sf_cloud_proposals(template));

	if (n > 0)
		ereport(NOTICE,
				(errmsg_plural("the template has %d activity, alias, schedule or rule that was not imported",
							   "the template has %d activities, aliases, schedules or rules that were not imported", n, n),
				 errhint("sf_missing_resources has a statement for each.")));
}

/* Create or replace the machine of a definition; its version. */
static int
create_machine(const SfImport *import, const Jsonb *substitutions, const char *name)
{
	SfMachine	machine = {0};

	machine.name = unconstify(char *, name != NULL ? name : import->name);
	if (machine.name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument name must not be null"),
				 errdetail("A definition does not name its state machine.")));
	machine.definition = sf_import_substitute(import->text, substitutions, NULL);
	machine.options = sf_json_from_cstring(import->is_express ? "{\"aws\": {\"type\": \"EXPRESS\"}}" : "{}");
	sf_object_create_machine(&machine, true);
	return machine.version;
}

/*
 * sf_import(definition, substitutions, name): replace the placeholders, and create
 * or replace the state machine; the version.  Of a template with several machines
 * name picks one, and without it all are created; the version of the last one.  Of a
 * template with one machine name is the name that it gets.
 */
SF_SQL_FUNCTION(sfflow_sf_import)
{
	char	   *text = sf_arg_text(fcinfo, 0, "definition");
	Jsonb	   *substitutions = sf_arg_jsonb(fcinfo, 1, "substitutions");
	char	   *name = sf_arg_text_or_null(fcinfo, 2);
	SfCloud    *template;
	List	   *imports;
	bool		is_only;		/* name then renames it */
	int			version = 0;

	if (!JB_ROOT_IS_OBJECT(substitutions))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument substitutions must be a JSON object")));
	imports = sf_import_read(text, substitutions, &template);
	is_only = list_length(imports) == 1;
	if (template != NULL)
	{
		imports = pick_machines(imports, name);
		check_machines(imports, is_only ? name : NULL);
	}
	check_substitutions(imports, substitutions);
	foreach_ptr(const SfImport, import, imports)
		version = create_machine(import, substitutions, is_only ? name : NULL);
	if (template != NULL)
		tell_proposals(template);
	PG_RETURN_INT32(version);
}

/* sf_from_yaml(yaml): the same document in JSON, members in their order. */
SF_SQL_FUNCTION(sfflow_sf_from_yaml)
{
	PG_RETURN_TEXT_P(cstring_to_text(sf_yaml_to_json(text_to_cstring(PG_GETARG_TEXT_PP(0)))));
}
