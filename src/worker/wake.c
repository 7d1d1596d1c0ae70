/*
 * wake.c
 *		Telling workers at commit what has become due, cancelled or ended.
 *
 * What a transaction announces is collected in a list of this backend.  Each
 * entry knows the nesting level that it belongs to; the list's end is what the
 * innermost subtransaction announced, so that its abort cuts the end off.  At
 * commit the list goes to shared memory; nothing there allocates or raises an
 * error.  Lost announcements cost latency only: the tables are looked at once
 * a poll_interval.  PREPARE TRANSACTION forgets for that reason.
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/debug_point.h"
#include "worker/await.h"
#include "worker/shared.h"
#include "worker/slot.h"
#include "worker/wake.h"

typedef enum EntryKind
{
	ENTRY_DUE,
	ENTRY_CANCEL,
	ENTRY_ENDED,
	ENTRY_REGISTER
} EntryKind;

typedef struct Entry
{
	EntryKind	kind;
	int			level;
	Oid			owner;			/* DUE: of the branch, if that is at hand */
	SfBranchKey key;
	TimestampTz due;
} Entry;

/* Of the current transaction; the array stays, in TopMemoryContext */
static Entry *entries = NULL;
static int	nentries = 0;
static int	size = 0;
static int	ndue = 0;
static bool due_overflow = false;

/* Of a worker: sessions that made work due before its last commit was known */
static int	company = 0;
static bool cancelled = false;	/* something before the end of the transaction */
static bool held = false;		/* a branch that workers pass over meanwhile */

/* Append an entry. */
static void
append(EntryKind kind, SfBranchKey key, Oid owner, TimestampTz due)
{
	Entry	   *entry;

	if (nentries >= size)
	{
		int			new_size = Max(64, size * 2);

		if (entries)
			entries = repalloc_huge(entries, new_size * sizeof(Entry));
		else
			entries = MemoryContextAlloc(TopMemoryContext, new_size * sizeof(Entry));
		size = new_size;
	}
	entry = &entries[nentries++];
	entry->kind = kind;
	entry->level = GetCurrentTransactionNestLevel();
	entry->owner = owner;
	entry->key = key;
	entry->due = due;
}

/* A branch is (or will be) due; more than the ring holds are one scan. */
static void
announce_due(SfBranchKey key, Oid owner, TimestampTz due)
{
	if (ndue >= SF_RING_SIZE)
	{
		due_overflow = true;
		return;
	}
	ndue++;
	append(ENTRY_DUE, key, owner, due);
}

/* What runs for a branch is to be cancelled. */
static void
announce_cancel(SfBranchKey key)
{
	append(ENTRY_CANCEL, key, InvalidOid, 0);
}

/* Does a process run a branch (branch_no -1: any of its execution)? */
static bool
runs_branch(const SfSlot *slot, SfBranchKey key)
{
	return slot->key.execution_no == key.execution_no &&
		(key.branch_no == -1 || slot->key.branch_no == key.branch_no);
}

/*
 * Ask the workers that run a branch (branch_no -1: any of its execution) to
 * stop.  The lock keeps them from going on to another step meanwhile.
 */
static void
deliver_cancel(SfBranchKey key)
{
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		SfSlot	   *slot = &sf_shared->slots[i];

		if (slot->state == SF_SLOT_FREE || !slot->in_step || slot->pid == 0 ||
			slot->pid == MyProcPid || slot->database != MyDatabaseId ||
			(!runs_branch(slot, key) && !SF_DEBUG_MUTATION("cancel")))
			continue;
		pg_atomic_write_u32(&slot->cancel, pg_atomic_read_u32(&slot->step));
		pg_atomic_fetch_add_u32(&slot->signalled, 1);
		kill(slot->pid, SIGINT);
	}
}

/* The same, before the commit; what is cancelled in vain goes on when we abort. */
static void
cancel_now(SfBranchKey key)
{
	if (!sf_shared)
		return;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	deliver_cancel(key);
	LWLockRelease(sf_shared_lock);
	cancelled = true;
}

/* Workers pass over a branch until this transaction ends. */
static void
note_held(void)
{
	held = true;
}

/* An execution has ended. */
static void
announce_ended(int64 execution_no)
{
	SfBranchKey key = {execution_no, 0};

	append(ENTRY_ENDED, key, InvalidOid, 0);
}

/* Have the current database looked at. */
void
sf_wake_register(void)
{
	SfBranchKey none = {0, 0};

	if (sf_shared)
		append(ENTRY_REGISTER, none, InvalidOid, 0);
}

/* The condition variable that the end of an execution rings. */
ConditionVariable *
sf_wake_ended_variable(int64 execution_no)
{
	return &sf_shared->ended[(uint64) execution_no % SF_AWAIT_BUCKETS];
}

