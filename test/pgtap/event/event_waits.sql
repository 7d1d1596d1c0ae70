-- Events by key: what a wait receives, in which order, how often, and what it does not; ids, time to live, rights,
-- holds.
-- needs: event hold limit
BEGIN;
SELECT plan(90);

SELECT sf_create_event('paid'), sf_create_event('ticket', deliver => 'one'), sf_create_event('brief', ttl => '0.05 s',
	remember_ids => '0') \g /dev/null
CREATE FUNCTION pg_temp.machine(name text, resource text, parameters text, more text DEFAULT '') RETURNS bigint
	LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, format('{"StartAt": "Wait", "States": {"Wait": {"Type": "Task",
			"Resource": "%s", "Parameters": %s, %s "End": true}}}',
		resource, parameters, more)::json) $$;
CREATE FUNCTION pg_temp.begin(machine text, name text, input jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT sf_start(machine, input, name); SELECT sf_run(machine || ':' || name) $$;
CREATE FUNCTION pg_temp.got(id text) RETURNS text LANGUAGE sql AS $$
	SELECT status || coalesce(' ' || (output ->> 'Name') || '/' || (output ->> 'Key') || ' ' || (output ->> 'Id')
		|| coalesce(' ' || (output ->> 'Payload'), ''), '')
	FROM sf_executions WHERE execution_id = id $$;
SELECT pg_temp.machine('pay', 'event:paid', '{"Key.$": "$.order"}'), pg_temp.machine('take', 'event:ticket',
	'{"Key": "desk"}'),
	pg_temp.machine('first', 'event:paid,ticket', '{"Keys": {"paid.$": "$.order", "ticket": "desk"}}'),
	pg_temp.machine('large', 'event:paid', '{"Key": "large", "Filter": {"amount": [{"numeric": [">", 10]}]}}'),
	pg_temp.machine('some', 'event:paid', '{"Key": "some", "MaxEvents": 3}'), pg_temp.machine('short', 'event:brief',
		'{"Key": "x"}') \g /dev/null

-- An event, then a wait; a wait, then an event.
SELECT is(sf_emit('paid', '1', '{"amount": 5}', 'p1'), 'p1', 'sf_emit returns the id');
SELECT pg_temp.begin('pay', 'late', '{"order": "1"}') \g /dev/null
SELECT is(pg_temp.got('pay:late'), 'SUCCEEDED paid/1 p1 {"amount": 5}', 'a wait that begins later receives the event');
SELECT pg_temp.begin('pay', 'early', '{"order": 2}') \g /dev/null
SELECT is(pg_temp.got('pay:early'), 'RUNNING', 'a wait without an event waits');
SELECT is((SELECT waiting_on FROM sf_executions WHERE execution_id = 'pay:early'), '"Wait" waits for event:paid',
	'waiting_on says for what');
SELECT is((SELECT name || '/' || key || ' ' || execution_id || ' ' || state FROM sf_event_waits),
	'paid/2 pay:early Wait', 'sf_event_waits shows it');
SELECT is((SELECT max_events FROM sf_event_waits), NULL, '... which takes one event, no array');
SELECT is((SELECT waits FROM sf_event_types WHERE name = 'paid'), 1::bigint, 'sf_event_types counts it');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together while it waits');
SELECT sf_emit('paid', '3', NULL, 'p3'), sf_run('pay:early') \g /dev/null
SELECT is(pg_temp.got('pay:early'), 'RUNNING', 'an event of another key is not for it');
SELECT sf_emit('paid', '2', NULL, 'p2'), sf_run('pay:early') \g /dev/null
SELECT is(pg_temp.got('pay:early'), 'SUCCEEDED paid/2 p2', 'a key may be a number; a payload may be missing');
SELECT is_empty('SELECT * FROM sf_event_waits', 'no wait is left');
SELECT is((SELECT string_agg(type, ' ' ORDER BY id) FROM sf_history WHERE execution_id = 'pay:early'),
	'ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSubmitted TaskSucceeded TaskStateExited '
	'ExecutionSucceeded', 'its history');
SELECT is((SELECT string_agg(DISTINCT details ->> 'resourceType', ' ') FROM sf_history WHERE execution_id = 'pay:early'
		AND details ? 'resourceType'), 'event', '... has the resourceType event');
SELECT is(jsonb_path_query_array(sf_aws_api('GetExecutionHistory',
			'{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:pay:early"}'),
	'$.events[*].keyvalue() ? (@.value.resourceType == "event").value.resource'), '["paid", "paid", "paid", "paid"]',
	'... which the AWS API shows');
SELECT is(sf_aws_api('ListActivities', '{}') -> 'activities', '[]', '... where a type of events is no activity');
SELECT is((SELECT string_agg(DISTINCT job_status, ' ') FROM sf_jobs WHERE execution_id = 'pay:early'), 'success',
	'sf_jobs shows it');

-- Without a given id; the names of ids.
SELECT matches(sf_emit('paid', 'own'), '^sf-[0-9]+$', 'an event without an id gets one');
SELECT throws_like($$ SELECT sf_emit('paid', 'own', NULL, 'sf-1') $$, '%must not begin with "sf-"%',
	'no other may have such an id');
SELECT throws_like($$ SELECT sf_emit('paid', '') $$, 'argument key must have 1 to 1024 bytes', 'a key is not empty');
SELECT throws_like($$ SELECT sf_emit('paid', repeat('x', 1025)) $$, 'argument key must have 1 to 1024 bytes',
	'... nor long');
SELECT throws_like($$ SELECT sf_emit('paid', 'k', NULL, repeat('x', 257)) $$, 'argument id must have 1 to 256 bytes',
	'an id is not long');
SELECT throws_like($$ SELECT sf_emit('paid', 'k', deliver => 'some') $$, 'argument deliver must not be "some"',
	'deliver is all or one');
SELECT throws_like($$ SELECT sf_emit('paid', 'k', ttl => '-1 s') $$, 'argument ttl must not be negative',
	'a time to live is not negative');
SELECT throws_ok($$ SELECT sf_emit('nothing', 'k') $$, 'SF080', NULL, 'a type that does not exist');
SELECT throws_like($$ SELECT sf_emit_many('paid', ARRAY['{"key": "k"}', '{"id": "x"}']::jsonb[]) $$,
	'element 2 of argument events has no key', 'each of many has a key');
SELECT throws_like($$ SELECT sf_emit_many('paid', ARRAY['{"key": "k", "keys": 1}']::jsonb[]) $$, '%has a member "keys"',
	'... and no other member');
SELECT throws_like($$ SELECT sf_emit_many('paid', ARRAY[NULL]::jsonb[]) $$, 'element 1 of argument events is null',
	'... and is not null');

-- The same id is one event, also when it has been received.
SELECT is(sf_emit('paid', '1', '{"amount": 6}', 'p1'), 'p1', 'an id that was used is returned');
SELECT is((SELECT payload FROM sf_events WHERE key = '1'), '{"amount": 5}', '... and nothing is stored');
SELECT is(sf_emit_many('paid', ARRAY['{"key": "1", "id": "p1"}', '{"key": "many", "payload": [1],
			"id": 1}', '{"key": "many"}']::jsonb[]), 2::bigint, 'sf_emit_many counts what is new');

-- All that wait receive an event for all, the first that waits one for one.
SELECT count(pg_temp.begin('take', i::text, '{}')) FROM generate_series(1, 10) i \g /dev/null
SELECT sf_emit('ticket', 'desk', NULL, 't1'), sf_run('take:5') \g /dev/null
SELECT is((SELECT string_agg(execution_id, ' ') FROM sf_executions WHERE state_machine = 'take'
		AND waiting_on NOT LIKE '%waits for%'), 'take:1', 'the wait that began first gets the ticket');
SELECT is(sf_run('take:1'), 'SUCCEEDED', '... and goes on');
SELECT is((SELECT count(*) FROM sf_event_waits WHERE name = 'ticket'), 9::bigint, 'nine wait on');
SELECT is_empty($$ SELECT * FROM sf_events WHERE name = 'ticket' $$, 'nothing is left for them');
SELECT is((SELECT status FROM _sfflow.emission WHERE id = 't1'), 3::smallint,
	'... and the event has the status TAKEN');
SELECT sf_emit('ticket', 'desk', NULL, 't1'), sf_run('take:2') \g /dev/null
SELECT is(pg_temp.got('take:2'), 'RUNNING', 'its id cannot be used again');
SELECT sf_emit('paid', 'both', NULL, 'b', deliver => 'one'), pg_temp.begin('pay', 'b1', '{"order": "both"}'),
	pg_temp.begin('pay', 'b2', '{"order": "both"}') \g /dev/null
SELECT is(pg_temp.got('pay:b1') || ', ' || pg_temp.got('pay:b2'), 'SUCCEEDED paid/both b, RUNNING',
	'an event may be for one of a type that is for all');
SELECT pg_temp.begin('pay', 'b3', '{"order": "both"}'), sf_emit('paid', 'both', NULL, 'c'), sf_run('pay:b2'),
	sf_run('pay:b3') \g /dev/null
SELECT is(pg_temp.got('pay:b2') || ', ' || pg_temp.got('pay:b3'), 'SUCCEEDED paid/both c, SUCCEEDED paid/both c',
	'two receive one for all');

-- The first of two names; of several events the oldest; what a filter wants; several at once.
SELECT pg_temp.begin('first', '1', '{"order": "f"}'), sf_emit('paid', 'f', NULL, 'f1') \g /dev/null
SELECT is((SELECT string_agg(name || '/' || key, ' ' ORDER BY name) FROM sf_event_waits WHERE execution_id = 'first:1'),
	'paid/f ticket/desk', 'one branch waits for two names');
SELECT is(sf_run('first:1') || ' ' || pg_temp.got('first:1'), 'SUCCEEDED SUCCEEDED paid/f f1',
	'the first of them ends the wait');
SELECT is_empty($$ SELECT * FROM sf_event_waits WHERE execution_id = 'first:1' $$, 'the other wait is gone');
SELECT sf_emit('paid', 'order', NULL, 'o' || i) FROM generate_series(1, 3) i \g /dev/null
SELECT pg_temp.begin('pay', 'oldest', '{"order": "order"}') \g /dev/null
SELECT is(pg_temp.got('pay:oldest'), 'SUCCEEDED paid/order o1', 'the oldest comes first');
SELECT pg_temp.begin('large', '1', '{}'), sf_emit('paid', 'large', '{"amount": 10}', 'l1'),
	sf_emit('paid', 'large', '7', 'l2'), sf_emit('paid', 'large', NULL, 'l3') \g /dev/null
SELECT is(sf_run('large:1'), 'RUNNING', 'a filter passes over what it does not match');
SELECT sf_emit('paid', 'large', '{"amount": 11}', 'l4') \g /dev/null
SELECT is(sf_run('large:1') || ' ' || pg_temp.got('large:1'), 'SUCCEEDED SUCCEEDED paid/large l4 {"amount": 11}',
	'... and gets what it matches');
SELECT pg_temp.begin('some', '1', '{}') \g /dev/null
SELECT is(sf_run('some:1'), 'RUNNING', 'MaxEvents waits for at least one');
SELECT is((SELECT max_events FROM sf_event_waits WHERE execution_id = 'some:1'), 3, '... as sf_event_waits shows');
SELECT sf_emit('paid', 'some', to_jsonb(i)) FROM generate_series(1, 5) i \g /dev/null
SELECT sf_run('some:1') \g /dev/null
SELECT is((SELECT jsonb_path_query_array(output, '$[*].Payload') FROM sf_executions WHERE execution_id = 'some:1'),
	'[1, 2, 3]', '... and takes so many at once');
SELECT pg_temp.machine('single', 'event:paid', '{"Key": "single", "MaxEvents": 1}'),
	sf_emit('paid', 'single', '7'), pg_temp.begin('single', '1', '{}') \g /dev/null
SELECT is((SELECT jsonb_typeof(output) || jsonb_array_length(output)
		FROM sf_executions WHERE execution_id = 'single:1'), 'array1', 'MaxEvents of 1 gives an array, too');

-- An execution receives an event once: in a loop, in two branches, after a retry and a redrive.
SELECT sf_create_state_machine('loop', '{"StartAt": "Wait", "States": {"Wait": {"Type": "Task",
	"Resource": "event:paid", "Parameters": {"Key": "loop"}, "Next": "Again"},
	"Again": {"Type": "Choice", "Choices": [{"Variable": "$.Id", "StringEquals": "last", "Next": "Done"}],
		"Default": "Wait"}, "Done": {"Type": "Succeed"}}}') \g /dev/null
SELECT sf_emit('paid', 'loop', NULL, i::text) FROM generate_series(1, 100) i \g /dev/null
SELECT sf_emit('paid', 'loop', NULL, 'last'), pg_temp.begin('loop', '1', '{}') \g /dev/null
SELECT is(pg_temp.got('loop:1'), 'SUCCEEDED paid/loop last', 'a loop receives each event, in order');
SELECT is((SELECT count(*) FROM sf_history WHERE execution_id = 'loop:1' AND type = 'TaskSucceeded'), 101::bigint,
	'... once');
SELECT sf_create_state_machine('two', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "Branches": [
	{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "event:paid", "Parameters": {"Key": "two"},
		"End": true}}},
	{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "event:paid", "Parameters": {"Key": "two"},
		"End": true}}}], "End": true}}}') \g /dev/null
