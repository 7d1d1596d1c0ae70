-- Deadlines: times of day by which schedules, machines and jobs are to have started or ended, and what was late.

--@into tables
-- One row per target. start_minute, end_minute: of the local day; NULL: none.
CREATE TABLE _sfflow.deadline (
	target text COLLATE "C" NOT NULL PRIMARY KEY,	-- as an operator writes it
	schedule text COLLATE "C",
	machine_no integer,
	job text COLLATE "C",
	start_minute integer,
	end_minute integer,
	timezone text NOT NULL,
	calendar text COLLATE "C",
	checked_until timestamptz NOT NULL,	-- deadlines until then were dealt with
	next_at timestamptz NOT NULL,		-- when to look again
	walk_step integer,					-- of a walk that is not over: where it goes on. NULL: all walks are over
	walk_now timestamptz,				-- when it began,
	walk_at timestamptz,				-- the executions of the step that were looked at: requested until then,
	walk_late_no bigint,				-- the first of them that is late (NULL: none),
	walk_found boolean,					-- and whether there were any
	set_at timestamptz NOT NULL,
	set_by text NOT NULL,
	kind smallint NOT NULL DEFAULT @DEADLINE_KIND_MACHINE@,	-- SfDeadlineKind: schedule, machine, or job (Task state)
	CONSTRAINT deadline_kind CHECK (CASE kind
		WHEN @DEADLINE_KIND_SCHEDULE@ THEN schedule IS NOT NULL AND machine_no IS NULL AND job IS NULL
		WHEN @DEADLINE_KIND_MACHINE@ THEN schedule IS NULL AND machine_no IS NOT NULL AND job IS NULL
		ELSE kind = @DEADLINE_KIND_JOB@ AND schedule IS NULL AND machine_no IS NOT NULL AND job IS NOT NULL END),
	CONSTRAINT deadline_walk CHECK (CASE WHEN walk_step IS NULL
		THEN num_nonnulls(walk_now, walk_at, walk_late_no, walk_found) = 0
		ELSE num_nulls(walk_now, walk_at, walk_found) = 0 END),
	CONSTRAINT deadline_minutes CHECK (start_minute IS NOT NULL OR end_minute IS NOT NULL)
);
CREATE INDEX deadline_next ON _sfflow.deadline (next_at);
CREATE INDEX deadline_machine ON _sfflow.deadline (machine_no) WHERE machine_no IS NOT NULL;
CREATE INDEX deadline_schedule ON _sfflow.deadline (schedule) WHERE schedule IS NOT NULL;
CREATE INDEX deadline_calendar ON _sfflow.deadline (calendar) WHERE calendar IS NOT NULL;

-- What was raised: one row per deadline of a night, what it is of, and what was found. Rows are kept for 400 days.
CREATE TABLE _sfflow.lateness (
	target text COLLATE "C" NOT NULL,
	deadline_at timestamptz NOT NULL,
	due_by text COLLATE "C" NOT NULL,	-- start, end
	finding text COLLATE "C" NOT NULL,	-- late, will_be_late, never_started
	base_at timestamptz NOT NULL,		-- the run of the schedule, or when the night began
	execution_no bigint,				-- NULL: there was none
	expected_at timestamptz,			-- of will_be_late
	raised_at timestamptz NOT NULL,
	cleared_at timestamptz,				-- what was late has happened
	acknowledged_at timestamptz,
	acknowledged_by_name text,			-- of a role, which may be gone
	comment text,
	PRIMARY KEY (target, deadline_at, due_by, finding),
	CONSTRAINT lateness_due_by CHECK (due_by IN (@DUE_BY_WORDS@)),
	CONSTRAINT lateness_finding CHECK (CASE finding
		WHEN @FINDING_LATE@ THEN execution_no IS NOT NULL AND expected_at IS NULL
		WHEN @FINDING_WILL_BE_LATE@ THEN expected_at IS NOT NULL
		ELSE finding = @FINDING_NEVER_STARTED@ AND execution_no IS NULL AND expected_at IS NULL END),
	CONSTRAINT lateness_acknowledged CHECK (CASE WHEN acknowledged_at IS NULL
		THEN num_nonnulls(acknowledged_by_name, comment) = 0 ELSE acknowledged_by_name IS NOT NULL END)
);
CREATE INDEX lateness_open ON _sfflow.lateness (target) WHERE cleared_at IS NULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.deadline', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.lateness', '');

