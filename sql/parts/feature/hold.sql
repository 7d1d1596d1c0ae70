-- Holds, with which nothing begins of what they name, and marks of jobs: the feature hold.

--@into tables
-- Holds: nothing of what they name begins. Each backend keeps those of what it works with (src/feature/hold/hold.c).

CREATE SEQUENCE _sfflow.hold_no;

CREATE TABLE _sfflow.hold (
	hold_no bigint NOT NULL DEFAULT nextval('_sfflow.hold_no') PRIMARY KEY,
	kind text COLLATE "C" NOT NULL,		-- machine, execution, schedule, activity, event, human or resource:
										-- the words of src/store/role/object_kind.h
	name text COLLATE "C" NOT NULL,
	state text COLLATE "C",				-- of a machine or an execution; NULL: all states
	machine_no integer,					-- of a machine or an execution
	execution_no bigint,
	for_owner regrole,					-- of a resource: for this role's machines alone; NULL: for all
	held_at timestamptz NOT NULL,
	held_by text NOT NULL,
	reason text,
	CONSTRAINT hold_kind CHECK (CASE kind
		WHEN @OBJECT_STATE_MACHINE_WORD@ THEN machine_no IS NOT NULL AND execution_no IS NULL
		WHEN @OBJECT_EXECUTION_WORD@ THEN machine_no IS NOT NULL AND execution_no IS NOT NULL
		ELSE kind IN (@OBJECTS_NAMED_WORDS@) AND machine_no IS NULL AND execution_no IS NULL END),
	CONSTRAINT hold_state CHECK (state IS NULL
		OR kind IN (@OBJECT_STATE_MACHINE_WORD@, @OBJECT_EXECUTION_WORD@) AND state <> ''),
	CONSTRAINT hold_owner CHECK (for_owner IS NULL OR kind = @OBJECT_RESOURCE_WORD@)
);

CREATE UNIQUE INDEX hold_target ON _sfflow.hold (kind, name, state, for_owner) NULLS NOT DISTINCT;
CREATE INDEX hold_owner ON _sfflow.hold (for_owner) WHERE for_owner IS NOT NULL;
CREATE INDEX hold_machine ON _sfflow.hold (machine_no) WHERE machine_no IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.hold_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.hold', '');

