/*
 * fields.h
 *		The list of the fields of a definition: in which objects and query
 *		languages they are allowed, and which values they take.
 *
 * The validator is generated from these lists; a field that is not listed is
 * "not supported".  Sources: Amazon States Language specification (2024), and
 * the service where it differs.
 */
#ifndef SF_ASL_FIELDS_H
#define SF_ASL_FIELDS_H

#include <limits.h>

/* Kinds of objects that have fields */
typedef enum SfShape
{
	SF_SHAPE_MACHINE,
	SF_SHAPE_STATE,
	SF_SHAPE_BRANCH,			/* of a Parallel state */
	SF_SHAPE_JOB_FLOW,			/* a job of a JobNet that is no single state */
	SF_SHAPE_AFTER,				/* what a job waits for, where it says for which end */
	SF_SHAPE_PROCESSOR,			/* ItemProcessor, Iterator */
	SF_SHAPE_PROCESSOR_CONFIG,
	SF_SHAPE_RETRIER,
	SF_SHAPE_CATCHER,
	SF_SHAPE_JOB_CATCHER,		/* of a job, which has no next state */
	SF_SHAPE_RULE,				/* of a Choice state, top level */
	SF_SHAPE_NESTED_RULE,		/* inside And, Or, Not */
	SF_SHAPE_ITEM_READER,
	SF_SHAPE_READER_CONFIG,
	SF_SHAPE_ITEM_BATCHER,
	SF_SHAPE_RESULT_WRITER,
	SF_SHAPE_WRITER_CONFIG
} SfShape;

/*
 * Kinds of values: symbol; the function sf_validate_<name> that checks it; the kind
 * or shape that the function expects, if it serves several; whether a JSONata
 * expression may stand instead.
 */
#define SF_VALUE_LIST(X) \
	X(any, any, 0, false)		/* whatever JSON */ \
	X(string, scalar, SF_TREE_STRING, false) \
	X(boolean, scalar, SF_TREE_BOOLEAN, false) \
	X(word, word, 0, false)		/* one of the words in the last column */ \
	X(query_language, query_language, 0, false) \
	X(state_type, any, 0, false) /* without a good one the fields are not looked at */ \
	X(integer, integer, 0, false)	/* between min and max */ \
	X(number, number, 0, false) /* likewise */ \
	X(integer_or_jsonata, integer, 0, true) \
	X(number_or_jsonata, number, 0, true) \
	X(text_or_jsonata, text, 0, true) \
	X(timestamp_or_jsonata, timestamp, 0, true) \
	X(path, path, 0, false)		/* a JSONPath */ \
	X(path_or_null, path_or_null, 0, false) \
	X(path_or_intrinsic, path_or_intrinsic, 0, false) \
	X(reference, reference, 0, false)	/* a path that names one node */ \
	X(input_reference_or_null, input_reference_or_null, 0, false)	/* … in the input */ \
	X(template, template, 0, false) /* payload template, JSONata inside */ \
	X(assign, assign, 0, false) \
	X(items, items, 0, true) \
	X(condition, condition, 0, true) \
	X(credentials, credentials, 0, true) \
	X(resource, resource, 0, false) \
	X(errors, errors, 0, false) \
	X(label, label, 0, false) \
	X(strings, strings, 0, false) \
	X(states, states, 0, false) \
	X(branches, some_objects, SF_SHAPE_BRANCH, false) \
	X(processor, inner_object, SF_SHAPE_PROCESSOR, false) \
	X(processor_config, processor_config, 0, false) \
	X(retriers, objects, SF_SHAPE_RETRIER, false) \
	X(catchers, catchers, 0, false) \
	X(jobs, jobs, 0, false) \
	X(after, after, 0, false)	/* names of jobs, or objects */ \
	X(ends, ends, 0, false)		/* of a job: success, failure, skip, end */ \
	X(job_condition, job_condition, SF_SHAPE_NESTED_RULE, true) \
	X(rules, rules, SF_SHAPE_RULE, false)	/* Choices */ \
	X(nested_rules, rules, SF_SHAPE_NESTED_RULE, false) /* And, Or */ \
	X(nested_rule, rule, SF_SHAPE_NESTED_RULE, false)	/* Not */ \
	X(compared, compared, 0, false) /* what a comparison looks at: a reference path */ \
	X(operand, operand, 0, false)	/* of a comparison */ \
	X(item_reader, inner_object, SF_SHAPE_ITEM_READER, false) \
	X(reader_config, reader_config, 0, false) \
	X(item_batcher, item_batcher, 0, false) \
	X(result_writer, result_writer, 0, false) \
	X(writer_config, writer_config, 0, false)

