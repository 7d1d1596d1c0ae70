-- The copy of the database: whether it is driven, which node its numbers are of, and what rows came by other ways.

CREATE FUNCTION @extschema@.sf_enable() RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_enable'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_enable() IS 'lets background workers drive this copy of the database';

CREATE FUNCTION @extschema@.sf_set_node(node integer) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_set_node'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_set_node(integer) IS
	'gives this database the number of a node: executions get numbers that those of no other node have';

CREATE FUNCTION @extschema@.sf_disable() RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_disable'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_disable() IS 'stops background workers from driving this copy of the database';

-- Rows that come by other ways than sfflow are another database's work: src/copy/load_guard.c.
CREATE FUNCTION _sfflow.note_load() RETURNS trigger
AS 'MODULE_PATHNAME', 'sfflow_note_load'
LANGUAGE C;

CREATE TRIGGER note_load AFTER INSERT ON _sfflow.execution
	FOR EACH STATEMENT EXECUTE FUNCTION _sfflow.note_load();
ALTER TABLE _sfflow.execution ENABLE ALWAYS TRIGGER note_load;
CREATE TRIGGER note_load AFTER INSERT ON _sfflow.branch
	FOR EACH STATEMENT EXECUTE FUNCTION _sfflow.note_load();
ALTER TABLE _sfflow.branch ENABLE ALWAYS TRIGGER note_load;

-- For tests: the rules of src/copy/copy_decision.c.
CREATE FUNCTION _sfflow.decide_copy(own boolean, kind text, standby_signal boolean, recovery_signal boolean,
	recovery_target boolean, backup_label boolean, shut_down_in_recovery boolean) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_decide_copy'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
