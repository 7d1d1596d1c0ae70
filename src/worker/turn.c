/*
 * turn.c
 *		A worker's turn: transactions around slices and long tasks, and what
 *		happens when one fails.
 *
 * A turn is a look at the due index when that is wanted, one slice (T1 when it
 * announces a long task), and then the announced task itself (T2); T3 is the next
 * turn.  Each is an attempt: a transaction whose error is caught (attempt.c).  The
 * branches of a slice that failed run again one by one (run/tries.h).  What
 * follows the error of a branch by itself:
 *
 *		serialization failure, deadlock, a lock
 *		not available, a cancel, an execution
 *		that was changed meanwhile					tried again
 *		a session holds the execution's row			put off for some seconds
 *		no disk, shutdown							put off, as long as that can be
 *													done; else the worker pauses
 *		no memory									the same, and counted (shortage.c)
 *		the commit failed							its tasks run again as announced ones
 *		anything else, or five tries				the branch fails with States.Runtime
 *
 * What a task did may fail as late as the commit, a deferred trigger or a remote
 * server for example, and then the error does not say which task of the slice it
 * was.  Therefore each task of that branch is announced and run by itself, and
 * the error of T2's commit is the outcome of its task, for Retry and Catch.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/settings.h"
#include "base/timing.h"
#include "run/slice.h"
#include "run/tries.h"
#include "worker/admit.h"
#include "worker/attempt.h"
#include "worker/poison.h"
#include "worker/shared.h"
#include "worker/shortage.h"
#include "worker/slot.h"
#include "worker/turn.h"

/* --- who has work, and since when long tasks are announced --- */

/* Copy the owners that are known; false: there may be others. */
static bool
copy_owners(const SfDatabase *database, Oid *owners, int *nowners)
{
	*nowners = database->nowners;
	memcpy(owners, database->owners, sizeof(Oid) * database->nowners);
	return database->owners_known;
}

/*
 * Take it on to look for what has been announced since the last such look:
 * owners has room for SF_KNOWN_OWNERS.
 */
static void
take_tasks(SfSliceRequest *request, Oid *owners)
{
	SfDatabase *database;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	if (database)
	{
		request->task_from = database->tasks_from;
		database->tasks_from = DT_NOEND;
		if (copy_owners(database, owners, &request->nowners))
			request->owners = owners;
	}
	LWLockRelease(sf_shared_lock);
}

/* Leave it to another look to find what was announced at a time, or later. */
static void
leave_tasks(TimestampTz from)
{
	SfDatabase *database;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	if (database)
		sf_shared_lower_tasks(database, from);
	LWLockRelease(sf_shared_lock);
}

/* --- long tasks --- */

/*
 * From now on this process does not count as one that advances.  Hints that it
 * will not come to, because a long task comes first, go back.  False: the owner
 * holds as many slots as it may, by now.
 */
static bool
enter_task_role(SfTurn *turn, Oid owner)
{
	SfDatabase *database;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	if (turn->capped_left && database)
		sf_admit_want(database, turn->releases);
	turn->releases = sf_shared->releases;
	turn->capped_left = false;
	if (!sf_admit_task(sf_slot_mine, owner))
	{
		turn->capped_left = true;
		LWLockRelease(sf_shared_lock);
		return false;
	}
	sf_slot_mine->role = SF_ROLE_TASK;
	sf_slot_mine->may_task = true;
	sf_slot_mine->nkeys = 0;
	if (database)
	{
		database->task_after = owner;
		sf_shared_put_back(database, turn->keys, turn->nkeys, turn->owner);
		if (turn->scan)
			database->scan = true;
		if (database->scan || database->ring.count > 0)
			sf_shared_wake_worker(database);
		if (turn->task_left || turn->tasks)
			sf_shared_want_task(database);
	}
	turn->task_left = false;
	turn->nkeys = 0;
	turn->scan = false;
	sf_shared_wake_launcher();
	LWLockRelease(sf_shared_lock);
	return true;
}

