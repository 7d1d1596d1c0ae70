/*
 * trace_export.c
 *		Legs that are to be exported: rows of _sfflow.trace_export, and the functions by which an exporter takes them.
 *
 * The transaction that ends a leg inserts its row.  An exporter takes rows for a time, in a transaction of its own,
 * asks the collector, and confirms or rejects them.  What it has taken and not confirmed when that time is over is
 * taken again: so nothing is lost, whichever side dies, and what is delivered twice has the same ids.  A row that
 * was rejected stays until its execution is purged.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "api/columns.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "copy/instance.h"
#include "db/row.h"
#include "feature/trace/trace.h"
#include "store/feature.h"

/* No more legs are taken in a call once it has so many spans */
#define MAX_SPANS_OF_CALL	20000

/* Characters of the reason of a rejection that are kept */
#define MAX_REASON	1000

/* A leg that waits for longer is a problem */
#define LATE_MINUTES	10

/* --- rows --- */

/* Columns of _sfflow.trace_export; see sql/parts/feature/trace.sql. */
#define SF_TRACE_EXPORT_COLUMNS(X) \
	X(int64, export_no, INT8, NOT_NULL) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(int, version, INT4, NOT_NULL) \
	X(int, redrive_count, INT4, NOT_NULL)	/* redrives before it */ \
	X(int, last_event_id, INT4, NOT_NULL) \
	X(SfStatus, leg_status, INT2, NOT_NULL) \
	X(TimestampTz, started_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, redriven_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* it is the first leg */ \
	X(TimestampTz, ended_at, TIMESTAMPTZ, NOT_NULL) \
	X(char *, trace, TEXT, NOT_NULL) \
	X(char *, error, TEXT, NULLABLE) \
	X(int, receives, INT4, NOT_NULL) \
	X(TimestampTz, lease_until, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, rejected_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(char *, reason, TEXT, NULLABLE) \
	X(SfTraceExportStatus, status, INT2, NOT_NULL)

typedef struct ExportRow
{
	SF_TRACE_EXPORT_COLUMNS(SF_FIELD)
} ExportRow;

#define ROW ExportRow
SF_ROW_TYPE(export_row, SF_TRACE_EXPORT_COLUMNS, trace_export, 1);

/* Note a leg that has ended, if its trace is sampled. */
void
sf_trace_export_insert(const SfExecution *execution)
{
	SfTraceContext context;
	ExportRow	row = {
		.execution_no = execution->execution_no,
		.version = execution->version,
		.redrive_count = execution->redrive_count,
		.last_event_id = execution->last_event_id,
		.leg_status = execution->status,
		.started_at = execution->started_at,
		.redriven_at = execution->last_redriven_at,
		.ended_at = execution->stopped_at,
		.trace = execution->trace,
		.error = execution->error,
		.lease_until = DT_NOBEGIN,
		.rejected_at = DT_NOBEGIN,
		.status = SF_TRACE_EXPORT_DUE
	};

	if (execution->trace == NULL || !sf_trace_parse_stored(execution->trace, &context) ||
		(context.flags & SF_TRACE_SAMPLED) == 0)
		return;
	row.export_no = sf_sequence_next("trace_export_no");
	sf_row_insert(&export_row, &row);
}

/* Read a row of a query for legs. */
static void
read_leg(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_export_no = 1, COL_execution_no, COL_version, COL_redrive_count, COL_last_event_id, COL_leg_status,
		COL_requested_at,
		COL_started_at, COL_redriven_at, COL_ended_at, COL_execution_id, COL_trace, COL_error, COL_has_parent,
		COL_is_item_execution, COL_machine_no, COL_last_version, COL_name, COL_owner, COL_last_status, COL_last_error,
		COL_cause};
	List	  **legs = arg;
	SfTracedLeg *leg = palloc0(sizeof(SfTracedLeg));

	leg->export_no = sf_row_number(tuple, desc, COL_export_no, 0);
	leg->execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	leg->version = (int) sf_row_number(tuple, desc, COL_version, 0);
	leg->redrive_count = (int) sf_row_number(tuple, desc, COL_redrive_count, 0);
	leg->last_event_id = (int) sf_row_number(tuple, desc, COL_last_event_id, 0);
	leg->status = (SfStatus) sf_row_number(tuple, desc, COL_leg_status, 0);
	leg->requested_at = sf_row_number(tuple, desc, COL_requested_at, 0);
	leg->started_at = sf_row_number(tuple, desc, COL_started_at, DT_NOBEGIN);
	leg->redriven_at = sf_row_number(tuple, desc, COL_redriven_at, DT_NOBEGIN);
	leg->ended_at = sf_row_number(tuple, desc, COL_ended_at, 0);
	leg->execution_id = sf_row_text(tuple, desc, COL_execution_id);
	leg->trace = sf_row_text(tuple, desc, COL_trace);
	leg->error = sf_row_text(tuple, desc, COL_error);
	leg->has_parent = sf_row_number(tuple, desc, COL_has_parent, 0) != 0;
	leg->is_item_execution = sf_row_number(tuple, desc, COL_is_item_execution, 0) != 0;
	leg->head = (SfExecutionHead) {
		.execution_no = leg->execution_no,
		.machine_no = sf_row_number(tuple, desc, COL_machine_no, 0),
		.version = (int) sf_row_number(tuple, desc, COL_last_version, 0),
		.machine = sf_row_text(tuple, desc, COL_name),
		.owner = (Oid) sf_row_number(tuple, desc, COL_owner, InvalidOid),
		.status = (SfStatus) sf_row_number(tuple, desc, COL_last_status, 0),
		.error = sf_row_text(tuple, desc, COL_last_error),
		.cause = sf_row_text(tuple, desc, COL_cause),
		.map_state = SF_NO_STATE
	};
	*legs = lappend(*legs, leg);
}

/* Lock legs that no other exporter has taken, the oldest first. */
static List *
lock_due(int max)
{
	static SfPlan plan = SF_PLAN(
		"SELECT x.export_no, x.execution_no, x.version, x.redrive_count, x.last_event_id, x.leg_status, e.requested_at,"
		" x.started_at, x.redriven_at, x.ended_at, e.execution_id, x.trace, x.error,"
		" CASE WHEN e.parent_execution_no IS NULL THEN 0 ELSE 1 END AS has_parent,"
		" CASE WHEN e.map_run_no IS NULL THEN 0 ELSE 1 END AS is_item_execution,"
		" e.machine_no, e.version AS last_version, m.name, m.owner, e.status AS last_status,"
		" e.error AS last_error, e.cause"
		" FROM _sfflow.waiting_trace_export x JOIN _sfflow.execution e ON e.execution_no = x.execution_no"
		" JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no"
		" WHERE x.status = $2 OR x.lease_until <= pg_catalog.clock_timestamp()"
		" ORDER BY x.export_no LIMIT $1 FOR UPDATE OF x SKIP LOCKED");

	return sf_db_list(&plan, read_leg, SF_ARGS(SF_INT4(max), SF_INT2(SF_TRACE_EXPORT_DUE)));
}

/* Keep others from taking legs, a List of int64 *, for some milliseconds, but for those that were rejected. */
static void
lease(List *numbers, int64 ms)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.trace_export AS x SET status = $3, receives = x.receives + 1,"
		" lease_until = pg_catalog.clock_timestamp() + $2 * '1 millisecond'::pg_catalog.interval"
		" WHERE x.export_no = ANY ($1) AND x.status <> $4");

	if (numbers != NIL)
		sf_db_execute(&plan, sf_query_int8s(numbers), SF_INT8(ms), SF_INT2(SF_TRACE_EXPORT_TAKEN),
					  SF_INT2(SF_TRACE_EXPORT_REJECTED));
}

