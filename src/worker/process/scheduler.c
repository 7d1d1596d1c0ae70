/*
 * scheduler.c
 *		What a worker does next.
 *
 * A worker takes keys out of its database's ring.  A scan of the due index puts
 * them there.  When one was asked for, and once per poll_interval, it reads all of
 * the index; when a timer is due, only what has become due since that timer.  A scan
 * also finds the next timer, which is kept in shared memory (next_timer).  The first
 * process that finds this time past removes the timer and scans.  So a timer is
 * never lost: it is in shared memory, or a process is scanning.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/error/debug_point.h"
#include "base/settings.h"
#include "base/time/timing.h"
#include "base/value/random.h"
#include "store/branch/noted_queue.h"
#include "worker/launcher/launcher.h"
#include "worker/process/process.h"
#include "worker/process/scheduler.h"
#include "worker/session/await.h"
#include "worker/shared_memory/shared.h"
#include "worker/turn/turn_xact.h"

/* --- which tasks this process may take on --- */

/* Tell whether another worker goes on advancing, whatever this one takes on. */
static bool
another_advances(Oid database)
{
	sf_foreach_process(process)
	{
		if (process != sf_my_process && process->database == database &&
			process->pid != 0 && sf_shared_advances(process) && !process->may_run_task)
			return true;
	}
	return false;
}

/* Tell which tasks this process may take on now; admit.c decides for each owner. */
static SfAdmission
tasks_to_take(Oid database)
{
	if (sf_my_process->kind == SF_PROCESS_KIND_KEEPER ||
		sf_shared_count_tasks() >= sf_admit_max_tasks())
		return SF_ADMIT_NONE;
	if (sf_my_process->kind == SF_PROCESS_KIND_TASK || another_advances(database))
		return SF_ADMIT_ALL;
	return sf_admit_last_worker(database);
}

/* Decide whether this process looks for announced tasks, if it or the database wants to. */
static void
decide_seek(SfDatabase *database, SfTurn *turn)
{
	sf_my_process->may_run_task = false;
	turn->admission = tasks_to_take(database->oid);
	turn->task_after = database->task_after;
	sf_my_process->may_run_task = turn->admission != SF_ADMIT_NONE;
	if (turn->admission == SF_ADMIT_NONE)
	{
		/* left to a process that may take on tasks */
		if (turn->seeks || (turn->state == SF_WORK_STATE_SCAN &&
							(database->tasks_left & SF_TASKS_LEFT_TASK) != 0))
			sf_shared_want_task(database);
		turn->seeks = false;
	}
	else if ((database->tasks_left & sf_admit_takes(turn->admission)) != 0)
	{
		turn->seeks = true;
		database->tasks_left &= ~sf_admit_takes(turn->admission);
	}
}

/* --- what is due --- */

/* Has the ring room for owners whose turn did not come in the last scan? They do not wait long for that. */
static bool
has_room_for_remainder(const SfDatabase *database, SfTick now)
{
	return (database->ring.nlists <= SF_RING_OWNERS / 2 &&
			database->ring.count <= SF_RING_SIZE / 4) ||
		now >= sf_tick_plus_ms(database->last_scan, SF_REMAINDER_PAUSE_MS);
}

/* Take on the remainder of the last scan, when the ring has room for it. */
static void
take_remainder(SfDatabase *database, SfTurn *turn)
{
	SfTick		now = sf_tick_now();

	if (!has_room_for_remainder(database, now))
		return;
	database->last_scan = now;
	turn->scan_from = database->remainder_from;
	turn->scan_turns = database->remainder_turns;
	database->remainder_from = DT_NOEND;
}

/*
 * Take on a scan of the due index, if one was asked for or the next timer is due.
 * A due timer is removed, and the scan begins at its time: branches that were due
 * before have their keys in the ring already.  To scan them again would push
 * duplicates; the larger the backlog, the more claims would fail.  In the same way a
 * scan for keys that found no room in the ring begins at the first of them.  A scan that
 * is not over, because the ring had no room for more owners, comes first.
 */
