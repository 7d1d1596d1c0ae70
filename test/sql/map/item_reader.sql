-- ItemReader: where the items of a Distributed Map come from.
\set VERBOSITY terse
SET client_min_messages = warning;
BEGIN;

-- A machine with one Map state, of which the fields are given.
CREATE FUNCTION pg_temp.make(name text, fields jsonb, states jsonb DEFAULT '{"Each": {"Type": "Pass", "End": true}}')
RETURNS void LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, json_build_object('StartAt', 'Map', 'States', json_build_object('Map',
		jsonb_build_object('Type', 'Map', 'End', true, 'ItemProcessor', jsonb_build_object(
			'ProcessorConfig', '{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}'::jsonb,
			'StartAt', (SELECT min(k) FROM jsonb_object_keys(states) k), 'States', states)) || fields)))
$$;

-- Run it with an input: how it ended, and what it gave.
CREATE FUNCTION pg_temp.run(machine text, input jsonb DEFAULT '{}', OUT status text, OUT output jsonb, OUT error text,
	OUT cause text)
LANGUAGE plpgsql AS $$
DECLARE id text := sf_start(machine, input);
BEGIN
	PERFORM sf_run(id, skip_waits => true);
	SELECT e.status, e.output, e.error, e.cause INTO run.status, run.output, run.error, run.cause
	FROM sf_executions e WHERE e.execution_id = id;
END $$;

-- Names of this run only.
CREATE FUNCTION pg_temp.plain(text) RETURNS text LANGUAGE sql
	RETURN regexp_replace($1, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'UUID', 'g');

-- ItemReader: rows of a query, or of a function that returns a set, one item a row.
SELECT pg_temp.make('query', '{"ItemReader": {"Resource": "sql:query", "Parameters":
	{"Statement": "SELECT i, i * i AS square FROM generate_series(1, $1::int) i",
		"Arguments.$": "States.Array($.n)"}}}');
SELECT output FROM pg_temp.run('query', '{"n": 3}');
CREATE FUNCTION public.dm_rows(n int) RETURNS TABLE (a int) LANGUAGE sql AS 'SELECT generate_series(1, n)';
SELECT pg_temp.make('rows', '{"ItemReader": {"Resource": "sql:public.dm_rows", "Parameters": {"n": 1000},
	"ReaderConfig": {"MaxItems": 3}}}');
SELECT output FROM pg_temp.run('rows');
SELECT pg_temp.make('none', '{"ItemReader": {"Resource": "sql:query",
	"Parameters": {"Statement": "SELECT 1 WHERE false"}}}');
SELECT output FROM pg_temp.run('none');

-- A content, through the resource map: a function returns what is stored under a key.
CREATE TABLE public.dm_object (bucket text, key text, body text, PRIMARY KEY (bucket, key));
CREATE FUNCTION public.dm_get(payload jsonb) RETURNS text LANGUAGE sql
	RETURN (SELECT body FROM dm_object WHERE bucket = payload ->> 'Bucket' AND key = payload ->> 'Key');
CREATE FUNCTION public.dm_list(payload jsonb) RETURNS jsonb LANGUAGE sql
	RETURN (SELECT jsonb_build_object('Contents', jsonb_agg(jsonb_build_object('Key', key, 'Size', length(body))
		ORDER BY key))
		FROM dm_object WHERE bucket = payload ->> 'Bucket' AND key LIKE (payload ->> 'Prefix') || '%');
SELECT sf_map_resource('arn:aws:states:::s3:getObject', 'sql:public.dm_get');
SELECT sf_map_resource('arn:aws:states:::s3:listObjectsV2', 'sql:public.dm_list');

-- Store a text, and read it as the configuration says.
CREATE FUNCTION pg_temp.read(content text, config jsonb, OUT output jsonb, OUT error text, OUT cause text)
LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO dm_object VALUES ('b', 'k', content) ON CONFLICT (bucket, key) DO UPDATE SET body = content;
	PERFORM sf_create_state_machine('read', d, or_replace => true)
	FROM (SELECT json_build_object('StartAt', 'Map', 'States', json_build_object('Map', json_build_object('Type', 'Map',
		'ItemReader', json_build_object('Resource', 'arn:aws:states:::s3:getObject',
			'Parameters', '{"Bucket": "b", "Key": "k"}'::json, 'ReaderConfig', config),
		'ItemProcessor', '{"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
			"StartAt": "Each", "States": {"Each": {"Type": "Pass", "End": true}}}'::json,
		'End', true)))) m (d);
	SELECT r.output, r.error, r.cause INTO read.output, read.error, read.cause FROM pg_temp.run('read') r;
