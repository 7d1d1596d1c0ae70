/*
 * execution.c
 *		Rows of _sfflow.execution.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "store/execution/execution.h"
#include "store/execution/open_execution.h"
#include "store/purge/dropped.h"
#include "store/state_machine/machine.h"

SF_COLUMN_NUMBERS(SF_EXECUTION_COLUMNS);
#define NCOLUMNS	(COL_end - 1)

#define ROW SfExecution
SF_ROW_TYPE(row_type, SF_EXECUTION_COLUMNS, execution, 1);

static const SfIndex by_id = {"execution", "execution_execution_id_key"};

/* Append an execution to a list, with the first columns of its row. */
static void
append_columns(HeapTuple tuple, TupleDesc desc, int ncolumns, List **list)
{
	SfExecution *execution = sf_execution_make();
	const SfMachineIdentity *machine;

	sf_row_read(&row_type, tuple, desc, ncolumns, execution);
	if (ncolumns < NCOLUMNS)
	{
		execution->labels = sf_row_jsonb(tuple, desc, COL_labels);
		execution->trace = sf_row_text(tuple, desc, COL_trace);
	}
	execution->row.tid = tuple->t_self;
	sf_open_execution_note(execution);
	machine = sf_machine_identity(execution->machine_no);
	if (machine == NULL)
		return;					/* the machine was dropped just now, with its executions */
	execution->machine_name = pstrdup(machine->name);
	execution->owner = machine->owner;
	*list = lappend(*list, execution);
}

/* Read a row but for its output, input, and the texts of its error, the last columns. */
static void
append_head(HeapTuple tuple, TupleDesc desc, void *arg)
{
	append_columns(tuple, desc, COL_output - 1, arg);
}

/* Read a row with all that it holds. */
static void
append_full(HeapTuple tuple, TupleDesc desc, void *arg)
{
	append_columns(tuple, desc, NCOLUMNS, arg);
}

/*
 * Read an execution by number; NULL: it is not there.  With full, read its documents and
 * the texts of its error, too.
 */
SfExecution *
sf_execution_read(int64 execution_no, SfLock lock, bool full)
{
	List	   *list = NIL;

	sf_row_fetch(&row_type.key, lock, NULL, full ? append_full : append_head, &list,
				 SF_INT8(execution_no));
	return sf_list_first(list);
}

/* Is a row that of an execution that runs? */
static bool
row_is_running(HeapTuple tuple, TupleDesc desc, void *arg)
{
	return sf_row_number(tuple, desc, COL_status, 0) == SF_STATUS_RUNNING;
}

/* Tell whether an execution runs now, whatever the transaction's snapshot. */
bool
sf_execution_is_running(int64 execution_no)
{
	return sf_row_is_there(&row_type.key, row_is_running, SF_INT8(execution_no));
}

/* Tell whether there is an execution now, likewise. */
bool
sf_execution_is_there(int64 execution_no)
{
	return sf_row_is_there(&row_type.key, NULL, SF_INT8(execution_no));
}

/* Keep an execution from being deleted, and from taking steps, until the end of the transaction; false: it is gone. */
bool
sf_execution_keep(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.execution_no FROM _sfflow.execution e WHERE e.execution_no = $1 FOR KEY SHARE");

	return sf_db_number(&plan, SF_NO_EXECUTION, SF_INT8(execution_no)) != SF_NO_EXECUTION;
}

/* Read an execution by id (machine:name), in full. */
SfExecution *
sf_execution_find(const char *execution_id, SfLock lock)
{
	List	   *list = NIL;

	sf_row_fetch(&by_id, lock, NULL, append_full, &list, SF_TEXT(execution_id));
	return sf_list_first(list);
}

/* Read an execution by id without its documents and texts; NULL: it is not there. */
SfExecution *
sf_execution_find_head(const char *execution_id)
{
	List	   *list = NIL;

	sf_row_fetch(&by_id, SF_LOCK_NONE, NULL, append_head, &list, SF_TEXT(execution_id));
	return sf_list_first(list);
}

