-- Four eyes where names change: states that another version calls otherwise, and persons for whom one session answers,
-- as the connections of sfgateway do.
-- needs: human
BEGIN;
SELECT plan(24);

CREATE ROLE eye_gate LOGIN NOINHERIT; CREATE ROLE eye_anna LOGIN; CREATE ROLE eye_bob LOGIN; CREATE ROLE eye_carl LOGIN;
GRANT eye_anna, eye_bob TO eye_gate;
GRANT eye_bob TO eye_anna;
SELECT sf_create_worklist('eyes') \g /dev/null
SELECT sf_grant('DO', 'human:eyes', r) FROM unnest('{eye_anna,eye_bob,eye_carl}'::text[]) r \g /dev/null

-- What a call is told.
CREATE FUNCTION pg_temp.told(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	more text;
BEGIN
	EXECUTE call;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS said = MESSAGE_TEXT, more = PG_EXCEPTION_DETAIL;
	RETURN regexp_replace(concat_ws('. ', said, nullif(more, '')), 'task \d+', 'task N');
END $$;
-- The task of an execution, which goes on first.
CREATE FUNCTION pg_temp.task(id text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_run(id);
	RETURN (SELECT t.task_no FROM _sfflow.human_task t JOIN _sfflow.execution e ON e.execution_no = t.execution_no
		WHERE e.execution_id = id);
END $$;
CREATE FUNCTION pg_temp.own(task bigint) RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.told(format('SELECT sf_complete_task(%s)', task)) $$;
CREATE FUNCTION pg_temp.relayed(person text, task bigint) RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.told(format('SELECT sf_console_api_as(%L, ''complete_task'', %L, true)', person,
		jsonb_build_object('targets', jsonb_build_array(task::text), 'output', '{}'))) $$;

-- A version that has another name for the state.
CREATE FUNCTION pg_temp.define(first text, second text) RETURNS void LANGUAGE sql AS $$
	SELECT sf_create_state_machine('pay', format('{"StartAt": "%1$s", "States": {
		"%1$s": {"Type": "Task", "Resource": "human:eyes", "Parameters": {}, "Next": "Mid"},
		"Mid": {"Type": "Wait", "Seconds": 0, "Next": "%2$s"},
		"%2$s": {"Type": "Task", "Resource": "human:eyes", "Parameters": {"NotBy": ["%1$s"]}, "End": true}}}', first,
		second)::json, or_replace => true) $$;
SELECT pg_temp.define('First', 'Second'), sf_start('pay', name => n) FROM unnest('{between,waits,swaps}'::text[]) n
	\g /dev/null
SELECT pg_temp.task('pay:between') AS between, pg_temp.task('pay:waits') AS waits, pg_temp.task('pay:swaps') AS swaps
	\gset
SELECT pg_temp.define('Prepare', 'Second') \g /dev/null
SELECT pg_temp.define('Second', 'First') \g /dev/null
SET SESSION AUTHORIZATION eye_anna;
SELECT is(pg_temp.own(t), 'done', 'anna does the first task') FROM unnest(ARRAY[:between, :waits, :swaps]) t;
RESET SESSION AUTHORIZATION;
SELECT sf_migrate('pay:between', 2, '{"First": "Prepare"}') \g /dev/null
SELECT pg_temp.task('pay:between') AS between, pg_temp.task('pay:waits') AS waits, pg_temp.task('pay:swaps') AS swaps
	\gset
SELECT sf_migrate('pay:waits', 2, '{"First": "Prepare"}'),
	sf_migrate('pay:swaps', 3, '{"First": "Second", "Second": "First"}') \g /dev/null
SET SESSION AUTHORIZATION eye_anna;
SELECT is(pg_temp.own(:between), 'task N must not be done by "eye_anna". '
	'That person has completed state "Prepare", which NotBy of state "Second" names.',
	'whom a state bars it bars under its new name');
SELECT is(pg_temp.own(:waits), 'task N must not be done by "eye_anna". '
	'That person has completed state "Prepare", which NotBy of state "Second" names.',
	'... and from a task that waits already');
SELECT is(pg_temp.own(:swaps), 'task N must not be done by "eye_anna". '
	'That person has completed state "Second", which NotBy of state "First" names.', '... also if names are swapped');
