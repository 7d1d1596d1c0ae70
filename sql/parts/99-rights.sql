-- What ALTER DEFAULT PRIVILEGES of the installing role gave away of the private schema is taken back.

DO $rights$
DECLARE
	given record;
BEGIN
	FOR given IN
		SELECT 'SCHEMA _sfflow' AS object, a.grantee
		FROM pg_namespace AS n, aclexplode(n.nspacl) AS a
		WHERE n.nspname = '_sfflow' AND a.grantee <> n.nspowner
		UNION
		SELECT format('%s %s', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass), a.grantee
		FROM pg_class AS c, aclexplode(c.relacl) AS a
		WHERE c.relnamespace = '_sfflow'::regnamespace AND a.grantee <> c.relowner
	LOOP
		EXECUTE format('REVOKE ALL ON %s FROM %s', given.object,
			CASE given.grantee WHEN 0 THEN 'PUBLIC' ELSE given.grantee::regrole::text END);
	END LOOP;
END $rights$;

-- Every role may name what is in the private schema, since pg_cron runs a function of it as the owner of
-- a schedule. No table is granted, and each function that PUBLIC may execute checks its caller.
GRANT USAGE ON SCHEMA _sfflow TO PUBLIC;
