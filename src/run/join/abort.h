/*
 * abort.h
 *		Abort the children of a Parallel or Map state that gives up.
 */
#ifndef SF_RUN_ABORT_H
#define SF_RUN_ABORT_H

#include "run/apply/apply.h"

extern int	sf_abort_children(SfDraft *draft, SfBranch *parent, bool *child_locked);
extern TimestampTz sf_abort_recheck_at(const SfBranch *join, bool child_locked);

#endif							/* SF_RUN_ABORT_H */
