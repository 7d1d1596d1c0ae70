/*
 * label.h
 *		Names of jobs and branches as views show them.
 */
#ifndef SF_REPORT_LABEL_H
#define SF_REPORT_LABEL_H

#include "asl/program.h"

extern int	sf_label_enclosing_map(const SfProgram *program, int scope);
extern int	sf_label_distributed_map(const SfProgram *program, int scope);
extern char *sf_label_job(const SfProgram *program, int state,
						  const int *iterations, int niterations);
extern int *sf_label_iterations(const SfProgram *program, int state, const char *label,
								int *niterations);
extern char *sf_label_branch(const SfProgram *program, int scope,
							 const int *iterations, int niterations);

#endif							/* SF_REPORT_LABEL_H */
