/*
 * long_task.h
 *		A long SQL task, in a transaction of its own.
 */
#ifndef SF_RUN_LONG_TASK_H
#define SF_RUN_LONG_TASK_H

#include "run/slice/slice.h"

extern void sf_long_task_run(SfBranchKey key, int generation, bool last_try,
							 const SfError *error, SfSliceResult *result);

#endif							/* SF_RUN_LONG_TASK_H */
