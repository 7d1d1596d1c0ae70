-- What a role may see is found by set: the views ask for the rights on the rows of other roles not row by row. Proved
-- by counts, of how often rights are looked up, and by the costs that the planner expects: beyond jit_above_cost it
-- compiles a query that shows nothing.
-- needs: hold archive deadline limit event human label trace start_key node home
BEGIN;
SELECT plan(47);
CREATE ROLE views_reader;
CREATE ROLE views_stranger;
SELECT sf_grant('CREATE', '*', r) FROM unnest('{views_reader,views_stranger}'::text[]) AS r \g /dev/null
CREATE FUNCTION pg_temp.many() RETURNS integer LANGUAGE sql AS 'SELECT 1000';

SET ROLE views_reader;
SELECT sf_create_state_machine('own', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}'),
	sf_start('own', '{}', 'x'), sf_set_alias('own', 'live', '{"1": 100}'),
	sf_set_deadline('own', end_by => '02:00'), sf_hold('own'), sf_set_limit('own', max_running => 5) \g /dev/null
SET ROLE views_stranger;
SELECT count(sf_create_state_machine('s' || i, '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}'))
	FROM generate_series(1, pg_temp.many()) i \g /dev/null
SELECT count(sf_start('s' || i, '{}', 'x')) FROM generate_series(1, pg_temp.many()) i \g /dev/null
SELECT count(sf_set_alias('s' || i, 'live', '{"1": 100}')), count(sf_set_deadline('s' || i, end_by => '02:00'))
	FROM generate_series(1, pg_temp.many()) i \g /dev/null
SELECT sf_grant('READ', 's7', 'views_reader'), sf_grant('READ', 's8', 'public') \g /dev/null
RESET ROLE;
INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, changed_at, created_at)
	SELECT 's' || i, 'views_stranger'::regrole, '0 0 1 1 *', 's' || i, '{}', now(), now()
	FROM generate_series(1, pg_temp.many()) i;
INSERT INTO _sfflow.failure SELECT e.execution_no, e.machine_no, 1, now(), true FROM _sfflow.execution e;

-- How often rights were looked up
CREATE FUNCTION pg_temp.lookups() RETURNS bigint LANGUAGE sql AS $$
	SELECT seq_scan + idx_scan FROM pg_stat_xact_all_tables WHERE schemaname = '_sfflow' AND relname = 'privilege' $$;
CREATE FUNCTION pg_temp.cost(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint := pg_temp.lookups();
BEGIN
	SET LOCAL ROLE views_reader;
	EXECUTE query;
	RESET ROLE;
	RETURN pg_temp.lookups() - before;
END $$;
SELECT cmp_ok(pg_temp.cost(format('SELECT count(x) FROM %I x', v.relname)), '<', pg_temp.many() / 2::bigint,
	format('%s beside %s machines of another role', v.relname, pg_temp.many()))
FROM (SELECT c.relname FROM pg_class c WHERE c.relkind = 'v' AND c.relname ~ '^sf_'
	AND c.relnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'sfflow') ORDER BY 1) v;

-- The rights are those that were given, one by one and by set.
SET ROLE views_reader;
SELECT is((SELECT string_agg(state_machine, ' ' ORDER BY state_machine) FROM sf_state_machines), 'own s7 s8',
	'what is owned, and what was granted, is seen among many');
RESET ROLE;

-- Thousands of rows that are not seen do not have the query compiled.
INSERT INTO _sfflow.hold (kind, name, state, for_owner, held_at, held_by) SELECT 'resource', 'sql:h' || i, NULL,
	'views_stranger'::regrole, now(), '' FROM generate_series(1, 20000) i;
INSERT INTO _sfflow.run_limit (kind, name, state, key, in_definition, for_owner, max_running, highest, fails, set_at,
	set_by)
	SELECT 'resource', 'sql:h' || i, NULL, NULL, false, 'views_stranger'::regrole, 5, 5, false, now(),
	'' FROM generate_series(1, 20000) i;
ANALYZE _sfflow.hold, _sfflow.run_limit;
CREATE FUNCTION pg_temp.expected(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
SELECT cmp_ok(pg_temp.expected(format('SELECT count(x) FROM %I x', v)), '<', 100000::float8,
	format('%s beside 20,000 rows of another role', v)) FROM unnest('{sf_holds,sf_limits}'::text[]) v;
SELECT * FROM finish();
ROLLBACK;
