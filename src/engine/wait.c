/*
 * wait.c
 *		Wait: until a time, without holding anything.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "engine/step.h"

/* The longest delay: 24855 days and some hours, what 31 bits of seconds hold */
#define MAX_WAIT_SECONDS	PG_INT32_MAX

/* Turn a JSON number, or a string of one, into text without blanks. */
static char *
value_text(Jsonb *value)
{
	JsonbValue	root;

	sf_json_root(value, &root);
	if (root.type == jbvString)
		return pnstrdup(root.val.string.val, root.val.string.len);
	return sf_json_to_cstring(value);
}

/* Seconds from a value, as SecondsPath has it. */
static bool
seconds_from_value(const SfState *state, Jsonb *value, double *seconds,
				   SfError *error)
{
	const char *text = value_text(value);
	char	   *end;
	long long	number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The SecondsPath parameter cannot be parsed as a long value: %s == %s",
							state->seconds.text, text);
	if (number < 0)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The SecondsPath parameter references a negative value: %s == %s",
							state->seconds.text, text);
	*seconds = (double) number;
	return true;
}

/* The result of a JSONata field must be an integer that is not negative. */
static bool
seconds_from_jsonata(const SfState *state, Jsonb *value, double *seconds,
					 SfError *error)
{
	JsonbValue	root;
	int64		number;

	sf_json_root(value, &root);
	if (!sf_json_to_int64(&root, &number) || number < 0)
		return sf_flow_wrong_type(state->seconds.text, "Seconds", "integer", value, error);
	*seconds = (double) number;
	return true;
}

/* How long Seconds asks to wait. */
static bool
wait_seconds(SfStep *step, double *seconds, SfError *error)
{
	const SfState *state = step->state;
	Jsonb	   *value;

	switch (state->seconds.kind)
	{
		case SF_FIELD_LITERAL:
			*seconds = state->seconds.number;
			return true;
		case SF_FIELD_JSONATA:
			return sf_template_eval(state->seconds.tmpl, &step->env, "Seconds",
									&value, error) &&
				seconds_from_jsonata(state, value, seconds, error);
		default:
			break;
	}
	switch (sf_expr_eval(state->seconds.expr, &step->env, &value, error))
	{
		case SF_EVAL_OK:
			return seconds_from_value(state, value, seconds, error);
		case SF_EVAL_NOT_FOUND:
			return sf_error_set(error, SF_ERR_RUNTIME,
								"The SecondsPath parameter does not reference an input value: %s",
								state->seconds.text);
		case SF_EVAL_ERROR:
			break;
	}
	return false;
}

/* The moment that Timestamp names. */
static bool
wait_timestamp(SfStep *step, TimestampTz *at, SfError *error)
{
	const SfStringField *field = &step->state->timestamp;
	Jsonb	   *value = NULL;
	const char *text;

	if (field->kind == SF_FIELD_LITERAL)
		text = field->string;
	else if (field->kind == SF_FIELD_JSONATA)
	{
		if (!sf_template_eval(field->tmpl, &step->env, "Timestamp", &value, error))
			return false;
		text = value_text(value);
	}
	else
	{
		switch (sf_expr_eval(field->expr, &step->env, &value, error))
		{
			case SF_EVAL_OK:
				break;
			case SF_EVAL_NOT_FOUND:
				return sf_error_set(error, SF_ERR_RUNTIME,
									"The TimestampPath parameter does not reference an input value: %s",
									field->text);
			case SF_EVAL_ERROR:
				return false;
		}
		text = value_text(value);
	}

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

/* Wait: arm the timer. */
SfStepOutcome
sf_wait_enter(SfStep *step)
{
	SfError		error;
	TimestampTz at;
	double		seconds = 0;

	if (!sf_flow_input(step, &error))
		return sf_step_fail(step, &error);

	if (step->state->seconds.kind != SF_FIELD_ABSENT)
	{
		if (!wait_seconds(step, &seconds, &error))
			return sf_step_fail(step, &error);
		if (seconds > MAX_WAIT_SECONDS)
			at = DT_NOEND;
		else
			at = step->now + (int64) (seconds * USECS_PER_SEC);
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
	step->outcome_name = "waiting";
	return at <= step->now ? SF_STEP_GO_ON : SF_STEP_REST;
}

/* Wait: its time has come. */
SfStepOutcome
sf_wait_resume(SfStep *step)
{
	Jsonb	   *output,
			   *assigned;
	SfError		error;

	if (!sf_flow_input(step, &error) ||
		!sf_flow_output(step, step->env.input, &output, &error) ||
		!sf_flow_assign(step, step->state->assign, "Assign", &assigned, &error))
		return sf_step_fail(step, &error);
	step->outcome_name = "succeeded";
	return sf_step_exit(step, output, step->state->next, assigned);
}
