/*
 * missing_resources.c
 *		_sfflow.missing_resources(): what a definition names and nothing maps.
 *
 * The definition need not be valid, and may have placeholders: the tree is walked
 * from scope to scope, and only what is a resource there is looked at.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "api/columns.h"
#include "api/import.h"
#include "api/probe.h"
#include "api/sql_arguments.h"
#include "base/errors.h"

PG_FUNCTION_INFO_V1(sfflow_missing_resources);

/* Find the function that a request names literally, or NULL. */
static const char *
named_function(const SfNode *owner)
{
	const SfNode *arguments = sf_node_member(owner, "Arguments");
	const char *name = sf_node_member_string(arguments != NULL ? arguments :
											 sf_node_member(owner, "Parameters"), "FunctionName");

	return name == NULL || strncmp(name, "{%", 2) == 0 ? NULL : name;
}

/* Put the resource of a state, or of its ItemReader or ResultWriter, if nothing maps it. */
static void
put_if_missing(FunctionCallInfo fcinfo, const SfNode *owner, bool for_items)
{
	const SfNode *node = sf_node_member(owner, "Resource");
	SfColumns	row = {0};
	SfResource	resource;
	const char *missing;

	if (node == NULL || node->kind != SF_NODE_STRING)
		return;
	sf_resource_parse(node->string, &resource);
	missing = sf_probe_missing(&resource, named_function(owner));
	if (missing == NULL)
		return;
	sf_columns_text(&row, missing);
	sf_columns_add(&row, BoolGetDatum(for_items), false);
	sf_columns_text(&row, sf_node_location(node));
	sf_columns_put(fcinfo, &row);
}

static void walk_scope(FunctionCallInfo fcinfo, const SfNode *scope);

/* Look at states, or at the jobs of a net; NULL: there are none. */
static void
walk_states(FunctionCallInfo fcinfo, const SfNode *states)
{
	const SfNode *state;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (states == NULL)
		return;
	SF_NODE_FOREACH(state, states)
	{
		const SfNode *branches = sf_node_member(state, "Branches");
		const SfNode *branch;

		put_if_missing(fcinfo, state, false);
		put_if_missing(fcinfo, sf_node_member(state, "ItemReader"), true);
		put_if_missing(fcinfo, sf_node_member(state, "ResultWriter"), true);
		walk_scope(fcinfo, sf_node_member(state, "ItemProcessor"));
		walk_scope(fcinfo, sf_node_member(state, "Iterator"));
		walk_states(fcinfo, sf_node_member(state, "Jobs"));
		if (branches == NULL)
			continue;
		SF_NODE_FOREACH(branch, branches)
			walk_scope(fcinfo, branch);
	}
}

/* Look at the states of a machine, of a branch or of an ItemProcessor. */
static void
walk_scope(FunctionCallInfo fcinfo, const SfNode *scope)
{
	walk_states(fcinfo, sf_node_member(scope, "States"));
}

/* Refuse a text that has no states: an empty answer would say that it needs nothing. */
static void
check_states(const SfNode *root)
{
	const SfNode *states = sf_node_member(root, "States");

	if (states == NULL || states->kind != SF_NODE_OBJECT)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("this is not the definition of a state machine"),
				 errdetail("It has no object \"States\".")));
}

/* _sfflow.missing_resources(definition): one row per place, in the order of the states. */
Datum
sfflow_missing_resources(PG_FUNCTION_ARGS)
{
	SfImport	import;

	sf_import_read(sf_arg_text(fcinfo, 0, "definition"), &import);
	check_states(import.root);
	InitMaterializedSRF(fcinfo, 0);
	walk_scope(fcinfo, import.root);
	return (Datum) 0;
}
