/*
 * processes.c
 *		Starting workers and noticing that they have ended.
 *
 * The launcher keeps a slot, then asks the postmaster for a process and tells
 * it the slot.  The process takes the slot over, and frees it when it ends;
 * where it could not do that, the handle tells the launcher.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/memutils.h"

#include "base/random.h"
#include "base/timing.h"
#include "worker/admit.h"
#include "worker/launcher.h"
#include "worker/worker.h"

/* Handles of the processes in the slots, where this launcher started them */
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
									 sf_shared->nslots * sizeof(BackgroundWorkerHandle *));
	handle_launch = MemoryContextAllocZero(process_context,
										   sf_shared->nslots * sizeof(uint32));
}

/* When the postmaster may be asked again, after it refused a process. */
SfTick
sf_processes_retry_at(void)
{
	return retry_at;
}

/* Make a free slot that of a process that is to come. */
static void
reserve(SfSlot *slot, Oid database, SfRole role, SfErrand errand)
{
	sf_shared_clear_slot(slot);
	slot->state = SF_SLOT_STARTING;
	slot->role = role;
	slot->database = database;
	slot->launch = ++sf_shared->launches;
	slot->errand = errand;
	slot->since = slot->attached = sf_tick_now();
}

/* Reserve a free slot, not the keeper's; NULL when there is none. */
SfSlot *
sf_processes_reserve_slot(Oid database, SfRole role, SfErrand errand)
{
	SfSlot	   *found;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	found = sf_shared_find_free_slot();
	if (found)
		reserve(found, database, role, errand);
	LWLockRelease(sf_shared_lock);
	return found;
}

/* Give up on a process that has not come. */
static void
release_slot(SfSlot *slot, uint32 launch)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (slot->launch == launch && slot->state != SF_SLOT_FREE)
	{
		SfDatabase *database = sf_shared_find_database(slot->database);

		sf_admit_end(slot);
		if (database && OidIsValid(slot->database))
		{
			database->failures++;
			database->not_before =
				sf_tick_plus_ms(sf_tick_now(), sf_backoff_doubled_ms(database->failures));
			sf_shared_want_scan(database);
		}
		sf_shared_clear_slot(slot);
	}
	LWLockRelease(sf_shared_lock);
	ConditionVariableBroadcast(&sf_shared->slot_freed);
}

/* Tell whether there is any process but the launcher and the one on standby. */
bool
sf_processes_any(void)
{
	sf_foreach_slot(slot)
	{
		if (slot->state != SF_SLOT_FREE && slot->state != SF_SLOT_STANDBY &&
			OidIsValid(slot->database))
			return true;
	}
	return false;
}

/*
 * The postmaster has no place left: try again later.  Where a database has no
 * worker at all, say so, once; when there is no process at all alone.c will.
 */
