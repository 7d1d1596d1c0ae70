/*
 * wake.c
 *		Telling workers at commit what has become due, cancelled or ended.
 *
 * The functions of sf_hooks append messages to a list in this backend's memory.  A
 * message has the nesting level of its subtransaction; the abort of a subtransaction
 * removes its messages, which are the last ones.  At the end of the commit a callback
 * delivers the list: to shared memory, to waiting sessions and to the server's log.
 * That must neither allocate memory nor raise an error, which would be a PANIC.  It takes
 * the lock of the database, and none of all databases, but for one that is new or that
 * has suspects.  A lost
 * message costs latency only, because workers read the due index once per
 * poll_interval; so PREPARE TRANSACTION drops the list, and the end of a prepared
 * transaction has a worker read the due index (prepared.c).
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/memory/xact_array.h"
#include "base/time/timing.h"
#include "worker/fault/fault.h"
#include "worker/process/process.h"
#include "worker/session/await.h"
#include "worker/shared_memory/shared.h"

typedef enum MessageKind
{
	MESSAGE_DUE,
	MESSAGE_ENDED,
	MESSAGE_FAILED,
	MESSAGE_RUNS_WAIT,
	MESSAGE_REGISTER,
	MESSAGE_DELIVERY,
	MESSAGE_SCAN_AT,
	MESSAGE_SWEEP_SOON
} MessageKind;

/* DUE: a branch is or will be due */
typedef struct DueBranch
{
	SfBranchKey key;
	Oid			owner;			/* InvalidOid: not at hand */
	TimestampTz at;
} DueBranch;

/* What a transaction leaves to be done when it has committed; the other kinds say it all by themselves */
typedef struct Message
{
	MessageKind kind;
	int			level;
	union
	{
		DueBranch	due;		/* DUE */
		int64		execution_no;	/* ENDED */
		char	   *line;		/* FAILED: for the log; in TopTransactionContext */
		TimestampTz scan_at;	/* SCAN_AT */
	};
} Message;

/* The task of a branch, or those of a whole execution, are to be cancelled */
typedef struct Cancel
{
	SfBranchKey key;
	int			level;
} Cancel;

/* Messages of the current transaction (base/memory/xact_array.c) */
static Message *messages = NULL;
static int	nmessages = 0;
static int	messages_size = 0;
static Cancel *cancels = NULL;
static int	ncancels = 0;
static int	cancels_size = 0;
static int	ndue = 0;
static bool due_overflow = false;
static TimestampTz overflow_from = DT_NOEND;	/* the earliest time among what is not noted */

/* In a worker: commits of sessions that made work due during its last slice */
static int	concurrent_commits = 0;

/* This transaction has sent a cancel before its commit */
static bool cancelled = false;

/* The transaction has changed executions. */
static bool executions_change = false;

/* The transaction has committed, and its messages are to be delivered */
static bool committed = false;

/* This session has claimed a branch, which workers skip until the transaction ends */
static bool has_locked = false;

/* Append a message. */
static Message *
append(MessageKind kind)
{
	Message	   *message;

	messages = sf_xact_array_grow(messages, nmessages, &messages_size, sizeof(Message));
	message = &messages[nmessages++];
	message->kind = kind;
	message->level = GetCurrentTransactionNestLevel();
	return message;
}

/*
 * Note that a branch is (or will be) due.  If there are more than the ring holds,
 * note only that the due index must be read.
 */
static void
note_due(SfBranchKey key, Oid owner, TimestampTz due)
{
	if (ndue >= SF_RING_SIZE)
	{
		due_overflow = true;
		overflow_from = Min(overflow_from, due);
		return;
	}
	ndue++;
	append(MESSAGE_DUE)->due = (DueBranch) {key, owner, due};
}

/* Note that a delivery of a rule is due. */
static void
note_delivery(void)
{
	if (nmessages == 0 || messages[nmessages - 1].kind != MESSAGE_DELIVERY)
		append(MESSAGE_DELIVERY);
}

/* Note that the task of a branch is to be cancelled after the commit. */
static void
note_cancel(SfBranchKey key)
{
	cancels = sf_xact_array_grow(cancels, ncancels, &cancels_size, sizeof(Cancel));
	cancels[ncancels++] = (Cancel) {key, GetCurrentTransactionNestLevel()};
}

