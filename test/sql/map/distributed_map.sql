-- Map in mode DISTRIBUTED: each item, or batch of items, is an execution of its own.
\set VERBOSITY terse
SET client_min_messages = warning;
BEGIN;
\getenv abs_srcdir PG_ABS_SRCDIR
\set phases :abs_srcdir '/fixtures/phases.sql'
\set ECHO none
\i :phases
\set ECHO all

-- A machine with one Map state, of which the fields are given.
CREATE FUNCTION pg_temp.make(name text, fields jsonb, states jsonb DEFAULT '{"Each": {"Type": "Pass", "End": true}}')
RETURNS void LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, json_build_object('StartAt', 'Map', 'States', json_build_object('Map',
		jsonb_build_object('Type', 'Map', 'End', true, 'ItemProcessor', jsonb_build_object(
			'ProcessorConfig', '{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}'::jsonb,
			'StartAt', (SELECT min(k) FROM jsonb_object_keys(states) k), 'States', states)) || fields)))
$$;

-- Run it with an input: how it ended, and what it gave.
CREATE FUNCTION pg_temp.run(machine text, input jsonb DEFAULT '{}', OUT status text, OUT output jsonb, OUT error text,
	OUT cause text)
LANGUAGE plpgsql AS $$
DECLARE id text := sf_start(machine, input);
BEGIN
	PERFORM sf_run(id, skip_waits => true);
	SELECT e.status, e.output, e.error, e.cause INTO run.status, run.output, run.error, run.cause
	FROM sf_executions e WHERE e.execution_id = id;
END $$;

-- Names of this run only.
CREATE FUNCTION pg_temp.plain(text) RETURNS text LANGUAGE sql
	RETURN regexp_replace($1, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'UUID', 'g');

-- The parent's history tells of the run, not of its children: those have their own.
SELECT pg_temp.make('each', '{"Label": "Label"}');
SELECT sf_start('each', '["a", "b"]', 'first');
SELECT sf_run('each:first');
SELECT id, previous_event_id AS previous, type, pg_temp.plain(details::text) AS details
FROM sf_history WHERE execution_id = 'each:first' AND type NOT LIKE 'Execution%' ORDER BY id;
SELECT pg_temp.plain(execution_id) AS execution_id, status, input, output, parent_execution_id
FROM sf_executions ORDER BY input::text;
SELECT h.id, h.type FROM sf_history h JOIN sf_executions e USING (execution_id)
WHERE e.input = '"a"' ORDER BY id;
SELECT pg_temp.plain(map_run_arn) AS map_run_arn, state, status, items, items_succeeded, executions, running, succeeded
FROM sf_map_runs;
SELECT output FROM pg_temp.run('each', '[]');
-- Nor does the picture of one say what the other did.
SELECT line FROM sf_executions e, regexp_split_to_table(sf_graph(e.execution_id), '\n') AS line
WHERE (e.execution_id = 'each:first' OR e.input = '"a"') AND line ~ 'class.*s[01]'
	ORDER BY e.execution_id <> 'each:first', line;
SELECT (regexp_match(sf_graph('each:first', 'svg'), '>([^<]* iterations[^<]*)<'))[1] AS iterations;

-- Fields over the state's input; ItemSelector sees item and index.
SELECT pg_temp.make('select', '{"ItemsPath": "$.items", "MaxConcurrency": 2,
	"ItemSelector": {"item.$": "$$.Map.Item.Value", "index.$": "$$.Map.Item.Index", "all.$": "$.all"}}');
SELECT output FROM pg_temp.run('select', '{"items": [7, 8, 9], "all": true}');

-- Children are executions in their own right.
SELECT pg_temp.make('context', '{}',
	'{"Each": {"Type": "Pass", "Parameters": {"id.$": "$$.Execution.Id", "input.$": "$$.Execution.Input"},
		"End": true}}');
SELECT pg_temp.plain(output::text) FROM pg_temp.run('context', '[1]');

