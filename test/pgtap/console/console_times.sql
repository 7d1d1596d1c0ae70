-- Times of executions that were redriven are those in which they ran, wherever the console tells them; what was aborted
-- with another state, or by an operator, is told apart from what failed.
BEGIN;
SELECT plan(25);

SELECT current_schema AS schema \gset
CREATE TABLE times_ready (ready boolean);
CREATE FUNCTION times_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
	IF NOT EXISTS (SELECT FROM times_ready) THEN PERFORM sf_raise('NotReady'); END IF; RETURN payload; END $$;
CREATE FUNCTION times_item(item integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN
	IF item >= 4 AND NOT EXISTS (SELECT FROM times_ready) THEN PERFORM sf_raise('NotReady'); END IF;
	IF item = 8 THEN PERFORM sf_raise('Later'); END IF; RETURN item; END $$;
CREATE FUNCTION pg_temp.api(action text, request jsonb DEFAULT '{}') RETURNS jsonb
	LANGUAGE sql AS 'SELECT sf_console_api(action, request)';
-- Let an execution have failed, or begun, so long ago.
CREATE FUNCTION pg_temp.age(execution text, how_long interval) RETURNS void LANGUAGE sql AS $$
	UPDATE _sfflow.execution e SET requested_at = e.requested_at - how_long, started_at = e.started_at - how_long,
	stopped_at = e.stopped_at - how_long
		WHERE e.execution_id = execution;
	UPDATE _sfflow.map_run r SET started_at = r.started_at - how_long, stopped_at = r.stopped_at - how_long
		FROM _sfflow.execution e WHERE e.execution_id = execution AND r.execution_no = e.execution_no;
	UPDATE _sfflow.open_execution o SET requested_at = o.requested_at - how_long
		FROM _sfflow.execution e WHERE e.execution_id = execution AND o.execution_no = e.execution_no;
$$;
-- The row of an execution in a list of an action.
CREATE FUNCTION pg_temp.row_of(answer jsonb, list text, execution text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT r FROM jsonb_array_elements(answer -> list) AS r WHERE r ->> 'execution_id' = execution $$;

-- --- lists: an execution that failed ten hours ago and was redriven
SELECT sf_create_state_machine('times', format('{"StartAt": "T", "States": {"T": {"Type": "Task",
		"Resource": "sql:%s.times_task", "Next": "W"},
	"W": {"Type": "Wait", "Seconds": 3600, "Next": "E"}, "E": {"Type": "Succeed"}}}', :'schema')::json) \g /dev/null
SELECT sf_start('times', '{}', 'old'), sf_run('times:old') \g /dev/null
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'times:old'), 'FAILED', 'an execution has failed');
SELECT pg_temp.age('times:old', '10 h');
SELECT cmp_ok((pg_temp.row_of(pg_temp.api('executions'), 'rows', 'times:old') ->> 'took')::numeric, '<', 60000::numeric,
	'it took a moment, says the list');
INSERT INTO times_ready VALUES (true);
SELECT sf_redrive('times:old'), sf_run('times:old') \g /dev/null
SELECT sf_start('times', '{}', 'new'), sf_run('times:new') \g /dev/null
SELECT pg_temp.age('times:new', '2 h');
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'times:old'), 'RUNNING', 'it runs again');
SELECT cmp_ok((pg_temp.row_of(pg_temp.api('executions'), 'rows', 'times:old') ->> 'took')::numeric, '<', 60000::numeric,
	'for a moment, says the list');
SELECT cmp_ok((pg_temp.row_of(pg_temp.api('executions'), 'rows', 'times:new') ->> 'took')::numeric, '>',
	7200000 - 60000::numeric, '... of another one, for two hours');
SELECT is((SELECT string_agg(r ->> 'execution_id', ' ' ORDER BY n)
		FROM jsonb_array_elements(pg_temp.api('tonight') -> 'running') WITH ORDINALITY AS x(r, n)),
	'times:new times:old', 'what runs for longest is not what was idle for longest');
SELECT is((SELECT string_agg(execution_id, ' ') FROM _sfflow.longest_running(1)), 'times:new',
	'... also when one is asked for');
SELECT cmp_ok((SELECT now() - started_at FROM _sfflow.longest_running(2) WHERE execution_id = 'times:old'), '<',
	interval '1 min', '... since the time at which it would have begun');
SELECT cmp_ok((SELECT max((r ->> 'took')::numeric) FROM jsonb_array_elements(pg_temp.api('night') -> 'rows') AS r
		WHERE r ->> 'name' = 'times'), '<', 7200000 + 60000::numeric, 'the night tells the same');
SELECT is((SELECT took_ms FROM (SELECT _sfflow.took_ms('times:none') AS took_ms) x), NULL,
	'what is not there took nothing');
CREATE ROLE times_stranger;
SET LOCAL ROLE times_stranger;
SELECT is(_sfflow.took_ms('times:old'), NULL, 'who may not read an execution is not told how long it took');
RESET ROLE;
UPDATE _sfflow.branch b SET due_at = now() - interval '1 s' FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = 'times:old' AND b.branch_no = 0;
SELECT sf_run('times:old') \g /dev/null
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'times:old'), 'SUCCEEDED', 'it ends well');
SELECT cmp_ok((pg_temp.api('execution', '{"execution_id": "times:old"}') ->> 'took')::numeric, '<', 60000::numeric,
	'... after a moment, says its page');
