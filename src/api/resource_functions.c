/*
 * resource_functions.c
 *		sf_map_resource(), sf_unmap_resource(): mappings of resources to others.
 */
#include "postgres.h"

#include "api/sql_arguments.h"
#include "asl/program.h"
#include "base/errors.h"
#include "miscadmin.h"
#include "store/resource_map.h"

/* Bytes of a pattern: it is a key, and no ARN is as long */
#define SF_PATTERN_MAX	1024

PG_FUNCTION_INFO_V1(sfflow_sf_map_resource);
PG_FUNCTION_INFO_V1(sfflow_sf_unmap_resource);

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
Datum
sfflow_sf_map_resource(PG_FUNCTION_ARGS)
{
	char	   *pattern = sf_arg_text(fcinfo, 0, "pattern");
	char	   *resource = sf_arg_text(fcinfo, 1, "resource");

	check_pattern(pattern);
	check_resource(resource);
	sf_resource_map_put(GetUserId(), pattern, resource);
	PG_RETURN_VOID();
}

/* sf_unmap_resource(pattern): end a mapping of the calling role. */
Datum
sfflow_sf_unmap_resource(PG_FUNCTION_ARGS)
{
	char	   *pattern = sf_arg_text(fcinfo, 0, "pattern");

	if (!sf_resource_map_remove(GetUserId(), pattern))
		ereport(ERROR,
				(errcode(ERRCODE_SF_RESOURCE_DOES_NOT_EXIST),
				 errmsg("role \"%s\" maps no resource \"%s\"",
						GetUserNameFromId(GetUserId(), false), pattern)));
	PG_RETURN_VOID();
}
