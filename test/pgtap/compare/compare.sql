-- sf_compare and sf_grid: two executions beside each other, and the jobs of the last runs of a machine.
-- needs: hold
BEGIN;
SELECT plan(58);

CREATE ROLE compare_reader;
-- A task that answers what it is told to, fails as often as it is told to, and takes a while.
CREATE SEQUENCE compare_tries;
CREATE FUNCTION compare_task(answer jsonb, fails integer DEFAULT 0, sleeps double precision DEFAULT 0) RETURNS jsonb
	LANGUAGE plpgsql AS $$ BEGIN
	PERFORM pg_sleep(sleeps);
	IF fails > 0 AND nextval('compare_tries') <= fails THEN PERFORM sf_raise('Busy', 'later'); END IF;
	RETURN answer; END $$;
CREATE FUNCTION pg_temp.task(job text, parameters text, further text) RETURNS text LANGUAGE sql AS $$
	SELECT format('"%s": {"Type": "Task", "Resource": "sql:%s.compare_task", "Parameters": %s, %s}', job,
		current_schema, parameters, further) $$;
-- Load, Book with a retry, at the end of a month Close, a job for each item, and a last one.
CREATE FUNCTION pg_temp.made(machine text, last text) RETURNS void LANGUAGE sql AS $$
	SELECT sf_create_state_machine(machine, format('{"StartAt": "Load", "States": {%s, %s,
		"Which": {"Type": "Choice", "Choices": [{"Variable": "$.month_end", "BooleanEquals": true, "Next": "Close"}],
			"Default": "Each"}, %s,
		"Each": {"Type": "Map", "ItemsPath": "$.items", "ResultPath": null, "ItemProcessor": {"StartAt": "Item",
			"States": {%s}}, "Next": "%s"}, %s}}',
		pg_temp.task('Load', '{"answer.$": "$.load"}', '"ResultPath": "$.loaded", "Next": "Book"'),
		pg_temp.task('Book', '{"answer": 1, "fails.$": "$.fails", "sleeps.$": "$.sleeps"}',
			'"ResultPath": "$.booked", "Next": "Which", "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 2, '
			'"IntervalSeconds": 1}]'),
		pg_temp.task('Close', '{"answer": "closed"}', '"ResultPath": "$.closed", "Next": "Each"'),
		pg_temp.task('Item', '{"answer.$": "$"}', '"End": true'), last,
		pg_temp.task(last, '{"answer": "done"}', '"End": true'))::json, NULL, true) $$;
-- Start an execution with other members of the input, and run it as far as it goes; its status.
CREATE FUNCTION pg_temp.ran(id text, further jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$ BEGIN
	PERFORM setval('compare_tries', 1, false);
	PERFORM sf_start(split_part(id, ':', 1), '{"load": {"rows": 3, "day": 1}, "fails": 0, "sleeps": 0, "items": [1, 2],
		"month_end": false}' || further,
		split_part(id, ':', 2));
	RETURN sf_run(id, true); END $$;

-- --- the same twice
SELECT pg_temp.made('compared', 'Report') \g /dev/null
SELECT is(pg_temp.ran('compared:1'), 'SUCCEEDED', 'a first execution');
SELECT is(pg_temp.ran('compared:2'), 'SUCCEEDED', 'a second one with the same input');
SELECT results_eq($$ SELECT job_id, only_in, status_a, status_b, attempts_a, attempts_b, input_differs, output_differs,
	is_cut FROM sf_compare('compared:1', 'compared:2') $$,
	$$ VALUES ('Load', NULL::text, 'success', 'success', 1, 1, '{}'::text[], '{}'::text[], false),
	('Book', NULL, 'success', 'success', 1, 1, '{}', '{}', false),
		('Close', NULL, 'skip', 'skip', 0, 0, NULL, NULL, false), ('Item[0]', NULL, 'success', 'success', 1, 1, '{}',
			'{}', false),
		('Item[1]', NULL, 'success', 'success', 1, 1, '{}', '{}', false), ('Report', NULL, 'success', 'success', 1, 1,
			'{}', '{}', false) $$,
	'of two that are the same each job has a row, in the order of the definition, and nothing differs');
