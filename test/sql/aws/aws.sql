-- What sf_aws_install() makes: DynamoDB, EventBridge, SQS, SNS, Step Functions and Systems Manager inside the database.
-- Scenes that run executions are one transaction each, so that no worker takes part in them.
-- needs: rule
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT sf_aws_install();

-- What a state with this resource and these parameters leaves: its output, or error and cause.
CREATE FUNCTION call(resource text, parameters jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	run_id text;
	result jsonb;
BEGIN
	PERFORM sf_create_state_machine('call', json_build_object('StartAt', 'F', 'States', json_build_object('F',
		json_build_object('Type', 'Task', 'Resource', 'arn:aws:states:::' || resource, 'Parameters',
			parameters, 'End', true))), or_replace => true);
	run_id := sf_start('call', '{}');
	PERFORM sf_run(run_id);
	SELECT jsonb_strip_nulls(jsonb_build_object('status', nullif(e.status, 'SUCCEEDED'), 'output',
		e.output - '{SdkHttpMetadata,SdkResponseMetadata}'::text[],
			'error', e.error, 'cause', regexp_replace(e.cause, '[0-9a-f]{8}-[-0-9a-f]{27}', '…')))
		INTO result FROM sf_executions AS e WHERE execution_id = run_id;
	RETURN result;
END $$;

-- ---- DynamoDB

BEGIN;
SELECT sfflow_aws.create_table('job', 'id', 'n');
SELECT call('dynamodb:putItem', '{"TableName": "job", "Item": {"id": {"S": "a"}, "n": {"N": "1"},
	"state": {"S": "new"}}}');
SELECT call('dynamodb:putItem', '{"TableName": "job", "Item": {"id": {"S": "a"}, "n": {"N": "1.0"},
	"state": {"S": "newer"}}, "ReturnValues": "ALL_OLD"}');
SELECT call('dynamodb:getItem', '{"TableName": "job", "Key": {"id": {"S": "a"}, "n": {"N": "1"}}}');
SELECT call('dynamodb:getItem', '{"TableName": "arn:aws:dynamodb:eu-west-1:1:table/job", "Key": {"id": {"S": "a"},
	"n": {"N": "1"}},
	"ProjectionExpression": "#s", "ExpressionAttributeNames": {"#s": "state"}}');
SELECT call('dynamodb:getItem', '{"TableName": "job", "Key": {"id": {"S": "a"}, "n": {"N": "2"}}}');

-- conditions
SELECT call('dynamodb:putItem', '{"TableName": "job", "Item": {"id": {"S": "a"}, "n": {"N": "1"}},
	"ConditionExpression": "attribute_not_exists(id)"}');
SELECT call('dynamodb:updateItem', '{"TableName": "job", "Key": {"id": {"S": "a"}, "n": {"N": "1"}},
	"ReturnValues": "UPDATED_NEW",
	"UpdateExpression": "SET #s = :to ADD tries :one", "ConditionExpression": "#s IN (:from, :other)",
	"ExpressionAttributeNames": {"#s": "state"}, "ExpressionAttributeValues": {":to": {"S": "running"},
		":from": {"S": "newer"}, ":other": {"S": "x"}, ":one": {"N": "1"}}}');
SELECT call('dynamodb:updateItem', '{"TableName": "job", "Key": {"id": {"S": "b"}, "n": {"N": "1"}},
	"ReturnValues": "ALL_NEW",
	"UpdateExpression": "SET job_state = :s", "ExpressionAttributeValues": {":s": {"S": "made"}}}');
SELECT call('aws-sdk:dynamodb:deleteItem', '{"TableName": "job", "Key": {"id": {"S": "b"}, "n": {"N": "1"}},
	"ConditionExpression": "job_state = :s",
	"ExpressionAttributeValues": {":s": {"S": "other"}}}');
SELECT call('dynamodb:deleteItem', '{"TableName": "job", "Key": {"id": {"S": "b"}, "n": {"N": "1"}},
	"ReturnValues": "ALL_OLD"}');

-- queries: in the order of the sort key, which are numbers here
SELECT count(call('dynamodb:putItem', jsonb_build_object('TableName', 'job', 'Item', jsonb_build_object('id',
	'{"S": "q"}'::jsonb, 'n', jsonb_build_object('N', n::text)))))
