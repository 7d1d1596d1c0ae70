-- sql:query: a statement with arguments; its rows and how many there were.

CREATE FUNCTION run_task(resource text, payload jsonb, owner oid, timeout_ms integer, as_worker boolean)
RETURNS jsonb AS '$libdir/sfflow', 'sfflow_debug_run_task' LANGUAGE C;

-- Its output as JSON, or its error with the message and the detail of the cause.
CREATE FUNCTION query_payload(payload jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	outcome jsonb := run_task('sql:query', payload, 'task_shop'::regrole, 0, false);
	cause jsonb := CASE WHEN left(outcome ->> 'cause', 1) = '{' THEN outcome ->> 'cause' END;
BEGIN
	RETURN CASE WHEN (outcome ->> 'ok')::boolean THEN (outcome -> 'output')::text
		ELSE concat_ws(' | ', outcome ->> 'error', cause ->> 'message', cause ->> 'detail') END;
END $$;
CREATE FUNCTION query(statement text, VARIADIC arguments jsonb[] DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT query_payload(jsonb_build_object('Statement', statement, 'Arguments', to_jsonb(arguments)))
$$;

CREATE ROLE task_shop;
CREATE SCHEMA task_shop AUTHORIZATION task_shop;
CREATE TABLE sale (id integer PRIMARY KEY, day date, amount numeric(8, 2), tags text[]);
ALTER TABLE sale OWNER TO task_shop;

-- Parameters have the types that the parser infers.
SELECT query_payload('{"Statement": "SELECT 1 AS one, NULL AS nothing, now() IS NULL AS f, ARRAY[1,2] AS list"}');
SELECT query('INSERT INTO sale VALUES ($1, $2, $3, $4)', '1', '"2025-02-05"', '"19.90"', '["a", "b"]');
SELECT query('INSERT INTO sale SELECT g, $2, g, $3 FROM generate_series(2, $1) AS g RETURNING id, day',
	'3', '"2025-02-06"', 'null');
SELECT query('SELECT * FROM sale WHERE day >= $1 AND amount > $2::numeric ORDER BY id', '"2025-01-01"', '2.5');
SELECT query('UPDATE sale SET amount = amount + $1', '0.1');
SELECT query('SELECT id FROM sale WHERE false');
SELECT query('SELECT $1::jsonb -> ''k'' AS v, $2::text || ''!'' AS t', '{"k": [1]}', '"x"');
SELECT query('WITH gone AS (DELETE FROM sale RETURNING *) SELECT count(*), sum(amount) FROM gone');

-- Utility statements, as far as a function may run them.
SELECT query('CREATE TABLE made AS SELECT 1 AS x');
SELECT query('SHOW server_encoding');
SELECT query('DROP TABLE made');
SELECT query('VACUUM');
SELECT query('COPY sale FROM STDIN');
SELECT query('COMMIT');
SELECT query('SAVEPOINT a');

-- What is wrong with it.
SELECT query_payload('"text"');
SELECT query_payload('{"Statement": 1}');
SELECT query_payload('{"Statement": "SELECT 1", "Arguments": {}}');
SELECT query_payload('{"Statement": "SELECT 1", "Argument": []}');
SELECT query('');
SELECT query('SELECT 1; SELECT 2');
SELECT query('SELECT $1::integer');
SELECT query('SELECT 1', '1');
SELECT query('SELECT $1', '1');
SELECT query('SELECT $2::integer', '1', '2');
SELECT query('SELECT $1::integer', '"x"');
SELECT query('SELECT FROM WHERE');
SELECT query('SELECT * FROM pg_authid');

-- A result that is too large ends the task when it has become so.
ALTER ROLE task_shop SET sfflow.max_payload_bytes = 2000;
SELECT query('SELECT generate_series(1, 1000000000) AS n');
SELECT query('SELECT repeat($1, 2000) AS t', '"x"');
SELECT query('SELECT repeat($1, 10) AS t', '"x"');
ALTER ROLE task_shop RESET sfflow.max_payload_bytes;

-- A plan follows its table.
CREATE TABLE moving (a integer);
ALTER TABLE moving OWNER TO task_shop;
SELECT query('INSERT INTO moving VALUES ($1) RETURNING a', '1');
ALTER TABLE moving ALTER COLUMN a TYPE text;
SELECT query('INSERT INTO moving VALUES ($1) RETURNING a', '2');
SELECT query('INSERT INTO moving VALUES ($1) RETURNING a', '"three"');

-- Columns have the names that the statement gives them, whatever it scans.
SELECT query('SELECT a AS b FROM moving ORDER BY a');
SELECT query('SELECT a AS b FROM moving LIMIT 1');
SELECT query('SELECT i FROM generate_series(1, 2) AS i');

-- As many statements as one likes, of any length.
SELECT count(query(format('SELECT %s + $1 AS n', g), '1')) FROM generate_series(1, 200) AS g;
SELECT query('SELECT $1::integer AS n -- ' || repeat('x', 100000), '1') FROM generate_series(1, 2);

DROP FUNCTION query, query_payload, run_task;
DROP TABLE sale, moving;
DROP SCHEMA task_shop;
DROP ROLE task_shop;
