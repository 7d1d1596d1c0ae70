/*
 * processes.c
 *		Starting workers and noticing that they have ended.
 *
 * The launcher reserves an SfProcess in the shared area, then asks the postmaster for the
 * process and tells it the number.  The process takes it over, and frees it when it ends;
 * where it could not do that, the handle tells the launcher.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/memutils.h"

#include "base/time/timing.h"
#include "base/value/random.h"
#include "worker/launcher/launcher.h"
#include "worker/process/process.h"

/* Handles of the processes, by their numbers, where this launcher started them */
static BackgroundWorkerHandle **handles;
static uint32 *handle_launch;

/* When the postmaster refused a process: pause before the next try */
static int	refusals = 0;
static SfTick retry_at = 0;
static int	standby_refusals = 0;
static SfTick standby_retry_at = 0;

static MemoryContext process_context;

/* Prepare; once, in the launcher. */
void
sf_processes_init(void)
{
	process_context = AllocSetContextCreate(TopMemoryContext, "sfflow processes",
											ALLOCSET_SMALL_SIZES);
	handles = MemoryContextAllocZero(process_context,
									 sf_shared->nprocesses * sizeof(BackgroundWorkerHandle *));
	handle_launch = MemoryContextAllocZero(process_context,
										   sf_shared->nprocesses * sizeof(uint32));
}

/* When the postmaster may be asked again, after it refused a process. */
SfTick
sf_processes_retry_at(void)
{
	return retry_at;
}

/* Make a free entry that of a process that is to come. */
static void
reserve(SfProcess *process, Oid database, SfProcessKind kind, SfErrand errand)
{
	sf_shared_clear_process(process);
	process->status = SF_PROCESS_STATUS_STARTING;
	process->kind = kind;
	process->database = database;
	process->launch = ++sf_shared->launches;
	process->errand = errand;
	process->since = process->attached = sf_tick_now();
}

/* Reserve a free entry, not the keeper's; NULL when there is none. */
SfProcess *
sf_processes_reserve(Oid database, SfProcessKind kind, SfErrand errand)
{
	SfProcess  *found;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	found = sf_shared_find_unused_process();
	if (found)
		reserve(found, database, kind, errand);
	LWLockRelease(sf_shared_lock);
	return found;
}

/*
 * A process of a database has failed: no new one begins at once, and later with each failure in a row.  Those that
 * fail while it is put off had begun before, such as all that an operator terminates, and count with the first.
 */
void
sf_processes_put_off(SfDatabase *database)
{
	SfTick		now = sf_tick_now();

	if (now < database->not_before)
		return;
	database->failures++;
	database->not_before = sf_tick_plus_ms(now, sf_backoff_doubled_ms(database->failures));
}

/* Give up on a process that has not come. */
static void
give_up(SfProcess *process, uint32 launch)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (process->launch == launch && process->status != SF_PROCESS_STATUS_FREE)
	{
		SfDatabase *database = sf_shared_find_database(process->database);

		sf_admit_end(process);
		if (database && OidIsValid(process->database))
		{
			sf_processes_put_off(database);
			sf_shared_want_scan(database);
		}
		sf_shared_clear_process(process);
	}
	LWLockRelease(sf_shared_lock);
	ConditionVariableBroadcast(&sf_shared->process_ended);
}

/* Tell whether there is any process but the launcher and the one on standby. */
bool
sf_processes_are_any(void)
{
	sf_foreach_process(process)
	{
		if (process->status != SF_PROCESS_STATUS_FREE && process->status != SF_PROCESS_STATUS_STANDBY &&
			OidIsValid(process->database))
			return true;
	}
	return false;
}

/*
 * The postmaster has no room left: try again later.  Where a database has no
 * worker at all, say so, once; when there is no process at all alone.c will.
 */
static void
note_refusal(bool first)
{
	static bool said = false;

	first = first && (sf_processes_are_any() || sf_shared_keeper()->status != SF_PROCESS_STATUS_FREE);
	if (first && !said)
		ereport(WARNING,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("sfflow found no free slot for a background worker"),
				 errdetail("A database has to wait for its turn; this is said only once."),
				 errhint("Increase max_worker_processes.")));
	said = said || first;
	if (first)
		sf_shared->refused_at = sf_tick_now();
	refusals++;
	retry_at = sf_tick_plus_ms(sf_tick_now(), sf_backoff_doubled_ms(refusals));
}

