/*
 * awaited_event.c
 *		Branches that wait for events: what a Task state says that it waits for, and rows of awaited_event.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "db/direct.h"
#include "db/row.h"
#include "feature/event/event_by_key.h"
#include "feature/rule/pattern.h"
#include "store/role/privilege.h"

/* Names that a state may wait for, and events that it may take at once */
#define MAX_NAMES		16
#define MAX_EVENTS		1000

/* Columns of _sfflow.awaited_event */
#define NCOLUMNS		10

/* What the Parameters of a state say */
typedef struct WaitParameters
{
	JsonbValue	keys;			/* by name; else (null) */
	char	   *key;			/* for all names; or NULL */
	Jsonb	   *filter;			/* or NULL */
	int			max_events;
	bool		gives_array;	/* of events; else the one event itself */
} WaitParameters;

/* --- parameters --- */

/* Fail the state. */
static bool
refuse(SfError *error, const char *cause)
{
	return sf_error_set(error, SF_ERR_RUNTIME, "%s", cause);
}

/* Read a key; NULL: it is none. */
static char *
read_key(const JsonbValue *value)
{
	char	   *key = sf_emission_text(value);

	return key == NULL || key[0] == '\0' || strlen(key) > SF_EVENT_KEY_MAX ? NULL : key;
}

/* Check a filter as sf_create_rule() checks a pattern, in a subtransaction. */
static bool
compile_filter(void *arg)
{
	(void) sf_pattern_compile_new(arg);
	return true;
}

/* Take a member of the parameters. */
static bool
read_member(WaitParameters *params, const char *name, const JsonbValue *value, SfError *error)
{
	int64		count;
	ErrorData  *invalid;

	if (strcmp(name, "Key") == 0)
		return (params->key = read_key(value)) != NULL ||
			refuse(error, psprintf("'Key' must be a string of 1 to %d bytes, or a number.", SF_EVENT_KEY_MAX));
	if (strcmp(name, "Keys") == 0)
	{
		params->keys = *value;
		return sf_json_is_object(value) || refuse(error, "'Keys' must be an object with a key for each name.");
	}
	if (strcmp(name, "MaxEvents") == 0)
	{
		if (!sf_json_to_int64(value, &count) || count < 1 || count > MAX_EVENTS)
			return refuse(error, psprintf("'MaxEvents' must be an integer from 1 to %d.", MAX_EVENTS));
		params->max_events = (int) count;
		params->gives_array = true;
		return true;
	}
	if (strcmp(name, "Filter") != 0)
		return refuse(error, psprintf("A wait for events has Key or Keys, Filter and MaxEvents, and no '%s'.", name));
	params->filter = sf_json_make(value);
	invalid = sf_subtransaction_run(compile_filter, NULL, params->filter);
	return invalid == NULL || refuse(error, psprintf("'Filter' is no event pattern: %s", invalid->message));
}

/* Read the parameters of a state. */
static bool
read_parameters(const Jsonb *parameters, WaitParameters *params, SfError *error)
{
	JsonbValue	root;
	SfJsonMember *members;
	int			n;

	*params = (WaitParameters) {.max_events = 1};
	sf_json_root(parameters, &root);
	if (!sf_json_is_object(&root))
		return refuse(error, "A wait for events has Parameters with a Key.");
	members = sf_json_members(&root, &n);
	for (int i = 0; i < n; i++)
		if (!read_member(params, pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len),
						 &members[i].value, error))
			return false;
	return (params->key != NULL) != (params->keys.type == jbvBinary) ||
		refuse(error, "A wait for events has either Key or Keys.");
}

/* The key that a state waits for with a name. */
static char *
key_of(const WaitParameters *params, const char *name, SfError *error)
{
	JsonbValue	value;
	char	   *key;

	if (params->key != NULL)
		return params->key;
	if (!sf_json_member(&params->keys, name, (int) strlen(name), &value) || (key = read_key(&value)) == NULL)
	{
		(void) refuse(error, psprintf("'Keys' must have a key of 1 to %d bytes for '%s'.", SF_EVENT_KEY_MAX, name));
		return NULL;
	}
	return key;
}

/* Check what a state says that it waits for, apart from rights; false: *error says what is wrong. */
bool
sf_awaited_check(const SfResource *resource, const Jsonb *parameters, SfError *error)
{
	WaitParameters params;

	if (!read_parameters(parameters, &params, error))
		return false;
	foreach_ptr(char, name, resource->event_names)
		if (key_of(&params, name, error) == NULL)
			return false;
	return true;
}

/* --- names --- */

