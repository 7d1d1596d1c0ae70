-- What sf_alerts names: each kind appears for its reason, and not without it.
BEGIN;
SELECT plan(26);
\ir ../../fixtures/phases.sql

CREATE FUNCTION alert_task(bad boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF bad THEN
		PERFORM sf_raise('Bad', 'as told');
	END IF;
END $$;
SELECT sf_create_activity('alert', '1 min', 1);
SELECT sf_create_state_machine('alert_sql', format('{"StartAt": "T", "States": {"T": {"Type": "Task",
		"Resource": "sql:%s.alert_task", "End": true}}}',
	current_schema)::json);
SELECT sf_create_state_machine('alert_out', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "activity:alert", "End": true}}}');
CREATE FUNCTION pg_temp.kinds(id text) RETURNS text LANGUAGE sql AS
	$$ SELECT coalesce(string_agg(kind, ',' ORDER BY kind), '') FROM sf_alerts WHERE execution_id = id $$;

-- Failed, and failed again.
SELECT sf_start('alert_sql', '{"bad": true}', 'f'), sf_run('alert_sql:f');
SELECT is(pg_temp.kinds('alert_sql:f'), 'failed', 'failed once');
SELECT sf_redrive('alert_sql:f'), sf_run('alert_sql:f');
SELECT is(pg_temp.kinds('alert_sql:f'), 'failed,failed_again', 'and again under the same id');
SELECT is((SELECT detail FROM sf_alerts WHERE kind = 'failed_again'), 'it has failed 2 times under this id');
SELECT sf_start('alert_sql', '{"bad": false}', 'g'), sf_run('alert_sql:g');
SELECT is(pg_temp.kinds('alert_sql:g'), '', 'what went well is no alert');

-- Nobody polls.
SELECT sf_start('alert_out', '{}', n::text) FROM generate_series(1, 7) n;
SELECT sf_run('alert_out:' || n) FROM generate_series(1, 7) n;
SELECT is_empty($$ SELECT 1 FROM sf_alerts WHERE kind = 'no_poller' $$, 'a task just queued may wait');
UPDATE _sfflow.task SET scheduled_at = scheduled_at - interval '10 min';
SELECT is((SELECT detail FROM sf_alerts WHERE kind = 'no_poller'),
	'activity "alert" has 7 tasks queued and nobody has ever polled it', 'after ten minutes somebody should');

-- Five runs of a second; the sixth takes a minute.
SELECT sf_send_task_success(task_token) FROM sf_get_activity_task('alert', 'w', 5);
UPDATE _sfflow.task SET started_at = now() - interval '1 s' WHERE status = 3;
SELECT sf_run('alert_out:' || n) FROM generate_series(1, 5) n;
SELECT is_empty($$ SELECT 1 FROM sf_alerts WHERE kind = 'no_poller' $$, 'a poll was seen');
SELECT execution_id AS slow FROM sf_get_activity_task('alert', 'w', 1) \gset
SELECT is(pg_temp.kinds(:'slow'), '', 'it has only begun');
UPDATE _sfflow.task SET started_at = now() - interval '1 min' WHERE status = 1;
SELECT is(pg_temp.kinds(:'slow'), 'slow_task', 'a minute is far longer than the runs before');
SET LOCAL sfflow.slow_task_factor = 1000;
SELECT is(pg_temp.kinds(:'slow'), '', 'unless that is usual');

-- Handed out once, never answered.
UPDATE _sfflow.task SET lease_until = now() - interval '1 s' WHERE status = 1;
UPDATE _sfflow.branch b SET due_at = now() FROM _sfflow.execution e WHERE e.execution_no = b.execution_no
	AND e.execution_id = :'slow';
SELECT sf_run(:'slow');
SELECT is(pg_temp.kinds(:'slow'), 'dead_letter,failed', 'a dead letter is an alert');

SELECT is((SELECT cause FROM sf_executions WHERE execution_id = :'slow'),
	'The task of state ''A'' in activity ''alert'' was handed out 1 time and never answered.',
	'its cause names the activity');
SELECT sf_redrive(:'slow');
SELECT is(pg_temp.kinds(:'slow'), '', 'which a redrive takes away');
SELECT sf_run(:'slow'), sf_stop(:'slow');

-- Only what was never answered is a dead letter.
SELECT sf_create_activity('answered', '1 min', 1);
SELECT sf_create_state_machine('alert_late', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "activity:answered", "TimeoutSeconds": 10, "Next": "F"},
	"F": {"Type": "Fail", "Error": "Later"}}}');
SELECT sf_create_state_machine('alert_caught', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "activity:answered", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "F"}],
		"End": true},
	"F": {"Type": "Fail", "Error": "Later"}}}');
