/*
 * schedule_feature.c
 *		What schedules and calendars have in the registry: their tables and names, the runs that they plan, and when
 *		they are swept.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/time/timing.h"
#include "feature/schedule/schedule.h"
#include "store/role/owner.h"

static const SfFeatureTable tables[] = {
	{"schedule",.by_role = "schedule_owner"},
	{"calendar",.by_role = "calendar_owner"},
	{NULL}
};

static const SfFeatureObject objects[] = {
	{
		.prefix = "schedule:",.kind = SF_OBJECT_SCHEDULE,.table = "schedule",.require_own = sf_schedule_require_own,
		.set_owner = sf_schedule_set_owner,.notice = sf_schedule_notice,.noun = "schedule",.view = "sf_schedules",
		.missing_sqlstate = ERRCODE_UNDEFINED_OBJECT
	},
	{
		.prefix = "calendar:",.kind = SF_OBJECT_CALENDAR,.table = "calendar",.set_owner = sf_calendars_set_owner,
		.all_know = true
	},
	{NULL}
};

/* List the runs of all schedules that the caller may know of. */
static List *
planned_runs(TimestampTz since, TimestampTz until, TimestampTz now)
{
	List	   *runs = NIL;

	foreach_ptr(const char, name, sf_schedule_names())
	{
		const SfSchedule *schedule = sf_schedule_read(name, SF_LOCK_NONE);

		CHECK_FOR_INTERRUPTS();
		if (schedule != NULL && sf_schedule_is_visible(schedule))
			runs = list_concat(runs, sf_planned_runs(schedule, since, until, now));
	}
	return runs;
}

/* Start runs that were missed or have waited. */
static SfSweepResult
sweep(TimestampTz now)
{
	TimestampTz next;
	SfRunsLeft	left = sf_due_runs_sweep(now, &next);

	return (SfSweepResult) {
		.more = left == SF_RUNS_LEFT_DUE,
		.next = next,
		.waits = left != SF_RUNS_LEFT_NONE
	};
}

static const SfFeatureSweep sweeps = {
	.name = "schedules",
	.run = sweep,
	.has_work = sf_schedule_is_any,
	.pause_ms = SF_RUNS_SWEEP_PAUSE_MS,
};

const SfFeature sf_schedule_feature = {
	.name = "schedule",
	.tables = tables,
	.objects = objects,
	.sweep = &sweeps,
	.planned_runs = planned_runs,
};
