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

--@slot tables