--@into functions
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

-- For tests: what workers do when deadlines are due, as if it was a given time.
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
SELECT l.target, l.deadline_at, l.due_by, l.finding, l.base_at, l.execution_no, l.expected_at, l.raised_at,
	l.cleared_at, l.acknowledged_at, l.acknowledged_by_name, l.comment,
	e.execution_id,
	format(CASE l.finding WHEN 'never_started' THEN '"%s" has never started; it was to have %s by %s'
		WHEN 'will_be_late' THEN '"%s" will be late; it is to have %s by %s'
			ELSE '"%s" is late; it was to have %s by %s' END,
		l.target, l.due_by || 'ed', to_char(l.deadline_at AT TIME ZONE d.timezone, 'YYYY-MM-DD HH24:MI ')
			|| d.timezone) AS detail
FROM _sfflow.readable_deadline d
JOIN _sfflow.lateness l ON l.target = d.target
LEFT JOIN _sfflow.execution e ON e.execution_no = l.execution_no;

-- What is late, and what was within the last day.
CREATE VIEW @extschema@.sf_late WITH (security_barrier) AS
SELECT l.target, l.finding AS state, l.due_by, l.deadline_at, l.execution_id, l.expected_at, l.raised_at,
	l.cleared_at AS over_at, l.acknowledged_at
FROM _sfflow.raised_lateness l
WHERE l.cleared_at IS NULL OR l.cleared_at > now() - interval '1 day';
GRANT SELECT ON @extschema@.sf_late TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_late IS 'what has not started or ended by its deadline, or will not';
COMMENT ON COLUMN @extschema@.sf_deadlines.target IS 'a schedule, a machine or a job';
COMMENT ON COLUMN @extschema@.sf_deadlines.start_by IS 'when it is to have started, each night';
COMMENT ON COLUMN @extschema@.sf_deadlines.end_by IS 'when it is to have ended, each night';
COMMENT ON COLUMN @extschema@.sf_deadlines.timezone IS 'of both times';
COMMENT ON COLUMN @extschema@.sf_deadlines.calendar IS 'on whose days it counts; null: on all';
COMMENT ON COLUMN @extschema@.sf_deadlines.next_check IS 'when it is looked at next';
COMMENT ON COLUMN @extschema@.sf_deadlines.set_at IS 'when it was set';
COMMENT ON COLUMN @extschema@.sf_deadlines.set_by IS 'the role that set it';
COMMENT ON COLUMN @extschema@.sf_late.target IS 'of the deadline';
COMMENT ON COLUMN @extschema@.sf_late.state IS 'late, will_be_late or never_started';
COMMENT ON COLUMN @extschema@.sf_late.due_by IS 'what the deadline is of: start or end';
COMMENT ON COLUMN @extschema@.sf_late.deadline_at IS 'the deadline of the night';
COMMENT ON COLUMN @extschema@.sf_late.execution_id IS
	'the execution that is late, the first of several; null if there is none';
COMMENT ON COLUMN @extschema@.sf_late.expected_at IS 'of will_be_late: when the end was expected when it was raised';
COMMENT ON COLUMN @extschema@.sf_late.raised_at IS 'when it was noticed';
COMMENT ON COLUMN @extschema@.sf_late.over_at IS 'when it had begun or ended at last; null: not yet';
COMMENT ON COLUMN @extschema@.sf_late.acknowledged_at IS 'when sf_acknowledge was called for it';

--@into checks
SELECT 'deadline_without_target', NULL, format('deadline of "%s"', d.target)
FROM _sfflow.deadline d
WHERE CASE d.kind WHEN @DEADLINE_KIND_SCHEDULE@ THEN NOT EXISTS (SELECT FROM _sfflow.schedule s
	WHERE s.name = d.schedule)
	ELSE NOT EXISTS (SELECT FROM _sfflow.state_machine m WHERE m.machine_no = d.machine_no) END
