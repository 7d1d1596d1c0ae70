-- Rules: which changes make which deliveries, what targets get, failures, rights, chains.
BEGIN;
SELECT plan(93);

CREATE ROLE rule_owner;
CREATE ROLE rule_other;
CREATE SCHEMA rules;
GRANT USAGE, CREATE ON SCHEMA rules TO rule_owner;
CREATE TABLE rules.got (n serial, who name DEFAULT current_user, e jsonb);
GRANT ALL ON rules.got TO rule_owner;
GRANT USAGE ON SEQUENCE rules.got_n_seq TO rule_owner;
SET ROLE rule_owner;
CREATE FUNCTION rules.note(event jsonb) RETURNS void LANGUAGE sql AS 'INSERT INTO rules.got (e) VALUES (event)';
CREATE FUNCTION rules.by_name(name text, status text DEFAULT 'none') RETURNS void LANGUAGE sql AS
	'INSERT INTO rules.got (e) VALUES (jsonb_build_array(name, status))';
CREATE FUNCTION rules.fail(event jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE 'no, %',
	event #>> '{detail,name}' USING ERRCODE = 'P0042'; END $$;
SELECT sf_create_state_machine('work', '{"StartAt": "Which", "States": {
	"Which": {"Type": "Choice", "Default": "Good", "Choices": [{"Variable": "$.bad", "IsPresent": true,
		"Next": "Bad"}]},
	"Good": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT 1 AS one"}, "End": true},
	"Bad": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT 1 / 0"}, "End": true,
		"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1, "IntervalSeconds": 1}]}}}') \g /dev/null
SELECT sf_create_state_machine('after', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}') \g /dev/null

-- Run an execution to its end, then what is due.
CREATE FUNCTION pg_temp.run(machine text, name text, input jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_start(machine, input, name);
	RETURN sf_run(machine || ':' || name, skip_waits => true);
END $$;
CREATE FUNCTION pg_temp.deliver() RETURNS void LANGUAGE plpgsql SET client_min_messages = error
	AS $$ BEGIN CALL sf_run_due(); END $$;
CREATE FUNCTION pg_temp.got() RETURNS text LANGUAGE sql AS $$
	WITH g AS (DELETE FROM rules.got RETURNING *)
	SELECT string_agg(concat_ws(' ', e #>> '{detail,job}', e #>> '{detail,status}'), ', ' ORDER BY n) FROM g
$$;

-- Without a rule nothing is written.
SELECT is(pg_temp.run('work', 'none'), 'SUCCEEDED', 'an execution without rules');
RESET ROLE;
SELECT is((SELECT count(*) FROM _sfflow.rule_delivery), 0::bigint, 'makes no delivery');
SET ROLE rule_owner;

-- A function that gets the event.
SELECT lives_ok($$ SELECT sf_create_rule('all', '{"source": [{"exists": true}]}', 'sql:rules.note') $$,
	'a rule that matches all');
SELECT pg_temp.run('work', 'good') \g /dev/null
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '3 0 0',
	'the deliveries of an execution: it begins, its job and it succeed');
SELECT set_eq('SELECT status, attempts, next_attempt FROM sf_rule_deliveries',
	$$ VALUES ('PENDING', 0, NULL::timestamptz) $$, 'they wait');
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '0 3 0', 'and are made');
SELECT is((SELECT string_agg(DISTINCT who, ' ') FROM rules.got), 'rule_owner', 'as the owner of the rule');
SELECT is((SELECT e - 'id' - 'time' - 'detail' FROM rules.got WHERE e #>> '{detail,status}' = 'RUNNING'),
	'{"version": "0", "detail-type": "Step Functions Execution Status Change", "source": "aws.states",
		"account": "000000000000", "region": "us-east-1",
	"resources": ["arn:aws:states:us-east-1:000000000000:execution:work:good"]}',
	'an event has the form of Step Functions');
SELECT matches((SELECT e ->> 'time' FROM rules.got LIMIT 1), '^20..-..-..T..:..:..Z$', 'its time');
SELECT is((SELECT count(DISTINCT e ->> 'id') FROM rules.got), 3::bigint, 'its id is its own');
SELECT is((SELECT e -> 'detail' #- '{startDate}' FROM rules.got WHERE e #>> '{detail,status}' = 'RUNNING'),
	'{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:work:good",
		"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:work",
	"name": "good", "status": "RUNNING", "stopDate": null,
		"stateMachineVersionArn": "arn:aws:states:us-east-1:000000000000:stateMachine:work:1",
	"stateMachineAliasArn": null, "redriveCount": 0, "redriveDate": null, "redriveStatus": "NOT_REDRIVABLE",
	"redriveStatusReason": "Execution is RUNNING and cannot be redriven", "input": "{}",
		"inputDetails": {"included": true}, "output": null,
	"outputDetails": null, "error": null, "cause": null}', 'the detail when an execution begins');
SELECT is((SELECT ARRAY[e #>> '{detail,output}', e #>> '{detail,outputDetails,included}',
			e #>> '{detail,redriveStatus}'] FROM rules.got
	WHERE e #>> '{detail,status}' = 'SUCCEEDED' AND e ->> 'source' = 'aws.states'),
	ARRAY['{"Rows":[{"one":1}],"RowCount":1}', 'true', 'NOT_REDRIVABLE'], 'and when it has succeeded');
SELECT ok((SELECT (e #>> '{detail,stopDate}')::bigint BETWEEN (e #>> '{detail,startDate}')::bigint
		AND extract(epoch FROM clock_timestamp()) * 1000 FROM rules.got
	WHERE e #>> '{detail,status}' = 'SUCCEEDED' AND e ->> 'source' = 'aws.states'), 'dates are milliseconds');
SELECT is((SELECT e -> 'detail' #- '{startDate}' #- '{stopDate}' FROM rules.got WHERE e ->> 'source' = 'sfflow.jobs'),
	'{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:work:good",
		"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:work",
	"name": "good", "job": "Good", "status": "SUCCEEDED", "attempt": 0, "error": null, "cause": null}',
	'the detail of a job');
SELECT is(pg_temp.got(), 'RUNNING, Good SUCCEEDED, SUCCEEDED', 'in the order in which they happened');
SELECT sf_set_alias('work', 'live', '{"1": 100}'), sf_start('work/live', '{}', 'aliased') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT array_agg(DISTINCT e #>> '{detail,stateMachineAliasArn}') FROM rules.got
		WHERE e ->> 'source' = 'aws.states'),
	'{arn:aws:states:us-east-1:000000000000:stateMachine:work:live}', 'the alias by which an execution was started');
SELECT sf_stop('work:aliased') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
DELETE FROM rules.got;

-- A failure, a retry, a redrive, a stop, a time limit.
SELECT is(pg_temp.run('work', 'bad', '{"bad": 1}'), 'FAILED', 'an execution that fails');
SELECT sf_redrive('work:bad'), sf_run('work:bad', skip_waits => true) \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT array_agg(e #> '{detail,attempt}' ORDER BY n) FROM rules.got WHERE e ->> 'source' = 'sfflow.jobs'),
	ARRAY['0', '1', '0', '1']::jsonb[], 'each attempt of a job');
SELECT is((SELECT array_agg(DISTINCT e #>> '{detail,error}') FROM rules.got WHERE e #>> '{detail,status}' = 'FAILED'),
	ARRAY['division_by_zero'], 'with its error');
SELECT is((SELECT array_agg(concat_ws(' ', e #> '{detail,redriveCount}', e #>> '{detail,redriveStatus}',
			e #> '{detail,redriveDate}' <> 'null') ORDER BY n) FROM rules.got WHERE e ->> 'source' = 'aws.states'),
	ARRAY['0 NOT_REDRIVABLE f', '0 REDRIVABLE f', '1 NOT_REDRIVABLE t', '1 REDRIVABLE t'], 'a redrive');
SELECT is(pg_temp.got(), 'RUNNING, Bad FAILED, Bad FAILED, FAILED, OPENED, CLEARED, RUNNING, Bad FAILED, Bad FAILED, '
	'FAILED, OPENED, OPENED', 'all of them, and of the alerts');
SELECT sf_start('after', '{}', 'stopped'), sf_stop('after:stopped', 'Mine', 'no more') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT e -> 'detail' -> 'error' || (e -> 'detail' -> 'cause') FROM rules.got
		WHERE e #>> '{detail,status}' = 'ABORTED'), '["Mine", "no more"]', 'an execution that was stopped');
SELECT pg_temp.got() \g /dev/null
SELECT sf_create_state_machine('slow', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:query",
	"Parameters": {"Statement": "SELECT pg_sleep(30)"},
	"TimeoutSeconds": 1, "End": true}}}'), pg_temp.run('slow', 'a') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is(pg_temp.got(), 'RUNNING, T TIMED_OUT, FAILED, OPENED', 'a job whose time is up');
SELECT lives_ok($$ SELECT sf_drop_rule('all') $$, 'a rule is dropped');
SELECT pg_temp.run('work', 'after') \g /dev/null
RESET ROLE;
SELECT is((SELECT count(*) FROM _sfflow.rule_delivery), 0::bigint, 'and makes no more deliveries');
SET ROLE rule_owner;

-- Input: arguments of a function from a template.
SELECT sf_create_rule('named', '{"detail": {"status": ["SUCCEEDED"]}, "source": ["aws.states"]}', 'sql:rules.by_name',
	'{"name.$": "$.detail.name"}') \g /dev/null
SELECT pg_temp.run('work', 'x') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT e FROM rules.got), '["x", "none"]', 'a template makes the arguments');
DELETE FROM rules.got;
-- The pattern may look at the input and the output.
SELECT sf_create_rule('named', '{"detail": {"input": [{"wildcard": "*\"k\":1*"}], "status": ["RUNNING"]}}',
	'sql:rules.by_name', '{"name.$": "$.detail.name"}') \g /dev/null
SELECT pg_temp.run('work', 'y'), pg_temp.run('work', 'z', '{"k": 1}') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT string_agg(e ->> 0, ' ') FROM rules.got), 'z', 'a pattern over the input; the rule was replaced');
SELECT is((SELECT delivered FROM sf_rules), 2::bigint, 'its counter goes on');
SELECT sf_drop_rule('named') \g /dev/null

-- A machine.
SELECT sf_create_rule('chain', '{"detail": {"stateMachineArn": [{"suffix": ":work"}], "status": ["SUCCEEDED"]},
	"source": ["aws.states"]}', 'after') \g /dev/null
SELECT pg_temp.run('work', 'm') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT count(*) FROM sf_executions WHERE state_machine = 'after' AND name ~ '^chain-[0-9a-f-]{36}$'
		AND status = 'SUCCEEDED'), 1::bigint, 'a machine: an execution named for rule and event');
SELECT is((SELECT input #>> '{detail,name}' FROM sf_executions WHERE name LIKE 'chain-%'), 'm',
	'its input is the event');
-- An event that is delivered again finds its execution.
RESET ROLE;
SELECT pg_temp.run('work', 'again') \g /dev/null
SELECT sf_start('after', '{}', 'chain-' || event_id) FROM sf_rule_deliveries \g /dev/null
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '0 2 0',
	'an execution of that name is left as it is');
SELECT sf_drop_rule('chain') \g /dev/null

-- An activity.
SELECT sf_create_activity('report') \g /dev/null
SELECT sf_create_rule('hand-out', '{"detail": {"name": ["act"], "status": ["SUCCEEDED"]}, "source": ["aws.states"]}',
	'activity:report', '{"who.$": "$.detail.name"}') \g /dev/null
SELECT pg_temp.run('work', 'act') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT input FROM sf_get_activity_task('report', 'w')), '{"who": "act"}',
	'an activity: a task with the input');
SELECT lives_ok($$ SELECT sf_create_rule('hand-out', '{"source": ["none"]}', 'activity:report') $$,
	'its machine stays as it is');
SELECT sf_drop_rule('hand-out') \g /dev/null

-- The right to answer tasks of an activity does not do: each execution would fail for want of WORK.
RESET ROLE;
SELECT sf_create_activity('guarded'), sf_grant('SEND', 'activity:guarded', 'rule_owner') \g /dev/null
SET ROLE rule_owner;
SELECT throws_ok($$ SELECT sf_create_rule('no-work', '{"source": ["aws.states"]}', 'activity:guarded') $$, '42501',
	'permission denied for activity "guarded"');
RESET ROLE;
SELECT sf_grant('WORK', 'activity:guarded', 'rule_owner') \g /dev/null
SET ROLE rule_owner;
SELECT sf_create_rule('no-work', '{"detail": {"name": ["w1", "w2", "w3"], "status": ["SUCCEEDED"]},
	"source": ["aws.states"]}', 'activity:guarded') \g /dev/null
SELECT pg_temp.run('work', 'w1') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '0 1 0',
	'a rule gives work to an activity on which its owner has WORK');
SELECT pg_temp.run('work', 'w2') \g /dev/null
RESET ROLE;
SELECT sf_revoke('WORK', 'activity:guarded', 'rule_owner') \g /dev/null
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '1 1 0 42501',
	'... and when the right is gone, the delivery fails');
RESET ROLE;
SELECT sf_grant('WORK', 'activity:guarded', 'rule_owner') \g /dev/null
UPDATE _sfflow.rule_delivery SET due_at = now();
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '0 2 0',
	'... until the owner has it again');
