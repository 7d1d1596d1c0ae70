-- Executions from a session: start, step, run, stop, redrive.
-- Each scene is one transaction, so that no worker takes part in it.
\set VERBOSITY terse
SET client_min_messages = notice;

CREATE FUNCTION double(n integer) RETURNS integer LANGUAGE sql AS 'SELECT n * 2';
CREATE TABLE switch (fails boolean);
INSERT INTO switch VALUES (true);
CREATE TABLE ledger (job text);
CREATE FUNCTION job(name text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ledger VALUES (name);
	IF name = 'broken' AND (SELECT fails FROM switch) THEN
		RAISE check_violation USING MESSAGE = 'bad record', DETAIL = 'payment 17';
	END IF;
	RETURN jsonb_build_object('job', name);
END $$;

SELECT sf_create_state_machine('steps', '{
  "StartAt": "Twice",
  "States": {
    "Twice": {"Type": "Task", "Resource": "sql:public.double", "ResultPath": "$.twice", "Next": "Large?"},
    "Large?": {"Type": "Choice", "Default": "Pause",
               "Choices": [{"Variable": "$.twice", "NumericGreaterThan": 10, "Next": "Large"}]},
    "Large": {"Type": "Fail", "Error": "TooLarge", "CausePath": "States.Format(''{} is too large'', $.twice)"},
    "Pause": {"Type": "Wait", "Seconds": 3600, "Next": "Done"},
    "Done": {"Type": "Succeed"}
  }}', execution_id_path => '$.n');

-- the same again is the same version; another text is not
SELECT sf_create_state_machine('steps', definition, '$.n') FROM sf_state_machines WHERE state_machine = 'steps';
SELECT sf_create_state_machine('steps', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}');

-- step by step
BEGIN;
SELECT sf_start('steps', '{"n": 4}');
SELECT * FROM sf_step('steps:4');
SELECT * FROM sf_step('steps:4');
SELECT * FROM sf_step('steps:4');
SELECT * FROM sf_step('steps:4');
SELECT sf_run('steps:4');
SELECT sf_run('steps:4', skip_waits => true);
SELECT status, output, error, cause FROM sf_executions WHERE execution_id = 'steps:4';
SELECT id, previous_event_id AS prev, type, state, details FROM sf_history
 WHERE execution_id = 'steps:4' ORDER BY id;
SELECT problem FROM sf_check();
ROLLBACK;

-- a start that is rolled back has not happened
SELECT count(*) FROM sf_executions WHERE state_machine = 'steps';

-- one name, one run: what if_exists does
BEGIN;
SELECT sf_start('steps', '{"n": 4}', 'x');
SELECT sf_start('steps', '{"n": 4}', 'x');
SELECT sf_start('steps', '{"n": 5}', 'x');
SELECT sf_start('steps', '{"n": 4}', 'x', 'error');
SELECT sf_start('steps', '{"n": 5}', 'x', 'skip');
SAVEPOINT s;
SELECT sf_start('steps', '{"n": 5}', 'x', 'error');
ROLLBACK TO s;
SELECT sf_start('steps', '{"n": 5}', 'x', 'restart');
ROLLBACK TO s;
SELECT sf_run('steps:x', true);
SELECT sf_start('steps', '{"n": 4}', 'x');
SELECT sf_start('steps', '{"n": 5}', 'x');
SAVEPOINT s;
SELECT sf_start('steps', '{"n": 4}', 'x', 'error');
ROLLBACK TO s;
SELECT sf_redrive('steps:x');
ROLLBACK TO s;
SELECT sf_start('steps', '{"n": 6}', 'x', 'restart');
SELECT sf_run('steps:x', true);
SELECT status, error, cause, start_requests FROM sf_executions WHERE execution_id = 'steps:x';
SAVEPOINT s;
SELECT sf_start('steps', '{"n": 7}', 'x');
ROLLBACK TO s;
SELECT sf_start('steps', '{"n": 6}', 'x');
SELECT sf_run('steps:x', true);
SELECT status, redrive_count, start_requests FROM sf_executions WHERE execution_id = 'steps:x';
SELECT outcome, input_differs FROM sf_start_requests WHERE execution_id = 'steps:x' ORDER BY requested_at;
SELECT problem FROM sf_check();
ROLLBACK;

-- names and inputs that are refused
SELECT sf_start('steps', '{"n": 1.5}');
SELECT sf_start('steps', '{"n": {"deep": 1}}');
SELECT sf_start('steps', '{}');
SELECT sf_start('steps', '{}', 'a b');
SELECT sf_start('steps', '{}', repeat('x', 81));
SELECT sf_start('steps', NULL);
SELECT sf_start(NULL);
SELECT sf_start('steps/2');
SELECT sf_start('no such machine');
SELECT sf_start('steps', '{}', 'x', 'whatever');
SELECT sf_run('steps:nobody');

-- a failing branch drains: what does not depend on it runs, a redrive runs the rest
SELECT sf_create_state_machine('drain', '{
  "StartAt": "JOB-001",
  "States": {
    "JOB-001": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"name": "first"}, "Next": "Both"},
    "Both": {"Type": "Parallel", "FailureMode": "DRAIN", "Next": "JOB-006", "Branches": [
      {"StartAt": "JOB-002", "States": {
        "JOB-002": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"name": "aggregate"},
        	"Next": "JOB-003"},
        "JOB-003": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"name": "report"}, "End": true}}},
      {"StartAt": "JOB-004", "States": {
        "JOB-004": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"name": "reconcile"},
        	"Next": "JOB-005"},
        "JOB-005": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"name": "broken"}, "End": true}}}]},
    "JOB-006": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"name": "close"}, "End": true}
  }}');
