-- Lambda functions: SQL functions and activities stand in for them.
-- Each scene is one transaction, so that no worker takes part in it.
\set VERBOSITY terse

CREATE FUNCTION price(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	CASE payload->>'sku'
		WHEN 'broken' THEN PERFORM 1 / 0;
		WHEN 'gone' THEN PERFORM sf_raise('SkuGone', 'no such thing');
		ELSE NULL;
	END CASE;
	RETURN jsonb_build_object('price', 5, 'payload', payload);
END $$;

-- What a state with this resource and these parameters leaves: its output or its error, and the events.
CREATE FUNCTION runs(resource text, parameters jsonb) RETURNS TABLE (type text, details jsonb) LANGUAGE plpgsql AS $$
DECLARE
	run_id text;
BEGIN
	PERFORM sf_create_state_machine('l', json_build_object('StartAt', 'F', 'States', json_build_object('F',
		json_build_object('Type', 'Task', 'Resource', resource, 'Parameters', parameters, 'End', true))),
			or_replace => true);
	run_id := sf_start('l', '{}');
	PERFORM sf_run(run_id);
	RETURN QUERY SELECT h.type, CASE WHEN h.details ? 'cause' AND h.details->>'cause' LIKE '{%'
			THEN jsonb_set(h.details, '{cause}', (h.details->>'cause')::jsonb - 'stackTrace') ELSE h.details END
			- '{inputDetails,outputDetails,region,roleArn}'::text[]
			#- '{output,SdkResponseMetadata}' #- '{cause,stackTrace}'
		FROM sf_history h WHERE execution_id = run_id AND h.type ~ 'Task[SF]|Lambda' ORDER BY h.id;
END $$;

-- the integration: the function is found by its name, given Payload alone, and answers inside a response
BEGIN;
SELECT sf_map_resource('price', 'sql:public.price');
SELECT * FROM runs('arn:aws:states:::lambda:invoke', '{"FunctionName": "price", "Payload": {"sku": "a"}}');

-- whichever way the function is written
SELECT written, details->'output'->'Payload'->'payload' AS payload
FROM (VALUES ('price'), ('price:PROD'), ('arn:aws:lambda:eu-west-1:123456789012:function:price'),
		('arn:aws:lambda:eu-west-1:123456789012:function:price:$LATEST'), ('123456789012:function:price'),
			('other')) AS v(written),
	runs('arn:aws:states:::lambda:invoke', jsonb_build_object('FunctionName', written)) WHERE type = 'TaskSucceeded';

-- a payload is JSON text, or a value; an empty one is none
SELECT payload, details->'output'->'Payload'->'payload' AS given, details->'error' AS error
FROM (VALUES ('"{\"a\": 1}"'::jsonb), ('"\"text\""'), ('null'), ('[1]'), ('""'), ('"no JSON"')) AS v(payload),
	runs('arn:aws:states:::lambda:invoke', jsonb_build_object('FunctionName', 'price', 'Payload', payload))
		WHERE type ~ 'Succeeded|Failed';

-- errors have the shape of Lambda's
SELECT details->'error' AS error, details->'cause' AS cause
FROM (VALUES ('broken'), ('gone')) AS v(sku),
	runs('arn:aws:states:::lambda:invoke', jsonb_build_object('FunctionName', 'price', 'Payload',
		jsonb_build_object('sku', sku))) WHERE type = 'TaskFailed';
SELECT details->'error' AS error, regexp_replace(details->>'cause', 'ID: [^;]*', 'ID: …') AS cause
FROM runs('arn:aws:states:::lambda:invoke', '{"FunctionName": "missing"}') WHERE type = 'TaskFailed';
SELECT details FROM runs('arn:aws:states:::lambda:invoke', '{"Payload": {}}') WHERE type = 'TaskFailed';

-- a function's ARN as Resource: its own events, the bare result
SELECT * FROM runs('arn:aws:lambda:eu-west-1:123456789012:function:price', '{"sku": "b"}');
SELECT type, details FROM runs('arn:aws:lambda:eu-west-1:123456789012:function:price:3', '{"sku": "gone"}')
	WHERE type ~ 'Failed';
ROLLBACK;

-- a pattern on ARNs serves names, too; the integration itself can be mapped for all functions
BEGIN;
SELECT sf_map_resource('arn:aws:lambda:*:function:pri*', 'sql:public.price');
SELECT details->'output'->'Payload' AS payload
	FROM runs('arn:aws:states:::lambda:invoke', '{"FunctionName": "price"}') WHERE type = 'TaskSucceeded';
SELECT sf_map_resource('arn:aws:states:::lambda:invoke', 'sql:public.price');
SELECT details->'output'->'Payload' AS payload
	FROM runs('arn:aws:states:::lambda:invoke', '{"FunctionName": "other"}') WHERE type = 'TaskSucceeded';
ROLLBACK;

-- an activity stands in: its worker gets Payload, its answer comes inside the response
BEGIN;
SELECT sf_create_activity('fn');
SELECT sf_map_resource('price', 'activity:fn');
SELECT sf_create_state_machine('a', '{"StartAt": "F",
	"States": {"F": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
	"Parameters": {"FunctionName": "price", "Payload": {"sku": "a"}}, "ResultSelector": {"code.$": "$.StatusCode",
		"p.$": "$.Payload"}, "End": true}}}');
SELECT sf_run(sf_start('a', '{}', 'x'));
SELECT input, task_token FROM sf_get_activity_task('fn') \gset
\echo :input
SELECT sf_send_task_success(:'task_token', '7');
SELECT sf_run('a:x');
SELECT output FROM sf_executions WHERE execution_id = 'a:x';
ROLLBACK;

-- .waitForTaskToken: the function is told the token, and the answer is what is sent for it
BEGIN;
CREATE TABLE told (token text);
CREATE FUNCTION ask(token text) RETURNS text LANGUAGE sql AS 'INSERT INTO told VALUES (token); SELECT ''asked''::text';
SELECT sf_map_resource('ask', 'sql:public.ask');
SELECT sf_create_state_machine('w', '{"StartAt": "F",
	"States": {"F": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
	"Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token"}}, "End": true}}}');
SELECT sf_run(sf_start('w', '{}', 'x'));
SELECT details->'output'->'Payload' AS submitted FROM sf_history WHERE execution_id = 'w:x' AND type = 'TaskSubmitted';
SELECT sf_send_task_success(token, '{"approved": true}') FROM told;
SELECT sf_run('w:x');
SELECT output FROM sf_executions WHERE execution_id = 'w:x';
ROLLBACK;

-- sf_test_state invokes as well
BEGIN;
SELECT sf_map_resource('price', 'sql:public.price');
SELECT (sf_test_state('{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
	"Parameters": {"FunctionName": "price"}, "End": true}')->'output')->'Payload' AS payload;
ROLLBACK;

DROP FUNCTION price, runs;
