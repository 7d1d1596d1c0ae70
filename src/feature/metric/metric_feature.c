/*
 * metric_feature.c
 *		What metrics have in the registry: their tables, and when what slices have counted is folded.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "feature/metric/metric.h"
#include "store/feature.h"

static const SfFeatureTable tables[] = {
	{"metric_total",.of_machine = true},
	{"metric_hour",.of_machine = true},
	{"metric_job",.of_machine = true},
	{"metric_job_day",.of_machine = true},
	{"metric_retry",.of_machine = true},
	{NULL}
};

/* Keep what folds from adding to the counters of a machine that is dropped: what folds later sees no machine. */
static void
machine_dropped(int machine_no)
{
	static SfPlan fold = SF_PLAN("SELECT 1 FROM _sfflow.metric_fold FOR UPDATE");

	(void) sf_db_run(InvalidOid, &fold, NULL, NULL, NULL, 0);
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
