-- Keys of starts: the option start_key of machines and of starts, its modes, and what else is done with executions.
BEGIN;
SELECT plan(77);

CREATE FUNCTION pg_temp.machine(name text, option jsonb) RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "C"},
		"C": {"Type": "Choice", "Choices": [
		{"Variable": "$.fail", "BooleanEquals": true, "Next": "F"}], "Default": "W"}, "F": {"Type": "Fail",
			"Error": "No"},
		"W": {"Type": "Wait", "SecondsPath": "$.s", "End": true}}}', options => jsonb_build_object('start_key', option),
		or_replace => true) $$;
-- Starts with a key, and how long the first state waits.
CREATE FUNCTION pg_temp.start(machine text, name text, k text, n integer, more jsonb DEFAULT '{}') RETURNS text
	LANGUAGE sql AS $$
	SELECT sf_start(machine, jsonb_build_object('k', k, 'n', n, 's', 86400, 'fail', false) || more, name) $$;
CREATE FUNCTION pg_temp.line(machine text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(concat(split_part(s.execution_id, ':', 2), ' ', s.place, ' ', e.input ->> 'n'), ', '
			ORDER BY s.start_key, s.rank), 'empty')
	FROM sf_start_keys s JOIN sf_executions e USING (execution_id) WHERE s.state_machine = machine $$;
