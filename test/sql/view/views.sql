-- The views of status: what they show, to whom, and at what cost.
\set VERBOSITY terse
\set ON_ERROR_STOP 1
BEGIN;
\getenv abs_srcdir PG_ABS_SRCDIR
\set fixtures :abs_srcdir '/fixtures/status.sql'
\set ECHO none
\i :fixtures
\set ECHO all
SET LOCAL timezone = 'UTC';
SELECT state_machine, version, is_current, execution_id_path, options, created_at FROM sf_state_machines;

DO $$ BEGIN
	PERFORM fixture.execution('nightly', '1');
	PERFORM fixture.event('nightly:1', 0, NULL, '{"id": 1}');
	PERFORM fixture.event('nightly:1', 8, 0, payload_from => 1, previous => 0);
	PERFORM fixture.event('nightly:1', 39, 0, '{"n": 1}', '{"timeoutInSeconds": 60}');
	PERFORM fixture.event('nightly:1', 40, 0);
	PERFORM fixture.event('nightly:1', 42, 0, '{"rows": 3}');
	PERFORM fixture.event('nightly:1', 9, 0, '{"rows": 3}', '{"assignedVariables": {"n": 1}}');
	PERFORM fixture.event('nightly:1', 17, 1, payload_from => 6);
	PERFORM fixture.event('nightly:1', 21, 1);
	PERFORM fixture.event('nightly:1', 8, 2, payload_from => 6);
	PERFORM fixture.event('nightly:1', 39, 2, '{}', previous => 9);
	PERFORM fixture.event('nightly:1', 40, 2);
	PERFORM fixture.event('nightly:1', 43, 2, NULL, '{"error": "E", "cause": "C"}');
	PERFORM fixture.branch('nightly:1', 0, 1, 'JOIN', pending => 2);
	PERFORM fixture.branch('nightly:1', 1, 2, 'RUN', parent => 0, scope => 1, due => '2125-02-05 02:10Z');
	PERFORM fixture.branch('nightly:1', 2, 4, 'ANNOUNCED', parent => 0, scope => 2, branch_index => 1,
		due => '2025-02-05 02:10Z');
	UPDATE _sfflow.branch SET started_at = '2025-02-05 02:00:30Z' WHERE branch_no = 2;
	PERFORM fixture.execution('nightly', '2', 1);
	PERFORM fixture.event('nightly:2', 8, 0, '{}');
	PERFORM fixture.event('nightly:2', 8, 2, '{}');
	PERFORM fixture.execution('nightly', '3', 2, 'E', 'C');
END $$;
INSERT INTO _sfflow.start_request
SELECT execution_no, 1, '2025-02-05 05:00Z', current_user::regrole, 'succeeded', true
FROM _sfflow.execution WHERE execution_id = 'nightly:2';

SELECT execution_id, state_machine, version, name, status, input, output, error, cause FROM sf_executions
	ORDER BY execution_id;
SELECT execution_id, started_at, stopped_at, start_requests, waiting_on FROM sf_executions ORDER BY execution_id;
SELECT id, previous_event_id AS prev, timestamp, type, state,
	replace(details::text, (SELECT rolname FROM pg_roles WHERE oid = 10), 'owner') AS details
FROM sf_history WHERE execution_id = 'nightly:1';
SELECT execution_id, state, branch, resource, status, attempt, scheduled_at, started_at FROM sf_tasks
	ORDER BY execution_id, state;
SELECT execution_id, requested_at, outcome, input_differs FROM sf_start_requests;
INSERT INTO _sfflow.metric_total
SELECT machine_no, 3, 1, 1, 0, 0, 0, 0, 5, 0, 7200000000, '\xca0302' FROM _sfflow.state_machine WHERE name = 'nightly';
SELECT state_machine, executions_started, executions_succeeded, executions_failed, state_transitions,
	execution_time_ms_avg,
	abs(execution_time_ms_p99 / 3600000 - 1) < 0.04 AS p99_is_near FROM sf_metrics;
SELECT * FROM sf_alerts WHERE execution_id = 'nightly:3';

