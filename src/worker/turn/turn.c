/*
 * turn.c
 *		A worker's turn: transactions around slices and long tasks, and what
 *		happens when one fails.
 *
 * A turn is a scan of the due index (SCAN), a search for an announced task (SEEK), a
 * slice (SLICE), which may announce a long task, the announced task itself (TASK),
 * a purge of old executions (PURGE), deliveries of rules (DELIVER), or sweeps of features
 * (SWEEP); what follows the task is a later SLICE.  A turn runs in attempts: transactions
 * whose error is caught (turn_xact.c).  The branches of a slice that failed run again one by
 * one (run/slice/slice.h).  What follows when a branch fails that runs by itself:
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
 * the error of the commit of its turn is the outcome of its task, for Retry and Catch.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/error/errors.h"
#include "base/settings.h"
#include "base/time/timing.h"
#include "run/apply/apply.h"
#include "run/slice/slice.h"
#include "worker/fault/fault.h"
#include "worker/process/process.h"
#include "worker/shared_memory/shared.h"
#include "worker/turn/turn.h"
#include "worker/turn/turn_xact.h"

/* Until then this process waits briefly for rows of executions: it has just waited long for one. */
static SfTick lock_briefly_until = SF_TICK_AT_ONCE;

/* --- owners with work, and since when long tasks are announced --- */

/* If all owners are known, copy them, so that they need not be looked for. */
static void
copy_owners(const SfDatabase *database, Oid *owners, SfOwnerTurns *turns)
{
	if (!database->owners_known)
		return;
	memcpy(owners, database->owners, sizeof(Oid) * database->nowners);
	turns->known = owners;
	turns->nknown = database->nowners;
}

/*
 * Take on the search for what has been announced since the last one: owners
 * has room for SF_KNOWN_OWNERS.
 */
static void
claim_task_search(SfSliceSearch *search, Oid *owners)
{
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	search->announced->from = DT_NOEND;
	if (database)
	{
		*search->announced = database->announced;
		database->announced = (SfAnnounced) {.from = DT_NOEND};
		copy_owners(database, owners, &search->owners);
	}
	LWLockRelease(sf_shared_lock);
}

/* Leave it to another search to find announced tasks that this one has left. */
static void
leave_announced(const SfAnnounced *left)
{
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	if (database && left->from != DT_NOEND)
		sf_announced_merge(&database->announced, left);
	LWLockRelease(sf_shared_lock);
}

/* Leave it to another search to find an announced task of an owner. */
static void
add_announced(Oid owner, TimestampTz from)
{
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	if (database)
		sf_announced_add(&database->announced, owner, from);
	LWLockRelease(sf_shared_lock);
}

/* Maybe have a search for announced tasks made soon. */
static void
leave_tasks(SfTasksLeft left)
{
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	if (database)
		database->tasks_left |= left;
	LWLockRelease(sf_shared_lock);
}

/* --- long tasks --- */

/* Leave to other processes what this one will not come to, because a task comes first. */
static void
hand_over(SfDatabase *database, SfTurn *turn)
{
	sf_shared_put_back(database, turn->keys, turn->nkeys, turn->owner);
	turn->nkeys = 0;
	if (turn->scan_from != DT_NOEND)
		sf_shared_want_scan_from(database, turn->scan_from);
	turn->scan_from = DT_NOEND;
	if (sf_shared_wants_scan(database) || database->ring.count > 0)
		sf_shared_wake_worker(database);
	if (turn->seeks)
		sf_shared_want_task(database);
}

/*
 * From now on this process does not count as one that advances.  False: by now
 * there is no room for a further task of the owner.
 */
static bool
enter_task_role(SfTurn *turn, Oid owner, bool known_long)
{
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);
	bool		admitted = sf_admit_task(sf_my_process, owner, known_long);

	if (admitted)
	{
		sf_my_process->kind = SF_PROCESS_KIND_TASK;
		sf_my_process->may_run_task = true;
		sf_my_process->nkeys = 0;
		if (database)
		{
			database->task_after = owner;
			hand_over(database, turn);
		}
		sf_shared_wake_launcher();
	}
	else
	{
		turn->releases = sf_shared->releases;
		turn->tasks_left |= SF_TASKS_LEFT_CAPPED;
	}
	LWLockRelease(sf_shared_lock);
	return admitted;
}

