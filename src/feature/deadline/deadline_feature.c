/*
 * deadline_feature.c
 *		What deadlines have in the registry: what follows from what happens to schedules, calendars and machines,
 *		alerts, and their sweeps.
 */
#include "postgres.h"

#include "feature/deadline/deadline.h"
#include "store/role/owner.h"

/* Two scans for deadlines are that far apart: one may be locked by a session that changes it */
#define SWEEP_PAUSE_MS			1000

#define FINDING_WORD(sym, word) word,
static const char *const alert_kinds[] = {SF_FINDING_LIST(FINDING_WORD) NULL};

/* Drop the deadline of a schedule. */
static void
object_dropped(SfObjectKind kind, const char *name)
{
	if (kind == SF_OBJECT_SCHEDULE)
		(void) sf_deadline_delete(psprintf("schedule:%s", name));
}

/* Tell whether a deadline has a calendar. */
static const char *
use_of(SfObjectKind kind, const char *name)
{
	return kind == SF_OBJECT_CALENDAR && sf_deadline_uses_calendar(name) ? "a deadline" : NULL;
}

/* Sweep the deadlines that are due, some of them. */
static SfSweepResult
sweep(TimestampTz now)
{
	TimestampTz next = sf_deadline_watch(now);

	return (SfSweepResult) {.more = next <= now,.next = next};
}

static const SfFeatureAlerts alerts = {
	.kinds = alert_kinds,
	.find_target = sf_deadline_alert_target,
	.acknowledge = sf_deadline_acknowledge,
};

static const SfFeatureSweep sweeps = {
	.name = "deadlines",
	.run = sweep,
	.next_time = sf_deadline_next,
	.pause_ms = SWEEP_PAUSE_MS,
};

const SfFeature sf_deadline_feature = {
	.name = "deadline",
	.alerts = &alerts,
	.sweep = &sweeps,
	.on_object_changed = sf_deadline_recheck,
	.on_object_dropped = object_dropped,
	.on_machine_dropped = sf_deadline_delete_of_machine,
	.use_of = use_of,
};
