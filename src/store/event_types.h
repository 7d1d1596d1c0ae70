/*
 * event_types.h
 *		History events: their types, and an event before it is written.
 *
 * The numbers are stored; a new type goes to the end of the list.
 */
#ifndef SF_STORE_EVENT_TYPES_H
#define SF_STORE_EVENT_TYPES_H

#include "json/json.h"

/*
 * Symbol, name in the Step Functions API, shape of the details (which is how
 * sf_history builds them from the columns payload and extra):
 *		NONE		{}
 *		INPUT		payload is "input", with inputDetails; extra is merged in
 *		OUTPUT		payload is "output", with outputDetails; extra is merged in
 *		ENTERED		INPUT plus "name" of the state
 *		EXITED		OUTPUT plus "name"; extra holds assignedVariables
 *		EXTRA		extra alone ({"error", "cause"} and the like)
 *		SCHEDULED	resource, resourceType, region; payload is "parameters"
 *		RESOURCE	resource, resourceType; payload (if any) is "output"
 *		ITERATION	index and name of the Map state
 *		MAP_STARTED	extra {"length"}
 */
#define SF_EVENT_TYPE_LIST(X) \
	X(EXECUTION_STARTED, "ExecutionStarted", INPUT) \
	X(EXECUTION_SUCCEEDED, "ExecutionSucceeded", OUTPUT) \
	X(EXECUTION_FAILED, "ExecutionFailed", EXTRA) \
	X(EXECUTION_TIMED_OUT, "ExecutionTimedOut", EXTRA) \
	X(EXECUTION_ABORTED, "ExecutionAborted", EXTRA) \
	X(EXECUTION_REDRIVEN, "ExecutionRedriven", EXTRA) \
	X(PASS_STATE_ENTERED, "PassStateEntered", ENTERED) \
	X(PASS_STATE_EXITED, "PassStateExited", EXITED) \
	X(TASK_STATE_ENTERED, "TaskStateEntered", ENTERED) \
	X(TASK_STATE_EXITED, "TaskStateExited", EXITED) \
	X(CHOICE_STATE_ENTERED, "ChoiceStateEntered", ENTERED) \
	X(CHOICE_STATE_EXITED, "ChoiceStateExited", EXITED) \
	X(WAIT_STATE_ENTERED, "WaitStateEntered", ENTERED) \
	X(WAIT_STATE_EXITED, "WaitStateExited", EXITED) \
	X(SUCCEED_STATE_ENTERED, "SucceedStateEntered", ENTERED) \
	X(SUCCEED_STATE_EXITED, "SucceedStateExited", EXITED) \
	X(FAIL_STATE_ENTERED, "FailStateEntered", ENTERED) \
	X(PARALLEL_STATE_ENTERED, "ParallelStateEntered", ENTERED) \
	X(PARALLEL_STATE_EXITED, "ParallelStateExited", EXITED) \
	X(MAP_STATE_ENTERED, "MapStateEntered", ENTERED) \
	X(MAP_STATE_EXITED, "MapStateExited", EXITED) \
	X(PARALLEL_STATE_STARTED, "ParallelStateStarted", NONE) \
	X(PARALLEL_STATE_SUCCEEDED, "ParallelStateSucceeded", NONE) \
	X(PARALLEL_STATE_FAILED, "ParallelStateFailed", NONE) \
	X(PARALLEL_STATE_ABORTED, "ParallelStateAborted", NONE) \
	X(MAP_STATE_STARTED, "MapStateStarted", MAP_STARTED) \
	X(MAP_STATE_SUCCEEDED, "MapStateSucceeded", NONE) \
	X(MAP_STATE_FAILED, "MapStateFailed", NONE) \
	X(MAP_STATE_ABORTED, "MapStateAborted", NONE) \
	X(MAP_ITERATION_STARTED, "MapIterationStarted", ITERATION) \
	X(MAP_ITERATION_SUCCEEDED, "MapIterationSucceeded", ITERATION) \
	X(MAP_ITERATION_FAILED, "MapIterationFailed", ITERATION) \
	X(MAP_ITERATION_ABORTED, "MapIterationAborted", ITERATION) \
	X(MAP_RUN_STARTED, "MapRunStarted", EXTRA) \
	X(MAP_RUN_SUCCEEDED, "MapRunSucceeded", NONE) \
	X(MAP_RUN_FAILED, "MapRunFailed", EXTRA) \
	X(MAP_RUN_ABORTED, "MapRunAborted", NONE) \
	X(MAP_RUN_REDRIVEN, "MapRunRedriven", EXTRA) \
	X(WAIT_STATE_ABORTED, "WaitStateAborted", NONE) \
	X(TASK_SCHEDULED, "TaskScheduled", SCHEDULED) \
	X(TASK_STARTED, "TaskStarted", RESOURCE) \
	X(TASK_SUBMITTED, "TaskSubmitted", RESOURCE) \
	X(TASK_SUCCEEDED, "TaskSucceeded", RESOURCE) \
	X(TASK_FAILED, "TaskFailed", RESOURCE) \
	X(TASK_TIMED_OUT, "TaskTimedOut", RESOURCE) \
	X(TASK_START_FAILED, "TaskStartFailed", RESOURCE) \
	X(TASK_SUBMIT_FAILED, "TaskSubmitFailed", RESOURCE) \
	X(TASK_STATE_ABORTED, "TaskStateAborted", NONE) \
	X(ACTIVITY_SCHEDULED, "ActivityScheduled", INPUT) \
	X(ACTIVITY_STARTED, "ActivityStarted", EXTRA) \
	X(ACTIVITY_SUCCEEDED, "ActivitySucceeded", OUTPUT) \
	X(ACTIVITY_FAILED, "ActivityFailed", EXTRA) \
	X(ACTIVITY_TIMED_OUT, "ActivityTimedOut", EXTRA) \
	X(ACTIVITY_SCHEDULE_FAILED, "ActivityScheduleFailed", EXTRA) \
	X(LAMBDA_FUNCTION_SCHEDULED, "LambdaFunctionScheduled", INPUT) \
	X(LAMBDA_FUNCTION_STARTED, "LambdaFunctionStarted", NONE) \
	X(LAMBDA_FUNCTION_SUCCEEDED, "LambdaFunctionSucceeded", OUTPUT) \
	X(LAMBDA_FUNCTION_FAILED, "LambdaFunctionFailed", EXTRA) \
	X(LAMBDA_FUNCTION_TIMED_OUT, "LambdaFunctionTimedOut", EXTRA) \
	X(LAMBDA_FUNCTION_SCHEDULE_FAILED, "LambdaFunctionScheduleFailed", EXTRA) \
	X(EVALUATION_FAILED, "EvaluationFailed", EXTRA)

#define SF_EVENT_TYPE_ENUM(sym, name, shape) SF_EVENT_##sym,
typedef enum SfEventType
{
	SF_EVENT_TYPE_LIST(SF_EVENT_TYPE_ENUM)
	SF_EVENT_TYPE_COUNT
} SfEventType;

extern const char *sf_event_type_name(SfEventType type);

/* Details of an event that something failed: {"error", "cause"} with what there is. */
extern Jsonb *sf_event_error(const char *error, const char *cause);

#endif							/* SF_STORE_EVENT_TYPES_H */
