/*
 * limit_count.c
 *		What runs already when it comes under a limit, since that is set or the execution is
 *		migrated to another version: it goes on, and has slots of the limit.
 *
 * It may have more slots than the limit allows (SfLimit.highest).  What a transaction has
 * begun that is open at this moment is not seen yet.  So the scans for everything due give
 * slots to what has none, until those transactions have ended (SfLimit.counted).  The last of
 * these scans also releases the slots of what has been migrated meanwhile.
 *
 * A migration gives slots itself, in its transaction.  While a limit is not counted it locks the row
 * of the limit, as the scans do: they would count by where a branch was before
 * (test/model/gate.pml).
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/time/timing.h"
#include "feature/limit/limit_gate.h"
#include "feature/limit/limit_slot.h"
#include "run/apply/apply.h"
#include "store/state_machine/machine.h"
#include "store/state_machine/program_cache.h"

/*
 * Transactions that were open when a limit was set: scans come after SF_COUNT_PAUSE_MS, for so
 * long; then with each poll, what they began is counted as it commits, for so long; then when
 * all have ended
 */
#define COUNT_MS				50
#define COUNT_SOON_MS			10000
#define COUNT_POLLS_MS			600000

/* Which slots of a queue have been given */
typedef struct Given
{
	int64		hash;			/* key of the hash table */
	int			count;			/* where others have none */
	SfUncountedSlots slots;		/* where they have some */
} Given;

/* A limit that is set, and what has slots of it so far */
typedef struct Count
{
	SfLimit		limit;
	MemoryContext context;		/* of what is known of queues */
	HTAB	   *given;
	int			above;			/* up to which number others may have slots; 0: they have none */
	int			highest;
} Count;

/*
 * Give a branch, or an execution as a whole, a slot of its queue: where others take slots already,
 * a free one of those that the limit allows, else the next free one above them.  Which of them are
 * in use is read anew, once: the number up to which they are, of the cache, may be
 * older than what others have taken under an earlier limit.
 */
static void
give_slot(Count *count, SfQueue queue, SfBranchKey occupant)
{
	bool		found;
	Given	   *given = hash_search(count->given, &queue.hash, HASH_ENTER, &found);
	MemoryContext old = MemoryContextSwitchTo(count->context);
	int			slot;

	if (!found)
	{
		given->count = 0;
		given->slots = count->above > 0 ? sf_limit_slots_uncounted(queue) : (SfUncountedSlots) {NULL, 0};
	}
	MemoryContextSwitchTo(old);
	if (count->above > 0)
		slot = sf_limit_slot_insert_uncounted(&count->limit, queue, &given->slots, occupant);
	else
	{
		slot = ++given->count;
		sf_limit_slot_insert(queue, slot, occupant);
	}
	count->highest = Max(count->highest, slot);
}

/* Give an execution a slot, or a branch of it, if the limit applies. */
static void
consider(Count *count, SfBranchKey key)
{
	bool		whole = sf_limit_is_of_executions(&count->limit);
	SfExecution *execution = sf_execution_read(key.execution_no, SF_LOCK_NONE,
											   whole && count->limit.key_path != NULL);
	SfBranch   *branch;
	SfQueue		queue;

	if (execution == NULL || execution->status != SF_STATUS_RUNNING)
		return;
	if (whole)
	{
		branch = sf_branch_make(key.execution_no, execution->owner, SF_BRANCH_ROOT);
		key = sf_branch_key_of_execution(key.execution_no);
	}
	else
		branch = sf_branch_read(key, SF_LOCK_NONE);
	/* since the list was made it may have been migrated here, or have ended */
	if (sf_limit_slot_has(key, count->limit.limit_no))
		return;
	if (branch != NULL && (whole || sf_branch_is_inside(branch)) &&
		sf_limit_find_queue(&count->limit, sf_draft_make(execution), branch, &queue))
		give_slot(count, queue, key);
}

/* Copy a limit, which is read anew into the cache when others change it. */
static SfLimit
copy_limit(const SfLimit *limit)
{
	SfLimit		copy = *limit;
	SfError		error;

	if (copy.key != NULL)
		copy.key_path = sf_expr_compile(pstrdup(copy.key), SF_EXPR_PATH | SF_EXPR_INPUT, &error);
	copy.name = pstrdup(copy.name);
	copy.state = copy.state == NULL ? NULL : pstrdup(copy.state);
	return copy;
}

/* May a state of a version use what a limit of a resource or an activity names? */
static bool
may_use(const SfLimit *limit, const SfUsedVersion *used)
{
	const SfProgram *program = sf_program_cache_try(used->machine_no, used->version);
	const SfMachineIdentity *machine = sf_machine_identity(used->machine_no);
	Oid			owner = machine == NULL ? InvalidOid : machine->owner;

	if (program == NULL || machine == NULL)
		return false;
	for (int i = 0; i < program->nstates; i++)
		if (sf_limit_is_of_task(limit, owner, &program->states[i]))
			return true;
	return false;
}

