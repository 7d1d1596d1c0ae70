/*
 * status.h
 *		The head of an execution, for views: read with the snapshot of the
 *		query that calls, and only where its user may see the execution.  Its
 *		events, with the states that they were of as its version numbers them.
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
	int			map_state;		/* Distributed Map that it is a child of, in its version; -1: none */
} SfStatusExecution;

/* The names that an execution's states had before it was moved; see sf_status_names_read */
typedef struct SfStatusNames SfStatusNames;

/* Forget what events have told so far */
typedef void (*SfStatusForget) (void *arg);

extern bool sf_status_read(int64 execution_no, SfStatusExecution *out);
extern bool sf_status_execution(int64 execution_no, SfStatusExecution *out);
extern SfStatusNames *sf_status_names_read(const SfStatusExecution *execution,
										   const SfProgram *program);
extern const SfEvent *sf_status_event_now(SfStatusNames *names, const SfEvent *event,
										  SfEvent *moved);
extern void sf_status_scan(const SfStatusExecution *execution, const SfProgram *program,
						   SfStatusForget forget, SfEventVisitor visitor, void *arg);

#endif							/* SF_STORE_STATUS_H */