FROM generate_series(1, 12) AS n;
SELECT call('aws-sdk:dynamodb:query', '{"TableName": "job",
	"KeyConditionExpression": "id = :q AND n BETWEEN :from AND :to", "FilterExpression": "n <> :not",
	"ExpressionAttributeValues": {":q": {"S": "q"}, ":from": {"N": "9"}, ":to": {"N": "11"}, ":not": {"N": "10"}}}');
SELECT call('aws-sdk:dynamodb:query', '{"TableName": "job", "KeyConditionExpression": "id = :q",
	"ScanIndexForward": false, "Limit": 2,
	"ExclusiveStartKey": {"id": {"S": "q"}, "n": {"N": "11"}}, "ExpressionAttributeValues": {":q": {"S": "q"}}}');
SELECT call('aws-sdk:dynamodb:query', '{"TableName": "job", "KeyConditionExpression": "id = :q", "Select": "COUNT",
	"ExpressionAttributeValues": {":q": {"S": "q"}}}');
SELECT call('aws-sdk:dynamodb:scan', '{"TableName": "job", "FilterExpression": "attribute_exists(tries)"}');

-- refusals
SELECT call('dynamodb:putItem', '{"TableName": "none", "Item": {"id": {"S": "a"}}}');
SELECT call('aws-sdk:dynamodb:getItem', '{"TableName": "none", "Key": {"id": {"S": "a"}}}');
SELECT call('dynamodb:putItem', '{"TableName": "none", "Item": null}');
SELECT call('dynamodb:putItem', '{"TableName": "no table", "Item": {"id": {"S": "a"}}}');
SELECT call('aws-sdk:dynamodb:getItem', '{"TableName": "it''s", "Key": {"id": {"S": "a"}}}');
SELECT call('aws-sdk:dynamodb:getItem', '{"TableName": ""}');
SELECT call('aws-sdk:dynamodb:scan', '{}');
SELECT action, parameters, regexp_replace(call(action, parameters::jsonb)->>'cause', ' \(Service.*', '') AS cause
	FROM (VALUES
	('aws-sdk:dynamodb:query', '{"TableName": "none", "IndexName": "a b", "Limit": 0, "Select": "ALL"}'),
	('dynamodb:updateItem', '{"TableName": "none", "Key": {}, "ReturnValues": "NEW"}'),
	('dynamodb:putItem', '{"TableName": "job", "Item": {"id": {"S": "a"}, "n": {"N": "1"}},
		"ReturnValues": "ALL_NEW"}'),
	('dynamodb:getItem', '{"TableName": "job", "Key": {"id": {"S": ""}, "n": {"N": "1"}}}'),
	('dynamodb:putItem', '{"TableName": "job", "Item": {"id": {"B": ""}, "n": {"N": "1"}}}')) AS v (action, parameters);
SELECT call('dynamodb:deleteItem', '{"TableName": "job", "Key": []}');
SELECT call('dynamodb:putItem', '{"TableName": "job", "Item": {"id": {"S": "a"}}}');
SELECT call('dynamodb:putItem', '{"TableName": "job", "Item": {"id": {"S": "a"}, "n": {"N": "1"},
	"x": {" S": "blank"}}}');
SELECT call('dynamodb:getItem', '{"TableName": "job", "Key": {"id": {"S": "a"}}}');
SELECT call('dynamodb:getItem', '{"TableName": "job", "Key": {"id": {"S": "a"}, "n": {"N": "many"}}}');
SELECT call('dynamodb:updateItem', '{"TableName": "job", "Key": {"id": {"S": "a"}, "n": {"N": "1"}},
	"UpdateExpression": "SET n = :v", "ExpressionAttributeValues": {":v": {"N": "2"}}}');
SELECT call('dynamodb:updateItem', '{"TableName": "job", "Key": {"id": {"S": "a"}, "n": {"N": "1"}},
	"UpdateExpression": "SET x ="}');
SELECT call('aws-sdk:dynamodb:query', '{"TableName": "job", "KeyConditionExpression": "n = :v",
	"ExpressionAttributeValues": {":v": {"N": "2"}}}');
