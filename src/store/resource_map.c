/*
 * resource_map.c
 *		Resource names that stand for others.
 *
 * Mappings are few, change rarely, and are looked up by each task that needs one,
 * so every session has a copy of the table (table_copy.c).
 */
#include "postgres.h"

#include "store/privilege.h"
#include "store/resource_map.h"
#include "store/row.h"
#include "store/table_copy.h"

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

static void load(void);

/* The session's copy of the table */
static SfTableCopy copy = {.table = "resource_map",.load = load};
static List *mappings = NIL;

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
	MemoryContext oldcontext = MemoryContextSwitchTo(copy.context);
	SfResourceMapping *mapping = palloc0(sizeof(SfResourceMapping));

	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, mapping);
	mappings = lappend(mappings, mapping);
	MemoryContextSwitchTo(oldcontext);
}

/* Read all mappings. */
static void
load(void)
{
	mappings = NIL;
	sf_store_read(&read_mappings, read_mapping, NULL);
}

/* Give all mappings. */
List *
sf_resource_map_read(void)
{
	sf_table_copy_refresh(&copy);
	return mappings;
}
