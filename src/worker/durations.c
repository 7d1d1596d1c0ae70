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

/* Place of a task in the table. */
static SfDuration *
place_of(int machine_no, int version, int state)
{
	uint32		hash = hash_combine(hash_combine(murmurhash32((uint32) machine_no),
												 murmurhash32((uint32) version)),
									hash_combine(murmurhash32((uint32) state),
												 murmurhash32(MyDatabaseId)));

	return &sf_shared->durations[hash % SF_DURATIONS];
}

/* Tell whether a place holds this task. */
static bool
holds(const SfDuration *place, int machine_no, int version, int state)
{
	return place->database == MyDatabaseId && place->machine_no == machine_no &&
		place->version == version && place->state == state;
}

/* How long a task took, in microseconds; -1 when that is not known. */
static int64
read_duration(int machine_no, int version, int state)
{
	const SfDuration *place = place_of(machine_no, version, state);
	int64		elapsed_us = -1;

	LWLockAcquire(sf_shared_lock, LW_SHARED);
	if (holds(place, machine_no, version, state))
		elapsed_us = place->elapsed_us;
	LWLockRelease(sf_shared_lock);
	return elapsed_us;
}

/* Note how long a task took. */
static void
note_duration(int machine_no, int version, int state, int64 elapsed_us)
{
	SfDuration *place = place_of(machine_no, version, state);

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	place->database = MyDatabaseId;
	place->machine_no = machine_no;
	place->version = version;
	place->state = state;
	place->elapsed_us = elapsed_us;
	LWLockRelease(sf_shared_lock);
}

/* Fill the hooks that ask and tell how long tasks take. */
void
sf_durations_init(void)
{
	sf_hooks.task_time = read_duration;
	sf_hooks.note_task_time = note_duration;
}
