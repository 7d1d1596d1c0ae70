-- Schedules: jobs of pg_cron that start state machines. Needs pg_cron in this database.
-- needs: hold
SELECT count(*) = 0 AS skipped FROM pg_extension WHERE extname = 'pg_cron' \gset
\if :skipped
\quit
\endif
\set VERBOSITY default
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET client_min_messages = error;		-- no word of how this server's pg_cron connects
CREATE ROLE regress_sfflow_night LOGIN;
CREATE ROLE regress_sfflow_other LOGIN;
GRANT CREATE ON SCHEMA public TO regress_sfflow_night;
SET ROLE regress_sfflow_night;
SELECT sf_create_state_machine('regress_night',
	'{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');

-- pg_cron has rights of its own.
SELECT sf_schedule('regress_0200', '0 2 * * *', 'regress_night');
RESET ROLE;
GRANT USAGE ON SCHEMA cron TO regress_sfflow_night, regress_sfflow_other;
SET ROLE regress_sfflow_night;
SELECT sf_schedule('regress_0200', '0 2 * * *', 'regress_night',
	'{"at": "<aws.scheduler.scheduled-time>",
		"by": ["<aws.scheduler.schedule-arn>, attempt <aws.scheduler.attempt-number>"]}') > 0 AS made;
SELECT jobname, schedule, command, username, active FROM cron.job;
SELECT schedule_name, schedule, timezone, state_machine, input, active,
	next_run = _sfflow.schedule_next('0 2 * * *', 'GMT', now()) AS next_run, last_execution_id
FROM sf_schedules;

-- In another time zone the job covers summer and winter; the run finds out whether it is meant.
SELECT sf_schedule('regress_0200', '0 2 * * mon', 'regress_night', timezone => 'Europe/Berlin') > 0 AS replaced;
SELECT jobname, schedule, command FROM cron.job;
SELECT schedule_name, schedule, timezone,
	next_run = _sfflow.schedule_next('0 2 * * mon', 'Europe/Berlin', now()) AS next_run FROM sf_schedules;
SELECT sf_schedule('regress_kathmandu', '0,30 9-17 * * *', 'regress_night', timezone => 'Asia/Kathmandu') > 0 AS made;
SELECT schedule FROM cron.job WHERE jobname = 'sfflow:regress_kathmandu';
SELECT sf_unschedule('regress_kathmandu');

-- A run starts the execution that it is for; a run that is delivered again finds it there.
SELECT sf_schedule('regress_0200', '0 0 1 1 *', 'regress_night/1',
	'{"at": "<aws.scheduler.scheduled-time>", "id": "<aws.scheduler.execution-id>",
		"in <aws.scheduler.attempt-number>": ["<aws.scheduler.schedule-arn>", 1, null]}') > 0 AS replaced;
SELECT _sfflow.run_schedule('regress_0200') = format('regress_night:schedule-%s',
	to_char(date_trunc('year', now()), 'YYYYMMDD"T"HH24MISS"Z"')) AS started;
SELECT _sfflow.run_schedule('regress_0200') = last_execution_id AS again FROM sf_schedules;
SELECT count(*), bool_and((input ->> 'at')::timestamptz = date_trunc('year', requested_at)) AS at,
	bool_and(input ->> 'id' ~ '^[0-9a-f]{16}$') AS id, min((input -> 'in 1')::text) AS rest
FROM sf_executions WHERE state_machine = 'regress_night';

-- The time of a run in the schedule's time zone, east and west of Greenwich, and its date, which can name the
-- execution.
SELECT sf_create_state_machine('regress_local', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}',
	execution_id_path => '$.name');
SELECT sf_schedule(translate(zone, '/+', '__'), '* * * * *', 'regress_local',
	format('{"name": "%s-<sfflow.scheduled-date>", "at": "<sfflow.scheduled-time>"}', translate(substr(zone, 5), '/+',
	'__'))::jsonb, zone) > 0 AS made
FROM (VALUES ('Etc/GMT-14'), ('Etc/GMT+12'), ('Asia/Kathmandu')) AS z (zone);
SELECT count(_sfflow.run_schedule(schedule_name)) FROM sf_schedules WHERE state_machine = 'regress_local';
SELECT substr(input ->> 'at', 17) AS rest, abs(extract(epoch FROM (input ->> 'at')::timestamptz - requested_at)) <=
	120 AS at,
	name LIKE '%-' || left(input ->> 'at', 10) AS named
FROM sf_executions WHERE state_machine = 'regress_local' ORDER BY 1;
SELECT sf_unschedule(schedule_name) FROM sf_schedules WHERE state_machine = 'regress_local';
SELECT sf_drop_state_machine('regress_local', force => true);
-- With a calendar pg_cron calls every day. Each run of a day has an execution of its own.
SELECT sf_create_calendar('regress_bank', '{"Weekdays": ["MON", "TUE", "WED", "THU", "FRI"],
	"Closed": ["2030-01-01"]}', '[{"MonthDays": [1, -1]}, {"OpenDays": [3], "Plus": 1}]');
