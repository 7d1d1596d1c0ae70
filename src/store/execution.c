/*
 * execution.c
 *		Rows of _sfflow.execution.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "store/execution.h"
#include "store/machine.h"
#include "store/row.h"

#define EQ " OPERATOR(pg_catalog.=) "

/* Columns in the order of the table; the queries below are generated from it. */
#define EXECUTION_COLUMNS(X) \
	X(EXECUTION_NO, "execution_no") \
	X(MACHINE_NO, "machine_no") \
	X(VERSION, "version") \
	X(STATUS, "status") \
	X(REDRIVE_COUNT, "redrive_count") \
	X(START_REQUESTS, "start_requests") \
	X(LAST_EVENT_ID, "last_event_id") \
	X(PARENT_EXECUTION_NO, "parent_execution_no") \
	X(PARENT_BRANCH_NO, "parent_branch_no") \
	X(PARENT_GENERATION, "parent_generation") \
	X(MAP_RUN_NO, "map_run_no") \
	X(MAP_INDEX, "map_index") \
	X(MAP_ITEMS, "map_items") \
	X(REQUESTED_AT, "requested_at") \
	X(STARTED_AT, "started_at") \
	X(STOPPED_AT, "stopped_at") \
	X(LAST_REDRIVEN_AT, "last_redriven_at") \
	X(EXECUTION_ID, "execution_id") \
	X(INPUT, "input") \
	X(OUTPUT, "output") \
	X(ERROR, "error") \
	X(CAUSE, "cause")

#define COLUMN_ENUM(sym, name) COL_##sym,
enum
{
	COL_NONE = 0,
	EXECUTION_COLUMNS(COLUMN_ENUM)
	COL_END
};
#define EXECUTION_NCOLUMNS (COL_END - 1)

static const SfKey execution_by_no = {"execution", "execution_pkey", 1, {INT8OID}};
static const SfKey execution_by_id = {"execution", "execution_execution_id_key", 1, {TEXTOID}};

/* The name of an execution. */
const char *
sf_execution_name(const SfExecution *execution)
{
	return strchr(execution->execution_id, ':') + 1;
}

/* Read one row, but for the documents and texts. */
static void
read_execution(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfExecution *e = palloc0(sizeof(SfExecution));
	const SfMachineIdentity *machine;

	e->execution_no = sf_row_int64(tuple, desc, COL_EXECUTION_NO);
	e->machine_no = sf_row_int(tuple, desc, COL_MACHINE_NO);
	e->version = sf_row_int(tuple, desc, COL_VERSION);
	e->status = sf_row_int(tuple, desc, COL_STATUS);
	e->redrive_count = sf_row_int(tuple, desc, COL_REDRIVE_COUNT);
	e->start_requests = sf_row_int(tuple, desc, COL_START_REQUESTS);
	e->last_event_id = sf_row_int(tuple, desc, COL_LAST_EVENT_ID);
	e->parent_execution_no = sf_row_int64(tuple, desc, COL_PARENT_EXECUTION_NO);
	e->parent_branch_no = sf_row_int64(tuple, desc, COL_PARENT_BRANCH_NO);
	e->parent_generation = sf_row_int(tuple, desc, COL_PARENT_GENERATION);
	e->map_run_no = sf_row_int64(tuple, desc, COL_MAP_RUN_NO);
	e->map_index = sf_row_int(tuple, desc, COL_MAP_INDEX);
	e->map_items = sf_row_int(tuple, desc, COL_MAP_ITEMS);
	e->requested_at = sf_row_time(tuple, desc, COL_REQUESTED_AT, DT_NOBEGIN);
	e->started_at = sf_row_time(tuple, desc, COL_STARTED_AT, DT_NOBEGIN);
	e->stopped_at = sf_row_time(tuple, desc, COL_STOPPED_AT, DT_NOBEGIN);
	e->last_redriven_at = sf_row_time(tuple, desc, COL_LAST_REDRIVEN_AT, DT_NOBEGIN);
	e->execution_id = sf_row_text(tuple, desc, COL_EXECUTION_ID);
	machine = sf_machine_identity(e->machine_no);
	if (machine == NULL)
		return;					/* dropped in this moment, and the execution with it */
	e->machine_name = pstrdup(machine->name);
	e->owner = machine->owner;
	*(SfExecution **) arg = e;
}

