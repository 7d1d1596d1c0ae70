-- sf_console_api: what a page does to executions and other targets, and what it would do.

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
