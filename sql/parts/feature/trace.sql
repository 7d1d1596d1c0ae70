-- Traces of OpenTelemetry: the feature trace.

--@into tables
CREATE SEQUENCE _sfflow.trace_export_no;

-- Legs of executions that have ended and whose spans are to be exported: one per end of an execution that is part of a
-- sampled trace. What the row of the execution may no longer say when the spans are made is here.
CREATE TABLE _sfflow.trace_export (
	export_no bigint NOT NULL PRIMARY KEY,
	execution_no bigint NOT NULL,
	version integer NOT NULL,
	redrive_count integer NOT NULL,		-- redrives before it
	last_event_id integer NOT NULL,
	leg_status smallint NOT NULL,		-- SfStatus: how it has ended
	started_at timestamptz,				-- of the execution; NULL: it has never begun
	redriven_at timestamptz,			-- when the leg began, if that was a redrive
	ended_at timestamptz NOT NULL,
	trace text COLLATE "C" NOT NULL,	-- as in execution
	error text,
	receives integer NOT NULL,				-- how often it was taken
	lease_until timestamptz,			-- no other exporter takes it before
	rejected_at timestamptz,			-- it is not taken any more
	reason text,
	status smallint NOT NULL,			-- SfTraceExportStatus
	CONSTRAINT trace_export_status CHECK (CASE status
		WHEN @TRACE_EXPORT_DUE@ THEN lease_until IS NULL AND rejected_at IS NULL
		WHEN @TRACE_EXPORT_TAKEN@ THEN lease_until IS NOT NULL AND rejected_at IS NULL
		ELSE status = @TRACE_EXPORT_REJECTED@ AND lease_until IS NULL AND rejected_at IS NOT NULL END),
	CONSTRAINT trace_export_leg_status CHECK (leg_status IN (@STATUSES_ENDED@)),
	CONSTRAINT trace_export_reason CHECK (reason IS NULL OR rejected_at IS NOT NULL)
) WITH (fillfactor = 70);

CREATE INDEX trace_export_waiting ON _sfflow.trace_export (export_no)
	WHERE status IN (@TRACE_EXPORT_DUE@, @TRACE_EXPORT_TAKEN@);
CREATE INDEX trace_export_execution ON _sfflow.trace_export (execution_no);
CREATE INDEX trace_export_rejected ON _sfflow.trace_export (rejected_at) WHERE status = @TRACE_EXPORT_REJECTED@;

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

-- The rows of an index each.
CREATE VIEW _sfflow.waiting_trace_export AS
SELECT x.export_no, x.execution_no, x.version, x.redrive_count, x.last_event_id, x.leg_status, x.started_at,
	x.redriven_at, x.ended_at, x.trace, x.error, x.status, x.lease_until
FROM _sfflow.trace_export x
WHERE x.status IN (@TRACE_EXPORT_DUE@, @TRACE_EXPORT_TAKEN@);
CREATE VIEW _sfflow.rejected_trace_export AS
SELECT x.rejected_at, x.reason FROM _sfflow.trace_export x WHERE x.status = @TRACE_EXPORT_REJECTED@;

-- The trace of each execution that is part of one; see execution.trace.
CREATE VIEW @extschema@.sf_traces WITH (security_barrier) AS
SELECT e.execution_id, m.name AS state_machine, substr(e.trace, 4, 32) AS trace_id,
	nullif(substr(e.trace, 37, 16), '0000000000000000') AS parent_span_id,
	substr(e.trace, 55, 1) = ANY ('{1,3,5,7,9,b,d,f}') AS is_sampled, e.requested_at,
	x.exports_waiting, x.exports_rejected
FROM _sfflow.execution e
CROSS JOIN LATERAL (
	SELECT s.name, s.owner FROM _sfflow.state_machine s WHERE s.machine_no = e.machine_no OFFSET 0) m
CROSS JOIN LATERAL (
	SELECT count(*) FILTER (WHERE y.status <> @TRACE_EXPORT_REJECTED@) AS exports_waiting,
		count(*) FILTER (WHERE y.status = @TRACE_EXPORT_REJECTED@) AS exports_rejected
	FROM _sfflow.trace_export y WHERE y.execution_no = e.execution_no) x
WHERE e.trace IS NOT NULL AND _sfflow.can_read(m.name, m.owner);
GRANT SELECT ON @extschema@.sf_traces TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_traces IS 'the traces of OpenTelemetry that executions are part of';
COMMENT ON COLUMN @extschema@.sf_traces.execution_id IS 'execution';
COMMENT ON COLUMN @extschema@.sf_traces.state_machine IS 'its state machine';
COMMENT ON COLUMN @extschema@.sf_traces.trace_id IS 'trace, as 32 hexadecimal digits';
COMMENT ON COLUMN @extschema@.sf_traces.parent_span_id IS
	'span that started it, as 16 hexadecimal digits; null: the trace begins with it';
COMMENT ON COLUMN @extschema@.sf_traces.is_sampled IS 'whether its runs are exported';
COMMENT ON COLUMN @extschema@.sf_traces.requested_at IS 'when it was requested';
COMMENT ON COLUMN @extschema@.sf_traces.exports_waiting IS 'runs that have ended and are not exported yet';
COMMENT ON COLUMN @extschema@.sf_traces.exports_rejected IS 'runs that the collector has refused for ever';

--@into sequence_use
UNION ALL
SELECT 'trace_export_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	(SELECT max(export_no) FROM _sfflow.trace_export WHERE export_no <= r.high)
FROM _sfflow.trace_export_no s, _sfflow.number_range r
--@into rows_of_executions
	UNION ALL SELECT 'trace_export', x.execution_no FROM _sfflow.trace_export x
--@into console_execution
		'trace', (SELECT to_jsonb(t) FROM (
			SELECT x.trace_id, x.is_sampled, x.exports_waiting, x.exports_rejected FROM @extschema@.sf_traces x
			WHERE x.execution_id = $1 ->> 'execution_id') t),
