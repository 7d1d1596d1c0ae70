-- Changes that put what runs under other limits and holds without a step of its own: of the owner of a machine, of the
-- mapping of a resource (of roles: t/limit/255_limits_of_roles.pl). What runs has slots of the limits that apply
-- now and of no others, and what waits waits for nothing else.
BEGIN;
SELECT plan(25);

CREATE ROLE one;
CREATE ROLE two;
SELECT sf_grant('CREATE', '*', r) FROM unnest('{one,two}'::text[]) AS r \g /dev/null
-- The tests ask for what each change has settled itself, as if the limits had been counted.
CREATE FUNCTION pg_temp.problems(OUT text) LANGUAGE sql SECURITY DEFINER AS $$
	UPDATE _sfflow.run_limit SET counted = true;
	SELECT string_agg(DISTINCT concat_ws(' ', problem, execution_id), ', ') FROM sf_check() $$;
CREATE FUNCTION pg_temp.shown(OUT text) LANGUAGE sql AS $$
	SELECT string_agg(concat_ws('|', coalesce(l.for_owner::text || ' ', '') || l.kind || ' ' || l.name, l.max_running,
		(SELECT count(*) FROM _sfflow.limit_slot s WHERE s.limit_no = l.limit_no),
		(SELECT count(*) FROM _sfflow.parked_branch h WHERE h.feature = 'limit' AND h.object_no = l.limit_no)),
		', ' ORDER BY l.kind, l.name, l.for_owner::text) FROM _sfflow.run_limit l $$;
CREATE FUNCTION pg_temp.run(names text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(sf_run('owned:' || n), ' ') FROM unnest(string_to_array(names, ' ')) AS n $$;

SELECT sf_create_activity(n) FROM unnest('{red,blue}'::text[]) AS n \g /dev/null
SELECT sf_grant('WORK', 'activity:' || n, 'public') FROM unnest('{red,blue}'::text[]) AS n \g /dev/null
SET ROLE one;
SELECT sf_map_resource('arn:aws:states:::job:run', 'activity:red') \g /dev/null
SELECT sf_create_state_machine('owned', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "arn:aws:states:::job:run", "End": true}}}') \g /dev/null
SELECT sf_set_limit('arn:aws:states:::job:run', max_running => 2) \g /dev/null
SET ROLE two;
SELECT sf_map_resource('arn:aws:states:::job:run', 'activity:red') \g /dev/null
SELECT sf_set_limit('arn:aws:states:::job:run', max_running => 1) \g /dev/null
RESET ROLE;
SELECT sf_set_limit('activity:red', max_running => 10) \g /dev/null
SELECT sf_start('owned', '{}', n) FROM unnest('{a,b,c,d}'::text[]) AS n \g /dev/null
SELECT pg_temp.run('a b c d') \g /dev/null
SELECT is(pg_temp.shown(), 'activity red|10|2|0, one resource arn:aws:states:::job:run|2|2|2, two resource '
	'arn:aws:states:::job:run|1|0|0', 'two run, two wait');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');

-- Another owner: the limit of the first one is not for his machines.
UPDATE _sfflow.run_limit SET set_at = set_at - interval '1 h', uncounted_at = uncounted_at - interval '1 h' \g /dev/null
SELECT sf_alter_owner('owned', 'two') \g /dev/null
SELECT is((SELECT string_agg(name, ' ') FROM _sfflow.run_limit WHERE counted OR uncounted_at < now()), NULL,
	'limits that were set long ago are uncounted since now');
SELECT is(pg_temp.shown(), 'activity red|10|2|0, one resource arn:aws:states:::job:run|2|0|0, two resource '
	'arn:aws:states:::job:run|1|2|0',
	'what runs has slots of the limit of the new owner, also above it, and what waited is due');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');
SELECT pg_temp.run('c d') \g /dev/null
SELECT is(pg_temp.shown(), 'activity red|10|2|0, one resource arn:aws:states:::job:run|2|0|0, two resource '
	'arn:aws:states:::job:run|1|2|2', '... and waits for that limit');
SELECT sf_stop('owned:a') \g /dev/null
SELECT pg_temp.run('c d') \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.limit_slot s JOIN _sfflow.run_limit l USING (limit_no)
		WHERE l.for_owner = 'two'::regrole), 1::bigint, '... as long as it is not kept');
SELECT sf_set_limit('activity:red', max_running => 9) \g /dev/null
SELECT sf_start('owned', '{}', 'a2'), pg_temp.run('a2') \g /dev/null

-- And back.
SELECT sf_alter_owner('owned', 'one'), pg_temp.run('c d a2') \g /dev/null
SELECT is(pg_temp.shown(),
	'activity red|9|2|0, one resource arn:aws:states:::job:run|2|2|2, two resource arn:aws:states:::job:run|1|0|0',
	'back again');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');