/* Advance again, unless there are enough who do. */
static void
leave_task_role(void)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_admit_release(sf_slot_mine);
	sf_slot_mine->may_task = false;
	if (sf_shared_count_advancing(InvalidOid) < sf_setting_workers &&
		!sf_slot_mine->suspects)
	{
		sf_slot_mine->role = SF_ROLE_WORKER;
		sf_slot_mine->turn_began = sf_tick_now();
	}
	sf_shared_wake_launcher();
	LWLockRelease(sf_shared_lock);
}

/* Make a branch due later. */
static bool
put_off(SfBranchKey key, int ms)
{
	SfAttempt	a = {.kind = SF_ATTEMPT_PUT_OFF,.key = key,.put_off_ms = ms};

	return sf_attempt(&a);
}

/* Make a branch fail; nothing else helped. */
static bool
fail_branch(SfBranchKey key, const char *cause, bool alone)
{
	SfAttempt	a = {.kind = SF_ATTEMPT_FAIL,.key = key,.cause = cause,.alone = alone};

	ereport(LOG,
			(errmsg("sfflow makes branch " INT64_FORMAT " of execution " INT64_FORMAT " fail: %s",
					key.branch_no, key.execution_no, cause)));
	if (sf_attempt(&a))
		return true;
	return a.fault == SF_FAULT_LOCKED && put_off(key, SF_LOCKED_PUT_OFF_MS);
}

/*
 * There may be more announced tasks, and the one that was to be run may have
 * been locked, if only for a look of somebody else: have them looked at again.
 */
static void
look_again(void)
{
	SfDatabase *database;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	if (database)
		database->task_wanted = true;
	LWLockRelease(sf_shared_lock);
}

/*
 * A branch that ran by itself failed for what may be no fault of its own: put it
 * off, or make it fail when it happens to no other one.  False: not even that can
 * be done now.
 */
static bool
handle_shortage(SfBranchKey key, const SfAttempt *failed)
{
	int			ms;
	int			count;

	if (failed->collided)
		return false;
	count = sf_shortage_note(key, failed->fault == SF_FAULT_SHORTAGE, &ms);
	if (count < SF_TRIES)
		return put_off(key, ms);
	sf_shortage_clear(key);
	return fail_branch(key, psprintf("%s (SQLSTATE %s, %d times in a row)",
									 failed->message, unpack_sql_state(failed->sqlstate), count),
					   failed->alone);
}

/*
 * A branch with which the worker ended too often must not be run again: tell the
 * cause of its failure; else NULL.
 */
static char *
exits_cause(SfBranchKey key)
{
	SfSuspect	suspect;

	if (!sf_poison_find(MyDatabaseId, key, &suspect) ||
		suspect.exits < sf_setting_max_crashes)
		return NULL;
	return psprintf("The worker process ended %d times while it ran this step.",
					suspect.exits);
}

/* Make such a branch fail. */
static bool
fail_exits(SfBranchKey key, const char *cause, bool alone)
{
	bool		failed = fail_branch(key, cause, alone);

	if (failed)
		sf_poison_clear_suspect(MyDatabaseId, key);
	return failed;
}

/* Make how the commit of a task failed its outcome. */
static bool
fail_task(const SfAttempt *failed)
{
	SfAttempt	a = {.kind = SF_ATTEMPT_TASK,.key = failed->key,.alone = failed->alone};

	a.generation = failed->generation;
	a.request.last_try = true;
	a.outcome = &failed->failure;
	if (sf_attempt(&a))
		return true;
	return !sf_attempt_met_shortage(&a) && fail_branch(a.key, a.message, a.alone);
}

/*
 * Try a branch by itself; true: it met others, and may go well next time.  Where
 * the commit failed, each of its tasks is announced the next time, so that the
 * commit of T2 tells which one it was.
 */
