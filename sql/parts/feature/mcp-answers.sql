-- What agents ask: the answers of the tools, and what those that write do.

--@into agents
-- The beginning of a text, which says how long all of it is if that is not the whole.
CREATE FUNCTION _sfflow.mcp_text(whole text, most integer) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN length($1) <= $2 THEN $1 ELSE left($1, $2) || format(' [cut: %s characters in all]', length($1)) END;

-- The first elements of an array.
CREATE FUNCTION _sfflow.mcp_first(list jsonb, most integer) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
	SELECT coalesce(jsonb_agg(x.element ORDER BY x.n), '[]')
	FROM jsonb_array_elements(coalesce($1, '[]')) WITH ORDINALITY AS x(element, n) WHERE x.n <= $2);

-- Has an array more elements?
CREATE FUNCTION _sfflow.mcp_more(list jsonb, most integer) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_array_length(coalesce($1, '[]')) > $2;

-- Rows of the console, with the beginning of the cause of each.
CREATE FUNCTION _sfflow.mcp_rows(list jsonb, most integer, most_text integer) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
	SELECT coalesce(jsonb_agg(x.element || jsonb_build_object('cause',
		_sfflow.mcp_text(x.element #>> '{cause,text}', $3)) ORDER BY x.n), '[]')
	FROM jsonb_array_elements(coalesce($1, '[]')) WITH ORDINALITY AS x(element, n) WHERE x.n <= $2);

-- The execution that a tool is asked about, which must be there unless it is null.
CREATE FUNCTION _sfflow.mcp_execution(execution_id text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM FROM @extschema@.sf_executions e WHERE e.execution_id = $1;
	IF NOT FOUND AND execution_id IS NOT NULL THEN
		RAISE EXCEPTION 'there is no execution "%", or role "%" may not read it', left($1, 200), current_user
			USING ERRCODE = 'SF005', HINT = 'list_executions tells which there are.';
	END IF;
	RETURN $1;
END
$$;

-- The last execution of the same state machine, requested before, that succeeded.
CREATE FUNCTION _sfflow.mcp_last_good(execution_id text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('execution_id', l.execution_id, 'started_at', l.started_at, 'stopped_at', l.stopped_at)
	FROM @extschema@.sf_executions e
	CROSS JOIN LATERAL @extschema@.sf_list_executions(split_part(e.state_machine, '/', 1), 'SUCCEEDED',
		requested_before => e.requested_at, page_size => 1, without_items => true) l
	WHERE e.execution_id = $1);

-- tonight {since}
CREATE FUNCTION _sfflow.mcp_tonight(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	SELECT jsonb_build_object(
		'now', t.d -> 'now',
		'alerts', t.d -> 'kinds',
		'running_count', t.d -> 'running_count',
		'failed', (
			SELECT coalesce(jsonb_agg(jsonb_build_object('kind', f.x -> 'kind', 'state_machine', f.x -> 'state_machine',
				'node', f.x -> 'node', 'error', f.x -> 'error', 'cause', _sfflow.mcp_text(f.x #>> '{cause,text}', 600),
				'executions', f.x -> 'n', 'latest_execution_id', f.x -> 'executions' -> 0, 'since', f.x -> 'since',
				'failed_jobs', f.x -> 'jobs', 'failed_item', f.x -> 'item' -> 'execution_id') ORDER BY f.n), '[]')
			FROM jsonb_array_elements(t.d -> 'failed') WITH ORDINALITY AS f(x, n) WHERE f.n <= 10),
		'late', _sfflow.mcp_first(t.d -> 'late', 15),
		'running', _sfflow.mcp_first(t.d -> 'running', 10),
		'succeeded', _sfflow.mcp_first(t.d -> 'ended', 10),
		'next', _sfflow.mcp_first(t.d -> 'next', 10),
		'held', _sfflow.mcp_first(t.d -> 'held', 10),
		'limits', _sfflow.mcp_first(t.d -> 'limits', 10),
		'deadlines', _sfflow.mcp_first(t.d -> 'deadlines', 10),
		'unwell', _sfflow.mcp_first(t.d -> 'unwell', 10),
		'state_machines', _sfflow.mcp_first(t.d -> 'machines', 20),
		'cut', coalesce(t.d -> 'cut', '[]') <> '[]'
			OR _sfflow.mcp_more(t.d -> 'failed', 10) OR _sfflow.mcp_more(t.d -> 'late', 15)
			OR _sfflow.mcp_more(t.d -> 'running', 10) OR _sfflow.mcp_more(t.d -> 'next', 10)
			OR _sfflow.mcp_more(t.d -> 'held', 10) OR _sfflow.mcp_more(t.d -> 'unwell', 10)
			OR _sfflow.mcp_more(t.d -> 'machines', 20))
	FROM (SELECT @extschema@.sf_console_api('tonight', $1) AS d OFFSET 0) t);

-- late_or_failing {state_machine, limit}
CREATE FUNCTION _sfflow.mcp_late_or_failing(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	WITH alert AS MATERIALIZED (
		SELECT a.kind, a.execution_id, a.target, a.since, a.detail, a.labels FROM @extschema@.sf_alerts a
		WHERE $1 ->> 'state_machine' IS NULL
			OR substring(coalesce(a.execution_id, a.target), '^[^:/]+') = $1 ->> 'state_machine'
	)
	SELECT jsonb_build_object(
		'counts', (SELECT coalesce(jsonb_object_agg(k.kind, k.n), '{}') FROM (
			SELECT a.kind, count(*) AS n FROM alert a GROUP BY a.kind) k),
		'alerts', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.since DESC NULLS LAST, r.execution_id, r.kind), '[]')
			FROM (
				SELECT a.kind, a.execution_id, a.target, a.since, _sfflow.mcp_text(a.detail, 400) AS detail, a.labels
				FROM alert a
				ORDER BY a.since DESC NULLS LAST, a.execution_id, a.kind LIMIT _sfflow.console_limit($1, 30, 100)) r),
		'cut', (SELECT count(*) FROM alert) > _sfflow.console_limit($1, 30, 100)));

-- why_did_it_fail {execution_id}
CREATE FUNCTION _sfflow.mcp_why_did_it_fail(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	WITH job AS MATERIALIZED (
		SELECT x.* FROM (
			SELECT y.job_id, y.attempts, y.started_at, y.stopped_at, y.error, y.cause FROM @extschema@.sf_jobs y
			WHERE y.execution_id = $1 ->> 'execution_id' AND y.job_status = 'failure' OFFSET 0) x
	)
	SELECT jsonb_build_object(
		'execution_id', e.execution_id, 'state_machine', e.state_machine, 'version', e.version, 'status', e.status,
		'failed', e.status IN ('FAILED', 'TIMED_OUT', 'ABORTED'),
		'error', left(e.error, 500), 'cause', _sfflow.mcp_text(e.cause, 4000),
		'started_at', e.started_at, 'stopped_at', e.stopped_at, 'redrive_count', e.redrive_count,
		'failed_jobs', (
			SELECT coalesce(jsonb_agg(jsonb_build_object('job_id', f.job_id, 'error', left(f.error, 500),
				'cause', _sfflow.mcp_text(f.cause, 1500), 'attempts', f.attempts, 'started_at', f.started_at,
				'stopped_at', f.stopped_at, 'input', _sfflow.mcp_text((
					SELECT i.input::text FROM @extschema@.sf_jobs i
					WHERE i.execution_id = e.execution_id AND i.job_id = f.job_id LIMIT 1), 1500))
				ORDER BY f.rank), '[]')
			FROM (
				SELECT j.*, row_number() OVER (ORDER BY j.error IS DISTINCT FROM e.error,
					j.cause IS DISTINCT FROM e.cause, j.stopped_at) AS rank
				FROM job j WHERE j.error IS NOT NULL) f
			WHERE f.rank <= 5),
		'aborted_jobs', (SELECT count(*) FROM job j WHERE j.error IS NULL),
		'failed_item', (
			SELECT i.x || jsonb_build_object('cause', _sfflow.mcp_text(i.x #>> '{cause,text}', 1500))
			FROM (SELECT _sfflow.console_failed_item(e.execution_id, e.error) AS x) i),
		'same_error', (
			SELECT count(*) FROM @extschema@.sf_list_executions(split_part(e.state_machine, '/', 1), e.status, e.error,
				page_size => 100) l
			WHERE e.error IS NOT NULL),
		'last_good', _sfflow.mcp_last_good(e.execution_id),
		'operators_did', (SELECT coalesce(jsonb_agg(to_jsonb(a) ORDER BY a.at DESC), '[]') FROM (
			SELECT x.at, x.action, x.role, left(x.reason, 300) AS reason FROM @extschema@.sf_audit x
			WHERE x.execution_id = e.execution_id ORDER BY x.at DESC LIMIT 5) a),
		'cut', (SELECT count(*) FROM job j WHERE j.error IS NOT NULL) > 5 OR coalesce(length(e.cause), 0) > 4000)
	FROM @extschema@.sf_executions e
	WHERE e.execution_id = _sfflow.mcp_execution($1 ->> 'execution_id'));

-- Of two executions, what a reader asks of each.
CREATE FUNCTION _sfflow.mcp_compared(execution_id text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('execution_id', e.execution_id, 'state_machine', e.state_machine, 'version', e.version,
		'status', e.status, 'started_at', e.started_at, 'stopped_at', e.stopped_at, 'took_ms',
		_sfflow.took_ms(e.execution_id), 'input', _sfflow.mcp_text(e.input::text, 1000))
	FROM @extschema@.sf_executions e WHERE e.execution_id = $1);

-- The first JSON pointers at differences.
CREATE FUNCTION _sfflow.mcp_pointers(pointers text[]) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
	SELECT jsonb_agg(left(p.pointer, 150) ORDER BY p.n)
	FROM unnest($1) WITH ORDINALITY AS p(pointer, n) WHERE p.n <= 8);

-- compare_with_last_good {execution_id, good_execution_id}
CREATE FUNCTION _sfflow.mcp_compare_with_last_good(q jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	most CONSTANT integer := 30;
	this text := _sfflow.mcp_execution(q ->> 'execution_id');
	good text := coalesce(_sfflow.mcp_execution(q ->> 'good_execution_id'),
		_sfflow.mcp_last_good(this) ->> 'execution_id');
	jobs jsonb;
	same bigint;
	differ bigint;
BEGIN
	IF good IS NULL THEN
		RAISE EXCEPTION 'no execution of this state machine had succeeded before "%"', left(this, 200)
			USING ERRCODE = 'SF012', HINT = 'good_execution_id names one to compare with.';
	END IF;
	WITH line AS MATERIALIZED (
		SELECT c.*, coalesce(
			c.only_in IS NOT NULL OR c.status_a IS DISTINCT FROM c.status_b OR c.error_a IS DISTINCT FROM c.error_b
				OR c.attempts_a IS DISTINCT FROM c.attempts_b OR cardinality(c.input_differs) > 0
				OR cardinality(c.output_differs) > 0
				OR c.duration_b > greatest(2 * c.duration_a, interval '1 second'), false) AS differs
		FROM @extschema@.sf_compare(good, this) WITH ORDINALITY AS c(job_id, only_in, status_a, status_b, duration_a,
			duration_b, usual_duration, attempts_a, attempts_b, error_a, error_b, input_differs, output_differs, is_cut,
			n)
	)
	SELECT (SELECT count(*) FROM line l WHERE NOT l.differs), (SELECT count(*) FROM line l WHERE l.differs), (
		SELECT jsonb_agg(jsonb_build_object('job_id', d.job_id,
			'only_in', CASE d.only_in WHEN 'a' THEN 'good' WHEN 'b' THEN 'this' END,
			'good_status', d.status_a, 'status', d.status_b,
			'good_ms', round(extract(epoch FROM d.duration_a) * 1000),
			'ms', round(extract(epoch FROM d.duration_b) * 1000),
			'usual_ms', round(extract(epoch FROM d.usual_duration) * 1000),
			'good_attempts', d.attempts_a, 'attempts', d.attempts_b,
			'good_error', left(d.error_a, 300), 'error', left(d.error_b, 300),
			'input_differs', _sfflow.mcp_pointers(d.input_differs), 'output_differs',
			_sfflow.mcp_pointers(d.output_differs)) ORDER BY d.n)
		FROM (SELECT x.* FROM line x WHERE x.differs ORDER BY x.n LIMIT most) d)
	INTO same, differ, jobs;
	RETURN jsonb_build_object('this', _sfflow.mcp_compared(this), 'good', _sfflow.mcp_compared(good),
		'same_jobs', same, 'different_jobs', differ, 'jobs', coalesce(jobs, '[]'), 'cut', differ > most);
END
$$;

-- What list_executions asks of the console.
CREATE FUNCTION _sfflow.mcp_filter(q jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN $1 || jsonb_build_object('limit', _sfflow.console_limit($1, 20, 50), 'name', $1 -> 'name_prefix',
	'after', $1 -> 'requested_after', 'before', $1 -> 'requested_before', 'key', $1 -> 'page_key');

-- list_executions {state_machine, status, error, name_prefix, requested_after, requested_before, limit, page_key,
-- labels}
CREATE FUNCTION _sfflow.mcp_list_executions(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	SELECT jsonb_build_object('executions', _sfflow.mcp_rows(p.d -> 'rows', 100, 300), 'next_page_key', p.d -> 'next',
		'cut', p.d ->> 'next' IS NOT NULL)
	FROM (SELECT @extschema@.sf_console_api('executions', _sfflow.mcp_filter($1)) AS d OFFSET 0) p);

-- execution_status {execution_id, jobs_after, limit}
CREATE FUNCTION _sfflow.mcp_execution_status(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object(
		'execution_id', e.execution_id, 'state_machine', e.state_machine, 'version', e.version, 'name', e.name,
		'status', e.status, 'error', left(e.error, 500), 'cause', _sfflow.mcp_text(e.cause, 2000),
		'input', _sfflow.mcp_text(e.input::text, 2000), 'output', _sfflow.mcp_text(e.output::text, 2000),
		'requested_at', e.requested_at, 'started_at', e.started_at, 'stopped_at', e.stopped_at,
		'took_ms', _sfflow.took_ms(e.execution_id), 'usual_ms', (
			SELECT jsonb_build_object('p50', m.execution_time_ms_p50, 'p95', m.execution_time_ms_p95)
			FROM @extschema@.sf_metrics m WHERE m.state_machine = split_part(e.state_machine, '/', 1)),
		'redrive_count', e.redrive_count, 'parent_execution_id', e.parent_execution_id, 'labels', e.labels,
		'waiting_on', _sfflow.mcp_text(e.waiting_on, 1000),
		'progress', CASE WHEN e.status = 'RUNNING' THEN _sfflow.console_progress(e.execution_id) END,
		'job_counts', (SELECT coalesce(jsonb_object_agg(c.job_status, c.n), '{}') FROM (
			SELECT CASE WHEN x.job_status = 'failure' AND x.error IS NULL THEN 'aborted' ELSE x.job_status
				END AS job_status, count(*) AS n
			FROM @extschema@.sf_jobs x WHERE x.execution_id = e.execution_id GROUP BY 1) c),
		'jobs', _sfflow.mcp_rows(j.d -> 'rows', 100, 300),
		'next_jobs_after', j.d -> 'next',
		'map_runs', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.started_at DESC), '[]') FROM (
			SELECT x.state, x.status, x.items, x.items_succeeded, x.items_failed, x.running, x.started_at, x.stopped_at
			FROM @extschema@.sf_map_runs x WHERE x.execution_id = e.execution_id
			ORDER BY x.started_at DESC LIMIT 10) r),
		'cut', j.d ->> 'next' IS NOT NULL OR length(e.input::text) > 2000 OR coalesce(length(e.output::text), 0) > 2000)
	FROM @extschema@.sf_executions e
	CROSS JOIN LATERAL (
		SELECT _sfflow.console_jobs(jsonb_build_object('execution_id', e.execution_id, 'after', $1 -> 'jobs_after',
			'limit', _sfflow.console_limit($1, 50, 100))) AS d OFFSET 0) j
	WHERE e.execution_id = _sfflow.mcp_execution($1 ->> 'execution_id'));

-- What one execution waits for, in detail: the tasks that are under way, limits, events, holds.
CREATE FUNCTION _sfflow.mcp_waits(execution_id text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN jsonb_build_object(
	'tasks', (SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM (
		SELECT x.state, x.branch, x.resource, x.status, x.attempt, x.scheduled_at, x.started_at, x.deadline,
			x.heartbeat_at, x.worker
		FROM @extschema@.sf_tasks x WHERE x.execution_id = $1 LIMIT 20) t),
--@slot mcp.waits
	'held', (SELECT coalesce(jsonb_agg(h.x), '[]') FROM jsonb_array_elements(_sfflow.console_holds(1000)) AS h(x)
		WHERE h.x ->> 'target' IN ($1, substring($1, '^[^:/]+'))));

-- waiting_on {execution_id, state_machine, limit}
CREATE FUNCTION _sfflow.mcp_waiting_on(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN CASE WHEN $1 ? 'execution_id' THEN (
		SELECT jsonb_build_object('executions', jsonb_build_array(jsonb_build_object('execution_id', e.execution_id,
			'status', e.status, 'requested_at', e.requested_at, 'started_at', e.started_at,
			'waiting_on', _sfflow.mcp_text(e.waiting_on, 1000))), 'cut', false) || _sfflow.mcp_waits(e.execution_id)
		FROM @extschema@.sf_executions e
		WHERE e.execution_id = _sfflow.mcp_execution($1 ->> 'execution_id'))
	ELSE (
		SELECT jsonb_build_object('executions', coalesce(jsonb_agg(jsonb_build_object('execution_id', l.execution_id,
			'status', l.status, 'requested_at', l.requested_at, 'started_at', l.started_at,
			'waiting_on', _sfflow.mcp_text(e.waiting_on, 300)) ORDER BY l.requested_at DESC), '[]'),
			'cut', count(*) = _sfflow.console_limit($1, 25, 100))
		FROM @extschema@.sf_list_executions($1 ->> 'state_machine', 'RUNNING', without_items => true,
			page_size => _sfflow.console_limit($1, 25, 100)) l
		JOIN LATERAL (
			SELECT x.waiting_on FROM @extschema@.sf_executions x WHERE x.execution_id = l.execution_id OFFSET 0) e
				ON true)
	END;

--@slot mcp.answers

-- what_would_redrive_run {execution_id, from_state}
CREATE FUNCTION _sfflow.mcp_what_would_redrive_run(q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN (
	SELECT jsonb_build_object('goes_on_with', p.d -> 'goes_on_with', 'fails_again', p.d -> 'fails_again',
		'runs', p.d -> 'runs', 'runs_count', p.d -> 'runs_count', 'at_most', p.d -> 'at_most',
		'kept_count', p.d -> 'kept_count', 'more', _sfflow.mcp_first(p.d -> 'more', 30),
		'cut', (p.d ->> 'runs_count')::bigint > jsonb_array_length(p.d -> 'runs')
			OR _sfflow.mcp_more(p.d -> 'more', 30))
	FROM (SELECT _sfflow.console_tried('plan', $1) AS d
		FROM (SELECT _sfflow.mcp_execution($1 ->> 'execution_id') AS id OFFSET 0) e WHERE e.id IS NOT NULL OFFSET 0) p);

-- list_state_machines {after, limit}
CREATE FUNCTION _sfflow.mcp_list_state_machines(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('state_machines', m.d -> 'rows', 'next_after', m.d -> 'next', 'cut',
		m.d ->> 'next' IS NOT NULL)
	FROM (
		SELECT _sfflow.console_machines($1 || jsonb_build_object('limit', _sfflow.console_limit($1, 50, 100))) AS d
		OFFSET 0) m);

-- state_machine_definition {state_machine, version, offset}
CREATE FUNCTION _sfflow.mcp_state_machine_definition(q jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	most CONSTANT integer := 30000;
	skipped integer := greatest(coalesce((q ->> 'offset')::integer, 0), 0);
	machine jsonb := _sfflow.console_machine(q);
	whole text := machine #>> '{machine,definition}';
BEGIN
	IF machine IS NULL THEN
		RAISE EXCEPTION 'there is no state machine "%" of this version, or role "%" may not read it',
			left(q ->> 'state_machine', 200), current_user
			USING ERRCODE = 'SF003', HINT = 'list_state_machines tells which there are.';
	END IF;
	RETURN (machine -> 'machine') - 'definition' || jsonb_build_object(
		'definition', substr(whole, skipped + 1, most), 'characters', length(whole),
		'next_offset', CASE WHEN length(whole) > skipped + most THEN skipped + most END,
		'versions', _sfflow.mcp_first(machine -> 'versions', 10),
		'aliases', _sfflow.mcp_first(machine -> 'aliases', 10),
		'cut', skipped > 0 OR length(whole) > most);
END
$$;

-- The tools that write. A tool answers with what is left to know of what it did.
CREATE FUNCTION _sfflow.mcp_write(tool text, q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN CASE $1
	WHEN 'redrive' THEN jsonb_build_object('execution_id', $2 -> 'execution_id', 'redrive_count',
		@extschema@.sf_redrive($2 ->> 'execution_id', $2 ->> 'from_state', $2 -> 'input'))
	WHEN 'stop' THEN jsonb_build_object('execution_id', $2 -> 'execution_id', 'status',
		@extschema@.sf_stop($2 ->> 'execution_id', $2 ->> 'error', $2 ->> 'reason'))
	WHEN 'start' THEN jsonb_build_object('execution_id', @extschema@.sf_start($2 ->> 'state_machine',
		coalesce($2 -> 'input', '{}'), $2 ->> 'name', 'error'))
--@slot mcp.writes
END;
