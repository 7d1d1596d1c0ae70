-- sf_mark: a job that failed, is held or was not reached is settled, and a redrive or a release goes on past it.
-- needs: hold
BEGIN;
SELECT plan(42);

SELECT current_schema AS schema \gset
CREATE TABLE ran (job text);
CREATE TABLE broken (job text);
CREATE FUNCTION marked_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM broken WHERE job = payload ->> 'job') THEN RAISE EXCEPTION 'broken'; END IF;
	INSERT INTO ran VALUES (payload ->> 'job');
	RETURN jsonb_build_object('by', payload ->> 'job');
END $$;
CREATE FUNCTION pg_temp.ran() RETURNS text LANGUAGE sql AS $$ SELECT coalesce(string_agg(job, ' ' ORDER BY job), '')
	FROM ran $$;
CREATE FUNCTION pg_temp.task(job text, further text) RETURNS text LANGUAGE sql AS $$
	SELECT format('"%s": {"Type": "Task", "Resource": "sql:%s.marked_task", "Parameters": {"job": "%s"}, "ResultPath": '
		'"$.%s", %s}', job, current_schema, job, job, further) $$;
CREATE FUNCTION pg_temp.jobs(eid text) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(job_id || ' ' || job_status,
	', ' ORDER BY job_id) FROM sf_jobs WHERE execution_id = jobs.eid $$;
SELECT sf_create_state_machine('marked', format('{"StartAt": "A", "States": {%s, %s, %s, "Z": {"Type": "Pass",
		"Result": "caught", "End": true}}}',
	pg_temp.task('A', '"Next": "B"'),
	pg_temp.task('B', '"Next": "C", "Retry": [{"ErrorEquals": ["Sfflow.Marked"]}], "Catch": [{"ErrorEquals": '
		'["Sfflow.Marked"], "Next": "Z"}]'),
	pg_temp.task('C', '"End": true'))::json) \g /dev/null
INSERT INTO broken VALUES ('B');

-- A failed job: success with an output.
SELECT sf_start('marked', name => '1') \g /dev/null
SELECT is(sf_run('marked:1'), 'FAILED', 'a job fails');
SELECT is(pg_temp.jobs('marked:1'), 'A success, B failure, C skip', 'its jobs');
SELECT lives_ok($$ SELECT sf_mark('marked:1', 'B', 'success', '{"by": "hand"}', 'done by hand') $$, 'it is marked');
SELECT is(pg_temp.jobs('marked:1'), 'A success, B success, C skip', 'sf_jobs shows it');
SELECT is((SELECT type || ' ' || details FROM sf_history WHERE execution_id = 'marked:1' ORDER BY id DESC LIMIT 1),
	'TaskStateMarked {"job": "B", "role": "' || current_user || '", "reason": "done by hand", "outcome": "success"}',
	'so does the history');
SELECT is((SELECT action || '|' || reason || '|' || (details ->> 'job') FROM sf_audit WHERE action = 'mark'),
	'mark|done by hand|B', '... and the audit');
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'marked:1'), 'FAILED',
	'the execution waits for a redrive');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT sf_redrive('marked:1') \g /dev/null
SELECT is(sf_run('marked:1'), 'SUCCEEDED', 'a redrive goes on past it');
SELECT is(pg_temp.ran(), 'A C', 'its task has not run');
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'marked:1'), '{"A": {"by": "A"}, "B": {"by": "hand"},
	"C": {"by": "C"}}'::jsonb, 'its output is what was given');
SELECT is(pg_temp.jobs('marked:1'), 'A success, B success, C success', 'all have succeeded');
SELECT is((SELECT count(*) FROM _sfflow.mark), 0::bigint, 'the mark is used up');

-- Skip: its output is its input. A later mark replaces an earlier one.
DELETE FROM ran;
SELECT sf_start('marked', name => '2'), sf_run('marked:2') \g /dev/null
SELECT sf_mark('marked:2', 'B', 'failure'), sf_mark('marked:2', 'B', 'skip') \g /dev/null
SELECT is(pg_temp.jobs('marked:2'), 'A success, B skip, C skip', 'skipped');
SELECT sf_redrive('marked:2') \g /dev/null
SELECT is(sf_run('marked:2'), 'SUCCEEDED', 'a redrive goes on past it');
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'marked:2'),
	'{"A": {"by": "A"}, "C": {"by": "C"}}'::jsonb, 'without its output');
SELECT is(pg_temp.jobs('marked:2'), 'A success, B skip, C success', 'it stays skipped');
SELECT is(pg_temp.ran(), 'A C', '... and has not run');

-- Not reached yet: failure is not retried, and can be caught.
DELETE FROM ran;
DELETE FROM broken;
SELECT sf_start('marked', name => '3'), sf_step('marked:3'), sf_mark('marked:3', 'B', 'failure', reason => 'not today')
	\g /dev/null
