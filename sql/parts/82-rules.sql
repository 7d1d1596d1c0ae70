-- Rules: what is to happen when a status changes.

CREATE FUNCTION @extschema@.sf_create_rule(name text, pattern jsonb, target text, input jsonb DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_rule'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_create_rule(text, jsonb, text, jsonb) IS
	'call a target for each change of a status whose event matches a pattern';

CREATE FUNCTION @extschema@.sf_drop_rule(name text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_rule'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_rule(text) IS 'remove a rule with its deliveries';

CREATE FUNCTION @extschema@.sf_redeliver(rule text, event_id text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_redeliver'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_redeliver(text, text) IS 'try dead deliveries of a rule anew; returns how many';

CREATE FUNCTION @extschema@.sf_discard_deliveries(rule text, event_id text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_discard_deliveries'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_discard_deliveries(text, text) IS 'delete dead deliveries of a rule; returns how many';

CREATE FUNCTION @extschema@.sf_test_event_pattern(pattern jsonb, event jsonb) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_test_event_pattern'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_test_event_pattern(jsonb, jsonb) IS 'does an event match an event pattern?';

-- What workers do once a minute if a rule wants to know of alerts.
CREATE FUNCTION _sfflow.check_alerts() RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_check_alerts'
LANGUAGE C VOLATILE;

-- A rule is visible to members of its owner. last_error: of the deliveries that there are.
CREATE VIEW @extschema@.sf_rules WITH (security_barrier) AS
SELECT r.name AS rule_name, pg_get_userbyid(r.owner) AS owner, r.pattern, r.target, r.input, d.pending,
	(SELECT coalesce(sum(t.delivered), 0)::bigint FROM _sfflow.rule_total t WHERE t.rule_no = r.rule_no) AS delivered, d.dead,
	e.error AS last_error, e.cause AS last_cause, e.failed_at AS last_failed_at, r.created_at
FROM _sfflow.rule r
CROSS JOIN LATERAL (
	SELECT count(*) FILTER (WHERE x.due_at IS NOT NULL) AS pending, count(*) FILTER (WHERE x.due_at IS NULL) AS dead
	FROM _sfflow.rule_delivery x WHERE x.rule_no = r.rule_no) d
LEFT JOIN LATERAL (
	SELECT x.error, x.cause, x.failed_at
	FROM _sfflow.rule_delivery x WHERE x.rule_no = r.rule_no AND x.failed_at IS NOT NULL
	ORDER BY x.failed_at DESC LIMIT 1) e ON true
WHERE r.owner = ANY (ARRAY(SELECT o.owner FROM _sfflow.rule_owner o WHERE pg_has_role(o.owner, 'USAGE')));
GRANT SELECT ON @extschema@.sf_rules TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_rules IS 'rules, and how many of their deliveries wait, were made, and are dead';

CREATE VIEW @extschema@.sf_rule_deliveries WITH (security_barrier) AS
SELECT r.name AS rule_name, d.event_id, CASE WHEN d.due_at IS NULL THEN 'DEAD' ELSE 'PENDING' END AS status,
	greatest(d.attempt, 0) AS attempts, CASE WHEN d.attempt <> 0 THEN d.due_at END AS next_attempt, d.error, d.cause, d.failed_at,
	d.event, d.created_at
FROM _sfflow.rule_delivery d
JOIN _sfflow.rule r ON r.rule_no = d.rule_no
WHERE r.owner = ANY (ARRAY(SELECT o.owner FROM _sfflow.rule_owner o WHERE pg_has_role(o.owner, 'USAGE')));
GRANT SELECT ON @extschema@.sf_rule_deliveries TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_rule_deliveries IS 'deliveries of rules that wait or are dead';
