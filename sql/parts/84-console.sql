-- sf_console_api: what the pages of the console ask for, as documents. A function per action, with the rights of its
-- caller over the public views and functions. Every answer is bounded: lists are pages, payloads are cut, and
-- console_payload gives the rest of one. OFFSET 0 keeps the planner from joining a page with all executions: each row
-- of it is looked up by its key.

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

-- When an execution was in its states: a row per place, visit and attempt, in the order of their first events. The
-- first event of a Parallel, Map or JobNet that goes on after a redrive is one within it. The answer has rows up to
-- "most", and those that begin with the same event as the last of them.
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

-- Of each machine that the caller may read the executions that run for longest, so many at most; running: how many of
-- its executions run, up to 1,000. Items of Distributed Maps are left out. Both times are later by that between ends
-- and redrives.
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

-- For how long an execution has run, without the time between its ends and its redrives; null if the caller may not
-- read it.
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

-- An answer with its lists no longer than "most" says, {list: rows}; of a longer one the answer was given a row more.
-- "cut" has the names of the lists of which rows are left out, with those that it has already.
CREATE FUNCTION _sfflow.console_bounded(answer jsonb, most jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
	WITH longer AS (
		SELECT e.key AS name, e.value::integer AS most FROM jsonb_each_text($2) e
		WHERE jsonb_array_length($1 -> e.key) > e.value::integer
	)
	SELECT $1 || (SELECT coalesce(jsonb_object_agg(l.name, ($1 -> l.name) - l.most), '{}') FROM longer l)
		|| jsonb_build_object('cut', (
			SELECT coalesce(jsonb_agg(c.name ORDER BY c.name), '[]') FROM (
				SELECT jsonb_array_elements_text(coalesce($1 -> 'cut', '[]'))
				UNION
				SELECT l.name FROM longer l) AS c(name))));

-- What the caller may do with the machines of executions, or with machines that it may read: {machine: [right]}. A page
-- offers nothing else.
CREATE FUNCTION _sfflow.console_rights(targets text[]) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_object_agg(s.state_machine, _sfflow.machine_rights(s.state_machine, s.owner)), '{}')
	FROM @extschema@.sf_state_machines s
	WHERE s.is_current AND s.state_machine IN (SELECT DISTINCT substring(t.target, '^[^:/]+')
		FROM unnest($1) AS t(target)));

-- May the caller release what is held? The view shows holds of schedules to members of their owners alone.
CREATE FUNCTION _sfflow.console_may_release(target text, held_by text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN CASE
	WHEN $1 LIKE 'schedule:%' THEN true
	WHEN $1 LIKE 'activity:%' THEN EXISTS (SELECT FROM @extschema@.sf_activities a
		WHERE a.activity = substr($1, 10) AND pg_has_role(a.owner, 'USAGE'))
--@slot console_may_release
	WHEN $1 ~ '^(sql|arn):' THEN $2 = current_user OR current_setting('is_superuser')::boolean
	ELSE _sfflow.console_rights(ARRAY[$1]) -> substring($1, '^[^:/]+') @> '"OPERATE"'
END;

--@with hold
-- What is held, and whether the caller may release it.
CREATE FUNCTION _sfflow.console_holds(most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.since), '[]') FROM (
		SELECT x.target, x.state, x.since, x.held_by, x.reason, x.waiting,
			_sfflow.console_may_release(x.target, x.held_by) AS may_release
		FROM @extschema@.sf_holds x ORDER BY x.since LIMIT $1) h);
--@else
CREATE FUNCTION _sfflow.console_holds(most integer) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '[]'::jsonb;
--@end

-- How many rows a page is to have.
CREATE FUNCTION _sfflow.console_limit(q jsonb, usual integer, most integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(greatest(coalesce(($1 ->> 'limit')::integer, $2), 1), $3);

--@slot console

-- The jobs of an execution that failed: first the one with the error of the execution, last those that were aborted.
CREATE FUNCTION _sfflow.console_failed_jobs(execution_id text, most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_agg(j.job_id ORDER BY j.rank)
	FROM (
		SELECT x.job_id, row_number() OVER (ORDER BY x.error IS NULL, x.error IS DISTINCT FROM e.error,
			x.cause IS DISTINCT FROM e.cause,
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
	CROSS JOIN LATERAL (SELECT x.cause FROM @extschema@.sf_executions x
		WHERE x.execution_id = l.execution_id OFFSET 0) e
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
		JOIN @extschema@.sf_metrics_by_hour h ON h.state_machine = l.name AND h.hour > t.since - interval '1 hour'
			AND h.hour < t.until
		CROSS JOIN LATERAL (VALUES ('SUCCEEDED', h.executions_succeeded), ('FAILED', h.executions_failed),
			('TIMED_OUT', h.executions_timed_out), ('ABORTED', h.executions_aborted)) x(state, n)
		WHERE l.state = 'MASS' AND x.n > 0
	)
	SELECT _sfflow.console_bounded(jsonb_build_object('rows',
		coalesce(jsonb_agg(to_jsonb(g) ORDER BY g.first_planned, g.name, g.state), '[]')), '{"rows": 200}')
	FROM (
		SELECT * FROM (
			SELECT x.name, x.state, count(*) AS n, min(x.planned_at) AS first_planned,
				max(x.planned_at) AS last_planned,
				min(x.started_at) AS started_at, max(x.ended_at) AS ended_at,
					max(extract(epoch FROM x.took)) * 1000 AS took,
				max(extract(epoch FROM x.usual)) * 1000 AS usual, max(x.expected_end) AS expected_end,
				(array_agg(x.target ORDER BY x.planned_at))[1] AS target,
				left((array_agg(x.detail ORDER BY x.planned_at DESC))[1], 500) AS detail,
				left((array_agg(x.next ORDER BY x.planned_at))[1], 500) AS next
			FROM line x WHERE x.state <> 'MASS' GROUP BY x.name, x.state
			UNION ALL
			SELECT m.name, m.state, sum(m.n)::bigint, min(m.hour), max(m.hour), NULL, NULL, NULL, NULL, NULL, NULL,
				NULL, NULL
			FROM mass m GROUP BY m.name, m.state
			UNION ALL
			SELECT r.state_machine, 'RUNNING', r.running, r.requested_at, r.requested_at, r.started_at, NULL,
				extract(epoch FROM now() - r.started_at) * 1000, NULL, NULL, r.execution_id, NULL, NULL
			FROM _sfflow.longest_running(1) r
				WHERE r.state_machine IN (SELECT l.name FROM line l WHERE l.state = 'MASS')) y
		ORDER BY y.first_planned LIMIT 200 + 1) g);

-- tonight {since}: what failed and why (by machine and error, of the latest 300), what is late, runs, is held, and
-- comes next; failures that Distributed Maps tolerate; counts by hour and machine. Of what is late and of what runs, a
-- machine with more than three has the longest one, and how many further ones there are. "cut" has "failures" if there
-- are more than 300 of them.
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
	SELECT _sfflow.console_bounded(jsonb_build_object(
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
				SELECT f.*, count(*) OVER same AS n,
					row_number() OVER (same ORDER BY f.since DESC, f.execution_id) AS k,
					(array_agg(f.execution_id) OVER (same ORDER BY f.since DESC, f.execution_id
						ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))[1:50] AS executions
				FROM (
					SELECT a.kind, a.execution_id, a.since, split_part(e.state_machine, '/', 1) AS state_machine,
						left(e.error, 500) AS error, e.cause, coalesce(e.last_redriven_at, e.started_at) AS started_at,
							e.redrive_count
					FROM (SELECT * FROM alert y WHERE y.kind IN ('failed', 'timed_out') ORDER BY y.since DESC
						LIMIT 300) a
					JOIN LATERAL (
						SELECT x.* FROM @extschema@.sf_executions x WHERE x.execution_id = a.execution_id OFFSET 0) e
							ON true) f
				WINDOW same AS (PARTITION BY f.kind, f.state_machine, f.error)) l
			WHERE l.k = 1 ORDER BY l.since DESC LIMIT 25 + 1) g),
		'late', (SELECT coalesce(jsonb_agg(to_jsonb(l) ORDER BY l.since, l.kind), '[]') FROM (
			SELECT y.kind, y.execution_id, y.since, left(y.detail, 500) AS detail, y.target,
				CASE WHEN y.n > 3 THEN y.n - 1 ELSE 0 END AS further
			FROM (
				SELECT x.*, count(*) OVER same AS n, row_number() OVER (same ORDER BY x.since, x.execution_id) AS k
				FROM (SELECT a.*, coalesce(split_part(a.execution_id, ':', 1), a.target) AS name FROM alert a
					WHERE a.kind NOT IN ('failed', 'timed_out', 'failed_again')) x
				WINDOW same AS (PARTITION BY x.kind, x.name)) y
			WHERE y.k = 1 OR y.n <= 3 ORDER BY y.since, y.kind LIMIT 50 + 1) l),
		'tolerated', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.started_at DESC), '[]') FROM (
			SELECT x.execution_id, x.state, x.status, x.items, x.items_succeeded, x.items_failed, x.started_at,
				x.stopped_at
			FROM @extschema@.sf_map_runs x
			WHERE x.items_failed > 0 AND x.status IN ('SUCCEEDED', 'RUNNING')
				AND x.started_at > coalesce(($1 ->> 'since')::timestamptz, now() - interval '24 hours')
			ORDER BY x.started_at DESC LIMIT 25 + 1) r),
		'running', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.requested_at, r.execution_id), '[]') FROM (
			SELECT l.execution_id, l.state_machine, l.requested_at, l.started_at, l.running, l.further,
				left(e.waiting_on, 500) AS waiting_on,
				CASE WHEN l.n <= 12 THEN _sfflow.console_progress(l.execution_id) END AS progress
			FROM (
				SELECT x.*, CASE WHEN x.running > 3 THEN x.running - 1 ELSE 0 END AS further,
					row_number() OVER (ORDER BY x.requested_at, x.execution_id) AS n
				FROM (
					SELECT y.*, row_number() OVER (PARTITION BY y.state_machine ORDER BY y.requested_at,
						y.execution_id) AS k
					FROM running y) x
				WHERE x.k = 1 OR x.running <= 3 ORDER BY x.requested_at, x.execution_id LIMIT 25) l
			JOIN LATERAL (SELECT x.* FROM @extschema@.sf_executions x WHERE x.execution_id = l.execution_id OFFSET 0) e
				ON true) r),
		'running_count', (SELECT coalesce(sum(x.running), 0)
			FROM (SELECT DISTINCT y.state_machine, y.running FROM running y) x),
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
			FROM @extschema@.sf_schedules x ORDER BY x.next_run LIMIT 25 + 1) s),
		'held', _sfflow.console_holds(25 + 1),