/* Read one row with all that it holds. */
static void
read_full(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfExecution *e = NULL;

	read_execution(tuple, desc, &e);
	if (e == NULL)
		return;
	e->input = sf_row_jsonb(tuple, desc, COL_INPUT);
	e->output = sf_row_jsonb(tuple, desc, COL_OUTPUT);
	e->error = sf_row_text(tuple, desc, COL_ERROR);
	e->cause = sf_row_text(tuple, desc, COL_CAUSE);
	*(SfExecution **) arg = e;
}

/* Read an execution by number. */
SfExecution *
sf_execution_read(int64 execution_no, SfLock lock, bool full)
{
	Datum		value = Int64GetDatum(execution_no);
	SfExecution *execution = NULL;

	sf_row_fetch(&execution_by_no, &value, lock, NULL,
				 full ? read_full : read_execution, &execution);
	return execution;
}

/* Read an execution by id. */
SfExecution *
sf_execution_find(const char *execution_id, SfLock lock)
{
	Datum		value = CStringGetTextDatum(execution_id);
	SfExecution *execution = NULL;

	sf_row_fetch(&execution_by_id, &value, lock, NULL, read_full, &execution);
	return execution;
}

/* Insert an execution, unless its id is taken. */
bool
sf_execution_insert(SfExecution *e)
{
	Datum		values[EXECUTION_NCOLUMNS];
	bool		nulls[EXECUTION_NCOLUMNS];
	bool		is_child = e->map_run_no != 0;

	sf_machine_lock_starts(e->machine_no, false);
	/* one that was being dropped is gone now: for the caller, as if it never was */
	if (!sf_machine_exists(e->machine_no))
		return false;
	e->execution_no = sf_sequence_next("execution_no");
	SF_SET(EXECUTION_NO, Int64GetDatum(e->execution_no));
	SF_SET(MACHINE_NO, Int32GetDatum(e->machine_no));
	SF_SET(VERSION, Int32GetDatum(e->version));
	SF_SET(STATUS, Int16GetDatum(SF_STATUS_RUNNING));
	SF_SET(REDRIVE_COUNT, Int32GetDatum(0));
	SF_SET(START_REQUESTS, Int32GetDatum(1));
	SF_SET(LAST_EVENT_ID, Int32GetDatum(0));
	SF_SET_NULLABLE(PARENT_EXECUTION_NO, e->parent_execution_no == 0,
					Int64GetDatum(e->parent_execution_no));
	SF_SET_NULLABLE(PARENT_BRANCH_NO, e->parent_execution_no == 0,
					Int64GetDatum(e->parent_branch_no));
	SF_SET_NULLABLE(PARENT_GENERATION, e->parent_generation == 0,
					Int32GetDatum(e->parent_generation));
	SF_SET_NULLABLE(MAP_RUN_NO, !is_child, Int64GetDatum(e->map_run_no));
	SF_SET_NULLABLE(MAP_INDEX, !is_child, Int32GetDatum(e->map_index));
	SF_SET_NULLABLE(MAP_ITEMS, !is_child, Int32GetDatum(e->map_items));
	SF_SET(REQUESTED_AT, TimestampTzGetDatum(GetCurrentTimestamp()));
	SF_SET_NULL(STARTED_AT);
	SF_SET_NULL(STOPPED_AT);
	SF_SET_NULL(LAST_REDRIVEN_AT);
	SF_SET(EXECUTION_ID, CStringGetTextDatum(e->execution_id));
	SF_SET(INPUT, JsonbPGetDatum(e->input));
	SF_SET_NULL(OUTPUT);
	SF_SET_NULL(ERROR);
	SF_SET_NULL(CAUSE);
	return sf_table_insert_new("execution", EXECUTION_NCOLUMNS,
							   COL_EXECUTION_ID, values, nulls);
}

/* Read the address of a row. */
static void
read_address(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(ItemPointer) arg = tuple->t_self;
}

