-- Lists of executions: sf_list_executions, the filters of sf_executions and their plans, and the rows of
-- open executions that both are found by.
BEGIN;
SELECT plan(70);
\ir ../../fixtures/status.sql

CREATE ROLE lists_reader;
SELECT fixture.machine('l' || i, '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')
	FROM generate_series(1, 12) AS i \g /dev/null

-- 20,000 executions of ten machines: the last machine has few, the newest two have not begun.
INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, requested_at, started_at, stopped_at,
	execution_id, input, error, parent_execution_no)
SELECT x.i, m.machine_no, 1, x.status, at, CASE WHEN NOT waits THEN at END, CASE WHEN x.status > 0 THEN at END,
	m.name || ':' || CASE x.i % 2 WHEN 0 THEN 'even-' ELSE 'odd-' END || x.i, '{}',
	CASE WHEN x.status IN (2, 3) THEN CASE WHEN x.i % 1000 = 0 THEN repeat('x', 3000) ELSE 'E' || x.i % 3 END END,
	CASE WHEN x.i % 100 = 7 THEN 1 END
FROM (SELECT i, i > 19998 AS waits, now() - make_interval(secs => (20000 - i) / 3) AS at,
		CASE WHEN i > 19998 OR i % 500 = 3 THEN 0 WHEN i % 50 = 0 THEN 2 WHEN i % 125 = 1 THEN 3 WHEN i % 125 = 2 THEN 4
		ELSE 1 END AS status,
		'l' || CASE WHEN i % 1000 = 0 THEN 10 ELSE 1 + i % 9 END AS machine
	FROM generate_series(1, 20000) AS i) AS x
JOIN _sfflow.state_machine AS m ON m.name = x.machine;
INSERT INTO _sfflow.open_execution
SELECT machine_no, status, requested_at, execution_no,
CASE WHEN octet_length(error) <= 2000 THEN error ELSE left(error, 500) END
FROM _sfflow.execution WHERE status <> 1 AND started_at IS NOT NULL;
INSERT INTO _sfflow.branch (execution_no, branch_no, owner, state, phase, due_at)
SELECT execution_no, 0, current_user::regrole, 0, pg_temp.phase(CASE WHEN status <> 0 THEN 'FAILED'
		WHEN started_at IS NULL THEN 'ENTER' ELSE 'EXTERNAL' END),
	CASE WHEN started_at IS NULL AND status = 0 THEN requested_at END
FROM _sfflow.execution WHERE status <> 1;
SELECT setval('_sfflow.execution_no', 40000) \g /dev/null
-- Indexes are as large as their entries, whatever other tests have left in their pages.
REINDEX TABLE _sfflow.open_execution;
REINDEX TABLE _sfflow.execution;
ANALYZE _sfflow.execution, _sfflow.open_execution, _sfflow.branch, _sfflow.state_machine;

-- What a page must hold, from a scan of everything.
CREATE FUNCTION pg_temp.expected(machine text, wanted text, e text, prefix text, parent bigint, page integer)
RETURNS SETOF text LANGUAGE sql AS $$
	SELECT x.execution_id FROM _sfflow.execution AS x
	WHERE (machine IS NULL OR x.execution_id LIKE machine || ':%')
		AND (wanted IS NULL OR (ARRAY['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'])[x.status + 1] = wanted)
		AND (e IS NULL OR x.error = e) AND (prefix IS NULL OR split_part(x.execution_id, ':', 2) LIKE prefix || '%')
		AND (parent IS NULL OR x.parent_execution_no = parent)
	ORDER BY x.requested_at DESC, x.execution_no DESC LIMIT page
$$;
CREATE FUNCTION pg_temp.same(machine text, wanted text, e text, prefix text, parent bigint, page integer)
RETURNS text LANGUAGE sql AS $$
	SELECT results_eq(
		format('SELECT execution_id FROM sf_list_executions(%L, %L, %L, %L, parent_execution_id => %L, page_size => '
			'%s)',
			machine, wanted, e, prefix, (SELECT execution_id FROM _sfflow.execution WHERE execution_no = parent), page),
		format('SELECT pg_temp.expected(%L, %L, %L, %L, %L, %s)', machine, wanted, e, prefix, parent, page),
		concat_ws(', ', 'a page of', machine, wanted, left(e, 10), prefix, parent))