UNION ALL
SELECT 'lateness_without_deadline', NULL, format('%s rows of "%s"', count(*), l.target)
FROM _sfflow.lateness l
WHERE NOT EXISTS (SELECT FROM _sfflow.deadline d WHERE d.target = l.target)
GROUP BY l.target
UNION ALL
--@into alerts
SELECT l.finding COLLATE pg_catalog."default", l.target COLLATE "C", l.execution_no, l.execution_id, l.raised_at,
	l.detail, l.target, false
FROM _sfflow.raised_lateness l
WHERE l.cleared_at IS NULL AND l.acknowledged_at IS NULL
UNION ALL
--@into acknowledgements
UNION ALL
SELECT coalesce(l.execution_id, l.target), l.finding, l.raised_at, l.acknowledged_at,
	to_regrole(quote_ident(l.acknowledged_by_name)), l.comment
FROM _sfflow.raised_lateness l WHERE l.acknowledged_at IS NOT NULL
--@into console
-- Deadlines of a machine with its jobs and schedules, or all; what is late comes first.
CREATE FUNCTION _sfflow.console_deadlines(machine text, most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.late IS NULL, d.next_check, d.target), '[]') FROM (
		SELECT x.target, x.start_by, x.end_by, x.timezone, x.calendar, x.next_check, l.late
		FROM @extschema@.sf_deadlines x
		LEFT JOIN (
			SELECT y.target, string_agg(y.state, ' ') AS late FROM @extschema@.sf_late y WHERE y.over_at IS NULL
				GROUP BY y.target) l
			ON l.target = x.target
		WHERE $1 IS NULL OR split_part(x.target, '/', 1) = $1 OR x.target IN (
			SELECT 'schedule:' || s.schedule_name FROM @extschema@.sf_schedules s
				WHERE split_part(s.state_machine, '/', 1) = $1)
		ORDER BY l.late IS NULL, x.next_check, x.target LIMIT $2) d);
--@into console_machine
		'deadlines', _sfflow.console_deadlines(s.state_machine, 50 + 1),
--@into console_tonight
		'deadlines', _sfflow.console_deadlines(NULL, 10 + 1),
--@into console_operations
	'deadlines', _sfflow.console_deadlines(NULL, 100 + 1),
--@into definition_kinds
	, (90, 'deadlines', 'deadline', NULL, NULL, false, false, '{start_by,end_by,timezone,calendar}', '{}')
--@into definitions
UNION ALL
SELECT 'deadline', d.target, coalesce(s.owner, m.owner)::oid, NULL, jsonb_build_object(
	'start_by', left(make_time(d.start_minute / 60, d.start_minute % 60, 0)::text, 5),
	'end_by', left(make_time(d.end_minute / 60, d.end_minute % 60, 0)::text, 5), 'timezone', d.timezone, 'calendar', d.calendar)
FROM _sfflow.deadline d
LEFT JOIN _sfflow.schedule s ON s.name = d.schedule
LEFT JOIN _sfflow.state_machine m ON m.machine_no = d.machine_no
--@into definition_forms
			-- without a time zone it has that of the schedule or of the session, when it is made
			WHEN 'deadline' THEN d.body || jsonb_build_object('start_by', left((d.body ->> 'start_by')::time::text, 5),
				'end_by', left((d.body ->> 'end_by')::time::text, 5),
				'timezone', coalesce(d.body -> 'timezone', $3 -> 'timezone'))
--@into apply_definition
	WHEN 'deadline' THEN @extschema@.sf_set_deadline($2, ($4 ->> 'start_by')::time, ($4 ->> 'end_by')::time,
		$4 ->> 'timezone', $4 ->> 'calendar')::text
--@into remove_definition
	WHEN 'deadline' THEN @extschema@.sf_drop_deadline($2)::text
--@into public_functions
		console_deadlines,