BEGIN;
SELECT sf_start('drain', '{"id": 1}', 'night');
SELECT sf_run('drain:night');
SELECT job_id, job_status, attempts, error FROM sf_jobs WHERE execution_id = 'drain:night';
SELECT job, count(*) FROM ledger GROUP BY job ORDER BY job;
SELECT error, cause::jsonb - 'context' AS cause FROM sf_executions WHERE execution_id = 'drain:night';
SELECT problem FROM sf_check();
UPDATE switch SET fails = false;
SELECT sf_redrive('drain:night');
SELECT sf_run('drain:night');
SELECT job_id, job_status, attempts FROM sf_jobs WHERE execution_id = 'drain:night';
SELECT job, count(*) FROM ledger GROUP BY job ORDER BY job;
SELECT output FROM sf_executions WHERE execution_id = 'drain:night';
SELECT problem FROM sf_check();
ROLLBACK;

-- with ABORT, the default, the others end at once and run again on a redrive
SELECT sf_create_state_machine('abort', '{
  "StartAt": "Both",
  "States": {
    "Both": {"Type": "Parallel", "End": true, "Branches": [
      {"StartAt": "Bad", "States": {
        "Bad": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"name": "broken"}, "End": true}}},
      {"StartAt": "Slow", "States": {
        "Slow": {"Type": "Wait", "Seconds": 3600, "Next": "Good"},
        "Good": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"name": "good"}, "End": true}}}]}
  }}');
BEGIN;
SELECT sf_start('abort', '{}', 'a');
SELECT sf_run('abort:a');
SELECT type, state, previous_event_id AS prev FROM sf_history WHERE execution_id = 'abort:a' ORDER BY id;
SELECT job_id, job_status FROM sf_jobs WHERE execution_id = 'abort:a';
UPDATE switch SET fails = false;
SELECT sf_redrive('abort:a');
SELECT sf_run('abort:a', true);
SELECT job_id, job_status, attempts FROM sf_jobs WHERE execution_id = 'abort:a';
SELECT problem FROM sf_check();
ROLLBACK;