SELECT call('aws-sdk:dynamodb:query', '{"TableName": "job", "KeyConditionExpression": "id = :v AND x = :v",
	"ExpressionAttributeValues": {":v": {"S": "2"}}}');
ROLLBACK;

-- ---- EventBridge

-- patterns: what they match in {"source": "shop", "detail": {"n": 5, "tags": ["a", "b"], "state": "done"}}
SELECT pattern, sf_test_event_pattern(pattern::jsonb, '{"source": "shop", "detail": {"n": 5, "tags": ["a", "b"],
	"state": "done"}}') AS matches
FROM (VALUES
	('{"source": ["shop", "other"]}'), ('{"source": ["other"]}'), ('{"detail": {"tags": ["b"]}}'),
		('{"detail": {"n": [5]}, "source": ["x"]}'),
	('{"source": [{"prefix": "sh"}]}'), ('{"source": [{"suffix": "op"}]}'), ('{"source": [{"wildcard": "s*p"}]}'),
		('{"source": [{"equals-ignore-case": "SHOP"}]}'),
	('{"detail": {"state": [{"anything-but": ["open", "new"]}]}}'),
		('{"detail": {"state": [{"anything-but": {"prefix": "do"}}]}}'),
	('{"detail": {"n": [{"numeric": [">", 1, "<=", 5]}]}}'), ('{"detail": {"n": [{"numeric": ["<", 5]}]}}'),
	('{"detail": {"gone": [{"exists": false}]}}'), ('{"detail": {"n": [{"exists": false}]}}'),
		('{"$or": [{"source": ["x"]}, {"detail": {"n": [5]}}]}')) AS v(pattern);

-- an event starts a machine, inside the transaction that puts it
BEGIN;
SELECT sf_create_state_machine('on_event', '{"StartAt": "P",
	"States": {"P": {"Type": "Pass", "OutputPath": "$.detail", "End": true}}}');
SELECT sfflow_aws.put_rule('r', '{"source": ["shop"]}', 'on_event', bus => 'orders');
SAVEPOINT s;
SELECT sfflow_aws.put_rule('bad', '{"source": "shop"}', 'on_event');
ROLLBACK TO s;
SELECT sfflow_aws.put_rule('bad', '{"source": ["shop"]}', 'on_event', input => '{"a.$": "$["}');
ROLLBACK TO s;
SELECT call('events:putEvents', '{"Entries": [{"EventBusName": "orders", "Source": "shop", "DetailType": "paid",
	"Detail": {"order": 1}},
	{"EventBusName": "orders", "Source": "shop", "DetailType": "paid", "Detail": "{\"order\": 2}"},
		{"Source": "shop", "DetailType": "paid", "Detail": {"order": 3}}]}')
	#- '{output,Entries}' AS result;
SELECT input - '{id,time}'::text[] AS input FROM sf_executions WHERE state_machine = 'on_event'
	ORDER BY input->'detail'->'order';
SELECT call('events:putEvents', '{"Entries": [{"Source": "shop", "DetailType": "paid", "Detail": {}},
	{"DetailType": "paid", "Detail": {}}, {"Source": "shop", "DetailType": "paid", "Detail": "\"x\""}]}');
SELECT count(*) FROM sf_executions WHERE state_machine = 'on_event';
SELECT call('events:putEvents', '{"Entries": []}');
SELECT call('events:putEvents', '{}');
ROLLBACK;

-- ---- SQS and SNS: to an activity, to NOTIFY, to a machine