SELECT is(pg_temp.jobs('marked:3'), 'A success, B failure, C entry', 'marked before it is reached');
SELECT is(sf_run('marked:3', true), 'SUCCEEDED', 'it fails, and is caught');
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'marked:3'), '"caught"'::jsonb,
	'... where it should be');
SELECT is(pg_temp.jobs('marked:3'), 'A success, B failure, C skip', 'it stays a failure');
SELECT is(pg_temp.ran(), 'A', '... and has not run');
SELECT sf_start('marked', name => '4'), sf_mark('marked:4', 'C', 'failure', reason => 'not today') \g /dev/null
SELECT is(sf_run('marked:4'), 'FAILED', 'a failure that is not caught');
SELECT is((SELECT error || ': ' || cause FROM sf_executions WHERE execution_id = 'marked:4'),
	'Sfflow.Marked: not today', '... with the reason');

-- The last job; a held job.
SELECT sf_mark('marked:4', 'C', 'skip') \g /dev/null
SELECT sf_redrive('marked:4') \g /dev/null
SELECT is(sf_run('marked:4'), 'SUCCEEDED', 'the last job is skipped');
SELECT sf_hold('marked/B') \g /dev/null
SELECT sf_start('marked', name => '5'), sf_run('marked:5') \g /dev/null
SELECT sf_mark('marked:5', 'B', 'skip') \g /dev/null
SELECT is(sf_run('marked:5'), 'RUNNING', 'a held job stays held');
SELECT sf_release('marked/B') \g /dev/null
SELECT is(sf_run('marked:5'), 'SUCCEEDED', 'released, the execution goes on past it');
SELECT is(pg_temp.jobs('marked:5'), 'A success, B skip, C success', '... and the jobs are told so');

-- Iterations; the child of a Distributed Map.
SELECT sf_create_state_machine('marked_map', format('{"StartAt": "M", "States": {"M": {"Type": "Map",
		"FailureMode": "DRAIN", "End": true, "ItemProcessor": {"StartAt": "T", "States": {
	"T": {"Type": "Task", "Resource": "sql:%s.marked_task", "Parameters": {"job.$": "$"}, "End": true}}}}}}',
	:'schema')::json) \g /dev/null
INSERT INTO broken VALUES ('b'), ('c');
SELECT sf_start('marked_map', '["a", "b", "c"]', 'x'), sf_run('marked_map:x') \g /dev/null
SELECT sf_mark('marked_map:x', 'T[1]', 'success', '"by hand"'), sf_mark('marked_map:x', 'T[2]', 'skip') \g /dev/null
SELECT sf_redrive('marked_map:x') \g /dev/null
SELECT is(sf_run('marked_map:x'), 'SUCCEEDED', 'iterations');
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'marked_map:x'), '[{"by": "a"}, "by hand",
	"c"]'::jsonb, 'each by its index');

-- A restart forgets marks; so does a purge.
SELECT sf_start('marked', name => '6'), sf_mark('marked:6', 'B', 'skip'), sf_stop('marked:6') \g /dev/null
SELECT sf_start('marked', name => '6', if_exists => 'restart') \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.mark), 0::bigint, 'a restart begins without marks');

-- Bad input, rights.
SELECT throws_ok($$ SELECT sf_mark('marked:1', 'B', 'skip') $$, 'SF027',
	'execution "marked:1" is SUCCEEDED, and its jobs cannot be marked');
SELECT throws_ok($$ SELECT sf_mark('marked:6', 'D', 'skip') $$, 'SF012', 'execution "marked:6" has no job "D"');
SELECT throws_ok($$ SELECT sf_mark('marked:6', 'B', 'done') $$, 'SF012', 'argument outcome must not be "done"');
SELECT throws_ok($$ SELECT sf_mark('marked:6', 'B', 'skip', '{}') $$, 'SF012',
	'argument output is for the outcome success');
SELECT throws_ok($$ SELECT sf_mark('marked:6', NULL, 'skip') $$, '22004', 'argument job_id must not be null');
SELECT throws_ok($$ SELECT sf_mark('marked:0', 'B', 'skip') $$, 'SF005');
SELECT sf_step('marked:6') \g /dev/null
SELECT throws_ok($$ SELECT sf_mark('marked:6', 'A', 'skip') $$, 'SF027',
	'job "A" of execution "marked:6" has succeeded');
CREATE ROLE marked_operator; CREATE ROLE marked_starter;
SELECT sf_grant('OPERATE', 'marked', 'marked_operator'), sf_grant('START', 'marked', 'marked_starter') \g /dev/null
SET LOCAL ROLE marked_starter;
SELECT throws_ok($$ SELECT sf_mark('marked:6', 'B', 'skip') $$, '42501');
RESET ROLE;
SET LOCAL ROLE marked_operator;
SELECT lives_ok($$ SELECT sf_mark('marked:6', 'B', 'skip') $$, 'an operator marks');
RESET ROLE;
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
