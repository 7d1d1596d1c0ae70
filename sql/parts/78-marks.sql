-- sf_mark: a job is settled without its task.

CREATE FUNCTION @extschema@.sf_mark(
	execution_id text,
	job_id text,
	outcome text,
	output jsonb DEFAULT NULL,
	reason text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_mark'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_mark(text, text, text, jsonb, text) IS
	'settles a job that failed, is held or was not reached, so that a redrive or a release goes on past it';
