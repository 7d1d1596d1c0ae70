-- Labels of executions, by which they are found: the feature label.

--@into tables
-- A row for each label that execution.labels has. All of it is the key, in the order in which a list of a machine reads
-- it; sf_labels reads the newest of all machines by the other index (docs/decisions/labels.md). That has a condition
-- which every row fulfils and sf_labels alone states: lists of machines are planned for any label, which the planner
-- takes to be of one execution, so it would not see which of the two indexes is theirs.
CREATE TABLE _sfflow.label (
	requested_at timestamptz NOT NULL,
	execution_no bigint NOT NULL,
	machine_no integer NOT NULL,
	name text COLLATE "C" NOT NULL,
	value text COLLATE "C" NOT NULL,
	PRIMARY KEY (name, value, machine_no, requested_at, execution_no)
);
CREATE INDEX label_newest ON _sfflow.label (name, value, requested_at, machine_no, execution_no)
	WHERE execution_no > 0;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.label', '');

--@into functions
-- Labels of executions.
CREATE FUNCTION @extschema@.sf_set_labels(execution_id text, labels jsonb) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_set_labels'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_set_labels(text, jsonb) IS
	'sets labels of an execution, or removes those that are null; the others stay';

-- The functions of many executions, of those that have all of some labels.
CREATE FUNCTION @extschema@.sf_list_executions(
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
AS 'MODULE_PATHNAME', 'sfflow_sf_list_labelled'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_list_executions(jsonb, text, text, text, text, text, text, timestamptz, timestamptz,
	integer, text, boolean) IS
	'a page of executions that have all of the labels, the newest first';

CREATE FUNCTION @extschema@.sf_redrive_many(
	labels jsonb,
	state_machine text DEFAULT NULL,
	status text DEFAULT NULL,
	error text DEFAULT NULL,
	since timestamptz DEFAULT NULL,
	max integer DEFAULT NULL,
	comment text DEFAULT NULL,
	map_run text DEFAULT NULL,
	OUT execution_id text,
	OUT outcome text,
	OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_redrive_labelled'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_redrive_many(jsonb, text, text, text, timestamptz, integer, text, text) IS
	'continues executions that have all of the labels and have not succeeded; returns what came of each';

CREATE FUNCTION @extschema@.sf_stop_many(
	labels jsonb,
	state_machine text DEFAULT NULL,
	status text DEFAULT NULL,
	error text DEFAULT NULL,
	since timestamptz DEFAULT NULL,
	max integer DEFAULT NULL,
	cause text DEFAULT NULL,
	OUT execution_id text,
	OUT outcome text,
	OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_stop_labelled'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_stop_many(jsonb, text, text, text, timestamptz, integer, text) IS
	'ends running executions that have all of the labels; returns what came of each';

-- The newest of a label without reading all: comparison of texts is leakproof, so a condition on both columns reaches
-- the index; the order stands inside, for what is outside is not known where the view is planned; and OFFSET 0 keeps
-- the planner from other joins, which would have to be sorted.
CREATE VIEW @extschema@.sf_labels WITH (security_barrier) AS
SELECT l.name AS label, l.value, e.execution_id, m.name AS state_machine, l.requested_at
FROM _sfflow.label l
CROSS JOIN LATERAL (
	SELECT s.name, s.owner FROM _sfflow.state_machine s WHERE s.machine_no = l.machine_no OFFSET 0) m
CROSS JOIN LATERAL (
	SELECT x.execution_id FROM _sfflow.execution x WHERE x.execution_no = l.execution_no OFFSET 0) e
WHERE l.execution_no > 0 AND _sfflow.can_read(m.name, m.owner)
ORDER BY l.requested_at DESC;
GRANT SELECT ON @extschema@.sf_labels TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_labels IS 'labels of executions, the newest executions first';
COMMENT ON COLUMN @extschema@.sf_labels.label IS 'name of the label';
COMMENT ON COLUMN @extschema@.sf_labels.value IS 'its value, as text';
COMMENT ON COLUMN @extschema@.sf_labels.execution_id IS 'execution that has it';
COMMENT ON COLUMN @extschema@.sf_labels.state_machine IS 'its state machine';
COMMENT ON COLUMN @extschema@.sf_labels.requested_at IS 'when it was requested';

--@into node.pages
-- Of all nodes the executions that have all of some labels.
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
--@into rows_of_executions
	UNION ALL SELECT 'label', l.execution_no FROM _sfflow.label l
--@into branch_checks
	SELECT 'label_row_missing', e.execution_no, format('label "%s" has no row', v.key)
	FROM _sfflow.execution e
	JOIN head h ON h.execution_no = e.execution_no
	CROSS JOIN LATERAL jsonb_each_text(e.labels) v
	WHERE NOT EXISTS (SELECT FROM _sfflow.label l WHERE l.name = v.key AND l.value = v.value
		AND l.machine_no = e.machine_no AND l.requested_at = e.requested_at AND l.execution_no = e.execution_no)
	UNION ALL
	SELECT 'label_row_left', e.execution_no, format('a row has the label "%s", which is not there', l.name)
	FROM _sfflow.label l
	JOIN _sfflow.execution e ON e.execution_no = l.execution_no
	JOIN head h ON h.execution_no = e.execution_no
	WHERE e.machine_no <> l.machine_no OR e.requested_at <> l.requested_at
		OR e.labels ->> l.name IS DISTINCT FROM l.value
	UNION ALL
--@into console_one
	WHEN 'set_labels' THEN @extschema@.sf_set_labels($2, $3 -> 'labels')::text
--@into console_executions
	UNION ALL
	SELECT b.* FROM @extschema@.sf_list_executions(
		$1 -> 'labels', $1 ->> 'state_machine', $1 ->> 'status', $1 ->> 'error', $1 ->> 'name', NULL, $1 ->> 'parent',
		($1 ->> 'after')::timestamptz, ($1 ->> 'before')::timestamptz, $2, $1 ->> 'key', $1 ->> 'parent' IS NULL
			AND NOT coalesce(($1 ->> 'items')::boolean, false))
		WITH ORDINALITY AS b(execution_id, state_machine, name, status, error, requested_at, started_at, stopped_at,
			page_key, n)
	WHERE $1 -> 'labels' IS NOT NULL
--@into public_functions
		node_labelled,
--@into mcp.list_arguments
		|| E'\n\t\tlabels object Only those that have all of these labels, values by name.'
