-- Roles that change all the time cost little: what limits and holds are for is not found out anew for each change.
-- Proved by counts: how often memberships are read while roles change, and that the last change counts in the end.
-- needs: limit
BEGIN;
SELECT plan(2);
SELECT sf_enable() \g /dev/null
CREATE FUNCTION pg_temp.scans() RETURNS bigint LANGUAGE sql AS $$
	SELECT seq_scan + idx_scan FROM pg_stat_xact_all_tables WHERE schemaname = 'pg_catalog'
	AND relname = 'pg_auth_members'
$$;
CREATE ROLE roles_group;
DO $$
BEGIN
	FOR i IN 1 .. 100 LOOP
		EXECUTE format('CREATE ROLE roles_%s', i);
		PERFORM sf_grant('CREATE', '*', 'roles_' || i);
		EXECUTE format('SET LOCAL ROLE roles_%s', i);
		PERFORM sf_set_limit('sql:public.f' || n, max_running => 5) FROM generate_series(1, 10) AS n;
		RESET ROLE;
	END LOOP;
END $$;
CALL sf_run_due();

-- A hundred looks, each after a change; to find out about all limits after each of them takes more than 5,000 scans.
CREATE TABLE pg_temp.before AS SELECT limit_no, roles_hash FROM _sfflow.run_limit
	WHERE for_owner = 'roles_100'::regrole;
SELECT pg_temp.scans() AS before \gset
DO $$
BEGIN
	FOR i IN 1 .. 100 LOOP
		EXECUTE format('GRANT roles_group TO roles_%s', i);
		CALL sf_run_due();
	END LOOP;
END $$;
SELECT ok(pg_temp.scans() - :before < 2500, 'memberships are not read anew for each change');
DO $$
BEGIN
	FOR i IN 1 .. 600 LOOP
		CALL sf_run_due();
		EXIT WHEN NOT EXISTS (SELECT FROM _sfflow.run_limit AS l JOIN pg_temp.before AS b USING (limit_no)
			WHERE l.roles_hash = b.roles_hash);
		PERFORM pg_sleep(0.05);
	END LOOP;
END $$;
SELECT is_empty($$SELECT FROM _sfflow.run_limit AS l JOIN pg_temp.before AS b USING (limit_no)
	WHERE l.roles_hash = b.roles_hash$$, 'the last change counts in the end');
SELECT * FROM finish();
ROLLBACK;