SELECT is((SELECT count(*) FROM sf_compare('compared:1', 'compared:1') WHERE output_differs <> '{}'
		OR only_in IS NOT NULL), 0::bigint,
	'an execution does not differ from itself');

-- --- what differs
SELECT is(pg_temp.ran('compared:3', '{"load": {"rows": 4, "day": 1, "a/b~c": 1}, "fails": 1, "sleeps": 0.05,
		"items": [1, 7, 8], "month_end": true}'), 'SUCCEEDED',
	'another input');
SELECT results_eq($$ SELECT job_id, only_in, status_a, status_b, attempts_a, attempts_b, error_a, error_b
	FROM sf_compare('compared:1', 'compared:3')
	WHERE job_id IN ('Book', 'Close', 'Item[1]', 'Item[2]') $$,
	$$ VALUES ('Book', NULL, 'success', 'success', 1, 2, NULL::text, NULL::text), ('Close', NULL, 'skip', 'success', 0,
		1, NULL, NULL),
		('Item[1]', NULL, 'success', 'success', 1, 1, NULL, NULL), ('Item[2]', 'b', NULL, 'success', NULL, 1, NULL,
			NULL) $$,
	'attempts, another path, and an iteration that only the second one has');
SELECT results_eq($$ SELECT job_id, only_in, status_a, status_b FROM sf_compare('compared:3', 'compared:1')
	WHERE only_in IS NOT NULL $$,
	$$ VALUES ('Item[2]', 'a', 'success', NULL::text) $$, '... or the first one');
SELECT is((SELECT array_agg(job_id) FROM sf_compare('compared:3', 'compared:1')),
	'{Load,Book,Close,Item[0],Item[1],Item[2],Report}'::text[],
	'... where the first one has it');
SELECT is((SELECT output_differs FROM sf_compare('compared:1', 'compared:3') WHERE job_id = 'Load'),
	'{/load/rows,/load/a~1b~0c,/fails,/items/1,/items/2,/loaded/rows,/loaded/a~1b~0c,/sleeps,/month_end}'::text[],
	'outputs differ at JSON pointers');
SELECT is((SELECT output_differs FROM sf_compare('compared:1', 'compared:3') WHERE job_id = 'Item[0]'), '{}'::text[],
	'... and some not at all');
SELECT is((SELECT output_differs FROM sf_compare('compared:1', 'compared:3') WHERE job_id = 'Item[1]'), '{""}'::text[],
	'... or as a whole');
SELECT is((SELECT input_differs FROM sf_compare('compared:1', 'compared:3') WHERE job_id = 'Load'),
	'{/load/rows,/load/a~1b~0c,/fails,/items/1,/items/2,/sleeps,/month_end}'::text[],
	'and so do inputs');
SELECT is((SELECT output_differs FROM sf_compare('compared:1', 'compared:3') WHERE job_id = 'Close'), NULL,
	'with nothing on one side nothing is compared');
SELECT ok((SELECT duration_b >= '0.1 s' AND duration_a < duration_b FROM sf_compare('compared:1', 'compared:3')
		WHERE job_id = 'Book'),
	'a duration is that of all attempts');
SELECT ok((SELECT duration_a IS NULL FROM sf_compare('compared:1', 'compared:3') WHERE job_id = 'Close'),
	'one that was skipped has none');

-- --- large differences are cut
SELECT is(pg_temp.ran('compared:many',
		jsonb_build_object('load', (SELECT jsonb_object_agg('k' || g, g) FROM generate_series(1, 50) g))), 'SUCCEEDED',
	'a load of 50 members');
SELECT results_eq($$ SELECT cardinality(output_differs), is_cut FROM sf_compare('compared:1', 'compared:many')
	WHERE job_id = 'Load' $$, 'VALUES (20, true)',
	'20 pointers are told, and that there are more');
