-- Keys of executions: where they come from, what children get, what is refused. Without a cluster every key is at home.
BEGIN;
SELECT plan(12);

SELECT sf_create_state_machine('child', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}') \g /dev/null
SELECT sf_create_state_machine('m', '{"StartAt": "C", "States": {"C": {"Type": "Task", "End": true,
	"Resource": "arn:aws:states:::states:startExecution",
	"Parameters": {"StateMachineArn": "child", "Name.$": "$.child", "Input": {}}}}}',
	options => '{"key_path": "$.tenant"}') \g /dev/null

CREATE FUNCTION pg_temp.key_of(id text) RETURNS text LANGUAGE sql
	AS $$ SELECT key FROM sf_execution_keys WHERE execution_id = id $$;

SELECT sf_start('child', '{}', 'plain') \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.execution_key), 0::bigint, 'without a key there is no row');
SELECT sf_start('child', '{}', '{"name": "given", "key": "t7"}'::jsonb) \g /dev/null
SELECT is(pg_temp.key_of('child:given'), 't7', 'the key of a start');
SELECT sf_start('m', '{"tenant": "t1", "child": "c1"}', 'a') \g /dev/null
SELECT is(pg_temp.key_of('m:a'), 't1', 'the key of the machine''s path');
SELECT sf_start('m', '{"tenant": 17, "child": "c2"}', '{"name": "b"}'::jsonb) \g /dev/null
SELECT is(pg_temp.key_of('m:b'), '17', 'a number is a key');
SELECT sf_start('m', '{"tenant": "t1", "child": "c3"}', '{"name": "c", "key": "t9"}'::jsonb) \g /dev/null
SELECT is(pg_temp.key_of('m:c'), 't9', 'the key of the start counts');
SELECT is(sf_run('m:a'), 'SUCCEEDED', 'it runs, and its child');
SELECT is(pg_temp.key_of('child:c1'), 't1', 'a child has the key of its parent');
SELECT is((SELECT here FROM sf_find_home('t1')), true, 'where there is no cluster, a key is at home');
SELECT throws_ok($$ SELECT sf_start('m', '{"tenant": {}, "child": "x"}', 'd') $$, 'SF010', NULL, 'an object is no key');
SELECT throws_ok($$ SELECT sf_start('child', '{}', '{"key": ""}'::jsonb) $$, 'SF010',
	'the key of the execution must have from 1 to 256 characters', 'an empty text is no key');
SELECT throws_ok($$ SELECT sf_create_state_machine('bad', '{"StartAt": "A", "States": {"A": {"Type": "Pass",
		"End": true}}}',
	options => '{"key_path": 3}') $$, 'SF012', NULL, 'a path is a text');
SELECT is_empty($$ SELECT * FROM sf_check() $$, 'sf_check is content');

SELECT * FROM finish();
ROLLBACK;
