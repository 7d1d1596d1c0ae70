-- Metrics: the counters that the increments, which slices write (sql/parts/store/statistics.sql), are folded into. A
-- view of metrics adds the counters and the increments that were not folded yet; an increment is in one of the two, in
-- each snapshot. No view reads executions or histories to count.

--@into tables
-- The one row, made by the first fold, is locked by the transaction that folds. Increments of transactions
-- before from_xid were folded, but for those that were open. It holds for this database alone, and is not
-- dumped; sf_enable() forgets it, since rows may have been loaded.
CREATE TABLE _sfflow.metric_fold (
	only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
	system_identifier bigint,
	database_oid oid,
	from_xid bigint,
	open_xids bigint[],
	CONSTRAINT metric_fold_horizon CHECK (num_nulls(system_identifier, database_oid, from_xid, open_xids) IN (0, 4))
) WITH (fillfactor = 10);

-- Counters of a state machine. time_us: of executions that have ended, a sum that may exceed a bigint
-- (292,000 years); its histogram: src/feature/metric/histogram.h.
CREATE TABLE _sfflow.metric_total (
	machine_no integer NOT NULL PRIMARY KEY,
	started bigint NOT NULL,
	succeeded bigint NOT NULL,
	failed bigint NOT NULL,
	aborted bigint NOT NULL,
	timed_out bigint NOT NULL,
	throttled bigint NOT NULL,
	redriven bigint NOT NULL,
	transitions bigint NOT NULL,
	retries bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL
) WITH (fillfactor = 50);

-- The same by hour (UTC).
CREATE TABLE _sfflow.metric_hour (
	machine_no integer NOT NULL,
	hour timestamptz NOT NULL,
	started bigint NOT NULL,
	succeeded bigint NOT NULL,
	failed bigint NOT NULL,
	aborted bigint NOT NULL,
	timed_out bigint NOT NULL,
	throttled bigint NOT NULL,
	redriven bigint NOT NULL,
	transitions bigint NOT NULL,
	retries bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL,
	PRIMARY KEY (machine_no, hour)
) WITH (fillfactor = 90);

-- Tasks of a state, by its name. recent_us: durations of its last runs, the latest first.
CREATE TABLE _sfflow.metric_job (
	machine_no integer NOT NULL,
	job text COLLATE "C" NOT NULL,
	runs bigint NOT NULL,
	failures bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL,
	recent_us bigint[] NOT NULL,
	last_at timestamptz,
	PRIMARY KEY (machine_no, job)
) WITH (fillfactor = 50);

-- The same by day (UTC).
CREATE TABLE _sfflow.metric_job_day (
	machine_no integer NOT NULL,
	day timestamptz NOT NULL,
	job text COLLATE "C" NOT NULL,
	runs bigint NOT NULL,
	failures bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL,
	PRIMARY KEY (machine_no, day, job)
) WITH (fillfactor = 90);

CREATE TABLE _sfflow.metric_retry (
	machine_no integer NOT NULL,
	state text COLLATE "C" NOT NULL,
	error text COLLATE "C" NOT NULL,
	retries bigint NOT NULL,
	PRIMARY KEY (machine_no, state, error)
) WITH (fillfactor = 50);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_total', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_hour', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_job', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_job_day', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_retry', '');

--@into functions
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

-- The counters of state machines, with what was not folded yet.
CREATE VIEW _sfflow.metric_sum AS
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
GROUP BY c.machine_no;

CREATE VIEW @extschema@.sf_metrics WITH (security_barrier) AS
SELECT m.name AS state_machine, coalesce(x.started, 0) AS executions_started,
	coalesce(x.succeeded, 0) AS executions_succeeded, coalesce(x.failed, 0) AS executions_failed,
	coalesce(x.aborted, 0) AS executions_aborted, coalesce(x.timed_out, 0) AS executions_timed_out,
	coalesce(x.throttled, 0) AS executions_throttled,
	x.time_us::double precision / nullif(x.succeeded + x.failed + x.aborted + x.timed_out,
		0) / 1000 AS execution_time_ms_avg,
	p.ms[1] AS execution_time_ms_p50, p.ms[2] AS execution_time_ms_p95, p.ms[3] AS execution_time_ms_p99,
	coalesce(x.transitions, 0) AS state_transitions, coalesce(x.redriven, 0) AS executions_redriven,
	coalesce(x.retries, 0) AS retries