static bool
try_alone(void *arg, bool last)
{
	SfAttempt  *a = arg;

	a->request.last_try = last;
	if (sf_attempt(a) || a->fault == SF_FAULT_LOCKED || sf_attempt_met_shortage(a))
		return false;
	if (a->in_commit && (a->request.tasks & SF_TASKS_SHORT) != 0)
	{
		a->request.tasks &= ~SF_TASKS_SHORT;
		return true;
	}
	return a->fault == SF_FAULT_PASSING;
}

/* Decide what becomes of a branch that failed by itself; false: the worker should pause. */
static bool
give_up(SfBranchKey key, const SfAttempt *a)
{
	if (a->fault == SF_FAULT_LOCKED)
		return put_off(key, SF_LOCKED_PUT_OFF_MS);
	if (sf_attempt_met_shortage(a))
		return handle_shortage(key, a);
	if (a->kind == SF_ATTEMPT_TASK && a->in_commit)
		return fail_task(a);
	return fail_branch(key, a->message, a->alone);
}

/*
 * Run an announced task; an aborted one is left to the slice that comes next.
 * Returns false when the worker should pause.  *over: it need not be found again.
 */
static bool
run_task(SfBranchKey key, int generation, bool alone, bool *over)
{
	SfAttempt	a = {.kind = SF_ATTEMPT_TASK,.key = key,.generation = generation,.alone = alone};
	char	   *cause = exits_cause(key);

	if (cause)
		return fail_exits(key, cause, alone);
	sf_tries_run(try_alone, &a);
	if (!a.ok)
		return give_up(key, &a);
	*over = a.result.outcome == SF_SLICE_WORKED;
	sf_shortage_clear(key);
	return true;
}

/* Run the announced task of a slice; its branch is the first hint after it. */
static void
run_announced(SfTurn *turn, const SfSliceResult *result)
{
	SfBranchKey key = result->task;
	bool		over = false;

	turn->worked = turn->moved = true;
	if (!enter_task_role(turn, result->owner))
	{
		leave_tasks(result->task_due);
		return;
	}
	turn->failed = !run_task(key, result->task_generation, false, &over);
	if (!over)
		leave_tasks(result->task_due);
	look_again();
	leave_task_role();
	turn->keys[0] = key;
	turn->nkeys = 1;
	turn->owner = result->owner;
	turn->worked = turn->moved = true;
	turn->wrote = !turn->failed;
}

/* --- sharing slots --- */

/*
 * Say in a request what user code the slice may come to: short tasks, if their
 * owner has no more than its share, and whose announced ones.
 */
static void
share_slots(SfTurn *turn, SfSliceRequest *request)
{
	SfOwnerLimit *limits = palloc(sizeof(SfOwnerLimit) * sf_shared->nslots);

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	turn->releases = sf_shared->releases;
	request->nlimits = sf_admit_limits(sf_slot_mine,
									   turn->admission == SF_ADMIT_NEW_OWNERS, limits);
	request->limits = limits;
	request->tasks = turn->admission == SF_ADMIT_NONE ? SF_TASKS_NONE : SF_TASKS_LONG;
	if (request->mode != SF_SLICE_ANNOUNCED &&
		sf_slot_mine->role != SF_ROLE_KEEPER &&
		sf_admit_inline(sf_slot_mine, turn->owner))
		request->tasks |= SF_TASKS_SHORT;
	LWLockRelease(sf_shared_lock);
}

/* --- a branch by itself --- */

/*
 * Advance one branch by itself, in a turn that failed or (NULL) as a suspect.
 * Returns false when the worker should pause.
 */
