-- Tables: runs of Distributed Maps.

-- One row per run of a Distributed Map state.  Counters of executions and of
-- items are of executions that have ended; status as in execution.
CREATE TABLE _sfflow.map_run (
	execution_no bigint NOT NULL,		-- that the state belongs to
	map_run_no bigint NOT NULL,
	branch_no bigint NOT NULL,			-- that waits for the run
	state integer NOT NULL,				-- state number in the program
	uuid text COLLATE "C" NOT NULL,		-- in the ARN and in the ids of its executions
	status smallint NOT NULL,
	redrive_count integer NOT NULL DEFAULT 0,
	keyed boolean NOT NULL,				-- items are the members of an object
	max_items integer,					-- to read; NULL: all
	max_items_per_batch integer,		-- NULL: no limit
	max_bytes_per_batch bigint,			-- NULL: no limit
	tolerated_count integer NOT NULL,
	tolerated_percentage double precision NOT NULL,
	max_concurrency integer,			-- NULL: no limit
	total integer NOT NULL,				-- items, so far as they have been read: the branch tells (items_unread)
	children integer NOT NULL,			-- item executions begun so far
	succeeded integer NOT NULL,
	failed integer NOT NULL,
	timed_out integer NOT NULL,
	aborted integer NOT NULL,
	items_succeeded integer NOT NULL,
	items_failed integer NOT NULL,
	started_at timestamptz NOT NULL,
	stopped_at timestamptz,
	idle_us bigint NOT NULL DEFAULT 0,	-- microseconds between its ends and its redrives
	PRIMARY KEY (execution_no, map_run_no),
	CONSTRAINT map_run_status CHECK (CASE WHEN stopped_at IS NULL THEN status = @STATUS_RUNNING@
		ELSE status IN (@STATUSES_ENDED@) END),
	CONSTRAINT map_run_limits CHECK (max_items > 0 AND max_items_per_batch > 0 AND max_bytes_per_batch > 0
		AND max_concurrency > 0)
) WITH (fillfactor = 70);

-- Items of a run that no execution has been given yet: read in one transaction,
-- deleted by the one that makes them an execution's input.
CREATE TABLE _sfflow.map_item (
	execution_no bigint NOT NULL,
	map_run_no bigint NOT NULL,
	item_index integer NOT NULL,
	item jsonb NOT NULL,
	PRIMARY KEY (execution_no, map_run_no, item_index)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.map_run', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.map_item', '');
