/*
 * keyed_cache.c
 *		A backend's cache of the rows of a table that it has asked for, by keys.
 *
 * The table may have many rows, of which this backend needs those of the machines and
 * resources that it works with.  It reads the rows of a key when they are asked for, by an
 * index, and caches them, also that there are none, until the table changes.  So what other
 * roles have in the table costs nothing, and a change of it a look by the keys in use.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/hsearch.h"

#include "db/keyed_cache.h"

/* Keys whose rows are cached; when there are more, all are read anew */
#define MAX_KEYS	1000

/* A key, and its rows */
typedef struct Entry
{
	SfCacheKey	key;			/* hash key: must be first */
	List	   *rows;
} Entry;

/* Hash a key. */
static uint32
hash_key(const void *key, Size size)
{
	const SfCacheKey *k = key;
	uint32		hash = hash_combine(murmurhash32(k->by), murmurhash32((uint32) k->number));

	if (k->by != SF_CACHE_BY_NAME)
		return hash;
	if (k->kind != NULL)
		hash = hash_combine(hash, hash_bytes((const unsigned char *) k->kind, (int) strlen(k->kind)));
	return hash_combine(hash, hash_bytes((const unsigned char *) k->name, (int) strlen(k->name)));
}

/* Compare two keys; 0: they are equal. */
static int
compare_keys(const void *a, const void *b, Size size)
{
	const SfCacheKey *x = a;
	const SfCacheKey *y = b;

	if (x->by != y->by)
		return 1;
	if (x->by != SF_CACHE_BY_NAME)
		return x->number != y->number;
	/* all names of a table have a kind, or none */
	return strcmp(x->name, y->name) != 0 || (x->kind != NULL && strcmp(x->kind, y->kind) != 0);
}

/* Note that there is a row. */
static void
note_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(bool *) arg = true;
}

/* Begin anew, without rows: the memory of those that were cached is gone. */
void
sf_keyed_cache_begin(SfTableCache *cache)
{
	SfKeyedCache *keyed = (SfKeyedCache *) cache;
	HASHCTL		ctl = {
		.keysize = sizeof(SfCacheKey),.entrysize = sizeof(Entry),.hash = hash_key,
		.match = compare_keys,.hcxt = keyed->cache.context
	};

	keyed->entries = hash_create("sfflow cached rows", 64, &ctl,
								 HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	keyed->is_any = false;
	sf_rows_read_latest(&keyed->index, 1, note_row, &keyed->is_any);
}

/* Find the rows of a key by the index for such keys, as they are now. */
List *
sf_keyed_cache_find(const SfKeyedCache *keyed, const SfCacheKey *key)
{
	const SfCacheRows *rows = &keyed->rows;
	const SfIndex index = {keyed->index.table, rows->by[key->by].name};
	List	   *found = NIL;

	Assert(index.name != NULL);
	if (key->by != SF_CACHE_BY_NAME)
		(void) sf_rows_read_now(&index, PG_INT32_MAX, rows->append, &found,
								rows->by[key->by].type == INT4OID ? SF_INT4((int) key->number) : SF_INT8(key->number));
	else if (key->kind == NULL)
		(void) sf_rows_read_now(&index, PG_INT32_MAX, rows->append, &found, SF_TEXT(key->name));
	else
		(void) sf_rows_read_now(&index, PG_INT32_MAX, rows->append, &found, SF_TEXT(key->kind),
								SF_TEXT(key->name));
	if (rows->compare != NULL)
		list_sort(found, rows->compare);
	return found;
}

/*
 * The rows with a key that there are now: valid until the next call for this table.  A change
 * while they are read counts as one after this call.
 */
const List *
sf_keyed_cache_get(SfKeyedCache *keyed, const SfCacheKey *key)
{
	SfCacheKey	lasting = *key;
	Entry	   *entry;
	MemoryContext old;
	List	   *rows;

	if (keyed->cache.is_current && hash_get_num_entries(keyed->entries) >= MAX_KEYS)
		keyed->cache.is_current = false;
	if (!sf_keyed_cache_is_any(keyed))
		return NIL;
	entry = hash_search(keyed->entries, key, HASH_FIND, NULL);
	if (entry != NULL)
		return entry->rows;
	old = MemoryContextSwitchTo(keyed->cache.context);
	rows = keyed->read(keyed, key);
	if (key->by == SF_CACHE_BY_NAME)
	{
		lasting.name = pstrdup(key->name);
		lasting.kind = key->kind == NULL ? NULL : pstrdup(key->kind);
	}
	MemoryContextSwitchTo(old);
	entry = hash_search(keyed->entries, &lasting, HASH_ENTER, NULL);
	entry->rows = rows;
	return rows;
}
