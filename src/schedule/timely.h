/*
 * timely.h
 *		Watching deadlines: what is late, will be late, or has never started.
 */
#ifndef SF_SCHEDULE_TIMELY_H
#define SF_SCHEDULE_TIMELY_H

#include "schedule/schedule_run.h"
#include "store/deadline.h"
#include "store/machine.h"

extern TimestampTz sf_timely_check(TimestampTz now);

/* --- what a deadline is about: executions of one night, or a job in them --- */

/* A target as it is now */
typedef struct SfTimelyTarget
{
	const SfDeadline *deadline;
	SfSchedule *schedule;		/* NULL: it is of a machine */
	SfMachine  *machine;
	List	   *usual;			/* SfUsualJob */
} SfTimelyTarget;

/* An execution of a night, or the job in it */
typedef struct SfTimelyItem
{
	SfExecution *execution;
	TimestampTz begun_at;		/* DT_NOEND: not yet */
	TimestampTz done_at;		/* DT_NOEND: not yet */
} SfTimelyItem;

/* Some executions of a night */
typedef struct SfTimelyPage
{
	List	   *items;			/* SfTimelyItem */
	TimestampTz last_at;		/* the next page begins after this; DT_NOEND: there is none */
	bool		found;			/* there are any, also such as are not among the items */
} SfTimelyPage;

extern bool sf_timely_find_target(const SfDeadline *deadline, SfTimelyTarget *target);
extern SfTimelyPage sf_timely_page(const SfTimelyTarget *t, TimestampTz base_at, TimestampTz after,
								   TimestampTz until, TimestampTz done_by);
extern TimestampTz sf_timely_expect(const SfTimelyTarget *t, const SfTimelyItem *item, TimestampTz now);
extern TimestampTz sf_timely_expect_new(const SfTimelyTarget *t, TimestampTz begin);

#endif							/* SF_SCHEDULE_TIMELY_H */
