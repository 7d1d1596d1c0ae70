-- Nodes: other databases with sfflow, which are asked together with this one. The feature node.

--@into tables
-- One row per node. dsn: where it is, without role and password; null: it is this database.
CREATE TABLE _sfflow.node (
	node integer NOT NULL PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	dsn text,
	added_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX node_here ON _sfflow.node ((dsn IS NULL)) WHERE dsn IS NULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.node', '');

-- Documents of definitions for all nodes, the last of each name and role; and which each node has. Roles by name: a
-- node has other numbers for them.
CREATE TABLE _sfflow.node_document (
	role text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	revision bigint NOT NULL,
	digest text NOT NULL,
	removes boolean NOT NULL,
	document jsonb NOT NULL,
	stored_at timestamptz NOT NULL,
	PRIMARY KEY (role, name)
);
CREATE TABLE _sfflow.node_applied (
	role text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	node integer NOT NULL,
	revision bigint,					-- that it has; NULL: none
	digest text,						-- of that
	tried_at timestamptz NOT NULL,		-- the last attempt,
	error text,							-- and how it has failed; NULL: it has not
	PRIMARY KEY (role, name, node),
	CONSTRAINT node_applied_revision CHECK ((revision IS NULL) = (digest IS NULL)),
	CONSTRAINT node_applied_tried CHECK (revision IS NOT NULL OR error IS NOT NULL)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.node_document', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.node_applied', '');

--@into functions
-- Nodes.
CREATE FUNCTION @extschema@.sf_add_node(node integer, name text, dsn text DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_add_node'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_add_node(integer, text, text) IS
	'has a database asked by sf_all_executions and the like, or changes where it is; without a dsn: this one';

CREATE FUNCTION @extschema@.sf_drop_node(node integer) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_node'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_node(integer) IS 'has a database not asked any more; it stays as it is';

CREATE FUNCTION @extschema@.sf_node_addresses(OUT node integer, OUT name text, OUT dsn text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_node_addresses'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION @extschema@.sf_node_addresses() IS
	'addresses of the nodes, for sfgateway; a null dsn: this database';

CREATE FUNCTION _sfflow.nodes_seen(
	OUT node integer,
	OUT answered_at timestamptz,
	OUT failed_at timestamptz,
	OUT error text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_nodes_seen'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;

CREATE VIEW @extschema@.sf_nodes WITH (security_barrier) AS
SELECT n.node, n.name,
	CASE WHEN has_function_privilege('@extschema@.sf_add_node(integer, pg_catalog.text, pg_catalog.text)', 'EXECUTE')
		THEN n.dsn END AS dsn,
	CASE WHEN n.dsn IS NULL THEN 'here' WHEN s.failed_at >= coalesce(s.answered_at, '-infinity') THEN 'silent'
		WHEN s.answered_at IS NOT NULL THEN 'answers' ELSE 'unknown' END AS state,
	s.answered_at, s.failed_at, s.error
FROM _sfflow.node n
LEFT JOIN _sfflow.nodes_seen() s ON s.node = n.node;
GRANT SELECT ON @extschema@.sf_nodes TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_nodes IS
	'the databases that sf_all_executions and the like ask, and when each has answered last';
COMMENT ON COLUMN @extschema@.sf_nodes.node IS 'number of the node';
COMMENT ON COLUMN @extschema@.sf_nodes.name IS 'its name';
COMMENT ON COLUMN @extschema@.sf_nodes.dsn IS 'where it is; null: it is this database, or the reader may not add nodes';
COMMENT ON COLUMN @extschema@.sf_nodes.state IS
	'here, answers, silent (it did not answer when it was asked last), unknown (it was not asked)';
COMMENT ON COLUMN @extschema@.sf_nodes.answered_at IS 'when it has answered last, since the start of this server';
COMMENT ON COLUMN @extschema@.sf_nodes.failed_at IS 'when it has not answered last';
COMMENT ON COLUMN @extschema@.sf_nodes.error IS 'why it did not answer then';

-- What all nodes answer to a question: the rows of a node, and one that says whether it has answered. Only that has ok.
CREATE FUNCTION _sfflow.ask_nodes(
	question text,
	arguments jsonb,
	OUT node integer,
	OUT ok boolean,
	OUT error text,
	OUT answer jsonb)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_ask_nodes'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1000;

-- The number of sf_set_node; null: none.
CREATE FUNCTION _sfflow.node_number(arguments jsonb) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_node_number'
LANGUAGE C STABLE PARALLEL RESTRICTED;

-- The questions, as a node answers them: with the rights of the role that has asked.
CREATE FUNCTION _sfflow.node_executions(arguments jsonb) RETURNS SETOF jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp SET jit = off SET timezone = 'UTC'
AS $$
	SELECT to_jsonb(l)
	FROM @extschema@.sf_list_executions($1 ->> 'state_machine', $1 ->> 'status', $1 ->> 'error', $1 ->> 'name_prefix',
		$1 ->> 'owner', $1 ->> 'parent_execution_id', ($1 ->> 'requested_after')::timestamptz,
		($1 ->> 'requested_before')::timestamptz, ($1 ->> 'page_size')::integer, $1 ->> 'after_key',
		($1 ->> 'without_items')::boolean) l
$$;

CREATE FUNCTION _sfflow.node_jobs(arguments jsonb) RETURNS SETOF jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp SET jit = off SET timezone = 'UTC'
AS $$
	SELECT jsonb_build_object('execution_id', l.execution_id, 'state_machine', l.state_machine, 'page_key', l.page_key,
		'id', j.id, 'job_id', j.job_id, 'job_status', j.job_status, 'attempts', j.attempts, 'started_at', j.started_at,
		'stopped_at', j.stopped_at, 'error', j.error, 'cause', j.cause, 'position', row_number() OVER ())
	FROM @extschema@.sf_list_executions(state_machine => $1 ->> 'state_machine', status => $1 ->> 'status',
		name_prefix => $1 ->> 'name_prefix', requested_after => ($1 ->> 'requested_after')::timestamptz,
		requested_before => ($1 ->> 'requested_before')::timestamptz, page_size => ($1 ->> 'page_size')::integer,
		after_key => $1 ->> 'after_key') l
	CROSS JOIN LATERAL (
		SELECT x.id, x.job_id, x.job_status, x.attempts, x.started_at, x.stopped_at, x.error, x.cause
		FROM @extschema@.sf_jobs x WHERE x.execution_id = l.execution_id OFFSET 0) j
	WHERE $1 ->> 'job_status' IS NULL OR j.job_status = $1 ->> 'job_status'
$$;

CREATE VIEW _sfflow.metric_document AS
SELECT m.name AS state_machine, jsonb_build_object('state_machine', m.name, 'started', coalesce(x.started, 0),
	'succeeded', coalesce(x.succeeded, 0), 'failed', coalesce(x.failed, 0), 'aborted', coalesce(x.aborted, 0),
	'timed_out', coalesce(x.timed_out, 0), 'throttled', coalesce(x.throttled, 0), 'redriven', coalesce(x.redriven, 0),
	'transitions', coalesce(x.transitions, 0), 'retries', coalesce(x.retries, 0), 'time_us', coalesce(x.time_us, 0),
	'time_histogram', encode(x.time_histogram, 'hex')) AS document
FROM _sfflow.state_machine m
LEFT JOIN _sfflow.metric_sum x ON x.machine_no = m.machine_no;

CREATE FUNCTION _sfflow.node_metrics(arguments jsonb) RETURNS SETOF jsonb
AS 'MODULE_PATHNAME', 'sfflow_node_metrics'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 100;

CREATE FUNCTION _sfflow.node_night(arguments jsonb) RETURNS SETOF jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp SET jit = off SET timezone = 'UTC' SET intervalstyle = 'postgres'
AS $$
	SELECT to_jsonb(n) || jsonb_build_object('position', row_number() OVER ())
	FROM @extschema@.sf_night(($1 ->> 'since')::timestamptz, ($1 ->> 'until')::timestamptz, ($1 ->> 'most')::integer) n
$$;

CREATE FUNCTION _sfflow.node_alerts(arguments jsonb) RETURNS SETOF jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp SET jit = off SET timezone = 'UTC'
AS $$ SELECT to_jsonb(a) FROM @extschema@.sf_alerts a $$;

-- A page of executions, by their keys, of what all nodes answer to a question for a list of them; behind it a row per
-- node that says whether it has answered.
CREATE FUNCTION _sfflow.node_page(
	what text,
	arguments jsonb,
	OUT node integer,
	OUT ok boolean,
	OUT node_error text,
	OUT execution_id text,
	OUT state_machine text,
	OUT name text,
	OUT status text,
	OUT error text,
	OUT requested_at timestamptz,
	OUT started_at timestamptz,
	OUT stopped_at timestamptz,
	OUT page_key text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 100
SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH asked AS MATERIALIZED (
		SELECT a.node, a.ok, a.error, a.answer
		FROM _sfflow.ask_nodes($1, $2) a
	), listed AS (
		-- Two nodes may have the same key: both rows are on the page.
		SELECT a.node, x.*, rank() OVER (ORDER BY split_part(x.page_key, '.', 1)::bigint DESC,
			split_part(x.page_key, '.', 2)::bigint DESC) AS position
		FROM asked a
		CROSS JOIN LATERAL jsonb_to_record(a.answer) x (execution_id text, state_machine text, name text, status text,
			error text, requested_at timestamptz, started_at timestamptz, stopped_at timestamptz, page_key text)
		WHERE a.ok IS NULL
	)
	SELECT r.node, r.ok, r.node_error, r.execution_id, r.state_machine, r.name, r.status, r.error, r.requested_at,
		r.started_at, r.stopped_at, r.page_key
	FROM (
		SELECT l.position, l.node, NULL::boolean AS ok, NULL::text AS node_error, l.execution_id, l.state_machine,
			l.name, l.status, l.error, l.requested_at, l.started_at, l.stopped_at, l.page_key
		FROM listed l WHERE l.position <= coalesce(($2 ->> 'page_size')::integer, 100)
		UNION ALL
		SELECT NULL, a.node, a.ok, a.error, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
		FROM asked a WHERE a.ok IS NOT NULL) r
	ORDER BY r.position NULLS LAST, r.node
$$;

-- The rows of all nodes, and behind them a row per node that says whether it has answered.
CREATE FUNCTION @extschema@.sf_all_executions(
	state_machine text DEFAULT NULL,
	status text DEFAULT NULL,
	error text DEFAULT NULL,
	name_prefix text DEFAULT NULL,
	owner text DEFAULT NULL,
	parent_execution_id text DEFAULT NULL,
	requested_after timestamptz DEFAULT NULL,
	requested_before timestamptz DEFAULT NULL,
	page_size integer DEFAULT NULL,
	after_key text DEFAULT NULL,
	without_items boolean DEFAULT NULL,
	OUT node integer,
	OUT ok boolean,
	OUT node_error text,
	OUT execution_id text,
	OUT state_machine text,
	OUT name text,
	OUT status text,
	OUT error text,
	OUT requested_at timestamptz,
	OUT started_at timestamptz,
	OUT stopped_at timestamptz,
	OUT page_key text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 100
SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT p.node, p.ok, p.node_error, p.execution_id, p.state_machine, p.name, p.status, p.error, p.requested_at,
		p.started_at, p.stopped_at, p.page_key
	FROM _sfflow.node_page('executions', jsonb_build_object('state_machine', $1, 'status', $2, 'error', $3,
		'name_prefix', $4, 'owner', $5, 'parent_execution_id', $6, 'requested_after', $7, 'requested_before', $8,
		'page_size', $9, 'after_key', $10, 'without_items', $11)) p
$$;
COMMENT ON FUNCTION @extschema@.sf_all_executions(text, text, text, text, text, text, timestamptz, timestamptz, integer,
	text, boolean) IS
	'a page of sf_list_executions over all nodes; a row with ok, of each node, tells whether it has answered';

--@slot node.pages
CREATE FUNCTION @extschema@.sf_all_jobs(
	state_machine text DEFAULT NULL,
	status text DEFAULT NULL,
	job_status text DEFAULT NULL,
	name_prefix text DEFAULT NULL,
	requested_after timestamptz DEFAULT NULL,
	requested_before timestamptz DEFAULT NULL,
	page_size integer DEFAULT NULL,
	after_key text DEFAULT NULL,
	OUT node integer,
	OUT ok boolean,
	OUT node_error text,
	OUT execution_id text,
	OUT state_machine text,
	OUT id text,
	OUT job_id text,
	OUT job_status text,
	OUT attempts integer,
	OUT started_at timestamptz,
	OUT stopped_at timestamptz,
	OUT error text,
	OUT cause text,
	OUT page_key text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 100
SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH asked AS MATERIALIZED (
		SELECT a.node, a.ok, a.error, a.answer
		FROM _sfflow.ask_nodes('jobs', jsonb_build_object('state_machine', $1, 'status', $2, 'job_status', $3,
			'name_prefix', $4, 'requested_after', $5, 'requested_before', $6, 'page_size', $7, 'after_key', $8)) a
	), listed AS (
		SELECT a.node, x.*, dense_rank() OVER (ORDER BY split_part(x.page_key, '.', 1)::bigint DESC,
			split_part(x.page_key, '.', 2)::bigint DESC) AS execution
		FROM asked a
		CROSS JOIN LATERAL jsonb_to_record(a.answer) x (execution_id text, state_machine text, id text, job_id text,
			job_status text, attempts integer, started_at timestamptz, stopped_at timestamptz, error text, cause text,
			page_key text, position integer)
		WHERE a.ok IS NULL
	)
	SELECT r.node, r.ok, r.node_error, r.execution_id, r.state_machine, r.id, r.job_id, r.job_status, r.attempts,
		r.started_at, r.stopped_at, r.error, r.cause, r.page_key
	FROM (
		SELECT l.execution, l.position, l.node, NULL::boolean AS ok, NULL::text AS node_error, l.execution_id,
			l.state_machine, l.id, l.job_id, l.job_status, l.attempts, l.started_at, l.stopped_at, l.error, l.cause,
			l.page_key
		FROM listed l WHERE l.execution <= coalesce($7, 100)
		UNION ALL
		SELECT NULL, NULL, a.node, a.ok, a.error, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
		FROM asked a WHERE a.ok IS NOT NULL) r
	ORDER BY r.execution NULLS LAST, r.node, r.position
$$;
COMMENT ON FUNCTION @extschema@.sf_all_jobs(text, text, text, text, timestamptz, timestamptz, integer, text) IS
	'the jobs of a page of executions of all nodes; a row with ok, of each node, tells whether it has answered';

CREATE FUNCTION @extschema@.sf_all_metrics(
	OUT node integer,
	OUT ok boolean,
	OUT node_error text,
	OUT state_machine text,
	OUT nodes integer,
	OUT executions_started bigint,
	OUT executions_succeeded bigint,
	OUT executions_failed bigint,
	OUT executions_aborted bigint,
	OUT executions_timed_out bigint,
	OUT executions_throttled bigint,
	OUT execution_time_ms_avg double precision,
	OUT execution_time_ms_p50 double precision,
	OUT execution_time_ms_p95 double precision,
	OUT execution_time_ms_p99 double precision,
	OUT state_transitions bigint,
	OUT executions_redriven bigint,
	OUT retries bigint)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 100
SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH asked AS MATERIALIZED (
		SELECT a.node, a.ok, a.error, a.answer FROM _sfflow.ask_nodes('metrics', '{}') a
	), summed AS (
		SELECT x.state_machine, count(*)::integer AS nodes, sum(x.started)::bigint AS started,
			sum(x.succeeded)::bigint AS succeeded, sum(x.failed)::bigint AS failed, sum(x.aborted)::bigint AS aborted,
			sum(x.timed_out)::bigint AS timed_out, sum(x.throttled)::bigint AS throttled,
			sum(x.redriven)::bigint AS redriven, sum(x.transitions)::bigint AS transitions,
			sum(x.retries)::bigint AS retries, sum(x.time_us) AS time_us,
			_sfflow.histogram_percentiles(_sfflow.histogram_sum(decode(x.time_histogram, 'hex'))) AS ms
		FROM asked a
		CROSS JOIN LATERAL jsonb_to_record(a.answer) x (state_machine text, started bigint, succeeded bigint,
			failed bigint, aborted bigint, timed_out bigint, throttled bigint, redriven bigint, transitions bigint,
			retries bigint, time_us numeric, time_histogram text)
		WHERE a.ok IS NULL
		GROUP BY x.state_machine
	)
	SELECT r.node, r.ok, r.node_error, r.state_machine, r.nodes, r.started, r.succeeded, r.failed, r.aborted,
		r.timed_out, r.throttled, r.average, r.p50, r.p95, r.p99, r.transitions, r.redriven, r.retries
	FROM (
		SELECT NULL::integer AS node, NULL::boolean AS ok, NULL::text AS node_error, s.state_machine, s.nodes,
			s.started, s.succeeded, s.failed, s.aborted, s.timed_out, s.throttled,
			s.time_us::double precision / nullif(s.succeeded + s.failed + s.aborted + s.timed_out, 0) / 1000 AS average,
			s.ms[1] AS p50, s.ms[2] AS p95, s.ms[3] AS p99, s.transitions, s.redriven, s.retries
		FROM summed s
		UNION ALL
		SELECT a.node, a.ok, a.error, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
			NULL, NULL
		FROM asked a WHERE a.ok IS NOT NULL) r
	ORDER BY r.node NULLS FIRST, r.state_machine COLLATE "C"
$$;
COMMENT ON FUNCTION @extschema@.sf_all_metrics() IS
	'the metrics of state machines, summed over all nodes; a row with ok, of each node, tells whether it has answered';

CREATE FUNCTION @extschema@.sf_all_night(
	since timestamptz DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	most integer DEFAULT NULL,
	OUT node integer,
	OUT ok boolean,
	OUT node_error text,
	OUT planned_at timestamptz,
	OUT target text,
	OUT state text,
	OUT started_at timestamptz,
	OUT ended_at timestamptz,
	OUT took interval,
	OUT usual interval,
	OUT expected_end timestamptz,
	OUT detail text,
	OUT next text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 100
SET search_path = pg_catalog, pg_temp SET jit = off SET intervalstyle = 'postgres'
AS $$
	SELECT a.node, a.ok, a.error, x.planned_at, x.target, x.state, x.started_at, x.ended_at, x.took, x.usual,
		x.expected_end, x.detail, x.next
	FROM _sfflow.ask_nodes('night', jsonb_build_object('since', $1, 'until', $2, 'most', $3)) a
	LEFT JOIN LATERAL jsonb_to_record(a.answer) x (planned_at timestamptz, target text, state text,
		started_at timestamptz, ended_at timestamptz, took interval, usual interval, expected_end timestamptz,
		detail text, next text, position integer) ON a.ok IS NULL
	ORDER BY a.ok IS NOT NULL, coalesce(x.planned_at, x.started_at), a.node, x.position
$$;
COMMENT ON FUNCTION @extschema@.sf_all_night(timestamptz, timestamptz, integer) IS
	'sf_night of all nodes; a row with ok, of each node, tells whether it has answered';

CREATE FUNCTION @extschema@.sf_all_alerts(
	OUT node integer,
	OUT ok boolean,
	OUT node_error text,
	OUT kind text,
	OUT execution_id text,
	OUT since timestamptz,
	OUT detail text,
	OUT target text,
	OUT labels jsonb)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 100
SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT a.node, a.ok, a.error, x.kind, x.execution_id, x.since, x.detail, x.target, nullif(x.labels, 'null')
	FROM _sfflow.ask_nodes('alerts', '{}') a
	LEFT JOIN LATERAL jsonb_to_record(a.answer) x (kind text, execution_id text, since timestamptz, detail text,
		target text, labels jsonb) ON a.ok IS NULL
	ORDER BY a.ok IS NOT NULL, x.since DESC NULLS LAST, a.node
$$;
COMMENT ON FUNCTION @extschema@.sf_all_alerts() IS
	'sf_alerts of all nodes; a row with ok, of each node, tells whether it has answered';

-- Definitions for all nodes.

-- A document with all versions of the machines that it names, as they are here: a node that has missed one gets the
-- same numbers.
CREATE FUNCTION _sfflow.with_versions(document jsonb) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT $1 || CASE WHEN $1 ? 'state_machines' THEN jsonb_build_object('state_machines', coalesce((
		SELECT jsonb_object_agg(s.key, s.value - '{definition,execution_id_path,options}'::text[] || coalesce((
			SELECT jsonb_build_object('versions', jsonb_object_agg(v.version,
				_sfflow.version_document(v.definition, v.execution_id_path, v.options)))
			FROM _sfflow.state_machine m
			JOIN _sfflow.state_machine_version v ON v.machine_no = m.machine_no
			WHERE m.name = s.key
			HAVING count(*) > 0), '{}'))
		FROM jsonb_each($1 -> 'state_machines') s), '{}')) ELSE '{}' END
$$;

-- What a node does with a document: it tells how many objects have changed.
CREATE FUNCTION _sfflow.node_apply(arguments jsonb) RETURNS SETOF jsonb
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT jsonb_build_object('changed', count(*) FILTER (WHERE a.outcome <> 'unchanged'))
	FROM @extschema@.sf_apply($1 -> 'definitions', false, ($1 ->> 'remove')::boolean) a
$$;

-- Nodes that lack a document, or have another one.
CREATE VIEW _sfflow.node_lag AS
SELECT n.node, d.role, d.name, format('node %s "%s" lacks revision %s of the document "%s" of role "%s"%s', n.node,
	n.name, d.revision, d.name, d.role, ': ' || a.error) AS problem
FROM _sfflow.node_document d
CROSS JOIN _sfflow.node n
LEFT JOIN _sfflow.node_applied a ON a.role = d.role AND a.name = d.name AND a.node = n.node
WHERE n.dsn IS NOT NULL AND (a.revision IS DISTINCT FROM d.revision OR a.digest IS DISTINCT FROM d.digest)
	AND EXISTS (SELECT FROM pg_roles r WHERE r.rolname = d.role);

CREATE FUNCTION @extschema@.sf_apply_all(
	definitions jsonb DEFAULT NULL,
	remove boolean DEFAULT false,
	OUT node integer,
	OUT ok boolean,
	OUT node_error text,
	OUT document text,
	OUT revision bigint,
	OUT changed bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_apply_all'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION @extschema@.sf_apply_all(jsonb, boolean) IS
	'applies a document of sf_export_definitions here and on all nodes; without one, those of the caller again';
--@into public_functions
		ask_nodes, console_answers, console_counts_of_all, console_cuts_of_all, console_first_of_all, console_key,
		console_merged, console_merged_alerts, console_merged_inbox, console_merged_tonight, console_missing,
		console_page_of_all, console_rows_of_all, console_sums_of_all, node_alerts, node_apply, node_executions,
		node_jobs, node_metrics, node_night, node_number, node_page, nodes_seen,
