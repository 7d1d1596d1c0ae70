/*
 * gate_adopt.c
 *		What runs already when it comes under a limit, since that is set or the execution is
 *		moved to another version: it goes on, and has slots of the limit.
 *
 * It may have more slots than the limit allows (SfLimit.highest).  What a transaction has
 * begun that is open at this moment is not seen yet.  So the looks at all that is due give
 * slots to what has none, until those transactions have ended (SfLimit.counted).  The last of
 * these looks also gives back the slots of what has been moved meanwhile.
 *
 * A move gives slots itself, in its transaction.  While a limit is not counted it locks the row
 * of the limit, as the looks do: they would count by where a branch was before
 * (test/model/gate.pml).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "access/xact.h"
#include "base/debug_point.h"
#include "base/timing.h"
#include "run/gate.h"
#include "store/hold.h"
#include "store/limit_slot.h"

/* How many slots of a queue have been given */
typedef struct Given
{
	int64		hash;			/* key of the hash table */
	int			count;
} Given;

/* A limit that is set, and what has slots of it so far */
typedef struct Adoption
{
	SfLimit		limit;
	HTAB	   *given;
	int			above;			/* if no slot is free, those with greater numbers are given */
	int			highest;
} Adoption;

/*
 * Give a branch, or an execution as a whole, a slot of its queue: where others take slots already,
 * a free one of those that the limit allows, else the next one.  With slots above those, each
 * that is taken has to be counted.
 */
static void
adopt(Adoption *a, SfQueue queue, int64 execution_no, int64 branch_no)
{
	bool		found;
	Given	   *given;

	if (a->above > 0 && sf_limit_slot_add_free(&a->limit, queue, execution_no, branch_no))
		return;
	given = hash_search(a->given, &queue.hash, HASH_ENTER, &found);
	if (!found)
		given->count = a->above;
	sf_limit_slot_add(queue, ++given->count, execution_no, branch_no);
	a->highest = Max(a->highest, given->count);
}

/* Give an execution a slot, or a branch of it, if the limit applies. */
static void
consider(Adoption *a, SfBranchKey key)
{
	bool		whole = sf_limit_is_of_executions(&a->limit);
	SfExecution *execution = sf_execution_read(key.execution_no, SF_LOCK_NONE,
											   whole && a->limit.key_path != NULL);
	SfBranch   *branch;
	SfQueue		queue;

	if (execution == NULL || execution->status != SF_STATUS_RUNNING)
		return;
	if (whole)
	{
		branch = sf_branch_make(key.execution_no, execution->owner, SF_BRANCH_ROOT);
		key.branch_no = SF_SLOT_EXECUTION;
	}
	else
		branch = sf_branch_read(key, SF_LOCK_NONE);
	/* since the list was made it may have been moved here */
	if (sf_limit_slot_is_held(key.execution_no, key.branch_no, a->limit.limit_no))
		return;
	if (branch != NULL && sf_gate_find_queue(&a->limit, sf_draft_make(execution), branch, &queue))
		adopt(a, queue, key.execution_no, key.branch_no);
}

/* Copy a limit, which is read anew into the copy of the table when others change it. */
static SfLimit
copy_limit(const SfLimit *limit)
{
	SfLimit		copy = *limit;
	SfError		error;

	if (copy.key[0] != '\0')
		copy.key_path = sf_expr_compile(pstrdup(copy.key), SF_EXPR_PATH | SF_EXPR_INPUT, &error);
	copy.name = pstrdup(copy.name);
	copy.state = pstrdup(copy.state);
	return copy;
}

/*
 * Give slots of a limit, of the copy of the table, to what runs and has none: those that are free,
 * and further ones with numbers above one (0: others take none yet).
 */