CREATE FUNCTION pg_temp.run(machine text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 3 LOOP
		PERFORM sf_run(e.execution_id) FROM _sfflow.execution e WHERE e.execution_id LIKE machine || ':%'
		ORDER BY e.execution_no;
	END LOOP;
	RETURN pg_temp.line(machine);
END $$;
-- As if time had passed.
CREATE FUNCTION pg_temp.due(id text) RETURNS void LANGUAGE sql AS $$
	UPDATE _sfflow.branch b SET due_at = clock_timestamp() FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = id;
	UPDATE _sfflow.delayed_start d SET start_at = clock_timestamp() FROM _sfflow.execution e
	WHERE e.execution_no = d.execution_no AND e.execution_id = id $$;
CREATE FUNCTION pg_temp.starts_in(id text) RETURNS numeric LANGUAGE sql AS $$
	SELECT round(extract(epoch FROM b.due_at - e.requested_at)) FROM _sfflow.branch b
	JOIN _sfflow.execution e USING (execution_no) WHERE e.execution_id = id $$;

\ir ../../fixtures/problems.sql

-- The option.
SELECT throws_ok(format('SELECT pg_temp.machine(''bad'', %L)', o), 'SF012', m, o) FROM (VALUES
	('1', 'option start_key must be a JSON object'),
	('{"key": "$.k"}', 'option start_key: "mode" must be one of debounce, single, fifo'),
	('{"mode": "lifo"}', 'option start_key: "mode" must be one of debounce, single, fifo'),
	('{"mode": "fifo", "keys": 1}', 'option start_key has no "keys"'),
	('{"mode": "fifo", "delay": 1}', 'option start_key: "delay" is for mode debounce alone'),
	('{"mode": "debounce"}', 'option start_key: "delay" must be given for mode debounce'),
	('{"mode": "debounce", "delay": -1}',
		'option start_key: "delay" must be more than 0 and at most 316224000 seconds'),
	('{"mode": "debounce", "delay": "5"}', 'option start_key: "delay" must be a number of seconds'),
	('{"mode": "debounce", "delay": 5, "max_delay": 4}', 'option start_key: "max_delay" must not be less than "delay"'),
	('{"mode": "single", "waiting": "no"}', 'option start_key: "waiting" must be "replace" or "keep"'),
	('{"mode": "fifo", "on_failure": 1}', 'option start_key: "on_failure" must be "continue" or "stop"'),
	('{"mode": "fifo", "key": 1}', 'option start_key: "key" must be a string'), ('{"mode": "fifo", "key": "k"}',
		'option start_key: "key" must be a path into the input, as "$.tenant" is')) AS v (o, m);

-- debounce: one waits per key, and has the newest input.
SELECT pg_temp.machine('calm', '{"key": "$.k", "mode": "debounce", "delay": 600, "max_delay": 900}') \g /dev/null
SELECT is(pg_temp.start('calm', 'a', 'x', 1), 'calm:a', 'the first start of a key');
SELECT is(pg_temp.starts_in('calm:a'), 600::numeric, '... begins after the delay');
SELECT is(pg_temp.start('calm', 'b', 'x', 2), 'calm:a', 'another start of the key is the same execution');
SELECT is(pg_temp.start('calm', 'c', 'y', 3), 'calm:c', 'a start of another key is not');
SELECT is(pg_temp.line('calm'), 'a waiting 2, c waiting 3', 'each key has one, with the newest input');
SELECT is((SELECT string_agg(outcome || ' ' || input_differs, ', ') FROM sf_start_requests
		WHERE execution_id = 'calm:a'), 'replaced true', '... which is recorded');
UPDATE _sfflow.execution SET requested_at = requested_at - interval '800 s' WHERE execution_id = 'calm:a';
SELECT pg_temp.start('calm', NULL, 'x', 4) \g /dev/null
SELECT is(pg_temp.starts_in('calm:a'), 900::numeric, 'a later start puts it off up to max_delay');
SELECT is(pg_temp.run('calm'), 'a waiting 4, c waiting 3', 'none begins before its time');
SELECT pg_temp.due('calm:a') \g /dev/null
SELECT is(pg_temp.run('calm'), 'c waiting 3', 'one that has begun is in no line');
SELECT is((SELECT count(*) FROM _sfflow.start_key), 1::bigint, '... and its key has no row');
SELECT is(pg_temp.start('calm', 'd', 'x', 5), 'calm:d', 'then a start is an execution of its own');
SELECT is((SELECT input ->> 'n' FROM sf_executions WHERE execution_id = 'calm:a'), '4',
	'... and the one that runs keeps its input');
SELECT is(sf_stop('calm:d'), 'ABORTED', 'one that waits can be stopped');
SELECT is(pg_temp.start('calm', 'e', 'x', 6), 'calm:e', '... and leaves its line');
SELECT is((SELECT string_agg(name || ' ' || outcome, ', ') FROM sf_start_many('calm', ARRAY['{"k": 7,
			"n": 1}', '{"k": "7", "n": 2}', '{"k": null}', '{}']::jsonb[], ARRAY['m', 'n', 'o', 'p'])),
	'm started, m replaced, o started, p started', 'sf_start_many: a number is a key, too; null and nothing are none');
SELECT throws_ok($$SELECT sf_start('calm', '{"k": {}}')$$, 'SF010',
	'the start key must be a string, a number or a boolean, not object', 'a value that is no key');
SELECT throws_ok($$SELECT sf_start('calm', jsonb_build_object('k', repeat('x', 257)))$$, 'SF010',
	'the start key has more than 256 characters', '... or too long');
SELECT is(sf_start('calm', '{"n": 9}', options => '{"start_key": "y"}'), 'calm:c', 'a start may name the key');
SELECT sf_create_state_machine('plain', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}') \g /dev/null
SELECT throws_ok($$SELECT sf_start('plain', '{}', options => '{"start_key": "y"}')$$, 'SF012',
	'option start_key needs a state machine with the option start_key', '... of a machine that has the option');
SELECT throws_ok($$SELECT sf_start('calm', '{"k": "z"}', 'c', if_exists => 'replace')$$, 'SF012',
	'execution "calm:c" cannot be replaced by a start with another start key', 'a start by name cannot change the key');
SELECT is(sf_start('calm', '{"k": "y", "n": 10}', 'c', if_exists => 'replace'), 'calm:c', '... but the input');
SELECT throws_ok($$SELECT sf_start('calm', '{"k": "y"}', 'd', if_exists => 'restart')$$, 'SF007',
	'execution "calm:d" cannot be restarted: another one waits for the start key "y"',
	'nor can a restart make two wait');

-- single: one runs and one waits per key.
SELECT pg_temp.machine('one', '{"key": "$.k", "mode": "single"}') \g /dev/null
SELECT pg_temp.start('one', 'a', 'x', 1), pg_temp.run('one'), pg_temp.start('one', 'b', 'x', 2),
	pg_temp.start('one', 'c', 'x', 3), pg_temp.start('one', 'd', 'y', 4) \g /dev/null
SELECT is(pg_temp.run('one'), 'a running 1, b waiting 3, d running 4',
	'one of a key runs, and one waits with the newest input');
SELECT is((SELECT waiting_on FROM sf_executions WHERE execution_id = 'one:b'), '"A" start key', '... which says so');
SELECT is((SELECT string_agg(name, ' ' ORDER BY name) FROM sf_list_executions(state_machine => 'one',
			status => 'RUNNING')), 'a b d', '... and is listed');
SELECT is(sf_stop('one:a'), 'ABORTED', 'the one that runs ends');
SELECT is(pg_temp.run('one'), 'b running 3, d running 4', '... and the other one begins');
SELECT lives_ok($$SELECT sf_redrive('one:a')$$, 'one that has ended goes on');
SELECT is(pg_temp.run('one'), 'a waiting 1, b running 3, d running 4', '... when its key is free, with its rank');
SELECT is(pg_temp.start('one', 'e', 'x', 5), 'one:e', 'and is not replaced');
SELECT pg_temp.start('one', 'f', 'x', 6), sf_stop('one:b') \g /dev/null
SELECT is(pg_temp.run('one'), 'a running 1, e waiting 6, d running 4',
	'it comes before those that were started after it');
SELECT pg_temp.machine('one', '{"key": "$.k", "mode": "single", "waiting": "keep"}') \g /dev/null
SELECT is(pg_temp.start('one', 'g', 'x', 7), 'one:e', 'with waiting "keep" the one that waits');
SELECT is(pg_temp.line('one'), 'a running 1, e waiting 6, d running 4', '... keeps its input');

-- fifo: one runs per key, in the order of the starts; priority does not matter.
SELECT pg_temp.machine('line', '{"key": "$.k", "mode": "fifo", "on_failure": "stop"}') \g /dev/null
SELECT pg_temp.start('line', 'a', 'x', 1), pg_temp.start('line', 'b', 'x', 2, '{"fail": true}'),
	sf_start('line', '{"k": "x", "n": 3, "s": 86400, "fail": false}', 'c', priority => 9),
	pg_temp.start('line', 'd', 'x', 4) \g /dev/null
SELECT is(pg_temp.run('line'), 'a running 1, b waiting 2, c waiting 3, d waiting 4', 'one runs, and the others wait');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT is(pg_temp.problems(change), wanted, 'sf_check sees: ' || change) FROM (VALUES
	('DELETE FROM _sfflow.start_key', 'start_key_missing'),
	('INSERT INTO _sfflow.start_key SELECT machine_no, ''left'', now() FROM _sfflow.start_key LIMIT 1',
		'start_key_left'),
	('UPDATE _sfflow.keyed_start k SET place = 3 FROM _sfflow.execution e WHERE e.execution_no = k.execution_no AND '
		'e.execution_id = ''line:a''', 'start_key_place'),
	('UPDATE _sfflow.keyed_start k SET place = 6 FROM _sfflow.execution e WHERE e.execution_no = k.execution_no AND '
		'e.execution_id = ''line:a''', 'start_key_stuck')) c (change, wanted);
SELECT pg_temp.due('line:a') \g /dev/null
SELECT is(pg_temp.run('line'), 'b failed 2, c waiting 3, d waiting 4', 'one that has failed keeps its place');
SELECT is((SELECT count(*) FROM sf_history WHERE execution_id = 'line:c'), 0::bigint, '... so that none begins');
UPDATE _sfflow.execution SET stopped_at = now() - interval '2 hours' WHERE status <> 0;
SELECT sf_purge('1 hour') \g /dev/null
SELECT is(pg_temp.line('line'), 'b failed 2, c waiting 3, d waiting 4', 'nor is it purged');
SELECT sf_redrive('line:b') \g /dev/null
SELECT is(pg_temp.run('line'), 'b failed 2, c waiting 3, d waiting 4', 'when it is redriven it runs first, and fails');
SELECT is(sf_leave_start_key('line:b'), true, 'it may give up its place');
SELECT is(sf_leave_start_key('line:b'), false, '... once');
SELECT is(pg_temp.run('line'), 'c running 3, d waiting 4', '... and the next one begins');
SELECT sf_create_state_machine('line', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "W"},
	"W": {"Type": "Wait", "Seconds": 86400, "End": true}}}', or_replace => true), sf_migrate('line:d', version => 2)
	\g /dev/null
SELECT is(pg_temp.run('line'), 'c running 3', 'one that is moved to a version without keys leaves the line');
SELECT is((SELECT started_at IS NOT NULL FROM sf_executions WHERE execution_id = 'line:d'), true, '... and begins');


-- So does one that a start gives such a version, where the one before it runs, or has failed.
SELECT pg_temp.machine('leaves', '{"key": "$.k", "mode": "fifo", "on_failure": "stop"}') \g /dev/null
SELECT pg_temp.start('leaves', 'a', 'x', 1), pg_temp.start('leaves', 'b', 'x', 2), pg_temp.start('leaves', 'c', 'x', 3),
	pg_temp.start('leaves', 'f', 'y', 4, '{"fail": true}'), pg_temp.start('leaves', 'g', 'y', 5) \g /dev/null
SELECT is(pg_temp.run('leaves'), 'a running 1, b waiting 2, c waiting 3, f failed 4, g waiting 5', 'two lines');
SELECT pg_temp.start('leaves', 'd', 'x', 6) \g /dev/null
SELECT sf_create_state_machine('leaves', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "W"},
	"W": {"Type": "Wait", "Seconds": 86400, "End": true}}}', or_replace => true) \g /dev/null
