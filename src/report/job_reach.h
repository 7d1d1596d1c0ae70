/*
 * job_reach.h
 *		Which states the live branches of an execution can still enter.
 */
#ifndef SF_REPORT_JOB_REACH_H
#define SF_REPORT_JOB_REACH_H

#include "asl/program.h"
#include "store/status.h"

typedef struct SfJobReach SfJobReach;

/* Collect the branches of an execution, a List of SfBranch. */
extern SfJobReach *sf_job_reach_make(const SfStatusExecution *execution,
									 const SfProgram *program,
									 List *branches);

/* Tell whether a state can still be entered within iterations. */
extern bool sf_job_reach_test(SfJobReach *reach, int state,
							  const int *iterations, int niterations);

#endif							/* SF_REPORT_JOB_REACH_H */
