-- sf_validate: all that is wrong with a definition, one row a problem, none for a good one.

CREATE FUNCTION @extschema@.sf_validate(
	definition text,
	OUT severity text,
	OUT code text,
	OUT location text,
	OUT message text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_validate'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION @extschema@.sf_validate(text) IS
	'all that is wrong with a definition, in the order of its text; no rows for a good one';
