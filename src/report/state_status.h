/*
 * state_status.h
 *		How far each state of an execution is, for its graph.
 */
#ifndef SF_REPORT_STATE_STATUS_H
#define SF_REPORT_STATE_STATUS_H

#include "asl/program.h"
#include "store/status.h"

/*
 * An SfGraphStatus for each state number.  A state that was visited several
 * times shows its last visit; of the iterations of a Map, one that failed
 * counts more than one that runs, and that more than one that succeeded.
 * SF_GRAPH_UNKNOWN: the history keeps nothing of it, and no branch stands there.
 */
extern int *sf_state_status_list(const SfStatusExecution *execution,
								 const SfProgram *program);

#endif							/* SF_REPORT_STATE_STATUS_H */
