/*
 * missing_resources.c
 *		_sfflow.missing_resources(): what a definition names and nothing maps.
 *
 * The definition need not be valid, and may have placeholders: the tree is walked
 * from scope to scope, and only what is a resource there is looked at.  Of a template
 * that is done for each of its machines; then comes what else it has.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "api/columns.h"
#include "api/definition/definitions.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "feature/import/import.h"

/* A definition whose resources are put into the result */
typedef struct Walk
{
	FunctionCallInfo fcinfo;
	const char *location;		/* of the definition in its template */
} Walk;

/* Find the function that a request names literally, or NULL. */
static const char *
named_function(const SfTreeNode *owner)
{
	const SfTreeNode *arguments = sf_tree_member(owner, "Arguments");
	const char *name = sf_tree_member_string(arguments != NULL ? arguments :
											 sf_tree_member(owner, "Parameters"), "FunctionName");

	return name == NULL || strncmp(name, "{%", 2) == 0 ? NULL : name;
}

/* Put a row: a resource, or something else of a template with its kind and its proposal. */
static void
put_missing(FunctionCallInfo fcinfo, const char *resource, bool for_items, const char *location,
			const SfCloudProposal *proposal)
{
	SfColumns	row = {0};

	sf_columns_text(&row, resource);
	sf_columns_add(&row, BoolGetDatum(for_items), false);
	sf_columns_text(&row, location);
	sf_columns_text(&row, proposal == NULL ? NULL : proposal->kind);
	sf_columns_text(&row, proposal == NULL ? NULL : proposal->name);
	sf_columns_text(&row, proposal == NULL ? NULL : proposal->sql);
	sf_columns_put(fcinfo, &row);
}

/* Put the resource of a state, or of its ItemReader or ResultWriter, if nothing maps it. */
static void
put_if_missing(const Walk *walk, const SfTreeNode *owner, bool for_items)
{
	const SfTreeNode *node = sf_tree_member(owner, "Resource");
	const SfTreeNode *config = sf_tree_member(owner, "ReaderConfig");
	SfResource	resource;
	const char *missing;

	if (node == NULL || node->kind != SF_TREE_STRING)
		return;
	sf_resource_parse(node->string, &resource);
	if (for_items && strcmp(owner->key, "ItemReader") == 0)
		sf_resource_reads(&resource, sf_tree_member_string(config, "InputType"),
						  sf_tree_member_string(config, "ManifestType"));
	missing = sf_probe_missing(&resource, named_function(owner));
	if (missing != NULL)
		put_missing(walk->fcinfo, missing, for_items, psprintf("%s%s", walk->location, sf_tree_location(node)), NULL);
}

static void walk_scope(const Walk *walk, const SfTreeNode *scope);

/* Look at states, or at the jobs of a net; NULL: there are none. */
static void
walk_states(const Walk *walk, const SfTreeNode *states)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (states == NULL)
		return;
	SF_TREE_FOREACH(state, states)
	{
		const SfTreeNode *branches = sf_tree_member(state, "Branches");

		put_if_missing(walk, state, false);
		put_if_missing(walk, sf_tree_member(state, "ItemReader"), true);
		put_if_missing(walk, sf_tree_member(state, "ResultWriter"), true);
		walk_scope(walk, sf_tree_member(state, "ItemProcessor"));
		walk_scope(walk, sf_tree_member(state, "Iterator"));
		walk_states(walk, sf_tree_member(state, "Jobs"));
		if (branches == NULL)
			continue;
		SF_TREE_FOREACH(branch, branches)
			walk_scope(walk, branch);
	}
}

/* Look at the states of a machine, of a branch or of an ItemProcessor. */
static void
walk_scope(const Walk *walk, const SfTreeNode *scope)
{
	walk_states(walk, sf_tree_member(scope, "States"));
}

/* Refuse a text that has no states: an empty answer would say that it needs nothing. */
static void
check_states(const SfImport *import)
{
	const SfTreeNode *states = sf_tree_member(import->root, "States");

	if (states == NULL || states->kind != SF_TREE_OBJECT)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("this is not the definition of a state machine"),
				 import->id == NULL ? errdetail("It has no object \"States\".") :
				 errdetail("It has no object \"States\". It is at %s.", import->location)));
}

/* Put the definition of a machine of a template that is in another file. */
static void
put_definition(FunctionCallInfo fcinfo, const SfImport *import)
{
	SfCloudProposal proposal = {.kind = "definition"};
	const char *file = import->file != NULL ? import->file : "its definition";

	proposal.sql = sf_cloud_propose_definition(import->id, file);
	put_missing(fcinfo, file, false, import->location, &proposal);
}

/*
 * _sfflow.missing_resources(definition, substitutions): one row per occurrence, in the
 * order of the states.
 */
SF_SQL_FUNCTION(sfflow_missing_resources)
{
	SfCloud    *template;
	List	   *imports = sf_import_read(sf_arg_text(fcinfo, 0, "definition"), sf_arg_jsonb(fcinfo, 1, "substitutions"),
										 &template);

	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(const SfImport, import, imports)
	{
		if (import->text == NULL)
		{
			put_definition(fcinfo, import);
			continue;
		}
		check_states(import);
		walk_scope(&(Walk) {fcinfo, import->location}, import->root);
	}
	if (template == NULL)
		return (Datum) 0;
	foreach_ptr(const SfCloudProposal, proposal, sf_cloud_proposals(template))
		put_missing(fcinfo, proposal->resource, false, proposal->location, proposal);
	return (Datum) 0;
}
