-- Redriven executions and limits: what goes on takes its slots anew, also where it goes on in the middle of a state.
BEGIN;
SELECT plan(34);

SELECT current_schema AS schema \gset
SELECT sf_create_activity('again_desk') \g /dev/null
SELECT sf_create_state_machine('again', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Branches": [
	{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:again_desk", "End": true}}},
	{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "activity:again_desk", "End": true}}}]}}}')
	\g /dev/null
CREATE FUNCTION pg_temp.shown(OUT text) LANGUAGE sql AS $$
	SELECT string_agg(concat_ws('|', target, max_running, in_use, waiting), ', ' ORDER BY target) FROM sf_limits $$;
CREATE FUNCTION pg_temp.answer(ok boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	t record;
BEGIN
	SELECT * INTO t FROM sf_get_activity_task('activity:again_desk', 'w');
	IF ok THEN
		PERFORM sf_send_task_success(t.task_token, '{}');
	ELSE
		PERFORM sf_send_task_failure(t.task_token, 'Broken', 'as asked');
	END IF;
	RETURN t.execution_id;
END $$;

-- A Parallel state with a limit
SELECT sf_set_limit('again/P', max_running => 1) \g /dev/null
SELECT sf_start('again', '{}', '1') \g /dev/null
SELECT is(sf_run('again:1'), 'RUNNING', 'one is in the state');
SELECT is(pg_temp.shown(), 'again/P|1|1|0', 'it has the slot');
SELECT pg_temp.answer(false) \g /dev/null
SELECT is(sf_run('again:1'), 'FAILED', 'it fails');
SELECT is((SELECT count(*) FROM _sfflow.limit_slot), 0::bigint, '... and gives the slot back');
SELECT sf_start('again', '{}', '2') \g /dev/null
SELECT is(sf_run('again:2'), 'RUNNING', 'the next one is in the state');
SELECT sf_redrive('again:1') \g /dev/null
SELECT is(sf_run('again:1'), 'RUNNING', 'the first one is redriven');
SELECT is(pg_temp.shown(), 'again/P|1|1|2', '... and its branches wait for the slot');
SELECT is((SELECT count(*) FROM sf_tasks WHERE execution_id = 'again:1'), 0::bigint, 'none of its tasks begins');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT sf_start('again', '{}', '3', priority => 100) \g /dev/null
SELECT is(sf_run('again:3'), 'RUNNING', 'one with priority comes later');
SELECT sf_stop('again:2'), sf_run('again:1') \g /dev/null
SELECT is(sf_run('again:3'), 'RUNNING', '... and goes first');
SELECT is(pg_temp.shown(), 'again/P|1|1|2', '... while the others wait');
SELECT sf_stop('again:3') \g /dev/null
SELECT sf_start('again', '{}', '4', priority => 100) \g /dev/null
SELECT is(sf_run('again:1'), 'RUNNING', 'then the redriven one has its turn');
SELECT is(sf_run('again:4'), 'RUNNING', 'the next one waits');
SELECT is(pg_temp.shown(), 'again/P|1|1|1', '... since with one slot both branches go on');
SELECT is((SELECT count(*) FROM sf_tasks WHERE execution_id = 'again:1'), 2::bigint, 'both tasks are there');
SELECT is(pg_temp.answer(true), 'again:1', 'one is answered');
SELECT is(pg_temp.answer(true), 'again:1', '... and the other');
SELECT is(sf_run('again:1'), 'SUCCEEDED', '... and it ends');
SELECT is(sf_run('again:4'), 'RUNNING', '... and the next one begins');
SELECT is(pg_temp.shown(), 'again/P|1|1|0', '... and nothing waits');
SELECT sf_stop('again:4'), sf_drop_limit('again/P') \g /dev/null

-- The executions of a machine
SELECT sf_set_limit('again', max_running => 1) \g /dev/null
SELECT sf_redrive('again:4'), sf_redrive('again:3') \g /dev/null
SELECT is(sf_run('again:4'), 'RUNNING', 'one is redriven');
SELECT is(sf_run('again:3'), 'RUNNING', '... and another one');
SELECT is(pg_temp.shown(), 'again|1|1|2', 'the branches of the second one wait');
SELECT sf_stop('again:4') \g /dev/null
SELECT sf_start('again', '{}', '5', priority => 200) \g /dev/null
SELECT is(sf_run('again:3'), 'RUNNING', 'the redriven one has its turn');
SELECT is(sf_run('again:5'), 'RUNNING', '... the one with priority waits');
SELECT is(pg_temp.shown(), 'again|1|1|1', 'with one slot both branches go on');
SELECT is((SELECT count(*) FROM sf_tasks WHERE execution_id = 'again:3'), 2::bigint, 'both tasks are there');
SELECT is(pg_temp.answer(true), 'again:3', 'one is answered');
SELECT is(pg_temp.answer(true), 'again:3', '... and the other');
SELECT is(sf_run('again:3'), 'SUCCEEDED', '... and it ends');
SELECT is(sf_run('again:5'), 'RUNNING', '... and the next one begins');
SELECT is(pg_temp.shown(), 'again|1|1|0', '... and nothing waits');
SELECT sf_stop('again:5') \g /dev/null
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
