/*
 * place.h
 *		Hash tables keyed by a place: a state or scope of the program, within
 *		certain iterations of the Maps around it.
 */
#ifndef SF_REPORT_PLACE_H
#define SF_REPORT_PLACE_H

#include "utils/hsearch.h"

#include "asl/program.h"

typedef struct SfPlaceKey
{
	int			number;			/* of the state or scope */
	int			niterations;
	int		   *iterations;		/* map indexes, outermost first */
} SfPlaceKey;

extern HTAB *sf_place_hash(const char *name, Size entry_size,
						   MemoryContext context);
extern void *sf_place_enter(HTAB *table, int number, const int *iterations,
							int niterations, MemoryContext context, bool *found);

extern bool sf_place_around(const SfProgram *program, const SfPlaceKey *key,
							SfPlaceKey *around);

#endif							/* SF_REPORT_PLACE_H */
