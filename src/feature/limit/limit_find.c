/*
 * limit_find.c
 *		Which limits apply to a step, and which of their slots it is to take.
 *
 * A Parallel, Map or JobNet state takes its slots with its own step.  After a redrive it
 * goes on as a join: the first step within it takes them for it.
 */
#include "postgres.h"

#include "utils/acl.h"

#include "feature/limit/limit_gate.h"
#include "feature/limit/limit_slot.h"
#include "feature/limit/limit_slot_lock.h"
#include "store/state_machine/program_cache.h"

/*
 * Does a limit of a machine apply to a state of an execution?  The executions of a Distributed Map are part of their
 * parent.
 */
static bool
applies_within(const SfLimit *limit, const SfExecution *execution, const SfState *state)
{
	if (limit->machine_no != execution->machine_no)
		return false;
	return limit->state == NULL ? !sf_execution_is_of_item(execution) :
		strcmp(limit->state, state->name) == 0;
}

/* Does a limit of a resource apply to the machines of an owner? */
static bool
is_for(const SfLimit *limit, Oid owner)
{
	return !OidIsValid(limit->for_owner) || has_privs_of_role(limit->for_owner, owner);
}

/* Does a limit of a resource or an activity apply to a state of an owner's machine? */
bool
sf_limit_is_of_task(const SfLimit *limit, Oid owner, const SfState *state)
{
	SfGateNames names;

	if (state->type != SF_STATE_TASK)
		return false;
	sf_gate_name_resources(owner, state, &names);
	if (limit->kind == SF_OBJECT_ACTIVITY)
		return names.activity != NULL && strcmp(names.activity, limit->name) == 0;
	for (int i = 0; i < names.nresources; i++)
		if (strcmp(names.resources[i], limit->name) == 0)
			return is_for(limit, owner);
	return false;
}

/* Does a limit apply to a state of an execution? */
static bool
applies(const SfLimit *limit, const SfDraft *draft, const SfState *state)
{
	return limit->kind == SF_OBJECT_STATE_MACHINE ? applies_within(limit, draft->execution, state) :
		sf_limit_is_of_task(limit, draft->execution->owner, state);
}

/* Continue a hash over bytes (FNV-1a): the same on every machine, for it is stored. */
static uint64
add_to_hash(uint64 hash, const char *bytes, int length)
{
	for (int i = 0; i < length; i++)
		hash = (hash ^ (unsigned char) bytes[i]) * UINT64CONST(1099511628211);
	return hash;
}

/* Find the queue of a limit that a value of its key belongs to; what has none shares one. */
static SfQueue
find_queue(const SfLimit *limit, Jsonb *input)
{
	SfEnv		env = {.input = input};
	SfError		error;
	Jsonb	   *value;
	JsonbValue	root;
	uint64		hash = UINT64CONST(14695981039346656037);

	if (limit->key_path != NULL && sf_expr_eval(limit->key_path, &env, &value, &error) == SF_EVAL_OK)
	{
		sf_json_root(value, &root);
		if (root.type == jbvString)
			hash = add_to_hash(add_to_hash(hash, "s", 1), root.val.string.val, root.val.string.len);
		else
		{
			char	   *text = sf_json_to_cstring(value);

			hash = add_to_hash(add_to_hash(hash, "j", 1), text, strlen(text));
		}
	}
	return (SfQueue) {limit->limit_no, (int64) hash};
}

/* The input of an execution. */
static Jsonb *
execution_input(const SfDraft *draft, const SfBranch *branch)
{
	SfExecution *full;

	if (draft->execution->input != NULL)
		return draft->execution->input;
	if (branch->key.branch_no == SF_BRANCH_ROOT && draft->execution->started_at == DT_NOBEGIN)
		return sf_branch_input(branch);
	full = sf_execution_read(draft->execution->execution_no, SF_LOCK_NONE, true);
	return full == NULL ? sf_json_null() : full->input;
}

/* The queue of a limit for a branch: the key is a path into what the execution, or the state, gets. */
static SfQueue
queue_of(const SfLimit *limit, const SfDraft *draft, const SfBranch *branch)
{
	return find_queue(limit, limit->key_path == NULL ? NULL :
					  sf_limit_is_of_executions(limit) ? execution_input(draft, branch) :
					  sf_branch_input(branch));
}

/* Find the queue of a limit for a branch; false: the limit does not apply. */
bool
sf_limit_find_queue(const SfLimit *limit, const SfDraft *draft, const SfBranch *branch,
				   SfQueue *queue)
{
	if (!applies(limit, draft, &draft->program->states[branch->state]))
		return false;
	*queue = queue_of(limit, draft, branch);
	return true;
}

