-- sf_aws_api: Map runs, redrive, the machine of an execution, synchronous executions.
BEGIN;
SELECT plan(88);
SET client_min_messages = error;

CREATE FUNCTION pg_temp.arn(rest text) RETURNS text LANGUAGE sql AS $$ SELECT 'arn:aws:states:us-east-1:000000000000:'
	|| rest $$;
CREATE FUNCTION pg_temp.refusal(action text, request jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	name text;
BEGIN
	RETURN 'answered: ' || sf_aws_api(action, request)::text;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS name = CONSTRAINT_NAME;
	RETURN concat_ws(': ', coalesce(nullif(name, ''), sqlstate), sqlerrm);
END $$;

-- A run of three items, one at a time; the second one fails until the table of repairs has a row.
SELECT current_schema AS schema \gset
CREATE TABLE repairs (at timestamptz);
CREATE FUNCTION work_on(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF payload = '2' AND NOT EXISTS (SELECT FROM repairs) THEN
		RAISE EXCEPTION 'two';
	END IF;
	RETURN payload;
END $$;
SELECT sf_create_state_machine('fan', format('{"StartAt": "M", "States": {"M": {"Type": "Map", "Label": "lab",
		"MaxConcurrency": 1, "End": true,
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "T",
		"States": {
		"T": {"Type": "Task", "Resource": "sql:%s.work_on", "End": true}}}}}}', :'schema')::json) \g /dev/null
SELECT sf_start('fan', '[1, 2, 3]', 'a'), sf_run('fan:a', max_steps => 1) \g /dev/null
SELECT pg_temp.arn('execution:fan:a') AS a \gset

-- Run what runs, children first, until nothing more happens.
CREATE FUNCTION pg_temp.run_all() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	FOR turn IN 1 .. 5 LOOP
		PERFORM sf_run(execution_id) FROM sf_executions WHERE status = 'RUNNING';
	END LOOP;
	RETURN (SELECT status FROM sf_executions WHERE execution_id = 'fan:a');
END $$;

SELECT sf_aws_api('ListMapRuns', jsonb_build_object('executionArn', :'a')) AS runs \gset
SELECT :'runs'::jsonb #>> '{mapRuns,0,mapRunArn}' AS run \gset
SELECT matches(:'run'::text, '^arn:aws:states:us-east-1:000000000000:mapRun:fan/lab:[0-9a-f-]{36}$', 'ListMapRuns');
SELECT is((:'runs'::jsonb #> '{mapRuns,0}') - 'mapRunArn' - 'startDate', jsonb_build_object('executionArn', :'a',
		'stateMachineArn', pg_temp.arn('stateMachine:fan')), '... what it tells');
SELECT ok(NOT :'runs'::jsonb ? 'nextToken', '... there are no more');
SELECT is(sf_aws_api('DescribeMapRun', jsonb_build_object('mapRunArn', :'run')) - 'startDate' - 'itemCounts' -
	'executionCounts',
	jsonb_build_object('mapRunArn', :'run', 'executionArn', :'a', 'status', 'RUNNING', 'maxConcurrency', 1,
		'toleratedFailureCount', 0, 'toleratedFailurePercentage', 0, 'redriveCount', 0), 'DescribeMapRun');
SELECT is(sf_aws_api('DescribeMapRun', jsonb_build_object('mapRunArn', :'run')) -> 'itemCounts',
	'{"pending": 3, "running": 0, "succeeded": 0, "failed": 0, "timedOut": 0, "aborted": 0, "total": 3,
		"resultsWritten": 0, "failuresNotRedrivable": 0, "pendingRedrive": 0}', '... its items');
SELECT is(pg_temp.refusal('DescribeMapRun', jsonb_build_object('mapRunArn', :'run' || 'x')),
	'ResourceNotFound: Resource not found: ''' || :'run' || 'x''', '... of none');
