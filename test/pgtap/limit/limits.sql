-- sf_set_limit: never more runs than a limit allows, and everything runs.
BEGIN;
SELECT plan(139);

SELECT current_schema AS schema \gset
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
SELECT is((SELECT count(*) FROM _sfflow.held WHERE feature = 'limit'), 0::bigint, '... nothing waits');
SELECT results_eq($$ SELECT action COLLATE "default" FROM sf_audit WHERE action LIKE '%limit' AND target = 'limited'
	ORDER BY at $$,
	$$ VALUES ('set limit'), ('set limit'), ('set limit'), ('drop limit') $$, 'all that is recorded');

-- A key: each value has the limit for itself.
DELETE FROM ran;
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
DELETE FROM ran;
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

-- Priority comes before age.
SELECT sf_set_limit('limited_pair', max_running => 1) \g /dev/null
SELECT sf_start('limited_pair', '{}', 'p1') \g /dev/null
SELECT is(sf_run('limited_pair:p1'), 'RUNNING', 'one runs');
SELECT sf_start('limited_pair', '{}', 'p2'), sf_start('limited_pair', '{}', 'p3', priority => 1),
	sf_start('limited_pair', '{}', 'p4', priority => -1) \g /dev/null
SELECT sf_run('limited_pair:p' || n) FROM generate_series(2, 4) AS n \g /dev/null
SELECT is((SELECT string_agg(e.execution_id, ' ' ORDER BY w.rank) FROM _sfflow.held w
		JOIN _sfflow.execution e USING (execution_no)), 'limited_pair:p3 limited_pair:p2 limited_pair:p4',
	'the order of those that wait');
SELECT is(sf_stop('limited_pair:p1'), 'ABORTED', 'one releases its slot');
SELECT is(sf_run('limited_pair:p2'), 'RUNNING', '... and the older one is looked at');
SELECT is((SELECT waiting FROM sf_limits), 3::bigint, 'it is not the turn of the older one');
SELECT is(sf_run('limited_pair:p3'), 'RUNNING', 'but of that with priority');
SELECT is(pg_temp.shown(), 'limited_pair|1|1|2', '... which takes the slot');
SELECT throws_ok($$ SELECT sf_start('limited_pair', priority => 1001) $$, 'SF012',
	'argument priority must be from -1000 to 1000');
SELECT throws_ok($$ SELECT sf_create_state_machine('limited_pair', '{"StartAt": "A",
		"States": {"A": {"Type": "Succeed"}}}', or_replace => true, options => '{"priority": 1.5}') $$, 'SF012',
	'option priority must be an integer from -1000 to 1000');
SELECT sf_create_state_machine('limited_urgent', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}',
	options => '{"priority": 7}') \g /dev/null
SELECT sf_start('limited_urgent', '{}', 'a'), sf_start('limited_urgent', '{}', 'b', priority => 0) \g /dev/null
SELECT is((SELECT string_agg(coalesce(priority::text, '-'), ' ' ORDER BY execution_id) FROM _sfflow.execution
		WHERE execution_id LIKE 'limited_urgent:%'), '7 -', 'the priority of the machine, and of a start');
SELECT sf_drop_limit('limited_pair'), sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null

-- A rank is of one queue: in the next one the branch comes behind those that wait there.
SELECT sf_set_limit('limited', max_running => 1), sf_set_limit('activity:limited_shell', max_running => 1) \g /dev/null
SELECT sf_start('limited', '{}', 'l1'), sf_run('limited:l1'), sf_start('limited', '{}', 'l2'), sf_run('limited:l2')
	\g /dev/null
SELECT sf_start('limited_pair', '{}', 'l3'), sf_run('limited_pair:l3'), sf_stop('limited:l1') \g /dev/null
SELECT sf_run('limited:l2') \g /dev/null
SELECT is((SELECT string_agg(e.execution_id, ' ' ORDER BY w.rank) FROM _sfflow.held w
		JOIN _sfflow.execution e USING (execution_no)), 'limited_pair:l3 limited:l2',
	'after its turn in one queue, it does not overtake in another');
SELECT sf_run('limited_pair:l3') \g /dev/null
SELECT is((SELECT string_agg(e.execution_id, ' ') FROM _sfflow.held w JOIN _sfflow.execution e USING (execution_no)),
	'limited:l2', '... what has waited there comes first');
SELECT sf_drop_limit('limited'), sf_drop_limit('activity:limited_shell') \g /dev/null
SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null

-- Branches of the same rank follow each other, also from page to page.
SELECT sf_set_limit('limited_pair', max_running => 1) \g /dev/null
SELECT sf_start('limited_pair', '{}', 'e' || n), sf_run('limited_pair:e' || n) FROM generate_series(0, 6) AS n
	\g /dev/null
UPDATE _sfflow.held SET rank = (SELECT min(rank) FROM _sfflow.held);
-- A row that is left over comes before them.
INSERT INTO _sfflow.held (execution_no, branch_no, feature, object_no, queue, rank, since)
	SELECT execution_no, -99, feature, object_no, queue, rank, since FROM _sfflow.held ORDER BY execution_no LIMIT 1;
