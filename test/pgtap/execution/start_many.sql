-- sf_start_many: the same as a call of sf_start for each.
BEGIN;
SELECT plan(31);

SELECT sf_create_state_machine('many', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}', '$.id')
	\g /dev/null
SELECT sf_create_state_machine('uuids', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}') \g /dev/null
SELECT sf_create_state_machine('breaks', '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "No"}}}')
	\g /dev/null
CREATE FUNCTION pg_temp.input(i integer) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('id', i, 'n',
	i * i) $$;

-- An array: more than a batch, in its order, with a name that comes twice.
SELECT results_eq($$ SELECT *
	FROM sf_start_many('many', ARRAY(SELECT pg_temp.input(i) FROM generate_series(1, 200) AS i)) $$,
	$$ SELECT i::text, 'started' FROM generate_series(1, 200) AS i $$, 'all are started');
SELECT is((SELECT count(*) FROM sf_executions WHERE state_machine = 'many' AND status = 'RUNNING'
		AND input = pg_temp.input(name::integer)), 200::bigint,
	'each with its input');
SELECT is((SELECT count(DISTINCT b.execution_no) FROM _sfflow.branch AS b
		JOIN _sfflow.execution AS e USING (execution_no)
	WHERE e.execution_id LIKE 'many:%' AND b.due_at <= clock_timestamp()), 200::bigint, 'and a branch that is due');
SELECT results_eq($$ SELECT *
	FROM sf_start_many('many', ARRAY(SELECT pg_temp.input(i) FROM generate_series(199, 202) AS i UNION ALL
			SELECT pg_temp.input(202))) $$,
	$$ VALUES ('199', 'running'), ('200', 'running'), ('201', 'started'), ('202', 'started'), ('202', 'running') $$,
	'a name starts once, also within a call');
SELECT is((SELECT start_requests FROM sf_executions WHERE execution_id = 'many:202'), 2, 'calls are counted');
SELECT is(sf_run('many:1'), 'SUCCEEDED', 'one runs');
SELECT results_eq($$ SELECT * FROM sf_start_many('many', ARRAY[pg_temp.input(1)]) $$, $$ VALUES ('1', 'succeeded') $$,
	'and has succeeded');
SELECT results_eq($$ SELECT * FROM sf_start_many('many', ARRAY[pg_temp.input(1)], if_exists => 'skip') $$,
	$$ VALUES ('1', 'skipped') $$, 'skip');
SELECT results_eq($$ SELECT * FROM sf_start_many('many', ARRAY[pg_temp.input(1)], if_exists => 'restart') $$,
	$$ VALUES ('1', 'restarted') $$, 'restart');
SELECT throws_ok($$ SELECT sf_start_many('many', ARRAY[pg_temp.input(203), '{"id": 2}'], if_exists => 'error') $$,
	'SF006', 'Execution Already Exists: ''many:2''');
SELECT is_empty($$ SELECT FROM sf_executions WHERE execution_id = 'many:203' $$, 'an error starts nothing');

-- Names.
SELECT results_eq($$ SELECT * FROM sf_start_many('breaks', '{"{}", "{\"a\": 1}"}'::jsonb[], ARRAY['a', 'b']) $$,
	$$ VALUES ('a', 'started'), ('b', 'started') $$, 'names');
SELECT is(sf_run('breaks:b'), 'FAILED', 'one fails');
SELECT results_eq($$ SELECT * FROM sf_start_many('breaks', '{"{}", "{\"a\": 1}"}'::jsonb[], ARRAY['a', 'b']) $$,
	$$ VALUES ('a', 'running'), ('b', 'redriven') $$, 'and is redriven');
SELECT is((SELECT count(*) FROM sf_start_many('uuids', '{"{}", "{}"}'::jsonb[], ARRAY[NULL, 'x'])
		WHERE length(name) = 36 OR name = 'x'), 2::bigint, 'a name that is null is a UUID');
SELECT throws_ok($$ SELECT sf_start_many('uuids', '{"{}", "{}"}'::jsonb[], ARRAY['x']) $$, 'SF012',
	'argument names must have as many elements as inputs');