--@slot console_tonight
		'unwell', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.item), '[]') FROM (
			SELECT x.item, left(x.detail, 500) AS detail FROM @extschema@.sf_health x WHERE NOT x.ok) h),
		'hours', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.hour), '[]') FROM (
			SELECT x.hour, sum(x.executions_started) AS started, sum(x.executions_succeeded) AS succeeded,
				sum(x.executions_failed + x.executions_timed_out) AS failed, sum(x.executions_aborted) AS aborted
			FROM hour x GROUP BY x.hour ORDER BY x.hour DESC LIMIT 48) h),
		'machines', (SELECT coalesce(jsonb_agg(to_jsonb(m) ORDER BY m.failed DESC, m.started DESC, m.state_machine),
			'[]') FROM (
			SELECT x.state_machine, sum(x.executions_started) AS started, sum(x.executions_succeeded) AS succeeded,
				sum(x.executions_failed + x.executions_timed_out) AS failed, sum(x.executions_aborted) AS aborted
			FROM hour x GROUP BY x.state_machine ORDER BY 4 DESC, 2 DESC LIMIT 50 + 1) m),
		'cut', CASE WHEN (SELECT count(*) FROM alert a WHERE a.kind IN ('failed', 'timed_out')) > 300
			THEN '["failures"]'::jsonb ELSE '[]' END),
		'{"failed": 25, "late": 50, "tolerated": 25, "next": 25, "held": 25, "machines": 50}'));

-- The next executions of a filter {state_machine, status, error, name, parent, after, before, key, items, labels},
-- "most" of them, the newest first. Items of Distributed Maps are left out, unless those of a parent are asked for, or
-- items is true.
CREATE FUNCTION _sfflow.console_listed(
	q jsonb,
	most integer,
	OUT execution_id text,
	OUT state_machine text,
	OUT name text,
	OUT status text,
	OUT error text,
	OUT requested_at timestamptz,
	OUT started_at timestamptz,
	OUT stopped_at timestamptz,
	OUT page_key text,
	OUT n bigint)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
	SELECT a.* FROM @extschema@.sf_list_executions(
		$1 ->> 'state_machine', $1 ->> 'status', $1 ->> 'error', $1 ->> 'name', NULL, $1 ->> 'parent',
		($1 ->> 'after')::timestamptz, ($1 ->> 'before')::timestamptz, $2, $1 ->> 'key', $1 ->> 'parent' IS NULL
			AND NOT coalesce(($1 ->> 'items')::boolean, false))
		WITH ORDINALITY AS a(execution_id, state_machine, name, status, error, requested_at, started_at, stopped_at,
			page_key, n)
	WHERE $1 -> 'labels' IS NULL
--@slot console_executions
	;
END;

