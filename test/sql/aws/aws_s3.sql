-- Buckets and objects that sf_aws_install() makes: the API of S3, a Distributed Map over them, and who may use whose
-- bucket.
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT sf_aws_install();

-- What a state with this resource and these parameters leaves: its output, or error and cause.
CREATE FUNCTION call(resource text, parameters jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	run_id text;
	result jsonb;
BEGIN
	PERFORM sf_create_state_machine('call_' || current_user, json_build_object('StartAt', 'F', 'States',
		json_build_object('F',
		json_build_object('Type', 'Task', 'Resource', 'arn:aws:states:::' || resource, 'Parameters',
			parameters, 'End', true))), or_replace => true);
	run_id := sf_start('call_' || current_user, '{}');
	PERFORM sf_run(run_id);
	SELECT jsonb_strip_nulls(jsonb_build_object('status', nullif(e.status, 'SUCCEEDED'), 'output',
		e.output - 'LastModified',
			'error', e.error, 'cause', regexp_replace(e.cause, 'Request ID: [^,)]+', 'Request ID: ...', 'g')))
		INTO result FROM sf_executions AS e WHERE execution_id = run_id;
	RETURN result;
END $$;

-- ---- objects

BEGIN;
SELECT sfflow_aws.create_bucket('shop');
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "shop", "Key": "a/text", "Body": "hello", "ContentType": "text/plain",
	"Metadata": {"Day": "monday"}}');
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "a/text"}');
SELECT call('aws-sdk:s3:headObject', '{"Bucket": "arn:aws:s3:::shop", "Key": "a/text"}');
-- A body that is no string is stored as JSON; no body is an empty object.
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "shop", "Key": "a/json", "Body": {"n": [1, null]}}');
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "a/json"}')->'output'->>'Body' AS body;
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "shop", "Key": "empty"}');
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "empty"}')->'output'->'Body' AS body;
-- A new content takes the place of the old one, whole.
SELECT sfflow_aws.put_object('shop', 'a/text', convert_to(repeat('0123456789', 100000), 'UTF8'));
SELECT count(*), min(start), max(start), sum(length(data)) FROM sfflow_aws.s3_chunk;
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "shop", "Key": "a/text", "Body": "short"}')->'output' IS NOT NULL AS
	stored;
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "a/text"}');
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "shop", "Key": "a/text", "Body": "no", "IfNoneMatch": "*"}');
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "shop", "Key": "a/new", "Body": "yes", "IfNoneMatch": "*"}');

-- Parts of an object, also over the ends of chunks.
SELECT sfflow_aws.put_object('shop', 'large', convert_to(string_agg(format(E'"%s"\n', lpad(n::text, 5, '0')), ''
	ORDER BY n), 'UTF8')) FROM generate_series(0, 99999) AS n;
SELECT range, call('aws-sdk:s3:getObject', jsonb_build_object('Bucket', 'shop', 'Key', 'large', 'Range', range)) #-
	'{output,ETag}' AS answer
FROM unnest(ARRAY['bytes=0-6', 'bytes=262136-262150', 'bytes=524288-524294', 'bytes=799992-', 'bytes=-8',
	'bytes=799992-900000', 'bytes=800000-', 'bytes=9-5', 'bytes=-0']) AS range;
SELECT call('aws-sdk:s3:getObject', jsonb_build_object('Bucket', 'shop', 'Key', 'large', 'Range', range)) #>>
	'{output,ContentLength}' AS whole FROM unnest(ARRAY['bytes=-', 'lines=1']) AS range;
