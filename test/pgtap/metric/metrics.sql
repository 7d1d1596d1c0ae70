-- What sf_metrics and the views beside it count, folded or not, and what an acknowledged alert is.
BEGIN;
SELECT plan(64);
\ir ../../fixtures/phases.sql

CREATE FUNCTION metric_task(bad boolean, n integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF bad THEN
		PERFORM sf_raise(CASE WHEN n = 0 THEN 'Later' ELSE 'Bad' END);
	END IF;
END $$;
-- A task that is retried once, and a Map of three.
SELECT sf_create_state_machine('metric', format('{"StartAt": "T", "States": {
	"T": {"Type": "Task", "Resource": "sql:%s.metric_task", "Parameters": {"bad.$": "$.bad",
		"n.$": "$$.State.RetryCount"},
		"Retry": [{"ErrorEquals": ["Later"], "IntervalSeconds": 1, "MaxAttempts": 1}], "ResultPath": null, "Next": "M"},
	"M": {"Type": "Map", "ItemsPath": "$.items", "End": true,
		"ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}}}}', current_schema)::json);
-- The same without a history.
SELECT sf_create_state_machine('quiet', definition, options => '{"history": "NONE"}') FROM sf_state_machines
	WHERE state_machine = 'metric';
-- A Distributed Map of three tasks.
SELECT sf_create_state_machine('wide', format('{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "$.items",
		"End": true,
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:%s.metric_task", "Parameters": {"bad": false,
			"n": 0}, "End": true}}}}}}',
	current_schema)::json);
SELECT sf_create_state_machine('slow', '{"StartAt": "W", "TimeoutSeconds": 10, "States": {"W": {"Type": "Wait",
	"Seconds": 3600, "End": true}}}');

CREATE FUNCTION pg_temp.counts(machine text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', executions_started, executions_succeeded, executions_failed, executions_aborted,
		executions_timed_out,
		executions_throttled, state_transitions, executions_redriven, retries) FROM sf_metrics
		WHERE state_machine = machine $$;
CREATE FUNCTION pg_temp.run(id text) RETURNS text LANGUAGE sql AS $$ SELECT sf_run(id, skip_waits => true) $$;

SELECT is(pg_temp.counts('metric'), '0 0 0 0 0 0 0 0 0', 'nothing has happened');
SELECT is((SELECT execution_time_ms_p50 FROM sf_metrics WHERE state_machine = 'metric'), NULL, 'there are no times');
SELECT sf_start('metric', '{"bad": false, "items": [1, 2, 3]}', 'a');
SELECT is(pg_temp.counts('metric'), '0 0 0 0 0 0 0 0 0', 'a start by itself counts nothing');
SELECT pg_temp.run('metric:a');
SELECT is(pg_temp.counts('metric'), '1 1 0 0 0 0 5 0 0', 'an execution, its states and those of its iterations');
SAVEPOINT s;
SELECT sf_start('metric', '{"bad": false, "items": []}', 'undone'), pg_temp.run('metric:undone');
SELECT is(pg_temp.counts('metric'), '2 2 0 0 0 0 7 0 0', 'another one');
ROLLBACK TO s;
SELECT is(pg_temp.counts('metric'), '1 1 0 0 0 0 5 0 0', 'which is rolled back');

-- Failures, retries and redrives
SELECT sf_start('metric', '{"bad": true, "items": []}', 'b'), pg_temp.run('metric:b');
SELECT is(pg_temp.counts('metric'), '2 1 1 0 0 0 6 0 1', 'a failure after a retry');
SELECT sf_redrive('metric:b');
SELECT is(pg_temp.counts('metric'), '2 1 1 0 0 0 6 1 1', 'a redrive');
SELECT pg_temp.run('metric:b');
SELECT is(pg_temp.counts('metric'), '2 1 2 0 0 0 7 1 2', 'which fails, too, and takes nothing back');
SELECT sf_start('metric', '{"bad": false, "items": []}', 'b', 'restart'), pg_temp.run('metric:b');
SELECT is(pg_temp.counts('metric'), '3 2 2 0 0 0 9 1 2', 'a restart is a start');
SELECT is((SELECT concat_ws(' ', state, error, retries) FROM sf_retries WHERE state_machine = 'metric'), 'T Later 2',
	'retries by error');
SELECT is((SELECT concat_ws(' ', job_id, runs, failures) FROM sf_job_times WHERE state_machine = 'metric'), 'T 2 4',
	'runs of a job, and attempts that failed');

