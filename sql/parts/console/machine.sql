-- sf_console_api: state machines, their versions, aliases and pictures, and one state that is tried.

-- machines {after, limit}: the current versions, by name.
CREATE FUNCTION _sfflow.console_machines(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(m) ORDER BY m.state_machine), '[]'),
		'rights', _sfflow.console_rights(array_agg(m.state_machine)),
		'next', CASE WHEN count(*) = _sfflow.console_limit($1, 100, 200) THEN max(m.state_machine) END)
	FROM (
		SELECT s.state_machine, s.version, s.owner::text AS owner, s.created_at, c.executions_started AS started,
			c.executions_succeeded AS succeeded, c.executions_failed + c.executions_timed_out AS failed,
			c.executions_aborted AS aborted, c.execution_time_ms_p50 AS p50, c.execution_time_ms_p95 AS p95
		FROM (
			SELECT x.state_machine, x.version, x.owner, x.created_at FROM @extschema@.sf_state_machines x
			WHERE x.is_current AND x.state_machine > coalesce($1 ->> 'after', '')
			ORDER BY x.state_machine LIMIT _sfflow.console_limit($1, 100, 200)) s
		LEFT JOIN @extschema@.sf_metrics c ON c.state_machine = s.state_machine) m);

-- machine {state_machine, version}: a version, the list of all, aliases, times of its jobs.
CREATE FUNCTION _sfflow.console_machine(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'machine', to_jsonb(s),
		'rights', _sfflow.console_rights(ARRAY[s.state_machine]),
--@slot console_machine
		'versions', (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.version DESC) FROM (
			SELECT x.version, x.is_current, x.created_at FROM @extschema@.sf_state_machines x
			WHERE x.state_machine = s.state_machine ORDER BY x.version DESC LIMIT 200 + 1) v),
		'aliases', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.alias, a.version), '[]') FROM (
			SELECT x.alias, x.version, x.percent, x.set_at FROM @extschema@.sf_aliases x
			WHERE x.state_machine = s.state_machine ORDER BY x.alias, x.version LIMIT 100) a),
		'times', (SELECT coalesce(jsonb_agg(to_jsonb(t) ORDER BY t.job_id), '[]') FROM (
			SELECT x.job_id, x.runs, x.failures, x.recent_ms_p50, x.recent_ms_p95, x.week_ms_p50,
				x.previous_week_ms_p50, x.last_at
			FROM @extschema@.sf_job_times x WHERE x.state_machine = s.state_machine ORDER BY x.job_id LIMIT 500 + 1) t),
		'held', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.since), '[]') FROM (
			SELECT x.target, x.state, x.since, x.held_by, x.reason, x.waiting FROM _sfflow.console_held() x
			WHERE x.target = s.state_machine OR x.target LIKE replace(replace(s.state_machine, '\', '\\'), '_', '\_')
				|| ':%'
			ORDER BY x.since LIMIT 50) h)),
		'{"limits": 50, "deadlines": 50, "versions": 200, "times": 500}')
	FROM (
		SELECT x.state_machine, x.version, x.is_current, x.owner::text AS owner, x.definition::text AS definition,
			x.execution_id_path, x.options, x.created_at
		FROM @extschema@.sf_state_machines x
		WHERE x.state_machine = $1 ->> 'state_machine'
			AND CASE WHEN $1 ->> 'version' IS NULL THEN x.is_current ELSE x.version = ($1 ->> 'version')::integer
				END) s);

-- layout {target}: where the picture of a machine or an execution has what.
CREATE FUNCTION _sfflow.console_layout(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN @extschema@.sf_graph_layout($1 ->> 'target');

-- diff {state_machine, a, b}: what two versions differ in.
CREATE FUNCTION _sfflow.console_diff(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT _sfflow.console_bounded(jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.n), '[]')),
		'{"rows": 500}')
	FROM (
		SELECT x.n, x.pointer, x.change, _sfflow.console_cut(x.before::text, 2000) AS before,
			_sfflow.console_cut(x.after::text, 2000) AS after
		FROM @extschema@.sf_diff_versions($1 ->> 'state_machine', ($1 ->> 'a')::integer, ($1 ->> 'b')::integer)
			WITH ORDINALITY AS x(pointer, change, before, after, n)
		LIMIT 500 + 1) d);

-- validate {definition}: what is wrong with a definition.
CREATE FUNCTION _sfflow.console_validate(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT _sfflow.console_bounded(jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.n), '[]')),
		'{"rows": 200}')
	FROM (
		SELECT x.n, x.severity, x.code, left(x.location, 500) AS location, left(x.message, 1000) AS message
		FROM @extschema@.sf_validate($1 ->> 'definition') WITH ORDINALITY AS x(severity, code, location, message, n)
		LIMIT 200 + 1) d);

-- set_alias {state_machine, alias, versions}: versions is JSON text, {"1": 90, "2": 10}.
CREATE FUNCTION _sfflow.console_set_alias(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM @extschema@.sf_set_alias(q ->> 'state_machine', q ->> 'alias', (q ->> 'versions')::jsonb);
	RETURN (
		SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.version), '[]')) FROM (
			SELECT x.version, x.percent FROM @extschema@.sf_aliases x
			WHERE x.state_machine = q ->> 'state_machine' AND x.alias = q ->> 'alias') a);
END
$$;

-- test_state {definition, input, state, mock, level}: one state, tried; nothing of it stays.
CREATE FUNCTION _sfflow.console_test_state(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	SELECT jsonb_build_object('result', _sfflow.console_cut(
		@extschema@.sf_test_state(($1 ->> 'definition')::json, coalesce($1 ->> 'input', '{}')::jsonb,
			mock => ($1 ->> 'mock')::jsonb,
			inspection_level => coalesce($1 ->> 'level', 'INFO'), state_name => $1 ->> 'state')::text, 200000)));