SELECT md5(sfflow_aws.get_object('shop', 'large')) = trim('"'
	FROM call('aws-sdk:s3:headObject', '{"Bucket": "shop", "Key": "large"}') #>> '{output,ETag}') AS same;

-- Contents in parts, from a client.
SELECT sfflow_aws.append_object('shop', 'parts', convert_to(E'{"n": 1}\n{"n"', 'UTF8'), 'application/jsonl'),
	sfflow_aws.append_object('shop', 'parts', convert_to(E': 2, "t": "\u20ac"}\n\n', 'UTF8')),
		sfflow_aws.append_object('shop', 'parts', convert_to('{"n": 3}', 'UTF8'));
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "parts"}');
SELECT * FROM sfflow_aws.object_lines('shop', 'parts');
SELECT count(*), min(l::text), max(l::text) FROM sfflow_aws.object_lines('shop', 'large') AS l;

-- Copies.
SELECT call('aws-sdk:s3:copyObject', '{"Bucket": "shop", "Key": "copy", "CopySource": "shop/a/json"}') #-
	'{output,CopyObjectResult,LastModified}' AS answer;
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "shop", "Key": "a b/\u00fc%.txt", "Body": "x",
	"Metadata": {"m": "1"}}')->'error' AS error;
SELECT call('aws-sdk:s3:copyObject', '{"Bucket": "shop", "Key": "copy", "CopySource": "/shop/a%20b/%C3%BC%25.txt",
	"MetadataDirective": "REPLACE", "ContentType": "text/x"}')->'error' AS error;
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "copy"}');
SELECT call('aws-sdk:s3:copyObject', '{"Bucket": "shop", "Key": "copy", "CopySource": "shop/copy"}');
SELECT call('aws-sdk:s3:copyObject', '{"Bucket": "shop", "Key": "copy", "CopySource": "copy"}');
SELECT call('aws-sdk:s3:copyObject', '{"Bucket": "shop", "Key": "copy", "CopySource": "shop/none"}');

SELECT call('aws-sdk:s3:deleteObject', '{"Bucket": "shop", "Key": "copy"}'), call('aws-sdk:s3:deleteObject',
	'{"Bucket": "shop", "Key": "copy"}');
SELECT call('aws-sdk:s3:headObject', '{"Bucket": "shop", "Key": "copy"}');

-- Errors.
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "none"}');
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "none", "Key": "none"}');
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "none", "Key": "none", "Body": ""}');
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "No/Bucket", "Key": "none"}');
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop"}');
SELECT call('aws-sdk:s3:getObject', '{"Key": "none"}');
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": 1}');
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "large", "VersionId": "1"}');
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "shop", "Key": "", "Body": "x"}');
SELECT call('aws-sdk:s3:putObject', jsonb_build_object('Bucket', 'shop', 'Key', repeat('k', 1025), 'Body', 'x'));
SELECT call('aws-sdk:s3:putObject', jsonb_build_object('Bucket', 'shop', 'Key', 'k', 'Metadata',
	jsonb_build_object('m', repeat('k', 2048))));
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "shop", "Key": "k", "Metadata": {"m": 1}}');
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "shop", "Key": "k", "IfMatch": "x"}');
SELECT sfflow_aws.put_object('shop', 'bytes', '\x00ff');
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "bytes"}');
SET LOCAL sfflow.max_payload_bytes = 100000;
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "large"}');
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "shop", "Key": "large",
	"Range": "bytes=0-0"}')->'output'->'ContentRange' AS part;
ROLLBACK;

-- ---- lists

BEGIN;
SELECT sfflow_aws.create_bucket('list');
SELECT count(sfflow_aws.put_object('list', key, 'x'))
	FROM unnest(ARRAY['a/1', 'a/2', 'a/b/3', 'a%', 'a~', 'B', 'b/4', 'zz']) AS key;
SELECT request, a.answer->'KeyCount' AS n, a.answer->'IsTruncated' AS more, jsonb_path_query_array(a.answer,
	'$.Contents[*].Key') AS keys, jsonb_path_query_array(a.answer, '$.CommonPrefixes[*].Prefix') AS prefixes