-- ItemBatcher: by number, by bytes, with an input for all of them.
SELECT pg_temp.make('batch', '{"ItemBatcher": {"MaxItemsPerBatchPath": "$$.Execution.Input.n", "BatchInput": {"x": 1}},
	"ItemsPath": "$.items"}');
SELECT output FROM pg_temp.run('batch', '{"n": "2", "items": [1, 2, 3]}');
SELECT pg_temp.make('bytes', '{"ItemBatcher": {"MaxInputBytesPerBatch": 60}}');
SELECT output FROM pg_temp.run('bytes', '["0123456789", "0123456789", "0123456789",
	"a long one, 0123456789 0123456789 0123456789 0123456789 01234567"]');
SELECT pg_temp.make('bytes_path', '{"ItemBatcher": {"MaxInputBytesPerBatchPath": "$.bytes"}, "ItemsPath": "$.items"}');
SELECT jsonb_array_length(output) AS batches
	FROM pg_temp.run('bytes_path', '{"bytes": 60, "items": ["0123456789", "0123456789", "0123456789"]}');
SELECT jsonb_array_length(output) AS batches
	FROM pg_temp.run('bytes_path', '{"bytes": 600, "items": ["0123456789", "0123456789", "0123456789"]}');

-- The same in JSONata.
SELECT sf_create_state_machine('jsonata', '{"QueryLanguage": "JSONata", "StartAt": "Map",
	"States": {"Map": {"Type": "Map", "End": true,
	"Items": "{% $states.input.items %}", "MaxConcurrency": "{% 1 + 1 %}",
	"ItemSelector": {"v": "{% $states.context.Map.Item.Value %}", "i": "{% $states.context.Map.Item.Index %}"},
	"ItemBatcher": {"MaxItemsPerBatch": "{% 2 %}", "BatchInput": {"z": "{% $states.input.z %}"}},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Each",
		"States": {
		"Each": {"Type": "Pass", "Output": "{% $merge([$states.input.Items[-1], $states.input.BatchInput]) %}",
			"End": true}}},
	"Output": {"last": "{% $states.result %}"}}}}');
SELECT output FROM pg_temp.run('jsonata', '{"items": ["a", "b", "c"], "z": 1}');

-- How many failures are tolerated; the others are aborted once it is too many.
CREATE FUNCTION public.dm_odd(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF n % 2 = 0 THEN PERFORM sf_raise('Even', n || ' is even'); END IF;
	RETURN n;
END $$;
CREATE FUNCTION pg_temp.odd() RETURNS jsonb LANGUAGE sql
	RETURN '{"Odd": {"Type": "Task", "Resource": "sql:public.dm_odd", "Parameters": {"n.$": "$"}, "End": true}}'::jsonb;
SELECT pg_temp.make('strict', '{"MaxConcurrency": 1}', pg_temp.odd());
SELECT status, error, cause FROM pg_temp.run('strict', '[1, 3, 4, 5]');
SELECT id, previous_event_id AS previous, type FROM sf_history JOIN sf_executions USING (execution_id)
WHERE state_machine = 'strict' AND parent_execution_id IS NULL ORDER BY id;
SELECT status, items, items_succeeded, items_failed, executions, succeeded, failed, aborted FROM sf_map_runs
	WHERE execution_id LIKE 'strict:%';
SELECT pg_temp.make('tolerant', '{"ToleratedFailureCountPath": "$.count",
	"ToleratedFailurePercentagePath": "$.percentage", "ItemsPath": "$.items"}',
	pg_temp.odd());
SELECT r.* FROM jsonb_array_elements('[
	{"count": 1, "percentage": 0, "items": [1, 2, 3, 4]}, {"count": 2, "percentage": 0, "items": [1, 2, 3, 4]},
	{"count": 0, "percentage": 50, "items": [1, 2, 3, 4]}, {"count": 0, "percentage": 49, "items": [1, 2, 3, 4]},
	{"count": 3, "percentage": 49, "items": [1, 2, 3, 4]}, {"count": 1, "percentage": 99, "items": [1, 2, 3, 4]}]') i,
		pg_temp.run('tolerant', i) r;

