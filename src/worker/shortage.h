/*
 * shortage.h
 *		Branches for which there was not enough memory, or something like it.
 */
#ifndef SF_WORKER_SHORTAGE_H
#define SF_WORKER_SHORTAGE_H

#include "base/hooks.h"

/*
 * A branch that ran by itself has met a shortage again.  How often that counts
 * against it; *pause_ms: put it off for so long.  may_be_its_own: the error is one
 * that a branch can cause.
 */
extern int	sf_shortage_note(SfBranchKey key, bool may_be_its_own, int *pause_ms);

/* A branch ran well by itself, or has failed. */
extern void sf_shortage_clear(SfBranchKey key);

/* A slice or a task went well: there is no shortage for all. */
extern void sf_shortage_over(void);

#endif							/* SF_WORKER_SHORTAGE_H */
