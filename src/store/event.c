/*
 * event.c
 *		Rows of _sfflow.event.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "asl/event_types.h"
#include "store/event.h"

SF_COLUMN_NUMBERS(SF_EVENT_COLUMNS);
#define NCOLUMNS	(COL_end - 1)

#define ROW SfEvent
SF_ROW_TYPE(row_type, SF_EVENT_COLUMNS, event, 2);

/* Append events, whose executions and ids are assigned, to histories. */
void
sf_event_write(List *events)
{
	SfTable    *table;
	MemoryContext scratch,
				old;
	Datum	   *values;
	bool	   *nulls;
	int			total = list_length(events);

	if (events == NIL)
		return;
	table = sf_table_open("event", NCOLUMNS);
	scratch = AllocSetContextCreate(CurrentMemoryContext, "sfflow event rows",
									ALLOCSET_DEFAULT_SIZES);
	values = palloc(sizeof(Datum) * NCOLUMNS * Min(total, SF_TABLE_MAX_ROWS));
	nulls = palloc(sizeof(bool) * NCOLUMNS * Min(total, SF_TABLE_MAX_ROWS));
	for (int begin = 0; begin < total; begin += SF_TABLE_MAX_ROWS)
	{
		int			n = Min(total - begin, SF_TABLE_MAX_ROWS);

		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(scratch);
		for (int i = 0; i < n; i++)
		{
			SfEvent		event = *(SfEvent *) list_nth(events, begin + i);

			if (event.payload_from != 0)
				event.payload = NULL;
			sf_row_form(&row_type, &event, values + i * NCOLUMNS, nulls + i * NCOLUMNS);
		}
		sf_table_insert_rows(table, n, values, nulls);
		MemoryContextSwitchTo(old);
		MemoryContextReset(scratch);
	}
	pfree(values);
	pfree(nulls);
	sf_table_close(table);
	MemoryContextDelete(scratch);
	CommandCounterIncrement();
}

/* Find the predecessor of an event. */
int
sf_event_previous(int64 execution_no, int id)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.previous_id FROM _sfflow.event e"
		" WHERE e.execution_no" SF_EQ "$1 AND e.id" SF_EQ "$2");

	return sf_store_number(&plan, 0, SF_INT8(execution_no), SF_INT4(id));
}

/* Read a document. */
static void
read_payload(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(Jsonb **) arg = sf_row_jsonb(tuple, desc, 1);
}

/* Find the input that a state of a branch was given last. */
Jsonb *
sf_event_last_input(int64 execution_no, int state, const int *iterations,
					int niterations)
{
	/* the first event of a visit is the one that enters the state */
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE p AS ("
		" (SELECT e.id, e.payload_from, e.payload FROM _sfflow.event e"
		"  WHERE e.execution_no" SF_EQ "$1 AND e.state" SF_EQ "$2"
		"  AND (e.payload IS NOT NULL OR e.payload_from IS NOT NULL)"
		"  AND e.type" SF_EQ "ANY ($4)"
		"  AND COALESCE(e.iterations, '{}')" SF_EQ "$3"
		"  ORDER BY e.id DESC LIMIT 1)"
		" UNION ALL"
		" SELECT e.id, e.payload_from, e.payload FROM p, _sfflow.event e"
		"  WHERE e.execution_no" SF_EQ "$1 AND e.id" SF_EQ "p.payload_from)"
		" SELECT p.payload FROM p WHERE p.payload IS NOT NULL");
	int			entered[SF_EVENT_TYPE_COUNT];
	int			nentered = sf_event_type_collect(SF_MEANS_ENTERED, entered);
	Jsonb	   *payload = NULL;

	sf_store_read(&plan, read_payload, &payload, SF_INT8(execution_no), SF_INT4(state),
				  sf_query_arg(INT4ARRAYOID, sf_int_array_datum(iterations, niterations), false),
				  sf_query_int2s(entered, nentered));
	return payload;
}

/* A visitor of events, and a context for one event */
typedef struct EventVisit
{
	SfEventVisitor visitor;
	void	   *arg;
	MemoryContext context;
} EventVisit;

/* Have an event visited; what its payload_from names is a column after its own. */
static void
visit_event(HeapTuple tuple, TupleDesc desc, void *arg)
{
	EventVisit *visit = arg;
	MemoryContext old = MemoryContextSwitchTo(visit->context);
	SfEvent		event = {0};

	sf_row_read(&row_type, tuple, desc, NCOLUMNS, &event);
	if (event.payload == NULL)
		event.payload = sf_row_jsonb(tuple, desc, NCOLUMNS + 1);
	visit->visitor(&event, visit->arg);
	MemoryContextSwitchTo(old);
	MemoryContextReset(visit->context);
}

/*
 * Visit the events of an execution in order of their ids, with the snapshot of
 * the query that calls (see sf_scan_run).  With payload, an event has the one
 * that payload_from names; else none has one.  The visitor runs in a memory
 * context that is reset between calls.
 */
void
sf_event_scan(int64 execution_no, bool with_payload, SfEventVisitor visitor, void *arg)
{
#define OF_EVENT(ctype, column, type, null) "e." #column ", "
	static SfPlan with = SF_PLAN(
		"SELECT " SF_EVENT_COLUMNS(OF_EVENT) "p.payload"
		" FROM _sfflow.event e LEFT JOIN _sfflow.event p"
		" ON p.execution_no" SF_EQ "e.execution_no AND p.id" SF_EQ "e.payload_from"
		" WHERE e.execution_no" SF_EQ "$1 ORDER BY e.id");
	static SfPlan without = SF_PLAN(
		"SELECT e.execution_no, e.id, e.previous_id, e.type, e.state, e.payload_from,"
		" e.at, e.iterations, NULL::pg_catalog.jsonb, e.extra, NULL::pg_catalog.jsonb"
		" FROM _sfflow.event e WHERE e.execution_no" SF_EQ "$1 ORDER BY e.id");
	EventVisit	visit = {visitor, arg, NULL};

	visit.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow event",
										  ALLOCSET_DEFAULT_SIZES);
	sf_scan(with_payload ? &with : &without, visit_event, &visit, SF_INT8(execution_no));
	MemoryContextDelete(visit.context);
}