FROM unnest(ARRAY['{}', '{"Prefix": "a"}', '{"Prefix": "a/"}', '{"Prefix": "a~"}', '{"Delimiter": "/"}',
	'{"Prefix": "a/", "Delimiter": "/"}', '{"StartAfter": "a/2"}', '{"MaxKeys": 3}',
	'{"MaxKeys": 2, "Delimiter": "/"}', '{"MaxKeys": 0}', '{"Prefix": "none"}',
		'{"Prefix": "_/"}']::jsonb[]) AS request, LATERAL (SELECT call('aws-sdk:s3:listObjectsV2',
		request || '{"Bucket": "list"}')->'output') AS a (answer);
SELECT call('aws-sdk:s3:listObjectsV2', '{"Bucket": "list", "Prefix": "b", "MaxKeys": 1}') #-
	'{output,Contents,0,LastModified}' AS answer;
-- page by page, with and without common prefixes
WITH RECURSIVE page (answer) AS (
	SELECT sfflow_aws.sdk_s3_list_objects_v2('{"Bucket": "list", "MaxKeys": 2, "Delimiter": "/"}')
	UNION ALL
	SELECT sfflow_aws.sdk_s3_list_objects_v2(jsonb_build_object('Bucket', 'list', 'MaxKeys', 2, 'Delimiter', '/',
		'ContinuationToken', answer->'NextContinuationToken'))
	FROM page WHERE answer ? 'NextContinuationToken')
SELECT jsonb_path_query_array(answer, '$.*[*].Key'), jsonb_path_query_array(answer, '$.CommonPrefixes[*].Prefix')
	FROM page;
-- the older operation
SELECT call('aws-sdk:s3:listObjects', '{"Bucket": "list", "Prefix": "b"}') #- '{output,Contents,0,LastModified}' AS
	answer;
SELECT call('aws-sdk:s3:listObjects', '{"Bucket": "list", "MaxKeys": 2, "Marker": "a/1", "ContinuationToken": "!"}')
	#- '{output,Contents}' AS answer;
WITH RECURSIVE page (answer) AS (
	SELECT sfflow_aws.sdk_s3_list_objects('{"Bucket": "list", "MaxKeys": 2, "Delimiter": "/"}')
	UNION ALL
	SELECT sfflow_aws.sdk_s3_list_objects(jsonb_build_object('Bucket', 'list', 'MaxKeys', 2, 'Delimiter', '/',
		'Marker', answer->'NextMarker'))
	FROM page WHERE answer ? 'NextMarker')
SELECT answer->'NextMarker' AS next, jsonb_path_query_array(answer, '$.*[*].Key'), jsonb_path_query_array(answer,
	'$.CommonPrefixes[*].Prefix') FROM page;
SELECT call('aws-sdk:s3:listObjects', '{"Bucket": "list", "Marker": 5}');
SELECT call('aws-sdk:s3:listObjects', '{"Bucket": "none"}');
SELECT call('aws-sdk:s3:listObjects', '{"Bucket": "Older_Name"}');
SELECT call('aws-sdk:s3:listObjects', '{"Bucket": "no name"}');
SELECT call('aws-sdk:s3:listObjectsV2', '{"Bucket": "list", "ContinuationToken": "!"}');
SELECT call('aws-sdk:s3:listObjectsV2', '{"Bucket": "list", "MaxKeys": -1}');
SELECT call('aws-sdk:s3:listObjectsV2', '{"Bucket": "list", "MaxKeys": "many"}');
SELECT call('aws-sdk:s3:listObjectsV2', '{"Bucket": "none"}');
-- a page has at most 1,000
INSERT INTO sfflow_aws.s3_object SELECT 'list', 'many/' || n, 0, 'e', 't', '{}', now()
	FROM generate_series(1, 1001) AS n;
SELECT a.answer->'KeyCount' AS n, a.answer->'MaxKeys' AS most, a.answer->'IsTruncated' AS more
FROM (SELECT sfflow_aws.sdk_s3_list_objects_v2('{"Bucket": "list", "Prefix": "many/", "MaxKeys": 5000}')) AS a (answer);
ROLLBACK;

