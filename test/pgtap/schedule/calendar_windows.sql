-- Searches for the runs of a schedule with a calendar go through windows of days: where one ends and the next one
-- begins, none is lost and none comes twice, east and west of Greenwich.
BEGIN;
SET LOCAL timezone = 'UTC';
SET LOCAL client_min_messages = warning;
SELECT plan(8);

SELECT sf_create_state_machine('windows', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')
	\g /dev/null
SELECT sf_create_calendar('windows', '{}', '{"Dates": ["2026-10-20"]}') \g /dev/null
UPDATE _sfflow.calendar SET changed_at = '2025-01-01';
INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, calendar, missed, cron_job_id, changed_at,
		created_at)
	SELECT n, current_user::regrole, c, 'windows', '{}', 'windows', 'skip', 0, '2025-01-01', '2025-01-01'
	FROM (VALUES ('late', '0 22 * * *'), ('twice', '0 20,22 * * *')) AS s (n, c);

-- The run that did not come on a day some days ago, for many numbers of days: is it known to be missed?
CREATE FUNCTION pg_temp.missed(day date) RETURNS timestamptz LANGUAGE plpgsql AS $$
BEGIN
	UPDATE _sfflow.calendar SET days = jsonb_build_object('Dates', jsonb_build_array(day));
	RETURN (SELECT missed_at FROM _sfflow.schedule_status('late'));
END $$;
CREATE FUNCTION pg_temp.not_missed_in(zone text) RETURNS text LANGUAGE sql AS $$
	UPDATE _sfflow.schedule SET timezone = zone;
	SELECT string_agg(n::text, ' ') FROM generate_series(2, 100) AS n,
		LATERAL (SELECT (now() AT TIME ZONE zone)::date - n AS day) AS d
	WHERE pg_temp.missed(day) IS DISTINCT FROM (day + time '22:00') AT TIME ZONE zone $$;
SELECT is(pg_temp.not_missed_in(zone), NULL, 'a run is missed on all days after it: ' || zone)
	FROM unnest('{America/New_York,Etc/GMT+12,UTC,Etc/GMT-14}'::text[]) AS zone;

UPDATE _sfflow.calendar SET days = '{"Dates": ["2026-10-20"]}';
-- The runs from each of many days on.
CREATE FUNCTION pg_temp.runs_in(zone text) RETURNS text LANGUAGE sql AS $$
	UPDATE _sfflow.schedule SET timezone = zone;
	SELECT string_agg(DISTINCT runs, ', ') FROM (SELECT (SELECT string_agg((scheduled_for AT TIME ZONE zone)::text, ' '
				ORDER BY scheduled_for)
			FROM sf_schedule_preview('twice', from_at, '2026-12-31')) AS runs
		FROM generate_series(timestamptz '2026-08-01', '2026-10-18', '1 day') AS from_at) AS r $$;
SELECT is(pg_temp.runs_in(zone), '2026-10-20 20:00:00 2026-10-20 22:00:00',
		'both runs are listed from all days: ' || zone)
	FROM unnest('{America/New_York,Etc/GMT+12,UTC,Etc/GMT-14}'::text[]) AS zone;

SELECT * FROM finish();
ROLLBACK;
