/*
 * open_execution.h
 *		Executions that have begun and have not ended with success.
 */
#ifndef SF_STORE_OPEN_EXECUTION_H
#define SF_STORE_OPEN_EXECUTION_H

#include "store/execution/execution.h"

/*
 * Lists of running and of failed executions read these rows, and not the rows of
 * all executions.  An index on the status of an execution would serve the lists,
 * too, but each end would then write to every index of the table
 * (docs/decisions/lists.md).
 */

/* Columns of _sfflow.open_execution; see sql/parts/store/execution.sql. */
#define SF_OPEN_EXECUTION_COLUMNS(X) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(SfStatus, status, INT2, NOT_NULL) \
	X(TimestampTz, requested_at, TIMESTAMPTZ, NOT_NULL) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(char *, error, TEXT, NULLABLE)

/*
 * Bytes of an error that a row holds, as an entry of an index has room for 2,700;
 * of a longer one the first characters.
 */
#define SF_OPEN_ERROR_MAX	2000
#define SF_OPEN_ERROR_PART	500

extern char *sf_open_execution_error(const char *error);

extern void sf_open_execution_note(SfExecution *execution);

extern void sf_open_execution_write(List *executions);

extern void sf_open_execution_rebuild(void);

#endif							/* SF_STORE_OPEN_EXECUTION_H */
