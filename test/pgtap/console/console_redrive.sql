-- The console's question before a redrive counts the jobs that then run, and it points at the job that failed, not at
-- one that was aborted with it.
BEGIN;
SELECT plan(32);

SELECT current_schema AS schema \gset
CREATE TABLE bad (job text);
CREATE FUNCTION redrive_task(job text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM bad WHERE bad.job = redrive_task.job) THEN
		RAISE EXCEPTION 'bad job %', job;
	END IF;
	RETURN job;
END $$;
-- A Task whose argument is an expression.
CREATE FUNCTION pg_temp.task(name text, job text, further text) RETURNS text LANGUAGE sql AS $$
	SELECT format('"%s": {"Type": "Task", "Resource": "sql:%s.redrive_task", "Parameters": {"job.$": "%s"}, '
		'"ResultPath": null, %s}', name, current_schema, job, further) $$;
CREATE FUNCTION pg_temp.plan(id text, from_state text DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS
	$$ SELECT sf_console_api('plan', jsonb_strip_nulls(jsonb_build_object('execution_id', id, 'from_state',
				from_state))) $$;
CREATE FUNCTION pg_temp.run_all() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR n IN 1 .. 20 LOOP
		PERFORM sf_run(execution_id) FROM sf_executions WHERE status = 'RUNNING';
	END LOOP;
END $$;
-- How many tasks an execution has scheduled since its last redrive.
CREATE FUNCTION pg_temp.ran(eid text) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM sf_history h WHERE h.execution_id = eid AND h.type = 'TaskScheduled'
		AND h.id > (SELECT max(r.id) FROM sf_history r WHERE r.execution_id = eid AND r.type = 'ExecutionRedriven') $$;

-- A Map of 150 items, one after the other, with two Tasks each; a net with two Tasks in a flow; a Parallel; then one
-- Task.
SELECT sf_create_state_machine('many', format('{"StartAt": "First", "States": {%s,
	"Each": {"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 1, "ResultPath": null, "Next": "Last",
		"ItemProcessor": {"StartAt": "T", "States": {%s,
		"Both": {"Type": "Parallel", "ResultPath": null, "End": true, "Branches": [{"StartAt": "U", "States": {%s}},
			{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}]}}}}, %s}}',
	pg_temp.task('First', 'States.Format(''first'')', '"Next": "Each"'), pg_temp.task('T', 'States.Format(''t{}'', $)',
		'"Next": "Both"'),
	pg_temp.task('U', 'States.Format(''u{}'', $)', '"End": true'), pg_temp.task('Last', 'States.Format(''last'')',
		'"End": true'))::json) \g /dev/null
INSERT INTO bad VALUES ('t2');
SELECT sf_start('many', jsonb_build_object('items', (SELECT jsonb_agg(i) FROM generate_series(0, 149) AS i)), 'm'),
	sf_run('many:m') \g /dev/null
SELECT pg_temp.plan('many:m') AS plan \gset
SELECT is(:'plan'::jsonb ->> 'runs_count', '297', 'of a Map the iterations that have not begun count, too');
SELECT is(:'plan'::jsonb -> 'more', '[{"jobs": 147, "type": "Task", "state": "T"}, {"jobs": 147, "type": "Task",
	"state": "U"}]', '... by Task');
SELECT is(:'plan'::jsonb -> 'runs', '["T[2]", "U[2]", "Last"]', '... beside the jobs that there are');
SELECT is(:'plan'::jsonb ->> 'kept_count', '5', 'what is kept');
SELECT is(:'plan'::jsonb -> 'at_most', 'false', 'all of them will run');
SELECT is(pg_temp.plan('many:m', 'Each') -> 'more', '[{"type": "Map", "state": "Each"}]',
	'of a Map that begins anew nobody knows the items');
DELETE FROM bad;
SELECT sf_redrive('many:m'), sf_run('many:m') \g /dev/null
SELECT is(pg_temp.ran('many:m'), 297::bigint, 'so many have run');

-- A Map within a Map, a Map to come, and ways that may not be gone.
SELECT sf_create_state_machine('within', format('{"StartAt": "Days", "States": {
	"Days": {"Type": "Map", "ItemsPath": "$.days", "MaxConcurrency": 1, "ResultPath": null, "Next": "More",
		"ItemProcessor": {"StartAt": "D", "States": {%s,
		"Hours": {"Type": "Map", "ItemsPath": "$.hours", "ResultPath": null, "End": true,
			"ItemProcessor": {"StartAt": "H", "States": {%s}}}}}},
	"More": {"Type": "Map", "ItemsPath": "$.days", "ItemProcessor": {"StartAt": "R", "States": {%s}}, "End": true}}}',
	pg_temp.task('D', 'States.Format(''d{}'', $.day)', '"Next": "Hours"'),
	pg_temp.task('H', 'States.Format(''h{}'', $)', '"End": true'),
	pg_temp.task('R', 'States.Format(''r'')', '"End": true'))::json) \g /dev/null
