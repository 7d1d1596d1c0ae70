-- A calendar that changes in the middle of a look at a night of more executions than one look reads.
BEGIN;
SET LOCAL timezone = 'UTC';
SELECT plan(4);

SELECT sf_create_state_machine('walked', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "TimestampPath": "$.until",
	"End": true}}}') \g /dev/null
SELECT sf_create_calendar('walked', '{"Weekdays": ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]}') \g /dev/null
SELECT count(*) FROM sf_start_many('walked', ARRAY(SELECT '{"until": "2040-01-01T00:00:00Z"}'::jsonb
		FROM generate_series(1, 1102)),
	ARRAY(SELECT n::text FROM generate_series(1, 1102) AS n)) \g /dev/null
-- Execution 1101 has not ended since the night of January 1st, 1102 has ended in that of the 2nd; the others are of the
-- next one, and go on.
UPDATE _sfflow.execution SET requested_at = CASE split_part(execution_id, ':', 2)::int
	WHEN 1101 THEN timestamptz '2029-12-31 12:00Z' WHEN 1102 THEN '2030-01-01 12:00Z'
	ELSE timestamptz '2030-01-02 06:10Z' + split_part(execution_id, ':', 2)::int * interval '1 ms'
	END WHERE execution_id LIKE 'walked:%';
UPDATE _sfflow.execution SET status = 1, started_at = '2030-01-01 12:00Z', stopped_at = '2030-01-01 13:00Z'
	WHERE execution_id = 'walked:1102';
SELECT sf_set_deadline('walked', NULL, '06:00', 'UTC', 'walked') \g /dev/null
INSERT INTO _sfflow.lateness (target, deadline_at, due_by, finding, base_at, execution_no, raised_at)
	SELECT 'walked', '2030-01-01 06:00Z', 'end', 'late', '2029-12-31 06:00Z', execution_no, '2030-01-01 06:00Z'
	FROM _sfflow.execution WHERE execution_id = 'walked:1101';
UPDATE _sfflow.deadline SET checked_until = '2030-01-02 05:00Z', next_at = '2030-01-02 07:00Z';
SELECT _sfflow.check_deadlines('2030-01-02 07:00Z') \g /dev/null
SELECT is((SELECT walk_step FROM _sfflow.deadline), 1, 'a look ends in the midst of the night to come');
SELECT sf_create_calendar('walked', '{"Weekdays": ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"],
	"Closed": ["2030-01-02"]}') \g /dev/null
SELECT _sfflow.check_deadlines('2030-01-02 07:00Z') \g /dev/null
SELECT is((SELECT walk_step FROM _sfflow.deadline), NULL,
	'the next one ends it, although a day before is closed meanwhile');
SELECT is((SELECT string_agg(concat_ws(' ', finding, deadline_at, cleared_at), ', ') FROM _sfflow.lateness),
	'late 2030-01-01 06:00:00+00', 'what is late is so still');
-- A day that is open meanwhile takes no place of another one, either.
UPDATE _sfflow.deadline SET checked_until = '2030-01-02 05:00Z', next_at = '2030-01-02 07:00Z';
SELECT _sfflow.check_deadlines('2030-01-02 07:00Z'), sf_create_calendar('walked', '{"Weekdays": ["MON", "TUE", "WED",
	"THU", "FRI", "SAT", "SUN"]}'),
	_sfflow.check_deadlines('2030-01-02 07:00Z') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', walk_step, finding, l.deadline_at, l.cleared_at), ', ')
		FROM _sfflow.lateness l, _sfflow.deadline), 'late 2030-01-01 06:00:00+00', 'nor does one that is open again');
SELECT * FROM finish();
ROLLBACK;
