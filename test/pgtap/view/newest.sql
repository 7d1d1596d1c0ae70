-- Plain SQL over sf_executions with ORDER BY requested_at DESC LIMIT n: the same rows as ever, and few of them read.
-- needs: hold
BEGIN;
SELECT plan(57);

CREATE ROLE newest_reader;
SELECT sf_create_state_machine(n, '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1000, "Next": "P"},
	"P": {"Type": "Pass", "End": true}}}')
FROM unnest('{newest_a, newest_b, newest_c}'::text[]) AS n \g /dev/null
SELECT sf_grant('READ', n, 'newest_reader') FROM unnest('{newest_b, newest_c}'::text[]) AS n \g /dev/null
INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, requested_at, started_at, stopped_at,
	execution_id, input, error)
SELECT nextval('_sfflow.execution_no'), m.machine_no, 1, x.status, now() - interval '1 s' * (i * 7919 % 20000), now(),
now(), m.name || ':' || i, '{}',
	CASE WHEN x.status > 1 THEN 'E' END
FROM generate_series(1, 20000) AS i
CROSS JOIN LATERAL (SELECT CASE WHEN i % 50 = 0 THEN 2 WHEN i % 501 = 0 THEN 3 WHEN i % 1001 = 0 THEN 4
	ELSE 1 END AS status) AS x
JOIN _sfflow.state_machine AS m ON m.name = 'newest_' || CASE WHEN i % 100 = 7 THEN 'c' WHEN i % 3 = 0 THEN 'b'
ELSE 'a' END;
INSERT INTO _sfflow.open_execution SELECT machine_no, status, requested_at, execution_no, error
FROM _sfflow.execution WHERE status > 1;
SELECT sf_enable() \g /dev/null
SELECT sf_start('newest_' || m, name => 'run' || i) FROM unnest('{a, b}'::text[]) AS m, generate_series(1, 5) AS i
	\g /dev/null
SELECT sf_run('newest_a:run1'), sf_run('newest_b:run2'), sf_hold('newest_a:run3') \g /dev/null
ANALYZE _sfflow.execution; ANALYZE _sfflow.open_execution; ANALYZE _sfflow.branch;

