/*
 * resource_functions.c
 *		sf_map_resource(), sf_unmap_resource(): mappings of resources to others.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "api/columns.h"
#include "api/definition/definitions.h"
#include "api/sql_arguments.h"
#include "asl/program.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "db/table.h"
#include "run/gate/gate.h"
#include "run/task/service.h"
#include "sql_task/function/function.h"
#include "store/state_machine/resource_map.h"

/* Bytes of a pattern: it is a key, and no ARN is as long */
#define SF_PATTERN_MAX	1024

/* Raise an error for a pattern that cannot be one. */
static void
check_pattern(const char *pattern)
{
	if (pattern[0] == '\0' || strlen(pattern) > SF_PATTERN_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_NAME),
				 errmsg("a pattern of resources has 1 to %d bytes", SF_PATTERN_MAX)));
}

/* Raise an error for a resource that could not run either. */
static void
check_resource(const char *text)
{
	SfResource	resource;

	sf_resource_parse(text, &resource);
	if (resource.kind == SF_RESOURCE_MAPPED)
		ereport(ERROR,
				(errcode(ERRCODE_SF_RESOURCE_DOES_NOT_EXIST),
				 errmsg("resource \"%s\" is none that sfflow runs", text),
				 errhint("Map to sql:schema.function, sql:query, activity:name or arn:aws:states:::states:startExecution.")));
	if (resource.kind == SF_RESOURCE_SQL_FUNCTION && resource.name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_SF_RESOURCE_DOES_NOT_EXIST),
				 errmsg("resource \"%s\" names no function", text)));
}

/*
 * sf_map_resource(pattern, resource): have every Resource that matches run
 * another one, in the machines of the calling role (all machines, when it is a
 * superuser).  The same pattern again changes the mapping.
 */
SF_SQL_FUNCTION(sfflow_sf_map_resource)
{
	char	   *pattern = sf_arg_text(fcinfo, 0, "pattern");
	char	   *resource = sf_arg_text(fcinfo, 1, "resource");

	check_pattern(pattern);
	check_resource(resource);
	sf_resource_map_put(GetUserId(), pattern, resource);
	sf_gate_recheck_owner(GetUserId());
	PG_RETURN_VOID();
}

/* sf_unmap_resource(pattern): end a mapping of the calling role. */
SF_SQL_FUNCTION(sfflow_sf_unmap_resource)
{
	char	   *pattern = sf_arg_text(fcinfo, 0, "pattern");

	if (!sf_resource_map_delete(GetUserId(), pattern))
		ereport(ERROR,
				(errcode(ERRCODE_SF_RESOURCE_DOES_NOT_EXIST),
				 errmsg("role \"%s\" maps no resource \"%s\"",
						GetUserNameFromId(GetUserId(), false), pattern)));
	sf_gate_recheck_owner(GetUserId());
	PG_RETURN_VOID();
}

/* --- tell whether the resources of a definition could run now in a machine of the caller --- */

/*
 * Say that nothing maps a name, in the words of the error of such a task, and what
 * sf_missing_resources proposes for it.
 */
static char *
not_mapped(const char *what, const char *name, const char *pattern, bool for_items)
{
	static SfPlan plan = SF_PLAN("SELECT _sfflow.propose_mapping($1, $2)");

	return psprintf("The %s '%s' is not mapped to anything that sfflow can run. Proposal: %s",
					what, name,
					(char *) linitial(sf_db_texts(&plan, SF_TEXT(pattern), SF_BOOL(for_items))));
}

/* Is a reader mapped to an activity, or by the type of what it reads to anything? */
static bool
is_read_outside(const SfResource *reader, SfResource *target)
{
	SfResource	typed = {.kind = SF_RESOURCE_MAPPED, .text = reader->typed, .name = reader->typed};

	return sf_task_runner.resolve(&typed, GetUserId(), target) ||
		(sf_task_runner.resolve(reader, GetUserId(), target) && target->kind == SF_RESOURCE_ACTIVITY);
}

/*
 * Find what would run in place of a resource in a machine of the caller.  False
 * with *missing, the resource or the function, when nothing would.  False with
 * NULL when that is only known once the task runs, because its request names what
 * carries it out.
 */
static bool
find_target(const SfResource *resource, const char *function,
			SfResource *target, const char **missing)
{
	SfError		error = sf_error_make(NULL, NULL);
	SfJsonBuilder json;
	Jsonb	   *request;

	*missing = NULL;
	if (sf_resource_reads_parquet(resource) && !is_read_outside(resource, target))
	{
		*missing = resource->typed;
		return false;
	}
	if (function == NULL && sf_service.is_named_by_request(resource))
		return false;
	sf_json_begin_object(&json);
	sf_json_add_string(&json, "FunctionName", function);
	request = sf_json_end(&json);
	if (sf_service_resolve(resource, GetUserId(), target, &request, &error))
		return true;
	*missing = error.name == NULL ? resource->text : function;
	return false;
}

