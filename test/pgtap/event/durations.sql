-- Durations as intervals, whose months, days and time are added to a time one after the other: none may leave the
-- calendar, whatever they are together. And a key that cannot be swept, beside others.
-- needs: event
BEGIN;
SELECT plan(20);

\set wild '-10000 years 3653000 days'
SELECT sf_create_event('a'), sf_create_state_machine('m', '{"StartAt": "P", "States": {"P": {"Type": "Pass",
	"End": true}}}'), sf_start('m', '{}', 'x') \g /dev/null
SELECT throws_ok(format(call, :'wild'), 'SF012', 'argument ' || name || ' must be at most 1000 years',
	name || ' does not leave the calendar')
FROM (VALUES ($$ SELECT sf_emit('a', 'k', ttl => %L) $$, 'ttl'), ($$ SELECT sf_create_event('b', ttl => %L) $$, 'ttl'),
	($$ SELECT sf_create_event('b', remember_ids => %L) $$, 'remember_ids'),
	($$ SELECT sf_create_activity('b', lease => %L) $$, 'lease'), ($$ SELECT sf_purge(%L) $$, 'older_than'),
	($$ SELECT sf_await('m:x', %L) $$, 'timeout')) AS v(call, name);
SELECT throws_ok(format($$ SELECT sf_emit('a', 'k', ttl => %L) $$, ttl), 'SF012', NULL, 'nor ' || ttl)
FROM unnest(ARRAY['-3507001 months 106800000 days', '10000 years -3653000 days', '1001 years', '-1 day',
	'-876600000 hours 36525000 days']) ttl;
SELECT lives_ok($$ SELECT sf_emit('a', 'k', ttl => '2 days -1 hour') $$, 'a difference of intervals is one');
SELECT lives_ok($$ SELECT sf_emit('a', 'k', ttl => '1000 years') $$, '... and so is the longest one');

-- The option retention.
CREATE FUNCTION pg_temp.machine(options jsonb) RETURNS bigint LANGUAGE sql AS $$
	SELECT sf_create_state_machine('old', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}',
		options => options, or_replace => true) $$;
SELECT throws_like($$ SELECT pg_temp.machine('{"retention": "-3507001 months 106800000 days"}') $$,
	'option retention must be an interval%', 'a retention does not leave the calendar');
SELECT lives_ok($$ SELECT pg_temp.machine('{"retention": "9000 years"}') $$, 'one that is longer than it is for ever');
SELECT sf_start('old', '{}', 'e'), sf_run('old:e') \g /dev/null
CALL sf_purge_due(NULL);
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'old:e'), 'SUCCEEDED', '... so nothing is purged');
-- as release 1.0 has taken it
UPDATE _sfflow.state_machine_version SET options = jsonb_set(options, '{retention}',
	'"-3507005 months 106800000 days"') WHERE options ? 'retention';
SELECT lives_ok('CALL sf_purge_due(NULL)', 'an older definition that does has no sweep fail');

SELECT throws_ok(format($$ SELECT sf_start('m', '{}', options => jsonb_build_object('delay', %L)) $$, :'wild'), 'SF012',
	'option delay must be at most 1000 years', 'nor does a delay');

-- A key whose events cannot be given.
SELECT sf_create_event('good'), sf_create_state_machine('waits', '{"StartAt": "W", "States": {"W": {"Type": "Task",
	"Resource": "event:good", "Parameters": {"Key": "k"}, "End": true}}}'), sf_start('waits', '{}', 'x') \g /dev/null
CALL sf_run_due(10);
SELECT sf_emit('a', 'bad'), sf_emit('good', 'k') \g /dev/null
UPDATE _sfflow.emission SET ttl = :'wild' WHERE key = 'bad';
SET client_min_messages = error;
CALL sf_run_due(10);
RESET client_min_messages;
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'waits:x'), 'SUCCEEDED', 'others are');
SELECT is((SELECT status FROM _sfflow.emission WHERE key = 'bad'), 0::smallint, '... and it stays as it is');

SELECT * FROM finish();
ROLLBACK;
