-- Tables: private to the extension; functions and views are the contract.
--
-- Keys begin with execution_no, so that history can be partitioned by range
-- (the number grows with time).  Hot tables have no foreign keys: their row
-- locks on the referenced rows would turn into multixacts.

CREATE SEQUENCE _sfflow.machine_no AS integer;
CREATE SEQUENCE _sfflow.execution_no CACHE 32;
CREATE SEQUENCE _sfflow.branch_no CACHE 256;

-- One row per state machine; its definition is in the versions.
CREATE TABLE _sfflow.state_machine (
	machine_no integer NOT NULL DEFAULT nextval('_sfflow.machine_no') PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	owner regrole NOT NULL,
	current_version integer NOT NULL,
	created_at timestamptz NOT NULL
);
CREATE INDEX state_machine_owner ON _sfflow.state_machine (owner);

-- A version never changes; programs are cached by this key.
CREATE TABLE _sfflow.state_machine_version (
	machine_no integer NOT NULL,
	version integer NOT NULL,
	definition json NOT NULL,
	execution_id_path text,
	options jsonb NOT NULL,
	created_at timestamptz NOT NULL,
	PRIMARY KEY (machine_no, version)
);

-- Names for versions, which sf_start may be given. routes: versions with the percentage of starts of each.
CREATE TABLE _sfflow.machine_alias (
	machine_no integer NOT NULL,
	alias text COLLATE "C" NOT NULL,
	routes jsonb NOT NULL,				-- {"3": 90, "4": 10}
	set_at timestamptz NOT NULL,
	created_at timestamptz NOT NULL,
	description text,					-- given by the AWS API
	PRIMARY KEY (machine_no, alias)
);

-- Rights given by sf_grant, and those that public has lost; role 0 ('-') is public.
CREATE TABLE _sfflow.privilege (
	object_kind "char" NOT NULL,		-- SfObjectKind
	object_name text COLLATE "C" NOT NULL,
	role regrole NOT NULL,
	privilege "char" NOT NULL,			-- SfPrivilege
	is_revoked boolean NOT NULL DEFAULT false,	-- public has it by itself, and has lost it
	PRIMARY KEY (object_kind, object_name, role, privilege)
);
CREATE INDEX privilege_role ON _sfflow.privilege (role);

-- One row per execution.  status: see src/store/execution/status.h.  Only columns outside
-- every index change after the insert, so that updates are HOT.  Those that change
-- when it ends stand together: WAL has what is between the first and the last.
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
	map_run_no bigint,					-- child of a Distributed Map: its run,
	map_index integer,					-- its index among the children of it,
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
	PRIMARY KEY (machine_no, status, requested_at, execution_no)
);

CREATE INDEX open_execution_error ON _sfflow.open_execution (machine_no, error, requested_at)
	WHERE error IS NOT NULL;

-- How far the purge of a machine's executions of one status has come: it has looked at all that were
-- requested until then, and goes on behind them.
CREATE TABLE _sfflow.purge_position (
	machine_no integer NOT NULL,
	status smallint NOT NULL,			-- SfStatus
	requested_at timestamptz NOT NULL,
	began_at timestamptz NOT NULL,		-- when it was at the beginning
	looked_at bigint NOT NULL DEFAULT 0,	-- executions that it has looked at since then
	PRIMARY KEY (machine_no, status)
) WITH (fillfactor = 70);

-- State machines that were dropped and still have executions, which no view shows. The purge deletes them, in batches
-- by requested_at, and then the row.
CREATE TABLE _sfflow.dropped_machine (
	machine_no integer NOT NULL PRIMARY KEY,
	name text COLLATE "C" NOT NULL,
	dropped_at timestamptz NOT NULL,
	requested_at timestamptz NOT NULL,	-- those requested until then have gone,
	passed_over boolean NOT NULL		-- but for some that were locked
);

