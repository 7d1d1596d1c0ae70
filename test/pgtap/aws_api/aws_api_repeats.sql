-- What makes calls of the AWS API safe to send again, and what goes with a start: clientToken of RedriveExecution,
-- traceHeader of StartExecution.
BEGIN;
SELECT plan(16);
SET client_min_messages = error;

CREATE FUNCTION pg_temp.call(action text, execution text, more jsonb DEFAULT '{}') RETURNS jsonb
	LANGUAGE sql VOLATILE AS $$
	SELECT sf_aws_api(action, jsonb_build_object('executionArn', 'arn:aws:states:us-east-1:000000000000:execution:m:'
			|| execution) || more)
$$;
-- Make an execution end as ABORTED.
CREATE FUNCTION pg_temp.stop(execution text) RETURNS text LANGUAGE sql AS $$ SELECT sf_stop('m:' || execution) $$;
-- Have redrives of an execution be older.
CREATE FUNCTION pg_temp.age(execution text, age interval) RETURNS void LANGUAGE sql AS $$
	UPDATE _sfflow.audit SET at = at - age WHERE target = 'm:' || execution AND action = 'redrive'
$$;
SELECT sf_create_state_machine('m', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1000000,
	"End": true}}}');
SELECT count(sf_start('m', '{}', name)) FROM unnest(ARRAY['a', 'b', 'c']) AS name;

-- --- clientToken

SELECT pg_temp.stop('a'), pg_temp.stop('b');
SELECT pg_temp.call('RedriveExecution', 'a', '{"clientToken": "one"}') AS first \gset
SELECT matches(:'first'::text, '^\{"redriveDate": \d+\.\d{3}\}$', 'an execution is redriven with a token');
SELECT is(pg_temp.call('RedriveExecution', 'a', '{"clientToken": "one"}'), :'first'::jsonb,
	'... the same token while it runs: the same answer');
SELECT throws_ok($$ SELECT pg_temp.call('RedriveExecution', 'a', '{"clientToken": "two"}') $$, 'SF008',
	'Execution is RUNNING and cannot be redriven', '... another token is another redrive');
SELECT throws_ok($$ SELECT pg_temp.call('RedriveExecution', 'a', '{"clientToken": "One"}') $$, 'SF008',
	'Execution is RUNNING and cannot be redriven', '... upper case is not lower case');
SELECT pg_temp.stop('a');
SELECT is(pg_temp.call('RedriveExecution', 'a', '{"clientToken": "one"}'), :'first'::jsonb,
	'... when it has ended again, too');
SELECT is(pg_temp.call('DescribeExecution', 'a') ->> 'redriveCount', '1', '... and nothing was redriven by that');
SELECT pg_temp.call('RedriveExecution', 'b', '{"clientToken": "one"}');
SELECT is(pg_temp.call('DescribeExecution', 'b') ->> 'redriveCount', '1', 'a token is of one execution');
SELECT is((SELECT details -> 'client_token' FROM sf_audit WHERE execution_id = 'm:a' AND action = 'redrive'),
	'"one"'::jsonb,
	'the audit has the token');
SELECT pg_temp.age('a', '14 min 50 s');
SELECT is(pg_temp.call('RedriveExecution', 'a', '{"clientToken": "one"}'), :'first'::jsonb,
	'a token is known for almost 15 minutes');
SELECT pg_temp.age('a', '11 s');
SELECT pg_temp.call('RedriveExecution', 'a', '{"clientToken": "one"}') AS again \gset
SELECT is(pg_temp.call('DescribeExecution', 'a') ->> 'redriveCount', '2', '... then it is a new one');
SELECT is(pg_temp.call('RedriveExecution', 'a', '{"clientToken": "one"}'), :'again'::jsonb,
	'... and has the new answer');
SELECT pg_temp.stop('a'), pg_temp.call('RedriveExecution', 'a', jsonb_build_object('clientToken', 'n' || i))
	FROM generate_series(1, 9) AS i;
SELECT is(pg_temp.call('RedriveExecution', 'a', '{"clientToken": "one"}'), :'again'::jsonb,
	'the last ten tokens are known');
SELECT pg_temp.stop('a'), pg_temp.call('RedriveExecution', 'a', '{"clientToken": "n10"}');
SELECT throws_ok($$ SELECT pg_temp.call('RedriveExecution', 'a', '{"clientToken": "one"}') $$, 'SF008',
	'Execution is RUNNING and cannot be redriven', '... the one before them is not');

-- --- traceHeader

SELECT sf_aws_api('StartExecution', '{"stateMachineArn": "arn:aws:states:::stateMachine:m", "name": "t",
	"traceHeader": "Root=1-5f;Sampled=1"}');
SELECT is(pg_temp.call('DescribeExecution', 't', '{"includedData": "METADATA_ONLY"}') ->> 'traceHeader',
	'Root=1-5f;Sampled=1',
	'the trace header of a start is kept');
SELECT sf_aws_api('StartExecution', '{"stateMachineArn": "arn:aws:states:::stateMachine:m", "name": "t",
	"traceHeader": "Root=2"}');
SELECT is(pg_temp.call('DescribeExecution', 't') ->> 'traceHeader', 'Root=1-5f;Sampled=1',
	'... that of a repeated start is not');
SELECT is(pg_temp.call('DescribeExecution', 'c') ->> 'traceHeader', NULL, 'a start without one has none');

SELECT * FROM finish();
ROLLBACK;
