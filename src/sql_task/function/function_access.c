/*
 * function_access.c
 *		What the name of a function is to the current user, before it is called.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/regproc.h"
#include "utils/varlena.h"

#include "base/version/compat.h"
#include "sql_task/function/function.h"

/* Find the schemas in which a name is looked up: its own, or the search_path. */
static List *
schemas_of(List *names)
{
	Oid			schema;

	if (list_length(names) == 1)
		return fetch_search_path(false);
	schema = get_namespace_oid(linitial(names), true);
	/* a look-up without the right to look would raise an error */
	if (!OidIsValid(schema) ||
		sf_schema_aclcheck(schema, GetUserId(), ACL_USAGE) != ACLCHECK_OK)
		return NIL;
	return list_make1_oid(schema);
}

/* Offer the functions of some schemas, but the built-in ones, that the current user may execute. */
static void
offer_functions(const List *schemas, const char *prefix, SfClosest *closest)
{
	Relation	procs = table_open(ProcedureRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(procs, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
		const char *name = NameStr(form->proname);

		CHECK_FOR_INTERRUPTS();
		if (form->prokind == PROKIND_FUNCTION &&
			form->pronamespace != PG_CATALOG_NAMESPACE &&
			list_member_oid(schemas, form->pronamespace) &&
			sf_closest_is_better(closest, name) &&
			sf_function_aclcheck(form->oid, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK)
			sf_closest_offer_as(closest, name, psprintf("%s%s", prefix, name));
	}
	systable_endscan(scan);
	table_close(procs, AccessShareLock);
}

/*
 * Look a function up by name, without errors.  Where it is missing, *closest
 * gets the names of those near it that the current user may execute.
 */
SfFunctionAccess
sf_function_access(const char *name, SfClosest *closest)
{
	List	   *names;
	List	   *schemas;
	FuncCandidateList candidates;

	*closest = sf_closest_begin("");
	if (!SplitIdentifierString(pstrdup(name), '.', &names) ||
		list_length(names) < 1 || list_length(names) > 2)
		return SF_FUNCTION_MISSING;
	schemas = schemas_of(names);
	if (list_length(names) == 2 && schemas == NIL)
		return SF_FUNCTION_MISSING;
	candidates = FuncnameGetCandidates(sf_qualified_name_list(name), -1, NIL,
									   false, false, false, true SF_CANDIDATES_EXTRA_ARG);
	for (FuncCandidateList c = candidates; c != NULL; c = c->next)
		if (sf_function_aclcheck(c->oid, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK)
			return SF_FUNCTION_CALLABLE;
	if (candidates != NULL)
		return SF_FUNCTION_FORBIDDEN;
	*closest = sf_closest_begin(llast(names));
	offer_functions(schemas, list_length(names) == 1 ? "" :
					psprintf("%s.", (char *) linitial(names)), closest);
	return SF_FUNCTION_MISSING;
}
