/*
 * validate.c
 *		sf_validate(): all that is wrong with a definition, one row each.
 */
#include "postgres.h"

#include "asl/program.h"
#include "base/compat.h"
#include "engine/lambda.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "task/function.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(sfflow_sf_validate);

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
		if (sf_resource_resolver(resource, GetUserId(), target))
			return true;
		*problem = not_mapped("resource", resource->text);
		return false;
	}
	/* without a name, it is known only when the task runs */
	if (function == NULL || sf_resource_resolver(&named, GetUserId(), target) ||
		sf_resource_resolver(resource, GetUserId(), target))
		return function != NULL;
	*problem = not_mapped("function", function);
	return false;
}

/* Tell why a resource cannot run in a machine of the caller (SfResourceProbe). */
static char *
probe_resource(const SfResource *resource, const char *function, bool for_items)
{
	SfResource	target;
	char	   *problem;

	if (!find_target(resource, function, &target, &problem))
		return problem;
	if (for_items && target.kind != SF_RESOURCE_SQL_FUNCTION &&
		target.kind != SF_RESOURCE_SQL_QUERY)
		return psprintf("The resource '%s' cannot read or write items.", target.text);
	if (target.kind == SF_RESOURCE_SQL_FUNCTION && !sf_function_exists(target.name))
		return psprintf("The resource '%s' runs the function %s, which does not exist.",
						resource->text, target.name);
	return NULL;
}

/*
 * Return the diagnostics of a definition, in the order of its text; no rows
 * for one that is good.  NULL is no definition, as the empty text is none.
 */
Datum
sfflow_sf_validate(PG_FUNCTION_ARGS)
{
	text	   *definition = PG_ARGISNULL(0) ? cstring_to_text("")
		: PG_GETARG_TEXT_PP(0);
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	List	   *diagnostics;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	diagnostics = sf_asl_validate(VARDATA_ANY(definition),
								  VARSIZE_ANY_EXHDR(definition), probe_resource);
	foreach(lc, diagnostics)
	{
		const SfDiagnostic *d = lfirst(lc);
		Datum		values[4] = {0};
		bool		nulls[4] = {false};

		values[0] = CStringGetTextDatum(sf_severity_name(d->severity));
		values[1] = CStringGetTextDatum(d->code);
		if (d->location)
			values[2] = CStringGetTextDatum(d->location);
		else
			nulls[2] = true;
		values[3] = CStringGetTextDatum(d->message);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
