-- sf_set_limit: never more runs than a limit allows, and everything runs, also where a limit is lowered, or set while
-- something runs.
BEGIN;
SELECT plan(63);

CREATE TABLE ran (job text);
CREATE FUNCTION limited_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ran VALUES (payload ->> 'job');
	RETURN '{}';
END $$;
CREATE FUNCTION pg_temp.ran() RETURNS text LANGUAGE sql AS $$ SELECT coalesce(string_agg(job, ' '), '') FROM ran $$;
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

-- A machine: executions wait in their order, before their first step.
SELECT lives_ok($$ SELECT sf_set_limit('limited', max_running => 1) $$, 'a machine is limited');
SELECT is(pg_temp.shown(), 'limited|1|0|0', 'the view shows it');
SELECT sf_start('limited', jsonb_build_object('job', n), n::text) FROM generate_series(1, 3) AS n \g /dev/null
SELECT is(sf_run('limited:1'), 'RUNNING', 'the first one begins');
SELECT results_eq($$ SELECT state, outcome, next_state, status FROM sf_step('limited:2') $$,
	$$ VALUES ('A', 'queued', 'A', 'RUNNING') $$, 'the second one waits');
SELECT is(sf_run('limited:3'), 'RUNNING', 'so does the third one');
SELECT is(pg_temp.ran(), '1', 'one has run');
SELECT is(pg_temp.shown(), 'limited|1|1|2', 'the view tells how many run and wait');
SELECT ok((SELECT oldest_waiting <= clock_timestamp() FROM sf_limits), '... and since when');
SELECT is((SELECT string_agg(concat_ws(' ', execution_id, branch, state, target, position, waiting, max_running, in_use,
			in_use_by), ', '
	ORDER BY position) FROM sf_limit_waits),
	'limited:2  A limited 1 2 1 1 {limited:1}, limited:3  A limited 2 2 1 1 {limited:1}',
	'a position in the queue, and what has the slots');
SELECT is((SELECT started_at FROM sf_executions WHERE execution_id = 'limited:2'), NULL, 'it has not begun');
SELECT is((SELECT waiting_on FROM sf_executions WHERE execution_id = 'limited:2'), '"A" limit',
	'... and tells that it waits for a limit');
SELECT is((SELECT count(*) FROM sf_list_executions('limited', 'RUNNING')), 3::bigint, 'lists have them');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together while branches wait');
SELECT is(pg_temp.answer(), '1', 'its task is answered');
SELECT is(sf_run('limited:1'), 'SUCCEEDED', '... and it ends');
SELECT is(sf_run('limited:3'), 'RUNNING', 'the third one is not the first in the queue');
SELECT is(pg_temp.ran(), '1', '... and does not overtake');
SELECT is(sf_stop('limited:2'), 'ABORTED', 'what waits can be stopped');
SELECT is(sf_run('limited:3'), 'RUNNING', 'then it is the turn of the next one');
SELECT is(pg_temp.ran(), '1 3', '... which has run');
SELECT is(pg_temp.shown(), 'limited|1|1|0', '... and nothing waits');
SELECT sf_redrive('limited:2') \g /dev/null
SELECT is(sf_run('limited:2'), 'RUNNING', 'a redriven execution waits anew');
SELECT is((SELECT concat_ws(' ', execution_id, position, waiting, in_use_by) FROM sf_limit_waits),
	'limited:2 1 1 {limited:3}', '... at its position');
SELECT is(pg_temp.shown(), 'limited|1|1|1', '... and the view counts it');
SELECT is(sf_stop('limited:3'), 'ABORTED', 'an execution that is stopped releases its slot');
SELECT is(sf_run('limited:2'), 'RUNNING', '... to the next one');
SELECT is(pg_temp.ran(), '1 3 2', '... which runs');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

-- A limit that is lowered, or set while something runs.
SELECT lives_ok($$ SELECT sf_set_limit('activity:limited_shell', max_running => 1) $$, 'an activity is limited');
SELECT is(pg_temp.shown(), 'activity:limited_shell|1|1|0, limited|1|1|0', 'what runs counts');
SELECT sf_set_limit('limited', max_running => 5) \g /dev/null
SELECT sf_start('limited', jsonb_build_object('job', n), n::text) FROM generate_series(4, 6) AS n \g /dev/null
SELECT is((SELECT string_agg(sf_run('limited:' || n), ' ') FROM generate_series(4, 6) AS n), 'RUNNING RUNNING RUNNING',
	'they run up to the activity');
