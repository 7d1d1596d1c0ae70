-- Deadlines: what is late, what will be late, and what never started; each is raised once, as an alert and as an event.
-- needs: hold rule
BEGIN;
SET LOCAL timezone = 'UTC';
SELECT plan(113);

CREATE ROLE late_owner;
CREATE ROLE late_reader;
CREATE ROLE late_operator;
CREATE FUNCTION late_task(payload jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT sf_create_state_machine(m, format('{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:%1$s.late_task", "ResultPath": null, "Next": "W"},
	"W": {"Type": "Wait", "Seconds": 600, "Next": "B"},
	"B": {"Type": "Task", "Resource": "sql:%1$s.late_task", "ResultPath": null, "End": true}}}', current_schema)::json)
FROM unnest('{late,jobs,soon,other,bad,many}'::text[]) m \g /dev/null

-- A time of day so long ago, the moment that it stands for, and a deadline that was set four hours ago.
CREATE FUNCTION pg_temp.day(ago interval) RETURNS time LANGUAGE sql AS $$ SELECT date_trunc('minute',
	now() - ago)::time $$;
CREATE FUNCTION pg_temp.moment(ago interval) RETURNS timestamptz LANGUAGE sql AS $$ SELECT date_trunc('minute',
	now() - ago) $$;
CREATE FUNCTION pg_temp.set(target text, start_ago interval, end_ago interval, calendar text DEFAULT NULL) RETURNS void
	LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_set_deadline(target, pg_temp.day(start_ago), pg_temp.day(end_ago), 'UTC', set.calendar);
	UPDATE _sfflow.deadline d SET checked_until = now() - interval '4 hours' WHERE d.target = set.target;
END $$;
-- Look at all deadlines, after everything that has happened: on a busy machine more than 20 seconds since this
-- transaction began.
CREATE FUNCTION pg_temp.check(after interval DEFAULT greatest('20 s', clock_timestamp() - now())) RETURNS timestamptz
	LANGUAGE sql AS $$
	UPDATE _sfflow.deadline SET next_at = now();
	SELECT _sfflow.check_deadlines(now() + after) $$;
CREATE FUNCTION pg_temp.late(wanted text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(concat_ws(' ', state, due_by, execution_id, CASE WHEN over_at IS NOT NULL THEN 'over'
				END), ', ' ORDER BY raised_at, due_by, state), '')
	FROM sf_late WHERE target = wanted $$;
-- An execution as it was requested, begun and ended so long ago.
CREATE FUNCTION pg_temp.execute(machine text, run text, requested interval, started interval DEFAULT NULL,
	stopped interval DEFAULT NULL, ended smallint DEFAULT 1)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_start(machine, name => run);
	UPDATE _sfflow.execution SET requested_at = now() - requested, started_at = now() - started,
	stopped_at = now() - stopped,
		status = CASE WHEN stopped IS NULL THEN 0 ELSE ended END WHERE execution_id = machine || ':' || run;
END $$;

-- Nothing has run.
SELECT sf_create_rule('late-watch', '{"source": ["sfflow.deadlines", "sfflow.alerts"]}', 'notify:late') \g /dev/null
CREATE FUNCTION pg_temp.events() RETURNS text LANGUAGE sql AS $$
	WITH d AS (DELETE FROM _sfflow.rule_delivery RETURNING event)
	SELECT coalesce(string_agg(concat_ws(' ', replace(event ->> 'source', 'sfflow.', ''), event #>> '{detail,status}',
				event #>> '{detail,alert}',
		event #>> '{detail,target}', event #>> '{detail,name}'), ', ' ORDER BY event ->> 'source' DESC,
		event #>> '{detail,alert}', event #>> '{detail,status}'), '') FROM d $$;
SELECT pg_temp.set('late', '2 h', '1 h');
SELECT is((SELECT concat_ws(' ', target, start_by, end_by, timezone, calendar, set_by) FROM sf_deadlines),
	concat_ws(' ', 'late', pg_temp.day('2 h'), pg_temp.day('1 h'), 'UTC', current_user), 'the deadline');
SELECT cmp_ok(pg_temp.check(), '<=', now() + interval '80 s', 'what is late is looked at again');
SELECT is(pg_temp.late('late'), 'never_started start', 'nothing has started');
SELECT is((SELECT deadline_at FROM sf_late), pg_temp.moment('2 h'), 'by then');
SELECT is((SELECT detail FROM sf_alerts WHERE kind = 'never_started'),
	format('"late" has never started; it was to have started by %s UTC',
		to_char(pg_temp.moment('2 h'), 'YYYY-MM-DD HH24:MI')), 'an alert');
SELECT is(pg_temp.events(), 'deadlines NEVER_STARTED late, alerts OPENED never_started late', 'and an event of each');
SELECT pg_temp.check(), pg_temp.check() \g /dev/null
UPDATE _sfflow.deadline SET checked_until = now() - interval '4 hours';
SELECT pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('late') || pg_temp.events(), 'never_started start', 'both once, however often it is looked at');
SELECT is(sf_acknowledge('late', 'late'), 0, 'another kind');
SELECT is(sf_acknowledge('late', 'never_started', 'a holiday'), 1, 'it is acknowledged');
SELECT is((SELECT count(*) FROM sf_alerts WHERE kind = 'never_started'), 0::bigint, 'and no alert any more');
SELECT is((SELECT concat_ws(' ', execution_id, kind, acknowledged_by, comment) FROM sf_acknowledgements),
	concat_ws(' ', 'late never_started', current_user, 'a holiday'), 'but recorded');
SELECT is(pg_temp.events(), 'alerts ACKNOWLEDGED never_started late', 'with an event');
SELECT is(sf_acknowledge('late'), 0, 'once');
SELECT pg_temp.execute('late', '1', '30 min', '30 min') \g /dev/null
SELECT pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('late'), 'never_started start over', 'it has started at last');
SELECT is(pg_temp.events(), 'deadlines OVER late', 'which an event tells');
SELECT is_empty($$ SELECT * FROM sf_check() WHERE problem IN ('deadline_without_target',
		'lateness_without_deadline') $$, 'the tables hold together');

-- An execution that started too late, and one that has not ended.
UPDATE _sfflow.execution SET requested_at = now() - interval '3 h', started_at = now() - interval '100 min'
	WHERE execution_id = 'late:1';
SELECT sf_drop_deadline('late'), pg_temp.set('late', '2 h', '1 h') \g /dev/null
SELECT is(pg_temp.late('late'), '', 'a dropped deadline has nothing late');
SELECT pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('late'), 'late end late:1, late start late:1 over', 'it started too late and runs still');
SELECT is(pg_temp.events(), 'deadlines LATE late 1, deadlines LATE late 1, deadlines OVER late 1, alerts CLEARED late '
	'late 1, alerts OPENED late late 1, alerts OPENED late late 1',
	'events of all that');
SELECT is((SELECT string_agg(detail, ', ' ORDER BY detail) FROM sf_alerts WHERE execution_id = 'late:1'),
	format('"late" is late; it was to have ended by %s UTC', to_char(pg_temp.moment('1 h'), 'YYYY-MM-DD HH24:MI')),
	'an alert of what is late still');
UPDATE _sfflow.execution SET status = 1, stopped_at = now() - interval '50 min' WHERE execution_id = 'late:1';
SELECT pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('late'), 'late end late:1 over, late start late:1 over', '... and ended');
SELECT is(pg_temp.events(), 'deadlines OVER late 1, alerts CLEARED late late 1', 'with events');
SELECT is((SELECT count(*) FROM sf_alerts WHERE kind = 'late'), 0::bigint, 'no alert is left');

