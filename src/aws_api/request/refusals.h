/*
 * refusals.h
 *		The errors of the API, and the names that AWS has for errors of sfflow.
 *
 * An error leaves the API as an error of SQL.  Its name is in the field CONSTRAINT
 * NAME, its message is that of the service: "Title: 'what'", where the list has a
 * title.  The reason that the service gives with some is in the field DATATYPE NAME.
 */
#ifndef SF_AWS_API_REFUSALS_H
#define SF_AWS_API_REFUSALS_H

#include "base/version/compat.h"

struct SfCall;

/* Errors that operations raise themselves: symbol, name, title or NULL, reason or NULL */
#define SF_REFUSAL_LIST(X) \
	X(ACTIVITY_ALREADY_EXISTS, "ActivityAlreadyExists", "Activity Already Exists", NULL) \
	X(CONFLICT, "ConflictException", NULL, NULL) \
	X(INVALID_ARN, "InvalidArn", "Invalid Arn", NULL) \
	X(INVALID_ENCRYPTION, "InvalidEncryptionConfiguration", "Invalid Encryption Configuration", NULL) \
	X(INVALID_EXECUTION_INPUT, "InvalidExecutionInput", "Invalid State Machine Execution Input", NULL) \
	X(INVALID_LOGGING, "InvalidLoggingConfiguration", NULL, NULL) \
	X(INVALID_OUTPUT, "InvalidOutput", "Invalid Output", NULL) \
	X(INVALID_ROLE, "InvalidArn", "Invalid Role Arn", NULL) \
	X(INVALID_TOKEN, "InvalidToken", "Invalid Token", NULL) \
	X(LABELED_ARN, "ValidationException", NULL, "API_DOES_NOT_SUPPORT_LABELED_ARNS") \
	X(MAP_RUN_COMPLETED, "ValidationException", NULL, "CANNOT_UPDATE_COMPLETED_MAP_RUN") \
	X(MISSING_REQUIRED_PARAMETER, "MissingRequiredParameter", NULL, NULL) \
	X(NOTHING_TO_UPDATE, "ValidationException", NULL, "MISSING_REQUIRED_PARAMETER") \
	X(RESOURCE_NOT_FOUND, "ResourceNotFound", "Resource not found", NULL) \
	X(ROUTING, "ValidationException", NULL, "INVALID_ROUTING_CONFIGURATION") \
	X(SERIALIZATION, "SerializationException", NULL, NULL) \
	X(STATE_MACHINE_ALREADY_EXISTS, "StateMachineAlreadyExists", "State Machine Already Exists", NULL) \
	X(STATE_MACHINE_TYPE_NOT_SUPPORTED, "StateMachineTypeNotSupported", NULL, NULL) \
	X(TOO_MANY_TAGS, "TooManyTags", NULL, NULL) \
	X(UNKNOWN_OPERATION, "UnknownOperationException", NULL, NULL) \
	X(VALIDATION, "ValidationException", NULL, NULL)

/*
 * Errors of sfflow: SQLSTATE, name, and the title of a message that names the
 * subject of the call, in place of sfflow's own message, which NULL keeps.  A title
 * with a quote or a full stop is the whole message.
 */
#define SF_REFUSAL_TASK_GONE	"Task Timed Out: 'Provided task does not exist anymore'"
#define SF_REFUSAL_NAME_LIST(X) \
	X(ERRCODE_DUPLICATE_OBJECT, "StateMachineAlreadyExists", NULL) \
	X(ERRCODE_OBJECT_IN_USE, "ConflictException", NULL) \
	X(ERRCODE_SF_ACTIVITY_ALREADY_EXISTS, "ActivityAlreadyExists", "Activity Already Exists") \
	X(ERRCODE_SF_ACTIVITY_DOES_NOT_EXIST, "ActivityDoesNotExist", "Activity Does Not Exist") \
	X(ERRCODE_SF_EXECUTION_ALREADY_EXISTS, "ExecutionAlreadyExists", "Execution Already Exists") \
	X(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST, "ExecutionDoesNotExist", "Execution Does Not Exist") \
	X(ERRCODE_SF_EXECUTION_CHANGED, "ConflictException", NULL) \
	X(ERRCODE_SF_EXECUTION_LOCKED, "ConflictException", NULL) \
	X(ERRCODE_SF_EXECUTION_NOT_REDRIVABLE, "ExecutionNotRedrivable", NULL) \
	X(ERRCODE_SF_EXPRESSION_ERROR, "ValidationException", NULL) \
	X(ERRCODE_SF_INVALID_DEFINITION, "InvalidDefinition", NULL) \
	X(ERRCODE_SF_INVALID_EXECUTION_INPUT, "InvalidExecutionInput", NULL) \
	X(ERRCODE_SF_INVALID_NAME, "InvalidName", "Invalid Name") \
	X(ERRCODE_SF_INVALID_OPTION, "ValidationException", NULL) \
	X(ERRCODE_SF_INVALID_TASK_TOKEN, "InvalidToken", "Invalid Token: 'Invalid token'") \
	X(ERRCODE_SF_PAYLOAD_TOO_LARGE, "ValidationException", NULL) \
	X(ERRCODE_SF_QUOTA_EXCEEDED, "ExecutionLimitExceeded", NULL) \
	X(ERRCODE_SF_RESOURCE_DOES_NOT_EXIST, "ValidationException", NULL) \
	X(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST, "StateMachineDoesNotExist", "State Machine Does Not Exist") \
	X(ERRCODE_SF_STATE_MACHINE_IN_USE, "ConflictException", NULL) \
	X(ERRCODE_SF_TASK_ALREADY_ANSWERED, "TaskTimedOut", SF_REFUSAL_TASK_GONE) \
	X(ERRCODE_SF_TASK_TIMED_OUT, "TaskTimedOut", SF_REFUSAL_TASK_GONE)

#define SF_REFUSAL_ENUM(symbol, name, title, reason) SF_REFUSAL_##symbol,
typedef enum SfRefusal
{
	SF_REFUSAL_LIST(SF_REFUSAL_ENUM)
} SfRefusal;

extern void sf_refusal_raise(SfRefusal refusal, const char *fmt,...) pg_attribute_noreturn() pg_attribute_printf(2, 3);
extern void sf_refusal_name(ErrorData *error, const struct SfCall *call);

#endif							/* SF_AWS_API_REFUSALS_H */
