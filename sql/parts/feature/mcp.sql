-- What agents ask by the Model Context Protocol (sfgateway, /mcp): a tool per question, with the rights of the role
-- that asks, over what the console reads. Every answer is bounded: lists have the first rows, texts their beginning,
-- and "cut" is true if something is left out. Here are the calls and the protocol.

--@into agents
--@slot mcp.nodes

-- Call a tool; nodes: what other nodes have for it, or null. The answer is null if there is no tool of this name, or it
-- writes and is not named. Notices would tell of a redrive that is only tried.
CREATE FUNCTION _sfflow.mcp_call(tool text, arguments jsonb, nodes jsonb, writing text[]) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET client_min_messages = error
AS $$
DECLARE
	known record;
	answer jsonb;
	shown text;
BEGIN
	SELECT t.writes, t.arguments INTO known FROM _sfflow.mcp_tools() t
	WHERE t.name = tool AND (NOT t.writes OR t.name = ANY (writing));
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	-- An input that is null is one.
	arguments := (SELECT coalesce(jsonb_object_agg(a.key, a.value), '{}') FROM jsonb_each(arguments) a
		WHERE a.value <> 'null' OR a.key = 'input');
	PERFORM _sfflow.mcp_check(tool, _sfflow.mcp_schema(known.arguments, true), arguments);
	IF nodes IS NOT NULL THEN
		arguments := arguments || jsonb_build_object('nodes', nodes);
	END IF;
	CASE tool
		WHEN 'tonight' THEN answer := _sfflow.mcp_tonight(arguments);
		WHEN 'late_or_failing' THEN answer := _sfflow.mcp_late_or_failing(arguments);
		WHEN 'why_did_it_fail' THEN answer := _sfflow.mcp_why_did_it_fail(arguments);
		WHEN 'compare_with_last_good' THEN answer := _sfflow.mcp_compare_with_last_good(arguments);
		WHEN 'list_executions' THEN answer := _sfflow.mcp_list_executions(arguments);
		WHEN 'execution_status' THEN answer := _sfflow.mcp_execution_status(arguments);
		WHEN 'waiting_on' THEN answer := _sfflow.mcp_waiting_on(arguments);
--@slot mcp.calls
		WHEN 'what_would_redrive_run' THEN answer := _sfflow.mcp_what_would_redrive_run(arguments);
		WHEN 'list_state_machines' THEN answer := _sfflow.mcp_list_state_machines(arguments);
		WHEN 'state_machine_definition' THEN answer := _sfflow.mcp_state_machine_definition(arguments);
		ELSE answer := _sfflow.mcp_write(tool, arguments);
	END CASE;
--@slot mcp.merges
	answer := jsonb_strip_nulls(answer);
	shown := answer::text;
	IF NOT known.writes AND length(shown) > 200000 THEN
		RAISE EXCEPTION 'the answer is too large' USING ERRCODE = '54000', HINT = 'Ask for less, as by "limit".';
	END IF;
	RETURN jsonb_build_object('content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', shown)),
		'structuredContent', answer, 'isError', false);
END
$$;

-- Answer a request of the protocol; null: there is no such method or tool.
CREATE FUNCTION _sfflow.mcp(method text, params jsonb, writing text[]) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN CASE $1
	WHEN 'tools/list' THEN jsonb_build_object('tools', _sfflow.mcp_tool_list($3))
	WHEN 'tools/call' THEN _sfflow.mcp_call($2 ->> 'name', coalesce($2 -> 'arguments', '{}'), $2 -> 'nodes', $3)
--@slot mcp.methods
END;

-- For sfgateway. The role is the identity of this one call, and nothing that it calls can leave it.
CREATE FUNCTION @extschema@.sf_mcp_as(role name, method text, params jsonb, writing text[] DEFAULT '{}')
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_mcp_as'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_mcp_as(name, text, jsonb, text[]) IS
	'answers a request of the Model Context Protocol with the rights of a role that the session user is a member of';
--@into public_functions
		mcp_call, mcp_check, mcp_compare_with_last_good, mcp_compared, mcp_execution, mcp_execution_status, mcp_filter,
		mcp_first, mcp_last_good, mcp_late_or_failing, mcp_list_executions, mcp_list_state_machines, mcp_more,
		mcp_pointers, mcp_rows, mcp_schema, mcp_state_machine_definition, mcp_text, mcp_tonight, mcp_tool_list,
		mcp_tools, mcp_waiting_on, mcp_waits, mcp_what_would_redrive_run, mcp_why_did_it_fail, mcp_write,
