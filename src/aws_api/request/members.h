/*
 * members.h
 *		What the members of requests are, as data: a member that several operations
 *		have is the same in all of them.
 *
 *		X(name, kind, least, greatest, detail)
 *
 * Least and greatest are of the number, of the length of the text, or of the number
 * of elements.  The detail depends on the kind:
 *
 *		TEXT, SECRET	NULL; a list of the values that the text may have, as the error
 *						prints it; or a pattern of SF_PATTERN_LIST
 *		PAYLOAD			NULL; its length is limited by sfflow.max_payload_bytes
 *		OBJECT, LIST	the members of the object, or of each element, as in
 *						operations.h
 *		TEXTS			the member that describes each element
 *
 * Errors do not show what a SECRET or a PAYLOAD is.
 */
#ifndef SF_AWS_API_MEMBERS_H
#define SF_AWS_API_MEMBERS_H

#define SF_NO_LIMIT		PG_INT32_MAX

/* Patterns as the service prints them */
#define SF_PATTERN_ALIAS	"^(?=.*[a-zA-Z_\\-\\.])[a-zA-Z0-9_\\-\\.]+$"
#define SF_PATTERN_VISIBLE	"[!-~]+"
#define SF_PATTERN_ASCII	"\\p{ASCII}*"

/* The same as regular expressions of PostgreSQL */
#define SF_PATTERN_LIST(X) \
	X(SF_PATTERN_ALIAS, "^(?=.*[a-zA-Z_.-])[a-zA-Z0-9_.-]+$") \
	X(SF_PATTERN_VISIBLE, "^[!-~]+$") \
	X(SF_PATTERN_ASCII, "^[\\x01-\\x7f]*$")

