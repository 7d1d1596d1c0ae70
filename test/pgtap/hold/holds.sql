-- sf_hold and sf_release: nothing of what is held begins, and everything goes on afterwards.
-- needs: limit
BEGIN;
SELECT plan(87);

SELECT current_schema AS schema \gset
CREATE TABLE ran (job text);
CREATE FUNCTION held_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ran VALUES (payload ->> 'job');
	RETURN '{}';
END $$;
CREATE FUNCTION pg_temp.ran() RETURNS text LANGUAGE sql AS $$ SELECT coalesce(string_agg(job, ' ' ORDER BY job), '')
	FROM ran $$;
CREATE FUNCTION pg_temp.task(job text, further text) RETURNS text LANGUAGE sql AS $$
	SELECT format('"%s": {"Type": "Task", "Resource": "sql:%s.held_task", "Parameters": {"job": "%s"}, "ResultPath": '
		'null, %s}', job, current_schema, job, further) $$;
SELECT sf_create_state_machine('held', format('{"StartAt": "A", "States": {%s, "W": {"Type": "Wait", "Seconds": 5,
		"Next": "B"}, %s}}',
	pg_temp.task('A', '"Next": "W"'), pg_temp.task('B', '"End": true'))::json) \g /dev/null

-- A machine.
SELECT ok(sf_hold('held', reason => 'the disk is full'), 'a machine is held');
SELECT is(sf_start('held', name => '1'), 'held:1', 'it can be started');
SELECT results_eq($$ SELECT state, outcome, next_state, status FROM sf_step('held:1') $$,
	$$ VALUES ('A', 'held', 'A', 'RUNNING') $$, 'its first step does not begin');
SELECT is(sf_run('held:1'), 'RUNNING', 'nothing is due');
SELECT is(pg_temp.ran(), '', 'nothing has run');
SELECT is((SELECT status || '|' || waiting_on || '|' || (started_at IS NULL) FROM sf_executions
		WHERE execution_id = 'held:1'), 'RUNNING|"A" held|true', 'it has not begun');
SELECT is((SELECT status FROM sf_list_executions('held', 'RUNNING')), 'RUNNING', 'lists have it');
SELECT is((SELECT concat_ws('|', target, state, since <= clock_timestamp(), held_by, reason, waiting) FROM sf_holds),
	'held|t|' || current_user || '|the disk is full|1', 'the view shows it');
SELECT ok(NOT sf_hold('held'), 'a machine that is held is not held again');
SELECT is((SELECT count(*) FROM sf_holds), 1::bigint, '... and there is one hold');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together while a branch waits');
SELECT is(sf_release('held'), 1::bigint, 'one branch goes on');
SELECT is_empty('SELECT FROM sf_holds', 'nothing is held');
SELECT is(sf_release('held'), 0::bigint, 'a release of what is not held does nothing');
SELECT is(sf_run('held:1', true), 'SUCCEEDED', 'it goes on');
SELECT is(pg_temp.ran(), 'A B', 'each job ran once');
SELECT is((SELECT string_agg(action || ' ' || target, ', ' ORDER BY at) FROM sf_audit
		WHERE action IN ('hold', 'release')), 'hold held, release held', 'both are recorded');

-- A state: timers go on, and their work waits.
DELETE FROM ran;
SELECT ok(sf_hold('held/B'), 'a state is held');
SELECT sf_start('held', name => '2') \g /dev/null
SELECT is(sf_run('held:2', true), 'RUNNING', 'the states before it run');
SELECT is(pg_temp.ran(), 'A', '... and the wait ends');
SELECT is((SELECT waiting_on FROM sf_executions WHERE execution_id = 'held:2'), '"B" held', 'what it waits for');
SELECT is((SELECT target || '|' || state || '|' || waiting FROM sf_holds), 'held|B|1', 'the view has the state');
SELECT ok(sf_hold('held:2'), 'the execution is held, too');
SELECT is(sf_release('held', 'B'), 1::bigint, 'the state is released');
SELECT is(sf_run('held:2'), 'RUNNING', 'the other hold stays');
SELECT is((SELECT target || '|' || waiting FROM sf_holds), 'held:2|1', 'it waits for that');
SELECT is(sf_release('held:2'), 1::bigint, 'now it goes on');
SELECT is(sf_run('held:2'), 'SUCCEEDED', '... to its end');

-- An execution, and one state of it; others run.
SELECT sf_start('held', name => n) FROM unnest(ARRAY['3', '4']) AS n \g /dev/null
SELECT ok(sf_hold('held:3', 'B'), 'a state of an execution');
SELECT is(sf_run('held:3', true), 'RUNNING', 'it is held');
SELECT is(sf_run('held:4', true), 'SUCCEEDED', 'the other one runs');
SELECT is(sf_stop('held:3'), 'ABORTED', 'what waits can be stopped');
SELECT is((SELECT waiting FROM sf_holds), 0::bigint, 'it waits no more');
SELECT sf_redrive('held:3') \g /dev/null
SELECT is(sf_run('held:3', true), 'RUNNING', 'and redriven: it is held again');
SELECT is((SELECT waiting FROM sf_holds), 1::bigint, '... and counted');
SELECT is(sf_release('held:3', 'B'), 1::bigint, 'released');
SELECT is(sf_run('held:3', true), 'SUCCEEDED', 'to its end');
SELECT throws_ok($$ SELECT sf_hold('held:3') $$, 'SF027', 'execution "held:3" is SUCCEEDED and cannot be held');

