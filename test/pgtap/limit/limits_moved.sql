-- Executions that are moved into, out of and between states with limits: what is inside of a state has a slot of its
-- limits and of no others, and what waits waits for nothing else. sf_check() finds what does not.
-- needs: hold
BEGIN;
SELECT plan(34);

SELECT current_schema AS schema \gset
CREATE FUNCTION pg_temp.shown(OUT text) LANGUAGE sql AS $$
	SELECT string_agg(concat_ws('|', target, max_running, in_use, waiting), ', ' ORDER BY target) FROM sf_limits $$;
CREATE FUNCTION pg_temp.problems(OUT text) LANGUAGE sql AS $$
	SELECT string_agg(DISTINCT concat_ws(' ', problem, execution_id), ', ') FROM sf_check() $$;
CREATE FUNCTION pg_temp.run(names text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(sf_run('moved:' || n), ' ') FROM unnest(string_to_array(names, ' ')) AS n $$;
CREATE FUNCTION pg_temp.machine(name text, first text, more text DEFAULT '') RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, format('{"StartAt": "%s", "States": {"%1$s": {"Type": "Task",
			"Resource": "activity:moved_shell", "End": true} %s}}', first, more)::json, or_replace => true) $$;
SELECT sf_create_activity('moved_shell') \g /dev/null

-- Three are inside of a state without a limit, and are moved into one that has a limit.
SELECT pg_temp.machine('moved', 'Free') \g /dev/null
SELECT sf_start('moved', '{}', n) FROM unnest('{a,b,c}'::text[]) AS n \g /dev/null
SELECT is(pg_temp.run('a b c'), 'RUNNING RUNNING RUNNING', 'three run');
SELECT pg_temp.machine('moved', 'Tight') \g /dev/null
SELECT sf_set_limit('moved/Tight', max_running => 1) \g /dev/null
SELECT sf_start('moved', '{}', 'd'), sf_run('moved:d') \g /dev/null
SELECT is(pg_temp.shown(), 'moved/Tight|1|1|0', 'another one has the slot of the limit');
SELECT sf_migrate('moved:' || n, 2, '{"Free": "Tight"}') FROM unnest('{a,b,c}'::text[]) AS n \g /dev/null
SELECT is(pg_temp.shown(), 'moved/Tight|1|4|0', 'what is moved into the state counts');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');
SELECT sf_start('moved', '{}', 'e'), sf_run('moved:e') \g /dev/null
SELECT is(pg_temp.shown(), 'moved/Tight|1|4|1', 'a further one waits');
SELECT sf_stop('moved:d'), sf_run('moved:e') \g /dev/null
SELECT is(pg_temp.shown(), 'moved/Tight|1|3|1', '... as long as the limit is not kept');
SELECT sf_stop('moved:a'), sf_stop('moved:b'), sf_run('moved:e') \g /dev/null
SELECT is(pg_temp.shown(), 'moved/Tight|1|1|1', '... also for the last one that was moved');

-- Out of the state again: its slot is free.
SELECT sf_migrate('moved:c', 1, '{"Tight": "Free"}') \g /dev/null
SELECT is(pg_temp.shown(), 'moved/Tight|1|0|1', 'what is moved out of the state releases its slot');
SELECT is(pg_temp.run('e') || pg_temp.shown(), 'RUNNINGmoved/Tight|1|1|0', '... to what waits');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');

-- What waits and is moved does not wait for the limit of the state before.
SELECT sf_start('moved', '{}', n), sf_run('moved:' || n) FROM unnest('{f,g,h}'::text[]) AS n \g /dev/null
SELECT is(pg_temp.shown(), 'moved/Tight|1|1|3', 'three wait');
SELECT sf_migrate('moved:g', 1, '{"Tight": "Free"}') \g /dev/null
SELECT is(pg_temp.shown(), 'moved/Tight|1|1|2', 'one of them is moved out of the queue');
SELECT pg_temp.run('g') \g /dev/null
SELECT is((SELECT waiting_on FROM sf_executions WHERE execution_id = 'moved:g'), 'task "Free" handed out',
	'... and goes on');
SELECT sf_migrate('moved:f', 1, '{"Tight": "Free"}'), sf_migrate('moved:f', 2, '{"Free": "Tight"}') \g /dev/null
SELECT is(pg_temp.run('f') || pg_temp.shown(), 'RUNNINGmoved/Tight|1|1|2',
	'one that is moved there and back waits again');
