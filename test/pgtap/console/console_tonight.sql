-- What matters is not crowded out: tolerated failures, items of Distributed Maps, machines with masses of executions.
BEGIN;
SELECT plan(44);

SELECT current_schema AS schema \gset
CREATE FUNCTION tonight_task(item integer, bad integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	IF item = bad THEN
		RAISE EXCEPTION 'item % is bad', item;
	END IF;
	RETURN item;
END $$;
CREATE FUNCTION pg_temp.api(action text, request jsonb DEFAULT '{}') RETURNS jsonb
	LANGUAGE sql AS 'SELECT sf_console_api(action, request)';
CREATE FUNCTION pg_temp.run_all() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR n IN 1 .. 30 LOOP
		PERFORM sf_run(execution_id) FROM sf_executions WHERE status = 'RUNNING' AND state_machine LIKE 'spread%';
	END LOOP;
END $$;

-- --- failures that are tolerated
SELECT sf_create_state_machine('spread', format('{"StartAt": "M", "States": {"M": {"Type": "Map",
		"ItemsPath": "$.items", "MaxConcurrency": 5, "ToleratedFailureCount": 2, "End": true,
	"ItemSelector": {"item.$": "$$.Map.Item.Value", "bad.$": "$.bad"},
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
	"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:%s.tonight_task", "End": true}}}}}}',
	:'schema')::json) \g /dev/null
SELECT sf_start('spread', jsonb_build_object('bad', 3, 'items', (SELECT jsonb_agg(i) FROM generate_series(0, 19) AS i)),
	'good') \g /dev/null
SELECT pg_temp.run_all();
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'spread:good'), 'SUCCEEDED',
	'a Map tolerates an item that fails');
