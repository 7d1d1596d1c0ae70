-- Tables: branches, and what keeps them from going on.

CREATE SEQUENCE _sfflow.branch_no CACHE 256;

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
	place smallint NOT NULL DEFAULT 0,	-- where it stands that is not due: SfBranchPlace
	owner regrole NOT NULL,				-- of the machine: whose turn it is at
	attempt integer NOT NULL DEFAULT 0,	-- of this visit: $$.State.RetryCount
	generation integer NOT NULL DEFAULT 0,	-- grows with each dispatch and abort
	entered_event integer NOT NULL DEFAULT 0,
	last_event integer NOT NULL DEFAULT 0,	-- previous_event_id of the next event
	payload_event integer NOT NULL DEFAULT 0,	-- event that holds the payload, 0: none
	pending integer NOT NULL DEFAULT 0,	-- JOIN, NET: children that have not ended; of a job: those that it waits for
	next_index integer NOT NULL DEFAULT 0,	-- JOIN: iterations begun so far
	total integer NOT NULL DEFAULT 0,	-- JOIN: iterations in all
	max_concurrency integer NOT NULL DEFAULT 0,
	failed_event integer NOT NULL DEFAULT 0,	-- JOIN: event of the first failure
	transitions integer NOT NULL DEFAULT 0,	-- of it and of its children that have ended
	map_run_no bigint,					-- Distributed Map: the run of item executions
	failing boolean NOT NULL DEFAULT false,	-- JOIN, NET: a child has failed, and it is not aborting
	aborting boolean NOT NULL DEFAULT false,	-- JOIN, NET: ends as ABORTED when its children have
	uncatchable boolean NOT NULL DEFAULT false,	-- of 1.0, always false: that an error cannot be caught its name tells
	due_at timestamptz,					-- NULL: it has ended, or place and phase say what it waits for
	entered_at timestamptz,
	started_at timestamptz,				-- of the task that runs
	deadline timestamptz,				-- of the task that runs
	iterations integer[],				-- Map indexes, outermost first
	retry_counts integer[],				-- one per retrier
	jobs integer[],						-- SHARED: number, scope and state of each job of the row (net_job_rows.c)
	error text,
	cause text,
	sqlstate text,						-- ANSWERED, MAP_ANSWERED, KEPT: with which a long task failed
	payload jsonb,						-- input of the state; DONE: output
	variables jsonb,
	task_payload jsonb,					-- ANNOUNCED
	outcome jsonb,						-- ANSWERED, MAP_ANSWERED, KEPT: of the task
	join_input jsonb,					-- JOIN: items of a Map; input of the jobs of a net, if it is not the state's
	item jsonb,							-- of the Map's iteration, if a state of it looks at $$.Map.Item
	last_inner_event integer NOT NULL DEFAULT 0,	-- DONE: the last event before that of its end
	outcome_failed boolean NOT NULL DEFAULT false,	-- ANSWERED, MAP_ANSWERED, KEPT: the outcome is an error
	unmet boolean NOT NULL DEFAULT false,	-- a job that waits: one of its After has ended in another way than it needs
	job_ends integer[],					-- of a JobNet that goes on as a whole: how its jobs have ended (net_job_rows.c)
	items_unread boolean NOT NULL DEFAULT false,	-- of the tasks of a Distributed Map, it is the one that reads
	PRIMARY KEY (execution_no, branch_no),
	CONSTRAINT branch_number CHECK (CASE branch_no
		WHEN @BRANCH_TIMEOUT@ THEN phase = @PHASE_TIMEOUT@
		WHEN @BRANCH_STOP@ THEN phase = @PHASE_STOP@
		ELSE branch_no >= @BRANCH_ROOT@ AND phase NOT IN (@PHASES_OF_EXECUTION@) END),
	CONSTRAINT branch_phase CHECK ((due_at IS NULL OR phase NOT IN (@PHASES_ENDED@))
		AND (task_payload IS NULL OR phase = @PHASE_ANNOUNCED@)
		AND (outcome IS NULL AND sqlstate IS NULL AND NOT outcome_failed OR phase IN (@PHASES_WITH_OUTCOME@))
		AND (outcome IS NULL OR NOT outcome_failed)
		AND (NOT failing AND NOT aborting OR phase IN (@PHASES_WITH_CHILDREN@))
		AND NOT (failing AND aborting) AND NOT uncatchable
		AND (last_inner_event = 0 OR phase = @PHASE_DONE@)
		AND phase <= @PHASE_LAST@),
	CONSTRAINT branch_place CHECK (CASE place
		WHEN @BRANCH_PLACE_NONE@ THEN due_at IS NOT NULL OR phase IN (@PHASES_ENDED@, @PHASES_WAITING@)
		WHEN @BRANCH_PLACE_PARKED@ THEN due_at IS NULL AND phase IN (@PHASES_BEFORE_GATE@)
		WHEN @BRANCH_PLACE_SHARED@ THEN phase = @PHASE_DONE@
		ELSE place IN (@BRANCH_PLACE_WAITS@, @BRANCH_PLACE_READY@) AND due_at IS NULL AND phase = @PHASE_ENTER@ END
		AND (place = @BRANCH_PLACE_SHARED@) = (jobs IS NOT NULL)),
	CONSTRAINT branch_map_run CHECK (CASE
		WHEN map_run_no IS NULL THEN NOT items_unread AND phase NOT IN (@PHASES_OF_MAP@)
		WHEN items_unread THEN phase IN (@PHASES_READING@)
		ELSE phase IN (@PHASES_WITH_ITEMS@) END)
);