-- Jobs that sf_mark has marked and that have not been reached since. One row per job; a branch that reaches the
-- job deletes the row and does as it says.
CREATE TABLE _sfflow.mark (
	execution_no bigint NOT NULL,
	job_id text COLLATE "C" NOT NULL,
	outcome text COLLATE "C" NOT NULL,	-- success, skip or failure
	output jsonb,						-- result of the job; NULL: its input is its output
	details jsonb NOT NULL,				-- for the history
	PRIMARY KEY (execution_no, job_id),
	CONSTRAINT mark_outcome CHECK (outcome IN (@MARK_OUTCOME_WORDS@)
		AND (output IS NULL OR outcome = @MARK_OUTCOME_SUCCESS@))
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.mark', '');

--@into rows_of_objects
	UNION ALL SELECT 'hold', (CASE h.kind WHEN @OBJECT_ACTIVITY_WORD@ THEN @OBJECT_ACTIVITY@
		WHEN @OBJECT_EVENT_WORD@ THEN @OBJECT_EVENT@
		WHEN @OBJECT_WORKLIST_WORD@ THEN @OBJECT_WORKLIST@ ELSE @OBJECT_SCHEDULE@ END)::"char", h.name
	FROM _sfflow.hold h WHERE h.kind IN (@OBJECT_ACTIVITY_WORD@, @OBJECT_EVENT_WORD@,
		@OBJECT_WORKLIST_WORD@, @OBJECT_SCHEDULE_WORD@)
--@into functions
-- sf_hold, sf_release, and what is held.
CREATE FUNCTION @extschema@.sf_hold(target text, state text DEFAULT NULL, reason text DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_hold'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_hold(text, text, text) IS
	'lets no step of a machine, state, execution, schedule, activity or resource begin, and no event or task of people be given out; false: it is held already';

CREATE FUNCTION @extschema@.sf_release(target text, state text DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_release'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_release(text, text) IS
	'ends a hold; returns how many branches that waited for it go on';

CREATE VIEW @extschema@.sf_holds WITH (security_barrier) AS
SELECT CASE WHEN h.kind IN (@OBJECT_SCHEDULE_WORD@, @OBJECT_ACTIVITY_WORD@, @OBJECT_EVENT_WORD@, @OBJECT_WORKLIST_WORD@)
		THEN h.kind || ':' ELSE '' END || h.name
	AS target,
	h.state, h.held_at AS since, h.held_by, h.reason,
	CASE h.kind WHEN @OBJECT_ACTIVITY_WORD@ THEN (
		SELECT count(*) FROM _sfflow.activity a
		JOIN _sfflow.task t ON t.activity_no = a.activity_no AND t.status = @TASK_STATUS_QUEUED@
		JOIN _sfflow.branch b ON b.execution_no = t.execution_no AND b.branch_no = t.branch_no
			AND b.generation = t.generation AND b.phase = @PHASE_EXTERNAL@
		WHERE a.name = h.name)
--@slot hold.waiting
	ELSE (SELECT count(*) FROM _sfflow.parked_branch w WHERE w.feature = 'hold' AND w.object_no = h.hold_no
		AND w.queue IS NULL) END AS waiting
FROM _sfflow.hold h
-- The planner takes a comparison for selective, but expects half of all rows to fulfil a bare condition: with thousands
-- of holds of others it then compiles the query (jit), which takes a hundred times as long as to read them.
WHERE CASE WHEN CASE h.kind
	WHEN @OBJECT_ACTIVITY_WORD@ THEN h.name IN (SELECT a.name FROM _sfflow.workable_activity a)
--@slot hold.visible
	WHEN @OBJECT_SCHEDULE_WORD@ THEN h.name IN (
		SELECT s.name FROM _sfflow.schedule s WHERE pg_has_role(s.owner, 'USAGE'))
	WHEN @OBJECT_RESOURCE_WORD@ THEN h.for_owner IS NULL OR pg_has_role(h.for_owner, 'USAGE')
	ELSE h.machine_no IN (SELECT m.machine_no FROM _sfflow.readable_machine m)
END THEN 'visible' END = 'visible';
GRANT SELECT ON @extschema@.sf_holds TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_holds IS 'what is held, since when, by whom and why, and how many branches wait for it';
COMMENT ON COLUMN @extschema@.sf_holds.target IS 'what is held, as sf_hold was given it';
COMMENT ON COLUMN @extschema@.sf_holds.state IS 'the state that is held; null: all';
COMMENT ON COLUMN @extschema@.sf_holds.since IS 'since when';
COMMENT ON COLUMN @extschema@.sf_holds.held_by IS 'the role that called sf_hold';
COMMENT ON COLUMN @extschema@.sf_holds.reason IS 'why, if sf_hold was told';
COMMENT ON COLUMN @extschema@.sf_holds.waiting IS 'how many branches, tasks of an activity, waits for an event, or unclaimed tasks of people, wait for its end';

-- sf_mark: a job ends without its task.
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

--@into named_role
UNION ALL SELECT for_owner FROM _sfflow.hold WHERE for_owner IS NOT NULL
--@into sequence_use
UNION ALL
SELECT 'hold_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END, (SELECT max(hold_no) FROM _sfflow.hold WHERE hold_no <= r.high)
FROM _sfflow.hold_no s, _sfflow.number_range r
--@into checks
SELECT 'hold_of_no_machine', NULL, format('%s holds of state machine number %s, which there is not', count(*),
	h.machine_no)
FROM _sfflow.hold h
WHERE NOT EXISTS (SELECT FROM _sfflow.state_machine m WHERE m.machine_no = h.machine_no)
	AND h.machine_no IS NOT NULL
GROUP BY h.machine_no
UNION ALL
--@into parking_objects
UNION ALL SELECT 'hold', h.hold_no FROM _sfflow.hold h
--@into rows_of_executions
	UNION ALL SELECT 'hold', h.execution_no FROM _sfflow.hold h WHERE h.execution_no IS NOT NULL
	UNION ALL SELECT 'mark', k.execution_no FROM _sfflow.mark k
--@into console_held
	UNION ALL
	SELECT x.target, x.state, x.since, x.held_by, x.reason, x.waiting FROM @extschema@.sf_holds x
--@into console_one
	WHEN 'hold' THEN @extschema@.sf_hold($2, $3 ->> 'state', $3 ->> 'reason')::text
	WHEN 'release' THEN @extschema@.sf_release($2, $3 ->> 'state')::text
	WHEN 'mark' THEN @extschema@.sf_mark($2, $3 ->> 'job_id', $3 ->> 'outcome', ($3 ->> 'output')::jsonb,
		$3 ->> 'reason')::text
--@into mcp.orders
	, ('hold', true, 'Hold',
		'Lets no step of a state machine, state, execution, schedule or activity begin until it is released.',
		'target! string Name of a state machine, id of an execution, schedule:NAME or activity:NAME.
		state string A state of the state machine or execution.
		reason string Why.',
		'target! string What is held.
		began! boolean It was not held before.'),
	('release', true, 'Release',
		'Ends a hold.',
		'target! string What is held.
		state string A state of it.',
		'target! string What was held.
		went_on! integer How many branches that waited for it go on.')
--@into mcp.writes
	WHEN 'hold' THEN jsonb_build_object('target', $2 -> 'target', 'began',
		@extschema@.sf_hold($2 ->> 'target', $2 ->> 'state', $2 ->> 'reason'))
	WHEN 'release' THEN jsonb_build_object('target', $2 -> 'target', 'went_on',
		@extschema@.sf_release($2 ->> 'target', $2 ->> 'state'))
