-- Traces of OpenTelemetry: the feature trace.

--@into tables
CREATE SEQUENCE _sfflow.trace_export_no;

-- Runs of executions that have ended and whose spans are to be exported: one per end of an execution that is part of a
-- sampled trace. What the row of the execution may no longer say when the spans are made is here.
CREATE TABLE _sfflow.trace_export (
	export_no bigint NOT NULL PRIMARY KEY,
	execution_no bigint NOT NULL,
	version integer NOT NULL,
	run integer NOT NULL,				-- redrives before it
	last_event_id integer NOT NULL,
	status smallint NOT NULL,
	started_at timestamptz,				-- of the execution; NULL: it has never begun
	redriven_at timestamptz,			-- when the run began, if that was a redrive
	ended_at timestamptz NOT NULL,
	trace text COLLATE "C" NOT NULL,	-- as in execution
	error text,
	takes integer NOT NULL,				-- how often it was taken
	leased_until timestamptz,			-- no other exporter takes it before; NULL: it was not taken yet
	rejected_at timestamptz,			-- it is not taken any more; NULL: it is due
	reason text
) WITH (fillfactor = 70);

CREATE INDEX trace_export_due ON _sfflow.trace_export (export_no) WHERE rejected_at IS NULL;
CREATE INDEX trace_export_execution ON _sfflow.trace_export (execution_no);
CREATE INDEX trace_export_rejected ON _sfflow.trace_export (rejected_at) WHERE rejected_at IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.trace_export_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.trace_export', '');

--@into functions
-- For a program that exports spans, such as sfgateway.
CREATE FUNCTION @extschema@.sf_take_spans(
	max_executions integer DEFAULT 100,
	lease interval DEFAULT '1 minute',
	OUT export_no bigint,
	OUT spans jsonb)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_take_spans'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_take_spans(integer, interval) IS
	'takes runs whose spans are to be exported, for a time: their spans as OTLP has them in JSON';

CREATE FUNCTION @extschema@.sf_confirm_spans(export_nos bigint[]) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_confirm_spans'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_confirm_spans(bigint[]) IS 'says that the spans of runs were delivered';

CREATE FUNCTION @extschema@.sf_reject_spans(export_nos bigint[], reason text) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_reject_spans'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_reject_spans(bigint[], text) IS
	'says that the spans of runs are refused for ever; they are not taken any more';

--@into sequence_use
UNION ALL
SELECT 'trace_export_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	(SELECT max(export_no) FROM _sfflow.trace_export WHERE export_no <= r.high)
FROM _sfflow.trace_export_no s, _sfflow.number_range r
--@into rows_of_executions
	UNION ALL SELECT 'trace_export', x.execution_no FROM _sfflow.trace_export x
