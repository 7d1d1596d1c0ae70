-- Limits: how much of what they name runs at a time, or begins in a span of time: the feature limit.

--@into tables
-- Limits: how much of what they name runs at a time, or begins in a span of time. Each backend keeps
-- those of what it works with (src/feature/limit/limit.c). What waits has a row in parked.

CREATE SEQUENCE _sfflow.limit_no;

CREATE TABLE _sfflow.run_limit (
	limit_no bigint NOT NULL DEFAULT nextval('_sfflow.limit_no') PRIMARY KEY,
	kind text COLLATE "C" NOT NULL,		-- machine, activity or resource, as in hold
	name text COLLATE "C" NOT NULL,
	state text COLLATE "C",				-- of a machine; NULL: its executions
	key text COLLATE "C",				-- path of the value that has a limit of its own; NULL: one for all
	in_definition boolean NOT NULL,		-- set by the definition of the machine, not by sf_set_limit
	machine_no integer,
	for_owner regrole,					-- of a resource: for this role's machines alone; NULL: for all
	max_running integer,
	highest integer NOT NULL,			-- slots with greater numbers are not in use
	rate double precision,				-- begin in so many microseconds:
	per bigint,							-- NULL: there is no rate
	fails boolean NOT NULL,				-- what would wait fails
	set_at timestamptz NOT NULL,
	set_by text NOT NULL,
	counted boolean NOT NULL DEFAULT false,	-- all that runs has slots; older dumps do not say
	horizon xid8,						-- else when transactions with lower numbers have ended; NULL: not known yet.
										-- How far the count is follows from these and from xmin: SfCountStage
	roles_hash bigint,					-- of the roles with whose rights the owner acts, so that a change is seen
	uncounted_at timestamptz,			-- when the count began last; NULL: an older dump does not say
	CONSTRAINT run_limit_per CHECK ((rate IS NULL) = (per IS NULL)),
	CONSTRAINT run_limit_horizon CHECK (horizon IS NULL OR NOT counted),
	CONSTRAINT run_limit_kind CHECK (kind IN (@OBJECTS_LIMITED_WORDS@)
		AND (kind = @OBJECT_STATE_MACHINE_WORD@) = (machine_no IS NOT NULL)),
	CONSTRAINT run_limit_state CHECK (state IS NULL OR kind = @OBJECT_STATE_MACHINE_WORD@ AND state <> ''),
	CONSTRAINT run_limit_key CHECK (key <> ''),
	CONSTRAINT run_limit_owner CHECK (for_owner IS NULL OR kind = @OBJECT_RESOURCE_WORD@),
	CONSTRAINT run_limit_limits CHECK (max_running IS NOT NULL OR rate IS NOT NULL)
);

CREATE UNIQUE INDEX run_limit_target ON _sfflow.run_limit (kind, name, state, key, in_definition, for_owner)
	NULLS NOT DISTINCT;
CREATE INDEX run_limit_owner ON _sfflow.run_limit (for_owner) WHERE for_owner IS NOT NULL;
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

CREATE INDEX limit_slot_occupant ON _sfflow.limit_slot (execution_no, branch_no);

-- Tokens of rates whose buckets have no entry in shared memory (src/feature/limit/limit_rate.c), as times of a clock
-- that is never set back. They say nothing after a start of the server.
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

--@into rows_of_objects
	UNION ALL SELECT 'run_limit', @OBJECT_ACTIVITY@::"char", r.name
	FROM _sfflow.run_limit r WHERE r.kind = @OBJECT_ACTIVITY_WORD@
--@into functions
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

-- Locks of limits, and what their tags have (src/feature/limit/limit_slot_lock.c): what they are of (SfLimitLockKind),
-- 25 bits of the limit's number, 20 of the slot's, 32 of the hash of the queue or the occupant. No other advisory lock has
-- a negative objsubid.
CREATE VIEW _sfflow.limit_lock AS
SELECT ((k.objsubid & (1 << 13) - 1)::bigint << 12) | (k.objid::bigint >> 20) AS short_limit_no,
	(k.objid::bigint & (1 << 20) - 1)::integer AS slot, k.classid::bigint AS short_hash, k.pid,
	k.objsubid >> 13 & 3 AS kind
