-- How large an event pattern may be, and what it costs to match one.
BEGIN;
SELECT plan(11);

-- Matchers of one kind, and a pattern of such for the name of an execution.
CREATE FUNCTION pg_temp.matchers(n integer, operator text, value text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_agg(jsonb_build_object(operator, value || i)) FROM generate_series(1, n) AS i $$;
CREATE FUNCTION pg_temp.pattern(n integer) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('detail', jsonb_build_object('name', pg_temp.matchers(n, 'equals-ignore-case', 'p'))) $$;

-- What is made now.
SELECT lives_ok($$ SELECT sf_create_rule('largest', pg_temp.pattern(1000), 'notify:c') $$,
	'a rule with as many matchers as there may be');
SELECT throws_ok($$ SELECT sf_create_rule('larger', pg_temp.pattern(1001), 'notify:c') $$, 'SF050',
	'invalid event pattern at "": it has 1001 values and operators, and must have at most 1000', 'one more');
SELECT throws_ok(format('SELECT sf_create_rule(''larger'', %L, ''notify:c'')', jsonb_build_object('$or',
		'[{"b": [1, 2]}, {"c": {"d": [3]}}]'::jsonb, 'a', jsonb_build_array(jsonb_build_object('anything-but',
		(SELECT jsonb_agg(n) FROM generate_series(1, 998) AS n))))), 'SF050',
	'invalid event pattern at "": it has 1001 values and operators, and must have at most 1000',
	'those of anything-but and of $or count');

-- What 1.0 has let through matches still, and may stay.
SELECT sf_create_rule('kept', '{"detail": {"name": ["P2000"]}}', 'notify:c') \g /dev/null
UPDATE _sfflow.rule SET pattern = jsonb_set(pg_temp.pattern(2000), '{detail,status}', '["SUCCEEDED"]')
	WHERE name = 'kept';
SELECT lives_ok($$ SELECT sf_create_rule('kept', pattern, 'notify:d') FROM _sfflow.rule WHERE name = 'kept' $$,
	'a rule that is larger keeps its pattern');
SELECT throws_ok($$ SELECT sf_create_rule('kept', pattern || '{"a": [1]}', 'notify:d') FROM _sfflow.rule
	WHERE name = 'kept' $$, 'SF050', NULL, '... and gets no other one as large');
SELECT throws_ok($$ SELECT sf_create_rule('larger', pattern, 'notify:d') FROM _sfflow.rule WHERE name = 'kept' $$,
	'SF050', NULL, '... nor does another rule get it');
SELECT sf_create_state_machine('patterns', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')
	\g /dev/null
SELECT sf_start('patterns', '{}', 'P2000'), sf_start('patterns', '{}', 'P2001'), sf_run('patterns:P2000'),
	sf_run('patterns:P2001') \g /dev/null
SELECT results_eq($$ SELECT event #>> '{detail,name}' FROM sf_rule_deliveries WHERE rule_name = 'kept' $$,
	$$ VALUES ('P2000') $$, 'it matches');

-- A text is put into lower case once, whatever the number of matchers.
SET LOCAL statement_timeout = '3s';
SELECT is(sf_test_event_pattern(jsonb_build_object('a', pg_temp.matchers(5000, 'equals-ignore-case', 'p')),
		jsonb_build_object('a', repeat('Ä', 120000))), false, 'many matchers that ignore case, and a large text');
SELECT is(sf_test_event_pattern(jsonb_build_object('a', jsonb_build_array(jsonb_build_object('anything-but',
			jsonb_build_object('equals-ignore-case', (SELECT jsonb_agg('p' || i)
				FROM generate_series(1, 5000) AS i))))),
		jsonb_build_object('a', repeat('Ä', 120000))), true, '... in anything-but');
SELECT is(sf_test_event_pattern(jsonb_build_object('a', (SELECT jsonb_agg(jsonb_build_object(operator,
			jsonb_build_object('equals-ignore-case', 'p' || i))) FROM generate_series(1, 2500) AS i,
			unnest('{prefix,suffix}'::text[]) AS operator)), jsonb_build_object('a', repeat('Ä', 120000))), false,
	'... as a prefix and a suffix');
RESET statement_timeout;

-- What takes long is interrupted soon.
CREATE FUNCTION pg_temp.interrupted(pattern jsonb, event jsonb) RETURNS interval LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
BEGIN
	PERFORM sf_test_event_pattern(pattern, event);
	RAISE 'was not interrupted';
EXCEPTION WHEN query_canceled THEN
	RETURN clock_timestamp() - began;
END $$;
CREATE TEMPORARY TABLE long AS SELECT jsonb_build_object('a', jsonb_agg('{"wildcard": "*xy*"}'::jsonb)) AS pattern,
	jsonb_build_object('a', repeat('x', 1000000)) AS event
	FROM generate_series(1, 20000);
SET LOCAL statement_timeout = '500ms';
SELECT cmp_ok((SELECT pg_temp.interrupted(pattern, event) FROM long), '<', interval '5 s', 'matching is interrupted');
RESET statement_timeout;

SELECT * FROM finish();
ROLLBACK;
