-- sf_validate: all that is wrong with a definition.

-- options: {"strict": boolean, "service_quotas": boolean}
CREATE FUNCTION @extschema@.sf_validate(
	definition text,
	options jsonb DEFAULT '{}',
	OUT severity text,
	OUT code text,
	OUT location text,
	OUT message text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_validate'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION @extschema@.sf_validate(text, jsonb) IS
	'all that is wrong with a definition, in the order of its text; no rows for a good one';