-- Stop and timeout
SELECT sf_start('slow', '{}', 'stop'), sf_start('slow', '{}', 'never'), sf_start('slow', '{}', 'late');
SELECT sf_stop('slow:never');
SELECT is(pg_temp.counts('slow'), '1 0 0 1 0 0 0 0 0', 'stopped before it began');
SELECT sf_run('slow:stop'), sf_stop('slow:stop');
SELECT sf_run('slow:late');
UPDATE _sfflow.branch b SET due_at = now() FROM _sfflow.execution e
WHERE e.execution_no = b.execution_no AND e.execution_id = 'slow:late' AND b.phase = pg_temp.phase('TIMEOUT');
SELECT sf_run('slow:late');
SELECT is(pg_temp.counts('slow'), '3 0 0 2 1 0 2 0 0', 'stopped, and timed out');

-- One whose first step cannot be run
SELECT sf_create_state_machine('doomed', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:query",
	"Parameters": {"Statement": "SELECT 1"}, "End": true}}}');
SELECT sf_start('doomed', '{}', 'x');
SET LOCAL sfflow.debug_point = 'step_begin:error';
SELECT sf_run('doomed:x');
SET LOCAL sfflow.debug_point = '';
SELECT is(pg_temp.counts('doomed'), '1 0 1 0 0 0 0 0 0', 'failed before it began');
SELECT is((SELECT string_agg(type, ' ' ORDER BY id) FROM sf_history WHERE execution_id = 'doomed:x'),
	'ExecutionStarted ExecutionFailed', 'which its history says, too');

-- History and Distributed Maps
SELECT sf_start('quiet', '{"bad": true, "items": []}', 'x'), pg_temp.run('quiet:x');
SELECT is(pg_temp.counts('quiet'), '1 0 1 0 0 0 1 0 1', 'without a history it is all the same');
SELECT sf_start('wide', '{"items": [1, 2, 3]}', 'x'), pg_temp.run('wide:x');
SELECT is(pg_temp.counts('wide'), '1 1 0 0 0 0 4 0 0', 'children of a Distributed Map count as states of their parent');
SELECT is((SELECT runs FROM sf_job_times WHERE state_machine = 'wide' AND job_id = 'T'), 3::bigint,
	'and their tasks as runs');

-- Folding changes nothing.
CREATE TEMP TABLE before AS SELECT * FROM sf_metrics;
CREATE TEMP TABLE hours AS SELECT * FROM sf_metrics_by_hour;
CREATE TEMP TABLE jobs AS SELECT * FROM sf_job_times;
CREATE TEMP TABLE retries AS SELECT * FROM sf_retries;
SELECT cmp_ok((SELECT count(*) FROM _sfflow.metric_increment), '>', 10::bigint, 'there are increments');
SELECT is((SELECT count(*) FROM _sfflow.metric_total t JOIN _sfflow.state_machine m USING (machine_no)
		WHERE m.name = 'metric'), 0::bigint, 'and no counters');
CALL sf_run_due(0);
SELECT cmp_ok((SELECT count(*) FROM _sfflow.metric_increment), '>', 10::bigint,
	'sf_run_due leaves them: in a transaction block it would keep the counters locked');
SELECT is((SELECT count(*) FROM pg_locks WHERE relation = '_sfflow.metric_fold'::regclass AND mode = 'RowShareLock'
		AND pid = pg_backend_pid()), 0::bigint,
	'and locks nothing');
SET LOCAL sfflow.debug_point = 'fold-in-block:mutate';	-- the rest of this file needs a block that folds all the same
CALL sf_run_due(0);
SELECT is((SELECT count(*) FROM _sfflow.metric_increment), 0::bigint, 'else it folds them');
SELECT is((SELECT count(*) FROM _sfflow.metric_total t JOIN _sfflow.state_machine m USING (machine_no)
		WHERE m.name = 'metric'), 1::bigint, 'into counters');
SELECT set_eq('SELECT * FROM sf_metrics', 'SELECT * FROM before', 'the metrics are as before');
SELECT set_eq('SELECT * FROM sf_metrics_by_hour', 'SELECT * FROM hours', 'those by hour, too');
SELECT set_eq('SELECT * FROM sf_job_times', 'SELECT * FROM jobs', 'and the times of jobs');
SELECT set_eq('SELECT * FROM sf_retries', 'SELECT * FROM retries', 'and the retries');
SELECT sf_start('metric', '{"bad": false, "items": []}', 'c'), pg_temp.run('metric:c');
SELECT is(pg_temp.counts('metric'), '4 3 2 0 0 0 11 1 2', 'an increment adds to what was folded');
SELECT is((SELECT sum(executions_started) FROM sf_metrics_by_hour WHERE state_machine = 'metric'), 4::numeric,
	'by hour, too');