/* Number a new execution, note its request, and lay it out as its row. */
static void
form_new(SfExecution *execution, Datum *values, bool *nulls)
{
	execution->execution_no = sf_sequence_next("execution_no");
	execution->requested_at = GetCurrentTimestamp();
	execution->requested_by = sf_execution_has_parent(execution) ? InvalidOid : GetUserId();
	sf_row_form(&row_type, execution, values, nulls);
}

/* Insert rows of executions whose ids cannot be taken: together, and without a look. */
static void
insert_unseen(int n, Datum *values, bool *nulls, bool *inserted)
{
	SfTable    *table = sf_table_open("execution", NCOLUMNS);

	sf_table_insert_rows(table, n, values, nulls);
	sf_table_close(table);
	CommandCounterIncrement();
	memset(inserted, true, sizeof(bool) * n);
}

/*
 * Insert executions of one machine, SF_TABLE_MAX_ROWS at most; inserted tells of
 * each whether it is new, or its id is taken.  Waits for another session that is
 * inserting the same id: the row decides which start wins (3.1 of the design).  An id
 * is free that an execution of a machine has which was dropped.
 */
void
sf_execution_insert_all(SfExecution *const *executions, int n, bool *inserted)
{
	int			machine_no = executions[0]->machine_no;
	Datum	   *values = palloc(sizeof(Datum) * NCOLUMNS * n);
	bool	   *nulls = palloc(sizeof(bool) * NCOLUMNS * n);
	bool		unseen = true;

	sf_machine_lock_starts(machine_no, false);
	memset(inserted, false, sizeof(bool) * n);
	/* the session that had the lock may have dropped the machine */
	if (!sf_machine_exists(machine_no))
		return;
	for (int i = 0; i < n; i++)
	{
		form_new(executions[i], values + i * NCOLUMNS, nulls + i * NCOLUMNS);
		unseen = unseen && executions[i]->start.has_new_uuid;
	}
	if (unseen)
		insert_unseen(n, values, nulls, inserted);
	else
		sf_table_insert_new("execution", NCOLUMNS, COL_execution_id, n, values, nulls, inserted);
	for (int i = 0; i < n; i++)
		if (!inserted[i] && sf_dropped_free_id(executions[i]->execution_id))
			sf_table_insert_new("execution", NCOLUMNS, COL_execution_id, 1, values + i * NCOLUMNS,
								nulls + i * NCOLUMNS, inserted + i);
	pfree(values);
	pfree(nulls);
}

/* Insert an execution; return false when its id is taken. */
bool
sf_execution_insert(SfExecution *execution)
{
	bool		inserted;

	sf_execution_insert_all(&execution, 1, &inserted);
	return inserted;
}

/* Columns that any transition of an execution may change; its input, labels and trace only a start that it has taken */
#define CHANGED \
	COL_status, COL_redrive_count, COL_last_event_id, COL_version, COL_qualifier, COL_started_at, \
	COL_stopped_at, COL_last_redriven_at, COL_idle_us, COL_output, COL_error, COL_cause

/* Write what has changed of a row. */
static void
update(SfTable *table, const SfExecution *execution)
{
	static const int changed[] = {CHANGED};
	static const int changed_by_start[] = {CHANGED, COL_input, COL_labels, COL_trace};
	ItemPointerData tid = execution->row.tid;

	if (execution->row.is_started_anew)
		sf_row_update(&row_type, table, &tid, execution, changed_by_start, lengthof(changed_by_start));
	else
		sf_row_update(&row_type, table, &tid, execution, changed, lengthof(changed));
}

/*
 * Write rows that the caller has locked, a List of SfExecution: status, counters,
 * times, output, error and cause as they are in each, and of one that is started
 * anew input, labels and trace.
 */
void
sf_execution_update_all(List *executions)
{
	SfTable    *table;
	ListCell   *lc;

	if (executions == NIL)
		return;
	table = sf_table_open("execution", NCOLUMNS);
	foreach(lc, executions)
		update(table, lfirst(lc));
	sf_table_close(table);
	sf_open_execution_write(executions);
	CommandCounterIncrement();
}

