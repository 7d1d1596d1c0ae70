/*
 * history_event_types.h
 *		The types of history events, and what each means.
 *
 * The numbers are stored; a new type goes to the end of the list.
 */
#ifndef SF_STORE_HISTORY_EVENT_TYPES_H
#define SF_STORE_HISTORY_EVENT_TYPES_H

#include "asl/program.h"
#include "json/json.h"

/*
 * Symbol, name in the Step Functions API, shape of the details, and what the
 * event says happened to what (SfHistoryEventSubject, SfHistoryEventMeaning).  By the shape
 * sf_history builds the details from the columns payload and extra:
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
#define SF_HISTORY_EVENT_TYPE_LIST(X) \
	X(EXECUTION_STARTED, "ExecutionStarted", INPUT, EXECUTION, STARTED) \
	X(EXECUTION_SUCCEEDED, "ExecutionSucceeded", OUTPUT, EXECUTION, SUCCEEDED) \
	X(EXECUTION_FAILED, "ExecutionFailed", EXTRA, EXECUTION, FAILED) \
	X(EXECUTION_TIMED_OUT, "ExecutionTimedOut", EXTRA, EXECUTION, TIMED_OUT) \
	X(EXECUTION_ABORTED, "ExecutionAborted", EXTRA, EXECUTION, ABORTED) \
	X(EXECUTION_REDRIVEN, "ExecutionRedriven", EXTRA, EXECUTION, REDRIVEN) \
	X(PASS_STATE_ENTERED, "PassStateEntered", ENTERED, PASS_STATE, ENTERED) \
	X(PASS_STATE_EXITED, "PassStateExited", EXITED, PASS_STATE, EXITED) \
	X(TASK_STATE_ENTERED, "TaskStateEntered", ENTERED, TASK_STATE, ENTERED) \
	X(TASK_STATE_EXITED, "TaskStateExited", EXITED, TASK_STATE, EXITED) \
	X(CHOICE_STATE_ENTERED, "ChoiceStateEntered", ENTERED, CHOICE_STATE, ENTERED) \
	X(CHOICE_STATE_EXITED, "ChoiceStateExited", EXITED, CHOICE_STATE, EXITED) \
	X(WAIT_STATE_ENTERED, "WaitStateEntered", ENTERED, WAIT_STATE, ENTERED) \
	X(WAIT_STATE_EXITED, "WaitStateExited", EXITED, WAIT_STATE, EXITED) \
	X(SUCCEED_STATE_ENTERED, "SucceedStateEntered", ENTERED, SUCCEED_STATE, ENTERED) \
	X(SUCCEED_STATE_EXITED, "SucceedStateExited", EXITED, SUCCEED_STATE, EXITED) \
	X(FAIL_STATE_ENTERED, "FailStateEntered", ENTERED, FAIL_STATE, ENTERED) \
	X(PARALLEL_STATE_ENTERED, "ParallelStateEntered", ENTERED, PARALLEL_STATE, ENTERED) \
	X(PARALLEL_STATE_EXITED, "ParallelStateExited", EXITED, PARALLEL_STATE, EXITED) \
	X(MAP_STATE_ENTERED, "MapStateEntered", ENTERED, MAP_STATE, ENTERED) \
	X(MAP_STATE_EXITED, "MapStateExited", EXITED, MAP_STATE, EXITED) \
	X(PARALLEL_STATE_STARTED, "ParallelStateStarted", NONE, PARALLEL_STATE, STARTED) \
	X(PARALLEL_STATE_SUCCEEDED, "ParallelStateSucceeded", NONE, PARALLEL_STATE, SUCCEEDED) \
	X(PARALLEL_STATE_FAILED, "ParallelStateFailed", NONE, PARALLEL_STATE, FAILED) \
	X(PARALLEL_STATE_ABORTED, "ParallelStateAborted", NONE, PARALLEL_STATE, ABORTED) \
	X(MAP_STATE_STARTED, "MapStateStarted", MAP_STARTED, MAP_STATE, STARTED) \
	X(MAP_STATE_SUCCEEDED, "MapStateSucceeded", NONE, MAP_STATE, SUCCEEDED) \
	X(MAP_STATE_FAILED, "MapStateFailed", NONE, MAP_STATE, FAILED) \
	X(MAP_STATE_ABORTED, "MapStateAborted", NONE, MAP_STATE, ABORTED) \
	X(MAP_ITERATION_STARTED, "MapIterationStarted", ITERATION, MAP_ITERATION, STARTED) \
	X(MAP_ITERATION_SUCCEEDED, "MapIterationSucceeded", ITERATION, MAP_ITERATION, SUCCEEDED) \
	X(MAP_ITERATION_FAILED, "MapIterationFailed", ITERATION, MAP_ITERATION, FAILED) \
	X(MAP_ITERATION_ABORTED, "MapIterationAborted", ITERATION, MAP_ITERATION, ABORTED) \
	X(MAP_RUN_STARTED, "MapRunStarted", EXTRA, MAP_RUN, STARTED) \
	X(MAP_RUN_SUCCEEDED, "MapRunSucceeded", NONE, MAP_RUN, SUCCEEDED) \
	X(MAP_RUN_FAILED, "MapRunFailed", EXTRA, MAP_RUN, FAILED) \
	X(MAP_RUN_ABORTED, "MapRunAborted", NONE, MAP_RUN, ABORTED) \
	X(MAP_RUN_REDRIVEN, "MapRunRedriven", EXTRA, MAP_RUN, REDRIVEN) \
	X(WAIT_STATE_ABORTED, "WaitStateAborted", NONE, WAIT_STATE, ABORTED) \
	X(TASK_SCHEDULED, "TaskScheduled", SCHEDULED, TASK, SCHEDULED) \
	X(TASK_STARTED, "TaskStarted", RESOURCE, TASK, STARTED) \
	X(TASK_SUBMITTED, "TaskSubmitted", RESOURCE, TASK, SUBMITTED) \
	X(TASK_SUCCEEDED, "TaskSucceeded", RESOURCE, TASK, SUCCEEDED) \
	X(TASK_FAILED, "TaskFailed", RESOURCE, TASK, FAILED) \
	X(TASK_TIMED_OUT, "TaskTimedOut", RESOURCE, TASK, TIMED_OUT) \
	X(TASK_START_FAILED, "TaskStartFailed", RESOURCE, TASK, FAILED) \
	X(TASK_SUBMIT_FAILED, "TaskSubmitFailed", RESOURCE, TASK, FAILED) \
	X(TASK_STATE_ABORTED, "TaskStateAborted", NONE, TASK_STATE, ABORTED) \
	X(ACTIVITY_SCHEDULED, "ActivityScheduled", INPUT, ACTIVITY, SCHEDULED) \
	X(ACTIVITY_STARTED, "ActivityStarted", EXTRA, ACTIVITY, STARTED) \
	X(ACTIVITY_SUCCEEDED, "ActivitySucceeded", OUTPUT, ACTIVITY, SUCCEEDED) \
	X(ACTIVITY_FAILED, "ActivityFailed", EXTRA, ACTIVITY, FAILED) \
	X(ACTIVITY_TIMED_OUT, "ActivityTimedOut", EXTRA, ACTIVITY, TIMED_OUT) \
	X(ACTIVITY_SCHEDULE_FAILED, "ActivityScheduleFailed", EXTRA, ACTIVITY, FAILED) \
	X(LAMBDA_FUNCTION_SCHEDULED, "LambdaFunctionScheduled", INPUT, LAMBDA_FUNCTION, SCHEDULED) \
	X(LAMBDA_FUNCTION_STARTED, "LambdaFunctionStarted", NONE, LAMBDA_FUNCTION, STARTED) \
	X(LAMBDA_FUNCTION_SUCCEEDED, "LambdaFunctionSucceeded", OUTPUT, LAMBDA_FUNCTION, SUCCEEDED) \
	X(LAMBDA_FUNCTION_FAILED, "LambdaFunctionFailed", EXTRA, LAMBDA_FUNCTION, FAILED) \
	X(LAMBDA_FUNCTION_TIMED_OUT, "LambdaFunctionTimedOut", EXTRA, LAMBDA_FUNCTION, TIMED_OUT) \
	X(LAMBDA_FUNCTION_SCHEDULE_FAILED, "LambdaFunctionScheduleFailed", EXTRA, LAMBDA_FUNCTION, FAILED) \
	X(EVALUATION_FAILED, "EvaluationFailed", EXTRA, EVALUATION, FAILED) \
	X(EXECUTION_MIGRATED, "ExecutionMigrated", EXTRA, EXECUTION, MIGRATED) \
	X(TASK_STATE_MARKED, "TaskStateMarked", EXTRA, TASK_STATE, MARKED)	/* sf_mark; not of Step Functions */ \
	/* nor are these */ \
	X(JOBNET_STATE_ENTERED, "JobNetStateEntered", ENTERED, JOBNET_STATE, ENTERED) \
	X(JOBNET_STATE_EXITED, "JobNetStateExited", EXITED, JOBNET_STATE, EXITED) \
	X(JOBNET_STATE_STARTED, "JobNetStateStarted", NONE, JOBNET_STATE, STARTED) \
	X(JOBNET_STATE_SUCCEEDED, "JobNetStateSucceeded", NONE, JOBNET_STATE, SUCCEEDED) \
	X(JOBNET_STATE_FAILED, "JobNetStateFailed", NONE, JOBNET_STATE, FAILED) \
	X(JOBNET_STATE_ABORTED, "JobNetStateAborted", NONE, JOBNET_STATE, ABORTED)

