/*
 * dropped.c
 *		State machines that were dropped, and their executions.
 *
 * The call that drops a machine deletes its running executions.  Of the others there may be
 * millions, so they stay, and with them a row of _sfflow.dropped_machine.  No view and no
 * function shows an execution without a machine.  The purge deletes them, batch by batch.
 * A machine of the same name has another number; a start that finds its id taken by such an
 * execution deletes that first.
 */
#include "postgres.h"

#include "store/execution/status.h"
#include "store/purge/dropped.h"

/*
 * Find the next running executions of a machine by number, at most max_rows of them: int64 *.
 * Each has a root branch.
 */
List *
sf_dropped_find_running(int machine_no, int64 after, int max_rows)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.execution_no FROM _sfflow.branch b"
		" JOIN _sfflow.execution e ON e.execution_no = b.execution_no"
		" WHERE b.branch_no = " SF_BRANCH_ROOT_TEXT " AND b.execution_no > $2"
		" AND e.machine_no = $1 AND e.status = $4"
		" ORDER BY b.execution_no LIMIT $3");

	return sf_db_numbers(&plan, SF_INT4(machine_no), SF_INT8(after), SF_INT8(max_rows),
						 SF_INT2(SF_STATUS_RUNNING));
}

/* Find the next executions of a machine by the time of their request, and lock those that no session has. */
void
sf_dropped_find(int machine_no, TimestampTz after, int max_rows, SfPurgeBatch *batch)
{
	static SfPlan plan = SF_PLAN(
		"WITH s AS MATERIALIZED (SELECT e.execution_no, e.requested_at FROM _sfflow.execution e"
		"  WHERE e.machine_no = $1 AND e.requested_at > $2"
		"  ORDER BY e.requested_at FETCH FIRST ($3) ROWS WITH TIES), "
		"x AS MATERIALIZED (SELECT e.execution_no, e.execution_id FROM s"
		"  JOIN _sfflow.execution e ON e.execution_no = s.execution_no"
		"  FOR UPDATE OF e SKIP LOCKED)"
		" SELECT pg_catalog.count(*), NULL::pg_catalog.text, pg_catalog.max(s.requested_at) FROM s"
		" UNION ALL SELECT x.execution_no, x.execution_id, NULL FROM x");

	memset(batch, 0, sizeof(*batch));
	sf_db_read(&plan, sf_purge_read_batch, batch, SF_INT4(machine_no), SF_TIME(after), SF_INT8(max_rows));
}

/* Delete the execution that has an id from a machine that was dropped; tells whether there was one. */
bool
sf_dropped_free_id(const char *execution_id)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.execution_no FROM _sfflow.execution e"
		" JOIN _sfflow.dropped_machine d ON d.machine_no = e.machine_no"
		" WHERE e.execution_id = $1");
	List	   *numbers = sf_db_numbers(&plan, SF_TEXT(execution_id));

	(void) sf_purge_delete_dropped(numbers);
	return numbers != NIL;
}

/* Note that executions of a machine are left. */
void
sf_dropped_note(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.dropped_machine (machine_no, name, dropped_at, requested_at, passed_over)"
		" SELECT m.machine_no, m.name, pg_catalog.clock_timestamp(), '-infinity', false"
		" FROM _sfflow.state_machine m WHERE m.machine_no = $1");

	sf_db_execute(&plan, SF_INT4(machine_no));
}

/* Read a machine that was dropped. */
static void
read_dropped(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_machine_no = 1, COL_requested_at, COL_passed_over};
	SfDroppedMachine *machine = arg;

	machine->machine_no = (int) sf_row_number(tuple, desc, COL_machine_no, 0);
	machine->requested_at = sf_row_number(tuple, desc, COL_requested_at, DT_NOBEGIN);
	machine->passed_over = sf_row_number(tuple, desc, COL_passed_over, 0) != 0;
}

/* Find a machine that was dropped and has executions; false: there is none. */
bool
sf_dropped_next(SfDroppedMachine *machine)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.machine_no, d.requested_at, d.passed_over FROM _sfflow.dropped_machine d"
		" ORDER BY d.machine_no LIMIT 1");

	return sf_db_run(InvalidOid, &plan, read_dropped, machine, NULL, 0) > 0;
}

/* Note how far the purge of a machine that was dropped has come. */
void
sf_dropped_set(const SfDroppedMachine *machine)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.dropped_machine d SET requested_at = $2, passed_over = $3"
		" WHERE d.machine_no = $1");

	sf_db_execute(&plan, SF_INT4(machine->machine_no), SF_TIME(machine->requested_at),
				  SF_BOOL(machine->passed_over));
}

/* Forget a machine of which nothing is left. */
void
sf_dropped_delete(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.dropped_machine d WHERE d.machine_no = $1");

	sf_db_execute(&plan, SF_INT4(machine_no));
}
