-- sf_audit: who did what, and for how long it is kept.
BEGIN;
SELECT plan(34);

CREATE ROLE audit_owner; CREATE ROLE audit_operator; CREATE ROLE audit_stranger;
SELECT sf_grant('CREATE', '*', 'audit_owner') \g /dev/null
SET LOCAL ROLE audit_owner;
SELECT sf_create_state_machine('audited', '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "No"}}}')
	\g /dev/null
SELECT sf_create_state_machine('audited', '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Yes"}}}',
	or_replace => true) \g /dev/null
SELECT sf_create_state_machine('audited', '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Yes"}}}',
	or_replace => true) \g /dev/null
SELECT results_eq($$ SELECT concat_ws('|', action, target, execution_id, role, details) COLLATE "default" FROM sf_audit
	WHERE target = 'audited' ORDER BY at $$,
	$$ VALUES ('create|audited|audit_owner|{"version": 1}'), ('replace|audited|audit_owner|{"version": 2}') $$,
	'definitions; one that is the same is no change');
SELECT is((SELECT session_role FROM sf_audit WHERE action = 'create' AND target = 'audited'),
	session_user::text COLLATE "C", 'with the role of the session');
SELECT sf_grant('OPERATE', 'audited', 'audit_operator'), sf_grant('READ', 'audited', 'audit_operator'),
	sf_grant('START', 'audited', 'audit_stranger'),
	sf_revoke('START', 'audited', 'audit_stranger') \g /dev/null
SELECT results_eq($$ SELECT action, details ->> 'privilege', details ->> 'role' FROM sf_audit
	WHERE action IN ('grant', 'revoke') ORDER BY at $$,
	$$ VALUES ('grant', 'OPERATE', 'audit_operator'), ('grant', 'READ', 'audit_operator'),
	('grant', 'START', 'audit_stranger'), ('revoke', 'START', 'audit_stranger') $$,
	'rights given and taken');

-- Executions.
SELECT sf_start('audited', name => 'x'), sf_start('audited', name => 'y') \g /dev/null
SELECT results_eq($$ SELECT concat_ws('|', action, role, session_role, reason, details) COLLATE "default" FROM sf_audit
	WHERE execution_id = 'audited:x' $$,
	$$ VALUES ('start|audit_owner') $$, 'a start');
RESET ROLE;
SELECT is((SELECT count(*) FROM _sfflow.audit WHERE action = 'start'), 0::bigint, '... costs no row');
SET LOCAL ROLE audit_operator;
SELECT sf_stop('audited:x', 'Wrong', 'wrong day') \g /dev/null
SELECT results_eq($$ SELECT concat_ws('|', target, role, reason, details) COLLATE "default" FROM sf_audit
	WHERE execution_id = 'audited:x' AND action = 'stop' $$,
	$$ VALUES ('audited:x|audit_operator|wrong day|{"error": "Wrong"}') $$, 'a stop, by an operator');
SELECT sf_stop('audited:x') \g /dev/null
SELECT is((SELECT count(*) FROM sf_audit WHERE action = 'stop'), 1::bigint, 'a stop of what has ended is none');
SELECT sf_redrive('audited:x') \g /dev/null
SELECT results_eq($$ SELECT concat_ws('|', action, role, details) COLLATE "default" FROM sf_audit
	WHERE execution_id = 'audited:x' ORDER BY at OFFSET 2 $$,
	$$ VALUES ('redrive|audit_operator') $$, 'a redrive');
SELECT sf_stop('audited:x'), sf_redrive('audited:x', from_state => 'F', input => '{}') \g /dev/null
SELECT is((SELECT details FROM sf_audit WHERE action = 'redrive' ORDER BY at DESC LIMIT 1),
	'{"from_state": "F"}'::jsonb, 'a redrive from a state');
RESET ROLE;
SET LOCAL ROLE audit_owner;
SELECT sf_run('audited:x') \g /dev/null
SELECT sf_start('audited', name => 'x') \g /dev/null
SELECT results_eq($$ SELECT concat_ws('|', action, role, details ->> 'outcome') COLLATE "default" FROM sf_audit
	WHERE execution_id = 'audited:x' ORDER BY at DESC LIMIT 1 $$,
	$$ VALUES ('start|audit_owner|redriven') $$, 'a start that redrove');
SELECT throws_ok($$ SELECT sf_redrive('audited:x') $$, 'SF008');
SELECT is((SELECT count(*) FROM sf_audit WHERE execution_id = 'audited:x' AND action = 'redrive'), 2::bigint,
	'what is refused is not recorded');

-- Rights.
RESET ROLE;
SET LOCAL ROLE audit_stranger;
SELECT is_empty('SELECT * FROM sf_audit', 'a role without a right sees nothing');
SELECT throws_ok('SELECT * FROM _sfflow.audit', '42501', NULL, 'and reads no table');
SELECT throws_ok($$ DELETE FROM sf_audit $$, '55000', NULL, 'nobody deletes through the view');
RESET ROLE;

