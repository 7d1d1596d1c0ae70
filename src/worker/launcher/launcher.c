/*
 * launcher.c
 *		The launcher: starts and stops the workers of the databases.
 *
 * It connects to no database and does no work itself.  At its start it sends a
 * worker to probe each database (probes.c).  Afterwards it goes by what
 * shared memory holds.  It wakes when its latch is set, when a timer or poll of a
 * database without a worker is due, and every five seconds, to see whether the wall
 * clock was set (overdue.c).
 *
 * A database gets its first worker when it has something to do; another one when
 * keys have waited for a moment with all its workers busy; and a process for a
 * task when a long task was left.  When no further process can be started, an idle worker of
 * another database makes room, or one that has had its share of time (demand.c).
 *
 * After a crash the suspects come first (poison.c).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/memutils.h"

#include "base/error/debug_point.h"
#include "base/settings.h"
#include "base/time/timing.h"
#include "base/version/compat.h"
#include "copy/instance.h"
#include "copy/load_guard.h"
#include "worker/fault/fault.h"
#include "worker/launcher/launcher.h"
#include "worker/process/process.h"
#include "worker/session/await.h"

static MemoryContext launcher_context;

/* --- which database gets a process --- */

/* Start what is wanted; returns when to look again. */
static SfTick
serve_databases(void)
{
	SfTick		next = SF_TICK_NEVER;

	for (;;)
	{
		SfDemand	want = sf_demand_find(&next);

		if (!OidIsValid(want.database))
			return next;
		if (sf_processes_retry_at() > sf_tick_now() || !sf_demand_has_room(want.kind))
		{
			next = Min(next, Max(sf_processes_retry_at(),
								 sf_tick_plus_ms(sf_tick_now(), SF_ROOM_RECHECK_MS)));
			if (want.kind == SF_PROCESS_KIND_TASK)
				sf_demand_offer_tasks();
			else if (want.first && !sf_demand_make_room(&want))
				sf_processes_send_keeper(want.database);
			if (!want.first)
				sf_demand_dismiss_helper(want.database);
			return next;
		}
		if (!sf_databases_may_drive(want.database))
		{
			sf_databases_forget(want.database);
			continue;
		}
		if (sf_processes_start(want.database, want.kind, want.first, SF_ERRAND_WORK))
		{
			SfDatabase *database = sf_shared_lock_database(want.database);

			if (database && want.kind == SF_PROCESS_KIND_WORKER &&
				database->backlog == SF_BACKLOG_WANTED)
				database->backlog = SF_BACKLOG_NONE;
			LWLockRelease(sf_shared_lock);
		}
	}
}

/* --- suspects --- */

/* Find the process that runs the suspects of a crash, or NULL. */
static const SfProcess *
find_process_for_suspects(void)
{
	sf_foreach_process(process)
	{
		if (process->status != SF_PROCESS_STATUS_FREE && process->errand == SF_ERRAND_SUSPECTS)
			return process;
	}
	return NULL;
}

/*
 * Have the suspects of a crash run before all else; false when there are none
 * (left, or that are waited for).  *next: when to look again.
 */
static bool
serve_suspects(SfTick *next)
{
	SfSuspect	suspect;
	const SfProcess *process;

	while (sf_poison_next_suspect(InvalidOid, &suspect))
	{
		*next = sf_tick_plus_ms(sf_tick_now(), SF_ROOM_RECHECK_MS);
		process = find_process_for_suspects();
		if (process != NULL || (sf_processes_are_any() && !SF_DEBUG_MUTATION("alone")))
		{
			int64		limit_ms = (int64) SF_SUSPECT_ALONE_MS << Min(Max(suspect.seen, 1) - 1, 20);

			if (process == NULL || sf_tick_plus_ms(process->since, limit_ms) > sf_tick_now())
				return true;
			sf_poison_release_suspects();
			return false;
		}
		if (sf_databases_may_drive(suspect.database))
		{
			SfDatabase *database;

			LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
			database = sf_shared_register_database(suspect.database);
			LWLockRelease(sf_shared_lock);
			if (database && database->not_before <= sf_tick_now() &&
				sf_processes_retry_at() <= sf_tick_now())
				(void) sf_processes_start(suspect.database, SF_PROCESS_KIND_TASK, true,
										  SF_ERRAND_SUSPECTS);
			return true;
		}
		sf_databases_forget(suspect.database);
	}
	return false;
}

/* --- alone --- */

/* Forget a database to which the process before this one could not connect. */
static void
forget_unreachable(void)
{
	Oid			oid = sf_shared->connecting;

	sf_shared->connecting = InvalidOid;
	if (OidIsValid(oid))
		sf_databases_forget(oid);
}

/*
 * As the only process: drive the database of a suspect of a crash, else the one
 * that has waited longest.
 */
