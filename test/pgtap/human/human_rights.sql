-- Tasks of people: who may create worklists, give tasks, do, assign and act for others, and see what; four eyes; roles
-- that are dropped.
-- needs: human
BEGIN;
SELECT plan(72);

CREATE ROLE human_owner; CREATE ROLE human_maker; CREATE ROLE human_anna; CREATE ROLE human_bob; CREATE ROLE human_lead;
	CREATE ROLE human_app; CREATE ROLE human_stranger; CREATE ROLE human_lead2;
SELECT sf_revoke('CREATE', '*', 'public'), sf_grant('CREATE', '*', r) FROM unnest('{human_owner,human_maker}'::text[]) r
	\g /dev/null
CREATE FUNCTION pg_temp.refused(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	code text;
	said text;
BEGIN
	EXECUTE call;
	RETURN 'allowed';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, said = MESSAGE_TEXT;
	RETURN code || ' ' || regexp_replace(said, 'task \d+', 'task N');
END $$;
CREATE TEMP TABLE now (what text PRIMARY KEY, task bigint);
GRANT SELECT ON now TO PUBLIC;
CREATE FUNCTION pg_temp.note(name text, id text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO now SELECT name, t.task_no FROM _sfflow.human_task t JOIN _sfflow.execution e ON e.execution_no
	= t.execution_no
	WHERE e.execution_id = id ON CONFLICT (what) DO UPDATE SET task = excluded.task $$;
CREATE FUNCTION pg_temp.try(function text, name text, more text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.refused(format('SELECT sf_%s_task(%s%s)', function, (SELECT task FROM now WHERE what = name),
			more)) $$;
CREATE FUNCTION pg_temp.machine(name text, parameters text) RETURNS bigint LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, format('{"StartAt": "Check", "States": {"Check": {"Type": "Task",
			"Resource": "human:checks", "Parameters": {"Title": "x"}, "Next": "Approve"},
		"Approve": {"Type": "Task", "Resource": "human:checks", "Parameters": %s, "End": true}}}', parameters)::json,
		or_replace => true) $$;

-- Worklists and rights on them.
SET ROLE human_stranger;
SELECT is(pg_temp.refused($$ SELECT sf_create_worklist('checks') $$),
	'42501 permission denied to create state machines and activities', 'a worklist is created with the right CREATE');
SET ROLE human_owner;
SELECT is(pg_temp.refused($$ SELECT sf_create_worklist('checks') $$), 'allowed', '... by a role that has it');
SELECT is(pg_temp.refused($$ SELECT sf_grant('WORK', 'human:checks', 'human_anna') $$),
	'SF012 privilege WORK does not apply to "human:checks"', 'not all rights apply');
SELECT is(pg_temp.refused(format($$ SELECT sf_grant('DO', 'human:checks', 'human_%s') $$, r)), 'allowed',
	'the owner gives DO') FROM unnest('{anna,bob,app}'::text[]) r;
SET ROLE human_maker;
SELECT is(pg_temp.refused($$ SELECT sf_create_worklist('checks', '{}') $$), 'SF064 worklist "checks" does not exist',
	'another role does not know it');
SELECT is(pg_temp.refused($$ SELECT sf_grant('DO', 'human:checks', 'human_maker') $$),
	'SF064 worklist "checks" does not exist', '... nor gives rights on it');
SELECT is_empty('SELECT * FROM sf_worklists', '... nor sees it');
SELECT pg_temp.machine('flow', '{"Title": "y", "NotBy": ["starter", "Check"]}') \g /dev/null
SELECT sf_start('flow', '{}', 'a'), sf_run('flow:a') \g /dev/null
SELECT is((SELECT error FROM sf_executions WHERE execution_id = 'flow:a'), 'States.Runtime',
	'its machines do not find it');
RESET ROLE;
SELECT sf_grant('DO', 'human:checks', 'human_maker'), sf_grant('DO', 'human:checks', 'human_lead2') \g /dev/null
SET ROLE human_maker;
SELECT sf_start('flow', '{}', 'b'), sf_run('flow:b') \g /dev/null
SELECT is((SELECT error || ' ' || cause FROM sf_executions WHERE execution_id = 'flow:b'),
	'States.Permissions The owner of state machine ''flow'' has no right to assign tasks of worklist ''checks''.',
	'DO is not ASSIGN');
RESET ROLE;
SELECT sf_grant('ASSIGN', 'human:checks', 'human_maker'), sf_grant('START', 'flow', 'human_anna') \g /dev/null

