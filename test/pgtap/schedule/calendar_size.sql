-- How large a calendar may be, and how long it takes to find its days.
-- needs: deadline
BEGIN;
SET LOCAL timezone = 'UTC';
SELECT plan(19);

-- Days that take away what no month has, and nothing else but the picks given.
CREATE FUNCTION pg_temp.days(objects integer, excepts integer, picks jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT picks || jsonb_agg(e) FROM (SELECT jsonb_build_object('Except', jsonb_agg('{"OpenDays": [31]}'::jsonb))
		FROM generate_series(1, excepts)) AS s (e), generate_series(1, objects) $$;
CREATE FUNCTION pg_temp.exceptions(n integer) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('Exceptions', jsonb_agg('{"From": "2025-01-01", "To": "2025-01-02",
		"Open": true}'::jsonb))
	FROM generate_series(1, n) $$;

-- What is made now.
SELECT lives_ok($$ SELECT sf_create_calendar('largest', '{}', pg_temp.days(2, 998, '[{"OpenDays": [1]},
	{"OpenDays": [2]}]')) $$,
	'a calendar of as many objects as there may be');
SELECT throws_ok($$ SELECT sf_create_calendar('larger', '{}', pg_temp.days(2, 999, '[{"OpenDays": [1]}]')) $$, 'SF051',
	'invalid calendar: days at ""', 'one object more');
SELECT throws_ok($$ SELECT sf_create_calendar('larger', '{"Extends": "largest"}', pg_temp.days(2, 1000, '[]')) $$,
	'SF051', 'invalid calendar: days at ""', 'a calendar that extends it has days of its own');
SELECT sf_create_calendar('half', pg_temp.exceptions(1000)), sf_create_calendar('full', pg_temp.exceptions(1000)
	|| '{"Extends": "half"}') \g /dev/null
SELECT throws_ok($$ SELECT sf_create_calendar('larger', pg_temp.exceptions(1) || '{"Extends": "full"}') $$, 'SF051',
	'invalid calendar: rule at "/Exceptions"', 'exceptions, with those of the calendars that it extends');
SELECT lives_ok($$ SELECT sf_create_calendar('larger', '{"Extends": "full"}') $$, '... and none more');

-- What 1.0 has let through can be used, and takes no hours.
INSERT INTO _sfflow.calendar (name, owner, rule, days, changed_at, created_at)
	SELECT 'huge', current_user::regrole, '{}', pg_temp.days(300, 1000, '[{"OpenDays": [2]}]'), now(), now();
SET LOCAL statement_timeout = '10s';
SELECT results_eq($$ SELECT day FROM sf_calendar_days('huge', '2026-01-01', '2026-01-03') WHERE is_picked $$,
	$$ VALUES (date '2026-01-02') $$, 'a calendar that is larger has its days');
SELECT is((SELECT count(*) FROM sf_calendar_days('huge', '2026-01-01', '2026-12-31') WHERE is_picked), 12::bigint,
	'also those of a year');
SELECT lives_ok($$ SELECT sf_create_calendar('huge', '{}', days) FROM _sfflow.calendar WHERE name = 'huge' $$,
	'it may be replaced by one as large');
SELECT throws_ok($$ SELECT sf_create_calendar('huge', '{}', days || '{"MonthDays": [1]}') FROM _sfflow.calendar
	WHERE name = 'huge' $$, 'SF051', 'invalid calendar: days at ""', '... and by none that is larger');
SELECT is((SELECT string_agg(to_char(day, 'MM-DD'), ' ') FROM sf_calendar_days('largest', '2026-01-01', '2026-02-28')
		WHERE is_picked), '01-01 01-02 02-01 02-02', 'the largest that may be made has its days');

-- Deadlines with such a calendar.
SELECT sf_create_state_machine('huge' || n, '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'),
	sf_set_deadline('huge' || n, '05:00', '06:00', 'UTC', 'huge')
	FROM generate_series(1, 3) AS n \g /dev/null
UPDATE _sfflow.deadline SET checked_until = '2026-01-01 12:00', next_at = '2026-01-02 07:00';
CREATE FUNCTION pg_temp.check_all() RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	FOR n IN 1 .. 100 LOOP
		PERFORM _sfflow.check_deadlines('2026-01-02 07:00');
		EXIT WHEN NOT EXISTS (SELECT FROM _sfflow.deadline WHERE next_at <= '2026-01-02 07:00');
	END LOOP;
	RETURN (SELECT count(*) FROM _sfflow.lateness WHERE due_by = 'start');
END $$;
SELECT is(pg_temp.check_all(), 3, 'deadlines with it are watched');
SELECT is((SELECT count(*) FROM _sfflow.deadline WHERE checked_until = '2026-01-02 07:00'), 3::bigint,
	'... all of them');

-- The budgets, of no time at all: a sweep deals with one deadline, and one whose calendar takes longer is put off.
UPDATE _sfflow.deadline SET checked_until = '2026-01-01 12:00', next_at = '2026-01-02 07:00';
CREATE FUNCTION pg_temp.checked() RETURNS bigint LANGUAGE sql AS
	$$ SELECT count(*) FROM _sfflow.deadline WHERE next_at > '2026-01-02 07:00' $$;
SET LOCAL sfflow.debug_point = 'sweep_budget:ms=0';
SELECT _sfflow.check_deadlines('2026-01-02 07:00');
SELECT is(pg_temp.checked(), 1::bigint, 'a sweep that has used up its time leaves the other deadlines to the next one');
SELECT is(pg_temp.check_all(), 3, '... which comes to them');
SET LOCAL sfflow.debug_point = 'calendar_budget:ms=0';
UPDATE _sfflow.deadline SET checked_until = '2026-01-01 12:00', next_at = '2026-01-02 07:00';
SELECT _sfflow.check_deadlines('2026-01-02 07:00');
SELECT is((SELECT count(*) FROM _sfflow.deadline WHERE checked_until = '2026-01-01 12:00'
	AND next_at = '2026-01-02 08:00'), 3::bigint, 'deadlines whose calendar takes too long are put off');
SET LOCAL sfflow.debug_point = '';

-- Exceptions that come to a calendar count for those that extend it, of the same owner.
CREATE ROLE heir;
SELECT sf_create_calendar('base', '{}'), sf_create_calendar('half', pg_temp.exceptions(1000) || '{"Extends": "base"}')
	\g /dev/null
SELECT throws_ok($$ SELECT sf_create_calendar('base', pg_temp.exceptions(1)) $$, 'SF051',
	'invalid calendar: rule at "/Exceptions"', 'one exception more in a calendar that is extended');
SELECT sf_create_calendar('full', pg_temp.exceptions(999) || '{"Extends": "half"}') \g /dev/null
SELECT lives_ok($$ SELECT sf_create_calendar('base', pg_temp.exceptions(1)) $$, 'as many as there may be');
SELECT throws_ok($$ SELECT sf_create_calendar('base', pg_temp.exceptions(2)) $$, 'SF051', NULL, '... and one more');
UPDATE _sfflow.calendar SET owner = 'heir' WHERE name IN ('full', 'larger');
SELECT lives_ok($$ SELECT sf_create_calendar('base', pg_temp.exceptions(2)) $$,
	'a calendar of another owner that extends it keeps nobody from that');

SELECT * FROM finish();
ROLLBACK;
