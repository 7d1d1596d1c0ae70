-- What ends an evaluation of a state: sfflow.evaluation_timeout, in both languages with the same error, which can be
-- caught; and how large what a state makes may be, on each way out of it and into a task.
BEGIN;
SELECT plan(30);

CREATE TEMP TABLE large AS SELECT jsonb_build_object('a', jsonb_agg(i), 'b', jsonb_agg(-i), 's', repeat('a', 400000),
	'r', repeat('a', 300) || 'b' || repeat('a', 299)) AS input FROM generate_series(1, 60000) i;

-- Run a state X, from which a catcher may lead to Caught; gives status, error and cause without its prefix.
CREATE FUNCTION pg_temp.outcome(state jsonb, input jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	id text;
	began timestamptz := clock_timestamp();
BEGIN
	PERFORM sf_create_state_machine('limited', jsonb_build_object('StartAt', 'X', 'States',
		jsonb_build_object('X', state) ||
			CASE WHEN state::text LIKE '%"Caught"%' THEN '{"Caught": {"Type": "Succeed"}}' ELSE '{}' END::jsonb)::json,
		or_replace => true);
	id := sf_start('limited', input);
	PERFORM sf_run(id, skip_waits => true);
	IF clock_timestamp() > began + interval '8 s' THEN
		RETURN 'too late';
	END IF;
	RETURN (SELECT concat_ws(' | ', e.status, e.error, regexp_replace(e.cause, '^An error occurred .*?\)\. ', ''))
		FROM sf_executions e WHERE execution_id = id);
END $$;

-- --- time

SET LOCAL sfflow.evaluation_timeout = '200ms';

-- The outcome of a state with the large input, of which only the end of the cause is looked at.
CREATE FUNCTION pg_temp.is_late(state jsonb, what text) RETURNS text LANGUAGE sql AS $$
	SELECT matches(pg_temp.outcome(state, input),
		'^FAILED \| States.QueryEvaluationError \|.* takes longer than 200 ms', what) FROM large $$;

SELECT is(pg_temp.outcome('{"Type": "Pass", "Parameters": {"p": {"x.$": "$.a[?(@ in $.b)]"}}, "End": true}',
	input),
	'FAILED | States.QueryEvaluationError | Invalid path ''$.a[?(@ in $.b)]'' : The evaluation takes longer than '
	'200 ms, the limit that sfflow.evaluation_timeout sets.', 'a path') FROM large;
SELECT is((SELECT jsonb_agg(details - 'cause') FROM sf_history
	WHERE execution_id LIKE 'limited:%' AND type = 'EvaluationFailed'),
	'[{"error": "States.QueryEvaluationError", "location": "Parameters/p/x", "state": "X"}]', 'the history says where');
SELECT pg_temp.is_late('{"Type": "Pass", "InputPath": "$.a[?(@ in $.b)]", "End": true}', 'InputPath');
SELECT pg_temp.is_late('{"Type": "Pass", "Parameters": {"x.$": "States.ArrayLength($.a[?(@ in $.b)])"}, "End": true}',
	'an argument of a call');
SELECT pg_temp.is_late(jsonb_build_object('Type', 'Pass', 'End', true, 'Parameters', jsonb_build_object('x.$',
	'States.Array(' || repeat('States.ArrayContains($.a, 0), ', 3000) || '1)')), 'many calls');
SELECT pg_temp.is_late((SELECT jsonb_build_object('Type', 'Pass', 'End', true, 'Parameters',
	jsonb_object_agg('x' || i || '.$', '$.a[?(@ < 0)].length()')) FROM generate_series(1, 300) i),
	'the time is that of a template');
SELECT pg_temp.is_late(jsonb_build_object('Type', 'Choice', 'Default', 'Caught', 'Choices', jsonb_build_array(
	jsonb_build_object('Variable', '$.s', 'StringMatches', '*' || repeat('a', 200000) || 'b*', 'Next', 'Caught'))),
	'a Choice');
SELECT is(pg_temp.outcome('{"Type": "Task", "Resource": "sql:query", "Parameters": {"x.$": "$.a[?(@ in $.b)]"},
	"End": true, "Catch": [{"ErrorEquals": ["States.QueryEvaluationError"], "Next": "Caught"}]}', input), 'SUCCEEDED',
	'it can be caught') FROM large;
SELECT matches(pg_temp.outcome('{"Type": "Pass", "QueryLanguage": "JSONata", "End": true,
	"Output": "{% $count($states.input.a[$ in $states.input.b]) %}"}', input),
	'^FAILED \| States.QueryEvaluationError \|.*Expression evaluation timeout', 'JSONata has the same error')
	FROM large;
SELECT matches(pg_temp.outcome((SELECT jsonb_build_object('Type', 'Pass', 'QueryLanguage', 'JSONata', 'End', true,
	'Output', jsonb_object_agg('x' || i, '{% $sum($states.input.a) %}')) FROM generate_series(1, 300) i), input),
	'^FAILED \| States.QueryEvaluationError \|.*Expression evaluation timeout',
	'the time is that of a template of JSONata, too') FROM large;

SELECT is(pg_temp.outcome('{"Type": "Pass", "QueryLanguage": "JSONata", "End": true,
	"Output": "{% $match($pad(\"\", 400000, \"ab\"), /a(?=.*x)/) %}"}', '{}'), 'FAILED | States.QueryEvaluationError | '
	'The JSONata expression ''$match($pad("", 400000, "ab"), /a(?=.*x)/)'' specified for the field ''Output'' threw an '
	'error during evaluation: Expression evaluation timeout: Check for infinite loop', 'in a regular expression, too');
SELECT pg_temp.is_late(jsonb_build_object('Type', 'Pass', 'End', true,
	'InputPath', '$[?(@.r =~ /(a*)(a*)(a*)(a*)(a*)b\1\2\3\4\5/)]'), 'in one of a path');
SELECT throws_ok(format($$SELECT sf_jsonpath('$.a[?(@ in $.b)]', %L)$$, input), 'SF015', NULL,
	'sf_jsonpath') FROM large;
SELECT throws_ok(format($$SELECT sf_intrinsic('States.ArrayLength($.a[?(@ in $.b)])', %L)$$, input), 'SF015', NULL,
	'sf_intrinsic') FROM large;
SELECT throws_ok(format($$SELECT sf_jsonpath('$[?(@.r =~ /(a*)(a*)(a*)(a*)(a*)b\1\2\3\4\5/)]', %L)$$, input),
	'SF015', NULL, 'a regular expression') FROM large;
SET LOCAL sfflow.evaluation_timeout = 0;
SELECT is(sf_jsonpath('$.a[?(@ in $.b)]', jsonb_build_object('a', jsonb_agg(i), 'b', jsonb_agg(-i))), '[]', 'no limit')
	FROM generate_series(1, 3000) i;
SET LOCAL sfflow.evaluation_timeout = '60s';

-- --- size: what a state makes of its input, or of an error

SET LOCAL sfflow.max_payload_bytes = 2000;
CREATE FUNCTION public.fail_with(n integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_raise('Bad', repeat('c', n));
END $$;

-- The outcome of a task that fails with a cause of some length; its input has a text of 1,500 characters.
CREATE FUNCTION pg_temp.caught(n integer, catcher text, language text DEFAULT 'JSONPath') RETURNS text
	LANGUAGE sql AS $$
	SELECT pg_temp.outcome(jsonb_build_object('Type', 'Task', 'QueryLanguage', language,
		'Resource', 'sql:public.fail_with', CASE language WHEN 'JSONata' THEN 'Arguments' ELSE 'Parameters' END,
		jsonb_build_object('n', n), 'End', true,
		'Catch', jsonb_build_array('{"ErrorEquals": ["Bad"], "Next": "Caught"}'::jsonb || catcher::jsonb)),
		jsonb_build_object('s', repeat('x', 1500))) $$;

SELECT is(pg_temp.caught(300, '{"ResultPath": "$.e"}'), 'SUCCEEDED', 'what a catcher gives may be so large');
SELECT is(pg_temp.caught(700, '{"ResultPath": "$.e"}'), 'FAILED | States.DataLimitExceeded | The state/task '
	'''sql:public.fail_with'' returned a result with a size exceeding the maximum number of bytes service limit.',
	'and not larger');
SELECT matches(pg_temp.caught(2500, '{}'), '^FAILED \| States.DataLimitExceeded', 'an error output by itself');
SELECT is(pg_temp.caught(2500, '{"ResultPath": null}'), 'SUCCEEDED', 'which may be left out');
SELECT is(pg_temp.caught(300, '{"Output": "{% [1..5].($states.errorOutput) %}"}', 'JSONata'), 'SUCCEEDED',
	'Output of a catcher');
SELECT matches(pg_temp.caught(300, '{"Output": "{% [1..9].($states.errorOutput) %}"}', 'JSONata'),
	'^FAILED \| States.DataLimitExceeded', 'is limited, too');
SELECT is(sf_test_state('{"Type": "Task", "Resource": "sql:f", "End": true, "Catch":
	[{"ErrorEquals": ["Bad"], "ResultPath": "$.e", "Next": "Caught"}]}', jsonb_build_object('s', repeat('x', 1500)),
	mock => jsonb_build_object('errorOutput', jsonb_build_object('error', 'Bad', 'cause', repeat('c', 700)))) - 'cause',
	'{"status": "FAILED", "error": "States.DataLimitExceeded"}', 'a test says so');

-- The outcome of a state whose input has a text of 1,500 characters.
CREATE FUNCTION pg_temp.given(state jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.outcome(state || '{"End": true}',
		jsonb_build_object('s', repeat('x', 1500), 'i', '[1, 2]'::jsonb)) $$;

SELECT is(pg_temp.given('{"Type": "Task", "Resource": "sql:query", "Parameters": {"a.$": "$.s", "b.$": "$.s"}}'),
	'FAILED | States.DataLimitExceeded | The state/task ''sql:query'' has an input with a size exceeding the maximum '
	'number of bytes service limit.', 'Parameters of a task');
SELECT is(pg_temp.given('{"Type": "Task", "Resource": "sql:query", "Parameters": {"a.$": "$.s", "b.$": "$.s"},
	"Catch": [{"ErrorEquals": ["States.DataLimitExceeded"], "Next": "Caught"}]}'), 'SUCCEEDED', 'it can be caught');
SELECT matches(pg_temp.given('{"Type": "Task", "QueryLanguage": "JSONata", "Resource": "sql:query",
	"Arguments": "{% {\"a\": [1..3].($states.input)} %}"}'), '^FAILED \| States.DataLimitExceeded', 'Arguments');
SELECT matches(pg_temp.given('{"Type": "Parallel", "Parameters": {"a.$": "$", "b.$": "$"},
	"Branches": [{"StartAt": "B", "States": {"B": {"Type": "Pass", "Result": 1, "End": true}}}]}'),
	'^FAILED \| States.DataLimitExceeded', 'Parameters of a Parallel');
SELECT matches(pg_temp.given('{"Type": "Map", "ItemsPath": "$.i", "ItemSelector": {"a.$": "$.s", "b.$": "$.s"},
	"ItemProcessor": {"StartAt": "B", "States": {"B": {"Type": "Pass", "Result": 1, "End": true}}}}'),
	'^FAILED \| States.DataLimitExceeded', 'ItemSelector');
SELECT is(pg_temp.given('{"Type": "Map", "ItemsPath": "$.i", "ItemSelector": {"a.$": "$.s"},
	"ItemProcessor": {"StartAt": "B", "States": {"B": {"Type": "Pass", "Result": 1, "End": true}}}}'),
	'SUCCEEDED', 'of what fits, each item has its own');
SELECT is_empty('SELECT * FROM sf_check()');

SELECT * FROM finish();
ROLLBACK;
