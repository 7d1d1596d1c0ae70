-- sf_night and sf_progress: where executions stand, what they usually take, and when they are expected to end.
-- needs: hold
BEGIN;
SELECT plan(51);

CREATE ROLE night_reader;
CREATE FUNCTION night_task(payload jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
CREATE FUNCTION pg_temp.task(job text, further text) RETURNS text LANGUAGE sql AS $$
	SELECT format('"%s": {"Type": "Task", "Resource": "sql:%s.night_task", "ResultPath": null, %s}', job,
		current_schema, further) $$;
SELECT sf_create_state_machine('night', format('{"StartAt": "A", "States": {%s,
	"Both": {"Type": "Parallel", "Branches": [{"StartAt": "B", "States": {%s, %s}}, {"StartAt": "D", "States": {%s}}],
		"ResultPath": null, "Next": "W"},
	"W": {"Type": "Wait", "Seconds": 30, "Next": "Which"},
	"Which": {"Type": "Choice", "Choices": [{"Variable": "$.e", "BooleanEquals": true, "Next": "E"}], "Default": "F"},
	%s, %s,
	"Each": {"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 2, "ItemProcessor": {"StartAt": "T",
		"States": {%s}}, "End": true},
	"Unused": {"Type": "Wait", "Seconds": 5, "Next": "A"}}}',
	pg_temp.task('A', '"Next": "Both", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Unused"}]'),
	pg_temp.task('B', '"Next": "C"'), pg_temp.task('C', '"End": true'),
	pg_temp.task('D', '"End": true'), pg_temp.task('E', '"Next": "Each"'), pg_temp.task('F', '"Next": "Each"'),
	pg_temp.task('T', '"End": true'))::json) \g /dev/null
CREATE FUNCTION pg_temp.progress(id text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', status, done || '/' || total, extract(epoch FROM remaining)::int) FROM sf_progress(id) $$;

-- Nothing has run before.
SELECT sf_start('night', '{"e": false, "items": [1, 2, 3, 4, 5]}', '1') \g /dev/null
SELECT is(pg_temp.progress('night:1'), 'RUNNING 0/6', 'without earlier runs no time is told');
SELECT is((SELECT took IS NULL AND usual IS NULL AND eta IS NULL FROM sf_progress('night:1')), true,
	'... and none has passed');

-- Each job has taken its time.
INSERT INTO _sfflow.metric_job (machine_no, job, runs, failures, time_us, time_histogram, recent_us, last_at)
SELECT m.machine_no, j.job, 3, 0, 0, '', array_fill(j.s * 1000000::bigint, ARRAY[30]), now()
FROM _sfflow.state_machine m, (VALUES ('A', 10), ('B', 20), ('C', 30), ('D', 100), ('E', 5), ('F', 50), ('T', 7))
AS j(job, s)
WHERE m.name = 'night';
SELECT is(pg_temp.progress('night:1'), 'RUNNING 0/6 197',
	'A, D beside B and C, the wait, F rather than E, an iteration');
SELECT is((SELECT eta FROM sf_progress('night:1')), date_trunc('second', (SELECT eta FROM sf_progress('night:1'))),
	'times are told to the second');
SELECT cmp_ok((SELECT eta FROM sf_progress('night:1')), '>=',
	date_trunc('second', clock_timestamp() + interval '196 s'), '... and lie ahead');
SELECT results_eq($$ SELECT waiting_on, next FROM sf_progress('night:1') $$, $$ VALUES ('"A" due', 'B, D') $$,
	'what it waits for, and what comes next');

SELECT sf_hold('night/B'), sf_hold('night/D') \g /dev/null
SELECT sf_run('night:1') \g /dev/null
SELECT is(pg_temp.progress('night:1'), 'RUNNING 1/6 187', 'A is done');
SELECT results_eq($$ SELECT waiting_on, next FROM sf_progress('night:1') $$, $$ VALUES ('"B" held, "D" held',
		'C, E, F') $$, 'two branches are held');
SELECT sf_release('night/D') \g /dev/null
SELECT sf_run('night:1') \g /dev/null
SELECT is(pg_temp.progress('night:1'), 'RUNNING 2/6 137', 'B and C are left, and what follows');
SELECT sf_release('night/B') \g /dev/null
SELECT sf_run('night:1') \g /dev/null
SELECT is(pg_temp.progress('night:1'), 'RUNNING 4/6 87', 'the wait, F and an iteration; which of E and F is not known');
SELECT sf_hold('night/T') \g /dev/null
SELECT is(sf_run('night:1', true), 'RUNNING', 'up to the Map');
SELECT is(pg_temp.progress('night:1'), 'RUNNING 5/10 21',
	'two of five iterations have begun, so there are three rounds; the jobs of all count');
SELECT sf_release('night/T') \g /dev/null
SELECT is(sf_run('night:1', true), 'SUCCEEDED', 'to the end');
SELECT is(pg_temp.progress('night:1'), 'SUCCEEDED 10/10', 'all is done');
SELECT results_eq($$ SELECT remaining IS NULL, eta IS NULL, waiting_on IS NULL, next IS NULL, took = usual
	FROM sf_progress('night:1') $$,
	$$ VALUES (true, true, true, true, true) $$, 'nothing is left, and it took what is usual');

-- A task that runs, and one that takes longer than usual.
SELECT sf_create_activity('night_activity') \g /dev/null
SELECT sf_create_state_machine('outside', '{"StartAt": "O", "States": {"O": {"Type": "Task",
	"Resource": "activity:night_activity", "End": true}}}') \g /dev/null