RESET ROLE;
SELECT sf_stop(execution_id) FROM sf_executions WHERE state_machine = 'rule-no-work' AND status = 'RUNNING' \g /dev/null
SELECT sf_drop_activity('guarded') \g /dev/null
SET ROLE rule_owner;
SELECT pg_temp.run('work', 'w3') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT last_cause FROM sf_rules), 'activity "guarded" does not exist',
	'a delivery to an activity that was dropped fails');
SELECT sf_drop_rule('no-work') \g /dev/null

-- A chain ends.
SELECT sf_create_rule('loop', '{"detail": {"stateMachineArn": [{"suffix": ":after"}], "status": ["SUCCEEDED"]}}',
	'after', '{}') \g /dev/null
SELECT pg_temp.run('after', 'first') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '0 10 1 Sfflow.RuleChainTooLong',
	'a chain of rules ends after ten');
SELECT is(sf_discard_deliveries('loop'), 1::bigint, 'and its end is a dead delivery');
SELECT sf_drop_rule('loop') \g /dev/null
-- ... also where a function starts the next execution, or a task of it does.
CREATE FUNCTION rules.start_task(event jsonb) RETURNS text LANGUAGE sql AS $$ SELECT sf_start('starts', '{}') $$;
CREATE FUNCTION rules.start_after() RETURNS text LANGUAGE sql AS $$ SELECT sf_start('after', '{}') $$;
SELECT sf_create_state_machine('starts', '{"StartAt": "T", "States": {"T": {"Type": "Task",
	"Resource": "sql:rules.start_after", "Parameters": {}, "End": true}}}') \g /dev/null
