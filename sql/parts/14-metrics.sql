-- Tables of metrics: increments that slices write, the counters that they are folded into; failures,
-- and whether they were acknowledged.

-- One row per slice and state machine, deleted when it has been folded. counts: src/store/metric.c.
-- Its rows have no key; logical replication finds a deleted one by all its columns.
CREATE TABLE _sfflow.metric_increment (
	xid bigint NOT NULL,				-- of the transaction that wrote it: saves reading, decides nothing
	at timestamptz NOT NULL,
	machine_no integer NOT NULL,
	version integer NOT NULL,
	counts bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
	autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 50000);
ALTER TABLE _sfflow.metric_increment REPLICA IDENTITY FULL;
CREATE INDEX metric_increment_xid ON _sfflow.metric_increment (xid);

-- The one row, made by the first fold, is locked by the transaction that folds. Increments of transactions
-- before from_xid were folded, but for those that were open. It holds for this database alone, and is not
-- dumped; sf_enable() forgets it, since rows may have been loaded.
CREATE TABLE _sfflow.metric_fold (
	only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
	system_identifier bigint,
	database_oid oid,
	from_xid bigint,
	open_xids bigint[]
) WITH (fillfactor = 10);

-- Counters of a state machine. time_us: of executions that have ended, a sum that may exceed a bigint
-- (292,000 years); its histogram: src/store/histogram.h.
CREATE TABLE _sfflow.metric_total (
	machine_no integer NOT NULL PRIMARY KEY,
	started bigint NOT NULL,
	succeeded bigint NOT NULL,
	failed bigint NOT NULL,
	aborted bigint NOT NULL,
	timed_out bigint NOT NULL,
	throttled bigint NOT NULL,
	redriven bigint NOT NULL,
	transitions bigint NOT NULL,
	retries bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL
) WITH (fillfactor = 50);

-- The same by hour (UTC).
CREATE TABLE _sfflow.metric_hour (
	machine_no integer NOT NULL,
	hour timestamptz NOT NULL,
	started bigint NOT NULL,
	succeeded bigint NOT NULL,
	failed bigint NOT NULL,
	aborted bigint NOT NULL,
	timed_out bigint NOT NULL,
	throttled bigint NOT NULL,
	redriven bigint NOT NULL,
	transitions bigint NOT NULL,
	retries bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL,
	PRIMARY KEY (machine_no, hour)
) WITH (fillfactor = 90);

-- Tasks of a state, by its name. recent_us: durations of its last runs, the latest first.
CREATE TABLE _sfflow.metric_job (
	machine_no integer NOT NULL,
	job text COLLATE "C" NOT NULL,
	runs bigint NOT NULL,
	failures bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL,
	recent_us bigint[] NOT NULL,
	last_at timestamptz,
	PRIMARY KEY (machine_no, job)
) WITH (fillfactor = 50);

-- The same by day (UTC).
CREATE TABLE _sfflow.metric_job_day (
	machine_no integer NOT NULL,
	day timestamptz NOT NULL,
	job text COLLATE "C" NOT NULL,
	runs bigint NOT NULL,
	failures bigint NOT NULL,
	time_us numeric NOT NULL,
	time_histogram bytea NOT NULL,
	PRIMARY KEY (machine_no, day, job)
) WITH (fillfactor = 90);

CREATE TABLE _sfflow.metric_retry (
	machine_no integer NOT NULL,
	state text COLLATE "C" NOT NULL,
	error text COLLATE "C" NOT NULL,
	retries bigint NOT NULL,
	PRIMARY KEY (machine_no, state, error)
) WITH (fillfactor = 50);

-- One row per execution that has failed or timed out, until it is purged. Open: it was neither redriven
-- nor acknowledged since.
CREATE TABLE _sfflow.failure (
	execution_no bigint NOT NULL PRIMARY KEY,
	machine_no integer NOT NULL,
	times integer NOT NULL,				-- it has failed under its id
	failed_at timestamptz NOT NULL,
	is_open boolean NOT NULL
);
CREATE INDEX failure_open ON _sfflow.failure (machine_no, failed_at) WHERE is_open;

-- The last acknowledgement of an alert of an execution. since: of the alert; of slow tasks the latest one,
-- and slow_since has all: a task that began earlier may become slow later.
CREATE TABLE _sfflow.acknowledgement (
	execution_no bigint NOT NULL,
	kind text COLLATE "C" NOT NULL,
	since timestamptz NOT NULL,
	acknowledged_at timestamptz NOT NULL,
	acknowledged_by regrole NOT NULL,
	comment text,
	slow_since timestamptz[],
	PRIMARY KEY (execution_no, kind)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_increment', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_total', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_hour', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_job', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_job_day', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_retry', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.failure', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.acknowledgement', '');
