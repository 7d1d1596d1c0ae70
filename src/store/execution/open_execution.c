/*
 * open_execution.c
 *		Rows of _sfflow.open_execution.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "store/execution/execution.h"
#include "store/execution/open_execution.h"

SF_COLUMN_NUMBERS(SF_OPEN_EXECUTION_COLUMNS);
#define NCOLUMNS	(COL_end - 1)

typedef struct OpenExecution
{
	SF_OPEN_EXECUTION_COLUMNS(SF_FIELD)
} OpenExecution;

#define ROW OpenExecution
SF_ROW_TYPE(row_type, SF_OPEN_EXECUTION_COLUMNS, open_execution, 4);

/* Has an execution begun, and not ended with success? */
static bool
is_open(const SfExecution *execution)
{
	return execution->status == SF_STATUS_RUNNING ? execution->started_at != DT_NOBEGIN :
		execution->status != SF_STATUS_SUCCEEDED;
}

/* Note which row an execution has that was read just now. */
void
sf_open_execution_note(SfExecution *execution)
{
	execution->row.is_open = is_open(execution);
	execution->row.open_status = execution->status;
}

/* Delete the row of an execution, whose own row the caller has locked. */
static void
delete_row(SfTable *table, const SfExecution *execution)
{
	ItemPointerData tid;

	if (sf_row_fetch(&row_type.key, SF_LOCK_NONE, NULL, sf_row_read_address, &tid,
					 SF_INT4(execution->machine_no), SF_INT2(execution->row.open_status),
					 SF_TIME(execution->requested_at), SF_INT8(execution->execution_no)))
		sf_table_delete(table, &tid);
}

/* The part of an error that rows hold; NULL of NULL. */
char *
sf_open_execution_error(const char *error)
{
	int			len;

	if (error == NULL)
		return NULL;
	len = strlen(error);
	return pnstrdup(error, len <= SF_OPEN_ERROR_MAX ? len :
					pg_mbcharcliplen(error, len, SF_OPEN_ERROR_PART));
}

/* Insert the row of an execution. */
static void
insert_row(SfTable *table, const SfExecution *execution)
{
	OpenExecution row = {
		.machine_no = execution->machine_no,
		.status = execution->status,
		.requested_at = execution->requested_at,
		.execution_no = execution->execution_no
	};
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS];

	if (execution->status != SF_STATUS_RUNNING)
		row.error = sf_open_execution_error(execution->error);
	sf_row_form(&row_type, &row, values, nulls);
	sf_table_insert(table, values, nulls);
}

/* Write the rows of executions that are being written: most have none before and after. */
void
sf_open_execution_write(List *executions)
{
	SfTable    *table = NULL;

	foreach_ptr(SfExecution, e, executions)
	{
		bool		open = is_open(e);

		if (open == e->row.is_open && (!open || e->status == e->row.open_status))
			continue;
		if (table == NULL)
			table = sf_table_open("open_execution", NCOLUMNS);
		if (e->row.is_open)
			delete_row(table, e);
		if (open)
			insert_row(table, e);
		sf_open_execution_note(e);
	}
	if (table != NULL)
		sf_table_close(table);
}

/* Make the rows anew: in a copy of a database the executions may have come without them. */
void
sf_open_execution_rebuild(void)
{
	static SfPlan empty = SF_PLAN("DELETE FROM _sfflow.open_execution");
	static SfPlan fill = SF_PLAN(
		"INSERT INTO _sfflow.open_execution (machine_no, status, requested_at, execution_no, error)"
		" SELECT e.machine_no, e.status, e.requested_at, e.execution_no,"
		"  CASE WHEN pg_catalog.octet_length(e.error) <= $2 THEN e.error"
		"  ELSE pg_catalog.\"left\"(e.error, $3) END"
		" FROM _sfflow.execution e WHERE e.status = $1"
		" AND (e.started_at IS NOT NULL OR e.stopped_at IS NOT NULL)");

	sf_db_execute(&empty);
	for (SfStatus status = SF_STATUS_RUNNING; status <= SF_STATUS_ABORTED; status++)
		if (status != SF_STATUS_SUCCEEDED)
			sf_db_execute(&fill, SF_INT2(status), SF_INT4(SF_OPEN_ERROR_MAX), SF_INT4(SF_OPEN_ERROR_PART));
}
