/*
 * schedule_feature.c
 *		What schedules have in the registry: their tables, and when they are looked at.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/timing.h"
#include "schedule/schedule_run.h"
#include "store/feature.h"

static const SfFeatureTable tables[] = {
	{"schedule",.by_role = "schedule_owner"},
	{"calendar",.by_role = "calendar_owner"},
	{NULL}
};

/* Look with each scan, if there are schedules. */
static TimestampTz
next_look(void)
{
	return sf_schedule_row_any() ? GetCurrentTimestamp() : DT_NOEND;
}

/* Start runs that were missed or have waited. */
static SfLook
look(TimestampTz now)
{
	SfRunsLeft	left = sf_due_runs_look(now);

	return (SfLook) {.more = left == SF_RUNS_DUE,.next = DT_NOEND,.waits = left != SF_RUNS_NONE};
}

const SfFeature sf_schedule_feature = {
	.name = "schedule",
	.tables = tables,
	.looks_at = "schedules",
	.next_look = next_look,
	.look = look,
	.look_pause_ms = SF_RUNS_LOOK_PAUSE_MS,
};