$$;

SELECT pg_temp.same(NULL, NULL, NULL, NULL, NULL, 50);
SELECT pg_temp.same('l3', NULL, NULL, NULL, NULL, 1000);
SELECT pg_temp.same('l12', NULL, NULL, NULL, NULL, 10);
SELECT pg_temp.same(m, s, NULL, NULL, NULL, 90)
FROM unnest(ARRAY['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']) AS s, unnest(ARRAY[NULL, 'l4']) AS m;
SELECT pg_temp.same(NULL, NULL, 'E1', NULL, NULL, 100);
SELECT pg_temp.same('l10', NULL, repeat('x', 3000), NULL, NULL, 100);
SELECT pg_temp.same('l5', 'TIMED_OUT', 'E1', NULL, NULL, 100);
SELECT pg_temp.same(NULL, 'SUCCEEDED', 'E1', NULL, NULL, 100);
SELECT pg_temp.same('l7', NULL, NULL, 'odd-12', NULL, 100);
SELECT pg_temp.same(NULL, NULL, NULL, 'even-1', NULL, 100);
SELECT pg_temp.same(NULL, 'FAILED', NULL, 'even-', NULL, 20);
SELECT pg_temp.same(NULL, NULL, NULL, NULL, 1, 50);
SELECT pg_temp.same('l6', 'SUCCEEDED', NULL, 'odd', 1, 50);

-- More than can be read to find a name: the machine's newest, of which enough have the prefix.
INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, requested_at, started_at, stopped_at,
	execution_id, input)
SELECT 20000 + i, machine_no, 1, 1, now() - interval '1 day', now(), now(), 'l11:many-' || i, '{}'
FROM _sfflow.state_machine, generate_series(1, 10001) AS i WHERE name = 'l11';
SELECT pg_temp.same('l11', NULL, NULL, 'many-', NULL, 30);

-- All pages one after the other: each execution once.
CREATE FUNCTION pg_temp.walk(wanted text, page integer) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	ids text[] := '{}';
	key text;
	found text[];
BEGIN
	LOOP
		SELECT array_agg(l.execution_id), (array_agg(l.page_key))[count(*)] INTO found, key
		FROM sf_list_executions(status => wanted, page_size => page, after_key => key) AS l;
		EXIT WHEN found IS NULL;
		ids := ids || found;
	END LOOP;
	RETURN ids;
END $$;
SELECT is(pg_temp.walk('FAILED', 7), ARRAY(SELECT pg_temp.expected(NULL, 'FAILED', NULL, NULL, NULL, 1000)),
	'pages of failed executions hold them all');
SELECT is(pg_temp.walk('RUNNING', 3), ARRAY(SELECT pg_temp.expected(NULL, 'RUNNING', NULL, NULL, NULL, 1000)),
	'so do pages of running executions');
SELECT results_eq(
	$$ SELECT execution_id COLLATE "C" FROM sf_list_executions('l2', requested_after => now() - interval '10 min',
		requested_before => now() - interval '5 min') $$,
	$$ SELECT execution_id FROM _sfflow.execution WHERE execution_id LIKE 'l2:%'
	AND requested_at >= now() - interval '10 min'
		AND requested_at < now() - interval '5 min' ORDER BY requested_at DESC $$, 'between two times');
SELECT results_eq($$ SELECT ROW(execution_id, state_machine, name, status, error, requested_at, started_at,
		stopped_at)::text FROM sf_list_executions('l1', 'FAILED') $$,
	$$ SELECT ROW(execution_id, state_machine, name, status, error, requested_at, started_at, stopped_at)::text
	FROM sf_executions
		WHERE state_machine = 'l1' AND status = 'FAILED' ORDER BY requested_at DESC $$,
		'a page and sf_executions agree');
SELECT results_eq('SELECT status, count(*) FROM sf_executions GROUP BY 1 ORDER BY 1',
	$$ SELECT (ARRAY['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'])[status + 1], count(*)
	FROM _sfflow.execution
		GROUP BY 1 ORDER BY 1 $$, 'sf_executions has each once');
