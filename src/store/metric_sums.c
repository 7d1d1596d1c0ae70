/*
 * metric_sums.c
 *		Add increments up.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "utils/array.h"

#include "base/compat.h"
#include "store/branch.h"
#include "store/histogram.h"
#include "store/metric_sums.h"
#include "store/program_cache.h"

/* Runs of a job whose durations are kept */
#define RECENT	30

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
		default:
			return;
	}
	add_duration(&sums->times, us);
}

/* Find the sums of the machine of an observation. */
static SfMachineSums *
machine_sums(const SfMetricSums *sums, const SfMetric *metric)
{
	SfMachineSums key = {.key = {truncate_to(metric->at, USECS_PER_HOUR), metric->machine_no}};

	return find_sums(sums->machines, &key.key, sizeof(key.key), sizeof(key));
}

/* Count a task. */
static void
count_task(const SfMetricSums *sums, const SfMetric *metric)
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
count_retry(const SfMetricSums *sums, const SfMetric *metric)
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
add_metric(const SfMetric *metric, void *arg)
{
	const SfMetricSums *sums = arg;

	switch (metric->kind)
	{
		case SF_METRIC_STARTED:
			machine_sums(sums, metric)->started += metric->number;
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

/* Add up the increments that the active snapshot shows; limit and increments as in sf_metric_visit(). */
void
sf_metric_sum(SfMetricSums *sums, int limit, SfIncrements *increments)
{
	sums->machines = make_table("sfflow sums of machines", sizeof(((SfMachineSums *) 0)->key),
								sizeof(SfMachineSums));
	sums->jobs = make_table("sfflow sums of jobs", sizeof(((SfJobSums *) 0)->key),
							sizeof(SfJobSums));
	sums->retries = make_table("sfflow sums of retries", sizeof(((SfRetrySums *) 0)->key),
							   sizeof(SfRetrySums));
	sf_metric_visit(add_metric, sums, limit, increments);
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
	return program != NULL && state >= 0 && state < program->nstates ? program->states[state].name : NULL;
}