-- stop, redrive from a state, redrive with another input
BEGIN;
SELECT sf_start('steps', '{"n": 4}', 's');
SELECT sf_run('steps:s');
SELECT sf_stop('steps:s', 'Operator', 'not tonight');
SELECT sf_stop('steps:s');
SELECT status, error, cause, stopped_at IS NOT NULL AS stopped FROM sf_executions WHERE execution_id = 'steps:s';
SELECT sf_run('steps:s', true);
SAVEPOINT s;
SELECT sf_redrive('steps:s', input => '{}');
ROLLBACK TO s;
SELECT sf_redrive('steps:s', 'Nowhere');
ROLLBACK TO s;
SELECT sf_redrive('steps:s');
SELECT sf_run('steps:s', true);
SELECT status, output FROM sf_executions WHERE execution_id = 'steps:s';
ROLLBACK TO s;
SELECT sf_redrive('steps:s', 'Twice', '{"n": 1}');
SELECT sf_run('steps:s', true);
SELECT status, output, redrive_count FROM sf_executions WHERE execution_id = 'steps:s';
SELECT problem FROM sf_check();
ROLLBACK;

-- the machine's timeout
SELECT sf_create_state_machine('late', '{"TimeoutSeconds": 60, "StartAt": "W",
  "States": {"W": {"Type": "Wait", "Seconds": 3600, "End": true}}}');
BEGIN;
SELECT sf_start('late', '{}', 'a');
SELECT sf_run('late:a', true);
SELECT type, previous_event_id AS prev, details - 'input' AS details FROM sf_history WHERE execution_id = 'late:a'
	ORDER BY id;
SELECT problem FROM sf_check();
ROLLBACK;

-- Retry and Catch
SELECT sf_create_state_machine('retry', '{
  "StartAt": "Try",
  "States": {
    "Try": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"name": "broken"},
            "Retry": [{"ErrorEquals": ["unique_violation"], "MaxAttempts": 9},
                      {"ErrorEquals": ["23514"], "IntervalSeconds": 5, "MaxAttempts": 2}],
            "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Caught"}],
            "End": true},
    "Caught": {"Type": "Pass", "Parameters": {"error.$": "$.error.Error"}, "End": true}
  }}');
BEGIN;
SELECT sf_start('retry', '{"a": 1}', 'a');
SELECT * FROM sf_step('retry:a');
SELECT sf_run('retry:a');
SELECT sf_run('retry:a', true);
SELECT status, output FROM sf_executions WHERE execution_id = 'retry:a';
SELECT job_id, job_status, attempts, error FROM sf_jobs WHERE execution_id = 'retry:a';
SELECT count(*) FROM ledger;
ROLLBACK;

-- Map: the item of an iteration in the context object, when all iterations have begun
BEGIN;
SELECT sf_create_state_machine('map_item', '{
  "QueryLanguage": "JSONata", "StartAt": "Each",
  "States": {
    "Each": {"Type": "Map", "Items": "{% $states.input.list %}", "ItemSelector": {}, "End": true,
      "ItemProcessor": {"StartAt": "First", "States": {
        "First": {"Type": "Pass", "Next": "Second"},
        "Second": {"Type": "Pass", "Output": "{% $states.context.Map.Item.Value %}", "End": true}}}}
  }}');
SELECT execution_id FROM sf_start('map_item', '{"list": ["a", "b"]}', 'a') execution_id;
SELECT sf_run('map_item:a');
SELECT status, output, cause FROM sf_executions WHERE execution_id = 'map_item:a';
ROLLBACK;

-- ... it is the item that the iteration began with, though Items would give others now: in its first state,
-- in a later one, in a branch of a Parallel state, and where only a catcher looks at it
BEGIN;
SELECT sf_create_state_machine('map_item', '{
  "QueryLanguage": "JSONata", "StartAt": "Each",
  "States": {
    "Each": {"Type": "Map", "Items": "{% [1..3].$random() %}", "ItemSelector": {}, "End": true,
      "ItemProcessor": {"StartAt": "First", "States": {
        "First": {"Type": "Pass", "Assign": {"first": "{% $states.context.Map.Item.Value %}"}, "Next": "Second"},
        "Second": {"Type": "Pass", "Assign": {"second": "{% $states.context.Map.Item.Value %}"}, "Next": "Third"},
        "Third": {"Type": "Parallel", "Next": "Same", "Branches": [{"StartAt": "In", "States": {
            "In": {"Type": "Pass", "Output": "{% $states.context.Map.Item.Value %}", "End": true}}}]},
        "Same": {"Type": "Pass", "Output": "{% $first > 0 and $second = $first and $states.input[0] = $first %}",
        	"End": true}}}}
  }}');