-- Anna starts and checks; neither she nor who checked approves.
SET ROLE human_maker;
SELECT sf_start('flow', '{}', '1'), sf_run('flow:1') \g /dev/null
RESET ROLE;
SELECT pg_temp.note('check', 'flow:1') \g /dev/null
SET ROLE human_stranger;
SELECT is(pg_temp.try('claim', 'check'), 'SF063 task N does not exist, or is over',
	'who has no right does not know the task');
SELECT is_empty('SELECT * FROM sf_human_tasks', '... nor sees it');
SET ROLE human_anna;
SELECT is((SELECT count(*) FROM sf_human_tasks), 1::bigint, 'DO shows it');
SELECT is(pg_temp.try('claim', 'check', ', ''carla'''), '42501 permission denied for worklist "checks"',
	'DO is not ACT');
SELECT is(pg_temp.try('assign', 'check', ', ''human_bob'''), '42501 permission denied for worklist "checks"',
	'... nor ASSIGN');
SELECT is(pg_temp.try('change', 'check', ', priority => 1'), '42501 permission denied for worklist "checks"',
	'... so it changes nothing');
SELECT is(pg_temp.try('claim', 'check'), 'allowed', '... but claims');
SET ROLE human_bob;
SELECT is(pg_temp.try('claim', 'check'), 'SF062 task N is claimed by "human_anna"', 'another one does not then');
SELECT is(pg_temp.try('complete', 'check'), 'SF062 task N is claimed by "human_anna"', '... nor completes');
SELECT is(pg_temp.try('fail', 'check'), 'SF062 task N is claimed by "human_anna"', '... nor fails');
SELECT is(pg_temp.try('release', 'check'), '42501 permission denied for worklist "checks"', '... nor releases');
SET ROLE human_anna;
SELECT is(pg_temp.try('complete', 'check'), 'allowed', 'who has claimed it completes it');
RESET ROLE;
SELECT sf_run('flow:1'), pg_temp.note('approve', 'flow:1') \g /dev/null
SET ROLE human_anna;
SELECT is(pg_temp.try('claim', 'approve'), '42501 task N must not be done by "human_anna"',
	'who has checked does not approve');
SELECT is(pg_temp.try('complete', 'approve'), '42501 task N must not be done by "human_anna"',
	'... in one step neither');
SET ROLE human_maker;
SELECT is(pg_temp.try('claim', 'approve'), '42501 task N must not be done by "human_maker"', 'nor who has started it');
SELECT is(pg_temp.try('assign', 'approve', ', ''human_anna'''), '42501 task N must not be done by "human_anna"',
	'nor is it assigned to one of them');
SELECT is(pg_temp.try('assign', 'approve', ', ''human_stranger'''), '42501 permission denied for worklist "checks"',
	'... nor to one without DO');
SELECT is(pg_temp.try('assign', 'approve', ', ''human_nobody'''), '42704 role "human_nobody" does not exist',
	'... nor to one that does not exist');
SET ROLE human_bob;
SELECT is(pg_temp.try('claim', 'approve'), '42501 task N must not be done by "human_bob"',
	'nor another role of the same login: SET ROLE makes no other person');
RESET ROLE;
SELECT is((SELECT string_agg(DISTINCT login::text, ' ') FROM _sfflow.human_starter), session_user::text,
	'the login that has started is known');

-- With other logins. A session that was begun by anna has no rights but hers.
DELETE FROM _sfflow.human_starter;
SET SESSION AUTHORIZATION human_bob;
SELECT is(pg_temp.try('claim', 'approve'), 'allowed', 'another login approves');
SET SESSION AUTHORIZATION human_maker;
SELECT is(pg_temp.try('assign', 'approve', ', NULL'), 'allowed', 'who may assign takes it away');
RESET SESSION AUTHORIZATION;
UPDATE _sfflow.human_task_event SET login = role;
SET SESSION AUTHORIZATION human_maker;
SELECT is(pg_temp.try('assign', 'approve', ', ''human_bob'''), 'allowed', '... and gives it to another one');
RESET SESSION AUTHORIZATION;
SELECT is((SELECT claimed_by FROM sf_human_tasks WHERE execution_id = 'flow:1'), 'human_bob', '... who has it now');

