/*
 * probe.c
 *		Whether the resources of a definition could run in a machine of the
 *		caller, as things are now.
 */
#include "postgres.h"

#include "api/probe.h"
#include "base/closest.h"
#include "run/lambda.h"
#include "miscadmin.h"
#include "task/function.h"

/* Print what nothing maps, in the words in which a task fails of it. */
static char *
not_mapped(const char *what, const char *name)
{
	return psprintf("The %s '%s' is not mapped to anything that sfflow can run.",
					what, name);
}

/*
 * Find what would run in place of a resource in a machine of the caller; false
 * with *problem when it is known that nothing does.  lambda:invoke runs what
 * stands in for the function that it names, or else what stands in for itself.
 */
static bool
find_target(const SfResource *resource, const char *function,
			SfResource *target, char **problem)
{
	SfResource	named = {.kind = SF_RESOURCE_MAPPED, .text = function,
	.name = function, .service = "lambda"};

	*problem = NULL;
	*target = *resource;
	if (resource->kind != SF_RESOURCE_MAPPED)
		return true;
	if (!sf_lambda_is_invoke(resource))
	{
		if (sf_task_driver.resolve(resource, GetUserId(), target))
			return true;
		*problem = not_mapped("resource", resource->text);
		return false;
	}
	/* without a name, it is known only when the task runs */
	if (function == NULL || sf_task_driver.resolve(&named, GetUserId(), target) ||
		sf_task_driver.resolve(resource, GetUserId(), target))
		return function != NULL;
	*problem = not_mapped("function", function);
	return false;
}

/* Tell why a machine of the caller cannot run a function; NULL: it can. */
static char *
probe_function(const SfResource *resource, const char *name)
{
	SfClosest	closest;

	switch (sf_function_look(name, &closest))
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
	char	   *problem;

	if (!find_target(resource, function, &target, &problem))
		return problem;
	if (for_items && target.kind != SF_RESOURCE_SQL_FUNCTION &&
		target.kind != SF_RESOURCE_SQL_QUERY)
		return psprintf("The resource '%s' cannot read or write items.", target.text);
	return target.kind == SF_RESOURCE_SQL_FUNCTION ?
		probe_function(resource, target.name) : NULL;
}