-- Another mapping: what it runs belongs to another activity.
SELECT sf_set_limit('activity:blue', max_running => 1) \g /dev/null
SET ROLE one;
SELECT sf_map_resource('arn:aws:states:::job:run', 'activity:blue') \g /dev/null
RESET ROLE;
SELECT is(pg_temp.shown(), 'activity blue|1|2|0, activity red|9|0|0, one resource arn:aws:states:::job:run|2|2|2, two '
	'resource arn:aws:states:::job:run|1|0|0',
	'a mapping moves what runs from the limit of one activity to that of another one');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');
-- the limit of the resource goes; the rest waits for that of the activity
SET ROLE one;
SELECT sf_drop_limit('arn:aws:states:::job:run') \g /dev/null
RESET ROLE;
SELECT pg_temp.run('c d a2') \g /dev/null
SELECT is(pg_temp.shown(), 'activity blue|1|2|2, activity red|9|0|0, two resource arn:aws:states:::job:run|1|0|0',
	'two wait for the limit of the activity');
SET ROLE one;
SELECT sf_map_resource('arn:aws:states:::job:run', 'activity:red') \g /dev/null
RESET ROLE;
SELECT is(pg_temp.shown(), 'activity blue|1|0|0, activity red|9|2|0, two resource arn:aws:states:::job:run|1|0|0',
	'... and are due when another one is mapped');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');
SELECT pg_temp.run('c d a2') \g /dev/null
SELECT is(pg_temp.shown(), 'activity blue|1|0|0, activity red|9|4|0, two resource arn:aws:states:::job:run|1|0|0',
	'... and run');
-- without a mapping; what has begun goes on
SET ROLE one;
SELECT sf_unmap_resource('arn:aws:states:::job:run') \g /dev/null
RESET ROLE;
SELECT is(pg_temp.shown(), 'activity blue|1|0|0, activity red|9|0|0, two resource arn:aws:states:::job:run|1|0|0',
	'what is mapped to nothing has no slots');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');
-- of a superuser, for all
SELECT sf_map_resource('arn:aws:states:::job:run', 'activity:blue') \g /dev/null
SELECT is(pg_temp.shown(), 'activity blue|1|4|0, activity red|9|0|0, two resource arn:aws:states:::job:run|1|0|0',
	'a superuser maps for all');
SELECT sf_unmap_resource('arn:aws:states:::job:run') \g /dev/null
SELECT is(pg_temp.shown(), 'activity blue|1|0|0, activity red|9|0|0, two resource arn:aws:states:::job:run|1|0|0',
	'... and no more');
SET ROLE one;
SELECT sf_map_resource('arn:aws:states:::job:run', 'activity:red') \g /dev/null
RESET ROLE;

-- A machine that is not touched is not counted anew.
SELECT pg_temp.problems() \g /dev/null
SET ROLE two;
SELECT sf_map_resource('arn:aws:states:::other', 'activity:blue') \g /dev/null
SELECT sf_create_state_machine('other', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "arn:aws:states:::other", "End": true}}}'), sf_start('other', '{}', 'x') \g /dev/null
RESET ROLE;
SELECT sf_run('other:x') \g /dev/null
SET ROLE two;
SELECT sf_map_resource('arn:aws:states:::third', 'activity:red'), sf_unmap_resource('arn:aws:states:::third')
	\g /dev/null
RESET ROLE;
SELECT is((SELECT string_agg(name, ' ') FROM _sfflow.run_limit WHERE NOT counted), 'blue',
	'a change has only limits counted that apply to what its role runs');

SELECT sf_stop('owned:' || n) FROM unnest('{a2,b,c}'::text[]) AS n \g /dev/null
-- All that a role owns, with its limits, goes to another one.
SET ROLE one;
SELECT sf_set_limit('arn:aws:states:::job:run', max_running => 1) \g /dev/null
RESET ROLE;
SELECT sf_start('owned', '{}', 'e'), sf_run('owned:e') \g /dev/null
SET ROLE two;
SELECT sf_drop_limit('arn:aws:states:::job:run') \g /dev/null
RESET ROLE;
SELECT is(pg_temp.shown(), 'activity blue|1|1|0, activity red|9|1|0, one resource arn:aws:states:::job:run|1|1|1',
	'one runs under the limit of a role, and one waits');
UPDATE _sfflow.run_limit SET uncounted_at = '-infinity' \g /dev/null
SELECT sf_reassign_owned('one', 'two') \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.run_limit WHERE for_owner = 'two'::regrole AND uncounted_at > now()), 1::bigint,
	'... as are those that are passed on');
SELECT is(pg_temp.shown(), 'activity blue|1|1|0, activity red|9|1|0, two resource arn:aws:states:::job:run|1|1|1',
	'... and under that of another one to which it goes');
SELECT is(pg_temp.problems(), NULL, 'the tables hold together');
-- Places of what is dropped with its machine.
SELECT sf_drop_state_machine('owned', force => true) \g /dev/null
SELECT is(pg_temp.shown(), 'activity blue|1|1|0, activity red|9|0|0, two resource arn:aws:states:::job:run|1|0|0',
	'a machine that is dropped leaves no slots in use');
SELECT * FROM finish();
ROLLBACK;