/* May the machines of a role wait for events of a type? */
static bool
may_receive(Oid owner, const SfExecution *execution, const char *name, SfError *error)
{
	const SfEventType *type = sf_event_type_find(name);

	/* what the owner has no right at all on does not exist for it */
	if (type == NULL ||
		!sf_privilege_check_role(owner, SF_OBJECT_EVENT, name, type->owner, SF_RIGHT_ANY))
		return sf_error_set(error, SF_ERR_RUNTIME, "The event '%s' does not exist.", name);
	if (sf_privilege_check_role(owner, SF_OBJECT_EVENT, name, type->owner, SF_RIGHT_RECEIVE))
		return true;
	sf_error_set(error, SF_ERR_PERMISSIONS, "The owner of state machine '%s' has no right to receive event '%s'.",
				 execution->machine_name, name);
	error->needs_prefix = false;
	return false;
}

/* --- waits --- */

/* Make the waits of a branch, for each name; NIL: *error says why not. */
static List *
make_waits(const SfDraft *draft, const SfBranch *branch, const SfResource *resource, const Jsonb *parameters,
		   SfError *error)
{
	List	   *names = resource->event_names;
	List	   *waits = NIL;
	WaitParameters params;

	if (list_length(names) > MAX_NAMES)
	{
		(void) refuse(error, psprintf("A state waits for at most %d events.", MAX_NAMES));
		return NIL;
	}
	if (!read_parameters(parameters, &params, error))
		return NIL;
	foreach_ptr(char, name, names)
	{
		SfAwaitedEvent *wait = palloc0(sizeof(SfAwaitedEvent));

		wait->wait = (SfFeatureWait) {branch->key, branch->generation + 1, SF_RESOURCE_EVENT};
		wait->event_name = name;
		wait->max_events = params.max_events;
		wait->gives_array = params.gives_array;
		wait->filter = params.filter;
		wait->event_key = key_of(&params, name, error);
		if (wait->event_key == NULL || !may_receive(draft->execution->owner, draft->execution, name, error))
			return NIL;
		waits = lappend(waits, wait);
	}
	return waits;
}

/* What the history says that a branch waits for: a key for each name. */
static Jsonb *
describe(const List *waits)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	foreach_ptr(const SfAwaitedEvent, wait, waits)
		sf_json_add_string(&json, wait->event_name, wait->event_key);
	return sf_json_end(&json);
}

/*
 * Have a branch wait for events; *stimulus says that it does, or why it cannot.  Its rows are written with the
 * draft.
 */
void
sf_awaited_begin(SfDraft *draft, const SfBranch *branch, const SfResource *resource, const SfTaskRequest *request,
				 SfStimulus *stimulus)
{
	List	   *waits;

	waits = make_waits(draft, branch, resource, request->payload, &stimulus->outcome.error);
	if (waits == NIL)
		return;
	draft->waits = list_concat(draft->waits, waits);
	*stimulus = (SfStimulus) {.kind = SF_STIMULUS_WAITS,.begins_generation = true};
	stimulus->waits = (SfAnswerWait) {{NULL, branch->deadline}, describe(waits)};
}

/* Insert a wait; true: an event may be there for it. */
static bool
insert(const SfAwaitedEvent *wait)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.awaited_event (execution_no, branch_no, event_type_no, key, generation, ripe, since,"
		" max_events, gives_array, filter) VALUES ($1, $2, $3, $4, $5, $6, pg_catalog.clock_timestamp(), $7, $8, $9)"
		" ON CONFLICT DO NOTHING");
	const SfEventType *type = sf_event_type_keep(wait->event_name);
	bool		ripe = false;

	if (type == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("event \"%s\" was dropped while a branch began to wait for it", wait->event_name)));
	if (SF_DEBUG_MUTATION("event_probe_before_lock"))
		ripe = sf_emission_may_be_for(wait->wait.key.execution_no, type, wait->event_key);
	if (!SF_DEBUG_MUTATION("event_no_share"))
		(void) sf_event_key_lock(type->event_type_no, wait->event_key, SF_EVENT_KEY_LOCK_SHARED);
	if (!SF_DEBUG_MUTATION("event_probe_before_lock") && !SF_DEBUG_MUTATION("event_no_probe"))
		ripe = sf_emission_may_be_for(wait->wait.key.execution_no, type, wait->event_key);
	sf_db_execute(&plan, SF_BRANCH_KEY(wait->wait.key), SF_INT4(type->event_type_no), SF_TEXT(wait->event_key),
				  SF_INT4(wait->wait.generation), SF_BOOL(ripe),
				  SF_INT4(wait->max_events), SF_BOOL(wait->gives_array), SF_JSONB(wait->filter));
	return ripe;
}

/* Write a wait of a branch that was written. */
void
sf_awaited_write(const SfFeatureWait *wait)
{
	if (insert((const SfAwaitedEvent *) wait))
		sf_hooks.sweep_soon();
}

/* The rows of waits, by execution, branch and type */
static const SfIndex by_branch = {"awaited_event", "awaited_event_pkey"};

/* Append the number of the type of a wait to a list. */
static void
read_type(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_event_type_no};
	List	  **types = arg;

	*types = lappend_int(*types, sf_row_number(tuple, desc, COL_event_type_no, 0));
}