-- An item that cannot be made an input fails the run; a batch that fails counts all its items.
SELECT pg_temp.make('selector', '{"ItemSelector": {"a.$": "$$.Map.Item.Value.a"}}');
SELECT error, pg_temp.plain(cause) FROM pg_temp.run('selector', '[{"a": 1}, {"b": 1}]');
SELECT pg_temp.make('batches', '{"ItemBatcher": {"MaxItemsPerBatch": 3}, "ToleratedFailureCount": 2}',
	'{"Fail": {"Type": "Fail", "Error": "No"}}');
SELECT status, error FROM pg_temp.run('batches', '[1, 2, 3, 4]');
SELECT status, error FROM pg_temp.run('batches', '[1, 2]');

-- An error of the run is retried and caught as any other: each attempt is a run.
SELECT sf_create_state_machine('caught', '{"StartAt": "Map", "States": {
	"Map": {"Type": "Map", "ItemsPath": "$.items", "Next": "After",
		"Retry": [{"ErrorEquals": ["States.ExceedToleratedFailureThreshold"], "MaxAttempts": 1}],
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "After", "ResultPath": "$.error"}],
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
			"StartAt": "Fail", "States": {"Fail": {"Type": "Fail", "Error": "No"}}}},
	"After": {"Type": "Succeed"}}}');
SELECT * FROM pg_temp.run('caught', '{"items": [1]}');
SELECT type, pg_temp.plain(details::text) FROM sf_history WHERE execution_id LIKE 'caught:%' AND type LIKE 'Map%'
	ORDER BY id;
SELECT status, count(*) FROM sf_map_runs WHERE execution_id LIKE 'caught:%' GROUP BY 1;

-- A redrive runs what failed and what was not begun; what succeeded stays.
CREATE TABLE public.dm_done (n int);
CREATE TABLE public.dm_bad (n int);
CREATE FUNCTION public.dm_once(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM dm_bad b WHERE b.n = dm_once.n) THEN PERFORM sf_raise('Bad'); END IF;
	INSERT INTO dm_done VALUES (n);
	RETURN n;
END $$;
INSERT INTO dm_bad VALUES (3);
SELECT pg_temp.make('redriven', '{"MaxConcurrency": 2}',
	'{"Once": {"Type": "Task", "Resource": "sql:public.dm_once", "Parameters": {"n.$": "$"}, "End": true}}');
SELECT sf_start('redriven', '[1, 2, 3, 4, 5, 6]', 'r');
SELECT sf_run('redriven:r');
SELECT items_succeeded, items_failed, executions, succeeded, failed, aborted FROM sf_map_runs
	WHERE execution_id = 'redriven:r';
SELECT problem, detail FROM sf_check();
TRUNCATE dm_bad;
SELECT sf_redrive('redriven:r');
SELECT sf_run('redriven:r');
SELECT output FROM sf_executions WHERE execution_id = 'redriven:r';
SELECT array_agg(n ORDER BY n) FROM dm_done;
SELECT status, items_succeeded, items_failed, executions, succeeded, failed, aborted, redrive_count FROM sf_map_runs
	WHERE execution_id = 'redriven:r';
SELECT type FROM sf_history WHERE execution_id = 'redriven:r' AND type LIKE '%Re%' ORDER BY id;

-- The jobs of a child are those of the Map's processor, those of the parent the others.
SELECT pg_temp.plain(execution_id) AS execution_id, job_id, job_status FROM sf_jobs WHERE execution_id LIKE 'strict%'
	ORDER BY 1, 2;

-- So with their graphs: what others run is not skipped.
SELECT trim(line) AS line FROM sf_executions e, regexp_split_to_table(sf_graph(e.execution_id), '\n') line
WHERE e.execution_id LIKE 'each%' AND line ~ 'class legend_(success|skip)' ORDER BY e.input::text, 1;

