/*
 * context.c
 *		The context object, $$: what an execution can know of itself.
 */
#include "postgres.h"

#include "base/name/name.h"
#include "transition/step.h"

/* {"Execution": …}: id, input, name, role, start, redrives. */
static void
add_execution(SfJsonBuilder *b, const SfStep *step)
{
	const SfExecution *e = step->loaded->execution;

	sf_json_open_object(b, "Execution");
	sf_json_add_string(b, "Id", sf_public_name(SF_NAME_EXECUTION, e->execution_id));
	sf_json_add(b, "Input", step->loaded->input);
	if (step->execution_started_at != DT_NOBEGIN)
		sf_json_add_string(b, "StartTime",
						   sf_timestamp_print(step->execution_started_at));
	sf_json_add_string(b, "Name", sf_execution_name(e));
	sf_json_add_string(b, "RoleArn", step->loaded->role != NULL ? step->loaded->role : sf_public_name(SF_NAME_ROLE, "unknown"));
	if (!step->loaded->is_synchronous)
		sf_json_add_int(b, "RedriveCount", e->redrive_count);
	if (e->redrive_count > 0 && e->last_redriven_at != DT_NOBEGIN)
		sf_json_add_string(b, "RedriveTime",
						   sf_timestamp_print(e->last_redriven_at));
	sf_json_close_object(b);
}

/* {"State": …}: name, when it was entered, retries of a Task. */
static void
add_state(SfJsonBuilder *b, const SfStep *step)
{
	sf_json_open_object(b, "State");
	sf_json_add_string(b, "Name", step->state->name);
	if (step->branch->entered_at != DT_NOBEGIN)
		sf_json_add_string(b, "EnteredTime",
						   sf_timestamp_print(step->branch->entered_at));
	if (step->state->type == SF_STATE_TASK)
		sf_json_add_int(b, "RetryCount", step->branch->attempt);
	sf_json_close_object(b);
}

/* {"Map": {"Item": …}}, inside a Map state. */
static void
add_map(SfJsonBuilder *b, const SfStep *step)
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
	sf_json_open_object(b, "Map");
	sf_json_open_object(b, "Item");
	sf_json_add_int(b, "Index", index);
	sf_json_add(b, "Key", step->map_key);
	sf_json_add(b, "Value", item);
	sf_json_close_object(b);
	sf_json_close_object(b);
}

/* Build the context object of a step: SfEnv.make_context. */
Jsonb *
sf_context_make(void *arg)
{
	SfStep	   *step = arg;
	const SfExecution *e = step->loaded->execution;
	SfInspection *inspection = step->loaded->inspection;
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	if (inspection != NULL)
	{
		add_map(&b, step);
		return sf_json_merge(inspection->context, sf_json_finish(&b));
	}
	(void) sf_step_has(step, SF_NEED_CONTEXT);
	add_execution(&b, step);
	sf_json_open_object(&b, "StateMachine");
	sf_json_add_string(&b, "Id", sf_public_name(SF_NAME_STATE_MACHINE, e->machine_name));
	sf_json_add_string(&b, "Name", e->machine_name);
	sf_json_close_object(&b);
	if (step->state != NULL)
		add_state(&b, step);
	add_map(&b, step);
	sf_json_add(&b, "Jobs", step->loaded->jobs);
	if (step->loaded->token != NULL)
	{
		sf_json_open_object(&b, "Task");
		sf_json_add_string(&b, "Token", step->loaded->token);
		sf_json_close_object(&b);
	}
	return sf_json_finish(&b);
}
