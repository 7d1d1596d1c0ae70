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
#include "store/table.h"

#define EQ " OPERATOR(pg_catalog.=) "

/* Columns of the queries; the documents are read on demand. */
enum
{
	COL_EXECUTION_NO = 1, COL_MACHINE_NO, COL_VERSION, COL_STATUS,
	COL_REDRIVE_COUNT, COL_START_REQUESTS, COL_LAST_EVENT_ID,
	COL_PARENT_EXECUTION_NO, COL_PARENT_BRANCH_NO, COL_PARENT_GENERATION,
	COL_MAP_RUN_NO,
	COL_MAP_INDEX, COL_MAP_ITEMS, COL_REQUESTED_AT, COL_STARTED_AT,
	COL_STOPPED_AT, COL_LAST_REDRIVEN_AT, COL_EXECUTION_ID,
	COL_INPUT, COL_OUTPUT, COL_ERROR, COL_CAUSE,
	/* what the queries add */
	COL_MACHINE_NAME, COL_OWNER
};

#define SELECT_EXECUTION(documents) \
	"SELECT e.execution_no, e.machine_no, e.version, e.status," \
	" e.redrive_count, e.start_requests, e.last_event_id," \
	" e.parent_execution_no, e.parent_branch_no," \
	" coalesce(e.parent_generation, 0), e.map_run_no, e.map_index," \
	" e.map_items, e.requested_at," \
	" e.started_at, e.stopped_at, e.last_redriven_at, e.execution_id," \
	documents \
	" m.name, m.owner::pg_catalog.oid::pg_catalog.int8" \
	" FROM _sfflow.execution e JOIN _sfflow.state_machine m" \
	" ON m.machine_no" EQ "e.machine_no "
#define WITH_DOCUMENTS " e.input, e.output, e.error, e.cause,"
#define WITHOUT_DOCUMENTS \
	" NULL::pg_catalog.jsonb, NULL::pg_catalog.jsonb," \
	" NULL::pg_catalog.text, NULL::pg_catalog.text,"

/* The name of an execution. */
const char *
sf_execution_name(const SfExecution *execution)
{
	return strchr(execution->execution_id, ':') + 1;
}

/* Read one row. */
static void
read_execution(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfExecution *e = palloc0(sizeof(SfExecution));

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
	e->input = sf_row_jsonb(tuple, desc, COL_INPUT);
	e->output = sf_row_jsonb(tuple, desc, COL_OUTPUT);
	e->error = sf_row_text(tuple, desc, COL_ERROR);
	e->cause = sf_row_text(tuple, desc, COL_CAUSE);
	e->machine_name = sf_row_text(tuple, desc, COL_MACHINE_NAME);
	e->owner = (Oid) sf_row_int64(tuple, desc, COL_OWNER);
	*(SfExecution **) arg = e;
}

/* Read an execution by number. */
SfExecution *
sf_execution_read(int64 execution_no, SfLock lock, bool full)
{
#define BY_NO "WHERE e.execution_no" EQ "$1"
	static SfPlan plans[2][3] = {
		{
			SF_PLAN(SELECT_EXECUTION(WITHOUT_DOCUMENTS) BY_NO, 1, INT8OID),
			SF_PLAN(SELECT_EXECUTION(WITHOUT_DOCUMENTS) BY_NO
					" FOR UPDATE OF e", 1, INT8OID),
			SF_PLAN(SELECT_EXECUTION(WITHOUT_DOCUMENTS) BY_NO
					" FOR UPDATE OF e SKIP LOCKED", 1, INT8OID),
		},
		{
			SF_PLAN(SELECT_EXECUTION(WITH_DOCUMENTS) BY_NO, 1, INT8OID),
			SF_PLAN(SELECT_EXECUTION(WITH_DOCUMENTS) BY_NO
					" FOR UPDATE OF e", 1, INT8OID),
			SF_PLAN(SELECT_EXECUTION(WITH_DOCUMENTS) BY_NO
					" FOR UPDATE OF e SKIP LOCKED", 1, INT8OID),
		},
	};
	Datum		args[1] = {Int64GetDatum(execution_no)};
	SfExecution *execution = NULL;

	sf_store_query(&plans[full][lock], args, NULL, 1, read_execution, &execution);
	return execution;
}

/* Read an execution by id. */
SfExecution *
sf_execution_find(const char *execution_id, SfLock lock)
{
#define BY_ID "WHERE e.execution_id" EQ "$1"
	static SfPlan plans[3] = {
		SF_PLAN(SELECT_EXECUTION(WITH_DOCUMENTS) BY_ID, 1, TEXTOID),
		SF_PLAN(SELECT_EXECUTION(WITH_DOCUMENTS) BY_ID
				" FOR UPDATE OF e", 1, TEXTOID),
		SF_PLAN(SELECT_EXECUTION(WITH_DOCUMENTS) BY_ID
				" FOR UPDATE OF e SKIP LOCKED", 1, TEXTOID),
	};
	Datum		args[1] = {CStringGetTextDatum(execution_id)};
	SfExecution *execution = NULL;

	sf_store_query(&plans[lock], args, NULL, 1, read_execution, &execution);
	return execution;
}

