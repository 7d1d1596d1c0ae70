/*
 * event.c
 *		Rows of _sfflow.event.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "asl/event_types.h"
#include "store/event.h"
#include "store/row.h"

enum
{
	COL_EXECUTION_NO = 1, COL_ID, COL_PREVIOUS_ID, COL_TYPE, COL_STATE,
	COL_PAYLOAD_FROM, COL_AT, COL_ITERATIONS, COL_PAYLOAD, COL_EXTRA,
	COL_END
};
#define EVENT_NCOLUMNS (COL_END - 1)
#define EQ " OPERATOR(pg_catalog.=) "

/* Lay an event out as the columns of its row. */
static void
form_event(const SfEvent *event, Datum *values, bool *nulls)
{
	SF_SET(EXECUTION_NO, Int64GetDatum(event->execution_no));
	SF_SET(ID, Int32GetDatum(event->id));
	SF_SET(PREVIOUS_ID, Int32GetDatum(event->previous_id));
	SF_SET(TYPE, Int16GetDatum(event->type));
	SF_SET_NULLABLE(STATE, event->state < 0, Int32GetDatum(event->state));
	SF_SET_NULLABLE(PAYLOAD_FROM, event->payload_from == 0,
					Int32GetDatum(event->payload_from));
	SF_SET(AT, TimestampTzGetDatum(event->at));
	SF_SET_NULLABLE(ITERATIONS, event->niterations == 0,
					sf_int_array_datum(event->iterations, event->niterations));
	SF_SET_NULLABLE(PAYLOAD, event->payload_from != 0 || event->payload == NULL,
					JsonbPGetDatum(event->payload));
	SF_SET_NULLABLE(EXTRA, event->extra == NULL, JsonbPGetDatum(event->extra));
}

/* Append events to histories. */
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
	table = sf_table_open("event", EVENT_NCOLUMNS);
	scratch = AllocSetContextCreate(CurrentMemoryContext, "sfflow event rows",
									ALLOCSET_DEFAULT_SIZES);
	values = palloc(sizeof(Datum) * EVENT_NCOLUMNS * Min(total, SF_TABLE_MAX_ROWS));
	nulls = palloc(sizeof(bool) * EVENT_NCOLUMNS * Min(total, SF_TABLE_MAX_ROWS));
	for (int begin = 0; begin < total; begin += SF_TABLE_MAX_ROWS)
	{
		int			n = Min(total - begin, SF_TABLE_MAX_ROWS);

		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(scratch);
		for (int i = 0; i < n; i++)
			form_event(list_nth(events, begin + i),
					   values + i * EVENT_NCOLUMNS, nulls + i * EVENT_NCOLUMNS);
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
		" WHERE e.execution_no" EQ "$1 AND e.id" EQ "$2",
		2, INT8OID, INT4OID);
	Datum		args[2] = {Int64GetDatum(execution_no), Int32GetDatum(id)};
	int			previous = 0;

	sf_store_query(&plan, args, NULL, 1, sf_row_read_int, &previous);
	return previous;
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
		"  WHERE e.execution_no" EQ "$1 AND e.state" EQ "$2"
		"  AND (e.payload IS NOT NULL OR e.payload_from IS NOT NULL)"
		"  AND e.type" EQ "ANY ($4)"
		"  AND COALESCE(e.iterations, '{}')" EQ "$3"
		"  ORDER BY e.id DESC LIMIT 1)"
		" UNION ALL"
		" SELECT e.id, e.payload_from, e.payload FROM p, _sfflow.event e"
		"  WHERE e.execution_no" EQ "$1 AND e.id" EQ "p.payload_from)"
		" SELECT p.payload FROM p WHERE p.payload IS NOT NULL",
		4, INT8OID, INT4OID, INT4ARRAYOID, INT4ARRAYOID);
	int			entered[SF_EVENT_TYPE_COUNT];
	int			nentered = sf_event_type_collect(SF_MEANS_ENTERED, entered);
	Datum		args[4] = {Int64GetDatum(execution_no), Int32GetDatum(state),
		sf_int_array_datum(iterations, niterations),
	sf_int_array_datum(entered, nentered)};
	Jsonb	   *payload = NULL;

	sf_store_query(&plan, args, NULL, 1, read_payload, &payload);
	return payload;
}
