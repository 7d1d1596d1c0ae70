/*
 * resource_map.c
 *		Resource names that stand for others.
 *
 * Mappings change rarely and are looked up by each task that needs one, so every session
 * keeps those that apply to the owners of the machines that it runs (keyed_cache.c): their
 * own, and those of superusers.
 */
#include "postgres.h"

#include "utils/inval.h"
#include "utils/syscache.h"

#include "db/keyed_cache.h"
#include "store/role/privilege.h"
#include "store/state_machine/resource_map.h"

#define ROW SfResourceMapping
SF_ROW_TYPE(row_type, SF_RESOURCE_MAP_COLUMNS, resource_map, 2);

static SfPlan put_mapping = SF_PLAN(
	"INSERT INTO _sfflow.resource_map (owner, pattern, resource) VALUES ($1, $2, $3)"
	" ON CONFLICT (owner, pattern) DO UPDATE SET resource = EXCLUDED.resource");

static SfPlan remove_mapping = SF_PLAN(
	"DELETE FROM _sfflow.resource_map"
	" WHERE owner = $1 AND pattern = $2");

static SfPlan read_mappings = SF_PLAN(
	"SELECT " SF_RESOURCE_MAP_COLUMNS(SF_SELECT) "1 FROM _sfflow.resource_map m WHERE m.owner = $1"
	" UNION ALL SELECT m.owner, m.pattern, m.resource, 1 FROM pg_catalog.pg_authid a"
	" JOIN _sfflow.resource_map m ON m.owner = a.oid WHERE a.rolsuper AND a.oid <> $1");

static void begin(SfTableCache *of_session);
static List *read_rows(const SfKeyedCache *keyed, const SfCacheKey *key);

/* The session's cache */
static SfKeyedCache cache = {
	.cache = {.table = "resource_map",.load = begin},
	.index = {"resource_map", "resource_map_pkey"},
	.read = read_rows
};

/* Add a mapping, or give the one of the same owner and pattern a new resource. */
void
sf_resource_map_put(Oid owner, const char *pattern, const char *resource)
{
	sf_db_execute(&put_mapping, SF_ROLE(owner), SF_TEXT(pattern), SF_TEXT(resource));
	sf_privilege_anchor(owner);
	sf_db_invalidate("resource_map");
}

/* Remove a mapping; false when there was none. */
bool
sf_resource_map_delete(Oid owner, const char *pattern)
{
	if (sf_db_execute(&remove_mapping, SF_ROLE(owner), SF_TEXT(pattern)) == 0)
		return false;
	sf_privilege_unanchor(owner);
	sf_db_invalidate("resource_map");
	return true;
}

/* Append a row to a list. */
static void
read_mapping(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **mappings = arg;
	SfResourceMapping *mapping = palloc0(sizeof(SfResourceMapping));

	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, mapping);
	*mappings = lappend(*mappings, mapping);
}

/* Read the mappings of a role, and those of superusers. */
static List *
read_rows(const SfKeyedCache *keyed, const SfCacheKey *key)
{
	List	   *mappings = NIL;

	sf_db_read(&read_mappings, read_mapping, &mappings, SF_ROLE((Oid) key->number));
	return mappings;
}

/* Syscache callback: a role may have become a superuser, or ceased to be one. */
static void
note_roles(Datum arg, int cacheid, uint32 hashvalue)
{
	cache.cache.is_current = false;
}

/* Begin the cache anew. */
static void
begin(SfTableCache *of_session)
{
	static bool is_registered = false;

	if (!is_registered)
		CacheRegisterSyscacheCallback(AUTHOID, note_roles, (Datum) 0);
	is_registered = true;
	sf_keyed_cache_begin(of_session);
}

/* Give the mappings of a role and of superusers. */
const List *
sf_resource_map_of(Oid owner)
{
	return sf_keyed_cache_get(&cache, &(SfCacheKey) {.by = SF_CACHE_BY_OWNER,.number = owner});
}
