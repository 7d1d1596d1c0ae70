-- Schedules, which start state machines by jobs of pg_cron, and calendars.

--@into tables
-- Schedules; the job itself is pg_cron's.
CREATE TABLE _sfflow.schedule (
	name text COLLATE "C" NOT NULL PRIMARY KEY,
	owner regrole NOT NULL,
	cron text NOT NULL,					-- the expression; "schedule" elsewhere is the name of one
	state_machine text COLLATE "C" NOT NULL,
	input jsonb NOT NULL,
	timezone text,
	calendar text COLLATE "C",
	on_closed text NOT NULL DEFAULT 'skip',
	starts timestamptz,
	ends timestamptz,
	missed text NOT NULL DEFAULT 'run_once',
	overlap text NOT NULL DEFAULT 'skip',
	cron_job_id bigint,
	last_execution_id text,
	handled_until timestamptz,			-- latest match that a run was for, or that was given up
	missed_at timestamptz,				-- latest match that was given up, as "missed" says
	changed_at timestamptz NOT NULL,	-- no run is expected for a match before
	created_at timestamptz NOT NULL,
	CONSTRAINT schedule_words CHECK (on_closed IN (@ON_CLOSED_WORDS@) AND missed IN (@MISSED_WORDS@)
		AND overlap IN (@OVERLAP_WORDS@))
);
CREATE INDEX schedule_owner ON _sfflow.schedule (owner);
CREATE INDEX schedule_calendar ON _sfflow.schedule (calendar) WHERE calendar IS NOT NULL;

-- Calendars: which days are open, and which are picked. Every role may read them.
CREATE TABLE _sfflow.calendar (
	name text COLLATE "C" NOT NULL PRIMARY KEY,
	owner regrole NOT NULL,
	rule jsonb NOT NULL,
	days jsonb,							-- NULL: those of the calendar that it extends
	changed_at timestamptz NOT NULL,	-- a schedule that uses it expects no run for a time before
	created_at timestamptz NOT NULL
);
CREATE INDEX calendar_owner ON _sfflow.calendar (owner);
CREATE INDEX calendar_extends ON _sfflow.calendar ((rule ->> 'Extends')) WHERE rule ->> 'Extends' IS NOT NULL;

-- What became of the runs of a schedule; the last ones of each schedule. A call by pg_cron that failed has no row.
CREATE TABLE _sfflow.schedule_run (
	schedule text COLLATE "C" NOT NULL,
	run_at timestamptz NOT NULL,
	pid integer NOT NULL,				-- of the process, which pg_cron notes, too
	scheduled_for timestamptz,			-- NULL: the call was for no match in the schedule's zone
	execution_id text,
	outcome text NOT NULL,				-- as in sf_schedule_runs
	message text,						-- of the error
	PRIMARY KEY (schedule, run_at),
	CONSTRAINT schedule_run_outcome CHECK (outcome IN (@RUN_OUTCOME_WORDS@)
		AND (outcome = @RUN_OUTCOME_SUCCEEDED@) = (execution_id IS NOT NULL)
		AND (outcome = @RUN_OUTCOME_FAILED@) = (message IS NOT NULL))
);

-- Runs that are to start once earlier ones have ended: of a schedule that queues them, and of sf_backfill.
CREATE TABLE _sfflow.pending_run (
	schedule text COLLATE "C" NOT NULL,
	scheduled_for timestamptz NOT NULL,
	max_running integer,				-- of sf_backfill: executions that run at once
	execution_id text,					-- of sf_backfill: it has started
	kind smallint NOT NULL DEFAULT @PENDING_RUN_QUEUED@,	-- SfPendingRunKind
	PRIMARY KEY (schedule, scheduled_for),
	CONSTRAINT pending_run_kind CHECK (CASE kind
		WHEN @PENDING_RUN_QUEUED@ THEN max_running IS NULL AND execution_id IS NULL
		WHEN @PENDING_RUN_BACKFILL@ THEN max_running IS NOT NULL AND execution_id IS NULL
		ELSE kind = @PENDING_RUN_RUNNING@ AND max_running IS NOT NULL AND execution_id IS NOT NULL END)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.schedule', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.schedule_run', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.pending_run', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.calendar', '');

--@into named_objects
		UNION ALL SELECT @OBJECT_SCHEDULE@, s.name FROM _sfflow.schedule s
--@into functions
-- Calendars: open days, and the days that are picked, for schedules. Every role may see and use them; only the owner
-- changes one.