-- What was in time, although it is looked at late.
UPDATE _sfflow.execution SET started_at = now() - interval '130 min', stopped_at = now() - interval '70 min'
	WHERE execution_id = 'late:1';
SELECT sf_drop_deadline('late'), pg_temp.set('late', '2 h', '1 h'), pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('late') || pg_temp.events(), '', 'in time');
SELECT pg_temp.execute('late', '2', '3 h', '3 h', '90 min', 2::smallint) \g /dev/null
SELECT sf_drop_deadline('late'), pg_temp.set('late', '2 h', '1 h'), pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('late'), 'late end late:2', 'one of two that failed has not ended well');
UPDATE _sfflow.execution SET status = 4 WHERE execution_id = 'late:2';
SELECT sf_drop_deadline('late'), pg_temp.set('late', '2 h', '1 h'), pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('late'), '', 'one that an operator stopped is done');
UPDATE _sfflow.execution SET requested_at = now() - interval '20 h' WHERE execution_id LIKE 'late:_';
SELECT sf_drop_deadline('late'), pg_temp.set('late', '2 h', '1 h'), pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('late'), 'never_started start', 'an execution of the day before is of another night');
SELECT sf_drop_deadline('late'), pg_temp.set('late', NULL, '1 h'), pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('late'), '', 'without a start the day before the end counts');
SELECT sf_drop_deadline('late'), pg_temp.events() \g /dev/null

