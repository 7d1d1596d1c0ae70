-- Children that end in the slice that began them are never stored. What comes of them is what comes of children
-- that are stored, as those of sf_step are: it takes one transition a slice.
BEGIN;
SELECT plan(50);
\ir ../../fixtures/phases.sql

CREATE FUNCTION public.even(n integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	IF n % 2 = 1 THEN
		PERFORM sf_raise('Odd', n::text);
	END IF;
	RETURN n;
END $$;

-- Machines of one state, M; the number of slices in which sf_run runs them with the input [1, 2, 3].
CREATE TEMP TABLE machine (name text, slices integer, state json);
INSERT INTO machine VALUES
('plain', 1, '{"Type": "Map", "ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Pass", "End": true}}}}'),
('one', 1, '{"Type": "Map", "MaxConcurrency": 1, "ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Pass", "End": true}}}}'),
('two', 1, '{"Type": "Map", "MaxConcurrency": 2, "ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Pass", "End": true}}}}'),
('nested', 1, '{"Type": "Map", "ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Pass", "Result": [7, 8], "Next": "B"},
	"B": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "C", "States": {
		"C": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "L", "States": {"L": {"Type": "Pass", "End": true}}},
			{"StartAt": "R", "States": {"R": {"Type": "Pass", "End": true}}}]}}}}}}}'),
('empty', 1, '{"Type": "Map", "ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Pass", "Result": [], "Next": "B"},
	"B": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "C", "States": {"C": {"Type": "Pass",
		"End": true}}}}}}}'),
('again', 1, '{"Type": "Parallel", "Branches": [{"StartAt": "A", "States": {
	"A": {"Type": "Map", "Next": "B", "ItemProcessor": {"StartAt": "C", "States": {"C": {"Type": "Pass",
		"End": true}}}},
	"B": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "D", "States": {"D": {"Type": "Pass",
		"End": true}}}}}}]}'),
('item', 1, '{"Type": "Map", "ItemSelector": {"x.$": "$$.Map.Item.Value"}, "ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Pass", "Parameters": {"v.$": "$$.Map.Item.Value", "i.$": "$$.Map.Item.Index", "x.$": "$.x"},
		"End": true}}}}'),
('waiting', 3, '{"Type": "Map", "ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericEquals": 2, "Next": "W"}], "Default": "B"},
	"W": {"Type": "Wait", "Seconds": 100, "Next": "B"}, "B": {"Type": "Pass", "End": true}}}}'),
('drained', 3, '{"Type": "Map", "FailureMode": "DRAIN", "ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:public.even", "Parameters": {"n.$": "$"}, "End": true}}}}'),
('failing', 2, '{"Type": "Map", "ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:public.even", "Parameters": {"n.$": "$"}, "End": true}}}}'),
('caught', 1, '{"Type": "Map", "ItemProcessor": {"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:public.even", "Parameters": {"n.$": "$"}, "End": true,
		"Catch": [{"ErrorEquals": ["Odd"], "Next": "B"}]}, "B": {"Type": "Pass", "End": true}}}}');

SELECT sf_create_state_machine(name, json_build_object('StartAt', 'M', 'States',
	json_build_object('M', state::jsonb || '{"End": true}'))) FROM machine;

CREATE FUNCTION pg_temp.step_through(id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WHILE EXISTS (SELECT FROM sf_step(id)) LOOP
		UPDATE _sfflow.branch SET due_at = now() WHERE due_at > now() AND phase = pg_temp.phase('WAIT');
	END LOOP;
END $$;

-- The events of an execution with those that they follow.
CREATE FUNCTION pg_temp.events(id text) RETURNS TABLE (event text, follows text) LANGUAGE sql AS $$
	WITH event AS (SELECT e.id, e.previous_id, concat_ws(' ', e.type, e.state, e.iterations::text, e.payload::text)
		AS shown
		FROM _sfflow.history_event e JOIN _sfflow.execution x USING (execution_no) WHERE x.execution_id = $1)
	SELECT e.shown, p.shown FROM event e LEFT JOIN event p ON p.id = e.previous_id
$$;
CREATE FUNCTION pg_temp.slices(id text) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM _sfflow.history JOIN _sfflow.execution x USING (execution_no) WHERE x.execution_id = $1
$$;

SELECT sf_start(name, '[1, 2, 3]', 'run') FROM machine;
SELECT sf_start(name, '[1, 2, 3]', 'step') FROM machine;
SELECT sf_run(name || ':run', skip_waits => true) FROM machine;
SELECT pg_temp.step_through(name || ':step') FROM machine;

SELECT is(pg_temp.slices(name || ':run'), slices::bigint, name || ': slices') FROM machine;
SELECT cmp_ok(pg_temp.slices(name || ':step'), '>', pg_temp.slices(name || ':run'),
	name || ': more slices step by step') FROM machine;
SELECT results_eq(
	format('SELECT status, output, error, cause FROM sf_executions WHERE execution_id = ''%s:run''', name),
	format('SELECT status, output, error, cause FROM sf_executions WHERE execution_id = ''%s:step''', name),
	name || ': the same end') FROM machine;
SELECT bag_eq(format('SELECT * FROM pg_temp.events(''%s:run'')', name),
	format('SELECT * FROM pg_temp.events(''%s:step'')', name),
	name || ': the same events') FROM machine;
SELECT is_empty($$SELECT e.execution_id, b.branch_no FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no)
	WHERE e.status = 1$$,
	'no branch is left of those that succeeded');

-- What did not begin because a sibling failed is there for a redrive.
SELECT is((SELECT array_agg(pg_temp.phase_name(phase) ORDER BY branch_index) FROM _sfflow.branch b
		JOIN _sfflow.execution e USING (execution_no)
	WHERE e.execution_id = 'failing:run' AND parent_no IS NOT NULL), '{FAILED,ABORTED,ABORTED}'::text[],
	'one has failed, two were aborted');
-- What a slice runs of them is bounded.
SELECT sf_start('two', (SELECT jsonb_agg(n) FROM generate_series(1, 1100) n), 'many');
SELECT is(sf_run('two:many'), 'SUCCEEDED', 'more children than one slice runs');
SELECT cmp_ok(pg_temp.slices('two:many'), '>', 2::bigint, 'take more slices');
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'two:many'),
	(SELECT jsonb_agg(n) FROM generate_series(1, 1100) n), 'and none of them is lost');
SELECT is_empty('SELECT * FROM sf_check()');

SELECT * FROM finish();
ROLLBACK;
