-- Work outside the database: activities, task tokens, child executions.
-- Each scene is one transaction, so that no worker takes part in it.
\set VERBOSITY terse
SET client_min_messages = notice;

SELECT sf_create_activity('shell');
SELECT sf_create_activity('shell');
SELECT sf_create_activity('shell', '1 min');
SELECT sf_create_activity('a:b');
SELECT sf_create_activity('leased', NULL, 3);
SELECT sf_create_activity('leased', '1 min', 2);

SELECT sf_create_state_machine('outside', '{
  "StartAt": "Shell",
  "States": {
    "Shell": {"Type": "Task", "Resource": "activity:shell", "Parameters": {"Command.$": "$.command"},
              "HeartbeatSeconds": 30, "TimeoutSeconds": 600,
              "Retry": [{"ErrorEquals": ["Shell.ExitCode.1"], "MaxAttempts": 1}],
              "Catch": [{"ErrorEquals": ["States.HeartbeatTimeout"], "Next": "Silent"}],
              "End": true},
    "Silent": {"Type": "Pass", "End": true}
  }}');

-- a task is taken once, kept alive, and answered once
BEGIN;
SELECT sf_start('outside', '{"command": "true"}', 'a');
SELECT sf_run('outside:a');
SELECT state, resource, status, worker FROM sf_tasks WHERE execution_id = 'outside:a';
SELECT activity, queued, in_flight FROM sf_activities ORDER BY activity;
SELECT task_token, input, execution_id, state, attempt, heartbeat
	FROM sf_get_activity_task('shell', 'worker 1', 10) \gset
\echo :input :execution_id :state :attempt :heartbeat
SELECT count(*) FROM sf_get_activity_task('shell', 'worker 2', 10);
SELECT state, status, worker FROM sf_tasks WHERE execution_id = 'outside:a';
SELECT sf_send_task_heartbeat(:'task_token');
SELECT sf_send_task_success(:'task_token', '{"exit": 0}');
SAVEPOINT s;
SELECT sf_send_task_success(:'task_token', '{"exit": 0}');
ROLLBACK TO s;
SELECT sf_run('outside:a');
SAVEPOINT s;
SELECT sf_send_task_heartbeat(:'task_token');
ROLLBACK TO s;
SELECT sf_send_task_failure('AAAA');
ROLLBACK TO s;
SELECT sf_send_task_failure('not base64 %');
ROLLBACK TO s;
SELECT id, previous_event_id AS prev, type, details - 'inputDetails' - 'outputDetails' AS details
  FROM sf_history WHERE execution_id = 'outside:a' ORDER BY id;
SELECT problem FROM sf_check();
ROLLBACK;

-- an answer of an attempt that is over changes nothing
BEGIN;
SELECT sf_start('outside', '{"command": "false"}', 'b');
SELECT sf_run('outside:b');
SELECT task_token AS first FROM sf_get_activity_task('shell') \gset
SELECT sf_send_task_failure(:'first', 'Shell.ExitCode.1', 'it said no');
SELECT sf_run('outside:b', skip_waits => true);
SELECT task_token AS second, attempt FROM sf_get_activity_task('shell') \gset
\echo attempt :attempt
SAVEPOINT s;
SELECT sf_send_task_success(:'first');
ROLLBACK TO s;
SELECT sf_send_task_failure(:'second', 'Shell.ExitCode.1', 'it said no again');
SELECT sf_run('outside:b');
SELECT error, cause FROM sf_executions WHERE execution_id = 'outside:b';
-- it was answered: no dead letter
SELECT count(*) FROM sf_dead_letters WHERE execution_id = 'outside:b';
SELECT job_id, job_status, attempts FROM sf_jobs WHERE execution_id = 'outside:b';
-- a redrive puts it back under the same id
SELECT sf_redrive('outside:b');
SELECT sf_run('outside:b');
SELECT count(*) FROM sf_dead_letters WHERE execution_id = 'outside:b';
SELECT task_token AS third FROM sf_get_activity_task('shell') \gset
SELECT sf_send_task_success(:'third', '"at last"');
SELECT sf_run('outside:b');
SELECT status, output FROM sf_executions WHERE execution_id = 'outside:b';
SELECT problem FROM sf_check();
ROLLBACK;