/* Write the labels of an execution, whose row the caller has locked. */
void
sf_execution_write_labels(const SfExecution *execution)
{
	static const int changed[] = {COL_labels};
	ItemPointerData tid = execution->row.tid;

	sf_row_replace(&row_type, &tid, execution, changed, lengthof(changed));
}

/*
 * Raise 40001 when executions of a machine, whose starts are locked, were
 * written since a REPEATABLE READ snapshot.
 */
void
sf_execution_check_all_seen(int machine_no)
{
	sf_table_check_unchanged("execution", COL_machine_no, SF_INT4(machine_no), 0, NULL);
}

/* Find the RUNNING nested executions that an execution, or a branch of it (SF_WHOLE_EXECUTION: any), waits for. */
List *
sf_execution_waited_for(int64 execution_no, int64 branch_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_EXECUTION_COLUMNS(SF_SELECT) "1 FROM _sfflow.execution e"
		" WHERE e.parent_execution_no = $1"
		" AND ($2 = $4 OR e.parent_branch_no = $2)"
		" AND e.parent_generation IS NOT NULL AND e.status = $3");

	return sf_db_list(&plan, append_head,
					  SF_ARGS(SF_INT8(execution_no), SF_INT8(branch_no),
							  SF_INT2(SF_STATUS_RUNNING), SF_INT8(SF_WHOLE_EXECUTION)));
}

/* Record a call of sf_start that found the execution. */
void
sf_execution_note_request(const SfExecution *execution, SfStartOutcome outcome,
						  bool input_differs)
{
	static SfPlan plan = SF_PLAN(
		"WITH n AS (UPDATE _sfflow.execution e"
		" SET start_requests = e.start_requests + 1"
		" WHERE e.execution_no = $1 RETURNING e.start_requests)"
		" INSERT INTO _sfflow.start_request (execution_no, request_no,"
		" requested_at, requested_by, outcome, input_differs)"
		" SELECT $1, n.start_requests, pg_catalog.clock_timestamp(), $2, $3, $4 FROM n");

	sf_db_execute(&plan, SF_INT8(execution->execution_no), SF_ROLE(GetUserId()),
				  SF_TEXT(sf_execution_start_outcome_name(outcome)), SF_BOOL(input_differs));
}

/* Executions of a run, as far as they are asked for */
typedef struct Results
{
	List	   *list;
	bool		with_input;
} Results;

/* Append an ended execution to a list. */
static void
append_result(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Results    *results = arg;
	SfExecution *execution = sf_execution_make();

	sf_row_read(&row_type, tuple, desc, COL_output - 1, execution);
	if (results->with_input)
		execution->input = sf_row_jsonb(tuple, desc, COL_input);
	execution->output = sf_row_jsonb(tuple, desc, COL_output);
	execution->error = sf_row_text(tuple, desc, COL_error);
	execution->cause = sf_row_text(tuple, desc, COL_cause);
	results->list = lappend(results->list, execution);
}

/*
 * Read ended executions of a Distributed Map's run from index first on, at most n, by
 * index, without what their machine has; their inputs, which may be large, if asked for.
 */
List *
sf_execution_results(int64 execution_no, int64 map_run_no, int first, int n,
					 bool with_input)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_EXECUTION_COLUMNS(SF_SELECT) "1 FROM _sfflow.execution e"
		" WHERE e.parent_execution_no = $1 AND e.map_run_no = $2"
		" AND e.map_index >= $3 AND e.status <> $5"
		" ORDER BY e.parent_execution_no, e.map_run_no, e.map_index LIMIT $4");
	Results		results = {NIL, with_input};

	sf_db_read(&plan, append_result, &results, SF_INT8(execution_no),
			   SF_INT8(map_run_no), SF_INT4(first), SF_INT8(n),
			   SF_INT2(SF_STATUS_RUNNING));
	return results.list;
}
