/*
 * launcher.c
 *		The launcher: finds the databases, starts and stops their workers.
 *
 * It connects to no database and does no work itself.  At its start (of the
 * server, or at promotion of a standby) it has each connectable database
 * looked at, one after another: by a worker that stays when there is something
 * to drive and a place for it.  Afterwards it only reads shared memory, when
 * its latch is set or the first timer of a database without a worker is due.
 *
 * A database gets its first worker when it has something to do; another one
 * when keys have waited for a moment with all its workers busy; one more, as a
 * process for a task, when a long task was left.  When all places are taken,
 * an idle worker of another database makes room, and where nobody is idle, one
 * that has had its share of time does (demand.c).
 *
 * After a crash the suspects come first (poison.c).
 */
#include "postgres.h"

#include <signal.h>

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/compat.h"
#include "base/debug_point.h"
#include "base/settings.h"
#include "base/timing.h"
#include "store/instance_file.h"
#include "worker/alone.h"
#include "worker/demand.h"
#include "worker/failures.h"
#include "worker/poison.h"
#include "worker/processes.h"
#include "worker/shared.h"
#include "worker/slot.h"
#include "worker/worker.h"

/* Databases that are still to be looked at after the start, the one that is now */
static List *to_probe = NIL;
static Oid	probed = InvalidOid;

/* Every database before those could be looked at: the data directory may settle */
static bool may_settle = true;
static MemoryContext launcher_context;

/* --- databases --- */

/* Tell whether sfflow.databases lets a database be driven. */
static bool
name_is_allowed(const char *name)
{
	char	   *list = pstrdup(sf_setting_databases ? sf_setting_databases : "");
	List	   *names = NIL;
	ListCell   *cell;

	if (!SplitIdentifierString(list, ',', &names) || names == NIL)
		return true;
	foreach(cell, names)
	{
		if (strcmp(lfirst(cell), name) == 0)
			return true;
	}
	return false;
}

/* Tell whether a worker may connect to the database of a pg_database row. */
static bool
row_is_connectable(HeapTuple tuple)
{
	Form_pg_database row = (Form_pg_database) GETSTRUCT(tuple);

	/* -2: left half dropped */
	return row->datallowconn && row->datconnlimit != -2;
}

/* Tell whether the database of a pg_database row may be driven. */
static bool
row_is_drivable(HeapTuple tuple)
{
	Form_pg_database row = (Form_pg_database) GETSTRUCT(tuple);

	return row_is_connectable(tuple) && name_is_allowed(NameStr(row->datname));
}

/*
 * Tell whether the database of a pg_database row is to be looked at: as long as
 * the data directory has not settled also one that is not to be driven, which
 * may be driven after another start.
 */
static bool
row_is_to_probe(HeapTuple tuple)
{
	Form_pg_database row = (Form_pg_database) GETSTRUCT(tuple);

	if (!row_is_connectable(tuple))
	{
		/* template0 is never driven, being never connected to */
		if (row->datconnlimit != -2 && strcmp(NameStr(row->datname), "template0") != 0)
			may_settle = false;
		return false;
	}
	return !sf_shared->settled || row_is_drivable(tuple);
}

