/*
 * metric.c
 *		Increments of the counters: written by slices, read until they are folded.
 *
 * The counts of an increment, as stored: a byte for the version of the form; then
 * observations.  Each is two varints: kind + 8 × state, and a number.  RETRIED has
 * the name of the error after it: a varint for its length, and the bytes.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "base/compat.h"
#include "base/encoding.h"
#include "store/metric.h"
#include "store/row.h"

#define FORM		1
#define KINDS		8

/* Columns of _sfflow.metric_increment; see sql/parts/14-metrics.sql. */
#define SF_METRIC_INCREMENT_COLUMNS(X) \
	X(int64, xid, INT8, NOT_NULL) \
	X(TimestampTz, at, TIMESTAMPTZ, NOT_NULL) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(int, version, INT4, NOT_NULL) \
	X(struct varlena *, counts, BYTES, NOT_NULL)

SF_COLUMN_NUMBERS(SF_METRIC_INCREMENT_COLUMNS);
#define NCOLUMNS	(COL_end - 1)

/* A row of it */
typedef struct Increment
{
	SF_METRIC_INCREMENT_COLUMNS(SF_FIELD)
} Increment;

#define ROW Increment
SF_ROW_TYPE(row_type, SF_METRIC_INCREMENT_COLUMNS, metric_increment, 0);

static const SfIndex by_xid = {"metric_increment", "metric_increment_xid"};

/* Increments that this backend has written since it folded last */
static int	written = 0;

/* --- what a slice counts --- */

/* Have room for that many more bytes; returns where they begin. */
static uint8 *
make_room(SfTally *tally, int bytes)
{
	if (tally->length + bytes > tally->size)
	{
		tally->size = Max(2 * tally->size, tally->length + bytes + 64);
		tally->bytes = tally->bytes == NULL ? palloc(tally->size) :
			repalloc(tally->bytes, tally->size);
	}
	return tally->bytes + tally->length;
}

/* Append an observation; of RETRIED with the name of the error. */
static void
observe(SfTally *tally, SfMetricKind kind, int state, int64 number, const char *error)
{
	int			length = pg_mbcliplen(error, strlen(error), SF_METRIC_ERROR_SIZE - 1);
	uint8	   *at = make_room(tally, 3 * SF_VARINT_MAX + length);

	at = sf_varint_write(at, kind + KINDS * (uint64) state);
	at = sf_varint_write(at, (uint64) Max(number, 0));
	if (kind == SF_METRIC_RETRIED)
	{
		at = sf_varint_write(at, length);
		memcpy(at, error, length);
		at += length;
	}
	tally->length = at - tally->bytes;
}

/* Count the end of an execution. */
void
sf_tally_end(SfTally *tally, int status, int64 us)
{
	observe(tally, SF_METRIC_ENDED, status, us, "");
}

/* Count a task of a state: its duration, -1 when it has failed. */
void
sf_tally_task(SfTally *tally, int state, int64 us)
{
	observe(tally, us < 0 ? SF_METRIC_TASK_FAILED : SF_METRIC_TASK, state, us, "");
}

/* Count the retry of a state because of an error. */
void
sf_tally_retry(SfTally *tally, int state, const char *error)
{
	observe(tally, SF_METRIC_RETRIED, state, 1, error == NULL ? "" : error);
}

/* --- writing --- */

/* Tell whether an execution has counted something. */
static bool
has_counted(const SfTally *tally)
{
	return tally->started != 0 || tally->redriven != 0 || tally->transitions != 0 ||
		tally->throttled != 0 || tally->length != 0;
}

/* Empty a tally; its memory stays. */
static void
empty(SfTally *tally)
{
	tally->started = tally->redriven = tally->transitions = tally->throttled = 0;
	tally->length = 0;
}

/* Add a tally to another one of the same version, and empty it. */
static void
merge(SfTally *into, SfTally *tally)
{
	into->started += tally->started;
	into->redriven += tally->redriven;
	into->transitions += tally->transitions;
	into->throttled += tally->throttled;
	if (tally->length > 0)
		memcpy(make_room(into, tally->length), tally->bytes, tally->length);
	into->length += tally->length;
	empty(tally);
}

