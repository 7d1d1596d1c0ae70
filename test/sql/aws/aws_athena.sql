-- Athena's queries as SQL statements, which sf_aws_install() maps: results, errors, pages, files, and whose statement
-- it is.
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT sf_aws_install();

-- What a state with this resource and these parameters leaves: its output, or error and cause. Ids and times are of
-- this run.
CREATE FUNCTION call(resource text, parameters jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	run_id text;
BEGIN
	PERFORM sf_create_state_machine('call_' || current_user, json_build_object('StartAt', 'F', 'States',
		json_build_object('F',
		json_build_object('Type', 'Task', 'Resource', 'arn:aws:states:::' || resource, 'Parameters',
			parameters, 'End', true))), or_replace => true);
	run_id := sf_start('call_' || current_user, '{}');
	PERFORM sf_run(run_id);
	RETURN (SELECT jsonb_strip_nulls(jsonb_build_object('output', e.output, 'error', e.error, 'cause', e.cause))
		FROM sf_executions AS e WHERE execution_id = run_id);
END $$;
CREATE FUNCTION plain(answer jsonb) RETURNS text LANGUAGE sql
	RETURN regexp_replace(regexp_replace(answer::text, '[0-9a-f]{8}-[-0-9a-f]{27}', '...', 'g'),
		'((Time|InMillis)\\?": )(\d+|\\?"[-0-9T:.]+Z\\?")', '\1...', 'g');

CREATE SCHEMA sales;
CREATE TABLE sales.orders (id bigint, customer text, total numeric(10,2), paid boolean, day date);
INSERT INTO sales.orders VALUES (1, 'Ada "A", Ltd.', 10.50, true, '2025-02-05'), (2, NULL, 0, false, NULL);

-- ---- a query and its results

BEGIN;
SELECT plain(call('athena:startQueryExecution.sync', '{"QueryString": "SELECT id FROM orders ORDER BY id",
	"QueryExecutionContext": {"Database": "sales"}, "WorkGroup": "nightly"}'));
SELECT call('athena:startQueryExecution', '{"QueryString": "SELECT * FROM sales.orders ORDER BY id;"}') #>>
	'{output,QueryExecutionId}' AS id \gset
SELECT plain(call('athena:getQueryExecution', jsonb_build_object('QueryExecutionId', :'id')));
SELECT plain(call('aws-sdk:athena:getQueryExecution', jsonb_build_object('QueryExecutionId',
	:'id'))->'output'->'QueryExecution'->'Status');
SELECT jsonb_pretty(call('athena:getQueryResults', jsonb_build_object('QueryExecutionId', :'id')) #>
	'{output,ResultSet,Rows}');
SELECT c->>'Name' AS name, c->>'Type' AS type, c - '{Name,Type}'::text[] AS more
FROM jsonb_array_elements(call('aws-sdk:athena:getQueryResults', jsonb_build_object('QueryExecutionId', :'id')) #>
	'{output,ResultSet,ResultSetMetadata,ColumnInfo}') AS c;
SELECT call('athena:stopQueryExecution', jsonb_build_object('QueryExecutionId', :'id'));

-- types
SELECT call('aws-sdk:athena:startQueryExecution',
	'{"QueryString": "SELECT 1::int2 AS a, 1::int AS b, 1::real AS c, 1::float8 AS d, ''x''::char(2) AS e, '
	'''2025-02-05 02:00''::timestamp AS f, ''{\"a\": 1}''::jsonb AS g, ARRAY[1, 2] AS h, ''x''::varchar AS i"}') #>>
	'{output,QueryExecutionId}' AS id \gset
SELECT a.answer #> '{Rows,1,Data}' AS row, jsonb_path_query_array(a.answer, '$.ResultSetMetadata.ColumnInfo[*].Type')
	AS types
FROM (SELECT call('athena:getQueryResults', jsonb_build_object('QueryExecutionId', :'id')) #> '{output,ResultSet}') AS
	a (answer);

-- pages: the first row of the first one has the names
SELECT call('athena:startQueryExecution', '{"QueryString": "SELECT n FROM generate_series(1, 4) AS n"}') #>>
	'{output,QueryExecutionId}' AS id \gset
WITH RECURSIVE page (answer) AS (
	SELECT sfflow_aws.athena_get_query_results(jsonb_build_object('QueryExecutionId', :'id', 'MaxResults', 2))
	UNION ALL
	SELECT sfflow_aws.athena_get_query_results(jsonb_build_object('QueryExecutionId', :'id', 'MaxResults', 2,
		'NextToken', answer->'NextToken'))
	FROM page WHERE answer ? 'NextToken')
SELECT jsonb_path_query_array(answer, '$.ResultSet.Rows[*].Data[*].VarCharValue') AS page FROM page;
SELECT size, jsonb_array_length(answer #> '{ResultSet,Rows}') AS rows, answer->'NextToken' AS next
FROM unnest(ARRAY[5, 6]) AS size, LATERAL (SELECT
	sfflow_aws.athena_get_query_results(jsonb_build_object('QueryExecutionId', :'id', 'MaxResults', size))) AS a
	(answer);
SELECT call('athena:startQueryExecution', '{"QueryString": "SELECT n FROM generate_series(1, 2500) AS n"}') #>>
	'{output,QueryExecutionId}' AS id \gset
SELECT jsonb_array_length(a.answer #> '{ResultSet,Rows}') AS rows, a.answer->'NextToken' AS next
	FROM (SELECT sfflow_aws.athena_get_query_results(jsonb_build_object('QueryExecutionId', :'id'))) AS a (answer);

-- no rows; statements that return none; no columns
SELECT q.statement, jsonb_path_query_array(a.answer, '$.ResultSet.Rows[*].Data[*].VarCharValue') AS rows,
	a.answer->'UpdateCount' AS changed, d.description #>> '{output,QueryExecution,StatementType}' AS type
FROM unnest(ARRAY['SELECT 1 AS a WHERE false', 'INSERT INTO sales.orders (id) VALUES (3), (4)',
	'UPDATE sales.orders SET paid = true RETURNING id', 'CREATE TABLE sales.copy AS TABLE sales.orders',
	'SELECT', 'SHOW server_encoding', ' ( select 1)', 'DROP TABLE sales.copy']) AS q (statement),
	LATERAL (SELECT call('athena:startQueryExecution.sync', jsonb_build_object('QueryString', q.statement))) AS d
		(description),
	LATERAL (SELECT sfflow_aws.athena_get_query_results(jsonb_build_object('QueryExecutionId',
		d.description #> '{output,QueryExecution,QueryExecutionId}'))) AS a (answer);
SELECT sfflow_aws.drop_queries('1 h'), sfflow_aws.drop_queries('-1 h') > 10 AS dropped;
SELECT count(*) FROM sfflow_aws.athena_row;
ROLLBACK;

-- ---- files

BEGIN;
SELECT sfflow_aws.create_bucket('results');
SELECT regexp_replace(call('athena:startQueryExecution.sync', jsonb_build_object('QueryString',
	'SELECT * FROM sales.orders ORDER BY id', 'ResultConfiguration', jsonb_build_object('OutputLocation', l)))
	#>> '{output,QueryExecution,ResultConfiguration,OutputLocation}', '[0-9a-f]{8}-[-0-9a-f]{27}', '...') AS location
FROM unnest(ARRAY['s3://results', 's3://results/', 's3://results/a/b', 's3://results/a/b/']) AS l;
SELECT DISTINCT convert_from(sfflow_aws.get_object(bucket, key), 'UTF8') AS content, content_type
	FROM sfflow_aws.s3_object;
-- many rows are written in parts, in order
SELECT substring(call('athena:startQueryExecution.sync',
	'{"QueryString": "SELECT n FROM generate_series(1, 12000) AS n",
	"ResultConfiguration": {"OutputLocation": "s3://results/many"}}')
	#>> '{output,QueryExecution,ResultConfiguration,OutputLocation}' FROM 's3://results/(.*)') AS key \gset
SELECT convert_from(sfflow_aws.get_object('results', :'key'),
	'UTF8') = E'"n"\n' || (SELECT string_agg(format(E'"%s"\n', n), '' ORDER BY n)
	FROM generate_series(1, 12000) AS n) AS whole;
-- a Map over the result
SELECT sf_create_state_machine('report', '{"StartAt": "Query", "States": {
	"Query": {"Type": "Task", "Resource": "arn:aws:states:::athena:startQueryExecution.sync",
		"Parameters": {"QueryString": "SELECT id, paid FROM sales.orders ORDER BY id",
		"ResultConfiguration": {"OutputLocation": "s3://results/athena/"}},
			"ResultSelector": {"key.$": "States.Format(''athena/{}.csv'', $.QueryExecution.QueryExecutionId)"},
			"Next": "Each"},
	"Each": {"Type": "Map", "End": true, "ItemReader": {"Resource": "arn:aws:states:::s3:getObject",
		"Parameters": {"Bucket": "results", "Key.$": "$.key"},
		"ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}},
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P",
			"States": {"P": {"Type": "Pass", "End": true}}}}}}');
SELECT sf_run(sf_start('report', '{}', 'x'));
SELECT output, error, cause FROM sf_executions WHERE execution_id = 'report:x';
ROLLBACK;

-- ---- errors

BEGIN;
SELECT plain(call(r, p)) FROM (VALUES
	('athena:startQueryExecution', '{}'::jsonb),
	('athena:startQueryExecution', '{"QueryString": 1}'),
	('athena:startQueryExecution', '{"QueryString": ""}'),
	('athena:startQueryExecution', '{"QueryString": "SELECT 1; SELECT 2"}'),
	('athena:startQueryExecution', '{"QueryString": "SELEC 1"}'),
	('aws-sdk:athena:startQueryExecution', '{"QueryString": "SELEC 1"}'),
	('athena:startQueryExecution', '{"QueryString": "SELECT ?", "ExecutionParameters": ["1"]}'),
	('athena:startQueryExecution', '{"QueryString": "SELECT 1", "ResultConfiguration": {"OutputLocation": "/tmp"}}'),
	('athena:startQueryExecution', '{"QueryString": "SELECT 1",
		"ResultConfiguration": {"OutputLocation": "s3://none/x"}}'),
	('athena:getQueryExecution', '{"QueryExecutionId": "none"}'),
	('athena:getQueryExecution', '{"QueryExecutionId": "00000000-0000-0000-0000-000000000000"}'),
	('aws-sdk:athena:getQueryResults', '{"QueryExecutionId": "none"}'),
	('athena:stopQueryExecution', '{"QueryExecutionId": "none"}'),
	('athena:startQueryExecution.sync', '{"QueryString": "SELECT * FROM sales.none"}'),
	('athena:startQueryExecution.sync', '{"QueryString": "COMMIT"}'),
	('athena:startQueryExecution.sync', '{"QueryString": "COPY sales.orders TO STDOUT"}'),
	('athena:startQueryExecution.sync', '{"QueryString": "VACUUM"}')) AS v (r, p);
SELECT plain(call('athena:startQueryExecution', jsonb_build_object('QueryString', 'SELECT 1 ' || repeat(' ', 262144))));
-- Without .sync the query fails, not the task; what it did until then is undone.
SELECT call('athena:startQueryExecution', '{"QueryString": "WITH i AS (INSERT INTO sales.orders (id) VALUES (9) '
	'RETURNING id) SELECT 1 / (id - 9) FROM i"}') #>> '{output,QueryExecutionId}' AS id \gset
SELECT plain(call('athena:getQueryExecution', jsonb_build_object('QueryExecutionId', :'id')) #>
	'{output,QueryExecution,Status}'), (SELECT count(*) FROM sales.orders);
SELECT plain(call('athena:getQueryResults', jsonb_build_object('QueryExecutionId', :'id')));
SELECT call('athena:startQueryExecution', '{"QueryString": "SELECT 1"}') #>> '{output,QueryExecutionId}' AS id \gset
SELECT plain(call('athena:getQueryResults', jsonb_build_object('QueryExecutionId', :'id') || p))
	FROM unnest(ARRAY['{"MaxResults": 0}', '{"MaxResults": 1001}', '{"MaxResults": "1"}',
	'{"NextToken": "x"}']::jsonb[]) AS p;
ROLLBACK;

-- A time limit is that of the task.
BEGIN;
SELECT sf_create_state_machine('slow', '{"StartAt": "Q",
	"States": {"Q": {"Type": "Task", "Resource": "arn:aws:states:::athena:startQueryExecution", "TimeoutSeconds": 1,
	"Parameters": {"QueryString": "SELECT pg_sleep(100)"}, "End": true}}}');
SELECT sf_run(sf_start('slow', '{}', 'x'));
SELECT error FROM sf_executions WHERE execution_id = 'slow:x';
ROLLBACK;

-- ---- rights: a statement has those of the machine's owner, and its result is the owner's

CREATE ROLE athena_shop;
CREATE ROLE athena_rival;
GRANT USAGE ON SCHEMA sfflow_aws TO athena_shop, athena_rival;
GRANT USAGE ON SCHEMA sales TO athena_shop;
GRANT SELECT ON sales.orders TO athena_shop;
GRANT EXECUTE ON FUNCTION call(text, jsonb) TO PUBLIC;
ALTER ROLE athena_shop SET search_path = 'sales';
BEGIN;
SET ROLE athena_shop;
SELECT a.answer #>> '{output,QueryExecution,QueryExecutionId}' AS id, a.answer->'error' IS NULL AS ok
FROM (SELECT call('athena:startQueryExecution.sync',
	'{"QueryString": "SELECT current_user, current_setting(''search_path''), count(*) FROM orders",
	"QueryExecutionContext": {"Database": "My db"}}')) AS a (answer) \gset
SELECT call('athena:getQueryResults', jsonb_build_object('QueryExecutionId', :'id')) #> '{output,ResultSet,Rows,1}' AS
	row;
SELECT call('athena:startQueryExecution.sync', jsonb_build_object('QueryString', q))->>'cause' ~ 'permission '
	'denied|cannot set parameter' AS refused
FROM unnest(ARRAY['DELETE FROM sales.orders', 'SET ROLE athena_rival', 'TABLE pg_authid']) AS q;
SELECT call('athena:startQueryExecution', '{"QueryString": "SET ROLE athena_rival"}') #>> '{output,QueryExecutionId}'
	IS NOT NULL AS id;
SELECT error FROM sfflow_aws.athena_query WHERE statement LIKE 'SET%';
-- Settings of a statement end with it.
SELECT plain(call('athena:startQueryExecution.sync',
	'{"QueryString": "SELECT set_config(''work_mem'', ''77kB'', false)"}')->'error');
SELECT current_setting('work_mem') <> '77kB' AS as_before;

SET ROLE athena_rival;
SELECT plain(call(r, jsonb_build_object('QueryExecutionId', :'id')))
	FROM unnest(ARRAY['athena:getQueryExecution', 'athena:getQueryResults', 'athena:stopQueryExecution']) AS r;
SELECT (SELECT count(*) FROM sfflow_aws.athena_query), (SELECT count(*) FROM sfflow_aws.athena_row),
	sfflow_aws.drop_queries('-1 h');
SAVEPOINT s;
INSERT INTO sfflow_aws.athena_row VALUES (:'id', 5, '{forged}');
ROLLBACK TO s;
INSERT INTO sfflow_aws.athena_query (owner, statement, request) VALUES ('athena_shop', 'x', '{}');
ROLLBACK TO s;
SELECT n FROM _sfflow.athena_rows('TABLE sales.orders', '');
ROLLBACK;

-- A result in a bucket needs the right to write there.
BEGIN;
SET ROLE athena_shop;
SELECT sfflow_aws.create_bucket('shop-only');
SET ROLE athena_rival;
SELECT plain(call('athena:startQueryExecution.sync', '{"QueryString": "SELECT 1",
	"ResultConfiguration": {"OutputLocation": "s3://shop-only/x"}}'));
ROLLBACK;

DROP FUNCTION call, plain;
SELECT sf_aws_uninstall();
DROP SCHEMA sales CASCADE;
DROP ROLE athena_shop, athena_rival;