SELECT sf_create_state_machine('map_item_caught', '{
  "QueryLanguage": "JSONata", "StartAt": "Each",
  "States": {
    "Each": {"Type": "Map", "Items": "{% [\"a\", \"b\"] %}", "ItemSelector": {}, "End": true,
      "ItemProcessor": {"StartAt": "Try", "States": {
        "Try": {"Type": "Parallel", "End": true,
        	"Branches": [{"StartAt": "Fail", "States": {"Fail": {"Type": "Fail", "Error": "E"}}}],
          "Catch": [{"ErrorEquals": ["E"], "Output": "{% $states.context.Map.Item %}", "Next": "End"}]},
        "End": {"Type": "Succeed"}}}}
  }}');
SELECT sf_start(machine, '{}', 'a') FROM (VALUES ('map_item'), ('map_item_caught')) AS m (machine);
SELECT sf_run('map_item:a'), sf_run('map_item_caught:a');
SELECT execution_id, status, output, cause FROM sf_executions
	WHERE execution_id IN ('map_item:a', 'map_item_caught:a') ORDER BY 1;
ROLLBACK;

-- The input and the item are in the context object however an expression gets at them: only states that
-- name something else there do without
BEGIN;
CREATE FUNCTION pg_temp.in_context(id int, fields jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_create_state_machine('context' || id, jsonb_build_object('StartAt', 'Each', 'States',
		jsonb_build_object('Each',
		'{"Type": "Map", "ItemsPath": "$.list", "End": true}' || jsonb_build_object('ItemProcessor',
			jsonb_build_object('StartAt', 'First',
		'States', jsonb_build_object('First', '{"Type": "Pass", "Result": {}, "Next": "Look"}'::jsonb,
			'Look', '{"Type": "Pass", "End": true}' || fields)))))::json);
	PERFORM sf_start('context' || id, '{"in": 1, "list": ["a"]}', 'a');
	PERFORM sf_run('context' || id || ':a');
	RETURN (SELECT coalesce(output -> 0, to_jsonb(cause)) FROM sf_executions
		WHERE execution_id = 'context' || id || ':a');
END $$;
SELECT expression, pg_temp.in_context(n::int, jsonb_build_object('Parameters', jsonb_build_object('v.$', expression)))
FROM unnest(ARRAY['$$.Execution.Input', '$$.Execution[''Input'']', '$$[''Execution''].Input.in', '$$.*.Input.in',
	'$$..Input.in',
	'States.Format(''{}'', $$.Execution.Input.in)', 'States.Format(''{}'', $$.Execution.Name)', '$$.Map.Item.Value',
		'$$[''Map''].Item',
	'$$..Item', '$$.StateMachine.Name', 'States.JsonToString($$.Map)']) WITH ORDINALITY AS e (expression, n);
SELECT expression, pg_temp.in_context(100 + n::int, jsonb_build_object('QueryLanguage', 'JSONata', 'Output',
	'{% ' || expression || ' %}') - 'Result')
FROM unnest(ARRAY['$states.context.Execution.Input', '$states.context.*.Input.in',
	'$states.context.(Execution.Input.in)',
	'($c := $states.context; $c.Map.Item)', '($s := $states; $s.context.Execution.Input.in)',
		'$lookup($states.context, "Execution").Input.in',
	'$states.context[Execution.Input.in = 1].Map.Item', '$states.context@$c.($c.Execution.Input.in)',
	'$states.context.State@$s.Execution.Input.in', '$states.context.State.Name.%.%.Execution.Input.in',
	'$states.context.Execution.Name.%.Input.in', '$states.context.StateMachine.Name', '$states.context.Map.Item.Value'])
	WITH ORDINALITY AS e (expression, n);
ROLLBACK;

-- Map: order, concurrency, selector, nesting
SELECT sf_create_state_machine('map', '{
  "StartAt": "Outer",
  "States": {
    "Outer": {"Type": "Map", "ItemsPath": "$.rows", "MaxConcurrency": 1,
      "ItemSelector": {"row.$": "$$.Map.Item.Value", "i.$": "$$.Map.Item.Index", "all.$": "States.ArrayLength($.rows)"},
      "ItemProcessor": {"StartAt": "Inner", "States": {
        "Inner": {"Type": "Map", "ItemsPath": "$.row", "ResultPath": "$.row", "End": true,
          "ItemProcessor": {"StartAt": "Double", "States": {
            "Double": {"Type": "Task", "Resource": "sql:public.double", "Parameters": {"n.$": "$"}, "End": true}}}}}},
      "End": true}
  }}');
BEGIN;
SELECT sf_start('map', '{"rows": [[1, 2], [], [3]]}', 'a');
SELECT sf_run('map:a');
SELECT output FROM sf_executions WHERE execution_id = 'map:a';
SELECT job_id, job_status, output FROM sf_jobs WHERE execution_id = 'map:a';
SELECT problem FROM sf_check();
ROLLBACK;

-- purge: what has ended long enough ago, of the caller's machines
BEGIN;
SELECT sf_start('map', '{"rows": []}', n::text) FROM generate_series(1, 5) n;
SELECT sf_run(execution_id) FROM sf_executions WHERE state_machine = 'map' ORDER BY name LIMIT 4;
SELECT sf_purge('1 hour');
UPDATE _sfflow.execution SET stopped_at = stopped_at - interval '2 hours' WHERE execution_id <> 'map:4';
SELECT sf_purge('1 hour', 2);
SET LOCAL ROLE pg_monitor;
SELECT sf_purge('1 hour');
RESET ROLE;
SELECT sf_purge('1 hour');
SELECT execution_id, status FROM sf_executions ORDER BY 1;
SELECT count(DISTINCT execution_no) FROM _sfflow.history;
SELECT problem FROM sf_check();
SELECT sf_purge(NULL);
ROLLBACK;

-- a Wait for a point in time: one that has passed, one that has not
SELECT sf_create_state_machine('until', '{"StartAt": "Past", "States": {
  "Past": {"Type": "Wait", "Timestamp": "2001-02-03T04:05:06+09:00", "Next": "Future"},
  "Future": {"Type": "Wait", "Timestamp": "2090-02-03T04:05:06+09:00", "End": true}}}');
