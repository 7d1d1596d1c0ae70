/*
 * deadline_feature.c
 *		What deadlines have in the registry: what follows from what happens to schedules, calendars and machines, alerts,
 *		and when they are looked at.
 */
#include "postgres.h"

#include "base/timing.h"
#include "feature/deadline/deadline.h"
#include "store/owner.h"

static const char *const alert_kinds[] = {SF_LATE, SF_WILL_BE_LATE, SF_NEVER_STARTED, NULL};

/* Drop the deadline of a schedule. */
static void
object_dropped(char kind, const char *name)
{
	if (kind == SF_OBJECT_SCHEDULE)
		(void) sf_deadline_delete(psprintf("schedule:%s", name));
}

/* Tell whether a deadline has a calendar. */
static const char *
uses(char kind, const char *name)
{
	return kind == SF_OBJECT_CALENDAR && sf_deadline_uses_calendar(name) ? "a deadline" : NULL;
}

/* Look at deadlines that are due, some of them. */
static SfLook
look(TimestampTz now)
{
	TimestampTz next = sf_timely_check(now);

	return (SfLook) {.more = next <= now,.next = next};
}

const SfFeature sf_deadline_feature = {
	.name = "deadline",
	.alert_kinds = alert_kinds,
	.alert_target = sf_deadline_alert_target,
	.acknowledge = sf_deadline_acknowledge,
	.object_changed = sf_deadline_look_again,
	.object_dropped = object_dropped,
	.machine_dropped = sf_deadline_delete_of_machine,
	.uses = uses,
	.looks_at = "deadlines",
	.next_look = sf_deadline_next,
	.look = look,
	.look_pause_ms = SF_DEADLINES_PAUSE_MS,
};
