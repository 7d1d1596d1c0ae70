-- Pages of tasks of people, and counts of them: in which order, for whom, from where on; they agree with the view.
-- needs: human
BEGIN;
SELECT plan(40);

CREATE ROLE list_clerk; CREATE ROLE list_anna; CREATE ROLE list_bob; CREATE ROLE list_lead; CREATE ROLE list_app; CREATE
	ROLE list_stranger;
GRANT list_clerk TO list_anna;
SELECT sf_create_worklist(w), sf_grant('DO', 'human:' || w, 'list_clerk'), sf_grant('DO', 'human:' || w, 'list_anna'),
	sf_grant('ASSIGN', 'human:' || w, 'list_lead')
FROM unnest('{first,second}'::text[]) w \g /dev/null
SELECT sf_grant('DO', 'human:second', 'list_bob'), sf_grant('DO', 'human:first', 'list_app'),
	sf_grant('ACT', 'human:first', 'list_app') \g /dev/null
SELECT sf_create_state_machine(w, format('{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:%s",
		"End": true}}}', w)::json)
FROM unnest('{first,second}'::text[]) w \g /dev/null
CREATE FUNCTION pg_temp.make(worklist text, name text, parameters text DEFAULT '{}') RETURNS void LANGUAGE sql AS $$
	SELECT sf_start(worklist, parameters::jsonb, name), sf_run(worklist || ':' || name) $$;
CREATE FUNCTION pg_temp.page(worklist text DEFAULT NULL, which text DEFAULT NULL, size integer DEFAULT NULL,
	key text DEFAULT NULL, actor text DEFAULT NULL) RETURNS text
LANGUAGE sql AS $$
	SELECT string_agg(split_part(l.execution_id, ':', 2), ' ' ORDER BY l.n) FROM sf_list_human_tasks(worklist, which,
		size, key, actor)
		WITH ORDINALITY l (task, worklist, execution_id, state, title, priority, created_at, due_at, claimed_by,
			claimed_at, roles, not_by, page_key, n) $$;
