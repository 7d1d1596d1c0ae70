/*
 * join.h
 *		What Parallel, Map and JobNet share: children, and the join.
 */
#ifndef SF_TRANSITION_JOIN_H
#define SF_TRANSITION_JOIN_H

#include "transition/step.h"

/*
 * Iterations of a Map without MaxConcurrency that exist at once.  The rest
 * follow as these end, so that neither memory nor a transaction grows with
 * the number of items.
 */
#define SF_MAP_WINDOW	1000

/* How many children of a Map may exist at once. */
static inline int
sf_map_window(const SfBranch *map)
{
	return map->max_concurrency != SF_UNLIMITED ? map->max_concurrency : SF_MAP_WINDOW;
}

extern SfBranch *sf_join_spawn(SfStep *step, int scope, int index,
							   Jsonb *payload, int payload_event);
extern void sf_join_fail(SfStep *step, SfError *error);
extern bool sf_join_wants_more(const SfBranch *parent);
extern bool sf_join_is_ready(const SfBranch *parent, const SfState *state);
extern void sf_join_add_ends(SfBranch *parent, const SfParentDelta *delta);
extern void sf_join_wake(SfBranch *parent, const SfState *state, TimestampTz now);
extern void sf_join_count(SfBranch *parent, const SfParentDelta *delta,
						  const SfState *state, TimestampTz now);

#endif							/* SF_TRANSITION_JOIN_H */
