/*
 * map_run.c
 *		Rows of _sfflow.map_run and _sfflow.map_item.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "store/map_run/map_run.h"

SF_COLUMN_NUMBERS(SF_MAP_RUN_COLUMNS);

#define ROW SfMapRun
SF_ROW_TYPE(row_type, SF_MAP_RUN_COLUMNS, map_run, 2);

#define MAP_ITEM_NCOLUMNS	4

/* --- runs --- */

/* The counter of the item executions that have ended with a status. */
static int *
ended_with(SfMapRun *map_run, SfStatus status)
{
	switch (status)
	{
		case SF_STATUS_SUCCEEDED:
			return &map_run->succeeded;
		case SF_STATUS_FAILED:
			return &map_run->failed;
		case SF_STATUS_TIMED_OUT:
			return &map_run->timed_out;
		case SF_STATUS_ABORTED:
			return &map_run->aborted;
		case SF_STATUS_RUNNING:
			break;
	}
	elog(ERROR, "an item execution has not ended");
}

/* Count an item execution that has ended.  The items of one that was aborted with its parent did not succeed. */
void
sf_map_run_count_end(SfMapRun *map_run, SfStatus status, int items)
{
	(*ended_with(map_run, status))++;
	if (status == SF_STATUS_SUCCEEDED)
		map_run->items_succeeded += items;
	else
		map_run->items_failed += items;
}

/*
 * Take back the end, without success, of an item execution that is redriven.  Version 1.0 counted no items of those
 * that were aborted with their parent.
 */
void
sf_map_run_count_redriven(SfMapRun *map_run, SfStatus before, int items)
{
	(*ended_with(map_run, before))--;
	map_run->items_failed = Max(map_run->items_failed - items, 0);
}

/* Insert a run. */
void
sf_map_run_insert(const SfMapRun *map_run)
{
	SfMapRun	row = *map_run;

	row.stopped_at = DT_NOBEGIN;
	sf_row_insert(&row_type, &row);
}

/* Read a run by number; NULL: it is not there. */
SfMapRun *
sf_map_run_read(int64 execution_no, int64 map_run_no, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		"SELECT " SF_MAP_RUN_COLUMNS(SF_SELECT) "1 FROM _sfflow.map_run r"
		" WHERE r.execution_no = $1 AND r.map_run_no = $2");

	return sf_db_row(&plans[lock], &row_type, SF_INT8(execution_no),
					 SF_INT8(map_run_no));
}

/* Append a run to a list. */
static void
append_run(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfMapRun   *map_run = palloc0(sizeof(SfMapRun));

	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, map_run);
	*(List **) arg = lappend(*(List **) arg, map_run);
}

/* Read the runs of an execution as a view does. */
List *
sf_map_run_scan(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_MAP_RUN_COLUMNS(SF_SELECT) "1 FROM _sfflow.map_run r"
		" WHERE r.execution_no = $1 ORDER BY r.map_run_no");
	List	   *list = NIL;

	sf_snapshot_read(&plan, append_run, &list, SF_INT8(execution_no));
	return list;
}

/* List the numbers of the runs of an execution, whose row the caller has locked. */
List *
sf_map_run_numbers(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.map_run_no FROM _sfflow.map_run r WHERE r.execution_no = $1 ORDER BY r.map_run_no");

	return sf_db_numbers(&plan, SF_INT8(execution_no));
}

/* Write the counters, the status and the times of a row. */
void
sf_map_run_update(const SfMapRun *map_run)
{
	static const int changed[] = {
		COL_state, COL_status, COL_redrive_count, COL_children, COL_succeeded, COL_failed,
		COL_timed_out, COL_aborted, COL_items_succeeded, COL_items_failed, COL_stopped_at, COL_idle_us
	};

	sf_row_replace(&row_type, NULL, map_run, changed, lengthof(changed));
}

/* Write what is tolerated, and how many item executions may run at once. */
void
sf_map_run_set_limits(const SfMapRun *map_run)
{
	static const int changed[] = {COL_tolerated_count, COL_tolerated_percentage, COL_max_concurrency};

	sf_row_replace(&row_type, NULL, map_run, changed, lengthof(changed));
}

