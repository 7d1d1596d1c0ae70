/*
 * xact_array.h
 *		Arrays of what a transaction collects until it ends.
 */
#ifndef SF_BASE_XACT_ARRAY_H
#define SF_BASE_XACT_ARRAY_H

extern void *sf_xact_array_grow(void *items, int count, int *size, Size item);
extern void *sf_xact_array_recycle(void *items, int *size);

#endif							/* SF_BASE_XACT_ARRAY_H */
