-- Tables of alerts: failures, and what was acknowledged.

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
	PRIMARY KEY (execution_no, kind),
	CONSTRAINT acknowledgement_kind CHECK (kind IN (@EXECUTION_ALERT_WORDS@)),
	CONSTRAINT acknowledgement_slow_since CHECK ((kind = @EXECUTION_ALERT_SLOW_TASK@) = (slow_since IS NOT NULL))
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.failure', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.acknowledgement', '');