SELECT is((SELECT count(*) FROM sf_executions WHERE status = 'FAILED'), 1::bigint, '... whose execution has failed');
SELECT is_empty('SELECT * FROM sf_alerts', '... which is no alert');
SELECT is(pg_temp.api('tonight') -> 'failed', '[]', '... nor among the failures of tonight');
SELECT is((pg_temp.api('tonight') #> '{tolerated,0}') - '{started_at,stopped_at}'::text[],
	'{"execution_id": "spread:good", "state": "M", "status": "SUCCEEDED", "items": 20, "items_succeeded": 19,
		"items_failed": 1}', '... but among those that were tolerated');
SELECT is(pg_temp.api('tonight', jsonb_build_object('since', now() + interval '1 hour')) -> 'tolerated', '[]',
	'... of the time that is asked for');
SELECT is(sf_acknowledge((SELECT execution_id FROM sf_executions WHERE status = 'FAILED')), 0,
	'there is nothing to acknowledge');
-- A redrive of what was tolerated runs the item again.
SELECT sf_redrive('spread:good') \g /dev/null
SELECT pg_temp.run_all();
SELECT is_empty('SELECT * FROM sf_alerts', 'when it fails again that is none either');

-- Too many: the execution with the Map is the alert.
SELECT sf_start('spread', jsonb_build_object('bad', 3, 'items', '[3, 3, 3, 3, 1]'::jsonb), 'bad') \g /dev/null
SELECT pg_temp.run_all();
SELECT results_eq('SELECT execution_id COLLATE "C", kind COLLATE "C" FROM sf_alerts',
	$$ VALUES ('spread:bad' COLLATE "C", 'failed' COLLATE "C") $$,
	'of a Map that fails its execution is the one alert');
SELECT is(jsonb_path_query_array(pg_temp.api('tonight'), '$.failed[*].executions[*]'), '["spread:bad"]',
	'... and the one failure of tonight');
SELECT alike(pg_temp.api('tonight') #>> '{failed,0,item,cause,text}', '%item 3 is bad%',
	'... which tells why an item failed');
SELECT alike(pg_temp.api('execution', '{"execution_id": "spread:bad"}') #>> '{item,cause,text}', '%item 3 is bad%',
	'... as the page of the execution does');
SELECT is(pg_temp.api('execution', '{"execution_id": "spread:good"}') -> 'item', 'null',
	'... but not that of one that tolerates it');
SELECT cmp_ok((SELECT count(*) FROM sf_executions WHERE status = 'FAILED'), '>', 3::bigint,
	'... of many executions that have failed');
SELECT is(pg_temp.api('tonight') -> 'kinds', '{"failed": 1}', '... counted once');
SELECT is((SELECT times FROM _sfflow.failure WHERE is_open), 1, 'items have no row among the failures');

-- --- lists without items
CREATE FUNCTION pg_temp.machines(request jsonb) RETURNS bigint LANGUAGE sql AS
	$$ SELECT count(*) FROM jsonb_array_elements(pg_temp.api('executions', request) -> 'rows') AS r
	WHERE r ->> 'state_machine' LIKE 'spread/%' $$;
SELECT is(pg_temp.machines('{}'), 0::bigint, 'executions without items of Maps');
SELECT is(pg_temp.machines('{"status": "FAILED"}'), 0::bigint, '... by status');
SELECT cmp_ok(pg_temp.machines('{"items": true}'), '>=', 20::bigint, '... with them');
SELECT is(pg_temp.machines('{"parent": "spread:good"}'), 20::bigint, '... of a parent');
SELECT is((SELECT count(*) FROM sf_list_executions(without_items => true)), 2::bigint,
	'sf_list_executions without them');
SELECT cmp_ok((SELECT count(*) FROM sf_list_executions(without_items => false)), '>', 20::bigint, '... and with them');
SELECT is((SELECT string_agg(r ->> 'execution_id', ' ') FROM jsonb_array_elements(pg_temp.api('tonight') -> 'ended')
		AS r), 'spread:good', 'what ended well, without items');

-- --- what runs: the longest on top, masses together
SELECT sf_create_state_machine(m, '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100000, "End": true}}}')
	FROM unnest('{mass,few,long}'::text[]) AS m \g /dev/null
SELECT sf_start('long', '{}', 'l'), sf_start('few', '{}', 'a'), sf_start('few', '{}', 'b') \g /dev/null
SELECT sf_start('mass', '{}', n::text) FROM generate_series(1, 250) AS n \g /dev/null
SELECT sf_run(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null
UPDATE _sfflow.execution e SET requested_at = now() - interval '10 h' WHERE e.execution_id = 'long:l';
UPDATE _sfflow.open_execution o SET requested_at = now() - interval '10 h' FROM _sfflow.execution e
	WHERE e.execution_no = o.execution_no AND e.execution_id = 'long:l';
SELECT pg_temp.api('tonight') AS tonight \gset
CREATE TEMP VIEW running AS
SELECT n, r.execution_id, r.state_machine, r.further, r.running, r.progress, r.waiting_on
FROM ROWS FROM (jsonb_to_recordset(pg_temp.api('tonight') -> 'running') AS (execution_id text, state_machine text,
	further integer, running integer, progress jsonb, waiting_on text)) WITH ORDINALITY
	AS r(execution_id, state_machine, further, running, progress, waiting_on, n);
SELECT results_eq($$ SELECT execution_id, further FROM running WHERE state_machine <> 'mass' ORDER BY n $$,
	$$ VALUES ('long:l', 0), ('few:a', 0), ('few:b', 0) $$, 'what runs for longest comes first');
SELECT is((SELECT execution_id FROM running WHERE n = 1), 'long:l', '... before masses');
SELECT results_eq($$ SELECT execution_id, further, running FROM running WHERE state_machine = 'mass' $$,
	$$ VALUES ('mass:1', 249, 250) $$, '... which have one row');
SELECT is(:'tonight'::jsonb ->> 'running_count', '253', 'how many run');
SELECT is((SELECT count(*) FROM running WHERE progress IS NOT NULL AND waiting_on LIKE '%"W" until%'), 4::bigint,
	'... and what each waits for');
SELECT results_eq($$ SELECT DISTINCT state_machine COLLATE "default", running::integer FROM _sfflow.longest_running(1)
	ORDER BY 1 $$,
	$$ VALUES ('few', 2), ('long', 1), ('mass', 250) $$, 'one of each machine');
CREATE ROLE tonight_stranger;
SET LOCAL ROLE tonight_stranger;
SELECT is_empty('SELECT * FROM _sfflow.longest_running(3)', 'who may read no machine sees none');
SELECT is_empty('SELECT * FROM sf_night(NULL, NULL, 10)', '... and has no night');
RESET ROLE;

SET LOCAL track_functions = 'all';
SELECT count(*) FROM sf_alerts \g /dev/null
SELECT cmp_ok((SELECT coalesce(sum(calls), 0) FROM pg_stat_xact_user_functions WHERE schemaname = '_sfflow'
		AND funcname = 'branch_names'), '<=', 10::numeric,
	'alerts do not look at where each execution of a mass stands');
SET LOCAL track_functions = 'none';

-- --- the night
CREATE TEMP VIEW night AS
SELECT r.name, r.state, r.n
FROM jsonb_to_recordset(pg_temp.api('night') -> 'rows') AS r(name text, state text, n integer);
SELECT results_eq('SELECT name, state, n FROM night ORDER BY name, state',
	$$ VALUES ('few', 'RUNNING', 2), ('long', 'RUNNING', 1), ('mass', 'RUNNING', 250), ('spread', 'FAILED', 1),
		('spread', 'SUCCEEDED', 1) $$,
	'a night with masses is listed, too');
SELECT sf_stop('mass:' || n) FROM generate_series(1, 30) AS n \g /dev/null
SELECT results_eq($$ SELECT state, n FROM night WHERE name = 'mass' ORDER BY state $$,
	$$ VALUES ('ABORTED', 30), ('RUNNING', 220) $$, 'of a mass the metrics tell how many ended how');
SELECT is((SELECT count(*) FROM sf_night(NULL, NULL, 200) WHERE target LIKE 'mass%'), 1::bigint,
	'... for which no execution is read');
SELECT is((SELECT state FROM sf_night(NULL, NULL, 200) WHERE target = 'mass'), 'MASS', '... but one line');
SELECT is((SELECT count(*) FROM sf_night(NULL, NULL, 250) WHERE target LIKE 'mass:%'), 250::bigint,
	'up to the number all are listed');
SELECT is((SELECT count(*) FROM sf_night() WHERE target LIKE 'mass:%'), 250::bigint, '... as sf_night does');

-- --- what is late
UPDATE _sfflow.branch b SET due_at = now() - interval '1 h' FROM _sfflow.execution e
WHERE e.execution_no = b.execution_no AND e.status = 0 AND b.branch_no = 0
	AND (e.execution_id LIKE 'mass:%' OR e.execution_id LIKE 'few:%');
SELECT results_eq($$ SELECT l.kind, split_part(l.execution_id, ':', 1), l.further
	FROM jsonb_to_recordset(pg_temp.api('tonight') -> 'late') AS l(kind text, execution_id text, further integer)
	ORDER BY l.execution_id $$,
	$$ VALUES ('overdue', 'few', 0), ('overdue', 'few', 0), ('overdue', 'mass', 219) $$,
	'of masses that are late there is one row');
SELECT is(pg_temp.api('tonight') #>> '{kinds,overdue}', '222', '... and the count of all');
SELECT is((SELECT string_agg(DISTINCT l ->> 'kind', ' ') FROM jsonb_array_elements(pg_temp.api('alerts',
	'{"limit": 300}') -> 'rows') AS l), 'failed overdue', 'alerts of all kinds');
SELECT is(pg_temp.api('alerts', '{"limit": 223}') -> 'cut', '[]', '... of which none is left out');
SELECT is(pg_temp.api('alerts', '{"limit": 222}') -> 'cut', '["rows"]', '... or some, as the answer says');
SELECT is((SELECT string_agg(DISTINCT l ->> 'kind', ' ') || count(*) FROM jsonb_array_elements(pg_temp.api('alerts',
	'{"limit": 222}') -> 'rows') AS l), 'overdue222', '... failures rather than others');

SELECT * FROM finish();
ROLLBACK;
