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
	  "The definition has errors. The message lists them all with their positions.", \
	  "Correct it. `sf_validate` shows the same as rows.") \
	X(INVALID_NAME, '0','0','2', "invalid_name", RETRY, \
	  "A name is too long, empty, or has a character that is not allowed.", \
	  "See the rule at `sf_create_state_machine`.") \
	X(STATE_MACHINE_DOES_NOT_EXIST, '0','0','3', "state_machine_does_not_exist", RETRY, \
	  "No state machine, or no version of it, has this name.", \
	  "Look in `sf_state_machines`.") \
	X(STATE_MACHINE_IN_USE, '0','0','4', "state_machine_in_use", RETRY, \
	  "The state machine to drop has running executions, or more ended ones than one call deletes.", \
	  "Stop the running executions, `sf_purge` the others, or drop the machine with `force`.") \
	X(EXECUTION_DOES_NOT_EXIST, '0','0','5', "execution_does_not_exist", REFUSED, \
	  "No execution has this id, or it was purged.", \
	  "An id has the form `machine:name`. Look in `sf_executions`.") \
	X(EXECUTION_ALREADY_EXISTS, '0','0','6', "execution_already_exists", RETRY, \
	  "`if_exists` is `error`, and an execution of this name has ended or has another input.", \
	  "Choose another name, or another `if_exists`.") \
	X(EXECUTION_RUNNING, '0','0','7', "execution_running", RETRY, \
	  "`if_exists` is `restart`, and the execution is running, or another one waits for its start key.", \
	  "Stop it first with `sf_stop`, or wait.") \
	X(EXECUTION_NOT_REDRIVABLE, '0','0','8', "execution_not_redrivable", RETRY, \
	  "The execution is running, has succeeded, is a child of a Distributed Map, or has no state to continue from.", \
	  "Redrive the parent of a child. Run an execution that has succeeded again with `if_exists` `restart`. Give `input` if the history has none.") \
	X(INPUT_DIFFERS, '0','0','9', "input_differs", RETRY, \
	  "The execution exists with another input, and a redrive would use the old input. If nothing is redriven, it is a warning.", \
	  "`sf_redrive` continues with the old input, `restart` begins with the new one.") \
	X(INVALID_EXECUTION_INPUT, '0','1','0', "invalid_execution_input", RETRY, \
	  "The input has no string or integer at `execution_id_path`.", \
	  "Put the name there, or give the argument `name`.") \
	X(PAYLOAD_TOO_LARGE, '0','1','1', "payload_too_large", OUTPUT, \
	  "An input, output or result is larger than `sfflow.max_payload_bytes`. If a task fails for this reason, its error is `States.DataLimitExceeded`.", \
	  "Keep large data in a table and pass its key.") \
	X(INVALID_OPTION, '0','1','2', "invalid_option", RETRY, \
	  "An option or an argument has a value that is not allowed.", \
	  "The message names it and the values that are allowed.") \
	X(CANNOT_AWAIT, '0','1','3', "cannot_await", RETRY, \
	  "`sf_await` or `sf_wait` would never see the end: the same transaction started the execution, or its snapshot does not advance. Or `sf_wait` is called inside a query.", \
	  "Commit first; use `READ COMMITTED`; or drive by hand with `sf_run`. Call `sf_wait` by itself.") \
	X(EXPRESSION_ERROR, '0','1','4', "expression_error", RETRY, \
	  "A path, an intrinsic function or an expression of DynamoDB is invalid, or failed.", \
	  "The detail says what is wrong.") \
	X(EVALUATION_LIMIT, '0','1','5', "evaluation_limit_exceeded", RETRY, \
	  "An expression exceeded its limit of time, depth or memory, or an execution has reached its limit of events.", \
	  "Look for an endless loop, then at `sfflow.evaluation_timeout`, `sfflow.evaluation_depth` and `sfflow.max_history_events`.") \
	X(NOT_DRIVEN, '0','1','6', "not_driven", RETRY, \
	  "The database is not driven: it is a copy, driving was switched off, or pg_upgrade runs its server. It is a warning if the call does nothing, or runs only the execution that it names.", \
	  "`sf_health` tells why. If this database is the original or its successor, call `sf_enable`.") \
	X(RESOURCE_DOES_NOT_EXIST, '0','1','7', "resource_does_not_exist", RETRY, \
	  "sfflow cannot run this resource, or no mapping has this pattern.", \
	  "Write `sql:schema.function`, `sql:query` or `activity:name`, or map it with `sf_map_resource`.") \
	X(ACTIVITY_DOES_NOT_EXIST, '0','1','8', "activity_does_not_exist", REFUSED, \
	  "No activity has this name.", \
	  "Look in `sf_activities`. `sf_create_activity` creates one.") \
	X(EVENT_DOES_NOT_EXIST, '0','8','0', "event_does_not_exist", REFUSED, \
	  "No type of events has this name.", \
	  "Look in `sf_event_types`. `sf_create_event` creates one.") \
	X(WORKLIST_DOES_NOT_EXIST, '0','6','4', "worklist_does_not_exist", REFUSED, \
	  "No worklist has this name.", \
	  "Look in `sf_worklists`. `sf_create_worklist` creates one.") \
	X(HUMAN_TASK_DOES_NOT_EXIST, '0','6','3', "human_task_does_not_exist", REFUSED, \
	  "No task of people has this number, it is over, or the caller may not know of it.", \
	  "Look in `sf_human_tasks`.") \
	X(FORM, '0','6','1', "form_violation", OUTPUT, \
	  "The output of a task of people does not fit the form of its worklist, or the form itself has a keyword that sfflow does not know.", \
	  "The detail has the JSON pointer of the value. So has the field `COLUMN NAME` if an output is refused; `DATATYPE NAME` has what is wrong there.") \
	X(TASK_IS_CLAIMED, '0','6','2', "task_is_claimed", REFUSED, \
	  "Another person has claimed the task.", \
	  "The message names who. This person, or a role with the right `ASSIGN`, calls `sf_release_task`.") \
	X(WORKLIST_IS_HELD, '0','6','5', "worklist_is_held", RETRY, \
	  "The worklist is held, so none of its tasks is given out. Who has claimed one before may complete it.", \
	  "The view `sf_holds` says since when and why. The owner of the worklist calls `sf_release`.") \
	X(INVALID_TASK_TOKEN, '0','1','9', "invalid_task_token", REFUSED, \
	  "The text is no task token.", \
	  "Pass the token unchanged.") \
	X(TASK_TIMED_OUT, '0','2','0', "task_timed_out", REFUSED, \
	  "The task is over: it timed out, was given to another program, or its execution has ended.", \
	  "The answer is not needed any more. To prevent this, send heartbeats, or give the task more time. If its execution has moved to another [node](scale.md#move-keys), the detail has the node, and so has the field TABLE NAME.") \
	X(TASK_ALREADY_ANSWERED, '0','2','1', "task_already_answered", REFUSED, \
	  "The task was answered before.", \
	  "The first answer counts.") \
	X(TASK_RAISED, '0','2','2', "task_raised", RETRY, \
	  "`sf_raise`, or a `RAISE` with this ERRCODE, failed a SQL task with an error name of its own.", \
	  "Match the name with `Retry` or `Catch`. PL/pgSQL can catch this SQLSTATE.") \
	X(TASK_ABORTED, '0','2','3', "task_aborted", REFUSED, \
	  "The execution or the branch was stopped. The task was rolled back.", \
	  "Nothing: workers handle it.") \
	X(SCHEDULER_UNAVAILABLE, '0','2','4', "scheduler_unavailable", RETRY, \
	  "pg_cron is not installed here, runs in another database, or cannot run jobs of this role.", \
	  "The hint says what to install, or what to call in the other database.") \
	X(INVALID_SCHEDULE, '0','2','5', "invalid_schedule", RETRY, \
	  "The schedule is invalid, never matches, or has an unknown placeholder.", \
	  "The detail names the field. The installed pg_cron may be too old for it.") \
	X(INVALID_CALENDAR, '0','5','1', "invalid_calendar", RETRY, \
	  "The rule or the days of a calendar are not valid or have too many parts, or calendars extend each other in a circle.", \
	  "The message has the JSON pointer of what is wrong, the detail says what belongs there.") \
	X(ACTIVITY_ALREADY_EXISTS, '0','2','6', "activity_already_exists", RETRY, \
	  "An activity of this name exists with other settings, or belongs to another role.", \
	  "Drop the activity first, or use it as it is.") \
	X(EXECUTION_CHANGED, '0','2','7', "execution_changed", RETRY, \
	  "Another session stopped, redrove or advanced the execution meanwhile.", \
	  "Look at the execution and call again. Workers do so by themselves.") \
	X(EXECUTION_LOCKED, '0','2','8', "execution_locked", RETRY, \
	  "Another session holds a lock on the row of the execution. Raised in workers only.", \
	  "End that session's transaction. Workers postpone the execution and try again.") \
	X(QUOTA_EXCEEDED, '0','4','0', "quota_exceeded", RETRY, \
	  "The owner of the state machine has reached its quota of running executions, or of starts per minute; or the owner of a rule its quota of rules, or of their bytes. If a task fails for this reason, its error is `StepFunctions.ExecutionLimitExceeded`.", \
	  "The detail names the setting. Try again later, drop rules, or raise the quota with `ALTER ROLE`.") \
	X(INVALID_PATTERN, '0','5','0', "invalid_pattern", RETRY, \
	  "An event pattern, of a rule or given to `sf_test_event_pattern`, is not valid; or that of a rule, or the `Filter` of a wait for events, has more than 1,000 values and operators.", \
	  "The message says what is wrong, and where as a JSON pointer. See [rules.md](rules.md).") \
	X(AWS_REFUSED, '0','6','0', "aws_request_refused", RETRY, \
	  "An operation of the AWS API refuses its request. The field `CONSTRAINT NAME` of the error has the name that AWS gives to it.", \
	  "See [aws-api.md](aws-api.md).") \
	X(JSONATA_ERROR, '0','3','0', "jsonata_error", RETRY, \
	  "The expression given to `sf_jsonata` does not parse, or failed.", \
	  "The detail has the code, the position and the token.") \
	X(INVALID_DOCUMENT, '0','9','0', "invalid_definitions_document", RETRY, \
	  "The document that `sf_apply` was given has an unknown member, or one of another type, or names something twice.", \
	  "The detail has the JSON pointer. See [how-to/definitions-as-code.md](how-to/definitions-as-code.md).") \
	X(OLDER_REVISION, '0','9','1', "older_revision", RETRY, \
	  "A document with a later `revision` was applied before.", \
	  "Apply the newer document, or raise the revision of this one.") \
	X(NOT_AT_HOME, '0','4','1', "not_at_home", RETRY, \
	  "An execution with a key was started on a node of a cluster where its key is not at home.", \
	  "The detail has the node, and so has the field TABLE NAME, for programs. Start it there, or by a function that Citus delegates to the node of the key. See [scale.md](scale.md).") \
	X(SCHEMA_DIFFERS, '0','7','0', "schema_differs", RETRY, \
	  "The library that the server has loaded and the schema of this database are of different versions of sfflow. Nothing runs until they are the same.", \
	  "The hint says which: `ALTER EXTENSION sfflow UPDATE`, or a restart of the server. See [operations.md](operations.md#upgrade).")

#endif							/* SF_BASE_SQLSTATES_H */