/* List the machines whose executions a limit may apply to: numbers, some of them more than once in a row. */
static List *
machines_of(const SfLimit *limit)
{
	List	   *machines = NIL;

	if (limit->kind == SF_OBJECT_STATE_MACHINE)
		return list_make1_int(limit->machine_no);
	foreach_ptr(const SfUsedVersion, used, sf_limit_used_versions(SF_ALL_MACHINES, limit->for_owner))
	{
		CHECK_FOR_INTERRUPTS();
		if ((machines == NIL || llast_int(machines) != used->machine_no) && may_use(limit, used))
			machines = lappend_int(machines, used->machine_no);
	}
	return machines;
}

/*
 * Give slots of a limit, of the cache, to what runs and has none: those that are free,
 * and further ones with numbers above one (0: others take none yet).
 */
static void
give_all(const SfLimit *limit, int above)
{
	HASHCTL		control = {.keysize = sizeof(int64),.entrysize = sizeof(Given),.hcxt = CurrentMemoryContext};
	Count		count = {.limit = copy_limit(limit),.context = CurrentMemoryContext,.above = above};
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "sfflow count",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	ListCell   *lc;

	count.given = hash_create("sfflow slots", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	foreach(lc, machines_of(&count.limit))
		foreach_ptr(const SfBranchKey, key, sf_limit_running(&count.limit, lfirst_int(lc)))
		{
			CHECK_FOR_INTERRUPTS();
			old = MemoryContextSwitchTo(scratch);
			consider(&count, *key);
			MemoryContextSwitchTo(old);
			MemoryContextReset(scratch);
		}
	hash_destroy(count.given);
	/* the cache may be older than what a session has noted meanwhile */
	if (count.highest > count.limit.max_running)
		sf_limit_raise_highest(count.limit.limit_no, count.highest);
}

/* Set a limit, in place of an earlier one of the same target and key; what runs takes slots.  Returns its number. */
static int64
set_limit(const SfLimit *limit)
{
	SfLimitWritten written = sf_limit_write(limit);
	const SfLimit *found;

	CommandCounterIncrement();
	found = written.counts_anew ? sf_limit_of_number(written.limit_no) : NULL;
	if (found != NULL)
		give_all(found, written.is_new ? 0 : found->highest);
	return written.limit_no;
}

/*
 * Give back the slots of a limit that branches have to which it does not apply any more; false:
 * some of them are left, since other sessions work on them.  To wait for these, with what the
 * transaction has locked, might be a deadlock.
 */
static bool
release_migrated(const SfLimit *limit)
{
	SfLimit		copy = copy_limit(limit);
	bool		all = true;

	if (sf_limit_is_of_executions(limit))
		return true;
	foreach_ptr(const SfSlotRow, row, sf_limit_slot_branches(limit->limit_no))
	{
		SfBranchKey key = row->occupant;
		SfExecution *execution = sf_execution_read(key.execution_no, SF_LOCK_NONE, false);
		SfBranch   *branch = execution == NULL ? NULL : sf_branch_read(key, SF_LOCK_NONE);
		SfQueue		queue;

		CHECK_FOR_INTERRUPTS();
		if (branch != NULL && sf_branch_is_inside(branch) &&
			!sf_limit_find_queue(&copy, sf_draft_make(execution), branch, &queue) &&
			!sf_limit_slot_try_release(row))
			all = false;
	}
	return all;
}

/*
 * What runs has come under a limit, or is not under it any more, for other reasons than its own
 * steps: it has slots of the limit if, and only if, that applies.  The scans that follow count
 * what other transactions have begun.
 */
static void
count_anew(int64 limit_no)
{
	const SfLimit *limit;

	sf_limit_set_uncounted(limit_no);
	CommandCounterIncrement();
	limit = sf_limit_of_number(limit_no);
	if (limit == NULL || !sf_limit_has_slots(limit))
		return;
	(void) release_migrated(limit);
	limit = sf_limit_of_number(limit_no);
	if (limit != NULL)
		give_all(limit, limit->highest);
}

/* Count what has begun without a limit, as far as it can be seen; false: scan again soon. */
static bool
count_uncounted(int64 limit_no)
{
	const SfLimit *limit;
	TimestampTz now = GetCurrentTimestamp();
	SfCountStage stage = sf_limit_lock_uncounted(limit_no);
	bool		is_full_pass = stage == SF_COUNT_FIRST || stage == SF_COUNT_LAST;
	bool		recent;

	if (stage == SF_COUNT_UNTOLD)
		return true;
	limit = sf_limit_of_number(limit_no);
	if (limit == NULL || !sf_limit_has_slots(limit))
		return true;
	recent = now < TimestampTzPlusMilliseconds(limit->uncounted_at, COUNT_SOON_MS);
	/* a session that looks at it now does not come again */
	if (stage == SF_COUNT_ELSEWHERE)
		return !recent;
	/* at first for the slices that are under way, which end soon; then for long transactions */
	if (is_full_pass || (!recent && now < TimestampTzPlusMilliseconds(limit->uncounted_at, COUNT_POLLS_MS)))
		give_all(limit, limit->highest);
	limit = is_full_pass ? sf_limit_of_number(limit_no) : NULL;
	if (limit != NULL && !release_migrated(limit) && stage == SF_COUNT_LAST)
		stage = SF_COUNT_BETWEEN;
	if (limit != NULL && stage == SF_COUNT_LAST)
	{
		/* also what was taken of an earlier limit by those who had not heard of this one */
		sf_limit_raise_highest(limit_no, sf_limit_slot_highest(limit_no));
		sf_limit_set_counted(limit_no);
	}
	return stage == SF_COUNT_LAST || (stage == SF_COUNT_BETWEEN && !recent);
}

/*
 * With each scan for everything due: count what has begun without a limit; returns when to scan again, or
 * SF_TICK_NEVER.
 * One that sets many limits has the scans take no longer for that: each goes on where the last one ended.
 */
SfTick
sf_limit_count_uncounted(void)
{
	static int64 from = 0;
	SfTick		again = SF_TICK_NEVER;
	SfTick		end = sf_tick_plus_ms(sf_tick_now(), COUNT_MS);
	ListCell   *lc;

	/* an old snapshot does not show what has begun */
	if (IsolationUsesXactSnapshot())
		return again;
	foreach(lc, sf_limit_uncounted(from))
	{
		from = *(int64 *) lfirst(lc);
		if (!count_uncounted(from))
			again = sf_tick_plus_ms(sf_tick_now(), SF_COUNT_PAUSE_MS);
		if (sf_tick_now() > end)
			return sf_tick_plus_ms(sf_tick_now(), SF_COUNT_PAUSE_MS);
	}
	return again;
}

/* Set a limit, a new one or one that is there. */
void
sf_limit_set(const SfLimit *limit)
{
	(void) set_limit(limit);
}

/* --- migrations --- */

/* Give a branch that is inside of a state a slot of a limit, above those that it allows if none of them is free. */
static void
give_any_slot(const SfLimit *limit, SfQueue queue, SfBranchKey key)
{
	int			highest;
	int			slot;

	if (sf_limit_slot_insert_free(limit, queue, key))
		return;
	highest = sf_limit_lock(limit->limit_no);
	if (highest < 0)
		return;
	slot = sf_limit_slot_insert_above(limit, queue, key);
	if (slot > highest && !SF_DEBUG_MUTATION("move_highest"))
		sf_limit_raise_highest(limit->limit_no, slot);
}

/* Have a branch that is inside of a state occupy a slot of a limit if, and only if, it applies to that. */
static void
reconcile_slot(const SfLimit *limit, const SfDraft *draft, const SfBranch *branch)
{
	SfBranchKey key = branch->key;
	bool		has = sf_limit_slot_has(key, limit->limit_no);
	SfQueue		queue;

	if (!sf_limit_find_queue(limit, draft, branch, &queue))
	{
		if (has && !SF_DEBUG_MUTATION("move_give"))
			sf_limit_slot_release_one(key, limit->limit_no);
	}
	else if (!has && !SF_DEBUG_MUTATION("move_slot"))
		give_any_slot(limit, queue, key);
}

/* Add a copy of a limit of which slots are taken by states, unless it is there (NULL: no limit). */
static void
add_limit(List **limits, const SfLimit *limit)
{
	SfLimit    *copy;

	if (limit == NULL || !sf_limit_has_slots(limit) || sf_limit_is_of_executions(limit))
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

/* Add copies of the limits of what a Task state of an owner's machine uses. */
static void
add_named(List **limits, Oid owner, const SfState *state)
{
	SfGateNames names;

	sf_gate_name_resources(owner, state, &names);
	for (int i = 0; i < names.nresources; i++)
		add_limits(limits, sf_limit_of_name(SF_OBJECT_RESOURCE, names.resources[i]));
	if (names.activity != NULL)
		add_limits(limits, sf_limit_of_name(SF_OBJECT_ACTIVITY, names.activity));
}

/* Order limits by number: all who lock rows of several lock them in this order. */
static int
compare_limits(const ListCell *a, const ListCell *b)
{
	const SfLimit *x = lfirst(a);
	const SfLimit *y = lfirst(b);

	return x->limit_no < y->limit_no ? -1 : x->limit_no > y->limit_no;
}

/*
 * Copy the limits that may apply to the states of an execution at which its branches are, and
 * those of which the branches occupy slots.
 */
static List *
limits_of_states(const SfDraft *draft)
{
	List	   *limits = NIL;

	add_limits(&limits, sf_limit_of_machine(draft->execution->machine_no));
	foreach_ptr(const SfBranch, branch, draft->branches)
	{
		const SfState *state = &draft->program->states[branch->state];

		if (!sf_phase_is_of_execution(branch->phase) && sf_branch_is_inside(branch) && state->type == SF_STATE_TASK)
			add_named(&limits, draft->execution->owner, state);
	}
	foreach_ptr(const int64, limit_no, sf_limit_slot_limits(draft->execution->execution_no))
		add_limit(&limits, sf_limit_of_number(*limit_no));
	list_sort(limits, compare_limits);
	return limits;
}

/*
 * The branches of a draft's execution are at other states than before, or at states of other resources: they occupy
 * slots of the limits that apply to these, and of no others.
 */
void
sf_limit_states_changed(SfDraft *draft)
{
	bool		has_map = false;

	if (!sf_limit_may_be())
		return;
	foreach_ptr(SfLimit, limit, limits_of_states(draft))
	{
		if (!limit->counted)
			(void) sf_limit_lock(limit->limit_no);
		foreach_ptr(SfBranch, branch, draft->branches)
		{
			CHECK_FOR_INTERRUPTS();
			if (!sf_phase_is_of_execution(branch->phase) && sf_branch_is_inside(branch))
				reconcile_slot(limit, draft, branch);
		}
	}
	foreach_ptr(SfBranch, join, draft->branches)
		has_map = has_map || sf_branch_has_map_run(join);
	if (has_map)
		sf_apply_unpark_items(draft->execution->execution_no);
}

/* Add copies of the limits of resources and activities that may apply to a state of a version. */
static void
add_used(List **limits, const SfUsedVersion *used)
{
	const SfProgram *program = sf_program_cache_try(used->machine_no, used->version);
	const SfMachineIdentity *machine = sf_machine_identity(used->machine_no);
	Oid			owner = machine == NULL ? InvalidOid : machine->owner;

	for (int i = 0; program != NULL && machine != NULL && i < program->nstates; i++)
		if (program->states[i].type == SF_STATE_TASK)
			add_named(limits, owner, &program->states[i]);
}

/*
 * A machine (or SF_ALL_MACHINES) has another owner, or other mappings have those with whose owners' rights a role
 * acts (InvalidOid: all): what runs of them has slots of the limits that apply now, and of no others.
 */
void
sf_limit_uses_changed(int machine_no, Oid owner)
{
	List	   *limits = NIL;
	int			last = 0;

	if (!sf_limit_may_be())
		return;
	foreach_ptr(const SfUsedVersion, used, sf_limit_used_versions(machine_no, owner))
	{
		CHECK_FOR_INTERRUPTS();
		if (used->machine_no != last)
			foreach_ptr(const int64, limit_no, sf_limit_slots_of_machine(used->machine_no))
				add_limit(&limits, sf_limit_of_number(*limit_no));
		last = used->machine_no;
		add_used(&limits, used);
	}
	list_sort(limits, compare_limits);
	foreach_ptr(const SfLimit, limit, limits)
		if (limit->kind != SF_OBJECT_STATE_MACHINE)
			count_anew(limit->limit_no);
}

/* Executions have come from another node: what runs of them has slots of the limits here. */
void
sf_limit_count_arrived(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT l.limit_no FROM _sfflow.run_limit l WHERE l.max_running IS NOT NULL ORDER BY l.limit_no");

	if (!sf_limit_may_be())
		return;
	foreach_ptr(const int64, limit_no, sf_db_numbers(&plan, SF_INT4(0)))
		count_anew(*limit_no);
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
sf_limit_set_defined(int machine_no, const char *machine, const SfProgram *program)
{
	List	   *before = sf_limit_may_be() ? sf_limit_lock_defined(machine_no) : NIL;

	for (int i = 0; i < program->nstates; i++)
	{
		const SfState *state = &program->states[i];
		SfLimit		limit = {.kind = SF_OBJECT_STATE_MACHINE,.machine_no = machine_no,.in_definition = true};

		if (state->type != SF_STATE_TASK || sf_state_task(state)->max_concurrency == SF_UNLIMITED)
			continue;
		limit.name = pstrdup(machine);
		limit.state = pstrdup(state->name);
		if (sf_state_task(state)->concurrency_key != NULL)
			limit.key = pstrdup(sf_state_task(state)->concurrency_key);
		limit.max_running = sf_state_task(state)->max_concurrency;
		before = without(before, set_limit(&limit));
	}
	sf_limit_delete_numbers(before);
}