/* Advance again, unless there are enough workers that do. */
static void
leave_task_role(void)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_admit_release(sf_my_process);
	sf_my_process->may_run_task = false;
	if (sf_shared_count_advancing(InvalidOid) < sf_setting_workers &&
		sf_my_process->errand != SF_ERRAND_SUSPECTS)
	{
		sf_my_process->kind = SF_PROCESS_KIND_WORKER;
		sf_my_process->turn_began = sf_tick_now();
	}
	sf_shared_wake_launcher();
	LWLockRelease(sf_shared_lock);
}

/* --- a branch that fails by itself --- */

/* Make a branch due later. */
static bool
put_off(SfBranchKey key, int ms)
{
	SfTurnXact	xact = {.kind = SF_TURN_XACT_PUT_OFF,.put_off = {key, ms}};

	return sf_turn_xact_run(&xact);
}

/* Does this process wait briefly for rows of executions? */
static bool
locks_briefly(void)
{
	return sf_tick_now() < lock_briefly_until;
}

/* Put a branch off whose execution a session holds. */
static bool
put_off_locked(SfBranchKey key)
{
	lock_briefly_until = sf_tick_plus_ms(sf_tick_now(), SF_LOCKED_PUT_OFF_MS);
	return put_off(key, SF_LOCKED_PUT_OFF_MS);
}

/* Make a branch fail; nothing else helped. */
static bool
fail_branch(SfBranchKey key, const char *cause, bool alone)
{
	SfTurnXact	xact = {.kind = SF_TURN_XACT_FAIL,.fail = {key, cause},.alone = alone};

	ereport(LOG,
			(errmsg("sfflow makes branch " INT64_FORMAT " of execution " INT64_FORMAT " fail: %s",
					key.branch_no, key.execution_no, cause)));
	if (sf_turn_xact_run(&xact))
		return true;
	return xact.fault == SF_FAULT_LOCKED && put_off_locked(key);
}

/*
 * A branch that ran by itself failed for want of something, which may not be its
 * own fault: put it off, or make it fail when that happens to no other branch.
 * False: not even that can be done now.
 */
static bool
handle_shortage(SfBranchKey key, const SfTurnXact *failed)
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

/* Make the error of a task's commit its outcome. */
static bool
fail_task(SfTurnXact *failed)
{
	SfTurnXact	xact = {.kind = SF_TURN_XACT_TASK,.task = *sf_turn_xact_task(failed),.alone = failed->alone};

	xact.task.last_try = true;
	xact.task.commit_error = &failed->failure;
	if (sf_turn_xact_run(&xact))
		return true;
	return !sf_turn_xact_met_shortage(&xact) && fail_branch(xact.task.key, xact.message, xact.alone);
}

/* Try an announced task; true: it met others, and may go well next time. */
static bool
try_task(void *arg, bool last)
{
	SfTurnXact  *xact = arg;

	sf_turn_xact_task(xact)->last_try = last;
	return !sf_turn_xact_run(xact) && xact->fault == SF_FAULT_PASSING;
}

/*
 * Try a branch by itself; true: it met others, and may go well next time.  Where
 * the commit failed, each of its tasks is announced the next time, so that the
 * commit of a task tells which one it was.
 */
static bool
try_alone(void *arg, bool last)
{
	SfTurnXact  *xact = arg;
	SfSliceRequest *request = sf_turn_xact_slice(xact);

	request->last_try = last;
	if (sf_turn_xact_run(xact) || xact->fault == SF_FAULT_LOCKED || sf_turn_xact_met_shortage(xact))
		return false;
	if (xact->stage == SF_TURN_STAGE_COMMITTING && (request->worker.tasks & SF_SLICE_TASKS_SHORT) != 0)
	{
		request->worker.tasks &= ~SF_SLICE_TASKS_SHORT;
		return true;
	}
	return xact->fault == SF_FAULT_PASSING;
}