-- What a run tolerated can be run again, all of it or one child: the parent keeps its status and its output.
INSERT INTO dm_bad VALUES (2), (3), (5);
SELECT pg_temp.make('tolerated', '{"MaxConcurrency": 2, "ToleratedFailureCount": 9}',
	'{"Once": {"Type": "Task", "Resource": "sql:public.dm_once", "Parameters": {"n.$": "$"}, "End": true}}');
TRUNCATE dm_done;
SELECT sf_start('tolerated', '[1, 2, 3, 4, 5]', 't');
SELECT sf_run('tolerated:t');
CREATE FUNCTION pg_temp.child(parent text, input jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT execution_id FROM sf_executions WHERE parent_execution_id = parent AND sf_executions.input = child.input $$;
SET client_min_messages = error;
DELETE FROM dm_bad WHERE n = 2;
SELECT sf_redrive(pg_temp.child('tolerated:t', '2'));
SELECT status, items_succeeded, items_failed, running, succeeded, failed, redrive_count FROM sf_map_runs
	WHERE execution_id = 'tolerated:t';
SELECT sf_run(pg_temp.child('tolerated:t', '2'));
SELECT status, items_succeeded, items_failed, running, succeeded, failed, redrive_count FROM sf_map_runs
	WHERE execution_id = 'tolerated:t';
DELETE FROM dm_bad WHERE n = 3;
SET client_min_messages = notice;
SELECT sf_redrive('tolerated:t');
SET client_min_messages = warning;
SELECT count(sf_run(execution_id)) FROM sf_executions WHERE parent_execution_id = 'tolerated:t' AND status = 'RUNNING';
SELECT status, items_succeeded, items_failed, running, succeeded, failed, redrive_count FROM sf_map_runs
	WHERE execution_id = 'tolerated:t';
SELECT status, output, redrive_count FROM sf_executions WHERE execution_id = 'tolerated:t';
SELECT array_agg(n ORDER BY n) FROM dm_done;
SELECT type FROM sf_history WHERE execution_id = 'tolerated:t' ORDER BY id DESC LIMIT 3;
-- The parent is not purged under a child that runs again.
SELECT sf_redrive('tolerated:t');
SAVEPOINT purge;
UPDATE _sfflow.execution SET stopped_at = now() - interval '1 day' WHERE execution_id LIKE 'tolerated%'
	AND stopped_at IS NOT NULL;
SELECT sf_purge('1 hour');
ROLLBACK TO purge;
SELECT count(sf_run(execution_id)) FROM sf_executions WHERE parent_execution_id = 'tolerated:t' AND status = 'RUNNING';
SELECT problem, detail FROM sf_check();
-- Nothing is left to run again where all of it has succeeded.
TRUNCATE dm_bad;
SELECT sf_redrive('tolerated:t');
SELECT count(sf_run(execution_id)) FROM sf_executions WHERE parent_execution_id = 'tolerated:t' AND status = 'RUNNING';
SAVEPOINT over;
SELECT sf_redrive('tolerated:t');
ROLLBACK TO over;

-- A child of a run that has failed is redriven by its parent alone.
DO $$
BEGIN
	PERFORM sf_redrive(execution_id) FROM sf_executions WHERE parent_execution_id LIKE 'strict:%' AND status = 'FAILED';
EXCEPTION WHEN OTHERS THEN RAISE WARNING '% %', SQLSTATE, pg_temp.plain(SQLERRM);
END $$;

-- Who stops the parent stops the children; a machine's timeout is the parent's.
SELECT pg_temp.make('waiting', '{}', '{"Wait": {"Type": "Wait", "Seconds": 3600, "End": true}}');
SELECT sf_start('waiting', '[1, 2]', 's');
SELECT sf_run('waiting:s');
SELECT waiting_on FROM sf_executions WHERE execution_id = 'waiting:s';
SELECT problem, detail FROM sf_check();
SELECT sf_stop('waiting:s');
SELECT status, count(*) FROM sf_executions WHERE state_machine = 'waiting' GROUP BY 1;
SELECT status, aborted FROM sf_map_runs WHERE execution_id = 'waiting:s';
SELECT sf_redrive('waiting:s');
SELECT sf_run('waiting:s', skip_waits => true);
SELECT output FROM sf_executions WHERE execution_id = 'waiting:s';

-- A child that is stopped counts as failed.
SELECT sf_start('waiting', '[1, 2]', 'c');
SELECT sf_run('waiting:c');
SELECT sf_stop(min(execution_id)) FROM sf_executions WHERE parent_execution_id = 'waiting:c';
SELECT sf_run('waiting:c');
SELECT status, error FROM sf_executions WHERE execution_id = 'waiting:c';

-- Maps in maps: a child can have children.
SELECT pg_temp.make('outer', '{}', '{"Inner": {"Type": "Map", "End": true, "ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Each",
		"States": {"Each": {"Type": "Wait", "Seconds": 60, "End": true}}}}}');
