/*
 * map_children.h
 *		Runs of a Distributed Map: their tasks, and the ends of their children.
 */
#ifndef SF_RUN_MAP_CHILDREN_H
#define SF_RUN_MAP_CHILDREN_H

#include "machine/map_state.h"
#include "run/apply.h"
#include "run/driver.h"

/* --- item_reader.c, result_writer.c: the tasks of a Distributed Map --- */

extern void sf_map_task_run(const SfDraft *draft, const SfBranch *branch,
							const SfTaskCall *call, SfTaskOutcome *out);
extern void sf_item_reader_run(const SfMapRun *map_run, const SfState *state,
							   const SfTaskCall *call, SfTaskOutcome *out);

/* --- apply_map_run.c: effects and children --- */

extern SfMapRun *sf_map_children_run(const SfBranch *branch);
extern Jsonb *sf_map_children_outputs(const SfDraft *draft, const SfBranch *branch);

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

#endif							/* SF_RUN_MAP_CHILDREN_H */
