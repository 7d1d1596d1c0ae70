-- sf_console_api: what ran in a time, and tonight.

-- night {since, until}: executions and runs of schedules, those of one machine in one state together; times in
-- milliseconds. Of a machine with more than 200 starts, and of those beyond 5,000, the metrics tell how many ended how.
CREATE FUNCTION _sfflow.console_night(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	WITH time AS MATERIALIZED (
		SELECT coalesce(($1 ->> 'since')::timestamptz, now() - interval '16 hours') AS since,
			coalesce(($1 ->> 'until')::timestamptz, now() + interval '8 hours') AS until
	), line AS MATERIALIZED (
		SELECT n.*, CASE WHEN n.target LIKE 'schedule:%' THEN n.target ELSE split_part(n.target, ':', 1) END AS name
		FROM time t CROSS JOIN LATERAL @extschema@.sf_night(t.since, t.until, 200) n
	), mass AS MATERIALIZED (
		SELECT l.name, h.hour, x.state, x.n
		FROM line l
		CROSS JOIN time t
		JOIN @extschema@.sf_metrics_by_hour h ON h.state_machine = l.name AND h.hour > t.since - interval '1 hour'
			AND h.hour < t.until
		CROSS JOIN LATERAL (VALUES ('SUCCEEDED', h.executions_succeeded), ('FAILED', h.executions_failed),
			('TIMED_OUT', h.executions_timed_out), ('ABORTED', h.executions_aborted)) x(state, n)
		WHERE l.state = 'MASS' AND x.n > 0
	)
	SELECT _sfflow.console_bounded(jsonb_build_object('rows',
		coalesce(jsonb_agg(to_jsonb(g) ORDER BY g.first_planned, g.name, g.state), '[]')), '{"rows": 200}')
	FROM (
		SELECT * FROM (
			SELECT x.name, x.state, count(*) AS n, min(x.planned_at) AS first_planned,
				max(x.planned_at) AS last_planned,
				min(x.started_at) AS started_at, max(x.ended_at) AS ended_at,
					max(extract(epoch FROM x.took)) * 1000 AS took,
				max(extract(epoch FROM x.usual)) * 1000 AS usual, max(x.expected_end) AS expected_end,
				(array_agg(x.target ORDER BY x.planned_at))[1] AS target,
				left((array_agg(x.detail ORDER BY x.planned_at DESC))[1], 500) AS detail,
				left((array_agg(x.next ORDER BY x.planned_at))[1], 500) AS next
			FROM line x WHERE x.state <> 'MASS' GROUP BY x.name, x.state
			UNION ALL
			SELECT m.name, m.state, sum(m.n)::bigint, min(m.hour), max(m.hour), NULL, NULL, NULL, NULL, NULL, NULL,
				NULL, NULL
			FROM mass m GROUP BY m.name, m.state
			UNION ALL
			SELECT r.state_machine, 'RUNNING', r.running, r.requested_at, r.requested_at, r.started_at, NULL,
				extract(epoch FROM now() - r.started_at) * 1000, NULL, NULL, r.execution_id, NULL, NULL
			FROM _sfflow.longest_running(1) r
				WHERE r.state_machine IN (SELECT l.name FROM line l WHERE l.state = 'MASS')) y
		ORDER BY y.first_planned LIMIT 200 + 1) g);