INSERT INTO bad VALUES ('h1');
SELECT sf_start('within', '{"days": [{"day": 0, "hours": [0, 1]}, {"day": 1, "hours": [5]}, {"day": 2, "hours": []}]}',
	'w'), sf_run('within:w') \g /dev/null
SELECT is(pg_temp.plan('within:w') - '{kept_count,goes_on_with,fails_again,at_most}'::text[],
	'{"runs": ["Hours[0]/H[1]"], "runs_count": 3,
	"more": [{"jobs": 2, "type": "Task", "state": "D"}, {"type": "Map", "state": "Hours"}, {"type": "Map",
		"state": "More"}]}', 'Maps whose items are not known yet are told');
DELETE FROM bad;

SELECT sf_create_state_machine('maybe', format('{"StartAt": "A", "States": {%s,
	"Which": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "B"}], "Default": "C"}, %s,
		%s}}',
	pg_temp.task('A', 'States.Format(''a'')', '"Next": "Which"'), pg_temp.task('B', 'States.Format(''b'')',
		'"Next": "C"'), pg_temp.task('C', 'States.Format(''c'')', '"End": true'))::json) \g /dev/null
INSERT INTO bad VALUES ('a');
SELECT sf_start('maybe', '{"n": 2}', 'x'), sf_run('maybe:x') \g /dev/null
SELECT is(pg_temp.plan('maybe:x') - '{kept_count,goes_on_with,fails_again,more}'::text[], '{"runs": ["A", "B", "C"],
	"runs_count": 3, "at_most": true}', 'behind a Choice, not all may run');
SELECT sf_create_state_machine('caught', format('{"StartAt": "A", "States": {%s, %s, %s}}',
		pg_temp.task('A', 'States.Format(''a'')', '"Next": "B"'),
	pg_temp.task('B', 'States.Format(''b'')',
		'"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Repair"}], "End": true'), pg_temp.task('Repair',
		'States.Format(''r'')', '"End": true'))::json),
	sf_start('caught', '{}', 'x'), sf_run('caught:x') \g /dev/null
SELECT is(pg_temp.plan('caught:x') -> 'at_most', 'true', '... nor behind a Catch');
DELETE FROM bad;

-- A net: a job under a condition may be left out.
SELECT sf_create_state_machine('net', format('{"StartAt": "N", "States": {"N": {"Type": "JobNet", "End": true, "Jobs": {
	%s, %s}}}}', format('"A": {"Type": "Task", "Resource": "sql:%s.redrive_task", "Parameters": {"job": "a"}}',
		:'schema'),
	format('"B": {"Type": "Task", "Resource": "sql:%s.redrive_task", "Parameters": {"job": "b"}, "After": ["A"]}',
		:'schema'))::json) \g /dev/null
INSERT INTO bad VALUES ('a');
SELECT sf_start('net', '{}', 'x'), sf_run('net:x') \g /dev/null
SELECT is(pg_temp.plan('net:x') - '{kept_count,goes_on_with,fails_again,more}'::text[], '{"runs": ["A", "B"],
	"runs_count": 2, "at_most": false}', 'the jobs of a net will run');
DELETE FROM bad;

-- A Distributed Map: its items count, as in sf_progress.
SELECT sf_create_state_machine('spread', format('{"StartAt": "M", "States": {"M": {"Type": "Map",
		"ItemsPath": "$.items", "MaxConcurrency": 2, "End": true, "ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "T", "States": {%s}}}}}',
	pg_temp.task('T', 'States.Format(''t{}'', $)', '"End": true'))::json) \g /dev/null
INSERT INTO bad VALUES ('t3');
SELECT sf_start('spread', jsonb_build_object('items', (SELECT jsonb_agg(i) FROM generate_series(0, 19) AS i)), 's')
	\g /dev/null
SELECT pg_temp.run_all();
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'spread:s'), 'FAILED',
	'an item of a Distributed Map fails');
SELECT items_succeeded AS done FROM sf_map_runs WHERE execution_id = 'spread:s' \gset
SELECT is(pg_temp.plan('spread:s') -> 'more', jsonb_build_array(jsonb_build_object('jobs', 20 - :done, 'type', 'Map',
			'state', 'M')), 'those that have not succeeded will run');
SELECT is((pg_temp.plan('spread:s') ->> 'kept_count')::integer, :done, '... and the others are kept');
DELETE FROM bad;
SELECT is(pg_temp.plan('spread:s') ->> 'runs_count', (20 - :done)::text, '... which is the count');

-- Of jobs that were aborted together the one that failed comes first.
SELECT sf_create_activity('redrive_act') \g /dev/null
SELECT sf_create_state_machine('sides', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Branches": [
	{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:redrive_act", "Parameters": {"n": "A"},
		"End": true}}},
	{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "activity:redrive_act", "Parameters": {"n": "B"},
		"End": true}}},
	{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1000, "End": true}}}]}}}') \g /dev/null
