/*
 * event_details.h
 *		The details of an event as the Step Functions API shows them.
 */
#ifndef SF_REPORT_EVENT_DETAILS_H
#define SF_REPORT_EVENT_DETAILS_H

#include "asl/program.h"
#include "store/status.h"

extern Jsonb *sf_event_details_make(const SfProgram *program,
									const SfEvent *event,
									const char *role_arn);

#endif							/* SF_REPORT_EVENT_DETAILS_H */
