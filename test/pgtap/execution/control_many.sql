-- sf_redrive_many and sf_stop_many.
BEGIN;
SELECT plan(39);

CREATE TABLE good (name text);
CREATE FUNCTION many_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF payload ->> 'n' <> ALL (ARRAY(SELECT name FROM good)) THEN
		RAISE EXCEPTION USING ERRCODE = CASE (payload ->> 'n')::int % 2 WHEN 0 THEN 'check_violation'
		ELSE 'unique_violation' END;
	END IF;
	RETURN payload;
END $$;
SELECT sf_create_state_machine(m, format('{"StartAt": "T", "States": {"T": {"Type": "Task",
		"Resource": "sql:%s.many_task", "End": true}}}', current_schema)::json)
FROM unnest(ARRAY['many_a', 'many_b']) AS m \g /dev/null
SELECT FROM sf_start_many('many_a', ARRAY(SELECT jsonb_build_object('n', n) FROM generate_series(1, 6) AS n),
	ARRAY(SELECT n::text FROM generate_series(1, 6) AS n)) \g /dev/null
SELECT sf_start('many_b', '{"n": 1}', '1') \g /dev/null
SELECT is((SELECT string_agg(DISTINCT sf_run(execution_id), ' ') FROM sf_executions WHERE state_machine LIKE 'many\_%'),
	'FAILED', 'all fail');

-- Filters.
SELECT results_eq($$ SELECT execution_id, outcome, reason FROM sf_redrive_many('many_a', error => 'check_violation',
		max => 2) $$,
	$$ VALUES ('many_a:2', 'redriven', NULL), ('many_a:4', 'redriven', NULL) $$,
	'an error, and not more than two, in order');
SELECT results_eq($$ SELECT name COLLATE "default", redrive_count FROM sf_executions WHERE state_machine = 'many_a'
	AND status = 'RUNNING' ORDER BY 1 $$,
	$$ VALUES ('2', 1), ('4', 1) $$, '... and no other');
SELECT is_empty($$ SELECT FROM sf_redrive_many('many_a', status => 'TIMED_OUT') $$, 'a status that none has');
SELECT is_empty($$ SELECT FROM sf_redrive_many('many_a', since => clock_timestamp() + interval '1 hour') $$,
	'a time after all ends');
SELECT is_empty($$ SELECT FROM sf_redrive_many('many_a', max => 0) $$, 'none');
SELECT is((SELECT count(*) FROM sf_redrive_many(status => 'FAILED', since => now() - interval '1 hour',
			comment => 'disk was full')), 5::bigint, 'the others, of all machines');
SELECT is((SELECT count(*) FROM sf_redrive_many()), 0::bigint, 'what runs is not redriven');
SELECT is((SELECT count(*) FROM sf_audit WHERE action = 'redrive' AND reason = 'disk was full'), 5::bigint,
	'each is recorded');
INSERT INTO good SELECT generate_series(1, 6)::text;
SELECT is((SELECT string_agg(DISTINCT sf_run(execution_id), ' ') FROM sf_executions WHERE state_machine LIKE 'many\_%'),
	'SUCCEEDED', 'they go on');
SELECT is((SELECT max(redrive_count) FROM sf_executions WHERE state_machine LIKE 'many\_%'), 1, '... once each');

-- Stop: what runs, and what no worker has taken.
SELECT sf_create_state_machine('many_w', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "FailureMode": "DRAIN",
	"End": true, "Branches": [
	{"StartAt": "C", "States": {"C": {"Type": "Choice", "Choices": [{"Variable": "$.bad", "BooleanEquals": true,
		"Next": "F"}], "Default": "S"}, "F": {"Type": "Fail", "Error": "Bad"}, "S": {"Type": "Succeed"}}},
	{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 10000, "End": true}}}]}}}') \g /dev/null
SELECT FROM sf_start_many('many_w', ARRAY(SELECT jsonb_build_object('bad', n % 2 = 0) FROM generate_series(1, 4) AS n),
	ARRAY(SELECT n::text FROM generate_series(1, 4) AS n)) \g /dev/null
SELECT sf_run('many_w:1'), sf_run('many_w:2') \g /dev/null
SELECT results_eq($$ SELECT execution_id, outcome FROM sf_stop_many('many_w', error => 'Bad') $$,
	$$ VALUES ('many_w:2', 'stopped') $$, 'those in which a branch has failed');
SELECT results_eq($$ SELECT execution_id, outcome FROM sf_stop_many('many_w', max => 1) $$,
	$$ VALUES ('many_w:1', 'stopped') $$, 'one');
SELECT results_eq($$ SELECT execution_id, outcome FROM sf_stop_many('many_w', 'RUNNING', cause => 'night is over') $$,
	$$ VALUES ('many_w:3', 'stopped'), ('many_w:4', 'stopped') $$, 'also those that have not begun');
SELECT is((SELECT string_agg(DISTINCT status, ' ') FROM sf_executions WHERE state_machine = 'many_w'), 'ABORTED',
	'all are stopped');
SELECT is((SELECT cause FROM sf_executions WHERE execution_id = 'many_w:4'), 'night is over', 'with the cause');
SELECT is((SELECT count(*) FROM sf_audit WHERE action = 'stop' AND reason = 'night is over'), 2::bigint,
	'which is recorded');
SELECT is((SELECT count(*) FROM sf_redrive_many('many_w', 'ABORTED')), 4::bigint, 'what was stopped is redriven');
SELECT is((SELECT count(*) FROM sf_stop_many()), 4::bigint, 'of all machines');

