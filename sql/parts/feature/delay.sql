-- Starts in the future: the feature delay.

--@into tables
-- When an execution starts that was to start later than at once, for lists of executions that run (src/feature/delay).
CREATE TABLE _sfflow.delayed_start (
	execution_no bigint NOT NULL PRIMARY KEY,
	start_at timestamptz NOT NULL
);
CREATE INDEX delayed_start_time ON _sfflow.delayed_start (start_at);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.delayed_start', '');

--@into rows_of_executions
	UNION ALL SELECT 'delayed_start', d.execution_no FROM _sfflow.delayed_start d
