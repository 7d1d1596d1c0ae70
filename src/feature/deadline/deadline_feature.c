/*
 * deadline_feature.c
 *		What deadlines have in the registry: when they are looked at.
 */
#include "postgres.h"

#include "base/timing.h"
#include "schedule/timely.h"
#include "store/deadline.h"
#include "store/feature.h"

/* Look at deadlines that are due, some of them. */
static SfLook
look(TimestampTz now)
{
	TimestampTz next = sf_timely_check(now);

	return (SfLook) {.more = next <= now,.next = next};
}

const SfFeature sf_deadline_feature = {
	.name = "deadline",
	.looks_at = "deadlines",
	.next_look = sf_deadline_next,
	.look = look,
	.look_pause_ms = SF_DEADLINES_PAUSE_MS,
};