-- Items of a Map run that tolerated failures.
DELETE FROM good;
SELECT sf_create_state_machine('many_m', format('{"StartAt": "M", "States": {"M": {"Type": "Map",
		"ToleratedFailurePercentage": 100, "End": true, "ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "T",
		"States": {"T": {"Type": "Task", "Resource": "sql:%s.many_task", "End": true}}}}}}', current_schema)::json)
	\g /dev/null
SELECT sf_start('many_m', '[{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]', 'x') \g /dev/null
SELECT is(sf_run('many_m:x'), 'SUCCEEDED', 'a Map whose items fail');
SELECT is((SELECT count(*) FROM sf_redrive_many('many_m')), 0::bigint, 'items are no executions of their own');
SELECT map_run_arn AS run FROM sf_map_runs WHERE execution_id = 'many_m:x' \gset
INSERT INTO good VALUES ('2'), ('3'), ('4');
SELECT is((SELECT count(*) FROM sf_redrive_many(map_run => :'run', error => 'check_violation', max => 1)
		WHERE outcome = 'redriven'), 1::bigint, 'one of them');
SELECT is((SELECT items_failed || ' ' || running || ' ' || redrive_count FROM sf_map_runs
		WHERE execution_id = 'many_m:x'), '3 1 1', 'the run counts it');
SELECT sf_run('many_m:x') \g /dev/null
SELECT is((SELECT count(*) FROM sf_redrive_many(map_run => :'run') WHERE outcome = 'redriven'), 3::bigint,
	'the others');
SELECT sf_run('many_m:x') \g /dev/null
SELECT is((SELECT items_failed || ' ' || items_succeeded || ' ' || redrive_count FROM sf_map_runs
		WHERE execution_id = 'many_m:x'), '1 3 2', 'those that can succeed do');
SELECT is((SELECT count(*) FROM sf_history WHERE execution_id = 'many_m:x' AND type = 'MapRunRedriven'), 2::bigint,
	'the history tells');
SELECT sf_create_state_machine('many_f', (SELECT replace(definition::text, '"ToleratedFailurePercentage": 100, ',
			'')::json FROM sf_state_machines WHERE state_machine = 'many_m')) \g /dev/null
SELECT sf_start('many_f', '[{"n": 1}]', 'x'), sf_run('many_f:x') \g /dev/null
SELECT map_run_arn AS failed FROM sf_map_runs WHERE execution_id = 'many_f:x' \gset
SELECT results_eq(format('SELECT execution_id, outcome, reason FROM sf_redrive_many(map_run => %L)', :'failed'),
	$$ VALUES ('many_f:x', 'refused', 'it is FAILED: sf_redrive(''many_f:x'') runs all of its items again that did not '
		'succeed') $$, 'a run whose execution failed goes on with it');

-- Quotas, bad input.
CREATE ROLE many_poor; CREATE ROLE many_operator; CREATE ROLE many_nobody;
ALTER ROLE many_poor SET sfflow.max_starts_per_owner = 3;
SET LOCAL ROLE many_poor;
SELECT sf_create_state_machine('many_p', '{"StartAt": "F", "States": {"F": {"Type": "Fail"}}}') \g /dev/null
SELECT sf_start('many_p', name => 'a'), sf_start('many_p', name => 'b'), sf_run('many_p:a'), sf_run('many_p:b')
	\g /dev/null
SELECT results_eq($$ SELECT execution_id, outcome, substring(reason for 32) FROM sf_redrive_many('many_p') $$,
	$$ VALUES ('many_p:a', 'redriven', NULL), ('many_p:b', 'refused', 'sfflow.max_starts_per_owner (3) ') $$,
	'a quota');
RESET ROLE;
SELECT throws_ok($$ SELECT sf_redrive_many('many_a', status => 'RUNNING') $$, 'SF012',
	'argument status must not be "RUNNING"');
SELECT throws_ok($$ SELECT sf_redrive_many('many_a', status => 'SUCCEEDED') $$, 'SF012');
SELECT throws_ok($$ SELECT sf_stop_many('many_a', status => 'FAILED') $$, 'SF012',
	'argument status must not be "FAILED"');
SELECT throws_ok($$ SELECT sf_redrive_many('many_a', max => -1) $$, 'SF012', 'argument max must not be negative');
SELECT throws_ok($$ SELECT sf_redrive_many('many_x') $$, 'SF003');
SELECT throws_ok($$ SELECT sf_redrive_many(map_run => 'nonsense') $$, 'SF005', 'Map run "nonsense" does not exist');

-- Rights: a machine that is named raises, others are left out.
SELECT sf_grant('OPERATE', 'many_w', 'many_operator') \g /dev/null
SET LOCAL ROLE many_operator;
SELECT is((SELECT count(*) FROM sf_redrive_many()), 4::bigint, 'an operator redrives what it may');
SELECT throws_ok(format('SELECT sf_redrive_many(map_run => %L)', :'run'), 'SF005', NULL, '... and no items of others');
SELECT throws_ok($$ SELECT sf_stop_many('many_a') $$, 'SF003');
RESET ROLE;
SET LOCAL ROLE many_nobody;
SELECT is_empty('SELECT FROM sf_redrive_many() UNION ALL SELECT FROM sf_stop_many()',
	'a role without a right reaches nothing');
RESET ROLE;
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
