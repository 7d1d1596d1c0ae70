-- sf_audit: who did what, when, why.

-- The row of an execution tells who started it; start_request has the calls that found it there. What belongs
-- to no machine, activity, schedule, rule or calendar is shown to members of the extension's owner.
CREATE VIEW @extschema@.sf_audit WITH (security_barrier) AS
SELECT a.at, a.action, a.target, e.execution_id, a.role, a.session_role, a.reason, a.details
FROM _sfflow.audit a
LEFT JOIN _sfflow.execution e ON e.execution_no = a.execution_no
WHERE CASE a.object_kind
	WHEN 'm' THEN (SELECT _sfflow.can_read(m.name, m.owner) FROM _sfflow.state_machine m WHERE m.name = a.object_name)
	WHEN 'a' THEN (SELECT _sfflow.can_work(t.name, t.owner) FROM _sfflow.activity t WHERE t.name = a.object_name)
	WHEN 's' THEN (SELECT pg_has_role(s.owner, 'USAGE') FROM _sfflow.schedule s WHERE s.name = a.object_name)
	WHEN 'r' THEN (SELECT pg_has_role(r.owner, 'USAGE') FROM _sfflow.rule r WHERE r.name = a.object_name)
	WHEN 'c' THEN true
	ELSE (SELECT pg_has_role(n.nspowner, 'USAGE') FROM pg_namespace n WHERE n.nspname = '_sfflow')
END
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