/* Replace what can change; documents that were not given stay. */
static void
update(SfTable *table, SfExecution *e)
{
	Datum		values[EXECUTION_NCOLUMNS] = {0};
	bool		nulls[EXECUTION_NCOLUMNS] = {0};
	bool		replace[EXECUTION_NCOLUMNS] = {0};
	Datum		key = Int64GetDatum(e->execution_no);
	ItemPointerData tid;

	SF_REPLACE(STATUS, Int16GetDatum(e->status));
	SF_REPLACE(REDRIVE_COUNT, Int32GetDatum(e->redrive_count));
	SF_REPLACE(LAST_EVENT_ID, Int32GetDatum(e->last_event_id));
	SF_REPLACE(VERSION, Int32GetDatum(e->version));
	SF_REPLACE_NULLABLE(STARTED_AT, e->started_at == DT_NOBEGIN,
						TimestampTzGetDatum(e->started_at));
	SF_REPLACE_NULLABLE(STOPPED_AT, e->stopped_at == DT_NOBEGIN,
						TimestampTzGetDatum(e->stopped_at));
	SF_REPLACE_NULLABLE(LAST_REDRIVEN_AT, e->last_redriven_at == DT_NOBEGIN,
						TimestampTzGetDatum(e->last_redriven_at));
	SF_REPLACE_NULLABLE(OUTPUT, e->output == NULL, JsonbPGetDatum(e->output));
	SF_REPLACE_NULLABLE(ERROR, e->error == NULL, CStringGetTextDatum(e->error));
	SF_REPLACE_NULLABLE(CAUSE, e->cause == NULL, CStringGetTextDatum(e->cause));
	if (e->new_input != NULL)
		SF_REPLACE(INPUT, JsonbPGetDatum(e->new_input));

	if (!sf_row_fetch(&execution_by_no, &key, SF_LOCK_NONE, NULL, read_address, &tid))
		return;
	sf_table_update_columns(table, &tid, values, nulls, replace);
}

/* Write executions back. */
void
sf_execution_update_all(List *executions)
{
	SfTable    *table;
	ListCell   *lc;

	if (executions == NIL)
		return;
	table = sf_table_open("execution", EXECUTION_NCOLUMNS);
	foreach(lc, executions)
		update(table, lfirst(lc));
	sf_table_close(table);
	CommandCounterIncrement();
}

/* Write an execution back. */
void
sf_execution_update(SfExecution *execution)
{
	sf_execution_update_all(list_make1(execution));
}

/* Read an execution into a list. */
static void
read_execution_list(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfExecution *execution = NULL;

	read_execution(tuple, desc, &execution);
	if (execution != NULL)
		*(List **) arg = lappend(*(List **) arg, execution);
}

/* Raise 40001 when the snapshot does not know all executions of a machine. */
void
sf_execution_check_all_seen(int machine_no)
{
	sf_table_check_unchanged("execution", COL_MACHINE_NO, machine_no);
}

/* Children that an execution (branch_no -1: any branch of it) waits for. */
List *
sf_execution_waited_for(int64 execution_no, int64 branch_no)
{
#define COLUMN_SELECT(sym, name) "e." name ", "
	static SfPlan plan = SF_PLAN(
		"SELECT " EXECUTION_COLUMNS(COLUMN_SELECT) "1 FROM _sfflow.execution e"
		" WHERE e.parent_execution_no" EQ "$1"
		" AND ($2" EQ "(-1) OR e.parent_branch_no" EQ "$2)"
		" AND e.parent_generation IS NOT NULL AND e.status" EQ "0",
		2, INT8OID, INT8OID);
	Datum		args[2] = {Int64GetDatum(execution_no), Int64GetDatum(branch_no)};
	List	   *children = NIL;

	sf_store_query(&plan, args, NULL, 0, read_execution_list, &children);
	return children;
}

/* Note a call of sf_start that found an execution. */
void
sf_execution_note_request(const SfExecution *e, const char *outcome,
						  bool input_differs)
{
	static SfPlan plan = SF_PLAN(
		"WITH n AS (UPDATE _sfflow.execution e"
		" SET start_requests = e.start_requests OPERATOR(pg_catalog.+) 1"
		" WHERE e.execution_no" EQ "$1 RETURNING e.start_requests)"
		" INSERT INTO _sfflow.start_request (execution_no, request_no,"
		" requested_at, requested_by, outcome, input_differs)"
		" SELECT $1, n.start_requests, pg_catalog.clock_timestamp(),"
		" $2::pg_catalog.regrole, $3, $4 FROM n",
		4, INT8OID, OIDOID, TEXTOID, BOOLOID);
	Datum		args[4] = {
		Int64GetDatum(e->execution_no), ObjectIdGetDatum(GetUserId()),
		CStringGetTextDatum(outcome), BoolGetDatum(input_differs)
	};

	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}
