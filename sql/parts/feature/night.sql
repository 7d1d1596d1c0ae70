-- One night at a glance, and one execution.

--@into functions
CREATE FUNCTION @extschema@.sf_night(
	since timestamptz DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	most integer DEFAULT NULL,
	OUT planned_at timestamptz,
	OUT target text,
	OUT state text,
	OUT started_at timestamptz,
	OUT ended_at timestamptz,
	OUT took interval,
	OUT usual interval,
	OUT expected_end timestamptz,
	OUT detail text,
	OUT next text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_night'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_night(timestamptz, timestamptz, integer) IS
	'the executions and the runs of schedules of a time: by default from 16 hours ago until 8 hours from now; a machine with more than most starts has one line, of state MASS';

CREATE FUNCTION @extschema@.sf_progress(
	execution_id text,
	OUT status text,
	OUT done integer,
	OUT total integer,
	OUT took interval,
	OUT usual interval,
	OUT remaining interval,
	OUT eta timestamptz,
	OUT waiting_on text,
	OUT next text)
RETURNS record
AS 'MODULE_PATHNAME', 'sfflow_sf_progress'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.sf_progress(text) IS
	'how many jobs of an execution are done, and when it is expected to end';
