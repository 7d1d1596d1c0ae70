/*
 * activity_functions.c
 *		Activities and task tokens: make a queue, take tasks, answer them.
 *		sf_raise(), by which a task inside of the database fails.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/columns.h"
#include "api/execution/executions.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/compat.h"
#include "base/version/schema.h"
#include "copy/instance.h"
#include "run/apply/apply.h"
#include "store/audit/audit.h"
#include "store/feature.h"
#include "store/state_machine/aws_resource.h"
#include "store/state_machine/program_cache.h"
#include "transition/state/map_state.h"

/* Tasks that one call may take */
#define MAX_TASKS		1000

/* Longest error name and cause, as in Step Functions */
#define MAX_ERROR		256
#define MAX_CAUSE		32768

/* sf_create_activity(name, lease, max_receive_count) */
SF_SQL_FUNCTION(sfflow_sf_create_activity)
{
	char	   *name = sf_arg_text(fcinfo, 0, "name");
	int64		lease_ms = PG_ARGISNULL(1) ? SF_NO_TIMEOUT : sf_arg_duration_ms(fcinfo, 1, "lease");
	int			max_receive_count = sf_arg_count(fcinfo, 2, "max_receive_count", 1, SF_UNLIMITED);
	SfActivity *there;

	sf_name_check(name, "activity name");
	if (max_receive_count != SF_UNLIMITED && PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument max_receive_count needs a lease"),
				 errhint("A task is handed out again only when its lease is over.")));
	if (!PG_ARGISNULL(1) && lease_ms < 1)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument lease must be at least a millisecond")));

	there = sf_activity_read(name);
	if (!sf_privilege_may_create() &&
		(there == NULL || !sf_privilege_is_owner(there->owner)))
		sf_deny_create();
	if (sf_activity_insert(name, GetUserId(),
						   PG_ARGISNULL(1) ? (Datum) 0 : PG_GETARG_DATUM(1),
						   PG_ARGISNULL(1), max_receive_count))
	{
		sf_privilege_anchor(GetUserId());
		PG_RETURN_VOID();
	}

	/* the same call again is no error, as with CreateActivity */
	there = sf_activity_read(name);
	if (there == NULL || !sf_privilege_is_owner(there->owner) ||
		there->max_receive_count != max_receive_count ||
		there->lease_ms != lease_ms)
		ereport(ERROR,
				(errcode(ERRCODE_SF_ACTIVITY_ALREADY_EXISTS),
				 errmsg("activity \"%s\" exists with other settings, or of another owner",
						name)));
	PG_RETURN_VOID();
}

/* sf_drop_activity(name) */
SF_SQL_FUNCTION(sfflow_sf_drop_activity)
{
	SfActivity *activity = sf_arg_activity(sf_arg_text(fcinfo, 0, "name"),
										   SF_RIGHT_OWNER);
	int64		tasks;

	(void) sf_object_lock_own(SF_OBJECT_ACTIVITY, activity->name, SF_NAMED_LOCK_DROP);
	/* another one may have its name by now */
	activity = sf_arg_activity(activity->name, SF_RIGHT_OWNER);
	tasks = sf_activity_count_tasks(activity->activity_no);
	if (tasks > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("activity \"%s\" has " INT64_FORMAT " tasks that nobody has answered",
						activity->name, tasks),
				 errhint("Stop their executions first; sf_tasks shows them.")));
	sf_privilege_delete_of_object(SF_OBJECT_ACTIVITY, activity->name);
	sf_aws_resource_delete(SF_OBJECT_ACTIVITY, activity->name);
	sf_audit_delete_of_object(SF_OBJECT_ACTIVITY, activity->name);
	SF_TELL(on_object_dropped, SF_OBJECT_ACTIVITY, activity->name);
	sf_activity_delete(activity->activity_no);
	sf_privilege_unanchor(activity->owner);
	PG_RETURN_VOID();
}

/* Make an interval of milliseconds. */
static Datum
interval_of_ms(int64 ms)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = ms * 1000;
	return IntervalPGetDatum(interval);
}

