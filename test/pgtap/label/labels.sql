-- Labels of executions: where they come from, what may be one, and how executions are found by them.
-- needs: label mcp
BEGIN;
SELECT plan(61);

CREATE FUNCTION pg_temp.machine(name text, options jsonb, language text DEFAULT 'JSONPath') RETURNS integer
	LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, format('{"QueryLanguage": "%s", "StartAt": "A",
			"States": {"A": {"Type": "Succeed"}}}', language)::json,
		or_replace => true, options => options) $$;
CREATE FUNCTION pg_temp.labels(id text) RETURNS jsonb
	LANGUAGE sql AS 'SELECT labels FROM sf_executions WHERE execution_id = id';
CREATE FUNCTION pg_temp.found(label text, value text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(execution_id, ' ' ORDER BY execution_id) FROM sf_labels l WHERE l.label = $1 AND l.value = $2 $$;
CREATE FUNCTION pg_temp.listed(labels jsonb, VARIADIC more text[] DEFAULT '{NULL,NULL}') RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(name, ' ' ORDER BY name) FROM sf_list_executions(labels, more[1], more[2]) $$;

-- The option of a machine, in both languages.
SELECT pg_temp.machine('order', '{"labels": {"tenant": "$.tenant", "order": "$.order", "test": "$.test"}}'),
	pg_temp.machine('plain', '{}'),
	pg_temp.machine('jsonata', '{"labels": {"who": "{% $uppercase($states.input.tenant) %}",
		"none": "{% $states.input.missing %}"}}', 'JSONata') \g /dev/null
SELECT sf_start('order', '{"tenant": "acme", "order": 17, "test": true}', '1') \g /dev/null
SELECT is(pg_temp.labels('order:1'), '{"tenant": "acme", "order": "17", "test": "true"}',
	'paths into the input; numbers and booleans become texts');
SELECT sf_start('order', '{"tenant": "acme"}', '2') \g /dev/null
SELECT is(pg_temp.labels('order:2'), '{"tenant": "acme"}', 'a path without a value sets no label');
SELECT sf_start('order', '{}', '3') \g /dev/null
SELECT is(pg_temp.labels('order:3'), NULL, 'an execution without any has null');
SELECT sf_start('jsonata', '{"tenant": "acme"}', '1') \g /dev/null
SELECT is(pg_temp.labels('jsonata:1'), '{"who": "ACME"}', 'expressions of JSONata');
SELECT throws_ok($$SELECT sf_start('order', '{"tenant": {"a": 1}}', 'x')$$, 'SF010', NULL,
	'an object cannot be a label');
SELECT is((SELECT count(*) FROM sf_executions WHERE execution_id = 'order:x'), 0::bigint, '... and nothing is started');
SELECT throws_ok(format($$SELECT sf_start('order', '{"tenant": "%s"}', 'x')$$, repeat('é', 257)), 'SF010', NULL,
	'a value has 256 characters at most');
SELECT lives_ok(format($$SELECT sf_start('order', '{"tenant": "%s"}', 'long')$$, repeat('é', 256)),
	'... and may have these');

-- What the option may be.
SELECT throws_ok(format('SELECT pg_temp.machine(''bad'', %L)', jsonb_build_object('labels', o)), 'SF012', m,
	'option ' || o::text)
FROM (VALUES ('1'::jsonb, 'option labels must be a JSON object'),
	('{"a": 1}', 'option labels: label "a" must be a string'),
	('{"a": "b"}', 'option labels: label "a" must be a path into the input, as "$.tenant" is'),
	('{"": "$.b"}', 'option labels: the name of a label must have 1 to 64 characters')) AS v (o, m);
SELECT throws_ok($$SELECT pg_temp.machine('bad', '{"labels": {"a": "$.a"}}', 'JSONata')$$, 'SF012', NULL,
	'a path in a machine of JSONata');
SELECT throws_ok($$SELECT pg_temp.machine('bad', '{"labels": {"a": "{% ( %}"}}', 'JSONata')$$, 'SF012', NULL,
	'an expression that does not compile');
SELECT throws_ok(format('SELECT pg_temp.machine(''bad'', jsonb_build_object(''labels'', %L::jsonb))',
		(SELECT jsonb_object_agg('l' || i, '$.a') FROM generate_series(1, 17) i)),
	'SF012', 'option labels must have at most 16 labels', '17 labels');

-- A start with options.
SELECT is(sf_start('order', '{"tenant": "acme", "order": 18}', options => '{"name": "4", "labels": {"order": null,
		"tenant": "beta", "region": "eu"}, "priority": 3}'),
	'order:4', 'sf_start with options returns the id');
SELECT is(pg_temp.labels('order:4'), '{"tenant": "beta", "region": "eu"}',
	'labels of the start add to those of the machine, and null removes one');
SELECT is(sf_start('plain', '{}'::jsonb, '{"name": "1", "labels": {"tenant": "acme"}}'::jsonb), 'plain:1',
	'options by position');