SELECT is((SELECT bool_or(is_cut) FROM sf_compare('compared:1', 'compared:3')), false, '... of fewer they are all');
SELECT pg_temp.ran('compared:twenty' || n, jsonb_build_object('items', '[]'::jsonb, 'load',
		jsonb_build_object('of', (SELECT jsonb_agg(g * n) FROM generate_series(1, 10) g))))
	FROM generate_series(1, 2) n \g /dev/null
SELECT results_eq($$ SELECT cardinality(output_differs), is_cut FROM sf_compare('compared:twenty1', 'compared:twenty2')
	WHERE job_id = 'Load' $$, 'VALUES (20, false)', '... twenty, too');
SELECT pg_temp.ran('compared:deep' || n,
	jsonb_build_object('load', jsonb_build_object('x', jsonb_build_object(repeat('k', 1200), n, repeat('l', 1200), n,
			'm', n)))) FROM generate_series(1, 2) n \g /dev/null
SELECT results_eq($$ SELECT output_differs, is_cut FROM sf_compare('compared:deep1', 'compared:deep2')
	WHERE job_id = 'Load' $$,
	$$ VALUES ('{/load/x/m,/load/x,/loaded/x/m,/loaded/x}'::text[], true) $$,
	'instead of a pointer of more than 1,000 bytes stands that of what is around it');

-- --- other versions and machines
SELECT pg_temp.made('compared', 'Summary') \g /dev/null
SELECT is(pg_temp.ran('compared:renamed'), 'SUCCEEDED', 'a version with another last job');
SELECT results_eq($$ SELECT job_id, only_in FROM sf_compare('compared:1', 'compared:renamed')
	WHERE only_in IS NOT NULL $$, $$ VALUES ('Summary', 'b'), ('Report', 'a') $$,
	'jobs are matched by their names');
SELECT pg_temp.made('another', 'Report') \g /dev/null
SELECT is(pg_temp.ran('another:1'), 'SUCCEEDED', 'another machine');
SELECT results_eq($$ SELECT count(*), count(*) FILTER (WHERE only_in IS NOT NULL OR output_differs <> '{}')
	FROM sf_compare('compared:1', 'another:1') $$, 'VALUES (6::bigint, 0::bigint)',
	'executions of two machines can be compared');

-- --- what is usual
DELETE FROM _sfflow.metric_job j USING _sfflow.state_machine m WHERE m.machine_no = j.machine_no
	AND m.name IN ('compared', 'another');
INSERT INTO _sfflow.metric_job (machine_no, job, runs, failures, time_us, time_histogram, recent_us, last_at)
SELECT m.machine_no, j.job, 3, 0, 0, '', array_fill(j.s * 1000000::bigint, ARRAY[30]), now() + interval '1 hour'
FROM _sfflow.state_machine m, (VALUES ('compared', 'Load', 10), ('compared', 'Item', 20), ('compared', 'Report', 30),
	('another', 'Load', 40)) AS j(machine, job, s)
WHERE m.name = j.machine;
SELECT results_eq($$ SELECT job_id, date_trunc('second', usual_duration) FROM sf_compare('another:1',
		'compared:renamed') WHERE job_id IN ('Load', 'Item[1]') $$,
	$$ VALUES ('Load', '10 s'::interval), ('Item[1]', '20 s') $$,
	'what is usual in the machine of the second one, by state');
SELECT results_eq($$ SELECT date_trunc('second', usual_duration) FROM sf_compare('compared:1', 'another:1')
	WHERE job_id = 'Load' $$, $$ VALUES ('40 s'::interval) $$, '... whichever it is');
SELECT results_eq($$ SELECT only_in, date_trunc('second', usual_duration) FROM sf_compare('compared:1',
		'compared:renamed') WHERE job_id = 'Report' $$,
	$$ VALUES ('a', '30 s'::interval) $$, '... of a job that only the first one has, in that of the first');

