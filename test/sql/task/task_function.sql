-- sql:schema.function: which function runs, what it gets, and what becomes of its result.

-- A task without a state machine around it, run as sf_run would.
CREATE FUNCTION run_task(resource text, payload jsonb, owner oid, timeout_ms integer, as_worker boolean)
RETURNS jsonb AS '$libdir/sfflow', 'sfflow_debug_run_task' LANGUAGE C;

-- Its output as JSON, or its error with the message and the detail of the cause.
CREATE FUNCTION call(function text, payload jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	outcome jsonb := run_task('sql:' || function, payload, 'task_shop'::regrole, 0, false);
	cause jsonb := outcome ->> 'cause';
BEGIN
	RETURN CASE WHEN (outcome ->> 'ok')::boolean THEN (outcome -> 'output')::text
		ELSE concat_ws(' | ', outcome ->> 'error', cause ->> 'message', cause ->> 'detail') END;
END $$;

CREATE ROLE task_shop;
CREATE SCHEMA shop AUTHORIZATION task_shop;
SET ROLE task_shop;
CREATE TYPE shop.size AS ENUM ('S', 'M');
CREATE TYPE shop.point AS (x integer, y integer);
CREATE DOMAIN shop.percent AS integer CHECK (VALUE BETWEEN 0 AND 100);

-- One parameter of type json or jsonb gets the whole payload, whatever it is.
CREATE FUNCTION shop.whole(payload jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_array(payload) $$;
CREATE FUNCTION shop.whole_json(json) RETURNS json LANGUAGE sql AS $$ SELECT json_build_object('got', $1) $$;
RESET ROLE;
SELECT call('shop.whole', '{"payload": 1}');
SELECT call('shop.whole', '"text"');
SELECT call('shop.whole', 'null');
SELECT call('shop.whole_json', '[1, 2]');

-- Else the keys are arguments by name, cast to the parameters' types; defaults apply.
SET ROLE task_shop;
CREATE FUNCTION shop.show(a integer, b text DEFAULT 'none', c date DEFAULT '2025-02-05') RETURNS text
LANGUAGE sql AS $$ SELECT format('a=%s b=%s c=%s', a, b, c) $$;
CREATE FUNCTION shop.types(n numeric, t timestamptz, f boolean, j jsonb, l integer[], s shop.size, p shop.point,
	q shop.point[])
RETURNS text LANGUAGE sql SET timezone = 'UTC'
AS $$ SELECT concat_ws(' ', n, t, f, j, l, s, p, q, (p).x + (q[2]).y) $$;
CREATE FUNCTION shop.limited(part shop.percent) RETURNS integer LANGUAGE sql AS $$ SELECT part * 2 $$;
CREATE FUNCTION shop.nothing() RETURNS void LANGUAGE plpgsql AS $$ BEGIN END $$;
CREATE FUNCTION shop."Odd Name"("First Key" integer) RETURNS integer LANGUAGE sql AS $$ SELECT "First Key" $$;
CREATE FUNCTION shop.many(VARIADIC words text[]) RETURNS integer LANGUAGE sql AS $$ SELECT cardinality(words) $$;
RESET ROLE;
SELECT call('shop.show', '{"a": 1}');
SELECT call('shop.show', '{"c": "2025-12-24", "a": "7", "b": {"an": "object"}}');
SELECT call('shop.show', '{"a": null, "b": null}');
SELECT call('Shop.SHOW', '{"a": 1}');
SELECT call('shop.types', '{"n": 1.50, "t": "2025-02-05T02:00:00Z", "f": true, "j": {"k": [null]}, "l": [1, 2],
	"s": "M", "p": {"x": 1, "y": 2}, "q": [{"x": 3}, {"y": 4}]}');
SELECT call('shop.limited', '{"part": 50}');
SELECT call('shop.limited', '{"part": 101}');
SELECT call('shop.nothing');
SELECT call('shop."Odd Name"', '{"First Key": 3}');
SELECT call('shop.many', '{"words": ["a", "b"]}');

-- Composite types may change between two calls.
ALTER TYPE shop.point ADD ATTRIBUTE z text;
SELECT call('shop.types', '{"n": 1, "t": null, "f": null, "j": null, "l": [], "s": "S", "p": {"x": 1, "z": "new"},
	"q": null}');

-- What does not fit is said with the name of the key and the function's parameters.
SELECT call('shop.show', '{"a": 1, "d": 2}');
SELECT call('shop.show', '{"b": "x"}');
SELECT call('shop.show', '{"a": "x"}');
SELECT call('shop.show', '[1]');
SELECT call('shop.nothing', '{"id": 1}');

-- Results: void is null, a composite an object, a set an array.
SET ROLE task_shop;
CREATE FUNCTION shop.no_row() RETURNS integer LANGUAGE sql AS $$ SELECT 1 WHERE false $$;
CREATE FUNCTION shop.row() RETURNS shop.point LANGUAGE sql AS $$ SELECT 1, 2, 'z'::text $$;
CREATE FUNCTION shop.two(OUT a integer, OUT b text, INOUT c integer) LANGUAGE sql AS $$ SELECT 1, 'x'::text, c + 1 $$;
CREATE FUNCTION shop.numbers(n integer) RETURNS SETOF integer LANGUAGE sql AS $$ SELECT generate_series(1, n) $$;
CREATE FUNCTION shop.rows(n integer) RETURNS TABLE (k integer, v text) LANGUAGE plpgsql
AS $$ BEGIN RETURN QUERY SELECT g, repeat('x', g) FROM generate_series(1, n) AS g; END $$;
CREATE FUNCTION shop.texts() RETURNS SETOF json LANGUAGE sql AS $$ VALUES ('{"a":1}'::json), (NULL), ('[]') $$;
RESET ROLE;
SELECT call('shop.no_row');
SELECT call('shop.row');
SELECT call('shop.two', '{"c": 4}');
SELECT call('shop.numbers', '{"n": 3}');
SELECT call('shop.numbers', '{"n": 0}');
SELECT call('shop.rows', '{"n": 2}');
SELECT call('shop.texts');

-- Overloads: the one that takes exactly these keys, with the fewest defaults.
SET ROLE task_shop;
CREATE FUNCTION shop.over(a integer) RETURNS text LANGUAGE sql AS $$ SELECT 'one' $$;
CREATE FUNCTION shop.over(a integer, b integer DEFAULT 1) RETURNS text LANGUAGE sql AS $$ SELECT 'two' $$;
CREATE FUNCTION shop.over(a integer, c text) RETURNS text LANGUAGE sql AS $$ SELECT 'three' $$;
CREATE FUNCTION shop.twice(a integer) RETURNS text LANGUAGE sql AS $$ SELECT 'integer' $$;
CREATE FUNCTION shop.twice(a text) RETURNS text LANGUAGE sql AS $$ SELECT 'text' $$;
RESET ROLE;
SELECT call('shop.over', '{"a": 1}'), call('shop.over', '{"a": 1, "b": 1}'), call('shop.over', '{"a": 1, "c": 1}');
SELECT call('shop.over', '{"z": 1}');
SELECT call('shop.twice', '{"a": 1}');

-- What cannot be a task.
SET ROLE task_shop;
CREATE PROCEDURE shop.proc() LANGUAGE sql AS $$ SELECT 1 $$;
CREATE FUNCTION shop.any_type(a anyelement) RETURNS anyelement LANGUAGE sql AS $$ SELECT a $$;
CREATE FUNCTION shop.unnamed(integer, integer) RETURNS integer LANGUAGE sql AS $$ SELECT $1 + $2 $$;
CREATE FUNCTION shop.on_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
RESET ROLE;
SELECT call('shop.proc');
SELECT call('shop.any_type', '{"a": 1}');
SELECT call('shop.unnamed', '{"a": 1}');
SELECT call('shop.on_change');
SELECT call('pg_catalog.bool_and', '{}');
SELECT call('shop.missing');
SELECT call('nowhere.at_all');
SELECT call('a.b.c.d');
SELECT call('not a name');

-- Looked up and checked at each call: replaced, dropped, taken away.
SET ROLE task_shop;
CREATE FUNCTION shop.changing(a integer DEFAULT 1) RETURNS integer LANGUAGE sql AS $$ SELECT a $$;
RESET ROLE;
SELECT call('shop.changing');
CREATE OR REPLACE FUNCTION shop.changing(a integer DEFAULT 2) RETURNS integer LANGUAGE sql AS $$ SELECT -a $$;
SELECT call('shop.changing');
DROP FUNCTION shop.changing;
CREATE FUNCTION shop.changing(b text) RETURNS text LANGUAGE sql AS $$ SELECT b $$;
SELECT call('shop.changing', '{"b": "new"}');
REVOKE EXECUTE ON FUNCTION shop.changing FROM PUBLIC;
SELECT call('shop.changing', '{"b": "new"}');
CREATE SCHEMA secret;
CREATE FUNCTION secret.f() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$;
SELECT call('secret.f');

-- Without a schema: through the search_path that the owner has when connecting.
SELECT call('show', '{"a": 1}');
ALTER ROLE task_shop SET search_path = shop;
SELECT call('show', '{"a": 1}');

-- What a session knows of functions, and the plans that call them, take memory up to a limit.
CREATE FUNCTION shop.make(first integer, last integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN first..last LOOP
		EXECUTE format('CREATE FUNCTION shop.f%s(a integer) RETURNS integer LANGUAGE sql AS ''SELECT a + %s''', i, i);
	END LOOP;
END $$;
CREATE FUNCTION shop.kept() RETURNS TABLE (functions bigint, plans bigint, bytes numeric) LANGUAGE sql AS $$
	SELECT count(*) FILTER (WHERE name = 'sfflow function'), count(*) FILTER (WHERE name = 'sfflow function call'),
		sum(total_bytes)
			FILTER (WHERE name ~ '^(sfflow (function|function call|argument types)|CachedPlan.*|SPI Plan)$')
	FROM pg_backend_memory_contexts
$$;
SELECT shop.make(1, 3000);
SELECT count(*) FROM generate_series(1, 1000) AS i WHERE call('shop.f' || i, '{"a": 1}') <> (i + 1)::text;
SELECT functions, plans, bytes FROM shop.kept() \gset before_
SELECT count(*) FROM generate_series(1001, 3000) AS i WHERE call('shop.f' || i, '{"a": 1}') <> (i + 1)::text;
SELECT functions <= 513 AS few_functions, plans <= 513 AS few_plans, bytes <= 1.02 * :before_bytes AS flat
	FROM shop.kept();
-- Dropped functions are among them, and one that is used again is read again.
DO $$ BEGIN FOR i IN 2500..2990 LOOP EXECUTE format('DROP FUNCTION shop.f%s', i); END LOOP; END $$;
SELECT call('shop.f1', '{"a": 1}'), call('shop.f3000', '{"a": 1}'), call('shop.f2600', '{"a": 1}');
-- So do plans of one function for many sets of arguments.
CREATE FUNCTION shop.optional(a integer DEFAULT 0, b integer DEFAULT 0, c integer DEFAULT 0, d integer DEFAULT 0,
	e integer DEFAULT 0, f integer DEFAULT 0,
	g integer DEFAULT 0, h integer DEFAULT 0, i integer DEFAULT 0, j integer DEFAULT 0, k integer DEFAULT 0)
		RETURNS integer LANGUAGE sql AS $$
	SELECT a + b + c + d + e + f + g + h + i + j + k
$$;
CREATE FUNCTION shop.subset(n integer) RETURNS jsonb LANGUAGE sql AS $$
	SELECT coalesce(jsonb_object_agg(chr(97 + bit), 1 << bit), '{}') FROM generate_series(0, 10) AS bit
		WHERE n & (1 << bit) <> 0
$$;
SELECT count(*) FROM generate_series(0, 2047) AS n WHERE call('shop.optional', shop.subset(n)) <> n::text;
SELECT functions <= 513 AS few_functions, plans <= 513 AS few_plans FROM shop.kept();
-- A function that runs is not forgotten, however many others run within it.
CREATE FUNCTION shop.outer(depth integer, marker text DEFAULT ' outer') RETURNS text LANGUAGE plpgsql
	SET search_path = public AS $$
DECLARE
	wrong bigint := 0;
BEGIN
	IF depth > 0 THEN
		RETURN public.call('shop.outer', jsonb_build_object('depth', depth - 1)) || marker;
	END IF;
	SELECT count(*) INTO wrong FROM generate_series(1, 1200) AS i
		WHERE public.call('shop.f' || i, '{"a": 1}') <> (i + 1)::text;
	SELECT wrong + count(*) INTO wrong FROM generate_series(0, 1100) AS n
		WHERE public.call('shop.optional', shop.subset(n)) <> n::text;
	RETURN wrong || marker;
END $$;
GRANT USAGE ON SCHEMA shop TO task_shop;
SELECT call('shop.outer', '{"depth": 3, "marker": " first"}');
-- More functions of one name than are kept: all are looked at, and room is made after.
DO $$
BEGIN
	FOR i IN 1..700 LOOP
		EXECUTE format('CREATE DOMAIN shop.d%s AS integer', i);
		EXECUTE format('CREATE FUNCTION shop.many(k%s shop.d%s) RETURNS integer LANGUAGE sql AS ''SELECT %s''', i, i,
			i);
	END LOOP;
END $$;
SELECT call('shop.many', '{"k1": 1}'), call('shop.many', '{"k700": 1}'), call('shop.many', '{"k350": 1}');
SELECT call('shop.f1', '{"a": 1}');
SELECT functions <= 513 AS few_functions FROM shop.kept();
-- A call that cannot be planned leaves no memory behind.
CREATE FUNCTION shop.cannot(payload jsonb, further integer DEFAULT 1 / 0) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
	SELECT 1 $$;
SELECT call('shop.cannot', '{"payload": 1}');
SELECT plans FROM shop.kept() \gset before_
SELECT count(DISTINCT call('shop.cannot', '{"payload": 1}')) FROM generate_series(1, 50);
SELECT plans = :before_plans AS same FROM shop.kept();

SET client_min_messages = warning;
DROP FUNCTION call, run_task;
DROP SCHEMA shop, secret CASCADE;
DROP ROLE task_shop;
