/*
 * worker.c
 *		A worker: its loop, what it takes on, how it sleeps.
 *
 * It takes keys out of its database's ring; it looks at the due index, to put
 * more keys there, when told so, when a timer goes off (for what is due since
 * then), and once a poll_interval.  Who looks learns when the next timer is
 * due and notes that for all; the first to wake for it takes the timer down
 * again and looks.  So the timer is always somebody's: either it stands in
 * shared memory, or a process is looking.
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>

#include "access/xact.h"
#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/procsignal.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "base/backoff.h"
#include "base/compat.h"
#include "base/debug_point.h"
#include "base/settings.h"
#include "base/timing.h"
#include "task/sql_task.h"
#include "worker/admit.h"
#include "worker/alone.h"
#include "worker/exits.h"
#include "worker/last_error.h"
#include "worker/poison.h"
#include "worker/shared.h"
#include "worker/slot.h"
#include "worker/turn.h"
#include "worker/wake.h"
#include "worker/worker.h"

/* --- signals and sleep, also for the launcher --- */

/* Install signal handlers and let signals in. */
void
sf_worker_unblock_signals(void)
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	pqsignal(SIGINT, sf_slot_handle_cancel);
	BackgroundWorkerUnblockSignals();
}

/* Have no poll wait longer than sfflow.poll_interval is now. */
static void
shorten_polls(void)
{
	SfTick		limit = sf_worker_next_poll();

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 0; i < SF_MAX_DATABASES; i++)
	{
		if (sf_shared->databases[i].next_poll > limit)
			sf_shared->databases[i].next_poll = limit;
	}
	LWLockRelease(sf_shared_lock);
}

/* End this process; the launcher's is to be started again. */
static void pg_attribute_noreturn()
end_process(void)
{
	sf_slot_set_done();
	proc_exit(sf_alone_is_mine() ? 1 : 0);
}

/*
 * Take in a changed configuration; see to interrupts.  Between turns there is
 * nothing to roll back, so a request to terminate is followed without a word.
 */
void
sf_worker_handle_signals(void)
{
	if (ProcDiePending && sf_slot_mine)
		end_process();
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		shorten_polls();
	}
}

/* Sleep until the latch is set, at most until a time. */
void
sf_worker_sleep_until(SfTick until)
{
	int64		left;
	long		ms;

	left = until - sf_tick_now();
	ms = (long) Min((left + 999) / 1000, INT64CONST(86400) * 1000);
	if (sf_slot_mine)
		SF_DEBUG_POINT("sleep");
	if (left > 0)
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
}

/* When a poll of the tables is due again, from now. */
SfTick
sf_worker_next_poll(void)
{
	return sf_tick_plus_ms(sf_tick_now(),
									   (int64) sf_setting_poll_interval * 1000);
}

/* --- what to do --- */

/* Tell whether another worker stays to advance, whatever this one takes on. */
static bool
another_advances(Oid database)
{
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot != sf_slot_mine && slot->database == database &&
			slot->pid != 0 && sf_shared_advances(slot) && !slot->may_task)
			return true;
	}
	return false;
}

/* Tell which tasks this process may take on now; of each owner, admit.c says. */
static SfAdmission
tasks_to_take(Oid database)
{
	if (sf_slot_mine->role == SF_ROLE_KEEPER ||
		sf_shared_count_tasks() >= sf_admit_max_tasks())
		return SF_ADMIT_NONE;
	if (sf_slot_mine->role == SF_ROLE_TASK || another_advances(database))
		return SF_ADMIT_ALL;
	return sf_admit_last_worker(database);
}

/* Decide whether this process may take on a task; marks it when it may. */
static void
reserve_tasks(SfDatabase *database, SfTurn *turn)
{
	sf_slot_mine->may_task = false;
	turn->admission = tasks_to_take(database->oid);
	sf_slot_mine->may_task = turn->admission != SF_ADMIT_NONE;
	turn->task_after = database->task_after;
}

/*
 * Whether the due index is to be looked at; takes the reason away.  A timer is
 * a reason to look for what is due since then.  What was due before stands in
 * the ring, and would stand there once more with each look: the further the
 * workers are behind, the more of their claims would be in vain.
 */