-- Children of a Distributed Map are part of their execution, branches of a Parallel wait each by itself, siblings abort
-- what waits.
SELECT sf_create_state_machine('held_map', format('{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
		"ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "A", "States": {%s}}}}}',
	pg_temp.task('A', '"End": true'))::json) \g /dev/null
SELECT sf_start('held_map', '[1, 2, 3]', 'x'), sf_hold('held_map:x', 'A') \g /dev/null
SELECT is(sf_run('held_map:x'), 'RUNNING', 'a Distributed Map');
SELECT is((SELECT waiting FROM sf_holds), 3::bigint, 'its children wait');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT is(sf_release('held_map:x', 'A'), 3::bigint, 'they go on');
SELECT is(sf_run('held_map:x'), 'SUCCEEDED', '... to the end');
SELECT sf_create_state_machine('held_parallel', format('{"StartAt": "P", "States": {"P": {"Type": "Parallel",
		"End": true, "Branches": [
	{"StartAt": "A", "States": {%s}}, {"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "No"}}}]}}}',
	pg_temp.task('A', '"End": true'))::json) \g /dev/null
SELECT sf_start('held_parallel', name => 'x'), sf_hold('held_parallel/A') \g /dev/null
SELECT is(sf_run('held_parallel:x'), 'FAILED', 'a branch that waits is aborted with the others');
SELECT is(sf_release('held_parallel/A'), 0::bigint, 'nothing waits for the hold');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

-- A resource, by its name or what it is mapped to.
SELECT sf_hold('sql:' || current_schema || '.held_task') \g /dev/null
SELECT sf_start('held', name => '5') \g /dev/null
SELECT is(sf_run('held:5'), 'RUNNING', 'a function is held');
SELECT is(sf_release('sql:' || current_schema || '.held_task'), 1::bigint, 'released');
SELECT sf_create_state_machine('held_mapped', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "arn:aws:lambda:us-east-1:1:function:held", "End": true}}}') \g /dev/null
SELECT sf_map_resource('arn:aws:lambda:us-east-1:1:function:held', 'sql:' || current_schema || '.held_task')
	\g /dev/null
SELECT sf_hold('sql:' || current_schema || '.held_task') \g /dev/null
SELECT sf_start('held_mapped', name => '1') \g /dev/null
SELECT is(sf_run('held_mapped:1'), 'RUNNING', 'also what is mapped to it');
SELECT sf_release('sql:' || current_schema || '.held_task') \g /dev/null
SELECT is(sf_run('held_mapped:1'), 'SUCCEEDED', '... and released');

-- An activity: its tasks are queued.
SELECT sf_create_activity('held_shell') \g /dev/null
SELECT sf_create_state_machine('held_outside', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "activity:held_shell", "End": true}}}') \g /dev/null
SELECT sf_start('held_outside', name => n), sf_run('held_outside:' || n) FROM unnest(ARRAY['1', '2']) AS n \g /dev/null
SELECT task_token AS token FROM sf_get_activity_task('held_shell') \gset
SELECT ok(sf_hold('activity:held_shell'), 'an activity');
SELECT is_empty($$ SELECT FROM sf_get_activity_task('held_shell') $$, 'it hands nothing out');
SELECT is((SELECT target || '|' || waiting FROM sf_holds), 'activity:held_shell|1', 'a task waits');
SELECT sf_send_task_success(:'token') \g /dev/null
SELECT is(sf_run('held_outside:1'), 'SUCCEEDED', 'a task that runs can be answered');
SELECT is(sf_run('held_outside:2'), 'RUNNING', '... the other one waits');
SELECT sf_release('activity:held_shell') \g /dev/null
SELECT is((SELECT count(*) FROM sf_get_activity_task('held_shell')), 1::bigint, 'released, it hands out again');

-- A stop of many reaches what has not begun.
SELECT sf_hold('held') \g /dev/null
SELECT sf_start('held', name => 'never'), sf_run('held:never') \g /dev/null
SELECT is((SELECT outcome FROM sf_stop_many('held') WHERE execution_id = 'held:never'), 'stopped',
	'what is held can be stopped with others');
SELECT sf_release('held') \g /dev/null

-- A schedule: its executions start and wait.
INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, timezone, cron_job_id,
	changed_at, created_at)
VALUES ('held_schedule', current_user::regrole, '0 2 * * *', 'held', '{}', 'UTC', 0, now(), now());
SELECT ok(sf_hold('schedule:held_schedule'), 'a schedule');
-- At its next time: one day later it would have missed that.
SELECT _sfflow.run_schedule_at('held_schedule', min(scheduled_for)) AS scheduled
	FROM sf_schedule_preview('held_schedule', now(), now() + interval '1 day') \gset