#define SF_MEMBER_LIST(X) \
	X("activityArn", TEXT, 1, 256, NULL) \
	X("aliasName", TEXT, 1, 80, SF_PATTERN_ALIAS) \
	X("cause", SECRET, 0, 32768, NULL) \
	X("clientToken", TEXT, 1, 64, SF_PATTERN_VISIBLE) \
	X("cloudWatchLogsLogGroup", OBJECT, 0, 0, "logGroupArn") \
	X("context", PAYLOAD, 0, 0, NULL) \
	X("definition", SECRET, 1, 1048576, NULL) \
	X("description", SECRET, 0, 256, NULL) \
	X("destinations", LIST, 0, SF_NO_LIMIT, "cloudWatchLogsLogGroup") \
	X("enabled", FLAG, 0, 0, NULL) \
	X("encryptionConfiguration", OBJECT, 0, 0, "kmsKeyId kmsDataKeyReusePeriodSeconds type=encryptionType!") \
	X("encryptionType", TEXT, 0, SF_NO_LIMIT, "AWS_OWNED_KEY, CUSTOMER_MANAGED_KMS_KEY") \
	X("error", SECRET, 0, 256, NULL) \
	X("errorCausedByState", SECRET, 1, 80, NULL) \
	X("errorOutput", OBJECT, 0, 0, "error cause") \
	X("executionArn", TEXT, 1, 256, NULL) \
	X("fieldValidationMode", TEXT, 0, SF_NO_LIMIT, "STRICT, PRESENT, NONE") \
	X("includedData", TEXT, 0, SF_NO_LIMIT, "ALL_DATA, METADATA_ONLY") \
	X("includeExecutionData", FLAG, 0, 0, NULL) \
	X("input", PAYLOAD, 0, 0, NULL) \
	X("inspectionLevel", TEXT, 0, SF_NO_LIMIT, "INFO, DEBUG, TRACE") \
	X("kmsDataKeyReusePeriodSeconds", NUMBER, 60, 900, NULL) \
	X("kmsKeyId", TEXT, 1, 2048, NULL) \
	X("level", TEXT, 0, SF_NO_LIMIT, "ALL, ERROR, FATAL, OFF") \
	X("listToken", TEXT, 1, 3096, NULL) \
	X("logGroupArn", TEXT, 1, 256, NULL) \
	X("loggingConfiguration", OBJECT, 0, 0, "level includeExecutionData destinations") \
	X("mapItemReaderData", PAYLOAD, 0, 0, NULL) \
	X("mapIterationFailureCount", NUMBER, 0, SF_NO_LIMIT, NULL) \
	X("mapRunArn", TEXT, 1, 2000, NULL) \
	X("maxConcurrency", NUMBER, 0, SF_NO_LIMIT, NULL) \
	X("maxDiagnostics", NUMBER, 0, 100, NULL) \
	X("maxResults", NUMBER, 0, 1000, NULL) \
	X("mock", OBJECT, 0, 0, "result errorOutput fieldValidationMode") \
	X("name", TEXT, 1, 80, NULL) \
	X("nextToken", TEXT, 1, 1024, NULL) \
	X("output", PAYLOAD, 0, 0, NULL) \
	X("publish", FLAG, 0, 0, NULL) \
	X("redriveFilter", TEXT, 0, SF_NO_LIMIT, "REDRIVEN, NOT_REDRIVEN") \
	X("resourceArn", TEXT, 1, 256, NULL) \
	X("result", PAYLOAD, 0, 0, NULL) \
	X("retrierRetryCount", NUMBER, 0, SF_NO_LIMIT, NULL) \
	X("revealSecrets", FLAG, 0, 0, NULL) \
	X("reverseOrder", FLAG, 0, 0, NULL) \
	X("revisionId", TEXT, 0, SF_NO_LIMIT, NULL) \
	X("roleArn", TEXT, 1, 256, NULL) \
	X("routingConfiguration", LIST, 1, 2, "stateMachineVersionArn=routedArn! weight!") \
	X("routedArn", TEXT, 1, 256, NULL) \
	X("severity", TEXT, 0, SF_NO_LIMIT, "ERROR, WARNING") \
	X("stateConfiguration", OBJECT, 0, 0, \
	  "retrierRetryCount errorCausedByState mapIterationFailureCount mapItemReaderData") \
	X("stateMachineAliasArn", TEXT, 1, 256, NULL) \
	X("stateMachineArn", TEXT, 1, 256, NULL) \
	X("stateMachineVersionArn", TEXT, 1, 2000, NULL) \
	X("stateName", SECRET, 1, 80, NULL) \
	X("statusFilter", TEXT, 0, SF_NO_LIMIT, \
	  "SUCCEEDED, TIMED_OUT, PENDING_REDRIVE, ABORTED, FAILED, RUNNING") \
	X("tagKey", TEXT, 1, 128, NULL) \
	X("tagKeys", TEXTS, 0, SF_NO_LIMIT, "tagKey") \
	X("tags", LIST, 0, SF_NO_LIMIT, "key=tagKey! value=tagValue!") \
	X("tagValue", TEXT, 0, 256, NULL) \
	X("taskToken", SECRET, 1, 2048, NULL) \
	X("toleratedFailureCount", NUMBER, 0, SF_NO_LIMIT, NULL) \
	X("toleratedFailurePercentage", REAL, 0, 100, NULL) \
	X("traceHeader", TEXT, 0, 256, SF_PATTERN_ASCII) \
	X("tracingConfiguration", OBJECT, 0, 0, "enabled") \
	X("type", TEXT, 0, SF_NO_LIMIT, "STANDARD, EXPRESS") \
	X("variables", PAYLOAD, 0, 0, NULL) \
	X("versionDescription", SECRET, 0, 256, NULL) \
	X("weight", NUMBER, 0, 100, NULL) \
	X("workerName", TEXT, 1, 80, NULL)


/* What the JSON value of a member is */
typedef enum SfMemberKind
{
	SF_MEMBER_TEXT,
	SF_MEMBER_SECRET,			/* a text */
	SF_MEMBER_PAYLOAD,			/* a text with JSON in it */
	SF_MEMBER_NUMBER,			/* an integer */
	SF_MEMBER_REAL,
	SF_MEMBER_FLAG,
	SF_MEMBER_OBJECT,
	SF_MEMBER_LIST,				/* an array of objects */
	SF_MEMBER_TEXTS				/* an array of texts */
} SfMemberKind;

#endif							/* SF_AWS_API_MEMBERS_H */