-- Tasks outside the database: one queued, one with a worker, one that waits for its token, one dead.
INSERT INTO _sfflow.activity (activity_no, name, owner, created_at, last_polled_at, last_worker)
VALUES (1000, 'shell', current_user::regrole, '2025-02-05 01:00Z', '2025-02-05 02:05Z', 'host-1');
DO $$ BEGIN
	PERFORM fixture.execution('nightly', 'out');
	FOR i IN 0 .. 3 LOOP
		PERFORM fixture.branch('nightly:out', i, 2 + i, CASE WHEN i < 3 THEN 'EXTERNAL' ELSE 'FAILED' END,
			scope => 1 + i / 2, error => CASE WHEN i = 3 THEN 'Sfflow.MaxReceiveCount' END);
	END LOOP;
END $$;
INSERT INTO _sfflow.task (execution_no, branch_no, activity_no, status, generation, state, attempt, receives,
	scheduled_at, started_at, heartbeat_at, lease_until, timeout_ms, secret, worker, input)
SELECT execution_no, b, CASE WHEN b <> 2 THEN 1000 END, (ARRAY[0, 1, 2, 4])[b + 1], 0, 2 + b, 0, b,
	'2025-02-05 02:00Z', CASE WHEN b IN (1, 3) THEN '2025-02-05 02:01Z'::timestamptz END,
	CASE WHEN b = 1 THEN '2025-02-05 02:02Z'::timestamptz END, CASE WHEN b = 3
		THEN '2025-02-05 02:06Z'::timestamptz END,
	3600000, '', CASE WHEN b = 1 THEN 'host-1' END, '{"a": 1}'
FROM _sfflow.execution, generate_series(0, 3) b WHERE execution_id = 'nightly:out';
SELECT state, branch, status, scheduled_at, started_at, deadline, heartbeat_at, worker FROM sf_tasks
	WHERE execution_id = 'nightly:out' ORDER BY state;
SELECT activity, queued, oldest_queued_at, in_flight, last_polled_at, last_worker FROM sf_activities
	WHERE activity = 'shell';
SELECT execution_id, state, branch, resource, input, error, cause, receives, died_at FROM sf_dead_letters;
SELECT sf_grant('WORK', 'activity:shell', 'public'),
	sf_grant('WORK', 'arn:aws:states:us-east-1:000000000000:activity:shell', 'pg_monitor');
SELECT object_kind, object_name, role, privilege FROM _sfflow.privilege WHERE object_name = 'shell' ORDER BY role;
SELECT sf_revoke('WORK', 'activity:shell', 'public'), sf_revoke('WORK', 'activity:shell', 'pg_monitor');
DELETE FROM _sfflow.branch USING _sfflow.execution e WHERE branch.execution_no = e.execution_no
	AND e.execution_id = 'nightly:out';
DELETE FROM _sfflow.task;
DELETE FROM _sfflow.execution WHERE execution_id = 'nightly:out';

-- What waits for what, in words.
DO $$ BEGIN
	PERFORM fixture.execution('nightly', 'words');
	PERFORM fixture.branch('nightly:words', 0, 0, 'WAIT', due => '2125-02-05 02:10Z');
END $$;
SELECT waiting_on FROM sf_executions WHERE execution_id = 'nightly:words';
UPDATE _sfflow.branch b SET phase = pg_temp.phase('EXTERNAL')
FROM _sfflow.execution e WHERE e.execution_no = b.execution_no
	AND e.execution_id = 'nightly:words';
SELECT waiting_on FROM sf_executions WHERE execution_id = 'nightly:words';
DO $$ BEGIN
	FOR i IN 1 .. 5 LOOP
		PERFORM fixture.branch('nightly:words', i, 2, 'ENTER', parent => 0, scope => 1, due => now());
	END LOOP;
END $$;
SELECT waiting_on FROM sf_executions WHERE execution_id = 'nightly:words';

