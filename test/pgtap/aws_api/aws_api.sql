-- sf_aws_api: each operation, what it answers and what it refuses, with the names and messages of the service.
BEGIN;
SELECT plan(193);
SET client_min_messages = error;

-- What stands for the service in ARNs.
CREATE FUNCTION pg_temp.arn(rest text) RETURNS text LANGUAGE sql AS $$ SELECT 'arn:aws:states:us-east-1:000000000000:'
	|| rest $$;

-- A request from names and values in turn.
CREATE FUNCTION pg_temp.api(action text, VARIADIC members text[]) RETURNS jsonb LANGUAGE sql
AS $$ SELECT sf_aws_api(action, jsonb_object(members)) $$;

-- The answer without times, which are checked to be numbers of seconds with three decimals.
CREATE FUNCTION pg_temp.timeless(answer jsonb) RETURNS jsonb LANGUAGE sql AS $$
SELECT coalesce(jsonb_object_agg(key, CASE WHEN key ~ 'Date$' AND value::text ~ '^\d{10}\.\d{3}$' THEN '"time"'
		ELSE value END), '{}')
FROM jsonb_each(answer) $$;

-- The name of the error with which a request is refused, and its message.
CREATE FUNCTION pg_temp.refusal(action text, request jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	name text;
BEGIN
	RETURN 'answered: ' || sf_aws_api(action, request)::text;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS name = CONSTRAINT_NAME;
	RETURN concat_ws(': ', coalesce(nullif(name, ''), sqlstate), sqlerrm);
END $$;

\set pass '{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}'
\set other '{"StartAt":"P","States":{"P":{"Type":"Pass","Result":1,"End":true}}}'
\set role 'arn:aws:iam::000000000000:role/batch'
SELECT pg_temp.arn('stateMachine:nightly') AS nightly, pg_temp.arn('execution:nightly:a') AS a \gset

-- --- requests

SELECT is(pg_temp.refusal('MakeCoffee', '{}'), 'UnknownOperationException: The API has no operation MakeCoffee.',
	'an unknown operation');
SELECT is(pg_temp.refusal('ListStateMachines', '[]'), 'SerializationException: The request must be a JSON object',
	'a request is an object');
SELECT is(pg_temp.refusal('ListStateMachines', '{"maxResults": "1"}'),
	'SerializationException: STRING_VALUE can not be converted to an Integer', 'a member of another type');
SELECT is(pg_temp.refusal('ListStateMachines', '{"maxResults": 1001}'),
	'ValidationException: 1 validation error detected: Value ''1001'' at ''maxResults'' failed to satisfy constraint: '
	'Member must have value less than or equal to 1000', 'a number that is too large');
SELECT is(pg_temp.refusal('ListStateMachines', '{"maxResults": 1e30}'),
	'SerializationException: NUMBER_VALUE can not be converted to an Integer', 'a number that no integer holds');
SELECT is(pg_temp.refusal('CreateActivity', '{}'),
	'ValidationException: 1 validation error detected: Value null at ''name'' failed to satisfy constraint: Member '
	'must not be null', 'a member that must be there');
SELECT is(pg_temp.refusal('CreateActivity', '{"name": null}'),
	'ValidationException: 1 validation error detected: Value null at ''name'' failed to satisfy constraint: Member '
	'must not be null', 'null is absent');
SELECT is(pg_temp.refusal('CreateStateMachine', '{"name": "", "definition": "{}"}'),
	'ValidationException: 2 validation errors detected: Value '''' at ''name'' failed to satisfy constraint: Member '
	'must have length greater than or equal to 1; Value null at ''roleArn'' failed to satisfy constraint: Member must '
	'not be null', 'all problems at once');
SELECT is(pg_temp.refusal('ListStateMachines', '{"nextToken": "xxxx"}'),
	'InvalidToken: Invalid Token: ''Invalid token''', 'a token of nobody');
SELECT is(pg_temp.api('ListStateMachines', 'unknown', 'member'), '{"stateMachines": []}',
	'an unknown member is ignored');

-- --- state machines

SELECT is(pg_temp.timeless(pg_temp.api('CreateStateMachine', 'name', 'nightly', 'definition', :'pass', 'roleArn',
			:'role')),
	jsonb_build_object('stateMachineArn', :'nightly', 'creationDate', 'time'), 'CreateStateMachine');
SELECT is(pg_temp.timeless(pg_temp.api('CreateStateMachine', 'name', 'nightly', 'definition', :'pass', 'roleArn',
			:'role' || '2')),
	jsonb_build_object('stateMachineArn', :'nightly', 'creationDate', 'time'),
	'... again, with another role: the same machine');
SELECT is(pg_temp.refusal('CreateStateMachine', jsonb_build_object('name', 'nightly', 'definition', :'other', 'roleArn',
			:'role')),
	'StateMachineAlreadyExists: State Machine Already Exists: ''' || :'nightly' || '''', '... with another definition');
SELECT is(pg_temp.refusal('CreateStateMachine', jsonb_build_object('name', 'nightly', 'definition', :'pass', 'roleArn',
			:'role', 'type', 'EXPRESS')),
	'StateMachineAlreadyExists: State Machine Already Exists: ''' || :'nightly' || '''', '... of another type');
SELECT is(pg_temp.refusal('CreateStateMachine', jsonb_build_object('name', 'night ly', 'definition', :'pass', 'roleArn',
			:'role')),
	'InvalidName: Invalid Name: ''night ly''', 'a name with a blank');
SELECT is(pg_temp.refusal('CreateStateMachine', jsonb_build_object('name', 'bad', 'definition', '{"States":{}}',
			'roleArn', :'role')),
	'InvalidDefinition: Invalid State Machine Definition: ''SCHEMA_VALIDATION_FAILED: These fields are required: '
	'[StartAt] at /, MISSING_END_STATE: Workflow has no terminal state at null''', 'a definition that is not valid');
SELECT is(pg_temp.refusal('CreateStateMachine', jsonb_build_object('name', 'bad', 'definition', :'pass', 'roleArn',
			:'role', 'versionDescription', 'first')),
	'ValidationException: Version description can only be set when publish is true', 'a description needs publish');
SELECT is(pg_temp.timeless(pg_temp.api('DescribeStateMachine', 'stateMachineArn', :'nightly')),
	jsonb_build_object('stateMachineArn', :'nightly', 'name', 'nightly', 'status', 'ACTIVE', 'type', 'STANDARD',
		'creationDate', 'time',
		'definition', :'pass', 'roleArn', :'role', 'loggingConfiguration',
		'{"level": "OFF", "includeExecutionData": false}'::jsonb,
		'tracingConfiguration', '{"enabled": false}'::jsonb, 'encryptionConfiguration',
		'{"type": "AWS_OWNED_KEY"}'::jsonb), 'DescribeStateMachine');
SELECT is(pg_temp.api('DescribeStateMachine', 'stateMachineArn', :'nightly', 'includedData',
		'METADATA_ONLY') ->> 'definition', '{}', '... without the definition');
SELECT is(pg_temp.refusal('DescribeStateMachine', '{"stateMachineArn": "nightly"}'),
	'InvalidArn: Invalid Arn: ''Invalid ARN prefix: nightly''', 'a text that is no ARN');
SELECT is(pg_temp.refusal('DescribeStateMachine', jsonb_build_object('stateMachineArn', :'a')),
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: execution''', 'an ARN of something else');
SELECT is(pg_temp.refusal('DescribeStateMachine', jsonb_build_object('stateMachineArn', :'nightly' || 'x')),
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''' || :'nightly' || 'x''', 'a machine that is not there');
SELECT is(pg_temp.refusal('DescribeStateMachine', jsonb_build_object('stateMachineArn', :'nightly' || ':1')),
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''' || :'nightly' || ':1''',
	'a version that is not published');

SELECT is(pg_temp.refusal('UpdateStateMachine', jsonb_build_object('stateMachineArn', :'nightly')),
	'MissingRequiredParameter: Either the definition, the role ARN, the LoggingConfiguration, or the '
	'TracingConfiguration must be specified', 'UpdateStateMachine of nothing');
SELECT is(pg_temp.timeless(sf_aws_api('UpdateStateMachine', jsonb_build_object('stateMachineArn', :'nightly',
			'loggingConfiguration',
	'{"level": "ERROR", "destinations": [{"cloudWatchLogsLogGroup": {"logGroupArn": '
	'"arn:aws:logs:us-east-1:000000000000:log-group:night:*"}}]}'::jsonb))),
	'{"updateDate": "time", "revisionId": "2"}', 'UpdateStateMachine');
SELECT is(pg_temp.api('DescribeStateMachine', 'stateMachineArn', :'nightly') -> 'loggingConfiguration',
	'{"level": "ERROR", "includeExecutionData": false,
	"destinations": [{"cloudWatchLogsLogGroup": {"logGroupArn": '
	'"arn:aws:logs:us-east-1:000000000000:log-group:night:*"}}]}', '... what is given is kept');
SELECT is(pg_temp.api('DescribeStateMachine', 'stateMachineArn', :'nightly') ->> 'roleArn', :'role',
	'... and what is not given stays');
SELECT is(pg_temp.timeless(pg_temp.api('UpdateStateMachine', 'stateMachineArn', :'nightly', 'roleArn', :'role')),
	'{"updateDate": "time", "revisionId": "2"}', '... that changes nothing tells the revision that there is');
SELECT is((SELECT count(*) FROM sf_state_machines WHERE state_machine = 'nightly'), 2::bigint, '... makes no version');
SELECT is(pg_temp.refusal('UpdateStateMachine', jsonb_build_object('stateMachineArn', :'nightly' || ':2', 'definition',
			:'pass')),
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''' || :'nightly' || ':2''', '... of a version');
SELECT is(pg_temp.refusal('UpdateStateMachine', jsonb_build_object('stateMachineArn', :'nightly' || ':prod',
			'definition', :'pass')),
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: alias''', '... of an alias');

SELECT count(sf_create_state_machine(format('m%s', n), '{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}'))
	FROM generate_series(1, 5) n \g /dev/null
SELECT sf_aws_api('ListStateMachines', '{"maxResults": 4}') AS page \gset
SELECT is((SELECT string_agg(m ->> 'name', ' ') FROM jsonb_array_elements(:'page'::jsonb -> 'stateMachines') m),
	'm1 m2 m3 m4', 'ListStateMachines');
SELECT is((SELECT pg_temp.timeless(:'page'::jsonb #> '{stateMachines,0}')),
	jsonb_build_object('name', 'm1', 'type', 'STANDARD', 'creationDate', 'time', 'stateMachineArn',
		pg_temp.arn('stateMachine:m1')), '... what it tells');
SELECT is((SELECT string_agg(m ->> 'name', ' ') FROM jsonb_array_elements(pg_temp.api('ListStateMachines', 'nextToken',
			:'page'::jsonb ->> 'nextToken') -> 'stateMachines') m), 'm5 nightly', '... the next page');
SELECT ok(NOT pg_temp.api('ListStateMachines', 'nextToken', :'page'::jsonb ->> 'nextToken') ? 'nextToken',
	'... has no token');
SELECT is(pg_temp.refusal('ListActivities', jsonb_build_object('nextToken', :'page'::jsonb ->> 'nextToken')),
	'InvalidToken: Invalid Token: ''Invalid token''', 'a token is for its list');

-- --- executions

SELECT is(pg_temp.timeless(pg_temp.api('StartExecution', 'stateMachineArn', :'nightly', 'name', 'a', 'input', '{"x": [1,
			2]}')),
	jsonb_build_object('executionArn', :'a', 'startDate', 'time'), 'StartExecution');
SELECT is(pg_temp.api('StartExecution', 'stateMachineArn', :'nightly', 'name', 'a', 'input', '{"x":[1,
		2]}') -> 'startDate',
	pg_temp.api('DescribeExecution', 'executionArn', :'a') -> 'startDate', '... again while it runs');
SELECT is(pg_temp.refusal('StartExecution', jsonb_build_object('stateMachineArn', :'nightly', 'name', 'a', 'input',
			'{}')),
	'ExecutionAlreadyExists: Execution Already Exists: ''' || :'a' || '''', '... with another input');
SELECT is(pg_temp.refusal('StartExecution', jsonb_build_object('stateMachineArn', :'nightly', 'name', 'a b')),
	'InvalidName: Invalid Name: ''a b''', '... with a bad name');
SELECT is(pg_temp.refusal('StartExecution', jsonb_build_object('stateMachineArn', :'nightly' || 'x')),
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''' || :'nightly' || 'x''', '... of no machine');
SELECT is(pg_temp.refusal('StartExecution', jsonb_build_object('stateMachineArn', :'nightly', 'input', input)),
	'InvalidExecutionInput: Invalid State Machine Execution Input: ''' || problem || '''', 'input ' || input)
FROM (VALUES ('not some json', 'Unrecognized token ''not'': was expecting (JSON String, Number, Array, Object or '
		'token ''null'', ''true'' or ''false'')'),
	('nine_long not shown', 'Unrecognized token: was expecting (JSON String, Number, Array, Object or token ''null'', '
		'''true'' or ''false'')'),
	('{''not'': 1}', 'Unexpected character ('''''' (code 39)): was expecting double-quote to start field name'),
	('', 'Invalid execution input.'), ('[1', 'Invalid JSON.')) v(input, problem);
SET LOCAL sfflow.max_payload_bytes = 1024;
SELECT is(pg_temp.refusal('StartExecution', jsonb_build_object('stateMachineArn', :'nightly', 'input',
			to_json(repeat('x', 1030))::text)),
	'ValidationException: 1 validation error detected: Value at ''input'' failed to satisfy constraint: Member must '
	'have length less than or equal to 1024', 'an input that is too large');
RESET sfflow.max_payload_bytes;
SELECT is(pg_temp.timeless(pg_temp.api('DescribeExecution', 'executionArn', :'a')),
	jsonb_build_object('executionArn', :'a', 'stateMachineArn', :'nightly', 'name', 'a', 'status', 'RUNNING',
		'startDate', 'time', 'input', '{"x":[1,2]}',
		'inputDetails', '{"included": true}'::jsonb, 'redriveCount', 0, 'redriveStatus', 'NOT_REDRIVABLE',
		'redriveStatusReason', 'Execution is RUNNING and cannot be redriven'),
	'DescribeExecution');
SELECT is(pg_temp.refusal('DescribeExecution', jsonb_build_object('executionArn', :'a' || 'x')),
	'ExecutionDoesNotExist: Execution Does Not Exist: ''' || :'a' || 'x''', '... that is not there');
SELECT is(sf_run('nightly:a'), 'SUCCEEDED', 'it runs');
SELECT is(pg_temp.api('DescribeExecution', 'executionArn', :'a') - 'startDate' - 'stopDate' - 'executionArn' -
	'stateMachineArn' - 'input' - 'inputDetails',
	'{"name": "a", "status": "SUCCEEDED", "output": "{\"x\":[1,2]}", "outputDetails": {"included": true},
		"redriveCount": 0, "redriveStatus": "NOT_REDRIVABLE",
		"redriveStatusReason": "Execution is SUCCEEDED and cannot be redriven"}',
	'... and has succeeded');
SELECT ok(NOT pg_temp.api('DescribeExecution', 'executionArn', :'a', 'includedData',
		'METADATA_ONLY') ?| '{input,output}', '... without payloads');
SELECT is(pg_temp.refusal('StartExecution', jsonb_build_object('stateMachineArn', :'nightly', 'name', 'a', 'input',
			'{"x": [1, 2]}')),
	'ExecutionAlreadyExists: Execution Already Exists: ''' || :'a' || '''', 'StartExecution of one that has ended');

SELECT count(pg_temp.api('StartExecution', 'stateMachineArn', :'nightly', 'name', 'e' || n))
	FROM generate_series(1, 5) n \g /dev/null
SELECT sf_aws_api('ListExecutions', jsonb_build_object('stateMachineArn', :'nightly', 'maxResults', 4)) AS page \gset
SELECT is((SELECT string_agg(m ->> 'name', ' ') FROM jsonb_array_elements(:'page'::jsonb -> 'executions') m),
	'e5 e4 e3 e2', 'ListExecutions');
SELECT is((SELECT string_agg(m ->> 'name', ' ') FROM jsonb_array_elements(
	sf_aws_api('ListExecutions', jsonb_build_object('stateMachineArn', :'nightly', 'nextToken',
			:'page'::jsonb ->> 'nextToken')) -> 'executions') m), 'e1 a', '... the next page');
SELECT is(pg_temp.timeless(sf_aws_api('ListExecutions', jsonb_build_object('stateMachineArn', :'nightly',
			'statusFilter', 'SUCCEEDED')) #> '{executions,0}'),
	jsonb_build_object('executionArn', :'a', 'stateMachineArn', :'nightly', 'name', 'a', 'status', 'SUCCEEDED',
		'startDate', 'time', 'stopDate', 'time', 'redriveCount', 0), '... by status');
SELECT matches(pg_temp.refusal('ListExecutions', jsonb_build_object('stateMachineArn', :'nightly', 'statusFilter',
			'PENDING_REDRIVE')), '^ValidationException: ', '... a status that only children of a Map run have');
SELECT is(pg_temp.refusal('ListExecutions', jsonb_build_object('stateMachineArn', :'nightly', 'statusFilter',
			'succeeded')),
	'ValidationException: 1 validation error detected: Value ''succeeded'' at ''statusFilter'' failed to satisfy '
	'constraint: Member must satisfy enum value set: [SUCCEEDED, TIMED_OUT, PENDING_REDRIVE, ABORTED, FAILED, RUNNING]',
	'... a status that there is not');
SELECT is(pg_temp.refusal('ListExecutions', jsonb_build_object('stateMachineArn', :'nightly', 'statusFilter', 'FAILED',
			'nextToken', :'page'::jsonb ->> 'nextToken')),
	'InvalidToken: Invalid Token: ''Invalid token''', '... with the token of another filter');

SELECT is(pg_temp.timeless(pg_temp.api('StopExecution', 'executionArn', pg_temp.arn('execution:nightly:e1'), 'error',
			'E', 'cause', 'C')), '{"stopDate": "time"}', 'StopExecution');
SELECT is(pg_temp.api('DescribeExecution', 'executionArn', pg_temp.arn('execution:nightly:e1')) - 'startDate' -
	'stopDate' - 'executionArn' - 'stateMachineArn' - 'input' - 'inputDetails',
	'{"name": "e1", "status": "ABORTED", "error": "E", "cause": "C", "redriveCount": 0, "redriveStatus": "REDRIVABLE"}',
	'... it is aborted, and can be redriven');
SELECT is(pg_temp.timeless(pg_temp.api('StopExecution', 'executionArn', :'a')), '{"stopDate": "time"}',
	'... of one that has ended');
SELECT is(pg_temp.refusal('StopExecution', jsonb_build_object('executionArn', :'a' || 'x')),
	'ExecutionDoesNotExist: Execution Does Not Exist: ''' || :'a' || 'x''', '... of none');

-- --- history

SELECT is((SELECT jsonb_agg(pg_temp.timeless(e - 'timestamp'))
		FROM jsonb_array_elements(pg_temp.api('GetExecutionHistory', 'executionArn', :'a') -> 'events') e),
	jsonb_build_array(
		jsonb_build_object('id', 1, 'previousEventId', 0, 'type', 'ExecutionStarted', 'executionStartedEventDetails',
			jsonb_build_object('input', '{"x":[1,2]}', 'inputDetails', '{"truncated": false}'::jsonb, 'roleArn',
				:'role')),
		'{"id": 2, "previousEventId": 0, "type": "PassStateEntered", "stateEnteredEventDetails": {"name": "P",
			"input": "{\"x\":[1,2]}", "inputDetails": {"truncated": false}}}'::jsonb,
		'{"id": 3, "previousEventId": 2, "type": "PassStateExited", "stateExitedEventDetails": {"name": "P",
			"output": "{\"x\":[1,2]}", "outputDetails": {"truncated": false}}}'::jsonb,
		'{"id": 4, "previousEventId": 3, "type": "ExecutionSucceeded",
			"executionSucceededEventDetails": {"output": "{\"x\":[1,2]}",
			"outputDetails": {"truncated": false}}}'::jsonb),
	'GetExecutionHistory');
