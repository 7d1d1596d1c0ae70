-- sf_console_api: activities, alerts, and how sfflow itself is.

-- activities {}: activities and dead letters.
CREATE FUNCTION _sfflow.console_activities(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	WITH dead AS MATERIALIZED (
		SELECT x.execution_id, x.state, x.branch, x.resource, _sfflow.console_cut(x.input::text, 2000) AS input,
			x.error,
			left(x.cause, 1000) AS cause, x.receives, x.died_at
		FROM @extschema@.sf_dead_letters x ORDER BY x.died_at DESC LIMIT 100 + 1
	)
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'rows', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.activity), '[]') FROM (
			SELECT x.activity, x.owner::text AS owner, x.queued, x.oldest_queued_at, x.in_flight, x.last_polled_at,
				x.last_worker
			FROM @extschema@.sf_activities x ORDER BY x.activity LIMIT 200 + 1) a),
		'dead', (SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.died_at DESC), '[]') FROM dead d),
		'rights', _sfflow.console_rights(ARRAY(SELECT d.execution_id FROM dead d))), '{"rows": 200, "dead": 100}'));

-- alerts {}: alerts, the latest first, and what was acknowledged last. Of more than a page failures are left out,
-- rather than alerts of other kinds. A failure has its error and the beginning of the cause.
CREATE FUNCTION _sfflow.console_alerts(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	WITH alert AS MATERIALIZED (
		SELECT y.*, row_number() OVER () AS n
		FROM (
			SELECT x.kind, x.execution_id, x.since, left(x.detail, 1000) AS detail, x.target, x.labels
			FROM @extschema@.sf_alerts x
			ORDER BY x.kind IN ('failed', 'timed_out', 'failed_again'), x.since DESC NULLS LAST, x.execution_id, x.kind
			LIMIT _sfflow.console_limit($1, 100, 500) + 1) y
	)
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'rows', (SELECT coalesce(jsonb_agg(to_jsonb(a) - 'n' || coalesce(e.failure, '{}')
				ORDER BY a.since DESC, a.execution_id, a.kind), '[]')
			FROM alert a
			LEFT JOIN LATERAL (
				SELECT jsonb_build_object('error', left(x.error, 500), 'cause', _sfflow.console_cut(x.cause, 1000))
					AS failure
				FROM @extschema@.sf_executions x
				WHERE x.execution_id = a.execution_id AND a.kind IN ('failed', 'timed_out') OFFSET 0) e ON true
			WHERE a.n <= _sfflow.console_limit($1, 100, 500)),
		'rights', _sfflow.console_rights(ARRAY(SELECT a.execution_id FROM alert a)),
		'acknowledged', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.acknowledged_at DESC), '[]') FROM (
			SELECT x.kind, x.execution_id, x.acknowledged_at, x.acknowledged_by, left(x.comment, 500) AS comment
			FROM @extschema@.sf_acknowledgements x ORDER BY x.acknowledged_at DESC LIMIT 50 + 1) a),
		'cut', CASE WHEN (SELECT count(*) FROM alert) > _sfflow.console_limit($1, 100, 500) THEN '["rows"]'::jsonb
			ELSE '[]' END), '{"acknowledged": 50}'));

-- operations {}: workers, health, holds, limits, deadlines, what operators did last.
CREATE FUNCTION _sfflow.console_operations(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN _sfflow.console_bounded(jsonb_build_object(
	'health', (SELECT coalesce(jsonb_agg(jsonb_build_object('item', h.item, 'ok', h.ok, 'detail',
		left(h.detail, 1000))), '[]')
		FROM @extschema@.sf_health h),
	'workers', (SELECT coalesce(jsonb_agg(to_jsonb(w) ORDER BY w.pid), '[]') FROM (
		SELECT x.pid, x.role, x.state, x.execution_id, x.job_id, x.since, x.steps, x.owner::text AS owner, x.holds_slot
		FROM @extschema@.sf_workers x ORDER BY x.pid LIMIT 300 + 1) w),
	'held', _sfflow.console_holds(100 + 1),
--@slot console_operations
	'done', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.at DESC), '[]') FROM (
		SELECT x.at, x.action, x.target, x.role, x.session_role, left(x.reason, 500) AS reason
		FROM @extschema@.sf_list_audit(page_size => 50 + 1) x LIMIT 50 + 1) a)),
	'{"workers": 300, "held": 100, "limits": 100, "deadlines": 100, "done": 50}');