static void
take_scan(SfDatabase *database, SfTurn *turn)
{
	SfTick		now = sf_tick_now();
	TimestampTz wall = GetCurrentTimestamp();
	TimestampTz from = database->next_timer;
	bool		wanted = database->next_scan <= now;

	turn->scan_turns = (SfOwnerTurns) {0};
	if (turn->scan_from == DT_NOEND && database->remainder_from != DT_NOEND)
	{
		take_remainder(database, turn);
		return;
	}
	/* with many keys in the ring, at most once a second: for owners without keys there */
	if (database->ring.count > SF_RING_SIZE / 4 &&
		now < sf_tick_plus_ms(database->last_scan, SF_SCAN_PAUSE_MS))
		wanted = false;
	if (wanted)
	{
		database->last_scan = now;
		from = database->next_poll <= now ? DT_NOBEGIN : Min(from, database->scan_from);
		if (from == DT_NOBEGIN)
			database->next_poll = sf_shared_next_poll();
		sf_shared_scan_later(database);
	}
	if (from > wall)
		return;
	if (database->next_timer <= wall)
		database->next_timer = DT_NOEND;
	turn->scan_from = Min(turn->scan_from, from);
}

/*
 * Has a scan that is not over left nothing to run?  Its remainder comes at once then: no timer
 * that is known would end the sleep of this process in time for it.
 */
static bool
found_nothing(const SfDatabase *database, const SfTurn *turn)
{
	return database->remainder_from != DT_NOEND && database->ring.count == 0 && turn->nkeys == 0;
}

/*
 * In a process for tasks: take keys of an owner for whom no worker is free.  They come
 * before tasks, which others would wait for.
 */
static void
take_help(SfDatabase *database, SfTurn *turn)
{
	if (turn->nkeys > 0 ||
		!sf_shared_take_keys_as_helper(database, turn->keys, &turn->nkeys, SF_TURN_KEYS, &turn->owner))
		return;
	sf_my_process->turn = SF_TURN_KIND_HELPS;
	turn->helped = true;
	turn->admission = SF_ADMIT_NONE;
	sf_my_process->may_run_task = false;
	/* what this process had taken on is left to others */
	if (turn->scan_from != DT_NOEND)
	{
		sf_shared_want_scan_from(database, turn->scan_from);
		sf_shared_wake_worker(database);
	}
	turn->scan_from = DT_NOEND;
	if (turn->seeks)
		database->tasks_left |= SF_TASKS_LEFT_TASK;
	turn->seeks = false;
	if ((database->tasks_left & SF_TASKS_LEFT_WANTED) != 0)
		sf_shared_wake_launcher();
}

/* Find the turn that this process is to have; SLEEP: there is nothing to do. */
static SfWorkState
take_work(SfDatabase *database, SfTurn *turn)
{
	if (sf_my_process->kind == SF_PROCESS_KIND_TASK)
		take_help(database, turn);
	if (sf_my_process->turn == SF_TURN_KIND_HELPS)
		return SF_WORK_STATE_SLICE;
	if (sf_shared_takes_keys(sf_my_process))
	{
		/* what the last scan found comes before the next one, or the remainder of it */
		if (turn->state != SF_WORK_STATE_SCAN || found_nothing(database, turn))
			take_scan(database, turn);
		sf_shared_take_skipped(database);
		sf_shared_take_keys(database, turn->keys, &turn->nkeys, SF_TURN_KEYS,
							&turn->owner);
		sf_my_process->turn_owner = turn->nkeys > 0 ? turn->owner : InvalidOid;
	}
	if (turn->nkeys > 0 || turn->scan_from != DT_NOEND || turn->seeks ||
		(database->tasks_left & SF_TASKS_LEFT_WANTED) != 0)
		decide_seek(database, turn);
	if (turn->nkeys == 0 && turn->scan_from == DT_NOEND && !turn->seeks)
		return SF_WORK_STATE_SLEEP;

	/* more than one turn's worth: an idle worker may help */
	if (database->ring.count > 0)
		sf_shared_wake_worker(database);
	if (turn->scan_from != DT_NOEND)
		return SF_WORK_STATE_SCAN;
	/* tasks first: else they would wait for all that is due */
	return turn->seeks ? SF_WORK_STATE_SEEK : SF_WORK_STATE_SLICE;
}

