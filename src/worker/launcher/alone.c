/*
 * alone.c
 *		The launcher's process when it is the only one that can be had.
 *
 * The postmaster always has room for the launcher, but max_worker_processes
 * may leave none for the processes that the launcher wants to start.  A process
 * is bound to the first database that it connects to, and the launcher connects
 * to none.  So after some seconds in which nothing could be started the launcher
 * ends, and the postmaster starts it again, a second later.  It then connects to
 * the database that has waited longest and works there like any worker, long
 * tasks included.  It ends when another database waits, which the next one takes.
 *
 * Meanwhile it asks for a process on standby from time to time.  When it gets one
 * it ends once more, and the next launcher starts workers again.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"

#include "base/time/timing.h"
#include "worker/launcher/launcher.h"
#include "worker/process/process.h"

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
	say = sf_shared->alone == SF_ALONE_NEVER;
	sf_shared->alone = SF_ALONE_NOW;
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

/* Tell whether a process can be had again; then this one goes back to launching. */
bool
sf_alone_can_launch(void)
{
	if (!sf_processes_ensure_standby())
		return false;
	sf_shared->alone = SF_ALONE_BEFORE;
	return true;
}

/*
 * Tell whether this process may drive its database.  The launcher asks that for
 * each worker that it starts; a launcher that is alone had no connection to ask.
 */
bool
sf_alone_may_drive(void)
{
	SfDatabase *database;

	if (!mine || sf_databases_may_drive(MyDatabaseId))
		return true;
	database = sf_shared_lock_database(MyDatabaseId);
	if (database)
		database->status = SF_DATABASE_NOT_DRIVEN;
	LWLockRelease(sf_shared_lock);
	return false;
}

/* This process, the launcher's, drives databases from now on. */
void
sf_alone_start(void)
{
	mine = true;
	sf_signals_restart_at_end();
}

/*
 * Tell whether a process that is alone is to end: another database waits, or
 * processes can be had again.  *until: when to ask again, at the latest.
 */
bool
sf_alone_is_to_end(SfTick *until)
{
	SfDemand	want;
	SfTick		turn_over = sf_tick_plus_ms(sf_my_process->attached, SF_QUANTUM_MS);

	if (!mine)
		return false;
	*until = sf_tick_plus_ms(sf_tick_now(), SF_CLOCK_CHECK_MS);
	if (sf_alone_can_launch())
		return true;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	(void) sf_shared_check_clock();
	LWLockRelease(sf_shared_lock);
	want = sf_demand_find(until);
	if (!want.first || want.database == MyDatabaseId)
		return false;
	if (sf_my_process->status == SF_PROCESS_STATUS_IDLE || turn_over <= sf_tick_now())
		return true;
	*until = Min(*until, turn_over);
	return false;
}
