-- sf_jsonpath, sf_intrinsic: the expressions of JSONPath mode by themselves.

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