-- What will be late: the usual times of what remains.
INSERT INTO _sfflow.metric_job (machine_no, job, runs, failures, time_us, time_histogram, recent_us, last_at)
SELECT m.machine_no, j.job, 30, 0, 0, '', array_fill(1200 * 1000000::bigint, ARRAY[30]), now()
FROM _sfflow.state_machine m, (VALUES ('A'), ('B')) j(job) WHERE m.name IN ('soon', 'jobs', 'many');
-- It takes 20 + 10 + 20 minutes.
SELECT sf_set_deadline('soon', end_by => pg_temp.day('-60 min'), timezone => 'UTC');
SELECT is(pg_temp.check() - now() BETWEEN '8 min' AND '11 min', true,
	'nothing runs: looked at again when too little time is left');
SELECT is(pg_temp.late('soon'), '', 'there is time');
SELECT sf_start('soon', name => '1') \g /dev/null
SELECT is(pg_temp.check() - now() BETWEEN '8 min' AND '11 min', true, 'it stands at its beginning');
SELECT sf_hold('soon/A') \g /dev/null
SELECT is(sf_run('soon:1'), 'RUNNING', 'it is held');
SELECT is(pg_temp.check('5 min') - now() BETWEEN '8 min' AND '11 min', true, 'it rests');
SELECT pg_temp.check('11 min') \g /dev/null
SELECT is(pg_temp.late('soon'), 'will_be_late end soon:1', 'it will be late');
SELECT is((SELECT expected_at - now() BETWEEN '60 min' AND '62 min' FROM sf_late WHERE target = 'soon'), true,
	'and is expected then');
SELECT is(pg_temp.events(), 'deadlines WILL_BE_LATE soon 1, alerts OPENED will_be_late soon 1', 'with events');
SELECT pg_temp.check('12 min') \g /dev/null
SELECT is(pg_temp.events() || (SELECT count(*) FROM sf_late WHERE target = 'soon'), '1', 'once');
SELECT matches((SELECT detail FROM sf_alerts WHERE kind = 'will_be_late'),
	'^"soon" will be late; it is to have ended by \d{4}-\d\d-\d\d \d\d:\d\d UTC$', 'an alert');
SELECT pg_temp.check('61 min') \g /dev/null
SELECT is(pg_temp.late('soon'), 'will_be_late end soon:1 over, late end soon:1', 'it is late, and will not only be');
SELECT is((SELECT string_agg(kind, ' ') FROM sf_alerts WHERE execution_id = 'soon:1'), 'late',
	'one alert is left of the two');
UPDATE _sfflow.execution SET labels = '{"team": "a"}' WHERE execution_id = 'soon:1';
SELECT is((SELECT labels FROM sf_alerts WHERE execution_id = 'soon:1'), '{"team": "a"}',
	'it has the labels of the execution');
SELECT is(sf_acknowledge('soon:1', NULL, 'known'), 1, 'it is acknowledged by the execution');
SELECT is((SELECT count(*) FROM sf_alerts WHERE execution_id = 'soon:1'), 0::bigint, '... and shown no more');
SELECT sf_drop_deadline('soon'), pg_temp.events() \g /dev/null
SELECT sf_set_deadline('soon', end_by => pg_temp.day('-40 min'), timezone => 'UTC'), sf_stop('soon:1'), pg_temp.check()
	\g /dev/null
SELECT is(pg_temp.late('soon'), '', 'one that is over is not expected');
SELECT sf_drop_deadline('soon') \g /dev/null

-- One that begins after others are done.
SELECT sf_set_deadline('soon', end_by => pg_temp.day('-120 min'), timezone => 'UTC') \g /dev/null
SELECT is(pg_temp.check() - now() BETWEEN '68 min' AND '71 min', true,
	'all are over: looked at again when one that begins would be late');