-- tonight {since}: what failed and why (by machine and error, of the latest 300), what is late, runs, is held, and
-- comes next; failures that Distributed Maps tolerate; counts by hour and machine. Of what is late and of what runs, a
-- machine with more than three has the longest one, and how many further ones there are. "cut" has "failures" if there
-- are more than 300 of them.
CREATE FUNCTION _sfflow.console_tonight(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	WITH alert AS MATERIALIZED (
		SELECT a.kind, a.execution_id, a.since, a.detail, a.target FROM @extschema@.sf_alerts a
	), running AS MATERIALIZED (
		SELECT r.* FROM _sfflow.longest_running(3) r
	), hour AS MATERIALIZED (
		SELECT h.* FROM @extschema@.sf_metrics_by_hour h
		WHERE h.hour > coalesce(($1 ->> 'since')::timestamptz, now() - interval '24 hours') - interval '1 hour'
	)
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'now', now(),
		'rights', _sfflow.console_rights(ARRAY(SELECT DISTINCT substring(a.execution_id, '^[^:/]+') FROM alert a)),
		'sees', EXISTS (SELECT FROM @extschema@.sf_state_machines),
		'kinds', (SELECT coalesce(jsonb_object_agg(k.kind, k.n), '{}') FROM (
			SELECT a.kind, count(*) AS n FROM alert a GROUP BY a.kind) k),
		'failed', (SELECT coalesce(jsonb_agg(to_jsonb(g) ORDER BY g.since DESC), '[]') FROM (
			SELECT l.kind, l.state_machine, l.error, l.n, l.since, l.executions, l.redrive_count, l.started_at,
				_sfflow.console_cut(l.cause, 2000) AS cause, _sfflow.console_failed_jobs(l.execution_id, 3) AS jobs,
				_sfflow.console_failed_item(l.execution_id, l.error) AS item
			FROM (
				SELECT f.*, count(*) OVER same AS n,
					row_number() OVER (same ORDER BY f.since DESC, f.execution_id) AS k,
					(array_agg(f.execution_id) OVER (same ORDER BY f.since DESC, f.execution_id
						ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))[1:50] AS executions
				FROM (
					SELECT a.kind, a.execution_id, a.since, split_part(e.state_machine, '/', 1) AS state_machine,
						left(e.error, 500) AS error, e.cause, coalesce(e.last_redriven_at, e.started_at) AS started_at,
							e.redrive_count
					FROM (SELECT * FROM alert y WHERE y.kind IN ('failed', 'timed_out') ORDER BY y.since DESC
						LIMIT 300) a
					JOIN LATERAL (
						SELECT x.* FROM @extschema@.sf_executions x WHERE x.execution_id = a.execution_id OFFSET 0) e
							ON true) f
				WINDOW same AS (PARTITION BY f.kind, f.state_machine, f.error)) l
			WHERE l.k = 1 ORDER BY l.since DESC LIMIT 25 + 1) g),
		'late', (SELECT coalesce(jsonb_agg(to_jsonb(l) ORDER BY l.since, l.kind), '[]') FROM (
			SELECT y.kind, y.execution_id, y.since, left(y.detail, 500) AS detail, y.target,
				CASE WHEN y.n > 3 THEN y.n - 1 ELSE 0 END AS further
			FROM (
				SELECT x.*, count(*) OVER same AS n, row_number() OVER (same ORDER BY x.since, x.execution_id) AS k
				FROM (SELECT a.*, coalesce(split_part(a.execution_id, ':', 1), a.target) AS name FROM alert a
					WHERE a.kind NOT IN ('failed', 'timed_out', 'failed_again')) x
				WINDOW same AS (PARTITION BY x.kind, x.name)) y
			WHERE y.k = 1 OR y.n <= 3 ORDER BY y.since, y.kind LIMIT 50 + 1) l),
		'tolerated', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.started_at DESC), '[]') FROM (
			SELECT x.execution_id, x.state, x.status, x.items, x.items_succeeded, x.items_failed, x.started_at,
				x.stopped_at
			FROM @extschema@.sf_map_runs x
			WHERE x.items_failed > 0 AND x.status IN ('SUCCEEDED', 'RUNNING')
				AND x.started_at > coalesce(($1 ->> 'since')::timestamptz, now() - interval '24 hours')
			ORDER BY x.started_at DESC LIMIT 25 + 1) r),
		'running', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.requested_at, r.execution_id), '[]') FROM (
			SELECT l.execution_id, l.state_machine, l.requested_at, l.started_at, l.running, l.further,
				left(e.waiting_on, 500) AS waiting_on,
				CASE WHEN l.n <= 12 THEN _sfflow.console_progress(l.execution_id) END AS progress
			FROM (
				SELECT x.*, CASE WHEN x.running > 3 THEN x.running - 1 ELSE 0 END AS further,
					row_number() OVER (ORDER BY x.requested_at, x.execution_id) AS n
				FROM (
					SELECT y.*, row_number() OVER (PARTITION BY y.state_machine ORDER BY y.requested_at,
						y.execution_id) AS k
					FROM running y) x
				WHERE x.k = 1 OR x.running <= 3 ORDER BY x.requested_at, x.execution_id LIMIT 25) l
			JOIN LATERAL (SELECT x.* FROM @extschema@.sf_executions x WHERE x.execution_id = l.execution_id OFFSET 0) e
				ON true) r),
		'running_count', (SELECT coalesce(sum(x.running), 0)
			FROM (SELECT DISTINCT y.state_machine, y.running FROM running y) x),
		'ended', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.requested_at DESC), '[]') FROM (
			SELECT x.execution_id, x.state_machine, x.status, x.requested_at, x.started_at, x.stopped_at,
				_sfflow.took_ms(x.execution_id) AS took, x.n - 1 AS further
			FROM (
				SELECT l.*, count(*) OVER same AS n, row_number() OVER (same ORDER BY l.requested_at DESC) AS k
				FROM @extschema@.sf_list_executions(status => 'SUCCEEDED', page_size => 200, without_items => true) l
				WINDOW same AS (PARTITION BY l.state_machine)) x
			WHERE x.k = 1 ORDER BY x.requested_at DESC LIMIT 10 + 1) r),
		'next', (SELECT coalesce(jsonb_agg(to_jsonb(s) ORDER BY s.next_run, s.schedule_name), '[]') FROM (
			SELECT x.schedule_name, x.state_machine, x.next_run, x.timezone, x.state, left(x.problem, 500) AS problem
			FROM @extschema@.sf_schedules x ORDER BY x.next_run LIMIT 25 + 1) s),
		'held', _sfflow.console_holds(25 + 1),
--@slot console_tonight
		'unwell', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.item), '[]') FROM (
			SELECT x.item, left(x.detail, 500) AS detail FROM @extschema@.sf_health x WHERE NOT x.ok) h),
		'hours', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.hour), '[]') FROM (
			SELECT x.hour, sum(x.executions_started) AS started, sum(x.executions_succeeded) AS succeeded,
				sum(x.executions_failed + x.executions_timed_out) AS failed, sum(x.executions_aborted) AS aborted
			FROM hour x GROUP BY x.hour ORDER BY x.hour DESC LIMIT 48) h),
		'machines', (SELECT coalesce(jsonb_agg(to_jsonb(m) ORDER BY m.failed DESC, m.started DESC, m.state_machine),
			'[]') FROM (
			SELECT x.state_machine, sum(x.executions_started) AS started, sum(x.executions_succeeded) AS succeeded,
				sum(x.executions_failed + x.executions_timed_out) AS failed, sum(x.executions_aborted) AS aborted
			FROM hour x GROUP BY x.state_machine ORDER BY 4 DESC, 2 DESC LIMIT 50 + 1) m),
		'cut', CASE WHEN (SELECT count(*) FROM alert a WHERE a.kind IN ('failed', 'timed_out')) > 300
			THEN '["failures"]'::jsonb ELSE '[]' END),
		'{"failed": 25, "late": 50, "tolerated": 25, "ended": 10, "next": 25, "held": 25, "limits": 10, "deadlines": 10, "machines": 50}'));
