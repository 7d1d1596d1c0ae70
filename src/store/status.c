/*
 * status.c
 *		Read what the status views derive from.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "store/privilege.h"
#include "store/scan.h"
#include "store/status.h"

#define EQUALS " OPERATOR(pg_catalog.=) "

static SfPlan execution_plan = SF_PLAN(
	"SELECT e.machine_no, e.version, m.name, m.owner, e.status, e.error, e.cause,"
	" r.state"
	" FROM _sfflow.execution e"
	" JOIN _sfflow.state_machine m ON m.machine_no" EQUALS "e.machine_no"
	" LEFT JOIN _sfflow.map_run r ON r.execution_no" EQUALS "e.parent_execution_no"
	" AND r.map_run_no" EQUALS "e.map_run_no"
	" WHERE e.execution_no" EQUALS "$1",
	1, INT8OID);

static SfPlan branches_plan = SF_PLAN(
	"SELECT branch_no, parent_no, scope, state, phase, failing, uncatchable, pending,"
	" due_at, entered_at, started_at, iterations, error, cause,"
	" map_run_no IS NOT NULL"
	" FROM _sfflow.branch"
	" WHERE execution_no" EQUALS "$1 AND branch_no OPERATOR(pg_catalog.>=) 0",
	1, INT8OID);

static SfPlan events_plan = SF_PLAN(
	"SELECT id, previous_id, type, state, payload_from, at, iterations, extra"
	" FROM _sfflow.event WHERE execution_no" EQUALS "$1 ORDER BY id",
	1, INT8OID);

static SfPlan events_with_payload_plan = SF_PLAN(
	"SELECT e.id, e.previous_id, e.type, e.state, e.payload_from, e.at,"
	" e.iterations, e.extra, coalesce(e.payload, p.payload)"
	" FROM _sfflow.event e LEFT JOIN _sfflow.event p"
	" ON p.execution_no" EQUALS "e.execution_no AND p.id" EQUALS "e.payload_from"
	" WHERE e.execution_no" EQUALS "$1 ORDER BY e.id",
	1, INT8OID);

/* Read an integer that may be null. */
static int
row_int(HeapTuple tuple, TupleDesc desc, int column, int if_null)
{
	return sf_row_is_null(tuple, desc, column) ? if_null :
		sf_row_int(tuple, desc, column);
}

/* Read the head of an execution. */
static void
read_execution(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfStatusExecution *out = arg;
	bool		isnull;

	out->machine_no = sf_row_int(tuple, desc, 1);
	out->version = sf_row_int(tuple, desc, 2);
	out->machine = sf_row_text(tuple, desc, 3);
	out->owner = DatumGetObjectId(heap_getattr(tuple, 4, desc, &isnull));
	out->status = (SfStatus) sf_row_int(tuple, desc, 5);
	out->error = sf_row_text(tuple, desc, 6);
	out->cause = sf_row_text(tuple, desc, 7);
	out->map_state = row_int(tuple, desc, 8, -1);
}

/* Read an execution that the current user may see. */
bool
sf_status_execution(int64 execution_no, SfStatusExecution *out)
{
	Datum		arg = Int64GetDatum(execution_no);

	out->execution_no = execution_no;
	return sf_scan_run(&execution_plan, &arg, NULL, read_execution, out) > 0 &&
		sf_privilege_check(SF_OBJECT_STATE_MACHINE, out->machine, out->owner,
						   SF_PRIVILEGE_READ);
}

/* Read a branch and append it to a list. */
static void
read_branch(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **branches = arg;
	SfStatusBranch *b = palloc0(sizeof(SfStatusBranch));

	b->branch_no = sf_row_int64(tuple, desc, 1);
	b->parent_no = sf_row_is_null(tuple, desc, 2) ? -1 :
		sf_row_int64(tuple, desc, 2);
	b->scope = sf_row_int(tuple, desc, 3);
	b->state = sf_row_int(tuple, desc, 4);
	b->phase = (SfPhase) sf_row_int(tuple, desc, 5);
	b->failing = sf_row_bool(tuple, desc, 6);
	b->uncatchable = sf_row_bool(tuple, desc, 7);
	b->pending = sf_row_int(tuple, desc, 8);
	b->due_at = sf_row_time(tuple, desc, 9, DT_NOEND);
	b->entered_at = sf_row_time(tuple, desc, 10, DT_NOBEGIN);
	b->started_at = sf_row_time(tuple, desc, 11, DT_NOBEGIN);
	b->iterations = sf_row_int_array(tuple, desc, 12, &b->niterations);
	b->error = sf_row_text(tuple, desc, 13);
	b->cause = sf_row_text(tuple, desc, 14);
	b->has_map_run = sf_row_bool(tuple, desc, 15);
	*branches = lappend(*branches, b);
}

/* Read all branches of an execution, but the deadline. */
List *
sf_status_branches(int64 execution_no)
{
	Datum		arg = Int64GetDatum(execution_no);
	List	   *branches = NIL;

	sf_scan_run(&branches_plan, &arg, NULL, read_branch, &branches);
	return branches;
}

/* Who visits events, and a context for one event */
typedef struct EventVisit
{
	SfStatusEventVisitor visitor;
	void	   *arg;
	bool		with_payload;
	MemoryContext context;
} EventVisit;

/* Read an event and have it visited. */
static void
read_event(HeapTuple tuple, TupleDesc desc, void *arg)
{
	EventVisit *visit = arg;
	MemoryContext old = MemoryContextSwitchTo(visit->context);
	SfStatusEvent event;

	event.id = sf_row_int(tuple, desc, 1);
	event.previous_id = sf_row_int(tuple, desc, 2);
	event.type = sf_row_int(tuple, desc, 3);
	event.state = row_int(tuple, desc, 4, -1);
	event.payload_event = row_int(tuple, desc, 5, event.id);
	event.at = sf_row_time(tuple, desc, 6, DT_NOBEGIN);
	event.iterations = sf_row_int_array(tuple, desc, 7, &event.niterations);
	event.extra = sf_row_jsonb(tuple, desc, 8);
	event.payload = visit->with_payload ? sf_row_jsonb(tuple, desc, 9) : NULL;
	visit->visitor(&event, visit->arg);
	MemoryContextSwitchTo(old);
	MemoryContextReset(visit->context);
}

/* Visit the events of an execution in order of their ids. */
void
sf_status_events(int64 execution_no, bool with_payload,
				 SfStatusEventVisitor visitor, void *arg)
{
	Datum		value = Int64GetDatum(execution_no);
	EventVisit	visit = {visitor, arg, with_payload, NULL};

	visit.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow event",
										  ALLOCSET_DEFAULT_SIZES);
	sf_scan_run(with_payload ? &events_with_payload_plan : &events_plan,
				&value, NULL, read_event, &visit);
	MemoryContextDelete(visit.context);
}
