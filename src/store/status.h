/*
 * status.h
 *		Read what the status views derive from, with the snapshot of the query
 *		that asks, and without the payloads.
 */
#ifndef SF_STORE_STATUS_H
#define SF_STORE_STATUS_H

#include "nodes/pg_list.h"
#include "store/branch.h"

/* Head of an execution */
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

/* A branch, as far as its position goes */
typedef struct SfStatusBranch
{
	int64		branch_no;
	int64		parent_no;		/* -1: none */
	int			scope;
	int			state;
	SfPhase		phase;
	bool		failing;		/* JOIN: a child has failed */
	bool		uncatchable;	/* with an error that cannot be caught */
	int			pending;		/* JOIN: children that have not ended */
	bool		has_map_run;	/* … which are executions */
	TimestampTz due_at;			/* DT_NOEND: none */
	TimestampTz entered_at;		/* DT_NOBEGIN: not entered */
	TimestampTz started_at;		/* DT_NOBEGIN: nothing runs */
	int			niterations;
	int		   *iterations;
	const char *error;			/* or NULL */
	const char *cause;
} SfStatusBranch;

/* An event; what its pointers point to lives as long as the call */
typedef struct SfStatusEvent
{
	int			id;
	int			previous_id;
	int			type;			/* SfEventType */
	int			state;			/* -1: none */
	int			payload_event;	/* event that holds the payload: itself, or an
								 * earlier one */
	TimestampTz at;
	int			niterations;
	int		   *iterations;
	Jsonb	   *payload;		/* NULL: none, or not asked for */
	Jsonb	   *extra;			/* NULL: none */
} SfStatusEvent;

typedef void (*SfStatusEventVisitor) (const SfStatusEvent *event, void *arg);

/*
 * Read an execution that the current user may see; false when there is none,
 * or when it may not.
 */
extern bool sf_status_execution(int64 execution_no, SfStatusExecution *out);

/* Read all branches of an execution, but the deadline; List of SfStatusBranch. */
extern List *sf_status_branches(int64 execution_no);

/*
 * Visit the events of an execution in order of their ids.  The visitor runs
 * in a memory context that is reset between calls.
 */
extern void sf_status_events(int64 execution_no, bool with_payload,
							 SfStatusEventVisitor visitor, void *arg);

#endif							/* SF_STORE_STATUS_H */
