-- sf_jsonata: JSONata by itself. The language has its cases in test/cases/jsonata_*.test; here are
-- the form of input, result and errors, what Step Functions adds, and the limits.

-- The result is JSON text with the keys in the order of the expression and of the input.
SELECT sf_jsonata('{"z": a, "y": b, "x": $}', '{"b": 1, "a": [2, 3]}');
SELECT sf_jsonata('$keys($)', '{"zebra": 1, "ant": 2, "mouse": 3}');

-- Undefined is NULL, null is null.
SELECT sf_jsonata('missing', '{}') IS NULL AS undefined, sf_jsonata('present', '{"present": null}') AS "null";
SELECT sf_jsonata(NULL, '{}') IS NULL AS no_expression, sf_jsonata('1') AS no_input;

-- Bindings are variables.
SELECT sf_jsonata('$rate * amount', '{"amount": 12}', '{"rate": 1.5}');
SELECT sf_jsonata('$f', NULL, '[1]');

-- Functions are no JSON: they vanish.
SELECT sf_jsonata('function($x) { $x }') IS NULL AS vanished, sf_jsonata('{"f": $sum, "x": 1}');

-- Numbers are doubles and print as in JavaScript.
SELECT sf_jsonata('[1.0, 1e21, 1e-7, 123456789012345678, 0.1 + 0.2, -0]');

-- An input that is an array counts as one input, and comes back whole.
SELECT sf_jsonata('$', '[[1, 2]]'), sf_jsonata('$[0]', '[[1, 2]]'), sf_jsonata('$count($)', '[]');

-- Text beyond ASCII; a lone surrogate cannot be stored and becomes U+FFFD.
SELECT sf_jsonata('$uppercase(s) & " " & $length(s)', '{"s": "straße 😀"}');
SELECT sf_jsonata('"\ud83d\ude00 \ud83d"');

-- Errors: the message of the reference implementation; code, position and token in the detail.
CREATE FUNCTION pg_temp.error_of(expression text, input json DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
BEGIN
	PERFORM sf_jsonata(expression, input);
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' | ', sqlstate, message, detail);
END $$;
SELECT pg_temp.error_of(e) FROM unnest(ARRAY[
	'1 + "a"', '[1, 2', '"open', 'foo bar', '$substring(1)', '$sum(["a"])', '($f := function($x) { 1 + $x }; $f("a"))',
	'$error("my own words")', 'sum([1])', 'a.%.%.b', '/a', '/a**/', '{"a": 1, "a": 2}', '$eval("1 +")']) AS e;

-- What Step Functions adds to the library.
SELECT sf_jsonata('$partition([1..5], 2)'), sf_jsonata('$partition([1..2])'),
	sf_jsonata('$partition([1], 0)') IS NULL AS nothing;
SELECT sf_jsonata('$range(0, 10, 5)'), sf_jsonata('$range(3, 1, -1)'), sf_jsonata('$range(1, 1, 1)'),
	sf_jsonata('$range(1, 3)') IS NULL AS no_step;
SELECT a, sf_jsonata('$hash("input", a)', json_build_object('a', a))
FROM unnest(ARRAY['MD5', 'SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) AS a;
SELECT sf_jsonata('$random(42)'), sf_jsonata('$random() < 1');
SELECT sf_jsonata('$uuid()')::text ~ '^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$' AS uuid;
SELECT sf_jsonata('$parse("{\"b\": 1, \"a\": [2]}")');
SELECT pg_temp.error_of(e) FROM unnest(ARRAY[
	'$parse("")', '$parse("1 2")', '$parse("{\"a\":1,\"a\":2}")', '$parse("1e400")',
	'$partition([1], -1)', '$hash("x", "CRC")']) AS e;

-- Limits: depth, time, memory, sizes.
SELECT pg_temp.error_of(e) FROM unnest(ARRAY[
	'($f := function($n) { 1 + $f($n + 1) }; $f(1))',
	'[1..1e9]',
	'$pad("x", 100000000)',
	'($f := function($s) { $f($s & $s) }; $f("ab"))',
	'($f := function($n, $v) { $n = 0 ? $v : $f($n - 1, [[$v]]) }; $f(10000, 1))']) AS e;
SELECT pg_temp.error_of(repeat('(', 20000)), pg_temp.error_of(repeat('-', 20000) || '1');
SELECT length(sf_jsonata('$', (repeat('[', 1000) || repeat(']', 1000))::json)::text);
SET sfflow.evaluation_timeout = '100ms';
SELECT pg_temp.error_of('$map([1..10000000], function($x) { $x * 2 }) ~> $count()');
SELECT split_part(pg_temp.error_of('$match($pad("", 200000, "ab"), /a(?=.*x)/)'), ' | ', 2) AS error_of;
-- A search for what nearly matches everywhere takes linear time.
SELECT sf_jsonata('$contains($pad("", 1000000, "a"), $pad("", 500000, "a") & "b")');
RESET sfflow.evaluation_timeout;
SET sfflow.evaluation_depth = 100;
SELECT pg_temp.error_of('($f := function($n) { $n < 2 ? 1 : $n * $f($n - 1) }; $f(100))');
RESET sfflow.evaluation_depth;

-- A tail call takes no stack.
SELECT sf_jsonata('($f := function($n, $sum) { $n = 0 ? $sum : $f($n - 1, $sum + $n) }; $f(100000, 0))');

-- A regular expression that would backtrack elsewhere does not.
SELECT sf_jsonata('$contains(s, /^(a+)+$/)', json_build_object('s', repeat('a', 5000) || 'b'));

-- A call site that changes its expression compiles it anew.
SELECT e, sf_jsonata(e) FROM (VALUES ('1'), ('1 + 1'), ('1 + 1'), ('"x"')) AS t(e);