SELECT is(pg_temp.refusal('DescribeMapRun', jsonb_build_object('mapRunArn', :'a')),
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: execution''', '... of an execution');

-- --- limits that change while it runs

SELECT is(sf_run('fan:a', max_steps => 1), 'RUNNING', 'one child begins');
SELECT is((SELECT count(*) FROM sf_executions WHERE parent_execution_id = 'fan:a'), 1::bigint,
	'... as many as may run at once');
SELECT is(sf_aws_api('UpdateMapRun', jsonb_build_object('mapRunArn', :'run', 'maxConcurrency', 2,
			'toleratedFailurePercentage', 12.5)), '{}', 'UpdateMapRun');
SELECT is(jsonb_path_query_array(sf_aws_api('DescribeMapRun', jsonb_build_object('mapRunArn', :'run')), '$.*') @> '[2,
	12.5]', true, '... the limits have changed');
SELECT is(sf_run('fan:a', max_steps => 1), 'RUNNING', '... the run goes on');
SELECT is((SELECT count(*) FROM sf_executions WHERE parent_execution_id = 'fan:a'), 2::bigint,
	'... and another child begins at once');
SELECT is(pg_temp.refusal('UpdateMapRun', jsonb_build_object('mapRunArn', :'run', 'toleratedFailurePercentage', 101)),
	'ValidationException: 1 validation error detected: Value ''101'' at ''toleratedFailurePercentage'' failed to '
	'satisfy constraint: Member must have value less than or equal to 100', '... a percentage that is too large');
SELECT is(sf_aws_api('UpdateMapRun', jsonb_build_object('mapRunArn', :'run', 'maxConcurrency', 0)), '{}',
	'... without a limit');
SELECT is(sf_aws_api('DescribeMapRun', jsonb_build_object('mapRunArn', :'run')) -> 'maxConcurrency', '2147483647',
	'... which is told as the largest number');

-- --- failure and redrive

SELECT is(jsonb_path_query_array(sf_aws_api('ListExecutions', jsonb_build_object('stateMachineArn',
			pg_temp.arn('stateMachine:fan'), 'statusFilter', 'RUNNING')), '$.executions[*].name'),
	'["a"]', 'ListExecutions of the machine has the parent alone while its children run, or have not begun');
SELECT is(pg_temp.run_all(), 'FAILED', 'it fails');
SELECT is(jsonb_path_query_array(sf_aws_api('ListExecutions', jsonb_build_object('stateMachineArn',
			pg_temp.arn('stateMachine:fan'), 'statusFilter', 'FAILED')), '$.executions[*].name'),
	'["a"]', '... and when some have failed');
SELECT is(sf_aws_api('DescribeMapRun', jsonb_build_object('mapRunArn', :'run')) ->> 'status', 'FAILED',
	'... the run, too');
SELECT is(sf_aws_api('DescribeMapRun', jsonb_build_object('mapRunArn', :'run')) #>> '{executionCounts,failed}', '1',
	'... by one execution');
SELECT sf_aws_api('ListExecutions', jsonb_build_object('mapRunArn', :'run', 'statusFilter', 'FAILED')) #>
	'{executions,0}' AS failed \gset
SELECT is(:'failed'::jsonb ->> 'stateMachineArn', pg_temp.arn('stateMachine:fan/lab'), 'ListExecutions of a Map run');
SELECT is((:'failed'::jsonb ->> 'mapRunArn', :'failed'::jsonb -> 'itemCount'), (:'run'::text, '1'::jsonb),
	'... with the run, and how many items each had');
SELECT is(sf_aws_api('DescribeExecution', jsonb_build_object('executionArn', :'failed'::jsonb ->> 'executionArn')) ->>
	'mapRunArn', :'run', 'DescribeExecution of a child');
SELECT is(sf_aws_api('DescribeExecution', jsonb_build_object('executionArn', :'failed'::jsonb ->> 'executionArn')) ->>
	'redriveStatus', 'REDRIVABLE_BY_MAP_RUN', '... that its parent redrives');
SELECT is(sf_aws_api('ListExecutions', jsonb_build_object('mapRunArn', :'run', 'statusFilter', 'PENDING_REDRIVE')),
	'{"executions": []}', '... none waits for a redrive');
INSERT INTO repairs VALUES (now());
SELECT is(sf_aws_api('RedriveExecution', jsonb_build_object('executionArn', :'a')) - 'redriveDate', '{}',
	'RedriveExecution');
SELECT sf_aws_api('DescribeMapRun', jsonb_build_object('mapRunArn', :'run')) AS waiting \gset
SELECT is(:'waiting'::jsonb #>> '{executionCounts,pendingRedrive}', (SELECT count(*)::text FROM sf_executions
		WHERE parent_execution_id = 'fan:a' AND redrive_count > 0), '... what is to be redriven waits for it');
SELECT is(:'waiting'::jsonb #> '{itemCounts,pendingRedrive}', :'waiting'::jsonb #> '{executionCounts,pendingRedrive}',
	'... an item each');
SELECT is(:'waiting'::jsonb #> '{executionCounts,running}', '0', '... and does not run');
SELECT is(pg_temp.run_all(), 'SUCCEEDED', '... it succeeds');
SELECT is(sf_aws_api('DescribeMapRun', jsonb_build_object('mapRunArn', :'run')) #> '{executionCounts,pendingRedrive}',
	'0', '... nothing waits');
SELECT is(sf_aws_api('DescribeExecution', jsonb_build_object('executionArn', :'a')) -> 'redriveCount', '1',
	'... redriven once');
-- a slow slice has the failure abort more than one child
SELECT is(jsonb_array_length(sf_aws_api('ListExecutions', jsonb_build_object('mapRunArn', :'run', 'redriveFilter',
			filter)) -> 'executions'),
	(SELECT count(*)::integer FROM sf_executions e WHERE e.parent_execution_id = 'fan:a' AND (e.redrive_count > 0)
		= (filter = 'REDRIVEN')), filter)
FROM (VALUES ('REDRIVEN'), ('NOT_REDRIVEN')) v(filter);
SELECT cmp_ok((SELECT count(*) FROM sf_executions WHERE parent_execution_id = 'fan:a' AND redrive_count > 0), '>',
	0::bigint, '... and some are redriven');
SELECT is(pg_temp.refusal('RedriveExecution', jsonb_build_object('executionArn', :'a')),
	'ExecutionNotRedrivable: Execution is SUCCEEDED and cannot be redriven', 'it cannot be redriven again');
SELECT is(pg_temp.refusal('UpdateMapRun', jsonb_build_object('mapRunArn', :'run', 'maxConcurrency', 1)),
	'ValidationException: Map Run is SUCCEEDED and cannot be updated', 'UpdateMapRun of a run that has ended');
-- children of a Map run are in its list only
SELECT cmp_ok((SELECT count(*) FROM sf_list_executions('fan')), '>', 1::bigint,
	'the newest executions of the machine are children');
SELECT is(jsonb_path_query_array(sf_aws_api('ListExecutions',
			jsonb_strip_nulls(jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:fan'), 'statusFilter',
			status))), '$.executions[*].name'),
	expected::jsonb, 'ListExecutions of the machine has none of them: ' || coalesce(status, 'any status'))
FROM (VALUES (NULL, '["a"]'), ('SUCCEEDED', '["a"]'), ('FAILED', '[]'), ('ABORTED', '[]'), ('RUNNING', '[]')) v(status,
	expected);
SELECT is(pg_temp.refusal('ListExecutions', '{}'),
	'ValidationException: Must specify exactly one of stateMachineArn or mapRunArn', 'ListExecutions of nothing');

-- --- the machine of an execution

SELECT is(sf_aws_api('DescribeStateMachineForExecution', jsonb_build_object('executionArn',
			:'failed'::jsonb -> 'executionArn')) ->> 'label', 'lab',
	'DescribeStateMachineForExecution of a child tells the label');
SELECT is(sf_aws_api('DescribeStateMachineForExecution', jsonb_build_object('executionArn', :'a')) ->>
	'stateMachineArn', pg_temp.arn('stateMachine:fan'), 'DescribeStateMachineForExecution');
SELECT sf_create_state_machine('fan', '{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}', or_replace => true)
	\g /dev/null
SELECT matches(sf_aws_api('DescribeStateMachineForExecution', jsonb_build_object('executionArn', :'a')) ->>
	'definition', 'lab', '... in the version that it runs');
SELECT sf_start('fan/2', '1', 'numbered') \g /dev/null
SELECT is(jsonb_array_length(sf_aws_api('ListExecutions', jsonb_build_object('stateMachineArn',
			pg_temp.arn('stateMachine:fan:' || v))) -> 'executions'), n,
	'ListExecutions of version ' || v || ': those that were started by its number')
FROM (VALUES (1, 0), (2, 1)) x(v, n);

-- --- synchronous executions

SELECT sf_aws_api('CreateStateMachine', jsonb_build_object('name', 'fast', 'type', type, 'roleArn',
		'arn:aws:iam::000000000000:role/r', 'definition',
	format('{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":1,"Next":"T"},"T":{"Type":"Task","Resource":"%s",
		"End":true}}}', 'sql:' || :'schema' || '.work_on')))
FROM (VALUES ('EXPRESS')) v(type) \g /dev/null
SELECT sf_aws_api('StartSyncExecution', jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:fast'), 'name',
		'a', 'input', '7', 'traceHeader', 'Root=1')) AS sync \gset
SELECT is(:'sync'::jsonb - 'startDate' - 'stopDate' - 'executionArn' - 'billingDetails',
	jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:fast'), 'name', 'a', 'status', 'SUCCEEDED',
		'traceHeader', 'Root=1',
		'input', '7', 'inputDetails', '{"included": true}'::jsonb, 'output', '7', 'outputDetails',
		'{"included": true}'::jsonb), 'StartSyncExecution waits for the end');
SELECT matches(:'sync'::jsonb ->> 'executionArn',
	'^arn:aws:states:us-east-1:000000000000:express:fast:a:[0-9a-f-]{36}$', '... under an ARN of its own');
SELECT matches(:'sync'::jsonb ->> 'billingDetails',
	'^{"billedMemoryUsedInMB": 64, "billedDurationInMilliseconds": 1\d00}$',
	'... and tells what the service would bill');
SELECT is(pg_temp.refusal(action, jsonb_build_object('executionArn', :'sync'::jsonb ->> 'executionArn')),
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: express''',
	action || ' does not take that ARN')