SELECT throws_ok($$ SELECT sf_list_executions(status => 'FAILURE') $$, 'SF012',
	'argument status must not be "FAILURE"');
SELECT throws_ok($$ SELECT sf_list_executions(after_key => 'l1:1') $$, 'SF012',
	'argument after_key must not be "l1:1"');
SELECT throws_ok($$ SELECT sf_list_executions('l99') $$, 'SF003', 'state machine "l99" does not exist');

-- A page of what is rare reads only what is on it.
CREATE FUNCTION pg_temp.fetched(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint := (SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables
		WHERE relid = '_sfflow.execution'::regclass);
BEGIN
	EXECUTE query;
	RETURN (SELECT seq_tup_read + idx_tup_fetch - before FROM pg_stat_xact_user_tables
		WHERE relid = '_sfflow.execution'::regclass);
END $$;
SELECT cmp_ok(pg_temp.fetched(format('SELECT FROM sf_list_executions(%s, page_size => 20)', f)), '<=', most::bigint,
	'rows read for ' || f)
FROM (VALUES ('''l3''', 25), ('''l3'', ''FAILED''', 25), ('''l3'', ''RUNNING''', 25), ('''l3'', error => ''E2''', 25),
	('''l3'', name_prefix => ''odd-123''', 30), ('parent_execution_id => ''l2:odd-1''', 30),
	('status => ''RUNNING''', 300)) AS v (f, most);

SELECT cmp_ok(pg_temp.fetched($$ SELECT FROM sf_night(now() - interval '5 min', now() - interval '4 min') $$), '<=',
	10500::bigint,
	'a minute reads what it holds, the newest of each machine and what runs');
SELECT is((SELECT count(*) FROM sf_night(now() - interval '5 min', now() - interval '4 min') WHERE state <> 'RUNNING'),
	(SELECT count(*) FROM _sfflow.execution WHERE requested_at >= now() - interval '5 min'
		AND requested_at < now() - interval '4 min' AND status <> 0), 'its executions');

-- The filters of sf_executions.
CREATE FUNCTION pg_temp.plan_of(filter text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	lines text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT execution_id FROM sf_executions WHERE ' || filter LOOP
		lines := lines || line || E'\n';
	END LOOP;
	RETURN lines;
END $$;
CREATE TEMP TABLE filters (filter text, uses text);
INSERT INTO filters VALUES
	($$state_machine = 'l3' AND requested_at > now() - interval '1 minute'$$, 'execution_machine'),
	($$state_machine = 'l3' AND status = 'FAILED'$$, 'Index Cond: [^\n]*machine_no[^\n]*status = '),
	($$state_machine = 'l3' AND status = 'RUNNING'$$, 'Index Cond: [^\n]*machine_no[^\n]*status = '),
	($$state_machine = 'l3' AND error = 'E1'$$, 'open_execution_error'),
	($$parent_execution_id = 'l2:odd-1'$$, 'execution_child|execution_parent'),
	($$execution_id >= 'l3:odd-12' AND execution_id < 'l3:odd-13'$$, 'execution_execution_id_key');
SELECT matches(pg_temp.plan_of(filter), uses, filter || ' uses ' || uses) FROM filters;
SELECT doesnt_match(pg_temp.plan_of(filter), 'Seq Scan on execution', filter || ' does not read all executions')
	FROM filters;

-- Rights.
SELECT sf_grant('READ', 'l3', 'lists_reader') \g /dev/null
SET LOCAL ROLE lists_reader;
SELECT results_eq('SELECT DISTINCT state_machine FROM sf_list_executions()', $$ VALUES ('l3') $$,
	'a role sees the machines that it may read');
SELECT results_eq('SELECT DISTINCT state_machine FROM sf_executions', $$ VALUES ('l3' COLLATE "C") $$,
	'in sf_executions, too');
SELECT throws_ok($$ SELECT sf_list_executions('l4') $$, 'SF003', 'state machine "l4" does not exist');
RESET ROLE;

-- The rows of open executions follow the executions.
SELECT sf_create_state_machine('life', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600, "Next": "C"},
	"C": {"Type": "Choice", "Choices": [{"Variable": "$.ok", "BooleanEquals": true, "Next": "S"}], "Default": "F"},
	"S": {"Type": "Succeed"}, "F": {"Type": "Fail", "Error": "No"}}}') \g /dev/null
