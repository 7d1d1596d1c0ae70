-- The console's actions on all executions that a filter has, page by page, and its searches inside of executions.
-- needs: hold label
BEGIN;
SELECT plan(31);
SET LOCAL client_min_messages = warning;

CREATE ROLE matches_reader;
CREATE ROLE matches_operator;
CREATE FUNCTION pg_temp.api(action text, request jsonb DEFAULT '{}') RETURNS jsonb
	LANGUAGE sql AS 'SELECT sf_console_api(action, request)';
CREATE FUNCTION pg_temp.names(answer jsonb) RETURNS text LANGUAGE sql AS
	$$ SELECT string_agg(r ->> 'name', ' ' ORDER BY (r ->> 'name')::integer)
	FROM jsonb_array_elements(answer -> 'rows') r $$;
CREATE FUNCTION pg_temp.counted(act text, filter jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS
	$$ SELECT concat_ws(' ', a ->> 'looked', a ->> 'n', a ->> 'not_for', a ->> 'no_right', a ->> 'next')
	FROM sf_console_api('count_matches', filter || jsonb_build_object('act', act)) a $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pg_temp TO PUBLIC;

-- 60 executions that fail, and 10 that run.
SELECT sf_create_state_machine('many', '{"StartAt": "C", "States": {"C": {"Type": "Choice", "Choices": [
	{"Variable": "$.wait", "IsPresent": true, "Next": "W"}], "Default": "F"}, "W": {"Type": "Wait", "Seconds": 1000,
		"End": true},
	"F": {"Type": "Fail", "Error": "Bad.Input", "CausePath": "$.cause"}}}',
	options => '{"labels": {"tenant": "$.tenant"}}') \g /dev/null
SELECT sf_start('many', jsonb_build_object('order', jsonb_build_object('id', n, 'urgent', n % 10 = 0), 'tenant',
		CASE WHEN n <= 20 THEN 'a' ELSE 'b' END,
	'cause', 'The bank said: code ' || n)
	|| CASE WHEN n > 60 THEN '{"wait": 1}' ELSE '{}'::jsonb END, n::text) FROM generate_series(1, 70) n \g /dev/null
SELECT sf_run('many:' || n) FROM generate_series(1, 60) n \g /dev/null
SELECT sf_step('many:' || n) FROM generate_series(61, 70) n \g /dev/null
SELECT is((SELECT string_agg(status || n, ' ' ORDER BY status) FROM (SELECT status, count(*) AS n FROM sf_executions
			GROUP BY status) s), 'FAILED60 RUNNING10', 'some failed and some run');

-- Searches.
SELECT is(pg_temp.names(pg_temp.api('executions', '{"path": "$.order.id", "value": "17"}')), '17',
	'by a value at a path of the input');
SELECT is(pg_temp.api('executions', '{"path": "$.order.id", "value": "17"}') ->> 'looked', '70',
	'... which says in how many it looked');
SELECT is(pg_temp.names(pg_temp.api('executions', '{"path": "$.order.urgent"}')), '10 20 30 40 50 60 70',
	'by a path alone: what is there, and neither null nor false');
SELECT is(pg_temp.names(pg_temp.api('executions', '{"path": "$.order.id ? (@ > 68)"}')), '69 70',
	'... with a condition');
