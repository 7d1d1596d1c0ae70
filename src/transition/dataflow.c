/*
 * dataflow.c
 *		Input and output processing of a state.
 *
 *		raw input --InputPath--> effective input --Parameters--> payload
 *		result --ResultSelector--> --ResultPath (into the raw input)-->
 *		--OutputPath--> output
 *
 * in JSONPath mode; in JSONata mode Arguments give the payload and Output the
 * output, else the result is the output.  Assign sees the result and the old
 * values of the variables.
 */
#include "postgres.h"

#include "base/settings.h"
#include "transition/step.h"

/* Evaluate a path of a field; where it leads nowhere, that is an error too. */
static SfEvalStatus
eval_path(SfStep *step, const SfExpr *expr, const char *text, Jsonb **value,
		  SfError *error)
{
	SfEvalStatus status = sf_expr_eval(expr, &step->env, value, error);

	if (status == SF_EVAL_NOT_FOUND)
		sf_error_set(error, SF_ERR_RUNTIME, "Invalid path '%s' : %s", text,
					 error->cause);
	return status;
}

/* A path field over the environment; kind ABSENT gives the input itself. */
bool
sf_flow_path(SfStep *step, const SfPathField *field, Jsonb **result,
			 SfError *error)
{
	switch (field->kind)
	{
		case SF_FIELD_NULL:
			*result = sf_json_empty_object();
			return true;
		case SF_FIELD_PATH:
			return eval_path(step, field->expr, field->text, result, error) == SF_EVAL_OK;
		case SF_FIELD_ABSENT:
		case SF_FIELD_LITERAL:	/* never of a path */
		case SF_FIELD_JSONATA:
			break;
	}
	*result = step->env.input;
	return true;
}

/*
 * Evaluate a field that is given by a path or by JSONata.  Where the path leads nowhere
 * (SF_EVAL_NOT_FOUND) the error says "Invalid path …"; some fields have other words
 * for it.
 */
SfEvalStatus
sf_flow_value(SfStep *step, const SfValueField *field, const char *name,
			  Jsonb **value, SfError *error)
{
	if (field->kind == SF_FIELD_PATH)
		return eval_path(step, sf_field_expr(field), field->text, value, error);
	return sf_template_eval(sf_field_template(field), &step->env, name, value, error) ?
		SF_EVAL_OK : SF_EVAL_ERROR;
}

/* Read an integer: digits, maybe with a minus sign before them, and nothing else. */
bool
sf_flow_read_integer(const char *text, int64 *number)
{
	const char *digits = text + (text[0] == '-');
	char	   *end;

	/* strtoll takes blanks and a plus sign before them, too */
	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*number = strtoll(text, &end, 10);
	return *end == '\0' && errno == 0;
}

/* An integer that a path gives: a number, or a string that is one. */
static bool
integer_from_value(Jsonb *value, int64 *number)
{
	JsonbValue	root;

	sf_json_root(value, &root);
	if (sf_json_to_int64(&root, number))
		return true;
	return root.type == jbvString &&
		sf_flow_read_integer(pnstrdup(root.val.string.val, root.val.string.len), number);
}

/* The text of a value, strings without quotes, for error messages. */
char *
sf_flow_shown(Jsonb *value)
{
	JsonbValue	root;

	sf_json_root(value, &root);
	if (root.type == jbvString)
		return pnstrdup(root.val.string.val, root.val.string.len);
	return sf_json_to_cstring(value);
}

/* Say that a JSONata expression gave a value of another type; returns false. */
bool
sf_flow_refuse_type(const char *expression, const char *field,
					const char *expected, Jsonb *value, SfError *error)
{
	JsonbValue	root;

	sf_json_root(value, &root);
	sf_error_set(error, SF_ERR_QUERY_EVALUATION_ERROR,
				 "The JSONata expression '%s' specified for the field '%s' returned an unexpected result type. Expected '%s', but was '%s' for value: %s",
				 expression, field, expected, sf_json_type_name(&root),
				 sf_json_excerpt(value));
	error->location = field;
	return false;
}

/*
 * A field that has to be an integer, and if it is no literal, one that is not
 * below minimum; 0 where there is none.
 */
bool
sf_flow_integer(SfStep *step, const SfValueField *field, const char *name,
				int64 minimum, int64 *number, SfError *error)
{
	Jsonb	   *value;
	JsonbValue	root;

	*number = field->kind == SF_FIELD_LITERAL ? (int64) sf_field_number(field) : 0;
	if (field->kind != SF_FIELD_PATH && field->kind != SF_FIELD_JSONATA)
		return true;
	if (sf_flow_value(step, field, name, &value, error) != SF_EVAL_OK)
		return false;
	if (field->kind == SF_FIELD_PATH)
	{
		if (integer_from_value(value, number) && *number >= minimum)
			return true;
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The %sPath field refers to value \"%s\" which is not a valid integer: %s",
							name, sf_flow_shown(value), field->text);
	}
	sf_json_root(value, &root);
	if (sf_json_to_int64(&root, number) && *number >= minimum)
		return true;
	return sf_flow_refuse_type(field->text, name, "integer", value, error);
}

/* Make the environment's input the effective input (InputPath). */
bool
sf_flow_input(SfStep *step, SfError *error)
{
	Jsonb	   *input;

	step->env.input = sf_branch_input(step->branch);
	if (step->state->language == SF_QL_JSONATA)
		return true;
	if (!sf_flow_path(step, &step->state->input_path, &input, error))
		return false;
	step->env.input = input;
	sf_step_show(step, SF_INSPECTION_AFTER_INPUT_PATH, input);
	return true;
}

