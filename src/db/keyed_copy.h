/*
 * keyed_copy.h
 *		What a backend keeps of the rows of a table that it has asked for, by keys.
 */
#ifndef SF_DB_KEYED_COPY_H
#define SF_DB_KEYED_COPY_H

#include "db/direct.h"
#include "db/table_copy.h"
#include "nodes/pg_list.h"

/* What rows are asked for by: a kind, and a number or a name, as the table has them */
typedef struct SfKeptKey
{
	int			kind;
	int64		number;
	const char *name;			/* NULL: by number */
} SfKeptKey;

struct HTAB;

/*
 * The rows of a table that were asked for; the first three members, and table and load of
 * copy, are set by the owner of the struct.  load is or calls sf_keyed_copy_begin.
 */
typedef struct SfKeyedCopy
{
	SfTableCopy copy;
	SfIndex		index;			/* any of the table: whether there are rows at all */
	List	   *(*read) (const SfKeptKey *key); /* as they are now, in the current context; NULL: never asked */
	bool		is_any;			/* there are rows */
	struct HTAB *kept;
} SfKeyedCopy;

extern void sf_keyed_copy_begin(SfTableCopy *copy);
extern const List *sf_keyed_copy_get(SfKeyedCopy *k, const SfKeptKey *key);

/* Tell whether the table has rows now. */
static inline bool
sf_keyed_copy_is_any(SfKeyedCopy *k)
{
	if (!k->copy.is_current)
		sf_table_copy_refresh(&k->copy);
	return k->is_any;
}

/*
 * Tell whether the table may have rows, as far as the caller has taken in what other sessions
 * have changed.
 */
static inline bool
sf_keyed_copy_may_be(const SfKeyedCopy *k)
{
	return !k->copy.is_current || k->is_any;
}

#endif							/* SF_DB_KEYED_COPY_H */