SELECT is(pg_temp.check('71 min') - now() BETWEEN '71 min' AND '73 min', true, '... and from then on each minute');
SELECT is(pg_temp.late('soon'), '', 'none has begun');
SELECT sf_start('soon', name => '2') \g /dev/null
SELECT pg_temp.check('72 min') \g /dev/null
SELECT is(pg_temp.late('soon'), 'will_be_late end soon:2', 'one begins, and will be late');
SELECT sf_drop_deadline('soon'), sf_stop('soon:2'), pg_temp.events() \g /dev/null

-- A job.
SELECT sf_release('soon/A'), sf_start('jobs', name => '1'), sf_run('jobs:1') \g /dev/null
UPDATE _sfflow.execution SET requested_at = now() - interval '3 h' WHERE execution_id = 'jobs:1';
SELECT sf_set_deadline('jobs/A', end_by => pg_temp.day('-10 min'), timezone => 'UTC'),
	pg_temp.set('jobs/B', '2 h', '-25 min'), pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('jobs/A'), '', 'a job that is done');
SELECT is(pg_temp.late('jobs/B'), 'will_be_late end jobs:1, late start jobs:1',
	'one that is not reached: in 10 minutes, and then it takes 20');
SELECT is((SELECT expected_at - clock_timestamp() BETWEEN '29 min' AND '31 min' FROM sf_late WHERE due_by = 'end'
		AND target = 'jobs/B'), true, 'so long does it take');
SELECT is(sf_run('jobs:1', true), 'SUCCEEDED', 'it runs');
SELECT pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('jobs/B'), 'will_be_late end jobs:1 over, late start jobs:1 over', 'it has run');
-- It is looked at after the execution has ended, which was after the deadline.
UPDATE _sfflow.execution SET stopped_at = now() + interval '15 min' WHERE execution_id = 'jobs:1';
SELECT pg_temp.check('20 min') \g /dev/null
SELECT is(pg_temp.late('jobs/A'), '', 'a job that was done in time, of an execution that ended later');
UPDATE _sfflow.execution SET stopped_at = now() WHERE execution_id = 'jobs:1';

-- A job of a net in a net: two of 10 minutes come before it, another one of 60 does not.
SELECT sf_create_state_machine('net', '{"StartAt": "N", "States": {"N": {"Type": "JobNet", "End": true, "Jobs": {
	"X": {"Type": "Task", "Resource": "activity:x"}, "V": {"Type": "Task", "Resource": "activity:x"},
	"I": {"Type": "JobNet", "After": ["X"], "Jobs": {"Y": {"Type": "Task", "Resource": "activity:x"},
		"Z": {"Type": "Task", "Resource": "activity:x", "After": ["Y"]}}},
	"U": {"Type": "Task", "Resource": "activity:x", "After": ["I"]}}}}}') \g /dev/null
INSERT INTO _sfflow.metric_job (machine_no, job, runs, failures, time_us, time_histogram, recent_us, last_at)
SELECT m.machine_no, j.job, 30, 0, 0, '', array_fill(j.minutes * 60 * 1000000::bigint, ARRAY[30]), now()
FROM _sfflow.state_machine m, (VALUES ('X', 10), ('V', 60), ('Y', 10), ('Z', 10), ('U', 60)) j(job, minutes)
WHERE m.name = 'net';
SELECT sf_hold('net/X'), sf_start('net', name => '1'), sf_run('net:1') \g /dev/null
SELECT sf_set_deadline('net/Z', end_by => pg_temp.day('-25 min'), timezone => 'UTC'), pg_temp.check() \g /dev/null
SELECT is((SELECT expected_at - clock_timestamp() BETWEEN '29 min' AND '31 min' FROM sf_late WHERE target = 'net/Z'),
	true, 'a job of a net is expected after those before it');
