-- A state that has passed its limits does not come to them again before its outcome: not where a net of jobs goes on
-- in another slice, nor where the results of a Map are written.
BEGIN;
SELECT plan(18);
\ir ../../fixtures/phases.sql

SELECT current_schema AS schema \gset
CREATE FUNCTION within_task(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN '{}'::jsonb;
CREATE FUNCTION within_writer(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN '{}'::jsonb;
CREATE FUNCTION pg_temp.shown(OUT text) LANGUAGE sql AS $$
	SELECT string_agg(concat_ws('|', target, max_running, in_use, waiting), ', ' ORDER BY target) FROM sf_limits $$;
CREATE FUNCTION pg_temp.answer() RETURNS void LANGUAGE sql AS $$
	SELECT sf_send_task_success(task_token, '{}') FROM sf_get_activity_task('activity:within_shell', 'w') $$;
SELECT sf_create_activity('within_shell') \g /dev/null

-- A net of more jobs than a slice runs.
SELECT sf_create_state_machine('within_many', format('{"StartAt": "Net", "States": {"Net": {"Type": "JobNet",
		"End": true, "ResultPath": null, "Jobs": {%s}}}}',
	string_agg(format('"j%s": {"Type": "Pass"}', n), ', '))::json) FROM generate_series(1, 1100) AS n \g /dev/null
SELECT sf_set_limit('within_many/Net', rate => 1, per => '1 day', on_limit => 'fail') \g /dev/null
SELECT sf_start('within_many', '{}', 'a') \g /dev/null
SELECT is(sf_run('within_many:a'), 'SUCCEEDED', 'a net takes a token of a rate once');
SELECT is((SELECT count(*) FROM sf_history WHERE execution_id = 'within_many:a' AND type = 'PassStateExited'),
	1100::bigint, '... and runs all of its jobs');
SELECT sf_drop_limit('within_many/Net') \g /dev/null
SELECT sf_set_limit('within_many/Net', max_running => 1, on_limit => 'fail') \g /dev/null
SELECT sf_start('within_many', '{}', 'b') \g /dev/null
SELECT is(sf_run('within_many:b'), 'SUCCEEDED', '... and a slot once');
SELECT is_empty('SELECT FROM _sfflow.limit_slot', '... which it gives back');
SELECT sf_drop_limit('within_many/Net') \g /dev/null

-- A net that another job's end has go on as a whole.
SELECT sf_create_state_machine('within_net', format('{"StartAt": "Net", "States": {"Net": {"Type": "JobNet",
		"End": true, "Jobs": {
	"a": {"Type": "Task", "Resource": "activity:within_shell"},
	"b": {"Type": "Task", "Resource": "sql:%s.within_task", "After": ["a"]}}}}}', current_schema)::json) \g /dev/null
SELECT sf_set_limit('within_net/Net', max_running => 1) \g /dev/null
SELECT sf_start('within_net', '{}', n::text) FROM generate_series(1, 2) AS n \g /dev/null
SELECT is(sf_run('within_net:1'), 'RUNNING', 'a net runs');
SELECT is(sf_run('within_net:2'), 'RUNNING', '... and another one');
SELECT is(pg_temp.shown(), 'within_net/Net|1|1|1', '... waits');
SELECT pg_temp.answer() \g /dev/null
SELECT is(sf_run('within_net:1'), 'SUCCEEDED', 'it does not wait behind itself');
SELECT is(sf_run('within_net:2'), 'RUNNING', 'then the other one runs');
SELECT is(pg_temp.shown(), 'within_net/Net|1|1|0', '... and nothing waits');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
-- set while a net is between two slices
SELECT sf_drop_limit('within_net/Net') \g /dev/null
SELECT pg_temp.answer() \g /dev/null
SELECT sf_step('within_net:2') \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no)
		WHERE e.execution_id = 'within_net:2' AND b.phase = pg_temp.phase('NET')),
	1::bigint, 'the other one is to go on');
SELECT sf_set_limit('within_net/Net', max_running => 1) \g /dev/null
SELECT is(pg_temp.shown(), 'within_net/Net|1|1|0', 'a limit that is set then counts it');
SELECT is(sf_run('within_net:2'), 'SUCCEEDED', '... and lets it end');
SELECT sf_drop_limit('within_net/Net') \g /dev/null

-- A Map whose results are written.
SELECT sf_create_state_machine('within_map', format('{"StartAt": "Map", "States": {"Map": {"Type": "Map", "End": true,
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Each",
		"States": {"Each": {"Type": "Pass", "End": true}}},
	"ResultWriter": {"Resource": "sql:%s.within_writer"}}}}', current_schema)::json) \g /dev/null
SELECT sf_set_limit('within_map/Map', rate => 1, per => '1 day', on_limit => 'fail') \g /dev/null
SELECT sf_start('within_map', '[1, 2]', 'a') \g /dev/null
SELECT is(sf_run('within_map:a'), 'SUCCEEDED', 'a Map takes a token of a rate once');
SELECT sf_drop_limit('within_map/Map'), sf_set_limit('within_map/Map', max_running => 1) \g /dev/null
SELECT sf_start('within_map', '[1, 2]', 'b') \g /dev/null
SELECT is(sf_run('within_map:b'), 'SUCCEEDED', '... and a slot once');
SELECT is_empty('SELECT FROM _sfflow.limit_slot', '... which it gives back');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
