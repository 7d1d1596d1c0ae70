-- Status of a night as it goes: it fails in one branch, is repaired, started again, and ends well.
BEGIN;
SELECT plan(26);

CREATE TABLE payment (amount integer);
INSERT INTO payment VALUES (10), (-1);
CREATE FUNCTION work(payload jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT payload || '{"done": true}' $$;
CREATE FUNCTION settle(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM payment WHERE amount < 0) THEN
		RAISE check_violation USING message = 'negative amount';
	END IF;
	RETURN payload;
END
$$;
SELECT sf_create_state_machine('tap_night', replace('{
	"StartAt": "JOB-001",
	"FailureMode": "DRAIN",
	"States": {
		"JOB-001": {"Type": "Task", "Resource": "sql:SCHEMA.work", "Next": "Fork"},
		"Fork": {"Type": "Parallel", "Next": "JOB-006", "ResultPath": null, "Branches": [
			{"StartAt": "JOB-002", "States": {
				"JOB-002": {"Type": "Task", "Resource": "sql:SCHEMA.work", "Next": "Pause"},
				"Pause": {"Type": "Wait", "Seconds": 3600, "Next": "JOB-003"},
				"JOB-003": {"Type": "Task", "Resource": "sql:SCHEMA.work", "End": true}}},
			{"StartAt": "JOB-004", "States": {
				"JOB-004": {"Type": "Task", "Resource": "sql:SCHEMA.work", "Next": "JOB-005"},
				"JOB-005": {"Type": "Task", "Resource": "sql:SCHEMA.settle", "End": true,
					"Retry": [{"ErrorEquals": ["23514"], "IntervalSeconds": 60, "MaxAttempts": 1}]}}}]},
		"JOB-006": {"Type": "Task", "Resource": "sql:SCHEMA.work", "End": true}}}',
	'SCHEMA', current_schema())::json, execution_id_path => '$.id');

CREATE FUNCTION jobs() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', right(job_id, 1), job_status, nullif(attempts, 1)), ', ' ORDER BY ordinality)
	FROM (SELECT *, row_number() OVER () AS ordinality FROM sf_jobs WHERE execution_id = 'tap_night:20250205') j
$$;

SELECT is(sf_start('tap_night', '{"id": "20250205"}'), 'tap_night:20250205', 'a night begins');
SELECT is(jobs(), '1 entry 0, 2 entry 0, 3 entry 0, 4 entry 0, 5 entry 0, 6 entry 0', 'all jobs are to come');
SELECT is((SELECT waiting_on FROM sf_executions WHERE execution_id = 'tap_night:20250205'), '"JOB-001" due',
	'it waits for a worker');

SELECT is(sf_run('tap_night:20250205'), 'RUNNING', 'it runs as far as it can');
SELECT is(jobs(), '1 success, 2 success, 3 entry 0, 4 success, 5 running, 6 entry 0',
	'a job that waits for its retry is running');
SELECT matches((SELECT waiting_on FROM sf_executions WHERE execution_id = 'tap_night:20250205'),
	'^Wait "Pause" until .*, retry of "JOB-005" at 20[-0-9T:.]+Z$', 'what it waits for, in words');
SELECT results_eq(
	$$ SELECT state, branch, status, attempt, scheduled_at > now() FROM sf_tasks
	WHERE execution_id = 'tap_night:20250205' $$,
	$$ VALUES ('JOB-005', 'Fork[1]', 'retrying', 1, true) $$, 'sf_tasks shows the retry');
SELECT is_empty($$ SELECT * FROM sf_check() WHERE execution_id LIKE 'tap_night:%' $$, 'nothing is wrong so far');

SELECT is(sf_run('arn:aws:states:us-east-1:000000000000:execution:tap_night:20250205', skip_waits => true), 'FAILED',
	'it fails (and is known by its ARN too)');
SELECT is(jobs(), '1 success, 2 success, 3 success, 4 success, 5 failure 2, 6 skip 0',
	'the other branch completed, what follows the join is skipped');