-- ---- a Distributed Map: items from objects, results into objects

BEGIN;
SELECT sfflow_aws.create_bucket('input'), sfflow_aws.create_bucket('output');
SELECT count(sfflow_aws.put_object('input', key, convert_to(content, 'UTF8'))) FROM (VALUES
	('json', '[{"n": 1}, {"n": 2}]'), ('jsonl', E'{"n": 1}\n{"n": 2}\n'), ('csv', E'n,word\n1,"one, more"\n2,two\n'),
	('flat/1', '[1, 2]'), ('flat/2', '[3]'), ('bad', '[1'), ('inventory/1.csv', E'"input","flat/1"\n'),
		('inventory/2.csv', E'"input","flat/2"\n'),
	('manifest.json', '{"sourceBucket": "input", "destinationBucket": "arn:aws:s3:::input", "fileFormat": "CSV",
		"fileSchema": "Bucket, Key",
		"files": [{"key": "inventory/1.csv"}, {"key": "inventory/2.csv"}]}')) AS v (key, content);

-- The items that an ItemReader reads.
CREATE FUNCTION pg_temp.read(action text, parameters jsonb, config jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	run_id text;
BEGIN
	PERFORM sf_create_state_machine('read', json_build_object('StartAt', 'Map', 'States', json_build_object('Map',
		json_build_object('Type', 'Map',
		'ItemReader', json_build_object('Resource', 'arn:aws:states:::s3:' || action, 'Parameters',
			 '{"Bucket": "input"}' || parameters, 'ReaderConfig', config),
		'ItemProcessor',
			 '{"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
			 "StartAt": "Each", "States": {"Each": {"Type": "Pass", "End": true}}}'::json,
		'End', true))), or_replace => true);
	run_id := sf_start('read');
	PERFORM sf_run(run_id);
	RETURN (SELECT regexp_replace(regexp_replace(concat_ws(' ', output, error, cause), 'Request ID: [^,)]+',
		 'Request ID: ...', 'g'), '"LastModified": \d{10}\M', '"LastModified": ...', 'g')
		FROM sf_executions WHERE execution_id = run_id);
END $$;
SELECT pg_temp.read(action, parameters, config) FROM (VALUES
	('getObject', '{"Key": "json"}'::jsonb, '{"InputType": "JSON"}'::jsonb),
	('getObject', '{"Key": "jsonl"}', '{"InputType": "JSONL"}'),
	('getObject', '{"Key": "csv"}', '{"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}'),
	('getObject', '{"Key": "manifest.json"}', '{"InputType": "MANIFEST"}'),
	('listObjectsV2', '{"Prefix": "flat/"}', '{}'),
	('listObjectsV2', '{"Prefix": "none/"}', '{}'),
	('listObjectsV2', '{"Prefix": "flat/"}', '{"InputType": "JSON", "Transformation": "LOAD_AND_FLATTEN"}'),
	('getObject', '{"Key": "bad"}', '{"InputType": "JSON"}'),
	('getObject', '{"Key": "none"}', '{"InputType": "JSON"}'),
	('getObject', '{"Bucket": "none", "Key": "none"}', '{"InputType": "JSON"}'),
	('listObjectsV2', '{"Bucket": "none"}', '{}')) AS v (action, parameters, config);

-- The files that a ResultWriter writes.
SELECT sf_create_state_machine('write', '{"StartAt": "Map", "States": {"Map": {"Type": "Map", "End": true,
	"ToleratedFailurePercentage": 100,
	"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "input", "Key": "json"},
		"ReaderConfig": {"InputType": "JSON"}},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "One",
		"States": {
		"One": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "Good"}],
			"Default": "Bad"},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}},
	"ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "output",
		"Prefix": "runs"}}}}}');
SELECT sf_run(sf_start('write', '{}', 'x'));
SELECT regexp_replace(output::text, '[0-9a-f]{8}-[-0-9a-f]{27}', '...', 'g') AS output FROM sf_executions
	WHERE execution_id = 'write:x';