/* Order cancels by execution and branch. */
static int
compare_cancels(const void *a, const void *b)
{
	SfBranchKey x = ((const Cancel *) a)->key;
	SfBranchKey y = ((const Cancel *) b)->key;

	if (x.execution_no != y.execution_no)
		return x.execution_no < y.execution_no ? -1 : 1;
	return x.branch_no < y.branch_no ? -1 : x.branch_no > y.branch_no;
}

/* Is a branch among cancels, which are in order, or its whole execution? */
static bool
is_cancelled(const Cancel *list, int n, SfBranchKey key)
{
	Cancel		branch = {key, 0};
	Cancel		whole = {sf_branch_key_of_execution(key.execution_no), 0};

	return bsearch(&branch, list, n, sizeof(Cancel), compare_cancels) != NULL ||
		bsearch(&whole, list, n, sizeof(Cancel), compare_cancels) != NULL;
}

/*
 * Ask the workers that run branches among cancels to stop.  The lock of the database
 * keeps them from going on to another task meanwhile.  One that has claimed such a
 * branch and has not begun its task finds the cancel then.
 */
static void
deliver_cancels(SfDatabase *database, const Cancel *list, int n)
{
	for (int i = Max(0, n - SF_RECENT_CANCELS); database && i < n; i++)
		database->recent_cancels[(database->ncancels + i) % SF_RECENT_CANCELS] = list[i].key;
	if (database)
		database->ncancels += n;
	sf_foreach_process(process)
	{
		if (process->database != MyDatabaseId || process->status == SF_PROCESS_STATUS_FREE || !process->in_task ||
			process->pid == 0 || process->pid == MyProcPid ||
			(!is_cancelled(list, n, process->key) && !SF_DEBUG_MUTATION("cancel")))
			continue;
		pg_atomic_write_u32(&process->cancel, pg_atomic_read_u32(&process->task_number));
		pg_atomic_fetch_add_u32(&process->signalled, 1);
		kill(process->pid, SIGINT);
	}
}

/* Cancel the task of a branch now, before the commit; if we abort, it runs again. */
static void
cancel_now(SfBranchKey key)
{
	Cancel		cancel = {key, 0};

	if (!sf_shared)
		return;
	deliver_cancels(sf_shared_enter(MyDatabaseId), &cancel, 1);
	sf_shared_leave();
	cancelled = true;
}

/* Workers skip a branch until this transaction ends. */
static void
note_locked(void)
{
	has_locked = true;
}

/* An execution has ended. */
static void
note_ended(int64 execution_no)
{
	append(MESSAGE_ENDED)->execution_no = execution_no;
}

/* An execution has failed or timed out: keep the line for the log until the commit. */
static void
note_failed(const char *execution_id, const char *state, const char *error,
				bool timed_out)
{
	char	   *line = sf_failures_line(execution_id, state, error, timed_out);

	if (line != NULL)
		append(MESSAGE_FAILED)->line =
			MemoryContextStrdup(TopTransactionContext, line);
}

/* Executions change: count it at the commit. */
static void
note_executions_change(void)
{
	executions_change = true;
}

/* Runs of schedules wait for executions to end. */
static void
note_runs_wait(void)
{
	append(MESSAGE_RUNS_WAIT);
}

/* Everything due is to be scanned at a time. */
static void
note_scan_at(TimestampTz at)
{
	append(MESSAGE_SCAN_AT)->scan_at = at;
}

/* Features are to sweep what this transaction has written. */
static void
note_sweep_soon(void)
{
	if (nmessages == 0 || messages[nmessages - 1].kind != MESSAGE_SWEEP_SOON)
		append(MESSAGE_SWEEP_SOON);
}

/*
 * Have the current database looked at when this transaction commits: the
 * extension came or went, or driving it was switched on or off.
 */
void
sf_wake_register(void)
{
	if (sf_shared)
		append(MESSAGE_REGISTER);
}

/*
 * Tell the workers of this database what became due.  Keys of branches that are due
 * now go into the ring; a branch that is due later, or whose owner is not known,
 * lowers next_timer.
 */
