/*
 * label.h
 *		How a job and a strand of control are named to people.
 */
#ifndef SF_REPORT_LABEL_H
#define SF_REPORT_LABEL_H

#include "asl/program.h"

/*
 * The Map state whose iterations a scope is or lies in: number of the nearest
 * one, -1 when there is none.  Within the processor of a Distributed Map, that
 * one does not count: its children are executions, not iterations.
 */
extern int	sf_label_enclosing_map(const SfProgram *program, int scope);

/* The Distributed Map whose child executions run a scope; -1: none. */
extern int	sf_label_distributed_map(const SfProgram *program, int scope);

/* Number of Map states that enclose a scope. */
extern int	sf_label_map_depth(const SfProgram *program, int scope);

/*
 * Name of a state within its iterations (map indexes, outermost first): "T",
 * "T[2]" in one Map, "InnerMap[1]/T[2]" in a Map within a Map.
 */
extern char *sf_label_job(const SfProgram *program, int state,
						  const int *iterations, int niterations);

/*
 * Name of a strand of control: "" for the root, else the way down to it with
 * the index of each branch or iteration: "Parallel[0]/Map[7]".
 */
extern char *sf_label_branch(const SfProgram *program, int scope,
							 const int *iterations, int niterations);

#endif							/* SF_REPORT_LABEL_H */
