/*
 * map_run.c
 *		Rows of _sfflow.map_run and _sfflow.map_item.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "store/map_run.h"
#include "store/row.h"

#define EQ " OPERATOR(pg_catalog.=) "

/* Columns of map_run in the order of the table */
#define MAP_RUN_COLUMNS(X) \
	X(EXECUTION_NO, "execution_no") \
	X(MAP_RUN_NO, "map_run_no") \
	X(BRANCH_NO, "branch_no") \
	X(STATE, "state") \
	X(UUID, "uuid") \
	X(STATUS, "status") \
	X(REDRIVE_COUNT, "redrive_count") \
	X(KEYED, "keyed") \
	X(MAX_ITEMS, "max_items") \
	X(MAX_ITEMS_PER_BATCH, "max_items_per_batch") \
	X(MAX_BYTES_PER_BATCH, "max_bytes_per_batch") \
	X(TOLERATED_COUNT, "tolerated_count") \
	X(TOLERATED_PERCENTAGE, "tolerated_percentage") \
	X(TOTAL, "total") \
	X(CHILDREN, "children") \
	X(SUCCEEDED, "succeeded") \
	X(FAILED, "failed") \
	X(TIMED_OUT, "timed_out") \
	X(ABORTED, "aborted") \
	X(ITEMS_SUCCEEDED, "items_succeeded") \
	X(ITEMS_FAILED, "items_failed") \
	X(STARTED_AT, "started_at") \
	X(STOPPED_AT, "stopped_at")

#define COLUMN_ENUM(sym, name) COL_##sym,
enum
{
	COL_NONE = 0,
	MAP_RUN_COLUMNS(COLUMN_ENUM)
	COL_END
};
#define MAP_RUN_NCOLUMNS	(COL_END - 1)
#define MAP_ITEM_NCOLUMNS	4

#define COLUMN_SELECT(sym, name) "r." name ", "
#define SELECT_MAP_RUN \
	"SELECT " MAP_RUN_COLUMNS(COLUMN_SELECT) "1 FROM _sfflow.map_run r" \
	" WHERE r.execution_no" EQ "$1 AND r.map_run_no" EQ "$2"

/* --- runs --- */

/* Insert a run. */
void
sf_map_run_insert(const SfMapRun *run)
{
	SfTable    *table = sf_table_open("map_run", MAP_RUN_NCOLUMNS);
	Datum		values[MAP_RUN_NCOLUMNS];
	bool		nulls[MAP_RUN_NCOLUMNS];

	SF_SET(EXECUTION_NO, Int64GetDatum(run->execution_no));
	SF_SET(MAP_RUN_NO, Int64GetDatum(run->map_run_no));
	SF_SET(BRANCH_NO, Int64GetDatum(run->branch_no));
	SF_SET(STATE, Int32GetDatum(run->state));
	SF_SET(UUID, CStringGetTextDatum(run->uuid));
	SF_SET(STATUS, Int16GetDatum(run->status));
	SF_SET(REDRIVE_COUNT, Int32GetDatum(run->redrive_count));
	SF_SET(KEYED, BoolGetDatum(run->keyed));
	SF_SET(MAX_ITEMS, Int32GetDatum(run->max_items));
	SF_SET(MAX_ITEMS_PER_BATCH, Int32GetDatum(run->max_items_per_batch));
	SF_SET(MAX_BYTES_PER_BATCH, Int64GetDatum(run->max_bytes_per_batch));
	SF_SET(TOLERATED_COUNT, Int32GetDatum(run->tolerated_count));
	SF_SET(TOLERATED_PERCENTAGE, Float8GetDatum(run->tolerated_percentage));
	SF_SET(TOTAL, Int32GetDatum(run->total));
	SF_SET(CHILDREN, Int32GetDatum(run->children));
	SF_SET(SUCCEEDED, Int32GetDatum(run->ended[SF_STATUS_SUCCEEDED]));
	SF_SET(FAILED, Int32GetDatum(run->ended[SF_STATUS_FAILED]));
	SF_SET(TIMED_OUT, Int32GetDatum(run->ended[SF_STATUS_TIMED_OUT]));
	SF_SET(ABORTED, Int32GetDatum(run->ended[SF_STATUS_ABORTED]));
	SF_SET(ITEMS_SUCCEEDED, Int32GetDatum(run->items_succeeded));
	SF_SET(ITEMS_FAILED, Int32GetDatum(run->items_failed));
	SF_SET(STARTED_AT, TimestampTzGetDatum(run->started_at));
	SF_SET_NULL(STOPPED_AT);
	sf_table_insert(table, values, nulls);
	sf_table_close(table);
	CommandCounterIncrement();
}

