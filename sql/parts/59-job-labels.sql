-- Names of jobs within Maps, for the views: "Load[7]", "Days[1]/Load[7]".

CREATE FUNCTION _sfflow.job_label(execution_no bigint, state text, iterations integer[]) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_job_label'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;
-- Checks by itself what its caller may see.