/*
 * Does a branch take nothing of a limit of its state, since it has passed the gate before?  An
 * announced task draws its token when it begins, but not the writer of a Map's results.
 */
static bool
has_passed(const SfLimit *limit, const SfBranch *branch)
{
	return sf_branch_is_inside(branch) &&
		(branch->phase != SF_PHASE_ANNOUNCED || !sf_limit_has_rate(limit) || sf_branch_has_read(branch));
}

/*
 * Does the step take nothing of a limit: an execution that has its slots, or a branch that has
 * those of its state?
 */
static bool
has_already(const SfLimit *limit, const SfDraft *draft, const SfBranch *branch)
{
	if (!sf_limit_is_of_executions(limit))
		return has_passed(limit, branch);
	/* a step of it has taken them */
	if (draft->taken != NULL || branch->phase == SF_PHASE_ANNOUNCED)
		return true;
	if (draft->execution->started_at == DT_NOBEGIN)
		return false;
	/* a rate is of executions that begin */
	return !sf_limit_has_slots(limit) ||
		sf_limit_slot_has(sf_branch_key_of_execution(draft->execution->execution_no), limit->limit_no);
}

/* Add a limit to those that a step takes slots of. */
static SfStepLimit *
add_step_limit(List **found, const SfLimit *limit, SfQueue queue)
{
	SfStepLimit	   *wanted = palloc0(sizeof(SfStepLimit));

	wanted->queue = queue;
	wanted->limit = *limit;
	wanted->limit.name = pstrdup(limit->name);
	wanted->limit.state = limit->state == NULL ? NULL : pstrdup(limit->state);
	*found = lappend(*found, wanted);
	return wanted;
}

/* --- joins that go on after a redrive --- */

/* Find a branch that a draft has, or a row. */
static SfBranch *
find_branch(const SfDraft *draft, SfBranchKey key)
{
	ListCell   *lc;

	foreach(lc, draft->branches)
		if (sf_branch_key_equals(((SfBranch *) lfirst(lc))->key, key))
			return lfirst(lc);
	return sf_branch_read(key, SF_LOCK_NONE);
}

/*
 * List the joins that a branch is within, at the state of a limit, of executions that were
 * redriven: such a join goes on without a step of its own, which would have taken its slots.
 */
static List *
list_joins(const SfLimit *limit, const SfDraft *draft, const SfBranch *branch)
{
	const SfExecution *execution = draft->execution;
	const SfProgram *program = draft->program;
	List	   *joins = NIL;

	while (branch != NULL && execution != NULL)
	{
		SfBranchKey key = {branch->key.execution_no, branch->parent_no};

		if (!sf_branch_has_parent(branch))
		{
			if (!sf_execution_is_of_item(execution))
				break;
			key = (SfBranchKey) {execution->parent_execution_no, execution->parent_branch_no};
			execution = sf_execution_read(key.execution_no, SF_LOCK_NONE, false);
			/* it may have been migrated to another version */
			program = execution == NULL ? NULL :
				sf_program_cache_get(execution->machine_no, execution->version);
		}
		else if (execution->redrive_count == 0 && !sf_execution_is_of_item(execution))
			break;
		branch = branch->work.join != NULL ? branch->work.join : find_branch(draft, key);
		if (branch != NULL && branch->phase == SF_PHASE_JOIN && execution != NULL &&
			execution->redrive_count > 0 && branch->state < program->nstates &&
			strcmp(program->states[branch->state].name, limit->state) == 0)
			joins = lappend(joins, unconstify(SfBranch *, branch));
	}
	return joins;
}

/* Does a join occupy a slot of a limit, maybe one that this slice has taken? */
static bool
join_has_slot(const SfBranch *join, int64 limit_no)
{
	int			n;
	const SfXactSlot *slots = sf_limit_xact_slots(&n);

	for (int i = 0; i < n; i++)
		if (slots[i].queue.object_no == limit_no && slots[i].occupant.kind == SF_OCCUPANT_BRANCH &&
			sf_occupant_state(&slots[i].occupant) == join->state &&
			sf_branch_key_equals(sf_occupant_branch(&slots[i].occupant)->key, join->key))
			return true;
	return sf_limit_slot_has(join->key, limit_no);
}

/*
 * Have a step take the slot of a join that it is within and that has none.  *busy: another
 * transaction may be taking it.
 */
static void
want_for_joins(const SfLimit *limit, const SfDraft *draft, const SfBranch *branch, List **found,
			   bool *busy)
{
	foreach_ptr(const SfBranch, join, list_joins(limit, draft, branch))
	{
		if (join_has_slot(join, limit->limit_no))
			continue;
		if (!sf_limit_slot_lock_occupant(join->key, limit->limit_no))
			*busy = true;
		else if (!join_has_slot(join, limit->limit_no))
		{
			SfStepLimit	   *wanted = add_step_limit(found, limit, queue_of(limit, draft, join));

			wanted->join = join->key;
			wanted->limit.rate = 0; /* of what begins */
		}
	}
}

