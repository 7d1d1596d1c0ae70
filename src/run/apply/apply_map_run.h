/*
 * apply_map_run.h
 *		Runs of a Distributed Map, and the ends of their children.
 */
#ifndef SF_RUN_APPLY_MAP_RUN_H
#define SF_RUN_APPLY_MAP_RUN_H

#include "run/apply/apply.h"
#include "transition/state/map_state.h"

extern SfMapRun *sf_map_children_run(const SfBranch *branch);

/* A child execution has ended, in this slice or from outside. */
typedef struct SfChildEnd
{
	SfBranchKey parent;
	int64		map_run_no;
	const SfProgram *program;	/* of the child */
	int			version;
	SfStatus	status;
	int			items;
} SfChildEnd;

extern SfChildEnd *sf_map_children_make_end(const SfExecution *execution,
											const SfProgram *program);
extern void sf_map_children_count_ends(List *ends);

/* --- apply_write.c --- */

extern int	sf_map_children_abort(SfBranchKey parent, int64 map_run_no);

#endif							/* SF_RUN_APPLY_MAP_RUN_H */
