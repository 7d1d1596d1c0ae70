-- Slots: which are tried, what locks them, and who has them when a block is rolled back.
BEGIN;
SELECT plan(11);

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

-- A slot that is released, and taken by another one, in a block that is rolled back: it is its occupant's as before.
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
CREATE FUNCTION pg_temp.occupants(OUT text) LANGUAGE sql AS $$
	SELECT string_agg(split_part(e.execution_id, ':', 2), ' ' ORDER BY e.execution_id) FROM _sfflow.limit_slot s
	JOIN _sfflow.execution e USING (execution_no) JOIN _sfflow.run_limit l USING (limit_no) WHERE l.name = 'undone' $$;
SELECT pg_temp.undo('sf_stop(''undone:a'')', 'sf_run(''undone:b'')') \g /dev/null
SELECT is(sf_run('undone:b'), 'RUNNING',
	'another one waits for the slot that was released in a block that was rolled back');
SELECT is(pg_temp.occupants(), 'a', '... and its occupant has it');
SELECT pg_temp.undo('sf_stop(''undone:a'')', 'sf_run(''undone:b'')', 'sf_stop(''undone:b'')', 'sf_run(''undone:c'')',
	'sf_stop(''undone:c'')') \g /dev/null
SELECT sf_run('undone:c') \g /dev/null
SELECT is(pg_temp.occupants(), 'a', '... also when the block left it free');
SELECT sf_stop('undone:a'), sf_run('undone:b'), sf_run('undone:c') \g /dev/null
SELECT is(pg_temp.occupants(), 'b', '... until it gives it back');

SELECT * FROM finish();
ROLLBACK;