SELECT sf_schedule('regress_month', '30 2,14 * * *', 'regress_night', timezone => 'Europe/Berlin',
	calendar => 'regress_bank', on_closed => 'next',
	starts => '2029-12-15', ends => '2030-04-01 00:30Z', missed => 'run_all', overlap => 'queue') > 0 AS made;
SELECT schedule FROM cron.job WHERE jobname = 'sfflow:regress_month';
SELECT scheduled_for, to_char(local_time, 'Dy DD HH24:MI') AS local, execution_name
	FROM sf_schedule_preview('regress_month', '2029-01-01', '2030-12-31');
SELECT next_run FROM sf_schedules WHERE schedule_name = 'regress_month';
-- Calls of other times, as if the runs before them had been missed; rolled back before a worker sees them.
BEGIN;
RESET ROLE;
SELECT _sfflow.run_schedule_at('regress_month', '2029-12-31 01:30:05Z');
SELECT _sfflow.run_schedule_at('regress_month', '2030-01-02 01:30:05Z');
SELECT _sfflow.run_schedule_at('regress_month', '2030-01-02 13:30:05Z');
SELECT _sfflow.run_schedule_at('regress_month', '2030-01-03 13:30:05Z');
SELECT scheduled_for, status, execution_id FROM sf_schedule_runs WHERE schedule_name = 'regress_month'
	ORDER BY started_at;
ROLLBACK;
SET ROLE regress_sfflow_night;
SELECT sf_drop_calendar('regress_bank');
SELECT sf_unschedule('regress_month'), sf_drop_calendar('regress_bank');
-- What was wrong with it is told at once, too.
SELECT sf_schedule('regress_bad', '0 2 * * *', 'regress_night', calendar => 'regress_bank');
SELECT sf_schedule('regress_bad', '0 2 * * *', 'regress_night', on_closed => 'never');
SELECT sf_schedule('regress_bad', '0 2 * * *', 'regress_night', missed => 'never');
SELECT sf_schedule('regress_bad', '0 2 * * *', 'regress_night', overlap => 'never');
SELECT sf_schedule('regress_bad', '0 2 * * *', 'regress_night', starts => '2030-01-02', ends => '2030-01-01');
SELECT sf_create_calendar('regress_bank', '{}');
SELECT sf_schedule('regress_bad', '30 seconds', 'regress_night', calendar => 'regress_bank');
SELECT sf_drop_calendar('regress_bank');
SELECT * FROM sf_schedule_preview('regress_0200', '2030-01-01', 'infinity');
SELECT * FROM sf_schedule_preview('regress_0200', '2030-01-01', '2041-01-01');
SELECT sf_schedule('regress_minute', '* * * * *', 'regress_night') > 0 AS made;
SELECT * FROM sf_schedule_preview('regress_minute', '2030-01-01', '2030-12-01');
SELECT count(*) FROM sf_schedule_preview('regress_minute', '2030-01-01', '2030-01-02');
SELECT sf_unschedule('regress_minute');

-- With an execution_id_path the input names the execution.
SELECT sf_create_state_machine('regress_named',
	'{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}', execution_id_path => '$.id');
SELECT sf_schedule('regress_named', '0 2 * * *', 'arn:aws:states:us-east-1:000000000000:stateMachine:regress_named',
	'{"id": 7}') > 0 AS made;
SELECT _sfflow.run_schedule('regress_named');
SELECT sf_unschedule('regress_named');

-- What is wrong is told at once, not at two in the morning.
SELECT sf_schedule('regress bad', '0 2 * * *', 'regress_night');
SELECT sf_schedule('regress_bad', '0 25 * * *', 'regress_night');
-- (Less than a minute works where the installed pg_cron has it.)
CREATE FUNCTION pg_temp.seconds_as_pg_cron_has_them() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	has boolean := (SELECT substring(extversion from '^\d+\.\d+')::numeric >= 1.5 FROM pg_extension
		WHERE extname = 'pg_cron');
BEGIN
	PERFORM sf_schedule('regress_often', '10 seconds', 'regress_night');
	PERFORM sf_unschedule('regress_often');
	RETURN has;
EXCEPTION WHEN OTHERS THEN
	RETURN NOT has AND SQLERRM = 'the installed pg_cron has no schedules of less than a minute';
END $$;
SELECT pg_temp.seconds_as_pg_cron_has_them();
DROP FUNCTION pg_temp.seconds_as_pg_cron_has_them;
SELECT sf_schedule('regress_bad', '0 2 * * *', 'regress_no_such_machine');
SELECT sf_schedule('regress_bad', '0 2 * * *', 'regress_night', timezone => 'Mars/Olympus');
SELECT sf_schedule('regress_bad', '0 2 * * *', 'regress_night', '{"a": ["<aws.scheduler.retry-count>"]}');
SELECT sf_schedule('regress_bad', '0 2 * * *', 'regress_night', '{"<aws.scheduler.": 1}');
SELECT sf_schedule('regress_bad', '0 2 * * *', 'regress_night', '{"a": "<b> <sfflow.scheduled-hour>"}');
SELECT sf_schedule('regress_bad', NULL, 'regress_night');
SELECT sf_unschedule('regress_bad');

