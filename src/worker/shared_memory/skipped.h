/*
 * skipped.h
 *		Branches that are due and that other transactions have locked: workers come again.
 *
 * Part of the shared area: fixed size, no pointers.  The caller holds its lock.
 */
#ifndef SF_WORKER_SKIPPED_H
#define SF_WORKER_SKIPPED_H

#include "base/hooks.h"
#include "base/time/clock.h"

#define SF_SKIPPED_BRANCHES		256

/* One of them, or a queue with a branch that is locked */
typedef struct SfSkippedBranch
{
	SfWorkKey	key;
	Oid			owner;
	TimestampTz due;			/* since when it is due; of a queue DT_NOBEGIN: a scan of everything finds it */
	SfTick		at;				/* when a worker comes again */
} SfSkippedBranch;

typedef struct SfSkipped
{
	int			count;
	SfTick		next;			/* when the first of them is looked at; SF_TICK_NEVER: there is none */
	SfSkippedBranch branches[SF_SKIPPED_BRANCHES];
} SfSkipped;

extern void sf_skipped_clear(SfSkipped *skipped);
extern bool sf_skipped_add(SfSkipped *skipped, const SfSkippedBranch *branch);
extern bool sf_skipped_take(SfSkipped *skipped, SfTick now, SfSkippedBranch *branch);

#endif							/* SF_WORKER_SKIPPED_H */