INSERT INTO _sfflow.metric_job (machine_no, job, runs, failures, time_us, time_histogram, recent_us, last_at)
SELECT m.machine_no, 'O', 1, 0, 0, '', ARRAY[60000000], now() FROM _sfflow.state_machine m WHERE m.name = 'outside';
SELECT sf_start('outside', name => '1'), sf_run('outside:1') \g /dev/null
UPDATE _sfflow.branch b SET entered_at = now() - interval '20 s', started_at = NULL FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = 'outside:1';
SELECT ok((SELECT remaining BETWEEN '30 s' AND '40 s' FROM sf_progress('outside:1')),
	'a task has run for 20 s of a minute');
UPDATE _sfflow.branch b SET entered_at = now() - interval '1 hour' FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = 'outside:1';
SELECT is((SELECT remaining FROM sf_progress('outside:1')), '0 s',
	'one that takes longer than usual is expected to end at once');

-- A machine that keeps no history, and a Distributed Map.
SELECT sf_create_state_machine('quiet', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}',
	options => '{"history": "NONE"}') \g /dev/null
SELECT sf_start('quiet', name => '1') \g /dev/null
SELECT is(pg_temp.progress('quiet:1'), 'RUNNING', 'without a history jobs are not counted');
SELECT sf_create_state_machine('wide', format('{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "$.items",
		"End": true,
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "X",
		"States": {%s}}}}}', pg_temp.task('X', '"End": true'))::json) \g /dev/null
SELECT sf_start('wide', '{"items": [1, 2, 3]}', '1'), sf_step('wide:1') \g /dev/null
INSERT INTO _sfflow.metric_job (machine_no, job, runs, failures, time_us, time_histogram, recent_us, last_at)
SELECT m.machine_no, 'X', 1, 0, 0, '', ARRAY[5000000], now() FROM _sfflow.state_machine m WHERE m.name = 'wide';
SELECT is(pg_temp.progress('wide:1'), 'RUNNING 0/3 5', 'items count as jobs');
UPDATE _sfflow.map_run r SET items_succeeded = 2, started_at = clock_timestamp() - interval '10 min'
	FROM _sfflow.execution e WHERE e.execution_no = r.execution_no AND e.execution_id = 'wide:1';
SELECT is(pg_temp.progress('wide:1'), 'RUNNING 2/3 300', 'the third takes half of what two took');

