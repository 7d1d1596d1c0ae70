/*
 * overdue.c
 *		What the launcher checks: turns, keys, time limits, the clock.
 */
#include "postgres.h"

#include <signal.h>

#include "base/error/debug_point.h"
#include "base/settings.h"
#include "base/time/timing.h"
#include "worker/launcher/launcher.h"

/*
 * Notice turns that take too long: a task that was short the last time, a wait
 * for a lock that a session holds.  Other workers take over the keys of such a
 * turn; after a second its worker does not count any more.  Returns when to check
 * again.
 */
static SfTick
check_turns(SfTick now)
{
	int			slow_ms = Max(SF_SLOW_MS, 2 * sf_setting_slice_ms);
	SfTick		next = SF_TICK_NEVER;

	sf_foreach_process(process)
	{
		SfDatabase *database = sf_shared_find_database(process->database);
		SfTick		stuck = sf_tick_plus_ms(process->turn_began, SF_DEBUG_MS("stuck-turn", SF_STUCK_MS));
		SfTick		slow = sf_tick_plus_ms(process->turn_began, slow_ms);

		if (process->status != SF_PROCESS_STATUS_RUNNING ||
			(process->kind != SF_PROCESS_KIND_WORKER && process->turn != SF_TURN_KIND_HELPS) ||
			process->turn_began == SF_TICK_UNSET || process->stuck || !database)
			continue;
		if (process->nkeys > 1 && slow > now)
		{
			next = Min(next, slow);
			continue;
		}
		process->stuck = stuck <= now;
		/* it calls an archive function: other machines can be purged meanwhile */
		if (process->stuck && process->turn == SF_TURN_KIND_PURGES)
			database->next_purge = now;
		if (process->stuck || (process->nkeys > 1 && process->in_task))
		{
			/* a scan finds its keys, too */
			process->nkeys = 0;
			sf_shared_want_scan(database);
			sf_shared_wake_another(database);
		}
		if (!process->stuck)
			next = Min(next, process->nkeys > 1 ?
					   sf_tick_plus_ms(now, slow_ms) : stuck);
	}
	return next;
}

/*
 * Notice keys that were left to a running worker that has not taken them: its
 * task takes longer than the last time.  Returns when to check again.
 */
static SfTick
check_keys(SfTick now)
{
	SfTick		next = SF_TICK_NEVER;

	sf_foreach_database(database)
	{
		SfTick		limit;

		if (!OidIsValid(database->oid) || database->backlog != SF_BACKLOG_LEFT)
			continue;
		limit = sf_shared_left_until(database);
		if (limit > now)
		{
			next = Min(next, limit);
			continue;
		}
		database->backlog = SF_BACKLOG_NONE;
		if (database->ring.count > 0 || sf_shared_wants_scan(database))
			sf_shared_wake_another(database);
	}
	return next;
}

/*
 * Notice turns that take too long and keys that were not taken, and have other
 * workers take over.  Returns when to check again.
 */
SfTick
sf_overdue_check(void)
{
	SfTick		now = sf_tick_now();
	SfTick		next;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	next = Min(check_turns(now), check_keys(now));
	pg_atomic_write_u64(&sf_shared->launcher_checks, (uint64) next);
	LWLockRelease(sf_shared_lock);
	return next;
}

/* Cancel tasks whose time is up and whose alarm, which goes by the wall clock, is late. */
static void
cancel_overdue(void)
{
	SfTick		limit = sf_tick_plus_ms(sf_tick_now(), -SF_OVERDUE_MS);

	sf_foreach_process(process)
	{
		if (process->status == SF_PROCESS_STATUS_RUNNING && process->in_task && process->pid != 0 &&
			process->deadline < limit)
			kill(process->pid, SIGINT);
	}
}

/*
 * Have the due index scanned if the wall clock was set, and log when it was set
 * back; cancel tasks that exceed their time limit and whose alarm, which follows the
 * wall clock, is late.
 */
void
sf_overdue_check_clock(void)
{
	int64		change;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	change = sf_shared_check_clock();
	cancel_overdue();
	LWLockRelease(sf_shared_lock);
	if (change < 0)
		ereport(LOG,
				(errmsg("the system clock was set back by %.1f seconds",
						-change / 1000000.0),
				 errdetail("sfflow goes on with what was due; timers wait for the time that they name.")));
}