/* Read one row. */
static void
read_run(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfMapRun   *r = palloc0(sizeof(SfMapRun));

	r->execution_no = sf_row_int64(tuple, desc, COL_EXECUTION_NO);
	r->map_run_no = sf_row_int64(tuple, desc, COL_MAP_RUN_NO);
	r->branch_no = sf_row_int64(tuple, desc, COL_BRANCH_NO);
	r->state = sf_row_int(tuple, desc, COL_STATE);
	r->uuid = sf_row_text(tuple, desc, COL_UUID);
	r->status = sf_row_int(tuple, desc, COL_STATUS);
	r->redrive_count = sf_row_int(tuple, desc, COL_REDRIVE_COUNT);
	r->keyed = sf_row_bool(tuple, desc, COL_KEYED);
	r->max_items = sf_row_int(tuple, desc, COL_MAX_ITEMS);
	r->max_items_per_batch = sf_row_int(tuple, desc, COL_MAX_ITEMS_PER_BATCH);
	r->max_bytes_per_batch = sf_row_int64(tuple, desc, COL_MAX_BYTES_PER_BATCH);
	r->tolerated_count = sf_row_int(tuple, desc, COL_TOLERATED_COUNT);
	r->tolerated_percentage = sf_row_double(tuple, desc, COL_TOLERATED_PERCENTAGE);
	r->total = sf_row_int(tuple, desc, COL_TOTAL);
	r->children = sf_row_int(tuple, desc, COL_CHILDREN);
	r->ended[SF_STATUS_SUCCEEDED] = sf_row_int(tuple, desc, COL_SUCCEEDED);
	r->ended[SF_STATUS_FAILED] = sf_row_int(tuple, desc, COL_FAILED);
	r->ended[SF_STATUS_TIMED_OUT] = sf_row_int(tuple, desc, COL_TIMED_OUT);
	r->ended[SF_STATUS_ABORTED] = sf_row_int(tuple, desc, COL_ABORTED);
	r->items_succeeded = sf_row_int(tuple, desc, COL_ITEMS_SUCCEEDED);
	r->items_failed = sf_row_int(tuple, desc, COL_ITEMS_FAILED);
	r->started_at = sf_row_time(tuple, desc, COL_STARTED_AT, DT_NOBEGIN);
	r->stopped_at = sf_row_time(tuple, desc, COL_STOPPED_AT, DT_NOEND);
	*(SfMapRun **) arg = r;
}

/* Read a run by number. */
SfMapRun *
sf_map_run_read(int64 execution_no, int64 map_run_no, SfLock lock)
{
	static SfPlan plans[] = {
		SF_PLAN(SELECT_MAP_RUN, 2, INT8OID, INT8OID),
		SF_PLAN(SELECT_MAP_RUN " FOR UPDATE", 2, INT8OID, INT8OID),
		SF_PLAN(SELECT_MAP_RUN " FOR UPDATE SKIP LOCKED", 2, INT8OID, INT8OID),
	};
	Datum		args[2] = {Int64GetDatum(execution_no), Int64GetDatum(map_run_no)};
	SfMapRun   *run = NULL;

	sf_store_query(&plans[lock], args, NULL, 1, read_run, &run);
	return run;
}

