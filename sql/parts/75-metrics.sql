-- Metrics and alerts. A view of metrics adds the counters and the increments that were not folded yet;
-- an increment is in one of the two, in each snapshot. No view reads executions or histories to count.

CREATE FUNCTION _sfflow.histogram_add(histogram bytea, more bytea) RETURNS bytea
AS 'MODULE_PATHNAME', 'sfflow_histogram_add'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE _sfflow.histogram_sum(bytea) (SFUNC = _sfflow.histogram_add, STYPE = bytea, PARALLEL = SAFE);

-- The 50th, 95th and 99th percentile, in milliseconds.
CREATE FUNCTION _sfflow.histogram_percentiles(histogram bytea) RETURNS double precision[]
AS 'MODULE_PATHNAME', 'sfflow_histogram_percentiles'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _sfflow.unfolded_metrics(
	OUT machine_no integer,
	OUT hour timestamptz,
	OUT started bigint,
	OUT succeeded bigint,
	OUT failed bigint,
	OUT aborted bigint,
	OUT timed_out bigint,
	OUT throttled bigint,
	OUT redriven bigint,
	OUT transitions bigint,
	OUT retries bigint,
	OUT time_us bigint,
	OUT time_histogram bytea)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_unfolded_metrics'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 10;

CREATE FUNCTION _sfflow.unfolded_jobs(
	OUT machine_no integer,
	OUT day timestamptz,
	OUT job text,
	OUT runs bigint,
	OUT failures bigint,
	OUT time_us bigint,
	OUT time_histogram bytea,
	OUT recent_us bigint[],
	OUT last_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_unfolded_jobs'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 10;

CREATE FUNCTION _sfflow.unfolded_retries(
	OUT machine_no integer,
	OUT state text,
	OUT error text,
	OUT retries bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_unfolded_retries'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 10;

CREATE VIEW @extschema@.sf_metrics WITH (security_barrier) AS
SELECT m.name AS state_machine, coalesce(x.started, 0) AS executions_started,
	coalesce(x.succeeded, 0) AS executions_succeeded, coalesce(x.failed, 0) AS executions_failed,
	coalesce(x.aborted, 0) AS executions_aborted, coalesce(x.timed_out, 0) AS executions_timed_out,
	coalesce(x.throttled, 0) AS executions_throttled,
	x.time_us::double precision / nullif(x.succeeded + x.failed + x.aborted + x.timed_out, 0) / 1000 AS execution_time_ms_avg,
	p.ms[1] AS execution_time_ms_p50, p.ms[2] AS execution_time_ms_p95, p.ms[3] AS execution_time_ms_p99,
	coalesce(x.transitions, 0) AS state_transitions, coalesce(x.redriven, 0) AS executions_redriven,
	coalesce(x.retries, 0) AS retries
FROM _sfflow.state_machine m
LEFT JOIN (
	SELECT c.machine_no, sum(c.started)::bigint AS started, sum(c.succeeded)::bigint AS succeeded,
		sum(c.failed)::bigint AS failed, sum(c.aborted)::bigint AS aborted, sum(c.timed_out)::bigint AS timed_out,
		sum(c.throttled)::bigint AS throttled, sum(c.redriven)::bigint AS redriven,
		sum(c.transitions)::bigint AS transitions, sum(c.retries)::bigint AS retries, sum(c.time_us) AS time_us,
		_sfflow.histogram_sum(c.time_histogram) AS time_histogram
	FROM (
		SELECT t.machine_no, t.started, t.succeeded, t.failed, t.aborted, t.timed_out, t.throttled, t.redriven,
			t.transitions, t.retries, t.time_us, t.time_histogram
		FROM _sfflow.metric_total t
		UNION ALL
		SELECT u.machine_no, u.started, u.succeeded, u.failed, u.aborted, u.timed_out, u.throttled, u.redriven,
			u.transitions, u.retries, u.time_us, u.time_histogram
		FROM _sfflow.unfolded_metrics() u) c
	GROUP BY c.machine_no) x ON x.machine_no = m.machine_no
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(x.time_histogram) AS ms OFFSET 0) p
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_metrics IS 'the metrics of Step Functions, per state machine';

CREATE VIEW @extschema@.sf_metrics_by_hour WITH (security_barrier) AS
SELECT m.name AS state_machine, x.hour, x.started AS executions_started, x.succeeded AS executions_succeeded,
	x.failed AS executions_failed, x.aborted AS executions_aborted, x.timed_out AS executions_timed_out,
	x.throttled AS executions_throttled,
	x.time_us::double precision / nullif(x.succeeded + x.failed + x.aborted + x.timed_out, 0) / 1000 AS execution_time_ms_avg,
	p.ms[1] AS execution_time_ms_p50, p.ms[2] AS execution_time_ms_p95, p.ms[3] AS execution_time_ms_p99,
	x.transitions AS state_transitions, x.redriven AS executions_redriven, x.retries
FROM _sfflow.state_machine m
JOIN (
	SELECT c.machine_no, c.hour, sum(c.started)::bigint AS started, sum(c.succeeded)::bigint AS succeeded,
		sum(c.failed)::bigint AS failed, sum(c.aborted)::bigint AS aborted, sum(c.timed_out)::bigint AS timed_out,
		sum(c.throttled)::bigint AS throttled, sum(c.redriven)::bigint AS redriven,
		sum(c.transitions)::bigint AS transitions, sum(c.retries)::bigint AS retries, sum(c.time_us) AS time_us,
		_sfflow.histogram_sum(c.time_histogram) AS time_histogram
	FROM (
		SELECT h.machine_no, h.hour, h.started, h.succeeded, h.failed, h.aborted, h.timed_out, h.throttled, h.redriven,
			h.transitions, h.retries, h.time_us, h.time_histogram
		FROM _sfflow.metric_hour h
		UNION ALL
		SELECT u.machine_no, u.hour, u.started, u.succeeded, u.failed, u.aborted, u.timed_out, u.throttled, u.redriven,
			u.transitions, u.retries, u.time_us, u.time_histogram
		FROM _sfflow.unfolded_metrics() u) c
	GROUP BY c.machine_no, c.hour) x ON x.machine_no = m.machine_no
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(x.time_histogram) AS ms OFFSET 0) p
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_metrics_by_hour IS 'the same per hour';