-- The night.
CREATE FUNCTION pg_temp.night(since interval DEFAULT NULL, until interval DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(n.target || ' ' || n.state, ', '), '') FROM sf_night(now() + since, now() + until)
	AS n $$;
SELECT is(pg_temp.night(), 'night:1 SUCCEEDED, outside:1 RUNNING, quiet:1 RUNNING, wide:1 RUNNING',
	'the executions of a day, without items of a Map');
SELECT results_eq($$ SELECT planned_at <= started_at, ended_at, took >= '0 s', usual, detail, next FROM sf_night()
	WHERE target = 'outside:1' $$,
	$$ VALUES (true, NULL::timestamptz, true, NULL::interval, 'task "O" handed out', NULL::text) $$,
	'what one waits for');
SELECT results_eq($$ SELECT ended_at >= started_at, took = usual, expected_end, detail, next FROM sf_night()
	WHERE target = 'night:1' $$,
	$$ VALUES (true, true, NULL::timestamptz, NULL::text, NULL::text) $$, 'what one took that is over');
SELECT is((SELECT expected_end - date_trunc('second', clock_timestamp()) BETWEEN '299 s' AND '330 s' FROM sf_night()
		WHERE target = 'wide:1'), true, 'when one is expected to end');
UPDATE _sfflow.execution SET requested_at = now() - interval '3 days' WHERE execution_id IN ('night:1', 'outside:1');
UPDATE _sfflow.open_execution o SET requested_at = e.requested_at FROM _sfflow.execution e
	WHERE e.execution_no = o.execution_no;
SELECT is(pg_temp.night(), 'outside:1 RUNNING, quiet:1 RUNNING, wide:1 RUNNING',
	'of those before only what runs still');
UPDATE _sfflow.execution SET requested_at = now() - interval '3 days' WHERE execution_id = 'quiet:1';
SELECT is(pg_temp.night(), 'outside:1 RUNNING, quiet:1 RUNNING, wide:1 RUNNING', '... or has not begun');
SELECT is(pg_temp.night('-4 days', '-2 days'), 'night:1 SUCCEEDED, outside:1 RUNNING, quiet:1 RUNNING',
	'another night');
SELECT is(pg_temp.night('1 day', '2 days'), 'outside:1 RUNNING, quiet:1 RUNNING, wide:1 RUNNING', 'a night to come');
SELECT sf_create_state_machine('bad', '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "No"}}}') \g /dev/null
SELECT sf_start('bad', name => '1'), sf_run('bad:1') \g /dev/null
SELECT results_eq($$ SELECT state, detail FROM sf_night() WHERE target = 'bad:1' $$, $$ VALUES ('FAILED', 'No') $$,
	'why one failed');

-- Schedules: runs that were noted and did not start, and one that waits. pg_cron is not here.
INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, cron_job_id, changed_at, created_at,
	handled_until)
VALUES ('noted', current_user::regrole, '0 2 * * *', 'bad/1', '{}', 0, now(), now(), now());
INSERT INTO _sfflow.schedule_run (schedule, run_at, pid, scheduled_for, outcome, message, execution_id)
SELECT 'noted', now() - interval '1 hour' + n * interval '1 min', 0,
CASE WHEN outcome <> 'failed' THEN now() - interval '2 hour' + n * interval '1 min' END, outcome, message,
	CASE outcome WHEN 'succeeded' THEN 'bad:1' END
FROM (VALUES (1, 'overlap', NULL), (2, 'missed', NULL), (3, 'failed', 'no such role'), (4, 'skipped', NULL),
	(5, 'succeeded', NULL)) AS r(n, outcome, message);
INSERT INTO _sfflow.pending_run (schedule, scheduled_for) VALUES ('noted', now() - interval '5 min');
SELECT results_eq($$ SELECT state, detail, next FROM sf_night() WHERE target = 'schedule:noted' $$,
	$$ VALUES ('SKIPPED', NULL, 'bad/1'), ('MISSED', NULL, 'bad/1'), ('FAILED', 'no such role', 'bad/1'),
	('QUEUED', 'waits for an earlier run to end', 'bad/1'),
		('FAILING', 'its pg_cron job does not exist', 'bad/1') $$,
		'runs of a schedule without an execution, and that its job is gone');
