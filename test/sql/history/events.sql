-- What history tells of failures: which events, what is in them, which event each follows.
SET client_min_messages = warning;
CREATE FUNCTION fails(error text DEFAULT 'Broken', cause text DEFAULT NULL) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN PERFORM sf_raise(error, cause); END $$;
CREATE FUNCTION letters(n integer) RETURNS jsonb LANGUAGE sql AS $$ SELECT to_jsonb(repeat('x', n)) $$;

-- Run a machine and show what it left, without what every execution begins with.
CREATE FUNCTION events(definition json, input jsonb DEFAULT '{}')
RETURNS TABLE(id integer, previous integer, type text, state text, details jsonb) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_create_state_machine('m', definition);
	PERFORM sf_run(sf_start('m', input, 'x'), skip_waits => true);
	RETURN QUERY SELECT h.id::integer, h.previous_event_id::integer, h.type, h.state,
			h.details - '{name,input,inputDetails,output,outputDetails,region,resource,resourceType,parameters}'::text[]
		FROM sf_history h WHERE h.execution_id = 'm:x' AND h.id > 2 ORDER BY h.id;
	PERFORM sf_drop_state_machine('m', force => true);
END $$;

-- The failing branch of a Parallel is aborted too; all that its failure brings follows the failure.
SELECT id, previous, type FROM events('{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
	{"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": 60, "End": true}}},
	{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:public.fails", "End": true}}}]}}}');

-- The same in a Map, where the others are aborted with their iterations.
SELECT id, previous, type, details->'index' AS index
	FROM events('{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor":
	{"StartAt": "C", "States": {
		"C": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericLessThan": 2, "Next": "W"}], "Default": "A"},
		"W": {"Type": "Wait", "Seconds": 60, "End": true},
		"A": {"Type": "Task", "Resource": "sql:public.fails", "Parameters": {}, "End": true}}}}}}', '[1, 2]')
WHERE type NOT LIKE 'Choice%';

-- A failure that is caught takes the others with it in the same way.
SELECT id, previous, type FROM events('{"StartAt": "M",
	"States": {"M": {"Type": "Map", "Catch": [{"ErrorEquals": ["E"], "Next": "End"}], "ItemProcessor":
	{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "E"}}}, "Next": "End"}, "End": {"Type": "Succeed"}}}',
		'[1, 2, 3]');

-- A branch that ends in a Fail state is not aborted.
SELECT id, previous, type FROM events('{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
	{"StartAt": "A", "States": {"A": {"Type": "Fail"}}}]}}}');

-- Each attempt of a retried Parallel follows the last event of the attempt before.
SELECT id, previous, type FROM events('{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Retry": [{"ErrorEquals": ["Broken"], "MaxAttempts": 1}], "Branches": [
	{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:public.fails", "End": true}}}]}}}');

-- An expression that fails inside a Map is reported once, for the state that has it.
SELECT id, previous, type, details->>'state' AS state
	FROM events('{"QueryLanguage": "JSONata", "StartAt": "M", "States": {"M": {"Type": "Map", "Items": [1],
	"ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Pass", "Output": "{% $missing %}", "End": true}}},
		"End": true}}}');

-- … with the place of the expression in the state.
SELECT type, details->>'location' AS location
	FROM events('{"QueryLanguage": "JSONata", "StartAt": "T",
	"States": {"T": {"Type": "Task", "Resource": "sql:public.fails",
	"Catch": [{"ErrorEquals": ["Other"], "Next": "E"}, {"ErrorEquals": ["States.ALL"],
		"Assign": {"a": ["{% $missing %}"]}, "Next": "E"}], "Next": "E"}, "E": {"Type": "Succeed"}}}')
WHERE type LIKE '%Failed';
SELECT type, details->>'location' AS location
	FROM events('{"QueryLanguage": "JSONata", "StartAt": "C", "States": {"C": {"Type": "Choice",
	"Choices": [{"Condition": "{% true %}", "Assign": {"x": "{% $missing %}"}, "Next": "E"}]},
		"E": {"Type": "Succeed"}}}')
WHERE type LIKE '%Failed';

-- A rule's Output stands in place of the state's.
SELECT sf_test_state('{"QueryLanguage": "JSONata", "Type": "Choice", "Output": "{% $missing %}",
	"Choices": [{"Condition": "{% true %}", "Output": "{% $states.input.a %}", "Next": "E"}]}', '{"a": 1}');

