/*
 * place.c
 *		Hash tables keyed by a place.
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "report/place.h"

/* Hash a place. */
static uint32
place_hash(const void *key, Size keysize)
{
	const SfPlaceKey *place = key;

	return hash_combine(hash_uint32((uint32) place->number),
						hash_bytes((const unsigned char *) place->iterations,
								   sizeof(int) * place->niterations));
}

/* Compare places: 0 when they are the same. */
static int
place_compare(const void *a, const void *b, Size keysize)
{
	const SfPlaceKey *x = a;
	const SfPlaceKey *y = b;

	if (x->number != y->number || x->niterations != y->niterations)
		return 1;
	return x->niterations == 0 ? 0 :
		memcmp(x->iterations, y->iterations, sizeof(int) * x->niterations);
}

/* Make a hash table whose entries begin with an SfPlaceKey. */
HTAB *
sf_place_hash(const char *name, Size entry_size, MemoryContext context)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(SfPlaceKey);
	control.entrysize = entry_size;
	control.hash = place_hash;
	control.match = place_compare;
	control.hcxt = context;
	return hash_create(name, 256, &control,
					   HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
}

/*
 * Find the entry of a place, or add one.  The key of a new entry has a copy of
 * the iterations in the given context.
 */
void *
sf_place_enter(HTAB *table, int number, const int *iterations, int niterations,
			   MemoryContext context, bool *found)
{
	SfPlaceKey	key = {number, niterations, (int *) iterations};
	SfPlaceKey *entry = hash_search(table, &key, HASH_ENTER, found);

	if (!*found)
	{
		Size		size = sizeof(int) * niterations;

		entry->iterations = MemoryContextAlloc(context, Max(size, 1));
		if (size > 0)
			memcpy(entry->iterations, iterations, size);
	}
	return entry;
}

/*
 * Find the place of the Parallel, Map or JobNet state around a state; false: there is none in
 * this execution.  The key found shares the iterations of the other one.
 */
bool
sf_place_around(const SfProgram *program, const SfPlaceKey *key, SfPlaceKey *around)
{
	int			owner = program->scopes[program->states[key->number].scope].owner_state;

	if (owner < 0)
		return false;
	*around = *key;
	around->number = owner;
	/* the last index is that of the iteration of the Map; a Distributed Map gives its children none */
	if (program->states[owner].type == SF_STATE_MAP)
		around->niterations--;
	return around->niterations >= 0;
}
