/*
 * xact_array.c
 *		Arrays of what a transaction collects until it ends.
 *
 * They are in TopMemoryContext and are reused by the next transaction, since the end of a
 * transaction is no time to allocate memory, and most transactions collect few items.  What a
 * large transaction needed is given back at its end.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/memory/xact_array.h"

/* Items for which an array has room at first, and those for which it is reused */
#define FEW		64
#define MANY	1024

/*
 * Return an array (NULL: none yet) of count items with room for one more; it may have moved.
 * *size is how many it has room for.
 */
void *
sf_xact_array_grow(void *items, int count, int *size, Size item)
{
	if (count < *size)
		return items;
	*size = Max(FEW, *size * 2);
	return items == NULL ? MemoryContextAlloc(TopMemoryContext, *size * item) :
		repalloc_huge(items, *size * item);
}

/* The transaction has ended: return its array for the next one, or NULL if it was large. */
void *
sf_xact_array_recycle(void *items, int *size)
{
	if (*size <= MANY)
		return items;
	pfree(items);
	*size = 0;
	return NULL;
}