-- The last 30 runs of each job. A function of increments leaves out what the caller may not read, this
-- view does not.
CREATE VIEW _sfflow.job_usual AS
SELECT r.machine_no, r.job, count(*) AS runs, (array_agg(r.us ORDER BY r.n))[1] AS last_us,
	percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY r.us::double precision / 1000) AS ms
FROM (
	SELECT c.machine_no, c.job, d.us, row_number() OVER (PARTITION BY c.machine_no, c.job ORDER BY c.last_at DESC, d.n) AS n
	FROM (
		SELECT f.machine_no, f.job, f.recent_us, f.last_at FROM _sfflow.metric_job f
		UNION ALL
		SELECT u.machine_no, u.job COLLATE "C", u.recent_us, u.last_at FROM _sfflow.unfolded_jobs() u) c
	CROSS JOIN LATERAL unnest(c.recent_us) WITH ORDINALITY d(us, n)) r
WHERE r.n <= 30
GROUP BY r.machine_no, r.job;

CREATE VIEW @extschema@.sf_job_times WITH (security_barrier) AS
SELECT m.name AS state_machine, x.job AS job_id, x.runs, x.failures,
	x.time_us::double precision / nullif(x.runs, 0) / 1000 AS time_ms_avg,
	a.ms[1] AS time_ms_p50, a.ms[2] AS time_ms_p95, a.ms[3] AS time_ms_p99,
	r.last_us::double precision / 1000 AS last_ms, x.last_at,
	coalesce(r.runs, 0) AS recent_runs, r.ms[1] AS recent_ms_p50, r.ms[2] AS recent_ms_p95,
	coalesce(w.week_runs, 0) AS week_runs, b.ms[1] AS week_ms_p50, b.ms[2] AS week_ms_p95,
	coalesce(w.previous_week_runs, 0) AS previous_week_runs, c.ms[1] AS previous_week_ms_p50, c.ms[2] AS previous_week_ms_p95
FROM _sfflow.state_machine m
JOIN (
	SELECT t.machine_no, t.job, sum(t.runs)::bigint AS runs, sum(t.failures)::bigint AS failures,
		sum(t.time_us) AS time_us, _sfflow.histogram_sum(t.time_histogram) AS time_histogram, max(t.last_at) AS last_at
	FROM (
		SELECT f.machine_no, f.job, f.runs, f.failures, f.time_us, f.time_histogram, f.last_at FROM _sfflow.metric_job f
		UNION ALL
		SELECT u.machine_no, u.job COLLATE "C", u.runs, u.failures, u.time_us, u.time_histogram, u.last_at FROM _sfflow.unfolded_jobs() u) t
	GROUP BY t.machine_no, t.job) x ON x.machine_no = m.machine_no