-- --- while one runs, and when it has failed
SELECT sf_hold('another/Book') \g /dev/null
SELECT is(pg_temp.ran('another:runs'), 'RUNNING', 'one that is held before its second job');
SELECT results_eq($$ SELECT job_id, status_a, status_b, duration_b IS NULL, output_differs FROM sf_compare('another:1',
		'another:runs') WHERE job_id !~ 'Item' $$,
	$$ VALUES ('Load', 'success', 'success', false, '{}'::text[]), ('Book', 'success', 'entry', true, NULL),
	('Close', 'skip', 'entry', true, NULL), ('Report', 'success', 'entry', true, NULL) $$,
	'what has not begun has no duration and no output');
SELECT sf_release('another/Book') \g /dev/null
SELECT is(pg_temp.ran('another:bad', '{"fails": 9, "sleeps": 0.01}'), 'FAILED', 'one that fails');
SELECT results_eq($$ SELECT status_b, attempts_b, error_b, duration_b > '0 s', output_differs
	FROM sf_compare('another:1', 'another:bad') WHERE job_id = 'Book' $$,
	$$ VALUES ('failure', 3, 'Busy', true, NULL::text[]) $$,
	'the error of a job that has failed, and how long it has tried');
SELECT is((SELECT count(*) FROM sf_compare('another:1', 'another:bad') WHERE status_a = 'success'
		AND status_b = 'skip'), 1::bigint, '... and what was not reached');

-- --- the grid
SELECT set_eq($$ SELECT DISTINCT execution_id, requested_at, status FROM sf_grid('another') $$,
	$$ SELECT execution_id, requested_at, status FROM sf_executions WHERE state_machine = 'another' $$,
	'a grid has the runs of a machine');
SELECT results_eq($$ SELECT job_id, job_status, jobs, failed, attempts FROM sf_grid('another')
	WHERE execution_id = 'another:1' $$,
	$$ VALUES ('Load', 'success', 1, 0, 1), ('Book', 'success', 1, 0, 1), ('Close', 'skip', 1, 0, 0),
	('Item', 'success', 2, 0, 2), ('Report', 'success', 1, 0, 1) $$,
	'each with its jobs, those of iterations together');
SELECT results_eq($$ SELECT status, job_status, failed, attempts, duration > '0 s', took >= duration
	FROM sf_grid('another') WHERE execution_id = 'another:bad' AND job_id = 'Book' $$,
	$$ VALUES ('FAILED', 'failure', 1, 3, true, true) $$, 'what has failed');
SELECT is((SELECT date_trunc('second', usual_duration) FROM sf_grid('another') WHERE execution_id = 'another:bad'
		AND job_id = 'Load'), '40 s'::interval, 'what is usual');
SELECT is((SELECT count(DISTINCT execution_id) FROM sf_grid('another', 2)), 2::bigint, 'so many runs');
SELECT sf_create_state_machine('grid_items', format('{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true,
		"ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Item", "States": {%s}}}}}',
	pg_temp.task('Item', '{"answer": 1}', '"End": true'))::json) \g /dev/null
SELECT sf_start('grid_items', '[1, 2, 3]', 'a') \g /dev/null
CALL sf_run_due(100);
SELECT results_eq($$ SELECT execution_id, job_id, jobs FROM sf_grid('grid_items') $$,
	$$ VALUES ('grid_items:a', NULL::text, NULL::integer) $$,
	'items of a Distributed Map are no runs; a run without jobs is there');
SELECT sf_hold('compared/Item') \g /dev/null
SELECT is(pg_temp.ran('compared:mixed'), 'RUNNING', 'a run whose iterations are held');
SELECT results_eq($$ SELECT job_status, jobs FROM sf_grid('compared', 1) WHERE job_id = 'Item' $$,
	$$ VALUES ('entry', 2) $$, '... has those to come');

-- --- what the console asks for
CREATE FUNCTION pg_temp.api(action text, request jsonb) RETURNS jsonb
	LANGUAGE sql AS 'SELECT sf_console_api(action, request)';
UPDATE _sfflow.execution e SET requested_at = e.requested_at + e.execution_no * interval '1 ms'
	WHERE e.execution_id ~ '^(compared|another):';
