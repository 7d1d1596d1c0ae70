/*
 * metric_fold.c
 *		Add increments to the tables of counters, and delete them.
 *
 * One transaction folds at a time: it has the row of _sfflow.metric_fold locked.
 * Slices only insert increments, so none waits for it.  So does the drop of a machine: the increment
 * has the fold delete the machine's counters.  An increment is in the
 * counters if and only if its row is gone, in each snapshot; so a reader adds the
 * two.  The row also says up to where all increments were folded (the horizon).
 * That only saves reading: rows that are there count, wherever they come from.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/version/compat.h"
#include "feature/metric/metric.h"
#include "quota/quota.h"
#include "store/state_machine/machine.h"

/* Increments that one transaction folds, about */
#define FOLD_SIZE	5000

/* Hours and days are kept for that long, in days */
#define KEPT_DAYS	400

#define SF_BYTEA(x)	sf_query_arg(BYTEAOID, PointerGetDatum(x), false)

/* Keep others from folding; false: another session folds now. */
static bool
lock_counters(void)
{
	static SfPlan there = SF_PLAN("SELECT 1 FROM _sfflow.metric_fold");
	static SfPlan make = SF_PLAN(
		"INSERT INTO _sfflow.metric_fold DEFAULT VALUES ON CONFLICT DO NOTHING");
	static SfPlan lock = SF_PLAN("SELECT 1 FROM _sfflow.metric_fold FOR UPDATE SKIP LOCKED");

	if (sf_db_number(&there, 0) == 0)
		sf_db_execute(&make);
	return sf_db_number(&lock, 0) == 1;
}

/* Forget what was folded: increments may have been loaded. */
void
sf_metric_reset_horizon(void)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.metric_fold SET system_identifier = NULL, database_oid = NULL, from_xid = NULL,"
		" open_xids = NULL");

	sf_db_execute(&plan);
}

/* --- the counters --- */

/* Parts of the queries: "x = m.x + excluded.x, " for the counters of a machine, and so on */
#define ADD(name)		#name " = m." #name " + excluded." #name ", "
#define NAME(name)		#name ", "
#define ADD_TIMES \
	" time_us = m.time_us + excluded.time_us," \
	" time_histogram = _sfflow.histogram_add(m.time_histogram, excluded.time_histogram)"
#define VALUE(name)		SF_INT8(sums->name),

/* Add the sums of a machine in an hour to its counters. */
static void
add_machine(const SfMachineSums *sums)
{
	static SfPlan total = SF_PLAN(
		"INSERT INTO _sfflow.metric_total AS m (machine_no, " SF_COUNTER_LIST(NAME) "time_us, time_histogram)"
		" VALUES ($1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
		" ON CONFLICT (machine_no) DO UPDATE SET " SF_COUNTER_LIST(ADD) ADD_TIMES);
	static SfPlan hour = SF_PLAN(
		"INSERT INTO _sfflow.metric_hour AS m (machine_no, hour, " SF_COUNTER_LIST(NAME) "time_us, time_histogram)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
		" ON CONFLICT (machine_no, hour) DO UPDATE SET " SF_COUNTER_LIST(ADD) ADD_TIMES);
	static SfPlan forget = SF_PLAN(
		"DELETE FROM _sfflow.metric_hour m WHERE m.machine_no = $1 AND m.hour < $2");
	const SfArg args[] = {
		SF_INT4(sums->key.machine_no), SF_TIME(sums->key.hour), SF_COUNTER_LIST(VALUE)
		SF_INT8(sums->times.sum), SF_BYTEA(sf_metric_histogram(&sums->times)),
	};

	sf_db_run(InvalidOid, &total, NULL, NULL, args, lengthof(args));
	sf_db_run(InvalidOid, &hour, NULL, NULL, args, lengthof(args));
	sf_db_execute(&forget, SF_INT4(sums->key.machine_no),
				  SF_TIME(sums->key.hour - KEPT_DAYS * USECS_PER_DAY));
}

