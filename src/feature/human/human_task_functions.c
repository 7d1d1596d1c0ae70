/*
 * human_task_functions.c
 *		sf_claim_task(), sf_release_task(), sf_complete_task(), sf_fail_task(), sf_assign_task(), sf_change_task().
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/compat.h"
#include "base/version/schema.h"
#include "db/table_cache.h"
#include "feature/human/human.h"
#include "store/feature.h"
#include "store/role/privilege.h"

/* Longest error name, and longest cause or comment, in bytes */
#define MAX_ERROR		256
#define MAX_COMMENT		32768

/* --- arguments --- */

/* The number of a task. */
static int64
task_argument(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument task must not be null")));
	return PG_GETARG_INT64(0);
}

/* A text that is not too long; or NULL. */
static char *
short_text(FunctionCallInfo fcinfo, int n, const char *name, size_t most)
{
	char	   *text = sf_arg_text_or_null(fcinfo, n);

	if (text != NULL && strlen(text) > most)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("argument %s has more than %zu bytes", name, most)));
	return text;
}

/* --- claims --- */

/* Is a task claimed by a person? */
static bool
is_claimed_by(const SfHumanTask *task, const SfPerson *person)
{
	return task->claimed_by != NULL && strcmp(task->claimed_by, person->name) == 0;
}

/* Raise the error that another person has claimed a task. */
static void pg_attribute_noreturn()
refuse_claimed(const SfHumanTask *task)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_TASK_IS_CLAIMED),
			 errmsg("task " INT64_FORMAT " is claimed by \"%s\"", task->task_no, task->claimed_by)));
}

/* Raise if the worklist of a task is held, which would be given out. */
static void
require_given_out(const SfHumanTask *task)
{
	sf_table_cache_accept_changes();
	if (sf_feature_is_held(SF_OBJECT_WORKLIST, task->worklist))
		ereport(ERROR,
				(errcode(ERRCODE_SF_WORKLIST_IS_HELD),
				 errmsg("worklist \"%s\" is held", task->worklist),
				 errdetail("Task " INT64_FORMAT " is not given out until sf_release('human:%s').", task->task_no,
						   task->worklist),
				 errhint("The view sf_holds says since when, and why.")));
}

/* sf_claim_task(task, actor) */
SF_SQL_FUNCTION(sfflow_sf_claim_task)
{
	SfPerson	person = sf_person_of_caller(sf_arg_text_or_null(fcinfo, 1));
	SfHumanTask *task = sf_human_lock(task_argument(fcinfo));

	sf_person_require(task, &person, GetUserId());
	if (task->claimed_by == NULL)
	{
		require_given_out(task);
		sf_human_claim(task, &person);
		sf_human_note(task, SF_HUMAN_ACTION_CLAIMED, &person, NULL, NULL);
	}
	else if (!is_claimed_by(task, &person))
		refuse_claimed(task);
	PG_RETURN_VOID();
}

/* Raise unless the caller may give tasks of a worklist to others. */
static void
require_assign(const SfHumanTask *task)
{
	sf_object_require(SF_OBJECT_WORKLIST, task->worklist, task->owner, SF_RIGHT_ASSIGN);
}

/* sf_release_task(task, actor): who has claimed it does so, or who may assign it. */
SF_SQL_FUNCTION(sfflow_sf_release_task)
{
	SfHumanTask *task = sf_human_lock(task_argument(fcinfo));
	SfPerson	person = sf_person_of_caller(sf_arg_text_or_null(fcinfo, 1));

	if (!is_claimed_by(task, &person))
		require_assign(task);
	else if (person.actor != NULL)
		sf_object_require(SF_OBJECT_WORKLIST, task->worklist, task->owner, SF_RIGHT_ACT);
	if (task->claimed_by == NULL)
		PG_RETURN_VOID();
	sf_human_assign(task, NULL);
	sf_human_note(task, SF_HUMAN_ACTION_RELEASED, &person, NULL, NULL);
	PG_RETURN_VOID();
}

