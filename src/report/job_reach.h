/*
 * job_reach.h
 *		Which states the live branches of an execution can still enter.
 */
#ifndef SF_REPORT_JOB_REACH_H
#define SF_REPORT_JOB_REACH_H

#include "asl/program.h"
#include "store/status.h"

typedef struct SfJobReach SfJobReach;

extern SfJobReach *sf_job_reach_make(const SfStatusExecution *execution,
									 const SfProgram *program,
									 List *branches);
extern bool sf_job_reach_test(SfJobReach *reach, int state,
							  const int *iterations, int niterations);

#endif							/* SF_REPORT_JOB_REACH_H */