SELECT sf_stop('moved:e') \g /dev/null
SELECT pg_temp.run('h f') \g /dev/null
SELECT is(pg_temp.shown() || (SELECT waiting_on FROM sf_executions WHERE execution_id = 'moved:f'),
	'moved/Tight|1|1|1task "Tight" handed out', '... and has not lost its position in the queue');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');

-- Nor for a hold.
SELECT sf_hold('moved/Free') \g /dev/null
SELECT sf_start('moved', '{}', 'i'), sf_stop('moved:f'), sf_stop('moved:h') \g /dev/null
SELECT sf_migrate('moved:i', 1, '{"Tight": "Free"}'), sf_run('moved:i') \g /dev/null
SELECT is((SELECT waiting FROM sf_holds), 1::bigint, 'one is held');
SELECT sf_migrate('moved:i', 2, '{"Free": "Tight"}') \g /dev/null
SELECT is(pg_temp.run('i') || pg_temp.shown(), 'RUNNINGmoved/Tight|1|1|0', '... and goes on in a state that is not');
SELECT is((SELECT waiting FROM sf_holds), 0::bigint, '... so that nothing waits for the hold');
SELECT sf_release('moved/Free'), sf_stop('moved:i') \g /dev/null

-- By a key, and between two states with limits.
SELECT sf_stop('moved:c'), sf_stop('moved:g') \g /dev/null
SELECT sf_drop_limit('moved/Tight') \g /dev/null
SELECT sf_create_state_machine('moved', '{"StartAt": "One", "States": {"One": {"Type": "Task",
	"Resource": "activity:moved_shell", "Next": "Two"}, "Two": {"Type": "Task", "Resource": "activity:moved_shell",
	"End": true}}}', or_replace => true) \g /dev/null
SELECT sf_set_limit('moved/One', max_running => 1), sf_set_limit('moved/Two', key => '$.tenant', max_running => 1)
	\g /dev/null
SELECT sf_start('moved', jsonb_build_object('tenant', n), n) FROM unnest('{j,k}'::text[]) AS n \g /dev/null
SELECT is(pg_temp.run('j k') || pg_temp.shown(), 'RUNNING RUNNINGmoved/One|1|1|1, moved/Two|1|0|0', 'one of two runs');
SELECT sf_create_state_machine('moved', '{"StartAt": "Two", "States": {"Two": {"Type": "Task",
	"Resource": "activity:moved_shell", "End": true}}}', or_replace => true) \g /dev/null
SELECT sf_migrate('moved:' || n, 4, '{"One": "Two"}') FROM unnest('{j,k}'::text[]) AS n \g /dev/null
SELECT pg_temp.run('k') \g /dev/null
-- the transaction still has the lock of the slot that it took for the other limit
SELECT is((SELECT string_agg(l.state || s.slot, ' ') FROM _sfflow.limit_slot s
		JOIN _sfflow.run_limit l USING (limit_no)), 'Two1 Two1', 'both run under the limit of their new state');
SELECT is((SELECT count(DISTINCT queue) FROM _sfflow.limit_slot), 2::bigint, '... by the value of its key');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');

-- A Parallel, a net and a Map that go on keep a slot for their states; and the limit of a resource.
SELECT sf_create_state_machine('moved_' || kind, format('{"StartAt": "Old", "States": {"Old": {"Type": "%s", %s,
		"End": true}}}', kind, body)::json, or_replace => true)
FROM (VALUES ('Parallel', '"Branches": [{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": '
		'"activity:moved_shell", "End": true}}}]'),
	('JobNet', '"Jobs": {"T": {"Type": "Task", "Resource": "activity:moved_shell"}}'),
	('Map', '"ItemsPath": "$", "ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": '
		'"activity:moved_shell", "End": true}}}')) AS x(kind, body) \g /dev/null
SELECT sf_start('moved_' || kind, '[1]', '1'), sf_run(format('moved_%s:1', kind))
	FROM unnest('{Parallel,JobNet,Map}'::text[]) AS kind \g /dev/null
SELECT sf_create_state_machine(state_machine, replace(definition::text, '"Old"', '"New"')::json, or_replace => true)
	FROM sf_state_machines WHERE state_machine LIKE 'moved\__%' \g /dev/null