SELECT regexp_replace(key, '[0-9a-f]{8}-[-0-9a-f]{27}', '...') AS key,
	c.content - '{ExecutionArn,Name,StartDate,StopDate}'::text[] AS content
FROM sfflow_aws.s3_object, LATERAL (SELECT convert_from(sfflow_aws.get_object(bucket, key), 'UTF8')::jsonb) AS f (file),
	LATERAL (SELECT CASE jsonb_typeof(file) WHEN 'array'
		THEN file->0 ELSE regexp_replace(file::text, '[0-9a-f]{8}-[-0-9a-f]{27}|"Size": \d+', '...', 'g')::jsonb END)
		AS c (content)
WHERE bucket = 'output' AND key NOT LIKE '%/manifest.json' ORDER BY key;
SELECT regexp_replace(convert_from(sfflow_aws.get_object('output', key), 'UTF8'), '[0-9a-f]{8}-[-0-9a-f]{27}', '...',
	'g') AS manifest
FROM sfflow_aws.s3_object WHERE bucket = 'output' AND key LIKE '%/manifest.json';
-- Without the bucket nothing is written.
SELECT sfflow_aws.drop_bucket('output', with_objects => true);
SELECT sf_run(sf_start('write', '{}', 'y'));
SELECT error, regexp_replace(cause, 'Request ID: [^,)]+', 'Request ID: ...', 'g') AS cause FROM sf_executions
	WHERE execution_id = 'write:y';
-- Lines of an object as items.
SELECT sf_create_state_machine('lines', '{"StartAt": "Map", "States": {"Map": {"Type": "Map", "End": true,
	"ItemReader": {"Resource": "sql:sfflow_aws.object_lines", "Parameters": {"bucket": "input", "key": "jsonl"}},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Each",
		"States": {"Each": {"Type": "Pass", "End": true}}}}}}');
SELECT sf_run(sf_start('lines', '{}', 'x'));
SELECT output FROM sf_executions WHERE execution_id = 'lines:x';
ROLLBACK;

-- ---- rights: a bucket is its owner's, and of those to whom the owner grants it

CREATE ROLE s3_shop;
CREATE ROLE s3_clerk IN ROLE s3_shop;
CREATE ROLE s3_rival;
CREATE ROLE s3_stranger;
GRANT USAGE ON SCHEMA sfflow_aws TO s3_shop, s3_rival;
GRANT EXECUTE ON FUNCTION call(text, jsonb) TO PUBLIC;
BEGIN;
SET ROLE s3_shop;
SELECT sfflow_aws.create_bucket('tenant');
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "tenant", "Key": "k", "Body": "secret"}')->'error' AS error;

-- Another role is refused by the service, and sees no rows; names of buckets are no secret.
SET ROLE s3_rival;
SELECT call(r, '{"Bucket": "tenant", "Key": "k", "CopySource": "tenant/k", "Body": "x"}')
	FROM unnest(ARRAY['aws-sdk:s3:getObject', 'aws-sdk:s3:headObject',
	'aws-sdk:s3:putObject', 'aws-sdk:s3:copyObject', 'aws-sdk:s3:deleteObject', 'aws-sdk:s3:listObjectsV2']) AS r;
SELECT sfflow_aws.create_bucket('rival');
SELECT call('aws-sdk:s3:copyObject', '{"Bucket": "rival", "Key": "k", "CopySource": "tenant/k"}');
SELECT (SELECT count(*) FROM sfflow_aws.s3_object), (SELECT count(*) FROM sfflow_aws.s3_chunk),
	(SELECT string_agg(name || ' ' || owner, ', ') FROM sfflow_aws.s3_bucket);
