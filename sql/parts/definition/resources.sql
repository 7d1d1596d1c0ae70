-- sf_map_resource, sf_unmap_resource: what tasks run.

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