CREATE FUNCTION pg_temp.counts(actor text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', c.worklist, c.tasks, c.mine, c.open, c.overdue), ', ' ORDER BY c.worklist)
	FROM sf_count_human_tasks(actor) c $$;
-- The claims, likewise
CREATE FUNCTION pg_temp.claim(name text, actor text DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
	SELECT sf_claim_task(t.task, actor) FROM sf_human_tasks t WHERE split_part(t.execution_id, ':', 2) = name $$;

SELECT is(pg_temp.page(), NULL, 'where nothing waits a page is empty');
SELECT is(pg_temp.counts(), 'first 0 0 0 0, second 0 0 0 0', '... and counts are 0');
SELECT pg_temp.make('first', 'plain'), pg_temp.make('second', 'late', '{"Due": "2025-02-05T02:00:00Z"}'),
	pg_temp.make('first', 'due', '{"Due": 3600}'),
	pg_temp.make('second', 'urgent', '{"Priority": 5}'), pg_temp.make('first', 'low', '{"Priority": -5, "Due": 1800}'),
	pg_temp.make('second', 'clerks', '{"Roles": ["list_clerk"], "Due": 7200}'),
	pg_temp.make('second', 'bobs', '{"Roles": ["list_bob"], "Due": 7300}'),
	pg_temp.make('first', 'later', '{"Roles": ["list_bob"], "Escalate": [{"After": 0, "Roles": ["list_clerk"]},
		{"After": 3600, "Roles": ["list_app"]}]}') \g /dev/null

-- Order, and pages.
SELECT is(pg_temp.page(), 'urgent late due clerks bobs plain later low',
	'the greater priority first, then what is due, of all worklists');
SELECT is((SELECT string_agg(t.task::text, ' ' ORDER BY t.priority DESC, t.due_at, t.task) FROM sf_human_tasks t),
	(SELECT string_agg(l.task::text, ' ') FROM sf_list_human_tasks() l), '... as the view in this order');
SELECT results_eq('SELECT l.task, l.worklist, l.execution_id, l.state, l.title, l.priority, l.created_at, l.due_at, '
	'l.claimed_by, l.claimed_at, l.roles, l.not_by FROM sf_list_human_tasks() l ORDER BY l.task',
	'SELECT t.task, t.worklist COLLATE "default", t.execution_id COLLATE "default", t.state, t.title, t.priority, '
	't.created_at, t.due_at, t.claimed_by, t.claimed_at, t.roles, t.not_by FROM sf_human_tasks t ORDER BY t.task',
	'... and with its columns');
SELECT is((WITH RECURSIVE p AS (
	SELECT l.task, l.page_key, 1 AS n FROM sf_list_human_tasks(page_size => 1) l
	UNION ALL SELECT l.task, l.page_key, p.n + 1 FROM p CROSS JOIN LATERAL sf_list_human_tasks(page_size => 1,
		after_key => p.page_key) l)
	SELECT string_agg(p.task::text, ' ' ORDER BY p.n) FROM p), (SELECT string_agg(l.task::text, ' ')
	FROM sf_list_human_tasks() l), 'pages of one have each task once');
SELECT is(pg_temp.page(size => 3), 'urgent late due', 'a page has as many as it is to have');
SELECT is(pg_temp.page(key => (SELECT l.page_key FROM sf_list_human_tasks(page_size => 3) l OFFSET 2)),
	'clerks bobs plain later low', '... and the next one goes on');
SELECT is(pg_temp.page('first'), 'due plain later low', 'of one worklist');
SELECT is(pg_temp.page('human:first', 'overdue'), NULL, '... overdue');
SELECT is(pg_temp.page(NULL, 'overdue'), 'late', 'of all');

-- For whom.
SET ROLE list_anna;
SELECT is(pg_temp.page(), 'urgent late due clerks plain later low',
	'with DO alone, what is for its roles, also by Escalate');
SELECT is(pg_temp.counts(), 'first 4 0 4 0, second 3 0 3 1', '... counted');
SELECT pg_temp.claim('due'), pg_temp.claim('clerks') \g /dev/null
SELECT is(pg_temp.page(NULL, 'mine'), 'due clerks', 'what it has claimed');
SELECT is(pg_temp.page('second', 'mine'), 'clerks', '... in one worklist');
SELECT is(pg_temp.page(NULL, 'mine', 1,
		(SELECT l.page_key FROM sf_list_human_tasks(which => 'mine', page_size => 1) l)), 'clerks', '... in pages');
SELECT is(pg_temp.page(NULL, 'open'), 'urgent late plain later low', 'what it may claim');
SELECT is(pg_temp.counts(), 'first 4 1 3 0, second 3 1 2 1', '... counted');
SET ROLE list_bob;
SELECT is(pg_temp.page(), 'urgent late bobs', 'another one sees its own, in its worklists');
SELECT is(pg_temp.page(NULL, 'mine'), NULL, '... and has claimed nothing');
SELECT is(pg_temp.counts(), 'second 3 0 3 1', '... counted');
SELECT throws_ok($$ SELECT * FROM sf_list_human_tasks('first') $$, 'SF064', 'worklist "first" does not exist',
	'a worklist without a right does not exist');
SET ROLE list_lead;
SELECT is(pg_temp.page(), 'urgent late due clerks bobs plain later low', 'ASSIGN shows all');
SELECT is(pg_temp.page(NULL, 'open'), NULL, '... but gives nothing to do');
SELECT is(pg_temp.counts(), 'first 4 0 0 0, second 4 0 0 1', '... counted');
SET ROLE list_stranger;
SELECT is(pg_temp.page(), NULL, 'without a right there is nothing');
SELECT is(pg_temp.counts(), NULL, '... to count');
SET ROLE list_app;
SELECT is(pg_temp.page(), 'due plain later low', 'ACT shows all');
SELECT is(pg_temp.page(NULL, 'open', actor => 'list_anna'), 'plain later low',
	'... and what a person may claim for whom it acts');
SELECT is(pg_temp.page(NULL, 'open', actor => 'nobody'), 'plain low', '... or one who is no role');
SELECT pg_temp.claim('plain', 'nobody') \g /dev/null
SELECT is(pg_temp.page(NULL, 'mine', actor => 'nobody'), 'plain', '... and has claimed');
SELECT is(pg_temp.counts('nobody'), 'first 3 1 1 0', '... counted');
RESET ROLE;

-- Changes.
SELECT sf_change_task(t.task, roles => CASE WHEN t.roles = '{}' THEN '{list_bob}' ELSE '{}' END::text[],
	due => 'infinity') FROM sf_human_tasks t WHERE t.claimed_by IS NULL \g /dev/null
SET ROLE list_bob;
SELECT is(pg_temp.page(), 'urgent late bobs', 'a task gets other roles, or none');
RESET ROLE;
SELECT is(pg_temp.page(which => 'overdue'), NULL, '... and no time');

-- What a page reads of 300 tasks.
SELECT pg_temp.make('first', 'n' || i, CASE WHEN i % 100 = 0 THEN '{"Roles": ["list_bob"]}' ELSE '{}' END)
	FROM generate_series(1, 300) i \g /dev/null
CREATE FUNCTION pg_temp.have_read() RETURNS numeric LANGUAGE sql AS $$
	SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE schemaname = '_sfflow'
	AND relname = 'human_task' $$;
CREATE FUNCTION pg_temp.reads(which text, size integer, key text DEFAULT NULL) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	before numeric := pg_temp.have_read();
BEGIN
	PERFORM pg_temp.page('first', which, size, key);
	RETURN pg_temp.have_read() - before;
END $$;
SELECT cmp_ok(pg_temp.reads(NULL, 10), '<=', 40::numeric, 'a page reads what it has, and not all that waits');
SELECT cmp_ok(pg_temp.reads(NULL, 10,
		(SELECT l.page_key FROM sf_list_human_tasks('first', page_size => 250) l OFFSET 249)), '<=', 40::numeric,
	'... wherever it begins');
SET ROLE list_anna;
SELECT cmp_ok(pg_temp.reads('open', 10), '<=', 40::numeric, '... for some roles');
SELECT cmp_ok(pg_temp.reads('mine', 10), '<=', 10::numeric, '... and of what one has claimed');
RESET ROLE;

SELECT throws_ok($$ SELECT * FROM sf_list_human_tasks(which => 'ours') $$, 'SF012',
	'argument which must not be "ours"', 'other words are refused');
SELECT throws_ok($$ SELECT * FROM sf_list_human_tasks(after_key => '1.2') $$, 'SF012',
	'argument after_key must not be "1.2"', '... and other keys');
SELECT * FROM finish();
ROLLBACK;