#define SF_HISTORY_EVENT_TYPE_ENUM(sym, name, shape, subject, meaning) SF_HISTORY_EVENT_##sym,
typedef enum SfHistoryEventType
{
	SF_HISTORY_EVENT_TYPE_LIST(SF_HISTORY_EVENT_TYPE_ENUM)
	SF_HISTORY_EVENT_TYPE_COUNT
} SfHistoryEventType;

/* What an event is about.  The subject of a type of state has the type's number. */
#define SF_SUBJECT_STATE_ENUM(sym, name) SF_SUBJECT_##sym##_STATE,
typedef enum SfHistoryEventSubject
{
	SF_STATE_TYPE_LIST(SF_SUBJECT_STATE_ENUM)
	SF_SUBJECT_EXECUTION,
	SF_SUBJECT_TASK,			/* an attempt at the task of a Task state … */
	SF_SUBJECT_ACTIVITY,		/* … that a worker of an activity does */
	SF_SUBJECT_LAMBDA_FUNCTION, /* … that a Lambda function does */
	SF_SUBJECT_MAP_ITERATION,
	SF_SUBJECT_MAP_RUN,
	SF_SUBJECT_EVALUATION,		/* of a JSONata expression */
	SF_SUBJECT_COUNT
} SfHistoryEventSubject;

