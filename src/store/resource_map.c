/*
 * resource_map.c
 *		Resource names that stand for others.
 *
 * Mappings are few, change rarely, and are looked up by each task that needs one,
 * so every session caches the whole table.  A session that writes to the table
 * invalidates its relcache entry.  PostgreSQL tells the other sessions at commit,
 * and this one at commit or rollback.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "store/privilege.h"
#include "store/resource_map.h"
#include "store/row.h"

#define ROW SfResourceMapping
SF_ROW_TYPE(row_type, SF_RESOURCE_MAP_COLUMNS, resource_map, 2);

static SfPlan put_mapping = SF_PLAN(
	"INSERT INTO _sfflow.resource_map (owner, pattern, resource) VALUES ($1, $2, $3)"
	" ON CONFLICT (owner, pattern) DO UPDATE SET resource = EXCLUDED.resource");

static SfPlan remove_mapping = SF_PLAN(
	"DELETE FROM _sfflow.resource_map"
	" WHERE owner" SF_EQ "$1 AND pattern" SF_EQ "$2");

static SfPlan read_mappings = SF_PLAN(
	"SELECT " SF_RESOURCE_MAP_COLUMNS(SF_SELECT) "1 FROM _sfflow.resource_map");

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

/* Add a mapping, or give the one of the same owner and pattern a new resource. */
void
sf_resource_map_put(Oid owner, const char *pattern, const char *resource)
{
	sf_store_execute(&put_mapping, SF_ROLE(owner), SF_TEXT(pattern), SF_TEXT(resource));
	sf_privilege_anchor(owner);
	sf_store_announce_change("resource_map");
}

/* Remove a mapping; false when there was none. */
bool
sf_resource_map_remove(Oid owner, const char *pattern)
{
	if (sf_store_execute(&remove_mapping, SF_ROLE(owner), SF_TEXT(pattern)) == 0)
		return false;
	sf_privilege_unanchor(owner);
	sf_store_announce_change("resource_map");
	return true;
}

/* Copy one row. */
static void
read_mapping(HeapTuple tuple, TupleDesc desc, void *arg)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(copy_context);
	SfResourceMapping *mapping = palloc0(sizeof(SfResourceMapping));

	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, mapping);
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
		copy_relid = sf_store_relation("resource_map");
		copy_valid = true;		/* before reading: a change meanwhile counts */
		PG_TRY();
		{
			sf_store_read(&read_mappings, read_mapping, NULL);
		}
		PG_CATCH();
		{
			copy_valid = false;
			PG_RE_THROW();
		}
		PG_END_TRY();
		/* A snapshot of long ago is good for its own transaction only. */
		if (IsolationUsesXactSnapshot())
			copy_valid = false;
	}
	return copy;
}
