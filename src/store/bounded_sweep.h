/*
 * bounded_sweep.h
 *		Sweeps that one process makes at a time, and not for long.
 */
#ifndef SF_STORE_BOUNDED_SWEEP_H
#define SF_STORE_BOUNDED_SWEEP_H

#include "storage/lock.h"

#include "base/time/clock.h"

/* A process that meets another one that sweeps looks again after this */
#define SF_SWEEP_LOOK_AGAIN_MS		1000

/* A sweep of the rows of a table */
typedef struct SfBoundedSweep
{
	LOCKTAG		tag;
	SfTick		until;			/* the rest is for the next sweep then */
	bool		has_begun;		/* it was at a row */
} SfBoundedSweep;

extern bool sf_bounded_sweep_begin(SfBoundedSweep *sweep, const char *table);
extern bool sf_bounded_sweep_goes_on(SfBoundedSweep *sweep);
extern void sf_bounded_sweep_end(SfBoundedSweep *sweep);

#endif							/* SF_STORE_BOUNDED_SWEEP_H */
