/*
 * probes.c
 *		Having each database probed after a start of the server.
 *
 * A start is that of the server or the promotion of a standby.  Shared memory knows
 * no timer then.  The launcher starts a worker, the probe, in one connectable
 * database after the other.  The probe stays if the database is to be driven and
 * more workers may run; its first turn scans all of the due index.  When all
 * databases have been probed, the data directory has settled (docs/copies.md), which
 * is noted in a file.
 */
#include "postgres.h"

#include "base/error/debug_point.h"
#include "base/time/timing.h"
#include "copy/instance.h"
#include "worker/launcher/launcher.h"

/* Databases that are still to be probed, and the one that is now */
static List *to_probe = NIL;
static Oid	probed = InvalidOid;

/* So far no database was found that could not be probed: the data directory may settle */
static bool may_settle = true;

/* List the databases that are to be probed, in a context; once. */
void
sf_probes_begin(MemoryContext context)
{
	to_probe = sf_databases_to_probe(context, &may_settle);
}

/* Those that have not been probed. */
List *
sf_probes_left(void)
{
	return to_probe;
}

/* Tell whether a probe is on its way. */
static bool
probe_runs(void)
{
	sf_foreach_process(process)
	{
		if (process->status != SF_PROCESS_STATUS_FREE && sf_shared_is_probe(process))
			return true;
	}
	return false;
}

/*
 * The probe has ended, or stays as a worker.  One that could not look leaves the
 * data directory unsettled until the next start, unless the database is gone.
 */
static void
end_probe(void)
{
	Oid			last_probed;

	LWLockAcquire(sf_shared_lock, LW_SHARED);
	last_probed = sf_shared->last_probed;
	LWLockRelease(sf_shared_lock);
	if (last_probed != probed && sf_databases_exists(probed))
		may_settle = false;
	probed = InvalidOid;
}

/* Register a database for its probe; false when it need not be probed. */
static bool
register_for_probe(Oid oid)
{
	SfDatabase *database;
	bool		known;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	known = sf_shared_find_database(oid) != NULL;
	database = sf_shared_register_database(oid);
	if (database && !known)
	{
		/* the probe is all that is wanted for now */
		database->status = SF_DATABASE_NOT_DRIVEN;
	}
	/* one that is known has a worker, or is being left: that is no probe */
	known = !database || database->leaving > 0 || (known && sf_shared->settled);
	LWLockRelease(sf_shared_lock);
	return !known;
}

/* The probe could not start: nothing is known again, unless a session has registered it. */
static void
forget_probe(Oid oid)
{
	SfDatabase *database = sf_shared_lock_database(oid);

	if (database && database->leaving == 0 && database->status == SF_DATABASE_NOT_DRIVEN)
		database->oid = InvalidOid;
	LWLockRelease(sf_shared_lock);
}

/* Start the probe of a database; false when that cannot be done now. */
static bool
start_probe(Oid oid)
{
	bool		started = true;

	if (sf_databases_may_drive(oid))
	{
		if (register_for_probe(oid))
		{
			started = sf_processes_start(oid, SF_PROCESS_KIND_WORKER, false, SF_ERRAND_PROBE);
			if (!started)
				forget_probe(oid);
		}
		else if (!sf_shared->settled)
			may_settle = false;
	}
	else if (!sf_shared->settled && sf_databases_may_connect(oid))
		started = sf_processes_start(oid, SF_PROCESS_KIND_WORKER, false, SF_ERRAND_PREPARE);
	if (started)
		probed = oid;
	return started;
}

/* All databases were probed: write it down. */
static void
record_settled(void)
{
	if (sf_shared->settled || !may_settle)
		return;
	SF_DEBUG_POINT("settle-before-file");
	may_settle = false;
	if (!sf_instance_file_write_settled())
		return;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_shared->settled = true;
	LWLockRelease(sf_shared_lock);
}

/* Have the next database probed; returns when to call again. */
SfTick
sf_probes_next(void)
{
	SfTick		now = sf_tick_now();

	for (;;)
	{
		if (probe_runs())
			return SF_TICK_NEVER;
		if (OidIsValid(probed))
			end_probe();
		if (to_probe == NIL)
			break;
		if (sf_processes_retry_at() > now)
			return sf_processes_retry_at();
		if (!sf_demand_has_room(SF_PROCESS_KIND_TASK))
			return sf_tick_plus_ms(now, SF_ROOM_RECHECK_MS);
		if (!start_probe(linitial_oid(to_probe)))
			return Max(sf_processes_retry_at(), sf_tick_plus_ms(now, SF_ROOM_RECHECK_MS));
		to_probe = list_delete_first(to_probe);
	}
	record_settled();
	return SF_TICK_NEVER;
}
