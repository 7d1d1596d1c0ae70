/*
 * slot.c
 *		The slot of this process: its step, cancel requests, its role.
 *
 * A cancel request must hit the step that it was meant for and no later one.
 * Steps are numbered.  The process that cancels writes the number of the step
 * that it sees into the slot and sends SIGINT, both under the lock; the worker
 * takes the lock of its database to go on to another step.  The signal handler compares the two
 * numbers, so a signal that arrives late is dropped.  A cancel that the handler
 * raised and that was not acted on is taken back when the step ends.
 */
#include "postgres.h"

#include <signal.h>

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/timeout.h"

#include "base/compat.h"
#include "base/debug_point.h"
#include "base/random.h"
#include "worker/admit.h"
#include "worker/poison.h"
#include "worker/slot.h"

SfSlot	   *sf_slot_mine = NULL;

static uint32 my_launch = 0;
static SfEnd my_end = SF_END_BY_ERROR;
static SfAfterCommit after_commit = SF_AFTER_UNKNOWN;
static SfBranchKey branch_after_commit;

/* Its number in the shared area. */
int
sf_slot_number(void)
{
	return (int) (sf_slot_mine - sf_shared->slots);
}

/* Say what this process does right after the coming commit. */
void
sf_slot_set_after_commit(SfAfterCommit what, SfBranchKey key)
{
	after_commit = what;
	branch_after_commit = key;
}

/* Does it take keys?  A process for tasks sleeps when its own branch is done. */
bool
sf_slot_will_take_keys(void)
{
	return after_commit == SF_AFTER_TAKES_KEYS && sf_shared_takes_keys(sf_slot_mine);
}

/* Does it run a branch, or its announced task? */
bool
sf_slot_will_run(SfBranchKey key)
{
	return after_commit == SF_AFTER_RUNS_BRANCH &&
		sf_branch_key_equals(branch_after_commit, key);
}

/*
 * Note how a process ended, for the launcher.  After an error the next process
 * is put off, unless a branch caused it: that one will run by itself, and fails in
 * the end.
 */
static void
note_end(SfDatabase *database, SfEnd end, bool probing)
{
	if (end == SF_END_PLANNED)
	{
		database->failures = 0;
		return;
	}
	if (end == SF_END_BY_ERROR)
	{
		database->failures++;
		database->not_before =
			sf_tick_plus_ms(sf_tick_now(), sf_backoff_doubled_ms(database->failures));
	}
	/* what the process had taken on, or found out, is not known */
	if (!SF_DEBUG_MUTATION("exit"))
	{
		sf_shared_want_scan(database);
		database->tasks_left |= SF_LEFT_TASK;
	}
	if (probing)
		database->state = SF_DATABASE_UNKNOWN;
}

/* Give the slot back: this process ends, however it came to that. */
static void
detach_at_exit(int code, Datum arg)
{
	SfSlot	   *slot = sf_slot_mine;
	SfDatabase *database;

	if (!slot)
		return;
	sf_slot_mine = NULL;
	sf_poison_turn_end((int) (slot - sf_shared->slots), false);

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (slot->launch == my_launch)
	{
		bool		probing = sf_shared_is_probe(slot);

		sf_admit_end(slot);
		database = OidIsValid(slot->database) ?
			sf_shared_find_database(slot->database) : NULL;
		sf_shared_clear_slot(slot);
		if (database)
		{
			note_end(database, code == 0 && my_end == SF_END_BY_ERROR ? SF_END_PLANNED : my_end,
					 probing);
			if (database->ring.count > 0 || sf_shared_wants_scan(database))
				sf_shared_wake_worker(database);
		}
		sf_shared_wake_launcher();
	}
	LWLockRelease(sf_shared_lock);
	ConditionVariableBroadcast(&sf_shared->slot_freed);
}

/* Say why this process ends. */
void
sf_slot_set_end(SfEnd end)
{
	my_end = end;
}

/* Tell whether this process waits for a database; *wanted: it is still needed. */
bool
sf_slot_awaits_database(bool *wanted)
{
	bool		waits;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	*wanted = sf_slot_mine->launch == my_launch && !sf_slot_mine->leave && !ProcDiePending;
	waits = *wanted && sf_slot_mine->state == SF_SLOT_STANDBY;
	LWLockRelease(sf_shared_lock);
	return waits;
}

