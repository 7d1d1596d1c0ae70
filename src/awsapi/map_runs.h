/*
 * map_runs.h
 *		Runs of Distributed Maps, by their ARNs.
 */
#ifndef SF_AWSAPI_MAP_RUNS_H
#define SF_AWSAPI_MAP_RUNS_H

#include "api/objects.h"
#include "awsapi/call.h"

extern SfMapRun *sf_mapped_run_read(SfCall *call, SfPrivilege needed);
extern void sf_mapped_answer_arn(SfCall *call, const SfExecution *child);
extern void sf_mapped_answer_label(SfCall *call, const SfExecution *child);

#endif							/* SF_AWSAPI_MAP_RUNS_H */