-- A state that has the name of the starter: NotBy is of both, and tells them apart.
CREATE FUNCTION pg_temp.why(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	PERFORM sf_claim_task((SELECT task FROM now WHERE what = name));
	RETURN 'allowed';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS said = PG_EXCEPTION_DETAIL;
	RETURN said;
END $$;
SET ROLE human_maker;
SELECT sf_create_state_machine('named', '{"StartAt": "starter", "States": {
	"starter": {"Type": "Task", "Resource": "human:checks", "Parameters": {}, "Next": "Approve"},
	"Approve": {"Type": "Task", "Resource": "human:checks", "Parameters": {"NotBy": ["starter"]}, "Next": "Again"},
	"Again": {"Type": "Task", "Resource": "human:checks", "Parameters": {"NotBy": ["Approve", "starter"]}, "End": true}
	}}') \g /dev/null
SET SESSION AUTHORIZATION human_maker;
SELECT sf_start('named', '{}', '1') \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT sf_run('named:1'), pg_temp.note('first', 'named:1') \g /dev/null
SET SESSION AUTHORIZATION human_anna;
SELECT is(pg_temp.try('complete', 'first'), 'allowed', 'a task of a state called starter');
RESET SESSION AUTHORIZATION;
SELECT sf_run('named:1'), pg_temp.note('second', 'named:1') \g /dev/null
SELECT is((SELECT not_by FROM sf_human_tasks WHERE execution_id = 'named:1'), '{starter}',
	'NotBy is shown as it was given');
SET SESSION AUTHORIZATION human_anna;
SELECT is(pg_temp.why('second'),
	'That person has completed state "starter", which NotBy of state "Approve" names.',
	'... and bars who has completed it');
SET SESSION AUTHORIZATION human_maker;
SELECT is(pg_temp.why('second'),
	'That person has started the execution, and NotBy of state "Approve" names the starter.',
	'... and who has started');
SET SESSION AUTHORIZATION human_bob;
SELECT is(pg_temp.try('complete', 'second'), 'allowed', '... and nobody else');
RESET SESSION AUTHORIZATION;
SELECT sf_run('named:1') \g /dev/null
SELECT is((SELECT array_agg(x ORDER BY x) FROM sf_human_tasks t, unnest(t.not_by) x WHERE t.execution_id = 'named:1'),
	'{Approve,starter}', 'NotBy of other states, too');
SET SESSION AUTHORIZATION human_bob;
SELECT is((SELECT l.not_by FROM sf_list_human_tasks() l WHERE l.execution_id = 'named:1'), '{starter,Approve}',
	'... in a page as well');
RESET SESSION AUTHORIZATION;

-- A program that acts for others.
SELECT sf_start('flow', '{}', '2'), sf_run('flow:2'), pg_temp.note('check', 'flow:2') \g /dev/null
SET ROLE human_app;
SELECT is(pg_temp.try('claim', 'check', ', ''carla'''), '42501 permission denied for worklist "checks"',
	'DO alone is not enough to act for others');
RESET ROLE;
SELECT sf_grant('ACT', 'human:checks', 'human_app') \g /dev/null
SET ROLE human_app;
SELECT is(pg_temp.try('claim', 'check', ', '''''), 'SF012 argument actor must have 1 to 256 bytes',
	'an actor has a name');
SELECT is(pg_temp.try('claim', 'check', ', ''carla'''), 'allowed', 'with ACT a program claims for somebody');
SELECT is(pg_temp.try('complete', 'check', ', actor => ''dora'''), 'SF062 task N is claimed by "carla"',
	'... and for nobody else then');
SELECT is(pg_temp.try('complete', 'check'), 'SF062 task N is claimed by "carla"', '... nor for itself');
SELECT is(pg_temp.try('release', 'check', ', ''carla''') || ', ' || pg_temp.try('claim', 'check', ', ''dora''') || ', '
	|| pg_temp.try('complete', 'check', ', actor => ''dora'''),
	'allowed, allowed, allowed', '... but releases it for the same');
RESET ROLE;
SELECT sf_run('flow:2'), pg_temp.note('approve', 'flow:2') \g /dev/null
SET ROLE human_app;
SELECT is(pg_temp.try('complete', 'approve', ', actor => ''dora'''), '42501 task N must not be done by "dora"',
	'four eyes by the names that the program gives');
SELECT is(pg_temp.try('complete', 'approve', ', actor => ''carla'''), 'allowed', '... of which another one approves');
RESET ROLE;
SELECT sf_run('flow:2') \g /dev/null
SELECT is((SELECT output ->> 'By' FROM sf_executions WHERE execution_id = 'flow:2'), 'carla',
	'... and is in the result');
