-- sf_map_resource: which resource runs in the place of one that sfflow does not know.

\set VERBOSITY terse
CREATE FUNCTION resolve(resource text, owner oid) RETURNS text AS '$libdir/sfflow', 'sfflow_debug_resolve_resource'
	LANGUAGE C;

CREATE ROLE task_shop;
CREATE ROLE task_bob;

SELECT resolve('arn:aws:lambda:eu-west-1:123456789012:function:load', 'task_shop'::regrole);

-- The most specific pattern wins: the one with the most characters that are not asterisks.
SET ROLE task_shop;
SELECT sf_map_resource('*', 'activity:anything');
SELECT sf_map_resource('arn:aws:lambda:*', 'activity:lambda');
SELECT sf_map_resource('arn:aws:lambda:*:function:load', 'sql:shop.load');
SELECT sf_map_resource('arn:aws:lambda:*:function:l*', 'sql:shop.l');
SELECT resource, resolve(resource, 'task_shop'::regrole) FROM (VALUES
	('arn:aws:lambda:eu-west-1:123456789012:function:load'),
	('arn:aws:lambda:eu-west-1:123456789012:function:load:2'),
	('arn:aws:lambda:eu-west-1:123456789012:function:store'),
	('arn:aws:states:::sns:publish')) AS r (resource);

-- The same pattern again changes the mapping; a suffix that the target lacks is kept.
SELECT sf_map_resource('arn:aws:states:::sqs:sendMessage', 'activity:queue');
SELECT sf_map_resource('*', 'sql:shop.any');
SELECT resolve('arn:aws:states:::sqs:sendMessage', 'task_shop'::regrole),
	resolve('arn:aws:states:::sqs:sendMessage.waitForTaskToken', 'task_shop'::regrole),
	resolve('arn:aws:states:::glue:startJobRun.sync', 'task_shop'::regrole);
RESET ROLE;

-- A map serves the machines of its role; a superuser's serves all, the owner's own goes first.
SELECT resolve('arn:aws:lambda:x', 'task_bob'::regrole);
SELECT sf_map_resource('arn:aws:lambda:*', 'sql:public.lambda');
SELECT sf_map_resource('arn:aws:lambda:*:function:store', 'sql:public.store');
SELECT resolve('arn:aws:lambda:x', 'task_bob'::regrole), resolve('arn:aws:lambda:x', 'task_shop'::regrole),
	resolve('arn:aws:lambda:x:function:store', 'task_shop'::regrole);

-- A mapping that is rolled back is none.
BEGIN;
SELECT sf_map_resource('arn:aws:batch:*', 'activity:batch');
SELECT resolve('arn:aws:batch:x', 'task_bob'::regrole);
ROLLBACK;
SELECT resolve('arn:aws:batch:x', 'task_bob'::regrole);

SELECT sf_unmap_resource('arn:aws:lambda:*');
SELECT resolve('arn:aws:lambda:x', 'task_bob'::regrole);

-- What serves many resources is told which one is asked for: as written, or the function that a request names.
BEGIN;
CREATE FUNCTION serve(payload jsonb, resource text) RETURNS jsonb
	LANGUAGE sql AS $$ SELECT jsonb_build_object(resource, payload) $$;
CREATE FUNCTION serve_json(payload json, resource text DEFAULT 'none') RETURNS jsonb
	LANGUAGE sql AS $$ SELECT jsonb_build_object(resource, payload) $$;
