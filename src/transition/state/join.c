/*
 * join.c
 *		What Parallel, Map and JobNet share: children, and the join.
 *
 * Children count down those that are left when they end; the last one (or the first that
 * fails, with FailureMode ABORT) makes the branch of the state due again.
 */
#include "postgres.h"

#include "transition/state/join.h"

/* Add a child branch, due at once, in a scope of the state. */
SfBranch *
sf_join_spawn(SfStep *step, int scope, int index, Jsonb *payload,
			  int payload_event)
{
	const SfBranch *parent = step->branch;
	SfBranch   *child = sf_branch_make(parent->key.execution_no, parent->owner, SF_BRANCH_UNNUMBERED);

	child->parent_no = parent->key.branch_no;
	child->branch_index = index;
	child->scope = scope;
	child->state = step->program->scopes[scope].start;
	child->last_event = parent->last_event;
	child->due_at = step->now;
	sf_branch_carry(child, payload, payload_event);
	child->variables = parent->variables;
	child->niterations = parent->niterations;
	child->iterations = parent->iterations;
	child->item = parent->item;
	sf_step_effect(step, SF_EFFECT_SPAWN_BRANCH)->spawn_branch = child;
	return child;
}

/* May more children begin: are iterations left, and is there room? */
bool
sf_join_wants_more(const SfBranch *parent)
{
	if (sf_join_course(parent) != SF_JOIN_GOES_ON ||
		parent->next_index >= parent->total)
		return false;
	if (parent->max_concurrency != SF_UNLIMITED)
		return sf_branch_children_left(parent) < parent->max_concurrency;
	/* refill in halves, so that not every end of an iteration wakes the Map */
	return sf_branch_children_left(parent) <= SF_MAP_WINDOW / 2;
}

/*
 * Is a parent in phase JOIN due after some of its children have ended: to go on, to
 * abort the others, or to begin more?
 */
bool
sf_join_is_ready(const SfBranch *parent, const SfState *state)
{
	if (parent->phase != SF_PHASE_JOIN)
		return false;
	if (sf_branch_children_left(parent) == 0)
		return true;
	if (sf_join_course(parent) == SF_JOIN_FAILING && sf_join_gives_up(parent, state->failure_mode))
		return true;
	/* the jobs of a net begin when others end */
	return state->type != SF_STATE_JOBNET && sf_join_wants_more(parent);
}

/* Add ends of children to what their parent counts. */
void
sf_join_add_ends(SfBranch *parent, const SfParentDelta *delta)
{
	sf_branch_set_children_left(parent, Max(sf_branch_children_left(parent) - delta->ended, 0));
	parent->transitions = (int) Min((int64) parent->transitions + delta->transitions,
									PG_INT32_MAX);
	if (sf_delta_is_failure(delta) && sf_join_course(parent) == SF_JOIN_GOES_ON)
	{
		sf_join_set_course(parent, SF_JOIN_FAILING);
		parent->failed_event = delta->failed_event;
		sf_step_set_branch_error(parent, &delta->error);
	}
	else if (sf_delta_is_failure(delta) && sf_join_course(parent) == SF_JOIN_ABORTING &&
			 parent->failed_event == SF_NO_EVENT)
		parent->failed_event = delta->failed_event; /* what it aborts is told after it */
}

/*
 * Make a join that has to abort its children due before those that are: what has been due longest is taken first, and
 * the join has entered its state before they began.
 */
static void
come_before_children(SfBranch *parent, TimestampTz now)
{
	parent->due_at = parent->entered_at != DT_NOBEGIN ? parent->entered_at : now;
}

/* Make a parent due if the ends of children leave it something to do. */
void
sf_join_wake(SfBranch *parent, const SfState *state, TimestampTz now)
{
	if (!sf_join_is_ready(parent, state))
		return;
	if (sf_join_course(parent) == SF_JOIN_FAILING)
		come_before_children(parent, now);
	else
		parent->due_at = now;
}

/* Add ends of children to what their parent counts, and make it due if they leave it something to do. */
void
sf_join_count(SfBranch *parent, const SfParentDelta *delta, const SfState *state,
			  TimestampTz now)
{
	sf_join_add_ends(parent, delta);
	sf_join_wake(parent, state, now);
}

/*
 * Have a join fail, when the children that run have ended, with an error that a
 * further child met before it began.
 */
void
sf_join_fail(SfStep *step, SfError *error)
{
	SfBranch   *branch = step->branch;

	sf_step_prefix(step, error);
	sf_join_set_course(branch, SF_JOIN_FAILING);
	sf_step_set_branch_error(branch, error);
	branch->due_at = step->now;
}

/* The results of the children: in order, as an array, or of jobs by name. */
static Jsonb *
joined_result(const SfStep *step)
{
	const SfJoined *joined = sf_stimulus_joined(step->stimulus);
	SfJsonBuilder json;

	if (joined->kind == SF_JOINED_RESULT)
		return joined->result;
	Assert(joined->kind == SF_JOINED_OUTPUTS);
	if (step->state->type == SF_STATE_JOBNET)
		return sf_net_result(step);
	sf_json_begin_array(&json);
	for (int i = 0; i < joined->noutputs; i++)
		sf_json_add(&json, NULL, joined->outputs[i]);
	return sf_json_end(&json);
}

/* Parallel, Map, JobNet: all children have ended. */
SfStepNext
sf_join_resume(SfStep *step)
{
	SfBranch   *branch = step->branch;
	int			last_event = sf_stimulus_joined(step->stimulus)->last_event;
	SfError		error;

	if (sf_join_course(branch) == SF_JOIN_FAILING)
	{
		error = sf_step_branch_error(branch);
		if (branch->failed_event != SF_NO_EVENT)
			branch->last_event = branch->failed_event;
		step->transition->name = SF_TRANSITION_FAILED;
		return sf_join_is_uncatchable(branch) ? sf_step_fail_branch(step, &error) :
			sf_step_fail(step, &error);
	}

	(void) sf_step_effect(step, SF_EFFECT_DROP_CHILDREN);
	if (last_event != SF_NO_EVENT)
		branch->last_event = last_event;
	(void) sf_step_side_event(step,
							  sf_history_event_type_of_state(step->state->type, SF_MEANS_SUCCEEDED),
							  NULL, NULL, SF_CHAIN);
	return sf_step_succeed(step, joined_result(step));
}
