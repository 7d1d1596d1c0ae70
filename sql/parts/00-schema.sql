-- The private schema: tables live here, functions and views of the extension's schema are the
-- contract.

-- Nothing of the schemas that exist before is found by its bare name, so every view, default and
-- constraint below binds to pg_catalog. LOCAL: CREATE EXTENSION takes it back at its end.
SET LOCAL search_path TO pg_catalog, pg_temp;

CREATE SCHEMA _sfflow;
