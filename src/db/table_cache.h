/*
 * table_cache.h
 *		A backend's cache of a small table, or of what derives from it.
 */
#ifndef SF_DB_TABLE_CACHE_H
#define SF_DB_TABLE_CACHE_H

/* A cache of a table; the first three members are set by the owner of the struct */
typedef struct SfTableCache
{
	const char *table;
	void		(*load) (struct SfTableCache *cache); /* read the table, in the context of the caller */
	bool		is_latest;		/* load reads what there is now, whatever the snapshot */
	bool		is_current;		/* false: the table may have changed */
	MemoryContext context;		/* for what is cached; NULL before the first load */
	Oid			relation;
	struct SfTableCache *next;
} SfTableCache;

extern void sf_table_cache_refresh(SfTableCache *cache);
extern void sf_table_cache_accept_changes(void);

#endif							/* SF_DB_TABLE_CACHE_H */