CALL sf_run_due(0);
SELECT is(pg_temp.counts('metric'), '4 3 2 0 0 0 11 1 2', 'and is folded into the same row');
SELECT sf_purge('0 s');
SELECT is(pg_temp.counts('metric'), '4 3 2 0 0 0 11 1 2', 'a purge takes nothing away');

-- Times: increments as a machine would write them. Tasks of 1 to 100 ms, two weeks ago and now; form 1,
-- then kind 4 of state 0 and a varint of microseconds each.
CREATE FUNCTION pg_temp.task(at timestamptz, us integer) RETURNS void LANGUAGE sql AS $$
	INSERT INTO _sfflow.metric_increment SELECT pg_current_xact_id()::text::bigint, at, machine_no, 1,
		'\x0104' || (SELECT string_agg(decode(lpad(to_hex((us >> s & 127) | CASE WHEN us >> s + 7 > 0 THEN 128
					ELSE 0 END), 2, '0'), 'hex'), '' ORDER BY s)
			FROM generate_series(0, 28, 7) s WHERE s = 0 OR us >> s > 0)
	FROM _sfflow.state_machine WHERE name = 'slow' $$;
SELECT pg_temp.task(now() - interval '10 days', 1000 * n) FROM generate_series(1, 100) n;
CALL sf_run_due(0);
SELECT pg_temp.task(now(), 2000 * n) FROM generate_series(1, 100) n;
SELECT results_eq($$ SELECT runs, round(time_ms_avg), last_ms, recent_runs, round(recent_ms_p50), week_runs,
	previous_week_runs
	FROM sf_job_times WHERE state_machine = 'slow' $$,
	$$ VALUES (200::bigint, 76::double precision, 200::double precision, 30::bigint, 171::double precision, 100::bigint,
		100::bigint) $$,
	'exact numbers, and the last 30 runs');
SELECT cmp_ok(abs(week_ms_p50 / 101 - 1), '<', 0.04::double precision, 'the median of this week') FROM sf_job_times
	WHERE state_machine = 'slow';
SELECT cmp_ok(abs(previous_week_ms_p50 / 50.5 - 1), '<', 0.04::double precision, 'that of the one before')
	FROM sf_job_times WHERE state_machine = 'slow';
SELECT cmp_ok(abs(previous_week_ms_p95 / 95.05 - 1), '<', 0.04::double precision, 'and its 95th percentile')
	FROM sf_job_times WHERE state_machine = 'slow';

-- A definition that this version does not accept any more: its tasks have no names, all else is folded.
SELECT sf_create_state_machine('refused', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:query",
	"Parameters": {"Statement": "SELECT 1"}, "End": true}}}');
UPDATE _sfflow.state_machine_version SET definition = '{"StartAt": "T", "States": {}}'
WHERE machine_no = (SELECT machine_no FROM _sfflow.state_machine WHERE name = 'refused');
-- started, succeeded after 5 and a task of 5 microseconds, a retry
INSERT INTO _sfflow.metric_increment SELECT pg_current_xact_id()::text::bigint, now(), machine_no, 1,
	'\x0100010b050405060103426164'
FROM _sfflow.state_machine WHERE name = 'refused';
SELECT is(pg_temp.counts('refused'), '1 1 0 0 0 0 0 0 1', 'a definition that is refused');
CALL sf_run_due(0);
SELECT is((SELECT count(*) FROM _sfflow.metric_increment), 0::bigint, 'does not stop the fold');
SELECT is(pg_temp.counts('refused'), '1 1 0 0 0 0 0 0 1', 'which counts its executions');
SELECT is_empty($$ SELECT 1 FROM sf_job_times WHERE state_machine = 'refused' $$,
	'and no tasks, whose states have no names');

-- Waits of years: a sum beyond bigint. Kind 3 of status 1 (succeeded) and the largest number of microseconds.
CREATE FUNCTION pg_temp.wait_long() RETURNS void LANGUAGE sql AS $$
	INSERT INTO _sfflow.metric_increment SELECT pg_current_xact_id()::text::bigint, now(), machine_no, 1,
	'\x010bffffffffffffffff7f'
	FROM _sfflow.state_machine WHERE name = 'slow' $$;
SELECT pg_temp.wait_long(), pg_temp.wait_long();
SELECT cmp_ok(execution_time_ms_avg, '>', 1e15::double precision, 'a sum of waits that is too large for an increment')
	FROM sf_metrics WHERE state_machine = 'slow';
