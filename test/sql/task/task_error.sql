-- How a task fails: names for ErrorEquals, causes, sf_raise, the time limit.

CREATE FUNCTION run_task(resource text, payload jsonb, owner oid, timeout_ms integer, as_worker boolean)
RETURNS jsonb AS '$libdir/sfflow', 'sfflow_debug_run_task' LANGUAGE C;

CREATE ROLE task_shop;
CREATE SCHEMA shop AUTHORIZATION task_shop;
CREATE TABLE shop.trace (what text);
ALTER TABLE shop.trace OWNER TO task_shop;

-- Run PL/pgSQL as a task.
CREATE FUNCTION attempt(body text, timeout_ms integer DEFAULT 0) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE OR REPLACE FUNCTION shop.attempt() RETURNS void LANGUAGE plpgsql AS %L',
		'BEGIN ' || body || ' END');
	RETURN run_task('sql:shop.attempt', '{}', 'task_shop'::regrole, timeout_ms, false);
END $$;

-- The condition name as in PL/pgSQL, the SQLSTATE, and a cause of JSON text.
SELECT jsonb_pretty(attempt('PERFORM 1 / 0;'));
SELECT jsonb_pretty((attempt('RAISE EXCEPTION ''no stock of %'', 7
	USING ERRCODE = ''check_violation'', DETAIL = ''left: 0'', HINT = ''order more'';') ->> 'cause')::jsonb);
SELECT attempt('RAISE EXCEPTION ''x'';') ->> 'error',
	attempt('RAISE SQLSTATE ''23505'';') ->> 'error',
	attempt('RAISE SQLSTATE ''40001'';') - 'cause',
	attempt('RAISE SQLSTATE ''XY123'';') ->> 'error',
	attempt('RAISE SQLSTATE ''SF011'' USING MESSAGE = ''result is too big'';') - 'sqlstate',
	attempt('RAISE SQLSTATE ''SF003'';') ->> 'error';

-- What a failed task did is undone, with what it had set.
SELECT attempt('INSERT INTO shop.trace VALUES (''failed''); RAISE division_by_zero;') -> 'xid';
SELECT attempt('INSERT INTO shop.trace VALUES (''worked'');');
TABLE shop.trace;

-- sf_raise gives name and cause; a cause that is not given is none.
SELECT attempt('PERFORM sf_raise(''Shop.OutOfStock'', ''nothing left of 7'');');
SELECT attempt('PERFORM sf_raise(''Shop.OutOfStock'');');
SELECT attempt('PERFORM sf_raise(NULL, ''why'');');
SELECT attempt('PERFORM sf_raise('''');');
SELECT attempt(format('PERFORM sf_raise(%L);', repeat('x', 256))) ->> 'error' = repeat('x', 256);
SELECT attempt(format('PERFORM sf_raise(%L);', repeat('x', 257))) ->> 'error';
SELECT length(attempt(format('PERFORM sf_raise(''X'', %L);', repeat('ä', 40000))) ->> 'cause');

-- PL/pgSQL can catch it, raise it again, and raise it by itself.
SELECT attempt('BEGIN PERFORM sf_raise(''A'', ''a''); EXCEPTION WHEN SQLSTATE ''SF022'' THEN RAISE; END;');
SELECT attempt('BEGIN PERFORM sf_raise(''A'', ''a''); EXCEPTION WHEN OTHERS THEN PERFORM sf_raise(''B'', sqlerrm); '
	'END;');
SELECT attempt('RAISE ''Shop.ByHand'' USING ERRCODE = ''SF022'', DETAIL = ''no function called'';');
SELECT sf_raise('Shop.OutOfStock', 'outside of a task');

-- The time limit is States.Timeout without a cause, for whoever tries to catch it too.
SELECT attempt('PERFORM pg_sleep(60);', 50);
SELECT attempt('BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN PERFORM pg_sleep(60); END;', 50);
SELECT attempt('BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END;', 50);
SELECT attempt('BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN RAISE division_by_zero; END;',
	50) ->> 'error';
SELECT attempt('NULL;', 60000), attempt('PERFORM pg_sleep(0.1);') ->> 'ok';
-- A task within a task: each has its own.
SELECT attempt($$PERFORM run_task('sql:query', '{"Statement": "SELECT pg_sleep(60)"}', current_user::regrole, 50,
	false);$$, 60000) ->> 'ok';
SELECT attempt($$PERFORM run_task('sql:query', '{"Statement": "SELECT pg_sleep(60)"}', current_user::regrole, 60000,
	false);$$, 50);

-- A cancel that is not the task's own is no outcome.
SET statement_timeout = 50;
SELECT attempt('PERFORM pg_sleep(60);', 60000);
RESET statement_timeout;

SET client_min_messages = warning;
DROP FUNCTION attempt, run_task;
DROP SCHEMA shop CASCADE;
DROP ROLE task_shop;
