/*
 * keyed_cache.h
 *		A backend's cache of the rows of a table that it has asked for, by keys.
 */
#ifndef SF_DB_KEYED_CACHE_H
#define SF_DB_KEYED_CACHE_H

#include "nodes/pg_list.h"

#include "db/direct.h"
#include "db/table_cache.h"

/* What rows are asked for by */
typedef enum SfCacheBy
{
	SF_CACHE_BY_NUMBER,			/* their own */
	SF_CACHE_BY_OWNER,			/* the number of what they are of: a machine, or a role */
	SF_CACHE_BY_NAME			/* a name, where it has several kinds with its kind */
} SfCacheBy;

#define SF_CACHE_BY_COUNT	(SF_CACHE_BY_NAME + 1)

typedef struct SfCacheKey
{
	SfCacheBy	by;
	int64		number;			/* BY_NUMBER, BY_OWNER */
	const char *kind;			/* BY_NAME: the word of it, before the name in the index; NULL: the table has no kinds */
	const char *name;			/* BY_NAME, else NULL */
} SfCacheKey;

struct HTAB;
struct SfKeyedCache;

/* An index of the table that finds the rows of a key */
typedef struct SfCacheIndex
{
	const char *name;			/* NULL: no caller asks by such keys */
	Oid			type;			/* of its first column, which has the number: INT4OID, INT8OID; of a name: TEXTOID */
} SfCacheIndex;

/* How rows are found by an index for each kind of keys; sf_keyed_cache_find does it */
typedef struct SfCacheRows
{
	SfCacheIndex by[SF_CACHE_BY_COUNT];
	SfRowReader append;			/* a row to a List *, in the current context */
	int			(*compare) (const ListCell *a, const ListCell *b);	/* their order; NULL: any */
} SfCacheRows;

/*
 * The rows of a table that were asked for; all but the last two members, and table and load of
 * cache, are set by the owner of the struct.  load is or calls sf_keyed_cache_begin.
 */
typedef struct SfKeyedCache
{
	SfTableCache cache;
	SfIndex		index;			/* any of the table: whether there are rows at all */
	List	   *(*read) (const struct SfKeyedCache *keyed, const SfCacheKey *key); /* as they are now, in the current
																				 * context; NULL: never asked */
	SfCacheRows rows;			/* for read, if that is sf_keyed_cache_find */
	bool		is_any;			/* there are rows */
	struct HTAB *entries;
} SfKeyedCache;

extern List *sf_keyed_cache_find(const SfKeyedCache *keyed, const SfCacheKey *key);
extern void sf_keyed_cache_begin(SfTableCache *cache);
extern const List *sf_keyed_cache_get(SfKeyedCache *keyed, const SfCacheKey *key);

/* Tell whether the table has rows now. */
static inline bool
sf_keyed_cache_is_any(SfKeyedCache *keyed)
{
	if (!keyed->cache.is_current)
		sf_table_cache_refresh(&keyed->cache);
	return keyed->is_any;
}

/*
 * Tell whether the table may have rows, as far as the caller has taken in what other sessions
 * have changed.
 */
static inline bool
sf_keyed_cache_may_be(const SfKeyedCache *keyed)
{
	return !keyed->cache.is_current || keyed->is_any;
}

#endif							/* SF_DB_KEYED_CACHE_H */
