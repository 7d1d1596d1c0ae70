/*
 * admit.c
 *		Sharing slots: how many processes may be in the code of one owner.
 *
 * A process may be in user code for as long as that code likes.  So before it
 * enters any, it notes the owner in its slot (user_owner), under the lock, and
 * is refused when that owner has its share in this database:
 *
 *		in_code		processes that may be in its code: all slots but one, so
 *					that one is left for others (all, where there are no more
 *					slots than sfflow.workers)
 *		holding		of these, in a task that holds its slot: a long one, or
 *					one that was short the last time and is not over after a
 *					second.  Up to sf_admit_max_per_owner()
 *
 * Tasks of one owner leave a place in sf_admit_max_tasks() to an owner that
 * holds nothing.  One that was refused has its tasks announced; they are
 * looked for again when a slot is given back.
 */
#include "postgres.h"

#include "base/settings.h"
#include "worker/admit.h"

/* What an owner has in a database, without the process that asks */
typedef struct Share
{
	int			in_code;		/* processes that may be in its code */
	int			holding;		/* of these, in tasks that hold a slot */
	int			overrunning;	/* of these, in tasks that used to be short */
} Share;

/* Add up what an owner has. */
static Share
share_of(const SfSlot *asking, Oid owner)
{
	Share		share = {0};

	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

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
 * Tasks of all owners that may hold a slot at once: workers - 1 that have never
 * run and one of an owner that holds nothing may go beyond the setting.
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

/* Ask to run short tasks of an owner in the turn that begins. */
bool
sf_admit_inline(SfSlot *slot, Oid owner)
{
	Share		share = share_of(slot, owner);

	if (share.in_code >= max_in_code() ||
		(share.overrunning > 0 && share.in_code >= sf_admit_max_per_owner()))
		return false;
	slot->user_owner = owner;
	return true;
}

/* Ask to run an announced task of an owner. */
bool
sf_admit_task(SfSlot *slot, Oid owner)
{
	Share		share = share_of(slot, owner);

	if (share.in_code >= max_in_code() || share.holding >= sf_admit_max_per_owner())
		return false;
	slot->user_owner = owner;
	return true;
}

/* Have tasks looked for again that waited for a slot. */
static void
look_for_capped(void)
{
	sf_shared->releases++;
	for (int i = 0; i < SF_MAX_DATABASES; i++)
	{
		SfDatabase *database = &sf_shared->databases[i];

		if (!OidIsValid(database->oid) || !database->capped_wanted)
			continue;
		database->capped_wanted = false;
		database->task_wanted = true;
		sf_shared_wake_launcher();
	}
}

/* Give back what was admitted. */
void
sf_admit_release(SfSlot *slot)
{
	bool		makes_room = OidIsValid(slot->user_owner) &&
		(sf_shared_is_held(slot) ||
		 share_of(slot, slot->user_owner).in_code + 1 >= max_in_code());

	slot->user_owner = InvalidOid;
	if (makes_room)
		look_for_capped();
}

/* The process of a slot ends: another one may come for tasks. */
void
sf_admit_end(SfSlot *slot)
{
	/* not when it was there for a task and found none that it might have */
	if (slot->role == SF_ROLE_WORKER)
		look_for_capped();
	sf_admit_release(slot);
}

/* A task was left whose owner has its share; it may have just given a slot back. */
void
sf_admit_want(SfDatabase *database, uint32 releases)
{
	if (releases == sf_shared->releases)
		database->capped_wanted = true;
	else
		sf_shared_want_task(database);
}

/* List what owners who hold slots may have beside them. */
int
sf_admit_limits(const SfSlot *asking, bool new_owners_only, SfOwnerLimit *limits)
{
	int			room = sf_shared_max_tasks() - sf_shared_count_tasks();
	int			n = 0;

	if (asking->may_task)
		room++;					/* counted already */
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];
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
		if (new_owners_only || share.in_code >= max_in_code() ||
			share.holding >= sf_admit_max_per_owner() ||
			room + sf_setting_workers - 1 <= 0)
			limits[n].tasks = SF_OWNER_NO_TASKS;
		else
			limits[n].tasks = room > 0 ? SF_OWNER_ALL_TASKS : SF_OWNER_NEW_TASKS;
		n++;
	}
	return n;
}

/* Tell whether a process is at a task in a database, or (standing by) there for one. */
static bool
has_task_process(Oid database, bool standing_by)
{
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot->state != SF_SLOT_FREE && slot->database == database &&
			(standing_by ? slot->role == SF_ROLE_TASK && !slot->may_task && !slot->leave :
			 slot->may_task))
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
 * Which tasks the last worker of a database may take itself: none where another
 * process can be had for them; any where there is no other task; else, with the
 * keeper to advance meanwhile, those of owners that hold nothing.
 */
SfAdmission
sf_admit_last_worker(Oid database)
{
	if (sf_setting_max_workers == 1)
		return SF_ADMIT_ALL;
	if ((!sf_shared->refused && sf_shared_has_free_slot()) ||
		has_task_process(database, true))
		return SF_ADMIT_NONE;
	if (!has_task_process(database, false))
		return SF_ADMIT_ALL;
	return keeper_is_there() ? SF_ADMIT_NEW_OWNERS : SF_ADMIT_NONE;
}