SELECT sf_release('net/X'), sf_stop('net:1'), sf_drop_deadline('net/Z') \g /dev/null
SELECT is(sf_acknowledge_all('jobs', now() + interval '1 min'), 0::bigint, 'nothing is left to acknowledge');
UPDATE _sfflow.execution SET requested_at = now() - interval '20 h' WHERE execution_id = 'jobs:1';
SELECT sf_drop_deadline('jobs/B'), pg_temp.set('jobs/B', '2 h', NULL), pg_temp.check() \g /dev/null
SELECT is(sf_acknowledge_all('jobs', now() + interval '1 min'), 1::bigint, 'all of a machine');
SELECT is((SELECT count(*) FROM sf_late WHERE acknowledged_at IS NOT NULL), 1::bigint, '... are acknowledged');
SELECT pg_temp.events() \g /dev/null

-- Schedules: the run before the deadline, in the time zone, on the days of the calendar.
INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, timezone, cron_job_id,
	changed_at, created_at)
SELECT n, current_user::regrole, extract(minute FROM pg_temp.day(ago)) || ' ' || extract(hour FROM pg_temp.day(ago))
|| ' * * *', 'other', '{}', 'UTC', 0, now() - interval '3 days', now()
FROM (VALUES ('night', interval '130 min'), ('often', interval '130 min')) AS s(n, ago);
SELECT pg_temp.set('schedule:night', '2 h', '1 h'), pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('schedule:night'), 'never_started start',
	'the run did not happen: the server was down, or pg_cron stood still');
SELECT is(pg_temp.events(), 'deadlines NEVER_STARTED schedule:night, alerts OPENED never_started schedule:night',
	'events of a schedule');
SELECT is(sf_acknowledge('schedule:night'), 1, 'it is acknowledged');
SELECT pg_temp.execute('other', '1', '130 min', '129 min') \g /dev/null
INSERT INTO _sfflow.schedule_run (schedule, run_at, pid, scheduled_for, execution_id, outcome)
	VALUES ('night', now() - interval '130 min', 0, pg_temp.moment('130 min'), 'other:1', 'succeeded');
SELECT sf_drop_deadline('schedule:night'), pg_temp.set('schedule:night', '2 h', '1 h'), pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('schedule:night'), 'late end other:1', 'the run has started in time and not ended');
SELECT sf_drop_deadline('schedule:night'), pg_temp.set('schedule:night', '140 min', '135 min'), pg_temp.check()
	\g /dev/null
SELECT is(pg_temp.late('schedule:night'), 'never_started start',
	'before the run the deadline is one of the run of the day before');
SELECT sf_create_calendar('never', '{"Weekdays": []}'), sf_create_calendar('always', '{"Weekdays": ["MON", "TUE", "WED",
	"THU", "FRI", "SAT", "SUN"]}') \g /dev/null
SELECT sf_drop_deadline('schedule:night'), pg_temp.set('schedule:night', '2 h', '1 h', 'never'), pg_temp.check()
	\g /dev/null
SELECT is(pg_temp.late('schedule:night'), '', 'no day of the calendar');
SELECT pg_temp.set('schedule:night', '2 h', '1 h', 'always'), pg_temp.check() \g /dev/null
SELECT is(pg_temp.late('schedule:night'), 'late end other:1', 'a day of the calendar');
SELECT throws_ok($$ SELECT sf_drop_calendar('always') $$, '2BP01', 'calendar "always" is in use');
-- A calendar that gets this day in the middle of it: 20 minutes are left, and it takes 50.
SELECT sf_create_calendar('as-never', '{"Extends": "never"}') \g /dev/null
SELECT sf_set_deadline('soon', end_by => pg_temp.day('-20 min'), timezone => 'UTC', calendar => 'as-never'),
	sf_start('soon', name => 'today') \g /dev/null
SELECT is(pg_temp.check() > now() + interval '30 s', true, 'no day of the calendar: there is nothing to look at soon');
SELECT is(pg_temp.late('soon'), '', '... and nothing will be late');
SELECT sf_create_calendar('never', '{"Weekdays": ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]}') \g /dev/null
SELECT is((SELECT string_agg(target, ' ') FROM _sfflow.deadline WHERE next_at <= now()), 'soon',
	'the calendar changes: what has one that extends it is due, and nothing else');
SELECT _sfflow.check_deadlines(greatest(now() + interval '30 s', clock_timestamp())) \g /dev/null
SELECT is(pg_temp.late('soon'), 'will_be_late end soon:today', 'the calendar gets the day: looked at again at once');
SELECT sf_drop_deadline('soon'), sf_drop_calendar('as-never'), sf_create_calendar('never', '{"Weekdays": []}')
	\g /dev/null