SELECT results_eq(
	$$ SELECT error, cause::jsonb ->> 'message' FROM sf_jobs WHERE execution_id = 'tap_night:20250205'
	AND job_id = 'JOB-005' $$,
	$$ VALUES ('check_violation', 'negative amount') $$, 'the job tells why');
SELECT results_eq(
	$$ SELECT status, error, waiting_on FROM sf_executions WHERE execution_id = 'tap_night:20250205' $$,
	$$ VALUES ('FAILED', 'check_violation', NULL) $$, 'and so does the execution');
SELECT results_eq(
	$$ SELECT kind, detail LIKE 'check_violation: %' FROM sf_alerts WHERE execution_id = 'tap_night:20250205' $$,
	$$ VALUES ('failed', true) $$, 'it is an alert');

UPDATE payment SET amount = 1 WHERE amount < 0;
SELECT is(sf_start('tap_night', '{"id": "20250205"}'), 'tap_night:20250205', 'the very same call again');
SELECT is(jobs(), '1 success, 2 success, 3 success, 4 success, 5 entry 2, 6 entry 0',
	'what had failed or been skipped is to come again');
SELECT is(sf_run('tap_night:20250205', skip_waits => true), 'SUCCEEDED', 'it ends well');
SELECT is(jobs(), '1 success, 2 success, 3 success, 4 success, 5 success 3, 6 success',
	'only what had not succeeded ran again');
SELECT results_eq(
	$$ SELECT input, output FROM sf_jobs WHERE execution_id = 'tap_night:20250205' AND job_id = 'JOB-001' $$,
	$$ VALUES ('{"id": "20250205"}'::jsonb, '{"id": "20250205", "done": true}'::jsonb) $$, 'input and output of a job');
SELECT results_eq(
	$$ SELECT redrive_count, start_requests, name = '20250205', started_at IS NOT NULL FROM sf_executions
	WHERE execution_id = 'tap_night:20250205' $$,
	$$ VALUES (1, 2, true, true) $$, 'one redrive, two calls');
SELECT results_eq(
	$$ SELECT outcome, input_differs, requested_by FROM sf_start_requests WHERE execution_id = 'tap_night:20250205' $$,
	$$ VALUES ('redriven', false, current_user::regrole) $$, 'the second call is on record');
SELECT is_empty($$ SELECT * FROM sf_check() WHERE execution_id LIKE 'tap_night:%' $$, 'nothing is wrong in the end');
SELECT is_empty($$ SELECT * FROM sf_tasks WHERE execution_id = 'tap_night:20250205' $$, 'no task is left');

SELECT results_eq(
	$$ SELECT type FROM sf_history WHERE execution_id = 'tap_night:20250205' AND state = 'JOB-005' ORDER BY id $$,
	ARRAY['TaskStateEntered', 'TaskScheduled', 'TaskStarted', 'TaskFailed', 'TaskScheduled', 'TaskStarted',
		'TaskFailed',
		'TaskStateEntered', 'TaskScheduled', 'TaskStarted', 'TaskSucceeded', 'TaskStateExited'],
		'the history of one job');
SELECT is(
	(SELECT details FROM sf_history WHERE execution_id = 'tap_night:20250205' AND id = 2),
	'{"name": "JOB-001", "input": {"id": "20250205"}, "inputDetails": {"truncated": false}}',
	'a payload that is stored once shows in every event that has it');
SELECT is(
	(SELECT array_agg(id ORDER BY id) = array_agg(n::integer ORDER BY n) AND min(previous_event_id) = 0
	 FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM sf_history WHERE execution_id = 'tap_night:20250205') h),
	true, 'ids have no gaps');
SELECT results_eq(
	$$ SELECT executions_started, executions_succeeded, executions_failed, state_transitions FROM sf_metrics
	WHERE state_machine = 'tap_night' $$,
	$$ VALUES (1::bigint, 1::bigint, 1::bigint, 9::bigint) $$, 'the metrics of the machine count each end');

SELECT * FROM finish();
ROLLBACK;
