-- A Parallel, a Map and a JobNet that are retried, redriven, and retried after a redrive: the timeline and
-- sf_graph_status tell the same attempts, and the times of each.
BEGIN;
SELECT plan(62);

SELECT current_schema AS schema \gset
CREATE TABLE fault (left_over integer);
CREATE FUNCTION try_it(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_sleep(0.03);
	IF (SELECT left_over FROM fault) > 0 AND payload ->> 'fails' = 'true' THEN
		RETURN sf_raise('Faulty');
	END IF;
	RETURN payload;
END $$;
CREATE FUNCTION pg_temp.task(fails boolean, further text) RETURNS text LANGUAGE sql AS $$
	SELECT format('{"Type": "Task", "Resource": "sql:%s.try_it", "Parameters": {"fails": %s} %s}', current_schema,
		fails::text, further) $$;
CREATE FUNCTION pg_temp.retry(attempts integer) RETURNS text LANGUAGE sql AS $$
	SELECT format('"Retry": [{"ErrorEquals": ["Faulty"], "MaxAttempts": %s, "IntervalSeconds": 1}], "End": true',
		attempts) $$;

-- Each of them has a good job, and one that fails as often as the table says.
CREATE FUNCTION pg_temp.join_state(kind text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE kind
		WHEN 'Parallel' THEN format('"Branches": [{"StartAt": "Good", "States": {"Good": %s}}, {"StartAt": "Bad", '
			'"States": {"Bad": %s}}]',
			pg_temp.task(false, ', "End": true'), pg_temp.task(true, ', "End": true'))
		WHEN 'Map' THEN format('"ItemsPath": "$.items", "ItemProcessor": {"StartAt": "Good", "States": {"Good": %s, '
			'"Bad": %s}}',
			pg_temp.task(false, ', "Next": "Bad"'), pg_temp.task(true, ', "End": true'))
		WHEN 'JobNet' THEN format('"Jobs": {"Good": %s, "Bad": %s}', pg_temp.task(false, ''),
			pg_temp.task(true, ', "After": ["Good"]')) END $$;
SELECT sf_create_state_machine(kind, format('{"StartAt": "Join", "States": {"Join": {"Type": "%s", %s, %s}}}', kind,
		pg_temp.join_state(kind), pg_temp.retry(2))::json)
FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind \g /dev/null

-- Attempts of a state: visit, attempt and status of each.
CREATE FUNCTION pg_temp.spans(execution text, state text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format('%s.%s %s', s.visit, s.attempt, s.status), ', ' ORDER BY s.first_event)
	FROM _sfflow.spans(execution, state, true, 0, 1000) s $$;
-- Milliseconds of all spans of a state, and those that sf_graph_status tells.
CREATE FUNCTION pg_temp.spans_ms(execution text, state text) RETURNS numeric LANGUAGE sql AS $$
	SELECT round(sum(extract(epoch FROM s.stopped_at - s.started_at)) * 1000) FROM _sfflow.spans(execution, state, true,
		0, 1000) s $$;
CREATE FUNCTION pg_temp.told(execution text, state text, member text) RETURNS numeric LANGUAGE sql AS $$
	SELECT (e ->> member)::numeric FROM jsonb_array_elements(sf_graph_status(execution)) AS e
	WHERE e ->> 'name' = state $$;
-- Does each attempt end with the last event within it, and not with the beginning of the next one?
CREATE FUNCTION pg_temp.ends_with_failure(execution text) RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_and(h."timestamp" = s.stopped_at) FROM (
		SELECT x.stopped_at, lead(x.first_event) OVER (ORDER BY x.first_event) AS next FROM _sfflow.spans(execution,
			'Join', true, 0, 1000) x) s
	JOIN sf_history h ON h.execution_id = execution AND h.id = s.next - 1 $$;

INSERT INTO fault VALUES (0);

-- Retried, until all tries have failed; then redriven: in vain, and in the end with success.
UPDATE fault SET left_over = 1;
SELECT sf_start(kind, '{"items": [1]}', '1') FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind \g /dev/null
SELECT is(sf_run(kind || ':1', skip_waits => true), 'FAILED', kind || ' fails at each try')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT is(pg_temp.spans(kind || ':1', 'Join'), '1.1 failure, 1.2 failure, 1.3 failure', kind || ': an attempt per try')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT ok(pg_temp.ends_with_failure(kind || ':1'), '... which ends with the failure')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT is(pg_temp.told(kind || ':1', 'Join', 'attempts'), 3.0, '... as in the picture')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT is(pg_temp.told(kind || ':1', 'Join', 'visits'), 1.0, '... of one visit')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT is(pg_temp.spans(kind || ':1', 'Bad'), '1.1 failure, 2.1 failure, 3.1 failure',
	kind || ': the job was visited at each try') FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT cmp_ok(abs(pg_temp.told(kind || ':1', 'Bad', 'ms') - pg_temp.spans_ms(kind || ':1', 'Bad')), '<=', 10::numeric,
	kind || ': the time of a job is that of all visits')
FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT cmp_ok(pg_temp.told(kind || ':1', 'Bad', 'ms'), '>=', 90::numeric, '... which have taken their time')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;

SELECT pg_sleep(1) \g /dev/null
SELECT lives_ok(format('SELECT sf_redrive(%L)', kind || ':1'), kind || ' is redriven')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT is(sf_run(kind || ':1', skip_waits => true), 'FAILED', kind || ' fails again')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT is(pg_temp.spans(kind || ':1', 'Join'),
	'1.1 failure, 1.2 failure, 1.3 failure, 1.4 failure, 1.5 failure, 1.6 failure',
	kind || ': the redrive begins an attempt, and each try of it')
FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
UPDATE fault SET left_over = 0;
SELECT pg_sleep(1) \g /dev/null
SELECT lives_ok(format('SELECT sf_redrive(%L)', kind || ':1'), kind || ' is redriven once more')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT is(sf_run(kind || ':1', skip_waits => true), 'SUCCEEDED', kind || ' ends well')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT is(pg_temp.spans(kind || ':1', 'Join'),
	'1.1 failure, 1.2 failure, 1.3 failure, 1.4 failure, 1.5 failure, 1.6 failure, 1.7 success',
	kind || ': the last attempt succeeds')
FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT is(pg_temp.told(kind || ':1', 'Join', 'attempts'), 7.0, '... and is counted')
	FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;
SELECT cmp_ok(abs(pg_temp.told(kind || ':1', 'Join', 'ms') - pg_temp.spans_ms(kind || ':1', 'Join')), '<', 500::numeric,
	kind || ': the time between failure and redrive does not count')
FROM unnest('{Parallel,Map,JobNet}'::text[]) AS kind;

-- What is within goes on after a redrive: so does the bar of what is around it, at once, and not when it ends.
SELECT sf_create_state_machine('around', format('{"StartAt": "Outer", "States": {"Outer": {"Type": "Parallel",
		"End": true, "Branches": [{"StartAt": "Join", "States": {
	"Join": {"Type": "Map", "ItemsPath": "$.items", "End": true, "ItemProcessor": {"StartAt": "Bad",
		"States": {"Bad": %s, "Nap": {"Type": "Wait", "Seconds": 1000, "End": true}}}}}}]}}}',
	pg_temp.task(true, ', "Next": "Nap"'))::json) \g /dev/null