SELECT is(pg_temp.shown(), 'activity:limited_shell|1|1|3, limited|5|4|0', '... where they wait');
SELECT sf_set_limit('limited', max_running => 2) \g /dev/null
SELECT sf_start('limited', '{"job": 7}', '7') \g /dev/null
SELECT is(sf_run('limited:7'), 'RUNNING', 'above a lowered limit');
SELECT is(pg_temp.shown(), 'activity:limited_shell|1|1|3, limited|2|4|1', '... nothing begins');
SELECT is(pg_temp.answer(), '2', 'a task is answered');
SELECT is(sf_run('limited:2'), 'SUCCEEDED', '... whose execution ends');
SELECT is(sf_run('limited:4'), 'RUNNING', '... the next one is handed out');
SELECT is(sf_run('limited:7'), 'RUNNING', '... and the last one waits');
SELECT is(pg_temp.shown(), 'activity:limited_shell|1|1|2, limited|2|3|1', 'there are still too many');
SELECT is(pg_temp.answer(), '4', 'the next task is answered');
SELECT is(sf_run('limited:4'), 'SUCCEEDED', '... whose execution ends');
SELECT is(sf_run('limited:5'), 'RUNNING', '... and the one behind it is handed out');
SELECT is(pg_temp.answer(), '5', '... and answered');
SELECT is(sf_run('limited:5'), 'SUCCEEDED', '... whose execution ends, too');
SELECT is(sf_run('limited:7'), 'RUNNING', 'now there are not too many');
SELECT is(pg_temp.ran(), '1 3 2 4 5 6 7', '... and it begins');
SELECT ok(sf_drop_limit('limited'), 'a limit of a machine is dropped');
SELECT ok(sf_drop_limit('activity:limited_shell'), '... and one of an activity');
SELECT is_empty('SELECT FROM sf_limits', '... and not shown any more');
SELECT is(sf_run('limited:6'), 'RUNNING', 'what waited goes on');
SELECT is(sf_run('limited:7'), 'RUNNING', '... all of it');
SELECT is(pg_temp.answer(), '6', '... to its task');
SELECT is(pg_temp.answer(), '7', '... each');
SELECT is(sf_run('limited:6'), 'SUCCEEDED', '... and to its end');
SELECT is(sf_run('limited:7'), 'SUCCEEDED', '... both');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT is((SELECT count(*) FROM _sfflow.limit_slot), 0::bigint, 'no slot is taken');
SELECT is((SELECT count(*) FROM _sfflow.parked WHERE feature = 'limit'), 0::bigint, '... nothing waits');
SELECT results_eq($$ SELECT action COLLATE "default" FROM sf_audit WHERE action LIKE '%limit' AND target = 'limited'
	ORDER BY at $$,
	$$ VALUES ('set limit'), ('set limit'), ('set limit'), ('drop limit') $$, 'all that is recorded');

-- Branches that come from an answer in one slice: the second one finds the first one in the queue, whose row is still
-- that of before.
SELECT sf_create_activity('limited_next') \g /dev/null
SELECT sf_create_state_machine('limited_both', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Branches": [
	{"StartAt": "A1", "States": {"A1": {"Type": "Task", "Resource": "activity:limited_shell", "Next": "B1"},
		"B1": {"Type": "Task", "Resource": "activity:limited_next", "End": true}}},
	{"StartAt": "A2", "States": {"A2": {"Type": "Task", "Resource": "activity:limited_shell", "Next": "B2"},
		"B2": {"Type": "Task", "Resource": "activity:limited_next", "End": true}}}]}}}') \g /dev/null
SELECT sf_create_state_machine('limited_next', '{"StartAt": "B", "States": {"B": {"Type": "Task",
	"Resource": "activity:limited_next", "End": true}}}') \g /dev/null
SELECT sf_set_limit('activity:limited_next', max_running => 1) \g /dev/null
SELECT sf_start('limited_next', '{}', '1'), sf_run('limited_next:1'), sf_start('limited_both', '{}', '1'),
	sf_run('limited_both:1') \g /dev/null
SELECT pg_temp.answer(), pg_temp.answer(), sf_run('limited_both:1') \g /dev/null
SELECT is(pg_temp.shown(), 'activity:limited_next|1|1|2', 'two branches that come from answers in one slice wait');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT sf_stop('limited_next:1'), sf_run('limited_both:1') \g /dev/null
SELECT is(pg_temp.shown(), 'activity:limited_next|1|1|1', '... and go on one after the other');
SELECT sf_stop('limited_both:1'), sf_drop_limit('activity:limited_next') \g /dev/null
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
