-- Nodes: answers of agents' tools over several nodes, merged.

--@into mcp.nodes
-- What a node has for a tool that is a list: what the coordinator's tool reads, or its answer.
CREATE FUNCTION _sfflow.mcp_part(tool text, q jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN CASE $1
	WHEN 'tonight' THEN @extschema@.sf_console_api('tonight', $2)
	WHEN 'list_executions' THEN @extschema@.sf_console_api('executions', _sfflow.mcp_filter($2))
	WHEN 'late_or_failing' THEN _sfflow.mcp_late_or_failing($2)
	WHEN 'waiting_on' THEN _sfflow.mcp_waiting_on($2)
--@slot mcp.node.parts
END;

-- The first rows of a list of all nodes, and whether there are more.
CREATE FUNCTION _sfflow.mcp_first_of_all(q jsonb, own jsonb, what text, at text, size integer) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object($3, _sfflow.console_first_of_all($1, $2, $3, $4, -1, $5), 'cut', (
	SELECT coalesce(bool_or((a.one ->> 'cut')::boolean), false) OR sum(jsonb_array_length(a.one -> $3)) > $5
	FROM _sfflow.console_answers($1, $2) AS a(one)));

-- The answer of a tool that is a list, over all nodes, and the nodes that it lacks. What the console merges is merged.
CREATE FUNCTION _sfflow.mcp_merged(tool text, q jsonb, own jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN $3 || CASE $1
	WHEN 'late_or_failing' THEN jsonb_build_object('counts', _sfflow.console_counts_of_all($2, $3, 'counts'))
		|| _sfflow.mcp_first_of_all($2, $3, 'alerts', 'since', _sfflow.console_limit($2, 30, 100))
	WHEN 'waiting_on' THEN
		_sfflow.mcp_first_of_all($2, $3, 'executions', 'requested_at', _sfflow.console_limit($2, 25, 100))
	WHEN 'waiting_for_people' THEN (
		SELECT _sfflow.console_merged_inbox($2, $3) - '{rows,next,readable}'::text[] || p.page
			|| jsonb_build_object('cut', p.page ->> 'next_page_key' IS NOT NULL)
		FROM (SELECT _sfflow.console_page_of_all($2, $3, 'tasks', 'next_page_key', 1,
			_sfflow.console_limit($2, 20, 50)) AS page OFFSET 0) p)
	ELSE '{}' END
	|| jsonb_build_object('nodes_missing', _sfflow.console_missing($2));
--@into mcp.merges
	IF nodes IS NOT NULL THEN
		answer := _sfflow.mcp_merged(tool, arguments, answer);
	END IF;
--@into mcp.methods
	-- by sfgateway alone
	WHEN 'tools/part' THEN _sfflow.mcp_part($2 ->> 'name', jsonb_strip_nulls(coalesce($2 -> 'arguments', '{}')))
--@into public_functions
		mcp_first_of_all, mcp_merged, mcp_part,