#define SF_VALUE_ENUM(sym, function, expected, or_jsonata) SF_VALUE_##sym,
typedef enum SfValueKind
{
	SF_VALUE_LIST(SF_VALUE_ENUM)
} SfValueKind;

/* Query languages of a field */
#define SF_LANG_P	(1 << SF_QL_JSONPATH)
#define SF_LANG_A	(1 << SF_QL_JSONATA)
#define SF_LANG_PA	(SF_LANG_P | SF_LANG_A)

/*
 * State types of a field; 0 in shapes that are no states.  A state is an ordinary one,
 * or a job of a JobNet: most fields are of both.
 */
#define SF_IN_ORDINARY	(1 << 30)
#define SF_IN_JOB		(1 << 29)
#define SF_IN(type)		(1 << SF_STATE_##type | SF_IN_ORDINARY | SF_IN_JOB)
#define SF_IN_PASS		SF_IN(PASS)
#define SF_IN_TASK		SF_IN(TASK)
#define SF_IN_CHOICE	SF_IN(CHOICE)
#define SF_IN_WAIT		SF_IN(WAIT)
#define SF_IN_FAIL		SF_IN(FAIL)
#define SF_IN_MAP		SF_IN(MAP)
#define SF_IN_FORK		(SF_IN(PARALLEL) | SF_IN(MAP) | SF_IN(JOBNET))
#define SF_IN_WORK		(SF_IN(TASK) | SF_IN_FORK)	/* can fail and be retried */
#define SF_IN_RESULT	(SF_IN_PASS | SF_IN_WORK)	/* makes a result */
#define SF_IN_NEXT		(SF_IN_RESULT | SF_IN_WAIT) /* has Next or End */
#define SF_IN_DATA		(SF_IN_NEXT | SF_IN_CHOICE | SF_IN(SUCCEED))
#define SF_IN_ALL		(SF_IN_DATA | SF_IN_FAIL)
#define SF_NOT_JOB		(~SF_IN_JOB)
#define SF_IN_JOBS		(SF_IN_ALL & ~SF_IN_ORDINARY)

/* Flags */
#define SF_REQUIRED		0x01
#define SF_ONLY_SFFLOW	0x02	/* Step Functions does not know it */
#define SF_DISTRIBUTED	0x04	/* of a Map: without effect in INLINE mode */

#define SF_SECONDS_MAX	99999999

/*
 * shape, name, value, languages, state types, flags, min, max, words
 *
 * A field that is accepted is read by the function of its object in asl/compile/, such as sf_compile_map(), into a
 * struct of asl/program.h, such as SfMapState, which the handler of the state type (transition/state/) looks at.
 *
 * Required fields are reported in this order.
 */
