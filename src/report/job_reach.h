/*
 * job_reach.h
 *		Whether the live branches of an execution can still come to a state.
 */
#ifndef SF_REPORT_JOB_REACH_H
#define SF_REPORT_JOB_REACH_H

#include "asl/program.h"
#include "store/status.h"
#include "utils/hsearch.h"

/* A state or a scope within certain iterations of the Maps around it */
typedef struct SfPlaceKey
{
	int			number;
	int			niterations;
	int		   *iterations;
} SfPlaceKey;

/* A hash table whose entries begin with an SfPlaceKey. */
extern HTAB *sf_place_hash(const char *name, Size entry_size,
						   MemoryContext context);

typedef struct SfJobReach SfJobReach;

/* Prepare for an execution; branches is a List of SfStatusBranch. */
extern SfJobReach *sf_job_reach_make(const SfStatusExecution *execution,
									 const SfProgram *program,
									 List *branches);

/* Tell whether control can still come to a state within iterations. */
extern bool sf_job_reach_test(SfJobReach *reach, int state,
							  const int *iterations, int niterations);

#endif							/* SF_REPORT_JOB_REACH_H */