/* sf_assign_task(task, role) */
SF_SQL_FUNCTION(sfflow_sf_assign_task)
{
	SfHumanTask *task = sf_human_lock(task_argument(fcinfo));
	SfPerson	caller = sf_person_of_caller(NULL);
	char	   *name = sf_arg_text_or_null(fcinfo, 1);
	SfJsonBuilder json;

	require_assign(task);
	if (name != NULL)
	{
		Oid			role = get_role_oid(name, false);
		SfPerson	person = sf_person_of_role(role);

		sf_person_require(task, &person, role);
		require_given_out(task);
	}
	sf_human_assign(task, name);
	sf_json_begin_object(&json);
	sf_json_add_string(&json, "role", name);
	sf_human_note(task, SF_HUMAN_ACTION_ASSIGNED, &caller, NULL, sf_json_end(&json));
	PG_RETURN_VOID();
}

/* --- changes --- */

/* Read roles, of which there may be none; fails if one does not exist. */
static List *
roles_argument(FunctionCallInfo fcinfo, int n)
{
	Datum	   *names;
	bool	   *nulls;
	int			count;
	List	   *roles = NIL;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(n), TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		SfHumanRole *role;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("element %d of argument roles is null", i + 1)));
		role = palloc(sizeof(SfHumanRole));
		*role = (SfHumanRole) {get_role_oid(TextDatumGetCString(names[i]), false), DT_NOBEGIN};
		roles = lappend(roles, role);
	}
	return roles;
}

/* What a call changes, for the audit. */
static Jsonb *
describe_change(const List *roles, bool has_roles, TimestampTz due, SfArg priority)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	if (has_roles)
	{
		sf_json_open_array(&json, "roles");
		foreach_ptr(const SfHumanRole, role, roles)
			sf_json_add_string(&json, NULL, GetUserNameFromId(role->role, false));
		sf_json_close_array(&json);
	}
	if (due != DT_NOBEGIN)
		sf_json_add_string(&json, "due", TIMESTAMP_NOT_FINITE(due) ? "infinity" : sf_timestamp_print(due));
	if (!priority.isnull)
		sf_json_add_int(&json, "priority", DatumGetInt32(priority.value));
	return sf_json_end(&json);
}

/* sf_change_task(task, roles, due, priority) */
SF_SQL_FUNCTION(sfflow_sf_change_task)
{
	SfHumanTask *task = sf_human_lock(task_argument(fcinfo));
	SfPerson	caller = sf_person_of_caller(NULL);
	bool		has_roles = !PG_ARGISNULL(1);
	List	   *roles = has_roles ? roles_argument(fcinfo, 1) : NIL;
	TimestampTz due = PG_ARGISNULL(2) ? DT_NOBEGIN : PG_GETARG_TIMESTAMPTZ(2);
	SfArg		priority = sf_query_arg(INT4OID, PG_ARGISNULL(3) ? 0 : PG_GETARG_DATUM(3), PG_ARGISNULL(3));

	require_assign(task);
	if (!PG_ARGISNULL(2) && due == DT_NOBEGIN)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument due must be a time, or infinity")));
	if (!priority.isnull && (DatumGetInt32(priority.value) < PG_INT16_MIN || DatumGetInt32(priority.value) > PG_INT16_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument priority must be from %d to %d", PG_INT16_MIN, PG_INT16_MAX)));
	sf_human_change(task, has_roles, roles, SF_TIME_OR_NULL(due, DT_NOBEGIN), priority);
	sf_human_set_sweep(task->task_no);
	sf_human_note(task, SF_HUMAN_ACTION_CHANGED, &caller, NULL, describe_change(roles, has_roles, due, priority));
	PG_RETURN_VOID();
}

/* --- ends --- */

/* Find a task that a person is about to end: it is not claimed by another one. */
static SfHumanTask *
find_to_end(int64 task_no, const SfPerson *person)
{
	SfHumanTask *task = sf_human_lock(task_no);

	sf_person_require(task, person, GetUserId());
	if (task->claimed_by == NULL)
		require_given_out(task);
	else if (!is_claimed_by(task, person))
		refuse_claimed(task);
	return task;
}

/* Raise unless an output fits the form of a task. */
static void
check_output(const SfHumanTask *task, const Jsonb *output)
{
	char	   *pointer;
	char	   *wrong = task->form == NULL ? NULL : sf_form_refuses(task->form, output, &pointer);

	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_FORM),
				 errmsg("the output does not fit the form of worklist \"%s\": \"%s\" %s", task->worklist, pointer, wrong),
				 errdetail("At \"%s\".", pointer),
				 err_generic_string(PG_DIAG_COLUMN_NAME, pointer),
				 err_generic_string(PG_DIAG_DATATYPE_NAME, wrong)));
}