SELECT sf_start('leaves', '{"k": "x", "n": 7}', n, if_exists => 'replace') FROM unnest('{b,d}'::text[]) n \g /dev/null
SELECT sf_start('leaves', '{"k": "y", "n": 8}', 'f', if_exists => 'restart') \g /dev/null
SELECT is(pg_temp.line('leaves'), 'a running 1, c waiting 3, g waiting 5',
	'one that is replaced or restarted leaves the line');
SELECT pg_temp.machine('leaves', '{"key": "$.k", "mode": "fifo"}') \g /dev/null
SELECT throws_ok($$SELECT sf_start('leaves', '{"k": "x"}', 'd', if_exists => 'replace')$$, 'SF012',
	'execution "leaves:d" cannot be replaced by a start with another start key', '... and does not enter it again');
SELECT is(pg_temp.run('leaves'), 'a running 1, c waiting 3, g running 5', 'the next one begins');
SELECT is((SELECT string_agg(name, ' ' ORDER BY name) FROM sf_executions WHERE state_machine = 'leaves'
		AND started_at IS NOT NULL), 'a b d f g', '... and so do those that have left');
SELECT pg_temp.due('leaves:a') \g /dev/null
SELECT is(pg_temp.run('leaves'), 'c running 3, g running 5', '... and where one runs, when that has ended');

