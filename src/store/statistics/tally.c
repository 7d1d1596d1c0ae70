/*
 * tally.c
 *		What slices count of state machines, and the increments of counters that they write.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "base/value/encoding.h"
#include "base/version/compat.h"
#include "store/state_machine/machine.h"
#include "store/statistics/tally.h"

SF_COLUMN_NUMBERS(SF_METRIC_INCREMENT_COLUMNS);
#define NCOLUMNS	(COL_end - 1)

#define ROW SfIncrement
SF_ROW_TYPE(row_type, SF_METRIC_INCREMENT_COLUMNS, metric_increment, 0);

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

	at = sf_varint_write(at, kind + SF_METRIC_KINDS * (uint64) state);
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
sf_tally_end(SfTally *tally, SfStatus status, int64 us)
{
	observe(tally, SF_METRIC_ENDED, status, us, "");
}

/* Count a task of a state that has succeeded, with its duration. */
void
sf_tally_task(SfTally *tally, int state, int64 us)
{
	observe(tally, SF_METRIC_TASK, state, us, "");
}

/* Count a task of a state that has failed. */
void
sf_tally_failed_task(SfTally *tally, int state)
{
	observe(tally, SF_METRIC_TASK_FAILED, state, 0, "");
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
	struct varlena *counts = palloc(VARHDRSZ + 1 + 2 * SF_METRIC_KINDS * SF_VARINT_MAX + tally->length);
	uint8	   *at = (uint8 *) VARDATA(counts);
	const int	numbers[] = {
		[SF_METRIC_STARTED] = tally->started,
		[SF_METRIC_REDRIVEN] = tally->redriven,
		[SF_METRIC_TRANSITIONS] = tally->transitions,
		[SF_METRIC_THROTTLED] = tally->throttled,
	};

	*at++ = SF_METRIC_FORM;
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
	const SfIncrement row = {
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
sf_tally_write(List *tallies, TimestampTz at)
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

/* Write that a machine is dropped, as a row of no version that counts no start. */
void
sf_tally_write_dropped(int machine_no, TimestampTz at)
{
	SfTally		tally = {.machine_no = machine_no,.version = SF_NO_VERSION};
	SfTable    *table = sf_table_open("metric_increment", NCOLUMNS);

	observe(&tally, SF_METRIC_STARTED, 0, 0, "");
	insert(table, &tally, at);
	sf_table_close(table);
	CommandCounterIncrement();
}

/* How many increments this backend has written since it folded last. */
int
sf_tally_written(void)
{
	return written;
}

/* Forget them: what is there will be folded. */
void
sf_tally_forget_written(void)
{
	written = 0;
}
