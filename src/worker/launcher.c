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
 * when keys have waited for MORE_DELAY_MS with all its workers busy; one more,
 * as a process for a task, when a long task was left.  When all places are
 * taken, an idle worker of another database makes room, and where nobody is
 * idle, one that has had its QUANTUM_MS does.
 *
 * After a crash the suspects come first (poison.c).
 */
#include "postgres.h"

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
#include "storage/procarray.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/compat.h"
#include "base/settings.h"
#include "worker/poison.h"
#include "worker/shared.h"
#include "worker/slot.h"
#include "worker/worker.h"

#define RESTART_SECONDS		5
#define MORE_DELAY_MS		20
#define QUANTUM_MS			5000
#define ROOM_RECHECK_MS		200
#define FIRST_ALONE_MS		5000
#define MAX_RETRY_MS		60000

/* A database that is to be given a process */
typedef struct Want
{
	Oid			database;		/* InvalidOid: nobody wants one */
	SfRole		role;
	bool		first;			/* it has none */
	TimestampTz since;
} Want;

/* Handles of the processes in the slots, where this launcher started them */
static BackgroundWorkerHandle **handles;
static uint32 *handle_launch;

/* Databases that are still to be looked at after the start */
static List *to_probe = NIL;
static MemoryContext launcher_context;

/* When the postmaster refused a process: pause before the next try */
static int	refusals = 0;
static TimestampTz retry_at = 0;

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
row_is_drivable(HeapTuple tuple)
{
	Form_pg_database row = (Form_pg_database) GETSTRUCT(tuple);

	/* -2: left half dropped */
	return row->datallowconn && row->datconnlimit != -2 &&
		name_is_allowed(NameStr(row->datname));
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

		if (!row_is_drivable(tuple))
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

/* Tell whether a database is (still) there and may be driven. */
static bool
database_is_drivable(Oid oid)
{
	HeapTuple	tuple;
	bool		drivable = false;

	StartTransactionCommand();
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(oid));
	if (HeapTupleIsValid(tuple))
	{
		drivable = row_is_drivable(tuple);
		ReleaseSysCache(tuple);
	}
	CommitTransactionCommand();
	return drivable;
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

/* --- processes --- */

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

/*
 * Start a process for a database, maybe its first; false when that cannot be
 * done now.
 */
static bool
start_process(Oid database, SfRole role, bool first, bool probing, bool suspects)
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

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_notify_pid = MyProcPid;
	strlcpy(worker.bgw_library_name, "sfflow", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "sfflow_worker_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_type, "sfflow worker", BGW_MAXLEN);
	snprintf(worker.bgw_name, BGW_MAXLEN, "sfflow worker for database %u", database);
	memcpy(worker.bgw_extra, &order, sizeof(order));

	old = MemoryContextSwitchTo(launcher_context);
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

/* Free the slots of processes that ended without doing so themselves. */
static void
reap(void)
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
static void
clear_slots(void)
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

/* --- who gets one --- */

/* Take the earlier one as the time to look again. */
static void
look_at(TimestampTz *next, TimestampTz at)
{
	if (at < *next)
		*next = at;
}

/* Put a candidate first when it is more urgent than the one so far. */
static void
consider(Want *want, Oid database, SfRole role, bool first, TimestampTz since)
{
	if (OidIsValid(want->database) &&
		(want->first > first || (want->first == first && want->since <= since)))
		return;
	want->database = database;
	want->role = role;
	want->first = first;
	want->since = since;
}

/* Tell whether a process for a long task stands by in a database. */
static bool
task_process_stands_by(Oid database)
{
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot->state != SF_SLOT_FREE && slot->database == database &&
			slot->role == SF_ROLE_TASK && !slot->may_task && !slot->leave)
			return true;
	}
	return false;
}

/* Tell whether a long task runs in a database. */
static bool
runs_task(Oid database)
{
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot->state != SF_SLOT_FREE && slot->database == database &&
			slot->role == SF_ROLE_TASK && slot->may_task)
			return true;
	}
	return false;
}

/* Look at a database that has no worker. */
static void
consider_first(SfDatabase *database, TimestampTz now, Want *want, TimestampTz *next)
{
	TimestampTz due = Min(database->next_timer, database->next_poll);

	if (database->state == SF_DATABASE_UNKNOWN || database->scan ||
		database->ring_count > 0)
		due = now;
	if (due > now)
	{
		database->waiting_since = 0;
		look_at(next, due);
		return;
	}
	if (database->waiting_since == 0)
		database->waiting_since = now;
	consider(want, database->oid, SF_ROLE_WORKER, true, database->waiting_since);
}

