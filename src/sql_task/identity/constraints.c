/*
 * constraints.c
 *		Deferred constraints around a task.
 *
 * They are checked when the task ends, so that a violation is the task's error
 * and not that of the commit, which other tasks share.  In a client's session they
 * are also checked before the task begins, with the rights of the role that
 * deferred them.  A task of another role there has them immediate throughout, since
 * PostgreSQL refuses to defer anything in a security-restricted operation.
 *
 * The next task has to find every constraint in its initial mode again, and
 * PostgreSQL has no command for that within a transaction.  So all are made
 * deferred, and the few that are deferrable but initially immediate are made
 * immediate by name.  (A name stands for all constraints of that name in its
 * schema.)  Each such constraint costs some microseconds, so a worker does this
 * only when something is deferred.  A SET CONSTRAINTS that leaves nothing deferred
 * therefore lasts until the end of the slice.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_namespace.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "base/version/compat.h"
#include "sql_task/sql_task_internal.h"

/* What pg_constraint says, until it changes */
static MemoryContext known_context = NULL;
static bool known_valid = false;
static uint64 nchanges = 0;

/* RangeVars of the deferrable, initially immediate constraints */
static List *immediate_names = NIL;

/* OIDs of the tables that a deferrable constraint is about */
static List *deferrable_tables = NIL;

/* Forget the lists: some constraint has changed. */
static void
invalidate(Datum arg, int cacheid, uint32 hashvalue)
{
	known_valid = false;
	nchanges++;
}

/* Remember a deferrable constraint. */
static void
remember_constraint(Form_pg_constraint form)
{
	MemoryContext oldcontext;
	char	   *schema = get_namespace_name(form->connamespace);

	oldcontext = MemoryContextSwitchTo(known_context);
	deferrable_tables = lappend_oid(deferrable_tables, form->conrelid);
	if (OidIsValid(form->confrelid))
		deferrable_tables = lappend_oid(deferrable_tables, form->confrelid);
	if (!form->condeferred && schema != NULL)
		immediate_names = lappend(immediate_names,
								  makeRangeVar(pstrdup(schema),
											   pstrdup(NameStr(form->conname)), -1));
	MemoryContextSwitchTo(oldcontext);
}

/* Read the deferrable constraints from the catalogue, unless they are known. */
static void
read_constraints(void)
{
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;
	uint64		since;

	if (known_valid)
		return;
	if (known_context == NULL)
	{
		known_context = AllocSetContextCreate(TopMemoryContext,
											  "sfflow deferrable constraints",
											  ALLOCSET_SMALL_SIZES);
		CacheRegisterSyscacheCallback(CONSTROID, invalidate, (Datum) 0);
	}
	MemoryContextReset(known_context);
	immediate_names = NIL;
	deferrable_tables = NIL;
	since = nchanges;

	rel = table_open(ConstraintRelationId, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);

		CHECK_FOR_INTERRUPTS();
		if (form->condeferrable)
			remember_constraint(form);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	list_sort(deferrable_tables, list_oid_cmp);
	list_deduplicate_oid(deferrable_tables);
	/* only now: an error, such as a cancel, leaves lists that are not complete */
	known_valid = nchanges == since;
}

/* Tell whether a check of a deferrable constraint is waiting. */
static bool
is_anything_deferred(void)
{
	ListCell   *lc;

	foreach(lc, deferrable_tables)
		if (AfterTriggerPendingOnRel(lfirst_oid(lc)))
			return true;
	return false;
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
	read_constraints();
	foreach(lc, immediate_names)
	{
		RangeVar   *name = (RangeVar *) lfirst(lc);

		/* A schema that the user may not look into keeps its constraints
		 * deferred: only code with other rights can reach them. */
		if (may_use_schema(name->schemaname))
			set_constraints(list_make1(name), false);
	}
}

/* End a task in a worker: check what it has deferred, and go back. */
void
sf_constraints_end_task(void)
{
	read_constraints();
	if (immediate_names != NIL && !is_anything_deferred())
		return;
	sf_constraints_check();
	sf_constraints_reset();
}