/* Write what changes while a run goes on. */
void
sf_map_run_update(const SfMapRun *run)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.map_run r SET status = $3::pg_catalog.int2,"
		" redrive_count = $4, children = $5, succeeded = $6, failed = $7,"
		" timed_out = $8, aborted = $9, items_succeeded = $10,"
		" items_failed = $11, stopped_at = $12"
		" WHERE r.execution_no" EQ "$1 AND r.map_run_no" EQ "$2",
		12, INT8OID, INT8OID, INT4OID, INT4OID, INT4OID, INT4OID, INT4OID,
		INT4OID, INT4OID, INT4OID, INT4OID, TIMESTAMPTZOID);
	Datum		args[12] = {
		Int64GetDatum(run->execution_no), Int64GetDatum(run->map_run_no),
		Int32GetDatum(run->status), Int32GetDatum(run->redrive_count),
		Int32GetDatum(run->children),
		Int32GetDatum(run->ended[SF_STATUS_SUCCEEDED]),
		Int32GetDatum(run->ended[SF_STATUS_FAILED]),
		Int32GetDatum(run->ended[SF_STATUS_TIMED_OUT]),
		Int32GetDatum(run->ended[SF_STATUS_ABORTED]),
		Int32GetDatum(run->items_succeeded), Int32GetDatum(run->items_failed),
		TimestampTzGetDatum(run->stopped_at)
	};

	sf_store_query(&plan, args, run->stopped_at == DT_NOEND ? "           n" : NULL,
				   0, NULL, NULL);
}

/* Note how many items there are. */
void
sf_map_run_note_items(const SfMapRun *run, int total, bool keyed)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.map_run r SET total = $3, keyed = $4"
		" WHERE r.execution_no" EQ "$1 AND r.map_run_no" EQ "$2",
		4, INT8OID, INT8OID, INT4OID, BOOLOID);
	Datum		args[4] = {
		Int64GetDatum(run->execution_no), Int64GetDatum(run->map_run_no),
		Int32GetDatum(total), BoolGetDatum(keyed)
	};

	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* Note that the runs of an execution are aborted. */
int
sf_map_run_stop_all(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.map_run r SET status = 4,"
		" stopped_at = pg_catalog.clock_timestamp()"
		" WHERE r.execution_no" EQ "$1 AND r.status" EQ "0", 1, INT8OID);
	Datum		args[1] = {Int64GetDatum(execution_no)};

	return (int) sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* --- items --- */

struct SfItemWriter
{
	SfTable    *table;
	int64		execution_no;
	int64		map_run_no;
	int			index;			/* of the next item */
};

/* Begin to add items. */
SfItemWriter *
sf_map_items_open(int64 execution_no, int64 map_run_no, int first)
{
	SfItemWriter *writer = palloc0(sizeof(SfItemWriter));

	writer->table = sf_table_open("map_item", MAP_ITEM_NCOLUMNS);
	writer->execution_no = execution_no;
	writer->map_run_no = map_run_no;
	writer->index = first;
	return writer;
}

/* Add an item. */
void
sf_map_items_add(SfItemWriter *writer, const Jsonb *item)
{
	Datum		values[MAP_ITEM_NCOLUMNS];
	bool		nulls[MAP_ITEM_NCOLUMNS] = {0};

	CHECK_FOR_INTERRUPTS();
	values[0] = Int64GetDatum(writer->execution_no);
	values[1] = Int64GetDatum(writer->map_run_no);
	values[2] = Int32GetDatum(writer->index++);
	values[3] = JsonbPGetDatum(item);
	sf_table_insert(writer->table, values, nulls);
}

/* Stop adding items. */
void
sf_map_items_close(SfItemWriter *writer)
{
	sf_table_close(writer->table);
	CommandCounterIncrement();
	pfree(writer);
}

typedef struct ItemList
{
	Jsonb	  **items;
	int			count;
} ItemList;

/* Read an item. */
static void
read_item(HeapTuple tuple, TupleDesc desc, void *arg)
{
	ItemList   *list = arg;

	list->items[list->count++] = sf_row_jsonb(tuple, desc, 1);
}

/* Read items. */
int
sf_map_items_read(int64 execution_no, int64 map_run_no, int first, int n,
				  Jsonb **items)
{
	static SfPlan plan = SF_PLAN(
		"SELECT i.item FROM _sfflow.map_item i WHERE i.execution_no" EQ "$1"
		" AND i.map_run_no" EQ "$2 AND i.item_index OPERATOR(pg_catalog.>=) $3"
		" AND i.item_index OPERATOR(pg_catalog.<) $4 ORDER BY i.item_index",
		4, INT8OID, INT8OID, INT4OID, INT4OID);
	Datum		args[4] = {
		Int64GetDatum(execution_no), Int64GetDatum(map_run_no),
		Int32GetDatum(first), Int32GetDatum(first + n)
	};
	ItemList	list = {items, 0};

	sf_store_query(&plan, args, NULL, n, read_item, &list);
	return list.count;
}