-- Does a filter look inside of executions? Then each has to be looked at. A path that is none is refused.
CREATE FUNCTION _sfflow.console_searches(q jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF q ->> 'path' IS NOT NULL THEN
		PERFORM (q ->> 'path')::jsonpath;
	END IF;
	RETURN coalesce(q ->> 'text', q ->> 'path') IS NOT NULL;
EXCEPTION WHEN syntax_error OR invalid_text_representation THEN
	RAISE EXCEPTION '"%" is no path into the input', left(q ->> 'path', 200)
		USING ERRCODE = 'SF012', DETAIL = SQLERRM, HINT = 'Write a JSON path, such as $.order.id.';
END
$$;

-- Does an execution have what a filter {text, path, value} looks for: a text in its error or the cause, upper or lower
-- case; and at a path into its input a value, or, if none is given, anything but null and false?
CREATE FUNCTION _sfflow.console_fits(q jsonb, input jsonb, error text, cause text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (($1 ->> 'text') IS NULL OR strpos(lower(concat_ws(E'\n', $3, $4)), lower($1 ->> 'text')) > 0)
	AND (($1 ->> 'path') IS NULL OR EXISTS (
		SELECT FROM jsonb_path_query($2, ($1 ->> 'path')::jsonpath, silent => true) AS x(found)
		WHERE CASE WHEN ($1 ->> 'value') IS NULL THEN x.found NOT IN ('null', 'false')
			ELSE x.found #>> '{}' = $1 ->> 'value' END));

-- executions {state_machine, status, error, name, parent, after, before, limit, key, items, labels, text, path, value}:
-- a page, the newest first. What is inside of executions is looked for in 1,000 of them; "looked" says in how many it
-- was, and the next page goes on after these.
CREATE FUNCTION _sfflow.console_executions(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL UNSAFE
RETURN (
	WITH asked AS MATERIALIZED (
		SELECT s.searches, _sfflow.console_limit($1, 50, 200) AS page,
			CASE WHEN s.searches THEN 1000 ELSE _sfflow.console_limit($1, 50, 200) END AS most
		FROM (SELECT _sfflow.console_searches($1) AS searches) s
	), line AS MATERIALIZED (
		SELECT l.*, e.redrive_count, e.waiting_on, e.cause, e.labels,
			CASE WHEN a.searches THEN coalesce(e.fits, false) ELSE true END AS fits
		FROM asked a
		CROSS JOIN LATERAL _sfflow.console_listed($1, a.most) l
		LEFT JOIN LATERAL (
			SELECT x.redrive_count, x.waiting_on, x.cause, x.labels,
				CASE WHEN a.searches THEN _sfflow.console_fits($1, x.input, x.error, x.cause) END AS fits
			FROM @extschema@.sf_executions x WHERE x.execution_id = l.execution_id OFFSET 0) e ON true
	), hit AS MATERIALIZED (
		SELECT l.*, row_number() OVER (ORDER BY l.n) AS k FROM line l WHERE l.fits
	), bound AS (
		SELECT coalesce((SELECT h.n FROM hit h CROSS JOIN asked a WHERE h.k = a.page),
			(SELECT max(l.n) FROM line l)) AS n
	)
	SELECT jsonb_build_object(
		'rows', (SELECT coalesce(jsonb_agg(jsonb_build_object('execution_id', h.execution_id, 'state_machine',
			h.state_machine, 'name', h.name, 'status', h.status, 'error', left(h.error, 500), 'cause',
				_sfflow.console_cut(h.cause, 1000),
			'requested_at', h.requested_at, 'started_at', h.started_at, 'stopped_at', h.stopped_at, 'took',
				_sfflow.took_ms(h.execution_id), 'page_key', h.page_key,
			'redrive_count', h.redrive_count, 'waiting_on', left(h.waiting_on, 500), 'labels', h.labels)
			ORDER BY h.n), '[]') FROM hit h WHERE h.n <= b.n),
		'rights', _sfflow.console_rights(ARRAY(SELECT h.execution_id FROM hit h WHERE h.n <= b.n)),
		'next', (SELECT l.page_key FROM line l
			WHERE l.n = b.n AND (b.n < (SELECT max(y.n) FROM line y) OR (SELECT count(*) FROM line) = a.most)))
		|| CASE WHEN a.searches THEN jsonb_build_object('looked', coalesce(b.n, 0)) ELSE '{}' END
	FROM bound b CROSS JOIN asked a);

-- The next "most" executions of a filter {as of executions, and act}: does each fit, is the action for it, and may the
-- caller do that?
CREATE FUNCTION _sfflow.console_matches(
	q jsonb,
	most integer,
	OUT execution_id text,
	OUT fits boolean,
	OUT is_for boolean,
	OUT may boolean,
	OUT page_key text,
	OUT n bigint)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
	WITH asked AS MATERIALIZED (
		SELECT _sfflow.console_searches($1) AS searches
	), line AS MATERIALIZED (
		SELECT l.* FROM _sfflow.console_listed($1, $2) l
	), machine AS MATERIALIZED (
		SELECT s.state_machine,
			'OPERATE' = ANY (s.rights) OR ($1 ->> 'act' = 'redrive' AND 'START' = ANY (s.rights)) AS may
		FROM (SELECT x.state_machine, _sfflow.machine_rights(x.state_machine, x.owner) AS rights
			FROM @extschema@.sf_state_machines x
			WHERE x.is_current AND x.state_machine IN (SELECT split_part(l.state_machine, '/', 1) FROM line l)) s
	), held AS MATERIALIZED (
--@with hold
		SELECT h.target FROM @extschema@.sf_holds h WHERE $1 ->> 'act' = 'release' AND h.state IS NULL
--@else
		SELECT NULL::text AS target WHERE false
--@end
	)
	SELECT l.execution_id,
		CASE WHEN a.searches THEN coalesce((
			SELECT _sfflow.console_fits($1, x.input, x.error, x.cause) FROM @extschema@.sf_executions x
			WHERE x.execution_id = l.execution_id OFFSET 0), false) ELSE true END,
		CASE $1 ->> 'act'
			WHEN 'stop' THEN l.status = 'RUNNING'
			WHEN 'hold' THEN l.status = 'RUNNING'
			WHEN 'redrive' THEN l.status IN ('FAILED', 'TIMED_OUT', 'ABORTED')
			WHEN 'release' THEN l.execution_id IN (SELECT h.target FROM held h)
			ELSE true END,
		coalesce((SELECT m.may FROM machine m WHERE m.state_machine = split_part(l.state_machine, '/', 1)), false),
		l.page_key, l.n
	FROM line l CROSS JOIN asked a;
END;

-- Refuse what is no action on all executions of a filter.
CREATE FUNCTION _sfflow.console_check_act(act text) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF act IS NULL OR act NOT IN ('stop', 'redrive', 'hold', 'release', 'set_labels') THEN
		RAISE EXCEPTION '"act" must be stop, redrive, hold, release or set_labels' USING ERRCODE = 'SF012';
	END IF;
END
$$;

-- count_matches {filter, act, key}: of the next 1,000 executions of a filter, to how many the action would be done;
-- and how many are left out, since it is not for them or for want of a right. "until" is when the count was made: with
-- it as "before", an action leaves out what was requested later.
CREATE FUNCTION _sfflow.console_count_matches(q jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM _sfflow.console_check_act(q ->> 'act');
	RETURN (
		SELECT jsonb_build_object('looked', count(*),
			'n', count(*) FILTER (WHERE m.fits AND m.is_for AND m.may),
			'not_for', count(*) FILTER (WHERE m.fits AND NOT m.is_for),
			'no_right', count(*) FILTER (WHERE m.fits AND m.is_for AND NOT m.may),
			'until', now(),
			'next', CASE WHEN count(*) = 1000 THEN (array_agg(m.page_key ORDER BY m.n DESC))[1] END)
		FROM _sfflow.console_matches(q, 1000) m);
END
$$;

-- execution {execution_id}: its row, the status of each state, what runs, map runs, holds, what was done to it.
CREATE FUNCTION _sfflow.console_execution(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object(
		'states', @extschema@.sf_graph_status($1 ->> 'execution_id'),
		'rights', _sfflow.console_rights(ARRAY[$1 ->> 'execution_id']),
		'execution', (
			SELECT jsonb_build_object('execution_id', e.execution_id, 'state_machine', e.state_machine, 'version',
				e.version,
				'name', e.name, 'status', e.status, 'error', left(e.error, 2000), 'cause',
					_sfflow.console_cut(e.cause, 4000),
				'input', _sfflow.console_cut(e.input::text, 20000), 'output',
					_sfflow.console_cut(e.output::text, 20000),
				'requested_at', e.requested_at, 'started_at', e.started_at, 'stopped_at', e.stopped_at,
				'redrive_count', e.redrive_count, 'last_redriven_at', e.last_redriven_at, 'start_requests',
					e.start_requests,
				'parent_execution_id', e.parent_execution_id, 'waiting_on', left(e.waiting_on, 2000),
				'labels', e.labels)
			FROM @extschema@.sf_executions e WHERE e.execution_id = $1 ->> 'execution_id'),
		'jobs', (SELECT coalesce(jsonb_object_agg(j.job_status, j.n), '{}') FROM (
			SELECT CASE WHEN x.job_status = 'failure' AND x.error IS NULL THEN 'aborted' ELSE x.job_status
				END AS job_status, count(*) AS n
			FROM @extschema@.sf_jobs x WHERE x.execution_id = $1 ->> 'execution_id' GROUP BY 1) j),
		'failed', (
			SELECT _sfflow.console_failed_jobs(e.execution_id, 1)
			FROM @extschema@.sf_executions e WHERE e.execution_id = $1 ->> 'execution_id'
				AND e.status IN ('FAILED', 'TIMED_OUT')),
		'item', (
			SELECT _sfflow.console_failed_item(e.execution_id, e.error)
			FROM @extschema@.sf_executions e WHERE e.execution_id = $1 ->> 'execution_id'),
		'took', _sfflow.took_ms($1 ->> 'execution_id'),
--@slot console_execution
		'progress', _sfflow.console_progress($1 ->> 'execution_id'),
		'tasks', (SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM (
			SELECT x.state, x.branch, x.resource, x.status, x.attempt, x.scheduled_at, x.started_at, x.deadline,
				x.heartbeat_at, x.worker
			FROM @extschema@.sf_tasks x WHERE x.execution_id = $1 ->> 'execution_id' LIMIT 50) t),
		'map_runs', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.started_at DESC), '[]') FROM (
			SELECT x.state, x.map_run_arn, x.status, x.items, x.items_succeeded, x.items_failed, x.executions,
				x.running,
				x.succeeded, x.failed, x.timed_out, x.aborted, x.redrive_count, x.started_at, x.stopped_at
			FROM @extschema@.sf_map_runs x WHERE x.execution_id = $1 ->> 'execution_id' ORDER BY x.started_at DESC
				LIMIT 20) r),
--@with hold
		'held', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.since), '[]') FROM (
			SELECT x.target, x.state, x.since, x.held_by, x.reason FROM @extschema@.sf_holds x
			WHERE x.target IN ($1 ->> 'execution_id', split_part($1 ->> 'execution_id', ':', 1)) LIMIT 20) h),
--@else
		'held', '[]'::jsonb,
--@end
		'done', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.at DESC), '[]') FROM (
			SELECT x.at, x.action, x.role, x.session_role, left(x.reason, 500) AS reason, x.details
				FROM @extschema@.sf_audit x
			WHERE x.execution_id = $1 ->> 'execution_id' ORDER BY x.at DESC LIMIT 30) a),
		'usual', (SELECT jsonb_build_object('p50', m.execution_time_ms_p50, 'p95', m.execution_time_ms_p95)
			FROM @extschema@.sf_metrics m WHERE m.state_machine = split_part($1 ->> 'execution_id', ':', 1))));