-- 06:00 of the next day is the end of a run in the evening; clocks go forward at 02:00 in Berlin.
INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, timezone, cron_job_id,
	changed_at, created_at)
VALUES ('evening', current_user::regrole, '0 22 * * *', 'other', '{}', 'Europe/Berlin', 0, '2030-03-01', now());
SELECT sf_set_deadline('schedule:evening', '02:30', '06:00') \g /dev/null
SELECT is((SELECT timezone FROM sf_deadlines WHERE target = 'schedule:evening'), 'Europe/Berlin',
	'the zone of the schedule');
UPDATE _sfflow.deadline SET checked_until = '2030-03-30 21:00+01', next_at = '2030-03-30 21:00+01'
	WHERE target = 'schedule:evening';
SELECT is(_sfflow.check_deadlines('2030-03-31 01:29:59Z') IS NOT NULL, true, '03:29 in summer time');
SELECT is(pg_temp.late('schedule:evening'), '', 'it is not too late');
UPDATE _sfflow.deadline SET next_at = '2030-03-31 01:30Z' WHERE target = 'schedule:evening';
SELECT is(_sfflow.check_deadlines('2030-03-31 01:30Z') IS NOT NULL, true, '02:30, which clocks skip, is 03:30');
SELECT is((SELECT state || ' ' || deadline_at FROM sf_late WHERE target = 'schedule:evening'),
	'never_started 2030-03-31 01:30:00+00', 'the run of the evening never started');
SELECT sf_drop_deadline('schedule:evening') \g /dev/null

