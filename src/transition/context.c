/*
 * context.c
 *		The context object, $$: what an execution can know of itself.
 */
#include "postgres.h"

#include "base/name/name.h"
#include "transition/step.h"

/* {"Execution": …}: id, input, name, role, start, redrives. */
static void
add_execution(SfJsonBuilder *json, const SfStep *step)
{
	const SfExecution *execution = step->loaded->execution;

	sf_json_open_object(json, "Execution");
	sf_json_add_string(json, "Id", sf_public_name(SF_NAME_EXECUTION, execution->execution_id));
	sf_json_add(json, "Input", step->loaded->input);
	if (step->execution_started_at != DT_NOBEGIN)
		sf_json_add_string(json, "StartTime",
						   sf_timestamp_print(step->execution_started_at));
	sf_json_add_string(json, "Name", sf_execution_name(execution));
	sf_json_add_string(json, "RoleArn", step->loaded->role != NULL ? step->loaded->role :
					   sf_public_name(SF_NAME_ROLE, "unknown"));
	if (!step->loaded->is_synchronous)
		sf_json_add_int(json, "RedriveCount", execution->redrive_count);
	if (execution->redrive_count > 0 && execution->last_redriven_at != DT_NOBEGIN)
		sf_json_add_string(json, "RedriveTime",
						   sf_timestamp_print(execution->last_redriven_at));
	sf_json_close_object(json);
}

/* {"State": …}: name, when it was entered, retries of a Task. */
static void
add_state(SfJsonBuilder *json, const SfStep *step)
{
	sf_json_open_object(json, "State");
	sf_json_add_string(json, "Name", step->state->name);
	if (step->branch->entered_at != DT_NOBEGIN)
		sf_json_add_string(json, "EnteredTime",
						   sf_timestamp_print(step->branch->entered_at));
	if (step->state->type == SF_STATE_TASK)
		sf_json_add_int(json, "RetryCount", step->branch->attempt);
	sf_json_close_object(json);
}

/* {"Map": {"Item": …}}, inside a Map state. */
static void
add_map(SfJsonBuilder *json, const SfStep *step)
{
	const SfBranch *branch = step->branch;
	Jsonb	   *item = step->map_item;
	int			index = step->map_index;

	if (index == SF_NO_MAP_INDEX && branch->niterations > 0)
	{
		index = branch->iterations[branch->niterations - 1];
		item = branch->item;
	}
	if (index == SF_NO_MAP_INDEX)
		return;
	sf_json_open_object(json, "Map");
	sf_json_open_object(json, "Item");
	sf_json_add_int(json, "Index", index);
	sf_json_add(json, "Key", step->map_key);
	sf_json_add(json, "Value", item);
	sf_json_close_object(json);
	sf_json_close_object(json);
}

/* Build the context object of a step: SfEnv.make_context. */
Jsonb *
sf_context_make(void *arg)
{
	SfStep	   *step = arg;
	const SfExecution *execution = step->loaded->execution;
	SfInspection *inspection = step->loaded->inspection;
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	if (inspection != NULL)
	{
		add_map(&json, step);
		return sf_json_merge(inspection->context, sf_json_end(&json));
	}
	(void) sf_step_has(step, SF_NEED_CONTEXT);
	add_execution(&json, step);
	sf_json_open_object(&json, "StateMachine");
	sf_json_add_string(&json, "Id", sf_public_name(SF_NAME_STATE_MACHINE, execution->machine_name));
	sf_json_add_string(&json, "Name", execution->machine_name);
	sf_json_close_object(&json);
	if (step->state != NULL)
		add_state(&json, step);
	add_map(&json, step);
	sf_json_add(&json, "Jobs", step->loaded->jobs);
	if (step->loaded->token != NULL)
	{
		sf_json_open_object(&json, "Task");
		sf_json_add_string(&json, "Token", step->loaded->token);
		sf_json_close_object(&json);
	}
	return sf_json_end(&json);
}
