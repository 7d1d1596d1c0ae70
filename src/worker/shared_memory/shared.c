/*
 * shared.c
 *		Operations on the shared area: processes, databases, rings, waking.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/proc.h"

#include "base/settings.h"
#include "base/time/timing.h"
#include "base/version/compat.h"
#include "worker/shared_memory/shared.h"

SfShared   *sf_shared = NULL;
LWLock	   *sf_shared_lock = NULL;
LWLockPadded *sf_database_locks = NULL;

/* Take the lock exclusively; returns a database, or NULL. */
SfDatabase *
sf_shared_lock_database(Oid oid)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	return sf_shared_find_database(oid);
}

/* The lock of a database that this process has, beside the other one; NULL: none */
static LWLock *entered = NULL;

/*
 * Take the locks for what concerns one database alone, and return it.  NULL: it is not
 * known; then the lock of all is held exclusively, and it may be registered.
 */
SfDatabase *
sf_shared_enter(Oid oid)
{
	SfDatabase *database;

	entered = NULL;
	LWLockAcquire(sf_shared_lock, LW_SHARED);
	database = sf_shared_find_database(oid);
	if (database == NULL)
	{
		LWLockRelease(sf_shared_lock);
		return sf_shared_lock_database(oid);
	}
	entered = &sf_database_locks[database - sf_shared_databases()].lock;
	LWLockAcquire(entered, LW_EXCLUSIVE);
	return database;
}

/* Give them back. */
void
sf_shared_leave(void)
{
	if (entered != NULL)
		LWLockRelease(entered);
	entered = NULL;
	LWLockRelease(sf_shared_lock);
}

/* Find a database, or NULL. */
SfDatabase *
sf_shared_find_database(Oid oid)
{
	static SfDatabase *last = NULL; /* a backend asks for its own nearly always */

	if (last && last->oid == oid)
		return last;
	sf_foreach_database(database)
	{
		if (database->oid == oid)
		{
			last = database;
			return database;
		}
	}
	return NULL;
}

/* Find a database or register it; NULL when the table is full. */
SfDatabase *
sf_shared_register_database(Oid oid)
{
	SfDatabase *database = sf_shared_find_database(oid);

	if (database)
		return database;
	database = sf_shared_find_database(InvalidOid);
	if (!database)
	{
		sf_shared->databases_exhausted = true;
		return NULL;
	}
	memset(database, 0, offsetof(SfDatabase, ring));
	sf_ring_clear(&database->ring);
	sf_skipped_clear(&database->skipped);
	database->oid = oid;
	database->status = SF_DATABASE_UNKNOWN;
	database->next_timer = database->remainder_from = DT_NOEND;
	database->announced.from = DT_NOBEGIN;
	database->announced.others = true;
	database->next_delivery = SF_TICK_NEVER;	/* until the first scan has looked */
	database->next_queue = SF_TICK_NEVER;
	database->next_purge = sf_tick_plus_ms(sf_tick_now(), sf_setting_purge_interval * 1000L);
	sf_shared_want_scan(database);
	return database;
}

/* Return when the next poll is due: poll_interval from now. */
SfTick
sf_shared_next_poll(void)
{
	return sf_tick_plus_ms(sf_tick_now(), (int64) sf_setting_poll_interval * 1000);
}

/* No scan is wanted any more: the next one is the poll. */
void
sf_shared_scan_later(SfDatabase *database)
{
	database->wants_scan = false;
	database->next_scan = database->next_poll;
	database->scan_from = DT_NOEND;
}

/* Tell whether a process is a worker that advances, or will when it is there. */
bool
sf_shared_advances(const SfProcess *process)
{
	return process->status != SF_PROCESS_STATUS_FREE && process->kind == SF_PROCESS_KIND_WORKER &&
		!process->is_to_leave && !sf_shared_is_probe(process) && !process->stuck;
}

/* Count a database's (InvalidOid: all databases') workers that advance. */
int
sf_shared_count_advancing(Oid oid)
{
	int			count = 0;

	sf_foreach_process(process)
	{
		if (sf_shared_advances(process) &&
			(!OidIsValid(oid) || process->database == oid))
			count++;
	}
	return count;
}

/*
 * Tell whether a task occupies a process, for a time that is not known.  None does while
 * it searches for a task, or waits in a turn without user code.
 */