/* --- gathering --- */

/* How long to let work accumulate: the slower a commit, the more is to share it. */
int
sf_scheduler_gather_us(void)
{
	return Max(SF_GATHER_MIN_US, Min(3 * sf_turn_xact_commit_us(), SF_GATHER_MAX_US));
}

/*
 * Is a pause worth it, to let more work accumulate?  Where sessions commit one
 * after the other, a slice for each of them would cost as many commits again.
 * There is no pause while a session waits for an end, nor without concurrent
 * load; a client that starts work when its previous execution ends does not count
 * as such.
 */
static bool
is_worth_gathering(const SfDatabase *database, const SfTurn *turn)
{
	bool		concurrent = sf_wake_take_concurrent_commits() > 0;

	return concurrent && turn->state == SF_WORK_STATE_SLICE && turn->tried > 0 &&
		sf_my_process->kind == SF_PROCESS_KIND_WORKER &&
		turn->nkeys == 0 && turn->scan_from == DT_NOEND && !turn->seeks &&
		database->next_scan > sf_tick_now() &&
		(int64) database->ring.count * database->key_us < sf_scheduler_gather_us() &&
		pg_atomic_read_u32(&sf_shared->awaiting) == 0;
}

/* --- purging --- */

/* Is a purge due, so that an idle worker takes it on?  overdue: so that any worker does. */
static bool
is_purge_due(const SfDatabase *database, bool overdue)
{
	return sf_my_process->kind == SF_PROCESS_KIND_WORKER &&
		sf_tick_plus_ms(database->next_purge, overdue ? SF_PURGE_PATIENCE_MS : 0) <= sf_tick_now();
}

/* Note when the next batch is due: at once if no work waits, else in a while. */
static void
note_purge(SfDatabase *database)
{
	SfTick		now = sf_tick_now();

	database->next_purge = database->ring.count == 0 ? now :
		sf_tick_plus_ms(now, SF_PURGE_PAUSE_MS - SF_PURGE_PATIENCE_MS);
}

/* --- deliveries of rules --- */

/* Is it time to look for deliveries? */
static bool
is_delivery_due(const SfDatabase *database)
{
	return sf_my_process->kind == SF_PROCESS_KIND_WORKER && database->next_delivery <= sf_tick_now();
}

/* --- queues that have room at a time --- */

/* Take on telling the workers of queues whose time has come. */
static bool
claim_queue_wakeups(SfDatabase *database)
{
	if (sf_my_process->kind != SF_PROCESS_KIND_WORKER || database->next_queue > sf_tick_now())
		return false;
	database->next_queue = SF_TICK_NEVER;
	return true;
}

/* Tell them, and note when the next time is. */
static void
wake_queues(void)
{
	SfTick		next = sf_queue_wake_ready(sf_tick_now());

	if (next != SF_TICK_NEVER)
		sf_hooks.queue_later(next);
}

/* --- transitions --- */

/* Tell whether the database has more processes than it needs, with this one. */
static bool
is_one_too_many(Oid database)
{
	if (sf_my_process->kind == SF_PROCESS_KIND_KEEPER)
		return sf_shared_count_advancing(database) > 0;
	return sf_my_process->kind == SF_PROCESS_KIND_WORKER &&
		sf_shared_count_advancing(InvalidOid) > sf_setting_workers &&
		sf_shared_count_advancing(database) > 1;
}

/* Have this process end; a scan or tasks that it had taken on are left to others. */
static SfWorkState
leave(SfDatabase *database, const SfTurn *turn)
{
	if (database && turn->nkeys > 0)
		sf_shared_want_scan(database);
	else if (database && turn->scan_from != DT_NOEND)
		sf_shared_want_scan_from(database, turn->scan_from);
	if (database && turn->seeks)
		database->tasks_left |= SF_TASKS_LEFT_TASK;
	return SF_WORK_STATE_LEAVE;
}