LEFT JOIN _sfflow.job_usual r ON r.machine_no = x.machine_no AND r.job = x.job
LEFT JOIN (
	SELECT d.machine_no, d.job, sum(d.runs) FILTER (WHERE d.is_this)::bigint AS week_runs,
		_sfflow.histogram_sum(d.time_histogram) FILTER (WHERE d.is_this) AS week,
		sum(d.runs) FILTER (WHERE NOT d.is_this)::bigint AS previous_week_runs,
		_sfflow.histogram_sum(d.time_histogram) FILTER (WHERE NOT d.is_this) AS previous_week
	FROM (
		SELECT y.machine_no, y.job, y.runs, y.time_histogram, y.day > now() - interval '168 hours' AS is_this
		FROM (
			SELECT f.machine_no, f.day, f.job, f.runs, f.time_histogram FROM _sfflow.metric_job_day f
			UNION ALL
			SELECT u.machine_no, u.day, u.job COLLATE "C", u.runs, u.time_histogram FROM _sfflow.unfolded_jobs() u) y
		WHERE y.day > now() - interval '336 hours') d
	GROUP BY d.machine_no, d.job) w ON w.machine_no = x.machine_no AND w.job = x.job
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(x.time_histogram) AS ms OFFSET 0) a
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(w.week) AS ms OFFSET 0) b
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(w.previous_week) AS ms OFFSET 0) c
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_job_times IS 'how long the tasks of each job take: ever, in the last 30 runs, in this week and the one before';

CREATE VIEW @extschema@.sf_retries WITH (security_barrier) AS
SELECT m.name AS state_machine, x.state, nullif(x.error, '') AS error, x.retries
FROM _sfflow.state_machine m
JOIN (
	SELECT c.machine_no, c.state, c.error, sum(c.retries)::bigint AS retries
	FROM (
		SELECT f.machine_no, f.state, f.error, f.retries FROM _sfflow.metric_retry f
		UNION ALL
		SELECT u.machine_no, u.state COLLATE "C", u.error COLLATE "C", u.retries FROM _sfflow.unfolded_retries() u) c
	GROUP BY c.machine_no, c.state, c.error) x ON x.machine_no = m.machine_no
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_retries IS 'how often states were retried, by error';

-- Alerts of executions, acknowledged or not, but for failures: those are only here while open. OFFSET 0 has
-- executions and branches looked up by their numbers: no plan reads all that are stored. The number shown is that of the
-- row which leads to the execution, so that the alerts of one execution are found without those of others.
CREATE VIEW _sfflow.alert AS
SELECT CASE e.status WHEN @STATUS_FAILED@ THEN 'failed' ELSE 'timed_out' END AS kind, f.execution_no, e.execution_id,
	e.machine_no, f.failed_at AS since, concat_ws(': ', CASE WHEN e.cause IS NULL THEN s.state END, e.error, e.cause) AS detail
FROM _sfflow.failure f
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = f.execution_no OFFSET 0) e
LEFT JOIN LATERAL (
	SELECT format('state "%s"', p.state) AS state
	FROM _sfflow.branch b
	CROSS JOIN LATERAL _sfflow.branch_place(b.execution_no, b.scope, b.state, b.iterations) p
	WHERE e.cause IS NULL AND b.execution_no = e.execution_no AND b.branch_no = 0 OFFSET 0) s ON true
WHERE f.is_open AND e.status IN (@STATUS_FAILED@, @STATUS_TIMED_OUT@)
UNION ALL
SELECT 'failed_again', f.execution_no, e.execution_id, e.machine_no, f.failed_at,
	format('it has failed %s times under this id', f.times)
FROM _sfflow.failure f
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = f.execution_no OFFSET 0) e
WHERE f.is_open AND f.times > 1 AND e.status IN (@STATUS_FAILED@, @STATUS_TIMED_OUT@)
UNION ALL
SELECT 'overdue', b.execution_no, e.execution_id, e.machine_no, min(b.due_at), format('%s due for more than five minutes',
	CASE WHEN count(*) = 1 THEN '1 branch' ELSE count(*) || ' branches' END)
FROM (SELECT DISTINCT m.owner FROM _sfflow.state_machine m) o
CROSS JOIN LATERAL (
	SELECT d.execution_no, d.due_at FROM _sfflow.branch d
	WHERE d.owner = o.owner AND d.due_at < now() - interval '5 minutes' AND d.phase <> @PHASE_ANNOUNCED@) b
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = b.execution_no OFFSET 0) e
GROUP BY b.execution_no, e.execution_id, e.machine_no
UNION ALL
SELECT 'dead_letter', e.execution_no, e.execution_id, e.machine_no, d.died_at,
	format('state "%s": %s', d.state, concat_ws(': ', d.error, d.cause))
FROM @extschema@.sf_dead_letters d
JOIN _sfflow.execution e ON e.execution_id = d.execution_id
UNION ALL
-- A task that runs far longer than its last runs did.
SELECT 'slow_task', bb.execution_no, e.execution_id, e.machine_no, b.began,
	format('state "%s" has run for %s; of %s runs 95 %% took at most %s', p.state,
		date_trunc('second', now() - b.began), r.runs, date_trunc('milliseconds', r.p95))