/* List the databases that are to be looked at. */
static void
list_databases(void)
{
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;

	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while (HeapTupleIsValid(tuple = heap_getnext(scan, ForwardScanDirection)))
	{
		MemoryContext old;

		if (!row_is_to_probe(tuple))
			continue;
		old = MemoryContextSwitchTo(launcher_context);
		to_probe = lappend_oid(to_probe, ((Form_pg_database) GETSTRUCT(tuple))->oid);
		MemoryContextSwitchTo(old);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/* Tell whether a database is (still) there and passes a test. */
static bool
database_passes(Oid oid, bool (*test) (HeapTuple tuple))
{
	HeapTuple	tuple;
	bool		passes = false;

	StartTransactionCommand();
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(oid));
	if (HeapTupleIsValid(tuple))
	{
		passes = test == NULL || test(tuple);
		ReleaseSysCache(tuple);
	}
	CommitTransactionCommand();
	return passes;
}

/* Tell whether a database is (still) there and may be driven. */
bool
sf_launcher_may_drive(Oid oid)
{
	return database_passes(oid, row_is_drivable);
}

/* Forget a database that is gone. */
static void
forget_database(Oid oid)
{
	SfDatabase *database;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(oid);
	if (database && database->leaving == 0)
		database->oid = InvalidOid;
	else if (database)
		database->state = SF_DATABASE_NOT_DRIVEN;
	LWLockRelease(sf_shared_lock);
	sf_poison_clear_database(oid);
}

/* --- who gets a process --- */

/* No process can be had for a task: a worker may take it itself then (admit.c). */
static void
offer_to_worker(Oid oid)
{
	SfDatabase *database;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(oid);
	if (database)
		sf_shared_wake_idle_worker(database);
	LWLockRelease(sf_shared_lock);
}

/* Start what is wanted; returns when to look again. */
static SfTick
serve_databases(void)
{
	SfTick		next = SF_TICK_NEVER;

	for (;;)
	{
		SfWant		want = sf_demand_find(&next);

		if (!OidIsValid(want.database))
			return next;
		if (sf_processes_retry_at() > sf_tick_now() || !sf_demand_has_room(want.role))
		{
			next = Min(next, Max(sf_processes_retry_at(),
								 sf_tick_plus_ms(sf_tick_now(),
															 SF_ROOM_RECHECK_MS)));
			if (want.role == SF_ROLE_TASK)
				offer_to_worker(want.database);
			else if (want.first && !sf_demand_make_room(&want))
				sf_processes_send_keeper(want.database);
			return next;
		}
		if (!sf_launcher_may_drive(want.database))
		{
			forget_database(want.database);
			continue;
		}
		if (sf_processes_start(want.database, want.role, want.first))
		{
			SfDatabase *database;

			LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
			database = sf_shared_find_database(want.database);
			if (database && want.role == SF_ROLE_WORKER)
			{
				database->more_wanted = false;
				database->more_since = 0;
			}
			LWLockRelease(sf_shared_lock);
		}
	}
}

/* --- at the start --- */

/* Tell whether a probe is on its way. */
static bool
probe_runs(void)
{
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		if (sf_shared->slots[i].state != SF_SLOT_FREE && sf_shared->slots[i].probing)
			return true;
	}
	return false;
}

/*
 * The probe has ended, or stays as a worker.  One that could not look leaves the
 * data directory unsettled until the next start, unless the database is gone.
 */
static void
conclude_probe(void)
{
	Oid			looked_at;

	LWLockAcquire(sf_shared_lock, LW_SHARED);
	looked_at = sf_shared->looked_at;
	LWLockRelease(sf_shared_lock);
	if (looked_at != probed && database_passes(probed, NULL))
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
		database->state = SF_DATABASE_NOT_DRIVEN;
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
	SfDatabase *database;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(oid);
	if (database && database->leaving == 0 && database->state == SF_DATABASE_NOT_DRIVEN)
		database->oid = InvalidOid;
	LWLockRelease(sf_shared_lock);
}

/* Start the probe of a database; false when that cannot be done now. */
static bool
start_probe(Oid oid)
{
	bool		started = true;

	if (sf_launcher_may_drive(oid))
	{
		if (register_for_probe(oid))
		{
			started = sf_processes_probe(oid);
			if (!started)
				forget_probe(oid);
		}
		else if (!sf_shared->settled)
			may_settle = false;
	}
	else if (!sf_shared->settled && database_passes(oid, row_is_connectable))
		started = sf_processes_look(oid);
	if (started)
		probed = oid;
	return started;
}

/* All databases were looked at: write it down. */
static void
settle(void)
{
	if (sf_shared->settled || !may_settle)
		return;
	SF_DEBUG_POINT("settle-before-file");
	may_settle = false;
	if (!sf_instance_file_settle())
		return;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_shared->settled = true;
	LWLockRelease(sf_shared_lock);
}

/* Have the next database looked at; returns when to look again. */
static SfTick
probe_databases(void)
{
	SfTick		now = sf_tick_now();

	for (;;)
	{
		if (probe_runs())
			return SF_TICK_NEVER;
		if (OidIsValid(probed))
			conclude_probe();
		if (to_probe == NIL)
			break;
		if (sf_processes_retry_at() > now)
			return sf_processes_retry_at();
		if (!sf_demand_has_room(SF_ROLE_TASK))
			return sf_tick_plus_ms(now, SF_ROOM_RECHECK_MS);
		if (!start_probe(linitial_oid(to_probe)))
			return Max(sf_processes_retry_at(), sf_tick_plus_ms(now, SF_ROOM_RECHECK_MS));
		to_probe = list_delete_first(to_probe);
	}
	settle();
	return SF_TICK_NEVER;
}

