/*
 * step.c
 *		One transition of a branch: enter a state, resume it, leave it.
 *
 * sf_transition() calls the state handlers (one file per type), which come back
 * through sf_step_exit(), sf_step_fail() or a resting place.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "machine/map_state.h"

/* Tell whether a history level keeps an event. */
static bool
history_keeps(SfHistoryLevel level, SfEventType type)
{
	if (level == SF_HISTORY_ALL)
		return true;
	if (level == SF_HISTORY_NONE)
		return false;
	return sf_event_type_is_of_execution(type) || sf_event_type_is_of_task(type);
}

/* --- effects and events --- */

/* Add an effect. */
SfEffect *
sf_step_effect(SfStep *step, SfEffectKind kind)
{
	SfTransition *t = step->transition;
	SfEffect   *effect;

	if (t->neffects == t->size)
	{
		t->size = Max(16, t->size * 2);
		t->effects = t->effects == NULL ? palloc(t->size * sizeof(SfEffect)) :
			repalloc(t->effects, t->size * sizeof(SfEffect));
	}
	effect = &t->effects[t->neffects++];
	effect->kind = kind;
	return effect;
}

/* Tell whether something that a transition needs is loaded. */
bool
sf_step_has(SfStep *step, uint32 need)
{
	if ((step->loaded->has & need) != 0)
		return true;
	step->transition->needs |= need;
	return false;
}

/* Two documents with the same bytes. */
static bool
same_document(const Jsonb *a, const Jsonb *b)
{
	return a == b ||
		(VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0);
}

/* The event that holds a payload already, 0 when none does. */
static int
event_holding(const SfStep *step, const Jsonb *payload)
{
	const SfBranch *branch = step->branch;

	for (int i = 0; i < step->nheld; i++)
		if (same_document(step->held[i].payload, payload))
			return step->held[i].event;
	if (branch->payload_event != 0 && branch->payload != NULL &&
		same_document(branch->payload, payload))
		return branch->payload_event;
	return 0;
}

/* Remember that an event of this step holds a payload. */
static void
hold(SfStep *step, Jsonb *payload, int event)
{
	int			slot = step->nheld;

	if (slot == lengthof(step->held))
		slot = lengthof(step->held) - 1;
	else
		step->nheld++;
	step->held[slot].payload = payload;
	step->held[slot].event = event;
}

/* Append an event without moving the branch's chain. */
int
sf_step_side_event(SfStep *step, SfEventType type, Jsonb *payload,
				   Jsonb *extra, int previous)
{
	SfBranch   *branch = step->branch;
	SfEvent    *event;

	if (!history_keeps(step->loaded->history, type))
		return 0;
	event = palloc0(sizeof(SfEvent));
	event->type = type;
	event->id = -++step->nevents;
	event->previous_id = previous == SF_CHAIN ? branch->last_event : previous;
	event->state = step->state == NULL ? -1 : step->state->number;
	event->at = step->now;
	event->niterations = branch->niterations;
	event->iterations = branch->iterations;
	event->payload = payload;
	event->extra = extra;
	if (payload != NULL)
	{
		event->payload_from = event_holding(step, payload);
		if (event->payload_from == 0)
			hold(step, payload, event->id);
	}
	sf_step_effect(step, SF_EFFECT_APPEND_EVENT)->event = event;
	return event->id;
}

/* Append an event to the branch's chain. */
int
sf_step_event(SfStep *step, SfEventType type, Jsonb *payload, Jsonb *extra)
{
	int			id = sf_step_side_event(step, type, payload, extra, SF_CHAIN);

	if (id != 0)
		step->branch->last_event = id;
	return id;
}

/* Make the branch's payload a new document. */
static void
set_payload(SfStep *step, Jsonb *payload)
{
	SfBranch   *branch = step->branch;

	branch->payload_event = event_holding(step, payload);
	branch->payload = payload;
}