/* Lay a tally out as it is stored. */
static struct varlena *
form_counts(SfTally *tally)
{
	struct varlena *counts = palloc(VARHDRSZ + 1 + 2 * KINDS * SF_VARINT_MAX + tally->length);
	uint8	   *at = (uint8 *) VARDATA(counts);
	const int	numbers[] = {
		[SF_METRIC_STARTED] = tally->started,
		[SF_METRIC_REDRIVEN] = tally->redriven,
		[SF_METRIC_TRANSITIONS] = tally->transitions,
		[SF_METRIC_THROTTLED] = tally->throttled,
	};

	*at++ = FORM;
	for (size_t kind = 0; kind < lengthof(numbers); kind++)
	{
		if (numbers[kind] == 0)
			continue;
		at = sf_varint_write(at, kind);
		at = sf_varint_write(at, numbers[kind]);
	}
	if (tally->length > 0)
		memcpy(at, tally->bytes, tally->length);
	SET_VARSIZE(counts, at + tally->length - (uint8 *) counts);
	return counts;
}

/* Insert the row of a state machine. */
static void
insert(SfTable *table, SfTally *tally, TimestampTz at)
{
	const Increment row = {
		.xid = (int64) U64FromFullTransactionId(GetTopFullTransactionId()),
		.at = at,
		.machine_no = tally->machine_no,
		.version = tally->version,
		.counts = form_counts(tally),
	};
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS];

	sf_row_form(&row_type, &row, values, nulls);
	sf_table_insert(table, values, nulls);
	written++;
}

/* Write what executions have counted, a List of SfTally, as one row per version. */
void
sf_metric_write(List *tallies, TimestampTz at)
{
	SfTable    *table = NULL;
	ListCell   *lc;
	ListCell   *other;

	foreach(lc, tallies)
	{
		SfTally    *tally = lfirst(lc);

		if (!has_counted(tally))
			continue;
		for_each_from(other, tallies, foreach_current_index(lc) + 1)
		{
			SfTally    *more = lfirst(other);

			if (more->machine_no == tally->machine_no && more->version == tally->version)
				merge(tally, more);
		}
		if (table == NULL)
			table = sf_table_open("metric_increment", NCOLUMNS);
		insert(table, tally, at);
		empty(tally);
	}
	if (table == NULL)
		return;
	sf_table_close(table);
	CommandCounterIncrement();
}

/* How many increments this backend has written since it folded last. */
int
sf_metric_written(void)
{
	return written;
}

/* Forget them: what is there will be folded. */
void
sf_metric_forget_written(void)
{
	written = 0;
}

/* --- reading --- */

/* Read one observation; false: there is no more, or it is damaged. */
static bool
read_observation(const uint8 **at, const uint8 *end, SfMetric *metric)
{
	uint64		kind;
	uint64		number;
	uint64		length;

	if (!sf_varint_read(at, end, &kind) || !sf_varint_read(at, end, &number))
		return false;
	metric->kind = (SfMetricKind) (kind % KINDS);
	metric->state = (int) (kind / KINDS);
	metric->number = (int64) number;
	if (metric->kind != SF_METRIC_RETRIED)
		return true;
	if (!sf_varint_read(at, end, &length) || length >= SF_METRIC_ERROR_SIZE ||
		length > (uint64) (end - *at))
		return false;
	memset(metric->error, 0, sizeof(metric->error));
	memcpy(metric->error, *at, length);
	*at += length;
	/* a dump may have come into a database of another encoding */
	if (!pg_verifymbstr(metric->error, (int) length, true))
		strncpy(metric->error, "(other)", sizeof(metric->error));
	return true;
}

/* A visit of increments */
typedef struct Visit
{
	SfMetricVisitor visitor;	/* may be NULL */
	void	   *arg;
	SfIncrements *increments;	/* may be NULL */
} Visit;

