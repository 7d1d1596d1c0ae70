/*
 * wait_state.c
 *		The Wait state: the branch rests until a time; no transaction or process
 *		waits with it.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "transition/step.h"

/* The longest delay: 24855 days and some hours, what 31 bits of seconds hold */
#define MAX_WAIT_SECONDS	PG_INT32_MAX

/* Seconds from a value, as SecondsPath has it. */
static bool
seconds_from_value(const SfValueField *field, Jsonb *value, int64 *seconds,
				   SfError *error)
{
	const char *text = sf_flow_shown(value);
	int64		number;

	if (!sf_flow_read_integer(text, &number))
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The SecondsPath parameter cannot be parsed as a long value: %s == %s",
							field->text, text);
	if (number < 0)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The SecondsPath parameter references a negative value: %s == %s",
							field->text, text);
	*seconds = number;
	return true;
}

/* How long Seconds asks to wait. */
static bool
wait_seconds(SfStep *step, int64 *seconds, SfError *error)
{
	const SfValueField *field = sf_wait_seconds(sf_state_wait(step->state));
	Jsonb	   *value;

	if (field->kind != SF_FIELD_PATH)
		return sf_flow_integer(step, field, "Seconds", 0, seconds, error);
	switch (sf_flow_value(step, field, "Seconds", &value, error))
	{
		case SF_EVAL_OK:
			return seconds_from_value(field, value, seconds, error);
		case SF_EVAL_NOT_FOUND:
			return sf_error_set(error, SF_ERR_RUNTIME,
								"The SecondsPath parameter does not reference an input value: %s",
								field->text);
		case SF_EVAL_ERROR:
			break;
	}
	return false;
}

/* The text that Timestamp holds; NULL with an error. */
static const char *
timestamp_text(SfStep *step, const SfValueField *field, SfError *error)
{
	Jsonb	   *value;

	if (field->kind == SF_FIELD_LITERAL)
		return sf_field_string(field);
	switch (sf_flow_value(step, field, "Timestamp", &value, error))
	{
		case SF_EVAL_OK:
			return sf_flow_shown(value);
		case SF_EVAL_NOT_FOUND:
			sf_error_set(error, SF_ERR_RUNTIME,
						 "The TimestampPath parameter does not reference an input value: %s",
						 field->text);
			break;
		case SF_EVAL_ERROR:
			break;
	}
	return NULL;
}

/* The moment that Timestamp names. */
static bool
wait_timestamp(SfStep *step, TimestampTz *at, SfError *error)
{
	const SfValueField *field = sf_wait_timestamp(sf_state_wait(step->state));
	const char *text = timestamp_text(step, field, error);

	if (text == NULL)
		return false;
	if (sf_timestamp_parse(text, strlen(text), at))
		return true;
	if (field->kind == SF_FIELD_PATH)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: %s == %s",
							field->text, text);
	sf_error_set(error, SF_ERR_QUERY_EVALUATION_ERROR,
				 "The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: %s",
				 text);
	error->location = "Timestamp";
	return false;
}

/* Enter a Wait state: set due_at, and rest in phase WAIT until then. */
SfStepNext
sf_wait_enter(SfStep *step)
{
	SfError		error;
	TimestampTz at;
	int64		seconds = 0;

	if (!sf_flow_input(step, &error))
		return sf_step_fail(step, &error);

	if (sf_state_wait(step->state)->kind == SF_WAIT_SECONDS)
	{
		if (!wait_seconds(step, &seconds, &error))
			return sf_step_fail(step, &error);
		if (seconds > MAX_WAIT_SECONDS)
			at = DT_NOEND;
		else
			at = step->now + seconds * USECS_PER_SEC;
	}
	else if (!wait_timestamp(step, &at, &error))
		return sf_step_fail(step, &error);

	if (at > step->now + MAX_WAIT_SECONDS * USECS_PER_SEC)
	{
		sf_error_set(&error, SF_ERR_RUNTIME, "Wait state delay is too long.");
		return sf_step_fail(step, &error);
	}
	step->branch->phase = SF_PHASE_WAIT;
	step->branch->due_at = at;
	step->transition->name = SF_TRANSITION_WAITING;
	return at <= step->now ? SF_STEP_GO_ON : SF_STEP_REST;
}

/* Leave a Wait state whose time has come; its input is the result. */
SfStepNext
sf_wait_resume(SfStep *step)
{
	SfError		error;

	if (!sf_flow_input(step, &error))
		return sf_step_fail(step, &error);
	return sf_step_succeed(step, step->env.input);
}
