/*
 * limit_gate.c
 *		Limits of what runs at a time, and of what begins in a span of time.
 *
 * A step that begins takes a slot of every limit that applies, or of none: then its branch
 * waits in the queue of the first one that refuses it (limit_slot.c has the protocol
 * of slots, store/branch/noted_queue.c that of wake-ups).  A slice reuses the slots of what has
 * ended in it.  An execution takes the slots of its machine's limits when it begins, and
 * has them until it ends.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/time/timing.h"
#include "feature/limit/limit_gate.h"
#include "feature/limit/limit_rate.h"
#include "feature/limit/limit_slot.h"
#include "feature/limit/limit_slot_lock.h"
#include "quota/quota.h"
#include "run/apply/apply.h"
#include "store/branch/noted_queue.h"

/* A step of priority has as much weight as having waited that much longer */
#define PRIORITY_STEP_MS		60000

/* Slots that a worker's transaction takes, at most: they are locks, for which memory is limited */
#define MAX_SLOTS	128

/* Starts of a transaction that are due at once; further ones of machines with limits wait in queues */
#define MAX_DUE_STARTS	64

/* --- slots --- */

/* Is a slot in use by what this slice works on, or by what outlives it? */
static bool
is_in_use(const SfXactSlot *slot)
{
	const SfOccupant *occupant = &slot->occupant;

	if (slot->may_have_row)
		return true;
	switch (occupant->kind)
	{
		case SF_OCCUPANT_NONE:
			return false;
		case SF_OCCUPANT_EXECUTION:
			return sf_occupant_draft(occupant)->execution_end == NULL;
		case SF_OCCUPANT_BRANCH:
			return sf_branch_is_inside(sf_occupant_branch(occupant)) &&
				sf_occupant_branch(occupant)->state == sf_occupant_state(occupant);
	}
	pg_unreachable();
}

/* Find a slot of a queue that this transaction has locked and that is free; NULL: there is none. */
static SfXactSlot *
find_free(SfQueue queue)
{
	int			n;
	SfXactSlot *slots = sf_limit_xact_slots(&n);

	for (int i = 0; i < n; i++)
	{
		if (!sf_queue_equals(slots[i].queue, queue))
			continue;
		/* a session that runs several slices in one transaction has given it back since */
		if (slots[i].may_have_row && !sf_limit_slot_has_row(queue, slots[i].slot))
			slots[i] = (SfXactSlot) {.queue = queue,.slot = slots[i].slot,.level = GetCurrentTransactionNestLevel()};
		if (!is_in_use(&slots[i]))
			return &slots[i];
	}
	return NULL;
}

/*
 * Lock a slot; false: none is free.  It is taken by the limit as it is once the slot is locked:
 * who counts the slots above a limit that was lowered finds each that has a row.
 */
static bool
lock_slot(const SfLimit *limit, SfQueue queue)
{
	SfLimit		now = *limit;

	for (;;)
	{
		SfXactSlot *slot = sf_limit_slot_take(&now, queue);
		const SfLimit *found;

		if (slot == NULL)
			return false;
		sf_table_cache_accept_changes();
		if (sf_limit_is_current)
			return true;
		found = sf_limit_of_number(now.limit_no);
		if (found == NULL || !sf_limit_has_slots(found) ||
			(found->max_running == now.max_running && found->highest == now.highest))
			return true;
		sf_limit_slot_unlock(slot);
		now = *found;
	}
}

/* Have a slot of a queue that is free for this transaction; false: none is.  *fresh: it was locked for this. */
static bool
have_slot(const SfLimit *limit, SfQueue queue, bool *fresh)
{
	SfXactSlot *slot = find_free(queue);

	/* those of a limit that was lowered are counted each time */
	while (slot != NULL && limit->highest > limit->max_running)
	{
		sf_limit_slot_unlock(slot);
		slot = find_free(queue);
	}
	*fresh = slot == NULL;
	return slot != NULL || lock_slot(limit, queue);
}

/* Has a worker's transaction taken as many slots as it may? */
static bool
has_too_many(const SfDraft *draft)
{
	int			n;

	(void) sf_limit_xact_slots(&n);
	return sf_draft_is_by_worker(draft) && n >= MAX_SLOTS;
}

/*
 * Does an execution that waits for this one have a slot of a queue?  Then this one needs
 * none: the other would wait for it for ever.
 */
