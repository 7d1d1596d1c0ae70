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
-- (branch_no is null). Slots are taken under a lock by number (src/feature/limit/limit_slot.c).
CREATE TABLE _sfflow.limit_slot (
	limit_no bigint NOT NULL,
	queue bigint NOT NULL,				-- hash of the key's value
	slot integer NOT NULL,
	execution_no bigint NOT NULL,
	branch_no bigint,
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