SELECT sf_stop('limited_pair:e0') \g /dev/null
SELECT sf_run('limited_pair:e6') \g /dev/null
SELECT is((SELECT started_at FROM sf_executions WHERE execution_id = 'limited_pair:e6'), NULL,
	'those of the same rank come in the order of their start');
SELECT sf_drop_limit('limited_pair'), sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null

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

-- A limit that was lowered from very many costs what is in use, not what it once allowed.
SELECT sf_set_limit('limited', max_running => 1000000) \g /dev/null
SELECT sf_set_limit('limited', max_running => 30) \g /dev/null
SELECT sf_start('limited', '{}', 'h' || n) FROM generate_series(1, 31) AS n \g /dev/null
SET LOCAL statement_timeout = '5s';
SELECT lives_ok($$ SELECT sf_run('limited:h' || n) FROM generate_series(1, 31) AS n $$,
	'below a limit that was lowered from a million, each begins within a moment');
SET LOCAL statement_timeout = 0;
SELECT is(pg_temp.shown(), 'limited|30|30|1', '... up to the limit');
SELECT sf_drop_limit('limited'), sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null

-- What one limit has locked is no other one's, whatever their numbers.
DELETE FROM ran;
SELECT sf_set_limit('sql:' || :'schema' || '.limited_task', max_running => 1) \g /dev/null
SELECT setval('_sfflow.limit_no', (SELECT max(limit_no) FROM _sfflow.run_limit) + 4095) \g /dev/null
SELECT sf_set_limit('sql:other', max_running => 1) \g /dev/null
SELECT is((SELECT max(limit_no) - min(limit_no) FROM _sfflow.run_limit), 4096::bigint,
	'two limits whose numbers end in the same bits');
SELECT sf_start('limited', '{"job": 1}', 'bits'), sf_run('limited:bits') \g /dev/null
SELECT is(pg_temp.ran(), '1', 'a task has run');
SELECT is_empty('SELECT FROM _sfflow.limit_slot', '... that has a slot until the transaction ends, and no row');
SELECT is((SELECT string_agg(in_use::text, ' ' ORDER BY target = 'sql:other') FROM sf_limits), '1 0',
	'... in one of them');
SELECT sf_drop_limit('sql:' || :'schema' || '.limited_task'), sf_drop_limit('sql:other'), sf_stop(execution_id)
	FROM sf_executions WHERE status = 'RUNNING' \g /dev/null
SELECT setval('_sfflow.limit_no', greatest(5000, (SELECT last_value FROM _sfflow.limit_no))) \g /dev/null
SELECT sf_set_limit('sql:' || :'schema' || '.limited_task', max_running => 1) \g /dev/null
SELECT sf_start('limited', '{"job": 1}', 'high'), sf_run('limited:high') \g /dev/null
SELECT is((SELECT in_use FROM sf_limits), 1::bigint, '... and in that of a great number');
SELECT sf_drop_limit('sql:' || :'schema' || '.limited_task'), sf_stop(execution_id) FROM sf_executions
	WHERE status = 'RUNNING' \g /dev/null

-- A dump that was made before limits had all of their columns.
SELECT lives_ok($$ INSERT INTO _sfflow.run_limit (kind, name, state, key, in_definition, max_running, highest,
		fails, set_at, set_by)
	VALUES ('resource', 'sql:older', '', '', false, 1, 1, false, clock_timestamp(), current_user) $$,
	'a limit of an older dump is restored');
SELECT is((SELECT counted FROM _sfflow.run_limit), false, '... and what runs is counted anew');
DELETE FROM _sfflow.run_limit;

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

-- What waits for limits of another role's machines costs no look each.
CREATE ROLE limited_stranger;
SELECT sf_grant('CREATE', '*', 'limited_stranger') \g /dev/null
SET LOCAL ROLE limited_stranger;
SELECT sf_create_state_machine('limited_strange', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')
	\g /dev/null
SELECT sf_start('limited_strange', '{}', 's'), sf_run('limited_strange:s'), sf_set_limit('limited_strange',
	key => '$.k', max_running => 1) \g /dev/null
RESET ROLE;
INSERT INTO _sfflow.held (execution_no, branch_no, feature, object_no, queue, rank, since)
	SELECT e.execution_no, -100 - n, 'limit', l.limit_no, n, now(), now()
	FROM generate_series(1, 1000) AS n, _sfflow.run_limit l, _sfflow.execution e
	WHERE l.name = 'limited_strange' AND e.execution_id = 'limited_strange:s';
SELECT sf_start('limited_urgent', '{}', 'beside') \g /dev/null
SELECT pg_stat_get_xact_numscans('_sfflow.held_queue'::regclass) AS scans \gset
CALL sf_run_due();
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'limited_urgent:beside'), 'SUCCEEDED',
	'what is due runs beside queues of another role');
SELECT cmp_ok(pg_stat_get_xact_numscans('_sfflow.held_queue'::regclass) - :scans, '<', 500::bigint,
	'... without a look at each of them');
DELETE FROM _sfflow.held WHERE branch_no < -100;
SELECT sf_drop_state_machine('limited_strange', force => true) \g /dev/null