CREATE FUNCTION ask(resource text, parameters jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	run_id text;
BEGIN
	PERFORM sf_create_state_machine('asked', json_build_object('StartAt', 'F', 'States', json_build_object('F',
		json_build_object('Type', 'Task', 'Resource', resource, 'Parameters', parameters, 'End', true))),
			or_replace => true);
	run_id := sf_start('asked');
	PERFORM sf_run(run_id);
	RETURN (SELECT concat_ws(' ', status, output, error, left(cause, 90)) FROM sf_executions
		WHERE execution_id = run_id);
END $$;
SELECT sf_map_resource('arn:aws:states:::aws-sdk:*', 'sql:public.serve');
SELECT sf_map_resource('arn:aws:states:::sns:*', 'sql:public.serve_json');
SELECT sf_map_resource('arn:aws:lambda:*', 'sql:public.serve');
SELECT ask(resource, parameters) FROM (VALUES
	('arn:aws:states:::aws-sdk:s3:getObject', '{"Bucket": "b"}'::jsonb),
	('arn:aws:states:::aws-sdk:s3:getObject', '{"payload": 1, "resource": "x"}'),
	('arn:aws:states:::sns:publish', '[1]'),
	('arn:aws:lambda:eu-west-1:123456789012:function:load:2', '{}'),
	-- what is named directly takes its arguments by name
	('sql:public.serve', '{"payload": 1, "resource": "x"}'),
	('sql:public.serve_json', '{"payload": 1}'),
	('sql:public.serve', '{"Bucket": "b"}')) AS t (resource, parameters);
SELECT jsonb_path_query(sf_test_state('{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject",
	"End": true}', '{"Bucket": "b"}'), '$.output');
-- Of several functions with one name, the one that takes the resource goes first; by its own name it is called as ever.
CREATE FUNCTION serve_both(payload jsonb) RETURNS text LANGUAGE sql AS $$ SELECT 'payload' $$;
CREATE FUNCTION serve_both(payload jsonb, resource text) RETURNS text
	LANGUAGE sql AS $$ SELECT 'payload and ' || resource $$;
CREATE FUNCTION serve_both("Bucket" text) RETURNS text LANGUAGE sql AS $$ SELECT 'bucket' $$;
SELECT sf_map_resource('arn:aws:states:::aws-sdk:*', 'sql:public.serve_both');
SELECT ask(resource, parameters) FROM (VALUES
	('arn:aws:states:::aws-sdk:s3:getObject', '{"Bucket": "b"}'::jsonb),
	('arn:aws:states:::aws-sdk:s3:getObject', '{}'),
	('sql:public.serve_both', '{}'),
	('sql:public.serve_both', '{"Bucket": "b"}')) AS t (resource, parameters);

-- An activity's task has the same, and the Resource of its state.
SELECT sf_create_activity('aws');
SELECT sf_map_resource('arn:aws:states:::aws-sdk:*', 'activity:aws');
SELECT sf_map_resource('arn:aws:lambda:*', 'activity:aws');
SELECT ask(resource, parameters) FROM (VALUES
	('arn:aws:states:::aws-sdk:s3:getObject', '{"Bucket": "b"}'::jsonb),
	('arn:aws:states:::aws-sdk:batch:submitJob.waitForTaskToken', '{"Token.$": "$$.Task.Token"}'),
	('arn:aws:states:::lambda:invoke', '{"FunctionName": "load", "Payload": {"a": 1}}'),
	('activity:aws', '{}')) AS t (resource, parameters);
SELECT input - 'Token' AS input, resource, definition_resource FROM sf_get_activity_task('aws', 'w', 10);
ROLLBACK;

-- What cannot be mapped.
SELECT sf_unmap_resource('arn:aws:lambda:*');
SELECT sf_map_resource('x*', 'arn:aws:lambda:x');
SELECT sf_map_resource('x*', 'sql:');
SELECT sf_map_resource('', 'activity:a');
SELECT sf_map_resource(repeat('x', 1025), 'activity:a');
SELECT sf_map_resource(NULL, 'activity:a');
SELECT sf_map_resource('x', NULL);

-- A role that maps something cannot be dropped before.
SET client_min_messages = warning;
DROP ROLE task_shop;
SET ROLE task_shop;
SELECT count(sf_unmap_resource(pattern)) FROM (VALUES ('*'), ('arn:aws:lambda:*'), ('arn:aws:lambda:*:function:load'),
	('arn:aws:lambda:*:function:l*'), ('arn:aws:states:::sqs:sendMessage')) AS p (pattern);
RESET ROLE;
DROP ROLE task_shop;
DROP ROLE task_bob;
SELECT sf_unmap_resource('arn:aws:lambda:*:function:store');
DROP FUNCTION resolve;
