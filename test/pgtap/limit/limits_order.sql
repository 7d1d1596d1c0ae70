-- The order of a queue: by priority, then by rank, which each queue gives anew.
BEGIN;
SELECT plan(13);

CREATE TABLE ran (job text);
CREATE FUNCTION limited_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ran VALUES (payload ->> 'job');
	RETURN '{}';
END $$;
CREATE FUNCTION pg_temp.shown(OUT text) LANGUAGE sql AS $$
	SELECT string_agg(concat_ws('|', target, key, max_running, in_use, waiting), ', ' ORDER BY target, key)
	FROM sf_limits $$;
SELECT sf_create_activity('limited_shell') \g /dev/null
SELECT sf_create_state_machine('limited', format('{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:%s.limited_task", "ResultPath": null, "Next": "B"},
	"B": {"Type": "Task", "Resource": "activity:limited_shell", "End": true}}}', current_schema)::json) \g /dev/null
SELECT sf_create_state_machine('limited_pair', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "activity:limited_shell", "End": true}}}') \g /dev/null

-- Priority comes before age.
SELECT sf_set_limit('limited_pair', max_running => 1) \g /dev/null
SELECT sf_start('limited_pair', '{}', 'p1') \g /dev/null
SELECT is(sf_run('limited_pair:p1'), 'RUNNING', 'one runs');
SELECT sf_start('limited_pair', '{}', 'p2'), sf_start('limited_pair', '{}', 'p3', priority => 1),
	sf_start('limited_pair', '{}', 'p4', priority => -1) \g /dev/null
SELECT sf_run('limited_pair:p' || n) FROM generate_series(2, 4) AS n \g /dev/null
SELECT is((SELECT string_agg(e.execution_id, ' ' ORDER BY w.as_if_since) FROM _sfflow.parked w
		JOIN _sfflow.execution e USING (execution_no)), 'limited_pair:p3 limited_pair:p2 limited_pair:p4',
	'the order of those that wait');
SELECT is(sf_stop('limited_pair:p1'), 'ABORTED', 'one releases its slot');
SELECT is(sf_run('limited_pair:p2'), 'RUNNING', '... and the older one is looked at');
SELECT is((SELECT waiting FROM sf_limits), 3::bigint, 'it is not the turn of the older one');
SELECT is(sf_run('limited_pair:p3'), 'RUNNING', 'but of that with priority');
SELECT is(pg_temp.shown(), 'limited_pair|1|1|2', '... which takes the slot');
SELECT throws_ok($$ SELECT sf_start('limited_pair', priority => 1001) $$, 'SF012',
	'argument priority must be from -1000 to 1000');
SELECT throws_ok($$ SELECT sf_create_state_machine('limited_pair', '{"StartAt": "A",
		"States": {"A": {"Type": "Succeed"}}}', or_replace => true, options => '{"priority": 1.5}') $$, 'SF012',
	'option priority must be an integer from -1000 to 1000');
SELECT sf_create_state_machine('limited_urgent', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}',
	options => '{"priority": 7}') \g /dev/null
SELECT sf_start('limited_urgent', '{}', 'a'), sf_start('limited_urgent', '{}', 'b', priority => 0) \g /dev/null
SELECT is((SELECT string_agg(coalesce(priority::text, '-'), ' ' ORDER BY execution_id) FROM _sfflow.execution
		WHERE execution_id LIKE 'limited_urgent:%'), '7 -', 'the priority of the machine, and of a start');
SELECT sf_drop_limit('limited_pair'), sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null

-- A place is one in a queue: in the next one the branch comes behind those that wait there.
SELECT sf_set_limit('limited', max_running => 1), sf_set_limit('activity:limited_shell', max_running => 1) \g /dev/null
SELECT sf_start('limited', '{}', 'l1'), sf_run('limited:l1'), sf_start('limited', '{}', 'l2'), sf_run('limited:l2')
	\g /dev/null
SELECT sf_start('limited_pair', '{}', 'l3'), sf_run('limited_pair:l3'), sf_stop('limited:l1') \g /dev/null
SELECT sf_run('limited:l2') \g /dev/null
SELECT is((SELECT string_agg(e.execution_id, ' ' ORDER BY w.as_if_since) FROM _sfflow.parked w
		JOIN _sfflow.execution e USING (execution_no)), 'limited_pair:l3 limited:l2',
	'after its turn in one queue, it does not overtake in another');
SELECT sf_run('limited_pair:l3') \g /dev/null
SELECT is((SELECT string_agg(e.execution_id, ' ') FROM _sfflow.parked w JOIN _sfflow.execution e USING (execution_no)),
	'limited:l2', '... what has waited there comes first');
SELECT sf_drop_limit('limited'), sf_drop_limit('activity:limited_shell') \g /dev/null
SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null

-- Branches of the same time follow each other, also from page to page.
SELECT sf_set_limit('limited_pair', max_running => 1) \g /dev/null
SELECT sf_start('limited_pair', '{}', 'e' || n), sf_run('limited_pair:e' || n) FROM generate_series(0, 6) AS n
	\g /dev/null
UPDATE _sfflow.parked SET as_if_since = (SELECT min(as_if_since) FROM _sfflow.parked);
-- A row that is left over comes before them.
INSERT INTO _sfflow.parked (execution_no, branch_no, feature, object_no, queue, as_if_since, since, kind)
	SELECT execution_no, -99, feature, object_no, queue, as_if_since, since, kind
	FROM _sfflow.parked ORDER BY execution_no LIMIT 1;
SELECT sf_stop('limited_pair:e0') \g /dev/null
SELECT sf_run('limited_pair:e6') \g /dev/null
SELECT is((SELECT started_at FROM sf_executions WHERE execution_id = 'limited_pair:e6'), NULL,
	'those of the same time come in the order of their start');
SELECT sf_drop_limit('limited_pair'), sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING' \g /dev/null

SELECT * FROM finish();
ROLLBACK;
