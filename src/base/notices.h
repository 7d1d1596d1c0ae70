/*
 * notices.h
 *		Arrays of what a transaction has to tell when it ends.
 */
#ifndef SF_BASE_NOTICES_H
#define SF_BASE_NOTICES_H

extern void *sf_notices_room(void *notices, int count, int *size, Size item);
extern void *sf_notices_keep(void *notices, int *size);

#endif							/* SF_BASE_NOTICES_H */