/* Visit the observations of a row. */
static void
visit_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Visit	   *visit = arg;
	Increment	row;
	SfMetric	metric;
	const struct varlena *counts;
	const uint8 *at,
			   *end;

	sf_row_read(&row_type, tuple, desc, NCOLUMNS, &row);
	metric = (SfMetric) {.machine_no = row.machine_no,.version = row.version,.at = row.at};
	counts = PG_DETOAST_DATUM_PACKED(PointerGetDatum(row.counts));
	at = (const uint8 *) VARDATA_ANY(counts);
	end = at + VARSIZE_ANY_EXHDR(counts);
	if (visit->increments != NULL)
	{
		ItemPointer tid = palloc(sizeof(ItemPointerData));

		*tid = tuple->t_self;
		visit->increments->tids = lappend(visit->increments->tids, tid);
	}
	if (visit->visitor == NULL || at == end || *at++ != FORM)
		return;
	while (read_observation(&at, end, &metric))
		visit->visitor(&metric, visit->arg);
}

/* Since when rows may not have been folded */
typedef struct Horizon
{
	int64		from;			/* first of the transactions that began after the last fold */
	int64	   *open;			/* those that were in progress then */
	int			nopen;
} Horizon;

/* Read it. */
static void
read_horizon(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Horizon    *horizon = arg;
	bool		isnull;
	ArrayType  *open = DatumGetArrayTypeP(heap_getattr(tuple, 2, desc, &isnull));

	horizon->from = sf_row_number(tuple, desc, 1, 0);
	horizon->nopen = ArrayGetNItems(ARR_NDIM(open), ARR_DIMS(open));
	horizon->open = palloc(sizeof(int64) * (horizon->nopen + 1));
	memcpy(horizon->open, ARR_DATA_PTR(open), sizeof(int64) * horizon->nopen);
}

/*
 * Find the transactions whose increments may not have been folded, as far as the
 * active snapshot knows.  Numbers of another cluster, or of the database that this
 * one was copied from, tell nothing: then all.
 */
static Horizon
find_horizon(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT f.from_xid, f.open_xids FROM _sfflow.metric_fold f"
		" WHERE f.system_identifier" SF_EQ "$1 AND f.database_oid" SF_EQ "$2");
	Horizon		horizon = {PG_INT64_MIN, NULL, 0};

	sf_scan(&plan, read_horizon, &horizon, SF_INT8((int64) GetSystemIdentifier()),
			sf_query_arg(OIDOID, ObjectIdGetDatum(MyDatabaseId), false));
	return horizon;
}

/*
 * Visit the increments that the active snapshot shows, at least as many as limit says
 * if there are so many.  increments (NULL: not wanted) gets their places.  By the
 * horizon the scan leaves out what was folded: while an old snapshot is in use, rows
 * that are gone stay in the table and in its index.
 */
void
sf_metric_visit(SfMetricVisitor visitor, void *arg, int limit, SfIncrements *increments)
{
	Visit		visit = {visitor, arg, increments};
	Horizon		horizon = find_horizon();
	int			left = limit;

	for (int i = 0; i < horizon.nopen && left > 0; i++)
		left -= sf_rows_scan(&by_xid, false, horizon.open[i], left, visit_row, &visit);
	if (left > 0)
		left -= sf_rows_scan(&by_xid, true, horizon.from, left, visit_row, &visit);
	if (increments != NULL)
		increments->complete = left > 0;
}

/* Delete increments, which were added to the counters. */
void
sf_metric_delete(const SfIncrements *increments)
{
	SfTable    *table = sf_table_open("metric_increment", NCOLUMNS);
	ListCell   *lc;

	foreach(lc, increments->tids)
		sf_table_delete(table, lfirst(lc));
	sf_table_close(table);
	CommandCounterIncrement();
}

/* Is there an increment that was not folded? */
bool
sf_metric_is_there(void)
{
	SfIncrements increments = {NIL, false};

	sf_metric_visit(NULL, NULL, 1, &increments);
	return increments.tids != NIL;
}
