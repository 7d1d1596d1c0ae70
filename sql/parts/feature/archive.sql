-- Archives: what programs write of executions that are old enough to go, before these are deleted: the feature archive.

--@into tables
CREATE SEQUENCE _sfflow.archive_batch_no;

-- A row for each file of executions. The names of files come from here, so that one that is written again after a crash
-- replaces the first.
CREATE TABLE _sfflow.archive_batch (
	batch_no bigint NOT NULL PRIMARY KEY,
	activity_no integer NOT NULL,		-- that the option archive of their machines names
	name text COLLATE "C" NOT NULL,
	executions integer NOT NULL,
	taken_at timestamptz NOT NULL,
	worker text,						-- that has taken it last
	confirmed_at timestamptz,			-- NULL: not known to be in the archive
	file text,							-- ... else where it is,
	bytes bigint,						-- of the file
	sha256 text COLLATE "C",			-- of the file, hexadecimal
	CONSTRAINT archive_batch_confirmed CHECK (num_nulls(confirmed_at, file, bytes, sha256) IN (0, 4))
);
CREATE INDEX archive_batch_open ON _sfflow.archive_batch (activity_no, batch_no) WHERE confirmed_at IS NULL;

-- The executions of batches that are not confirmed. They do not change, and only the confirmation deletes them.
CREATE TABLE _sfflow.archive_member (
	execution_no bigint NOT NULL PRIMARY KEY,
	batch_no bigint NOT NULL
);
CREATE INDEX archive_member_batch ON _sfflow.archive_member (batch_no, execution_no);

-- When all that was old enough was in batches, by activity.
CREATE TABLE _sfflow.archive_progress (
	activity_no integer NOT NULL PRIMARY KEY,
	caught_up_at timestamptz NOT NULL
) WITH (fillfactor = 50);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.archive_batch_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.archive_batch', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.archive_member', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.archive_progress', '');

--@into functions
-- Archives.
CREATE FUNCTION @extschema@.sf_take_archive_batch(
	activity text,
	worker_name text DEFAULT NULL,
	max_executions integer DEFAULT NULL,
	OUT batch bigint,
	OUT name text,
	OUT executions integer,
	OUT all_taken boolean)
AS 'MODULE_PATHNAME', 'sfflow_sf_take_archive_batch'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_take_archive_batch(text, text, integer) IS
	'hands out executions that are old enough to be archived, in a batch that has a name';

CREATE FUNCTION @extschema@.sf_read_archive_batch(
	batch bigint,
	after bigint DEFAULT NULL,
	max_executions integer DEFAULT NULL,
	OUT execution bigint,
	OUT event_id integer,
	OUT line text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_read_archive_batch'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10000;
COMMENT ON FUNCTION @extschema@.sf_read_archive_batch(bigint, bigint, integer) IS
	'executions of a batch that the session has taken, each as a row of JSON followed by those of its events';

CREATE FUNCTION @extschema@.sf_confirm_archive_batch(batch bigint, file text, bytes bigint, sha256 text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_confirm_archive_batch'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_confirm_archive_batch(bigint, text, bigint, text) IS
	'deletes the executions of a batch that the session has taken and that is in the archive; returns how many';

-- Archives that current versions of machines name; problem: what is wrong with one, else NULL.
CREATE VIEW _sfflow.archive_lag AS
SELECT l.activity, l.since, CASE WHEN l.since < clock_timestamp() - interval '1 hour' THEN
	format('archive "activity:%s": %s', l.activity, CASE WHEN NOT l.is_there THEN 'there is no such activity'
		ELSE coalesce('not all that was old enough has been archived since ' || date_trunc('second', l.caught_up_at),
			'no program has ever archived all that was old enough') END) END AS problem
FROM (
	SELECT o.activity, a.activity_no IS NOT NULL AS is_there, p.caught_up_at,
		coalesce(p.caught_up_at, min(o.created_at)) AS since
	FROM (
		SELECT substr(v.options ->> 'archive', 10) AS activity, v.created_at
		FROM _sfflow.state_machine m
		JOIN _sfflow.state_machine_version v ON v.machine_no = m.machine_no AND v.version = m.current_version
		WHERE v.options ->> 'archive' LIKE 'activity:%') o
	LEFT JOIN _sfflow.activity a ON a.name = o.activity
	LEFT JOIN _sfflow.archive_progress p ON p.activity_no = a.activity_no
	GROUP BY o.activity, a.activity_no, p.caught_up_at) l;

CREATE VIEW @extschema@.sf_archive_batches WITH (security_barrier) AS
SELECT b.batch_no AS batch, a.name AS activity, b.name, b.executions, b.taken_at, b.worker, b.confirmed_at, b.file,
	b.bytes, b.sha256
FROM _sfflow.archive_batch b
JOIN _sfflow.workable_activity a ON a.activity_no = b.activity_no;
GRANT SELECT ON @extschema@.sf_archive_batches TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_archive_batches IS 'files of executions that have been archived, or are being written';
COMMENT ON COLUMN @extschema@.sf_archive_batches.batch IS 'number of the batch';
COMMENT ON COLUMN @extschema@.sf_archive_batches.activity IS 'activity that the option archive names';
COMMENT ON COLUMN @extschema@.sf_archive_batches.name IS 'name with which its files begin';
COMMENT ON COLUMN @extschema@.sf_archive_batches.executions IS 'how many executions it has';
COMMENT ON COLUMN @extschema@.sf_archive_batches.taken_at IS 'when a program has taken it last';
COMMENT ON COLUMN @extschema@.sf_archive_batches.worker IS 'the name of that program';
COMMENT ON COLUMN @extschema@.sf_archive_batches.confirmed_at IS
	'when the program said that it is in the archive, and its executions were deleted; null: not yet';
COMMENT ON COLUMN @extschema@.sf_archive_batches.file IS 'file or object with its executions';
COMMENT ON COLUMN @extschema@.sf_archive_batches.bytes IS 'size of that';
COMMENT ON COLUMN @extschema@.sf_archive_batches.sha256 IS 'its SHA-256, hexadecimal';

--@into rows_of_executions
	UNION ALL SELECT 'archive_member', a.execution_no FROM _sfflow.archive_member a
--@into sequence_use
UNION ALL
SELECT 'archive_batch_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	(SELECT max(batch_no) FROM _sfflow.archive_batch WHERE batch_no <= r.high)
FROM _sfflow.archive_batch_no s, _sfflow.number_range r
--@into alerts
SELECT 'archive_behind', l.activity COLLATE "C", NULL, NULL, l.since, l.problem, 'activity:' || l.activity, true
FROM _sfflow.archive_lag l
JOIN _sfflow.workable_activity a ON a.name = l.activity
WHERE l.problem IS NOT NULL
UNION ALL