/* Find the state that a task belongs to; NULL: it is not known. */
static const SfState *
find_state(const SfExecution *execution, const SfTask *task)
{
	const SfProgram *program = execution == NULL ? NULL :
		sf_program_cache_get(execution->machine_no, execution->version);

	if (program == NULL || !sf_program_has_state(program, task->state))
		return NULL;
	return &program->states[task->state];
}

/*
 * Tell within which time a worker has to answer or to send a heartbeat: the
 * task's heartbeat or the activity's lease, whichever is shorter, or SF_NO_TIMEOUT.  A
 * worker that does not know the lease would let long tasks run twice.
 */
static int64
silence_allowed(const SfActivity *activity, const SfTask *task)
{
	if (activity->lease_ms == SF_NO_TIMEOUT)
		return task->heartbeat_ms;
	if (task->heartbeat_ms == SF_NO_TIMEOUT)
		return activity->lease_ms;
	return Min(activity->lease_ms, task->heartbeat_ms);
}

/* Whether tasks are given out with what they are part of: not at all, in columns that are null, in columns */
typedef enum TraceColumns
{
	TRACE_NOT_SHOWN,
	TRACE_NULL,
	TRACE_SHOWN
} TraceColumns;

/* Put the context of the trace that a task is part of into a row: traceparent and tracestate; nulls: of none. */
static void
put_trace(SfColumns *row, const SfExecution *execution, const SfState *state, const SfTask *task)
{
	const SfBranch *branch = execution == NULL || state == NULL || execution->trace == NULL ? NULL :
		sf_branch_read(task->key, SF_LOCK_NONE);
	char	   *context = branch == NULL ? NULL : sf_feature_trace_context(execution, branch, state, true);
	char	   *blank = context == NULL ? NULL : strchr(context, ' ');

	if (blank != NULL)
		*blank = '\0';
	sf_columns_text(row, context);
	sf_columns_text(row, blank == NULL ? NULL : blank + 1);
}

/* Put one task into the result. */
static void
put_task(FunctionCallInfo fcinfo, const SfActivity *activity, const SfTask *task, TraceColumns trace)
{
	int64		silence = silence_allowed(activity, task);
	SfExecution *execution = sf_execution_read(task->key.execution_no,
											   SF_LOCK_NONE, false);
	const SfState *state = find_state(execution, task);
	const char *written = state == NULL ? NULL :
		state->type == SF_STATE_MAP ? sf_state_distributed(state)->item_reader->text :
		sf_state_task(state)->resource.text;
	SfColumns row = {0};

	sf_columns_text(&row, sf_task_token(task));
	sf_columns_jsonb(&row, task->input);
	sf_columns_text(&row, execution ? execution->execution_id : NULL);
	sf_columns_text(&row, state ? state->name : NULL);
	sf_columns_add(&row, Int32GetDatum(task->attempt + task->receives), false);
	sf_columns_add(&row, interval_of_ms(silence), silence == SF_NO_TIMEOUT);
	sf_columns_time(&row, task->timeout_ms == SF_NO_TIMEOUT ? DT_NOEND :
				   task->started_at + task->timeout_ms * 1000);
	sf_columns_time(&row, task->scheduled_at);
	sf_columns_text(&row, task->resource != NULL ? task->resource : written);
	sf_columns_text(&row, written);
	if (trace != TRACE_NOT_SHOWN)
		put_trace(&row, trace == TRACE_NULL ? NULL : execution, state, task);
	sf_columns_put(fcinfo, &row);
}