-- jobs {execution_id, status, limit, after}: its jobs in the order of sf_jobs; after is a number of one. Those that
-- were aborted have a status of their own.
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
				CASE WHEN y.job_status = 'failure' AND y.error IS NULL THEN 'aborted' ELSE y.job_status
					END AS job_status
			FROM @extschema@.sf_jobs y WHERE y.execution_id = $1 ->> 'execution_id') x
		WHERE x.n > coalesce(($1 ->> 'after')::bigint, 0)
			AND (($1 ->> 'status') IS NULL OR x.job_status = $1 ->> 'status')
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
		'rows', (SELECT coalesce(jsonb_agg(to_jsonb(s) - 'iterations' ORDER BY s.first_event, s.branch), '[]')
			FROM span s),
		'next', (SELECT CASE WHEN count(*) >= _sfflow.console_limit($1, 300, 1000) THEN max(s.first_event) END
			FROM span s),
		'usual', (
			SELECT coalesce(jsonb_object_agg(t.job_id,
				jsonb_build_object('runs', t.recent_runs, 'p50', t.recent_ms_p50, 'p95', t.recent_ms_p95)), '{}')
			FROM (SELECT * FROM @extschema@.sf_job_times y
				WHERE y.state_machine = split_part($1 ->> 'execution_id', ':', 1) AND y.recent_runs > 0
				ORDER BY y.job_id LIMIT 500) t)));

-- The head of an execution that is compared.
CREATE FUNCTION _sfflow.console_compared(execution_id text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('execution_id', e.execution_id, 'state_machine', e.state_machine, 'version', e.version,
		'status', e.status, 'requested_at', e.requested_at, 'started_at', e.started_at, 'stopped_at', e.stopped_at,
		'took', _sfflow.took_ms(e.execution_id), 'error', left(e.error, 500))
	FROM @extschema@.sf_executions e WHERE e.execution_id = $1);

-- The newest executions with which one can be compared: those of its machine; with a status only those that were
-- requested before it. Of an item of a Distributed Map its siblings.
CREATE FUNCTION _sfflow.console_others(execution_id text, status text, most integer) RETURNS SETOF jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
	SELECT jsonb_build_object('execution_id', l.execution_id, 'status', l.status, 'requested_at', l.requested_at)
	FROM (
		SELECT x.state_machine, x.parent_execution_id, x.requested_at, $1 ~ '^[^:]*/' AS is_item
		FROM @extschema@.sf_executions x WHERE x.execution_id = $1) e
	CROSS JOIN LATERAL @extschema@.sf_list_executions(
		state_machine => CASE WHEN NOT e.is_item THEN e.state_machine END,
		status => $2,
		parent_execution_id => CASE WHEN e.is_item THEN e.parent_execution_id END,
		requested_before => CASE WHEN NOT e.is_item AND $2 IS NOT NULL THEN e.requested_at END,
		page_size => $3 + 1,
		without_items => NOT e.is_item) l
	WHERE l.execution_id <> $1
	LIMIT $3;
END;

-- compare {a, b, all}: the jobs of two executions beside each other; without "a" the other one is the last before b
-- that succeeded. Only jobs that differ have a row, unless all are asked for. A duration differs if it is half as long
-- again, and by half a second.
CREATE FUNCTION _sfflow.console_compare(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	WITH other AS MATERIALIZED (
		SELECT coalesce($1 ->> 'a', o.good) AS a, o.good
		FROM (SELECT (
			SELECT g.one ->> 'execution_id'
			FROM _sfflow.console_others($1 ->> 'b', 'SUCCEEDED', 1) AS g(one)) AS good) o
	), line AS MATERIALIZED (
		SELECT c.*, c.only_in IS NOT NULL OR c.status_a <> c.status_b OR c.attempts_a <> c.attempts_b
			OR c.error_a IS DISTINCT FROM c.error_b OR c.output_differs <> '{}' OR (
				greatest(c.duration_a, c.duration_b) > least(c.duration_a, c.duration_b) * 1.5
				AND greatest(c.duration_a, c.duration_b) - least(c.duration_a, c.duration_b) > interval '0.5 s')
				AS differs
		FROM other o
		CROSS JOIN LATERAL @extschema@.sf_compare(o.a, $1 ->> 'b') WITH ORDINALITY AS c(job_id, only_in, status_a,
			status_b, duration_a, duration_b, usual_duration, attempts_a, attempts_b, error_a, error_b, input_differs,
			output_differs, is_cut, n)
		WHERE o.a IS NOT NULL
	)
	SELECT jsonb_build_object(
		'a', _sfflow.console_compared(o.a),
		'b', _sfflow.console_compared($1 ->> 'b'),
		'good', o.good,
		'others', (SELECT coalesce(jsonb_agg(x.one), '[]') FROM _sfflow.console_others($1 ->> 'b', NULL, 30) AS x(one)),
		'jobs', (SELECT count(*) FROM line),
		'differ', (SELECT count(*) FILTER (WHERE coalesce(l.differs, false)) FROM line l),
		'rows', (SELECT coalesce(jsonb_agg(to_jsonb(r) - 'n' ORDER BY r.n), '[]') FROM (
			SELECT l.n, l.job_id, l.only_in, l.status_a, l.status_b, l.attempts_a, l.attempts_b,
				extract(epoch FROM l.duration_a) * 1000 AS ms_a, extract(epoch FROM l.duration_b) * 1000 AS ms_b,
				extract(epoch FROM l.usual_duration) * 1000 AS usual,
				left(l.error_a, 500) AS error_a, left(l.error_b, 500) AS error_b,
				to_jsonb(l.input_differs) AS input_differs, to_jsonb(l.output_differs) AS output_differs, l.is_cut
			FROM line l WHERE l.differs OR ($1 ->> 'all')::boolean
			ORDER BY l.n LIMIT _sfflow.console_limit($1, 200, 500)) r))
	FROM other o);

