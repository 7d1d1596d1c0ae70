/*
 * state_status.h
 *		The status of each state of an execution, for its graph.
 */
#ifndef SF_REPORT_STATE_STATUS_H
#define SF_REPORT_STATE_STATUS_H

#include "asl/program.h"
#include "store/status.h"

/*
 * Derive an SfGraphStatus for each state number.  A state that was visited
 * several times shows its last visit.  Among the iterations of a Map, failure
 * outranks running, and running outranks success.  SF_GRAPH_UNKNOWN: the
 * history has no events of the state, and no branch stands there.
 */
extern int *sf_state_status_list(const SfStatusExecution *execution,
								 const SfProgram *program);

#endif							/* SF_REPORT_STATE_STATUS_H */