static void
adopt_all(const SfLimit *limit, int above)
{
	HASHCTL		control = {.keysize = sizeof(int64),.entrysize = sizeof(Given),.hcxt = CurrentMemoryContext};
	Adoption	a = {.limit = copy_limit(limit),.above = above};
	List	   *keys = sf_limit_running(limit);
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "sfflow adoption",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	ListCell   *lc;

	a.given = hash_create("sfflow slots", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	foreach(lc, keys)
	{
		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(scratch);
		consider(&a, *(SfBranchKey *) lfirst(lc));
		MemoryContextSwitchTo(old);
		MemoryContextReset(scratch);
	}
	hash_destroy(a.given);
	if (a.highest > a.limit.highest)
		sf_limit_set_highest(a.limit.limit_no, a.highest);
}

/* Set a limit, in place of an earlier one of the same target and key; returns its number. */
static int64
set_limit(const SfLimit *limit)
{
	bool		counts_anew;
	int64		limit_no = sf_limit_set(limit, &counts_anew);
	const SfLimit *set;

	CommandCounterIncrement();
	set = counts_anew ? sf_limit_find(limit_no) : NULL;
	if (set != NULL)
		adopt_all(set, 0);
	return limit_no;
}

/* Give back the slots of a limit that branches have to which it does not apply any more. */
static void
give_back(const SfLimit *limit)
{
	SfLimit		copy = copy_limit(limit);
	ListCell   *lc;

	if (sf_limit_is_of_executions(limit))
		return;
	foreach(lc, sf_limit_slot_branches(limit->limit_no))
	{
		SfBranchKey key = *(SfBranchKey *) lfirst(lc);
		SfExecution *execution = sf_execution_read(key.execution_no, SF_LOCK_NONE, false);
		SfBranch   *branch = execution == NULL ? NULL : sf_branch_read(key, SF_LOCK_NONE);
		SfQueue		queue;

		CHECK_FOR_INTERRUPTS();
		if (branch != NULL && sf_limit_slot_is_of(branch) &&
			!sf_gate_find_queue(&copy, sf_draft_make(execution), branch, &queue))
			sf_limit_slot_give_one(key, copy.limit_no);
	}
}

/* Count what has begun without a limit, as far as it can be seen; false: look again soon. */
static bool
count_late(int64 limit_no)
{
	const SfLimit *limit;
	TimestampTz now = GetCurrentTimestamp();
	bool		alone;
	bool		recent;

	if (!sf_limit_lock_uncounted(limit_no, &alone))
		return true;
	limit = sf_limit_find(limit_no);
	if (limit == NULL || limit->max_running == 0)
		return true;
	recent = now < TimestampTzPlusMilliseconds(limit->set_at, SF_COUNT_SOON_MS);
	/* at first for the slices that are under way, which end soon; then for long transactions */
	if (alone || (!recent && now < TimestampTzPlusMilliseconds(limit->set_at, SF_COUNT_LATE_MS)))
		adopt_all(limit, limit->highest);
	limit = alone ? sf_limit_find(limit_no) : NULL;
	if (limit != NULL)
	{
		give_back(limit);
		sf_limit_set_counted(limit_no);
	}
	return alone || !recent;
}

/* With each look: count what has begun without a limit; returns when to look again, or SF_TICK_NEVER. */
SfTick
sf_gate_count_late(void)
{
	SfTick		again = SF_TICK_NEVER;
	ListCell   *lc;

	/* an old snapshot does not show what has begun */
	if (IsolationUsesXactSnapshot())
		return again;
	foreach(lc, sf_limit_uncounted())
		if (!count_late(*(int64 *) lfirst(lc)))
			again = sf_tick_plus_ms(sf_tick_now(), SF_COUNT_PAUSE_MS);
	return again;
}

/* The same, for a caller. */
void
sf_gate_set_limit(const SfLimit *limit)
{
	(void) set_limit(limit);
}

/* --- moves to another version --- */

/* Give a branch that is inside of a state a slot of a limit, above those that it allows if none of them is free. */
static void
give_slot(const SfLimit *limit, SfQueue queue, SfBranchKey key)
{
	int			highest;
	int			slot;

	if (sf_limit_slot_add_free(limit, queue, key.execution_no, key.branch_no))
		return;
	highest = sf_limit_lock(limit->limit_no);
	if (highest < 0)
		return;
	slot = sf_limit_slot_add_above(limit, queue, key.execution_no, key.branch_no);
	if (slot > highest && !SF_DEBUG_MUTATION("move_highest"))
		sf_limit_set_highest(limit->limit_no, slot);
}

/* Have a branch that is inside of a state hold a slot of a limit if, and only if, it applies to that. */
static void
settle_slot(const SfLimit *limit, const SfDraft *draft, const SfBranch *branch)
{
	SfBranchKey key = branch->key;
	bool		has = sf_limit_slot_is_held(key.execution_no, key.branch_no, limit->limit_no);
	SfQueue		queue;

	if (!sf_gate_find_queue(limit, draft, branch, &queue))
	{
		if (has && !SF_DEBUG_MUTATION("move_give"))
			sf_limit_slot_give_one(key, limit->limit_no);
	}
	else if (!has && !SF_DEBUG_MUTATION("move_adopt"))
		give_slot(limit, queue, key);
}

/* Does what a branch waits for apply to it where it is? */
static bool
still_waits(const SfDraft *draft, const SfBranch *branch, const SfParked *parked)
{
	if (parked->hold_no != 0)
		return sf_gate_is_held_by(draft, branch, parked->hold_no);
	foreach_ptr(const SfWanted, wanted, sf_gate_list_queues(draft, branch))
		if (wanted->queue.limit_no == parked->limit_no && wanted->queue.hash == parked->queue)
			return true;
	return false;
}

/* What waits for a hold or a limit that does not apply to it any more is due. */
static void
recall(SfDraft *draft)
{
	foreach_ptr(const SfParked, parked, sf_hold_list_parked(draft->execution->execution_no))
	{
		SfBranch   *branch = sf_branch_by_no(draft->branches, parked->branch_no);
		TimestampTz since;

		CHECK_FOR_INTERRUPTS();
		if (branch == NULL || branch->due_at != DT_NOEND || !sf_gate_stands_before(branch->phase) ||
			still_waits(draft, branch, parked) || !sf_hold_unpark(branch->key, &since))
			continue;
		/* in another queue it comes where it would have come */
		branch->due_at = since == DT_NOEND ? GetCurrentTimestamp() : since;
	}
}

/* Add a copy of a limit of which places are taken by states, unless it is there (NULL: no limit). */
static void
add_limit(List **limits, const SfLimit *limit)
{
	SfLimit    *copy;

	if (limit == NULL || limit->max_running == 0 || sf_limit_is_of_executions(limit))
		return;
	foreach_ptr(const SfLimit, other, *limits)
		if (other->limit_no == limit->limit_no)
			return;
	copy = palloc(sizeof(SfLimit));
	*copy = copy_limit(limit);
	*limits = lappend(*limits, copy);
}

/* Add copies of the limits of a list. */
static void
add_limits(List **limits, const List *more)
{
	ListCell   *lc;

	foreach(lc, more)
		add_limit(limits, lfirst(lc));
}

/* Order limits by kind and number: rows are locked in this order. */
static int
compare_limits(const ListCell *a, const ListCell *b)
{
	const SfLimit *x = lfirst(a);
	const SfLimit *y = lfirst(b);

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->limit_no < y->limit_no ? -1 : x->limit_no > y->limit_no;
}

/*
 * Copy the limits that may apply to the states of an execution at which its branches are, and
 * those of which the branches hold slots.
 */
static List *
limits_of_states(const SfDraft *draft)
{
	List	   *limits = NIL;
	SfGateNames names;

	add_limits(&limits, sf_limit_of_machine(draft->execution->machine_no));
	foreach_ptr(const SfBranch, branch, draft->branches)
	{
		const SfState *state = &draft->program->states[branch->state];

		if (branch->key.branch_no < 0 || !sf_limit_slot_is_of(branch) || state->type != SF_STATE_TASK)
			continue;
		sf_gate_name_resources(draft, state, &names);
		for (int i = 0; i < names.nresources; i++)
			add_limits(&limits, sf_limit_of_name(SF_LIMIT_RESOURCE, names.resources[i]));
		if (names.activity != NULL)
			add_limits(&limits, sf_limit_of_name(SF_LIMIT_ACTIVITY, names.activity));
	}
	foreach_ptr(const int64, limit_no, sf_limit_slot_limits(draft->execution->execution_no))
		add_limit(&limits, sf_limit_find(*limit_no));
	list_sort(limits, compare_limits);
	return limits;
}

/*
 * The branches of a draft's execution, which runs, are at other states than before, or at states
 * of other resources: they hold slots of the limits that apply to these, and of no others, and
 * what waits for what does not apply any more is due.  The caller has locked all of them, and writes them.
 */
void
sf_gate_move(SfDraft *draft)
{
	bool		has_map = false;

	/* holds may have been renamed with the states */
	CommandCounterIncrement();
	sf_hold_accept_changes();
	if (!SF_DEBUG_MUTATION("move_recall"))
		recall(draft);
	if (!sf_limit_may_be())
		return;
	foreach_ptr(SfLimit, limit, limits_of_states(draft))
	{
		if (!limit->counted)
			(void) sf_limit_lock(limit->limit_no);
		foreach_ptr(SfBranch, branch, draft->branches)
		{
			CHECK_FOR_INTERRUPTS();
			if (branch->key.branch_no >= 0 && sf_limit_slot_is_of(branch))
				settle_slot(limit, draft, branch);
		}
	}
	foreach_ptr(SfBranch, join, draft->branches)
		has_map = has_map || join->map_run_no != 0;
	if (has_map)
		sf_apply_release_children(draft->execution->execution_no);
}

/* --- the limits of a definition --- */

/* Take a number out of a list. */
static List *
without(List *numbers, int64 number)
{
	ListCell   *lc;

	foreach(lc, numbers)
		if (*(int64 *) lfirst(lc) == number)
			return list_delete_cell(numbers, lc);
	return numbers;
}

/* Set the limits that the new definition of a machine has, and drop those that only its last one had. */
void
sf_gate_set_defined_limits(int machine_no, const char *machine, const SfProgram *program)
{
	List	   *before = sf_limit_may_be() ? sf_limit_defined(machine_no) : NIL;

	for (int i = 0; i < program->nstates; i++)
	{
		const SfState *state = &program->states[i];
		SfLimit		limit = {.kind = SF_LIMIT_MACHINE,.machine_no = machine_no,.name = machine};

		if (state->type != SF_STATE_TASK || sf_state_task(state)->max_concurrency == 0)
			continue;
		limit.state = state->name;
		limit.key = sf_state_task(state)->concurrency_key == NULL ? "" :
			sf_state_task(state)->concurrency_key;
		limit.in_definition = true;
		limit.max_running = sf_state_task(state)->max_concurrency;
		limit.per = USECS_PER_SEC;
		before = without(before, set_limit(&limit));
	}
	sf_apply_drop_limits(before);
}
