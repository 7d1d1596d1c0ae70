/*
 * human_wait.c
 *		A Task state begins to wait for people: what its Parameters say, and the rows of its task.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/timestamp.h"

#include "asl/program.h"
#include "base/error/errors.h"
#include "feature/human/human.h"
#include "store/role/named_lock.h"
#include "store/role/privilege.h"

/* Longest title, in bytes; roles, and names of states, that a task may have */
#define MAX_TITLE		1000
#define MAX_NAMES		100

/* Seconds until a task is due, at most: some ten years */
#define MAX_SECONDS		INT64CONST(315360000)

/* A task that a branch begins to wait for */
typedef struct NewTask
{
	SfFeatureWait wait;
	int64		task_no;
	const char *worklist;
	const char *state;
	const char *title;
	TimestampTz began_at;		/* before all times of roles */
	Jsonb	   *data;			/* or NULL */
	List	   *roles;			/* SfHumanRole; NIL: all with the right DO */
	List	   *later;			/* likewise, by Escalate */
	bool		not_starter;	/* not by who has started the execution */
	List	   *not_states;		/* char *: nor by who has completed one of these */
	int			priority;
	TimestampTz due_at;			/* DT_NOEND: not said */
} NewTask;

/* Fail the state. */
static bool
refuse(SfError *error, const char *cause)
{
	return sf_error_set(error, SF_ERR_RUNTIME, "%s", cause);
}

/* --- parameters --- */

/* Read strings, of which there is at least one. */
static bool
read_names(const JsonbValue *value, const char *member, List **names, SfError *error)
{
	JsonbIterator *it = sf_json_elements(value);
	JsonbValue	name;

	while (sf_json_next(&it, &name))
	{
		if (name.type != jbvString || list_length(*names) == MAX_NAMES)
			return refuse(error, psprintf("'%s' must be an array of up to %d names.", member, MAX_NAMES));
		*names = lappend(*names, pnstrdup(name.val.string.val, name.val.string.len));
	}
	return *names != NIL || refuse(error, psprintf("'%s' must be an array of names, and not empty.", member));
}

/* Find roles by their names, for which a task is from some time on. */
static bool
find_roles(const List *names, TimestampTz from_at, List **roles, SfError *error)
{
	foreach_ptr(const char, name, names)
	{
		SfHumanRole *role = palloc(sizeof(SfHumanRole));

		*role = (SfHumanRole) {get_role_oid(name, true), from_at};
		if (!OidIsValid(role->role))
		{
			*error = sf_error_make("Sfflow.UnknownRole", psprintf("The role '%s' of 'Roles' does not exist.", name));
			return false;
		}
		*roles = lappend(*roles, role);
	}
	return true;
}

/* Read from when on a task is for more roles: {"After": seconds, "Roles": names}. */
static bool
read_escalation(const JsonbValue *value, List **later, SfError *error)
{
	JsonbValue	after;
	JsonbValue	roles;
	int64		seconds;
	List	   *names = NIL;

	if (!sf_json_is_object(value) || sf_json_count(value) != 2 || !sf_json_member(value, "After", 5, &after) ||
		!sf_json_member(value, "Roles", 5, &roles) || !sf_json_to_int64(&after, &seconds) || seconds < 0 ||
		seconds > MAX_SECONDS)
		return refuse(error, "'Escalate' must be an array of objects with 'After', an integer of seconds, and 'Roles'.");
	return read_names(&roles, "Roles", &names, error) &&
		find_roles(names, GetCurrentTimestamp() + seconds * USECS_PER_SEC, later, error);
}

/* Read all of that. */
static bool
read_escalations(const JsonbValue *value, List **later, SfError *error)
{
	JsonbIterator *it = sf_json_elements(value);
	JsonbValue	escalation;

	if (!sf_json_is_array(value))
		return refuse(error, "'Escalate' must be an array.");
	while (sf_json_next(&it, &escalation))
		if (!read_escalation(&escalation, later, error))
			return false;
	return true;
}

/*
 * Read who must not do a task: the starter, and who has completed states of the machine.  If that has a state of the
 * name "starter", the word is of both.
 */
