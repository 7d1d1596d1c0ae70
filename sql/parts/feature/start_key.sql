-- Keys of starts: the feature start_key.

--@into tables
-- A row per key of a machine's starts, which a start locks; deleted when nothing needs it (src/feature/start_key).
CREATE TABLE _sfflow.start_key (
	machine_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	last_entered_at timestamptz NOT NULL,	-- when the last one of the line has entered it
	PRIMARY KEY (machine_no, key)
);

-- The executions that were started with a key: in the order of entered_at, a line.
CREATE TABLE _sfflow.keyed_start (
	execution_no bigint NOT NULL PRIMARY KEY,
	machine_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	entered_at timestamptz NOT NULL,	-- the line: by the clock, but a microsecond after the one before at least
	place smallint NOT NULL,			-- SfLinePlace
	CONSTRAINT keyed_start_place CHECK (place IN (@LINE_PLACE_NUMBERS@))
);

CREATE INDEX keyed_start_waits ON _sfflow.keyed_start (machine_no, key, entered_at)
	WHERE place IN (@LINE_PLACES_WAITING@);
CREATE INDEX keyed_start_begun ON _sfflow.keyed_start (machine_no, key, place) WHERE place IN (@LINE_PLACES_BEGUN@);
CREATE INDEX keyed_start_ended ON _sfflow.keyed_start (execution_no) WHERE place = @LINE_PLACE_ENDED@;
CREATE INDEX keyed_start_machine ON _sfflow.keyed_start (machine_no);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.start_key', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.keyed_start', '');

--@into functions
-- The rows of an index each.
CREATE VIEW _sfflow.waiting_start AS
SELECT k.execution_no, k.machine_no, k.key, k.entered_at, k.place FROM _sfflow.keyed_start k
WHERE k.place IN (@LINE_PLACES_WAITING@);
CREATE VIEW _sfflow.begun_start AS
SELECT k.execution_no, k.machine_no, k.key, k.entered_at, k.place FROM _sfflow.keyed_start k
WHERE k.place IN (@LINE_PLACES_BEGUN@);
CREATE VIEW _sfflow.ended_start AS
SELECT k.execution_no, k.machine_no, k.key, k.entered_at, k.place FROM _sfflow.keyed_start k
WHERE k.place = @LINE_PLACE_ENDED@;
-- Some of those of the second index: since the places are constants, the planner knows how few there are.
CREATE VIEW _sfflow.standing_start AS
SELECT k.execution_no, k.machine_no, k.key, k.entered_at, k.place FROM _sfflow.keyed_start k
WHERE k.place IN (@LINE_PLACES_STANDING@);
CREATE VIEW _sfflow.blocking_start AS
SELECT k.execution_no, k.machine_no, k.key, k.entered_at, k.place FROM _sfflow.keyed_start k
WHERE k.place IN (@LINE_PLACES_BLOCKING@);

CREATE FUNCTION @extschema@.sf_leave_start_key(execution_id text) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_leave_start_key'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_leave_start_key(text) IS
	'has an execution that has ended without success give up its place in the line of its start key; false: it has none';

CREATE VIEW @extschema@.sf_start_keys WITH (security_barrier) AS
SELECT e.state_machine, k.key AS start_key, e.execution_id,
	CASE k.place WHEN @LINE_PLACE_RUNS@ THEN 'running' WHEN @LINE_PLACE_BLOCKS@ THEN 'failed'
		WHEN @LINE_PLACE_ENDED@ THEN 'ended'
		ELSE 'waiting' END AS place,
	k.entered_at AS rank
FROM _sfflow.keyed_start k
JOIN _sfflow.readable_execution e ON e.execution_no = k.execution_no
WHERE k.place NOT IN (@LINE_PLACES_LEFT@);
GRANT SELECT ON @extschema@.sf_start_keys TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_start_keys IS 'executions that stand in the line of a start key: the lowest rank is the first one';
COMMENT ON COLUMN @extschema@.sf_start_keys.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_start_keys.start_key IS 'the key';
COMMENT ON COLUMN @extschema@.sf_start_keys.execution_id IS 'the execution';
COMMENT ON COLUMN @extschema@.sf_start_keys.place IS 'waiting, running, failed (it keeps those behind it from running), or ended (the next one is about to be told)';
COMMENT ON COLUMN @extschema@.sf_start_keys.rank IS 'its rank in the line: when it was started, later than the one before';

--@into rows_of_executions
	UNION ALL SELECT 'keyed_start', k.execution_no FROM _sfflow.keyed_start k
--@into checks
SELECT 'start_key_missing', e.execution_id, format('start key "%s" has no row', k.key)
FROM _sfflow.keyed_start k
JOIN _sfflow.execution e ON e.execution_no = k.execution_no
WHERE k.place <> @LINE_PLACE_LEFT_FOR_GOOD@
	AND NOT EXISTS (SELECT FROM _sfflow.start_key s WHERE s.machine_no = k.machine_no AND s.key = k.key)
UNION ALL
SELECT 'start_key_left', NULL, format('start key "%s" of state machine number %s has a row that nothing needs', s.key, s.machine_no)
FROM _sfflow.start_key s
WHERE NOT EXISTS (SELECT FROM _sfflow.keyed_start k
	WHERE k.machine_no = s.machine_no AND k.key = s.key AND k.place <> @LINE_PLACE_LEFT_FOR_GOOD@)
UNION ALL
SELECT 'start_key_place', e.execution_id, format('it has place %s in the line of start key "%s"', k.place, k.key)
FROM _sfflow.keyed_start k
JOIN _sfflow.execution e ON e.execution_no = k.execution_no
WHERE k.place IN (@LINE_PLACES_WAITING@, @LINE_PLACE_RUNS@) AND e.status <> @STATUS_RUNNING@
	OR k.place = @LINE_PLACE_BLOCKS@ AND e.status = @STATUS_RUNNING@
	OR k.place = @LINE_PLACE_WAITS@ AND e.started_at IS NOT NULL
UNION ALL
SELECT 'start_key_taken_twice', NULL, format('%s executions run with start key "%s" of state machine number %s',
	count(*), k.key, k.machine_no)
FROM _sfflow.keyed_start k
WHERE k.place = @LINE_PLACE_RUNS@
GROUP BY k.machine_no, k.key
HAVING count(*) > 1
UNION ALL
SELECT 'start_key_stuck', e.execution_id, format('it is the first in the line of start key "%s", and nobody makes it due', k.key)
FROM _sfflow.keyed_start k
JOIN _sfflow.execution e ON e.execution_no = k.execution_no
JOIN _sfflow.parked w ON w.execution_no = k.execution_no AND w.feature = 'start_key'
JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no
	AND b.place = @BRANCH_PLACE_PARKED@
WHERE k.place IN (@LINE_PLACES_WAITING@) AND e.status = @STATUS_RUNNING@
	AND NOT EXISTS (SELECT FROM _sfflow.keyed_start o WHERE o.machine_no = k.machine_no AND o.key = k.key
		AND o.place NOT IN (@LINE_PLACES_LEFT@)
		AND (o.place NOT IN (@LINE_PLACES_WAITING@) OR o.entered_at < k.entered_at))
UNION ALL