-- One row per run of a Distributed Map state.  Counters of executions and of
-- items are of children that have ended; status as in execution.
CREATE TABLE _sfflow.map_run (
	execution_no bigint NOT NULL,		-- that the state belongs to
	map_run_no bigint NOT NULL,
	branch_no bigint NOT NULL,			-- that waits for the run
	state integer NOT NULL,				-- state number in the program
	uuid text COLLATE "C" NOT NULL,		-- in the ARN and in the ids of the children
	status smallint NOT NULL,
	redrive_count integer NOT NULL DEFAULT 0,
	keyed boolean NOT NULL,				-- items are the members of an object
	max_items integer NOT NULL,			-- to read; 0: all
	max_items_per_batch integer NOT NULL,	-- 0: no limit
	max_bytes_per_batch bigint NOT NULL,	-- 0: no limit
	tolerated_count integer NOT NULL,
	tolerated_percentage double precision NOT NULL,
	max_concurrency integer NOT NULL,	-- 0: no limit
	total integer NOT NULL,				-- items, so far as they have been read: the branch tells (items_unread)
	children integer NOT NULL,			-- begun so far
	succeeded integer NOT NULL,
	failed integer NOT NULL,
	timed_out integer NOT NULL,
	aborted integer NOT NULL,
	items_succeeded integer NOT NULL,
	items_failed integer NOT NULL,
	started_at timestamptz NOT NULL,
	stopped_at timestamptz,
	idle_us bigint NOT NULL DEFAULT 0,	-- microseconds between its ends and its redrives
	PRIMARY KEY (execution_no, map_run_no)
) WITH (fillfactor = 70);

-- Items of a run that no child has been given yet: read in one transaction,
-- deleted by the one that makes them a child's input.
CREATE TABLE _sfflow.map_item (
	execution_no bigint NOT NULL,
	map_run_no bigint NOT NULL,
	item_index integer NOT NULL,
	item jsonb NOT NULL,
	PRIMARY KEY (execution_no, map_run_no, item_index)
);