SELECT is((SELECT role || ' ' || (details ->> 'actor') FROM sf_audit WHERE execution_id = 'flow:2'
		AND action = 'complete task' ORDER BY at DESC LIMIT 1), 'human_app carla', 'the audit has both');

-- Roles that narrow DO; roles that are dropped.
SELECT pg_temp.machine('flow', '{"Title": "y", "Roles": ["human_lead"]}') \g /dev/null
SELECT sf_start('flow', '{}', '3'), sf_run('flow:3'), pg_temp.note('check', 'flow:3') \g /dev/null
SELECT sf_complete_task(task) FROM now WHERE what = 'check' \g /dev/null
SELECT sf_run('flow:3'), pg_temp.note('approve', 'flow:3') \g /dev/null
SET ROLE human_anna;
SELECT is_empty($$ SELECT * FROM sf_human_tasks WHERE execution_id = 'flow:3' $$, 'a task for other roles is not seen');
SELECT is(pg_temp.try('claim', 'approve'), '42501 task N is not for "human_anna"', '... nor claimed');
SET ROLE human_lead;
SELECT is(pg_temp.try('claim', 'approve'), 'SF063 task N does not exist, or is over',
	'a role that it is for needs DO, too');
RESET ROLE;
SELECT is(pg_temp.refused('DROP ROLE human_lead'),
	'2BP01 role "human_lead" cannot be dropped because some objects depend on it',
	'a role that a task is for is not dropped');
GRANT human_lead TO human_anna;
SET ROLE human_anna;
SELECT is(pg_temp.try('complete', 'approve'), 'allowed', 'a member of it has done it');
RESET ROLE;
SELECT is(pg_temp.refused('DROP ROLE human_lead'), 'allowed', '... then the role is dropped');
SELECT is(pg_temp.refused('DROP ROLE human_owner'),
	'2BP01 role "human_owner" cannot be dropped because some objects depend on it', 'the owner of a worklist is not');
SELECT is(pg_temp.refused('DROP ROLE human_bob'),
	'2BP01 role "human_bob" cannot be dropped because some objects depend on it', '... nor a role with a right on it');
SELECT sf_revoke('DO', 'human:checks', 'human_bob') \g /dev/null
SELECT is(pg_temp.refused('DROP ROLE human_bob'), 'allowed', 'a role that has claimed a task is, without rights');
SELECT is((SELECT claimed_by FROM sf_human_tasks WHERE execution_id = 'flow:1'), 'human_bob',
	'... and its claim stays');
SELECT sf_release_task(task) FROM sf_human_tasks WHERE execution_id = 'flow:1' \g /dev/null
SELECT is((SELECT claimed_by FROM sf_human_tasks WHERE execution_id = 'flow:1'), NULL,
	'... until who may assign releases it');
SELECT is(pg_temp.refused($$ SELECT sf_alter_owner('human:checks', 'human_anna') $$), 'allowed',
	'a worklist gets another owner');
SELECT is((SELECT string_agg(concat_ws(' ', action, state, done_by, role), ', ' ORDER BY at) FROM sf_human_task_events
		WHERE execution_id = 'flow:2'),
	format('CREATED Check, CLAIMED Check carla human_app, RELEASED Check carla human_app, CLAIMED Check dora '
		'human_app, COMPLETED Check dora human_app, '
		'CREATED Approve, COMPLETED Approve carla human_app'), 'what has become of tasks');
SET ROLE human_app;
SELECT is((SELECT count(*) > 7 FROM sf_human_task_events), true, '... is shown to who may act for others');
SET ROLE human_maker;
SELECT is((SELECT count(*) > 7 FROM sf_human_task_events), true, '... or assign');
SET ROLE human_stranger;
SELECT is_empty('SELECT * FROM sf_human_task_events', '... not to others');
SET ROLE human_lead2;
SELECT is_empty('SELECT * FROM sf_human_task_events', '... nor to who may do tasks');
RESET ROLE;
SET ROLE human_anna;
SELECT results_eq($$ SELECT concat_ws(' ', at, action, target) COLLATE "C" FROM sf_list_audit()
	WHERE target LIKE 'human:%' ORDER BY 1 $$,
	$$ SELECT concat_ws(' ', at, action, target) COLLATE "C" FROM sf_audit WHERE target LIKE 'human:%' ORDER BY 1 $$,
	'pages of actions have what was done to worklists, as the view');
SELECT is((SELECT count(*) > 0 FROM sf_list_audit(action => 'create') WHERE target LIKE 'human:%'), true,
	'... such as how they were made');
RESET ROLE;
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
