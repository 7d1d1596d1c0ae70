/*
 * purge.c
 *		Delete ended executions with all that belongs to them.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "store/purge.h"
#include "store/table.h"

#define EQ " OPERATOR(pg_catalog.=) "

/* What belongs to an execution, by its number */
#define OF_PURGED(name, table, column) \
	name " AS (DELETE FROM _sfflow." table " d USING x" \
	" WHERE d." column EQ "x.execution_no), "

/* Delete a batch of ended executions. */
int64
sf_purge_executions(TimestampTz ended_before, Oid role, int64 limit)
{
	/*
	 * Children of .sync tasks go when they are old enough themselves; one
	 * whose parent still runs stays.  Those of a Distributed Map go after
	 * their parent, which takes their results when it is redriven; that waits
	 * for those that run again after it has ended.
	 */
	static SfPlan plan = SF_PLAN(
		"WITH x AS MATERIALIZED (SELECT e.execution_no FROM _sfflow.execution e"
		"  JOIN _sfflow.state_machine m ON m.machine_no" EQ "e.machine_no"
		"  WHERE e.status OPERATOR(pg_catalog.<>) 0"
		"  AND e.stopped_at OPERATOR(pg_catalog.<) $1"
		"  AND pg_catalog.pg_has_role($2, m.owner::pg_catalog.oid, 'USAGE')"
		"  AND NOT EXISTS (SELECT FROM _sfflow.execution p"
		"   WHERE p.execution_no" EQ "e.parent_execution_no"
		"   AND (p.status" EQ "0 OR e.map_run_no IS NOT NULL))"
		"  AND NOT EXISTS (SELECT FROM _sfflow.execution c"
		"   WHERE c.parent_execution_no" EQ "e.execution_no"
		"   AND c.map_run_no IS NOT NULL AND c.status" EQ "0)"
		"  ORDER BY e.execution_no LIMIT $3 FOR UPDATE OF e SKIP LOCKED), "
		OF_PURGED("d1", "event", "execution_no")
		OF_PURGED("d2", "branch", "execution_no")
		OF_PURGED("d3", "task", "execution_no")
		OF_PURGED("d4", "start_request", "execution_no")
		OF_PURGED("d5", "map_item", "execution_no")
		OF_PURGED("d6", "map_run", "execution_no")
		"g AS (DELETE FROM _sfflow.execution d USING x"
		" WHERE d.execution_no" EQ "x.execution_no RETURNING 1)"
		" SELECT pg_catalog.count(*) FROM g",
		3, TIMESTAMPTZOID, OIDOID, INT8OID);
	Datum		args[3] = {TimestampTzGetDatum(ended_before), ObjectIdGetDatum(role), Int64GetDatum(limit)};
	int64		count = 0;

	sf_store_query(&plan, args, NULL, 0, sf_row_read_int64, &count);
	return count;
}