/* Claim tasks of an activity, oldest first: none where the activity is held, or the database not driven. */
List *
sf_object_claim_tasks(const SfActivity *activity, char *worker, int max_tasks)
{
	if (worker != NULL && strlen(worker) > 1024)
		worker[pg_mbcliplen(worker, strlen(worker), 1024)] = '\0';
	if (!sf_instance_takes_work())
	{
		/* a notice: workers poll all the time, and the server's log is not to fill */
		sf_instance_tell(NOTICE, sf_instance_status(),
						 psprintf("activity \"%s\" hands nothing out: the database is not driven",
								  activity->name));
		return NIL;
	}
	sf_activity_note_poll(activity->activity_no, worker);
	if (sf_feature_is_held(SF_OBJECT_ACTIVITY, activity->name))
		return NIL;
	return sf_apply_claim_tasks(activity, worker, max_tasks);
}

/* Take tasks of an activity: activity, worker_name, max_tasks. */
static Datum
get_tasks(FunctionCallInfo fcinfo, TraceColumns trace)
{
	SfActivity *activity = sf_arg_activity(sf_arg_text(fcinfo, 0, "activity"),
										   SF_RIGHT_WORK);
	char	   *worker = sf_arg_text_or_null(fcinfo, 1);
	int			max_tasks = sf_arg_count(fcinfo, 2, "max_tasks", 1, 1);

	if (max_tasks > MAX_TASKS)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument max_tasks must be at most %d", MAX_TASKS)));
	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(SfTask, task, sf_object_claim_tasks(activity, worker, max_tasks))
		put_task(fcinfo, activity, task, trace);
	return (Datum) 0;
}

/* sf_get_activity_task(activity, worker_name, max_tasks): tasks, oldest first. */
SF_SQL_FUNCTION(sfflow_sf_get_activity_task)
{
	return get_tasks(fcinfo, TRACE_NOT_SHOWN);
}

/* sf_get_activity_task(activity, worker_name, max_tasks, with_trace): the same with traceparent and tracestate. */
SF_SQL_FUNCTION(sfflow_sf_get_activity_task_traced)
{
	return get_tasks(fcinfo, !PG_ARGISNULL(3) && PG_GETARG_BOOL(3) ? TRACE_SHOWN : TRACE_NULL);
}

/* Raise the error for an invalid token. */
static void pg_attribute_noreturn()
invalid_token(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_TASK_TOKEN),
			 errmsg("Invalid Token: 'Invalid token'"),
			 errhint("Give the token as it was handed out.")));
}

/* The node to which an execution was moved; SF_NO_NODE: it was not. */
static int
left_to(int64 execution_no)
{
	SF_FEATURES(node_left_to, feature)
		return feature->node_left_to(execution_no);
	return SF_NO_NODE;
}

/* Raise the error for a task that no longer waits for its token. */
static void pg_attribute_noreturn()
timed_out(int64 execution_no)
{
	int			node = left_to(execution_no);

	ereport(ERROR,
			(errcode(ERRCODE_SF_TASK_TIMED_OUT),
			 errmsg("Task Timed Out: 'Provided task does not exist anymore'"),
			 node == SF_NO_NODE ? 0 : sf_error_node(node),
			 node != SF_NO_NODE ? errdetail("Its execution was moved to node %d, where the token is good.", node) :
			 errdetail("The task has timed out, was handed out again, or its execution has ended.")));
}

/*
 * Raise unless the caller may answer a task: as a member of an owner, or with
 * the right SEND, which public has until it is revoked.
 */
static void
require_send(const SfTask *task, const SfExecution *execution)
{
	SfActivity *activity = task->activity_no == SF_NO_ACTIVITY ? NULL :
		sf_activity_read_no(task->activity_no);
	SfObjectKind kind = activity != NULL ? SF_OBJECT_ACTIVITY : SF_OBJECT_STATE_MACHINE;
	const char *name = activity != NULL ? activity->name : execution->machine_name;

	if (sf_privilege_is_owner(execution->owner) ||
		sf_privilege_check(kind, name, activity != NULL ? activity->owner : execution->owner,
						   SF_RIGHT_SEND))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to answer the task"),
			 errdetail("Public has lost the right SEND, and role \"%s\" was not given it.",
					   GetUserNameFromId(GetUserId(), false)),
			 sf_object_errhint_grant(kind, name, SF_RIGHT_SEND)));
}