bool
sf_shared_is_occupied(const SfProcess *process)
{
	return process->status != SF_PROCESS_STATUS_FREE && OidIsValid(process->user_owner) &&
		(process->stuck || (process->kind == SF_PROCESS_KIND_TASK && process->may_run_task));
}

/* Find a free entry for one more worker or process for tasks, or NULL. */
SfProcess *
sf_shared_find_unused_process(void)
{
	sf_foreach_process(process)
	{
		if (process->status == SF_PROCESS_STATUS_FREE && process != sf_shared_keeper())
			return process;
	}
	return NULL;
}

/*
 * How many workers and processes for tasks there may be: as many as max_workers
 * says, or as the postmaster has granted when it grants no more.
 */
int
sf_shared_max_processes(void)
{
	int			count = 0;

	sf_foreach_process(process)
	{
		bool		taken = process->status != SF_PROCESS_STATUS_FREE &&
			process->status != SF_PROCESS_STATUS_STANDBY && process->kind != SF_PROCESS_KIND_KEEPER;

		if (taken || (!sf_shared->refused && process != sf_shared_keeper()))
			count++;
	}
	return Max(count, 1);
}

/* Does a process count as one that is in a task? So does one whose turn takes too long; not one that searches. */
bool
sf_shared_counts_as_task(const SfProcess *process)
{
	return process->status != SF_PROCESS_STATUS_FREE && (process->stuck || sf_shared_is_occupied(process));
}

/* Count the processes that are in tasks: long ones, and those that overrun. */
int
sf_shared_count_tasks(void)
{
	int			count = 0;

	sf_foreach_process(process)
	{
		if (sf_shared_counts_as_task(process))
			count++;
	}
	return count;
}

/* Put a key into the ring; when the ring is full, ask for a scan of the due index. */
void
sf_shared_push(SfDatabase *database, SfWorkKey key, Oid owner, TimestampTz due)
{
	switch (sf_ring_push(&database->ring, key, owner))
	{
		case SF_RING_ROOM:
			return;
		case SF_RING_NO_ROOM:
			sf_shared_want_scan_from(database, due);
			return;
		case SF_RING_LOST_ANOTHER:
			sf_shared_want_scan(database);
	}
}

/* Put keys that were taken back into the ring, before those of their owner. */
void
sf_shared_put_back(SfDatabase *database, const SfWorkKey *keys, int nkeys,
				   Oid owner)
{
	while (nkeys > 0)
	{
		if (sf_ring_put_back(&database->ring, keys[--nkeys], owner) != SF_RING_ROOM)
			sf_shared_want_scan(database);
	}
}

/* As many keys as a slice will come to: the others are left to idle workers. */
static int
keys_of_a_turn(const SfDatabase *database, int size)
{
	if (database->key_us == 0)
		return size;
	return Max(1, Min(size, sf_setting_slice_ms * 1000 / database->key_us));
}

/*
 * Take keys of one owner out of the ring, up to size in all, but no more than a
 * slice will come to.  Those that the caller has already go back when it is
 * another owner's turn.
 */
void
sf_shared_take_keys(SfDatabase *database, SfWorkKey *keys, int *nkeys,
					int size, Oid *owner)
{
	size = keys_of_a_turn(database, size);
	if (*nkeys > 0 && sf_ring_has_others(&database->ring, *owner))
	{
		sf_shared_put_back(database, keys, *nkeys, *owner);
		*nkeys = 0;
	}
	if (*nkeys < size)
		*nkeys += sf_ring_take(&database->ring, keys + *nkeys, size - *nkeys, owner);
	if (database->backlog == SF_BACKLOG_LEFT ||
		(database->ring.count == 0 && !sf_shared_wants_scan(database)))
		database->backlog = SF_BACKLOG_NONE;
}

/* Is a process in a long task, for longer than others are to wait for it? */
static bool
is_in_long_task(const SfProcess *process)
{
	return process->kind == SF_PROCESS_KIND_TASK && process->may_run_task &&
		sf_tick_plus_ms(process->turn_began, SF_STUCK_MS) < sf_tick_now();
}

/* Are branches or tasks of an owner run now, by a process that does not take too long for that? */
static bool
has_turn(const SfDatabase *database, Oid owner)
{
	sf_foreach_process(process)
	{
		if (process->status == SF_PROCESS_STATUS_RUNNING && process->database == database->oid &&
			(process->turn_owner == owner || process->user_owner == owner) &&
			!process->stuck && !is_in_long_task(process))
			return true;
	}
	return false;
}