/* Delete items. */
void
sf_map_items_delete(int64 execution_no, int64 map_run_no, int first, int below)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.map_item i WHERE i.execution_no" EQ "$1"
		" AND i.map_run_no" EQ "$2 AND i.item_index OPERATOR(pg_catalog.>=) $3"
		" AND i.item_index OPERATOR(pg_catalog.<) $4",
		4, INT8OID, INT8OID, INT4OID, INT4OID);
	Datum		args[4] = {
		Int64GetDatum(execution_no), Int64GetDatum(map_run_no),
		Int32GetDatum(first), Int32GetDatum(below)
	};

	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* Delete all items of an execution. */
void
sf_map_items_delete_all(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.map_item i WHERE i.execution_no" EQ "$1",
		1, INT8OID);
	Datum		args[1] = {Int64GetDatum(execution_no)};

	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* --- children --- */

#define SELECT_CHILD \
	"SELECT e.execution_no FROM _sfflow.execution e" \
	" WHERE e.parent_execution_no" EQ "$1"
#define RUNNING_CHILD \
	" AND ($2" EQ "0 OR e.map_run_no" EQ "$2) AND e.map_run_no IS NOT NULL" \
	" AND e.status" EQ "0 ORDER BY e.execution_no"

/* Find the running children of a run. */
List *
sf_map_run_running(int64 execution_no, int64 map_run_no, bool lock)
{
	static SfPlan plans[] = {
		SF_PLAN(SELECT_CHILD RUNNING_CHILD, 2, INT8OID, INT8OID),
		SF_PLAN(SELECT_CHILD RUNNING_CHILD " FOR UPDATE SKIP LOCKED",
				2, INT8OID, INT8OID),
	};
	Datum		args[2] = {Int64GetDatum(execution_no), Int64GetDatum(map_run_no)};
	List	   *list = NIL;

	sf_store_query(&plans[lock], args, NULL, 0, sf_row_read_int64_list, &list);
	return list;
}

/* Find the children of a run that ended without success. */
List *
sf_map_run_unsuccessful(int64 execution_no, int64 map_run_no)
{
	static SfPlan plan = SF_PLAN(
		SELECT_CHILD " AND e.map_run_no" EQ "$2 AND e.status"
		" OPERATOR(pg_catalog.>=) 2 ORDER BY e.execution_no", 2, INT8OID, INT8OID);
	Datum		args[2] = {Int64GetDatum(execution_no), Int64GetDatum(map_run_no)};
	List	   *list = NIL;

	sf_store_query(&plan, args, NULL, 0, sf_row_read_int64_list, &list);
	return list;
}

/* Find the runs that have succeeded although children of them did not. */
List *
sf_map_run_tolerant(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.map_run_no FROM _sfflow.map_run r WHERE r.execution_no" EQ "$1"
		" AND r.status" EQ "1 AND (r.failed OPERATOR(pg_catalog.>) 0"
		"  OR r.timed_out OPERATOR(pg_catalog.>) 0"
		"  OR r.aborted OPERATOR(pg_catalog.>) 0)"
		" ORDER BY r.map_run_no", 1, INT8OID);
	Datum		args[1] = {Int64GetDatum(execution_no)};
	List	   *list = NIL;

	sf_store_query(&plan, args, NULL, 0, sf_row_read_int64_list, &list);
	return list;
}