SELECT sf_aws_api('GetExecutionHistory', jsonb_build_object('executionArn', :'a', 'maxResults', 3)) AS page,
	sf_aws_api('GetExecutionHistory', jsonb_build_object('executionArn', :'a', 'maxResults', 3, 'reverseOrder', true))
	AS back \gset
SELECT is(jsonb_path_query_array(:'page', '$.events[*].id'), '[1, 2, 3]', '... a page');
SELECT is(jsonb_path_query_array(sf_aws_api('GetExecutionHistory', jsonb_build_object('executionArn', :'a', 'nextToken',
			:'page'::jsonb ->> 'nextToken')), '$.events[*].id'), '[4]', '... the next one');
SELECT is(jsonb_path_query_array(:'back', '$.events[*].id'), '[4, 3, 2]', '... from the end');
SELECT is(jsonb_path_query_array(sf_aws_api('GetExecutionHistory', jsonb_build_object('executionArn', :'a',
			'reverseOrder', true, 'nextToken', :'back'::jsonb ->> 'nextToken')), '$.events[*].id'), '[1]',
	'... and on');
SELECT is(sf_aws_api('GetExecutionHistory', jsonb_build_object('executionArn', :'a', 'includeExecutionData', false)) #>
	'{events,1}' -> 'stateEnteredEventDetails',
	'{"name": "P", "inputDetails": {"truncated": false}}', '... without payloads');
