-- Limits under which what would wait fails, and limits of what begins in a span of time.
BEGIN;
SELECT plan(13);

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

-- What would wait fails.
SELECT sf_create_state_machine('limited_fails', format('{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "activity:limited_shell", "End": true,
		"Catch": [{"ErrorEquals": ["Sfflow.Throttled"], "Next": "Caught"}],
		"Retry": [{"ErrorEquals": ["Sfflow.Throttled"], "IntervalSeconds": 1, "MaxAttempts": 1}]},
	"Caught": {"Type": "Pass", "End": true}}}')::json) \g /dev/null
SELECT sf_set_limit('activity:limited_shell', max_running => 1, on_limit => 'fail') \g /dev/null
SELECT sf_start('limited_fails', '{}', n::text) FROM generate_series(1, 3) AS n \g /dev/null
SELECT is(sf_run('limited_fails:1', true), 'RUNNING', 'the first one has the slot');
SELECT is(sf_run('limited_fails:2', true), 'SUCCEEDED', 'the second one does not wait');
SELECT is((SELECT output ->> 'Error' FROM sf_executions WHERE execution_id = 'limited_fails:2'), 'Sfflow.Throttled',
	'Catch has matched the error');
SELECT is((SELECT output ->> 'Cause' FROM sf_executions WHERE execution_id = 'limited_fails:2'),
	'The limit of "activity:limited_shell" is reached.', 'its cause');
SELECT is((SELECT count(*) FROM sf_history WHERE execution_id = 'limited_fails:2' AND type = 'TaskStateEntered'),
	1::bigint, 'the state was entered');
SELECT is(sf_run('limited_fails:3'), 'RUNNING', 'Retry has matched it');
SELECT pg_temp.answer() \g /dev/null
SELECT is(sf_run('limited_fails:3', true), 'RUNNING', '... and the next attempt finds a slot');
SELECT is(pg_temp.shown(), 'activity:limited_shell|1|1|0', '... which is in use');
SELECT sf_drop_limit('activity:limited_shell'), sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'
	\g /dev/null

-- A rate: as many at once as it says, then one after the other, also where the machine has run for a part of the time
-- only.
SELECT sf_set_limit('limited', rate => 2, per => '365 days') \g /dev/null
SELECT sf_start('limited', '{}', 'r' || n) FROM generate_series(1, 3) AS n \g /dev/null
SELECT is((SELECT string_agg(sf_run('limited:r' || n), ' ') FROM generate_series(1, 3) AS n), 'RUNNING RUNNING RUNNING',
	'two of a year begin');
SELECT is((SELECT concat_ws('|', target, rate, per, in_use, waiting) FROM sf_limits), 'limited|2|8760:00:00|0|1',
	'... and one waits');
SELECT is((SELECT string_agg((started_at IS NULL)::text, ' ' ORDER BY execution_id) FROM sf_executions
		WHERE execution_id LIKE 'limited:r%'), 'false false true', '... which has not begun');
SELECT sf_set_limit('limited', rate => 1000) \g /dev/null
SELECT sf_run('limited:r3') \g /dev/null
SELECT pg_sleep(0.01) \g /dev/null
SELECT sf_run('limited:r3') \g /dev/null
SELECT is((SELECT waiting FROM sf_limits), 0::bigint, 'a greater rate counts from now on');
SELECT sf_drop_limit('limited') \g /dev/null
SELECT isnt((SELECT started_at FROM sf_executions WHERE execution_id = 'limited:r3'), NULL,
	'... and what waited begins');
SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null

SELECT * FROM finish();
ROLLBACK;