INSERT INTO _sfflow.schedule_run (schedule, run_at, pid, scheduled_for, outcome, execution_id)
	VALUES ('noted', now(), 0, now() - interval '2 hour' + interval '2 min', 'succeeded', 'bad:1');
SELECT is((SELECT count(*) FROM sf_night() WHERE state = 'MISSED'), 0::bigint, 'what started later is an execution');
UPDATE _sfflow.schedule SET handled_until = NULL, changed_at = now() - interval '2 days' WHERE name = 'noted';
SELECT is((SELECT count(*) FROM sf_night(now() - interval '1 day') WHERE state = 'MISSED'
		AND planned_at = _sfflow.schedule_latest('0 2 * * *', 'UTC', now() - interval '5 min')), 1::bigint,
	'a run that did not come');

-- A net of jobs: A 10 s, B 20 s after A, C 30 s, D 40 s after A, E 5 s after B and C, F 50 s after E; R after a failure
-- of A.
SELECT sf_create_state_machine('net', format('{"StartAt": "N", "States": {"N": {"Type": "JobNet", "ResultPath": null,
		"Next": "W", "Jobs": {%s, %s, %s, %s, %s, %s,
	"I": {"Type": "JobNet", "After": ["E"], "Jobs": {%s, "wait": {"Type": "Wait", "Seconds": 3, "After": ["F"]}}}}},
		"W": {"Type": "Wait", "Seconds": 7, "End": true}}}',
	pg_temp.task('A', '"Priority": 1'), pg_temp.task('B', '"After": ["A"]'), pg_temp.task('C', '"Priority": 0'),
	pg_temp.task('D', '"After": ["A"]'),
	pg_temp.task('E', '"After": ["B", "C"]'), pg_temp.task('R', '"After": [{"Job": "A", "On": ["failure"]}]'),
	pg_temp.task('F', '"Priority": 0'))::json) \g /dev/null
INSERT INTO _sfflow.metric_job (machine_no, job, runs, failures, time_us, time_histogram, recent_us, last_at)
SELECT m.machine_no, j.job, 3, 0, 0, '', array_fill(j.s * 1000000::bigint, ARRAY[30]), now()
FROM _sfflow.state_machine m, (VALUES ('A', 10), ('B', 20), ('C', 30), ('D', 40), ('E', 5), ('F', 50), ('R', 1000))
AS j(job, s) WHERE m.name = 'net';
SELECT sf_start('net', '{}', '1') \g /dev/null
SELECT is(pg_temp.progress('net:1'), 'RUNNING 0/7 95', 'A, B, E, F and two waits: the longest way through the net');
SELECT sf_hold('net/D'), sf_hold('net/B'), sf_hold('net/C') \g /dev/null
SELECT sf_run('net:1') \g /dev/null
SELECT is(pg_temp.progress('net:1'), 'RUNNING 1/6 95', 'C is as far as A was');
SELECT is((SELECT next FROM sf_progress('net:1')), 'E', 'what comes next');
SELECT sf_release('net/C') \g /dev/null
SELECT sf_run('net:1') \g /dev/null
SELECT is(pg_temp.progress('net:1'), 'RUNNING 2/6 85', 'B and what waits for it; E waits');
SELECT sf_hold('net/F'), sf_release('net/B') \g /dev/null
SELECT sf_run('net:1') \g /dev/null
SELECT is(pg_temp.progress('net:1'), 'RUNNING 4/6 60', 'a job of the inner net');
SELECT is((SELECT next FROM sf_progress('net:1')), NULL, 'no Task follows');
SELECT sf_release('net/F') \g /dev/null
SELECT is(sf_run('net:1', true), 'RUNNING', 'D is held');
SELECT is(pg_temp.progress('net:1'), 'RUNNING 5/6 47', 'D, and the wait after the net');

