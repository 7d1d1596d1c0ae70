/*
 * admit.c
 *		Sharing processes: how many of them may be in the code of one owner.
 *
 * User code may run for any time.  So before a process enters it, it notes the
 * owner (SfProcess.user_owner), under the lock, and is refused when that owner
 * has its share in this database:
 *
 *		in_code		processes that may be in its code: at most all but one,
 *					which is left for other owners (all, where max_workers is no
 *					more than sfflow.workers)
 *		occupied	of these, processes that a task occupies: a long one, or one that
 *					was short the last time and is not over after a second.  At most
 *					sf_admit_max_per_owner()
 *
 * Tasks of one owner leave room in sf_admit_max_tasks() for an owner whose tasks occupy
 * no process.  The tasks of an owner that was refused are announced; they are sought
 * again when a process is released.
 *
 * The last worker of a database takes tasks of owners that occupy no process only, so that
 * one entry is left for these.  A task that it leaves for this reason alone, and not for
 * its owner's share, wants a process for tasks (SF_TASKS_LEFT_RESERVED): the launcher starts one
 * as soon as there is an entry.
 */
#include "postgres.h"

#include "base/settings.h"
#include "worker/process/process.h"

/* The processes in the code of an owner in a database, without the one that asks */
typedef struct Share
{
	int			in_code;		/* processes that may be in its code */
	int			occupied;		/* of these, by tasks whose end is not near */
	int			overrunning;	/* of these, in tasks that used to be short */
} Share;

/* Count the processes in the code of an owner. */
static Share
share_of(const SfProcess *asking, Oid owner)
{
	Share		share = {0};

	sf_foreach_process(process)
	{
		if (process == asking || process->status == SF_PROCESS_STATUS_FREE ||
			process->database != asking->database || process->user_owner != owner)
			continue;
		share.in_code++;
		if (sf_shared_is_occupied(process))
			share.occupied++;
		if (process->stuck)
			share.overrunning++;
	}
	return share;
}

/* Processes that may be in the code of one owner at once. */
static int
max_in_code(void)
{
	int			processes = sf_shared_max_processes();

	return processes > sf_setting_workers ? processes - 1 : processes;
}

/*
 * Tasks of all owners that may occupy processes at once.  Tasks that have never run,
 * workers - 1 of them, and one of an owner that occupies none may exceed the setting.
 */
int
sf_admit_max_tasks(void)
{
	return sf_shared_max_tasks() + sf_setting_workers;
}

/* Tasks of one owner that may occupy processes at once: not all of them. */
int
sf_admit_max_per_owner(void)
{
	int			limit = Min(max_in_code(), sf_admit_max_tasks() - 1);

	if (sf_setting_max_running_tasks_per_owner > 0)
		limit = Min(limit, sf_setting_max_running_tasks_per_owner);
	return Max(limit, 1);
}

/*
 * Does an owner occupy as many processes as it may?  Once one of its tasks has overrun, others that used to be short
 * may do so, too: until they are over they count as if they occupied theirs.
 */
static bool
has_its_share(const Share *share)
{
	return (share->overrunning > 0 ? share->in_code : share->occupied) >= sf_admit_max_per_owner();
}

/*
 * Ask to run short tasks of an owner in the turn that begins.  False: the
 * owner has its share; its tasks are to be announced, not run.
 */
bool
sf_admit_inline(SfProcess *process, Oid owner)
{
	Share		share = share_of(process, owner);

	if (share.in_code >= max_in_code() || (share.overrunning > 0 && has_its_share(&share)))
		return false;
	process->user_owner = owner;
	return true;
}

/* Count the processes that are in tasks, without the one that asks. */
static int
count_other_tasks(const SfProcess *asking)
{
	return sf_shared_count_tasks() - (sf_shared_counts_as_task(asking) ? 1 : 0);
}

/*
 * Which more tasks an owner may have, who has such a share, beside so many tasks?  Processes that search count
 * for nothing: so two of them may find a task where there is room for one.
 */
static SfOwnerTasks
tasks_left_to(const Share *share, int others)
{
	/* one process is kept for owners whose tasks occupy no process */
	int			limit = sf_admit_max_tasks() - (share->occupied > 0 ? 1 : 0);

	if (share->in_code >= max_in_code() || has_its_share(share) || others >= limit)
		return SF_OWNER_TASKS_NONE;
	return share->occupied == 0 || others < sf_shared_max_tasks() ? SF_OWNER_TASKS_ALL : SF_OWNER_TASKS_NEW;
}

/*
 * Ask to run an announced task of an owner, now that it was found and its announcement is committed; false:
 * there is no room for it.  What took that since the search began counts here, and will be released.
 */
bool
sf_admit_task(SfProcess *process, Oid owner, bool known_long)
{
	Share		share = share_of(process, owner);

	if (!sf_owner_may_have(tasks_left_to(&share, count_other_tasks(process)), known_long))
		return false;
	process->user_owner = owner;
	return true;
}

/*
 * Ask to call targets of an owner's rules in the turn that begins: as short tasks of the owner,
 * with which they share its processes.  But no duration of a target is known, so deliveries that take
 * long would begin again and again, and occupy every process that a long task may have.  While one
 * overruns, they leave one process for tasks.
 */
bool
sf_admit_delivery(SfProcess *process, Oid owner)
{
	Share		share = share_of(process, owner);
	int			others = sf_shared_count_tasks() - share.occupied;

	if (share.overrunning > 0 && others + share.in_code >= Max(sf_shared_max_tasks() - 1, 1))
		return false;
	return sf_admit_inline(process, owner);
}

