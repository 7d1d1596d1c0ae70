/*
 * clock.h
 *		Ticks: a clock that cannot be set, for processes that sleep.
 *
 * The wall clock (TimestampTz) may be set back or forward while the server runs.
 * Tables hold wall time.  Processes time their waits in ticks: microseconds of the
 * machine's monotonic clock, which all processes share.  Ticks are never shown, and are
 * stored in one table only, whose rows say nothing after a start of the server (rate_token).
 */
#ifndef SF_BASE_CLOCK_H
#define SF_BASE_CLOCK_H

#include "utils/timestamp.h"

typedef int64 SfTick;

/* When something is due: never, or at once.  The latter is over long since, as what is due by then is. */
#define SF_TICK_NEVER	PG_INT64_MAX
#define SF_TICK_AT_ONCE	INT64CONST(1)

/* Since when something is so, or when it was: it is not, or was not; so it is in memory that was cleared */
#define SF_TICK_UNSET	INT64CONST(0)

/* Read the monotonic clock. */
extern SfTick sf_tick_now(void);

/* Add milliseconds to a tick. */
static inline SfTick
sf_tick_plus_ms(SfTick tick, int64 ms)
{
	return tick + ms * 1000;
}

extern SfTick sf_tick_of_wall(TimestampTz at);

/* By how much the wall clock is ahead of the monotonic one, microseconds. */
extern int64 sf_clock_offset(void);

/* --- have a worker leave its processor to processes that wait for one --- */

/* Have this process yield from now on; until then sf_yield() does nothing. */
extern void sf_yield_enable(void);

/*
 * Let another process have the processor, if one waits for it.  To be called every few
 * microseconds of work, where no lock of a buffer and no LWLock is held.
 */
extern void sf_yield(void);

#endif							/* SF_BASE_CLOCK_H */