BEGIN;
SELECT sf_create_activity('shell');
SELECT sf_create_state_machine('listener', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sfflow_aws.create_queue('jobs', 'activity:shell');
SELECT sfflow_aws.create_topic('news', 'listener', 'activity:shell', 'notify:news');
SELECT call('sqs:sendMessage', '{"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/1/jobs",
	"MessageBody": {"Command": "true"}}') #- '{output,MessageId}' AS result;
SELECT call('sns:publish', '{"TopicArn": "arn:aws:sns:eu-west-1:1:news", "Message": "hello"}') #- '{output,MessageId}'
	AS result;
SELECT sf_run(execution_id), input FROM sf_executions WHERE state_machine IN ('aws-activity-shell', 'listener')
	ORDER BY state_machine, input::text;
SELECT input FROM sf_get_activity_task('shell', max_tasks => 10) ORDER BY input::text;
SELECT call('sqs:sendMessage', '{"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/1/none", "MessageBody": "x"}');
SELECT call('sns:publish', '{"TopicArn": "arn:aws:sns:eu-west-1:1:none", "Message": "x"}');

-- a request is checked before the queue or topic is looked for
SELECT parameters, call('sqs:sendMessage', parameters::jsonb)->>'cause' AS cause FROM (VALUES
	('{"QueueUrl": "none", "MessageBody": ""}'), ('{"QueueUrl": "none"}'), ('{"MessageBody": "x"}'),
		('{"QueueUrl": "none.fifo", "MessageBody": "x"}'),
	('{"QueueUrl": "none", "MessageBody": "x", "DelaySeconds": 901}'),
	('{"QueueUrl": "none", "MessageBody": "x", "MessageAttributes": {"a": {"StringValue": "v"}}}'),
	('{"QueueUrl": "none", "MessageBody": "x", "MessageAttributes": {"a": {"DataType": "Text", "StringValue": "v"}}}'),
	('{"QueueUrl": "none", "MessageBody": "x", "MessageAttributes": {"a": {"DataType": "Number",
		"StringValue": ""}}}')) AS v (parameters);
SELECT call('sqs:sendMessage', '{"QueueUrl": "none", "MessageBody": ""}')->>'error' AS error;
SELECT call('sqs:sendMessage', jsonb_build_object('QueueUrl', 'none', 'MessageBody', 'x', 'MessageAttributes',
	(SELECT jsonb_object_agg(n::text, '{"DataType": "String", "StringValue": "v"}'::jsonb)
		FROM generate_series(1, 11) AS n)))->>'cause' AS cause;
SELECT parameters, call('sns:publish', parameters::jsonb) AS result FROM (VALUES
	('{"TopicArn": "none.fifo", "Message": "x"}'), ('{"Message": "x"}'), ('{"TopicArn": "none", "Message": ""}'),
		('{"TopicArn": "none", "Message": "x", "Subject": "two\nlines"}'),
	('{"TopicArn": "none", "Message": "x", "MessageAttributes": {"a": {"DataType": "Binary"}}}')) AS v (parameters);

SELECT parameters, regexp_replace(call('sqs:sendMessage', parameters::jsonb)->>'cause', 'Request ID.*', '') AS cause
	FROM (VALUES
	('{"QueueUrl": "none", "MessageBody": "\u0001"}'),
		('{"QueueUrl": "none", "MessageBody": "x", "MessageDeduplicationId": "d"}'),
	('{"QueueUrl": "none.fifo", "MessageBody": "x", "MessageGroupId": "a b"}'),
		('{"QueueUrl": "none.fifo", "MessageBody": "x", "MessageGroupId": "g", "DelaySeconds": 5}')) AS v (parameters);
SELECT regexp_replace(call('sqs:sendMessage', jsonb_build_object('QueueUrl', 'none', 'MessageBody',
	repeat('x', 1048577)))->>'cause', ' \(Service.*', '') AS cause;
SELECT parameters, regexp_replace(call('sns:publish', parameters::jsonb)->>'cause', ' \(Service.*', '') AS cause
	FROM (VALUES
	('{"TopicArn": "none", "Message": "x", "MessageStructure": "xml"}'),
		('{"TopicArn": "none", "Message": "x", "MessageStructure": "json"}'),
	('{"TopicArn": "none", "Message": {"sqs": "x"}, "MessageStructure": "json"}'),
		('{"TopicArn": "none", "Message": "{\"default\": \"x\"}", "MessageStructure": "json"}')) AS v (parameters);
SELECT regexp_replace(call('sns:publish', jsonb_build_object('TopicArn', 'none', 'Message',
	repeat('x', 262145)))->>'cause', ' \(Service.*', '') AS cause;
SELECT parameters, regexp_replace(call('events:putEvents', parameters::jsonb)->>'cause', ' \(Service.*', '') AS cause
	FROM (VALUES
	('{"Entries": [{"Source": "s", "DetailType": "t", "Detail": {}}, {"EventBusName": "a b", "Source": "s",
		"DetailType": "t", "Detail": {}}]}'),
	('{"Entries": [{"Source": "", "DetailType": "t", "Detail": {}}]}')) AS v (parameters);