/* Show a value to the trace of a test. */
void
sf_step_trace(SfStep *step, SfTraceField field, Jsonb *value)
{
	if (step->loaded->trace != NULL)
		step->loaded->trace->values[field] = value;
}

/* Put "An error occurred while executing the state …" before a cause. */
void
sf_step_prefix(SfStep *step, SfError *error)
{
	int			id = step->branch->entered_event;

	if (!error->prefixed || error->cause == NULL || step->loaded->trace != NULL)
		return;
	if (id < 0 && sf_step_has(step, SF_NEED_EVENT_IDS))
		id = step->loaded->base_event_id - id;
	error->cause = psprintf("An error occurred while executing the state '%s'"
							" (entered at the event id #%d). %s",
							step->state->name, id, error->cause);
	error->prefixed = false;
}

/* --- entering a state --- */

/* Append the events of an execution that begins. */
void
sf_step_begin_execution(SfStep *step)
{
	const SfState *state = step->state;

	step->execution_started_at = step->now;
	sf_step_effect(step, SF_EFFECT_BEGIN_EXECUTION)->begin_execution = step->now;
	step->state = NULL;
	step->branch->payload_event = 0;
	step->branch->payload_event =
		sf_step_side_event(step, SF_EVENT_EXECUTION_STARTED,
						   step->branch->payload, NULL, 0);
	step->state = state;
}

/* Append the event of an iteration that begins. */
static void
begin_iteration(SfStep *step)
{
	const SfProgram *program = step->program;
	const SfState *state = step->state;
	int			owner = program->scopes[step->branch->scope].owner_state;

	if (owner < 0 || program->states[owner].type != SF_STATE_MAP)
		return;
	step->state = &program->states[owner];
	sf_step_event(step, SF_EVENT_MAP_ITERATION_STARTED, NULL, NULL);
	step->state = state;
}

/* Enter the branch's state: its event, and fresh counters. */
static void
enter_state(SfStep *step)
{
	SfBranch   *branch = step->branch;

	if (branch->key.branch_no == SF_BRANCH_ROOT &&
		step->execution_started_at == DT_NOBEGIN)
		sf_step_begin_execution(step);
	else if (branch->parent_no >= 0 && branch->entered_at == DT_NOBEGIN)
		begin_iteration(step);

	step->entered_previous = branch->last_event;
	branch->entered_event =
		sf_step_event(step, sf_event_type_of_state(step->state->type, SF_MEANS_ENTERED),
					  branch->payload, NULL);
	branch->payload_event = event_holding(step, branch->payload);
	branch->entered_at = step->now;
	branch->attempt = 0;
	branch->nretry_counts = 0;
	branch->retry_counts = NULL;
	branch->error = branch->cause = NULL;
	branch->result = NULL;
	branch->map_run_no = 0;
	branch->phase = SF_PHASE_RUN;
}

/* Count a transition; false with an error when there were too many. */
static bool
count_transition(SfStep *step, SfError *error)
{
	int			max = step->loaded->max_transitions;

	if (max > 0 && step->branch->transitions >= max)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The execution reached the maximum number of state transitions (%d), sfflow.max_transitions.",
							max);
	step->branch->transitions++;
	return true;
}

/* Do the work of the branch's state. */
static SfStepOutcome
run_state(SfStep *step)
{
	switch (step->state->type)
	{
		case SF_STATE_PASS:
			return sf_pass_enter(step);
		case SF_STATE_TASK:
			return sf_task_enter(step);
		case SF_STATE_CHOICE:
			return sf_choice_enter(step);
		case SF_STATE_WAIT:
			return sf_wait_enter(step);
		case SF_STATE_SUCCEED:
			return sf_succeed_enter(step);
		case SF_STATE_FAIL:
			return sf_fail_enter(step);
		case SF_STATE_PARALLEL:
			return sf_parallel_enter(step);
		case SF_STATE_MAP:
			return sf_map_enter(step);
	}
	elog(ERROR, "unknown state type %d", (int) step->state->type);
}