/* Decide what becomes of a branch that failed by itself; false: the worker should pause. */
static bool
give_up(SfBranchKey key, SfTurnXact *xact)
{
	if (xact->fault == SF_FAULT_LOCKED)
		return put_off_locked(key);
	if (sf_turn_xact_met_shortage(xact))
		return handle_shortage(key, xact);
	if (xact->kind == SF_TURN_XACT_TASK && xact->stage == SF_TURN_STAGE_COMMITTING)
		return fail_task(xact);
	return fail_branch(key, xact->message, xact->alone);
}

/*
 * Run an announced task; an aborted one is left to the slice that comes next.
 * Returns false when the worker should pause.  *over: it need not be found again.
 */
static bool
run_task(SfBranchKey key, int generation, bool alone, bool *over)
{
	SfTurnXact	xact = {.kind = SF_TURN_XACT_TASK,.task = {.key = key,.generation = generation},.alone = alone};

	sf_tries_run(try_task, &xact);
	if (xact.stage != SF_TURN_STAGE_COMMITTED)
		return give_up(key, &xact);
	*over = xact.result.end == SF_SLICE_END_WORKED;
	sf_shortage_clear(key);
	return true;
}

/* Run an announced task; its branch is the first key after it. */
static void
run_announced(SfTurn *turn, SfLongTask task)
{
	bool		over = false;
	bool		ran;

	turn->result = SF_TURN_RESULT_PROGRESS;
	if (!enter_task_role(turn, task.owner, task.known_long))
	{
		add_announced(task.owner, task.due);
		return;
	}
	ran = run_task(task.key, task.generation, false, &over);
	/* this one may have been locked only by another process's search; and there may be more */
	if (!over)
		add_announced(task.owner, task.due);
	leave_tasks(SF_TASKS_LEFT_TASK);
	leave_task_role();
	turn->keys[0] = sf_work_key_of_branch(task.key);
	turn->nkeys = 1;
	turn->owner = task.owner;
	if (!ran)
		turn->result = SF_TURN_RESULT_FAILED;
}

/* --- sharing processes --- */

/*
 * Say in a request what user code the slice may enter: short tasks, unless their
 * owner has its share of processes, and announced tasks of which owners.
 */
static void
share_processes(SfTurn *turn, SfSliceRequest *request)
{
	SfOwnerShare *shares = palloc(sizeof(SfOwnerShare) * sf_shared->nprocesses);
	SfWorkerTerms *terms = &request->worker;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	turn->releases = sf_shared->releases;
	terms->nshares = sf_admit_shares(sf_my_process, shares);
	terms->shares = shares;
	terms->new_owners_only = turn->admission == SF_ADMIT_NEW_OWNERS;
	terms->tasks = turn->admission == SF_ADMIT_NONE ? SF_SLICE_TASKS_NONE : SF_SLICE_TASKS_LONG;
	if (request->mode != SF_SLICE_MODE_ANNOUNCED &&
		sf_my_process->kind != SF_PROCESS_KIND_KEEPER &&
		sf_admit_inline(sf_my_process, turn->owner))
		terms->tasks |= SF_SLICE_TASKS_SHORT;
	LWLockRelease(sf_shared_lock);
}

/* --- a branch by itself --- */

/*
 * Advance one branch by itself, in a turn that failed or (NULL) as a suspect.
 * Returns false when the worker should pause.  *left: it has failed, or others run what
 * it would have run: children that it has begun, a step that waits at a gate, or its task.
 */
