/*
 * status.c
 *		The head of an execution, for views.
 */
#include "postgres.h"

#include "store/privilege.h"
#include "store/program_cache.h"
#include "store/status.h"

/* Read the head of an execution. */
static void
read_execution(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfStatusExecution *out = arg;

	out->machine_no = sf_row_number(tuple, desc, 1, 0);
	out->version = sf_row_number(tuple, desc, 2, 0);
	out->machine = sf_row_text(tuple, desc, 3);
	out->owner = sf_row_number(tuple, desc, 4, InvalidOid);
	out->status = sf_row_number(tuple, desc, 5, 0);
	out->error = sf_row_text(tuple, desc, 6);
	out->cause = sf_row_text(tuple, desc, 7);
	out->map_state = sf_row_number(tuple, desc, 8, -1);
}

/*
 * Read an execution that the current user may see; false when there is none,
 * or when it may not.
 */
bool
sf_status_execution(int64 execution_no, SfStatusExecution *out)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.machine_no, e.version, m.name, m.owner, e.status, e.error, e.cause,"
		" r.state"
		" FROM _sfflow.execution e"
		" JOIN _sfflow.state_machine m ON m.machine_no" SF_EQ "e.machine_no"
		" LEFT JOIN _sfflow.map_run r ON r.execution_no" SF_EQ "e.parent_execution_no"
		" AND r.map_run_no" SF_EQ "e.map_run_no"
		" WHERE e.execution_no" SF_EQ "$1");

	out->execution_no = execution_no;
	return sf_scan(&plan, read_execution, out, SF_INT8(execution_no)) > 0 &&
		sf_privilege_check(SF_OBJECT_STATE_MACHINE, out->machine, out->owner,
						   SF_PRIVILEGE_READ);
}

/*
 * An event of an earlier version of an execution that was moved, with the number that
 * its state has now (-1: it is gone), in moved; any other event as it is.  program is
 * that of the execution's version.
 */
const SfEvent *
sf_status_event_now(const SfStatusExecution *execution, const SfProgram *program,
					const SfEvent *event, SfEvent *moved)
{
	const SfProgram *before;

	if (event->state < 0 || event->version == execution->version)
		return event;
	before = sf_program_cache_try(execution->machine_no, event->version);
	*moved = *event;
	moved->state = before == NULL || event->state >= before->nstates ? -1 :
		sf_program_find_state(program, before->states[event->state].name);
	return moved;
}