END $$;

SELECT * FROM pg_temp.read('[1, {"a": 2}, null]', '{"InputType": "JSON"}');
SELECT * FROM pg_temp.read('{"a": 1, "b": [2]}', '{"InputType": "JSON"}');
SELECT * FROM pg_temp.read('{"a": {"b": [1, 2]}}', '{"InputType": "JSON", "ItemsPointer": "/a/b"}');
-- a pointer of RFC 6901: ~1 is a slash, ~0 a tilde; an index has digits only
SELECT * FROM pg_temp.read('{"a/b": {"c~d": [[1], [2]]}}', '{"InputType": "JSON", "ItemsPointer": "/a~1b/c~0d/1"}');
SELECT i AS "index", (pg_temp.read('{"a": [[1], [2]]}', jsonb_build_object('InputType', 'JSON', 'ItemsPointer',
	'/a/' || i))).error
FROM unnest('{0,+1," 1",01,-1,2,""}'::text[]) i;
SELECT * FROM pg_temp.read('12', '{"InputType": "JSON"}');
SELECT * FROM pg_temp.read('[1', '{"InputType": "JSON"}');
SELECT * FROM pg_temp.read(E'{"a": 1}\n\n{"a": 2}\n', '{"InputType": "JSONL"}');
SELECT * FROM pg_temp.read(E'{"a": 1}\n{"a":', '{"InputType": "JSONL"}');
SELECT * FROM pg_temp.read(E'a,b\n1,2,3\n4\n\n"x, ""y""","two\nlines"\r\n',
	'{"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}');
SELECT * FROM pg_temp.read(E'1|2\n3|4', '{"InputType": "CSV", "CSVHeaderLocation": "GIVEN", "CSVHeaders": ["a", "b"],
	"CSVDelimiter": "PIPE"}');
SELECT * FROM pg_temp.read(E'a,a\n1,2', '{"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}');
SELECT * FROM pg_temp.read('', '{"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}');
SELECT * FROM pg_temp.read('[1, 2, 3]', '{"InputType": "JSON", "MaxItems": 2}');

-- The members of an object have keys.
SELECT pg_temp.make('keys', '{"ItemReader": {"Resource": "arn:aws:states:::s3:getObject",
	"Parameters": {"Bucket": "b", "Key": "o"}},
	"ItemSelector": {"k.$": "$$.Map.Item.Key", "v.$": "$$.Map.Item.Value"}}');
INSERT INTO dm_object VALUES ('b', 'o', '{"one": 1, "two": 2}');
SELECT output FROM pg_temp.run('keys');

-- Objects of a bucket; what they hold; what an inventory names.
INSERT INTO dm_object VALUES ('c', 'x/1', '[1, 2]'), ('c', 'x/2', '[3]'),
	('c', 'manifest', '{"fileSchema": "Bucket, Key", "files": [{"key": "inv/1"}, {"key": "inv/2"}]}'),
	('c', 'inv/1', E'"c","x/1"\n'), ('c', 'inv/2', E'"c","x/2"\n');
SELECT pg_temp.make('list', '{"ItemReader": {"Resource": "arn:aws:states:::s3:listObjectsV2",
	"Parameters": {"Bucket": "c", "Prefix": "x/"}}}');
SELECT output FROM pg_temp.run('list');
SELECT pg_temp.make('flatten', '{"ItemReader": {"Resource": "arn:aws:states:::s3:listObjectsV2",
	"Parameters": {"Bucket": "c", "Prefix": "x/"}, "ReaderConfig": {"InputType": "JSON",
		"Transformation": "LOAD_AND_FLATTEN"}}}');
