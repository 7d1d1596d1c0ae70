/*
 * history_event_details.c
 *		The details of an event as the Step Functions API shows them.
 *
 * An event's row holds only what the program does not say: the payload, and in
 * "extra" any further members of the details.  Names, resources and constant
 * members are added here, by the shape of the event's type (history_event_types.h).
 */
#include "postgres.h"

#include "base/name/name.h"
#include "base/settings.h"
#include "json/json.h"
#include "report/report.h"
#include "store/history/history_event_types.h"

#define ASSIGNED "assignedVariables"

typedef enum Shape
{
	NONE, INPUT, OUTPUT, ENTERED, EXITED, EXTRA, SCHEDULED, RESOURCE,
	ITERATION, MAP_STARTED
} Shape;

static const Shape shapes[] = {
#define EVENT_SHAPE(sym, name, shape, subject, meaning) shape,
	SF_HISTORY_EVENT_TYPE_LIST(EVENT_SHAPE)
};

/* Add {"truncated": false}, which goes with each payload. */
static void
add_not_truncated(SfJsonBuilder *json, const char *key)
{
	sf_json_open_object(json, key);
	sf_json_add_bool(json, "truncated", false);
	sf_json_close_object(json);
}

/* Add a payload, if there is one, and the member that says it is complete. */
static void
add_payload(SfJsonBuilder *json, const char *key, const Jsonb *payload)
{
	if (payload == NULL)
		return;
	sf_json_add(json, key, payload);
	add_not_truncated(json, strcmp(key, "input") == 0 ? "inputDetails" : "outputDetails");
}

/* Add the service and the action of a Task. */
static void
add_resource(SfJsonBuilder *json, const SfState *state)
{
	if (state == NULL || state->type != SF_STATE_TASK)
		return;
	sf_json_add_string(json, "resource", sf_state_task(state)->resource.action);
	sf_json_add_string(json, "resourceType", sf_state_task(state)->resource.service);
}

/* Add the members of an INPUT shape that depend on the type. */
static void
add_input_extras(SfJsonBuilder *json, const SfHistoryEvent *event,
				 const SfState *state, const char *role_arn)
{
	if (event->type == SF_HISTORY_EVENT_EXECUTION_STARTED)
		sf_json_add_string(json, "roleArn", role_arn);
	else if (state == NULL || state->type != SF_STATE_TASK)
		return;
	else if (sf_state_task(state)->resource.kind == SF_RESOURCE_ACTIVITY)
		sf_json_add_string(json, "resource",
						   sf_public_name(SF_NAME_ACTIVITY, sf_state_task(state)->resource.name));
	else
		sf_json_add_string(json, "resource", sf_state_task(state)->resource.text);
}

/*
 * Add the variables that a state assigned.  Each value is JSON text, as in the
 * service, although payloads here are documents.
 */
static void
add_assigned(SfJsonBuilder *json, const Jsonb *variables)
{
	JsonbIterator *it = JsonbIteratorInit(unconstify(JsonbContainer *, &variables->root));
	JsonbValue	key;
	JsonbValue	value;

	sf_json_open_object(json, ASSIGNED);
	if (JsonbIteratorNext(&it, &key, true) == WJB_BEGIN_OBJECT)
		while (JsonbIteratorNext(&it, &key, true) == WJB_KEY)
		{
			StringInfoData text;

			(void) JsonbIteratorNext(&it, &value, true);
			initStringInfo(&text);
			sf_json_append_text(&text, &value);
			sf_json_add_string(json, pnstrdup(key.val.string.val, key.val.string.len),
							   text.data);
		}
	sf_json_close_object(json);
	add_not_truncated(json, ASSIGNED "Details");
}

/* Add the members that come from the event's shape. */
static void
add_by_shape(SfJsonBuilder *json, const SfHistoryEvent *event,
			 const SfState *state, const char *role_arn)
{
	Shape		shape = shapes[event->type];

	if ((shape == ENTERED || shape == EXITED || shape == ITERATION) && state != NULL)
		sf_json_add_string(json, "name", state->name);
	switch (shape)
	{
		case INPUT:
			add_payload(json, "input", event->payload);
			add_input_extras(json, event, state, role_arn);
			break;
		case ENTERED:
			add_payload(json, "input", event->payload);
			break;
		case EXITED:
		case OUTPUT:
			add_payload(json, "output", event->payload);
			break;
		case SCHEDULED:
			add_resource(json, state);
			sf_json_add_string(json, "region", sf_setting_region);
			sf_json_add(json, "parameters", event->payload);
			break;
		case RESOURCE:
			add_resource(json, state);
			add_payload(json, "output", event->payload);
			break;
		case ITERATION:
			if (event->niterations > 0)
				sf_json_add_int(json, "index", event->iterations[event->niterations - 1]);
			break;
		case NONE:
		case EXTRA:
		case MAP_STARTED:
			break;
	}
}

/*
 * Build the details of an event (read with its payload) by the shape of its
 * type, see history_event_types.h; role_arn goes into those of ExecutionStarted.  Payloads
 * are jsonb, not quoted text; assigned variables are JSON text.
 */
Jsonb *
sf_history_event_details_make(const SfProgram *program, const SfHistoryEvent *event,
							  const char *role_arn)
{
	const SfState *state = NULL;
	Jsonb	   *assigned;
	Jsonb	   *details;
	SfJsonBuilder json;

	if (event->type < 0 || event->type >= SF_HISTORY_EVENT_TYPE_COUNT)
		return sf_json_empty_object();
	if (sf_program_has_state(program, event->state))
		state = &program->states[event->state];
	sf_json_begin_object(&json);
	add_by_shape(&json, event, state, role_arn);
	details = sf_json_merge(sf_json_end(&json), event->extra);
	assigned = event->extra == NULL ? NULL : sf_json_get(event->extra, ASSIGNED);
	if (assigned == NULL)
		return details;
	sf_json_begin_object(&json);
	add_assigned(&json, assigned);
	return sf_json_merge(details, sf_json_end(&json));
}
