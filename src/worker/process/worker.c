/*
 * worker.c
 *		A worker: its life, from the connection to its end.
 *
 * scheduler.c says what it does next, turn.c does it.
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "miscadmin.h"
#include "pgstat.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "base/settings.h"
#include "base/time/clock.h"
#include "sql_task/sql_task.h"
#include "worker/fault/fault.h"
#include "worker/launcher/launcher.h"
#include "worker/process/process.h"
#include "worker/process/scheduler.h"
#include "worker/turn/turn_xact.h"

/* Wait for a database to be named to this process; false: it is not needed. */
static bool
await_database(void)
{
	bool		wanted;

	while (sf_my_process_awaits_database(&wanted))
	{
		(void) sf_signals_handle();
		sf_signals_sleep_until(SF_TICK_NEVER);
	}
	return wanted;
}

/*
 * Override settings that the configuration or a database may have set for its sessions,
 * not for workers.  They are set as if by SET: the values that RESET restores, with
 * which tasks begin, stay.  Each setting that is overridden costs time at the beginning
 * and end of every task, so one that has the right value is left alone.  So is
 * search_path, which queries of the engine set for themselves, in every session
 * (db/table.c).
 */
static void
override_settings(void)
{
	static const char *const settings[][2] = {
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_deferrable", "off"},
		{"lock_timeout", "0"},
		{"statement_timeout", "0"},
	};

	for (size_t i = 0; i < lengthof(settings); i++)
	{
		if (strcmp(GetConfigOption(settings[i][0], false, false), settings[i][1]) != 0)
			SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_SESSION);
	}
}

/* See to signals; what a changed configuration sets for sessions is overridden again. */
static void
handle_signals(void)
{
	if (sf_signals_handle())
		override_settings();
}

/* Sleep until a time even if the latch is set, unless this process is to leave. */
static void
sit_out(SfTick until)
{
	while (sf_tick_now() < until && !sf_my_process->is_to_leave)
	{
		handle_signals();
		sf_signals_sleep_until(until);
	}
}

/* Advance what is due until asked to leave. */
static void
work_loop(void)
{
	MemoryContext turn_context = AllocSetContextCreate(TopMemoryContext, "sfflow turn",
													   ALLOCSET_DEFAULT_SIZES);
	SfTurn		turn = {.scan_from = DT_NOEND};
	SfTick		alone_until = SF_TICK_NEVER;

	for (;;)
	{
		/* a task that was announced follows at once */
		if (turn.result != SF_TURN_RESULT_ANNOUNCED)
		{
			handle_signals();
			if (sf_alone_is_to_end(&alone_until))
				return;
		}
		switch (sf_scheduler_next(&turn))
		{
			case SF_WORK_STATE_SLEEP:
				pgstat_report_stat(true);
				sf_signals_sleep_until(Min(sf_turn_until(&turn), alone_until));
				break;
			case SF_WORK_STATE_GATHER:
				pg_usleep(sf_scheduler_gather_us());
				break;
			case SF_WORK_STATE_SCAN:
			case SF_WORK_STATE_SEEK:
			case SF_WORK_STATE_SLICE:
			case SF_WORK_STATE_TASK:
			case SF_WORK_STATE_PURGE:
			case SF_WORK_STATE_DELIVER:
			case SF_WORK_STATE_SWEEP:
				MemoryContextReset(turn_context);
				MemoryContextSwitchTo(turn_context);
				sf_turn_run(&turn);
				sf_scheduler_publish(&turn);
				break;
			case SF_WORK_STATE_PAUSE:
				sit_out(sf_turn_until(&turn));
				break;
			case SF_WORK_STATE_LEAVE:
				return;
		}
	}
}

/*
 * Have large allocations go back to the system when they are freed.  glibc
 * keeps more and more of them otherwise, once one has been freed.
 */
static void
limit_kept_memory(void)
{
#ifdef __GLIBC__
	(void) mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	(void) mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

/* Tell the launcher that this database has been probed. */
static void
report_probe(void)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (sf_shared_is_probe(sf_my_process))
		sf_shared->last_probed = MyDatabaseId;
	LWLockRelease(sf_shared_lock);
}

/*
 * Find out what the database holds; tells whether to stay and work.  A process
 * that is only to prepare the database reports to the launcher alone.
 */
static bool
inspect_database(void)
{
	SfTurn		found = {.registrations = sf_scheduler_registrations()};
	bool		prepared,
				stay,
				probed = sf_my_process->errand == SF_ERRAND_PROBE;

	found.verdict = sf_turn_xact_check(&prepared);
	if (prepared)
		report_probe();
	if (sf_my_process->errand == SF_ERRAND_PREPARE)
		return false;
	sf_scheduler_publish(&found);
	if (found.verdict != SF_VERDICT_MAY_WORK)
		return false;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	stay = !probed ||
		sf_shared_count_advancing(InvalidOid) < sf_setting_workers;
	if (stay && probed)
		sf_my_process->errand = SF_ERRAND_WORK;
	LWLockRelease(sf_shared_lock);
	/* the launcher waits for it, to have the next database probed */
	if (stay && probed)
		sf_shared_wake_launcher();
	return stay;
}

/* Run this database's suspects one by one, while no other worker runs. */
static void
run_suspects(void)
{
	SfSuspect	suspect;

	/* the crash has emptied the buckets: a rate would keep each suspect from running alone */
	SF_TELL_PROVIDER(queues, on_suspects_running);
	while (sf_poison_next_suspect(MyDatabaseId, &suspect))
	{
		handle_signals();
		if (sf_my_process->is_to_leave)
			return;
		LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
		sf_my_process->since = sf_tick_now();
		LWLockRelease(sf_shared_lock);
		sf_poison_judge_suspect(MyDatabaseId, suspect.key, sf_turn_run_suspect(suspect.key));
	}
}

/* Connect to the database that this process was reserved for. */
static void
connect_to_database(void)
{
	sf_last_error_watch_exit();
	sf_fatal_settings_off();
	BackgroundWorkerInitializeConnectionByOid(sf_my_process->database, InvalidOid, 0);
	sf_shared->connecting = InvalidOid;
	sf_exits_watch_end();
	pgstat_report_appname(psprintf("sfflow worker for database %u", MyDatabaseId));
	override_settings();
	sf_identity_private_session();
}

/* Run as the process of a number: connect, work until asked to leave, end. */
void
sf_worker_run(int process, uint32 launch)
{
	sf_exits_watch_signals();
	sf_yield_enable();
	limit_kept_memory();
	if (sf_my_process_attach(process, launch) && await_database())
	{
		connect_to_database();
		if (sf_alone_may_drive() && inspect_database())
		{
			if (sf_my_process->errand == SF_ERRAND_SUSPECTS)
				run_suspects();
			else
				work_loop();
		}
	}
	sf_signals_end_process();
}

/* Entry point of a worker: arg is its number, bgw_extra has the launch. */
void
sfflow_worker_main(Datum arg)
{
	uint32		launch;

	memcpy(&launch, MyBgworkerEntry->bgw_extra, sizeof(launch));
	sf_signals_unblock();
	sf_worker_run(DatumGetInt32(arg), launch);
}