-- Of a net comes next what comes if all goes well: jobs that need a failure are passed over, and what waits for their
-- skip comes.
SELECT sf_create_state_machine('fine', format('{"StartAt": "N", "States": {"N": {"Type": "JobNet", "ResultPath": null,
		"Next": "Last", "Jobs": {%s, %s, %s,
	"Repair": {"StartAt": "Mend", "After": [{"Job": "A", "On": ["failure"]}], "States": {"Mend": {"Type": "Parallel",
		"Branches": [{"StartAt": "M", "States": {%s}}], "Next": "Tell"}, %s}}, %s}}, %s}}',
	pg_temp.task('A', '"Catch": []'), pg_temp.task('B', '"After": ["A"]'),
	pg_temp.task('C', '"After": [{"Job": "A", "On": ["end"]}]'),
	pg_temp.task('M', '"End": true'), pg_temp.task('Tell', '"End": true'),
	pg_temp.task('D', '"After": [{"Job": "Repair", "On": ["success", "skip"]}]'),
	pg_temp.task('Last', '"End": true'))::json) \g /dev/null
SELECT sf_hold('fine/A'), sf_hold('fine/M'), sf_start('fine', name => '1'), sf_run('fine:1') \g /dev/null
SELECT is((SELECT next FROM sf_progress('fine:1')), 'B, C, D', 'what comes after A, and not its repair');
SELECT sf_mark('fine:1', 'A', 'failure'), sf_release('fine/A'), sf_run('fine:1') \g /dev/null
SELECT is((SELECT concat_ws(', ', waiting_on, next) FROM sf_progress('fine:1')), '"M" held, Tell',
	'a repair that has begun goes on');

-- Bad input, and rights.
SELECT throws_ok($$ SELECT sf_night('-infinity') $$, 'SF012',
	'arguments since and until must be times, and since must not be after until');
SELECT throws_ok($$ SELECT sf_night(now(), now() - interval '1 s') $$, 'SF012',
	'arguments since and until must be times, and since must not be after until');
SELECT throws_ok($$ SELECT sf_progress('night:2') $$, 'SF005');
SELECT throws_ok($$ SELECT sf_progress(NULL) $$, '22004');
SELECT sf_grant('READ', 'wide', 'night_reader') \g /dev/null
SET LOCAL ROLE night_reader;
SELECT is(pg_temp.night(), 'wide:1 RUNNING', 'a role sees the machines that it may read');
SELECT throws_ok($$ SELECT sf_progress('outside:1') $$, 'SF005', 'execution "outside:1" does not exist');
RESET ROLE;

-- The time between a failure and its redrive is none that an execution has run.
CREATE TABLE idle_ready (ready boolean);
CREATE FUNCTION idle_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN IF NOT EXISTS (SELECT
	FROM idle_ready) THEN PERFORM sf_raise('NotReady'); END IF; RETURN payload; END $$;
SELECT sf_create_state_machine('idle', format('{"StartAt": "T", "States": {"T": {"Type": "Task",
		"Resource": "sql:%s.idle_task", "End": true}}}', current_schema)::json) \g /dev/null
SELECT clock_timestamp() AS began \gset
SELECT sf_start('idle', '{}', '1'), sf_run('idle:1') \g /dev/null
SELECT pg_sleep(1.5) \g /dev/null
INSERT INTO idle_ready VALUES (true);
SELECT sf_redrive('idle:1') \g /dev/null
SELECT cmp_ok((SELECT took FROM sf_progress('idle:1')), '<', clock_timestamp() - :'began' - interval '1.4 s',
	'an execution that was redriven has not run meanwhile');
SELECT sf_run('idle:1') \g /dev/null
SELECT cmp_ok((SELECT took FROM sf_progress('idle:1')), '<', clock_timestamp() - :'began' - interval '1.4 s',
	'... nor when it has ended');
SELECT cmp_ok((SELECT took FROM sf_night(now() - interval '1 hour') WHERE target = 'idle:1'), '<',
	clock_timestamp() - :'began' - interval '1.4 s', '... nor in the night');

SELECT * FROM finish();
ROLLBACK;