static void
deliver_due(bool registering)
{
	SfDatabase *database = sf_shared_register_database(MyDatabaseId);
	TimestampTz now = GetCurrentTimestamp();
	bool		wants_scan = registering || due_overflow;
	int			pushed = 0;

	if (!database)
	{
		sf_shared_wake_launcher();
		return;
	}
	if (registering)
	{
		database->status = SF_DATABASE_UNKNOWN;
		database->registrations++;
		database->not_before = SF_TICK_AT_ONCE;
		/* the launcher may have ignored what it was told before */
		database->backlog = SF_BACKLOG_NONE;
		sf_shared_wake_launcher();
	}
	else if (database->status == SF_DATABASE_NOT_DRIVEN)
		return;

	for (int i = 0; i < nmessages; i++)
	{
		const DueBranch *due = &messages[i].due;

		if (messages[i].kind != MESSAGE_DUE)
			continue;
		if (OidIsValid(due->owner))
			sf_shared_note_owner(database, due->owner);
		if (due->at > now || !OidIsValid(due->owner))
			sf_shared_lower_timer(database, due->at);
		else if (!sf_my_process_will_run(due->key))
		{
			sf_shared_push(database, sf_work_key_of_branch(due->key), due->owner, due->at);
			/* it may be an announced task */
			sf_announced_add(&database->announced, due->owner, due->at);
			pushed++;
		}
	}
	if (registering)
		sf_shared_want_scan(database);
	if (due_overflow)
		sf_shared_want_scan_from(database, overflow_from);

	if ((wants_scan || pushed > 0) && sf_my_process == NULL)
		database->arrivals++;
	/* a worker that goes on to take keys after this commit takes one of them itself */
	if (wants_scan || pushed > (sf_my_process_will_take_keys() ? 1 : 0))
		sf_shared_wake_worker(database);
}

/* Tell a worker of this database that deliveries of rules are due; this process, if it goes on. */
static void
deliver_delivery(void)
{
	SfDatabase *database = sf_shared_find_database(MyDatabaseId);

	if (database == NULL)
		return;					/* the launcher will find it, and a worker the deliveries */
	if (sf_my_process_will_take_keys() && sf_my_process->kind == SF_PROCESS_KIND_WORKER)
		database->next_delivery = SF_TICK_AT_ONCE;
	else
		sf_shared_lower_delivery(database, SF_TICK_AT_ONCE);
}

/* Have a worker come to a queue, at once. */
static void
queue_due(SfQueue queue, Oid owner)
{
	SfDatabase *database;

	if (!sf_shared)
		return;
	database = sf_shared_enter(MyDatabaseId);
	if (database == NULL)
		database = sf_shared_register_database(MyDatabaseId);
	if (database == NULL)
		sf_shared_wake_launcher();
	else if (database->status != SF_DATABASE_NOT_DRIVEN)
	{
		if (OidIsValid(owner))
			sf_shared_push(database, sf_work_key_of_queue(queue), owner, DT_NOBEGIN);
		else
			sf_shared_want_scan(database);
		/* also if this worker may come to it: the launcher sees to it that one does */
		sf_shared_wake_worker(database);
	}
	sf_shared_leave();
}

/* Have a worker try the queues that have room at a time. */
static void
queue_later(SfTick at)
{
	SfDatabase *database;

	if (!sf_shared)
		return;
	database = sf_shared_enter(MyDatabaseId);
	if (database != NULL && at < database->next_queue)
	{
		database->next_queue = at;
		if (!sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_WORKER) &&
			sf_shared_count_advancing(database->oid) == 0)
			sf_shared_wake_launcher();
	}
	sf_shared_leave();
}

/*
 * Note how many sessions made work due during a worker's slice.  Those that
 * commit after this moment may react to what the slice did.
 */
static void
note_concurrent_commits(void)
{
	SfDatabase *database = sf_my_process ? sf_shared_find_database(MyDatabaseId) : NULL;

	concurrent_commits = database ? database->arrivals : 0;
}

/*
 * In a worker, once after a turn: how many sessions committed work before they
 * could see the effects of that turn.  They are concurrent load.
 */
int
sf_wake_take_concurrent_commits(void)
{
	int			taken = concurrent_commits;

	concurrent_commits = 0;
	return taken;
}

/*
 * Have a worker sweep schedules, with its scan of everything due: if runs have
 * begun to wait, or some wait and executions have ended.
 */
