-- Jobs that sf_mark has settled and that have not been reached since. One row per job; a branch that reaches the
-- job deletes the row and does as it says.
CREATE TABLE _sfflow.mark (
	execution_no bigint NOT NULL,
	job_id text COLLATE "C" NOT NULL,
	outcome text COLLATE "C" NOT NULL,	-- success, skip or failure
	output jsonb,						-- result of the job; NULL: its input is its output
	details jsonb NOT NULL,				-- for the history
	PRIMARY KEY (execution_no, job_id)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.mark', '');