UPDATE _sfflow.open_execution o SET requested_at = e.requested_at FROM _sfflow.execution e
	WHERE e.execution_no = o.execution_no;
CREATE TEMPORARY TABLE answer AS SELECT pg_temp.api('compare', '{"b": "another:bad"}') AS a;
SELECT is((SELECT ARRAY[a #>> '{a,execution_id}', a ->> 'good', a #>> '{b,status}'] FROM answer),
	'{another:runs,another:runs,FAILED}'::text[], 'the console compares with the last run that succeeded');
SELECT is((SELECT jsonb_path_query_array(a, '$.rows[*].job_id') FROM answer), '["Load", "Book", "Item[0]", "Item[1]",
	"Report"]'::jsonb, '... by the jobs that differ');
SELECT is((SELECT ARRAY[a ->> 'jobs', a ->> 'differ'] FROM answer), '{6,5}'::text[], '... and counts them');
SELECT is(jsonb_array_length(pg_temp.api('compare', '{"b": "another:bad", "all": true}') -> 'rows'), 6,
	'... or by all');
SELECT is((SELECT jsonb_path_query_array(a, '$.others[*].execution_id') FROM answer),
	'["another:runs", "another:1"]'::jsonb, 'others that it can be compared with, the newest first');
SELECT is(pg_temp.api('compare', '{"b": "another:1"}') -> 'a', 'null'::jsonb, 'before the first one there is none');
SELECT is(pg_temp.api('compare', '{"b": "another:1", "a": "compared:3"}') #>> '{a,execution_id}', 'compared:3',
	'... so that another one is named');
SELECT results_eq($$ SELECT (pg_temp.api('compare', jsonb_build_object('b', e.execution_id)) ->> 'good')
	<> e.execution_id, pg_temp.api('compare', jsonb_build_object('b', e.execution_id)) #>> '{a,status}'
	FROM sf_executions e WHERE e.parent_execution_id = 'grid_items:a' $$, $$ VALUES (true, 'SUCCEEDED'),
	(true, 'SUCCEEDED'), (true, 'SUCCEEDED') $$, 'an item is compared with another item of its Map');
SELECT is(jsonb_path_query_array(pg_temp.api('grid', '{"state_machine": "another"}'), '$.runs[*].execution_id'),
	'["another:bad", "another:runs", "another:1"]'::jsonb, 'a grid has the newest run first');
SELECT is((SELECT jsonb_agg(c -> 0) FROM jsonb_path_query(pg_temp.api('grid', '{"state_machine": "another"}'),
			'$.rows[1].cells[*]') AS c), '["failure", "success", "success"]'::jsonb,
	'... and of each job a cell for each run');
SELECT is(pg_temp.api('grid', '{"state_machine": "compared", "runs": 100}') #> '{rows}' @> '[{"job_id": "Report",
	"cells": [null]}]', true, '... or none, where a version has no such job');

-- --- what the caller may see
SELECT throws_ok($$ SELECT sf_compare('compared:1', 'compared:none') $$, 'SF005',
	'execution "compared:none" does not exist');
SELECT throws_ok($$ SELECT sf_compare(NULL, 'compared:1') $$, '22004', 'argument a must not be null');
SELECT throws_ok($$ SELECT sf_compare('compared:1', NULL) $$, '22004', 'argument b must not be null');
SELECT throws_ok($$ SELECT sf_grid('none') $$, 'SF003');
SELECT sf_grant('READ', 'compared', 'compare_reader') \g /dev/null
SET ROLE compare_reader;
SELECT is((SELECT count(*) FROM sf_compare('compared:1', 'compared:2')), 6::bigint, 'a role with READ compares');
SELECT throws_ok($$ SELECT sf_compare('compared:1', 'another:1') $$, 'SF005', 'execution "another:1" does not exist');
SELECT throws_ok($$ SELECT sf_grid('another') $$, 'SF003', 'state machine "another" does not exist');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