/* Find the first list of keys of an owner who has no turn now; false: there is none. */
static bool
find_waiting_list(const SfDatabase *database, int *at)
{
	for (*at = 0; *at < database->ring.nlists; (*at)++)
		if (!has_turn(database, database->ring.lists[*at].owner))
			return true;
	return false;
}

/* Will a worker of a database take the keys of the next owner at once, or a helper be through soon? */
static bool
can_wait(const SfDatabase *database)
{
	sf_foreach_process(process)
	{
		if (process->database != database->oid)
			continue;
		if (process->status == SF_PROCESS_STATUS_RUNNING && process->turn == SF_TURN_KIND_HELPS && !process->stuck)
			return true;
		if (process->kind == SF_PROCESS_KIND_WORKER && !process->is_to_leave &&
			(process->status == SF_PROCESS_STATUS_IDLE || process->status == SF_PROCESS_STATUS_WOKEN))
			return true;
	}
	return false;
}

/* Does an owner wait for a turn while all workers are in turns of others, and no process helps? */
static bool
owner_waits(const SfDatabase *database)
{
	int			at;

	return database->ring.nlists > 0 && !can_wait(database) && find_waiting_list(database, &at);
}

/* The same in a slice, without the lock: whether it should end, as far as is known. */
bool
sf_shared_others_wait(void)
{
	const SfDatabase *database = sf_shared_find_database(MyDatabaseId);

	return database != NULL && owner_waits(database);
}

/* Is a process wanted that helps such an owner? */
bool
sf_shared_wants_helper(SfDatabase *database)
{
	if (owner_waits(database))
		return true;
	database->helper_since = SF_TICK_UNSET;
	return false;
}

/*
 * Until when keys may be left to a running worker: not for long, if they are of an owner
 * who has no turn, while the task of another one may take longer than the last time.
 */
SfTick
sf_shared_left_until(SfDatabase *database)
{
	return sf_tick_plus_ms(database->backlog_since,
						   sf_shared_wants_helper(database) ? SF_BRISK_MS : SF_LEFT_MS);
}

/* In a process for tasks: take keys of such an owner; false: there is none. */
bool
sf_shared_take_keys_as_helper(SfDatabase *database, SfWorkKey *keys, int *nkeys, int size, Oid *owner)
{
	int			at;

	if (!sf_shared_wants_helper(database) || !find_waiting_list(database, &at))
		return false;
	*owner = database->ring.lists[at].owner;
	*nkeys = sf_ring_take_from(&database->ring, at, keys, keys_of_a_turn(database, size));
	return true;
}

/* Wake a process. */
void
sf_shared_wake_process(const SfProcess *process)
{
	if (process->pid != 0)
		SetLatch(&GetPGProcByNumber(process->procno)->procLatch);
}

/* Wake the launcher. */
void
sf_shared_wake_launcher(void)
{
	if (sf_shared->launcher_procno != SF_NO_LAUNCHER)
		SetLatch(&GetPGProcByNumber(sf_shared->launcher_procno)->procLatch);
}

/* Will a running worker take the keys of the ring within SF_BRISK_MS? */
static bool
running_worker_will_drain(const SfDatabase *database)
{
	int64		drain_us = (int64) database->ring.count * database->key_us;
	SfTick		now = sf_tick_now();

	if (database->key_us == 0)
		return false;
	sf_foreach_process(process)
	{
		bool		running = process->status == SF_PROCESS_STATUS_RUNNING;
		int			ms = running && process->turn == SF_TURN_KIND_RUNS_QUEUE ? SF_BRISK_QUEUE_MS : SF_BRISK_MS;

		if (process->database == database->oid && sf_shared_takes_keys(process) &&
			!process->is_to_leave && !process->stuck && drain_us <= ms * 1000 &&
			(process->status == SF_PROCESS_STATUS_WOKEN ||
			 (running && process->turn_began >= sf_tick_plus_ms(now, -ms))))
			return true;
	}
	return false;
}

/* Wake an idle process of a database that is of a kind; false: there is none. */
bool
sf_shared_wake_idle(Oid database, SfProcessKind kind)
{
	sf_foreach_process(process)
	{
		if (process->status == SF_PROCESS_STATUS_IDLE && process->kind == kind &&
			process->database == database && !process->is_to_leave)
		{
			process->status = SF_PROCESS_STATUS_WOKEN;
			sf_shared_wake_process(process);
			return true;
		}
	}
	return false;
}