SELECT sf_set_limit(format('moved_%s/New', kind), max_running => 1) FROM unnest('{Parallel,JobNet,Map}'::text[]) AS kind
	\g /dev/null
SELECT sf_migrate(format('moved_%s:1', kind), 2, '{"Old": "New"}') FROM unnest('{Parallel,JobNet,Map}'::text[]) AS kind
	\g /dev/null
SELECT sf_start('moved_' || kind, '[1]', '2'), sf_run(format('moved_%s:2', kind))
	FROM unnest('{Parallel,JobNet,Map}'::text[]) AS kind \g /dev/null
SELECT is((SELECT string_agg(concat_ws('|', target, in_use, waiting), ', ' ORDER BY target) FROM sf_limits
		WHERE target LIKE 'moved\__%'),
	'moved_JobNet/New|1|1, moved_Map/New|1|1, moved_Parallel/New|1|1', 'a state with children has a slot, too');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');

-- What a move cannot do is not done by halves.
SELECT throws_ok($$ SELECT sf_migrate('moved_Map:1', 1, '{"T": "Old"}') $$, NULL, NULL, 'a move that cannot be');
SELECT is((SELECT string_agg(concat_ws('|', target, in_use, waiting), ', ' ORDER BY target) FROM sf_limits
		WHERE target LIKE 'moved\_M%'), 'moved_Map/New|1|1', '... changes nothing');

-- A definition's own limit, which is one of its state's name; and the limit of an activity, which applies in both
-- versions.
SELECT sf_set_limit('activity:moved_shell', max_running => 100) \g /dev/null
SELECT sf_create_state_machine('moved', '{"StartAt": "Own", "States": {"Own": {"Type": "Task",
	"Resource": "activity:moved_shell", "MaxConcurrency": 1, "End": true}}}', or_replace => true) \g /dev/null
SELECT is((SELECT in_use FROM sf_limits WHERE target = 'activity:moved_shell'), 5::bigint,
	'all tasks count for the activity');
SELECT sf_migrate('moved:' || n, 5, '{"Two": "Own"}') FROM unnest('{j,k}'::text[]) AS n \g /dev/null
SELECT is((SELECT string_agg(concat_ws('|', target, in_use), ', ' ORDER BY target) FROM sf_limits
		WHERE target IN ('moved/Own', 'activity:moved_shell')),
	'activity:moved_shell|5, moved/Own|2', '... before a move and after it');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');

-- What sf_check() finds.
UPDATE _sfflow.run_limit SET counted = true;
DELETE FROM _sfflow.limit_slot s USING _sfflow.execution e WHERE e.execution_no = s.execution_no
	AND e.execution_id = 'moved:j';
SELECT is(pg_temp.problems(), 'slot_missing moved:j', 'what runs under a limit without a slot');
SELECT sf_stop('moved:j') \g /dev/null
INSERT INTO _sfflow.limit_slot (limit_no, queue, slot, execution_no, branch_no)
	SELECT l.limit_no, 7, 1, e.execution_no, 0 FROM _sfflow.run_limit l, _sfflow.execution e WHERE l.state = 'One'
	AND e.execution_id = 'moved:k';
SELECT is(pg_temp.problems(), 'slot_of_another moved:k', '... and what has one of another limit');
DELETE FROM _sfflow.limit_slot WHERE queue = 7;
UPDATE _sfflow.parked SET object_no = (SELECT limit_no FROM _sfflow.run_limit WHERE state = 'One')
WHERE execution_no = (SELECT execution_no FROM _sfflow.execution WHERE execution_id = 'moved_Map:2');
SELECT is(pg_temp.problems(), 'held_by_another moved_Map:2', '... and what waits for another one');
SELECT sf_stop('moved_Map:2') \g /dev/null
SELECT sf_start('moved', '{}', 'x') \g /dev/null
SELECT sf_set_limit('moved', max_running => 5) \g /dev/null
SELECT sf_run('moved:x') \g /dev/null
UPDATE _sfflow.run_limit SET counted = true;
DELETE FROM _sfflow.limit_slot WHERE branch_no IS NULL AND execution_no = (SELECT execution_no FROM _sfflow.execution
	WHERE execution_id = 'moved:k');
SELECT is(pg_temp.problems(), 'slot_missing moved:k', '... and an execution without a slot');
SELECT * FROM finish();
ROLLBACK;
