-- The extension is installed, and keeps its tables to itself.

SELECT extversion = (SELECT default_version FROM pg_available_extensions WHERE name = extname) AS newest, extrelocatable
FROM pg_extension WHERE extname = 'sfflow';

-- Private things live in a schema of their own, whose tables and sequences are granted to nobody.
SELECT relname, relacl FROM pg_class
WHERE relnamespace = '_sfflow'::regnamespace AND relkind IN ('r', 'S', 'v') AND relacl IS NOT NULL;
