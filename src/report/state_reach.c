/*
 * state_reach.c
 *		Which states the live branches of an execution can still enter.
 *
 * An "instance" is a scope within given iterations; at most one live branch is at
 * an instance.  A state can still be entered in two cases: the branch at the
 * state's own instance can go on to it; or a branch at an enclosing instance can go
 * on to the Parallel or Map state that contains it, and so visit it again.
 *
 * The definition says where a branch can go.  Which rule of a Choice or which
 * catcher will match is not known, so all of them count.  A branch that waits
 * for children, one of which has failed, cannot leave its state by Next: it
 * can use a catcher, or a retrier, which begins the state again.  If the state
 * has neither, or the branch is to abort its children, it is doomed, and so is the
 * branch that waits for it.
 *
 * A job of a net begins when others have ended: net_job_ends.c tells whether it still can.
 */
#include "postgres.h"

#include "nodes/bitmapset.h"

#include "report/report.h"
#include "report/successors.h"
#include "report/visits.h"

typedef struct InstanceEntry
{
	SfStateInstanceKey key;		/* scope, iterations */
	const SfBranch *branch;
} InstanceEntry;

typedef struct NumberEntry
{
	int64		branch_no;
	const SfBranch *branch;
	bool		doomed;			/* JOIN: will fail */
	const SfBranch **jobs;		/* JOIN of a JobNet: by number */
	SfNetJobEnds *ends;			/* ... and what can become of them, once it was asked */
} NumberEntry;

/* States after a state, found when first asked for */
typedef struct After
{
	bool		known;
	Bitmapset  *states;
} After;

struct SfStateReach
{
	const SfProgram *program;
	HTAB	   *instances;		/* InstanceEntry of live branches */
	HTAB	   *numbers;		/* NumberEntry of all branches */
	After	   *after;			/* by state: any way out */
	After	   *after_catch;	/* by state: caught first */
};

/* Tell whether a branch has not ended. */
static bool
is_live(const SfBranch *branch)
{
	return !sf_branch_has_ended(branch) && !sf_phase_is_of_execution(branch->phase);
}

/* Does a branch wait for its children, or between slices for those of a net? */
static bool
is_at_join(const SfBranch *branch)
{
	return SF_IS_ONE_OF(branch->phase, SF_PHASES_WITH_CHILDREN);
}

/* Tell whether a branch whose children failed can be retried or caught. */
static bool
can_recover(const SfProgram *program, const SfBranch *branch)
{
	const SfState *state = &program->states[branch->state];

	return !(is_at_join(branch) &&
			 (sf_join_course(branch) == SF_JOIN_ABORTING || sf_join_is_uncatchable(branch))) &&
		(state->ncatchers > 0 || state->nretriers > 0);
}

/* Doom a branch whose children failed, and the branches that wait for it. */
static void
doom(SfStateReach *reach, int64 branch_no)
{
	NumberEntry *entry;

	while ((entry = hash_search(reach->numbers, &branch_no, HASH_FIND, NULL)) != NULL)
	{
		if (entry->doomed)
			return;
		entry->doomed = true;
		if (can_recover(reach->program, entry->branch))
			return;
		branch_no = entry->branch->parent_no;
	}
}

/* The net that the states of a scope are a job of; NULL: they are none. */
static const SfState *
net_around(const SfProgram *program, int scope)
{
	int			owner = program->scopes[scope].owner_state;

	return owner == SF_NO_STATE || program->states[owner].type != SF_STATE_JOBNET ? NULL :
		&program->states[owner];
}

/* Note a branch that is a job in the entry of its net. */
static void
enter_job(SfStateReach *reach, const SfBranch *branch)
{
	const SfState *net = net_around(reach->program, branch->scope);
	NumberEntry *entry;

	if (net == NULL || !sf_branch_has_parent(branch))
		return;
	entry = hash_search(reach->numbers, &branch->parent_no, HASH_FIND, NULL);
	if (entry == NULL)
		return;
	if (entry->jobs == NULL)
		entry->jobs = palloc0(sizeof(SfBranch *) * sf_state_net(net)->njobs);
	entry->jobs[branch->branch_index] = branch;
}

/* Enter all branches by number and the live ones by instance. */
static void
enter_branches(SfStateReach *reach, List *branches)
{
	foreach_ptr(const SfBranch, branch, branches)
	{
		NumberEntry *number;

		if (!sf_program_has_state(reach->program, branch->state))
			continue;
		number = hash_search(reach->numbers, &branch->branch_no, HASH_ENTER, NULL);
		number->branch = branch;
		number->doomed = false;
		number->jobs = NULL;
		number->ends = NULL;
		if (is_live(branch) && !sf_branch_is_job_to_come(branch))
		{
			SfStateInstanceKey key = {branch->scope, branch->niterations, branch->iterations};
			InstanceEntry *instance = hash_search(reach->instances, &key, HASH_ENTER, NULL);

			instance->branch = branch;
		}
	}
	foreach_ptr(const SfBranch, branch, branches)
	{
		if (sf_program_has_state(reach->program, branch->state) && is_at_join(branch) &&
			sf_join_course(branch) != SF_JOIN_GOES_ON)
			doom(reach, branch->branch_no);
		enter_job(reach, branch);
	}
}