static void
take_scan(SfDatabase *database, SfTurn *turn)
{
	SfTick		now = sf_tick_now();
	TimestampTz wall = GetCurrentTimestamp();
	TimestampTz from = database->next_timer;
	bool		all = database->scan || database->next_poll <= now;

	/* worth it when there is room; now and then for owners who are not there */
	if (database->ring.count > SF_RING_SIZE / 4 &&
		now < sf_tick_plus_ms(database->last_look, SF_LOOK_PAUSE_MS))
		all = false;
	if (all)
	{
		database->scan = false;
		database->last_look = now;
		database->next_poll = sf_worker_next_poll();
		from = DT_NOBEGIN;
	}
	if (from > wall)
		return;
	if (database->next_timer <= wall)
		database->next_timer = DT_NOEND;
	turn->scan_from = turn->scan ? Min(turn->scan_from, from) : from;
	turn->scan = true;
}

/* Find work for this process; false: there is none. */
static bool
take_work(SfDatabase *database, SfTurn *turn)
{
	if (sf_shared_takes_keys(sf_slot_mine))
	{
		take_scan(database, turn);
		sf_shared_take_keys(database, turn->keys, &turn->nkeys, SF_TURN_KEYS,
							&turn->owner);
	}
	if (turn->nkeys == 0 && !turn->scan && !turn->tasks &&
		!database->task_wanted)
		return false;

	reserve_tasks(database, turn);
	if (turn->admission == SF_ADMIT_NONE)
	{
		/* left to a process that may take on tasks */
		database->task_wanted = database->task_wanted || turn->tasks;
		turn->tasks = false;
	}
	else if (database->task_wanted)
	{
		turn->tasks = true;
		database->task_wanted = false;
	}
	if (turn->nkeys == 0 && !turn->scan && !turn->tasks)
		return false;

	/* more than one turn's worth: somebody idle may help */
	if (database->ring.count > 0)
		sf_shared_wake_worker(database);
	return true;
}

/* When this process looks at shared memory again without being woken. */
static SfTick
wake_time(const SfDatabase *database)
{
	if (sf_slot_mine->role == SF_ROLE_TASK)
		return sf_tick_plus_ms(sf_slot_mine->since, SF_TASK_LINGER_MS);
	return Min(sf_tick_of_wall(database->next_timer), database->next_poll);
}

/* What the loop is to do next */
typedef enum Next
{
	NEXT_TURN,
	NEXT_GATHER,
	NEXT_SLEEP,
	NEXT_LEAVE
} Next;

/* Tell whether there are more workers than there are to be, without this one. */
static bool
is_one_too_many(Oid database)
{
	if (sf_slot_mine->role == SF_ROLE_KEEPER)
		return sf_shared_count_advancing(database) > 0;
	return sf_slot_mine->role == SF_ROLE_WORKER &&
		sf_shared_count_advancing(InvalidOid) > sf_setting_workers &&
		sf_shared_count_advancing(database) > 1;
}

/* A turn begins; the launcher sees to it that somebody else goes on if it takes long. */
static void
note_turn(const SfTurn *turn)
{
	SfSlot	   *mine = sf_slot_mine;

	mine->turn_began = sf_tick_now();
	if (mine->state != SF_SLOT_RUNNING)
		mine->since = mine->turn_began;
	mine->state = SF_SLOT_RUNNING;
	sf_shared_watch_turn(mine, turn->nkeys);
}

/* How long to let work come together: the slower a commit, the more is to share it. */
static int
gather_us(void)
{
	return Max(SF_GATHER_MIN_US, Min(3 * sf_turn_commit_us(), SF_GATHER_MAX_US));
}

/*
 * Is it worth a pause to let more work come together?  Where sessions commit
 * one after the other, a slice for each of them would have as many commits of
 * its own.  Nothing waits where nobody else was at it meanwhile (a client that
 * starts one when it sees the one before end is nobody else), nor while a
 * session waits for an end.
 */
static bool
may_gather(const SfDatabase *database, const SfTurn *turn)
{
	bool		company = sf_wake_take_company() > 0;

	return company && sf_slot_mine->role == SF_ROLE_WORKER && turn->tried > 0 &&
		turn->nkeys == 0 && !turn->scan && !turn->tasks && !database->scan &&
		(int64) database->ring.count * database->key_us < gather_us() &&
		pg_atomic_read_u32(&sf_shared->awaiting) == 0;
}