-- Two that are redriven while the later one keeps its place.
SELECT pg_temp.machine('both', '{"key": "$.k", "mode": "fifo", "on_failure": "stop"}') \g /dev/null
SELECT pg_temp.start('both', 'a', 'x', 1, '{"fail": true}'), pg_temp.start('both', 'b', 'x', 2, '{"fail": true}'),
	pg_temp.run('both'), sf_leave_start_key('both:a'), pg_temp.run('both'), sf_redrive('both:a') \g /dev/null
SELECT is(pg_temp.run('both'), 'a waiting 1, b failed 2', 'one that is redriven waits for one that has failed');
SELECT sf_redrive('both:b') \g /dev/null
SELECT is(pg_temp.run('both'), 'a failed 1, b waiting 2', '... and when that is redriven, it goes on before it');

-- A synchronous start cannot wait for its turn.
SELECT sf_create_state_machine('now', '{"StartAt": "A", "States": {"A": {"Type": "Choice",
	"Choices": [{"Variable": "$.stay", "BooleanEquals": true, "Next": "W"}], "Default": "E"},
	"W": {"Type": "Wait", "Seconds": 86400, "End": true}, "E": {"Type": "Pass", "End": true}}}',
	options => '{"aws": {"type": "EXPRESS"}, "start_key": {"key": "$.k", "mode": "fifo"}}') \g /dev/null
SELECT sf_start('now', '{"k": 1, "n": 1, "stay": true}', 'a'), sf_run('now:a') \g /dev/null
CREATE FUNCTION pg_temp.sync(k integer) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', r ->> 'status', r ->> 'error') FROM sf_aws_api('StartSyncExecution',
		jsonb_build_object('stateMachineArn',
		'arn:aws:states:us-east-1:000000000000:stateMachine:now', 'input', format('{"k": %s, "n": 2, "stay": false}',
			k))) r $$;
SELECT is(pg_temp.sync(1), 'TIMED_OUT States.Timeout', 'a synchronous start whose key is taken ends');
SELECT is(pg_temp.line('now'), 'a running 1', '... and leaves the line');
SELECT is(pg_temp.sync(2), 'SUCCEEDED', '... and one whose key is free runs');
SELECT is(pg_temp.line('now'), 'a running 1', 'each key of a transaction has its line');

SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null
SELECT sf_leave_start_key(execution_id) FROM sf_start_keys \g /dev/null
UPDATE _sfflow.execution SET stopped_at = now() - interval '2 hours';
SELECT sf_purge('1 hour') \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.keyed_start), 0::bigint, 'a purge leaves no executions with keys');
SELECT is((SELECT count(*) FROM _sfflow.start_key), 0::bigint, '... and no keys');
SELECT sf_start('one', '{"k": 1, "s": 1, "fail": false}'), sf_drop_state_machine('one', force => true) \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.start_key), 0::bigint, 'nor does the end of a machine');
SELECT * FROM finish();
ROLLBACK;