static void
deliver_runs_wait(bool begun)
{
	SfDatabase *database = sf_shared_find_database(MyDatabaseId);
	SfTick		at;

	if (!database || (!begun && database->sweeps_wait == 0))
		return;
	database->scan_from = DT_NOBEGIN;
	at = sf_tick_plus_ms(database->last_scan, SF_RUNS_SWEEP_PAUSE_MS);
	if (at >= database->next_scan)
		return;
	database->next_scan = at;
	sf_shared_wake_worker(database);
}

/* Have a worker scan for everything due at a time. */
static void
deliver_scan_at(TimestampTz at)
{
	SfDatabase *database = sf_shared_find_database(MyDatabaseId);

	if (database != NULL)
		sf_shared_lower_poll(database, sf_tick_of_wall(at));
}

/* Tell a worker of this database that features are to sweep; this process, if it goes on. */
static void
deliver_sweep_soon(void)
{
	SfDatabase *database = sf_shared_find_database(MyDatabaseId);

	if (database != NULL)
		sf_shared_want_sweep(database, sf_my_process_will_take_keys() && sf_my_process->kind == SF_PROCESS_KIND_WORKER);
}

/* Forget everything, and give back the memory that a large transaction has needed. */
static void
forget(void)
{
	committed = false;
	nmessages = ncancels = 0;
	messages = sf_xact_array_recycle(messages, &messages_size);
	cancels = sf_xact_array_recycle(cancels, &cancels_size);
	ndue = 0;
	cancelled = has_locked = executions_change = false;
	due_overflow = false;
	overflow_from = DT_NOEND;
}

/*
 * Forget the suspects of executions that have ended.  There are suspects after a crash only:
 * so this lock of all databases is no matter.
 */
static void
clear_suspects(void)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 0; i < nmessages; i++)
		if (messages[i].kind == MESSAGE_ENDED)
			sf_poison_execution_ended(MyDatabaseId, messages[i].execution_no);
	LWLockRelease(sf_shared_lock);
}

/*
 * Log the executions that have failed.  The transaction has committed: an error, for
 * example if there is no memory to write a line, must not leave this function.
 */
static void
log_failures(void)
{
	MemoryContext context = CurrentMemoryContext;
	uint32		holdoff = InterruptHoldoffCount;

	PG_TRY();
	{
		for (int i = 0; i < nmessages; i++)
			if (messages[i].kind == MESSAGE_FAILED)
				sf_failures_log(messages[i].line);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		InterruptHoldoffCount = holdoff;
	}
	PG_END_TRY();
}

/* Is there a message of a kind? */
static bool
has_message(MessageKind kind)
{
	for (int i = 0; i < nmessages; i++)
		if (messages[i].kind == kind)
			return true;
	return false;
}

/* Deliver what concerns the workers of this database. */
static void
deliver_to_workers(void)
{
	bool		registering = has_message(MESSAGE_REGISTER);
	bool		due = due_overflow || registering || has_message(MESSAGE_DUE);
	bool		runs_wait = has_message(MESSAGE_RUNS_WAIT);
	bool		ended = runs_wait || has_message(MESSAGE_ENDED);
	bool		delivery = has_message(MESSAGE_DELIVERY);
	SfDatabase *database;

	qsort(cancels, ncancels, sizeof(Cancel), compare_cancels);
	database = sf_shared_enter(MyDatabaseId);
	note_concurrent_commits();
	if (due)
		deliver_due(registering);
	if (ended)
		deliver_runs_wait(runs_wait);
	if (delivery)
		deliver_delivery();
	if (ncancels > 0)
		deliver_cancels(database, cancels, ncancels);
	for (int i = 0; i < nmessages; i++)
		if (messages[i].kind == MESSAGE_SCAN_AT)
			deliver_scan_at(messages[i].scan_at);
	if (has_message(MESSAGE_SWEEP_SOON))
		deliver_sweep_soon();
	sf_shared_leave();
}

/*
 * Deliver the messages of a transaction that has committed: due branches and cancels
 * under the lock of the database, then the ends of executions, then lines for the log.
 */
static void
deliver(void)
{
	deliver_to_workers();
	if (sf_poison_has_suspects() && has_message(MESSAGE_ENDED))
		clear_suspects();
	for (int i = 0; i < nmessages && pg_atomic_read_u32(&sf_shared->awaiting) > 0; i++)
	{
		if (messages[i].kind == MESSAGE_ENDED)
			ConditionVariableBroadcast(sf_shared_ended(messages[i].execution_no));
	}
	if (has_message(MESSAGE_FAILED))
		log_failures();
}

