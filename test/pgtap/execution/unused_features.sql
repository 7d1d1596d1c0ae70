-- What executions pay that use neither events by key, labels, starts with keys or in the future, nor tasks of people:
-- no row is written to their tables. And labels are no cause for an update of an execution to touch an index.
-- needs: event label start_key human
BEGIN;
SELECT plan(4);

-- The tables of the four features, without their lists of types and worklists.
CREATE TEMP TABLE theirs AS SELECT ('_sfflow.' || t)::regclass AS id
	FROM unnest('{label,emission,awaited_event,event_receipt,event_floor,delayed_start,keyed_start,
	start_key,human_task,human_task_role,human_task_event,human_starter}'::text[]) t;
CREATE FUNCTION pg_temp.written() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(s.n_tup_ins + s.n_tup_upd + s.n_tup_del)::bigint FROM pg_stat_xact_all_tables s
	JOIN theirs ON id = s.relid $$;
CREATE FUNCTION pg_temp.updates(OUT n bigint, OUT hot bigint) LANGUAGE sql AS $$
	SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_all_tables WHERE relid = '_sfflow.execution'::regclass $$;
CREATE FUNCTION pg_temp.machine(name text, options jsonb DEFAULT '{}') RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"},
		"B": {"Type": "Task", "Resource": "sql:pg_catalog.now", "Parameters": {}, "Next": "C"},
		"C": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "D"}], "Default": "D"},
			"D": {"Type": "Wait", "Seconds": 0, "Next": "E"},
		"E": {"Type": "Parallel", "Branches": [{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}],
			"End": true}}}', options => options) $$;
-- Run executions step by step: how many updates of executions that takes, and how many of them touch no index.
CREATE FUNCTION pg_temp.go(machine text, OUT n bigint, OUT hot bigint) LANGUAGE plpgsql AS $$
DECLARE
	before record := pg_temp.updates();
BEGIN
	FOR i IN 1 .. 20 LOOP
		PERFORM sf_start(machine, '{"a": 1}', i::text);
		WHILE (SELECT status = 'RUNNING' FROM sf_step(machine || ':' || i)) LOOP
		END LOOP;
	END LOOP;
	SELECT u.n - before.n, u.hot - before.hot INTO n, hot FROM pg_temp.updates() u;
END $$;

SELECT pg_temp.machine('plain'), pg_temp.machine('labelled', '{"labels": {"a": "$.a"}}') \g /dev/null
SELECT n AS plain, hot AS plain_hot FROM pg_temp.go('plain') \gset
SELECT is((SELECT count(*) FROM sf_executions WHERE state_machine = 'plain' AND status = 'SUCCEEDED'), 20::bigint,
	'executions that use none of the four run');
SELECT is(pg_temp.written(), 0::bigint, '... and write no row of theirs');
SELECT n AS labelled, hot AS labelled_hot FROM pg_temp.go('labelled') \gset
SELECT is((SELECT count(*) FROM sf_labels WHERE label = 'a'), 20::bigint, 'others have labels');
SELECT ok(:labelled = :plain AND :labelled_hot >= 0.9 * :plain_hot,
	format('... whose updates touch no index either: %s of %s, %s of %s without', :labelled_hot, :labelled, :plain_hot,
		:plain));
SELECT * FROM finish();
ROLLBACK;