SELECT sf_create_rule('loop', '{"detail": {"stateMachineArn": [{"suffix": ":after"}], "status": ["SUCCEEDED"]}}',
	'sql:rules.start_task') \g /dev/null
SELECT pg_temp.run('after', 'second') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '0 10 1 Sfflow.RuleChainTooLong',
	'also through functions and tasks');
SELECT sf_drop_rule('loop') \g /dev/null

-- Failures: tried again, then dead; redelivered or dropped.
SELECT sf_create_rule('bad', '{"detail": {"status": ["RUNNING"]}}', 'sql:rules.fail') \g /dev/null
SELECT pg_temp.run('work', 'f1'), pg_temp.run('work', 'f2') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver(), pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '2 0 0 P0042',
	'a delivery that fails waits');
SELECT set_eq('SELECT status, attempts, cause::jsonb ->> ''message'' FROM sf_rule_deliveries',
	$$ VALUES ('PENDING', 1, 'no, f1'), ('PENDING', 1, 'no, f2') $$, 'with its error');
SELECT ok((SELECT bool_and(next_attempt BETWEEN failed_at - interval '1 s' AND failed_at + interval '1 s')
		FROM sf_rule_deliveries), 'for a second');
RESET ROLE;
SELECT is((SELECT string_agg(status || ' ' || attempt, ', ') FROM _sfflow.rule_delivery), '3 1, 3 1',
	'its row has the status RETRY');
