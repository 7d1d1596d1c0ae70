/*
 * metric_functions.c
 *		What the views of metrics need besides the tables of counters: increments
 *		that were not folded yet, and histograms.
 *
 * Every role can call these functions.  Those that read increments leave out
 * machines that the caller may not read.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "api/columns.h"
#include "base/version/schema.h"
#include "feature/metric/histogram.h"
#include "feature/metric/metric.h"
#include "store/role/privilege.h"
#include "store/state_machine/machine.h"

/* --- increments --- */

/* May the caller read a machine, and is it there? */
static bool
is_readable(int machine_no)
{
	const SfMachineIdentity *machine = sf_machine_identity(machine_no);

	return machine != NULL &&
		(sf_privilege_is_owner(machine->owner) ||
		 sf_privilege_check(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner,
							SF_RIGHT_READ));
}

/* Add a number. */
static void
add_number(SfColumns *row, int64 number)
{
	sf_columns_add(row, Int64GetDatum(number), false);
}

/* Add the sum and the histogram of durations. */
static void
add_times(SfColumns *row, const SfDurations *times)
{
	add_number(row, times->sum);
	sf_columns_add(row, PointerGetDatum(sf_metric_histogram(times)), false);
}

/* unfolded_metrics(): per machine and hour, the columns of _sfflow.metric_hour. */
SF_SQL_FUNCTION(sfflow_unfolded_metrics)
{
	SfMetricSums sums;
	const SfMachineSums *machine;
	HASH_SEQ_STATUS scan;

	InitMaterializedSRF(fcinfo, 0);
	sf_metric_sum(&sums, PG_INT32_MAX, NULL);
	hash_seq_init(&scan, sums.machines);
	while ((machine = hash_seq_search(&scan)) != NULL)
	{
		SfColumns	row = {0};

		if (!is_readable((int) machine->key.machine_no))
			continue;
		sf_columns_add(&row, Int32GetDatum((int) machine->key.machine_no), false);
		sf_columns_time(&row, machine->key.hour);
#define ADD_COUNTER(name) add_number(&row, machine->name);
		SF_COUNTER_LIST(ADD_COUNTER)
		add_times(&row, &machine->times);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* unfolded_jobs(): per job and day, the columns of both tables of jobs. */
SF_SQL_FUNCTION(sfflow_unfolded_jobs)
{
	SfMetricSums sums;
	const SfJobSums *job;
	HASH_SEQ_STATUS scan;

	InitMaterializedSRF(fcinfo, 0);
	sf_metric_sum(&sums, PG_INT32_MAX, NULL);
	hash_seq_init(&scan, sums.jobs);
	while ((job = hash_seq_search(&scan)) != NULL)
	{
		SfColumns	row = {0};
		const char *name;

		if (!is_readable(job->key.machine_no))
			continue;
		name = sf_metric_state_name(job->key.machine_no, job->key.version, (int) job->key.state);
		if (name == NULL)
			continue;
		sf_columns_add(&row, Int32GetDatum(job->key.machine_no), false);
		sf_columns_time(&row, job->key.day);
		sf_columns_text(&row, name);
		add_number(&row, job->times.n);
		add_number(&row, job->failures);
		add_times(&row, &job->times);
		sf_columns_add(&row, sf_metric_recent(&job->times), false);
		sf_columns_time(&row, job->last_at == 0 ? DT_NOBEGIN : job->last_at);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* unfolded_retries(): the columns of _sfflow.metric_retry. */
SF_SQL_FUNCTION(sfflow_unfolded_retries)
{
	SfMetricSums sums;
	const SfRetrySums *retry;
	HASH_SEQ_STATUS scan;

	InitMaterializedSRF(fcinfo, 0);
	sf_metric_sum(&sums, PG_INT32_MAX, NULL);
	hash_seq_init(&scan, sums.retries);
	while ((retry = hash_seq_search(&scan)) != NULL)
	{
		SfColumns	row = {0};
		const char *name;

		if (!is_readable(retry->key.machine_no))
			continue;
		name = sf_metric_state_name(retry->key.machine_no, retry->key.version, retry->key.state);
		if (name == NULL)
			continue;
		sf_columns_add(&row, Int32GetDatum(retry->key.machine_no), false);
		sf_columns_text(&row, name);
		sf_columns_text(&row, retry->key.error);
		add_number(&row, retry->retries);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* --- histograms --- */

/* histogram_add(histogram, histogram) */
SF_SQL_FUNCTION(sfflow_histogram_add)
{
	SfHistogram sum = {0};

	sf_histogram_add(&sum, PG_GETARG_BYTEA_PP(0));
	sf_histogram_add(&sum, PG_GETARG_BYTEA_PP(1));
	PG_RETURN_BYTEA_P(sf_histogram_store(&sum));
}

/* histogram_percentiles(histogram): the 50th, 95th and 99th, in milliseconds; NULL: it is empty. */
SF_SQL_FUNCTION(sfflow_histogram_percentiles)
{
	static const double fractions[] = {0.5, 0.95, 0.99};
	SfHistogram histogram = {0};
	Datum		percentiles[lengthof(fractions)];

	sf_histogram_add(&histogram, PG_GETARG_BYTEA_PP(0));
	if (sf_histogram_total(&histogram) == 0)
		PG_RETURN_NULL();
	for (size_t i = 0; i < lengthof(fractions); i++)
		percentiles[i] = Float8GetDatum(sf_histogram_percentile(&histogram, fractions[i]) / 1000);
	PG_RETURN_ARRAYTYPE_P(construct_array(percentiles, lengthof(fractions), FLOAT8OID,
										  sizeof(double), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* histogram_below(histogram, times in microseconds): for each time, how many durations are shorter. */
SF_SQL_FUNCTION(sfflow_histogram_below)
{
	SfHistogram histogram = {0};
	Datum	   *times;
	int			n;

	sf_histogram_add(&histogram, PG_GETARG_BYTEA_PP(0));
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &times, NULL, &n);
	for (int i = 0; i < n; i++)
		times[i] = Int64GetDatum(sf_histogram_below(&histogram, DatumGetInt64(times[i])));
	PG_RETURN_ARRAYTYPE_P(construct_array(times, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