/* Put legs, a List of int64 *, out of the way; returns how many there were. */
static uint64
reject(SfArg numbers, const char *reason)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.trace_export AS x SET status = $4, lease_until = NULL,"
		" rejected_at = pg_catalog.clock_timestamp(), reason = pg_catalog.left($2, $3)"
		" WHERE x.export_no = ANY ($1) AND x.status <> $4");

	return sf_db_execute(&plan, numbers, SF_TEXT(reason), SF_INT4(MAX_REASON), SF_INT2(SF_TRACE_EXPORT_REJECTED));
}

/* --- functions --- */

/* The making of the spans of a leg, which an error of its history must not keep the others from */
typedef struct Making
{
	const SfTracedLeg *leg;
	Jsonb	   *spans;
	int			count;
} Making;

/* Make the spans. */
static bool
make_spans(void *arg)
{
	Making	   *making = arg;

	making->spans = sf_leg_spans(making->leg, &making->count);
	return true;
}

/* Nothing is to be undone. */
static void
end_making(void *arg)
{
}

/*
 * Put a leg and its spans into the result; one whose spans cannot be made is rejected.  Returns how many spans it
 * has.
 */
static int
put_leg(FunctionCallInfo fcinfo, const SfTracedLeg *leg)
{
	Making		making = {.leg = leg};
	ErrorData  *error = sf_subtransaction_run(make_spans, end_making, &making);
	SfColumns	row = {0};

	if (error != NULL)
	{
		int64		number = leg->export_no;

		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED || error->sqlerrcode == ERRCODE_OUT_OF_MEMORY)
			ReThrowError(error);
		(void) reject(sf_query_int8s(list_make1(&number)), psprintf("its spans cannot be made: %s", error->message));
		return 0;
	}
	sf_columns_add(&row, Int64GetDatum(leg->export_no), false);
	sf_columns_jsonb(&row, making.spans);
	sf_columns_put(fcinfo, &row);
	return making.count;
}

