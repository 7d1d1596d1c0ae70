-- Deadlines: times of day by which schedules, machines and jobs are to have started or ended.

CREATE FUNCTION @extschema@.sf_set_deadline(
	target text,
	start_by time DEFAULT NULL,
	end_by time DEFAULT NULL,
	timezone text DEFAULT NULL,
	calendar text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_set_deadline'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_set_deadline(text, time, time, text, text) IS
	'say by which times of day a schedule, a machine or a job is to have started and ended; replaces what was said before';

CREATE FUNCTION @extschema@.sf_drop_deadline(target text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_deadline'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_deadline(text) IS 'remove a deadline, and what was late by it';

-- What workers do when deadlines are due, as if it was a given time.
CREATE FUNCTION _sfflow.check_deadlines(at timestamptz) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_check_deadlines'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- A deadline is visible to roles that may READ the machine, and to the owner of the schedule.
CREATE VIEW _sfflow.readable_deadline AS
SELECT d.target, d.schedule, d.machine_no, d.job, d.start_minute, d.end_minute, d.timezone, d.calendar,
	d.checked_until, d.next_at, d.walk_step, d.walk_now, d.walk_at, d.walk_late_no, d.walk_found, d.set_at,
	d.set_by,
	m.name AS state_machine
FROM _sfflow.deadline d
LEFT JOIN _sfflow.schedule s ON s.name = d.schedule
LEFT JOIN _sfflow.state_machine m ON m.machine_no = d.machine_no OR m.name = split_part(s.state_machine, '/', 1)
WHERE coalesce(pg_has_role(s.owner, 'USAGE'), false) OR _sfflow.can_read(m.name, m.owner);

CREATE VIEW @extschema@.sf_deadlines WITH (security_barrier) AS
SELECT d.target, make_time(d.start_minute / 60, d.start_minute % 60, 0) AS start_by,
	make_time(d.end_minute / 60, d.end_minute % 60, 0) AS end_by, d.timezone, d.calendar,
	d.next_at AS next_check, d.set_at, d.set_by
FROM _sfflow.readable_deadline d;
GRANT SELECT ON @extschema@.sf_deadlines TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_deadlines IS 'deadlines of schedules, machines and jobs';

-- What was late of deadlines that the caller may know of, and in words.
CREATE VIEW _sfflow.raised_lateness AS
SELECT l.target, l.deadline_at, l.due_by, l.state, l.base_at, l.execution_no, l.expected_at, l.raised_at, l.cleared_at,
	l.acknowledged_at, l.acknowledged_by, l.comment,
	e.execution_id,
	format(CASE l.state WHEN 'never_started' THEN '"%s" has never started; it was to have %s by %s'
		WHEN 'will_be_late' THEN '"%s" will be late; it is to have %s by %s' ELSE '"%s" is late; it was to have %s by %s' END,
		l.target, l.due_by || 'ed', to_char(l.deadline_at AT TIME ZONE d.timezone, 'YYYY-MM-DD HH24:MI ') || d.timezone) AS detail
FROM _sfflow.readable_deadline d
JOIN _sfflow.lateness l ON l.target = d.target
LEFT JOIN _sfflow.execution e ON e.execution_no = l.execution_no;

-- What is late, and what was within the last day.
CREATE VIEW @extschema@.sf_late WITH (security_barrier) AS
SELECT l.target, l.state, l.due_by, l.deadline_at, l.execution_id, l.expected_at, l.raised_at,
	l.cleared_at AS over_at, l.acknowledged_at
FROM _sfflow.raised_lateness l
WHERE l.cleared_at IS NULL OR l.cleared_at > now() - interval '1 day';
GRANT SELECT ON @extschema@.sf_late TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_late IS 'what has not started or ended by its deadline, or will not';