SELECT sf_create_state_machine('alert_sibling', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Branches": [
	{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:answered", "End": true}}},
	{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Sibling"}}}]}}}');
CREATE FUNCTION pg_temp.start(machine text, name text) RETURNS text LANGUAGE sql AS
	$$ SELECT sf_start(machine, '{}', name); SELECT sf_run(machine || ':' || name) $$;
CREATE FUNCTION pg_temp.let_lease_end() RETURNS void LANGUAGE sql AS $$
	UPDATE _sfflow.task SET lease_until = now() - interval '1 s' WHERE status = 1;
	UPDATE _sfflow.branch SET due_at = now() WHERE phase = pg_temp.phase('EXTERNAL') AND due_at IS NOT NULL $$;

SELECT pg_temp.start('alert_late', 'ok');
SELECT sf_send_task_success(task_token) FROM sf_get_activity_task('answered');
SELECT sf_run('alert_late:ok');
SELECT is(pg_temp.kinds('alert_late:ok'), 'failed', 'answered, then the execution failed in a later state');

SELECT pg_temp.start('alert_late', 'refused');
SELECT sf_send_task_failure(task_token, 'No', 'it cannot be done') FROM sf_get_activity_task('answered');
SELECT sf_run('alert_late:refused');
SELECT is(pg_temp.kinds('alert_late:refused'), 'failed', 'answered with a failure');

SELECT pg_temp.start('alert_late', 'timeout');
SELECT execution_id FROM sf_get_activity_task('answered');
UPDATE _sfflow.task SET started_at = now() - interval '1 min' WHERE status = 1;
UPDATE _sfflow.branch SET due_at = now() WHERE phase = pg_temp.phase('EXTERNAL') AND due_at IS NOT NULL;
SELECT sf_run('alert_late:timeout');
SELECT is(pg_temp.kinds('alert_late:timeout'), 'failed', 'it timed out by itself');
SELECT is((SELECT detail FROM sf_alerts WHERE execution_id = 'alert_late:timeout'), 'state "A": States.Timeout',
	'without a cause the alert names the state');

SELECT pg_temp.start('alert_caught', 'used_up');
SELECT execution_id FROM sf_get_activity_task('answered');
SELECT pg_temp.let_lease_end(), sf_run('alert_caught:used_up');
SELECT is(pg_temp.kinds('alert_caught:used_up'), 'failed', 'receives are used up, but the machine caught that');

SELECT pg_temp.start('alert_late', 'stopped'), sf_stop('alert_late:stopped');
SELECT pg_temp.start('alert_late', 'taken');
SELECT execution_id FROM sf_get_activity_task('answered');
SELECT sf_stop('alert_late:taken');
SELECT pg_temp.start('alert_sibling', 'aborted');
UPDATE _sfflow.task SET scheduled_at = scheduled_at - interval '10 min',
	lease_until = CASE status WHEN 1 THEN now() - interval '1 s' END;
UPDATE _sfflow.activity SET last_polled_at = NULL WHERE name = 'answered';
SELECT is(pg_temp.kinds('alert_late:stopped') || pg_temp.kinds('alert_late:taken'), '', 'executions that were stopped');
SELECT is(pg_temp.kinds('alert_sibling:aborted'), 'failed', 'a task whose sibling failed');
SELECT is_empty($$ SELECT 1 FROM sf_alerts WHERE kind = 'no_poller' $$, 'and no worker has to poll for any of them');
SELECT is_empty($$ SELECT 1 FROM sf_activities WHERE activity = 'answered' AND queued + in_flight > 0 $$,
	'nothing of them is queued or in flight');
SELECT lives_ok($$ SELECT sf_drop_activity('answered') $$, 'so that their activity can be dropped');

-- Two tasks of one execution: an acknowledgement of the slow one says nothing about one that began earlier.
SELECT sf_create_activity('two', '10 min', 1);
SELECT sf_create_state_machine('alert_two', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Branches": [
	{"StartAt": "Short", "States": {"Short": {"Type": "Task", "Resource": "activity:two", "End": true}}},
	{"StartAt": "Long", "States": {"Long": {"Type": "Task", "Resource": "activity:two", "End": true}}}]}}}');
INSERT INTO _sfflow.metric_job SELECT machine_no, job, 5, 0, 0, '\x', array_fill(us, ARRAY[5]), now()
FROM _sfflow.state_machine, (VALUES ('Short', 1000000), ('Long', 100000000)) v(job, us) WHERE name = 'alert_two';
SET LOCAL sfflow.slow_task_factor = 3;
SELECT pg_temp.start('alert_two', 'x');
SELECT execution_id FROM sf_get_activity_task('two', 'w', 2);
UPDATE _sfflow.task t SET started_at = now() - CASE b.branch_index WHEN 0 THEN interval '10 s' ELSE interval '1 min' END
FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no)
WHERE e.execution_id = 'alert_two:x' AND t.execution_no = b.execution_no AND t.branch_no = b.branch_no;
SELECT is((SELECT detail FROM sf_alerts WHERE execution_id = 'alert_two:x') LIKE 'state "Short"%'
	AND sf_acknowledge('alert_two:x') = 1, true, 'the short one is slow');
SELECT is(pg_temp.kinds('alert_two:x'), '', 'which is acknowledged');
UPDATE _sfflow.metric_job SET recent_us = array_fill(10000000::bigint, ARRAY[5]) WHERE job = 'Long';
SELECT is((SELECT string_agg(split_part(detail, '"', 2), ' ') FROM sf_alerts WHERE execution_id = 'alert_two:x'),
	'Long', 'then the one that began earlier');

SELECT * FROM finish();
ROLLBACK;
