-- Retention: what CALL sf_purge_due() deletes and keeps.
BEGIN;
SELECT plan(30);

CREATE FUNCTION pg_temp.machine(name text, options jsonb) RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, '{"StartAt": "C", "States": {"C": {"Type": "Choice", "Default": "S",
		"Choices": [
		{"Variable": "$.fail", "IsPresent": true, "Next": "F"}]}, "S": {"Type": "Succeed"}, "F": {"Type": "Fail",
			"Error": "No"}}}',
		options => options, or_replace => true)
$$;

-- The options.
SELECT throws_ok($$ SELECT pg_temp.machine('r', '{"retention": "soon"}') $$, '22007');
SELECT throws_ok(format('SELECT pg_temp.machine(%L, %L)', 'r', o), 'SF012',
	'option retention must be an interval such as "90 days", or "forever", or an object with one for each status')
FROM unnest(ARRAY['{"retention": "-1 day"}', '{"retention": 90}', '{"retention": ["1 day"]}',
		'{"retention": {"FAILED": null}}']) AS o;
SELECT throws_ok($$ SELECT pg_temp.machine('r', '{"retention": {"RUNNING": "1 day"}}') $$, 'SF012',
	'option retention has "RUNNING", which is no status of an ended execution');
SELECT throws_ok(format('SELECT pg_temp.machine(%L, %L)', 'r', o), 'SF012',
	'option archive must be a SQL function, as in "sql:schema.function", or an activity, as in "activity:name"')
FROM unnest(ARRAY['{"archive": 1}', '{"archive": "sql:query"}', '{"archive": "arn:aws:states:::s3:getObject"}']) AS o;

-- Three machines: all after 30 days; by status; archived.
CREATE TABLE public.archived (machine text, id text);
CREATE FUNCTION public.keep(payload jsonb) RETURNS void LANGUAGE sql AS $$
	INSERT INTO public.archived SELECT payload ->> 'state_machine', e.execution_id
	FROM public.sf_executions AS e WHERE e.execution_id IN (SELECT jsonb_array_elements_text(payload -> 'executions'))
$$;
SELECT pg_temp.machine('all', '{"retention": "30 days"}'),
	pg_temp.machine('some', '{"retention": {"SUCCEEDED": "30 days", "FAILED": "1 year", "ABORTED": "forever"}}'),
	pg_temp.machine('kept', '{"retention": "30 days", "archive": "sql:public.keep"}'), pg_temp.machine('none', '{}')
	\g /dev/null

-- Of each: one that succeeded, failed, was stopped and runs, 40 days ago, and one that succeeded today.
SELECT sf_start(m, CASE n WHEN 'fail' THEN '{"fail": 1}' ELSE '{}' END::jsonb, n),
	CASE WHEN n = 'stop' THEN sf_stop(m || ':' || n) WHEN n <> 'run' THEN sf_run(m || ':' || n) END
FROM unnest(ARRAY['all', 'some', 'kept', 'none']) AS m, unnest(ARRAY['good', 'fail', 'stop', 'run', 'new']) AS n
\g /dev/null
UPDATE _sfflow.open_execution AS o SET requested_at = o.requested_at - interval '40 days' FROM _sfflow.execution AS e
WHERE e.execution_no = o.execution_no AND split_part(e.execution_id, ':', 1) IN ('all', 'some', 'kept', 'none');
UPDATE _sfflow.execution SET requested_at = requested_at - interval '40 days',
	stopped_at = stopped_at - interval '40 days'