/* Decide what to do next; fills the turn, or says until when to sleep. */
static Next
decide(SfTurn *turn, SfTick *until)
{
	SfSlot	   *mine = sf_slot_mine;
	SfDatabase *database;
	Next		next = NEXT_TURN;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	sf_admit_release(mine);
	mine->stuck = false;
	if (!database || database->leaving > 0 || mine->leave ||
		is_one_too_many(MyDatabaseId))
	{
		/* what this process was about to look at, the next one will */
		if (database && (turn->scan || turn->nkeys > 0))
			database->scan = true;
		if (database && turn->tasks)
			database->task_wanted = true;
		next = NEXT_LEAVE;
	}
	else if (may_gather(database, turn))
	{
		next = NEXT_GATHER;
		turn->tried = 0;		/* once */
	}
	else if (take_work(database, turn))
	{
		database->arrivals = 0;
		note_turn(turn);
	}
	else
	{
		next = NEXT_SLEEP;
		if (mine->state != SF_SLOT_IDLE)
		{
			if (mine->state == SF_SLOT_RUNNING)
				mine->since = sf_tick_now();
			mine->state = SF_SLOT_IDLE;
		}
		mine->may_task = false;
		*until = wake_time(database);
		if (mine->role == SF_ROLE_TASK && *until <= sf_tick_now())
			next = NEXT_LEAVE;
	}
	LWLockRelease(sf_shared_lock);
	return next;
}

/* --- what came of it --- */

/* How often this database has been registered; to be asked before a verdict. */
static uint32
count_registrations(void)
{
	SfDatabase *database;
	uint32		count;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	count = database ? database->registrations : 0;
	LWLockRelease(sf_shared_lock);
	return count;
}

/* The verdict is that there is nothing to do here. */
static void
close_down(SfDatabase *database, SfTurnVerdict verdict)
{
	if (verdict == SF_TURN_NO_EXTENSION)
	{
		database->oid = InvalidOid;
		return;
	}
	database->state = SF_DATABASE_NOT_DRIVEN;
	sf_ring_clear(&database->ring);
	database->scan = false;
	/* what the launcher was told is void: it is to be told anew */
	database->more_wanted = false;
}

/* Let what a key has taken, commit and all, count for what the next will take. */
static void
note_cost(SfDatabase *database, int64 us)
{
	us = Max(1, Min(us, 2 * sf_setting_slice_ms * 1000));
	database->key_us = database->key_us == 0 ? us : (database->key_us * 7 + us) / 8;
}

/*
 * Put what a turn found out where the others see it.  A registration in the
 * meantime knows better than a verdict against this database: then somebody
 * will look again.
 */
static void
publish(SfTurn *turn, uint32 registrations)
{
	SfDatabase *database;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	if (database)
	{
		database->last_turn = sf_tick_now();
		if (turn->tried > 0)
			note_cost(database, (database->last_turn - sf_slot_mine->turn_began) / turn->tried);
		if (turn->verdict == SF_TURN_MAY_WORK)
		{
			database->state = SF_DATABASE_DRIVEN;
			if (!turn->failed)
				database->failures = 0;
			if (turn->wrote)
				sf_last_error_over(database);
		}
		else if (database->registrations == registrations)
			close_down(database, turn->verdict);
		if (turn->task_left)
			sf_shared_want_task(database);
		if (turn->capped_left)
			sf_admit_want(database, turn->releases);
	}
	LWLockRelease(sf_shared_lock);
}

/* Sleep after a failure that is nobody's fault; longer each time. */
static void
pause_after_failures(int failures)
{
	SfTick		until = sf_tick_plus_ms(sf_tick_now(),
													sf_backoff_doubled_ms(failures));

	/* not stuck, and nobody else would fare better */
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_slot_mine->turn_began = 0;
	LWLockRelease(sf_shared_lock);

	while (sf_tick_now() < until && !sf_slot_mine->leave)
	{
		sf_worker_handle_signals();
		sf_worker_sleep_until(until);
	}
}

/* Advance what is due until asked to leave. */
static void
work_loop(void)
{
	MemoryContext turn_context = AllocSetContextCreate(TopMemoryContext, "sfflow turn",
													   ALLOCSET_DEFAULT_SIZES);
	SfTurn		turn = {0};
	int			failures = 0;
	int			empty_turns = 0;

	for (;;)
	{
		SfTick		until = 0;
		uint32		registrations;
		Next		next;

		SfTick		alone_until = SF_TICK_NEVER;

		sf_worker_handle_signals();
		if (sf_alone_is_mine() && sf_alone_is_over(&alone_until))
			return;
		next = decide(&turn, &until);
		if (next == NEXT_LEAVE)
			return;
		if (next == NEXT_GATHER)
		{
			pg_usleep(gather_us());
			continue;
		}
		if (next == NEXT_SLEEP)
		{
			pgstat_report_stat(true);
			sf_worker_sleep_until(Min(until, alone_until));
			continue;
		}

		MemoryContextReset(turn_context);
		MemoryContextSwitchTo(turn_context);
		registrations = count_registrations();
		sf_turn_run(&turn);
		publish(&turn, registrations);
		if (turn.verdict != SF_TURN_MAY_WORK)
			return;
		empty_turns = turn.worked && !turn.moved ? empty_turns + 1 : 0;
		if (empty_turns > SF_STALLED_TURNS)
			sf_worker_sleep_until(sf_tick_plus_ms(sf_tick_now(),
															  SF_STALLED_PAUSE_MS));
		failures = turn.failed ? failures + 1 : 0;
		if (turn.failed)
		{
			turn.nkeys = 0;
			turn.scan = true;
			turn.scan_from = DT_NOBEGIN;
			pause_after_failures(failures);
		}
	}
}

