-- The workers, and how they are doing.

CREATE FUNCTION _sfflow.workers(
	OUT pid integer,
	OUT role text,
	OUT state text,
	OUT execution_no bigint,
	OUT branch_no bigint,
	OUT state_name text,
	OUT since timestamptz,
	OUT steps bigint,
	OUT holds_slot boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_workers'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 8;

CREATE FUNCTION _sfflow.health(OUT item text, OUT ok boolean, OUT detail text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_health'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 8;

CREATE FUNCTION _sfflow.task_slots(OUT slots integer, OUT occupied integer, OUT remark text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_task_slots'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 1;

-- The launcher and the processes of this database. What they are at is shown to members of the
-- state machine's owner.
CREATE VIEW @extschema@.sf_workers WITH (security_barrier) AS
SELECT w.pid, w.role, w.state, x.execution_id, x.job_id, w.since, w.steps, x.owner, w.holds_slot
FROM _sfflow.workers() w
LEFT JOIN LATERAL (
	SELECT e.execution_id, m.owner,
		_sfflow.job_name(w.execution_no, w.state_name, b.iterations) AS job_id
	FROM _sfflow.execution e
	JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no
	LEFT JOIN _sfflow.branch b ON b.execution_no = e.execution_no AND b.branch_no = w.branch_no
	WHERE e.execution_no = w.execution_no AND pg_has_role(m.owner::oid, 'MEMBER')
) x ON true;
GRANT SELECT ON @extschema@.sf_workers TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_workers IS 'the launcher and the workers of this database';
COMMENT ON COLUMN @extschema@.sf_workers.pid IS 'of the process';
COMMENT ON COLUMN @extschema@.sf_workers.role IS 'launcher, worker, task or keeper';
COMMENT ON COLUMN @extschema@.sf_workers.state IS 'what it is doing';
COMMENT ON COLUMN @extschema@.sf_workers.execution_id IS 'the execution that it works on';
COMMENT ON COLUMN @extschema@.sf_workers.job_id IS 'the job that it runs';
COMMENT ON COLUMN @extschema@.sf_workers.since IS 'since when';
COMMENT ON COLUMN @extschema@.sf_workers.steps IS 'how many steps it has made';
COMMENT ON COLUMN @extschema@.sf_workers.owner IS 'the owner of the state machine';
COMMENT ON COLUMN @extschema@.sf_workers.holds_slot IS 'whether it occupies a slot for tasks';

-- Work that is due and not claimed. If it has been due for longer than poll_interval, no worker took it,
-- although workers have scanned since.
CREATE VIEW @extschema@.sf_health WITH (security_barrier) AS
WITH due AS (
	SELECT b.due_at
	FROM _sfflow.branch b
	WHERE b.due_at <= clock_timestamp()
		AND NOT EXISTS (
			SELECT FROM _sfflow.workers() w
			WHERE w.execution_no = b.execution_no AND w.branch_no = b.branch_no)
), backlog AS (
	SELECT count(*) AS n, clock_timestamp() - min(due.due_at) AS age,
		count(*) FILTER (WHERE due.due_at <= clock_timestamp() - poll.interval) AS late
	FROM (SELECT coalesce(current_setting('sfflow.poll_interval', true), '60s')::interval AS interval) poll
	LEFT JOIN due ON true
)
SELECT h.item, h.ok, h.detail FROM _sfflow.health() h
UNION ALL
SELECT r.item, r.ok, r.detail FROM (
	SELECT 'sequences' AS item, count(*) = 0 AS ok,
		coalesce(string_agg(format('%s is at %s, a row has %s', u.name, u.drawn, u.used), '; ')
			|| ': new work would fail with a duplicate key; sf_enable() sets them right', 'ahead of all rows') AS detail
	FROM _sfflow.sequence_use u WHERE u.name <> 'branch_no' AND u.used > u.drawn
	UNION ALL
	SELECT 'task slots', s.occupied < s.slots,
		s.occupied || ' of ' || s.slots || ' slots are occupied by tasks' || coalesce(': ' || t.shown, '')
			|| CASE WHEN s.occupied > t.n THEN '; ' || s.occupied - t.n
				|| ' of them in other databases or of other owners' ELSE '' END
			|| coalesce('; ' || s.remark, '')
	FROM _sfflow.task_slots() s
	CROSS JOIN (
		SELECT count(*) AS n, string_agg(w.owner || '''s ' || w.execution_id || coalesce(' at ' || w.job_id, '')
			|| ' for ' || date_trunc('second', clock_timestamp() - w.since), ', ' ORDER BY w.since) AS shown
		FROM @extschema@.sf_workers w
		WHERE w.holds_slot AND w.execution_id IS NOT NULL
	) t
	UNION ALL
	SELECT 'backlog', coalesce(b.age < interval '5 minutes', true),
		CASE WHEN b.age IS NULL THEN 'nothing is due'
			ELSE b.n || ' due, the oldest for ' || date_trunc('milliseconds', b.age) END
	FROM backlog b
	UNION ALL
	SELECT 'due but unclaimed', b.late = 0,
		CASE WHEN b.late = 0 THEN 'nothing' ELSE b.late || ' due for longer than sfflow.poll_interval' END
	FROM backlog b
) r
-- Else health() has said so, and the other functions would refuse.
WHERE (SELECT v.advice IS NULL FROM @extschema@.sf_version() v);
GRANT SELECT ON @extschema@.sf_health TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_health IS 'what an operator looks at first; a row that is not ok says what to do';
COMMENT ON COLUMN @extschema@.sf_health.item IS 'what is looked at';
COMMENT ON COLUMN @extschema@.sf_health.ok IS 'whether it is as it should be';
COMMENT ON COLUMN @extschema@.sf_health.detail IS 'what was found';