/* Add the sums of a job in a day to its counters. */
static void
add_job(const SfJobSums *sums, const char *job)
{
	static SfPlan total = SF_PLAN(
		"INSERT INTO _sfflow.metric_job AS m"
		" (machine_no, job, runs, failures, time_us, time_histogram, recent_us, last_at)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
		" ON CONFLICT (machine_no, job) DO UPDATE SET"
		" runs = m.runs + excluded.runs,"
		" failures = m.failures + excluded.failures,"
		" recent_us = (excluded.recent_us || m.recent_us)[1:30],"
		" last_at = GREATEST(m.last_at, excluded.last_at)," ADD_TIMES);
	static SfPlan day = SF_PLAN(
		"INSERT INTO _sfflow.metric_job_day AS m"
		" (machine_no, day, job, runs, failures, time_us, time_histogram)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7)"
		" ON CONFLICT (machine_no, day, job) DO UPDATE SET"
		" runs = m.runs + excluded.runs,"
		" failures = m.failures + excluded.failures," ADD_TIMES);
	static SfPlan forget = SF_PLAN(
		"DELETE FROM _sfflow.metric_job_day m WHERE m.machine_no = $1 AND m.day < $2");
	bytea	   *histogram = sf_metric_histogram(&sums->times);

	sf_db_execute(&total, SF_INT4(sums->key.machine_no), SF_TEXT(job),
				  SF_INT8(sums->times.n), SF_INT8(sums->failures), SF_INT8(sums->times.sum),
				  SF_BYTEA(histogram),
				  sf_query_arg(INT8ARRAYOID, sf_metric_recent(&sums->times), false),
				  SF_TIME_OR_NULL(sums->last_at, 0));
	sf_db_execute(&day, SF_INT4(sums->key.machine_no), SF_TIME(sums->key.day), SF_TEXT(job),
				  SF_INT8(sums->times.n), SF_INT8(sums->failures), SF_INT8(sums->times.sum),
				  SF_BYTEA(histogram));
	sf_db_execute(&forget, SF_INT4(sums->key.machine_no),
				  SF_TIME(sums->key.day - KEPT_DAYS * USECS_PER_DAY));
}

/* Add retries of a state because of an error; beyond 200 names a machine, under the name "(other)". */
static void
add_retry(const SfRetrySums *sums, const char *state)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.metric_retry AS m (machine_no, state, error, retries)"
		" SELECT $1, $2, CASE WHEN known.n < 200 OR known.this THEN $3 ELSE '(other)' END, $4"
		" FROM (SELECT pg_catalog.count(*) AS n,"
		"  pg_catalog.count(*) FILTER (WHERE k.state = $2 AND k.error = $3) > 0 AS this"
		"  FROM _sfflow.metric_retry k WHERE k.machine_no = $1) known"
		" ON CONFLICT (machine_no, state, error) DO UPDATE SET"
		" retries = m.retries + excluded.retries");

	sf_db_execute(&plan, SF_INT4(sums->key.machine_no), SF_TEXT(state),
				  SF_TEXT(sums->key.error), SF_INT8(sums->retries));
}

/* Delete the counters of a machine that was dropped.  Its row is gone in each snapshot that shows the increment. */
static void
delete_dropped(int machine_no)
{
	static SfPlan plans[] = {
		SF_PLAN("DELETE FROM _sfflow.metric_total m WHERE m.machine_no = $1"),
		SF_PLAN("DELETE FROM _sfflow.metric_hour m WHERE m.machine_no = $1"),
		SF_PLAN("DELETE FROM _sfflow.metric_job m WHERE m.machine_no = $1"),
		SF_PLAN("DELETE FROM _sfflow.metric_job_day m WHERE m.machine_no = $1"),
		SF_PLAN("DELETE FROM _sfflow.metric_retry m WHERE m.machine_no = $1"),
	};

	for (size_t i = 0; i < lengthof(plans); i++)
		sf_db_execute(&plans[i], SF_INT4(machine_no));
}

/* Delete the counters of all machines of which an increment says that they were dropped. */
static void
delete_all_dropped(const SfMetricSums *sums)
{
	HASH_SEQ_STATUS scan;
	const SfMachineSums *machine;

	hash_seq_init(&scan, sums->machines);
	while ((machine = hash_seq_search(&scan)) != NULL)
		if (machine->dropped)
			delete_dropped((int) machine->key.machine_no);
}