SELECT cmp_ok((pg_temp.row_of(pg_temp.api('tonight'), 'ended', 'times:old') ->> 'took')::numeric, '<', 60000::numeric,
	'... after a moment');
SELECT cmp_ok((pg_temp.row_of(pg_temp.api('executions'), 'rows', 'times:old') ->> 'took')::numeric, '<', 60000::numeric,
	'... in the list, too');

-- --- a Distributed Map that was redriven goes on at the speed at which it ran
TRUNCATE times_ready;
SELECT sf_create_state_machine('spread', format('{"StartAt": "M", "States": {"M": {"Type": "Map",
		"ItemsPath": "$.items", "MaxConcurrency": 1, "End": true,
	"ItemSelector": {"item.$": "$$.Map.Item.Value"}, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED",
		"ExecutionType": "STANDARD"}, "StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:%s.times_item",
	"Retry": [{"ErrorEquals": ["Later"], "IntervalSeconds": 3600, "MaxAttempts": 3}], "End": true}}}}}}',
	:'schema')::json) \g /dev/null
SELECT sf_start('spread', jsonb_build_object('items', (SELECT jsonb_agg(i) FROM generate_series(0, 11) AS i)), 'm')
	\g /dev/null
CREATE FUNCTION pg_temp.run_all() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
	FOR n IN 1 .. 30 LOOP PERFORM sf_run(execution_id) FROM sf_executions WHERE status = 'RUNNING'
	AND state_machine LIKE 'spread%'; END LOOP; END $$;
SELECT pg_temp.run_all();
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'spread:m'), 'FAILED',
	'a Map fails at its fifth item');
SELECT pg_temp.age('spread:m', '10 h');
INSERT INTO times_ready VALUES (true);
SELECT sf_redrive('spread:m') \g /dev/null
SELECT pg_temp.run_all();
SELECT is((SELECT concat_ws(' ', status, items_succeeded) FROM sf_map_runs WHERE execution_id = 'spread:m'),
	'RUNNING 8', '... is redriven, and stands at another one');
SELECT cmp_ok((SELECT remaining FROM sf_progress('spread:m')), '<', interval '10 min',
	'... and does not take as long again as it was idle');

-- --- the timeline
CREATE FUNCTION pg_temp.spans(execution text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat(s ->> 'job_id', ' ', s ->> 'status'), ', ' ORDER BY s ->> 'job_id',
		(s ->> 'first_event')::integer)
	FROM jsonb_array_elements(pg_temp.api('timeline', jsonb_build_object('execution_id', execution, 'inside', true)) ->
		'rows') AS s $$;
SELECT sf_create_state_machine('both', format('{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
		"Branches": [
	{"StartAt": "Long", "States": {"Long": {"Type": "Wait", "Seconds": 3600, "End": true}}},
	{"StartAt": "Inner", "States": {"Inner": {"Type": "Parallel", "End": true, "Branches": [{"StartAt": "Deep",
		"States": {"Deep": {"Type": "Wait", "Seconds": 3600, "End": true}}}]}}},
	{"StartAt": "Bad", "States": {"Bad": {"Type": "Task", "Resource": "sql:%s.times_item", "End": true}}}]}}}',
	:'schema')::json) \g /dev/null
TRUNCATE times_ready;
SELECT sf_start('both', '{"item": 5}', 'failed'), sf_run('both:failed') \g /dev/null
SELECT is(pg_temp.spans('both:failed'), 'Bad failure, Deep aborted, Inner aborted, Long aborted, P failure',
	'what was aborted with a job that failed');
SELECT is(pg_temp.api('state', '{"execution_id": "both:failed", "state": "Long"}') #>> '{visits,0,status}', 'aborted',
	'... is so in the panel of the state, too');
SELECT sf_redrive('both:failed'), sf_run('both:failed') \g /dev/null
SELECT is(pg_temp.spans('both:failed'),
	'Bad failure, Bad failure, Deep aborted, Inner aborted, Inner aborted, Long aborted, Long aborted, P failure, P '
	'failure',
	'... at each try (the second one ends before "Deep" begins)');
SELECT sf_start('both', '{"item": 1}', 'stopped'), sf_run('both:stopped') \g /dev/null
SELECT is(pg_temp.spans('both:stopped'), 'Bad success, Deep running, Inner running, Long running, P running',
	'before an operator stops an execution');
SELECT sf_stop('both:stopped') \g /dev/null
SELECT is(pg_temp.spans('both:stopped'), 'Bad success, Deep aborted, Inner aborted, Long aborted, P aborted',
	'... which aborts what runs');
SELECT sf_create_state_machine('wrong', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Branches": [
	{"StartAt": "W", "States": {"W": {"Type": "Wait", "TimestampPath": "$.at", "End": true}}}]}}}'::json) \g /dev/null
SELECT sf_start('wrong', '{"at": "never"}', '1'), sf_run('wrong:1') \g /dev/null
SELECT is(pg_temp.spans('wrong:1'), 'P failure, W failure', 'a state that fails without a word of its own has failed');
SELECT is((SELECT string_agg(concat(s ->> 'name', ' ', s ->> 'status', CASE WHEN (s ->> 'aborted')::boolean THEN ' '
			'aborted' END), ', ' ORDER BY s ->> 'name')
	FROM jsonb_array_elements(sf_graph_status('both:failed')) AS s),
	'Bad failure, Deep failure aborted, Inner failure aborted, Long failure aborted, P failure', 'as in the picture');

SELECT * FROM finish();
ROLLBACK;