SELECT regexp_replace(call('events:putEvents', jsonb_build_object('Entries',
	jsonb_build_array(jsonb_build_object('Source', 's', 'DetailType', 't', 'Detail', jsonb_build_object('d',
	repeat('x', 262144))))))->>'cause', ' \(Service.*', '') AS cause;

-- the digest of attributes, in the order of their names: binary values count as bytes, numbers as text
SELECT call('sqs:sendMessage', '{"QueueUrl": "jobs", "MessageBody": "x",
	"MessageAttributes": {"b": {"DataType": "Number", "StringValue": "10"},
	"a": {"DataType": "String", "StringValue": "ä"}, "c": {"DataType": "Binary.gif", "BinaryValue": "AAE="}}}') #-
		'{output,MessageId}' AS result;
SELECT md5(string_agg(p, '' ORDER BY n)) FROM (VALUES
	(1, '\x00000001'::bytea || 'a' || '\x00000006' || 'String' || '\x01' || '\x00000002' || '\xc3a4'::bytea),
	(2, '\x00000001'::bytea || 'b' || '\x00000006' || 'Number' || '\x01' || '\x00000002' || '10'),
	(3, '\x00000001'::bytea || 'c' || '\x0000000a' || 'Binary.gif' || '\x02' || '\x00000002' || '\x0001'::bytea)) AS v
		(n, p);

-- .waitForTaskToken: the message carries the token
SELECT sf_create_state_machine('ask', '{"StartAt": "F",
	"States": {"F": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
	"Parameters": {"QueueUrl": "jobs", "MessageBody": {"token.$": "$$.Task.Token"}}, "End": true}}}');
SELECT sf_run(sf_start('ask', '{}', 'x'));
SELECT sf_run(execution_id) FROM sf_executions WHERE state_machine = 'aws-activity-shell' AND input ? 'token';
SELECT input->>'token' AS token FROM sf_get_activity_task('shell') \gset
-- … which another machine may answer
SELECT call('aws-sdk:sfn:sendTaskHeartbeat', jsonb_build_object('TaskToken', :'token'));
SELECT call('aws-sdk:sfn:sendTaskSuccess', jsonb_build_object('TaskToken', :'token', 'Output', '{"ok": true}'));
SELECT sf_run('ask:x');
SELECT output FROM sf_executions WHERE execution_id = 'ask:x';
SELECT call('aws-sdk:sfn:sendTaskFailure', jsonb_build_object('TaskToken', :'token'));
SELECT call('aws-sdk:sfn:sendTaskSuccess', '{"TaskToken": "guess", "Output": "{}"}');
SELECT action, parameters, regexp_replace(call(action, parameters::jsonb)->>'cause', ' \(Service.*', '') AS cause
	FROM (VALUES
	('aws-sdk:sfn:sendTaskSuccess', '{"TaskToken": ""}'), ('aws-sdk:sfn:sendTaskHeartbeat', '{}'),
	('aws-sdk:sfn:sendTaskFailure', '{"TaskToken": "guess", "Error": 1}')) AS v (action, parameters);
SELECT length(call('aws-sdk:sfn:sendTaskFailure', jsonb_build_object('TaskToken', 'guess', 'Error',
	repeat('e', 257)))->>'cause') > 300 AS long_error_is_refused;
ROLLBACK;

-- ---- Systems Manager: commands run by the workers of an activity

BEGIN;
SELECT sf_create_activity('shell');
SELECT sfflow_aws.put_instance('i-1', 'shell');
SELECT call('aws-sdk:ssm:sendCommand', '{"DocumentName": "AWS-RunShellScript", "InstanceIds": ["i-1"],
	"Parameters": {"commands": ["cd /tmp", "ls"], "executionTimeout": ["60"]}}')->'output'->'Command' AS command \gset