/* --- a worker's life --- */

/*
 * Settings that a database may have set for its sessions, not for workers.
 * They are the session's, as if by SET: what RESET goes back to, which is where
 * tasks begin, stays.
 */
static void
override_settings(void)
{
	static const char *const settings[][2] = {
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_deferrable", "off"},
		{"lock_timeout", "0"},
		{"statement_timeout", "0"},
		{"search_path", "pg_catalog, pg_temp"},
	};

	for (size_t i = 0; i < lengthof(settings); i++)
		SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_SESSION);
}

/*
 * Have large allocations go back to the system when they are freed.  glibc
 * keeps more and more of them otherwise, once one has been freed.
 */
static void
limit_kept_memory(void)
{
#ifdef __GLIBC__
	(void) mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	(void) mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

/* Tell the launcher that this database need not be looked at again. */
static void
report_look(void)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (sf_slot_mine->probing)
		sf_shared->looked_at = MyDatabaseId;
	LWLockRelease(sf_shared_lock);
}

/*
 * Find out what the database holds; tells whether to stay and work.  Where it is
 * only to be looked at, what is found out is for the launcher alone.
 */
static bool
look_around(void)
{
	SfTurn		found = {0};
	uint32		registrations = count_registrations();
	bool		prepared,
				stay,
				probed = sf_slot_mine->probing;

	found.verdict = sf_turn_check(&prepared);
	found.worked = true;
	if (prepared)
		report_look();
	if (sf_slot_mine->look_only)
		return false;
	publish(&found, registrations);
	if (found.verdict == SF_TURN_NO_EXTENSION)
		sf_poison_clear_database(MyDatabaseId);
	if (found.verdict != SF_TURN_MAY_WORK)
		return false;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	stay = !probed ||
		sf_shared_count_advancing(InvalidOid) < sf_setting_workers;
	if (stay)
		sf_slot_mine->probing = false;
	LWLockRelease(sf_shared_lock);
	/* the launcher waits for it, to have the next database looked at */
	if (stay && probed)
		sf_shared_wake_launcher();
	return stay;
}

/* Run this database's suspects one by one, while nobody else works. */
static void
run_suspects(void)
{
	SfSuspect	suspect;

	while (sf_poison_next_suspect(MyDatabaseId, &suspect))
	{
		sf_worker_handle_signals();
		if (sf_slot_mine->leave)
			return;
		LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
		sf_slot_mine->since = sf_tick_now();
		LWLockRelease(sf_shared_lock);
		sf_turn_run_suspect(suspect.key,
							suspect.crashes < sf_setting_max_crashes ? NULL :
							psprintf("The server crashed %d times while this step ran alone.",
									 suspect.crashes));
		sf_poison_clear_suspect(MyDatabaseId, suspect.key);
	}
}

/* Connect to the database that the slot names. */
static void
connect_to_database(void)
{
	sf_last_error_watch_exit();
	sf_fatal_settings_off();
	BackgroundWorkerInitializeConnectionByOid(sf_slot_mine->database, InvalidOid, 0);
	sf_shared->connecting = InvalidOid;
	sf_exits_watch_end();
	pgstat_report_appname(psprintf("sfflow worker for database %u", MyDatabaseId));
	override_settings();
	sf_identity_private_session();
}

/* Live as the worker in a slot. */
void
sf_worker_live(int slot, uint32 launch)
{
	sf_exits_watch_signals();
	limit_kept_memory();
	if (sf_slot_attach(slot, launch) && sf_slot_await_database())
	{
		connect_to_database();
		if (sf_alone_may_drive() && look_around())
		{
			if (sf_slot_mine->suspects)
				run_suspects();
			else
				work_loop();
		}
	}
	end_process();
}

/* Entry point of a worker. */
void
sfflow_worker_main(Datum arg)
{
	SfWorkerOrder order;

	memcpy(&order, MyBgworkerEntry->bgw_extra, sizeof(order));
	sf_worker_unblock_signals();
	sf_worker_live(order.slot, order.launch);
}
