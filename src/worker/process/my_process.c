/*
 * my_process.c
 *		This process in the shared area: its task, cancel requests, its kind.
 *
 * A cancel request must hit the task that it was meant for and no later one.
 * Tasks are numbered.  The process that cancels writes the number of the task
 * that it sees into the other's SfProcess and sends SIGINT, both under the lock; the worker
 * takes the lock of its database to go on to another task.  The signal handler compares the two
 * numbers, so a signal that arrives late is dropped.  A cancel that the handler
 * raised and that was not acted on is taken back when the task ends, and under the
 * lock when another one begins, so that it is not one of that task.
 *
 * A short task begins some time after its branch was claimed and its execution was
 * seen to run.  A cancel between the two finds no task.  So the database remembers
 * for which branches the last cancels were, and a task that begins looks among those
 * that have come since its transaction began.  Where more have come than are remembered,
 * the task takes one to be its own: it is rolled back, and the next transaction sees
 * whether the execution still runs.
 */
#include "postgres.h"

#include <signal.h>

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/time/timing.h"
#include "base/version/compat.h"
#include "worker/fault/fault.h"
#include "worker/launcher/launcher.h"
#include "worker/process/process.h"

SfProcess  *sf_my_process = NULL;

static uint32 my_launch = 0;
static SfProcessEnd my_end = SF_PROCESS_END_BY_ERROR;

/* What this process does right after the coming commit */
static enum
{
	AFTER_UNKNOWN,
	AFTER_TAKES_KEYS,			/* as a worker, looks for work: it will take one branch */
	AFTER_RUNS_BRANCH			/* runs a branch, or its announced task */
}			after_commit = AFTER_UNKNOWN;
static SfBranchKey branch_after_commit;	/* RUNS_BRANCH */

/* Cancels of the database before this transaction */
static uint32 cancels_seen = 0;

/* Its number in the shared area. */
int
sf_my_process_number(void)
{
	return (int) (sf_my_process - sf_shared->processes);
}

/* This process will look for work as a worker, right after the coming commit. */
void
sf_my_process_takes_keys_next(void)
{
	after_commit = AFTER_TAKES_KEYS;
}

/* This process will run a branch, or its announced task, right after the coming commit. */
void
sf_my_process_runs_next(SfBranchKey key)
{
	after_commit = AFTER_RUNS_BRANCH;
	branch_after_commit = key;
}

/* What follows the next commit is not known: that of a transaction of a turn has been made. */
void
sf_my_process_xact_ends(void)
{
	after_commit = AFTER_UNKNOWN;
}

/* Does it take keys?  A process for tasks sleeps when its own branch is done. */
bool
sf_my_process_will_take_keys(void)
{
	return after_commit == AFTER_TAKES_KEYS && sf_shared_takes_keys(sf_my_process);
}

/* Does it run a branch, or its announced task? */
bool
sf_my_process_will_run(SfBranchKey key)
{
	return after_commit == AFTER_RUNS_BRANCH &&
		sf_branch_key_equals(branch_after_commit, key);
}

/*
 * Note how a process ended, for the launcher.  After an error the next process
 * is put off, unless a branch caused it: that one will run by itself, and fails in
 * the end.
 */
static void
note_end(SfDatabase *database, SfProcessEnd end, bool probing)
{
	if (end == SF_PROCESS_END_PLANNED)
	{
		database->failures = 0;
		return;
	}
	if (end == SF_PROCESS_END_BY_ERROR)
		sf_processes_put_off(database);
	/* what the process had taken on, or found out, is not known */
	if (!SF_DEBUG_MUTATION("exit"))
	{
		sf_shared_want_scan(database);
		database->tasks_left |= SF_TASKS_LEFT_TASK;
	}
	if (probing)
		database->status = SF_DATABASE_UNKNOWN;
}

/* Free the entry of this process in the shared area: it ends, however it came to that. */
static void
detach_at_exit(int code, Datum arg)
{
	SfProcess  *process = sf_my_process;
	SfDatabase *database;

	if (!process)
		return;
	sf_my_process = NULL;
	sf_poison_turn_end((int) (process - sf_shared->processes), false);

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (process->launch == my_launch)
	{
		bool		probing = sf_shared_is_probe(process);

		sf_admit_end(process);
		database = OidIsValid(process->database) ?
			sf_shared_find_database(process->database) : NULL;
		sf_shared_clear_process(process);
		if (database)
		{
			note_end(database, code == 0 && my_end == SF_PROCESS_END_BY_ERROR ? SF_PROCESS_END_PLANNED : my_end,
					 probing);
			if (database->ring.count > 0 || sf_shared_wants_scan(database))
				sf_shared_wake_worker(database);
		}
		sf_shared_wake_launcher();
	}
	LWLockRelease(sf_shared_lock);
	ConditionVariableBroadcast(&sf_shared->process_ended);
}

