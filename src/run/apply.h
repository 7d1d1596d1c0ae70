/*
 * apply.h
 *		Carry the effects of transitions out: the only way from the engine to
 *		the tables.
 */
#ifndef SF_RUN_APPLY_H
#define SF_RUN_APPLY_H

#include "machine/step.h"

/* Make a run: an execution as a slice works on it. */
extern SfRun *sf_run_make(SfExecution *execution);

/*
 * Lock an execution and learn its last event id.  ereports
 * ERRCODE_SF_EXECUTION_CHANGED when it has ended meanwhile.
 */
extern void sf_run_lock(SfRun *run);

/* Note that a branch has changed (or is new): it is written with the run. */
extern void sf_run_add_branch(SfRun *run, SfBranch *branch);

/* Take over the children that a step spawned, and give them numbers. */
extern void sf_run_spawn(SfRun *run, SfStep *step);

/* Delete the descendants of a branch, and what is pending of them. */
extern void sf_run_drop_children(SfRun *run, const SfBranch *parent);

/* Has a branch failed since the run was last written? */
extern bool sf_run_has_failure(const SfRun *run);

/*
 * Add the machine's deadline to branches, as a row of its own, if there is one:
 * counted from where the execution last began.
 */
extern List *sf_execution_add_deadline(List *branches, const SfExecution *execution,
									   const SfProgram *program);

/* Write everything that is pending in these runs (4.2 of the design). */
extern void sf_runs_write(List *runs);

/*
 * End an execution whose row is locked by the caller, outside of any run
 * (stop, timeout): row, event, branches, wake-ups.
 */
extern void sf_execution_end(SfExecution *execution, SfStatus status,
							 const char *error, const char *cause,
							 SfEventType event_type, TimestampTz now);

/* The same for a child of a Distributed Map whose parent knows of it. */
extern void sf_execution_end_child(SfExecution *execution, SfStatus status,
								   TimestampTz now);

#endif							/* SF_RUN_APPLY_H */