FROM pg_locks k
WHERE k.locktype = 'advisory' AND k.objsubid < 0 AND k.granted
	AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database());

-- What the tag of a lock has of the hash of a queue.
CREATE FUNCTION _sfflow.short_hash(queue bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ($1 # ($1 >> 32)) & (1::bigint << 32) - 1;

-- Slots that a transaction has locked so far; their queue by the part of its hash that a lock has.
CREATE VIEW _sfflow.locked_slot AS
SELECT l.limit_no, k.short_hash, k.slot, k.pid
FROM _sfflow.limit_lock k
JOIN _sfflow.run_limit l ON (l.limit_no & (1 << 25) - 1) = k.short_limit_no
WHERE k.kind = @LIMIT_LOCK_SLOT@ AND NOT EXISTS (SELECT FROM _sfflow.limit_slot s
	WHERE s.limit_no = l.limit_no AND s.slot = k.slot AND _sfflow.short_hash(s.queue) = k.short_hash);

-- Slots that are taken: those with a row, and those that are locked.
CREATE VIEW _sfflow.taken_slot AS
SELECT s.limit_no, s.queue, s.slot FROM _sfflow.limit_slot s
UNION ALL
SELECT k.limit_no, NULL, k.slot FROM _sfflow.locked_slot k;

CREATE VIEW @extschema@.sf_limits WITH (security_barrier) AS
SELECT CASE l.kind WHEN @OBJECT_ACTIVITY_WORD@ THEN 'activity:' ELSE '' END || l.name
		|| coalesce('/' || l.state, '') AS target,
	l.key, l.max_running, l.rate,
	l.per * interval '1 microsecond' AS per,
	CASE WHEN l.fails THEN 'fail' ELSE 'queue' END AS on_limit, l.in_definition,
	(SELECT count(*) FROM _sfflow.taken_slot s WHERE s.limit_no = l.limit_no) AS in_use,
	w.waiting, w.oldest_waiting, l.set_at, l.set_by
FROM _sfflow.run_limit l
CROSS JOIN LATERAL (SELECT count(*) AS waiting, min(h.since) AS oldest_waiting
	FROM _sfflow.parked_branch h WHERE h.feature = 'limit' AND h.object_no = l.limit_no AND h.queue IS NOT NULL) w
-- A comparison, as in sf_holds.
WHERE CASE WHEN CASE l.kind
	WHEN @OBJECT_ACTIVITY_WORD@ THEN l.name IN (SELECT a.name FROM _sfflow.workable_activity a)
	WHEN @OBJECT_RESOURCE_WORD@ THEN l.for_owner IS NULL OR pg_has_role(l.for_owner, 'USAGE')
	ELSE l.machine_no IN (SELECT m.machine_no FROM _sfflow.readable_machine m)
END THEN 'visible' END = 'visible';
GRANT SELECT ON @extschema@.sf_limits TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_limits IS 'limits, how much of each is in use, and how much waits';

-- What waits for limits. The numbers of a queue are counted up to a bound, so that an execution behind many others
-- costs no more than one behind ten thousand. Locks are read once, for all rows.
CREATE VIEW @extschema@.sf_limit_waits WITH (security_barrier) AS
WITH locked AS MATERIALIZED (
	SELECT k.limit_no, k.short_hash, w.execution_no
	FROM _sfflow.locked_slot k LEFT JOIN _sfflow.workers() w ON w.pid = k.pid)
SELECT e.execution_id, p.branch, p.state,
	CASE l.kind WHEN @OBJECT_ACTIVITY_WORD@ THEN 'activity:' ELSE '' END || l.name
		|| coalesce('/' || l.state, '') AS target,
	l.key, h.since,
	(SELECT count(*) + 1 FROM (
		SELECT FROM _sfflow.parked x
		WHERE x.object_no = h.object_no AND x.queue = h.queue
			AND (x.kind, x.as_if_since, x.execution_no, x.branch_no)
				< (h.kind, h.as_if_since, h.execution_no, h.branch_no)
		LIMIT 10000) x) AS position,
	(SELECT count(*) FROM (
		SELECT FROM _sfflow.parked x WHERE x.object_no = h.object_no AND x.queue = h.queue LIMIT 10000) x) AS waiting,
	l.max_running,
	(SELECT count(*) FROM _sfflow.limit_slot s WHERE s.limit_no = h.object_no AND s.queue = h.queue)
		+ (SELECT count(*) FROM locked k
			WHERE k.limit_no = h.object_no AND k.short_hash = _sfflow.short_hash(h.queue)) AS in_use,
	l.rate, l.per * interval '1 microsecond' AS per,
	ARRAY(
		SELECT r.execution_id FROM (
			SELECT s.execution_no FROM _sfflow.limit_slot s WHERE s.limit_no = h.object_no AND s.queue = h.queue
			UNION
			SELECT k.execution_no FROM locked k
			WHERE k.limit_no = h.object_no AND k.short_hash = _sfflow.short_hash(h.queue)
			ORDER BY 1 LIMIT 20) s
		JOIN _sfflow.readable_execution r ON r.execution_no = s.execution_no
		ORDER BY s.execution_no) AS in_use_by
FROM _sfflow.parked h
JOIN _sfflow.run_limit l ON h.feature = 'limit' AND l.limit_no = h.object_no
JOIN _sfflow.branch b ON b.execution_no = h.execution_no AND b.branch_no = h.branch_no
	AND b.place = @BRANCH_PLACE_PARKED@
JOIN _sfflow.readable_execution e ON e.execution_no = h.execution_no AND e.status = @STATUS_RUNNING@
CROSS JOIN LATERAL _sfflow.branch_names(b.execution_no, b.scope, b.state, b.iterations) p;
GRANT SELECT ON @extschema@.sf_limit_waits TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_limit_waits IS
	'branches that wait for a limit, their positions in the queue, and who has the slots';

COMMENT ON COLUMN @extschema@.sf_limits.target IS 'what is limited, as sf_set_limit was given it';
COMMENT ON COLUMN @extschema@.sf_limits.key IS
	'path of the value that has the limit for itself; null: one limit for all';
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
COMMENT ON COLUMN @extschema@.sf_limit_waits.branch IS
	'path to its branch or iteration, Fork[0]/Stores[7]; empty at the top level';
COMMENT ON COLUMN @extschema@.sf_limit_waits.state IS 'the state that is to begin';
COMMENT ON COLUMN @extschema@.sf_limit_waits.target IS 'the limit for which it waits, as in sf_limits';
COMMENT ON COLUMN @extschema@.sf_limit_waits.key IS
	'path of the value that has the limit for itself; null: one limit for all';
COMMENT ON COLUMN @extschema@.sf_limit_waits.since IS 'when it could have begun';
COMMENT ON COLUMN @extschema@.sf_limit_waits.position IS
	'its position among those that wait for the same limit and value of the key; 1: the next one; counted up to 10,001';
COMMENT ON COLUMN @extschema@.sf_limit_waits.waiting IS
	'how many wait for the same limit and value of the key; counted up to 10,000';
COMMENT ON COLUMN @extschema@.sf_limit_waits.max_running IS 'how many may run at a time; null: no limit';
COMMENT ON COLUMN @extschema@.sf_limit_waits.in_use IS 'how many run now, of the same value of the key';
COMMENT ON COLUMN @extschema@.sf_limit_waits.rate IS 'how many may begin per time; null: no limit';
COMMENT ON COLUMN @extschema@.sf_limit_waits.per IS 'the time of the rate';
COMMENT ON COLUMN @extschema@.sf_limit_waits.in_use_by IS
	'executions that have the slots, up to 20, of those that the caller may read';

--@into named_role
UNION ALL SELECT for_owner FROM _sfflow.run_limit WHERE for_owner IS NOT NULL
--@into sequence_use
UNION ALL
SELECT 'limit_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END, (SELECT max(limit_no) FROM _sfflow.run_limit WHERE limit_no <= r.high)
FROM _sfflow.limit_no s, _sfflow.number_range r
--@into parking_objects
UNION ALL SELECT 'limit', l.limit_no FROM _sfflow.run_limit l
--@into check_functions
-- The limits that apply to a branch where it is: whether of executions, whether that of a join around it, and
-- whether an execution that waits for this one has a slot, so that the branch needs none.
CREATE FUNCTION _sfflow.branch_limits(version integer, execution_no bigint, branch_no bigint,
	OUT limit_no bigint, OUT queue bigint, OUT whole boolean, OUT of_join boolean, OUT shared boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_branch_limits'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 2;

-- Does a limit apply to a branch that has a slot of its own? NULL: the limit has been dropped since the query began.
CREATE FUNCTION _sfflow.is_limited_by(version integer, execution_no bigint, branch_no bigint,
	limit_no bigint) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_is_limited_by'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;
--@into check_part
), within AS MATERIALIZED (
	-- branches that are inside of their states, of executions that run: they have the slots of these. What a
	-- redrive has go on as it was (a join, or what has its outcome) takes them with the first step within it.
	SELECT b.execution_no, b.branch_no, e.version,
		e.redrive_count > 0 AND b.phase IN (@PHASE_JOIN@, @PHASE_NET@, @PHASE_MAP_WRITE@, @PHASE_MAP_ANSWERED@)
			AND NOT EXISTS (SELECT FROM strand c
			WHERE c.execution_no = b.execution_no AND c.parent_no = b.branch_no AND c.entered_at > e.last_redriven_at
				AND c.phase IN (@PHASE_WAIT@, @PHASE_ANNOUNCED@, @PHASE_EXTERNAL@)) AS takes_later
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	WHERE e.status = @STATUS_RUNNING@ AND EXISTS (SELECT FROM _sfflow.run_limit)
		AND b.phase IN (@PHASES_INSIDE@)
--@into checks
SELECT 'limit_of_no_machine', NULL, format('%s limits of state machine number %s, which there is not', count(*),
	l.machine_no)
FROM _sfflow.run_limit l
WHERE NOT EXISTS (SELECT FROM _sfflow.state_machine m WHERE m.machine_no = l.machine_no)
	AND l.machine_no IS NOT NULL
GROUP BY l.machine_no
UNION ALL
SELECT 'slot_of_no_limit', NULL, format('%s slots of limit %s, which there is not', count(*), s.limit_no)
FROM _sfflow.limit_slot s
WHERE NOT EXISTS (SELECT FROM _sfflow.run_limit l WHERE l.limit_no = s.limit_no)
GROUP BY s.limit_no
UNION ALL
--@into branch_checks
	SELECT 'slot_missing', b.execution_no, format('branch %s runs under limit %s and has no slot of it', b.branch_no,
		l.limit_no)
	FROM within b
	CROSS JOIN LATERAL _sfflow.branch_limits(b.version, b.execution_no, b.branch_no) q
	JOIN _sfflow.run_limit l ON l.limit_no = q.limit_no
	WHERE NOT b.takes_later AND NOT q.whole AND NOT q.of_join AND NOT q.shared AND l.max_running IS NOT NULL
		AND l.counted
		AND NOT EXISTS (SELECT FROM _sfflow.limit_slot s
			WHERE s.execution_no = b.execution_no AND s.branch_no = b.branch_no AND s.limit_no = l.limit_no)
	UNION ALL
	SELECT 'slot_missing', e.execution_no, format('it runs under limit %s and has no slot of it', l.limit_no)
	FROM head e
	JOIN _sfflow.run_limit l ON l.kind = @OBJECT_STATE_MACHINE_WORD@ AND l.state IS NULL AND l.machine_no = e.machine_no
	CROSS JOIN LATERAL _sfflow.branch_limits(e.version, e.execution_no, @BRANCH_ROOT@) q
	WHERE e.status = @STATUS_RUNNING@ AND e.started_at IS NOT NULL AND e.map_run_no IS NULL AND q.limit_no = l.limit_no
		AND NOT q.shared AND l.max_running IS NOT NULL AND l.counted
		AND NOT EXISTS (SELECT FROM _sfflow.limit_slot s WHERE s.execution_no = e.execution_no AND s.branch_no IS NULL
			AND s.limit_no = l.limit_no)
		-- after a redrive the first step takes it
		AND (e.redrive_count = 0 OR EXISTS (SELECT FROM strand c WHERE c.execution_no = e.execution_no
			AND c.entered_at > e.last_redriven_at
			AND c.phase IN (@PHASE_WAIT@, @PHASE_ANNOUNCED@, @PHASE_EXTERNAL@)))
	UNION ALL
	SELECT 'slot_of_another', b.execution_no,
		format('branch %s has a slot of limit %s, which is not of its state', b.branch_no, s.limit_no)
	FROM within b
	JOIN _sfflow.limit_slot s ON s.execution_no = b.execution_no AND s.branch_no = b.branch_no
	JOIN _sfflow.run_limit l ON l.limit_no = s.limit_no
	WHERE l.counted AND NOT _sfflow.is_limited_by(b.version, b.execution_no, b.branch_no, s.limit_no)
	UNION ALL
	SELECT 'slot_of_nothing', s.execution_no, format('slot %s of limit %s is taken by %s, which does not run', s.slot,
		s.limit_no, coalesce('branch ' || s.branch_no, 'the execution'))
	FROM _sfflow.limit_slot s
	JOIN head e ON e.execution_no = s.execution_no
	WHERE CASE WHEN s.branch_no IS NULL THEN e.status <> @STATUS_RUNNING@
		ELSE NOT EXISTS (SELECT FROM _sfflow.branch b WHERE b.execution_no = s.execution_no
			AND b.branch_no = s.branch_no AND b.phase IN (@PHASES_INSIDE@)) END
	UNION ALL
	SELECT 'slot_too_high', s.execution_no, format('slot %s of limit %s is taken, which has %s', s.slot, s.limit_no,
		l.highest)
	FROM _sfflow.limit_slot s
	JOIN head e ON e.execution_no = s.execution_no
	JOIN _sfflow.run_limit l ON l.limit_no = s.limit_no
	-- slots are not counted any more of a limit that has a rate alone by now
	WHERE l.max_running IS NOT NULL AND s.slot > l.highest
	UNION ALL
--@into definition_kinds
	, (70, 'limits', 'limit', NULL, NULL, true, true, '{target,key,max_running,rate,per,on_limit}',
		'{"per": "00:00:01", "on_limit": "queue"}')
--@into definitions
UNION ALL
SELECT 'limit', concat(v.target, ' by ' || l.key, ' of ' || pg_get_userbyid(l.for_owner)),
	CASE l.kind WHEN @OBJECT_ACTIVITY_WORD@ THEN (SELECT a.owner FROM _sfflow.activity a WHERE a.name = l.name)
		WHEN @OBJECT_STATE_MACHINE_WORD@ THEN (
			SELECT m.owner FROM _sfflow.state_machine m WHERE m.machine_no = l.machine_no)
		ELSE l.for_owner END::oid, l.for_owner::oid,
	jsonb_build_object('target', v.target, 'key', l.key, 'max_running', l.max_running, 'rate', l.rate,
		'per', coalesce(l.per * interval '1 microsecond', interval '1 s'),
		'on_limit', CASE WHEN l.fails THEN 'fail' ELSE 'queue' END)
FROM _sfflow.run_limit l
CROSS JOIN LATERAL (SELECT CASE l.kind WHEN @OBJECT_ACTIVITY_WORD@ THEN 'activity:' ELSE '' END || l.name
	|| coalesce('/' || l.state, '') AS target) v
WHERE NOT l.in_definition
--@into definition_names
		WHEN 'limit' THEN concat($2 ->> 'target', ' by ' || ($2 ->> 'key'),
			' of ' || coalesce($2 ->> 'owner', CASE WHEN $2 ->> 'target' ~ '^(sql|arn|event):' AND NOT $4 THEN $3 END))
--@into definition_forms
			WHEN 'limit' THEN d.body || jsonb_build_object('per', CASE WHEN d.body ->> 'rate' IS NULL
				THEN interval '1 s' ELSE (d.body ->> 'per')::interval END)
--@into apply_definition
	WHEN 'limit' THEN @extschema@.sf_set_limit($4 ->> 'target', $4 ->> 'key', ($4 ->> 'max_running')::integer,
		($4 ->> 'rate')::double precision, ($4 ->> 'per')::interval, $4 ->> 'on_limit')::text
--@into remove_definition
	WHEN 'limit' THEN @extschema@.sf_drop_limit($4 ->> 'target', $4 ->> 'key')::text
--@into console
-- May the caller change a limit? One of a resource belongs to the role that set it.
CREATE FUNCTION _sfflow.console_may_limit(target text, set_by text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN CASE
	WHEN $1 LIKE 'activity:%' THEN EXISTS (
		SELECT FROM @extschema@.sf_activities a WHERE a.activity = substr($1, 10) AND pg_has_role(a.owner, 'USAGE'))
	WHEN $1 ~ '^[^:/]+(/|$)' THEN coalesce(_sfflow.console_rights(ARRAY[$1]) -> substring($1, '^[^:/]+') @> '"OPERATE"',
		false)
	ELSE $2 = current_user
END;

-- Limits of a machine with its states, or all, or only those for which something waits; these come first.
CREATE FUNCTION _sfflow.console_limits(machine text, only_waiting boolean, most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(l) ORDER BY l.waiting DESC, l.target, l.key), '[]') FROM (
		SELECT x.target, x.key, x.max_running, x.rate, x.per::text AS per, x.on_limit, x.in_use, x.waiting,
			x.oldest_waiting,
			x.in_definition, NOT x.in_definition AND _sfflow.console_may_limit(x.target, x.set_by) AS may_change
		FROM @extschema@.sf_limits x WHERE ($1 IS NULL OR split_part(x.target, '/', 1) = $1)
			AND (NOT $2 OR x.waiting > 0)
		ORDER BY x.waiting DESC, x.target, x.key LIMIT $3) l);

-- What of an execution waits for limits: the first branches, and who has the slots.
CREATE FUNCTION _sfflow.console_waits(execution_id text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(w) ORDER BY w.since), '[]') FROM (
		SELECT x.branch, x.state, x.target, x.key, x.since, x.position, x.waiting, x.max_running, x.in_use, x.rate,
			x.per::text AS per, to_jsonb(x.in_use_by) AS in_use_by
		FROM @extschema@.sf_limit_waits x WHERE x.execution_id = $1 LIMIT 5) w);

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

