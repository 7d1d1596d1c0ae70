/*
 * gate_adopt.c
 *		What runs already when a limit is set: it goes on, and has slots of the limit.
 *
 * It may have more slots than the limit allows (SfLimit.highest).  What a transaction has
 * begun that is open at this moment is not seen yet.  So the looks at all that is due give
 * slots to what has none, until those transactions have ended (SfLimit.counted).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "access/xact.h"
#include "base/timing.h"
#include "run/gate.h"
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
	branch = whole ? sf_branch_make(key.execution_no, execution->owner, SF_BRANCH_ROOT) :
		sf_branch_read(key, SF_LOCK_NONE);
	if (branch != NULL && sf_gate_find_queue(&a->limit, sf_draft_make(execution), branch, &queue))
		adopt(a, queue, key.execution_no, whole ? SF_SLOT_EXECUTION : key.branch_no);
}

/*
 * Give slots of a limit, of the copy of the table, to what runs and has none: those that are free,
 * and further ones with numbers above one (0: others take none yet).
 */
static void
adopt_all(const SfLimit *limit, int above)
{
	HASHCTL		control = {.keysize = sizeof(int64),.entrysize = sizeof(Given),.hcxt = CurrentMemoryContext};
	Adoption	a = {.limit = *limit,.above = above};
	List	   *keys = sf_limit_running(limit);
	SfError		error;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "sfflow adoption",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	ListCell   *lc;

	/* the copy of the table may be read anew meanwhile */
	if (a.limit.key[0] != '\0')
		a.limit.key_path = sf_expr_compile(pstrdup(a.limit.key), SF_EXPR_PATH | SF_EXPR_INPUT, &error);
	a.limit.name = pstrdup(a.limit.name);
	a.limit.state = pstrdup(a.limit.state);
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
	if (alone)
		sf_limit_set_counted(limit_no);
	return alone || !recent;
}

/* With each look: count what has begun without a limit; returns when to look again, or SF_TICK_NEVER. */
SfTick
sf_gate_count_late(void)
{
	const SfLimit *all = sf_limit_all();
	List	   *numbers = NIL;
	SfTick		again = SF_TICK_NEVER;
	ListCell   *lc;

	/* an old snapshot does not show what has begun */
	if (IsolationUsesXactSnapshot())
		return again;
	for (int i = 0; i < sf_limit_count; i++)
		if (!all[i].counted)
		{
			int64	   *number = palloc(sizeof(int64));

			*number = all[i].limit_no;
			numbers = lappend(numbers, number);
		}
	foreach(lc, numbers)
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