/* Pause after turns that failed or stalled. */
static SfWorkState
pause_for(SfTurn *turn, int ms)
{
	turn->until = sf_tick_plus_ms(sf_tick_now(), ms);
	/* not stuck, and another worker would fare no better */
	sf_my_process->turn_began = SF_TICK_UNSET;
	return SF_WORK_STATE_PAUSE;
}

/* Is a queue among the keys of a turn? */
static bool
has_queue(const SfTurn *turn)
{
	for (int i = 0; i < turn->nkeys; i++)
	{
		if (turn->keys[i].kind == SF_WORK_KEY_QUEUE)
			return true;
	}
	return false;
}

/* Begin a turn; the launcher checks that others go on if it takes long. */
static SfWorkState
begin_turn(SfDatabase *database, SfTurn *turn, SfWorkState state)
{
	SfProcess  *mine = sf_my_process;

	database->arrivals = 0;
	turn->sweeps = database->sweep_wanted && mine->kind == SF_PROCESS_KIND_WORKER;
	if (turn->sweeps)
		database->sweep_wanted = false;
	turn->registrations = database->registrations;
	mine->turn_began = sf_tick_now();
	if (mine->turn != SF_TURN_KIND_HELPS)
		mine->turn = state == SF_WORK_STATE_PURGE ? SF_TURN_KIND_PURGES :
			has_queue(turn) ? SF_TURN_KIND_RUNS_QUEUE : SF_TURN_KIND_ANY;
	mine->turn_owner = state == SF_WORK_STATE_SLICE ? turn->owner : InvalidOid;
	if (mine->status != SF_PROCESS_STATUS_RUNNING)
		mine->since = mine->turn_began;
	mine->status = SF_PROCESS_STATUS_RUNNING;
	sf_shared_check_turn_in_time(mine, turn->nkeys);
	return state;
}

/*
 * Have this process, which is one too many, end: after a turn that advanced no branch,
 * as a scan of the due index, when it has had one more turn.  Otherwise workers would
 * replace each other for ever, and no branch would advance, where each commit takes
 * SF_STUCK_MS: after each such turn the worker's replacement has started, and begins
 * with the same one.
 */
static SfWorkState
make_way(SfDatabase *database, SfTurn *turn)
{
	SfWorkState next = SF_WORK_STATE_SLEEP;

	if (turn->state == SF_WORK_STATE_SCAN || turn->state == SF_WORK_STATE_PURGE ||
		turn->state == SF_WORK_STATE_DELIVER || turn->state == SF_WORK_STATE_SWEEP)
		next = take_work(database, turn);
	return next == SF_WORK_STATE_SLEEP ? leave(database, turn) : begin_turn(database, turn, next);
}

/*
 * Note that this process is idle and until when it may sleep: until the next timer
 * or the next poll.  A process for tasks leaves when it has been without one for a
 * while.
 */
static SfWorkState
go_to_sleep(SfDatabase *database, SfTurn *turn)
{
	SfProcess  *mine = sf_my_process;
	SfTick		until;

	if (mine->status == SF_PROCESS_STATUS_RUNNING)
		mine->since = sf_tick_now();
	mine->status = SF_PROCESS_STATUS_IDLE;
	mine->may_run_task = false;
	if (mine->kind != SF_PROCESS_KIND_TASK)
		until = Min(Min(sf_tick_of_wall(database->next_timer), database->next_scan),
					database->skipped.next);
	else
		until = sf_tick_plus_ms(mine->since,
								turn->helped ? SF_DEBUG_MS("helper-linger", SF_HELPER_LINGER_MS) :
								SF_DEBUG_MS("task-linger", SF_TASK_LINGER_MS));
	if (mine->kind == SF_PROCESS_KIND_WORKER)
		until = Min(Min(until, database->next_queue),
					Min(database->next_purge, database->next_delivery));
	if (mine->kind == SF_PROCESS_KIND_TASK && until <= sf_tick_now())
		return SF_WORK_STATE_LEAVE;
	turn->until = until;
	return SF_WORK_STATE_SLEEP;
}