CREATE FUNCTION @extschema@.sf_create_calendar(name text, rule jsonb, days jsonb DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_calendar'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_create_calendar(text, jsonb, jsonb) IS
	'make a calendar for schedules, or replace it';

CREATE FUNCTION @extschema@.sf_drop_calendar(name text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_calendar'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_calendar(text) IS 'remove a calendar that no schedule and no calendar uses';

CREATE FUNCTION @extschema@.sf_calendar_days(
	calendar text,
	from_day date,
	to_day date,
	on_closed text DEFAULT 'skip',
	OUT day date,
	OUT is_open boolean,
	OUT is_picked boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_calendar_days'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 365;
COMMENT ON FUNCTION @extschema@.sf_calendar_days(text, date, date, text) IS
	'the days of a calendar from one to another: which are open, and which it picks';

CREATE VIEW @extschema@.sf_calendars WITH (security_barrier) AS
SELECT c.name AS calendar, c.owner, c.rule, c.days, c.created_at, c.changed_at
FROM _sfflow.calendar c;
GRANT SELECT ON @extschema@.sf_calendars TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_calendars IS 'calendars for schedules';

-- A schedule is visible to its owner and to roles that may READ the machine.
CREATE VIEW _sfflow.readable_schedule AS
SELECT s.name, s.owner, s.cron, s.state_machine, s.input, s.timezone, s.calendar, s.on_closed, s.starts, s.ends,
	s.missed, s.overlap,
	s.last_execution_id
FROM _sfflow.schedule s
LEFT JOIN _sfflow.state_machine m ON m.name = split_part(s.state_machine, '/', 1)
WHERE pg_has_role(s.owner, 'USAGE') OR _sfflow.can_read(m.name, m.owner);

-- What is known of the runs of a schedule. Each function answers only the schedule's owner and roles that
-- may READ the machine.

-- status: active, inactive, failing, missed, gone, not driven; problem: in words, null without one;
-- missed_at: the latest time at which a run was due and none came, null where there is none; is_alert: its runs do not
-- happen as they should; since: that they do not, null where that is not known.
CREATE FUNCTION _sfflow.schedule_status(
	name text,
	OUT status text,
	OUT problem text,
	OUT missed_at timestamptz,
	OUT is_alert boolean,
	OUT since timestamptz)
AS 'MODULE_PATHNAME', 'sfflow_schedule_status'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

-- What pg_cron has noted of the runs of its job.
CREATE FUNCTION _sfflow.cron_runs(
	name text,
	OUT run_id bigint,
	OUT pid integer,
	OUT started_at timestamptz,
	OUT ended_at timestamptz,
	OUT status text,
	OUT message text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_cron_runs'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 100;

-- Schedules: jobs of pg_cron that start state machines.

CREATE FUNCTION @extschema@.sf_schedule(
	name text,
	schedule text,
	state_machine text,
	input jsonb DEFAULT '{}',
	timezone text DEFAULT NULL,
	calendar text DEFAULT NULL,
	on_closed text DEFAULT 'skip',
	starts timestamptz DEFAULT NULL,
	ends timestamptz DEFAULT NULL,
	missed text DEFAULT 'run_once',
	overlap text DEFAULT 'skip')
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_schedule'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_schedule(text, text, text, jsonb, text, text, text, timestamptz, timestamptz, text,
	text) IS
	'start a state machine by a cron expression; returns the number of the pg_cron job';

CREATE FUNCTION @extschema@.sf_unschedule(name text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_unschedule'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_unschedule(text) IS 'remove a schedule and its pg_cron job';

-- What the pg_cron jobs call; the second form is for a pg_cron in another database.
CREATE FUNCTION _sfflow.run_schedule(name text) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_run_schedule'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

CREATE FUNCTION _sfflow.run_schedule(
	name text,
	schedule text,
	state_machine text,
	input jsonb,
	timezone text,
	calendar text DEFAULT NULL,
	on_closed text DEFAULT 'skip',
	starts timestamptz DEFAULT NULL,
	ends timestamptz DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_run_schedule_given'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- For tests: the same, and what workers do now and then, as if it was a given time.
CREATE FUNCTION _sfflow.run_schedule_at(name text, at timestamptz) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_run_schedule_at'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- For tests: a sweep of schedules, as if it was a given time.
CREATE FUNCTION _sfflow.look_at_schedules(at timestamptz) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_look_at_schedules'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

CREATE FUNCTION @extschema@.sf_schedule_preview(
	name text,
	from_time timestamptz,
	to_time timestamptz,
	OUT scheduled_for timestamptz,
	OUT local_time timestamp,
	OUT execution_name text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_schedule_preview'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_schedule_preview(text, timestamptz, timestamptz) IS
	'the times of a schedule from one time to another';

CREATE FUNCTION @extschema@.sf_backfill(
	schedule text,
	from_time timestamptz,
	to_time timestamptz,
	max_running integer DEFAULT 1)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_backfill'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_backfill(text, timestamptz, timestamptz, integer) IS
	'start the runs of a schedule of a time that is over, some at once; returns how many';

CREATE FUNCTION _sfflow.schedule_next(cron text, timezone text, after timestamptz)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_schedule_next'
LANGUAGE C STABLE PARALLEL SAFE;

CREATE FUNCTION _sfflow.schedule_next_run(name text, after timestamptz) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_schedule_next_run'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

CREATE FUNCTION _sfflow.schedule_latest(cron text, timezone text, at timestamptz)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_schedule_latest'
LANGUAGE C STABLE PARALLEL SAFE;

CREATE FUNCTION _sfflow.schedule_zone() RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_schedule_zone'
LANGUAGE C STABLE PARALLEL SAFE;

CREATE VIEW @extschema@.sf_schedules WITH (security_barrier) AS
SELECT s.name AS schedule_name, s.cron AS schedule, coalesce(s.timezone, _sfflow.schedule_zone()) AS timezone,
	s.state_machine, s.input, a.active,
	CASE WHEN a.active THEN _sfflow.schedule_next_run(s.name, now()) END AS next_run,
	s.last_execution_id, st.status AS state, st.problem, pg_get_userbyid(s.owner) AS owner, s.calendar, s.on_closed,
	s.starts, s.ends, s.missed, s.overlap, s.timezone AS given_timezone
FROM _sfflow.readable_schedule s
CROSS JOIN LATERAL _sfflow.schedule_status(s.name) st
CROSS JOIN LATERAL (SELECT st.status NOT IN ('gone', 'inactive') AS active) a;
GRANT SELECT ON @extschema@.sf_schedules TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_schedules IS 'schedules, the next run of each, and whether its runs happen';

-- pg_cron knows which calls failed, and why; sfflow knows what the others were for. The same call has the
-- same process, at about the same time. A call that could not connect has no time.
CREATE VIEW @extschema@.sf_schedule_runs WITH (security_barrier) AS
SELECT s.name AS schedule_name, r.scheduled_for, r.started_at, r.status, r.error, r.execution_id, r.ended_at,
	r.run_id AS cron_run_id
FROM _sfflow.readable_schedule s
CROSS JOIN LATERAL (
	SELECT o.scheduled_for, coalesce(c.started_at, o.run_at) AS started_at, c.ended_at, c.run_id, o.execution_id,
		CASE WHEN coalesce(c.status, 'succeeded') = 'succeeded' THEN coalesce(o.outcome, 'succeeded') ELSE c.status
			END AS status,
		CASE WHEN c.status = 'failed' THEN c.message ELSE o.message END AS error
	FROM _sfflow.cron_runs(s.name) c
	FULL JOIN (SELECT h.* FROM _sfflow.schedule_run h WHERE h.schedule = s.name) o
		ON o.pid = c.pid AND o.run_at >= c.started_at - interval '10 s'
			AND o.run_at <= coalesce(c.ended_at, 'infinity') + interval '10 s') r;
GRANT SELECT ON @extschema@.sf_schedule_runs TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_schedule_runs IS 'runs of schedules, and the outcome of each';

COMMENT ON COLUMN @extschema@.sf_schedules.schedule_name IS 'its name';
COMMENT ON COLUMN @extschema@.sf_schedules.schedule IS 'the cron expression';
COMMENT ON COLUMN @extschema@.sf_schedules.timezone IS 'the time zone of the expression';
COMMENT ON COLUMN @extschema@.sf_schedules.state_machine IS 'the state machine, with its version if one was named';
COMMENT ON COLUMN @extschema@.sf_schedules.input IS 'the input of each run, with placeholders';
COMMENT ON COLUMN @extschema@.sf_schedules.active IS 'whether the pg_cron job is there and active';
COMMENT ON COLUMN @extschema@.sf_schedules.next_run IS 'when it runs next';
COMMENT ON COLUMN @extschema@.sf_schedules.last_execution_id IS 'the execution of its last run';
COMMENT ON COLUMN @extschema@.sf_schedules.state IS 'active, failing, missed, gone, inactive or not driven';
COMMENT ON COLUMN @extschema@.sf_schedules.problem IS 'why it is not active';
COMMENT ON COLUMN @extschema@.sf_schedules.owner IS 'the role that owns it, which its runs start executions as';
COMMENT ON COLUMN @extschema@.sf_schedules.calendar IS 'the calendar of its days';
COMMENT ON COLUMN @extschema@.sf_schedules.on_closed IS
	'what becomes of a run on a closed day: skip, previous, next or run';
COMMENT ON COLUMN @extschema@.sf_schedules.starts IS 'no run is due before';
COMMENT ON COLUMN @extschema@.sf_schedules.ends IS 'no run is due after';
COMMENT ON COLUMN @extschema@.sf_schedules.missed IS
	'what becomes of runs that did not come: run_once, run_all or skip';
COMMENT ON COLUMN @extschema@.sf_schedules.overlap IS
	'what becomes of a run while the one before runs: skip, queue or parallel';
COMMENT ON COLUMN @extschema@.sf_schedules.given_timezone IS
	'the time zone that it was given; null: it has that of pg_cron, whatever that is';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.schedule_name IS 'the schedule';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.scheduled_for IS 'the time of the run in the schedule';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.started_at IS 'when pg_cron began the call';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.status IS
	'succeeded, failed or skipped; while it runs, the status of pg_cron';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.error IS 'why it failed';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.execution_id IS 'the execution that it started';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.ended_at IS 'when the call ended';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.cron_run_id IS 'its runid in cron.job_run_details';
COMMENT ON COLUMN @extschema@.sf_calendars.calendar IS 'its name';
COMMENT ON COLUMN @extschema@.sf_calendars.owner IS 'the role that may change it';
COMMENT ON COLUMN @extschema@.sf_calendars.rule IS 'which days are open';
COMMENT ON COLUMN @extschema@.sf_calendars.days IS 'which days it picks; null: all open ones';
COMMENT ON COLUMN @extschema@.sf_calendars.created_at IS 'when it was made';
COMMENT ON COLUMN @extschema@.sf_calendars.changed_at IS 'when it was changed last';

--@into named_role
UNION ALL SELECT owner FROM _sfflow.schedule
UNION ALL SELECT owner FROM _sfflow.calendar
--@into alerts
SELECT 'missed_run', s.name COLLATE "C", NULL, NULL, st.since,
	format(CASE WHEN st.missed_at IS NULL THEN 'schedule "%s" fails: %s' ELSE 'schedule "%s" has not run: %s' END,
		s.name, st.problem), 'schedule:' || s.name, true
FROM (SELECT r.name FROM _sfflow.readable_schedule r OFFSET 0) s
CROSS JOIN LATERAL _sfflow.schedule_status(s.name) st
WHERE st.is_alert
UNION ALL
--@into auditable
SELECT @OBJECT_SCHEDULE@, s.name FROM _sfflow.schedule s WHERE pg_has_role(s.owner, 'USAGE')
UNION ALL
SELECT @OBJECT_CALENDAR@, c.name FROM _sfflow.calendar c
UNION ALL
--@into definition_kinds
	, (20, 'calendars', 'calendar', 'calendar:', NULL, false, true, '{rule,days}', '{}')
	, (80, 'schedules', 'schedule', 'schedule:', NULL, false, true,
		'{schedule,state_machine,input,timezone,calendar,on_closed,starts,ends,missed,overlap}',
		'{"input": {}, "on_closed": "skip", "missed": "run_once", "overlap": "skip"}')
--@into definitions
UNION ALL
SELECT 'calendar', c.name, c.owner::oid, c.owner::oid, jsonb_build_object('rule', c.rule, 'days', c.days)
FROM _sfflow.calendar c
UNION ALL
SELECT 'schedule', s.name, s.owner::oid, s.owner::oid, jsonb_build_object('schedule', s.cron,
	'state_machine', s.state_machine, 'input', s.input, 'timezone', s.timezone, 'calendar', s.calendar,
	'on_closed', s.on_closed, 'starts', s.starts, 'ends', s.ends, 'missed', s.missed, 'overlap', s.overlap)
FROM _sfflow.schedule s
--@into definition_needs
			WHEN 'calendar' THEN o.body -> 'rule' ->> 'Extends'
--@into definition_forms
			WHEN 'schedule' THEN d.body || jsonb_build_object('starts', (d.body ->> 'starts')::timestamptz,
				'ends', (d.body ->> 'ends')::timestamptz)
--@into apply_definition
	WHEN 'calendar' THEN @extschema@.sf_create_calendar($2, $4 -> 'rule', $4 -> 'days')::text
	WHEN 'schedule' THEN @extschema@.sf_schedule($2, $4 ->> 'schedule', $4 ->> 'state_machine', $4 -> 'input',
		$4 ->> 'timezone', $4 ->> 'calendar', $4 ->> 'on_closed', ($4 ->> 'starts')::timestamptz,
		($4 ->> 'ends')::timestamptz, $4 ->> 'missed', $4 ->> 'overlap')::text
--@into remove_definition
	WHEN 'calendar' THEN @extschema@.sf_drop_calendar($2)::text
	WHEN 'schedule' THEN @extschema@.sf_unschedule($2)::text
--@into public_functions
		cron_runs, run_schedule, schedule_latest, schedule_next, schedule_next_run, schedule_status, schedule_zone,
