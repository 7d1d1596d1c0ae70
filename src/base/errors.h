/*
 * errors.h
 *		Every SQLSTATE of sfflow, every States.* error name, and the value in
 *		which an evaluation reports its failure.
 *
 * Two kinds of failure are kept apart.  What a caller of an SQL function did
 * wrong is an ereport(ERROR) with an SQLSTATE of the list below.  What goes
 * wrong inside a running state machine is data: evaluators and state handlers
 * return false and fill an SfError, which Retry and Catch then look at.
 */
#ifndef SF_BASE_ERRORS_H
#define SF_BASE_ERRORS_H

/*
 * SQLSTATEs, all in class SF: symbol, the three characters after "SF",
 * condition name; for docs/errors.md, which test/tools/errors-doc prints: what
 * it means, what to do.
 */
#define SF_SQLSTATE_LIST(X) \
	X(INVALID_DEFINITION, '0','0','1', "invalid_definition", \
	  "The definition has errors. The message lists them all with their places.", \
	  "Correct it. `sf_validate` shows the same as rows.") \
	X(INVALID_NAME, '0','0','2', "invalid_name", \
	  "A name is too long, empty, or has a character that names do not have.", \
	  "See the rule at `sf_create_state_machine`.") \
	X(STATE_MACHINE_DOES_NOT_EXIST, '0','0','3', "state_machine_does_not_exist", \
	  "No state machine, or no version of it, has this name.", \
	  "Look in `sf_state_machines`.") \
	X(STATE_MACHINE_IN_USE, '0','0','4', "state_machine_in_use", \
	  "The state machine to drop has running executions, or more ended ones than one call deletes.", \
	  "Stop the running ones, `sf_purge` the others, or drop it with `force`.") \
	X(EXECUTION_DOES_NOT_EXIST, '0','0','5', "execution_does_not_exist", \
	  "No execution has this id, or it was purged.", \
	  "An id is `machine:name`. Look in `sf_executions`.") \
	X(EXECUTION_ALREADY_EXISTS, '0','0','6', "execution_already_exists", \
	  "`if_exists` is `error`, and the name is taken by an execution that has ended or has another input.", \
	  "Choose another name, or another `if_exists`.") \
	X(EXECUTION_RUNNING, '0','0','7', "execution_running", \
	  "`if_exists` is `restart`, and the execution is running.", \
	  "Stop it first with `sf_stop`, or wait.") \
	X(EXECUTION_NOT_REDRIVABLE, '0','0','8', "execution_not_redrivable", \
	  "The execution is running, has succeeded, is a child of a Distributed Map, or has nothing to go on from.", \
	  "Redrive the parent of a child; run one that succeeded with `if_exists` `restart`; give `input` where the history has none.") \
	X(INPUT_DIFFERS, '0','0','9', "input_differs", \
	  "The execution exists with another input, and to resume it would use the old one. A warning with this SQLSTATE says so where nothing is resumed.", \
	  "`sf_redrive` goes on with the old input, `restart` begins with the new one.") \
	X(INVALID_EXECUTION_INPUT, '0','1','0', "invalid_execution_input", \
	  "The input has no string or integer where `execution_id_path` looks for the name.", \
	  "Put it there, or give the argument `name`.") \
	X(PAYLOAD_TOO_LARGE, '0','1','1', "payload_too_large", \
	  "An input, output or result is larger than `sfflow.max_payload_bytes`. As the failure of a task it is `States.DataLimitExceeded`.", \
	  "Keep large data in a table and pass its key.") \
	X(INVALID_OPTION, '0','1','2', "invalid_option", \
	  "An option or an argument has a value that it cannot have.", \
	  "The message names it and what it may be.") \
	X(CANNOT_AWAIT, '0','1','3', "cannot_await", \
	  "`sf_await` or `sf_wait` would never see the end: the same transaction started the execution, or its snapshot does not move on. Or `sf_wait` is called inside a query.", \
	  "Commit first; use `READ COMMITTED`; or drive by hand with `sf_run`. Call `sf_wait` by itself.") \
	X(EXPRESSION_ERROR, '0','1','4', "expression_error", \
	  "A path, an intrinsic function or an expression of DynamoDB is wrong, or failed.", \
	  "The detail says what is wrong with it.") \
	X(EVALUATION_LIMIT, '0','1','5', "evaluation_limit_exceeded", \
	  "An expression took more time, depth or memory than it may, or an execution has as many events as it may.", \
	  "Look for a loop without an end, then at `sfflow.evaluation_timeout`, `sfflow.evaluation_depth` and `sfflow.max_history_events`.") \
	X(NOT_DRIVEN, '0','1','6', "not_driven", \
	  "The database is not driven: it is a copy, was switched off, or pg_upgrade runs its server. A warning with this SQLSTATE says so where nothing is done, or where only what was named is.", \
	  "`sf_health` tells why. Where this is the original or its successor, call `sf_enable`.") \
	X(RESOURCE_DOES_NOT_EXIST, '0','1','7', "resource_does_not_exist", \
	  "The text is no resource that sfflow runs, or no mapping has this pattern.", \
	  "Write `sql:schema.function`, `sql:query` or `activity:name`, or map it with `sf_map_resource`.") \
	X(ACTIVITY_DOES_NOT_EXIST, '0','1','8', "activity_does_not_exist", \
	  "No activity has this name.", \
	  "Look in `sf_activities`; `sf_create_activity` makes one.") \
	X(INVALID_TASK_TOKEN, '0','1','9', "invalid_task_token", \
	  "The text is no task token.", \
	  "Give it as it was handed out.") \
	X(TASK_TIMED_OUT, '0','2','0', "task_timed_out", \
	  "The task is over: it timed out, was handed out again, or its execution has ended.", \
	  "Nothing is left to answer. Send heartbeats, or give the task more time.") \
	X(TASK_ALREADY_ANSWERED, '0','2','1', "task_already_answered", \
	  "The task was answered before.", \
	  "The first answer counts.") \
	X(TASK_RAISED, '0','2','2', "task_raised", \
	  "`sf_raise`, or a `RAISE` with this ERRCODE: the failure of a SQL task under a name of its own.", \
	  "It is for `Retry` and `Catch`. In PL/pgSQL it can be caught by this SQLSTATE.") \
	X(TASK_ABORTED, '0','2','3', "task_aborted", \
	  "The task was stopped with its execution or its branch, and rolled back.", \
	  "Nothing: workers deal with it.") \
	X(SCHEDULER_UNAVAILABLE, '0','2','4', "scheduler_unavailable", \
	  "pg_cron is not installed here, lives in another database, or cannot run jobs of this role.", \
	  "The hint says what to install, or what to call there.") \
	X(INVALID_SCHEDULE, '0','2','5', "invalid_schedule", \
	  "The schedule cannot be read, never matches, or has a placeholder that there is not.", \
	  "The detail names the field. The installed pg_cron may be too old for it.") \
	X(ACTIVITY_ALREADY_EXISTS, '0','2','6', "activity_already_exists", \
	  "An activity of this name exists with other settings, or belongs to somebody else.", \
	  "Drop it first, or use it as it is.") \
	X(EXECUTION_CHANGED, '0','2','7', "execution_changed", \
	  "Somebody else stopped, redrove or advanced the execution meanwhile.", \
	  "Look at it and call again. Workers do so by themselves.") \
	X(EXECUTION_LOCKED, '0','2','8', "execution_locked", \
	  "A session holds the row of the execution locked for longer than a moment. Raised in workers only.", \
	  "End that transaction. Workers put the execution off and try again.") \
	X(QUOTA_EXCEEDED, '0','4','0', "quota_exceeded", \
	  "The owner of the state machine has as many executions running, or has started as many in the last minute, as it may. As the failure of a task it is `StepFunctions.ExecutionLimitExceeded`.", \
	  "The detail names the setting and the owner. Try again later, or raise it: `ALTER ROLE`.") \
	X(JSONATA_ERROR, '0','3','0', "jsonata_error", \
	  "`sf_jsonata`: the expression does not parse, or failed.", \
	  "The detail has the code, the position and the token.")