/*
 * All workers of a database are busy: if an owner waits who has no turn, wake a process
 * for tasks, which helps, or have the launcher start one.
 */
static void
wake_helper(SfDatabase *database)
{
	if (!sf_shared_wants_helper(database) ||
		sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_TASK) || database->helper_since != SF_TICK_UNSET)
		return;
	database->helper_since = sf_tick_now();
	sf_shared_wake_launcher();
}

/* Wake one idle worker of a database, or tell the launcher that there is none. */
void
sf_shared_wake_another(SfDatabase *database)
{
	if (sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_WORKER) ||
		sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_KEEPER))
		return;
	wake_helper(database);
	if (database->backlog == SF_BACKLOG_WANTED)
		return;
	database->backlog = SF_BACKLOG_WANTED;
	database->backlog_since = sf_tick_now();
	sf_shared_wake_launcher();
}

/*
 * Wake one idle worker of a database, or tell the launcher that there is none,
 * unless a running worker will take the keys within SF_BRISK_MS: an extra slice
 * costs an extra commit.  The launcher checks that the running worker took them.
 */
void
sf_shared_wake_worker(SfDatabase *database)
{
	if (!running_worker_will_drain(database))
	{
		sf_shared_wake_another(database);
		return;
	}
	if (database->backlog == SF_BACKLOG_NONE)
	{
		database->backlog = SF_BACKLOG_LEFT;
		database->backlog_since = sf_tick_now();
	}
	/* a task that used to be short may take an hour this time */
	if (database->backlog == SF_BACKLOG_LEFT)
		sf_shared_check_by(sf_shared_left_until(database));
	else
		wake_helper(database);
}

/*
 * Compare the wall clock with the monotonic one.  If it was set, have a worker of
 * each driven database scan all of the due index: branches that were due stay
 * due, although due_at may lie ahead now, and the wait until a timer may be shorter
 * or longer than the processes that sleep have computed.  Returns by how many
 * microseconds the wall clock was set; 0: by less than SF_CLOCK_SET_US.
 */
int64
sf_shared_check_clock(void)
{
	int64		offset = sf_clock_offset();
	int64		change = offset - sf_shared->clock_offset;

	if (change > -SF_CLOCK_SET_US && change < SF_CLOCK_SET_US)
		return 0;
	sf_shared->clock_offset = offset;
	if (change < 0)
		sf_shared->behind_until = Max(sf_shared->behind_until, sf_tick_now()) - change;
	sf_foreach_database(database)
	{
		if (!OidIsValid(database->oid))
			continue;
		/* one that is not driven has times corrected when it is driven again */
		if (change < 0)
			database->set_back_by -= change;
		if (database->status == SF_DATABASE_NOT_DRIVEN)
			continue;
		sf_shared_want_scan(database);
		sf_shared_wake_another(database);
	}
	return change;
}

/* Have the launcher check turns and keys no later than at. */
void
sf_shared_check_by(SfTick at)
{
	uint64		checks = pg_atomic_read_u64(&sf_shared->launcher_checks);

	while ((uint64) at < checks)
	{
		if (!pg_atomic_compare_exchange_u64(&sf_shared->launcher_checks, &checks, (uint64) at))
			continue;
		sf_shared_wake_launcher();
		return;
	}
}

/* A turn has that many keys: have the launcher check that it ends in time. */
void
sf_shared_check_turn_in_time(SfProcess *process, int nkeys)
{
	process->nkeys = nkeys;
	sf_shared_check_by(sf_tick_plus_ms(process->turn_began,
									nkeys > 1 ? SF_SLOW_MS : SF_STUCK_MS));
}

/* A task was left: wake a process that may take it, or the launcher. */
void
sf_shared_want_task(SfDatabase *database)
{
	database->tasks_left |= SF_TASKS_LEFT_TASK;
	if (sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_TASK))
		return;
	/* one worker stays free of tasks: a second one may take it */
	if (sf_shared_count_advancing(database->oid) < 2 ||
		!sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_WORKER))
		sf_shared_wake_launcher();
}