/* What a payload that is too large is of, as the service names it. */
static const char *
source_name(const SfState *state)
{
	if (state->type != SF_STATE_TASK)
		return state->name;
	/* an optimized integration goes by the name of its service */
	return strstr(sf_state_task(state)->resource.text, ":states:::") != NULL ?
		sf_state_task(state)->resource.service : sf_state_task(state)->resource.text;
}

/* Tell whether a document is as large as a payload may be, or smaller. */
static bool
fits_payload(const Jsonb *document)
{
	/* text is longer than jsonb only for numbers and escapes: look closer then */
	return VARSIZE(document) < (Size) sf_setting_max_payload_bytes / 8 ||
		sf_json_text_size(document) <= (Size) sf_setting_max_payload_bytes;
}

/* Refuse, with States.DataLimitExceeded, what a state has that is larger than a payload may be. */
static bool
check_payload(const SfStep *step, const Jsonb *document, const char *what, SfError *error)
{
	if (fits_payload(document))
		return true;
	sf_error_set(error, SF_ERR_DATA_LIMIT_EXCEEDED,
				 "The state/task '%s' %s with a size exceeding the maximum number of bytes service limit.",
				 source_name(step->state), what);
	error->needs_prefix = false;
	return false;
}

/* Refuse what Parameters, Arguments or ItemSelector made, likewise. */
bool
sf_flow_check_input_size(SfStep *step, const Jsonb *input, SfError *error)
{
	return check_payload(step, input, "has an input", error);
}

/* Refuse an output, likewise. */
bool
sf_flow_check_size(SfStep *step, const Jsonb *output, SfError *error)
{
	return check_payload(step, output, "returned a result", error);
}

/* Parameters or Arguments over the effective input. */
bool
sf_flow_parameters(SfStep *step, Jsonb **result, SfError *error)
{
	const SfState *state = step->state;

	*result = step->env.input;
	if (state->parameters != NULL &&
		!sf_template_eval(state->parameters, &step->env,
						  state->language == SF_QL_JSONATA ?
						  "Arguments" : "Parameters", result, error))
		return false;
	if (state->language == SF_QL_JSONPATH)
		sf_step_show(step, SF_INSPECTION_AFTER_PARAMETERS, *result);
	else if (state->parameters != NULL)
		sf_step_show(step, SF_INSPECTION_AFTER_ARGUMENTS, *result);
	return state->parameters == NULL || sf_flow_check_input_size(step, *result, error);
}

/* The output of a state in JSONPath mode. */
static bool
path_output(SfStep *step, Jsonb *result, Jsonb **output, SfError *error)
{
	const SfState *state = step->state;
	Jsonb	   *raw = sf_branch_input(step->branch);

	if (state->result_path.kind == SF_FIELD_NULL)
		result = raw;
	else if (state->result_path.kind == SF_FIELD_PATH &&
			 !sf_expr_set(state->result_path.expr, raw, result, &result, error))
		return false;

	sf_step_show(step, SF_INSPECTION_AFTER_RESULT_PATH, result);
	step->env.input = result;
	return sf_flow_path(step, &state->output_path, output, error);
}

/*
 * Make the output of a state from its result: ResultSelector, ResultPath and OutputPath
 * (JSONPath) or Output (JSONata).
 */
bool
sf_flow_output(SfStep *step, Jsonb *result, Jsonb **output, SfError *error)
{
	const SfState *state = step->state;

	sf_step_show(step, SF_INSPECTION_RESULT, result);
	if (state->result_selector != NULL)
	{
		step->env.input = result;
		if (!sf_template_eval(state->result_selector, &step->env,
							  "ResultSelector", &result, error))
			return false;
	}
	sf_step_show(step, SF_INSPECTION_AFTER_RESULT_SELECTOR, result);

	if (state->language == SF_QL_JSONATA)
	{
		step->env.input = sf_branch_input(step->branch);
		*output = result;
		if (state->output != NULL)
		{
			/* $states.result is there where the state has one */
			if (state->type == SF_STATE_TASK || sf_state_has_children(state))
				step->env.result = result;
			if (!sf_template_eval(state->output, &step->env, "Output", output, error))
				return false;
		}
	}
	else if (!path_output(step, result, output, error))
		return false;

	/* what Assign sees */
	step->env.input = state->language == SF_QL_JSONATA ?
		sf_branch_input(step->branch) : result;
	if (state->language == SF_QL_JSONATA)
		step->env.result = result;
	return sf_flow_check_size(step, *output, error);
}

/* MaxConcurrency, into the branch; 0 is without limit. */
bool
sf_flow_concurrency(SfStep *step, const SfValueField *field, SfError *error)
{
	int64		count;

	if (!sf_flow_integer(step, field, "MaxConcurrency", PG_INT64_MIN, &count, error))
		return false;
	if (count < 0)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"Expected non-negative integer for MaxConcurrency, got '" INT64_FORMAT "' instead.",
							count);
	sf_step_show(step, SF_INSPECTION_MAX_CONCURRENCY, sf_json_int(count));
	step->branch->max_concurrency = (int) Min(count, PG_INT32_MAX);
	return true;
}

/*
 * Evaluate an Assign against the old values, then set the variables; *assigned gets
 * what it assigned (NULL: nothing).
 */
bool
sf_flow_assign(SfStep *step, const SfTemplate *assign, const char *field,
			   Jsonb **assigned, SfError *error)
{
	*assigned = NULL;
	if (assign == NULL)
		return true;
	if (!sf_template_eval(assign, &step->env, field, assigned, error))
		return false;
	step->branch->variables = sf_json_merge(step->branch->variables, *assigned);
	step->env.variables = step->branch->variables;
	return sf_flow_check_size(step, step->branch->variables, error);
}
