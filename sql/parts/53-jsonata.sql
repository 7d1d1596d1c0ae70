-- sf_jsonata: the JSONata language by itself.

-- Volatile: $random, $uuid, $now, $shuffle.  json, not jsonb: the order of keys matters to it.
CREATE FUNCTION @extschema@.sf_jsonata(expression text, input json DEFAULT NULL, bindings json DEFAULT NULL)
RETURNS json
AS 'MODULE_PATHNAME', 'sfflow_sf_jsonata'
LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_jsonata(text, json, json) IS
	'value of a JSONata expression over input, with bindings as its variables; NULL where it is undefined';