static bool
run_alone(SfBranchKey key, SfTurn *turn)
{
	SfAttempt	a = {.kind = SF_ATTEMPT_SLICE,.alone = turn == NULL};
	char	   *cause = exits_cause(key);
	bool		over;

	if (cause)
		return fail_exits(key, cause, turn == NULL);
	a.request.keys = &key;
	a.request.nkeys = 1;
	a.request.mode = SF_SLICE_BRANCH;
	a.request.tasks = SF_TASKS_ALL;
	if (turn)
		share_slots(turn, &a.request);
	sf_tries_run(try_alone, &a);
	if (!a.ok)
		return give_up(key, &a);
	if (a.result.outcome != SF_SLICE_LONG_TASK)
	{
		sf_shortage_clear(key);
		return true;
	}
	if (!turn)
		return run_task(a.result.task, a.result.task_generation, true, &over);
	run_announced(turn, &a.result);
	return !turn->failed;
}

/* Run one branch with nobody else at work: a suspect of a crash (4.6). */
void
sf_turn_run_suspect(SfBranchKey key, const char *cause)
{
	if (cause)
		(void) fail_branch(key, cause, true);
	else
		(void) run_alone(key, NULL);
}

/* --- the turn --- */

/* Take the hints that the slice has looked at out of the turn. */
static void
drop_tried(SfTurn *turn, int tried)
{
	turn->nkeys -= tried;
	memmove(turn->keys, turn->keys + tried, sizeof(SfBranchKey) * turn->nkeys);
}

/* Run the branches of a failed slice one by one. */
static void
run_one_by_one(SfTurn *turn, const SfAttempt *failed)
{
	SfTurn		one = *turn;
	int64		locked = failed->fault == SF_FAULT_LOCKED ? sf_slice_locked_out() : 0;

	for (int i = 0; i < failed->ntouched && !one.failed; i++)
	{
		one.nkeys = 0;
		one.failed = failed->touched[i].execution_no == locked ?
			!put_off(failed->touched[i], SF_LOCKED_PUT_OFF_MS) : !run_alone(failed->touched[i], &one);
	}

	/* what a task left to do is found by a look at the tables */
	turn->nkeys = 0;
	turn->scan = true;
	turn->scan_from = DT_NOBEGIN;
	turn->failed = one.failed;
	turn->worked = turn->moved = true;
	turn->wrote = !turn->failed && failed->ntouched > 0;
}

/*
 * Run the keys of the turn one by one when a suspect is among them; false: there
 * is none.
 */
static bool
run_suspects_alone(SfTurn *turn)
{
	SfAttempt	all = {.fault = SF_FAULT_PASSING,.ntouched = turn->nkeys};
	SfSuspect	suspect;
	bool		any = false;

	for (int i = 0; i < turn->nkeys && !any; i++)
		any = sf_poison_find(MyDatabaseId, turn->keys[i], &suspect);
	if (!any)
		return false;
	memcpy(all.touched, turn->keys, sizeof(SfBranchKey) * turn->nkeys);
	run_one_by_one(turn, &all);
	look_again();
	turn->verdict = SF_TURN_MAY_WORK;
	return true;
}

/* Put what a look found where all workers take it from; take some of it. */
static void
take_findings(SfDatabase *database, SfTurn *turn, const SfLook *look)
{
	ListCell   *lc;

	database->look_after = look->after;
	if (look->set_back)
	{
		database->looked = true;
		database->set_back_by -= look->set_back_by;
	}
	database->scan = database->scan || look->more;
	if (look->of == NULL)
	{
		database->owners_known = true;
		foreach(lc, look->owners_found)
			sf_shared_note_owner(database, lfirst_oid(lc));
	}
	if (look->announced)
		sf_shared_lower_tasks(database, look->from);
	sf_shared_lower_timer(database, look->next_due);
	for (int i = 0; i < look->nkeys; i++)
		sf_shared_push(database, look->keys[i], look->owners[i]);
	sf_shared_take_keys(database, turn->keys, &turn->nkeys, SF_TURN_KEYS, &turn->owner);
	sf_shared_watch_turn(sf_slot_mine, turn->nkeys);
	if (database->ring.count > 0)
		sf_shared_wake_worker(database);
	if (look->announced && turn->admission != SF_ADMIT_NONE)
		turn->tasks = true;
	else if (look->announced)
		sf_shared_want_task(database);
}