SELECT throws_ok('UPDATE _sfflow.rule_delivery SET ' || wrong, '23514', NULL, wrong || ' does not fit to it')
	FROM unnest('{status = 4,attempt = 0,due_at = NULL,status = 5}'::text[]) AS wrong;
SELECT set_config('sfflow.rule_attempts', '3', true) \g /dev/null
UPDATE _sfflow.rule_delivery SET due_at = now();
SELECT clock_timestamp() AS before \gset
SELECT pg_temp.deliver() \g /dev/null
SELECT ok((SELECT bool_and(due_at BETWEEN :'before'::timestamptz + interval '1.5 s'
			AND clock_timestamp() + interval '2 s') FROM _sfflow.rule_delivery), 'the pause doubles');
UPDATE _sfflow.rule_delivery SET due_at = now();
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '0 0 2 P0042',
	'after the last attempt it is dead');
SELECT is(sf_discard_deliveries('bad', event_id), 1::bigint, 'one is discarded') FROM sf_rule_deliveries
	WHERE cause::jsonb ->> 'message' = 'no, f2';
CREATE OR REPLACE FUNCTION rules.fail(event jsonb) RETURNS void
	LANGUAGE sql AS 'INSERT INTO rules.got (e) VALUES (event)';
DELETE FROM rules.got;
SELECT is(sf_redeliver('bad'), 1::bigint, 'the others are tried anew');
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules), '0 1 0', 'with success');
SELECT is((SELECT e #>> '{detail,name}' FROM rules.got), 'f1', 'and the event of then');

-- Privileges are checked when the target is called, too.
SELECT pg_temp.run('work', 'r1') \g /dev/null
REVOKE EXECUTE ON FUNCTION rules.fail FROM public, rule_owner;
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT last_error FROM sf_rules), 'insufficient_privilege', 'a function that the owner may no longer call');
-- A failed delivery that may have no further attempt, since fewer are allowed now, is dead with its error.
RESET ROLE;
SELECT set_config('sfflow.rule_attempts', '1', true) \g /dev/null
UPDATE _sfflow.rule_delivery SET due_at = now();
SELECT pg_temp.deliver() \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT concat_ws(' ', pending, dead, last_error) FROM sf_rules), '0 1 insufficient_privilege',
	'fewer attempts are allowed');
