/*
 * demand.c
 *		Which database is to get a process next, and who makes room for it.
 *
 * The order: databases without a worker first, those that have waited longest
 * before others; then those whose workers are all busy; then long tasks.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/settings.h"
#include "worker/demand.h"
#include "worker/shared.h"

#define MORE_DELAY_MS		20
#define QUANTUM_MS			5000

/* Take the earlier one as the time to look again. */
static void
look_at(TimestampTz *next, TimestampTz at)
{
	if (at < *next)
		*next = at;
}

/* Put a candidate first when it is more urgent than the one so far. */
static void
consider(SfWant *want, Oid database, SfRole role, bool first, TimestampTz since)
{
	if (OidIsValid(want->database) &&
		(want->first > first || (want->first == first && want->since <= since)))
		return;
	want->database = database;
	want->role = role;
	want->first = first;
	want->since = since;
}

/* Tell whether a process for a long task stands by in a database. */
static bool
task_process_stands_by(Oid database)
{
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot->state != SF_SLOT_FREE && slot->database == database &&
			slot->role == SF_ROLE_TASK && !slot->may_task && !slot->leave)
			return true;
	}
	return false;
}

/* Tell whether a long task runs in a database. */
static bool
runs_task(Oid database)
{
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		const SfSlot *slot = &sf_shared->slots[i];

		if (slot->state != SF_SLOT_FREE && slot->database == database &&
			slot->role == SF_ROLE_TASK && slot->may_task)
			return true;
	}
	return false;
}

/* Look at a database that has no worker. */
static void
consider_first(SfDatabase *database, TimestampTz now, SfWant *want, TimestampTz *next)
{
	TimestampTz due = Min(database->next_timer, database->next_poll);

	if (database->state == SF_DATABASE_UNKNOWN || database->scan ||
		database->ring.count > 0)
		due = now;
	if (due > now)
	{
		database->waiting_since = 0;
		look_at(next, due);
		return;
	}
	if (database->waiting_since == 0)
		database->waiting_since = now;
	consider(want, database->oid, SF_ROLE_WORKER, true, database->waiting_since);
}

/* Look at a database that has workers: do they suffice? */
static void
consider_more(SfDatabase *database, TimestampTz now, SfWant *want, TimestampTz *next)
{
	TimestampTz at;

	database->waiting_since = 0;

	if (sf_shared_count_advancing(InvalidOid) >= sf_setting_workers)
		return;

	/* while long tasks run, the second one may take on what is new */
	if (sf_shared_count_advancing(database->oid) < 2 && runs_task(database->oid))
	{
		consider(want, database->oid, SF_ROLE_WORKER, false, now);
		return;
	}
	if (database->ring.count == 0 && !database->scan)
		database->more_wanted = false;
	if (!database->more_wanted)
		return;
	if (database->more_since == 0)
		database->more_since = now;
	at = TimestampTzPlusMilliseconds(database->more_since, MORE_DELAY_MS);
	if (at > now)
		look_at(next, at);
	else
		consider(want, database->oid, SF_ROLE_WORKER, false, database->more_since);
}

/* Find the database that is to get a process first; *next: when to look again. */
SfWant
sf_demand_find(TimestampTz *next)
{
	SfWant		want = {0};
	TimestampTz now = GetCurrentTimestamp();

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 0; i < SF_MAX_DATABASES; i++)
	{
		SfDatabase *database = &sf_shared->databases[i];

		if (!OidIsValid(database->oid) || database->leaving > 0 ||
			database->state == SF_DATABASE_NOT_DRIVEN)
			continue;
		if (database->not_before > now)
		{
			look_at(next, database->not_before);
			continue;
		}
		if (sf_shared_count_advancing(database->oid) == 0)
			consider_first(database, now, &want, next);
		else
			consider_more(database, now, &want, next);
		if ((database->task_wanted || database->new_task_wanted) &&
			sf_shared_count_tasks() < sf_shared_max_tasks() &&
			!task_process_stands_by(database->oid))
			consider(&want, database->oid, SF_ROLE_TASK, false, now);
	}
	LWLockRelease(sf_shared_lock);
	return want;
}

/* Tell whether there is a place for a process of that role. */
bool
sf_demand_has_room(SfRole role)
{
	bool		free_slot = false;
	int			advancing;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 1; i < sf_shared->nslots && !free_slot; i++)
		free_slot = sf_shared->slots[i].state == SF_SLOT_FREE;
	advancing = sf_shared_count_advancing(InvalidOid);
	LWLockRelease(sf_shared_lock);
	return free_slot && (role == SF_ROLE_TASK || advancing < sf_setting_workers);
}

/*
 * Ask one process to leave, for a database that has none: an idle one, or one
 * that has had its share of time.
 */
void
sf_demand_make_room(const SfWant *want)
{
	TimestampTz now = GetCurrentTimestamp();
	SfSlot	   *victim = NULL;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 1; i < sf_shared->nslots; i++)
	{
		SfSlot	   *slot = &sf_shared->slots[i];
		bool		idle = slot->state == SF_SLOT_IDLE;

		if (slot->state == SF_SLOT_FREE || slot->database == want->database)
			continue;
		if (slot->leave)
		{
			/* somebody is on the way out */
			victim = NULL;
			break;
		}
		if (!idle && (slot->role != SF_ROLE_WORKER ||
					  slot->attached > TimestampTzPlusMilliseconds(now, -QUANTUM_MS)))
			continue;
		if (!victim || (idle && victim->state != SF_SLOT_IDLE) ||
			(idle == (victim->state == SF_SLOT_IDLE) && slot->since < victim->since))
			victim = slot;
	}
	if (victim)
	{
		victim->leave = true;
		sf_shared_wake_slot(victim);
	}
	LWLockRelease(sf_shared_lock);
}

