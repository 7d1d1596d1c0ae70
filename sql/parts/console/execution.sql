-- sf_console_api: one execution, its jobs, its times, its events and payloads, and two of them beside each other.

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
		'held', (SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.since), '[]') FROM (
			SELECT x.target, x.state, x.since, x.held_by, x.reason FROM _sfflow.console_held() x
			WHERE x.target IN ($1 ->> 'execution_id', split_part($1 ->> 'execution_id', ':', 1)) LIMIT 20) h),
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
	FROM _sfflow.history_event_page($1, $2 - 1, $2, NULL, NULL, $3, 20000, 1) p
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
			FROM visit v CROSS JOIN LATERAL _sfflow.history_event_page($1 ->> 'execution_id', v.first_event - 1,
				v.last_event, v.state_no, v.iterations, NULL, 1000, 100 + 1) p),
		'cut', CASE WHEN (SELECT count(*) FROM span) > 200 THEN '["visits"]'::jsonb ELSE '[]' END), '{"events": 100}'));

-- events {execution_id, after, limit}: a page of its history.
CREATE FUNCTION _sfflow.console_events(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('rows', coalesce(jsonb_agg(to_jsonb(p) ORDER BY p.id), '[]'),
		'next', CASE WHEN count(*) = _sfflow.console_limit($1, 100, 500) THEN max(p.id) END)
	FROM _sfflow.history_event_page($1 ->> 'execution_id', ($1 ->> 'after')::integer, NULL, NULL, NULL, NULL, 500,
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
		FROM _sfflow.history_event_page($1 ->> 'execution_id', ($1 ->> 'event')::integer - 1, ($1 ->> 'event')::integer,
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
