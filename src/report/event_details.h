/*
 * event_details.h
 *		The details of an event as the Step Functions API shows them.
 */
#ifndef SF_REPORT_EVENT_DETAILS_H
#define SF_REPORT_EVENT_DETAILS_H

#include "asl/program.h"
#include "store/status.h"

/*
 * Build the details of an event (read with its payload) by the shape of its
 * type, see event_types.h; role_arn goes into those of ExecutionStarted.  Payloads
 * are jsonb, not quoted text; assigned variables are JSON text.
 */
extern Jsonb *sf_event_details_make(const SfProgram *program,
									const SfEvent *event,
									const char *role_arn);

#endif							/* SF_REPORT_EVENT_DETAILS_H */
