-- Alerts, and their acknowledgement.

-- Alerts of executions, acknowledged or not, but for failures: those are only here while open. OFFSET 0 has executions
-- and branches looked up by their numbers: no plan reads all that are stored. The number shown is that of the row which
-- leads to the execution, so that the alerts of one execution are found without those of others.
CREATE VIEW _sfflow.alert AS
SELECT CASE e.status WHEN @STATUS_FAILED@ THEN 'failed' ELSE 'timed_out' END AS kind, f.execution_no, e.execution_id,
	e.machine_no, f.failed_at AS since, concat_ws(': ', CASE WHEN e.cause IS NULL THEN s.state END, e.error,
		e.cause) AS detail
FROM _sfflow.failure f
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = f.execution_no OFFSET 0) e
LEFT JOIN LATERAL (
	SELECT format('state "%s"', p.state) AS state
	FROM _sfflow.branch b
	CROSS JOIN LATERAL _sfflow.branch_names(b.execution_no, b.scope, b.state, b.iterations) p
	WHERE e.cause IS NULL AND b.execution_no = e.execution_no AND b.branch_no = @BRANCH_ROOT@ OFFSET 0) s ON true
WHERE f.is_open AND e.status IN (@STATUS_FAILED@, @STATUS_TIMED_OUT@)
UNION ALL
SELECT 'failed_again', f.execution_no, e.execution_id, e.machine_no, f.failed_at,
	format('it has failed %s times under this id', f.times)
FROM _sfflow.failure f
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = f.execution_no OFFSET 0) e
WHERE f.is_open AND f.times > 1 AND e.status IN (@STATUS_FAILED@, @STATUS_TIMED_OUT@)
UNION ALL
SELECT 'overdue', b.execution_no, e.execution_id, e.machine_no, min(b.due_at),
	format('%s due for more than five minutes',
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
LEFT JOIN _sfflow.task t ON t.execution_no = bb.execution_no AND t.branch_no = bb.branch_no
	AND bb.phase = @PHASE_EXTERNAL@
CROSS JOIN LATERAL (SELECT CASE WHEN t.execution_no IS NULL THEN bb.started_at
	WHEN t.status = @TASK_STATUS_TAKEN@ THEN t.started_at END AS began) b
CROSS JOIN LATERAL _sfflow.branch_names(bb.execution_no, bb.scope, bb.state, bb.iterations) p
JOIN (SELECT u.machine_no, u.job COLLATE "C", u.runs, make_interval(secs => u.ms[2] / 1000) AS p95
	FROM _sfflow.job_usual u) r
	ON r.machine_no = e.machine_no AND r.job = p.state
WHERE bb.phase IN (@PHASE_ANNOUNCED@, @PHASE_EXTERNAL@) AND e.status = @STATUS_RUNNING@ AND b.began IS NOT NULL
	AND r.runs >= 5
	AND now() - b.began > r.p95 * coalesce(current_setting('sfflow.slow_task_factor', true)::integer, 3)
	AND now() - b.began > interval '1 second';

-- What sf_alerts shows, and the name of what each alert is of. target: of an alert of no execution, as sf_alerts has
-- it. by_time: no write opens or clears it, so that sweeps find it (src/feature/rule/time_alerts.c).
CREATE VIEW _sfflow.open_alert AS
SELECT a.kind, a.execution_id COLLATE "C" AS object, a.execution_no, a.execution_id, a.since, a.detail,
	NULL AS target, a.kind IN ('slow_task', 'overdue') AS by_time
FROM _sfflow.alert a
WHERE a.kind IN ('failed', 'timed_out', 'failed_again') OR NOT EXISTS (
	SELECT FROM _sfflow.acknowledgement k
	WHERE k.execution_no = a.execution_no AND k.kind = a.kind
		AND CASE a.kind WHEN 'slow_task' THEN a.since = ANY (k.slow_since) ELSE k.since >= a.since END)
UNION ALL
SELECT 'no_poller', a.activity COLLATE "C", NULL, NULL, a.oldest_queued_at,
	format('activity "%s" has %s queued and %s', a.activity,
	CASE WHEN a.queued = 1 THEN '1 task' ELSE a.queued || ' tasks' END,
	coalesce('nobody has polled it since ' || a.last_polled_at, 'nobody has ever polled it')),
	'activity:' || a.activity, true
FROM @extschema@.sf_activities a
WHERE a.oldest_queued_at < now() - interval '5 minutes'
	AND (a.last_polled_at IS NULL OR a.last_polled_at < now() - interval '5 minutes')
UNION ALL
--@slot alerts
SELECT 'unknown_owner', m.name COLLATE "C", NULL, NULL, NULL,
	format('the owner of state machine "%s" does not exist', m.name), m.name, true
FROM _sfflow.state_machine m
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = m.owner)
	AND _sfflow.can_read(m.name, m.owner);

CREATE VIEW @extschema@.sf_alerts WITH (security_barrier) AS
SELECT a.kind, a.execution_id, a.since, a.detail,
	a.target COLLATE pg_catalog."default" AS target,
	(SELECT x.labels FROM _sfflow.execution x WHERE x.execution_no = a.execution_no) AS labels
FROM _sfflow.open_alert a;
COMMENT ON VIEW @extschema@.sf_alerts IS 'what an operator should look at, and has not acknowledged';
COMMENT ON COLUMN @extschema@.sf_alerts.kind IS
	'such as failed, timed_out, slow_task, dead_letter, no_poller, overdue, missed_run, late or task_due';
COMMENT ON COLUMN @extschema@.sf_alerts.execution_id IS 'the execution, if it is about one';
COMMENT ON COLUMN @extschema@.sf_alerts.since IS 'since when';
COMMENT ON COLUMN @extschema@.sf_alerts.detail IS 'what is wrong';
COMMENT ON COLUMN @extschema@.sf_alerts.target IS
	'what it is about, if not an execution: activity:NAME, schedule:NAME, a machine, or the target of a deadline';
COMMENT ON COLUMN @extschema@.sf_alerts.labels IS 'labels of the execution; null where there are none';

CREATE VIEW @extschema@.sf_acknowledgements WITH (security_barrier) AS
SELECT e.execution_id, k.kind, k.since, k.acknowledged_at, k.acknowledged_by, k.comment
FROM _sfflow.acknowledgement k
JOIN _sfflow.readable_execution e ON e.execution_no = k.execution_no
--@slot acknowledgements
;
COMMENT ON VIEW @extschema@.sf_acknowledgements IS 'the last acknowledgement of each alert of an execution';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.kind IS 'the kind of the alert';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.since IS 'since when the alert was there';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.acknowledged_at IS 'when it was acknowledged';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.acknowledged_by IS 'the role that did so';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.comment IS 'what it said';

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
