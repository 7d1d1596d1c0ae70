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
	SELECT p.node, p.ok, p.node_error, p.execution_id, p.state_machine, p.name, p.status, p.error, p.requested_at,
		p.started_at, p.stopped_at, p.page_key
	FROM _sfflow.node_page('labelled', jsonb_build_object('labels', $1, 'state_machine', $2, 'status', $3,
		'error', $4, 'name_prefix', $5, 'owner', $6, 'parent_execution_id', $7, 'requested_after', $8,
		'requested_before', $9, 'page_size', $10, 'after_key', $11, 'without_items', $12)) p
$$;
COMMENT ON FUNCTION @extschema@.sf_all_executions(jsonb, text, text, text, text, text, text, timestamptz, timestamptz,
	integer, text, boolean) IS
	'a page of executions of all nodes that have all of the labels; a row with ok, of each node, tells whether it has answered';
--@end
