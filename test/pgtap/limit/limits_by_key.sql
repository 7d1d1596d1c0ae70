-- Limits with a key, of which each value has the limit for itself, and those that a definition sets.
BEGIN;
SELECT plan(21);

CREATE TABLE ran (job text);
CREATE FUNCTION limited_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ran VALUES (payload ->> 'job');
	RETURN '{}';
END $$;
CREATE FUNCTION pg_temp.shown(OUT text) LANGUAGE sql AS $$
	SELECT string_agg(concat_ws('|', target, key, max_running, in_use, waiting), ', ' ORDER BY target, key)
	FROM sf_limits $$;
SELECT sf_create_activity('limited_shell') \g /dev/null
SELECT sf_create_state_machine('limited', format('{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:%s.limited_task", "ResultPath": null, "Next": "B"},
	"B": {"Type": "Task", "Resource": "activity:limited_shell", "End": true}}}', current_schema)::json) \g /dev/null
CREATE FUNCTION pg_temp.answer() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	t record;
BEGIN
	SELECT * INTO t FROM sf_get_activity_task('activity:limited_shell', 'w');
	PERFORM sf_send_task_success(t.task_token, '{}');
	RETURN t.input ->> 'job';
END $$;

-- A key: each value has the limit for itself.
SELECT sf_set_limit('limited/B', key => '$.tenant', max_running => 1) \g /dev/null
SELECT sf_start('limited', jsonb_build_object('job', n, 'tenant', n % 2), 'k' || n) FROM generate_series(1, 4) AS n
	\g /dev/null
SELECT is((SELECT string_agg(sf_run('limited:k' || n), ' ') FROM generate_series(1, 4) AS n),
	'RUNNING RUNNING RUNNING RUNNING', 'they run up to the state');
SELECT is(pg_temp.shown(), 'limited/B|$.tenant|1|2|2', 'one of each value is in it');
SELECT is(pg_temp.answer(), '1', 'the task of one value is answered');
SELECT is(sf_run('limited:k1'), 'SUCCEEDED', '... whose execution ends');
SELECT is(sf_run('limited:k4'), 'RUNNING', '... which is not the turn of the other value');
SELECT is(sf_run('limited:k3'), 'RUNNING', '... but of its own');
SELECT is(pg_temp.shown(), 'limited/B|$.tenant|1|2|1', '... and one waits still');
SELECT sf_drop_limit('limited/B', '$.tenant') \g /dev/null

-- Two limits of one step: a slot of both, or of none.
SELECT sf_create_state_machine('limited_pair', format('{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "activity:limited_shell", "End": true}}}')::json) \g /dev/null
SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null
SELECT sf_set_limit('limited_pair', max_running => 2), sf_set_limit('limited_pair/A', key => '$.k', max_running => 1)
	\g /dev/null
SELECT sf_start('limited_pair', '{"k": 1}', n::text) FROM generate_series(1, 3) AS n \g /dev/null
SELECT is((SELECT string_agg(sf_run('limited_pair:' || n), ' ') FROM generate_series(1, 3) AS n),
	'RUNNING RUNNING RUNNING', 'three of one value');
SELECT is(pg_temp.shown(), 'limited_pair|2|1|0, limited_pair/A|$.k|1|1|2',
	'one runs; the others wait for the second limit without a slot of the first one');
SELECT sf_drop_limit('limited_pair/A', '$.k') \g /dev/null
SELECT is(sf_run('limited_pair:2'), 'RUNNING', 'without the second limit');
SELECT is(sf_run('limited_pair:3'), 'RUNNING', '... they are looked at anew');
SELECT is(pg_temp.shown(), 'limited_pair|2|2|1', '... they wait for the first one');
SELECT sf_drop_limit('limited_pair'), sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null

-- In a definition.
SELECT sf_create_state_machine('limited_here', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "activity:limited_shell", "MaxConcurrency": 1, "ConcurrencyKey": "$.k", "End": true}}}') \g /dev/null
SELECT is((SELECT concat_ws('|', target, key, max_running, in_definition, on_limit) FROM sf_limits),
	'limited_here/A|$.k|1|t|queue', 'a definition sets a limit');
SELECT sf_start('limited_here', '{"k": 1}', '1'), sf_start('limited_here', '{"k": 1}', '2') \g /dev/null
SELECT is(sf_run('limited_here:1'), 'RUNNING', '... under which one begins');
SELECT is(sf_run('limited_here:2'), 'RUNNING', '... and another one of the same value');
SELECT is(pg_temp.shown(), 'limited_here/A|$.k|1|1|1', '... waits');
SELECT sf_create_state_machine('limited_here', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "activity:limited_shell", "End": true}}}', or_replace => true) \g /dev/null
SELECT is(pg_temp.shown(), NULL, 'a definition without it has none');
SELECT sf_run('limited_here:2') \g /dev/null
SELECT is((SELECT count(*) FROM sf_tasks WHERE status = 'queued' AND execution_id LIKE 'limited_here:%'), 2::bigint,
	'what waited goes on');
SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

-- ... of a task within a Map: of all executions, by what the item is of.
SELECT sf_create_state_machine('limited_items', '{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
	"ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "activity:limited_shell", "MaxConcurrency": 1, "ConcurrencyKey": "$.tenant",
		"End": true}}}}}}') \g /dev/null
SELECT sf_start('limited_items', '[{"tenant": 1}, {"tenant": 1}, {"tenant": 2}]', n::text),
	sf_run('limited_items:' || n) FROM generate_series(1, 2) AS n \g /dev/null
SELECT is((SELECT concat_ws('|', target, key, max_running, in_use, waiting) FROM sf_limits),
	'limited_items/A|$.tenant|1|2|4', 'a definition limits the task of a Map by its items');
SELECT sf_drop_state_machine('limited_items', force => true) \g /dev/null
SELECT is_empty('SELECT FROM sf_limits', '... until it is dropped');

SELECT * FROM finish();
ROLLBACK;
