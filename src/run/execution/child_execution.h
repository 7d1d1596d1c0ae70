/*
 * child_execution.h
 *		Executions that a Task of another execution starts.
 */
#ifndef SF_RUN_CHILD_EXECUTION_H
#define SF_RUN_CHILD_EXECUTION_H

#include "run/apply/apply.h"

extern bool sf_child_start(const SfDraft *draft, const SfBranch *branch, int generation,
						   const SfResource *resource, Jsonb *payload,
						   Jsonb **output, SfError *error);

/* What a .sync task gets from a child that has succeeded, or its cause. */
extern Jsonb *sf_child_output(const SfExecution *child, const SfResource *resource);
extern char *sf_child_failure(const SfExecution *child);

extern void sf_child_stop(const SfExecution *parent, int64 branch_no);

#endif							/* SF_RUN_CHILD_EXECUTION_H */
