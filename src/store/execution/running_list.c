/*
 * running_list.c
 *		The longest running executions of each machine, and how many run.
 *
 * A page that is to be looked at every few seconds must not read all that runs: of a
 * machine the SF_RUNNING_MAX oldest rows of _sfflow.open_execution are read, and of what
 * has not begun as many again.  The time between an end and a redrive does not count:
 * both times of an execution are later by it.  Items of Distributed Maps do not count: the execution that
 * has the Map is older, and is among the first.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "store/branch/branch.h"
#include "store/execution/execution_list.h"

#define MAX_TEXT	"1000"

StaticAssertDecl(SF_RUNNING_MAX == 1000, "MAX_TEXT has to be SF_RUNNING_MAX");

#define ROW SfRunningExecution
SF_RESULT_TYPE(row_type, SF_RUNNING_FIELDS);

/* A time, later by that in which the execution was not under way */
#define WITHOUT_IDLE(time) \
	time " + pg_catalog.make_interval(secs => COALESCE(e.idle_us, 0) / 1e6)"
#define COLUMNS	"e.machine_no, e.execution_id, " \
	WITHOUT_IDLE("e.requested_at") " AS requested_at, " WITHOUT_IDLE("e.started_at") " AS started_at"

/* List the oldest running executions of each of some machines, so many at most, the oldest first. */
List *
sf_running_list(const int *machines, int nmachines, int most)
{
	static SfPlan plan = SF_PLAN(
		"SELECT x.execution_id, x.requested_at, x.started_at, x.n FROM (SELECT r.execution_id, r.requested_at, r.started_at,"
		"  LEAST(pg_catalog.count(*) OVER (PARTITION BY r.machine_no), " MAX_TEXT ") AS n,"
		"  pg_catalog.row_number() OVER (PARTITION BY r.machine_no ORDER BY r.requested_at, r.execution_id) AS k"
		" FROM (SELECT " COLUMNS " FROM pg_catalog.unnest($1) AS m(no) CROSS JOIN LATERAL"
		"  (SELECT o.execution_no FROM _sfflow.open_execution o WHERE o.machine_no = m.no"
		"   AND o.status = $4 ORDER BY o.requested_at LIMIT " MAX_TEXT ") o"
		"  JOIN _sfflow.execution e ON e.execution_no = o.execution_no WHERE e.map_run_no IS NULL"
		"  UNION ALL SELECT " COLUMNS " FROM (SELECT b.execution_no FROM _sfflow.branch b"
		"   WHERE b.branch_no = " SF_BRANCH_ROOT_TEXT " AND b.owner = ANY (SELECT s.owner FROM _sfflow.state_machine s"
		"    WHERE s.machine_no = ANY ($1)) AND b.due_at < $3 LIMIT 10000) b"
		"  JOIN _sfflow.execution e ON e.execution_no = b.execution_no"
		"  WHERE e.machine_no = ANY ($1) AND e.started_at IS NULL AND e.map_run_no IS NULL"
		"  UNION ALL SELECT " COLUMNS " FROM (SELECT w.execution_no FROM _sfflow.parked w"
		"   JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no"
		"   WHERE w.branch_no = " SF_BRANCH_ROOT_TEXT " AND b.place = $5 LIMIT 10000) w"
		"  JOIN _sfflow.execution e ON e.execution_no = w.execution_no"
		"  WHERE e.machine_no = ANY ($1) AND e.started_at IS NULL AND e.map_run_no IS NULL) r) x"
		" WHERE x.k <= $2 ORDER BY x.requested_at, x.execution_id");
	int			nest = sf_execution_list_plans_begin();
	List	   *list = NIL;

	if (nmachines > 0)
		list = sf_snapshot_rows(&plan, &row_type,
								sf_query_arg(INT4ARRAYOID, sf_int_array_datum(machines, nmachines), false),
								SF_INT8(most), SF_TIME(GetCurrentTimestamp() + USECS_PER_HOUR),
								SF_INT2(SF_STATUS_RUNNING), SF_INT2(SF_BRANCH_PLACE_PARKED));
	sf_execution_list_plans_end(nest);
	return list;
}

/*
 * Count the executions of a machine that were requested in a time, without items of Distributed Maps, up to a
 * number.
 */
int
sf_running_starts(int machine_no, TimestampTz since, TimestampTz until, int most)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM (SELECT FROM _sfflow.execution e WHERE e.machine_no = $1"
		" AND e.requested_at >= $2 AND e.requested_at < $3 AND e.map_run_no IS NULL LIMIT $4) x");

	return sf_db_number(&plan, 0, SF_INT4(machine_no), SF_TIME(since), SF_TIME(until), SF_INT8(most));
}