/*
 * SfLook at the due index and put what is due into the ring, where all workers
 * take it from: with an old snapshot around, finding a branch in the index is
 * slow, claiming it by its key is not.  False: there is nothing more to do.
 */
static bool
find_work(SfTurn *turn)
{
	SfLook		look = {.context = CurrentMemoryContext,.from = turn->scan_from};
	SfAttempt	a = {.kind = SF_ATTEMPT_LOOK,.look = &look};
	SfDatabase *database;
	Oid			owners[SF_KNOWN_OWNERS];

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	if (database)
	{
		look.after = database->look_after;
		look.room = SF_RING_SIZE - database->ring.count;
		look.set_back_by = database->set_back_by;
		look.set_back = look.from == DT_NOBEGIN &&
			(!database->looked || look.set_back_by > 0 ||
			 sf_shared->behind_until > sf_tick_now());
		if (look.from != DT_NOBEGIN && copy_owners(database, owners, &look.nof))
			look.of = owners;
	}
	LWLockRelease(sf_shared_lock);

	turn->failed = !sf_attempt(&a);
	turn->verdict = turn->failed ? SF_TURN_MAY_WORK : a.verdict;
	if (turn->failed || a.verdict != SF_TURN_MAY_WORK)
		return false;

	turn->scan = false;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	database = sf_shared_find_database(MyDatabaseId);
	if (database)
		take_findings(database, turn, &look);
	LWLockRelease(sf_shared_lock);
	turn->worked = turn->moved = look.nkeys > 0;
	return true;
}

/* Claim and advance. */
void
sf_turn_run(SfTurn *turn)
{
	SfAttempt	a = {.kind = SF_ATTEMPT_SLICE};
	Oid			owners[SF_KNOWN_OWNERS];
	bool		succeeded;

	turn->failed = false;
	turn->worked = false;
	turn->moved = false;
	turn->wrote = false;
	turn->capped_left = false;
	turn->tried = 0;

	if (turn->scan && !find_work(turn))
		return;
	if (turn->nkeys == 0 && !turn->tasks)
		return;
	if (!turn->tasks && run_suspects_alone(turn))
		return;

	a.request.keys = turn->keys;
	/* for the announced ones first, or they would wait for all that is due */
	a.request.nkeys = turn->tasks ? 0 : turn->nkeys;
	a.request.mode = turn->tasks ? SF_SLICE_ANNOUNCED : SF_SLICE_KEYS;
	a.request.task_after = turn->task_after;
	share_slots(turn, &a.request);
	a.request.slice_ms = sf_setting_slice_ms;
	if (turn->tasks)
		take_tasks(&a.request, owners);
	succeeded = sf_attempt(&a);
	if (turn->tasks)
		leave_tasks(succeeded ? a.result.tasks_from : a.request.task_from);
	if (!succeeded)
	{
		turn->verdict = SF_TURN_MAY_WORK;
		if (sf_attempt_met_shortage(&a) && (a.ntouched == 0 || a.collided))
			turn->failed = true;
		else
			run_one_by_one(turn, &a);
		look_again();
		return;
	}

	turn->verdict = a.verdict;
	turn->task_left = a.result.task_left;
	turn->capped_left = a.result.capped_left;
	if (a.verdict != SF_TURN_MAY_WORK)
		return;
	turn->worked = turn->wrote = a.result.outcome != SF_SLICE_IDLE;
	turn->moved = a.result.transitions > 0;
	turn->tried = a.result.nkeys_tried;
	drop_tried(turn, turn->tried);
	turn->tasks = turn->tasks && a.result.outcome == SF_SLICE_WORKED;
	if (a.result.outcome == SF_SLICE_LONG_TASK)
		run_announced(turn, &a.result);
}