-- One row per branch: the root, a branch of a Parallel state, an iteration of a Map state, a job of a net; or the
-- machine's timeout, or the request to stop the execution, which are no branches and have numbers of their own
-- (src/base/name/work_key.h).  phase: see src/store/branch/branch.h.
-- Nearly every update changes due_at, which is in an index, so that room on the page
-- would not make it HOT.
CREATE TABLE _sfflow.branch (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	parent_no bigint,					-- NULL: no parent
	branch_index integer NOT NULL DEFAULT 0,	-- among the children of its parent; of a job: its number
	scope integer NOT NULL DEFAULT 0,
	state integer NOT NULL,
	phase smallint NOT NULL,
	place smallint NOT NULL DEFAULT 0,	-- of a job: SfNetJobPlace
	owner regrole NOT NULL,				-- of the machine: whose turn it is at
	attempt integer NOT NULL DEFAULT 0,	-- of this visit: $$.State.RetryCount
	generation integer NOT NULL DEFAULT 0,	-- grows with each dispatch and abort
	entered_event integer NOT NULL DEFAULT 0,
	last_event integer NOT NULL DEFAULT 0,	-- previous_event_id of the next event
	payload_event integer NOT NULL DEFAULT 0,	-- event that holds the payload, 0: none
	pending integer NOT NULL DEFAULT 0,	-- JOIN, NET: children that have not ended; of a job: those that it waits for
	next_index integer NOT NULL DEFAULT 0,	-- JOIN: iterations begun so far
	total integer NOT NULL DEFAULT 0,	-- JOIN: iterations in all, unless items_unread
	max_concurrency integer NOT NULL DEFAULT 0,
	failed_event integer NOT NULL DEFAULT 0,	-- JOIN: event of the first failure
	transitions integer NOT NULL DEFAULT 0,	-- of it and of its children that have ended
	map_run_no bigint,					-- Distributed Map: the run; its children are executions
	failing boolean NOT NULL DEFAULT false,	-- JOIN: a child has failed
	aborting boolean NOT NULL DEFAULT false,	-- JOIN: ends as ABORTED when its children have
	uncatchable boolean NOT NULL DEFAULT false,	-- the error cannot be caught
	due_at timestamptz,					-- NULL: waits for something without a time
	entered_at timestamptz,
	started_at timestamptz,				-- of the task that runs
	deadline timestamptz,				-- of the task that runs
	iterations integer[],				-- Map indexes, outermost first
	retry_counts integer[],				-- one per retrier
	jobs integer[],						-- SHARED: number, scope and state of each job of the row (net_job_rows.c)
	error text,
	cause text,
	sqlstate text,						-- ANSWERED, KEPT: with which a long task failed
	payload jsonb,						-- input of the state; DONE: output
	variables jsonb,
	task_payload jsonb,					-- ANNOUNCED
	outcome jsonb,						-- ANSWERED, KEPT: of the task
	join_input jsonb,					-- JOIN: items of a Map; input of the jobs of a net, if it is not the state's
	item jsonb,							-- of the Map's iteration, if a state of it looks at $$.Map.Item
	last_inner_event integer NOT NULL DEFAULT 0,	-- DONE: the last event before that of its end
	outcome_failed boolean NOT NULL DEFAULT false,	-- ANSWERED, KEPT: the outcome is an error
	unmet boolean NOT NULL DEFAULT false,	-- a job that waits: one of its After has ended in another way than it needs
	job_ends integer[],					-- of a JobNet that goes on as a whole: how its jobs have ended (net_job_rows.c)
	items_unread boolean NOT NULL DEFAULT false,	-- a Distributed Map reads its items, and total is not known
	PRIMARY KEY (execution_no, branch_no),
	CONSTRAINT branch_number CHECK (CASE branch_no
		WHEN @BRANCH_TIMEOUT@ THEN phase = @PHASE_TIMEOUT@
		WHEN @BRANCH_STOP@ THEN phase = @PHASE_STOP@
		ELSE branch_no >= @BRANCH_ROOT@ AND phase NOT IN (@PHASES_OF_EXECUTION@) END),
	CONSTRAINT branch_phase CHECK (CASE
		WHEN phase IN (@PHASES_ENDED@) THEN due_at IS NULL
		ELSE due_at IS NOT NULL OR phase <> @PHASE_ANSWERED@ END
		AND (task_payload IS NULL OR phase = @PHASE_ANNOUNCED@)
		AND (outcome IS NULL AND sqlstate IS NULL AND NOT outcome_failed OR phase IN (@PHASES_WITH_OUTCOME@))
		AND (outcome IS NULL OR NOT outcome_failed)
		AND (last_inner_event = 0 OR phase = @PHASE_DONE@)),
	CONSTRAINT branch_jobs CHECK (CASE place
		WHEN @NET_JOB_PLACE_SHARED@ THEN jobs IS NOT NULL AND phase = @PHASE_DONE@ ELSE jobs IS NULL END),
	CONSTRAINT branch_items CHECK (NOT items_unread OR map_run_no IS NOT NULL)
);

-- Everything that is or will be due: owners take turns, each has its own in order.
CREATE INDEX branch_due ON _sfflow.branch (owner, due_at) WHERE due_at IS NOT NULL;

-- The children of a Parallel or Map state.
CREATE INDEX branch_parent ON _sfflow.branch (execution_no, parent_no, place, branch_index)
	WHERE parent_no IS NOT NULL;

-- History: one row per execution and slice.  src/store/README.md has the format of a body; the view
-- _sfflow.history_event shows the events.  Rows never change, so the first vacuum of a page freezes it.
CREATE TABLE _sfflow.history (
	execution_no bigint NOT NULL,
	at timestamptz NOT NULL,			-- of the first event
	first_id integer NOT NULL,			-- of the first event; the others follow it
	body bytea NOT NULL,				-- the events
	documents jsonb[],					-- their payloads and other details, in order
	PRIMARY KEY (execution_no, first_id)
) WITH (autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0);

DO $compression$
BEGIN
	IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
		ALTER TABLE _sfflow.history ALTER body SET COMPRESSION lz4, ALTER documents SET COMPRESSION lz4;
	END IF;
