/*
 * shared.c
 *		The shared area: making it, and the small operations on it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/shmem.h"

#include "base/compat.h"
#include "base/settings.h"
#include "base/timing.h"
#include "store/instance_file.h"
#include "worker/poison.h"
#include "worker/shared.h"

#define SF_TRANCHE "sfflow"

SfShared   *sf_shared = NULL;
LWLock	   *sf_shared_lock = NULL;

static shmem_request_hook_type previous_request_hook = NULL;
static shmem_startup_hook_type previous_startup_hook = NULL;

/* Size of the area: the launcher, sfflow.max_workers and the keeper. */
static Size
shared_size(void)
{
	return add_size(offsetof(SfShared, slots),
					mul_size(sizeof(SfSlot), sf_setting_max_workers + 2));
}

/* Ask for the area and its lock. */
static void
request_shared(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(shared_size());
	RequestNamedLWLockTranche(SF_TRANCHE, 1);
}

/* Fill a new area. */
static void
initialize_shared(void)
{
	memset(sf_shared, 0, shared_size());
	sf_shared->launcher_procno = -1;
	sf_shared->launcher_looks = SF_TICK_NEVER;
	sf_shared->clock_offset = sf_clock_offset();
	sf_shared->nslots = sf_setting_max_workers + 2;
	pg_atomic_init_u32(&sf_shared->awaiting, 0);
	ConditionVariableInit(&sf_shared->slot_freed);
	for (int i = 0; i < SF_AWAIT_BUCKETS; i++)
		ConditionVariableInit(&sf_shared->ended[i]);
	for (int i = 0; i < sf_shared->nslots; i++)
	{
		pg_atomic_init_u32(&sf_shared->slots[i].step, 0);
		pg_atomic_init_u32(&sf_shared->slots[i].cancel, 0);
		pg_atomic_init_u32(&sf_shared->slots[i].signalled, 0);
	}
}

/* Make the area: at the start of the server, and again after a crash. */
static void
startup_shared(void)
{
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	sf_shared = ShmemInitStruct("sfflow", shared_size(), &found);
	sf_shared_lock = &GetNamedLWLockTranche(SF_TRANCHE)->lock;
	if (!found)
	{
		initialize_shared();
		sf_instance_file_reread();
		sf_shared->settled = sf_instance_file_role() == SF_COPY_SETTLED;
		sf_poison_startup();
	}
	LWLockRelease(AddinShmemInitLock);
}

/* Install the hooks that make the area. */
void
sf_shared_init(void)
{
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_shared;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_shared;
}

/* Find a database, or NULL. */
SfDatabase *
sf_shared_find_database(Oid oid)
{
	static int	last = 0;		/* a backend asks for its own nearly always */

	if (sf_shared->databases[last].oid == oid)
		return &sf_shared->databases[last];
	for (int i = 0; i < SF_MAX_DATABASES; i++)
	{
		if (sf_shared->databases[i].oid == oid)
		{
			last = i;
			return &sf_shared->databases[i];
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
	database->oid = oid;
	database->state = SF_DATABASE_UNKNOWN;
	database->scan = true;
	database->next_timer = DT_NOEND;
	return database;
}

/*
 * Tell whether a slot is of a worker that advances, or that will when it is
 * there.
 */
bool
sf_shared_advances(const SfSlot *slot)
{
	return slot->state != SF_SLOT_FREE && slot->role == SF_ROLE_WORKER &&
		!slot->leave && !slot->probing && !slot->stuck;
}

/* Count a database's (InvalidOid: everybody's) workers that advance. */
int
sf_shared_count_advancing(Oid oid)
{
	int			count = 0;

	for (int i = 0; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (sf_shared_advances(slot) &&
			(!OidIsValid(oid) || slot->database == oid))
			count++;
	}
	return count;
}

/* Tell whether a process takes keys of the ring: a worker or the keeper. */
bool
sf_shared_takes_keys(const SfSlot *slot)
{
	return slot->role == SF_ROLE_WORKER || slot->role == SF_ROLE_KEEPER;
}

/* Tell whether a slot is held by a task, for a time that nobody knows. */
bool
sf_shared_is_held(const SfSlot *slot)
{
	return slot->state != SF_SLOT_FREE &&
		(slot->stuck || (slot->role == SF_ROLE_TASK && slot->may_task));
}

/* The last slot, which is kept for the keeper. */
SfSlot *
sf_shared_keeper_slot(void)
{
	return &sf_shared->slots[sf_shared->nslots - 1];
}

/* Tell whether a slot is free for one more worker or task. */
bool
sf_shared_has_free_slot(void)
{
	for (int i = 1; i < sf_shared->nslots - 1; i++)
	{
		if (sf_shared->slots[i].state == SF_SLOT_FREE)
			return true;
	}
	return false;
}

/*
 * Count the slots that there are for workers and tasks, taken or not: as many
 * as max_workers says, or as the postmaster has granted when it grants no more.
 */
int
sf_shared_count_slots(void)
{
	int			count = 0;

	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];
		bool		taken = slot->state != SF_SLOT_FREE &&
			slot->state != SF_SLOT_STANDBY && slot->role != SF_ROLE_KEEPER;

		if (taken || (!sf_shared->refused && i < sf_shared->nslots - 1))
			count++;
	}
	return Max(count, 1);
}

