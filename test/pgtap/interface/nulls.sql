-- Every function, the private ones as well, takes NULL for each of its arguments: it answers or raises.
BEGIN;
SELECT plan(2);

-- What a call of a function with NULLs comes to, or with empty documents, which lack each member that it reads
CREATE FUNCTION pg_temp.called(function oid, document text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	arguments text := (SELECT string_agg(CASE WHEN type = 'jsonb'::regtype THEN quote_nullable(document) ELSE 'NULL' END
			|| '::' || type::regtype, ', ' ORDER BY n)
		FROM pg_proc p, unnest(p.proargtypes) WITH ORDINALITY AS a (type, n) WHERE p.oid = function);
BEGIN
	EXECUTE format('SELECT * FROM %s(%s) AS t%s', function::regproc, arguments,
		(SELECT CASE WHEN p.prorettype = 'record'::regtype AND p.proargmodes IS NULL THEN ' (a integer)' END
		FROM pg_proc p WHERE p.oid = function));
	RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
	RETURN CASE WHEN sqlstate = 'XX000' THEN sqlerrm ELSE 'raised' END;
END $$;

CREATE TEMPORARY TABLE functions AS
SELECT p.oid, p.oid::regprocedure::text AS signature
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname = 'sfflow' AND p.prokind = 'f' AND p.pronargs > 0
AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
AND NOT 'internal'::regtype = ANY (p.proargtypes);

SELECT is_empty($$
	SELECT f.signature, pg_temp.called(f.oid, NULL) FROM functions f
	WHERE pg_temp.called(f.oid, NULL) NOT IN ('answered', 'raised')
$$, 'NULL for each argument');
SELECT is_empty($$
	SELECT f.signature, pg_temp.called(f.oid, '{}') FROM functions f
	WHERE pg_temp.called(f.oid, '{}') NOT IN ('answered', 'raised')
$$, 'NULL for each argument but empty documents');

SELECT * FROM finish();
ROLLBACK;
