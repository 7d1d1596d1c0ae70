-- sf_graph: a machine or an execution as a picture; sf_graph_layout and sf_graph_status for a page that draws itself.

CREATE FUNCTION @extschema@.sf_graph(target text, format text DEFAULT 'mermaid')
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_graph'
LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.sf_graph(text, text) IS
	'a machine, or an execution with the status of each state, drawn as mermaid, dot or svg';

CREATE FUNCTION @extschema@.sf_graph_layout(target text) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_graph_layout'
LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.sf_graph_layout(text) IS
	'the picture of a machine as coordinates: boxes of states, lines, labels';

CREATE FUNCTION @extschema@.sf_graph_status(execution_id text) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_graph_status'
LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.sf_graph_status(text) IS
	'the status of each state of an execution, by the numbers that sf_graph_layout gives';

-- The name of a job within Maps, for the views: "Load[7]", "Days[1]/Load[7]". Checks by itself what its caller may see.
CREATE FUNCTION _sfflow.job_name(execution_no bigint, state text, iterations integer[]) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_job_name'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;
