-- The inbox of the console: what its actions answer and do, with the rights of their role.
-- needs: human hold
BEGIN;
SELECT plan(34);

CREATE ROLE desk_owner; CREATE ROLE desk_anna; CREATE ROLE desk_bob; CREATE ROLE desk_lead; CREATE ROLE desk_stranger;
SELECT sf_grant('CREATE', '*', 'desk_owner') \g /dev/null
CREATE FUNCTION pg_temp.api(action text, request jsonb DEFAULT '{}') RETURNS jsonb
	LANGUAGE sql AS 'SELECT sf_console_api(action, request)';
CREATE FUNCTION pg_temp.on_task(action text, task bigint, request jsonb DEFAULT '{}') RETURNS text
	LANGUAGE plpgsql AS $$
DECLARE
	code text;
	said text;
	more text;
	place text;
	problem text;
BEGIN
	PERFORM sf_console_api(action, request || jsonb_build_object('targets', jsonb_build_array(task::text)));
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, said = MESSAGE_TEXT, more = PG_EXCEPTION_DETAIL,
	place = COLUMN_NAME, problem = PG_DATATYPE_NAME;
	RETURN concat_ws(' ', code, regexp_replace(said, 'task \d+', 'task N'), nullif(more, ''), nullif(place, ''),
	nullif(problem, ''));
END $$;
SET ROLE desk_owner;
SELECT sf_create_worklist('desk', '{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer",
	"maximum": 3}}}'), sf_create_worklist('other') \g /dev/null
SELECT sf_grant('DO', 'human:desk', r) FROM unnest('{desk_anna,desk_bob}'::text[]) r \g /dev/null
SELECT sf_grant('ASSIGN', 'human:desk', 'desk_lead') \g /dev/null
SELECT sf_create_state_machine('m', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:desk",
	"End": true}}}') \g /dev/null
SELECT sf_start('m', input::jsonb, name), sf_run('m:' || name)
	FROM (VALUES ('1', '{"Priority": 2, "Data": {"text": "hello"}}'),
	('2', '{"Priority": 1, "Due": "2025-02-05T02:00:00Z"}'),
	('3', '{"Roles": ["desk_bob"]}'), ('4', '{"NotBy": ["starter"], "Priority": -1}')) s (name, input) \g /dev/null
SELECT sf_grant('READ', 'm', 'desk_anna') \g /dev/null
RESET ROLE;
SELECT max(task) FILTER (WHERE execution_id = 'm:1') AS one, max(task) FILTER (WHERE execution_id = 'm:2') AS two,
	max(task) FILTER (WHERE execution_id = 'm:3') AS three,
	max(task) FILTER (WHERE execution_id = 'm:4') AS four FROM sf_human_tasks \gset

-- The list.
SET ROLE desk_anna;
SELECT is((SELECT string_agg(r ->> 'execution_id', ' ') FROM jsonb_array_elements(pg_temp.api('inbox') -> 'rows') r),
	'm:1 m:2 m:4', 'the inbox of a role with DO, in the order of pages');
SELECT is(pg_temp.api('inbox') -> 'counts', '[{"mine": 0, "open": 3, "tasks": 3, "overdue": 1, "worklist": "desk"}]',
	'... counted');
SELECT is(pg_temp.api('inbox') -> 'readable', '["m:1", "m:2", "m:4"]', '... and which executions it may read');
SELECT is(pg_temp.api('inbox', '{"which": "overdue"}') #>> '{rows,0,execution_id}', 'm:2', 'what is overdue');
SELECT is(pg_temp.api('inbox', '{"limit": 2}') -> 'next' IS NOT NULL AND pg_temp.api('inbox', '{"limit": 3}') -> 'next'
	= 'null', true, 'a page says whether there is another one');
SELECT is((SELECT string_agg(r ->> 'execution_id', ' ')
		FROM jsonb_array_elements(pg_temp.api('inbox',
			jsonb_build_object('after', pg_temp.api('inbox', '{"limit": 2}') ->> 'next')) -> 'rows') r), 'm:4',
	'... which goes on');
SET ROLE desk_bob;
SELECT is(pg_temp.api('inbox') -> 'readable', '[]', 'a role without READ is told of no execution that it might read');
SET ROLE desk_stranger;
SELECT is(pg_temp.api('inbox'), '{"held": [], "next": null, "rows": [], "counts": [], "readable": []}',
	'a role without a right has an empty inbox');
SELECT is(pg_temp.api('task', jsonb_build_object('task', :one)), 'null', '... and knows no task');
SELECT is(pg_temp.on_task('claim_task', :one), 'SF063 task N does not exist, or is over', '... nor claims one');

-- One task.
SET ROLE desk_anna;
SELECT is(pg_temp.api('task', jsonb_build_object('task', :one)) - 'task', '{"held": [], "rights": {"may_do": true,
	"may_assign": false}, "may_read": true}', 'what a role may do with a task');
