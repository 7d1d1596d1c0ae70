/*
 * clock.c
 *		The monotonic clock, and how it relates to the wall clock.
 */
#include "postgres.h"

#include <sched.h>

#include "portability/instr_time.h"

#include "base/time/clock.h"
#include "base/time/timing.h"

/* Read the monotonic clock: PostgreSQL's instr_time is one wherever there is one. */
SfTick
sf_tick_now(void)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return (SfTick) INSTR_TIME_GET_MICROSEC(now);
}

/*
 * The tick at which the wall clock shows a time, unless it is set before then; AT_ONCE for all times before the machine
 * was started.
 */
SfTick
sf_tick_of_wall(TimestampTz at)
{
	if (at == DT_NOEND)
		return SF_TICK_NEVER;
	if (at == DT_NOBEGIN)
		return SF_TICK_AT_ONCE;
	return Max(at - sf_clock_offset(), SF_TICK_AT_ONCE);
}

/*
 * By how much the wall clock is ahead.  The two are read one after the other;
 * of a few readings the one counts that was interrupted for the shortest time.
 */
int64
sf_clock_offset(void)
{
	SfTick		before = sf_tick_now();
	int64		shortest = PG_INT64_MAX;
	int64		offset = 0;

	for (int i = 0; i < 5 && shortest > 1000; i++)
	{
		TimestampTz wall = GetCurrentTimestamp();
		SfTick		after = sf_tick_now();

		if (after - before < shortest)
		{
			shortest = after - before;
			offset = wall - after;
		}
		before = after;
	}
	return offset;
}

/*
 * Have a worker leave its processor to processes that wait for one.
 *
 * A session that commits sleeps while its WAL is flushed.  When it wakes up, a worker
 * may have the processor, and the kernel may let the worker have it until its time slice
 * ends, a millisecond or more later.  The session's client waits all that time, for a
 * commit that takes a fifth of a millisecond.  Therefore a worker yields often: sessions
 * need the processor for a short time only, and the worker goes on then.
 *
 * A process that computes, a large query for example, uses its whole time slice after
 * each yield.  The worker would get very little of a busy processor.  Therefore it stops
 * yielding for a while after a yield that took long: it loses a tenth of its time at
 * most.
 */

static bool enabled = false;
static SfTick next_yield = 0;

/* Have this process yield. */
void
sf_yield_enable(void)
{
	enabled = true;
}

/* Let another process have the processor, if it is time. */
void
sf_yield(void)
{
	SfTick		began;
	SfTick		ended;

	if (!enabled)
		return;
	began = sf_tick_now();
	if (began < next_yield)
		return;
	(void) sched_yield();
	ended = sf_tick_now();
	next_yield = ended + (ended - began < SF_YIELD_LONG_US ? SF_YIELD_PAUSE_US :
						  (ended - began) * SF_YIELD_LONG_FACTOR);
}