-- a missed heartbeat, and a stopped execution
BEGIN;
SELECT sf_start('outside', '{"command": "sleep"}', 'c');
SELECT sf_run('outside:c');
SELECT task_token FROM sf_get_activity_task('shell') \gset
UPDATE _sfflow.task SET heartbeat_at = heartbeat_at - interval '31 s';
UPDATE _sfflow.branch b SET due_at = now() FROM _sfflow.execution e
 WHERE e.execution_no = b.execution_no AND e.execution_id = 'outside:c';
SELECT sf_run('outside:c');
SELECT status, output FROM sf_executions WHERE execution_id = 'outside:c';
SELECT sf_start('outside', '{"command": "sleep"}', 'd');
SELECT sf_run('outside:d');
SELECT sf_stop('outside:d');
SELECT count(*) FROM sf_get_activity_task('shell');
SELECT problem FROM sf_check();
ROLLBACK;

-- a lease that is over: again, and then a dead letter
SELECT sf_create_state_machine('lease', '{"StartAt": "L",
	"States": {"L": {"Type": "Task", "Resource": "activity:leased", "End": true}}}');
BEGIN;
SELECT sf_start('lease', '{"n": 1}', 'a');
SELECT sf_run('lease:a');
SELECT attempt, task_token AS first FROM sf_get_activity_task('leased') \gset
UPDATE _sfflow.task SET lease_until = now() - interval '1 s';
UPDATE _sfflow.branch SET due_at = now();
SELECT sf_run('lease:a');
SAVEPOINT s;
SELECT sf_send_task_success(:'first');
ROLLBACK TO s;
SELECT attempt, task_token AS second FROM sf_get_activity_task('leased') \gset
\echo :attempt
-- the token of the first time is refused, whatever it brings; that of the second is good
SAVEPOINT s;
SELECT sf_send_task_heartbeat(:'first');
ROLLBACK TO s;
SELECT sf_send_task_failure(:'first', 'Late');
ROLLBACK TO s;
SELECT sf_send_task_success(:'first');
ROLLBACK TO s;
SELECT sf_send_task_success(:'second');
ROLLBACK TO s;
UPDATE _sfflow.task SET lease_until = now() - interval '1 s';
UPDATE _sfflow.branch SET due_at = now();
SELECT sf_run('lease:a');
SELECT error, cause FROM sf_executions WHERE execution_id = 'lease:a';
SELECT state, receives, error FROM sf_dead_letters WHERE execution_id = 'lease:a';
ROLLBACK;

-- the token in a request stays good, however often programs were handed the request
SELECT sf_map_resource('arn:aws:states:::sqs:sendMessage', 'activity:leased');
SELECT sf_create_state_machine('asked', '{"StartAt": "Q", "States": {"Q": {"Type": "Task",
  "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Parameters": {"token.$": "$$.Task.Token"},
  	"End": true}}}');
BEGIN;
SELECT sf_start('asked', '{}', 'a');
SELECT sf_run('asked:a');
SELECT attempt, input->>'token' AS token FROM sf_get_activity_task('leased') \gset
UPDATE _sfflow.task SET lease_until = now() - interval '1 s';
UPDATE _sfflow.branch SET due_at = now();
SELECT sf_run('asked:a');
SELECT attempt FROM sf_get_activity_task('leased');
SELECT sf_send_task_success(:'token', '"yes"');
SELECT sf_run('asked:a');
SELECT status, output FROM sf_executions WHERE execution_id = 'asked:a';
ROLLBACK;
SELECT sf_unmap_resource('arn:aws:states:::sqs:sendMessage');

-- a task token that somebody was given by a function
CREATE TABLE letters (token text);
CREATE FUNCTION send_letter(letter jsonb) RETURNS jsonb LANGUAGE sql AS $$
	INSERT INTO letters VALUES (letter->>'token') RETURNING '{"sent": true}'::jsonb $$;