-- Children are started by their parents.
SELECT sf_create_state_machine('audited_parent', '{"StartAt": "M", "States": {"M": {"Type": "Map",
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
	"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}, "End": true}}}') \g /dev/null
SELECT sf_start('audited_parent', '[1, 2]', 'p'), sf_run('audited_parent:p') \g /dev/null
SELECT is((SELECT string_agg(execution_id COLLATE "default", ' ') FROM sf_audit WHERE action = 'start'
		AND execution_id LIKE 'audited\_parent%'), 'audited_parent:p',
	'only what a role started');

-- Kept as long as the execution, and as the machine.
SELECT sf_stop('audited:x'), sf_stop('audited:y') \g /dev/null
UPDATE _sfflow.execution SET stopped_at = stopped_at - interval '1 day' WHERE execution_id = 'audited:x';
SELECT is(sf_purge('1 hour'), 1::bigint, 'one execution is purged');
SELECT is((SELECT string_agg(DISTINCT target, ' ' ORDER BY target) FROM _sfflow.audit WHERE target LIKE 'audited%'),
	'audited audited:y audited_parent', 'with what was done to it');
SELECT sf_drop_state_machine('audited', true) \g /dev/null
SELECT is((SELECT string_agg(action || ' ' || target, ' ') FROM sf_audit WHERE target ~ '^audited($|:)'
		AND action <> 'start'), 'drop audited', 'of a machine that was dropped that remains');
SET LOCAL ROLE audit_owner;
SELECT is_empty($$ SELECT FROM sf_audit WHERE action = 'drop' $$, '... for administrators');
RESET ROLE;

-- Rights are looked up once, whatever strangers have done.
SET LOCAL ROLE audit_owner;
SELECT sf_create_state_machine(n, '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'),
	sf_grant('OPERATE', n, 'audit_operator')
FROM unnest('{audit_a, audit_b, audit_c}'::text[]) AS n \g /dev/null
SELECT sf_grant('READ', 'audit_b', 'audit_stranger') \g /dev/null
RESET ROLE;
INSERT INTO _sfflow.audit (at, action, object_kind, object_name, target, role, session_role)
SELECT now() - interval '1 day' + interval '1 ms' * i, CASE i % 2 WHEN 0 THEN 'hold' ELSE 'release' END, 'm',
	CASE WHEN i % 2000 = 1 THEN 'audit_b' ELSE 'audit_a' END, CASE WHEN i % 2000 = 1 THEN 'audit_b' ELSE 'audit_a' END,
	'audit_owner', 'audit_owner'
FROM generate_series(1, 20000) AS i;
ANALYZE _sfflow.audit;
CREATE FUNCTION pg_temp.scans(name) RETURNS bigint LANGUAGE sql AS
	$$ SELECT coalesce(seq_scan, 0) + coalesce(idx_scan, 0) FROM pg_stat_xact_all_tables WHERE schemaname = '_sfflow'
	AND relname = $1 $$;
CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql AS
	$$ SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_all_tables WHERE schemaname = '_sfflow'
	AND relname = 'audit' $$;
SELECT pg_temp.scans('state_machine') AS machines, pg_temp.scans('privilege') AS rights \gset before_
SET LOCAL ROLE audit_stranger;
SELECT is((SELECT count(*) FROM sf_audit WHERE action <> 'start'), 13::bigint,
	'a role sees what was done to a machine that it may read');
RESET ROLE;
SELECT cmp_ok(pg_temp.scans('state_machine') - :before_machines, '<', 10::bigint,
	'... and looks for machines a few times, not once a row');
SELECT cmp_ok(pg_temp.scans('privilege') - :before_rights, '<', 10::bigint, '... likewise for rights');

-- Pages.
SET LOCAL ROLE audit_stranger;
SELECT is((SELECT count(*) FROM sf_list_audit()), 13::bigint, 'a page has what the view has');
CREATE FUNCTION pg_temp.pages(size integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	page text[];
	key text;
BEGIN
	LOOP
		SELECT array_agg(a.at || ' ' || a.action ORDER BY a.at DESC), min(a.page_key::bigint)::text INTO page, key
		FROM sf_list_audit(page_size => size, after_key => key) AS a;
		EXIT WHEN page IS NULL;
		RETURN QUERY SELECT unnest(page);
	END LOOP;
END $$;
SELECT results_eq('SELECT * FROM pg_temp.pages(4)', $$ SELECT at || ' ' || action FROM sf_audit WHERE action <> 'start'
	ORDER BY at DESC $$, 'pages follow each other');
SELECT is((SELECT count(*) FROM sf_list_audit('audit_a')), 0::bigint, 'no page of what the caller may not see');
SELECT is((SELECT string_agg(DISTINCT target, ' ') FROM sf_list_audit('audit_b', role => 'audit_owner')), 'audit_b',
	'a page of one machine');
SELECT is((SELECT count(*) FROM sf_list_audit(action => 'hold')), 0::bigint, 'and of one action');
SELECT throws_ok($$ SELECT sf_list_audit(after_key => '7x') $$, 'SF012', 'argument after_key must not be "7x"');
SELECT throws_ok($$ SELECT sf_list_audit(page_size => 1001) $$, 'SF012', 'argument page_size must be at most 1000');
RESET ROLE;
SELECT pg_temp.rows_read() AS rows \gset before_
SET LOCAL ROLE audit_stranger;
SELECT count(*) FROM sf_list_audit(page_size => 5) \g /dev/null
RESET ROLE;
SELECT cmp_ok(pg_temp.rows_read() - :before_rows, '<', 6000::bigint,
	'a page does not read all that strangers have done');

-- Old rows go, whatever they are about.
UPDATE _sfflow.audit SET at = at - interval '401 days' WHERE object_name = 'audit_a' OR target = 'audited';
CALL sf_purge_due() \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.audit WHERE object_name = 'audit_a' OR target = 'audited'), 0::bigint,
	'what is older than sfflow.audit_retention is deleted');
SELECT is((SELECT count(*) FROM _sfflow.audit WHERE object_name = 'audit_b'), 13::bigint, '... and nothing else');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
