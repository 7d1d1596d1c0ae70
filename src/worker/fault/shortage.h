/*
 * shortage.h
 *		Branches for which there was not enough memory, or something like it.
 */
#ifndef SF_WORKER_SHORTAGE_H
#define SF_WORKER_SHORTAGE_H

#include "base/hooks.h"

extern int	sf_shortage_note(SfBranchKey key, bool may_be_its_own, int *pause_ms);
extern void sf_shortage_clear(SfBranchKey key);
extern void sf_shortage_over(void);

#endif							/* SF_WORKER_SHORTAGE_H */