SELECT sf_drop_rule('bad') \g /dev/null

-- What is refused.
SELECT throws_ok($$ SELECT sf_create_rule('r', '{"a": 1}', 'after') $$, 'SF050',
	'invalid event pattern at "/a": must be an array of values and operators, or an object');
SELECT throws_ok($$ SELECT sf_create_rule('a b', '{"a": [1]}', 'after') $$, 'SF002');
SELECT throws_ok($$ SELECT sf_create_rule('r', '{"a": [1]}', 'nothing') $$, 'SF003');
SELECT throws_ok($$ SELECT sf_create_rule('r', '{"a": [1]}', 'activity:nothing') $$, 'SF018');
SELECT throws_ok($$ SELECT sf_create_rule('r', '{"a": [1]}', 'sql:rules.nothing') $$, '42883');
SELECT throws_ok($$ SELECT sf_create_rule('r', '{"a": [1]}', 'sql:query') $$, 'SF012');
SELECT throws_ok($$ SELECT sf_create_rule('r', '{"a": [1]}', 'notify:') $$, 'SF012');
SELECT throws_ok($$ SELECT sf_create_rule('r', '{"a": [1]}', 'after', '{"x.$": "no path"}') $$, 'SF012');
SELECT throws_ok($$ SELECT sf_drop_rule('r') $$, '42704', 'rule "r" does not exist');