FROM unnest('{DescribeExecution,StopExecution,GetExecutionHistory,DescribeStateMachineForExecution,RedriveExecution,'
	'ListMapRuns}'::text[]) action;
SELECT matches(sf_aws_api('StartExecution', jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:fast'),
			'name', 'b')) ->> 'executionArn', ':express:fast:b:[0-9a-f-]{36}$', 'StartExecution of such a machine');
SELECT sf_aws_api('StartSyncExecution', jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:fast'), 'name',
		'a', 'input', '8')) AS again \gset
SELECT is((:'again'::jsonb ->> 'name', :'again'::jsonb ->> 'output')::text, '(a,8)',
	'... again, with the same name: another execution');
SELECT matches(:'again'::jsonb ->> 'executionArn', ':express:fast:a:[0-9a-f-]{36}$', '... with that name in its ARN');
SELECT is((SELECT output FROM sf_executions
		WHERE execution_id = 'fast:' || split_part(:'again'::jsonb ->> 'executionArn', ':', 9)), '8',
	'... which ends with the name that it has here');
SELECT sf_aws_api('CreateStateMachine', jsonb_build_object('name', 'self', 'type', 'EXPRESS', 'roleArn',
		'arn:aws:iam::000000000000:role/r', 'definition',
	'{"StartAt":"P","States":{"P":{"Type":"Pass","Parameters":{"e.$":"$$.Execution"},"OutputPath":"$.e","End":true}}}'))
	\g /dev/null