-- A place within Maps is named as sf_jobs names it; what is not an array of indexes does no harm.
SELECT fixture.machine('days', '{"StartAt": "Stores", "States": {"Stores": {"Type": "Map", "End": true,
	"ItemProcessor": {"StartAt": "Days", "States": {"Days": {"Type": "Map", "End": true,
		"ItemProcessor": {"StartAt": "Load", "States": {"Load": {"Type": "Task", "Resource": "sql:f",
			"End": true}}}}}}}}}') > 0 AS made;
DO $$ BEGIN
	PERFORM fixture.execution('days', '1');
	PERFORM fixture.branch('days:1', 0, 2, 'ANNOUNCED', scope => 2, iterations => '{1,7}', due => '2025-02-05 02:00Z');
END $$;
SELECT e.waiting_on, t.state, t.branch FROM sf_executions e JOIN sf_tasks t USING (execution_id)
	WHERE execution_id = 'days:1';
SELECT _sfflow.job_name(execution_no, 'Load', i) AS label, _sfflow.branch_names(execution_no, 2, 2, i) AS place
FROM _sfflow.execution, (VALUES ('{1,7}'::integer[]), ('{1}'), ('{}'), (NULL), ('{1,NULL}'), ('{1,2,3,4}'),
	('{{1,2},{3,4}}')) v(i)
WHERE execution_id = 'days:1';
DELETE FROM _sfflow.branch USING _sfflow.execution e WHERE branch.execution_no = e.execution_no
	AND e.execution_id = 'days:1';
DELETE FROM _sfflow.execution WHERE execution_id = 'days:1';
DELETE FROM _sfflow.state_machine WHERE name = 'days';

-- One execution out of 10,000 is found by its id, in every view; the filter of rights runs on the
-- machine's row, not on each execution.
INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, requested_at, stopped_at, execution_id, input)
SELECT nextval('_sfflow.execution_no'), machine_no, 1, 1, now(), now(), 'nightly:x' || i, '{}'
FROM _sfflow.state_machine, generate_series(1, 10000) i WHERE name = 'nightly';
INSERT INTO _sfflow.start_request
SELECT execution_no, 2, now(), current_user::regrole, 'succeeded', false FROM _sfflow.execution;
INSERT INTO _sfflow.branch (execution_no, branch_no, owner, scope, state, phase)
SELECT execution_no, 100, current_user::regrole, 0, 0, pg_temp.phase('EXTERNAL')
FROM _sfflow.execution WHERE status = 1;
INSERT INTO _sfflow.state_machine (name, owner, current_version, created_at)
SELECT 'other' || i, 'pg_monitor', 1, now() FROM generate_series(1, 1000) i;
ANALYZE _sfflow.execution, _sfflow.state_machine, _sfflow.branch, _sfflow.start_request;
SET LOCAL plan_cache_mode = force_generic_plan;
PREPARE executions(text) AS SELECT * FROM sf_executions WHERE execution_id = $1;
PREPARE jobs(text) AS SELECT * FROM sf_jobs WHERE execution_id = $1;
PREPARE history(text) AS SELECT * FROM sf_history WHERE execution_id = $1;
PREPARE tasks(text) AS SELECT * FROM sf_tasks WHERE execution_id = $1;
PREPARE requests(text) AS SELECT * FROM sf_start_requests WHERE execution_id = $1;
-- Of the plan of sf_executions, which depends on the release in its joins: how executions are read.
CREATE FUNCTION pg_temp.scans_of_executions() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXPLAIN (COSTS OFF) EXECUTE executions('nightly:1') LOOP
		IF line LIKE '%Scan%on execution e%' THEN
			RETURN NEXT substring(line, '\w+ Scan.*(?=_)');
		END IF;
	END LOOP;
