-- Limits as objects: what sf_set_limit refuses, whose they are, and those of an older dump.
BEGIN;
SELECT plan(18);

SELECT current_schema AS schema \gset
CREATE TABLE ran (job text);
CREATE FUNCTION limited_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ran VALUES (payload ->> 'job');
	RETURN '{}';
END $$;
SELECT sf_create_activity('limited_shell') \g /dev/null
SELECT sf_create_state_machine('limited', format('{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:%s.limited_task", "ResultPath": null, "Next": "B"},
	"B": {"Type": "Task", "Resource": "activity:limited_shell", "End": true}}}', current_schema)::json) \g /dev/null

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

-- A dump that was made before limits had all of their columns.
SELECT lives_ok($$ INSERT INTO _sfflow.run_limit (kind, name, in_definition, max_running, highest, fails, set_at,
		set_by)
	VALUES ('resource', 'sql:older', false, 1, 1, false, clock_timestamp(), current_user) $$,
	'a limit of an older dump is restored');
SELECT is((SELECT counted FROM _sfflow.run_limit), false, '... and what runs is counted anew');
DELETE FROM _sfflow.run_limit;

-- What waits for limits of another role's machines costs no look each.
CREATE ROLE limited_stranger;
SELECT sf_grant('CREATE', '*', 'limited_stranger') \g /dev/null
SET LOCAL ROLE limited_stranger;
SELECT sf_create_state_machine('limited_strange', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')
	\g /dev/null
SELECT sf_start('limited_strange', '{}', 's'), sf_run('limited_strange:s'), sf_set_limit('limited_strange',
	key => '$.k', max_running => 1) \g /dev/null
RESET ROLE;
INSERT INTO _sfflow.parked (execution_no, branch_no, feature, object_no, queue, as_if_since, since, kind)
	SELECT e.execution_no, -100 - n, 'limit', l.limit_no, n, now(), now(), 3
	FROM generate_series(1, 1000) AS n, _sfflow.run_limit l, _sfflow.execution e
	WHERE l.name = 'limited_strange' AND e.execution_id = 'limited_strange:s';
SELECT sf_create_state_machine('limited_beside', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}') \g /dev/null
SELECT sf_start('limited_beside', '{}', 'beside') \g /dev/null
SELECT pg_stat_get_xact_numscans('_sfflow.parked_queue'::regclass) AS scans \gset
CALL sf_run_due();
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'limited_beside:beside'), 'SUCCEEDED',
	'what is due runs beside queues of another role');
SELECT cmp_ok(pg_stat_get_xact_numscans('_sfflow.parked_queue'::regclass) - :scans, '<', 500::bigint,
	'... without a look at each of them');
DELETE FROM _sfflow.parked WHERE branch_no < -100;
SELECT sf_drop_state_machine('limited_strange', force => true) \g /dev/null

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
SELECT is((SELECT string_agg(for_owner || ' ' || max_running, ', ' ORDER BY max_running) FROM _sfflow.run_limit
		WHERE for_owner IS NOT NULL), 'limited_heir 1, limited_heir 3', 'limits are passed on with what a role owns');
SELECT lives_ok('DROP ROLE limited_leaver', '... and do not keep it');

SELECT * FROM finish();
ROLLBACK;