SELECT is(sf_start('plain', '{}', 'third'), 'plain:third', 'a third argument without a type is a name, as it was');
SELECT throws_ok($$SELECT sf_start('plain', '{}', options => '{"label": {}}')$$, 'SF012',
	'a start has no option "label"', 'an option that does not exist');
SELECT throws_ok($$SELECT sf_start('plain', '{}', options => '{"labels": 1}')$$, 'SF010',
	'labels must be a JSON object', 'labels that are no object');
SELECT throws_ok($$SELECT sf_start('plain', '{}', options => '[]')$$, 'SF012',
	'argument options must be a JSON object, not array', 'options that are no object');
SELECT throws_ok($$SELECT sf_start('plain', '{}', options => '{"priority": "1"}')$$, 'SF012',
	'option priority must be an integer', 'a priority that is a string');
SELECT throws_ok($$SELECT sf_start('plain', '{}', options => '{"if_exists": "never"}')$$, 'SF012', NULL,
	'an if_exists that does not exist');
SELECT throws_ok($$SELECT sf_start('plain', '{}', options => NULL)$$, '22004', NULL, 'null options');
SELECT is((SELECT string_agg(name || ' ' || outcome, ', ') FROM sf_start_many('plain', ARRAY['{}', '{}']::jsonb[],
			ARRAY['m1', 'm2'], options => '{"labels": {"batch": 7}}')),
	'm1 started, m2 started', 'sf_start_many with options');
SELECT is(pg_temp.found('batch', '7'), 'plain:m1 plain:m2', '... whose labels all executions get');
SELECT throws_ok($$SELECT sf_start_many('plain', ARRAY['{}']::jsonb[], NULL, options => '{"name": "x"}')$$, 'SF012',
	NULL, 'a name is no option of many');

-- sf_labels, sf_list_executions.
SELECT is(pg_temp.found('tenant', 'acme'), 'order:1 order:2 plain:1', 'sf_labels finds executions by a label');
SELECT is(pg_temp.listed('{"tenant": "acme"}'), '1 1 2', 'sf_list_executions does');
SELECT is(pg_temp.listed('{"tenant": "acme", "order": 17}'), '1', '... by two of them');
SELECT is(pg_temp.listed('{"tenant": "acme"}', 'order'), '1 2', '... of a machine');
SELECT is(pg_temp.listed('{"tenant": "acme"}', NULL, 'FAILED'), NULL, '... of a status');
SELECT is(pg_temp.listed('{"tenant": "nobody"}'), NULL, '... or none');
SELECT throws_ok($$SELECT sf_list_executions(labels => '{}')$$, 'SF012', NULL, 'no label at all is refused');
SELECT throws_ok($$SELECT sf_list_executions(labels => '{"a": []}')$$, 'SF012', NULL, 'an array, too');
SELECT is((SELECT string_agg(p1.name || p2.name, ' ') FROM sf_list_executions(labels => '{"tenant": "acme"}',
			state_machine => 'order', page_size => 1) p1,
	LATERAL sf_list_executions(labels => '{"tenant": "acme"}', state_machine => 'order', page_size => 1,
		after_key => p1.page_key) p2), '21', 'pages, the newest first');

-- sf_set_labels.
SELECT sf_set_labels('order:1', '{"test": null, "order": "18", "new": 1.50}') \g /dev/null
SELECT is(pg_temp.labels('order:1'), '{"tenant": "acme", "order": "18", "new": "1.50"}',
	'sf_set_labels merges, and null removes');
SELECT is(concat_ws('/', pg_temp.found('order', '17'), pg_temp.found('order', '18'), pg_temp.found('test', 'true')),
	'order:1', '... and what it has found before is not found');
SELECT is((SELECT action || ' ' || details::text FROM sf_audit WHERE execution_id = 'order:1'
		AND action = 'set_labels'), 'set_labels {"new": 1.50, "test": null, "order": "18"}', '... and is audited');
SELECT throws_ok(format('SELECT sf_set_labels(''order:1'', %L)', (SELECT jsonb_object_agg('l' || i, i)
			FROM generate_series(1, 14) i)), 'SF012', 'an execution can have at most 16 labels', '17 labels');
CREATE ROLE labels_reader;
SELECT sf_grant('READ', 'order', 'labels_reader');
SET ROLE labels_reader;
SELECT throws_ok($$SELECT sf_set_labels('order:1', '{"a": 1}')$$, '42501', NULL,
	'a role that may READ may set no labels');
SELECT is(pg_temp.found('tenant', 'acme'), 'order:1 order:2', '... and finds what it may read');
RESET ROLE;

-- Rows that are wrong.
UPDATE _sfflow.label SET value = 'us' WHERE name = 'region';
SELECT is((SELECT string_agg(problem, ' ' ORDER BY problem) FROM sf_check()), 'label_row_left label_row_missing',
	'sf_check sees a row of no label, and a label without a row');
UPDATE _sfflow.label SET value = 'eu' WHERE name = 'region';

-- The newest executions of a label without a look at the others: with the conditions in either form, also of a role
-- that may read a machine.
CREATE FUNCTION pg_temp.plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP plan := plan || line; END LOOP;
	RETURN plan;