SELECT is(array(SELECT jsonb_object_keys((sf_aws_api('StartSyncExecution', jsonb_build_object('stateMachineArn',
			pg_temp.arn('stateMachine:self'))) ->> 'output')::jsonb)),
	'{Id,Name,Input,RoleArn,StartTime}', 'the context object of a synchronous execution has no RedriveCount');
SELECT sf_aws_api('StartExecution', jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:self'))) ->>
	'executionArn' AS async \gset
SELECT is(sf_run('self:' || split_part(:'async', ':', 9)), 'SUCCEEDED', '... and an asynchronous one');
SELECT is((SELECT output -> 'RedriveCount' FROM sf_executions WHERE execution_id = 'self:' || split_part(:'async', ':',
			9)), '0', '... has it');
SELECT is(pg_temp.refusal('StartSyncExecution', jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:fast'),
			'name', 'a?')), 'InvalidName: Invalid Name: ''a?''', '... a bad name is refused');
SELECT is(pg_temp.refusal('ListExecutions', jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:fast'))),
	'StateMachineTypeNotSupported: This operation is not supported by this type of state machine',
	'... whose executions are not listed');
SELECT is(sf_aws_api('ValidateStateMachineDefinition', jsonb_build_object('type', type, 'definition', '{"StartAt":"A",
			"States":{"A":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken","Parameters":{},
			"End":true}}}')),
	answer::jsonb, 'ValidateStateMachineDefinition as ' || type)
FROM (VALUES ('STANDARD', '{"result": "OK", "diagnostics": [], "truncated": false}'),
	('EXPRESS', '{"result": "FAIL", "diagnostics": [{"severity": "ERROR", "code": "SCHEMA_VALIDATION_FAILED",
	"message": "Express state machine does not support ''.waitForTaskToken'' service integration ",
		"location": "/States/A/Resource"}], "truncated": false}')) v(type, answer);