SELECT output FROM pg_temp.run('outer', '[[1, 2], [3]]');
SELECT sf_start('outer', '[[1, 2], [3]]', 'stopped');
SELECT sf_run('outer:stopped');
SELECT sf_stop('outer:stopped');
SELECT status, count(*) FROM sf_executions WHERE state_machine = 'outer' GROUP BY 1 ORDER BY 1;

-- In a Parallel state whose other branch fails.
SELECT sf_create_state_machine('beside', '{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true,
	"Branches": [
	{"StartAt": "Map", "States": {"Map": {"Type": "Map", "End": true,
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 60, "End": true}}}}}},
	{"StartAt": "Pause", "States": {"Pause": {"Type": "Wait", "Seconds": 60, "Next": "Fail"}, "Fail": {"Type": "Fail",
		"Error": "No"}}}]}}}');
SELECT sf_start('beside', '[1]', 'b');
SELECT sf_run('beside:b');
UPDATE _sfflow.branch b SET due_at = now() FROM _sfflow.execution e
WHERE e.execution_no = b.execution_no AND e.execution_id = 'beside:b' AND b.phase = pg_temp.phase('WAIT');
SELECT sf_run('beside:b');
SELECT status, count(*) FROM sf_executions WHERE state_machine = 'beside' GROUP BY 1 ORDER BY 1;

-- Results that are larger than a payload may be; a ResultWriter takes them.
SET LOCAL sfflow.max_payload_bytes = '2kB';
SELECT pg_temp.make('large', '{"ItemReader": {"Resource": "sql:query",
	"Parameters": {"Statement": "SELECT repeat(''x'', 300) AS x FROM generate_series(1, 20)"}}}');
SELECT error, cause FROM pg_temp.run('large');
SELECT pg_temp.make('inputs', '{"ItemReader": {"Resource": "sql:query",
	"Parameters": {"Statement": "SELECT repeat(''x'', 300) AS x FROM generate_series(1, 20)"}},
	"ResultWriter": {"WriterConfig": {"Transformation": "NONE", "OutputType": "JSON"}}}',
		'{"Each": {"Type": "Pass", "Result": 1, "End": true}}');
SELECT error FROM pg_temp.run('inputs');
CREATE TABLE public.dm_file (key text, body text);
CREATE FUNCTION public.dm_put(payload jsonb) RETURNS void LANGUAGE sql
	BEGIN ATOMIC INSERT INTO dm_file VALUES (payload ->> 'Key', payload ->> 'Body'); END;
SELECT sf_map_resource('arn:aws:states:::s3:putObject', 'sql:public.dm_put');
SELECT pg_temp.make('written', '{"Label": "L", "ToleratedFailureCount": 9,
	"ResultWriter": {"Resource": "arn:aws:states:::s3:putObject",
	"Parameters": {"Bucket": "b", "Prefix": "out"}}}', pg_temp.odd());
SELECT pg_temp.plain(output::text) FROM pg_temp.run('written', '[1, 2, 3]');
SELECT pg_temp.plain(key), jsonb_typeof(body::jsonb), pg_temp.plain(coalesce(body::jsonb -> 0 ->> 'Status', body))
	FROM dm_file;
