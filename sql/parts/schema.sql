-- The private schema: tables live here, functions and views of the extension's schema are the
-- contract.

-- Nothing of the schemas that exist before is found by its bare name, so every view, default and
-- constraint below binds to pg_catalog. LOCAL: CREATE EXTENSION takes it back at its end.
SET LOCAL search_path TO pg_catalog, pg_temp;

CREATE SCHEMA _sfflow;

-- Stands in pg_shdepend for every role that owns something of sfflow or has a right, so that
-- DROP ROLE refuses and names it.
CREATE DOMAIN _sfflow.owner_or_grantee AS regrole;
COMMENT ON DOMAIN _sfflow.owner_or_grantee IS
	'roles that own a state machine, an activity, a schedule, a calendar, a rule or a resource name, or have an access key or a right given by sf_grant';

-- The number of this schema, in the name: the library looks for it in the catalogue cache before it does anything here
-- (src/base/version/schema.h). An update drops the function and creates that of its own number.
CREATE FUNCTION _sfflow.schema_@SCHEMA_NUMBER@() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN @SCHEMA_NUMBER@;

CREATE FUNCTION @extschema@.sf_version(OUT release text, OUT library_schema integer, OUT database_schema integer,
	OUT advice text)
AS 'MODULE_PATHNAME', 'sfflow_sf_version'
LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_version() IS
	'the release of the library, the number of its schema, that of this database, and what to do where they differ';
