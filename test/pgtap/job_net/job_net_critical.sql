-- The critical path of a net, as sf_graph_status tells it: by what jobs usually take, and by what they took.
BEGIN;
SELECT plan(9);

CREATE FUNCTION public.job(job text, seconds float8, fails boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_sleep(seconds);
	IF fails THEN
		PERFORM sf_raise('Bad', job);
	END IF;
	RETURN job;
END $$;

-- A task of that many seconds as the input says, and what it comes after.
CREATE FUNCTION pg_temp.job(name text, after text DEFAULT '[]', further text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT format('"%1$s": {"Type": "Task", "Resource": "sql:public.job", "After": %2$s, '
		'"Parameters": {"job": "%1$s", "seconds.$": "$.%1$s", "fails.$": "$.fails"}%3$s}', name, after, further)
$$;
-- short and long after first; flow, which is of two states, after long; last after all; alarm if long fails.
SELECT sf_create_state_machine('net', format('{"StartAt": "N", "States": {"N": {"Type": "JobNet", "End": true, "Jobs": {
	%s, %s, "flow": {"StartAt": "one", "After": ["long"], "States": {"one": {"Type": "Pass", "Next": "two"},
		"two": {"Type": "Task", "Resource": "sql:public.job",
		"Parameters": {"job": "two", "seconds.$": "$.two"}, "End": true}}},
	%s, %s, %s, "in": {"Type": "JobNet", "Jobs": {%s, %s}}}}}}',
	pg_temp.job('first'), pg_temp.job('short', '["first"]'), pg_temp.job('long', '["first"]'),
	pg_temp.job('last', '["short", "flow", "first"]'),
	pg_temp.job('alarm', '[{"Job": "long", "On": ["failure"]}]'), replace(pg_temp.job('i1'), '"fails.$": "$.fails"',
		'"fails": false'), replace(pg_temp.job('i2', '["i1"]'), '"fails.$": "$.fails"', '"fails": false'))::json);

-- The critical path, from its first job, of the net and of the one within it.
CREATE FUNCTION pg_temp.path(id text) RETURNS text LANGUAGE sql AS $$
	WITH RECURSIVE s AS (SELECT e, coalesce(n.e ->> 'name', '') AS name FROM jsonb_array_elements(sf_graph_status(id))
		AS n (e)),
	c AS (SELECT e -> 'critical' AS job, e -> 'critical_after' AS after,
			CASE jsonb_typeof(e -> 'critical') WHEN 'number' THEN name ELSE e ->> 'critical' END AS name FROM s
			WHERE e ? 'critical'),
	way AS (SELECT job, name AS way FROM c WHERE after IS NULL
		UNION ALL SELECT c.job, way.way || ' ' || c.name FROM way JOIN c ON c.after = way.job)
	SELECT coalesce(string_agg(way, ', ' ORDER BY way COLLATE "C"), 'none') FROM way WHERE NOT EXISTS (SELECT FROM c
		WHERE c.after = way.job)
$$;
-- Run an execution whose jobs take so many seconds. Paths differ by some tenths of a second, which a busy machine does
-- not use up.
CREATE FUNCTION pg_temp.run(name text, seconds jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_start('net', '{"first": 0, "short": 0, "long": 0, "two": 0, "last": 0, "alarm": 0, "i1": 0.02,
		"i2": 0.02, "fails": false}' || seconds, name);
	RETURN sf_run('net:' || name);
END $$;

SELECT sf_start('net', '{}', 'none');
SELECT is(pg_temp.path('net:none'), 'none', 'no path while nothing is known');
SELECT is(pg_temp.run('a', '{"first": 0.05, "short": 0.05, "long": 0.5, "two": 0.3, "last": 0.05}'), 'SUCCEEDED',
	'a net runs');
SELECT is(pg_temp.path('net:a'), 'first long flow last, i1 i2',
	'its critical path, with a job that is a flow; and that of the net within it');
SELECT is(pg_temp.run('b', '{"first": 0.03, "short": 0.4, "long": 0.03, "two": 0.03, "last": 0.03}'), 'SUCCEEDED',
	'other jobs take longer');
SELECT is(regexp_replace(pg_temp.path('net:b'), ', i.*', ''), 'first short last', '... then the path is another one');
SELECT is(pg_temp.run('c', '{"first": 0.5, "long": 0.1, "alarm": 0.2, "fails": true}'), 'FAILED',
	'the first job fails');
SELECT is(regexp_replace(pg_temp.path('net:c'), ', i.*', ''), 'first',
	'... and is the path: what was skipped takes nothing');
SELECT is(regexp_replace(pg_temp.path('net:none'), ', i.*', ''), 'first long flow last',
	'before the beginning: by what jobs usually take, without those that need a failure');
SELECT is((SELECT jsonb_agg(e ORDER BY e ->> 'id') FROM jsonb_array_elements(sf_graph_status('net:a')) AS e
		WHERE e ->> 'name' IN ('N', 'two', 'alarm') AND e ? 'critical'),
	NULL, 'states that are no jobs, and jobs that were skipped, are not on it');

SELECT * FROM finish();
ROLLBACK;