FROM _sfflow.state_machine m
LEFT JOIN _sfflow.metric_sum x ON x.machine_no = m.machine_no
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(x.time_histogram) AS ms OFFSET 0) p
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_metrics IS 'the metrics of Step Functions, per state machine';

CREATE VIEW @extschema@.sf_metrics_by_hour WITH (security_barrier) AS
SELECT m.name AS state_machine, x.hour, x.started AS executions_started, x.succeeded AS executions_succeeded,
	x.failed AS executions_failed, x.aborted AS executions_aborted, x.timed_out AS executions_timed_out,
	x.throttled AS executions_throttled,
	x.time_us::double precision / nullif(x.succeeded + x.failed + x.aborted + x.timed_out,
		0) / 1000 AS execution_time_ms_avg,
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
	SELECT c.machine_no, c.job, d.us, row_number() OVER (PARTITION BY c.machine_no, c.job ORDER BY c.last_at DESC,
		d.n) AS n
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
	coalesce(w.previous_week_runs, 0) AS previous_week_runs, c.ms[1] AS previous_week_ms_p50,
		c.ms[2] AS previous_week_ms_p95
FROM _sfflow.state_machine m
JOIN (
	SELECT t.machine_no, t.job, sum(t.runs)::bigint AS runs, sum(t.failures)::bigint AS failures,
		sum(t.time_us) AS time_us, _sfflow.histogram_sum(t.time_histogram) AS time_histogram, max(t.last_at) AS last_at
	FROM (
		SELECT f.machine_no, f.job, f.runs, f.failures, f.time_us, f.time_histogram, f.last_at FROM _sfflow.metric_job f
		UNION ALL
		SELECT u.machine_no, u.job COLLATE "C", u.runs, u.failures, u.time_us, u.time_histogram, u.last_at
			FROM _sfflow.unfolded_jobs() u) t
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
COMMENT ON VIEW @extschema@.sf_job_times IS
	'how long the tasks of each job take: ever, in the last 30 runs, in this week and the one before';

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

COMMENT ON COLUMN @extschema@.sf_metrics.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_started IS 'executions that began, or began anew';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_succeeded IS 'ends with status SUCCEEDED';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_failed IS 'ends with status FAILED';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_aborted IS 'ends with status ABORTED';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_timed_out IS 'ends with status TIMED_OUT';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_throttled IS 'starts that a quota of the owner refused';
COMMENT ON COLUMN @extschema@.sf_metrics.execution_time_ms_avg IS 'average time from start to end, in milliseconds';
COMMENT ON COLUMN @extschema@.sf_metrics.execution_time_ms_p50 IS 'the time that half of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics.execution_time_ms_p95 IS 'the time that 95 % of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics.execution_time_ms_p99 IS 'the time that 99 % of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics.state_transitions IS 'states entered';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_redriven IS 'redrives';
COMMENT ON COLUMN @extschema@.sf_metrics.retries IS 'states retried by their Retry';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.hour IS 'when the hour began; hours are those of UTC';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_started IS 'executions that began, or began anew';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_succeeded IS 'ends with status SUCCEEDED';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_failed IS 'ends with status FAILED';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_aborted IS 'ends with status ABORTED';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_timed_out IS 'ends with status TIMED_OUT';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_throttled IS 'starts that a quota of the owner refused';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.execution_time_ms_avg IS
	'average time from start to end, in milliseconds';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.execution_time_ms_p50 IS
	'the time that half of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.execution_time_ms_p95 IS
	'the time that 95 % of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.execution_time_ms_p99 IS
	'the time that 99 % of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.state_transitions IS 'states entered';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_redriven IS 'redrives';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.retries IS 'states retried by their Retry';
COMMENT ON COLUMN @extschema@.sf_job_times.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_job_times.job_id IS 'the name of the Task state; iterations of a Map together';
COMMENT ON COLUMN @extschema@.sf_job_times.runs IS 'tasks that succeeded';
COMMENT ON COLUMN @extschema@.sf_job_times.failures IS 'attempts that failed or timed out';
COMMENT ON COLUMN @extschema@.sf_job_times.time_ms_avg IS 'average time of all runs, in milliseconds';
COMMENT ON COLUMN @extschema@.sf_job_times.time_ms_p50 IS 'the time that half of the runs do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.time_ms_p95 IS 'the time that 95 % of the runs do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.time_ms_p99 IS 'the time that 99 % of the runs do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.last_ms IS 'the time of the last run';
COMMENT ON COLUMN @extschema@.sf_job_times.last_at IS 'when the last run was counted';
COMMENT ON COLUMN @extschema@.sf_job_times.recent_runs IS 'the last runs, at most 30';
COMMENT ON COLUMN @extschema@.sf_job_times.recent_ms_p50 IS 'the time that half of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.recent_ms_p95 IS 'the time that 95 % of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.week_runs IS 'runs of the last seven days of UTC, with today';
COMMENT ON COLUMN @extschema@.sf_job_times.week_ms_p50 IS 'the time that half of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.week_ms_p95 IS 'the time that 95 % of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.previous_week_runs IS 'runs of the seven days before';
COMMENT ON COLUMN @extschema@.sf_job_times.previous_week_ms_p50 IS 'the time that half of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.previous_week_ms_p95 IS 'the time that 95 % of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_retries.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_retries.state IS 'the name of the state';
COMMENT ON COLUMN @extschema@.sf_retries.error IS
	'the error that was retried; (other): one beyond the 200 that are told apart';
COMMENT ON COLUMN @extschema@.sf_retries.retries IS 'how often';

-- For each of some durations in microseconds, how many in the histogram are shorter. A bucket counts where its
-- least duration is shorter.
CREATE FUNCTION _sfflow.histogram_below(histogram bytea, us bigint[]) RETURNS bigint[]
AS 'MODULE_PATHNAME', 'sfflow_histogram_below'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE VIEW @extschema@.sf_execution_time_buckets WITH (security_barrier) AS
SELECT m.name AS state_machine, b.seconds AS le, b.executions
FROM _sfflow.state_machine m
JOIN (
	SELECT c.machine_no, _sfflow.histogram_sum(c.time_histogram) AS histogram
	FROM (
		SELECT t.machine_no, t.time_histogram FROM _sfflow.metric_total t
		UNION ALL
		SELECT u.machine_no, u.time_histogram FROM _sfflow.unfolded_metrics() u) c
	GROUP BY c.machine_no) x ON x.machine_no = m.machine_no
CROSS JOIN (VALUES ('{0.01,0.05,0.1,0.5,1,5,10,30,60,300,900,1800,3600,7200,14400,28800,86400,Infinity}'::double precision[])) l(seconds)
CROSS JOIN LATERAL unnest(l.seconds, _sfflow.histogram_below(x.histogram,
	ARRAY(SELECT CASE WHEN s.seconds = 'Infinity' THEN 9223372036854775807 ELSE (s.seconds * 1000000)::bigint END
		FROM unnest(l.seconds) WITH ORDINALITY s(seconds, n) ORDER BY s.n))) b(seconds, executions)
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_execution_time_buckets IS
	'how many executions have ended within some times from their start, as a histogram of Prometheus';
COMMENT ON COLUMN @extschema@.sf_execution_time_buckets.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_execution_time_buckets.le IS 'a time in seconds, at last Infinity';
COMMENT ON COLUMN @extschema@.sf_execution_time_buckets.executions IS
	'executions that ended within this time; the count never decreases';
GRANT SELECT ON @extschema@.sf_execution_time_buckets TO PUBLIC;
--@into public_functions
		histogram_add, histogram_below, histogram_percentiles, histogram_sum, unfolded_jobs, unfolded_metrics,
		unfolded_retries,
