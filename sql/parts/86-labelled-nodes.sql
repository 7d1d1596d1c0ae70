-- Executions with labels over several nodes.
--@with label node
CREATE FUNCTION _sfflow.node_labelled(arguments jsonb) RETURNS SETOF jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp SET jit = off SET timezone = 'UTC'
AS $$
	SELECT to_jsonb(l)
	FROM @extschema@.sf_list_executions($1 -> 'labels', $1 ->> 'state_machine', $1 ->> 'status', $1 ->> 'error',
		$1 ->> 'name_prefix', $1 ->> 'owner', $1 ->> 'parent_execution_id', ($1 ->> 'requested_after')::timestamptz,
		($1 ->> 'requested_before')::timestamptz, ($1 ->> 'page_size')::integer, $1 ->> 'after_key',
		($1 ->> 'without_items')::boolean) l
$$;

CREATE FUNCTION @extschema@.sf_all_executions(
	labels jsonb,
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
	WITH asked AS MATERIALIZED (
		SELECT a.node, a.ok, a.error, a.answer
		FROM _sfflow.ask_nodes('labelled', jsonb_build_object('labels', $1, 'state_machine', $2, 'status', $3,
			'error', $4, 'name_prefix', $5, 'owner', $6, 'parent_execution_id', $7, 'requested_after', $8,
			'requested_before', $9,
			'page_size', $10, 'after_key', $11, 'without_items', $12)) a
	), listed AS (
		-- Two nodes may have the same key: both rows are on the page.
		SELECT a.node, x.*, rank() OVER (ORDER BY split_part(x.page_key, '.', 1)::bigint DESC,
			split_part(x.page_key, '.', 2)::bigint DESC) AS place
		FROM asked a
		CROSS JOIN LATERAL jsonb_to_record(a.answer) x (execution_id text, state_machine text, name text, status text,
			error text, requested_at timestamptz, started_at timestamptz, stopped_at timestamptz, page_key text)
		WHERE a.ok IS NULL
	)
	SELECT r.node, r.ok, r.node_error, r.execution_id, r.state_machine, r.name, r.status, r.error, r.requested_at,
		r.started_at, r.stopped_at, r.page_key
	FROM (
		SELECT l.place, l.node, NULL::boolean AS ok, NULL::text AS node_error, l.execution_id, l.state_machine, l.name,
			l.status, l.error, l.requested_at, l.started_at, l.stopped_at, l.page_key
		FROM listed l WHERE l.place <= coalesce($10, 100)
		UNION ALL
		SELECT NULL, a.node, a.ok, a.error, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
		FROM asked a WHERE a.ok IS NOT NULL) r
	ORDER BY r.place NULLS LAST, r.node
$$;
COMMENT ON FUNCTION @extschema@.sf_all_executions(jsonb, text, text, text, text, text, text, timestamptz, timestamptz,
	integer, text, boolean) IS
	'a page of executions of all nodes that have all of the labels; a row with ok, of each node, tells whether it has answered';
--@end