/* Count tasks that hold a slot: long ones, those that may begin, overrunning ones. */
int
sf_shared_count_tasks(void)
{
	int			count = 0;

	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot->state != SF_SLOT_FREE && (slot->may_task || slot->stuck))
			count++;
	}
	return count;
}

/* Put a key into the ring; when it is full the tables will be looked at. */
void
sf_shared_push(SfDatabase *database, SfBranchKey key, Oid owner)
{
	if (!sf_ring_push(&database->ring, key, owner))
		database->scan = true;
}

/* Put keys that were taken back into the ring. */
void
sf_shared_put_back(SfDatabase *database, const SfBranchKey *keys, int nkeys,
				   Oid owner)
{
	while (nkeys > 0)
	{
		if (!sf_ring_put_back(&database->ring, keys[--nkeys], owner))
			database->scan = true;
	}
}

/* As many keys as a slice will come to, so that the others find somebody idle. */
static int
keys_of_a_turn(const SfDatabase *database, int size)
{
	if (database->key_us == 0)
		return size;
	return Max(1, Min(size, sf_setting_slice_ms * 1000 / database->key_us));
}

/* Take keys of one owner out of the ring, up to size in all. */
void
sf_shared_take_keys(SfDatabase *database, SfBranchKey *keys, int *nkeys,
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
	database->left_since = 0;
	if (database->ring.count == 0 && !database->scan)
		database->more_wanted = false;
}

/* Wake the process in a slot. */
void
sf_shared_wake_slot(const SfSlot *slot)
{
	if (slot->pid != 0)
		SetLatch(&GetPGProcByNumber(slot->procno)->procLatch);
}

/* Wake the launcher. */
void
sf_shared_wake_launcher(void)
{
	if (sf_shared->launcher_procno >= 0)
		SetLatch(&GetPGProcByNumber(sf_shared->launcher_procno)->procLatch);
}

/*
 * Will a worker that is at it already come to what is in the ring before long?
 * To wake a second one for it would cost more than it gains: two slices, each
 * with a commit of its own, where one does.
 */
static bool
is_in_good_hands(const SfDatabase *database)
{
	SfTick		since = sf_tick_plus_ms(sf_tick_now(), -SF_BRISK_MS);

	if (database->key_us == 0 ||
		(int64) database->ring.count * database->key_us > SF_BRISK_MS * 1000)
		return false;
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot->database == database->oid && sf_shared_takes_keys(slot) &&
			!slot->leave && !slot->stuck &&
			(slot->state == SF_SLOT_WOKEN ||
			 (slot->state == SF_SLOT_RUNNING && slot->turn_began >= since)))
			return true;
	}
	return false;
}

/* Wake an idle process of a database that has a role; false: there is none. */
static bool
wake_idle(Oid database, SfRole role)
{
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		SfSlot	   *slot = &sf_shared->slots[i];

		if (slot->state == SF_SLOT_IDLE && slot->role == role &&
			slot->database == database && !slot->leave)
		{
			slot->state = SF_SLOT_WOKEN;
			sf_shared_wake_slot(slot);
			return true;
		}
	}
	return false;
}

/* Wake one idle worker of a database, if there is one. */
void
sf_shared_wake_idle_worker(const SfDatabase *database)
{
	(void) wake_idle(database->oid, SF_ROLE_WORKER);
}

