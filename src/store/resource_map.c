/*
 * resource_map.c
 *		Resource names that stand for others.
 *
 * Mappings are few, change rarely and are asked for at each task that needs
 * one, so every session keeps a copy of the whole table.  Whoever writes to
 * the table invalidates its relcache entry, which PostgreSQL tells the other
 * sessions at commit, and this one at commit or rollback.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "store/privilege.h"
#include "store/resource_map.h"
#include "store/table.h"

static SfPlan put_mapping = SF_PLAN(
	"INSERT INTO _sfflow.resource_map (owner, pattern, resource) VALUES ($1, $2, $3)"
	" ON CONFLICT (owner, pattern) DO UPDATE SET resource = EXCLUDED.resource",
	3, REGROLEOID, TEXTOID, TEXTOID);

static SfPlan remove_mapping = SF_PLAN(
	"DELETE FROM _sfflow.resource_map"
	" WHERE owner OPERATOR(pg_catalog.=) $1 AND pattern OPERATOR(pg_catalog.=) $2",
	2, REGROLEOID, TEXTOID);

static SfPlan read_mappings = SF_PLAN(
	"SELECT owner::pg_catalog.oid::pg_catalog.int8, pattern, resource"
	" FROM _sfflow.resource_map", 0, 0);

/* The session's copy of the table, in a context of its own */
static MemoryContext copy_context = NULL;
static List *copy = NIL;
static Oid	copy_relid = InvalidOid;
static bool copy_valid = false;

/* Relcache callback: the table may have changed. */
static void
invalidate_copy(Datum arg, Oid relid)
{
	if (!OidIsValid(relid) || relid == copy_relid)
		copy_valid = false;
}

/* OID of the table. */
static Oid
table_oid(void)
{
	return get_relname_relid("resource_map", get_namespace_oid("_sfflow", false));
}

/* Tell every session that the table has changed. */
static void
announce_change(void)
{
	CacheInvalidateRelcacheByRelid(table_oid());
}

/* Add a mapping, or change it. */
void
sf_resource_map_put(Oid owner, const char *pattern, const char *resource)
{
	Datum		args[3];

	args[0] = ObjectIdGetDatum(owner);
	args[1] = CStringGetTextDatum(pattern);
	args[2] = CStringGetTextDatum(resource);
	(void) sf_store_query(&put_mapping, args, NULL, 0, NULL, NULL);
	sf_privilege_anchor(owner);
	announce_change();
}

/* Remove a mapping; false when there was none. */
bool
sf_resource_map_remove(Oid owner, const char *pattern)
{
	Datum		args[2];

	args[0] = ObjectIdGetDatum(owner);
	args[1] = CStringGetTextDatum(pattern);
	if (sf_store_query(&remove_mapping, args, NULL, 0, NULL, NULL) == 0)
		return false;
	sf_privilege_unanchor(owner);
	announce_change();
	return true;
}

/* Copy one row. */
static void
read_mapping(HeapTuple tuple, TupleDesc desc, void *arg)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(copy_context);
	SfResourceMapping *mapping = palloc(sizeof(SfResourceMapping));

	mapping->owner = (Oid) sf_row_int64(tuple, desc, 1);
	mapping->pattern = sf_row_text(tuple, desc, 2);
	mapping->resource = sf_row_text(tuple, desc, 3);
	copy = lappend(copy, mapping);
	MemoryContextSwitchTo(oldcontext);
}

/* Give all mappings. */
List *
sf_resource_map_read(void)
{
	if (copy_context == NULL)
	{
		copy_context = AllocSetContextCreate(TopMemoryContext, "sfflow resource map",
											 ALLOCSET_SMALL_SIZES);
		CacheRegisterRelcacheCallback(invalidate_copy, (Datum) 0);
	}
	if (!copy_valid)
	{
		copy = NIL;
		MemoryContextReset(copy_context);
		copy_relid = table_oid();
		copy_valid = true;		/* before reading: a change meanwhile counts */
		(void) sf_store_query(&read_mappings, NULL, NULL, 0, read_mapping, NULL);
		/* A snapshot of long ago is good for its own transaction only. */
		if (IsolationUsesXactSnapshot())
			copy_valid = false;
	}
	return copy;
}
