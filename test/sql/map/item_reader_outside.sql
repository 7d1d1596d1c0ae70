-- ItemReader: a program outside the database reads the items, as one reads Parquet.
\set VERBOSITY terse
SET client_min_messages = error;
BEGIN;
SELECT sf_create_activity('items', '1 minute', 2);

-- A machine with one Map that reads Parquet, of which further fields are given.
CREATE FUNCTION pg_temp.make(name text, config jsonb DEFAULT '{}', fields jsonb DEFAULT '{}') RETURNS void
	LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, json_build_object('StartAt', 'Map', 'States', json_build_object('Map',
		jsonb_build_object('Type', 'Map', 'End', true,
			'ItemReader', jsonb_build_object('Resource', 'arn:aws:states:::s3:getObject', 'Parameters',
				 '{"Bucket": "b", "Key.$": "$.key"}'::jsonb,
				'ReaderConfig', jsonb '{"InputType": "PARQUET"}' || config),
			'ItemProcessor', jsonb '{"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
				"StartAt": "Each", "States": {"Each": {"Type": "Pass", "End": true}}}') || fields)))
$$;

-- Begin an execution and take the task of its reader.
CREATE FUNCTION pg_temp.take(machine text, id text, OUT token text, OUT input jsonb, OUT resource text)
	LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_start(machine, '{"key": "k"}', id);
	PERFORM sf_run(machine || ':' || id);
	SELECT t.task_token, t.input, t.resource INTO take.token, take.input, take.resource
		FROM sf_get_activity_task('items') t;
END $$;

-- How an execution ended, after it has gone on.
CREATE FUNCTION pg_temp.outcome(id text, OUT status text, OUT output jsonb, OUT error text, OUT cause text)
	LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_run(id, skip_waits => true);
	SELECT e.status, e.output, e.error, e.cause INTO outcome.status, outcome.output, outcome.error, outcome.cause
	FROM sf_executions e WHERE e.execution_id = id;
END $$;

-- Nothing is mapped, or not what reads Parquet: the validator says so, and the state fails.
SELECT severity, message FROM sf_validate('{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
	"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key": "k"},
		"ReaderConfig": {"InputType": "PARQUET"}},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P",
		"States": {"P": {"Type": "Pass", "End": true}}}}}}');
SELECT * FROM sf_missing_resources('{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
	"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key": "k"},
		"ReaderConfig": {"InputType": "PARQUET"}},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P",
		"States": {"P": {"Type": "Pass", "End": true}}}}}}');
SELECT pg_temp.make('m');
SELECT sf_start('m', '{"key": "k"}', 'unmapped');
SELECT * FROM pg_temp.outcome('m:unmapped');
CREATE FUNCTION public.dm_text(payload jsonb) RETURNS text LANGUAGE sql RETURN 'PAR1';
SELECT sf_map_resource('arn:aws:states:::s3:getObject', 'sql:public.dm_text');
SELECT sf_start('m', '{"key": "k"}', 'text');
SELECT * FROM pg_temp.outcome('m:text');

-- Mapped by type: other types are read as before.
SELECT sf_map_resource('arn:aws:states:::s3:getObject#PARQUET', 'activity:items');
SELECT * FROM sf_validate((SELECT definition::text FROM sf_state_machines WHERE state_machine = 'm'));