SELECT sf_create_state_machine('items', '{"StartAt": "Before", "States": {"Before": {"Type": "Pass", "Next": "M"},
	"M": {"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 4, "End": true,
	"ItemSelector": {"n.$": "States.Format(''{}'', $$.Map.Item.Index)"},
	"ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "activity:redrive_act",
		"End": true}}}}}}') \g /dev/null
SELECT sf_start('sides', '{}', 'x'), sf_start('items', '{"items": [0, 1, 2, 3, 4, 5]}', 'x') \g /dev/null
SELECT pg_temp.run_all();
SELECT sf_send_task_failure(task_token, 'Bad', 'the only one') FROM sf_get_activity_task('redrive_act', 'w', 10)
	WHERE input ->> 'n' IN ('B', '2') \g /dev/null
SELECT pg_temp.run_all();
CREATE FUNCTION pg_temp.failed(id text) RETURNS jsonb LANGUAGE sql AS
	$$ SELECT f -> 'jobs' FROM jsonb_array_elements(sf_console_api('tonight', '{}') -> 'failed') AS f
	WHERE f -> 'executions' ? id $$;
SELECT is((SELECT string_agg(concat_ws(':', job_id, job_status, error), ' ') FROM sf_jobs
		WHERE execution_id = 'sides:x'), 'B:failure:Bad A:failure', 'in sf_jobs of a Parallel');
SELECT is((SELECT string_agg(job_id, ' ') FROM sf_jobs WHERE execution_id = 'items:x'), 'T[2] T[0] T[1] T[3]',
	'... of a Map');
SELECT is(pg_temp.failed('sides:x'), '["B", "A"]', 'Tonight');
SELECT is(pg_temp.failed('items:x') -> 0, '"T[2]"', '... of a Map');
SELECT is(sf_console_api('execution', '{"execution_id": "items:x"}') -> 'failed', '["T[2]"]',
	'on the page of the execution');
SELECT is(sf_console_api('state', '{"execution_id": "items:x", "state": "T"}') -> 'chosen' ->> 'job_id', 'T[2]',
	'... of whose state the iteration that failed is shown');
SELECT is(sf_console_api('state', '{"execution_id": "items:x", "state": "T"}') -> 'job' ->> 'error', 'Bad',
	'... with its error');
SELECT is(sf_console_api('execution', '{"execution_id": "items:x"}') -> 'jobs', '{"failure": 1, "aborted": 3}',
	'jobs that were aborted count by themselves');
SELECT is((SELECT string_agg(j ->> 'job_id', ' ')
		FROM jsonb_array_elements(sf_console_api('jobs', '{"execution_id": "items:x", "status": "aborted"}') -> 'rows')
		AS j), 'T[0] T[1] T[3]', '... and are listed so');
SELECT is((SELECT string_agg(concat(s ->> 'name', ':', s ->> 'status', ':', s ->> 'aborted'), ' ')
		FROM jsonb_array_elements(sf_graph_status('sides:x')) AS s),
	'P:failure: A:failure:true B:failure: W:failure:true', 'the picture tells which');
SELECT is((SELECT string_agg(concat(s ->> 'name', ':', s ->> 'aborted'), ' ')
		FROM jsonb_array_elements(sf_graph_status('items:x')) AS s), 'Before: M: T:',
	'... and not of a state that has failed in an iteration');
SELECT is(ARRAY(SELECT m[1] FROM regexp_matches(sf_graph('sides:x', 'mermaid'), 'style (s\d) stroke', 'g') AS m),
	'{s1,s3}', '... in Mermaid');
SELECT is(ARRAY(SELECT m[1] FROM regexp_matches(sf_graph('sides:x', 'dot'), '(s\d) \[[^]]*dashed', 'g') AS m),
	'{s1,s3}', '... by Graphviz');
SELECT is((SELECT count(*) FROM regexp_matches(sf_graph('sides:x', 'svg'), '<rect class="box"[^>]* stroke-dasharray',
			'g')), 2::bigint, '... and in SVG');
-- Stopped by an operator all are alike; a redrive forgets it.
SELECT sf_redrive('sides:x'), sf_run('sides:x') \g /dev/null
SELECT is((SELECT string_agg(s ->> 'aborted', ' ') FROM jsonb_array_elements(sf_graph_status('sides:x')) AS s), NULL,
	'after a redrive nothing is aborted');
SELECT is((SELECT string_agg(job_id || ':' || job_status, ' ') FROM sf_jobs WHERE execution_id = 'sides:x'),
	'A:running B:running', '... and jobs stand in the order of the definition');
SELECT is_empty('SELECT * FROM sf_check()');

SELECT * FROM finish();
ROLLBACK;
