/*
 * clock.c
 *		The monotonic clock, and how it relates to the wall clock.
 */
#include "postgres.h"

#include "portability/instr_time.h"

#include "base/clock.h"

/* Read the monotonic clock: PostgreSQL's instr_time is one wherever there is one. */
SfTick
sf_tick_now(void)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return (SfTick) INSTR_TIME_GET_MICROSEC(now);
}

/* The tick at which the wall clock shows a time, unless it is set before then. */
SfTick
sf_tick_of_wall(TimestampTz at)
{
	if (at == DT_NOEND)
		return SF_TICK_NEVER;
	if (at == DT_NOBEGIN)
		return 0;
	return at - sf_clock_offset();
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