static bool
run_alone(SfBranchKey key, SfTurn *turn, bool *left)
{
	SfTurnXact	xact = {.kind = SF_TURN_XACT_SLICE,.alone = turn == NULL};
	SfLongTask	task;
	bool		over;

	xact.slice = (SfSliceRequest) {.mode = SF_SLICE_MODE_BRANCH,.slice_ms = SF_ALONE_SLICE_MS,.take.branch = key};
	xact.slice.worker = (SfWorkerTerms) {.tasks = SF_SLICE_TASKS_ALL,.lock_briefly = locks_briefly()};
	if (turn)
		share_processes(turn, &xact.slice);
	sf_tries_run(try_alone, &xact);
	*left = xact.stage != SF_TURN_STAGE_COMMITTED || xact.result.left_unrun;
	if (xact.stage != SF_TURN_STAGE_COMMITTED)
		return give_up(key, &xact);
	if (xact.result.end != SF_SLICE_END_LONG_TASK)
	{
		sf_shortage_clear(key);
		return true;
	}
	task = sf_slice_long_task(&xact.result);
	if (!turn)
		return run_task(task.key, task.generation, true, &over);
	run_announced(turn, task);
	return turn->result != SF_TURN_RESULT_FAILED;
}

/*
 * Run one branch while no other worker runs: a suspect of a crash.  False: it has failed,
 * or has left something to others, which may be what crashed the server.
 */
bool
sf_turn_run_suspect(SfBranchKey key)
{
	bool		left = false;

	return run_alone(key, NULL, &left) && !left;
}

/* --- the turn --- */

/* Run branches one by one, all but those of an execution that a session holds. */
static void
run_one_by_one(SfTurn *turn, const SfBranchKey *keys, int n, int64 locked_out)
{
	SfTurn		one = *turn;
	bool		ok = true;
	bool		left;

	one.tasks_left = SF_TASKS_LEFT_NONE;
	for (int i = 0; i < n && ok; i++)
	{
		one.nkeys = 0;
		if (keys[i].execution_no == locked_out)
			ok = put_off_locked(keys[i]);
		else
			ok = run_alone(keys[i], &one, &left);
	}
	turn->tasks_left |= one.tasks_left;
	turn->releases = one.releases;
	/* what a task left to do is found by a scan of the tables */
	turn->nkeys = 0;
	turn->scan_from = DT_NOBEGIN;
	turn->result = !ok ? SF_TURN_RESULT_FAILED : n > 0 ? SF_TURN_RESULT_PROGRESS : SF_TURN_RESULT_NOTHING;
	leave_tasks(SF_TASKS_LEFT_TASK);
}

/* Run the branches of a turn one by one; its queues are found by the scan that follows. */
static void
run_branches_of(SfTurn *turn)
{
	SfBranchKey keys[SF_TURN_KEYS];
	int			n = 0;

	for (int i = 0; i < turn->nkeys; i++)
		if (turn->keys[i].kind == SF_WORK_KEY_BRANCH)
			keys[n++] = turn->keys[i].of.branch;
	run_one_by_one(turn, keys, n, 0);
}

/* Is a suspect among the keys of the turn? */
static bool
has_suspect(const SfTurn *turn)
{
	SfSuspect	suspect;

	for (int i = 0; i < turn->nkeys; i++)
	{
		if (turn->keys[i].kind == SF_WORK_KEY_BRANCH &&
			sf_poison_find(MyDatabaseId, turn->keys[i].of.branch, &suspect))
			return true;
	}
	return false;
}

/* Put what a scan found into the shared area. */
static void
publish_scan(SfDatabase *database, const SfDueScan *scan)
{
	ListCell   *lc;

	if (scan->more_owners && database->remainder_from == DT_NOEND)
	{
		database->remainder_from = scan->from;
		database->remainder_turns = scan->turns;
	}
	else if (scan->more_owners)
		sf_shared_want_scan_from(database, scan->from);
	if (scan->set_back)
	{
		database->scanned = true;
		database->set_back_by -= scan->set_back_by;
	}
	if (scan->more_from != DT_NOEND)
		sf_shared_want_scan_from(database, scan->more_from);
	if (scan->everything && !scan->more_owners)
	{
		database->owners_known = true;
		foreach(lc, scan->owners_found)
			sf_shared_note_owner(database, lfirst_oid(lc));
	}
	foreach(lc, scan->announcers)
		sf_announced_add(&database->announced, lfirst_oid(lc), scan->from);
	if (scan->announcers != NIL)
		database->tasks_left |= SF_TASKS_LEFT_TASK;
	sf_shared_lower_timer(database, scan->next_due);
	if (scan->next_delivery != DT_NOEND)
		sf_shared_lower_delivery(database, sf_tick_of_wall(scan->next_delivery));
	if (scan->next_tend != SF_TICK_NEVER)
		sf_shared_lower_poll(database, scan->next_tend);
	for (int i = 0; i < scan->nkeys; i++)
		sf_shared_push(database, sf_work_key_of_branch(scan->keys[i]), scan->owners[i], scan->dues[i]);
}

