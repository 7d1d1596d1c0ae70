/*
 * admit.c
 *		Sharing slots: how many processes may be in the code of one owner.
 *
 * User code may run for any time.  So before a process enters it, it notes the
 * owner in its slot (user_owner), under the lock, and is refused when that owner
 * has its share in this database:
 *
 *		in_code		processes that may be in its code: at most all slots but one,
 *					which is left for other owners (all, where there are no more
 *					slots than sfflow.workers)
 *		holding		of these, processes in a task that holds its slot: a long
 *					one, or one that was short the last time and is not over after
 *					a second.  At most sf_admit_max_per_owner()
 *
 * Tasks of one owner leave room in sf_admit_max_tasks() for an owner that holds
 * no slot.  The tasks of an owner that was refused are announced; they are looked
 * for again when a slot is given back.
 *
 * The last worker of a database takes tasks of owners that hold no slot only, so that
 * one place is left for these.  A task that it leaves for this reason alone, and not for
 * its owner's share, wants a process for tasks (SF_LEFT_RESERVED): the launcher starts one
 * as soon as there is a place.
 */
#include "postgres.h"

#include "base/settings.h"
#include "worker/admit.h"

/* The slots of an owner in a database, without that of the process that asks */
typedef struct Share
{
	int			in_code;		/* processes that may be in its code */
	int			holding;		/* of these, in tasks that hold a slot */
	int			overrunning;	/* of these, in tasks that used to be short */
} Share;

/* Count the slots of an owner. */
static Share
share_of(const SfSlot *asking, Oid owner)
{
	Share		share = {0};

	sf_foreach_slot(slot)
	{
		if (slot == asking || slot->state == SF_SLOT_FREE ||
			slot->database != asking->database || slot->user_owner != owner)
			continue;
		share.in_code++;
		if (sf_shared_is_held(slot))
			share.holding++;
		if (slot->stuck)
			share.overrunning++;
	}
	return share;
}

/* Processes that may be in the code of one owner at once. */
static int
max_in_code(void)
{
	int			slots = sf_shared_count_slots();

	return slots > sf_setting_workers ? slots - 1 : slots;
}

/*
 * Tasks of all owners that may hold a slot at once.  Tasks that have never run,
 * workers - 1 of them, and one of an owner that holds no slot may exceed the setting.
 */
int
sf_admit_max_tasks(void)
{
	return sf_shared_max_tasks() + sf_setting_workers;
}

/* Tasks of one owner that may hold a slot at once: not all of them. */
int
sf_admit_max_per_owner(void)
{
	int			limit = Min(max_in_code(), sf_admit_max_tasks() - 1);

	if (sf_setting_max_running_tasks_per_owner > 0)
		limit = Min(limit, sf_setting_max_running_tasks_per_owner);
	return Max(limit, 1);
}

/*
 * Does an owner hold as many slots as it may?  Once one of its tasks has overrun, others that used to be short may do
 * so, too: until they are over they count as if they held theirs.
 */
static bool
holds_its_share(const Share *share)
{
	return (share->overrunning > 0 ? share->in_code : share->holding) >= sf_admit_max_per_owner();
}

/*
 * Ask to run short tasks of an owner in the turn that begins.  False: the
 * owner has its share; its tasks are to be announced, not run.
 */
bool
sf_admit_inline(SfSlot *slot, Oid owner)
{
	Share		share = share_of(slot, owner);

	if (share.in_code >= max_in_code() || (share.overrunning > 0 && holds_its_share(&share)))
		return false;
	slot->user_owner = owner;
	return true;
}

/* Ask to run an announced task of an owner; false: the owner has its share. */
bool
sf_admit_task(SfSlot *slot, Oid owner)
{
	Share		share = share_of(slot, owner);

	if (share.in_code >= max_in_code() || holds_its_share(&share))
		return false;
	slot->user_owner = owner;
	return true;
}

/*
 * Ask to call targets of an owner's rules in the turn that begins: as short tasks of the owner,
 * with which they share its slots.  But no duration of a target is known, so deliveries that take
 * long would begin again and again, and hold every slot that a long task may have.  While one
 * overruns, they leave one place for tasks.
 */
bool
sf_admit_delivery(SfSlot *slot, Oid owner)
{
	Share		share = share_of(slot, owner);
	int			others = sf_shared_count_tasks() - share.holding;

	if (share.overrunning > 0 && others + share.in_code >= Max(sf_shared_max_tasks() - 1, 1))
		return false;
	return sf_admit_inline(slot, owner);
}

/* Have the tasks looked for again that waited for a slot. */
static void
want_capped_tasks(void)
{
	sf_shared->releases++;
	sf_foreach_database(database)
	{
		if (!OidIsValid(database->oid) ||
			(database->tasks_left & (SF_LEFT_CAPPED | SF_LEFT_RESERVED)) == 0)
			continue;
		database->tasks_left = SF_LEFT_TASK;
		sf_shared_wake_launcher();
	}
}

