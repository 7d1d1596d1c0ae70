/*
 * metric.c
 *		Read the increments that were not folded yet, and add them up.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "base/value/encoding.h"
#include "base/version/compat.h"
#include "feature/metric/histogram.h"
#include "feature/metric/metric.h"
#include "store/branch/branch.h"
#include "store/state_machine/machine.h"
#include "store/state_machine/program_cache.h"

SF_COLUMN_NUMBERS(SF_METRIC_INCREMENT_COLUMNS);
#define NCOLUMNS	(COL_end - 1)

#define ROW SfIncrement
SF_ROW_TYPE(row_type, SF_METRIC_INCREMENT_COLUMNS, metric_increment, 0);

static const SfIndex by_xid = {"metric_increment", "metric_increment_xid"};

/* Runs of a job whose durations are kept */
#define RECENT	30

/* One observation, or a number of them, read from an increment */
typedef struct Observation
{
	int			machine_no;
	int			version;
	TimestampTz at;
	SfMetricKind kind;
	int			state;			/* ENDED: the status */
	int64		number;			/* microseconds, or how many */
	char		error[SF_METRIC_ERROR_SIZE];	/* RETRIED */
} Observation;

typedef void (*Visitor) (const Observation *metric, void *arg);

/* --- increments --- */

/* Read one observation; false: there is no more, or it is damaged. */
static bool
read_observation(const uint8 **at, const uint8 *end, Observation *metric)
{
	uint64		kind;
	uint64		number;
	uint64		length;

	if (!sf_varint_read(at, end, &kind) || !sf_varint_read(at, end, &number))
		return false;
	metric->kind = (SfMetricKind) (kind % SF_METRIC_KINDS);
	metric->state = (int) (kind / SF_METRIC_KINDS);
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
	Visitor visitor;			/* may be NULL */
	void	   *arg;
	SfIncrements *increments;	/* may be NULL */
} Visit;

/* Visit the observations of a row. */
static void
visit_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Visit	   *visit = arg;
	SfIncrement	row;
	Observation	metric;
	const struct varlena *counts;
	const uint8 *at,
			   *end;

	sf_row_read(&row_type, tuple, desc, NCOLUMNS, &row);
	metric = (Observation) {.machine_no = row.machine_no,.version = row.version,.at = row.at};
	counts = PG_DETOAST_DATUM_PACKED(PointerGetDatum(row.counts));
	at = (const uint8 *) VARDATA_ANY(counts);
	end = at + VARSIZE_ANY_EXHDR(counts);
	if (visit->increments != NULL)
	{
		ItemPointer tid = palloc(sizeof(ItemPointerData));

		*tid = tuple->t_self;
		visit->increments->tids = lappend(visit->increments->tids, tid);
	}
	if (visit->visitor == NULL || at == end || *at++ != SF_METRIC_FORM)
		return;
	while (read_observation(&at, end, &metric))
		visit->visitor(&metric, visit->arg);
}

/* Since when rows may not have been folded */
typedef struct Horizon
{
	int64		from;			/* first of the transactions that began after the last fold */
	int64	   *in_progress;	/* those of before that were in progress */
	int			n_in_progress;
} Horizon;

/* Read it. */
static void
read_horizon(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_from_xid = 1, COL_open_xids};
	Horizon    *horizon = arg;
	bool		isnull;
	ArrayType  *in_progress = DatumGetArrayTypeP(heap_getattr(tuple, COL_open_xids, desc, &isnull));

	horizon->from = sf_row_number(tuple, desc, COL_from_xid, 0);
	horizon->n_in_progress = ArrayGetNItems(ARR_NDIM(in_progress), ARR_DIMS(in_progress));
	horizon->in_progress = palloc(sizeof(int64) * (horizon->n_in_progress + 1));
	memcpy(horizon->in_progress, ARR_DATA_PTR(in_progress), sizeof(int64) * horizon->n_in_progress);
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
		" WHERE f.system_identifier = $1 AND f.database_oid = $2");
	Horizon		horizon = {PG_INT64_MIN, NULL, 0};

	sf_snapshot_read(&plan, read_horizon, &horizon, SF_INT8((int64) GetSystemIdentifier()),
					 sf_query_arg(OIDOID, ObjectIdGetDatum(MyDatabaseId), false));
	return horizon;
}

/*
 * Visit the increments that the active snapshot shows, at least as many as max_rows says
 * if there are so many.  increments (NULL: not wanted) gets their indexes.  By the
 * horizon the scan leaves out what was folded: while an old snapshot is in use, rows
 * that are gone stay in the table and in its index.
 */
static void
visit_increments(Visitor visitor, void *arg, int max_rows, SfIncrements *increments)
{
	Visit		visit = {visitor, arg, increments};
	Horizon		horizon = find_horizon();
	int			left = max_rows;

	for (int i = 0; i < horizon.n_in_progress && left > 0; i++)
		left -= sf_rows_scan(&by_xid, false, horizon.in_progress[i], left, visit_row, &visit);
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

	visit_increments(NULL, NULL, 1, &increments);
	return increments.tids != NIL;
}

/* --- sums --- */

