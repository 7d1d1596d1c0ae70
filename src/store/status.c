/*
 * status.c
 *		Read what the status views derive from.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "store/access.h"
#include "store/privilege.h"
#include "store/status.h"

#define EQUALS " OPERATOR(pg_catalog.=) "

/* Rows that are fetched at a time */
#define BATCH 1000

static SfStatement read_execution = {
	.sql =
	"SELECT e.machine_no, e.version, m.name, m.owner, e.status, e.error, e.cause"
	" FROM _sfflow.execution e"
	" JOIN _sfflow.state_machine m ON m.machine_no" EQUALS "e.machine_no"
	" WHERE e.execution_no" EQUALS "$1",
	.nargs = 1, .types = {INT8OID}
};

static SfStatement read_branches = {
	.sql =
	"SELECT branch_no, parent_no, scope, state, phase, failing, uncatchable, pending,"
	" due_at, entered_at, started_at, iterations, error, cause"
	" FROM _sfflow.branch"
	" WHERE execution_no" EQUALS "$1 AND branch_no OPERATOR(pg_catalog.>=) 0",
	.nargs = 1, .types = {INT8OID}
};

static SfStatement read_events = {
	.sql =
	"SELECT id, previous_id, type, state, payload_from, at, iterations, extra"
	" FROM _sfflow.event WHERE execution_no" EQUALS "$1 ORDER BY id",
	.nargs = 1, .types = {INT8OID}
};

static SfStatement read_events_with_payload = {
	.sql =
	"SELECT e.id, e.previous_id, e.type, e.state, e.payload_from, e.at,"
	" e.iterations, e.extra, coalesce(e.payload, p.payload)"
	" FROM _sfflow.event e LEFT JOIN _sfflow.event p"
	" ON p.execution_no" EQUALS "e.execution_no AND p.id" EQUALS "e.payload_from"
	" WHERE e.execution_no" EQUALS "$1 ORDER BY e.id",
	.nargs = 1, .types = {INT8OID}
};

/* One row of a result, read column by column */
typedef struct Row
{
	HeapTuple	tuple;
	TupleDesc	desc;
	int			column;			/* the one read last */
	bool		isnull;
} Row;

/* Take the next column; 0 when it is null. */
static Datum
next_column(Row *row)
{
	row->column++;
	return SPI_getbinval(row->tuple, row->desc, row->column, &row->isnull);
}

/* Take the next column, an integer, or what stands for null. */
static int
next_int(Row *row, int if_null)
{
	Datum		value = next_column(row);

	return row->isnull ? if_null : DatumGetInt32(value);
}

/* Take the next column, a time, or what stands for null. */
static TimestampTz
next_time(Row *row, TimestampTz if_null)
{
	Datum		value = next_column(row);

	return row->isnull ? if_null : DatumGetTimestampTz(value);
}

/* Take the next column, a text; NULL when it is null. */
static char *
next_text(Row *row)
{
	Datum		value = next_column(row);

	return row->isnull ? NULL : TextDatumGetCString(value);
}

/* Take the next column, a document; NULL when it is null. */
static Jsonb *
next_jsonb(Row *row)
{
	Datum		value = next_column(row);

	return row->isnull ? NULL : DatumGetJsonbPCopy(value);
}

/* Take the next column, an array of integers without nulls. */
static int *
next_ints(Row *row, int *n)
{
	Datum		value = next_column(row);
	ArrayType  *array;
	int		   *copy;

	*n = 0;
	if (row->isnull)
		return NULL;
	array = DatumGetArrayTypeP(value);
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	copy = palloc(sizeof(int) * Max(*n, 1));
	memcpy(copy, ARR_DATA_PTR(array), sizeof(int) * *n);
	return copy;
}