/* Tell whether a turn went well, and nothing that it found is still to be done. */
static bool
is_over_and_well(const SfTurn *turn)
{
	return turn->result == SF_TURN_RESULT_NOTHING ||
		(turn->state != SF_WORK_STATE_SCAN &&
		 (turn->result == SF_TURN_RESULT_PROGRESS || turn->result == SF_TURN_RESULT_STALLED));
}

/* Does a turn advance branches, or look for some: may it fail or stall, and the worker pause for it? */
static bool
is_of_branches(SfWorkState state)
{
	switch (state)
	{
		case SF_WORK_STATE_SCAN:
		case SF_WORK_STATE_SEEK:
		case SF_WORK_STATE_SLICE:
		case SF_WORK_STATE_TASK:
			return true;
		case SF_WORK_STATE_SLEEP:
		case SF_WORK_STATE_GATHER:
		case SF_WORK_STATE_PURGE:
		case SF_WORK_STATE_DELIVER:
		case SF_WORK_STATE_SWEEP:
		case SF_WORK_STATE_PAUSE:
		case SF_WORK_STATE_LEAVE:
			break;
	}
	return false;
}

/* Count turns in a row that failed or stalled; how long to pause after them. */
static int
count_setbacks(SfTurn *turn)
{
	if (!is_of_branches(turn->state))
		return 0;
	if (turn->result == SF_TURN_RESULT_FAILED)
	{
		/* its keys are still in the tables */
		turn->nkeys = 0;
		turn->scan_from = DT_NOBEGIN;
		return sf_backoff_doubled_ms(++turn->failures);
	}
	if (is_over_and_well(turn))
	{
		turn->failures = 0;
		turn->stalled = turn->result == SF_TURN_RESULT_STALLED ? turn->stalled + 1 : 0;
	}
	return turn->result == SF_TURN_RESULT_STALLED && turn->stalled > SF_STALLED_TURNS ?
		SF_STALLED_PAUSE_MS : 0;
}

/* Choose the next state, under the lock. */
static SfWorkState
choose(SfDatabase *database, SfTurn *turn)
{
	int			pause_ms = count_setbacks(turn);
	SfWorkState next;

	if (!database || database->leaving > 0 || sf_my_process->is_to_leave)
		return leave(database, turn);
	if (is_one_too_many(MyDatabaseId))
		return pause_ms > 0 ? leave(database, turn) : make_way(database, turn);
	if (pause_ms > 0)
		return pause_for(turn, pause_ms);
	if (is_worth_gathering(database, turn))
		return SF_WORK_STATE_GATHER;
	if (is_purge_due(database, true))
		next = SF_WORK_STATE_PURGE;
	else if (turn->state != SF_WORK_STATE_DELIVER && is_delivery_due(database))
		next = SF_WORK_STATE_DELIVER;
	else
		next = take_work(database, turn);
	if (next == SF_WORK_STATE_SLEEP && is_delivery_due(database))
		next = SF_WORK_STATE_DELIVER;
	if (next == SF_WORK_STATE_SLEEP && database->sweep_wanted && sf_my_process->kind == SF_PROCESS_KIND_WORKER)
		next = SF_WORK_STATE_SWEEP;
	if (next == SF_WORK_STATE_SLEEP && is_purge_due(database, false))
		next = SF_WORK_STATE_PURGE;
	if (next == SF_WORK_STATE_DELIVER)
		database->next_delivery = SF_TICK_NEVER;
	if (next == SF_WORK_STATE_PURGE)
		database->next_purge = sf_tick_plus_ms(sf_tick_now(), sf_setting_purge_interval * 1000L);
	return next == SF_WORK_STATE_SLEEP ? go_to_sleep(database, turn) :
		begin_turn(database, turn, next);
}

/*
 * After a turn as a helper: the keys that its slice did not come to go back, for workers
 * or another such turn.  The next turn of this process may be in a task, with nothing else
 * done by it for an hour.
 */
