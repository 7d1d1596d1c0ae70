-- State machines: made, changed and dropped.

CREATE FUNCTION @extschema@.sf_create_state_machine(
	name text,
	definition json,
	execution_id_path text DEFAULT NULL,
	or_replace boolean DEFAULT false,
	options jsonb DEFAULT '{}')
RETURNS integer
AS 'MODULE_PATHNAME', 'sfflow_sf_create_state_machine'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_create_state_machine(text, json, text, boolean, jsonb) IS
	'validates and stores a state machine; returns its version';

CREATE FUNCTION @extschema@.sf_drop_state_machine(name text, force boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_state_machine'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_drop_state_machine(text, boolean) IS
	'deletes a state machine, its versions and its executions';
