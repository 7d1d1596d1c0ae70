-- Two executions beside each other, and the last runs of a machine.

--@into functions
CREATE FUNCTION @extschema@.sf_compare(
	a text,
	b text,
	OUT job_id text,
	OUT only_in text,
	OUT status_a text,
	OUT status_b text,
	OUT duration_a interval,
	OUT duration_b interval,
	OUT usual_duration interval,
	OUT attempts_a integer,
	OUT attempts_b integer,
	OUT error_a text,
	OUT error_b text,
	OUT input_differs text[],
	OUT output_differs text[],
	OUT is_cut boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_compare'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_compare(text, text) IS
	'the jobs of two executions beside each other, and what their inputs and outputs differ in, by JSON pointer';

CREATE FUNCTION @extschema@.sf_grid(
	state_machine text,
	runs integer DEFAULT 30,
	OUT execution_id text,
	OUT requested_at timestamptz,
	OUT status text,
	OUT took interval,
	OUT job_id text,
	OUT job_status text,
	OUT jobs integer,
	OUT failed integer,
	OUT attempts integer,
	OUT duration interval,
	OUT usual_duration interval)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_grid'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_grid(text, integer) IS
	'the jobs of the last runs of a state machine, iterations of a Map together: a row per run and job';
