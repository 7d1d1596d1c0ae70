-- Tasks of people as agents see them (sf_mcp_as, tool waiting_for_people): with the rights of the role, in bounded
-- pages.
-- needs: human mcp
BEGIN;
SELECT plan(10);

CREATE ROLE agent_anna LOGIN; CREATE ROLE agent_bob LOGIN; CREATE ROLE agent_stranger LOGIN;
CREATE FUNCTION pg_temp.asked(role name, arguments jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
	SELECT sf_mcp_as(role, 'tools/call', jsonb_build_object('name', 'waiting_for_people', 'arguments', arguments)) ->
	'structuredContent' $$;
CREATE FUNCTION pg_temp.titles(answer jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(t.task ->> 'title', ' ' ORDER BY t.n)
	FROM jsonb_array_elements(answer -> 'tasks') WITH ORDINALITY t(task, n) $$;
SELECT sf_create_worklist('desk'), sf_create_worklist('other') \g /dev/null
SELECT sf_grant('DO', 'human:desk', r) FROM unnest('{agent_anna,agent_bob}'::text[]) r \g /dev/null
SELECT sf_create_state_machine(w, format('{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:%s",
		"End": true}}}', w)::json)
FROM unnest('{desk,other}'::text[]) w \g /dev/null
SELECT sf_start(m, input::jsonb, name), sf_run(m || ':' || name) FROM (VALUES
	('desk', '1', '{"Title": "first", "Priority": 2, "Data": {"text": "hello"}}'),
	('desk', '2', '{"Title": "second", "Due": "2025-02-05T02:00:00Z"}'),
	('desk', '3', '{"Title": "third", "Roles": ["agent_bob"], "NotBy": ["starter"]}'),
	('other', '4', '{"Title": "fourth"}')) s (m, name, input) \g /dev/null

SELECT is(pg_temp.titles(pg_temp.asked('agent_anna')), 'first second', 'what is for a role, the most urgent first');
SELECT is(pg_temp.titles(pg_temp.asked('agent_bob')), 'first second third', '... and for one that tasks name');
SELECT is(pg_temp.asked('agent_stranger') - 'cut', '{"counts": [], "tasks": [], "held": []}',
	'a role without rights sees nothing');
SELECT is(pg_temp.asked('agent_bob') #>> '{tasks,2,roles,0}', 'agent_bob', 'for which roles a task is');
SELECT is(pg_temp.asked('agent_bob') #>> '{tasks,2,not_by,0}', 'starter', '... and who must not do it');
SELECT is(pg_temp.asked('agent_anna') #>> '{tasks,0,data}', '{"text": "hello"}', 'what people are shown');
SELECT is(pg_temp.titles(pg_temp.asked('agent_anna', '{"which": "overdue"}')), 'second', 'what is overdue');
SELECT is(pg_temp.asked('agent_anna') #>> '{counts,0,open}', '2', 'how many the role may claim');
SELECT is(pg_temp.titles(pg_temp.asked('agent_anna', jsonb_build_object('limit', 1, 'page_key',
			pg_temp.asked('agent_anna', '{"limit": 1}') -> 'next_page_key'))),
	'second', 'pages');
SELECT throws_ok($$ SELECT pg_temp.asked('agent_anna', '{"which": "none"}') $$, 'SF012', NULL,
	'another value of "which"');

SELECT * FROM finish();
ROLLBACK;