static void
end_help(SfDatabase *database, SfTurn *turn)
{
	if (database && sf_my_process->turn == SF_TURN_KIND_HELPS && turn->nkeys > 0)
	{
		sf_shared_put_back(database, turn->keys, turn->nkeys, turn->owner);
		turn->nkeys = 0;
		sf_shared_wake_worker(database);
	}
	sf_my_process->turn = SF_TURN_KIND_ANY;
}

/* Go to the next state, as the diagram of SfWorkState says; fills in the turn. */
SfWorkState
sf_scheduler_next(SfTurn *turn)
{
	SfDatabase *database;
	bool		queues_are_due = false;

	if (turn->verdict != SF_VERDICT_MAY_WORK)
		turn->state = SF_WORK_STATE_LEAVE;
	else if (turn->result == SF_TURN_RESULT_ANNOUNCED)
		turn->state = SF_WORK_STATE_TASK;
	else
	{
		database = sf_shared_lock_database(MyDatabaseId);
		sf_admit_release(sf_my_process);
		end_help(database, turn);
		sf_my_process->stuck = sf_my_process->may_run_task = false;
		sf_my_process->turn_owner = InvalidOid;
		queues_are_due = database != NULL && claim_queue_wakeups(database);
		turn->state = choose(database, turn);
		LWLockRelease(sf_shared_lock);
	}
	if (queues_are_due)
		wake_queues();
	turn->result = SF_TURN_RESULT_NOTHING;
	return turn->state;
}

/* --- what a turn found out --- */

/* How often this database has been registered; to be asked before a verdict. */
uint32
sf_scheduler_registrations(void)
{
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);
	uint32		count = database ? database->registrations : 0;

	LWLockRelease(sf_shared_lock);
	return count;
}

/* The verdict is that there is nothing to do here. */
static void
close_down(SfDatabase *database, SfVerdict verdict)
{
	if (verdict == SF_VERDICT_NO_EXTENSION)
	{
		database->oid = InvalidOid;
		return;
	}
	database->status = SF_DATABASE_NOT_DRIVEN;
	sf_ring_clear(&database->ring);
	sf_skipped_clear(&database->skipped);
	database->next_poll = sf_shared_next_poll();
	sf_shared_scan_later(database);
	/* what the launcher was told is void: it is to be told anew */
	database->backlog = SF_BACKLOG_NONE;
}

/* Learn from a turn what a key takes, commit included. */
static void
note_cost(SfDatabase *database, int64 us)
{
	us = Max(1, Min(us, 2 * sf_setting_slice_ms * 1000));
	database->key_us = database->key_us == 0 ? us : (database->key_us * 7 + us) / 8;
}

/*
 * Publish what a turn found out in the shared area.  A verdict against the
 * database is void when it was registered again meanwhile: it is looked at again.
 */
void
sf_scheduler_publish(SfTurn *turn)
{
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);
	bool		is_gone = false;

	if (database)
	{
		database->last_turn = sf_tick_now();
		if (turn->state == SF_WORK_STATE_PURGE && sf_turn_purges_more(turn))
			note_purge(database);
		if (turn->state == SF_WORK_STATE_DELIVER)
			sf_shared_lower_delivery(database, sf_turn_next_delivery(turn));
		if (turn->tried > 0)
			note_cost(database, (database->last_turn - sf_my_process->turn_began) / turn->tried);
		if (turn->verdict == SF_VERDICT_MAY_WORK)
		{
			database->status = SF_DATABASE_DRIVEN;
			if (is_over_and_well(turn))
				database->failures = 0;
			if (is_over_and_well(turn) && turn->result != SF_TURN_RESULT_NOTHING)
				database->last_error.in_a_row = 0;
		}
		else if (database->registrations == turn->registrations)
		{
			is_gone = turn->verdict == SF_VERDICT_NO_EXTENSION;
			close_down(database, turn->verdict);
		}
		if ((turn->tasks_left & SF_TASKS_LEFT_TASK) != 0)
			sf_shared_want_task(database);
		sf_admit_want(database, turn->tasks_left, turn->releases);
	}
	turn->tasks_left = SF_TASKS_LEFT_NONE;
	LWLockRelease(sf_shared_lock);
	if (is_gone)
		sf_databases_clear(MyDatabaseId);
}