END $$;
SELECT * FROM pg_temp.scans_of_executions();
EXPLAIN (COSTS OFF) EXECUTE jobs('nightly:1');
EXPLAIN (COSTS OFF) EXECUTE history('nightly:1');
EXPLAIN (COSTS OFF) EXECUTE tasks('nightly:1');
EXPLAIN (COSTS OFF) EXECUTE requests('nightly:1');
-- Functions of one execution are called for that execution only.
-- (Without what releases of PostgreSQL count and print in ways of their own.)
CREATE FUNCTION pg_temp.loops(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || statement LOOP
		CONTINUE WHEN line ~ 'Index Searches';
		RETURN NEXT regexp_replace(line, 'rows=[0-9.]+ ', '');
	END LOOP;
END $$;
SELECT pg_temp.loops($$EXECUTE jobs('nightly:1')$$);

DELETE FROM _sfflow.start_request WHERE request_no = 2;

-- One start, a task of 5 ms and a retry because of the error E that were not folded.
INSERT INTO _sfflow.metric_increment
SELECT pg_current_xact_id()::text::bigint, '2025-02-05 02:00Z', machine_no, 1, '\x010001048827060101' || 'E'::bytea
	FROM _sfflow.state_machine WHERE name = 'nightly';
-- Somebody else sees nothing, not even through the private functions, until it is given READ.
CREATE ROLE regress_sfflow_reader;
CREATE TEMP TABLE target AS SELECT execution_no, machine_no FROM _sfflow.execution WHERE execution_id = 'nightly:1';
GRANT SELECT ON target TO regress_sfflow_reader;
CREATE FUNCTION pg_temp.seen() RETURNS TABLE (what text, rows bigint) LANGUAGE sql AS $$
	SELECT 'state_machines', count(*) FROM sf_state_machines
	UNION ALL SELECT 'executions', count(*) FROM sf_executions WHERE execution_id < 'nightly:w'
	UNION ALL SELECT 'jobs', count(*) FROM sf_jobs WHERE execution_id = 'nightly:1'
	UNION ALL SELECT 'job_relations', count(*) FROM sf_job_relations
	UNION ALL SELECT 'history', count(*) FROM sf_history WHERE execution_id = 'nightly:1'
	UNION ALL SELECT 'tasks', count(*) FROM sf_tasks
	UNION ALL SELECT 'start_requests', count(*) FROM sf_start_requests
	UNION ALL SELECT 'metrics', count(*) FROM sf_metrics
	UNION ALL SELECT 'metrics by hour', count(*) FROM sf_metrics_by_hour
	UNION ALL SELECT 'job times', count(*) FROM sf_job_times
	UNION ALL SELECT 'retries', count(*) FROM sf_retries
	UNION ALL SELECT 'alerts', count(*) FROM sf_alerts
	UNION ALL SELECT 'acknowledgements', count(*) FROM sf_acknowledgements
	UNION ALL SELECT 'private metrics', count(*) FROM _sfflow.unfolded_metrics()
	UNION ALL SELECT 'private job times', count(*) FROM _sfflow.unfolded_jobs()
	UNION ALL SELECT 'private retries', count(*) FROM _sfflow.unfolded_retries()
	UNION ALL SELECT 'activities', count(*) FROM sf_activities
	UNION ALL SELECT 'private history', count(*) FROM target, _sfflow.history(execution_no)
	UNION ALL SELECT 'private jobs', count(*) FROM target, _sfflow.jobs(execution_no)
	UNION ALL SELECT 'private relations', count(*) FROM target, _sfflow.job_relations(machine_no, 1)
$$;
GRANT USAGE ON SCHEMA public TO PUBLIC;
SET LOCAL ROLE regress_sfflow_reader;
SELECT * FROM pg_temp.seen() WHERE rows > 0;
SELECT _sfflow.waiting_on(execution_no) IS NULL AS hidden FROM target;
RESET ROLE;
SELECT sf_grant('READ', 'nightly', 'regress_sfflow_reader');
SET LOCAL ROLE regress_sfflow_reader;
SELECT * FROM pg_temp.seen();
-- A function of the reader's that tells what it is shown is not shown what it may not see.
RESET ROLE;
SELECT sf_revoke('READ', 'nightly', 'regress_sfflow_reader');
SET LOCAL ROLE regress_sfflow_reader;
CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
	$$ BEGIN RAISE NOTICE 'leaked %', $1; RETURN true; END $$;
SELECT count(*) FROM sf_executions WHERE pg_temp.leak(execution_id);
\set ON_ERROR_STOP 0
SAVEPOINT s;
SELECT * FROM _sfflow.execution;
ROLLBACK TO s;
ROLLBACK;