/* Say what to scan for. */
static void
prepare_scan(const SfDatabase *database, SfDueScan *scan, Oid *owners)
{
	scan->everything = scan->from == DT_NOBEGIN && !OidIsValid(scan->turns.last);
	scan->room = SF_RING_SIZE - database->ring.count;
	scan->set_back_by = database->set_back_by;
	scan->set_back = scan->everything &&
		(!database->scanned || scan->set_back_by > 0 ||
		 sf_shared->behind_until > sf_tick_now());
	scan->max_owners = scan->set_back ? INT_MAX :
		Max(SF_RING_OWNERS - database->ring.nlists, SF_KNOWN_OWNERS + 1);
	if (scan->from != DT_NOBEGIN)
		copy_owners(database, owners, &scan->turns);
}

/*
 * Scan the due index and put what is due into the ring, where all workers take
 * it from: with an old snapshot around, finding a branch in the index is slow,
 * claiming it by its key is not.
 */
static void
run_scan(SfTurn *turn)
{
	SfDueScan	scan = {.context = CurrentMemoryContext,.from = turn->scan_from,
		.turns = turn->scan_turns};
	SfTurnXact	xact = {.kind = SF_TURN_XACT_SCAN,.scan = &scan};
	Oid			owners[SF_KNOWN_OWNERS];
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	if (database)
		prepare_scan(database, &scan, owners);
	LWLockRelease(sf_shared_lock);

	/* a later scan by this process is of all owners, also as a process for tasks */
	turn->scan_turns = (SfOwnerTurns) {0};
	if (!sf_turn_xact_run(&xact))
	{
		turn->result = SF_TURN_RESULT_FAILED;
		return;
	}
	turn->verdict = xact.verdict;
	if (xact.verdict != SF_VERDICT_MAY_WORK)
		return;
	turn->scan_from = DT_NOEND;
	if (scan.nkeys > 0 || scan.announcers != NIL)
		turn->result = SF_TURN_RESULT_PROGRESS;
	database = sf_shared_lock_database(MyDatabaseId);
	if (database)
		publish_scan(database, &scan);
	LWLockRelease(sf_shared_lock);
	sf_turn_sweep_all(&scan);
}

/* Note what a slice did, and what it left. */
static void
note_slice(SfTurn *turn, const SfSliceResult *result)
{
	turn->tasks_left = result->tasks_left;
	turn->tried = result->nkeys_tried;
	turn->nkeys -= turn->tried;
	memmove(turn->keys, turn->keys + turn->tried, sizeof(SfWorkKey) * turn->nkeys);
	/* what they cost is that of what came of them */
	turn->tried += result->nqueued_tried;
	turn->seeks = turn->seeks && result->end == SF_SLICE_END_WORKED;
	switch (result->end)
	{
		case SF_SLICE_END_IDLE:
			turn->result = SF_TURN_RESULT_NOTHING;
			break;
		case SF_SLICE_END_WORKED:
			turn->result = result->transitions > 0 ? SF_TURN_RESULT_PROGRESS : SF_TURN_RESULT_STALLED;
			break;
		case SF_SLICE_END_LONG_TASK:
			turn->result = SF_TURN_RESULT_ANNOUNCED;
			turn->task = sf_slice_long_task(result);
			break;
	}
}