UPDATE fault SET left_over = 1;
SELECT clock_timestamp() AS began \gset
SELECT sf_start('around', '{"items": [1, 2]}', '1'), sf_run('around:1') \g /dev/null
SELECT pg_sleep(1) \g /dev/null
UPDATE fault SET left_over = 0;
SELECT sf_redrive('around:1'), sf_run('around:1') \g /dev/null
SELECT is(pg_temp.spans('around:1', state), '1.1 failure, 1.2 running', state || ' runs again')
	FROM unnest('{Outer,Join}'::text[]) AS state;
SELECT is(pg_temp.told('around:1', state, 'attempts'), 2.0, '... as in the picture')
	FROM unnest('{Outer,Join}'::text[]) AS state;
SELECT cmp_ok(pg_temp.told('around:1', 'Outer', 'ms'), '<',
	1000 * extract(epoch FROM clock_timestamp() - :'began') - 900, '... and was not running in between');
SELECT is((SELECT string_agg(s.state || s.attempt, ' ' ORDER BY n) FROM (
	SELECT x.*, row_number() OVER () AS n FROM _sfflow.spans('around:1', NULL, false, 0, 3) x) s),
	'Outer1 Join1 Outer2 Join2', 'a page does not end between spans that begin with the same event');
SELECT is(jsonb_array_length(sf_console_api('timeline', '{"execution_id": "around:1", "limit": 3}') -> 'rows'), 4,
	'... nor one of the console');

-- A Distributed Map, whose children are executions.
SELECT sf_create_state_machine('spread', format('{"StartAt": "Join", "States": {"Join": {"Type": "Map",
		"ItemsPath": "$.items", %s, "ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Bad",
		"States": {"Bad": %s}}}}}',
	replace(pg_temp.retry(1), 'Faulty', 'States.ALL'), pg_temp.task(true, ', "End": true'))::json) \g /dev/null
UPDATE fault SET left_over = 1;
SELECT sf_start('spread', '{"items": [1]}', '1'), sf_run('spread:1', skip_waits => true) \g /dev/null
SELECT is(pg_temp.spans('spread:1', 'Join'), '1.1 failure, 1.2 failure', 'a Distributed Map is retried');
SELECT is(pg_temp.told('spread:1', 'Join', 'attempts'), 2.0, '... as in the picture');
SELECT sf_redrive('spread:1') \g /dev/null
SELECT is(pg_temp.spans('spread:1', 'Join'), '1.1 failure, 1.2 failure, 1.3 running',
	'... and runs again with a redrive');
SELECT is((SELECT state FROM sf_history WHERE execution_id = 'spread:1' AND type = 'MapRunRedriven'), 'Join',
	'... whose event names the state');
UPDATE fault SET left_over = 0;
SELECT is(sf_run('spread:1', skip_waits => true), 'SUCCEEDED', '... to its end');
SELECT is(pg_temp.spans('spread:1', 'Join'), '1.1 failure, 1.2 failure, 1.3 success', '... as one attempt');
SELECT is(pg_temp.told('spread:1', 'Join', 'attempts'), 3.0, '... as in the picture');
SELECT * FROM finish();
ROLLBACK;