/* Long tasks that may run at once: room for the advancing workers is kept. */
int
sf_shared_max_tasks(void)
{
	return Min(sf_setting_max_running_tasks,
			   Max(1, sf_shared_max_processes() - sf_setting_workers));
}

/*
 * Wake the idle workers of a database, which then sleep until an earlier time; if no worker
 * advances, wake the launcher.
 */
static void
tell_earlier(const SfDatabase *database)
{
	bool		told = false;

	sf_foreach_process(process)
	{
		if (process->status == SF_PROCESS_STATUS_IDLE && sf_shared_takes_keys(process) &&
			process->database == database->oid && process->pid != MyProcPid)
		{
			sf_shared_wake_process(process);
			told = true;
		}
	}
	if (!told && sf_shared_count_advancing(database->oid) == 0)
		sf_shared_wake_launcher();
}

/* Lower a database's next_timer to a time, unless it is earlier already. */
void
sf_shared_lower_timer(SfDatabase *database, TimestampTz at)
{
	if (at >= database->next_timer)
		return;
	database->next_timer = at;
	tell_earlier(database);
}

/*
 * Have a worker come again to a branch that another transaction has locked.  If there are too
 * many, one of them is found by a scan of the due index.
 */
void
sf_shared_skip(SfDatabase *database, const SfSkippedBranch *branch)
{
	SfTick		next = database->skipped.next;

	if (!sf_skipped_add(&database->skipped, branch))
		sf_shared_lower_poll(database, sf_tick_plus_ms(sf_tick_now(), SF_SKIPPED_SCAN_MS));
	if (database->skipped.next < next)
		tell_earlier(database);
}

/* Put the keys of such branches back into the ring, when their time has come. */
void
sf_shared_take_skipped(SfDatabase *database)
{
	SfSkippedBranch branch;
	SfTick		now = sf_tick_now();

	while (sf_skipped_take(&database->skipped, now, &branch))
		sf_shared_push(database, branch.key, branch.owner, branch.due);
}

/*
 * Have deliveries of rules looked for at a time, unless that is done earlier already;
 * wakes an idle worker, which is to sleep until then, or the launcher.
 */
void
sf_shared_lower_delivery(SfDatabase *database, SfTick at)
{
	if (at >= database->next_delivery)
		return;
	database->next_delivery = at;
	if (!sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_WORKER) &&
		sf_shared_count_advancing(database->oid) == 0)
		sf_shared_wake_launcher();
}

/* Have features sweep that do so when told; wakes an idle worker, or the launcher, unless this process sees to it. */
void
sf_shared_want_sweep(SfDatabase *database, bool mine)
{
	if (database->sweep_wanted)
		return;
	database->sweep_wanted = true;
	if (!mine && !sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_WORKER) &&
		sf_shared_count_advancing(database->oid) == 0)
		sf_shared_wake_launcher();
}

/*
 * Have everything due scanned for at a time, unless that is done earlier already; wakes
 * an idle worker, or the launcher, likewise.
 */
void
sf_shared_lower_poll(SfDatabase *database, SfTick at)
{
	database->next_poll = Min(database->next_poll, at);
	if (at >= database->next_scan)
		return;
	database->next_scan = at;
	if (!sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_WORKER) &&
		sf_shared_count_advancing(database->oid) == 0)
		sf_shared_wake_launcher();
}

/*
 * Remember an owner with work.  To find the owners in the due index takes longer
 * the more dead entries an old snapshot keeps there.
 */
void
sf_shared_note_owner(SfDatabase *database, Oid owner)
{
	for (int i = 0; i < database->nowners; i++)
	{
		if (database->owners[i] == owner)
			return;
	}
	if (database->nowners < SF_KNOWN_OWNERS)
		database->owners[database->nowners++] = owner;
	else
		database->owners_known = false;
}

/* Make the entry of a process free. */
void
sf_shared_clear_process(SfProcess *process)
{
	process->status = SF_PROCESS_STATUS_FREE;
	process->pid = 0;
	process->database = InvalidOid;
	process->is_to_leave = false;
	process->errand = SF_ERRAND_WORK;
	process->may_run_task = false;
	process->user_owner = InvalidOid;
	process->stuck = false;
	process->turn_began = SF_TICK_UNSET;
	process->nkeys = 0;
	process->turn = SF_TURN_KIND_ANY;
	process->turn_owner = InvalidOid;
	process->in_task = false;
}