/* The time of a branch has come. */
static SfStepOutcome
take_due(SfStep *step)
{
	SfBranch   *branch = step->branch;
	SfError		error;

	switch (branch->phase)
	{
		case SF_PHASE_ENTER:
			enter_state(step);
			if (!count_transition(step, &error))
				return sf_step_fail(step, &error);
			return run_state(step);
		case SF_PHASE_RUN:
			return run_state(step);
		case SF_PHASE_WAIT:
			return sf_wait_resume(step);
		case SF_PHASE_JOIN:
			return sf_map_continue(step);
		default:
			elog(ERROR, "branch " INT64_FORMAT " of execution \"%s\" is due in phase %d",
				 branch->key.branch_no, step->loaded->execution->execution_id,
				 (int) branch->phase);
	}
}

/* The execution has ended: the branch rests where it is. */
static SfStepOutcome
settle(SfBranch *branch)
{
	if (branch->phase == SF_PHASE_DEADLINE || branch->phase == SF_PHASE_STOP)
		branch->gone = true;
	else if (branch->phase != SF_PHASE_ANSWERED && branch->phase != SF_PHASE_JOIN)
		branch->phase = SF_PHASE_ABORTED;
	branch->due_at = DT_NOEND;
	branch->generation++;
	return SF_STEP_ENDED;
}

/* Nothing has happened: a join waits for its children, a task for its answer. */
static SfStepOutcome
look_again(SfStep *step)
{
	const SfStimulus *stimulus = step->stimulus;

	if (stimulus->task != NULL)
		sf_step_effect(step, SF_EFFECT_UPDATE_TASK)->task_changed = stimulus->task;
	step->branch->due_at = stimulus->due;
	step->branch->aborting |= stimulus->aborting;
	return SF_STEP_REST;
}

/* Take a stimulus. */
static SfStepOutcome
take_stimulus(SfStep *step)
{
	const SfStimulus *stimulus = step->stimulus;

	switch (stimulus->kind)
	{
		case SF_STIMULUS_DUE:
			return take_due(step);
		case SF_STIMULUS_TASK:
			if (step->branch->phase == SF_PHASE_ANSWERED)
				step->branch->failing = false;
			step->branch->error = step->branch->cause = NULL;
			/* a Distributed Map has tasks, too */
			return step->state->type == SF_STATE_MAP ?
				sf_distributed_resume(step) : sf_task_resume(step);
		case SF_STIMULUS_OUTCOME:
			return sf_task_keep_outcome(step);
		case SF_STIMULUS_ANNOUNCED:
			return sf_task_announced(step);
		case SF_STIMULUS_QUEUED:
			return sf_task_queued(step);
		case SF_STIMULUS_SUBMITTED:
			return sf_task_submitted(step);
		case SF_STIMULUS_JOINED:
			return sf_join_resume(step);
		case SF_STIMULUS_NOT_YET:
			return look_again(step);
		case SF_STIMULUS_ABORTED:
			return sf_step_abort(step);
		case SF_STIMULUS_CONDEMNED:
			return sf_step_fail_branch(step, &stimulus->error);
		case SF_STIMULUS_OVER:
			return settle(step->branch);
		case SF_STIMULUS_REDRIVEN:
			return sf_step_redrive(step);
		case SF_STIMULUS_STOPPED:
		case SF_STIMULUS_ORPHANED:
		case SF_STIMULUS_TIMED_OUT:
			return sf_step_stop(step);
	}
	elog(ERROR, "unknown stimulus %d", (int) stimulus->kind);
}