END $compression$;

-- Calls of sf_start that found an execution and did not raise.
CREATE TABLE _sfflow.start_request (
	execution_no bigint NOT NULL,
	request_no integer NOT NULL,
	requested_at timestamptz NOT NULL,
	requested_by regrole NOT NULL,
	outcome text NOT NULL,				-- a word of SF_START_OUTCOME_LIST
	input_differs boolean NOT NULL,
	PRIMARY KEY (execution_no, request_no)
);

-- Resource names that stand for others; role 0 is not used.
CREATE TABLE _sfflow.resource_map (
	owner regrole NOT NULL,
	pattern text COLLATE "C" NOT NULL,
	resource text NOT NULL,
	PRIMARY KEY (owner, pattern)
);

-- The last document of each name that a role has given to sf_apply with a revision. Names are text: the rows
-- outlive the roles.
CREATE TABLE _sfflow.applied_definitions (
	role text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,		-- of the document; '': it has none
	revision bigint NOT NULL,
	digest text NOT NULL,
	applied_at timestamptz NOT NULL,
	PRIMARY KEY (role, name)
);

-- Which copy of the database is driven.  Not dumped: a copy that lacks the
-- row, or holds another one, is driven only after sf_enable().
CREATE TABLE _sfflow.instance (
	only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
	system_identifier bigint NOT NULL,
	database_oid oid NOT NULL,
	incarnation bigint NOT NULL,		-- id of the data directory: src/copy/instance.h
	enabled boolean NOT NULL,
	stopped_because text,				-- not enabled, and not by sf_disable(): why
	changed_at timestamptz NOT NULL,
	node integer,						-- of sf_set_node(): whose numbers it draws; NULL: it is alone
	CONSTRAINT instance_stopped CHECK (stopped_because IS NULL OR NOT enabled)
);

-- One row per branch that a feature keeps from going on, as until the end of a hold, or until it is its turn under a
-- limit: its due_at is NULL. The row of a branch that went on in another way, because its execution was stopped, means
-- nothing.
CREATE TABLE _sfflow.parked (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	feature text COLLATE "C" NOT NULL,	-- hold, limit or start_key
	object_no bigint NOT NULL,			-- hold_no, limit_no or 0: waits for this one,
	queue bigint,						-- in the queue of one value of the limit's key,
	rank timestamptz,					-- in this order, behind what has a slot already: see without_slot. No time of
										-- anything: since, less a minute for each step of the execution's priority
										-- (order_of in src/feature/limit/limit_gate.c): old ones overtake in the end
	since timestamptz,					-- when it could have begun
	without_slot boolean NOT NULL DEFAULT true,	-- false: a task with the slot that others of the queue wait for
	PRIMARY KEY (execution_no, branch_no),
	CONSTRAINT parked_rank CHECK (CASE WHEN queue IS NULL THEN rank IS NULL AND without_slot ELSE rank IS NOT NULL END)
);

-- Only limits have queues: the number tells the object.
CREATE INDEX parked_queue ON _sfflow.parked (object_no, queue, without_slot, rank, execution_no, branch_no)
	WHERE queue IS NOT NULL;
CREATE INDEX parked_object ON _sfflow.parked (object_no) WHERE queue IS NULL;

-- Number of the schema that the rows of the tables are of. Dumped: so sf_enable() notices rows that were loaded into
-- the tables of another schema. Written when a database is adopted, and by updates of the extension. Data that is
-- restored into an emptied database adds a row, so no key forbids one.
CREATE TABLE _sfflow.schema_of_rows (
	number integer NOT NULL
);
ALTER TABLE _sfflow.schema_of_rows REPLICA IDENTITY FULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.schema_of_rows', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.machine_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.execution_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.branch_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.state_machine', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.state_machine_version', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.machine_alias', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.privilege', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.execution', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.open_execution', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.purge_position', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.dropped_machine', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.branch', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.parked', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.map_run', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.map_item', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.history', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.start_request', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.resource_map', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.applied_definitions', '');