/*
 * The same of an execution that was redriven: one of its steps takes its slots.  True: this
 * one is to.
 */
static bool
is_to_take(const SfLimit *limit, const SfDraft *draft, bool *busy)
{
	int64		execution_no = draft->execution->execution_no;

	if (!sf_limit_is_of_executions(limit) || draft->execution->redrive_count == 0 ||
		!sf_limit_has_slots(limit))
		return true;
	if (!sf_limit_slot_lock_occupant(sf_branch_key_of_execution(execution_no), limit->limit_no))
		*busy = true;
	return !*busy && !sf_limit_slot_has(sf_branch_key_of_execution(execution_no), limit->limit_no);
}

/* May joins that a branch is within have to take slots of a limit of a state? */
static bool
may_be_of_joins(const SfLimit *limit, const SfDraft *draft, const SfBranch *branch)
{
	return limit->kind == SF_OBJECT_STATE_MACHINE && sf_limit_has_slots(limit) &&
		limit->machine_no == draft->execution->machine_no && branch->phase != SF_PHASE_ANNOUNCED &&
		(draft->execution->redrive_count > 0 || sf_execution_is_of_item(draft->execution));
}

/* What the search for the limits of a step knows */
typedef struct Search
{
	const SfDraft *draft;
	const SfBranch *branch;
	List	   *found;			/* SfStepLimit */
	bool	   *busy;			/* NULL: all that apply are wanted, also of a branch that has passed the gate */
} Search;

/* Add a limit that applies to a step, unless the step takes nothing of it. */
static void
want(Search *search, const SfLimit *limit)
{
	if (search->busy == NULL ||
		(!has_already(limit, search->draft, search->branch) && is_to_take(limit, search->draft, search->busy)))
		(void) add_step_limit(&search->found, limit, queue_of(limit, search->draft, search->branch));
}

/* Add a limit of a machine for the joins that a branch is within. */
static void
want_around(Search *search, const SfLimit *limit)
{
	if (limit->state == NULL)
		return;					/* of executions */
	if (search->busy == NULL)
	{
		foreach_ptr(const SfBranch, join, list_joins(limit, search->draft, search->branch))
			add_step_limit(&search->found, limit, queue_of(limit, search->draft, join))->join = join->key;
	}
	else if (may_be_of_joins(limit, search->draft, search->branch))
		want_for_joins(limit, search->draft, search->branch, &search->found, search->busy);
}

/* Add the limits of a machine and its states. */
static void
want_of_machine(Search *search, const SfState *state)
{
	foreach_ptr(const SfLimit, limit, sf_limit_of_machine(search->draft->execution->machine_no))
	{
		if (applies_within(limit, search->draft->execution, state))
			want(search, limit);
		want_around(search, limit);
	}
}

/* Add the limits of a resource or an activity that a state uses. */
static void
want_of_name(Search *search, SfObjectKind kind, const char *name)
{
	foreach_ptr(const SfLimit, limit, sf_limit_of_name(kind, name))
	{
		if (kind == SF_OBJECT_ACTIVITY || is_for(limit, search->draft->execution->owner))
			want(search, limit);
	}
}

/* Find limits of a branch where it is: those of executions, states, resources and activities in turn. */
static List *
search(Search s)
{
	const SfState *state = &s.draft->program->states[s.branch->state];
	SfGateNames names;

	want_of_machine(&s, state);
	if (state->type != SF_STATE_TASK || !sf_limit_is_any())
		return s.found;
	sf_gate_name_resources(s.draft->execution->owner, state, &names);
	for (int i = 0; i < names.nresources; i++)
		want_of_name(&s, SF_OBJECT_RESOURCE, names.resources[i]);
	if (names.activity != NULL)
		want_of_name(&s, SF_OBJECT_ACTIVITY, names.activity);
	return s.found;
}

/*
 * Find the limits that apply to the step that a branch is about to begin: a List of SfStepLimit.
 * *busy: a slot that it needs may be taken by another transaction, for it too.
 */
List *
sf_limit_find_all(const SfDraft *draft, const SfBranch *branch, bool *busy)
{
	return search((Search) {.draft = draft,.branch = branch,.busy = busy});
}

/*
 * List the queues of all limits that apply to a branch where it is, also if it has passed the gate:
 * a List of SfStepLimit, also those for joins around it.
 */
List *
sf_limit_list_queues(const SfDraft *draft, const SfBranch *branch)
{
	return search((Search) {.draft = draft,.branch = branch});
}
