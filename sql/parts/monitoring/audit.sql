-- sf_audit: who did what, when, why.

-- The objects whose actions the reader may see. What belongs to no machine, activity, schedule, rule or calendar is
-- shown to members of the extension's owner.
CREATE VIEW _sfflow.auditable AS
SELECT @OBJECT_STATE_MACHINE@::"char" AS object_kind, m.name AS object_name FROM _sfflow.readable_machine m
UNION ALL
SELECT @OBJECT_ACTIVITY@, t.name FROM _sfflow.workable_activity t
UNION ALL
--@slot auditable
SELECT @OBJECT_ALL@, '*' FROM pg_namespace n WHERE n.nspname = '_sfflow' AND pg_has_role(n.nspowner, 'USAGE');

-- The row of an execution tells who started it; start_request has the calls that found it there.
CREATE VIEW @extschema@.sf_audit WITH (security_barrier) AS
SELECT a.at, a.action, a.target, e.execution_id, a.role, a.session_role, a.reason, a.details
FROM _sfflow.audit a
LEFT JOIN _sfflow.execution e ON e.execution_no = a.execution_no
WHERE (a.object_kind, a.object_name) IN (SELECT o.object_kind, o.object_name FROM _sfflow.auditable o)
UNION ALL
SELECT e.requested_at, 'start', e.execution_id, e.execution_id, pg_get_userbyid(e.requested_by)::text, NULL, NULL, NULL
FROM _sfflow.readable_execution e WHERE e.requested_by IS NOT NULL
UNION ALL
SELECT r.requested_at, 'start', e.execution_id, e.execution_id, pg_get_userbyid(r.requested_by)::text, NULL, NULL,
	jsonb_build_object('outcome', r.outcome, 'input_differs', r.input_differs)
FROM _sfflow.start_request r
JOIN _sfflow.readable_execution e ON e.execution_no = r.execution_no;
GRANT SELECT ON @extschema@.sf_audit TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_audit IS 'what operators did: starts, stops, redrives, rights, definitions';
COMMENT ON COLUMN @extschema@.sf_audit.at IS 'when';
COMMENT ON COLUMN @extschema@.sf_audit.action IS
	'start, stop, redrive; create, replace, drop, alter owner; grant, revoke; enable, disable';
COMMENT ON COLUMN @extschema@.sf_audit.target IS
	'a state machine, an execution, activity:NAME, schedule:NAME, rule:NAME, or *';
COMMENT ON COLUMN @extschema@.sf_audit.execution_id IS 'the execution, for an action on one';
COMMENT ON COLUMN @extschema@.sf_audit.role IS 'the current role';
COMMENT ON COLUMN @extschema@.sf_audit.session_role IS 'the role that had logged in; null for a start';
COMMENT ON COLUMN @extschema@.sf_audit.reason IS 'why, if the operator said so';
COMMENT ON COLUMN @extschema@.sf_audit.details IS 'what the action was given, and what came of it';

-- The same as pages, in the order of time. Starts are not among them: sf_list_executions has pages of those.
CREATE FUNCTION @extschema@.sf_list_audit(
	target text DEFAULT NULL,
	action text DEFAULT NULL,
	role text DEFAULT NULL,
	done_after timestamptz DEFAULT NULL,
	done_before timestamptz DEFAULT NULL,
	page_size integer DEFAULT NULL,
	after_key text DEFAULT NULL,
	OUT at timestamptz,
	OUT action text,
	OUT target text,
	OUT execution_id text,
	OUT role text,
	OUT session_role text,
	OUT reason text,
	OUT details jsonb,
	OUT page_key text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_list_audit'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_list_audit(text, text, text, timestamptz, timestamptz, integer, text) IS
	'a page of what operators did but for starts, the newest first; page_key of its last row is after_key of the next page';
