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
 * condition name for the documentation.
 */
#define SF_SQLSTATE_LIST(X) \
	X(INVALID_DEFINITION, '0','0','1', "invalid_definition") \
	X(INVALID_NAME, '0','0','2', "invalid_name") \
	X(STATE_MACHINE_DOES_NOT_EXIST, '0','0','3', "state_machine_does_not_exist") \
	X(STATE_MACHINE_IN_USE, '0','0','4', "state_machine_in_use") \
	X(EXECUTION_DOES_NOT_EXIST, '0','0','5', "execution_does_not_exist") \
	X(EXECUTION_ALREADY_EXISTS, '0','0','6', "execution_already_exists") \
	X(EXECUTION_RUNNING, '0','0','7', "execution_running") \
	X(EXECUTION_NOT_REDRIVABLE, '0','0','8', "execution_not_redrivable") \
	X(INPUT_DIFFERS, '0','0','9', "input_differs") \
	X(INVALID_EXECUTION_INPUT, '0','1','0', "invalid_execution_input") \
	X(PAYLOAD_TOO_LARGE, '0','1','1', "payload_too_large") \
	X(INVALID_OPTION, '0','1','2', "invalid_option") \
	X(CANNOT_AWAIT, '0','1','3', "cannot_await") \
	X(EXPRESSION_ERROR, '0','1','4', "expression_error") \
	X(EVALUATION_LIMIT, '0','1','5', "evaluation_limit_exceeded") \
	X(NOT_DRIVEN, '0','1','6', "not_driven") \
	X(RESOURCE_DOES_NOT_EXIST, '0','1','7', "resource_does_not_exist") \
	X(ACTIVITY_DOES_NOT_EXIST, '0','1','8', "activity_does_not_exist") \
	X(INVALID_TASK_TOKEN, '0','1','9', "invalid_task_token") \
	X(TASK_TIMED_OUT, '0','2','0', "task_timed_out") \
	X(TASK_ALREADY_ANSWERED, '0','2','1', "task_already_answered") \
	X(TASK_RAISED, '0','2','2', "task_raised") \
	X(TASK_ABORTED, '0','2','3', "task_aborted") \
	X(SCHEDULER_UNAVAILABLE, '0','2','4', "scheduler_unavailable") \
	X(INVALID_SCHEDULE, '0','2','5', "invalid_schedule") \
	X(ACTIVITY_ALREADY_EXISTS, '0','2','6', "activity_already_exists") \
	X(EXECUTION_CHANGED, '0','2','7', "execution_changed") \
	X(EXECUTION_LOCKED, '0','2','8', "execution_locked") \
	X(JSONATA_ERROR, '0','3','0', "jsonata_error")

/* ERRCODE_SF_…: ints as ereport wants them, constant in every file */
#define SF_SQLSTATE_ENUM(sym, a, b, c, name) \
	ERRCODE_SF_##sym = MAKE_SQLSTATE('S','F', a, b, c),
typedef enum SfSqlState
{
	SF_SQLSTATE_LIST(SF_SQLSTATE_ENUM)
} SfSqlState;

/* Error names reserved by the Amazon States Language: symbol, name, catchable */
#define SF_STATES_ERROR_LIST(X) \
	X(ALL, "States.ALL", true) \
	X(BRANCH_FAILED, "States.BranchFailed", true) \
	X(DATA_LIMIT_EXCEEDED, "States.DataLimitExceeded", true) \
	X(EXCEED_TOLERATED_FAILURE_THRESHOLD, "States.ExceedToleratedFailureThreshold", true) \
	X(HEARTBEAT_TIMEOUT, "States.HeartbeatTimeout", true) \
	X(HTTP_SOCKET, "States.Http.Socket", true) \
	X(INTRINSIC_FAILURE, "States.IntrinsicFailure", true) \
	X(ITEM_READER_FAILED, "States.ItemReaderFailed", true) \
	X(NO_CHOICE_MATCHED, "States.NoChoiceMatched", true) \
	X(PARAMETER_PATH_FAILURE, "States.ParameterPathFailure", true) \
	X(PERMISSIONS, "States.Permissions", true) \
	X(QUERY_EVALUATION_ERROR, "States.QueryEvaluationError", true) \
	X(RESULT_PATH_MATCH_FAILURE, "States.ResultPathMatchFailure", true) \
	X(RESULT_WRITER_FAILED, "States.ResultWriterFailed", true) \
	X(RUNTIME, "States.Runtime", false) \
	X(TASK_FAILED, "States.TaskFailed", true) \
	X(TIMEOUT, "States.Timeout", true)

/* SF_ERR_RUNTIME and so on: pointers to the names */
#define SF_STATES_ERROR_DECL(sym, name, catchable) \
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

/* Tell whether name begins with "States." and is one of the list. */
extern bool sf_error_is_known(const char *name);

#endif							/* SF_BASE_ERRORS_H */