-- The night has the runs to come, ten at most.
SELECT sf_schedule('regress_night', '7 * * * *', 'regress_night') > 0 AS made;
SELECT target, state, count(*), min(planned_at) > now() AS to_come,
	max(planned_at) <= now() + interval '10 hours' AS the_next, next
FROM sf_night(until => now() + interval '1 day') WHERE state = 'DUE' AND target = 'schedule:regress_night'
	GROUP BY target, state, next;
SELECT sf_hold('schedule:regress_night') AS held;
SELECT DISTINCT detail FROM sf_night() WHERE state = 'DUE' AND target = 'schedule:regress_night';
RESET ROLE;
SELECT cron.alter_job(jobid, active => false) FROM cron.job WHERE jobname = 'sfflow:regress_night';
SELECT state, planned_at, detail FROM sf_night() WHERE target = 'schedule:regress_night';
SELECT sf_unschedule('regress_night');

-- What the console asks for, and does.
SET ROLE regress_sfflow_night;
SELECT sf_console_api('plan_schedule', '{"name": "regress_console", "state_machine": "regress_night",
	"schedule": "0 2 29 2 *", "timezone": "UTC", "starts": "2030-01-01"}')
	#>> '{times,1,local_time}' AS second;
SELECT count(*) AS made FROM sf_schedules WHERE schedule_name = 'regress_console';
SELECT jsonb_array_length(sf_console_api('plan_schedule', '{"name": "regress_console",
	"state_machine": "regress_night", "schedule": "* * * * *"}') -> 'times') AS of_minutes;
SELECT sf_console_api('plan_schedule', '{"name": "regress_console", "state_machine": "regress_night",
	"schedule": "0 25 * * *"}');
SELECT sf_console_api('set_schedule', '{"name": "regress_console", "state_machine": "regress_night",
	"schedule": "0 2 * * *", "timezone": "UTC", "calendar": "", "missed": "skip", "input": "{\"a\": 1.10}"}') -> 'job'
	> '0' AS made;
SELECT sf_console_api('set_schedule', '{"name": "regress_console", "state_machine": "regress_night",
	"schedule": "0 3 * * *", "timezone": "UTC", "overlap": "queue", "ends": "2040-01-01"}') -> 'job' > '0' AS replaced;
SELECT r - '{next_run,last_execution_id,ends,active,state,problem}'::text[] AS row
	FROM jsonb_array_elements(sf_console_api('schedules', '{}') -> 'rows') AS r
	WHERE r ->> 'schedule_name' = 'regress_console';
RESET ROLE;
SELECT sf_console_api('set_schedule', '{"name": "regress_console", "state_machine": "regress_night",
	"schedule": "0 4 * * *", "timezone": "UTC"}') -> 'job' > '0' AS by_another;
SELECT schedule, owner, input FROM sf_schedules WHERE schedule_name = 'regress_console';
SELECT sf_console_api('set_schedule', '{"name": "regress_console", "state_machine": "regress_night",
	"schedule": "0 5 * * *", "new": true}');
SET ROLE regress_sfflow_night;
SELECT sf_console_api('unschedule', '{"targets": ["regress_console"]}') -> 'rows' AS removed;

-- Somebody else sees nothing, may not start the machine, and may not touch the schedule.
SET ROLE regress_sfflow_other;
SELECT * FROM sf_schedules;
SELECT sf_schedule('regress_other', '0 2 * * *', 'regress_night');
SELECT sf_schedule('regress_0200', '0 3 * * *', 'regress_night');
SELECT sf_unschedule('regress_0200');
RESET ROLE;
SELECT sf_grant('START', 'regress_night', 'regress_sfflow_other');
SET ROLE regress_sfflow_other;
SELECT sf_schedule('regress_0200', '0 3 * * *', 'regress_night');
SELECT sf_schedule('regress_other', '0 3 * * *', 'regress_night') > 0 AS made;
SELECT _sfflow.run_schedule('regress_0200');
SELECT * FROM sf_schedule_preview('regress_0200', '2030-01-01', '2030-01-02');
SELECT _sfflow.run_schedule_at('regress_0200', '2030-01-01');
SELECT _sfflow.look_at_schedules('2030-01-01');

-- A superuser removes both; jobs that are gone already are no obstacle.
RESET ROLE;
SELECT cron.unschedule(jobid) FROM cron.job WHERE jobname = 'sfflow:regress_other';
SELECT schedule_name, active, next_run FROM sf_schedules WHERE schedule_name = 'regress_other';
SELECT sf_unschedule('regress_0200'), sf_unschedule('regress_other');
SELECT count(*) AS schedules FROM sf_schedules;
SELECT count(*) AS jobs FROM cron.job;
SELECT sf_revoke('START', 'regress_night', 'regress_sfflow_other');

SELECT sf_drop_state_machine('regress_night', force => true), sf_drop_state_machine('regress_named', force => true);
REVOKE USAGE ON SCHEMA cron FROM regress_sfflow_night, regress_sfflow_other;
REVOKE CREATE ON SCHEMA public FROM regress_sfflow_night;
DROP ROLE regress_sfflow_night;
DROP ROLE regress_sfflow_other;
