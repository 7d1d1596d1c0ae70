/*
 * demand.c
 *		Which database gets a process next, and which process makes room for it.
 *
 * The order: first databases without a worker, by how long they have waited, and
 * those with the keeper after the others; then databases whose workers are all busy
 * or that want a process for a task.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/settings.h"
#include "base/time/timing.h"
#include "worker/launcher/launcher.h"
#include "worker/process/process.h"

/* Put a candidate first when it is more urgent than the one so far. */
static void
consider(SfDemand *want, Oid database, SfProcessKind kind, bool first, SfTick since)
{
	if (OidIsValid(want->database) &&
		(want->first > first || (want->first == first && want->since <= since)))
		return;
	want->database = database;
	want->kind = kind;
	want->first = first;
	want->since = since;
}

/* Tell whether a long task runs in a database. */
static bool
runs_task(Oid database)
{
	sf_foreach_process(process)
	{
		if (process->status != SF_PROCESS_STATUS_FREE && process->database == database &&
			process->kind == SF_PROCESS_KIND_TASK && process->may_run_task)
			return true;
	}
	return false;
}

/*
 * Consider a database without a worker: it wants one if something is due, else when
 * its next timer or poll is due.
 */
static void
consider_first(SfDatabase *database, SfTick now, SfDemand *want, SfTick *next)
{
	SfTick		due = Min(Min(sf_tick_of_wall(database->next_timer), database->next_scan),
						  database->skipped.next);

	/* the keeper, which comes where there is no other process, makes no deliveries */
	if (sf_shared_find_unused_process() != NULL)
		due = database->sweep_wanted ? now : Min(due, Min(database->next_delivery, database->next_queue));
	if (database->status == SF_DATABASE_UNKNOWN || database->ring.count > 0 ||
		database->remainder_from != DT_NOEND)
		due = now;
	if (due > now)
	{
		database->waiting_since = SF_TICK_UNSET;
		*next = Min(*next, due);
		return;
	}
	if (database->waiting_since == SF_TICK_UNSET)
		database->waiting_since = now;
	consider(want, database->oid, SF_PROCESS_KIND_WORKER, true,
			 sf_shared_keeper()->database == database->oid ? now :
			 database->waiting_since);
}

/*
 * All workers that there may be are there.  While they are in turns of some owners, another
 * one waits: a process for tasks takes that one's turn.
 */
static void
consider_helper(SfDatabase *database, SfTick now, SfDemand *want, SfTick *next)
{
	SfTick		at;

	if (database->helper_since == SF_TICK_UNSET || !sf_shared_wants_helper(database) ||
		sf_admit_task_process_stands_by(database->oid))
		return;
	at = sf_tick_plus_ms(database->helper_since, SF_HELPER_DELAY_MS);
	if (at > now)
		*next = Min(*next, at);
	else
		consider(want, database->oid, SF_PROCESS_KIND_TASK, false, database->helper_since);
}

/* Look at a database that has workers: do they suffice? */
static void
consider_more(SfDatabase *database, SfTick now, SfDemand *want, SfTick *next)
{
	SfTick		at;

	database->waiting_since = SF_TICK_UNSET;

	if (sf_shared_count_advancing(InvalidOid) >= sf_setting_workers)
	{
		consider_helper(database, now, want, next);
		return;
	}

	/* while long tasks run, the second one may take on what is new */
	if (sf_shared_count_advancing(database->oid) < 2 && runs_task(database->oid))
	{
		consider(want, database->oid, SF_PROCESS_KIND_WORKER, false, now);
		return;
	}
	if (database->backlog != SF_BACKLOG_WANTED)
		return;
	if (database->ring.count == 0 && !sf_shared_wants_scan(database))
	{
		database->backlog = SF_BACKLOG_NONE;
		return;
	}
	at = sf_tick_plus_ms(database->backlog_since, SF_MORE_DELAY_MS);
	if (at > now)
		*next = Min(*next, at);
	else
		consider(want, database->oid, SF_PROCESS_KIND_WORKER, false, database->backlog_since);
}

/* Look at a database for whose tasks a process may be wanted. */
static void
consider_task(SfDatabase *database, SfTick now, SfDemand *want)
{
	if ((database->tasks_left & SF_TASKS_LEFT_WANTED) == 0)
	{
		database->tasks_since = SF_TICK_UNSET;
		return;
	}
	if (database->tasks_since == SF_TICK_UNSET)
		database->tasks_since = now;
	if (sf_shared_count_tasks() >= sf_admit_max_tasks())
		return;
	/* one that stands by may be asleep: it was there before the tasks, or they found no room then */
	if (sf_admit_task_process_stands_by(database->oid))
		(void) sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_TASK);
	else
		consider(want, database->oid, SF_PROCESS_KIND_TASK, false, database->tasks_since);
}