/* Store how many items there are, and whether they have keys. */
void
sf_map_run_note_items(const SfMapRun *map_run, int total, bool keyed)
{
	static const int changed[] = {COL_total, COL_keyed};
	SfMapRun	row = *map_run;

	row.total = total;
	row.keyed = keyed;
	sf_row_replace(&row_type, NULL, &row, changed, lengthof(changed));
}

/* Mark the runs of an execution that still run as aborted; returns how many. */
int
sf_map_run_stop_all(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.map_run r SET status = $2,"
		" stopped_at = pg_catalog.clock_timestamp()"
		" WHERE r.execution_no = $1 AND r.status = $3");

	return sf_db_execute(&plan, SF_INT8(execution_no), SF_INT2(SF_STATUS_ABORTED),
						 SF_INT2(SF_STATUS_RUNNING));
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
sf_map_item_open(int64 execution_no, int64 map_run_no, int first)
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
sf_map_item_insert(SfItemWriter *writer, const Jsonb *item)
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
sf_map_item_close(SfItemWriter *writer)
{
	sf_table_close(writer->table);
	CommandCounterIncrement();
	pfree(writer);
}

/* Items, as many as there is room for */
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

/* Items of a run from one index to below another */
#define OF_ITEMS \
	" FROM _sfflow.map_item i WHERE i.execution_no = $1" \
	" AND i.map_run_no = $2 AND i.item_index >= $3 AND i.item_index < $4"

/* Read up to n items from index first on; returns how many there are. */
int
sf_map_item_read(int64 execution_no, int64 map_run_no, int first, int n,
				 Jsonb **items)
{
	static SfPlan plan = SF_PLAN("SELECT i.item" OF_ITEMS " ORDER BY i.item_index");
	ItemList	list = {items, 0};

	sf_db_read(&plan, read_item, &list, SF_INT8(execution_no), SF_INT8(map_run_no),
			   SF_INT4(first), SF_INT4(first + n));
	return list.count;
}

/*
 * Delete items, from one index to below another.  The first index matters, too:
 * entries of deleted items stay in the table's index until VACUUM.
 */
void
sf_map_item_delete(int64 execution_no, int64 map_run_no, int first, int below)
{
	static SfPlan plan = SF_PLAN("DELETE" OF_ITEMS);

	sf_db_execute(&plan, SF_INT8(execution_no), SF_INT8(map_run_no), SF_INT4(first),
				  SF_INT4(below));
}

/* Delete all items of an execution. */
void
sf_map_item_delete_all(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.map_item i WHERE i.execution_no = $1");

	sf_db_execute(&plan, SF_INT8(execution_no));
}

/* --- item executions --- */

/* Item executions of the runs of an execution */
#define SELECT_CHILD \
	"SELECT e.execution_no FROM _sfflow.execution e" \
	" WHERE e.parent_execution_no = $1"

/*
 * List the numbers of the running item executions of a run (SF_NO_MAP_RUN: of all runs of the
 * execution), in order.  With SF_LOCK_SKIP, lock them and leave out those that another session
 * has locked; else SF_LOCK_NONE.
 */
List *
sf_map_run_running(int64 execution_no, int64 map_run_no, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		SELECT_CHILD " AND ($2 = " CppAsString2(SF_NO_MAP_RUN) " OR e.map_run_no = $2)"
		" AND e.map_run_no IS NOT NULL AND e.status = $3 ORDER BY e.execution_no");

	return sf_db_numbers(&plans[lock],
						 SF_INT8(execution_no), SF_INT8(map_run_no),
						 SF_INT2(SF_STATUS_RUNNING));
}

/* List the numbers of the item executions of a run that ended without success, in order. */
List *
sf_map_run_unsuccessful(int64 execution_no, int64 map_run_no)
{
	static SfPlan plan = SF_PLAN(
		SELECT_CHILD " AND e.map_run_no = $2 AND e.status <> ALL ($3)"
		" ORDER BY e.execution_no");

	return sf_db_numbers(&plan, SF_INT8(execution_no), SF_INT8(map_run_no),
						 SF_INT2S(SF_STATUS_RUNNING, SF_STATUS_SUCCEEDED));
}