/* Fill in a step without doing anything yet. */
void
sf_step_init(SfStep *step, const SfLoaded *loaded, const SfStimulus *stimulus,
			 TimestampTz now, SfTransition *t)
{
	SfBranch   *branch = &t->branch;

	memset(step, 0, sizeof(*step));
	step->loaded = loaded;
	step->program = loaded->program;
	step->transition = t;
	step->branch = branch;
	step->stimulus = stimulus;
	step->now = now;
	step->execution_started_at = loaded->execution->started_at;
	step->nevents = loaded->nevents;
	step->map_index = -1;
	step->entered_previous = SF_CHAIN;
	if (branch->key.branch_no < 0)
		return;					/* it is in no state */
	if (branch->state < 0 || branch->state >= loaded->program->nstates)
		elog(ERROR, "branch " INT64_FORMAT " of execution \"%s\" is in state %d, which its machine does not have",
			 branch->key.branch_no, loaded->execution->execution_id, branch->state);
	step->state = &loaded->program->states[branch->state];
	step->env.input = branch->payload;
	step->env.variables = branch->variables;
	step->env.make_context = sf_context_make;
	step->env.context_arg = step;
}

/* Work out what comes of a stimulus. */
void
sf_transition(const SfLoaded *loaded, const SfBranch *branch,
			  const SfStimulus *stimulus, TimestampTz now, SfTransition *t)
{
	SfStep		step;

	t->needs = 0;
	t->task = NULL;
	t->name = NULL;
	t->neffects = 0;
	t->branch = *branch;
	if (stimulus->counted)
		t->branch.pending = stimulus->pending;
	if (stimulus->generation != 0)
		t->branch.generation = stimulus->generation;
	sf_step_init(&step, loaded, stimulus, now, t);
	t->outcome = take_stimulus(&step);
}

/* What a transition of a branch needs, as far as its program tells. */
uint32
sf_transition_needs(const SfProgram *program, const SfBranch *branch,
					const SfStimulus *stimulus)
{
	const SfState *state = &program->states[branch->state];

	switch (stimulus->kind)
	{
		case SF_STIMULUS_DUE:
			if (branch->phase == SF_PHASE_ENTER || branch->phase == SF_PHASE_RUN)
				return state->needs.enter;
			return branch->phase == SF_PHASE_JOIN ? state->needs.proceed : state->needs.leave;
		case SF_STIMULUS_TASK:
		case SF_STIMULUS_JOINED:
			return state->needs.leave;
		default:
			return 0;
	}
}

/* --- leaving a state --- */

/* {"assignedVariables": …, "assignedVariablesDetails": …}, NULL for none. */
static Jsonb *
assigned_extra(Jsonb *assigned)
{
	SfJsonBuilder b;

	if (assigned == NULL || JB_ROOT_COUNT(assigned) == 0)
		return NULL;
	sf_json_begin_object(&b);
	sf_json_add(&b, "assignedVariables", assigned);
	sf_json_open_object(&b, "assignedVariablesDetails");
	sf_json_add_bool(&b, "truncated", false);
	sf_json_close_object(&b);
	return sf_json_finish(&b);
}

/* Leave the state with an output. */
SfStepOutcome
sf_step_exit(SfStep *step, Jsonb *output, int next, Jsonb *assigned)
{
	SfBranch   *branch = step->branch;

	sf_step_event(step, sf_event_type_of_state(step->state->type, SF_MEANS_EXITED),
				  output, assigned_extra(assigned));
	set_payload(step, output);
	branch->attempt = 0;
	branch->nretry_counts = 0;
	branch->retry_counts = NULL;
	branch->max_concurrency = 0;
	sf_branch_forget_attempt(branch);

	if (next < 0)
		return sf_step_end_branch(step, output);
	branch->state = next;
	branch->phase = SF_PHASE_ENTER;
	branch->due_at = step->now;
	return SF_STEP_GO_ON;
}

/* Leave the state with a result. */
SfStepOutcome
sf_step_succeed(SfStep *step, Jsonb *result)
{
	const SfState *state = step->state;
	Jsonb	   *output,
			   *assigned;
	SfError		error;

	if (!sf_flow_output(step, result, &output, &error) ||
		!sf_flow_assign(step, state->assign, "Assign", &assigned, &error))
		return sf_step_fail(step, &error);
	step->transition->name = "succeeded";
	return sf_step_exit(step, output, state->next, assigned);
}