-- Later items see their own context object.
SELECT sf_create_state_machine('m', '{"StartAt": "M", "States": {"M": {"Type": "Map",
	"ItemSelector": {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value"},
	"ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Pass", "End": true}}}, "End": true}}}');
SELECT sf_run(sf_start('m', '["a", "b", "c"]', 'x'));
SELECT output FROM sf_executions WHERE execution_id = 'm:x';
SELECT sf_drop_state_machine('m');

-- A result that is too large makes the task fail, which can be caught; the cause has the resource, of an
-- optimized integration the service.
SET sfflow.max_payload_bytes = 2000;
SELECT type, details FROM events('{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.letters",
	"Parameters": {"n": 3000}, "Catch": [{"ErrorEquals": ["States.DataLimitExceeded"], "Next": "C"}], "End": true},
		"C": {"Type": "Pass", "End": true}}}');
SELECT sf_map_resource('arn:aws:states:::lambda:invoke', 'sql:public.letters');
SELECT type, details FROM events('{"StartAt": "T",
	"States": {"T": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
	"Parameters": {"n": 3000}, "End": true}}}') WHERE details ? 'cause';
SELECT sf_unmap_resource('arn:aws:states:::lambda:invoke');
RESET sfflow.max_payload_bytes;

-- Credentials are shown; the task runs as the machine's owner all the same.
SELECT type, details FROM events('{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.letters",
	"TimeoutSeconds": 9,
	"Parameters": {"n": 1}, "Credentials": {"RoleArn.$": "$.role"}, "End": true}}}',
		'{"role": "arn:aws:iam::1:role/other"}') WHERE type = 'TaskScheduled';

-- A child's input may be given as text, which is JSON then; null is {}, and what is no JSON fails the task.
BEGIN;
SELECT sf_create_state_machine('child', '{"StartAt": "C", "States": {"C": {"Type": "Pass", "End": true}}}');
SELECT sf_create_state_machine('parent', '{"StartAt": "M", "States": {"M": {"Type": "Map", "MaxConcurrency": 1,
	"ItemProcessor": {"StartAt": "S", "States": {
	"S": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution",
		"Parameters": {"StateMachineArn": "child", "Name.$": "States.Format(''c{}'', $$.Map.Item.Index)",
			"Input.$": "$"}, "ResultPath": null, "End": true}}}, "End": true}}}');
SELECT sf_run(sf_start('parent', '[{"a": 1}, "{\"b\": 2}", "\"text\"", null, 3, "no JSON"]', 'p'));
SELECT execution_id, input FROM sf_executions WHERE state_machine = 'child' ORDER BY execution_id;
SELECT error, regexp_replace(cause, '[0-9a-f-]{36}', '…') AS cause FROM sf_executions WHERE execution_id = 'parent:p';
ROLLBACK;

-- A child that the service would refuse fails with its names, those of the SDK in aws-sdk:sfn:startExecution.
BEGIN;
SELECT sf_create_state_machine('child', '{"StartAt": "C", "States": {"C": {"Type": "Wait", "Seconds": 9,
	"End": true}}}');
SELECT sf_start('child', '{}', 'taken') \g /dev/null
SELECT sf_map_resource('arn:aws:states:::aws-sdk:sfn:startExecution', 'arn:aws:states:::states:startExecution');
SELECT details ->> 'error' AS error, regexp_replace(details ->> 'cause', '[0-9a-f-]{36}', '…') AS cause
FROM (VALUES (1, 'states:startExecution', '{"StateMachineArn": "arn:aws:states:us-east-1:1:stateMachine:none"}'),
	(2, 'states:startExecution.sync:2', '{"StateMachineArn": "arn:aws:states:us-east-1:1:stateMachine:child:9"}'),
	(3, 'states:startExecution', '{"StateMachineArn": "child", "Name": "taken"}'),
	(4, 'states:startExecution', '{"StateMachineArn": "child", "Name": "a b"}'),
	(5, 'aws-sdk:sfn:startExecution', '{"StateMachineArn": "arn:aws:states:us-east-1:1:stateMachine:none"}'),
	(6, 'aws-sdk:sfn:startExecution', '{"StateMachineArn": "child", "Name": "taken"}')) AS v (n, action, parameters),
	events(format('{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "arn:aws:states:::%s",
		"Parameters": %s, "End": true}}}', action, parameters)::json) AS e
WHERE type = 'TaskFailed' ORDER BY n;
ROLLBACK;

DROP FUNCTION events, fails, letters;