SELECT output FROM pg_temp.run('flatten');
SELECT pg_temp.make('manifest', '{"ItemReader": {"Resource": "arn:aws:states:::s3:getObject",
	"Parameters": {"Bucket": "c", "Key": "manifest"}, "ReaderConfig": {"InputType": "MANIFEST"}}}');
SELECT output FROM pg_temp.run('manifest');
SELECT pg_temp.make('inventory', '{"ItemReader": {"Resource": "arn:aws:states:::s3:getObject",
	"Parameters": {"Bucket": "c", "Key": "manifest"}, "ReaderConfig": {"ManifestType": "S3_INVENTORY",
		"MaxItems": 1}}}');
SELECT output FROM pg_temp.run('inventory');

-- The manifest of an Athena query names files by lines, each in a bucket of its own.
INSERT INTO dm_object VALUES ('c', 'athena', E's3://c/out/1\r\ns3://d/out/2\n\n'),
	('c', 'out/1', E'1,one\n2,two'), ('d', 'out/2', E'3,three\n'),
	('c', 'lines', 's3://c/out/3'), ('c', 'out/3', E'{"n": 1}\n{"n": 2}'), ('c', 'bad', E's3://c/out/1\nc/out/2');
SELECT pg_temp.make('athena', '{"ItemReader": {"Resource": "arn:aws:states:::s3:getObject",
	"Parameters": {"Bucket": "c", "Key.$": "$.key"},
	"ReaderConfig": {"ManifestType": "ATHENA_DATA", "InputType": "CSV", "CSVHeaderLocation": "GIVEN",
		"CSVHeaders": ["n", "word"]}}}');
SELECT output FROM pg_temp.run('athena', '{"key": "athena"}');
SELECT error, cause FROM pg_temp.run('athena', '{"key": "bad"}');
SELECT pg_temp.make('athena_lines', '{"ItemReader": {"Resource": "arn:aws:states:::s3:getObject",
	"Parameters": {"Bucket": "c", "Key": "lines"}, "ReaderConfig": {"ManifestType": "ATHENA_DATA",
		"InputType": "JSONL"}}}');
SELECT output FROM pg_temp.run('athena_lines');

-- Fields that are wrong: before the run begins, or as its end.
SELECT pg_temp.make('limits', '{"ItemReader": {"Resource": "arn:aws:states:::s3:getObject",
	"Parameters": {"Bucket": "b", "Key": "o"},
	"ReaderConfig": {"InputType": "JSON", "MaxItemsPath": "$.max"}}, "MaxConcurrencyPath": "$.concurrency",
	"ToleratedFailureCountPath": "$.count", "ToleratedFailurePercentagePath": "$.percentage"}');
SELECT error, cause FROM pg_temp.run('limits', '{"max": 1.5, "concurrency": 1, "count": 0, "percentage": 0}');
SELECT error, cause FROM pg_temp.run('limits', '{"max": -1, "concurrency": 1, "count": 0, "percentage": 0}');
SELECT error, cause FROM pg_temp.run('limits', '{"max": 0, "concurrency": "x", "count": 0, "percentage": 0}');
SELECT error, cause FROM pg_temp.run('limits', '{"max": 0, "concurrency": 1, "count": -1, "percentage": 0}');
SELECT error, cause FROM pg_temp.run('limits', '{"max": 0, "concurrency": 1, "count": 0, "percentage": {}}');
SELECT error, cause FROM pg_temp.run('limits', '{"max": 0, "concurrency": 1, "count": 0, "percentage": 101}');
SELECT status FROM pg_temp.run('limits', '{"max": 0, "concurrency": "1", "count": "0", "percentage": "0.5"}');
SELECT pg_temp.make('unmapped', '{"ItemReader": {"Resource": "arn:aws:states:::s3:getOther"}}');
SELECT error, cause FROM pg_temp.run('unmapped');
SELECT pg_temp.make('broken', '{"ItemReader": {"Resource": "sql:query",
	"Parameters": {"Statement": "SELECT 1/(10-i) FROM generate_series(1, 20) i"}}}');
SELECT error, cause::jsonb ->> 'message' FROM pg_temp.run('broken');
SELECT count(*) FROM _sfflow.map_item;

SELECT * FROM sf_check();
ROLLBACK;
