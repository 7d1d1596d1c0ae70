/*
 * delayed_start.c
 *		Rows of _sfflow.delayed_start: when an execution starts that was to start later than at once.
 *
 * A row tells that the time was asked for.  Lists of running executions find by it those that start later than in an
 * hour; and a due time ahead that has such a row is not taken for one of a clock that was set back
 * (sf_branch_set_back).  The row stays when the execution begins: lists read rows of the future alone.
 */
#include "postgres.h"

#include "db/table.h"
#include "store/execution/delayed_start.h"
#include "store/execution/execution.h"

/* Have lists find an execution that starts at a time, and replaces one of the same number that was to. */
void
sf_delayed_start_write(int64 execution_no, TimestampTz at)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.delayed_start AS d (execution_no, start_at) VALUES ($1, $2)"
		" ON CONFLICT (execution_no) DO UPDATE SET start_at = excluded.start_at");

	sf_db_execute(&plan, SF_INT8(execution_no), SF_TIME(at));
}