static void
note_refusal(bool first)
{
	static bool said = false;

	first = first && (sf_processes_any() || sf_shared_keeper_slot()->state != SF_SLOT_FREE);
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

/* Ask the postmaster for the process of a slot; false: it has no place left. */
static bool
register_process(SfSlot *slot)
{
	BackgroundWorker worker = {0};
	int			number = (int) (slot - sf_shared->slots);
	MemoryContext old;
	bool		started;

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_notify_pid = MyProcPid;
	strlcpy(worker.bgw_library_name, "sfflow", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "sfflow_worker_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_type, "sfflow worker", BGW_MAXLEN);
	if (OidIsValid(slot->database))
		snprintf(worker.bgw_name, BGW_MAXLEN, "sfflow worker for database %u", slot->database);
	else
		strlcpy(worker.bgw_name, "sfflow worker on standby", BGW_MAXLEN);
	worker.bgw_main_arg = Int32GetDatum(number);
	memcpy(worker.bgw_extra, &slot->launch, sizeof(slot->launch));

	old = MemoryContextSwitchTo(process_context);
	if (handles[number])
		pfree(handles[number]);
	handles[number] = NULL;
	started = RegisterDynamicBackgroundWorker(&worker, &handles[number]);
	handle_launch[number] = slot->launch;
	MemoryContextSwitchTo(old);

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (!started)
	{
		handles[number] = NULL;
		sf_shared_clear_slot(slot);
	}
	sf_shared->refused = !started;
	LWLockRelease(sf_shared_lock);
	return started;
}

/* Give the process on standby something to do; false: there is none. */
static bool
use_standby(Oid database, SfRole role, SfErrand errand)
{
	SfSlot	   *slot = sf_shared_keeper_slot();
	bool		ready;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	ready = slot->state == SF_SLOT_STANDBY && !slot->leave;
	if (ready)
	{
		slot->role = role;
		slot->database = database;
		slot->errand = errand;
		slot->since = slot->attached = sf_tick_now();
		slot->state = SF_SLOT_RUNNING;
		sf_shared_wake_slot(slot);
	}
	LWLockRelease(sf_shared_lock);
	return ready;
}

/*
 * Start a process for a database, maybe its first; false when that cannot be
 * done now.  When no process can be had, the one on standby does all the work.
 */
bool
sf_processes_start(Oid database, SfRole role, bool first, SfErrand errand)
{
	SfSlot	   *slot = sf_processes_reserve_slot(database, role, errand);

	if (!slot)
		return false;
	if (register_process(slot))
	{
		refusals = 0;
		return true;
	}
	note_refusal(first);
	return !sf_processes_any() && use_standby(database, role, errand);
}

/*
 * Have a process on standby, without a database: the keeper to be, or the only
 * worker.  False: the postmaster refuses it.
 */
bool
sf_processes_keep_standby(void)
{
	SfSlot	   *slot = sf_shared_keeper_slot();
	bool		vacant;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	vacant = slot->state == SF_SLOT_FREE && standby_retry_at <= sf_tick_now();
	if (vacant)
		reserve(slot, InvalidOid, SF_ROLE_KEEPER, SF_ERRAND_WORK);
	else if (sf_demand_keeper_is_idle() ||
			 (slot->state != SF_SLOT_FREE && slot->state != SF_SLOT_STANDBY &&
			  slot->role != SF_ROLE_KEEPER && !sf_shared->refused &&
			  sf_shared_find_free_slot() != NULL))
	{
		/* other processes can do what it was there for */
		if (!slot->leave)
			sf_shared_wake_slot(slot);
		slot->leave = true;
	}
	LWLockRelease(sf_shared_lock);
	if (!vacant)
		return slot->state != SF_SLOT_FREE;
	if (register_process(slot))
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
	SfSlot	   *slot = sf_shared_keeper_slot();

	if (use_standby(database, sf_processes_any() ? SF_ROLE_KEEPER : SF_ROLE_WORKER,
					SF_ERRAND_WORK))
		return;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (slot->role == SF_ROLE_KEEPER && OidIsValid(slot->database) &&
		slot->database != database && !slot->leave &&
		(slot->state == SF_SLOT_IDLE ||
		 slot->attached < sf_tick_plus_ms(sf_tick_now(), -SF_KEEPER_QUANTUM_MS)))
	{
		slot->leave = true;
		sf_shared_wake_slot(slot);
	}
	LWLockRelease(sf_shared_lock);
}

/* Free the slots of processes that ended without doing so themselves. */
void
sf_processes_reap(void)
{
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		pid_t		pid;

		if (handles[i] && GetBackgroundWorkerPid(handles[i], &pid) == BGWH_STOPPED)
		{
			release_slot(&sf_shared->slots[i], handle_launch[i]);
			pfree(handles[i]);
			handles[i] = NULL;
			/* there is a place now */
			retry_at = standby_retry_at = 0;
			sf_shared->refused = false;
		}
	}
}

/*
 * Free the slots that a launcher before this one left behind: those whose
 * process is gone, and those whose process has not come (it will find that its
 * slot is given up, and go).
 */
void
sf_processes_clear(void)
{
	sf_foreach_slot(slot)
	{
		int			pid = slot->pid;

		if (slot->state == SF_SLOT_STARTING ||
			(slot->state != SF_SLOT_FREE && (pid == 0 || !BackendPidGetProc(pid))))
		{
			LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
			if (slot->pid == pid)
				sf_shared_clear_slot(slot);
			LWLockRelease(sf_shared_lock);
		}
	}
}