END $$;
GRANT EXECUTE ON FUNCTION pg_temp.plan(text) TO labels_reader;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SET ROLE labels_reader;
SELECT ok(p LIKE '%Index Only Scan Backward using label_newest on label%' AND p NOT LIKE '%Sort%', query || ': ' || p)
FROM (VALUES ($$SELECT * FROM sf_labels WHERE label = 'tenant' AND value = 'acme' LIMIT 50$$),
	($$SELECT * FROM sf_labels WHERE label = 'tenant' AND value = 'acme' ORDER BY requested_at DESC LIMIT 50$$),
	($$SELECT * FROM sf_labels WHERE (label, value) = ('tenant', 'acme') AND requested_at > now() - interval '1 day'
		LIMIT 50$$)) q (query),
	pg_temp.plan(query) p;
RESET ROLE;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Items of Distributed Maps.
SELECT sf_create_state_machine(name, '{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P",
		"States": {"P": {"Type": "Pass", "End": true}}}, "ItemsPath": "$.items"}}}',
	options => options::jsonb || '{"labels": {"tenant": "$.tenant"}}')
FROM (VALUES ('items', '{}'), ('labelled', '{"label_children": true}')) v (name, options) \g /dev/null
SELECT sf_run(sf_start(name, '{"tenant": "map", "items": [1, 2, 3]}', '1'))
	FROM (VALUES ('items'), ('labelled')) v (name) \g /dev/null
SELECT is((SELECT string_agg(x.machine || ' ' || x.n, ', ' ORDER BY x.machine) FROM (
	SELECT split_part(split_part(execution_id, ':', 1), '/', 1) AS machine, count(*) AS n FROM sf_executions
	WHERE labels ->> 'tenant' = 'map' GROUP BY 1) x),
	'items 1, labelled 4', 'executions of items have the labels of their parent if label_children says so');
SELECT is((SELECT count(*) FROM sf_labels WHERE label = 'tenant' AND value = 'map'), 5::bigint,
	'... and are found by them');
SELECT throws_ok($$SELECT pg_temp.machine('bad', '{"label_children": 1}')$$, 'SF012',
	'option label_children must be true or false', 'an option that is no truth value');

-- What the console and agents show of labels, and alerts.
SELECT is((SELECT string_agg(r ->> 'name', ' ' ORDER BY r ->> 'name') FROM jsonb_array_elements(
	sf_console_api('executions', '{"labels": {"tenant": "acme"}, "state_machine": "order"}') -> 'rows') r), '1 2',
	'the console filters executions by labels');
SELECT is((SELECT r -> 'labels' FROM jsonb_array_elements(sf_console_api('executions', '{"name": "4"}') -> 'rows') r),
	'{"tenant": "beta", "region": "eu"}', '... and shows them');
SELECT is((SELECT string_agg(r ->> 'name', ' ' ORDER BY r ->> 'name') FROM jsonb_array_elements(
	_sfflow.mcp_list_executions('{"labels": {"region": "eu"}}') -> 'executions') r), '4', 'an agent does');
SELECT sf_create_state_machine('fails', '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Broken"}}}',
	options => '{"labels": {"tenant": "$.tenant"}}'),
	sf_run(sf_start('fails', '{"tenant": "acme"}', '1')) \g /dev/null
SELECT is((SELECT labels FROM sf_alerts WHERE execution_id = 'fails:1' AND kind = 'failed'), '{"tenant": "acme"}',
	'an alert has the labels of its execution');
SELECT is((SELECT r -> 'labels' FROM jsonb_array_elements(sf_console_api('alerts', '{}') -> 'rows') r
		WHERE r ->> 'execution_id' = 'fails:1'),
	'{"tenant": "acme"}', '... in the console, too');
SELECT is(pg_temp.listed('{"tenant": "acme"}', NULL, 'FAILED'), '1', 'a failed one is found by its status and a label');

-- Stop, redrive, restart, purge.
SELECT is((SELECT string_agg(execution_id || ' ' || outcome, ', ' ORDER BY execution_id)
		FROM sf_stop_many(labels => '{"batch": "7"}')),
	'plain:m1 stopped, plain:m2 stopped', 'sf_stop_many of a label');
SELECT is((SELECT string_agg(execution_id || ' ' || outcome, ', ') FROM sf_redrive_many(labels => '{"batch": "7"}',
			max => 1)), 'plain:m1 redriven', 'sf_redrive_many, too');
SELECT sf_stop('order:1') \g /dev/null
SELECT sf_start('order', '{"tenant": "gamma"}', '1', 'restart') \g /dev/null
SELECT is(pg_temp.labels('order:1'), '{"tenant": "gamma"}', 'a restart evaluates labels anew');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null
UPDATE _sfflow.execution SET stopped_at = now() - interval '2 hours';
SELECT sf_purge('1 hour') \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.label)::text || ' ' || (SELECT count(*) FROM sf_executions), '0 0',
	'the purge leaves no row');
SELECT * FROM finish();
ROLLBACK;