static bool
read_not_by(const JsonbValue *value, const SfProgram *program, NewTask *task, SfError *error)
{
	List	   *names = NIL;

	if (!read_names(value, "NotBy", &names, error))
		return false;
	foreach_ptr(char, name, names)
	{
		bool		is_starter = strcmp(name, "starter") == 0;

		if (sf_program_find_state(program, name) != SF_NO_STATE)
			task->not_states = lappend(task->not_states, name);
		else if (!is_starter)
			return refuse(error, psprintf("'NotBy' names neither \"starter\" nor a state of the machine: '%s'.", name));
		task->not_starter = task->not_starter || is_starter;
	}
	return true;
}

/* Read when a task is due: seconds from now, or a time. */
static bool
read_due(const JsonbValue *value, TimestampTz *due, SfError *error)
{
	int64		seconds;

	if (value->type == jbvString && sf_timestamp_parse(value->val.string.val, value->val.string.len, due))
		return true;
	if (!sf_json_to_int64(value, &seconds) || seconds < 0 || seconds > MAX_SECONDS)
		return refuse(error, "'Due' must be an integer of seconds, or a time.");
	*due = GetCurrentTimestamp() + seconds * USECS_PER_SEC;
	return true;
}

/* Read a title. */
static bool
read_title(const JsonbValue *value, const char **title, SfError *error)
{
	if (value->type != jbvString || value->val.string.len > MAX_TITLE)
		return refuse(error, psprintf("'Title' must be a string of at most %d bytes.", MAX_TITLE));
	*title = pnstrdup(value->val.string.val, value->val.string.len);
	return true;
}

/* Read a priority. */
static bool
read_priority(const JsonbValue *value, int *priority, SfError *error)
{
	int64		number;

	if (!sf_json_to_int64(value, &number) || number < PG_INT16_MIN || number > PG_INT16_MAX)
		return refuse(error, psprintf("'Priority' must be an integer from %d to %d.", PG_INT16_MIN, PG_INT16_MAX));
	*priority = (int) number;
	return true;
}

/* Take a member of the parameters. */
static bool
read_member(NewTask *task, const SfProgram *program, const char *name, const JsonbValue *value, SfError *error)
{
	List	   *names = NIL;

	if (strcmp(name, "Title") == 0)
		return read_title(value, &task->title, error);
	if (strcmp(name, "Data") == 0)
	{
		task->data = sf_json_make(value);
		return true;
	}
	if (strcmp(name, "Roles") == 0)
		return read_names(value, name, &names, error) && find_roles(names, DT_NOBEGIN, &task->roles, error);
	if (strcmp(name, "NotBy") == 0)
		return read_not_by(value, program, task, error);
	if (strcmp(name, "Escalate") == 0)
		return read_escalations(value, &task->later, error);
	if (strcmp(name, "Due") == 0)
		return read_due(value, &task->due_at, error);
	if (strcmp(name, "Priority") == 0)
		return read_priority(value, &task->priority, error);
	return refuse(error, psprintf("A task of people has Title, Data, Roles, NotBy, Due, Escalate and Priority, and no '%s'.",
								  name));
}

/* Read the parameters of a state. */
static bool
read_parameters(const Jsonb *parameters, const SfProgram *program, NewTask *task, SfError *error)
{
	JsonbValue	root;
	SfJsonMember *members;
	int			n;

	sf_json_root(parameters, &root);
	if (!sf_json_is_object(&root))
		return refuse(error, "The Parameters of a task of people are an object.");
	members = sf_json_members(&root, &n);
	for (int i = 0; i < n; i++)
		if (!read_member(task, program, pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len),
						 &members[i].value, error))
			return false;
	return task->later == NIL || task->roles != NIL ||
		refuse(error, "'Escalate' makes a task one for more roles, so it needs 'Roles'.");
}

/* May the machines of a role give tasks to a worklist? */
static bool
may_assign(Oid owner, const char *machine, const char *name, SfError *error)
{
	const SfWorklist *worklist = sf_worklist_find(name);

	/* what the owner has no right at all on does not exist for it */
	if (worklist == NULL ||
		!sf_privilege_check_role(owner, SF_OBJECT_WORKLIST, name, worklist->owner, SF_RIGHT_ANY))
		return sf_error_set(error, SF_ERR_RUNTIME, "The worklist '%s' does not exist.", name);
	if (sf_privilege_check_role(owner, SF_OBJECT_WORKLIST, name, worklist->owner, SF_RIGHT_ASSIGN))
		return true;
	sf_error_set(error, SF_ERR_PERMISSIONS, "The owner of state machine '%s' has no right to assign tasks of worklist '%s'.",
				 machine, name);
	error->needs_prefix = false;
	return false;
}

