-- sf_map_resource: which resource runs in the place of one that sfflow does not know.

\set VERBOSITY terse
CREATE FUNCTION resolve(resource text, owner oid) RETURNS text AS '$libdir/sfflow', 'sfflow_debug_resolve_resource' LANGUAGE C;

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
