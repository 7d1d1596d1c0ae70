-- Lists of executions by a label that many have: how many rows they read of the others; and by label and status, page
-- by page, what a query of all rows finds.
-- needs: label
BEGIN;
SELECT plan(9);

SELECT sf_create_state_machine('many', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}',
	options => '{"labels": {"tenant": "$.tenant"}}') \g /dev/null
SELECT count(*) FROM sf_start_many('many', ARRAY(SELECT '{"tenant": "acme"}'::jsonb FROM generate_series(1, 10100)))
	\g /dev/null
SELECT count(*) FROM sf_start_many('many', ARRAY(SELECT '{"tenant": "beta"}'::jsonb FROM generate_series(1, 500)))
	\g /dev/null
UPDATE _sfflow.execution SET requested_at = timestamptz '2025-01-01' + execution_no * interval '1 s'
	WHERE execution_id LIKE 'many:%';
UPDATE _sfflow.label l SET requested_at = e.requested_at FROM _sfflow.execution e WHERE e.execution_no = l.execution_no;
-- the oldest have failed, none of beta
UPDATE _sfflow.execution SET status = 2 WHERE execution_no IN (SELECT execution_no FROM _sfflow.label
	ORDER BY requested_at LIMIT 1000);
INSERT INTO _sfflow.open_execution SELECT machine_no, status, requested_at, execution_no, NULL FROM _sfflow.execution
	WHERE status = 2;

-- How many rows of executions were read so far, by any index or without.
CREATE FUNCTION pg_temp.so_far() RETURNS numeric LANGUAGE sql VOLATILE AS $$
	SELECT sum(pg_stat_get_xact_tuples_fetched(i.indexrelid)) +
	pg_stat_get_xact_tuples_returned('_sfflow.execution'::regclass)
	FROM pg_index i WHERE i.indrelid = '_sfflow.execution'::regclass $$;
-- How many rows of executions a query reads; it returns some.
CREATE FUNCTION pg_temp.fetched(query text, OUT rows bigint, OUT read numeric) LANGUAGE plpgsql AS $$
DECLARE
	before numeric := pg_temp.so_far();
BEGIN
	EXECUTE 'SELECT count(*) FROM ' || query INTO rows;
	read := pg_temp.so_far() - before;
END $$;

SELECT ok(f.rows = 50 AND f.read BETWEEN 50 AND 400, query || format(' has %s rows and reads %s', f.rows, f.read))
FROM (VALUES ($$sf_list_executions(labels => '{"tenant": "acme"}', page_size => 50)$$),
	($$sf_list_executions(labels => '{"tenant": "acme"}', state_machine => 'many', page_size => 50)$$),
	($$sf_list_executions(labels => '{"tenant": "acme"}', status => 'FAILED', page_size => 50)$$),
	($$(SELECT * FROM sf_labels WHERE label = 'tenant' AND value = 'acme' ORDER BY requested_at DESC LIMIT 50) x$$)) q
	(query),
	pg_temp.fetched(query) f;
SELECT ok(f.rows = 0 AND f.read <= 500, query || format(' has %s rows and reads %s', f.rows, f.read))
FROM (VALUES ($$sf_list_executions(labels => '{"tenant": "beta"}', status => 'FAILED', page_size => 50)$$)) q (query),
pg_temp.fetched(query) f;
-- What a status and a label do not have in common is passed over, in both of their indexes.
CREATE FUNCTION pg_temp.entries(query text, OUT rows bigint, OUT read bigint) LANGUAGE plpgsql AS $$
DECLARE
	before bigint := pg_stat_get_xact_tuples_returned('_sfflow.open_execution_pkey'::regclass);
BEGIN
	EXECUTE 'SELECT count(*) FROM ' || query INTO rows;
	read := pg_stat_get_xact_tuples_returned('_sfflow.open_execution_pkey'::regclass) - before;
END $$;
SELECT ok(f.rows = 0 AND f.read <= 10, format('... and %s of the 1000 entries of failed ones', f.read))
FROM pg_temp.entries($$sf_list_executions(labels => '{"tenant": "beta"}', status => 'FAILED', page_size => 50)$$) f;

-- Twelve machines, whose executions have two labels and several statuses in any mixture, and share times.
SELECT sf_create_state_machine('mixed' || m, '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}')
	FROM generate_series(1, 12) m \g /dev/null
SELECT count(*) FROM generate_series(1, 12) m CROSS JOIN LATERAL sf_start_many('mixed' || m,
	ARRAY(SELECT '{}'::jsonb FROM generate_series(1, 60)), NULL,
	options => '{"labels": {"half": "0", "third": "0"}}') \g /dev/null
SELECT setseed(0.5) \g /dev/null
CREATE TEMP TABLE mixed AS SELECT execution_no, (ARRAY[0, 2, 2, 3, 4])[1 + floor(random() * 5)::integer] AS status,
	floor(random() * 2)::text AS half,
	floor(random() * 3)::text AS third, now() - interval '1 s' * floor(random() ^ 8 * 10000000) AS requested_at
FROM _sfflow.execution WHERE execution_id LIKE 'mixed%' ORDER BY execution_no;
UPDATE _sfflow.execution e SET status = m.status, requested_at = m.requested_at, labels = jsonb_build_object('half',
	m.half, 'third', m.third), started_at = m.requested_at
FROM mixed m WHERE m.execution_no = e.execution_no;
UPDATE _sfflow.label l SET requested_at = m.requested_at, value = CASE l.name WHEN 'half' THEN m.half
	ELSE m.third END FROM mixed m WHERE m.execution_no = l.execution_no;
INSERT INTO _sfflow.open_execution
SELECT e.machine_no, e.status, e.requested_at, e.execution_no, NULL
FROM _sfflow.execution e JOIN mixed USING (execution_no);
CREATE FUNCTION pg_temp.pages(wanted jsonb, wanted_status text, size integer, OUT list text, OUT pages integer)
	LANGUAGE plpgsql AS $$
DECLARE
	key text;
	page text;
	next text;
BEGIN
	pages := 0;
	LOOP
		SELECT string_agg(l.execution_id, ' '), (array_agg(l.page_key))[count(*)] INTO page, next
		FROM sf_list_executions(labels => wanted, status => wanted_status, page_size => size, after_key => key) l;
		EXIT WHEN page IS NULL;
		list := concat_ws(' ', list, page);
		pages := pages + 1;
		key := next;
	END LOOP;
END $$;
SELECT ok(p.list = w.list AND p.pages > 8, format('%s %s: %s pages have each once, the newest first', l, s, p.pages))
FROM (VALUES ('{"half": "1"}'::jsonb, 'FAILED'), ('{"half": "0", "third": "2"}', 'FAILED'),
	('{"half": 1}', 'RUNNING')) v (l, s)
CROSS JOIN LATERAL (SELECT string_agg(e.execution_id, ' ' ORDER BY e.requested_at DESC, e.execution_no DESC) AS list
	FROM _sfflow.execution e
	WHERE e.labels @> (SELECT jsonb_object_agg(key, value) FROM jsonb_each_text(l)) AND e.execution_id LIKE 'mixed%'
	AND e.status = CASE s WHEN 'FAILED' THEN 2 ELSE 0 END) w
CROSS JOIN LATERAL pg_temp.pages(l, s, 5) p;
SELECT * FROM finish();
ROLLBACK;
