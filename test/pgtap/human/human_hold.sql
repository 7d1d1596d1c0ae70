-- Holds and limits of worklists: a held one gives no task out, and a limit counts the tasks that wait; the names that
-- states get by sf_migrate.
-- needs: human hold limit
BEGIN;
SELECT plan(36);

CREATE ROLE held_owner; CREATE ROLE held_anna; CREATE ROLE held_stranger;
SELECT sf_grant('CREATE', '*', 'held_owner') \g /dev/null
SET ROLE held_owner;
SELECT sf_create_worklist('ask'), sf_grant('DO', 'human:ask', 'held_anna') \g /dev/null
SELECT sf_create_state_machine('m', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:ask",
	"TimeoutSeconds": 3600, "End": true}}}') \g /dev/null
CREATE FUNCTION pg_temp.refused(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	code text;
	said text;
BEGIN
	EXECUTE call;
	RETURN 'allowed';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, said = MESSAGE_TEXT;
	RETURN code || ' ' || said;
END $$;
CREATE FUNCTION pg_temp.try(function text, name text, more text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.refused(format('SELECT sf_%s_task(t.task%s) FROM sf_human_tasks t WHERE t.execution_id = %L',
			function, more, 'm:' || name)) $$;
CREATE FUNCTION pg_temp.go(name text) RETURNS text LANGUAGE sql AS $$ SELECT sf_start('m', '{}', name);
	SELECT sf_run('m:' || name) $$;

-- Who holds, and what that keeps back.
SELECT pg_temp.go(n) FROM unnest('{mine,free,given}'::text[]) n \g /dev/null
SET ROLE held_anna;
SELECT pg_temp.try('claim', 'mine') \g /dev/null
SELECT is(pg_temp.refused($$ SELECT sf_hold('human:ask') $$), '42501 must be owner of worklist "ask"',
	'a right on a worklist is not the right to hold it');
SET ROLE held_stranger;
SELECT is(pg_temp.refused($$ SELECT sf_hold('human:ask') $$), 'SF064 worklist "ask" does not exist',
	'... and without a right it does not exist');
SET ROLE held_owner;
SELECT is(pg_temp.refused($$ SELECT sf_hold('human:ask', 'A') $$),
	'SF012 argument state is for a state machine or an execution', 'a worklist has no states');
SELECT is(sf_hold('human:ask', reason => 'stocktaking'), true, 'the owner holds it');
SELECT is((SELECT (target, waiting, reason)::text FROM sf_holds), '(human:ask,2,stocktaking)',
	'... and sf_holds has what nobody has claimed');
SELECT is((SELECT action || ' ' || target FROM sf_audit WHERE target = 'human:ask' ORDER BY at DESC LIMIT 1),
	'hold human:ask', '... and the audit tells of it');
SELECT is(pg_temp.try('assign', 'free', ', ''held_anna'''), 'SF065 worklist "ask" is held', 'no task is assigned');
SELECT pg_temp.go('new') \g /dev/null
SET ROLE held_anna;
SELECT is((SELECT target FROM sf_holds), 'human:ask', 'who has a right on it sees the hold');
SELECT is((SELECT count(*) FROM sf_human_tasks), 4::bigint, 'tasks are made and shown');
SELECT is(pg_temp.try('claim', 'new'), 'SF065 worklist "ask" is held', 'none is claimed');
SELECT is(pg_temp.try('complete', 'new'), 'SF065 worklist "ask" is held', '... nor completed');
SELECT is(pg_temp.try('fail', 'new'), 'SF065 worklist "ask" is held', '... nor failed');
SELECT is(pg_temp.try('claim', 'mine'), 'allowed', 'one that was claimed is');
SELECT is(pg_temp.try('release', 'mine'), 'allowed', '... and given back');
SELECT is(pg_temp.try('claim', 'mine'), 'SF065 worklist "ask" is held', '... and not given out again');
SET ROLE held_stranger;
SELECT is_empty('SELECT * FROM sf_holds', 'another role does not see the hold');
SET ROLE held_owner;
SELECT is(sf_release('human:ask'), 0::bigint, 'the owner releases it: no branch waited');
SET ROLE held_anna;
SELECT is(pg_temp.try('claim', 'mine'), 'allowed', 'then tasks are claimed');
RESET ROLE;
SELECT is(sf_hold('human:ask'), true, 'held again');
SET ROLE held_anna;
SELECT is(pg_temp.try('complete', 'mine'), 'allowed', 'who has claimed one before completes it');
RESET ROLE;
SELECT sf_stop('m:' || n) FROM unnest('{mine,free,given,new}'::text[]) n WHERE (SELECT status FROM sf_executions
	WHERE execution_id = 'm:' || n) = 'RUNNING' \g /dev/null
SET ROLE held_owner;
SELECT sf_drop_worklist('ask') \g /dev/null
SELECT is_empty('SELECT * FROM sf_holds', 'a hold goes with its worklist');
SELECT sf_create_worklist('ask'), sf_grant('DO', 'human:ask', 'held_anna') \g /dev/null
SELECT pg_temp.go('fresh') \g /dev/null
SET ROLE held_anna;
SELECT is(pg_temp.try('complete', 'fresh'), 'allowed', '... and is not that of the next one of that name');

-- Limits.
SELECT is(pg_temp.refused($$ SELECT sf_set_limit('human:ask', max_running => 1) $$),
	'42501 must be owner of worklist "ask"', 'a right on a worklist is not the right to limit it');
SET ROLE held_owner;
SELECT sf_set_limit('human:ask', max_running => 2) \g /dev/null
SELECT pg_temp.go(n) FROM unnest('{l1,l2,l3}'::text[]) n \g /dev/null
SELECT is((SELECT string_agg(execution_id, ' ') FROM sf_human_tasks), 'm:l1 m:l2',
	'as many tasks wait as the limit allows');
SELECT is((SELECT (target, in_use, waiting)::text FROM sf_limits), '(human:ask,2,1)', '... and the others for a place');
SELECT is((SELECT (execution_id, in_use_by)::text FROM sf_limit_waits), '(m:l3,"{m:l1,m:l2}")',
	'... of those that have one');
SELECT is(pg_temp.try('claim', 'l1'), 'allowed', 'a claim takes no other place');
SELECT is((SELECT in_use FROM sf_limits), 2::bigint, '... so that as many are in use');
SELECT is(pg_temp.try('complete', 'l1'), 'allowed', 'one is done');
SELECT sf_run('m:l1'), sf_run('m:l3') \g /dev/null
SELECT is((SELECT string_agg(execution_id, ' ') FROM sf_human_tasks), 'm:l2 m:l3',
	'... and the next one takes its place');
RESET ROLE;
SELECT sf_map_resource('x:ask', 'human:ask') \g /dev/null
SET ROLE held_owner;
SELECT sf_create_state_machine('mapped', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "x:ask",
	"End": true}}}') \g /dev/null
