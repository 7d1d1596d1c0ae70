/*
 * errors.h
 *		The SQLSTATEs of sfflow as constants, every States.* error name, and the value in
 *		which an evaluation reports its failure.
 *
 * There are two kinds of failures.  A mistake of the caller of an SQL function
 * is an ereport(ERROR) with an SQLSTATE of sqlstates.h.  A failure inside a
 * running state machine is data: evaluators and state handlers return false
 * and fill an SfError, which is then matched against Retry and Catch.  An
 * ereport(ERROR) inside a SQL task becomes an SfError in sql_task/failure.c.
 */
#ifndef SF_BASE_ERRORS_H
#define SF_BASE_ERRORS_H

#include "base/error/sqlstates.h"

/* ERRCODE_SF_…: ints as ereport wants them, constant in every file */
#define SF_SQLSTATE_ENUM(sym, a, b, c, name, answer, meaning, advice) \
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
	  "Matches every error that can be caught. It must be the only name in its list, in the last retrier or catcher. No error has this name.") \
	X(BRANCH_FAILED, "States.BranchFailed", RESERVED, \
	  "Never raised by a state: the join of a Parallel or Map fails with the error of its branch, as in Step Functions.") \
	X(DATA_LIMIT_EXCEEDED, "States.DataLimitExceeded", RAISED, \
	  "An output, a result, the array of a Map, or what `Parameters`, `Arguments` or `ItemSelector` makes is larger than `sfflow.max_payload_bytes`, or an evaluation produces more than eight times as much.") \
	X(EXCEED_TOLERATED_FAILURE_THRESHOLD, "States.ExceedToleratedFailureThreshold", RAISED, \
	  "More items of a Distributed Map failed than it tolerates.") \
	X(HEARTBEAT_TIMEOUT, "States.HeartbeatTimeout", RAISED, \
	  "Matches a missed heartbeat. The error itself has the name `States.Timeout`, which matches, too.") \
	X(HTTP_SOCKET, "States.Http.Socket", RAISED, \
	  "sfworker could not send a request or read its answer. An answer with a status other than success is `States.Http.StatusCode.NNN`.") \
	X(INTRINSIC_FAILURE, "States.IntrinsicFailure", RESERVED, \
	  "Never raised by a state: an intrinsic function that fails raises `States.Runtime`, as in Step Functions.") \
	X(ITEM_READER_FAILED, "States.ItemReaderFailed", RAISED, \
	  "The items of a Distributed Map could not be read. The cause says why.") \
	X(NO_CHOICE_MATCHED, "States.NoChoiceMatched", RESERVED, \
	  "Never raised by a state: a Choice without a match and without `Default` raises `States.Runtime`, as in Step Functions.") \
	X(PARAMETER_PATH_FAILURE, "States.ParameterPathFailure", RESERVED, \
	  "Never raised by a state: a path without a match in a template raises `States.Runtime`, as in Step Functions.") \
	X(PERMISSIONS, "States.Permissions", RAISED, \
	  "The machine's owner has no right on the activity, or the settings of sfworker forbid the task.") \
	X(QUERY_EVALUATION_ERROR, "States.QueryEvaluationError", RAISED, \
	  "A JSONata expression failed, or returned a value of the wrong type; or an evaluation in either language took longer than `sfflow.evaluation_timeout`. The history has the event EvaluationFailed.") \
	X(RESULT_PATH_MATCH_FAILURE, "States.ResultPathMatchFailure", RAISED, \
	  "`ResultPath` leads through a value that is neither an object nor an array.") \
	X(RESULT_WRITER_FAILED, "States.ResultWriterFailed", RAISED, \
	  "The results of a Distributed Map could not be written. None was written.") \
	X(RUNTIME, "States.Runtime", TERMINAL, \
	  "The state cannot be run: a path has no match, an intrinsic function fails, no rule of a Choice matches, the resource does not exist, or the step crashed the server repeatedly.") \
	X(TASK_FAILED, "States.TaskFailed", RAISED, \
	  "Matches every error except timeouts. A task whose child execution (`startExecution.sync`) did not succeed raises it.") \
	X(TIMEOUT, "States.Timeout", RAISED, \
	  "The task took longer than `TimeoutSeconds`, or no heartbeat came in time. Or the execution took longer than the machine's `TimeoutSeconds`; then its status is `TIMED_OUT`.")

/* SF_ERR_RUNTIME and so on: pointers to the names */
#define SF_STATES_ERROR_DECL(sym, name, use, meaning) \
	extern const char *const SF_ERR_##sym;
SF_STATES_ERROR_LIST(SF_STATES_ERROR_DECL)

/* Where the position of an error in an expression may stand: it is not known */
#define SF_NO_POSITION	(-1)

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
	int			position;		/* byte offset in the expression, or SF_NO_POSITION */
	const char *sqlstate;		/* five characters when SQL raised it, or NULL */
	bool		is_heartbeat;	/* of a missed one: matches two names */
	bool		needs_prefix;	/* sf_step_prefix() is still to put "An error
								 * occurred …" before the cause */
} SfError;

/*
 * Make an error with a name and a cause (either may be NULL) that needs no prefix.
 * Every SfError begins here.
 */
static inline SfError
sf_error_make(const char *name, const char *cause)
{
	return (SfError) {.name = name,.cause = cause,.position = SF_NO_POSITION};
}

/* Tell whether an error has a name. */
static inline bool
sf_error_is(const SfError *error, const char *name)
{
	return error->name != NULL && strcmp(error->name, name) == 0;
}

/* Fill *error (may be NULL) with a formatted cause; always returns false. */
extern bool sf_error_set(SfError *error, const char *name,
						 const char *fmt,...) pg_attribute_printf(3, 4);
extern bool sf_error_set_va(SfError *error, const char *name, const char *fmt,
							va_list args) pg_attribute_printf(3, 0);

extern char *sf_error_format(const char *fmt, va_list args) pg_attribute_printf(1, 0);

/* In an ereport(): where the caller has to go, in the field TABLE NAME, for programs. */
extern int	sf_error_node(int node);

/* What becomes of an error name: the third column of the list */
typedef enum SfErrorUse
{
	SF_ERROR_UNKNOWN,			/* not in the list */
	SF_ERROR_RAISED,			/* arises, and can be caught */
	SF_ERROR_TERMINAL,			/* arises, and can not be caught */
	SF_ERROR_RESERVED			/* arises only where a definition names it */
} SfErrorUse;

extern SfErrorUse sf_error_use(const char *name);

/* --- running a function in a subtransaction --- */

extern ErrorData *sf_subtransaction_run(bool (*work) (void *arg),
										void (*end) (void *arg), void *arg);
extern ErrorData *sf_subtransaction_run_within(int lock_ms, bool (*work) (void *arg), void *arg);
extern int	sf_brief_locks_begin(int lock_ms);
extern void sf_brief_locks_end(int level);
extern bool sf_brief_locks_run(int lock_ms, void (*work) (void *arg), void *arg);

#endif							/* SF_BASE_ERRORS_H */
