/*
 * metric_feature.c
 *		What metrics have in the registry: their tables, and when what slices have counted is folded.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "feature/metric/metric.h"
#include "store/feature.h"

/*
 * A fold deletes the counters of a machine that was dropped.  The drop, whose transaction may stay open for long,
 * neither has rows of them locked nor waits for a fold.
 */
static const SfFeatureTable tables[] = {
	{"metric_total",.of_execution = SF_ROWS_NONE},
	{"metric_hour",.of_execution = SF_ROWS_NONE},
	{"metric_job",.of_execution = SF_ROWS_NONE},
	{"metric_job_day",.of_execution = SF_ROWS_NONE},
	{"metric_retry",.of_execution = SF_ROWS_NONE},
	{NULL}
};

/* Have a fold delete the counters of a machine that is dropped. */
static void
machine_dropped(int machine_no)
{
	sf_tally_write_dropped(machine_no, GetCurrentTimestamp());
}

/* Fold the increments of a copy anew. */
static void
enabled(bool adopted)
{
	if (adopted)
		sf_metric_reset_horizon();
}

/* Fold as well after many slices of this process. */
static bool
wants_sweep(void)
{
	return sf_tally_written() >= SF_METRIC_FOLD_AT;
}

/* Add what slices have counted to the counters. */
static SfSweepResult
sweep(TimestampTz now)
{
	return (SfSweepResult) {.more = sf_metric_fold(),.next = DT_NOEND};
}

static const SfFeatureSweep sweeps = {
	.name = "metrics",
	.run = sweep,
	.has_work = sf_metric_is_to_fold,
	.is_wanted = wants_sweep,
	.locks_counters = true,
};

const SfFeature sf_metric_feature = {
	.name = "metric",
	.tables = tables,
	.sweep = &sweeps,
	.on_machine_dropped = machine_dropped,
	.on_enabled = enabled,
};
