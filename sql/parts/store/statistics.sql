-- What slices count, until the feature metric folds it into counters.

-- One row per slice and state machine, deleted when it has been folded. counts: src/store/statistics/tally.h.
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

SELECT pg_catalog.pg_extension_config_dump('_sfflow.metric_increment', '');
