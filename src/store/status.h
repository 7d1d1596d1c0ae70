/*
 * status.h
 *		The head of an execution, for views: read with the snapshot of the
 *		query that calls, and only where its user may see the execution.
 */
#ifndef SF_STORE_STATUS_H
#define SF_STORE_STATUS_H

#include "store/branch.h"
#include "store/event.h"

typedef struct SfStatusExecution
{
	int64		execution_no;
	int			machine_no;
	int			version;
	const char *machine;		/* name */
	Oid			owner;
	SfStatus	status;
	const char *error;			/* or NULL */
	const char *cause;
	int			map_state;		/* Distributed Map that it is a child of; -1: none */
} SfStatusExecution;

extern bool sf_status_execution(int64 execution_no, SfStatusExecution *out);
extern const SfEvent *sf_status_event_now(const SfStatusExecution *execution,
										  const SfProgram *program, const SfEvent *event,
										  SfEvent *moved);

#endif							/* SF_STORE_STATUS_H */