BEGIN;
SELECT sf_run(sf_start('until', '{}', 'then'));
SELECT waiting_on FROM sf_executions WHERE execution_id = 'until:then';
SELECT sf_run('until:then', skip_waits => true);
ROLLBACK;
SELECT sf_drop_state_machine('until');

-- drop
SELECT sf_drop_state_machine(m) FROM unnest(ARRAY['steps', 'drain', 'abort', 'late', 'retry', 'map']) m;
SELECT count(*) FROM sf_state_machines WHERE state_machine IN ('steps', 'drain', 'abort', 'late', 'retry', 'map');
DROP FUNCTION job, double;
DROP TABLE switch, ledger;

-- A name that comes twice in one call, under REPEATABLE READ.
SELECT sf_create_state_machine('once', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM sf_start_many('once', '{"{}", "{}"}'::jsonb[], ARRAY['twice', 'twice']);
ROLLBACK;
SELECT sf_drop_state_machine('once');

-- A saga that has undone its work stands in its Fail state: a redrive repeats that alone, and says so.
SELECT sf_create_state_machine('saga', '{"StartAt": "Pay", "States": {
	"Pay": {"Type": "Task", "Resource": "sql:public.sf_raise", "Parameters": {"error": "NoMoney"},
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Undo"}], "Next": "Paid"},
	"Undo": {"Type": "Pass", "Next": "Not paid"}, "Not paid": {"Type": "Fail", "Error": "NotPaid"},
		"Paid": {"Type": "Succeed"}}}');
BEGIN;
SELECT sf_run(sf_start('saga', '{}', 's'));
\set VERBOSITY default
SELECT sf_redrive('saga:s');
SELECT sf_run('saga:s');
SELECT sf_redrive('saga:s', from_state => 'Pay');
SELECT sf_run('saga:s');
SELECT * FROM sf_start('saga', '{}', 's', if_exists => 'resume');
\set VERBOSITY terse
ROLLBACK;
SELECT sf_drop_state_machine('saga');
