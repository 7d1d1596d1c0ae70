/*
 * alone.c
 *		The launcher's process when it is the only one that can be had.
 *
 * The postmaster always has a place for the launcher, but max_worker_processes
 * may leave none for any process that the launcher wants to start.  A process
 * is bound to the first database that it connects to, and the launcher to none.
 * So after some seconds in which nothing could be started the launcher ends,
 * and the postmaster starts it again, a second later.  It then connects to the
 * database that has waited longest and works there like any worker, long tasks
 * included; it ends when another database wants its turn, which is the next
 * one's then.
 *
 * Meanwhile it asks, from time to time, for a process on standby.  When it gets
 * one it ends once more, and the next launcher is one again.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "base/timing.h"
#include "worker/alone.h"
#include "worker/demand.h"
#include "worker/poison.h"
#include "worker/processes.h"
#include "worker/shared.h"
#include "worker/slot.h"
#include "worker/worker.h"

static bool mine = false;

/* Give up on starting processes: the next launcher drives databases itself. */
void
sf_alone_begin(List *databases)
{
	ListCell   *cell;
	bool		say;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	foreach(cell, databases)
		(void) sf_shared_register_database(lfirst_oid(cell));
	say = !sf_shared->said_alone;
	sf_shared->alone = sf_shared->said_alone = true;
	sf_shared->refused_at = sf_tick_now();
	LWLockRelease(sf_shared_lock);
	if (say)
		ereport(WARNING,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("sfflow found no free slot for a background worker"),
				 errdetail("One process does everything, in one database after the other: while it runs a long task, nothing else advances. This is said only once."),
				 errhint("Increase max_worker_processes.")));
	proc_exit(1);
}

/* Forget a database to which the process before this one could not connect. */
static void
forget_unreachable(void)
{
	Oid			oid;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	oid = sf_shared->connecting;
	sf_shared->connecting = InvalidOid;
	if (OidIsValid(oid))
	{
		SfDatabase *database = sf_shared_find_database(oid);

		if (database && database->leaving == 0)
			database->oid = InvalidOid;
	}
	LWLockRelease(sf_shared_lock);
	if (OidIsValid(oid))
		sf_poison_clear_database(oid);
}

/* Find what to do first: the suspects of a crash, or what is due. */
static bool
find_database(Oid *database, bool *suspects, SfTick *next)
{
	SfSuspect	suspect;

	*suspects = sf_poison_next_suspect(InvalidOid, &suspect);
	*database = *suspects ? suspect.database : sf_demand_find(next).database;
	return OidIsValid(*database);
}

/* Go back to being a launcher when a process can be had. */
static bool
has_company(void)
{
	if (!sf_processes_keep_standby())
		return false;
	sf_shared->alone = false;
	return true;
}

/* Drive the database that has waited longest. */
void
sf_alone_drive(void)
{
	mine = true;
	forget_unreachable();
	for (;;)
	{
		SfTick		next = SF_TICK_NEVER;
		Oid			database;
		bool		suspects;

		if (ProcDiePending || has_company())
			proc_exit(1);
		sf_worker_handle_signals();
		LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
		(void) sf_shared_check_clock();
		LWLockRelease(sf_shared_lock);
		if (find_database(&database, &suspects, &next))
		{
			SfSlot	   *slot = sf_processes_take_slot(database, suspects);

			sf_shared->connecting = database;
			sf_worker_live((int) (slot - sf_shared->slots), slot->launch);
		}
		sf_worker_sleep_until(Min(next, sf_tick_plus_ms(sf_tick_now(), SF_CLOCK_CHECK_MS)));
	}
}

/*
 * Tell whether this process may drive its database.  The launcher asks for each
 * worker that it starts; alone, it had no connection to ask with.
 */
bool
sf_alone_may_drive(void)
{
	SfDatabase *database;

	if (!mine || sf_launcher_may_drive(MyDatabaseId))
		return true;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	if (database)
		database->state = SF_DATABASE_NOT_DRIVEN;
	LWLockRelease(sf_shared_lock);
	return false;
}

/* Tell whether this process is alone. */
bool
sf_alone_is_mine(void)
{
	return mine;
}

/* Tell whether to end. */
bool
sf_alone_is_over(SfTick *until)
{
	SfWant		want;
	SfTick		turn_over = sf_tick_plus_ms(sf_slot_mine->attached, SF_QUANTUM_MS);

	*until = sf_tick_plus_ms(sf_tick_now(), SF_CLOCK_CHECK_MS);
	if (has_company())
		return true;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	(void) sf_shared_check_clock();
	LWLockRelease(sf_shared_lock);
	want = sf_demand_find(until);
	if (!want.first || want.database == MyDatabaseId)
		return false;
	if (sf_slot_mine->state == SF_SLOT_IDLE || turn_over <= sf_tick_now())
		return true;
	*until = Min(*until, turn_over);
	return false;
}