SELECT is(pg_temp.refusal('GetExecutionHistory', jsonb_build_object('executionArn', :'a' || 'x')),
	'ExecutionDoesNotExist: Execution Does Not Exist: ''' || :'a' || 'x''', '... of none');

-- Fourteen events of 200 kB are more than a page holds.
SELECT sf_create_state_machine('large', jsonb_build_object('StartAt', 'P1', 'States',
	jsonb_object_agg('P' || n, jsonb_build_object('Type', 'Pass') || CASE n WHEN 6 THEN '{"End": true}'::jsonb
		ELSE jsonb_build_object('Next', 'P' || n + 1) END))::json)
FROM generate_series(1, 6) n \g /dev/null
SELECT sf_run(sf_start('large', jsonb_build_object('x', repeat('x', 200000)), 'a')) \g /dev/null
SELECT pg_temp.arn('execution:large:a') AS large \gset
CREATE FUNCTION pg_temp.pages(execution text, reverse boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	request jsonb := jsonb_build_object('executionArn', execution, 'reverseOrder', reverse);
	page jsonb;
	pages text := '';
BEGIN
	LOOP
		page := sf_aws_api('GetExecutionHistory', request);
		pages := concat(pages, jsonb_path_query_array(page, '$.events[*].id'));
		EXIT WHEN NOT page ? 'nextToken';
		request := request || jsonb_build_object('nextToken', page -> 'nextToken');
	END LOOP;
	RETURN pages;
END $$;
SELECT is(pg_temp.pages(:'large', false), '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11][12, 13, 14]',
	'a page of large events ends early');
SELECT is(pg_temp.pages(:'large', true), '[14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4][3, 2, 1]', '... also from the end');
SELECT is(jsonb_array_length(sf_aws_api('GetExecutionHistory', jsonb_build_object('executionArn', :'large',
			'includeExecutionData', false)) -> 'events'), 14,
	'... and does not without payloads');

-- --- activities and tasks

SELECT pg_temp.arn('activity:shell') AS shell \gset
SELECT is(pg_temp.timeless(sf_aws_api('CreateActivity', '{"name": "shell", "tags": [{"key": "a", "value": "b"}]}')),
	jsonb_build_object('activityArn', :'shell', 'creationDate', 'time'), 'CreateActivity');
SELECT is(pg_temp.timeless(pg_temp.api('CreateActivity', 'name', 'shell')), jsonb_build_object('activityArn', :'shell',
		'creationDate', 'time'), '... again');
SELECT is(pg_temp.refusal('CreateActivity', '{"name": "a;b"}'), 'InvalidName: Invalid Name: ''a;b''',
	'... with a bad name');
SELECT is(pg_temp.timeless(pg_temp.api('DescribeActivity', 'activityArn', :'shell')),
	jsonb_build_object('activityArn', :'shell', 'name', 'shell', 'creationDate', 'time', 'encryptionConfiguration',
		'{"type": "AWS_OWNED_KEY"}'::jsonb), 'DescribeActivity');
SELECT is(pg_temp.timeless(sf_aws_api('ListActivities') #> '{activities,0}'), jsonb_build_object('activityArn',
		:'shell', 'name', 'shell', 'creationDate', 'time'), 'ListActivities');
SELECT is(pg_temp.api('GetActivityTask', 'activityArn', :'shell'), '{}', 'GetActivityTask without a task');
SELECT is(pg_temp.refusal('GetActivityTask', jsonb_build_object('activityArn', :'shell' || 'x')),
	'ActivityDoesNotExist: Activity Does Not Exist: ''' || :'shell' || 'x''', '... of no activity');
SELECT sf_create_state_machine('works', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:shell",
	"End": true}}}') \g /dev/null
