/*
 * timely.h
 *		Watching deadlines: what is late, will be late, or has never started.
 */
#ifndef SF_SCHEDULE_TIMELY_H
#define SF_SCHEDULE_TIMELY_H

#include "schedule/timely_items.h"

extern TimestampTz sf_timely_check(TimestampTz now);

#endif							/* SF_SCHEDULE_TIMELY_H */