SELECT sf_create_state_machine('letter', '{"StartAt": "Ask", "States": {
  "Ask": {"Type": "Task", "Resource": "sql:public.send_letter.waitForTaskToken",
          "Parameters": {"token.$": "$$.Task.Token"}, "End": true}}}');
BEGIN;
SELECT sf_start('letter', '{}', 'a');
SELECT sf_run('letter:a');
SELECT waiting_on FROM sf_executions WHERE execution_id = 'letter:a';
SELECT sf_send_task_success(token, '"yes"') FROM letters;
SELECT sf_run('letter:a');
SELECT type, details->'output' AS output FROM sf_history WHERE execution_id = 'letter:a' ORDER BY id;
SELECT problem FROM sf_check();
ROLLBACK;

-- child executions
SELECT sf_create_state_machine('child', '{"StartAt": "C", "States": {
  "C": {"Type": "Choice", "Choices": [{"Variable": "$.good", "BooleanEquals": true, "Next": "Good"}], "Default": "Bad"},
  "Good": {"Type": "Pass", "Parameters": {"answer": 42}, "End": true},
  "Bad": {"Type": "Fail", "Error": "ChildError", "Cause": "no good"}}}');
SELECT sf_create_state_machine('parent', '{"StartAt": "P", "States": {
  "P": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2",
        "Parameters": {"StateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:child",
                       "Name.$": "$.name", "Input": {"good.$": "$.good"}},
        "Catch": [{"ErrorEquals": ["States.TaskFailed"], "Next": "Caught"}], "End": true},
  "Caught": {"Type": "Pass", "Parameters": {"cause.$": "States.StringToJson($.Cause)"}, "End": true}}}');
BEGIN;
SELECT sf_start('parent', '{"name": "c1", "good": true}', 'a');
SELECT sf_run('parent:a');
SELECT execution_id, status, parent_execution_id FROM sf_executions WHERE state_machine IN ('parent', 'child')
	ORDER BY 1;
SELECT sf_run('child:c1');
SELECT sf_run('parent:a');
SELECT output - 'StartDate' - 'StopDate' AS output FROM sf_executions WHERE execution_id = 'parent:a';
SELECT sf_start('parent', '{"name": "c2", "good": false}', 'b');
SELECT sf_run('parent:b'), sf_run('child:c2'), sf_run('parent:b');
SELECT output #>> '{cause,Error}' AS error, output #>> '{cause,Status}' AS status FROM sf_executions
	WHERE execution_id = 'parent:b';
-- with the parent its child stops; a name that is taken is an error
SELECT sf_start('parent', '{"name": "c3", "good": true}', 'c');
SELECT sf_run('parent:c'), sf_stop('parent:c'), sf_run('child:c3');
SELECT cause LIKE '%which was managing this resource was aborted' AS aborted FROM sf_executions
	WHERE execution_id = 'child:c3';
SELECT sf_start('parent', '{"name": "c3", "good": true}', 'd');
SELECT sf_run('parent:d');
SELECT details->>'error' AS error FROM sf_history WHERE execution_id = 'parent:d' AND type = 'TaskFailed';
SELECT problem FROM sf_check();
ROLLBACK;

-- .sync with a token: the child's end is the answer, or what is sent for the token before
SELECT sf_create_state_machine('given', '{"StartAt": "C",
	"States": {"C": {"Type": "Pass", "Parameters": {"child": "done"}, "End": true}}}');
SELECT sf_create_state_machine('gives', '{"StartAt": "P", "States": {
  "P": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", "TimeoutSeconds": 900,
        "Parameters": {"StateMachineArn": "given", "Name.$": "$.name", "Input": {"token.$": "$$.Task.Token"}},
        "ResultSelector": {"Status.$": "$.Status"}, "End": true}}}');
SELECT sf_create_state_machine('gives_too', '{"QueryLanguage": "JSONata", "StartAt": "P", "States": {
  "P": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2",
        "Arguments": {"StateMachineArn": "given", "Name": "{% $states.input.name %}",
        	"Input": {"token": "{% $states.context.Task.Token %}"}},
        "Output": "{% $states.result %}", "End": true}}}');