SELECT count(sf_run(sf_start('works', '{"do": "it"}', n::text))) FROM generate_series(1, 2) n \g /dev/null
SELECT pg_temp.api('GetActivityTask', 'activityArn', :'shell', 'workerName', 'w') AS task \gset
SELECT is(:'task'::jsonb ->> 'input', '{"do":"it"}', 'GetActivityTask');
SELECT is(pg_temp.api('SendTaskHeartbeat', 'taskToken', :'task'::jsonb ->> 'taskToken'), '{}', 'SendTaskHeartbeat');
SELECT is(pg_temp.refusal('SendTaskSuccess', jsonb_build_object('taskToken', :'task'::jsonb ->> 'taskToken', 'output',
			'done')),
	'InvalidOutput: Invalid Output: ''Unrecognized token ''done'': was expecting (JSON String, Number, Array, Object '
	'or token ''null'', ''true'' or ''false'')''', 'SendTaskSuccess without JSON');
SELECT is(pg_temp.api('SendTaskSuccess', 'taskToken', :'task'::jsonb ->> 'taskToken', 'output', '{"done": 1}'), '{}',
	'SendTaskSuccess');
SELECT is(pg_temp.refusal('SendTaskSuccess', jsonb_build_object('taskToken', :'task'::jsonb ->> 'taskToken', 'output',
			'1')), 'TaskTimedOut: Task Timed Out: ''Provided task does not exist anymore''', '... again');
SELECT is(pg_temp.refusal('SendTaskHeartbeat', '{"taskToken": "xyz"}'),
	'InvalidToken: Invalid Token: ''Invalid token''', 'a token of no task');
SELECT is(pg_temp.api('SendTaskFailure', 'taskToken', pg_temp.api('GetActivityTask', 'activityArn',
			:'shell') ->> 'taskToken', 'error', 'E', 'cause', 'C'), '{}', 'SendTaskFailure');
SELECT is((SELECT string_agg(sf_run('works:' || n), ' ') FROM generate_series(1, 2) n), 'SUCCEEDED FAILED',
	'... and what became of both');
SELECT is(pg_temp.refusal('DescribeActivity', jsonb_build_object('activityArn', :'shell' || 'x')),
	'ActivityDoesNotExist: Activity Does Not Exist: ''' || :'shell' || 'x''', 'DescribeActivity of none');

-- --- what is only tried

SELECT is(pg_temp.api('ValidateStateMachineDefinition', 'definition', :'pass'), '{"result": "OK", "diagnostics": [],
	"truncated": false}', 'ValidateStateMachineDefinition');
SELECT is(pg_temp.api('ValidateStateMachineDefinition', 'definition', '{"StartAt":"P","States":{"P":{"Type":"Pass",
		"Next":"Q"}}}') - 'diagnostics', '{"result": "FAIL", "truncated": false}', '... of one with errors');
SELECT is(pg_temp.api('ValidateStateMachineDefinition', 'definition', '{"StartAt":"P","States":{"P":{"Type":"Pass",
		"End":true,"Seconds":1}}}') #> '{diagnostics,0}',
	'{"severity": "ERROR", "code": "SCHEMA_VALIDATION_FAILED", "message": "Field ''Seconds'' is not supported",
		"location": "/States/P"}', '... a diagnostic');
