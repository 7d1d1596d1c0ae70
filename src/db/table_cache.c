/*
 * table_cache.c
 *		A backend's cache of a small table, or of what derives from it.
 *
 * Such a table has few rows, changes rarely, and is asked all the time.  Each backend
 * reads it once.  A session that writes to it invalidates its relcache entry
 * (sf_db_invalidate).  PostgreSQL tells the other backends at commit, also that of
 * COMMIT PREPARED, and this one at commit or rollback; a backend takes that in when it
 * begins its next transaction, or opens a table.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "db/table.h"
#include "db/table_cache.h"

/* The caches that were loaded */
static SfTableCache *caches = NULL;

/* Relcache callback: tables may have changed. */
static void
invalidate(Datum arg, Oid relid)
{
	for (SfTableCache *cache = caches; cache != NULL; cache = cache->next)
		if (!OidIsValid(relid) || relid == cache->relation)
			cache->is_current = false;
}

/* Have changes of a table invalidate its cache. */
static void
register_cache(SfTableCache *cache)
{
	if (caches == NULL)
		CacheRegisterRelcacheCallback(invalidate, (Datum) 0);
	cache->context = AllocSetContextCreate(CacheMemoryContext, "sfflow table cache",
										   ALLOCSET_START_SMALL_SIZES);
	MemoryContextSetIdentifier(cache->context, cache->table);
	cache->next = caches;
	caches = cache;
}

/*
 * Take in what other sessions have changed.  What they committed before this call is seen.  The caller has read the
 * clock, if it compares times with it: that comes before the look at the messages.
 */
void
sf_table_cache_accept_changes(void)
{
	pg_memory_barrier();
	AcceptInvalidationMessages();
}

/*
 * Load a cache anew if it is out of date.  A change that comes while it is loaded leaves
 * it out of date.
 */
void
sf_table_cache_refresh(SfTableCache *cache)
{
	if (cache->is_current)
		return;
	if (cache->context == NULL)
		register_cache(cache);
	MemoryContextReset(cache->context);
	cache->relation = sf_db_relation(cache->table);
	/* before reading: a change meanwhile counts */
	cache->is_current = true;
	PG_TRY();
	{
		cache->load(cache);
	}
	PG_CATCH();
	{
		cache->is_current = false;
		PG_RE_THROW();
	}
	PG_END_TRY();
	/* a snapshot of long ago is good for its own transaction only */
	if (!cache->is_latest && IsolationUsesXactSnapshot())
		cache->is_current = false;
}