SELECT is(pg_temp.refusal('StartSyncExecution', jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:fan'))),
	'StateMachineTypeNotSupported: This operation is not supported by this type of state machine',
	'... of a machine of type EXPRESS alone');
SELECT is(pg_temp.refusal('CreateStateMachine', jsonb_build_object('name', 'outside', 'type', 'EXPRESS', 'roleArn',
			'arn:aws:iam::000000000000:role/r', 'definition',
	format('{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"%s","Parameters":{},"End":true}}}', resource))),
	format('InvalidDefinition: Invalid State Machine Definition: ''SCHEMA_VALIDATION_FAILED: Express state machine '
		'does not support %s at /States/A/Resource''', what), 'EXPRESS and ' || resource)
FROM (VALUES ('activity:never', 'Activity ARN'), ('arn:aws:states:::states:startExecution.sync:2',
		'''.sync'' service integration'),
	('arn:aws:states:::lambda:invoke.waitForTaskToken', '''.waitForTaskToken'' service integration ')) v(resource,
	what);
SELECT is(jsonb_path_query_first(sf_aws_api('ValidateStateMachineDefinition', jsonb_build_object('type', 'EXPRESS',
			'definition',
	replace(format('{"StartAt":"S","States":{"S":%s}}', state), '@', '{"Type":"Task","Resource":"activity:never"}'))),
	'$.diagnostics[*] ? (@.message starts with "Express").location') #>> '{}', place,
	'EXPRESS and a task at ' || coalesce(place, 'no place')) FROM (VALUES
	('{"Type":"Parallel","Branches":[{"StartAt":"A","States":{"A":{"Type":"Succeed"}}},{"StartAt":"A",
		"States":{"A":@}}],"End":true}', '/States/S/Branches[1]/States/A/Resource'),
	('{"Type":"Map","ItemProcessor":{"StartAt":"A","States":{"A":@}},"End":true}',
		'/States/S/ItemProcessor/States/A/Resource'),
	('{"Type":"Map","Iterator":{"StartAt":"A","States":{"A":@}},"End":true}', '/States/S/Iterator/States/A/Resource'),
	('{"Type":"JobNet","Jobs":{"J":@},"End":true}', '/States/S/Jobs/J/Resource'),
	('{"Type":"JobNet","Jobs":{"J":{"StartAt":"A","States":{"A":@}}},"End":true}',
		'/States/S/Jobs/J/States/A/Resource'),
	('{"Type":"Task","Resource":"sql:public.f",
		"Parameters":{"Statement":[{"Resource":"arn:aws:states:us-east-1:1:activity:a"}],"States":{"A":@}},"End":true}',
		NULL),
	('{"Type":"Pass","Result":@,"End":true}', NULL)) v(state, place);