/* Compare two secrets in a time that does not depend on where they differ. */
static bool
same_secret(const SfTaskSecret *a, const SfTaskSecret *b)
{
	unsigned char difference = 0;

	for (int i = 0; i < SF_TASK_SECRET_BYTES; i++)
		difference |= a->bytes[i] ^ b->bytes[i];
	return difference == 0;
}

/*
 * Tell whether a task was handed out again after a program was given a token of it.  The token
 * in the payload of a request stays good: a program that sends the request again sends the
 * same payload.
 */
static bool
is_of_earlier_time(const SfTask *given, const SfExecution *execution, const SfTask *task)
{
	const SfState *state;

	if (given->receives == Max(task->receives, 1))
		return false;
	state = find_state(execution, task);
	return state == NULL || (state->needs.enter & SF_NEED_TOKEN) == 0;
}

/*
 * Find the task of a token and lock it: branch, then task.  Raises unless the
 * task waits for an answer.
 */
static SfTask *
lock_task(const char *token)
{
	SfTask		given;
	SfTask	   *task;
	SfBranch   *branch;
	SfExecution *execution;

	if (!sf_task_token_parse(token, &given))
		invalid_token();

	/* look without a lock first: a guessed token must not block other sessions */
	task = sf_task_read(given.key, SF_LOCK_NONE);
	if (task == NULL && IsolationUsesXactSnapshot() && sf_task_is_there(given.key))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the task is newer than the snapshot of this transaction"),
				 errhint("Try again in a new transaction.")));
	if (task == NULL || task->generation > given.generation)
		timed_out(given.key.execution_no);
	if (!same_secret(&task->secret, &given.secret))
		invalid_token();

	execution = sf_execution_read(given.key.execution_no, SF_LOCK_NONE, false);
	if (execution != NULL)
		require_send(task, execution);
	sf_hooks.branch_locked();
	branch = sf_branch_read(given.key, SF_LOCK_WAIT);
	task = sf_task_read(given.key, SF_LOCK_WAIT);
	if (task == NULL || branch == NULL || task->generation != given.generation ||
		!same_secret(&task->secret, &given.secret))
		timed_out(given.key.execution_no);
	if (task->status == SF_TASK_STATUS_ANSWERED)
		ereport(ERROR,
				(errcode(ERRCODE_SF_TASK_ALREADY_ANSWERED),
				 errmsg("the task was answered already")));
	execution = sf_execution_read(given.key.execution_no, SF_LOCK_NONE, false);
	if (execution == NULL || execution->status != SF_STATUS_RUNNING ||
		branch->generation != given.generation ||
		(branch->phase != SF_PHASE_EXTERNAL && branch->phase != SF_PHASE_ANNOUNCED) ||
		task->status == SF_TASK_STATUS_QUEUED || task->status == SF_TASK_STATUS_DEAD ||
		is_of_earlier_time(&given, execution, task))
		timed_out(given.key.execution_no);
	return task;
}

/* sf_send_task_success(task_token, output) */
SF_SQL_FUNCTION(sfflow_sf_send_task_success)
{
	char	   *token = sf_arg_text(fcinfo, 0, "task_token");
	Jsonb	   *output = sf_arg_jsonb(fcinfo, 1, "output");

	sf_arg_check_size(output, "output");
	sf_apply_answer(lock_task(token), true, output, NULL, NULL);
	PG_RETURN_VOID();
}

/* Refuse an error name or a cause that is too long. */
static void
check_length(const char *text, const char *name, size_t max)
{
	if (text != NULL && strlen(text) > max)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("argument %s is longer than %zu bytes", name, max)));
}

/* sf_send_task_failure(task_token, error, cause) */
SF_SQL_FUNCTION(sfflow_sf_send_task_failure)
{
	char	   *token = sf_arg_text(fcinfo, 0, "task_token");
	char	   *error = sf_arg_text_or_null(fcinfo, 1);
	char	   *cause = sf_arg_text_or_null(fcinfo, 2);

	check_length(error, "error", MAX_ERROR);
	check_length(cause, "cause", MAX_CAUSE);
	sf_apply_answer(lock_task(token), false, NULL, error, cause);
	PG_RETURN_VOID();
}