FROM _sfflow.branch bb
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = bb.execution_no OFFSET 0) e
LEFT JOIN _sfflow.task t ON t.execution_no = bb.execution_no AND t.branch_no = bb.branch_no AND bb.phase = @PHASE_EXTERNAL@
CROSS JOIN LATERAL (SELECT CASE WHEN t.execution_no IS NULL THEN bb.started_at
	WHEN t.status = @TASK_TAKEN@ THEN t.started_at END AS began) b
CROSS JOIN LATERAL _sfflow.branch_place(bb.execution_no, bb.scope, bb.state, bb.iterations) p
JOIN (SELECT u.machine_no, u.job COLLATE "C", u.runs, make_interval(secs => u.ms[2] / 1000) AS p95 FROM _sfflow.job_usual u) r
	ON r.machine_no = e.machine_no AND r.job = p.state
WHERE bb.phase IN (@PHASE_ANNOUNCED@, @PHASE_EXTERNAL@) AND e.status = @STATUS_RUNNING@ AND b.began IS NOT NULL AND r.runs >= 5
	AND now() - b.began > r.p95 * coalesce(current_setting('sfflow.slow_task_factor', true)::integer, 3)
	AND now() - b.began > interval '1 second';

-- What sf_alerts shows, and the name of what each alert is of.
CREATE VIEW _sfflow.open_alert AS
SELECT a.kind, a.execution_id COLLATE "C" AS object, a.execution_no, a.execution_id, a.since, a.detail
FROM _sfflow.alert a
WHERE a.kind IN ('failed', 'timed_out', 'failed_again') OR NOT EXISTS (
	SELECT FROM _sfflow.acknowledgement k
	WHERE k.execution_no = a.execution_no AND k.kind = a.kind
		AND CASE a.kind WHEN 'slow_task' THEN a.since = ANY (k.slow_since) ELSE k.since >= a.since END)
UNION ALL
SELECT 'no_poller', a.activity COLLATE "C", NULL, NULL, a.oldest_queued_at, format('activity "%s" has %s queued and %s', a.activity,
	CASE WHEN a.queued = 1 THEN '1 task' ELSE a.queued || ' tasks' END,
	coalesce('nobody has polled it since ' || a.last_polled_at, 'nobody has ever polled it'))
FROM @extschema@.sf_activities a
WHERE a.oldest_queued_at < now() - interval '5 minutes'
	AND (a.last_polled_at IS NULL OR a.last_polled_at < now() - interval '5 minutes')
UNION ALL
--@slot alerts
SELECT 'unknown_owner', m.name COLLATE "C", NULL, NULL, NULL, format('the owner of state machine "%s" does not exist', m.name)
FROM _sfflow.state_machine m
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = m.owner)
	AND _sfflow.can_read(m.name, m.owner);

CREATE VIEW @extschema@.sf_alerts WITH (security_barrier) AS
SELECT a.kind, a.execution_id, a.since, a.detail,
	CASE WHEN a.kind = 'no_poller' THEN 'activity:' || a.object WHEN a.kind = 'missed_run' THEN 'schedule:' || a.object
		WHEN a.kind IN ('late', 'will_be_late', 'never_started', 'unknown_owner') THEN a.object END COLLATE pg_catalog."default" AS target
FROM _sfflow.open_alert a;
COMMENT ON VIEW @extschema@.sf_alerts IS 'what an operator should look at, and has not acknowledged';

CREATE VIEW @extschema@.sf_acknowledgements WITH (security_barrier) AS
SELECT e.execution_id, k.kind, k.since, k.acknowledged_at, k.acknowledged_by, k.comment
FROM _sfflow.acknowledgement k
JOIN _sfflow.readable_execution e ON e.execution_no = k.execution_no
--@slot acknowledgements
;
COMMENT ON VIEW @extschema@.sf_acknowledgements IS 'the last acknowledgement of each alert of an execution';

CREATE FUNCTION @extschema@.sf_acknowledge(execution_id text, kind text DEFAULT NULL, comment text DEFAULT NULL)
RETURNS integer
AS 'MODULE_PATHNAME', 'sfflow_sf_acknowledge'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_acknowledge(text, text, text) IS
	'takes alerts of an execution out of sf_alerts until something new happens; returns how many';

CREATE FUNCTION @extschema@.sf_acknowledge_all(
	state_machine text,
	until timestamptz DEFAULT NULL,
	comment text DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_acknowledge_all'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_acknowledge_all(text, timestamptz, text) IS
	'the same for the alerts of all executions of a state machine since a time or before';

GRANT SELECT ON @extschema@.sf_metrics, @extschema@.sf_metrics_by_hour, @extschema@.sf_job_times,
	@extschema@.sf_retries, @extschema@.sf_alerts, @extschema@.sf_acknowledgements TO PUBLIC;