/* Read the number of a new execution. */
static void
read_number(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(int64 *) arg = sf_row_int64(tuple, desc, 1);
}

/* Insert an execution, unless its id is taken. */
bool
sf_execution_insert(SfExecution *e)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.execution (execution_no, machine_no, version,"
		" status, requested_at, execution_id, input, parent_execution_no,"
		" parent_branch_no, parent_generation, map_run_no, map_index, map_items)"
		" SELECT pg_catalog.nextval('_sfflow.execution_no'), $1, $2, 0,"
		" pg_catalog.clock_timestamp(), $3, $4, $5, $6, $7, $8, $9, $10"
		/* a machine that was being dropped is gone now */
		" FROM _sfflow.state_machine m WHERE m.machine_no" EQ "$1"
		" ON CONFLICT (execution_id) DO NOTHING RETURNING execution_no",
		10, INT4OID, INT4OID, TEXTOID, JSONBOID, INT8OID, INT8OID, INT4OID,
		INT8OID, INT4OID, INT4OID);
	Datum		args[10] = {
		Int32GetDatum(e->machine_no), Int32GetDatum(e->version),
		CStringGetTextDatum(e->execution_id), JsonbPGetDatum(e->input),
		Int64GetDatum(e->parent_execution_no),
		Int64GetDatum(e->parent_branch_no), Int32GetDatum(e->parent_generation),
		Int64GetDatum(e->map_run_no), Int32GetDatum(e->map_index), Int32GetDatum(e->map_items)
	};
	char		nulls[11] = "          ";

	if (e->parent_execution_no == 0)
		nulls[4] = nulls[5] = 'n';
	if (e->parent_generation == 0)
		nulls[6] = 'n';
	if (e->map_run_no == 0)
		nulls[7] = nulls[8] = nulls[9] = 'n';

	sf_machine_lock_starts(e->machine_no, false);
	e->execution_no = 0;
	sf_store_query(&plan, args, nulls, 0, read_number, &e->execution_no);
	return e->execution_no != 0;
}

/* Write back what can change; documents that were not given stay. */
void
sf_execution_update(SfExecution *e)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.execution e SET status = $2::pg_catalog.int2,"
		" redrive_count = $3, last_event_id = $4, started_at = $5,"
		" stopped_at = $6, last_redriven_at = $7, output = $8, error = $9,"
		" cause = $10, version = $11,"
		" input = CASE WHEN $12 IS NULL THEN e.input ELSE $12 END"
		" WHERE e.execution_no" EQ "$1",
		12, INT8OID, INT4OID, INT4OID, INT4OID, TIMESTAMPTZOID,
		TIMESTAMPTZOID, TIMESTAMPTZOID, JSONBOID, TEXTOID, TEXTOID, INT4OID,
		JSONBOID);
	Datum		args[12] = {
		Int64GetDatum(e->execution_no), Int32GetDatum(e->status),
		Int32GetDatum(e->redrive_count), Int32GetDatum(e->last_event_id),
		TimestampTzGetDatum(e->started_at), TimestampTzGetDatum(e->stopped_at),
		TimestampTzGetDatum(e->last_redriven_at),
		e->output == NULL ? (Datum) 0 : JsonbPGetDatum(e->output),
		e->error == NULL ? (Datum) 0 : CStringGetTextDatum(e->error),
		e->cause == NULL ? (Datum) 0 : CStringGetTextDatum(e->cause),
		Int32GetDatum(e->version),
		e->new_input == NULL ? (Datum) 0 : JsonbPGetDatum(e->new_input)
	};
	char		nulls[13] = "            ";

	if (e->started_at == DT_NOBEGIN)
		nulls[4] = 'n';
	if (e->stopped_at == DT_NOBEGIN)
		nulls[5] = 'n';
	if (e->last_redriven_at == DT_NOBEGIN)
		nulls[6] = 'n';
	if (e->output == NULL)
		nulls[7] = 'n';
	if (e->error == NULL)
		nulls[8] = 'n';
	if (e->cause == NULL)
		nulls[9] = 'n';
	if (e->new_input == NULL)
		nulls[11] = 'n';
	sf_store_query(&plan, args, nulls, 0, NULL, NULL);
}

/* Read an execution into a list. */
static void
read_execution_list(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfExecution *execution;

	read_execution(tuple, desc, &execution);
	*(List **) arg = lappend(*(List **) arg, execution);
}

/* Children that an execution (branch_no -1: any branch of it) waits for. */
List *
sf_execution_waited_for(int64 execution_no, int64 branch_no)
{
	static SfPlan plan = SF_PLAN(
		SELECT_EXECUTION(WITHOUT_DOCUMENTS) "WHERE e.parent_execution_no" EQ "$1"
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