SELECT pg_temp.begin('two', '1', '{}'), sf_emit('paid', 'two', NULL, 'x'), sf_run('two:1') \g /dev/null
SELECT is((SELECT count(*) FROM sf_event_waits WHERE execution_id = 'two:1'), 1::bigint,
	'of two branches one receives an event');
SELECT sf_emit('paid', 'two', NULL, 'y') \g /dev/null
SELECT is(sf_run('two:1'), 'SUCCEEDED', 'the other one receives the next');
SELECT is((SELECT string_agg(o ->> 'Id', ' ' ORDER BY o ->> 'Id') FROM sf_executions, jsonb_array_elements(output) o
		WHERE execution_id = 'two:1'), 'x y', '... both are received');
SELECT sf_create_state_machine('again', '{"StartAt": "Wait", "States": {"Wait": {"Type": "Task",
	"Resource": "event:paid", "Parameters": {"Key": "again"}, "ResultPath": "$.got", "Next": "Check"},
	"Check": {"Type": "Task", "Resource": "sql:query",
		"Parameters": {"Statement": "SELECT 1 / (SELECT count(*) FROM pg_catalog.pg_settings WHERE name = '
	'''sfflow.slice_ms'' AND setting = ''77'')"}, "ResultPath": null, "End": true}}}') \g /dev/null
SELECT sf_emit('paid', 'again', NULL, 'a1'), pg_temp.begin('again', '1', '{}'), pg_temp.begin('again', '2', '{}'),
	pg_temp.begin('again', '3', '{}') \g /dev/null
SELECT is(pg_temp.got('again:1'), 'FAILED', 'an execution that has received an event fails');
SELECT sf_redrive('again:1', from_state => 'Wait'), sf_run('again:1') \g /dev/null
SELECT is((SELECT count(*) FROM sf_history WHERE execution_id = 'again:1' AND type = 'TaskSucceeded'), 2::bigint,
	'from_state has it receive the event again');
SELECT sf_start('again', '{"new": 1}', '2', if_exists => 'restart'), sf_run('again:2') \g /dev/null
SELECT is((SELECT count(*) FROM sf_history WHERE execution_id = 'again:2' AND type = 'TaskSucceeded'), 2::bigint,
	'so does a restart');
SELECT pg_temp.begin('pay', 'stopped', '{"order": "stop"}'), sf_stop('pay:stopped') \g /dev/null
SELECT is_empty($$ SELECT * FROM _sfflow.awaited_event w JOIN sf_executions e ON e.execution_id = 'pay:stopped'
	WHERE w.key = 'stop' $$, 'a stop ends the wait');
SELECT sf_emit('paid', 'stop', NULL, 's'), sf_redrive('pay:stopped'), sf_run('pay:stopped') \g /dev/null
SELECT is(pg_temp.got('pay:stopped'), 'SUCCEEDED paid/stop s', 'a redrive is a new wait');

-- Time: an event that has expired is never given; a wait may time out.
SELECT sf_emit('brief', 'x', NULL, 'x1'), pg_temp.begin('short', '1', '{}') \g /dev/null
SELECT is(pg_temp.got('short:1'), 'SUCCEEDED brief/x x1', 'an event within its time to live');
SELECT pg_sleep(0.1) \g /dev/null
SELECT pg_temp.begin('short', '2', '{}') \g /dev/null
SELECT is(pg_temp.got('short:2'), 'RUNNING', 'an event that has expired is not given');
SELECT is_empty($$ SELECT * FROM sf_events WHERE name = 'brief' $$, 'sf_events does not show it');
SELECT pg_temp.machine('patient', 'event:paid', '{"Key": "never"}',
	'"TimeoutSeconds": 1, "Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Wait"}],') \g /dev/null
SELECT pg_temp.machine('impatient', 'event:paid', '{"Key": "never"}', '"TimeoutSeconds": 600,'),
	pg_temp.begin('impatient', '1', '{}') \g /dev/null
SELECT is(sf_run('impatient:1', skip_waits => true), 'RUNNING', 'a wait is no Wait state');
UPDATE _sfflow.branch b SET due_at = clock_timestamp(), deadline = clock_timestamp() FROM _sfflow.execution e
WHERE e.execution_no = b.execution_no AND e.execution_id = 'impatient:1';
SELECT is(sf_run('impatient:1'), 'FAILED', 'TimeoutSeconds ends it');
SELECT is((SELECT error FROM sf_executions WHERE execution_id = 'impatient:1'), 'States.Timeout',
	'... with that error');
SELECT is_empty($$ SELECT * FROM _sfflow.awaited_event WHERE key = 'never' $$, '... and nothing is left of it');

-- What is withdrawn, held, limited.
SELECT sf_emit('paid', 'off', NULL, 'w1') \g /dev/null
SELECT ok(sf_withdraw_event('paid', 'off', 'w1'), 'an event is withdrawn');
SELECT ok(NOT sf_withdraw_event('paid', 'off', 'w1'), '... once');
SELECT is((SELECT status FROM _sfflow.emission WHERE id = 'w1'), 4::smallint, '... and has the status WITHDRAWN');
SELECT pg_temp.begin('pay', 'off', '{"order": "off"}') \g /dev/null
SELECT is(pg_temp.got('pay:off'), 'RUNNING', '... and given to no execution');
SELECT ok(sf_hold('event:paid', reason => 'bank is closed'), 'a type can be held');
SELECT sf_emit('paid', 'off', NULL, 'w2') \g /dev/null
SELECT is(sf_run('pay:off'), 'RUNNING', 'nothing is given out while it is');
SELECT ok((SELECT waiting > 0 AND target = 'event:paid' FROM sf_holds), 'sf_holds shows it');
SELECT sf_release('event:paid') \g /dev/null
SELECT is(sf_run('pay:off') || ' ' || pg_temp.got('pay:off'), 'SUCCEEDED SUCCEEDED paid/off w2',
	'a release gives it out');
SELECT sf_set_limit('event:paid', max_running => 1), pg_temp.begin('pay', 'l1', '{"order": "l"}'),
	pg_temp.begin('pay', 'l2', '{"order": "l"}') \g /dev/null
SELECT is((SELECT string_agg(execution_id, ' ') FROM sf_event_waits WHERE key = 'l'), 'pay:l1',
	'a limit of a type counts those that wait');
SELECT sf_drop_limit('event:paid') \g /dev/null

-- Definitions: what sf_validate says, what the parameters may be.
SELECT is((SELECT string_agg(severity || ' ' || message, ' ') FROM sf_validate('{"StartAt": "W",
			"States": {"W": {"Type": "Task", "Resource": "event:paid,unpaid", "Parameters": {"Key": "1"},
			"End": true}}}')),
	'WARNING The resource ''event:paid,unpaid'' waits for event ''unpaid'', which does not exist.',
	'sf_validate warns of a name that does not exist');
SELECT is((SELECT string_agg(severity, ' ') FROM sf_validate('{"StartAt": "W", "States": {"W": {"Type": "Task",
			"Resource": "event:paid,", "Parameters": {"Key": "1"}, "End": true}}}')), 'ERROR', 'a name is not empty');
SELECT is((SELECT string_agg(message, ' ') FROM sf_validate('{"StartAt": "W", "States": {"W": {"Type": "Task",
			"Resource": "event:paid.waitForTaskToken", "Parameters": {"Key": "1"}, "End": true}}}')),
	'A wait for an event has no task token', 'an event has no token');
CREATE FUNCTION pg_temp.cause(parameters text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_create_state_machine('bad', format('{"StartAt": "W", "States": {"W": {"Type": "Task",
			"Resource": "event:paid", "Parameters": %s, "End": true}}}', parameters)::json, or_replace => true);
	PERFORM sf_start('bad', '{}', 'b', if_exists => 'restart'), sf_run('bad:b');
	RETURN (SELECT regexp_replace(cause, '^.*#[0-9]+\). ', '') FROM sf_executions WHERE execution_id = 'bad:b');
END $$;
SELECT is(pg_temp.cause('{}'), 'A wait for events has either Key or Keys.', 'a key is wanted');
SELECT is(pg_temp.cause('{"Key": "1", "Key2": "2"}'),
	'A wait for events has Key or Keys, Filter and MaxEvents, and no ''Key2''.', 'nothing else is');
SELECT is(pg_temp.cause('{"Key": true}'), '''Key'' must be a string of 1 to 1024 bytes, or a number.',
	'a key is a string');
SELECT is(pg_temp.cause('{"Key": "1", "MaxEvents": 0}'), '''MaxEvents'' must be an integer from 1 to 1000.',
	'MaxEvents is positive');
SELECT is(pg_temp.cause(jsonb_build_object('Key', '1', 'Filter', jsonb_build_object('a', (SELECT jsonb_agg(n)
		FROM generate_series(1, 1001) AS n)))::text), '''Filter'' is no event pattern: invalid event pattern at "": '
	'it has 1001 values and operators, and must have at most 1000', 'a filter of more than a pattern may have');
SELECT matches(pg_temp.cause('{"Key": "1", "Filter": {"a": 1}}'), '^''Filter'' is no event pattern: ',
	'a filter is an event pattern');
SELECT is(sf_test_state('{"Type": "Task", "Resource": "event:paid", "Parameters": {"Key": "1"}, "End": true}', '{}',
		mock => '{"result": {"Id": "m"}}') ->> 'status', 'SUCCEEDED', 'a test mocks it as any task');

-- A look is over with a type that is held, whatever has come of it, and with another type it goes on.
SELECT sf_create_event('closed'), sf_hold('event:closed'), sf_create_event('open') \g /dev/null
SELECT pg_temp.machine('opens', 'event:open', '{"Key": "x"}'), pg_temp.begin('opens', 'x', '{}') \g /dev/null
CALL sf_run_due(10);
SELECT count(sf_emit('closed', n::text)), sf_emit('open', 'x', NULL, 'o1') FROM generate_series(1, 33) n \g /dev/null
SELECT pg_stat_get_xact_numscans('_sfflow.emission_fresh'::regclass) AS scans \gset
CALL sf_run_due(10);
SELECT cmp_ok(pg_stat_get_xact_numscans('_sfflow.emission_fresh'::regclass) - :scans, '<', 33::bigint,
	'a look goes through no key of a type that is held');
SELECT is(pg_temp.got('opens:x'), 'SUCCEEDED open/x o1', '... and gives events of others');
SELECT cmp_ok(sf_release('event:closed'), '>=', 0::bigint, '... until it is released');
CALL sf_run_due(10);
SELECT is((SELECT count(*) FROM _sfflow.emission e JOIN _sfflow.event_type t USING (event_type_no)
		WHERE t.name = 'closed' AND e.status < 2), 0::bigint, 'then it has gone through all');

-- A status that the other columns contradict, and an alert of what has not expired.
UPDATE _sfflow.emission SET status = 0 WHERE id = 'w1';
SELECT set_eq('SELECT problem FROM sf_check()', $$ VALUES ('event_status_wrong') $$, 'a wrong status is a problem');
UPDATE _sfflow.emission SET status = 4, alert = 1 WHERE id = 'w1';
SELECT set_eq('SELECT problem FROM sf_check()', $$ VALUES ('event_status_wrong') $$, '... and so is a wrong alert');

SELECT * FROM finish();
ROLLBACK;
