/*
 * sqlstates.h
 *		Every SQLSTATE of sfflow, as data: this file includes nothing, so that
 *		sfworker, which is no part of the server, reads the same list.
 */
#ifndef SF_BASE_SQLSTATES_H
#define SF_BASE_SQLSTATES_H

/*
 * SQLSTATEs, all in class SF: symbol, the three characters after "SF",
 * condition name, what it means for a program that answers a task; for
 * docs/errors.md, which test/tools/errors-doc prints: what it means, what to do.
 *
 * A program that gets the SQLSTATE for its answer or heartbeat
 *		REFUSED	gives the task up: no answer with this token can succeed;
 *		OUTPUT	reports a failure instead: the output cannot be stored;
 *		RETRY	sends the answer again later.
 */
#define SF_SQLSTATE_LIST(X) \
	X(INVALID_DEFINITION, '0','0','1', "invalid_definition", RETRY, \
	  "The definition has errors. The message lists them all with their places.", \
	  "Correct it. `sf_validate` shows the same as rows.") \
	X(INVALID_NAME, '0','0','2', "invalid_name", RETRY, \
	  "A name is too long, empty, or has a character that names do not have.", \
	  "See the rule at `sf_create_state_machine`.") \
	X(STATE_MACHINE_DOES_NOT_EXIST, '0','0','3', "state_machine_does_not_exist", RETRY, \
	  "No state machine, or no version of it, has this name.", \
	  "Look in `sf_state_machines`.") \
	X(STATE_MACHINE_IN_USE, '0','0','4', "state_machine_in_use", RETRY, \
	  "The state machine to drop has running executions, or more ended ones than one call deletes.", \
	  "Stop the running ones, `sf_purge` the others, or drop it with `force`.") \
	X(EXECUTION_DOES_NOT_EXIST, '0','0','5', "execution_does_not_exist", REFUSED, \
	  "No execution has this id, or it was purged.", \
	  "An id is `machine:name`. Look in `sf_executions`.") \
	X(EXECUTION_ALREADY_EXISTS, '0','0','6', "execution_already_exists", RETRY, \
	  "`if_exists` is `error`, and the name is taken by an execution that has ended or has another input.", \
	  "Choose another name, or another `if_exists`.") \
	X(EXECUTION_RUNNING, '0','0','7', "execution_running", RETRY, \
	  "`if_exists` is `restart`, and the execution is running.", \
	  "Stop it first with `sf_stop`, or wait.") \
	X(EXECUTION_NOT_REDRIVABLE, '0','0','8', "execution_not_redrivable", RETRY, \
	  "The execution is running, has succeeded, is a child of a Distributed Map, or has nothing to go on from.", \
	  "Redrive the parent of a child; run one that succeeded with `if_exists` `restart`; give `input` where the history has none.") \
	X(INPUT_DIFFERS, '0','0','9', "input_differs", RETRY, \
	  "The execution exists with another input, and to resume it would use the old one. A warning with this SQLSTATE says so where nothing is resumed.", \
	  "`sf_redrive` goes on with the old input, `restart` begins with the new one.") \
	X(INVALID_EXECUTION_INPUT, '0','1','0', "invalid_execution_input", RETRY, \
	  "The input has no string or integer where `execution_id_path` looks for the name.", \
	  "Put it there, or give the argument `name`.") \
	X(PAYLOAD_TOO_LARGE, '0','1','1', "payload_too_large", OUTPUT, \
	  "An input, output or result is larger than `sfflow.max_payload_bytes`. As the failure of a task it is `States.DataLimitExceeded`.", \
	  "Keep large data in a table and pass its key.") \
	X(INVALID_OPTION, '0','1','2', "invalid_option", RETRY, \
	  "An option or an argument has a value that it cannot have.", \
	  "The message names it and what it may be.") \
	X(CANNOT_AWAIT, '0','1','3', "cannot_await", RETRY, \
	  "`sf_await` or `sf_wait` would never see the end: the same transaction started the execution, or its snapshot does not move on. Or `sf_wait` is called inside a query.", \
	  "Commit first; use `READ COMMITTED`; or drive by hand with `sf_run`. Call `sf_wait` by itself.") \
	X(EXPRESSION_ERROR, '0','1','4', "expression_error", RETRY, \
	  "A path, an intrinsic function or an expression of DynamoDB is wrong, or failed.", \
	  "The detail says what is wrong with it.") \
	X(EVALUATION_LIMIT, '0','1','5', "evaluation_limit_exceeded", RETRY, \
	  "An expression took more time, depth or memory than it may, or an execution has as many events as it may.", \
	  "Look for a loop without an end, then at `sfflow.evaluation_timeout`, `sfflow.evaluation_depth` and `sfflow.max_history_events`.") \
	X(NOT_DRIVEN, '0','1','6', "not_driven", RETRY, \
	  "The database is not driven: it is a copy, was switched off, or pg_upgrade runs its server. A warning with this SQLSTATE says so where nothing is done, or where only what was named is.", \
	  "`sf_health` tells why. Where this is the original or its successor, call `sf_enable`.") \
	X(RESOURCE_DOES_NOT_EXIST, '0','1','7', "resource_does_not_exist", RETRY, \
	  "The text is no resource that sfflow runs, or no mapping has this pattern.", \
	  "Write `sql:schema.function`, `sql:query` or `activity:name`, or map it with `sf_map_resource`.") \
	X(ACTIVITY_DOES_NOT_EXIST, '0','1','8', "activity_does_not_exist", REFUSED, \
	  "No activity has this name.", \
	  "Look in `sf_activities`; `sf_create_activity` makes one.") \
	X(INVALID_TASK_TOKEN, '0','1','9', "invalid_task_token", REFUSED, \
	  "The text is no task token.", \
	  "Give it as it was handed out.") \
	X(TASK_TIMED_OUT, '0','2','0', "task_timed_out", REFUSED, \
	  "The task is over: it timed out, was handed out again, or its execution has ended.", \
	  "Nothing is left to answer. Send heartbeats, or give the task more time.") \
	X(TASK_ALREADY_ANSWERED, '0','2','1', "task_already_answered", REFUSED, \
	  "The task was answered before.", \
	  "The first answer counts.") \
	X(TASK_RAISED, '0','2','2', "task_raised", RETRY, \
	  "`sf_raise`, or a `RAISE` with this ERRCODE: the failure of a SQL task under a name of its own.", \
	  "It is for `Retry` and `Catch`. In PL/pgSQL it can be caught by this SQLSTATE.") \
	X(TASK_ABORTED, '0','2','3', "task_aborted", REFUSED, \
	  "The task was stopped with its execution or its branch, and rolled back.", \
	  "Nothing: workers deal with it.") \
	X(SCHEDULER_UNAVAILABLE, '0','2','4', "scheduler_unavailable", RETRY, \
	  "pg_cron is not installed here, lives in another database, or cannot run jobs of this role.", \
	  "The hint says what to install, or what to call there.") \
	X(INVALID_SCHEDULE, '0','2','5', "invalid_schedule", RETRY, \
	  "The schedule cannot be read, never matches, or has a placeholder that there is not.", \
	  "The detail names the field. The installed pg_cron may be too old for it.") \
	X(ACTIVITY_ALREADY_EXISTS, '0','2','6', "activity_already_exists", RETRY, \
	  "An activity of this name exists with other settings, or belongs to somebody else.", \
	  "Drop it first, or use it as it is.") \
	X(EXECUTION_CHANGED, '0','2','7', "execution_changed", RETRY, \
	  "Somebody else stopped, redrove or advanced the execution meanwhile.", \
	  "Look at it and call again. Workers do so by themselves.") \
	X(EXECUTION_LOCKED, '0','2','8', "execution_locked", RETRY, \
	  "A session holds the row of the execution locked for longer than a moment. Raised in workers only.", \
	  "End that transaction. Workers put the execution off and try again.") \
	X(QUOTA_EXCEEDED, '0','4','0', "quota_exceeded", RETRY, \
	  "The owner of the state machine has as many executions running, or has started as many in the last minute, as it may. As the failure of a task it is `StepFunctions.ExecutionLimitExceeded`.", \
	  "The detail names the setting and the owner. Try again later, or raise it: `ALTER ROLE`.") \
	X(JSONATA_ERROR, '0','3','0', "jsonata_error", RETRY, \
	  "`sf_jsonata`: the expression does not parse, or failed.", \
	  "The detail has the code, the position and the token.")

#endif							/* SF_BASE_SQLSTATES_H */
