-- Sweeps of schedules have a budget of time, which is nothing here, so that each deals with one schedule; their owners
-- take turns.
BEGIN;
SET LOCAL timezone = 'UTC';
SET LOCAL client_min_messages = warning;
SELECT plan(6);

CREATE ROLE sweep_many;
CREATE ROLE sweep_few;
CREATE ROLE sweep_some;
SELECT sf_create_state_machine('swept', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}') \g /dev/null
SELECT sf_grant('START', 'swept', r) FROM unnest('{sweep_many,sweep_few,sweep_some}'::text[]) AS r \g /dev/null
CREATE FUNCTION pg_temp.make(name text, owner regrole) RETURNS void LANGUAGE sql AS $$
	INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, timezone, missed, overlap,
		cron_job_id, changed_at, created_at, handled_until)
	VALUES (name, owner, '* * * * *', 'swept', '{}', 'UTC', 'skip', 'parallel', 0, '2025-01-01', '2025-01-01',
		'2025-02-01 00:00') $$;
-- A run of each waits: when it is gone, a sweep was there.
CREATE FUNCTION pg_temp.fill() RETURNS void LANGUAGE sql AS $$
	INSERT INTO _sfflow.pending_run (schedule, scheduled_for) SELECT name, timestamptz '2025-02-03' + make_interval(
		secs => row_number() OVER (ORDER BY name)) FROM _sfflow.schedule $$;
CREATE FUNCTION pg_temp.left_over() RETURNS text LANGUAGE sql AS
	$$ SELECT coalesce(string_agg(schedule, ' ' ORDER BY schedule), '') FROM _sfflow.pending_run $$;
SELECT pg_temp.make('a' || n, 'sweep_many') FROM generate_series(1, 3) AS n \g /dev/null
SELECT pg_temp.make('b1', 'sweep_few'), pg_temp.make('c1', 'sweep_some') \g /dev/null
SELECT pg_temp.fill();

SET LOCAL sfflow.debug_point = 'sweep_budget:ms=0';
SELECT ok(_sfflow.look_at_schedules('2025-02-01 00:00'), 'a sweep that has used up its time leaves the rest');
SELECT is((SELECT count(*) FROM _sfflow.pending_run), 4::bigint, '... after one schedule');
SELECT _sfflow.look_at_schedules('2025-02-01 00:00') FROM generate_series(1, 2);
SELECT is(pg_temp.left_over(), 'a2 a3', 'the owners take turns, however many schedules one has');
SELECT _sfflow.look_at_schedules('2025-02-01 00:00');
SELECT is(_sfflow.look_at_schedules('2025-02-01 00:00'), false, 'once each schedule was dealt with, nothing is left');
SELECT is(pg_temp.left_over(), '', '... of none');
SET LOCAL sfflow.debug_point = '';
SELECT pg_temp.fill();
SELECT _sfflow.look_at_schedules('2025-02-01 00:00');
SELECT is(pg_temp.left_over(), '', 'a sweep with time deals with all');

SELECT * FROM finish();
ROLLBACK;
