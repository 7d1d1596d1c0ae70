/*
 * bounded_sweep.c
 *		Sweeps that one process makes at a time, and not for long.
 *
 * Rows of one owner may take long, such as schedules and deadlines with large calendars.  So they take one worker at
 * most, and part of its time: between two sweeps it does other work.
 */
#include "postgres.h"

#include "base/error/debug_point.h"
#include "db/lock_tag.h"
#include "store/bounded_sweep.h"

/* A sweep that has taken this long leaves the rest to the next one */
#define SWEEP_MS	1000

/* Begin a sweep of the rows of a table; false: another process is at one. */
bool
sf_bounded_sweep_begin(SfBoundedSweep *sweep, const char *table)
{
	*sweep = (SfBoundedSweep) {.tag = sf_lock_tag(table, 0)};
	if (LockAcquire(&sweep->tag, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return false;
	sweep->until = sf_tick_plus_ms(sf_tick_now(), SF_DEBUG_MS("sweep_budget", SWEEP_MS));
	return true;
}

/* May a sweep deal with one more row?  It deals with one at least. */
bool
sf_bounded_sweep_goes_on(SfBoundedSweep *sweep)
{
	bool		goes_on;

	SF_DEBUG_POINT("bounded-sweep");
	goes_on = !sweep->has_begun || sf_tick_now() < sweep->until;

	sweep->has_begun = true;
	return goes_on;
}

/* End a sweep: the transaction may be one of a session that stays open.  The rows that it has locked stay locked. */
void
sf_bounded_sweep_end(SfBoundedSweep *sweep)
{
	LockRelease(&sweep->tag, ExclusiveLock, false);
}
