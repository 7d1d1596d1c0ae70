-- sf_hold, sf_release, and what is held.

CREATE FUNCTION @extschema@.sf_hold(target text, state text DEFAULT NULL, reason text DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_hold'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_hold(text, text, text) IS
	'lets no step of a machine, state, execution, schedule, activity or resource begin; false: it is held already';

CREATE FUNCTION @extschema@.sf_release(target text, state text DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_release'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_release(text, text) IS
	'ends a hold; returns how many branches that waited for it go on';

-- The branches that wait for the end of a hold, or for a limit.
CREATE VIEW _sfflow.held_branch AS
SELECT w.hold_no, w.limit_no, w.since, b.execution_no, b.branch_no
FROM _sfflow.held w
JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no
JOIN _sfflow.execution e ON e.execution_no = w.execution_no AND e.status = @STATUS_RUNNING@
WHERE b.due_at IS NULL AND b.phase IN (@PHASE_ENTER@, @PHASE_RUN@, @PHASE_ANNOUNCED@);

CREATE VIEW @extschema@.sf_holds WITH (security_barrier) AS
SELECT CASE WHEN h.kind IN ('schedule', 'activity') THEN h.kind || ':' ELSE '' END || h.name AS target,
	nullif(h.state, '') AS state, h.held_at AS since, h.held_by, h.reason,
	CASE h.kind WHEN 'activity' THEN (
		SELECT count(*) FROM _sfflow.activity a
		JOIN _sfflow.task t ON t.activity_no = a.activity_no AND t.status = @TASK_QUEUED@
		JOIN _sfflow.branch b ON b.execution_no = t.execution_no AND b.branch_no = t.branch_no
			AND b.generation = t.generation AND b.phase = @PHASE_EXTERNAL@
		WHERE a.name = h.name)
	ELSE (SELECT count(*) FROM _sfflow.held_branch w WHERE w.hold_no = h.hold_no) END AS waiting
FROM _sfflow.hold h
WHERE CASE h.kind
	WHEN 'activity' THEN h.name IN (SELECT a.name FROM _sfflow.workable_activity a)
	WHEN 'schedule' THEN (SELECT pg_has_role(s.owner, 'USAGE') FROM _sfflow.schedule s WHERE s.name = h.name)
	WHEN 'resource' THEN h.owner IS NULL OR pg_has_role(h.owner, 'USAGE')
	ELSE h.machine_no IN (SELECT m.machine_no FROM _sfflow.readable_machine m)
END;
GRANT SELECT ON @extschema@.sf_holds TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_holds IS 'what is held, since when, by whom and why, and how many branches wait for it';