/*
 * Collect the branches of an execution, a List of SfBranch, by number
 * and by instance.
 */
SfStateReach *
sf_reach_make(const SfExecutionHead *execution, const SfProgram *program,
			  List *branches)
{
	SfStateReach *reach = palloc0(sizeof(SfStateReach));
	HASHCTL		control = {0};

	reach->program = program;
	reach->instances = sf_visits_hash("sfflow instances", sizeof(InstanceEntry),
									  CurrentMemoryContext);
	control.keysize = sizeof(int64);
	control.entrysize = sizeof(NumberEntry);
	control.hcxt = CurrentMemoryContext;
	reach->numbers = hash_create("sfflow branches", 256, &control,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	reach->after = palloc0(sizeof(After) * program->nstates);
	reach->after_catch = palloc0(sizeof(After) * program->nstates);
	if (execution->status == SF_STATUS_RUNNING)
		enter_branches(reach, branches);
	return reach;
}

/* Tell whether target follows a state, one of the ways. */
static bool
follows(SfStateReach *reach, int state, int target, int ways)
{
	After	   *after = ways == SF_WAY_ALL ?
		&reach->after[state] : &reach->after_catch[state];

	if (!after->known)
	{
		after->states = sf_successors_after(reach->program, state, ways);
		after->known = true;
	}
	return bms_is_member(target, after->states);
}

/* Tell whether a live branch will enter a state of its scope (again). */
static bool
branch_comes_to(SfStateReach *reach, const SfBranch *branch, int target)
{
	const SfState *state = &reach->program->states[branch->state];
	bool		joins = is_at_join(branch);
	NumberEntry *number;

	if (!joins && SF_IS_ONE_OF(branch->phase, SF_PHASE_ENTER, SF_PHASE_RUN, SF_PHASE_MAP_WRITE))
		return branch->state == target ||
			follows(reach, branch->state, target, SF_WAY_ALL);
	if (!joins)
		return follows(reach, branch->state, target, SF_WAY_ALL);
	number = hash_search(reach->numbers, &branch->branch_no, HASH_FIND, NULL);
	if (number == NULL || !number->doomed)
		return follows(reach, branch->state, target, SF_WAY_ALL);
	if (!can_recover(reach->program, branch))
		return false;
	if (state->nretriers > 0)
		return branch->state == target ||
			follows(reach, branch->state, target, SF_WAY_ALL);
	return follows(reach, branch->state, target, SF_WAY_CATCH);
}

/* Tell whether a job of a net, at which a live branch stands, can still begin. */
static bool
job_can_begin(SfStateReach *reach, const SfState *net, int job, const SfBranch *join)
{
	NumberEntry *entry = hash_search(reach->numbers, &join->branch_no, HASH_FIND, NULL);

	if (join->state != net->number || !is_at_join(join) || entry == NULL)
		return false;
	if (entry->jobs == NULL)
		entry->jobs = palloc0(sizeof(SfBranch *) * sf_state_net(net)->njobs);
	if (entry->ends == NULL)
		entry->ends = sf_ends_find(sf_state_net(net), entry->jobs,
								   sf_join_gives_up(join, net->failure_mode));
	return entry->ends[job].can_begin;
}

/* Tell whether a state of a job can be entered because the job can still begin. */
static bool
job_comes_to(SfStateReach *reach, int scope, const int *iterations, int niterations)
{
	const SfState *net = net_around(reach->program, scope);
	SfStateInstanceKey key = {net == NULL ? SF_NO_SCOPE : net->scope, niterations, (int *) iterations};
	const InstanceEntry *instance;

	if (net == NULL)
		return false;
	instance = hash_search(reach->instances, &key, HASH_FIND, NULL);
	return instance != NULL &&
		job_can_begin(reach, net, reach->program->scopes[scope].branch_index, instance->branch);
}

/* Tell whether a state can still be entered within iterations. */
bool
sf_reach_test(SfStateReach *reach, int state, const int *iterations,
			  int niterations)
{
	while (state != SF_NO_STATE)
	{
		int			scope = reach->program->states[state].scope;
		SfStateInstanceKey key = {scope, niterations, (int *) iterations};
		InstanceEntry *instance = hash_search(reach->instances, &key, HASH_FIND, NULL);

		if (instance != NULL && branch_comes_to(reach, instance->branch, state))
			return true;
		if (instance == NULL && job_comes_to(reach, scope, iterations, niterations))
			return true;
		state = reach->program->scopes[scope].owner_state;
		if (state != SF_NO_STATE && sf_state_is_distributed(&reach->program->states[state]))
			return false;		/* this is an item execution of it */
		if (state != SF_NO_STATE && reach->program->states[state].type == SF_STATE_MAP)
			niterations--;
	}
	return false;
}