-- What a condition gives, by a page, and where the planner cannot know of the page.
CREATE FUNCTION pg_temp.page(source text, condition text, rest text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	answer text[];
BEGIN
	EXECUTE format('SELECT array_agg(x.execution_id || x.status || x.requested_at) FROM (SELECT * FROM %s %s ORDER BY '
		'requested_at DESC %s) x',
		source, condition, rest) INTO answer;
	RETURN answer;
END $$;
CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_all_tables
	WHERE schemaname = '_sfflow' AND relname = 'execution' $$;
CREATE TABLE pg_temp.conditions (condition text, rest text, is_page boolean);
INSERT INTO pg_temp.conditions VALUES
	('', 'LIMIT 50', true),
	('', 'LIMIT 10 OFFSET 30', true),
	('WHERE state_machine = ''newest_b''', 'LIMIT 50', true),
	('WHERE ''newest_c''::varchar = state_machine', 'LIMIT 50', true),
	('WHERE state_machine = ''newest_no''', 'LIMIT 50', true),
	('WHERE status = ''FAILED''', 'LIMIT 50', true),
	('WHERE status = ''RUNNING''', 'LIMIT 50', true),
	('WHERE status = ''ABORTED'' AND state_machine = ''newest_b''', 'LIMIT 50', true),
	('WHERE status = ''succeeded''', 'LIMIT 50', true),
	('WHERE status = ''SUCCEEDED'' AND requested_at < now() - interval ''1 hour''', 'LIMIT 50', true),
	('WHERE requested_at >= now() - interval ''20 s'' AND requested_at < now()', 'FETCH FIRST 50 ROWS ONLY', true),
	('WHERE requested_at > now() - interval ''20 s'' AND requested_at <= now() - interval ''5 s''', 'LIMIT 50', true),
	('WHERE now() - interval ''2 hours'' >= requested_at AND state_machine = ''newest_a''', 'LIMIT 50', true),
	('WHERE requested_at < ''infinity''', 'LIMIT 5', true),
	('WHERE requested_at < NULL', 'LIMIT 5', false),
	('WHERE status = ''FAILED'' AND error = ''E''', 'LIMIT 50', false),
	('WHERE status IN (''FAILED'', ''ABORTED'')', 'LIMIT 50', false),
	('WHERE status = ''FAILED'' OR state_machine = ''newest_b''', 'LIMIT 50', false),
	('WHERE name LIKE ''%1''', 'LIMIT 50', false),
	('WHERE state_machine = ''newest_b'' AND state_machine = ''newest_a''', 'LIMIT 50', false),
	('WHERE state_machine = split_part(execution_id, '':'', 1)', 'LIMIT 50', false),
	('WHERE requested_at >= now() - interval ''1 h'' AND requested_at >= now() - interval ''1 min''', 'LIMIT 50',
		false),
	('WHERE EXISTS (SELECT FROM pg_class)', 'LIMIT 50', false),
	('', 'LIMIT 20001', false);

SELECT is(pg_temp.page('sf_executions', condition, rest), pg_temp.page('(SELECT * FROM sf_executions OFFSET 0) e',
		condition, rest), 'same: ' || condition || ' ' || rest)
FROM pg_temp.conditions;
GRANT SELECT ON pg_temp.conditions TO newest_reader;
SET LOCAL ROLE newest_reader;
SELECT bool_and(pg_temp.page('sf_executions', condition, rest) IS NOT DISTINCT
	FROM pg_temp.page('(SELECT * FROM sf_executions OFFSET 0) e', condition, rest)) AS same,
	bool_and((SELECT coalesce(bool_and(e NOT LIKE 'newest_a%'), true)
			FROM unnest(pg_temp.page('sf_executions', condition, rest)) AS e)) AS readable
FROM pg_temp.conditions \gset
SELECT ok(:'same', 'for a role that may read some machines, too');
SELECT ok(:'readable', '... which sees none of another');
RESET ROLE;

-- Members of the extension's owner see all, as in the view.
CREATE ROLE newest_administrator; CREATE ROLE newest_owner;
SELECT sf_alter_owner('newest_a', 'newest_owner') \g /dev/null
SELECT format('GRANT %I TO newest_administrator', current_user) \gexec
SET LOCAL ROLE newest_administrator;
SELECT pg_temp.page('sf_executions', '', 'LIMIT 50') = pg_temp.page('(SELECT * FROM sf_executions OFFSET 0) e', '',
	'LIMIT 50') AS same,
	(SELECT count(*) FROM sf_list_executions(page_size => 30)) AS listed \gset
SELECT ok(:'same', 'for a member of the extension''s owner, too');
SELECT is(:listed, 30, '... in a list, too');
RESET ROLE;

-- How many rows are read. The first call of a page plans its queries.
CREATE FUNCTION pg_temp.reads(condition text, rest text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint := pg_temp.rows_read();
BEGIN
	PERFORM pg_temp.page('sf_executions', condition, rest);
	RETURN pg_temp.rows_read() - before;
END $$;
SELECT cmp_ok(pg_temp.reads(condition, rest), '<', 2000::bigint, 'few rows: ' || condition || ' ' || rest)
	FROM pg_temp.conditions WHERE is_page;
SET LOCAL ROLE newest_reader;
SELECT pg_temp.reads('', 'LIMIT 50') AS reads \gset
SELECT cmp_ok(:reads, '<', 2000, 'few rows for a role that may read some machines');
RESET ROLE;

-- Forms of queries around the view.
CREATE VIEW pg_temp.mine AS SELECT execution_id AS id, requested_at AS at, state_machine AS machine FROM sf_executions;
SELECT results_eq('SELECT id COLLATE "C" FROM pg_temp.mine WHERE machine = ''newest_b'' ORDER BY at DESC LIMIT 7',
	'SELECT execution_id FROM (SELECT * FROM sf_executions OFFSET 0) x WHERE state_machine = ''newest_b'' ORDER BY '
	'requested_at DESC LIMIT 7', 'a view over it');
SELECT is((SELECT count(*) FROM (SELECT DISTINCT state_machine, requested_at FROM sf_executions
			ORDER BY requested_at DESC LIMIT 40) x), 40::bigint, 'DISTINCT');
SELECT is((SELECT count(*) FROM (SELECT state_machine, max(requested_at) AS requested_at FROM sf_executions GROUP BY 1
			ORDER BY requested_at DESC LIMIT 3) x), 3::bigint, 'GROUP BY');
SELECT is((SELECT count(*) FROM (SELECT e.execution_id FROM sf_executions e
			JOIN sf_executions f ON f.requested_at > e.requested_at AND f.execution_id = 'newest_a:run1'
	ORDER BY e.requested_at DESC LIMIT 30) x), 30::bigint, 'a join');
SELECT is((SELECT count(*) FROM (SELECT execution_id, generate_series(1, 2) FROM sf_executions
			WHERE requested_at < now() ORDER BY requested_at DESC LIMIT 30) x), 30::bigint, 'sets in the list');
SELECT is((SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY requested_at) AS n FROM sf_executions
			ORDER BY requested_at DESC LIMIT 1) x WHERE n >= 20001), 1::bigint, 'window functions');