/* Measure the results of all children. */
int64
sf_map_run_result_size(int64 execution_no, int64 map_run_no, bool with_input)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.sum(coalesce(pg_catalog.octet_length("
		"  e.output::pg_catalog.text), 0) OPERATOR(pg_catalog.+)"
		" CASE WHEN $3 THEN pg_catalog.octet_length(e.input::pg_catalog.text)"
		"  ELSE 0 END)::pg_catalog.int8 FROM _sfflow.execution e"
		" WHERE e.parent_execution_no" EQ "$1 AND e.map_run_no" EQ "$2",
		3, INT8OID, INT8OID, BOOLOID);
	Datum		args[3] = {
		Int64GetDatum(execution_no), Int64GetDatum(map_run_no),
		BoolGetDatum(with_input)
	};
	int64		size = 0;

	sf_store_query(&plan, args, NULL, 1, sf_row_read_int64, &size);
	return size;
}

/* Read a child. */
static void
read_result(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **list = arg;
	SfMapResult *r = palloc0(sizeof(SfMapResult));

	r->execution_no = sf_row_int64(tuple, desc, 1);
	r->index = sf_row_int(tuple, desc, 2);
	r->execution_id = sf_row_text(tuple, desc, 3);
	r->status = sf_row_int(tuple, desc, 4);
	r->redrive_count = sf_row_int(tuple, desc, 5);
	r->input = sf_row_jsonb(tuple, desc, 6);
	r->output = sf_row_jsonb(tuple, desc, 7);
	r->error = sf_row_text(tuple, desc, 8);
	r->cause = sf_row_text(tuple, desc, 9);
	r->started_at = sf_row_time(tuple, desc, 10, DT_NOBEGIN);
	r->stopped_at = sf_row_time(tuple, desc, 11, DT_NOBEGIN);
	*list = lappend(*list, r);
}

/* Read ended children. */
List *
sf_map_run_results(int64 execution_no, int64 map_run_no, int first, int n,
				   bool with_input)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.execution_no, e.map_index, e.execution_id, e.status,"
		" e.redrive_count, CASE WHEN $5 THEN e.input END, e.output, e.error, e.cause, e.started_at,"
		" e.stopped_at FROM _sfflow.execution e"
		" WHERE e.parent_execution_no" EQ "$1 AND e.map_run_no" EQ "$2"
		" AND e.map_index OPERATOR(pg_catalog.>=) $3"
		" AND e.status OPERATOR(pg_catalog.<>) 0"
		" ORDER BY e.parent_execution_no, e.map_run_no, e.map_index LIMIT $4",
		5, INT8OID, INT8OID, INT4OID, INT8OID, BOOLOID);
	Datum		args[5] = {
		Int64GetDatum(execution_no), Int64GetDatum(map_run_no),
		Int32GetDatum(first), Int64GetDatum(n), BoolGetDatum(with_input)
	};
	List	   *list = NIL;

	sf_store_query(&plan, args, NULL, 0, read_result, &list);
	return list;
}

/* Read a truth value. */
static void
read_bool(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(bool *) arg = sf_row_bool(tuple, desc, 1);
}

/* Tell whether the run of a child is over. */
bool
sf_map_run_is_over(const SfExecution *child, bool drains)
{
	static SfPlan plan = SF_PLAN(
		/* a child of a run that succeeded runs because it was redriven */
		"SELECT CASE WHEN e.status" EQ "1 THEN NOT EXISTS (SELECT"
		"  FROM _sfflow.map_run r WHERE r.execution_no" EQ "$1"
		"  AND r.map_run_no" EQ "$3 AND r.status" EQ "1)"
		" WHEN e.status" EQ "0 THEN b.branch_no IS NULL"
		"  OR b.phase OPERATOR(pg_catalog.<>) 3 OR b.aborting"
		"  OR b.failing AND NOT $4 OR b.map_run_no IS NULL"
		"  OR b.map_run_no OPERATOR(pg_catalog.<>) $3"
		" ELSE true END"
		" FROM _sfflow.execution e LEFT JOIN _sfflow.branch b"
		" ON b.execution_no" EQ "$1 AND b.branch_no" EQ "$2"
		" WHERE e.execution_no" EQ "$1",
		4, INT8OID, INT8OID, INT8OID, BOOLOID);
	Datum		args[4] = {
		Int64GetDatum(child->parent_execution_no),
		Int64GetDatum(child->parent_branch_no),
		Int64GetDatum(child->map_run_no), BoolGetDatum(drains)
	};
	bool		over = true;

	sf_store_query(&plan, args, NULL, 1, read_bool, &over);
	return over;
}