WITH d AS (DELETE FROM sfflow_aws.s3_object RETURNING 1) SELECT count(*) FROM d;
WITH d AS (UPDATE sfflow_aws.s3_bucket SET owner = 's3_rival' RETURNING name) SELECT * FROM d;
WITH d AS (DELETE FROM sfflow_aws.s3_bucket WHERE name = 'tenant' RETURNING 1) SELECT count(*) FROM d;
SAVEPOINT s;
INSERT INTO sfflow_aws.s3_object VALUES ('tenant', 'mine', 0, '', '', '{}', now());
ROLLBACK TO s;
INSERT INTO sfflow_aws.s3_chunk VALUES ('tenant', 'k', 100, 'x');
ROLLBACK TO s;
SELECT sfflow_aws.grant_bucket('tenant', 's3_rival', true);
ROLLBACK TO s;
INSERT INTO sfflow_aws.s3_bucket VALUES ('forged', 's3_shop');
ROLLBACK TO s;
SELECT sfflow_aws.drop_bucket('tenant');
ROLLBACK TO s;
SELECT sfflow_aws.create_bucket('tenant');
ROLLBACK TO s;
TRUNCATE sfflow_aws.s3_chunk;
ROLLBACK TO s;

-- What is granted: to read, then to write; the grantee cannot pass it on, nor drop the bucket.
SET ROLE s3_shop;
SELECT sfflow_aws.grant_bucket('tenant', 's3_rival');
SET ROLE s3_rival;
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "tenant", "Key": "k"}')->'output'->'Body' AS body,
	call('aws-sdk:s3:putObject', '{"Bucket": "tenant", "Key": "k", "Body": "x"}')->'error' AS error;
SET ROLE s3_shop;
SELECT sfflow_aws.grant_bucket('tenant', 's3_rival', may_write => true);
SET ROLE s3_rival;
SELECT call('aws-sdk:s3:putObject', '{"Bucket": "tenant", "Key": "k", "Body": "x"}')->'error' AS error;
SAVEPOINT s;
SELECT sfflow_aws.grant_bucket('tenant', 's3_stranger');
ROLLBACK TO s;
SELECT sfflow_aws.drop_bucket('tenant', true);
ROLLBACK TO s;
SET ROLE s3_shop;
SELECT sfflow_aws.revoke_bucket('tenant', 's3_rival'), sfflow_aws.grant_bucket('tenant', 'public');
SET ROLE s3_rival;
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "tenant", "Key": "k"}')->'output'->'Body' AS body;
SET ROLE s3_shop;
SELECT sfflow_aws.revoke_bucket('tenant', 'public');
-- A member of the owner's role may what the owner may; a role without USAGE on the schema may nothing.
SET ROLE s3_clerk;
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "tenant", "Key": "k"}')->'output'->'Body' AS body;
SET ROLE s3_stranger;
SELECT call('aws-sdk:s3:getObject', '{"Bucket": "tenant", "Key": "k"}') #- '{cause}' AS answer;

-- A Map of one tenant reads nothing of another.
SET ROLE s3_rival;
SELECT sf_create_state_machine('rob', '{"StartAt": "Map", "States": {"Map": {"Type": "Map", "End": true,
	"ItemReader": {"Resource": "arn:aws:states:::s3:listObjectsV2", "Parameters": {"Bucket": "tenant"}},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Each",
		"States": {"Each": {"Type": "Pass", "End": true}}}}}}');
SELECT sf_run(sf_start('rob', '{}', 'x'));
SELECT error, cause ~ '^Access Denied ' AS denied FROM sf_executions WHERE execution_id = 'rob:x';
RESET ROLE;
-- Buckets that cannot be.
SAVEPOINT s;
SELECT sfflow_aws.create_bucket('A');
ROLLBACK TO s;
SELECT sfflow_aws.drop_bucket('tenant');
ROLLBACK TO s;
SELECT sfflow_aws.drop_bucket('none');
ROLLBACK;

DROP FUNCTION call;
SELECT sf_aws_uninstall();
DROP ROLE s3_shop, s3_clerk, s3_rival, s3_stranger;
