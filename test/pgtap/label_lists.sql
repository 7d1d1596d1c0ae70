-- Lists of executions by a label that many have: how many rows they read of the others.
-- needs: label
BEGIN;
SELECT plan(5);

SELECT sf_create_state_machine('many', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}', options => '{"labels": {"tenant": "$.tenant"}}') \g /dev/null
SELECT count(*) FROM sf_start_many('many', ARRAY(SELECT '{"tenant": "acme"}'::jsonb FROM generate_series(1, 10100))) \g /dev/null
SELECT count(*) FROM sf_start_many('many', ARRAY(SELECT '{"tenant": "beta"}'::jsonb FROM generate_series(1, 500))) \g /dev/null
UPDATE _sfflow.execution SET requested_at = timestamptz '2025-01-01' + execution_no * interval '1 s' WHERE execution_id LIKE 'many:%';
UPDATE _sfflow.label l SET requested_at = e.requested_at FROM _sfflow.execution e WHERE e.execution_no = l.execution_no;
-- the oldest have failed, none of beta
UPDATE _sfflow.execution SET status = 2 WHERE execution_no IN (SELECT execution_no FROM _sfflow.label ORDER BY requested_at LIMIT 1000);
INSERT INTO _sfflow.open_execution SELECT machine_no, 'FAILED', requested_at, execution_no, NULL FROM _sfflow.execution WHERE status = 2;

-- How many rows of executions were read so far, by any index or without.
CREATE FUNCTION pg_temp.so_far() RETURNS numeric LANGUAGE sql VOLATILE AS $$
	SELECT sum(pg_stat_get_xact_tuples_fetched(i.indexrelid)) + pg_stat_get_xact_tuples_returned('_sfflow.execution'::regclass)
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
	($$(SELECT * FROM sf_labels WHERE label = 'tenant' AND value = 'acme' ORDER BY requested_at DESC LIMIT 50) x$$)) q (query),
	pg_temp.fetched(query) f;
SELECT ok(f.rows = 0 AND f.read <= 500, query || format(' has %s rows and reads %s', f.rows, f.read))
FROM (VALUES ($$sf_list_executions(labels => '{"tenant": "beta"}', status => 'FAILED', page_size => 50)$$)) q (query), pg_temp.fetched(query) f;
SELECT * FROM finish();
ROLLBACK;