-- grid {state_machine, runs}: the last runs of a machine, the newest first, and its jobs, each with a cell per run:
-- [status, milliseconds, jobs, failed, attempts], or null if the run has none.
CREATE FUNCTION _sfflow.console_grid(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	WITH cell AS MATERIALIZED (
		SELECT * FROM @extschema@.sf_grid($1 ->> 'state_machine',
			least(greatest(coalesce(($1 ->> 'runs')::integer, 30), 1), 100)) WITH ORDINALITY AS g(execution_id, requested_at, status, took, job_id, job_status, jobs, failed, attempts,
			duration, usual_duration, n)
	), run AS MATERIALIZED (
		SELECT c.execution_id, c.requested_at, c.status, max(c.took) AS took, min(c.n) AS n
		FROM cell c GROUP BY c.execution_id, c.requested_at, c.status
	), job AS MATERIALIZED (
		SELECT c.job_id, max(c.usual_duration) AS usual, min(c.n) AS n
		FROM cell c WHERE c.job_id IS NOT NULL GROUP BY c.job_id
	)
	SELECT jsonb_build_object(
		'runs', (SELECT coalesce(jsonb_agg(jsonb_build_object('execution_id', r.execution_id, 'requested_at',
			r.requested_at, 'status', r.status, 'ms', extract(epoch FROM r.took) * 1000) ORDER BY r.n), '[]') FROM run r),
		'jobs', (SELECT count(*) FROM job),
		'rows', (SELECT coalesce(jsonb_agg(jsonb_build_object('job_id', x.job_id,
				'usual', extract(epoch FROM x.usual) * 1000, 'cells', x.cells) ORDER BY x.n), '[]')
			FROM (
				SELECT j.job_id, j.usual, j.n, jsonb_agg(CASE WHEN c.n IS NOT NULL THEN jsonb_build_array(c.job_status,
					extract(epoch FROM c.duration) * 1000, c.jobs, c.failed, c.attempts) END ORDER BY r.n) AS cells
				FROM (SELECT * FROM job ORDER BY job.n LIMIT _sfflow.console_limit($1, 200, 500)) j
				CROSS JOIN run r
				LEFT JOIN cell c ON c.execution_id = r.execution_id AND c.job_id = j.job_id
				GROUP BY j.job_id, j.usual, j.n) x)));

-- The beginning of the input or the output in an event; of an output only in that with which a state was left.
CREATE FUNCTION _sfflow.console_event_payload(execution_id text, event integer, member text,
	left_state text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('event', p.id, 'text', p.details, 'bytes', p.bytes, 'cut',
		p.bytes > octet_length(p.details))
	FROM _sfflow.event_page($1, $2 - 1, $2, NULL, NULL, $3, 20000, 1) p
	WHERE p.details IS NOT NULL AND ($4 IS NULL OR p.type LIKE '%Exited' AND p.state = $4));

-- state {execution_id, state, event}: the visits of a state; input, output, error and events of the one that event
-- names.
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
				FROM jsonb_array_elements(_sfflow.console_failed_jobs($1 ->> 'execution_id',
					20)) WITH ORDINALITY AS f(job, n)
				WHERE f.job #>> '{}' IN (SELECT x.job_id FROM span x) ORDER BY f.n LIMIT 1) DESC NULLS LAST,
			s.first_event DESC LIMIT 1
	), visit AS MATERIALIZED (
		SELECT c.state_no, c.iterations, c.job_id, c.visit, min(s.first_event) AS first_event,
			max(s.last_event) AS last_event
		FROM chosen c JOIN span s ON s.job_id = c.job_id AND s.visit = c.visit
		GROUP BY c.state_no, c.iterations, c.job_id, c.visit
	)
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'visits', (SELECT coalesce(jsonb_agg(to_jsonb(s) - 'iterations' ORDER BY s.first_event), '[]') FROM (
			SELECT * FROM span x ORDER BY x.first_event DESC LIMIT 200) s),
		'chosen', (SELECT to_jsonb(v) - 'iterations' FROM visit v),
		'input', (SELECT _sfflow.console_event_payload($1 ->> 'execution_id', v.first_event, 'input', NULL)
			FROM visit v),
		'output', (SELECT _sfflow.console_event_payload($1 ->> 'execution_id', v.last_event, 'output', $1 ->> 'state')
			FROM visit v),
		'job', (SELECT to_jsonb(j) FROM (
			SELECT x.job_status, x.attempts, left(x.error, 2000) AS error, _sfflow.console_cut(x.cause, 4000) AS cause
			FROM @extschema@.sf_jobs x JOIN visit v ON v.job_id = x.job_id WHERE x.execution_id = $1 ->> 'execution_id'
				LIMIT 1) j),
		'usual', (SELECT jsonb_build_object('runs', t.recent_runs, 'p50', t.recent_ms_p50, 'p95', t.recent_ms_p95)
			FROM @extschema@.sf_job_times t
			WHERE t.state_machine = split_part($1 ->> 'execution_id', ':', 1) AND t.job_id = $1 ->> 'state' LIMIT 1),
		'events', (SELECT coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.id), '[]')
			FROM visit v CROSS JOIN LATERAL _sfflow.event_page($1 ->> 'execution_id', v.first_event - 1, v.last_event,
				v.state_no, v.iterations, NULL, 1000, 100 + 1) p),
		'cut', CASE WHEN (SELECT count(*) FROM span) > 200 THEN '["visits"]'::jsonb ELSE '[]' END), '{"events": 100}'));

-- events {execution_id, after, limit}: a page of its history.
CREATE FUNCTION _sfflow.console_events(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.id), '[]'),
		'next', CASE WHEN count(*) = _sfflow.console_limit($1, 100, 500) THEN max(p.id) END)
	FROM _sfflow.event_page($1 ->> 'execution_id', ($1 ->> 'after')::integer, NULL, NULL, NULL, NULL, 500,
		_sfflow.console_limit($1, 100, 500)) p);

-- payload {execution_id, what, event, member, task, offset, limit}: a piece of a text that was cut elsewhere.
CREATE FUNCTION _sfflow.console_payload(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('text', substr(w.whole, coalesce(($1 ->> 'offset')::integer, 0) + 1,
		_sfflow.console_limit($1, 200000, 1000000)),
		'offset', coalesce(($1 ->> 'offset')::integer, 0), 'length', length(w.whole), 'bytes', octet_length(w.whole))
	FROM (
		SELECT p.details AS whole
		FROM _sfflow.event_page($1 ->> 'execution_id', ($1 ->> 'event')::integer - 1, ($1 ->> 'event')::integer,
			NULL, NULL, $1 ->> 'member', NULL, 1) p
		WHERE $1 ->> 'what' = 'event'
		UNION ALL
		SELECT CASE $1 ->> 'what' WHEN 'input' THEN e.input::text WHEN 'output' THEN e.output::text WHEN 'cause'
			THEN e.cause END
		FROM @extschema@.sf_executions e
		WHERE e.execution_id = $1 ->> 'execution_id' AND $1 ->> 'what' IN ('input', 'output', 'cause')
--@slot console_payload
		) w
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
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'machine', to_jsonb(s),
		'rights', _sfflow.console_rights(ARRAY[s.state_machine]),
--@slot console_machine
		'versions', (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.version DESC) FROM (
			SELECT x.version, x.is_current, x.created_at FROM @extschema@.sf_state_machines x
			WHERE x.state_machine = s.state_machine ORDER BY x.version DESC LIMIT 200 + 1) v),
		'aliases', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.alias, a.version), '[]') FROM (
			SELECT x.alias, x.version, x.percent, x.set_at FROM @extschema@.sf_aliases x
			WHERE x.state_machine = s.state_machine ORDER BY x.alias, x.version LIMIT 100) a),
		'times', (SELECT coalesce(jsonb_agg(to_jsonb(t) ORDER BY t.job_id), '[]') FROM (
			SELECT x.job_id, x.runs, x.failures, x.recent_ms_p50, x.recent_ms_p95, x.week_ms_p50,
				x.previous_week_ms_p50, x.last_at
			FROM @extschema@.sf_job_times x WHERE x.state_machine = s.state_machine ORDER BY x.job_id LIMIT 500 + 1) t),