/*
 * Name what has to be mapped before a resource can run in a machine of the caller:
 * the resource without its suffix, or the function that its request names.  NULL:
 * nothing has to, as far as that is known.
 */
const char *
sf_probe_missing(const SfResource *resource, const char *function)
{
	SfResource	target;
	const char *missing;

	if (find_target(resource, function, &target, &missing))
		return NULL;
	return missing == resource->text ? resource->name : missing;
}

/* Tell why a machine of the caller cannot run a function; NULL: it can. */
static char *
probe_function(const SfResource *resource, const char *name)
{
	SfClosest	closest;

	switch (sf_function_access(name, &closest))
	{
		case SF_FUNCTION_CALLABLE:
			return NULL;
		case SF_FUNCTION_FORBIDDEN:
			return psprintf("The resource '%s' runs the function %s, on which role \"%s\" has no EXECUTE.",
							resource->text, name, GetUserNameFromId(GetUserId(), false));
		case SF_FUNCTION_MISSING:
			break;
	}
	return psprintf("The resource '%s' runs the function %s, which does not exist.%s",
					resource->text, name, sf_closest_question(&closest));
}

/* Tell why a resource cannot run in a machine of the caller (SfResourceProbe). */
static char *
probe_resource(const SfResource *resource, const char *function, bool for_items)
{
	SfResource	target;
	const char *missing;

	if (!find_target(resource, function, &target, &missing))
		return missing == NULL ? NULL :
			missing == function ? not_mapped("function", function, function, for_items) :
			not_mapped("resource", missing, missing == resource->typed ? missing : resource->name, for_items);
	if (for_items && !sf_service_is_sql(&target) &&
		(resource->typed == NULL || target.kind != SF_RESOURCE_ACTIVITY))
		return psprintf("The resource '%s' cannot read or write items.", target.text);
	SF_FEATURES(resource, feature)
		if (feature->resource->kind == target.kind)
			return feature->resource->problem_of(&target);
	return target.kind == SF_RESOURCE_SQL_FUNCTION ?
		probe_function(resource, target.name) : NULL;
}

/* Tell why the service has no such resource (SfResourceKnown). */
static char *
probe_known(const SfResource *resource, bool for_items, bool all)
{
	return sf_service.is_known(resource, for_items, all);
}

const SfValidation sf_probe_usual = {.probe = probe_resource,.is_known = probe_known};

/* --- sf_validate(): all that is wrong with a definition, one row each --- */

/* Read one of the options of sf_validate(), all of which are booleans. */
static void
read_option(SfValidation *how, const char *name, const JsonbValue *value)
{
	if (value->type != jbvBool)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option \"%s\" of sf_validate() must be a boolean", name)));
	if (strcmp(name, "strict") == 0)
		how->strict = value->val.boolean;
	else if (strcmp(name, "service_quotas") == 0)
		how->service_quotas = value->val.boolean;
	else
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("unknown option \"%s\" of sf_validate()", name),
				 errhint("The options are: strict, service_quotas.")));
}

/* Read the options of sf_validate(). */
static SfValidation
read_validation(const Jsonb *options)
{
	SfValidation how = sf_probe_usual;
	SfJsonMember *members;
	JsonbValue	root;
	int			n;

	sf_json_root(options, &root);
	if (!sf_json_is_object(&root))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument options must be a JSON object")));
	members = sf_json_members(&root, &n);
	for (int i = 0; i < n; i++)
		read_option(&how, pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len), &members[i].value);
	return how;
}

/*
 * Return the diagnostics of a definition, in the order of its text; no rows if it
 * is good.  NULL is an invalid definition, as the empty text is.
 */
SF_SQL_FUNCTION(sfflow_sf_validate)
{
	text	   *definition = PG_ARGISNULL(0) ? cstring_to_text("")
		: PG_GETARG_TEXT_PP(0);
	SfValidation how = PG_ARGISNULL(1) ? sf_probe_usual : read_validation(PG_GETARG_JSONB_P(1));
	List	   *diagnostics;

	InitMaterializedSRF(fcinfo, 0);
	diagnostics = sf_asl_validate(VARDATA_ANY(definition), VARSIZE_ANY_EXHDR(definition), &how);
	foreach_ptr(const SfDiagnostic, d, diagnostics)
	{
		SfColumns row = {0};

		sf_columns_text(&row, sf_severity_name(d->severity));
		sf_columns_text(&row, d->code);
		sf_columns_text(&row, d->location);
		sf_columns_text(&row, d->message);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}