/* The result of a state whose task was completed. */
static Jsonb *
make_result(const Jsonb *output, const SfPerson *person, const char *comment)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add(&json, "Output", output);
	sf_json_add_string(&json, "By", person->name);
	sf_json_add_string(&json, "At", sf_timestamp_print(GetCurrentTimestamp()));
	if (comment == NULL)
		sf_json_add_null(&json, "Comment");
	else
		sf_json_add_string(&json, "Comment", comment);
	return sf_json_end(&json);
}

/* sf_complete_task(task, output, comment, actor) */
SF_SQL_FUNCTION(sfflow_sf_complete_task)
{
	Jsonb	   *output = sf_arg_jsonb(fcinfo, 1, "output");
	char	   *comment = short_text(fcinfo, 2, "comment", MAX_COMMENT);
	SfPerson	person = sf_person_of_caller(sf_arg_text_or_null(fcinfo, 3));
	SfHumanTask *task;

	sf_arg_check_size(output, "output");
	task = find_to_end(task_argument(fcinfo), &person);
	check_output(task, output);
	sf_human_note(task, SF_HUMAN_ACTION_COMPLETED, &person, comment, NULL);
	sf_human_delete(task->key);
	sf_apply_answer_branch(task->key, true, make_result(output, &person, comment), NULL, NULL);
	PG_RETURN_VOID();
}

/* sf_fail_task(task, error, cause, actor) */
SF_SQL_FUNCTION(sfflow_sf_fail_task)
{
	char	   *error = short_text(fcinfo, 1, "error", MAX_ERROR);
	char	   *cause = short_text(fcinfo, 2, "cause", MAX_COMMENT);
	SfPerson	person = sf_person_of_caller(sf_arg_text_or_null(fcinfo, 3));
	SfHumanTask *task = find_to_end(task_argument(fcinfo), &person);
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "error", error);
	sf_human_note(task, SF_HUMAN_ACTION_FAILED, &person, cause, sf_json_end(&json));
	sf_human_delete(task->key);
	sf_apply_answer_branch(task->key, false, NULL, error, cause);
	PG_RETURN_VOID();
}

/* --- for the console --- */

/*
 * human_task_rights(task): {"may_do", "why", "may_assign"}, whether the caller may do a task or why it may not, and
 * whether it may give it to others; null for a task that is over, or that it may not know of.
 */
SF_SQL_FUNCTION(sfflow_human_task_rights)
{
	SfHumanTask *task = sf_human_read_waiting(PG_GETARG_INT64(0));
	SfPerson	caller = sf_person_of_caller(NULL);
	SfJsonBuilder json;
	SfBar		bar;

	if (task == NULL || !sf_privilege_check(SF_OBJECT_WORKLIST, task->worklist, task->owner, SF_RIGHT_ANY))
		PG_RETURN_NULL();
	sf_json_begin_object(&json);
	if (sf_person_may(task, &caller, GetUserId(), &bar))
		sf_json_add_bool(&json, "may_do", true);
	else
	{
		sf_json_add_bool(&json, "may_do", false);
		sf_json_add_string(&json, "why", psprintf("%s. %s", bar.message, bar.detail));
	}
	sf_json_add_bool(&json, "may_assign",
					 sf_privilege_check(SF_OBJECT_WORKLIST, task->worklist, task->owner, SF_RIGHT_ASSIGN));
	PG_RETURN_JSONB_P(sf_json_end(&json));
}
