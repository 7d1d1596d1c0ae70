/*
 * abort.h
 *		Abort the children of a Parallel or Map state that gives up.
 */
#ifndef SF_RUN_ABORT_H
#define SF_RUN_ABORT_H

#include "run/apply.h"

/*
 * End every child of a parent whose row is free; ask the workers that hold the
 * others to stop.  Returns how many children are still to end; *child_held: a
 * session holds one that rests.  The caller holds the lock of the execution.
 */
extern int	sf_abort_children(SfDraft *draft, SfBranch *parent, bool *child_held);

/* When a join that waits for the last of its aborted children is due again. */
extern TimestampTz sf_abort_look_again(const SfBranch *join, bool child_held);

#endif							/* SF_RUN_ABORT_H */