CREATE FUNCTION pg_temp.open(OUT rows text) LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', (ARRAY['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'])[o.status + 1],
		o.error), ', ') FROM _sfflow.open_execution AS o
	JOIN _sfflow.execution AS e USING (execution_no) WHERE e.execution_id = 'life:a'
$$;
SELECT sf_start('life', '{"ok": false}', 'a') \g /dev/null
SELECT is(pg_temp.open(), NULL, 'not begun: no row');
SELECT results_eq($$ SELECT execution_id, status FROM sf_list_executions('life', 'RUNNING') $$,
	$$ VALUES ('life:a', 'RUNNING') $$, 'and listed as running');
SELECT sf_run('life:a') \g /dev/null
SELECT is(pg_temp.open(), 'RUNNING', 'at rest');
SELECT sf_run('life:a', skip_waits => true) \g /dev/null
SELECT is(pg_temp.open(), 'FAILED No', 'failed');
SELECT sf_redrive('life:a', 'W') \g /dev/null
SELECT is(pg_temp.open(), 'RUNNING', 'redriven');
SELECT sf_stop('life:a', 'Stopped') \g /dev/null
SELECT is(pg_temp.open(), 'ABORTED Stopped', 'stopped');
SELECT sf_start('life', '{"ok": true}', 'a', 'restart') \g /dev/null
SELECT is(pg_temp.open(), NULL, 'restarted: not begun');
SELECT sf_run('life:a', skip_waits => true) \g /dev/null
SELECT is(pg_temp.open(), NULL, 'succeeded');
SELECT is_empty($$ SELECT problem FROM sf_check() WHERE execution_id LIKE 'life:%' $$, 'sf_check');
INSERT INTO _sfflow.open_execution SELECT machine_no, 0, requested_at, execution_no FROM _sfflow.execution
	WHERE execution_id = 'life:a';
SELECT results_eq($$ SELECT problem FROM sf_check() WHERE execution_id LIKE 'life:%' $$, $$ VALUES ('open_wrong') $$,
	'sf_check finds a row that is wrong');
DELETE FROM _sfflow.open_execution WHERE execution_no = (SELECT execution_no FROM _sfflow.execution
	WHERE execution_id = 'life:a');
UPDATE _sfflow.execution SET parent_generation = 1 WHERE execution_id = 'life:a';
SELECT results_eq($$ SELECT problem, detail FROM sf_check() WHERE execution_id LIKE 'life:%' $$,
	$$ VALUES ('parent_wrong', 'parent_execution_no is null, parent_branch_no null, parent_generation 1, '
		'map_run_no null, map_index null, map_items null') $$, '... and a parent that contradicts itself');
UPDATE _sfflow.execution SET parent_generation = NULL WHERE execution_id = 'life:a';

-- --- a page of the console looks its rows up, and compiles nothing

CREATE FUNCTION pg_temp.scanned(asked text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	v_before bigint := (SELECT seq_tup_read FROM pg_stat_xact_all_tables WHERE relid = '_sfflow.execution'::regclass);
BEGIN
	EXECUTE asked;
	RETURN (SELECT seq_tup_read FROM pg_stat_xact_all_tables WHERE relid = '_sfflow.execution'::regclass) - v_before;
END $$;
SELECT is(pg_temp.scanned($$ SELECT sf_console_api('tonight', '{}') $$), 0::bigint,
	'tonight reads no execution but those that it shows');
SELECT is(pg_temp.scanned($$ SELECT sf_console_api('executions', '{"status": "RUNNING"}') $$), 0::bigint,
	'a page of executions likewise');
SELECT ok(proconfig @> '{jit=off}', 'sf_check has none of its expressions compiled') FROM pg_proc
	WHERE proname = 'sf_check';
SELECT ok(proconfig @> '{jit=off}', 'nor has sf_prometheus') FROM pg_proc WHERE proname = 'sf_prometheus';

SELECT * FROM finish();
ROLLBACK;
