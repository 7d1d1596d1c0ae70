/*
 * step_event.c
 *		What a step leaves behind: effects, events, and the inspection of a test.
 */
#include "postgres.h"

#include "transition/step.h"

/* Tell whether a history level keeps an event. */
static bool
history_keeps(SfHistoryLevel level, SfHistoryEventType type)
{
	if (level == SF_HISTORY_LEVEL_ALL)
		return true;
	if (level == SF_HISTORY_LEVEL_NONE)
		return false;
	return sf_history_event_type_is_of_execution(type) || sf_history_event_type_is_of_task(type);
}

/* Add an effect, whose member the caller fills in. */
SfEffect *
sf_step_effect(SfStep *step, SfEffectKind kind)
{
	SfTransition *transition = step->transition;
	SfEffect   *effect;

	if (transition->neffects == transition->size)
	{
		transition->size = Max(16, transition->size * 2);
		transition->effects = transition->effects == NULL ? palloc(transition->size * sizeof(SfEffect)) :
			repalloc(transition->effects, transition->size * sizeof(SfEffect));
	}
	effect = &transition->effects[transition->neffects++];
	effect->kind = kind;
	return effect;
}

/*
 * Tell whether something that a transition needs is loaded; if not, the
 * transition is void, and what the handler still does is thrown away.
 */
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

/* Find the event of the branch, or of this step, that holds a payload already, or SF_NO_EVENT. */
int
sf_step_event_storing(const SfStep *step, const Jsonb *payload)
{
	const SfBranch *branch = step->branch;

	for (int i = 0; i < step->nstored; i++)
		if (same_document(step->stored[i].payload, payload))
			return step->stored[i].event;
	if (branch->payload_event != SF_NO_EVENT && sf_branch_input(branch) != NULL &&
		same_document(sf_branch_input(branch), payload))
		return branch->payload_event;
	return SF_NO_EVENT;
}

/* Remember that an event of this step has a payload. */
static void
remember(SfStep *step, Jsonb *payload, int event)
{
	int			i = step->nstored;

	if (i == lengthof(step->stored))
		i = lengthof(step->stored) - 1;
	else
		step->nstored++;
	step->stored[i].payload = payload;
	step->stored[i].event = event;
}

/*
 * Append an event that follows the event previous (SF_CHAIN: the branch's last one);
 * the branch's last event stays the same.  Returns the event's provisional id, or
 * SF_NO_EVENT when the history level leaves the event out.
 */
int
sf_step_side_event(SfStep *step, SfHistoryEventType type, Jsonb *payload,
				   Jsonb *extra, int previous)
{
	SfBranch   *branch = step->branch;
	SfHistoryEvent *event;

	if (!history_keeps(step->loaded->history, type))
		return SF_NO_EVENT;
	event = palloc0(sizeof(SfHistoryEvent));
	event->type = type;
	event->id = sf_event_provisional_id(step->nevents++);
	event->previous_id = previous == SF_CHAIN ? branch->last_event : previous;
	event->state = step->state == NULL ? SF_NO_STATE : step->state->number;
	event->at = step->now;
	event->niterations = branch->niterations;
	event->iterations = branch->iterations;
	event->payload = payload;
	event->extra = extra;
	if (payload != NULL)
	{
		event->payload_from = sf_step_event_storing(step, payload);
		if (event->payload_from == SF_NO_EVENT)
			remember(step, payload, event->id);
	}
	sf_step_effect(step, SF_EFFECT_APPEND_EVENT)->append_event = event;
	return event->id;
}

/*
 * Append an event that follows the branch's last one, and make it the last;
 * returns its provisional id, or SF_NO_EVENT when the history level leaves it out.
 */
int
sf_step_event(SfStep *step, SfHistoryEventType type, Jsonb *payload, Jsonb *extra)
{
	int			id = sf_step_side_event(step, type, payload, extra, SF_CHAIN);

	if (id != SF_NO_EVENT)
		step->branch->last_event = id;
	return id;
}

/* Show a value in the inspection of a test. */
void
sf_step_show(SfStep *step, SfInspectionField field, Jsonb *value)
{
	if (step->loaded->inspection != NULL)
		step->loaded->inspection->values[field] = value;
}

/* Put "An error occurred while executing the state …" before a cause. */
void
sf_step_prefix(SfStep *step, SfError *error)
{
	int			id = step->branch->entered_event;

	if (!error->needs_prefix || error->cause == NULL || step->loaded->inspection != NULL)
		return;
	if (sf_event_is_provisional(id) && sf_step_has(step, SF_NEED_EVENT_IDS))
		id = sf_event_final_id(id, step->loaded->base_event_id);
	error->cause = psprintf("An error occurred while executing the state '%s'"
							" (entered at the event id #%d). %s",
							step->state->name, id, error->cause);
	error->needs_prefix = false;
}

/* Append the events of an execution that begins with an input. */
void
sf_step_begin_execution(SfStep *step, Jsonb *input)
{
	const SfState *state = step->state;

	step->execution_started_at = step->now;
	sf_step_effect(step, SF_EFFECT_BEGIN_EXECUTION)->begin_execution = step->now;
	step->state = NULL;
	step->branch->payload_event = SF_NO_EVENT;
	step->branch->payload_event =
		sf_step_side_event(step, SF_HISTORY_EVENT_EXECUTION_STARTED,
						   input, NULL, SF_NO_EVENT);
	step->state = state;
}