SELECT is(pg_temp.names(pg_temp.api('executions', '{"path": "$.order.id ? (@ > 48)", "labels": {"tenant": "b"},
			"status": "FAILED", "text": "CODE 5"}')), '50 51 52 53 54 55 56 57 58 59',
	'by a text in the cause, with other filters');
SELECT is(pg_temp.names(pg_temp.api('executions', '{"text": "bad.input"}')),
	pg_temp.names(pg_temp.api('executions', '{"error": "Bad.Input"}')), 'by a text in the error');
SELECT is(pg_temp.api('executions', '{"text": "no such text"}') - 'rights', '{"rows": [], "next": null, "looked": 70}',
	'by one that is nowhere');
SELECT throws_ok($$ SELECT sf_console_api('executions', '{"path": "$["}') $$, 'SF012', '"$[" is no path into the input',
	'a path that is none');
SELECT pg_temp.api('executions', '{"path": "$.order.urgent", "limit": 3}') AS page \gset
SELECT is(concat(pg_temp.names(:'page'::jsonb), ' ', :'page'::jsonb ->> 'looked'), '50 60 70 21',
	'a page of a search ends with its last hit');
SELECT is(pg_temp.names(pg_temp.api('executions', jsonb_build_object('path', '$.order.urgent', 'limit', 3, 'key',
			:'page'::jsonb -> 'next'))), '20 30 40', '... and the next one goes on there');
SELECT is(pg_temp.api('executions', '{}') ? 'looked', false, 'a list without a search looks inside of none');

-- Counts.
SELECT is(pg_temp.counted('stop'), '70 10 60 0', 'to how many Stop would be done');
SELECT is(pg_temp.counted('redrive', '{"labels": {"tenant": "a"}}'), '20 20 0 0', 'Redrive, of a label');
SELECT is(pg_temp.counted('release'), '70 0 70 0', 'Release: nothing is held');
SELECT is(pg_temp.counted('set_labels', '{"text": "code 5"}'), '70 11 0 0', 'labels, of a text');
SELECT throws_ok($$ SELECT sf_console_api('count_matches', '{"act": "purge"}') $$, 'SF012',
	'"act" must be stop, redrive, hold, release or set_labels', 'no other action');
SELECT throws_ok($$ SELECT sf_console_api('act_on_matches', '{}') $$, 'SF012', NULL, '... neither to be done');

-- What is done, page by page.
SELECT pg_temp.api('act_on_matches', '{"act": "redrive", "status": "FAILED", "limit": 25}') AS page \gset
SELECT is(:'page'::jsonb - 'next', '{"done": 25, "looked": 25, "refused": []}', 'a page is redriven');
SELECT pg_temp.api('act_on_matches', jsonb_build_object('act', 'redrive', 'status', 'FAILED', 'key',
		:'page'::jsonb -> 'next')) AS page \gset
SELECT is(:'page'::jsonb, '{"done": 35, "looked": 35, "next": null, "refused": []}', '... and the rest, each once');
SELECT is((SELECT string_agg(status || n, ' ' ORDER BY status) FROM (SELECT status, count(*) AS n FROM sf_executions
			GROUP BY status) s), 'RUNNING70', '... so that all run');
SELECT is(pg_temp.api('act_on_matches', '{"act": "hold", "path": "$.order.urgent", "reason": "the bank"}') ->> 'done',
	'7', 'those of a search are held');
SELECT is((SELECT count(DISTINCT reason) || ' ' || count(*) FROM sf_holds), '1 7', '... with the reason');
SELECT is(pg_temp.counted('release'), '70 7 63 0', '... and can be released');
SELECT is(pg_temp.api('act_on_matches', '{"act": "release"}') ->> 'done', '7', '... which is done');
SELECT is(pg_temp.api('act_on_matches', '{"act": "set_labels", "labels": {"tenant": "a"},
		"set_labels": {"checked": "yes"}}') ->> 'done', '20', 'labels are set');
SELECT is((SELECT count(*) FROM sf_list_executions('{"checked": "yes"}'::jsonb)), 20::bigint, '... on these alone');
SELECT is(pg_temp.api('set_labels', '{"targets": ["many:1"], "labels": {"checked": null}}') -> 'rows' -> 0 ->> 'target',
	'many:1', '... and removed from one');

-- Rights.
SELECT sf_grant('READ', 'many', 'matches_reader'), sf_grant('READ', 'many', 'matches_operator'),
	sf_grant('OPERATE', 'many', 'matches_operator') \g /dev/null
SET LOCAL ROLE matches_reader;
SELECT is(concat(pg_temp.counted('stop'), ' ', sf_console_api('act_on_matches', '{"act": "stop"}') -> 'done'),
	'70 0 0 70 0', 'without OPERATE nothing is done');
SET LOCAL ROLE matches_operator;
SELECT is(concat(pg_temp.counted('stop'), ' ', sf_console_api('act_on_matches', '{"act": "stop"}') -> 'done'),
	'70 70 0 0 50', '... with it up to 50 at a time');
RESET ROLE;
SELECT is_empty('SELECT * FROM sf_check()', 'nothing is damaged');
SELECT * FROM finish();
ROLLBACK;