bool
sf_limit_shares(const SfExecution *execution, SfQueue queue)
{
	while (execution != NULL)
	{
		SfParentKind kind = sf_execution_parent_kind(execution);

		if (kind != SF_PARENT_WAITS && kind != SF_PARENT_MAP_RUN)
			return false;
		if (sf_limit_slot_has_within(execution->parent_execution_no, queue))
			return true;
		execution = sf_execution_read(execution->parent_execution_no, SF_LOCK_NONE, false);
	}
	return false;
}

/* Does a branch come before all that wait in a queue? */
static bool
is_first(SfQueue queue, const SfBranch *branch, SfQueueOrder order)
{
	SfQueuedBranch first;

	if (sf_queue_equals(branch->left_queue.queue, queue))
		return true;
	if (!sf_queue_may_wait(queue) || !sf_gate_find_first(queue, &first))
		return true;
	return sf_park_is_before(order, &first) || sf_branch_key_equals(first.key, branch->key);
}

/* The order of a branch in the queue of one limit: an announced task has its slot. */
static SfQueueOrder
order_within(const SfLimit *limit, const SfBranch *branch, SfQueueOrder order)
{
	order.kind = branch->phase == SF_PHASE_ANNOUNCED && sf_limit_has_slots(limit) ? SF_PARKED_AHEAD : SF_PARKED_QUEUED;
	return order;
}

/* What refuses a step */
typedef struct Refusal
{
	const SfStepLimit *by;		/* NULL: nothing */
	SfTick		ready;			/* a rate lets it begin then, maybe; UNSET: no slot is free */
} Refusal;

/* Give back what a step has taken that may not begin. */
static void
undo(List *slots, List *tokens)
{
	foreach_ptr(SfQueue, queue, slots)
	{
		SfXactSlot *slot = find_free(*queue);

		if (slot != NULL)
			sf_limit_slot_unlock(slot);
	}
	foreach_ptr(const SfStepLimit, wanted, tokens)
		sf_limit_rate_return(&wanted->limit, wanted->queue);
}

/* Take a slot of a limit; false: none is free.  *fresh: it was locked for this. */
static bool
take_slot(const SfStepLimit *wanted, const SfDraft *draft, bool *fresh)
{
	if (have_slot(&wanted->limit, wanted->queue, fresh))
		return true;
	*fresh = false;
	return sf_limit_shares(draft->execution, wanted->queue);
}

/* Take slots of all limits, then draw tokens; all or nothing. */
static Refusal
take_all(List *limits, const SfDraft *draft, const SfBranch *branch, SfQueueOrder order)
{
	Refusal		refusal = {0};
	List	   *slots = NIL;
	List	   *tokens = NIL;

	foreach_ptr(SfStepLimit, wanted, limits)
	{
		bool		fresh;

		if (!is_first(wanted->queue, branch, order_within(&wanted->limit, branch, order)) ||
			(sf_limit_has_slots(&wanted->limit) && branch->phase != SF_PHASE_ANNOUNCED &&
			 !take_slot(wanted, draft, &fresh)))
		{
			refusal.by = wanted;
			undo(slots, NIL);
			return refusal;
		}
		if (sf_limit_has_slots(&wanted->limit) && branch->phase != SF_PHASE_ANNOUNCED && fresh)
			slots = lappend(slots, &wanted->queue);
	}
	foreach_ptr(SfStepLimit, wanted, limits)
	{
		SfRate		rate = {&wanted->limit, wanted->queue, draft->execution->owner};

		if (sf_limit_has_rate(&wanted->limit) && !sf_limit_rate_draw(&rate, &refusal.ready))
		{
			refusal.by = wanted;
			undo(slots, tokens);
			return refusal;
		}
		if (sf_limit_has_rate(&wanted->limit))
			tokens = lappend(tokens, wanted);
	}
	return refusal;
}

/*
 * What goes on after a redrive has a slot: keep it for a join, and have what else waits for
 * it go on.
 */
static void
hand_over_redriven(const SfStepLimit *wanted, SfXactSlot *slot, const SfDraft *draft)
{
	if (sf_limit_is_for_join(wanted))
	{
		sf_limit_slot_store(slot, wanted->join);
		sf_apply_unpark_within(wanted->queue, wanted->join.execution_no);
	}
	else if (sf_limit_is_of_executions(&wanted->limit) && draft->execution->redrive_count > 0)
		sf_apply_unpark_within(wanted->queue, draft->execution->execution_no);
}

/* What the steps of a draft have taken of limits; from here on the draft has taken something. */
static SfLimitTaken *
taken_by(SfDraft *draft)
{
	if (draft->taken == NULL)
		draft->taken = MemoryContextAllocZero(draft->context, sizeof(SfLimitTaken));
	return draft->taken;
}

