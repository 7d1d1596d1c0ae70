/*
 * gate_queues.c
 *		Which branch comes first in a queue, and which queues are looked at next.
 *
 * There may be more queues than can be looked at: each scan goes on behind the last one of
 * the scan before, and the first one of a process begins anywhere.  So all get their turn.
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"

#include "run/gate/gate.h"
#include "store/branch/noted_queue.h"
#include "store/feature.h"
#include "store/state_machine/machine.h"

/* Queues of which the workers are told at once, after a scan for everything due */
#define MAX_QUEUES	2000

/* Find the branch that has waited longest in a queue, behind rows that are left over; false: there is none. */
bool
sf_gate_find_first(SfQueue queue, SfQueuedBranch *first)
{
	const SfQueuedBranch *after = NULL;

	while (sf_park_front(queue, after, first, SF_FRONT_FIRST) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (first->waits_for != SF_QUEUED_FOR_NOTHING)
			return true;
		sf_park_delete_left_over(first);
		after = first;
	}
	return false;
}

/* --- turns --- */

/* The last queue that this process has looked at (zeros: SF_NO_QUEUE), for an owner or (InvalidOid) all */
static SfQueue last = {0};
static Oid	last_owner = InvalidOid;

/* Begin to go through the queues. */
SfQueueRound
sf_gate_begin_round(Oid owner)
{
	SfQueueRound round = {.owner = owner};

	if (!sf_queue_is_one(last) || last_owner != owner)
	{
		last.object_no = (int64) pg_prng_uint64_range(&pg_global_prng_state, 1,
													 Max(sf_park_greatest_queue(), 1));
		last.hash = (int64) pg_prng_uint64(&pg_global_prng_state);
		last_owner = owner;
	}
	round.from = round.read = last;
	return round;
}

/* Is a queue one of the machines of another role than the one whose queues are looked for? */
static bool
is_of_another(const SfQueueRound *round, SfQueue queue)
{
	const SfFeature *feature = SF_PROVIDER(queues);
	Oid			owner = InvalidOid;

	if (OidIsValid(round->owner) && feature != NULL)
		owner = feature->queues->owner_of(queue);
	return OidIsValid(owner) && owner != round->owner;
}

/*
 * Find the next queues that are not empty, at most size of them, and the owner of what comes
 * first in each; 0: all of them have been found.
 */
int
sf_gate_next_queues(SfQueueRound *round, SfQueue *queues, Oid *owners, int size)
{
	SfQueuedBranch first;
	int			n = 0;

	while (n == 0 && round->part != SF_ROUND_PART_OVER)
	{
		bool		wrapped = round->part == SF_ROUND_PART_UP_TO;

		n = sf_park_queues(round->read, queues, owners, size);
		if (n == size)
		{
			round->read = queues[n - 1];
			/* its other queues are not looked for either */
			if (is_of_another(round, round->read))
				round->read.hash = PG_INT64_MAX;
		}
		else
		{
			round->part = wrapped ? SF_ROUND_PART_OVER : SF_ROUND_PART_UP_TO;
			round->read = SF_NO_QUEUE;
		}
		while (wrapped && n > 0 && sf_park_queue_is_behind(queues[n - 1], round->from))
		{
			round->part = SF_ROUND_PART_OVER;
			n--;
		}
	}
	for (int i = 0; i < n; i++)
		if (!OidIsValid(owners[i]) && sf_gate_find_first(queues[i], &first))
			owners[i] = first.owner;
	return n;
}

/* The next round begins behind a queue. */
void
sf_gate_end_round(SfQueue queue)
{
	last = queue;
}

/*
 * Have features mend what errors and crashes have left of what waits.  Returns when to do so again before the
 * next poll; SF_TICK_NEVER: no need.
 */
SfTick
sf_gate_tend(void)
{
	const SfFeature *feature = SF_PROVIDER(queues);
	SfTick		again = sf_gate_recheck_roles();
	SfTick		wanted = feature == NULL ? SF_TICK_NEVER : feature->queues->tend();

	return Min(again, wanted);
}

/* Tell whether the next branch of a queue that is not empty may begin, and take what it needs for it. */
bool
sf_gate_has_room(SfQueue queue, const SfQueuedBranch *first)
{
	const SfFeature *feature = SF_PROVIDER(queues);

	return feature == NULL || feature->queues->take_first(queue, first);
}

/*
 * Tell the workers of queues that are not empty: with each scan for everything due.  Returns
 * when to scan again before the next poll; SF_TICK_NEVER: no need.
 */
SfTick
sf_gate_wake_queues(void)
{
	SfQueueRound round;
	SfQueue    *queues;
	Oid		   *owners;
	int			left = MAX_QUEUES;
	SfTick		again;
	int			n;

	sf_queue_note_scan();
	again = sf_gate_tend();
	if (!sf_park_is_any_queued())
		return again;
	queues = palloc(sizeof(SfQueue) * MAX_QUEUES);
	owners = palloc(sizeof(Oid) * MAX_QUEUES);
	round = sf_gate_begin_round(InvalidOid);
	while (left > 0 && (n = sf_gate_next_queues(&round, queues, owners, left)) > 0)
	{
		for (int i = 0; i < n; i++)
		{
			if (!OidIsValid(owners[i]))
				continue;
			sf_queue_note_waiting(queues[i], owners[i]);
			sf_queue_note_taken(queues[i]);
			sf_queue_wake_if_waiting(queues[i], owners[i]);
		}
		sf_gate_end_round(queues[n - 1]);
		left -= n;
	}
	pfree(queues);
	pfree(owners);
	return again;
}
