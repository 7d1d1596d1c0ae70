-- sf_console_api: what the pages of the console ask for, as documents; here what several of them use. A function per
-- action, with the rights of its caller over the public views and functions. Every answer is bounded: lists are pages,
-- payloads are cut, and console_payload gives the rest of one. OFFSET 0 keeps the planner from joining a page with all
-- executions: each row of it is looked up by its key.

-- The events of an execution from one id to another, each with the beginning of the text of its details.
CREATE FUNCTION _sfflow.history_event_page(
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
AS 'MODULE_PATHNAME', 'sfflow_history_event_page'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 100;

-- When an execution was in its states: a row per instance of a state, visit and attempt, in the order of their first
-- events. The first event of a Parallel, Map or JobNet that goes on after a redrive is one within it. The answer has
-- rows up to "most", and those that begin with the same event as the last of them.
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

-- What is held, for all pages: no row, unless a feature lists some.
CREATE FUNCTION _sfflow.console_held(
	OUT target text,
	OUT state text,
	OUT since timestamptz,
	OUT held_by text,
	OUT reason text,
	OUT waiting bigint)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 10
BEGIN ATOMIC
	SELECT NULL::text, NULL::text, NULL::timestamptz, NULL::text, NULL::text, NULL::bigint WHERE false
--@slot console_held
	;
END;

-- The same as a list, and whether the caller may release it.
CREATE FUNCTION _sfflow.console_holds(most integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(to_jsonb(h) ORDER BY h.since), '[]') FROM (
		SELECT x.target, x.state, x.since, x.held_by, x.reason, x.waiting,
			_sfflow.console_may_release(x.target, x.held_by) AS may_release
		FROM _sfflow.console_held() x ORDER BY x.since LIMIT $1) h);

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