CALL sf_run_due(0);
SELECT pg_temp.wait_long();
CALL sf_run_due(0);
SELECT cmp_ok((SELECT time_us FROM _sfflow.metric_total JOIN _sfflow.state_machine USING (machine_no)
		WHERE name = 'slow'), '>=', 2 * 9223372036854775807::numeric, 'and for a bigint');
SELECT is((SELECT executions_succeeded FROM sf_metrics WHERE state_machine = 'slow'), 3::bigint, 'is folded');

-- Histograms
SELECT is(_sfflow.histogram_percentiles('\x'), NULL, 'no durations');
SELECT is(_sfflow.histogram_percentiles('\xffffffffffffffffffff01ffffffff'), NULL, 'bytes that are no histogram');
SELECT is(_sfflow.histogram_percentiles(_sfflow.histogram_add('\x0501', '\x0503')),
	ARRAY[0.005, 0.005, 0.005]::double precision[], 'one bucket');
SELECT is((SELECT _sfflow.histogram_percentiles(_sfflow.histogram_sum(h)) FROM (VALUES ('\x0001'::bytea), ('\x0a02'),
			(NULL)) v(h)),
	ARRAY[0.01, 0.01, 0.01]::double precision[], 'a sum of three');

-- Starts that a quota refuses
CREATE ROLE metric_owner;
ALTER ROLE metric_owner SET sfflow.max_executions_per_owner = 1;
SELECT sf_create_state_machine('narrow', definition) FROM sf_state_machines WHERE state_machine = 'slow';
SELECT sf_alter_owner('narrow', 'metric_owner');
SELECT sf_start('narrow', name => 'a');
SELECT throws_ok($$ SELECT sf_start('narrow', name => 'b') $$, 'SF040');
SELECT throws_ok($$ SELECT sf_start('narrow', name => 'c') $$, 'SF040');
CALL sf_run_due(0);
SELECT is(pg_temp.counts('narrow'), '0 0 0 0 0 2 0 0 0', 'are counted');
CALL sf_run_due(0);
SELECT is(pg_temp.counts('narrow'), '0 0 0 0 0 2 0 0 0', 'once');

-- Alerts
CREATE FUNCTION pg_temp.kinds(id text) RETURNS text LANGUAGE sql AS
	$$ SELECT coalesce(string_agg(kind, ',' ORDER BY kind), '') FROM sf_alerts WHERE execution_id = id $$;
SELECT sf_start('metric', '{"bad": true, "items": []}', n), pg_temp.run('metric:' || n)
	FROM unnest(ARRAY['d', 'e', 'f']) n;
SELECT is(sf_acknowledge('metric:d', 'failed', 'a known defect'), 1, 'a failure is acknowledged');
SELECT is((SELECT string_agg(execution_id, ' ' ORDER BY execution_id) FROM sf_alerts
		WHERE execution_id LIKE 'metric:%'), 'metric:e metric:f', 'and is no alert any more');
SELECT is((SELECT concat_ws(' ', execution_id, kind, acknowledged_by = current_user::regrole, comment)
		FROM sf_acknowledgements),
	'metric:d failed t a known defect', 'it is recorded');
SELECT sf_redrive('metric:d'), pg_temp.run('metric:d');
SELECT is(pg_temp.kinds('metric:d'), 'failed,failed_again', 'a failure after a redrive is new');
SELECT is(sf_acknowledge_all('metric', now() - interval '1 day'), 0::bigint, 'nothing is so old');
SELECT is(sf_acknowledge_all('metric'), 4::bigint, 'all of a machine');
SELECT is((SELECT count(*) FROM sf_alerts WHERE execution_id LIKE 'metric:%'), 0::bigint, 'are gone');

-- An alert that is no failure comes back when its since is a later one.
SELECT sf_start('slow', '{}', 'due');
UPDATE _sfflow.branch b SET due_at = now() - interval '1 h' FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = 'slow:due';
SELECT is(pg_temp.kinds('slow:due'), 'overdue', 'it is overdue');
SELECT is(sf_acknowledge('slow:due', 'failed'), 0, 'which is another kind');
SELECT is(sf_acknowledge('slow:due', 'overdue') || pg_temp.kinds('slow:due'), '1', 'acknowledged');
UPDATE _sfflow.branch b SET due_at = now() - interval '10 min' FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = 'slow:due';
SELECT is(pg_temp.kinds('slow:due'), 'overdue', 'overdue again since a later time');
SELECT throws_like($$ SELECT sf_acknowledge('slow:due', 'dead') $$, 'argument kind must not be "dead"');

SELECT * FROM finish();
ROLLBACK;
