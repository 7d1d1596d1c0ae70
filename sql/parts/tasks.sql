-- sf_raise; sf_map_resource, sf_unmap_resource: what tasks run, and how they fail.

-- From inside a SQL task: fail it with this ASL error name.
CREATE FUNCTION @extschema@.sf_raise(error text, cause text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_raise'
LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_raise(text, text) IS
	'fail the SQL task that runs with this error name and cause';

-- A mapping belongs to the calling role and serves its machines; a superuser's serves all.
CREATE FUNCTION @extschema@.sf_map_resource(pattern text, resource text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_map_resource'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_map_resource(text, text) IS
	'have every Resource that matches the pattern (* is any text) run another resource';

CREATE FUNCTION @extschema@.sf_unmap_resource(pattern text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_unmap_resource'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_unmap_resource(text) IS
	'end a mapping of the calling role';
