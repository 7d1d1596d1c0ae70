-- The extension is installed, and keeps its tables to itself.

SELECT extversion, extrelocatable FROM pg_extension WHERE extname = 'sfflow';

-- Private things live in a schema of their own, to which nobody is let in by being somebody.
SELECT nspname, has_schema_privilege('public', oid, 'USAGE') AS public_usage
FROM pg_namespace WHERE nspname = '_sfflow';