SELECT is(sf_aws_api('ValidateStateMachineDefinition', '{"definition": "{\"States\":{}}",
		"maxResults": 1}') ->> 'truncated', 'true', '... as many as are asked for');
SELECT is(jsonb_array_length(pg_temp.api('ValidateStateMachineDefinition', 'definition', '{"StartAt":"T",
			"States":{"T":{"Type":"Task","Resource":"sql:no.such","End":true}}}', 'severity', level) -> 'diagnostics'),
	n, '... ' || level)
FROM (VALUES ('ERROR', 0), ('WARNING', 1)) v(level, n);
SELECT is(pg_temp.api('TestState', 'definition', '{"Type":"Pass","Result":{"a":1},"ResultPath":"$.b","Next":"N"}',
		'input', '{"c": 2}', 'inspectionLevel', 'DEBUG') - 'inspectionData',
	'{"status": "SUCCEEDED", "nextState": "N", "output": "{\"b\":{\"a\":1},\"c\":2}"}', 'TestState');
SELECT is(pg_temp.api('TestState', 'definition', '{"Type":"Pass","Result":{"a":1},"ResultPath":"$.b","Next":"N"}',
		'input', '{"c": 2}', 'inspectionLevel', 'DEBUG') #>> '{inspectionData,afterResultPath}',
	'{"b":{"a":1},"c":2}', '... what it shows is text');
SELECT is(sf_aws_api('TestState', jsonb_build_object('definition', '{"Type":"Task",
			"Resource":"arn:aws:lambda:::function:f","End":true}', 'mock', mock)), answer,
	'... with the mock ' || mock::text)
FROM (VALUES ('{"result": "{\"x\": [1]}"}'::jsonb, '{"status": "SUCCEEDED", "output": "{\"x\":[1]}"}'::jsonb),
	('{"errorOutput": {"error": "E", "cause": "C"}}', '{"status": "FAILED", "error": "E", "cause": "C"}')) v(mock,
	answer);
SELECT is(pg_temp.refusal('TestState', '{"definition": "{\"Type\":\"Pass\",\"End\":true}", "input": "no"}'),
	'InvalidExecutionInput: Invalid State Machine Execution Input: ''Unrecognized token ''no'': was expecting (JSON '
	'String, Number, Array, Object or token ''null'', ''true'' or ''false'')''', '... with a bad input');
SELECT matches(pg_temp.refusal('TestState', '{"definition": "{\"Type\":\"Nothing\"}"}'),
	'^InvalidDefinition: Invalid State Machine Definition: ', '... of no state');

-- --- tags

SELECT is(pg_temp.api('ListTagsForResource', 'resourceArn', :'shell'), '{"tags": [{"key": "a", "value": "b"}]}',
	'ListTagsForResource of an activity');
SELECT is(pg_temp.api('ListTagsForResource', 'resourceArn', :'nightly'), '{"tags": []}', '... of a machine');
SELECT is(sf_aws_api('TagResource', jsonb_build_object('resourceArn', :'nightly', 'tags', '[{"key": "a", "value": "1"},
			{"key": "b", "value": ""}]'::jsonb)), '{}', 'TagResource');
SELECT is(sf_aws_api('TagResource', jsonb_build_object('resourceArn', :'nightly', 'tags', '[{"key": "a",
			"value": "2"}]'::jsonb)), '{}', '... with a tag that is there');
SELECT is(pg_temp.api('ListTagsForResource', 'resourceArn', :'nightly'), '{"tags": [{"key": "a", "value": "2"},
	{"key": "b", "value": ""}]}', '... replaces it');
SELECT is(sf_aws_api('UntagResource', jsonb_build_object('resourceArn', :'nightly', 'tagKeys', '["a", "a",
			"c"]'::jsonb)), '{}', 'UntagResource');
SELECT is(pg_temp.api('ListTagsForResource', 'resourceArn', :'nightly'), '{"tags": [{"key": "b", "value": ""}]}',
	'... leaves the others');
SELECT is(pg_temp.refusal('TagResource', jsonb_build_object('resourceArn', :'nightly', 'tags', '[{"key": "a",
			"value": null}]'::jsonb)),
	'ValidationException: 1 validation error detected: Value null at ''tags.1.member.value'' failed to satisfy '
	'constraint: Member must not be null', 'a tag without a value');
SELECT is(pg_temp.refusal('TagResource', jsonb_build_object('resourceArn', :'nightly', 'tags',
			(SELECT jsonb_agg(jsonb_build_object('key', 'k' || n, 'value', '')) FROM generate_series(1, 50) n))),
	'TooManyTags: A resource may have at most 50 tags.', '51 tags');
SELECT is(pg_temp.refusal('ListTagsForResource', jsonb_build_object('resourceArn', :'nightly' || ':1')),
	'ResourceNotFound: Resource not found: ''' || :'nightly' || ':1''', 'a version has no tags');

-- --- versions

SELECT is(pg_temp.api('ListStateMachineVersions', 'stateMachineArn', :'nightly'), '{"stateMachineVersions": []}',
	'ListStateMachineVersions before one is published');
SELECT is(pg_temp.refusal('PublishStateMachineVersion', jsonb_build_object('stateMachineArn', :'nightly', 'revisionId',
			'1')),
	'ConflictException: Failed to publish the State Machine version for revision 1. The current State Machine revision '
	'is 2.', 'PublishStateMachineVersion of a revision that is not current');
SELECT is(pg_temp.timeless(pg_temp.api('PublishStateMachineVersion', 'stateMachineArn', :'nightly', 'description',
			'second')),
	jsonb_build_object('stateMachineVersionArn', :'nightly' || ':1', 'creationDate', 'time'),
	'PublishStateMachineVersion');
SELECT is(pg_temp.timeless(pg_temp.api('PublishStateMachineVersion', 'stateMachineArn', :'nightly')),
	jsonb_build_object('stateMachineVersionArn', :'nightly' || ':1', 'creationDate', 'time'), '... again');
SELECT is(pg_temp.timeless(pg_temp.api('UpdateStateMachine', 'stateMachineArn', :'nightly', 'definition', :'other')),
	'{"updateDate": "time", "revisionId": "3"}', 'a revision that is not published');
SELECT is(pg_temp.timeless(sf_aws_api('UpdateStateMachine', jsonb_build_object('stateMachineArn', :'nightly',
			'definition', :'pass', 'publish', true, 'versionDescription', 'fourth'))),
	jsonb_build_object('updateDate', 'time', 'revisionId', '4', 'stateMachineVersionArn', :'nightly' || ':2'),
	'UpdateStateMachine that publishes');
SELECT is(pg_temp.timeless(sf_aws_api('UpdateStateMachine', jsonb_build_object('stateMachineArn', :'nightly',
			'definition', :'pass', 'publish', true))),
	jsonb_build_object('updateDate', 'time', 'revisionId', '4', 'stateMachineVersionArn', :'nightly' || ':2'),
	'... what is published already');
SELECT is(jsonb_path_query_array(pg_temp.api('ListStateMachineVersions', 'stateMachineArn', :'nightly'),
		'$.stateMachineVersions[*].stateMachineVersionArn'),
	jsonb_build_array(:'nightly' || ':2', :'nightly' || ':1'), 'ListStateMachineVersions');
SELECT sf_aws_api('ListStateMachineVersions', jsonb_build_object('stateMachineArn', :'nightly', 'maxResults', 1)) ->>
	'nextToken' AS token \gset
SELECT is(jsonb_path_query_array(pg_temp.api('ListStateMachineVersions', 'stateMachineArn', :'nightly', 'nextToken',
			:'token'), '$.stateMachineVersions[*].stateMachineVersionArn'),
	jsonb_build_array(:'nightly' || ':1'), '... the next page');
SELECT is(pg_temp.api('DescribeStateMachine', 'stateMachineArn', :'nightly' || ':2') - 'creationDate' - 'definition' -
	'loggingConfiguration' - 'tracingConfiguration' - 'encryptionConfiguration' - 'roleArn',
	jsonb_build_object('stateMachineArn', :'nightly' || ':2', 'name', 'nightly', 'description', 'fourth', 'status',
		'ACTIVE', 'type', 'STANDARD', 'revisionId', '4'), 'DescribeStateMachine of a version');
SELECT is(pg_temp.api('StartExecution', 'stateMachineArn', :'nightly' || ':1', 'name', 'v2') ->> 'executionArn',
	pg_temp.arn('execution:nightly:v2'), 'StartExecution of a version');
SELECT is(pg_temp.api('DescribeExecution', 'executionArn', pg_temp.arn('execution:nightly:v2')) ->>
	'stateMachineVersionArn', :'nightly' || ':1', '... which the execution tells');
SELECT is(pg_temp.refusal('StartExecution', jsonb_build_object('stateMachineArn', :'nightly' || ':3')),
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''' || :'nightly' || ':3''',
	'... of one that is not published');
SELECT is(jsonb_array_length(pg_temp.api('ListStateMachineVersions', 'stateMachineArn', pg_temp.arn('stateMachine:m1'))
		-> 'stateMachineVersions'), 1, 'a version that SQL has made is published');

-- --- aliases

SELECT is(pg_temp.timeless(sf_aws_api('CreateStateMachineAlias', jsonb_build_object('name', 'prod', 'description',
			'live', 'routingConfiguration', jsonb_build_array(
		jsonb_build_object('stateMachineVersionArn', :'nightly' || ':1', 'weight', 90),
		jsonb_build_object('stateMachineVersionArn', :'nightly' || ':2', 'weight', 10))))),
	jsonb_build_object('stateMachineAliasArn', :'nightly' || ':prod', 'creationDate', 'time'),
	'CreateStateMachineAlias');
SELECT is(pg_temp.timeless(pg_temp.api('DescribeStateMachineAlias', 'stateMachineAliasArn', :'nightly' || ':prod')),
	jsonb_build_object('stateMachineAliasArn', :'nightly' || ':prod', 'name', 'prod', 'description', 'live',
		'creationDate', 'time', 'updateDate', 'time', 'routingConfiguration', jsonb_build_array(
		jsonb_build_object('stateMachineVersionArn', :'nightly' || ':1', 'weight', 90),
		jsonb_build_object('stateMachineVersionArn', :'nightly' || ':2', 'weight', 10))), 'DescribeStateMachineAlias');
SELECT is((SELECT string_agg(format('%s:%s', version, percent), ' ' ORDER BY version) FROM sf_aliases
		WHERE state_machine = 'nightly' AND alias = 'prod'), '2:90 4:10', '... it is an alias of SQL, too');

-- What is refused as the routes or the name of an alias.
CREATE FUNCTION pg_temp.alias_refusal(name text, VARIADIC routes text[]) RETURNS text LANGUAGE sql AS $$
SELECT pg_temp.refusal('CreateStateMachineAlias', jsonb_build_object('name', name, 'routingConfiguration',
	(SELECT jsonb_agg(jsonb_build_object('stateMachineVersionArn',
				pg_temp.arn('stateMachine:' || split_part(r, ' ', 1)), 'weight', split_part(r, ' ', 2)::integer))
		FROM unnest(routes) r))) $$;
SELECT is(pg_temp.alias_refusal('prod', 'nightly:1 100'),
	'ConflictException: Failed to create alias because an alias with the same name and a different routing '
	'configuration already exists.', 'an alias with other routes');
SELECT is(pg_temp.alias_refusal('123', 'nightly:1 100'),
	'ValidationException: 1 validation error detected: Value ''123'' at ''name'' failed to satisfy constraint: Member '
	'must satisfy regular expression pattern: ^(?=.*[a-zA-Z_\-\.])[a-zA-Z0-9_\-\.]+$', 'an alias that is a number');
SELECT is(pg_temp.alias_refusal('a', 'nightly 100'),
	'ValidationException: Routing configuration must contain state machine version ARNs. Received: [' || :'nightly'
	|| ']', 'a route to no version');
SELECT is(pg_temp.alias_refusal('a', 'nightly:1 50', 'm1:1 50'),
	format('ValidationException: Routing configuration must contain state machine version ARNs. Received: [%s:1, %s:1]',
		:'nightly', pg_temp.arn('stateMachine:m1')), 'routes to two machines');
SELECT is(pg_temp.alias_refusal('a', 'nightly:1 50', 'nightly:1 50'),
	format('ValidationException: Routing configuration must contain distinct state machine version ARNs. Received: '
		'[%1$s:1, %1$s:1]', :'nightly'), 'two routes to one version');
SELECT is(pg_temp.alias_refusal('a', 'nightly:1 50', 'nightly:01 50'),
	format('ValidationException: Routing configuration must contain distinct state machine version ARNs. Received: '
		'[%1$s:1, %1$s:01]', :'nightly'), '... written in two ways');
SELECT is(pg_temp.alias_refusal('a', 'nightly:1 50', 'nightly:2 40'),
	'ValidationException: Sum of routing configuration weights must equal 100. Received: [50, 40]',
	'weights that do not add up');
SELECT is(pg_temp.alias_refusal('a', 'nightly:3 100'),
	format('ValidationException: Routing configuration must contain state machine version ARNs. Received: [%s:3]',
		:'nightly'), 'a route to a version that is not published');
SELECT matches(pg_temp.alias_refusal('a', 'm1:1 30', 'm1:1 30', 'm1:1 40'),
	'^ValidationException: .* Member must have length less than or equal to 2$', 'three routes');

SELECT is(pg_temp.api('StartExecution', 'stateMachineArn', :'nightly' || ':prod', 'name', 'p') ->> 'executionArn',
	pg_temp.arn('execution:nightly:p'), 'StartExecution of an alias');
SELECT is(pg_temp.api('DescribeExecution', 'executionArn', pg_temp.arn('execution:nightly:p')) ->>
	'stateMachineAliasArn', :'nightly' || ':prod', '... which the execution tells');
SELECT is(jsonb_path_query_array(pg_temp.api('ListExecutions', 'stateMachineArn', :'nightly' || ':prod'),
		'$.executions[*].name'), '["p"]', '... the list of the alias');
SELECT ok(pg_temp.api('ListExecutions', 'stateMachineArn', :'nightly' || ':prod') #> '{executions,0}' ?&
	'{stateMachineAliasArn,stateMachineVersionArn}', '... what it tells');
SELECT is(sf_run('nightly:p'), 'SUCCEEDED', '... it runs');
SELECT is(pg_temp.api('GetExecutionHistory', 'executionArn', pg_temp.arn('execution:nightly:p')) #>>
	'{events,0,executionStartedEventDetails,stateMachineAliasArn}', :'nightly' || ':prod', '... and the history');
SELECT ok(NOT pg_temp.api('DescribeExecution', 'executionArn', :'a') ?| '{stateMachineAliasArn,stateMachineVersionArn}',
	'an execution that was started by the name of the machine tells neither');
SELECT is(pg_temp.refusal('StartExecution', jsonb_build_object('stateMachineArn', :'nightly' || ':test')),
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''' || :'nightly' || ':test''', '... that is not there');
SELECT is(pg_temp.refusal('DeleteStateMachineVersion', jsonb_build_object('stateMachineVersionArn',
			:'nightly' || ':1')),
	'ConflictException: Version to be deleted must not be referenced by an alias. Current list of aliases referencing '
	'this version: [prod]', 'DeleteStateMachineVersion with an alias');
SELECT is(pg_temp.timeless(sf_aws_api('UpdateStateMachineAlias', jsonb_build_object('stateMachineAliasArn',
			:'nightly' || ':prod', 'routingConfiguration', jsonb_build_array(
	jsonb_build_object('stateMachineVersionArn', :'nightly' || ':2', 'weight', 100))))), '{"updateDate": "time"}',
	'UpdateStateMachineAlias');
SELECT is(pg_temp.api('DescribeStateMachineAlias', 'stateMachineAliasArn', :'nightly' || ':prod') ->> 'description',
	'live', '... what is not given stays');
SELECT is(pg_temp.refusal('UpdateStateMachineAlias', jsonb_build_object('stateMachineAliasArn', :'nightly' || ':prod')),
	'ValidationException: Either the description or the routing configuration must be specified.', '... of nothing');
-- The reason that some errors have.
CREATE FUNCTION pg_temp.reason(action text, request jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	reason text;
BEGIN
	PERFORM sf_aws_api(action, request);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS reason = PG_DATATYPE_NAME;
	RETURN reason;
END $$;
SELECT is(ARRAY[pg_temp.reason('UpdateStateMachineAlias', jsonb_build_object('stateMachineAliasArn',
			:'nightly' || ':prod')),
	pg_temp.reason('CreateStateMachineAlias', jsonb_build_object('name', 'a', 'routingConfiguration',
			jsonb_build_array(jsonb_build_object('stateMachineVersionArn', :'nightly' || ':2', 'weight', 99)))),
	pg_temp.reason('StartExecution', jsonb_build_object('stateMachineArn', :'nightly' || '/label')),
	pg_temp.reason('StartExecution', '{}')],
	'{MISSING_REQUIRED_PARAMETER,INVALID_ROUTING_CONFIGURATION,API_DOES_NOT_SUPPORT_LABELED_ARNS,""}', 'reasons');

SELECT is(jsonb_path_query_array(pg_temp.api('ListStateMachineAliases', 'stateMachineArn', :'nightly'),
		'$.stateMachineAliases[*].stateMachineAliasArn'), jsonb_build_array(:'nightly' || ':prod'),
	'ListStateMachineAliases');
SELECT is(pg_temp.api('ListStateMachineAliases', 'stateMachineArn', :'nightly' || ':1'), '{"stateMachineAliases": []}',
	'... of a version');
SELECT is(pg_temp.api('DeleteStateMachineVersion', 'stateMachineVersionArn', :'nightly' || ':1'), '{}',
	'DeleteStateMachineVersion');
SELECT is(pg_temp.api('DeleteStateMachineVersion', 'stateMachineVersionArn', :'nightly' || ':1'), '{}', '... again');
SELECT is(pg_temp.refusal('StartExecution', jsonb_build_object('stateMachineArn', :'nightly' || ':1')),
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''' || :'nightly' || ':1''', '... it cannot be started');
SELECT is(pg_temp.api('DeleteStateMachineAlias', 'stateMachineAliasArn', :'nightly' || ':prod'), '{}',
	'DeleteStateMachineAlias');
SELECT is(pg_temp.refusal('DescribeStateMachineAlias', jsonb_build_object('stateMachineAliasArn',
			:'nightly' || ':prod')), 'ResourceNotFound: Request references a resource that does not exist.',
	'... it is gone');
SELECT is(pg_temp.api('DeleteStateMachineAlias', 'stateMachineAliasArn', :'nightly' || ':prod'), '{}',
	'... and deleting it again changes nothing');
SELECT is(pg_temp.refusal('DeleteStateMachineAlias', jsonb_build_object('stateMachineAliasArn',
			:'nightly' || 'x:prod')), 'ResourceNotFound: Request references a resource that does not exist.',
	'... of a machine that is not there');
SELECT is(pg_temp.refusal('DeleteStateMachineAlias', jsonb_build_object('stateMachineAliasArn', :'nightly' || ':1')),
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: version''', '... with the ARN of a version');

-- --- the numbers of versions

-- Revisions of SQL are published, those of UpdateStateMachine where it says so.
CREATE FUNCTION pg_temp.numbers(machine text) RETURNS text LANGUAGE sql AS $$
SELECT string_agg(regexp_replace(v ->> 'stateMachineVersionArn', '.*:', '') || '='
	|| ((pg_temp.api('DescribeStateMachine', 'stateMachineArn', v ->> 'stateMachineVersionArn') ->> 'definition')::jsonb
		->> 'Comment'), ' ')
FROM jsonb_array_elements(pg_temp.api('ListStateMachineVersions', 'stateMachineArn',
		pg_temp.arn('stateMachine:' || machine)) -> 'stateMachineVersions') v $$;
CREATE FUNCTION pg_temp.commented(comment text) RETURNS text LANGUAGE sql AS $$
SELECT format('{"Comment":"%s","StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}', comment) $$;
CREATE FUNCTION pg_temp.revise(comment text, publish boolean) RETURNS text LANGUAGE sql AS $$
SELECT regexp_replace(sf_aws_api('UpdateStateMachine', jsonb_build_object('stateMachineArn',
			pg_temp.arn('stateMachine:mixed'), 'definition', pg_temp.commented(comment), 'publish',
			publish)) ->> 'stateMachineVersionArn', '.*:', '') $$;
SELECT sf_create_state_machine('mixed', pg_temp.commented(n)::json, or_replace => true) FROM unnest('{a,b}'::text[]) n
	\g /dev/null
SELECT is(pg_temp.numbers('mixed'), '2=b 1=a', 'revisions of SQL are numbered like the publications that they are');
SELECT is(ARRAY[pg_temp.revise('c', false), pg_temp.revise('d', false), pg_temp.revise('e', true)], '{NULL,NULL,3}',
	'revisions that are not published leave no gap');
SELECT is((SELECT sf_create_state_machine('mixed', pg_temp.commented('f')::json, or_replace => true)), 6,
	'a revision of SQL behind them');
SELECT is(pg_temp.numbers('mixed'), '4=f 3=e 2=b 1=a', '... goes on counting');
SELECT is(pg_temp.api('DeleteStateMachineVersion', 'stateMachineVersionArn', pg_temp.arn('stateMachine:mixed:4')), '{}',
	'a version is deleted');
SELECT is(pg_temp.numbers('mixed'), '3=e 2=b 1=a', '... and the others keep their numbers');
SELECT is(pg_temp.api('PublishStateMachineVersion', 'stateMachineArn', pg_temp.arn('stateMachine:mixed')) ->>
	'stateMachineVersionArn', pg_temp.arn('stateMachine:mixed:5'), '... publishing it again gives the next number');
SELECT is(pg_temp.revise('g', true), '6', '... as the next revision has');
SELECT is(pg_temp.numbers('mixed'), '6=g 5=f 3=e 2=b 1=a', '... all of them');
SELECT is(pg_temp.api('StartExecution', 'stateMachineArn', pg_temp.arn('stateMachine:mixed:3'), 'name',
		'pinned') ->> 'executionArn', pg_temp.arn('execution:mixed:pinned'), 'StartExecution with such a number');
SELECT is((SELECT version FROM sf_executions WHERE execution_id = 'mixed:pinned'), 5,
	'... runs the revision that it stands for');
SELECT is(pg_temp.api('DescribeExecution', 'executionArn', pg_temp.arn('execution:mixed:pinned')) ->>
	'stateMachineVersionArn', pg_temp.arn('stateMachine:mixed:3'), '... which the execution tells');
SELECT is(jsonb_path_query_array(pg_temp.api('ListExecutions', 'stateMachineArn', pg_temp.arn('stateMachine:mixed:3')),
		'$.executions[*].name'), '["pinned"]', '... and the list of the version');
SELECT is(sf_start(pg_temp.arn('stateMachine:mixed:5'), '{}', 'sql'), 'mixed:sql', 'sf_start of the ARN of a version');
SELECT is((SELECT array_agg(version ORDER BY execution_id) FROM sf_executions WHERE state_machine = 'mixed'), '{5,6}',
	'... means the number of the API');
SELECT is(pg_temp.refusal('StartExecution', jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:mixed:4'))),
	format('StateMachineDoesNotExist: State Machine Does Not Exist: ''%s''', pg_temp.arn('stateMachine:mixed:4')),
	'a number that was deleted');
SELECT sf_create_state_machine('pins', format('{"StartAt":"S","States":{"S":{"Type":"Task",
		"Resource":"arn:aws:states:::states:startExecution","Parameters":{"StateMachineArn":"%s","Name":"child"},
		"End":true}}}', pg_temp.arn('stateMachine:mixed:2'))::json) \g /dev/null
SELECT sf_start('pins', '{}', 'a'), sf_run('pins:a') \g /dev/null
SELECT is((SELECT version FROM sf_executions WHERE execution_id = 'mixed:child'), 2,
	'a child that is pinned to a version');

-- --- what is told of variables and roles

CREATE FUNCTION pg_temp.variables(name text, definition text) RETURNS jsonb LANGUAGE sql AS $$
SELECT sf_aws_api('DescribeStateMachine', sf_aws_api('CreateStateMachine', jsonb_build_object('name', name,
			'definition', definition, 'roleArn',
			'arn:aws:iam::000000000001:role/' || name))) -> 'variableReferences' $$;
SELECT is(pg_temp.variables('paths', '{"StartAt":"A","States":{"A":{"Type":"Pass","Assign":{"x":1,"y":2},"Next":"B"},
	"B":{"Type":"Choice","Choices":[{"Variable":"$y","NumericEqualsPath":"$x","Next":"C"}],"Default":"C"},
	"C":{"Type":"Pass","Parameters":{"a.$":"States.Format(''no $b {}'', $x)","FilePath":"$no","c":"$no","d.$":"$.x",
		"e.$":"$$.Execution.Id"},"ResultPath":"$.no","End":true}}}'),
	'{"B": ["x", "y"], "C": ["x"]}',
	'variableReferences of JSONPath: not what is quoted, literal, a path, or the context');
SELECT is(pg_temp.variables('jsonata', '{"QueryLanguage":"JSONata","StartAt":"A","States":{"A":{"Type":"Pass",
		"Assign":{"x":1},"Next":"M"},
	"M":{"Type":"Map","Items":"{% $x %}","ItemProcessor":{"StartAt":"B","States":{"B":{"Type":"Pass",
		"Output":"{% ($own := 1; $map([1], function($v, $i) { $v + $own + $x }); \"$no\" & $states.input & $sum([$z])) '
	'%}","End":true}}},"End":true}}}'),
	'{"M": ["x"], "B": ["x", "z"]}', '... of JSONata: not what the expression binds, functions, or $states');
SELECT is(pg_temp.variables('none', '{"StartAt":"A","States":{"A":{"Type":"Succeed"}}}'), NULL, '... of none');
SELECT sf_create_state_machine('told', '{"StartAt":"A","States":{"A":{"Type":"Pass",
	"Parameters":{"role.$":"$$.Execution.RoleArn"},"End":true}}}') \g /dev/null
SELECT is(sf_aws_api('UpdateStateMachine', jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:told'),
			'roleArn', :'role')) ->> 'revisionId', '2', 'a machine of SQL is given a role');
SELECT sf_start('told', '{}', 'a', version => v), sf_run('told:a') FROM (VALUES (2)) x(v) \g /dev/null
SELECT is((SELECT output ->> 'role' FROM sf_executions WHERE execution_id = 'told:a'), :'role',
	'the context object has the role');
SELECT is((SELECT details ->> 'roleArn' FROM sf_history WHERE execution_id = 'told:a' AND id = 1), :'role',
	'... and so has the history');
SELECT is(pg_temp.api('DescribeStateMachineForExecution', 'executionArn', pg_temp.arn('execution:told:a')) ->>
	'roleArn', :'role', '... and DescribeStateMachineForExecution');

-- --- the end

SELECT is(pg_temp.refusal('DeleteStateMachine', jsonb_build_object('stateMachineArn', :'nightly')),
	'ConflictException: state machine "nightly" has 5 running executions',
	'DeleteStateMachine with running executions');
SELECT count(sf_stop(execution_id)) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null
SELECT is(pg_temp.api('DeleteStateMachine', 'stateMachineArn', :'nightly'), '{}', 'DeleteStateMachine');
SELECT is(pg_temp.api('DeleteStateMachine', 'stateMachineArn', :'nightly'), '{}', '... again');
SELECT is((SELECT count(*) FROM _sfflow.aws_resource WHERE object_name = 'nightly'), 0::bigint,
	'... its tags are gone');
SELECT is(pg_temp.api('DeleteActivity', 'activityArn', :'shell'), '{}', 'DeleteActivity');
SELECT is(pg_temp.api('DeleteActivity', 'activityArn', :'shell'), '{}', '... again');

-- --- region and account

SET LOCAL sfflow.region = 'eu-central-1';
SET LOCAL sfflow.account_id = '123456789012';
SELECT is(pg_temp.api('StartExecution', 'stateMachineArn', 'arn:aws:states:eu-central-1:123456789012:stateMachine:m1',
		'name', 'there') ->> 'executionArn',
	'arn:aws:states:eu-central-1:123456789012:execution:m1:there', 'region and account are those of the settings');
SELECT throws_like($$ SET sfflow.region = 'a:b' $$, 'invalid value for parameter "sfflow.region"%',
	'a region with a colon');
SELECT throws_like($$ SET sfflow.account_id = '12345678901' $$, 'invalid value for parameter "sfflow.account_id"%',
	'an account with eleven digits');

SELECT * FROM finish();
ROLLBACK;
