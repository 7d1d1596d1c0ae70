/*
 * probe.c
 *		Tell whether the resources of a definition could run now in a machine of
 *		the caller.
 */
#include "postgres.h"

#include "api/probe.h"
#include "base/closest.h"
#include "miscadmin.h"
#include "run/service.h"
#include "store/table.h"
#include "task/function.h"

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
					(char *) linitial(sf_store_texts(&plan, SF_TEXT(pattern), SF_BOOL(for_items))));
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
	SfJsonBuilder b;
	Jsonb	   *request;

	*missing = NULL;
	if (function == NULL && sf_service.is_named_by_request(resource))
		return false;
	sf_json_begin_object(&b);
	sf_json_add_string(&b, "FunctionName", function);
	request = sf_json_finish(&b);
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
char *
sf_probe_resource(const SfResource *resource, const char *function, bool for_items)
{
	SfResource	target;
	const char *missing;

	if (!find_target(resource, function, &target, &missing))
		return missing == NULL ? NULL :
			missing == function ? not_mapped("function", function, function, for_items) :
			not_mapped("resource", missing, resource->name, for_items);
	if (for_items && !sf_service_is_sql(&target))
		return psprintf("The resource '%s' cannot read or write items.", target.text);
	return target.kind == SF_RESOURCE_SQL_FUNCTION ?
		probe_function(resource, target.name) : NULL;
}
