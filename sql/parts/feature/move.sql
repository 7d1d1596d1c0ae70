-- Moves of the executions of a key from one node to another. The feature move.

--@into tables
-- Executions that have left this node and are not known to have arrived, with their rows as text, by table
-- (src/feature/move/move.h).
CREATE TABLE _sfflow.key_departure (
	departure uuid NOT NULL PRIMARY KEY,
	key text COLLATE "C" NOT NULL,
	to_node integer NOT NULL,
	executions integer NOT NULL,
	document jsonb NOT NULL,			-- names of what the rows name by numbers, and branches that were parked
	departed_at timestamptz NOT NULL
);
CREATE TABLE _sfflow.departing_row (
	departure uuid NOT NULL,
	relation text COLLATE "C" NOT NULL,
	row_no integer NOT NULL,
	body text NOT NULL,
	PRIMARY KEY (departure, relation, row_no)
);

-- Departures that have arrived here, until the other node has forgotten them.
CREATE TABLE _sfflow.key_arrival (
	departure uuid NOT NULL PRIMARY KEY,
	key text COLLATE "C" NOT NULL,
	from_node integer NOT NULL,
	executions integer NOT NULL,
	arrived_at timestamptz NOT NULL
);

-- Where executions have gone that were here.
CREATE TABLE _sfflow.moved_execution (
	execution_no bigint NOT NULL PRIMARY KEY,
	node integer NOT NULL,
	moved_at timestamptz NOT NULL
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.key_departure', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.departing_row', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.key_arrival', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.moved_execution', '');

--@into functions
CREATE FUNCTION _sfflow.key_move(arguments jsonb) RETURNS SETOF jsonb
AS 'MODULE_PATHNAME', 'sfflow_key_move'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;

CREATE FUNCTION _sfflow.executions_away() RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_executions_away'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

CREATE PROCEDURE @extschema@.sf_move_key(
	key text DEFAULT NULL,
	from_node integer DEFAULT NULL,
	INOUT moved bigint DEFAULT NULL)
AS 'MODULE_PATHNAME', 'sfflow_sf_move_key'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.sf_move_key(text, integer, bigint) IS
	'has the executions of a key come to this node from another one; without a key, of all keys that are at home here';
--@into gauges
		UNION ALL
		SELECT 30, 'executions_away', 'Executions that are not on the node of their key.',
			_sfflow.executions_away()::text
--@into public_functions
		executions_away,