SELECT is((SELECT min(requested_at) FROM (SELECT requested_at FROM sf_executions ORDER BY requested_at LIMIT 5) x),
	(SELECT min(requested_at) FROM sf_executions), 'the oldest first');
SELECT is((SELECT count(*) FROM (SELECT requested_at FROM sf_executions WHERE state_machine = 'newest_c' UNION ALL
			SELECT requested_at FROM sf_executions WHERE status = 'FAILED'
	ORDER BY requested_at DESC LIMIT 500) x), 500::bigint, 'UNION ALL');
SELECT is((SELECT array_agg(x.n ORDER BY m.m) FROM unnest('{newest_b, newest_c}'::text[]) AS m(m) CROSS JOIN LATERAL (
	SELECT count(*) AS n FROM (SELECT FROM sf_executions WHERE state_machine = m.m ORDER BY requested_at DESC LIMIT 20)
	y) x), '{20,20}', 'LATERAL');
PREPARE page(text, text, integer) AS SELECT count(*) FROM (SELECT FROM sf_executions WHERE state_machine = $1
	AND status = $2 ORDER BY requested_at DESC LIMIT 25) x;
SET LOCAL plan_cache_mode = force_generic_plan;
CREATE FUNCTION pg_temp.run_page(machine text, status text) RETURNS bigint LANGUAGE plpgsql AS
	$$ DECLARE n bigint; BEGIN EXECUTE format('EXECUTE page(%L, %L, 1)', machine, status) INTO n; RETURN n; END $$;
SELECT is(ARRAY[pg_temp.run_page('newest_b', 'SUCCEEDED'), pg_temp.run_page('newest_c', 'RUNNING'),
		pg_temp.run_page(NULL, 'FAILED')], '{25,0,0}', 'a generic plan');
RESET plan_cache_mode;

-- Other queries have the plans that they had.
CREATE FUNCTION pg_temp.plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	whole text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		whole := whole || line || E'\n';
	END LOOP;
	RETURN whole;
END $$;
SELECT unalike(pg_temp.plan_of('SELECT count(*) FROM sf_executions'), '%newest%', 'no page is made to count');
SELECT unalike(pg_temp.plan_of('SELECT * FROM sf_executions WHERE execution_id = ''x'''), '%newest%',
	'... nor to look one up');
SELECT alike(pg_temp.plan_of('SELECT * FROM sf_executions ORDER BY requested_at DESC LIMIT 5'),
	'%newest(NULL::text, NULL::text%, 5)%', 'EXPLAIN shows the page');

-- Anyone may call what a page is asked by.
SELECT is(_sfflow.is_on_page(81985529216486895, array_fill(NULL::bigint, ARRAY[1000000])), false,
	'an array of nulls has no room for numbers, and is no page');

SELECT * FROM finish();
ROLLBACK;
