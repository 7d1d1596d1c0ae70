-- A task runs as the owner of the machine: in somebody's session (sf_step, sf_run), where nothing of
-- it may stay behind; and in a worker, where nothing of one task reaches the next.
\set VERBOSITY terse

CREATE FUNCTION run_task(resource text, payload jsonb, owner oid, timeout_ms integer, as_worker boolean)
RETURNS jsonb AS '$libdir/sfflow', 'sfflow_debug_run_task' LANGUAGE C;

-- Rows of a statement run as a task of a role, or its error with the message.
CREATE FUNCTION query(owner regrole, statement text, as_worker boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
	outcome jsonb := run_task('sql:query', jsonb_build_object('Statement', statement), owner, 0, as_worker);
BEGIN
	RETURN CASE WHEN (outcome ->> 'ok')::boolean THEN outcome #>> '{output,Rows}'
		ELSE concat_ws(' | ', outcome ->> 'error', (outcome ->> 'cause')::jsonb ->> 'message') END;
END $$;

CREATE ROLE task_eve;
CREATE ROLE task_bob;
CREATE SCHEMA eve AUTHORIZATION task_eve;
CREATE SCHEMA bob AUTHORIZATION task_bob;
GRANT USAGE ON SCHEMA eve TO PUBLIC;
GRANT CREATE ON SCHEMA public TO task_eve;

-- Who it is, and that it cannot become somebody else.
SELECT query('task_eve', 'SELECT current_user');
SELECT query('task_eve', 'SET ROLE NONE');
SELECT query('task_eve', 'RESET ROLE');
SELECT query('task_eve', 'SET ROLE task_bob');
SELECT query('task_eve', 'SET SESSION AUTHORIZATION DEFAULT');
SELECT query('task_eve', $$SELECT set_config('role', 'none', false)$$);
SELECT query('task_eve', $$DO 'BEGIN RESET SESSION AUTHORIZATION; END'$$);
SELECT query('task_eve', 'DISCARD ALL');
SELECT query('task_eve', 'RESET ALL'), query('task_eve', 'SELECT current_user');
SELECT current_user = session_user AS unchanged;

-- Settings begin as those of a new connection of the owner, and end with the task.
SET work_mem = '1MB';
SET search_path = eve;
ALTER ROLE task_eve SET work_mem = '2MB';
ALTER ROLE task_eve SET sfflow_test.color = 'green';
DO $$ BEGIN EXECUTE format('ALTER ROLE task_eve IN DATABASE %I SET statement_timeout = %L',
	current_database(), '5min'); END $$;
SELECT public.query('task_eve', $$SELECT current_setting('work_mem') AS mem,
	current_setting('sfflow_test.color') AS color,
	current_setting('statement_timeout') AS timeout, current_setting('search_path') AS path$$);
SELECT public.query('task_bob', $$SELECT current_setting('work_mem') AS mem, current_setting('sfflow_test.color',
	true) AS color$$);
SELECT public.query('task_eve', $$SELECT set_config('work_mem', '3MB', false), set_config('search_path', 'x', false),
	set_config('eve.secret', 's', false)$$);
SELECT public.query('task_bob', $$SELECT current_setting('eve.secret', true) AS secret$$);
SHOW work_mem;
SHOW search_path;
RESET work_mem;
RESET search_path;
ALTER ROLE task_eve RESET ALL;
DO $$ BEGIN EXECUTE format('ALTER ROLE task_eve IN DATABASE %I RESET ALL', current_database()); END $$;

-- An error while they are put back leaves RESET ALL as it is for the session.
SET sfflow.debug_point = 'reset-settings:error';
SELECT query('task_eve', 'SELECT 1');
RESET sfflow.debug_point;
SET exit_on_error = on;
RESET ALL;
SHOW exit_on_error;
SET exit_on_error = off;

-- In the session of somebody else: nothing that runs, or is found, later.
SELECT query('task_eve', 'CREATE TEMP TABLE account (a integer)');
SELECT query('task_eve', 'DECLARE c CURSOR WITH HOLD FOR SELECT 1');
SELECT query('task_eve', 'PREPARE p AS SELECT 1');
SELECT query('task_eve', 'LISTEN sf_activity');
-- In one's own session one may.
SET SESSION AUTHORIZATION task_eve;
SELECT query('task_eve', 'CREATE TEMP TABLE account (a integer)');
SELECT count(*) FROM account;
SELECT query('task_bob', 'CREATE TEMP TABLE account (a integer)');
RESET SESSION AUTHORIZATION;
DROP TABLE account;

-- Deferred constraints are checked as the owner when the task ends, and are the task's error.
SET ROLE task_eve;
CREATE TABLE eve.parent (id integer PRIMARY KEY);
CREATE TABLE eve.child (id integer REFERENCES eve.parent DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE eve.now (id integer UNIQUE DEFERRABLE INITIALLY IMMEDIATE);
CREATE TABLE eve.trap (who text);
CREATE FUNCTION eve.spring() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN INSERT INTO eve.trap VALUES (current_user); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER trap AFTER INSERT ON eve.parent DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION eve.spring();
RESET ROLE;
SELECT query('task_eve', 'INSERT INTO eve.child VALUES (1)');
SELECT query('task_eve', 'INSERT INTO eve.parent VALUES (1)');
SELECT * FROM eve.trap;
-- As a guest a task has them immediate, in one's own session in their initial modes.
SELECT query('task_eve', $$DO 'BEGIN INSERT INTO eve.child VALUES (2); INSERT INTO eve.parent VALUES (2); END'$$);
SELECT query('task_eve', 'INSERT INTO eve.now SELECT 1');
SELECT query('task_eve', $$DO 'BEGIN INSERT INTO eve.now VALUES (1); DELETE FROM eve.now; END'$$);
SET SESSION AUTHORIZATION task_eve;
SELECT query('task_eve', $$DO 'BEGIN INSERT INTO eve.child VALUES (2); INSERT INTO eve.parent VALUES (2); END'$$);
SELECT query('task_eve', $$DO 'BEGIN INSERT INTO eve.now VALUES (1); DELETE FROM eve.now; END'$$);
RESET SESSION AUTHORIZATION;
-- What the caller had deferred is checked first, as the caller; afterwards initial modes hold again.
BEGIN;
INSERT INTO eve.parent VALUES (3);
SELECT query('task_eve', 'SELECT DISTINCT who FROM eve.trap ORDER BY who');
INSERT INTO eve.child VALUES (4);
INSERT INTO eve.parent VALUES (4);
SAVEPOINT s;
INSERT INTO eve.now VALUES (1);
ROLLBACK TO s;
INSERT INTO eve.child VALUES (5);
SELECT query('task_eve', 'SELECT 1');
ROLLBACK;

-- In a worker: temporary tables, cursors and prepared statements end with the task.
\c -
SELECT query('task_eve', 'CREATE TEMP TABLE account AS SELECT 1 AS a', true);
SELECT query('task_eve', 'CREATE TEMP TABLE account AS SELECT 2 AS a', true);
BEGIN;
SELECT query('task_eve', 'CREATE TEMP TABLE account ON COMMIT DROP AS SELECT 3 AS a', true);
SELECT query('task_eve', 'CREATE TEMP TABLE account ON COMMIT DROP AS SELECT 4 AS a', true);
COMMIT;
SELECT query('task_bob', 'SELECT * FROM account', true);
SELECT query('task_eve', 'CREATE FUNCTION pg_temp.lower(text) RETURNS text LANGUAGE sql AS $$ SELECT ''eve'' $$', true);
SELECT query('task_bob', 'SELECT lower(''X''), to_regproc(''pg_temp.lower'')', true);
SELECT query('task_eve', 'PREPARE p AS SELECT 1', true), query('task_eve', 'PREPARE p AS SELECT 1', true);
SELECT query('task_bob', 'EXECUTE p', true);
SELECT query('task_eve', $$DO 'BEGIN EXECUTE ''PREPARE q AS SELECT 1''; RAISE division_by_zero; END'$$, true);
SELECT count(*) FROM pg_prepared_statements WHERE name IN ('p', 'q');
BEGIN;
SELECT query('task_eve', 'DECLARE c CURSOR WITH HOLD FOR SELECT 1', true);
SELECT query('task_bob', 'FETCH c', true);
COMMIT;
SELECT query('task_eve', 'SET work_mem = ''9MB''', true), query('task_eve', 'SHOW work_mem', true),
	query('task_bob', 'SHOW work_mem', true);
SELECT query('task_eve', 'SET ROLE NONE', true);
BEGIN;
SELECT query('task_eve', 'INSERT INTO eve.child VALUES (9)', true);
SELECT query('task_eve', $$DO 'BEGIN INSERT INTO eve.child VALUES (9); INSERT INTO eve.parent VALUES (9); END'$$, true);
SELECT query('task_eve', $$DO 'BEGIN INSERT INTO eve.child VALUES (10); INSERT INTO eve.parent VALUES (10); END'$$,
	true);
SELECT query('task_eve', $$DO 'BEGIN INSERT INTO eve.now VALUES (1); DELETE FROM eve.now; END'$$, true);
SELECT query('task_eve', 'SELECT DISTINCT who FROM eve.trap', true);
ROLLBACK;
SELECT query('task_eve', 'SELECT setseed(0.5)', true) \gset
SELECT query('task_eve', 'SELECT random()', true) AS first \gset
SELECT query('task_eve', 'SELECT setseed(0.5)', true) \gset
SELECT query('task_bob', 'SELECT random()', true) = :'first' AS foreseen;
-- A task within a task leaves what is around it alone; as another owner it is a guest.
CREATE FUNCTION eve.nest() RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	answers text[];
BEGIN
	CREATE TEMP TABLE mine AS SELECT 1 AS a;
	SET work_mem = '7MB';
	FOR i IN 1..2 LOOP
		answers := answers || public.query('task_bob', 'CREATE TEMP TABLE yours (a integer)')
			|| public.query('task_bob', 'SELECT current_user, current_setting(''work_mem'') AS mem')
			|| public.query('task_bob', 'SELECT * FROM mine')
			|| public.query('task_eve', 'UPDATE mine SET a = a + 1 RETURNING a');
	END LOOP;
	RETURN answers || current_user::text || current_setting('work_mem');
END $$;
SELECT unnest(ARRAY(SELECT jsonb_array_elements_text(query('task_eve', 'SELECT eve.nest() AS a',
	true)::jsonb #> '{0,a}'))) AS answer;
SELECT query('task_eve', 'SELECT * FROM mine', true);
SELECT query('task_eve', 'SELECT pg_advisory_lock(42)', true);
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory';
SELECT current_user = session_user AS unchanged;

\c -
SET client_min_messages = warning;
DROP FUNCTION query, run_task;
DROP SCHEMA eve, bob CASCADE;
DROP OWNED BY task_eve, task_bob;
DROP ROLE task_eve, task_bob;
