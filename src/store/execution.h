/*
 * execution.h
 *		Rows of _sfflow.execution.
 */
#ifndef SF_STORE_EXECUTION_H
#define SF_STORE_EXECUTION_H

#include "store/branch.h"

typedef struct SfExecution
{
	int64		execution_no;
	int			machine_no;
	int			version;
	SfStatus	status;
	int			redrive_count;
	int			start_requests;
	int			last_event_id;
	int64		parent_execution_no;	/* 0: none */
	int64		parent_branch_no;
	int			parent_generation;	/* 0: the parent does not wait */
	int64		map_run_no;		/* child of a Distributed Map; 0: it is none */
	int			map_index;		/* its place among the children of the run */
	int			map_items;		/* items that it was given */
	TimestampTz requested_at;
	TimestampTz started_at;		/* DT_NOBEGIN: not yet */
	TimestampTz stopped_at;		/* DT_NOBEGIN: not yet */
	TimestampTz last_redriven_at;
	char	   *execution_id;
	Jsonb	   *input;			/* NULL where it was not asked for */
	Jsonb	   *output;
	char	   *error;
	char	   *cause;

	/* of its machine */
	char	   *machine_name;
	Oid			owner;

	/* for sf_execution_update: replaces input; NULL keeps it */
	Jsonb	   *new_input;
} SfExecution;

/* The name of an execution: what follows the colon of its id. */
extern const char *sf_execution_name(const SfExecution *execution);

/*
 * By number; NULL when it is not there.  With full, the documents and the
 * texts of the error are read too.
 */
extern SfExecution *sf_execution_read(int64 execution_no, SfLock lock, bool full);

/* By id (machine:name), full. */
extern SfExecution *sf_execution_find(const char *execution_id, SfLock lock);

/*
 * Insert; false when the id is taken.  Waits for another session that is
 * inserting the same id: the row is the only arbiter (3.1 of the design).
 */
extern bool sf_execution_insert(SfExecution *execution);

/*
 * Write a row that the caller has locked: status, counters, times, output,
 * error and cause as they are in *execution.
 */
extern void sf_execution_update(SfExecution *execution);

/* The same for a List of them. */
extern void sf_execution_update_all(List *executions);

/*
 * Raise 40001 when executions of a machine, whose starts are locked, were
 * written since a REPEATABLE READ snapshot.
 */
extern void sf_execution_check_all_seen(int machine_no);

/* Children of an execution that it waits for and that are RUNNING. */
extern List *sf_execution_waited_for(int64 execution_no, int64 branch_no);

/* Note a call of sf_start that found the execution. */
extern void sf_execution_note_request(const SfExecution *execution,
									  const char *outcome, bool input_differs);

#endif							/* SF_STORE_EXECUTION_H */
