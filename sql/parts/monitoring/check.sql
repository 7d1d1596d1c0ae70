-- sf_check: the invariants over the tables, each as one set-based query. No rows is good.

CREATE FUNCTION _sfflow.has_state(machine_no integer, version integer, scope integer, state integer)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_has_state'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

CREATE FUNCTION _sfflow.is_net(machine_no integer, version integer, state integer)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_is_net'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

-- What is wrong with the JobNet at which a branch waits for its jobs; NULL: nothing.
CREATE FUNCTION _sfflow.inspect_net(machine_no integer, version integer, state integer, execution_no bigint,
	branch_no bigint)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_inspect_net'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

--@slot check_functions

-- The objects that may keep a branch parked, by feature, as in parked.
CREATE VIEW _sfflow.parking_object AS
SELECT NULL::text AS feature, NULL::bigint AS object_no WHERE false
--@slot parking_objects
;

-- Does what a branch is parked for keep it where it is? NULL: it has been released or dropped since the query began:
-- it looks at what there is now, for which PostgreSQL takes no snapshot while workers help with the query.
CREATE FUNCTION _sfflow.is_parked_by(version integer, execution_no bigint, branch_no bigint, feature text,
	object_no bigint, queue bigint, kind smallint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_is_parked_by'
LANGUAGE C STABLE PARALLEL UNSAFE COST 1000;

-- A row of _sfflow.history: what is wrong with it, or how many events it has, the type of the last of them
-- that is not among some, and the events of earlier rows whose payloads it refers to.
CREATE FUNCTION _sfflow.inspect_history(first_id integer, at timestamptz, body bytea, documents jsonb[],
	passing smallint[],
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
-- A CTE has no statistics: a nested loop over two of them took minutes beside 15,000 branches that are parked.
SET enable_nestloop = off
AS $$
WITH told AS MATERIALIZED (
	-- MapRunRedriven: executions of a run that has tolerated their failure run again
	SELECT h.execution_no, h.first_id, i.*
	FROM _sfflow.history h
	CROSS JOIN LATERAL _sfflow.inspect_history(h.first_id, h.at, h.body, h.documents,
		_sfflow.history_event_types('MapRunRedriven')) i
), numbered AS (
	-- the last row that has such a type is the one with the greatest first_id
	SELECT t.execution_no, sum(t.events) AS events, min(t.first_id) AS first, max(t.first_id + t.events - 1) AS last,
		(max(ARRAY[t.first_id, t.last_type]) FILTER (WHERE t.last_type IS NOT NULL))[2] AS last_type
	FROM told t GROUP BY t.execution_no HAVING bool_and(t.problem IS NULL)
), head AS (
	SELECT e.execution_no, e.execution_id, e.machine_no, e.version, e.status, e.last_event_id,
		e.started_at, e.stopped_at, e.parent_execution_no, e.parent_branch_no, e.parent_generation, e.map_run_no,
		e.map_index, e.map_items, e.redrive_count, e.last_redriven_at,
			coalesce(v.options ->> 'history', 'ALL') = 'ALL' AS full_history
	FROM _sfflow.execution e
	LEFT JOIN _sfflow.state_machine_version v
		ON v.machine_no = e.machine_no AND v.version = e.version
	-- what is left of a machine that was dropped is being deleted
	WHERE e.machine_no <> ALL (ARRAY(SELECT d.machine_no FROM _sfflow.dropped_machine d))
), strand AS (
	SELECT b.*, b.phase NOT IN (@PHASES_ENDED@) AS live
	FROM _sfflow.branch b WHERE b.phase NOT IN (@PHASES_OF_EXECUTION@)
--@slot check_part
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
	WHERE (SELECT _sfflow.history_event_payload(h.execution_no, h.first_id, h.body, h.documents, p.id)
		FROM _sfflow.history h WHERE h.execution_no = n.execution_no AND h.first_id <= p.id
		ORDER BY h.first_id DESC LIMIT 1) IS NULL
	UNION ALL
	SELECT 'execution_not_ended_by_event', e.execution_no,
		format('status is %s, the last event has type %s', e.status, n.last_type)
	FROM head e JOIN numbered n ON n.execution_no = e.execution_no
	WHERE e.full_history AND e.status = @STATUS_SUCCEEDED@
		AND n.last_type <> ALL (_sfflow.history_event_types('ExecutionSucceeded'))
	-- executions
	UNION ALL
	SELECT 'stopped_at_wrong', e.execution_no,
		format('status is %s, stopped_at is %s', e.status, coalesce(e.stopped_at::text, 'null'))
	FROM head e WHERE (e.status = @STATUS_RUNNING@) <> (e.stopped_at IS NULL)
	UNION ALL
	-- begun, and not ended with success: open
	SELECT 'open_wrong', e.execution_no, format('status is %s, open_execution has %s',
		(ARRAY[@STATUS_NAMES@])[e.status + 1], coalesce((ARRAY[@STATUS_NAMES@])[o.status + 1], 'no row'))
	FROM head e FULL JOIN _sfflow.open_execution o ON o.execution_no = e.execution_no
	WHERE o.status IS DISTINCT FROM CASE WHEN e.status <> @STATUS_SUCCEEDED@
		AND (e.status <> @STATUS_RUNNING@ OR e.started_at IS NOT NULL)
		THEN e.status END
	UNION ALL
	-- none of SfParentKind
	SELECT 'parent_wrong', e.execution_no, format('parent_execution_no is %s, parent_branch_no %s, '
		'parent_generation %s, map_run_no %s, map_index %s, map_items %s',
		coalesce(e.parent_execution_no::text, 'null'), coalesce(e.parent_branch_no::text, 'null'),
		coalesce(e.parent_generation::text, 'null'), coalesce(e.map_run_no::text, 'null'),
		coalesce(e.map_index::text, 'null'), coalesce(e.map_items::text, 'null'))
	FROM head e
	WHERE num_nulls(e.parent_execution_no, e.parent_branch_no) = 1
		OR num_nulls(e.map_run_no, e.map_index, e.map_items) NOT IN (0, 3)
		OR num_nonnulls(e.parent_generation, e.map_run_no) > num_nonnulls(e.parent_execution_no)
	UNION ALL
	SELECT 'version_missing', e.execution_no, format('machine_no %s, version %s', e.machine_no, e.version)
	FROM head e
	WHERE NOT EXISTS (SELECT FROM _sfflow.state_machine_version v
		JOIN _sfflow.state_machine m ON m.machine_no = v.machine_no
		WHERE v.machine_no = e.machine_no AND v.version = e.version)
	UNION ALL
	SELECT 'root_missing', e.execution_no, 'it is running and has no root branch'
	FROM head e
	WHERE e.status = @STATUS_RUNNING@
		AND NOT EXISTS (SELECT FROM strand b WHERE b.execution_no = e.execution_no AND b.branch_no = @BRANCH_ROOT@)
	UNION ALL
	SELECT 'stuck', e.execution_no, 'it is running and nothing of it is due or handed out'
	FROM head e
	WHERE e.status = @STATUS_RUNNING@
		AND NOT EXISTS (SELECT FROM strand b
			WHERE b.execution_no = e.execution_no AND b.live
				AND (b.due_at IS NOT NULL OR b.phase = @PHASE_EXTERNAL@ OR b.place = @BRANCH_PLACE_PARKED@))
		AND NOT EXISTS (SELECT FROM _sfflow.execution c
			WHERE c.parent_execution_no = e.execution_no AND c.map_run_no IS NOT NULL AND c.status = @STATUS_RUNNING@)
	UNION ALL
	SELECT 'branches_left', e.execution_no, format('it has succeeded and has %s branches', count(*))
	FROM head e JOIN _sfflow.branch b ON b.execution_no = e.execution_no
	WHERE e.status = @STATUS_SUCCEEDED@ GROUP BY e.execution_no
	UNION ALL
	-- A task that runs when its execution is stopped stays due until its worker has left it.
	SELECT 'due_after_end', b.execution_no, format('branch %s is due', b.branch_no)
	FROM head e JOIN _sfflow.branch b ON b.execution_no = e.execution_no
	WHERE e.status <> @STATUS_RUNNING@ AND b.due_at IS NOT NULL
		AND e.stopped_at < clock_timestamp() - interval '10 s'
	-- branches
	UNION ALL
	SELECT 'never_due', b.execution_no, format('branch %s is in phase %s without a time', b.branch_no, b.phase)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	WHERE e.status = @STATUS_RUNNING@ AND b.place = @BRANCH_PLACE_PARKED@
		AND NOT EXISTS (SELECT FROM _sfflow.parked w
			WHERE w.execution_no = b.execution_no AND w.branch_no = b.branch_no)
	UNION ALL
	SELECT 'held_by_nothing', b.execution_no,
		format('branch %s waits for %s %s, which there is not', b.branch_no, w.feature, w.object_no)
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	JOIN _sfflow.parked w ON w.execution_no = b.execution_no AND w.branch_no = b.branch_no
	WHERE e.status = @STATUS_RUNNING@ AND b.place = @BRANCH_PLACE_PARKED@
		AND w.kind <> @PARKED_IN_LINE@
		AND NOT EXISTS (SELECT FROM _sfflow.parking_object k WHERE k.feature = w.feature AND k.object_no = w.object_no)
	UNION ALL
	SELECT 'held_by_another', b.execution_no,
		format('branch %s waits for %s, which is not of its state', b.branch_no,
			concat_ws(' ', w.feature, w.object_no))
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	JOIN _sfflow.parked w ON w.execution_no = b.execution_no AND w.branch_no = b.branch_no
	WHERE e.status = @STATUS_RUNNING@ AND b.place = @BRANCH_PLACE_PARKED@
		AND (w.kind = @PARKED_IN_LINE@
			OR (w.feature, w.object_no) IN (SELECT k.feature, k.object_no FROM _sfflow.parking_object k))
		AND NOT _sfflow.is_parked_by(e.version, b.execution_no, b.branch_no, w.feature, w.object_no, w.queue, w.kind)
	UNION ALL
--@slot branch_checks
	SELECT 'pending_wrong', b.execution_no,
		format('branch %s waits for %s children, %s have not ended', b.branch_no, b.pending, count(c.branch_no))
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	LEFT JOIN strand c ON c.execution_no = b.execution_no AND c.parent_no = b.branch_no AND c.live
	WHERE e.status = @STATUS_RUNNING@ AND b.phase = @PHASE_JOIN@ AND b.map_run_no IS NULL
		AND NOT _sfflow.is_net(e.machine_no, e.version, b.state)
	GROUP BY b.execution_no, b.branch_no, b.pending HAVING count(c.branch_no) <> b.pending
	UNION ALL
	SELECT 'net_wrong', b.execution_no, format('branch %s: %s', b.branch_no, n.problem)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	CROSS JOIN LATERAL _sfflow.inspect_net(e.machine_no, e.version, b.state, b.execution_no, b.branch_no) n(problem)
	WHERE e.status = @STATUS_RUNNING@ AND b.phase IN (@PHASE_JOIN@, @PHASE_NET@)
		AND b.map_run_no IS NULL AND n.problem IS NOT NULL
	UNION ALL
	-- Distributed Maps: item executions
	SELECT 'pending_wrong', b.execution_no,
		format('branch %s waits for %s executions, %s have not ended', b.branch_no, b.pending, count(c.execution_no))
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	LEFT JOIN _sfflow.execution c ON c.parent_execution_no = b.execution_no
		AND c.map_run_no = b.map_run_no AND c.status = @STATUS_RUNNING@
	WHERE e.status = @STATUS_RUNNING@ AND b.phase = @PHASE_JOIN@ AND b.map_run_no IS NOT NULL
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
			count(c.execution_no) FILTER (WHERE c.status = @STATUS_SUCCEEDED@),
				count(c.execution_no) FILTER (WHERE c.status NOT IN (@STATUS_RUNNING@, @STATUS_SUCCEEDED@)))
	FROM _sfflow.map_run r
	LEFT JOIN _sfflow.execution c ON c.parent_execution_no = r.execution_no AND c.map_run_no = r.map_run_no
	GROUP BY r.execution_no, r.map_run_no
	HAVING count(c.execution_no) FILTER (WHERE c.status = @STATUS_SUCCEEDED@) <> r.succeeded
		OR count(c.execution_no) FILTER (WHERE c.status NOT IN (@STATUS_RUNNING@,
			@STATUS_SUCCEEDED@)) <> r.failed + r.timed_out + r.aborted
	UNION ALL
	SELECT 'map_items_wrong', b.execution_no,
		format('branch %s has %s items left, there are %s', b.branch_no, b.total - b.next_index, count(i.item_index))
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	LEFT JOIN _sfflow.map_item i ON i.execution_no = b.execution_no AND i.map_run_no = b.map_run_no
	WHERE e.status = @STATUS_RUNNING@ AND b.phase = @PHASE_JOIN@ AND b.map_run_no IS NOT NULL
	GROUP BY b.execution_no, b.branch_no, b.total, b.next_index
	HAVING count(i.item_index) <> b.total - b.next_index
	UNION ALL
	SELECT 'joined_without_children', b.execution_no,
		format('branch %s has no child to wait for and is not due', b.branch_no)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	WHERE e.status = @STATUS_RUNNING@ AND b.phase = @PHASE_JOIN@ AND b.pending = 0 AND b.due_at IS NULL
	UNION ALL
	SELECT 'parent_missing', b.execution_no, format('branch %s is a child of %s', b.branch_no, b.parent_no)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	LEFT JOIN strand p ON p.execution_no = b.execution_no AND p.branch_no = b.parent_no
	WHERE b.branch_no <> @BRANCH_ROOT@
		AND (p.branch_no IS NULL OR (e.status = @STATUS_RUNNING@ AND p.phase <> @PHASE_JOIN@
			-- a job or a branch that has failed, with its children, while others go on
			AND (b.live OR p.phase NOT IN (@PHASE_FAILED@, @PHASE_ABORTED@))
			-- a net that goes on, of whose jobs none runs
			AND NOT (p.phase = @PHASE_NET@ AND (b.place <> @BRANCH_PLACE_NONE@ OR NOT b.live))))
	UNION ALL
	SELECT 'child_index_wrong', b.execution_no,
		format('branch %s is child %s of branch %s', b.branch_no, b.branch_index, b.parent_no)
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
		AND NOT _sfflow.has_state(e.machine_no, e.version, b.scope, b.state)
	UNION ALL
	SELECT 'owner_wrong', b.execution_no, format('branch %s is of %s, the state machine of %s', b.branch_no, b.owner,
		m.owner)
	FROM _sfflow.branch b JOIN head e ON e.execution_no = b.execution_no
	JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no
	WHERE b.owner <> m.owner
	UNION ALL
	SELECT 'event_unknown', b.execution_no,
		format('branch %s refers to events %s, the last one is %s', b.branch_no, v.events, e.last_event_id)
	FROM strand b JOIN head e ON e.execution_no = b.execution_no
	CROSS JOIN LATERAL (SELECT ARRAY[b.entered_event, b.last_event, b.payload_event, b.failed_event,
		b.last_inner_event] AS events) v
	WHERE e.full_history AND (0 > ANY (v.events) OR e.last_event_id < ANY (v.events))
)
SELECT p.problem, e.execution_id, p.detail
FROM problems p JOIN head e ON e.execution_no = p.execution_no
UNION ALL
-- what belongs to no execution or version
SELECT 'execution_missing', NULL, format('%s rows of %s have the unknown execution_no %s', count(*), o.relation,
	o.execution_no)
FROM (
	SELECT 'branch' AS relation, b.execution_no FROM _sfflow.branch b
	UNION ALL SELECT 'history', h.execution_no FROM _sfflow.history h
	UNION ALL SELECT 'task', t.execution_no FROM _sfflow.task t
	UNION ALL SELECT 'start_request', r.execution_no FROM _sfflow.start_request r
	UNION ALL SELECT 'delayed_start', d.execution_no FROM _sfflow.delayed_start d
	UNION ALL SELECT 'open_execution', o.execution_no FROM _sfflow.open_execution o
	UNION ALL SELECT 'map_run', r.execution_no FROM _sfflow.map_run r
	UNION ALL SELECT 'failure', f.execution_no FROM _sfflow.failure f
	UNION ALL SELECT 'acknowledgement', k.execution_no FROM _sfflow.acknowledgement k
--@slot rows_of_executions
	UNION ALL SELECT 'parked', w.execution_no FROM _sfflow.parked w
	UNION ALL SELECT DISTINCT 'map_item', i.execution_no FROM _sfflow.map_item i) o
WHERE NOT EXISTS (SELECT FROM _sfflow.execution e WHERE e.execution_no = o.execution_no)
GROUP BY o.relation, o.execution_no
UNION ALL
SELECT 'current_version_missing', NULL, format('state machine "%s", version %s', m.name, m.current_version)
FROM _sfflow.state_machine m
WHERE NOT EXISTS (SELECT FROM _sfflow.state_machine_version v
	WHERE v.machine_no = m.machine_no AND v.version = m.current_version)
UNION ALL
SELECT 'object_missing', NULL, format('%s rows of %s name "%s", which there is not: for an object that gets the name. '
	'To remove them, create it and drop it', count(*), n.relation, CASE n.kind WHEN @OBJECT_ACTIVITY@ THEN 'activity:'
	WHEN @OBJECT_EVENT@ THEN 'event:' WHEN @OBJECT_WORKLIST@ THEN 'human:' WHEN @OBJECT_SCHEDULE@ THEN 'schedule:'
	ELSE '' END || n.name)
FROM (
	SELECT text 'privilege' AS relation, p.object_kind AS kind, p.object_name AS name
	FROM _sfflow.privilege p WHERE p.object_kind <> @OBJECT_ALL@
--@slot rows_of_objects
	UNION ALL SELECT 'aws_resource', r.object_kind, r.object_name FROM _sfflow.aws_resource r) n
WHERE NOT EXISTS (
	SELECT FROM (
		SELECT @OBJECT_STATE_MACHINE@::"char" AS kind, m.name FROM _sfflow.state_machine m
--@slot named_objects
		UNION ALL SELECT @OBJECT_ACTIVITY@, a.name FROM _sfflow.activity a) o
	WHERE o.kind = n.kind AND o.name = n.name)
GROUP BY n.relation, n.kind, n.name
UNION ALL
--@slot checks
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
UNION ALL
SELECT 'sequence_astray', NULL, format('sequence _sfflow.%s is at %s, which is no number of this node', p.name, p.drawn)
FROM _sfflow.sequence_position p WHERE p.astray
ORDER BY 2, 1, 3
$$;
COMMENT ON FUNCTION @extschema@.sf_check() IS 'verifies the invariants over the tables: no rows is good';
