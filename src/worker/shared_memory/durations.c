/*
 * durations.c
 *		How long tasks took when they ran last, known to all workers.
 *
 * Each task has one entry in a fixed table, by its hash; a later task with the same
 * entry replaces it.  A task that is not in the table counts as possibly long,
 * which costs it two more commits.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "worker/process/process.h"
#include "worker/shared_memory/shared.h"

/* Below this, how long a task takes does not matter (sfflow.slice_ms is longer) */
#define QUICK_US	500

/* The entry of a task in the table. */
static SfDuration *
entry_of(SfDurationKey key)
{
	uint32		hash = hash_combine(hash_combine(murmurhash32((uint32) key.machine_no),
												 murmurhash32((uint32) key.version)),
									hash_combine(murmurhash32(key.number + (uint32) key.kind),
												 murmurhash32(MyDatabaseId)));

	return &sf_shared->durations[hash % SF_DURATIONS];
}

/* Tell whether an entry is that of this task. */
static bool
is_of(const SfDuration *entry, SfDurationKey key)
{
	return entry->database == MyDatabaseId && entry->key.machine_no == key.machine_no &&
		entry->key.version == key.version && entry->key.kind == key.kind &&
		entry->key.number == key.number;
}

/* How long a task took. */
static SfTaskTime
read_duration(SfDurationKey key)
{
	const SfDuration *entry = entry_of(key);
	SfTaskTime	time = {SF_TASK_TIME_UNKNOWN, 0};

	LWLockAcquire(sf_shared_lock, LW_SHARED);
	if (is_of(entry, key))
		time = entry->time;
	LWLockRelease(sf_shared_lock);
	return time;
}

/* Did a task take less than QUICK_US? */
static bool
is_quick(SfTaskTime time)
{
	return time.kind == SF_TASK_TIME_LAST && time.us < QUICK_US;
}

/* Note how long a task took.  Most are quick again, which is worth no exclusive lock. */
static void
note_duration(SfDurationKey key, SfTaskTime time)
{
	SfDuration *entry = entry_of(key);

	if (is_quick(time) && is_quick(read_duration(key)))
		return;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	*entry = (SfDuration) {MyDatabaseId, key, time};
	LWLockRelease(sf_shared_lock);
}

/* Fill the hooks that ask and tell how long tasks take. */
void
sf_durations_init(void)
{
	sf_hooks.task_time = read_duration;
	sf_hooks.note_task_time = note_duration;
}