/* The slots that a step has taken are for its branch, or its execution, from here on. */
static void
hand_over(List *limits, SfDraft *draft, SfBranch *branch)
{
	SfLimitTaken *taken = taken_by(draft);

	list_free(taken->drawn);
	taken->drawn = NIL;
	foreach_ptr(SfStepLimit, wanted, limits)
	{
		bool		whole = sf_limit_is_of_executions(&wanted->limit);
		SfXactSlot *slot = sf_limit_has_slots(&wanted->limit) && branch->phase != SF_PHASE_ANNOUNCED ?
			find_free(wanted->queue) : NULL;

		if (slot != NULL)
		{
			slot->used = true;
			slot->level = GetCurrentTransactionNestLevel();
			hand_over_redriven(wanted, slot, draft);
		}
		if (slot != NULL && !sf_limit_is_for_join(wanted))
			slot->occupant = whole ? (SfOccupant) {.kind = SF_OCCUPANT_EXECUTION,.draft = draft} :
				(SfOccupant) {.kind = SF_OCCUPANT_BRANCH,.in = {branch, branch->state}};
		if (sf_limit_has_rate(&wanted->limit) && !whole)
			taken->drawn = lappend(taken->drawn, wanted);
	}
}

/* A task is announced: it draws its tokens when it begins. */
void
sf_limit_return_tokens(SfDraft *draft)
{
	SfLimitTaken *taken = draft->taken;

	if (taken == NULL)
		return;
	foreach_ptr(const SfStepLimit, wanted, taken->drawn)
		sf_limit_rate_return(&wanted->limit, wanted->queue);
	taken->drawn = NIL;
}

/*
 * Before the slice is written: the slots of what outlives it get rows; those of what has
 * ended are free.
 */
void
sf_limit_store_slots(void)
{
	int			n;
	SfXactSlot *slots = sf_limit_xact_slots(&n);

	for (int i = 0; i < n; i++)
	{
		SfXactSlot *slot = &slots[i];

		if (!slot->may_have_row && is_in_use(slot))
			sf_limit_slot_store(slot, slot->occupant.kind == SF_OCCUPANT_BRANCH ?
								sf_occupant_branch(&slot->occupant)->key :
								sf_branch_key_of_execution(sf_occupant_draft(&slot->occupant)->execution->execution_no));
		slot->occupant.kind = SF_OCCUPANT_NONE;
	}
}

/* --- waiting --- */

/*
 * The order of a branch in a queue: since when it could begin, and its priority.  That of an
 * announced task is not taken over from another queue, where it may have come first for its slot.
 */
static SfQueueOrder
order_of(const SfDraft *draft, const SfBranch *branch)
{
	bool		announced = branch->phase == SF_PHASE_ANNOUNCED;
	SfQueueOrder order = {SF_PARKED_QUEUED, branch->left_queue.as_if_since, branch->left_queue.since};

	if (sf_queue_is_one(branch->left_queue.queue) && !announced)
		return order;
	order.since = announced ? branch->started_at :
		branch->due_at == DT_NOEND ? GetCurrentTimestamp() : branch->due_at;
	order.as_if_since = order.since - draft->execution->priority * (PRIORITY_STEP_MS * INT64CONST(1000));
	return order;
}

/* Have a branch wait in a queue. */
static void
put_into_queue(SfDraft *draft, SfBranch *branch, const Refusal *refusal, SfQueueOrder order)
{
	SfQueue		queue = refusal->by->queue;

	sf_park_in_queue(branch, "limit", queue, order_within(&refusal->by->limit, branch, order));
	sf_draft_add_branch(draft, branch);
	sf_limit_slot_wake_at_commit(queue, draft->execution->owner);
	if (refusal->ready != SF_TICK_UNSET)
		sf_queue_wake_later(queue, refusal->ready);
}

/* How many executions with limits this transaction has started so far */
static int
count_starts(void)
{
	static TimestampTz transaction = 0;
	static int	starts = 0;

	if (transaction != GetCurrentTransactionStartTimestamp())
		starts = 0;
	transaction = GetCurrentTransactionStartTimestamp();
	return starts++;
}

/*
 * Have the root of an execution that is started wait in a queue at once, if others wait
 * there, or if its transaction starts many: else each would be claimed, only to wait.
 */
