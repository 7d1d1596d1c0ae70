-- Executions: start, advance, stop, redrive.

CREATE FUNCTION @extschema@.sf_start(
	state_machine text,
	input jsonb DEFAULT '{}',
	name text DEFAULT NULL,
	if_exists text DEFAULT 'resume',
	version integer DEFAULT NULL,
	priority integer DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_start'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_start(text, jsonb, text, text, integer, integer) IS
	'starts (or resumes) an execution; returns its id';

CREATE FUNCTION @extschema@.sf_start_many(
	state_machine text,
	inputs jsonb[],
	names text[] DEFAULT NULL,
	if_exists text DEFAULT 'resume',
	priority integer DEFAULT NULL,
	OUT name text,
	OUT outcome text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_start_many'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_start_many(text, jsonb[], text[], text, integer) IS
	'starts (or resumes) an execution for each input; returns the name and what came of it';

-- Without defaults, so that no call of the forms above is one of these.
CREATE FUNCTION @extschema@.sf_start(state_machine text, input jsonb, options jsonb) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_start_options'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_start(text, jsonb, jsonb) IS
	'starts (or resumes) an execution with options; returns its id';

CREATE FUNCTION @extschema@.sf_start_many(
	state_machine text,
	inputs jsonb[],
	names text[],
	options jsonb,
	OUT name text,
	OUT outcome text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_start_many_options'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_start_many(text, jsonb[], text[], jsonb) IS
	'starts (or resumes) an execution for each input, with options; returns the name and what came of it';

-- The query runs with the rights of the caller.
CREATE FUNCTION @extschema@.sf_start_many(
	state_machine text,
	query text,
	if_exists text DEFAULT 'resume',
	priority integer DEFAULT NULL,
	OUT name text,
	OUT outcome text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_start_many_query'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_start_many(text, text, text, integer) IS
	'starts (or resumes) an execution for each row of a query: an input, or an input and a name';

CREATE FUNCTION @extschema@.sf_step(
	execution_id text,
	OUT branch text,
	OUT state text,
	OUT outcome text,
	OUT next_state text,
	OUT status text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_step'
LANGUAGE C VOLATILE ROWS 1;
COMMENT ON FUNCTION @extschema@.sf_step(text) IS
	'one transition of the branch that is due first, in this transaction';

CREATE FUNCTION @extschema@.sf_run(
	execution_id text,
	skip_waits boolean DEFAULT false,
	max_steps integer DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_run'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_run(text, boolean, integer) IS
	'steps in this transaction until nothing is due; returns the status';

CREATE PROCEDURE @extschema@.sf_run_due(max_steps integer DEFAULT 1000)
AS 'MODULE_PATHNAME', 'sfflow_sf_run_due'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.sf_run_due(integer) IS
	'advances whatever is due in this database, committing slice by slice';

CREATE FUNCTION @extschema@.sf_await(execution_id text, timeout interval DEFAULT '10 s')
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_await'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_await(text, interval) IS
	'waits until an execution has ended, for five minutes at most; returns its status then, or RUNNING';

-- For as long as it takes: unlike a query, it holds no snapshot while it waits.
CREATE PROCEDURE @extschema@.sf_wait(execution_id text, timeout interval DEFAULT NULL, INOUT status text DEFAULT NULL)
AS 'MODULE_PATHNAME', 'sfflow_sf_wait'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.sf_wait(text, interval, text) IS
	'waits until an execution has ended and gives its status then, or RUNNING at the timeout';

CREATE PROCEDURE @extschema@.sf_wait_change(seen bigint DEFAULT NULL, timeout interval DEFAULT '10 s',
	INOUT change bigint DEFAULT NULL)
AS 'MODULE_PATHNAME', 'sfflow_sf_wait_change'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.sf_wait_change(bigint, interval, bigint) IS
	'waits until executions have changed since a change that was seen, and gives the number of the last change';

CREATE FUNCTION @extschema@.sf_stop(execution_id text, error text DEFAULT NULL, cause text DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_stop'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_stop(text, text, text) IS
	'ends an execution as ABORTED; returns its status';

CREATE FUNCTION @extschema@.sf_redrive(
	execution_id text,
	from_state text DEFAULT NULL,
	input jsonb DEFAULT NULL,
	version integer DEFAULT NULL)
RETURNS integer
AS 'MODULE_PATHNAME', 'sfflow_sf_redrive'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_redrive(text, text, jsonb, integer) IS
	'continues an execution that has not succeeded; returns the redrive count';

-- The same for many at once.
CREATE FUNCTION @extschema@.sf_redrive_many(
	state_machine text DEFAULT NULL,
	status text DEFAULT NULL,
	error text DEFAULT NULL,
	since timestamptz DEFAULT NULL,
	max integer DEFAULT NULL,
	comment text DEFAULT NULL,
	map_run text DEFAULT NULL,
	OUT execution_id text,
	OUT outcome text,
	OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_redrive_many'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_redrive_many(text, text, text, timestamptz, integer, text, text) IS
	'continues executions, or items of a Map run, that have not succeeded; returns what came of each';

CREATE FUNCTION @extschema@.sf_stop_many(
	state_machine text DEFAULT NULL,
	status text DEFAULT NULL,
	error text DEFAULT NULL,
	since timestamptz DEFAULT NULL,
	max integer DEFAULT NULL,
	cause text DEFAULT NULL,
	OUT execution_id text,
	OUT outcome text,
	OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_stop_many'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.sf_stop_many(text, text, text, timestamptz, integer, text) IS
	'ends running executions as ABORTED; returns what came of each';

CREATE FUNCTION @extschema@.sf_purge(older_than interval, max_executions integer DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_purge'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_purge(interval, integer) IS
	'deletes ended executions of the caller''s machines; returns how many';

CREATE PROCEDURE @extschema@.sf_purge_due(INOUT purged bigint DEFAULT NULL)
AS 'MODULE_PATHNAME', 'sfflow_sf_purge_due'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.sf_purge_due(bigint) IS
	'deletes ended executions by the option retention of their machines, committing batch by batch';

-- Gives C the extension's own sf_start, whatever schema it is in. Bound to that function, not to its
-- name: the owner of the schema can rename it and make another one.
CREATE FUNCTION _sfflow.start_scheduled(state_machine text, input jsonb, name text) RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN @extschema@.sf_start($1, $2, $3, 'skip');