/* Find the database that is to get a process first; lowers *next to when to look again. */
SfDemand
sf_demand_find(SfTick *next)
{
	SfDemand	want = {0};
	SfTick		now = sf_tick_now();

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_foreach_database(database)
	{
		if (!OidIsValid(database->oid) || database->leaving > 0 ||
			database->status == SF_DATABASE_NOT_DRIVEN)
			continue;
		if (database->not_before > now)
		{
			*next = Min(*next, database->not_before);
			continue;
		}
		if (sf_shared_count_advancing(database->oid) == 0)
			consider_first(database, now, &want, next);
		else
			consider_more(database, now, &want, next);
		consider_task(database, now, &want);
	}
	LWLockRelease(sf_shared_lock);
	return want;
}

/* Tell whether there is an entry for a process of that kind. */
bool
sf_demand_has_room(SfProcessKind kind)
{
	bool		has_room;
	int			advancing;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	has_room = sf_shared_find_unused_process() != NULL;
	advancing = sf_shared_count_advancing(InvalidOid);
	LWLockRelease(sf_shared_lock);
	return has_room && (kind == SF_PROCESS_KIND_TASK || advancing < sf_setting_workers);
}

/* Tell whether a process leaves soon when it is asked to: it is in no task. */
static bool
is_movable(const SfProcess *process)
{
	if (process->status == SF_PROCESS_STATUS_FREE || process->status == SF_PROCESS_STATUS_STANDBY ||
		process->kind == SF_PROCESS_KIND_KEEPER || process->stuck)
		return false;
	return process->kind == SF_PROCESS_KIND_WORKER || !process->may_run_task;
}

/*
 * Tell whether the keeper is idle and of no use: its database has a worker, or may
 * get one when it has something to do.  Wants the lock held.
 */
bool
sf_demand_keeper_is_idle(void)
{
	const SfProcess *keeper = sf_shared_keeper();

	if (keeper->status != SF_PROCESS_STATUS_IDLE || keeper->kind != SF_PROCESS_KIND_KEEPER)
		return false;
	if (sf_shared_count_advancing(keeper->database) > 0 ||
		(sf_shared_find_unused_process() != NULL &&
		 sf_shared_count_advancing(InvalidOid) < sf_setting_workers))
		return true;
	sf_foreach_process(process)
	{
		if (process->status == SF_PROCESS_STATUS_IDLE && is_movable(process) && !process->is_to_leave)
			return true;
	}
	return false;
}

/*
 * Ask one process to leave, for a database that has none: an idle one, or one
 * that has had its share of time.  False: all are in tasks, and none of them
 * can be expected to leave.
 */
bool
sf_demand_make_room(const SfDemand *want)
{
	SfTick		now = sf_tick_now();
	SfProcess  *victim = NULL;
	bool		any = false;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_foreach_process(process)
	{
		bool		idle = process->status == SF_PROCESS_STATUS_IDLE;

		if (!is_movable(process) || process->database == want->database)
			continue;
		any = true;
		if (process->is_to_leave)
		{
			/* a process is leaving already */
			victim = NULL;
			break;
		}
		if (!idle && (process->kind != SF_PROCESS_KIND_WORKER ||
					  process->attached > sf_tick_plus_ms(now, -SF_QUANTUM_MS)))
			continue;
		if (!victim || (idle && victim->status != SF_PROCESS_STATUS_IDLE) ||
			(idle == (victim->status == SF_PROCESS_STATUS_IDLE) && process->since < victim->since))
			victim = process;
	}
	if (victim)
	{
		victim->is_to_leave = true;
		sf_shared_wake_process(victim);
	}
	LWLockRelease(sf_shared_lock);
	return any;
}

/*
 * Ask a process that stays in another database for helping, and is idle for longer than one
 * for tasks would stay, to leave: its entry is wanted.  One at a time: what it leaves for may be
 * all that wants an entry.
 */
void
sf_demand_dismiss_helper(Oid database)
{
	SfTick		limit = sf_tick_plus_ms(sf_tick_now(), -SF_TASK_LINGER_MS);
	SfProcess  *helper = NULL;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_foreach_process(process)
	{
		if (process->status != SF_PROCESS_STATUS_IDLE || process->kind != SF_PROCESS_KIND_TASK)
			continue;
		if (process->is_to_leave)
		{
			helper = NULL;
			break;
		}
		if (helper == NULL && process->database != database && process->since <= limit)
			helper = process;
	}
	if (helper)
	{
		helper->is_to_leave = true;
		sf_shared_wake_process(helper);
	}
	LWLockRelease(sf_shared_lock);
}

/*
 * No process can be had for tasks: have those looked for that a worker may take itself then
 * (admit.c), in all databases, since the one that waits longest may hold tasks that no worker takes.
 */
void
sf_demand_offer_tasks(void)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_foreach_database(database)
	{
		/* one worker stays free of tasks of owners that occupy processes; a second one may take them */
		int			takes = sf_admit_takes(sf_shared_count_advancing(database->oid) < 2 ?
										   SF_ADMIT_NEW_OWNERS : SF_ADMIT_ALL);

		if (OidIsValid(database->oid) && (database->tasks_left & takes) != 0)
			(void) sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_WORKER);
	}
	LWLockRelease(sf_shared_lock);
}
