/*
 * feature_tables.c
 *		What the engine does by itself with tables and objects of features.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "base/error/errors.h"
#include "db/table.h"
#include "store/feature_tables.h"

/* --- objects --- */

/* The kind of objects that a text names; NULL: none of a feature. */
const SfFeatureObject *
sf_feature_object_of(const char *text)
{
	SF_OBJECTS(object)
		if (strncmp(text, object->prefix, strlen(object->prefix)) == 0)
			return object;
	return NULL;
}

/* The name of an object, in a text that begins with the prefix of its kind. */
const char *
sf_feature_object_name(const SfFeatureObject *object, const char *text)
{
	return text + strlen(object->prefix);
}

/* List the names of the objects of a kind that a role owns. */
List *
sf_feature_owned_names(const SfFeatureObject *object, Oid owner)
{
	static SfPlan *plans = NULL;
	SfPlan	   *plan;
	int			n = 0;

	SF_OBJECTS(other)
		n++;
	if (plans == NULL)
		plans = MemoryContextAllocZero(TopMemoryContext, n * sizeof(SfPlan));
	plan = &plans[object - sf_feature_objects];
	if (plan->query == NULL)
		plan->query = MemoryContextStrdup(TopMemoryContext, psprintf(
			"SELECT o.name FROM _sfflow.%s o WHERE o.owner = $1 ORDER BY o.name", object->table));
	return sf_db_texts(plan, SF_ROLE(owner));
}

/* --- tables --- */

/* Read an execution that must not change. */
static void
read_frozen(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_what};
	List	  **frozen = arg;
	SfFrozen   *f = palloc(sizeof(SfFrozen));

	f->execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	f->what = sf_row_text(tuple, desc, COL_what);
	*frozen = lappend(*frozen, f);
}

/*
 * List those of some executions, whose rows the caller has locked, that must not change now, as SfFrozen.  A feature
 * that freezes an execution has had the lock before and has not written its row, so what is read is of now, whatever
 * the snapshot of the caller's query or transaction.
 */
List *
sf_feature_frozen(const List *numbers)
{
	static SfPlan plan;
	StringInfoData query;
	List	   *frozen = NIL;

	if (plan.query == NULL)
	{
		initStringInfo(&query);
		appendStringInfoString(&query, "SELECT f.execution_no, f.what FROM (SELECT 0::pg_catalog.int8 AS execution_no,"
							   " ''::pg_catalog.text AS what WHERE false");
		SF_TABLES(table)
			if (table->freezes != NULL)
				appendStringInfo(&query, " UNION ALL SELECT k.execution_no, '%s' FROM _sfflow.%s k",
								 table->freezes, table->name);
		appendStringInfoString(&query, ") f WHERE f.execution_no = ANY ($1)");
		plan.query = MemoryContextStrdup(TopMemoryContext, query.data);
	}
	if (numbers != NIL)
		sf_snapshot_read_now(&plan, read_frozen, &frozen, sf_query_int8s(numbers));
	return frozen;
}

/* Must an execution, whose row the caller has locked, stay as it is?  Then what is being done with it, else NULL. */
const char *
sf_feature_frozen_by(int64 execution_no)
{
	const SfFrozen *frozen = sf_list_first(sf_feature_frozen(list_make1(&execution_no)));

	return frozen == NULL ? NULL : frozen->what;
}

/* Refuse to change an execution, whose row the caller has locked, and which has to stay as it is. */
void
sf_feature_require_unfrozen(const SfExecution *execution)
{
	const char *what = sf_feature_frozen_by(execution->execution_no);

	if (what != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("execution \"%s\" is being %s, and is deleted after that", execution->execution_id, what),
				 errhint("When it is gone, sf_start() begins another execution of this name.")));
}

/*
 * Have every session read anew what it keeps of tables: rows may have come that no
 * function of sfflow has written, as from a dump or a publication.
 */
void
sf_feature_invalidate_cached(void)
{
	SF_TABLES(table)
		if (table->cached)
			sf_db_invalidate(table->name);
}
