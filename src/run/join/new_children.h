/*
 * new_children.h
 *		Children that a branch has begun in the slice that runs them: nothing of
 *		them is in the tables yet.
 */
#ifndef SF_RUN_NEW_CHILDREN_H
#define SF_RUN_NEW_CHILDREN_H

#include "run/apply/apply.h"

extern void sf_new_children_count_end(SfDraft *draft, SfBranch *join);
extern void sf_new_children_outputs(const SfDraft *draft, const SfBranch *join,
									SfJoined *joined);
extern int	sf_new_children_last_inner_event(const SfDraft *draft, const SfBranch *join);

#endif							/* SF_RUN_NEW_CHILDREN_H */
