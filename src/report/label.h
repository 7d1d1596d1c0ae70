/*
 * label.h
 *		Names of jobs and branches as views show them.
 */
#ifndef SF_REPORT_LABEL_H
#define SF_REPORT_LABEL_H

#include "asl/program.h"

/*
 * Find the nearest Map state in whose iterations a scope lies; -1: none.  A
 * Distributed Map does not count, and hides those around it: its children are
 * executions, not iterations.
 */
extern int	sf_label_enclosing_map(const SfProgram *program, int scope);

/* Find the Distributed Map whose child executions run a scope; -1: none. */
extern int	sf_label_distributed_map(const SfProgram *program, int scope);

/*
 * Name a state within its iterations (map indexes, outermost first): "T",
 * "T[2]" in one Map, "InnerMap[1]/T[2]" in a Map within a Map.
 */
extern char *sf_label_job(const SfProgram *program, int state,
						  const int *iterations, int niterations);

/*
 * Name a branch: "" for the root, else the states around it with the index of
 * each branch or iteration: "Parallel[0]/Map[7]".
 */
extern char *sf_label_branch(const SfProgram *program, int scope,
							 const int *iterations, int niterations);

#endif							/* SF_REPORT_LABEL_H */