-- plan_limit, as set_limit: how much would run and wait, with the new limit and with the one that is there.
CREATE FUNCTION _sfflow.console_plan_limit(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	former jsonb := (
		SELECT to_jsonb(l) FROM (
			SELECT x.max_running, x.rate, x.per::text AS per, x.on_limit, x.in_use, x.waiting
			FROM @extschema@.sf_limits x
			WHERE x.target = q ->> 'target' AND x.key IS NOT DISTINCT FROM nullif(q ->> 'key', '')
				AND NOT x.in_definition) l);
BEGIN
	PERFORM _sfflow.console_set_limit(q);
	RETURN (
		SELECT jsonb_build_object('before', former, 'after', to_jsonb(l)) FROM (
			SELECT x.max_running, x.rate, x.per::text AS per, x.on_limit, x.in_use, x.waiting
			FROM @extschema@.sf_limits x
			WHERE x.target = q ->> 'target' AND x.key IS NOT DISTINCT FROM nullif(q ->> 'key', '')
				AND NOT x.in_definition) l);
END
$$;
--@into console_one
	WHEN 'drop_limit' THEN @extschema@.sf_drop_limit($2, $3 ->> 'key')::text
--@into console_answers
		WHEN 'set_limit' THEN answer := _sfflow.console_set_limit(request);
		WHEN 'plan_limit' THEN answer := _sfflow.console_tried(action, request);
--@into console_tonight
		'limits', _sfflow.console_limits(NULL, true, 10 + 1),
--@into console_execution
		'waits', _sfflow.console_waits($1 ->> 'execution_id'),
--@into console_machine
		'limits', _sfflow.console_limits(s.state_machine, false, 50 + 1),
--@into console_operations
	'limits', _sfflow.console_limits(NULL, false, 100 + 1),
	'may_limit', EXISTS (SELECT FROM @extschema@.sf_state_machines s
		WHERE s.is_current AND 'OPERATE' = ANY (_sfflow.machine_rights(s.state_machine, s.owner))),
--@into console_plans
			WHEN 'plan_limit' THEN plan := _sfflow.console_plan_limit(q);
--@into public_functions
		console_limits, console_may_limit, console_plan_limit, console_set_limit, console_waits, short_hash,
--@into mcp.waits
	'limits', _sfflow.console_waits($1),