/* Tell whether processes run, and since when the one for suspects is at its step. */
static bool
any_process(bool *for_suspects, SfTick *since)
{
	bool		any = false;

	*for_suspects = false;
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot->state == SF_SLOT_FREE || !OidIsValid(slot->database))
			continue;
		any = true;
		if (slot->suspects)
		{
			*for_suspects = true;
			*since = slot->since;
		}
	}
	return any;
}

/*
 * Have the suspects of a crash run before all else; false when there are none
 * (left, or that are waited for).  *next: when to look again.
 */
static bool
serve_suspects(SfTick *next)
{
	SfSuspect	suspect;
	bool		running;
	SfTick		since = 0;
	SfTick		limit;

	while (sf_poison_next_suspect(InvalidOid, &suspect))
	{
		*next = sf_tick_plus_ms(sf_tick_now(), SF_ROOM_RECHECK_MS);
		if (any_process(&running, &since) && (running || !SF_DEBUG_MUTATION("alone")))
		{
			limit = sf_tick_plus_ms(since,
												(int64) SF_SUSPECT_ALONE_MS << Min(Max(suspect.seen, 1) - 1, 20));
			if (running && limit <= sf_tick_now())
			{
				sf_poison_release_suspects();
				return false;
			}
			return true;
		}
		if (sf_launcher_may_drive(suspect.database))
		{
			SfDatabase *database;

			LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
			database = sf_shared_register_database(suspect.database);
			LWLockRelease(sf_shared_lock);
			if (database && database->not_before <= sf_tick_now() &&
				sf_processes_retry_at() <= sf_tick_now())
				(void) sf_processes_run_suspects(suspect.database);
			return true;
		}
		forget_database(suspect.database);
	}
	return false;
}

/* --- turns that take long --- */

/*
 * Notice turns that take too long: a task that was short the last time, a wait
 * for a lock that somebody keeps.  What it was about to look at, another one
 * does; after a second such a worker does not count any more.  Returns when to
 * look again.
 */
static SfTick
watch_turns(SfTick now)
{
	int			slow_ms = Max(SF_SLOW_MS, 2 * sf_setting_slice_ms);
	SfTick		next = SF_TICK_NEVER;

	for (int i = 1; i < sf_shared->nslots; i++)
	{
		SfSlot	   *slot = &sf_shared->slots[i];
		SfDatabase *database = sf_shared_find_database(slot->database);
		SfTick		stuck = sf_tick_plus_ms(slot->turn_began, SF_STUCK_MS);
		SfTick		slow = sf_tick_plus_ms(slot->turn_began, slow_ms);

		if (slot->state != SF_SLOT_RUNNING || slot->role != SF_ROLE_WORKER ||
			slot->turn_began == 0 || slot->stuck || !database)
			continue;
		if (slot->nkeys > 1 && slow > now)
		{
			next = Min(next, slow);
			continue;
		}
		slot->stuck = stuck <= now;
		if (slot->stuck || (slot->nkeys > 1 && slot->in_step))
		{
			/* of its keys, too, the tables tell */
			slot->nkeys = 0;
			database->scan = true;
			sf_shared_wake_another(database);
		}
		if (!slot->stuck)
			next = Min(next, slot->nkeys > 1 ?
					   sf_tick_plus_ms(now, slow_ms) : stuck);
	}
	return next;
}

/*
 * Notice keys that were left to a worker that was at it, and that it has not
 * come to: its task takes longer than the last time.  Returns when to look
 * again.
 */
static SfTick
guard_keys(SfTick now)
{
	SfTick		next = SF_TICK_NEVER;

	for (int i = 0; i < SF_MAX_DATABASES; i++)
	{
		SfDatabase *database = &sf_shared->databases[i];
		SfTick		limit = sf_tick_plus_ms(database->left_since, SF_LEFT_MS);

		if (!OidIsValid(database->oid) || database->left_since == 0)
			continue;
		if (limit > now)
		{
			next = Min(next, limit);
			continue;
		}
		database->left_since = 0;
		if (database->ring.count > 0 || database->scan)
			sf_shared_wake_another(database);
	}
	return next;
}

/* Look at what workers are at; returns when to look again. */
static SfTick
look_at_workers(void)
{
	SfTick		now = sf_tick_now();
	SfTick		next;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	next = Min(watch_turns(now), guard_keys(now));
	sf_shared->launcher_looks = next;
	LWLockRelease(sf_shared_lock);
	return next;
}

