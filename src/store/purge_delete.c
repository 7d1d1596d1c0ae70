/*
 * purge_delete.c
 *		Delete executions with all that belongs to them.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "store/limit_slot.h"
#include "store/purge.h"

/* What belongs to an execution, by its number */
#define OF_PURGED(name, table, column) \
	name " AS (DELETE FROM _sfflow." table " d USING x" \
	" WHERE d." column SF_EQ "x.execution_no), "

/* Delete the executions of x; one row: how many */
#define DELETE_PURGED \
	OF_PURGED("d1", "history", "execution_no") \
	OF_PURGED("d3", "task", "execution_no") \
	OF_PURGED("d4", "start_request", "execution_no") \
	OF_PURGED("d5", "map_item", "execution_no") \
	OF_PURGED("d6", "map_run", "execution_no") \
	OF_PURGED("d7", "failure", "execution_no") \
	OF_PURGED("d8", "acknowledgement", "execution_no") \
	OF_PURGED("d9", "audit", "execution_no") \
	OF_PURGED("d10", "held", "execution_no") \
	OF_PURGED("d11", "hold", "execution_no") \
	OF_PURGED("d12", "mark", "execution_no") \
	OF_PURGED("d13", "rule_chain", "execution_no") \
	"d14 AS (DELETE FROM _sfflow.open_execution d USING x" \
	" WHERE d.machine_no" SF_EQ "x.machine_no AND d.status" SF_EQ "ANY ('{RUNNING,FAILED,TIMED_OUT,ABORTED}')" \
	" AND d.requested_at" SF_EQ "x.requested_at" \
	" AND d.execution_no" SF_EQ "x.execution_no), " \
	"g AS (DELETE FROM _sfflow.execution d USING x" \
	" WHERE d.execution_no" SF_EQ "x.execution_no RETURNING 1)" \
	" SELECT pg_catalog.count(*) FROM g"

/* An array of numbers */
static SfArg
number_array(const List *numbers)
{
	Datum	   *elements = palloc(sizeof(Datum) * list_length(numbers));
	ListCell   *lc;

	foreach(lc, numbers)
		elements[foreach_current_index(lc)] = Int64GetDatum(*(int64 *) lfirst(lc));
	return sf_query_arg(INT8ARRAYOID,
						PointerGetDatum(construct_array(elements, list_length(numbers), INT8OID,
														sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)),
						false);
}

/* Delete executions that the caller has locked and that no session is holding; returns how many. */
int64
sf_purge_delete(const List *numbers)
{
	static SfPlan plan = SF_PLAN(
		"WITH x AS MATERIALIZED (SELECT e.execution_no, e.machine_no, e.requested_at"
		"  FROM _sfflow.execution e WHERE e.execution_no" SF_EQ "ANY ($1)"
		/* an archive function may have redriven it */
		"  AND e.status" SF_NE "$2), "
		OF_PURGED("d2", "branch", "execution_no")
		DELETE_PURGED);

	if (numbers == NIL)
		return 0;
	return sf_store_number(&plan, 0, number_array(numbers), SF_INT2(SF_STATUS_RUNNING));
}

/*
 * Delete executions of a machine that is or was dropped, whatever they do; returns how many.
 * A branch that a worker has locked stays; the worker deletes it when it finds no execution.
 */
int64
sf_purge_delete_dropped(const List *numbers)
{
	/* executions before branches: the order in which all code locks them */
	static SfPlan lock = SF_PLAN(
		"SELECT 1 FROM _sfflow.execution e WHERE e.execution_no" SF_EQ "ANY ($1)"
		" ORDER BY e.execution_no FOR UPDATE");
	static SfPlan plan = SF_PLAN(
		"WITH x AS MATERIALIZED (SELECT e.execution_no, e.machine_no, e.requested_at"
		"  FROM _sfflow.execution e WHERE e.execution_no" SF_EQ "ANY ($1)), "
		"free AS MATERIALIZED (SELECT b.execution_no, b.branch_no FROM _sfflow.branch b"
		"  JOIN x ON x.execution_no" SF_EQ "b.execution_no FOR UPDATE OF b SKIP LOCKED), "
		"d2 AS (DELETE FROM _sfflow.branch d USING free WHERE d.execution_no" SF_EQ "free.execution_no"
		"  AND d.branch_no" SF_EQ "free.branch_no), "
		DELETE_PURGED);
	SfArg		array;

	if (numbers == NIL)
		return 0;
	array = number_array(numbers);
	sf_store_execute(&lock, array);
	sf_limit_slot_give_executions(array);
	return sf_store_number(&plan, 0, array);
}
