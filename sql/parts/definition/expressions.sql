-- sf_jsonpath, sf_intrinsic, sf_jsonata: expressions by themselves, of JSONPath mode and of JSONata.

-- NULL where a path with at most one match leads nowhere, an array where it can have several.
CREATE FUNCTION @extschema@.sf_jsonpath(path text, input jsonb, context jsonb DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_jsonpath'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_jsonpath(text, jsonb, jsonb) IS
	'value of a JSONPath as in state machines; NULL if it has no match';

-- Volatile: States.UUID and States.MathRandom.
CREATE FUNCTION @extschema@.sf_intrinsic(expression text, input jsonb, context jsonb DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_intrinsic'
LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_intrinsic(text, jsonb, jsonb) IS
	'value of an intrinsic function''s call, States.Format(...) and so on';

-- Volatile: $random, $uuid, $now, $shuffle.  json, not jsonb: the order of keys matters to it.
CREATE FUNCTION @extschema@.sf_jsonata(expression text, input json DEFAULT NULL, bindings json DEFAULT NULL)
RETURNS json
AS 'MODULE_PATHNAME', 'sfflow_sf_jsonata'
LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_jsonata(text, json, json) IS
	'value of a JSONata expression over input, with bindings as its variables; NULL where it is undefined';
