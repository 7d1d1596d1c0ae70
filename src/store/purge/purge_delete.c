/*
 * purge_delete.c
 *		Delete executions with all that belongs to them.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "store/feature.h"
#include "store/purge/purge.h"

/* Delete the executions of x; one row: how many */
#define DELETE_EXECUTIONS \
	"o AS (DELETE FROM _sfflow.open_execution d USING x" \
	" WHERE d.machine_no = x.machine_no AND d.status = x.status" \
	" AND d.requested_at = x.requested_at" \
	" AND d.execution_no = x.execution_no), " \
	"g AS (DELETE FROM _sfflow.execution d USING x" \
	" WHERE d.execution_no = x.execution_no RETURNING 1)" \
	" SELECT pg_catalog.count(*) FROM g"

/* Let a plan delete executions with what tables have of them; select: those of x, and the rows of branch. */
static SfPlan *
prepare(SfPlan *plan, const char *select)
{
	StringInfoData query;
	int			n = 0;

	if (plan->query != NULL)
		return plan;
	initStringInfo(&query);
	appendStringInfoString(&query, select);
	SF_TABLES(table)
		if (table->of_execution == SF_ROWS_GO_ALONG || table->of_execution == SF_ROWS_STAY)
			appendStringInfo(&query, "d%d AS (DELETE FROM _sfflow.%s d USING x"
							 "%s d.execution_no = x.execution_no), ", n++, table->name,
							 table->purge == NULL ? " WHERE" : table->purge);
	appendStringInfoString(&query, DELETE_EXECUTIONS);
	plan->query = MemoryContextStrdup(TopMemoryContext, query.data);
	return plan;
}

/* Delete executions that the caller has locked and that no session is holding; returns how many. */
int64
sf_purge_delete(const List *numbers)
{
	static SfPlan plan;
	static const char select[] =
		"WITH x AS MATERIALIZED (SELECT e.execution_no, e.machine_no, e.status, e.requested_at, e.labels"
		"  FROM _sfflow.execution e WHERE e.execution_no = ANY ($1)"
		/* an archive function may have redriven it */
		"  AND e.status <> $2), "
		"b AS (DELETE FROM _sfflow.branch d USING x WHERE d.execution_no = x.execution_no), ";

	if (numbers == NIL)
		return 0;
	return sf_db_number(prepare(&plan, select), 0, sf_query_int8s(numbers), SF_INT2(SF_STATUS_RUNNING));
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
		"SELECT 1 FROM _sfflow.execution e WHERE e.execution_no = ANY ($1)"
		" ORDER BY e.execution_no FOR UPDATE");
	static SfPlan plan;
	static const char select[] =
		"WITH x AS MATERIALIZED (SELECT e.execution_no, e.machine_no, e.status, e.requested_at, e.labels"
		"  FROM _sfflow.execution e WHERE e.execution_no = ANY ($1)), "
		"free AS MATERIALIZED (SELECT b.execution_no, b.branch_no FROM _sfflow.branch b"
		"  JOIN x ON x.execution_no = b.execution_no FOR UPDATE OF b SKIP LOCKED), "
		"b AS (DELETE FROM _sfflow.branch d USING free WHERE d.execution_no = free.execution_no"
		"  AND d.branch_no = free.branch_no), ";
	SfArg		array;
	int64		n;

	if (numbers == NIL)
		return 0;
	array = sf_query_int8s(numbers);
	sf_db_execute(&lock, array);
	n = sf_db_number(prepare(&plan, select), 0, array);
	SF_TELL(on_executions_dropped, array);
	return n;
}