void
sf_limit_beginning(const SfExecution *execution, SfBranch *root)
{
	SfDraft    *draft;
	SfQueueOrder order;
	bool		busy = false;
	List	   *limits;
	bool		many;
	ListCell   *lc;

	/* one that starts later finds out then what it has to wait for */
	if (!sf_limit_may_be() || root->due_at > GetCurrentTimestamp())
		return;
	draft = sf_draft_make(unconstify(SfExecution *, execution));
	order = order_of(draft, root);
	limits = sf_limit_find_all(draft, root, &busy);
	many = limits != NIL && count_starts() >= MAX_DUE_STARTS;
	foreach(lc, limits)
	{
		Refusal		refusal = {.by = lfirst(lc)};

		if (refusal.by->limit.fails ||
			(!many && is_first(refusal.by->queue, root, order)))
			continue;
		/* else it is due, and finds out what it has to wait for */
		if (sf_machine_share_waits(execution->machine_no, execution->owner))
		{
			sf_queue_note_waiting(refusal.by->queue, execution->owner);
			put_into_queue(draft, root, &refusal, order);
		}
		break;
	}
}

/* Say that a limit refuses a step. */
static void
make_error(const SfStepLimit *by, SfError *error)
{
	const SfLimit *limit = &by->limit;

	*error = sf_error_make("Sfflow.Throttled",
						   psprintf("The limit of \"%s%s%s\" is reached.",
									limit->kind == SF_OBJECT_ACTIVITY ? "activity:" : "", limit->name,
									limit->state == NULL ? "" : psprintf("/%s", limit->state)));
}

/*
 * Let a branch begin a step, if the limits have room, and take slots for it.  If not, it is
 * changed to wait in a queue, and the caller has it written; or (THROTTLED) *error is to be
 * that of its state.
 */
SfGateVerdict
sf_limit_admit(SfDraft *draft, SfBranch *branch, SfError *error)
{
	bool		busy = false;
	List	   *limits;
	SfQueueOrder order;
	const SfStepLimit *noted = NULL;
	Refusal		refusal;

	if (!sf_limit_may_be())
		return SF_GATE_OPEN;
	limits = sf_limit_find_all(draft, branch, &busy);
	order = order_of(draft, branch);
	if (busy || (limits != NIL && has_too_many(draft)))
		return sf_gate_put_off(draft, branch, busy ? SF_RELEASE_RECHECK_MS : 0);
	for (;;)
	{
		refusal = take_all(limits, draft, branch, order);
		if (refusal.by == NULL)
		{
			hand_over(limits, draft, branch);
			return SF_GATE_OPEN;
		}
		if (refusal.by->limit.fails || refusal.by == noted)
			break;
		/* a transaction that gives a slot back from here on looks whether something waits */
		noted = refusal.by;
		sf_queue_note_waiting(noted->queue, draft->execution->owner);
	}
	if (refusal.by->limit.fails)
	{
		sf_throttled_note(draft->execution->machine_no, draft->execution->owner);
		make_error(refusal.by, error);
		return SF_GATE_THROTTLED;
	}
	if (!sf_machine_share_waits(draft->execution->machine_no, draft->execution->owner))
		return sf_gate_put_off(draft, branch, SF_RELEASE_RECHECK_MS);
	put_into_queue(draft, branch, &refusal, order);
	return SF_GATE_WAITS;
}

/* --- what comes next in a queue --- */

/* Has a rate of a limit a token, if there is a rate?  If not, have workers try later. */
static bool
has_token(const SfRate *rate)
{
	SfTick		ready;

	if (!sf_limit_has_rate(rate->limit) || sf_limit_rate_has_token(rate, &ready))
		return true;
	sf_queue_wake_later(rate->queue, Max(ready, sf_tick_plus_ms(sf_tick_now(), SF_RATE_GATHER_MS)));
	return false;
}

/*
 * Lock a slot for the next branch of a queue that is not empty, if it may begin; an announced
 * task has one.  If not, the transaction that makes
 * room tells the workers.
 */
bool
sf_limit_take_first(SfQueue queue, const SfQueuedBranch *first)
{
	const SfLimit *found = sf_limit_of_number(queue.object_no);
	SfLimit		limit;
	SfRate		rate = {&limit, queue, first->owner};
	bool		fresh;

	if (found == NULL)
		return true;			/* it was dropped while something began to wait */
	limit = *found;
	sf_queue_note_waiting(queue, first->owner);
	if (!has_token(&rate))
		return false;
	return !sf_limit_has_slots(&limit) || first->waits_for == SF_QUEUED_FOR_TASK || have_slot(&limit, queue, &fresh);
}