/* Take the slot that the launcher kept; false: it was given up meanwhile. */
bool
sf_slot_attach(int number, uint32 launch)
{
	SfSlot	   *slot = &sf_shared->slots[number];
	bool		ours;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	ours = slot->state == SF_SLOT_STARTING && slot->launch == launch;
	if (ours)
	{
		slot->state = OidIsValid(slot->database) ? SF_SLOT_RUNNING : SF_SLOT_STANDBY;
		slot->pid = MyProcPid;
		slot->procno = SF_MY_PROCNO;
		slot->attached = slot->since = sf_tick_now();
		slot->steps = 0;
		pg_atomic_write_u32(&slot->signalled, 0);
	}
	LWLockRelease(sf_shared_lock);

	if (ours)
	{
		sf_slot_mine = slot;
		my_launch = launch;
		before_shmem_exit(detach_at_exit, (Datum) 0);
	}
	return ours;
}

/* Note for the poison file that a branch was claimed. */
static void
note_branch(SfBranchKey key, Oid owner)
{
	if (sf_slot_mine)
		sf_poison_turn_note(sf_slot_number(), key, owner);
}

/* The cause with which a branch fails that has ended workers too often; else NULL. */
static char *
why_condemned(SfBranchKey key)
{
	return sf_slot_mine ? sf_poison_cause(MyDatabaseId, key) : NULL;
}

/* Begin a step, or complete what is known of the one that runs. */
static void
begin_step(SfBranchKey key, Oid owner, const char *state)
{
	SfSlot	   *slot = sf_slot_mine;
	SfDatabase *database;
	bool		same;

	if (!slot)
		return;
	note_branch(key, OidIsValid(owner) ? owner : slot->user_owner);
	same = slot->in_step && sf_branch_key_equals(slot->key, key);
	database = sf_shared_enter(MyDatabaseId);
	if (!same)
	{
		pg_atomic_fetch_add_u32(&slot->step, 1);
		slot->in_step = true;
		slot->deadline = 0;
		slot->key = key;
		slot->since = sf_tick_now();
		slot->steps++;
	}
	slot->owner = owner;
	strlcpy(slot->state_name, state, SF_STATE_NAME_SIZE);
	/* keys that were left to this turn may have to wait longer than expected */
	if (database && database->ring.count > 0 && slot->role == SF_ROLE_WORKER)
		sf_shared_wake_worker(database);
	sf_shared_leave();
	/* a cancel that was raised for a step that is over */
	if (!same)
		QueryCancelPending = false;
}

/* End the current step; a cancel that comes later hits nothing. */
void
sf_slot_step_over(void)
{
	SfSlot	   *slot = sf_slot_mine;

	if (!slot || !slot->in_step)
		return;
	(void) sf_shared_enter(MyDatabaseId);
	slot->in_step = false;
	pg_atomic_fetch_add_u32(&slot->step, 1);
	sf_shared_leave();
	QueryCancelPending = false;
}

/* Note when the task of this step is to be over. */
static void
note_deadline(SfTick deadline)
{
	if (!sf_slot_mine)
		return;
	(void) sf_shared_enter(MyDatabaseId);
	sf_slot_mine->deadline = deadline;
	sf_shared_leave();
}

/* Tell whether the step that runs was asked to stop. */
static bool
cancel_requested(void)
{
	SfSlot	   *slot = sf_slot_mine;

	return slot && slot->in_step &&
		pg_atomic_read_u32(&slot->cancel) == pg_atomic_read_u32(&slot->step);
}

/*
 * Handle SIGINT: a cancel request for this step, an administrator's, or a lock
 * timeout, which the process sends to itself.
 */
void
sf_slot_handle_cancel(SIGNAL_ARGS)
{
	int			save_errno = errno;
	SfSlot	   *slot = sf_slot_mine;

	if (get_timeout_indicator(LOCK_TIMEOUT, false))
	{
		QueryCancelPending = true;
		InterruptPending = true;
	}
	else if (slot && slot->in_step)
	{
		bool		requested = pg_atomic_exchange_u32(&slot->signalled, 0) > 0;

		if (!requested || cancel_requested())
		{
			QueryCancelPending = true;
			InterruptPending = true;
		}
	}
	SetLatch(MyLatch);
	errno = save_errno;
}

/* Fill the hooks that concern the running step. */
void
sf_slot_init(void)
{
	sf_hooks.branch_claimed = note_branch;
	sf_hooks.why_condemned = why_condemned;
	sf_hooks.step_begins = begin_step;
	sf_hooks.step_ends = sf_slot_step_over;
	sf_hooks.task_deadline = note_deadline;
	sf_hooks.cancel_requested = cancel_requested;
}