RESET SESSION AUTHORIZATION;
SELECT is((SELECT string_agg(concat_ws(' ', split_part(execution_id, ':', 2), not_by), ', ' ORDER BY task)
		FROM sf_human_tasks), 'between {Prepare}, waits {Prepare}, swaps {Second}', 'NotBy has the new names');
SELECT is((SELECT string_agg(DISTINCT state, ' ') FROM sf_human_task_events WHERE action = 'COMPLETED'), 'First',
	'what was done has the name that the state had then');
SET SESSION AUTHORIZATION eye_carl;
SELECT is(pg_temp.own(t), 'done', 'another one does them') FROM unnest(ARRAY[:between, :waits, :swaps]) t;
RESET SESSION AUTHORIZATION;

-- Persons for whom a session answers.
SELECT pg_temp.define('First', 'Second') \g /dev/null
SELECT sf_start('pay', name => n) FROM unnest('{apart,same,mixed,again}'::text[]) n \g /dev/null
SELECT pg_temp.task('pay:apart') AS apart, pg_temp.task('pay:same') AS same, pg_temp.task('pay:mixed') AS mixed,
	pg_temp.task('pay:again') AS again \gset
SET SESSION AUTHORIZATION eye_gate;
SELECT is(pg_temp.relayed('eye_anna', t), 'done', 'anna does the first task in the console')
	FROM unnest(ARRAY[:apart, :same]) t;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION eye_anna;
SELECT is(pg_temp.relayed('eye_bob', :mixed), 'done', 'anna answers for bob, of whom she is a member');
SELECT is(pg_temp.own(:again), 'done', '... and for herself');
RESET SESSION AUTHORIZATION;
SELECT pg_temp.task('pay:apart') AS apart, pg_temp.task('pay:same') AS same, pg_temp.task('pay:mixed') AS mixed,
	pg_temp.task('pay:again') AS again \gset
SET SESSION AUTHORIZATION eye_gate;
SELECT is(pg_temp.relayed('eye_anna', :same), 'task N must not be done by "eye_anna". '
	'That person has completed state "First", which NotBy of state "Second" names.', 'not the second one of the same');
SELECT is(pg_temp.relayed('eye_bob', :apart), 'done', 'bob does, though one session answers for both');
SELECT is(pg_temp.relayed('eye_bob', :mixed), 'task N must not be done by "eye_bob". '
	'That person has completed state "First", which NotBy of state "Second" names.',
	'bob has done what was done for him');
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION eye_anna;
SELECT is(pg_temp.own(:mixed), 'task N must not be done by "eye_anna". '
	'That person has completed state "First", which NotBy of state "Second" names.', '... and who did it in his name');
SELECT is(pg_temp.relayed('eye_bob', :again), 'task N must not be done by "eye_bob". '
	'That person has completed state "First", which NotBy of state "Second" names.',
	'a role for which her session answers makes no other person');
RESET SESSION AUTHORIZATION;

-- The starter, too.
SELECT sf_create_state_machine('own', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:eyes",
	"Parameters": {"NotBy": ["starter"]}, "End": true}}}'), sf_grant('START', 'own', 'public') \g /dev/null
SET SESSION AUTHORIZATION eye_gate;
SELECT sf_console_api_as('eye_anna', 'start', '{"state_machine": "own", "name": "1", "input": "{}"}', true) \g /dev/null
RESET SESSION AUTHORIZATION;
SELECT pg_temp.task('own:1') AS one \gset
SET SESSION AUTHORIZATION eye_gate;
SELECT is(pg_temp.relayed('eye_anna', :one), 'task N must not be done by "eye_anna". '
	'That person has started the execution, and NotBy of state "A" names the starter.', 'the starter is barred');
SELECT is(pg_temp.relayed('eye_bob', :one), 'done', '... and nobody else');
RESET SESSION AUTHORIZATION;
SELECT is((SELECT string_agg(DISTINCT concat_ws(' ', role, session_role), ', ') FROM sf_audit
		WHERE execution_id = 'own:1' AND action = 'complete task'), 'eye_bob eye_gate',
	'the audit has both, the role and the login of the session');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
