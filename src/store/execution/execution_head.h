/*
 * execution_head.h
 *		The head of an execution, for views: read with the snapshot of the
 *		query that calls, and only where its user may see the execution.  Its
 *		events, with the states that they were of as its version numbers them.
 */
#ifndef SF_STORE_EXECUTION_HEAD_H
#define SF_STORE_EXECUTION_HEAD_H

#include "store/branch/branch.h"
#include "store/execution/status.h"
#include "store/history/history_event.h"

typedef struct SfExecutionHead
{
	int64		execution_no;
	int			machine_no;
	int			version;
	const char *machine;		/* name */
	Oid			owner;
	SfStatus	status;
	const char *error;			/* or NULL */
	const char *cause;
	int			map_state;		/* Distributed Map that it is an item of, in its version; SF_NO_STATE: none */
} SfExecutionHead;

/* The names that an execution's states had before it was migrated; see sf_head_names_read */
typedef struct SfHeadNames SfHeadNames;

/* Forget what events have told so far */
typedef void (*SfHeadForget) (void *arg);

extern bool sf_head_read(int64 execution_no, SfExecutionHead *out);
extern bool sf_head_read_visible(int64 execution_no, SfExecutionHead *out);
extern SfHeadNames *sf_head_names_read(const SfExecutionHead *execution,
									   const SfProgram *program);
extern const SfHistoryEvent *sf_head_event_now(SfHeadNames *names, const SfHistoryEvent *event,
											   SfHistoryEvent *translated);
extern void sf_head_scan(const SfExecutionHead *execution, const SfProgram *program,
						 SfHeadForget forget, SfHistoryEventVisitor visitor, void *arg);

#endif							/* SF_STORE_EXECUTION_HEAD_H */
