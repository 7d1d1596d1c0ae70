-- sf_graph: a machine or an execution as a picture.

CREATE FUNCTION @extschema@.sf_graph(target text, format text DEFAULT 'mermaid')
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_graph'
LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.sf_graph(text, text) IS
	'a machine, or an execution with the status of each state, drawn as mermaid, dot or svg';