/* Cancel tasks whose time is up and whose alarm, which goes by the wall clock, is late. */
static void
cancel_overdue(void)
{
	SfTick		limit = sf_tick_plus_ms(sf_tick_now(), -SF_OVERDUE_MS);

	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot->state == SF_SLOT_RUNNING && slot->in_step && slot->pid != 0 &&
			slot->deadline != 0 && slot->deadline < limit)
			kill(slot->pid, SIGINT);
	}
}

/* Look at the clock, and say when it was set back. */
static void
look_at_clock(void)
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

/* --- the launcher's life --- */

/* Keep a process on standby.  When for a while none can be had, for anything, give up. */
static void
keep_processes(SfTick *next)
{
	static SfTick refused_since = 0;
	SfTick		now = sf_tick_now();

	if (sf_processes_keep_standby() || sf_processes_any())
	{
		refused_since = 0;
		return;
	}
	if (refused_since == 0)
		refused_since = now;
	else if (now >= sf_tick_plus_ms(refused_since, SF_ALONE_AFTER_MS))
		sf_alone_begin(to_probe);
	*next = Min(*next, sf_tick_plus_ms(now, SF_REFUSED_RECHECK_MS));
}

/* Have the workers leave: whoever ends the launcher ends them. */
static void
dismiss_workers(int code, Datum arg)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (sf_shared->slots[SF_LAUNCHER_SLOT].pid == MyProcPid)
	{
		sf_shared_free_slot(&sf_shared->slots[SF_LAUNCHER_SLOT]);
		sf_shared->launcher_procno = -1;
		for (int i = 1; i < sf_shared->nslots; i++)
		{
			SfSlot	   *slot = &sf_shared->slots[i];

			if (slot->state == SF_SLOT_FREE)
				continue;
			slot->leave = true;
			sf_shared_wake_slot(slot);
		}
	}
	LWLockRelease(sf_shared_lock);
}

/* Enter the shared area. */
static void
attach(void)
{
	SfSlot	   *slot = &sf_shared->slots[SF_LAUNCHER_SLOT];

	before_shmem_exit(dismiss_workers, (Datum) 0);
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	slot->state = SF_SLOT_RUNNING;
	slot->role = SF_ROLE_LAUNCHER;
	slot->pid = MyProcPid;
	slot->procno = SF_MY_PROCNO;
	slot->since = slot->attached = sf_tick_now();
	sf_shared->launcher_procno = SF_MY_PROCNO;
	/* those that a launcher before this one found are looked at again */
	for (int i = 0; i < SF_MAX_DATABASES; i++)
	{
		if (sf_shared->databases[i].state == SF_DATABASE_DRIVEN)
			sf_shared->databases[i].scan = true;
	}
	LWLockRelease(sf_shared_lock);
	sf_processes_clear();
}

/* Entry point of the launcher. */
void
sfflow_launcher_main(Datum arg)
{
	sf_worker_unblock_signals();
	launcher_context = AllocSetContextCreate(TopMemoryContext, "sfflow launcher",
											 ALLOCSET_DEFAULT_SIZES);
	sf_processes_init();
	attach();
	if (sf_shared->alone)
		sf_alone_drive();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	pgstat_report_appname(MyBgworkerEntry->bgw_name);
	list_databases();

	for (;;)
	{
		SfTick		next = SF_TICK_NEVER;

		/* the exit code has the postmaster start another one */
		if (ProcDiePending)
			proc_exit(1);
		sf_worker_handle_signals();
		look_at_clock();
		sf_processes_reap();
		keep_processes(&next);
		if (!serve_suspects(&next) || SF_DEBUG_MUTATION("alone"))
		{
			next = Min(next, look_at_workers());
			next = Min(next, serve_databases());
			next = Min(next, probe_databases());
			next = Min(next, sf_failures_tell_suppressed());
		}
		sf_worker_sleep_until(Min(next, sf_tick_plus_ms(sf_tick_now(), SF_CLOCK_CHECK_MS)));
	}
}

/* Have the postmaster start the launcher. */
void
sf_launcher_init(void)
{
	BackgroundWorker worker = {0};

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = SF_LAUNCHER_RESTART_S;
	strlcpy(worker.bgw_library_name, "sfflow", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "sfflow_launcher_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_type, "sfflow launcher", BGW_MAXLEN);
	strlcpy(worker.bgw_name, "sfflow launcher", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}