SELECT sf_start('mapped', '{}', '1'), sf_run('mapped:1') \g /dev/null
SELECT is((SELECT (target, in_use, waiting)::text FROM sf_limits), '(human:ask,2,1)',
	'the limit is for states whose resource is mapped to the worklist, too');
RESET ROLE;
SELECT is_empty('SELECT * FROM sf_check()', 'all is sound');
SET ROLE held_owner;
SELECT is(sf_drop_limit('human:ask'), true, 'the limit is removed');

-- Names of states.
SELECT sf_create_state_machine('m', '{"StartAt": "Approve", "States": {"Approve": {"Type": "Task",
	"Resource": "human:ask", "TimeoutSeconds": 3600, "End": true}}}', or_replace => true) \g /dev/null
SELECT sf_migrate('m:l2', 2, '{"A": "Approve"}') \g /dev/null
SELECT is((SELECT string_agg(state, ' ' ORDER BY execution_id) FROM sf_human_tasks WHERE execution_id LIKE 'm:%'),
	'Approve A', 'a task has the name that its state has in the version of its execution');
SELECT is((SELECT string_agg(state, ' ' ORDER BY execution_id) FROM sf_list_human_tasks()
		WHERE execution_id LIKE 'm:%'), 'Approve A', '... in pages, too');
SELECT is(pg_temp.try('complete', 'l2'), 'allowed', '... and is completed');
SELECT * FROM finish();
ROLLBACK;
