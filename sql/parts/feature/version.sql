-- Versions of a state machine: aliases, what two versions differ in, moving executions between them.

--@into functions
CREATE FUNCTION @extschema@.sf_set_alias(state_machine text, alias text, versions jsonb)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_set_alias'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_set_alias(text, text, jsonb) IS
	'gives versions of a state machine a name, with the percentage of starts of each';

CREATE FUNCTION @extschema@.sf_drop_alias(state_machine text, alias text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_alias'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_drop_alias(text, text) IS 'drops an alias of a state machine';

CREATE VIEW @extschema@.sf_aliases WITH (security_barrier) AS
SELECT m.name AS state_machine, a.alias, r.key::integer AS version, r.value::integer AS percent, a.set_at
FROM _sfflow.state_machine m
JOIN _sfflow.machine_alias a ON a.machine_no = m.machine_no
CROSS JOIN LATERAL jsonb_each_text(a.routes) r
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_aliases IS 'aliases of state machines, one row per version';
COMMENT ON COLUMN @extschema@.sf_aliases.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_aliases.alias IS 'the name after the slash, as in sf_start(''nightly/prod'')';
COMMENT ON COLUMN @extschema@.sf_aliases.version IS 'a version that it names';
COMMENT ON COLUMN @extschema@.sf_aliases.percent IS 'how many of 100 starts begin in this version';
COMMENT ON COLUMN @extschema@.sf_aliases.set_at IS 'when the alias was set';

CREATE FUNCTION @extschema@.sf_diff_versions(
	state_machine text,
	a integer,
	b integer,
	OUT pointer text,
	OUT change text,
	OUT before jsonb,
	OUT after jsonb)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_diff_versions'
LANGUAGE C STABLE ROWS 20;
COMMENT ON FUNCTION @extschema@.sf_diff_versions(text, integer, integer) IS
	'what two versions of a state machine differ in, by JSON pointer into the definition';

CREATE FUNCTION @extschema@.sf_migrate(execution_id text, version integer, state_map jsonb DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_migrate'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_migrate(text, integer, jsonb) IS
	'migrates an execution to another version of its state machine; state_map renames states';

GRANT SELECT ON @extschema@.sf_aliases TO PUBLIC;