--@with hold
		'held', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.since), '[]') FROM (
			SELECT x.target, x.state, x.since, x.held_by, x.reason, x.waiting FROM @extschema@.sf_holds x
			WHERE x.target = s.state_machine OR x.target LIKE replace(replace(s.state_machine, '\', '\\'), '_', '\_')
				|| ':%'
			ORDER BY x.since LIMIT 50) h)
--@else
		'held', '[]'::jsonb
--@end
		), '{"limits": 50, "deadlines": 50, "versions": 200, "times": 500}')
	FROM (
		SELECT x.state_machine, x.version, x.is_current, x.owner::text AS owner, x.definition::text AS definition,
			x.execution_id_path, x.options, x.created_at
		FROM @extschema@.sf_state_machines x
		WHERE x.state_machine = $1 ->> 'state_machine'
			AND CASE WHEN $1 ->> 'version' IS NULL THEN x.is_current ELSE x.version = ($1 ->> 'version')::integer
				END) s);

-- layout {target}: where the picture of a machine or an execution has what.
CREATE FUNCTION _sfflow.console_layout(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN @extschema@.sf_graph_layout($1 ->> 'target');

-- diff {state_machine, a, b}: what two versions differ in.
CREATE FUNCTION _sfflow.console_diff(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT _sfflow.console_bounded(jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.n), '[]')),
		'{"rows": 500}')
	FROM (
		SELECT x.n, x.pointer, x.change, _sfflow.console_cut(x.before::text, 2000) AS before,
			_sfflow.console_cut(x.after::text, 2000) AS after
		FROM @extschema@.sf_diff_versions($1 ->> 'state_machine', ($1 ->> 'a')::integer, ($1 ->> 'b')::integer)
			WITH ORDINALITY AS x(pointer, change, before, after, n)
		LIMIT 500 + 1) d);

-- validate {definition}: what is wrong with a definition.
CREATE FUNCTION _sfflow.console_validate(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT _sfflow.console_bounded(jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.n), '[]')),
		'{"rows": 200}')
	FROM (
		SELECT x.n, x.severity, x.code, left(x.location, 500) AS location, left(x.message, 1000) AS message
		FROM @extschema@.sf_validate($1 ->> 'definition') WITH ORDINALITY AS x(severity, code, location, message, n)
		LIMIT 200 + 1) d);

-- Schedules as the console has them: the one of a name, or those after a name, as many as are wanted.
CREATE FUNCTION _sfflow.console_schedule_rows(name text, after text, most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(s) ORDER BY s.schedule_name), '[]') FROM (
		SELECT x.schedule_name, x.schedule, x.timezone, x.state_machine,
			_sfflow.console_cut(x.input::text, 2000) AS input,
			x.active, x.next_run, x.last_execution_id, x.state, left(x.problem, 500) AS problem, x.owner, x.calendar,
				x.on_closed,
			x.starts, x.ends, x.missed, x.overlap, x.given_timezone, pg_has_role(x.owner, 'USAGE') AS may_edit,
--@with hold
			EXISTS (SELECT FROM @extschema@.sf_holds h WHERE h.target = 'schedule:' || x.schedule_name) AS held
--@else
			false AS held
--@end
		FROM @extschema@.sf_schedules x
		WHERE x.schedule_name > coalesce($2, '') AND ($1 IS NULL OR x.schedule_name = $1)
		ORDER BY x.schedule_name LIMIT $3) s);

-- schedules {after, limit}: schedules by name, and calendars.
CREATE FUNCTION _sfflow.console_schedules(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'rows', s.rows,
		'next', CASE WHEN jsonb_array_length(s.rows) = _sfflow.console_limit($1, 100, 200)
			THEN s.rows -> -1 -> 'schedule_name' END,
		'may_create', coalesce(has_schema_privilege(to_regnamespace('cron'), 'USAGE'), false),
		'calendars', (SELECT coalesce(jsonb_agg(to_jsonb(c) ORDER BY c.calendar), '[]') FROM (
			SELECT x.calendar, x.owner, _sfflow.console_cut(x.rule::text, 2000) AS rule,
				_sfflow.console_cut(x.days::text, 2000) AS days, pg_has_role(x.owner, 'USAGE') AS may_edit
			FROM @extschema@.sf_calendars x ORDER BY x.calendar LIMIT 100 + 1) c)), '{"calendars": 100}')
	FROM _sfflow.console_schedule_rows(NULL, $1 ->> 'after', _sfflow.console_limit($1, 100, 200)) AS s(rows));

-- schedule {name, from, to}: the schedule, its times from one to another, the days on which its calendar is closed, and
-- its last runs.
CREATE FUNCTION _sfflow.console_schedule(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN _sfflow.console_bounded(jsonb_build_object(
	'schedule', _sfflow.console_schedule_rows(coalesce($1 ->> 'name', ''), NULL, 1) -> 0,
	'times', (SELECT coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.scheduled_for), '[]') FROM (
		SELECT x.scheduled_for, x.local_time, x.execution_name
		FROM @extschema@.sf_schedule_preview($1 ->> 'name', coalesce(($1 ->> 'from')::timestamptz, now()),
			least(coalesce(($1 ->> 'to')::timestamptz, now() + interval '31 days'),
				coalesce(($1 ->> 'from')::timestamptz, now()) + interval '100 days')) x
		ORDER BY x.scheduled_for LIMIT 500 + 1) p),
	'closed', (SELECT coalesce(jsonb_agg(d.day ORDER BY d.day), '[]')
		FROM @extschema@.sf_schedules s
		CROSS JOIN LATERAL @extschema@.sf_calendar_days(s.calendar, ($1 ->> 'from')::date,
			least(($1 ->> 'to')::date, ($1 ->> 'from')::date + 100)) d
		WHERE s.schedule_name = $1 ->> 'name' AND s.calendar IS NOT NULL AND $1 ->> 'from' IS NOT NULL
			AND NOT d.is_open),
	'runs', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.scheduled_for DESC), '[]') FROM (
		SELECT x.scheduled_for, x.started_at, x.status, left(x.error, 500) AS error, x.execution_id, x.ended_at,
			_sfflow.took_ms(x.execution_id) AS took
		FROM @extschema@.sf_schedule_runs x WHERE x.schedule_name = $1 ->> 'name'
		ORDER BY x.scheduled_for DESC NULLS LAST LIMIT 50 + 1) r)), '{"times": 500, "runs": 50}');

-- activities {}: activities and dead letters.
CREATE FUNCTION _sfflow.console_activities(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	WITH dead AS MATERIALIZED (
		SELECT x.execution_id, x.state, x.branch, x.resource, _sfflow.console_cut(x.input::text, 2000) AS input,
			x.error,
			left(x.cause, 1000) AS cause, x.receives, x.died_at
		FROM @extschema@.sf_dead_letters x ORDER BY x.died_at DESC LIMIT 100 + 1
	)
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'rows', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.activity), '[]') FROM (
			SELECT x.activity, x.owner::text AS owner, x.queued, x.oldest_queued_at, x.in_flight, x.last_polled_at,
				x.last_worker
			FROM @extschema@.sf_activities x ORDER BY x.activity LIMIT 200 + 1) a),
		'dead', (SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.died_at DESC), '[]') FROM dead d),
		'rights', _sfflow.console_rights(ARRAY(SELECT d.execution_id FROM dead d))), '{"rows": 200, "dead": 100}'));