/* Read the types that a branch waits for, in the order of their numbers. */
static List *
read_types(SfBranchKey key)
{
	List	   *types = NIL;

	(void) sf_rows_read_now(&by_branch, PG_INT32_MAX, read_type, &types, SF_BRANCH_KEY(key));
	return types;
}

/*
 * Lock the rows of a branch that waits; false: another transaction has one of them.  A stop of the execution deletes
 * them without the branch, if a sweep has that.
 */
bool
sf_awaited_lock(SfBranchKey key)
{
	List	   *types = read_types(key);
	ListCell   *lc;

	foreach(lc, types)
		if (!sf_row_fetch(&by_branch, SF_DEBUG_MUTATION("event_wait_for_row") ? SF_LOCK_WAIT : SF_LOCK_SKIP, NULL, NULL,
						  NULL, SF_BRANCH_KEY(key), SF_INT4(lfirst_int(lc))))
			return false;
	return types != NIL;
}

/*
 * Forget what a branch waits for that has left its state.  A query would read all of the table, which statistics call
 * empty, and where waits come and go.
 */
void
sf_awaited_delete(SfBranchKey key)
{
	List	   *types = read_types(key);
	SfTable    *table;
	ListCell   *lc;

	if (types == NIL)
		return;
	table = sf_table_open("awaited_event", NCOLUMNS);
	foreach(lc, types)
	{
		ItemPointerData tid;

		/* a sweep may be about to say that the wait is ripe no more */
		if (sf_row_fetch(&by_branch, SF_LOCK_WAIT, NULL, sf_row_read_address, &tid, SF_BRANCH_KEY(key),
						 SF_INT4(lfirst_int(lc))))
			sf_table_delete(table, &tid);
	}
	sf_table_close(table);
	CommandCounterIncrement();
}

/* Forget what the branches of an execution wait for. */
void
sf_awaited_delete_of_execution(int64 execution_no)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.awaited_event w WHERE w.execution_no = $1");

	if (sf_rows_read_now(&by_branch, 1, NULL, NULL, SF_INT8(execution_no)) > 0)
		sf_db_execute(&plan, SF_INT8(execution_no));
}

/*
 * Executions have come from another node: events may be here for their waits; false: they have none.  The waits begin
 * anew, so that a pass which has begun comes to them, too.
 */
bool
sf_awaited_arrive(SfArg numbers)
{
	static SfPlan plan = SF_PLAN("UPDATE _sfflow.awaited_event w SET ripe = true, since = pg_catalog.clock_timestamp()"
								 " WHERE w.execution_no = ANY ($1)");

	return sf_db_execute(&plan, numbers) > 0;
}

/* Delete the waits of a branch of a generation that it has left behind, but for those that others end just now. */
void
sf_awaited_delete_left(SfBranchKey key, int generation)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.awaited_event d USING (SELECT w.execution_no, w.branch_no, w.event_type_no"
		"  FROM _sfflow.awaited_event w WHERE w.execution_no = $1 AND w.branch_no = $2 AND w.generation = $3"
		"  FOR UPDATE SKIP LOCKED) w WHERE d.execution_no = w.execution_no AND d.branch_no = w.branch_no"
		" AND d.event_type_no = w.event_type_no");

	sf_db_execute(&plan, SF_BRANCH_KEY(key), SF_INT4(generation));
}

/* A wait is not ripe any more, unless others end it just now. */
void
sf_awaited_clear_ripe(SfBranchKey key, int event_type_no, int generation)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.awaited_event u SET ripe = false FROM (SELECT w.execution_no, w.branch_no FROM _sfflow.awaited_event w"
		"  WHERE w.execution_no = $1 AND w.branch_no = $2 AND w.event_type_no = $3 AND w.generation = $4 AND w.ripe"
		"  FOR UPDATE SKIP LOCKED) w"
		" WHERE u.execution_no = w.execution_no AND u.branch_no = w.branch_no AND u.event_type_no = $3");

	sf_db_execute(&plan, SF_BRANCH_KEY(key), SF_INT4(event_type_no), SF_INT4(generation));
}

/* Tell why a machine of the caller cannot wait for the events of a resource; NULL: it can. */
char *
sf_awaited_problem_of(const SfResource *resource)
{
	SfExecution *none = sf_execution_make();

	none->machine_name = "";
	foreach_ptr(char, name, resource->event_names)
	{
		SfError		error;

		if (!may_receive(GetUserId(), none, name, &error))
			return sf_error_is(&error, SF_ERR_PERMISSIONS) ?
				psprintf("The resource '%s' waits for event '%s', which role \"%s\" has no right to receive.",
						 resource->text, name, GetUserNameFromId(GetUserId(), false)) :
				psprintf("The resource '%s' waits for event '%s', which does not exist.", resource->text, name);
	}
	return NULL;
}