WHERE split_part(execution_id, ':', 1) IN ('all', 'some', 'kept', 'none') AND execution_id NOT LIKE '%:new';
CREATE FUNCTION pg_temp.left_of(machine text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(name, ' ' ORDER BY name) FROM sf_executions WHERE state_machine = machine
$$;
CREATE FUNCTION pg_temp.purge() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	CALL sf_purge_due(n);
	RETURN n;
END $$;

SELECT is(pg_temp.purge(), 7::bigint, 'three of one, one of the other, three that are archived');
SELECT is(pg_temp.left_of('all'), 'new run', 'what has ended goes');
SELECT is(pg_temp.left_of('some'), 'fail new run stop', 'by status');
SELECT is(pg_temp.left_of('kept'), 'new run', 'with an archive');
SELECT is(pg_temp.left_of('none'), 'fail good new run stop', 'without retention nothing goes');
SELECT set_eq('SELECT machine, id FROM archived', $$ VALUES ('kept', 'kept:good'), ('kept', 'kept:fail'),
	('kept', 'kept:stop') $$, 'the function was given them, and could read them');
SELECT is_empty('SELECT problem FROM sf_check()', 'nothing is left of them');
SELECT is(pg_temp.purge(), 0::bigint, 'again: nothing');

-- An error of the function keeps them.
CREATE OR REPLACE FUNCTION public.keep(payload jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE 'full'; END $$;
SELECT sf_start('kept', '{}', 'more'), sf_run('kept:more') \g /dev/null
UPDATE _sfflow.execution SET requested_at = requested_at - interval '31 days',
	stopped_at = stopped_at - interval '31 days' WHERE execution_id = 'kept:more';
SELECT is(pg_temp.purge(), 0::bigint, 'its error');
SELECT is(pg_temp.left_of('kept'), 'more new run', 'keeps them');
CREATE OR REPLACE FUNCTION public.keep(payload jsonb) RETURNS void LANGUAGE sql AS '';
SELECT is(pg_temp.purge(), 1::bigint, 'until it succeeds');

-- What the function redrives stays.
CREATE OR REPLACE FUNCTION public.keep(payload jsonb) RETURNS void LANGUAGE sql AS $$
	SELECT sf_redrive(id) FROM jsonb_array_elements_text(payload -> 'executions') AS id $$;
SELECT sf_start('kept', '{"fail": true}', 'again'), sf_run('kept:again') \g /dev/null
UPDATE _sfflow.open_execution AS o SET requested_at = o.requested_at - interval '31 days'
FROM _sfflow.execution AS e WHERE e.execution_no = o.execution_no AND e.execution_id = 'kept:again';
UPDATE _sfflow.execution SET requested_at = requested_at - interval '31 days',
	stopped_at = stopped_at - interval '31 days' WHERE execution_id = 'kept:again';
SELECT is(pg_temp.purge(), 0::bigint, 'an archive function redrives an execution');
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'kept:again'), 'RUNNING', '... which stays');
CREATE OR REPLACE FUNCTION public.keep(payload jsonb) RETURNS void LANGUAGE sql AS '';
SELECT sf_stop('kept:again') \g /dev/null

-- More than a batch, and positions: a batch does not look at what was looked at.
INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, requested_at, started_at, stopped_at,
	execution_id, input)
SELECT nextval('_sfflow.execution_no'), machine_no, 1, 1, now() - interval '39 days' + i * interval '1 s', now(),
now() - interval '35 days', 'all:x' || i, '{}'
FROM _sfflow.state_machine, generate_series(1, 1200) AS i WHERE name = 'all';
SELECT is(pg_temp.purge(), 1200::bigint, 'several batches');
SELECT is(p.requested_at, now() - interval '39 days' + 1200 * interval '1 s', 'the position is behind them')
FROM _sfflow.purge_position AS p JOIN _sfflow.state_machine AS m USING (machine_no) WHERE m.name = 'all'
AND p.status = 1;

-- What was passed over, or committed behind the position, is found by the next call, which looks at all again.
INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, requested_at, started_at, stopped_at,
	execution_id, input)
SELECT nextval('_sfflow.execution_no'), machine_no, 1, 1, now() - interval '60 days', now(), now() - interval '35 days',
'all:late', '{}'
FROM _sfflow.state_machine WHERE name = 'all';
SELECT is(pg_temp.purge(), 1::bigint, 'what comes behind the position goes');
SELECT sf_stop('all:run'), sf_stop('none:run') \g /dev/null
UPDATE _sfflow.execution SET stopped_at = now() - interval '31 days' WHERE execution_id = 'all:run';
SELECT is(pg_temp.purge(), 1::bigint, '... and what ran when it came by');
-- more than a batch that stays: a call ends all the same
INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, requested_at, started_at, stopped_at,
	execution_id, input)
SELECT nextval('_sfflow.execution_no'), machine_no, 1, 1, now() - interval '50 days' + i * interval '1 s', now(), now(),
'all:y' || i, '{}'
FROM _sfflow.state_machine, generate_series(1, 1200) AS i WHERE name = 'all';
SELECT is(pg_temp.purge() + pg_temp.purge(), 0::bigint, 'what has just ended stays');
UPDATE _sfflow.execution SET stopped_at = now() - interval '31 days' WHERE execution_id = 'all:y7';
SELECT is(pg_temp.purge(), 1::bigint, '... until it is old enough');
SELECT is(p.looked_at, 1200::bigint, 'a pass counts what it looks at')
FROM _sfflow.purge_position AS p JOIN _sfflow.state_machine AS m USING (machine_no) WHERE m.name = 'all'
AND p.status = 1;
-- A pass that began by a clock that was ahead never becomes old enough for a new one.
UPDATE _sfflow.purge_position SET requested_at = now() + interval '10 years', began_at = now() + interval '10 years';
UPDATE _sfflow.execution SET stopped_at = now() - interval '31 days' WHERE execution_id = 'all:y8';
SELECT is(pg_temp.purge(), 1::bigint, 'a pass from the future is given up');

SELECT * FROM finish();
ROLLBACK;