SELECT is(sf_run(:'scheduled', true), 'RUNNING', 'its execution does not begin');
SELECT is((SELECT target || '|' || waiting FROM sf_holds), 'schedule:held_schedule|1', 'the view shows it');
SELECT is(sf_release('schedule:held_schedule'), 1::bigint, 'released');
SELECT is(sf_run(:'scheduled', true), 'SUCCEEDED', '... it runs');

-- A savepoint.
SAVEPOINT s;
SELECT sf_hold('held') \g /dev/null
ROLLBACK TO s;
SELECT sf_start('held', name => '6') \g /dev/null
SELECT is(sf_run('held:6', true), 'SUCCEEDED', 'a hold that was rolled back holds nothing');

-- Bad input, rights.
SELECT throws_ok($$ SELECT sf_hold(NULL) $$, '22004', 'argument target must not be null');
SELECT throws_ok($$ SELECT sf_hold('nothing') $$, 'SF003');
SELECT throws_ok($$ SELECT sf_hold('held/C') $$, 'SF012', 'state machine "held" has no state "C"');
SELECT throws_ok($$ SELECT sf_hold('held/A', 'B') $$, 'SF012', 'argument state is for a state machine or an execution');
SELECT throws_ok($$ SELECT sf_hold('activity:held_shell', 'B') $$, 'SF012');
SELECT throws_ok($$ SELECT sf_hold('schedule:nothing') $$, '42704', 'schedule "nothing" does not exist');
CREATE ROLE held_stranger; CREATE ROLE held_operator;
SELECT sf_grant('OPERATE', 'held', 'held_operator'), sf_grant('READ', 'held', 'held_operator') \g /dev/null
SET LOCAL ROLE held_stranger;
SELECT throws_ok($$ SELECT sf_hold('held') $$, 'SF003');
SELECT throws_ok($$ SELECT sf_release('activity:held_shell') $$, 'SF018');
SELECT throws_ok($$ SELECT sf_hold('held:6') $$, 'SF005');
SELECT ok(sf_hold('sql:' || :'schema' || '.held_task'), 'a resource, for machines of the role');
RESET ROLE;
SELECT sf_start('held', name => '7') \g /dev/null
SELECT is(sf_run('held:7', true), 'SUCCEEDED', '... and for no other ones');
SET LOCAL ROLE held_operator;
SELECT ok(sf_hold('held/A'), 'an operator holds');
SELECT is((SELECT count(*) FROM sf_holds), 1::bigint, '... sees it, and not those of other roles');
SELECT is(sf_release('held/A'), 0::bigint, '... and releases');
RESET ROLE;

-- A hold of a resource for all roles.
SELECT sf_hold('sql:' || :'schema' || '.held_other') \g /dev/null
SET LOCAL ROLE held_operator;
SELECT sf_release('sql:' || :'schema' || '.held_other') \g /dev/null
RESET ROLE;
SELECT is((SELECT count(*) FROM _sfflow.hold WHERE name LIKE '%.held_other'), 1::bigint,
	'an administrator''s hold of a resource is not released by another role');
SELECT sf_release('sql:' || :'schema' || '.held_other') \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.hold WHERE name LIKE '%.held_other'), 0::bigint, '... but by an administrator');

-- The role of such a hold is not dropped.
SELECT throws_ok('DROP ROLE held_stranger', '2BP01', NULL, 'a role whose machines a hold is for cannot be dropped');
CREATE ROLE held_heir;
SELECT sf_reassign_owned('held_stranger', 'held_heir') \g /dev/null
SELECT lives_ok('DROP ROLE held_stranger', '... unless another role has taken over what it owns');
SELECT throws_ok('DROP ROLE held_heir', '2BP01', NULL, '... and the hold');
SELECT is(sf_release('sql:' || :'schema' || '.held_task'), 0::bigint, 'an administrator releases it');
SELECT lives_ok('DROP ROLE held_heir', '... and nothing names the role');

SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

-- Rights are looked up by set, not for each hold or limit of others.
SELECT sf_create_activity('held_' || i), sf_hold('activity:held_' || i), sf_set_limit('activity:held_' || i,
	max_running => 1) FROM generate_series(1, 100) AS i \g /dev/null
CREATE ROLE hold_stranger;
CREATE FUNCTION pg_temp.scans_of_rights() RETURNS bigint LANGUAGE sql AS
	$$ SELECT sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::bigint FROM pg_stat_xact_all_tables
	WHERE schemaname = '_sfflow' AND relname IN ('privilege', 'activity') $$;
SELECT pg_temp.scans_of_rights() AS scans \gset before_
SET LOCAL ROLE hold_stranger;
SELECT is((SELECT count(*) FROM sf_holds) + (SELECT count(*) FROM sf_limits) + (SELECT count(*) FROM sf_activities),
	0::bigint, 'a stranger sees no activity, no hold and no limit of one');
RESET ROLE;
SELECT cmp_ok(pg_temp.scans_of_rights() - :before_scans, '<', 20::bigint, '... and rights are looked up by set');

SELECT * FROM finish();
ROLLBACK;