/* Wake one idle worker of a database, or tell the launcher that there is none. */
void
sf_shared_wake_another(SfDatabase *database)
{
	if (wake_idle(database->oid, SF_ROLE_WORKER) ||
		wake_idle(database->oid, SF_ROLE_KEEPER) || database->more_wanted)
		return;
	database->more_wanted = true;
	database->more_since = 0;
	sf_shared_wake_launcher();
}

/*
 * Wake one idle worker of a database.  When there is none the launcher is told
 * once; it starts one, or another one if this lasts.  Where a worker is about
 * to come to it, the launcher sees to it that it does: a task that used to be
 * short may take an hour this time.
 */
void
sf_shared_wake_worker(SfDatabase *database)
{
	if (!is_in_good_hands(database))
	{
		sf_shared_wake_another(database);
		return;
	}
	if (database->left_since == 0)
		database->left_since = sf_tick_now();
	sf_shared_watch(sf_tick_plus_ms(database->left_since, SF_LEFT_MS));
}

/*
 * Notice that the wall clock was set.  What was due before stays due, although
 * its time now seems to lie ahead; and a timer may be nearer or farther than
 * its sleeper thinks.
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
	for (int i = 0; i < SF_MAX_DATABASES; i++)
	{
		SfDatabase *database = &sf_shared->databases[i];

		if (!OidIsValid(database->oid) || database->state == SF_DATABASE_NOT_DRIVEN)
			continue;
		if (change < 0)
			database->set_back_by -= change;
		database->scan = true;
		sf_shared_wake_another(database);
	}
	return change;
}

/* Have the launcher look at turns and keys no later than at. */
void
sf_shared_watch(SfTick at)
{
	if (at >= sf_shared->launcher_looks)
		return;
	sf_shared->launcher_looks = at;
	sf_shared_wake_launcher();
}

/* Have the launcher see to it that a turn ends in time. */
void
sf_shared_watch_turn(SfSlot *slot, int nkeys)
{
	slot->nkeys = nkeys;
	sf_shared_watch(sf_tick_plus_ms(slot->turn_began,
									nkeys > 1 ? SF_SLOW_MS : SF_STUCK_MS));
}

/* A task was left: wake a process that may take it, or the launcher. */
void
sf_shared_want_task(SfDatabase *database)
{
	database->task_wanted = true;
	if (wake_idle(database->oid, SF_ROLE_TASK))
		return;
	/* one worker stays free of tasks: a second one may take it */
	if (sf_shared_count_advancing(database->oid) < 2 ||
		!wake_idle(database->oid, SF_ROLE_WORKER))
		sf_shared_wake_launcher();
}

/* Long tasks that may run at once: room for the advancing workers is kept. */
int
sf_shared_max_tasks(void)
{
	return Min(sf_setting_max_running_tasks,
			   Max(1, sf_shared_count_slots() - sf_setting_workers));
}

/* Have the timer of a database go off no later than at; who sleeps learns it. */
void
sf_shared_lower_timer(SfDatabase *database, TimestampTz at)
{
	bool		told = false;

	if (at >= database->next_timer)
		return;
	database->next_timer = at;
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		SfSlot	   *slot = &sf_shared->slots[i];

		if (slot->state == SF_SLOT_IDLE && sf_shared_takes_keys(slot) &&
			slot->database == database->oid && slot->pid != MyProcPid)
		{
			sf_shared_wake_slot(slot);
			told = true;
		}
	}
	if (!told && sf_shared_count_advancing(database->oid) == 0)
		sf_shared_wake_launcher();
}

/* Remember who has work; more than there is room for are to be looked for. */
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

/* Have looks for announced tasks begin no later than at. */
void
sf_shared_lower_tasks(SfDatabase *database, TimestampTz at)
{
	database->tasks_from = Min(database->tasks_from, at);
}

/* Free a slot. */
void
sf_shared_free_slot(SfSlot *slot)
{
	slot->state = SF_SLOT_FREE;
	slot->pid = 0;
	slot->database = InvalidOid;
	slot->leave = false;
	slot->probing = slot->look_only = false;
	slot->may_task = false;
	slot->user_owner = InvalidOid;
	slot->suspects = false;
	slot->stuck = false;
	slot->turn_began = 0;
	slot->nkeys = 0;
	slot->in_step = false;
}
