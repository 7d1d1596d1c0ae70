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
COMMENT ON FUNCTION @extschema@.sf_schedule(text, text, text, jsonb, text, text, text, timestamptz, timestamptz, text, text) IS
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

-- The same, and what workers do now and then, as if it was a given time.
CREATE FUNCTION _sfflow.run_schedule_at(name text, at timestamptz) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_run_schedule_at'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

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

-- Gives C the extension's own sf_start, whatever schema it is in. Bound to that function, not to its
-- name: the owner of the schema can rename it and make another one.
CREATE FUNCTION _sfflow.start_scheduled(state_machine text, input jsonb, name text) RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN @extschema@.sf_start($1, $2, $3, 'skip');

CREATE FUNCTION _sfflow.schedule_next(schedule text, timezone text, after timestamptz)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_schedule_next'
LANGUAGE C STABLE PARALLEL SAFE;

CREATE FUNCTION _sfflow.schedule_next_run(name text, after timestamptz) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_schedule_next_run'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

CREATE FUNCTION _sfflow.schedule_latest(schedule text, timezone text, at timestamptz)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_schedule_latest'
LANGUAGE C STABLE PARALLEL SAFE;

CREATE FUNCTION _sfflow.schedule_zone() RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_schedule_zone'
LANGUAGE C STABLE PARALLEL SAFE;

CREATE VIEW @extschema@.sf_schedules WITH (security_barrier) AS
SELECT s.name AS schedule_name, s.schedule, coalesce(s.timezone, _sfflow.schedule_zone()) AS timezone,
	s.state_machine, s.input, a.active,
	CASE WHEN a.active THEN _sfflow.schedule_next_run(s.name, now()) END AS next_run,
	s.last_execution_id, st.state, st.problem, pg_get_userbyid(s.owner) AS owner, s.calendar, s.on_closed, s.starts, s.ends,
	s.missed, s.overlap
FROM _sfflow.readable_schedule s
CROSS JOIN LATERAL _sfflow.schedule_status(s.name) st
CROSS JOIN LATERAL (SELECT st.state NOT IN ('gone', 'inactive') AS active) a;
GRANT SELECT ON @extschema@.sf_schedules TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_schedules IS 'schedules, the next run of each, and whether its runs happen';

-- pg_cron knows which calls failed, and why; sfflow knows what the others were for. The same call has the
-- same process, at about the same time. A call that could not connect has no time.
CREATE VIEW @extschema@.sf_schedule_runs WITH (security_barrier) AS
SELECT s.name AS schedule_name, r.scheduled_for, r.started_at, r.status, r.error, r.execution_id, r.ended_at, r.run_id AS cron_run_id
FROM _sfflow.readable_schedule s
CROSS JOIN LATERAL (
	SELECT o.scheduled_for, coalesce(c.started_at, o.run_at) AS started_at, c.ended_at, c.run_id, o.execution_id,
		CASE WHEN coalesce(c.status, 'succeeded') = 'succeeded' THEN coalesce(o.outcome, 'succeeded') ELSE c.status END AS status,
		CASE WHEN c.status = 'failed' THEN c.message ELSE o.message END AS error
	FROM _sfflow.cron_runs(s.name) c
	FULL JOIN (SELECT h.* FROM _sfflow.schedule_run h WHERE h.schedule = s.name) o
		ON o.pid = c.pid AND o.run_at >= c.started_at - interval '10 s'
			AND o.run_at <= coalesce(c.ended_at, 'infinity') + interval '10 s') r;
GRANT SELECT ON @extschema@.sf_schedule_runs TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_schedule_runs IS 'runs of schedules, and the outcome of each';
