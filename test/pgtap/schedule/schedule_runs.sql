-- Whether the runs of a schedule have come: without pg_cron, from the expression and from what runs left.
BEGIN;
SET LOCAL timezone = 'UTC';
SELECT plan(18);

SELECT sf_create_state_machine('runs', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');
-- A schedule as sf_schedule made it a while ago, whose pg_cron job is gone.
CREATE FUNCTION pg_temp.make(name text, schedule text, zone text, changed timestamptz,
	last_run timestamptz DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
	INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, timezone, cron_job_id, changed_at,
		created_at, handled_until)
	VALUES (name, current_user::regrole, schedule, 'runs', '{}', zone, 0, changed, changed, last_run) $$;
CREATE FUNCTION pg_temp.missed(name text) RETURNS timestamptz LANGUAGE sql AS
	$$ SELECT missed_at FROM _sfflow.schedule_status(name) $$;
-- The expression that matches each day at the minute of a local time.
CREATE FUNCTION pg_temp.daily(t timestamptz, zone text) RETURNS text LANGUAGE sql AS
	$$ SELECT extract(minute FROM t AT TIME ZONE zone) || ' ' || extract(hour FROM t AT TIME ZONE zone) || ' * * *' $$;
CREATE FUNCTION pg_temp.minute(ago interval) RETURNS timestamptz LANGUAGE sql AS $$ SELECT date_trunc('minute',
	now()) - ago $$;

SELECT pg_temp.make('hour_ago', pg_temp.daily(pg_temp.minute('1 hour'), 'UTC'), NULL, now() - interval '2 hours');
SELECT is(pg_temp.missed('hour_ago'), pg_temp.minute('1 hour'),
	'a run an hour ago did not come: the server was down, say');
SELECT pg_temp.make('just_made', pg_temp.daily(pg_temp.minute('1 hour'), 'UTC'), NULL, now() - interval '10 min');
SELECT is(pg_temp.missed('just_made'), NULL, 'what was due before the schedule was made is not missed');
SELECT pg_temp.make('just_due', pg_temp.daily(pg_temp.minute('3 min'), 'UTC'), NULL, now() - interval '2 hours');
SELECT is(pg_temp.missed('just_due'), NULL, 'a run may come some minutes late');
SELECT pg_temp.make('ran', pg_temp.daily(pg_temp.minute('1 hour'), 'UTC'), NULL, now() - interval '2 days',
	pg_temp.minute('1 hour'));
SELECT is(pg_temp.missed('ran'), NULL, 'it has run');
SELECT pg_temp.make('ran_before', pg_temp.daily(pg_temp.minute('1 hour'), 'UTC'), NULL, now() - interval '2 days',
	pg_temp.minute('25 hours'));
SELECT is(pg_temp.missed('ran_before'), pg_temp.minute('1 hour'), 'the day before, but not today');
SELECT pg_temp.make('often', '30 seconds', NULL, now() - interval '1 hour', now() - interval '10 min');
SELECT ok(pg_temp.missed('often') > now() - interval '6 min', 'every half minute, and not for ten minutes');

-- Clocks went forward half an hour ago, in a zone made for it: from t to t + 1 h.
SELECT 'AAA0BBB-1,' || extract(doy FROM t) - 1 || '/' || to_char(t, 'HH24:MI') || ','
	|| mod(extract(doy FROM t)::integer + 100, 365) || '/2' AS zone
FROM pg_temp.minute('30 min') t \gset
SELECT is((SELECT pg_temp.minute('30 min') AT TIME ZONE :'zone'),
	pg_temp.minute('30 min') AT TIME ZONE 'UTC' + interval '1 hour', 'the zone is as it should be');
SELECT pg_temp.make('skipped', pg_temp.daily(pg_temp.minute('20 min'), 'UTC'), :'zone', now() - interval '2 days',
	pg_temp.minute('1 day 20 min'));
SELECT is(pg_temp.missed('skipped'), pg_temp.minute('20 min'),
	'a local time that clocks skipped is due as much later as they went forward');
SELECT pg_temp.make('before_skip', pg_temp.daily(pg_temp.minute('40 min'), 'UTC'), :'zone', now() - interval '2 days',
	pg_temp.minute('1 day 40 min'));
SELECT is(pg_temp.missed('before_skip'), pg_temp.minute('40 min'), 'one before that is');

-- What the views say of it.
SELECT is((SELECT detail FROM sf_alerts WHERE kind = 'missed_run' AND detail LIKE '%hour\_ago%'),
	'schedule "hour_ago" has not run: its pg_cron job does not exist', 'an alert');
SELECT results_eq($$ SELECT active, state, problem FROM sf_schedules WHERE schedule_name = 'hour_ago' $$,
	$$ VALUES (false, 'gone', 'its pg_cron job does not exist') $$, 'and a state');
SELECT pg_temp.make('not_yet', pg_temp.daily(pg_temp.minute('-2 hours'), 'UTC'), NULL, now() - interval '1 hour');
SELECT is((SELECT concat(since, detail) FROM sf_alerts WHERE kind = 'missed_run' AND target = 'schedule:not_yet'),
	'schedule "not_yet" fails: its pg_cron job does not exist',
	'one without a job is an alert before its first run is due');
UPDATE _sfflow.schedule SET timezone = 'Mars/Olympus' WHERE name = 'ran';
SELECT lives_ok($$ SELECT * FROM sf_alerts $$, 'a zone that this server does not know stops no alerts');
UPDATE _sfflow.schedule SET timezone = NULL WHERE name = 'ran';

-- A run leaves its note; so does a call that is for no run, in the half year of the other offset.
SELECT _sfflow.run_schedule('hour_ago');
SELECT is(pg_temp.missed('hour_ago'), NULL, 'a run, however late, is the one that was due');
SELECT results_eq($$ SELECT scheduled_for, status, error, execution_id, started_at <= clock_timestamp()
	FROM sf_schedule_runs WHERE schedule_name = 'hour_ago' $$,
	$$ SELECT pg_temp.minute('1 hour'), 'succeeded', NULL::text, last_execution_id, true FROM sf_schedules
	WHERE schedule_name = 'hour_ago' $$, 'it is among the runs');
SELECT CASE WHEN to_char(now() AT TIME ZONE 'Europe/Berlin' - now() AT TIME ZONE 'UTC', 'HH24') = '02'
	THEN 'Europe/Berlin' ELSE 'Australia/Sydney' END AS summer \gset
SELECT pg_temp.make('elsewhere', pg_temp.daily(pg_temp.minute('90 min'), :'summer'), :'summer',
	now() - interval '2 days');
SELECT is(_sfflow.run_schedule('elsewhere'), NULL, 'a call an hour after the match, for winter');
SELECT is((SELECT status FROM sf_schedule_runs WHERE schedule_name = 'elsewhere'), 'skipped',
	'is a run that was skipped');

-- Who has no right on the machine learns nothing.
CREATE ROLE runs_stranger;
SET ROLE runs_stranger;
SELECT is_empty($$ SELECT 1 FROM sf_schedule_runs UNION ALL SELECT 1 FROM sf_schedules UNION ALL SELECT 1 FROM sf_alerts
	UNION ALL SELECT 1 FROM _sfflow.schedule_status('hour_ago') WHERE status IS NOT NULL UNION ALL SELECT 1
	FROM _sfflow.cron_runs('hour_ago') $$,
	'a stranger sees no run, and calls no function that tells');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
