-- Homes of executions in a cluster. The feature home.

--@into tables
-- Executions that have a key.
CREATE TABLE _sfflow.execution_key (
	execution_no bigint NOT NULL PRIMARY KEY,
	key text COLLATE "C" NOT NULL
);
CREATE INDEX execution_key_key ON _sfflow.execution_key (key, execution_no);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.execution_key', '');

--@into functions
CREATE FUNCTION @extschema@.sf_find_home(key text, OUT node integer, OUT host text, OUT port integer, OUT here boolean)
AS 'MODULE_PATHNAME', 'sfflow_sf_find_home'
LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_find_home(text) IS
	'the node where executions with a key run; nulls and true: there is no cluster';

CREATE VIEW @extschema@.sf_execution_keys WITH (security_barrier) AS
SELECT e.execution_id, e.state_machine, k.key
FROM _sfflow.execution_key k
JOIN _sfflow.readable_execution e ON e.execution_no = k.execution_no;
GRANT SELECT ON @extschema@.sf_execution_keys TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_execution_keys IS 'executions that have a key, which decides the node where they run';
COMMENT ON COLUMN @extschema@.sf_execution_keys.execution_id IS 'the execution';
COMMENT ON COLUMN @extschema@.sf_execution_keys.state_machine IS 'its state machine';
COMMENT ON COLUMN @extschema@.sf_execution_keys.key IS 'the key: of its start, of option key_path of the state machine, or of its parent';

--@into rows_of_executions
	UNION ALL SELECT 'execution_key', k.execution_no FROM _sfflow.execution_key k