-- The program is given the reader, sends items in parts, and answers with their number.
SELECT token, input, resource FROM pg_temp.take('m', 'parts') \gset
SELECT :'input' AS input, :'resource' AS resource;
SELECT sf_send_task_items(:'token', '[{"a": 1}, {"a": 2}, {"a": 3}]');
SELECT sf_send_task_items(:'token', '[{"a": 4}]', 3);
SELECT items FROM sf_map_runs WHERE execution_id = 'm:parts';
-- ... a part again, a part that leaves a gap, what is no array
SELECT sf_send_task_items(:'token', '[{"a": "three"}, {"a": "four"}]', 2);
SAVEPOINT s;
SELECT sf_send_task_items(:'token', '[5]', 5);
ROLLBACK TO s;
SELECT sf_send_task_items(:'token', '{"a": 5}', 4);
ROLLBACK TO s;
SELECT sf_send_task_items(:'token', '[5]', -1);
ROLLBACK TO s;
SELECT sf_send_task_success(:'token', '4');
SELECT sf_send_task_items(:'token', '[5]', 4);
ROLLBACK TO s;
SELECT sf_send_task_success(:'token', '4');
SELECT * FROM pg_temp.outcome('m:parts');
SELECT type FROM sf_history WHERE execution_id = 'm:parts' ORDER BY id;

-- Few items may be the answer.
SELECT token FROM pg_temp.take('m', 'few') \gset
SELECT sf_send_task_items(:'token', '[0, 0, 0]');
SELECT sf_send_task_success(:'token', '[1, 2]');
SELECT status, output FROM pg_temp.outcome('m:few');
SELECT token FROM pg_temp.take('m', 'none') \gset
SELECT sf_send_task_success(:'token', '0');
SELECT status, output FROM pg_temp.outcome('m:none');

-- Another number than that of the items, another answer, a failure with and without a cause.
SELECT token FROM pg_temp.take('m', 'fewer') \gset
SELECT sf_send_task_items(:'token', '[1]');
SELECT sf_send_task_success(:'token', '2');
SELECT * FROM pg_temp.outcome('m:fewer');
SELECT token FROM pg_temp.take('m', 'other') \gset
SELECT sf_send_task_success(:'token', '{"Body": "PAR1"}');
SELECT * FROM pg_temp.outcome('m:other');
SELECT token FROM pg_temp.take('m', 'bad') \gset
SELECT sf_send_task_items(:'token', '[1]');
SELECT sf_send_task_failure(:'token', 'Any.Error', 'no magic number');
SELECT * FROM pg_temp.outcome('m:bad');
SELECT type, details FROM sf_history WHERE execution_id = 'm:bad' AND type LIKE '%Failed' ORDER BY id;
SELECT token FROM pg_temp.take('m', 'nameless') \gset
SELECT sf_send_task_failure(:'token', 'Any.Error');
SELECT error, cause FROM pg_temp.outcome('m:nameless');

-- Redriven, it reads again, and what was sent before is gone.
SELECT sf_redrive('m:bad');
SELECT sf_run('m:bad');
SELECT task_token AS token FROM sf_get_activity_task('items') \gset
SELECT sf_send_task_items(:'token', '["again"]');
SELECT sf_send_task_success(:'token', '1');
SELECT * FROM pg_temp.outcome('m:bad');

-- MaxItems: the program is told that they are enough; those beyond are dropped.
SELECT pg_temp.make('max', '{"MaxItems": 3}', '{"ItemBatcher": {"MaxItemsPerBatch": 2},
	"ItemSelector": {"i.$": "$$.Map.Item.Value"}}');
SELECT token, input FROM pg_temp.take('max', 'x') \gset
SELECT :'input' AS input;
SELECT sf_send_task_items(:'token', '[1, 2]'), sf_send_task_items(:'token', '[3, 4]', 2), sf_send_task_items(:'token',
	'[5]', 3);
SELECT sf_send_task_success(:'token', '3');
SELECT * FROM pg_temp.outcome('max:x');
SELECT pg_temp.make('path', '{"MaxItemsPath": "$.n", "CSVHeaders": ["a"]}');
SELECT sf_start('path', '{"key": "k", "n": 1}', 'x');
SELECT sf_run('path:x');
SELECT task_token AS token, input FROM sf_get_activity_task('items') \gset
SELECT :'input' AS input;
SELECT sf_send_task_success(:'token', '[1, 2]');
SELECT status, output FROM pg_temp.outcome('path:x');

