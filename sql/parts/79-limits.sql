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
	AND b.due_at IS NULL AND b.phase IN (@PHASE_ENTER@, @PHASE_RUN@, @PHASE_ANNOUNCED@, @PHASE_NET@)
JOIN _sfflow.readable_execution e ON e.execution_no = h.execution_no AND e.status = @STATUS_RUNNING@
CROSS JOIN LATERAL _sfflow.branch_place(b.execution_no, b.scope, b.state, b.iterations) p;
GRANT SELECT ON @extschema@.sf_limit_waits TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_limit_waits IS 'branches that wait for a limit, their places in the queue, and who has the places';
