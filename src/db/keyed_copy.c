/*
 * keyed_copy.c
 *		What a backend keeps of the rows of a table that it has asked for, by keys.
 *
 * The table may have many rows, of which this backend needs those of the machines and
 * resources that it works with.  It reads the rows of a key when they are asked for, by an
 * index, and keeps them, also that there are none, until the table changes.  So what other
 * roles have in the table costs nothing, and a change of it a look by the keys in use.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/hsearch.h"

#include "db/keyed_copy.h"

/* Keys whose rows are kept; when there are more, all are read anew */
#define MAX_KEPT	1000

typedef struct Kept
{
	SfKeptKey	key;			/* hash key: must be first */
	List	   *rows;
} Kept;

/* Hash a key. */
static uint32
hash_key(const void *key, Size size)
{
	const SfKeptKey *k = key;
	uint32		hash = hash_combine(murmurhash32(k->kind), murmurhash32((uint32) k->number));

	return k->name == NULL ? hash :
		hash_combine(hash, hash_bytes((const unsigned char *) k->name, (int) strlen(k->name)));
}

/* Compare two keys; 0: they are equal. */
static int
compare_keys(const void *a, const void *b, Size size)
{
	const SfKeptKey *x = a;
	const SfKeptKey *y = b;

	if (x->kind != y->kind || x->number != y->number || (x->name == NULL) != (y->name == NULL))
		return 1;
	return x->name == NULL ? 0 : strcmp(x->name, y->name);
}

/* Note that there is a row. */
static void
note_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(bool *) arg = true;
}

/* Begin anew, without rows: the memory of those that were kept is gone. */
void
sf_keyed_copy_begin(SfTableCopy *copy)
{
	SfKeyedCopy *k = (SfKeyedCopy *) copy;
	HASHCTL		ctl = {
		.keysize = sizeof(SfKeptKey),.entrysize = sizeof(Kept),.hash = hash_key,
		.match = compare_keys,.hcxt = k->copy.context
	};

	k->kept = hash_create("sfflow kept rows", 64, &ctl,
						  HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	k->is_any = false;
	sf_rows_read_latest(&k->index, 1, note_row, &k->is_any);
}

/*
 * The rows with a key that there are now: valid until the next call for this table.  A change
 * while they are read counts as one after this call.
 */
const List *
sf_keyed_copy_get(SfKeyedCopy *k, const SfKeptKey *key)
{
	SfKeptKey	lasting = *key;
	Kept	   *kept;
	MemoryContext old;
	List	   *rows;

	if (k->copy.is_current && hash_get_num_entries(k->kept) >= MAX_KEPT)
		k->copy.is_current = false;
	if (!sf_keyed_copy_is_any(k))
		return NIL;
	kept = hash_search(k->kept, key, HASH_FIND, NULL);
	if (kept != NULL)
		return kept->rows;
	old = MemoryContextSwitchTo(k->copy.context);
	rows = k->read(key);
	if (key->name != NULL)
		lasting.name = pstrdup(key->name);
	MemoryContextSwitchTo(old);
	kept = hash_search(k->kept, &lasting, HASH_ENTER, NULL);
	kept->rows = rows;
	return rows;
}
