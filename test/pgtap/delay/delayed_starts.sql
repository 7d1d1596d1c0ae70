-- Starts in the future: the options start_at and delay.
-- needs: hold limit
BEGIN;
SELECT plan(27);

CREATE FUNCTION pg_temp.start(name text, options jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT sf_start('later', '{}', options => options || jsonb_build_object('name', name)) $$;
CREATE FUNCTION pg_temp.shown(name text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' / ', status, started_at, regexp_replace(waiting_on, '\d{4}-\S+', 'T')) FROM sf_executions
	WHERE execution_id = 'later:' || $1 $$;
-- As if time had passed: what starts in the future is due.
CREATE FUNCTION pg_temp.due(execution text) RETURNS void LANGUAGE sql AS $$
	UPDATE _sfflow.branch b SET due_at = clock_timestamp() FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = 'later:' || execution;
	UPDATE _sfflow.delayed_start d SET start_at = clock_timestamp() FROM _sfflow.execution e
	WHERE e.execution_no = d.execution_no AND e.execution_id = 'later:' || execution $$;
SELECT sf_create_state_machine('later', '{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 86400,
	"Next": "B"}, "B": {"Type": "Succeed"}}}') \g /dev/null

SELECT is(pg_temp.start('seconds', '{"delay": 600}'), 'later:seconds', 'a delay in seconds');
SELECT is(pg_temp.shown('seconds'), 'RUNNING / start at T', 'it runs, has not begun, and tells that it starts later');
SELECT is((SELECT round(extract(epoch FROM b.due_at - e.requested_at)) FROM _sfflow.branch b
		JOIN _sfflow.execution e USING (execution_no) WHERE e.execution_id = 'later:seconds'),
	600::numeric, '... by as many');
SELECT is(sf_run('later:seconds'), 'RUNNING', 'sf_run runs what is due');
SELECT is(pg_temp.shown('seconds'), 'RUNNING / start at T', '... and it is not');
SELECT is((SELECT count(*) FROM sf_history WHERE execution_id = 'later:seconds'), 0::bigint, 'it has no history');
SELECT is(pg_temp.start('interval', '{"delay": "2 days"}'), 'later:interval', 'a delay as an interval');
SELECT is(pg_temp.start('time', '{"start_at": "2999-01-01 02:00+00"}'), 'later:time', 'a time');
SELECT is((SELECT waiting_on FROM sf_executions WHERE execution_id = 'later:time'), 'start at 2999-01-01T02:00:00.000Z',
	'... which waiting_on tells');
SELECT is(pg_temp.start('past', '{"start_at": "2020-01-01"}'), 'later:past', 'a time that has passed');
SELECT is(pg_temp.shown('past'), 'RUNNING / "A" due', '... starts at once');
SELECT is((SELECT string_agg(name || ' ' || outcome, ', ') FROM sf_start_many('later', ARRAY['{}', '{}']::jsonb[],
			ARRAY['m1', 'm2'], options => '{"delay": 7200}')), 'm1 started, m2 started', 'many, too');

SELECT throws_ok(format('SELECT pg_temp.start(''x'', %L)', o), c, m, o) FROM (VALUES
	('{"delay": -1}', 'SF012', 'option delay must not be negative'),
	('{"delay": true}', 'SF012', 'option delay must be a string, not boolean'),
	('{"delay": "soon"}', '22007', NULL),
	('{"start_at": 5}', 'SF012', 'option start_at must be a time, as "2026-02-05 02:00+00" is'),
	('{"start_at": "infinity"}', 'SF012', 'option start_at must not be infinite'),
	('{"start_at": "2999-01-01", "delay": 1}', 'SF012', 'option delay must not be given with option start_at')) AS v (o,
	c, m);

-- Lists of what runs have them, however late they start.
SELECT is((SELECT string_agg(name, ' ' ORDER BY name) FROM sf_list_executions(status => 'RUNNING')),
	'interval m1 m2 past seconds time', 'sf_list_executions lists each once');
-- They can be held and stopped.
SELECT sf_hold('later'), pg_temp.due('interval'), sf_run('later:interval') \g /dev/null
SELECT is(pg_temp.shown('interval'), 'RUNNING / "A" held', 'a machine that is held lets none begin');
SELECT sf_release('later'), sf_run('later:interval') \g /dev/null
SELECT is((SELECT started_at IS NOT NULL FROM sf_executions WHERE execution_id = 'later:interval'), true,
	'... and one that is due begins');
SELECT is((SELECT string_agg(name, ' ' ORDER BY name) FROM sf_list_executions(status => 'RUNNING')),
	'interval m1 m2 past seconds time', '... and is listed once');
SELECT is(sf_stop('later:time'), 'ABORTED', 'one that has not begun can be stopped');
SELECT is(sf_start('later', '{"a": 1}', options => '{"name": "time", "if_exists": "restart", "delay": 86400}'),
	'later:time', 'a restart may be later, too');
SELECT is(pg_temp.shown('time'), 'RUNNING / start at T', '... and is');

-- Limits: one that starts later takes no place in the queue until then.
SELECT sf_set_limit('later', max_running => 1), pg_temp.start('limited', '{"delay": 600}'), pg_temp.due('limited'),
	sf_run('later:limited') \g /dev/null
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null
UPDATE _sfflow.execution SET stopped_at = now() - interval '2 hours';
SELECT sf_purge('1 hour') \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.delayed_start), 0::bigint, 'a purge leaves no row');
SELECT * FROM finish();
ROLLBACK;