/* Add all sums, but for those of machines that were dropped. */
static void
add_sums(const SfMetricSums *sums)
{
	HASH_SEQ_STATUS scan;
	const SfMachineSums *machine;
	const SfJobSums *job;
	const SfRetrySums *retry;
	const char *name;

	hash_seq_init(&scan, sums->machines);
	while ((machine = hash_seq_search(&scan)) != NULL)
		if (sf_machine_identity((int) machine->key.machine_no) != NULL)
			add_machine(machine);
	hash_seq_init(&scan, sums->jobs);
	while ((job = hash_seq_search(&scan)) != NULL)
	{
		name = sf_metric_state_name(job->key.machine_no, job->key.version, (int) job->key.state);
		if (name != NULL)
			add_job(job, name);
	}
	hash_seq_init(&scan, sums->retries);
	while ((retry = hash_seq_search(&scan)) != NULL)
	{
		name = sf_metric_state_name(retry->key.machine_no, retry->key.version, retry->key.state);
		if (name != NULL)
			add_retry(retry, name);
	}
}

/* --- the horizon --- */

/* A transaction's number with its epoch: the transaction is not of the future. */
static int64
widen(TransactionId xid, FullTransactionId next)
{
	uint32		epoch = EpochFromFullTransactionId(next);

	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return (int64) U64FromFullTransactionId(FullTransactionIdFromEpochAndXid(epoch, xid));
}

/*
 * Note that all increments that a snapshot shows were folded.  This transaction may
 * write more of them, so it counts as one that was in progress.
 */
static void
move_horizon(Snapshot snapshot)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.metric_fold SET system_identifier = $1, database_oid = $2,"
		" from_xid = $3, open_xids = $4");
	FullTransactionId next = ReadNextFullTransactionId();
	TransactionId own = GetTopTransactionId();
	Datum	   *in_progress = palloc(sizeof(Datum) * (snapshot->xcnt + 1));
	int			n = 0;

	for (uint32 i = 0; i < snapshot->xcnt; i++)
		in_progress[n++] = Int64GetDatum(widen(snapshot->xip[i], next));
	if (TransactionIdPrecedes(own, snapshot->xmax))
		in_progress[n++] = Int64GetDatum(widen(own, next));
	sf_db_execute(&plan, SF_INT8((int64) GetSystemIdentifier()),
				  sf_query_arg(OIDOID, ObjectIdGetDatum(MyDatabaseId), false),
				  SF_INT8(widen(snapshot->xmax, next)),
				  sf_query_arg(INT8ARRAYOID,
							   PointerGetDatum(construct_array(in_progress, n, INT8OID, sizeof(int64),
															   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)),
							   false));
}

/* --- folding --- */

/* Fold what the active snapshot shows; false: there is more. */
static bool
fold(void)
{
	SfMetricSums sums;
	SfIncrements increments = {NIL, false};

	sf_metric_sum(&sums, FOLD_SIZE, &increments);
	if (increments.tids == NIL)
		return true;
	sf_metric_delete(&increments);
	add_sums(&sums);
	delete_all_dropped(&sums);
	if (increments.complete)
		move_horizon(GetActiveSnapshot());
	return increments.complete;
}

/* Is there anything to fold? */
bool
sf_metric_is_to_fold(void)
{
	return sf_throttled_is_there() || sf_metric_is_there();
}

/*
 * Fold increments, unless another session does.  A transaction of one snapshot
 * does not see what others have folded since, so it leaves that to others.  Returns
 * true if there is more, for another transaction.
 */
bool
sf_metric_fold(void)
{
	MemoryContext context;
	MemoryContext old;
	bool		ours,
				complete;

	sf_tally_forget_written();
	if (IsolationUsesXactSnapshot())
		return false;
	PushActiveSnapshot(GetTransactionSnapshot());
	ours = sf_metric_is_to_fold() && lock_counters();
	if (ours)
		sf_tally_write(sf_throttled_take(), GetCurrentTimestamp());
	PopActiveSnapshot();
	if (!ours)
		return false;
	context = AllocSetContextCreate(CurrentMemoryContext, "sfflow fold", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	PushActiveSnapshot(GetLatestSnapshot());
	complete = fold();
	PopActiveSnapshot();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return !complete;
}
