/*
 * hold_gate.c
 *		Whether a step may begin, or waits for the end of a hold.
 */
#include "postgres.h"

#include "utils/acl.h"

#include "base/time/timing.h"
#include "feature/hold/hold.h"
#include "run/apply/apply.h"
#include "run/gate/gate.h"

/* Is an execution the one that is held, or within a Distributed Map of it? */
static bool
is_within(const SfExecution *execution, int64 execution_no)
{
	while (execution->execution_no != execution_no)
	{
		if (!sf_execution_is_of_item(execution))
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
	return (hold->state == NULL || strcmp(hold->state, state->name) == 0) &&
		(hold->kind == SF_OBJECT_STATE_MACHINE || is_within(execution, hold->execution_no));
}

/* Is a hold of a resource for the machines of an owner? */
static bool
is_for(const SfHold *hold, Oid owner)
{
	return !OidIsValid(hold->for_owner) || has_privs_of_role(hold->for_owner, owner);
}

/* Find the hold of a resource that the machines of an owner have to wait for, or SF_NO_HOLD. */
static int64
find_of_resource(const char *name, Oid owner)
{
	foreach_ptr(const SfHold, hold, sf_hold_of_name(SF_OBJECT_RESOURCE, name))
	{
		if (is_for(hold, owner))
			return hold->hold_no;
	}
	return SF_NO_HOLD;
}

/*
 * Find the hold that a branch has to wait for, or SF_NO_HOLD.  Tasks of an activity wait in
 * its queue, and what a schedule starts in sf_hold_scheduled.
 */
static int64
find_hold(const SfDraft *draft, const SfBranch *branch)
{
	const SfExecution *execution = draft->execution;
	const SfState *state = &draft->program->states[branch->state];
	SfGateNames names;
	int64		hold_no = SF_NO_HOLD;

	foreach_ptr(const SfHold, hold, sf_hold_of_machine(execution->machine_no))
	{
		if (applies(hold, execution, state))
			return hold->hold_no;
	}
	if (state->type != SF_STATE_TASK || !sf_keyed_cache_is_any(&sf_hold_cache))
		return SF_NO_HOLD;
	sf_gate_name_resources(draft->execution->owner, state, &names);
	for (int i = 0; i < names.nresources && hold_no == SF_NO_HOLD; i++)
		hold_no = find_of_resource(names.resources[i], execution->owner);
	return hold_no;
}

/* Have a branch that is about to begin a step wait for the end of a hold, if there is one. */
SfGateVerdict
sf_hold_admit(SfDraft *draft, SfBranch *branch, SfError *error)
{
	int64		hold_no;
	int64		shared = SF_NO_HOLD;

	while (sf_keyed_cache_may_be(&sf_hold_cache))
	{
		hold_no = find_hold(draft, branch);
		if (hold_no == SF_NO_HOLD)
			return SF_GATE_OPEN;
		if (hold_no != shared &&
			(!sf_hold_share(hold_no) ||
			 !sf_machine_share_waits(draft->execution->machine_no, draft->execution->owner)))
		{
			(void) sf_gate_put_off(draft, branch, SF_RELEASE_RECHECK_MS);
			return SF_GATE_HOLD_CHANGES;
		}
		/* it may have been released before: look once more if something has changed */
		if (hold_no == shared || sf_hold_is_current)
		{
			sf_park_for_object(branch, "hold", hold_no);
			sf_draft_add_branch(draft, branch);
			return SF_GATE_HELD;
		}
		shared = hold_no;
	}
	return SF_GATE_OPEN;
}

/* Tell whether the hold that a branch waits for holds it where it is; one of a schedule holds what that has started. */
SfParking
sf_hold_still_parks(const SfDraft *draft, const SfBranch *branch, const SfParked *parked)
{
	const SfState *state = &draft->program->states[branch->state];
	const SfHold *hold = sf_hold_by_number(sf_parked_object_no(parked));
	SfGateNames names;

	if (hold == NULL)
		return SF_PARKING_GONE;
	if (hold->kind == SF_OBJECT_SCHEDULE)
		return SF_PARKING_APPLIES;
	if (hold->kind != SF_OBJECT_RESOURCE)
		return hold->machine_no == draft->execution->machine_no &&
			applies(hold, draft->execution, state) ? SF_PARKING_APPLIES : SF_PARKING_OVER;
	if (state->type != SF_STATE_TASK || !is_for(hold, draft->execution->owner))
		return SF_PARKING_OVER;
	sf_gate_name_resources(draft->execution->owner, state, &names);
	for (int i = 0; i < names.nresources; i++)
		if (strcmp(names.resources[i], hold->name) == 0)
			return SF_PARKING_APPLIES;
	return SF_PARKING_OVER;
}

/*
 * Have an execution that a schedule has started in this transaction wait, if the schedule
 * is held.
 */
void
sf_hold_scheduled(const char *schedule, const char *execution_id)
{
	const SfHold *hold = sf_hold_of(SF_OBJECT_SCHEDULE, schedule);
	int64		hold_no = hold == NULL ? SF_NO_HOLD : hold->hold_no;
	SfExecution *execution;
	SfBranch   *root;

	if (hold_no == SF_NO_HOLD || !sf_hold_share(hold_no))
		return;
	hold = sf_hold_of(SF_OBJECT_SCHEDULE, schedule);
	if (hold == NULL || hold->hold_no != hold_no)
		return;
	execution = sf_execution_find(execution_id, SF_LOCK_NONE);
	if (execution == NULL || execution->status != SF_STATUS_RUNNING ||
		execution->started_at != DT_NOBEGIN)
		return;
	root = sf_branch_read((SfBranchKey) {execution->execution_no, SF_BRANCH_ROOT}, SF_LOCK_SKIP);
	if (root == NULL || root->phase != SF_PHASE_ENTER || sf_branch_is_parked(root))
		return;
	sf_park_for_object(root, "hold", hold_no);
	sf_apply_branch(root);
}