/* sf_send_task_heartbeat(task_token): the worker still runs the task. */
SF_SQL_FUNCTION(sfflow_sf_send_task_heartbeat)
{
	SfTask	   *task = lock_task(sf_arg_text(fcinfo, 0, "task_token"));
	SfActivity *activity = task->activity_no == SF_NO_ACTIVITY ? NULL :
		sf_activity_read_no(task->activity_no);

	sf_apply_heartbeat(task, activity == NULL ? SF_NO_TIMEOUT : activity->lease_ms);
	PG_RETURN_VOID();
}

/* Find the run of a Map whose items a task reads; the caller has locked the task. */
static SfMapRun *
run_of_reader(const SfTask *task)
{
	SfBranch   *branch = sf_branch_read(task->key, SF_LOCK_NONE);
	SfExecution *execution = sf_execution_read(task->key.execution_no, SF_LOCK_NONE, false);
	const SfState *state = find_state(execution, task);

	if (state == NULL || !sf_distributed_is_reading(state, branch))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the task does not read the items of a Map"),
				 errhint("Only the task of an ItemReader takes items; answer any other with sf_send_task_success().")));
	return sf_apply_map_run_of(branch);
}

/* sf_send_task_items(task_token, items, first): whether more are wanted. */
SF_SQL_FUNCTION(sfflow_sf_send_task_items)
{
	char	   *token = sf_arg_text(fcinfo, 0, "task_token");
	Jsonb	   *items = sf_arg_jsonb(fcinfo, 1, "items");
	int			first = sf_arg_count(fcinfo, 2, "first", 0, 0);
	SfMapRun   *map_run;
	JsonbValue	root;
	int			total;

	sf_arg_check_size(items, "items");
	sf_json_root(items, &root);
	if (!sf_json_is_array(&root))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument items must be a JSON array")));
	map_run = run_of_reader(lock_task(token));
	if (first > map_run->total)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument first is %d, but only %d items were sent", first, map_run->total),
				 errhint("A program that is given the task again begins with 0.")));
	total = sf_apply_items_put(map_run, items, first);
	PG_RETURN_BOOL(map_run->max_items == SF_UNLIMITED || total < map_run->max_items);
}

/* --- sf_raise(): how a SQL task fails with an error name of its choice --- */

/* Limits of Step Functions, in characters */
#define SF_ERROR_NAME_MAX	256
#define SF_CAUSE_MAX		32768

/*
 * sf_raise(error, cause): raise an error that the runner of the task turns
 * into this ASL error.  To everybody else (EXCEPTION in PL/pgSQL, psql) it is
 * an error with SQLSTATE SF022, the name as its message and the cause as its
 * detail; a RAISE that is made like that means the same.
 */
SF_SQL_FUNCTION(sfflow_sf_raise)
{
	char	   *name = PG_ARGISNULL(0) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *cause = sf_arg_text_or_null(fcinfo, 1);

	if (pg_mbstrlen(name) > SF_ERROR_NAME_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_NAME),
				 errmsg("error name has more than %d characters", SF_ERROR_NAME_MAX),
				 errdetail("It begins \"%.*s\".", pg_mbcharcliplen(name, strlen(name), 60), name)));
	if (cause != NULL)
		cause[pg_mbcharcliplen(cause, strlen(cause), SF_CAUSE_MAX)] = '\0';
	ereport(ERROR,
			(errcode(ERRCODE_SF_TASK_RAISED),
			 name[0] != '\0' ? errmsg_internal("%s", name) :
			 errmsg("task failed without an error name"),
			 cause != NULL ? errdetail_internal("%s", cause) : 0,
			 err_generic_string(PG_DIAG_DATATYPE_NAME, name)));
	PG_RETURN_VOID();
}
