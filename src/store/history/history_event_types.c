/*
 * history_event_types.c
 *		Look-ups in the list of event types.
 */
#include "postgres.h"

#include "store/history/history_event_types.h"

typedef struct EventTypeInfo
{
	const char *name;
	SfHistoryEventSubject subject;
	SfHistoryEventMeaning meaning;
} EventTypeInfo;

static const EventTypeInfo types[] = {
#define EVENT_TYPE_INFO(sym, name, shape, subject, meaning) \
	{name, SF_SUBJECT_##subject, SF_MEANS_##meaning},
	SF_HISTORY_EVENT_TYPE_LIST(EVENT_TYPE_INFO)
};

/* Is a number, which may come from a table, that of a type in the list? */
static bool
is_known(SfHistoryEventType type)
{
	return (unsigned int) type < SF_HISTORY_EVENT_TYPE_COUNT;
}

/*
 * Name an event type as the Step Functions API does; "?" for a number not in
 * the list.
 */
const char *
sf_history_event_type_name(SfHistoryEventType type)
{
	return is_known(type) ? types[type].name : "?";
}

/*
 * Tell what an event of a type says happened; SF_MEANS_UNKNOWN for a number
 * not in the list.
 */
SfHistoryEventMeaning
sf_history_event_type_meaning(SfHistoryEventType type)
{
	return is_known(type) ? types[type].meaning : SF_MEANS_UNKNOWN;
}

/* Tell whether a type is about an execution as a whole. */
bool
sf_history_event_type_is_of_execution(SfHistoryEventType type)
{
	return is_known(type) && types[type].subject == SF_SUBJECT_EXECUTION;
}

/* Tell whether a type is about a Task state, or an attempt at its task. */
bool
sf_history_event_type_is_of_task(SfHistoryEventType type)
{
	if (!is_known(type))
		return false;
	switch (types[type].subject)
	{
		case SF_SUBJECT_TASK_STATE:
		case SF_SUBJECT_TASK:
		case SF_SUBJECT_ACTIVITY:
		case SF_SUBJECT_LAMBDA_FUNCTION:
			return true;
		default:
			return false;
	}
}

/*
 * Tell whether a type is about a state, an attempt at its task, or an
 * expression in it.
 */
bool
sf_history_event_type_is_of_state(SfHistoryEventType type)
{
	return is_known(type) &&
		(types[type].subject < SF_SUBJECT_EXECUTION ||
		 types[type].subject == SF_SUBJECT_EVALUATION || sf_history_event_type_is_of_task(type));
}

/* Tell whether a type is about an iteration of a Map. */
bool
sf_history_event_type_is_of_iteration(SfHistoryEventType type)
{
	return is_known(type) && types[type].subject == SF_SUBJECT_MAP_ITERATION;
}

/* Tell whether a type is about the run of a Distributed Map. */
bool
sf_history_event_type_is_of_map_run(SfHistoryEventType type)
{
	return is_known(type) && types[type].subject == SF_SUBJECT_MAP_RUN;
}

/*
 * Find the first type with a subject and a meaning; SF_HISTORY_EVENT_TYPE_COUNT: there
 * is none.
 */
SfHistoryEventType
sf_history_event_type_find(SfHistoryEventSubject subject, SfHistoryEventMeaning meaning)
{
	static uint8 found[SF_SUBJECT_COUNT][SF_MEANS_COUNT];
	static bool filled = false;

	if (!filled)
	{
		memset(found, SF_HISTORY_EVENT_TYPE_COUNT, sizeof(found));
		for (int type = SF_HISTORY_EVENT_TYPE_COUNT - 1; type >= 0; type--)
			found[types[type].subject][types[type].meaning] = type;
		filled = true;
	}
	return found[subject][meaning];
}

/* Build the details of an event of failure: {"error", "cause"}, each unless NULL. */
Jsonb *
sf_history_event_type_failure(const char *error, const char *cause)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "error", error);
	sf_json_add_string(&json, "cause", cause);
	return sf_json_end(&json);
}