static void pg_attribute_noreturn()
drive_alone(void)
{
	sf_alone_start();
	forget_unreachable();
	for (;;)
	{
		SfTick		next = SF_TICK_NEVER;
		Oid			database;
		bool		suspects;
		SfSuspect	suspect;

		if (ProcDiePending || sf_alone_can_launch())
			proc_exit(1);
		sf_signals_handle();
		sf_shared->max_payload_bytes = sf_setting_max_payload_bytes;
		LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
		(void) sf_shared_check_clock();
		LWLockRelease(sf_shared_lock);
		suspects = sf_poison_next_suspect(InvalidOid, &suspect);
		database = suspects ? suspect.database : sf_demand_find(&next).database;
		if (OidIsValid(database))
		{
			SfProcess  *process = sf_processes_reserve(database, SF_PROCESS_KIND_WORKER,
													   suspects ? SF_ERRAND_SUSPECTS : SF_ERRAND_WORK);

			sf_shared->connecting = database;
			sf_worker_run((int) (process - sf_shared->processes), process->launch);
		}
		sf_signals_sleep_until(Min(next, sf_tick_plus_ms(sf_tick_now(), SF_CLOCK_CHECK_MS)));
	}
}

/* --- the launcher's life --- */

/* Keep a process on standby.  When for a while none can be had, for anything, give up. */
static void
keep_processes(SfTick *next)
{
	static SfTick refused_since = 0;
	SfTick		now = sf_tick_now();

	if (sf_processes_ensure_standby() || sf_processes_are_any())
	{
		refused_since = 0;
		return;
	}
	if (refused_since == 0)
		refused_since = now;
	else if (now >= sf_tick_plus_ms(refused_since, SF_ALONE_AFTER_MS))
		sf_alone_begin(sf_probes_left());
	*next = Min(*next, sf_tick_plus_ms(now, SF_REFUSED_RECHECK_MS));
}

/* Have the workers leave: they end with the launcher. */
static void
dismiss_workers(int code, Datum arg)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (sf_shared->processes[SF_LAUNCHER_PROCESS].pid == MyProcPid)
	{
		sf_shared_clear_process(&sf_shared->processes[SF_LAUNCHER_PROCESS]);
		sf_shared->launcher_procno = SF_NO_LAUNCHER;
		sf_foreach_process(process)
		{
			if (process->status == SF_PROCESS_STATUS_FREE)
				continue;
			process->is_to_leave = true;
			sf_shared_wake_process(process);
		}
	}
	LWLockRelease(sf_shared_lock);
}

/* Enter the shared area. */
static void
attach(void)
{
	SfProcess  *process = &sf_shared->processes[SF_LAUNCHER_PROCESS];

	before_shmem_exit(dismiss_workers, (Datum) 0);
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	process->status = SF_PROCESS_STATUS_RUNNING;
	process->kind = SF_PROCESS_KIND_LAUNCHER;
	process->pid = MyProcPid;
	process->procno = SF_MY_PROCNO;
	process->since = process->attached = sf_tick_now();
	sf_shared->launcher_procno = SF_MY_PROCNO;
	/* those that a launcher before this one found are looked at again */
	sf_foreach_database(database)
	{
		if (database->status == SF_DATABASE_DRIVEN)
			sf_shared_want_scan(database);
	}
	LWLockRelease(sf_shared_lock);
	sf_processes_clear();
}

/* Entry point of the launcher. */
void
sfflow_launcher_main(Datum arg)
{
	sf_signals_unblock();
	launcher_context = AllocSetContextCreate(TopMemoryContext, "sfflow launcher",
											 ALLOCSET_DEFAULT_SIZES);
	sf_processes_init();
	attach();
	if (sf_shared->alone == SF_ALONE_NOW)
		drive_alone();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	pgstat_report_appname(MyBgworkerEntry->bgw_name);
	sf_probes_begin(launcher_context);

	for (;;)
	{
		SfTick		next = SF_TICK_NEVER;

		/* the exit code has the postmaster start another one */
		if (ProcDiePending)
			proc_exit(1);
		sf_signals_handle();
		sf_shared->max_payload_bytes = sf_setting_max_payload_bytes;
		sf_overdue_check_clock();
		sf_processes_reap();
		keep_processes(&next);
		if (!serve_suspects(&next) || SF_DEBUG_MUTATION("alone"))
		{
			next = Min(next, sf_overdue_check());
			next = Min(next, serve_databases());
			next = Min(next, sf_probes_next());
			next = Min(next, sf_failures_tell_suppressed());
		}
		sf_signals_sleep_until(Min(next, sf_tick_plus_ms(sf_tick_now(), SF_CLOCK_CHECK_MS)));
	}
}

/* Have the postmaster start the launcher. */
static void
register_launcher(void)
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

/* Make everything work in the background; from _PG_init while preloading. */
void
sf_worker_init(void)
{
	sf_area_init();
	sf_wake_init();
	sf_my_process_init();
	sf_durations_init();
	sf_leave_init();
	sf_prepared_init();
	sf_load_guard_init(sf_instance_stop);
	register_launcher();
}