/* ERRCODE_SF_…: ints as ereport wants them, constant in every file */
#define SF_SQLSTATE_ENUM(sym, a, b, c, name, meaning, advice) \
	ERRCODE_SF_##sym = MAKE_SQLSTATE('S','F', a, b, c),
typedef enum SfSqlState
{
	SF_SQLSTATE_LIST(SF_SQLSTATE_ENUM)
} SfSqlState;

/*
 * Error names reserved by the Amazon States Language: symbol, name, what becomes
 * of it (SfErrorUse), when it arises.
 */
#define SF_STATES_ERROR_LIST(X) \
	X(ALL, "States.ALL", RAISED, \
	  "Matches every error that can be caught. It is no error by itself and stands alone, in the last retrier or catcher.") \
	X(BRANCH_FAILED, "States.BranchFailed", RESERVED, \
	  "Never raised by a state: the join of a Parallel or Map fails with the error of its branch, as in Step Functions.") \
	X(DATA_LIMIT_EXCEEDED, "States.DataLimitExceeded", RAISED, \
	  "An output, a result or the array of a Map is larger than `sfflow.max_payload_bytes`, or an evaluation makes more than eight times as much.") \
	X(EXCEED_TOLERATED_FAILURE_THRESHOLD, "States.ExceedToleratedFailureThreshold", RAISED, \
	  "More items of a Distributed Map failed than it tolerates.") \
	X(HEARTBEAT_TIMEOUT, "States.HeartbeatTimeout", RAISED, \
	  "Matches a missed heartbeat. The error that the output shows is `States.Timeout`, which matches too.") \
	X(HTTP_SOCKET, "States.Http.Socket", RAISED, \
	  "sfworker could not send a request or read its answer. `States.Http.StatusCode.NNN` is an answer that is no success.") \
	X(INTRINSIC_FAILURE, "States.IntrinsicFailure", RESERVED, \
	  "Never raised by a state: an intrinsic function that fails is `States.Runtime`, as in Step Functions.") \
	X(ITEM_READER_FAILED, "States.ItemReaderFailed", RAISED, \
	  "The items of a Distributed Map could not be read. The cause says why.") \
	X(NO_CHOICE_MATCHED, "States.NoChoiceMatched", RESERVED, \
	  "Never raised by a state: a Choice without a match and without `Default` is `States.Runtime`, as in Step Functions.") \
	X(PARAMETER_PATH_FAILURE, "States.ParameterPathFailure", RESERVED, \
	  "Never raised by a state: a path in a template that leads nowhere is `States.Runtime`, as in Step Functions.") \
	X(PERMISSIONS, "States.Permissions", RAISED, \
	  "The machine's owner may not give work to the activity; or the settings of sfworker forbid what the task asks for.") \
	X(QUERY_EVALUATION_ERROR, "States.QueryEvaluationError", RAISED, \
	  "A JSONata expression failed, or gave a value of the wrong type. The history has the event EvaluationFailed.") \
	X(RESULT_PATH_MATCH_FAILURE, "States.ResultPathMatchFailure", RAISED, \
	  "`ResultPath` leads through something that is no object or array.") \
	X(RESULT_WRITER_FAILED, "States.ResultWriterFailed", RAISED, \
	  "The results of a Distributed Map could not be written. Nothing of them was.") \
	X(RUNTIME, "States.Runtime", TERMINAL, \
	  "The state cannot be run: a path leads nowhere, an intrinsic function fails, no rule of a Choice matches, nothing runs the resource, the server crashed again and again under the step.") \
	X(TASK_FAILED, "States.TaskFailed", RAISED, \
	  "Matches every error but timeouts. It is raised where a child execution (`startExecution.sync`) did not succeed.") \
	X(TIMEOUT, "States.Timeout", RAISED, \
	  "The task took longer than `TimeoutSeconds`, or no heartbeat came in time; or the execution took longer than the machine's `TimeoutSeconds`, and is then `TIMED_OUT`.")