/* Give the admission back; have tasks looked for that waited for it. */
void
sf_admit_release(SfSlot *slot)
{
	bool		makes_room = sf_shared_is_held(slot);

	if (!makes_room && OidIsValid(slot->user_owner))
	{
		Share		share = share_of(slot, slot->user_owner);

		share.in_code++;
		makes_room = share.in_code >= max_in_code() || (share.overrunning > 0 && holds_its_share(&share));
	}
	slot->user_owner = InvalidOid;
	if (makes_room)
		want_capped_tasks();
}

/* The process of a slot ends: another one may be started for tasks. */
void
sf_admit_end(SfSlot *slot)
{
	/* not for a process that was there for a task and might take none */
	if (slot->role == SF_ROLE_WORKER)
		want_capped_tasks();
	sf_admit_release(slot);
}

/*
 * Tasks were left because their owners had their shares when releases was read, or might not
 * have them in a process that is kept for others: have them looked for when a slot is given
 * back, at once if one has been, and the latter by a process for tasks.
 */
void
sf_admit_want(SfDatabase *database, SfTasksLeft left, uint32 releases)
{
	left &= SF_LEFT_CAPPED | SF_LEFT_RESERVED;
	if (left == SF_LEFT_NONE)
		return;
	if (releases != sf_shared->releases)
	{
		sf_shared_want_task(database);
		return;
	}
	database->tasks_left |= left;
	if ((left & SF_LEFT_RESERVED) != 0 && !sf_shared_wake_idle(database->oid, SF_ROLE_TASK))
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
			return SF_LEFT_TASK;
		case SF_ADMIT_ALL:
			return SF_LEFT_WANTED;
	}
	return SF_LEFT_NONE;
}

/*
 * List the limits of owners that hold slots in this slot's database: how many
 * more tasks they may have.  limits has room for as many as there are slots.
 */
int
sf_admit_limits(const SfSlot *asking, SfOwnerLimit *limits)
{
	int			room = sf_shared_max_tasks() - sf_shared_count_tasks();
	int			n = 0;

	if (asking->may_task)
		room++;					/* counted already */
	sf_foreach_slot(slot)
	{
		Share		share;
		bool		listed = false;

		if (slot == asking || slot->state == SF_SLOT_FREE ||
			slot->database != asking->database || !OidIsValid(slot->user_owner))
			continue;
		for (int k = 0; k < n && !listed; k++)
			listed = limits[k].owner == slot->user_owner;
		share = share_of(asking, slot->user_owner);
		if (listed || (share.holding == 0 && share.in_code < max_in_code()))
			continue;
		limits[n].owner = slot->user_owner;
		if (share.in_code >= max_in_code() || share.holding >= sf_admit_max_per_owner() ||
			room + sf_setting_workers - 1 <= 0)
			limits[n].tasks = SF_OWNER_NO_TASKS;
		else
			limits[n].tasks = room > 0 ? SF_OWNER_ALL_TASKS : SF_OWNER_NEW_TASKS;
		n++;
	}
	return n;
}

/* Tell whether a process of a database may take a task now, or is in one. */
static bool
may_run_task(Oid database)
{
	sf_foreach_slot(slot)
	{
		if (slot->state != SF_SLOT_FREE && slot->database == database && slot->may_task)
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
	sf_foreach_slot(slot)
	{
		if (slot->state != SF_SLOT_FREE && slot->database == database &&
			slot->role == SF_ROLE_TASK && !slot->may_task && !slot->helps && !slot->leave &&
			slot->errand != SF_ERRAND_SUSPECTS)
			return true;
	}
	return false;
}

/* Tell whether the keeper will advance a database that has no worker. */
static bool
keeper_is_there(void)
{
	const SfSlot *keeper = sf_shared_keeper_slot();

	return keeper->state == SF_SLOT_STANDBY ||
		(keeper->state != SF_SLOT_FREE && keeper->role == SF_ROLE_KEEPER);
}

/*
 * Which tasks the last worker of a database may take itself: none if another
 * process can be had for them; any if no other task runs; else, while the keeper
 * advances, those of owners that hold no slot.
 */
SfAdmission
sf_admit_last_worker(Oid database)
{
	if (sf_setting_max_workers == 1)
		return SF_ADMIT_ALL;
	if ((!sf_shared->refused && sf_shared_find_free_slot() != NULL) ||
		sf_admit_task_process_stands_by(database))
		return SF_ADMIT_NONE;
	if (!may_run_task(database))
		return SF_ADMIT_ALL;
	return keeper_is_there() ? SF_ADMIT_NEW_OWNERS : SF_ADMIT_NONE;
}