/* Say why this process ends. */
void
sf_my_process_set_end(SfProcessEnd end)
{
	my_end = end;
}

/* Tell whether this process waits for a database; *wanted: it is still needed. */
bool
sf_my_process_awaits_database(bool *wanted)
{
	bool		waits;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	*wanted = sf_my_process->launch == my_launch && !sf_my_process->is_to_leave && !ProcDiePending;
	waits = *wanted && sf_my_process->status == SF_PROCESS_STATUS_STANDBY;
	LWLockRelease(sf_shared_lock);
	return waits;
}

/* Take the entry that the launcher has reserved; false: it was given up meanwhile. */
bool
sf_my_process_attach(int number, uint32 launch)
{
	SfProcess  *process = &sf_shared->processes[number];
	bool		ours;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	ours = process->status == SF_PROCESS_STATUS_STARTING && process->launch == launch;
	if (ours)
	{
		process->status = OidIsValid(process->database) ? SF_PROCESS_STATUS_RUNNING : SF_PROCESS_STATUS_STANDBY;
		process->pid = MyProcPid;
		process->procno = SF_MY_PROCNO;
		process->attached = process->since = sf_tick_now();
		process->tasks = 0;
		pg_atomic_write_u32(&process->signalled, 0);
	}
	LWLockRelease(sf_shared_lock);

	if (ours)
	{
		sf_my_process = process;
		my_launch = launch;
		before_shmem_exit(detach_at_exit, (Datum) 0);
	}
	return ours;
}

/* Note for the poison file that a branch was claimed. */
static void
note_branch(SfBranchKey key, Oid owner)
{
	if (sf_my_process)
		sf_poison_turn_note(sf_my_process_number(), key, owner);
}

/* The cause with which a branch fails that has ended workers too often; else NULL. */
static char *
why_condemned(SfBranchKey key)
{
	return sf_my_process ? sf_poison_cause(MyDatabaseId, key) : NULL;
}

/* Note which cancels there have been: a transaction begins, which sees what they have changed. */
void
sf_my_process_attempt_begins(void)
{
	SfDatabase *database = sf_shared_enter(MyDatabaseId);

	cancels_seen = database ? database->ncancels : 0;
	sf_shared_leave();
}

/* Has the task that begins been cancelled since the transaction began?  For all we know, it has. */
static bool
was_cancelled(const SfDatabase *database, SfBranchKey key)
{
	if (database == NULL)
		return false;
	if (database->ncancels - cancels_seen > SF_RECENT_CANCELS)
		return true;
	for (uint32 i = cancels_seen; i != database->ncancels; i++)
	{
		SfBranchKey of = database->recent_cancels[i % SF_RECENT_CANCELS];

		if (of.execution_no == key.execution_no && (of.branch_no == key.branch_no || of.branch_no == SF_WHOLE_EXECUTION))
			return true;
	}
	return false;
}

/* Begin a task, or complete what is known of the one that runs. */
static void
begin_task(SfBranchKey key, Oid owner, const char *state)
{
	SfProcess  *process = sf_my_process;
	SfDatabase *database;
	bool		same;

	if (!process)
		return;
	note_branch(key, OidIsValid(owner) ? owner : process->user_owner);
	same = process->in_task && sf_branch_key_equals(process->key, key);
	database = sf_shared_enter(MyDatabaseId);
	if (!same)
	{
		pg_atomic_fetch_add_u32(&process->task_number, 1);
		/* raised for a task that is over; what is raised from here on is for this one */
		QueryCancelPending = false;
		process->in_task = true;
		process->deadline = SF_TICK_NEVER;
		process->key = key;
		process->since = sf_tick_now();
		process->tasks++;
		if (was_cancelled(database, key))
		{
			pg_atomic_write_u32(&process->cancel, pg_atomic_read_u32(&process->task_number));
			QueryCancelPending = true;
			InterruptPending = true;
		}
	}
	process->owner = owner;
	strlcpy(process->state_name, state, SF_STATE_NAME_SIZE);
	/* keys that were left to this turn may have to wait longer than expected */
	if (database && database->ring.count > 0 && process->kind == SF_PROCESS_KIND_WORKER)
		sf_shared_wake_worker(database);
	sf_shared_leave();
	SF_DEBUG_POINT_HELD("step_noted");
}