SELECT is(pg_temp.api('task', jsonb_build_object('task', :one)) #> '{task,data}',
	'{"cut": false, "text": "{\"text\": \"hello\"}", "bytes": 17}', '... its data');
SELECT is(pg_temp.api('payload', jsonb_build_object('what', 'task', 'task', :one, 'offset', 2)) ->> 'text',
	'text": "hello"}', '... or a piece of it');
SELECT is(pg_temp.api('task', jsonb_build_object('task', :one)) #>> '{task,form,required,0}', 'a', '... and its form');
SELECT is(pg_temp.api('task', jsonb_build_object('task', :three)), 'null', 'one for other roles is not shown');
SELECT is(pg_temp.api('task', '{"task": "0"}'), 'null', '... nor one that does not exist');
SET ROLE desk_owner;
SELECT is(pg_temp.api('task', jsonb_build_object('task', :three)) #>> '{rights,why}',
	format('task %s is not for "desk_owner". It is for the roles that sf_human_tasks shows.', :three),
	'the owner is told why it may not do one');
SELECT is(pg_temp.api('task', jsonb_build_object('task', :four)) #>> '{rights,why}',
	format('task %s must not be done by "desk_owner". That person has started the execution, and NotBy of state "A" '
		'names the starter.', :four), '... or another one');
SET ROLE desk_lead;
SELECT is(pg_temp.api('task', jsonb_build_object('task', :three)) -> 'rights',
	'{"why": "permission denied for worklist \"desk\". Role \"desk_lead\" needs the right DO, and to act for somebody '
	'else the right ACT.", "may_do": false, "may_assign": true}',
	'a role that assigns tasks');

-- Actions.
SET ROLE desk_anna;
SELECT is(pg_temp.on_task('claim_task', :one), 'done', 'a task is claimed');
SELECT is(pg_temp.api('inbox', '{"which": "mine"}') #>> '{rows,0,claimed_by}', 'desk_anna',
	'... and is in what is mine');
SET ROLE desk_bob;
SELECT is(pg_temp.on_task('complete_task', :one, '{"output": "{\"a\": 1}"}'), 'SF062 task N is claimed by "desk_anna"',
	'another role does not complete it');
SET ROLE desk_lead;
SELECT is(pg_temp.on_task('assign_task', :one, '{"role": "desk_bob"}'), 'done', '... but is given it');
SET ROLE desk_bob;
SELECT is(pg_temp.on_task('complete_task', :one, '{"output": "{\"a\": 4}"}'),
	'SF061 the output does not fit the form of worklist "desk": "/a" is greater than 3 At "/a". /a is greater than 3',
	'what does not fit is refused, with its place and what is wrong there in fields of their own');
SELECT is(pg_temp.on_task('release_task', :one), 'done', 'it is given back');
SELECT is(pg_temp.on_task('complete_task', :one, '{"output": "{\"a\": 3}", "comment": "fine"}'), 'done',
	'and completed');
SELECT is(pg_temp.on_task('fail_task', :two, '{"error": "", "cause": "no"}'), 'done', 'another one fails');
RESET ROLE;
SELECT is((SELECT string_agg(concat_ws(' ', action, done_by, comment), ', ' ORDER BY at) FROM sf_human_task_events
		WHERE task IN (:one, :two) AND action IN ('COMPLETED', 'FAILED')),
	'COMPLETED desk_bob fine, FAILED desk_bob no', 'it is noted who did what, and why');
SELECT is(sf_console_actions() @> '{claim_task,release_task,complete_task,fail_task,assign_task}', true,
	'these actions write');

-- A worklist that is held.
SET ROLE desk_owner;
SELECT sf_hold('human:desk', reason => 'stocktaking') \g /dev/null
SELECT is((pg_temp.api('inbox') #> '{held,0}') - 'since', '{"state": null, "reason": "stocktaking",
	"target": "human:desk", "held_by": "desk_owner", "waiting": 2, "may_release": true}',
	'a held worklist, which its owner may release');
SET ROLE desk_anna;
SELECT is(pg_temp.api('inbox') #>> '{held,0,may_release}', 'false', '... and others may not');
SELECT is(jsonb_array_length(pg_temp.api('task', jsonb_build_object('task', :four)) -> 'held'), 1,
	'a task says that its worklist is held');
SET ROLE desk_bob;
SELECT is(pg_temp.on_task('claim_task', :three),
	format('SF065 worklist "desk" is held Task %s is not given out until sf_release(''human:desk'').', :three),
	'... and is not given out');
SET ROLE desk_owner;
SELECT is(sf_console_api('release', '{"targets": ["human:desk"]}') #>> '{rows,0,result}', '0', 'it is released');
SELECT * FROM finish();
ROLLBACK;