-- Rights: a rule sees what its owner may READ.
SELECT sf_create_rule('mine', '{"source": ["aws.states"], "detail": {"status": ["RUNNING"]}}', 'sql:rules.note')
	\g /dev/null
SET ROLE rule_other;
SELECT throws_ok($$ SELECT sf_create_rule('r', '{"a": [1]}', 'after') $$, 'SF003', NULL,
	'another role may not start the machine');
SELECT throws_ok($$ SELECT sf_drop_rule('mine') $$, '42704', 'rule "mine" does not exist');
SELECT throws_ok($$ SELECT sf_create_rule('mine', '{"a": [1]}', 'notify:x') $$, '42710',
	'rule "mine" belongs to another role');
SELECT is_empty('SELECT FROM sf_rules', 'nor does it see the rule');
SELECT sf_create_rule('spy', '{"source": ["aws.states"], "detail": {"status": ["RUNNING"]}}', 'notify:spy') \g /dev/null
SET ROLE rule_owner;
SELECT pg_temp.run('work', 's1') \g /dev/null
SELECT sf_grant('READ', 'work', 'rule_other') \g /dev/null
SELECT pg_temp.run('work', 's2') \g /dev/null
SET ROLE rule_other;
SELECT is((SELECT string_agg(event #>> '{detail,name}', ' ') FROM sf_rule_deliveries), 's2',
	'a rule sees executions of machines that its owner may READ');
RESET ROLE;

-- Owners.
SELECT throws_ok('DROP ROLE rule_other', '2BP01');
SELECT lives_ok($$ SELECT sf_alter_owner('rule:spy', 'rule_owner') $$, 'a rule gets another owner');
SELECT is((SELECT count(*) FROM _sfflow.rule_delivery d JOIN _sfflow.rule r USING (rule_no) WHERE r.name = 'spy'
		AND d.owner = 'rule_owner'::regrole), 1::bigint, 'with its deliveries');

-- The machine of an activity belongs to the owner of the rule, whoever makes it, and goes to the next one.
CREATE ROLE rule_member;
GRANT rule_owner TO rule_member;
SET ROLE rule_owner;
SELECT sf_create_rule('tasks', '{"detail": {"name": ["tasks"], "status": ["SUCCEEDED"]}, "source": ["aws.states"]}',
	'notify:x') \g /dev/null
SET ROLE rule_member;
SELECT sf_create_rule('tasks', '{"detail": {"name": ["tasks"], "status": ["SUCCEEDED"]}, "source": ["aws.states"]}',
	'activity:report') \g /dev/null
SET ROLE rule_owner;
SELECT is((SELECT owner FROM sf_state_machines WHERE state_machine = 'rule-tasks'), 'rule_owner'::regrole,
	'a member makes the machine of an activity for the owner of the rule');
SELECT pg_temp.run('work', 'tasks') \g /dev/null
RESET ROLE;
SELECT pg_temp.deliver() \g /dev/null
SELECT is((SELECT concat_ws(' ', pending, delivered, dead, last_error) FROM sf_rules WHERE rule_name = 'tasks'),
	'0 1 0', '... which may start it');
CREATE ROLE rule_heir;
SELECT sf_alter_owner('rule:tasks', 'rule_heir'), sf_alter_owner('activity:report', 'rule_heir'),
	sf_grant('READ', 'work', 'rule_heir') \g /dev/null
SELECT is((SELECT owner FROM sf_state_machines WHERE state_machine = 'rule-tasks'), 'rule_heir'::regrole,
	'the machine gets the owner that the rule gets');
SELECT throws_ok('DROP ROLE rule_heir', '2BP01', NULL, '... which cannot be dropped');
SELECT sf_drop_rule('tasks') \g /dev/null
SELECT is((SELECT count(*) FROM sf_check()), 0::bigint, '... and the tables hold together');
SELECT sf_revoke('CREATE', '*', 'public') \g /dev/null
SET ROLE rule_owner;
SELECT throws_ok($$ SELECT sf_create_rule('r', '{"a": [1]}', 'after') $$, '42501', 'permission denied to create rules');
RESET ROLE;
SELECT sf_grant('CREATE', '*', 'public') \g /dev/null

-- Quotas of an owner: how many rules, and how many bytes of patterns and inputs.
CREATE ROLE rule_tenant;
ALTER ROLE rule_tenant SET sfflow.max_rules_per_owner = 3;
ALTER ROLE rule_tenant SET sfflow.max_rule_bytes_per_owner = '1kB';
SET ROLE rule_tenant;
SELECT throws_ok($$ SELECT sf_create_rule('big',
		jsonb_build_object('a', (SELECT jsonb_agg(i) FROM generate_series(1, 300000) i)), 'notify:x') $$,
	'SF040', 'rule "big" is more than role "rule_tenant" may have', 'a pattern may be too large');
SELECT throws_ok($$ SELECT sf_create_rule('big', '{"a": [1]}', 'notify:x', jsonb_build_object('a', repeat('x', 2000)))
	$$,
	'SF040', NULL, '... and an input');
SELECT lives_ok($$ SELECT sf_create_rule('q' || i, jsonb_build_object('a', jsonb_build_array(repeat('x', 300))),
		'notify:x') FROM generate_series(1, 3) i $$, 'rules up to the quota');
SELECT throws_ok($$ SELECT sf_create_rule('q4', '{"a": [1]}', 'notify:x') $$, 'SF040', NULL, 'no rule more');
SELECT throws_ok($$ SELECT sf_create_rule('q1', jsonb_build_object('a', jsonb_build_array(repeat('x', 400))),
		'notify:x') $$, 'SF040', NULL, 'no byte more');
SELECT lives_ok($$ SELECT sf_create_rule('q1', '{"a": [1]}', 'notify:x') $$, 'a smaller one in place of a rule');
SELECT lives_ok($$ SELECT sf_create_rule('q1', jsonb_build_object('a', jsonb_build_array(repeat('x', 300))),
		'notify:x') $$, '... and a larger one again');
SELECT sf_drop_rule('q2') \g /dev/null
SELECT lives_ok($$ SELECT sf_create_rule('q4', '{"a": [1]}', 'notify:x') $$, 'a rule that was dropped makes room');
SELECT throws_ok($$ SELECT sf_create_rule('q5', '{"a": [1]}', 'notify:x') $$, 'SF040', NULL, '... for one');
SELECT throws_ok($$ SET sfflow.max_rules_per_owner = 100 $$, '42501', NULL, 'a role cannot raise its quota');
SELECT sf_drop_rule(rule_name) FROM sf_rules \g /dev/null
RESET ROLE;
SELECT lives_ok('DROP ROLE rule_tenant', 'a role whose rules were dropped can be dropped');
SELECT is_empty('SELECT problem FROM sf_check()', 'the tables hold together');

-- What a session keeps of roles with rules does not grow with changes of roles.
CREATE FUNCTION pg_temp.change_roles(times integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. times LOOP
		EXECUTE format('ALTER ROLE rule_other CONNECTION LIMIT %s', i);
		PERFORM pg_temp.run('after', 'roles-' || times || '-' || i);
	END LOOP;
	RETURN (SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name LIKE 'sfflow %');
END $$;
RESET ROLE;
SELECT sf_create_rule('of_roles', '{"source": ["none"]}', 'notify:none') \g /dev/null
SELECT pg_temp.change_roles(100) AS before \gset
SELECT cmp_ok(pg_temp.change_roles(1500), '<', :before + 65536::bigint, 'roles may change as often as they like');

SELECT * FROM finish();
ROLLBACK;
