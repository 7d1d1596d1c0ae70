/*
 * test_context.c
 *		Check the context object of sf_test_state().
 */
#include "postgres.h"

#include "feature/test_state/test_state.h"

#define PROBLEM "Invalid Context object provided: "

typedef enum Kind
{
	OBJECT, STRING, NUMBER, ANY
} Kind;

/* The fields: the object they are in, name, kind; an object comes before its fields */
#define CONTEXT_FIELD_LIST(X) \
	X(NULL, "Execution", OBJECT) \
	X("Execution", "Id", STRING) \
	X("Execution", "Input", ANY) \
	X("Execution", "Name", STRING) \
	X("Execution", "RoleArn", STRING) \
	X("Execution", "StartTime", STRING) \
	X("Execution", "RedriveCount", NUMBER) \
	X("Execution", "RedriveTime", STRING) \
	X(NULL, "Jobs", ANY) \
	X(NULL, "State", OBJECT) \
	X("State", "EnteredTime", STRING) \
	X("State", "Name", STRING) \
	X("State", "RetryCount", NUMBER) \
	X(NULL, "StateMachine", OBJECT) \
	X("StateMachine", "Id", STRING) \
	X("StateMachine", "Name", STRING) \
	X(NULL, "Task", OBJECT) \
	X("Task", "Token", STRING)

static const struct
{
	const char *parent;
	const char *name;
	Kind		kind;
}			fields[] = {
#define CONTEXT_FIELD(parent, name, kind) {parent, name, kind},
	CONTEXT_FIELD_LIST(CONTEXT_FIELD)
};

/* Name the kind that a value should have; NULL if it has it. */
static const char *
wrong_kind(Kind kind, const JsonbValue *value)
{
	switch (kind)
	{
		case OBJECT:
			return sf_json_is_object(value) ? NULL : "an object";
		case STRING:
			return value->type == jbvString ? NULL : "a string";
		case NUMBER:
			return value->type == jbvNumeric ? NULL : "a number";
		case ANY:
			break;
	}
	return NULL;
}

/* Find a field by its name and the object that it is in; lengthof(fields): there is none. */
static size_t
find_field(const char *parent, const char *name)
{
	size_t		f = 0;

	while (f < lengthof(fields) &&
		   (strcmp(fields[f].name, name) != 0 ||
			strcmp(fields[f].parent ? fields[f].parent : "", parent) != 0))
		f++;
	return f;
}

/* Check the members of an object of the context, which is called parent. */
static const char *
check_fields(const JsonbValue *object, const char *parent)
{
	int			n;
	SfJsonMember *members = sf_json_members(object, &n);

	for (int i = 0; i < n; i++)
	{
		const char *key = pnstrdup(members[i].key.val.string.val,
								   members[i].key.val.string.len);
		const char *path = *parent ? psprintf("%s.%s", parent, key) : key;
		size_t		f = find_field(parent, key);
		const char *problem;

		if (f == lengthof(fields))
			return psprintf(PROBLEM "Field '%s' is not allowed", key);
		problem = wrong_kind(fields[f].kind, &members[i].value);
		if (problem != NULL)
			return psprintf(PROBLEM "%s must be %s", path, problem);
		problem = fields[f].kind == OBJECT ?
			check_fields(&members[i].value, fields[f].name) : NULL;
		if (problem != NULL)
			return problem;
	}
	return NULL;
}

/* Find a mistake in a context object for a state; NULL if there is none. */
const char *
sf_test_context_check(const Jsonb *context, const SfState *state)
{
	JsonbValue	root;
	const char *problem;
	bool		waits;

	if (!JB_ROOT_IS_OBJECT(context))
		return PROBLEM "must be a JSON object";
	if (sf_json_get(context, "Map") != NULL)
		return PROBLEM "'Map' field is not supported when mocking a Context object";
	sf_json_root(context, &root);
	problem = check_fields(&root, "");
	if (problem != NULL)
		return problem;
	waits = state->type == SF_STATE_TASK &&
		sf_state_task(state)->resource.integration != SF_INTEGRATION_REQUEST_RESPONSE;
	if (sf_json_get(context, "Task") != NULL && !waits)
		return PROBLEM "Context object contains 'Task' when state is not a Task state with a '.sync' or '.waitForTaskToken' service integration pattern";
	return NULL;
}
