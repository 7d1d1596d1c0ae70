/*
 * bulk.c
 *		Which executions a redrive or a stop of many is for.
 *
 * Nothing is locked here: the caller locks each execution and compares it with what
 * was seen.  An item is 16 bytes, so that a million of them find room.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "store/execution/bulk.h"
#include "store/execution/execution.h"

/* Append an item. */
static void
read_item(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_stopped_at};
	SfBulkList *list = arg;

	if (list->n == list->size)
	{
		list->size = Max(64, list->size * 2);
		list->items = list->items == NULL ? palloc(sizeof(SfBulkItem) * list->size) :
			repalloc_huge(list->items, sizeof(SfBulkItem) * list->size);
	}
	list->items[list->n].execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	list->items[list->n++].stopped_at = sf_row_number(tuple, desc, COL_stopped_at, DT_NOBEGIN);
}

/* The numbers of the machines, as an argument. */
static SfArg
machines_arg(const SfBulkFilter *filter)
{
	return sf_query_arg(INT4ARRAYOID,
						sf_int_array_datum(filter->machines, filter->nmachines), false);
}

/* The labels that are asked for, as an argument. */
static SfArg
labels_arg(const SfBulkFilter *filter)
{
	return sf_query_arg(JSONBOID, JsonbPGetDatum(filter->labels), filter->labels == NULL);
}

/* The status that is asked for, as an argument. */
static SfArg
status_arg(const SfBulkFilter *filter)
{
	return sf_query_arg(INT2OID, Int16GetDatum(filter->status), !filter->has_status);
}

/*
 * List executions that have ended and not succeeded: of machines, without the executions
 * of Distributed Maps, which go on with their parent; or the executions of a run.  since:
 * when they ended.
 */
SfBulkList
sf_bulk_ended(const SfBulkFilter *filter)
{
#define ENDED_LIKE \
	" AND ($2 IS NULL OR o.status = $2) AND o.status <> $5" \
	" AND ($3 IS NULL OR e.error = $3)" \
	" AND ($4 IS NULL OR e.stopped_at >= $4) AND ($6 IS NULL OR e.labels @> $6) ORDER BY e.execution_no"
	static SfPlan of_machines = SF_PLAN(
		"SELECT e.execution_no, e.stopped_at FROM _sfflow.open_execution o"
		" JOIN _sfflow.execution e ON e.execution_no = o.execution_no"
		" WHERE o.machine_no = ANY ($1) AND e.map_run_no IS NULL" ENDED_LIKE);
	static SfPlan of_run = SF_PLAN(
		"SELECT e.execution_no, e.stopped_at FROM _sfflow.execution e"
		" JOIN _sfflow.open_execution o ON o.execution_no = e.execution_no"
		"  AND o.machine_no = e.machine_no AND o.requested_at = e.requested_at"
		" WHERE o.machine_no = ANY ($1)"
		" AND e.parent_execution_no = $7 AND e.map_run_no = $8" ENDED_LIKE);
	SfBulkList	list = {0};
	SfArg		machines = machines_arg(filter);
	SfArg		status = status_arg(filter);
	SfArg		error = SF_TEXT(filter->error);
	SfArg		since = SF_TIME_OR_NULL(filter->since, DT_NOBEGIN);
	SfArg		labels = labels_arg(filter);
	SfArg		running = SF_INT2(SF_STATUS_RUNNING);

	if (filter->map_run_no != SF_NO_MAP_RUN)
		sf_db_read(&of_run, read_item, &list, machines, status, error, since, running,
				   labels, SF_INT8(filter->map_run_of), SF_INT8(filter->map_run_no));
	else
		sf_db_read(&of_machines, read_item, &list, machines, status, error, since, running, labels);
	return list;
}

/*
 * List running executions of machines, without the executions of Distributed Maps: those
 * that have begun, and those that no worker has taken yet or that are parked.  error: with which a branch of
 * them has failed; since: when they were requested.
 */
SfBulkList
sf_bulk_running(const SfBulkFilter *filter)
{
	static SfPlan plan = SF_PLAN(
		"WITH r AS MATERIALIZED ("
		" SELECT o.execution_no FROM _sfflow.open_execution o"
		"  WHERE o.machine_no = ANY ($1) AND o.status = $2"
		" UNION SELECT b.execution_no FROM _sfflow.branch b"
		"  WHERE b.branch_no = $3 AND b.due_at IS NOT NULL"
		" UNION SELECT w.execution_no FROM _sfflow.parked w WHERE w.branch_no = $3)"
		" SELECT e.execution_no, e.stopped_at FROM r"
		" JOIN _sfflow.execution e ON e.execution_no = r.execution_no"
		" WHERE e.machine_no = ANY ($1) AND e.status = $2 AND e.map_run_no IS NULL"
		" AND ($4 IS NULL OR e.requested_at >= $4)"
		" AND ($5 IS NULL OR EXISTS (SELECT FROM _sfflow.branch f"
		"  WHERE f.execution_no = e.execution_no AND f.phase = $6 AND f.error = $5))"
		" AND ($7 IS NULL OR e.labels @> $7)"
		" ORDER BY e.execution_no");
	SfBulkList	list = {0};

	sf_db_read(&plan, read_item, &list, machines_arg(filter),
			   SF_INT2(SF_STATUS_RUNNING), SF_INT8(SF_BRANCH_ROOT), SF_TIME_OR_NULL(filter->since, DT_NOBEGIN),
			   SF_TEXT(filter->error), SF_INT2(SF_PHASE_FAILED), labels_arg(filter));
	return list;
}

/* Read the key of a run. */
static void
read_run(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_map_run_no};
	int64	   *key = arg;

	key[0] = sf_row_number(tuple, desc, COL_execution_no, 0);
	key[1] = sf_row_number(tuple, desc, COL_map_run_no, 0);
}

/* Find the run of a Distributed Map by its uuid; false: there is none. */
bool
sf_bulk_map_run(const char *uuid, int64 *execution_no, int64 *map_run_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.execution_no, r.map_run_no FROM _sfflow.map_run r WHERE r.uuid = $1");
	int64		key[2] = {0};

	sf_db_read(&plan, read_run, key, SF_TEXT(uuid));
	*execution_no = key[0];
	*map_run_no = key[1];
	return key[1] != 0;
}