-- Bad input.
SELECT throws_ok($$ SELECT sf_set_limit(NULL, max_running => 1) $$, '22004', 'argument target must not be null');
SELECT throws_ok($$ SELECT sf_set_limit('nothing', max_running => 1) $$, 'SF003');
SELECT throws_ok($$ SELECT sf_set_limit('limited/C', max_running => 1) $$, 'SF012',
	'state machine "limited" has no state "C"');
SELECT throws_ok($$ SELECT sf_set_limit('limited:1', max_running => 1) $$, 'SF012',
	'a limit is of a state machine, a state, an activity or a resource');
SELECT throws_ok($$ SELECT sf_set_limit('limited') $$, 'SF012', 'argument max_running or rate must be given');
SELECT throws_ok($$ SELECT sf_set_limit('limited', key => 'tenant', max_running => 1) $$, 'SF012',
	'argument key must be a path into the input, such as $.tenant');
SELECT throws_ok($q$ SELECT sf_set_limit('limited', key => '$$.Execution.Id', max_running => 1) $q$, 'SF012');

-- The role of a limit of a resource is not dropped.
CREATE ROLE limited_role;
SET LOCAL ROLE limited_role;
SELECT sf_set_limit('sql:' || :'schema' || '.limited_task', max_running => 1) \g /dev/null
RESET ROLE;
SELECT sf_set_limit('sql:' || :'schema' || '.limited_task', max_running => 2) \g /dev/null
SELECT throws_ok('DROP ROLE limited_role', '2BP01', NULL, 'a role for whose machines a limit is cannot be dropped');
SET LOCAL ROLE limited_role;
SELECT ok(sf_drop_limit('sql:' || :'schema' || '.limited_task'), 'a role drops its own limit of a resource');
SELECT ok(NOT sf_drop_limit('sql:' || :'schema' || '.limited_task'), '... and not that for all roles');
RESET ROLE;
SELECT is((SELECT max_running FROM sf_limits), 2, '... which is left');
SELECT lives_ok('DROP ROLE limited_role', '... until the limit is');

-- What a role leaves to another one: its limits too, but those that the other one has.
CREATE ROLE limited_leaver;
CREATE ROLE limited_heir;
SET LOCAL ROLE limited_leaver;
SELECT sf_set_limit('sql:' || :'schema' || '.limited_task', max_running => 1),
	sf_set_limit('sql:other', max_running => 2) \g /dev/null
SET LOCAL ROLE limited_heir;
SELECT sf_set_limit('sql:other', max_running => 3) \g /dev/null
RESET ROLE;
SELECT sf_reassign_owned('limited_leaver', 'limited_heir') \g /dev/null
SELECT is((SELECT string_agg(owner || ' ' || max_running, ', ' ORDER BY max_running) FROM _sfflow.run_limit
		WHERE owner IS NOT NULL), 'limited_heir 1, limited_heir 3', 'limits are passed on with what a role owns');
SELECT lives_ok('DROP ROLE limited_leaver', '... and do not keep it');

-- A slot that is released, and taken by another one, in a block that is rolled back: it is its holder's as before.
SELECT sf_create_state_machine('undone', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "activity:limited_shell", "End": true}}}') \g /dev/null
SELECT sf_set_limit('undone/A', max_running => 1), sf_start('undone', '{}', 'a'), sf_start('undone', '{}', 'b'),
	sf_start('undone', '{}', 'c'), sf_run('undone:a') \g /dev/null
CREATE FUNCTION pg_temp.undo(VARIADIC steps text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. cardinality(steps) LOOP EXECUTE 'SELECT ' || steps[i]; END LOOP;
	RAISE 'undone';
EXCEPTION WHEN raise_exception THEN NULL;
END $$;
CREATE FUNCTION pg_temp.holders(OUT text) LANGUAGE sql AS $$
	SELECT string_agg(split_part(e.execution_id, ':', 2), ' ' ORDER BY e.execution_id) FROM _sfflow.limit_slot s
	JOIN _sfflow.execution e USING (execution_no) JOIN _sfflow.run_limit l USING (limit_no) WHERE l.name = 'undone' $$;
SELECT pg_temp.undo('sf_stop(''undone:a'')', 'sf_run(''undone:b'')') \g /dev/null
SELECT is(sf_run('undone:b'), 'RUNNING',
	'another one waits for the slot that was released in a block that was rolled back');
SELECT is(pg_temp.holders(), 'a', '... and its holder has it');
SELECT pg_temp.undo('sf_stop(''undone:a'')', 'sf_run(''undone:b'')', 'sf_stop(''undone:b'')', 'sf_run(''undone:c'')',
	'sf_stop(''undone:c'')') \g /dev/null
SELECT sf_run('undone:c') \g /dev/null
SELECT is(pg_temp.holders(), 'a', '... also when the block left it free');
SELECT sf_stop('undone:a'), sf_run('undone:b'), sf_run('undone:c') \g /dev/null
SELECT is(pg_temp.holders(), 'b', '... until it gives it back');

SELECT * FROM finish();
ROLLBACK;
