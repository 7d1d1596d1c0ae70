-- Tables: executions, the starts that found one, and how far the purge has come.
--
-- Keys begin with execution_no, so that history can be partitioned by range
-- (the number grows with time).  Hot tables have no foreign keys: their row
-- locks on the referenced rows would turn into multixacts.

CREATE SEQUENCE _sfflow.execution_no CACHE 32;

-- One row per execution.  status: see src/store/execution/status.h.  Only columns outside
-- every index change after the insert, so that updates are HOT.  Those that change
-- when it ends stand together: WAL has what is between the first and the last.
-- No CHECK holds status to SfStatus, or the columns about the parent to SfParentKind, as this table has no other one.
-- To set one up for each row that is written would cost a start about 4 microseconds, one of six columns about 8, and
-- the update of a database would read the executions of years under a lock. sf_check() tells of such rows
-- (parent_wrong).
-- Rows of ended executions do not change: the first vacuum freezes them, and no
-- later one writes years of pages again (docs/decisions/bloat.md).
CREATE TABLE _sfflow.execution (
	execution_no bigint NOT NULL PRIMARY KEY,
	machine_no integer NOT NULL,
	version integer NOT NULL,
	redrive_count integer NOT NULL DEFAULT 0,
	start_requests integer NOT NULL DEFAULT 1,
	parent_execution_no bigint,
	parent_branch_no bigint,
	parent_generation integer,			-- of the branch that waits for its end; NULL: none does
	map_run_no bigint,					-- item execution: its Map Run,
	map_index integer,					-- its index among the executions of it,
	map_items integer,					-- how many items it was given
	requested_at timestamptz NOT NULL,
	requested_by regrole,				-- role that called sf_start; NULL: another execution did
	priority smallint,					-- in queues of limits; NULL: 0
	qualifier text COLLATE "C",			-- version or alias that the start named; NULL: none
	trace_header text COLLATE "C",		-- that the AWS API was given with the start; NULL: none
	execution_id text COLLATE "C" NOT NULL UNIQUE,	-- machine:name
	status smallint NOT NULL,
	last_event_id integer NOT NULL DEFAULT 0,
	started_at timestamptz,
	stopped_at timestamptz,
	last_redriven_at timestamptz,
	idle_us bigint,						-- microseconds between its ends and its redrives; NULL: 0
	output jsonb,
	error text,
	cause text,
	input jsonb NOT NULL,
	labels jsonb,						-- texts by name, see label.sql; NULL: none
	trace text COLLATE "C"				-- that it is part of: traceparent, blank, tracestate, see trace.sql; NULL: none
) WITH (fillfactor = 70, autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0);

-- Child executions of an execution; those of a Distributed Map in their order.
CREATE INDEX execution_parent ON _sfflow.execution (parent_execution_no, map_run_no, map_index)
	WHERE parent_execution_no IS NOT NULL;

-- Lists, newest first: of a machine, and of the children of an execution. No column changes.
CREATE INDEX execution_machine ON _sfflow.execution (machine_no, requested_at);
CREATE INDEX execution_child ON _sfflow.execution (parent_execution_no, requested_at)
	WHERE parent_execution_no IS NOT NULL;

-- One row per open execution: one that has begun and has not ended with success.
-- An execution that succeeds in its first slice never has a row, so that lists of
-- running and of failed executions cost the others nothing.
CREATE TABLE _sfflow.open_execution (
	machine_no integer NOT NULL,
	status smallint NOT NULL,			-- that of the execution
	requested_at timestamptz NOT NULL,
	execution_no bigint NOT NULL,
	error text,							-- 500 characters of one that is longer than 2,000 bytes
	PRIMARY KEY (machine_no, status, requested_at, execution_no),
	CONSTRAINT open_execution_status CHECK (status IN (@STATUSES_OPEN@))
);

CREATE INDEX open_execution_error ON _sfflow.open_execution (machine_no, error, requested_at)
	WHERE error IS NOT NULL;

-- Calls of sf_start that found an execution and did not raise.
CREATE TABLE _sfflow.start_request (
	execution_no bigint NOT NULL,
	request_no integer NOT NULL,
	requested_at timestamptz NOT NULL,
	requested_by regrole NOT NULL,
	outcome text NOT NULL,				-- SfStartOutcome
	input_differs boolean NOT NULL,
	PRIMARY KEY (execution_no, request_no),
	CONSTRAINT start_request_outcome CHECK (outcome IN (@START_OUTCOME_WORDS@) AND outcome <> @START_OUTCOME_STARTED@)
);

-- How far the purge of a machine's executions of one status has come: it has looked at all that were
-- requested until then, and goes on behind them.
CREATE TABLE _sfflow.purge_position (
	machine_no integer NOT NULL,
	status smallint NOT NULL,			-- SfStatus
	requested_at timestamptz NOT NULL,
	began_at timestamptz NOT NULL,		-- when it was at the beginning
	looked_at bigint NOT NULL DEFAULT 0,	-- executions that it has looked at since then
	PRIMARY KEY (machine_no, status),
	CONSTRAINT purge_position_status CHECK (status IN (@STATUSES_ENDED@))
) WITH (fillfactor = 70);

-- When an execution starts that was to start later than at once, for lists of executions that run.
CREATE TABLE _sfflow.delayed_start (
	execution_no bigint NOT NULL PRIMARY KEY,
	start_at timestamptz NOT NULL
);
CREATE INDEX delayed_start_time ON _sfflow.delayed_start (start_at);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.execution_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.execution', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.open_execution', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.start_request', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.purge_position', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.delayed_start', '');