/* Claim and advance: the branches of keys, or (SEEK) an announced one. */
static void
run_slice(SfTurn *turn)
{
	SfTurnXact	xact = {.kind = SF_TURN_XACT_SLICE};
	bool		seek = turn->state == SF_WORK_STATE_SEEK;
	Oid			owners[SF_KNOWN_OWNERS];
	SfAnnounced taken;
	SfAnnounced left;
	bool		succeeded;

	xact.slice.worker.yield_ms = Max(SF_BRISK_MS, 4 * sf_turn_xact_commit_us() / 1000);
	xact.slice.worker.lock_briefly = locks_briefly();
	xact.slice.slice_ms = sf_my_process->turn == SF_TURN_KIND_HELPS ?
		Min(xact.slice.worker.yield_ms, sf_setting_slice_ms) :
		sf_setting_slice_ms;
	xact.slice.mode = seek ? SF_SLICE_MODE_ANNOUNCED : SF_SLICE_MODE_KEYS;
	share_processes(turn, &xact.slice);
	if (seek)
	{
		xact.slice.take.search.announced = &left;
		xact.slice.take.search.owners.last = xact.slice.take.search.owners.until = turn->task_after;
		claim_task_search(&xact.slice.take.search, owners);
		taken = left;
	}
	else
		xact.slice.take.keys = (SfSliceKeys) {turn->keys, turn->nkeys, turn->owner};
	succeeded = sf_turn_xact_run(&xact);
	if (seek)
		leave_announced(succeeded ? &left : &taken);
	if (succeeded)
	{
		turn->verdict = xact.verdict;
		if (xact.verdict == SF_VERDICT_MAY_WORK)
			note_slice(turn, &xact.result);
	}
	else if (sf_turn_xact_met_shortage(&xact) && (xact.ntouched == 0 || xact.collided))
	{
		turn->result = SF_TURN_RESULT_FAILED;
		leave_tasks(SF_TASKS_LEFT_TASK);
	}
	else
		run_one_by_one(turn, xact.touched, xact.ntouched,
					   xact.fault == SF_FAULT_LOCKED ? sf_draft_locked_out() : 0);
}

/* Purge a batch.  After an error the sweep goes on with the next machine. */
static void
run_purge(SfTurn *turn)
{
	static SfRetention sweep;
	SfTurnXact	xact = {.kind = SF_TURN_XACT_PURGE,.purge.sweep = &sweep};

	sweep.tried_machine_no = SF_NO_MACHINE;
	if (sf_turn_xact_run(&xact))
	{
		turn->verdict = xact.verdict;
		turn->purges_more = xact.purge.more;
	}
	else
		turn->purges_more = sf_retention_skip(&sweep);
	if (!turn->purges_more)
		memset(&sweep, 0, sizeof(sweep));
}

/* Leave it to another process to have features sweep. */
static void
leave_sweep(void)
{
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	if (database)
		sf_shared_want_sweep(database, false);
	LWLockRelease(sf_shared_lock);
}

/* Carry out the SCAN, SEEK, SLICE, TASK, PURGE, DELIVER or SWEEP of a turn; errors are dealt with inside. */
void
sf_turn_run(SfTurn *turn)
{
	turn->tried = 0;
	if (turn->state == SF_WORK_STATE_SCAN)
		run_scan(turn);
	else if (turn->state == SF_WORK_STATE_TASK)
		run_announced(turn, sf_turn_task(turn));
	else if (turn->state == SF_WORK_STATE_PURGE)
		run_purge(turn);
	else if (turn->state == SF_WORK_STATE_DELIVER)
		sf_turn_deliver(turn);
	else if (turn->state == SF_WORK_STATE_SWEEP)
		turn->result = SF_TURN_RESULT_NOTHING;		/* what follows any turn */
	else if (turn->state == SF_WORK_STATE_SLICE && has_suspect(turn))
		run_branches_of(turn);
	else
		run_slice(turn);
	/* the task follows at once, and may take long */
	if (turn->result != SF_TURN_RESULT_ANNOUNCED)
		sf_turn_sweep_if_wanted(turn->sweeps);
	else if (turn->sweeps)
		leave_sweep();
	turn->sweeps = false;
}
