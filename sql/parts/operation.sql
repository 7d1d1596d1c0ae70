-- Operation: whether this copy of the database is driven, and how the workers are doing.

CREATE FUNCTION @extschema@.sf_enable() RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_enable'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_enable() IS 'lets background workers drive this copy of the database';

CREATE FUNCTION @extschema@.sf_set_node(node integer) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_set_node'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_set_node(integer) IS
	'gives this database the number of a node: executions get numbers that those of no other node have';

CREATE FUNCTION @extschema@.sf_disable() RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_disable'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_disable() IS 'stops background workers from driving this copy of the database';

-- Rows that come by other ways than sfflow are another database's work: src/copy/load_guard.c.
CREATE FUNCTION _sfflow.note_load() RETURNS trigger
AS 'MODULE_PATHNAME', 'sfflow_note_load'
LANGUAGE C;

CREATE TRIGGER note_load AFTER INSERT ON _sfflow.execution
	FOR EACH STATEMENT EXECUTE FUNCTION _sfflow.note_load();
ALTER TABLE _sfflow.execution ENABLE ALWAYS TRIGGER note_load;
CREATE TRIGGER note_load AFTER INSERT ON _sfflow.branch
	FOR EACH STATEMENT EXECUTE FUNCTION _sfflow.note_load();
ALTER TABLE _sfflow.branch ENABLE ALWAYS TRIGGER note_load;

-- Gives tests the rules of src/copy/copy_decision.c.
CREATE FUNCTION _sfflow.decide_copy(own boolean, role text, standby_signal boolean, recovery_signal boolean,
	recovery_target boolean, backup_label boolean, shut_down_in_recovery boolean) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_decide_copy'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The roles that rows name, each as often as they do: their anchors keep DROP ROLE from dropping them.
-- src/store/role/anchor.c looks into the same tables, by the indexes that they name in src/store/feature.h (by_role).
CREATE VIEW _sfflow.named_role AS
SELECT owner AS role FROM _sfflow.state_machine
UNION ALL SELECT role FROM _sfflow.privilege
UNION ALL SELECT owner FROM _sfflow.activity
UNION ALL SELECT owner FROM _sfflow.resource_map
--@slot named_role
;

-- The numbers that this database draws: all, or those that begin with the number of its node (src/copy/sequences.c).
CREATE VIEW _sfflow.number_range AS
SELECT coalesce(max(i.node)::bigint << 48, 0) AS low,
	coalesce(max(i.node)::bigint << 48 | 281474976710655, 9223372036854775807) AS high
FROM _sfflow.instance i;

-- How far each sequence has come, and the largest number in use, but for those of nodes with higher numbers. That of
-- branch_no no index knows.
CREATE VIEW _sfflow.sequence_use AS
SELECT 'machine_no' AS name, s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END AS drawn,
	greatest((SELECT max(machine_no) FROM _sfflow.state_machine),
		(SELECT max(machine_no) FROM _sfflow.state_machine_version),
		(SELECT max(machine_no) FROM _sfflow.dropped_machine))::bigint AS used
FROM _sfflow.machine_no s
UNION ALL
SELECT 'activity_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	(SELECT max(activity_no) FROM _sfflow.activity)::bigint
FROM _sfflow.activity_no s
--@slot sequence_use
UNION ALL
SELECT 'execution_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	greatest((SELECT max(execution_no) FROM _sfflow.execution WHERE execution_no <= r.high),
		(SELECT max(execution_no) FROM _sfflow.branch WHERE execution_no <= r.high))
FROM _sfflow.execution_no s, _sfflow.number_range r
UNION ALL
SELECT 'branch_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	greatest((SELECT max(branch_no) FROM _sfflow.branch WHERE branch_no <= r.high),
		(SELECT max(map_run_no) FROM _sfflow.map_run WHERE map_run_no <= r.high))
FROM _sfflow.branch_no s, _sfflow.number_range r;

-- The same with the number that each sequence is to go on after, and whether it is outside of the range of this node.
-- Rows of machines, activities, types of events and worklists never leave a node: their numbers need no range.
CREATE VIEW _sfflow.sequence_position AS
SELECT u.name, u.drawn, u.used, w.wide AND (u.drawn < r.low OR u.drawn > r.high) AS astray,
	CASE WHEN NOT w.wide THEN greatest(u.drawn, u.used)
		ELSE greatest(r.low, u.used, CASE WHEN u.drawn <= r.high THEN u.drawn END) END AS last
FROM _sfflow.sequence_use u
CROSS JOIN _sfflow.number_range r
CROSS JOIN LATERAL (SELECT q.seqtypid = 'bigint'::regtype AS wide FROM pg_sequence q
	WHERE q.seqrelid = format('_sfflow.%I', u.name)::regclass) w;

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

-- The name of a job within Maps, for the views: "Load[7]", "Days[1]/Load[7]". Checks by itself what its caller may see.
CREATE FUNCTION _sfflow.job_name(execution_no bigint, state text, iterations integer[]) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_job_name'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;

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
