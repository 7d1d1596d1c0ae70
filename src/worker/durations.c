/*
 * durations.c
 *		How long tasks took when they ran last, known to all workers.
 *
 * Each task has one place in a fixed table, by its hash; a later task with the same
 * place replaces it.  A task that is not in the table counts as possibly long,
 * which costs it two more commits.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "worker/shared.h"
#include "worker/worker.h"

/* Below this, how long a task takes does not matter (sfflow.slice_ms is longer) */
#define QUICK_US	500

/* Place of a task in the table. */
static SfDuration *
place_of(const SfDurationKey *key)
{
	uint32		hash = hash_combine(hash_combine(murmurhash32((uint32) key->machine_no),
												 murmurhash32((uint32) key->version)),
									hash_combine(murmurhash32(key->number + (uint32) key->kind),
												 murmurhash32(MyDatabaseId)));

	return &sf_shared->durations[hash % SF_DURATIONS];
}

/* Tell whether a place holds this task. */
static bool
holds(const SfDuration *place, const SfDurationKey *key)
{
	return place->database == MyDatabaseId && place->key.machine_no == key->machine_no &&
		place->key.version == key->version && place->key.kind == key->kind &&
		place->key.number == key->number;
}

/* How long a task took, in microseconds; -1 when that is not known. */
static int64
read_duration(const SfDurationKey *key)
{
	const SfDuration *place = place_of(key);
	int64		elapsed_us = -1;

	LWLockAcquire(sf_shared_lock, LW_SHARED);
	if (holds(place, key))
		elapsed_us = place->elapsed_us;
	LWLockRelease(sf_shared_lock);
	return elapsed_us;
}

/* Tell whether it is known, and no news, that a task takes less than QUICK_US. */
static bool
is_quick_again(const SfDurationKey *key, int64 elapsed_us)
{
	int64		known_us = elapsed_us < QUICK_US ? read_duration(key) : -1;

	return known_us >= 0 && known_us < QUICK_US;
}

/* Note how long a task took.  Most are quick again, which is worth no exclusive lock. */
static void
note_duration(const SfDurationKey *key, int64 elapsed_us)
{
	SfDuration *place = place_of(key);

	if (is_quick_again(key, elapsed_us))
		return;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	*place = (SfDuration) {MyDatabaseId, *key, elapsed_us};
	LWLockRelease(sf_shared_lock);
}

/* Fill the hooks that ask and tell how long tasks take. */
void
sf_durations_init(void)
{
	sf_hooks.task_time = read_duration;
	sf_hooks.note_task_time = note_duration;
}