BEGIN;
SELECT sf_start('gives', '{"name": "g1"}', 'a');
SELECT sf_run('gives:a');
SELECT waiting_on FROM sf_executions WHERE execution_id = 'gives:a';
SELECT input->>'token' AS token FROM sf_executions WHERE execution_id = 'given:g1' \gset
SELECT count(*) AS tasks FROM _sfflow.task;
SELECT sf_send_task_heartbeat(:'token');
SELECT sf_run('given:g1'), sf_run('gives:a');
SELECT output FROM sf_executions WHERE execution_id = 'gives:a';
SELECT count(*) AS tasks FROM _sfflow.task;
SAVEPOINT s;
SELECT sf_send_task_success(:'token', '"late"');
ROLLBACK TO s;
-- the token first: the child goes on by itself
SELECT sf_start('gives_too', '{"name": "g2"}', 'b');
SELECT sf_run('gives_too:b');
SELECT sf_send_task_success(input->>'token', '"early"') FROM sf_executions WHERE execution_id = 'given:g2';
SELECT sf_run('given:g2'), sf_run('gives_too:b');
SELECT execution_id, status, output FROM sf_executions WHERE execution_id IN ('gives_too:b', 'given:g2') ORDER BY 1;
SELECT type FROM sf_history WHERE execution_id = 'gives_too:b' ORDER BY id;
-- a timeout stops the child
SELECT sf_start('gives', '{"name": "g3"}', 'c');
SELECT sf_run('gives:c');
UPDATE _sfflow.task SET started_at = started_at - interval '900 s';
UPDATE _sfflow.branch SET deadline = now(), due_at = now() WHERE execution_no = (SELECT execution_no
	FROM _sfflow.execution WHERE execution_id = 'gives:c');
SELECT sf_run('gives:c'), sf_run('given:g3');
SELECT execution_id, status, error FROM sf_executions WHERE execution_id IN ('gives:c', 'given:g3') ORDER BY 1;
SELECT count(*) AS tasks FROM _sfflow.task;
SELECT problem FROM sf_check();
ROLLBACK;

-- a function that is called for .sync returns the result itself: nothing waits for the token
SELECT sf_map_resource('arn:aws:states:::glue:startJobRun*', 'sql:public.send_letter');
SELECT sf_create_state_machine('glue', '{"StartAt": "G",
	"States": {"G": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync",
  "Parameters": {"token.$": "$$.Task.Token"}, "End": true}}}');
BEGIN;
SELECT sf_start('glue', '{}', 'a');
SELECT sf_run('glue:a');
SELECT output FROM sf_executions WHERE execution_id = 'glue:a';
SELECT length(token) > 20 AS has_token FROM letters;
SELECT count(*) AS tasks FROM _sfflow.task;
SELECT sf_send_task_success(token, '1') FROM letters;
ROLLBACK;
SELECT sf_unmap_resource('arn:aws:states:::glue:startJobRun*');

-- An activity that is not there: the task cannot be queued, and nothing catches that.
BEGIN;
SELECT sf_create_state_machine('lost', '{"StartAt": "L",
	"States": {"L": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:lost",
	"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "C"}], "End": true}, "C": {"Type": "Pass", "End": true}}}');
SELECT sf_start('lost', '{}', 'l');
SELECT sf_run('lost:l');
SELECT previous_event_id, type, details->>'error' AS error, details->>'cause' AS cause FROM sf_history
	WHERE execution_id = 'lost:l' AND id > 2 ORDER BY id;
ROLLBACK;

SELECT sf_drop_activity('shell');
SELECT sf_drop_activity('leased');
SELECT sf_drop_activity('nobody');
SELECT sf_drop_state_machine(m) FROM unnest(ARRAY['outside', 'lease', 'asked', 'letter', 'parent', 'child']) m;
DROP FUNCTION send_letter;
DROP TABLE letters;
