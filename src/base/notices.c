/*
 * notices.c
 *		Arrays of what a transaction has to tell when it ends.
 *
 * They are in TopMemoryContext and are reused by the next transaction, since the end of a
 * transaction is no time to allocate memory, and most transactions have few notices.  What a
 * large transaction needed is given back at its end.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/notices.h"

/* Notices for which an array has room at first, and those for which it is kept */
#define FEW		64
#define KEPT	1024

/*
 * Return an array (NULL: none yet) of count items with room for one more; it may have moved.
 * *size is how many it has room for.
 */
void *
sf_notices_room(void *notices, int count, int *size, Size item)
{
	if (count < *size)
		return notices;
	*size = Max(FEW, *size * 2);
	return notices == NULL ? MemoryContextAlloc(TopMemoryContext, *size * item) :
		repalloc_huge(notices, *size * item);
}

/* The transaction has ended: return its array for the next one, or NULL if it was large. */
void *
sf_notices_keep(void *notices, int *size)
{
	if (*size <= KEPT)
		return notices;
	pfree(notices);
	*size = 0;
	return NULL;
}
