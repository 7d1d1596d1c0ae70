/*
 * purge.c
 *		Delete ended executions with all that belongs to them.
 */
#include "postgres.h"

#include "store/branch.h"
#include "store/purge.h"

/* What belongs to an execution, by its number */
#define OF_PURGED(name, table, column) \
	name " AS (DELETE FROM _sfflow." table " d USING x" \
	" WHERE d." column SF_EQ "x.execution_no), "

/*
 * Delete at most limit executions that ended before a time.  The owner of their
 * machine is role, or a role that it is a member of.  Returns how many.
 */
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
		"WITH x AS MATERIALIZED (SELECT e.execution_no, e.machine_no, e.requested_at"
		"  FROM _sfflow.execution e"
		"  JOIN _sfflow.state_machine m ON m.machine_no" SF_EQ "e.machine_no"
		"  WHERE e.status" SF_NE "$4"
		"  AND e.stopped_at" SF_LT "$1"
		"  AND pg_catalog.pg_has_role($2, m.owner::pg_catalog.oid, 'USAGE')"
		"  AND NOT EXISTS (SELECT FROM _sfflow.execution p"
		"   WHERE p.execution_no" SF_EQ "e.parent_execution_no"
		"   AND (p.status" SF_EQ "$4 OR e.map_run_no IS NOT NULL))"
		"  AND NOT EXISTS (SELECT FROM _sfflow.execution c"
		"   WHERE c.parent_execution_no" SF_EQ "e.execution_no"
		"   AND c.map_run_no IS NOT NULL AND c.status" SF_EQ "$4)"
		"  ORDER BY e.execution_no LIMIT $3 FOR UPDATE OF e SKIP LOCKED), "
		OF_PURGED("d1", "history", "execution_no")
		OF_PURGED("d2", "branch", "execution_no")
		OF_PURGED("d3", "task", "execution_no")
		OF_PURGED("d4", "start_request", "execution_no")
		OF_PURGED("d5", "map_item", "execution_no")
		OF_PURGED("d6", "map_run", "execution_no")
		OF_PURGED("d7", "failure", "execution_no")
		OF_PURGED("d8", "acknowledgement", "execution_no")
		"d9 AS (DELETE FROM _sfflow.open_execution d USING x"
		" WHERE d.machine_no" SF_EQ "x.machine_no AND d.status" SF_EQ "ANY ('{FAILED,TIMED_OUT,ABORTED}')"
		" AND d.requested_at" SF_EQ "x.requested_at"
		" AND d.execution_no" SF_EQ "x.execution_no), "
		"g AS (DELETE FROM _sfflow.execution d USING x"
		" WHERE d.execution_no" SF_EQ "x.execution_no RETURNING 1)"
		" SELECT pg_catalog.count(*) FROM g");

	return sf_store_number(&plan, 0, SF_TIME(ended_before), sf_query_arg(OIDOID, ObjectIdGetDatum(role), false),
						   SF_INT8(limit), SF_INT2(SF_STATUS_RUNNING));
}
