\echo Use "CREATE EXTENSION sfflow" to load this file. \quit

-- The private schema: tables live here, functions and views of the extension's schema are the
-- contract.

-- Nothing of the schemas that exist before is found by its bare name, so every view, default and
-- constraint below binds to pg_catalog. LOCAL: CREATE EXTENSION takes it back at its end.
SET LOCAL search_path TO pg_catalog, pg_temp;

CREATE SCHEMA _sfflow;

-- Stands in pg_shdepend for every role that owns something of sfflow or has a right, so that
-- DROP ROLE refuses and names it.
CREATE DOMAIN _sfflow.owner_or_grantee AS regrole;
COMMENT ON DOMAIN _sfflow.owner_or_grantee IS
	'roles that own a state machine, an activity, a schedule, a calendar, a rule or a resource name, or have an access key or a right given by sf_grant';

-- The number of this schema, in the name: the library looks for it in the catalogue cache before it does anything here
-- (src/base/schema.h). An update drops the function and creates that of its own number.
CREATE FUNCTION _sfflow.schema_1() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 1;

CREATE FUNCTION @extschema@.sf_version(OUT release text, OUT library_schema integer, OUT database_schema integer, OUT advice text)
AS 'MODULE_PATHNAME', 'sfflow_sf_version'
LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_version() IS
	'the release of the library, the number of its schema, that of this database, and what to do where they differ';

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

-- Rights given by sf_grant; role 0 ('-') is public.
CREATE TABLE _sfflow.privilege (
	object_kind "char" NOT NULL,		-- m: state machine, a: activity
	object_name text COLLATE "C" NOT NULL,
	role regrole NOT NULL,
	privilege "char" NOT NULL,			-- S: START, R: READ, O: OPERATE, W: WORK
	PRIMARY KEY (object_kind, object_name, role, privilege)
);
CREATE INDEX privilege_role ON _sfflow.privilege (role);

-- One row per execution.  status: see src/store/branch.h.  Only columns outside
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
	map_index integer,					-- its place among the children of it,
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
	input jsonb NOT NULL
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
	status text NOT NULL,				-- by name, as in sf_executions
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
	status text NOT NULL,				-- by name
	requested_at timestamptz NOT NULL,
	began_at timestamptz NOT NULL,		-- when it was at the beginning
	looked_at bigint NOT NULL DEFAULT 0,	-- executions that it has looked at since then
	PRIMARY KEY (machine_no, status)
) WITH (fillfactor = 70);

-- State machines that were dropped and still have executions, which no view shows. The purge deletes them, in batches by
-- requested_at, and then the row.
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
	total integer NOT NULL,				-- items; 0 until they are read
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

-- One row per branch: the root (branch_no 0), a branch of a Parallel state, an
-- iteration of a Map state, or the machine's deadline (branch_no -1).  phase: see
-- src/store/branch.h.  Nearly every update changes due_at, which is in an index, so
-- that room on the page would not make it HOT.
CREATE TABLE _sfflow.branch (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	parent_no bigint,					-- NULL: no parent
	branch_index integer NOT NULL DEFAULT 0,	-- of a job: its rank
	scope integer NOT NULL DEFAULT 0,
	state integer NOT NULL,
	phase smallint NOT NULL,
	place smallint NOT NULL DEFAULT 0,	-- of a job that has not begun: 1 waits for others, 2 for room; 3: row of ended jobs
	owner regrole NOT NULL,				-- of the machine: whose turn it is at
	attempt integer NOT NULL DEFAULT 0,	-- of this visit: $$.State.RetryCount
	generation integer NOT NULL DEFAULT 0,	-- grows with each dispatch and abort
	entered_event integer NOT NULL DEFAULT 0,
	last_event integer NOT NULL DEFAULT 0,	-- previous_event_id of the next event
	payload_event integer NOT NULL DEFAULT 0,	-- event that holds the payload, 0: none
	pending integer NOT NULL DEFAULT 0,	-- JOIN: children that have not ended
	next_index integer NOT NULL DEFAULT 0,	-- JOIN: iterations begun so far
	total integer NOT NULL DEFAULT 0,	-- JOIN: iterations in all
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
	jobs integer[],						-- JobNet: jobs without rows of their own (src/store/job_rows.c)
	error text,
	cause text,
	sqlstate text,						-- ANSWERED: with which a long task failed
	payload jsonb,						-- input of the state; DONE: output
	variables jsonb,
	task_payload jsonb,					-- ANNOUNCED
	outcome jsonb,						-- ANSWERED: of the task
	join_input jsonb,					-- JOIN: items of a Map; input of the jobs of a net, if it is not the state's
	item jsonb,							-- of the Map's iteration, if a state of it looks at $$.Map.Item
	PRIMARY KEY (execution_no, branch_no)
);

-- Everything that is or will be due: owners take turns, each has its own in order.
CREATE INDEX branch_due ON _sfflow.branch (owner, due_at) WHERE due_at IS NOT NULL;

-- The children of a Parallel or Map state.
CREATE INDEX branch_parent ON _sfflow.branch (execution_no, parent_no, place, branch_index)
	WHERE parent_no IS NOT NULL;

-- History: one row per execution and slice.  src/store/README.md has the format of a body; the view
-- _sfflow.event shows the events.  Rows never change, so the first vacuum of a page freezes it.
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
	outcome text NOT NULL,				-- running, succeeded, redriven, skipped, restarted and so on
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

-- Schedules; the job itself is pg_cron's.
CREATE TABLE _sfflow.schedule (
	name text COLLATE "C" NOT NULL PRIMARY KEY,
	owner regrole NOT NULL,
	schedule text NOT NULL,
	state_machine text COLLATE "C" NOT NULL,
	input jsonb NOT NULL,
	timezone text,
	calendar text COLLATE "C",
	on_closed text NOT NULL DEFAULT 'skip',
	starts timestamptz,
	ends timestamptz,
	missed text NOT NULL DEFAULT 'run_once',
	overlap text NOT NULL DEFAULT 'skip',
	job_id bigint,
	last_execution_id text,
	handled_until timestamptz,			-- latest match that a run was for, or that was given up
	missed_at timestamptz,				-- latest match that was given up, as "missed" says
	changed_at timestamptz NOT NULL,	-- no run is expected for a match before
	created_at timestamptz NOT NULL
);
CREATE INDEX schedule_owner ON _sfflow.schedule (owner);
CREATE INDEX schedule_calendar ON _sfflow.schedule (calendar) WHERE calendar IS NOT NULL;

-- Calendars: which days are open, and which are picked. Every role may read them.
CREATE TABLE _sfflow.calendar (
	name text COLLATE "C" NOT NULL PRIMARY KEY,
	owner regrole NOT NULL,
	rule jsonb NOT NULL,
	days jsonb,							-- NULL: those of the calendar that it extends
	changed_at timestamptz NOT NULL,	-- a schedule that uses it expects no run for a time before
	created_at timestamptz NOT NULL
);
CREATE INDEX calendar_owner ON _sfflow.calendar (owner);
CREATE INDEX calendar_extends ON _sfflow.calendar ((rule ->> 'Extends')) WHERE rule ->> 'Extends' IS NOT NULL;

-- What became of the runs of a schedule; the last ones of each schedule. A call by pg_cron that failed has no row.
CREATE TABLE _sfflow.schedule_run (
	schedule text COLLATE "C" NOT NULL,
	run_at timestamptz NOT NULL,
	pid integer NOT NULL,				-- of the process, which pg_cron notes, too
	scheduled_for timestamptz,			-- NULL: the call was for no match in the schedule's zone
	execution_id text,
	outcome text NOT NULL,				-- as in sf_schedule_runs
	message text,						-- of the error
	PRIMARY KEY (schedule, run_at)
);

-- Runs that are to start once earlier ones have ended: of a schedule that queues them, and of sf_backfill.
CREATE TABLE _sfflow.schedule_wait (
	schedule text COLLATE "C" NOT NULL,
	scheduled_for timestamptz NOT NULL,
	max_running integer,				-- of sf_backfill: executions that run at once; NULL: of the schedule itself
	execution_id text,					-- of sf_backfill: it has started
	PRIMARY KEY (schedule, scheduled_for)
);

-- Which copy of the database is driven.  Not dumped: a copy that lacks the
-- row, or holds another one, is driven only after sf_enable().
CREATE TABLE _sfflow.instance (
	only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
	system_identifier bigint NOT NULL,
	database_oid oid NOT NULL,
	incarnation bigint NOT NULL,		-- id of the data directory: src/store/instance_file.h
	enabled boolean NOT NULL,
	stopped_because text,				-- not enabled, and not by sf_disable(): why
	changed_at timestamptz NOT NULL
);

-- One row per branch that a feature keeps from going on, as until the end of a hold, or until it is its turn under a limit:
-- its due_at is NULL. The row of a branch that went on in another way, because its execution was stopped, means nothing.
CREATE TABLE _sfflow.held (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	feature text COLLATE "C" NOT NULL,	-- hold or limit
	object_no bigint NOT NULL,			-- hold_no or limit_no: waits for this one,
	queue bigint,						-- in the queue of one value of the limit's key,
	rank timestamptz,					-- in this order
	since timestamptz,					-- when it could have begun
	PRIMARY KEY (execution_no, branch_no)
);

-- Only limits have queues: the number tells the object.
CREATE INDEX held_queue ON _sfflow.held (object_no, queue, rank, execution_no, branch_no) WHERE queue IS NOT NULL;
CREATE INDEX held_object ON _sfflow.held (object_no) WHERE queue IS NULL;

-- Number of the schema that the rows of the tables are of. Dumped: so sf_enable() notices rows that were loaded into the
-- tables of another schema. Written when a database is adopted, and by updates of the extension. Data that is restored
-- into an emptied database adds a row, so no key forbids one.
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
SELECT pg_catalog.pg_extension_config_dump('_sfflow.held', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.map_run', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.map_item', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.history', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.start_request', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.resource_map', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.schedule', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.schedule_run', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.schedule_wait', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.calendar', '');

-- Work outside the database: activities, and tasks that were handed out.

CREATE SEQUENCE _sfflow.activity_no AS integer;

-- One row per activity: a queue that programs outside poll.
CREATE TABLE _sfflow.activity (
	activity_no integer NOT NULL DEFAULT nextval('_sfflow.activity_no') PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	owner regrole NOT NULL,
	lease interval,
	max_receive_count integer,
	created_at timestamptz NOT NULL,
	last_polled_at timestamptz,
	last_worker text
) WITH (fillfactor = 50);
CREATE INDEX activity_owner ON _sfflow.activity (owner);

-- One row per task that a client outside answers; its branch is in phase
-- EXTERNAL.  status: see src/store/task.h.
CREATE TABLE _sfflow.task (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	activity_no integer,				-- NULL: a token alone
	status smallint NOT NULL,
	generation integer NOT NULL,		-- of the branch, when it was handed out
	state integer NOT NULL,
	attempt integer NOT NULL,
	receives integer NOT NULL DEFAULT 0,
	scheduled_at timestamptz NOT NULL,
	started_at timestamptz,
	heartbeat_at timestamptz,
	lease_until timestamptz,
	timeout_ms bigint,					-- of the task, from started_at
	heartbeat_ms bigint,
	secret bytea NOT NULL,
	worker text,
	resource text,						-- what is asked for; NULL: the state's Resource
	input jsonb,
	submitted jsonb,					-- what the request returned, until history has it
	PRIMARY KEY (execution_no, branch_no)
) WITH (fillfactor = 70);

-- What waits to be taken, oldest first.
CREATE INDEX task_queued ON _sfflow.task (activity_no, scheduled_at) WHERE status = 0;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.activity_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.activity', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.task', '');

-- What operators did: one row per action, but for starts, which the rows of executions tell.

-- Roles by name: the row outlives the role. Rows go with the execution, with the object, or by their age.
CREATE TABLE _sfflow.audit (
	at timestamptz NOT NULL,
	action text NOT NULL,
	object_kind "char" NOT NULL,		-- m: state machine, a: activity, s: schedule, c: calendar, r: rule, *: the database
	object_name text COLLATE "C" NOT NULL,
	execution_no bigint,				-- NULL: of the object itself
	target text COLLATE "C" NOT NULL,				-- as an operator writes it
	role text COLLATE "C" NOT NULL,
	session_role text COLLATE "C" NOT NULL,
	reason text,
	details jsonb
);

-- Its rows have no key; logical replication finds a deleted one by all its columns.
ALTER TABLE _sfflow.audit REPLICA IDENTITY FULL;
-- Pages of all objects, the newest first; and what is old enough to be deleted.
CREATE INDEX audit_at ON _sfflow.audit (at);
CREATE INDEX audit_object ON _sfflow.audit (object_kind, object_name, at);
CREATE INDEX audit_execution ON _sfflow.audit (execution_no) WHERE execution_no IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.audit', '');

-- Tables of metrics: increments that slices write, the counters that they are folded into; failures,
-- and whether they were acknowledged.

-- One row per slice and state machine, deleted when it has been folded. counts: src/store/metric.c.
-- Its rows have no key; logical replication finds a deleted one by all its columns.
CREATE TABLE _sfflow.metric_increment (
	xid bigint NOT NULL,				-- of the transaction that wrote it: saves reading, decides nothing
	at timestamptz NOT NULL,
	machine_no integer NOT NULL,
	version integer NOT NULL,
	counts bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
	autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 50000);
ALTER TABLE _sfflow.metric_increment REPLICA IDENTITY FULL;
CREATE INDEX metric_increment_xid ON _sfflow.metric_increment (xid);

-- The one row, made by the first fold, is locked by the transaction that folds. Increments of transactions
-- before from_xid were folded, but for those that were open. It holds for this database alone, and is not
-- dumped; sf_enable() forgets it, since rows may have been loaded.
CREATE TABLE _sfflow.metric_fold (
	only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
	system_identifier bigint,
	database_oid oid,
	from_xid bigint,
	open_xids bigint[]
) WITH (fillfactor = 10);

-- Counters of a state machine. time_us: of executions that have ended, a sum that may exceed a bigint
-- (292,000 years); its histogram: src/store/histogram.h.
CREATE TABLE _sfflow.metric_total (
	machine_no integer NOT NULL PRIMARY KEY,
	started bigint NOT NULL,
	succeeded bigint NOT NULL,
	failed bigint NOT NULL,
	aborted bigint NOT NULL,
	timed_out bigint NOT NULL,
	throttled bigint NOT NULL,
	redriven bigint NOT NULL,
	transitions bigint NOT NULL,
	retries bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL
) WITH (fillfactor = 50);

-- The same by hour (UTC).
CREATE TABLE _sfflow.metric_hour (
	machine_no integer NOT NULL,
	hour timestamptz NOT NULL,
	started bigint NOT NULL,
	succeeded bigint NOT NULL,
	failed bigint NOT NULL,
	aborted bigint NOT NULL,
	timed_out bigint NOT NULL,
	throttled bigint NOT NULL,
	redriven bigint NOT NULL,
	transitions bigint NOT NULL,
	retries bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL,
	PRIMARY KEY (machine_no, hour)
) WITH (fillfactor = 90);

-- Tasks of a state, by its name. recent_us: durations of its last runs, the latest first.
CREATE TABLE _sfflow.metric_job (
	machine_no integer NOT NULL,
	job text COLLATE "C" NOT NULL,
	runs bigint NOT NULL,
	failures bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL,
	recent_us bigint[] NOT NULL,
	last_at timestamptz,
	PRIMARY KEY (machine_no, job)
) WITH (fillfactor = 50);

-- The same by day (UTC).
CREATE TABLE _sfflow.metric_job_day (
	machine_no integer NOT NULL,
	day timestamptz NOT NULL,
	job text COLLATE "C" NOT NULL,
	runs bigint NOT NULL,
	failures bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL,
	PRIMARY KEY (machine_no, day, job)
) WITH (fillfactor = 90);

CREATE TABLE _sfflow.metric_retry (
	machine_no integer NOT NULL,
	state text COLLATE "C" NOT NULL,
	error text COLLATE "C" NOT NULL,
	retries bigint NOT NULL,
	PRIMARY KEY (machine_no, state, error)
) WITH (fillfactor = 50);

-- One row per execution that has failed or timed out, until it is purged. Open: it was neither redriven
-- nor acknowledged since.
CREATE TABLE _sfflow.failure (
	execution_no bigint NOT NULL PRIMARY KEY,
	machine_no integer NOT NULL,
	times integer NOT NULL,				-- it has failed under its id
	failed_at timestamptz NOT NULL,
	is_open boolean NOT NULL
);
CREATE INDEX failure_open ON _sfflow.failure (machine_no, failed_at) WHERE is_open;

-- The last acknowledgement of an alert of an execution. since: of the alert; of slow tasks the latest one,
-- and slow_since has all: a task that began earlier may become slow later.
CREATE TABLE _sfflow.acknowledgement (
	execution_no bigint NOT NULL,
	kind text COLLATE "C" NOT NULL,
	since timestamptz NOT NULL,
	acknowledged_at timestamptz NOT NULL,
	acknowledged_by regrole NOT NULL,
	comment text,
	slow_since timestamptz[],
	PRIMARY KEY (execution_no, kind)
);

-- Alerts that time opens and clears, as rules were told of them: one row per alert that is open, while a rule
-- wants to know. object: the execution, the activity, the schedule or the machine. since: -infinity if it is
-- not known. machine_no, owner: for the rules that are told of its end, when what it is of is gone.
CREATE TABLE _sfflow.told_alert (
	kind text COLLATE "C" NOT NULL,
	object text COLLATE "C" NOT NULL,
	since timestamptz NOT NULL,
	execution_no bigint,
	machine_no integer,
	owner regrole,
	PRIMARY KEY (kind, object, since)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_increment', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_total', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_hour', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_job', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_job_day', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_retry', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.failure', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.acknowledgement', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.told_alert', '');

-- Limits: how much of what they name runs at a time, or begins in a span of time. Each backend keeps
-- those of what it works with (src/feature/limit/limit.c). What waits has a row in held.

CREATE SEQUENCE _sfflow.limit_no;

CREATE TABLE _sfflow.run_limit (
	limit_no bigint NOT NULL DEFAULT nextval('_sfflow.limit_no') PRIMARY KEY,
	kind text COLLATE "C" NOT NULL,		-- machine, activity or resource
	name text COLLATE "C" NOT NULL,
	state text COLLATE "C" NOT NULL,	-- '': of a machine, its executions
	key text COLLATE "C" NOT NULL,		-- path of the value that has a limit of its own; '': one for all
	in_definition boolean NOT NULL,		-- set by the definition of the machine, not by sf_set_limit
	machine_no integer,
	owner regrole,						-- of a resource: for this role's machines alone; NULL: for all
	max_running integer,
	highest integer NOT NULL,			-- slots with greater numbers are not in use
	rate double precision,				-- begin in so many microseconds:
	per bigint NOT NULL,
	fails boolean NOT NULL,				-- what would wait fails
	set_at timestamptz NOT NULL,
	set_by text NOT NULL,
	counted boolean NOT NULL DEFAULT false,	-- all that runs has slots; older dumps do not say
	horizon xid8,						-- else when transactions with lower numbers have ended; NULL: not known yet
	covers bigint,						-- hash of the roles with whose rights the owner acts, so that a change is seen
	uncounted_at timestamptz			-- when counted became false, if later than set_at
);

CREATE UNIQUE INDEX run_limit_target ON _sfflow.run_limit (kind, name, state, key, in_definition, (coalesce(owner::oid, 0)));
CREATE INDEX run_limit_owner ON _sfflow.run_limit (owner) WHERE owner IS NOT NULL;
CREATE INDEX run_limit_machine ON _sfflow.run_limit (machine_no) WHERE machine_no IS NOT NULL;
CREATE INDEX run_limit_uncounted ON _sfflow.run_limit (limit_no) WHERE NOT counted;
CREATE INDEX run_limit_lowered ON _sfflow.run_limit (limit_no) WHERE highest > max_running;

-- One row per slot that is taken for longer than a transaction: by a branch, or by an execution as a whole
-- (branch_no -3). Slots are taken under a lock by number (src/feature/limit/limit_slot.c).
CREATE TABLE _sfflow.limit_slot (
	limit_no bigint NOT NULL,
	queue bigint NOT NULL,				-- hash of the key's value
	slot integer NOT NULL,
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	PRIMARY KEY (limit_no, queue, slot)
);

CREATE INDEX limit_slot_holder ON _sfflow.limit_slot (execution_no, branch_no);

-- Tokens of rates whose buckets have no place in shared memory (src/feature/limit/limit_rate.c), as times of a clock that is
-- never set back. They say nothing after a start of the server.
CREATE UNLOGGED TABLE _sfflow.rate_token (
	limit_no bigint NOT NULL,
	queue bigint NOT NULL,
	drawn_tick bigint NOT NULL,			-- when it was drawn
	next_tick bigint NOT NULL,			-- the next one may begin then
	full_tick bigint NOT NULL			-- ... and the bucket is full then
);

CREATE INDEX rate_token_time ON _sfflow.rate_token (limit_no, queue, next_tick);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.limit_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.run_limit', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.limit_slot', '');

-- Tables of rules: what they are, what they are to deliver, and how rules led to executions.

CREATE SEQUENCE _sfflow.rule_no;

-- pattern: an event pattern of EventBridge; input: a template, NULL: the event itself. A rule that is dropped and
-- made again has another number: what was to be delivered by the former is nothing to the latter.
CREATE TABLE _sfflow.rule (
	rule_no bigint NOT NULL DEFAULT nextval('_sfflow.rule_no') PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	owner regrole NOT NULL,
	target text NOT NULL,
	created_at timestamptz NOT NULL,
	bytes integer NOT NULL,				-- of pattern and input as text: counts for a quota of the owner
	wants_alerts boolean NOT NULL,		-- its pattern may match events of alerts
	pattern jsonb NOT NULL,
	input jsonb
);
CREATE INDEX rule_of_owner ON _sfflow.rule (owner);
CREATE INDEX rule_alerts ON _sfflow.rule (rule_no) WHERE wants_alerts;

-- One row per role that has rules or had some. Its version is another one after each change of its rules, and is
-- never given twice: a backend that has the rules of this version has those of now (src/rule/watcher.c).
CREATE SEQUENCE _sfflow.rule_version;
CREATE TABLE _sfflow.rule_owner (
	owner regrole NOT NULL PRIMARY KEY,
	version bigint NOT NULL
) WITH (fillfactor = 50);

-- Deliveries of a rule that were made: the sum of its rows. A process adds to any row that no other one has
-- locked, or makes another row, so that none waits. The rows have no key; logical replication finds one by all columns.
CREATE TABLE _sfflow.rule_total (
	rule_no bigint NOT NULL,
	delivered bigint NOT NULL
) WITH (fillfactor = 10);
CREATE INDEX rule_total_rule ON _sfflow.rule_total (rule_no);
ALTER TABLE _sfflow.rule_total REPLICA IDENTITY FULL;

-- One row per event and rule that it matches, until the target was called, or the row was dropped.
CREATE TABLE _sfflow.rule_delivery (
	rule_no bigint NOT NULL,
	event_id text COLLATE "C" NOT NULL,
	owner regrole NOT NULL,				-- of the rule
	attempt integer NOT NULL,			-- how many there were; -1: claimed with others, and maybe not tried
	depth integer NOT NULL,				-- rules that led to the event, and this one
	due_at timestamptz,					-- NULL: it is dead
	created_at timestamptz NOT NULL,	-- when the transaction began
	failed_at timestamptz,				-- the last attempt: when, and how
	error text,
	cause text,
	event jsonb NOT NULL,
	PRIMARY KEY (rule_no, event_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What was not tried yet: owners take turns. What is to be tried again.
CREATE INDEX rule_delivery_new ON _sfflow.rule_delivery (owner, due_at) WHERE attempt = 0 AND due_at IS NOT NULL;
CREATE INDEX rule_delivery_again ON _sfflow.rule_delivery (due_at) WHERE attempt <> 0 AND due_at IS NOT NULL;

-- Executions that a target of a rule started, or that were started by a task of such a one: how many
-- rules led to them.
CREATE TABLE _sfflow.rule_chain (
	execution_no bigint NOT NULL PRIMARY KEY,
	depth integer NOT NULL
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_version', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_owner', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_total', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_delivery', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_chain', '');

-- What the AWS API has beyond the other functions: keys, tags, publication of versions.

-- One row per access key: which role a request signed with it runs as. No role but the owner reads it.
CREATE TABLE _sfflow.access_key (
	access_key_id text COLLATE "C" NOT NULL PRIMARY KEY,
	role regrole NOT NULL,
	secret text NOT NULL,				-- as it is: signatures are computed from it
	created_at timestamptz NOT NULL,
	created_by text COLLATE "C" NOT NULL,	-- current_user and
	created_in text COLLATE "C" NOT NULL	-- session_user then, by name: the row may outlive these roles
);
CREATE INDEX access_key_role ON _sfflow.access_key (role);

-- What the API keeps of state machines and activities, beside the "aws" in the options of a version.
CREATE TABLE _sfflow.aws_resource (
	object_kind "char" NOT NULL,		-- as in privilege
	object_name text COLLATE "C" NOT NULL,
	tags jsonb NOT NULL,				-- {"key": "value"}
	encryption jsonb,					-- encryptionConfiguration of an activity, as given
	PRIMARY KEY (object_kind, object_name)
);

-- Revisions that the API has made, published or deleted. A revision without a row was made by
-- sf_create_state_machine and counts as published. The API numbers what was published from 1 on, and gives no number
-- twice; numbers grow with the revisions, because only the newest one can be published.
CREATE TABLE _sfflow.version_publication (
	machine_no integer NOT NULL,
	version integer NOT NULL,
	published boolean NOT NULL,
	published_at timestamptz NOT NULL,
	description text,
	number integer,						-- of its last publication; NULL: it was never published
	PRIMARY KEY (machine_no, version)
);

-- What is known of the publication of the revisions of a state machine. Those without a row go on counting from the
-- number before them.
CREATE FUNCTION _sfflow.publications(
	machine_no integer,
	OUT version integer,
	OUT published boolean,
	OUT published_at timestamptz,
	OUT description text,
	OUT number integer)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT b.version, b.published, b.published_at, b.description, CASE WHEN b.has_row THEN b.own ELSE
			coalesce(b.before, 0) + (count(*) FILTER (WHERE NOT b.has_row) OVER (PARTITION BY b.before ORDER BY b.version))::integer END
	FROM (SELECT v.version, coalesce(p.published, true) AS published, coalesce(p.published_at, v.created_at) AS published_at,
			p.description, p.number AS own, p.machine_no IS NOT NULL AS has_row,
			max(p.number) OVER (ORDER BY v.version) AS before
		FROM _sfflow.state_machine_version AS v
		LEFT JOIN _sfflow.version_publication AS p ON p.machine_no = v.machine_no AND p.version = v.version
		WHERE v.machine_no = $1) AS b
$$;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.access_key', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.aws_resource', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.version_publication', '');

-- Deadlines, and what was late.

-- One row per target. start_minute, end_minute: of the local day; NULL: none.
CREATE TABLE _sfflow.deadline (
	target text COLLATE "C" NOT NULL PRIMARY KEY,	-- as an operator writes it
	schedule text COLLATE "C",			-- of a schedule: its name;
	machine_no integer,					-- else the machine,
	job text COLLATE "C",				-- and a Task state of it
	start_minute integer,
	end_minute integer,
	timezone text NOT NULL,
	calendar text COLLATE "C",
	checked_until timestamptz NOT NULL,	-- deadlines until then were dealt with
	next_at timestamptz NOT NULL,		-- when to look again
	walk_step integer,					-- of a look that is not over: where it goes on. NULL: all looks are over
	walk_now timestamptz,				-- when it began,
	walk_at timestamptz,				-- the executions of the step that were looked at: requested until then,
	walk_late_no bigint,				-- the first of them that is late,
	walk_found boolean,					-- and whether there were any
	set_at timestamptz NOT NULL,
	set_by text NOT NULL
);
CREATE INDEX deadline_next ON _sfflow.deadline (next_at);
CREATE INDEX deadline_machine ON _sfflow.deadline (machine_no) WHERE machine_no IS NOT NULL;
CREATE INDEX deadline_schedule ON _sfflow.deadline (schedule) WHERE schedule IS NOT NULL;
CREATE INDEX deadline_calendar ON _sfflow.deadline (calendar) WHERE calendar IS NOT NULL;

-- What was raised: one row per deadline of a night, what it is of, and state. Rows are kept for 400 days.
CREATE TABLE _sfflow.lateness (
	target text COLLATE "C" NOT NULL,
	deadline_at timestamptz NOT NULL,
	due_by text COLLATE "C" NOT NULL,	-- start, end
	state text COLLATE "C" NOT NULL,	-- late, will_be_late, never_started
	base_at timestamptz NOT NULL,		-- the run of the schedule, or when the night began
	execution_no bigint,				-- NULL: there was none
	expected_at timestamptz,			-- of will_be_late
	raised_at timestamptz NOT NULL,
	cleared_at timestamptz,				-- what was late has happened
	acknowledged_at timestamptz,
	acknowledged_by text,
	comment text,
	PRIMARY KEY (target, deadline_at, due_by, state)
);
CREATE INDEX lateness_open ON _sfflow.lateness (target) WHERE cleared_at IS NULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.deadline', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.lateness', '');

-- Holds: nothing of what they name begins. Each backend keeps those of what it works with (src/feature/hold/hold.c).

CREATE SEQUENCE _sfflow.hold_no;

CREATE TABLE _sfflow.hold (
	hold_no bigint NOT NULL DEFAULT nextval('_sfflow.hold_no') PRIMARY KEY,
	kind text COLLATE "C" NOT NULL,		-- machine, execution, schedule, activity or resource
	name text COLLATE "C" NOT NULL,
	state text COLLATE "C" NOT NULL,	-- '': all states
	machine_no integer,					-- of a machine or an execution
	execution_no bigint,
	owner regrole,						-- of a resource: for this role's machines alone; NULL: for all
	held_at timestamptz NOT NULL,
	held_by text NOT NULL,
	reason text
);

CREATE UNIQUE INDEX hold_target ON _sfflow.hold (kind, name, state, (coalesce(owner::oid, 0)));
CREATE INDEX hold_owner ON _sfflow.hold (owner) WHERE owner IS NOT NULL;
CREATE INDEX hold_machine ON _sfflow.hold (machine_no) WHERE machine_no IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.hold_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.hold', '');

-- Jobs that sf_mark has settled and that have not been reached since. One row per job; a branch that reaches the
-- job deletes the row and does as it says.
CREATE TABLE _sfflow.mark (
	execution_no bigint NOT NULL,
	job_id text COLLATE "C" NOT NULL,
	outcome text COLLATE "C" NOT NULL,	-- success, skip or failure
	output jsonb,						-- result of the job; NULL: its input is its output
	details jsonb NOT NULL,				-- for the history
	PRIMARY KEY (execution_no, job_id)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.mark', '');


-- State machines and executions: make, start, advance, stop, redrive.

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

CREATE FUNCTION @extschema@.sf_import(definition text, substitutions jsonb DEFAULT '{}', name text DEFAULT NULL)
RETURNS integer
AS 'MODULE_PATHNAME', 'sfflow_sf_import'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_import(text, jsonb, text) IS
	'creates or replaces state machines from a definition with ${Name} placeholders, or from a template; returns the version';

CREATE FUNCTION @extschema@.sf_from_yaml(yaml text)
RETURNS json
AS 'MODULE_PATHNAME', 'sfflow_sf_from_yaml'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_from_yaml(text) IS
	'a document of YAML, such as a definition or a template, in JSON';

-- The query runs with the rights of the caller, and writes nothing.
CREATE FUNCTION @extschema@.sf_import_jobs(
	relations text,
	defaults jsonb DEFAULT '{}',
	net text DEFAULT 'Net',
	activity text DEFAULT 'shell')
RETURNS json
AS 'MODULE_PATHNAME', 'sfflow_sf_import_jobs'
LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.sf_import_jobs(text, jsonb, text, text) IS
	'the definition of a machine that is a net of jobs, from a table or query of jobs and their predecessors';

CREATE FUNCTION @extschema@.sf_drop_state_machine(name text, force boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_state_machine'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_drop_state_machine(text, boolean) IS
	'deletes a state machine, its versions and its executions';

CREATE FUNCTION @extschema@.sf_start(
	state_machine text,
	input jsonb DEFAULT '{}',
	name text DEFAULT NULL,
	if_exists text DEFAULT 'resume',
	version integer DEFAULT NULL,
	priority integer DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_start'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_start(text, jsonb, text, text, integer, integer) IS
	'starts (or resumes) an execution; returns its id';

CREATE FUNCTION @extschema@.sf_start_many(
	state_machine text,
	inputs jsonb[],
	names text[] DEFAULT NULL,
	if_exists text DEFAULT 'resume',
	priority integer DEFAULT NULL,
	OUT name text,
	OUT outcome text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_start_many'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_start_many(text, jsonb[], text[], text, integer) IS
	'starts (or resumes) an execution for each input; returns the name and what came of it';

-- The query runs with the rights of the caller.
CREATE FUNCTION @extschema@.sf_start_many(
	state_machine text,
	query text,
	if_exists text DEFAULT 'resume',
	priority integer DEFAULT NULL,
	OUT name text,
	OUT outcome text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_start_many_query'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_start_many(text, text, text, integer) IS
	'starts (or resumes) an execution for each row of a query: an input, or an input and a name';

CREATE FUNCTION @extschema@.sf_step(
	execution_id text,
	OUT branch text,
	OUT state text,
	OUT outcome text,
	OUT next_state text,
	OUT status text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_step'
LANGUAGE C VOLATILE ROWS 1;
COMMENT ON FUNCTION @extschema@.sf_step(text) IS
	'one transition of the branch that is due first, in this transaction';

CREATE FUNCTION @extschema@.sf_run(
	execution_id text,
	skip_waits boolean DEFAULT false,
	max_steps integer DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_run'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_run(text, boolean, integer) IS
	'steps in this transaction until nothing is due; returns the status';

CREATE PROCEDURE @extschema@.sf_run_due(max_steps integer DEFAULT 1000)
AS 'MODULE_PATHNAME', 'sfflow_sf_run_due'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.sf_run_due(integer) IS
	'advances whatever is due in this database, committing slice by slice';

CREATE FUNCTION @extschema@.sf_await(execution_id text, timeout interval DEFAULT '10 s')
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_await'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_await(text, interval) IS
	'waits until an execution has ended, for five minutes at most; returns its status then, or RUNNING';

-- For as long as it takes: unlike a query, it holds no snapshot while it waits.
CREATE PROCEDURE @extschema@.sf_wait(execution_id text, timeout interval DEFAULT NULL, INOUT status text DEFAULT NULL)
AS 'MODULE_PATHNAME', 'sfflow_sf_wait'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.sf_wait(text, interval, text) IS
	'waits until an execution has ended and gives its status then, or RUNNING at the timeout';

CREATE PROCEDURE @extschema@.sf_wait_change(seen bigint DEFAULT NULL, timeout interval DEFAULT '10 s', INOUT change bigint DEFAULT NULL)
AS 'MODULE_PATHNAME', 'sfflow_sf_wait_change'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.sf_wait_change(bigint, interval, bigint) IS
	'waits until executions have changed since a change that was seen, and gives the number of the last change';

CREATE FUNCTION @extschema@.sf_stop(execution_id text, error text DEFAULT NULL, cause text DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_stop'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_stop(text, text, text) IS
	'ends an execution as ABORTED; returns its status';

CREATE FUNCTION @extschema@.sf_redrive(
	execution_id text,
	from_state text DEFAULT NULL,
	input jsonb DEFAULT NULL,
	version integer DEFAULT NULL)
RETURNS integer
AS 'MODULE_PATHNAME', 'sfflow_sf_redrive'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_redrive(text, text, jsonb, integer) IS
	'continues an execution that has not succeeded; returns the redrive count';

-- The same for many at once.
CREATE FUNCTION @extschema@.sf_redrive_many(
	state_machine text DEFAULT NULL,
	status text DEFAULT NULL,
	error text DEFAULT NULL,
	since timestamptz DEFAULT NULL,
	max integer DEFAULT NULL,
	comment text DEFAULT NULL,
	map_run text DEFAULT NULL,
	OUT execution_id text,
	OUT outcome text,
	OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_redrive_many'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_redrive_many(text, text, text, timestamptz, integer, text, text) IS
	'continues executions, or items of a Map run, that have not succeeded; returns what came of each';

CREATE FUNCTION @extschema@.sf_stop_many(
	state_machine text DEFAULT NULL,
	status text DEFAULT NULL,
	error text DEFAULT NULL,
	since timestamptz DEFAULT NULL,
	max integer DEFAULT NULL,
	cause text DEFAULT NULL,
	OUT execution_id text,
	OUT outcome text,
	OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_stop_many'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_stop_many(text, text, text, timestamptz, integer, text) IS
	'ends running executions as ABORTED; returns what came of each';

CREATE FUNCTION @extschema@.sf_purge(older_than interval, max_executions integer DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_purge'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_purge(interval, integer) IS
	'deletes ended executions of the caller''s machines; returns how many';

CREATE PROCEDURE @extschema@.sf_purge_due(INOUT purged bigint DEFAULT NULL)
AS 'MODULE_PATHNAME', 'sfflow_sf_purge_due'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.sf_purge_due(bigint) IS
	'deletes ended executions by the option retention of their machines, committing batch by batch';

-- sf_jsonpath, sf_intrinsic: the expressions of JSONPath mode by themselves.

-- NULL where a path with at most one match leads nowhere, an array where it can have several.
CREATE FUNCTION @extschema@.sf_jsonpath(path text, input jsonb, context jsonb DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_jsonpath'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_jsonpath(text, jsonb, jsonb) IS
	'value of a JSONPath as in state machines; NULL if it has no match';

-- Volatile: States.UUID and States.MathRandom.
CREATE FUNCTION @extschema@.sf_intrinsic(expression text, input jsonb, context jsonb DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_intrinsic'
LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_intrinsic(text, jsonb, jsonb) IS
	'value of an intrinsic function''s call, States.Format(...) and so on';

-- sf_validate, sf_missing_resources: all that is wrong with a definition, and what it still needs.

-- options: {"strict": boolean, "service_quotas": boolean}
CREATE FUNCTION @extschema@.sf_validate(
	definition text,
	options jsonb DEFAULT '{}',
	OUT severity text,
	OUT code text,
	OUT location text,
	OUT message text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_validate'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION @extschema@.sf_validate(text, jsonb) IS
	'all that is wrong with a definition, in the order of its text; no rows for a good one';

-- What sf_aws_install makes a function for, and that function; NULL: a child execution.
CREATE FUNCTION _sfflow.aws_resources(OUT resource text, OUT handler text)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'arn:aws:states:::' || integration, handler FROM (VALUES
		('dynamodb:getItem', 'dynamodb_get_item'),
		('dynamodb:putItem', 'dynamodb_put_item'),
		('dynamodb:updateItem', 'dynamodb_update_item'),
		('dynamodb:deleteItem', 'dynamodb_delete_item'),
		('aws-sdk:dynamodb:getItem', 'sdk_dynamodb_get_item'),
		('aws-sdk:dynamodb:putItem', 'sdk_dynamodb_put_item'),
		('aws-sdk:dynamodb:updateItem', 'sdk_dynamodb_update_item'),
		('aws-sdk:dynamodb:deleteItem', 'sdk_dynamodb_delete_item'),
		('aws-sdk:dynamodb:query', 'sdk_dynamodb_query'),
		('aws-sdk:dynamodb:scan', 'sdk_dynamodb_scan'),
		('s3:getObject', 's3_get_object'),
		('s3:listObjectsV2', 's3_list_objects_v2'),
		('s3:putObject', 's3_put_object'),
		('aws-sdk:s3:getObject', 'sdk_s3_get_object'),
		('aws-sdk:s3:putObject', 'sdk_s3_put_object'),
		('aws-sdk:s3:headObject', 'sdk_s3_head_object'),
		('aws-sdk:s3:listObjectsV2', 'sdk_s3_list_objects_v2'),
		('aws-sdk:s3:copyObject', 'sdk_s3_copy_object'),
		('aws-sdk:s3:deleteObject', 'sdk_s3_delete_object'),
		('athena:startQueryExecution', 'athena_start_query_execution'),
		('athena:startQueryExecution.sync', 'athena_start_query_execution_sync'),
		('athena:stopQueryExecution', 'athena_stop_query_execution'),
		('athena:getQueryExecution', 'athena_get_query_execution'),
		('athena:getQueryResults', 'athena_get_query_results'),
		('aws-sdk:athena:startQueryExecution', 'sdk_athena_start_query_execution'),
		('aws-sdk:athena:stopQueryExecution', 'sdk_athena_stop_query_execution'),
		('aws-sdk:athena:getQueryExecution', 'sdk_athena_get_query_execution'),
		('aws-sdk:athena:getQueryResults', 'sdk_athena_get_query_results'),
		('events:putEvents', 'events_put_events'),
		('sqs:sendMessage', 'sqs_send_message'),
		('sns:publish', 'sns_publish'),
		('aws-sdk:sfn:sendTaskSuccess', 'sdk_sfn_send_task_success'),
		('aws-sdk:sfn:sendTaskFailure', 'sdk_sfn_send_task_failure'),
		('aws-sdk:sfn:sendTaskHeartbeat', 'sdk_sfn_send_task_heartbeat'),
		('aws-sdk:sfn:startExecution', NULL),
		('aws-sdk:ssm:sendCommand', 'sdk_ssm_send_command'),
		('aws-sdk:ssm:getCommandInvocation', 'sdk_ssm_get_command_invocation')) AS v (integration, handler)
$$;

-- One row per place of a resource, or of a Lambda function, that nothing maps; then, of a template, one per definition
-- that is elsewhere, and per activity, alias, schedule and rule, with its kind, its name and a statement.
CREATE FUNCTION _sfflow.missing_resources(
	definition text,
	substitutions jsonb,
	OUT resource text,
	OUT for_items boolean,
	OUT location text,
	OUT kind text,
	OUT name text,
	OUT proposal text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_missing_resources'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 10;

-- The statement that would map a resource. A function is proposed under the last part of the resource's name, in lower
-- case, without the eight digits that CDK appends to it. A placeholder in the middle of a name can be any text.
CREATE FUNCTION _sfflow.propose_mapping(resource text, for_items boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN placeholder IS NOT NULL THEN
			format('SELECT sf_import(definition, %L);', jsonb_build_object(placeholder, 'sql:' || function))
		WHEN EXISTS (SELECT FROM _sfflow.aws_resources() AS a WHERE a.resource = $1) THEN 'SELECT sf_aws_install();'
		WHEN $1 LIKE 'arn:aws:states:::%' AND NOT $2 THEN
			format('SELECT sf_map_resource(%L, %L);', pattern, CASE $1 WHEN 'arn:aws:states:::http:invoke' THEN 'activity:http' ELSE 'activity:aws' END)
		ELSE format('SELECT sf_map_resource(%L, %L);', coalesce(lambda, pattern), 'sql:' || function) END
	FROM (SELECT substring($1 FROM '^\$\{([A-Za-z0-9_.:-]+)\}$') AS placeholder,
			regexp_replace($1, '\$\{[A-Za-z0-9_.:-]+\}', '*', 'g') AS pattern,
			substring($1 FROM ':function:([A-Za-z0-9_-]+)(?::|$)') AS lambda) AS named,
		LATERAL (SELECT coalesce(lambda, nullif(regexp_replace(placeholder, '(Lambda|Function)*(Arn)?$', ''), ''),
				substring(pattern FROM '^arn:.*[:/](.+)$'), split_part(pattern, ':', 1)) AS last_part) AS l,
		LATERAL (SELECT regexp_replace(regexp_replace(last_part, '([a-z])[0-9A-F]{8}$', '\1'), '([a-z0-9])([A-Z])', '\1_\2', 'g') AS spaced) AS s,
		LATERAL (SELECT trim(regexp_replace(lower(spaced), '[^a-z0-9]+', '_', 'g'), '_') AS words) AS w,
		LATERAL (SELECT CASE WHEN words ~ '^[a-z]' THEN words ELSE 'task_' || words END AS function) AS f
$$;

-- Whether what a template has beside its machines is there already.
CREATE FUNCTION _sfflow.template_part_exists(kind text, name text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE $1
		WHEN 'activity' THEN EXISTS (SELECT FROM @extschema@.sf_activities AS a WHERE a.activity = $2)
		WHEN 'alias' THEN EXISTS (SELECT FROM @extschema@.sf_aliases AS a WHERE a.state_machine || '/' || a.alias = $2)
		WHEN 'schedule' THEN EXISTS (SELECT FROM @extschema@.sf_schedules AS s WHERE s.schedule_name = $2)
		WHEN 'rule' THEN EXISTS (SELECT FROM @extschema@.sf_rules AS r WHERE r.rule_name = $2)
		ELSE false END
$$;

CREATE FUNCTION @extschema@.sf_missing_resources(
	definition text,
	substitutions jsonb DEFAULT '{}',
	OUT resource text,
	OUT uses bigint,
	OUT locations text[],
	OUT proposal text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT m.resource, count(*), array_agg(m.location ORDER BY m.n),
		coalesce(m.proposal, _sfflow.propose_mapping(m.resource, bool_or(m.for_items)))
	FROM _sfflow.missing_resources($1, $2) WITH ORDINALITY AS m (resource, for_items, location, kind, name, proposal, n)
	WHERE m.name IS NULL OR NOT _sfflow.template_part_exists(m.kind, m.name)
	GROUP BY m.resource, m.proposal
	ORDER BY min(m.n)
$$;
COMMENT ON FUNCTION @extschema@.sf_missing_resources(text, jsonb) IS
	'what a definition or a template needs and nothing has yet: how often, where, and a statement for each';

-- sf_graph: a machine or an execution as a picture; sf_graph_layout and sf_graph_status for a page that draws itself.

CREATE FUNCTION @extschema@.sf_graph(target text, format text DEFAULT 'mermaid')
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_graph'
LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.sf_graph(text, text) IS
	'a machine, or an execution with the status of each state, drawn as mermaid, dot or svg';

CREATE FUNCTION @extschema@.sf_graph_layout(target text) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_graph_layout'
LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.sf_graph_layout(text) IS
	'the picture of a machine as places: boxes of states, lines, labels';

CREATE FUNCTION @extschema@.sf_graph_status(execution_id text) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_graph_status'
LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.sf_graph_status(text) IS
	'the status of each state of an execution, by the numbers that sf_graph_layout gives';

-- sf_jsonata: the JSONata language by itself.

-- Volatile: $random, $uuid, $now, $shuffle.  json, not jsonb: the order of keys matters to it.
CREATE FUNCTION @extschema@.sf_jsonata(expression text, input json DEFAULT NULL, bindings json DEFAULT NULL)
RETURNS json
AS 'MODULE_PATHNAME', 'sfflow_sf_jsonata'
LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_jsonata(text, json, json) IS
	'value of a JSONata expression over input, with bindings as its variables; NULL where it is undefined';

-- sf_raise; sf_map_resource, sf_unmap_resource: what tasks run, and how they fail.

-- From inside a SQL task: fail it with this ASL error name.
CREATE FUNCTION @extschema@.sf_raise(error text, cause text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_raise'
LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_raise(text, text) IS
	'fail the SQL task that runs with this error name and cause';

-- A mapping belongs to the calling role and serves its machines; a superuser's serves all.
CREATE FUNCTION @extschema@.sf_map_resource(pattern text, resource text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_map_resource'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_map_resource(text, text) IS
	'have every Resource that matches the pattern (* is any text) run another resource';

CREATE FUNCTION @extschema@.sf_unmap_resource(pattern text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_unmap_resource'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_unmap_resource(text) IS
	'end a mapping of the calling role';

-- sf_test_state: one state by itself, without an execution.

-- mock: {"result": value} or {"errorOutput": {"error", "cause"}} in place of what a Task or the
-- children of a Map or Parallel do; with "fieldValidationMode" (STRICT, PRESENT, NONE) and
-- "stateConfiguration" {"retrierRetryCount", "errorCausedByState", "mapIterationFailureCount",
-- "mapItemReaderData"} and "revealSecrets", all as in TestState, but values where that has JSON text;
-- and with "serviceQuotas": payloads may have the 256 KiB of Step Functions only.
CREATE FUNCTION @extschema@.sf_test_state(
	definition json,
	input jsonb DEFAULT '{}',
	context jsonb DEFAULT NULL,
	variables jsonb DEFAULT '{}',
	mock jsonb DEFAULT NULL,
	inspection_level text DEFAULT 'INFO',
	state_name text DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_test_state'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_test_state(json, jsonb, jsonb, jsonb, jsonb, text, text) IS
	'runs one state of a definition with this input and returns the outcome; writes nothing';

-- Activities and task tokens: work outside the database.

CREATE FUNCTION @extschema@.sf_create_activity(name text, lease interval DEFAULT NULL, max_receive_count integer DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_activity'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_create_activity(text, interval, integer) IS
	'makes a queue that programs outside the database poll';

CREATE FUNCTION @extschema@.sf_drop_activity(name text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_activity'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_drop_activity(text) IS 'deletes an activity that has no open tasks';

CREATE FUNCTION @extschema@.sf_get_activity_task(
	activity text,
	worker_name text DEFAULT NULL,
	max_tasks integer DEFAULT 1,
	OUT task_token text,
	OUT input jsonb,
	OUT execution_id text,
	OUT state text,
	OUT attempt integer,
	OUT heartbeat interval,
	OUT deadline timestamptz,
	OUT scheduled_at timestamptz,
	OUT resource text,
	OUT definition_resource text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_get_activity_task'
LANGUAGE C VOLATILE ROWS 1;
COMMENT ON FUNCTION @extschema@.sf_get_activity_task(text, text, integer) IS
	'takes tasks of an activity, oldest first; no rows when there are none';

CREATE FUNCTION @extschema@.sf_send_task_success(task_token text, output jsonb DEFAULT '{}')
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_send_task_success'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_send_task_success(text, jsonb) IS 'answers a task: it succeeded';

CREATE FUNCTION @extschema@.sf_send_task_failure(task_token text, error text DEFAULT NULL, cause text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_send_task_failure'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_send_task_failure(text, text, text) IS 'answers a task: it failed';

CREATE FUNCTION @extschema@.sf_send_task_heartbeat(task_token text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_send_task_heartbeat'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_send_task_heartbeat(text) IS 'says that a task is still being worked on';

-- sf_dynamodb_condition, _key, _update, _project: DynamoDB's expressions over items in its typed JSON.

CREATE FUNCTION @extschema@.sf_dynamodb_condition(
	expression text,
	item jsonb,
	attribute_names jsonb DEFAULT NULL,
	attribute_values jsonb DEFAULT NULL,
	field text DEFAULT 'ConditionExpression')
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_dynamodb_condition'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_dynamodb_condition(text, jsonb, jsonb, jsonb, text) IS
	'whether an item satisfies a condition, filter or key condition of DynamoDB';

CREATE FUNCTION @extschema@.sf_dynamodb_key(expression text, attribute_names jsonb DEFAULT NULL, attribute_values jsonb DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_dynamodb_key'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_dynamodb_key(text, jsonb, jsonb) IS
	'the attributes that a key condition of DynamoDB compares: with "=", and otherwise';

CREATE FUNCTION @extschema@.sf_dynamodb_update(
	expression text,
	item jsonb,
	attribute_names jsonb DEFAULT NULL,
	attribute_values jsonb DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_dynamodb_update'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_dynamodb_update(text, jsonb, jsonb, jsonb) IS
	'an item after an update expression of DynamoDB, and the attributes that it touched';

CREATE FUNCTION @extschema@.sf_dynamodb_project(expression text, item jsonb, attribute_names jsonb DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_dynamodb_project'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_dynamodb_project(text, jsonb, jsonb) IS
	'the attributes of an item that a projection expression of DynamoDB names';

-- Names of jobs within Maps, for the views: "Load[7]", "Days[1]/Load[7]".

CREATE FUNCTION _sfflow.job_label(execution_no bigint, state text, iterations integer[]) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_job_label'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;
-- Checks by itself what its caller may see.

-- Operation: whether this copy of the database is driven, and how the workers are doing.

CREATE FUNCTION @extschema@.sf_enable() RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_enable'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_enable() IS 'lets background workers drive this copy of the database';

CREATE FUNCTION @extschema@.sf_disable() RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_disable'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_disable() IS 'stops background workers from driving this copy of the database';

-- Rows that come by other ways than sfflow are another database's work: src/store/load_guard.c.
CREATE FUNCTION _sfflow.note_load() RETURNS trigger
AS 'MODULE_PATHNAME', 'sfflow_note_load'
LANGUAGE C;

CREATE TRIGGER note_load AFTER INSERT ON _sfflow.execution
	FOR EACH STATEMENT EXECUTE FUNCTION _sfflow.note_load();
ALTER TABLE _sfflow.execution ENABLE ALWAYS TRIGGER note_load;
CREATE TRIGGER note_load AFTER INSERT ON _sfflow.branch
	FOR EACH STATEMENT EXECUTE FUNCTION _sfflow.note_load();
ALTER TABLE _sfflow.branch ENABLE ALWAYS TRIGGER note_load;

-- Gives tests the rules of src/store/copy_rules.c.
CREATE FUNCTION _sfflow.decide_copy(own boolean, role text, standby_signal boolean, recovery_signal boolean,
	recovery_target boolean, backup_label boolean, shut_down_in_recovery boolean) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_decide_copy'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The roles that rows name, each as often as they do: their anchors keep DROP ROLE from dropping them.
-- src/store/anchor.c lists the same tables, each with an index that begins with the role.
CREATE VIEW _sfflow.named_role AS
SELECT owner AS role FROM _sfflow.state_machine
UNION ALL SELECT role FROM _sfflow.privilege
UNION ALL SELECT owner FROM _sfflow.activity
UNION ALL SELECT owner FROM _sfflow.resource_map
UNION ALL SELECT owner FROM _sfflow.schedule
UNION ALL SELECT owner FROM _sfflow.calendar
UNION ALL SELECT owner FROM _sfflow.rule
UNION ALL SELECT role FROM _sfflow.access_key
UNION ALL SELECT owner FROM _sfflow.hold WHERE owner IS NOT NULL
UNION ALL SELECT owner FROM _sfflow.run_limit WHERE owner IS NOT NULL;

-- How far each sequence has come, and the largest number in use. That of branch_no no index knows.
CREATE VIEW _sfflow.sequence_use AS
SELECT 'machine_no' AS name, s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END AS drawn,
	greatest((SELECT max(machine_no) FROM _sfflow.state_machine), (SELECT max(machine_no) FROM _sfflow.state_machine_version),
		(SELECT max(machine_no) FROM _sfflow.dropped_machine))::bigint AS used
FROM _sfflow.machine_no s
UNION ALL
SELECT 'activity_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	(SELECT max(activity_no) FROM _sfflow.activity)::bigint
FROM _sfflow.activity_no s
UNION ALL
SELECT 'hold_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END, (SELECT max(hold_no) FROM _sfflow.hold)
FROM _sfflow.hold_no s
UNION ALL
SELECT 'limit_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END, (SELECT max(limit_no) FROM _sfflow.run_limit)
FROM _sfflow.limit_no s
UNION ALL
SELECT 'rule_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	greatest((SELECT max(rule_no) FROM _sfflow.rule), (SELECT max(rule_no) FROM _sfflow.rule_delivery))
FROM _sfflow.rule_no s
UNION ALL
SELECT 'execution_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	greatest((SELECT max(execution_no) FROM _sfflow.execution), (SELECT max(execution_no) FROM _sfflow.branch))
FROM _sfflow.execution_no s
UNION ALL
SELECT 'branch_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	greatest((SELECT max(branch_no) FROM _sfflow.branch), (SELECT max(map_run_no) FROM _sfflow.map_run))
FROM _sfflow.branch_no s;

CREATE FUNCTION _sfflow.workers(
	OUT pid integer,
	OUT role text,
	OUT state text,
	OUT execution_no bigint,
	OUT branch_no bigint,
	OUT state_name text,
	OUT since timestamptz,
	OUT steps bigint,
	OUT holds_slot boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_workers'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 8;

CREATE FUNCTION _sfflow.health(OUT item text, OUT ok boolean, OUT detail text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_health'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 8;

CREATE FUNCTION _sfflow.task_slots(OUT slots integer, OUT held integer, OUT remark text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_task_slots'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 1;

-- The launcher and the processes of this database. What they are at is shown to members of the
-- state machine's owner.
CREATE VIEW @extschema@.sf_workers WITH (security_barrier) AS
SELECT w.pid, w.role, w.state, x.execution_id, x.job_id, w.since, w.steps, x.owner, w.holds_slot
FROM _sfflow.workers() w
LEFT JOIN LATERAL (
	SELECT e.execution_id, m.owner,
		_sfflow.job_label(w.execution_no, w.state_name, b.iterations) AS job_id
	FROM _sfflow.execution e
	JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no
	LEFT JOIN _sfflow.branch b ON b.execution_no = e.execution_no AND b.branch_no = w.branch_no
	WHERE e.execution_no = w.execution_no AND pg_has_role(m.owner::oid, 'MEMBER')
) x ON true;
GRANT SELECT ON @extschema@.sf_workers TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_workers IS 'the launcher and the workers of this database';

-- Work that is due and not claimed. If it has been due for longer than poll_interval, no worker took it,
-- although workers have scanned since.
CREATE VIEW @extschema@.sf_health WITH (security_barrier) AS
WITH due AS (
	SELECT b.due_at
	FROM _sfflow.branch b
	WHERE b.due_at <= clock_timestamp()
		AND NOT EXISTS (
			SELECT FROM _sfflow.workers() w
			WHERE w.execution_no = b.execution_no AND w.branch_no = b.branch_no)
), backlog AS (
	SELECT count(*) AS n, clock_timestamp() - min(due.due_at) AS age,
		count(*) FILTER (WHERE due.due_at <= clock_timestamp() - poll.interval) AS late
	FROM (SELECT coalesce(current_setting('sfflow.poll_interval', true), '60s')::interval AS interval) poll
	LEFT JOIN due ON true
)
SELECT h.item, h.ok, h.detail FROM _sfflow.health() h
UNION ALL
SELECT r.item, r.ok, r.detail FROM (
	SELECT 'sequences' AS item, count(*) = 0 AS ok,
		coalesce(string_agg(format('%s is at %s, a row has %s', u.name, u.drawn, u.used), '; ')
			|| ': new work would fail with a duplicate key; sf_enable() sets them right', 'ahead of all rows') AS detail
	FROM _sfflow.sequence_use u WHERE u.name <> 'branch_no' AND u.used > u.drawn
	UNION ALL
	SELECT 'task slots', s.held < s.slots,
		s.held || ' of ' || s.slots || ' slots are held by tasks' || coalesce(': ' || t.shown, '')
			|| CASE WHEN s.held > t.n THEN '; ' || s.held - t.n || ' of them in other databases or of other owners' ELSE '' END
			|| coalesce('; ' || s.remark, '')
	FROM _sfflow.task_slots() s
	CROSS JOIN (
		SELECT count(*) AS n, string_agg(w.owner || '''s ' || w.execution_id || coalesce(' at ' || w.job_id, '')
			|| ' for ' || date_trunc('second', clock_timestamp() - w.since), ', ' ORDER BY w.since) AS shown
		FROM @extschema@.sf_workers w
		WHERE w.holds_slot AND w.execution_id IS NOT NULL
	) t
	UNION ALL
	SELECT 'backlog', coalesce(b.age < interval '5 minutes', true),
		CASE WHEN b.age IS NULL THEN 'nothing is due'
			ELSE b.n || ' due, the oldest for ' || date_trunc('milliseconds', b.age) END
	FROM backlog b
	UNION ALL
	SELECT 'due but unclaimed', b.late = 0,
		CASE WHEN b.late = 0 THEN 'nothing' ELSE b.late || ' due for longer than sfflow.poll_interval' END
	FROM backlog b
) r
-- Else health() has said so, and the other functions would refuse.
WHERE (SELECT v.advice IS NULL FROM @extschema@.sf_version() v);
GRANT SELECT ON @extschema@.sf_health TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_health IS 'what an operator looks at first; a row that is not ok says what to do';

-- Calendars: open days, and the days that are picked, for schedules. Every role may see and use them; only the owner
-- changes one.

CREATE FUNCTION @extschema@.sf_create_calendar(name text, rule jsonb, days jsonb DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_calendar'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_create_calendar(text, jsonb, jsonb) IS
	'make a calendar for schedules, or replace it';

CREATE FUNCTION @extschema@.sf_drop_calendar(name text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_calendar'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_calendar(text) IS 'remove a calendar that no schedule and no calendar uses';

CREATE FUNCTION @extschema@.sf_calendar_days(
	calendar text,
	from_day date,
	to_day date,
	on_closed text DEFAULT 'skip',
	OUT day date,
	OUT is_open boolean,
	OUT is_picked boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_calendar_days'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 365;
COMMENT ON FUNCTION @extschema@.sf_calendar_days(text, date, date, text) IS
	'the days of a calendar from one to another: which are open, and which it picks';

CREATE VIEW @extschema@.sf_calendars WITH (security_barrier) AS
SELECT c.name AS calendar, c.owner, c.rule, c.days, c.created_at, c.changed_at
FROM _sfflow.calendar c;
GRANT SELECT ON @extschema@.sf_calendars TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_calendars IS 'calendars for schedules';

-- What is known of the runs of a schedule. Each function answers only the schedule's owner and roles that
-- may READ the machine.

-- state: active, inactive, failing, missed, gone, not driven; problem: in words, null without one;
-- missed_at: the latest time at which a run was due and none came, null where there is none; is_alert: its runs do not
-- happen as they should; since: that they do not, null where that is not known.
CREATE FUNCTION _sfflow.schedule_status(
	name text,
	OUT state text,
	OUT problem text,
	OUT missed_at timestamptz,
	OUT is_alert boolean,
	OUT since timestamptz)
AS 'MODULE_PATHNAME', 'sfflow_schedule_status'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

-- What pg_cron has noted of the runs of its job.
CREATE FUNCTION _sfflow.cron_runs(
	name text,
	OUT run_id bigint,
	OUT pid integer,
	OUT started_at timestamptz,
	OUT ended_at timestamptz,
	OUT status text,
	OUT message text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_cron_runs'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 100;


-- Views: status as tables. A caller sees the rows of machines that it owns or may READ.
--
-- Each view is a security barrier over the private tables, filtered by _sfflow.can_read, which looks
-- rights up once a machine and query. Comparison with an execution id is leakproof, so it still
-- reaches the index. What takes the program to be shown (names of states, details of events, jobs)
-- comes from functions of one execution, joined laterally.

CREATE FUNCTION _sfflow.can_read(machine text, owner regrole) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_can_read'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10;

-- Machines that the reader may see, found by set: the rights are read once, however many rows a query compares
-- with them.
CREATE VIEW _sfflow.granted AS
SELECT p.object_kind, p.object_name, p.privilege
FROM _sfflow.privilege p WHERE p.role = 0::regrole OR pg_has_role(p.role, 'USAGE');

CREATE VIEW _sfflow.readable_machine AS
SELECT m.machine_no, m.name, m.owner
FROM _sfflow.state_machine m
WHERE pg_has_role(m.owner, 'USAGE') OR (SELECT pg_has_role(n.nspowner, 'USAGE') FROM pg_namespace n WHERE n.nspname = '_sfflow')
	OR m.name IN (SELECT g.object_name FROM _sfflow.granted g WHERE g.object_kind = 'm' AND g.privilege = 'R');

-- A schedule is visible to its owner and to roles that may READ the machine.
CREATE VIEW _sfflow.readable_schedule AS
SELECT s.name, s.owner, s.schedule, s.state_machine, s.input, s.timezone, s.calendar, s.on_closed, s.starts, s.ends, s.missed, s.overlap,
	s.last_execution_id
FROM _sfflow.schedule s
LEFT JOIN _sfflow.state_machine m ON m.name = split_part(s.state_machine, '/', 1)
WHERE pg_has_role(s.owner, 'USAGE') OR _sfflow.can_read(m.name, m.owner);

-- The same of activities and WORK.
CREATE VIEW _sfflow.workable_activity AS
SELECT t.activity_no, t.name, t.owner, t.lease, t.max_receive_count, t.created_at, t.last_polled_at, t.last_worker
FROM _sfflow.activity t
WHERE pg_has_role(t.owner, 'USAGE') OR t.name IN (
	SELECT g.object_name FROM _sfflow.granted g WHERE g.object_kind = 'a' AND g.privilege = 'W');

-- The stored numbers of the event types whose names are LIKE one of the patterns.
CREATE FUNCTION _sfflow.event_types(VARIADIC patterns text[]) RETURNS smallint[]
AS 'MODULE_PATHNAME', 'sfflow_event_types'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The events of a row of _sfflow.history, or those of some types; without documents none has any. A
-- payload that an earlier event holds is not repeated: payload_from names that event.
CREATE FUNCTION _sfflow.events(
	execution_no bigint,
	first_id integer,
	at timestamptz,
	body bytea,
	documents jsonb[],
	types smallint[],
	OUT id integer,
	OUT previous_id integer,
	OUT version integer,
	OUT type smallint,
	OUT state integer,
	OUT payload_from integer,
	OUT at timestamptz,
	OUT iterations integer[],
	OUT payload jsonb,
	OUT extra jsonb)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_events'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20 ROWS 25;

-- The payload that an event of a row holds.
CREATE FUNCTION _sfflow.event_payload(execution_no bigint, first_id integer, body bytea, documents jsonb[],
	id integer) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_event_payload'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;

CREATE VIEW _sfflow.event AS
SELECT h.execution_no, e.*
FROM _sfflow.history h
CROSS JOIN LATERAL _sfflow.events(h.execution_no, h.first_id, h.at, h.body, h.documents, NULL) e;

CREATE FUNCTION _sfflow.history(
	execution_no bigint,
	OUT id integer,
	OUT previous_event_id integer,
	OUT "timestamp" timestamptz,
	OUT type text,
	OUT state text,
	OUT details jsonb)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_history'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 100;

CREATE FUNCTION _sfflow.waiting_on(execution_no bigint) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_waiting_on'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

CREATE FUNCTION _sfflow.branch_place(
	execution_no bigint,
	scope integer,
	state_no integer,
	iterations integer[],
	OUT state text,
	OUT type text,
	OUT resource text,
	OUT branch text)
AS 'MODULE_PATHNAME', 'sfflow_branch_place'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;

CREATE FUNCTION _sfflow.map_run_arn(execution_no bigint, state_no integer, uuid text) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_map_run_arn'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

CREATE FUNCTION _sfflow.jobs(
	execution_no bigint,
	OUT job_id text,
	OUT job_status text,
	OUT attempts integer,
	OUT started_at timestamptz,
	OUT stopped_at timestamptz,
	OUT input_event integer,
	OUT output_event integer,
	OUT error text,
	OUT cause text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_jobs'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 20;

CREATE FUNCTION _sfflow.job_relations(
	machine_no integer,
	version integer,
	OUT job_id text,
	OUT pre_job_id text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_job_relations'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 20;

CREATE VIEW @extschema@.sf_state_machines WITH (security_barrier) AS
SELECT m.name AS state_machine, v.version, v.version = m.current_version AS is_current, m.owner,
	v.definition, v.execution_id_path, v.options, v.created_at
FROM _sfflow.state_machine m
JOIN _sfflow.state_machine_version v ON v.machine_no = m.machine_no
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_state_machines IS 'state machines, one row per version';

-- Executions that the reader may see, each with its machine's name. OFFSET 0 keeps the planner from
-- joining the other way round, which checks rights of machines that the query does not need.
CREATE VIEW _sfflow.readable_execution AS
SELECT e.execution_no, e.machine_no, e.version, e.redrive_count, e.start_requests, e.parent_execution_no,
	e.parent_branch_no, e.parent_generation, e.map_run_no, e.map_index, e.map_items, e.requested_at,
	e.requested_by, e.priority, e.qualifier, e.trace_header, e.execution_id, e.status, e.last_event_id,
	e.started_at, e.stopped_at, e.last_redriven_at, e.idle_us, e.output, e.error, e.cause, e.input,
	m.name AS state_machine
FROM _sfflow.execution e
CROSS JOIN LATERAL (
	SELECT s.name, s.owner FROM _sfflow.state_machine s WHERE s.machine_no = e.machine_no OFFSET 0) m
WHERE _sfflow.can_read(m.name, m.owner);

-- Executions as a list shows them. can_read stands in a CASE that names the execution, too: then it is
-- asked once per execution found, and not once per machine.
CREATE VIEW _sfflow.listed_execution AS
SELECT e.execution_no, e.machine_no, e.version, e.redrive_count, e.start_requests, e.parent_execution_no,
	e.parent_branch_no, e.parent_generation, e.map_run_no, e.map_index, e.map_items, e.requested_at,
	e.requested_by, e.priority, e.qualifier, e.trace_header, e.execution_id, e.status, e.last_event_id,
	e.started_at, e.stopped_at, e.last_redriven_at, e.idle_us, e.output, e.error, e.cause, e.input,
	m.name AS state_machine, p.execution_id AS parent_execution_id
FROM _sfflow.execution e
JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no
LEFT JOIN _sfflow.execution p ON p.execution_no = e.parent_execution_no
WHERE CASE WHEN e.execution_no IS NOT NULL THEN _sfflow.can_read(m.name, m.owner) END;

-- The numbers of the newest executions that the caller may read and that fulfil conditions; without a number of them NULL.
CREATE FUNCTION _sfflow.newest(
	state_machine text,
	status text,
	"from" timestamptz,
	after timestamptz,
	before timestamptz,
	until timestamptz,
	most integer)
RETURNS bigint[]
AS 'MODULE_PATHNAME', 'sfflow_newest'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;

-- Is an execution on a page? The planner asks is_on_page_support what this becomes: src/api/newest.c.
CREATE FUNCTION _sfflow.is_on_page_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'sfflow_is_on_page_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _sfflow.is_on_page(execution_no bigint, page bigint[]) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_is_on_page'
LANGUAGE C STABLE PARALLEL SAFE
SUPPORT _sfflow.is_on_page_support;

-- Four parts, each with the table that finds its executions: what has succeeded, what has not begun
-- yet, what a hold keeps from beginning, and what is open. A condition on status or error leaves out the parts that cannot fulfil it.
CREATE VIEW @extschema@.sf_executions WITH (security_barrier) AS
SELECT e.execution_id, e.state_machine, e.version,
	substr(e.execution_id, length(e.state_machine) + 2) AS name,
	e.status_name AS status,
	e.input, e.output, e.error_name AS error, e.cause, e.requested_at, e.started_at, e.stopped_at,
	e.redrive_count, e.last_redriven_at, e.start_requests, e.parent_execution_id,
	CASE WHEN e.status = 0 THEN _sfflow.waiting_on(e.execution_no) END AS waiting_on
FROM (
	SELECT l.*, 'SUCCEEDED'::text AS status_name, NULL::text AS error_name
	FROM _sfflow.listed_execution l WHERE l.status = 1
	UNION ALL
	SELECT l.*, 'RUNNING', NULL::text
	FROM _sfflow.branch b
	JOIN _sfflow.listed_execution l ON l.execution_no = b.execution_no
	WHERE b.branch_no = 0 AND b.due_at IS NOT NULL AND l.status = 0 AND l.started_at IS NULL
	UNION ALL
	SELECT l.*, 'RUNNING', NULL::text
	FROM _sfflow.held w
	JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no
	JOIN _sfflow.listed_execution l ON l.execution_no = w.execution_no
	WHERE w.branch_no = 0 AND b.due_at IS NULL AND l.status = 0 AND l.started_at IS NULL
	UNION ALL
	SELECT l.*, o.status, o.error
	FROM _sfflow.open_execution o
	JOIN _sfflow.listed_execution l ON l.execution_no = o.execution_no AND l.machine_no = o.machine_no
		AND l.requested_at = o.requested_at AND (ARRAY['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'])[l.status + 1] = o.status) e
WHERE _sfflow.is_on_page(e.execution_no, (SELECT _sfflow.newest(NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
COMMENT ON VIEW @extschema@.sf_executions IS 'executions, and what each running one waits for; pages of the newest: ORDER BY requested_at DESC LIMIT n, or sf_list_executions';

-- The same as pages, in the order of requested_at, which no plan of a query over the view has to sort.
CREATE FUNCTION @extschema@.sf_list_executions(
	state_machine text DEFAULT NULL,
	status text DEFAULT NULL,
	error text DEFAULT NULL,
	name_prefix text DEFAULT NULL,
	owner text DEFAULT NULL,
	parent_execution_id text DEFAULT NULL,
	requested_after timestamptz DEFAULT NULL,
	requested_before timestamptz DEFAULT NULL,
	page_size integer DEFAULT NULL,
	after_key text DEFAULT NULL,
	without_items boolean DEFAULT NULL,
	OUT execution_id text,
	OUT state_machine text,
	OUT name text,
	OUT status text,
	OUT error text,
	OUT requested_at timestamptz,
	OUT started_at timestamptz,
	OUT stopped_at timestamptz,
	OUT page_key text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_list_executions'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_list_executions(text, text, text, text, text, text, timestamptz, timestamptz, integer, text, boolean) IS
	'a page of executions, the newest first; page_key of its last row is after_key of the next page';

CREATE VIEW @extschema@.sf_jobs WITH (security_barrier) AS
SELECT e.execution_id, e.state_machine, substr(e.execution_id, length(e.state_machine) + 2) AS id,
	j.job_id, j.job_status, j.attempts, j.started_at, j.stopped_at,
	(SELECT _sfflow.event_payload(h.execution_no, h.first_id, h.body, h.documents, j.input_event)
	 FROM _sfflow.history h WHERE h.execution_no = e.execution_no AND h.first_id <= j.input_event
	 ORDER BY h.first_id DESC LIMIT 1) AS input,
	(SELECT _sfflow.event_payload(h.execution_no, h.first_id, h.body, h.documents, j.output_event)
	 FROM _sfflow.history h WHERE h.execution_no = e.execution_no AND h.first_id <= j.output_event
	 ORDER BY h.first_id DESC LIMIT 1) AS output,
	j.error, j.cause
FROM _sfflow.readable_execution e
CROSS JOIN LATERAL _sfflow.jobs(e.execution_no) j;
COMMENT ON VIEW @extschema@.sf_jobs IS 'every Task state of an execution, with its status';

CREATE VIEW @extschema@.sf_job_relations WITH (security_barrier) AS
SELECT m.name AS state_machine, v.version, r.job_id, r.pre_job_id
FROM _sfflow.state_machine m
JOIN _sfflow.state_machine_version v ON v.machine_no = m.machine_no
CROSS JOIN LATERAL _sfflow.job_relations(v.machine_no, v.version) r
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_job_relations IS 'which job directly precedes which; null: none';

CREATE VIEW @extschema@.sf_history WITH (security_barrier) AS
SELECT e.execution_id, h.id, h.previous_event_id, h."timestamp", h.type, h.state, h.details
FROM _sfflow.readable_execution e
CROSS JOIN LATERAL _sfflow.history(e.execution_no) h;
COMMENT ON VIEW @extschema@.sf_history IS 'the events of executions, as GetExecutionHistory of Step Functions returns them';

-- Only a branch in phase EXTERNAL (src/store/branch.h) has a row in task.
CREATE VIEW @extschema@.sf_tasks WITH (security_barrier) AS
SELECT e.execution_id, p.state, p.branch, p.resource,
	CASE WHEN b.due_at IS NULL AND b.phase IN (1, 4) THEN 'held'
		WHEN b.phase = 1 THEN 'retrying' WHEN b.phase = 4 THEN 'running'
		WHEN b.phase = 5 THEN 'answered' WHEN t.status = 0 THEN 'queued'
		WHEN t.status = 2 THEN 'waiting' WHEN t.status = 3 THEN 'answered'
		WHEN t.status = 4 THEN 'dead' ELSE 'running'
	END AS status,
	b.attempt,
	CASE WHEN b.phase = 1 THEN b.due_at
		ELSE coalesce(t.scheduled_at, b.started_at, b.entered_at) END AS scheduled_at,
	CASE WHEN t.status IS NOT NULL THEN t.started_at WHEN b.phase <> 1 THEN b.started_at END AS started_at,
	coalesce(t.started_at + t.timeout_ms * interval '1 ms', b.deadline) AS deadline, t.heartbeat_at,
	coalesce(t.worker, (SELECT w.pid::text FROM _sfflow.workers() w
		WHERE w.execution_no = b.execution_no AND w.branch_no = b.branch_no LIMIT 1)) AS worker
FROM _sfflow.branch b
JOIN _sfflow.readable_execution e ON e.execution_no = b.execution_no
LEFT JOIN _sfflow.task t
	ON t.execution_no = b.execution_no AND t.branch_no = b.branch_no AND b.phase = 6
CROSS JOIN LATERAL _sfflow.branch_place(b.execution_no, b.scope, b.state, b.iterations) p
WHERE b.phase IN (1, 4, 5, 6) AND e.status = 0 AND p.type = 'Task';
COMMENT ON VIEW @extschema@.sf_tasks IS 'tasks that run, wait for an answer or for a retry';

-- The task of a branch that was aborted keeps its row; only one whose branch is in phase EXTERNAL waits
-- for an answer.
CREATE VIEW @extschema@.sf_activities WITH (security_barrier) AS
SELECT a.name AS activity, a.owner, q.queued, q.oldest_queued_at, q.in_flight, a.last_polled_at,
	a.last_worker
FROM _sfflow.workable_activity a
CROSS JOIN LATERAL (
	SELECT count(*) FILTER (WHERE t.status = 0) AS queued,
		min(t.scheduled_at) FILTER (WHERE t.status = 0) AS oldest_queued_at,
		count(*) FILTER (WHERE t.status = 1) AS in_flight
	FROM _sfflow.task t
	JOIN _sfflow.branch b ON b.execution_no = t.execution_no AND b.branch_no = t.branch_no
		AND b.generation = t.generation AND b.phase = 6
	JOIN _sfflow.execution e ON e.execution_no = t.execution_no AND e.status = 0
	WHERE t.activity_no = a.activity_no) q;
COMMENT ON VIEW @extschema@.sf_activities IS 'activities, and how many tasks wait in each';

CREATE VIEW @extschema@.sf_dead_letters WITH (security_barrier) AS
SELECT e.execution_id, p.state, p.branch, p.resource, t.input, b.error, b.cause, t.receives,
	coalesce(t.lease_until, t.heartbeat_at, t.started_at) AS died_at
FROM _sfflow.task t
JOIN _sfflow.readable_execution e ON e.execution_no = t.execution_no
JOIN _sfflow.branch b ON b.execution_no = t.execution_no AND b.branch_no = t.branch_no
CROSS JOIN LATERAL _sfflow.branch_place(b.execution_no, b.scope, t.state, b.iterations) p
WHERE t.status = 4 AND b.phase = 8 AND b.state = t.state;
COMMENT ON VIEW @extschema@.sf_dead_letters IS 'tasks that programs took as often as allowed and never answered';

-- status and counters: src/store/map_run.h
CREATE VIEW @extschema@.sf_map_runs WITH (security_barrier) AS
SELECT e.execution_id, p.state, _sfflow.map_run_arn(e.execution_no, r.state, r.uuid) AS map_run_arn,
	(ARRAY['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'])[r.status + 1] AS status,
	r.total AS items, r.items_succeeded, r.items_failed,
	r.children AS executions, r.children - r.succeeded - r.failed - r.timed_out - r.aborted AS running,
	r.succeeded, r.failed, r.timed_out, r.aborted, r.redrive_count, r.started_at, r.stopped_at
FROM _sfflow.map_run r
JOIN _sfflow.readable_execution e ON e.execution_no = r.execution_no
CROSS JOIN LATERAL _sfflow.branch_place(r.execution_no, 0, r.state, NULL) p;
COMMENT ON VIEW @extschema@.sf_map_runs IS 'runs of Distributed Map states, with their progress';

CREATE VIEW @extschema@.sf_start_requests WITH (security_barrier) AS
SELECT e.execution_id, r.requested_at, r.requested_by, r.outcome, r.input_differs
FROM _sfflow.start_request r
JOIN _sfflow.readable_execution e ON e.execution_no = r.execution_no;
COMMENT ON VIEW @extschema@.sf_start_requests IS 'calls of @extschema@.sf_start that found an execution';

GRANT SELECT ON @extschema@.sf_state_machines, @extschema@.sf_executions, @extschema@.sf_jobs,
	@extschema@.sf_job_relations, @extschema@.sf_history, @extschema@.sf_tasks, @extschema@.sf_activities,
	@extschema@.sf_dead_letters, @extschema@.sf_map_runs, @extschema@.sf_start_requests
	TO PUBLIC;

-- The branches that a feature keeps, such as a hold, or a limit.
CREATE VIEW _sfflow.held_branch AS
SELECT w.feature, w.object_no, w.queue, w.since, b.execution_no, b.branch_no
FROM _sfflow.held w
JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no
JOIN _sfflow.execution e ON e.execution_no = w.execution_no AND e.status = 0
WHERE b.due_at IS NULL AND b.phase IN (0, 1, 4, 12);

-- sf_check: the invariants over the tables, each as one set-based query. No rows is good.

CREATE FUNCTION _sfflow.is_place(machine_no integer, version integer, scope integer, state integer)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_is_place'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

CREATE FUNCTION _sfflow.is_net(machine_no integer, version integer, state integer)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_is_net'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

-- What is wrong with the JobNet at which a branch waits for its jobs; NULL: nothing.
CREATE FUNCTION _sfflow.inspect_net(machine_no integer, version integer, state integer, execution_no bigint, branch_no bigint)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_inspect_net'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

-- The limits that apply to a branch where it is: whether of executions, whether that of a join around it, and
-- whether an execution that waits for this one has a slot, so that the branch needs none.
CREATE FUNCTION _sfflow.branch_limits(version integer, execution_no bigint, branch_no bigint,
	OUT limit_no bigint, OUT queue bigint, OUT whole boolean, OUT of_join boolean, OUT shared boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_branch_limits'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 2;

-- Does a limit apply to a branch that has a slot of its own? NULL: the limit has been dropped since the query began.
CREATE FUNCTION _sfflow.is_limited_by(version integer, execution_no bigint, branch_no bigint, limit_no bigint) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_is_limited_by'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;

-- What may keep a branch, by feature, as in held.
CREATE VIEW _sfflow.keeper AS
SELECT NULL::text AS feature, NULL::bigint AS object_no WHERE false
UNION ALL SELECT 'hold', h.hold_no FROM _sfflow.hold h
UNION ALL SELECT 'limit', l.limit_no FROM _sfflow.run_limit l;

-- Does what a branch is held by keep it where it is? NULL: it has been released or dropped since the query began.
CREATE FUNCTION _sfflow.is_kept_by(version integer, execution_no bigint, branch_no bigint, feature text, object_no bigint, queue bigint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_is_kept_by'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;

-- A row of _sfflow.history: what is wrong with it, or how many events it has, the type of the last of them
-- that is not among some, and the events of earlier rows whose payloads it refers to.
CREATE FUNCTION _sfflow.inspect_history(first_id integer, at timestamptz, body bytea, documents jsonb[], passing smallint[],
	OUT problem text, OUT events integer, OUT last_type smallint, OUT elsewhere integer[])
AS 'MODULE_PATHNAME', 'sfflow_inspect_history'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;

-- A branch that has not ended is live, but for an answer that is not due: its task was stopped meanwhile.
CREATE FUNCTION @extschema@.sf_check(OUT problem text, OUT execution_id text, OUT detail text)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
-- hundreds of expressions, each evaluated for few rows: compiling them took fifty times as long as the checks
SET jit = off
AS $$
WITH told AS MATERIALIZED (
	-- MapRunRedriven: children of a run that has tolerated their failure run again
	SELECT h.execution_no, h.first_id, i.*
	FROM _sfflow.history h
	CROSS JOIN LATERAL _sfflow.inspect_history(h.first_id, h.at, h.body, h.documents, _sfflow.event_types('MapRunRedriven')) i
), numbered AS (
	-- the last row that has such a type is the one with the greatest first_id
	SELECT t.execution_no, sum(t.events) AS events, min(t.first_id) AS first, max(t.first_id + t.events - 1) AS last,
		(max(ARRAY[t.first_id, t.last_type]) FILTER (WHERE t.last_type IS NOT NULL))[2] AS last_type
	FROM told t GROUP BY t.execution_no HAVING bool_and(t.problem IS NULL)
), head AS (
	SELECT e.execution_no, e.execution_id, e.machine_no, e.version, e.status, e.last_event_id,
		e.started_at, e.stopped_at, e.map_run_no, e.redrive_count, e.last_redriven_at, coalesce(v.options ->> 'history', 'ALL') = 'ALL' AS full_history
	FROM _sfflow.execution e
	LEFT JOIN _sfflow.state_machine_version v
		ON v.machine_no = e.machine_no AND v.version = e.version
	-- what is left of a machine that was dropped is being deleted
	WHERE e.machine_no <> ALL (ARRAY(SELECT d.machine_no FROM _sfflow.dropped_machine d))
), strand AS (
	SELECT b.*, b.phase NOT IN (7, 8, 9) AND NOT (b.phase = 5 AND b.due_at IS NULL) AS live
	FROM _sfflow.branch b WHERE b.phase NOT IN (10, 11)
), within AS MATERIALIZED (
	-- branches that are inside of their states, of executions that run: they have the slots of these. What a
	-- redrive has go on as it was (a join, or what has its outcome) takes them with the first step within it.
	SELECT b.execution_no, b.branch_no, e.version,
		e.redrive_count > 0 AND b.phase IN (3, 5, 1, 12) AND NOT EXISTS (SELECT FROM strand c
			WHERE c.execution_no = b.execution_no AND c.parent_no = b.branch_no AND c.entered_at > e.last_redriven_at
				AND c.phase IN (2, 4, 6)) AS takes_later
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	WHERE e.status = 0 AND EXISTS (SELECT FROM _sfflow.run_limit)
		AND (b.phase IN (2, 3, 4, 6, 12)
			OR b.phase IN (1, 5) AND b.map_run_no IS NOT NULL)
), problems AS (
	-- history
	SELECT 'events_not_dense' AS problem, n.execution_no,
		format('%s events with ids from %s to %s', n.events, n.first, n.last) AS detail
	FROM numbered n WHERE n.first <> 1 OR n.events <> n.last
	UNION ALL
	SELECT 'history_unreadable', t.execution_no, format('the events from %s on: %s', t.first_id, t.problem)
	FROM told t WHERE t.problem IS NOT NULL
	UNION ALL
	SELECT 'last_event_id_wrong', e.execution_no,
		format('last_event_id is %s, the last event is %s', e.last_event_id, coalesce(n.last, 0))
	FROM head e LEFT JOIN numbered n ON n.execution_no = e.execution_no
	WHERE e.full_history AND e.last_event_id <> coalesce(n.last, 0)
		AND (n.last IS NOT NULL OR NOT EXISTS (SELECT FROM told t WHERE t.execution_no = e.execution_no))
	UNION ALL
	SELECT 'payload_missing', t.execution_no,
		format('events from %s on take a payload from event %s', t.first_id, p.id)
	FROM told t
	JOIN numbered n ON n.execution_no = t.execution_no
	CROSS JOIN LATERAL (SELECT DISTINCT p.id FROM unnest(t.elsewhere) p(id)) p
	WHERE (SELECT _sfflow.event_payload(h.execution_no, h.first_id, h.body, h.documents, p.id)
		FROM _sfflow.history h WHERE h.execution_no = n.execution_no AND h.first_id <= p.id
		ORDER BY h.first_id DESC LIMIT 1) IS NULL
	UNION ALL
	SELECT 'execution_not_ended_by_event', e.execution_no,
		format('status is %s, the last event has type %s', e.status, n.last_type)
	FROM head e JOIN numbered n ON n.execution_no = e.execution_no
	WHERE e.full_history AND e.status = 1 AND n.last_type <> ALL (_sfflow.event_types('ExecutionSucceeded'))
	-- executions
	UNION ALL
	SELECT 'stopped_at_wrong', e.execution_no,
		format('status is %s, stopped_at is %s', e.status, coalesce(e.stopped_at::text, 'null'))
	FROM head e WHERE (e.status = 0) <> (e.stopped_at IS NULL)
	UNION ALL
	-- begun, and not ended with success: open
	SELECT 'open_wrong', e.execution_no, format('status is %s, open_execution has %s',
		(ARRAY['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'])[e.status + 1], coalesce(o.status, 'no row'))
	FROM head e FULL JOIN _sfflow.open_execution o ON o.execution_no = e.execution_no
	WHERE o.status IS DISTINCT FROM CASE WHEN e.status <> 1 AND (e.status <> 0 OR e.started_at IS NOT NULL)
		THEN (ARRAY['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'])[e.status + 1] END
	UNION ALL
	SELECT 'version_missing', e.execution_no, format('machine_no %s, version %s', e.machine_no, e.version)
	FROM head e
	WHERE NOT EXISTS (SELECT FROM _sfflow.state_machine_version v
		JOIN _sfflow.state_machine m ON m.machine_no = v.machine_no
		WHERE v.machine_no = e.machine_no AND v.version = e.version)
	UNION ALL
	SELECT 'root_missing', e.execution_no, 'it is running and has no root branch'
	FROM head e
	WHERE e.status = 0
		AND NOT EXISTS (SELECT FROM strand b WHERE b.execution_no = e.execution_no AND b.branch_no = 0)
	UNION ALL
	SELECT 'stuck', e.execution_no, 'it is running and nothing of it is due or handed out'
	FROM head e
	WHERE e.status = 0
		AND NOT EXISTS (SELECT FROM strand b
			WHERE b.execution_no = e.execution_no AND b.live AND (b.due_at IS NOT NULL OR b.phase = 6))
		AND NOT EXISTS (SELECT FROM _sfflow.execution c
			WHERE c.parent_execution_no = e.execution_no AND c.map_run_no IS NOT NULL AND c.status = 0)
		AND NOT EXISTS (SELECT FROM _sfflow.held w WHERE w.execution_no = e.execution_no)
	UNION ALL
	SELECT 'branches_left', e.execution_no, format('it has succeeded and has %s branches', count(*))
	FROM head e JOIN _sfflow.branch b ON b.execution_no = e.execution_no
	WHERE e.status = 1 GROUP BY e.execution_no
	UNION ALL
	-- A task that runs when its execution is stopped stays due until its worker has left it.
	SELECT 'due_after_end', b.execution_no, format('branch %s is due', b.branch_no)
	FROM head e JOIN _sfflow.branch b ON b.execution_no = e.execution_no
	WHERE e.status <> 0 AND b.due_at IS NOT NULL
		AND e.stopped_at < clock_timestamp() - interval '10 s'
	-- branches
	UNION ALL
	SELECT 'never_due', b.execution_no, format('branch %s is in phase %s without a time', b.branch_no, b.phase)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	WHERE e.status = 0 AND b.phase IN (0, 1, 2, 4, 12) AND b.due_at IS NULL
		-- a job of a net that waits for others, or for room
		AND b.place = 0
		AND (b.phase = 2 OR NOT EXISTS (SELECT FROM _sfflow.held w
			WHERE w.execution_no = b.execution_no AND w.branch_no = b.branch_no))
	UNION ALL
	SELECT 'held_by_nothing', b.execution_no, format('branch %s waits for %s %s, which there is not', b.branch_no, w.feature, w.object_no)
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	JOIN _sfflow.held w ON w.execution_no = b.execution_no AND w.branch_no = b.branch_no
	WHERE e.status = 0 AND b.phase IN (0, 1, 4, 12) AND b.due_at IS NULL
		AND NOT EXISTS (SELECT FROM _sfflow.keeper k WHERE k.feature = w.feature AND k.object_no = w.object_no)
	UNION ALL
	SELECT 'held_by_another', b.execution_no, format('branch %s waits for %s %s, which is not of its state', b.branch_no, w.feature, w.object_no)
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	JOIN _sfflow.held w ON w.execution_no = b.execution_no AND w.branch_no = b.branch_no
	WHERE e.status = 0 AND b.phase IN (0, 1, 4, 12) AND b.due_at IS NULL
		AND EXISTS (SELECT FROM _sfflow.keeper k WHERE k.feature = w.feature AND k.object_no = w.object_no)
		AND NOT _sfflow.is_kept_by(e.version, b.execution_no, b.branch_no, w.feature, w.object_no, w.queue)
	UNION ALL
	SELECT 'slot_missing', b.execution_no, format('branch %s runs under limit %s and has no slot of it', b.branch_no, l.limit_no)
	FROM within b
	CROSS JOIN LATERAL _sfflow.branch_limits(b.version, b.execution_no, b.branch_no) q
	JOIN _sfflow.run_limit l ON l.limit_no = q.limit_no
	WHERE NOT b.takes_later AND NOT q.whole AND NOT q.of_join AND NOT q.shared AND l.max_running IS NOT NULL AND l.counted
		AND NOT EXISTS (SELECT FROM _sfflow.limit_slot s
			WHERE s.execution_no = b.execution_no AND s.branch_no = b.branch_no AND s.limit_no = l.limit_no)
	UNION ALL
	SELECT 'slot_missing', e.execution_no, format('it runs under limit %s and has no slot of it', l.limit_no)
	FROM head e
	JOIN _sfflow.run_limit l ON l.kind = 'machine' AND l.state = '' AND l.machine_no = e.machine_no
	CROSS JOIN LATERAL _sfflow.branch_limits(e.version, e.execution_no, 0) q
	WHERE e.status = 0 AND e.started_at IS NOT NULL AND e.map_run_no IS NULL AND q.limit_no = l.limit_no
		AND NOT q.shared AND l.max_running IS NOT NULL AND l.counted
		AND NOT EXISTS (SELECT FROM _sfflow.limit_slot s WHERE s.execution_no = e.execution_no AND s.branch_no = -3 AND s.limit_no = l.limit_no)
		-- after a redrive the first step takes it
		AND (e.redrive_count = 0 OR EXISTS (SELECT FROM strand c WHERE c.execution_no = e.execution_no AND c.entered_at > e.last_redriven_at
			AND c.phase IN (2, 4, 6)))
	UNION ALL
	SELECT 'slot_of_another', b.execution_no, format('branch %s has a slot of limit %s, which is not of its state', b.branch_no, s.limit_no)
	FROM within b
	JOIN _sfflow.limit_slot s ON s.execution_no = b.execution_no AND s.branch_no = b.branch_no
	JOIN _sfflow.run_limit l ON l.limit_no = s.limit_no
	WHERE l.counted AND NOT _sfflow.is_limited_by(b.version, b.execution_no, b.branch_no, s.limit_no)
	UNION ALL
	SELECT 'slot_of_nothing', s.execution_no, format('slot %s of limit %s is taken by branch %s, which does not run', s.slot, s.limit_no, s.branch_no)
	FROM _sfflow.limit_slot s
	JOIN head e ON e.execution_no = s.execution_no
	WHERE CASE s.branch_no WHEN -3 THEN e.status <> 0
		ELSE NOT EXISTS (SELECT FROM _sfflow.branch b WHERE b.execution_no = s.execution_no AND b.branch_no = s.branch_no
			AND (b.phase IN (2, 3, 4, 6, 12)
				OR b.phase IN (1, 5) AND b.map_run_no IS NOT NULL)) END
	UNION ALL
	SELECT 'slot_too_high', s.execution_no, format('slot %s of limit %s is taken, which has %s', s.slot, s.limit_no, l.highest)
	FROM _sfflow.limit_slot s
	JOIN head e ON e.execution_no = s.execution_no
	JOIN _sfflow.run_limit l ON l.limit_no = s.limit_no WHERE s.slot > l.highest
	UNION ALL
	SELECT 'job_place_wrong', b.execution_no, format('branch %s is in phase %s and at place %s', b.branch_no, b.phase, b.place)
	FROM strand b
	WHERE CASE b.place WHEN 0 THEN false WHEN 3 THEN b.phase <> 7 ELSE b.phase <> 0 OR b.due_at IS NOT NULL END
	UNION ALL
	SELECT 'due_after_end_of_branch', b.execution_no, format('branch %s is in phase %s', b.branch_no, b.phase)
	FROM strand b WHERE b.phase IN (7, 8, 9) AND b.due_at IS NOT NULL
	UNION ALL
	SELECT 'pending_wrong', b.execution_no,
		format('branch %s waits for %s children, %s have not ended', b.branch_no, b.pending, count(c.branch_no))
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	LEFT JOIN strand c ON c.execution_no = b.execution_no AND c.parent_no = b.branch_no AND c.live
	WHERE e.status = 0 AND b.phase = 3 AND b.map_run_no IS NULL
		AND NOT _sfflow.is_net(e.machine_no, e.version, b.state)
	GROUP BY b.execution_no, b.branch_no, b.pending HAVING count(c.branch_no) <> b.pending
	UNION ALL
	SELECT 'net_wrong', b.execution_no, format('branch %s: %s', b.branch_no, n.problem)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	CROSS JOIN LATERAL _sfflow.inspect_net(e.machine_no, e.version, b.state, b.execution_no, b.branch_no) n(problem)
	WHERE e.status = 0 AND b.phase IN (3, 12)
		AND b.map_run_no IS NULL AND n.problem IS NOT NULL
	UNION ALL
	-- Distributed Maps: their children are executions
	SELECT 'pending_wrong', b.execution_no,
		format('branch %s waits for %s executions, %s have not ended', b.branch_no, b.pending, count(c.execution_no))
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	LEFT JOIN _sfflow.execution c ON c.parent_execution_no = b.execution_no
		AND c.map_run_no = b.map_run_no AND c.status = 0
	WHERE e.status = 0 AND b.phase = 3 AND b.map_run_no IS NOT NULL
	GROUP BY b.execution_no, b.branch_no, b.pending HAVING count(c.execution_no) <> b.pending
	UNION ALL
	SELECT 'map_run_missing', b.execution_no, format('branch %s waits for map run %s', b.branch_no, b.map_run_no)
	FROM strand b
	WHERE b.map_run_no IS NOT NULL
		AND NOT EXISTS (SELECT FROM _sfflow.map_run r
			WHERE r.execution_no = b.execution_no AND r.map_run_no = b.map_run_no)
	UNION ALL
	SELECT 'map_run_wrong', r.execution_no,
		format('map run %s counts %s children, there are %s', r.map_run_no, r.children, count(c.execution_no))
	FROM _sfflow.map_run r
	LEFT JOIN _sfflow.execution c ON c.parent_execution_no = r.execution_no AND c.map_run_no = r.map_run_no
	GROUP BY r.execution_no, r.map_run_no, r.children HAVING count(c.execution_no) <> r.children
	UNION ALL
	SELECT 'map_run_results_wrong', r.execution_no,
		format('map run %s counts %s children that succeeded and %s that did not, there are %s and %s', r.map_run_no,
			r.succeeded, r.failed + r.timed_out + r.aborted,
			count(c.execution_no) FILTER (WHERE c.status = 1), count(c.execution_no) FILTER (WHERE c.status NOT IN (0, 1)))
	FROM _sfflow.map_run r
	LEFT JOIN _sfflow.execution c ON c.parent_execution_no = r.execution_no AND c.map_run_no = r.map_run_no
	GROUP BY r.execution_no, r.map_run_no
	HAVING count(c.execution_no) FILTER (WHERE c.status = 1) <> r.succeeded
		OR count(c.execution_no) FILTER (WHERE c.status NOT IN (0, 1)) <> r.failed + r.timed_out + r.aborted
	UNION ALL
	SELECT 'map_items_wrong', b.execution_no,
		format('branch %s has %s items left, there are %s', b.branch_no, b.total - b.next_index, count(i.item_index))
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	LEFT JOIN _sfflow.map_item i ON i.execution_no = b.execution_no AND i.map_run_no = b.map_run_no
	WHERE e.status = 0 AND b.phase = 3 AND b.map_run_no IS NOT NULL
	GROUP BY b.execution_no, b.branch_no, b.total, b.next_index
	HAVING count(i.item_index) <> b.total - b.next_index
	UNION ALL
	SELECT 'joined_without_children', b.execution_no,
		format('branch %s has no child to wait for and is not due', b.branch_no)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	WHERE e.status = 0 AND b.phase = 3 AND b.pending = 0 AND b.due_at IS NULL
	UNION ALL
	SELECT 'parent_missing', b.execution_no, format('branch %s is a child of %s', b.branch_no, b.parent_no)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	LEFT JOIN strand p ON p.execution_no = b.execution_no AND p.branch_no = b.parent_no
	WHERE b.branch_no <> 0 AND (p.branch_no IS NULL OR (e.status = 0 AND p.phase <> 3
			-- a job or a branch that has failed, with its children, while others go on
			AND (b.live OR p.phase NOT IN (8, 9))
			-- a net that goes on, of whose jobs none runs
			AND NOT (p.phase = 12 AND (b.place <> 0 OR NOT b.live))))
	UNION ALL
	SELECT 'child_index_wrong', b.execution_no, format('branch %s is child %s of branch %s', b.branch_no, b.branch_index, b.parent_no)
	FROM strand b WHERE b.parent_no IS NOT NULL AND b.branch_index < 0
	UNION ALL
	SELECT 'child_twice', b.execution_no,
		format('%s children of branch %s have the index %s', count(*), b.parent_no, b.branch_index)
	FROM strand b WHERE b.parent_no IS NOT NULL
	GROUP BY b.execution_no, b.parent_no, b.branch_index HAVING count(*) > 1
	UNION ALL
	SELECT 'place_unknown', b.execution_no,
		format('branch %s is at state %s of scope %s', b.branch_no, b.state, b.scope)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	WHERE EXISTS (SELECT FROM _sfflow.state_machine_version v
			WHERE v.machine_no = e.machine_no AND v.version = e.version)
		AND NOT _sfflow.is_place(e.machine_no, e.version, b.scope, b.state)
	UNION ALL
	SELECT 'owner_wrong', b.execution_no, format('branch %s is of %s, the state machine of %s', b.branch_no, b.owner, m.owner)
	FROM _sfflow.branch b JOIN head e ON e.execution_no = b.execution_no
	JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no
	WHERE b.owner <> m.owner
	UNION ALL
	SELECT 'event_unknown', b.execution_no,
		format('branch %s refers to events %s, the last one is %s', b.branch_no,
			ARRAY[b.entered_event, b.last_event, b.payload_event, b.failed_event], e.last_event_id)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	WHERE e.full_history AND (least(b.entered_event, b.last_event, b.payload_event, b.failed_event) < 0
		OR greatest(b.entered_event, b.last_event, b.payload_event, b.failed_event) > e.last_event_id)
)
SELECT p.problem, e.execution_id, p.detail
FROM problems p JOIN head e ON e.execution_no = p.execution_no
UNION ALL
-- what belongs to no execution or version
SELECT 'execution_missing', NULL, format('%s rows of %s have the unknown execution_no %s', count(*), o.relation, o.execution_no)
FROM (
	SELECT 'branch' AS relation, b.execution_no FROM _sfflow.branch b
	UNION ALL SELECT 'history', h.execution_no FROM _sfflow.history h
	UNION ALL SELECT 'task', t.execution_no FROM _sfflow.task t
	UNION ALL SELECT 'start_request', r.execution_no FROM _sfflow.start_request r
	UNION ALL SELECT 'rule_chain', c.execution_no FROM _sfflow.rule_chain c
	UNION ALL SELECT 'open_execution', o.execution_no FROM _sfflow.open_execution o
	UNION ALL SELECT 'map_run', r.execution_no FROM _sfflow.map_run r
	UNION ALL SELECT 'failure', f.execution_no FROM _sfflow.failure f
	UNION ALL SELECT 'acknowledgement', k.execution_no FROM _sfflow.acknowledgement k
	UNION ALL SELECT 'hold', h.execution_no FROM _sfflow.hold h WHERE h.execution_no IS NOT NULL
	UNION ALL SELECT 'mark', k.execution_no FROM _sfflow.mark k
	UNION ALL SELECT 'held', w.execution_no FROM _sfflow.held w
	UNION ALL SELECT DISTINCT 'map_item', i.execution_no FROM _sfflow.map_item i) o
WHERE NOT EXISTS (SELECT FROM _sfflow.execution e WHERE e.execution_no = o.execution_no)
GROUP BY o.relation, o.execution_no
UNION ALL
SELECT 'current_version_missing', NULL, format('state machine "%s", version %s', m.name, m.current_version)
FROM _sfflow.state_machine m
WHERE NOT EXISTS (SELECT FROM _sfflow.state_machine_version v
	WHERE v.machine_no = m.machine_no AND v.version = m.current_version)
UNION ALL
SELECT 'deadline_without_target', NULL, format('deadline of "%s"', d.target)
FROM _sfflow.deadline d
WHERE CASE WHEN d.schedule IS NULL THEN NOT EXISTS (SELECT FROM _sfflow.state_machine m WHERE m.machine_no = d.machine_no)
	ELSE NOT EXISTS (SELECT FROM _sfflow.schedule s WHERE s.name = d.schedule) END
UNION ALL
SELECT 'lateness_without_deadline', NULL, format('%s rows of "%s"', count(*), l.target)
FROM _sfflow.lateness l
WHERE NOT EXISTS (SELECT FROM _sfflow.deadline d WHERE d.target = l.target)
GROUP BY l.target
UNION ALL
-- roles below 16384 cannot be dropped; nor can the owner of the type, which is the extension's
SELECT 'role_droppable', NULL, format('DROP ROLE %s would not be refused; sf_enable() mends that', n.role)
FROM (SELECT DISTINCT role FROM _sfflow.named_role) n
JOIN pg_roles o ON o.oid = n.role AND o.oid >= 16384
WHERE NOT EXISTS (SELECT FROM pg_shdepend d
	WHERE d.dbid = (SELECT b.oid FROM pg_database b WHERE b.datname = current_database())
		AND d.classid = 'pg_type'::regclass AND d.objid = '_sfflow.owner_or_grantee'::regtype
		AND d.refclassid = 'pg_authid'::regclass AND d.refobjid = n.role)
UNION ALL
SELECT 'sequence_behind', NULL, format('sequence _sfflow.%s is at %s, a row has the number %s', u.name, u.drawn, u.used)
FROM _sfflow.sequence_use u WHERE u.used > u.drawn
ORDER BY 2, 1, 3
$$;
COMMENT ON FUNCTION @extschema@.sf_check() IS 'verifies the invariants over the tables: no rows is good';

-- sf_grant and sf_revoke: rights on state machines and activities for roles other than the owner.

CREATE FUNCTION @extschema@.sf_grant(privilege text, object text, role text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_grant'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_grant(text, text, text) IS
	'give START, READ, OPERATE or SEND on a state machine, WORK or SEND on activity:name, or CREATE on *, to a role or to public';

CREATE FUNCTION @extschema@.sf_revoke(privilege text, object text, role text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_revoke'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_revoke(text, text, text) IS
	'revoke a right that sf_grant gave; task tokens that a role holds stay valid until SEND is revoked from public';

-- What ALTER OWNER TO and REASSIGN OWNED do for PostgreSQL's own objects.
CREATE FUNCTION @extschema@.sf_alter_owner(object text, new_owner text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_alter_owner'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_alter_owner(text, text) IS
	'give a state machine, activity:name, schedule:name or calendar:name to another role';

CREATE FUNCTION @extschema@.sf_reassign_owned(old_role text, new_role text) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_reassign_owned'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_reassign_owned(text, text) IS
	'give all objects of a role to another one, and revoke the rights of the former; returns the number of objects';

-- Versions of a state machine: aliases, what two versions differ in, moving executions between them.

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
	'moves an execution to another version of its state machine; state_map renames states';

GRANT SELECT ON @extschema@.sf_aliases TO PUBLIC;

-- Deadlines: times of day by which schedules, machines and jobs are to have started or ended.

CREATE FUNCTION @extschema@.sf_set_deadline(
	target text,
	start_by time DEFAULT NULL,
	end_by time DEFAULT NULL,
	timezone text DEFAULT NULL,
	calendar text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_set_deadline'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_set_deadline(text, time, time, text, text) IS
	'say by which times of day a schedule, a machine or a job is to have started and ended; replaces what was said before';

CREATE FUNCTION @extschema@.sf_drop_deadline(target text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_deadline'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_deadline(text) IS 'remove a deadline, and what was late by it';

-- What workers do when deadlines are due, as if it was a given time.
CREATE FUNCTION _sfflow.check_deadlines(at timestamptz) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_check_deadlines'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- A deadline is visible to roles that may READ the machine, and to the owner of the schedule.
CREATE VIEW _sfflow.readable_deadline AS
SELECT d.target, d.schedule, d.machine_no, d.job, d.start_minute, d.end_minute, d.timezone, d.calendar,
	d.checked_until, d.next_at, d.walk_step, d.walk_now, d.walk_at, d.walk_late_no, d.walk_found, d.set_at,
	d.set_by,
	m.name AS state_machine
FROM _sfflow.deadline d
LEFT JOIN _sfflow.schedule s ON s.name = d.schedule
LEFT JOIN _sfflow.state_machine m ON m.machine_no = d.machine_no OR m.name = split_part(s.state_machine, '/', 1)
WHERE coalesce(pg_has_role(s.owner, 'USAGE'), false) OR _sfflow.can_read(m.name, m.owner);

CREATE VIEW @extschema@.sf_deadlines WITH (security_barrier) AS
SELECT d.target, make_time(d.start_minute / 60, d.start_minute % 60, 0) AS start_by,
	make_time(d.end_minute / 60, d.end_minute % 60, 0) AS end_by, d.timezone, d.calendar,
	d.next_at AS next_check, d.set_at, d.set_by
FROM _sfflow.readable_deadline d;
GRANT SELECT ON @extschema@.sf_deadlines TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_deadlines IS 'deadlines of schedules, machines and jobs';

-- What was late of deadlines that the caller may know of, and in words.
CREATE VIEW _sfflow.raised_lateness AS
SELECT l.target, l.deadline_at, l.due_by, l.state, l.base_at, l.execution_no, l.expected_at, l.raised_at, l.cleared_at,
	l.acknowledged_at, l.acknowledged_by, l.comment,
	e.execution_id,
	format(CASE l.state WHEN 'never_started' THEN '"%s" has never started; it was to have %s by %s'
		WHEN 'will_be_late' THEN '"%s" will be late; it is to have %s by %s' ELSE '"%s" is late; it was to have %s by %s' END,
		l.target, l.due_by || 'ed', to_char(l.deadline_at AT TIME ZONE d.timezone, 'YYYY-MM-DD HH24:MI ') || d.timezone) AS detail
FROM _sfflow.readable_deadline d
JOIN _sfflow.lateness l ON l.target = d.target
LEFT JOIN _sfflow.execution e ON e.execution_no = l.execution_no;

-- What is late, and what was within the last day.
CREATE VIEW @extschema@.sf_late WITH (security_barrier) AS
SELECT l.target, l.state, l.due_by, l.deadline_at, l.execution_id, l.expected_at, l.raised_at,
	l.cleared_at AS over_at, l.acknowledged_at
FROM _sfflow.raised_lateness l
WHERE l.cleared_at IS NULL OR l.cleared_at > now() - interval '1 day';
GRANT SELECT ON @extschema@.sf_late TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_late IS 'what has not started or ended by its deadline, or will not';

-- Metrics and alerts. A view of metrics adds the counters and the increments that were not folded yet;
-- an increment is in one of the two, in each snapshot. No view reads executions or histories to count.

CREATE FUNCTION _sfflow.histogram_add(histogram bytea, more bytea) RETURNS bytea
AS 'MODULE_PATHNAME', 'sfflow_histogram_add'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE AGGREGATE _sfflow.histogram_sum(bytea) (SFUNC = _sfflow.histogram_add, STYPE = bytea, PARALLEL = SAFE);

-- The 50th, 95th and 99th percentile, in milliseconds.
CREATE FUNCTION _sfflow.histogram_percentiles(histogram bytea) RETURNS double precision[]
AS 'MODULE_PATHNAME', 'sfflow_histogram_percentiles'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _sfflow.unfolded_metrics(
	OUT machine_no integer,
	OUT hour timestamptz,
	OUT started bigint,
	OUT succeeded bigint,
	OUT failed bigint,
	OUT aborted bigint,
	OUT timed_out bigint,
	OUT throttled bigint,
	OUT redriven bigint,
	OUT transitions bigint,
	OUT retries bigint,
	OUT time_us bigint,
	OUT time_histogram bytea)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_unfolded_metrics'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 10;

CREATE FUNCTION _sfflow.unfolded_jobs(
	OUT machine_no integer,
	OUT day timestamptz,
	OUT job text,
	OUT runs bigint,
	OUT failures bigint,
	OUT time_us bigint,
	OUT time_histogram bytea,
	OUT recent_us bigint[],
	OUT last_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_unfolded_jobs'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 10;

CREATE FUNCTION _sfflow.unfolded_retries(
	OUT machine_no integer,
	OUT state text,
	OUT error text,
	OUT retries bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_unfolded_retries'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 10;

CREATE VIEW @extschema@.sf_metrics WITH (security_barrier) AS
SELECT m.name AS state_machine, coalesce(x.started, 0) AS executions_started,
	coalesce(x.succeeded, 0) AS executions_succeeded, coalesce(x.failed, 0) AS executions_failed,
	coalesce(x.aborted, 0) AS executions_aborted, coalesce(x.timed_out, 0) AS executions_timed_out,
	coalesce(x.throttled, 0) AS executions_throttled,
	x.time_us::double precision / nullif(x.succeeded + x.failed + x.aborted + x.timed_out, 0) / 1000 AS execution_time_ms_avg,
	p.ms[1] AS execution_time_ms_p50, p.ms[2] AS execution_time_ms_p95, p.ms[3] AS execution_time_ms_p99,
	coalesce(x.transitions, 0) AS state_transitions, coalesce(x.redriven, 0) AS executions_redriven,
	coalesce(x.retries, 0) AS retries
FROM _sfflow.state_machine m
LEFT JOIN (
	SELECT c.machine_no, sum(c.started)::bigint AS started, sum(c.succeeded)::bigint AS succeeded,
		sum(c.failed)::bigint AS failed, sum(c.aborted)::bigint AS aborted, sum(c.timed_out)::bigint AS timed_out,
		sum(c.throttled)::bigint AS throttled, sum(c.redriven)::bigint AS redriven,
		sum(c.transitions)::bigint AS transitions, sum(c.retries)::bigint AS retries, sum(c.time_us) AS time_us,
		_sfflow.histogram_sum(c.time_histogram) AS time_histogram
	FROM (
		SELECT t.machine_no, t.started, t.succeeded, t.failed, t.aborted, t.timed_out, t.throttled, t.redriven,
			t.transitions, t.retries, t.time_us, t.time_histogram
		FROM _sfflow.metric_total t
		UNION ALL
		SELECT u.machine_no, u.started, u.succeeded, u.failed, u.aborted, u.timed_out, u.throttled, u.redriven,
			u.transitions, u.retries, u.time_us, u.time_histogram
		FROM _sfflow.unfolded_metrics() u) c
	GROUP BY c.machine_no) x ON x.machine_no = m.machine_no
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(x.time_histogram) AS ms OFFSET 0) p
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_metrics IS 'the metrics of Step Functions, per state machine';

CREATE VIEW @extschema@.sf_metrics_by_hour WITH (security_barrier) AS
SELECT m.name AS state_machine, x.hour, x.started AS executions_started, x.succeeded AS executions_succeeded,
	x.failed AS executions_failed, x.aborted AS executions_aborted, x.timed_out AS executions_timed_out,
	x.throttled AS executions_throttled,
	x.time_us::double precision / nullif(x.succeeded + x.failed + x.aborted + x.timed_out, 0) / 1000 AS execution_time_ms_avg,
	p.ms[1] AS execution_time_ms_p50, p.ms[2] AS execution_time_ms_p95, p.ms[3] AS execution_time_ms_p99,
	x.transitions AS state_transitions, x.redriven AS executions_redriven, x.retries
FROM _sfflow.state_machine m
JOIN (
	SELECT c.machine_no, c.hour, sum(c.started)::bigint AS started, sum(c.succeeded)::bigint AS succeeded,
		sum(c.failed)::bigint AS failed, sum(c.aborted)::bigint AS aborted, sum(c.timed_out)::bigint AS timed_out,
		sum(c.throttled)::bigint AS throttled, sum(c.redriven)::bigint AS redriven,
		sum(c.transitions)::bigint AS transitions, sum(c.retries)::bigint AS retries, sum(c.time_us) AS time_us,
		_sfflow.histogram_sum(c.time_histogram) AS time_histogram
	FROM (
		SELECT h.machine_no, h.hour, h.started, h.succeeded, h.failed, h.aborted, h.timed_out, h.throttled, h.redriven,
			h.transitions, h.retries, h.time_us, h.time_histogram
		FROM _sfflow.metric_hour h
		UNION ALL
		SELECT u.machine_no, u.hour, u.started, u.succeeded, u.failed, u.aborted, u.timed_out, u.throttled, u.redriven,
			u.transitions, u.retries, u.time_us, u.time_histogram
		FROM _sfflow.unfolded_metrics() u) c
	GROUP BY c.machine_no, c.hour) x ON x.machine_no = m.machine_no
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(x.time_histogram) AS ms OFFSET 0) p
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_metrics_by_hour IS 'the same per hour';

-- The last 30 runs of each job. A function of increments leaves out what the caller may not read, this
-- view does not.
CREATE VIEW _sfflow.job_usual AS
SELECT r.machine_no, r.job, count(*) AS runs, (array_agg(r.us ORDER BY r.n))[1] AS last_us,
	percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY r.us::double precision / 1000) AS ms
FROM (
	SELECT c.machine_no, c.job, d.us, row_number() OVER (PARTITION BY c.machine_no, c.job ORDER BY c.last_at DESC, d.n) AS n
	FROM (
		SELECT f.machine_no, f.job, f.recent_us, f.last_at FROM _sfflow.metric_job f
		UNION ALL
		SELECT u.machine_no, u.job COLLATE "C", u.recent_us, u.last_at FROM _sfflow.unfolded_jobs() u) c
	CROSS JOIN LATERAL unnest(c.recent_us) WITH ORDINALITY d(us, n)) r
WHERE r.n <= 30
GROUP BY r.machine_no, r.job;

CREATE VIEW @extschema@.sf_job_times WITH (security_barrier) AS
SELECT m.name AS state_machine, x.job AS job_id, x.runs, x.failures,
	x.time_us::double precision / nullif(x.runs, 0) / 1000 AS time_ms_avg,
	a.ms[1] AS time_ms_p50, a.ms[2] AS time_ms_p95, a.ms[3] AS time_ms_p99,
	r.last_us::double precision / 1000 AS last_ms, x.last_at,
	coalesce(r.runs, 0) AS recent_runs, r.ms[1] AS recent_ms_p50, r.ms[2] AS recent_ms_p95,
	coalesce(w.week_runs, 0) AS week_runs, b.ms[1] AS week_ms_p50, b.ms[2] AS week_ms_p95,
	coalesce(w.previous_week_runs, 0) AS previous_week_runs, c.ms[1] AS previous_week_ms_p50, c.ms[2] AS previous_week_ms_p95
FROM _sfflow.state_machine m
JOIN (
	SELECT t.machine_no, t.job, sum(t.runs)::bigint AS runs, sum(t.failures)::bigint AS failures,
		sum(t.time_us) AS time_us, _sfflow.histogram_sum(t.time_histogram) AS time_histogram, max(t.last_at) AS last_at
	FROM (
		SELECT f.machine_no, f.job, f.runs, f.failures, f.time_us, f.time_histogram, f.last_at FROM _sfflow.metric_job f
		UNION ALL
		SELECT u.machine_no, u.job COLLATE "C", u.runs, u.failures, u.time_us, u.time_histogram, u.last_at FROM _sfflow.unfolded_jobs() u) t
	GROUP BY t.machine_no, t.job) x ON x.machine_no = m.machine_no
LEFT JOIN _sfflow.job_usual r ON r.machine_no = x.machine_no AND r.job = x.job
LEFT JOIN (
	SELECT d.machine_no, d.job, sum(d.runs) FILTER (WHERE d.is_this)::bigint AS week_runs,
		_sfflow.histogram_sum(d.time_histogram) FILTER (WHERE d.is_this) AS week,
		sum(d.runs) FILTER (WHERE NOT d.is_this)::bigint AS previous_week_runs,
		_sfflow.histogram_sum(d.time_histogram) FILTER (WHERE NOT d.is_this) AS previous_week
	FROM (
		SELECT y.machine_no, y.job, y.runs, y.time_histogram, y.day > now() - interval '168 hours' AS is_this
		FROM (
			SELECT f.machine_no, f.day, f.job, f.runs, f.time_histogram FROM _sfflow.metric_job_day f
			UNION ALL
			SELECT u.machine_no, u.day, u.job COLLATE "C", u.runs, u.time_histogram FROM _sfflow.unfolded_jobs() u) y
		WHERE y.day > now() - interval '336 hours') d
	GROUP BY d.machine_no, d.job) w ON w.machine_no = x.machine_no AND w.job = x.job
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(x.time_histogram) AS ms OFFSET 0) a
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(w.week) AS ms OFFSET 0) b
CROSS JOIN LATERAL (SELECT _sfflow.histogram_percentiles(w.previous_week) AS ms OFFSET 0) c
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_job_times IS 'how long the tasks of each job take: ever, in the last 30 runs, in this week and the one before';

CREATE VIEW @extschema@.sf_retries WITH (security_barrier) AS
SELECT m.name AS state_machine, x.state, nullif(x.error, '') AS error, x.retries
FROM _sfflow.state_machine m
JOIN (
	SELECT c.machine_no, c.state, c.error, sum(c.retries)::bigint AS retries
	FROM (
		SELECT f.machine_no, f.state, f.error, f.retries FROM _sfflow.metric_retry f
		UNION ALL
		SELECT u.machine_no, u.state COLLATE "C", u.error COLLATE "C", u.retries FROM _sfflow.unfolded_retries() u) c
	GROUP BY c.machine_no, c.state, c.error) x ON x.machine_no = m.machine_no
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_retries IS 'how often states were retried, by error';

-- Alerts of executions, acknowledged or not, but for failures: those are only here while open. OFFSET 0 has
-- executions and branches looked up by their numbers: no plan reads all that are stored. The number shown is that of the
-- row which leads to the execution, so that the alerts of one execution are found without those of others.
CREATE VIEW _sfflow.alert AS
SELECT CASE e.status WHEN 2 THEN 'failed' ELSE 'timed_out' END AS kind, f.execution_no, e.execution_id,
	e.machine_no, f.failed_at AS since, concat_ws(': ', CASE WHEN e.cause IS NULL THEN s.state END, e.error, e.cause) AS detail
FROM _sfflow.failure f
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = f.execution_no OFFSET 0) e
LEFT JOIN LATERAL (
	SELECT format('state "%s"', p.state) AS state
	FROM _sfflow.branch b
	CROSS JOIN LATERAL _sfflow.branch_place(b.execution_no, b.scope, b.state, b.iterations) p
	WHERE e.cause IS NULL AND b.execution_no = e.execution_no AND b.branch_no = 0 OFFSET 0) s ON true
WHERE f.is_open AND e.status IN (2, 3)
UNION ALL
SELECT 'failed_again', f.execution_no, e.execution_id, e.machine_no, f.failed_at,
	format('it has failed %s times under this id', f.times)
FROM _sfflow.failure f
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = f.execution_no OFFSET 0) e
WHERE f.is_open AND f.times > 1 AND e.status IN (2, 3)
UNION ALL
SELECT 'overdue', b.execution_no, e.execution_id, e.machine_no, min(b.due_at), format('%s due for more than five minutes',
	CASE WHEN count(*) = 1 THEN '1 branch' ELSE count(*) || ' branches' END)
FROM (SELECT DISTINCT m.owner FROM _sfflow.state_machine m) o
CROSS JOIN LATERAL (
	SELECT d.execution_no, d.due_at FROM _sfflow.branch d
	WHERE d.owner = o.owner AND d.due_at < now() - interval '5 minutes' AND d.phase <> 4) b
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = b.execution_no OFFSET 0) e
GROUP BY b.execution_no, e.execution_id, e.machine_no
UNION ALL
SELECT 'dead_letter', e.execution_no, e.execution_id, e.machine_no, d.died_at,
	format('state "%s": %s', d.state, concat_ws(': ', d.error, d.cause))
FROM @extschema@.sf_dead_letters d
JOIN _sfflow.execution e ON e.execution_id = d.execution_id
UNION ALL
-- A task that runs far longer than its last runs did.
SELECT 'slow_task', bb.execution_no, e.execution_id, e.machine_no, b.began,
	format('state "%s" has run for %s; of %s runs 95 %% took at most %s', p.state,
		date_trunc('second', now() - b.began), r.runs, date_trunc('milliseconds', r.p95))
FROM _sfflow.branch bb
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = bb.execution_no OFFSET 0) e
LEFT JOIN _sfflow.task t ON t.execution_no = bb.execution_no AND t.branch_no = bb.branch_no AND bb.phase = 6
CROSS JOIN LATERAL (SELECT CASE WHEN t.execution_no IS NULL THEN bb.started_at
	WHEN t.status = 1 THEN t.started_at END AS began) b
CROSS JOIN LATERAL _sfflow.branch_place(bb.execution_no, bb.scope, bb.state, bb.iterations) p
JOIN (SELECT u.machine_no, u.job COLLATE "C", u.runs, make_interval(secs => u.ms[2] / 1000) AS p95 FROM _sfflow.job_usual u) r
	ON r.machine_no = e.machine_no AND r.job = p.state
WHERE bb.phase IN (4, 6) AND e.status = 0 AND b.began IS NOT NULL AND r.runs >= 5
	AND now() - b.began > r.p95 * coalesce(current_setting('sfflow.slow_task_factor', true)::integer, 3)
	AND now() - b.began > interval '1 second';

-- What sf_alerts shows, and the name of what each alert is of.
CREATE VIEW _sfflow.open_alert AS
SELECT a.kind, a.execution_id COLLATE "C" AS object, a.execution_no, a.execution_id, a.since, a.detail
FROM _sfflow.alert a
WHERE a.kind IN ('failed', 'timed_out', 'failed_again') OR NOT EXISTS (
	SELECT FROM _sfflow.acknowledgement k
	WHERE k.execution_no = a.execution_no AND k.kind = a.kind
		AND CASE a.kind WHEN 'slow_task' THEN a.since = ANY (k.slow_since) ELSE k.since >= a.since END)
UNION ALL
SELECT 'no_poller', a.activity COLLATE "C", NULL, NULL, a.oldest_queued_at, format('activity "%s" has %s queued and %s', a.activity,
	CASE WHEN a.queued = 1 THEN '1 task' ELSE a.queued || ' tasks' END,
	coalesce('nobody has polled it since ' || a.last_polled_at, 'nobody has ever polled it'))
FROM @extschema@.sf_activities a
WHERE a.oldest_queued_at < now() - interval '5 minutes'
	AND (a.last_polled_at IS NULL OR a.last_polled_at < now() - interval '5 minutes')
UNION ALL
SELECT 'missed_run', s.name COLLATE "C", NULL, NULL, st.since,
	format(CASE WHEN st.missed_at IS NULL THEN 'schedule "%s" fails: %s' ELSE 'schedule "%s" has not run: %s' END, s.name, st.problem)
FROM (SELECT r.name FROM _sfflow.readable_schedule r OFFSET 0) s
CROSS JOIN LATERAL _sfflow.schedule_status(s.name) st
WHERE st.is_alert
UNION ALL
SELECT l.state COLLATE pg_catalog."default", l.target COLLATE "C", NULL, l.execution_id, l.raised_at, l.detail
FROM _sfflow.raised_lateness l
WHERE l.cleared_at IS NULL AND l.acknowledged_at IS NULL
UNION ALL
SELECT 'unknown_owner', m.name COLLATE "C", NULL, NULL, NULL, format('the owner of state machine "%s" does not exist', m.name)
FROM _sfflow.state_machine m
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = m.owner)
	AND _sfflow.can_read(m.name, m.owner);

CREATE VIEW @extschema@.sf_alerts WITH (security_barrier) AS
SELECT a.kind, a.execution_id, a.since, a.detail,
	CASE WHEN a.kind = 'no_poller' THEN 'activity:' || a.object WHEN a.kind = 'missed_run' THEN 'schedule:' || a.object
		WHEN a.kind IN ('late', 'will_be_late', 'never_started', 'unknown_owner') THEN a.object END COLLATE pg_catalog."default" AS target
FROM _sfflow.open_alert a;
COMMENT ON VIEW @extschema@.sf_alerts IS 'what an operator should look at, and has not acknowledged';

CREATE VIEW @extschema@.sf_acknowledgements WITH (security_barrier) AS
SELECT e.execution_id, k.kind, k.since, k.acknowledged_at, k.acknowledged_by, k.comment
FROM _sfflow.acknowledgement k
JOIN _sfflow.readable_execution e ON e.execution_no = k.execution_no
UNION ALL
SELECT coalesce(l.execution_id, l.target), l.state, l.raised_at, l.acknowledged_at, to_regrole(quote_ident(l.acknowledged_by)), l.comment
FROM _sfflow.raised_lateness l WHERE l.acknowledged_at IS NOT NULL;
COMMENT ON VIEW @extschema@.sf_acknowledgements IS 'the last acknowledgement of each alert of an execution';

CREATE FUNCTION @extschema@.sf_acknowledge(execution_id text, kind text DEFAULT NULL, comment text DEFAULT NULL)
RETURNS integer
AS 'MODULE_PATHNAME', 'sfflow_sf_acknowledge'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_acknowledge(text, text, text) IS
	'takes alerts of an execution out of sf_alerts until something new happens; returns how many';

CREATE FUNCTION @extschema@.sf_acknowledge_all(
	state_machine text,
	until timestamptz DEFAULT NULL,
	comment text DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_acknowledge_all'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_acknowledge_all(text, timestamptz, text) IS
	'the same for the alerts of all executions of a state machine since a time or before';

GRANT SELECT ON @extschema@.sf_metrics, @extschema@.sf_metrics_by_hour, @extschema@.sf_job_times,
	@extschema@.sf_retries, @extschema@.sf_alerts, @extschema@.sf_acknowledgements TO PUBLIC;

-- sf_audit: who did what, when, why.

-- The objects whose actions the reader may see. What belongs to no machine, activity, schedule, rule or calendar is shown
-- to members of the extension's owner.
CREATE VIEW _sfflow.auditable AS
SELECT 'm'::"char" AS object_kind, m.name AS object_name FROM _sfflow.readable_machine m
UNION ALL
SELECT 'a', t.name FROM _sfflow.workable_activity t
UNION ALL
SELECT 's', s.name FROM _sfflow.schedule s WHERE pg_has_role(s.owner, 'USAGE')
UNION ALL
SELECT 'r', r.name FROM _sfflow.rule r WHERE pg_has_role(r.owner, 'USAGE')
UNION ALL
SELECT 'c', c.name FROM _sfflow.calendar c
UNION ALL
SELECT '*', '*' FROM pg_namespace n WHERE n.nspname = '_sfflow' AND pg_has_role(n.nspowner, 'USAGE');

-- The row of an execution tells who started it; start_request has the calls that found it there.
CREATE VIEW @extschema@.sf_audit WITH (security_barrier) AS
SELECT a.at, a.action, a.target, e.execution_id, a.role, a.session_role, a.reason, a.details
FROM _sfflow.audit a
LEFT JOIN _sfflow.execution e ON e.execution_no = a.execution_no
WHERE (a.object_kind, a.object_name) IN (SELECT o.object_kind, o.object_name FROM _sfflow.auditable o)
UNION ALL
SELECT e.requested_at, 'start', e.execution_id, e.execution_id, pg_get_userbyid(e.requested_by)::text, NULL, NULL, NULL
FROM _sfflow.readable_execution e WHERE e.requested_by IS NOT NULL
UNION ALL
SELECT r.requested_at, 'start', e.execution_id, e.execution_id, pg_get_userbyid(r.requested_by)::text, NULL, NULL,
	jsonb_build_object('outcome', r.outcome, 'input_differs', r.input_differs)
FROM _sfflow.start_request r
JOIN _sfflow.readable_execution e ON e.execution_no = r.execution_no;
GRANT SELECT ON @extschema@.sf_audit TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_audit IS 'what operators did: starts, stops, redrives, rights, definitions';

-- The same as pages, in the order of time. Starts are not among them: sf_list_executions has pages of those.
CREATE FUNCTION @extschema@.sf_list_audit(
	target text DEFAULT NULL,
	action text DEFAULT NULL,
	role text DEFAULT NULL,
	done_after timestamptz DEFAULT NULL,
	done_before timestamptz DEFAULT NULL,
	page_size integer DEFAULT NULL,
	after_key text DEFAULT NULL,
	OUT at timestamptz,
	OUT action text,
	OUT target text,
	OUT execution_id text,
	OUT role text,
	OUT session_role text,
	OUT reason text,
	OUT details jsonb,
	OUT page_key text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_list_audit'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_list_audit(text, text, text, timestamptz, timestamptz, integer, text) IS
	'a page of what operators did but for starts, the newest first; page_key of its last row is after_key of the next page';

-- sf_set_limit, sf_drop_limit, and what is limited.

CREATE FUNCTION @extschema@.sf_set_limit(
	target text,
	key text DEFAULT NULL,
	max_running integer DEFAULT NULL,
	rate double precision DEFAULT NULL,
	per interval DEFAULT '1 s',
	on_limit text DEFAULT 'queue'
)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_set_limit'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_set_limit(text, text, integer, double precision, interval, text) IS
	'limits how much of a machine, state, activity or resource runs at a time, or begins in a span of time';

CREATE FUNCTION @extschema@.sf_drop_limit(target text, key text DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_limit'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_limit(text, text) IS
	'removes a limit; false: there is none';

-- Slots that a transaction has locked so far; their queue by the part of its hash that a lock has.
CREATE VIEW _sfflow.locked_slot AS
SELECT l.limit_no, k.classid::bigint AS short_hash, (k.objid::bigint & 1048575)::integer AS slot, k.pid
FROM pg_locks k
JOIN _sfflow.run_limit l ON (l.limit_no & 134217727) = ((k.objsubid & 32767)::bigint << 12 | (k.objid::bigint >> 20))
WHERE k.locktype = 'advisory' AND k.objsubid < 0 AND k.granted AND k.objid::bigint & 1048575 > 0
	AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
	AND NOT EXISTS (SELECT FROM _sfflow.limit_slot s
		WHERE s.limit_no = l.limit_no AND s.slot = k.objid::bigint & 1048575
			AND (s.queue # (s.queue >> 32)) & 4294967295 = k.classid::bigint);

-- Slots that are taken: those with a row, and those that are locked.
CREATE VIEW _sfflow.taken_slot AS
SELECT s.limit_no, s.queue, s.slot FROM _sfflow.limit_slot s
UNION ALL
SELECT k.limit_no, NULL, k.slot FROM _sfflow.locked_slot k;

CREATE VIEW @extschema@.sf_limits WITH (security_barrier) AS
SELECT CASE l.kind WHEN 'activity' THEN 'activity:' ELSE '' END || l.name || CASE l.state WHEN '' THEN '' ELSE '/' || l.state END AS target,
	nullif(l.key, '') AS key, l.max_running, l.rate,
	CASE WHEN l.rate IS NOT NULL THEN l.per * interval '1 microsecond' END AS per,
	CASE WHEN l.fails THEN 'fail' ELSE 'queue' END AS on_limit, l.in_definition,
	(SELECT count(*) FROM _sfflow.taken_slot s WHERE s.limit_no = l.limit_no) AS in_use,
	w.waiting, w.oldest_waiting, l.set_at, l.set_by
FROM _sfflow.run_limit l
CROSS JOIN LATERAL (SELECT count(*) AS waiting, min(h.since) AS oldest_waiting
	FROM _sfflow.held_branch h WHERE h.feature = 'limit' AND h.object_no = l.limit_no AND h.queue IS NOT NULL) w
-- A comparison, as in sf_holds.
WHERE CASE WHEN CASE l.kind
	WHEN 'activity' THEN l.name IN (SELECT a.name FROM _sfflow.workable_activity a)
	WHEN 'resource' THEN l.owner IS NULL OR pg_has_role(l.owner, 'USAGE')
	ELSE l.machine_no IN (SELECT m.machine_no FROM _sfflow.readable_machine m)
END THEN 'visible' END = 'visible';
GRANT SELECT ON @extschema@.sf_limits TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_limits IS 'limits, how much of each is in use, and how much waits';

-- What waits for limits. The numbers of a queue are counted up to a bound, so that an execution behind many others costs
-- no more than one behind ten thousand. Locks are read once, for all rows.
CREATE VIEW @extschema@.sf_limit_waits WITH (security_barrier) AS
WITH locked AS MATERIALIZED (
	SELECT k.limit_no, k.short_hash, w.execution_no
	FROM _sfflow.locked_slot k LEFT JOIN _sfflow.workers() w ON w.pid = k.pid)
SELECT e.execution_id, p.branch, p.state,
	CASE l.kind WHEN 'activity' THEN 'activity:' ELSE '' END || l.name || CASE l.state WHEN '' THEN '' ELSE '/' || l.state END AS target,
	nullif(l.key, '') AS key, h.since,
	(SELECT count(*) + 1 FROM (
		SELECT FROM _sfflow.held x
		WHERE x.object_no = h.object_no AND x.queue = h.queue
			AND (x.rank, x.execution_no, x.branch_no) < (h.rank, h.execution_no, h.branch_no)
		LIMIT 10000) x) AS position,
	(SELECT count(*) FROM (
		SELECT FROM _sfflow.held x WHERE x.object_no = h.object_no AND x.queue = h.queue LIMIT 10000) x) AS waiting,
	l.max_running,
	(SELECT count(*) FROM _sfflow.limit_slot s WHERE s.limit_no = h.object_no AND s.queue = h.queue)
		+ (SELECT count(*) FROM locked k
			WHERE k.limit_no = h.object_no AND k.short_hash = (h.queue # (h.queue >> 32)) & 4294967295) AS in_use,
	l.rate, CASE WHEN l.rate IS NOT NULL THEN l.per * interval '1 microsecond' END AS per,
	ARRAY(
		SELECT r.execution_id FROM (
			SELECT s.execution_no FROM _sfflow.limit_slot s WHERE s.limit_no = h.object_no AND s.queue = h.queue
			UNION
			SELECT k.execution_no FROM locked k
			WHERE k.limit_no = h.object_no AND k.short_hash = (h.queue # (h.queue >> 32)) & 4294967295
			ORDER BY 1 LIMIT 20) s
		JOIN _sfflow.readable_execution r ON r.execution_no = s.execution_no
		ORDER BY s.execution_no) AS in_use_by
FROM _sfflow.held h
JOIN _sfflow.run_limit l ON h.feature = 'limit' AND l.limit_no = h.object_no
JOIN _sfflow.branch b ON b.execution_no = h.execution_no AND b.branch_no = h.branch_no
	AND b.due_at IS NULL AND b.phase IN (0, 1, 4, 12)
JOIN _sfflow.readable_execution e ON e.execution_no = h.execution_no AND e.status = 0
CROSS JOIN LATERAL _sfflow.branch_place(b.execution_no, b.scope, b.state, b.iterations) p;
GRANT SELECT ON @extschema@.sf_limit_waits TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_limit_waits IS 'branches that wait for a limit, their places in the queue, and who has the places';

-- The metrics in Prometheus' text format.

-- For each of some durations in microseconds, how many in the histogram are shorter. A bucket counts where its
-- least duration is shorter.
CREATE FUNCTION _sfflow.histogram_below(histogram bytea, us bigint[]) RETURNS bigint[]
AS 'MODULE_PATHNAME', 'sfflow_histogram_below'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE VIEW @extschema@.sf_execution_time_buckets WITH (security_barrier) AS
SELECT m.name AS state_machine, b.seconds AS le, b.executions
FROM _sfflow.state_machine m
JOIN (
	SELECT c.machine_no, _sfflow.histogram_sum(c.time_histogram) AS histogram
	FROM (
		SELECT t.machine_no, t.time_histogram FROM _sfflow.metric_total t
		UNION ALL
		SELECT u.machine_no, u.time_histogram FROM _sfflow.unfolded_metrics() u) c
	GROUP BY c.machine_no) x ON x.machine_no = m.machine_no
CROSS JOIN (VALUES ('{0.01,0.05,0.1,0.5,1,5,10,30,60,300,900,1800,3600,7200,14400,28800,86400,Infinity}'::double precision[])) l(seconds)
CROSS JOIN LATERAL unnest(l.seconds, _sfflow.histogram_below(x.histogram,
	ARRAY(SELECT CASE WHEN s.seconds = 'Infinity' THEN 9223372036854775807 ELSE (s.seconds * 1000000)::bigint END
		FROM unnest(l.seconds) WITH ORDINALITY s(seconds, n) ORDER BY s.n))) b(seconds, executions)
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_execution_time_buckets IS
	'how many executions have ended within some times from their start, as a histogram of Prometheus';
GRANT SELECT ON @extschema@.sf_execution_time_buckets TO PUBLIC;

-- Sums of microseconds are those of sf_metrics: an average and its count.
CREATE FUNCTION @extschema@.sf_prometheus() RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN CASE WHEN (SELECT v.advice IS NOT NULL FROM @extschema@.sf_version() v) THEN
	E'# HELP sfflow_health_problems Rows of sf_health that are not ok.\n# TYPE sfflow_health_problems gauge\nsfflow_health_problems 1\n'
	'# HELP sfflow_schema_differs Whether library and schema of sfflow differ: nothing runs then.\n# TYPE sfflow_schema_differs gauge\nsfflow_schema_differs 1\n'
ELSE (
	WITH machine AS MATERIALIZED (
		SELECT m.state_machine, to_jsonb(m) AS counts,
			format('{state_machine="%s"', replace(replace(replace(m.state_machine, E'\\', E'\\\\'), '"', E'\\"'), E'\n', E'\\n')) AS label,
			m.executions_succeeded + m.executions_failed + m.executions_aborted + m.executions_timed_out AS ended,
			coalesce(m.execution_time_ms_avg, 0) AS ms
		FROM @extschema@.sf_metrics m
	), counter(n, field, name, help) AS (
		VALUES (1, 'executions_started', 'executions_started', 'Executions that began, or began anew.'),
			(2, 'executions_succeeded', 'executions_succeeded', 'Executions that ended with status SUCCEEDED.'),
			(3, 'executions_failed', 'executions_failed', 'Executions that ended with status FAILED.'),
			(4, 'executions_aborted', 'executions_aborted', 'Executions that ended with status ABORTED.'),
			(5, 'executions_timed_out', 'executions_timed_out', 'Executions that ended with status TIMED_OUT.'),
			(6, 'executions_throttled', 'executions_throttled', 'Starts that a quota of the owner refused.'),
			(7, 'executions_redriven', 'executions_redriven', 'Redrives.'),
			(8, 'state_transitions', 'state_transitions', 'States entered.'),
			(9, 'retries', 'state_retries', 'States retried by their Retry.')
	), gauge(n, name, help, value) AS (
		SELECT 21, 'activity_tasks_queued', 'Tasks of activities that wait for a worker.', coalesce(sum(a.queued), 0)::text FROM @extschema@.sf_activities a
		UNION ALL
		SELECT 22, 'activity_tasks_in_flight', 'Tasks of activities that a worker has.', coalesce(sum(a.in_flight), 0)::text FROM @extschema@.sf_activities a
		UNION ALL
		SELECT 23, 'activity_oldest_queued_seconds', 'Age of the oldest task that waits for a worker.',
			round(greatest(coalesce(extract(epoch FROM clock_timestamp() - min(a.oldest_queued_at)), 0), 0), 3)::text FROM @extschema@.sf_activities a
		UNION ALL
		SELECT 24, 'dead_letters', 'Tasks that no worker answered.', count(*)::text FROM @extschema@.sf_dead_letters
		UNION ALL
		SELECT 25, 'alerts', 'Alerts that were not acknowledged.', count(*)::text FROM @extschema@.sf_alerts
		UNION ALL
		SELECT 26, 'workers', 'Worker processes.', count(*)::text FROM @extschema@.sf_workers
		UNION ALL
		SELECT 27, 'health_problems', 'Rows of sf_health that are not ok.', (count(*) FILTER (WHERE NOT h.ok))::text FROM @extschema@.sf_health h
		UNION ALL
		SELECT 28, 'schedules_failing', 'Schedules that fail, have missed a run or have lost their job.', count(*)::text
		FROM @extschema@.sf_alerts a WHERE a.kind = 'missed_run'
		UNION ALL
		SELECT 29, 'schema_differs', 'Whether library and schema of sfflow differ: nothing runs then.', '0'
	), family(n, name, type, help, samples) AS (
		SELECT c.n, format('sfflow_%s_total', c.name), 'counter', c.help,
			string_agg(format(E'sfflow_%s_total%s} %s\n', c.name, m.label, m.counts ->> c.field), '' ORDER BY m.state_machine)
				FILTER (WHERE m.state_machine IS NOT NULL)
		FROM counter c
		LEFT JOIN machine m ON true
		GROUP BY c.n, c.name, c.help
		UNION ALL
		SELECT 20, 'sfflow_execution_duration_seconds', 'histogram', 'Time from the start of executions to their end.',
			string_agg(b.lines || format(E'sfflow_execution_duration_seconds_sum%s} %s\nsfflow_execution_duration_seconds_count%s} %s\n',
				m.label, m.ms * m.ended / 1000, m.label, b.executions), '' ORDER BY m.state_machine)
		FROM machine m
		CROSS JOIN LATERAL (
			SELECT string_agg(format(E'sfflow_execution_duration_seconds_bucket%s,le="%s"} %s\n', m.label,
				CASE t.le WHEN 'Infinity' THEN '+Inf' ELSE t.le::text END, t.executions), '' ORDER BY t.le) AS lines, max(t.executions) AS executions
			FROM @extschema@.sf_execution_time_buckets t WHERE t.state_machine = m.state_machine) b
		UNION ALL
		SELECT g.n, 'sfflow_' || g.name, 'gauge', g.help, format(E'sfflow_%s %s\n', g.name, g.value)
		FROM gauge g
	)
	SELECT string_agg(format(E'# HELP %s %s\n# TYPE %s %s\n%s', f.name, f.help, f.name, f.type, f.samples), '' ORDER BY f.n)
	FROM family f) END;
COMMENT ON FUNCTION @extschema@.sf_prometheus() IS 'counters, times and gauges of what the caller may read, in the text format of Prometheus';

-- Schedules: jobs of pg_cron that start state machines.

CREATE FUNCTION @extschema@.sf_schedule(
	name text,
	schedule text,
	state_machine text,
	input jsonb DEFAULT '{}',
	timezone text DEFAULT NULL,
	calendar text DEFAULT NULL,
	on_closed text DEFAULT 'skip',
	starts timestamptz DEFAULT NULL,
	ends timestamptz DEFAULT NULL,
	missed text DEFAULT 'run_once',
	overlap text DEFAULT 'skip')
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_schedule'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_schedule(text, text, text, jsonb, text, text, text, timestamptz, timestamptz, text, text) IS
	'start a state machine by a cron expression; returns the number of the pg_cron job';

CREATE FUNCTION @extschema@.sf_unschedule(name text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_unschedule'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_unschedule(text) IS 'remove a schedule and its pg_cron job';

-- What the pg_cron jobs call; the second form is for a pg_cron in another database.
CREATE FUNCTION _sfflow.run_schedule(name text) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_run_schedule'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

CREATE FUNCTION _sfflow.run_schedule(
	name text,
	schedule text,
	state_machine text,
	input jsonb,
	timezone text,
	calendar text DEFAULT NULL,
	on_closed text DEFAULT 'skip',
	starts timestamptz DEFAULT NULL,
	ends timestamptz DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_run_schedule_given'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- The same, and what workers do now and then, as if it was a given time.
CREATE FUNCTION _sfflow.run_schedule_at(name text, at timestamptz) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_run_schedule_at'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

CREATE FUNCTION _sfflow.look_at_schedules(at timestamptz) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_look_at_schedules'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

CREATE FUNCTION @extschema@.sf_schedule_preview(
	name text,
	from_time timestamptz,
	to_time timestamptz,
	OUT scheduled_for timestamptz,
	OUT local_time timestamp,
	OUT execution_name text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_schedule_preview'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_schedule_preview(text, timestamptz, timestamptz) IS
	'the times of a schedule from one time to another';

CREATE FUNCTION @extschema@.sf_backfill(
	schedule text,
	from_time timestamptz,
	to_time timestamptz,
	max_running integer DEFAULT 1)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_backfill'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_backfill(text, timestamptz, timestamptz, integer) IS
	'start the runs of a schedule of a time that is over, some at once; returns how many';

-- Gives C the extension's own sf_start, whatever schema it is in. Bound to that function, not to its
-- name: the owner of the schema can rename it and make another one.
CREATE FUNCTION _sfflow.start_scheduled(state_machine text, input jsonb, name text) RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN @extschema@.sf_start($1, $2, $3, 'skip');

CREATE FUNCTION _sfflow.schedule_next(schedule text, timezone text, after timestamptz)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_schedule_next'
LANGUAGE C STABLE PARALLEL SAFE;

CREATE FUNCTION _sfflow.schedule_next_run(name text, after timestamptz) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_schedule_next_run'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

CREATE FUNCTION _sfflow.schedule_latest(schedule text, timezone text, at timestamptz)
RETURNS timestamptz
AS 'MODULE_PATHNAME', 'sfflow_schedule_latest'
LANGUAGE C STABLE PARALLEL SAFE;

CREATE FUNCTION _sfflow.schedule_zone() RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_schedule_zone'
LANGUAGE C STABLE PARALLEL SAFE;

CREATE VIEW @extschema@.sf_schedules WITH (security_barrier) AS
SELECT s.name AS schedule_name, s.schedule, coalesce(s.timezone, _sfflow.schedule_zone()) AS timezone,
	s.state_machine, s.input, a.active,
	CASE WHEN a.active THEN _sfflow.schedule_next_run(s.name, now()) END AS next_run,
	s.last_execution_id, st.state, st.problem, pg_get_userbyid(s.owner) AS owner, s.calendar, s.on_closed, s.starts, s.ends,
	s.missed, s.overlap
FROM _sfflow.readable_schedule s
CROSS JOIN LATERAL _sfflow.schedule_status(s.name) st
CROSS JOIN LATERAL (SELECT st.state NOT IN ('gone', 'inactive') AS active) a;
GRANT SELECT ON @extschema@.sf_schedules TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_schedules IS 'schedules, the next run of each, and whether its runs happen';

-- pg_cron knows which calls failed, and why; sfflow knows what the others were for. The same call has the
-- same process, at about the same time. A call that could not connect has no time.
CREATE VIEW @extschema@.sf_schedule_runs WITH (security_barrier) AS
SELECT s.name AS schedule_name, r.scheduled_for, r.started_at, r.status, r.error, r.execution_id, r.ended_at, r.run_id AS cron_run_id
FROM _sfflow.readable_schedule s
CROSS JOIN LATERAL (
	SELECT o.scheduled_for, coalesce(c.started_at, o.run_at) AS started_at, c.ended_at, c.run_id, o.execution_id,
		CASE WHEN coalesce(c.status, 'succeeded') = 'succeeded' THEN coalesce(o.outcome, 'succeeded') ELSE c.status END AS status,
		CASE WHEN c.status = 'failed' THEN c.message ELSE o.message END AS error
	FROM _sfflow.cron_runs(s.name) c
	FULL JOIN (SELECT h.* FROM _sfflow.schedule_run h WHERE h.schedule = s.name) o
		ON o.pid = c.pid AND o.run_at >= c.started_at - interval '10 s'
			AND o.run_at <= coalesce(c.ended_at, 'infinity') + interval '10 s') r;
GRANT SELECT ON @extschema@.sf_schedule_runs TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_schedule_runs IS 'runs of schedules, and the outcome of each';

-- Rules: what is to happen when a status changes.

CREATE FUNCTION @extschema@.sf_create_rule(name text, pattern jsonb, target text, input jsonb DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_rule'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_create_rule(text, jsonb, text, jsonb) IS
	'call a target for each change of a status whose event matches a pattern';

CREATE FUNCTION @extschema@.sf_drop_rule(name text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_rule'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_rule(text) IS 'remove a rule with its deliveries';

CREATE FUNCTION @extschema@.sf_redeliver(rule text, event_id text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_redeliver'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_redeliver(text, text) IS 'try dead deliveries of a rule anew; returns how many';

CREATE FUNCTION @extschema@.sf_discard_deliveries(rule text, event_id text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_discard_deliveries'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_discard_deliveries(text, text) IS 'delete dead deliveries of a rule; returns how many';

CREATE FUNCTION @extschema@.sf_test_event_pattern(pattern jsonb, event jsonb) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_test_event_pattern'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_test_event_pattern(jsonb, jsonb) IS 'does an event match an event pattern?';

-- What workers do once a minute if a rule wants to know of alerts.
CREATE FUNCTION _sfflow.check_alerts() RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_check_alerts'
LANGUAGE C VOLATILE;

-- A rule is visible to members of its owner. last_error: of the deliveries that there are.
CREATE VIEW @extschema@.sf_rules WITH (security_barrier) AS
SELECT r.name AS rule_name, pg_get_userbyid(r.owner) AS owner, r.pattern, r.target, r.input, d.pending,
	(SELECT coalesce(sum(t.delivered), 0)::bigint FROM _sfflow.rule_total t WHERE t.rule_no = r.rule_no) AS delivered, d.dead,
	e.error AS last_error, e.cause AS last_cause, e.failed_at AS last_failed_at, r.created_at
FROM _sfflow.rule r
CROSS JOIN LATERAL (
	SELECT count(*) FILTER (WHERE x.due_at IS NOT NULL) AS pending, count(*) FILTER (WHERE x.due_at IS NULL) AS dead
	FROM _sfflow.rule_delivery x WHERE x.rule_no = r.rule_no) d
LEFT JOIN LATERAL (
	SELECT x.error, x.cause, x.failed_at
	FROM _sfflow.rule_delivery x WHERE x.rule_no = r.rule_no AND x.failed_at IS NOT NULL
	ORDER BY x.failed_at DESC LIMIT 1) e ON true
WHERE r.owner = ANY (ARRAY(SELECT o.owner FROM _sfflow.rule_owner o WHERE pg_has_role(o.owner, 'USAGE')));
GRANT SELECT ON @extschema@.sf_rules TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_rules IS 'rules, and how many of their deliveries wait, were made, and are dead';

CREATE VIEW @extschema@.sf_rule_deliveries WITH (security_barrier) AS
SELECT r.name AS rule_name, d.event_id, CASE WHEN d.due_at IS NULL THEN 'DEAD' ELSE 'PENDING' END AS status,
	greatest(d.attempt, 0) AS attempts, CASE WHEN d.attempt <> 0 THEN d.due_at END AS next_attempt, d.error, d.cause, d.failed_at,
	d.event, d.created_at
FROM _sfflow.rule_delivery d
JOIN _sfflow.rule r ON r.rule_no = d.rule_no
WHERE r.owner = ANY (ARRAY(SELECT o.owner FROM _sfflow.rule_owner o WHERE pg_has_role(o.owner, 'USAGE')));
GRANT SELECT ON @extschema@.sf_rule_deliveries TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_rule_deliveries IS 'deliveries of rules that wait or are dead';

-- sf_hold, sf_release, and what is held.
CREATE FUNCTION @extschema@.sf_hold(target text, state text DEFAULT NULL, reason text DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_hold'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_hold(text, text, text) IS
	'lets no step of a machine, state, execution, schedule, activity or resource begin; false: it is held already';

CREATE FUNCTION @extschema@.sf_release(target text, state text DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_release'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_release(text, text) IS
	'ends a hold; returns how many branches that waited for it go on';

CREATE VIEW @extschema@.sf_holds WITH (security_barrier) AS
SELECT CASE WHEN h.kind IN ('schedule', 'activity') THEN h.kind || ':' ELSE '' END || h.name AS target,
	nullif(h.state, '') AS state, h.held_at AS since, h.held_by, h.reason,
	CASE h.kind WHEN 'activity' THEN (
		SELECT count(*) FROM _sfflow.activity a
		JOIN _sfflow.task t ON t.activity_no = a.activity_no AND t.status = 0
		JOIN _sfflow.branch b ON b.execution_no = t.execution_no AND b.branch_no = t.branch_no
			AND b.generation = t.generation AND b.phase = 6
		WHERE a.name = h.name)
	ELSE (SELECT count(*) FROM _sfflow.held_branch w WHERE w.feature = 'hold' AND w.object_no = h.hold_no AND w.queue IS NULL) END AS waiting
FROM _sfflow.hold h
-- The planner takes a comparison for selective, but expects half of all rows to fulfil a bare condition: with thousands of
-- holds of others it then compiles the query (jit), which takes a hundred times as long as to read them.
WHERE CASE WHEN CASE h.kind
	WHEN 'activity' THEN h.name IN (SELECT a.name FROM _sfflow.workable_activity a)
	WHEN 'schedule' THEN h.name IN (SELECT s.name FROM _sfflow.schedule s WHERE pg_has_role(s.owner, 'USAGE'))
	WHEN 'resource' THEN h.owner IS NULL OR pg_has_role(h.owner, 'USAGE')
	ELSE h.machine_no IN (SELECT m.machine_no FROM _sfflow.readable_machine m)
END THEN 'visible' END = 'visible';
GRANT SELECT ON @extschema@.sf_holds TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_holds IS 'what is held, since when, by whom and why, and how many branches wait for it';
COMMENT ON COLUMN @extschema@.sf_holds.target IS 'what is held, as sf_hold was given it';
COMMENT ON COLUMN @extschema@.sf_holds.state IS 'the state that is held; null: all';
COMMENT ON COLUMN @extschema@.sf_holds.since IS 'since when';
COMMENT ON COLUMN @extschema@.sf_holds.held_by IS 'the role that called sf_hold';
COMMENT ON COLUMN @extschema@.sf_holds.reason IS 'why, if sf_hold was told';
COMMENT ON COLUMN @extschema@.sf_holds.waiting IS 'how many branches, or tasks of an activity, wait for its end';

-- sf_mark: a job is settled without its task.
CREATE FUNCTION @extschema@.sf_mark(
	execution_id text,
	job_id text,
	outcome text,
	output jsonb DEFAULT NULL,
	reason text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_mark'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_mark(text, text, text, jsonb, text) IS
	'settles a job that failed, is held or was not reached, so that a redrive or a release goes on past it';


-- The AWS API: one function that answers every operation of Step Functions, and keys for its clients.

CREATE FUNCTION @extschema@.sf_aws_api(action text, request jsonb DEFAULT '{}')
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_aws_api'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_aws_api(text, jsonb) IS
	'answers an operation of the Step Functions API; the name of an error is in its field CONSTRAINT NAME';

-- For sfgateway. The role is the identity of this one call, and nothing that it calls can leave it.
CREATE FUNCTION @extschema@.sf_aws_api_as(role name, action text, request jsonb DEFAULT '{}')
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_aws_api_as'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_aws_api_as(name, text, jsonb) IS
	'the same with the rights of a role that the session user is a member of';

CREATE FUNCTION @extschema@.sf_create_access_key(role name, OUT access_key_id text, OUT secret_access_key text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_create_access_key'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION @extschema@.sf_create_access_key(name) IS
	'makes a key with which a client of the AWS API signs its requests; the secret is shown once';

CREATE FUNCTION @extschema@.sf_drop_access_key(access_key_id text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_access_key'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_access_key(text) IS 'deletes an access key';

CREATE VIEW @extschema@.sf_access_keys WITH (security_barrier) AS
SELECT k.access_key_id, k.role, k.created_at, k.created_by, k.created_in AS created_by_session,
	r.rolcanlogin AND coalesce(r.rolvaliduntil > now(), true) AND has_database_privilege(k.role::oid, current_database(), 'CONNECT') AS usable
FROM _sfflow.access_key k
JOIN pg_roles r ON r.oid = k.role
WHERE pg_has_role(k.role::oid, 'MEMBER');
COMMENT ON VIEW @extschema@.sf_access_keys IS 'access keys of roles that the reader is a member of, without their secrets';
GRANT SELECT ON @extschema@.sf_access_keys TO PUBLIC;

-- For the role of sfgateway alone, which is given EXECUTE.
CREATE FUNCTION @extschema@.sf_access_key(access_key_id text, OUT role name, OUT secret_access_key text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_access_key'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION @extschema@.sf_access_key(text) IS
	'the role and the secret of an access key; no row when there is none, or when its role cannot log in';

-- One night at a glance, and one execution.

CREATE FUNCTION @extschema@.sf_night(
	since timestamptz DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	most integer DEFAULT NULL,
	OUT planned_at timestamptz,
	OUT target text,
	OUT state text,
	OUT started_at timestamptz,
	OUT ended_at timestamptz,
	OUT took interval,
	OUT usual interval,
	OUT expected_end timestamptz,
	OUT detail text,
	OUT next text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_night'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_night(timestamptz, timestamptz, integer) IS
	'the executions and the runs of schedules of a time: by default from 16 hours ago until 8 hours from now; a machine with more than most starts has one line, of state MASS';

CREATE FUNCTION @extschema@.sf_progress(
	execution_id text,
	OUT status text,
	OUT done integer,
	OUT total integer,
	OUT took interval,
	OUT usual interval,
	OUT remaining interval,
	OUT eta timestamptz,
	OUT waiting_on text,
	OUT next text)
RETURNS record
AS 'MODULE_PATHNAME', 'sfflow_sf_progress'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.sf_progress(text) IS
	'how many jobs of an execution are done, and when it is expected to end';

-- sf_console_api: what the pages of the console ask for, as documents. A function per action, with the rights of its
-- caller over the public views and functions. Every answer is bounded: lists are pages, payloads are cut, and
-- console_payload gives the rest of one. OFFSET 0 keeps the planner from joining a page with all executions: each row of it
-- is looked up by its key.

-- The events of an execution from one id to another, each with the beginning of the text of its details.
CREATE FUNCTION _sfflow.event_page(
	execution_id text,
	after integer,
	until integer,
	state_no integer,
	iterations integer[],
	member text,
	most_bytes integer,
	most integer,
	OUT id integer,
	OUT previous_event_id integer,
	OUT "timestamp" timestamptz,
	OUT type text,
	OUT state text,
	OUT details text,
	OUT bytes integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_event_page'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 100;

-- When an execution was in its states: a row per place, visit and attempt, in the order of their first events. The first
-- event of a Parallel, Map or JobNet that goes on after a redrive is one within it. The answer has rows up to "most", and
-- those that begin with the same event as the last of them.
CREATE FUNCTION _sfflow.spans(
	execution_id text,
	wanted text,
	inside boolean,
	after integer,
	most integer,
	OUT state_no integer,
	OUT state text,
	OUT type text,
	OUT iterations integer[],
	OUT job_id text,
	OUT branch text,
	OUT visit integer,
	OUT attempt integer,
	OUT first_event integer,
	OUT last_event integer,
	OUT started_at timestamptz,
	OUT stopped_at timestamptz,
	OUT status text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_spans'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 100;

-- The names of the Tasks that can run if an execution goes on with a state.
CREATE FUNCTION _sfflow.tasks_from(execution_id text, state text) RETURNS text[]
AS 'MODULE_PATHNAME', 'sfflow_tasks_from'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

-- What an execution will run, or may, that sf_jobs has no row of, and whether all that is ahead will run.
CREATE FUNCTION _sfflow.jobs_ahead(execution_id text) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_jobs_ahead'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;

-- The rights of the caller on a machine.
CREATE FUNCTION _sfflow.machine_rights(machine text, owner regrole) RETURNS text[]
AS 'MODULE_PATHNAME', 'sfflow_machine_rights'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100;

-- Of each machine that the caller may read the executions that run for longest, so many at most; running: how many of its
-- executions run, up to 1,000. Items of Distributed Maps are left out. Both times are later by that between ends and redrives.
CREATE FUNCTION _sfflow.longest_running(
	most integer,
	OUT state_machine text,
	OUT execution_id text,
	OUT requested_at timestamptz,
	OUT started_at timestamptz,
	OUT running bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_longest_running'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 20;

-- For how long an execution has run, without the time between its ends and its redrives; null if the caller may not read it.
CREATE FUNCTION _sfflow.took_ms(execution_id text) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_took_ms'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100;

-- May the caller make machines, activities and rules?
CREATE FUNCTION _sfflow.may_create() RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_may_create'
LANGUAGE C STABLE PARALLEL RESTRICTED;

-- The beginning of a text, and how long all of it is.
CREATE FUNCTION _sfflow.console_cut(whole text, most integer) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN jsonb_build_object('text', left($1, $2), 'bytes', octet_length($1), 'cut', length($1) > $2);

-- What the caller may do with the machines of executions, or with machines that it may read: {machine: [right]}. A page
-- offers nothing else.
CREATE FUNCTION _sfflow.console_rights(targets text[]) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_object_agg(s.state_machine, _sfflow.machine_rights(s.state_machine, s.owner)), '{}')
	FROM @extschema@.sf_state_machines s
	WHERE s.is_current AND s.state_machine IN (SELECT DISTINCT substring(t.target, '^[^:/]+') FROM unnest($1) AS t(target)));

-- May the caller release what is held? The view shows holds of schedules to members of their owners alone.
CREATE FUNCTION _sfflow.console_may_release(target text, held_by text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN CASE
	WHEN $1 LIKE 'schedule:%' THEN true
	WHEN $1 LIKE 'activity:%' THEN EXISTS (SELECT FROM @extschema@.sf_activities a
		WHERE a.activity = substr($1, 10) AND pg_has_role(a.owner, 'USAGE'))
	WHEN $1 ~ '^(sql|arn):' THEN $2 = current_user OR current_setting('is_superuser')::boolean
	ELSE _sfflow.console_rights(ARRAY[$1]) -> substring($1, '^[^:/]+') @> '"OPERATE"'
END;

-- What is held, and whether the caller may release it.
CREATE FUNCTION _sfflow.console_holds(most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.since), '[]') FROM (
		SELECT x.target, x.state, x.since, x.held_by, x.reason, x.waiting, _sfflow.console_may_release(x.target, x.held_by) AS may_release
		FROM @extschema@.sf_holds x ORDER BY x.since LIMIT $1) h);

-- May the caller change a limit? One of a resource belongs to the role that set it.
CREATE FUNCTION _sfflow.console_may_limit(target text, set_by text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN CASE
	WHEN $1 LIKE 'activity:%' THEN EXISTS (
		SELECT FROM @extschema@.sf_activities a WHERE a.activity = substr($1, 10) AND pg_has_role(a.owner, 'USAGE'))
	WHEN $1 ~ '^[^:/]+(/|$)' THEN coalesce(_sfflow.console_rights(ARRAY[$1]) -> substring($1, '^[^:/]+') @> '"OPERATE"', false)
	ELSE $2 = current_user
END;

-- Limits of a machine with its states, or all, or only those for which something waits; these come first.
CREATE FUNCTION _sfflow.console_limits(machine text, only_waiting boolean, most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(l) ORDER BY l.waiting DESC, l.target, l.key), '[]') FROM (
		SELECT x.target, x.key, x.max_running, x.rate, x.per::text AS per, x.on_limit, x.in_use, x.waiting, x.oldest_waiting,
			x.in_definition, NOT x.in_definition AND _sfflow.console_may_limit(x.target, x.set_by) AS may_change
		FROM @extschema@.sf_limits x WHERE ($1 IS NULL OR split_part(x.target, '/', 1) = $1) AND (NOT $2 OR x.waiting > 0)
		ORDER BY x.waiting DESC, x.target, x.key LIMIT $3) l);

-- What of an execution waits for limits: the first branches, and who has the places.
CREATE FUNCTION _sfflow.console_waits(execution_id text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(w) ORDER BY w.since), '[]') FROM (
		SELECT x.branch, x.state, x.target, x.key, x.since, x.position, x.waiting, x.max_running, x.in_use, x.rate,
			x.per::text AS per, to_jsonb(x.in_use_by) AS in_use_by
		FROM @extschema@.sf_limit_waits x WHERE x.execution_id = $1 LIMIT 5) w);

-- Deadlines of a machine with its jobs and schedules, or all; what is late comes first.
CREATE FUNCTION _sfflow.console_deadlines(machine text, most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.late IS NULL, d.next_check, d.target), '[]') FROM (
		SELECT x.target, x.start_by, x.end_by, x.timezone, x.calendar, x.next_check, l.late
		FROM @extschema@.sf_deadlines x
		LEFT JOIN (
			SELECT y.target, string_agg(y.state, ' ') AS late FROM @extschema@.sf_late y WHERE y.over_at IS NULL GROUP BY y.target) l
			ON l.target = x.target
		WHERE $1 IS NULL OR split_part(x.target, '/', 1) = $1 OR x.target IN (
			SELECT 'schedule:' || s.schedule_name FROM @extschema@.sf_schedules s WHERE split_part(s.state_machine, '/', 1) = $1)
		ORDER BY l.late IS NULL, x.next_check, x.target LIMIT $2) d);

-- How many rows a page is to have.
CREATE FUNCTION _sfflow.console_limit(q jsonb, usual integer, most integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(greatest(coalesce(($1 ->> 'limit')::integer, $2), 1), $3);

-- The jobs of an execution that failed: first the one with the error of the execution, last those that were aborted.
CREATE FUNCTION _sfflow.console_failed_jobs(execution_id text, most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_agg(j.job_id ORDER BY j.rank)
	FROM (
		SELECT x.job_id, row_number() OVER (ORDER BY x.error IS NULL, x.error IS DISTINCT FROM e.error, x.cause IS DISTINCT FROM e.cause,
			x.stopped_at) AS rank
		FROM @extschema@.sf_executions e
		CROSS JOIN LATERAL (SELECT y.* FROM @extschema@.sf_jobs y WHERE y.execution_id = e.execution_id OFFSET 0) x
		WHERE e.execution_id = $1 AND x.job_status = 'failure') j
	WHERE j.rank <= $2);

-- Of an execution that failed for its items, one of a Distributed Map that failed: it tells why.
CREATE FUNCTION _sfflow.console_failed_item(execution_id text, error text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('execution_id', l.execution_id, 'name', l.name, 'error', left(l.error, 500),
		'cause', _sfflow.console_cut(e.cause, 2000))
	FROM unnest('{FAILED,TIMED_OUT}'::text[]) WITH ORDINALITY AS s(status, n)
	CROSS JOIN LATERAL @extschema@.sf_list_executions(status => s.status, parent_execution_id => $1, page_size => 1) l
	CROSS JOIN LATERAL (SELECT x.cause FROM @extschema@.sf_executions x WHERE x.execution_id = l.execution_id OFFSET 0) e
	WHERE $2 = 'States.ExceedToleratedFailureThreshold' ORDER BY s.n LIMIT 1);

-- How far an execution is.
CREATE FUNCTION _sfflow.console_progress(execution_id text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('done', p.done, 'total', p.total, 'eta', p.eta)
	FROM @extschema@.sf_progress($1) p);

-- night {since, until}: executions and runs of schedules, those of one machine in one state together; times in
-- milliseconds. Of a machine with more than 200 starts, and of those beyond 5,000, the metrics tell how many ended how.
CREATE FUNCTION _sfflow.console_night(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	WITH time AS MATERIALIZED (
		SELECT coalesce(($1 ->> 'since')::timestamptz, now() - interval '16 hours') AS since,
			coalesce(($1 ->> 'until')::timestamptz, now() + interval '8 hours') AS until
	), line AS MATERIALIZED (
		SELECT n.*, CASE WHEN n.target LIKE 'schedule:%' THEN n.target ELSE split_part(n.target, ':', 1) END AS name
		FROM time t CROSS JOIN LATERAL @extschema@.sf_night(t.since, t.until, 200) n
	), mass AS MATERIALIZED (
		SELECT l.name, h.hour, x.state, x.n
		FROM line l
		CROSS JOIN time t
		JOIN @extschema@.sf_metrics_by_hour h ON h.state_machine = l.name AND h.hour > t.since - interval '1 hour' AND h.hour < t.until
		CROSS JOIN LATERAL (VALUES ('SUCCEEDED', h.executions_succeeded), ('FAILED', h.executions_failed),
			('TIMED_OUT', h.executions_timed_out), ('ABORTED', h.executions_aborted)) x(state, n)
		WHERE l.state = 'MASS' AND x.n > 0
	)
	SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(g) ORDER BY g.first_planned, g.name, g.state), '[]'))
	FROM (
		SELECT * FROM (
			SELECT x.name, x.state, count(*) AS n, min(x.planned_at) AS first_planned, max(x.planned_at) AS last_planned,
				min(x.started_at) AS started_at, max(x.ended_at) AS ended_at, max(extract(epoch FROM x.took)) * 1000 AS took,
				max(extract(epoch FROM x.usual)) * 1000 AS usual, max(x.expected_end) AS expected_end,
				(array_agg(x.target ORDER BY x.planned_at))[1] AS target,
				left((array_agg(x.detail ORDER BY x.planned_at DESC))[1], 500) AS detail,
				left((array_agg(x.next ORDER BY x.planned_at))[1], 500) AS next
			FROM line x WHERE x.state <> 'MASS' GROUP BY x.name, x.state
			UNION ALL
			SELECT m.name, m.state, sum(m.n)::bigint, min(m.hour), max(m.hour), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
			FROM mass m GROUP BY m.name, m.state
			UNION ALL
			SELECT r.state_machine, 'RUNNING', r.running, r.requested_at, r.requested_at, r.started_at, NULL,
				extract(epoch FROM now() - r.started_at) * 1000, NULL, NULL, r.execution_id, NULL, NULL
			FROM _sfflow.longest_running(1) r WHERE r.state_machine IN (SELECT l.name FROM line l WHERE l.state = 'MASS')) y
		ORDER BY y.first_planned LIMIT 200) g);

-- tonight {since}: what failed and why (by machine and error, of the latest 300), what is late, runs, is held, and comes
-- next; failures that Distributed Maps tolerate; counts by hour and machine. Of what is late and of what runs, a machine with
-- more than three has the longest one, and how many further ones there are.
CREATE FUNCTION _sfflow.console_tonight(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	WITH alert AS MATERIALIZED (
		SELECT a.kind, a.execution_id, a.since, a.detail, a.target FROM @extschema@.sf_alerts a
	), running AS MATERIALIZED (
		SELECT r.* FROM _sfflow.longest_running(3) r
	), hour AS MATERIALIZED (
		SELECT h.* FROM @extschema@.sf_metrics_by_hour h
		WHERE h.hour > coalesce(($1 ->> 'since')::timestamptz, now() - interval '24 hours') - interval '1 hour'
	)
	SELECT jsonb_build_object(
		'now', now(),
		'rights', _sfflow.console_rights(ARRAY(SELECT DISTINCT substring(a.execution_id, '^[^:/]+') FROM alert a)),
		'sees', EXISTS (SELECT FROM @extschema@.sf_state_machines),
		'kinds', (SELECT coalesce(jsonb_object_agg(k.kind, k.n), '{}') FROM (
			SELECT a.kind, count(*) AS n FROM alert a GROUP BY a.kind) k),
		'failed', (SELECT coalesce(jsonb_agg(to_jsonb(g) ORDER BY g.since DESC), '[]') FROM (
			SELECT l.kind, l.state_machine, l.error, l.n, l.since, l.executions, l.redrive_count, l.started_at,
				_sfflow.console_cut(l.cause, 2000) AS cause, _sfflow.console_failed_jobs(l.execution_id, 3) AS jobs,
				_sfflow.console_failed_item(l.execution_id, l.error) AS item
			FROM (
				SELECT f.*, count(*) OVER same AS n, row_number() OVER (same ORDER BY f.since DESC, f.execution_id) AS k,
					(array_agg(f.execution_id) OVER (same ORDER BY f.since DESC, f.execution_id
						ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))[1:50] AS executions
				FROM (
					SELECT a.kind, a.execution_id, a.since, split_part(e.state_machine, '/', 1) AS state_machine,
						left(e.error, 500) AS error, e.cause, coalesce(e.last_redriven_at, e.started_at) AS started_at, e.redrive_count
					FROM (SELECT * FROM alert y WHERE y.kind IN ('failed', 'timed_out') ORDER BY y.since DESC LIMIT 300) a
					JOIN LATERAL (
						SELECT x.* FROM @extschema@.sf_executions x WHERE x.execution_id = a.execution_id OFFSET 0) e ON true) f
				WINDOW same AS (PARTITION BY f.kind, f.state_machine, f.error)) l
			WHERE l.k = 1 ORDER BY l.since DESC LIMIT 25) g),
		'late', (SELECT coalesce(jsonb_agg(to_jsonb(l) ORDER BY l.since, l.kind), '[]') FROM (
			SELECT y.kind, y.execution_id, y.since, left(y.detail, 500) AS detail, y.target, CASE WHEN y.n > 3 THEN y.n - 1 ELSE 0 END AS further
			FROM (
				SELECT x.*, count(*) OVER same AS n, row_number() OVER (same ORDER BY x.since, x.execution_id) AS k
				FROM (SELECT a.*, coalesce(split_part(a.execution_id, ':', 1), a.target) AS name FROM alert a
					WHERE a.kind NOT IN ('failed', 'timed_out', 'failed_again')) x
				WINDOW same AS (PARTITION BY x.kind, x.name)) y
			WHERE y.k = 1 OR y.n <= 3 ORDER BY y.since, y.kind LIMIT 50) l),
		'tolerated', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.started_at DESC), '[]') FROM (
			SELECT x.execution_id, x.state, x.status, x.items, x.items_succeeded, x.items_failed, x.started_at, x.stopped_at
			FROM @extschema@.sf_map_runs x
			WHERE x.items_failed > 0 AND x.status IN ('SUCCEEDED', 'RUNNING')
				AND x.started_at > coalesce(($1 ->> 'since')::timestamptz, now() - interval '24 hours')
			ORDER BY x.started_at DESC LIMIT 25) r),
		'running', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.requested_at, r.execution_id), '[]') FROM (
			SELECT l.execution_id, l.state_machine, l.requested_at, l.started_at, l.running, l.further, left(e.waiting_on, 500) AS waiting_on,
				CASE WHEN l.n <= 12 THEN _sfflow.console_progress(l.execution_id) END AS progress
			FROM (
				SELECT x.*, CASE WHEN x.running > 3 THEN x.running - 1 ELSE 0 END AS further,
					row_number() OVER (ORDER BY x.requested_at, x.execution_id) AS n
				FROM (
					SELECT y.*, row_number() OVER (PARTITION BY y.state_machine ORDER BY y.requested_at, y.execution_id) AS k
					FROM running y) x
				WHERE x.k = 1 OR x.running <= 3 ORDER BY x.requested_at, x.execution_id LIMIT 25) l
			JOIN LATERAL (SELECT x.* FROM @extschema@.sf_executions x WHERE x.execution_id = l.execution_id OFFSET 0) e ON true) r),
		'running_count', (SELECT coalesce(sum(x.running), 0) FROM (SELECT DISTINCT y.state_machine, y.running FROM running y) x),
		'ended', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.requested_at DESC), '[]') FROM (
			SELECT x.execution_id, x.state_machine, x.status, x.requested_at, x.started_at, x.stopped_at,
				_sfflow.took_ms(x.execution_id) AS took, x.n - 1 AS further
			FROM (
				SELECT l.*, count(*) OVER same AS n, row_number() OVER (same ORDER BY l.requested_at DESC) AS k
				FROM @extschema@.sf_list_executions(status => 'SUCCEEDED', page_size => 200, without_items => true) l
				WINDOW same AS (PARTITION BY l.state_machine)) x
			WHERE x.k = 1 ORDER BY x.requested_at DESC LIMIT 10) r),
		'next', (SELECT coalesce(jsonb_agg(to_jsonb(s) ORDER BY s.next_run, s.schedule_name), '[]') FROM (
			SELECT x.schedule_name, x.state_machine, x.next_run, x.timezone, x.state, left(x.problem, 500) AS problem
			FROM @extschema@.sf_schedules x ORDER BY x.next_run LIMIT 25) s),
		'held', _sfflow.console_holds(25),
		'limits', _sfflow.console_limits(NULL, true, 10),
		'deadlines', _sfflow.console_deadlines(NULL, 10),
		'unwell', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.item), '[]') FROM (
			SELECT x.item, left(x.detail, 500) AS detail FROM @extschema@.sf_health x WHERE NOT x.ok) h),
		'hours', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.hour), '[]') FROM (
			SELECT x.hour, sum(x.executions_started) AS started, sum(x.executions_succeeded) AS succeeded,
				sum(x.executions_failed + x.executions_timed_out) AS failed, sum(x.executions_aborted) AS aborted
			FROM hour x GROUP BY x.hour ORDER BY x.hour DESC LIMIT 48) h),
		'machines', (SELECT coalesce(jsonb_agg(to_jsonb(m) ORDER BY m.failed DESC, m.started DESC, m.state_machine), '[]') FROM (
			SELECT x.state_machine, sum(x.executions_started) AS started, sum(x.executions_succeeded) AS succeeded,
				sum(x.executions_failed + x.executions_timed_out) AS failed, sum(x.executions_aborted) AS aborted
			FROM hour x GROUP BY x.state_machine ORDER BY 4 DESC, 2 DESC LIMIT 50) m)));

-- executions {state_machine, status, error, name, parent, after, before, limit, key, items}: a page, the newest first. Items of
-- Distributed Maps are left out, unless those of a parent are asked for, or items is true.
CREATE FUNCTION _sfflow.console_executions(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object(
		'rows', coalesce(jsonb_agg(jsonb_build_object('execution_id', l.execution_id, 'state_machine', l.state_machine,
			'name', l.name, 'status', l.status, 'error', left(l.error, 500), 'cause', _sfflow.console_cut(e.cause, 1000),
			'requested_at', l.requested_at, 'started_at', l.started_at, 'stopped_at', l.stopped_at, 'took', _sfflow.took_ms(l.execution_id),
			'redrive_count', e.redrive_count, 'waiting_on', left(e.waiting_on, 500)) ORDER BY l.n), '[]'),
		'rights', _sfflow.console_rights(array_agg(l.execution_id)),
		'next', CASE WHEN count(*) = _sfflow.console_limit($1, 50, 200) THEN (array_agg(l.page_key ORDER BY l.n DESC))[1] END)
	FROM @extschema@.sf_list_executions(
		$1 ->> 'state_machine', $1 ->> 'status', $1 ->> 'error', $1 ->> 'name', NULL, $1 ->> 'parent',
		($1 ->> 'after')::timestamptz, ($1 ->> 'before')::timestamptz,
		_sfflow.console_limit($1, 50, 200), $1 ->> 'key', $1 ->> 'parent' IS NULL AND NOT coalesce(($1 ->> 'items')::boolean, false))
		WITH ORDINALITY AS l(execution_id, state_machine, name, status, error, requested_at, started_at, stopped_at, page_key, n)
	LEFT JOIN LATERAL (
		SELECT x.redrive_count, x.waiting_on, x.cause FROM @extschema@.sf_executions x WHERE x.execution_id = l.execution_id OFFSET 0) e ON true);

-- execution {execution_id}: its row, the status of each state, what runs, map runs, holds, what was done to it.
CREATE FUNCTION _sfflow.console_execution(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object(
		'states', @extschema@.sf_graph_status($1 ->> 'execution_id'),
		'rights', _sfflow.console_rights(ARRAY[$1 ->> 'execution_id']),
		'execution', (
			SELECT jsonb_build_object('execution_id', e.execution_id, 'state_machine', e.state_machine, 'version', e.version,
				'name', e.name, 'status', e.status, 'error', left(e.error, 2000), 'cause', _sfflow.console_cut(e.cause, 4000),
				'input', _sfflow.console_cut(e.input::text, 20000), 'output', _sfflow.console_cut(e.output::text, 20000),
				'requested_at', e.requested_at, 'started_at', e.started_at, 'stopped_at', e.stopped_at,
				'redrive_count', e.redrive_count, 'last_redriven_at', e.last_redriven_at, 'start_requests', e.start_requests,
				'parent_execution_id', e.parent_execution_id, 'waiting_on', left(e.waiting_on, 2000))
			FROM @extschema@.sf_executions e WHERE e.execution_id = $1 ->> 'execution_id'),
		'jobs', (SELECT coalesce(jsonb_object_agg(j.job_status, j.n), '{}') FROM (
			SELECT CASE WHEN x.job_status = 'failure' AND x.error IS NULL THEN 'aborted' ELSE x.job_status END AS job_status, count(*) AS n
			FROM @extschema@.sf_jobs x WHERE x.execution_id = $1 ->> 'execution_id' GROUP BY 1) j),
		'failed', (
			SELECT _sfflow.console_failed_jobs(e.execution_id, 1)
			FROM @extschema@.sf_executions e WHERE e.execution_id = $1 ->> 'execution_id' AND e.status IN ('FAILED', 'TIMED_OUT')),
		'item', (
			SELECT _sfflow.console_failed_item(e.execution_id, e.error)
			FROM @extschema@.sf_executions e WHERE e.execution_id = $1 ->> 'execution_id'),
		'took', _sfflow.took_ms($1 ->> 'execution_id'),
		'progress', _sfflow.console_progress($1 ->> 'execution_id'),
		'waits', _sfflow.console_waits($1 ->> 'execution_id'),
		'tasks', (SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM (
			SELECT x.state, x.branch, x.resource, x.status, x.attempt, x.scheduled_at, x.started_at, x.deadline, x.heartbeat_at, x.worker
			FROM @extschema@.sf_tasks x WHERE x.execution_id = $1 ->> 'execution_id' LIMIT 50) t),
		'map_runs', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.started_at DESC), '[]') FROM (
			SELECT x.state, x.map_run_arn, x.status, x.items, x.items_succeeded, x.items_failed, x.executions, x.running,
				x.succeeded, x.failed, x.timed_out, x.aborted, x.redrive_count, x.started_at, x.stopped_at
			FROM @extschema@.sf_map_runs x WHERE x.execution_id = $1 ->> 'execution_id' ORDER BY x.started_at DESC LIMIT 20) r),
		'held', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.since), '[]') FROM (
			SELECT x.target, x.state, x.since, x.held_by, x.reason FROM @extschema@.sf_holds x
			WHERE x.target IN ($1 ->> 'execution_id', split_part($1 ->> 'execution_id', ':', 1)) LIMIT 20) h),
		'done', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.at DESC), '[]') FROM (
			SELECT x.at, x.action, x.role, x.session_role, left(x.reason, 500) AS reason, x.details FROM @extschema@.sf_audit x
			WHERE x.execution_id = $1 ->> 'execution_id' ORDER BY x.at DESC LIMIT 30) a),
		'usual', (SELECT jsonb_build_object('p50', m.execution_time_ms_p50, 'p95', m.execution_time_ms_p95)
			FROM @extschema@.sf_metrics m WHERE m.state_machine = split_part($1 ->> 'execution_id', ':', 1))));

-- jobs {execution_id, status, limit, after}: its jobs in the order of sf_jobs; after is a number of one. Those that were
-- aborted have a status of their own.
CREATE FUNCTION _sfflow.console_jobs(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(j) ORDER BY j.n), '[]'),
		'next', CASE WHEN count(*) = _sfflow.console_limit($1, 200, 500) THEN max(j.n) END)
	FROM (
		SELECT x.n, x.job_id, x.job_status, x.attempts, x.started_at, x.stopped_at, left(x.error, 500) AS error,
			_sfflow.console_cut(x.cause, 1000) AS cause
		FROM (
			SELECT row_number() OVER () AS n, y.job_id, y.attempts, y.started_at, y.stopped_at, y.error, y.cause,
				CASE WHEN y.job_status = 'failure' AND y.error IS NULL THEN 'aborted' ELSE y.job_status END AS job_status
			FROM @extschema@.sf_jobs y WHERE y.execution_id = $1 ->> 'execution_id') x
		WHERE x.n > coalesce(($1 ->> 'after')::bigint, 0) AND (($1 ->> 'status') IS NULL OR x.job_status = $1 ->> 'status')
		ORDER BY x.n LIMIT _sfflow.console_limit($1, 200, 500)) j);

-- timeline {execution_id, inside, limit, after}: spans, and how long the states of its machine usually take.
CREATE FUNCTION _sfflow.console_timeline(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	WITH span AS MATERIALIZED (
		SELECT * FROM _sfflow.spans($1 ->> 'execution_id', NULL, ($1 ->> 'inside')::boolean, ($1 ->> 'after')::integer,
			_sfflow.console_limit($1, 300, 1000))
	)
	SELECT jsonb_build_object(
		'now', now(),
		'rows', (SELECT coalesce(jsonb_agg(to_jsonb(s) - 'iterations' ORDER BY s.first_event, s.branch), '[]') FROM span s),
		'next', (SELECT CASE WHEN count(*) >= _sfflow.console_limit($1, 300, 1000) THEN max(s.first_event) END FROM span s),
		'usual', (
			SELECT coalesce(jsonb_object_agg(t.job_id,
				jsonb_build_object('runs', t.recent_runs, 'p50', t.recent_ms_p50, 'p95', t.recent_ms_p95)), '{}')
			FROM (SELECT * FROM @extschema@.sf_job_times y
				WHERE y.state_machine = split_part($1 ->> 'execution_id', ':', 1) AND y.recent_runs > 0
				ORDER BY y.job_id LIMIT 500) t)));

-- The beginning of the input or the output in an event; of an output only in that with which a state was left.
CREATE FUNCTION _sfflow.console_event_payload(execution_id text, event integer, member text, left_state text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('event', p.id, 'text', p.details, 'bytes', p.bytes, 'cut', p.bytes > octet_length(p.details))
	FROM _sfflow.event_page($1, $2 - 1, $2, NULL, NULL, $3, 20000, 1) p
	WHERE p.details IS NOT NULL AND ($4 IS NULL OR p.type LIKE '%Exited' AND p.state = $4));

-- state {execution_id, state, event}: the visits of a state; input, output, error and events of the one that event names.
CREATE FUNCTION _sfflow.console_state(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	WITH span AS MATERIALIZED (
		SELECT * FROM _sfflow.spans($1 ->> 'execution_id', $1 ->> 'state', true, 0, 2000)
	), chosen AS MATERIALIZED (
		SELECT s.* FROM span s
		ORDER BY s.first_event = ($1 ->> 'event')::integer DESC NULLS LAST, s.status = 'running' DESC,
			s.status = 'failure' AND s.job_id = (
				SELECT f.job #>> '{}'
				FROM jsonb_array_elements(_sfflow.console_failed_jobs($1 ->> 'execution_id', 20)) WITH ORDINALITY AS f(job, n)
				WHERE f.job #>> '{}' IN (SELECT x.job_id FROM span x) ORDER BY f.n LIMIT 1) DESC NULLS LAST,
			s.first_event DESC LIMIT 1
	), visit AS MATERIALIZED (
		SELECT c.state_no, c.iterations, c.job_id, c.visit, min(s.first_event) AS first_event, max(s.last_event) AS last_event
		FROM chosen c JOIN span s ON s.job_id = c.job_id AND s.visit = c.visit
		GROUP BY c.state_no, c.iterations, c.job_id, c.visit
	)
	SELECT jsonb_build_object(
		'visits', (SELECT coalesce(jsonb_agg(to_jsonb(s) - 'iterations' ORDER BY s.first_event), '[]') FROM (
			SELECT * FROM span x ORDER BY x.first_event DESC LIMIT 200) s),
		'chosen', (SELECT to_jsonb(v) - 'iterations' FROM visit v),
		'input', (SELECT _sfflow.console_event_payload($1 ->> 'execution_id', v.first_event, 'input', NULL) FROM visit v),
		'output', (SELECT _sfflow.console_event_payload($1 ->> 'execution_id', v.last_event, 'output', $1 ->> 'state') FROM visit v),
		'job', (SELECT to_jsonb(j) FROM (
			SELECT x.job_status, x.attempts, left(x.error, 2000) AS error, _sfflow.console_cut(x.cause, 4000) AS cause
			FROM @extschema@.sf_jobs x JOIN visit v ON v.job_id = x.job_id WHERE x.execution_id = $1 ->> 'execution_id' LIMIT 1) j),
		'usual', (SELECT jsonb_build_object('runs', t.recent_runs, 'p50', t.recent_ms_p50, 'p95', t.recent_ms_p95)
			FROM @extschema@.sf_job_times t
			WHERE t.state_machine = split_part($1 ->> 'execution_id', ':', 1) AND t.job_id = $1 ->> 'state' LIMIT 1),
		'events', (SELECT coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.id), '[]')
			FROM visit v CROSS JOIN LATERAL _sfflow.event_page($1 ->> 'execution_id', v.first_event - 1, v.last_event,
				v.state_no, v.iterations, NULL, 1000, 100) p)));

-- events {execution_id, after, limit}: a page of its history.
CREATE FUNCTION _sfflow.console_events(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.id), '[]'),
		'next', CASE WHEN count(*) = _sfflow.console_limit($1, 100, 500) THEN max(p.id) END)
	FROM _sfflow.event_page($1 ->> 'execution_id', ($1 ->> 'after')::integer, NULL, NULL, NULL, NULL, 500,
		_sfflow.console_limit($1, 100, 500)) p);

-- payload {execution_id, what, event, member, offset, limit}: a piece of a text that was cut elsewhere.
CREATE FUNCTION _sfflow.console_payload(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('text', substr(w.whole, coalesce(($1 ->> 'offset')::integer, 0) + 1, _sfflow.console_limit($1, 200000, 1000000)),
		'offset', coalesce(($1 ->> 'offset')::integer, 0), 'length', length(w.whole), 'bytes', octet_length(w.whole))
	FROM (
		SELECT p.details AS whole
		FROM _sfflow.event_page($1 ->> 'execution_id', ($1 ->> 'event')::integer - 1, ($1 ->> 'event')::integer,
			NULL, NULL, $1 ->> 'member', NULL, 1) p
		WHERE $1 ->> 'what' = 'event'
		UNION ALL
		SELECT CASE $1 ->> 'what' WHEN 'input' THEN e.input::text WHEN 'output' THEN e.output::text WHEN 'cause' THEN e.cause END
		FROM @extschema@.sf_executions e
		WHERE e.execution_id = $1 ->> 'execution_id' AND $1 ->> 'what' IN ('input', 'output', 'cause')) w
	WHERE w.whole IS NOT NULL LIMIT 1);

-- machines {after, limit}: the current versions, by name.
CREATE FUNCTION _sfflow.console_machines(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(m) ORDER BY m.state_machine), '[]'),
		'rights', _sfflow.console_rights(array_agg(m.state_machine)),
		'next', CASE WHEN count(*) = _sfflow.console_limit($1, 100, 200) THEN max(m.state_machine) END)
	FROM (
		SELECT s.state_machine, s.version, s.owner::text AS owner, s.created_at, c.executions_started AS started,
			c.executions_succeeded AS succeeded, c.executions_failed + c.executions_timed_out AS failed,
			c.executions_aborted AS aborted, c.execution_time_ms_p50 AS p50, c.execution_time_ms_p95 AS p95
		FROM (
			SELECT x.state_machine, x.version, x.owner, x.created_at FROM @extschema@.sf_state_machines x
			WHERE x.is_current AND x.state_machine > coalesce($1 ->> 'after', '')
			ORDER BY x.state_machine LIMIT _sfflow.console_limit($1, 100, 200)) s
		LEFT JOIN @extschema@.sf_metrics c ON c.state_machine = s.state_machine) m);

-- machine {state_machine, version}: a version, the list of all, aliases, times of its jobs.
CREATE FUNCTION _sfflow.console_machine(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object(
		'machine', to_jsonb(s),
		'rights', _sfflow.console_rights(ARRAY[s.state_machine]),
		'limits', _sfflow.console_limits(s.state_machine, false, 50),
		'deadlines', _sfflow.console_deadlines(s.state_machine, 50),
		'versions', (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.version DESC) FROM (
			SELECT x.version, x.is_current, x.created_at FROM @extschema@.sf_state_machines x
			WHERE x.state_machine = s.state_machine ORDER BY x.version DESC LIMIT 200) v),
		'aliases', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.alias, a.version), '[]') FROM (
			SELECT x.alias, x.version, x.percent, x.set_at FROM @extschema@.sf_aliases x
			WHERE x.state_machine = s.state_machine ORDER BY x.alias, x.version LIMIT 100) a),
		'times', (SELECT coalesce(jsonb_agg(to_jsonb(t) ORDER BY t.job_id), '[]') FROM (
			SELECT x.job_id, x.runs, x.failures, x.recent_ms_p50, x.recent_ms_p95, x.week_ms_p50, x.previous_week_ms_p50, x.last_at
			FROM @extschema@.sf_job_times x WHERE x.state_machine = s.state_machine ORDER BY x.job_id LIMIT 500) t),
		'held', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.since), '[]') FROM (
			SELECT x.target, x.state, x.since, x.held_by, x.reason, x.waiting FROM @extschema@.sf_holds x
			WHERE x.target = s.state_machine OR x.target LIKE replace(replace(s.state_machine, '\', '\\'), '_', '\_') || ':%'
			ORDER BY x.since LIMIT 50) h))
	FROM (
		SELECT x.state_machine, x.version, x.is_current, x.owner::text AS owner, x.definition::text AS definition,
			x.execution_id_path, x.options, x.created_at
		FROM @extschema@.sf_state_machines x
		WHERE x.state_machine = $1 ->> 'state_machine'
			AND CASE WHEN $1 ->> 'version' IS NULL THEN x.is_current ELSE x.version = ($1 ->> 'version')::integer END) s);

-- layout {target}: where the picture of a machine or an execution has what.
CREATE FUNCTION _sfflow.console_layout(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN @extschema@.sf_graph_layout($1 ->> 'target');

-- diff {state_machine, a, b}: what two versions differ in.
CREATE FUNCTION _sfflow.console_diff(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.n), '[]'), 'cut', count(*) = 500)
	FROM (
		SELECT x.n, x.pointer, x.change, _sfflow.console_cut(x.before::text, 2000) AS before, _sfflow.console_cut(x.after::text, 2000) AS after
		FROM @extschema@.sf_diff_versions($1 ->> 'state_machine', ($1 ->> 'a')::integer, ($1 ->> 'b')::integer)
			WITH ORDINALITY AS x(pointer, change, before, after, n)
		LIMIT 500) d);

-- validate {definition}: what is wrong with a definition.
CREATE FUNCTION _sfflow.console_validate(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.n), '[]'), 'cut', count(*) = 200)
	FROM (
		SELECT x.n, x.severity, x.code, left(x.location, 500) AS location, left(x.message, 1000) AS message
		FROM @extschema@.sf_validate($1 ->> 'definition') WITH ORDINALITY AS x(severity, code, location, message, n)
		LIMIT 200) d);

-- schedules {}: schedules and calendars.
CREATE FUNCTION _sfflow.console_schedules(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN jsonb_build_object(
	'rows', (SELECT coalesce(jsonb_agg(to_jsonb(s) ORDER BY s.schedule_name), '[]') FROM (
		SELECT x.schedule_name, x.schedule, x.timezone, x.state_machine, _sfflow.console_cut(x.input::text, 2000) AS input,
			x.active, x.next_run, x.last_execution_id, x.state, left(x.problem, 500) AS problem, x.owner, x.calendar, x.on_closed,
			x.starts, x.ends, x.missed, x.overlap, pg_has_role(x.owner, 'USAGE') AS may_edit,
			EXISTS (SELECT FROM @extschema@.sf_holds h WHERE h.target = 'schedule:' || x.schedule_name) AS held
		FROM @extschema@.sf_schedules x WHERE x.schedule_name > coalesce($1 ->> 'after', '')
		ORDER BY x.schedule_name LIMIT _sfflow.console_limit($1, 100, 200)) s),
	'may_create', coalesce(has_schema_privilege(to_regnamespace('cron'), 'USAGE'), false),
	'calendars', (SELECT coalesce(jsonb_agg(to_jsonb(c) ORDER BY c.calendar), '[]') FROM (
		SELECT x.calendar, x.owner, _sfflow.console_cut(x.rule::text, 2000) AS rule, _sfflow.console_cut(x.days::text, 2000) AS days
		FROM @extschema@.sf_calendars x ORDER BY x.calendar LIMIT 100) c));

-- schedule {name, from, to}: its times from one to another, the days on which its calendar is closed, and its last runs.
CREATE FUNCTION _sfflow.console_schedule(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN jsonb_build_object(
	'times', (SELECT coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.scheduled_for), '[]') FROM (
		SELECT x.scheduled_for, x.local_time, x.execution_name
		FROM @extschema@.sf_schedule_preview($1 ->> 'name', coalesce(($1 ->> 'from')::timestamptz, now()),
			least(coalesce(($1 ->> 'to')::timestamptz, now() + interval '31 days'),
				coalesce(($1 ->> 'from')::timestamptz, now()) + interval '100 days')) x
		ORDER BY x.scheduled_for LIMIT 500) p),
	'closed', (SELECT coalesce(jsonb_agg(d.day ORDER BY d.day), '[]')
		FROM @extschema@.sf_schedules s
		CROSS JOIN LATERAL @extschema@.sf_calendar_days(s.calendar, ($1 ->> 'from')::date,
			least(($1 ->> 'to')::date, ($1 ->> 'from')::date + 100)) d
		WHERE s.schedule_name = $1 ->> 'name' AND s.calendar IS NOT NULL AND $1 ->> 'from' IS NOT NULL AND NOT d.is_open),
	'runs', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.scheduled_for DESC), '[]') FROM (
		SELECT x.scheduled_for, x.started_at, x.status, left(x.error, 500) AS error, x.execution_id, x.ended_at,
			_sfflow.took_ms(x.execution_id) AS took
		FROM @extschema@.sf_schedule_runs x WHERE x.schedule_name = $1 ->> 'name'
		ORDER BY x.scheduled_for DESC NULLS LAST LIMIT 50) r));

-- activities {}: activities and dead letters.
CREATE FUNCTION _sfflow.console_activities(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	WITH dead AS MATERIALIZED (
		SELECT x.execution_id, x.state, x.branch, x.resource, _sfflow.console_cut(x.input::text, 2000) AS input, x.error,
			left(x.cause, 1000) AS cause, x.receives, x.died_at
		FROM @extschema@.sf_dead_letters x ORDER BY x.died_at DESC LIMIT 100
	)
	SELECT jsonb_build_object(
		'rows', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.activity), '[]') FROM (
			SELECT x.activity, x.owner::text AS owner, x.queued, x.oldest_queued_at, x.in_flight, x.last_polled_at, x.last_worker
			FROM @extschema@.sf_activities x ORDER BY x.activity LIMIT 200) a),
		'dead', (SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.died_at DESC), '[]') FROM dead d),
		'rights', _sfflow.console_rights(ARRAY(SELECT d.execution_id FROM dead d))));

-- alerts {}: alerts, the latest first, and what was acknowledged last. Of more than a page failures are left out, rather than
-- alerts of other kinds.
CREATE FUNCTION _sfflow.console_alerts(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	WITH alert AS MATERIALIZED (
		SELECT x.kind, x.execution_id, x.since, left(x.detail, 1000) AS detail, x.target
		FROM @extschema@.sf_alerts x
		ORDER BY x.kind IN ('failed', 'timed_out', 'failed_again'), x.since DESC NULLS LAST, x.execution_id, x.kind
		LIMIT _sfflow.console_limit($1, 100, 500)
	)
	SELECT jsonb_build_object(
		'rows', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.since DESC, a.execution_id, a.kind), '[]') FROM alert a),
		'rights', _sfflow.console_rights(ARRAY(SELECT a.execution_id FROM alert a)),
		'acknowledged', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.acknowledged_at DESC), '[]') FROM (
			SELECT x.kind, x.execution_id, x.acknowledged_at, x.acknowledged_by, left(x.comment, 500) AS comment
			FROM @extschema@.sf_acknowledgements x ORDER BY x.acknowledged_at DESC LIMIT 50) a)));

-- rules {rule}: rules, and deliveries that wait or are dead, of one rule or of all.
CREATE FUNCTION _sfflow.console_rules(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN jsonb_build_object(
	'rows', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.rule_name), '[]') FROM (
		SELECT x.rule_name, x.owner, _sfflow.console_cut(x.pattern::text, 4000) AS pattern, x.target,
			_sfflow.console_cut(x.input::text, 4000) AS input, x.pending, x.delivered, x.dead, left(x.last_error, 500) AS last_error,
			_sfflow.console_cut(x.last_cause, 1000) AS last_cause, x.last_failed_at, x.created_at
		FROM @extschema@.sf_rules x ORDER BY x.rule_name LIMIT _sfflow.console_limit($1, 200, 500)) r),
	'deliveries', (
		SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.status, d.failed_at DESC NULLS LAST, d.created_at, d.event_id), '[]') FROM (
		SELECT x.rule_name, x.event_id, x.status, x.attempts, x.next_attempt, left(x.error, 500) AS error,
			_sfflow.console_cut(x.cause, 1000) AS cause, x.failed_at, x.created_at, _sfflow.console_cut(x.event::text, 4000) AS event
		FROM @extschema@.sf_rule_deliveries x WHERE $1 ->> 'rule' IS NULL OR x.rule_name = $1 ->> 'rule'
		ORDER BY x.status, x.failed_at DESC NULLS LAST, x.created_at, x.event_id LIMIT 100) d),
	'may_create', _sfflow.may_create());

-- test_pattern {pattern, event}: does an event match?
CREATE FUNCTION _sfflow.console_test_pattern(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN jsonb_build_object('matches', @extschema@.sf_test_event_pattern(($1 ->> 'pattern')::jsonb, ($1 ->> 'event')::jsonb));

-- create_rule {name, pattern, target, input}: pattern and input are JSON text. A name that is taken is refused.
CREATE FUNCTION _sfflow.console_create_rule(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF EXISTS (SELECT FROM @extschema@.sf_rules r WHERE r.rule_name = q ->> 'name') THEN
		RAISE EXCEPTION 'there is a rule "%" already', q ->> 'name' USING ERRCODE = 'SF012';
	END IF;
	RETURN jsonb_build_object('created', @extschema@.sf_create_rule(q ->> 'name', (q ->> 'pattern')::jsonb, q ->> 'target',
		nullif(q ->> 'input', '')::jsonb)::text);
END
$$;

-- operations {}: workers, health, holds, limits, deadlines, what operators did last.
CREATE FUNCTION _sfflow.console_operations(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN jsonb_build_object(
	'health', (SELECT coalesce(jsonb_agg(jsonb_build_object('item', h.item, 'ok', h.ok, 'detail', left(h.detail, 1000))), '[]')
		FROM @extschema@.sf_health h),
	'workers', (SELECT coalesce(jsonb_agg(to_jsonb(w) ORDER BY w.pid), '[]') FROM (
		SELECT x.pid, x.role, x.state, x.execution_id, x.job_id, x.since, x.steps, x.owner::text AS owner, x.holds_slot
		FROM @extschema@.sf_workers x ORDER BY x.pid LIMIT 300) w),
	'held', _sfflow.console_holds(100),
	'limits', _sfflow.console_limits(NULL, false, 100),
	'may_limit', EXISTS (SELECT FROM @extschema@.sf_state_machines s
		WHERE s.is_current AND 'OPERATE' = ANY (_sfflow.machine_rights(s.state_machine, s.owner))),
	'deadlines', _sfflow.console_deadlines(NULL, 100),
	'done', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.at DESC), '[]') FROM (
		SELECT x.at, x.action, x.target, x.role, x.session_role, left(x.reason, 500) AS reason
		FROM @extschema@.sf_list_audit(page_size => 50) x LIMIT 50) a));

-- set_schedule {name, schedule, state_machine, input, timezone, calendar, on_closed, starts, ends, missed, overlap}: make a
-- schedule, or replace it; "" is as good as nothing. A schedule that is replaced keeps its owner and, unless one is given, its
-- input. With new, a name that is taken is refused.
CREATE FUNCTION _sfflow.console_set_schedule(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	target text := q ->> 'name';
	former record;
	job bigint;
BEGIN
	SELECT s.owner, s.input INTO former FROM @extschema@.sf_schedules s WHERE s.schedule_name = target;
	IF FOUND AND (q ->> 'new')::boolean THEN
		RAISE EXCEPTION 'there is a schedule "%" already', target USING ERRCODE = 'SF012';
	END IF;
	job := @extschema@.sf_schedule(target, q ->> 'schedule', q ->> 'state_machine',
		coalesce(nullif(q ->> 'input', '')::jsonb, former.input, '{}'),
		nullif(q ->> 'timezone', ''), nullif(q ->> 'calendar', ''),
		coalesce(q ->> 'on_closed', 'skip'), nullif(q ->> 'starts', '')::timestamptz, nullif(q ->> 'ends', '')::timestamptz,
		coalesce(q ->> 'missed', 'run_once'), coalesce(q ->> 'overlap', 'skip'));
	IF former.owner <> current_user THEN
		PERFORM @extschema@.sf_alter_owner('schedule:' || target, former.owner);
	END IF;
	RETURN jsonb_build_object('job', job);
END
$$;

-- plan_schedule, as set_schedule: the next five times that the schedule would have.
CREATE FUNCTION _sfflow.console_plan_schedule(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	begin_at timestamptz := greatest(now(), nullif(q ->> 'starts', '')::timestamptz);
	ahead interval;
	plan jsonb;
BEGIN
	PERFORM _sfflow.console_set_schedule(q);
	-- Times of many years are too many for a schedule of minutes.
	FOREACH ahead IN ARRAY '{2 days, 40 days, 400 days, 9 years}'::interval[] LOOP
		SELECT jsonb_build_object('times', coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.scheduled_for), '[]')) INTO plan
		FROM (SELECT x.scheduled_for, x.local_time FROM @extschema@.sf_schedule_preview(q ->> 'name', begin_at, begin_at + ahead) x
			ORDER BY x.scheduled_for LIMIT 5) p;
		EXIT WHEN jsonb_array_length(plan -> 'times') = 5;
	END LOOP;
	RETURN plan;
END
$$;

-- test_state {definition, input, state, mock, level}: one state, tried; nothing of it stays.
CREATE FUNCTION _sfflow.console_test_state(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	SELECT jsonb_build_object('result', _sfflow.console_cut(
		@extschema@.sf_test_state(($1 ->> 'definition')::json, coalesce($1 ->> 'input', '{}')::jsonb, mock => ($1 ->> 'mock')::jsonb,
			inspection_level => coalesce($1 ->> 'level', 'INFO'), state_name => $1 ->> 'state')::text, 200000)));

-- start {state_machine, input, name, if_exists}: the input is JSON text, as in all actions.
CREATE FUNCTION _sfflow.console_start(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN jsonb_build_object('execution_id', @extschema@.sf_start($1 ->> 'state_machine', coalesce($1 ->> 'input', '{}')::jsonb,
	$1 ->> 'name', coalesce($1 ->> 'if_exists', 'error')));

-- One execution, or one target, of the actions that take several; what it says.
CREATE FUNCTION _sfflow.console_one(action text, target text, q jsonb) RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN CASE $1
	WHEN 'redrive' THEN @extschema@.sf_redrive($2, $3 ->> 'from_state', ($3 ->> 'input')::jsonb, ($3 ->> 'version')::integer)::text
	WHEN 'stop' THEN @extschema@.sf_stop($2, $3 ->> 'error', $3 ->> 'reason')
	WHEN 'hold' THEN @extschema@.sf_hold($2, $3 ->> 'state', $3 ->> 'reason')::text
	WHEN 'release' THEN @extschema@.sf_release($2, $3 ->> 'state')::text
	WHEN 'mark' THEN @extschema@.sf_mark($2, $3 ->> 'job_id', $3 ->> 'outcome', ($3 ->> 'output')::jsonb, $3 ->> 'reason')::text
	WHEN 'acknowledge' THEN @extschema@.sf_acknowledge($2, $3 ->> 'kind', $3 ->> 'reason')::text
	WHEN 'acknowledge_all' THEN @extschema@.sf_acknowledge_all($2, ($3 ->> 'until')::timestamptz, $3 ->> 'reason')::text
	WHEN 'drop_limit' THEN @extschema@.sf_drop_limit($2, $3 ->> 'key')::text
	WHEN 'unschedule' THEN @extschema@.sf_unschedule($2)::text
	WHEN 'drop_rule' THEN @extschema@.sf_drop_rule($2)::text
	WHEN 'redeliver' THEN @extschema@.sf_redeliver($2, $3 ->> 'event_id')::text
	WHEN 'discard' THEN @extschema@.sf_discard_deliveries($2, $3 ->> 'event_id')::text
END;

-- An action on one target, whose error is that of the call, or on up to 50, each of which succeeds or fails by itself.
CREATE FUNCTION _sfflow.console_each(action text, q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	targets text[] := ARRAY(SELECT jsonb_array_elements_text(q -> 'targets'));
	target text;
	done jsonb := '[]';
	message text;
	code text;
BEGIN
	IF cardinality(targets) NOT BETWEEN 1 AND 50 THEN
		RAISE EXCEPTION '"targets" must name 1 to 50 targets' USING ERRCODE = 'SF012';
	END IF;
	FOREACH target IN ARRAY targets LOOP
		IF cardinality(targets) = 1 THEN
			done := done || jsonb_build_object('target', target, 'result', _sfflow.console_one(action, target, q));
			CONTINUE;
		END IF;
		BEGIN
			done := done || jsonb_build_object('target', target, 'result', _sfflow.console_one(action, target, q));
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, code = RETURNED_SQLSTATE;
			done := done || jsonb_build_object('target', target, 'error', message, 'sqlstate', code);
		END;
	END LOOP;
	RETURN jsonb_build_object('rows', done);
END
$$;

-- The jobs that an execution has still to run: after a redrive from a state all that can follow it. "more" has those of
-- iterations that have not begun, by state, and items of Distributed Maps, by Map; of a Map without "jobs" the items are not
-- known yet. at_most: by a Choice or a Catch, not all of them may run. What it goes on with; fails_again
-- if that is nothing but Fail states.
CREATE FUNCTION _sfflow.console_ahead(execution_id text, from_state text) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	SELECT jsonb_build_object(
		'goes_on_with', (SELECT left(e.waiting_on, 500) FROM @extschema@.sf_executions e WHERE e.execution_id = $1),
		'fails_again', (
			SELECT coalesce(bool_and(d.drawn ->> 'type' = 'Fail'), false)
			FROM jsonb_array_elements(@extschema@.sf_graph_status($1)) AS s(state)
			JOIN jsonb_array_elements(@extschema@.sf_graph_layout($1) -> 'states') AS d(drawn) ON d.drawn -> 'id' = s.state -> 'id'
			WHERE s.state ? 'visits' AND s.state ->> 'status' IN ('entry', 'running')),
		'runs', j.runs,
		'runs_count', j.runs_count + (
			SELECT coalesce(sum((m.part ->> 'jobs')::bigint), 0) FROM jsonb_array_elements(a.ahead -> 'more') AS m(part)),
		'more', a.ahead -> 'more',
		'at_most', $2 IS NULL AND NOT (a.ahead ->> 'certain')::boolean,
		'kept_count', j.kept_count + (
			SELECT coalesce(sum(r.items_succeeded), 0) FROM @extschema@.sf_map_runs r WHERE r.execution_id = $1 AND $2 IS NULL))
	FROM (
		SELECT coalesce(jsonb_agg(z.job_id ORDER BY z.n) FILTER (WHERE z.runs AND z.n <= 100), '[]') AS runs,
			count(*) FILTER (WHERE z.runs) AS runs_count, count(*) FILTER (WHERE NOT z.runs AND z.job_status = 'success') AS kept_count
		FROM (
			SELECT y.job_id, y.job_status, y.runs, row_number() OVER (PARTITION BY y.runs ORDER BY y.n) AS n
			FROM (
				SELECT x.job_id, x.job_status, x.job_status IN ('entry', 'running') AS runs, row_number() OVER () AS n
				FROM @extschema@.sf_jobs x WHERE x.execution_id = $1 AND $2 IS NULL
				UNION ALL
				SELECT t.job_id, NULL, true, t.n
				FROM unnest(_sfflow.tasks_from($1, $2)) WITH ORDINALITY AS t(job_id, n)) y) z) j
	CROSS JOIN (SELECT _sfflow.jobs_ahead($1) AS ahead OFFSET 0) a);

-- plan {execution_id, from_state, input, version}: what a redrive would run.
CREATE FUNCTION _sfflow.console_plan(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM _sfflow.console_one('redrive', q ->> 'execution_id', q);
	RETURN _sfflow.console_ahead(q ->> 'execution_id', q ->> 'from_state');
END
$$;

-- What an action would do: it is carried out and taken back.
CREATE FUNCTION _sfflow.console_tried(action text, q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	plan jsonb;
BEGIN
	BEGIN
		plan := CASE action WHEN 'plan' THEN _sfflow.console_plan(q) ELSE _sfflow.console_plan_schedule(q) END;
		RAISE EXCEPTION USING ERRCODE = 'P0C01';
	EXCEPTION WHEN SQLSTATE 'P0C01' THEN
		RETURN plan;
	END;
END
$$;

-- The gateway asks with each request, and ends a session whose answer has changed.
CREATE FUNCTION @extschema@.sf_console_session() RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_console_session'
LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.sf_console_session() IS
	'a text that changes when the role that has logged in is altered; null when it could not log in anew';

-- set_limit {target, key, max_running, rate, per, on_limit}: set a limit, or another one in its place; "" is null.
CREATE FUNCTION _sfflow.console_set_limit(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM @extschema@.sf_set_limit(q ->> 'target', nullif(q ->> 'key', ''), nullif(q ->> 'max_running', '')::integer,
		nullif(q ->> 'rate', '')::double precision, coalesce(nullif(q ->> 'per', ''), '1 s')::interval,
		coalesce(q ->> 'on_limit', 'queue'));
	RETURN jsonb_build_object('target', q ->> 'target');
END
$$;

CREATE FUNCTION @extschema@.sf_console_actions() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY['acknowledge', 'acknowledge_all', 'create_rule', 'discard', 'drop_limit', 'drop_rule', 'hold', 'mark', 'plan',
	'plan_schedule', 'redeliver', 'redrive', 'release', 'set_limit', 'set_schedule', 'start', 'stop', 'test_state', 'unschedule'];
COMMENT ON FUNCTION @extschema@.sf_console_actions() IS
	'the actions of sf_console_api that write; all others work in a read-only transaction';

CREATE FUNCTION @extschema@.sf_console_api(action text, request jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	answer jsonb;
BEGIN
	IF jsonb_typeof(request) IS DISTINCT FROM 'object' THEN
		RAISE EXCEPTION 'the request must be an object' USING ERRCODE = 'SF012';
	END IF;
	CASE action
		WHEN 'tonight' THEN answer := _sfflow.console_tonight(request);
		WHEN 'night' THEN answer := _sfflow.console_night(request);
		WHEN 'executions' THEN answer := _sfflow.console_executions(request);
		WHEN 'execution' THEN answer := _sfflow.console_execution(request);
		WHEN 'jobs' THEN answer := _sfflow.console_jobs(request);
		WHEN 'timeline' THEN answer := _sfflow.console_timeline(request);
		WHEN 'state' THEN answer := _sfflow.console_state(request);
		WHEN 'events' THEN answer := _sfflow.console_events(request);
		WHEN 'payload' THEN answer := _sfflow.console_payload(request);
		WHEN 'machines' THEN answer := _sfflow.console_machines(request);
		WHEN 'machine' THEN answer := _sfflow.console_machine(request);
		WHEN 'layout' THEN answer := _sfflow.console_layout(request);
		WHEN 'diff' THEN answer := _sfflow.console_diff(request);
		WHEN 'validate' THEN answer := _sfflow.console_validate(request);
		WHEN 'schedules' THEN answer := _sfflow.console_schedules(request);
		WHEN 'schedule' THEN answer := _sfflow.console_schedule(request);
		WHEN 'activities' THEN answer := _sfflow.console_activities(request);
		WHEN 'alerts' THEN answer := _sfflow.console_alerts(request);
		WHEN 'rules' THEN answer := _sfflow.console_rules(request);
		WHEN 'test_pattern' THEN answer := _sfflow.console_test_pattern(request);
		WHEN 'create_rule' THEN answer := _sfflow.console_create_rule(request);
		WHEN 'operations' THEN answer := _sfflow.console_operations(request);
		WHEN 'test_state' THEN answer := _sfflow.console_test_state(request);
		WHEN 'start' THEN answer := _sfflow.console_start(request);
		WHEN 'set_limit' THEN answer := _sfflow.console_set_limit(request);
		WHEN 'set_schedule' THEN answer := _sfflow.console_set_schedule(request);
		WHEN 'plan', 'plan_schedule' THEN answer := _sfflow.console_tried(action, request);
		WHEN 'redrive', 'stop', 'hold', 'release', 'mark', 'acknowledge', 'acknowledge_all', 'unschedule', 'drop_limit',
			'drop_rule', 'redeliver', 'discard' THEN
			answer := _sfflow.console_each(action, request);
		ELSE
			RAISE EXCEPTION 'there is no action "%" of the console', left(action, 100) USING ERRCODE = 'SF012';
	END CASE;
	RETURN coalesce(answer, 'null');
END
$$;
COMMENT ON FUNCTION @extschema@.sf_console_api(text, jsonb) IS
	'what the console asks for and does, with the rights of the caller; answers are bounded';

-- What each column of each view holds, as \d+ shows it. docs/sql-reference.md says more.

COMMENT ON COLUMN @extschema@.sf_state_machines.state_machine IS 'its name';
COMMENT ON COLUMN @extschema@.sf_state_machines.version IS 'counts from 1';
COMMENT ON COLUMN @extschema@.sf_state_machines.is_current IS 'whether sf_start of the machine starts this version';
COMMENT ON COLUMN @extschema@.sf_state_machines.owner IS 'the role as which tasks run';
COMMENT ON COLUMN @extschema@.sf_state_machines.definition IS 'the text as it was given';
COMMENT ON COLUMN @extschema@.sf_state_machines.execution_id_path IS 'where the input holds the name of an execution';
COMMENT ON COLUMN @extschema@.sf_state_machines.options IS 'as given to sf_create_state_machine';
COMMENT ON COLUMN @extschema@.sf_state_machines.created_at IS 'when this version was made';

COMMENT ON COLUMN @extschema@.sf_aliases.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_aliases.alias IS 'the name after the slash, as in sf_start(''nightly/prod'')';
COMMENT ON COLUMN @extschema@.sf_aliases.version IS 'a version that it names';
COMMENT ON COLUMN @extschema@.sf_aliases.percent IS 'how many of 100 starts begin in this version';
COMMENT ON COLUMN @extschema@.sf_aliases.set_at IS 'when the alias was set';

COMMENT ON COLUMN @extschema@.sf_access_keys.access_key_id IS 'the public part, which a request names';
COMMENT ON COLUMN @extschema@.sf_access_keys.role IS 'the role as which requests with the key are answered';
COMMENT ON COLUMN @extschema@.sf_access_keys.created_at IS 'when the key was made';
COMMENT ON COLUMN @extschema@.sf_access_keys.created_by IS 'the role that made the key, by its name then';
COMMENT ON COLUMN @extschema@.sf_access_keys.created_by_session IS 'the role that had logged in when the key was made, by its name then';
COMMENT ON COLUMN @extschema@.sf_access_keys.usable IS 'whether the key is good now: its role can log in';

COMMENT ON COLUMN @extschema@.sf_executions.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_executions.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_executions.version IS 'the version of the state machine that runs';
COMMENT ON COLUMN @extschema@.sf_executions.name IS 'its name within the machine';
COMMENT ON COLUMN @extschema@.sf_executions.status IS 'RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED';
COMMENT ON COLUMN @extschema@.sf_executions.input IS 'as given to sf_start';
COMMENT ON COLUMN @extschema@.sf_executions.output IS 'if it succeeded';
COMMENT ON COLUMN @extschema@.sf_executions.error IS 'the name of the error that ended it';
COMMENT ON COLUMN @extschema@.sf_executions.cause IS 'what the error said';
COMMENT ON COLUMN @extschema@.sf_executions.requested_at IS 'when sf_start was called';
COMMENT ON COLUMN @extschema@.sf_executions.started_at IS 'when a worker first took it up; null before';
COMMENT ON COLUMN @extschema@.sf_executions.stopped_at IS 'when it ended';
COMMENT ON COLUMN @extschema@.sf_executions.redrive_count IS 'how often it was redriven';
COMMENT ON COLUMN @extschema@.sf_executions.last_redriven_at IS 'when it was redriven last';
COMMENT ON COLUMN @extschema@.sf_executions.start_requests IS 'calls of sf_start for this name, the first one included';
COMMENT ON COLUMN @extschema@.sf_executions.parent_execution_id IS 'the execution that started it as its child';
COMMENT ON COLUMN @extschema@.sf_executions.waiting_on IS 'what it waits for while it runs, as text for people';

COMMENT ON COLUMN @extschema@.sf_jobs.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_jobs.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_jobs.id IS 'the name of the execution';
COMMENT ON COLUMN @extschema@.sf_jobs.job_id IS 'the name of the Task state, in a Map with the index of the iteration: Load[7]';
COMMENT ON COLUMN @extschema@.sf_jobs.job_status IS 'entry, running, success, failure or skip';
COMMENT ON COLUMN @extschema@.sf_jobs.attempts IS 'how often the task was scheduled since the last start of the execution';
COMMENT ON COLUMN @extschema@.sf_jobs.started_at IS 'when its last visit began';
COMMENT ON COLUMN @extschema@.sf_jobs.stopped_at IS 'when its last visit ended';
COMMENT ON COLUMN @extschema@.sf_jobs.input IS 'of the last visit';
COMMENT ON COLUMN @extschema@.sf_jobs.output IS 'of the last visit';
COMMENT ON COLUMN @extschema@.sf_jobs.error IS 'of the last attempt';
COMMENT ON COLUMN @extschema@.sf_jobs.cause IS 'of the last attempt';

COMMENT ON COLUMN @extschema@.sf_job_relations.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_job_relations.version IS 'the version of the state machine';
COMMENT ON COLUMN @extschema@.sf_job_relations.job_id IS 'a Task state';
COMMENT ON COLUMN @extschema@.sf_job_relations.pre_job_id IS 'a Task state that directly precedes it; null: none';

COMMENT ON COLUMN @extschema@.sf_history.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_history.id IS '1, 2, 3 ... without gaps';
COMMENT ON COLUMN @extschema@.sf_history.previous_event_id IS 'the event that led to this one; 0: none';
COMMENT ON COLUMN @extschema@.sf_history."timestamp" IS 'when it happened';
COMMENT ON COLUMN @extschema@.sf_history.type IS 'TaskStateEntered and so on, as in Step Functions';
COMMENT ON COLUMN @extschema@.sf_history.state IS 'the name of its state; null for events of the execution';
COMMENT ON COLUMN @extschema@.sf_history.details IS 'the details of the event, with the names of Step Functions';

COMMENT ON COLUMN @extschema@.sf_tasks.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_tasks.state IS 'the name of the Task state';
COMMENT ON COLUMN @extschema@.sf_tasks.branch IS 'path to its branch or iteration, Fork[0]/Stores[7]; empty at the top level';
COMMENT ON COLUMN @extschema@.sf_tasks.resource IS 'as written in the definition';
COMMENT ON COLUMN @extschema@.sf_tasks.status IS 'running, queued, waiting, answered or retrying';
COMMENT ON COLUMN @extschema@.sf_tasks.attempt IS '0 for the first attempt of this visit';
COMMENT ON COLUMN @extschema@.sf_tasks.scheduled_at IS 'when it was scheduled; for a retry, when it will be';
COMMENT ON COLUMN @extschema@.sf_tasks.started_at IS 'when it was begun or taken';
COMMENT ON COLUMN @extschema@.sf_tasks.deadline IS 'when it times out';
COMMENT ON COLUMN @extschema@.sf_tasks.heartbeat_at IS 'when its program was last heard of';
COMMENT ON COLUMN @extschema@.sf_tasks.worker IS 'the name of the program that took it; for a SQL task the process id';

COMMENT ON COLUMN @extschema@.sf_activities.activity IS 'its name';
COMMENT ON COLUMN @extschema@.sf_activities.owner IS 'the role that owns it';
COMMENT ON COLUMN @extschema@.sf_activities.queued IS 'tasks that no program has taken';
COMMENT ON COLUMN @extschema@.sf_activities.oldest_queued_at IS 'since when the oldest of them waits';
COMMENT ON COLUMN @extschema@.sf_activities.in_flight IS 'tasks that were taken and not yet answered';
COMMENT ON COLUMN @extschema@.sf_activities.last_polled_at IS 'when a program last asked for tasks';
COMMENT ON COLUMN @extschema@.sf_activities.last_worker IS 'the name of that program';

COMMENT ON COLUMN @extschema@.sf_dead_letters.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_dead_letters.state IS 'the name of the Task state';
COMMENT ON COLUMN @extschema@.sf_dead_letters.branch IS 'path to its branch or iteration';
COMMENT ON COLUMN @extschema@.sf_dead_letters.resource IS 'as written in the definition';
COMMENT ON COLUMN @extschema@.sf_dead_letters.input IS 'what the program was given';
COMMENT ON COLUMN @extschema@.sf_dead_letters.error IS 'Sfflow.MaxReceiveCount';
COMMENT ON COLUMN @extschema@.sf_dead_letters.cause IS 'what the error says';
COMMENT ON COLUMN @extschema@.sf_dead_letters.receives IS 'how often a program took it';
COMMENT ON COLUMN @extschema@.sf_dead_letters.died_at IS 'when it was given up';

COMMENT ON COLUMN @extschema@.sf_map_runs.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_map_runs.state IS 'the name of the Map state';
COMMENT ON COLUMN @extschema@.sf_map_runs.map_run_arn IS 'its name in the way of AWS';
COMMENT ON COLUMN @extschema@.sf_map_runs.status IS 'RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED';
COMMENT ON COLUMN @extschema@.sf_map_runs.items IS 'items that were read';
COMMENT ON COLUMN @extschema@.sf_map_runs.items_succeeded IS 'items in child executions that succeeded';
COMMENT ON COLUMN @extschema@.sf_map_runs.items_failed IS 'items in child executions that did not';
COMMENT ON COLUMN @extschema@.sf_map_runs.executions IS 'child executions that were begun';
COMMENT ON COLUMN @extschema@.sf_map_runs.running IS 'of these, how many run';
COMMENT ON COLUMN @extschema@.sf_map_runs.succeeded IS 'how many succeeded';
COMMENT ON COLUMN @extschema@.sf_map_runs.failed IS 'how many failed';
COMMENT ON COLUMN @extschema@.sf_map_runs.timed_out IS 'how many timed out';
COMMENT ON COLUMN @extschema@.sf_map_runs.aborted IS 'how many were aborted';
COMMENT ON COLUMN @extschema@.sf_map_runs.redrive_count IS 'how often it was redriven';
COMMENT ON COLUMN @extschema@.sf_map_runs.started_at IS 'when it began';
COMMENT ON COLUMN @extschema@.sf_map_runs.stopped_at IS 'when it ended';

COMMENT ON COLUMN @extschema@.sf_start_requests.execution_id IS 'the execution that was there';
COMMENT ON COLUMN @extschema@.sf_start_requests.requested_at IS 'when sf_start was called';
COMMENT ON COLUMN @extschema@.sf_start_requests.requested_by IS 'the role that called';
COMMENT ON COLUMN @extschema@.sf_start_requests.outcome IS 'running, succeeded, redriven, skipped, restarted ...';
COMMENT ON COLUMN @extschema@.sf_start_requests.input_differs IS 'whether the call had another input than the execution';

COMMENT ON COLUMN @extschema@.sf_metrics.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_started IS 'executions that began, or began anew';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_succeeded IS 'ends with status SUCCEEDED';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_failed IS 'ends with status FAILED';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_aborted IS 'ends with status ABORTED';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_timed_out IS 'ends with status TIMED_OUT';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_throttled IS 'starts that a quota of the owner refused';
COMMENT ON COLUMN @extschema@.sf_metrics.execution_time_ms_avg IS 'average time from start to end, in milliseconds';
COMMENT ON COLUMN @extschema@.sf_metrics.execution_time_ms_p50 IS 'the time that half of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics.execution_time_ms_p95 IS 'the time that 95 % of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics.execution_time_ms_p99 IS 'the time that 99 % of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics.state_transitions IS 'states entered';
COMMENT ON COLUMN @extschema@.sf_metrics.executions_redriven IS 'redrives';
COMMENT ON COLUMN @extschema@.sf_metrics.retries IS 'states retried by their Retry';

COMMENT ON COLUMN @extschema@.sf_execution_time_buckets.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_execution_time_buckets.le IS 'a time in seconds, at last Infinity';
COMMENT ON COLUMN @extschema@.sf_execution_time_buckets.executions IS 'executions that ended within this time; the count never decreases';

COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.hour IS 'when the hour began; hours are those of UTC';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_started IS 'executions that began, or began anew';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_succeeded IS 'ends with status SUCCEEDED';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_failed IS 'ends with status FAILED';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_aborted IS 'ends with status ABORTED';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_timed_out IS 'ends with status TIMED_OUT';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_throttled IS 'starts that a quota of the owner refused';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.execution_time_ms_avg IS 'average time from start to end, in milliseconds';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.execution_time_ms_p50 IS 'the time that half of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.execution_time_ms_p95 IS 'the time that 95 % of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.execution_time_ms_p99 IS 'the time that 99 % of the executions do not exceed';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.state_transitions IS 'states entered';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.executions_redriven IS 'redrives';
COMMENT ON COLUMN @extschema@.sf_metrics_by_hour.retries IS 'states retried by their Retry';

COMMENT ON COLUMN @extschema@.sf_job_times.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_job_times.job_id IS 'the name of the Task state; iterations of a Map together';
COMMENT ON COLUMN @extschema@.sf_job_times.runs IS 'tasks that succeeded';
COMMENT ON COLUMN @extschema@.sf_job_times.failures IS 'attempts that failed or timed out';
COMMENT ON COLUMN @extschema@.sf_job_times.time_ms_avg IS 'average time of all runs, in milliseconds';
COMMENT ON COLUMN @extschema@.sf_job_times.time_ms_p50 IS 'the time that half of the runs do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.time_ms_p95 IS 'the time that 95 % of the runs do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.time_ms_p99 IS 'the time that 99 % of the runs do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.last_ms IS 'the time of the last run';
COMMENT ON COLUMN @extschema@.sf_job_times.last_at IS 'when the last run was counted';
COMMENT ON COLUMN @extschema@.sf_job_times.recent_runs IS 'the last runs, at most 30';
COMMENT ON COLUMN @extschema@.sf_job_times.recent_ms_p50 IS 'the time that half of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.recent_ms_p95 IS 'the time that 95 % of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.week_runs IS 'runs of the last seven days of UTC, with today';
COMMENT ON COLUMN @extschema@.sf_job_times.week_ms_p50 IS 'the time that half of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.week_ms_p95 IS 'the time that 95 % of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.previous_week_runs IS 'runs of the seven days before';
COMMENT ON COLUMN @extschema@.sf_job_times.previous_week_ms_p50 IS 'the time that half of these do not exceed';
COMMENT ON COLUMN @extschema@.sf_job_times.previous_week_ms_p95 IS 'the time that 95 % of these do not exceed';

COMMENT ON COLUMN @extschema@.sf_retries.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_retries.state IS 'the name of the state';
COMMENT ON COLUMN @extschema@.sf_retries.error IS 'the error that was retried; (other): one beyond the 200 that are told apart';
COMMENT ON COLUMN @extschema@.sf_retries.retries IS 'how often';

COMMENT ON COLUMN @extschema@.sf_alerts.kind IS 'failed, timed_out, failed_again, slow_task, dead_letter, no_poller, overdue, missed_run or unknown_owner';
COMMENT ON COLUMN @extschema@.sf_alerts.execution_id IS 'the execution, if it is about one';
COMMENT ON COLUMN @extschema@.sf_alerts.since IS 'since when';
COMMENT ON COLUMN @extschema@.sf_alerts.detail IS 'what is wrong';
COMMENT ON COLUMN @extschema@.sf_alerts.target IS 'what it is about, if not an execution: activity:NAME, schedule:NAME, a machine, or the target of a deadline';

COMMENT ON COLUMN @extschema@.sf_acknowledgements.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.kind IS 'the kind of the alert';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.since IS 'since when the alert was there';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.acknowledged_at IS 'when it was acknowledged';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.acknowledged_by IS 'the role that did so';
COMMENT ON COLUMN @extschema@.sf_acknowledgements.comment IS 'what it said';

COMMENT ON COLUMN @extschema@.sf_schedules.schedule_name IS 'its name';
COMMENT ON COLUMN @extschema@.sf_schedules.schedule IS 'the cron expression';
COMMENT ON COLUMN @extschema@.sf_schedules.timezone IS 'the time zone of the expression';
COMMENT ON COLUMN @extschema@.sf_schedules.state_machine IS 'the state machine, with its version if one was named';
COMMENT ON COLUMN @extschema@.sf_schedules.input IS 'the input of each run, with placeholders';
COMMENT ON COLUMN @extschema@.sf_schedules.active IS 'whether the pg_cron job is there and active';
COMMENT ON COLUMN @extschema@.sf_schedules.next_run IS 'when it runs next';
COMMENT ON COLUMN @extschema@.sf_schedules.last_execution_id IS 'the execution of its last run';
COMMENT ON COLUMN @extschema@.sf_schedules.state IS 'active, failing, missed, gone, inactive or not driven';
COMMENT ON COLUMN @extschema@.sf_schedules.problem IS 'why it is not active';
COMMENT ON COLUMN @extschema@.sf_schedules.owner IS 'the role that owns it, which its runs start executions as';
COMMENT ON COLUMN @extschema@.sf_schedules.calendar IS 'the calendar of its days';
COMMENT ON COLUMN @extschema@.sf_schedules.on_closed IS 'what becomes of a run on a closed day: skip, previous, next or run';
COMMENT ON COLUMN @extschema@.sf_schedules.starts IS 'no run is due before';
COMMENT ON COLUMN @extschema@.sf_schedules.ends IS 'no run is due after';
COMMENT ON COLUMN @extschema@.sf_schedules.missed IS 'what becomes of runs that did not come: run_once, run_all or skip';
COMMENT ON COLUMN @extschema@.sf_schedules.overlap IS 'what becomes of a run while the one before runs: skip, queue or parallel';

COMMENT ON COLUMN @extschema@.sf_schedule_runs.schedule_name IS 'the schedule';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.scheduled_for IS 'the time of the run in the schedule';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.started_at IS 'when pg_cron began the call';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.status IS 'succeeded, failed or skipped; while it runs, the status of pg_cron';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.error IS 'why it failed';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.execution_id IS 'the execution that it started';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.ended_at IS 'when the call ended';
COMMENT ON COLUMN @extschema@.sf_schedule_runs.cron_run_id IS 'its runid in cron.job_run_details';

COMMENT ON COLUMN @extschema@.sf_workers.pid IS 'of the process';
COMMENT ON COLUMN @extschema@.sf_workers.role IS 'launcher or worker';
COMMENT ON COLUMN @extschema@.sf_workers.state IS 'what it is doing';
COMMENT ON COLUMN @extschema@.sf_workers.execution_id IS 'the execution that it works on';
COMMENT ON COLUMN @extschema@.sf_workers.job_id IS 'the job that it runs';
COMMENT ON COLUMN @extschema@.sf_workers.since IS 'since when';
COMMENT ON COLUMN @extschema@.sf_workers.steps IS 'how many steps it has made';
COMMENT ON COLUMN @extschema@.sf_workers.owner IS 'the owner of the state machine';
COMMENT ON COLUMN @extschema@.sf_workers.holds_slot IS 'whether it holds a slot for tasks';

COMMENT ON COLUMN @extschema@.sf_health.item IS 'what is looked at';
COMMENT ON COLUMN @extschema@.sf_health.ok IS 'whether it is as it should be';
COMMENT ON COLUMN @extschema@.sf_health.detail IS 'what was found';

COMMENT ON COLUMN @extschema@.sf_audit.at IS 'when';
COMMENT ON COLUMN @extschema@.sf_audit.action IS 'start, stop, redrive; create, replace, drop, alter owner; grant, revoke; enable, disable';
COMMENT ON COLUMN @extschema@.sf_audit.target IS 'a state machine, an execution, activity:NAME, schedule:NAME, rule:NAME, or *';
COMMENT ON COLUMN @extschema@.sf_audit.execution_id IS 'the execution, for an action on one';
COMMENT ON COLUMN @extschema@.sf_audit.role IS 'the current role';
COMMENT ON COLUMN @extschema@.sf_audit.session_role IS 'the role that had logged in; null for a start';
COMMENT ON COLUMN @extschema@.sf_audit.reason IS 'why, if the operator said so';
COMMENT ON COLUMN @extschema@.sf_audit.details IS 'what the action was given, and what came of it';

COMMENT ON COLUMN @extschema@.sf_calendars.calendar IS 'its name';
COMMENT ON COLUMN @extschema@.sf_calendars.owner IS 'the role that may change it';
COMMENT ON COLUMN @extschema@.sf_calendars.rule IS 'which days are open';
COMMENT ON COLUMN @extschema@.sf_calendars.days IS 'which days it picks; null: all open ones';
COMMENT ON COLUMN @extschema@.sf_calendars.created_at IS 'when it was made';
COMMENT ON COLUMN @extschema@.sf_calendars.changed_at IS 'when it was changed last';
COMMENT ON COLUMN @extschema@.sf_limits.target IS 'what is limited, as sf_set_limit was given it';
COMMENT ON COLUMN @extschema@.sf_limits.key IS 'path of the value that has the limit for itself; null: one limit for all';
COMMENT ON COLUMN @extschema@.sf_limits.max_running IS 'how many may run at a time; null: no limit';
COMMENT ON COLUMN @extschema@.sf_limits.rate IS 'how many may begin per time; null: no limit';
COMMENT ON COLUMN @extschema@.sf_limits.per IS 'the time of the rate';
COMMENT ON COLUMN @extschema@.sf_limits.on_limit IS 'what becomes of others: queue (they wait) or fail';
COMMENT ON COLUMN @extschema@.sf_limits.in_definition IS 'whether the definition of the machine sets it';
COMMENT ON COLUMN @extschema@.sf_limits.in_use IS 'how many run now, of all values of the key';
COMMENT ON COLUMN @extschema@.sf_limits.waiting IS 'how many wait';
COMMENT ON COLUMN @extschema@.sf_limits.oldest_waiting IS 'since when the one waits that has waited longest';
COMMENT ON COLUMN @extschema@.sf_limits.set_at IS 'when it was set';
COMMENT ON COLUMN @extschema@.sf_limits.set_by IS 'the role that set it';
COMMENT ON COLUMN @extschema@.sf_limit_waits.execution_id IS 'the execution that waits';
COMMENT ON COLUMN @extschema@.sf_limit_waits.branch IS 'path to its branch or iteration, Fork[0]/Stores[7]; empty at the top level';
COMMENT ON COLUMN @extschema@.sf_limit_waits.state IS 'the state that is to begin';
COMMENT ON COLUMN @extschema@.sf_limit_waits.target IS 'the limit for which it waits, as in sf_limits';
COMMENT ON COLUMN @extschema@.sf_limit_waits.key IS 'path of the value that has the limit for itself; null: one limit for all';
COMMENT ON COLUMN @extschema@.sf_limit_waits.since IS 'when it could have begun';
COMMENT ON COLUMN @extschema@.sf_limit_waits.position IS 'its place among those that wait for the same limit and value of the key; 1: the next one; counted up to 10,001';
COMMENT ON COLUMN @extschema@.sf_limit_waits.waiting IS 'how many wait for the same limit and value of the key; counted up to 10,000';
COMMENT ON COLUMN @extschema@.sf_limit_waits.max_running IS 'how many may run at a time; null: no limit';
COMMENT ON COLUMN @extschema@.sf_limit_waits.in_use IS 'how many run now, of the same value of the key';
COMMENT ON COLUMN @extschema@.sf_limit_waits.rate IS 'how many may begin per time; null: no limit';
COMMENT ON COLUMN @extschema@.sf_limit_waits.per IS 'the time of the rate';
COMMENT ON COLUMN @extschema@.sf_limit_waits.in_use_by IS 'executions that have the places, up to 20, of those that the caller may read';

COMMENT ON COLUMN @extschema@.sf_rules.rule_name IS 'the rule';
COMMENT ON COLUMN @extschema@.sf_rules.owner IS 'the role that owns it, which its target is called as';
COMMENT ON COLUMN @extschema@.sf_rules.pattern IS 'event pattern: events that match are delivered';
COMMENT ON COLUMN @extschema@.sf_rules.target IS 'what is called: a machine, sql:function, activity:name or notify:channel';
COMMENT ON COLUMN @extschema@.sf_rules.input IS 'template of the input of the target; null: the event';
COMMENT ON COLUMN @extschema@.sf_rules.pending IS 'deliveries that wait for their first or next attempt';
COMMENT ON COLUMN @extschema@.sf_rules.delivered IS 'deliveries that were made';
COMMENT ON COLUMN @extschema@.sf_rules.dead IS 'deliveries that are not tried any more';
COMMENT ON COLUMN @extschema@.sf_rules.last_error IS 'error of the last attempt that failed, of a delivery that is pending or dead';
COMMENT ON COLUMN @extschema@.sf_rules.last_cause IS 'cause of it';
COMMENT ON COLUMN @extschema@.sf_rules.last_failed_at IS 'when that was';
COMMENT ON COLUMN @extschema@.sf_rules.created_at IS 'when the rule was created';

COMMENT ON COLUMN @extschema@.sf_rule_deliveries.rule_name IS 'the rule';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.event_id IS 'id of the event';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.status IS 'PENDING, or DEAD: not tried any more';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.attempts IS 'how many attempts there were';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.next_attempt IS 'when it is tried again; null before the first attempt, and if it is dead';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.error IS 'error of the last attempt that failed';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.cause IS 'cause of it';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.failed_at IS 'when that was';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.event IS 'the event';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.created_at IS 'when the transaction of the change began';
COMMENT ON COLUMN @extschema@.sf_deadlines.target IS 'a schedule, a machine or a job';
COMMENT ON COLUMN @extschema@.sf_deadlines.start_by IS 'when it is to have started, each night';
COMMENT ON COLUMN @extschema@.sf_deadlines.end_by IS 'when it is to have ended, each night';
COMMENT ON COLUMN @extschema@.sf_deadlines.timezone IS 'of both times';
COMMENT ON COLUMN @extschema@.sf_deadlines.calendar IS 'on whose days it counts; null: on all';
COMMENT ON COLUMN @extschema@.sf_deadlines.next_check IS 'when it is looked at next';
COMMENT ON COLUMN @extschema@.sf_deadlines.set_at IS 'when it was set';
COMMENT ON COLUMN @extschema@.sf_deadlines.set_by IS 'the role that set it';
COMMENT ON COLUMN @extschema@.sf_late.target IS 'of the deadline';
COMMENT ON COLUMN @extschema@.sf_late.state IS 'late, will_be_late or never_started';
COMMENT ON COLUMN @extschema@.sf_late.due_by IS 'what the deadline is of: start or end';
COMMENT ON COLUMN @extschema@.sf_late.deadline_at IS 'the deadline of the night';
COMMENT ON COLUMN @extschema@.sf_late.execution_id IS 'the execution that is late, the first of several; null if there is none';
COMMENT ON COLUMN @extschema@.sf_late.expected_at IS 'of will_be_late: when the end was expected when it was raised';
COMMENT ON COLUMN @extschema@.sf_late.raised_at IS 'when it was noticed';
COMMENT ON COLUMN @extschema@.sf_late.over_at IS 'when it had begun or ended at last; null: not yet';
COMMENT ON COLUMN @extschema@.sf_late.acknowledged_at IS 'when sf_acknowledge was called for it';

-- sf_aws_install, sf_aws_uninstall: tables and functions that stand in for AWS services, in schema sfflow_aws.

-- services: those that a program outside does, such as glue. All that it makes is the caller's, and no member of the extension: pg_dump carries it like any other schema.
CREATE FUNCTION @extschema@.sf_aws_install(services text[] DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
DECLARE
	mapping record;
BEGIN
	CREATE SCHEMA sfflow_aws;
	COMMENT ON SCHEMA sfflow_aws IS 'replacements for AWS services that state machines call';

	-- ------------------------------------------------------------ what all of them need

	-- What a service's response has besides its own.
	CREATE FUNCTION sfflow_aws.metadata() RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_build_object(
			'SdkHttpMetadata', jsonb_build_object('AllHttpHeaders', '{}'::jsonb, 'HttpHeaders', '{}'::jsonb, 'HttpStatusCode', 200),
			'SdkResponseMetadata', jsonb_build_object('RequestId', gen_random_uuid()))
	$f$;

	-- A role that a row names has a right on this type: PostgreSQL knows of no dependency of a regrole in a row, but
	-- refuses DROP ROLE while the role has a right on an object.
	CREATE DOMAIN sfflow_aws.role_in_use AS boolean;
	COMMENT ON DOMAIN sfflow_aws.role_in_use IS 'roles that rows of tables in this schema name have USAGE on it, so that they cannot be dropped';
	REVOKE ALL ON TYPE sfflow_aws.role_in_use FROM PUBLIC;

	-- Give the right to roles that new rows name, and take it from those that no row names any more. A transaction that
	-- names a role keeps others from taking the right meanwhile; one at a time changes it.
	CREATE FUNCTION sfflow_aws.keep_roles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		role record;
		source text := CASE TG_OP WHEN 'DELETE' THEN 'SELECT %1$I, false FROM old_rows' WHEN 'INSERT' THEN 'SELECT %1$I, true FROM new_rows'
			ELSE 'SELECT %1$I, false FROM old_rows UNION SELECT %1$I, true FROM new_rows' END;
		named boolean;
	BEGIN
		FOR role IN EXECUTE format('SELECT p.oid, p.rolname AS name, bool_or(r.is_new) AS is_new, hashtextextended(''sfflow_aws.role_in_use'', p.oid::bigint) AS lock'
			' FROM (' || source || ') AS r (role, is_new) JOIN pg_roles AS p ON p.oid = r.role GROUP BY p.oid, p.rolname ORDER BY p.oid', TG_ARGV[0]) LOOP
			IF role.is_new THEN
				PERFORM pg_advisory_xact_lock_shared(role.lock);
			END IF;
			FOR turn IN 1 .. 2 LOOP
				named := EXISTS (SELECT FROM sfflow_aws.s3_bucket AS b WHERE b.owner = role.oid)
					OR EXISTS (SELECT FROM sfflow_aws.s3_grant AS g WHERE g.grantee = role.oid)
					OR EXISTS (SELECT FROM sfflow_aws.athena_query AS q WHERE q.owner = role.oid);
				EXIT WHEN named = EXISTS (SELECT FROM pg_type AS t, aclexplode(t.typacl) AS a
					WHERE t.oid = 'sfflow_aws.role_in_use'::regtype AND a.grantee = role.oid);
				IF turn = 1 THEN
					IF NOT named THEN
						PERFORM pg_advisory_xact_lock(role.lock);
					END IF;
					PERFORM pg_advisory_xact_lock(hashtextextended('sfflow_aws.role_in_use', 0));
				ELSIF named THEN
					EXECUTE format('GRANT USAGE ON TYPE sfflow_aws.role_in_use TO %I', role.name);
				ELSE
					EXECUTE format('REVOKE USAGE ON TYPE sfflow_aws.role_in_use FROM %I', role.name);
				END IF;
			END LOOP;
		END LOOP;
		RETURN NULL;
	END $f$;
	REVOKE ALL ON FUNCTION sfflow_aws.keep_roles() FROM PUBLIC;

	-- Fail as an optimized integration does: error and cause have the names that the service gives itself.
	CREATE FUNCTION sfflow_aws.fail(error text, message text, service text, code text, status integer DEFAULT 400)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT @extschema@.sf_raise(error, format('%s (Service: %s; Status Code: %s; Error Code: %s; Request ID: %s; Proxy: null)',
			message, service, status, code, gen_random_uuid()))
	$f$;

	-- Fail as an integration of the SDK does.
	CREATE FUNCTION sfflow_aws.fail_sdk(service text, code text, message text, status integer DEFAULT 400)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT @extschema@.sf_raise(service || '.' || code, format('%s (Service: %s, Status Code: %s, Request ID: %s) (SDK Attempt Count: 1)',
			message, service, status, gen_random_uuid()))
	$f$;

	-- What is wrong with a member of a request, as a service says it before it looks at anything else; NULL: nothing.
	CREATE FUNCTION sfflow_aws.member_problem(place text, value jsonb, min_size integer DEFAULT NULL, max_size integer DEFAULT NULL, pattern text DEFAULT NULL)
	RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT string_agg(format('Value %s at ''%s'' failed to satisfy constraint: Member must %s',
			coalesce('''' || given || '''', 'null'), place, problem), '; ' ORDER BY n)
		FROM (SELECT value #>> '{}' AS given,
				CASE jsonb_typeof(value) WHEN 'array' THEN jsonb_array_length(value) ELSE length(value #>> '{}') END AS size) AS g,
			LATERAL (VALUES (1, given IS NULL, 'not be null'),
				(2, size < min_size, 'have length greater than or equal to ' || min_size),
				(3, size > max_size, 'have length less than or equal to ' || max_size),
				(4, given !~ ('^(?:' || pattern || ')$'), 'satisfy regular expression pattern: ' || pattern)) AS p (n, broken, problem)
		WHERE broken
	$f$;

	-- The same of a member that may be absent: the words that it may be, or bounds of a number.
	CREATE FUNCTION sfflow_aws.word_problem(place text, value jsonb, VARIADIC words text[]) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN CASE WHEN jsonb_typeof(value) = 'string' AND value #>> '{}' <> ALL (words)
		THEN format('Value ''%s'' at ''%s'' failed to satisfy constraint: Member must satisfy enum value set: [%s]', value #>> '{}', place, array_to_string(words, ', ')) END;
	CREATE FUNCTION sfflow_aws.number_problem(place text, value jsonb, lowest numeric, highest numeric DEFAULT NULL) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN CASE WHEN jsonb_typeof(value) <> 'number' THEN NULL
		WHEN (value #>> '{}')::numeric < lowest THEN format('Value ''%s'' at ''%s'' failed to satisfy constraint: Member must have value greater than or equal to %s', value, place, lowest)
		WHEN (value #>> '{}')::numeric > highest THEN format('Value ''%s'' at ''%s'' failed to satisfy constraint: Member must have value less than or equal to %s', value, place, highest) END;
	CREATE FUNCTION sfflow_aws.size_problem(place text, value jsonb, min_size integer, max_size integer, pattern text DEFAULT NULL) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN CASE WHEN coalesce(jsonb_typeof(value), 'null') <> 'null' THEN sfflow_aws.member_problem(place, value, min_size, max_size, pattern) END;

	-- The message of a request with such problems; NULL: it has none.
	CREATE FUNCTION sfflow_aws.validation_errors(VARIADIC problems text[]) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT format('%s validation error%s detected: %s', n, CASE WHEN n > 1 THEN 's' ELSE '' END, all_problems)
		FROM (SELECT array_to_string(problems, '; ') AS all_problems) AS a,
			LATERAL (SELECT count(*) AS n FROM regexp_matches(all_problems, ' failed to satisfy constraint: Member must ', 'g')) AS c
		WHERE n > 0
	$f$;

	-- The machine that puts its input into an activity.
	CREATE FUNCTION sfflow_aws.activity_machine(activity text) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM @extschema@.sf_create_state_machine('aws-activity-' || activity, json_build_object(
			'Comment', 'Puts what is sent to activity ' || activity || ' into its queue.',
			'StartAt', 'Work',
			'States', json_build_object('Work', json_build_object('Type', 'Task', 'Resource', 'activity:' || activity, 'End', true))));
		RETURN 'aws-activity-' || activity;
	END $f$;

	-- Check a target, and make what it needs: activity:NAME, notify:CHANNEL, or a state machine's name or ARN.
	CREATE FUNCTION sfflow_aws.check_target(target text) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF target LIKE 'activity:_%' THEN
			PERFORM sfflow_aws.activity_machine(substr(target, 10));
		ELSIF target LIKE 'arn:%:activity:%' THEN
			target := 'activity:' || regexp_replace(target, '^.*:', '');
			PERFORM sfflow_aws.activity_machine(substr(target, 10));
		ELSIF target IS NULL OR target = '' THEN
			RAISE EXCEPTION 'target must not be empty'
				USING ERRCODE = 'invalid_parameter_value',
					HINT = 'Give activity:NAME, notify:CHANNEL, or the name of a state machine.';
		END IF;
		RETURN target;
	END $f$;

	-- Send a message to a target.
	CREATE FUNCTION sfflow_aws.deliver(target text, message jsonb, name text DEFAULT NULL) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF target LIKE 'notify:%' THEN
			PERFORM pg_notify(substr(target, 8), CASE jsonb_typeof(message) WHEN 'string' THEN message #>> '{}' ELSE message::text END);
		ELSIF target LIKE 'activity:%' THEN
			PERFORM @extschema@.sf_start('aws-activity-' || substr(target, 10), message, name);
		ELSE
			PERFORM @extschema@.sf_start(target, message, name);
		END IF;
	END $f$;

	-- ------------------------------------------------------------ DynamoDB

	CREATE TABLE sfflow_aws.dynamodb_table (
		name text PRIMARY KEY,
		partition_key text NOT NULL,
		sort_key text
	);

	-- Items by the text of their keys; see key_text().
	CREATE TABLE sfflow_aws.dynamodb_item (
		table_name text,
		partition text COLLATE "C",
		sort text COLLATE "C",
		item jsonb NOT NULL,
		PRIMARY KEY (table_name, partition, sort)
	);

	-- Make a table whose items are told apart by one attribute, or two.
	CREATE FUNCTION sfflow_aws.create_table(name text, partition_key text, sort_key text DEFAULT NULL)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.dynamodb_table VALUES (name, partition_key, sort_key)
	$f$;

	CREATE FUNCTION sfflow_aws.drop_table(name text)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		DELETE FROM sfflow_aws.dynamodb_item WHERE table_name = name;
		DELETE FROM sfflow_aws.dynamodb_table AS t WHERE t.name = drop_table.name;
	$f$;

	-- Fail as DynamoDB does; what is wrong with a request has another name than in the service itself.
	CREATE FUNCTION sfflow_aws.dynamodb_fail(code text, message text, sdk boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF sdk THEN
			PERFORM sfflow_aws.fail_sdk('DynamoDb', CASE code WHEN 'ValidationException' THEN 'DynamoDbException' ELSE code END, message);
		ELSE
			PERFORM sfflow_aws.fail('DynamoDB.' || CASE code WHEN 'ValidationException' THEN 'AmazonDynamoDBException' ELSE code END,
				message, 'AmazonDynamoDBv2', code);
		END IF;
	END $f$;

	-- The table of a request, by name or ARN. The request must have that, and a member that the operation needs, if it needs one.
	CREATE FUNCTION sfflow_aws.dynamodb_table_of(payload jsonb, needed text, sdk boolean) RETURNS sfflow_aws.dynamodb_table LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		found_table sfflow_aws.dynamodb_table;
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('tableName', to_jsonb(regexp_replace(payload->>'TableName', '^arn:.*:table/', '')), 1, 1024, '[a-zA-Z0-9_.-]+'),
			sfflow_aws.member_problem(lower(needed), CASE WHEN needed IS NULL THEN 'true' ELSE payload->needed END),
			sfflow_aws.size_problem('indexName', payload->'IndexName', 3, 255, '[a-zA-Z0-9_.-]+'),
			sfflow_aws.number_problem('limit', payload->'Limit', 1),
			sfflow_aws.word_problem('select', payload->'Select', 'SPECIFIC_ATTRIBUTES', 'COUNT', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES'),
			sfflow_aws.word_problem('returnValues', payload->'ReturnValues', 'ALL_NEW', 'UPDATED_OLD', 'ALL_OLD', 'NONE', 'UPDATED_NEW'));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', problem, sdk);
		END IF;
		SELECT * INTO found_table FROM sfflow_aws.dynamodb_table WHERE name = regexp_replace(payload->>'TableName', '^arn:.*:table/', '');
		IF NOT FOUND THEN
			PERFORM sfflow_aws.dynamodb_fail('ResourceNotFoundException', 'Requested resource not found', sdk);
		END IF;
		RETURN found_table;
	END $f$;

	-- A key attribute as text, the same for numbers that are equal.
	CREATE FUNCTION sfflow_aws.key_text(value jsonb) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN value ? 'N' THEN 'N:' || trim_scale((value->>'N')::numeric)
			WHEN value ? 'S' THEN 'S:' || (value->>'S') WHEN value ? 'B' THEN 'B:' || (value->>'B') END
	$f$;

	-- A sort key that is a number, as such; 0 for all others.
	CREATE FUNCTION sfflow_aws.key_number(key text) RETURNS numeric LANGUAGE sql IMMUTABLE
	RETURN CASE WHEN key LIKE 'N:%' THEN substr(key, 3)::numeric ELSE 0 END;

	-- The attributes of an item that are its key.
	CREATE FUNCTION sfflow_aws.key_of(t sfflow_aws.dynamodb_table, item jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_object_agg(attribute, item->attribute) FROM unnest(ARRAY[t.partition_key, t.sort_key]) AS attribute WHERE attribute IS NOT NULL
	$f$;

	-- Check the key of a request, or the key attributes of an item.
	CREATE FUNCTION sfflow_aws.check_key(t sfflow_aws.dynamodb_table, given jsonb, whole_item boolean, sdk boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		attribute text;
	BEGIN
		IF jsonb_typeof(given) <> 'object' OR EXISTS (
			SELECT FROM jsonb_each(CASE jsonb_typeof(given) WHEN 'object' THEN given ELSE '{}' END) AS a (name, content)
			WHERE CASE jsonb_typeof(content) WHEN 'object' THEN
				(SELECT count(*) = 1 AND bool_and(k IN ('S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS')) FROM jsonb_object_keys(content) AS k)
				ELSE false END IS NOT TRUE)
		THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException',
				'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes', sdk);
		END IF;
		FOREACH attribute IN ARRAY array_remove(ARRAY[t.partition_key, t.sort_key], NULL) LOOP
			IF given->attribute IN ('{"S": ""}', '{"B": ""}') THEN
				PERFORM sfflow_aws.dynamodb_fail('ValidationException', format(
					'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s',
					CASE WHEN given->attribute ? 'S' THEN 'string' ELSE 'binary' END, attribute), sdk);
			ELSIF sfflow_aws.key_text(given->attribute) IS NOT NULL THEN
				CONTINUE;
			END IF;
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', CASE WHEN whole_item
				THEN 'One or more parameter values were invalid: Missing the key ' || attribute || ' in the item'
				ELSE 'The provided key element does not match the schema' END, sdk);
		END LOOP;
		IF NOT whole_item AND sfflow_aws.key_of(t, given) <> given THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', 'The provided key element does not match the schema', sdk);
		END IF;
	EXCEPTION WHEN data_exception THEN
		PERFORM sfflow_aws.dynamodb_fail('ValidationException', 'A value provided cannot be converted into a number', sdk);
	END $f$;

	-- Fail unless an item satisfies the request's ConditionExpression.
	CREATE FUNCTION sfflow_aws.check_condition(payload jsonb, item jsonb, sdk boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		ok boolean := true;
		problem text;
	BEGIN
		IF payload->>'ConditionExpression' IS NULL THEN
			RETURN;
		END IF;
		BEGIN
			ok := @extschema@.sf_dynamodb_condition(payload->>'ConditionExpression', coalesce(item, '{}'),
				payload->'ExpressionAttributeNames', payload->'ExpressionAttributeValues');
		EXCEPTION WHEN SQLSTATE 'SF014' OR data_exception THEN
			problem := SQLERRM;
		END;
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', problem, sdk);
		ELSIF NOT ok THEN
			PERFORM sfflow_aws.dynamodb_fail('ConditionalCheckFailedException', 'The conditional request failed', sdk);
		END IF;
	END $f$;

	-- The item with the attributes that the request wants.
	CREATE FUNCTION sfflow_aws.project(payload jsonb, item jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN payload->>'ProjectionExpression' IS NULL THEN item
			ELSE @extschema@.sf_dynamodb_project(payload->>'ProjectionExpression', item, payload->'ExpressionAttributeNames') END
	$f$;

	CREATE FUNCTION sfflow_aws.get_item(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		t sfflow_aws.dynamodb_table := sfflow_aws.dynamodb_table_of(payload, 'Key', sdk);
		key jsonb := payload->'Key';
		found_item jsonb;
		problem text;
	BEGIN
		PERFORM sfflow_aws.check_key(t, key, false, sdk);
		SELECT item INTO found_item FROM sfflow_aws.dynamodb_item
		WHERE table_name = t.name AND partition = sfflow_aws.key_text(key->t.partition_key)
			AND sort = coalesce(sfflow_aws.key_text(key->t.sort_key), '');
		IF NOT FOUND THEN
			RETURN '{}';
		END IF;
		BEGIN
			RETURN jsonb_build_object('Item', sfflow_aws.project(payload, found_item));
		EXCEPTION WHEN SQLSTATE 'SF014' THEN
			problem := SQLERRM;
		END;
		PERFORM sfflow_aws.dynamodb_fail('ValidationException', problem, sdk);
	END $f$;

	-- Put an item in the place of what was there, if anything; false: another session was faster.
	CREATE FUNCTION sfflow_aws.store_item(t sfflow_aws.dynamodb_table, new_item jsonb, old_item jsonb) RETURNS boolean LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF old_item IS NULL THEN
			INSERT INTO sfflow_aws.dynamodb_item
			VALUES (t.name, sfflow_aws.key_text(new_item->t.partition_key), coalesce(sfflow_aws.key_text(new_item->t.sort_key), ''), new_item)
			ON CONFLICT DO NOTHING;
		ELSE
			UPDATE sfflow_aws.dynamodb_item SET item = new_item
			WHERE table_name = t.name AND partition = sfflow_aws.key_text(new_item->t.partition_key)
				AND sort = coalesce(sfflow_aws.key_text(new_item->t.sort_key), '');
		END IF;
		RETURN FOUND;
	END $f$;

	-- The item of a key, locked; NULL when there is none.
	CREATE FUNCTION sfflow_aws.lock_item(t sfflow_aws.dynamodb_table, key jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT item FROM sfflow_aws.dynamodb_item
		WHERE table_name = t.name AND partition = sfflow_aws.key_text(key->t.partition_key)
			AND sort = coalesce(sfflow_aws.key_text(key->t.sort_key), '')
		FOR UPDATE
	$f$;

	CREATE FUNCTION sfflow_aws.put_item(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		t sfflow_aws.dynamodb_table := sfflow_aws.dynamodb_table_of(payload, 'Item', sdk);
		old_item jsonb;
	BEGIN
		IF payload->>'ReturnValues' NOT IN ('ALL_OLD', 'NONE') THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', 'ReturnValues can only be ALL_OLD or NONE', sdk);
		END IF;
		PERFORM sfflow_aws.check_key(t, payload->'Item', true, sdk);
		LOOP
			old_item := sfflow_aws.lock_item(t, payload->'Item');
			PERFORM sfflow_aws.check_condition(payload, old_item, sdk);
			EXIT WHEN sfflow_aws.store_item(t, payload->'Item', old_item);
		END LOOP;
		IF payload->>'ReturnValues' = 'ALL_OLD' AND old_item IS NOT NULL THEN
			RETURN jsonb_build_object('Attributes', old_item);
		END IF;
		RETURN '{}';
	END $f$;

	CREATE FUNCTION sfflow_aws.delete_item(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		t sfflow_aws.dynamodb_table := sfflow_aws.dynamodb_table_of(payload, 'Key', sdk);
		key jsonb := payload->'Key';
		old_item jsonb;
	BEGIN
		IF payload->>'ReturnValues' NOT IN ('ALL_OLD', 'NONE') THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', 'ReturnValues can only be ALL_OLD or NONE', sdk);
		END IF;
		PERFORM sfflow_aws.check_key(t, key, false, sdk);
		old_item := sfflow_aws.lock_item(t, key);
		PERFORM sfflow_aws.check_condition(payload, old_item, sdk);
		DELETE FROM sfflow_aws.dynamodb_item
		WHERE table_name = t.name AND partition = sfflow_aws.key_text(key->t.partition_key)
			AND sort = coalesce(sfflow_aws.key_text(key->t.sort_key), '');
		IF payload->>'ReturnValues' = 'ALL_OLD' AND old_item IS NOT NULL THEN
			RETURN jsonb_build_object('Attributes', old_item);
		END IF;
		RETURN '{}';
	END $f$;

	-- An item after the request's UpdateExpression, and the attributes that it touched.
	CREATE FUNCTION sfflow_aws.updated(t sfflow_aws.dynamodb_table, payload jsonb, old_item jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		result jsonb := jsonb_build_object('Item', coalesce(old_item, payload->'Key'), 'Attributes', '[]'::jsonb);
		problem text;
		attribute text;
	BEGIN
		IF payload->>'UpdateExpression' IS NULL THEN
			RETURN result;
		END IF;
		BEGIN
			result := @extschema@.sf_dynamodb_update(payload->>'UpdateExpression', result->'Item',
				payload->'ExpressionAttributeNames', payload->'ExpressionAttributeValues');
		EXCEPTION WHEN SQLSTATE 'SF014' OR data_exception THEN
			problem := SQLERRM;
		END;
		SELECT a INTO attribute FROM jsonb_array_elements_text(result->'Attributes') AS a WHERE a IN (t.partition_key, t.sort_key);
		IF attribute IS NOT NULL THEN
			problem := format('One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key', attribute);
		END IF;
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', problem, sdk);
		END IF;
		RETURN result;
	END $f$;

	-- Some attributes of an item, those that it has.
	CREATE FUNCTION sfflow_aws.pick(item jsonb, attributes jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_object_agg(a, item->a) FROM jsonb_array_elements_text(attributes) AS a WHERE item ? a
	$f$;

	CREATE FUNCTION sfflow_aws.update_item(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		t sfflow_aws.dynamodb_table := sfflow_aws.dynamodb_table_of(payload, 'Key', sdk);
		old_item jsonb;
		result jsonb;
		returned jsonb;
	BEGIN
		PERFORM sfflow_aws.check_key(t, payload->'Key', false, sdk);
		LOOP
			old_item := sfflow_aws.lock_item(t, payload->'Key');
			PERFORM sfflow_aws.check_condition(payload, old_item, sdk);
			result := sfflow_aws.updated(t, payload, old_item, sdk);
			EXIT WHEN sfflow_aws.store_item(t, result->'Item', old_item);
		END LOOP;
		returned := CASE payload->>'ReturnValues'
			WHEN 'ALL_OLD' THEN old_item
			WHEN 'ALL_NEW' THEN result->'Item'
			WHEN 'UPDATED_OLD' THEN sfflow_aws.pick(old_item, result->'Attributes')
			WHEN 'UPDATED_NEW' THEN sfflow_aws.pick(result->'Item', result->'Attributes') END;
		RETURN CASE WHEN returned IS NULL THEN '{}' ELSE jsonb_build_object('Attributes', returned) END;
	END $f$;

	-- The value of the partition key that a query's key condition asks for; the sort key may be compared, too.
	CREATE FUNCTION sfflow_aws.query_partition(t sfflow_aws.dynamodb_table, payload jsonb) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		key jsonb := @extschema@.sf_dynamodb_key(payload->>'KeyConditionExpression', payload->'ExpressionAttributeNames', payload->'ExpressionAttributeValues');
		other text;
	BEGIN
		IF NOT key->'Equal' ? t.partition_key THEN
			RAISE EXCEPTION 'Query condition missed key schema element: %', t.partition_key USING ERRCODE = 'SF014';
		END IF;
		SELECT a INTO other FROM (SELECT jsonb_object_keys(key->'Equal') UNION ALL SELECT jsonb_array_elements_text(key->'Others')) AS v (a)
		WHERE a <> t.partition_key AND a IS DISTINCT FROM t.sort_key;
		IF FOUND THEN
			RAISE EXCEPTION 'Query key condition not supported' USING ERRCODE = 'SF014';
		END IF;
		RETURN sfflow_aws.key_text(key->'Equal'->t.partition_key);
	END $f$;

	-- The items of a query, or (without a partition) of a scan, up to Limit of them, from ExclusiveStartKey on.
	CREATE FUNCTION sfflow_aws.find_items(t sfflow_aws.dynamodb_table, payload jsonb, wanted_partition text) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		forward boolean := wanted_partition IS NULL OR coalesce((payload->>'ScanIndexForward')::boolean, true);
		start_key jsonb := nullif(payload->'ExclusiveStartKey', 'null');
		start_partition text := sfflow_aws.key_text(start_key->t.partition_key);
		start_sort text := coalesce(sfflow_aws.key_text(start_key->t.sort_key), '');
		start_number numeric := sfflow_aws.key_number(start_sort);
		last_key jsonb := start_key;
		scanned integer := 0;
		items jsonb[] := '{}';
		matches integer := 0;
		candidate record;
		result jsonb := '{}';
		names jsonb := payload->'ExpressionAttributeNames';
		vals jsonb := payload->'ExpressionAttributeValues';
	BEGIN
		FOR candidate IN
			SELECT i.item
			FROM sfflow_aws.dynamodb_item AS i, LATERAL sfflow_aws.key_number(i.sort) AS number
			WHERE i.table_name = t.name AND (wanted_partition IS NULL OR i.partition = wanted_partition)
				AND (start_key IS NULL OR CASE WHEN forward
					THEN (i.partition, number, i.sort) > (start_partition, start_number, start_sort)
					ELSE (number, i.sort) < (start_number, start_sort) END)
			ORDER BY i.partition, CASE WHEN forward THEN number END, CASE WHEN forward THEN i.sort END, number DESC, i.sort DESC
		LOOP
			CONTINUE WHEN wanted_partition IS NOT NULL
				AND NOT @extschema@.sf_dynamodb_condition(payload->>'KeyConditionExpression', candidate.item, names, vals, 'KeyConditionExpression');
			IF scanned >= (payload->>'Limit')::integer THEN
				result := jsonb_build_object('LastEvaluatedKey', last_key);
				EXIT;
			END IF;
			scanned := scanned + 1;
			last_key := sfflow_aws.key_of(t, candidate.item);
			CONTINUE WHEN payload->>'FilterExpression' IS NOT NULL
				AND NOT @extschema@.sf_dynamodb_condition(payload->>'FilterExpression', candidate.item, names, vals, 'FilterExpression');
			matches := matches + 1;
			IF payload->>'Select' IS DISTINCT FROM 'COUNT' THEN
				items := items || sfflow_aws.project(payload, candidate.item);
			END IF;
		END LOOP;
		result := result || jsonb_build_object('Count', matches, 'ScannedCount', scanned);
		IF payload->>'Select' IS DISTINCT FROM 'COUNT' THEN
			result := result || jsonb_build_object('Items', to_jsonb(items));
		END IF;
		RETURN result;
	END $f$;

	-- A query or a scan.
	CREATE FUNCTION sfflow_aws.query(payload jsonb, scan boolean, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		t sfflow_aws.dynamodb_table := sfflow_aws.dynamodb_table_of(payload, NULL, sdk);
		problem text;
	BEGIN
		IF payload->>'IndexName' IS NOT NULL THEN
			problem := 'The table does not have the specified index: ' || (payload->>'IndexName');
		ELSIF NOT scan AND payload->>'KeyConditionExpression' IS NULL THEN
			problem := 'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.';
		ELSE
			BEGIN
				RETURN sfflow_aws.find_items(t, payload, CASE WHEN NOT scan THEN sfflow_aws.query_partition(t, payload) END);
			EXCEPTION WHEN SQLSTATE 'SF014' OR data_exception THEN
				problem := SQLERRM;
			END;
		END IF;
		PERFORM sfflow_aws.dynamodb_fail('ValidationException', problem, sdk);
	END $f$;

	-- What the Resources are mapped to: the optimized integrations and those of the SDK.
	CREATE FUNCTION sfflow_aws.dynamodb_get_item(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.get_item(payload, false) || sfflow_aws.metadata();
	CREATE FUNCTION sfflow_aws.dynamodb_put_item(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.put_item(payload, false) || sfflow_aws.metadata();
	CREATE FUNCTION sfflow_aws.dynamodb_update_item(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.update_item(payload, false) || sfflow_aws.metadata();
	CREATE FUNCTION sfflow_aws.dynamodb_delete_item(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.delete_item(payload, false) || sfflow_aws.metadata();
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_get_item(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.get_item(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_put_item(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.put_item(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_update_item(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.update_item(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_delete_item(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.delete_item(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_query(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.query(payload, false, true);
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_scan(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.query(payload, true, true);

	-- ------------------------------------------------------------ EventBridge

	CREATE TABLE sfflow_aws.event_rule (
		name text PRIMARY KEY,
		bus text,					-- NULL: any
		pattern jsonb NOT NULL,
		target text NOT NULL
	);

	-- Send the events that match a pattern to a target; the same name again changes the rule.
	CREATE FUNCTION sfflow_aws.put_rule(name text, pattern jsonb, target text, bus text DEFAULT NULL)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.event_rule VALUES (name, bus, pattern, sfflow_aws.check_target(target))
		ON CONFLICT ON CONSTRAINT event_rule_pkey DO UPDATE SET bus = EXCLUDED.bus, pattern = EXCLUDED.pattern, target = EXCLUDED.target
	$f$;

	CREATE FUNCTION sfflow_aws.delete_rule(name text)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		DELETE FROM sfflow_aws.event_rule AS r WHERE r.name = delete_rule.name
	$f$;

	-- Tell whether a value of an event (NULL: it has none) is what one entry of a pattern's list wants.
	CREATE FUNCTION sfflow_aws.value_matches(actual jsonb, wanted jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		content text := CASE jsonb_typeof(actual) WHEN 'string' THEN actual #>> '{}' END;
		operand text;
		bounds jsonb;
	BEGIN
		IF jsonb_typeof(wanted) <> 'object' THEN
			RETURN actual = wanted;
		ELSIF wanted ? 'exists' THEN
			RETURN (actual IS NOT NULL) = (wanted->>'exists')::boolean;
		ELSIF actual IS NULL THEN
			RETURN false;
		ELSIF wanted ? 'anything-but' THEN
			bounds := wanted->'anything-but';
			RETURN CASE jsonb_typeof(bounds)
				WHEN 'array' THEN NOT EXISTS (SELECT FROM jsonb_array_elements(bounds) AS b WHERE sfflow_aws.value_matches(actual, b))
				ELSE NOT sfflow_aws.value_matches(actual, bounds) END;
		ELSIF wanted ? 'numeric' THEN
			bounds := wanted->'numeric';
			RETURN jsonb_typeof(actual) = 'number' AND (SELECT bool_and(CASE bounds->>n
					WHEN '=' THEN actual = bounds->(n + 1) WHEN '<' THEN actual < bounds->(n + 1) WHEN '<=' THEN actual <= bounds->(n + 1)
					WHEN '>' THEN actual > bounds->(n + 1) WHEN '>=' THEN actual >= bounds->(n + 1) END)
				FROM generate_series(0, jsonb_array_length(bounds) - 1, 2) AS n);
		END IF;
		FOREACH operand IN ARRAY ARRAY['prefix', 'suffix', 'equals-ignore-case', 'wildcard'] LOOP
			CONTINUE WHEN NOT wanted ? operand;
			RETURN coalesce(CASE operand
				WHEN 'prefix' THEN starts_with(content, wanted->>operand)
				WHEN 'suffix' THEN right(content, length(wanted->>operand)) = wanted->>operand
				WHEN 'equals-ignore-case' THEN lower(content) = lower(wanted->>operand)
				ELSE content LIKE replace(replace(replace(replace(wanted->>operand, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%') END, false);
		END LOOP;
		RETURN false;
	END $f$;

	-- Tell whether an event matches a pattern: each of its lists names one value that the event has there.
	CREATE FUNCTION sfflow_aws.event_matches(event jsonb, pattern jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		field text;
		wanted jsonb;
		actual jsonb;
		matched boolean;
	BEGIN
		FOR field, wanted IN SELECT * FROM jsonb_each(pattern) LOOP
			actual := event->field;
			IF field = '$or' THEN
				matched := EXISTS (SELECT FROM jsonb_array_elements(wanted) AS p WHERE sfflow_aws.event_matches(event, p));
			ELSIF jsonb_typeof(wanted) = 'object' THEN
				matched := sfflow_aws.event_matches(coalesce(actual, '{}'), wanted);
			ELSE
				matched := EXISTS (
					SELECT FROM jsonb_array_elements(wanted) AS w
					WHERE CASE jsonb_typeof(actual)
						WHEN 'array' THEN EXISTS (SELECT FROM jsonb_array_elements(actual) AS v WHERE sfflow_aws.value_matches(v, w))
						ELSE sfflow_aws.value_matches(actual, w) END);
			END IF;
			IF NOT matched THEN
				RETURN false;
			END IF;
		END LOOP;
		RETURN true;
	END $f$;

	-- What is wrong with an entry, or NULL.
	CREATE FUNCTION sfflow_aws.entry_problem(entry jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		field text;
	BEGIN
		FOREACH field IN ARRAY ARRAY['Source', 'DetailType', 'Detail'] LOOP
			IF coalesce(entry->>field, '') = '' THEN
				RETURN jsonb_build_object('ErrorCode', 'InvalidArgument',
					'ErrorMessage', format('Parameter %1$s is not valid. Reason: %1$s is a required argument.', field));
			END IF;
		END LOOP;
		IF (CASE jsonb_typeof(entry->'Detail') WHEN 'object' THEN 'object' WHEN 'string' THEN jsonb_typeof((entry->>'Detail')::jsonb) END) = 'object' THEN
			RETURN NULL;
		END IF;
		RETURN '{"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}';
	EXCEPTION WHEN invalid_text_representation THEN
		RETURN '{"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}';
	END $f$;

	-- Put one event on its bus; returns its id.
	CREATE FUNCTION sfflow_aws.put_event(entry jsonb) RETURNS uuid LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		event_id uuid := gen_random_uuid();
		event jsonb := jsonb_build_object('version', '0', 'id', event_id, 'detail-type', entry->'DetailType', 'source', entry->'Source',
			'account', current_setting('sfflow.account_id'), 'time', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'region', current_setting('sfflow.region'),
			'resources', coalesce(entry->'Resources', '[]'),
			'detail', CASE jsonb_typeof(entry->'Detail') WHEN 'string' THEN (entry->>'Detail')::jsonb ELSE entry->'Detail' END);
		rule_target text;
	BEGIN
		FOR rule_target IN
			SELECT r.target FROM sfflow_aws.event_rule AS r
			WHERE (r.bus IS NULL OR r.bus = regexp_replace(coalesce(entry->>'EventBusName', 'default'), '^arn:.*:event-bus/', ''))
				AND sfflow_aws.event_matches(event, r.pattern)
			ORDER BY r.name
		LOOP
			PERFORM sfflow_aws.deliver(rule_target, event);
		END LOOP;
		RETURN event_id;
	END $f$;

	-- All entries, or none: a failure rolls back what the others started.
	CREATE FUNCTION sfflow_aws.events_put_events(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		entry jsonb;
		problem jsonb;
		refusal text;
		entries jsonb := '[]';
		failed integer := 0;
	BEGIN
		refusal := sfflow_aws.validation_errors(VARIADIC ARRAY[sfflow_aws.member_problem('entries', payload->'Entries', 1, 10)] || ARRAY(
			SELECT sfflow_aws.size_problem(format('entries.%s.member.eventBusName', n), e->'EventBusName', 1, 1600,
				'(arn:aws[\w-]*:events:[a-z]+-[a-z]+-[\w-]+:[0-9]{12}:event-bus\/)?[\/\.\-_A-Za-z0-9]+')
			FROM jsonb_array_elements(CASE jsonb_typeof(payload->'Entries') WHEN 'array' THEN payload->'Entries' ELSE '[]' END) WITH ORDINALITY AS a (e, n)));
		IF refusal IS NULL AND octet_length((payload->'Entries')::text) > 262144 THEN
			refusal := 'Total size of the entries in the request is over the limit.';
		END IF;
		IF refusal IS NOT NULL THEN
			PERFORM sfflow_aws.fail('EventBridge.AmazonEventBridgeException', refusal, 'AmazonEventBridge', 'ValidationException');
		END IF;
		FOR entry IN SELECT * FROM jsonb_array_elements(payload->'Entries') LOOP
			problem := sfflow_aws.entry_problem(entry);
			failed := failed + (problem IS NOT NULL)::integer;
			entries := entries || coalesce(problem, jsonb_build_object('EventId', sfflow_aws.put_event(entry)));
		END LOOP;
		IF failed > 0 THEN
			PERFORM @extschema@.sf_raise('EventBridge.FailedEntry', jsonb_build_object('Entries', entries, 'FailedEntryCount', failed)::text);
		END IF;
		RETURN jsonb_build_object('Entries', entries, 'FailedEntryCount', 0);
	END $f$;

	-- ------------------------------------------------------------ SQS, SNS

	-- Queues have one target, topics any number.
	CREATE TABLE sfflow_aws.channel (
		kind text CHECK (kind IN ('queue', 'topic')),
		name text,
		targets text[] NOT NULL,
		PRIMARY KEY (kind, name)
	);

	CREATE FUNCTION sfflow_aws.create_queue(name text, target text)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.channel VALUES ('queue', name, ARRAY[sfflow_aws.check_target(target)])
	$f$;

	CREATE FUNCTION sfflow_aws.create_topic(name text, VARIADIC targets text[] DEFAULT '{}')
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.channel
		SELECT 'topic', create_topic.name, coalesce(array_agg(sfflow_aws.check_target(target)), '{}') FROM unnest(targets) AS target
	$f$;

	-- Send a message to all targets of a channel; false: there is no such channel.
	CREATE FUNCTION sfflow_aws.send(channel_kind text, channel_name text, message jsonb) RETURNS boolean LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		channel_targets text[];
		target text;
	BEGIN
		SELECT c.targets INTO channel_targets FROM sfflow_aws.channel AS c WHERE c.kind = channel_kind AND c.name = channel_name;
		IF NOT FOUND THEN
			RETURN false;
		END IF;
		FOREACH target IN ARRAY channel_targets LOOP
			PERFORM sfflow_aws.deliver(target, message);
		END LOOP;
		RETURN true;
	END $f$;

	-- What a FIFO queue or topic adds to its response.
	CREATE FUNCTION sfflow_aws.sequence_number(channel_name text) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN channel_name LIKE '%.fifo'
			THEN jsonb_build_object('SequenceNumber', lpad((extract(epoch FROM clock_timestamp()) * 1000000)::bigint::text, 20, '0')) ELSE '{}' END
	$f$;

	-- What is wrong with the attributes of a message; NULL: nothing.
	CREATE FUNCTION sfflow_aws.attribute_problem(attributes jsonb) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT format('The message attribute ''%s'' ', name) || CASE
			WHEN coalesce(type, '') = '' THEN 'must contain non-empty message attribute type.'
			WHEN type !~ '^(?:Binary|Number|String)' THEN 'has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.'
			ELSE format('must contain non-empty message attribute value for message attribute type ''%s''.', type) END
		FROM jsonb_each(CASE jsonb_typeof(attributes) WHEN 'object' THEN attributes ELSE '{}' END) AS a (name, attribute), LATERAL (SELECT attribute->>'DataType' AS type) AS t
		WHERE coalesce(type, '') !~ '^(?:Binary|Number|String)'
			OR coalesce(attribute->>CASE WHEN type ^@ 'Binary' THEN 'BinaryValue' ELSE 'StringValue' END, '') = ''
		ORDER BY name COLLATE "C" LIMIT 1
	$f$;

	-- A piece of what the digest of attributes is made of: its length, then itself.
	CREATE FUNCTION sfflow_aws.with_length(piece bytea) RETURNS bytea LANGUAGE sql IMMUTABLE
	RETURN int4send(length(piece)) || piece;

	-- The digest of the attributes of a message, as the service makes it; {} if there are none.
	CREATE FUNCTION sfflow_aws.attribute_digest(attributes jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN count(*) = 0 THEN '{}' ELSE jsonb_build_object('MD5OfMessageAttributes', md5(string_agg(
			sfflow_aws.with_length(convert_to(name, 'UTF8')) || sfflow_aws.with_length(convert_to(type, 'UTF8')) || CASE WHEN type ^@ 'Binary'
				THEN '\x02' || sfflow_aws.with_length(decode(attribute->>'BinaryValue', 'base64'))
				ELSE '\x01' || sfflow_aws.with_length(convert_to(attribute->>'StringValue', 'UTF8')) END, '' ORDER BY name COLLATE "C"))) END
		FROM jsonb_each(CASE jsonb_typeof(attributes) WHEN 'object' THEN attributes ELSE '{}' END) AS a (name, attribute), LATERAL (SELECT attribute->>'DataType' AS type) AS t
	$f$;

	-- Refuse a message that SQS would refuse before it looks for the queue.
	CREATE FUNCTION sfflow_aws.check_message(payload jsonb) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		is_fifo boolean := coalesce(payload->>'QueueUrl' LIKE '%.fifo', false);
		missing text := (SELECT member FROM unnest(ARRAY['QueueUrl', 'MessageBody'] || CASE WHEN is_fifo THEN ARRAY['MessageGroupId'] END) WITH ORDINALITY AS m (member, n)
			WHERE coalesce(payload->>member, '') = '' ORDER BY n LIMIT 1);
		delay numeric := CASE jsonb_typeof(payload->'DelaySeconds') WHEN 'number' THEN payload->'DelaySeconds' END;
		body text := payload->>'MessageBody';
		wrong_id text := (SELECT member FROM unnest(ARRAY['MessageGroupId', 'MessageDeduplicationId']) AS member
			WHERE payload->>member !~ '^[[:alnum:][:punct:]]{1,128}$' LIMIT 1);
		problem text := CASE
			WHEN missing IS NOT NULL THEN 'The request must contain the parameter ' || missing || '.'
			WHEN octet_length(body) > 1048576 THEN 'One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes.'
			WHEN body ~ '[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]' THEN format('Invalid binary character ''#x%s'' was found in the message body, the set of allowed characters is #x9 | #xA | #xD | [#x20 to #xD7FF] | [#xE000 to #xFFFD] | [#x10000 to #x10FFFF]',
				upper(to_hex(ascii(substring(body FROM '[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]')))))
			WHEN wrong_id IS NOT NULL THEN format('Value %s for parameter %s is invalid. Reason: %s can only include alphanumeric and punctuation characters. 1 to 128 in length.', payload->>wrong_id, wrong_id, wrong_id)
			WHEN (is_fifo AND delay > 0) OR (NOT is_fifo AND payload->>'MessageDeduplicationId' IS NOT NULL)
				THEN format('Value %s for parameter %s is invalid. Reason: The request include parameter that is not valid for this queue type.',
					CASE WHEN is_fifo THEN delay::text ELSE payload->>'MessageDeduplicationId' END, CASE WHEN is_fifo THEN 'DelaySeconds' ELSE 'MessageDeduplicationId' END)
			WHEN delay NOT BETWEEN 0 AND 900 THEN format('Value %s for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.', delay)
			WHEN (SELECT count(*) FROM jsonb_object_keys(CASE jsonb_typeof(payload->'MessageAttributes') WHEN 'object' THEN payload->'MessageAttributes' ELSE '{}' END)) > 10
				THEN format('Number of message attributes [%s] exceeds the allowed maximum [10].', (SELECT count(*) FROM jsonb_object_keys(payload->'MessageAttributes')))
			ELSE sfflow_aws.attribute_problem(payload->'MessageAttributes') END;
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail('SQS.AmazonSQSException', problem, 'AmazonSQS', CASE
				WHEN missing IS NOT NULL THEN 'MissingParameter' WHEN problem ^@ 'Invalid binary' THEN 'InvalidMessageContents' ELSE 'InvalidParameterValue' END);
		END IF;
	END $f$;

	CREATE FUNCTION sfflow_aws.sqs_send_message(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		body jsonb := payload->'MessageBody';
	BEGIN
		PERFORM sfflow_aws.check_message(payload);
		IF payload->>'QueueUrl' ~ '^https?://[^/]*/?$' THEN
			PERFORM @extschema@.sf_raise('SQS.SdkClientException',
				format('Unable to execute HTTP request: %s: Name or service not known', substring(payload->>'QueueUrl' FROM '//([^/:]*)')));
		ELSIF NOT sfflow_aws.send('queue', regexp_replace(payload->>'QueueUrl', '^.*[/:]', ''), body) THEN
			PERFORM sfflow_aws.fail('SQS.QueueDoesNotExistException', 'The specified queue does not exist.', 'AmazonSQS', 'AWS.SimpleQueueService.NonExistentQueue');
		END IF;
		RETURN jsonb_build_object('MessageId', gen_random_uuid(),
			'MD5OfMessageBody', md5(CASE jsonb_typeof(body) WHEN 'string' THEN body #>> '{}' ELSE body::text END))
			|| sfflow_aws.attribute_digest(payload->'MessageAttributes') || sfflow_aws.sequence_number(payload->>'QueueUrl') || sfflow_aws.metadata();
	END $f$;

	-- What is wrong with a message that has another text for each protocol; NULL: nothing.
	CREATE FUNCTION sfflow_aws.structure_problem(message text) RETURNS text LANGUAGE plpgsql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		RETURN CASE WHEN jsonb_typeof(message::jsonb) <> 'object' THEN 'Message Structure - JSON message body failed to parse'
			WHEN jsonb_typeof(message::jsonb->'default') IS DISTINCT FROM 'string' THEN 'Message Structure - No default entry in JSON message body' END;
	EXCEPTION WHEN data_exception THEN
		RETURN 'Message Structure - JSON message body failed to parse';
	END $f$;

	CREATE FUNCTION sfflow_aws.sns_publish(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		topic text := coalesce(payload->>'TopicArn', payload->>'TargetArn');
		attribute text := sfflow_aws.attribute_problem(payload->'MessageAttributes');
		structure text := payload->>'MessageStructure';
		problem text := CASE
			WHEN coalesce(topic, '') = '' AND payload->>'PhoneNumber' IS NULL THEN 'TopicArn or TargetArn Reason: no value for required parameter'
			WHEN coalesce(payload->>'Message', '') = '' THEN 'Empty message'
			WHEN octet_length(payload->>'Message') > 262144 THEN 'Message too long'
			WHEN structure <> 'json' THEN 'MessageStructure'
			WHEN structure = 'json' THEN sfflow_aws.structure_problem(payload->>'Message')
			WHEN payload->>'Subject' = '' OR length(payload->>'Subject') > 100 OR payload->>'Subject' ~ '[[:cntrl:]]' THEN 'Subject'
			WHEN topic LIKE '%.fifo' AND coalesce(payload->>'MessageGroupId', '') = '' THEN 'The MessageGroupId parameter is required for FIFO topics' END;
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail('SNS.InvalidParameterException', 'Invalid parameter: ' || problem, 'AmazonSNS', 'InvalidParameter');
		ELSIF attribute IS NOT NULL THEN
			PERFORM sfflow_aws.fail('SNS.InvalidParameterValueException', attribute, 'AmazonSNS', 'ParameterValueInvalid');
		ELSIF NOT sfflow_aws.send('topic', regexp_replace(coalesce(topic, ''), '^.*:', ''), payload->'Message') THEN
			PERFORM sfflow_aws.fail('SNS.NotFoundException', 'Topic does not exist', 'AmazonSNS', 'NotFound', 404);
		END IF;
		RETURN jsonb_build_object('MessageId', gen_random_uuid()) || sfflow_aws.sequence_number(topic) || sfflow_aws.metadata();
	END $f$;

	-- ------------------------------------------------------------ Step Functions

	-- Fail with what is wrong with a token.
	CREATE FUNCTION sfflow_aws.token_fail(state text, message text) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.fail_sdk('Sfn', CASE state WHEN 'SF019' THEN 'InvalidTokenException' ELSE 'TaskTimedOutException' END,
			CASE state WHEN 'SF021' THEN 'Task Timed Out: ''Provided task does not exist anymore''' ELSE message END)
	$f$;

	-- Refuse the answer to a task that the service would refuse before it looks for the token.
	CREATE FUNCTION sfflow_aws.check_answer(payload jsonb, needs_output boolean DEFAULT false) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('taskToken', payload->'TaskToken', 1, 2048),
			CASE WHEN needs_output AND coalesce(jsonb_typeof(payload->'Output'), 'null') = 'null' THEN sfflow_aws.member_problem('output', NULL) END,
			sfflow_aws.size_problem('error', payload->'Error', 0, 256), sfflow_aws.size_problem('cause', payload->'Cause', 0, 32768));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail_sdk('Sfn', 'SfnException', problem);
		END IF;
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_sfn_send_task_success(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		output jsonb := payload->'Output';
	BEGIN
		PERFORM sfflow_aws.check_answer(payload, true);
		BEGIN
			IF jsonb_typeof(output) = 'string' THEN
				output := output #>> '{}';
			END IF;
		EXCEPTION WHEN invalid_text_representation THEN
			output := NULL;
		END;
		BEGIN
			PERFORM @extschema@.sf_send_task_success(payload->>'TaskToken', coalesce(output, '{}'));
		EXCEPTION WHEN SQLSTATE 'SF019' OR SQLSTATE 'SF020' OR SQLSTATE 'SF021' THEN
			PERFORM sfflow_aws.token_fail(SQLSTATE, SQLERRM);
		END;
		IF output IS NULL THEN
			PERFORM sfflow_aws.fail_sdk('Sfn', 'InvalidOutputException', 'Invalid Output: ''Output must be a valid JSON text''');
		END IF;
		RETURN '{}';
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_sfn_send_task_failure(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.check_answer(payload);
		PERFORM @extschema@.sf_send_task_failure(payload->>'TaskToken', payload->>'Error', payload->>'Cause');
		RETURN '{}';
	EXCEPTION WHEN SQLSTATE 'SF019' OR SQLSTATE 'SF020' OR SQLSTATE 'SF021' THEN
		PERFORM sfflow_aws.token_fail(SQLSTATE, SQLERRM);
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_sfn_send_task_heartbeat(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.check_answer(payload);
		PERFORM @extschema@.sf_send_task_heartbeat(payload->>'TaskToken');
		RETURN '{}';
	EXCEPTION WHEN SQLSTATE 'SF019' OR SQLSTATE 'SF020' OR SQLSTATE 'SF021' THEN
		PERFORM sfflow_aws.token_fail(SQLSTATE, SQLERRM);
	END $f$;

	-- ------------------------------------------------------------ Systems Manager

	-- Which activity's workers run the commands of an instance.
	CREATE TABLE sfflow_aws.instance (
		instance_id text PRIMARY KEY,
		activity text NOT NULL
	);

	CREATE FUNCTION sfflow_aws.put_instance(instance_id text, activity text)
	RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.activity_machine(activity);
		INSERT INTO sfflow_aws.instance VALUES (instance_id, activity)
		ON CONFLICT ON CONSTRAINT instance_pkey DO UPDATE SET activity = EXCLUDED.activity;
	END $f$;

	-- The execution in which a command runs on an instance; NULL: there is no such instance.
	CREATE FUNCTION sfflow_aws.command_execution(command text, instance text) RETURNS text LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT format('aws-activity-%s:%s.%s', activity, command, instance) FROM sfflow_aws.instance AS i WHERE i.instance_id = instance
	$f$;

	-- What sfworker is given for a command.
	CREATE FUNCTION sfflow_aws.shell_task(parameters jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_strip_nulls(jsonb_build_object(
			'Command', jsonb_build_array('/bin/sh', '-c', (SELECT string_agg(line, E'\n' ORDER BY n) FROM jsonb_array_elements_text(parameters->'commands') WITH ORDINALITY AS c (line, n))),
			'Directory', nullif(parameters->'workingDirectory'->>0, ''),
			'TimeoutSeconds', (parameters->'executionTimeout'->>0)::integer))
	$f$;

	CREATE FUNCTION sfflow_aws.sdk_ssm_send_command(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		command_id uuid := gen_random_uuid();
		instance text;
		execution text;
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('documentName', payload->'DocumentName', NULL, NULL, '^[a-zA-Z0-9_\-.:/]{3,128}$'),
			sfflow_aws.size_problem('instanceIds', payload->'InstanceIds', 0, 50), sfflow_aws.size_problem('comment', payload->'Comment', 0, 100),
			sfflow_aws.number_problem('timeoutSeconds', payload->'TimeoutSeconds', 30, 2592000));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'SsmException', problem);
		END IF;
		IF payload->>'DocumentName' IS DISTINCT FROM 'AWS-RunShellScript' THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'InvalidDocumentException', 'Document ' || coalesce(payload->>'DocumentName', 'null') || ' does not exist');
		END IF;
		FOR instance IN SELECT * FROM jsonb_array_elements_text(payload->'InstanceIds') LOOP
			execution := sfflow_aws.command_execution(command_id::text, instance);
			IF execution IS NULL THEN
				PERFORM sfflow_aws.fail_sdk('Ssm', 'InvalidInstanceIdException', 'Instances not in a valid state for account');
			END IF;
			PERFORM @extschema@.sf_start(split_part(execution, ':', 1), sfflow_aws.shell_task(payload->'Parameters'), split_part(execution, ':', 2));
		END LOOP;
		RETURN jsonb_build_object('Command', jsonb_build_object('CommandId', command_id, 'DocumentName', payload->'DocumentName',
			'InstanceIds', payload->'InstanceIds', 'Parameters', payload->'Parameters', 'RequestedDateTime', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
			'Status', 'Pending', 'StatusDetails', 'Pending', 'TargetCount', jsonb_array_length(payload->'InstanceIds'), 'CompletedCount', 0, 'ErrorCount', 0));
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_ssm_get_command_invocation(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		execution record;
		status text;
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('commandId', payload->'CommandId', 36, 36), sfflow_aws.member_problem('instanceId', payload->'InstanceId'));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'SsmException', problem);
		END IF;
		SELECT e.status, e.output, e.error, e.cause INTO execution FROM @extschema@.sf_executions AS e
		WHERE e.execution_id = sfflow_aws.command_execution(payload->>'CommandId', payload->>'InstanceId');
		IF NOT FOUND THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'InvocationDoesNotExistException', 'null');
		END IF;
		status := CASE WHEN execution.error = 'States.Timeout' OR execution.status = 'TIMED_OUT' THEN 'TimedOut'
			WHEN execution.status = 'RUNNING' THEN 'InProgress' WHEN execution.status = 'SUCCEEDED' THEN 'Success'
			WHEN execution.status = 'ABORTED' THEN 'Cancelled' ELSE 'Failed' END;
		RETURN jsonb_build_object('CommandId', payload->'CommandId', 'InstanceId', payload->'InstanceId', 'DocumentName', 'AWS-RunShellScript',
			'Status', status, 'StatusDetails', status,
			'ResponseCode', CASE status WHEN 'Success' THEN 0 WHEN 'Failed' THEN coalesce(substring(execution.error FROM '^Shell\.ExitCode\.(\d+)$')::integer, 1) ELSE -1 END,
			'StandardOutputContent', left(coalesce(execution.output->>'stdout', execution.output::text, ''), 24000),
			'StandardErrorContent', left(coalesce(execution.cause, ''), 24000));
	END $f$;

	PERFORM _sfflow.aws_install_s3();
	PERFORM _sfflow.aws_install_athena();

	-- ------------------------------------------------------------ the resource map

	CREATE TABLE sfflow_aws.resource (pattern text PRIMARY KEY, resource text NOT NULL);
	INSERT INTO sfflow_aws.resource
	SELECT a.resource, coalesce('sql:sfflow_aws.' || a.handler, 'arn:aws:states:::states:startExecution') FROM _sfflow.aws_resources() AS a;
	FOR mapping IN SELECT * FROM sfflow_aws.resource LOOP
		PERFORM @extschema@.sf_map_resource(mapping.pattern, mapping.resource);
	END LOOP;

	-- Give services, by their names in a Resource, to an activity, which is made if it is not there: http to "http", all others
	-- to "aws". "aws-sdk" is every service of the SDK that has no other mapping. Functions here that replace a service do so no more.
	CREATE FUNCTION sfflow_aws.serve_outside(VARIADIC services text[]) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		service text;
		served_by text;
		mapped text;
	BEGIN
		FOREACH service IN ARRAY services LOOP
			IF service IS NULL OR service !~ '^[a-z][a-z0-9-]*$' THEN
				RAISE EXCEPTION 'there is no service "%"', service
					USING ERRCODE = 'invalid_parameter_value', HINT = 'Give names as in a Resource: glue, batch, ecs.';
			END IF;
			served_by := CASE service WHEN 'http' THEN 'http' ELSE 'aws' END;
			IF served_by NOT IN (SELECT a.activity FROM @extschema@.sf_activities AS a) THEN
				PERFORM @extschema@.sf_create_activity(served_by, '2 minutes');
			END IF;
			FOR mapped IN
				DELETE FROM sfflow_aws.resource AS r
				WHERE service <> 'aws-sdk' AND r.pattern LIKE ANY (ARRAY['arn:aws:states:::' || service || ':%', 'arn:aws:states:::aws-sdk:' || service || ':%'])
				RETURNING r.pattern
			LOOP
				PERFORM @extschema@.sf_unmap_resource(mapped);
			END LOOP;
			FOREACH mapped IN ARRAY CASE WHEN service IN ('aws-sdk', 'http') THEN ARRAY[service] ELSE ARRAY[service, 'aws-sdk:' || service] END LOOP
				mapped := 'arn:aws:states:::' || mapped || ':*';
				INSERT INTO sfflow_aws.resource VALUES (mapped, 'activity:' || served_by) ON CONFLICT DO NOTHING;
				PERFORM @extschema@.sf_map_resource(mapped, 'activity:' || served_by);
			END LOOP;
		END LOOP;
	END $f$;
	PERFORM sfflow_aws.serve_outside(VARIADIC coalesce(services, '{}'));
END $install$;
COMMENT ON FUNCTION @extschema@.sf_aws_install(text[]) IS
	'creates schema sfflow_aws with replacements for AWS services, and maps their resources to it, and other services to an activity';

-- The machines that it made for activities stay: their executions are history. A schema of another
-- role is not read: what it holds under the name of the table could be a view that runs code.
CREATE FUNCTION @extschema@.sf_aws_uninstall()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
AS $uninstall$
DECLARE
	mapped text;
	owner name := (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'sfflow_aws');
BEGIN
	IF owner <> current_user THEN
		RAISE EXCEPTION 'schema sfflow_aws belongs to "%"', owner
			USING ERRCODE = 'insufficient_privilege', HINT = 'Call sf_aws_uninstall() as that role.';
	END IF;
	FOR mapped IN SELECT pattern FROM sfflow_aws.resource LOOP
		BEGIN
			PERFORM @extschema@.sf_unmap_resource(mapped);
		EXCEPTION WHEN SQLSTATE 'SF017' THEN
			NULL;
		END;
	END LOOP;
	DROP SCHEMA sfflow_aws CASCADE;
END $uninstall$;
COMMENT ON FUNCTION @extschema@.sf_aws_uninstall() IS
	'drops schema sfflow_aws and the mappings to it; its items and rules are lost';

-- What sf_aws_install makes for S3: buckets and objects in tables, and functions with the shapes of its API.

-- Runs with the rights of its caller, to whom all that it makes belongs.
-- The checksum that S3 makes of an object: CRC-32, as in zlib, the highest byte first.
CREATE FUNCTION _sfflow.crc32(content bytea)
RETURNS bytea
AS 'MODULE_PATHNAME', 'sfflow_crc32'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _sfflow.aws_install_s3()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
BEGIN
	CREATE TABLE sfflow_aws.s3_bucket (
		name text COLLATE "C" PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$'),
		owner regrole NOT NULL DEFAULT quote_ident(current_user)::regrole,
		created_at timestamptz NOT NULL DEFAULT now()
	);
	COMMENT ON TABLE sfflow_aws.s3_bucket IS 'buckets; names and owners are visible to all, what is in them is not';

	-- Which roles may read a bucket besides its owner, and which may write, too; grantee 0: every role.
	CREATE TABLE sfflow_aws.s3_grant (
		bucket text COLLATE "C" REFERENCES sfflow_aws.s3_bucket ON DELETE CASCADE,
		grantee regrole,
		may_write boolean NOT NULL,
		PRIMARY KEY (bucket, grantee)
	);
	COMMENT ON TABLE sfflow_aws.s3_grant IS 'roles that may use another role''s bucket; "-" is every role';

	CREATE TABLE sfflow_aws.s3_object (
		bucket text COLLATE "C" REFERENCES sfflow_aws.s3_bucket,
		key text COLLATE "C",
		size bigint NOT NULL,
		etag text NOT NULL,
		content_type text NOT NULL,
		metadata jsonb NOT NULL,
		last_modified timestamptz NOT NULL,
		PRIMARY KEY (bucket, key)
	);
	COMMENT ON TABLE sfflow_aws.s3_object IS 'objects of buckets, without their contents';

	-- A chunk has at most 262,144 bytes; start is the place of its first byte in the content.
	CREATE TABLE sfflow_aws.s3_chunk (
		bucket text COLLATE "C",
		key text COLLATE "C",
		start bigint,
		data bytea NOT NULL CHECK (length(data) BETWEEN 1 AND 262144),
		PRIMARY KEY (bucket, key, start),
		FOREIGN KEY (bucket, key) REFERENCES sfflow_aws.s3_object ON DELETE CASCADE
	);
	COMMENT ON TABLE sfflow_aws.s3_chunk IS 'contents of objects, in pieces';

	CREATE TRIGGER keep_roles_at_insert AFTER INSERT ON sfflow_aws.s3_bucket REFERENCING NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');
	CREATE TRIGGER keep_roles_at_update AFTER UPDATE ON sfflow_aws.s3_bucket REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');
	CREATE TRIGGER keep_roles_at_delete AFTER DELETE ON sfflow_aws.s3_bucket REFERENCING OLD TABLE AS old_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');
	CREATE TRIGGER keep_roles_at_insert AFTER INSERT ON sfflow_aws.s3_grant REFERENCING NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('grantee');
	CREATE TRIGGER keep_roles_at_update AFTER UPDATE ON sfflow_aws.s3_grant REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('grantee');
	CREATE TRIGGER keep_roles_at_delete AFTER DELETE ON sfflow_aws.s3_grant REFERENCING OLD TABLE AS old_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('grantee');

	-- ------------------------------------------------------------ who may do what

	-- The buckets whose objects the current role may read, or write.
	CREATE FUNCTION sfflow_aws.s3_open_buckets(to_write boolean) RETURNS SETOF text LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT b.name FROM sfflow_aws.s3_bucket AS b
		WHERE pg_has_role(b.owner, 'USAGE')
			OR EXISTS (SELECT FROM sfflow_aws.s3_grant AS g
				WHERE g.bucket = b.name AND (g.may_write OR NOT to_write)
					AND CASE WHEN g.grantee = 0 THEN true ELSE pg_has_role(g.grantee, 'USAGE') END)
	$f$;

	ALTER TABLE sfflow_aws.s3_bucket ENABLE ROW LEVEL SECURITY;
	CREATE POLICY see ON sfflow_aws.s3_bucket FOR SELECT USING (true);
	CREATE POLICY own ON sfflow_aws.s3_bucket USING (pg_has_role(owner, 'USAGE'));
	ALTER TABLE sfflow_aws.s3_grant ENABLE ROW LEVEL SECURITY;
	CREATE POLICY see ON sfflow_aws.s3_grant FOR SELECT USING (true);
	CREATE POLICY own ON sfflow_aws.s3_grant
		USING (bucket = ANY (ARRAY(SELECT b.name FROM sfflow_aws.s3_bucket AS b WHERE pg_has_role(b.owner, 'USAGE'))));
	ALTER TABLE sfflow_aws.s3_object ENABLE ROW LEVEL SECURITY;
	CREATE POLICY read ON sfflow_aws.s3_object FOR SELECT USING (bucket = ANY (ARRAY(SELECT sfflow_aws.s3_open_buckets(false))));
	CREATE POLICY write ON sfflow_aws.s3_object USING (bucket = ANY (ARRAY(SELECT sfflow_aws.s3_open_buckets(true))));
	ALTER TABLE sfflow_aws.s3_chunk ENABLE ROW LEVEL SECURITY;
	CREATE POLICY read ON sfflow_aws.s3_chunk FOR SELECT USING (bucket = ANY (ARRAY(SELECT sfflow_aws.s3_open_buckets(false))));
	CREATE POLICY write ON sfflow_aws.s3_chunk USING (bucket = ANY (ARRAY(SELECT sfflow_aws.s3_open_buckets(true))));
	-- The policies decide about rows; a role needs USAGE on the schema, which its owner grants.
	GRANT SELECT, INSERT, UPDATE, DELETE ON sfflow_aws.s3_bucket, sfflow_aws.s3_grant, sfflow_aws.s3_object, sfflow_aws.s3_chunk TO PUBLIC;

	-- ------------------------------------------------------------ errors and checks

	-- Fail as S3 does; an error that the SDK has no exception for is S3Exception.
	CREATE FUNCTION sfflow_aws.s3_fail(code text, message text, status integer) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.fail_sdk('S3', CASE WHEN code IN ('NoSuchKey', 'NoSuchBucket', 'BucketAlreadyExists') THEN code || 'Exception' ELSE 'S3Exception' END,
			message, status)
	$f$;

	-- A member of a request that is text; NULL: it is not there.
	CREATE FUNCTION sfflow_aws.s3_field(payload jsonb, field text, required boolean DEFAULT false) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		kind text := jsonb_typeof(payload->field);
	BEGIN
		IF required AND coalesce(kind, 'null') = 'null' THEN
			PERFORM @extschema@.sf_raise('States.Runtime', format('The field ''%s'' is required but was missing', field));
		ELSIF kind NOT IN ('string', 'null') THEN
			PERFORM @extschema@.sf_raise('States.Runtime', format('The value for the field ''%s'' must be a STRING', field));
		END IF;
		RETURN payload->>field;
	END $f$;

	-- A member of a request that is a whole number within bounds, or a default.
	CREATE FUNCTION sfflow_aws.s3_number(payload jsonb, field text, otherwise integer) RETURNS integer LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF coalesce(jsonb_typeof(payload->field), 'null') = 'null' THEN
			RETURN otherwise;
		ELSIF jsonb_typeof(payload->field) <> 'number' OR (payload->>field)::numeric % 1 <> 0 THEN
			PERFORM @extschema@.sf_raise('States.Runtime', format('The value for the field ''%s'' must be an INTEGER', field));
		ELSIF (payload->>field)::numeric NOT BETWEEN 0 AND 2147483647 THEN
			PERFORM sfflow_aws.s3_fail('InvalidArgument', format('Argument %s must be an integer between 0 and 2147483647', lower(field)), 400);
		END IF;
		RETURN (payload->>field)::integer;
	END $f$;

	-- Refuse a key that no object can have.
	CREATE FUNCTION sfflow_aws.s3_check_key(key text) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF octet_length(key) > 1024 THEN
			PERFORM sfflow_aws.s3_fail('KeyTooLongError', 'Your key is too long', 400);
		END IF;
	END $f$;

	-- Check that a bucket is there, and open for the current role.
	CREATE FUNCTION sfflow_aws.s3_check_bucket(bucket text, to_write boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF bucket !~ '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$' THEN
			PERFORM sfflow_aws.s3_fail('InvalidBucketName', 'The specified bucket is not valid.', 400);
		ELSIF bucket NOT IN (SELECT b.name FROM sfflow_aws.s3_bucket AS b) THEN
			PERFORM sfflow_aws.s3_fail('NoSuchBucket', 'The specified bucket does not exist', 404);
		ELSIF bucket NOT IN (SELECT sfflow_aws.s3_open_buckets(to_write)) THEN
			PERFORM sfflow_aws.s3_fail('AccessDenied', 'Access Denied', 403);
		END IF;
	END $f$;

	-- The bucket of a request, by name or ARN.
	CREATE FUNCTION sfflow_aws.s3_bucket_of(payload jsonb, to_write boolean) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		bucket text := regexp_replace(sfflow_aws.s3_field(payload, 'Bucket', true), '^arn:[^:]*:s3:::', '');
	BEGIN
		PERFORM sfflow_aws.s3_check_bucket(bucket, to_write);
		RETURN bucket;
	END $f$;

	-- Refuse what a request cannot have here, because to ignore it would change its meaning.
	CREATE FUNCTION sfflow_aws.s3_refuse(payload jsonb, VARIADIC fields text[]) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF EXISTS (SELECT FROM unnest(fields) AS f WHERE coalesce(jsonb_typeof(payload->f), 'null') <> 'null') THEN
			PERFORM sfflow_aws.s3_fail('NotImplemented', 'A header you provided implies functionality that is not implemented', 501);
		END IF;
	END $f$;

	-- The metadata of a request: an object of strings of at most 2 kB.
	CREATE FUNCTION sfflow_aws.s3_metadata(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		metadata jsonb := coalesce(nullif(payload->'Metadata', 'null'), '{}');
	BEGIN
		IF jsonb_typeof(metadata) <> 'object' OR EXISTS (SELECT FROM jsonb_each(metadata) AS m WHERE jsonb_typeof(m.value) <> 'string') THEN
			PERFORM @extschema@.sf_raise('States.Runtime', 'The value for the field ''Metadata'' must be a MAP of STRINGs');
		ELSIF (SELECT sum(octet_length(m.key) + octet_length(m.value)) FROM jsonb_each_text(metadata) AS m) > 2048 THEN
			PERFORM sfflow_aws.s3_fail('MetadataTooLarge', 'Your metadata headers exceed the maximum allowed metadata size', 400);
		END IF;
		RETURN (SELECT coalesce(jsonb_object_agg(lower(m.key), m.value), '{}') FROM jsonb_each(metadata) AS m);
	END $f$;

	-- A time as the SDK writes it.
	CREATE FUNCTION sfflow_aws.s3_time(at timestamptz) RETURNS text LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
	$f$;

	-- ------------------------------------------------------------ objects

	-- Put bytes behind what an object has of its content.
	CREATE FUNCTION sfflow_aws.s3_add_chunks(bucket text, key text, start bigint, content bytea) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.s3_chunk
		SELECT $1, $2, $3 + n, substr(content, n + 1, 262144) FROM generate_series(0, length(content) - 1, 262144) AS n
	$f$;

	-- Put an object in the place of what has its key. NULL: there is one, and only a new one was wanted.
	CREATE FUNCTION sfflow_aws.s3_store(bucket text, key text, content bytea, content_type text, metadata jsonb, only_new boolean)
	RETURNS sfflow_aws.s3_object LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		stored sfflow_aws.s3_object;
	BEGIN
		IF key = '' THEN
			PERFORM @extschema@.sf_raise('States.Runtime', 'The field ''Key'' is required but was missing');
		ELSIF octet_length(key) > 1024 THEN
			PERFORM sfflow_aws.s3_fail('KeyTooLongError', 'Your key is too long', 400);
		END IF;
		INSERT INTO sfflow_aws.s3_object
		VALUES (bucket, key, length(content), md5(content), coalesce(content_type, 'application/octet-stream'), metadata, now())
		ON CONFLICT ON CONSTRAINT s3_object_pkey DO UPDATE SET size = EXCLUDED.size, etag = EXCLUDED.etag,
			content_type = EXCLUDED.content_type, metadata = EXCLUDED.metadata, last_modified = EXCLUDED.last_modified
		WHERE NOT only_new
		RETURNING * INTO stored;
		IF FOUND THEN
			DELETE FROM sfflow_aws.s3_chunk AS c WHERE c.bucket = s3_store.bucket AND c.key = s3_store.key;
			PERFORM sfflow_aws.s3_add_chunks(bucket, key, 0, content);
		END IF;
		RETURN stored;
	END $f$;

	-- The bytes of an object from first to last, counted from 0.
	CREATE FUNCTION sfflow_aws.s3_bytes(bucket text, key text, first bigint, last bigint) RETURNS bytea LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT coalesce(substr(string_agg(c.data, ''::bytea ORDER BY c.start), (first - min(c.start))::integer + 1, (last - first + 1)::integer), '')
		FROM sfflow_aws.s3_chunk AS c
		WHERE c.bucket = $1 AND c.key = $2 AND c.start > first - 262144 AND c.start <= last
	$f$;

	-- Bytes as text.
	CREATE FUNCTION sfflow_aws.s3_as_text(content bytea, key text) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		BEGIN
			RETURN convert_from(content, 'UTF8');
		EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
			NULL;
		END;
		PERFORM @extschema@.sf_raise('S3.SdkClientException', format('The content of "%s" is not text in UTF-8', key));
	END $f$;

	-- The object of a request; for a HEAD request no error has a text.
	CREATE FUNCTION sfflow_aws.s3_find(payload jsonb, head boolean DEFAULT false) RETURNS sfflow_aws.s3_object LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		wanted_key text := sfflow_aws.s3_field(payload, 'Key', true);
		wanted_bucket text := sfflow_aws.s3_bucket_of(payload, false);
		found_object sfflow_aws.s3_object;
	BEGIN
		PERFORM sfflow_aws.s3_check_key(wanted_key);
		PERFORM sfflow_aws.s3_refuse(payload, 'VersionId', 'PartNumber', 'IfMatch', 'IfNoneMatch', 'IfModifiedSince', 'IfUnmodifiedSince');
		SELECT * INTO found_object FROM sfflow_aws.s3_object AS o WHERE o.bucket = wanted_bucket AND o.key = wanted_key;
		IF NOT FOUND THEN
			PERFORM sfflow_aws.s3_fail('NoSuchKey', CASE WHEN head THEN 'null' ELSE 'The specified key does not exist.' END, 404);
		END IF;
		RETURN found_object;
	END $f$;

	-- Fail if bytes are too many to become text in a result.
	CREATE FUNCTION sfflow_aws.s3_check_size(key text, bytes bigint) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT @extschema@.sf_raise('States.DataLimitExceeded', format('The object "%s" has %s bytes; sfflow.max_payload_bytes allows %s.',
			key, bytes, allowed))
		FROM (SELECT setting::bigint AS allowed FROM pg_settings WHERE name = 'sfflow.max_payload_bytes') AS s
		WHERE bytes > allowed
	$f$;

	-- Which bytes a request wants: "bytes=5-9", "bytes=5-" or "bytes=-5".
	CREATE FUNCTION sfflow_aws.s3_range(payload jsonb, size bigint, OUT first bigint, OUT last bigint, OUT partial boolean) LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		bounds text[] := regexp_match(sfflow_aws.s3_field(payload, 'Range'), '^bytes=(\d{0,18})-(\d{0,18})$');
	BEGIN
		first := 0;
		last := size - 1;
		partial := bounds IS NOT NULL AND bounds <> '{"",""}';
		IF NOT partial THEN
			RETURN;
		ELSIF bounds[1] = '' THEN
			first := greatest(size - bounds[2]::bigint, 0);
		ELSE
			first := bounds[1]::bigint;
			last := least(last, nullif(bounds[2], '')::bigint);
		END IF;
		IF first >= size OR last < first THEN
			PERFORM sfflow_aws.s3_fail('InvalidRange', 'The requested range is not satisfiable', 416);
		END IF;
	END $f$;

	-- What getObject and headObject tell of an object.
	CREATE FUNCTION sfflow_aws.s3_description(object sfflow_aws.s3_object) RETURNS jsonb LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_build_object('AcceptRanges', 'bytes', 'ContentLength', object.size, 'ContentType', object.content_type,
			'ETag', '"' || object.etag || '"', 'LastModified', sfflow_aws.s3_time(object.last_modified), 'Metadata', object.metadata,
			'ServerSideEncryption', 'AES256')
	$f$;

	-- ------------------------------------------------------------ the API

	CREATE FUNCTION sfflow_aws.sdk_s3_get_object(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		object sfflow_aws.s3_object := sfflow_aws.s3_find(payload);
		part record := sfflow_aws.s3_range(payload, object.size);
		bytes bigint := part.last - part.first + 1;
	BEGIN
		PERFORM sfflow_aws.s3_check_size(object.key, bytes);
		RETURN sfflow_aws.s3_description(object)
			|| jsonb_build_object('ContentLength', bytes,
				'Body', sfflow_aws.s3_as_text(sfflow_aws.s3_bytes(object.bucket, object.key, part.first, part.last), object.key))
			|| CASE WHEN part.partial THEN jsonb_build_object('ContentRange', format('bytes %s-%s/%s', part.first, part.last, object.size)) ELSE '{}' END;
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_s3_head_object(payload jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.s3_description(sfflow_aws.s3_find(payload, true))
	$f$;

	-- A Body that is not a string is stored as JSON.
	-- Store a text as the content of a request's object.
	CREATE FUNCTION sfflow_aws.s3_put(payload jsonb, content text) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		key text := sfflow_aws.s3_field(payload, 'Key', true);
		bucket text := sfflow_aws.s3_bucket_of(payload, true);
		bytes bytea := convert_to(coalesce(content, ''), 'UTF8');
		only_new boolean := coalesce(sfflow_aws.s3_field(payload, 'IfNoneMatch') = '*', false);
		stored sfflow_aws.s3_object;
	BEGIN
		PERFORM sfflow_aws.s3_refuse(payload - CASE WHEN only_new THEN 'IfNoneMatch' ELSE '' END, 'IfMatch', 'IfNoneMatch');
		stored := sfflow_aws.s3_store(bucket, key, bytes, sfflow_aws.s3_field(payload, 'ContentType'), sfflow_aws.s3_metadata(payload), only_new);
		IF stored.key IS NULL THEN
			PERFORM sfflow_aws.s3_fail('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', 412);
		END IF;
		RETURN jsonb_build_object('ETag', '"' || stored.etag || '"', 'ServerSideEncryption', 'AES256',
			'ChecksumCRC32', encode(_sfflow.crc32(bytes), 'base64'), 'ChecksumType', 'FULL_OBJECT');
	END $f$;

	-- The SDK's integration sends a Body as the JSON text that it is in the request: a string in quotes.
	CREATE FUNCTION sfflow_aws.sdk_s3_put_object(payload jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.s3_put(payload, CASE coalesce(jsonb_typeof(body), 'null') WHEN 'null' THEN NULL
			WHEN 'string' THEN body::text ELSE @extschema@.sf_intrinsic('States.JsonToString($)', body) #>> '{}' END)
		FROM (SELECT payload->'Body' AS body) AS p
	$f$;

	-- A ResultWriter has the content of a file.
	CREATE FUNCTION sfflow_aws.s3_put_object(payload jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.s3_put(payload, payload->>'Body')
	$f$;

	CREATE FUNCTION sfflow_aws.sdk_s3_delete_object(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		wanted_key text := sfflow_aws.s3_field(payload, 'Key', true);
		wanted_bucket text := sfflow_aws.s3_bucket_of(payload, true);
	BEGIN
		PERFORM sfflow_aws.s3_check_key(wanted_key);
		PERFORM sfflow_aws.s3_refuse(payload, 'VersionId', 'IfMatch');
		DELETE FROM sfflow_aws.s3_object AS o WHERE o.bucket = wanted_bucket AND o.key = wanted_key;
		RETURN '{}';
	END $f$;

	-- A text without its %XX.
	CREATE FUNCTION sfflow_aws.s3_decode(encoded text) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT convert_from(string_agg(CASE WHEN part[1] IS NULL THEN convert_to(part[2], 'UTF8') ELSE decode(replace(part[1], '%', ''), 'hex') END,
			''::bytea ORDER BY n), 'UTF8')
		FROM regexp_matches(encoded, '((?:%[0-9A-Fa-f]{2})+)|([^%]+|%)', 'g') WITH ORDINALITY AS m (part, n)
	$f$;

	CREATE FUNCTION sfflow_aws.sdk_s3_copy_object(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		source text[] := regexp_match(sfflow_aws.s3_field(payload, 'CopySource', true), '^/?([^/]+)/([^?]+)$');
		new_key text := sfflow_aws.s3_field(payload, 'Key', true);
		new_bucket text := sfflow_aws.s3_bucket_of(payload, true);
		replaces boolean := coalesce(sfflow_aws.s3_field(payload, 'MetadataDirective') = 'REPLACE', false);
		found_object sfflow_aws.s3_object;
	BEGIN
		IF source IS NULL THEN
			PERFORM sfflow_aws.s3_fail('InvalidArgument', 'Copy Source must mention the source bucket and key: sourcebucket/sourcekey', 400);
		END IF;
		PERFORM sfflow_aws.s3_refuse(payload, 'CopySourceIfMatch', 'CopySourceIfNoneMatch', 'CopySourceIfModifiedSince', 'CopySourceIfUnmodifiedSince');
		found_object := sfflow_aws.s3_find(jsonb_build_object('Bucket', source[1], 'Key', sfflow_aws.s3_decode(source[2])));
		IF (found_object.bucket, found_object.key) = (new_bucket, new_key) AND NOT replaces THEN
			PERFORM sfflow_aws.s3_fail('InvalidRequest', 'This copy request is illegal because it is trying to copy an object to itself without changing the object''s metadata, storage class, website redirect location or encryption attributes.', 400);
		END IF;
		found_object := sfflow_aws.s3_store(new_bucket, new_key, sfflow_aws.s3_bytes(found_object.bucket, found_object.key, 0, found_object.size - 1),
			CASE WHEN replaces THEN sfflow_aws.s3_field(payload, 'ContentType') ELSE found_object.content_type END,
			CASE WHEN replaces THEN sfflow_aws.s3_metadata(payload) ELSE found_object.metadata END, false);
		RETURN jsonb_build_object('CopyObjectResult', jsonb_build_object('ETag', '"' || found_object.etag || '"', 'LastModified', sfflow_aws.s3_time(found_object.last_modified)),
			'ServerSideEncryption', 'AES256');
	END $f$;

	-- A text that sorts behind all that begin with a prefix, for the index; NULL: there is none that is surely a character.
	CREATE FUNCTION sfflow_aws.s3_behind(prefix text) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT left(short, -1) || chr(ascii(right(short, 1)) + 1) FROM (SELECT regexp_replace(prefix, '[^\x01-\x7d]+$', '') AS short) AS s WHERE short <> ''
	$f$;

	-- Objects in the order of their keys. With a delimiter, keys that have it behind the prefix are one entry per beginning.
	CREATE FUNCTION sfflow_aws.s3_list(bucket text, prefix text, delimiter text, after text, most integer)
	RETURNS TABLE (entry text, is_prefix boolean, object sfflow_aws.s3_object) LANGUAGE plpgsql STABLE ROWS 100
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		behind text := sfflow_aws.s3_behind(prefix);
	BEGIN
		IF delimiter IS NULL OR delimiter = '' THEN
			RETURN QUERY SELECT o.key, false, o FROM sfflow_aws.s3_object AS o
				WHERE o.bucket = s3_list.bucket AND o.key >= prefix AND (behind IS NULL OR o.key < behind) AND starts_with(o.key, prefix) AND o.key > after
				ORDER BY o.key LIMIT most;
			RETURN;
		END IF;
		RETURN QUERY SELECT DISTINCT ON (e.name) e.name, e.place > 0, CASE WHEN e.place = 0 THEN o END
			FROM sfflow_aws.s3_object AS o,
				LATERAL (SELECT position(delimiter IN substr(o.key, length(prefix) + 1))) AS p (place),
				LATERAL (SELECT p.place, CASE WHEN p.place > 0 THEN left(o.key, length(prefix) + p.place + length(delimiter) - 1) ELSE o.key END COLLATE "C") AS e (place, name)
			WHERE o.bucket = s3_list.bucket AND o.key >= prefix AND (behind IS NULL OR o.key < behind) AND starts_with(o.key, prefix) AND e.name > after
			ORDER BY e.name LIMIT most;
	END $f$;

	-- A page of at most 1,000 entries. The token is the last entry of the page before.
	CREATE FUNCTION sfflow_aws.sdk_s3_list_objects_v2(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		bucket text := sfflow_aws.s3_bucket_of(payload, false);
		prefix text := coalesce(sfflow_aws.s3_field(payload, 'Prefix'), '');
		delimiter text := sfflow_aws.s3_field(payload, 'Delimiter');
		token text := sfflow_aws.s3_field(payload, 'ContinuationToken');
		asked integer := sfflow_aws.s3_number(payload, 'MaxKeys', 1000);
		most integer := least(asked, 1000);
		after text := coalesce(sfflow_aws.s3_field(payload, 'StartAfter'), '');
		listed record;
	BEGIN
		IF token IS NOT NULL THEN
			BEGIN
				after := convert_from(decode(token, 'base64'), 'UTF8');
			EXCEPTION WHEN data_exception THEN
				after := NULL;
			END;
			IF after IS NULL THEN
				PERFORM sfflow_aws.s3_fail('InvalidArgument', 'The continuation token provided is incorrect', 400);
			END IF;
		END IF;
		SELECT count(*) AS entries, (array_agg(l.entry ORDER BY n DESC) FILTER (WHERE n <= most))[1] AS last,
			jsonb_agg(jsonb_build_object('Key', l.entry, 'ETag', '"' || (l.object).etag || '"', 'LastModified', sfflow_aws.s3_time((l.object).last_modified),
				'Size', (l.object).size, 'StorageClass', 'STANDARD') ORDER BY n) FILTER (WHERE NOT l.is_prefix AND n <= most) AS objects,
			jsonb_agg(jsonb_build_object('Prefix', l.entry) ORDER BY n) FILTER (WHERE l.is_prefix AND n <= most) AS prefixes
		INTO listed
		FROM sfflow_aws.s3_list(bucket, prefix, delimiter, after, most + 1) WITH ORDINALITY AS l (entry, is_prefix, object, n);
		RETURN jsonb_strip_nulls(jsonb_build_object('Contents', listed.objects, 'CommonPrefixes', listed.prefixes, 'Name', bucket, 'Prefix', prefix,
			'Delimiter', delimiter, 'StartAfter', sfflow_aws.s3_field(payload, 'StartAfter'), 'MaxKeys', asked, 'KeyCount', least(listed.entries, most),
			'ContinuationToken', token, 'IsTruncated', listed.entries > most AND most > 0,
			'NextContinuationToken', CASE WHEN listed.entries > most AND most > 0 THEN translate(encode(convert_to(listed.last, 'UTF8'), 'base64'), E'\n', '') END));
	END $f$;

	-- ------------------------------------------------------------ the items and results of a Distributed Map

	-- The content that an ItemReader reads.
	CREATE FUNCTION sfflow_aws.s3_get_object(payload jsonb) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		object sfflow_aws.s3_object := sfflow_aws.s3_find(payload);
	BEGIN
		PERFORM sfflow_aws.s3_check_size(object.key, object.size);
		RETURN sfflow_aws.s3_as_text(sfflow_aws.s3_bytes(object.bucket, object.key, 0, object.size - 1), object.key);
	END $f$;

	-- All objects with a prefix, as an ItemReader lists them.
	CREATE FUNCTION sfflow_aws.s3_list_objects_v2(payload jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT coalesce(jsonb_agg(jsonb_build_object('Key', l.entry, 'Etag', '"' || (l.object).etag || '"', 'Size', (l.object).size,
			'LastModified', extract(epoch FROM (l.object).last_modified)::bigint, 'StorageClass', 'STANDARD') ORDER BY n), '[]')
		FROM sfflow_aws.s3_list(sfflow_aws.s3_bucket_of(payload, false), coalesce(sfflow_aws.s3_field(payload, 'Prefix'), ''), NULL, '', NULL)
			WITH ORDINALITY AS l (entry, is_prefix, object, n)
	$f$;

	-- ------------------------------------------------------------ buckets and objects for SQL

	-- Make a bucket of the current role.
	CREATE FUNCTION sfflow_aws.create_bucket(name text) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		INSERT INTO sfflow_aws.s3_bucket VALUES (name) ON CONFLICT DO NOTHING;
		IF NOT FOUND THEN
			PERFORM sfflow_aws.s3_fail('BucketAlreadyExists', 'The requested bucket name is not available.', 409);
		END IF;
	EXCEPTION WHEN check_violation THEN
		PERFORM sfflow_aws.s3_fail('InvalidBucketName', 'The specified bucket is not valid.', 400);
	END $f$;

	-- Drop a bucket of the current role, with all that is in it if that is wanted.
	CREATE FUNCTION sfflow_aws.drop_bucket(name text, with_objects boolean DEFAULT false) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.s3_check_bucket(name, true);
		IF with_objects THEN
			DELETE FROM sfflow_aws.s3_object AS o WHERE o.bucket = name;
		END IF;
		DELETE FROM sfflow_aws.s3_bucket AS b WHERE b.name = drop_bucket.name;
		IF NOT FOUND THEN
			PERFORM sfflow_aws.s3_fail('AccessDenied', 'Access Denied', 403);
		END IF;
	EXCEPTION WHEN foreign_key_violation THEN
		PERFORM sfflow_aws.s3_fail('BucketNotEmpty', 'The bucket you tried to delete is not empty', 409);
	END $f$;

	-- Let a role, or 'public', read a bucket of the current role, or write, too.
	CREATE FUNCTION sfflow_aws.grant_bucket(bucket text, grantee name, may_write boolean DEFAULT false) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.s3_grant VALUES (bucket, CASE grantee WHEN 'public' THEN 0::oid ELSE quote_ident(grantee)::regrole END, may_write)
		ON CONFLICT ON CONSTRAINT s3_grant_pkey DO UPDATE SET may_write = EXCLUDED.may_write
	$f$;

	CREATE FUNCTION sfflow_aws.revoke_bucket(bucket text, grantee name) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		DELETE FROM sfflow_aws.s3_grant AS g
		WHERE g.bucket = revoke_bucket.bucket
			AND g.grantee = CASE revoke_bucket.grantee WHEN 'public' THEN 0::oid ELSE quote_ident(revoke_bucket.grantee)::regrole END
	$f$;

	-- Store an object of any bytes.
	CREATE FUNCTION sfflow_aws.put_object(bucket text, key text, content bytea, content_type text DEFAULT NULL) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.s3_check_bucket(bucket, true);
		PERFORM sfflow_aws.s3_store(bucket, key, content, content_type, '{}', false);
	END $f$;

	-- Put bytes behind the content of an object, or begin a new one: for contents that are too large for one call.
	CREATE FUNCTION sfflow_aws.append_object(bucket text, key text, content bytea, content_type text DEFAULT NULL) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		old_size bigint;
	BEGIN
		PERFORM sfflow_aws.s3_check_bucket(bucket, true);
		SELECT o.size INTO old_size FROM sfflow_aws.s3_object AS o
		WHERE o.bucket = append_object.bucket AND o.key = append_object.key FOR UPDATE;
		IF NOT FOUND THEN
			IF (sfflow_aws.s3_store(bucket, key, content, content_type, '{}', true)).key IS NOT NULL THEN
				RETURN;
			END IF;
			-- another session has stored it meanwhile
			SELECT o.size INTO old_size FROM sfflow_aws.s3_object AS o
			WHERE o.bucket = append_object.bucket AND o.key = append_object.key FOR UPDATE;
		END IF;
		PERFORM sfflow_aws.s3_add_chunks(bucket, key, old_size, content);
		UPDATE sfflow_aws.s3_object AS o
		SET size = old_size + length(content), etag = md5(o.etag || md5(content)) || '-' || coalesce(nullif(split_part(o.etag, '-', 2), '')::integer, 1) + 1, last_modified = now()
		WHERE o.bucket = append_object.bucket AND o.key = append_object.key;
	END $f$;

	-- The content of an object of at most 1 GB.
	CREATE FUNCTION sfflow_aws.get_object(bucket text, key text) RETURNS bytea LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		object sfflow_aws.s3_object := sfflow_aws.s3_find(jsonb_build_object('Bucket', bucket, 'Key', key));
	BEGIN
		RETURN sfflow_aws.s3_bytes(object.bucket, object.key, 0, object.size - 1);
	END $f$;

	-- The lines of an object of any size that are not blank, each a JSON value: items for an ItemReader, read chunk by chunk.
	CREATE FUNCTION sfflow_aws.object_lines(bucket text, key text) RETURNS SETOF jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		object sfflow_aws.s3_object := sfflow_aws.s3_find(jsonb_build_object('Bucket', bucket, 'Key', key));
		kept bytea := '';
		piece bytea;
		used integer;
	BEGIN
		FOR piece IN
			SELECT c.data FROM sfflow_aws.s3_chunk AS c WHERE c.bucket = object.bucket AND c.key = object.key ORDER BY c.start
		LOOP
			used := length(piece);
			WHILE used > 0 AND get_byte(piece, used - 1) <> 10 LOOP
				used := used - 1;
			END LOOP;
			IF used = 0 THEN
				kept := kept || piece;
				CONTINUE;
			END IF;
			RETURN QUERY SELECT line::jsonb
				FROM string_to_table(sfflow_aws.s3_as_text(kept || substr(piece, 1, used), key), E'\n') AS line WHERE line !~ '^\s*$';
			kept := substr(piece, used + 1);
		END LOOP;
		RETURN QUERY SELECT line::jsonb FROM sfflow_aws.s3_as_text(kept, key) AS line WHERE line !~ '^\s*$';
	END $f$;
END $install$;

-- What sf_aws_install makes for Athena: queries are SQL statements, run as the owner of the machine, with their results in tables.

-- Run one statement as the current role. n: -1 names of columns, 0 their types, from 1 on the rows, -2 how many they are
-- or how many rows were changed.
CREATE FUNCTION _sfflow.athena_rows(statement text, path text, OUT n integer, OUT fields text[])
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_athena_rows'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- Runs with the rights of its caller, to whom all that it makes belongs.
CREATE FUNCTION _sfflow.aws_install_athena()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
BEGIN
	CREATE TABLE sfflow_aws.athena_query (
		query_execution_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
		owner regrole NOT NULL DEFAULT quote_ident(current_user)::regrole,
		statement text NOT NULL,
		request jsonb NOT NULL,
		output_location text,
		error text,					-- NULL: it succeeded
		submitted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
		completed_at timestamptz
	);
	COMMENT ON TABLE sfflow_aws.athena_query IS 'statements that startQueryExecution has run';

	-- Numbered as by _sfflow.athena_rows.
	CREATE TABLE sfflow_aws.athena_row (
		query_execution_id uuid REFERENCES sfflow_aws.athena_query ON DELETE CASCADE,
		n integer,
		fields text[] NOT NULL,
		PRIMARY KEY (query_execution_id, n)
	);
	COMMENT ON TABLE sfflow_aws.athena_row IS 'results of these statements, as text';

	CREATE TRIGGER keep_roles_at_insert AFTER INSERT ON sfflow_aws.athena_query REFERENCING NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');
	CREATE TRIGGER keep_roles_at_update AFTER UPDATE ON sfflow_aws.athena_query REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');
	CREATE TRIGGER keep_roles_at_delete AFTER DELETE ON sfflow_aws.athena_query REFERENCING OLD TABLE AS old_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');

	ALTER TABLE sfflow_aws.athena_query ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON sfflow_aws.athena_query USING (pg_has_role(owner, 'USAGE'));
	ALTER TABLE sfflow_aws.athena_row ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON sfflow_aws.athena_row
		USING (EXISTS (SELECT FROM sfflow_aws.athena_query AS q WHERE q.query_execution_id = athena_row.query_execution_id));
	GRANT SELECT, INSERT, UPDATE, DELETE ON sfflow_aws.athena_query, sfflow_aws.athena_row TO PUBLIC;

	-- Fail as Athena does.
	CREATE FUNCTION sfflow_aws.athena_fail(message text, sdk boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF sdk THEN
			PERFORM sfflow_aws.fail_sdk('Athena', 'InvalidRequestException', message);
		ELSE
			PERFORM sfflow_aws.fail('Athena.InvalidRequestException', message, 'AmazonAthena', 'InvalidRequestException');
		END IF;
	END $f$;

	-- Refuse a request with a member that the service does not take.
	CREATE FUNCTION sfflow_aws.athena_check(problem text, sdk boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF problem IS NULL THEN
			RETURN;
		ELSIF sdk THEN
			PERFORM sfflow_aws.fail_sdk('Athena', 'AthenaException', problem);
		ELSE
			PERFORM sfflow_aws.fail('Athena.AmazonAthenaException', problem, 'AmazonAthena', 'ValidationException');
		END IF;
	END $f$;

	-- Where the file of a result goes: bucket and beginning of the key; NULL: there is none.
	CREATE FUNCTION sfflow_aws.athena_output(payload jsonb, sdk boolean) RETURNS text[] LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		location text := payload #>> '{ResultConfiguration,OutputLocation}';
		place text[] := regexp_match(location, '^s3://([^/]+)(?:/+(.*?)/*)?$');
	BEGIN
		IF location IS NULL THEN
			RETURN NULL;
		ELSIF place IS NULL THEN
			PERFORM sfflow_aws.athena_fail('outputLocation is not a valid S3 path.', sdk);
		ELSIF place[1] NOT IN (SELECT sfflow_aws.s3_open_buckets(true)) THEN
			PERFORM sfflow_aws.athena_fail('Unable to verify/create output bucket ' || place[1], sdk);
		END IF;
		RETURN ARRAY[place[1], coalesce(nullif(place[2], '') || '/', '')];
	END $f$;

	-- A row of a CSV file, in which every value is quoted.
	CREATE FUNCTION sfflow_aws.athena_csv(fields text[]) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT string_agg(coalesce('"' || replace(field, '"', '""') || '"', ''), ',' ORDER BY i) || E'\n'
		FROM unnest(fields) WITH ORDINALITY AS f (field, i)
	$f$;

	-- Write the result of a query into a bucket; returns where.
	CREATE FUNCTION sfflow_aws.athena_write(query uuid, place text[]) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		key text := place[2] || query || '.csv';
		part text;
	BEGIN
		PERFORM sfflow_aws.put_object(place[1], key, '', 'text/csv');
		FOR part IN
			SELECT string_agg(sfflow_aws.athena_csv(r.fields), '' ORDER BY r.n) FROM sfflow_aws.athena_row AS r
			WHERE r.query_execution_id = query AND r.n NOT IN (-2, 0) GROUP BY (r.n + 1) / 5000 ORDER BY (r.n + 1) / 5000
		LOOP
			PERFORM sfflow_aws.append_object(place[1], key, convert_to(part, 'UTF8'));
		END LOOP;
		RETURN format('s3://%s/%s', place[1], key);
	END $f$;

	-- Run a statement as the current role, with a search_path in which the request's Database comes first. A statement that
	-- fails is a query that failed; one that cannot be parsed is none.
	CREATE FUNCTION sfflow_aws.athena_run(payload jsonb, path text, sdk boolean) RETURNS sfflow_aws.athena_query LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		execution sfflow_aws.athena_query;
		place text[];
		problem text;
	BEGIN
		execution.statement := sfflow_aws.s3_field(payload, 'QueryString', true);
		PERFORM sfflow_aws.athena_check(sfflow_aws.validation_errors(
			sfflow_aws.member_problem('queryString', payload->'QueryString', 1),
			sfflow_aws.size_problem('clientRequestToken', payload->'ClientRequestToken', 32, 128),
			sfflow_aws.size_problem('workGroup', payload->'WorkGroup', 1, 128, '[a-zA-Z0-9._-]{1,128}'),
			sfflow_aws.size_problem('queryExecutionContext.database', payload #> '{QueryExecutionContext,Database}', 1, 255)), sdk);
		place := sfflow_aws.athena_output(payload, sdk);
		IF octet_length(execution.statement) > 262144 THEN
			PERFORM sfflow_aws.athena_fail('QueryString is longer than 262144 bytes', sdk);
		ELSIF jsonb_array_length(CASE jsonb_typeof(payload->'ExecutionParameters') WHEN 'array' THEN payload->'ExecutionParameters' ELSE '[]' END) > 0 THEN
			PERFORM sfflow_aws.athena_fail('ExecutionParameters are not supported', sdk);
		END IF;
		INSERT INTO sfflow_aws.athena_query (statement, request) VALUES (execution.statement, payload - 'QueryString') RETURNING * INTO execution;
		BEGIN
			INSERT INTO sfflow_aws.athena_row
			SELECT execution.query_execution_id, r.n, r.fields
			FROM _sfflow.athena_rows(execution.statement, concat_ws(', ', quote_ident(payload #>> '{QueryExecutionContext,Database}'), nullif(path, ''))) AS r;
			IF place IS NOT NULL THEN
				execution.output_location := sfflow_aws.athena_write(execution.query_execution_id, place);
			END IF;
		EXCEPTION
			WHEN serialization_failure OR deadlock_detected THEN
				RAISE;
			WHEN syntax_error THEN
				problem := SQLERRM;
			WHEN OTHERS THEN
				execution.error := SQLERRM;
		END;
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.athena_fail(problem, sdk);
		END IF;
		UPDATE sfflow_aws.athena_query AS q
		SET output_location = execution.output_location, error = execution.error, completed_at = clock_timestamp()
		WHERE q.query_execution_id = execution.query_execution_id RETURNING * INTO execution;
		RETURN execution;
	END $f$;

	-- A time: as milliseconds, or as the SDK writes it.
	CREATE FUNCTION sfflow_aws.athena_time(at timestamptz, sdk boolean) RETURNS jsonb LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN sdk THEN to_jsonb(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
			ELSE to_jsonb((extract(epoch FROM at) * 1000)::bigint) END
	$f$;

	-- A query as GetQueryExecution describes it.
	CREATE FUNCTION sfflow_aws.athena_description(execution sfflow_aws.athena_query, sdk boolean) RETURNS jsonb LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_build_object('QueryExecution', jsonb_build_object('QueryExecutionId', execution.query_execution_id, 'Query', execution.statement,
			'StatementType', CASE WHEN execution.statement ~* '^[\s(]*(select|with|insert|update|delete|merge|values|table)\M' THEN 'DML'
				WHEN execution.statement ~* '^\s*(create|alter|drop|comment|grant|revoke|truncate)\M' THEN 'DDL' ELSE 'UTILITY' END,
			'QueryExecutionContext', coalesce(execution.request->'QueryExecutionContext', '{}'),
			'ResultConfiguration', jsonb_strip_nulls(jsonb_build_object('OutputLocation', execution.output_location)),
			'Status', jsonb_strip_nulls(jsonb_build_object('State', CASE WHEN execution.error IS NULL THEN 'SUCCEEDED' ELSE 'FAILED' END,
				'SubmissionDateTime', sfflow_aws.athena_time(execution.submitted_at, sdk), 'CompletionDateTime', sfflow_aws.athena_time(execution.completed_at, sdk),
				'StateChangeReason', execution.error,
				'AthenaError', CASE WHEN execution.error IS NOT NULL THEN jsonb_build_object('ErrorCategory', 2, 'Retryable', false, 'ErrorMessage', execution.error) END)),
			'Statistics', jsonb_build_object('DataScannedInBytes', 0, 'EngineExecutionTimeInMillis', t.elapsed, 'TotalExecutionTimeInMillis', t.elapsed,
				'QueryQueueTimeInMillis', 0, 'ServiceProcessingTimeInMillis', 0),
			'WorkGroup', coalesce(execution.request->>'WorkGroup', 'primary')))
		FROM (SELECT (extract(epoch FROM execution.completed_at - execution.submitted_at) * 1000)::bigint) AS t (elapsed)
	$f$;

	-- With .sync, a query that fails fails the task.
	CREATE FUNCTION sfflow_aws.athena_run_sync(payload jsonb, path text) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		execution sfflow_aws.athena_query := sfflow_aws.athena_run(payload, path, false);
		description jsonb := sfflow_aws.athena_description(execution, false);
	BEGIN
		IF execution.error IS NOT NULL THEN
			PERFORM @extschema@.sf_raise('States.TaskFailed', (description->'QueryExecution')::text);
		END IF;
		RETURN description;
	END $f$;

	-- The query of a request.
	CREATE FUNCTION sfflow_aws.athena_find(payload jsonb, sdk boolean) RETURNS sfflow_aws.athena_query LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		wanted text := sfflow_aws.s3_field(payload, 'QueryExecutionId', true);
		execution sfflow_aws.athena_query;
	BEGIN
		PERFORM sfflow_aws.athena_check(sfflow_aws.validation_errors(
			sfflow_aws.member_problem('queryExecutionId', payload->'QueryExecutionId', 1, 128, '\S+'),
			sfflow_aws.size_problem('nextToken', payload->'NextToken', 1, 1024)), sdk);
		IF wanted ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
			SELECT * INTO execution FROM sfflow_aws.athena_query AS q WHERE q.query_execution_id = wanted::uuid;
		END IF;
		IF execution.query_execution_id IS NULL THEN
			PERFORM sfflow_aws.athena_fail(format('QueryExecution %s was not found', wanted), sdk);
		END IF;
		RETURN execution;
	END $f$;

	CREATE FUNCTION sfflow_aws.athena_get(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.athena_description(sfflow_aws.athena_find(payload, sdk), sdk)
	$f$;

	-- A query has ended when its task has.
	CREATE FUNCTION sfflow_aws.athena_stop(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.athena_find(payload, sdk);
		RETURN '{}';
	END $f$;

	-- A column as Athena describes it.
	CREATE FUNCTION sfflow_aws.athena_column(name text, type text) RETURNS jsonb LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_build_object('CatalogName', 'hive', 'SchemaName', '', 'TableName', '', 'Name', $1, 'Label', $1, 'Nullable', 'UNKNOWN',
			'Type', t.athena, 'Precision', t.precision, 'Scale', 0, 'CaseSensitive', t.athena IN ('varchar', 'char'))
		FROM (SELECT coalesce(k.athena, CASE WHEN $2 LIKE '%[]' THEN 'array' ELSE 'varchar' END), coalesce(k.precision, 2147483647)
			FROM (SELECT) AS one LEFT JOIN (VALUES ('smallint', 'smallint', 5), ('integer', 'integer', 10), ('bigint', 'bigint', 19), ('real', 'float', 17),
				('double precision', 'double', 17), ('numeric', 'decimal', 38), ('boolean', 'boolean', 0), ('character', 'char', 2147483647), ('date', 'date', 0),
				('timestamp without time zone', 'timestamp', 3), ('timestamp with time zone', 'timestamp with time zone', 3),
				('json', 'json', 0), ('jsonb', 'json', 0), ('bytea', 'varbinary', 1073741824)) AS k (own, athena, precision) ON k.own = $2) AS t (athena, precision)
	$f$;

	-- A page of at most 1,000 rows, the first of which has the names of the columns. The token is the number of the next row.
	CREATE FUNCTION sfflow_aws.athena_results(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		execution sfflow_aws.athena_query := sfflow_aws.athena_find(payload, sdk);
		most integer := sfflow_aws.s3_number(payload, 'MaxResults', 1000);
		token text := sfflow_aws.s3_field(payload, 'NextToken');
		names text[] := (SELECT fields FROM sfflow_aws.athena_row WHERE query_execution_id = execution.query_execution_id AND n = -1);
		types text[] := (SELECT fields FROM sfflow_aws.athena_row WHERE query_execution_id = execution.query_execution_id AND n = 0);
		total bigint := (SELECT fields[1] FROM sfflow_aws.athena_row WHERE query_execution_id = execution.query_execution_id AND n = -2);
		result jsonb;
	BEGIN
		IF execution.error IS NOT NULL THEN
			PERFORM sfflow_aws.athena_fail('Query did not finish successfully. Final query state: FAILED', sdk);
		ELSIF most NOT BETWEEN 1 AND 1000 THEN
			PERFORM sfflow_aws.athena_fail('MaxResults must be between 1 and 1000', sdk);
		ELSIF token !~ '^\d{1,9}$' THEN
			PERFORM sfflow_aws.athena_fail('Invalid NextToken', sdk);
		END IF;
		-- Row -1 has the place 0, row 1 the place 1.
		SELECT coalesce(jsonb_agg(jsonb_build_object('Data', (
			SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('VarCharValue', f.field)) ORDER BY f.i), '[]')
			FROM unnest(r.fields) WITH ORDINALITY AS f (field, i))) ORDER BY r.place), '[]') INTO result
		FROM (SELECT greatest(a.n, 0) AS place, a.fields FROM sfflow_aws.athena_row AS a
			WHERE a.query_execution_id = execution.query_execution_id AND a.n NOT IN (-2, 0)
				AND a.n >= CASE coalesce(token, '0') WHEN '0' THEN -1 ELSE token::integer END
				AND a.n < coalesce(token::integer, 0) + most) AS r;
		RETURN jsonb_strip_nulls(jsonb_build_object(
			'ResultSet', jsonb_build_object('Rows', result, 'ResultSetMetadata', jsonb_build_object('ColumnInfo',
				(SELECT coalesce(jsonb_agg(sfflow_aws.athena_column(c.name, c.type) ORDER BY c.i), '[]') FROM unnest(names, types) WITH ORDINALITY AS c (name, type, i)))),
			'UpdateCount', CASE WHEN names IS NULL THEN total ELSE 0 END,
			'NextToken', CASE WHEN names IS NOT NULL AND coalesce(token::integer, 0) + most <= total THEN (coalesce(token::integer, 0) + most)::text END));
	END $f$;

	-- Forget queries of the current role, and their results; files in buckets stay. Returns how many queries.
	CREATE FUNCTION sfflow_aws.drop_queries(older_than interval) RETURNS bigint LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		WITH dropped AS (DELETE FROM sfflow_aws.athena_query WHERE completed_at < now() - older_than RETURNING 1)
		SELECT count(*) FROM dropped
	$f$;

	-- What the Resources are mapped to. The statement is run with the search_path of the task.
	CREATE FUNCTION sfflow_aws.athena_start_query_execution(payload jsonb) RETURNS jsonb LANGUAGE sql
		RETURN jsonb_build_object('QueryExecutionId', (sfflow_aws.athena_run(payload, current_setting('search_path'), false)).query_execution_id);
	CREATE FUNCTION sfflow_aws.athena_start_query_execution_sync(payload jsonb) RETURNS jsonb LANGUAGE sql
		RETURN sfflow_aws.athena_run_sync(payload, current_setting('search_path'));
	CREATE FUNCTION sfflow_aws.athena_stop_query_execution(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.athena_stop(payload, false);
	CREATE FUNCTION sfflow_aws.athena_get_query_execution(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.athena_get(payload, false);
	CREATE FUNCTION sfflow_aws.athena_get_query_results(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.athena_results(payload, false);
	CREATE FUNCTION sfflow_aws.sdk_athena_start_query_execution(payload jsonb) RETURNS jsonb LANGUAGE sql
		RETURN jsonb_build_object('QueryExecutionId', (sfflow_aws.athena_run(payload, current_setting('search_path'), true)).query_execution_id);
	CREATE FUNCTION sfflow_aws.sdk_athena_stop_query_execution(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.athena_stop(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_athena_get_query_execution(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.athena_get(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_athena_get_query_results(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN sfflow_aws.athena_results(payload, true);
END $install$;

-- Who may use what. What ALTER DEFAULT PRIVILEGES of the installing role gave away is taken back.

-- The private schema: its owner alone.
DO $rights$
DECLARE
	given record;
BEGIN
	FOR given IN
		SELECT 'SCHEMA _sfflow' AS object, a.grantee
		FROM pg_namespace AS n, aclexplode(n.nspacl) AS a
		WHERE n.nspname = '_sfflow' AND a.grantee <> n.nspowner
		UNION
		SELECT format('%s %s', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass), a.grantee
		FROM pg_class AS c, aclexplode(c.relacl) AS a
		WHERE c.relnamespace = '_sfflow'::regnamespace AND a.grantee <> c.relowner
	LOOP
		EXECUTE format('REVOKE ALL ON %s FROM %s', given.object,
			CASE given.grantee WHEN 0 THEN 'PUBLIC' ELSE given.grantee::regrole::text END);
	END LOOP;
END $rights$;

-- Functions. Those of the private schema are for its owner, those of the extension's schema for PUBLIC, but for these
-- exceptions.
DO $rights$
DECLARE
	-- For superusers and the extension's owner, and whom these give EXECUTE
	administrative name[] := '{sf_access_key, sf_enable, sf_disable, sf_check, sf_run_due, sf_purge_due}';
	-- Views and pg_cron call these with the rights of their user. Each checks its caller, or tells nothing that is
	-- worth hiding.
	public name[] := '{athena_rows, aws_install_athena, aws_install_s3, aws_resources, branch_place, can_read,
		console_activities, console_ahead, console_alerts, console_create_rule, console_cut, console_deadlines,
		console_diff, console_each, console_event_payload, console_events, console_execution, console_executions, console_failed_item, console_failed_jobs, console_holds, console_jobs,
		console_layout, console_limit, console_limits, console_machine, console_machines, console_may_limit,
		console_may_release,
		console_night, console_one, console_operations, console_payload, console_plan, console_plan_schedule,
		console_progress, console_rights, console_rules, console_schedule, console_schedules, console_set_limit, console_set_schedule,
		console_start, console_state, console_test_pattern, console_test_state, console_timeline, console_tonight,
		console_tried, console_validate, console_waits, crc32, cron_runs, event_page, event_payload, event_types, events, health, histogram_add,
		histogram_below, histogram_percentiles, histogram_sum, history, is_on_page, job_label, job_relations, jobs, jobs_ahead, longest_running, machine_rights,
		map_run_arn, may_create, missing_resources, newest, propose_mapping, template_part_exists, run_schedule, schedule_latest, schedule_next,
		schedule_next_run, schedule_status, schedule_zone, spans, start_scheduled, task_slots, tasks_from, took_ms,
		unfolded_jobs, unfolded_metrics, unfolded_retries, waiting_on, workers}';
	made record;
	given record;
BEGIN
	FOR made IN
		SELECT p.oid::regprocedure AS routine, p.proowner AS owner, coalesce(p.proacl, acldefault('f', p.proowner)) AS acl,
			CASE p.pronamespace WHEN '_sfflow'::regnamespace THEN p.proname = ANY (public)
				ELSE p.proname <> ALL (administrative) END AS is_public
		FROM pg_proc AS p
		JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
		WHERE e.extname = 'sfflow'
	LOOP
		FOR given IN SELECT DISTINCT a.grantee FROM aclexplode(made.acl) AS a WHERE a.grantee <> made.owner LOOP
			EXECUTE format('REVOKE ALL ON ROUTINE %s FROM %s', made.routine,
				CASE given.grantee WHEN 0 THEN 'PUBLIC' ELSE given.grantee::regrole::text END);
		END LOOP;
		IF made.is_public THEN
			EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO PUBLIC', made.routine);
		END IF;
	END LOOP;
END $rights$;

-- Every role may name what is in the private schema, since pg_cron runs a function of it as the owner of
-- a schedule. No table is granted, and each function that PUBLIC may execute checks its caller.
GRANT USAGE ON SCHEMA _sfflow TO PUBLIC;