/* Read an execution that the current user may see. */
bool
sf_status_execution(int64 execution_no, SfStatusExecution *out)
{
	MemoryContext caller = CurrentMemoryContext;
	SfAccess	access;
	Datum		value = Int64GetDatum(execution_no);
	bool		found;

	sf_access_enter(&access);
	found = sf_access_execute(&read_execution, &value, NULL, true) > 0;
	if (found)
	{
		MemoryContext old = MemoryContextSwitchTo(caller);
		Row			row = {SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 0, false};

		out->execution_no = execution_no;
		out->machine_no = next_int(&row, 0);
		out->version = next_int(&row, 0);
		out->machine = next_text(&row);
		out->owner = DatumGetObjectId(next_column(&row));
		out->status = (SfStatus) DatumGetInt16(next_column(&row));
		out->error = next_text(&row);
		out->cause = next_text(&row);
		MemoryContextSwitchTo(old);
	}
	sf_access_leave(&access);
	return found &&
		sf_privilege_check(out->machine, out->owner, SF_PRIVILEGE_READ);
}

/* Make a branch of a row. */
static SfStatusBranch *
branch_from_row(Row *row)
{
	SfStatusBranch *branch = palloc0(sizeof(SfStatusBranch));

	branch->branch_no = DatumGetInt64(next_column(row));
	branch->parent_no = DatumGetInt64(next_column(row));
	if (row->isnull)
		branch->parent_no = -1;
	branch->scope = next_int(row, 0);
	branch->state = next_int(row, -1);
	branch->phase = (SfPhase) DatumGetInt16(next_column(row));
	branch->failing = DatumGetBool(next_column(row));
	branch->uncatchable = DatumGetBool(next_column(row));
	branch->pending = next_int(row, 0);
	branch->due_at = next_time(row, DT_NOEND);
	branch->entered_at = next_time(row, DT_NOBEGIN);
	branch->started_at = next_time(row, DT_NOBEGIN);
	branch->iterations = next_ints(row, &branch->niterations);
	branch->error = next_text(row);
	branch->cause = next_text(row);
	return branch;
}

/* Read all branches of an execution, but the deadline. */
List *
sf_status_branches(int64 execution_no)
{
	MemoryContext caller = CurrentMemoryContext;
	List	   *branches = NIL;
	SfAccess	access;
	Datum		value = Int64GetDatum(execution_no);
	uint64		n;
	uint64		i;

	sf_access_enter(&access);
	n = sf_access_execute(&read_branches, &value, NULL, true);
	for (i = 0; i < n; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(caller);
		Row			row = {SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 0, false};

		branches = lappend(branches, branch_from_row(&row));
		MemoryContextSwitchTo(old);
	}
	sf_access_leave(&access);
	return branches;
}

/* Make an event of a row. */
static void
event_from_row(Row *row, bool with_payload, SfStatusEvent *event)
{
	event->id = next_int(row, 0);
	event->previous_id = next_int(row, 0);
	event->type = DatumGetInt16(next_column(row));
	event->state = next_int(row, -1);
	event->payload_event = next_int(row, event->id);
	event->at = next_time(row, 0);
	event->iterations = next_ints(row, &event->niterations);
	event->extra = next_jsonb(row);
	event->payload = with_payload ? next_jsonb(row) : NULL;
}

/* Visit the events of an execution in order of their ids. */
void
sf_status_events(int64 execution_no, bool with_payload,
				 SfStatusEventVisitor visitor, void *arg)
{
	SfAccess	access;
	Datum		value = Int64GetDatum(execution_no);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "sfflow event",
												  ALLOCSET_DEFAULT_SIZES);
	Portal		portal;

	sf_access_enter(&access);
	portal = sf_access_open(with_payload ? &read_events_with_payload : &read_events,
							&value, NULL);
	for (;;)
	{
		uint64		i;

		SPI_cursor_fetch(portal, true, BATCH);
		if (SPI_processed == 0)
			break;
		for (i = 0; i < SPI_processed; i++)
		{
			MemoryContext old = MemoryContextSwitchTo(context);
			Row			row = {SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 0, false};
			SfStatusEvent event;

			CHECK_FOR_INTERRUPTS();
			event_from_row(&row, with_payload, &event);
			visitor(&event, arg);
			MemoryContextSwitchTo(old);
			MemoryContextReset(context);
		}
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
	sf_access_leave(&access);
	MemoryContextDelete(context);
}
