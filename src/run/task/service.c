/*
 * service.c
 *		Find what carries a resource out, and what holds when no service is
 *		registered.
 */
#include "postgres.h"

#include "base/error/errors.h"
#include "run/task/service.h"

/* Look a resource up in the map: the default of resolve. */
bool
sf_service_find(const SfResource *resource, Oid owner, SfResource *target,
				   Jsonb **payload, SfError *error)
{
	return sf_task_runner.resolve(resource, owner, target);
}

/*
 * Find what carries a resource out, mapped or not.  False with *error as for
 * resolve.
 */
bool
sf_service_resolve(const SfResource *resource, Oid owner, SfResource *target,
				   Jsonb **payload, SfError *error)
{
	*target = *resource;
	if (resource->kind != SF_RESOURCE_MAPPED)
		return true;
	if (!sf_service.resolve(resource, owner, target, payload, error))
		return false;
	/* how the answer comes is written in the definition, not in the map */
	target->integration = resource->integration;
	return true;
}

/* Put into an error that nothing maps a resource; returns false. */
bool
sf_service_refuse_unmapped(const char *resource, SfError *error)
{
	return sf_error_set(error, SF_ERR_RUNTIME,
						"The resource '%s' is not mapped to anything that sfflow can run.",
						resource);
}

/* Can a resource read the items of a Map, or write its results? */
bool
sf_service_is_sql(const SfResource *resource)
{
	return resource->kind == SF_RESOURCE_SQL_FUNCTION ||
		resource->kind == SF_RESOURCE_SQL_QUERY;
}

/* Default: a resource alone decides what runs. */
static bool
is_named_by_request(const SfResource *resource)
{
	return false;
}

/* Default: a resource has no other names. */
static List *
other_names(const SfResource *resource)
{
	return NIL;
}

/* Default: keep an outcome. */
static void
shape_outcome(const SfResource *resource, SfTaskOutcome *outcome)
{
}

/* Default: keep a result. */
static Jsonb *
shape_result(const SfResource *resource, Jsonb *result)
{
	return result;
}

/* Default: every result fits. */
static SfMockProblem
check_result(const SfResource *resource, const Jsonb *result, bool all_members)
{
	return (SfMockProblem) {0};
}

/* Default: every resource is known. */
static char *
is_known(const SfResource *resource, bool for_items, bool all)
{
	return NULL;
}

/* Default: name the resource. */
static char *
describe_source(const SfResource *resource, const Jsonb *payload)
{
	return psprintf("Resource: '%s'.", resource->text);
}

/* Default: a content is the items. */
static bool
read_listed(struct SfItemReader *reader, const SfState *state, const Jsonb *content,
			bool *ok)
{
	return false;
}

SfService	sf_service = {
	.resolve = sf_service_find,
	.is_named_by_request = is_named_by_request,
	.other_names = other_names,
	.shape_outcome = shape_outcome,
	.shape_result = shape_result,
	.check_result = check_result,
	.is_known = is_known,
	.describe_source = describe_source,
	.read_listed = read_listed
};