SELECT throws_ok($$ SELECT sf_start_many('uuids', '{"{}", NULL}'::jsonb[]) $$, '22004', 'input 2 must not be null');
SELECT throws_ok($$ SELECT sf_start_many('many', '{"{}"}'::jsonb[]) $$, 'SF010', NULL, 'an input without the name');
SELECT is_empty($$ SELECT sf_start_many('many', '{}'::jsonb[]) $$, 'no input');

-- A query, as its caller.
CREATE TABLE source AS SELECT i FROM generate_series(1001, 1150) AS i;
SELECT results_eq($$ SELECT * FROM sf_start_many('many', 'SELECT pg_temp.input(i) FROM source ORDER BY i') $$,
	$$ SELECT i::text, 'started' FROM source $$, 'a query of inputs');
SELECT results_eq($$ SELECT * FROM sf_start_many('uuids',
		'SELECT jsonb_build_object(), i::text FROM source ORDER BY i LIMIT 64', 'skip') $$,
	$$ SELECT i::text, 'started' FROM source LIMIT 64 $$, 'a query of inputs and names');
SELECT throws_ok($$ SELECT sf_start_many('many', 'SELECT i FROM source') $$, 'SF012',
	'argument query must return an input (jsonb), or an input and a name (text)');
SELECT throws_ok($$ SELECT sf_start_many('many', 'DROP TABLE source') $$, 'SF012',
	'argument query must be one query that returns rows');
CREATE ROLE many_starter;
SELECT throws_ok($$ SET LOCAL ROLE many_starter; SELECT sf_start_many('many', ARRAY[pg_temp.input(9)]) $$, 'SF003',
	'state machine "many" does not exist');
SELECT sf_grant('START', 'many', 'many_starter') \g /dev/null
SELECT throws_ok($$ SET LOCAL ROLE many_starter; SELECT sf_start_many('many', 'SELECT pg_temp.input(i) FROM source') $$,
	'42501', 'permission denied for table source');

-- A priority of all of them, in place of the machine's.
SELECT sf_create_state_machine('urgent', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}',
	options => '{"priority": 7}') \g /dev/null
SELECT sf_start_many('urgent', '{"{}", "{}"}'::jsonb[], '{a, b}', priority => 9) \g /dev/null
SELECT sf_start_many('urgent', '{"{}"}'::jsonb[], '{c}'), sf_start_many('urgent', $$ SELECT jsonb_build_object(),
	n FROM unnest('{d, e}'::text[]) AS n $$, 'skip', -3) \g /dev/null
SELECT is((SELECT string_agg(execution_id || ' ' || priority, ', ' ORDER BY execution_id) FROM _sfflow.execution
		WHERE execution_id LIKE 'urgent:%'),
	'urgent:a 9, urgent:b 9, urgent:c 7, urgent:d -3, urgent:e -3', 'priorities');
SELECT throws_ok($$ SELECT sf_start_many('urgent', '{"{}"}'::jsonb[], priority => 1001) $$, 'SF012',
	'argument priority must be from -1000 to 1000');
SELECT throws_ok($$ SELECT sf_start_many('urgent', 'SELECT jsonb_build_object()', priority => -1001) $$, 'SF012',
	'argument priority must be from -1000 to 1000');

-- Quotas: what is there is answered, what is new is refused.
CREATE ROLE many_owner;
ALTER ROLE many_owner SET sfflow.max_executions_per_owner = 2;
SET LOCAL ROLE many_owner;
SELECT sf_create_state_machine('few', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}', '$.id')
	\g /dev/null
SELECT results_eq($$ SELECT * FROM sf_start_many('few', '{"{\"id\": 1}", "{\"id\": 2}"}'::jsonb[]) $$,
	$$ VALUES ('1', 'started'), ('2', 'started') $$, 'as many as a quota has room for');
SELECT results_eq($$ SELECT * FROM sf_start_many('few', '{"{\"id\": 2}", "{\"id\": 1}"}'::jsonb[]) $$,
	$$ VALUES ('2', 'running'), ('1', 'running') $$, 'what exists is answered beyond it');
SELECT throws_ok($$ SELECT sf_start_many('few', '{"{\"id\": 1}", "{\"id\": 3}"}'::jsonb[]) $$, 'SF040', NULL,
	'a start beyond it');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