/* Hand what became due to the workers of this database. */
static void
deliver_due(bool registering)
{
	SfDatabase *database = sf_shared_register_database(MyDatabaseId);
	TimestampTz now = GetCurrentTimestamp();
	int			pushed = 0;

	if (!database)
	{
		sf_shared_wake_launcher();
		return;
	}
	if (registering)
	{
		database->state = SF_DATABASE_UNKNOWN;
		database->registrations++;
		database->not_before = 0;
		/* what the launcher was told before, it may have passed over */
		database->more_wanted = false;
		sf_shared_wake_launcher();
	}
	else if (database->state == SF_DATABASE_NOT_DRIVEN)
		return;

	for (int i = 0; i < nentries; i++)
	{
		if (entries[i].kind != ENTRY_DUE)
			continue;
		if (OidIsValid(entries[i].owner))
			sf_shared_note_owner(database, entries[i].owner);
		if (entries[i].due > now || !OidIsValid(entries[i].owner))
			sf_shared_lower_timer(database, entries[i].due);
		else if (!sf_slot_is_own_task(entries[i].key))
		{
			sf_shared_push(database, entries[i].key, entries[i].owner);
			sf_shared_lower_tasks(database, entries[i].due);	/* if it is one */
			pushed++;
		}
	}
	if (due_overflow || registering)
	{
		database->scan = true;
		pushed = SF_RING_SIZE;
	}

	if (pushed > 0 && sf_slot_mine == NULL)
		database->arrivals++;
	/* A worker takes what it leaves for itself, unless that is a lot. */
	if (pushed > (sf_slot_goes_on() ? 1 : 0))
		sf_shared_wake_worker(database);
}

/*
 * Note how many sessions made work due while a worker was at its slice.  What
 * comes after this moment may be the answer to what it has done.
 */
static void
note_company(void)
{
	SfDatabase *database = sf_slot_mine ? sf_shared_find_database(MyDatabaseId) : NULL;

	company = database ? database->arrivals : 0;
}

/* Tell so, once. */
int
sf_wake_take_company(void)
{
	int			taken = company;

	company = 0;
	return taken;
}

/* Forget everything. */
static void
forget(void)
{
	nentries = 0;
	ndue = 0;
	cancelled = held = false;
	due_overflow = false;
}

/* Deliver everything: the transaction has committed. */
static void
deliver(void)
{
	bool		due = due_overflow;
	bool		registering = false;

	for (int i = 0; i < nentries; i++)
	{
		due = due || entries[i].kind == ENTRY_DUE;
		registering = registering || entries[i].kind == ENTRY_REGISTER;
	}

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	note_company();
	if (due || registering)
		deliver_due(registering);
	for (int i = 0; i < nentries; i++)
	{
		if (entries[i].kind == ENTRY_CANCEL)
			deliver_cancel(entries[i].key);
	}
	LWLockRelease(sf_shared_lock);

	if (pg_atomic_read_u32(&sf_shared->awaiting) > 0)
	{
		for (int i = 0; i < nentries; i++)
		{
			if (entries[i].kind == ENTRY_ENDED)
				ConditionVariableBroadcast(sf_wake_ended_variable(entries[i].key.execution_no));
		}
	}
}

/*
 * Have the tables looked at: tasks that were cancelled may still have to be run,
 * unless what cancelled them has committed; so may what was held meanwhile.
 */
static void
look_again(void)
{
	SfDatabase *database;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	if (database)
	{
		database->scan = true;
		sf_shared_wake_worker(database);
	}
	LWLockRelease(sf_shared_lock);
}

/* The transaction ends. */
static void
on_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
			if ((nentries > 0 || due_overflow) && sf_shared)
				deliver();
			if (cancelled)
				look_again();
			forget();
			sf_await_forget();
			break;
		case XACT_EVENT_ABORT:
			if ((cancelled || held) && sf_shared)
				look_again();
			forget();
			sf_await_forget();
			break;
		case XACT_EVENT_PREPARE:
			forget();
			sf_await_forget();
			break;
		default:
			break;
	}
}

/* A subtransaction ends: cut off what it announced, or pass it on. */
static void
on_subtransaction(SubXactEvent event, SubTransactionId mine,
				  SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		for (; nentries > 0 && entries[nentries - 1].level >= level; nentries--)
		{
			if (entries[nentries - 1].kind == ENTRY_DUE)
				ndue--;
		}
	}
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
	{
		for (int i = nentries - 1; i >= 0 && entries[i].level >= level; i--)
			entries[i].level = level - 1;
	}
}

/* Fill the hooks of base/hooks.h and register the transaction callbacks. */
void
sf_wake_init(void)
{
	sf_hooks.due = announce_due;
	sf_hooks.cancel = announce_cancel;
	sf_hooks.cancel_now = cancel_now;
	sf_hooks.branch_held = note_held;
	sf_hooks.execution_ended = announce_ended;
	sf_hooks.register_database = sf_wake_register;
	RegisterXactCallback(on_transaction, NULL);
	RegisterSubXactCallback(on_subtransaction, NULL);
}
