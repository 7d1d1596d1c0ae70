/*
 * state_status.h
 *		The status of each state of an execution, for its graph.
 */
#ifndef SF_REPORT_STATE_STATUS_H
#define SF_REPORT_STATE_STATUS_H

#include "graph/graph.h"
#include "store/status.h"

extern SfGraphFacts *sf_state_status_list(const SfStatusExecution *execution,
										  const SfProgram *program);

#endif							/* SF_REPORT_STATE_STATUS_H */
