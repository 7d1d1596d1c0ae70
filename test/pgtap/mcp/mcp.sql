-- sf_mcp_as: tools for agents. Every answer is bounded, arguments are checked, and a tool that writes is there if it is
-- named.
-- needs: hold
BEGIN;
SELECT plan(41);

SELECT current_schema AS schema \gset
CREATE ROLE mcp_reader LOGIN;
CREATE FUNCTION mcp_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF payload ? 'bad' THEN
		RAISE EXCEPTION '%', repeat('long ', 5000);
	END IF;
	RETURN payload -> 'out';
END $$;
CREATE FUNCTION pg_temp.call(tool text, arguments jsonb DEFAULT '{}', writing text[] DEFAULT '{}') RETURNS jsonb
	LANGUAGE sql AS
	$$SELECT sf_mcp_as(current_user, 'tools/call', jsonb_build_object('name', tool, 'arguments', arguments), writing)$$;
CREATE FUNCTION pg_temp.answer(tool text, arguments jsonb DEFAULT '{}', writing text[] DEFAULT '{}') RETURNS jsonb
	LANGUAGE sql AS
	$$SELECT pg_temp.call(tool, arguments, writing) -> 'structuredContent'$$;

-- Machines and executions with everything long: names, inputs, outputs, causes, and many of each.
SELECT repeat('n', 60) AS long \gset
SELECT sf_create_state_machine(:'long' || n, format('{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
		"MaxConcurrency": 0, "ItemsPath": "$.items", "ItemProcessor": {"StartAt": %1$s,
	"States": {%1$s: {"Type": "Task", "Resource": "sql:%2$s.mcp_task", "Comment": %3$s, "End": true}}}}}}',
	to_json(repeat('J', 70)), current_schema, to_json(repeat('c', 40000)))::json)
FROM generate_series(10, 40) AS n \g /dev/null
SELECT sf_start(:'long' || 10, jsonb_build_object('more', repeat('x', 50000), 'items',
		(SELECT jsonb_agg(jsonb_build_object('bad', repeat('y', 5000))) FROM generate_series(1, 120))), 'bad'),
	sf_run(:'long' || '10:bad') \g /dev/null
SELECT sf_start(:'long' || m, jsonb_build_object('more', repeat('x', 50000), 'items',
		jsonb_build_array(jsonb_build_object('bad', 1))), repeat('i', 60) || n),
	sf_run(:'long' || m || ':' || repeat('i', 60) || n)
FROM generate_series(10, 40) AS m, generate_series(1, 3) AS n \g /dev/null
SELECT sf_start(:'long' || m, '{"items": []}', 'wait' || n) FROM generate_series(10, 40) AS m,
	generate_series(1, 5) AS n \g /dev/null
SELECT sf_hold(:'long' || m, NULL, repeat('reason', 100)) FROM generate_series(10, 40) AS m \g /dev/null

SELECT cmp_ok(length(pg_temp.answer(t, a)::text), '<', 100000, t || ' has an end')
	FROM (VALUES ('tonight', '{}'::jsonb), ('late_or_failing', '{"limit": 100}'),
	('why_did_it_fail', jsonb_build_object('execution_id', :'long' || '10:bad')),
	('list_executions', '{"limit": 1000}'),
	('execution_status', jsonb_build_object('execution_id', :'long' || '10:bad', 'limit', 1000)),
	('waiting_on', '{"limit": 1000}'),
	('what_would_redrive_run', jsonb_build_object('execution_id', :'long' || '10:bad')),
	('list_state_machines', '{"limit": 1000}'),
	('state_machine_definition', jsonb_build_object('state_machine', :'long' || '10')),
	('compare_with_last_good', jsonb_build_object('execution_id', :'long' || '10:bad', 'good_execution_id',
			:'long' || '10:' || repeat('i', 60) || '1'))) AS x(t, a);
SELECT ok((pg_temp.answer(t, a) ->> 'cut')::boolean, t || ' says that it is cut') FROM (VALUES ('tonight', '{}'::jsonb),
	('late_or_failing', '{}'),
	('why_did_it_fail', jsonb_build_object('execution_id', :'long' || '10:bad')), ('list_executions', '{}'),
	('execution_status', jsonb_build_object('execution_id', :'long' || '10:bad')), ('waiting_on', '{}'),
	('list_state_machines', '{"limit": 5}'),
	('what_would_redrive_run', jsonb_build_object('execution_id', :'long' || '10:bad')),
	('state_machine_definition', jsonb_build_object('state_machine', :'long' || '10')),
	('compare_with_last_good', jsonb_build_object('execution_id', :'long' || '10:bad', 'good_execution_id',
			:'long' || '10:' || repeat('i', 60) || '1'))) AS x(t, a);

-- What was cut can be had by pages.
SELECT is((SELECT string_agg(pg_temp.answer('state_machine_definition', jsonb_build_object('state_machine',
			:'long' || '10', 'offset', o)) ->> 'definition', '' ORDER BY o) FROM unnest('{0,30000}'::integer[]) AS o),
	(SELECT definition::text FROM sf_state_machines WHERE state_machine = :'long' || '10'), 'a definition, by parts');
