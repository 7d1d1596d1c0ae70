-- The rules of one owner may take so many steps to match an event in the transaction that makes it. For those that are
-- left a delivery each finds out whether the event matches.
BEGIN;
SELECT plan(11);

CREATE ROLE rule_one;
CREATE ROLE rule_two;
CREATE TABLE got (who name DEFAULT current_user, rule text);
GRANT ALL ON got TO rule_one, rule_two;
CREATE SCHEMA steps;
GRANT USAGE, CREATE ON SCHEMA steps TO rule_one, rule_two;
CREATE FUNCTION steps.note(rule text) RETURNS void LANGUAGE sql AS 'INSERT INTO public.got (rule) VALUES (rule)';
CREATE FUNCTION pg_temp.deliver() RETURNS void LANGUAGE plpgsql SET client_min_messages = error
	AS $$ BEGIN CALL sf_run_due(); END $$;
CREATE FUNCTION pg_temp.waits() RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(rule_name || CASE WHEN unmatched THEN '?' ELSE '' END, ' ' ORDER BY rule_name), '')
	FROM sf_rule_deliveries JOIN _sfflow.rule r ON r.name = rule_name
	JOIN _sfflow.rule_delivery d ON d.rule_no = r.rule_no AND d.event_id = sf_rule_deliveries.event_id $$;

SELECT sf_create_state_machine('stepped', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 9999,
	"End": true}}}') \g /dev/null
SELECT sf_grant('CREATE', '*', r), sf_grant('READ', 'stepped', r) FROM unnest('{rule_one,rule_two}'::text[]) AS r
	\g /dev/null
-- Of an owner three rules that are told of an execution that begins: the second one is not for this one.
CREATE FUNCTION pg_temp.make(name text, names text[]) RETURNS void LANGUAGE sql AS $$
	SELECT sf_create_rule(name, jsonb_build_object('source', '["aws.states"]'::jsonb, 'detail',
		jsonb_build_object('status', '["RUNNING"]'::jsonb, 'name', to_jsonb(names))), 'sql:steps.note',
		jsonb_build_object('rule', name)) $$;
SET ROLE rule_one;
SELECT pg_temp.make('one_a', '{x,y}'), pg_temp.make('one_b', '{y}'), pg_temp.make('one_c', '{x}') \g /dev/null
SET ROLE rule_two;
SELECT pg_temp.make('two_a', '{x}') \g /dev/null
RESET ROLE;

SET LOCAL sfflow.debug_point = 'rule_steps:ms=8';
SELECT sf_start('stepped', '{}', 'x') \g /dev/null
SELECT sf_run('stepped:x') \g /dev/null
SELECT is(pg_temp.waits(), 'one_a one_b? one_c? two_a', 'an owner whose rules take too many steps, and another one');
SET LOCAL sfflow.debug_point = '';
SELECT is((SELECT string_agg(status, ' ') FROM sf_rule_deliveries), 'PENDING PENDING PENDING PENDING', 'all wait');
SELECT pg_temp.deliver();
SELECT is((SELECT string_agg(who || ' ' || rule, ', ' ORDER BY rule) FROM got),
	'rule_one one_a, rule_one one_c, rule_two two_a', 'what matches is delivered');
SELECT is(pg_temp.waits(), '', '... and nothing is left of what does not');
SELECT is((SELECT string_agg(rule_name || ' ' || delivered, ', ' ORDER BY rule_name) FROM sf_rules
	WHERE rule_name ~ '^(one|two)_'), 'one_a 1, one_b 0, one_c 1, two_a 1', '... nor counted');

-- An attempt has an end, too.
TRUNCATE got;
SET LOCAL sfflow.debug_point = 'rule_steps:ms=0';
SELECT sf_start('stepped', '{}', 'y'), sf_run('stepped:y') \g /dev/null
SELECT is(pg_temp.waits(), 'one_a? one_b? one_c? two_a?', 'without any steps nothing is matched');
SET LOCAL sfflow.debug_point = 'delivery_steps:ms=0';
SELECT pg_temp.deliver();
SELECT is((SELECT string_agg(DISTINCT status || ' ' || error, ', ') FROM sf_rule_deliveries),
	'DEAD Sfflow.PatternTooLarge', 'a pattern that takes too long for an attempt, too');
SET LOCAL sfflow.debug_point = '';
SELECT is((SELECT sum(sf_redeliver(rule_name)) FROM sf_rules WHERE rule_name ~ '^(one|two)_'), 4::numeric,
	'it can be tried anew');
SELECT pg_temp.deliver();
SELECT is((SELECT string_agg(rule, ' ' ORDER BY rule) FROM got), 'one_a one_b', '... and is still matched');

-- A chain of rules that is too long ends there as well.
TRUNCATE got;
SET LOCAL sfflow.debug_point = 'rule_steps:ms=0';
SELECT sf_start('stepped', '{}', 'z') \g /dev/null
UPDATE _sfflow.rule_chain SET depth = 10;
INSERT INTO _sfflow.rule_chain (execution_no, depth) SELECT execution_no, 10 FROM _sfflow.execution
	WHERE execution_id = 'stepped:z' ON CONFLICT DO NOTHING;
SET ROLE rule_two;
SELECT pg_temp.make('two_a', '{z}') \g /dev/null
RESET ROLE;
SELECT sf_run('stepped:z') \g /dev/null
SELECT pg_temp.deliver();
SELECT is((SELECT string_agg(rule_name || ' ' || error, ', ') FROM sf_rule_deliveries),
	'two_a Sfflow.RuleChainTooLong', 'a chain that is too long ends with what matches');
SELECT is((SELECT count(*) FROM got), 0::bigint, '... which is not called');

SELECT * FROM finish();
ROLLBACK;
