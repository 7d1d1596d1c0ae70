-- Holds: nothing of what they name begins. Each backend keeps those of what it works with (src/store/hold.c).

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

-- One row per branch that waits for the end of a hold, or for a limit: its due_at is NULL. The row of a branch that
-- went on in another way, because its execution was stopped, means nothing.
CREATE TABLE _sfflow.held (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	hold_no bigint,
	limit_no bigint,					-- waits for this limit, in the queue of one value of its key,
	queue bigint,
	rank timestamptz,					-- in this order
	since timestamptz,					-- when it could have begun
	PRIMARY KEY (execution_no, branch_no)
);

CREATE INDEX held_hold ON _sfflow.held (hold_no) WHERE hold_no IS NOT NULL;
CREATE INDEX held_queue ON _sfflow.held (limit_no, queue, rank, execution_no, branch_no) WHERE limit_no IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.hold_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.hold', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.held', '');