/* End the current task; a cancel that comes later hits nothing. */
void
sf_my_process_task_over(void)
{
	SfProcess  *process = sf_my_process;

	if (!process || !process->in_task)
		return;
	(void) sf_shared_enter(MyDatabaseId);
	process->in_task = false;
	pg_atomic_fetch_add_u32(&process->task_number, 1);
	sf_shared_leave();
	QueryCancelPending = false;
}

/* Note when this task is to be over. */
static void
note_deadline(SfTick deadline)
{
	if (!sf_my_process)
		return;
	(void) sf_shared_enter(MyDatabaseId);
	sf_my_process->deadline = deadline;
	sf_shared_leave();
}

/* Tell whether the task that runs was asked to stop. */
static bool
cancel_requested(void)
{
	SfProcess  *process = sf_my_process;

	return process && process->in_task &&
		pg_atomic_read_u32(&process->cancel) == pg_atomic_read_u32(&process->task_number);
}

/*
 * Handle SIGINT: a cancel request for this task, an administrator's, or a lock
 * timeout, which the process sends to itself.
 */
void
sf_my_process_handle_cancel(SIGNAL_ARGS)
{
	int			save_errno = errno;
	SfProcess  *process = sf_my_process;

	if (get_timeout_indicator(LOCK_TIMEOUT, false))
	{
		QueryCancelPending = true;
		InterruptPending = true;
	}
	else if (process)
	{
		/* a request for a task that is over is taken, too, so that the next signal is no request */
		bool		requested = pg_atomic_exchange_u32(&process->signalled, 0) > 0;

		if (process->in_task && (!requested || cancel_requested()))
		{
			QueryCancelPending = true;
			InterruptPending = true;
		}
	}
	SetLatch(MyLatch);
	errno = save_errno;
}

/* --- branches that others have locked --- */

/* Does another process run a task of a branch? When it ends, or fails, that is told. */
static bool
is_run_elsewhere(SfBranchKey key)
{
	sf_foreach_process(process)
	{
		if (process->in_task && process->database == MyDatabaseId && process->pid != MyProcPid &&
			process->status != SF_PROCESS_STATUS_FREE && sf_branch_key_equals(process->key, key))
			return true;
	}
	return false;
}

/*
 * How long to pause before the next try of a branch that others have locked: the longer that
 * lasts, the longer.  So a try comes soon after the lock has gone, and a session that has it
 * for hours costs a try every few seconds.
 */
static long
skip_pause_ms(TimestampTz due)
{
	return Min(Max(TimestampDifferenceMilliseconds(due, GetCurrentTimestamp()) / SF_SKIPPED_SHARE,
				   SF_SKIPPED_MIN_MS), SF_SKIPPED_MAX_MS);
}

/* Have a worker come again to what others have locked, after a pause. */
static void
note_skipped(SfSkippedBranch skipped, long pause_ms)
{
	SfDatabase *database;

	if (!sf_shared)
		return;
	skipped.at = sf_tick_plus_ms(sf_tick_now(), pause_ms);
	database = sf_shared_enter(MyDatabaseId);
	if (database != NULL &&
		!(skipped.key.kind == SF_WORK_KEY_BRANCH && is_run_elsewhere(skipped.key.of.branch)))
		sf_shared_skip(database, &skipped);
	sf_shared_leave();
}

/* Have a worker come again to a branch that others have locked. */
static void
note_branch_skipped(SfBranchKey key, Oid owner, TimestampTz due)
{
	note_skipped((SfSkippedBranch) {.key = sf_work_key_of_branch(key),.owner = owner,.due = due},
				 skip_pause_ms(due));
}

/* Have a worker come again to a queue with a branch that others have locked. */
static void
note_queue_skipped(SfQueue queue, Oid owner)
{
	note_skipped((SfSkippedBranch) {.key = sf_work_key_of_queue(queue),.owner = owner,.due = DT_NOBEGIN},
				 SF_SKIPPED_QUEUE_MS);
}

/* Fill the hooks that concern the running task, and the branches of a slice. */
void
sf_my_process_init(void)
{
	sf_hooks.branch_claimed = note_branch;
	sf_hooks.branch_skipped = note_branch_skipped;
	sf_hooks.queue_skipped = note_queue_skipped;
	sf_hooks.why_condemned = why_condemned;
	sf_hooks.task_begins = begin_task;
	sf_hooks.task_ends = sf_my_process_task_over;
	sf_hooks.task_deadline = note_deadline;
	sf_hooks.cancel_requested = cancel_requested;
}