SELECT :'command'::jsonb->'Status' AS status, :'command'::jsonb->>'CommandId' AS command \gset
\echo :status
SELECT sf_run(execution_id) FROM sf_executions WHERE state_machine = 'aws-activity-shell';
SELECT call('aws-sdk:ssm:getCommandInvocation', jsonb_build_object('CommandId', :'command', 'InstanceId', 'i-1')) #-
	'{output,CommandId}' AS invocation;
SELECT input, task_token FROM sf_get_activity_task('shell') \gset
\echo :input
SELECT sf_send_task_failure(:'task_token', 'Shell.ExitCode.3', 'no such file');
SELECT sf_run(execution_id) FROM sf_executions WHERE state_machine = 'aws-activity-shell';
SELECT call('aws-sdk:ssm:getCommandInvocation', jsonb_build_object('CommandId', :'command', 'InstanceId', 'i-1')) #-
	'{output,CommandId}' AS invocation;
SELECT call('aws-sdk:ssm:getCommandInvocation', '{"CommandId": "00000000-0000-0000-0000-00000000000a",
	"InstanceId": "i-1"}');
-- what a request must have comes first
SELECT call('aws-sdk:ssm:getCommandInvocation', '{"CommandId": "none"}');
SELECT call('aws-sdk:ssm:sendCommand', '{"InstanceIds": ["i-1"], "Parameters": {"commands": ["ls"]}}');
SELECT call('aws-sdk:ssm:sendCommand', '{"DocumentName": "a b", "InstanceIds": ["i-1"]}');
SELECT call('aws-sdk:ssm:sendCommand', '{"DocumentName": "AWS-RunShellScript", "InstanceIds": ["i-2"],
	"TimeoutSeconds": 29}');
SELECT call('aws-sdk:ssm:sendCommand', '{"DocumentName": "AWS-RunShellScript", "InstanceIds": ["i-2"],
	"Parameters": {"commands": ["ls"]}}');
ROLLBACK;

-- ---- services that a program outside does

BEGIN;
SELECT sfflow_aws.serve_outside('glue', 'athena', 'http', 'aws-sdk'), sfflow_aws.serve_outside('glue');
SELECT * FROM sfflow_aws.resource WHERE pattern ~ 'glue|athena|http|sdk:\*' ORDER BY pattern COLLATE "C";
SELECT activity FROM sf_activities ORDER BY activity;
-- a Resource goes to the activity unless a function here replaces it
SELECT sf_create_state_machine('outside', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Branches": [
	{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::athena:startQueryExecution.sync",
		"End": true}}},
	{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:rekognition:detectText",
		"End": true}}},
	{"StartAt": "C", "States": {"C": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun", "End": true}}},
	{"StartAt": "D", "States": {"D": {"Type": "Task", "Resource": "arn:aws:states:::http:invoke", "End": true}}},
	{"StartAt": "E", "States": {"E": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:getItem",
		"Parameters": {"TableName": "none", "Key": {"id": {"S": "a"}}}, "End": true,
		"Catch": [{"ErrorEquals": ["DynamoDb.ResourceNotFoundException"], "Next": "F"}]},
		"F": {"Type": "Succeed"}}}]}}}');
SELECT sf_run(sf_start('outside', '{}', 'x'));
SELECT activity, state, resource FROM unnest(ARRAY['aws', 'http']) AS activity,
	LATERAL sf_get_activity_task(activity, max_tasks => 10) ORDER BY state;
SAVEPOINT s;
SELECT sfflow_aws.serve_outside('glue', 'no such service');
ROLLBACK TO s;
SELECT sfflow_aws.serve_outside(NULL);
ROLLBACK TO s;
-- the activities stay, the mappings do not
SELECT sf_stop('outside:x');
SELECT sf_aws_uninstall();
SELECT resource FROM sf_missing_resources('{"States": {"A": {"Type": "Task",
	"Resource": "arn:aws:states:::glue:startJobRun"},
	"B": {"Type": "Task", "Resource": "arn:aws:states:::http:invoke"}}}');
SELECT activity FROM sf_activities ORDER BY activity;
SELECT sf_aws_install(services => '{batch}');
SELECT resource FROM sfflow_aws.resource WHERE pattern = 'arn:aws:states:::batch:*';
ROLLBACK;

DROP FUNCTION call;
SELECT sf_aws_uninstall();
SELECT to_regnamespace('sfflow_aws');
