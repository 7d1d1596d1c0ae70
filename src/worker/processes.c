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
#include "utils/timestamp.h"

#include "worker/processes.h"
#include "worker/shared.h"
#include "worker/worker.h"

#define MAX_RETRY_MS	60000

/* Handles of the processes in the slots, where this launcher started them */
static BackgroundWorkerHandle **handles;
static uint32 *handle_launch;

/* When the postmaster refused a process: pause before the next try */
static int	refusals = 0;
static TimestampTz retry_at = 0;

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
TimestampTz
sf_processes_retry_at(void)
{
	return retry_at;
}

/* Reserve a free slot; NULL when there is none. */
static SfSlot *
reserve_slot(Oid database, SfRole role, bool probing, bool suspects)
{
	SfSlot	   *found = NULL;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 1; i < sf_shared->nslots && !found; i++)
	{
		SfSlot	   *slot = &sf_shared->slots[i];

		if (slot->state == SF_SLOT_FREE)
			found = slot;
	}
	if (found)
	{
		sf_shared_free_slot(found);
		found->state = SF_SLOT_STARTING;
		found->role = role;
		found->database = database;
		found->launch = ++sf_shared->launches;
		found->probing = probing;
		found->suspects = suspects;
		found->since = found->attached = GetCurrentTimestamp();
	}
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

		if (database && OidIsValid(slot->database))
		{
			database->failures++;
			database->not_before =
				TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
											1000 << Min(database->failures - 1, 6));
			database->scan = true;
		}
		sf_shared_free_slot(slot);
	}
	LWLockRelease(sf_shared_lock);
	ConditionVariableBroadcast(&sf_shared->slot_freed);
}

/*
 * The postmaster has no place left: try again later.  Where a database has no
 * worker at all, say so, once.
 */
static void
note_refusal(bool first)
{
	static bool said = false;

	if (first && !said)
		ereport(WARNING,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("sfflow found no free slot for a background worker"),
				 errdetail("A database has to wait for its turn; this is said only once."),
				 errhint("Increase max_worker_processes.")));
	said = said || first;
	if (first)
		sf_shared->refused_at = GetCurrentTimestamp();
	refusals++;
	retry_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
										   Min(1000 << Min(refusals - 1, 6), MAX_RETRY_MS));
}

/* Ask the postmaster for a process, in a slot that is kept for it. */
static bool
start_process(Oid database, SfRole role, bool first, bool probing,
			  bool suspects, bool look_only)
{
	BackgroundWorker worker = {0};
	SfWorkerOrder order;
	SfSlot	   *slot = reserve_slot(database, role, probing, suspects);
	int			number;
	MemoryContext old;
	bool		started;

	if (!slot)
		return false;
	number = (int) (slot - sf_shared->slots);
	order.database = database;
	order.slot = number;
	order.launch = slot->launch;
	order.look_only = look_only;

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_notify_pid = MyProcPid;
	strlcpy(worker.bgw_library_name, "sfflow", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "sfflow_worker_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_type, "sfflow worker", BGW_MAXLEN);
	snprintf(worker.bgw_name, BGW_MAXLEN, "sfflow worker for database %u", database);
	memcpy(worker.bgw_extra, &order, sizeof(order));

	old = MemoryContextSwitchTo(process_context);
	if (handles[number])
		pfree(handles[number]);
	handles[number] = NULL;
	started = RegisterDynamicBackgroundWorker(&worker, &handles[number]);
	handle_launch[number] = order.launch;
	MemoryContextSwitchTo(old);
	if (started)
	{
		refusals = 0;
		return true;
	}
	handles[number] = NULL;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_shared_free_slot(slot);
	LWLockRelease(sf_shared_lock);
	note_refusal(first);
	return false;
}

/*
 * Start a process for a database, maybe its first; false when that cannot be
 * done now.
 */
bool
sf_processes_start(Oid database, SfRole role, bool first, bool probing,
				   bool suspects)
{
	return start_process(database, role, first, probing, suspects, false);
}

/* Start a process that looks at a database and leaves. */
bool
sf_processes_look(Oid database)
{
	return start_process(database, SF_ROLE_WORKER, false, true, false, true);
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
			retry_at = 0;		/* there is a place now */
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
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		SfSlot	   *slot = &sf_shared->slots[i];
		int			pid = slot->pid;

		if (slot->state == SF_SLOT_STARTING ||
			(slot->state != SF_SLOT_FREE && (pid == 0 || !BackendPidGetProc(pid))))
		{
			LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
			if (slot->pid == pid)
				sf_shared_free_slot(slot);
			LWLockRelease(sf_shared_lock);
		}
	}
}