#define SF_ASL_FIELD_LIST(X) \
	X(MACHINE, "States", states, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(MACHINE, "StartAt", string, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(MACHINE, "Comment", string, PA, 0, 0, 0, 0, NULL) \
	X(MACHINE, "Version", word, PA, 0, 0, 0, 0, "1.0") \
	X(MACHINE, "QueryLanguage", query_language, PA, 0, 0, 0, 0, NULL) \
	X(MACHINE, "TimeoutSeconds", integer, PA, 0, 0, 0, SF_SECONDS_MAX, NULL) \
	X(MACHINE, "FailureMode", word, PA, 0, SF_ONLY_SFFLOW, 0, 0, "ABORT, DRAIN") \
	\
	X(BRANCH, "States", states, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(BRANCH, "StartAt", string, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(BRANCH, "Comment", string, PA, 0, 0, 0, 0, NULL) \
	\
	X(PROCESSOR, "States", states, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(PROCESSOR, "StartAt", string, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(PROCESSOR, "Comment", string, PA, 0, 0, 0, 0, NULL) \
	X(PROCESSOR, "ProcessorConfig", processor_config, PA, 0, 0, 0, 0, NULL) \
	\
	X(PROCESSOR_CONFIG, "Mode", word, PA, 0, 0, 0, 0, "INLINE, DISTRIBUTED") \
	X(PROCESSOR_CONFIG, "ExecutionType", word, PA, 0, 0, 0, 0, "STANDARD, EXPRESS") \
	\
	X(STATE, "Type", state_type, PA, SF_IN_ALL, SF_REQUIRED, 0, 0, NULL) \
	X(STATE, "Comment", string, PA, SF_IN_ALL, 0, 0, 0, NULL) \
	X(STATE, "QueryLanguage", query_language, PA, SF_IN_ALL, 0, 0, 0, NULL) \
	X(STATE, "InputPath", path_or_null, P, SF_IN_DATA, 0, 0, 0, NULL) \
	X(STATE, "OutputPath", path_or_null, P, SF_IN_DATA, 0, 0, 0, NULL) \
	X(STATE, "Output", template, A, SF_IN_DATA, 0, 0, 0, NULL) \
	X(STATE, "Assign", assign, PA, SF_IN_NEXT | SF_IN_CHOICE, 0, 0, 0, NULL) \
	X(STATE, "Next", string, PA, SF_IN_NEXT & SF_NOT_JOB, 0, 0, 0, NULL) \
	X(STATE, "End", boolean, PA, SF_IN_NEXT & SF_NOT_JOB, 0, 0, 0, NULL) \
	X(STATE, "After", after, PA, SF_IN_JOBS, 0, 0, 0, NULL) \
	X(STATE, "Condition", job_condition, PA, SF_IN_JOBS, 0, 0, 0, NULL) \
	X(STATE, "Priority", integer, PA, SF_IN_JOBS, 0, INT_MIN, INT_MAX, NULL) \
	X(STATE, "ResultPath", input_reference_or_null, P, SF_IN_RESULT, 0, 0, 0, NULL) \
	X(STATE, "Parameters", template, P, SF_IN_RESULT, 0, 0, 0, NULL) \
	X(STATE, "ResultSelector", template, P, SF_IN_WORK, 0, 0, 0, NULL) \
	X(STATE, "Arguments", template, A, SF_IN_TASK | SF_IN(PARALLEL) | SF_IN(JOBNET), 0, 0, 0, NULL) \
	X(STATE, "Retry", retriers, PA, SF_IN_WORK, 0, 0, 0, NULL) \
	X(STATE, "Catch", catchers, PA, SF_IN_WORK, 0, 0, 0, NULL) \
	X(STATE, "Result", any, P, SF_IN_PASS, 0, 0, 0, NULL) \
	X(STATE, "Resource", resource, PA, SF_IN_TASK, SF_REQUIRED, 0, 0, NULL) \
	X(STATE, "TimeoutSeconds", integer_or_jsonata, PA, SF_IN_TASK, 0, 1, SF_SECONDS_MAX, NULL) \
	X(STATE, "TimeoutSecondsPath", path, P, SF_IN_TASK, 0, 0, 0, NULL) \
	X(STATE, "HeartbeatSeconds", integer_or_jsonata, PA, SF_IN_TASK, 0, 1, SF_SECONDS_MAX, NULL) \
	X(STATE, "HeartbeatSecondsPath", path, P, SF_IN_TASK, 0, 0, 0, NULL) \
	X(STATE, "Credentials", credentials, PA, SF_IN_TASK, 0, 0, 0, NULL) \
	X(STATE, "MaxConcurrency", integer, PA, SF_IN_TASK, SF_ONLY_SFFLOW, 1, 1000000, NULL) \
	X(STATE, "ConcurrencyKey", input_reference_or_null, PA, SF_IN_TASK, SF_ONLY_SFFLOW, 0, 0, NULL) \
	X(STATE, "Choices", rules, PA, SF_IN_CHOICE, SF_REQUIRED, 0, 0, NULL) \
	X(STATE, "Default", string, PA, SF_IN_CHOICE, 0, 0, 0, NULL) \
	X(STATE, "Seconds", integer_or_jsonata, PA, SF_IN_WAIT, 0, 0, SF_SECONDS_MAX, NULL) \
	X(STATE, "SecondsPath", path, P, SF_IN_WAIT, 0, 0, 0, NULL) \
	X(STATE, "Timestamp", timestamp_or_jsonata, PA, SF_IN_WAIT, 0, 0, 0, NULL) \
	X(STATE, "TimestampPath", path, P, SF_IN_WAIT, 0, 0, 0, NULL) \
	X(STATE, "Error", text_or_jsonata, PA, SF_IN_FAIL, 0, 0, 0, NULL) \
	X(STATE, "ErrorPath", path_or_intrinsic, P, SF_IN_FAIL, 0, 0, 0, NULL) \
	X(STATE, "Cause", text_or_jsonata, PA, SF_IN_FAIL, 0, 0, 0, NULL) \
	X(STATE, "CausePath", path_or_intrinsic, P, SF_IN_FAIL, 0, 0, 0, NULL) \
	X(STATE, "Branches", branches, PA, SF_IN(PARALLEL), SF_REQUIRED, 0, 0, NULL) \
	X(STATE, "FailureMode", word, PA, SF_IN_FORK, SF_ONLY_SFFLOW, 0, 0, "ABORT, DRAIN") \
	X(STATE, "Jobs", jobs, PA, SF_IN(JOBNET), SF_REQUIRED, 0, 0, NULL) \
	X(STATE, "ItemProcessor", processor, PA, SF_IN_MAP, 0, 0, 0, NULL) \
	X(STATE, "Iterator", processor, PA, SF_IN_MAP, 0, 0, 0, NULL) \
	X(STATE, "ItemsPath", reference, P, SF_IN_MAP, 0, 0, 0, NULL) \
	X(STATE, "Items", items, A, SF_IN_MAP, 0, 0, 0, NULL) \
	X(STATE, "ItemSelector", template, PA, SF_IN_MAP, 0, 0, 0, NULL) \
	X(STATE, "MaxConcurrency", integer_or_jsonata, PA, SF_IN_MAP | SF_IN(JOBNET), 0, 0, INT_MAX, NULL) \
	X(STATE, "MaxConcurrencyPath", path, P, SF_IN_MAP | SF_IN(JOBNET), 0, 0, 0, NULL) \
	X(STATE, "ToleratedFailureCount", integer_or_jsonata, PA, SF_IN_MAP, SF_DISTRIBUTED, 0, INT_MAX, NULL) \
	X(STATE, "ToleratedFailureCountPath", path, P, SF_IN_MAP, SF_DISTRIBUTED, 0, 0, NULL) \
	X(STATE, "ToleratedFailurePercentage", number_or_jsonata, PA, SF_IN_MAP, SF_DISTRIBUTED, 0, 100, NULL) \
	X(STATE, "ToleratedFailurePercentagePath", path, P, SF_IN_MAP, SF_DISTRIBUTED, 0, 0, NULL) \
	X(STATE, "ItemReader", item_reader, PA, SF_IN_MAP, SF_DISTRIBUTED, 0, 0, NULL) \
	X(STATE, "ItemBatcher", item_batcher, PA, SF_IN_MAP, SF_DISTRIBUTED, 0, 0, NULL) \
	X(STATE, "ResultWriter", result_writer, PA, SF_IN_MAP, SF_DISTRIBUTED, 0, 0, NULL) \
	X(STATE, "Label", label, PA, SF_IN_MAP, SF_DISTRIBUTED, 0, 0, NULL) \
	\
	X(RETRIER, "ErrorEquals", errors, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(RETRIER, "Comment", string, PA, 0, 0, 0, 0, NULL) \
	X(RETRIER, "IntervalSeconds", integer, PA, 0, 0, 0, SF_SECONDS_MAX, NULL) \
	X(RETRIER, "MaxAttempts", integer, PA, 0, 0, 0, SF_SECONDS_MAX, NULL) \
	X(RETRIER, "BackoffRate", number, PA, 0, 0, 1, SF_SECONDS_MAX, NULL) \
	X(RETRIER, "MaxDelaySeconds", integer, PA, 0, 0, 1, 31622400, NULL) \
	X(RETRIER, "JitterStrategy", word, PA, 0, 0, 0, 0, "NONE, FULL") \
	\
	X(CATCHER, "ErrorEquals", errors, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(CATCHER, "Next", string, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(CATCHER, "Comment", string, PA, 0, 0, 0, 0, NULL) \
	X(CATCHER, "ResultPath", input_reference_or_null, P, 0, 0, 0, 0, NULL) \
	X(CATCHER, "Output", template, A, 0, 0, 0, 0, NULL) \
	X(CATCHER, "Assign", assign, PA, 0, 0, 0, 0, NULL) \
	\
	X(JOB_CATCHER, "ErrorEquals", errors, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(JOB_CATCHER, "Comment", string, PA, 0, 0, 0, 0, NULL) \
	X(JOB_CATCHER, "ResultPath", input_reference_or_null, P, 0, 0, 0, 0, NULL) \
	X(JOB_CATCHER, "Output", template, A, 0, 0, 0, 0, NULL) \
	X(JOB_CATCHER, "Assign", assign, PA, 0, 0, 0, 0, NULL) \
	\
	X(JOB_FLOW, "States", states, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(JOB_FLOW, "StartAt", string, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(JOB_FLOW, "Comment", string, PA, 0, 0, 0, 0, NULL) \
	X(JOB_FLOW, "After", after, PA, 0, 0, 0, 0, NULL) \
	X(JOB_FLOW, "Condition", job_condition, PA, 0, 0, 0, 0, NULL) \
	X(JOB_FLOW, "Priority", integer, PA, 0, 0, INT_MIN, INT_MAX, NULL) \
	\
	X(AFTER, "Job", string, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(AFTER, "On", ends, PA, 0, 0, 0, 0, NULL) \
	\
	X(RULE, "Next", string, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(RULE, "Comment", string, PA, 0, 0, 0, 0, NULL) \
	X(RULE, "Assign", assign, PA, 0, 0, 0, 0, NULL) \
	X(RULE, "Output", template, A, 0, 0, 0, 0, NULL) \
	X(RULE, "Condition", condition, A, 0, 0, 0, 0, NULL) \
	X(RULE, "Variable", compared, P, 0, 0, 0, 0, NULL) \
	X(RULE, "And", nested_rules, P, 0, 0, 0, 0, NULL) \
	X(RULE, "Or", nested_rules, P, 0, 0, 0, 0, NULL) \
	X(RULE, "Not", nested_rule, P, 0, 0, 0, 0, NULL) \
	\
	X(NESTED_RULE, "Comment", string, PA, 0, 0, 0, 0, NULL) \
	X(NESTED_RULE, "Variable", compared, P, 0, 0, 0, 0, NULL) \
	X(NESTED_RULE, "And", nested_rules, P, 0, 0, 0, 0, NULL) \
	X(NESTED_RULE, "Or", nested_rules, P, 0, 0, 0, 0, NULL) \
	X(NESTED_RULE, "Not", nested_rule, P, 0, 0, 0, 0, NULL) \
	\
	X(ITEM_READER, "Resource", resource, PA, 0, SF_REQUIRED, 0, 0, NULL) \
	X(ITEM_READER, "Parameters", template, P, 0, 0, 0, 0, NULL) \
	X(ITEM_READER, "Arguments", template, A, 0, 0, 0, 0, NULL) \
	X(ITEM_READER, "ReaderConfig", reader_config, PA, 0, 0, 0, 0, NULL) \
	\
	X(READER_CONFIG, "InputType", word, PA, 0, 0, 0, 0, "CSV, JSON, JSONL, PARQUET, MANIFEST") \
	X(READER_CONFIG, "CSVHeaderLocation", word, PA, 0, 0, 0, 0, "FIRST_ROW, GIVEN") \
	X(READER_CONFIG, "CSVHeaders", strings, PA, 0, 0, 0, 0, NULL) \
	X(READER_CONFIG, "CSVDelimiter", word, PA, 0, 0, 0, 0, "COMMA, PIPE, SEMICOLON, SPACE, TAB") \
	X(READER_CONFIG, "MaxItems", integer_or_jsonata, PA, 0, 0, 0, INT_MAX, NULL) \
	X(READER_CONFIG, "MaxItemsPath", path, P, 0, 0, 0, 0, NULL) \
	X(READER_CONFIG, "Transformation", word, PA, 0, 0, 0, 0, "NONE, LOAD_AND_FLATTEN") \
	X(READER_CONFIG, "ManifestType", word, PA, 0, 0, 0, 0, "ATHENA_DATA, S3_INVENTORY") \
	X(READER_CONFIG, "ItemsPointer", string, PA, 0, 0, 0, 0, NULL) \
	\
	X(ITEM_BATCHER, "BatchInput", template, PA, 0, 0, 0, 0, NULL) \
	X(ITEM_BATCHER, "MaxItemsPerBatch", integer_or_jsonata, PA, 0, 0, 1, INT_MAX, NULL) \
	X(ITEM_BATCHER, "MaxItemsPerBatchPath", path, P, 0, 0, 0, 0, NULL) \
	X(ITEM_BATCHER, "MaxInputBytesPerBatch", integer_or_jsonata, PA, 0, 0, 1, INT_MAX, NULL) \
	X(ITEM_BATCHER, "MaxInputBytesPerBatchPath", path, P, 0, 0, 0, 0, NULL) \
	\
	X(RESULT_WRITER, "Resource", resource, PA, 0, 0, 0, 0, NULL) \
	X(RESULT_WRITER, "Parameters", template, P, 0, 0, 0, 0, NULL) \
	X(RESULT_WRITER, "Arguments", template, A, 0, 0, 0, 0, NULL) \
	X(RESULT_WRITER, "WriterConfig", writer_config, PA, 0, 0, 0, 0, NULL) \
	\
	X(WRITER_CONFIG, "Transformation", word, PA, 0, 0, 0, 0, "NONE, COMPACT, FLATTEN") \
	X(WRITER_CONFIG, "OutputType", word, PA, 0, 0, 0, 0, "JSON, JSONL")

/*
 * Fields that exclude each other: shape, state types, whether one of them has
 * to be there, names.
 */
#define SF_ASL_GROUP_LIST(X) \
	X(STATE, SF_IN_NEXT & SF_NOT_JOB, true, "Next", "End", NULL, NULL) \
	X(STATE, SF_IN_WAIT, true, "SecondsPath", "Seconds", "TimestampPath", "Timestamp") \
	X(STATE, SF_IN_TASK, false, "TimeoutSeconds", "TimeoutSecondsPath", NULL, NULL) \
	X(STATE, SF_IN_TASK, false, "HeartbeatSeconds", "HeartbeatSecondsPath", NULL, NULL) \
	X(STATE, SF_IN_FAIL, false, "Error", "ErrorPath", NULL, NULL) \
	X(STATE, SF_IN_FAIL, false, "Cause", "CausePath", NULL, NULL) \
	X(STATE, SF_IN_MAP, true, "ItemProcessor", "Iterator", NULL, NULL) \
	X(STATE, SF_IN_MAP, false, "ItemSelector", "Parameters", NULL, NULL) \
	X(STATE, SF_IN_MAP | SF_IN(JOBNET), false, "MaxConcurrency", "MaxConcurrencyPath", NULL, NULL) \
	X(STATE, SF_IN_MAP, false, "ToleratedFailureCount", "ToleratedFailureCountPath", NULL, NULL) \
	X(STATE, SF_IN_MAP, false, "ToleratedFailurePercentage", "ToleratedFailurePercentagePath", NULL, NULL) \
	X(READER_CONFIG, 0, false, "MaxItems", "MaxItemsPath", NULL, NULL) \
	X(ITEM_BATCHER, 0, false, "MaxItemsPerBatch", "MaxItemsPerBatchPath", NULL, NULL) \
	X(ITEM_BATCHER, 0, false, "MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath", NULL, NULL)

#endif							/* SF_ASL_FIELDS_H */