/* Ask the postmaster for a process whose entry is reserved; false: it grants no more. */
static bool
register_process(SfProcess *process)
{
	BackgroundWorker worker = {0};
	int			number = (int) (process - sf_shared->processes);
	MemoryContext old;
	bool		started;

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_notify_pid = MyProcPid;
	strlcpy(worker.bgw_library_name, "sfflow", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "sfflow_worker_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_type, "sfflow worker", BGW_MAXLEN);
	if (OidIsValid(process->database))
		snprintf(worker.bgw_name, BGW_MAXLEN, "sfflow worker for database %u", process->database);
	else
		strlcpy(worker.bgw_name, "sfflow worker on standby", BGW_MAXLEN);
	worker.bgw_main_arg = Int32GetDatum(number);
	memcpy(worker.bgw_extra, &process->launch, sizeof(process->launch));

	old = MemoryContextSwitchTo(process_context);
	if (handles[number])
		pfree(handles[number]);
	handles[number] = NULL;
	started = RegisterDynamicBackgroundWorker(&worker, &handles[number]);
	handle_launch[number] = process->launch;
	MemoryContextSwitchTo(old);

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (!started)
	{
		handles[number] = NULL;
		sf_shared_clear_process(process);
	}
	sf_shared->refused = !started;
	LWLockRelease(sf_shared_lock);
	return started;
}

/* Give the process on standby something to do; false: there is none. */
static bool
use_standby(Oid database, SfProcessKind kind, SfErrand errand)
{
	SfProcess  *process = sf_shared_keeper();
	bool		ready;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	ready = process->status == SF_PROCESS_STATUS_STANDBY && !process->is_to_leave;
	if (ready)
	{
		process->kind = kind;
		process->database = database;
		process->errand = errand;
		process->since = process->attached = sf_tick_now();
		process->status = SF_PROCESS_STATUS_RUNNING;
		sf_shared_wake_process(process);
	}
	LWLockRelease(sf_shared_lock);
	return ready;
}

/*
 * Start a process for a database, maybe its first; false when that cannot be
 * done now.  When no process can be had, the one on standby does all the work.
 */
bool
sf_processes_start(Oid database, SfProcessKind kind, bool first, SfErrand errand)
{
	SfProcess  *process = sf_processes_reserve(database, kind, errand);

	if (!process)
		return false;
	if (register_process(process))
	{
		refusals = 0;
		return true;
	}
	note_refusal(first);
	return !sf_processes_are_any() && use_standby(database, kind, errand);
}

/*
 * Have a process on standby, without a database: the keeper to be, or the only
 * worker.  False: the postmaster refuses it.
 */
bool
sf_processes_ensure_standby(void)
{
	SfProcess  *process = sf_shared_keeper();
	bool		vacant;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	vacant = process->status == SF_PROCESS_STATUS_FREE && standby_retry_at <= sf_tick_now();
	if (vacant)
		reserve(process, InvalidOid, SF_PROCESS_KIND_KEEPER, SF_ERRAND_WORK);
	else if (sf_demand_keeper_is_idle() ||
			 (process->status != SF_PROCESS_STATUS_FREE && process->status != SF_PROCESS_STATUS_STANDBY &&
			  process->kind != SF_PROCESS_KIND_KEEPER && !sf_shared->refused &&
			  sf_shared_find_unused_process() != NULL))
	{
		/* other processes can do what it was there for */
		if (!process->is_to_leave)
			sf_shared_wake_process(process);
		process->is_to_leave = true;
	}
	LWLockRelease(sf_shared_lock);
	if (!vacant)
		return process->status != SF_PROCESS_STATUS_FREE;
	if (register_process(process))
	{
		standby_refusals = 0;
		return true;
	}
	sf_shared->refused_at = sf_tick_now();
	standby_refusals++;
	standby_retry_at = sf_tick_plus_ms(sf_tick_now(), sf_backoff_doubled_ms(standby_refusals));
	return false;
}

/*
 * Have the keeper advance a database all of whose processes, and all others,
 * are in tasks.  While another database wants it, too, it goes round.
 */
void
sf_processes_send_keeper(Oid database)
{
	SfProcess  *process = sf_shared_keeper();

	if (use_standby(database, sf_processes_are_any() ? SF_PROCESS_KIND_KEEPER : SF_PROCESS_KIND_WORKER,
					SF_ERRAND_WORK))
		return;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (process->kind == SF_PROCESS_KIND_KEEPER && OidIsValid(process->database) &&
		process->database != database && !process->is_to_leave &&
		(process->status == SF_PROCESS_STATUS_IDLE ||
		 process->attached < sf_tick_plus_ms(sf_tick_now(), -SF_KEEPER_QUANTUM_MS)))
	{
		process->is_to_leave = true;
		sf_shared_wake_process(process);
	}
	LWLockRelease(sf_shared_lock);
}

/* Free the entries of processes that ended without doing so themselves. */
void
sf_processes_reap(void)
{
	for (int i = 1; i < sf_shared->nprocesses; i++)
	{
		pid_t		pid;

		if (handles[i] && GetBackgroundWorkerPid(handles[i], &pid) == BGWH_STOPPED)
		{
			give_up(&sf_shared->processes[i], handle_launch[i]);
			pfree(handles[i]);
			handles[i] = NULL;
			/* there is an entry now */
			retry_at = standby_retry_at = 0;
			sf_shared->refused = false;
		}
	}
}

/*
 * Free the entries that a launcher before this one left behind: those whose
 * process is gone, and those whose process has not come (it will find that its
 * entry is given up, and go).
 */
void
sf_processes_clear(void)
{
	sf_foreach_process(process)
	{
		int			pid = process->pid;

		if (process->status == SF_PROCESS_STATUS_STARTING ||
			(process->status != SF_PROCESS_STATUS_FREE && (pid == 0 || !BackendPidGetProc(pid))))
		{
			LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
			if (process->pid == pid)
				sf_shared_clear_process(process);
			LWLockRelease(sf_shared_lock);
		}
	}
}