/*
 * There is room for a task: have those sought again that waited for that.  The launcher sees to it that a
 * process comes for them, also for those that were wanted before, and found no room.
 */
void
sf_admit_more_tasks(void)
{
	sf_shared->releases++;
	sf_foreach_database(database)
	{
		if (!OidIsValid(database->oid) || database->tasks_left == SF_TASKS_LEFT_NONE)
			continue;
		database->tasks_left = SF_TASKS_LEFT_TASK;
		sf_shared_wake_launcher();
	}
}

/* Give the admission back; have tasks looked for that waited for it. */
void
sf_admit_release(SfProcess *process)
{
	bool		makes_room = sf_shared_counts_as_task(process);

	if (!makes_room && OidIsValid(process->user_owner))
	{
		Share		share = share_of(process, process->user_owner);

		share.in_code++;
		makes_room = share.in_code >= max_in_code() || (share.overrunning > 0 && has_its_share(&share));
	}
	process->user_owner = InvalidOid;
	if (makes_room)
		sf_admit_more_tasks();
}

/* A process ends: another one may be started for tasks. */
void
sf_admit_end(SfProcess *process)
{
	/* not for a process that was there for a task and might take none */
	if (process->kind == SF_PROCESS_KIND_WORKER)
		sf_admit_more_tasks();
	sf_admit_release(process);
}

/*
 * Tasks were left because their owners had their shares when releases was read, or might not
 * have them in a process that is reserved for others: have them sought when a process is
 * released, at once if one has been, and the latter by a process for tasks.
 */
void
sf_admit_want(SfDatabase *database, SfTasksLeft left, uint32 releases)
{
	left &= SF_TASKS_LEFT_CAPPED | SF_TASKS_LEFT_RESERVED;
	if (left == SF_TASKS_LEFT_NONE)
		return;
	if (releases != sf_shared->releases)
	{
		sf_shared_want_task(database);
		return;
	}
	database->tasks_left |= left;
	if ((left & SF_TASKS_LEFT_RESERVED) != 0 && !sf_shared_wake_idle(database->oid, SF_PROCESS_KIND_TASK))
		sf_shared_wake_launcher();
}

/* Tell which tasks that were left a process looks for: none that would be left again for the same reason. */
SfTasksLeft
sf_admit_takes(SfAdmission admission)
{
	switch (admission)
	{
		case SF_ADMIT_NONE:
			break;
		case SF_ADMIT_NEW_OWNERS:
			return SF_TASKS_LEFT_TASK;
		case SF_ADMIT_ALL:
			return SF_TASKS_LEFT_WANTED;
	}
	return SF_TASKS_LEFT_NONE;
}

/*
 * List what is left of the shares of owners in whose code processes of this database are: which
 * more tasks they may have.  shares has room for as many as there are processes.
 */
int
sf_admit_shares(const SfProcess *asking, SfOwnerShare *shares)
{
	int			others = count_other_tasks(asking);
	int			n = 0;

	sf_foreach_process(process)
	{
		Share		share;
		bool		listed = false;

		if (process == asking || process->status == SF_PROCESS_STATUS_FREE ||
			process->database != asking->database || !OidIsValid(process->user_owner))
			continue;
		for (int k = 0; k < n && !listed; k++)
			listed = shares[k].owner == process->user_owner;
		share = share_of(asking, process->user_owner);
		if (listed || (share.occupied == 0 && share.in_code < max_in_code()))
			continue;
		shares[n].owner = process->user_owner;
		shares[n].tasks = tasks_left_to(&share, others);
		n++;
	}
	return n;
}

/* Tell whether a process of a database may take a task now, or is in one. */
static bool
may_run_task(Oid database)
{
	sf_foreach_process(process)
	{
		if (process->status != SF_PROCESS_STATUS_FREE && process->database == database && process->may_run_task)
			return true;
	}
	return false;
}

/*
 * Tell whether a process for a task stands by in a database.  A process that runs
 * the suspects of a crash takes no task, however long that takes.
 */
bool
sf_admit_task_process_stands_by(Oid database)
{
	sf_foreach_process(process)
	{
		if (process->status != SF_PROCESS_STATUS_FREE && process->database == database &&
			process->kind == SF_PROCESS_KIND_TASK && !process->may_run_task && process->turn != SF_TURN_KIND_HELPS &&
			!process->is_to_leave &&
			process->errand != SF_ERRAND_SUSPECTS)
			return true;
	}
	return false;
}

/* Tell whether the keeper will advance a database that has no worker. */
static bool
keeper_is_there(void)
{
	const SfProcess *keeper = sf_shared_keeper();

	return keeper->status == SF_PROCESS_STATUS_STANDBY ||
		(keeper->status != SF_PROCESS_STATUS_FREE && keeper->kind == SF_PROCESS_KIND_KEEPER);
}

/*
 * Which tasks the last worker of a database may take itself: none if another
 * process can be had for them; any if no other task runs; else, while the keeper
 * advances, those of owners that occupy no process.
 */
SfAdmission
sf_admit_last_worker(Oid database)
{
	if (sf_setting_max_workers == 1)
		return SF_ADMIT_ALL;
	if ((!sf_shared->refused && sf_shared_find_unused_process() != NULL) ||
		sf_admit_task_process_stands_by(database))
		return SF_ADMIT_NONE;
	if (!may_run_task(database))
		return SF_ADMIT_ALL;
	return keeper_is_there() ? SF_ADMIT_NEW_OWNERS : SF_ADMIT_NONE;
}