SELECT jsonb_object_keys(body::jsonb -> 0) FROM dm_file WHERE key LIKE '%SUCC%';

-- … to a table: a function, or a statement, is given the results.
CREATE TABLE public.dm_result (n int);
CREATE FUNCTION public.dm_store(payload jsonb) RETURNS void LANGUAGE sql
	BEGIN ATOMIC INSERT INTO dm_result SELECT value::int FROM jsonb_array_elements(payload -> 'Results'); END;
SELECT pg_temp.make('stored', '{"ResultWriter": {"Resource": "sql:public.dm_store"}}');
SELECT output -> 'ResultWriterDetails' AS details FROM pg_temp.run('stored', '[1, 2]');
SELECT pg_temp.make('inserted', '{"ResultWriter": {"Resource": "sql:query", "Parameters":
	{"Statement": "INSERT INTO dm_result SELECT value::int + $1 FROM jsonb_array_elements($2)", "Arguments": [10]}}}');
SELECT output -> 'ResultWriterDetails' AS details FROM pg_temp.run('inserted', '[1, 2]');
SELECT pg_temp.make('argued', '{"QueryLanguage": "JSONata", "ResultWriter": {"Resource": "sql:query", "Arguments":
	{"Statement": "INSERT INTO dm_result SELECT value::int + $1 FROM jsonb_array_elements($2)",
		"Arguments": ["{% 10 * 10 %}"]}}}');
SELECT status FROM pg_temp.run('argued', '[1, 2]');
SELECT array_agg(n ORDER BY n) FROM dm_result;
-- A part that is refused takes those before it along.
CREATE FUNCTION public.dm_refuse(payload jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO dm_file VALUES (payload ->> 'Key', 'of the refused');
	IF payload ->> 'Key' LIKE '%manifest%' THEN PERFORM sf_raise('Full', 'no room'); END IF;
END $$;
SELECT sf_map_resource('arn:aws:states:::s3:putObject', 'sql:public.dm_refuse');
SELECT error, cause FROM pg_temp.run('written', '[1, 2, 3]');
SELECT count(*) FROM dm_file WHERE body = 'of the refused';
SELECT pg_temp.make('refused', '{"ResultWriter": {"Resource": "sql:query",
	"Parameters": {"Statement": "SELECT 1/0, $1::jsonb"}}}');
SELECT error, cause::jsonb ->> 'message' FROM pg_temp.run('refused', '[1]');

-- … or WriterConfig alone says what form they take.
SELECT pg_temp.make('flat', '{"ResultWriter": {"WriterConfig": {"Transformation": "FLATTEN", "OutputType": "JSON"}}}');
SELECT output FROM pg_temp.run('flat', '[[1, 2], [3]]');

-- Children are purged after their parent, which would take their results in a redrive.
SAVEPOINT purge;
UPDATE _sfflow.execution SET stopped_at = now() - interval '1 day'
WHERE execution_id LIKE 'each/%' OR execution_id LIKE 'strict%' AND stopped_at IS NOT NULL;
SELECT sf_purge('1 hour');
SELECT count(*) FROM sf_executions WHERE execution_id LIKE 'each%';
SELECT count(*) FROM sf_executions WHERE execution_id LIKE 'strict%';
SELECT problem, detail FROM sf_check();
ROLLBACK TO purge;

-- Nothing is left but what a redrive needs, and nothing contradicts itself.
SELECT execution_id LIKE 'strict:%' AS strict, count(*) FROM _sfflow.map_item JOIN _sfflow.execution
	USING (execution_no) GROUP BY 1 ORDER BY 1;
SELECT problem, execution_id, detail FROM sf_check();
SELECT sf_drop_state_machine('strict');
SELECT count(*) FROM _sfflow.map_run r WHERE NOT EXISTS (SELECT FROM _sfflow.execution e
	WHERE e.execution_no = r.execution_no);
ROLLBACK;