-- alerts {}: alerts, the latest first, and what was acknowledged last. Of more than a page failures are left out,
-- rather than alerts of other kinds. A failure has its error and the beginning of the cause.
CREATE FUNCTION _sfflow.console_alerts(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	WITH alert AS MATERIALIZED (
		SELECT y.*, row_number() OVER () AS n
		FROM (
			SELECT x.kind, x.execution_id, x.since, left(x.detail, 1000) AS detail, x.target, x.labels
			FROM @extschema@.sf_alerts x
			ORDER BY x.kind IN ('failed', 'timed_out', 'failed_again'), x.since DESC NULLS LAST, x.execution_id, x.kind
			LIMIT _sfflow.console_limit($1, 100, 500) + 1) y
	)
	SELECT _sfflow.console_bounded(jsonb_build_object(
		'rows', (SELECT coalesce(jsonb_agg(to_jsonb(a) - 'n' || coalesce(e.failure, '{}')
				ORDER BY a.since DESC, a.execution_id, a.kind), '[]')
			FROM alert a
			LEFT JOIN LATERAL (
				SELECT jsonb_build_object('error', left(x.error, 500), 'cause', _sfflow.console_cut(x.cause, 1000))
					AS failure
				FROM @extschema@.sf_executions x
				WHERE x.execution_id = a.execution_id AND a.kind IN ('failed', 'timed_out') OFFSET 0) e ON true
			WHERE a.n <= _sfflow.console_limit($1, 100, 500)),
		'rights', _sfflow.console_rights(ARRAY(SELECT a.execution_id FROM alert a)),
		'acknowledged', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.acknowledged_at DESC), '[]') FROM (
			SELECT x.kind, x.execution_id, x.acknowledged_at, x.acknowledged_by, left(x.comment, 500) AS comment
			FROM @extschema@.sf_acknowledgements x ORDER BY x.acknowledged_at DESC LIMIT 50 + 1) a),
		'cut', CASE WHEN (SELECT count(*) FROM alert) > _sfflow.console_limit($1, 100, 500) THEN '["rows"]'::jsonb
			ELSE '[]' END), '{"acknowledged": 50}'));

-- set_calendar {name, rule, days, new}: make a calendar, or another one in its place; rule and days are JSON text. With
-- new, a name that is taken is refused.
CREATE FUNCTION _sfflow.console_set_calendar(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF (q ->> 'new')::boolean
		AND EXISTS (SELECT FROM @extschema@.sf_calendars c WHERE c.calendar = q ->> 'name') THEN
		RAISE EXCEPTION 'there is a calendar "%" already', q ->> 'name' USING ERRCODE = 'SF012';
	END IF;
	PERFORM @extschema@.sf_create_calendar(q ->> 'name', (q ->> 'rule')::jsonb, nullif(q ->> 'days', '')::jsonb);
	RETURN jsonb_build_object('calendar', q ->> 'name');
END
$$;

-- plan_calendar, as set_calendar: the days of the next two months with it, and when the schedules that use it would run
-- next.
CREATE FUNCTION _sfflow.console_plan_calendar(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM _sfflow.console_set_calendar(q);
	RETURN jsonb_build_object(
		'days', (SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.day), '[]')
			FROM @extschema@.sf_calendar_days(q ->> 'name', current_date, current_date + 61) d),
		'schedules', (SELECT coalesce(jsonb_agg(to_jsonb(s) ORDER BY s.schedule_name), '[]') FROM (
			SELECT x.schedule_name, x.next_run FROM @extschema@.sf_schedules x WHERE x.calendar = q ->> 'name'
			ORDER BY x.schedule_name LIMIT 10) s));
END
$$;

-- set_alias {state_machine, alias, versions}: versions is JSON text, {"1": 90, "2": 10}.
CREATE FUNCTION _sfflow.console_set_alias(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM @extschema@.sf_set_alias(q ->> 'state_machine', q ->> 'alias', (q ->> 'versions')::jsonb);
	RETURN (
		SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.version), '[]')) FROM (
			SELECT x.version, x.percent FROM @extschema@.sf_aliases x
			WHERE x.state_machine = q ->> 'state_machine' AND x.alias = q ->> 'alias') a);
END
$$;

-- operations {}: workers, health, holds, limits, deadlines, what operators did last.
CREATE FUNCTION _sfflow.console_operations(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN _sfflow.console_bounded(jsonb_build_object(
	'health', (SELECT coalesce(jsonb_agg(jsonb_build_object('item', h.item, 'ok', h.ok, 'detail',
		left(h.detail, 1000))), '[]')
		FROM @extschema@.sf_health h),
	'workers', (SELECT coalesce(jsonb_agg(to_jsonb(w) ORDER BY w.pid), '[]') FROM (
		SELECT x.pid, x.role, x.state, x.execution_id, x.job_id, x.since, x.steps, x.owner::text AS owner, x.holds_slot
		FROM @extschema@.sf_workers x ORDER BY x.pid LIMIT 300 + 1) w),
	'held', _sfflow.console_holds(100 + 1),
--@slot console_operations
	'done', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.at DESC), '[]') FROM (
		SELECT x.at, x.action, x.target, x.role, x.session_role, left(x.reason, 500) AS reason
		FROM @extschema@.sf_list_audit(page_size => 50 + 1) x LIMIT 50 + 1) a)),
	'{"workers": 300, "held": 100, "limits": 100, "deadlines": 100, "done": 50}');

-- set_schedule {name, schedule, state_machine, input, timezone, calendar, on_closed, starts, ends, missed, overlap}:
-- make a schedule, or replace it; "" is as good as nothing. A schedule that is replaced keeps its owner and, unless one
-- is given, its input. With new, a name that is taken is refused.
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
		coalesce(q ->> 'on_closed', 'skip'), nullif(q ->> 'starts', '')::timestamptz,
			nullif(q ->> 'ends', '')::timestamptz,
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
		FROM (SELECT x.scheduled_for, x.local_time
			FROM @extschema@.sf_schedule_preview(q ->> 'name', begin_at, begin_at + ahead) x
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
		@extschema@.sf_test_state(($1 ->> 'definition')::json, coalesce($1 ->> 'input', '{}')::jsonb,
			mock => ($1 ->> 'mock')::jsonb,
			inspection_level => coalesce($1 ->> 'level', 'INFO'), state_name => $1 ->> 'state')::text, 200000)));