/* Look at a database that has workers: do they suffice? */
static void
consider_more(SfDatabase *database, TimestampTz now, Want *want, TimestampTz *next)
{
	TimestampTz at;

	database->waiting_since = 0;

	/* while long tasks run, the second one may take on what is new */
	if (sf_shared_count_advancing(database->oid) < 2 && runs_task(database->oid) &&
		sf_shared_count_advancing(InvalidOid) < sf_setting_workers)
	{
		consider(want, database->oid, SF_ROLE_WORKER, false, now);
		return;
	}
	if (database->ring_count == 0 && !database->scan)
		database->more_wanted = false;
	if (!database->more_wanted)
		return;
	if (database->more_since == 0)
		database->more_since = now;
	at = TimestampTzPlusMilliseconds(database->more_since, MORE_DELAY_MS);
	if (at > now)
		look_at(next, at);
	else
		consider(want, database->oid, SF_ROLE_WORKER, false, database->more_since);
}

/* Find the database that is to get a process first; *next: when to look again. */
static Want
find_want(TimestampTz *next)
{
	Want		want = {0};
	TimestampTz now = GetCurrentTimestamp();

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 0; i < SF_MAX_DATABASES; i++)
	{
		SfDatabase *database = &sf_shared->databases[i];

		if (!OidIsValid(database->oid) || database->leaving > 0 ||
			database->state == SF_DATABASE_NOT_DRIVEN)
			continue;
		if (database->not_before > now)
		{
			look_at(next, database->not_before);
			continue;
		}
		if (sf_shared_count_advancing(database->oid) == 0)
			consider_first(database, now, &want, next);
		else
			consider_more(database, now, &want, next);
		if ((database->task_wanted || database->new_task_wanted) &&
			sf_shared_count_tasks() < sf_shared_max_tasks() &&
			!task_process_stands_by(database->oid))
			consider(&want, database->oid, SF_ROLE_TASK, false, now);
	}
	LWLockRelease(sf_shared_lock);
	return want;
}

/* Tell whether there is a place for a process of that role. */
static bool
has_room(SfRole role)
{
	bool		free_slot = false;
	int			advancing;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 1; i < sf_shared->nslots && !free_slot; i++)
		free_slot = sf_shared->slots[i].state == SF_SLOT_FREE;
	advancing = sf_shared_count_advancing(InvalidOid);
	LWLockRelease(sf_shared_lock);
	return free_slot && (role == SF_ROLE_TASK || advancing < sf_setting_workers);
}

/*
 * Ask one process to leave, for a database that has none: an idle one, or one
 * that has had its share of time.
 */
static void
make_room(const Want *want)
{
	TimestampTz now = GetCurrentTimestamp();
	SfSlot	   *victim = NULL;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		SfSlot	   *slot = &sf_shared->slots[i];
		bool		idle = slot->state == SF_SLOT_IDLE;

		if (slot->state == SF_SLOT_FREE || slot->database == want->database)
			continue;
		if (slot->leave)
		{
			/* somebody is on the way out */
			victim = NULL;
			break;
		}
		if (!idle && (slot->role != SF_ROLE_WORKER ||
					  slot->attached > TimestampTzPlusMilliseconds(now, -QUANTUM_MS)))
			continue;
		if (!victim || (idle && victim->state != SF_SLOT_IDLE) ||
			(idle == (victim->state == SF_SLOT_IDLE) && slot->since < victim->since))
			victim = slot;
	}
	if (victim)
	{
		victim->leave = true;
		sf_shared_wake_slot(victim);
	}
	LWLockRelease(sf_shared_lock);
}