/* sf_take_spans(max_executions, lease): legs with their spans, the oldest first. */
SF_SQL_FUNCTION(sfflow_sf_take_spans)
{
	int			max = sf_arg_count(fcinfo, 0, "max_executions", 1, 100);
	int64		lease_ms = PG_ARGISNULL(1) ? SECS_PER_MINUTE * 1000 : sf_arg_duration_ms(fcinfo, 1, "lease");
	List	   *legs;
	List	   *taken = NIL;
	int			nspans = 0;
	MemoryContext context;

	InitMaterializedSRF(fcinfo, 0);
	if (!sf_instance_takes_work())
	{
		sf_instance_tell(NOTICE, sf_instance_status(), "no spans are exported: the database is not driven");
		return (Datum) 0;
	}
	context = AllocSetContextCreate(CurrentMemoryContext, "sfflow spans of a leg", ALLOCSET_DEFAULT_SIZES);
	legs = lock_due(max);
	/* the history of a leg that has ended since the calling query began, which its snapshot does not have */
	PushActiveSnapshot(GetTransactionSnapshot());
	foreach_ptr(SfTracedLeg, leg, legs)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		nspans += put_leg(fcinfo, leg);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
		taken = lappend(taken, &leg->export_no);
		if (nspans >= MAX_SPANS_OF_CALL)
			break;
	}
	PopActiveSnapshot();
	lease(taken, lease_ms);
	return (Datum) 0;
}

/* An argument that is an array of numbers; NULL has none. */
static SfArg
numbers_argument(FunctionCallInfo fcinfo, int n)
{
	return sf_query_arg(INT8ARRAYOID, PG_ARGISNULL(n) ? (Datum) 0 : PG_GETARG_DATUM(n), PG_ARGISNULL(n));
}

/* sf_confirm_spans(export_nos): forget legs that were delivered; returns how many there were. */
SF_SQL_FUNCTION(sfflow_sf_confirm_spans)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.trace_export AS x WHERE x.export_no = ANY ($1)");

	PG_RETURN_INT64((int64) sf_db_execute(&plan, numbers_argument(fcinfo, 0)));
}

/*
 * sf_reject_spans(export_nos, reason): put legs out of the way that the collector refuses for ever; returns how
 * many.
 */
SF_SQL_FUNCTION(sfflow_sf_reject_spans)
{
	PG_RETURN_INT64((int64) reject(numbers_argument(fcinfo, 0), sf_arg_text_or_null(fcinfo, 1)));
}

/* --- health --- */

/* Counts of rows */
typedef struct Backlog
{
	int64		waiting;
	int64		late;
	int64		rejected;
	char	   *reason;			/* of the last rejection */
} Backlog;

/* Read the counts. */
static void
read_backlog(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_waiting = 1, COL_late, COL_rejected, COL_reason};
	Backlog    *backlog = arg;

	backlog->waiting = sf_row_number(tuple, desc, COL_waiting, 0);
	backlog->late = sf_row_number(tuple, desc, COL_late, 0);
	backlog->rejected = sf_row_number(tuple, desc, COL_rejected, 0);
	backlog->reason = sf_row_text(tuple, desc, COL_reason);
}

/* Show the legs that wait for their export, or were rejected, if there are any (SfHealthPut). */
void
sf_trace_export_health(void (*put) (void *arg, const char *item, bool ok, const char *detail), void *arg)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(CASE WHEN x.status <> $2 THEN 1 END) AS waiting,"
		" pg_catalog.count(CASE WHEN x.status <> $2"
		"  AND x.ended_at < pg_catalog.clock_timestamp() - $1 * '1 minute'::pg_catalog.interval THEN 1 END) AS late,"
		" pg_catalog.count(CASE WHEN x.status = $2 THEN 1 END) AS rejected,"
		" (SELECT r.reason FROM _sfflow.rejected_trace_export r ORDER BY r.rejected_at DESC LIMIT 1) AS reason"
		" FROM _sfflow.trace_export x");
	Backlog		backlog = {0};

	sf_db_read(&plan, read_backlog, &backlog, SF_INT4(LATE_MINUTES), SF_INT2(SF_TRACE_EXPORT_REJECTED));
	if (backlog.waiting + backlog.rejected == 0)
		return;
	put(arg, "traces", backlog.late + backlog.rejected == 0,
		psprintf(INT64_FORMAT " runs wait for the export of their spans, " INT64_FORMAT " of them for more than %d minutes; "
				 INT64_FORMAT " were rejected%s%s", backlog.waiting, backlog.late, LATE_MINUTES, backlog.rejected,
				 backlog.reason == NULL ? "" : ", the last one: ", backlog.reason == NULL ? "" : backlog.reason));
}
