/*
 * slice_queues.c
 *		What a slice takes from queues.
 *
 * A branch in a queue is not due.  A slice that comes to a queue has the feature take what the first
 * one needs, such as a slot, claims it and runs it; then, with the same, the next one.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "run/apply/apply.h"
#include "run/gate/gate.h"
#include "run/slice/slice_run.h"
#include "store/branch/noted_queue.h"

/* Queues, or branches of an execution that wait, that are read at once */
#define MAX_READ		64

/* Queues that a session looks at in vain, at most, before its slice ends */
#define MAX_QUEUES		2000

/* Claim and advance a branch that waits in a queue. */
static bool
claim_parked(SfSlice *slice, SfBranchKey key)
{
	bool		taken = sf_slice_claim_one(slice, key, true);

	slice->result->nqueued_tried += taken;
	return taken;
}

/* Is a branch that waits another slice's, because of its owner? */
static bool
is_of_another(const SfSlice *slice, const SfQueuedBranch *first)
{
	Oid			owner = sf_slice_in_session(slice->request) ?
		sf_slice_session(slice->request)->only_owner : sf_slice_keys(slice->request)->owner;

	return (OidIsValid(slice->owner) && first->owner != slice->owner) ||
		(OidIsValid(owner) && first->owner != owner);
}

/*
 * Claim the first branch of a queue that is left; false: no more of it can be claimed now.
 * told: other workers know that more wait, or none do.  *any: one was claimed.  If another
 * transaction has it locked, a worker comes again.
 */
static bool
claim_first(SfSlice *slice, SfQueue queue, const SfQueuedBranch *first, bool told, bool *any)
{
	bool		is_task = first->waits_for == SF_QUEUED_FOR_TASK;

	if (first->waits_for == SF_QUEUED_FOR_NOTHING)
	{
		sf_park_delete_left_over(first);
		return true;
	}
	if (slice->no_more_claims || (*any && sf_slice_is_used_up(slice)) || is_of_another(slice, first))
	{
		/* the queue is not read before the commit: it would see what is taken here */
		SF_TELL_PROVIDER(queues, wake_at_commit, queue, first->owner);
		return false;
	}
	if (!sf_gate_has_room(queue, first))
		return false;
	if (!told)
		sf_queue_wake_if_waiting(queue, first->owner);
	if (!(is_task ? sf_apply_recall(first->key) : claim_parked(slice, first->key)))
	{
		if (!sf_slice_in_session(slice->request))
			sf_hooks.queue_skipped(queue, first->owner);
	}
	else if (!is_task)
		*any = true;
	return true;
}

/* A queue was found empty: note that; what is put into it meanwhile counts. */
static void
leave_empty(SfQueue queue)
{
	sf_queue_note_empty(queue);
	if (sf_park_is_queued(queue))
		sf_queue_note_waiting(queue, InvalidOid);
}

/*
 * Claim branches of a queue in their order, as long as there is room for them.  If more
 * wait, other workers are told before the first one is run: there may be room for theirs.
 * Branches that others have locked are passed over, page by page.
 */
bool
sf_slice_claim_queue(SfSlice *slice, SfQueue queue)
{
	SfQueuedBranch front[SF_FRONT_MANY];
	SfQueuedBranch last;
	const SfQueuedBranch *after = NULL;
	bool		any = false;
	bool		told = sf_slice_in_session(slice->request);
	int			n;

	sf_queue_note_taken(queue);
	for (SfFront size = SF_FRONT_FEW;; size = SF_FRONT_MANY)
	{
		n = sf_park_front(queue, after, front, size);
		if (n == 0 && after == NULL)
			leave_empty(queue);
		for (int i = 0; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!claim_first(slice, queue, &front[i], told || n == 1, &any))
				return any;
			told = told || any;
		}
		if (n < (int) size)
			return any;
		last = front[n - 1];
		after = &last;
	}
}

/* In a session: claim the branches of its execution that wait and come first in their queues. */
static void
claim_waiting(SfSlice *slice, bool *first)
{
	SfBranchKey keys[MAX_READ];
	SfQueue		queues[MAX_READ];
	SfQueuedBranch queued;
	int			n = sf_park_queued_of(sf_slice_session(slice->request)->execution_no, keys, queues, MAX_READ);

	for (int i = 0; i < n; i++)
	{
		if (slice->no_more_claims || (!*first && sf_slice_is_used_up(slice)))
			return;
		if (!sf_gate_find_first(queues[i], &queued) ||
			!sf_branch_key_equals(queued.key, keys[i]) ||
			!sf_gate_has_room(queues[i], &queued))
			continue;
		if (claim_parked(slice, keys[i]))
			*first = false;
	}
}

/* In a session: claim what waits in the queues of an owner, which take turns. */
static void
claim_in_turn(SfSlice *slice, bool *first)
{
	Oid			owner = sf_slice_session(slice->request)->only_owner;
	SfQueueRound round = sf_gate_begin_round(owner);
	SfQueue		queues[MAX_READ];
	Oid			owners[MAX_READ];
	int			left = MAX_QUEUES;
	int			n;

	while (left > 0 && (n = sf_gate_next_queues(&round, queues, owners, MAX_READ)) > 0)
		for (int i = 0; i < n; i++)
		{
			if (slice->no_more_claims || (!*first && sf_slice_is_used_up(slice)))
				return;
			sf_gate_end_round(queues[i]);
			if (owners[i] != owner)
				continue;
			if (sf_slice_claim_queue(slice, queues[i]))
				*first = false;
			else
				left--;
		}
}

/* In a session: claim what waits in queues, of its execution or of an owner. */
void
sf_slice_scan_queues(SfSlice *slice, bool *first)
{
	if (slice->request->mode == SF_SLICE_MODE_EXECUTION)
		claim_waiting(slice, first);
	else
		claim_in_turn(slice, first);
}