/* Make a table of sums. */
static HTAB *
make_table(const char *name, Size key, Size entry)
{
	HASHCTL		control = {.keysize = key,.entrysize = entry,.hcxt = CurrentMemoryContext};

	return hash_create(name, 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Find the sums with a key, or make them: zero behind the key. */
static void *
find_sums(HTAB *table, const void *key, Size keysize, Size size)
{
	bool		found;
	char	   *sums = hash_search(table, key, HASH_ENTER, &found);

	if (!found)
		memset(sums + keysize, 0, size - keysize);
	return sums;
}

/* Append a duration. */
static void
add_duration(SfDurations *times, int64 us)
{
	if (times->n == times->size)
	{
		times->size = Max(16, 2 * times->size);
		times->us = times->us == NULL ? palloc_extended(sizeof(int64) * times->size, MCXT_ALLOC_HUGE) :
			repalloc_huge(times->us, sizeof(int64) * times->size);
	}
	times->us[times->n++] = us;
	if (pg_add_s64_overflow(times->sum, us, &times->sum))
		times->sum = PG_INT64_MAX;
}

/* The begin of the hour or the day that a time is in. */
static TimestampTz
truncate_to(TimestampTz at, int64 unit)
{
	TimestampTz rest = at % unit;

	return at - (rest < 0 ? rest + unit : rest);
}

/* Count the end of an execution. */
static void
count_end(SfMachineSums *sums, SfStatus status, int64 us)
{
	switch (status)
	{
		case SF_STATUS_SUCCEEDED:
			sums->succeeded++;
			break;
		case SF_STATUS_FAILED:
			sums->failed++;
			break;
		case SF_STATUS_ABORTED:
			sums->aborted++;
			break;
		case SF_STATUS_TIMED_OUT:
			sums->timed_out++;
			break;
		case SF_STATUS_RUNNING:
			return;
	}
	add_duration(&sums->times, us);
}

/* Find the sums of the machine of an observation. */
static SfMachineSums *
machine_sums(const SfMetricSums *sums, const Observation *metric)
{
	SfMachineSums key = {.key = {truncate_to(metric->at, USECS_PER_HOUR), metric->machine_no}};

	return find_sums(sums->machines, &key.key, sizeof(key.key), sizeof(key));
}

/* Count a task. */
static void
count_task(const SfMetricSums *sums, const Observation *metric)
{
	SfJobSums	key = {.key = {truncate_to(metric->at, USECS_PER_DAY), metric->machine_no,
	metric->version, metric->state}};
	SfJobSums  *job = find_sums(sums->jobs, &key.key, sizeof(key.key), sizeof(key));

	if (metric->kind == SF_METRIC_TASK_FAILED)
	{
		job->failures++;
		return;
	}
	add_duration(&job->times, metric->number);
	job->last_at = Max(job->last_at, metric->at);
}

/* Count a retry. */
static void
count_retry(const SfMetricSums *sums, const Observation *metric)
{
	SfRetrySums key;
	SfRetrySums *retry;

	memset(&key, 0, sizeof(key));
	key.key.machine_no = metric->machine_no;
	key.key.version = metric->version;
	key.key.state = metric->state;
	memcpy(key.key.error, metric->error, sizeof(key.key.error));
	retry = find_sums(sums->retries, &key.key, sizeof(key.key), sizeof(key));
	retry->retries += metric->number;
	machine_sums(sums, metric)->retries += metric->number;
}

/* Add an observation to the sums. */
static void
add_metric(const Observation *metric, void *arg)
{
	const SfMetricSums *sums = arg;
	SfMachineSums *machine;

	switch (metric->kind)
	{
		case SF_METRIC_STARTED:
			machine = machine_sums(sums, metric);
			machine->started += metric->number;
			machine->dropped |= metric->version == SF_NO_VERSION;
			break;
		case SF_METRIC_REDRIVEN:
			machine_sums(sums, metric)->redriven += metric->number;
			break;
		case SF_METRIC_TRANSITIONS:
			machine_sums(sums, metric)->transitions += metric->number;
			break;
		case SF_METRIC_THROTTLED:
			machine_sums(sums, metric)->throttled += metric->number;
			break;
		case SF_METRIC_ENDED:
			count_end(machine_sums(sums, metric), metric->state, metric->number);
			break;
		case SF_METRIC_TASK:
		case SF_METRIC_TASK_FAILED:
			count_task(sums, metric);
			break;
		case SF_METRIC_RETRIED:
			count_retry(sums, metric);
			break;
	}
}

/* Add up the increments that the active snapshot shows; max_rows and increments as in visit_increments(). */
void
sf_metric_sum(SfMetricSums *sums, int max_rows, SfIncrements *increments)
{
	sums->machines = make_table("sfflow sums of machines", sizeof(((SfMachineSums *) 0)->key),
								sizeof(SfMachineSums));
	sums->jobs = make_table("sfflow sums of jobs", sizeof(((SfJobSums *) 0)->key),
							sizeof(SfJobSums));
	sums->retries = make_table("sfflow sums of retries", sizeof(((SfRetrySums *) 0)->key),
							   sizeof(SfRetrySums));
	visit_increments(add_metric, sums, max_rows, increments);
}

/* The histogram of durations, as it is stored. */
bytea *
sf_metric_histogram(const SfDurations *times)
{
	SfHistogram histogram = {0};

	for (int i = 0; i < times->n; i++)
		sf_histogram_count(&histogram, times->us[i]);
	return sf_histogram_store(&histogram);
}

/* The last durations, the latest first: a bigint[]. */
Datum
sf_metric_recent(const SfDurations *times)
{
	Datum		recent[RECENT];
	int			n = Min(times->n, RECENT);

	for (int i = 0; i < n; i++)
		recent[i] = Int64GetDatum(times->us[times->n - 1 - i]);
	return PointerGetDatum(construct_array(recent, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/* The name of a state; NULL if its machine was dropped, or does not compile any more. */
const char *
sf_metric_state_name(int machine_no, int version, int state)
{
	const SfProgram *program;

	if (sf_machine_identity(machine_no) == NULL)
		return NULL;
	program = sf_program_cache_try(machine_no, version);
	return program != NULL && sf_program_has_state(program, state) ? program->states[state].name : NULL;
}