-- Runs of schedules are told, each once: what starts, and what does not.
SELECT pg_temp.events(), sf_create_rule('runs', '{"source": ["sfflow.schedules"]}', 'notify:runs') \g /dev/null
CREATE FUNCTION pg_temp.runs() RETURNS text LANGUAGE sql AS $$
	WITH d AS (DELETE FROM _sfflow.rule_delivery RETURNING event)
	SELECT coalesce(string_agg(concat_ws(' ', event #>> '{detail,schedule}', event #>> '{detail,status}',
				event #>> '{detail,name}' IS NOT NULL,
		to_timestamp((event #>> '{detail,scheduledDate}')::bigint / 1000) = pg_temp.moment('130 min'),
		event #>> '{resources,0}'), ', '), '') FROM d $$;
UPDATE _sfflow.schedule SET handled_until = pg_temp.moment('130 min') - interval '1 s' WHERE name = 'often';
SELECT _sfflow.run_schedule('often') \g /dev/null
SELECT is(pg_temp.runs(), 'often STARTED t t arn:aws:scheduler:us-east-1:000000000000:schedule/default/often',
	'a run has started');
SELECT _sfflow.run_schedule('often') \g /dev/null
SELECT is(pg_temp.runs(), '', 'and is told once, although it is called twice');
UPDATE _sfflow.schedule SET handled_until = pg_temp.moment('130 min') - interval '1 s', last_execution_id = 'late:1'
	WHERE name = 'often';
DELETE FROM _sfflow.schedule_run WHERE schedule = 'often';
UPDATE _sfflow.execution SET status = 0 WHERE execution_id = 'late:1';
SELECT _sfflow.run_schedule('often') \g /dev/null
SELECT is(pg_temp.runs(), 'often SKIPPED f t arn:aws:scheduler:us-east-1:000000000000:schedule/default/often',
	'one while the run before still runs');
SELECT sf_drop_rule('runs') \g /dev/null

-- What is dropped takes its deadlines along.
SELECT sf_unschedule('evening'), sf_unschedule('often') \g /dev/null
SELECT sf_set_deadline('bad', '02:00'), sf_set_deadline('bad/A', '02:00'), sf_drop_state_machine('bad', true),
	sf_unschedule('night') \g /dev/null
SELECT is((SELECT string_agg(target, ' ' ORDER BY target) FROM sf_deadlines), 'jobs/A jobs/B',
	'the deadlines of what is dropped');
SELECT is_empty($$ SELECT * FROM sf_check() WHERE problem IN ('deadline_without_target',
		'lateness_without_deadline') $$, 'the tables hold together');

-- Bad input.
CREATE FUNCTION pg_temp.hint(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN ltrim(detail || ' ' || hint);
END
$$;
SELECT throws_ok($$ SELECT sf_set_deadline('late') $$, 'SF012',
	'one of the arguments start_by and end_by must be given');
SELECT throws_ok($$ SELECT sf_set_deadline(NULL, '02:00') $$, '22004', 'argument target must not be null');
SELECT throws_ok($$ SELECT sf_set_deadline('late', '02:00:01') $$, 'SF012',
	'argument start_by must be a time to the minute');
SELECT throws_ok($$ SELECT sf_set_deadline('late', end_by => '02:00:00.5') $$, 'SF012',
	'argument end_by must be a time to the minute');
SELECT is(pg_temp.hint($$ SELECT sf_set_deadline('late', end_by => '02:00:00.5') $$),
	'It is 02:00:00.5. Give a time of day, such as end_by => ''06:00''; that of a moment is date_trunc(''minute'', '
	'moment)::time.', 'with help');
SELECT is(pg_temp.hint($$ SELECT sf_set_deadline('late') $$),
	'Each is a time of day, such as end_by => ''06:00''; the argument timezone says where.',
	'also where none is given');
SELECT throws_ok($$ SELECT sf_set_deadline('late', '02:00', timezone => 'Mars/Olympus') $$, 'SF012',
	'time zone "Mars/Olympus" not recognized');
SELECT throws_ok($$ SELECT sf_set_deadline('late', '02:00', calendar => 'no') $$, '42704',
	'calendar "no" does not exist');
SELECT throws_ok($$ SELECT sf_set_deadline('no', '02:00') $$, 'SF003', 'state machine "no" does not exist');
SELECT throws_ok($$ SELECT sf_set_deadline('late/X', '02:00') $$, 'SF012', 'state machine "late" has no Task "X"');
SELECT throws_ok($$ SELECT sf_set_deadline('late/W', '02:00') $$, 'SF012', 'state machine "late" has no Task "W"');
SELECT throws_ok($$ SELECT sf_set_deadline('schedule:no', '02:00') $$, '42704', 'schedule "no" does not exist');
SELECT throws_ok($$ SELECT sf_drop_deadline('late') $$, '42704', '"late" has no deadline');
SELECT throws_like($$ SELECT sf_acknowledge('late', 'later') $$, 'argument kind must not be "later"');
SELECT lives_ok($$ SELECT sf_set_deadline('late', '24:00', '00:00', 'Asia/Tokyo') $$, 'midnight');
SELECT is((SELECT concat_ws(' ', start_by, end_by, timezone) FROM sf_deadlines WHERE target = 'late'),
	'00:00:00 00:00:00 Asia/Tokyo', 'is the beginning of a day');
SELECT is((SELECT string_agg(concat_ws(' ', action, details ->> 'end_by'), ', ' ORDER BY at DESC)
		FROM (SELECT * FROM sf_audit WHERE target = 'late' AND action LIKE '%deadline' ORDER BY at DESC LIMIT 2) a),
	'set deadline 00:00, drop deadline', 'who set a deadline is recorded');

-- A night of more executions than one look reads: all are looked at, however many looks that takes.
SELECT count(*) FROM sf_start_many('many', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, 10200)),
	ARRAY(SELECT n::text FROM generate_series(1, 10200) AS n)) \g /dev/null
UPDATE _sfflow.execution SET requested_at = now() - interval '170 min' + split_part(execution_id, ':',
	2)::int * interval '1 ms',
	started_at = now() - interval '100 min', stopped_at = now() - interval '90 min', status = 1
	WHERE execution_id LIKE 'many:%';
UPDATE _sfflow.execution SET started_at = now() - interval '150 min' WHERE execution_id = 'many:10200';
CREATE FUNCTION pg_temp.looks() RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	UPDATE _sfflow.deadline SET next_at = now();
	FOR looks IN 1 .. 100 LOOP
		IF _sfflow.check_deadlines(now()) > now() THEN
			RETURN looks;
		END IF;
	END LOOP;
END $$;
SELECT pg_temp.set('many', '2 h', NULL) \g /dev/null
SELECT is(pg_temp.looks(), 11, 'a look reads a thousand');
SELECT is(pg_temp.late('many'), '', 'the last one has begun in time');
UPDATE _sfflow.execution SET started_at = now() - interval '110 min' WHERE execution_id = 'many:10200';
SELECT sf_drop_deadline('many'), pg_temp.set('many', '2 h', NULL), pg_temp.looks() \g /dev/null
SELECT is(pg_temp.late('many'), 'late start many:1 over', 'none has: the first one is named');
SELECT sf_drop_deadline('many'), pg_temp.set('many', NULL, '1 h') \g /dev/null
SELECT is(pg_temp.looks(), 2, 'or ten thousand that are done');
SELECT is(pg_temp.late('many'), '', 'all have ended in time');
UPDATE _sfflow.execution SET status = 2 WHERE execution_id = 'many:10200';
SELECT sf_drop_deadline('many'), pg_temp.set('many', NULL, '1 h'), pg_temp.looks(), pg_temp.looks() \g /dev/null
SELECT is(pg_temp.late('many'), 'late end many:10200', 'the last one has not');
UPDATE _sfflow.execution SET status = 1 WHERE execution_id = 'many:10200';
SELECT pg_temp.looks() \g /dev/null
SELECT is(pg_temp.late('many'), 'late end many:10200 over', 'it has ended at last');
-- What is late and over is found in the midst of a look that goes on: the nights after it are looked at from their
-- beginnings.
UPDATE _sfflow.execution SET status = 2 WHERE execution_id = 'many:5';
SELECT sf_drop_deadline('many'), pg_temp.set('many', NULL, '-40 min') \g /dev/null
INSERT INTO _sfflow.lateness (target, deadline_at, due_by, finding, base_at, execution_no, raised_at)
	SELECT 'many', e.requested_at, 'end', 'late', now() - interval '170 min' + l.after * interval '1 ms',
	e.execution_no, now() + l.n * interval '1 ms'
	FROM (VALUES (1, 1, 0), (2, 10199, 5.5), (3, 10200, 0)) l(n, run, after) JOIN _sfflow.execution e ON e.execution_id
	= 'many:' || l.run;
SELECT pg_temp.looks() \g /dev/null
SELECT is(pg_temp.late('many'), 'late end many:1 over, late end many:10199 over, late end many:10200',
	'the night in which one has not ended is late still');
UPDATE _sfflow.execution SET status = 1 WHERE execution_id = 'many:5';

UPDATE _sfflow.execution SET status = 0 WHERE execution_id = 'many:10200';
SELECT sf_drop_deadline('many'), pg_temp.set('many', NULL, '-40 min') \g /dev/null
SELECT pg_temp.looks() \g /dev/null
SELECT is(pg_temp.late('many'), 'will_be_late end many:10200', 'the last one will be late');
SELECT pg_temp.set('many', NULL, '-10 min') \g /dev/null
UPDATE _sfflow.deadline SET next_at = now();
SELECT _sfflow.check_deadlines(now()), pg_temp.set('many', NULL, '-41 min'), pg_temp.looks() \g /dev/null
SELECT is(pg_temp.late('many'), 'will_be_late end many:10200, will_be_late end many:10200',
	'a deadline that is set anew in the middle of a look');
SELECT sf_drop_deadline('many'), pg_temp.events(), sf_drop_state_machine('many', true) \g /dev/null

-- Rights.
SELECT sf_grant('READ', 'jobs', 'late_reader'), sf_grant('OPERATE', 'jobs', 'late_operator') \g /dev/null
SET LOCAL ROLE late_reader;
SELECT is((SELECT string_agg(target, ' ' ORDER BY target) FROM sf_deadlines), 'jobs/A jobs/B', 'READ shows deadlines');
SELECT is((SELECT string_agg(DISTINCT target, ' ') FROM sf_late), 'jobs/A jobs/B', 'and what is late');
SELECT throws_ok($$ SELECT sf_set_deadline('jobs', '02:00') $$, '42501');
SELECT throws_ok($$ SELECT sf_drop_deadline('jobs/A') $$, '42501');
SET LOCAL ROLE late_operator;
SELECT lives_ok($$ SELECT sf_set_deadline('jobs', '02:00'), sf_drop_deadline('jobs') $$, 'OPERATE sets and drops them');
SELECT is((SELECT count(*) FROM sf_late), 0::bigint, 'and does not show them');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
