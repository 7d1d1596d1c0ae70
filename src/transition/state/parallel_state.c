/*
 * parallel_state.c
 *		Parallel: entering spawns a child branch a scope and puts the state's branch into
 *		phase JOIN.  The rest is the join, which it shares with Map and JobNet (join.c).
 */
#include "postgres.h"

#include "transition/state/join.h"

/* Parallel: begin all branches. */
SfStepNext
sf_parallel_enter(SfStep *step)
{
	const SfState *state = step->state;
	Jsonb	   *payload;
	int			payload_event;
	SfError		error;

	if (!sf_flow_input(step, &error) ||
		!sf_flow_parameters(step, &payload, &error))
		return sf_step_fail(step, &error);

	sf_step_event(step, SF_HISTORY_EVENT_PARALLEL_STATE_STARTED, NULL, NULL);
	payload_event = payload == sf_branch_input(step->branch) ?
		step->branch->payload_event : SF_NO_EVENT;
	for (int i = 0; i < state->nscopes; i++)
		(void) sf_join_spawn(step, state->scopes[i], i, payload, payload_event);

	step->branch->phase = SF_PHASE_JOIN;
	step->branch->due_at = DT_NOEND;
	sf_branch_set_children_left(step->branch, state->nscopes);
	step->branch->total = step->branch->next_index = state->nscopes;
	step->transition->name = SF_TRANSITION_STARTED;
	return SF_STEP_REST;
}