/* Start what is wanted; returns when to look again. */
static TimestampTz
serve_databases(void)
{
	TimestampTz next = DT_NOEND;

	for (;;)
	{
		Want		want = find_want(&next);

		if (!OidIsValid(want.database))
			return next;
		if (retry_at > GetCurrentTimestamp() || !has_room(want.role))
		{
			next = Min(next, Max(retry_at,
								 TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
															 ROOM_RECHECK_MS)));
			if (want.first)
				make_room(&want);
			return next;
		}
		if (!database_is_drivable(want.database))
		{
			forget_database(want.database);
			continue;
		}
		if (start_process(want.database, want.role, want.first, false, false))
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

/* Have the next database looked at; returns when to look again. */
static TimestampTz
probe_databases(void)
{
	TimestampTz now = GetCurrentTimestamp();

	while (to_probe != NIL && !probe_runs())
	{
		Oid			oid = linitial_oid(to_probe);
		SfDatabase *database;
		bool		known;

		if (retry_at > now)
			return retry_at;
		if (!has_room(SF_ROLE_TASK))
			return TimestampTzPlusMilliseconds(now, ROOM_RECHECK_MS);
		LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
		known = sf_shared_find_database(oid) != NULL;
		database = sf_shared_register_database(oid);
		if (database && !known)
		{
			/* the probe is all that is wanted for now */
			database->state = SF_DATABASE_NOT_DRIVEN;
		}
		known = known || !database || database->leaving > 0;
		LWLockRelease(sf_shared_lock);
		if (!known && database_is_drivable(oid) &&
			!start_process(oid, SF_ROLE_WORKER, false, true, false))
			return Max(retry_at, TimestampTzPlusMilliseconds(now, ROOM_RECHECK_MS));
		to_probe = list_delete_first(to_probe);
	}
	return DT_NOEND;
}

/* Tell whether processes run, and since when the one for suspects is at its step. */
static bool
any_process(bool *for_suspects, TimestampTz *since)
{
	bool		any = false;

	*for_suspects = false;
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot->state == SF_SLOT_FREE)
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
serve_suspects(TimestampTz *next)
{
	SfSuspect	suspect;
	bool		running;
	TimestampTz since = 0;
	TimestampTz limit;

	while (sf_poison_next_suspect(InvalidOid, &suspect))
	{
		*next = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ROOM_RECHECK_MS);
		if (any_process(&running, &since))
		{
			limit = TimestampTzPlusMilliseconds(since,
												(int64) FIRST_ALONE_MS << Min(Max(suspect.seen, 1) - 1, 20));
			if (running && limit <= GetCurrentTimestamp())
			{
				sf_poison_release_suspects();
				return false;
			}
			return true;
		}
		if (database_is_drivable(suspect.database))
		{
			SfDatabase *database;

			LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
			database = sf_shared_register_database(suspect.database);
			LWLockRelease(sf_shared_lock);
			if (database && database->not_before <= GetCurrentTimestamp() &&
				retry_at <= GetCurrentTimestamp())
				(void) start_process(suspect.database, SF_ROLE_TASK, true, false, true);
			return true;
		}
		forget_database(suspect.database);
	}
	return false;
}

/* --- the launcher's life --- */

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
	slot->since = slot->attached = GetCurrentTimestamp();
	sf_shared->launcher_procno = SF_MY_PROCNO;
	/* those that a launcher before this one found are looked at again */
	for (int i = 0; i < SF_MAX_DATABASES; i++)
	{
		if (sf_shared->databases[i].state == SF_DATABASE_DRIVEN)
			sf_shared->databases[i].scan = true;
	}
	LWLockRelease(sf_shared_lock);
	clear_slots();
}

/* Entry point of the launcher. */
void
sfflow_launcher_main(Datum arg)
{
	sf_worker_unblock_signals();
	launcher_context = AllocSetContextCreate(TopMemoryContext, "sfflow launcher",
											 ALLOCSET_DEFAULT_SIZES);
	handles = MemoryContextAllocZero(launcher_context,
									 sf_shared->nslots * sizeof(BackgroundWorkerHandle *));
	handle_launch = MemoryContextAllocZero(launcher_context,
										   sf_shared->nslots * sizeof(uint32));
	attach();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	pgstat_report_appname(MyBgworkerEntry->bgw_name);
	list_databases();

	for (;;)
	{
		TimestampTz next = DT_NOEND;

		/* the exit code has the postmaster start another one */
		if (ProcDiePending)
			proc_exit(1);
		sf_worker_handle_signals();
		reap();
		if (!serve_suspects(&next))
		{
			next = serve_databases();
			next = Min(next, probe_databases());
		}
		sf_worker_sleep_until(next);
	}
}

/* Have the postmaster start the launcher. */
void
sf_launcher_init(void)
{
	BackgroundWorker worker = {0};

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = RESTART_SECONDS;
	strlcpy(worker.bgw_library_name, "sfflow", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "sfflow_launcher_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_type, "sfflow launcher", BGW_MAXLEN);
	strlcpy(worker.bgw_name, "sfflow launcher", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}
