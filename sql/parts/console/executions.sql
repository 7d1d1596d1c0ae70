-- sf_console_api: pages of executions, and how many of them a filter fits.

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
		SELECT h.target FROM _sfflow.console_held() h WHERE $1 ->> 'act' = 'release' AND h.state IS NULL
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