/* Read two counts. */
static void
read_counts(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_executions = 1, COL_items};
	int		   *counts = arg;

	counts[0] = sf_row_number(tuple, desc, COL_executions, 0);
	counts[1] = sf_row_number(tuple, desc, COL_items, 0);
}

/* Count the item executions of a run that were redriven and have not gone on yet, and their items. */
void
sf_map_run_redriven(int64 execution_no, int64 map_run_no, int *children, int *items)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) AS executions, pg_catalog.sum(e.map_items) AS items FROM _sfflow.execution e"
		" WHERE e.parent_execution_no = $1 AND e.map_run_no = $2"
		" AND e.status = $3 AND e.redrive_count > 0"
		" AND EXISTS (SELECT FROM _sfflow.branch b WHERE b.execution_no = e.execution_no"
		"  AND b.due_at <= e.last_redriven_at)");
	int			counts[2] = {0, 0};

	sf_db_read(&plan, read_counts, counts, SF_INT8(execution_no), SF_INT8(map_run_no),
			   SF_INT2(SF_STATUS_RUNNING));
	*children = counts[0];
	*items = counts[1];
}

/*
 * List the numbers of the runs of an execution that succeeded although some of
 * their item executions did not.
 */
List *
sf_map_run_tolerant(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.map_run_no FROM _sfflow.map_run r WHERE r.execution_no = $1"
		" AND r.status = $2"
		" AND (r.failed > 0 OR r.timed_out > 0 OR r.aborted > 0)"
		" ORDER BY r.map_run_no");

	return sf_db_numbers(&plan, SF_INT8(execution_no), SF_INT2(SF_STATUS_SUCCEEDED));
}

/* Add up the bytes of the outputs (and inputs) of all item executions as text. */
int64
sf_map_run_result_size(int64 execution_no, int64 map_run_no, bool with_input)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.sum(coalesce(pg_catalog.octet_length("
		"  e.output::pg_catalog.text), 0) + "
		" CASE WHEN $3 THEN pg_catalog.octet_length(e.input::pg_catalog.text)"
		"  ELSE 0 END)::pg_catalog.int8 FROM _sfflow.execution e"
		" WHERE e.parent_execution_no = $1 AND e.map_run_no = $2");

	return sf_db_number(&plan, 0, SF_INT8(execution_no), SF_INT8(map_run_no),
						SF_BOOL(with_input));
}

/*
 * Tell whether the run of an item execution is over, or about to be.
 * Then its item executions have to end.  drains: the failure of an item execution does not end
 * the others.
 */
bool
sf_map_run_is_over(const SfExecution *execution, bool drains)
{
	static SfPlan plan = SF_PLAN(
		/* an item execution of a run that succeeded runs because it was redriven */
		"SELECT CASE WHEN e.status = $6 THEN NOT EXISTS (SELECT"
		"  FROM _sfflow.map_run r WHERE r.execution_no = $1"
		"  AND r.map_run_no = $3 AND r.status = $6)"
		" WHEN e.status = $5 THEN b.branch_no IS NULL"
		"  OR b.phase <> $7 OR " SF_JOIN_GIVES_UP("$4") " OR b.map_run_no IS NULL"
		"  OR b.map_run_no <> $3"
		" ELSE true END"
		" FROM _sfflow.execution e LEFT JOIN _sfflow.branch b"
		" ON b.execution_no = $1 AND b.branch_no = $2"
		" WHERE e.execution_no = $1");

	return sf_db_number(&plan, true, SF_INT8(execution->parent_execution_no),
						SF_INT8(execution->parent_branch_no), SF_INT8(execution->map_run_no),
						SF_BOOL(drains), SF_INT2(SF_STATUS_RUNNING),
						SF_INT2(SF_STATUS_SUCCEEDED), SF_INT2(SF_PHASE_JOIN));
}