-- start {state_machine, input, name, if_exists}: the input is JSON text, as in all actions.
CREATE FUNCTION _sfflow.console_start(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN jsonb_build_object('execution_id',
	@extschema@.sf_start($1 ->> 'state_machine', coalesce($1 ->> 'input', '{}')::jsonb,
	$1 ->> 'name', coalesce($1 ->> 'if_exists', 'error')));

-- One execution, or one target, of the actions that take several; what it says.
CREATE FUNCTION _sfflow.console_one(action text, target text, q jsonb) RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN CASE $1
	WHEN 'redrive' THEN @extschema@.sf_redrive($2, $3 ->> 'from_state', ($3 ->> 'input')::jsonb,
		($3 ->> 'version')::integer)::text
	WHEN 'stop' THEN @extschema@.sf_stop($2, $3 ->> 'error', $3 ->> 'reason')
	WHEN 'acknowledge' THEN @extschema@.sf_acknowledge($2, $3 ->> 'kind', $3 ->> 'reason')::text
	WHEN 'acknowledge_all' THEN @extschema@.sf_acknowledge_all($2, ($3 ->> 'until')::timestamptz, $3 ->> 'reason')::text
	WHEN 'unschedule' THEN @extschema@.sf_unschedule($2)::text
	WHEN 'drop_calendar' THEN @extschema@.sf_drop_calendar($2)::text
	WHEN 'drop_alias' THEN @extschema@.sf_drop_alias($3 ->> 'state_machine', $2)::text
--@slot console_one
END;

-- An action on one target, whose error is that of the call, or on up to 50, each of which succeeds or fails by itself,
-- as does one with "each".
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
		IF cardinality(targets) = 1 AND NOT coalesce((q ->> 'each')::boolean, false) THEN
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

-- act_on_matches {filter, act, key, limit, reason, set_labels}: do something with up to 50 executions of a filter,
-- among the next 500, each by itself. What is refused is told; "next" is where the next call goes on.
CREATE FUNCTION _sfflow.console_act_on_matches(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	targets jsonb;
	looked bigint;
	goes_on text;
	done jsonb := '{"rows": []}';
BEGIN
	PERFORM _sfflow.console_check_act(q ->> 'act');
	WITH line AS MATERIALIZED (
		SELECT m.*, sum((m.fits AND m.is_for AND m.may)::integer) OVER (ORDER BY m.n) AS k
		FROM _sfflow.console_matches(q, 500) m
	), taken AS MATERIALIZED (
		SELECT l.* FROM line l WHERE l.k < _sfflow.console_limit(q, 50, 50)
			OR l.k = _sfflow.console_limit(q, 50, 50) AND l.fits AND l.is_for AND l.may
	)
	SELECT coalesce(jsonb_agg(t.execution_id ORDER BY t.n) FILTER (WHERE t.fits AND t.is_for AND t.may), '[]'),
		count(*),
		CASE WHEN count(*) < (SELECT count(*) FROM line) OR count(*) = 500
			THEN (array_agg(t.page_key ORDER BY t.n DESC))[1] END
	INTO targets, looked, goes_on FROM taken t;
	IF targets <> '[]' THEN
		done := _sfflow.console_each(q ->> 'act', jsonb_build_object('targets', targets, 'each', true, 'reason',
			q -> 'reason', 'labels', q -> 'set_labels'));
	END IF;
	RETURN (
		SELECT jsonb_build_object('looked', looked, 'done', count(*) FILTER (WHERE NOT r.one ? 'error'),
			'refused', coalesce(jsonb_agg(r.one) FILTER (WHERE r.one ? 'error'), '[]'), 'next', goes_on)
		FROM jsonb_array_elements(done -> 'rows') AS r(one));
END
$$;

-- The jobs that an execution has still to run: after a redrive from a state all that can follow it. "more" has those of
-- iterations that have not begun, by state, and items of Distributed Maps, by Map; of a Map without "jobs" the items
-- are not known yet. at_most: by a Choice or a Catch, not all of them may run. What it goes on with; fails_again if
-- that is nothing but Fail states.
CREATE FUNCTION _sfflow.console_ahead(execution_id text, from_state text) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	SELECT jsonb_build_object(
		'goes_on_with', (SELECT left(e.waiting_on, 500) FROM @extschema@.sf_executions e WHERE e.execution_id = $1),
		'fails_again', (
			SELECT coalesce(bool_and(d.drawn ->> 'type' = 'Fail'), false)
			FROM jsonb_array_elements(@extschema@.sf_graph_status($1)) AS s(state)
			JOIN jsonb_array_elements(@extschema@.sf_graph_layout($1) -> 'states') AS d(drawn)
				ON d.drawn -> 'id' = s.state -> 'id'
			WHERE s.state ? 'visits' AND s.state ->> 'status' IN ('entry', 'running')),
		'runs', j.runs,
		'runs_count', j.runs_count + (
			SELECT coalesce(sum((m.part ->> 'jobs')::bigint), 0)
				FROM jsonb_array_elements(a.ahead -> 'more') AS m(part)),
		'more', a.ahead -> 'more',
		'at_most', $2 IS NULL AND NOT (a.ahead ->> 'certain')::boolean,
		'kept_count', j.kept_count + (
			SELECT coalesce(sum(r.items_succeeded), 0) FROM @extschema@.sf_map_runs r WHERE r.execution_id = $1
				AND $2 IS NULL))
	FROM (
		SELECT coalesce(jsonb_agg(z.job_id ORDER BY z.n) FILTER (WHERE z.runs AND z.n <= 100), '[]') AS runs,
			count(*) FILTER (WHERE z.runs) AS runs_count,
				count(*) FILTER (WHERE NOT z.runs AND z.job_status = 'success') AS kept_count
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
		CASE action
			WHEN 'plan' THEN plan := _sfflow.console_plan(q);
			WHEN 'plan_schedule' THEN plan := _sfflow.console_plan_schedule(q);
			WHEN 'plan_calendar' THEN plan := _sfflow.console_plan_calendar(q);
			WHEN 'plan_alias' THEN plan := _sfflow.console_set_alias(q);
--@slot console_plans
		END CASE;
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

CREATE FUNCTION @extschema@.sf_console_actions() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY['acknowledge', 'acknowledge_all', 'act_on_matches', 'assign_task', 'claim_task', 'complete_task',
	'create_rule', 'discard', 'drop_alias', 'drop_calendar', 'drop_limit', 'drop_rule', 'fail_task', 'hold', 'mark',
	'plan', 'plan_alias', 'plan_calendar', 'plan_limit', 'plan_schedule', 'redeliver', 'redrive', 'release',
	'release_task', 'set_alias', 'set_calendar', 'set_labels', 'set_limit', 'set_schedule', 'start', 'stop',
	'test_state', 'unschedule'];
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
		WHEN 'count_matches' THEN answer := _sfflow.console_count_matches(request);
		WHEN 'act_on_matches' THEN answer := _sfflow.console_act_on_matches(request);
		WHEN 'execution' THEN answer := _sfflow.console_execution(request);
		WHEN 'jobs' THEN answer := _sfflow.console_jobs(request);
		WHEN 'timeline' THEN answer := _sfflow.console_timeline(request);
		WHEN 'compare' THEN answer := _sfflow.console_compare(request);
		WHEN 'grid' THEN answer := _sfflow.console_grid(request);
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
		WHEN 'operations' THEN answer := _sfflow.console_operations(request);
		WHEN 'test_state' THEN answer := _sfflow.console_test_state(request);
		WHEN 'start' THEN answer := _sfflow.console_start(request);
		WHEN 'set_schedule' THEN answer := _sfflow.console_set_schedule(request);
		WHEN 'set_calendar' THEN answer := _sfflow.console_set_calendar(request);
		WHEN 'set_alias' THEN answer := _sfflow.console_set_alias(request);
		WHEN 'plan', 'plan_schedule', 'plan_calendar', 'plan_alias' THEN answer := _sfflow.console_tried(action, request);
		WHEN 'redrive', 'stop', 'hold', 'release', 'mark', 'set_labels', 'acknowledge', 'acknowledge_all', 'unschedule',
			'drop_alias', 'drop_calendar', 'drop_limit', 'drop_rule', 'redeliver', 'discard' THEN
			answer := _sfflow.console_each(action, request);
--@slot console_answers
		-- pages of features that this build lacks
		WHEN 'inbox' THEN answer := '{"rows": [], "next": null, "counts": [], "held": [], "readable": []}';
		WHEN 'rules' THEN answer := '{"rows": [], "deliveries": [], "may_create": false}';
		ELSE
			RAISE EXCEPTION 'there is no action "%" of the console', left(action, 100) USING ERRCODE = 'SF012';
	END CASE;
--@slot console_merged
	RETURN coalesce(answer, 'null');
END
$$;
COMMENT ON FUNCTION @extschema@.sf_console_api(text, jsonb) IS
	'what the console asks for and does, with the rights of the caller; answers are bounded';

CREATE FUNCTION _sfflow.console(action text, request jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN @extschema@.sf_console_api($1, $2);

-- For sfgateway, on nodes where it has no connection of the role's own.
CREATE FUNCTION @extschema@.sf_console_api_as(role name, action text, request jsonb, writes boolean DEFAULT false)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_console_api_as'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_console_api_as(name, text, jsonb, boolean) IS
	'sf_console_api with the rights of a role that the session user is a member of; unless writes, it can only read';

--@slot agents