/* What happened to it */
typedef enum SfHistoryEventMeaning
{
	SF_MEANS_UNKNOWN,			/* the type is not in the list */
	SF_MEANS_ENTERED,
	SF_MEANS_EXITED,
	SF_MEANS_SCHEDULED,
	SF_MEANS_STARTED,
	SF_MEANS_SUBMITTED,
	SF_MEANS_SUCCEEDED,
	SF_MEANS_FAILED,
	SF_MEANS_TIMED_OUT,
	SF_MEANS_ABORTED,
	SF_MEANS_REDRIVEN,
	SF_MEANS_MIGRATED,			/* to another version */
	SF_MEANS_MARKED,
	SF_MEANS_COUNT
} SfHistoryEventMeaning;

extern const char *sf_history_event_type_name(SfHistoryEventType type);
extern SfHistoryEventMeaning sf_history_event_type_meaning(SfHistoryEventType type);
extern bool sf_history_event_type_is_of_execution(SfHistoryEventType type);
extern bool sf_history_event_type_is_of_task(SfHistoryEventType type);
extern bool sf_history_event_type_is_of_state(SfHistoryEventType type);
extern bool sf_history_event_type_is_of_iteration(SfHistoryEventType type);
extern bool sf_history_event_type_is_of_map_run(SfHistoryEventType type);
extern SfHistoryEventType sf_history_event_type_find(SfHistoryEventSubject subject, SfHistoryEventMeaning meaning);

/* The same for a state of a type. */
#define sf_history_event_type_of_state(state_type, meaning) \
	sf_history_event_type_find((SfHistoryEventSubject) (state_type), (meaning))

extern Jsonb *sf_history_event_type_failure(const char *error, const char *cause);

#endif							/* SF_STORE_HISTORY_EVENT_TYPES_H */
