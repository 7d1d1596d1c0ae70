/*
 * constraints.c
 *		Deferred constraints around a task.
 *
 * They are checked when the task ends, so that a violation is the task's error
 * and not that of the commit, which other tasks share.  In the session of
 * somebody else they are also checked before it begins, with the rights of
 * whoever deferred them; and a task that is a guest there has them immediate
 * throughout, since PostgreSQL refuses to defer anything in a
 * security-restricted operation.
 *
 * The next task has to find every constraint in its initial mode again, and
 * PostgreSQL has no command for that within a transaction: so all are made
 * deferred, and the few that are deferrable but initially immediate are made
 * immediate by name.  (A name stands for all constraints of that name in its
 * schema.)
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "base/compat.h"
#include "catalog/namespace.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_namespace.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "task/sqltask.h"
#include "utils/acl.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

/* RangeVars of the deferrable, initially immediate constraints */
static MemoryContext immediate_context = NULL;
static List *immediate_names = NIL;
static bool immediate_valid = false;

/* Forget the list: some constraint has changed. */
static void
invalidate(Datum arg, int cacheid, uint32 hashvalue)
{
	immediate_valid = false;
}

/* Read the names from the catalogue. */
static void
read_immediate_names(void)
{
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;
	MemoryContext oldcontext;

	if (immediate_context == NULL)
	{
		immediate_context = AllocSetContextCreate(TopMemoryContext,
												  "sfflow immediate constraints",
												  ALLOCSET_SMALL_SIZES);
		CacheRegisterSyscacheCallback(CONSTROID, invalidate, (Datum) 0);
	}
	MemoryContextReset(immediate_context);
	immediate_names = NIL;
	immediate_valid = true;

	rel = table_open(ConstraintRelationId, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);
		char	   *schema;

		CHECK_FOR_INTERRUPTS();
		if (!form->condeferrable || form->condeferred)
			continue;
		schema = get_namespace_name(form->connamespace);
		if (schema == NULL)
			continue;
		oldcontext = MemoryContextSwitchTo(immediate_context);
		immediate_names = lappend(immediate_names,
								  makeRangeVar(pstrdup(schema),
											   pstrdup(NameStr(form->conname)), -1));
		MemoryContextSwitchTo(oldcontext);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* SET CONSTRAINTS names|ALL IMMEDIATE|DEFERRED */
static void
set_constraints(List *names, bool deferred)
{
	ConstraintsSetStmt *stmt = makeNode(ConstraintsSetStmt);

	stmt->constraints = names;
	stmt->deferred = deferred;
	AfterTriggerSetState(stmt);
}

/* Tell whether the current user may look names up in a schema. */
static bool
may_use_schema(const char *name)
{
	Oid			schema = get_namespace_oid(name, true);

	return OidIsValid(schema) &&
		sf_schema_aclcheck(schema, GetUserId(), ACL_USAGE) == ACLCHECK_OK;
}

/*
 * Check everything that is deferred, as the current user.  Constraints are
 * immediate from now on.
 */
void
sf_constraints_check(void)
{
	set_constraints(NIL, false);
}

/* Put every constraint into its initial mode. */
void
sf_constraints_reset(void)
{
	ListCell   *lc;

	set_constraints(NIL, true);
	if (!immediate_valid)
		read_immediate_names();
	foreach(lc, immediate_names)
	{
		RangeVar   *name = (RangeVar *) lfirst(lc);

		/* A schema that the user may not look into keeps its constraints
		 * deferred: only code with other rights can reach them. */
		if (may_use_schema(name->schemaname))
			set_constraints(list_make1(name), false);
	}
}
