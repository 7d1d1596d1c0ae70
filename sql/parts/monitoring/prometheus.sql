-- The metrics in Prometheus' text format.

-- Sums of microseconds are those of sf_metrics: an average and its count.
-- Without jit: to compile its expressions takes most of a second, and longer than a scrape may on a busy machine.
CREATE FUNCTION @extschema@.sf_prometheus() RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED SET jit = off
RETURN CASE WHEN (SELECT v.advice IS NOT NULL FROM @extschema@.sf_version() v) THEN
	E'# HELP sfflow_health_problems Rows of sf_health that are not ok.\n# TYPE sfflow_health_problems gauge\nsfflow_health_problems 1\n'
	'# HELP sfflow_schema_differs Whether library and schema of sfflow differ: nothing runs then.\n# TYPE sfflow_schema_differs gauge\nsfflow_schema_differs 1\n'
ELSE (
	WITH machine AS MATERIALIZED (
		SELECT m.state_machine, to_jsonb(m) AS counts,
			format('{state_machine="%s"', replace(replace(replace(m.state_machine, E'\\', E'\\\\'), '"', E'\\"'), E'\n',
				E'\\n')) AS label,
			m.executions_succeeded + m.executions_failed + m.executions_aborted + m.executions_timed_out AS ended,
			coalesce(m.execution_time_ms_avg, 0) AS ms
		FROM @extschema@.sf_metrics m
	), counter(n, field, name, help) AS (
		VALUES (1, 'executions_started', 'executions_started', 'Executions that began, or began anew.'),
			(2, 'executions_succeeded', 'executions_succeeded', 'Executions that ended with status SUCCEEDED.'),
			(3, 'executions_failed', 'executions_failed', 'Executions that ended with status FAILED.'),
			(4, 'executions_aborted', 'executions_aborted', 'Executions that ended with status ABORTED.'),
			(5, 'executions_timed_out', 'executions_timed_out', 'Executions that ended with status TIMED_OUT.'),
			(6, 'executions_throttled', 'executions_throttled', 'Starts that a quota of the owner refused.'),
			(7, 'executions_redriven', 'executions_redriven', 'Redrives.'),
			(8, 'state_transitions', 'state_transitions', 'States entered.'),
			(9, 'retries', 'state_retries', 'States retried by their Retry.')
	), gauge(n, name, help, value) AS (
		SELECT 21, 'activity_tasks_queued', 'Tasks of activities that wait for a worker.',
			coalesce(sum(a.queued), 0)::text FROM @extschema@.sf_activities a
		UNION ALL
		SELECT 22, 'activity_tasks_in_flight', 'Tasks of activities that a worker has.',
			coalesce(sum(a.in_flight), 0)::text FROM @extschema@.sf_activities a
		UNION ALL
		SELECT 23, 'activity_oldest_queued_seconds', 'Age of the oldest task that waits for a worker.',
			round(greatest(coalesce(extract(epoch FROM clock_timestamp() - min(a.oldest_queued_at)), 0), 0), 3)::text
				FROM @extschema@.sf_activities a
		UNION ALL
		SELECT 24, 'dead_letters', 'Tasks that no worker answered.', count(*)::text FROM @extschema@.sf_dead_letters
		UNION ALL
		SELECT 25, 'alerts', 'Alerts that were not acknowledged.', count(*)::text FROM @extschema@.sf_alerts
		UNION ALL
		SELECT 26, 'workers', 'Worker processes.', count(*)::text FROM @extschema@.sf_workers
		UNION ALL
		SELECT 27, 'health_problems', 'Rows of sf_health that are not ok.', (count(*) FILTER (WHERE NOT h.ok))::text
			FROM @extschema@.sf_health h
		UNION ALL
		SELECT 28, 'schedules_failing', 'Schedules that fail, have missed a run or have lost their job.', count(*)::text
		FROM @extschema@.sf_alerts a WHERE a.kind = 'missed_run'
		UNION ALL
		SELECT 29, 'schema_differs', 'Whether library and schema of sfflow differ: nothing runs then.', '0'
--@slot gauges
	), family(n, name, type, help, samples) AS (
		SELECT c.n, format('sfflow_%s_total', c.name), 'counter', c.help,
			string_agg(format(E'sfflow_%s_total%s} %s\n', c.name, m.label, m.counts ->> c.field), ''
				ORDER BY m.state_machine)
				FILTER (WHERE m.state_machine IS NOT NULL)
		FROM counter c
		LEFT JOIN machine m ON true
		GROUP BY c.n, c.name, c.help
		UNION ALL
		SELECT 20, 'sfflow_execution_duration_seconds', 'histogram', 'Time from the start of executions to their end.',
			string_agg(b.lines || format(E'sfflow_execution_duration_seconds_sum%s} %s\nsfflow_execution_duration_seconds_count%s} %s\n',
				m.label, m.ms * m.ended / 1000, m.label, b.executions), '' ORDER BY m.state_machine)
		FROM machine m
		CROSS JOIN LATERAL (
			SELECT string_agg(format(E'sfflow_execution_duration_seconds_bucket%s,le="%s"} %s\n', m.label,
				CASE t.le WHEN 'Infinity' THEN '+Inf' ELSE t.le::text END, t.executions), '' ORDER BY t.le) AS lines,
					max(t.executions) AS executions
			FROM @extschema@.sf_execution_time_buckets t WHERE t.state_machine = m.state_machine) b
		UNION ALL
		SELECT g.n, 'sfflow_' || g.name, 'gauge', g.help, format(E'sfflow_%s %s\n', g.name, g.value)
		FROM gauge g
	)
	SELECT string_agg(format(E'# HELP %s %s\n# TYPE %s %s\n%s', f.name, f.help, f.name, f.type, f.samples), ''
		ORDER BY f.n)
	FROM family f) END;
COMMENT ON FUNCTION @extschema@.sf_prometheus() IS
	'counters, times and gauges of what the caller may read, in the text format of Prometheus';