/* What the history says that a branch waits for. */
static Jsonb *
describe(const NewTask *task)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_int(&json, "Task", task->task_no);
	sf_json_add_string(&json, "Worklist", task->worklist);
	return sf_json_end(&json);
}

/*
 * Have a branch wait for people; *stimulus says that it does, or why it cannot.  Its rows are written with the
 * draft.
 */
void
sf_human_begin(SfDraft *draft, const SfBranch *branch, const SfResource *resource, const SfTaskRequest *request,
			   SfStimulus *stimulus)
{
	NewTask    *task = palloc0(sizeof(NewTask));

	task->wait = (SfFeatureWait) {branch->key, branch->generation + 1, SF_RESOURCE_HUMAN};
	task->worklist = resource->name;
	task->state = task->title = draft->program->states[branch->state].name;
	task->began_at = GetCurrentTimestamp() - 1;
	task->due_at = DT_NOEND;
	if (!may_assign(draft->execution->owner, draft->execution->machine_name, resource->name, &stimulus->outcome.error) ||
		!read_parameters(request->payload, draft->program, task, &stimulus->outcome.error))
		return;
	task->task_no = sf_sequence_next("human_task_no");
	draft->waits = lappend(draft->waits, task);
	*stimulus = (SfStimulus) {.kind = SF_STIMULUS_WAITS,.begins_generation = true};
	stimulus->waits = (SfAnswerWait) {{NULL, branch->deadline}, describe(task)};
}

/* Tell why a machine of the caller cannot give tasks to the worklist of a resource; NULL: it can. */
char *
sf_human_problem_of(const SfResource *resource)
{
	SfError		error;

	if (may_assign(GetUserId(), "", resource->name, &error))
		return NULL;
	return sf_error_is(&error, SF_ERR_PERMISSIONS) ?
		psprintf("The resource '%s' is worklist '%s', whose tasks role \"%s\" has no right to assign.", resource->text,
				 resource->name, GetUserNameFromId(GetUserId(), false)) :
		psprintf("The resource '%s' is worklist '%s', which does not exist.", resource->text, resource->name);
}

/* --- rows --- */

/* A text[] of names */
static SfArg
names_arg(const List *names)
{
	Datum	   *texts = palloc(sizeof(Datum) * Max(list_length(names), 1));
	int			n = 0;

	foreach_ptr(const char, name, names)
		texts[n++] = CStringGetTextDatum(name);
	return sf_query_arg(TEXTARRAYOID, PointerGetDatum(construct_array(texts, n, TEXTOID, -1, false, TYPALIGN_INT)), false);
}

/*
 * Write the task of a branch that was written.  It keeps the worklist from being dropped, and has its form as it is
 * now.
 */
void
sf_human_write(const SfFeatureWait *wait)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.human_task (execution_no, branch_no, task_no, generation, worklist_no, priority, created_at,"
		" due_at, due_told, roles_told_at, state, title, not_starter, not_states, data, form, for_all)"
		" SELECT $1, $2, $3, $4, w.worklist_no, $5, pg_catalog.clock_timestamp(), $6, false, $11, $12, $7, $14, $8, $9, w.form, $13"
		" FROM _sfflow.worklist w WHERE w.name = $10 FOR KEY SHARE");
	const NewTask *task = (const NewTask *) wait;

	sf_human_cancel(wait->key);
	sf_named_lock(SF_OBJECT_WORKLIST, task->worklist, SF_NAMED_LOCK_KEEP);
	/* the lock of the row has a transaction fail whose snapshot shows a worklist that was dropped */
	if (sf_db_execute(&plan, SF_BRANCH_KEY(wait->key), SF_INT8(task->task_no), SF_INT4(wait->generation),
					  SF_INT4(task->priority), SF_TIME_OR_NULL(task->due_at, DT_NOEND), SF_TEXT(task->title),
					  names_arg(task->not_states), SF_JSONB(task->data), SF_TEXT(task->worklist),
					  SF_TIME(task->began_at), SF_TEXT(task->state), SF_BOOL(task->roles == NIL), SF_BOOL(task->not_starter)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("worklist \"%s\" was dropped while a branch began to wait for it", task->worklist)));
	sf_human_insert_roles(wait->key, task->roles);
	sf_human_insert_roles(wait->key, task->later);
	if (task->due_at != DT_NOEND || task->later != NIL)
		sf_human_set_sweep(task->task_no);
	sf_human_created(task->task_no);
}
