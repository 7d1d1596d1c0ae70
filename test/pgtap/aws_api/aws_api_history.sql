-- sf_aws_api: GetExecutionHistory of each type of state. test/t/aws_api/218_aws_api_model.pl compares the details of
-- the events with the model of the service.
BEGIN;
SELECT plan(16);
SET client_min_messages = error;

SELECT current_schema AS schema \gset
CREATE FUNCTION history_echo(payload jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT payload $$;
CREATE FUNCTION history_fail(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
SELECT sf_map_resource('arn:aws:lambda:us-east-1:000000000000:function:echo', format('sql:%s.history_echo', :'schema')),
	sf_map_resource('arn:aws:lambda:us-east-1:000000000000:function:fail', format('sql:%s.history_fail', :'schema'))
	\g /dev/null
SELECT sf_create_activity('history') \g /dev/null

-- Make a machine of states, run it to its end, and give the types of its events.
CREATE FUNCTION pg_temp.types(machine text, states text, input jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	arn text := 'arn:aws:states:us-east-1:000000000000:';
BEGIN
	PERFORM sf_aws_api('CreateStateMachine', jsonb_build_object('name', machine, 'roleArn',
			'arn:aws:iam::000000000000:role/r',
		'definition', format('{"StartAt": "A", "States": {%s}}', states)));
	PERFORM sf_aws_api('StartExecution', jsonb_build_object('stateMachineArn', arn || 'stateMachine:' || machine,
			'name', 'x', 'input', input::text));
	FOR turn IN 1 .. 5 LOOP
		PERFORM sf_run(execution_id) FROM sf_executions WHERE status = 'RUNNING' AND execution_id LIKE machine || '%';
	END LOOP;
	RETURN (SELECT string_agg(event ->> 'type', ' ' ORDER BY (event ->> 'id')::integer) FROM jsonb_array_elements(
		sf_aws_api('GetExecutionHistory', jsonb_build_object('executionArn', arn || 'execution:' || machine || ':x')) ->
		'events') event);
END $$;

SELECT is(pg_temp.types('pass', '"A": {"Type": "Pass", "Assign": {"v": 1}, "Next": "B"}, "B": {"Type": "Succeed"}'),
	'ExecutionStarted PassStateEntered PassStateExited SucceedStateEntered SucceedStateExited ExecutionSucceeded',
	'Pass and Succeed');
SELECT is(pg_temp.types('fail', '"A": {"Type": "Fail", "Error": "E", "Cause": "C"}'),
	'ExecutionStarted FailStateEntered ExecutionFailed', 'Fail');
SELECT is(pg_temp.types('wait', '"A": {"Type": "Wait", "Seconds": 0, "Next": "B"}, "B": {"Type": "Choice", "Choices": '
		'[{"Variable": "$.a", "IsPresent": true, "Next": "C"}], "Default": "C"}, "C": {"Type": "Succeed"}'),
	'ExecutionStarted WaitStateEntered WaitStateExited ChoiceStateEntered ChoiceStateExited SucceedStateEntered '
	'SucceedStateExited ExecutionSucceeded', 'Wait and Choice');
SELECT is(pg_temp.types('lambda',
		'"A": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:echo", "TimeoutSeconds": 9, '
		'"Next": "B"},
	"B": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:fail", "Catch": [{"ErrorEquals": '
	'["States.ALL"], "Next": "C"}], "End": true}, "C": {"Type": "Succeed"}'),
	'ExecutionStarted TaskStateEntered LambdaFunctionScheduled LambdaFunctionStarted LambdaFunctionSucceeded '
	'TaskStateExited TaskStateEntered LambdaFunctionScheduled LambdaFunctionStarted LambdaFunctionFailed '
	'TaskStateExited SucceedStateEntered SucceedStateExited ExecutionSucceeded',
	'Lambda functions');
SELECT is(pg_temp.types('task', format('"A": {"Type": "Task", "Resource": "sql:%1$s.history_echo", "HeartbeatSeconds": '
			'5, "TimeoutSeconds": 9, "Next": "B"},
	"B": {"Type": "Task", "Resource": "sql:%1$s.history_fail", "Retry": [{"ErrorEquals": ["States.ALL"], '
	'"IntervalSeconds": 600, "MaxAttempts": 1}], "End": true}', :'schema')),
	'ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSucceeded TaskStateExited TaskStateEntered '
	'TaskScheduled TaskStarted TaskFailed', 'Tasks');
SELECT is(pg_temp.types('parallel', format('"A": {"Type": "Parallel", "Branches": [{"StartAt": "X", "States": {"X": '
			'{"Type": "Pass", "End": true}}}, {"StartAt": "Y", "States": {"Y": {"Type": "Task",
			"Resource": "sql:%s.history_fail", "End": true}}}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "B"}],
			"End": true},
	"B": {"Type": "Parallel", "Branches": [{"StartAt": "Z", "States": {"Z": {"Type": "Pass", "End": true}}}], "End": '
	'true}', :'schema')), 'ExecutionStarted ParallelStateEntered ParallelStateStarted PassStateEntered PassStateExited '
	'TaskStateEntered TaskScheduled TaskStarted TaskFailed TaskStateAborted ParallelStateFailed ParallelStateExited '
	'ParallelStateEntered ParallelStateStarted PassStateEntered PassStateExited ParallelStateSucceeded '
	'ParallelStateExited ExecutionSucceeded', 'Parallel');
SELECT is(pg_temp.types('map', format('"A": {"Type": "Map", "MaxConcurrency": 1, "ItemProcessor": {"StartAt": "X", '
			'"States": {"X": {"Type": "Pass", "End": true}}}, "Next": "B"},
	"B": {"Type": "Map", "MaxConcurrency": 1, "ItemProcessor": {"StartAt": "Y", "States": {"Y": {"Type": "Task", '
	'"Resource": "sql:%s.history_fail", "End": true}}}, "End": true}', :'schema'), '[1, 2]'),
	'ExecutionStarted MapStateEntered MapStateStarted MapIterationStarted PassStateEntered PassStateExited '
	'MapIterationSucceeded MapIterationStarted PassStateEntered PassStateExited MapIterationSucceeded '
	'MapStateSucceeded MapStateExited MapStateEntered MapStateStarted MapIterationStarted TaskStateEntered '
	'TaskScheduled TaskStarted TaskFailed MapIterationFailed TaskStateAborted MapStateFailed ExecutionFailed', 'Map');
SELECT is(pg_temp.types('distributed',
		format('"A": {"Type": "Map", "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": '
			'"STANDARD"}, "StartAt": "X", "States": {"X": {"Type": "Pass", "End": true}}}, "Next": "B"},
	"B": {"Type": "Map", "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, '
	'"StartAt": "Y", "States": {"Y": {"Type": "Task", "Resource": "sql:%s.history_fail", "End": true}}}, "End": true}',
	:'schema'), '[1]'), 'ExecutionStarted MapStateEntered MapStateStarted MapRunStarted MapRunSucceeded '
	'MapStateSucceeded MapStateExited MapStateEntered MapStateStarted MapRunStarted MapRunFailed MapStateFailed '
	'ExecutionFailed', 'Distributed Map');
SELECT is(pg_temp.types('jsonata', '"A": {"Type": "Pass", "QueryLanguage": "JSONata", "Output": "{% $no.such %}", '
		'"End": true}'), 'ExecutionStarted PassStateEntered EvaluationFailed ExecutionFailed',
	'an expression that fails');
SELECT is(pg_temp.types('child', '"A": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", '
		'"Parameters": {"StateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:pass", "Name": '
		'"child"}, "End": true}'), 'ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSubmitted',
	'a child execution');
SELECT is(pg_temp.types('activity',
		'"A": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:000000000000:activity:history", "TimeoutSeconds": '
		'60, "HeartbeatSeconds": 30, "End": true}'), 'ExecutionStarted TaskStateEntered ActivityScheduled',
	'an activity that waits');
SELECT sf_aws_api('GetActivityTask', '{"activityArn": "arn:aws:states:us-east-1:000000000000:activity:history",
	"workerName": "w"}') AS task \gset
SELECT sf_aws_api('SendTaskFailure', jsonb_build_object('taskToken', :'task'::jsonb -> 'taskToken', 'error', 'E',
		'cause', 'C')) \g /dev/null
SELECT sf_run('activity:x') \g /dev/null
SELECT is(jsonb_path_query_array(sf_aws_api('GetExecutionHistory',
			'{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:activity:x", "reverseOrder": true}'),
		'$.events[0 to 2].type'),
	'["ExecutionFailed", "ActivityFailed", "ActivityStarted"]', '... and is answered');
SELECT sf_aws_api('RedriveExecution', '{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:activity:x"}'),
	sf_aws_api('StopExecution', '{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:activity:x",
		"error": "E"}') \g /dev/null
SELECT is(jsonb_path_query_array(sf_aws_api('GetExecutionHistory',
			'{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:activity:x", "reverseOrder": true}'),
		'$.events[0 to 1]') #- '{0,timestamp}' #- '{1,timestamp}',
	'[{"id": 8, "type": "ExecutionAborted", "previousEventId": 0, "executionAbortedEventDetails": {"error": "E"}},
		{"id": 7, "type": "ExecutionRedriven", "previousEventId": 6,
		"executionRedrivenEventDetails": {"redriveCount": 1}}]', '... redriven, and stopped');

-- --- without payloads

SELECT is(jsonb_path_query_array(sf_aws_api('GetExecutionHistory',
			'{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:pass:x",
			"includeExecutionData": false}'), '$.events[1, 2]') #- '{0,timestamp}' #- '{1,timestamp}',
	'[{"id": 2, "type": "PassStateEntered", "previousEventId": 0, "stateEnteredEventDetails": {"name": "A",
	"inputDetails": {"truncated": false}}}, {"id": 3, "type": "PassStateExited", "previousEventId": 2,
	"stateExitedEventDetails": {"name": "A", "outputDetails": {"truncated": false}, "assignedVariables": {"v": "1"},
	"assignedVariablesDetails": {"truncated": false}}}]', 'includeExecutionData');
SELECT is(sf_aws_api('GetExecutionHistory',
		'{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:pass:x"}') #> '{events,2}' #- '{timestamp}',
	'{"id": 3, "type": "PassStateExited", "previousEventId": 2, "stateExitedEventDetails": {"name": "A", "output": "{}",
	"outputDetails": {"truncated": false}, "assignedVariables": {"v": "1"},
	"assignedVariablesDetails": {"truncated": false}}}', '... and with them');
SELECT is(jsonb_array_length(sf_aws_api('GetExecutionHistory',
			'{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:pass:x", "maxResults": 0}') -> 'events'),
	6, '... 0 is as many as there may be');

SELECT * FROM finish();
ROLLBACK;
