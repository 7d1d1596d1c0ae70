/*
 * gate_holds.c
 *		Which holds apply to a step.
 */
#include "postgres.h"

#include "utils/acl.h"

#include "run/gate.h"
#include "store/hold.h"

/* Is an execution the one that is held, or within a Distributed Map of it? */
static bool
is_within(const SfExecution *execution, int64 execution_no)
{
	while (execution->execution_no != execution_no)
	{
		if (execution->map_run_no == 0)
			return false;
		execution = sf_execution_read(execution->parent_execution_no, SF_LOCK_NONE, false);
		if (execution == NULL)
			return false;
	}
	return true;
}

/* Does a hold of a machine, or of an execution of it, hold a state of an execution? */
static bool
applies(const SfHold *hold, const SfExecution *execution, const SfState *state)
{
	return (hold->state[0] == '\0' || strcmp(hold->state, state->name) == 0) &&
		(hold->kind == SF_HOLD_MACHINE || is_within(execution, hold->execution_no));
}

/* Is a hold of a resource for the machines of an owner? */
static bool
is_for(const SfHold *hold, Oid owner)
{
	return !OidIsValid(hold->owner) || has_privs_of_role(hold->owner, owner);
}

/* Find the hold of a resource that the machines of an owner have to wait for; 0: there is none. */
static int64
find_of_resource(const char *name, Oid owner)
{
	ListCell   *lc;

	foreach(lc, sf_hold_of_name(SF_HOLD_RESOURCE, name))
	{
		const SfHold *hold = lfirst(lc);

		if (is_for(hold, owner))
			return hold->hold_no;
	}
	return 0;
}

/*
 * Find the hold that a branch has to wait for; 0: there is none.  Tasks of an activity wait in
 * its queue, and what a schedule starts in sf_gate_park_start.
 */
int64
sf_gate_find_hold(const SfDraft *draft, const SfBranch *branch)
{
	const SfExecution *execution = draft->execution;
	const SfState *state = &draft->program->states[branch->state];
	SfGateNames names;
	int64		hold_no = 0;
	ListCell   *lc;

	foreach(lc, sf_hold_of_machine(execution->machine_no))
	{
		const SfHold *hold = lfirst(lc);

		if (applies(hold, execution, state))
			return hold->hold_no;
	}
	if (state->type != SF_STATE_TASK || !sf_keyed_copy_is_any(&sf_hold_copy))
		return 0;
	sf_gate_name_resources(draft, state, &names);
	for (int i = 0; i < names.nresources && hold_no == 0; i++)
		hold_no = find_of_resource(names.resources[i], execution->owner);
	return hold_no;
}

/* Tell whether a hold holds a branch where it is; one of a schedule holds what that has started. */
bool
sf_gate_is_held_by(const SfDraft *draft, const SfBranch *branch, int64 hold_no)
{
	const SfState *state = &draft->program->states[branch->state];
	const SfHold *hold = sf_hold_by_number(hold_no);
	SfGateNames names;

	if (hold == NULL || hold->kind == SF_HOLD_SCHEDULE)
		return hold != NULL;
	if (hold->kind != SF_HOLD_RESOURCE)
		return hold->machine_no == draft->execution->machine_no &&
			applies(hold, draft->execution, state);
	if (state->type != SF_STATE_TASK || !is_for(hold, draft->execution->owner))
		return false;
	sf_gate_name_resources(draft, state, &names);
	for (int i = 0; i < names.nresources; i++)
		if (strcmp(names.resources[i], hold->name) == 0)
			return true;
	return false;
}