/* SF_ERR_RUNTIME and so on: pointers to the names */
#define SF_STATES_ERROR_DECL(sym, name, use, meaning) \
	extern const char *const SF_ERR_##sym;
SF_STATES_ERROR_LIST(SF_STATES_ERROR_DECL)

/*
 * Failure of an evaluation or of a state.  Strings live in the memory context
 * that was current when the failure was reported.
 */
typedef struct SfError
{
	const char *name;			/* ASL error name; NULL: a task failed without one */
	const char *cause;			/* text without the "An error occurred while
								 * executing the state" prefix; NULL: none */
	const char *location;		/* field that failed ("Output/a/b[0]") for
								 * EvaluationFailed, or NULL */
	const char *code;			/* JSONata code (T1006) or NULL */
	int			position;		/* byte offset in the expression, -1 unknown */
	const char *sqlstate;		/* five characters when SQL raised it, or NULL */
	bool		heartbeat;		/* a missed heartbeat: matches two names */
	bool		prefixed;		/* cause takes the "An error occurred …" prefix */
} SfError;

/* Fill *err (may be NULL) with a formatted cause; always returns false. */
extern bool sf_error_set(SfError *err, const char *name,
						 const char *fmt,...) pg_attribute_printf(3, 4);
extern bool sf_error_set_va(SfError *err, const char *name, const char *fmt,
							va_list args) pg_attribute_printf(3, 0);

/* Format a message of any length; args can be used again. */
extern char *sf_error_format(const char *fmt, va_list args) pg_attribute_printf(1, 0);

/* What becomes of an error name: the third column of the list */
typedef enum SfErrorUse
{
	SF_ERROR_UNKNOWN,			/* not in the list */
	SF_ERROR_RAISED,			/* arises, and can be caught */
	SF_ERROR_TERMINAL,			/* arises, and can not be caught */
	SF_ERROR_RESERVED			/* arises only where a definition names it */
} SfErrorUse;

/* Look a name up; States.Http.StatusCode.NNN stands for any number. */
extern SfErrorUse sf_error_use(const char *name);

#endif							/* SF_BASE_ERRORS_H */