SELECT pg_temp.answer('execution_status', jsonb_build_object('execution_id', :'long' || '10:bad')) AS page \gset
SELECT is(jsonb_array_length(:'page'::jsonb -> 'jobs'), 50, 'a page of jobs');
SELECT is(jsonb_array_length(pg_temp.answer('execution_status', jsonb_build_object('execution_id', :'long' || '10:bad',
			'limit', 100, 'jobs_after', :'page'::jsonb -> 'next_jobs_after')) -> 'jobs'), 70, '... and the rest');
SELECT is(pg_temp.answer('list_state_machines', jsonb_build_object('after', pg_temp.answer('list_state_machines',
			'{"limit": 5}') -> 'next_after')) -> 'state_machines' -> 0 ->> 'state_machine', :'long' || '15',
	'state machines by pages');

-- What changed since the last good run.
SELECT sf_create_state_machine('pair', format('{"StartAt": "A", "States": {"A": {"Type": "Task",
		"Resource": "sql:%1$s.mcp_task", "ResultPath": "$.a", "Next": "B"},
	"B": {"Type": "Task", "Resource": "sql:%1$s.mcp_task", "ResultPath": "$.b", "End": true}}}', current_schema)::json)
	\g /dev/null
SELECT sf_start('pair', '{"out": 1}', 'first'), sf_run('pair:first') \g /dev/null
SELECT sf_start('pair', '{"out": 2, "bad": true}', 'second'), sf_run('pair:second') \g /dev/null
UPDATE _sfflow.execution SET requested_at = requested_at - interval '1 minute' WHERE execution_id = 'pair:first';
SELECT pg_temp.answer('compare_with_last_good', '{"execution_id": "pair:second"}') AS compared \gset
SELECT is(:'compared'::jsonb -> 'good' ->> 'execution_id', 'pair:first', 'the last good one');
SELECT is((SELECT string_agg(x, ' ' ORDER BY x)
		FROM jsonb_array_elements_text(:'compared'::jsonb -> 'jobs' -> 0 -> 'input_differs') AS x), '/bad /out',
	'what its input differs in');
SELECT is(:'compared'::jsonb -> 'jobs' -> 0 ->> 'error', 'raise_exception', '... and its error');
SELECT is(concat_ws(' ', :'compared'::jsonb -> 'jobs' -> 1 ->> 'good_status',
		:'compared'::jsonb -> 'jobs' -> 1 ->> 'status'), 'success skip', 'a job that was not reached');
SELECT is(pg_temp.answer('compare_with_last_good', '{"execution_id": "pair:first", "good_execution_id": "pair:first"}')
	- 'this' - 'good', '{"same_jobs": 2, "different_jobs": 0, "jobs": [], "cut": false}',
	'nothing is different from itself');
SELECT throws_ok($$ SELECT pg_temp.call('compare_with_last_good', '{"execution_id": "pair:first"}') $$, 'SF012', NULL,
	'no good one before');
SELECT throws_ok($$ SELECT pg_temp.call('compare_with_last_good', '{"execution_id": "pair:first",
		"good_execution_id": "none"}') $$, 'SF005', NULL, 'none of that name');

-- Tools that write.
SELECT is(pg_temp.call(t, '{"target": "pair", "execution_id": "pair:second", "state_machine": "pair"}'), NULL,
	t || ' is not there unless it is named') FROM unnest('{redrive,stop,start,hold,release}'::text[]) AS t;
SELECT is(pg_temp.answer('hold', '{"target": "pair"}', '{hold}'), '{"target": "pair", "began": true}',
	'one that is named');
SELECT is(sf_mcp_as(current_user, 'resources/list', '{}'), NULL, 'another method');

-- Tonight says that it is cut by each of its lists: here by the one of what has ended well.
CREATE ROLE mcp_ends LOGIN;
GRANT USAGE ON SCHEMA :"schema" TO mcp_ends;
CREATE FUNCTION pg_temp.tonight() RETURNS jsonb LANGUAGE sql AS
	$$SELECT sf_mcp_as('mcp_ends', 'tools/call', '{"name": "tonight"}', '{}') -> 'structuredContent'$$;
CREATE FUNCTION pg_temp.end_well(first integer, last integer) RETURNS void LANGUAGE sql AS $$
	SELECT sf_create_state_machine('ends' || n, '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}'),
		sf_start('ends' || n, '{}', 'x'), sf_run('ends' || n || ':x') FROM generate_series(first, last) AS n $$;
SET LOCAL ROLE mcp_ends;
SELECT pg_temp.end_well(1, 10) \g /dev/null
RESET ROLE;
SELECT is(pg_temp.tonight() -> 'cut', 'false', 'ten machines whose executions ended well are all shown');
SET LOCAL ROLE mcp_ends;
SELECT pg_temp.end_well(11, 11) \g /dev/null
RESET ROLE;
SELECT is(jsonb_array_length(pg_temp.tonight() -> 'succeeded'), 10, '... of eleven ten are');
SELECT is(pg_temp.tonight() -> 'cut', 'true', '... and the answer says so');

SELECT * FROM finish();
ROLLBACK;