-- Everything that is or will be due: owners take turns, each has its own in order.
CREATE INDEX branch_due ON _sfflow.branch (owner, due_at) WHERE due_at IS NOT NULL;

-- The children of a Parallel or Map state.
CREATE INDEX branch_parent ON _sfflow.branch (execution_no, parent_no, place, branch_index)
	WHERE parent_no IS NOT NULL;

-- One row per branch that a feature keeps from going on, as until the end of a hold, or until it is its turn under a
-- limit: its place is PARKED. The row of a branch that is not there, because its execution was stopped, means nothing.
CREATE TABLE _sfflow.parked (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	feature text COLLATE "C" NOT NULL,	-- hold, limit or start_key
	object_no bigint,					-- hold_no or limit_no: waits for this one,
	queue bigint,						-- in one of its queues: that of one value of the limit's key,
	as_if_since timestamptz,			-- in the order of kind and of this time: since, less a minute for each step of
										-- the execution's priority (order_of in src/feature/limit/limit_gate.c), so
										-- that old ones overtake in the end
	since timestamptz,					-- in a queue: when it could have begun
	kind smallint NOT NULL DEFAULT @PARKED_FOR_OBJECT@,	-- SfParkedKind (src/store/branch/park.h)
	PRIMARY KEY (execution_no, branch_no),
	CONSTRAINT parked_kind CHECK (CASE kind
		WHEN @PARKED_FOR_OBJECT@ THEN object_no IS NOT NULL AND num_nonnulls(queue, as_if_since, since) = 0
		WHEN @PARKED_IN_LINE@ THEN num_nonnulls(object_no, queue, as_if_since, since) = 0
		ELSE kind IN (@PARKED_AHEAD@, @PARKED_QUEUED@) AND num_nulls(object_no, queue, as_if_since, since) = 0 END)
);

-- One feature alone has queues: the number tells the object.
CREATE INDEX parked_queue ON _sfflow.parked (object_no, queue, kind, as_if_since, execution_no, branch_no)
	WHERE queue IS NOT NULL;
CREATE INDEX parked_object ON _sfflow.parked (object_no) WHERE queue IS NULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.branch_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.branch', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.parked', '');