SELECT is(sf_aws_api('CreateStateMachine', jsonb_build_object('name', 'policy', 'type', 'EXPRESS', 'roleArn',
			'arn:aws:iam::000000000000:role/r', 'definition',
	'{"StartAt":"P","States":{"P":{"Type":"Pass","Parameters":{"Effect":"Allow",
		"Resource":"arn:aws:states:us-east-1:1:activity:*"},"End":true}}}')) - 'creationDate',
	jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:policy')), '... a payload may name an activity');
SELECT sf_create_activity('never'), sf_create_state_machine('outside', '{"StartAt":"A","States":{"A":{"Type":"Task",
	"Resource":"activity:never","End":true}}}',
	options => '{"aws": {"type": "EXPRESS"}}') \g /dev/null
SELECT is(sf_aws_api('StartSyncExecution', jsonb_build_object('stateMachineArn', pg_temp.arn('stateMachine:outside'),
			'name', 'a')) ->> 'status', 'TIMED_OUT', '... one that waits for a program outside ends');

-- --- the items of children that are aborted with their parent

SELECT sf_create_state_machine('batches',
	'{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemBatcher": {"MaxItemsPerBatch": 2},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "W",
		"States": {"W": {"Type": "Wait", "Seconds": 1000, "End": true}}}}}}') \g /dev/null
SELECT sf_start('batches', '[1, 2, 3, 4, 5]', 's'), sf_run('batches:s') \g /dev/null
CREATE FUNCTION pg_temp.batches(OUT executions integer, OUT running integer, OUT aborted integer,
	OUT items_failed integer) LANGUAGE sql AS $$
	SELECT r.executions, r.running, r.aborted, r.items_failed FROM sf_map_runs r WHERE r.execution_id = 'batches:s' $$;
SELECT results_eq('SELECT * FROM pg_temp.batches()', 'VALUES (3, 3, 0, 0)', 'three batches run');
SELECT sf_stop('batches:s') \g /dev/null
SELECT results_eq('SELECT * FROM pg_temp.batches()', 'VALUES (3, 0, 3, 5)',
	'the items of aborted children count as not succeeded');
SELECT is(sf_aws_api('DescribeMapRun', jsonb_build_object('mapRunArn', (SELECT r.map_run_arn
	FROM sf_map_runs r WHERE r.execution_id = 'batches:s'))) #> '{itemCounts}',
	'{"pending": 0, "running": 0, "succeeded": 0, "failed": 5, "timedOut": 0, "aborted": 0, "total": 5,
	"resultsWritten": 0, "failuresNotRedrivable": 0, "pendingRedrive": 0}',
	'... and none of them runs');
SELECT sf_redrive('batches:s') \g /dev/null
SELECT results_eq('SELECT * FROM pg_temp.batches()', 'VALUES (3, 3, 0, 0)', '... a redrive takes them back');
SELECT is((SELECT count(*) FROM sf_check()), 0::bigint, '... and nothing contradicts itself');

SELECT * FROM finish();
ROLLBACK;
