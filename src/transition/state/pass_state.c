/*
 * pass_state.c
 *		The states that only look at data: Pass, Succeed, Fail.
 */
#include "postgres.h"

#include "transition/step.h"

/* Pass: Result, or the (parameterised) input. */
SfStepNext
sf_pass_enter(SfStep *step)
{
	Jsonb	   *fixed = sf_state_pass(step->state)->result;
	Jsonb	   *result;
	SfError		error;

	if (!sf_flow_input(step, &error) ||
		!sf_flow_parameters(step, &result, &error))
		return sf_step_fail(step, &error);
	return sf_step_succeed(step, fixed != NULL ? fixed : result);
}

/* Succeed: ends the branch with its (filtered) input. */
SfStepNext
sf_succeed_enter(SfStep *step)
{
	SfError		error;

	if (!sf_flow_input(step, &error))
		return sf_step_fail(step, &error);
	return sf_step_succeed(step, step->env.input);
}

/* Error or Cause of a Fail state; *result NULL where there is none. */
static bool
fail_text(SfStep *step, const SfValueField *field, const char *name,
		  const char **result, SfError *error)
{
	Jsonb	   *value = NULL;
	JsonbValue	root;

	*result = NULL;
	if (field->kind == SF_FIELD_LITERAL)
		*result = sf_field_string(field);
	if (field->kind != SF_FIELD_PATH && field->kind != SF_FIELD_JSONATA)
		return true;
	switch (sf_flow_value(step, field, name, &value, error))
	{
		case SF_EVAL_OK:
			break;
		case SF_EVAL_NOT_FOUND:
			return sf_error_set(error, SF_ERR_RUNTIME,
								"The JSONPath '%s' specified for the field '%sPath' could not be found in the input '%s'",
								field->text, name,
								sf_json_excerpt(step->env.input));
		case SF_EVAL_ERROR:
			return false;
	}

	sf_json_root(value, &root);
	if (root.type == jbvString)
	{
		*result = pnstrdup(root.val.string.val, root.val.string.len);
		return true;
	}
	if (field->kind == SF_FIELD_JSONATA)
		return sf_flow_refuse_type(field->text, name, "string", value, error);
	return sf_error_set(error, SF_ERR_RUNTIME,
						"The %sPath parameter does not reference a string value: %s == %s",
						name, field->text, sf_json_excerpt(value));
}

/* Fail: ends the branch with an error. */
SfStepNext
sf_fail_enter(SfStep *step)
{
	const SfState *state = step->state;
	SfError		error;
	SfError		failure = sf_error_make(NULL, NULL);

	if (!sf_flow_input(step, &error) ||
		!fail_text(step, &sf_state_fail(state)->error, "Error", &failure.name, &error) ||
		!fail_text(step, &sf_state_fail(state)->cause, "Cause", &failure.cause, &error))
		return sf_step_fail(step, &error);
	step->transition->name = SF_TRANSITION_FAILED;
	return sf_step_fail_branch(step, &failure);
}