-- A retry reads anew.
SELECT pg_temp.make('retry', '{}', '{"Retry": [{"ErrorEquals": ["States.ItemReaderFailed"], "IntervalSeconds": 1,
	"MaxAttempts": 1}]}');
SELECT token FROM pg_temp.take('retry', 'x') \gset
SELECT sf_send_task_items(:'token', '[1, 2, 3]');
SELECT sf_send_task_failure(:'token', 'E', 'once');
SELECT sf_run('retry:x', skip_waits => true);
SELECT task_token AS token, attempt FROM sf_get_activity_task('items') \gset
SELECT sf_send_task_items(:'token', '[7]');
SELECT sf_send_task_success(:'token', '1');
SELECT * FROM pg_temp.outcome('retry:x');

-- Stopped while the program reads: its token is good for nothing.
SELECT token FROM pg_temp.take('m', 'stopped') \gset
SELECT sf_stop('m:stopped');
SAVEPOINT s;
SELECT sf_send_task_items(:'token', '[1]');
ROLLBACK TO s;
SELECT status, (SELECT r.status FROM sf_map_runs r WHERE r.execution_id = e.execution_id) AS run FROM sf_executions e
	WHERE execution_id = 'm:stopped';

-- A branch beside it fails: so is it then.
SELECT sf_create_state_machine('beside', json_build_object('StartAt', 'Both', 'States', json_build_object('Both',
	json_build_object(
	'Type', 'Parallel', 'End', true, 'Catch', '[{"ErrorEquals": ["States.ALL"], "Next": "Wait"}]'::json, 'Branches',
		json_build_array(definition,
	'{"StartAt": "Task", "States": {"Task": {"Type": "Task", "Resource": "activity:items", "End": true}}}'::json)),
	'Wait', '{"Type": "Wait", "Seconds": 60, "End": true}'::json)))
FROM sf_state_machines WHERE state_machine = 'm';
SELECT sf_start('beside', '{"key": "k"}', 'x');
SELECT sf_run('beside:x');
SELECT min(task_token) FILTER (WHERE state = 'Map') AS token, min(task_token) FILTER (WHERE state = 'Task') AS other
FROM sf_get_activity_task('items', max_tasks => 2) \gset
SELECT sf_send_task_failure(:'other', 'No');
SELECT sf_run('beside:x');
SELECT status, (SELECT r.status FROM sf_map_runs r WHERE r.execution_id = e.execution_id) AS run FROM sf_executions e
	WHERE execution_id = 'beside:x';
SELECT sf_send_task_items(:'token', '[1]');
ROLLBACK TO s;

-- The token of another task takes no items.
SELECT sf_create_state_machine('task', '{"StartAt": "T",
	"States": {"T": {"Type": "Task", "Resource": "activity:items", "End": true}}}');
SELECT token FROM pg_temp.take('task', 'x') \gset
SAVEPOINT s;
SELECT sf_send_task_items(:'token', '[1]');
ROLLBACK TO s;

-- The activity may stand in the ItemReader itself; it writes no results.
SELECT sf_create_state_machine('direct', jsonb_set(definition::jsonb, '{States,Map,ItemReader}',
	'{"Resource": "activity:items"}')::json)
FROM sf_state_machines WHERE state_machine = 'm';
SELECT token, input FROM pg_temp.take('direct', 'x') \gset
SELECT :'input' AS input;
SELECT sf_send_task_success(:'token', '[1]');
SELECT status, output FROM pg_temp.outcome('direct:x');
SELECT severity, location, message FROM sf_validate((SELECT jsonb_set(definition::jsonb, '{States,Map,ResultWriter}',
	'{"Resource": "activity:items"}')::text
	FROM sf_state_machines WHERE state_machine = 'direct'));

-- An activity that is not there.
SELECT sf_map_resource('arn:aws:states:::s3:getObject#PARQUET', 'activity:gone');
SELECT sf_start('m', '{"key": "k"}', 'gone');
SELECT * FROM pg_temp.outcome('m:gone');
ROLLBACK;