/*
 * Have a worker read the due index.  After a rollback, the tasks that the
 * transaction cancelled and the branches that it had locked still have to run;
 * after a commit, workers may have skipped branches that it had locked.
 */
static void
want_scan_now(void)
{
	SfDatabase *database = sf_shared_enter(MyDatabaseId);

	if (database)
	{
		sf_shared_want_scan(database);
		sf_shared_wake_worker(database);
	}
	sf_shared_leave();
}

/*
 * A prepared transaction that has written tables of the extension is over: have a worker
 * read the due index.  If the database is not driven, as far as is known, that may have
 * been changed by the transaction.
 */
void
sf_wake_scan(void)
{
	SfDatabase *database = sf_shared_enter(MyDatabaseId);
	bool		driven = database != NULL && database->status != SF_DATABASE_NOT_DRIVEN;

	sf_shared_leave();
	if (driven)
		want_scan_now();
	else
		sf_wake_register();
	pg_atomic_fetch_add_u64(&sf_shared->changes, 1);
}

/* Forget the list after an abort or PREPARE TRANSACTION; after a commit on_release() delivers it. */
static void
on_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	committed = event == XACT_EVENT_COMMIT && sf_shared &&
		(nmessages > 0 || ncancels > 0 || due_overflow || executions_change || cancelled);
	if (event == XACT_EVENT_ABORT && sf_shared && (cancelled || has_locked))
		want_scan_now();
	if (!committed)
		forget();
	sf_await_forget();
	/* nothing may have been delivered yet */
	if (committed)
		SF_DEBUG_POINT("wake");
}

/*
 * Deliver the list when a commit is over: PostgreSQL has told all processes by now that
 * their caches of tables are out of date (db/table_cache.c), and a worker that is woken
 * sees what the transaction has changed.
 */
static void
on_release(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void *arg)
{
	if (!committed || phase != RESOURCE_RELEASE_AFTER_LOCKS || !is_top_level)
		return;
	if (nmessages > 0 || ncancels > 0 || due_overflow)
		deliver();
	if (executions_change)
		pg_atomic_fetch_add_u64(&sf_shared->changes, 1);
	if (cancelled)
		want_scan_now();
	forget();
}

/* A subtransaction ends: drop its messages, or pass them on. */
static void
on_subtransaction(SubXactEvent event, SubTransactionId mine,
				  SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		/* a wait is over with the statement that waits */
		sf_await_forget();
		for (; nmessages > 0 && messages[nmessages - 1].level >= level; nmessages--)
		{
			if (messages[nmessages - 1].kind == MESSAGE_DUE)
				ndue--;
		}
		while (ncancels > 0 && cancels[ncancels - 1].level >= level)
			ncancels--;
	}
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
	{
		for (int i = nmessages - 1; i >= 0 && messages[i].level >= level; i--)
			messages[i].level = level - 1;
		for (int i = ncancels - 1; i >= 0 && cancels[i].level >= level; i--)
			cancels[i].level = level - 1;
	}
}

/* Fill the hooks of base/hooks.h and register the transaction callbacks. */
void
sf_wake_init(void)
{
	sf_hooks.due = note_due;
	sf_hooks.delivery_due = note_delivery;
	sf_hooks.queue_due = queue_due;
	sf_hooks.queue_later = queue_later;
	sf_hooks.cancel = note_cancel;
	sf_hooks.cancel_now = cancel_now;
	sf_hooks.branch_locked = note_locked;
	sf_hooks.execution_ended = note_ended;
	sf_hooks.execution_failed = note_failed;
	sf_hooks.runs_wait = note_runs_wait;
	sf_hooks.scan_at = note_scan_at;
	sf_hooks.sweep_soon = note_sweep_soon;
	sf_hooks.others_wait = sf_shared_others_wait;
	sf_hooks.executions_change = note_executions_change;
	sf_hooks.register_database = sf_wake_register;
	RegisterXactCallback(on_transaction, NULL);
	RegisterSubXactCallback(on_subtransaction, NULL);
	RegisterResourceReleaseCallback(on_release, NULL);
}
