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
-- EXTERNAL.  status: see src/store/task/task.h.
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
	PRIMARY KEY (execution_no, branch_no),
	CONSTRAINT task_status CHECK (CASE
		WHEN status = @TASK_STATUS_QUEUED@ THEN activity_no IS NOT NULL
			AND num_nonnulls(started_at, heartbeat_at, lease_until) = 0
		WHEN status IN (@TASK_STATUS_TAKEN@, @TASK_STATUS_DEAD@) THEN activity_no IS NOT NULL AND started_at IS NOT NULL
		WHEN status = @TASK_STATUS_TOKEN@ THEN activity_no IS NULL AND lease_until IS NULL
		ELSE status = @TASK_STATUS_ANSWERED@ END)
) WITH (fillfactor = 70);

-- What waits to be taken, oldest first.
CREATE INDEX task_queued ON _sfflow.task (activity_no, scheduled_at) WHERE status = @TASK_STATUS_QUEUED@;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.activity_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.activity', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.task', '');
